"""Random histories, judged by history.py; and the judge itself, on histories written by hand.

    HISTORY_TRANSACTIONS=10000 HISTORY_SEED=7 make e2e ARGS="-k history"
"""

import collections
import os
import random

import pytest
import workload
from history import ABORTED, COMMITTED, FORBIDDEN, LEVELS, RC, RR, RU, SER, UNKNOWN, Checker, Op, Transaction, forbidden

TRANSACTIONS = int(os.environ.get("HISTORY_TRANSACTIONS", "500"))
CLIENTS = int(os.environ.get("HISTORY_CLIENTS", "12"))
SEED = int(os.environ.get("HISTORY_SEED", random.SystemRandom().randrange(2**32)))


# ---- the judge


def transaction(number, *steps, outcome=COMMITTED, **words):
    """Steps: "w x 1", "r x 1,2" (a list), "rl x 1" (locking), each a statement of its own, at instants that say nothing."""
    ops = []
    for at, step in enumerate(steps):
        kind, key, *value = step.split()
        if kind == "w":
            ops.append(Op("write", key, int(value[0]), statement=at))
        else:
            values = tuple(int(v) for v in value[0].split(",")) if value else ()
            ops.append(Op("read", key, values, locking=kind == "rl", statement=at))
    return Transaction(number, ops, outcome, **words)


def names(level, final, *transactions):
    return {anomaly.name for anomaly in Checker(list(transactions), final, level).check()}


def judged(level, final, *transactions):
    """Names of the anomalies that `level` forbids."""
    return {anomaly.name for anomaly in forbidden(Checker(list(transactions), final, level).check(), level)}


@pytest.mark.parametrize("level", LEVELS)
def test_history_without_anomaly(level):
    t1 = transaction(1, "r x", "w x 1", "r x 1")
    t2 = transaction(2, "r x 1", "w x 2", "w y 3")
    t3 = transaction(3, "w x 9", outcome=ABORTED)
    t4 = transaction(4, "r y 3", "rl x 1,2")
    t5 = transaction(5, "w y 8", outcome=UNKNOWN)
    assert names(level, {"x": (1, 2), "y": (3,)}, t1, t2, t3, t4, t5) == set()


def test_history_g0():
    t1, t2 = transaction(1, "w x 1", "w y 2"), transaction(2, "w x 3", "w y 4")
    for level in LEVELS:
        assert "G0" in judged(level, {"x": (1, 3), "y": (4, 2)}, t1, t2)


def test_history_g1a():
    t1, t2 = transaction(1, "w x 1", outcome=ABORTED), transaction(2, "r x 1")
    assert names(RU, {"x": ()}, t1, t2) == {"G1a"}
    assert [judged(level, {"x": ()}, t1, t2) for level in LEVELS] == [set(), {"G1a"}, {"G1a"}, {"G1a"}]


def test_history_g1b():
    t1, t2 = transaction(1, "w x 1", "w x 2"), transaction(2, "r x 1")
    assert "G1b" in names(RU, {"x": (1, 2)}, t1, t2) and judged(RU, {"x": (1, 2)}, t1, t2) == set()
    assert all("G1b" in judged(level, {"x": (1, 2)}, t1, t2) for level in LEVELS[1:])


def test_history_g1c():
    t1, t2 = transaction(1, "w x 1", "r y 2"), transaction(2, "w y 2", "r x 1")
    final = {"x": (1,), "y": (2,)}
    assert names(RU, final, t1, t2) == {"G1c"} and judged(RU, final, t1, t2) == set()
    assert all("G1c" in judged(level, final, t1, t2) for level in LEVELS[1:])


def test_history_g_single():
    """Read skew: x from before the other transaction, y from after it."""
    t1, t2 = transaction(1, "r x", "r y 2"), transaction(2, "w x 1", "w y 2")
    final = {"x": (1,), "y": (2,)}
    assert names(RC, final, t1, t2) == {"G-single"} and judged(RC, final, t1, t2) == set()
    assert judged(SER, final, t1, t2) == {"G-single", "order"}
    # REPEATABLE READ: one snapshot cannot show both, ...
    assert judged(RR, final, t1, t2) == {"order"}
    # ... but a locking read sees the newest,
    assert judged(RR, final, transaction(1, "r x", "rl y 2"), t2) == set()
    # unless the lock was there first.
    assert judged(RR, final, transaction(1, "rl x", "rl y 2"), t2) == {"order"}


def test_history_snapshot_of_a_statement():
    """At READ COMMITTED one statement sees one state, two need not."""
    t2, final = transaction(2, "w x 1", "w y 2"), {"x": (1,), "y": (2,)}
    t1 = transaction(1, "r x", "r y 2")
    assert judged(RC, final, t1, t2) == set()
    for op in t1.ops:
        op.statement = 1
    assert judged(RC, final, t1, t2) == {"order"}


def test_history_lost_update():
    """MySQL lets it happen below SERIALIZABLE."""
    t1, t2 = transaction(1, "r x", "w x 1"), transaction(2, "r x", "w x 2")
    assert [judged(level, {"x": (2, 1)}, t1, t2) for level in LEVELS] == [set()] * 3 + [{"G-single", "order"}]


def test_history_g2_item():
    t1, t2 = transaction(1, "r x", "r y", "w x 1"), transaction(2, "r x", "r y", "w y 2")
    final = {"x": (1,), "y": (2,)}
    assert names(RR, final, t1, t2) == {"G2-item"}
    assert [judged(level, final, t1, t2) for level in LEVELS] == [set()] * 3 + [{"G2-item", "order"}]
    # Locks taken by both would have been a deadlock.
    assert judged(RR, final, transaction(1, "rl y", "w x 1"), transaction(2, "rl x", "w y 2")) == {"order"}


def test_history_non_repeatable_read():
    t1, t2 = transaction(1, "r x", "r x 1"), transaction(2, "w x 1")
    assert judged(RC, {"x": (1,)}, t1, t2) == set()
    assert judged(RR, {"x": (1,)}, t1, t2) == {"order"}


def test_history_stale_read():
    """The commit was answered before the read was sent, and the read does not see it."""
    t1, t2 = transaction(1, "w x 1", commit_start=10, commit_end=20), transaction(2, "r x")
    for start, expected in ((15, set()), (25, {"order"})):
        t2.ops[0].start, t2.ops[0].end = start, 30
        for level in (RC, RR):
            assert judged(level, {"x": (1,)}, t1, t2) == expected
    # A snapshot from before is no stale read.
    t3 = transaction(3, "r y", "r x")
    t3.ops[0].start, t3.ops[1].start, t3.ops[1].end = 15, 25, 30
    assert judged(RR, {"x": (1,), "y": ()}, t1, t3) == set()
    assert judged(RC, {"x": (1,), "y": ()}, t1, t3) == {"order"}


def test_history_data_lost_torn_or_invented():
    t1 = transaction(1, "w x 1", "w y 2")
    assert names(RR, {"x": (1,), "y": ()}, t1) == {"lost write"}
    assert names(RR, {"x": (1,), "y": ()}, transaction(1, "w x 1", "w y 2", outcome=UNKNOWN)) == {"torn transaction"}
    assert names(RR, {"x": (1,), "y": ()}, transaction(1, "w x 1", outcome=ABORTED)) == {"aborted write"}
    assert names(RR, {"x": (1, 7), "y": (2,)}, t1) == {"garbage"}
    assert "duplicate" in names(RR, {"x": (1, 1), "y": (2,)}, t1)
    assert names(RR, {"x": (1,), "y": (2,)}, t1, transaction(2, "r x 7")) == {"garbage"}
    assert names(RR, {"x": (1, 3), "y": (2,)}, t1, transaction(2, "w x 3", "r x 1")) == {"internal"}
    assert names(RR, {"x": (1, 3), "y": (2,)}, t1, transaction(2, "w x 3"), transaction(3, "r x 3,1")) == {"incompatible order"}
    assert all(FORBIDDEN[level] >= {"lost write", "torn transaction", "aborted write", "garbage"} for level in LEVELS)


def test_history_of_registers():
    def write(key, value, previous):
        return Op("write", key, value, previous)

    t1 = Transaction(1, [Op("read", "x", None), write("x", 1, None)], COMMITTED)
    t2 = Transaction(2, [Op("read", "x", None), write("x", 2, 1)], COMMITTED)
    found = Checker([t1, t2], {"x": 2}, SER, registers=True).check()
    assert {anomaly.name for anomaly in found} == {"G-single", "order"}
    assert forbidden(Checker([t1, t2], {"x": 2}, RR, registers=True).check(), RR) == []
    # Two writers replaced the same value: one of them is lost.
    t3 = Transaction(3, [write("x", 3, 1)], COMMITTED)
    found = Checker([t1, t2, t3], {"x": 2}, RC, registers=True).check()
    assert "lost write" in {anomaly.name for anomaly in found}


# ---- the server


def run_and_judge(server, database, work, level, disturb=None, transactions=TRANSACTIONS, clients=CLIENTS):
    """Fails with the anomalies that the level forbids, and with the seed."""
    history, final = workload.record(server, database, work, level, clients, transactions, SEED, disturb)
    anomalies = Checker(history, final, level, work.registers).check()
    bad = forbidden(anomalies, level)
    assert not bad, f"seed {SEED}, {level}: {len(bad)} forbidden anomalies\n" + "\n".join(map(str, bad[:3]))
    outcomes = collections.Counter(t.outcome for t in history)
    allowed = collections.Counter(anomaly.name for anomaly in anomalies)
    print(f"seed {SEED}, {level}: {dict(outcomes)}, allowed anomalies: {dict(allowed)}")
    # Enough to judge by. At SERIALIZABLE most updates that read first meet another that did, and one of the two is a deadlock's victim.
    assert outcomes[COMMITTED] > len(history) / 10, f"seed {SEED}: too few transactions went through: {outcomes}"


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("work", workload.WORKLOADS)
def test_history(server, database, work, level):
    run_and_judge(server, database, workload.WORKLOADS[work], level)


@pytest.mark.parametrize("level", [RC, RR, SER])
def test_history_with_kills(server, database, level):
    run_and_judge(server, database, workload.WORKLOADS["list-insert"], level, workload.kills(server))


@pytest.mark.parametrize("work", workload.WORKLOADS)
def test_history_with_crashes(start, work):
    # Served in turn: with 12 clients everything else here has a thread for each connection.
    server = start("--clearway-crowd-size=1")
    admin = server.connect()
    workload.run("CREATE DATABASE history", on=admin)
    admin.close()
    run_and_judge(server, "history", workload.WORKLOADS[work], RR, workload.crashes(server, 3))
