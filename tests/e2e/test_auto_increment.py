"""AUTO_INCREMENT between connections and over restarts, with innodb_autoinc_lock_mode = 2; innodb_rollback_on_timeout."""

import threading

import pymysql
import pytest

from harness import rows, run, value


def test_concurrent_multi_row_inserts_get_values_in_a_row(server, db, database):
    """Each simple INSERT takes its values at once: no other's lie between them. No value twice."""
    run("CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, who INT, n INT)", on=db)
    sessions, statements, rows_each = 6, 40, 7
    firsts, failures = {}, []

    def insert(who):
        try:
            connection = server.connect(database=database)
            for n in range(statements):
                values = ", ".join(f"({who}, {n})" for _ in range(rows_each))
                run(f"INSERT INTO t (who, n) VALUES {values}", on=connection)
                firsts[who, n] = value(connection, "SELECT LAST_INSERT_ID()")
            connection.close()
        except Exception as error:  # noqa: BLE001: told below
            failures.append(error)

    threads = [threading.Thread(target=insert, args=(who,)) for who in range(sessions)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures
    found = rows(db, "SELECT who, n, MIN(id), MAX(id), COUNT(*) FROM t GROUP BY who, n")
    assert len(found) == sessions * statements
    for who, n, low, high, count in found:
        assert (low, high, count) == (firsts[who, n], low + rows_each - 1, rows_each)
    assert value(db, "SELECT COUNT(DISTINCT id) FROM t") == sessions * statements * rows_each


def test_an_insert_select_does_not_hold_others_up(server, db, database):
    """Mode 2: no table lock. While INSERT ... SELECT runs, here in a transaction that is open, others insert, and its values have gaps."""
    run("CREATE TABLE s (v INT)", "INSERT INTO s VALUES (1), (2), (3), (4), (5)",
        "CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, v INT)", on=db)
    other = server.connect(database=database)
    run("BEGIN", "INSERT INTO t (v) SELECT v FROM s", on=db)
    first = value(db, "SELECT LAST_INSERT_ID()")
    run("SET innodb_lock_wait_timeout = 1", "INSERT INTO t (v) VALUES (100), (101)", on=other)
    taken = value(other, "SELECT LAST_INSERT_ID()")
    # 1 + 2 + 4 values were reserved for five rows.
    assert (first, taken) == (1, 8)
    run("ROLLBACK", on=db)
    assert rows(db, "SELECT id FROM t ORDER BY id") == ((8,), (9,))
    # LAST_INSERT_ID() is the session's own, and stays after a rollback.
    assert value(db, "SELECT LAST_INSERT_ID()") == 1


def test_values_after_a_restart(start):
    server = start()
    connection = server.connect()
    run("CREATE DATABASE d", "CREATE TABLE d.t (id INT AUTO_INCREMENT PRIMARY KEY, v INT)",
        "INSERT INTO d.t (v) VALUES (1), (2), (3)", "DELETE FROM d.t WHERE id = 3", on=connection)
    connection.begin()
    run("INSERT INTO d.t (v) VALUES (4), (5)", on=connection)
    connection.rollback()
    assert server.stop() == 0
    server.start()
    connection = server.connect()
    # Neither the deleted value nor those that were rolled back come again, and a clean stop leaves no gap.
    run("INSERT INTO d.t (v) VALUES (6)", on=connection)
    assert value(connection, "SELECT LAST_INSERT_ID()") == 6
    server.kill()
    server.start()
    connection = server.connect()
    run("INSERT INTO d.t (v) VALUES (7)", on=connection)
    # After a crash there may be a gap, never a value twice.
    assert value(connection, "SELECT LAST_INSERT_ID()") >= 7
    ids = [i for (i,) in rows(connection, "SELECT id FROM d.t")]
    assert len(ids) == len(set(ids)) == 4


def wait_for_a_row(start, *options):
    """A transaction with a change of its own runs into the timeout of a row lock; what it may still see of itself."""
    server = start("--innodb_lock_wait_timeout=1", *options)
    holder, waiter = server.connect(), server.connect()
    run("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, v INT)", "INSERT INTO d.t VALUES (1, 1), (2, 2)",
        "BEGIN", "UPDATE d.t SET v = 10 WHERE id = 1", on=holder)
    run("BEGIN", "UPDATE d.t SET v = 20 WHERE id = 2", "SAVEPOINT s", on=waiter)
    with pytest.raises(pymysql.MySQLError) as raised:
        run("UPDATE d.t SET v = 30 WHERE id = 1", on=waiter)
    assert raised.value.args[0] == 1205
    seen = value(waiter, "SELECT v FROM d.t WHERE id = 2")
    # Is the row free for others?
    run("SET innodb_lock_wait_timeout = 1", on=holder)
    try:
        run("UPDATE d.t SET v = 40 WHERE id = 2", on=holder)
        free = True
    except pymysql.MySQLError as error:
        assert error.args[0] == 1205
        free = False
    setting = value(holder, "SELECT @@innodb_rollback_on_timeout")
    return seen, free, setting


def test_a_timeout_ends_the_statement_alone(start):
    assert wait_for_a_row(start) == (20, False, 0)


def test_a_timeout_ends_the_transaction_where_the_option_says_so(start):
    assert wait_for_a_row(start, "--innodb_rollback_on_timeout=ON") == (2, True, 1)
