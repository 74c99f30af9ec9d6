"""Data definition beside writers, and what a crash leaves of it."""

import random
import threading

import pymysql
import pytest

from harness import rows, run, value, wait_until

pytestmark = pytest.mark.usefixtures("clearway_only")

ROWS = 3000
DUPLICATE, DEADLOCK, KILLED, READ_ONLY_SCHEMA = 1062, 1213, 1317, 3989


def fill(db, count=ROWS, table="t"):
    run(f"CREATE TABLE {table} (id INT PRIMARY KEY, a INT, b VARCHAR(20))", on=db)
    for first in range(0, count, 500):
        some = ", ".join(f"({i}, {i}, 'b{i % 7}')" for i in range(first, min(count, first + 500)))
        run(f"INSERT INTO {table} VALUES {some}", on=db)


def is_sound(db, table="t"):
    assert rows(db, f"CHECK TABLE {table}")[0][3] == "OK"


class Writer(threading.Thread):
    """Changes rows at random, in transactions that commit and that roll back, until told to stop."""

    def __init__(self, server, database, seed):
        super().__init__(daemon=True)
        self.connection = server.connect(database=database, autocommit=False)
        self.random = random.Random(seed)
        self.wanted = True
        self.commits = 0
        self.problem = None

    def run(self):
        try:
            while self.wanted:
                self.transaction()
        except (pymysql.err.MySQLError, OSError) as error:
            self.problem = error

    def transaction(self):
        pick, number = self.random.choice, lambda: self.random.randrange(ROWS * 2)
        try:
            with self.connection.cursor() as cursor:
                for _ in range(self.random.randrange(1, 5)):
                    cursor.execute(pick((
                        f"INSERT IGNORE INTO t (id, a, b) VALUES ({number()}, {number()}, 'new')",
                        f"UPDATE t SET a = a + 1 WHERE id = {number()}",
                        f"UPDATE t SET b = 'b{number()}' WHERE id = {number()}",
                        f"UPDATE IGNORE t SET id = {number()} WHERE id = {number()}",
                        f"DELETE FROM t WHERE id = {number()}",
                        f"REPLACE INTO t (id, a, b) VALUES ({number()}, {number()}, 'again')",
                    )))
            if self.random.random() < 0.3:
                self.connection.rollback()
            else:
                self.connection.commit()
                self.commits += 1
        except pymysql.err.OperationalError as error:
            if error.args[0] != DEADLOCK:
                raise
            self.connection.rollback()

    def stop(self):
        self.wanted = False
        self.join(60)
        assert not self.is_alive() and self.problem is None, self.problem
        self.connection.close()


def test_writers_go_on_while_indexes_are_built(server, database, db):
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    fill(db)
    writers = [Writer(server, database, seed + i) for i in range(3)]
    for writer in writers:
        writer.start()
    try:
        for round_ in range(3):
            before = [w.commits for w in writers]
            wait_until(lambda: all(w.commits > b or w.problem for w, b in zip(writers, before)), 60, "no writer commits")
            run(f"ALTER TABLE t ADD KEY ka{round_} (a), ADD KEY kb{round_} (b(3), a), ALGORITHM=INPLACE, LOCK=NONE", on=db)
            run(f"ALTER TABLE t ADD COLUMN n{round_} INT DEFAULT {round_} FIRST, ALGORITHM=INSTANT", on=db)
    finally:
        for writer in writers:
            writer.stop()
    is_sound(db)
    for index in ("ka0", "kb2"):
        whole = rows(db, "SELECT id, a, b FROM t IGNORE INDEX (ka0, ka1, ka2, kb0, kb1, kb2) ORDER BY id")
        assert rows(db, f"SELECT id, a, b FROM t FORCE INDEX ({index}) WHERE a >= 0 OR b > '' ORDER BY id") == whole
    assert value(db, "SELECT COUNT(*) FROM t WHERE n0 <> 0 OR n1 <> 1 OR n2 <> 2") == 0


def building(admin):
    """The session that has locked table `t` to alter it, and lets others write."""
    held = rows(admin, "SELECT owner_thread_id FROM performance_schema.metadata_locks WHERE object_name = 't'"
                       " AND lock_type = 'SHARED_UPGRADABLE' AND lock_status = 'GRANTED'")
    return held and held[0][0]


class Definition(threading.Thread):
    """A statement in a thread of its own: its error, or 0."""

    def __init__(self, server, database, sql):
        super().__init__(daemon=True)
        self.connection = server.connect(database=database)
        self.sql, self.outcome = sql, None
        self.start()

    def run(self):
        try:
            run(self.sql, on=self.connection)
            self.outcome = 0
        except (pymysql.err.MySQLError, OSError) as error:
            self.outcome = error.args[0]

    def result(self):
        self.join(120)
        assert self.outcome is not None, "the statement does not end"
        return self.outcome


def test_a_build_waits_for_open_transactions_and_sees_what_they_did(server, database, db):
    fill(db, 10)
    with server.connect(database=database, autocommit=False) as other:
        run("UPDATE t SET a = 5 WHERE id = 1", on=other)
        build = Definition(server, database, "CREATE UNIQUE INDEX ua ON t (a)")
        wait_until(lambda: rows(db, "SELECT 1 FROM performance_schema.metadata_locks WHERE lock_type = 'EXCLUSIVE'"
                                    " AND lock_status = 'PENDING'"), 30, "the build does not wait")
        other.commit()
        assert build.result() == DUPLICATE
        run("UPDATE t SET a = 1 WHERE id = 1", on=other)
        other.commit()
    run("CREATE UNIQUE INDEX ua ON t (a)", on=db)
    is_sound(db)


def test_kill_ends_a_build_and_leaves_nothing(server, database, db):
    fill(db, 20000)
    build = Definition(server, database, "ALTER TABLE t ADD KEY ka (a), ADD KEY kb (b), ADD KEY kab (a, b)")
    wait_until(lambda: building(db) or build.outcome is not None, 60, "the build does not begin")
    run(f"KILL QUERY {build.connection.thread_id()}", on=db)
    assert build.result() in (KILLED, 0)
    if build.outcome == KILLED:
        assert rows(db, "SHOW INDEX FROM t WHERE Key_name <> 'PRIMARY'") == ()
    run("INSERT INTO t VALUES (-1, 1, 'x')", on=db)
    run("ALTER TABLE t ADD KEY again (b)", on=db)
    is_sound(db)


def test_a_crash_keeps_what_was_done_and_nothing_else(start):
    server = start()
    admin = server.connect()
    run("CREATE DATABASE d", "USE d", on=admin)
    fill(admin, 20000)
    run("ALTER TABLE t ADD COLUMN c INT NOT NULL DEFAULT 9 AFTER id, DROP COLUMN b, ALGORITHM=INSTANT",
        "UPDATE t SET c = 1 WHERE id < 10", on=admin)
    Definition(server, "d", "ALTER TABLE t ADD KEY ka (a), ADD KEY kc (c)")
    wait_until(lambda: building(admin) or rows(admin, "SHOW INDEX FROM t WHERE Key_name = 'ka'"), 60, "no build")
    run("INSERT INTO t VALUES (-1, 2, 3)", on=admin)
    server.kill()
    server.start()
    admin = server.connect(database="d")
    is_sound(admin)
    assert rows(admin, "SELECT * FROM t WHERE id IN (-1, 9, 10) ORDER BY id") == ((-1, 2, 3), (9, 1, 9), (10, 9, 10))
    assert len(rows(admin, "SHOW INDEX FROM t")) in (1, 3)
    run("ALTER TABLE t ADD KEY after_all (c, a), ADD COLUMN z INT DEFAULT 4, LOCK=NONE", on=admin)
    assert value(admin, "SELECT SUM(z) FROM t FORCE INDEX (after_all) WHERE c = 9") == 4 * (20000 - 10)
    is_sound(admin)


def test_a_schema_is_read_only_after_a_restart_and_a_crash(start):
    server = start()
    run("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)", "INSERT INTO d.t VALUES (1)",
        "ALTER DATABASE d READ ONLY = 1", on=server.connect())
    for end in (server.stop, server.kill):
        end()
        server.start()
        admin = server.connect(database="d")
        for refused in ("INSERT INTO t VALUES (2)", "DROP TABLE t", "DROP DATABASE d"):
            with pytest.raises(pymysql.err.MySQLError) as e:
                run(refused, on=admin)
            assert e.value.args[0] == READ_ONLY_SCHEMA
    run("ALTER DATABASE d READ ONLY = 0", on=admin)
    server.kill()
    server.start()
    run("INSERT INTO d.t VALUES (2)", on=server.connect())
    assert rows(server.connect(), "SELECT id FROM d.t ORDER BY id") == ((1,), (2,))
