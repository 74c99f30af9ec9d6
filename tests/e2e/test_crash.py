"""kill -9 under load, with a ledger outside the server.

Clients move money between accounts: one transaction takes from one account, gives to another and appends a journal row.
A client notes a transfer as acknowledged only when COMMIT has answered. After each kill -9 and restart:

    every acknowledged transfer is in the journal
    every account holds its opening amount plus what the journal says: no transfer is there by half
    so the sum over all accounts is what it was
    every secondary index gives the rows that the primary key gives

A longer run: CRASH_ROUNDS=20 make e2e ARGS="-k acknowledged".
"""

import collections
import os
import random
import threading
import time

import pymysql
import pytest
from harness import rows, run, value

ROUNDS = int(os.environ.get("CRASH_ROUNDS", "5"))
CLIENTS = 8
ACCOUNTS = 200
OPENING = 1000
RETRY = (1213, 1205)

SCHEMA = [
    "CREATE DATABASE bank",
    "CREATE TABLE bank.account (id INT PRIMARY KEY, amount INT NOT NULL, touched BIGINT NOT NULL, pad CHAR(120) NOT NULL,"
    " KEY amount (amount), KEY touched (touched))",
    "CREATE TABLE bank.journal (id BIGINT PRIMARY KEY, giver INT NOT NULL, taker INT NOT NULL, amount INT NOT NULL,"
    " KEY giver (giver), KEY taker (taker))",
]


class Client(threading.Thread):
    """Transfers until the server is gone. Ids of its transfers: client * 10^9 + a count, so nobody collides."""

    def __init__(self, server, number, first, seed):
        super().__init__(daemon=True)
        self.server, self.number, self.next = server, number, first
        self.random = random.Random(seed)
        self.acknowledged = {}
        # Sent and not answered: it may be there or not.
        self.unknown = {}
        self.problem = None

    def run(self):
        try:
            connection = self.server.connect(database="bank", autocommit=False)
            while True:
                self.transfer(connection)
        except pymysql.err.OperationalError as error:
            if error.args[0] not in (2003, 2006, 2013):
                self.problem = error
        except (OSError, pymysql.err.InterfaceError):
            pass
        except Exception as error:  # Whatever else it is, the test must hear of it.
            self.problem = error

    def transfer(self, connection):
        giver, taker = self.random.sample(range(ACCOUNTS), 2)
        amount, number = self.random.randrange(1, 50), self.number * 10**9 + self.next
        row = (giver, taker, amount)
        abort = self.random.random() < 0.1
        try:
            with connection.cursor() as cursor:
                cursor.execute("UPDATE account SET amount = amount - %s, touched = %s WHERE id = %s", (amount, number, giver))
                cursor.execute("INSERT INTO journal VALUES (%s, %s, %s, %s)", (number, *row))
                cursor.execute("UPDATE account SET amount = amount + %s, touched = %s WHERE id = %s", (amount, number, taker))
            if abort:
                connection.rollback()
                return
        except pymysql.MySQLError as error:
            if error.args[0] in RETRY:
                connection.rollback()
                return
            raise
        self.unknown[number] = row
        connection.commit()
        self.acknowledged[number] = self.unknown.pop(number)
        self.next += 1


def check(server, acknowledged, unknown):
    connection = server.connect(database="bank")
    journal = {row[0]: row[1:] for row in rows(connection, "SELECT id, giver, taker, amount FROM journal ORDER BY id")}
    lost = [number for number in acknowledged if number not in journal]
    assert not lost, f"{len(lost)} acknowledged commits are gone, the first: {lost[:5]}"
    for number, row in journal.items():
        assert acknowledged.get(number, unknown.get(number)) == row, f"transfer {number} was never sent so: {row}"
    expected = collections.Counter({account: OPENING for account in range(ACCOUNTS)})
    for giver, taker, amount in journal.values():
        expected[giver] -= amount
        expected[taker] += amount
    accounts = rows(connection, "SELECT id, amount, touched FROM account ORDER BY id")
    assert {row[0]: row[1] for row in accounts} == dict(expected), "a transfer is there by half"
    assert value(connection, "SELECT SUM(amount) FROM account") == ACCOUNTS * OPENING
    for table, column, by_primary in (
        ("account", "amount", [(row[1], row[0]) for row in accounts]),
        ("account", "touched", [(row[2], row[0]) for row in accounts]),
        ("journal", "giver", [(row[0], number) for number, row in journal.items()]),
        ("journal", "taker", [(row[1], number) for number, row in journal.items()]),
    ):
        by_index = []
        for key in {key for key, _ in by_primary}:
            by_index += [(key, found) for (found,) in rows(connection, f"SELECT id FROM {table} WHERE {column} = {key}")]
        assert sorted(by_index) == sorted(by_primary), f"index {table}.{column} and the rows disagree"
    connection.close()
    return set(journal)


@pytest.mark.parametrize("crowd", ["--clearway-crowd-size=1000", "--clearway-crowd-size=1"], ids=["threads", "crew"])
def test_acknowledged_commits_survive_kill_9(start, crowd):
    seed = int(os.environ.get("CRASH_SEED", time.time_ns() % 10**9))
    print(f"CRASH_SEED={seed}")
    chance = random.Random(seed)
    server = start("--innodb_buffer_pool_size=16M", crowd)
    admin = server.connect()
    run(*SCHEMA, on=admin)
    with admin.cursor() as cursor:
        cursor.executemany("INSERT INTO bank.account VALUES (%s, %s, 0, 'x')", [(i, OPENING) for i in range(ACCOUNTS)])
    admin.close()
    acknowledged, unknown, counts = {}, {}, [1] * CLIENTS
    for round_number in range(ROUNDS):
        clients = [Client(server, n, counts[n], chance.random()) for n in range(CLIENTS)]
        for client in clients:
            client.start()
        # The one thing here that must happen at a random moment.
        threading.Event().wait(chance.uniform(0.05, 1.5))
        server.kill()
        for client in clients:
            client.join(60)
            assert not client.is_alive(), "a client hangs on a dead server"
            assert client.problem is None, f"round {round_number}: {client.problem!r}"
            acknowledged |= client.acknowledged
            unknown |= client.unknown
            # An unanswered transfer may be there: its number is spent.
            counts[client.number] = client.next + 1
        server.assert_sound()
        server.start()
        there = check(server, acknowledged, unknown)
        acknowledged |= {number: row for number, row in unknown.items() if number in there}
        unknown.clear()
    assert len(acknowledged) > ROUNDS * 20, f"only {len(acknowledged)} transfers in {ROUNDS} rounds: no load"
    # Once more after an orderly stop.
    assert server.stop() == 0
    server.assert_sound()
    server.start()
    check(server, acknowledged, unknown)


def test_kill_9_during_recovery(start):
    """A recovery that is cut off is repeated, not continued from the middle."""
    server = start("--innodb_buffer_pool_size=16M")
    connection = server.connect()
    run("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, n INT NOT NULL, pad VARCHAR(200), KEY n (n))", on=connection)
    for first in range(0, 40_000, 1000):
        values = ", ".join(f"({i}, {i % 97}, REPEAT('p', 150))" for i in range(first, first + 1000))
        run(f"INSERT INTO d.t VALUES {values}", on=connection)
    server.kill()
    for delay in (0.02, 0.05, 0.1, 0.2):
        try:
            server.start(seconds=delay)
        except AssertionError:
            assert server.process.poll() is None, server.log_tail()
        server.kill()
    server.assert_sound()
    server.start()
    connection = server.connect()
    assert rows(connection, "SELECT COUNT(*), SUM(n) FROM d.t") == ((40_000, sum(i % 97 for i in range(40_000))),)
    assert value(connection, "SELECT COUNT(*) FROM d.t WHERE n = 5") == len(range(5, 40_000, 97))


@pytest.mark.parametrize("statement", ["CREATE TABLE d.u (id INT PRIMARY KEY, n INT)", "CREATE INDEX n ON d.t (n)", "DROP TABLE d.t",
                                       "TRUNCATE TABLE d.t", "DROP DATABASE d"])
def test_ddl_is_whole_or_absent_after_kill_9(start, kind, statement):
    if kind == "mariadb" and statement.startswith("DROP DATABASE"):
        pytest.skip("MariaDB drops a database table by table")
    server = start()
    connection = server.connect()
    run("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, n INT)", on=connection)
    with connection.cursor() as cursor:
        cursor.executemany("INSERT INTO d.t VALUES (%s, %s)", [(i, i % 10) for i in range(5000)])
    seed = time.time_ns() % 10**9
    print(f"seed={seed}")
    killer = threading.Timer(random.Random(seed).uniform(0, 0.05), server.process.kill)
    killer.start()
    acknowledged = False
    try:
        run(statement, on=connection)
        acknowledged = True
    except pymysql.MySQLError:
        pass
    killer.join()
    server.kill()
    server.assert_sound()
    server.start()
    connection = server.connect()
    tables = {name for (name,) in rows(connection, "SHOW TABLES FROM d")} if ("d",) in rows(connection, "SHOW DATABASES") else None
    before, after = {"CREATE TABLE": ({"t"}, {"t", "u"}), "CREATE INDEX": ({"t"}, {"t"}), "DROP TABLE d": ({"t"}, set()),
                     "TRUNCATE TAB": ({"t"}, {"t"}), "DROP DATABAS": ({"t"}, None)}[statement[:12]]
    assert tables == after if acknowledged else tables in (before, after)
    if tables and "t" in tables:
        count = value(connection, "SELECT COUNT(*) FROM d.t")
        assert count == (0 if acknowledged else count) if statement.startswith("TRUNCATE") else count == 5000
        assert count in (0, 5000)
        assert value(connection, "SELECT COUNT(*) FROM d.t WHERE n = 3") == count // 10
