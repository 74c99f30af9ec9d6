"""What a statement costs grows with its work and not faster: the shapes of bench/shapes.sql at two sizes, by CPU time."""

import importlib.util
import pathlib
import shutil

import pytest

BENCH = pathlib.Path(__file__).resolve().parents[2] / "bench"
# From the middle size to the largest. What is sorted, or has no room left in a cache, comes to 1.3; what is squared, to 2.
STEEPEST = 1.6
# Shorter ones say nothing.
LEAST_MS = 15
# Twice as much at each step, by what they are.
DOUBLES = {"doubling CTEs"}


@pytest.fixture(scope="module")
def shapes():
    spec = importlib.util.spec_from_file_location("shapes", BENCH / "shapes.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.ROWS = [300, 3000, 30000]
    return module


def test_no_shape_is_superlinear(shapes, start, tmp_path, clearway_only):
    if not shutil.which("mariadb"):
        pytest.skip("needs the mariadb client")
    # 3,000 and 30,000 rows stand in statements by name, too.
    server = start("--skip-log-bin", f"--secure-file-priv={tmp_path}")
    found = shapes.shapes(BENCH / "shapes.sql")
    measured = shapes.Server("clearway", server.port, server.process.pid)
    shapes.prepare(measured, found[0])
    steep = []
    for shape in found[1:]:
        if shape.on and "clearway" not in shape.on:
            continue
        times = []
        for n in shape.sizes[1:]:
            # Once more where another thread's work may have come between.
            seen = [shapes.measure(measured, shape, n, 1, str(tmp_path)) for _ in range(2)]
            assert not any(isinstance(ms, str) for ms in seen), f"{shape.name}: {seen}"
            times.append((n, min(seen)))
        if times[-1][1] > LEAST_MS and shape.name not in DOUBLES and shapes.growth(times) > STEEPEST:
            steep.append(f"{shape.name}: {times}, exponent {shapes.growth(times):.2f}")
    assert not steep, "\n".join(steep)
