"""kill -9 under load: what was acknowledged is there afterwards, what was not is there whole or not at all.

A longer run: CRASH_ROUNDS=1000 make e2e ARGS="-k acknowledged". CRASH_SEED repeats the choices of the clients, not the moments.
"""

import os
import random
import threading
import time

import pymysql
import pytest
from harness import rows, run, value
from mixed_load import Disk, Load

ROUNDS = int(os.environ.get("CRASH_ROUNDS", "5"))


def start_and_kill(server, seconds):
    """A start that is cut off after so long, whether or not it has come to its end."""
    try:
        server.start(seconds=seconds)
    except AssertionError:
        assert server.process.poll() is None, server.log_tail()
    server.kill()


# Where the machine is quick, a round writes a hundred megabytes of binary log.
@pytest.mark.parametrize("small_disk", ["448m"], indirect=True, ids=[""])
@pytest.mark.parametrize("crowd", ["--clearway-crowd-size=1000", "--clearway-crowd-size=1"], ids=["threads", "crew"])
def test_acknowledged_commits_survive_kill_9(start, small_disk, clearway_only, crowd):
    """Each round: clients of all kinds, on a disk that is full now and then; kill -9; sometimes starts that are killed; then the
    data is sound, a start opens, and everything is as the models say."""
    seed = int(os.environ.get("CRASH_SEED", time.time_ns() % 10**9))
    print(f"CRASH_SEED={seed}")
    chance = random.Random(seed)
    server = start("--innodb_buffer_pool_size=16M", "--innodb_redo_log_capacity=32M", crowd, datadir=small_disk / "data")
    load = Load(chance.random(), Disk(small_disk))
    load.prepare(server)
    for number in range(1, ROUNDS + 1):
        load.run_until_killed(server, chance.uniform(0.1, 1.5))
        print(f"round {number}: {load.summary()}", flush=True)
        server.assert_sound()
        while chance.random() < 0.3:
            start_and_kill(server, chance.uniform(0.01, 0.3))
            server.assert_sound()
        # On a disk that is full, if it was when the server died.
        server.start()
        load.verify(server)
        # The row images of all rounds together would fill the disk by themselves. A start on a full disk began no new file.
        run("FLUSH BINARY LOGS", "PURGE BINARY LOGS BEFORE NOW() + INTERVAL 1 DAY", on=server.connect())
    assert load.bank.total > ROUNDS * 10, f"only {load.bank.total} transfers in {ROUNDS} rounds: no load"
    # Once more after an orderly stop.
    assert server.stop() == 0
    server.assert_sound()
    server.start()
    load.verify(server)


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
        start_and_kill(server, delay)
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
