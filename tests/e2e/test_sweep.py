"""`clearway sweep`, end to end with cells of one second."""

import json
import subprocess

import harness
import pytest

pytestmark = pytest.mark.skipif(not harness.BINARY.exists(), reason="the binary is not built")


def sweep(*words):
    return subprocess.run([harness.BINARY, "sweep", *words], capture_output=True, text=True, timeout=300)


def test_two_targets(server, database, tmp_path):
    where = f"{server.host}:{server.port}"
    report, page, picture = tmp_path / "report.json", tmp_path / "report.html", tmp_path / "report.svg"
    result = sweep("--target", f"a=root@{where}", "--target", f"b=root@{where}",
                   "--tests", "oltp_point_select,oltp_insert", "--threads", "2,4", "--tables", "1", "--table-size", "500",
                   "--time", "1", "--warmup", "1", "--repeat", "2", "--database", database,
                   "--json", report, "--html", page, "--svg", picture)
    assert result.returncode == 0, result.stderr
    table = result.stdout.splitlines()
    assert table[0].split("|")[1].strip() == "test" and "a/b" in table[0]
    assert sum(line.startswith("| oltp_") for line in table) == 4
    messages = result.stderr.splitlines()
    assert len(messages) == 16 and all(" left] a: " in line or " left] b: " in line for line in messages), result.stderr
    data = json.loads(report.read_text())
    assert [target["name"] for target in data["targets"]] == ["a", "b"]
    assert len(data["runs"]) == 16 and all(run["qps"] > 0 and run["ignored_errors"] == 0 for run in data["runs"])
    if server.process:
        assert all(run["server"]["cpu_us_per_query"] > 0 for run in data["runs"]), "the local process was found by its socket"
    for cell in data["cells"]:
        for place in cell["targets"].values():
            least, greatest = place["qps_spread"]
            assert least <= place["qps"] <= greatest
    text = page.read_text()
    assert text.count("<svg") == 4 and "http" not in text and text.count('class="spread"') == 16
    assert picture.read_text().count("queries/s</text>") == 2


def test_targets_are_asked_before_anything_is_loaded(server, database):
    result = sweep("--target", f"a=root@{server.host}:{server.port}", "--target", f"dead=127.0.0.1:{harness.free_port()}",
                   "--target", "gone=/nowhere/s.sock", "--database", database)
    assert result.returncode == 2 and result.stdout == ""
    messages = result.stderr.splitlines()
    assert any("target dead at 127.0.0.1:" in line and "2002" in line for line in messages), result.stderr
    assert any("target gone at /nowhere/s.sock" in line for line in messages), result.stderr
    connection = server.connect(database=database)
    with connection.cursor() as cursor:
        assert cursor.execute("SHOW TABLES") == 0


def test_wrong_usage_is_2():
    result = sweep("--target", "nowhere")
    assert result.returncode == 2 and "--target" in result.stderr


def test_a_missing_sysbench_names_its_package(tmp_path):
    result = subprocess.run([harness.BINARY, "sweep", "--target", "a=127.0.0.1:1"], capture_output=True, text=True,
                            env={"PATH": str(tmp_path)}, timeout=60)
    assert result.returncode == 2 and "apt-get install sysbench" in result.stderr
