"""Stored functions and triggers: what kill -9 leaves of them, KILL, what a replica gets, and that no definition comes between a
statement and the tables that its functions use."""

import shutil
import threading

import pymysql
import pytest

from harness import code_of, rows, run, value, wait_until
from test_dump import client
from test_replica import catch_up, follow, pair, same

pytestmark = pytest.mark.usefixtures("clearway_only")

TRUST = "SET GLOBAL log_bin_trust_function_creators = 1"


def test_they_outlive_kill_9_and_go_with_their_tables(start):
    server = start()
    with server.connect() as connection:
        run("CREATE DATABASE d", "USE d", TRUST, "CREATE TABLE t (a INT PRIMARY KEY, b INT)", "CREATE TABLE log (a INT)",
            "CREATE TABLE gone (a INT)", "CREATE TRIGGER bi BEFORE INSERT ON t FOR EACH ROW SET NEW.b = twice(NEW.a)",
            "CREATE TRIGGER ai AFTER INSERT ON t FOR EACH ROW INSERT INTO log VALUES (NEW.b)",
            "CREATE TRIGGER with_gone BEFORE INSERT ON gone FOR EACH ROW SET @a = 1", "DROP TABLE gone",
            "CREATE FUNCTION twice(x INT) RETURNS INT RETURN x * 2", "CREATE FUNCTION dropped() RETURNS INT RETURN 1",
            "DROP FUNCTION dropped", "INSERT INTO t (a) VALUES (1)", on=connection)
    server.kill()
    server.start()
    with server.connect() as connection:
        run("USE d", "INSERT INTO t (a) VALUES (2)", on=connection)
        assert rows(connection, "SELECT * FROM t ORDER BY a") == ((1, 2), (2, 4))
        assert rows(connection, "SELECT * FROM log ORDER BY a") == ((2,), (4,))
        assert rows(connection, "SELECT TRIGGER_NAME FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = 'd' ORDER BY 1") == (("ai",), ("bi",))
        assert code_of(connection, "SELECT dropped()") == 1305
    server.stop()
    server.assert_sound()


def test_a_statement_that_fails_leaves_nothing_of_its_triggers(start):
    server = start()
    with server.connect() as connection:
        run("CREATE DATABASE d", "USE d", TRUST, "CREATE TABLE t (a INT PRIMARY KEY, b INT, UNIQUE (b))",
            "CREATE TABLE log (n INT AUTO_INCREMENT PRIMARY KEY, a INT, KEY (a))",
            "CREATE TRIGGER ai AFTER INSERT ON t FOR EACH ROW INSERT INTO log (a) VALUES (NEW.a)",
            "CREATE TRIGGER bd BEFORE DELETE ON t FOR EACH ROW INSERT INTO log (a) VALUES (-OLD.a)",
            "INSERT INTO t VALUES (1, 1), (2, 2), (3, 3)", on=connection)
        assert code_of(connection, "INSERT INTO t VALUES (4, 4), (5, 5), (6, 1)") == 1062
        run("BEGIN", "DELETE FROM t WHERE a < 3", on=connection)
        assert value(connection, "SELECT COUNT(*) FROM log") == 5
        run("ROLLBACK", on=connection)
        assert rows(connection, "SELECT a FROM log ORDER BY a") == ((1,), (2,), (3,))
        assert value(connection, "SELECT COUNT(*) FROM t") == 3
    server.stop()
    server.assert_sound()


def test_kill_ends_a_function(server):
    with server.connect() as one, server.connect() as other:
        run("CREATE DATABASE IF NOT EXISTS endless", TRUST, "DROP FUNCTION IF EXISTS endless.f",
            "CREATE FUNCTION endless.f() RETURNS INT BEGIN DECLARE CONTINUE HANDLER FOR SQLEXCEPTION BEGIN END; LOOP BEGIN END; END LOOP; RETURN 1; END",
            on=one)
        ended = []
        thread = threading.Thread(target=lambda: ended.append(code_of(one, "SELECT endless.f()")))
        thread.start()
        running = f"SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE ID = {one.thread_id()} AND INFO LIKE 'SELECT endless%'"
        wait_until(lambda: value(other, running) == 1, 30, "the function runs")
        run(f"KILL QUERY {one.thread_id()}", on=other)
        thread.join(60)
        assert ended == [1317]
        assert rows(one, "SELECT 1, CURRENT_USER()") == ((1, "root@localhost"),)


def test_kill_ends_a_function_that_sleeps(server):
    with server.connect() as one, server.connect() as other:
        run("CREATE DATABASE IF NOT EXISTS endless", TRUST, "DROP FUNCTION IF EXISTS endless.sleeps",
            "CREATE FUNCTION endless.sleeps() RETURNS INT BEGIN DO SLEEP(60); RETURN 1; END", on=one)
        ended = []
        thread = threading.Thread(target=lambda: ended.append(code_of(one, "SELECT endless.sleeps()")))
        thread.start()
        sleeps = f"SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE ID = {one.thread_id()} AND STATE = 'User sleep'"
        wait_until(lambda: value(other, sleeps) == 1, 30, "the function sleeps")
        run(f"KILL QUERY {one.thread_id()}", on=other)
        thread.join(60)
        assert ended == [1317]
        run("SET max_execution_time = 200", on=one)
        assert code_of(one, "SELECT endless.sleeps()") == 3024


def test_a_replica_gets_the_rows_of_triggers_and_functions_once(start):
    source, replica = pair(start)
    there, here = source.connect(), replica.connect()
    run("CREATE DATABASE d", "USE d", TRUST, "CREATE TABLE t (a INT PRIMARY KEY, b INT)",
        "CREATE TABLE log (n INT AUTO_INCREMENT PRIMARY KEY, a INT)", "CREATE TABLE deep (n INT AUTO_INCREMENT PRIMARY KEY, a INT)",
        "CREATE TRIGGER bi BEFORE INSERT ON t FOR EACH ROW SET NEW.b = NEW.a * 10",
        "CREATE TRIGGER ai AFTER INSERT ON t FOR EACH ROW INSERT INTO log (a) VALUES (NEW.b)",
        "CREATE TRIGGER au AFTER UPDATE ON t FOR EACH ROW INSERT INTO log (a) VALUES (NEW.b), (OLD.b)",
        "CREATE TRIGGER nested AFTER INSERT ON log FOR EACH ROW INSERT INTO deep (a) VALUES (NEW.a)",
        "CREATE FUNCTION noted(x INT) RETURNS INT BEGIN INSERT INTO log (a) VALUES (x); RETURN x; END", on=there)
    follow(here, source)
    run("INSERT INTO t (a) VALUES (1), (2), (3)", "UPDATE t SET b = b + 1", "SELECT noted(7), noted(8)", "BEGIN", "SELECT noted(9)",
        "INSERT INTO t (a) VALUES (9)", "COMMIT", "BEGIN", "SELECT noted(10)", "ROLLBACK", "DELETE FROM t WHERE a = noted(2) + 0",
        on=there)
    catch_up(here, there)
    same(here, there, "d.t", "d.log", "d.deep")
    assert value(here, "SELECT COUNT(*) FROM d.deep") == value(here, "SELECT COUNT(*) FROM d.log") > 12
    assert rows(here, "SHOW CREATE TRIGGER d.ai")[0][:6] == rows(there, "SHOW CREATE TRIGGER d.ai")[0][:6]
    run("DROP TRIGGER ai", "DROP FUNCTION noted", "INSERT INTO t (a) VALUES (20)", on=there)
    catch_up(here, there)
    same(here, there, "d.t", "d.log", "d.deep")
    assert code_of(here, "SELECT d.noted(1)") == 1305


def test_tables_of_functions_and_triggers_are_pinned(server):
    with server.connect() as one, server.connect() as other:
        run("DROP DATABASE IF EXISTS pinned", "CREATE DATABASE pinned", TRUST, "CREATE TABLE pinned.t (a INT)", "CREATE TABLE pinned.used (a INT)",
            "CREATE TABLE pinned.logged (a INT)", "CREATE FUNCTION pinned.f() RETURNS INT READS SQL DATA RETURN (SELECT COUNT(*) FROM used)",
            "CREATE TRIGGER pinned.ai AFTER INSERT ON pinned.t FOR EACH ROW INSERT INTO logged VALUES (NEW.a)", on=one)
        run("SET lock_wait_timeout = 1", on=other)
        run("BEGIN", "SELECT pinned.f()", on=one)
        assert code_of(other, "ALTER TABLE pinned.used ADD COLUMN b INT") == 1205
        run("COMMIT", "BEGIN", "INSERT INTO pinned.t VALUES (1)", on=one)
        assert code_of(other, "DROP TABLE pinned.logged") == 1205
        run("COMMIT", on=one)
        run("ALTER TABLE pinned.used ADD COLUMN b INT", "DROP TABLE pinned.logged", on=other)
        assert code_of(one, "INSERT INTO pinned.t VALUES (2)") == 1146
        assert value(one, "SELECT pinned.f()") == 0


DUMPED = ["CREATE TABLE t (a INT PRIMARY KEY, b VARCHAR(40), c INT AS (a + 1) STORED)", "CREATE TABLE log (what VARCHAR(80))",
          "CREATE FUNCTION twice(x INT) RETURNS INT DETERMINISTIC COMMENT 'doubles' RETURN x * 2",
          "CREATE FUNCTION finds(k INT) RETURNS VARCHAR(40) READS SQL DATA BEGIN DECLARE r VARCHAR(40); SELECT b INTO r FROM t WHERE a = k; RETURN r; END",
          "CREATE PROCEDURE adds(IN x INT, OUT n INT)\nBEGIN\n  -- with a comment; and a 'quote'\n  INSERT INTO t (a, b) VALUES (x, 'it''s');\n"
          "  SELECT COUNT(*) INTO n FROM t;\nEND",
          "CREATE TRIGGER second BEFORE INSERT ON t FOR EACH ROW SET NEW.b = CONCAT(NEW.b, ' 2')",
          "CREATE TRIGGER first BEFORE INSERT ON t FOR EACH ROW PRECEDES second SET NEW.b = CONCAT(NEW.b, ' 1')",
          "CREATE TRIGGER noted AFTER UPDATE ON t FOR EACH ROW BEGIN IF NEW.a <> OLD.a THEN INSERT INTO log VALUES (CONCAT(OLD.a, '->', NEW.a)); END IF; END",
          "SET sql_mode = 'ANSI_QUOTES'", "CREATE FUNCTION quoted() RETURNS VARCHAR(10) NO SQL RETURN 'x'", "SET sql_mode = DEFAULT",
          "CREATE VIEW v AS SELECT a, twice(a) AS doubled, finds(a) AS r FROM t", "INSERT INTO t (a, b) VALUES (1, 'one')"]


@pytest.mark.skipif(not shutil.which("mariadb-dump"), reason="no mariadb-dump")
def test_dumps_with_routines_and_triggers_load_again(start):
    server = start()
    connection = server.connect()
    run("CREATE DATABASE d", "CREATE DATABASE e", "USE d", TRUST, *DUMPED, on=connection)
    words = ["--skip-comments", "--routines", "--triggers"]
    definitions = client(server, "mariadb-dump", *words, "--no-data", "d")
    assert definitions.count(b"TRIGGER") >= 3 and definitions.count(b" FUNCTION ") >= 3 and definitions.count(b"PROCEDURE `") >= 1
    client(server, "mariadb", "--comments", "e", text=definitions)
    again = client(server, "mariadb-dump", *words, "--no-data", "e")
    assert again.splitlines() == definitions.replace(b"`d`", b"`e`").splitlines()
    run("USE e", "CALL adds(5, @n)", on=connection)
    assert rows(connection, "SELECT a, b, c FROM t") == ((5, "it's 1 2", 6),)
    assert rows(connection, "SELECT * FROM v") == ((5, 10, "it's 1 2"),)


def test_who_makes_a_routine_may_call_and_drop_it(start):
    server = start()
    root = server.connect()
    run("CREATE DATABASE d", TRUST, "CREATE USER maker@'%' IDENTIFIED BY 'maker'", "GRANT CREATE ROUTINE ON d.* TO maker@'%'", on=root)

    def of_maker():
        return pymysql.connect(host=server.host, port=server.port, user="maker", password="maker", database="d", autocommit=True)

    with of_maker() as maker:
        run("CREATE FUNCTION f(x INT) RETURNS INT RETURN x + 1", "CREATE PROCEDURE p() SELECT f(1)", on=maker)
        assert rows(maker, "CALL p()") == ((2,),)
        own = [row[0] for row in rows(maker, "SHOW GRANTS")]
        assert "GRANT EXECUTE, ALTER ROUTINE ON PROCEDURE `d`.`p` TO `maker`@`%`" in own
        assert "GRANT EXECUTE, ALTER ROUTINE ON FUNCTION `d`.`f` TO `maker`@`%`" in own
    run("CREATE FUNCTION d.others() RETURNS INT RETURN 1", on=root)
    server.kill()
    server.start()
    root = server.connect()
    run(TRUST, on=root)
    with of_maker() as maker:
        assert value(maker, "SELECT f(2)") == 3
        assert code_of(maker, "SELECT others()") == 1370
        assert code_of(maker, "DROP FUNCTION others") == 1370
        run("ALTER FUNCTION f COMMENT 'mine'", "DROP FUNCTION f", on=maker)
        assert not [row for row in rows(maker, "SHOW GRANTS") if "`f`" in row[0]]
        run("SET GLOBAL automatic_sp_privileges = 0", on=root)
        run("CREATE FUNCTION f(x INT) RETURNS INT RETURN x + 1", on=maker)
        assert code_of(maker, "SELECT f(2)") == 1370
    server.stop()
    server.assert_sound()


def test_routines_of_who_has_system_user_are_guarded(server):
    root = server.connect()
    run("CREATE DATABASE guarded", TRUST, "CREATE USER keeper@'%' IDENTIFIED BY 'keeper'",
        "CREATE FUNCTION guarded.f() RETURNS INT RETURN 1", "CREATE PROCEDURE guarded.f() SELECT 1",
        "CREATE DEFINER = keeper@'%' FUNCTION guarded.own() RETURNS INT RETURN 2",
        "GRANT ALTER ROUTINE ON FUNCTION guarded.f TO keeper@'%'", "GRANT ALTER ROUTINE ON FUNCTION guarded.own TO keeper@'%'", on=root)
    words = dict(host=server.host, port=server.port, user="keeper", password="keeper", autocommit=True)
    with pymysql.connect(**words) as keeper:
        for refused in ("ALTER FUNCTION guarded.f COMMENT 'x'", "ALTER FUNCTION guarded.f SQL SECURITY INVOKER", "DROP FUNCTION guarded.f"):
            assert code_of(keeper, refused) == 1227
        seen = "SELECT ROUTINE_NAME, ROUTINE_TYPE FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = 'guarded' ORDER BY ROUTINE_NAME"
        assert rows(keeper, seen) == (("f", "FUNCTION"), ("own", "FUNCTION"))
        assert rows(keeper, "SHOW PROCEDURE STATUS WHERE Db = 'guarded'") == ()
        run("ALTER FUNCTION guarded.own COMMENT 'mine'", "DROP FUNCTION guarded.own", on=keeper)
    run("GRANT SYSTEM_USER ON *.* TO keeper@'%'", on=root)
    with pymysql.connect(**words) as keeper:
        run("DROP FUNCTION guarded.f", on=keeper)
    run("DROP DATABASE guarded", "DROP USER keeper@'%'", on=root)


def test_ignore_leaves_out_the_row_whose_trigger_sets_null(server):
    """MySQL drops the rows behind it as well (docs/compatibility.md)."""
    with server.connect() as c:
        run("CREATE DATABASE refusing", TRUST, "CREATE TABLE refusing.t (a INT NOT NULL, b INT)",
            "CREATE TRIGGER refusing.ti BEFORE INSERT ON refusing.t FOR EACH ROW SET NEW.a = NULLIF(NEW.a, 2)",
            "CREATE TRIGGER refusing.tu BEFORE UPDATE ON refusing.t FOR EACH ROW SET NEW.a = NULLIF(NEW.a, 3)", on=c)
        assert run("INSERT IGNORE INTO refusing.t VALUES (1, 1), (2, 2), (3, 3), (4, 4)", on=c) == 3
        assert rows(c, "SHOW WARNINGS") == (("Warning", 1048, "Column 'a' cannot be null"),)
        assert run("UPDATE IGNORE refusing.t SET b = 9", on=c) == 2
        assert rows(c, "SHOW WARNINGS") == (("Warning", 1048, "Column 'a' cannot be null"),)
        assert rows(c, "SELECT * FROM refusing.t ORDER BY a") == ((1, 9), (3, 3), (4, 9))
        run("DROP DATABASE refusing", on=c)


def test_load_data_fires_triggers(start, tmp_path):
    server = start("--local-infile=ON")
    root = server.connect()
    run("CREATE DATABASE d", TRUST, on=root)
    file = tmp_path / "rows.txt"
    file.write_text("1,x\n2,y\n3,\\N\n\\N,z\n")
    with pymysql.connect(host=server.host, port=server.port, user="root", database="d", autocommit=True, local_infile=True) as loader:
        run("CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, a INT NOT NULL, b VARCHAR(20))", "CREATE TABLE log (what VARCHAR(30))",
            "CREATE TRIGGER bi BEFORE INSERT ON t FOR EACH ROW SET NEW.b = CONCAT(IFNULL(NEW.b, 'n'), NEW.a), NEW.a = IFNULL(NEW.a, 5)",
            "CREATE TRIGGER ai AFTER INSERT ON t FOR EACH ROW INSERT INTO log VALUES (CONCAT_WS('-', NEW.id, NEW.a, NEW.b))",
            f"LOAD DATA LOCAL INFILE '{file}' INTO TABLE t FIELDS TERMINATED BY ',' (a, b)",
            f"LOAD DATA LOCAL INFILE '{file}' INTO TABLE t FIELDS TERMINATED BY ',' (@a, b) SET a = @a * 10", on=loader)
        # As MySQL 9.7 has it, but for the ids of the second file, which it leaves a gap before.
        assert rows(loader, "SELECT a, b FROM t ORDER BY id") == (
            (1, "x1"), (2, "y2"), (3, "n3"), (5, None), (10, "x10"), (20, "y20"), (30, "n30"), (5, None))
        assert value(loader, "SELECT GROUP_CONCAT(what ORDER BY what) FROM log") == value(
            loader, "SELECT GROUP_CONCAT(CONCAT_WS('-', id, a, b) ORDER BY CONCAT_WS('-', id, a, b)) FROM t")
        # Before the row is inserted there is no number yet.
        ids = tmp_path / "ids.txt"
        ids.write_text("0\t1\n\\N\t2\n77\t3\n")
        run("CREATE TABLE n (id INT AUTO_INCREMENT PRIMARY KEY, v INT, seen VARCHAR(10))",
            "CREATE TRIGGER n_insert BEFORE INSERT ON n FOR EACH ROW SET NEW.seen = IFNULL(NEW.id, 'null')",
            f"LOAD DATA LOCAL INFILE '{ids}' INTO TABLE n (id, v)", f"LOAD DATA LOCAL INFILE '{ids}' INTO TABLE n (@id, v)", on=loader)
        assert rows(loader, "SELECT v, seen FROM n ORDER BY id") == (
            (1, "0"), (2, "null"), (3, "77"), (1, "0"), (2, "0"), (3, "0"))
        assert value(loader, "SELECT MIN(id) FROM n WHERE seen = '0'") == 1


def test_functions_have_their_definers_roles_and_right_to_files(start, tmp_path):
    """Who may not read files does not read them by way of a function, or a trigger, that somebody else calls who may."""
    secret = tmp_path / "secret"
    secret.write_text("told")
    secret.chmod(0o644)
    server = start("--secure-file-priv=")
    with server.connect() as root:
        run("CREATE DATABASE d", "CREATE USER plain", "CREATE USER reader", "CREATE ROLE r, s", "GRANT r TO plain", "GRANT ALL ON d.* TO plain, reader, r",
            "GRANT FILE ON *.* TO reader", "SET DEFAULT ROLE r TO plain", "GRANT s TO root@localhost", "SET ROLE s", "USE d", "CREATE TABLE t (a INT, b TEXT)",
            f"CREATE DEFINER = plain FUNCTION f() RETURNS TEXT NO SQL RETURN LOAD_FILE('{secret}')",
            f"CREATE DEFINER = reader FUNCTION g() RETURNS TEXT NO SQL RETURN LOAD_FILE('{secret}')",
            f"CREATE DEFINER = plain TRIGGER i BEFORE INSERT ON t FOR EACH ROW SET NEW.b = CONCAT_WS(':', CURRENT_ROLE(), LOAD_FILE('{secret}'))",
            "CREATE DEFINER = plain FUNCTION w() RETURNS TEXT NO SQL RETURN CURRENT_ROLE()",
            "CREATE FUNCTION own() RETURNS TEXT NO SQL SQL SECURITY INVOKER RETURN CURRENT_ROLE()", on=root)
        assert rows(root, "SELECT f(), g(), w(), own(), CURRENT_ROLE()") == ((None, "told", "`r`@`%`", "`s`@`%`", "`s`@`%`"),)
        run("INSERT INTO t (a) VALUES (1), (2)", on=root)
        assert rows(root, "SELECT b FROM t") == (("`r`@`%`",), ("`r`@`%`",))
        assert rows(root, "SELECT CURRENT_ROLE(), LOAD_FILE(%s)", [str(secret)]) == (("`s`@`%`", b"told"),)
        with server.connect(user="plain", database="d") as plain:
            assert rows(plain, "SELECT f(), g(), CURRENT_ROLE()") == ((None, "told", "`r`@`%`"),)
            assert value(plain, "SELECT g() IS NULL OR LOAD_FILE(%s) IS NULL", [str(secret)]) == 1
