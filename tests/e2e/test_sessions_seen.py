"""What performance_schema shows of sessions and accounts: variables, attributes, counts, connections."""

import threading

import pymysql
import pytest
from harness import code_of, rows, run, status, value, wait_until

PS = "performance_schema"


def thread_of(c):
    return value(c, "SELECT CONNECTION_ID()")


def test_variables_of_another_session(start, clearway_only):
    server = start()
    own, other = server.connect(autocommit=True), server.connect(autocommit=True)
    number = thread_of(other)
    of = lambda name: rows(own, f"SELECT VARIABLE_VALUE FROM {PS}.variables_by_thread WHERE THREAD_ID = {number} AND VARIABLE_NAME = '{name}'")
    user = lambda: dict(rows(own, f"SELECT VARIABLE_NAME, VARIABLE_VALUE FROM {PS}.user_variables_by_thread WHERE THREAD_ID = {number}"))
    assert of("sort_buffer_size") == ((str(value(own, "SELECT @@sort_buffer_size")),),)
    run("SET sort_buffer_size = 65536, @a = 1, @b = 'x', @`C d` = NULL, @e = 1.50, @f = x'00ff'", on=other)
    assert of("sort_buffer_size") == (("65536",),)
    assert user() == {"a": b"1", "b": b"x", "C d": None, "e": b"1.50", "f": b"\x00\xff"}
    assert of("max_connections") == (), "it is the server's alone"
    run("SELECT @a := @a + 1 FROM (SELECT 1 UNION ALL SELECT 2) t", on=other)
    assert user()["a"] == b"3"
    # What changes with each statement is the session's own to see.
    assert of("last_insert_id") == () and of("timestamp") == ()
    mine = rows(own, f"SELECT VARIABLE_VALUE FROM {PS}.variables_by_thread WHERE THREAD_ID = {thread_of(own)} AND VARIABLE_NAME = 'pseudo_thread_id'")
    assert mine == ((str(thread_of(own)),),)
    other.close()
    wait_until(lambda: of("sort_buffer_size") == (), 10, "it goes with its session")


def test_variables_are_seen_whole(start, clearway_only):
    server = start()
    own, other = server.connect(autocommit=True), server.connect(autocommit=True)
    number, stop = thread_of(other), threading.Event()

    def change():
        at = 0
        while not stop.is_set():
            at += 1
            run(f"SET @a = {at}, @b = {at}, sort_buffer_size = {32768 + at % 1000}", on=other)

    thread = threading.Thread(target=change)
    thread.start()
    try:
        for _ in range(200):
            seen = [v for (v,) in rows(own, f"SELECT VARIABLE_VALUE FROM {PS}.user_variables_by_thread WHERE THREAD_ID = {number}")]
            assert len(set(seen)) <= 1, seen
    finally:
        stop.set()
        thread.join()


def test_attributes(start, clearway_only):
    server = start("--performance-schema-session-connect-attrs-size=512")
    own = server.connect(autocommit=True, program_name="first")
    run("CREATE USER u", on=own)
    other = server.connect(user="u", program_name="x" * 600)
    of = lambda c, table="session_connect_attrs": dict(
        rows(c, f"SELECT ATTR_NAME, ATTR_VALUE FROM {PS}.{table} WHERE PROCESSLIST_ID = {thread_of(own)} ORDER BY ORDINAL_POSITION"))
    assert of(own)["program_name"] == "first" and of(own)["_client_name"] == "pymysql"
    longest = int(status(own, "Performance_schema_session_connect_attrs_longest_seen"))
    assert longest > 600 and status(own, "Performance_schema_session_connect_attrs_lost") == 1
    attributes = dict(rows(own, f"SELECT ATTR_NAME, ATTR_VALUE FROM {PS}.session_connect_attrs WHERE PROCESSLIST_ID = {thread_of(other)}"))
    assert "program_name" not in attributes and int(attributes["_truncated"]) > 600
    accounts = {n for (n,) in rows(own, f"SELECT DISTINCT PROCESSLIST_ID FROM {PS}.session_account_connect_attrs")}
    assert accounts == {thread_of(own)}


def count(c, table, where, name="Handler_write"):
    found = rows(c, f"SELECT VARIABLE_VALUE FROM {PS}.{table} WHERE {where} AND VARIABLE_NAME = '{name}'")
    return int(found[0][0]) if found else None


def test_counts_outlive_sessions(start, clearway_only):
    server = start()
    own = server.connect(autocommit=True)
    run("CREATE DATABASE d", "CREATE TABLE d.t (a INT PRIMARY KEY)", "CREATE USER u", "GRANT ALL ON d.* TO u", on=own)
    for at in range(3):
        c = server.connect(user="u", autocommit=True)
        run(f"INSERT INTO d.t VALUES ({10 * at}), ({10 * at + 1})", on=c)
        assert count(own, "status_by_thread", f"THREAD_ID = {thread_of(c)}") == 2
        assert count(own, "status_by_user", "USER = 'u'") == 2 * (at + 1)
        c.close()
        wait_until(lambda: value(own, f"SELECT CURRENT_CONNECTIONS FROM {PS}.users WHERE USER = 'u'") == 0, 10, "it goes")
    assert count(own, "status_by_account", "USER = 'u' AND HOST = 'localhost'") == 6
    assert count(own, "status_by_host", "HOST = 'localhost'") >= 6
    assert rows(own, f"SELECT HOST, CURRENT_CONNECTIONS, TOTAL_CONNECTIONS FROM {PS}.accounts WHERE USER = 'u'") == (("localhost", 0, 3),)
    assert value(own, f"SELECT TOTAL_CONNECTIONS FROM {PS}.hosts") >= 4
    run(f"TRUNCATE {PS}.status_by_user", on=own)
    assert count(own, "status_by_user", "USER = 'u'") == 0
    assert count(own, "status_by_account", "USER = 'u'") == 6
    run(f"TRUNCATE {PS}.accounts", on=own)
    assert [row[0] for row in rows(own, f"SELECT USER FROM {PS}.accounts")] == ["root"]
    assert rows(own, f"SELECT USER, TOTAL_CONNECTIONS FROM {PS}.users WHERE USER = 'u'") == (("u", 3),)


def test_truncating_what_threads_count(start, clearway_only):
    server = start()
    own, other = server.connect(autocommit=True), server.connect(autocommit=True)
    run("CREATE DATABASE d", "CREATE TABLE d.t (a INT PRIMARY KEY)", "INSERT INTO d.t VALUES (1), (2), (3)", on=other)
    where = f"THREAD_ID = {thread_of(other)}"
    sum_before = count(own, "status_by_account", "USER = 'root'")
    assert count(own, "status_by_thread", where) == 3
    run(f"TRUNCATE {PS}.status_by_thread", on=own)
    assert count(own, "status_by_thread", where) == 0
    assert count(own, "status_by_account", "USER = 'root'") >= sum_before
    run("INSERT INTO d.t VALUES (4)", on=other)
    assert count(own, "status_by_thread", where) == 1


def test_what_cannot_be_changed(start, clearway_only):
    c = start().connect(autocommit=True)
    for statement in [f"UPDATE {PS}.users SET USER = 'x'", f"DELETE FROM {PS}.status_by_user", f"INSERT INTO {PS}.hosts VALUES ('a', 1, 2, 3, 4)"]:
        assert code_of(c, statement) == 1142, statement


def test_readers_beside_sessions_that_come_and_go(start, clearway_only):
    server = start()
    own = server.connect(autocommit=True)
    stop, wrong = threading.Event(), []

    def come_and_go():
        while not stop.is_set():
            c = server.connect(autocommit=True)
            run("SET @a = 1", "SELECT 1", on=c)
            c.close()

    threads = [threading.Thread(target=come_and_go) for _ in range(3)]
    [t.start() for t in threads]
    before = 0
    try:
        for _ in range(100):
            total = count(own, "status_by_account", "USER = 'root'", "Questions")
            if total < before:
                wrong.append((before, total))
            before = total
            rows(own, f"SELECT * FROM {PS}.user_variables_by_thread")
            rows(own, f"SELECT COUNT(*) FROM {PS}.variables_by_thread")
    finally:
        stop.set()
        [t.join() for t in threads]
    assert not wrong, "counts of an account never fall"
