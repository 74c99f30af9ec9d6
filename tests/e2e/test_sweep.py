"""`clearway sweep`, end to end with cells of one second."""

import json
import subprocess

import harness
import pytest

pytestmark = pytest.mark.skipif(not harness.BINARY.exists(), reason="the binary is not built")


def sweep(*words):
    return subprocess.run([harness.BINARY, "sweep", *words], capture_output=True, text=True, timeout=300)


def test_two_targets_and_a_dead_one(server, database, tmp_path):
    where = f"{server.host}:{server.port}"
    report, page = tmp_path / "report.json", tmp_path / "report.html"
    result = sweep("--target", f"a=root@{where}", "--target", f"b=root@{where}", "--target", f"dead=127.0.0.1:{harness.free_port()}",
                   "--tests", "oltp_point_select,oltp_insert", "--threads", "2,4", "--tables", "1", "--table-size", "500",
                   "--time", "1", "--warmup", "1", "--repeat", "1", "--database", database, "--json", report, "--html", page)
    assert result.returncode == 1, "a failed run shows in the exit code"
    table = result.stdout.splitlines()
    assert table[0].split("|")[1].strip() == "test" and "a/b" in table[0]
    assert sum(line.startswith("| oltp_") for line in table) == 4
    assert any(line.startswith("! dead:") and "2002" in line for line in table)
    data = json.loads(report.read_text())
    assert [target["name"] for target in data["targets"]] == ["a", "b", "dead"]
    good = [run for run in data["runs"] if "error" not in run]
    assert len(good) == 8 and all(run["qps"] > 0 and run["ignored_errors"] == 0 for run in good)
    if server.process:
        assert all(run["server"]["cpu_us_per_query"] > 0 for run in good), "the local process was found by its socket"
    assert all(cell["targets"]["dead"]["qps"] is None and cell["targets"]["dead"]["failed_runs"] == 1 for cell in data["cells"])
    text = page.read_text()
    assert text.count("<svg") == 4 and "http" not in text


def test_wrong_usage_is_2():
    result = sweep("--target", "nowhere")
    assert result.returncode == 2 and "--target" in result.stderr


def test_a_missing_sysbench_names_its_package(tmp_path):
    result = subprocess.run([harness.BINARY, "sweep", "--target", "a=127.0.0.1:1"], capture_output=True, text=True,
                            env={"PATH": str(tmp_path)}, timeout=60)
    assert result.returncode == 2 and "apt-get install sysbench" in result.stderr
