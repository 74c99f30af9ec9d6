"""A panic ends one statement. Development builds panic on request (CLEARWAY_PANICS)."""

import re

import pymysql
import pytest

from harness import rows, run, value, wait_until

PANICKED = "Clearway_statements_panicked"


@pytest.fixture
def server(start, kind, monkeypatch):
    if kind != "clearway":
        pytest.skip("Clearway's own")
    monkeypatch.setenv("CLEARWAY_PANICS", "1")
    return start()


def test_a_panic_ends_the_statement_alone(server):
    a, b = server.connect(), server.connect()
    run("CREATE DATABASE d", "USE d", "CREATE TABLE t (id INT PRIMARY KEY)", "INSERT INTO t VALUES (1)", on=a)
    run("SET @kept = 7", "CREATE TEMPORARY TABLE own (a INT)", "BEGIN", "INSERT INTO t VALUES (2)", on=a)
    run("USE d", "BEGIN", "INSERT INTO t VALUES (3)", on=b)
    with pytest.raises(pymysql.MySQLError) as raised:
        rows(a, "SELECT 'secret' /* panic */ FROM t")
    number, message = raised.value.args
    assert number == 1815
    reference = re.search(r"\(reference ([0-9a-f]+-\d+)\)", message)[1]
    # The session goes on, without the transaction.
    assert rows(a, "SELECT id FROM t") == ((1,),)
    assert value(a, "SELECT @kept") == 7
    run("INSERT INTO own VALUES (1)", "INSERT INTO t VALUES (2)", on=a)
    # Others do not notice.
    run("COMMIT", on=b)
    assert rows(b, "SELECT id FROM t ORDER BY id") == ((1,), (2,), (3,))
    assert dict(rows(b, f"SHOW GLOBAL STATUS LIKE '{PANICKED}'")) == {PANICKED: "1"}
    # Locks of the table are given back.
    run("ALTER TABLE t ADD COLUMN x INT", on=b)
    log = server.log_text()
    assert reference in log and "the statement asked for it" in log and "provoke" in log
    assert "SELECT ?" in log and "secret" not in log, "the digest, without values"


def test_a_panic_under_hints_leaves_no_variable_behind(server):
    a = server.connect()
    before = value(a, "SELECT @@sort_buffer_size")
    with pytest.raises(pymysql.MySQLError):
        rows(a, "SELECT /*+ SET_VAR(sort_buffer_size = 65536) MAX_EXECUTION_TIME(100) */ 1 /* panic */")
    assert value(a, "SELECT @@sort_buffer_size") == before
    assert value(a, "SELECT SLEEP(0.3)") == 0, "no deadline is left"


def test_a_panic_in_a_function_leaves_nothing_of_its_own_behind(server):
    a = server.connect()
    run("SET GLOBAL log_bin_trust_function_creators = 1", "CREATE DATABASE panics", "CREATE DATABASE d", "CREATE USER definer@localhost",
        "GRANT EXECUTE ON *.* TO definer@localhost", "SET sql_mode = 'ANSI_QUOTES'", "USE d", on=a)
    run("CREATE DEFINER = definer@localhost FUNCTION panics.f() RETURNS INT RETURN 1", "SET sql_mode = DEFAULT",
        "CREATE DEFINER = definer@localhost FUNCTION g() RETURNS INT RETURN 1 + panics.f()", "CREATE FUNCTION h() RETURNS INT RETURN 2", on=a)
    around = "SELECT DATABASE(), CURRENT_USER(), @@sql_mode"
    before = rows(a, around)
    for call in ("panics.f()", "g()"):
        with pytest.raises(pymysql.MySQLError) as raised:
            rows(a, f"SELECT {call}")
        assert raised.value.args[0] == 1815
        assert rows(a, around) == before
        assert value(a, "SELECT h()") == 2


def test_a_panic_with_a_lock_held_ends_the_process(server):
    a = server.connect()
    run("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)", "INSERT INTO d.t VALUES (1)", on=a)
    with pytest.raises((pymysql.MySQLError, OSError)):
        rows(a, "SELECT 1 /* panic locked */")
    wait_until(lambda: server.process.poll() is not None, 20, "the server goes on")
    assert "with a lock or latch held; aborting" in server.log_text()
    server.start()
    assert rows(server.connect(), "SELECT * FROM d.t") == ((1,),)
