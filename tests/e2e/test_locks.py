"""Row locks seen through two connections. Each outcome is what MySQL 9.7 gives (`--address` runs the tests against one)."""

import threading
import time

import pymysql
import pytest

from harness import rows, run, value, wait_until

RR, RC, RU, S = "REPEATABLE READ", "READ COMMITTED", "READ UNCOMMITTED", "SERIALIZABLE"
ROWS = (10, 20, 30, 40, 50)


def code(error):
    return error.value.args[0]


@pytest.fixture
def two(server, database, kind):
    """Two connections to a table with rows 10 to 50 (k: 10, 20, 20, 40, 50)."""
    if kind == "mariadb":
        pytest.skip("MySQL's locking, not MariaDB's")
    a, b = server.connect(database=database), server.connect(database=database)
    run("CREATE TABLE t (id INT PRIMARY KEY, k INT, u INT, v INT, KEY (k), UNIQUE (u))",
        "INSERT INTO t VALUES (10,10,10,0), (20,20,20,0), (30,20,30,0), (40,40,40,0), (50,50,50,0)", on=a)
    for connection in (a, b):
        run("SET innodb_lock_wait_timeout = 1", on=connection)
    yield a, b
    for connection in (a, b):
        connection.rollback()
        connection.close()


def begin(connection, level):
    run(f"SET TRANSACTION ISOLATION LEVEL {level}", "START TRANSACTION", on=connection)


def locked(connection, mode="UPDATE"):
    """The rows that the connection cannot lock now."""
    begin(connection, RC)
    free = [row[0] for row in rows(connection, f"SELECT id FROM t ORDER BY id FOR {mode} SKIP LOCKED")]
    connection.rollback()
    return [i for i in ROWS if i not in free]


def gaps(connection, candidates, column="id"):
    """Those of the candidates that the connection cannot insert now (a second each)."""
    blocked = []
    for i in candidates:
        begin(connection, RC)
        row = {"id": 1000 + i, "k": "NULL", "u": "NULL"} | {column: i}
        try:
            run(f"INSERT INTO t VALUES ({row['id']}, {row['k']}, {row['u']}, 0)", on=connection)
        except pymysql.err.OperationalError as error:
            assert error.args[0] == 1205
            blocked.append(i)
        connection.rollback()
    return blocked


@pytest.mark.parametrize("where, rows_locked, blocked, free", [
    ("id = 20", [20], [], [15, 25]),
    ("id = 25", [], [25], [15, 35]),
    ("id >= 20 AND id <= 30", [20, 30], [25], [15, 35]),
    ("id > 20 AND id < 40", [30], [25, 35], [15, 45]),
    ("id > 40", [50], [45, 60], [35]),
    ("id IN (20, 25)", [20], [25], [15, 35]),
    ("v = 1", [10, 20, 30, 40, 50], [5, 60], []),
])
def test_a_locking_read_locks_rows_and_gaps(two, where, rows_locked, blocked, free):
    a, b = two
    begin(a, RR)
    rows(a, f"SELECT * FROM t WHERE {where} FOR UPDATE")
    assert locked(b) == rows_locked
    assert gaps(b, blocked + free) == blocked
    a.rollback()
    # An UPDATE locks what its WHERE reads.
    begin(a, RR)
    run(f"UPDATE t SET v = 9 WHERE {where}", on=a)
    assert locked(b) == rows_locked
    assert gaps(b, blocked[:1] + free[:1]) == blocked[:1]
    a.rollback()
    # Below REPEATABLE READ only what matches.
    begin(a, RC)
    rows(a, f"SELECT * FROM t WHERE {where} FOR SHARE")
    assert locked(b) == ([] if where == "v = 1" else rows_locked)
    assert locked(b, "SHARE") == []
    assert gaps(b, blocked[:1]) == []


def test_a_secondary_index_locks_entries_gaps_and_rows(two):
    a, b = two
    begin(a, RR)
    assert len(rows(a, "SELECT * FROM t FORCE INDEX (k) WHERE k = 20 FOR UPDATE")) == 2
    assert locked(b) == [20, 30]
    assert gaps(b, [15, 20, 35, 45], "k") == [15, 20, 35]
    a.rollback()
    begin(a, RR)
    assert rows(a, "SELECT k FROM t FORCE INDEX (k) WHERE k = 25 FOR SHARE") == ()
    assert locked(b) == []
    assert gaps(b, [25, 39, 45], "k") == [25, 39]
    a.rollback()
    begin(a, RR)
    assert len(rows(a, "SELECT * FROM t WHERE u = 20 FOR UPDATE")) == 1
    assert gaps(b, [15, 25], "u") == []
    a.rollback()
    begin(a, RR)
    assert rows(a, "SELECT * FROM t WHERE u = 25 FOR UPDATE") == ()
    assert gaps(b, [15, 25, 35], "u") == [25]


@pytest.mark.parametrize("level", [RR, RC])
def test_a_row_that_is_not_there_is_not_waited_for(two, level):
    a, b = two
    begin(a, RR)
    rows(a, "SELECT * FROM t WHERE id <= 40 FOR UPDATE")
    begin(b, level)
    run("UPDATE t SET v = 9 WHERE id = 50", on=b)
    for i in (5, 12, 35):
        assert rows(b, f"SELECT * FROM t WHERE id = {i} FOR UPDATE NOWAIT") == ()
        assert rows(b, f"SELECT * FROM t WHERE id = {i} FOR SHARE") == ()
        for statement in (f"UPDATE t SET v = 9 WHERE id = {i}", f"DELETE FROM t WHERE id = {i}"):
            with b.cursor() as cursor:
                assert cursor.execute(statement) == 0
    # Nobody waits for `a`, so its wait for `b` closes no cycle.
    with pytest.raises(pymysql.err.OperationalError) as error:
        run("UPDATE t SET v = 8 WHERE id = 50", on=a)
    assert code(error) == 1205


def test_rollback_to_a_savepoint_before_the_first_statement_gives_locks_and_snapshot_back(two):
    a, b = two
    run("START TRANSACTION", "SAVEPOINT s", "SAVEPOINT s2", on=a)
    run("UPDATE t SET v = 1 WHERE id = 20", on=a)
    assert rows(a, "SELECT * FROM t WHERE id = 35 FOR UPDATE") == ()
    assert locked(b) == [20]
    run("ROLLBACK TO s2", on=a)
    assert locked(b) == [] and gaps(b, [35]) == []
    run("UPDATE t SET v = 2 WHERE id = 20", on=b)
    assert value(a, "SELECT v FROM t WHERE id = 20") == 2, "a new snapshot"
    run("UPDATE t SET v = 3 WHERE id = 20", on=b)
    assert value(a, "SELECT v FROM t WHERE id = 20") == 2
    # From now on the engine has a part in it, also at a savepoint; the earlier one is as it was.
    run("SAVEPOINT later", "UPDATE t SET v = 4 WHERE id = 30", "ROLLBACK TO later", on=a)
    assert locked(b) == [30]
    run("UPDATE t SET v = 5 WHERE id = 10", "ROLLBACK TO s", on=a)
    assert locked(b) == []
    assert rows(a, "SELECT id, v FROM t WHERE v > 0") == ((20, 3),)
    a.rollback()
    # Level and access mode are the transaction's.
    run("SET TRANSACTION ISOLATION LEVEL READ COMMITTED, READ ONLY", "START TRANSACTION", "SAVEPOINT s", on=a)
    rows(a, "SELECT * FROM t")
    run("ROLLBACK TO s", on=a)
    assert value(a, "SELECT v FROM t WHERE id = 20") == 3
    run("UPDATE t SET v = 6 WHERE id = 20", on=b)
    assert value(a, "SELECT v FROM t WHERE id = 20") == 6
    with pytest.raises(pymysql.err.OperationalError) as error:
        run("UPDATE t SET v = 7 WHERE id = 20", on=a)
    assert code(error) == 1792


def test_serializable_reads_lock_inside_transactions_only(two):
    a, b = two
    run(f"SET SESSION TRANSACTION ISOLATION LEVEL {S}", on=a)
    run("START TRANSACTION", on=b)
    run("UPDATE t SET v = 1 WHERE id = 20", on=b)
    assert value(a, "SELECT v FROM t WHERE id = 20") == 0, "autocommit: a consistent read"
    run("START TRANSACTION", on=a)
    with pytest.raises(pymysql.err.OperationalError) as error:
        rows(a, "SELECT v FROM t WHERE id = 20")
    assert code(error) == 1205
    b.rollback()
    assert value(a, "SELECT v FROM t WHERE id = 20") == 0
    assert rows(a, "SELECT * FROM t WHERE id > 20 AND id < 40") != ()
    assert locked(b) == [20, 30] and locked(b, "SHARE") == []
    assert gaps(b, [35, 45]) == [35]
    a.rollback()
    run("SET autocommit = 0", on=a)
    rows(a, "SELECT * FROM t WHERE id = 10")
    assert locked(b) == [10]
    a.rollback()
    run("SET autocommit = 1", on=a)


def test_read_uncommitted_sees_what_is_not_committed(two):
    a, b = two
    long = "x" * 20_000
    run("CREATE TABLE l (id INT PRIMARY KEY, c LONGTEXT)", "INSERT INTO l VALUES (1, REPEAT('a', 20000))", on=a)
    run("START TRANSACTION", "UPDATE t SET v = 7, k = 21 WHERE id = 20", f"UPDATE l SET c = '{long}'", on=a)
    begin(b, RU)
    assert rows(b, "SELECT k, v FROM t WHERE id = 20") == ((21, 7),)
    assert rows(b, "SELECT id FROM t WHERE k = 21") == ((20,),)
    assert value(b, "SELECT LENGTH(c) FROM l") == 20_000
    a.rollback()
    assert rows(b, "SELECT k, v FROM t WHERE id = 20") == ((20, 0),)


@pytest.mark.parametrize(("level", "kept"), [(RC, False), (RR, True)])
@pytest.mark.parametrize("statement, found, wanted", [
    ("SELECT * FROM t FORCE INDEX (k) WHERE k = 20 AND v = 1 FOR UPDATE", (20, 30), ()),
    ("SELECT * FROM t FORCE INDEX (k) WHERE k >= 20 AND v = id - 30 FOR UPDATE", (20, 30, 40, 50), (30,)),
    ("SELECT * FROM t WHERE id IN (10, 40) AND v = id - 10 FOR UPDATE", (10, 40), (10,)),
    ("UPDATE t FORCE INDEX (k) SET v = 1 WHERE k >= 20 AND v = id - 30", (20, 30, 40, 50), (30,)),
    ("DELETE FROM t WHERE k = 20 AND v = 1", (20, 30), ()),
    ("SELECT * FROM t a JOIN t b FORCE INDEX (k) ON b.k = a.k WHERE a.id = 20 AND b.v = b.id - 30 FOR UPDATE", (20, 30), (20, 30)),
])
def test_rows_that_where_refuses_stay_locked_at_repeatable_read_only(two, level, kept, statement, found, wanted):
    a, b = two
    begin(a, level)
    run(statement, on=a)
    assert locked(b) == list(found if kept else wanted)


@pytest.mark.parametrize("where", ["id = 40", "u = 40"])
def test_a_row_of_one_key_that_where_refuses_is_unlocked(two, kind, where):
    """As the manual says; MySQL itself keeps it, which has read such a row before it looks at WHERE."""
    a, b = two
    begin(a, RC)
    run(f"SELECT * FROM t WHERE {where} AND v = 1 FOR UPDATE", on=a)
    assert locked(b) == ([] if kind == "clearway" else [40])


def test_an_update_at_read_committed_is_semi_consistent(server, database, two):
    a, b = two
    c = server.connect(database=database)
    run("START TRANSACTION", "UPDATE t SET v = 5 WHERE id = 20", on=a)
    begin(b, RC)
    # Row 20 is locked; as last committed it does not match.
    assert run("UPDATE t SET v = 1 WHERE v = 3 OR id > 35 AND v = 0", on=b) == 2
    assert locked(c) == [20, 40, 50]
    with pytest.raises(pymysql.err.OperationalError) as error:
        run("UPDATE t SET v = 2 WHERE v = 0", on=b)
    assert code(error) == 1205
    b.rollback()
    # It waits, and then looks at the row as it is now.
    begin(b, RC)
    run("SET innodb_lock_wait_timeout = 50", on=b)
    waiting = threading.Thread(target=run, args=("UPDATE t SET v = 2 WHERE v = 0",), kwargs={"on": b})
    waiting.start()
    wait_until(lambda: value(a, "SELECT COUNT(*) FROM performance_schema.data_lock_waits"), 10, "nobody waits")
    a.commit()
    waiting.join()
    assert rows(b, "SELECT id, v FROM t ORDER BY id") == ((10, 2), (20, 5), (30, 2), (40, 2), (50, 2))
    b.rollback()
    c.close()


def test_nowait_and_skip_locked_in_joins_and_through_indexes(two):
    a, b = two
    run("CREATE TABLE s (id INT PRIMARY KEY, t INT)", "INSERT INTO s VALUES (1, 10), (2, 20), (3, 30)", on=a)
    run("START TRANSACTION", "UPDATE t SET v = 1 WHERE id = 20", on=a)
    run("START TRANSACTION", on=b)
    for query in ("SELECT * FROM t WHERE id = 20 FOR UPDATE NOWAIT",
                  "SELECT * FROM t FORCE INDEX (k) WHERE k = 20 FOR SHARE NOWAIT",
                  "SELECT * FROM s JOIN t ON t.id = s.t FOR UPDATE NOWAIT"):
        with pytest.raises(pymysql.err.DatabaseError) as error:
            rows(b, query)
        assert code(error) == 3572, query
    b.rollback()
    run("START TRANSACTION", on=b)
    assert rows(b, "SELECT id FROM t WHERE id = 20 FOR UPDATE SKIP LOCKED") == ()
    assert rows(b, "SELECT id FROM t FORCE INDEX (k) WHERE k = 20 FOR UPDATE SKIP LOCKED") == ((30,),)
    assert rows(b, "SELECT s.id FROM s JOIN t ON t.id = s.t ORDER BY s.id FOR UPDATE SKIP LOCKED") == ((1,), (3,))
    b.rollback()
    # OF names what is locked.
    run("START TRANSACTION", on=b)
    assert len(rows(b, "SELECT * FROM s JOIN t ON t.id = s.t FOR UPDATE OF s NOWAIT")) == 3
    with pytest.raises(pymysql.err.DatabaseError) as error:
        rows(a, "SELECT * FROM s WHERE id = 1 FOR SHARE NOWAIT")
    assert code(error) == 3572


@pytest.mark.parametrize("insert", ["(20, 99, 99, 0)", "(99, 99, 20, 0)"])
def test_duplicates_are_waited_for_and_locked(two, insert):
    a, b = two
    run("START TRANSACTION", "DELETE FROM t WHERE id = 20", on=a)
    run("START TRANSACTION", on=b)
    with pytest.raises(pymysql.err.OperationalError) as error:
        run(f"INSERT INTO t VALUES {insert}", on=b)
    assert code(error) == 1205
    a.rollback()
    with pytest.raises(pymysql.err.IntegrityError) as error:
        run(f"INSERT INTO t VALUES {insert}", on=b)
    assert code(error) == 1062
    where = "id = 20" if insert.startswith("(20") else "u = 20"
    run("START TRANSACTION", on=a)
    assert len(rows(a, f"SELECT * FROM t WHERE {where} FOR SHARE NOWAIT")) == 1
    a.rollback()
    run("START TRANSACTION", on=a)
    with pytest.raises(pymysql.err.DatabaseError) as error:
        rows(a, f"SELECT * FROM t WHERE {where} FOR UPDATE NOWAIT")
    assert code(error) == 3572, "the duplicate is locked in share mode"
    a.rollback()
    b.rollback()
    run("START TRANSACTION", on=b)
    run(f"INSERT INTO t VALUES {insert} ON DUPLICATE KEY UPDATE v = v", on=b)
    run("START TRANSACTION", on=a)
    with pytest.raises(pymysql.err.DatabaseError) as error:
        rows(a, f"SELECT * FROM t WHERE {where} FOR SHARE NOWAIT")
    assert code(error) == 3572, "and exclusively where it is to be changed"


def test_two_inserts_into_one_gap_are_a_deadlock_at_once(two):
    a, b = two
    for connection in two:
        run("SET innodb_lock_wait_timeout = 50", "START TRANSACTION", on=connection)
        assert rows(connection, "SELECT * FROM t WHERE id = 25 FOR UPDATE") == ()
    outcome = []

    def insert():
        try:
            run("INSERT INTO t VALUES (26, 26, 26, 0)", on=b)
            outcome.append(0)
        except pymysql.err.OperationalError as error:
            outcome.append(error.args[0])

    other = threading.Thread(target=insert)
    other.start()
    wait_until(lambda: outcome or value(a, "SELECT COUNT(*) FROM performance_schema.data_lock_waits"), 10, "nobody waits")
    began = time.monotonic()
    try:
        run("INSERT INTO t VALUES (25, 25, 25, 0)", on=a)
        a.commit()
        mine = 0
    except pymysql.err.OperationalError as error:
        mine = error.args[0]
    other.join()
    assert sorted([mine, outcome[0]]) == [0, 1213]
    assert time.monotonic() - began < 5
    report = rows(a, "SHOW ENGINE INNODB STATUS")[0][2]
    assert "LATEST DETECTED DEADLOCK" in report
    section = report[report.index("LATEST DETECTED DEADLOCK"):]
    assert "(1) TRANSACTION" in section and "(2) TRANSACTION" in section and "WE ROLL BACK TRANSACTION" in section
    assert "insert intention" in section


def test_statements_that_write_lock_what_they_read(two):
    a, b = two
    run("CREATE TABLE c (id INT PRIMARY KEY)", on=a)
    for level, expected in ((RR, [40, 50]), (RC, [])):
        begin(a, level)
        run("INSERT INTO c SELECT id FROM t WHERE id >= 40", on=a)
        assert locked(b) == expected and locked(b, "SHARE") == []
        a.rollback()


def test_a_row_that_no_longer_matches_after_the_wait_is_unlocked(server, database, two, kind):
    """As MySQL's manual says; it keeps this one locked."""
    a, b = two
    c = server.connect(database=database)
    run("UPDATE t SET v = 3 WHERE id = 30", on=a)
    run("START TRANSACTION", "UPDATE t SET v = 9 WHERE id = 30", on=a)
    begin(b, RC)
    run("SET innodb_lock_wait_timeout = 50", on=b)
    outcome = []
    waiting = threading.Thread(target=lambda: outcome.append(run("UPDATE t SET v = 8 WHERE v = 3", on=b)))
    waiting.start()
    wait_until(lambda: value(a, "SELECT COUNT(*) FROM performance_schema.data_lock_waits"), 10, "nobody waits")
    a.commit()
    waiting.join()
    assert outcome == [0]
    assert locked(c) == ([30] if kind == "external" else [])
    b.rollback()
    c.close()


@pytest.mark.parametrize("scan", ["UPDATE t FORCE INDEX (k) SET v = 9 WHERE k > 0", "UPDATE t SET v = 9 WHERE id > 0 AND k > 0",
                                  "DELETE FROM t WHERE id > 0 ORDER BY id", "SELECT id FROM t FORCE INDEX (k) WHERE k > 0 FOR UPDATE"])
def test_a_scan_that_waited_misses_no_row(server, database, two, scan):
    """At READ COMMITTED rows that move, by a secondary or the primary key, or come ahead of a scan that waits are met by it."""
    a, b = two
    run("SET innodb_lock_wait_timeout = 50", on=b)
    begin(a, RC)
    run("UPDATE t SET v = 5 WHERE id = 10", on=a)
    begin(b, RC)
    outcome = []

    def go():
        with b.cursor() as cursor:
            outcome.append(cursor.execute(scan))

    waiting = threading.Thread(target=go)
    waiting.start()
    wait_until(lambda: value(a, "SELECT COUNT(*) FROM performance_schema.data_lock_waits"), 10, "nobody waits")
    run("UPDATE t SET k = 21 WHERE id = 20", "UPDATE t SET id = 31 WHERE id = 30", "INSERT INTO t VALUES (45, 45, 45, 0)", "COMMIT", on=a)
    waiting.join()
    assert outcome == [6]
    b.rollback()
