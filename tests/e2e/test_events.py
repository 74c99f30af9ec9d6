"""Events: runs, their account and settings, KILL, kill -9 around a time, what the scheduler shows, replicas, dumps."""

import os
import re
import shlex
import shutil
import subprocess

import pytest
from harness import code_of, rows, run, value, wait_until
from test_dump import client
from test_replica import catch_up, follow, pair

pytestmark = pytest.mark.usefixtures("clearway_only")

SECONDS = 30
NAMES = "SELECT EVENT_NAME FROM information_schema.EVENTS WHERE EVENT_SCHEMA = 'd' ORDER BY EVENT_NAME"
RUNS = "SELECT ID FROM information_schema.PROCESSLIST WHERE COMMAND = 'Connect' AND INFO LIKE '%SLEEP(%'"
DAEMON = "SELECT COMMAND, STATE, HOST, DB FROM information_schema.PROCESSLIST WHERE USER = 'event_scheduler'"


def state(connection, name, what="STATUS"):
    found = rows(connection, f"SELECT {what} FROM information_schema.EVENTS WHERE EVENT_SCHEMA = 'd' AND EVENT_NAME = '{name}'")
    return found[0][0] if found else None


def prepare(connection):
    run("CREATE DATABASE d", "USE d", "CREATE TABLE t (n INT AUTO_INCREMENT PRIMARY KEY, a VARCHAR(500))", on=connection)


def said(connection):
    return [a for (a,) in rows(connection, "SELECT a FROM d.t ORDER BY n")]


def test_one_time_events_run_once_and_go_or_stay_disabled(start):
    server = start()
    with server.connect() as connection:
        prepare(connection)
        run("CREATE EVENT goes ON SCHEDULE AT NOW() DO INSERT INTO t (a) VALUES ('goes')",
            "CREATE EVENT stays ON SCHEDULE AT NOW() ON COMPLETION PRESERVE DO INSERT INTO t (a) VALUES ('stays')",
            "CREATE EVENT fails ON SCHEDULE AT NOW() DO INSERT INTO nosuch VALUES (1)",
            "CREATE EVENT later ON SCHEDULE AT NOW() + INTERVAL 1 DAY DO INSERT INTO t (a) VALUES ('later')",
            "CREATE EVENT disabled ON SCHEDULE AT NOW() DISABLE DO INSERT INTO t (a) VALUES ('disabled')", on=connection)
        wait_until(lambda: rows(connection, NAMES) == (("disabled",), ("later",), ("stays",)), SECONDS, "two events are gone")
        wait_until(lambda: sorted(said(connection)) == ["goes", "stays"], SECONDS, "two events ran")
        assert state(connection, "stays") == "DISABLED"
        assert state(connection, "stays", "LAST_EXECUTED IS NOT NULL") == 1
        assert state(connection, "later") == "ENABLED"
        # It runs again when it is enabled again.
        run("ALTER EVENT stays ENABLE", on=connection)
        wait_until(lambda: sorted(said(connection)) == ["goes", "stays", "stays"], SECONDS, "the event ran again")
        run("ALTER EVENT later ON SCHEDULE AT NOW()", on=connection)
        wait_until(lambda: "later" in said(connection), SECONDS, "what was to come later is due")
        run("ALTER EVENT disabled ENABLE", on=connection)
        wait_until(lambda: "disabled" in said(connection), SECONDS, "what was disabled ran")
        wait_until(lambda: rows(connection, NAMES) == (("stays",),), SECONDS, "they are gone")
    assert "[d.fails] Table 'd.nosuch' doesn't exist" in server.log_text()
    server.stop()
    server.assert_sound()


def test_an_event_recurs_until_its_end(server):
    with server.connect() as connection:
        prepare(connection)
        run("CREATE EVENT e ON SCHEDULE EVERY 1 SECOND ENDS NOW() + INTERVAL 2 SECOND ON COMPLETION PRESERVE "
            "DO INSERT INTO t (a) VALUES (NOW())", on=connection)
        version = value(connection, "SELECT VARIABLE_VALUE FROM performance_schema.global_status WHERE VARIABLE_NAME = 'Com_create_event'")
        assert int(version) >= 1
        wait_until(lambda: state(connection, "e") == "DISABLED", SECONDS, "the event is over")
        times = said(connection)
        assert 2 <= len(times) <= 3 and len(set(times)) == len(times), times
        run("DROP EVENT e", on=connection)
        # With its schema it goes, too.
        run("CREATE EVENT e ON SCHEDULE EVERY 1 SECOND DO INSERT INTO d.t (a) VALUES ('x')", "DROP DATABASE d", on=connection)
        assert rows(connection, NAMES) == ()


def test_a_run_is_its_definers_with_the_settings_of_the_definition(server):
    with server.connect() as connection:
        prepare(connection)
        run("CREATE USER of_events IDENTIFIED BY ''", "GRANT EVENT, INSERT ON d.* TO of_events", "SET time_zone = '+05:00', sql_mode = 'ANSI_QUOTES'",
            "SET NAMES latin1 COLLATE latin1_bin",
            'CREATE DEFINER = of_events EVENT e ON SCHEDULE AT NOW() DO INSERT INTO "t" (a) SELECT CONCAT_WS(\' \', USER(), CURRENT_USER(), '
            "DATABASE(), @@time_zone, @@sql_mode, @@character_set_client, @@collation_connection, @@autocommit)", on=connection)
        wait_until(lambda: said(connection), SECONDS, "the event ran")
        assert said(connection) == ["event_scheduler@localhost of_events@% d +05:00 ANSI_QUOTES latin1 latin1_bin 1"]
        run("SET sql_mode = DEFAULT", "DELETE FROM t",
            "CREATE DEFINER = of_events EVENT refused ON SCHEDULE AT NOW() ON COMPLETION PRESERVE DO DELETE FROM t", on=connection)
        wait_until(lambda: state(connection, "refused") == "DISABLED", SECONDS, "the event ran")
        wait_until(lambda: "[of_events@%][d.refused] DELETE command denied to user 'of_events'@'%' for table 't'" in server.log_text(),
                   SECONDS, "the log has what it may not")
        run("REVOKE EVENT ON d.* FROM of_events",
            "CREATE DEFINER = of_events EVENT lost ON SCHEDULE AT NOW() DO INSERT INTO t (a) VALUES ('lost')",
            "CREATE DEFINER = nobody@localhost EVENT orphan ON SCHEDULE AT NOW() DO INSERT INTO t (a) VALUES ('orphan')", on=connection)
        wait_until(lambda: state(connection, "orphan") == state(connection, "lost") == "DISABLED", SECONDS, "both are disabled")
        for text in ["[MY-010448] [Server] Event Scheduler: [of_events@%].[d.lost] execution failed, user no longer has EVENT privilege.",
                     "[of_events@%][d.lost] Access denied for user 'of_events'@'%' to database 'd'",
                     "[MY-010447] [Server] Event Scheduler: [nobody@localhost].[d.orphan] execution failed, failed to authenticate the user.",
                     "[nobody@localhost][d.orphan] The user specified as a definer ('nobody'@'localhost') does not exist"]:
            wait_until(lambda: text in server.log_text(), SECONDS, text)
        assert said(connection) == []
        run("DROP DATABASE d", "DROP USER of_events", on=connection)


def test_warnings_errors_rows_and_open_transactions_of_a_run(server):
    with server.connect() as connection:
        prepare(connection)
        run("CREATE EVENT warns ON SCHEDULE AT NOW() DO BEGIN SELECT * FROM t; SHOW TABLES; "
            "SIGNAL SQLSTATE '01234' SET MESSAGE_TEXT = 'mind'; END",
            "CREATE EVENT opens ON SCHEDULE AT NOW() DO BEGIN INSERT INTO t (a) VALUES ('kept'); START TRANSACTION; "
            "INSERT INTO t (a) VALUES ('lost'); END",
            "CREATE EVENT handles ON SCHEDULE AT NOW() DO BEGIN DECLARE i INT DEFAULT 0; "
            "DECLARE EXIT HANDLER FOR SQLEXCEPTION INSERT INTO t (a) VALUES (CONCAT('handled ', i)); "
            "WHILE i < 3 DO SET i = i + 1; END WHILE; SELECT * FROM nosuch; END",
            "CREATE EVENT defines ON SCHEDULE AT NOW() DO CREATE TABLE made (a INT)", on=connection)
        wait_until(lambda: rows(connection, NAMES) == (), SECONDS, "all ran")
        assert sorted(said(connection)) == ["handled 3", "kept"]
        assert rows(connection, "SHOW TABLES LIKE 'made'") == (("made",),)
        assert "[Warning] [MY-010045] [Server] Event Scheduler: [root@localhost][d.warns] mind" in server.log_text()
        run("DROP DATABASE d", on=connection)


def test_runs_beside_each_other_kill_and_what_the_scheduler_shows(server):
    with server.connect() as connection:
        prepare(connection)
        assert rows(connection, DAEMON) == (("Daemon", "Waiting on empty queue", "localhost", None),)
        run("CREATE EVENT e ON SCHEDULE EVERY 1 SECOND DO DO SLEEP(1000)", on=connection)
        wait_until(lambda: len(rows(connection, RUNS)) >= 2, SECONDS, "a second run begins beside the first one")
        assert rows(connection, DAEMON) == (("Daemon", "Waiting for next activation", "localhost", None),)
        threads = rows(connection, "SELECT NAME, COUNT(*) FROM performance_schema.threads WHERE NAME LIKE '%event%' GROUP BY NAME ORDER BY NAME")
        assert [name for name, _ in threads] == ["thread/sql/event_scheduler", "thread/sql/event_worker"]
        run("DROP EVENT e", on=connection)
        runs = rows(connection, RUNS)
        assert len(runs) >= 2, "they outlive their event"
        assert rows(connection, f"SELECT USER, HOST, DB FROM information_schema.PROCESSLIST WHERE ID = {runs[0][0]}") == (("root", "localhost", "d"),)
        run(f"KILL {runs[0][0]}", f"KILL QUERY {runs[1][0]}", *(f"KILL {n}" for (n,) in runs[2:]), on=connection)
        wait_until(lambda: rows(connection, RUNS) == (), SECONDS, "all runs have ended")
        daemon = value(connection, "SELECT ID FROM information_schema.PROCESSLIST WHERE USER = 'event_scheduler'")
        assert code_of(connection, f"KILL {daemon}") == 1094
        run("CREATE EVENT e ON SCHEDULE AT NOW() DO DO SLEEP(1000)", on=connection)
        wait_until(lambda: rows(connection, RUNS), SECONDS, "it runs")
        run(f"KILL {rows(connection, RUNS)[0][0]}", on=connection)
        wait_until(lambda: rows(connection, NAMES) == (), SECONDS, "as in MySQL, a killed event goes")
        run("CREATE EVENT e ON SCHEDULE AT NOW() DO DO SLEEP(1000)", on=connection)
        wait_until(lambda: rows(connection, RUNS), SECONDS, "it runs")
        run("SET GLOBAL event_scheduler = OFF", on=connection)
        assert rows(connection, DAEMON) == () and len(rows(connection, RUNS)) == 1
        run("CREATE EVENT waits ON SCHEDULE AT NOW() DO INSERT INTO t (a) VALUES ('waits')", on=connection)
        assert said(connection) == []
        run("SET GLOBAL event_scheduler = ON", on=connection)
        wait_until(lambda: said(connection) == ["waits"], SECONDS, "what was due meanwhile runs")
        run("DROP DATABASE d", *(f"KILL {n}" for (n,) in rows(connection, RUNS)), on=connection)


def test_a_scheduler_that_is_disabled_stays_so(start):
    server = start("--event-scheduler=DISABLED")
    with server.connect() as connection:
        prepare(connection)
        assert value(connection, "SELECT @@event_scheduler") == "DISABLED"
        assert rows(connection, DAEMON) == ()
        for text in ["SET GLOBAL event_scheduler = ON", "SET GLOBAL event_scheduler = DEFAULT", "SET PERSIST event_scheduler = OFF"]:
            assert code_of(connection, text) == 1290, text
        assert code_of(connection, "SET GLOBAL event_scheduler = DISABLED") == 1231
        run("CREATE EVENT e ON SCHEDULE EVERY 1 SECOND DO INSERT INTO t (a) VALUES (1)", "ALTER EVENT e DISABLE", "DROP EVENT e", on=connection)


def test_the_end_of_the_server_ends_runs(start):
    server = start()
    with server.connect() as connection:
        prepare(connection)
        run("CREATE EVENT sleeps ON SCHEDULE AT NOW() DO BEGIN START TRANSACTION; INSERT INTO t (a) VALUES ('lost'); DO SLEEP(1000); END",
            "CREATE EVENT spins ON SCHEDULE AT NOW() DO BEGIN DECLARE i INT DEFAULT 1; WHILE i DO SET i = 1; END WHILE; END",
            "CREATE TABLE locked (a INT PRIMARY KEY)", "INSERT INTO locked VALUES (1)", "BEGIN", "UPDATE locked SET a = 2", on=connection)
        with server.connect() as other:
            run("CREATE EVENT d.waits ON SCHEDULE AT NOW() DO UPDATE locked SET a = 3", on=other)
            running = "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE COMMAND = 'Connect'"
            wait_until(lambda: value(other, running) == 3, SECONDS, "all three run")
        # What is locked stays so until they have ended.
        server.stop()
    server.assert_sound()
    server.start()
    with server.connect() as connection:
        assert said(connection) == [] and value(connection, "SELECT a FROM d.locked") == 1
        # As in MySQL, what has run went, however it ended.
        assert rows(connection, NAMES) == ()


@pytest.mark.parametrize("number", range(6))
def test_kill_9_around_a_time_neither_loses_nor_doubles_an_event(start, number):
    """Events are due while the server is killed: each has run once, or not yet, or its run has ended with the server."""
    server = start("--innodb-flush-log-at-trx-commit=1")
    with server.connect() as connection:
        prepare(connection)
        for i in range(40):
            preserve = "PRESERVE" if i % 2 else "NOT PRESERVE"
            run(f"CREATE EVENT e{i} ON SCHEDULE AT NOW() + INTERVAL 1 SECOND ON COMPLETION {preserve} DO INSERT INTO t (a) VALUES ('{i}')", on=connection)
        wait_until(lambda: len(said(connection)) >= number * 5, SECONDS, "some have run")
    server.kill()
    server.start()
    with server.connect() as connection:
        enabled = "SELECT COUNT(*) FROM information_schema.EVENTS WHERE STATUS = 'ENABLED'"
        wait_until(lambda: value(connection, enabled) == 0, SECONDS, "what was due has begun")
        begun = "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE COMMAND = 'Connect'"
        wait_until(lambda: value(connection, begun) == 0, SECONDS, "and ended")
        ran = said(connection)
        assert len(set(ran)) == len(ran), "one ran twice"
        left = {name for (name,) in rows(connection, NAMES)}
        for i in range(40):
            if str(i) not in ran:
                # Its run was noted, and ended by the kill: the event is there, and says so.
                assert f"e{i}" in left and state(connection, f"e{i}", "LAST_EXECUTED IS NOT NULL") == 1, i
            elif i % 2:
                assert f"e{i}" in left, i
    server.stop()
    server.assert_sound()


def test_what_was_missed_while_the_server_was_down(start):
    server = start()
    with server.connect() as connection:
        prepare(connection)
        run("SET GLOBAL event_scheduler = OFF",
            "CREATE EVENT once ON SCHEDULE AT NOW() DO INSERT INTO t (a) VALUES ('once')",
            "CREATE EVENT is_over ON SCHEDULE EVERY 1 SECOND ENDS NOW() + INTERVAL 1 SECOND DO INSERT INTO t (a) VALUES ('is_over')",
            "CREATE EVENT kept ON SCHEDULE EVERY 1 SECOND ENDS NOW() + INTERVAL 1 SECOND ON COMPLETION PRESERVE DO INSERT INTO t (a) VALUES ('kept')",
            "CREATE EVENT daily ON SCHEDULE EVERY 1 DAY STARTS '2020-01-01 00:00:00' DO INSERT INTO t (a) VALUES ('daily')",
            on=connection)
        over = "SELECT COUNT(*) FROM information_schema.EVENTS WHERE ENDS < NOW()"
        wait_until(lambda: value(connection, over) == 2, SECONDS, "their times are over")
    server.kill()
    server.start()
    with server.connect() as connection:
        wait_until(lambda: rows(connection, NAMES) == (("daily",), ("kept",)), SECONDS, "two are gone")
        assert said(connection) == ["once"]
        assert state(connection, "kept") == "DISABLED" and state(connection, "daily") == "ENABLED"
    server.stop()
    server.assert_sound()


def test_last_executed_outlives_restarts_and_definitions(start):
    server = start()
    with server.connect() as connection:
        prepare(connection)
        run("CREATE EVENT e ON SCHEDULE EVERY 1 DAY DO INSERT INTO t (a) VALUES ('x')", on=connection)
        wait_until(lambda: said(connection) == ["x"], SECONDS, "it ran")
        last = state(connection, "e", "LAST_EXECUTED")
        run("ALTER EVENT e COMMENT 'c'", on=connection)
        assert state(connection, "e", "LAST_EXECUTED") == last
    server.kill()
    server.start()
    with server.connect() as connection:
        assert state(connection, "e", "LAST_EXECUTED") == last and state(connection, "e", "EVENT_COMMENT") == "c"
        run("ALTER EVENT d.e RENAME TO d.f", on=connection)
        assert state(connection, "f", "LAST_EXECUTED") == last
        run("DROP EVENT d.f", "CREATE EVENT d.f ON SCHEDULE EVERY 1 DAY STARTS '2040-01-01' DO DO 1", on=connection)
        assert state(connection, "f", "LAST_EXECUTED") is None
    server.kill()
    server.start()
    with server.connect() as connection:
        assert state(connection, "f", "LAST_EXECUTED") is None


def test_a_run_makes_no_new_version_of_the_dictionary(server):
    """A statement that is prepared keeps its plan while events run."""
    with server.connect() as connection:
        prepare(connection)
        version = "SELECT VARIABLE_VALUE FROM performance_schema.global_status WHERE VARIABLE_NAME = 'Com_stmt_reprepare'"
        run("CREATE EVENT e ON SCHEDULE EVERY 1 SECOND DO DO 1", "PREPARE s FROM 'SELECT COUNT(*) FROM t'", "EXECUTE s", on=connection)
        before = value(connection, version)
        last = state(connection, "e", "LAST_EXECUTED")

        def ran():
            run("EXECUTE s", on=connection)
            return state(connection, "e", "LAST_EXECUTED") not in (None, last)

        wait_until(ran, SECONDS, "it ran once more")
        assert value(connection, version) == before
        run("DROP DATABASE d", on=connection)


def test_none_runs_on_a_replica(start):
    source, replica = pair(start)
    with source.connect() as there, replica.connect() as here:
        prepare(there)
        follow(here, source)
        run("CREATE EVENT recurs ON SCHEDULE EVERY 1 SECOND DO INSERT INTO t (a) VALUES (@@server_id)",
            "CREATE USER of_events", "GRANT ALL ON d.* TO of_events", "SET time_zone = '+02:00'",
            "CREATE DEFINER = of_events EVENT once ON SCHEDULE AT '2040-01-01 00:00:00' ON COMPLETION PRESERVE COMMENT 'c' DO INSERT INTO t (a) VALUES (1)",
            "CREATE EVENT is_disabled ON SCHEDULE EVERY 1 DAY DISABLE DO DO 1",
            "CREATE EVENT gone ON SCHEDULE AT NOW() DO INSERT INTO t (a) VALUES ('gone')", on=there)
        wait_until(lambda: len(said(there)) >= 3, SECONDS, "they run at the source")
        wait_until(lambda: state(there, "gone") is None, SECONDS, "and one is gone")
        run("ALTER EVENT is_disabled ENABLE", "DROP EVENT recurs", on=there)
        wait_until(lambda: rows(there, "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE COMMAND = 'Connect'") == ((0,),), SECONDS, "no run")
        catch_up(here, there)
        assert said(here) == said(there), "what ran there came as rows"
        shown = ("SELECT EVENT_NAME, DEFINER, TIME_ZONE, EVENT_DEFINITION, EXECUTE_AT, ON_COMPLETION, EVENT_COMMENT, ORIGINATOR, STATUS "
                 "FROM information_schema.EVENTS ORDER BY EVENT_NAME")
        theirs, ours = rows(there, shown), rows(here, shown)
        assert [row[:-1] for row in ours] == [row[:-1] for row in theirs]
        assert [row[-1] for row in theirs] == ["ENABLED", "ENABLED"]
        assert [row[-1] for row in ours] == ["REPLICA_SIDE_DISABLED", "REPLICA_SIDE_DISABLED"]
        log = [row[5] for row in rows(there, "SHOW BINLOG EVENTS IN 'binlog.000001'") if "EVENT" in row[5]]
        assert any(text.startswith("use `d`; CREATE DEFINER=`root`@`localhost` EVENT recurs ON SCHEDULE EVERY 1 SECOND") for text in log), log
        assert any("DROP EVENT IF EXISTS`d`.`gone`" in text for text in log), log


def mysqldump():
    """That of a MySQL server, with the words that it takes to start it, in $MYSQLDUMP."""
    return shlex.split(os.environ.get("MYSQLDUMP", ""))


@pytest.mark.parametrize("program", ["mariadb-dump", "mysqldump"])
def test_a_dump_loads_and_dumps_the_same(start, program):
    command = [shutil.which("mariadb-dump")] if program == "mariadb-dump" else mysqldump()
    if not command or not command[0]:
        pytest.skip(f"no {program}")
    server = start()

    def dump(name):
        words = ["--no-defaults", f"--socket={server.socket}", "--user=root", "--events", "--routines", "--skip-comments", "--skip-dump-date", name]
        if program == "mysqldump":
            words.insert(1, "--skip-opt")
        done = subprocess.run([*command, *words], capture_output=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    with server.connect() as connection:
        prepare(connection)
        run("SET time_zone = '+04:00'",
            "CREATE EVENT e1 ON SCHEDULE EVERY '1:30' HOUR_MINUTE STARTS '2040-01-01' ENDS '2041-01-01' ON COMPLETION PRESERVE DISABLE COMMENT 'it''s\\n' DO SELECT 'ü'",
            "CREATE DEFINER = nobody@localhost EVENT e2 ON SCHEDULE AT '2040-01-01' DO BEGIN DECLARE x INT; SET x = 1; SELECT x; END",
            "SET time_zone = 'SYSTEM', sql_mode = 'ANSI_QUOTES'", "SET NAMES latin1",
            'CREATE EVENT "e 3" ON SCHEDULE EVERY 1 MONTH STARTS \'2040-01-01\' DISABLE ON REPLICA DO SELECT 1 AS "x"',
            "SET NAMES utf8mb4", "SET sql_mode = DEFAULT", on=connection)
        text = dump("d")
        assert len(re.findall(rb"EVENT [`\"]e[123 ]", text)) >= 3, text
        shown = "SELECT * FROM information_schema.EVENTS WHERE EVENT_SCHEMA = '%s' ORDER BY EVENT_NAME"
        before = rows(connection, shown % "d")
        run("CREATE DATABASE again", on=connection)
        client(server, "mariadb", "again", text=text)
        assert dump("again") == text
        kept = [i for i in range(24) if i not in (1, 16, 17)]
        assert [[row[i] for i in kept] for row in rows(connection, shown % "again")] == [[row[i] for i in kept] for row in before]
