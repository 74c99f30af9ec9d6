"""An application's schema, dumped from Clearway and loaded again, gives an equal dump."""

import pathlib
import shutil
import subprocess

import pytest

import harness

SCHEMA = pathlib.Path(__file__).with_name("shop.sql")
DUMP = ["--skip-comments", "--skip-dump-date", "--complete-insert", "--hex-blob", "--order-by-primary"]

pytestmark = pytest.mark.skipif(not shutil.which("mariadb-dump"), reason="no mariadb-dump")


def client(server, program, *words, text=None):
    command = [program, "--no-defaults", "--skip-ssl", "-uroot", "-h127.0.0.1", f"-P{server.port}", *words]
    done = subprocess.run(command, capture_output=True, timeout=300, input=text)
    assert done.returncode == 0, f"{program} {' '.join(words)}: {done.stderr.decode(errors='replace')}"
    assert not done.stderr, done.stderr.decode(errors="replace")
    return done.stdout


def load(server, name, text):
    client(server, "mariadb", "-e", f"DROP DATABASE IF EXISTS {name}; CREATE DATABASE {name} CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci")
    client(server, "mariadb", "--default-character-set=utf8mb4", name, text=text)


def dump(server, name, *words):
    return client(server, "mariadb-dump", *DUMP, *words, name)


@pytest.fixture(scope="module")
def shop(request):
    """Clearway with the schema in the database `shop`."""
    if request.config.getoption("--address") or request.config.getoption("--server") == "mariadb":
        pytest.skip("starts its own servers")
    server = harness.Server("clearway", "--secure-file-priv=")
    try:
        server.start()
        load(server, "shop", SCHEMA.read_bytes())
        yield server
    finally:
        server.remove()


def test_definitions(shop):
    first = dump(shop, "shop", "--no-data")
    assert first.count(b"CREATE TABLE `") >= 30 and first.count(b"VIEW") >= 3 and b"FOREIGN KEY" in first
    load(shop, "defined", first)
    assert dump(shop, "defined", "--no-data") == first
