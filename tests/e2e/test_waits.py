"""Every wait has a name that PROCESSLIST shows, and ends on KILL, on its timeout and, in a query, on max_execution_time.

Waits below a statement, for frames, checkpoints and the file's growth, are made to happen in the engine's own tests
(`crates/store/engine/tests/waits.rs`, `src/space/growth.rs`); those for a full disk in `test_faults.py`."""

import time

import pytest

from harness import rows, run, value, wait_until
from test_metadata_locks import others  # noqa: F401

pytestmark = pytest.mark.usefixtures("clearway_only")

# Name: what others do before, what the session has done, the statement that waits, its state, the variable that bounds the wait.
WAITS = {
    "row": (["BEGIN", "UPDATE t SET v = 0 WHERE id = 1"], [],
            "UPDATE t SET v = 1 WHERE id = 1", "updating", "innodb_lock_wait_timeout"),
    "row read": (["BEGIN", "UPDATE t SET v = 0 WHERE id = 1"], [],
                 "SELECT * FROM t WHERE id = 1 FOR UPDATE", "executing", "innodb_lock_wait_timeout"),
    "gap": (["BEGIN", "SELECT * FROM t WHERE id > 100 FOR UPDATE"], [],
            "INSERT INTO t VALUES (200, 1)", "update", "innodb_lock_wait_timeout"),
    "unique value": (["BEGIN", "INSERT INTO t VALUES (3, 33)"], [],
                     "INSERT INTO t VALUES (4, 33)", "update", "innodb_lock_wait_timeout"),
    "locked table": (["LOCK TABLES t WRITE"], [],
                     "SELECT * FROM t", "Waiting for table metadata lock", "lock_wait_timeout"),
    "used table": (["BEGIN", "SELECT * FROM t"], [],
                   "DROP TABLE t", "Waiting for table metadata lock", "lock_wait_timeout"),
    "begin of an online build": (["BEGIN", "UPDATE t SET v = v + 10"], [],
                                 "CREATE INDEX i ON t (v)", "Waiting for table metadata lock", "lock_wait_timeout"),
    "end of a copy": (["BEGIN", "SELECT * FROM t"], [],
                      "ALTER TABLE t MODIFY v BIGINT, ALGORITHM=COPY", "Waiting for table metadata lock", "lock_wait_timeout"),
    "rows of another engine": (["LOCK TABLES m WRITE"], [],
                               "INSERT INTO m VALUES (1)", "Waiting for table metadata lock", "lock_wait_timeout"),
    "global read lock": (["FLUSH TABLES WITH READ LOCK"], [],
                         "UPDATE t SET v = 2", "Waiting for global read lock", "lock_wait_timeout"),
    "commit": (["FLUSH TABLES WITH READ LOCK"], ["BEGIN", "UPDATE t SET v = 3 WHERE id = 2"],
               "COMMIT", "Waiting for commit lock", "lock_wait_timeout"),
    "backup": (["LOCK INSTANCE FOR BACKUP"], [],
               "CREATE TABLE u (a INT)", "Waiting for backup lock", "lock_wait_timeout"),
    "user lock": (["SELECT GET_LOCK('test_waits', 0)"], [],
                  "SELECT GET_LOCK('test_waits', 1000)", "User lock", None),
    "sleep": ([], [], "SELECT SLEEP(1000) FROM t", "User sleep", None),
}


@pytest.fixture
def waiting(db, others, request):  # noqa: F811
    """Both sessions, and who watches; the first one stands in the way."""
    run("CREATE TABLE t (id INT PRIMARY KEY, v INT UNIQUE)", "INSERT INTO t VALUES (1, 1), (2, 2)",
        "CREATE TABLE m (a INT) ENGINE = MyISAM", on=db)
    before, prepared, *_ = WAITS[request.param]
    session, watcher = others(), others().connection
    if request.param == "commit":
        run(*prepared, on=session.connection)
        run(*before, on=db)
    else:
        run(*before, on=db)
        run(*prepared, on=session.connection)
    yield request.param, session, watcher
    run("UNLOCK TABLES", "UNLOCK INSTANCE", "ROLLBACK", "DO RELEASE_ALL_LOCKS()", on=db)


def starts_to_wait(name, session, watcher):
    *_, statement, state, _ = WAITS[name]
    future = session.start(statement)
    wait_until(lambda: value(watcher, f"SELECT state FROM information_schema.processlist WHERE id = {session.id}") == state,
               60, f"{name}: {statement} does not wait as '{state}'")
    # It waits, and does not pass by.
    time.sleep(0.1)
    assert not future.done(), f"{name}: {statement}"
    return future


@pytest.mark.parametrize("waiting", WAITS, indirect=True)
def test_each_wait_has_a_name_and_ends_on_kill(waiting):
    name, session, watcher = waiting
    future = starts_to_wait(name, session, watcher)
    run(f"KILL QUERY {session.id}", on=watcher)
    assert future.result(20) == 1317
    # And the session goes on.
    assert session("SELECT 1") == ((1,),)


@pytest.mark.parametrize("waiting", [name for name, wait in WAITS.items() if wait[-1]], indirect=True)
def test_each_wait_ends_on_its_timeout(waiting):
    name, session, watcher = waiting
    session(f"SET {WAITS[name][-1]} = 1")
    assert session(WAITS[name][2]) == 1205
    assert session("SELECT 1") == ((1,),)


@pytest.mark.parametrize("waiting", [name for name, wait in WAITS.items() if wait[2].startswith("SELECT")], indirect=True)
def test_each_wait_of_a_query_ends_on_its_deadline(waiting):
    name, session, watcher = waiting
    before = value(watcher, "SELECT variable_value FROM performance_schema.global_status "
                            "WHERE variable_name = 'Max_execution_time_exceeded'")
    session("SET max_execution_time = 200")
    assert session(WAITS[name][2]) == 3024
    after = value(watcher, "SELECT variable_value FROM performance_schema.global_status "
                           "WHERE variable_name = 'Max_execution_time_exceeded'")
    assert int(after) == int(before) + 1
    # The time of a query is its own: what comes after it waits as long as it must.
    assert session("SELECT 1") == ((1,),)
    session("SET max_execution_time = 0")
    future = starts_to_wait(name, session, watcher)
    run(f"KILL QUERY {session.id}", on=watcher)
    assert future.result(20) == 1317
    assert rows(watcher, "SELECT 1") == ((1,),)
