"""`clearway check`: sound data is told from damaged data, and neither is changed."""

import hashlib
import pathlib
import subprocess

import harness
from harness import run


def contents(server):
    files = sorted(path for path in pathlib.Path(server.datadir).rglob("*") if path.is_file())
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def fill(connection):
    run("CREATE DATABASE d",
        "CREATE TABLE d.t (id INT PRIMARY KEY, n INT, pad LONGTEXT, UNIQUE KEY n (n), KEY pad (pad(20)))",
        "CREATE TABLE d.parts (id INT AUTO_INCREMENT PRIMARY KEY, tags JSON, KEY tags ((CAST(tags AS UNSIGNED ARRAY))))",
        "CREATE TEMPORARY TABLE d.gone (id INT PRIMARY KEY)",
        "INSERT INTO d.parts (tags) VALUES ('[1, 2, 3]'), ('[]'), (NULL), ('[2, 2]')", on=connection)
    for first in range(0, 4000, 500):
        values = ", ".join(f"({i}, {i if i % 9 else 'NULL'}, REPEAT('{chr(97 + i % 26)}', {30_000 if i % 500 == 0 else i % 400}))"
                           for i in range(first, first + 500))
        run(f"INSERT INTO d.t VALUES {values}", on=connection)


def test_a_killed_server_left_sound_data_and_the_check_changes_nothing(start, clearway_only):
    server = start("--innodb_buffer_pool_size=16M")
    fill(server.connect())
    open_one = server.connect(autocommit=False)
    run("UPDATE d.t SET n = NULL WHERE id < 100", "DELETE FROM d.t WHERE id BETWEEN 200 AND 300", on=open_one)
    # Another's commit brings what is open to the disk.
    run("DELETE FROM d.t WHERE id > 3900", on=server.connect())
    server.kill()
    before = contents(server)
    code, said = server.check()
    # Three of the test and of sys, nine of mysql.
    assert code == 0 and said.rstrip().endswith(": 0 problems") and "12 tables" in said, said
    assert contents(server) == before, "the check has written to the data directory"
    server.start()
    assert server.stop() == 0
    code, said = server.check()
    assert code == 0 and "0 open transactions, 0 of them prepared: 0 problems" in said, said


def test_a_running_server_keeps_the_check_out(start, clearway_only):
    server = start()
    code, said = server.check()
    assert code == 1 and "in use by another server" in said, said
    run("SELECT 1", on=server.connect())


def test_what_is_no_data_directory_is_refused(tmp_path, clearway_only):
    done = subprocess.run([str(harness.BINARY), "check", str(tmp_path)], capture_output=True, text=True)
    assert done.returncode == 1 and "is no data directory" in done.stderr, done
    assert not list(tmp_path.iterdir())
