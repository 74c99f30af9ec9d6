"""Accounts that log in: privileges on columns, roles, limits, passwords that run out, logins that fail. What is expected is what
MySQL answers."""

import pymysql
import pytest

import harness

CAN_HANDLE_EXPIRED_PASSWORDS = 1 << 22

pytestmark = pytest.mark.usefixtures("clearway_only")


def connect(server, user, password="", **words):
    return pymysql.connect(host=server.host, port=server.port, user=user, password=password, autocommit=True, **words)


def run(connection, *statements):
    """The rows of the last statement."""
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
        return list(cursor.fetchall())


def error(connection, statement):
    with pytest.raises(pymysql.MySQLError) as raised:
        run(connection, statement)
    return raised.value.args


def refused(server, user, password=""):
    with pytest.raises(pymysql.MySQLError) as raised:
        connect(server, user, password)
    return raised.value.args[0]


class Silent(pymysql.connections.Connection):
    """Says nothing after the login: an expired password allows no SET NAMES."""

    def set_character_set(self, *_):
        pass


def connect_expired(server, user, password=""):
    """As a client that knows of expired passwords."""
    return Silent(host=server.host, port=server.port, user=user, password=password, ssl_disabled=True, autocommit=None,
                  client_flag=CAN_HANDLE_EXPIRED_PASSWORDS)


def test_privileges_on_columns(server):
    root = connect(server, "root")
    run(root, "CREATE DATABASE pc", "CREATE TABLE pc.t (a INT, b INT, c INT)", "CREATE VIEW pc.v AS SELECT a x, b y FROM pc.t",
        "CREATE USER pc", "GRANT SELECT (a), INSERT (b), UPDATE (c) ON pc.t TO pc", "GRANT SELECT (x) ON pc.v TO pc")
    pc = connect(server, "pc")
    for statement in ["SELECT a FROM pc.t", "SELECT COUNT(*) FROM pc.t", "SELECT 1 FROM pc.t", "SELECT x FROM pc.v",
                      "SELECT * FROM (SELECT a FROM pc.t) d", "INSERT INTO pc.t (b) VALUES (1)", "UPDATE pc.t SET c = 1 WHERE a = 1",
                      "INSERT INTO pc.t (b) SELECT a FROM pc.t", "INSERT INTO pc.t (b) VALUES (1) ON DUPLICATE KEY UPDATE c = 1"]:
        run(pc, statement)
    for statement, number, what in [
            ("SELECT * FROM pc.t", 1142, "SELECT command denied to user 'pc'@'localhost' for table 't'"),
            ("SELECT b FROM pc.t", 1143, "SELECT command denied to user 'pc'@'localhost' for column 'b' in table 't'"),
            ("SELECT a FROM pc.t WHERE b = 1", 1143, "column 'b'"),
            ("INSERT INTO pc.t VALUES (1, 2, 3)", 1142, "INSERT command"),
            ("INSERT INTO pc.t () VALUES ()", 1142, "INSERT command"),
            ("INSERT INTO pc.t (a, b) VALUES (1, 2)", 1143, "INSERT command denied to user 'pc'@'localhost' for column 'a'"),
            ("INSERT INTO pc.t (b) VALUES (1) ON DUPLICATE KEY UPDATE a = 1", 1143, "UPDATE command"),
            ("UPDATE pc.t SET c = c + 1", 1143, "SELECT command denied to user 'pc'@'localhost' for column 'c'"),
            ("UPDATE pc.t SET a = 1", 1143, "UPDATE command"),
            ("DELETE FROM pc.t", 1142, "DELETE command"),
            ("REPLACE INTO pc.t (b) VALUES (1)", 1142, "DELETE command"),
            ("SELECT y FROM pc.v", 1143, "column 'y' in table 'v'"),
            ("SHOW CREATE TABLE pc.t", 1142, "SHOW command"),
    ]:
        got = error(pc, statement)
        assert got[0] == number and what in got[1], (statement, got)
    columns = run(pc, "SELECT COLUMN_NAME, PRIVILEGES FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'pc'")
    assert sorted(columns) == [("a", "select"), ("b", "insert"), ("c", "update"), ("x", "select")]
    run(root, "GRANT SELECT (b) ON pc.t TO pc")
    run(pc, "SELECT b FROM pc.t")


def test_an_at_sign_in_a_name_is_part_of_it(server):
    root = connect(server, "root")
    run(root, "CREATE USER kin", "CREATE USER 'kin@far'")
    kin, far, other = connect(server, "kin"), connect(server, "kin@far"), connect(server, "kin@far")
    assert error(far, f"KILL {kin.thread_id()}")[0] == 1095
    assert {row[1] for row in run(far, "SHOW PROCESSLIST")} == {"kin@far"}
    run(far, f"KILL {other.thread_id()}")
    assert run(kin, "SELECT 1") == [(1,)]


def test_roles_count_once_they_are_active(server):
    root = connect(server, "root")
    run(root, "CREATE DATABASE ro", "CREATE TABLE ro.t (a INT)", "CREATE ROLE reader, writer", "CREATE USER ro",
        "GRANT SELECT ON ro.* TO reader", "GRANT reader TO writer", "GRANT INSERT ON ro.* TO writer", "GRANT writer TO ro")
    ro = connect(server, "ro")
    assert error(ro, "SELECT * FROM ro.t")[0] == 1142
    assert error(ro, "SET ROLE reader")[0] == 3530
    run(ro, "SET ROLE writer", "INSERT INTO ro.t VALUES (1)")
    assert run(ro, "SELECT * FROM ro.t") == [(1,)]
    assert run(ro, "SELECT CURRENT_ROLE()") == [("`writer`@`%`",)]
    run(ro, "SET ROLE NONE")
    assert error(ro, "SELECT * FROM ro.t")[0] == 1142
    run(root, "SET DEFAULT ROLE writer TO ro")
    again = connect(server, "ro")
    run(again, "SELECT * FROM ro.t")
    run(root, "DROP ROLE writer")
    assert error(again, "SELECT * FROM ro.t")[0] == 1142
    assert run(again, "SELECT CURRENT_ROLE()") == [("NONE",)]
    assert refused(server, "reader") == 3118
    run(root, "SET GLOBAL mandatory_roles = 'reader'", "SET GLOBAL activate_all_roles_on_login = ON")
    run(connect(server, "ro"), "SELECT * FROM ro.t")
    run(root, "SET GLOBAL mandatory_roles = ''", "SET GLOBAL activate_all_roles_on_login = OFF")


def test_limits(server):
    root = connect(server, "root")
    run(root, "CREATE DATABASE li", "CREATE TABLE li.t (a INT)", "CREATE USER li1 WITH MAX_QUERIES_PER_HOUR 2",
        "CREATE USER li2 WITH MAX_USER_CONNECTIONS 1", "CREATE USER li3 WITH MAX_CONNECTIONS_PER_HOUR 1",
        "CREATE USER li4 WITH MAX_UPDATES_PER_HOUR 1", "GRANT ALL ON li.* TO li4")
    one = connect(server, "li1")  # The driver's SET AUTOCOMMIT is the first.
    run(one, "SELECT 1")
    assert error(one, "SELECT 1") == (1226, "User 'li1' has exceeded the 'max_questions' resource (current value: 2)")
    run(root, "FLUSH USER_RESOURCES")
    run(one, "SELECT 1")
    two = connect(server, "li2")
    assert refused(server, "li2") == 1226
    two.close()
    harness.wait_until(lambda: _can(server, "li2"), 10, "the end of the session counts")
    connect(server, "li3").close()
    assert refused(server, "li3") == 1226
    four = connect(server, "li4")
    run(four, "INSERT INTO li.t VALUES (1)", "SELECT * FROM li.t")
    assert error(four, "DROP TABLE li.t")[0] == 1226


def _can(server, user):
    try:
        connect(server, user).close()
        return True
    except pymysql.MySQLError:
        return False


def test_passwords(server):
    root = connect(server, "root")
    run(root, "CREATE USER pw IDENTIFIED BY 'a' PASSWORD REQUIRE CURRENT", "CREATE USER ex IDENTIFIED BY 'a' PASSWORD EXPIRE")
    pw = connect(server, "pw", "a")
    assert error(pw, "ALTER USER pw IDENTIFIED BY 'b'")[0] == 3892
    assert error(pw, "ALTER USER pw IDENTIFIED BY 'b' REPLACE 'x'")[0] == 3891
    run(pw, "ALTER USER pw IDENTIFIED BY 'b' REPLACE 'a'")
    assert refused(server, "pw", "a") == 1045
    run(root, "ALTER USER pw IDENTIFIED BY 'c' RETAIN CURRENT PASSWORD")
    connect(server, "pw", "b").close()
    connect(server, "pw", "c").close()
    run(root, "ALTER USER pw DISCARD OLD PASSWORD")
    assert refused(server, "pw", "b") == 1045
    assert refused(server, "ex", "a") == 1862
    ex = connect_expired(server, "ex", "a")
    assert error(ex, "SELECT 1")[0] == 1820
    run(ex, "ALTER USER ex IDENTIFIED BY 'b'", "SELECT 1")
    # It is looked at when one logs in, or when one changes it oneself.
    run(root, "ALTER USER ex PASSWORD EXPIRE", "GRANT PROCESS ON *.* TO ex")
    run(ex, "SELECT 1")
    ex = connect_expired(server, "ex", "b")
    run(root, "ALTER USER ex IDENTIFIED BY 'c'")
    assert error(ex, "SELECT 1")[0] == 1820
    # The password of the first start is of that day.
    run(root, "SET GLOBAL default_password_lifetime = 1")
    run(connect(server, "root"), "SELECT 1")
    run(root, "SET GLOBAL default_password_lifetime = DEFAULT")
    run(root, "CREATE USER cert REQUIRE X509")
    assert refused(server, "cert") == 1045


def test_failed_logins_block_the_account(server):
    root = connect(server, "root")
    run(root, "CREATE USER fl IDENTIFIED BY 'x' FAILED_LOGIN_ATTEMPTS 2 PASSWORD_LOCK_TIME 1")
    assert refused(server, "fl", "bad") == 1045
    connect(server, "fl", "x").close()
    assert refused(server, "fl", "bad") == 1045, "a login begins the count anew"
    assert refused(server, "fl", "bad") == 3955
    assert refused(server, "fl", "x") == 3955
    run(root, "ALTER USER fl ACCOUNT UNLOCK")
    connect(server, "fl", "x").close()


def test_what_the_engine_tells_of_all_is_for_process(server):
    """Statements of others stand in INNODB_TRX; some tables of performance_schema are everybody's."""
    root = connect(server, "root")
    run(root, "CREATE USER monitor, nobody", "GRANT PROCESS ON *.* TO monitor")
    monitor, nobody = connect(server, "monitor"), connect(server, "nobody")
    for table in ("INNODB_TRX", "INNODB_TABLES", "INNODB_BUFFER_PAGE", "INNODB_CMP", "FILES"):
        assert error(nobody, f"SELECT * FROM information_schema.{table}")[0] == 1227, table
        run(monitor, f"SELECT * FROM information_schema.{table}")
    run(nobody, "SELECT * FROM information_schema.INNODB_FT_DEFAULT_STOPWORD")
    for table in ("global_status", "session_status", "global_variables", "session_variables", "persisted_variables", "variables_info",
                  "session_account_connect_attrs"):
        run(nobody, f"SELECT * FROM performance_schema.{table}")
    assert {row[1] for row in run(nobody, "SELECT * FROM performance_schema.processlist")} == {"nobody"}
    for table in ("threads", "data_locks", "metadata_locks"):
        assert error(nobody, f"SELECT * FROM performance_schema.{table}")[0] == 1142, table
