"""The anomalies of Adya's thesis and of Berenson and others, after the cases that Kleppmann collected as Hermitage, at MySQL's
four levels. Each test states what MySQL does at each level, also where it lets the anomaly happen.

    anomaly                                          READ UNCOMMITTED  READ COMMITTED  REPEATABLE READ   SERIALIZABLE
    G0        dirty write                            prevented         prevented       prevented         prevented
    G1a       aborted read                           happens           prevented       prevented         prevented
    G1b       intermediate read                      happens           prevented       prevented         prevented
    G1c       circular information flow              happens           prevented       prevented         prevented
    OTV       observed transaction vanishes          happens           prevented       prevented         prevented
    PMP       predicate-many-preceders, reads        happens           happens         prevented         prevented
              ... writes                             happens           happens         happens           prevented
    P4        lost update                            happens           happens         happens           prevented
    G-single  read skew                              happens           happens         prevented         prevented
              ... over a predicate                   happens           happens         prevented         prevented
              ... on a write predicate               happens           happens         happens           prevented
    G2-item   write skew                             happens           happens         happens           prevented
    G2        anti-dependency cycle                  happens           happens         happens           prevented

Prevented at SERIALIZABLE means that plain reads inside a transaction lock: the other session waits, or one of the two is the
victim of a deadlock. Checked against MySQL 9.7 with --address."""

import concurrent.futures

import pytest
from concurrent_sessions import ANSWER_SECONDS, DEADLOCK, LEVELS, one_victim, sessions
from harness import rows, run

RU, RC, RR, SER = LEVELS


@pytest.fixture(params=LEVELS)
def level(request):
    return request.param


@pytest.fixture
def open_sessions(server, database, level):
    """`open_sessions(n)`: n sessions with a transaction each, and the rows (1, 10), (2, 20) in table `test`."""
    stack = []

    def open_sessions(count):
        setup = server.connect(database=database)
        run("CREATE TABLE test (id INT PRIMARY KEY, value INT)", "INSERT INTO test VALUES (1, 10), (2, 20)", on=setup)
        setup.close()
        context = sessions(server, database, level, count)
        stack.append(context)
        return context.__enter__()

    yield open_sessions
    for context in stack:
        context.__exit__(None, None, None)


@pytest.fixture
def final(server, database):
    """The rows that a new connection finds."""

    def final():
        connection = server.connect(database=database)
        found = sorted(rows(connection, "SELECT id, value FROM test"))
        connection.close()
        return found

    return final


ALL = "SELECT * FROM test"
FIRST = "SELECT * FROM test WHERE id = 1"
SECOND = "SELECT * FROM test WHERE id = 2"


def test_g0_dirty_write(open_sessions, final, level):
    t1, t2 = open_sessions(2)
    t1("UPDATE test SET value = 11 WHERE id = 1")
    waiting = t2.blocked("UPDATE test SET value = 12 WHERE id = 1")
    t1("UPDATE test SET value = 21 WHERE id = 2")
    t1.commit()
    assert waiting.result() == 1
    assert t1(ALL) == ([(1, 12), (2, 21)] if level == RU else [(1, 11), (2, 21)])
    t2("UPDATE test SET value = 22 WHERE id = 2")
    t2.commit()
    assert final() == [(1, 12), (2, 22)]


def test_g1a_aborted_read(open_sessions, final, level):
    t1, t2 = open_sessions(2)
    t1("UPDATE test SET value = 101 WHERE id = 1")
    if level == SER:
        reading = t2.blocked(ALL)
        t1.rollback()
        assert reading.result() == [(1, 10), (2, 20)]
    else:
        assert t2(ALL) == ([(1, 101), (2, 20)] if level == RU else [(1, 10), (2, 20)])
        t1.rollback()
    assert t2(ALL) == [(1, 10), (2, 20)]
    t2.commit()


def test_g1b_intermediate_read(open_sessions, final, level):
    t1, t2 = open_sessions(2)
    t1("UPDATE test SET value = 101 WHERE id = 1")
    if level == SER:
        reading = t2.blocked(ALL)
        t1("UPDATE test SET value = 11 WHERE id = 1")
        t1.commit()
        assert reading.result() == [(1, 11), (2, 20)]
    else:
        assert t2(ALL) == ([(1, 101), (2, 20)] if level == RU else [(1, 10), (2, 20)])
        t1("UPDATE test SET value = 11 WHERE id = 1")
        t1.commit()
    assert t2(ALL) == ([(1, 10), (2, 20)] if level == RR else [(1, 11), (2, 20)])
    t2.commit()


def test_g1c_circular_information_flow(open_sessions, final, level):
    t1, t2 = open_sessions(2)
    t1("UPDATE test SET value = 11 WHERE id = 1")
    t2("UPDATE test SET value = 22 WHERE id = 2")
    if level == SER:
        victim = one_victim(t1.blocked(SECOND), t2.start(FIRST))
        t1.commit()
        t2.commit()
        assert final() == ([(1, 10), (2, 22)] if victim == 0 else [(1, 11), (2, 20)])
        return
    assert t1(SECOND) == ([(2, 22)] if level == RU else [(2, 20)])
    assert t2(FIRST) == ([(1, 11)] if level == RU else [(1, 10)])
    t1.commit()
    t2.commit()
    assert final() == [(1, 11), (2, 22)]


def test_otv_observed_transaction_vanishes(open_sessions, final, level):
    t1, t2, t3 = open_sessions(3)
    t1("UPDATE test SET value = 11 WHERE id = 1")
    t1("UPDATE test SET value = 19 WHERE id = 2")
    waiting = t2.blocked("UPDATE test SET value = 12 WHERE id = 1")
    t1.commit()
    assert waiting.result() == 1
    if level == SER:
        reading = t3.blocked(ALL)
        t2("UPDATE test SET value = 18 WHERE id = 2")
        t2.commit()
        assert reading.result() == [(1, 12), (2, 18)]
        return
    assert t3(ALL) == ([(1, 12), (2, 19)] if level == RU else [(1, 11), (2, 19)])
    t2("UPDATE test SET value = 18 WHERE id = 2")
    assert t3(ALL) == ([(1, 12), (2, 18)] if level == RU else [(1, 11), (2, 19)])
    t2.commit()
    assert t3(ALL) == ([(1, 11), (2, 19)] if level == RR else [(1, 12), (2, 18)])
    t3.commit()


def test_pmp_read_predicate(open_sessions, final, level):
    t1, t2 = open_sessions(2)
    assert t1("SELECT * FROM test WHERE value = 30") == []
    if level == SER:
        inserting = t2.blocked("INSERT INTO test VALUES (3, 30)")
        assert t1("SELECT * FROM test WHERE value % 3 = 0") == []
        t1.commit()
        assert inserting.result() == 1
        t2.commit()
        return
    t2("INSERT INTO test VALUES (3, 30)")
    t2.commit()
    assert t1("SELECT * FROM test WHERE value % 3 = 0") == ([] if level == RR else [(3, 30)])
    t1.commit()


def test_pmp_write_predicate(open_sessions, final, level):
    t1, t2 = open_sessions(2)
    assert t1("UPDATE test SET value = value + 10") == 2
    if level == SER:
        reading = t2.blocked("SELECT * FROM test WHERE value = 20")
        t1.commit()
        assert reading.result() == [(1, 20)]
        assert t2("DELETE FROM test WHERE value = 20") == 1
    else:
        before = {RU: [(1, 20)], RC: [(2, 20)], RR: [(2, 20)]}[level]
        assert t2("SELECT * FROM test WHERE value = 20") == before
        deleting = t2.blocked("DELETE FROM test WHERE value = 20")
        t1.commit()
        assert deleting.result() == 1, "the newest version of row 1 has 20"
    # At REPEATABLE READ the snapshot still shows row 2 with 20, which the DELETE did not see.
    assert t2(ALL) == ([(2, 20)] if level == RR else [(2, 30)])
    t2.commit()
    assert final() == [(2, 30)]


def test_p4_lost_update(open_sessions, final, level):
    t1, t2 = open_sessions(2)
    assert t1(FIRST) == t2(FIRST) == [(1, 10)]
    if level == SER:
        first = t1.blocked("UPDATE test SET value = 11 WHERE id = 1")
        victim = one_victim(first, t2.start("UPDATE test SET value = 12 WHERE id = 1"))
        t1.commit()
        t2.commit()
        assert final() == [(1, 12 if victim == 0 else 11), (2, 20)]
        return
    t1("UPDATE test SET value = 11 WHERE id = 1")
    second = t2.blocked("UPDATE test SET value = 12 WHERE id = 1")
    t1.commit()
    assert second.result() == 1
    t2.commit()
    assert final() == [(1, 12), (2, 20)]


def test_g_single_read_skew(open_sessions, final, level):
    t1, t2 = open_sessions(2)
    assert t1(FIRST) == [(1, 10)]
    assert t2(FIRST) == [(1, 10)]
    assert t2(SECOND) == [(2, 20)]
    if level == SER:
        waiting = t2.blocked("UPDATE test SET value = 12 WHERE id = 1")
        assert t1(SECOND) == [(2, 20)]
        t1.commit()
        assert waiting.result() == 1
        return
    t2("UPDATE test SET value = 12 WHERE id = 1")
    t2("UPDATE test SET value = 18 WHERE id = 2")
    t2.commit()
    assert t1(SECOND) == ([(2, 20)] if level == RR else [(2, 18)])
    t1.commit()


def test_g_single_over_a_predicate(open_sessions, final, level):
    t1, t2 = open_sessions(2)
    assert t1("SELECT * FROM test WHERE value % 5 = 0") == [(1, 10), (2, 20)]
    if level == SER:
        waiting = t2.blocked("UPDATE test SET value = 12 WHERE value = 10")
        assert t1("SELECT * FROM test WHERE value % 3 = 0") == []
        t1.commit()
        assert waiting.result() == 1
        return
    assert t2("UPDATE test SET value = 12 WHERE value = 10") == 1
    t2.commit()
    assert t1("SELECT * FROM test WHERE value % 3 = 0") == ([] if level == RR else [(1, 12)])
    t1.commit()


def test_g_single_on_a_write_predicate(open_sessions, final, level):
    t1, t2 = open_sessions(2)
    assert t1(FIRST) == [(1, 10)]
    assert t2(ALL) == [(1, 10), (2, 20)]
    if level == SER:
        updating = t2.blocked("UPDATE test SET value = 12 WHERE id = 1")
        victim = one_victim(t1.start("DELETE FROM test WHERE value = 20"), updating)
        t1.commit()
        t2.commit()
        assert final() == ([(1, 12), (2, 20)] if victim == 0 else [(1, 10)])
        return
    t2("UPDATE test SET value = 12 WHERE id = 1")
    t2("UPDATE test SET value = 18 WHERE id = 2")
    t2.commit()
    assert t1("DELETE FROM test WHERE value = 20") == 0, "a write sees the newest version"
    assert t1(SECOND) == ([(2, 20)] if level == RR else [(2, 18)])
    t1.commit()
    assert final() == [(1, 12), (2, 18)]


def test_g2_item_write_skew(open_sessions, final, level):
    t1, t2 = open_sessions(2)
    both = "SELECT * FROM test WHERE id IN (1, 2)"
    assert t1(both) == t2(both) == [(1, 10), (2, 20)]
    if level == SER:
        first = t1.blocked("UPDATE test SET value = 11 WHERE id = 1")
        victim = one_victim(first, t2.start("UPDATE test SET value = 21 WHERE id = 2"))
        t1.commit()
        t2.commit()
        assert final() == ([(1, 10), (2, 21)] if victim == 0 else [(1, 11), (2, 20)])
        return
    t1("UPDATE test SET value = 11 WHERE id = 1")
    t2("UPDATE test SET value = 21 WHERE id = 2")
    t1.commit()
    t2.commit()
    assert final() == [(1, 11), (2, 21)]


def test_g2_anti_dependency_cycle(open_sessions, final, level):
    t1, t2 = open_sessions(2)
    multiples = "SELECT * FROM test WHERE value % 3 = 0"
    assert t1(multiples) == t2(multiples) == []
    if level == SER:
        first = t1.blocked("INSERT INTO test VALUES (3, 30)")
        victim = one_victim(first, t2.start("INSERT INTO test VALUES (4, 42)"))
        t1.commit()
        t2.commit()
        assert final() == [(1, 10), (2, 20), (4, 42) if victim == 0 else (3, 30)]
        return
    t1("INSERT INTO test VALUES (3, 30)")
    t2("INSERT INTO test VALUES (4, 42)")
    t1.commit()
    t2.commit()
    assert final() == [(1, 10), (2, 20), (3, 30), (4, 42)]


def test_g2_with_a_reader_between_two_writers(open_sessions, final, level):
    """Fekete, O'Neil and O'Neil's read-only transaction anomaly."""
    t1, t2, t3 = open_sessions(3)
    assert t1(ALL) == [(1, 10), (2, 20)]
    if level == SER:
        updating = t2.blocked("UPDATE test SET value = value + 5 WHERE id = 2")
        # It queues behind the writer that waits.
        reading = t3.blocked(ALL)
        last = t1.start("UPDATE test SET value = 0 WHERE id = 1")
        # Whoever is done commits and so lets the next one on; the victim has let go already.
        pending = {statement.future: (session, statement) for session, statement in ((t2, updating), (t3, reading), (t1, last))}
        errors = []
        for future in concurrent.futures.as_completed(pending, ANSWER_SECONDS):
            session, statement = pending[future]
            errors.append(statement.error())
            session.commit()
        assert sorted(errors, key=bool) == [None, None, DEADLOCK]
        return
    t2("UPDATE test SET value = value + 5 WHERE id = 2")
    t2.commit()
    assert t3(ALL) == [(1, 10), (2, 25)]
    t3.commit()
    t1("UPDATE test SET value = 0 WHERE id = 1")
    t1.commit()
    assert final() == [(1, 0), (2, 25)]
