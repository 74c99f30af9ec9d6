"""PyMySQL over the text protocol: types, NULLs, transactions, errors."""

import datetime
import decimal
import threading

import pymysql
import pytest
from harness import rows, run, status, value, wait_until

D = decimal.Decimal

TYPES = {
    "TINYINT": [-128, 0, 127, None],
    "TINYINT UNSIGNED": [0, 255, None],
    "SMALLINT": [-32768, 32767],
    "SMALLINT UNSIGNED": [65535],
    "MEDIUMINT": [-8388608, 8388607],
    "MEDIUMINT UNSIGNED": [16777215],
    "INT": [-2147483648, 2147483647],
    "INT UNSIGNED": [4294967295],
    "BIGINT": [-(2**63), 2**63 - 1],
    "BIGINT UNSIGNED": [2**64 - 1],
    "DECIMAL(65,30)": [D("12345678901234567890123456789012345." + "9" * 30), D("-0." + "0" * 29 + "1")],
    "DECIMAL(10,2)": [D("-12345678.90"), D("0.00"), None],
    "FLOAT": [0.5, -1.25, 0.0],
    "DOUBLE": [0.1, -1.7976931348623157e308, 5e-324, 1.0],
    "CHAR(10)": ["", "abc", "äöü漢", None],
    "VARCHAR(200)": ["", "trailing  ", "'\"\\\n\r\t\x1a", "🚦" * 50],
    "TEXT": ["", "x" * 65000, None],
    "MEDIUMTEXT": ["y" * 100_000],
    "BLOB": [b"", bytes(range(256)), None],
    "LONGBLOB": [bytes(range(256)) * 4096],
    "VARBINARY(20)": [b"\x00\xff\x00"],
    "DATE": [datetime.date(1000, 1, 1), datetime.date(9999, 12, 31), None],
    "DATETIME": [datetime.datetime(2024, 2, 29, 23, 59, 59)],
    "DATETIME(6)": [datetime.datetime(2024, 2, 29, 23, 59, 59, 123456)],
    "TIMESTAMP NULL": [datetime.datetime(2037, 12, 31, 23, 59, 59), None],
}


@pytest.mark.parametrize("kind_of_column", TYPES)
def test_round_trip(db, kind_of_column):
    values = TYPES[kind_of_column]
    run(f"CREATE TABLE t (id INT PRIMARY KEY, v {kind_of_column}) CHARACTER SET utf8mb4", on=db)
    with db.cursor() as cursor:
        cursor.executemany("INSERT INTO t VALUES (%s, %s)", list(enumerate(values)))
    assert [v for _, v in rows(db, "SELECT * FROM t ORDER BY id")] == values


ERRORS = [
    (1062, "23000", "INSERT INTO t (id, n) VALUES (1, 1)"),
    (1062, "23000", "INSERT INTO t (id, n, u) VALUES (9, 1, 'one')"),
    (1048, "23000", "INSERT INTO t (id, n) VALUES (5, NULL)"),
    (1146, "42S02", "SELECT * FROM missing"),
    (1051, "42S02", "DROP TABLE missing"),
    (1050, "42S01", "CREATE TABLE t (i INT)"),
    (1064, "42000", "SELEC 1"),
    (1064, "42000", "SELECT FROM WHERE"),
    (1054, "42S22", "SELECT nope FROM t"),
    (1054, "42S22", "UPDATE t SET nope = 1"),
    (1406, "22001", "INSERT INTO t (id, n, s) VALUES (6, 1, 'abcdef')"),
    (1264, "22003", "INSERT INTO t (id, n) VALUES (7, 300)"),
    (1292, "22007", "INSERT INTO t (id, n, d) VALUES (8, 1, '2023-02-29')"),
    (1366, "HY000", "INSERT INTO t (id, n) VALUES ('x', 1)"),
    (1364, "HY000", "INSERT INTO t (id) VALUES (10)"),
    (1136, "21S01", "INSERT INTO t VALUES (1)"),
    (1049, "42000", "USE missing"),
    (1007, "HY000", "CREATE DATABASE {database}"),
    (1008, "HY000", "DROP DATABASE missing"),
    (1060, "42S21", "CREATE TABLE x (a INT, a INT)"),
    (1072, "42000", "CREATE TABLE x (a INT, PRIMARY KEY (b))"),
    (1091, "42000", "DROP INDEX missing ON t"),
    (1193, "HY000", "SET missing_variable = 1"),
    (1065, "42000", ""),
    (1690, "22003", "SELECT 9223372036854775807 + 1"),
]


@pytest.mark.parametrize(("number", "state", "statement"), ERRORS, ids=[f"{n}-{i}" for i, (n, _, _) in enumerate(ERRORS)])
def test_errors_have_mysqls_numbers_and_states(db, database, kind, number, state, statement):
    run("CREATE TABLE t (id INT PRIMARY KEY, n TINYINT NOT NULL, s VARCHAR(5), d DATE, u VARCHAR(9) UNIQUE)",
        "INSERT INTO t VALUES (1, 1, 'a', '2024-02-29', 'one')", on=db)
    with pytest.raises(pymysql.MySQLError) as raised:
        run(statement.format(database=database), on=db)
    assert raised.value.args[0] == number, raised.value
    # PyMySQL keeps no SQLSTATE: ask the packet itself.
    if not (kind == "mariadb" and number in (1366,)):
        assert sqlstate(db, statement.format(database=database)) == state
    # The connection and its data are as before.
    assert rows(db, "SELECT id, n, s FROM t") == ((1, 1, "a"),)


def sqlstate(connection, statement):
    """The five letters of the error packet, read where PyMySQL raises."""
    seen = []

    class Packet(pymysql.protocol.MysqlPacket):
        def raise_for_error(self):
            seen.append(self._data[4:9].decode())
            super().raise_for_error()

    original = pymysql.connections.MysqlPacket
    pymysql.connections.MysqlPacket = Packet
    try:
        connection._read_packet.__func__.__defaults__ = (Packet,)
        with pytest.raises(pymysql.MySQLError):
            run(statement, on=connection)
    finally:
        connection._read_packet.__func__.__defaults__ = (original,)
        pymysql.connections.MysqlPacket = original
    return seen[0]


def test_a_failed_statement_leaves_nothing_behind(db):
    run("CREATE TABLE t (id INT PRIMARY KEY, n INT)", "INSERT INTO t VALUES (3, 0)", on=db)
    with pytest.raises(pymysql.err.IntegrityError):
        run("INSERT INTO t VALUES (1, 0), (2, 0), (3, 0), (4, 0)", on=db)
    assert rows(db, "SELECT id FROM t") == ((3,),)


def test_transactions_and_savepoints(db, server, database):
    run("CREATE TABLE t (id INT PRIMARY KEY)", on=db)
    other = server.connect(database=database)
    run("BEGIN", "INSERT INTO t VALUES (1)", "SAVEPOINT a", "INSERT INTO t VALUES (2)", "SAVEPOINT b",
        "INSERT INTO t VALUES (3)", "ROLLBACK TO SAVEPOINT a", "INSERT INTO t VALUES (4)", on=db)
    assert rows(db, "SELECT id FROM t ORDER BY id") == ((1,), (4,))
    assert rows(other, "SELECT id FROM t") == ()
    with pytest.raises(pymysql.MySQLError) as raised:
        run("ROLLBACK TO SAVEPOINT b", on=db)
    assert raised.value.args[0] == 1305
    run("COMMIT", on=db)
    assert rows(other, "SELECT id FROM t ORDER BY id") == ((1,), (4,))
    run("SET autocommit = 0", "DELETE FROM t", "ROLLBACK", on=db)
    assert value(db, "SELECT COUNT(*) FROM t") == 2
    other.close()


def test_ddl_commits_what_is_open(db):
    run("CREATE TABLE t (id INT PRIMARY KEY)", "BEGIN", "INSERT INTO t VALUES (1)", "CREATE TABLE u (i INT)", "ROLLBACK", on=db)
    assert value(db, "SELECT COUNT(*) FROM t") == 1


def test_repeatable_read_keeps_its_snapshot_and_read_committed_does_not(db, server, database):
    run("CREATE TABLE t (id INT PRIMARY KEY, n INT)", "INSERT INTO t VALUES (1, 0)", on=db)
    other = server.connect(database=database)
    for level, seen in (("REPEATABLE READ", 0), ("READ COMMITTED", 1)):
        run(f"SET SESSION TRANSACTION ISOLATION LEVEL {level}", "UPDATE t SET n = 0", "BEGIN", on=db)
        assert value(db, "SELECT n FROM t WHERE id = 1") == 0
        run("UPDATE t SET n = 1", on=other)
        assert value(db, "SELECT n FROM t WHERE id = 1") == seen, level
        assert value(db, "SELECT n FROM t WHERE id = 1 FOR UPDATE") == 1, "a locking read sees the newest version"
        run("COMMIT", on=db)
    other.close()


def test_deadlock_has_one_victim_with_1213(db, server, database):
    run("CREATE TABLE t (id INT PRIMARY KEY, n INT)", "INSERT INTO t VALUES (1, 0), (2, 0)", on=db)
    other = server.connect(database=database)
    run("BEGIN", "UPDATE t SET n = n + 1 WHERE id = 1", on=db)
    run("BEGIN", "UPDATE t SET n = n + 1 WHERE id = 2", on=other)
    outcome = {}

    def cross():
        try:
            run("UPDATE t SET n = n + 1 WHERE id = 1", on=other)
            run("COMMIT", on=other)
            outcome["other"] = None
        except pymysql.MySQLError as error:
            outcome["other"] = error.args[0]

    thread = threading.Thread(target=cross)
    thread.start()
    try:
        run("UPDATE t SET n = n + 1 WHERE id = 2", on=db)
        run("COMMIT", on=db)
        outcome["db"] = None
    except pymysql.MySQLError as error:
        outcome["db"] = error.args[0]
    thread.join(60)
    assert sorted(outcome.values(), key=str) == [1213, None]
    assert value(db, "SELECT SUM(n) FROM t") == 2
    other.close()


def test_lock_wait_timeout_is_1205_and_keeps_the_transaction(db, server, database):
    run("CREATE TABLE t (id INT PRIMARY KEY, n INT)", "INSERT INTO t VALUES (1, 0), (2, 0)", on=db)
    other = server.connect(database=database)
    run("BEGIN", "UPDATE t SET n = 5 WHERE id = 1", on=db)
    run("SET innodb_lock_wait_timeout = 1", "BEGIN", "UPDATE t SET n = 7 WHERE id = 2", on=other)
    with pytest.raises(pymysql.MySQLError) as raised:
        run("UPDATE t SET n = 6 WHERE id = 1", on=other)
    assert raised.value.args[0] == 1205
    run("COMMIT", on=other)
    run("COMMIT", on=db)
    assert rows(db, "SELECT n FROM t ORDER BY id") == ((5,), (7,))
    other.close()


def test_three_valued_logic(db):
    cases = {
        "NULL = NULL": None, "NULL <=> NULL": 1, "NULL AND 0": 0, "NULL AND 1": None, "NULL OR 1": 1, "NULL OR 0": None,
        "NOT NULL": None, "NULL IS NULL": 1, "1 IN (2, NULL)": None, "1 IN (1, NULL)": 1, "1 NOT IN (2, NULL)": None,
        "NULL BETWEEN 1 AND 2": None, "2 BETWEEN 3 AND NULL": 0, "NULL + 1": None, "1 / 0": None,
    }
    expressions = ", ".join(cases)
    assert rows(db, f"SELECT {expressions}")[0] == tuple(cases.values())
    run("CREATE TABLE t (id INT PRIMARY KEY, n INT, KEY (n))", "INSERT INTO t VALUES (1, NULL), (2, 5), (3, NULL)", on=db)
    assert rows(db, "SELECT id FROM t WHERE n <> 5") == ()
    assert value(db, "SELECT COUNT(*) FROM t WHERE n IS NULL") == 2
    assert rows(db, "SELECT COUNT(n), SUM(n), MIN(n) FROM t WHERE id = 1") == ((0, None, None),)


def test_rows_and_ids(db):
    run("CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, n INT UNIQUE, s VARCHAR(9) DEFAULT 'x')", on=db)
    with db.cursor() as cursor:
        assert cursor.execute("INSERT INTO t (n) VALUES (1), (2), (3)") == 3
        assert cursor.lastrowid == 1
        assert cursor.execute("INSERT INTO t VALUES (NULL, 4, DEFAULT)") == 1
        assert cursor.lastrowid == 4
        assert cursor.execute("UPDATE t SET s = 'x'") in (0, 4)
        assert cursor.execute("UPDATE t SET s = 'y' WHERE n > 2") == 2
        assert cursor.execute("REPLACE INTO t (id, n) VALUES (1, 3)") == 3, "two rows deleted, one inserted"
        assert cursor.execute("DELETE FROM t WHERE n = 3") == 1
    assert rows(db, "SELECT id, n, s FROM t ORDER BY id") == ((2, 2, "x"), (4, 4, "y"))
    assert value(db, "SELECT LAST_INSERT_ID()") == 4


def test_queries(db):
    run("CREATE TABLE t (a INT, b INT, c VARCHAR(9), PRIMARY KEY (a, b), KEY c (c))", on=db)
    data = [(a, b, f"c{(a * b) % 5}") for a in range(10) for b in range(10)]
    with db.cursor() as cursor:
        cursor.executemany("INSERT INTO t VALUES (%s, %s, %s)", data)
    assert rows(db, "SELECT * FROM t WHERE a = 3 AND b BETWEEN 4 AND 6") == tuple(r for r in data if r[0] == 3 and 4 <= r[1] <= 6)
    assert rows(db, "SELECT b FROM t WHERE a = 3 AND b IN (9, 1, 1, 77) ORDER BY b DESC") == ((9,), (1,))
    assert value(db, "SELECT COUNT(*) FROM t WHERE c = 'c1'") == sum(r[2] == "c1" for r in data)
    assert value(db, "SELECT COUNT(*) FROM t WHERE a = 1 OR b = 1 OR c = 'c4'") == sum(r[0] == 1 or r[1] == 1 or r[2] == "c4" for r in data)
    assert rows(db, "SELECT DISTINCT c FROM t ORDER BY c") == tuple((f"c{i}",) for i in range(5))
    grouped = rows(db, "SELECT c, COUNT(*), SUM(b), MIN(a), MAX(b), AVG(b) FROM t GROUP BY c ORDER BY c")
    for c, count, total, least, most, mean in grouped:
        mine = [r for r in data if r[2] == c]
        assert (count, total, least, most) == (len(mine), sum(r[1] for r in mine), min(r[0] for r in mine), max(r[1] for r in mine))
        assert mean == (D(sum(r[1] for r in mine)) / len(mine)).quantize(D("0.0001"), decimal.ROUND_HALF_UP)
    assert rows(db, "SELECT a, b FROM t ORDER BY b DESC, a LIMIT 2 OFFSET 1") == ((1, 9), (2, 9))
    run("TRUNCATE TABLE t", on=db)
    assert value(db, "SELECT COUNT(*) FROM t") == 0


def test_indexes_come_and_go(db):
    run("CREATE TABLE t (id INT PRIMARY KEY, n INT)", on=db)
    with db.cursor() as cursor:
        cursor.executemany("INSERT INTO t VALUES (%s, %s)", [(i, i % 7) for i in range(1000)])
    run("CREATE INDEX n ON t (n)", on=db)
    assert value(db, "SELECT COUNT(*) FROM t WHERE n = 3") == 143
    with pytest.raises(pymysql.MySQLError) as raised:
        run("CREATE UNIQUE INDEX u ON t (n)", on=db)
    assert raised.value.args[0] == 1062
    run("DROP INDEX n ON t", on=db)
    assert value(db, "SELECT COUNT(*) FROM t WHERE n = 3") == 143


def test_counters_count(db):
    names = ["Com_select", "Com_insert", "Com_update", "Com_delete", "Questions", "Bytes_received", "Bytes_sent"]
    run("CREATE TABLE t (id INT PRIMARY KEY)", on=db)
    before = {name: status(db, name) for name in names}
    run("SELECT 1", "INSERT INTO t VALUES (1)", "UPDATE t SET id = 2", "DELETE FROM t", on=db)
    after = {name: status(db, name) for name in names}
    for name in names[:4]:
        assert after[name] - before[name] >= 1, name
    assert after["Questions"] - before["Questions"] >= 4
    assert after["Bytes_sent"] > before["Bytes_sent"] and after["Bytes_received"] > before["Bytes_received"]
    assert status(db, "Threads_connected") >= 1


def test_kill_ends_a_waiting_statement(db, server, database):
    run("CREATE TABLE t (id INT PRIMARY KEY, n INT)", "INSERT INTO t VALUES (1, 0)", "BEGIN", "UPDATE t SET n = 1", on=db)
    other = server.connect(database=database)
    victim = value(other, "SELECT CONNECTION_ID()")
    outcome = []

    def wait():
        try:
            run("UPDATE t SET n = 2", on=other)
        except pymysql.MySQLError as error:
            outcome.append(error.args[0])

    thread = threading.Thread(target=wait)
    thread.start()
    waits = "SELECT COUNT(*) FROM information_schema.processlist WHERE info LIKE 'UPDATE%' AND id = " + str(victim)
    try:
        wait_until(lambda: value(db, waits), 20, "the statement does not show")
    except pymysql.MySQLError:
        pass  # No processlist table yet: KILL may come before the wait, which must end it as well.
    run(f"KILL QUERY {victim}", on=db)
    thread.join(30)
    assert outcome == [1317]
    assert value(other, "SELECT 1") == 1, "KILL QUERY leaves the connection"
    run(f"KILL {victim}", on=db)
    with pytest.raises(pymysql.MySQLError) as raised:
        run("SELECT 1", on=other)
    assert raised.value.args[0] in (1053, 1927, 2006, 2013)
    run("ROLLBACK", on=db)


def test_a_chain_of_unions_too_long_for_the_stack_is_refused(server):
    """In a connection that goes on serving: 1436, where the chain is longer than the server follows."""
    connection = server.connect()
    for operands, code in [(100, None), (900, None), (5000, 1436)]:
        text = " UNION ALL ".join(["SELECT 1"] * operands)
        for words in ("", "EXPLAIN "):
            if code is None:
                assert len(rows(connection, words + text)) >= operands
            else:
                with pytest.raises(pymysql.err.MySQLError) as refused:
                    rows(connection, words + text)
                assert refused.value.args[0] == code
    assert value(connection, "SELECT 1") == 1
    connection.close()


def test_columns_name_the_collation_that_the_client_asked_for(server):
    """At login, and in SET NAMES; not in SET collation_connection. What it asks in character_set_results is its default."""
    connection = server.connect(charset="utf8mb4", collation="utf8mb4_general_ci")
    for statement, number in [
            ("DO 0", 45), ("SET NAMES utf8mb4", 255), ("SET NAMES utf8mb4 COLLATE utf8mb4_bin", 46), ("SET collation_connection = utf8mb4_unicode_ci", 46),
            ("SET character_set_results = utf8mb4", 255), ("SET NAMES latin1 COLLATE latin1_bin", 47), ("SET NAMES DEFAULT", 255)]:
        with connection.cursor() as cursor:
            cursor.execute(statement)
            cursor.execute("SELECT 'a', _latin1'b'")
            assert [field.charsetnr for field in cursor._result.fields] == [number] * 2, statement
    connection.close()


def test_bytes_that_are_no_string_stay_what_they_are(server, database):
    """Drivers that take utf8mb3 for CESU-8 send surrogates: they come back as they were, and no column takes them."""
    surrogates = "💩".encode("utf-16-be")
    surrogates = b"".join(bytes([0xE0 | n >> 12, 0x80 | n >> 6 & 63, 0x80 | n & 63]) for n in (int.from_bytes(surrogates[i:i + 2]) for i in (0, 2)))
    connection = server.connect(database=database, charset="utf8mb3", collation="utf8mb3_general_ci")
    run("CREATE TABLE t (a VARCHAR(9) CHARACTER SET utf8mb3, b VARCHAR(9), c VARBINARY(9))", on=connection)
    assert value(connection, b"SELECT HEX('" + surrogates + b"')") == surrogates.hex().upper()
    assert rows(connection, "SHOW WARNINGS") == (("Warning", 1300, "Invalid utf8mb3 character string: 'EDA0BD'"),)
    for column in (b"a", b"b"):
        with pytest.raises(pymysql.MySQLError) as refused:
            run(b"INSERT INTO t (" + column + b") VALUES ('" + surrogates + b"')", on=connection)
        assert refused.value.args[0] == 1366
    run(b"INSERT INTO t (c) VALUES ('" + surrogates + b"')", on=connection)
    assert rows(connection, b"SELECT c, c = '" + surrogates + b"' FROM t") == ((surrogates, 1),)
    connection.close()


def test_flags_of_columns(server, database):
    """TIMESTAMP_FLAG (1024) says that the column takes the time by itself, ON_UPDATE_NOW_FLAG (8192) when."""
    connection = server.connect(database=database)
    run("""CREATE TABLE t (id INT PRIMARY KEY, a TIMESTAMP NULL, b TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
        c TIMESTAMP NULL ON UPDATE CURRENT_TIMESTAMP, d DATETIME DEFAULT CURRENT_TIMESTAMP, e TIMESTAMP NOT NULL DEFAULT '2020-01-01',
        f DATETIME ON UPDATE CURRENT_TIMESTAMP)""", on=connection)
    with connection.cursor() as cursor:
        cursor.execute("SELECT a, b, c, d, e, f, MAX(b), id FROM t GROUP BY id")
        assert [field.flags for field in cursor._result.fields] == [128, 1153, 9344, 128, 129, 128, 128, 20483]
    connection.close()
