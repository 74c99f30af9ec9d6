"""Statements that nest deeply, take long to plan, or run for ever: each has an answer, and ends when it is killed."""

import threading
import time

import pymysql
import pytest
from harness import rows, run, value

# From KILL to the error: a second is promised, and these tests share their processors with others.
END_S = 3


def chain(link, operand, length):
    return link.join([operand] * length)


def nested(opening, closing, levels, inside="1"):
    return opening * levels + inside + closing * levels


def derived(levels, inside="SELECT i FROM n", around="SELECT i FROM ({}) d{}"):
    for level in range(levels):
        inside = around.format(inside, level)
    return inside


def common_tables(levels, around):
    tables = ["c0 AS (SELECT i FROM n)"] + [f"c{k} AS ({around.format(k - 1)})" for k in range(1, levels + 1)]
    return f"{', '.join(tables)} SELECT COUNT(*) FROM c{levels}"


def outer_joins(levels):
    tree = "n t0"
    for k in range(1, levels):
        tree = f"n t{k} LEFT JOIN ({tree}) ON t{k}.i = t{k - 1}.i"
    return f"SELECT COUNT(*) FROM {tree}"


# As deep as MySQL goes with its default stack, at least: the statement, its number of rows and the last row's first value.
DEEP = {
    "a sum of 1000": ("SELECT " + chain(" + ", "1", 1000), 1, 1000),
    "a sum of 3000": ("SELECT " + chain(" + ", "1", 3000), 1, 3000),
    "1000 functions": ("SELECT " + nested("ABS(", ")", 1000), 1, 1),
    "1000 functions of strings": ("SELECT " + nested("CONCAT('', ", ")", 1000), 1, "1"),
    "5000 parentheses": ("SELECT " + nested("(", ")", 5000), 1, 1),
    "3000 times NOT": ("SELECT " + nested("NOT ", "", 3000), 1, 1),
    "500 times CASE": ("SELECT " + nested("CASE WHEN 1 THEN ", " END", 500), 1, 1),
    "a chain of 1000 comparisons": ("SELECT " + chain(" = ", "1", 1000), 1, 1),
    "a UNION of 3000": (" UNION ".join(f"SELECT {k}" for k in range(3000)), 3000, 2999),
    "a UNION ALL of 3000": (chain(" UNION ALL ", "SELECT 1", 3000), 3000, 1),
    "63 scalar subqueries": (nested("SELECT (", ")", 63, "SELECT 1"), 1, 1),
    "63 derived tables": (derived(63), 3, 3),
    "63 derived tables that group": (derived(63, around="SELECT i FROM ({}) d{} WHERE i > 0 GROUP BY i"), 3, 3),
    "63 subqueries of IN": (derived(63, around="SELECT i FROM n WHERE i IN ({})"), 3, 3),
    "60 common table expressions": ("WITH " + common_tables(60, "SELECT i FROM c{}"), 1, 3),
    "60 in WITH RECURSIVE": ("WITH RECURSIVE " + common_tables(60, "SELECT i FROM c{0} UNION SELECT i FROM n"), 1, 3),
    "60 outer joins inside of each other": (outer_joins(60), 1, 3),
    "24 expressions that double": ("WITH " + common_tables(24, "SELECT i + i AS i FROM c{}"), 1, 3),
}


@pytest.fixture
def numbers(db):
    run("CREATE TABLE n (i INT PRIMARY KEY)", "INSERT INTO n VALUES (1), (2), (3)", on=db)
    return db


@pytest.mark.parametrize("name", DEEP)
def test_deep_statements_have_their_answer(numbers, name):
    statement, count, last = DEEP[name]
    answer = rows(numbers, statement)
    assert (len(answer), answer[-1][0]) == (count, last)
    rows(numbers, "EXPLAIN " + statement)
    with numbers.cursor() as cursor:
        cursor.execute("SET @text = %s", [statement])
    run("PREPARE deep FROM @text", on=numbers)
    for _ in range(2):
        assert len(rows(numbers, "EXECUTE deep")) == count
    run("DEALLOCATE PREPARE deep", on=numbers)


def test_views_and_generated_columns_are_as_deep(numbers):
    text = nested("ABS(", ")", 500, "i")
    run(f"CREATE VIEW v AS SELECT {text} AS i FROM n", f"CREATE VIEW w AS SELECT {text} AS i FROM v", on=numbers)
    assert list(rows(numbers, "SELECT * FROM w")) == [(1,), (2,), (3,)]
    assert "abs(abs(" in rows(numbers, "SHOW CREATE VIEW v")[0][1]
    text = nested("ABS(", ")", 150, "i")
    run(f"CREATE TABLE g (i INT, j INT AS ({text}) STORED)", "INSERT INTO g (i) VALUES (-7)", on=numbers)
    run("ALTER TABLE g ADD COLUMN k INT, ALGORITHM = COPY", "UPDATE g SET i = i - 1", on=numbers)
    assert value(numbers, "SELECT j FROM g") == 8
    with pytest.raises(pymysql.err.MySQLError) as refused:
        run(f"CREATE TABLE h (i INT, j INT AS ({nested('ABS(', ')', 1000, 'i')}) STORED)", on=numbers)
    assert refused.value.args[0] == 1436


def test_views_of_views_are_planned(numbers):
    run("CREATE VIEW v0 AS SELECT i, COUNT(*) c FROM n GROUP BY i", on=numbers)
    for k in range(1, 31):
        run(f"CREATE VIEW v{k} AS SELECT i, COUNT(*) c FROM v{k - 1} WHERE i > 0 GROUP BY i", on=numbers)
    assert list(rows(numbers, "SELECT i FROM v30 WHERE i = 2")) == [(2,)]


# Deeper than the server follows, or more than it plans.
REFUSED = {
    "64 scalar subqueries": (1473, nested("SELECT (", ")", 64, "SELECT 1")),
    "a sum of 100,000": (1436, "SELECT " + chain(" + ", "1", 100_000)),
    "100,000 functions": (1436, "SELECT " + nested("ABS(", ")", 100_000)),
    "100,000 parentheses": (1436, "SELECT " + nested("(", ")", 100_000)),
    "24 self-joins of self-joins": (
        1473, "WITH " + common_tables(24, "SELECT x.i, COUNT(*) FROM c{0} x JOIN c{0} y ON x.i = y.i GROUP BY x.i")),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_goes_too_far_is_refused(numbers, name):
    code, statement = REFUSED[name]
    for words in ("", "EXPLAIN "):
        with pytest.raises(pymysql.err.MySQLError) as refused:
            rows(numbers, words + statement)
        assert refused.value.args[0] == code
    assert value(numbers, "SELECT 1") == 1


BIG = "n a, n b, n c, n d, n e, n f"

# Each takes minutes at least.
SLOW = {
    "join": f"SELECT COUNT(*) FROM {BIG} WHERE a.i + b.i + c.i + d.i + e.i + f.i = 0",
    "sort": f"SELECT a.i FROM {BIG} ORDER BY a.i * b.i * c.i * d.i * e.i LIMIT 5",
    "groups": f"SELECT COUNT(*) FROM (SELECT a.i * 1000 + b.i AS x, COUNT(*) FROM {BIG} GROUP BY x) d",
    "distinct": f"SELECT COUNT(DISTINCT a.i, b.i, c.i) FROM {BIG}",
    "window": f"SELECT MAX(m) FROM (SELECT MAX(a.i) OVER (PARTITION BY b.i ORDER BY c.i) AS m FROM {BIG}) d",
    "union": f"SELECT COUNT(*) FROM (SELECT a.i FROM {BIG} UNION SELECT b.i FROM {BIG}) d",
    "recursion": "WITH RECURSIVE r AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM r) "
                 "SELECT /*+ SET_VAR(cte_max_recursion_depth = 4294967295) */ COUNT(*) FROM r",
    "insertion": f"INSERT INTO k SELECT a.i FROM {BIG}",
    "update": f"UPDATE k, {BIG} SET k.i = k.i + a.i",
    "deletion": f"DELETE k FROM k, {BIG} WHERE a.i + b.i + c.i + d.i + e.i + f.i = 0",
    "creation": f"CREATE TABLE m AS SELECT a.i FROM {BIG}",
    "derived tables": f"SELECT COUNT(*) FROM (SELECT DISTINCT a.i AS g, b.i AS h FROM {BIG}) x, (SELECT DISTINCT c.i AS g, d.i AS h FROM {BIG}) y",
    "EXPLAIN ANALYZE": f"EXPLAIN ANALYZE SELECT COUNT(*) FROM {BIG} WHERE a.i + b.i + c.i + d.i + e.i + f.i = 0",
    "one call after the other": "SELECT BENCHMARK(1000000000000, MD5('a'))",
    "long values": f"SELECT SUM(FIND_IN_SET('z', REPEAT('a,', 8000000))) FROM {BIG}",
    "compression": f"SELECT SUM(LENGTH(COMPRESS(REPEAT(RAND(), 3000000)))) FROM {BIG}",
    "LIKE": "SELECT REPEAT('a', 4000000) LIKE CONCAT('%', REPEAT('a', 2000000), 'b%')",
    "regular expressions": f"SELECT SUM(LENGTH(REGEXP_REPLACE(REPEAT('ab ', 3000000), '(a)(?=b)', 'c'))) FROM {BIG}",
    "backtracking": "SELECT REPEAT('a', 2000000) REGEXP '(?=a*c)a'",
    "arrays": "SELECT JSON_OVERLAPS(j, k) FROM (SELECT JSON_ARRAYAGG(a.i * 10000 + b.i) j, JSON_ARRAYAGG(-a.i * 10000 - b.i) k "
              "FROM n a, n b, (SELECT 1 UNION SELECT 2) x) d",
}


@pytest.fixture
def many(db):
    run("CREATE TABLE n (i INT PRIMARY KEY)", "CREATE TABLE k (i INT)", "INSERT INTO k VALUES (1), (2)", on=db)
    run("INSERT INTO n WITH RECURSIVE r AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM r WHERE i < 400) SELECT i FROM r", on=db)
    return db


def ended_by(server, database, statement, end):
    """The statement's error, and seconds from `end`, called with its connection's number once it runs, to that error."""
    victim = server.connect(database=database)
    number = value(victim, "SELECT CONNECTION_ID()")
    outcome = []

    def work():
        try:
            rows(victim, statement)
        except pymysql.MySQLError as error:
            outcome.append((error.args[0], time.monotonic()))

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(0.5)
    assert thread.is_alive(), "it is not slow"
    began = time.monotonic()
    end(number)
    thread.join(60)
    assert outcome, "it does not end"
    (code, at), = outcome
    return code, at - began


@pytest.mark.parametrize("name", SLOW)
def test_kill_ends_slow_statements(server, database, many, name):
    code, seconds = ended_by(server, database, SLOW[name], lambda number: run(f"KILL QUERY {number}", on=many))
    assert code == 1317
    assert seconds < END_S


@pytest.mark.parametrize("name", ["join", "long values", "LIKE", "arrays"])
def test_a_deadline_ends_slow_statements(server, database, many, name):
    run("SET max_execution_time = 1000", on=many)
    began = time.monotonic()
    with pytest.raises(pymysql.MySQLError) as ended:
        rows(many, SLOW[name])
    assert ended.value.args[0] == 3024
    assert time.monotonic() - began < 1 + END_S
