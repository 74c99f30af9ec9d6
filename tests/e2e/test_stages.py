"""PROCESSLIST's State and the views that show who waits: seen from another connection while the statement runs."""

import time

import pytest

from harness import rows, run, status, value, wait_until
from test_metadata_locks import others, until_row_wait, until_waiting  # noqa: F401

pytestmark = pytest.mark.usefixtures("clearway_only")


@pytest.fixture
def table(db):
    run("CREATE TABLE t (id INT PRIMARY KEY, v INT)", "INSERT INTO t VALUES (1, 1), (2, 2)", on=db)
    return db


def stage(db, other):
    return value(db, f"SELECT state FROM information_schema.processlist WHERE id = {other.id}")


@pytest.mark.parametrize("statement, name", [
    ("UPDATE t SET v = 3 WHERE id = 1", "updating"),
    ("DELETE FROM t WHERE id = 1", "updating"),
    ("INSERT INTO t VALUES (1, 1)", "update"),
    ("REPLACE INTO t VALUES (1, 1)", "update"),
    ("SELECT * FROM t FOR SHARE", "executing"),
])
def test_row_lock_waits_keep_the_name_of_their_statement(table, others, statement, name):  # noqa: F811
    other, watcher = others(), others().connection
    run("BEGIN", "UPDATE t SET v = 0", on=table)
    before = status(watcher, "Innodb_row_lock_waits")
    future = other.start(statement)
    until_row_wait(watcher, before, future)
    assert stage(watcher, other) == name
    run(f"KILL QUERY {other.id}", on=watcher)
    assert future.result(30) == 1317
    run("ROLLBACK", on=table)
    wait_until(lambda: stage(watcher, other) == "", 30, "a sleeping session has no state")


def test_sleep_has_a_name_and_gives_it_back(table, others):  # noqa: F811
    other = others()
    run("BEGIN", "UPDATE t SET v = 0 WHERE id = 2", on=table)
    before = status(table, "Innodb_row_lock_waits")
    future = other.start("UPDATE t SET v = SLEEP(0.3) WHERE id > 0")
    wait_until(lambda: stage(table, other) == "User sleep", 30, "SLEEP() is not seen")
    until_row_wait(table, before, future)
    assert stage(table, other) == "updating"
    run("ROLLBACK", on=table)
    assert future.result(30) == ()
    future = other.start("SELECT SLEEP(1000)")
    wait_until(lambda: stage(table, other) == "User sleep", 30, "SLEEP() is not seen")
    began = time.monotonic()
    run(f"KILL QUERY {other.id}", on=table)
    future.result(30)
    assert time.monotonic() - began < 5


def test_waits_for_tables_are_joined_with_their_threads(table, others):  # noqa: F811
    ddl = others()
    run("BEGIN", "SELECT * FROM t", on=table)
    future = ddl.start("DROP TABLE t")
    until_waiting(table, ddl)
    me = value(table, "SELECT CONNECTION_ID()")
    found = rows(table, "SELECT object_name, waiting_pid, waiting_account, waiting_lock_type, waiting_query, blocking_pid, "
                        "blocking_lock_type, sql_kill_blocking_connection FROM sys.schema_table_lock_waits "
                        "WHERE blocking_pid <> waiting_pid")
    assert found == (("t", ddl.id, "root@localhost", "EXCLUSIVE", "DROP TABLE t", me, "SHARED_READ", f"KILL {me}"),)
    joined = rows(table, "SELECT p.processlist_id, p.processlist_state, p.processlist_info FROM performance_schema.metadata_locks m "
                         "JOIN performance_schema.threads p ON p.thread_id = m.owner_thread_id WHERE m.lock_status = 'PENDING'")
    assert joined == ((ddl.id, "Waiting for table metadata lock", "DROP TABLE t"),)
    run("COMMIT", on=table)
    assert future.result(30) == ()


def test_each_row_lock_names_a_thread(table, others):  # noqa: F811
    other = others()
    run("BEGIN", "SELECT * FROM t WHERE id = 1 FOR UPDATE", on=table)
    before = status(table, "Innodb_row_lock_waits")
    future = other.start("UPDATE t SET v = 9 WHERE id = 1")
    until_row_wait(table, before, future)
    found = rows(table, "SELECT t.processlist_id, l.lock_type, l.lock_mode, l.lock_status, l.lock_data "
                        "FROM performance_schema.data_locks l JOIN performance_schema.threads t USING (thread_id) "
                        "WHERE l.object_name = 't' AND l.lock_type = 'RECORD' ORDER BY l.lock_status")
    me = value(table, "SELECT CONNECTION_ID()")
    assert found == ((me, "RECORD", "X,REC_NOT_GAP", "GRANTED", "1"), (other.id, "RECORD", "X,REC_NOT_GAP", "WAITING", "1"))
    run("ROLLBACK", on=table)
    assert future.result(30) == ()


def test_flush_status_starts_the_session_over(table):
    def selects(scope):
        return int(rows(table, f"SHOW {scope} STATUS LIKE 'Com_select'")[0][1])
    for _ in range(3):
        value(table, "SELECT COUNT(*) FROM t")
    everybody = selects("GLOBAL")
    assert selects("SESSION") >= 3
    run("FLUSH STATUS", on=table)
    assert selects("SESSION") == 0
    assert selects("GLOBAL") >= everybody
    value(table, "SELECT COUNT(*) FROM t")
    assert selects("SESSION") == 1


def test_an_undoing_tells_how_far_it_is(table, others):  # noqa: F811
    """ROLLBACK and a statement that is killed: percent in PROCESSLIST and in the stage, and the changes that are left."""
    run("CREATE TABLE big (id INT PRIMARY KEY AUTO_INCREMENT, v INT)", "INSERT INTO big (v) VALUES (1), (1), (1), (1)", on=table)
    for _ in range(15):
        run("INSERT INTO big (v) SELECT v FROM big", on=table)
    stages = "UPDATE performance_schema.setup_{} SET enabled = '{}' WHERE name = '{}'"
    run(stages.format("instruments", "YES", "stage/sql/starting"), stages.format("consumers", "YES", "events_stages_current"), on=table)
    other = others()
    assert other("BEGIN") == () and other("UPDATE big SET v = 2") == ()
    seen, works, left = set(), set(), []
    future = other.start("ROLLBACK")
    while not future.done():
        seen.add(stage(table, other))
        works.update(rows(table, "SELECT event_name, work_completed < work_estimated, work_estimated "
                                 "FROM performance_schema.events_stages_current WHERE work_completed > 0"))
        left += [n for (n,) in rows(table, f"SELECT trx_rows_modified FROM information_schema.innodb_trx WHERE trx_mysql_thread_id = {other.id}")]
    assert future.result(60) == ()
    percents = [int(words.split("(")[1].split(" ")[0]) for words in seen if words.startswith("starting (")]
    assert percents and max(percents) <= 100, seen
    assert ("stage/sql/starting", 1, 131072) in works
    assert left == sorted(left, reverse=True) and left[0] > left[-1]
    run(stages.format("instruments", "NO", "stage/sql/starting"), stages.format("consumers", "NO", "events_stages_current"), on=table)
    assert stage(table, other) == ""
