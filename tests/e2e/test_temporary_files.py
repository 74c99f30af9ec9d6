"""Temporary files go with the statement that wrote them, whatever keeps its plan: the session, a prepared statement, a cursor."""

import os
import threading

import mysql.connector
import pymysql
import pytest

from harness import run, wait_until

# Each goes on in files with the little memory that the session has.
STATEMENTS = {
    "sort": "SELECT id, pad FROM big ORDER BY pad, id",
    "group": "SELECT pad, COUNT(*) FROM big GROUP BY pad",
    "distinct": "SELECT DISTINCT pad FROM big",
    "window": "SELECT id, ROW_NUMBER() OVER (ORDER BY pad) FROM big",
    "join": "SELECT COUNT(*) FROM big a JOIN big b ON a.pad = b.pad",
    "derived": "SELECT COUNT(*) FROM (SELECT pad FROM big LIMIT 50000) d JOIN big ON big.id = 1",
    "union": "SELECT pad FROM big UNION SELECT CONCAT(pad, 'x') FROM big",
    "recursive": "WITH RECURSIVE r AS (SELECT 1 AS n, REPEAT('x', 200) AS pad UNION ALL SELECT n + 1, pad FROM r WHERE n < 50000) SELECT COUNT(*) FROM r",
    "insert": "INSERT INTO copy SELECT id, pad FROM big ORDER BY pad",
}


LITTLE = ("SET SESSION sort_buffer_size = 32768", "SET SESSION tmp_table_size = 65536", "SET SESSION join_buffer_size = 65536")


@pytest.fixture(scope="module")
def loaded(server, kind):
    if kind != "clearway":
        pytest.skip("counts the files of Clearway's own process")
    with server.connect() as connection:
        run("DROP DATABASE IF EXISTS files", "CREATE DATABASE files", "USE files", on=connection)
        run("SET SESSION cte_max_recursion_depth = 1000000", on=connection)
        run("CREATE TABLE big (id INT PRIMARY KEY, pad VARCHAR(200))", "CREATE TABLE copy LIKE big", on=connection)
        numbers = "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 60000)"
        run(f"INSERT INTO big {numbers} SELECT n, CONCAT(MD5(n), REPEAT('x', 150)) FROM r", on=connection)
        yield server
        run("DROP DATABASE files", on=connection)


def deleted_files(server):
    """Temporary files that the server has open: they have no name."""
    found = 0
    folder = f"/proc/{server.process.pid}/fd"
    for fd in os.listdir(folder):
        try:
            found += os.readlink(f"{folder}/{fd}").endswith("(deleted)")
        except FileNotFoundError:
            # Closed since the folder was listed.
            pass
    return found


def session(server, **words):
    connection = server.connect(database="files", **words)
    run(*LITTLE, "SET SESSION cte_max_recursion_depth = 1000000", on=connection)
    return connection


@pytest.mark.parametrize("name", STATEMENTS)
def test_an_idle_session_has_none(loaded, name):
    connection = session(loaded)
    with connection.cursor() as cursor:
        for _ in range(2):
            cursor.execute(STATEMENTS[name])
            assert cursor.rowcount > 0
            assert deleted_files(loaded) == 0
            cursor.execute("DELETE FROM copy")
    connection.close()


@pytest.mark.parametrize("name", ["sort", "group", "distinct", "window", "union"])
def test_they_go_when_the_last_row_was_sent(loaded, name):
    connection = session(loaded)
    with connection.cursor(pymysql.cursors.SSCursor) as cursor:
        cursor.execute(STATEMENTS[name])
        cursor.fetchone()
        # Most rows are still to come: the client reads none.
        assert deleted_files(loaded) > 0
        assert len(cursor.fetchall()) > 1000
        assert deleted_files(loaded) == 0
    connection.close()


def test_a_prepared_statement_has_none_and_runs_again(loaded):
    options = dict(host=loaded.host, port=loaded.port, user="root", database="files", use_pure=True, ssl_disabled=True)
    connection = mysql.connector.connect(**options)
    plain = connection.cursor()
    for statement in LITTLE:
        plain.execute(statement)
    cursor = connection.cursor(prepared=True)
    for least in (1, 100, 59_000):
        cursor.execute("SELECT id, pad FROM big WHERE id >= %s ORDER BY pad, id", (least,))
        assert len(cursor.fetchall()) == 60_001 - least
        assert deleted_files(loaded) == 0
    connection.close()


def test_one_by_name_counts_as_prepared_once(loaded):
    connection = session(loaded)
    run("PREPARE s FROM 'SELECT id FROM big ORDER BY pad, id LIMIT 59999, 1'", "FLUSH STATUS", on=connection)
    with connection.cursor() as cursor:
        for _ in range(3):
            cursor.execute("EXECUTE s")
            assert len(cursor.fetchall()) == 1
            assert deleted_files(loaded) == 0
        cursor.execute("SHOW SESSION STATUS LIKE 'Com_stmt_reprepare'")
        assert cursor.fetchone()[1] == "0"
    connection.close()


def test_an_error_leaves_none(loaded):
    connection = session(loaded)
    with connection.cursor() as cursor:
        with pytest.raises(pymysql.MySQLError) as raised:
            cursor.execute("SELECT COUNT(*) FROM (SELECT id, pad FROM big ORDER BY pad LIMIT 50000) d WHERE (SELECT id FROM big) = 1")
        assert raised.value.args[0] == 1242
        assert deleted_files(loaded) == 0
        with pytest.raises(pymysql.MySQLError) as raised:
            cursor.execute("INSERT INTO copy SELECT 1, pad FROM big ORDER BY pad")
        assert raised.value.args[0] == 1062
        assert deleted_files(loaded) == 0
    connection.close()


def test_kill_leaves_none(loaded):
    connection = session(loaded)
    endless = "SELECT id, pad FROM big ORDER BY pad, SLEEP(IF(id = 60000, 1000, 0))"
    errors = []

    def work():
        with connection.cursor() as cursor:
            try:
                cursor.execute(endless)
            except pymysql.MySQLError as e:
                errors.append(e.args[0])

    thread = threading.Thread(target=work)
    thread.start()
    wait_until(lambda: deleted_files(loaded) > 0, 60, "the sort needs no file")
    with loaded.connect() as other:
        run(f"KILL QUERY {connection.thread_id()}", on=other)
    thread.join()
    assert deleted_files(loaded) == 0
    # A SLEEP that is killed only says so; where the sort goes on it ends as it likes, without files.
    assert errors in ([], [1317])
    connection.close()
