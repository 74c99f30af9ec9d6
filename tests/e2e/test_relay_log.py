"""A relay log that is damaged, cut or gone: the applier ends with MySQL's error, nothing of what it cannot read is applied, and what the source
sends anew is applied once."""

import os
import random
import socket
import threading

import pytest
from harness import code_of, rows, run, value, wait_until
from test_binlog import connect
from test_replica import GTIDS, SECONDS, catch_up, follow, pair, same, status

pytestmark = pytest.mark.usefixtures("clearway_only")

READ_FAILURE = 13121
TRANSACTIONS = 30


def relay_files(replica):
    return sorted(replica.datadir.glob("*-relay-bin.0*"))


def damaged(path, kind, chance):
    """Changes the last third of a file, where the events are that are not applied."""
    size = path.stat().st_size
    at = chance.randrange(size * 2 // 3, size - 30)
    if kind == "cut":
        os.truncate(path, at)
    elif kind == "changed":
        with open(path, "r+b") as file:
            old = os.pread(file.fileno(), 1, at)
            os.pwrite(file.fileno(), bytes([old[0] ^ 0x41]), at)
    else:
        with open(path, "r+b") as file:
            os.pwrite(file.fileno(), bytes(size - at), at)


@pytest.mark.parametrize("automatic", [True, False], ids=["numbers", "positions"])
@pytest.mark.parametrize("kind", ["cut", "changed", "zeros"])
def test_damage_is_told_and_what_is_fetched_again_is_applied_once(start, kind, automatic):
    source, replica = pair(start, *(GTIDS if automatic else ()))
    there, here = connect(source), connect(replica)
    run("CREATE DATABASE d", "CREATE TABLE d.log (id INT AUTO_INCREMENT PRIMARY KEY, n INT, s VARCHAR(100))", on=there)
    follow(here, source, "SOURCE_AUTO_POSITION=1" if automatic else "SOURCE_LOG_FILE='binlog.000001', SOURCE_LOG_POS=4")
    catch_up(here, there)
    chance = random.Random(kind)
    for round in range(2):
        run("STOP REPLICA SQL_THREAD", on=here)
        for n in range(TRANSACTIONS):
            run(f"INSERT INTO d.log (n, s) VALUES ({n}, REPEAT('x', 100)), ({n}, 'y')", on=there)
        end = rows(there, "SHOW BINARY LOG STATUS")[0][1]
        wait_until(lambda: status(here)["Read_Source_Log_Pos"] == end, SECONDS, "all has come")
        run("STOP REPLICA", on=here)
        damaged(relay_files(replica)[-1], kind, chance)
        run("START REPLICA SQL_THREAD", on=here)
        wait_until(lambda: status(here)["Replica_SQL_Running"] == "No", SECONDS, "it is told")
        told = status(here)
        assert told["Last_SQL_Errno"] == READ_FAILURE, told["Last_SQL_Error"]
        assert told["Last_SQL_Error"].startswith("Relay log read failure: Could not parse relay log event entry."), told["Last_SQL_Error"]
        before = value(here, "SELECT COUNT(*) FROM d.log")
        assert before % 2 == 0 and before >= round * 2 * TRANSACTIONS
        # Again the same, as long as the damage is there.
        run("START REPLICA SQL_THREAD", on=here)
        wait_until(lambda: status(here)["Replica_SQL_Running"] == "No", SECONDS, "it is told again")
        assert status(here)["Last_SQL_Errno"] == READ_FAILURE
        assert value(here, "SELECT COUNT(*) FROM d.log") == before
        if round == 0:
            # A start fetches anew what is not applied.
            replica.kill()
            replica.start()
            here = connect(replica)
        elif automatic:
            run("RESET REPLICA", "START REPLICA", on=here)
        else:
            now = status(here)
            run(f"CHANGE REPLICATION SOURCE TO SOURCE_LOG_FILE='{now['Relay_Source_Log_File']}', "
                f"SOURCE_LOG_POS={now['Exec_Source_Log_Pos']}", "START REPLICA", on=here)
        catch_up(here, there)
        same(here, there, "d.log")
    assert value(here, "SELECT COUNT(*) FROM d.log") == 4 * TRANSACTIONS


def test_a_relay_log_that_is_gone_is_told(start):
    source, replica = pair(start)
    there, here = connect(source), connect(replica)
    run("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)", on=there)
    follow(here, source)
    catch_up(here, there)
    run("STOP REPLICA SQL_THREAD", on=here)
    run("INSERT INTO d.t VALUES (1)", on=there)
    end = rows(there, "SHOW BINARY LOG STATUS")[0][1]
    wait_until(lambda: status(here)["Read_Source_Log_Pos"] == end, SECONDS, "it has come")
    run("STOP REPLICA", on=here)
    for path in relay_files(replica):
        path.unlink()
    run("START REPLICA SQL_THREAD", on=here)
    wait_until(lambda: status(here)["Replica_SQL_Running"] == "No", SECONDS, "it is told")
    assert status(here)["Last_SQL_Errno"] == READ_FAILURE
    assert code_of(here, "STOP REPLICA") == 0
    replica.stop()
    replica.start()
    here = connect(replica)
    catch_up(here, there)
    assert value(here, "SELECT COUNT(*) FROM d.t") == 1


class Breaking:
    """Stands before a source: each connection ends after some bytes of the source's, `change`d on their way, the later ones never."""

    def __init__(self, port, chance, connections, change=lambda data: data):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port, self.source, self.change = self.listener.getsockname()[1], port, change
        self.limits = [chance.randrange(2000, 60_000) for _ in range(connections)]
        self.broken = 0
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                here, _ = self.listener.accept()
            except OSError:
                return
            try:
                there = socket.create_connection(("127.0.0.1", self.source))
            except OSError:
                here.close()
                continue
            limit = self.limits.pop() if self.limits else None
            threading.Thread(target=self.forward, args=(here, there, None), daemon=True).start()
            threading.Thread(target=self.forward, args=(there, here, limit), daemon=True).start()

    def forward(self, one, other, limit):
        passed = 0
        try:
            while data := one.recv(4096):
                if limit is not None:
                    data = data[:limit - passed] if passed + len(data) < limit else self.change(data[:limit - passed])
                other.sendall(data)
                passed += len(data)
                if passed == limit:
                    self.broken += 1
                    break
        except OSError:
            pass
        for end in (one, other):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


@pytest.mark.parametrize("automatic", [True, False], ids=["numbers", "positions"])
@pytest.mark.parametrize("changes", [False, True], ids=["cut", "changed"])
def test_connections_that_break_within_events(start, automatic, changes):
    source, replica = pair(start, *(GTIDS if automatic else ()), "--max-binlog-size=100000")
    there, here = connect(source), connect(replica)
    run("CREATE DATABASE d", "CREATE TABLE d.log (id INT AUTO_INCREMENT PRIMARY KEY, n INT, s TEXT)", on=there)
    chance = random.Random(8)
    change = (lambda data: data[:-1] + bytes([data[-1] ^ 0x55])) if changes else (lambda data: data)
    breaking = Breaking(source.port, chance, 8, change)
    for n in range(100):
        run(f"INSERT INTO d.log (n, s) VALUES ({n}, REPEAT('x', {chance.randrange(6000)})), ({n}, 'y')", on=there)
    source_port, source.port = source.port, breaking.port
    follow(here, source, "SOURCE_AUTO_POSITION=1" if automatic else "SOURCE_LOG_FILE='binlog.000001', SOURCE_LOG_POS=4")
    source.port = source_port
    told = set()

    def goes_on():
        now = status(here)
        assert now["Last_SQL_Errno"] == 0, now["Last_SQL_Error"]
        if now["Replica_IO_Running"] == "No":
            told.add(now["Last_IO_Errno"])
            run("START REPLICA IO_THREAD", on=here)
        return breaking.broken == 8

    wait_until(goes_on, 120, "all have broken")
    wait_until(lambda: goes_on() and status(here)["Replica_IO_Running"] == "Yes", SECONDS, "it is connected")
    catch_up(here, there)
    same(here, there, "d.log")
    assert value(here, "SELECT COUNT(*) FROM d.log") == 200
    # What is changed on its way is told of as damage, not taken.
    assert bool(told) <= changes, told
    run("STOP REPLICA", on=here)
    breaking.listener.close()


def test_waits_for_a_place_of_the_source(start):
    source, replica = pair(start)
    there, here, waits = connect(source), connect(replica), connect(replica)
    run("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)", on=there)
    follow(here, source)
    file, end = rows(there, "SHOW BINARY LOG STATUS")[0][:2]
    assert value(waits, f"SELECT SOURCE_POS_WAIT('{file}', {end}, 60)") >= 0
    assert value(waits, f"SELECT SOURCE_POS_WAIT('{file}', {end})") == 0
    assert value(waits, f"SELECT SOURCE_POS_WAIT('{file}', {end + 1}, 0.2)") == -1
    assert value(waits, f"SELECT SOURCE_POS_WAIT('other.000001', {end}, 0.2)") is None
    # One that waits is told when the place is reached, at the end of the applier, and of its own end.
    answers = []
    ask = lambda: answers.append(value(waits, f"SELECT SOURCE_POS_WAIT('{file}', {end + 1}, 100)"))
    waiting = lambda: value(here, "SELECT COUNT(*) FROM information_schema.processlist "
                                  "WHERE state = 'Waiting for the replica SQL thread to advance position'") == 1
    for end_it in (lambda: run("INSERT INTO d.t VALUES (1)", on=there), lambda: run("STOP REPLICA SQL_THREAD", on=here)):
        asking = threading.Thread(target=ask)
        asking.start()
        wait_until(waiting, SECONDS, "the wait is there")
        end_it()
        asking.join(SECONDS)
        end = rows(there, "SHOW BINARY LOG STATUS")[0][1]
    assert answers == [1, None]
    run("START REPLICA", on=here)
    killed = []
    asking = threading.Thread(target=lambda: killed.append(code_of(waits, f"SELECT SOURCE_POS_WAIT('{file}', {end + 1}, 100)")))
    asking.start()
    wait_until(waiting, SECONDS, "the wait is there")
    run(f"KILL QUERY {waits.thread_id()}", on=here)
    asking.join(SECONDS)
    assert killed == [1317]
    run("CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT=1, SOURCE_USER='u' FOR CHANNEL 'second'", on=here)
    assert code_of(waits, f"SELECT SOURCE_POS_WAIT('{file}', {end}, 1)") == 3079
    assert value(waits, f"SELECT SOURCE_POS_WAIT('{file}', {end}, 1, '')") == 0
    assert value(waits, f"SELECT SOURCE_POS_WAIT('{file}', {end}, 1, 'second')") is None


def test_events_of_the_relay_log(start):
    source, replica = pair(start, *GTIDS)
    there, here = connect(source), connect(replica)
    run("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)", on=there)
    follow(here, source, "SOURCE_AUTO_POSITION=1")
    catch_up(here, there)
    newest = lambda: int(relay_files(replica)[-1].name[-6:])
    before = newest()
    run("FLUSH RELAY LOGS", "FLUSH RELAY LOGS FOR CHANNEL ''", on=here)
    run("INSERT INTO d.t VALUES (1)", "INSERT INTO d.t VALUES (2)", on=there)
    catch_up(here, there)
    # Both have ended the file that was written, once, behind the first transaction or the second.
    assert newest() == before + 1
    run("STOP REPLICA SQL_THREAD", "FLUSH RELAY LOGS", on=here)
    run("INSERT INTO d.t VALUES (3)", "INSERT INTO d.t VALUES (4)", on=there)
    wait_until(lambda: status(here)["Read_Source_Log_Pos"] == rows(there, "SHOW BINARY LOG STATUS")[0][1], SECONDS, "it is fetched")
    wait_until(lambda: newest() == before + 2, SECONDS, "another file begins")
    fetched = []
    for name in (path.name for path in relay_files(replica)):
        shown = rows(here, f"SHOW RELAYLOG EVENTS IN '{name}'")
        assert [row[2] for row in shown[:3]] == ["Format_desc", "Rotate", "Format_desc"]
        assert all(row[0] == name for row in shown)
        assert rows(here, f"SHOW RELAYLOG EVENTS IN '{name}' FROM {shown[1][1]} LIMIT 1, 2") == shown[2:4]
        fetched += shown[3:]
    theirs = rows(there, "SHOW BINLOG EVENTS")
    assert len(fetched) >= 10
    assert [row[2:] for row in fetched] == [row[2:] for row in theirs[-len(fetched):]]
    assert rows(here, "SHOW RELAYLOG EVENTS LIMIT 1")[0][1:3] == (4, "Format_desc")
    assert code_of(here, "SHOW RELAYLOG EVENTS IN 'nothing'") == 1220
    assert code_of(here, "SHOW RELAYLOG EVENTS FOR CHANNEL 'nothing'") == 3074
    run("START REPLICA", on=here)
    catch_up(here, there)
    same(here, there, "d.t")
    # Replicas flush theirs, too.
    assert [row[5] for row in rows(here, "SHOW BINLOG EVENTS") if "FLUSH" in row[5]] == ["FLUSH RELAY LOGS", "FLUSH RELAY LOGS FOR CHANNEL ''", "FLUSH RELAY LOGS"]
