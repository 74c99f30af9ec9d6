"""Temporary tables end with their session, however it ends, and leave no space behind."""

import pymysql

ROWS = 300
RESET_CONNECTION = 0x1F


def make(connection):
    with connection.cursor() as cursor:
        cursor.execute("CREATE TEMPORARY TABLE own (id INT PRIMARY KEY, pad TEXT, KEY k (pad(20)))")
        cursor.executemany("INSERT INTO own VALUES (%s, REPEAT('x', 3000))", [(i,) for i in range(ROWS)])


def has_own(connection):
    with connection.cursor() as cursor:
        try:
            cursor.execute("SELECT COUNT(*) FROM own")
        except pymysql.err.ProgrammingError as error:
            assert error.args[0] == 1146, error
            return False
        return cursor.fetchone()[0] == ROWS


def test_reset_connection_drops(db, clearway_only):
    connection = db
    make(connection)
    assert has_own(connection)
    connection._execute_command(RESET_CONNECTION, b"")
    connection._read_ok_packet()
    assert not has_own(connection)
    make(connection)
    assert has_own(connection)


def test_a_crash_leaves_nothing(start, clearway_only):
    server = start()
    sizes = []
    for _ in range(4):
        connection = server.connect()
        with connection.cursor() as cursor:
            cursor.execute("CREATE DATABASE IF NOT EXISTS d")
            cursor.execute("USE d")
        assert not has_own(connection)
        make(connection)
        # In the middle of a transaction that changes rows of it.
        connection.begin()
        with connection.cursor() as cursor:
            cursor.execute("UPDATE own SET pad = CONCAT('y', pad)")
        server.kill()
        server.start()
        # The binary log, and the numbers of its transactions, grow with each round.
        grows = lambda f: "log" in f.name or f.name == "executed-gtids"
        sizes.append(sum(f.stat().st_size for f in server.datadir.rglob("*") if f.is_file() and not grows(f)))
    assert sizes[-1] <= sizes[1], sizes
