"""The error log: sinks, filters, the table, rotation, what is read back at a start, and disks and texts that are no good."""

import json
import os
import re

import pymysql
import pytest
from harness import code_of, rows, run, status, value, wait_until

LINE = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z) (\d+) \[(System|ERROR|Warning|Note)\] \[(MY-\d{6})\] \[(\w+)\] (.*)")
DENIED = "MY-010926"


@pytest.fixture
def logged(start, tmp_path, clearway_only):
    server = start(f"--log-error={tmp_path}/err.log", "--log-error-verbosity=3")
    server.error_log = tmp_path / "err.log"
    return server


def fail_login(server, user="nobody"):
    with pytest.raises(pymysql.err.OperationalError):
        server.connect(user=user, password="hidden")


def table(c, where="TRUE"):
    return rows(c, f"SELECT THREAD_ID, PRIO, ERROR_CODE, SUBSYSTEM, DATA FROM performance_schema.error_log WHERE {where} ORDER BY LOGGED")


def last_denied(c):
    return table(c, f"ERROR_CODE = '{DENIED}'")[-1][4]


def test_file_and_table_agree(logged):
    fail_login(logged)
    c = logged.connect(autocommit=True)
    wait_until(lambda: DENIED in logged.error_log.read_text(), 10, "the note of the login")
    lines = [LINE.fullmatch(line) for line in logged.error_log.read_text().splitlines()]
    assert all(lines)
    of_file = [(int(m[2]), m[3].title(), m[4], m[5], m[6]) for m in lines]
    assert list(table(c)) == of_file
    note = [line for line in of_file if line[2] == DENIED]
    assert [line[1:] for line in note] == [("Note", DENIED, "Server", "Access denied for user 'nobody'@'localhost' (using password: YES)")]
    assert note[0][0] > 0, "the connection's id"
    assert status(c, "Error_log_buffered_events") == len(of_file)
    assert status(c, "Error_log_buffered_bytes") > sum(len(line[4]) for line in of_file)
    assert status(c, "Error_log_expired_events") == 0
    latest = value(c, "SELECT CAST(UNIX_TIMESTAMP(MAX(LOGGED)) * 1000000 AS UNSIGNED) FROM performance_schema.error_log")
    assert status(c, "Error_log_latest_write") == latest


def test_aborted_connections_are_noted(logged):
    gone = logged.connect()
    number = value(gone, "SELECT CONNECTION_ID()")
    gone._force_close()
    c = logged.connect(autocommit=True)
    # Others have not logged in.
    of_number = f"ERROR_CODE = 'MY-010914' AND THREAD_ID = {number}"
    thread, prio, _, _, text = wait_until(lambda: table(c, of_number), 10, "the note of the connection")[0]
    assert (thread, prio) == (number, "Note")
    assert text == f"Aborted connection {number} to db: 'unconnected' user: 'root' host: 'localhost' (Got an error reading communication packets)."


def test_verbosity_and_suppression(logged):
    c = logged.connect(autocommit=True)
    denied = lambda: len(table(c, f"ERROR_CODE = '{DENIED}'"))
    for setting in ["log_error_verbosity = 2", "log_error_suppression_list = 'ER_ACCESS_DENIED_ERROR_WITH_PASSWORD'",
                    "log_error_suppression_list = 'MY-010926, 1'"]:
        before = denied()
        run(f"SET GLOBAL {setting}", on=c)
        fail_login(logged)
        assert denied() == before, setting
        run("SET GLOBAL log_error_verbosity = 3", "SET GLOBAL log_error_suppression_list = ''", on=c)
        fail_login(logged)
        assert denied() == before + 1, setting
    # A sink before the filter has what the one behind it has not.
    run("SET GLOBAL log_error_services = 'log_sink_internal; log_filter_internal; log_sink_json'", "SET GLOBAL log_error_verbosity = 1", on=c)
    before = denied()
    fail_login(logged)
    assert denied() == before + 1
    assert DENIED[4:] not in (logged.error_log.parent / "err.log.00.json").read_text()
    run("SET GLOBAL log_error_services = ''", on=c)
    before = len(table(c))
    fail_login(logged)
    assert len(table(c)) == before


def test_json(logged):
    c = logged.connect(autocommit=True)
    run("SET GLOBAL log_error_services = 'log_filter_internal; log_sink_json'", on=c)
    fail_login(logged, "a\"\\\n\x01ü")
    text = wait_until(lambda: (logged.error_log.parent / "err.log.00.json").read_text(), 10, "the sink's file")
    entry = json.loads(text)
    assert list(entry) == ["prio", "err_code", "subsystem", "msg", "time", "ts", "thread", "err_symbol", "SQL_state", "label"]
    assert (entry["prio"], entry["err_code"], entry["err_symbol"], entry["label"]) == (3, 10926, "ER_ACCESS_DENIED_ERROR_WITH_PASSWORD", "Note")
    assert entry["msg"] == "Access denied for user 'a\"\\\n\x01ü'@'localhost' (using password: YES)"
    assert json.loads(last_denied(c)) == entry
    assert DENIED not in logged.error_log.read_text()
    run("SET GLOBAL log_error_services = 'log_filter_internal; log_sink_json; log_sink_internal; log_sink_json'", on=c)
    fail_login(logged, "two")
    for name in ["err.log.00.json", "err.log.01.json", "err.log"]:
        wait_until(lambda: "'two'@" in (logged.error_log.parent / name).read_text(), 10, name)
    assert last_denied(c) == "Access denied for user 'two'@'localhost' (using password: YES)"


def test_rules(logged):
    c = logged.connect(autocommit=True)
    assert code_of(c, "SET GLOBAL dragnet.log_error_filter_rules = ''") == 1193
    run("INSTALL COMPONENT 'file://component_log_filter_dragnet'", "SET GLOBAL log_error_services = 'log_filter_dragnet; log_sink_internal; log_sink_json'",
        "SET GLOBAL dragnet.log_error_filter_rules = 'IF err_code==ER_ACCESS_DENIED_ERROR_WITH_PASSWORD THEN throttle 2/600. IF prio==NOTE THEN set why:=\"x\".'", on=c)
    assert rows(c, "SHOW STATUS LIKE 'dragnet.Status'")[0][1] == 'IF err_code==MY-010926 THEN throttle 2/600. IF prio==INFORMATION THEN set why:="x".'
    for _ in range(5):
        fail_login(logged)
    assert len(table(c, f"ERROR_CODE = '{DENIED}'")) == 2
    entries = [json.loads(line) for line in (logged.error_log.parent / "err.log.00.json").read_text().splitlines()]
    assert [entry["why"] for entry in entries] == ["x", "x"]
    assert code_of(c, "UNINSTALL COMPONENT 'file://component_log_filter_dragnet'") == 3540
    run("SET GLOBAL log_error_services = DEFAULT", "UNINSTALL COMPONENT 'file://component_log_filter_dragnet'", on=c)
    assert code_of(c, "SELECT @@dragnet.log_error_filter_rules") == 1193


def test_a_pipeline_outlives_a_restart(logged):
    c = logged.connect(autocommit=True)
    run("SET PERSIST log_error_services = 'log_filter_internal; log_sink_json'", on=c)
    fail_login(logged, "before")
    logged.stop()
    logged.start()
    c = logged.connect(autocommit=True)
    assert value(c, "SELECT @@log_error_services") == "log_filter_internal; log_sink_json"
    fail_login(logged, "after")
    assert "'after'@" in json.loads(last_denied(c))["msg"]


def test_lines_are_read_back(logged):
    logged.stop()
    with open(logged.error_log, "a") as log:
        log.write("2026-01-01T00:00:00.000001Z 7 [ERROR] [MY-000000] [Server] first\n\tsecond\nno line of the log\n")
    logged.start()
    c = logged.connect(autocommit=True)
    found = rows(c, "SELECT THREAD_ID, PRIO, ERROR_CODE, DATA FROM performance_schema.error_log WHERE DATA LIKE 'first%'")
    assert list(found) == [(7, "Error", "MY-000000", "first\nsecond")]
    assert len(table(c, "ERROR_CODE = 'MY-010116'")) == 2, "of both starts"
    assert not table(c, "DATA LIKE 'no line%'")
    times = [row[0] for row in rows(c, "SELECT LOGGED FROM performance_schema.error_log")]
    assert len(set(times)) == len(times)


def test_rotation_by_rename(logged):
    c = logged.connect(autocommit=True)
    fail_login(logged, "old")
    moved = logged.error_log.rename(logged.error_log.with_suffix(".1"))
    fail_login(logged, "still")
    run("FLUSH ERROR LOGS", on=c)
    fail_login(logged, "fresh")
    wait_until(lambda: "'fresh'@" in logged.error_log.read_text(), 10, "the fresh file")
    text = moved.read_text()
    assert "'old'@" in text and "'still'@" in text and "'fresh'@" not in text
    assert len(table(c, f"ERROR_CODE = '{DENIED}'")) == 3


def test_nobody_writes_lines_of_others(logged):
    # As much as a message has of a name.
    fail_login(logged, "\n2026-01-01T00:00:00Z 0 [Note] [MY-1] [a] forged\r\0")
    c = logged.connect(autocommit=True)
    assert not table(c, "DATA = 'forged'")
    text = logged.error_log.read_text()
    assert "forged" in text and all(LINE.fullmatch(line) for line in text.split("\n")[:-1])
    fail_login(logged, "ü" * 40_000)
    assert len(last_denied(c)) < 9000


@pytest.mark.parametrize("small_disk", ["512k"], indirect=True)
def test_a_full_disk(start, small_disk, clearway_only):
    server = start(f"--log-error={small_disk}/err.log", "--log-error-verbosity=3")
    c = server.connect(autocommit=True)
    with open(small_disk / "filler", "wb", buffering=0) as filler, pytest.raises(OSError):
        while True:
            filler.write(b"x" * 4096)
    while status(c, "Clearway_error_log_lines_lost") == 0:
        fail_login(server)
    assert value(c, "SELECT 1 + 1") == 2
    assert table(c, f"ERROR_CODE = '{DENIED}'"), "the table has what the disk has not"
    os.truncate(small_disk / "filler", 0)
    fail_login(server, "again")
    wait_until(lambda: "'again'@" in (small_disk / "err.log").read_text(), 10, "lines again")


def test_refused_at_a_start(start, clearway_only):
    for option in ["--log-error-services=log_filter_internal", "--log-error-services=nosuch", "--log-error-suppression-list=x"]:
        server = start(option, run=False)
        with pytest.raises(AssertionError, match="log-error"):
            server.start()
