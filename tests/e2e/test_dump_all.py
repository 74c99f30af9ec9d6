"""All databases, `mysql` among them, dumped from Clearway and loaded again: the accounts are the same, and so is the next dump."""

import shutil

import pytest

from harness import code_of, rows, run, value
from test_dump import client

pytestmark = pytest.mark.skipif(not shutil.which("mariadb-dump"), reason="no mariadb-dump")

DUMP = ["--all-databases", "--skip-comments", "--skip-dump-date", "--order-by-primary", "--routines", "--events", "--hex-blob"]

ACCOUNTS = """
    CREATE DATABASE shop;
    CREATE TABLE shop.t (id INT PRIMARY KEY, a INT, b INT) COMMENT 'rows';
    INSERT INTO shop.t VALUES (1, 2, 3), (4, 5, 6);
    CREATE PROCEDURE shop.p() SELECT 1;
    CREATE FUNCTION shop.f(x INT) RETURNS INT DETERMINISTIC RETURN x + 1;
    CREATE VIEW shop.v AS SELECT id, a FROM shop.t;
    CREATE USER plain@localhost IDENTIFIED BY 'secret';
    CREATE USER 'sha'@'10.0.0.0/255.0.0.0' IDENTIFIED WITH sha256_password BY 'other' REQUIRE SSL;
    CREATE USER 'a b'@'%' IDENTIFIED BY 'x' REQUIRE SUBJECT '/CN=a' AND ISSUER '/CN=b' WITH MAX_QUERIES_PER_HOUR 10
        MAX_USER_CONNECTIONS 3 PASSWORD EXPIRE INTERVAL 30 DAY PASSWORD HISTORY 3 PASSWORD REUSE INTERVAL 5 DAY
        PASSWORD REQUIRE CURRENT OPTIONAL FAILED_LOGIN_ATTEMPTS 4 PASSWORD_LOCK_TIME UNBOUNDED ACCOUNT LOCK ATTRIBUTE '{"k": [1, "two"]}';
    CREATE USER old@'%' IDENTIFIED BY 'one' PASSWORD HISTORY 2;
    ALTER USER old@'%' IDENTIFIED BY 'two' RETAIN CURRENT PASSWORD;
    ALTER USER old@'%' PASSWORD EXPIRE;
    CREATE ROLE reader, 'writer'@'localhost';
    GRANT SELECT ON shop.* TO reader;
    GRANT INSERT, UPDATE (a, b), SELECT (id) ON shop.t TO writer@localhost WITH GRANT OPTION;
    GRANT SELECT (a) ON shop.v TO plain@localhost;
    GRANT reader, writer@localhost TO plain@localhost WITH ADMIN OPTION;
    SET DEFAULT ROLE reader TO plain@localhost;
    GRANT EXECUTE, ALTER ROUTINE ON PROCEDURE shop.p TO plain@localhost;
    GRANT EXECUTE ON FUNCTION shop.f TO plain@localhost WITH GRANT OPTION;
    GRANT SHOW DATABASES, REPLICATION SLAVE, LOCK TABLES, CREATE TEMPORARY TABLES, CREATE ROLE ON *.* TO 'a b'@'%' WITH GRANT OPTION;
    GRANT BACKUP_ADMIN ON *.* TO 'a b'@'%';
    GRANT SYSTEM_VARIABLES_ADMIN ON *.* TO 'a b'@'%' WITH GRANT OPTION;
    GRANT PROXY ON plain@localhost TO 'a b'@'%' WITH GRANT OPTION;
    GRANT CREATE, DROP, EVENT, TRIGGER, SHOW VIEW ON `s\\_p%`.* TO old@'%';
    SET GLOBAL partial_revokes = ON;
    GRANT SELECT, INSERT ON *.* TO old@'%';
    REVOKE INSERT ON shop.* FROM old@'%';
    CREATE SERVER far FOREIGN DATA WRAPPER mysql OPTIONS (HOST 'h', DATABASE 'd', USER 'u', PASSWORD 'p', PORT 3307, OWNER 'o');
    CREATE TABLE mysql.own (id INT PRIMARY KEY);
    INSERT INTO mysql.own VALUES (7);
"""

TOLD = ["user", "db", "tables_priv", "columns_priv", "procs_priv", "global_grants", "role_edges", "default_roles", "proxies_priv",
        "password_history", "servers"]


def told(server):
    """All that a server says of its accounts."""
    connection = server.connect()
    names = rows(connection, "SELECT user, host FROM mysql.user ORDER BY 1, 2")
    all_of = [(name, rows(connection, f"SHOW GRANTS FOR `{name[0]}`@`{name[1]}`"), rows(connection, f"SHOW CREATE USER `{name[0]}`@`{name[1]}`"))
              for name in names]
    tables = [sorted(map(repr, rows(connection, f"SELECT * FROM mysql.{table}"))) for table in TOLD]
    return all_of, tables


@pytest.fixture
def filled(start, clearway_only):
    server = start()
    client(server, "mariadb", text=ACCOUNTS.encode())
    return server


def test_accounts_come_back(filled, start):
    before, first = told(filled), client(filled, "mariadb-dump", *DUMP)
    assert b"CREATE TABLE `user`" in first and b"INSERT INTO `user`" in first
    other = start()
    client(other, "mariadb", "--comments", text=first)
    connection = other.connect()
    # As in MySQL the tables are one thing, and what holds another.
    assert code_of(connection, "SHOW GRANTS FOR reader") == 1141
    assert value(connection, "SELECT COUNT(*) FROM mysql.user WHERE user = 'reader'") == 1
    run("FLUSH PRIVILEGES", on=connection)
    assert told(other) == before
    assert value(connection, "SELECT a FROM shop.t WHERE id = 4") == 5 and value(connection, "SELECT id FROM mysql.own") == 7
    assert client(other, "mariadb-dump", *DUMP) == first
    plain = other.connect(user="plain", password="secret")
    assert rows(plain, "SELECT shop.f(1)") == ((2,),)
    # Kept, too, and GRANT goes on from there.
    run("GRANT DELETE ON shop.* TO reader", on=connection)
    other.kill()
    other.start()
    grants = [grant for (grant,) in rows(other.connect(), "SHOW GRANTS FOR reader")]
    assert "GRANT SELECT, DELETE ON `shop`.* TO `reader`@`%`" in grants


def test_loaded_where_it_came_from(filled):
    before, first = told(filled), client(filled, "mariadb-dump", *DUMP)
    for _ in range(2):
        client(filled, "mariadb", "--comments", text=first)
        client(filled, "mariadb", "-e", "FLUSH PRIVILEGES")
        assert told(filled) == before
        assert client(filled, "mariadb-dump", *DUMP) == first


def test_what_a_dump_of_mysql_says_beside(filled):
    """The words of MySQL's dump around its own tables: a tablespace, keys that are switched off, statistics."""
    connection, before = filled.connect(), told(filled)
    run("SET GLOBAL innodb_stats_auto_recalc = OFF", on=connection)
    run("CREATE TABLE IF NOT EXISTS mysql.innodb_table_stats (id INT) /*!50100 TABLESPACE `mysql` */", on=connection)
    run("ALTER TABLE mysql.innodb_table_stats DISABLE KEYS", on=connection)
    assert rows(connection, "SHOW WARNINGS")[0][1] == 1031
    statistics = "INTO mysql.innodb_table_stats VALUES ('d', 't', '2026-11-28 11:46:11', 6, 1, 0), ('d', 'u', '2026-11-28 11:46:11', 6, 1, 0)"
    run(f"INSERT IGNORE {statistics}", on=connection)
    assert [code for (_, code, _) in rows(connection, "SHOW WARNINGS")] == [3554, 3554]
    assert code_of(connection, f"INSERT {statistics}") == 3554
    run("DROP TABLE IF EXISTS mysql.role_edges", on=connection)
    assert code_of(connection, "CREATE TABLE mysql.own_edges (id INT) /*!50100 TABLESPACE `mysql` */") == 3723
    run("CREATE TABLE mysql.role_edges (FROM_HOST CHAR(255), FROM_USER CHAR(32), TO_HOST CHAR(255), TO_USER CHAR(32), WITH_ADMIN_OPTION "
        "ENUM('N', 'Y'), PRIMARY KEY (FROM_HOST, FROM_USER, TO_HOST, TO_USER)) /*!50100 TABLESPACE `mysql` */ ENGINE=InnoDB", on=connection)
    run("INSERT INTO mysql.role_edges SELECT '%', 'reader', 'localhost', 'plain', 'Y'", on=connection)
    run("INSERT INTO mysql.role_edges VALUES ('localhost', 'writer', 'localhost', 'plain', 'Y')", "FLUSH PRIVILEGES", on=connection)
    assert told(filled) == before
    run("SET GLOBAL innodb_stats_auto_recalc = DEFAULT", on=connection)


def test_tables_that_tell_of_no_accounts(filled):
    """Nothing is taken over of what cannot be read, and after a start a table that was only dropped is there again."""
    connection, before = filled.connect(), told(filled)
    run("DROP TABLE mysql.user", "CREATE TABLE mysql.user (host CHAR(10), user CHAR(10))", on=connection)
    assert code_of(connection, "FLUSH PRIVILEGES") == 1728
    assert code_of(connection, "SELECT plugin FROM mysql.user") == 1054
    run("DROP TABLE mysql.user", on=connection)
    assert code_of(connection, "SELECT * FROM mysql.user") == 1146
    run("FLUSH PRIVILEGES", on=connection)
    assert told(filled) == before
    run("DROP TABLE mysql.db, mysql.help_topic", on=connection)
    filled.kill()
    filled.start()
    assert told(filled) == before
