"""What monitors read of the storage engine: SHOW ENGINE INNODB STATUS in the words that they parse."""

import re
import threading

import pymysql
import pytest

from harness import rows, run, status, value, wait_until
from test_locks import two  # noqa: F401

SECTION = re.compile(r"\n(---+)\n([A-Z /]+)\n\1\n(.*?)(?=\n(?:---+)\n[A-Z /]+\n---|$)", re.S)


def report(connection):
    return rows(connection, "SHOW ENGINE INNODB STATUS")[0][2]


def sections(text):
    """By title, as innotop and pt-deadlock-logger split the report."""
    return {name: body for _, name, body in SECTION.findall(text)}


def test_the_report_has_mysqls_sections_in_their_order(two, kind):
    a, _ = two
    text = report(a)
    titles = [title for _, title, _ in SECTION.findall(text)]
    expected = ["BACKGROUND THREAD", "SEMAPHORES", "TRANSACTIONS", "FILE I/O", "LOG", "BUFFER POOL AND MEMORY", "ROW OPERATIONS"]
    assert [title for title in titles if title in expected] == expected
    assert re.search(r"^[0-9-]* [0-9:]* [0-9a-fx]* INNODB MONITOR OUTPUT", text, re.M)
    assert text.rstrip().endswith("END OF INNODB MONITOR OUTPUT\n============================")


@pytest.mark.parametrize("section, line", [
    ("TRANSACTIONS", r"^Trx id counter \d+$"),
    ("TRANSACTIONS", r"^Purge done for trx's n:o < \d+ undo n:o < \d+"),
    ("TRANSACTIONS", r"^History list length \d+$"),
    ("FILE I/O", r"^\d+ OS file reads, \d+ OS file writes, \d+ OS fsyncs$"),
    ("FILE I/O", r"^[\d.]+ reads/s, \d+ avg bytes/read, [\d.]+ writes/s, [\d.]+ fsyncs/s$"),
    ("LOG", r"^Log sequence number \s*\d+$"),
    ("LOG", r"^Log flushed up to \s*\d+$"),
    ("LOG", r"^Last checkpoint at \s*\d+$"),
    ("LOG", r"^\d+ log i/o's done, [\d.]+ log i/o's/second$"),
    ("BUFFER POOL AND MEMORY", r"^Buffer pool size   \d+$"),
    ("BUFFER POOL AND MEMORY", r"^Free buffers       \d+$"),
    ("BUFFER POOL AND MEMORY", r"^Database pages     \d+$"),
    ("BUFFER POOL AND MEMORY", r"^Modified db pages  \d+$"),
    ("BUFFER POOL AND MEMORY", r"^Pages read \d+, created \d+, written \d+$"),
    ("ROW OPERATIONS", r"^\d+ queries inside InnoDB, \d+ queries in queue$"),
    ("ROW OPERATIONS", r"^\d+ read views open inside InnoDB$"),
    ("ROW OPERATIONS", r"^Number of rows inserted \d+, updated \d+, deleted \d+, read \d+$"),
    ("ROW OPERATIONS", r"^[\d.]+ inserts/s, [\d.]+ updates/s, [\d.]+ deletes/s, [\d.]+ reads/s$"),
])
def test_monitors_find_their_lines(two, section, line):
    a, _ = two
    assert re.search(line, sections(report(a))[section], re.M)


def test_a_transaction_that_waits_shows_its_lock(two):
    a, b = two
    run("SET innodb_lock_wait_timeout = 10", on=b)
    run("BEGIN", "UPDATE t SET v = 1 WHERE id = 20", on=a)
    waiter = threading.Thread(target=run, args=("UPDATE t SET v = 2 WHERE id = 20",), kwargs={"on": b})
    waiter.start()
    try:
        wait_until(lambda: "TRX HAS BEEN WAITING" in report(a), 10, "nobody waits")
        section = sections(report(a))["TRANSACTIONS"]
        thread = b.thread_id()
        assert re.search(rf"^MySQL thread id {thread}, .*query id \d+ ", section, re.M)
        assert re.search(r"^LOCK WAIT \d+ lock struct\(s\), heap size \d+, \d+ row lock\(s\)", section, re.M)
        lock = re.search(r"^RECORD LOCKS space id \d+ page no \d+ n bits \d+ index PRIMARY of table `\w+`.`t` trx id \d+ "
                         r"lock_mode X locks rec but not gap waiting$", section, re.M)
        assert lock
        assert "hex 80000014" in section[lock.end():]
        assert value(a, "SELECT VARIABLE_VALUE FROM performance_schema.global_status "
                        "WHERE VARIABLE_NAME = 'Innodb_row_lock_current_waits'") == "1"
    finally:
        a.rollback()
        waiter.join()


def test_the_last_deadlock_names_both_transactions_and_the_victim(two):
    a, b = two
    for connection, row in ((a, 10), (b, 20)):
        run("SET innodb_lock_wait_timeout = 10", "BEGIN", f"UPDATE t SET v = 1 WHERE id = {row}", on=connection)
    failed = []

    def closes(connection, row):
        try:
            run(f"UPDATE t SET v = 1 WHERE id = {row}", on=connection)
        except pymysql.err.OperationalError as error:
            failed.append((connection.thread_id(), error.args[0]))

    other = threading.Thread(target=closes, args=(a, 20))
    other.start()
    closes(b, 10)
    other.join()
    assert [code for _, code in failed] == [1213]
    section = sections(report(a))["LATEST DETECTED DEADLOCK"]
    members = re.findall(r"^\*\*\* \((\d)\) TRANSACTION:\n.*?^MySQL thread id (\d+),", section, re.M | re.S)
    assert {int(thread) for _, thread in members} == {a.thread_id(), b.thread_id()}
    victim = re.search(r"^\*\*\* WE ROLL BACK TRANSACTION \((\d)\)", section, re.M).group(1)
    assert int(dict(members)[victim]) == failed[0][0]
    for number in "12":
        assert f"*** ({number}) HOLDS THE LOCK(S):\nRECORD LOCKS space id" in section
        assert f"*** ({number}) WAITING FOR THIS LOCK TO BE GRANTED:\nRECORD LOCKS space id" in section
    a.rollback()
    b.rollback()


@pytest.mark.usefixtures("clearway_only")
def test_the_last_foreign_key_error_names_both_tables(two):
    a, _ = two
    run("CREATE TABLE c (id INT PRIMARY KEY, t INT, CONSTRAINT fk FOREIGN KEY (t) REFERENCES t (id))", on=a)
    with pytest.raises(pymysql.err.IntegrityError):
        run("INSERT INTO c VALUES (1, 77)", on=a)
    section = sections(report(a))["LATEST FOREIGN KEY ERROR"]
    assert re.search(r"^[0-9-]* [0-9:]* [0-9a-fx]* Transaction:$", section, re.M)
    assert "INSERT INTO c VALUES (1, 77)" in section
    assert re.search(r"^Foreign key constraint fails for table `\w+`\.`c`:\n,\n  CONSTRAINT `fk` FOREIGN KEY", section, re.M)
    assert re.search(r"^Trying to add in child table, in index fk tuple:", section, re.M)
    assert re.search(r"^But in parent table `\w+`\.`t`, in index PRIMARY,", section, re.M)
    with pytest.raises(pymysql.err.IntegrityError):
        run("INSERT INTO c VALUES (1, 10)", "DELETE FROM t WHERE id = 10", on=a)
    assert "Trying to delete or update in parent table, in index PRIMARY tuple:" in report(a)


@pytest.mark.parametrize("number", ["'{}'", '"{} "', "{}.0", "{} + 0e0", "CAST('{}' AS JSON)"])
def test_kill_takes_what_has_the_number_of_the_session(server, db, number):
    """pt-kill and DBI's placeholders send it as text."""
    other = server.connect()
    run(f"KILL {number.format(other.thread_id())}", on=db)
    with pytest.raises(pymysql.err.MySQLError):
        rows(other, "SELECT 1")


def test_open_files_and_tables_are_counted(db, clearway_only):
    def status_of(name):
        return int(status(db, name))

    assert status_of("Innodb_num_open_files") >= 2 and status_of("Open_files") >= 1
    before = status_of("Open_tables")
    run("CREATE TABLE t (a INT)", on=db)
    assert status_of("Open_tables") == status_of("Open_table_definitions") == before + 1
    names = [name for name, _ in rows(db, "SHOW GLOBAL STATUS LIKE 'Innodb%pending%'")]
    assert names == ["Innodb_data_pending_fsyncs", "Innodb_data_pending_reads", "Innodb_data_pending_writes",
                     "Innodb_os_log_pending_fsyncs", "Innodb_os_log_pending_writes"]


def test_metrics_tell_of_open_files_and_pending_writes(db, clearway_only):
    names = ("file_num_open_files", "os_log_pending_fsyncs", "os_log_pending_writes")
    counts = dict(rows(db, "SELECT name, count FROM information_schema.innodb_metrics WHERE name IN %s", (names,)))
    assert set(counts) == set(names) and counts["file_num_open_files"] >= 2


def test_tables_have_waits_for_table_locks_that_are_none(db, clearway_only):
    run("CREATE TABLE t (a INT)", "INSERT INTO t VALUES (1)", on=db)
    found = rows(db, "SELECT * FROM performance_schema.table_lock_waits_summary_by_table "
                     "WHERE object_schema = DATABASE() AND object_name = 't'")
    assert [row[:1] + tuple(map(int, row[3:])) for row in found] == [("TABLE", *[0] * 65)]
