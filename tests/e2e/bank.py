"""A bank under load: clients move 1 from an account to another and write it down, so that the balances always follow from the journal."""

import random
import threading

import pymysql
from harness import rows, run

ACCOUNTS = 400


def fill(connection, rows_of_filler=0):
    run("CREATE DATABASE bank", "CREATE TABLE bank.accounts (id INT PRIMARY KEY, n INT NOT NULL, pad VARCHAR(900))",
        "CREATE TABLE bank.journal (id INT PRIMARY KEY AUTO_INCREMENT, a INT, b INT)",
        "CREATE TABLE bank.filler (id INT PRIMARY KEY, pad VARCHAR(2000))", on=connection)
    with connection.cursor() as cursor:
        cursor.executemany("INSERT INTO bank.accounts VALUES (%s, 1000, REPEAT('p', 800))", [(i,) for i in range(ACCOUNTS)])
        cursor.executemany("INSERT INTO bank.filler VALUES (%s, REPEAT('f', 1900))", [(i,) for i in range(rows_of_filler)])


class Transfers:
    """Clients that move 1 from an account to another, and write it down."""

    def __init__(self, server, clients=4):
        self.server, self.stopped = server, threading.Event()
        self.threads = [threading.Thread(target=self.work, args=(seed,)) for seed in range(clients)]
        for thread in self.threads:
            thread.start()

    def work(self, seed):
        chance = random.Random(seed)
        connection = self.server.connect(autocommit=False)
        while not self.stopped.is_set():
            a, b = sorted(chance.sample(range(ACCOUNTS), 2))
            try:
                run(f"UPDATE bank.accounts SET n = n - 1 WHERE id = {a}", f"UPDATE bank.accounts SET n = n + 1 WHERE id = {b}",
                    f"INSERT INTO bank.journal (a, b) VALUES ({a}, {b})", on=connection)
                connection.commit()
            except pymysql.OperationalError:
                # The server may be killed once nobody counts on more.
                if not self.stopped.is_set():
                    raise
                return

    def stop(self):
        self.stopped.set()
        for thread in self.threads:
            thread.join()


def audit(connection):
    """The balances follow from the journal, whose ids are returned."""
    run("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ", "START TRANSACTION WITH CONSISTENT SNAPSHOT", on=connection)
    journal = rows(connection, "SELECT id, a, b FROM bank.journal")
    expected = dict.fromkeys(range(ACCOUNTS), 1000)
    for _, a, b in journal:
        expected[a] -= 1
        expected[b] += 1
    assert dict(rows(connection, "SELECT id, n FROM bank.accounts")) == expected
    run("COMMIT", on=connection)
    return {id for id, _, _ in journal}
