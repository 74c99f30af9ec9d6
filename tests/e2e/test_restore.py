"""`clearway backup` and `clearway restore`: streams, increments, faults, and point-in-time recovery with the binary log."""

import os
import random
import re
import shutil
import signal
import subprocess
import threading
import time

import pymysql
import pytest
from bank import Transfers, audit, fill
from harness import BINARY, rows, run, value, wait_until

pytestmark = pytest.mark.usefixtures("clearway_only")

GTIDS = ["--log-bin", "--gtid-mode=ON", "--enforce-gtid-consistency=ON", "--server-id=1"]
SMALL = ["--innodb-buffer-pool-size=16M", "--innodb-redo-log-capacity=16M"]


def clearway(*words, **options):
    return subprocess.run([str(BINARY), *map(str, words)], capture_output=True, **options)


def backup(server, *words, **options):
    return clearway("backup", f"--port={server.port}", *words, **options)


def restore(*words):
    done = clearway("restore", *words, text=True)
    return done.returncode, done.stdout, done.stderr


def made(done):
    assert done.returncode == 0, done.stderr
    return done.stdout


def refused(outcome, *parts, target=None):
    code, out, error = outcome
    assert code == 1 and all(part in error for part in parts), (code, out, error)
    assert target is None or not target.exists()


def checksums(connection):
    tables = [name for name, in rows(connection, "SHOW TABLES FROM bank")]
    return rows(connection, "CHECKSUM TABLE " + ", ".join(f"bank.{name}" for name in tables))


def binlogs(server):
    return sorted(str(path) for path in server.datadir.glob("binlog.0*"))


def test_streams_and_increments_come_back_as_they_were_copied(start, tmp_path):
    server = start(*GTIDS, *SMALL)
    connection = server.connect()
    fill(connection, 4000)
    transfers = Transfers(server)
    try:
        wait_until(lambda: value(connection, "SELECT COUNT(*) FROM bank.journal") > 20, 30, "transfers")
        before = audit(connection)
        made(backup(server, "--to", tmp_path / "base"))
        run("CREATE TABLE bank.more (id INT PRIMARY KEY, pad VARCHAR(2000))", "DROP TABLE bank.filler", on=connection)
        with connection.cursor() as cursor:
            cursor.executemany("INSERT INTO bank.more VALUES (%s, REPEAT('m', 1500))", [(i,) for i in range(500)])
        first = audit(connection)
        made(backup(server, "--to", tmp_path / "one", "--incremental-from", tmp_path / "base"))
        run("UPDATE bank.more SET pad = REPEAT('n', 1000) WHERE id < 100", on=connection)
        second = audit(connection)
        with open(tmp_path / "two", "wb") as stream:
            done = subprocess.run([str(BINARY), "backup", f"--port={server.port}", "--to=-", "--incremental-from", str(tmp_path / "one")],
                                  stdout=stream, stderr=subprocess.PIPE, text=True)
        assert done.returncode == 0, done.stderr
        assert "GTIDs: " in done.stderr
        plain = made(backup(server, "--to=-", "--compress=none"))
    finally:
        transfers.stop()
    (tmp_path / "plain").write_bytes(plain)
    after = audit(connection)
    # What has not changed is not in an increment.
    blocks = {name: os.stat(tmp_path / name / "clearway.data").st_blocks for name in ("base", "one")}
    assert blocks["one"] < blocks["base"] * 3 / 4, blocks

    expected = [(["base"], before, None), (["base", "one"], first, "m" * 1500), (["base", "one", "two"], second, "n" * 1000), (["plain"], second, "n" * 1000)]
    for i, (chain, at_least, pad) in enumerate(expected):
        target = tmp_path / f"restored{i}"
        code, said, error = restore(*[word for name in chain for word in ("--from", tmp_path / name)], "--to", target)
        assert code == 0, error
        copy = start(*GTIDS, "--server-id=2", datadir=target, run=False)
        copy.assert_sound()
        copy.start()
        copied = copy.connect()
        assert at_least <= audit(copied) <= after
        if pad:
            assert rows(copied, "SELECT COUNT(*) FROM bank.more WHERE pad = %s", (pad,))[0][0] > 0
            assert rows(copied, "SHOW TABLES FROM bank LIKE 'filler'") == ()
        else:
            assert value(copied, "SELECT COUNT(*) FROM bank.filler WHERE pad = REPEAT('f', 1900)") == 4000
        executed = value(copied, "SELECT @@global.gtid_executed").replace("\n", "")
        assert f"GTIDs: {executed}" in said
        copy.stop()


def test_what_is_no_whole_backup_is_refused(start, tmp_path):
    server = start(*GTIDS)
    connection = server.connect()
    fill(connection, 500)
    made(backup(server, "--to", tmp_path / "base"))
    made(backup(server, "--to", tmp_path / "one", "--incremental-from", tmp_path / "base"))
    made(backup(server, "--to", tmp_path / "two", "--incremental-from", tmp_path / "one"))
    stream = made(backup(server, "--to=-"))
    target = tmp_path / "target"
    names = [tmp_path / name for name in ("base", "one", "two")]
    for chain, why in [([1], "which has to be named first"), ([0, 2], "is an increment of backup"), ([0, 0], "is whole"), ([0, 1, 1], "is an increment")]:
        refused(restore(*[word for i in chain for word in ("--from", names[i])], "--to", target), why, target=target)

    # A stream that is cut short or changed, at any place.
    chance = random.Random(5)
    for _ in range(4):
        (tmp_path / "cut").write_bytes(stream[:chance.randrange(len(stream))])
        refused(restore("--from", tmp_path / "cut", "--to", target), target=target)
    at = chance.randrange(100, len(stream) - 100)
    (tmp_path / "cut").write_bytes(stream[:at] + bytes([stream[at] ^ 8]) + stream[at + 1:])
    refused(restore("--from", tmp_path / "cut", "--to", target), target=target)

    # A page that rots, one that is lost.
    for change, why in [(b"rot", "checksum"), (bytes(16384), "pages are there")]:
        shutil.copytree(tmp_path / "base", tmp_path / "rotten")
        with open(tmp_path / "rotten/clearway.data", "r+b") as file:
            pages = [i for i in range(os.fstat(file.fileno()).st_size // 16384) if os.pread(file.fileno(), 16384, i * 16384).strip(b"\0")]
            os.pwrite(file.fileno(), change, pages[len(pages) // 2] * 16384 + (0 if len(change) > 3 else 4000))
        refused(restore("--from", tmp_path / "rotten", "--to", target), why, target=target)
        shutil.rmtree(tmp_path / "rotten")
    # The log's last segment.
    shutil.copytree(tmp_path / "base", tmp_path / "rotten")
    segment = sorted((tmp_path / "rotten/redo").glob("clearway-*.log"))[-1]
    segment.unlink()
    refused(restore("--from", tmp_path / "rotten", "--to", target), target=target)

    # Somebody else's directory, and one in which a server was started.
    target.mkdir()
    (target / "there").write_text("")
    refused(restore("--from", names[0], "--to", target), "is not empty")
    assert (target / "there").exists()
    started = start(*GTIDS, "--server-id=2", datadir=tmp_path / "base")
    assert value(started.connect(), "SELECT COUNT(*) FROM bank.filler") == 500
    started.stop()
    refused(restore("--from", names[0], "--to", tmp_path / "other"), "a server was started in it", target=tmp_path / "other")
    done = backup(started.start(), "--to", tmp_path / "three", "--incremental-from", tmp_path / "two", text=True)
    assert done.returncode == 1 and "is of another server" in done.stderr, done.stderr
    assert not (tmp_path / "three").exists()
    done = clearway("serve", f"--datadir={tmp_path / 'two'}", text=True)
    assert done.returncode == 1 and "not ours" in done.stderr


@pytest.mark.parametrize("gtids", [True, False])
def test_point_in_time_recovery_ends_where_it_is_told_to(start, tmp_path, gtids):
    server = start(*(GTIDS if gtids else ["--log-bin", "--server-id=1"]), "--max-binlog-size=4096")
    connection = server.connect()
    fill(connection, 10)
    run("INSERT INTO bank.journal (a, b) VALUES (1, 1)", on=connection)
    made(backup(server, "--to", tmp_path / "base"))

    points = []
    for i in range(40):
        if i == 20:
            run("CREATE TABLE bank.late (id INT PRIMARY KEY, t TEXT)", "FLUSH BINARY LOGS", on=connection)
        run("START TRANSACTION", f"INSERT INTO bank.journal (a, b) VALUES (2, {i})", f"UPDATE bank.filler SET pad = 'x{i}' WHERE id = {i % 10}",
            "COMMIT", on=connection)
        (status,) = rows(connection, "SHOW BINARY LOG STATUS")
        points.append((f"{status[0]}:{status[1]}", status[4].replace("\n", ""), checksums(connection)))
        if i == 29:
            time.sleep(0.01)
            # What the clock says between two transactions, in this machine's own time zone.
            between = value(connection, "SELECT NOW(6)")
            time.sleep(0.01)
    files = binlogs(server)
    assert len(files) > 3
    number = iter(range(1000))

    def recover(*words, given=files):
        target = tmp_path / f"restored{next(number)}"
        return target, restore("--from", tmp_path / "base", "--to", target, "--binlog", *given, *words)

    def ends_at(point, outcome, tells_place=True):
        target, (code, said, error) = outcome
        assert code == 0, error
        place, executed, sums = points[point]
        assert f"binary log: {place}\n" in said or not tells_place, (said, place)
        copy = start(*(GTIDS if gtids else ["--log-bin"]), "--server-id=2", datadir=target, run=False)
        assert not list(target.glob("*relay*"))
        copy.assert_sound()
        copy.start()
        copied = copy.connect()
        assert checksums(copied) == sums
        assert rows(copied, "SHOW REPLICA STATUS") == ()
        if gtids:
            assert value(copied, "SELECT @@global.gtid_executed").replace("\n", "") == executed
        run("INSERT INTO bank.journal (a, b) VALUES (9, 9)", on=copied)
        copy.stop()

    def fails(outcome, *parts):
        target, (code, said, error) = outcome
        refused((code, said, error), *parts, target=target)

    ends_at(39, recover())
    ends_at(25, recover(f"--until-position={points[25][0]}"))
    ends_at(29, recover(f"--until-time={between}"))
    place, offset = points[25][0].rsplit(":", 1)
    fails(recover(f"--until-position={place}:{int(offset) - 1}"), "in the middle of a transaction")
    fails(recover("--until-position=binlog.000001:4"), "the backup ends at")
    fails(recover(f"--until-position={points[39][0]}0"), "the files end before")
    fails(recover("--until-time=2020-01-01 00:00:00"), "take an older one")
    if gtids:
        uuid = value(connection, "SELECT @@server_uuid")
        last = int(points[25][1].rsplit("-", 1)[1])
        # The end of a transaction is a place in its file even where the next file begins behind it.
        ends_at(25, recover(f"--until-gtid={uuid}:{last}"), tells_place=False)
        ends_at(25, recover(f"--before-gtid={uuid}:{last + 1}"))
        fails(recover(f"--until-gtid={uuid}:{last + 1000}"), "the files do not have", f"{uuid}:{last + 1000}")
        fails(recover(f"--until-gtid={uuid}:1"), "take an older one")
        # Files from before the backup add nothing, and their end is no place that the data stand for.
        plain = restore("--from", tmp_path / "base", "--to", tmp_path / "plain")[1]
        (stands,) = re.findall(r"binary log: \S+", plain)
        older = [name for name in files if os.path.basename(name) < stands.split()[-1].split(":")[0]]
        assert older
        said = recover(given=older)[1][1]
        assert "applied: 0 transactions" in said and f"{stands}\n" in said, (said, stands)

    # Gaps, damage, files of others.
    first = next(i for i, name in enumerate(files) if os.path.basename(name) == points[0][0].split(":")[0])
    fails(recover(given=files[:first + 1] + files[first + 2:]), "a file is missing between")
    fails(recover(given=files[first + 2:]), "purged, or a file is missing" if gtids else "that file is missing")
    fails(recover(given=[files[0], files[0]]), "same number")
    (tmp_path / "cut").mkdir()
    whole = (tmp_path / "base" / os.path.basename(files[first])).read_bytes()
    for source in files[first:]:
        shutil.copy(source, tmp_path / "cut")
    cut = [str(tmp_path / "cut" / os.path.basename(name)) for name in files[first:]]
    os.truncate(cut[1], os.path.getsize(cut[1]) - 7)
    fails(recover(given=cut), "cut short")
    os.truncate(cut[0], len(whole) - 1)
    fails(recover(given=cut[:1]), "is cut short: the backup ends in it")
    shutil.copy(files[first], cut[0])
    with open(cut[0], "r+b") as file:
        os.pwrite(file.fileno(), b"\xff", len(whole) - 20)
    fails(recover(given=cut[:1]), "one of the same name")
    shutil.copy(files[first], cut[0])
    with open(cut[0], "r+b") as file:
        os.pwrite(file.fileno(), b"\xff", len(whole) + 40)
    fails(recover(given=cut[:1]))
    done = clearway("restore", "--from", tmp_path / "base", "--to", tmp_path / "x", "--until-time=2030-01-01 00:00:00", text=True)
    assert done.returncode == 1 and "--binlog names its files" in done.stderr


def test_a_backup_that_does_not_end_is_none(start, tmp_path, small_disk):
    server = start(*GTIDS, *SMALL)
    connection = server.connect()
    fill(connection, 6000)
    transfers = Transfers(server, 2)
    try:
        wait_until(lambda: value(connection, "SELECT COUNT(*) FROM bank.journal") > 20, 30, "transfers")
        in_progress = "SELECT COUNT(*) FROM performance_schema.clone_status WHERE state = 'In Progress'"

        def begin(*words):
            client = subprocess.Popen([str(BINARY), "backup", f"--port={server.port}", *map(str, words)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            wait_until(lambda: value(connection, in_progress) == 1, 30, "the copy")
            return client

        # The client is killed: the server goes on, and what is there is no backup.
        client = begin("--to", tmp_path / "killed", "--throttle=2M")
        client.send_signal(signal.SIGKILL)
        client.communicate()
        wait_until(lambda: value(connection, in_progress) == 0, 10, "the copy's end")
        refused(restore("--from", tmp_path / "killed", "--to", tmp_path / "x"), "no backup", target=tmp_path / "x")
        assert clearway("serve", f"--datadir={tmp_path / 'killed'}").returncode == 1

        # A client that hangs up during CLONE LOCAL, with and without a goodbye.
        for polite in (True, False):
            run("SET GLOBAL clone_max_data_bandwidth = 2", on=connection)
            maker = server.connect()
            maker._execute_command(3, f"CLONE LOCAL DATA DIRECTORY = '{tmp_path}/hung-up'")
            wait_until(lambda: value(connection, in_progress) == 1, 30, "the copy")
            if polite:
                maker._sock.sendall(b"\1\0\0\0\1")
            maker._force_close()
            wait_until(lambda: value(connection, in_progress) == 0, 5, "the copy's end")
            assert not (tmp_path / "hung-up").exists()
        run("SET GLOBAL clone_max_data_bandwidth = 0", on=connection)

        # No room where it goes.
        with open(small_disk / "ballast", "wb") as file:
            os.posix_fallocate(file.fileno(), 0, os.statvfs(small_disk).f_bavail * os.statvfs(small_disk).f_frsize - (8 << 20))
        done = backup(server, "--to", small_disk / "full", text=True)
        assert done.returncode == 1 and "No space left" in done.stderr, done.stderr
        assert not (small_disk / "full").exists()
        wait_until(lambda: value(connection, in_progress) == 0, 10, "the copy's end")
        made(backup(server, "--to", tmp_path / "base"))
        refused(restore("--from", tmp_path / "base", "--to", small_disk / "full"), "No space left", target=small_disk / "full")

        # The server is killed.
        client = begin("--to", tmp_path / "dead", "--throttle=2M")
    finally:
        transfers.stopped.set()
    server.kill()
    _, said = client.communicate()
    assert client.returncode == 1 and b"Lost connection" in said, said
    assert not (tmp_path / "dead").exists()
    for thread in transfers.threads:
        thread.join()


def test_all_that_changes_meanwhile_is_whole_in_the_copy(start, tmp_path):
    seed = int(os.environ.get("CLEARWAY_BACKUP_SEED", "1"))
    rounds = int(os.environ.get("CLEARWAY_BACKUP_ROUNDS", "2"))
    chance = random.Random(seed)
    server = start(*GTIDS, *SMALL, "--max-binlog-size=65536")
    connection = server.connect()
    fill(connection, 2000)
    transfers, stopped, failed = Transfers(server, 2), threading.Event(), []

    def change():
        mine = server.connect(database="bank")
        number = 0
        while not stopped.is_set():
            number += 1
            name = f"t{number % 4}"
            kind = chance.randrange(8)
            try:
                if kind == 0:
                    run(f"DROP TABLE IF EXISTS {name}", f"CREATE TABLE {name} (id INT PRIMARY KEY AUTO_INCREMENT, pad VARCHAR(3000), KEY (pad(50)))", on=mine)
                elif kind == 1:
                    run(f"TRUNCATE TABLE {name}", on=mine)
                elif kind == 2:
                    run(f"ALTER TABLE {name} ADD INDEX k{number} (pad(20))", on=mine)
                elif kind == 3:
                    run(f"ALTER TABLE {name} ADD COLUMN c{number} INT DEFAULT {number}", on=mine)
                elif kind == 4:
                    run("PURGE BINARY LOGS BEFORE NOW()", "FLUSH BINARY LOGS", on=mine)
                else:
                    with mine.cursor() as cursor:
                        cursor.executemany(f"INSERT INTO {name} (pad) VALUES (REPEAT(%s, 700))", [(f"{number:03}",)] * 300)
            except pymysql.MySQLError as error:
                if error.args[0] not in (1146, 1061, 1060, 1062, 1205, 1213, 1118):
                    failed.append(error)
                    return

    changer = threading.Thread(target=change)
    changer.start()
    chain = []
    try:
        for i in range(rounds):
            base = ["--incremental-from", chain[-1]] if chain else []
            time.sleep(chance.random())
            made(backup(server, "--to", tmp_path / f"b{i}", *base, f"--throttle={chance.choice([20, 40, 1000])}M"))
            chain.append(tmp_path / f"b{i}")
    finally:
        stopped.set()
        changer.join()
        transfers.stop()
    assert not failed, failed
    for i in range(rounds):
        target = tmp_path / f"r{i}"
        code, said, error = restore(*[word for name in chain[:i + 1] for word in ("--from", name)], "--to", target)
        assert code == 0, error
        copy = start(*GTIDS, datadir=target, run=False)
        copy.assert_sound()
        copy.start()
        audit(copy.connect())
        copy.stop()


def test_rows_in_memory_are_there_for_what_follows_in_the_files(start, tmp_path):
    """They are in the copy, what the files change of them is applied, and they go when a server starts, which its binary log tells."""
    server = start(*GTIDS)
    connection = server.connect()
    run("CREATE DATABASE d", "CREATE TABLE d.m (id INT PRIMARY KEY, n INT, KEY (n)) ENGINE=MEMORY", "CREATE TABLE d.bare (n INT) ENGINE=MEMORY",
        "CREATE TABLE d.kept (id INT PRIMARY KEY)", "INSERT INTO d.m VALUES (1, 1), (2, 2), (3, 3)", "INSERT INTO d.bare VALUES (1), (2)", on=connection)
    made(backup(server, "--to", tmp_path / "base"))
    run("UPDATE d.m SET n = 5 WHERE id = 1", "DELETE FROM d.m WHERE id = 2", "UPDATE d.bare SET n = 7 WHERE n = 1", "INSERT INTO d.m VALUES (9, 9)",
        "INSERT INTO d.kept SELECT id FROM d.m", on=connection)
    # The source's own start, in the middle of its files.
    server.kill()
    server.start()
    connection = server.connect()
    run("INSERT INTO d.m VALUES (2, 2)", "INSERT INTO d.kept VALUES (100)", on=connection)
    code, _, error = restore("--from", tmp_path / "base", "--to", tmp_path / "target", "--binlog", *binlogs(server))
    assert code == 0, error
    copy = start(*GTIDS[:-1], "--server-id=2", datadir=tmp_path / "target")
    copied = copy.connect()
    assert rows(copied, "SELECT * FROM d.m") == rows(copied, "SELECT * FROM d.bare") == ()
    assert rows(copied, "SELECT * FROM d.kept") == ((1,), (3,), (9,), (100,))
    executed = value(connection, "SELECT @@global.gtid_executed").replace("\n", "")
    assert value(copied, f"SELECT GTID_SUBSET('{executed}', @@global.gtid_executed)") == 1
    last = rows(copied, "SHOW BINARY LOGS")[-1][0]
    events = [(row[2], row[5]) for row in rows(copied, f"SHOW BINLOG EVENTS IN '{last}'")]
    assert [kind for kind, _ in events if kind.endswith("Gtid")] == ["Gtid", "Gtid"]
    assert sorted(re.search(r"TRUNCATE TABLE `d`.`(\w+)`", info)[1] for kind, info in events if kind == "Query") == ["bare", "m"]
    copy.stop()
    copy.assert_sound()
