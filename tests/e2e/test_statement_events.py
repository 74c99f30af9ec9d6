"""Statements, transactions and stages in performance_schema: what they tell, whose sums they are, and that reading them stops nobody
and never shows half of one."""

import threading

import mysql.connector
import pymysql
import pytest

HISTORY = ("SELECT EVENT_NAME, SQL_TEXT, CURRENT_SCHEMA, MYSQL_ERRNO, RETURNED_SQLSTATE, ERRORS, ROWS_AFFECTED, ROWS_SENT "
           "FROM performance_schema.events_statements_history WHERE THREAD_ID = %s ORDER BY EVENT_ID")


def rows(cursor, statement, *values):
    cursor.execute(statement, values or None)
    return [tuple(row) for row in cursor.fetchall()]


@pytest.fixture
def watched(start):
    """A server, a cursor that watches, and one whose session is watched, with its id."""
    server = start()
    with server.connect(autocommit=True) as watcher, server.connect(autocommit=True) as other:
        with watcher.cursor() as watching, other.cursor() as working:
            working.execute("CREATE DATABASE d")
            working.execute("USE d")
            working.execute("CREATE TABLE t (a INT PRIMARY KEY, b INT)")
            working.execute("INSERT INTO t VALUES (1, 1), (2, 2), (3, 3)")
            yield server, watching, working, other.thread_id()


def test_the_last_ten_statements_are_told(watched):
    _, watching, working, thread = watched
    for at in range(9):
        working.execute(f"SELECT {at}")
    with pytest.raises(pymysql.err.IntegrityError):
        working.execute("INSERT INTO t VALUES (1, 9)")
    history = rows(watching, HISTORY, thread)
    assert len(history) == 10
    assert history[0] == ("statement/sql/select", "SELECT 0", "d", 0, None, 0, 0, 1)
    assert history[-1] == ("statement/sql/insert", "INSERT INTO t VALUES (1, 9)", "d", 1062, "23000", 1, 0, 0)
    working.execute("UPDATE t SET b = b + 1 WHERE a > 1")
    assert rows(watching, HISTORY, thread)[-1][-4:] == ("00000", 0, 2, 0)


def test_a_running_statement_is_current(watched):
    _, watching, working, thread = watched
    worker = threading.Thread(target=working.execute, args=("SELECT SLEEP(3)",))
    worker.start()
    current = []
    while not current:
        current = rows(watching, "SELECT SQL_TEXT, END_EVENT_ID, EVENT_NAME FROM performance_schema.events_statements_current "
                                 "WHERE THREAD_ID = %s AND END_EVENT_ID IS NULL", thread)
    assert current == [("SELECT SLEEP(3)", None, "statement/sql/select")]
    watching.execute("KILL QUERY %s", (thread,))
    worker.join()
    wait = rows(watching, "SELECT END_EVENT_ID IS NOT NULL, TIMER_WAIT BETWEEN 1 AND 3e12 FROM "
                          "performance_schema.events_statements_current WHERE THREAD_ID = %s", thread)
    assert wait == [(1, 1)]


def test_no_password_is_shown(watched):
    _, watching, working, thread = watched
    for statement in ("CREATE USER u IDENTIFIED BY 'geheim1'", "ALTER USER u IDENTIFIED BY 'geheim2'",
                      "SET PASSWORD FOR u = 'geheim3'", "CREATE USER u IDENTIFIED BY 'geheim4' WITH NONSENSE",
                      "PREPARE s FROM 'ALTER USER u IDENTIFIED BY ''geheim5'''", "EXECUTE s", "DROP USER u"):
        try:
            working.execute(statement)
        except pymysql.err.ProgrammingError:
            pass
    history = rows(watching, HISTORY, thread)
    assert len(history) == 10
    assert "geheim" not in str(history)
    assert "geheim" not in str(rows(watching, "SELECT * FROM performance_schema.events_statements_summary_by_digest"))


def test_prepared_statements_keep_their_text_in_each_schema(watched):
    server, watching, _, _ = watched
    connection = mysql.connector.connect(host=server.host, port=server.port, user="root", autocommit=True)
    with connection, connection.cursor(prepared=True) as cursor:
        thread = connection.connection_id
        for schema in ("d", "d", "sys", "d"):
            connection.cmd_init_db(schema)
            for value in (1, 3):
                cursor.execute("SELECT b FROM d.t WHERE a = %s", (value,))
                assert cursor.fetchall() == [(value,)]
        history = rows(watching, HISTORY, thread)
        executed = [row for row in history if row[0] == "statement/com/Execute"]
        assert {row[1] for row in executed} == {"SELECT b FROM d.t WHERE a = ?"}
        assert [row[2] for row in executed][-4:] == ["sys", "sys", "d", "d"] or len(executed) < 4
        assert executed[-1] == ("statement/com/Execute", "SELECT b FROM d.t WHERE a = ?", "d", 0, None, 0, 0, 1)


def test_sums_of_a_session_become_its_accounts(watched):
    server, watching, working, _ = watched
    working.execute("CREATE USER summed")
    count = ("SELECT COUNT_STAR FROM performance_schema.events_statements_summary_by_{}_by_event_name "
             "WHERE EVENT_NAME = 'statement/sql/do' AND {}")
    by_account = count.format("account", "USER = 'summed'")
    with server.connect(user="summed", autocommit=True) as connection, connection.cursor() as cursor:
        for _ in range(5):
            cursor.execute("DO 1")
        assert rows(watching, count.format("thread", f"THREAD_ID = {connection.thread_id()}")) == [(5,)]
        assert rows(watching, by_account) == [(5,)]
    while rows(watching, "SELECT 1 FROM information_schema.PROCESSLIST WHERE USER = 'summed'"):
        pass
    assert rows(watching, by_account) == [(5,)]
    assert rows(watching, count.format("user", "USER = 'summed'")) == [(5,)]
    everybody = "SELECT COUNT_STAR FROM performance_schema.events_statements_summary_global_by_event_name WHERE EVENT_NAME = 'statement/sql/do'"
    assert rows(watching, everybody) == [(5,)]


def test_transactions_are_told_with_their_savepoints(watched):
    _, watching, working, thread = watched
    for statement in ("START TRANSACTION", "SAVEPOINT s", "INSERT INTO t VALUES (7, 7)", "ROLLBACK TO s", "RELEASE SAVEPOINT s",
                      "COMMIT", "START TRANSACTION READ ONLY", "SELECT * FROM t", "ROLLBACK",
                      "DELETE FROM t WHERE a = 3"):
        working.execute(statement)
    told = rows(watching, "SELECT STATE, ACCESS_MODE, ISOLATION_LEVEL, AUTOCOMMIT, NUMBER_OF_SAVEPOINTS, "
                          "NUMBER_OF_ROLLBACK_TO_SAVEPOINT, NUMBER_OF_RELEASE_SAVEPOINT, TIMER_WAIT > 0 "
                          "FROM performance_schema.events_transactions_history WHERE THREAD_ID = %s ORDER BY EVENT_ID", thread)
    level = "REPEATABLE READ"
    assert told[-3:] == [("COMMITTED", "READ WRITE", level, "NO", 1, 1, 1, 1), ("ROLLED BACK", "READ ONLY", level, "NO", 0, 0, 0, 1),
                         ("COMMITTED", "READ WRITE", level, "YES", 0, 0, 0, 1)]
    working.execute("BEGIN")
    assert rows(watching, "SELECT STATE, END_EVENT_ID FROM performance_schema.events_transactions_current WHERE THREAD_ID = %s",
                thread) == [("ACTIVE", None)]


def test_readers_under_load_see_whole_events(watched):
    """Each session's text says what its figures must be; sums never fall short of what was answered."""
    server, watching, _, _ = watched
    over, failures, done = threading.Event(), [], [0] * 4

    def work(at):
        try:
            with server.connect(autocommit=True) as connection, connection.cursor() as cursor:
                while not over.is_set():
                    count = done[at] % 3 + 1
                    cursor.execute(f"SELECT a /* {'x' * (done[at] % 700)} */ FROM d.t WHERE a <= {count}")
                    done[at] += 1
        except Exception as failure:
            failures.append(failure)

    workers = [threading.Thread(target=work, args=(at,)) for at in range(len(done))]
    [worker.start() for worker in workers]
    try:
        seen = 0
        while seen < 3000 and not failures:
            answered = sum(done)
            for text, sent, schema in rows(watching, "SELECT SQL_TEXT, ROWS_SENT, CURRENT_SCHEMA FROM performance_schema.events_statements_history "
                                                     "WHERE SQL_TEXT LIKE 'SELECT a /%'"):
                assert text.endswith(f"a <= {sent}") and schema is None
                seen += 1
            counted = rows(watching, "SELECT SUM(COUNT_STAR) FROM performance_schema.events_statements_summary_by_thread_by_event_name "
                                     "WHERE EVENT_NAME = 'statement/sql/select'")
            assert counted[0][0] >= answered
    finally:
        over.set()
        [worker.join() for worker in workers]
    assert not failures


def test_statements_of_procedures_are_within_the_call(watched):
    _, watching, working, thread = watched
    working.execute("CREATE PROCEDURE inner_one() INSERT INTO t VALUES (9, 9)")
    working.execute("CREATE PROCEDURE p(n INT) BEGIN CALL inner_one(); DELETE FROM t WHERE a = 9; SELECT nothing FROM t; END")
    with pytest.raises(pymysql.err.OperationalError):
        working.execute("CALL p(1)")
    told = rows(watching, "SELECT EVENT_ID, EVENT_NAME, SQL_TEXT, OBJECT_TYPE, OBJECT_SCHEMA, OBJECT_NAME, NESTING_EVENT_ID, NESTING_EVENT_LEVEL, "
                          "ROWS_AFFECTED, MYSQL_ERRNO, END_EVENT_ID >= EVENT_ID FROM performance_schema.events_statements_history "
                          "WHERE THREAD_ID = %s ORDER BY EVENT_ID DESC LIMIT 5", thread)[::-1]
    call = told[0][0]
    inner = told[1][0]
    of_p = ("PROCEDURE", "d", "p")
    assert [row[1:] for row in told] == [
        ("statement/sql/call_procedure", "CALL p(1)", None, None, None, None, 0, 0, 1054, 1),
        ("statement/sp/stmt", "CALL inner_one()", *of_p, call, 1, 1, 0, 1),
        ("statement/sp/stmt", "INSERT INTO t VALUES (9, 9)", "PROCEDURE", "d", "inner_one", inner, 2, 1, 0, 1),
        ("statement/sp/stmt", "DELETE FROM t WHERE a = 9", *of_p, call, 1, 1, 0, 1),
        ("statement/sp/stmt", "SELECT nothing FROM t", *of_p, call, 1, 0, 1054, 1)]


def test_figures_of_a_statement_are_its_own(watched):
    """Of one that was not collected none is left to the next one, and a procedure's statement has all of its own."""
    _, watching, working, thread = watched
    select = "UPDATE performance_schema.setup_instruments SET ENABLED = %s WHERE NAME = 'statement/sql/select'"
    watching.execute(select, ("NO",))
    working.execute("SELECT * FROM t ORDER BY b")
    watching.execute(select, ("YES",))
    working.execute("SELECT b FROM t WHERE a = 1")
    figures = ("SELECT SQL_TEXT, SELECT_SCAN, SORT_ROWS, ROWS_SENT FROM performance_schema.events_statements_history "
               "WHERE THREAD_ID = %s ORDER BY EVENT_ID DESC LIMIT 1")
    assert rows(watching, figures, thread) == [("SELECT b FROM t WHERE a = 1", 0, 0, 1)]
    working.execute("CREATE PROCEDURE sorts() SELECT * FROM t ORDER BY b")
    working.execute("CALL sorts()")
    while working.nextset():
        pass
    nested = "SELECT SELECT_SCAN, SORT_ROWS, ROWS_SENT FROM performance_schema.events_statements_history WHERE SQL_TEXT LIKE 'SELECT * FROM t ORDER%%' AND THREAD_ID = %s"
    assert rows(watching, nested, thread) == [(1, 3, 3)]


def test_no_command_is_left_running(watched):
    server, watching, _, _ = watched
    connection = mysql.connector.connect(host=server.host, port=server.port, user="root")
    with connection:
        connection.cmd_change_user(username="root")
        last = ("SELECT EVENT_NAME, END_EVENT_ID IS NULL FROM performance_schema.events_statements_history WHERE THREAD_ID = %s "
                "AND EVENT_NAME = 'statement/com/Change user'")
        assert rows(watching, last, connection.connection_id) == [("statement/com/Change user", 0)]
        running = "SELECT COUNT(*) FROM performance_schema.events_statements_current WHERE THREAD_ID = %s AND END_EVENT_ID IS NULL"
        assert rows(watching, running, connection.connection_id) == [(0,)]


def test_processor_time_is_told_on_demand(watched):
    _, watching, working, thread = watched
    consumer = "UPDATE performance_schema.setup_consumers SET ENABLED = %s WHERE NAME = 'events_statements_cpu'"
    told = ("SELECT CPU_TIME, TIMER_WAIT FROM performance_schema.events_statements_history WHERE THREAD_ID = %s "
            "ORDER BY EVENT_ID DESC LIMIT 1")
    for enabled, is_told in (("YES", True), ("NO", False)):
        watching.execute(consumer, (enabled,))
        working.execute("SELECT BENCHMARK(300000, MD5('a'))")
        working.fetchall()
        (used, took), = rows(watching, told, thread)
        assert (used > 0) == is_told and used <= 1.1 * took
    summed = "SELECT SUM_CPU_TIME FROM performance_schema.events_statements_summary_by_digest WHERE DIGEST_TEXT LIKE '%%BENCHMARK%%'"
    assert rows(watching, summed)[0][0] > 0
