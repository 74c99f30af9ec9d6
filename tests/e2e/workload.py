"""Clients that run random transactions side by side and record what they did and saw, for history.py to judge.

Every client has its own random numbers, drawn from the run's seed; the server's scheduling is not repeated with it. Keys are
used in a moving window, so that each is hot for a while and its list stays short."""

import itertools
import random
import threading
import time

import pymysql
from harness import rows, run
from history import ABORTED, COMMITTED, UNKNOWN, Op, Transaction

WINDOW = 6
WRITES_A_KEY = 30
KEYS = 4000
DEADLOCK, LOCK_WAIT_TIMEOUT, INTERRUPTED, NO_SUCH_THREAD = 1213, 1205, 1317, 1094
# The connection is gone: broken, killed, refused.
GONE = (0, 1053, 1927, 2003, 2006, 2013, 4031)

LOCKS = ["", "", "", " FOR SHARE", " FOR UPDATE"]


class ListAppend:
    """All rows exist."""

    registers = False
    tables = ["CREATE TABLE lists (id INT PRIMARY KEY, items VARCHAR(1000) NOT NULL)"]
    fill = ("INSERT INTO lists VALUES ({}, '')", range(KEYS))

    @staticmethod
    def values(text):
        return tuple(int(item) for item in text.split(",") if item)

    def read(self, client, keys, lock):
        where = f"id = {keys[0]}" if len(keys) == 1 else f"id BETWEEN {keys[0]} AND {keys[-1]}"
        found = dict(client.rows(f"SELECT id, items FROM lists WHERE {where}{lock}"))
        return {key: (self.values(found.get(key, "")), key not in found) for key in keys}

    def write(self, client, key, value):
        touched = client.run(f"UPDATE lists SET items = CONCAT(items, '{value},') WHERE id = {key}")
        assert touched == 1, f"key {key} is gone"

    def final(self, connection):
        found = {key: self.values(items) for key, items in rows(connection, "SELECT id, items FROM lists")}
        return {key: found.get(key, ()) for key in range(KEYS)}


class ListInsert(ListAppend):
    """Even keys exist; an odd one is created by whoever comes first, in a gap that others may have read and locked."""

    fill = ("INSERT INTO lists VALUES ({}, '')", range(0, KEYS, 2))

    def write(self, client, key, value):
        if key % 2 == 0:
            super().write(client, key, value)
        else:
            client.run(f"INSERT INTO lists VALUES ({key}, '{value},') ON DUPLICATE KEY UPDATE items = CONCAT(items, '{value},')")


class Register:
    """A value, the one it replaced, and an index on the value."""

    registers = True
    tables = ["CREATE TABLE registers (id INT PRIMARY KEY, previous INT, value INT, KEY value (value))"]
    fill = ("INSERT INTO registers VALUES ({}, NULL, NULL)", range(KEYS))

    def read(self, client, keys, lock):
        where = f"id = {keys[0]}" if len(keys) == 1 else f"id BETWEEN {keys[0]} AND {keys[-1]}"
        found = dict(client.rows(f"SELECT id, value FROM registers WHERE {where}{lock}"))
        return {key: (found[key], False) for key in keys}

    def write(self, client, key, value):
        # MySQL assigns from left to right.
        assert client.run(f"UPDATE registers SET previous = value, value = {value} WHERE id = {key}") == 1
        # Our own version, at any level; and by the index, which must agree.
        seen = client.rows(f"SELECT id, previous FROM registers WHERE value = {value}")
        assert seen and seen[0][0] == key, f"the index on value does not find the {value} just written to {key}: {seen}"
        return seen[0][1]

    def final(self, connection):
        return dict(rows(connection, "SELECT id, value FROM registers"))


WORKLOADS = {"list-append": ListAppend(), "list-insert": ListInsert(), "register": Register()}


class Plan:
    """Shared by the clients of a run: numbers for values and transactions, the window of keys, when to end."""

    def __init__(self, transactions):
        self.limit = transactions
        self.next_value = itertools.count(1)
        self.next_id = itertools.count(1)
        self.history = []
        self.problems = []
        self.connections = {}
        self.over = threading.Event()

    def key(self, chance, value):
        """Keys retire as values are handed out."""
        return (value // WRITES_A_KEY + chance.randrange(WINDOW)) % KEYS

    def reached(self):
        return self.over.is_set() or len(self.history) >= self.limit


class Client:
    def __init__(self, plan, workload, server, database, level, seed, again):
        self.plan, self.workload, self.server, self.database, self.level = plan, workload, server, database, level
        # Whether to come back after the server was killed.
        self.again = again
        self.chance = random.Random(seed)
        self.connection = None
        # The value this client wrote last: where the window of keys stands.
        self.newest = 1

    # ---- statements, for the workload

    def rows(self, sql):
        return rows(self.connection, sql)

    def run(self, sql):
        return run(sql, on=self.connection)

    def live(self):
        try:
            while not self.plan.reached():
                if self.connection is None and not self.connect():
                    continue
                self.transaction()
        except Exception as error:  # Whatever it is, the test must hear of it.
            self.plan.problems.append(error)
            self.plan.over.set()
        finally:
            self.disconnect()

    def connect(self):
        try:
            self.connection = self.server.connect(database=self.database)
            number = self.connection.thread_id()
            run("SET SESSION innodb_lock_wait_timeout = 10", f"SET SESSION TRANSACTION ISOLATION LEVEL {self.level}", on=self.connection)
            self.plan.connections[self] = number
            return True
        except (pymysql.MySQLError, OSError):
            self.disconnect()
            if not self.again:
                raise
            self.plan.over.wait(0.05)
            return False

    def disconnect(self):
        self.plan.connections.pop(self, None)
        if self.connection is not None:
            try:
                self.connection.close()
            except pymysql.MySQLError:
                pass
            self.connection = None

    def transaction(self):
        chance = self.chance
        record = Transaction(next(self.plan.next_id), [], UNKNOWN, autocommit=chance.random() < 0.1)
        try:
            if not record.autocommit:
                self.run("BEGIN")
            for number in range(1, 2 if record.autocommit else chance.randint(2, 6)):
                if not self.statement(record, number):
                    break
            if record.outcome is UNKNOWN and not record.autocommit:
                self.end(record)
        except (pymysql.MySQLError, OSError) as error:
            code = error.args[0] if error.args else 0
            if code not in GONE and not isinstance(error, (OSError, pymysql.err.InterfaceError)):
                raise
            # Nothing was sent that could have committed: it did not.
            if record.commit_start is None:
                record.outcome = ABORTED
            self.disconnect()
        self.plan.history.append(record)

    def statement(self, record, number):
        """False when the transaction is over."""
        write = self.chance.random() < 0.5
        if record.autocommit and self.workload.registers:
            # Such a write could not look at what it replaced.
            write = False
        lock = "" if write else self.chance.choice(LOCKS)
        start = time.monotonic_ns()
        if record.autocommit:
            record.commit_start = start
        try:
            if write:
                self.write(record, number)
            else:
                self.read(record, number, lock, start)
        except pymysql.MySQLError as error:
            if error.args[0] not in (DEADLOCK, LOCK_WAIT_TIMEOUT, INTERRUPTED):
                raise
            if not write:
                record.ops.append(Op("attempt", 0, locking=bool(lock), statement=number, start=start))
            return self.go_on(record, error.args[0], write)
        if record.autocommit:
            record.outcome, record.commit_end = COMMITTED, time.monotonic_ns()
        return True

    def write(self, record, number):
        value = self.newest = next(self.plan.next_value)
        op = Op("write", self.plan.key(self.chance, value), value, statement=number)
        # Noted before it is known to have worked: others may see it although the answer never comes.
        record.ops.append(op)
        if self.workload.registers:
            # The look at what was replaced is a plain read, and takes the snapshot when it is the first.
            record.ops.append(Op("attempt", op.key, statement=number, start=time.monotonic_ns()))
        op.previous = self.workload.write(self, op.key, value)

    def read(self, record, number, lock, start):
        key = self.plan.key(self.chance, self.newest)
        keys = [key] if self.chance.random() < 0.6 else range(key, min(key + 3, KEYS))
        found = self.workload.read(self, keys, lock)
        end = time.monotonic_ns()
        for key, (value, missing) in found.items():
            record.ops.append(Op("read", key, value, None, bool(lock), missing, number, start, end))

    def go_on(self, record, code, write):
        """After an error that undid the statement (a deadlock: the transaction), half of the interrupted transactions go on. Not on
        MySQL: there the victim of a deadlock that is killed as well has lost its transaction and is told 1317."""
        undone = code == INTERRUPTED and not record.autocommit and self.server.kind == "clearway" and self.chance.random() < 0.5
        if undone and (not write or not self.workload.registers):
            if write:
                # Somebody at READ UNCOMMITTED may have seen it.
                self.plan.history.append(Transaction(next(self.plan.next_id), [record.ops.pop()], ABORTED))
            return True
        if code != DEADLOCK and not record.autocommit:
            self.run("ROLLBACK")
        record.outcome = ABORTED
        return False

    def end(self, record):
        if self.chance.random() < 0.07:
            self.run("ROLLBACK")
            record.outcome = ABORTED
            return
        record.commit_start = time.monotonic_ns()
        try:
            self.run("COMMIT")
            record.outcome, record.commit_end = COMMITTED, time.monotonic_ns()
        except pymysql.MySQLError as error:
            if error.args[0] == INTERRUPTED:
                # Whether it was too late is for the final state to say.
                self.disconnect()
                return
            raise


def prepare(server, database, workload):
    connection = server.connect(database=database)
    run(*workload.tables, on=connection)
    statement, keys = workload.fill
    head, row = statement.split(" VALUES ")
    run(f"{head} VALUES " + ", ".join(row.format(key) for key in keys), on=connection)
    connection.close()


def record(server, database, workload, level, clients, transactions, seed, disturb=None):
    """Runs `transactions` transactions by `clients` clients; the history and the final state. `disturb(plan, random)` runs beside them
    until it returns or the plan is over."""
    prepare(server, database, workload)
    plan = Plan(transactions)
    chance = random.Random(seed)
    at_work = [Client(plan, workload, server, database, level, chance.random(), disturb is not None) for _ in range(clients)]
    threads = [threading.Thread(target=client.live, daemon=True) for client in at_work]
    if disturb is not None:
        threads.append(threading.Thread(target=disturb, args=(plan, random.Random(chance.random())), daemon=True))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(600)
        assert not thread.is_alive(), f"seed {seed}: a client hangs"
    assert not plan.problems, f"seed {seed}: {plan.problems[0]!r}"
    connection = server.connect(database=database)
    final = workload.final(connection)
    connection.close()
    return plan.history, final


def kills(server):
    """KILL QUERY and KILL CONNECTION on clients in turns, one for every few transactions."""

    def disturb(plan, chance):
        admin = server.connect()
        due = 0
        while not plan.reached():
            if len(plan.history) < due:
                plan.over.wait(0.002)
                continue
            due = len(plan.history) + chance.randint(1, 10)
            numbers = list(plan.connections.values())
            if numbers:
                try:
                    run(f"KILL {chance.choice(['QUERY', 'QUERY', 'QUERY', 'CONNECTION'])} {chance.choice(numbers)}", on=admin)
                except pymysql.MySQLError as error:
                    if error.args[0] != NO_SUCH_THREAD:
                        plan.problems.append(error)
                        plan.over.set()
        admin.close()

    return disturb


def crashes(server, times):
    """kill -9 and restart, `times` times over the run."""

    def disturb(plan, _chance):
        try:
            for time in range(1, times + 1):
                while len(plan.history) < plan.limit * time // (times + 1) and not plan.reached():
                    plan.over.wait(0.002)
                server.kill()
                server.start()
        except Exception as error:  # The clients would wait for ever.
            plan.problems.append(error)
            plan.over.set()

    return disturb
