"""Bounds: thousands of idle connections, a million rows in one transaction, data larger than memory."""

import resource
import socket

import harness
import pymysql
import pytest
from harness import rows, run, status, value, wait_until

IDLE = 5000
# Of the process, a connection, kernel buffers apart.
KIB_EACH = 64
MILLION = 1_000_000


def login(server):
    """The bare socket of a logged-in connection, so that the client's memory stays small."""
    connection = server.connect()
    kept = socket.socket(fileno=connection._sock.detach())
    connection._sock = None
    # The descriptor does not block, since PyMySQL set a timeout; the new object is to know.
    kept.settimeout(60)
    return kept


def test_5000_idle_connections(start, clearway_only):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = IDLE + 1000
    if hard != resource.RLIM_INFINITY and hard < wanted:
        pytest.skip(f"at most {hard} open files here")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
    held = []
    try:
        server = start(f"--max_connections={IDLE + 50}")
        watcher = server.connect()
        # Allocator and pool warm up with the first hundred.
        held += [login(server) for _ in range(100)]
        before = server.memory_kib()
        held += [login(server) for _ in range(IDLE - 100)]
        wait_until(lambda: status(watcher, "Threads_connected") >= IDLE, 60, "not all are connected")
        each = (server.memory_kib() - before) / (IDLE - 100)
        assert each <= KIB_EACH, f"{each:.1f} KiB a connection"
        wait_until(lambda: server.threads() < 200, 20, "idle connections keep their threads")
        # They are parked, not lost.
        for idle in held[::500]:
            idle.sendall(b"\x01\x00\x00\x00\x0e")
            assert idle.recv(100)[4] == 0
    finally:
        for idle in held:
            idle.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    wait_until(lambda: status(watcher, "Threads_connected") < 50, 60, "closed connections stay")


def fill(connection, count):
    for first in range(0, count, 10_000):
        values = ",".join(f"({i},{i % 1000},'abcdefghijklmnopqrstuvwxyz')" for i in range(first, min(first + 10_000, count)))
        run(f"INSERT INTO d.t VALUES {values}", on=connection)


def test_a_million_rows_updated_and_rolled_back_in_bounded_memory(start):
    pool_mib = 64
    server = start(f"--innodb_buffer_pool_size={pool_mib}M")
    connection = server.connect(read_timeout=600)
    run("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, n INT NOT NULL, pad CHAR(60) NOT NULL)", on=connection)
    fill(connection, MILLION)
    total = sum(i % 1000 for i in range(MILLION))
    assert rows(connection, "SELECT COUNT(*), SUM(n) FROM d.t") == ((MILLION, total),)
    reader = server.connect(read_timeout=600)
    run("BEGIN", on=connection)
    assert run("UPDATE d.t SET n = n + 1", on=connection) == MILLION
    assert value(connection, "SELECT SUM(n) FROM d.t") == total + MILLION
    assert value(reader, "SELECT SUM(n) FROM d.t") == total, "others read the old versions"
    run("ROLLBACK", on=connection)
    assert value(connection, "SELECT SUM(n) FROM d.t") == total
    peak = server.memory_kib("VmHWM") // 1024
    assert peak <= pool_mib + 200, f"{peak} MiB at the peak"
    # And cut off by kill -9 in the middle of a transaction: recovery rolls it back, in bounded memory as well.
    run("BEGIN", "UPDATE d.t SET n = n + 1 WHERE id < 300000", on=connection)
    server.kill()
    server.start(seconds=120)
    connection = server.connect(read_timeout=600)
    wait_until(lambda: value(connection, "SELECT SUM(n) FROM d.t") == total, 120, "the cut transaction is not rolled back")


def test_an_old_snapshot_stays_readable_and_is_purged_after(start):
    server = start("--innodb_buffer_pool_size=16M")
    connection, reader = server.connect(), server.connect()
    run("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, n INT NOT NULL, pad CHAR(60) NOT NULL)", on=connection)
    fill(connection, 2000)
    total = sum(i % 1000 for i in range(2000))
    run("BEGIN", on=reader)
    assert value(reader, "SELECT SUM(n) FROM d.t") == total
    for _ in range(30):
        run("UPDATE d.t SET n = n + 1", on=connection)
    run("DELETE FROM d.t WHERE id >= 1000", on=connection)
    assert value(reader, "SELECT SUM(n) FROM d.t") == total
    assert value(connection, "SELECT COUNT(*) FROM d.t") == 1000
    run("COMMIT", on=reader)
    assert value(reader, "SELECT COUNT(*) FROM d.t") == 1000


def test_a_statement_too_large_is_an_error_and_no_end(start):
    server = start("--max_allowed_packet=16M", "--innodb_buffer_pool_size=16M")
    connection = server.connect(max_allowed_packet=64 * 1024 * 1024)
    run("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, b LONGBLOB)", on=connection)
    with pytest.raises(pymysql.MySQLError):
        run("SELECT " + "(" * 200_000 + "1" + ")" * 200_000, on=connection)
    assert value(server.connect(), "SELECT 1") == 1
    assert harness.value(server.connect(), "SELECT LENGTH(REPEAT('x', 1000000))") == 1_000_000


@pytest.mark.parametrize("level", ["REPEATABLE READ", "READ COMMITTED"])
@pytest.mark.parametrize("mode", ["UPDATE", "SHARE"])
def test_a_million_locked_rows_take_little_memory(locked_million, level, mode):
    server, connection = locked_million
    run(f"SET SESSION TRANSACTION ISOLATION LEVEL {level}", on=connection)
    # Everything is in memory, the scan's buffers too.
    assert value(connection, "SELECT COUNT(*) FROM d.t WHERE n >= 0") == MILLION
    before = server.memory_kib()
    run("START TRANSACTION", on=connection)
    assert value(connection, f"SELECT COUNT(*) FROM d.t WHERE n >= 0 FOR {mode}") == MILLION
    # The locks are held.
    grown = server.memory_kib() - before
    print(f"{level} FOR {mode}: {grown} KiB")
    assert grown <= 4096, f"{grown} KiB for the locks of a million rows"
    # They are locked.
    other = server.connect()
    for row in (0, 500_000, MILLION - 1):
        with pytest.raises(pymysql.MySQLError) as error:
            rows(other, f"SELECT * FROM d.t WHERE id = {row} FOR UPDATE NOWAIT")
        assert error.value.args[0] == 3572
    run("ROLLBACK", on=connection)
    assert rows(other, "SELECT id FROM d.t WHERE id = 500000 FOR UPDATE NOWAIT") == ((500_000,),)


@pytest.fixture(scope="module")
def locked_million(kind):
    if kind != "clearway":
        pytest.skip("promised by Clearway only")
    server = harness.Server(kind, "--innodb_buffer_pool_size=256M")
    try:
        connection = server.start().connect(read_timeout=600)
        run("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, n INT NOT NULL, pad CHAR(60) NOT NULL)", on=connection)
        fill(connection, MILLION)
        yield server, connection
    finally:
        server.remove()
