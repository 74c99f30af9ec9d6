"""Stored programs: what the dictionary keeps across kill -9, KILL, clients that take one answer alone, prepared CALLs."""

import struct
import threading

import pymysql
import pytest
import wire
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


def given_back(address, capabilities):
    """What COM_STMT_EXECUTE of a CALL answers: status of the row's two ends, the row's values, status of the OK."""
    client = wire.Client(*address, capabilities)
    client.query("CREATE DATABASE IF NOT EXISTS called")
    client.query("DROP PROCEDURE IF EXISTS called.back")
    client.query("CREATE PROCEDURE called.back(OUT x INT, INOUT y VARCHAR(10), z INT) SET x = z + 1, y = CONCAT(y, '!')")
    client.command(b"\x16CALL called.back(?, ?, ?)")
    prepared = client.read()
    statement, columns, parameters = struct.unpack("<xIHH", prepared[:9])
    assert (columns, parameters) == (0, 3)
    for _ in range(parameters + 1):
        client.read()
    values = struct.pack("<q", 0) + b"\x02hi" + struct.pack("<q", 6)
    client.command(struct.pack("<BIBI", 0x17, statement, 0, 1) + b"\0\1" + struct.pack("<HHH", 8, 253, 8) + values)
    first = client.read()
    assert first == b"\x02"
    for _ in range(2):
        client.read()
    ends = [struct.unpack("<xHH", client.read())[1]]
    row = client.read()
    ends.append(struct.unpack("<xHH", client.read())[1])
    last = client.read()
    client.close()
    return ends, row, last


def test_parameters_come_back_in_a_row_of_their_own(server):
    """SERVER_PS_OUT_PARAMS and SERVER_MORE_RESULTS_EXISTS at both ends of the row, an OK behind it; EXECUTE gives them to its variables."""
    ends, row, last = given_back((server.host, server.port), wire.PS_MULTI_RESULTS)
    assert [end & 0x1008 for end in ends] == [0x1008, 0x1008]
    # A binary row: no NULL among two columns, 7, 'hi!'.
    assert row == b"\0\0" + struct.pack("<i", 7) + b"\x03hi!"
    assert last[0] == 0 and not struct.unpack("<H", last[3:5])[0] & 0x1008
    with server.connect() as connection:
        run("PREPARE s FROM 'CALL called.back(?, ?, 1)'", "SET @b = 'x'", "EXECUTE s USING @a, @b", on=connection)
        assert answers(connection, "SELECT @a, @b") == [((2, "x!"),)]
