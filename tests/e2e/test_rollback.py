"""Rollback cannot fail: where it finds no room it goes on in the background, and nothing of it is ever committed."""

import threading

import pymysql
import pytest
from harness import code_of, rows, run, value, wait_until
from mixed_load import Disk

ROWS = 10_000


def shrunk_and_filled(server, count=ROWS):
    """All rows shrunk by a transaction that is open, others put between them: (its connection, ids of the others)."""
    run("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, pad VARBINARY(3000))", on=server.connect())
    other = server.connect()
    for start in range(0, count, 500):
        values = ",".join(f"({2 * i}, REPEAT(CHAR(65 + {i} % 26), 3000))" for i in range(start, start + 500))
        run(f"INSERT INTO d.t VALUES {values}", on=other)
    shrinking = server.connect()
    # Without gap locks.
    for connection in (shrinking, other):
        run("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED", on=connection)
    run("BEGIN", "UPDATE d.t SET pad = 'short'", on=shrinking)
    for start in range(0, count, 500):
        values = ",".join(f"({2 * i + 1}, REPEAT('y', 2900))" for i in range(start, start + 500))
        run(f"INSERT INTO d.t VALUES {values}", on=other)
    return shrinking, other


WHOLE = "SELECT COUNT(*), SUM(LENGTH(pad) = 3000 AND pad = REPEAT(CHAR(65 + id DIV 2 % 26), 3000)) FROM d.t WHERE id % 2 = 0"


def is_whole(connection, count=ROWS):
    assert list(rows(connection, WHOLE)) == [(count, count)]
    assert value(connection, "SELECT COUNT(*) FROM d.t WHERE id % 2 = 1 AND LENGTH(pad) = 2900") == count


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


def fill_disk(server, place):
    """No room but what statements must leave."""
    disk = Disk(place)
    connection = server.connect()
    # The data file is to be full, and not the log, which a binary log that cannot be written keeps.
    run("SET sql_log_bin = 0", "CREATE TABLE d.filler (id INT AUTO_INCREMENT PRIMARY KEY, pad VARBINARY(8000))", on=connection)
    disk.fill(0)
    fill_until_refused("INSERT INTO d.filler (pad) VALUES (REPEAT('f', 7500))", on=connection)
    return disk


def fill_until_refused(statement, on):
    with pytest.raises(pymysql.MySQLError) as raised:
        for _ in range(100_000):
            run(statement, on=on)
    assert raised.value.args[0] == 1114, raised.value


@pytest.mark.parametrize("log", ["--skip-log-bin", "--log-bin"])
@pytest.mark.parametrize("how", ["rollback", "disconnect", "kill"])
def test_a_transaction_on_a_full_disk(start, small_disk, clearway_only, how, log, count=ROWS // 2):
    """It needs no room to grow again. After a crash with the binary log on, whose writer is stalled, it may wait until there is room
    for that."""
    server = start(log, "--innodb_buffer_pool_size=32M", "--innodb_redo_log_capacity=16M", datadir=small_disk / "data")
    shrinking, other = shrunk_and_filled(server, count)
    if log == "--log-bin":
        run("FLUSH BINARY LOGS", on=other)
    disk = fill_disk(server, small_disk)
    if how == "rollback":
        run("ROLLBACK", on=shrinking)
    elif how == "kill":
        server.kill()
        server.start()
    else:
        shrinking.close()
    connection = server.connect()
    if log == "--log-bin":
        run("PURGE BINARY LOGS TO 'binlog.000002'", on=connection)
    rolled_back(connection)
    is_whole(connection, count)
    disk.release()
    run("INSERT INTO d.t VALUES (-1, 'x')", on=connection)


@pytest.mark.parametrize("small_disk", ["220m"], indirect=True)
@pytest.mark.parametrize("taken_by", ["the server", "others"])
def test_rollback_has_its_room_beside_a_binary_log_that_has_none(start, small_disk, clearway_only, taken_by, count=3000):
    """The log that the binary log lacks must stay, so there is nothing to free: what a rollback needs was kept for it."""
    server = start("--log-bin", "--innodb_buffer_pool_size=32M", "--innodb_redo_log_capacity=16M", datadir=small_disk / "data")
    shrinking, other = shrunk_and_filled(server, count)
    run("CREATE TABLE d.filler (id INT AUTO_INCREMENT PRIMARY KEY, pad VARBINARY(8000))", on=other)
    run("CREATE TABLE d.tiny (id INT)", on=other)
    if taken_by == "others":
        # What TRUNCATE has punched is theirs.
        run("INSERT INTO d.filler (pad) SELECT REPEAT('f', 7500) FROM d.t WHERE id % 2 = 1", "TRUNCATE d.filler", on=other)
        disk = Disk(small_disk)
        disk.fill(0)
    for limit in (1000, 100, 10, 1):
        fill_until_refused(f"INSERT INTO d.filler (pad) SELECT REPEAT('f', 3000) FROM d.t WHERE id % 2 = 1 LIMIT {limit}", on=other)
    run("ROLLBACK", on=shrinking)
    is_whole(other, count)
    run("SELECT id FROM d.t WHERE id = 2 FOR UPDATE NOWAIT", "DROP TABLE d.tiny", "DROP TABLE d.filler", on=other)
    if taken_by == "others":
        disk.release()
    wait_until(lambda: code_of(other, "INSERT INTO d.t VALUES (-1, 'x')") == 0, 60, "there is room again")
    # By the log's own thread, once a second: the end of the transaction leaves some for the next one.
    wait_until(lambda: not list((small_disk / "data" / "redo").glob("*reserve*")), 60, "something is kept for nobody")


@pytest.mark.parametrize("log", ["--skip-log-bin", "--log-bin"])
def test_a_statement_on_a_full_disk(start, small_disk, clearway_only, log, count=ROWS // 2):
    """It is undone, and the transaction goes on."""
    server = start(log, "--innodb_buffer_pool_size=32M", "--innodb_redo_log_capacity=16M", datadir=small_disk / "data")
    run("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, pad VARBINARY(3000))", "CREATE TABLE d.u (id INT PRIMARY KEY)", on=server.connect())
    other, last, shrinking = server.connect(), server.connect(), server.connect()
    for start_at in range(0, count, 500):
        values = ",".join(f"({2 * i}, REPEAT(CHAR(65 + {i} % 26), 3000))" for i in range(start_at, start_at + 500))
        run(f"INSERT INTO d.t VALUES {values}", on=other)
    run("BEGIN", f"SELECT * FROM d.t WHERE id = {2 * count - 2} FOR UPDATE", on=last)
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
    for start_at in range(0, count - 1, 500):
        values = ",".join(f"({2 * i + 1}, REPEAT('y', 2900))" for i in range(start_at, min(start_at + 500, count - 1)))
        run(f"INSERT INTO d.t VALUES {values}", on=other)
    if log == "--log-bin":
        run("FLUSH BINARY LOGS", on=other)
    disk = fill_disk(server, small_disk)
    if log == "--log-bin":
        fill_until_refused("UPDATE d.filler SET pad = REPEAT(CHAR(RAND() * 200), 7500)", on=server.connect())
    run(f"KILL QUERY {shrinking.thread_id()}", on=other)
    waiting.join()
    assert outcome == [1317]
    assert rows(shrinking, "SELECT * FROM d.u") == ((1,),)
    run("COMMIT", on=shrinking)
    if log == "--log-bin":
        run("PURGE BINARY LOGS TO 'binlog.000002'", on=other)
    rolled_back(other)
    assert list(rows(other, WHOLE)) == [(count, count)]
    disk.release()
    run("ROLLBACK", on=last)
    assert len(rows(other, "SELECT * FROM d.u")) == 1


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


@pytest.mark.parametrize("log", ["--skip-log-bin", "--log-bin"])
def test_what_makes_room_finds_room(start, small_disk, clearway_only, log):
    """Rows change where there is no room for new ones, tables and accounts go where rows no longer change, and then there is room again."""
    server = start(log, "--innodb_buffer_pool_size=32M", "--innodb_redo_log_capacity=16M", datadir=small_disk / "data")
    connection, other = server.connect(), server.connect()
    run("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, pad VARBINARY(3000))", "CREATE TABLE d.u LIKE d.t", "CREATE USER u@localhost", on=connection)
    for start_at in range(0, 6_000, 500):
        values = ",".join(f"({i}, REPEAT('a', 3000))" for i in range(start_at, start_at + 500))
        run(f"INSERT INTO d.t VALUES {values}", on=connection)
    run("INSERT INTO d.u SELECT * FROM d.t WHERE id < 1000", on=connection)
    if log == "--log-bin":
        run("FLUSH BINARY LOGS", on=connection)
    fill_disk(server, small_disk)
    run("UPDATE d.u SET pad = REPEAT('b', 3000) WHERE id < 10", "BEGIN", on=connection)
    # Each change takes room for undo that nobody gives back before its end.
    fill_until_refused("UPDATE d.u SET pad = REPEAT(CHAR(RAND() * 200), 3000) WHERE id >= 10", on=connection)
    if log == "--log-bin":
        run("PURGE BINARY LOGS TO 'binlog.000002'", on=other)
    run("RENAME TABLE d.t TO d.v", "DROP USER u@localhost", "TRUNCATE d.v", "DROP TABLE d.v", on=other)
    run("ROLLBACK", on=connection)
    assert value(connection, "SELECT COUNT(*) FROM d.u WHERE pad = REPEAT('a', 3000)") == 990
    make_room = "INSERT INTO d.u SELECT id + 1000, pad FROM d.u"
    wait_until(lambda: code_of(connection, make_room) == 0, 30, "there is room for rows")


def test_what_is_left_of_a_crashed_transaction_is_told(start, clearway_only):
    """Its changes are counted when it is undone, and the log says how far that is."""
    server = start("--innodb_buffer_pool_size=32M")
    run("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY AUTO_INCREMENT, v INT, KEY (v))", "INSERT INTO d.t (v) VALUES (1)", on=server.connect())
    writer = server.connect()
    for _ in range(16):
        run("INSERT INTO d.t (v) SELECT v FROM d.t", on=writer)
    run("BEGIN", "UPDATE d.t SET v = 2", on=writer)
    # Its flush makes what the transaction has done durable, too.
    run("CREATE TABLE d.u (id INT)", on=server.connect())
    server.kill()
    server.start()
    connection = server.connect()
    left = []
    rolling = "SELECT trx_rows_modified FROM information_schema.innodb_trx WHERE trx_state = 'ROLLING BACK'"
    while (found := rows(connection, rolling)):
        left += [n for (n,) in found]
    left = [n for n in left if n > 0]
    assert left == sorted(left, reverse=True) and len(set(left)) > 2 and left[0] <= 3 * 65536, left[:10]
    assert value(connection, "SELECT COUNT(*) FROM d.t WHERE v = 1") == 65536
