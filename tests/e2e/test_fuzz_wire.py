"""A server under hostile bytes lives, keeps its memory, and forgets who left. FUZZ_SECONDS=3600 for an hour, FUZZ_SEED=n for other bytes."""

import concurrent.futures
import os

import pytest

import fuzz_wire
import harness
from harness import run, value

SECONDS = float(os.environ.get("FUZZ_SECONDS", "4"))
SEED = int(os.environ.get("FUZZ_SEED", "1"))
LANES = 4
LANE_SEEDS = 1 << 40
MEMORY_KIB_MAX = 512 << 10


@pytest.mark.usefixtures("clearway_only")
def test_hostile_bytes(start):
    server = start("--mysql-native-password=ON", "--connect-timeout=5", "--max-connections=50")
    root = server.connect()
    run(f"CREATE USER {fuzz_wire.USER} IDENTIFIED BY '{fuzz_wire.PASSWORD}'", on=root)
    before = server.memory_kib()
    with concurrent.futures.ThreadPoolExecutor(LANES) as pool:
        lanes = []
        for lane in range(LANES):
            connect = fuzz_wire.connector(server.host, server.port, server.socket if lane % 2 else None)
            lanes.append(pool.submit(fuzz_wire.fuzz, connect, SECONDS, SEED + lane * LANE_SEEDS))
        counts = [lane.result() for lane in lanes]
    assert min(counts) > 0, counts
    assert server.process.poll() is None, server.log_tail()
    assert "panicked" not in server.log_text(), server.log_tail(60)
    assert server.memory_kib() < before + MEMORY_KIB_MAX
    connected = "SELECT VARIABLE_VALUE FROM performance_schema.global_status WHERE VARIABLE_NAME = 'Threads_connected'"
    harness.wait_until(lambda: value(root, connected) == "1", 30, "everybody else is gone")
    assert server.stop() == 0
