"""Rollback cannot fail: where it finds no room it goes on in the background, and nothing of it is ever committed."""

import os
import threading

import pymysql
import pytest
from harness import rows, run, value, wait_until

ROWS = 10_000


def shrunk_and_filled(server):
    """All rows shrunk by a transaction that is open, others put between them: (its connection, ids of the others)."""
    run("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, pad VARBINARY(3000))", on=server.connect())
    other = server.connect()
    for start in range(0, ROWS, 500):
        values = ",".join(f"({2 * i}, REPEAT(CHAR(65 + {i} % 26), 3000))" for i in range(start, start + 500))
        run(f"INSERT INTO d.t VALUES {values}", on=other)
    shrinking = server.connect()
    # Without gap locks.
    for connection in (shrinking, other):
        run("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED", on=connection)
    run("BEGIN", "UPDATE d.t SET pad = 'short'", on=shrinking)
    for start in range(0, ROWS, 500):
        values = ",".join(f"({2 * i + 1}, REPEAT('y', 2900))" for i in range(start, start + 500))
        run(f"INSERT INTO d.t VALUES {values}", on=other)
    return shrinking, other


WHOLE = "SELECT COUNT(*), SUM(LENGTH(pad) = 3000 AND pad = REPEAT(CHAR(65 + id DIV 2 % 26), 3000)) FROM d.t WHERE id % 2 = 0"


def is_whole(connection):
    assert list(rows(connection, WHOLE)) == [(ROWS, ROWS)]
    assert value(connection, "SELECT COUNT(*) FROM d.t WHERE id % 2 = 1 AND LENGTH(pad) = 2900") == ROWS


def rolled_back(connection):
    """Waits for the background."""
    states = "SELECT COUNT(*) FROM information_schema.innodb_trx WHERE trx_state = 'ROLLING BACK'"
    wait_until(lambda: value(connection, states) == 0, 120, "the background has undone everything")


def test_rows_that_grow_again_find_room(start, clearway_only):
    server = start("--innodb_buffer_pool_size=32M")
    shrinking, other = shrunk_and_filled(server)
    run("ROLLBACK", on=shrinking)
    is_whole(other)
    server.kill()
    server.start()
    is_whole(server.connect())


def test_killed_before_and_during_such_a_rollback(start, clearway_only):
    server = start("--innodb_buffer_pool_size=32M")
    shrinking, _ = shrunk_and_filled(server)
    for _ in range(4):
        server.kill()
        server.start()
        # Served while it is undone, and nobody sees what was not committed.
        assert list(rows(server.connect(), WHOLE)) == [(ROWS, ROWS)]
    connection = server.connect()
    rolled_back(connection)
    is_whole(connection)
    run("UPDATE d.t SET pad = CONCAT(pad, '')", on=connection)


def fill_disk(server, disk):
    """No room but what statements must leave. The file to remove."""
    ballast = disk / "ballast"
    connection = server.connect()
    run("CREATE TABLE d.filler (id INT AUTO_INCREMENT PRIMARY KEY, pad VARBINARY(8000))", on=connection)
    free = os.statvfs(disk)
    with open(ballast, "wb") as file:
        os.posix_fallocate(file.fileno(), 0, max(free.f_bavail * free.f_frsize, 1))
    with pytest.raises(pymysql.MySQLError) as raised:
        for _ in range(100_000):
            run("INSERT INTO d.filler (pad) VALUES (REPEAT('f', 7500))", on=connection)
    assert raised.value.args[0] == 1114, raised.value
    return ballast


@pytest.mark.parametrize("how", ["rollback", "disconnect"])
def test_a_transaction_on_a_full_disk(start, small_disk, clearway_only, how):
    server = start("--skip-log-bin", "--innodb_buffer_pool_size=32M", "--innodb_redo_log_capacity=16M", datadir=small_disk / "data")
    shrinking, _ = shrunk_and_filled(server)
    ballast = fill_disk(server, small_disk)
    if how == "rollback":
        with pytest.raises(pymysql.MySQLError) as raised:
            run("ROLLBACK", on=shrinking)
        assert raised.value.args[0] == 1181, raised.value
        # The session goes on; what it commits is not what it rolled back.
        run("BEGIN", "COMMIT", on=shrinking)
    else:
        shrinking.close()
    assert list(rows(server.connect(), WHOLE)) == [(ROWS, ROWS)]
    ballast.unlink()
    connection = server.connect()
    rolled_back(connection)
    is_whole(connection)


def test_a_statement_on_a_full_disk(start, small_disk, clearway_only):
    server = start("--skip-log-bin", "--innodb_buffer_pool_size=32M", "--innodb_redo_log_capacity=16M", datadir=small_disk / "data")
    run("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, pad VARBINARY(3000))", "CREATE TABLE d.u (id INT PRIMARY KEY)", on=server.connect())
    other, last, shrinking = server.connect(), server.connect(), server.connect()
    for start_at in range(0, ROWS, 500):
        values = ",".join(f"({2 * i}, REPEAT(CHAR(65 + {i} % 26), 3000))" for i in range(start_at, start_at + 500))
        run(f"INSERT INTO d.t VALUES {values}", on=other)
    run("BEGIN", f"SELECT * FROM d.t WHERE id = {2 * ROWS - 2} FOR UPDATE", on=last)
    for connection in (other, shrinking):
        run("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED", on=connection)
    run("BEGIN", "INSERT INTO d.u VALUES (1)", on=shrinking)
    outcome = []

    def shrink():
        try:
            run("UPDATE d.t SET pad = 'short'", on=shrinking)
        except pymysql.MySQLError as error:
            outcome.append(error.args[0])

    waiting = threading.Thread(target=shrink)
    waiting.start()
    waits = "SELECT COUNT(*) FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'"
    wait_until(lambda: value(other, waits) == 1, 60, "the statement waits for its last row")
    for start_at in range(0, ROWS - 1, 500):
        values = ",".join(f"({2 * i + 1}, REPEAT('y', 2900))" for i in range(start_at, min(start_at + 500, ROWS - 1)))
        run(f"INSERT INTO d.t VALUES {values}", on=other)
    ballast = fill_disk(server, small_disk)
    run(f"KILL QUERY {shrinking.thread_id()}", on=other)
    waiting.join()
    assert outcome == [1181]
    for refused in ("SELECT * FROM d.u", "INSERT INTO d.u VALUES (2)", "SAVEPOINT s", "UPDATE d.t SET pad = 'x' WHERE id = 0"):
        with pytest.raises(pymysql.MySQLError) as raised:
            run(refused, on=shrinking)
        assert raised.value.args[0] == 1181, refused
    with pytest.raises(pymysql.MySQLError) as raised:
        run("COMMIT", on=shrinking)
    assert raised.value.args[0] == 1181
    # A commit that failed has rolled back: the next statement begins anew.
    assert not rows(shrinking, "SELECT * FROM d.u")
    run("ROLLBACK", on=last)
    ballast.unlink()
    rolled_back(other)
    assert list(rows(other, WHOLE)) == [(ROWS, ROWS)]
    assert not rows(other, "SELECT * FROM d.u")


@pytest.mark.parametrize("alter", ["MODIFY pad VARBINARY(3001), ALGORITHM=COPY", "ENGINE=MyISAM", "ADD COLUMN g INT AS (id + 1) STORED",
                                   "ADD CONSTRAINT whole CHECK (LENGTH(pad) > 1000)", "ADD INDEX (pad(10))", "FORCE"])
def test_a_table_is_altered_while_a_crashed_transaction_is_undone(start, clearway_only, alter):
    """What is not undone yet is not taken over, and does not count."""
    server = start("--innodb_buffer_pool_size=32M")
    run("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, u INT, pad VARBINARY(3000), KEY (u))", on=server.connect())
    connection = server.connect()
    for first in range(0, 6_000, 500):
        run("INSERT INTO d.t VALUES " + ",".join(f"({3 * i}, {i}, REPEAT('b', 1800))" for i in range(first, first + 500)), on=connection)
    run("BEGIN", "UPDATE d.t SET pad = ''", "DELETE FROM d.t WHERE id % 9 = 0",
        "INSERT INTO d.t SELECT id + 1, u + 1000000, REPEAT('n', 900) FROM d.t WHERE id % 2 = 0", "UPDATE d.t SET u = u + 500000", on=connection)
    # Its flush makes what the transaction has done durable, too.
    run("CREATE TABLE d.u (id INT)", on=server.connect())
    server.kill()
    server.start()
    connection = server.connect()
    run(f"ALTER TABLE d.t {alter}", on=connection)
    whole = "SELECT COUNT(*), SUM(pad = REPEAT('b', 1800)), SUM(id = 3 * u) FROM d.t"
    assert list(rows(connection, whole)) == [(6_000, 6_000, 6_000)]
    assert rows(connection, "CHECK TABLE d.t")[0][3] == "OK"
