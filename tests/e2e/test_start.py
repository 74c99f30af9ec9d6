"""Starting, stopping and what the command line says when it cannot: one clear line, exit code 1."""

import pathlib
import re
import subprocess

import harness
import pytest
from harness import run, value, wait_until

pytestmark = pytest.mark.usefixtures("clearway_only")


def refuse(server, *parts):
    """Starts a server that must not come up; its words on standard error."""
    result = subprocess.run(server.command(), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    lines = [line for line in result.stderr.splitlines() if line.strip()]
    assert result.returncode == 1, result
    assert lines, "it says nothing"
    for part in parts:
        assert part in lines[-1], result.stderr
    assert "panicked" not in result.stderr
    return lines


@pytest.mark.parametrize(("option", "part"), [
    ("--no-such-option=1", "no-such-option"), ("--no-such-switch", "no-such-switch"), ("--port=banana", "port"),
    ("--innodb_buffer_pool_size=much", "innodb_buffer_pool_size"), ("--max-connections=", "max"),
    ("--config=/nonexistent/file", "/nonexistent/file"),
])
def test_a_wrong_option_is_named(start, option, part):
    lines = refuse(start(option, run=False))
    assert part.replace("_", "-") in lines[-1].replace("_", "-"), lines
    assert len(lines) == 1, lines


def test_roles_for_everybody_that_cannot_be_read(start):
    refuse(start("--mandatory-roles=one,", run=False), "mandatory_roles")


def test_a_locked_data_directory(start):
    first = start()
    second = start(run=False, datadir=first.datadir)
    refuse(second, str(first.datadir))
    assert value(first.connect(), "SELECT 1") == 1


def test_no_core_is_dumped(start):
    """There would be keys, passwords and rows in it; one byte is the limit that holds where a program takes cores, too."""
    limits = pathlib.Path(f"/proc/{start().process.pid}/limits").read_text()
    assert next(line.split()[4:6] for line in limits.splitlines() if line.startswith("Max core file size")) == ["1", "1"]


def test_a_foreign_directory_is_left_alone(start):
    server = start(run=False)
    server.datadir.mkdir()
    (server.datadir / "letters.txt").write_text("mine")
    refuse(server, str(server.datadir))
    assert [path.name for path in server.datadir.iterdir()] == ["letters.txt"]


def test_a_taken_port(start):
    first = start()
    second = start(run=False)
    second.port = first.port
    refuse(second, str(first.port))
    assert not second.datadir.exists(), "nothing is made before the port is ours"


def test_a_taken_socket(start):
    first = start()
    path = value(first.connect(), "SELECT @@socket")
    second = start(f"--socket={path}", run=False)
    refuse(second, f"pid {first.process.pid} is using the unix socket file")
    assert not second.datadir.exists()


def test_a_socket_of_a_dead_process_is_taken_over(start, tmp_path):
    path = tmp_path / "s.sock"
    server = start(f"--socket={path}")
    server.kill()
    assert path.exists()
    # Whoever has the number by now, as in a container that starts again, where each server is process 1.
    lock = tmp_path / "s.sock.lock"
    assert lock.exists()
    lock.write_text("1\n")
    server.start()
    assert int(lock.read_text()) == server.process.pid


def test_the_first_messages_say_where_and_how(start):
    server = start(insecure=False)
    said = server.log_text()
    assert "[Warning]" not in said
    assert f"data directory: '{server.datadir}/'" in said
    password = re.search(r"temporary password is generated for root@localhost: (\S+)", said)[1]
    command = re.search(r"Connect with: (mariadb -h 127.0.0.1 -P \d+ -u root -p)\b", said)[1]
    done = subprocess.run([*command.split()[:-1], "--skip-ssl", f"-p{password}", "-e", "ALTER USER USER() IDENTIFIED BY 'x'"],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_an_unwritable_place(start):
    refuse(start(run=False, datadir="/proc/nothing/here"), "/proc/nothing/here")


def test_options_from_a_file(start, tmp_path):
    config = tmp_path / "my.cnf"
    config.write_text("""
        # a comment
        [client]
        port = 1
        [mysqld]
        max-connections = 77     # dashes
        innodb_buffer_pool_size=48M
        loose_no_such_option = 1
        [other]
        nonsense
    """)
    server = start(f"--config={config}", "--innodb-lock-wait-timeout=9")
    connection = server.connect()
    assert value(connection, "SELECT @@max_connections") == 77
    assert value(connection, "SELECT @@innodb_buffer_pool_size") == 48 * 1024 * 1024
    assert value(connection, "SELECT @@innodb_lock_wait_timeout") == 9


def test_the_command_line_wins_over_the_file(start, tmp_path):
    config = tmp_path / "my.cnf"
    config.write_text("[mysqld]\nmax_connections=77\n")
    assert value(start(f"--config={config}", "--max-connections=78").connect(), "SELECT @@max_connections") == 78


def test_sigterm_stops_cleanly_with_clients_and_open_transactions(start):
    server = start()
    idle, busy = server.connect(), server.connect()
    run("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)", "INSERT INTO d.t VALUES (1)", "BEGIN", "INSERT INTO d.t VALUES (2)", on=busy)
    assert server.stop() == 0, server.log_tail()
    assert "panicked" not in server.log_text()
    server.start()
    assert value(server.connect(), "SELECT COUNT(*) FROM d.t") == 1
    idle._force_close()


def test_shutdown_statement(start):
    server = start()
    run("SHUTDOWN", on=server.connect())
    wait_until(lambda: server.process.poll() is not None, 60, "SHUTDOWN does not end the server")
    assert server.process.returncode == 0, server.log_tail()


def test_a_client_from_the_loopback_or_the_socket_is_localhost(start):
    server = start()
    assert value(server.connect(), "SELECT CURRENT_USER()") == "root@localhost"
    assert value(server.connect(unix_socket=str(server.socket)), "SELECT CURRENT_USER()") == "root@localhost"


def test_version_and_help():
    for word, part in (("--version", "clearway"), ("--help", "serve")):
        result = subprocess.run([harness.BINARY, word], capture_output=True, text=True, timeout=20)
        assert result.returncode == 0 and part in result.stdout.lower(), result
    result = subprocess.run([harness.BINARY, "no-such-command"], capture_output=True, text=True, timeout=20)
    assert result.returncode != 0 and "no-such-command" in result.stderr
