"""Prepared XA transactions: through disconnects, kill -9 and restarts, with their locks, in the binary log and on a replica. A model of
what was acknowledged says what each transaction may have become."""

import collections
import itertools
import random
import threading

import pymysql
import pytest
from harness import rows, run, value, wait_until
from test_replica import catch_up, follow, pair

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
