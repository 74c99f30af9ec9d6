"""FOR UPDATE and FOR SHARE wherever they may stand: which tables are locked, and how, as a second session finds them. Each outcome is what
MySQL 9.7 gives (`--address` runs the tests against one)."""

import pymysql
import pytest

from harness import rows, run

TABLES = ("a", "b", "c", "a2")
# A statement with the tables that it locks: X exclusively, S shared; or the error.
CASES = [
    ("SELECT id FROM a UNION SELECT id FROM b FOR UPDATE", "b:X"),
    ("SELECT id FROM a UNION ALL SELECT id FROM b FOR SHARE", "b:S"),
    ("(SELECT id FROM a FOR UPDATE) UNION SELECT id FROM b", "a:X"),
    ("(SELECT id FROM a FOR SHARE) UNION (SELECT id FROM b FOR UPDATE)", "a:S b:X"),
    ("(SELECT id FROM a) UNION (SELECT id FROM b) FOR UPDATE", "b:X"),
    ("SELECT id FROM a UNION (SELECT id FROM b FOR UPDATE)", "b:X"),
    ("(SELECT id FROM a) FOR UPDATE", "a:X"),
    ("((SELECT id FROM a FOR UPDATE))", "a:X"),
    ("(SELECT id FROM a LIMIT 5) LIMIT 1 FOR UPDATE", "a:X"),
    ("SELECT id FROM a UNION SELECT id FROM b UNION SELECT id FROM c FOR UPDATE", "c:X"),
    ("SELECT id FROM a INTERSECT SELECT id FROM b FOR UPDATE", "b:X"),
    ("SELECT id FROM a UNION SELECT id FROM b ORDER BY id LIMIT 1 FOR UPDATE", "b:X"),
    ("SELECT * FROM (SELECT * FROM a) d FOR UPDATE", ""),
    ("SELECT * FROM (SELECT * FROM a) d FOR SHARE", ""),
    ("SELECT * FROM (SELECT DISTINCT x FROM a) d FOR UPDATE", ""),
    ("SELECT * FROM (SELECT x, COUNT(*) FROM a GROUP BY x) d FOR UPDATE", ""),
    ("SELECT * FROM (SELECT id FROM a UNION SELECT id FROM b) d FOR UPDATE", ""),
    ("SELECT * FROM (SELECT * FROM a FOR UPDATE) d", "a:X"),
    ("SELECT * FROM (SELECT DISTINCT x FROM a FOR UPDATE) d", "a:X"),
    ("SELECT * FROM (SELECT * FROM a LIMIT 2) d FOR UPDATE", ""),
    ("SELECT * FROM (SELECT a.id FROM a JOIN b USING (id)) d FOR UPDATE", ""),
    ("SELECT * FROM (SELECT * FROM (SELECT * FROM a) e) d FOR UPDATE", ""),
    ("SELECT * FROM (SELECT id FROM a UNION SELECT id FROM b FOR UPDATE) d", "b:X"),
    ("SELECT * FROM (SELECT * FROM a FOR SHARE) d FOR UPDATE", "a:S"),
    ("SELECT * FROM (SELECT * FROM a) d JOIN b USING (id) FOR UPDATE OF b", "b:X"),
    ("SELECT * FROM (SELECT * FROM a) d JOIN b USING (id) FOR UPDATE OF d", 3569),
    ("SELECT * FROM (SELECT DISTINCT id FROM a) d JOIN b USING (id) FOR UPDATE OF d", 3569),
    ("SELECT * FROM a JOIN b USING (id) FOR UPDATE OF a", "a:X"),
    ("SELECT * FROM a JOIN b USING (id) FOR SHARE OF a FOR UPDATE OF b", "a:S b:X"),
    ("SELECT * FROM a JOIN b USING (id) FOR SHARE OF a, b", "a:S b:S"),
    ("SELECT * FROM a p JOIN a q USING (id) FOR UPDATE OF q", "a:X"),
    ("SELECT * FROM a JOIN b USING (id) FOR UPDATE OF a FOR SHARE OF a", 3569),
    ("SELECT * FROM a JOIN b USING (id) FOR UPDATE FOR SHARE", 3569),
    ("SELECT * FROM v FOR UPDATE", "a:X"),
    ("SELECT * FROM v FOR SHARE", "a:S"),
    ("SELECT * FROM vd FOR UPDATE", ""),
    ("SELECT * FROM vj FOR UPDATE", "a:X b:X"),
    ("SELECT * FROM vj JOIN c USING (id) FOR UPDATE OF vj", "a:X b:X"),
    ("SELECT * FROM v JOIN b USING (id) FOR UPDATE OF v", "a:X"),
    ("SELECT * FROM vs FOR UPDATE", "a:X"),
    ("SELECT * FROM vu FOR UPDATE", ""),
    ("SELECT * FROM vv FOR UPDATE", "a:X"),
    ("SELECT * FROM vt FOR UPDATE", ""),
    ("WITH w AS (SELECT * FROM a) SELECT * FROM w FOR UPDATE", ""),
    ("WITH w AS (SELECT * FROM a FOR UPDATE) SELECT * FROM w", "a:X"),
    ("WITH w AS (SELECT DISTINCT x FROM a) SELECT * FROM w FOR UPDATE", ""),
    ("WITH w AS (SELECT * FROM a) SELECT * FROM w JOIN b USING (id) FOR UPDATE OF b", "b:X"),
    ("WITH w AS (SELECT * FROM a) SELECT * FROM w JOIN b USING (id) FOR UPDATE OF w", ""),
    ("WITH w AS (SELECT id FROM a) SELECT * FROM w x JOIN w y USING (id) FOR UPDATE", ""),
    ("WITH RECURSIVE w AS (SELECT 1 n UNION ALL SELECT n + 1 FROM w JOIN a ON a.id = w.n WHERE n < 3) SELECT * FROM w FOR UPDATE", ""),
    ("SELECT * FROM a WHERE id IN (SELECT id FROM b) FOR UPDATE", "a:X"),
    ("SELECT * FROM a WHERE id IN (SELECT id FROM b FOR UPDATE)", "b:X"),
    ("SELECT * FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.id = a.id FOR UPDATE)", "b:X"),
    ("SELECT * FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.id = a.id FOR SHARE) FOR UPDATE", "a:X b:S"),
    ("SELECT * FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE b.id = a.id) FOR UPDATE", "a:X"),
    ("SELECT (SELECT MAX(id) FROM b FOR UPDATE) FROM a", "b:X"),
    ("SELECT (SELECT MAX(x) FROM b) FROM a FOR UPDATE", "a:X"),
    ("SELECT (SELECT id FROM a UNION SELECT id FROM a FOR UPDATE LIMIT 1)", 1064),
    ("SELECT * FROM a WHERE x = (SELECT MAX(x) FROM b FOR SHARE)", "b:S"),
    ("SELECT COUNT(*) FROM a FOR UPDATE", "a:X"),
    ("SELECT x, COUNT(*) FROM a GROUP BY x FOR SHARE", "a:S"),
    ("SELECT DISTINCT x FROM a FOR UPDATE", "a:X"),
    ("SELECT RANK() OVER (ORDER BY x) FROM a FOR UPDATE", "a:X"),
    ("SELECT 1 FOR UPDATE", ""),
    ("TABLE a FOR UPDATE", "a:X"),
    ("TABLE a UNION TABLE b FOR UPDATE", "b:X"),
    ("SELECT * FROM a LOCK IN SHARE MODE", "a:S"),
    ("SELECT * FROM a, LATERAL (SELECT * FROM b WHERE b.id = a.id) l FOR UPDATE", "a:X"),
    ("SELECT * FROM a, LATERAL (SELECT * FROM b WHERE b.id = a.id) l FOR UPDATE OF a", "a:X"),
    ("SELECT * FROM a, LATERAL (SELECT MAX(b.id) FROM b WHERE b.id = a.id) l FOR UPDATE", "a:X"),
    ("SELECT * FROM a, LATERAL (SELECT * FROM b WHERE b.id = a.id FOR UPDATE) l", "b:X"),
    ("SELECT * FROM a LEFT JOIN b USING (id) FOR UPDATE", "a:X b:X"),
    ("SELECT * FROM a LEFT JOIN (SELECT * FROM b) d USING (id) FOR UPDATE", "a:X"),
    ("INSERT INTO t (id) SELECT id + 10 AS id FROM a", "a:S"),
    ("INSERT INTO t (id) SELECT id + 10 AS id FROM a FOR UPDATE", "a:X"),
    ("INSERT INTO t (id) SELECT id + 10 AS id FROM a FOR SHARE", "a:S"),
    ("INSERT INTO t (id) SELECT id + 10 AS id FROM a UNION SELECT id + 20 FROM b FOR UPDATE", "a:S b:X"),
    ("INSERT INTO t (id) SELECT id + 10 AS id FROM (SELECT id FROM a) d FOR UPDATE", "a:S"),
    ("INSERT INTO t (id) SELECT id + 10 AS id FROM (SELECT DISTINCT id FROM a) d", "a:S"),
    ("INSERT INTO t (id) SELECT id + 10 AS id FROM a WHERE id IN (SELECT id FROM b)", "a:S b:S"),
    ("INSERT INTO t (id) SELECT id + 10 AS id FROM a WHERE id IN (SELECT id FROM b FOR UPDATE)", "a:S b:X"),
    ("INSERT INTO t (id) WITH w AS (SELECT id + 10 id FROM a) SELECT id FROM w", "a:S"),
    ("INSERT INTO t (id) WITH w AS (SELECT id + 10 id FROM a) SELECT id FROM w FOR UPDATE", "a:S"),
    ("INSERT INTO t (id) SELECT id + 10 AS id FROM v FOR UPDATE", "a:X"),
    ("INSERT INTO t (id) VALUES ((SELECT MAX(id) + 10 FROM a))", "a:S"),
    ("INSERT INTO t (id) VALUES ((SELECT MAX(id) + 10 FROM a FOR UPDATE))", "a:X"),
    ("INSERT INTO t TABLE a2", "a2:S"),
    ("INSERT INTO t TABLE a2 FOR UPDATE", "a2:X"),
    ("REPLACE INTO t (id) SELECT id + 10 AS id FROM a FOR UPDATE", "a:X"),
    ("REPLACE INTO t (id) SELECT id + 10 AS id FROM a", "a:S"),
    ("UPDATE t SET x = (SELECT MAX(id) FROM a)", "a:S"),
    ("UPDATE t SET x = (SELECT MAX(id) FROM a FOR UPDATE)", "a:X"),
    ("UPDATE t SET x = 1 WHERE id IN (SELECT id FROM a)", "a:S"),
    ("UPDATE t SET x = 1 WHERE id IN (SELECT id FROM a FOR UPDATE)", "a:X"),
    ("UPDATE t JOIN a ON a.id = t.id SET t.x = 1", "a:S"),
    ("DELETE FROM t WHERE id IN (SELECT id FROM a)", "a:S"),
    ("DELETE FROM t WHERE EXISTS (SELECT 1 FROM a WHERE a.id = t.id FOR UPDATE)", "a:X"),
    ("DELETE t FROM t JOIN (SELECT id FROM a) d ON d.id = t.id", "a:S"),
    ("DO (SELECT MAX(id) FROM a)", "a:S"),
    ("DO (SELECT MAX(id) FROM a FOR UPDATE)", "a:X"),
    ("SET @z = (SELECT MAX(id) FROM a)", "a:S"),
    ("SET @z = (SELECT MAX(id) FROM a FOR UPDATE)", "a:X"),
    ("SELECT id INTO @z FROM a LIMIT 1 FOR UPDATE", "a:X"),
    ("SELECT id FROM a LIMIT 1 FOR UPDATE INTO @z", "a:X"),
]

# The same at READ COMMITTED, without locking clauses.
AT_READ_COMMITTED = [
    ("SELECT MAX(x) FROM a INTO @z", ""),
    ("DO (SELECT MAX(x) FROM a)", "a:S"),
    ("SET @z = (SELECT MAX(x) FROM a)", "a:S"),
    ("INSERT INTO t (id) SELECT id + 10 AS id FROM a", ""),
    ("INSERT INTO t TABLE a2", ""),
    ("INSERT INTO t (id) SELECT id + 10 AS id FROM a ON DUPLICATE KEY UPDATE x = (SELECT MAX(x) FROM b)", ""),
    ("INSERT INTO t (id) VALUES ((SELECT MAX(x) + 10 FROM a))", "a:S"),
    ("INSERT INTO t SET id = 10, x = (SELECT MAX(x) FROM a)", "a:S"),
    ("INSERT INTO t (id) VALUES (1) ON DUPLICATE KEY UPDATE x = (SELECT MAX(x) FROM a)", "a:S"),
    ("REPLACE INTO t (id) SELECT id + 10 AS id FROM a", ""),
    ("REPLACE INTO t (id) VALUES ((SELECT MAX(x) + 10 FROM a))", "a:S"),
    ("UPDATE t SET x = (SELECT MAX(x) FROM a)", ""),
    ("UPDATE t SET x = 1 WHERE id IN (SELECT id FROM a)", ""),
    ("UPDATE t JOIN a ON a.id = t.id SET t.x = 1", "a:S"),
    ("UPDATE t JOIN (SELECT id FROM a) d ON d.id = t.id SET t.x = 1", "a:S"),
    ("UPDATE t JOIN a ON a.id = t.id SET t.x = (SELECT MAX(x) FROM b)", "a:S b:S"),
    ("WITH w AS (SELECT id FROM a) UPDATE t, w SET t.x = 1 WHERE t.id = w.id", "a:S"),
    ("DELETE FROM t WHERE id IN (SELECT id FROM a)", "a:S"),
    ("DELETE FROM t WHERE EXISTS (SELECT 1 FROM a WHERE a.id = t.id)", "a:S"),
    ("DELETE FROM t WHERE x = (SELECT MAX(x) FROM a)", "a:S"),
    ("DELETE t FROM t JOIN a ON a.id = t.id", "a:S"),
    ("DELETE t FROM t JOIN a ON a.id = t.id WHERE a.x = 7", ""),
    ("WITH w AS (SELECT id FROM a) DELETE FROM t WHERE id IN (SELECT id FROM w)", "a:S"),
]


@pytest.fixture(scope="module")
def two(server, kind):
    if kind == "mariadb":
        pytest.skip("MySQL's locking, not MariaDB's")
    name = "locking_clauses"
    one, other = server.connect(), server.connect()
    run(f"DROP DATABASE IF EXISTS {name}", f"CREATE DATABASE {name}", f"USE {name}", on=one)
    run(f"USE {name}", on=other)
    for table in ("a", "b", "c", "t"):
        run(f"CREATE TABLE {table} (id INT PRIMARY KEY, x INT DEFAULT 0)", f"INSERT INTO {table} VALUES (1, 1), (2, 2), (3, 3)", on=one)
    run("CREATE TABLE a2 (id INT PRIMARY KEY, x INT)", "INSERT INTO a2 VALUES (21, 1), (22, 2)",
        "CREATE VIEW v AS SELECT * FROM a", "CREATE VIEW vd AS SELECT DISTINCT x FROM a", "CREATE VIEW vj AS SELECT a.id, b.x FROM a JOIN b ON a.id = b.id",
        "CREATE VIEW vs AS SELECT * FROM a WHERE id IN (SELECT id FROM b)", "CREATE VIEW vu AS SELECT id FROM a UNION SELECT id FROM b",
        "CREATE VIEW vv AS SELECT * FROM v", "CREATE ALGORITHM=TEMPTABLE VIEW vt AS SELECT * FROM a", on=one)
    yield one, other
    one.rollback()
    run(f"DROP DATABASE {name}", on=one)


def is_free(connection, table, mode):
    try:
        rows(connection, f"SELECT x FROM {table} FOR {mode} NOWAIT")
    except pymysql.err.MySQLError as error:
        assert error.args[0] == 3572
        return False
    return True


def locked(connection):
    """The tables of which another session has rows locked, and how."""
    found = []
    for table in TABLES:
        if not is_free(connection, table, "UPDATE"):
            found.append(f"{table}:{'S' if is_free(connection, table, 'SHARE') else 'X'}")
    return " ".join(found)


@pytest.mark.parametrize("statement, expected", CASES)
def test_a_statement_locks_what_it_says(two, statement, expected):
    one, other = two
    run("BEGIN", on=one)
    try:
        if isinstance(expected, int):
            with pytest.raises(pymysql.err.MySQLError) as error:
                rows(one, statement)
            assert error.value.args[0] == expected
        else:
            rows(one, statement)
            assert locked(other) == expected
    finally:
        one.rollback()


@pytest.mark.parametrize("statement, expected", AT_READ_COMMITTED)
def test_at_read_committed_queries_of_some_statements_lock(two, statement, expected):
    one, other = two
    run("SET TRANSACTION ISOLATION LEVEL READ COMMITTED", "BEGIN", on=one)
    try:
        rows(one, statement)
        assert locked(other) == expected
    finally:
        one.rollback()


def test_at_read_committed_a_joined_delete_waits_for_what_it_reads(two):
    one, other = two
    run("UPDATE a SET x = 5 WHERE id = 1", on=one)
    run("BEGIN", "UPDATE a SET x = 1 WHERE id = 1", on=other)
    run("SET TRANSACTION ISOLATION LEVEL READ COMMITTED", "SET innodb_lock_wait_timeout = 1", "BEGIN", on=one)
    try:
        with pytest.raises(pymysql.err.MySQLError) as error:
            rows(one, "DELETE t FROM t JOIN a ON a.id = t.id WHERE a.x = 5")
        assert error.value.args[0] == 1205
    finally:
        one.rollback()
        other.rollback()
        run("SET innodb_lock_wait_timeout = DEFAULT", "UPDATE a SET x = 1 WHERE id = 1", on=one)


@pytest.mark.parametrize("statement", [
    "DELETE FROM many WHERE id IN (SELECT id FROM a)",
    "UPDATE many SET x = 7 WHERE id IN (SELECT id FROM a)",
    "DELETE FROM many WHERE EXISTS (SELECT * FROM a WHERE a.id = many.id)",
    "DELETE many FROM many WHERE id IN (SELECT id FROM a)",
])
def test_rows_that_no_subquery_names_stay_free(two, statement):
    one, other = two
    run("CREATE TABLE many (id INT PRIMARY KEY, x INT)", on=one)
    run("INSERT INTO many WITH RECURSIVE n AS (SELECT 1 AS id UNION ALL SELECT id + 1 FROM n WHERE id < 500) SELECT id, 0 FROM n",
        "ANALYZE TABLE many, a", on=one)
    run("BEGIN", on=one)
    try:
        rows(one, statement)
        assert rows(other, "SELECT COUNT(*) FROM (SELECT id FROM many WHERE id > 3 FOR UPDATE SKIP LOCKED) d") == ((497,),)
        assert not is_free(other, "many", "SHARE")
    finally:
        one.rollback()
        other.rollback()
        run("DROP TABLE many", on=one)


@pytest.mark.parametrize("statement", [
    "DELETE FROM bare WHERE x IN (SELECT id FROM a)",
    "UPDATE bare SET y = 7 WHERE x IN (SELECT id FROM a)",
    "DELETE FROM bare WHERE EXISTS (SELECT * FROM a WHERE a.id = bare.x)",
])
def test_at_read_committed_rows_that_were_read_and_not_named_are_free(two, statement):
    """There is no index by which the subquery's rows would lead to them."""
    one, other = two
    run("CREATE TABLE bare (id INT PRIMARY KEY, x INT, y INT)", on=one)
    run("INSERT INTO bare WITH RECURSIVE n AS (SELECT 1 AS id UNION ALL SELECT id + 1 FROM n WHERE id < 50) SELECT id, id, 0 FROM n",
        "ANALYZE TABLE bare, a", "SET TRANSACTION ISOLATION LEVEL READ COMMITTED", "BEGIN", on=one)
    run("SET TRANSACTION ISOLATION LEVEL READ COMMITTED", "BEGIN", on=other)
    try:
        rows(one, statement)
        assert rows(other, "SELECT COUNT(*) FROM (SELECT id FROM bare FOR UPDATE SKIP LOCKED) d") == ((47,),)
    finally:
        one.rollback()
        other.rollback()
        run("DROP TABLE bare", on=one)
