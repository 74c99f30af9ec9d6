"""ALTER TABLE that gives rows another form, beside writers whose ledgers say what has to be there in the end."""

import random
import threading

import pymysql
import pytest

from harness import rows, run, value, wait_until
from test_ddl import DEADLOCK, DUPLICATE, KILLED, Definition, Writer, building, is_sound

pytestmark = pytest.mark.usefixtures("clearway_only")

WRITERS = 3
ROWS = 600
BAD_NULL, LOG_FULL = 1138, 1799
TABLE = """CREATE TABLE t (id INT{}, a INT, u INT NOT NULL, b LONGTEXT, j JSON,
    s INT AS (a + 1) STORED, v VARCHAR(20) AS (LEFT(b, 3)), {}
    UNIQUE KEY uu (u), KEY ka (a, s), KEY kv (v), KEY kj ((CAST(j AS UNSIGNED ARRAY))))"""


class Ledger(Writer):
    """Changes rows that are its own, and remembers what it has committed: by `id`, the other columns."""

    def __init__(self, server, database, number, seed):
        super().__init__(server, database, seed)
        self.number, self.rows = number, {}

    def own(self, most=ROWS):
        return self.random.randrange(most) * WRITERS + self.number

    def text(self):
        # Some rows are too long for a page.
        return "".join(self.random.choices("xyz", k=3)) * self.random.choice((1, 2, 5, 40, 6000))

    def statement(self, rows):
        """A statement, and the same done to the ledger."""
        free_u = lambda: next(u for u in iter(self.own, None) if all(row[1] != u for row in rows.values()))
        array = sorted(self.random.sample(range(9), self.random.randrange(4)))
        known, kind, id_ = sorted(rows), self.random.randrange(6), self.own()
        if kind == 0 or not known or id_ not in rows and kind < 3:
            if id_ in rows:
                return None
            rows[id_] = (self.random.randrange(50), free_u(), self.text(), str(array))
            return "INSERT INTO t (id, a, u, b, j) VALUES (%s, %s, %s, %s, %s)", (id_, *rows[id_])
        id_ = self.random.choice(known)
        a, u, b, j = rows[id_]
        if kind == 1:
            del rows[id_]
            return "DELETE FROM t WHERE id = %s", (id_,)
        if kind == 2:
            to = self.own()
            if to in rows:
                return None
            rows[to] = rows.pop(id_)
            return "UPDATE t SET id = %s WHERE id = %s", (to, id_)
        if kind == 3:
            # Two rows exchange a unique value.
            other = self.random.choice(known)
            if other == id_:
                return None
            theirs = rows[other][1]
            rows[id_], rows[other] = (a, theirs, b, j), (rows[other][0], u, *rows[other][2:])
            return ("UPDATE t SET u = -1 - %s WHERE id = %s", (self.number, id_)), ("UPDATE t SET u = %s WHERE id = %s", (u, other)), (
                "UPDATE t SET u = %s WHERE id = %s", (theirs, id_))
        if kind == 4:
            rows[id_] = (a + 1, free_u(), b, j)
            return "UPDATE t SET a = a + 1, u = %s WHERE id = %s", (rows[id_][1], id_)
        rows[id_] = (a, u, self.text(), str(array))
        return "UPDATE t SET b = %s, j = %s WHERE id = %s", (*rows[id_][2:], id_)

    def transaction(self):
        rows = dict(self.rows)
        try:
            with self.connection.cursor() as cursor:
                for _ in range(self.random.randrange(1, 6)):
                    done = self.statement(rows)
                    for statement in () if done is None else done if isinstance(done[0], tuple) else (done,):
                        cursor.execute(*statement)
            if self.random.random() < 0.25:
                self.connection.rollback()
            else:
                self.connection.commit()
                self.rows, self.commits = rows, self.commits + 1
        except pymysql.err.OperationalError as error:
            if error.args[0] != DEADLOCK:
                raise
            self.connection.rollback()


class Ledgers:
    """Several, at work within `with`; then what they say is what the table has."""

    def __init__(self, server, database):
        seed = random.randrange(1 << 32)
        print(f"seed {seed}")
        self.all = [Ledger(server, database, n, seed + n) for n in range(WRITERS)]

    def __enter__(self):
        for writer in self.all:
            writer.start()
        return self

    def __exit__(self, *_):
        for writer in self.all:
            writer.stop()

    def go_on(self):
        before = [w.commits for w in self.all]
        wait_until(lambda: all(w.commits > b + 5 or w.problem for w, b in zip(self.all, before)), 60, "no writer commits")

    def agree(self, db):
        is_sound(db)
        written = sorted((id_, *row) for writer in self.all for id_, row in writer.rows.items())
        there = rows(db, "SELECT id, a, u, b, j FROM t IGNORE INDEX (uu, ka, kv, kj) ORDER BY id")
        assert [tuple(row) for row in there] == written
        assert value(db, "SELECT COUNT(*) FROM t WHERE NOT (s <=> a + 1) OR NOT (v <=> LEFT(b, 3))") == 0
        for index, condition in (("uu", "u > -10"), ("ka", "a > -10"), ("kv", "v > ''")):
            assert value(db, f"SELECT COUNT(*) FROM t FORCE INDEX ({index}) WHERE {condition}") == len(written), index
        for n in range(9):
            found = value(db, f"SELECT COUNT(*) FROM t FORCE INDEX (kj) WHERE {n} MEMBER OF (j)")
            assert found == value(db, f"SELECT COUNT(*) FROM t IGNORE INDEX (kj) WHERE {n} MEMBER OF (j)"), n


REWRITES = {
    "plain": ("ALTER TABLE t FORCE, ALGORITHM=INPLACE, LOCK=NONE", "OPTIMIZE TABLE t", "ALTER TABLE t ENGINE=InnoDB"),
    "key": ("ALTER TABLE t DROP PRIMARY KEY, ADD PRIMARY KEY (u, id), LOCK=NONE",
            "ALTER TABLE t DROP PRIMARY KEY, ADD PRIMARY KEY (u), LOCK=NONE",
            "ALTER TABLE t DROP PRIMARY KEY, ADD PRIMARY KEY (id), ALGORITHM=INPLACE"),
    "null": ("ALTER TABLE t MODIFY a INT NOT NULL, LOCK=NONE", "ALTER TABLE t MODIFY a INT NULL, LOCK=NONE"),
    "order": ("ALTER TABLE t MODIFY b LONGTEXT FIRST, LOCK=NONE", "ALTER TABLE t MODIFY b LONGTEXT AFTER u, LOCK=NONE"),
    "columns": ("ALTER TABLE t ADD COLUMN x INT DEFAULT 5, ALGORITHM=INPLACE, LOCK=NONE",
                "ALTER TABLE t ADD COLUMN y TIMESTAMP DEFAULT CURRENT_TIMESTAMP, ADD COLUMN z VARCHAR(9) FIRST, DROP COLUMN x,"
                " ADD KEY ky (y), ALGORITHM=INPLACE, LOCK=NONE",
                "ALTER TABLE t DROP COLUMN y, DROP COLUMN z, ALGORITHM=INPLACE, LOCK=NONE"),
    "instant": ("ALTER TABLE t ADD COLUMN x INT DEFAULT 5 FIRST, ALGORITHM=INSTANT", "ALTER TABLE t FORCE, LOCK=NONE",
                "ALTER TABLE t DROP COLUMN x, ALGORITHM=INSTANT", "OPTIMIZE TABLE t"),
    "indexes": ("ALTER TABLE t ADD KEY kua (u, a), ADD UNIQUE KEY uau (a, u), LOCK=NONE",
                "ALTER TABLE t DROP KEY kua, DROP KEY uau, FORCE, LOCK=NONE"),
    "virtual": ("ALTER TABLE t ADD COLUMN w INT AS (a * 2), LOCK=NONE", "ALTER TABLE t DROP COLUMN w, LOCK=NONE"),
}


@pytest.mark.parametrize("change", REWRITES)
def test_what_writers_wrote_is_there(server, database, db, change):
    run(TABLE.format(" PRIMARY KEY", ""), on=db)
    with Ledgers(server, database) as ledgers:
        for _ in range(2):
            for statement in REWRITES[change]:
                ledgers.go_on()
                run(statement, on=db)
    ledgers.agree(db)


def test_rows_without_a_key_stay_what_they_are(server, database, db):
    run(TABLE.format("", "KEY kid (id),"), on=db)
    with Ledgers(server, database) as ledgers:
        for _ in range(2):
            ledgers.go_on()
            run("ALTER TABLE t FORCE, LOCK=NONE", on=db)
            ledgers.go_on()
            run("ALTER TABLE t ADD PRIMARY KEY (id), LOCK=NONE", on=db)
            ledgers.go_on()
            # MySQL copies for this one, and writers wait.
            run("ALTER TABLE t DROP PRIMARY KEY", on=db)
    ledgers.agree(db)


FILLED = 1 << 16


def fill(db, count=FILLED):
    """Enough rows for others to come in between."""
    run("CREATE TABLE t (id INT PRIMARY KEY, a INT, n INT)", "INSERT INTO t VALUES (0, 0, 0)", on=db)
    have = 1
    while have < count:
        run(f"INSERT INTO t SELECT id + {have}, a + {have}, n + {have} FROM t", on=db)
        have *= 2


def begun(db, alter):
    """Waits until writers may write beside the statement."""
    wait_until(lambda: building(db) or alter.outcome is not None, 60, "the rewrite does not begin")
    assert alter.outcome is None, "over before anybody could write"


def test_duplicates_and_nulls_of_a_moment_do_not_count_and_others_do(server, database, db):
    fill(db)
    with server.connect(database=database, autocommit=True) as other:
        for change, back, statement, error in (
            ("UPDATE t SET n = 5 WHERE id = 6", "UPDATE t SET n = 6 WHERE id = 6",
             "ALTER TABLE t DROP PRIMARY KEY, ADD PRIMARY KEY (n)", DUPLICATE),
            ("UPDATE t SET a = NULL WHERE id = 7", "UPDATE t SET a = 7 WHERE id = 7",
             "ALTER TABLE t MODIFY a INT NOT NULL", BAD_NULL),
            ("INSERT INTO t VALUES (-1, 5, -1)", "DELETE FROM t WHERE id = -1", "ALTER TABLE t FORCE, ADD UNIQUE KEY (a)", DUPLICATE),
        ):
            before = rows(db, "SHOW CREATE TABLE t")
            alter = Definition(server, database, statement)
            begun(db, alter)
            run(change, on=other)
            assert alter.result() == error, statement
            assert rows(db, "SHOW CREATE TABLE t") == before
            run(back, on=other)
            is_sound(db)
            alter = Definition(server, database, statement)
            begun(db, alter)
            # What is open holds the end up.
            run("BEGIN", "SAVEPOINT s", change, "ROLLBACK TO s", change, back, "COMMIT", on=other)
            assert alter.result() == 0, statement
            is_sound(db)
    assert value(db, "SELECT SUM(n) FROM t") == sum(range(FILLED))


def test_a_transaction_that_is_open_holds_the_end_up_and_is_in_it(server, database, db):
    fill(db, 1024)
    with server.connect(database=database, autocommit=False) as other:
        run("UPDATE t SET a = -1 WHERE id = 1", on=other)
        alter = Definition(server, database, "ALTER TABLE t FORCE, LOCK=NONE")
        wait_until(lambda: rows(db, "SELECT 1 FROM performance_schema.metadata_locks WHERE lock_type = 'EXCLUSIVE'"
                                    " AND lock_status = 'PENDING'"), 30, "the rewrite does not wait")
        run("INSERT INTO t VALUES (-1, -2, -3)", on=other)
        other.commit()
        assert alter.result() == 0
    assert rows(db, "SELECT * FROM t WHERE id < 2 ORDER BY id") == ((-1, -2, -3), (0, 0, 0), (1, -1, 1))
    # Who waits in vain leaves everything as it was.
    with server.connect(database=database, autocommit=False) as other:
        run("UPDATE t SET a = -5 WHERE id = 1", on=other)
        run("SET lock_wait_timeout = 1", on=db)
        with pytest.raises(pymysql.err.OperationalError) as error:
            run("ALTER TABLE t MODIFY a INT NOT NULL, LOCK=NONE", on=db)
        assert error.value.args[0] == 1205
        other.rollback()
    is_sound(db)


def test_older_snapshots_do_not_read_the_new_rows(server, database, db):
    fill(db, 1024)
    with server.connect(database=database, autocommit=False) as other:
        run("START TRANSACTION WITH CONSISTENT SNAPSHOT", on=other)
        run("ALTER TABLE t FORCE, LOCK=NONE", on=db)
        with pytest.raises(pymysql.err.OperationalError) as error:
            run("SELECT * FROM t", on=other)
        assert error.value.args[0] == 1412
        other.rollback()
        assert value(other, "SELECT COUNT(*) FROM t") == 1024


def test_counting_goes_on(server, database, db):
    run("CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, a INT)", on=db)
    run("INSERT INTO t (a) SELECT 1 FROM information_schema.collations LIMIT 200", *["INSERT INTO t (a) SELECT a FROM t"] * 8, on=db)
    with server.connect(database=database, autocommit=True) as other:
        alter = Definition(server, database, "ALTER TABLE t FORCE, LOCK=NONE")
        begun(db, alter)
        run("INSERT INTO t VALUES (500000, 2)", "INSERT INTO t (a) VALUES (3)", "DELETE FROM t WHERE id >= 500000", on=other)
        assert alter.result() == 0
        run("INSERT INTO t (a) VALUES (4)", on=other)
    assert rows(db, "SELECT * FROM t WHERE id >= 500000") == ((500002, 4),)


def test_a_log_that_is_full_ends_it(server, database, db):
    fill(db)
    size = value(db, "SELECT @@GLOBAL.innodb_online_alter_log_max_size")
    run("SET GLOBAL innodb_online_alter_log_max_size = 65536", on=db)
    try:
        with server.connect(database=database, autocommit=True) as other:
            alter = Definition(server, database, "ALTER TABLE t FORCE, LOCK=NONE")
            begun(db, alter)
            run("UPDATE t SET a = a + 1", on=other)
            assert alter.result() == LOG_FULL
    finally:
        run(f"SET GLOBAL innodb_online_alter_log_max_size = {size}", on=db)
    is_sound(db)
    run("ALTER TABLE t FORCE, LOCK=NONE", on=db)
    assert value(db, "SELECT SUM(a - n) FROM t") == FILLED


def test_kill_ends_it_and_leaves_the_table(server, database, db):
    fill(db)
    before = rows(db, "SHOW CREATE TABLE t")
    alter = Definition(server, database, "ALTER TABLE t DROP PRIMARY KEY, ADD PRIMARY KEY (n), ADD KEY (a)")
    begun(db, alter)
    run(f"KILL QUERY {alter.connection.thread_id()}", on=db)
    assert alter.result() == KILLED
    assert rows(db, "SHOW CREATE TABLE t") == before
    run("UPDATE t SET a = a + 1", on=db)
    is_sound(db)
    run("ALTER TABLE t DROP PRIMARY KEY, ADD PRIMARY KEY (n), ADD KEY (a)", on=db)
    is_sound(db)


def test_children_and_parents_go_on(server, database, db):
    """Foreign keys to the table and from it are looked at, and carry changes, while it is written anew."""
    run("CREATE TABLE p (id INT PRIMARY KEY)", "INSERT INTO p VALUES (1), (2), (3)",
        "CREATE TABLE t (id INT PRIMARY KEY, p INT, a TEXT, FOREIGN KEY (p) REFERENCES p (id) ON DELETE CASCADE ON UPDATE CASCADE)",
        "INSERT INTO t SELECT ROW_NUMBER() OVER (), 1 + ROW_NUMBER() OVER () % 3, REPEAT('x', 300)"
        " FROM information_schema.collations a, information_schema.collations b LIMIT 30000",
        "CREATE TABLE c (id INT PRIMARY KEY, t INT, FOREIGN KEY (t) REFERENCES t (id) ON DELETE SET NULL)",
        "INSERT INTO c VALUES (1, 1), (2, 2), (3, 3)", on=db)
    with server.connect(database=database, autocommit=True) as other:
        alter = Definition(server, database, "ALTER TABLE t FORCE, LOCK=NONE")
        begun(db, alter)
        run("DELETE FROM p WHERE id = 1", "UPDATE p SET id = 20 WHERE id = 2", "INSERT INTO c VALUES (4, 4)", on=other)
        with pytest.raises(pymysql.err.IntegrityError):
            run("INSERT INTO t VALUES (-1, 99, '')", on=other)
        assert alter.result() == 0
    is_sound(db)
    assert rows(db, "SELECT p, COUNT(*) FROM t GROUP BY p ORDER BY p") == ((3, 10000), (20, 10000))
    assert rows(db, "SELECT * FROM c ORDER BY id") == ((1, 1), (2, 2), (3, None), (4, 4))
    run("DELETE FROM p WHERE id = 20", on=db)
    assert value(db, "SELECT COUNT(*) FROM t") == 10000
    is_sound(db)


def test_a_crash_leaves_the_old_table_or_the_new_one(start):
    server = start()
    admin = server.connect()
    run("CREATE DATABASE d", "USE d", TABLE.format(" PRIMARY KEY", ""), on=admin)
    rng = random.Random(random.randrange(1 << 32))
    for round_ in range(4):
        ledgers = Ledgers(server, "d")
        for writer in ledgers.all:
            writer.rows = {id_: row for id_, *row in [(r[0], *r[1:]) for r in rows(admin, "SELECT id, a, u, b, j FROM t")]
                           if id_ % WRITERS == writer.number}
            writer.rows = {id_: tuple(row) for id_, row in writer.rows.items()}
            writer.start()
        ledgers.go_on()
        target = ("u, id", "id")[round_ % 2]
        alter = Definition(server, "d", f"ALTER TABLE t DROP PRIMARY KEY, ADD PRIMARY KEY ({target}), ADD COLUMN x{round_} INT DEFAULT 1,"
                                        " ALGORITHM=INPLACE, LOCK=NONE")
        wait_until(lambda: building(admin) or alter.outcome is not None, 60, "no rewrite")
        threading.Event().wait(rng.random() * 0.3)
        server.kill()
        for writer in ledgers.all:
            writer.join(60)
            writer.connection.close()
        server.start()
        admin = server.connect(database="d")
        is_sound(admin)
        there = {row[0]: row[1:] for row in rows(admin, "SELECT id, a, u, b, j FROM t")}
        assert value(admin, "SELECT COUNT(*) FROM t WHERE NOT (s <=> a + 1)") == 0
        # The last transaction of each may have been committed without being told so.
        for writer in ledgers.all:
            mine = {id_: row for id_, row in there.items() if id_ % WRITERS == writer.number}
            differing = [id_ for id_ in mine.keys() | writer.rows.keys() if mine.get(id_) != writer.rows.get(id_)]
            assert len(differing) <= 15, differing
