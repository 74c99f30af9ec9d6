"""`init_connect`: what runs behind the login of whoever has not CONNECTION_ADMIN. What is expected is what MySQL answers."""

import pymysql
import pytest

from harness import code_of, rows, run, value, wait_until


@pytest.fixture
def root(server):
    root = server.connect()
    run("DROP USER IF EXISTS ada", "CREATE USER ada", "DROP DATABASE IF EXISTS opened", "CREATE DATABASE opened",
        "CREATE TABLE opened.logins (id BIGINT)", "GRANT ALL ON opened.* TO ada", on=root)
    yield root
    run("SET GLOBAL init_connect = DEFAULT", "DROP USER ada", "DROP DATABASE opened", on=root)
    root.close()


class Silent(pymysql.connections.Connection):
    """Logs in and says nothing more."""

    def set_character_set(self, *words):
        pass


def silent(server, **words):
    return Silent(host=server.host, port=server.port, user="ada", ssl_disabled=True, autocommit=None, **words)


def set_init(root, text):
    with root.cursor() as cursor:
        cursor.execute("SET GLOBAL init_connect = %s", [text])


@pytest.mark.parametrize("text, seen", [
    ("SET @a = 5; SET sql_select_limit = 7", "5 NULL 7 1 NULL"),
    ("SELECT 1; SELECT @b := 3; SELECT * FROM opened.logins", "NULL 3 18446744073709551615 1 NULL"),
    ("USE opened", "NULL NULL 18446744073709551615 1 opened"),
    ("SET autocommit = 0", "NULL NULL 18446744073709551615 0 NULL"),
    ("SELECT 'x' + 1 INTO @a;", "1 NULL 18446744073709551615 1 NULL"),
    ("-- nothing but words", "NULL NULL 18446744073709551615 1 NULL"),
    ("INSERT INTO opened.logins VALUES (CONNECTION_ID())", "NULL NULL 18446744073709551615 1 NULL"),
])
def test_it_runs_before_the_first_command(server, root, text, seen):
    set_init(root, text)
    connection = silent(server)
    with connection.cursor() as cursor:
        cursor.execute("SELECT @@warning_count, CONCAT_WS(' ', IFNULL(@a, 'NULL'), IFNULL(@b, 'NULL'), @@sql_select_limit, @@autocommit, "
                       "IFNULL(DATABASE(), 'NULL'))")
        warnings, got = cursor.fetchone()
        assert got == seen
        # Those of its last statement.
        assert warnings == text.startswith("SELECT 'x'")
    if text.startswith("INSERT"):
        assert rows(root, "SELECT id FROM opened.logins") == ((connection.thread_id(),),)
    connection.close()


@pytest.mark.parametrize("text", ["SELECT nope", "SET @x = 1; SELECT nope; INSERT INTO opened.logins VALUES (1)", "SELECT 1 FROM", ";", " ",
                                  "KILL CONNECTION_ID()", "CALL nothing()", "LOAD DATA LOCAL INFILE '/x' INTO TABLE opened.logins",
                                  "INSERT INTO opened.logins VALUES (2); SIGNAL SQLSTATE '45000'"])
@pytest.mark.parametrize("command", ["query", "ping", "database"])
def test_an_error_ends_the_session_at_its_first_command(server, root, text, command):
    set_init(root, text)
    connection = silent(server, database="opened")
    with pytest.raises(pymysql.MySQLError) as raised:
        {"query": lambda: connection.query("SELECT 1"), "ping": lambda: connection.ping(reconnect=False),
         "database": lambda: connection.select_db("opened")}[command]()
    code, message = raised.value.args
    assert code == 1184 and message.startswith(f"Aborted connection {connection.thread_id()} to db: 'opened' user: 'ada' host: '")
    assert message.endswith("' (init_connect command failed)")
    with pytest.raises(pymysql.MySQLError):
        connection.query("SELECT 1")
    wait_until(lambda: value(root, f"SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE id = {connection.thread_id()}") == 0, 20,
               "the connection's end")
    assert value(root, "SELECT COUNT(*) FROM opened.logins WHERE id = 1") == 0


def test_the_error_log_tells_which_statement_failed(server, root):
    set_init(root, "SELECT nope")
    connection = silent(server)
    with pytest.raises(pymysql.MySQLError):
        connection.query("SELECT 1")
    logged = f"Aborted connection {connection.thread_id()} to db: 'unconnected' user: 'ada' host: "
    assert value(root, f"SELECT COUNT(*) FROM performance_schema.error_log WHERE error_code = 'MY-013130' AND data LIKE \"{logged}%"
                       "init_connect command failed; diagnostics area: MY-001054 - Unknown column 'nope' in 'field list')\"") == 1


def test_who_may_always_connect_is_spared(server, root):
    set_init(root, "SELECT nope")
    assert value(server.connect(), "SELECT 1") == 1
    run("GRANT CONNECTION_ADMIN ON *.* TO ada", on=root)
    assert value(silent(server), "SELECT 1") == 1
    run("REVOKE CONNECTION_ADMIN ON *.* FROM ada", on=root)
    assert code_of(silent(server), "SELECT 1") == 1184


def test_a_password_that_has_to_be_changed_comes_first(server, root):
    set_init(root, "SELECT nope")
    run("ALTER USER ada PASSWORD EXPIRE", on=root)
    connection = silent(server, client_flag=1 << 22)
    assert code_of(connection, "SELECT 1") == 1820
    assert value(root, "SELECT COUNT(*) FROM performance_schema.error_log WHERE error_code = 'MY-011273' AND "
                       "data LIKE 'init_connect variable is ignored for user: ada host: % due to expired password.'") >= 1


def test_another_user_of_the_same_connection_is_spared(server, root):
    connection = server.connect()
    set_init(root, "SELECT nope")
    assert value(connection, "SELECT 1") == 1
    connection.close()
    set_init(root, "SET @a = 1")
    connection = silent(server)
    assert value(connection, "SELECT @a") == 1


def test_it_can_be_an_option(start):
    server = start("--init-connect=SET @a = 'from an option'")
    run("CREATE USER ada", on=server.connect())
    assert value(silent(server), "SELECT @a") == "from an option"
