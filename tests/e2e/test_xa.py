"""Prepared XA transactions: through disconnects, kill -9 and restarts, with their locks, in the binary log and on a replica. A model of
what was acknowledged says what each transaction may have become."""

import collections
import itertools
import random
import re
import shutil
import subprocess
import threading

import pymysql
import pytest
from harness import rows, run, value, wait_until
from test_binlog import BINLOG
from test_replica import GTIDS, catch_up, follow, pair
from test_restore import backup, binlogs, made, restore

pytestmark = pytest.mark.usefixtures("clearway_only")

ROUNDS = 4
WRITERS = 4


def refused(connection, statement, code):
    with pytest.raises(pymysql.err.MySQLError) as error:
        run(statement, on=connection)
    assert error.value.args[0] == code, (statement, error.value.args)


def prepare(connection, name, *statements):
    run(f"XA START '{name}'", *statements, f"XA END '{name}'", f"XA PREPARE '{name}'", on=connection)


def recovered(connection):
    return sorted(row[3] for row in rows(connection, "XA RECOVER"))


def test_prepared_ones_are_there_after_kill_9_and_keep_rows_and_tables(start):
    server = start()
    one = server.connect()
    run("CREATE DATABASE d", "USE d", "CREATE TABLE t (id INT PRIMARY KEY, n INT, KEY (n))", "CREATE TABLE u (id INT PRIMARY KEY)",
        "CREATE TABLE other (id INT PRIMARY KEY)", "INSERT INTO t VALUES (1, 1), (2, 2), (3, 3)", on=one)
    prepare(one, "stays", "UPDATE d.t SET n = 11 WHERE id = 1", "DELETE FROM d.t WHERE id = 2", "INSERT INTO d.u VALUES (7)")
    prepare(one, "goes", "INSERT INTO d.t VALUES (4, 4)")
    prepare(one, "reads", "SELECT * FROM d.other")
    run("XA START 'open'", "INSERT INTO d.t VALUES (5, 5)", "XA END 'open'", on=one)
    for restart in (server.kill, server.stop):
        restart()
        assert "2 of them prepared" in server.check()[1]
        server.start()
        two = server.connect()
        run("USE d", "SET innodb_lock_wait_timeout = 1, lock_wait_timeout = 1", on=two)
        assert recovered(two) == ["goes", "stays"]
        assert rows(two, "SELECT * FROM t") == ((1, 1), (2, 2), (3, 3))
        refused(two, "UPDATE t SET n = 0 WHERE id = 1", 1205)
        refused(two, "INSERT INTO t VALUES (4, 0)", 1205)
        assert run("UPDATE t SET n = n WHERE id = 3", on=two) == 0
        for statement in ("ALTER TABLE t ADD c INT", "DROP TABLE u", "RENAME TABLE t TO x", "TRUNCATE TABLE u", "DROP DATABASE d",
                          "LOCK TABLES t READ"):
            refused(two, statement, 1205)
        run("ALTER TABLE other ADD c INT", "ALTER TABLE other DROP c", on=two)
    run("XA COMMIT 'stays'", "XA ROLLBACK 'goes'", on=two)
    refused(two, "XA COMMIT 'goes'", 1397)
    run("ALTER TABLE t ADD c INT", on=two)
    assert rows(two, "SELECT id, n FROM t FORCE INDEX (n)") == ((3, 3), (1, 11))
    assert rows(two, "SELECT * FROM u") == ((7,),)
    server.kill()
    server.start()
    assert recovered(server.connect()) == []
    assert rows(server.connect(), "SELECT id, n FROM d.t ORDER BY id") == ((1, 11), (3, 3))
    server.stop()
    server.assert_sound()


def test_only_some_may_see_who_is_prepared(start):
    server = start()
    root = server.connect()
    run("CREATE USER u", on=root)
    refused(server.connect(user="u"), "XA RECOVER", 1401)
    run("GRANT XA_RECOVER_ADMIN ON *.* TO u", on=root)
    assert recovered(server.connect(user="u")) == []


class Worker(threading.Thread):
    """Prepares transactions and decides those of others. Each inserts two rows; what was acknowledged stands in `known`."""

    def __init__(self, server, number, seed):
        super().__init__()
        self.connection = server.connect()
        self.numbers = itertools.count(seed * 1_000_000 + number, WRITERS)
        self.random = random.Random(seed * 100 + number)
        # By number: the states that it may be in.
        self.known = {}

    def run(self):
        try:
            while True:
                self.step(next(self.numbers))
        except (pymysql.err.OperationalError, pymysql.err.InterfaceError):
            pass

    def step(self, number):
        name, first = f"'x{number}'", [f"XA START 'x{number}'"]
        run(*first, f"INSERT INTO d.t VALUES ({number}, 0)", f"INSERT INTO d.u VALUES ({number})", f"XA END {name}", on=self.connection)
        kind = self.random.choice("ccrrp1")
        if kind == "1":
            self.known[number] = {"none", "committed"}
            run(f"XA COMMIT {name} ONE PHASE", on=self.connection)
            self.known[number] = {"committed"}
            return
        self.known[number] = {"none", "prepared"}
        run(f"XA PREPARE {name}", on=self.connection)
        self.known[number] = {"prepared"}
        if kind != "p":
            word, then = ("COMMIT", "committed") if kind == "c" else ("ROLLBACK", "none")
            self.known[number] = {"prepared", then}
            run(f"XA {word} {name}", on=self.connection)
            self.known[number] = {then}


def states(connection):
    """By number, what each transaction is: by its rows and by XA RECOVER."""
    found = {int(name[1:]): "prepared" for name in recovered(connection)}
    both = [{row[0] for row in rows(connection, f"SELECT id FROM d.{table}")} for table in ("t", "u")]
    assert both[0] == both[1], "half a transaction"
    assert not both[0] & found.keys(), "committed and prepared"
    return found | {number: "committed" for number in both[0]}


def logged(connection):
    """The same as the binary log has it."""
    found = {}
    for file in rows(connection, "SHOW BINARY LOGS"):
        for event in rows(connection, f"SHOW BINLOG EVENTS IN '{file[0]}'"):
            words = event[5].split()
            if words[:1] == ["XA"] and words[1] in ("PREPARE", "COMMIT", "ROLLBACK"):
                number = int(bytes.fromhex(words[2].split("'")[1]).decode()[1:])
                found[number] = {"PREPARE": "prepared", "COMMIT": "committed", "ROLLBACK": "none"}[words[1]]
    return {number: state for number, state in found.items() if state != "none"}


def test_under_kill_9_engine_and_binary_log_are_what_was_acknowledged(start):
    server = start("--max-binlog-size=1M", "--innodb-redo-log-capacity=16M")
    run("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, n INT)", "CREATE TABLE d.u (id INT PRIMARY KEY)", on=server.connect())
    known = {}
    counts = collections.Counter()
    for seed in range(1, ROUNDS + 1):
        workers = [Worker(server, number, seed) for number in range(WRITERS)]
        for worker in workers:
            worker.start()
        threading.Event().wait(0.3 + random.Random(seed).random())
        server.kill()
        for worker in workers:
            worker.join(60)
            known |= worker.known
        server.start()
        connection = server.connect()
        now = states(connection)
        for number, may in known.items():
            assert now.get(number, "none") in may, (number, now.get(number), may)
        assert not now.keys() - known.keys()
        assert logged(connection) == now
        counts.update(now.values())
        known = {number: {now.get(number, "none")} for number in known}
        # Some of what a crash has left is decided now.
        for number, state in now.items():
            if state == "prepared" and number % 3:
                run(f"XA {'COMMIT' if number % 3 == 1 else 'ROLLBACK'} 'x{number}'", on=connection)
                known[number] = {"committed" if number % 3 == 1 else "none"}
    assert counts["prepared"] > 3 and counts["committed"] > 10, counts
    server.stop()
    server.assert_sound()


def test_a_replica_prepares_and_decides_what_its_source_does(start):
    source, replica = pair(start, "--gtid-mode=ON", "--enforce-gtid-consistency=ON")
    one = source.connect()
    run("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, n INT)", on=one)
    prepare(one, "a", "INSERT INTO d.t VALUES (1, 1)")
    prepare(one, "b", "INSERT INTO d.t VALUES (2, 2)")
    prepare(one, "c", "INSERT INTO d.t VALUES (3, 3)")
    run("XA START 'd'", "INSERT INTO d.t VALUES (4, 4)", "XA END 'd'", "XA COMMIT 'd' ONE PHASE", on=one)
    run("XA COMMIT 'a'", on=one)
    two = replica.connect()
    follow(two, source, "SOURCE_AUTO_POSITION=1")
    catch_up(two, one)
    assert recovered(two) == ["b", "c"]
    assert rows(two, "SELECT * FROM d.t") == ((1, 1), (4, 4))
    replica.kill()
    replica.start()
    two = replica.connect()
    assert recovered(two) == ["b", "c"]
    run("XA ROLLBACK 'b'", "XA COMMIT 'c'", "INSERT INTO d.t VALUES (2, 22)", on=one)
    wait_until(lambda: value(two, "SELECT COUNT(*) FROM d.t") == 4, 60, "the replica decides")
    assert rows(two, "SELECT * FROM d.t") == rows(one, "SELECT * FROM d.t")
    assert recovered(two) == []
    executed = "SELECT @@gtid_executed"
    wait_until(lambda: value(two, executed) == value(one, executed), 60, "both have executed the same")


def decide_all_ways(one, two):
    """Transactions that end in each way, by the session that has prepared them and by another one. 'early' is prepared already; 'late' stays."""
    prepare(one, "a", "INSERT INTO d.t VALUES (1, 1)", "UPDATE d.t SET n = 5 WHERE id = 1")
    prepare(one, "b", "INSERT INTO d.t VALUES (2, 2)")
    run("INSERT INTO d.t VALUES (10, 10)", "FLUSH BINARY LOGS", on=two)
    run("XA COMMIT 'a'", "XA ROLLBACK 'b'", "XA COMMIT 'early'", on=two)
    prepare(one, "own", "DELETE FROM d.t WHERE id = 1", "INSERT INTO d.t VALUES (3, 3)")
    run("XA ROLLBACK 'own'", on=one)
    run("XA START 'phase'", "INSERT INTO d.t VALUES (4, 4)", "XA END 'phase'", "XA COMMIT 'phase' ONE PHASE", on=one)
    run("XA START 'gone'", "INSERT INTO d.t VALUES (5, 5)", "XA END 'gone'", "XA ROLLBACK 'gone'", on=one)
    run("XA START 'two', 'parts', 7", "INSERT INTO d.t VALUES (6, 6)", "XA END 'two', 'parts', 7", "XA PREPARE 'two', 'parts', 7", on=one)
    run("XA COMMIT 'two', 'parts', 7", "UPDATE d.t SET n = n + 1 WHERE id = 6", on=two)
    prepare(one, "late", "INSERT INTO d.t VALUES (7, 7)")


def beginning(server):
    one, two = server.connect(), server.connect()
    run("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, n INT)", on=one)
    prepare(one, "early", "INSERT INTO d.t VALUES (8, 8)")
    return one, two


RESULT = ((1, 5), (4, 4), (6, 7), (8, 8), (10, 10))


@pytest.mark.parametrize("options", [GTIDS, ()], ids=["numbers", "anonymous"])
def test_recovery_from_files_takes_what_was_prepared_and_decided(start, tmp_path, options):
    server = start("--log-bin", "--server-id=1", *options)
    one, two = beginning(server)
    made(backup(server, "--to", tmp_path / "base"))
    decide_all_ways(one, two)
    code, _, error = restore("--from", tmp_path / "base", "--to", tmp_path / "target", "--binlog", *binlogs(server))
    assert code == 0, error
    copy = start("--log-bin", "--server-id=2", *options, datadir=tmp_path / "target")
    copied = copy.connect()
    assert rows(copied, "SELECT * FROM d.t") == rows(one, "SELECT * FROM d.t") == RESULT
    assert recovered(copied) == ["late"]
    run("XA COMMIT 'late'", on=copied)
    assert value(copied, "SELECT n FROM d.t WHERE id = 7") == 7
    copy.stop()
    copy.assert_sound()


@pytest.mark.skipif(not shutil.which("mariadb"), reason="the client that reads what mariadb-binlog prints")
def test_what_a_tool_prints_is_prepared_and_decided(start):
    server, target = start("--log-bin", "--server-id=1", *GTIDS), start("--log-bin", "--server-id=2")
    one, two = beginning(server)
    decide_all_ways(one, two)
    run("FLUSH BINARY LOGS", on=two)
    files = sorted(server.datadir.glob("binlog.0*"))
    printed = subprocess.run([BINLOG, *files], capture_output=True, check=True)
    text = re.sub(rb",? ?@@session\.(check_constraint_checks|sql_if_exists|system_versioning_insert_history)=\d", b"", printed.stdout)
    # MariaDB's tool does not tell of what MySQL's event says of one phase.
    text = text.replace(b"XA PREPARE X'7068617365',X'',1", b"XA COMMIT X'7068617365',X'',1 ONE PHASE")
    into = subprocess.run(["mariadb", "--skip-ssl", "-uroot", "-h127.0.0.1", f"-P{target.port}"], input=text, capture_output=True)
    assert into.returncode == 0, into.stderr
    other = target.connect()
    assert rows(other, "SELECT * FROM d.t") == RESULT
    assert recovered(other) == ["late"]
