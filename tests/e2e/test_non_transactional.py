"""Tables of engine MyISAM where two sessions meet or the server ends: what a statement changed stays, and statements that write one table run
one after the other."""

import threading

import pymysql
import pytest

from harness import rows, run, status, value, wait_until
from test_metadata_locks import others, until_row_wait  # noqa: F401

pytestmark = pytest.mark.usefixtures("clearway_only")


@pytest.fixture
def table(db):
    run("CREATE TABLE m (a INT PRIMARY KEY, b INT, KEY (b)) ENGINE=MyISAM", on=db)
    run("INSERT INTO m VALUES (1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (6, 6), (7, 7), (8, 8)", on=db)
    run("CREATE TABLE i (a INT PRIMARY KEY, b INT)", "INSERT INTO i VALUES (1, 1), (2, 2), (3, 3)", on=db)
    return db


def state(db, other):
    return value(db, f"SELECT state FROM information_schema.processlist WHERE id = {other.id}")


def test_statements_over_both_kinds(table):
    """Here, and not in a golden script, since newer servers warn of them."""
    run("BEGIN", "UPDATE m, i SET m.b = m.b + 100, i.b = i.b + 100 WHERE m.a = i.a", on=table)
    run("UPDATE m SET b = b + (SELECT SUM(b) FROM i) WHERE a IN (SELECT a + 5 FROM i WHERE b > 100)", on=table)
    assert rows(table, "SELECT * FROM i WHERE b IN (SELECT b FROM m)") == ((1, 101), (2, 102), (3, 103))
    run("ROLLBACK", on=table)
    assert rows(table, "SHOW WARNINGS")[0][1] == 1196
    assert rows(table, "SELECT * FROM i") == ((1, 1), (2, 2), (3, 3))
    assert [b for (b,) in rows(table, "SELECT b FROM m ORDER BY a")] == [101, 102, 103, 4, 5, 312, 313, 314]
    run("BEGIN", "DELETE FROM i WHERE a IN (SELECT a FROM m WHERE b > 101)", on=table)
    run("INSERT INTO i SELECT a, b FROM m WHERE a > 5 OR a = (SELECT MIN(a) + 1 FROM i)", on=table)
    assert rows(table, "SELECT * FROM i") == ((1, 1), (2, 102), (6, 312), (7, 313), (8, 314))
    run("ROLLBACK", on=table)
    assert rows(table, "SELECT * FROM i") == ((1, 1), (2, 2), (3, 3))


def test_writers_wait_for_each_other_and_readers_do_not(table, others):  # noqa: F811
    slow, second = others(), others()
    first = slow.start("UPDATE m SET b = b + 1 + SLEEP(0.2)")
    wait_until(lambda: state(table, slow) == "User sleep", 30, "the first statement does not run")
    waiting = second.start("UPDATE m SET b = b * 10 WHERE a = 8")
    wait_until(lambda: state(table, second) == "Waiting for table level lock", 30, "the second statement does not wait")
    assert value(table, "SELECT SUM(b) FROM m") == 36
    assert first.result(30) == waiting.result(30) == ()
    assert value(table, "SELECT b FROM m WHERE a = 8") == 90


def test_create_select_waits_for_writers(table, others):  # noqa: F811
    slow, second = others(), others()
    first = slow.start("UPDATE m SET b = b + 1 + SLEEP(0.1) ORDER BY a DESC")
    wait_until(lambda: state(table, slow) == "User sleep", 30, "the first statement does not run")
    waiting = second.start("CREATE TABLE copy SELECT * FROM m")
    wait_until(lambda: state(table, second) == "Waiting for table level lock", 30, "CREATE TABLE ... SELECT does not wait")
    assert first.result(30) == waiting.result(30) == ()
    assert value(table, "SELECT SUM(b) FROM copy") == 44


def test_kill_keeps_what_was_changed(table, others):  # noqa: F811
    slow, second = others(), others()
    first = slow.start("UPDATE m SET b = b + 100 + SLEEP(0.2) ORDER BY a")
    wait_until(lambda: state(table, slow) == "User sleep", 30, "the first statement does not run")
    waiting = second.start("DELETE FROM m")
    wait_until(lambda: state(table, second) == "Waiting for table level lock", 30, "the second statement does not wait")
    run(f"KILL QUERY {second.id}", on=table)
    assert waiting.result(30) == 1317
    threading.Event().wait(0.5)
    run(f"KILL QUERY {slow.id}", on=table)
    first.result(30)
    changed = value(table, "SELECT COUNT(*) FROM m WHERE b > 100")
    assert 0 < changed < 8, changed
    assert value(table, "SELECT COUNT(*) FROM m FORCE INDEX (b) WHERE b > 100") == changed


def test_a_cycle_through_rows_of_both_kinds_ends(table, others):  # noqa: F811
    other = others()
    run("BEGIN", "UPDATE i SET b = 0 WHERE a = 3", on=table)
    watcher = others().connection
    before = status(watcher, "Innodb_row_lock_waits")
    future = other.start("UPDATE i, m SET i.b = 7, m.b = 7 WHERE i.a = m.a")
    until_row_wait(watcher, before, future)
    try:
        run("UPDATE m SET b = 9 WHERE a = 1", on=table)
        codes = [future.result(30)]
    except pymysql.err.OperationalError as e:
        codes = [e.args[0], future.result(30)]
    assert codes in ([1213], [1213, ()])
    run("ROLLBACK", on=table)


def test_a_transaction_keeps_the_table(table, others):  # noqa: F811
    other = others()
    run("BEGIN", "SELECT * FROM m", on=table)
    future = other.start("ALTER TABLE m ADD c INT")
    wait_until(lambda: state(table, other) == "Waiting for table metadata lock", 30, "ALTER TABLE does not wait")
    run("COMMIT", on=table)
    assert future.result(30) == ()


def test_many_writers(server, table, database):
    run("CREATE TABLE n (id INT AUTO_INCREMENT PRIMARY KEY, v INT, UNIQUE (v)) ENGINE=MyISAM", on=table)
    failures = []

    def work(number):
        own = server.connect(database=database)
        try:
            for i in range(25):
                run("UPDATE m SET b = b + 1 WHERE a <= 4", f"INSERT INTO n (v) VALUES ({number * 100 + i}), ({number * 100 + i + 50})", on=own)
                run("INSERT INTO n (v) SELECT MAX(v) + 1000 FROM n", on=own)
        except Exception as e:
            failures.append(e)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert not failures, failures
    assert rows(table, "SELECT a, b - a FROM m WHERE a <= 4") == ((1, 150), (2, 150), (3, 150), (4, 150))
    assert value(table, "SELECT COUNT(DISTINCT v) FROM n") == 6 * 25 * 3


def test_acknowledged_statements_survive_a_crash(start):
    server = start()
    db = server.connect()
    run("CREATE DATABASE d", "USE d", on=db)
    run("CREATE TABLE m (a INT PRIMARY KEY, b VARCHAR(20), KEY (b)) ENGINE=MyISAM", on=db)
    run("CREATE TABLE i (a INT PRIMARY KEY)", on=db)
    run("BEGIN", "INSERT INTO i VALUES (1)", "INSERT INTO m VALUES (1, 'x'), (2, 'y')", on=db)
    with pytest.raises(Exception, match="1062"):
        run("INSERT INTO m VALUES (3, 'z'), (1, 'w')", on=db)
    other = server.connect()
    other._execute_command(3, b"UPDATE d.m SET b = CONCAT(b, SLEEP(1)) ORDER BY a")
    wait_until(lambda: value(db, "SELECT COUNT(*) FROM information_schema.processlist WHERE state = 'User sleep'"), 30, "no sleep")
    server.kill()
    server.start()
    db = server.connect()
    assert rows(db, "SELECT * FROM d.i") == ()
    assert rows(db, "SELECT * FROM d.m") == ((1, "x"), (2, "y"), (3, "z"))
    assert rows(db, "SELECT a FROM d.m FORCE INDEX (b) WHERE b > 'a'") == ((1,), (2,), (3,))
    assert rows(db, "CHECK TABLE d.m")[0][3] == "OK"
