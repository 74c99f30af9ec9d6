"""Fixtures. `pytest tests/e2e` tests Clearway; `--server=mariadb` tests the tests against MariaDB where
the behaviour is common; `--address=host:port` uses a server that runs already (tests that start or kill one skip)."""

import itertools
import subprocess

import pytest

import harness


def pytest_addoption(parser):
    parser.addoption("--server", choices=["clearway", "mariadb"], default="clearway")
    parser.addoption("--address", help="host:port of a server that runs already, user root")


@pytest.fixture(scope="session")
def kind(request):
    return "external" if request.config.getoption("--address") else request.config.getoption("--server")


@pytest.fixture(scope="session")
def server(request, kind):
    """One server for all tests that only speak to it."""
    address = request.config.getoption("--address")
    if address:
        yield harness.Running(address)
        return
    server = harness.Server(kind)
    try:
        yield server.start()
        assert server.process is not None and server.process.poll() is None, f"the server died:\n{server.log_tail()}"
    finally:
        server.remove()


@pytest.fixture
def start(kind):
    """`start(option, ...)`: a server of the test's own, gone after it."""
    if kind == "external":
        pytest.skip("starts its own server")
    servers = []

    def start(*options, run=True, **words):
        server = harness.Server(kind, *options, **words)
        servers.append(server)
        return server.start() if run else server

    yield start
    for server in servers:
        server.remove()


@pytest.fixture
def small_disk(tmp_path, request):
    """A file system of its own, so that it can be full; its size is 192m, or the parameter."""
    place = tmp_path / "disk"
    place.mkdir()
    size = getattr(request, "param", "192m")
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(place)], capture_output=True, text=True)
    if mounted.returncode != 0:
        pytest.skip(f"cannot mount: {mounted.stderr.strip()}")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


_numbers = itertools.count(1)


@pytest.fixture
def database(server):
    """The name of an empty database, dropped after the test."""
    name = f"t{next(_numbers)}"
    admin = server.connect()
    harness.run(f"DROP DATABASE IF EXISTS {name}", f"CREATE DATABASE {name}", on=admin)
    yield name
    harness.run(f"DROP DATABASE {name}", on=admin)
    admin.close()


@pytest.fixture
def db(server, database):
    """A PyMySQL connection in an empty database."""
    connection = server.connect(database=database)
    yield connection
    connection.close()


@pytest.fixture
def clearway_only(kind):
    if kind == "mariadb":
        pytest.skip("promised by Clearway only")
