"""mysql-connector-python, pure Python: text and binary protocol, prepared cursors, fetching in pieces, pools."""

import datetime
import decimal

import mysql.connector
import pytest
from harness import value


@pytest.fixture
def connection(server, database):
    connection = mysql.connector.connect(
        host=server.host, port=server.port, user="root", password=server.password, database=database, use_pure=True,
        ssl_disabled=True, autocommit=True)
    yield connection
    connection.close()


ROW = (
    7, -5, 2**64 - 1, decimal.Decimal("-1234567890.12"), 0.5, 1e-300, "char", "väŕ 🚦", "text", b"\x00\xff", b"blob\x00",
    datetime.date(2024, 2, 29), datetime.datetime(2024, 2, 29, 1, 2, 3, 456789), datetime.datetime(2024, 2, 29, 1, 2, 3),
)
TABLE = """CREATE TABLE t (id INT PRIMARY KEY, s SMALLINT, u BIGINT UNSIGNED, d DECIMAL(20,2), f FLOAT, g DOUBLE, c CHAR(9),
    v VARCHAR(20), x TEXT, vb VARBINARY(9), b BLOB, da DATE, dt DATETIME(6), ts TIMESTAMP NULL) CHARACTER SET utf8mb4"""
INSERT = f"INSERT INTO t VALUES ({', '.join(['%s'] * len(ROW))})"
NOTHING = (8, *[None] * (len(ROW) - 1))


def same(row):
    """The driver gives TEXT and binary columns as bytearray or bytes in the binary protocol."""
    return tuple(bytes(v) if isinstance(v, bytearray) else v.encode() if isinstance(v, str) else v for v in row)


@pytest.mark.parametrize("prepared", [False, True], ids=["text", "prepared"])
def test_round_trip(connection, prepared):
    cursor = connection.cursor(prepared=prepared)
    cursor.execute(TABLE)
    cursor.execute(INSERT, ROW)
    cursor.execute(INSERT, NOTHING)
    cursor.execute("SELECT * FROM t ORDER BY id")
    assert [same(row) for row in cursor.fetchall()] == [same(ROW), NOTHING]
    cursor.execute("SELECT id FROM t WHERE d = %s AND v = %s AND dt = %s", (ROW[3], ROW[7], ROW[12]))
    assert cursor.fetchall() == [(7,)]
    cursor.close()


def test_a_prepared_statement_serves_many_times_with_changing_types(connection):
    cursor = connection.cursor(prepared=True)
    cursor.execute("CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20))")
    insert = "INSERT INTO t VALUES (%s, %s)"
    for row in [(1, "a"), (2, None), (3, 3), (4, 4.5), (2**31 - 1, "z")]:
        cursor.execute(insert, row)
    cursor.execute("SELECT v FROM t ORDER BY id")
    assert [v for (v,) in cursor.fetchall()] == ["a", None, "3", "4.5", "z"]


def test_limit_takes_strings_as_parameters(connection):
    """As MySQL 9.7 does; doubles and negative numbers have its errors. EXECUTE is stricter: golden `query/refused_arguments`."""
    cursor = connection.cursor(prepared=True)
    cursor.execute("CREATE TABLE t (id INT PRIMARY KEY)")
    cursor.execute("INSERT INTO t VALUES (1), (2), (3)")
    for given, rows in [(2, 2), ("2", 2), ("x", 0), (None, 0)]:
        cursor.execute("SELECT id FROM t LIMIT %s", (given,))
        assert len(cursor.fetchall()) == rows, given
    for given, number in [(2.0, 1210), (-1, 1690)]:
        with pytest.raises(mysql.connector.Error) as raised:
            cursor.execute("SELECT id FROM t LIMIT %s", (given,))
        assert raised.value.errno == number and "mysqld_stmt_execute" in raised.value.msg, given


def test_a_statement_prepared_before_ddl_sees_the_new_table(connection):
    cursor = connection.cursor()
    cursor.execute("CREATE TABLE t (id INT PRIMARY KEY, n INT)")
    cursor.execute("INSERT INTO t VALUES (1, 5)")
    prepared = connection.cursor(prepared=True)
    prepared.execute("SELECT n FROM t WHERE id = %s", (1,))
    assert prepared.fetchall() == [(5,)]
    cursor.execute("DROP TABLE t")
    cursor.execute("CREATE TABLE t (x INT, id INT PRIMARY KEY, n VARCHAR(9))")
    cursor.execute("INSERT INTO t VALUES (0, 1, 'new')")
    prepared.execute("SELECT n FROM t WHERE id = %s", (1,))
    assert prepared.fetchall() == [("new",)]


@pytest.mark.parametrize("prepared", [False, True], ids=["text", "prepared"])
def test_errors_carry_number_and_state(connection, prepared):
    cursor = connection.cursor(prepared=prepared)
    for statement, number, state in [
        ("SELECT * FROM missing", 1146, "42S02"), ("SELECT nope", 1054, "42S22"), ("SELEC 1", 1064, "42000"),
    ]:
        with pytest.raises(mysql.connector.Error) as raised:
            cursor.execute(statement)
        assert (raised.value.errno, raised.value.sqlstate) == (number, state)


def test_transactions(connection):
    connection.autocommit = False
    cursor = connection.cursor()
    cursor.execute("CREATE TABLE t (id INT PRIMARY KEY)")
    connection.start_transaction(isolation_level="READ COMMITTED")
    cursor.execute("INSERT INTO t VALUES (1)")
    assert connection.in_transaction
    connection.rollback()
    assert not connection.in_transaction
    cursor.execute("SELECT COUNT(*) FROM t")
    assert cursor.fetchone() == (0,)


def test_reset_and_change_user_forget_the_session(connection, database):
    cursor = connection.cursor()
    cursor.execute("SET SESSION innodb_lock_wait_timeout = 7")
    cursor.execute("CREATE TABLE t (id INT PRIMARY KEY)")
    cursor.execute("SET autocommit = 0")
    cursor.execute("INSERT INTO t VALUES (1)")
    connection.cmd_reset_connection()
    cursor = connection.cursor()
    cursor.execute("SELECT @@innodb_lock_wait_timeout <> 7, @@autocommit")
    assert cursor.fetchall() == [(1, 1)]
    cursor.execute("SELECT COUNT(*) FROM t")
    assert cursor.fetchall() == [(0,)], "the open transaction was rolled back"
    connection.cmd_change_user(username="root", password="", database=database)
    cursor = connection.cursor()
    cursor.execute("SELECT DATABASE()")
    assert cursor.fetchall() == [(database,)]


def test_ping_statistics_and_field_types(connection):
    connection.ping(reconnect=False)
    assert "Uptime" in connection.cmd_statistics()
    cursor = connection.cursor()
    cursor.execute("SELECT 1 AS a, 'x' AS b, NULL AS c")
    assert cursor.column_names == ("a", "b", "c")
    cursor.fetchall()


def test_several_statements_give_several_results(connection):
    cursor = connection.cursor()
    results = []
    cursor.execute("CREATE TABLE t (i INT PRIMARY KEY); INSERT INTO t VALUES (1), (2); SELECT i FROM t ORDER BY i; SELECT 9")
    while True:
        results.append(cursor.fetchall() if cursor.with_rows else cursor.rowcount)
        if not cursor.nextset():
            break
    assert results == [0, 2, [(1,), (2,)], [(9,)]]


def test_long_data(server, connection, database):
    """COM_STMT_SEND_LONG_DATA, which the driver uses for file-like parameters."""
    import io

    data = bytes(range(256)) * 20_000
    cursor = connection.cursor(prepared=True)
    cursor.execute("CREATE TABLE t (id INT PRIMARY KEY, b LONGBLOB)")
    cursor.execute("INSERT INTO t VALUES (%s, %s)", (1, io.BytesIO(data)))
    check = server.connect(database=database)
    assert value(check, "SELECT b FROM t") == data
    check.close()


def test_parameters_are_described_as_what_they_meet(connection):
    """Some drivers send a number with the sign that the server tells of the parameter."""
    connection.cursor().execute("CREATE TABLE t (a BIGINT UNSIGNED, b SMALLINT, c DECIMAL(10,2), d FLOAT, e VARCHAR(9), f DATETIME(3), g BLOB)")
    prepared = connection.cmd_stmt_prepare(b"INSERT INTO t VALUES (?, ?, ?, ?, ?, ?, ?)")
    # MYSQL_TYPE_*, UNSIGNED and BINARY among the flags, character set: MySQL's.
    assert [(p[1], p[7] & 32, p[8]) for p in prepared["parameters"]] == [
        (8, 32, 63), (8, 0, 63), (246, 0, 63), (5, 0, 63), (253, 0, 255), (12, 0, 63), (251, 0, 63)]
    prepared = connection.cmd_stmt_prepare(b"UPDATE t SET a = ? WHERE b = ? AND ? = ?")
    assert [(p[1], p[7] & 32) for p in prepared["parameters"]] == [(8, 32), (8, 0), (253, 0), (253, 0)]


def test_parameters_that_are_selected_come_back_as_what_they_were(connection):
    cursor = connection.cursor(prepared=True)
    moment = datetime.datetime(2024, 2, 29, 1, 2, 3, 456)
    exact = [(decimal.Decimal("1.50"), moment), (moment.date(), decimal.Decimal("-7")), (datetime.timedelta(hours=30), None)]
    for row in [(1, "a"), ("b", 2.5), (None, 3), (4, None), *exact]:
        cursor.execute("SELECT ?, ?", row)
        assert cursor.fetchone() == row
        # Never NULL, which some drivers then read whatever there is.
        assert 6 not in [column[1] for column in cursor.description]
    for row in [(1, "a"), ("b", 2.5), (None, 3), (4, None)]:
        cursor.execute("SELECT COALESCE(?, ?)", row)
        assert str(cursor.fetchone()[0]) in map(str, row)
    cursor.close()


@pytest.mark.parametrize("client", ["utf8mb4", "latin1"])
def test_parameters_beside_another_character_set(connection, client):
    connection.cmd_query("CREATE TABLE l (l VARCHAR(9) CHARACTER SET latin1, u VARCHAR(9), b VARBINARY(9), KEY (l), KEY (u))")
    connection.set_charset_collation(client)
    cursor = connection.cursor(prepared=True)
    cursor.execute("INSERT INTO l VALUES (%s, %s, 'x')", ("é", "é"))
    for column in "lu":
        cursor.execute(f"SELECT HEX(l), HEX(u), HEX(b) FROM l WHERE {column} = %s", ("é",))
        assert [same(row) for row in cursor.fetchall()] == [(b"E9", b"C3A9", b"78")]
    connection.set_charset_collation("utf8mb4")
    cursor = connection.cursor(prepared=True)
    with pytest.raises(mysql.connector.Error) as raised:
        cursor.execute("SELECT l FROM l WHERE l = %s", ("日本",))
        cursor.fetchall()
    assert raised.value.errno == 3988
