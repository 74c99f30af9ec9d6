"""Statements that read a table in parts by several threads: they see one snapshot, KILL ends them, and a transaction's own
changes are in what it counts."""

import threading

import pymysql
import pytest

ROWS = 60_000


@pytest.fixture
def filled(start):
    server = start("--innodb-buffer-pool-size=64M")
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute("CREATE DATABASE d")
        cursor.execute("CREATE TABLE d.t (id INT PRIMARY KEY, k INT, v VARCHAR(200), UNIQUE KEY (k), KEY (v(20)))")
        cursor.execute("SET cte_max_recursion_depth = 1000000")
        cursor.execute(f"INSERT INTO d.t WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {ROWS}) "
                       "SELECT i * 2, i * 2, REPEAT(CHAR(97 + i % 26), 150) FROM n")
        cursor.execute("COMMIT")
    return server


def one(cursor, statement):
    cursor.execute(statement)
    return cursor.fetchone()


def test_counts_sums_and_checks_see_one_snapshot(filled):
    """Beside writers, who keep the number of rows and move entries of both indexes."""
    over, failures = threading.Event(), []

    def write(first):
        try:
            with filled.connect() as connection, connection.cursor() as cursor:
                at = first
                while not over.is_set():
                    at = (at + 2 * 7919) % (2 * ROWS)
                    cursor.execute("BEGIN")
                    if cursor.execute("DELETE FROM d.t WHERE id = %s", (at - at % 2,)):
                        cursor.execute("INSERT INTO d.t VALUES (%s, %s, 'moved')", (at - at % 2, at - at % 2))
                    cursor.execute("UPDATE d.t SET v = CONCAT(CHAR(65 + %s %% 50), v), k = -k WHERE id BETWEEN %s AND %s", (at, at, at + 60))
                    cursor.execute("COMMIT" if at % 3 else "ROLLBACK")
        except Exception as failure:
            failures.append(failure)

    threads = [threading.Thread(target=write, args=(first,)) for first in (2, ROWS)]
    [thread.start() for thread in threads]
    try:
        with filled.connect() as connection, connection.cursor() as cursor:
            for _ in range(8):
                cursor.execute("START TRANSACTION WITH CONSISTENT SNAPSHOT")
                assert one(cursor, "SELECT COUNT(*) FROM d.t") == (ROWS,)
                assert one(cursor, "SELECT COUNT(*), COUNT(*) + 1 FROM d.t FORCE INDEX (PRIMARY)") == (ROWS, ROWS + 1)
                assert one(cursor, "SELECT COUNT(*) FROM d.t FORCE INDEX (k) WHERE 1") == (ROWS,)
                cursor.execute("SET innodb_parallel_read_threads = 1")
                assert one(cursor, "SELECT COUNT(*) FROM d.t") == (ROWS,)
                cursor.execute("SET innodb_parallel_read_threads = DEFAULT")
                cursor.execute("COMMIT")
                assert one(cursor, "CHECK TABLE d.t")[3] == "OK"
                if failures:
                    break
    finally:
        over.set()
        [thread.join(60) for thread in threads]
    assert not failures


def test_checksums_are_the_same_in_parts(filled):
    with filled.connect() as connection, connection.cursor() as cursor:
        sums = set()
        for threads in (1, 2, 16):
            cursor.execute(f"SET innodb_parallel_read_threads = {threads}")
            sums.add(one(cursor, "CHECKSUM TABLE d.t")[1])
        assert len(sums) == 1


def test_own_changes_are_counted(filled):
    with filled.connect() as connection, connection.cursor() as cursor:
        cursor.execute("BEGIN")
        cursor.execute("DELETE FROM d.t WHERE id <= 1000")
        assert one(cursor, "SELECT COUNT(*) FROM d.t") == (ROWS - 500,)
        cursor.execute("INSERT INTO d.t VALUES (1, 1, 'x')")
        assert one(cursor, "SELECT COUNT(*) FROM d.t FORCE INDEX (k)") == (ROWS - 499,)
        cursor.execute("ROLLBACK")
        assert one(cursor, "SELECT COUNT(*) FROM d.t") == (ROWS,)


def test_an_end_is_heard_in_all_parts(filled):
    with filled.connect() as connection, connection.cursor() as cursor, filled.connect() as other:
        cursor.execute("SET max_execution_time = 1")
        outcomes = set()
        for _ in range(20):
            try:
                outcomes.add(one(cursor, "SELECT COUNT(*) FROM d.t a WHERE (SELECT COUNT(*) FROM d.t) > 0 AND a.id IN (2, 4, 6)"))
            except pymysql.MySQLError as error:
                outcomes.add(error.args[0])
        assert outcomes <= {(3,), 3024}
        cursor.execute("SET max_execution_time = 0")
        assert one(cursor, "SELECT COUNT(*) FROM d.t") == (ROWS,)
        # Nothing is left of the readers' transactions.
        with other.cursor() as cursor:
            assert one(cursor, "SELECT COUNT(*) FROM information_schema.INNODB_TRX") == (0,)


def test_indexes_are_built_in_parts(filled):
    """Beside a writer, with a buffer of many runs and of few; CHECK TABLE compares entries and rows."""
    over, failures = threading.Event(), []

    def write():
        try:
            with filled.connect() as connection, connection.cursor() as cursor:
                at = 0
                while not over.is_set():
                    at = (at + 7919) % ROWS
                    cursor.execute("UPDATE d.t SET k = -k, v = CONCAT(CHAR(65 + %s %% 50), v) WHERE id BETWEEN %s AND %s", (at, at, at + 20))
        except Exception as failure:
            failures.append(failure)

    thread = threading.Thread(target=write)
    thread.start()
    try:
        with filled.connect() as connection, connection.cursor() as cursor:
            for size in (65536, 1 << 20, 64 << 20):
                cursor.execute(f"SET innodb_ddl_buffer_size = {size}")
                cursor.execute("ALTER TABLE d.t ADD INDEX two (v, k), ADD UNIQUE INDEX three (k, id), ALGORITHM=INPLACE, LOCK=NONE")
                assert one(cursor, "CHECK TABLE d.t")[3] == "OK"
                assert one(cursor, "SELECT COUNT(*) FROM d.t FORCE INDEX (two) WHERE v > ''") == (ROWS,)
                cursor.execute("ALTER TABLE d.t DROP INDEX two, DROP INDEX three")
    finally:
        over.set()
        thread.join(60)
    assert not failures


def test_a_value_twice_in_two_parts_is_found(filled):
    with filled.connect() as connection, connection.cursor() as cursor:
        cursor.execute("ALTER TABLE d.t ADD COLUMN u INT")
        cursor.execute("UPDATE d.t SET u = id")
        cursor.execute(f"UPDATE d.t SET u = 2 WHERE id = {2 * ROWS}")
        with pytest.raises(pymysql.err.IntegrityError) as refused:
            cursor.execute("ALTER TABLE d.t ADD UNIQUE INDEX (u)")
        assert refused.value.args == (1062, "Duplicate entry '2' for key 't.u'")
        cursor.execute(f"UPDATE d.t SET u = NULL WHERE id IN (2, {2 * ROWS})")
        cursor.execute("ALTER TABLE d.t ADD UNIQUE INDEX (u)")
        assert one(cursor, "CHECK TABLE d.t")[3] == "OK"


def test_a_build_in_parts_ends_on_kill(filled):
    with filled.connect() as connection, connection.cursor() as cursor, filled.connect() as other, other.cursor() as killer:
        outcome = []

        def build():
            try:
                cursor.execute("ALTER TABLE d.t ADD INDEX wide (v, k, id), ADD INDEX wide2 (k, v, id)")
                outcome.append(None)
            except pymysql.MySQLError as error:
                outcome.append(error.args[0])

        for _ in range(5):
            thread = threading.Thread(target=build)
            thread.start()
            while thread.is_alive() and not killer.execute(
                    f"SELECT 1 FROM information_schema.PROCESSLIST WHERE ID = {connection.thread_id()} AND INFO LIKE 'ALTER%'"):
                pass
            killer.execute(f"KILL QUERY {connection.thread_id()}")
            thread.join(60)
            assert not thread.is_alive()
            if outcome[-1] is None:
                cursor.execute("ALTER TABLE d.t DROP INDEX wide, DROP INDEX wide2")
        assert set(outcome) <= {None, 1317} and 1317 in outcome
        assert one(cursor, "CHECK TABLE d.t")[3] == "OK"
