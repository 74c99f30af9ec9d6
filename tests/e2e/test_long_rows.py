"""Long values lie outside their rows: short columns are read and changed without them, and each value belongs to the versions that have it."""

import random
import threading

import pymysql
import pytest

from harness import run, wait_until

COLUMNS = "id INT PRIMARY KEY, n INT, a VARCHAR(3000), b MEDIUMBLOB, c MEDIUMTEXT, j JSON, KEY (n), KEY (a(20)), KEY (b(10))"


def text(seed, length):
    letters = random.Random(seed)
    return "".join(letters.choice("abcdefgh \u00e4\u65e5") for _ in range(length))


def fetch(connection, statement, *values):
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return cursor.fetchall()


def long_row(connection, key, seed, length=100_000):
    row = (key, seed, text(seed, 2000), text(seed + 1, length).encode(), text(seed + 2, length // 3), f'{{"k": "{"x" * 5000}", "s": {seed}}}')
    run("SET sql_mode = DEFAULT", on=connection)
    with connection.cursor() as cursor:
        cursor.execute("REPLACE INTO t VALUES (%s, %s, %s, %s, %s, %s)", row)
    return row[:5]


def rows(connection, lock=""):
    return {row[0]: row for row in fetch(connection, f"SELECT id, n, a, b, c FROM t {lock}")}


@pytest.fixture
def t(db):
    run("DROP TABLE IF EXISTS t", f"CREATE TABLE t ({COLUMNS})", on=db)
    return db


def log_bytes(connection):
    return int(fetch(connection, "SHOW GLOBAL STATUS LIKE 'Innodb_os_log_written'")[0][1])


def test_a_short_column_is_changed_without_the_long_ones(t, kind):
    row = long_row(t, 1, 7)
    t.commit()
    run("DO SLEEP(1.1)", "SET sql_log_bin = 0", on=t)  # The binary log has whole rows.
    before = log_bytes(t)
    for _ in range(200):
        run("UPDATE t SET n = n + 1", on=t)
        t.commit()
    spent = (log_bytes(t) - before) / 200
    assert rows(t)[1] == (1, row[1] + 200, *row[2:])
    if kind == "clearway":
        # A flush fills its block up: 4 KiB. With the long values it were 200 KB.
        assert spent < 9000, spent


def test_each_way_of_changing_a_row(t):
    expected = {key: long_row(t, key, key * 10) for key in range(1, 9)}
    t.commit()
    changes = [
        ("UPDATE t SET c = 'short' WHERE id = 1", {1: {4: "short"}}),
        ("UPDATE t SET a = CONCAT(a, 'x'), n = 5 WHERE id = 2", {2: {1: 5, 2: expected[2][2] + "x"}}),
        ("UPDATE t SET b = b, c = c WHERE id = 3", {}),
        ("UPDATE t SET b = REVERSE(b) WHERE id = 4", {4: {3: expected[4][3][::-1]}}),
        ("UPDATE t SET c = CONCAT(c, b), b = NULL WHERE id = 5", {5: {3: None, 4: expected[5][4] + expected[5][3].decode()}}),
        ("INSERT INTO t (id, n) VALUES (6, 1) ON DUPLICATE KEY UPDATE n = 77", {6: {1: 77}}),
        ("UPDATE t x JOIN t y ON y.id = 8 SET x.n = 3, x.c = y.c WHERE x.id = 7", {7: {1: 3, 4: expected[8][4]}}),
        ("UPDATE t SET j = JSON_SET(j, '$.s', 0) WHERE id = 8", {}),
    ]
    for statement, change in changes:
        run(statement, on=t)
        for key, columns in change.items():
            row = list(expected[key])
            for at, value in columns.items():
                row[at] = value
            expected[key] = tuple(row)
        assert rows(t) == expected, statement
        assert rows(t, "FOR UPDATE") == expected, statement
    t.commit()
    run("UPDATE t SET id = id + 100 ORDER BY id DESC", on=t)
    expected = {key + 100: (key + 100, *row[1:]) for key, row in expected.items()}
    assert rows(t) == expected
    for statement in ("UPDATE t SET n = 0", "DELETE FROM t WHERE id < 104", "UPDATE t SET b = 'x', c = 'y'"):
        run("START TRANSACTION", "SAVEPOINT s", statement, "ROLLBACK TO s", on=t)
        assert rows(t) == expected, statement
    t.commit()
    assert fetch(t, "CHECK TABLE t")[-1][-1] == "OK"


def test_conditions_orders_and_groups_read_what_they_ask_for(t):
    expected = {key: long_row(t, key, key % 3) for key in range(1, 20)}
    t.commit()
    some = expected[4]
    assert [row[0] for row in fetch(t, "SELECT id FROM t WHERE b = %s ORDER BY id", some[3])] == [key for key in expected if expected[key][3] == some[3]]
    assert fetch(t, "SELECT COUNT(DISTINCT c), COUNT(DISTINCT a), SUM(LENGTH(b)) FROM t") == ((3, 3, sum(len(row[3]) for row in expected.values())),)
    ordered = fetch(t, "SELECT id FROM t ORDER BY c, id DESC")
    assert sorted(ordered) == sorted((key,) for key in expected) and len(ordered) == 19
    assert fetch(t, "SELECT x.id FROM t x JOIN t y ON x.c = y.c AND y.id = 1 WHERE x.id <> 1 ORDER BY 1") == tuple((key,) for key in range(4, 20, 3))
    assert fetch(t, "SELECT JSON_EXTRACT(j, '$.s') FROM t WHERE id = 2") == (("2",),)
    assert fetch(t, "SELECT id FROM t WHERE a LIKE %s ORDER BY id LIMIT 1", some[2][:15].replace("%", "") + "%") == ((1,),)
    assert fetch(t, "SELECT (SELECT MAX(c) FROM t y WHERE y.id = x.id) = x.c FROM t x") == ((1,),) * 19


def test_old_snapshots_keep_what_they_saw(t, server, database):
    expected = {key: long_row(t, key, key) for key in range(1, 6)}
    t.commit()
    with server.connect(database=database) as reader:
        run("START TRANSACTION WITH CONSISTENT SNAPSHOT", on=reader)
        for round in range(6):
            run(f"UPDATE t SET n = {round}", "UPDATE t SET c = CONCAT(c, 'more') WHERE id = 2", "DELETE FROM t WHERE id = 4", on=t)
            t.commit()
            long_row(t, 4, 90 + round)
            long_row(t, 5, 70 + round, 9000)
            t.commit()
            assert rows(reader) == expected, round
        run("COMMIT", on=reader)
    assert rows(t)[2][4] == expected[2][4] + "more" * 6


@pytest.mark.parametrize("level", ["READ UNCOMMITTED", "READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"])
def test_readers_beside_writers_see_whole_values(t, server, database, level):
    for key in range(1, 6):
        long_row(t, key, key, 30_000)
    run("UPDATE t SET c = MD5(b)", on=t)
    t.commit()
    stop, seen = threading.Event(), []

    def write(seed):
        lots = random.Random(seed)
        with server.connect(database=database) as connection:
            while not stop.is_set():
                key, length = lots.randrange(1, 6), lots.choice([10, 3000, 20_000, 60_000])
                try:
                    run("START TRANSACTION", on=connection)
                    with connection.cursor() as cursor:
                        cursor.execute("UPDATE t SET b = %s, c = MD5(b), n = n + 1 WHERE id = %s", (text(lots.random(), length).encode(), key))
                    run("COMMIT" if lots.random() < 0.7 else "ROLLBACK", on=connection)
                except pymysql.err.OperationalError as error:
                    assert error.args[0] in (1213, 1205), error

    def read(lock):
        with server.connect(database=database) as connection:
            run(f"SET SESSION TRANSACTION ISOLATION LEVEL {level}", on=connection)
            while not stop.is_set():
                try:
                    for key, equal in fetch(connection, f"SELECT id, MD5(b) = c FROM t {lock}"):
                        assert equal == 1, key
                    seen.append(lock)
                    run("COMMIT", on=connection)
                except pymysql.err.OperationalError as error:
                    assert error.args[0] in (1213, 1205), error
                    run("ROLLBACK", on=connection)

    failures = []

    def guarded(work, *words):
        try:
            work(*words)
        except BaseException as error:
            failures.append(error)
            stop.set()

    threads = [threading.Thread(target=guarded, args=(write, seed)) for seed in range(2)]
    threads += [threading.Thread(target=guarded, args=(read, lock)) for lock in ("", "", "FOR SHARE")]
    for thread in threads:
        thread.start()
    wait_until(lambda: stop.is_set() or (len(seen) > 150 and "FOR SHARE" in seen), 60, "readers have read")
    stop.set()
    for thread in threads:
        thread.join()
    assert not failures, failures[0]


def test_definitions_carry_long_values_over(t):
    expected = {key: long_row(t, key, key) for key in range(1, 40)}
    t.commit()
    for statement in (
        "ALTER TABLE t ADD COLUMN k INT DEFAULT 5, ALGORITHM=INSTANT",
        "ALTER TABLE t ADD COLUMN g VARCHAR(100) AS (LEFT(c, 10)) STORED",
        "ALTER TABLE t ADD KEY (c(30)), ADD KEY (k)",
        "ALTER TABLE t FORCE",
        "ALTER TABLE t MODIFY b LONGBLOB, ALGORITHM=COPY",
        "OPTIMIZE TABLE t",
        "ALTER TABLE t DROP PRIMARY KEY, ADD PRIMARY KEY (id, k)",
    ):
        run(statement, on=t)
        assert rows(t) == expected, statement
        assert fetch(t, "SELECT COUNT(*), SUM(g = LEFT(c, 10)) FROM t" if "g" in str(fetch(t, "SHOW COLUMNS FROM t LIKE 'g'")) else "SELECT COUNT(*), COUNT(*) FROM t")[0][0] == 39
        assert fetch(t, "CHECK TABLE t")[-1][-1] == "OK", statement
    sums = fetch(t, "CHECKSUM TABLE t")
    run("DROP TABLE IF EXISTS t2", "CREATE TABLE t2 LIKE t", "INSERT INTO t2 (id, n, a, b, c, j, k) SELECT id, n, a, b, c, j, k FROM t", on=t)
    assert fetch(t, "CHECKSUM TABLE t2")[0][1] == sums[0][1]
    run("DROP TABLE t2", on=t)


def test_a_key_that_is_there_is_told_beside_long_values(t):
    run("DROP TABLE IF EXISTS u", "CREATE TABLE u (id INT PRIMARY KEY, n INT UNIQUE, b LONGBLOB, UNIQUE KEY b (b(3)))", on=t)
    run("INSERT INTO u VALUES (1, 1, REPEAT('x', 20000)), (2, 2, REPEAT('y', 20000))", on=t)
    t.commit()
    for statement, told in (
        ("UPDATE u SET n = 1 WHERE id = 2", "Duplicate entry '1' for key 'u.n'"),
        ("UPDATE u SET b = REPEAT('x', 10000) WHERE id = 2", "Duplicate entry 'xxx' for key 'u.b'"),
        ("UPDATE u x JOIN u y ON x.id = y.id SET x.n = 1 WHERE x.id = 2", "Duplicate entry '1' for key 'u.n'"),
        ("INSERT INTO u VALUES (2, 5, '') ON DUPLICATE KEY UPDATE n = 1", "Duplicate entry '1' for key 'u.n'"),
        ("INSERT INTO u VALUES (3, 5, REPEAT('x', 9000))", "Duplicate entry 'xxx' for key 'u.b'"),
    ):
        with pytest.raises(pymysql.err.IntegrityError) as refused:
            run(statement, on=t)
        assert refused.value.args == (1062, told), statement
        run(statement.replace("UPDATE", "UPDATE IGNORE", 1) if statement.startswith("UPDATE") else statement.replace("INSERT", "INSERT IGNORE", 1), on=t)
        assert fetch(t, "SELECT id, n, LEFT(b, 1), LENGTH(b) FROM u ORDER BY id") == ((1, 1, b"x", 20000), (2, 2, b"y", 20000)), statement
    t.commit()
    run("DROP TABLE u", on=t)


def test_a_new_unique_key_tells_the_value_that_is_there_twice(t):
    for key in (1, 2):
        run(f"INSERT INTO t (id, b, c) VALUES ({key}, REPEAT('same', 20000), REPEAT('{key}', 20000))", on=t)
    t.commit()
    for statement in ("ALTER TABLE t ADD UNIQUE KEY u (b(4))", "ALTER TABLE t ADD UNIQUE KEY u (b(4)), ALGORITHM=COPY"):
        with pytest.raises(pymysql.err.IntegrityError) as refused:
            run(statement, on=t)
        assert refused.value.args == (1062, "Duplicate entry 'same' for key 't.u'")


def test_foreign_keys_and_unique_keys_over_long_rows(t):
    run("DROP TABLE IF EXISTS child, parent", on=t)
    run("CREATE TABLE parent (id INT PRIMARY KEY, u VARCHAR(700) UNIQUE, body LONGTEXT) DEFAULT CHARSET latin1", on=t)
    run(
        "CREATE TABLE child (id INT PRIMARY KEY, u VARCHAR(700), w VARCHAR(3000), body LONGTEXT, FOREIGN KEY (u) REFERENCES parent (u) ON UPDATE CASCADE ON DELETE SET NULL) DEFAULT CHARSET latin1",
        on=t,
    )
    wide = "k" * 690
    run(f"INSERT INTO parent VALUES (1, '{wide}', REPEAT('p', 50000)), (2, 'other', REPEAT('q', 50000))", on=t)
    run(f"INSERT INTO child VALUES (1, '{wide}', REPEAT('w', 3000), REPEAT('c', 50000)), (2, 'other', REPEAT('v', 3000), REPEAT('d', 60000))", on=t)
    t.commit()
    with pytest.raises(pymysql.err.IntegrityError) as refused:
        run("UPDATE parent SET u = 'other', id = 7 WHERE id = 1", on=t)
    assert refused.value.args[0] in (1062, 1761)
    with pytest.raises(pymysql.err.IntegrityError) as refused:
        run("UPDATE child SET u = 'nobody' WHERE id = 1", on=t)
    assert refused.value.args[0] == 1452
    run(f"UPDATE parent SET u = CONCAT(u, 'z') WHERE id = 1", "DELETE FROM parent WHERE id = 2", on=t)
    assert fetch(t, "SELECT id, u, MD5(w), MD5(body) = MD5(REPEAT(CHAR(98 + id), LENGTH(body))) FROM child ORDER BY id")[0][1] == wide + "z"
    assert fetch(t, "SELECT u, LENGTH(w), LENGTH(body) FROM child WHERE id = 2") == ((None, 3000, 60000),)
    t.commit()
    run("DROP TABLE child, parent", on=t)


def test_rows_whose_short_columns_alone_are_too_long(db):
    columns = ", ".join(f"c{i} DECIMAL(65, 30) NOT NULL DEFAULT {i}" for i in range(200))
    run("DROP TABLE IF EXISTS wide", f"CREATE TABLE wide (id INT PRIMARY KEY, n INT, b LONGTEXT, {columns}, KEY (c7))", on=db)
    run("INSERT INTO wide (id, n, b) VALUES (1, 1, 'short'), (2, 2, REPEAT('x', 100000))", on=db)
    db.commit()
    run("UPDATE wide SET n = n + 1, c7 = 70", on=db)
    assert fetch(db, "SELECT id, n, LENGTH(b), c7 + c199 FROM wide WHERE c7 > 60 ORDER BY id") == fetch(
        db, "SELECT id, id + 1, IF(id = 1, 5, 100000), 269 + 0.000000000000000000000000000000 FROM wide ORDER BY id"
    )
    run("ALTER TABLE wide ADD KEY (c8), ADD z INT", "UPDATE wide SET z = 1, c8 = c7", "DELETE FROM wide WHERE id = 1", on=db)
    assert fetch(db, "CHECK TABLE wide")[-1][-1] == "OK"
    db.rollback()
    run("DROP TABLE wide", on=db)


def test_check_reads_arrays_that_are_outside(db):
    run("DROP TABLE IF EXISTS arrays", "CREATE TABLE arrays (id INT PRIMARY KEY, j JSON, n INT, KEY k ((CAST(j AS UNSIGNED ARRAY))))", on=db)
    for key in range(1, 6):
        numbers = list(range(key, 1500 * key, key))
        run(f"INSERT INTO arrays VALUES ({key}, '{numbers}', 0)", on=db)
    db.commit()
    run("UPDATE arrays SET n = n + 1", "UPDATE arrays SET j = JSON_ARRAY(7, 8) WHERE id = 2", on=db)
    assert fetch(db, "SELECT id FROM arrays WHERE 7 MEMBER OF (j) ORDER BY id") == ((1,), (2,))
    assert fetch(db, "CHECK TABLE arrays")[-1][-1] == "OK"
    db.commit()
    run("DROP TABLE arrays", on=db)


def test_equal_values_change_nothing(db):
    columns = ", ".join(f"c{i} BIGINT NOT NULL DEFAULT {i}" for i in range(600))
    run("DROP TABLE IF EXISTS e, w", f"CREATE TABLE w (id INT PRIMARY KEY AUTO_INCREMENT, n INT, {columns})", on=db)
    run("CREATE TABLE e (id INT PRIMARY KEY, n INT, b LONGTEXT)", "INSERT INTO e VALUES (1, 1, REPEAT('x', 20000))", "INSERT INTO w (id, n) VALUES (1, 1)", on=db)
    db.commit()
    for statement in (
        "UPDATE e SET id = id",
        "UPDATE e SET id = 1, n = 1",
        "UPDATE e SET b = REPEAT('x', 20000)",
        "UPDATE e x JOIN e y ON x.id = y.id SET x.id = y.id",
        "INSERT INTO e VALUES (1, 2, '') ON DUPLICATE KEY UPDATE id = 1",
        "UPDATE w SET id = id, n = n",
        "UPDATE w SET c7 = 7, c599 = 599",
        "INSERT INTO w (id, n) VALUES (1, 2) ON DUPLICATE KEY UPDATE id = 1, c3 = 3",
    ):
        with db.cursor() as cursor:
            assert cursor.execute(statement) == 0, statement
    assert fetch(db, "SELECT id, n, LENGTH(b) FROM e") == ((1, 1, 20000),)
    run("UPDATE w SET c7 = 8", on=db)
    assert fetch(db, "SELECT id, c7, c599 FROM w") == ((1, 8, 599),)
    db.commit()
    run("DROP TABLE e, w", on=db)


def test_keys_that_are_too_long_are_refused(db):
    run("DROP TABLE IF EXISTS pk", "CREATE TABLE pk (a VARCHAR(750) COLLATE utf8mb4_0900_as_cs PRIMARY KEY, b TEXT)", on=db)
    run("INSERT INTO pk VALUES ('short', 'x')", on=db)
    with pytest.raises(pymysql.err.OperationalError) as refused:
        run("INSERT INTO pk VALUES (REPEAT('a', 750), 'x')", on=db)
    # As weights it has more bytes than an index takes here; MySQL, which keeps the text, takes it.
    assert refused.value.args[0] == 1118
    assert fetch(db, "SELECT a FROM pk") == (("short",),)
    db.commit()
    run("DROP TABLE pk", on=db)
