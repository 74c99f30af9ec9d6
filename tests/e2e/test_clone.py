"""CLONE LOCAL DATA DIRECTORY: the copy of a server in use is a server, and stands for the place in the binary log that it names."""

import os
import shutil
import socket
import subprocess
import threading
import time

import pymysql
import pytest
from bank import Transfers, audit, fill
from harness import BINARY, code_of, rows, run, value, wait_until

pytestmark = pytest.mark.usefixtures("clearway_only")

BINLOG = shutil.which("mariadb-binlog") or shutil.which("mysqlbinlog")


def error_of(connection, statement):
    with pytest.raises(pymysql.MySQLError) as caught:
        run(statement, on=connection)
    return caught.value.args


def status(connection):
    names = "STATE, DESTINATION, ERROR_NO, ERROR_MESSAGE, BINLOG_FILE, BINLOG_POSITION, GTID_EXECUTED"
    return rows(connection, f"SELECT {names} FROM performance_schema.clone_status")


def test_a_copy_under_load_is_a_server_at_the_place_it_names(start, tmp_path):
    server = start("--log-bin", "--gtid-mode=ON", "--enforce-gtid-consistency=ON", "--server-id=1", "--innodb-buffer-pool-size=16M",
                   "--innodb-redo-log-capacity=32M", "--max-binlog-size=100000")
    connection = server.connect()
    fill(connection, 6000)
    transfers = Transfers(server)
    try:
        wait_until(lambda: value(connection, "SELECT COUNT(*) FROM bank.journal") > 50, 30, "transfers")
        before = audit(connection)
        # Slow enough that the log, the pages and the binary log's files go on meanwhile.
        run("SET GLOBAL clone_max_data_bandwidth = 20", f"CLONE LOCAL DATA DIRECTORY = '{tmp_path}/copies/first'", on=connection)
        ((state, destination, error, message, file, position, executed),) = status(connection)
    finally:
        transfers.stop()
    assert (state, destination, error, message) == ("Completed", f"{tmp_path}/copies/first", 0, "")
    stages = rows(connection, "SELECT STAGE, STATE, ESTIMATE = DATA FROM performance_schema.clone_progress")
    assert stages[1:5] == (("FILE COPY", "Completed", 1), ("PAGE COPY", "Not Started", 1), ("REDO COPY", "Completed", 1),
                           ("FILE SYNC", "Completed", 1))
    after = audit(connection)

    copy = start("--log-bin", "--gtid-mode=ON", "--enforce-gtid-consistency=ON", "--server-id=2", datadir=tmp_path / "copies/first", run=False)
    copy.assert_sound()
    copy.start()
    copied = copy.connect()
    there = audit(copied)
    assert before <= there <= after
    assert value(copied, "SELECT @@server_uuid") != value(connection, "SELECT @@server_uuid")
    assert value(copied, "SELECT COUNT(*) FROM bank.filler WHERE pad = REPEAT('f', 1900)") == 6000
    assert value(copied, "SELECT @@global.gtid_executed").replace("\n", "") == executed.replace("\n", "")

    # What the source has written from that place on leads from the copy to the source. Its files are behind until it is asked.
    rows(connection, "SHOW BINARY LOG STATUS")
    files = sorted(p.name for p in server.datadir.glob("binlog.0*") if p.name >= file)
    command = [BINLOG, "-v", "--base64-output=decode-rows", f"--start-position={position}", *[str(server.datadir / name) for name in files]]
    events = subprocess.run(command, capture_output=True, text=True)
    assert events.returncode == 0, events.stderr
    assert events.stdout.count("INSERT INTO `bank`.`journal`") == len(after) - len(there)


def test_where_a_copy_may_go_and_who_may_make_one(start, tmp_path):
    server = start()
    connection = server.connect()
    (tmp_path / "there").mkdir()
    assert error_of(connection, f"CLONE LOCAL DATA DIRECTORY '{tmp_path}/there'") == (1007, f"Can't create database '{tmp_path}/there'; database exists")
    assert error_of(connection, "CLONE LOCAL DATA DIRECTORY 'relative'") == (1525, "Incorrect path value: 'relative'")
    assert error_of(connection, "CLONE LOCAL DATA DIRECTORY = ''") == (1525, "Incorrect path value: ''")
    inside = f"{server.datadir}/inside"
    assert error_of(connection, f"CLONE LOCAL DATA DIRECTORY = '{inside}'") == (3632, f"Path is within the current data directory '{inside}'")
    (tmp_path / "link").symlink_to(server.datadir)
    (tmp_path / "out").symlink_to(tmp_path / "there")
    (tmp_path / "file").write_text("")
    for other in (f"{tmp_path}/link/inside", f"{tmp_path}/out/../link/inside"):
        assert error_of(connection, f"CLONE LOCAL DATA DIRECTORY = '{other}'")[0] == 3632
    for other in (f"{tmp_path}/file", f"{tmp_path}/file/below", f"{tmp_path}/above/{'x' * 300}"):
        assert error_of(connection, f"CLONE LOCAL DATA DIRECTORY = '{other}'")[0] == 1006
    assert not (tmp_path / "above").exists()
    assert error_of(connection, "PREPARE s FROM 'CLONE LOCAL DATA DIRECTORY ''/x'''")[0] == 1295
    run("CREATE USER u", on=connection)
    other = server.connect(user="u")
    assert error_of(other, f"CLONE LOCAL DATA DIRECTORY '{tmp_path}/denied'")[0] == 1227
    run("GRANT BACKUP_ADMIN ON *.* TO u", on=connection)
    # It commits, as MySQL's does.
    run("CREATE DATABASE d", "CREATE TABLE d.t (a INT)", "GRANT ALL ON d.* TO u", on=connection)
    run("BEGIN", "INSERT INTO d.t VALUES (1)", f"CLONE LOCAL DATA DIRECTORY '{tmp_path}/made'", "ROLLBACK", on=other)
    assert value(connection, "SELECT COUNT(*) FROM d.t") == 1
    copy = start(datadir=tmp_path / "made")
    assert value(copy.connect(), "SELECT COUNT(*) FROM d.t") == 1


def test_an_instance_is_cloned_into_a_directory_and_in_place(start, tmp_path):
    options = ["--log-bin", "--gtid-mode=ON", "--enforce-gtid-consistency=ON"]
    donor = start(*options, "--server-id=1")
    source = donor.connect()
    fill(source, 500)
    run("CREATE USER d IDENTIFIED BY 'p'", "GRANT BACKUP_ADMIN ON *.* TO d", "CREATE USER e IDENTIFIED BY 'p'",
        "CREATE USER r IDENTIFIED BY 'r'", "GRANT REPLICATION SLAVE ON *.* TO r", on=source)
    recipient = start(*options, "--server-id=2")
    connection = recipient.connect()
    run("CREATE DATABASE old", "CREATE TABLE old.t (a INT)", on=connection)
    clone = f"CLONE INSTANCE FROM d@127.0.0.1:{donor.port} IDENTIFIED BY 'p'"
    place = f"127.0.0.1:{donor.port}"
    assert error_of(connection, clone) == (3869, f"Clone system configuration: {place} is not found in clone_valid_donor_list: ")
    for wrong in ("x", "a:b", "a:1,b", "a:1, b:2", " a:1", "[::1]:1", "", ":1", "h:1,"):
        assert error_of(connection, f"SET GLOBAL clone_valid_donor_list = '{wrong}'") == (
            3869, "Clone system configuration: Invalid Format. Please enter \"<hostname1>:<port1>,...\"' with no extra space")
    run(f"SET GLOBAL clone_valid_donor_list = '127.0.0.1:1,{place},127.0.0.1:{recipient.port}'", on=connection)
    for statement, expected in [
        (f"CLONE INSTANCE FROM d@127.0.0.1:1 IDENTIFIED BY 'p' DATA DIRECTORY = '{tmp_path}/no'",
         (3862, "Clone Donor Error: Connect failed: 2003 : Can't connect to MySQL server on '127.0.0.1:1' (111).")),
        (f"CLONE INSTANCE FROM d@{place} IDENTIFIED BY 'q' DATA DIRECTORY = '{tmp_path}/no'",
         (3862, "Clone Donor Error: Connect failed: 1045 : Access denied for user 'd'@'localhost' (using password: YES).")),
        (f"CLONE INSTANCE FROM e@{place} IDENTIFIED BY 'p' DATA DIRECTORY = '{tmp_path}/no'",
         (3862, "Clone Donor Error: 1227 : Access denied; you need (at least one of) the BACKUP_ADMIN privilege(s) for this operation.")),
        (f"{clone} DATA DIRECTORY 'relative'", (1525, "Incorrect path value: 'relative'")),
        (f"{clone} DATA DIRECTORY '{tmp_path}'", (1007, f"Can't create database '{tmp_path}'; database exists")),
        (f"CLONE INSTANCE FROM root@127.0.0.1:{recipient.port} IDENTIFIED BY ''",
         (3862, "Clone Donor Error: 3871 : Clone cannot use loop back connection while cloning into current data directory..")),
    ]:
        assert error_of(connection, statement) == expected
    assert not (tmp_path / "no").exists() and not (recipient.datadir / "#clone").exists()
    run("CREATE USER u", on=connection)
    assert error_of(recipient.connect(user="u"), clone)[0] == 1227

    for number, ssl in enumerate(["", "REQUIRE SSL", "REQUIRE NO SSL"]):
        run(f"{clone} DATA DIRECTORY = '{tmp_path}/c{number}' {ssl}", on=connection)
    assert rows(connection, "SELECT STATE, SOURCE, DESTINATION, ERROR_NO FROM performance_schema.clone_status") == (
        ("Completed", place, f"{tmp_path}/c2", 0),)
    copy = start(*options, datadir=tmp_path / "c1", run=False)
    copy.assert_sound()

    uuid = value(connection, "SELECT @@server_uuid")
    assert error_of(connection, clone) == (3707, "Restart server failed (mysqld is not managed by supervisor process).")
    assert recipient.process.wait(60) == 0
    run("INSERT INTO bank.journal (a, b) VALUES (3, 3)", on=source)
    recipient.start()
    connection = recipient.connect()
    assert rows(connection, "SHOW DATABASES LIKE 'old'") == () and value(connection, "SELECT COUNT(*) FROM bank.filler") == 500
    assert value(connection, "SELECT @@server_uuid") == uuid
    ((state, told, file, position, executed),) = rows(
        connection, "SELECT STATE, SOURCE, BINLOG_FILE, BINLOG_POSITION, GTID_EXECUTED FROM performance_schema.clone_status")
    assert (state, told) == ("Completed", place)
    assert executed.replace("\n", "") == value(connection, "SELECT @@global.gtid_executed").replace("\n", "")
    run(f"CHANGE REPLICATION SOURCE TO SOURCE_HOST = '127.0.0.1', SOURCE_PORT = {donor.port}, SOURCE_USER = 'r', SOURCE_PASSWORD = 'r', "
        f"GET_SOURCE_PUBLIC_KEY = 1, SOURCE_LOG_FILE = '{file}', SOURCE_LOG_POS = {position}", "START REPLICA", on=connection)
    wait_until(lambda: value(connection, "SELECT COUNT(*) FROM bank.journal WHERE a = 3") == 1, 30, "the replica")
    run("STOP REPLICA", on=connection)
    assert recipient.stop() == 0
    recipient.assert_sound()


def test_the_command_makes_a_copy_and_names_its_place(start, tmp_path):
    server = start("--log-bin", "--gtid-mode=ON", "--enforce-gtid-consistency=ON", "--server-id=1")
    connection = server.connect()
    fill(connection, 3000)
    run("CREATE USER b IDENTIFIED BY 'secret'", "GRANT BACKUP_ADMIN ON *.* TO b", "GRANT SELECT ON performance_schema.* TO b",
        "SET GLOBAL clone_max_data_bandwidth = 8", on=connection)
    command = [str(BINARY), "backup", f"--port={server.port}", "--user=b", "--to", str(tmp_path / "it's here")]
    refused = subprocess.run(command, capture_output=True, text=True)
    assert refused.returncode == 1 and "Access denied" in refused.stderr
    for options in ([], ["--ssl"]):
        made = subprocess.run([*command, *options], capture_output=True, text=True, env={"MYSQL_PWD": "secret"})
        if not options:
            assert made.returncode == 0, made.stderr
            ((file, position, executed),) = rows(connection, "SELECT BINLOG_FILE, BINLOG_POSITION, GTID_EXECUTED FROM performance_schema.clone_status")
            assert f"binary log: {file}:{position}" in made.stdout and f"GTIDs: {executed}" in made.stdout
            assert " %, " in made.stderr
        else:
            assert made.returncode == 1 and "File exists" in made.stderr
    copy = start(datadir=tmp_path / "it's here", run=False)
    copy.assert_sound()


def test_a_copy_that_is_killed_or_finds_no_room_leaves_nothing(start, tmp_path, small_disk):
    server = start()
    connection = server.connect()
    fill(connection, 8000)
    run("SET GLOBAL clone_max_data_bandwidth = 1", on=connection)
    failed = []

    def clone(target):
        failed.append(error_of(server.connect(), f"CLONE LOCAL DATA DIRECTORY = '{target}'"))

    maker = threading.Thread(target=clone, args=(tmp_path / "above/killed",))
    maker.start()
    wait_until(lambda: any(row[0] == "In Progress" for row in status(connection)), 30, "the copy")
    assert error_of(connection, f"CLONE LOCAL DATA DIRECTORY = '{tmp_path}/second'") == (3634, "Too many concurrent clone operations. Maximum allowed - 1.")
    wait_until(lambda: value(connection, "SELECT SUM(DATA) FROM performance_schema.clone_progress") > 0, 30, "its first bytes")
    began = time.monotonic()
    run(f"KILL QUERY {value(connection, 'SELECT PID FROM performance_schema.clone_status')}", on=connection)
    maker.join()
    assert time.monotonic() - began < 2
    assert failed.pop() == (1317, "Query execution was interrupted")
    assert status(connection)[0][:3] == ("Failed", f"{tmp_path}/above/killed", 1317)
    assert not (tmp_path / "above").exists() and not (tmp_path / "second").exists()

    run("SET GLOBAL clone_max_data_bandwidth = 0", on=connection)
    with open(small_disk / "ballast", "wb") as file:
        os.posix_fallocate(file.fileno(), 0, os.statvfs(small_disk).f_bavail * os.statvfs(small_disk).f_frsize - (8 << 20))
    clone(small_disk / "full")
    assert failed[0][0] == 1026 and "No space left on device" in failed[0][1]
    assert not (small_disk / "full").exists()
    run(f"CLONE LOCAL DATA DIRECTORY = '{tmp_path}/third'", on=connection)
    copy = start(datadir=tmp_path / "third", run=False)
    copy.assert_sound()


def test_kill_ends_the_wait_for_a_donor_that_says_nothing(start, tmp_path):
    server = start("--skip-log-bin")
    connection = server.connect()
    with socket.create_server(("127.0.0.1", 0)) as silent:
        place = f"127.0.0.1:{silent.getsockname()[1]}"
        run(f"SET GLOBAL clone_valid_donor_list = '{place}'", on=connection)
        told = []
        other = server.connect()
        clone = f"CLONE INSTANCE FROM d@{place} IDENTIFIED BY 'p' DATA DIRECTORY = '{tmp_path}/copy'"
        waiter = threading.Thread(target=lambda: told.append(code_of(other, clone)))
        waiter.start()
        accepted, _ = silent.accept()
        began = time.monotonic()
        run(f"KILL QUERY {other.thread_id()}", on=connection)
        waiter.join(20)
        assert told == [1317] and time.monotonic() - began < 2
        accepted.close()
    assert not (tmp_path / "copy").exists()
    assert value(other, "SELECT 1") == 1


@pytest.mark.parametrize("kill", ["KILL QUERY", "KILL CONNECTION"])
@pytest.mark.parametrize("where", ["local", "directory", "in place"])
def test_kill_ends_a_copy_that_runs(start, tmp_path, where, kill):
    donor = start("--log-bin", "--server-id=1")
    source = donor.connect()
    fill(source, 4000)
    run("CREATE USER d IDENTIFIED BY 'p'", "GRANT BACKUP_ADMIN ON *.* TO d", "SET GLOBAL clone_max_data_bandwidth = 1", on=source)
    target = tmp_path / "above/copy"
    if where == "local":
        here, connection = donor, source
        statement = f"CLONE LOCAL DATA DIRECTORY = '{target}'"
    else:
        here = start("--log-bin", "--server-id=2")
        connection = here.connect()
        run("CREATE DATABASE old", "CREATE TABLE old.t (a INT)", "INSERT INTO old.t VALUES (7)",
            f"SET GLOBAL clone_valid_donor_list = '127.0.0.1:{donor.port}'", on=connection)
        statement = f"CLONE INSTANCE FROM d@127.0.0.1:{donor.port} IDENTIFIED BY 'p'"
        statement += f" DATA DIRECTORY = '{target}'" if where == "directory" else ""
    before = sorted(path.name for path in here.datadir.iterdir())
    told = []

    def clone():
        other = here.connect()
        told.append(other.thread_id())
        with pytest.raises(pymysql.MySQLError) as caught:
            run(statement, on=other)
        told.append(caught.value.args[0])

    maker = threading.Thread(target=clone)
    maker.start()
    wait_until(lambda: any(row[0] == "In Progress" for row in status(connection)), 30, "the copy")
    wait_until(lambda: value(connection, "SELECT SUM(DATA) FROM performance_schema.clone_progress") > 1 << 20, 30, "its first bytes")
    began = time.monotonic()
    run(f"{kill} {told[0]}", on=connection)
    maker.join(20)
    # MySQL has the same second; a busy machine another one.
    assert time.monotonic() - began < 2
    assert told[1] in ([1317] if kill == "KILL QUERY" else [1317, 2013]), told
    wait_until(lambda: status(connection)[0][0] == "Failed", 2, "it has failed")
    assert status(connection)[0][2] == 1317
    assert not (tmp_path / "above").exists()
    wait_until(lambda: not rows(source, "SELECT 1 FROM information_schema.processlist WHERE user = 'd'"), 10, "the donor lets go")
    if where != "local":
        assert value(connection, "SELECT a FROM old.t") == 7
    assert sorted(path.name for path in here.datadir.iterdir() if not path.name.startswith("binlog.")) == [
        name for name in before if not name.startswith("binlog.")]
    # The next one may begin at once.
    run("SET GLOBAL clone_max_data_bandwidth = 0", on=source)
    run(f"CLONE LOCAL DATA DIRECTORY = '{tmp_path}/next'", on=source)
    copy = start(datadir=tmp_path / "next", run=False)
    copy.assert_sound()
