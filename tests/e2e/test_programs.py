"""Stored programs: what the dictionary keeps across kill -9, KILL, clients that take one answer alone, prepared CALLs."""

import threading

import pymysql
import pytest
from pymysql.constants import CLIENT

from harness import code_of, rows, run, value, wait_until


def answers(connection, statement):
    """The rows of each result set."""
    with connection.cursor() as cursor:
        cursor.execute(statement)
        found = []
        while True:
            if cursor.description:
                found.append(cursor.fetchall())
            if not cursor.nextset():
                return found


def test_procedures_outlive_kill_9_and_go_with_their_schema(start):
    server = start()
    with server.connect() as connection:
        run("CREATE DATABASE d", "CREATE PROCEDURE d.p(x INT) COMMENT 'kept' SELECT x + 1", "CREATE DATABASE e",
            "CREATE PROCEDURE e.gone() SELECT 1", "CREATE PROCEDURE d.dropped() SELECT 1", "DROP PROCEDURE d.dropped",
            "ALTER PROCEDURE d.p COMMENT 'altered'", "DROP DATABASE e", on=connection)
    server.kill()
    server.start()
    with server.connect() as connection:
        assert answers(connection, "CALL d.p(41)") == [((42,),)]
        names = rows(connection, "SELECT ROUTINE_NAME, ROUTINE_COMMENT FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA IN ('d', 'e')")
        assert [tuple(r) for r in names] == [("p", "altered")]
    server.stop()
    server.assert_sound()


def test_kill_ends_a_loop_without_statements(server):
    with server.connect() as one, server.connect() as other:
        run("CREATE DATABASE IF NOT EXISTS endless", "DROP PROCEDURE IF EXISTS endless.p",
            "CREATE PROCEDURE endless.p() BEGIN DECLARE CONTINUE HANDLER FOR SQLEXCEPTION BEGIN END; LOOP BEGIN END; END LOOP; END", on=one)
        ended = []
        thread = threading.Thread(target=lambda: ended.append(code_of(one, "CALL endless.p()")))
        thread.start()
        running = f"SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE ID = {one.thread_id()} AND INFO LIKE 'CALL endless%'"
        wait_until(lambda: value(other, running) == 1, 30, "the procedure runs")
        run(f"KILL QUERY {one.thread_id()}", on=other)
        thread.join(60)
        assert ended == [1317]
        assert value(one, "SELECT 1") == 1


def test_a_client_of_one_answer_gets_no_rows_of_procedures(server):
    with server.connect() as connection:
        run("CREATE DATABASE IF NOT EXISTS single", "DROP PROCEDURE IF EXISTS single.p", "DROP PROCEDURE IF EXISTS single.q",
            "CREATE PROCEDURE single.p() SELECT 1", "CREATE PROCEDURE single.q() SET @a = 1", on=connection)
    # PyMySQL takes several answers whatever it is told.
    flags, several = CLIENT.CAPABILITIES, CLIENT.MULTI_RESULTS
    CLIENT.CAPABILITIES, CLIENT.MULTI_RESULTS = flags & ~several, 0
    try:
        with server.connect() as connection:
            assert code_of(connection, "CALL single.p()") == 1312
            run("CALL single.q()", on=connection)
    finally:
        CLIENT.CAPABILITIES, CLIENT.MULTI_RESULTS = flags, several


def test_an_error_amid_rows_ends_them_unless_a_handler_takes_it(server):
    """Without a handler the client gets the error in the place of a row, not rows that look whole."""
    with server.connect() as connection:
        run("DROP DATABASE IF EXISTS amid", "CREATE DATABASE amid", "USE amid", "CREATE TABLE t (a INT PRIMARY KEY)", "INSERT INTO t VALUES (1), (2), (3)",
            on=connection)
        fails = "SELECT a, (SELECT x.a FROM t x WHERE x.a = t.a OR t.a = 3) FROM t ORDER BY a"
        handler = "DECLARE CONTINUE HANDLER FOR SQLEXCEPTION SELECT 'handled'"
        run(f"CREATE PROCEDURE p() {fails}", f"CREATE PROCEDURE h() BEGIN {handler}; {fails}; END",
            f"CREATE PROCEDURE outer_h() BEGIN {handler}; CALL p(); END",
            f"CREATE PROCEDURE later() BEGIN {handler}; DROP TABLE missing; SELECT 'on'; END", on=connection)
        cursor = connection.cursor()
        with pytest.raises(pymysql.err.OperationalError, match="1242"):
            cursor.execute("CALL p()")
        # What was left of that call is not of this one.
        assert answers(connection, "CALL later()") == [(("handled",),), (("on",),)]
        for procedure in ("h", "outer_h"):
            assert answers(connection, f"CALL {procedure}()") == [((1, 1), (2, 2)), (("handled",),)]
        assert value(connection, "SELECT COUNT(*) FROM t") == 3


def test_a_prepared_call_answers_in_binary(server):
    connector = pytest.importorskip("mysql.connector")
    with server.connect() as connection:
        run("CREATE DATABASE IF NOT EXISTS called", "DROP PROCEDURE IF EXISTS called.p",
            "CREATE PROCEDURE called.p(x INT, y VARCHAR(10)) SELECT x, y", on=connection)
    link = connector.connect(host="127.0.0.1", port=server.port, user="root", ssl_disabled=True)
    cursor = link.cursor(prepared=True)
    cursor.execute("CALL called.p(?, ?)", (7, "seven"))
    assert [tuple(r) for r in cursor.fetchall()] == [(7, "seven")]
    link.close()
