"""`clearway dump`: pages, log and dictionary of a server that was killed, and nothing is changed by looking."""

import hashlib
import json
import pathlib
import re
import subprocess

import harness
from harness import rows, run


def dump(*words):
    return subprocess.run([str(harness.BINARY), "dump", *map(str, words)], capture_output=True, text=True, timeout=120)


def contents(datadir):
    files = sorted(path for path in pathlib.Path(datadir).rglob("*") if path.is_file())
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_a_killed_server_is_shown_as_it_lies_there(start, clearway_only):
    server = start("--innodb_buffer_pool_size=16M")
    run("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, name VARCHAR(100))",
        "INSERT INTO d.t VALUES (1, 'first'), (2, 'second')", "DELETE FROM d.t WHERE id = 1", on=server.connect())
    server.kill()
    before = contents(server.datadir)

    done = dump("page", server.datadir, 0, "1-2")
    assert done.returncode == 0, done.stderr
    assert re.search(r"page 0: Super, LSN \d+, tree 0, checksum good\n  magic .* \"CLEARWAY\", format \d+, pages of 16384 bytes", done.stdout)
    assert re.search(r"page 1: Map, .*\n  pages 0 to \d+\n  free: \d+ units, 0 pages in use\n", done.stdout), done.stdout

    done = dump("log", server.datadir)
    assert done.returncode == 0, done.stderr
    assert "control slot 0: sequence" in done.stdout and "end at LSN" in done.stdout.splitlines()[-1]
    assert "events Commit, transaction" in done.stdout and "UNDO Insert of transaction" in done.stdout
    assert "DAMAGED" not in done.stdout
    groups = re.findall(r"^group (\d+) to (\d+)", done.stdout, re.M)
    assert all(end == start for (_, end), (start, _) in zip(groups, groups[1:])), "no byte of the log is left out"
    last = dump("log", server.datadir, f"--from={groups[-1][0]}", "--groups=5").stdout
    assert re.findall(r"^group (\d+)", last, re.M) == [groups[-1][0]]

    done = dump("dictionary", server.datadir)
    assert done.returncode == 0, done.stderr
    (table,) = [line for line in done.stdout.splitlines() if line.startswith('Table "d" "t" ')]
    definition = json.loads(table.removeprefix('Table "d" "t" '))
    assert [column["name"] for column in definition["columns"]] == ["id", "name"]
    assert contents(server.datadir) == before, "looking has written to the data directory"

    server.start()
    assert rows(server.connect(), "SELECT * FROM d.t") == ((2, "second"),)
    assert server.stop() == 0
    root = definition["indexes"][0]["root"]
    leaf = dump("page", server.datadir, root).stdout
    assert re.match(rf"page {root}: Leaf, LSN \d+, tree \d+, checksum good\n  level 0, ", leaf), leaf
    assert re.search(r"slot \d: key 80000002, transaction \d+, \d+ bytes: ", leaf), leaf


def test_encrypted_pages_and_groups_are_named_and_not_shown(tmp_path, clearway_only):
    datadir = tmp_path / "data"
    datadir.mkdir()
    (datadir / "component_keyring_file.cnf").write_text(json.dumps({"path": str(tmp_path / "keyring")}))
    server = harness.Server("clearway", root=tmp_path, datadir=datadir).start()
    try:
        run("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, name VARCHAR(100)) ENCRYPTION='Y'",
            "INSERT INTO d.t VALUES (1, 'nobody-shall-read-this')", on=server.connect())
        assert server.stop() == 0
    finally:
        server.kill()
    (table,) = [line for line in dump("dictionary", datadir).stdout.splitlines() if line.startswith('Table "d" "t" ')]
    root = json.loads(table.removeprefix('Table "d" "t" '))["indexes"][0]["root"]
    done = dump("page", datadir, root)
    assert "encrypted" in done.stdout and "slot" not in done.stdout and "checksum good" in done.stdout, done
    assert "nobody" not in done.stdout + dump("log", datadir).stdout


def test_what_cannot_be_shown_is_said(start, clearway_only, tmp_path):
    server = start()
    assert "in use by another server" in dump("log", server.datadir).stderr
    assert server.stop() == 0
    for words, message in [
        (("page", server.datadir, 10**9), "has pages 0 to"),
        (("page", server.datadir, "x"), "is no number of a page"),
        (("page", server.datadir), "which one"),
        (("log", server.datadir, "--from=0"), "the checkpoint is"),
        (("heap", server.datadir), "what is 'heap'"),
        (("page", tmp_path, 0), "is no data directory"),
    ]:
        done = dump(*words)
        assert done.returncode == 1 and message in done.stderr, (words, done)
    assert not list(tmp_path.iterdir())
