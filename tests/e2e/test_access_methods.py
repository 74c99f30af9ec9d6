"""All ways of reading tables give the same rows: random data and queries, under hints that choose between them.

Each query is asked without hints, under every variant of hints, and again with buffers so small that a batch is a row or two. The
seed is printed; ACCESS_SEED repeats a run, ACCESS_ROUNDS makes it longer."""

import os
import random

import pytest

ROUNDS = int(os.environ.get("ACCESS_ROUNDS", "5"))

JOIN_HINTS = [
    "NO_BKA() NO_BNL()",
    "BKA(t2) JOIN_PREFIX(t1)",
    "BKA(t1) JOIN_PREFIX(t2)",
    "BKA() NO_BNL()",
    "BNL() NO_BKA()",
    "BKA(t2@q, t1@q) SEMIJOIN(@q FIRSTMATCH)",
    "NO_SEMIJOIN(@q)",
]
SCAN_HINTS = [
    "NO_INDEX(t1)",
    "NO_MRR(t1) NO_SKIP_SCAN(t1)",
    "MRR(t1)",
    "INDEX(t1 ka) MRR(t1 ka)",
    "INDEX(t1 kb) MRR(t1)",
    "INDEX(t1 kcb) MRR(t1)",
    "SKIP_SCAN(t1)",
    "SKIP_SCAN(t1 kcb)",
    "SKIP_SCAN(t1 kcab)",
    "INDEX_MERGE(t1)",
]


def fill(cursor, rng):
    cursor.execute("DROP TABLE IF EXISTS t1, t2")
    for table in ("t1", "t2"):
        text = rng.choice(["VARCHAR(8)", "CHAR(5)", "VARBINARY(6)"])
        null = lambda: rng.choice(["NOT NULL", "NULL"])
        cursor.execute(
            f"CREATE TABLE {table} (id INT {rng.choice(['PRIMARY KEY', 'UNIQUE NOT NULL'])}, a INT {null()},"
            f" b DECIMAL(6,1) {null()}, c {text} {null()}, d DATE NULL, KEY ka (a), KEY kb (b), KEY kcb (c, b),"
            f" KEY kcab (c {rng.choice(['', 'DESC'])}, a {rng.choice(['', 'DESC'])}, b), KEY kd (d, a))")
        spread = rng.choice([3, 20, 200])
        rows = []
        for i in rng.sample(range(2000), rng.choice([5, 60, 400])):
            a = rng.randrange(spread) if rng.random() < 0.9 else None
            b = f"{rng.randrange(spread)}.{rng.choice([0, 5])}" if rng.random() < 0.9 else None
            c = rng.choice("abcAB") + rng.choice(["", "x", "y"]) if rng.random() < 0.9 else None
            d = f"2024-0{rng.randrange(1, 4)}-1{rng.randrange(3)}" if rng.random() < 0.8 else None
            rows.append((i, a, b, c, d))
        cursor.executemany(f"INSERT IGNORE INTO {table} VALUES (%s, %s, %s, %s, %s)", rows)
    if rng.random() < 0.7:
        cursor.execute("ANALYZE TABLE t1, t2")
        cursor.fetchall()


def condition(rng, alias):
    value = rng.choice([0, 1, 2, 7, 19, 100, "0.5", "3.0", "NULL", "'2'"])
    return rng.choice([
        f"{alias}.a {rng.choice(['=', '<', '>=', '<=>'])} {value}",
        f"{alias}.b BETWEEN {rng.randrange(10)} AND {rng.randrange(30)}",
        f"{alias}.b > {rng.randrange(20)}",
        f"{alias}.b = {value}",
        f"{alias}.a IN ({value}, 3, {rng.randrange(20)})",
        f"{alias}.a BETWEEN {rng.randrange(5)} AND {rng.randrange(40)}",
        f"{alias}.c LIKE '{rng.choice(['a%', 'B_', '%x', 'ax'])}'",
        f"{alias}.c = '{rng.choice(['a', 'Bx', 'zz'])}'",
        f"{alias}.c > 'b'",
        f"{alias}.d >= '2024-02-11'",
        f"({alias}.a = {rng.randrange(20)} OR {alias}.b = {rng.randrange(20)})",
        f"{alias}.a IS NULL",
    ])


def link(rng):
    return rng.choice([
        "t1.a = t2.a", "t1.b = t2.b", "t1.b = t2.a", "t1.c = t2.c", "t1.a <=> t2.a", "t1.c = t2.c AND t1.b = t2.a",
        "t1.d = t2.d AND t2.a = t1.a", "t1.a = t2.c", "t1.a = t2.b + 1", "t1.c = t2.c AND t1.a < t2.a",
    ])


def conditions(rng, *aliases):
    return " AND ".join(condition(rng, rng.choice(aliases)) for _ in range(rng.choice([1, 1, 2, 3])))


def query(rng):
    """A query with a place for hints, and the hints to try."""
    what = rng.randrange(8)
    if what < 3:
        columns = rng.choice(["*", "t1.a, t1.b", "t1.b", "COUNT(*), MIN(t1.d), SUM(t1.a)"])
        return f"SELECT {{}} {columns} FROM t1 WHERE {conditions(rng, 't1')}", SCAN_HINTS
    lock = rng.choice(["", "", "", " FOR UPDATE", " FOR SHARE"])
    if what < 5:
        join = rng.choice(["JOIN", "LEFT JOIN", "RIGHT JOIN"])
        where = f" WHERE {conditions(rng, 't1', 't2')}" if rng.random() < 0.5 else ""
        on = link(rng) + (f" AND {conditions(rng, 't1', 't2')}" if rng.random() < 0.4 else "")
        return f"SELECT {{}} * FROM t1 {join} t2 ON {on}{where}{lock}", JOIN_HINTS
    if what == 5:
        return (f"SELECT {{}} t1.id, t2.id, t3.c, t3.b FROM t1 JOIN t2 ON {link(rng)} LEFT JOIN t1 t3 ON t3.b = t2.a "
                f"WHERE {conditions(rng, 't1', 't2')}{lock}", JOIN_HINTS + ["BKA(t2, t3)", "BKA(t3) NO_BKA(t2)"])
    no = rng.choice(["", "NOT "])
    return (f"SELECT {{}} t1.* FROM t1 WHERE {no}EXISTS (SELECT /*+ QB_NAME(q) */ 1 FROM t2 WHERE {link(rng)} "
            f"AND {conditions(rng, 't2', 't2', 't1')}){lock}", JOIN_HINTS)


def rows(cursor, text):
    cursor.execute(text)
    return sorted(map(repr, cursor.fetchall()))


def compare(connection, other, rng):
    """One round: how many answers were compared."""
    cursor, compared = connection.cursor(), 0
    fill(cursor, rng)
    connection.commit()
    if rng.random() < 0.5:
        # Entries that are not certain: changes of the transaction's own, and older versions under its snapshot.
        cursor.execute("START TRANSACTION WITH CONSISTENT SNAPSHOT")
        theirs = other.cursor()
        theirs.execute("UPDATE access_methods.t1 SET a = a + 1 WHERE id % 3 = 0")
        theirs.execute("DELETE FROM access_methods.t2 WHERE id % 5 = 0")
        cursor.execute("UPDATE t1 SET b = b + 1 WHERE id % 4 = 1")
    for _ in range(12):
        text, hints = query(rng)
        expected = rows(cursor, text.format("/*+ NO_BKA() NO_MRR(t1) NO_SKIP_SCAN(t1) */"))
        for size in ("128", "DEFAULT"):
            cursor.execute(f"SET join_buffer_size = {size}, read_rnd_buffer_size = {size}")
            for hint in [""] + hints:
                asked = text.format(f"/*+ {hint} */")
                found = rows(cursor, asked)
                assert found == expected, f"buffers of {size}: {asked}"
                compared += 1
    connection.rollback()
    return compared


@pytest.mark.parametrize("isolation", ["REPEATABLE READ", "READ COMMITTED"])
def test_hints_change_no_rows(server, isolation):
    seed = int(os.environ.get("ACCESS_SEED", random.randrange(1 << 32)))
    print(f"ACCESS_SEED={seed}")
    rng = random.Random(seed)
    with server.connect(autocommit=False) as connection, server.connect() as other:
        cursor = connection.cursor()
        cursor.execute("CREATE DATABASE IF NOT EXISTS access_methods")
        cursor.execute("USE access_methods")
        cursor.execute(f"SET SESSION TRANSACTION ISOLATION LEVEL {isolation}")
        compared = sum(compare(connection, other, rng) for _ in range(ROUNDS))
        cursor.execute("DROP DATABASE access_methods")
    print(f"{compared} answers compared")
