"""The stock sysbench scripts, all of them: prepare, prewarm or warmup, run, cleanup, prepared and not."""

import re
import subprocess

import pytest

SCRIPTS = [
    "oltp_point_select", "oltp_read_only", "oltp_read_write", "oltp_write_only", "oltp_insert", "oltp_delete",
    "oltp_update_index", "oltp_update_non_index", "select_random_points", "select_random_ranges", "bulk_insert",
]
MODES = ["auto", "disable"]
THREADS = 8
TABLES = 2
ROWS = 1000


def sysbench(server, database, script, action, *words):
    # bulk_insert has its own tables, the select_random scripts refuse more than one.
    tables = 1 if script.startswith("select_random") else TABLES
    size = [] if script == "bulk_insert" else [f"--tables={tables}", f"--table-size={ROWS}"]
    command = ["sysbench", script, "--db-driver=mysql", f"--mysql-host={server.host}", f"--mysql-port={server.port}",
               "--mysql-user=root", f"--mysql-password={server.password}", f"--mysql-db={database}", *size,
               f"--threads={THREADS}", "--rand-type=uniform", *words, action]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120)
    output = result.stdout + result.stderr
    assert result.returncode == 0, f"{script} {action}:\n{output}"
    assert "FATAL" not in output, output
    return output


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("script", SCRIPTS)
def test_script(server, database, script, mode):
    words = [f"--db-ps-mode={mode}", "--time=1"]
    sysbench(server, database, script, "prepare", *words)
    if script != "bulk_insert":
        connection = server.connect(database=database)
        with connection.cursor() as cursor:
            cursor.execute("SELECT COUNT(*), MIN(id), MAX(id) FROM sbtest1")
            assert cursor.fetchone()[0] == ROWS
        connection.close()
    report = sysbench(server, database, script, "run", *words)
    events = int(re.search(r"total number of events:\s+(\d+)", report)[1])
    assert events > 0, report
    reconnects = int(re.search(r"reconnects:\s+(\d+)", report)[1])
    assert reconnects == 0, report
    sysbench(server, database, script, "cleanup", *words)
    connection = server.connect(database=database)
    with connection.cursor() as cursor:
        assert cursor.execute("SHOW TABLES") == 0
    connection.close()


def test_prewarm(server, database):
    words = ["--db-ps-mode=auto", "--time=1"]
    sysbench(server, database, "oltp_read_only", "prepare", *words)
    sysbench(server, database, "oltp_read_only", "prewarm", *words)
    sysbench(server, database, "oltp_read_only", "cleanup", *words)


@pytest.mark.parametrize("words", [
    # Without a transaction two threads may delete the same row and both insert it again: 1062 belongs to the script.
    ["--secondary=on"], ["--auto-inc=off"], ["--skip-trx=on", "--mysql-ignore-errors=1213,1205,1020,1062"], ["--delete-inserts=3", "--index-updates=3"],
    ["--range-selects=off"], ["--create-secondary=off"], ["--rand-type=pareto"], ["--mysql-ignore-errors=all"],
], ids=lambda words: words[0].removeprefix("--"))
def test_options_of_the_scripts(server, database, words):
    script = "oltp_read_write"
    sysbench(server, database, script, "prepare", *words)
    report = sysbench(server, database, script, "run", *words, "--time=1")
    assert int(re.search(r"transactions:\s+(\d+)", report)[1]) > 0, report
    sysbench(server, database, script, "cleanup", *words)


def test_sums_hold_after_contention(server, database):
    """Writes over few rows: deadlocks are expected and retried by sysbench, lost rows are not."""
    words = ["--table-size=20", "--db-ps-mode=auto", "--threads=16"]
    sysbench(server, database, "oltp_write_only", "prepare", *words)
    sysbench(server, database, "oltp_write_only", "run", *words, "--time=2")
    connection = server.connect(database=database)
    with connection.cursor() as cursor:
        for table in ("sbtest1", "sbtest2"):
            # Each transaction deletes an id and inserts it again.
            cursor.execute(f"SELECT COUNT(*) FROM {table}")
            assert cursor.fetchone()[0] == 20
            cursor.execute(f"SELECT id, k FROM {table} ORDER BY id")
            through_primary = sorted(cursor.fetchall())
            through_index = set()
            for k in {k for _, k in through_primary}:
                cursor.execute(f"SELECT id, k FROM {table} WHERE k = {k}")
                through_index.update(cursor.fetchall())
            assert sorted(through_index) == through_primary
    connection.close()
    sysbench(server, database, "oltp_write_only", "cleanup", *words)
