"""Broken disks: no room, flipped bytes. The server says so and never gives wrong rows."""

import os
import pathlib
import time

import harness
import pymysql
import pytest
from harness import code_of, rows, run, value, wait_until

MIB = 1024 * 1024


def test_disk_full(start, small_disk, clearway_only):
    """MariaDB 10.11 ends itself here."""
    capacity = "--innodb_redo_log_capacity=32M"
    ballast = small_disk / "ballast"
    server = start("--innodb_buffer_pool_size=16M", capacity, datadir=small_disk / "data")
    connection = server.connect()
    run("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, pad LONGBLOB)", "INSERT INTO d.t VALUES (0, 'first')", on=connection)
    free = os.statvfs(small_disk)
    with open(ballast, "wb") as file:
        os.posix_fallocate(file.fileno(), 0, max(free.f_bavail * free.f_frsize - 24 * MIB, MIB))
    stored = [0]
    with pytest.raises(pymysql.MySQLError) as raised:
        for i in range(1, 1000):
            with connection.cursor() as cursor:
                cursor.execute("INSERT INTO d.t VALUES (%s, REPEAT('x', 262144))", (i,))
            stored.append(i)
    assert raised.value.args[0] in (1114, 1030, 1021), raised.value
    # It lives, reads, and nothing of the failed statement is there.
    other = server.connect()
    assert [i for (i,) in rows(other, "SELECT id FROM d.t ORDER BY id")] == stored
    ballast.unlink()
    run("INSERT INTO d.t VALUES (5000, REPEAT('y', 262144))", on=connection)
    server.kill()
    server.assert_sound()
    server.start()
    assert [i for (i,) in rows(server.connect(), "SELECT id FROM d.t ORDER BY id")] == [*stored, 5000]


def fill_until_refused(connection, table, size=3000):
    """Inserts rows, fewer and fewer at a time."""
    run("SET cte_max_recursion_depth = 100000", on=connection)
    for count in (1000, 100, 10, 1):
        numbers = f"WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count})"
        with pytest.raises(pymysql.MySQLError) as raised:
            for _ in range(100_000):
                run(f"INSERT INTO {table} (pad) {numbers} SELECT REPEAT('f', {size}) FROM n", on=connection)
        assert raised.value.args[0] == 1114, raised.value


def fill_to_the_last_block(place):
    with open(place / "rest", "wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            pass


@pytest.mark.parametrize("small_disk", ["120m"], indirect=True)
@pytest.mark.parametrize("log", ["--skip-log-bin", "--log-bin"])
def test_a_full_disk_keeps_nobody_out(start, small_disk, clearway_only, log):
    """Who is to make room on it can stop the server, start it and drop what is too much."""
    data = small_disk / "data"
    server = start("--innodb_buffer_pool_size=16M", "--innodb_redo_log_capacity=16M", log, f"--socket={small_disk}/s", datadir=data)
    connection = server.connect()
    run("CREATE DATABASE d", "CREATE TABLE d.t (id INT AUTO_INCREMENT PRIMARY KEY, pad VARCHAR(3000))", on=connection)
    fill_until_refused(connection, "d.t")
    count = value(connection, "SELECT COUNT(*) FROM d.t")
    assert server.stop() == 0
    fill_to_the_last_block(small_disk)
    server.start()
    assert all(path.read_text() for path in data.glob("*.pid")), "no empty one"
    connection = server.connect()
    assert value(connection, "SELECT COUNT(*) FROM d.t") == count
    # Its pages are freed in the background: see docs/limits.md.
    run("DROP TABLE d.t", on=connection)
    wait_until(lambda: code_of(connection, "CREATE TABLE d.t (id INT)") == 0, 20, "what was dropped is room")
    wait_until(lambda: code_of(connection, "INSERT INTO d.t VALUES (1)") == 0, 20, "what was dropped is room")
    assert server.stop() == 0


@pytest.mark.parametrize("small_disk", ["24m"], indirect=True)
def test_a_full_disk_of_the_binary_log_alone(start, small_disk, clearway_only):
    """Whoever writes is told, none waits for long, and the server ends soon."""
    server = start("--innodb_redo_log_capacity=16M", f"--log-bin={small_disk}/binlog", "--max-binlog-size=8M")
    connection = server.connect()
    run("CREATE DATABASE d", "CREATE TABLE d.t (id INT AUTO_INCREMENT PRIMARY KEY, pad VARCHAR(3000))", on=connection)
    began = time.monotonic()
    fill_until_refused(connection, "d.t")
    for statement in ("INSERT INTO d.t (pad) VALUES ('x')", "UPDATE d.t SET pad = 'x' LIMIT 1", "DELETE FROM d.t LIMIT 1"):
        with pytest.raises(pymysql.MySQLError) as raised:
            run(statement, on=connection)
        assert raised.value.args[0] == 1114, (statement, raised.value)
    assert time.monotonic() - began < 60
    count = value(connection, "SELECT COUNT(*) FROM d.t")
    assert server.stop(20) == 0
    server.start()
    connection = server.connect()
    assert value(connection, "SELECT COUNT(*) FROM d.t") == count
    run("PURGE BINARY LOGS TO 'binlog.000002'", on=connection)
    wait_until(lambda: code_of(connection, "INSERT INTO d.t (pad) VALUES ('x')") == 0, 20, "there is room again")


def data_files(server):
    """Files of pages, largest first; the log is checked by tests of its own crate."""
    files = [path for path in pathlib.Path(server.datadir).rglob("*") if path.is_file() and "log" not in path.name.lower()]
    return sorted(files, key=lambda path: -path.stat().st_size)


def test_a_flipped_page_is_named_and_never_read_as_rows(start, clearway_only):
    # Without a doublewrite file, from which a start heals the pages that were written last.
    server = start("--innodb_buffer_pool_size=16M", "--innodb_doublewrite=OFF")
    connection = server.connect()
    run("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, n INT NOT NULL, pad CHAR(200) NOT NULL)", on=connection)
    count = 20_000
    for first in range(0, count, 1000):
        values = ", ".join(f"({i}, {i * 7}, REPEAT('{'abcdefghij'[i % 10]}', 200))" for i in range(first, first + 1000))
        run(f"INSERT INTO d.t VALUES {values}", on=connection)
    assert server.stop() == 0
    file = data_files(server)[0]
    page_bytes = 16 * 1024
    data = bytearray(file.read_bytes())
    # Every page that holds rows of the table gets one wrong bit, in the middle of a row.
    broken = 0
    for at in range(0, len(data), page_bytes):
        page = data[at:at + page_bytes]
        where = page.find(b"cccccccccccccccc")
        if where >= 0:
            data[at + where + 3] ^= 0x10
            broken += 1
    assert broken > 0, f"no page of the table in {file}"
    file.write_bytes(data)
    code, said = server.check()
    assert code == 1 and f"{file.name}: page" in said and "checksum" in said, said
    try:
        server.start()
    except AssertionError:
        pass  # Refusing to start is an honest answer as well.
    else:
        connection = server.connect()
        with pytest.raises(pymysql.MySQLError) as raised:
            found = rows(connection, "SELECT id, n, pad FROM d.t")
            assert all(n == i * 7 and set(pad) == {"abcdefghij"[i % 10]} for i, n, pad in found), "WRONG ROWS"
            raise AssertionError(f"{len(found)} rows read from {broken} broken pages without a word")
        assert raised.value.args[0] not in (1146, 1049), raised.value
        try:
            assert value(server.connect(), "SELECT 1") == 1, "other work goes on"
        except (pymysql.MySQLError, ConnectionError):
            assert server.process.poll() is not None and server.process.returncode not in (0, None)
    text = server.log_text()
    assert file.name in text and "page" in text.lower(), f"the log does not name {file.name} and the page:\n{server.log_tail()}"
    assert "panicked" not in text


def test_a_truncated_data_file_is_named(start, clearway_only):
    server = start()
    connection = server.connect()
    run("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, pad CHAR(200))", on=connection)
    # Half of it is more than the doublewrite file can bring back.
    for first in range(0, 60_000, 1000):
        run("INSERT INTO d.t VALUES " + ", ".join(f"({i}, REPEAT('x', 200))" for i in range(first, first + 1000)), on=connection)
    assert server.stop() == 0
    file = data_files(server)[0]
    # In the middle of the table: the file is longer than what is in it.
    os.truncate(file, file.read_bytes().rindex(b"x" * 200) // 2)
    code, said = server.check()
    assert code == 1 and file.name in said, said
    try:
        server.start()
    except AssertionError:
        pass
    else:
        with pytest.raises(pymysql.MySQLError):
            rows(server.connect(), "SELECT * FROM d.t")
    assert file.name in server.log_text(), server.log_tail()
    assert "panicked" not in server.log_text()


def test_a_newer_or_foreign_file_is_refused(start, clearway_only):
    server = start()
    assert server.stop() == 0
    file = data_files(server)[0]
    with open(file, "r+b") as handle:
        handle.write(os.urandom(16 * 1024))
    # With its copy there the page would be put right.
    os.truncate(file.parent / "clearway.doublewrite", 0)
    code, said = server.check()
    assert code == 1 and file.name in said, said
    with pytest.raises(AssertionError):
        server.start()
    assert file.name in server.log_text(), server.log_tail()
    assert harness.BINARY.exists() and "panicked" not in server.log_text()
