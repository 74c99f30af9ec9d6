"""A relay log that is damaged, cut or gone: the applier ends with MySQL's error, nothing of what it cannot read is applied, and what the source
sends anew is applied once."""

import os
import random

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
