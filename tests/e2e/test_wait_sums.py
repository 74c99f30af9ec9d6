"""Waits in performance_schema: open while they last, then in the sums of their session, and of nobody else; within 10 % of a
stop watch."""

import time
from pathlib import Path

import pytest

from harness import rows, run, status, value, wait_until
from test_metadata_locks import others, until_row_wait, until_waiting  # noqa: F401

pytestmark = pytest.mark.usefixtures("clearway_only")

ROW, SLEEP = "wait/synch/cond/clearway/row_lock", "wait/synch/cond/sql/Item_func_sleep::cond"
METADATA, IDLE = "wait/lock/metadata/sql/mdl", "idle"
FLUSH, LOG = "wait/synch/cond/clearway/log_flush", "wait/io/file/innodb/innodb_log_file"
LASTS = 0.5


@pytest.fixture
def table(db):
    run("CREATE TABLE t (id INT PRIMARY KEY, v INT)", "INSERT INTO t VALUES (1, 1), (2, 2)", on=db)
    return db


@pytest.fixture
def consumers(server):
    """Waits are recorded one by one."""
    watcher = server.connect()
    names = "name IN ('events_waits_current', 'events_waits_history')"
    run(f"UPDATE performance_schema.setup_consumers SET enabled = 'YES' WHERE {names}", on=watcher)
    yield
    run(f"UPDATE performance_schema.setup_consumers SET enabled = 'NO' WHERE {names}", on=watcher)
    watcher.close()


def summed(connection, thread, event):
    """How many, and how many seconds."""
    (count, picoseconds), = rows(connection, "SELECT count_star, sum_timer_wait FROM performance_schema."
                                 "events_waits_summary_by_thread_by_event_name WHERE thread_id = %s AND event_name = %s",
                                 (thread, event))
    return count, picoseconds / 1e12


def of_all(connection, event):
    return value(connection, "SELECT sum_timer_wait FROM performance_schema.events_waits_summary_global_by_event_name "
                             "WHERE event_name = %s", (event,)) / 1e12


def is_between(inner, seconds, outer):
    """A stop watch stood still at first, when the wait had surely begun, and another one when it surely had not."""
    assert 0.99 * inner <= seconds <= 1.01 * outer + 0.001, f"{seconds} s, and the stop watches {inner} and {outer} s"


def blocked(db, name, others):  # noqa: F811
    """A session that waits, until the function is called that comes with it."""
    other = others()
    if name == "row":
        run("BEGIN", "UPDATE t SET v = 0 WHERE id = 1", on=db)
        before = status(db, "Innodb_row_lock_waits")
        future = other.start("UPDATE t SET v = 1 WHERE id = 1")
        until_row_wait(others().connection, before, future)
        return other, future, lambda: run("ROLLBACK", on=db), ROW
    if name == "metadata":
        run("BEGIN", "SELECT * FROM t", on=db)
        future = other.start("DROP TABLE t")
        wait_until(lambda: rows(db, "SELECT 1 FROM performance_schema.metadata_locks WHERE lock_status = 'PENDING' "
                                    "AND owner_thread_id = %s", (other.id,)), 30, "nobody waits")
        return other, future, lambda: run("ROLLBACK", on=db), METADATA
    future = other.start(f"SELECT SLEEP({LASTS})")
    wait_until(lambda: value(db, f"SELECT state FROM information_schema.processlist WHERE id = {other.id}") == "User sleep",
               30, "it does not sleep")
    return other, future, lambda: None, SLEEP


@pytest.mark.parametrize("name", ["row", "metadata", "sleep"])
def test_a_wait_is_summed_for_its_session_alone(table, others, name):  # noqa: F811
    bystander = others()
    bystander("SELECT 1")
    before = of_all(table, {"row": ROW, "metadata": METADATA, "sleep": SLEEP}[name])
    begins = time.monotonic()
    other, future, release, event = blocked(table, name, others)
    began = time.monotonic()
    assert name == "sleep" or summed(table, other.id, event) == (0, 0), "it lasts"
    if name != "sleep":
        time.sleep(LASTS)
    inner = LASTS if name == "sleep" else time.monotonic() - began
    release()
    future.result(30)
    outer = time.monotonic() - begins
    count, seconds = summed(table, other.id, event)
    assert count == 1
    is_between(inner, seconds, outer)
    assert summed(table, bystander.id, event) == (0, 0)
    assert of_all(table, event) - before == pytest.approx(seconds)


def test_idle_time_is_a_wait(table, others):  # noqa: F811
    other = others()
    begins = time.monotonic()
    other("SELECT 1")
    _, before = summed(table, other.id, IDLE)
    other("SELECT 1")
    began = time.monotonic()
    time.sleep(LASTS)
    inner = time.monotonic() - began
    other("SELECT 1")
    is_between(inner, summed(table, other.id, IDLE)[1] - before, time.monotonic() - begins)


def test_a_commit_waits_for_its_flush(table, others):  # noqa: F811
    other = others()

    def waited():
        counts = [summed(table, other.id, event) for event in (FLUSH, LOG)]
        return sum(count for count, _ in counts), sum(seconds for _, seconds in counts)

    assert waited()[0] == 0
    began = time.monotonic()
    other("UPDATE t SET v = v + 1 WHERE id = 1")
    count, seconds = waited()
    assert count > 0 and 0 < seconds <= time.monotonic() - began


def test_a_session_that_ends_leaves_its_sums_to_its_account(server, table):
    run("CREATE USER leaves_sums", on=table)

    def left(by, where):
        found = rows(table, f"SELECT count_star FROM performance_schema.events_waits_summary_by_{by}_by_event_name "
                            f"WHERE event_name = %s AND {where}", (SLEEP,))
        return found[0][0] if found else 0

    hosts = left("host", "host = 'localhost'")
    for n in (1, 2):
        session = server.connect(user="leaves_sums")
        rows(session, "SELECT SLEEP(0.01)")
        assert left("user", "user = 'leaves_sums'") == n
        gone = session.thread_id()
        session.close()
        wait_until(lambda: not rows(table, "SELECT 1 FROM performance_schema.threads WHERE thread_id = %s", (gone,)), 30,
                   "the session is still there")
        assert left("user", "user = 'leaves_sums'") == n
        assert left("account", "user = 'leaves_sums' AND host = 'localhost'") == n
    assert left("host", "host = 'localhost'") >= hosts + 2
    run("DROP USER leaves_sums", on=table)


@pytest.mark.parametrize("name", ["row", "metadata", "sleep"])
def test_a_wait_is_open_while_it_lasts(consumers, table, others, name):  # noqa: F811
    other, future, release, event = blocked(table, name, others)
    watcher = others().connection
    query = ("SELECT event_name, end_event_id, timer_wait, operation, object_type, object_name "
             "FROM performance_schema.events_waits_current WHERE thread_id = %s")
    (open_event, end, _, operation, kind, what), = rows(watcher, query, (other.id,))
    assert (open_event, end) == (event, None)
    assert (operation, kind, what) == (("metadata lock", "TABLE", "t") if name == "metadata" else ("wait", None, None))
    release()
    future.result(30)
    # Its statement is over: it waits for another.
    wait_until(lambda: rows(watcher, query, (other.id,))[0][0] == IDLE, 30, "it is not idle")
    kept = rows(watcher, "SELECT end_event_id, timer_end - timer_start - timer_wait FROM performance_schema."
                         "events_waits_history WHERE thread_id = %s AND event_name = %s", (other.id, event))
    assert [(end is not None, rest) for end, rest in kept] == [(True, 0)]


@pytest.mark.parametrize("table_name", ["events_waits_current", "events_waits_history", "events_waits_history_long"])
def test_what_is_over_can_be_forgotten(consumers, table, others, table_name):  # noqa: F811
    other, query = others(), f"SELECT event_name FROM performance_schema.{table_name} WHERE thread_id = %s"
    rows(other.connection, "SELECT SLEEP(0.01)")
    if table_name != "events_waits_current":
        assert (SLEEP,) in rows(table, query, (other.id,))
    run(f"TRUNCATE performance_schema.{table_name}", on=table)
    # It waits for its next statement, now as before.
    assert set(rows(table, query, (other.id,))) <= {(IDLE,)}
    rows(other.connection, "SELECT SLEEP(0.01)")
    if table_name != "events_waits_current":
        assert (SLEEP,) in rows(table, query, (other.id,))


def test_files_count_what_goes_to_them(table, others):  # noqa: F811
    def written():
        return value(table, "SELECT sum_number_of_bytes_write FROM performance_schema.file_summary_by_event_name "
                            "WHERE event_name = %s", (LOG,))

    before = written()
    run("UPDATE t SET v = v + 1", on=table)
    assert written() > before
    open_files = dict(rows(table, "SELECT event_name, MAX(open_count) FROM performance_schema.file_instances GROUP BY 1"))
    assert open_files["wait/io/file/innodb/innodb_data_file"] >= 1 and open_files[LOG] >= 1
    by_file = value(table, "SELECT SUM(sum_number_of_bytes_write) FROM performance_schema.file_summary_by_instance "
                           "WHERE event_name = %s", (LOG,))
    assert 0 < by_file <= written()


def test_the_files_of_the_redo_log_are_those_on_the_disk(table):  # noqa: F811
    files = rows(table, "SELECT file_name, start_lsn, end_lsn, size_in_bytes, is_full "
                        "FROM performance_schema.innodb_redo_log_files ORDER BY file_id")
    assert files
    for (_, _, end, _, _), (_, start, _, _, _) in zip(files, files[1:]):
        assert end == start
    # Some are made before they are needed.
    assert [full for *_, full in files] == sorted((full for *_, full in files), reverse=True)
    assert files[-1][4] == 0
    for name, _, _, size, _ in files:
        assert Path(name).stat().st_size == size
