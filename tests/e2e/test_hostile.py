"""A seeded handful of the statements of hostile.py."""

import random
import time

import hostile
import pytest

SEED = 14
SECONDS = 40
# A second is promised, and these tests share their processors with others.
END_S = 3


def test_hostile_statements_end_and_leave_the_server_alone(start, clearway_only):
    runner = hostile.Runner(lambda: start(*hostile.OPTIONS), END_S, kill_most=0.6)
    kinds = list(hostile.kinds().items())
    random.Random(SEED).shuffle(kinds)
    deadline = time.monotonic() + SECONDS
    done = 0
    try:
        for name, make in kinds:
            if time.monotonic() > deadline:
                break
            found = runner.attempt(make, f"{SEED} {name}")
            if found is not None:
                statement, fault = runner.reduce(make, f"{SEED} {name}", found)
                pytest.fail(f"{name}: {fault}\n{hostile.short(statement)}")
            done += 1
    finally:
        runner.close()
    assert done > 20
