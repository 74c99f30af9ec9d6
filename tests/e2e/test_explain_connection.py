"""EXPLAIN FOR CONNECTION: the plan of what another session is at."""

import threading

import pymysql
import pytest

from harness import rows, run, value, wait_until


def number_of(error):
    return error.value.args[0]


def test_a_statement_that_waits(server, db, database):
    """An UPDATE that waits for a row lock, as text and as a prepared statement; the watcher is in no schema."""
    run("CREATE TABLE t (id INT PRIMARY KEY, a INT)", "INSERT INTO t VALUES (1, 1), (2, 2)", on=db)
    holder, watcher = server.connect(database=database), server.connect()
    run("BEGIN", "UPDATE t SET a = 5 WHERE id = 1", on=holder)
    for statement in ("UPDATE t SET a = 6 WHERE id = 1", "EXECUTE s"):
        waiter = server.connect(database=database)
        run("PREPARE s FROM 'UPDATE t SET a = 7 WHERE id = 1'", on=waiter)
        connection = value(waiter, "SELECT CONNECTION_ID()")
        assert not rows(watcher, f"EXPLAIN FOR CONNECTION {connection}")
        thread = threading.Thread(target=run, args=(statement,), kwargs={"on": waiter})
        thread.start()
        waits = "SELECT COUNT(*) FROM information_schema.INNODB_TRX WHERE trx_state = 'LOCK WAIT'"
        wait_until(lambda: value(watcher, waits) == 1, 30, "nobody waits")
        # Of a prepared statement, the text that was prepared.
        plan = rows(watcher, f"EXPLAIN FORMAT=TRADITIONAL FOR CONNECTION {connection}")
        assert [(row[1], row[2], row[4]) for row in plan] == [("UPDATE", "t", "range")]
        run("COMMIT", on=holder)
        thread.join()
        run("BEGIN", "UPDATE t SET a = 5 WHERE id = 1", on=holder)
    run("ROLLBACK", on=holder)


def test_what_has_no_plan(server, db):
    own = value(db, "SELECT CONNECTION_ID()")
    with pytest.raises(pymysql.MySQLError) as error:
        rows(db, f"EXPLAIN FOR CONNECTION {own}")
    assert number_of(error) == 3012
    with pytest.raises(pymysql.MySQLError) as error:
        rows(db, "EXPLAIN FOR CONNECTION 99999999")
    assert number_of(error) == 1094
