"""Encryption at rest: what is in an encrypted table stands in no file of the server, whenever it dies; keyring, rotation, who may
say what is encrypted. Answers are MySQL's."""

import json
import subprocess
import os
import pathlib
import time

import pymysql
import pytest

import harness

MARK = "no-thief-shall-read-this"
WALL = "everybody-may-read-this"


@pytest.fixture
def kept(tmp_path):
    """A place for a server with a keyring outside of its data directory, and a temporary directory of its own."""
    (tmp_path / "data").mkdir()
    (tmp_path / "tmp").mkdir()
    configure(tmp_path, path=str(tmp_path / "keyring"))
    servers = []

    def start(*options):
        server = harness.Server("clearway", f"--tmpdir={tmp_path}/tmp", "--innodb-buffer-pool-size=16M",
                                "--innodb-redo-log-capacity=8M", *options,
                                root=tmp_path, datadir=tmp_path / "data")
        servers.append(server)
        return server.start()

    yield start, tmp_path
    for server in servers:
        server.kill()


def configure(root, **words):
    (root / "data" / "component_keyring_file.cnf").write_text(json.dumps(words))


def open_files(server):
    """Files without a name that the server has open: temporary ones."""
    names = pathlib.Path(f"/proc/{server.process.pid}/fd")
    return [fd for fd in names.iterdir() if "(deleted)" in os.readlink(fd)]


def files_with(root, word, server=None):
    """Names of the files below data and temporary directory that have the word, also of those without a name."""
    while True:
        try:
            return search(root, word, server)
        except FileNotFoundError:
            pass  # Renamed meanwhile: a segment of the log that is used again. It may have been passed over.


def search(root, word, server):
    files = [path for place in ("data", "tmp") for path in (root / place).rglob("*") if path.is_file()]
    found = {path.name for path in files if word.encode() in path.read_bytes()}
    if server:
        found |= {"(unnamed)" for fd in open_files(server) if word.encode() in fd.read_bytes()}
    return found


def error_of(cursor, statement):
    with pytest.raises(pymysql.MySQLError) as refused:
        cursor.execute(statement)
    return refused.value.args[0]


def fill(cursor, table, word, rows):
    """Rows with the word, short and long, changed and removed, in transactions that commit and that do not."""
    values = ", ".join(f"({i}, '{word}-{i}', REPEAT('{word} ', {1 + i % 7 * 60}))" for i in range(rows))
    cursor.execute(f"INSERT INTO {table} (id, v, t) VALUES {values}")
    cursor.execute(f"UPDATE {table} SET v = CONCAT(v, ' {word}'), t = CONCAT('{word}', t) WHERE id % 3 = 0")
    cursor.execute(f"INSERT INTO {table} (id, v, t) VALUES (1000000, '{word}', REPEAT('{word} ', 20000))")
    cursor.execute("BEGIN")
    cursor.execute(f"DELETE FROM {table} WHERE id % 5 = 0")
    cursor.execute(f"UPDATE {table} SET v = '{word}!' WHERE id % 5 = 1")
    cursor.execute("ROLLBACK")


DEFINITION = "(id INT PRIMARY KEY, v VARCHAR(200), t LONGTEXT, KEY (v))"


def test_a_stolen_disk_shows_nothing(kept, clearway_only):
    start, root = kept
    server = start("--sort-buffer-size=32768", "--skip-log-bin")
    with server.connect() as connection:
        cursor = connection.cursor()
        cursor.execute("CREATE DATABASE d")
        cursor.execute("USE d")
        cursor.execute(f"CREATE TABLE s {DEFINITION} ENCRYPTION='Y'")
        cursor.execute(f"CREATE TABLE w {DEFINITION}")
        fill(cursor, "s", MARK, 200)
        fill(cursor, "w", WALL, 40)
        # Sorting spills, and a temporary table holds what it read.
        reading = server.connect(database="d", cursorclass=pymysql.cursors.SSCursor)
        reader = reading.cursor()
        reader.execute("SELECT a.v, a.t FROM s a, s b WHERE b.id < 5 ORDER BY a.t, b.v")
        reader.fetchone()
        assert open_files(server), "the sort stays in memory"
        assert files_with(root, MARK, server) == set()
        reader.fetchall()
        reading.close()
        cursor.execute("CREATE TEMPORARY TABLE x SELECT * FROM s")
        cursor.execute("CREATE TABLE m (v VARCHAR(100)) ENGINE=MEMORY")
        cursor.execute("INSERT INTO m SELECT LEFT(v, 100) FROM s")
        cursor.execute("ALTER TABLE s ADD KEY (t(100)), ADD COLUMN n INT NOT NULL DEFAULT 7 FIRST")
        assert files_with(root, MARK, server) == set()
        cursor.execute("BEGIN")
        cursor.execute(f"UPDATE s SET v = '{MARK}?' WHERE id < 100")
    for life in range(3):
        server.kill()
        assert files_with(root, MARK) == set(), f"killed, life {life}"
        assert files_with(root, WALL), "the search finds nothing"
        server.assert_sound()
        server = start("--skip-log-bin")
        with server.connect(database="d") as connection:
            cursor = connection.cursor()
            cursor.execute("SELECT COUNT(*), SUM(v LIKE %s), SUM(t LIKE %s) FROM s", (f"%{MARK}%", f"%{MARK}%"))
            assert cursor.fetchone() == (201, 201, 201)
            cursor.execute(f"UPDATE s SET v = CONCAT('{MARK}', id, '-{life}') WHERE id < 150")
            if life == 1:
                cursor.execute("ALTER INSTANCE ROTATE INNODB MASTER KEY")
            assert files_with(root, MARK, server) == set()
    assert server.stop() == 0
    assert files_with(root, MARK) == set()
    assert "clearway.data" in files_with(root, WALL)
    server.assert_sound()


def test_rows_on_their_way_to_the_binary_log_are_encrypted_in_the_log(kept, clearway_only):
    start, root = kept
    server = start("--log-bin", "--server-id=1", "--binlog-cache-size=4096")
    with server.connect() as connection:
        cursor = connection.cursor()
        cursor.execute("CREATE DATABASE d")
        cursor.execute("USE d")
        cursor.execute(f"CREATE TABLE s {DEFINITION} ENCRYPTION='Y'")
        fill(cursor, "s", MARK, 200)
        cursor.execute("BEGIN")
        cursor.execute(f"UPDATE s SET v = '{MARK}?'")
        assert open_files(server), "events stay in memory"
        found = files_with(root, MARK, server)
        assert all(name.startswith("binlog.") for name in found), found
    server.kill()
    assert all(name.startswith("binlog.") for name in files_with(root, MARK))


def test_all_redo_and_undo_on_demand(kept, clearway_only):
    start, root = kept
    server = start("--innodb-redo-log-encrypt=ON", "--skip-log-bin")
    with server.connect() as connection:
        cursor = connection.cursor()
        cursor.execute("SELECT @@innodb_redo_log_encrypt, @@innodb_undo_log_encrypt")
        assert cursor.fetchone() == (1, 0)
        cursor.execute("CREATE DATABASE d")
        cursor.execute("USE d")
        cursor.execute(f"CREATE TABLE w {DEFINITION}")
        fill(cursor, "w", WALL, 40)
        assert not any(name.endswith(".log") for name in files_with(root, WALL))
        cursor.execute("SET GLOBAL innodb_redo_log_encrypt = OFF")
        cursor.execute(f"INSERT INTO w VALUES (7000000, '{WALL}', '{WALL}')")
    server.kill()
    assert any(name.endswith(".log") for name in files_with(root, WALL))
    server = start("--innodb-undo-log-encrypt=ON", "--skip-log-bin")
    with server.connect() as connection:
        cursor = connection.cursor()
        cursor.execute("SELECT @@innodb_undo_log_encrypt")
        assert cursor.fetchone() == (1,)
        cursor.execute("UPDATE d.w SET v = 'other'")
        cursor.execute("SET GLOBAL innodb_undo_log_encrypt = OFF")
    assert server.stop() == 0
    server.assert_sound()


def test_without_its_keyring_the_server_says_so_and_loses_nothing(kept, clearway_only):
    start, root = kept
    server = start()
    with server.connect() as connection:
        cursor = connection.cursor()
        cursor.execute("CREATE DATABASE d")
        cursor.execute(f"CREATE TABLE d.s {DEFINITION} ENCRYPTION='Y'")
        fill(cursor, "d.s", MARK, 20)
    server.kill()
    assert (root / "keyring").stat().st_mode & 0o777 == 0o600
    # As a kill in the middle of a rotation leaves it.
    (root / "keyring.new").write_text((root / "keyring").read_text())
    keys = json.loads((root / "keyring").read_text())
    assert [key["data_type"] for key in keys["elements"]] == ["AES"]
    (root / "keyring").rename(root / "elsewhere")
    (root / "keyring.new").rename(root / "elsewhere.new")
    with pytest.raises(AssertionError, match="does not have the master key 'INNODBKey-"):
        start()
    (root / "data" / "component_keyring_file.cnf").unlink()
    with pytest.raises(AssertionError, match="there is no keyring"):
        start()
    configure(root, path=str(root / "elsewhere"), read_only=True)
    server = start()
    with server.connect() as connection:
        cursor = connection.cursor()
        cursor.execute("SELECT COUNT(*) FROM d.s")
        assert cursor.fetchone() == (21,)
        assert error_of(cursor, "ALTER INSTANCE ROTATE INNODB MASTER KEY") == 3185
        cursor.execute("CREATE TABLE d.more (a INT) ENCRYPTION='Y'")
    assert server.stop() == 0
    configure(root, path=str(root / "elsewhere"))
    server = start()
    with server.connect() as connection:
        cursor = connection.cursor()
        cursor.execute("ALTER INSTANCE ROTATE INNODB MASTER KEY")
        cursor.execute("SELECT KEY_ID FROM performance_schema.keyring_keys")
        ids = [row[0] for row in cursor.fetchall()]
        assert [i.rsplit("-", 1)[1] for i in ids] == ["2", "1"] and len({i.rsplit("-", 1)[0] for i in ids}) == 1
        cursor.execute("SELECT STATUS_VALUE FROM performance_schema.keyring_component_status WHERE STATUS_KEY = 'Data_file'")
        assert cursor.fetchone() == (str(root / "elsewhere"),)
        cursor.execute("ALTER INSTANCE RELOAD KEYRING")
        assert not (root / "elsewhere.new").exists()
        configure(root, path="")
        assert error_of(cursor, "ALTER INSTANCE RELOAD KEYRING") == 4035
        configure(root, path=str(root / "elsewhere"))
    assert server.stop() == 0


def test_a_server_without_keyring_refuses(server, clearway_only):
    with server.connect() as connection:
        cursor = connection.cursor()
        cursor.execute("CREATE DATABASE IF NOT EXISTS nokey")
        assert error_of(cursor, "CREATE TABLE nokey.t (a INT) ENCRYPTION='Y'") == 3185
        assert error_of(cursor, "SET GLOBAL innodb_redo_log_encrypt = ON") == 3185
        assert error_of(cursor, "ALTER INSTANCE ROTATE INNODB MASTER KEY") == 3185
        cursor.execute("SELECT * FROM performance_schema.keyring_keys")
        assert cursor.fetchall() == ()
        cursor.execute("DROP DATABASE nokey")


def shown(cursor, table):
    cursor.execute(f"SHOW CREATE TABLE {table}")
    text = cursor.fetchone()[1]
    return text.split("ENCRYPTION=")[1][:3] if "ENCRYPTION=" in text else None


# A statement, and the error it gets or what ENCRYPTION says afterwards of the table.
CLAUSES = [
    ("CREATE TABLE d.t (a INT PRIMARY KEY, b VARCHAR(20)) ENCRYPTION='Y'", "d.t", "'Y'"),
    ("ALTER TABLE d.t ADD COLUMN c INT, ADD KEY (b)", "d.t", "'Y'"),
    ("ALTER TABLE d.t COMMENT='x'", "d.t", "'Y'"),
    ("ALTER TABLE d.t ENCRYPTION='y', ALGORITHM=INPLACE", "d.t", "'y'"),
    ("TRUNCATE TABLE d.t", "d.t", "'y'"),
    ("ALTER TABLE d.t ENCRYPTION='n', ALGORITHM=INPLACE", "d.t", 1846),
    ("ALTER TABLE d.t ENCRYPTION='n', ALGORITHM=INSTANT", "d.t", 1846),
    ("ALTER TABLE d.t ENCRYPTION='n', ALGORITHM=COPY, LOCK=NONE", "d.t", 1846),
    ("ALTER TABLE d.t ENGINE=MEMORY", "d.t", 1178),
    ("ALTER TABLE d.t ENCRYPTION=''", "d.t", 3184),
    ("CREATE TABLE d.l LIKE d.t", "d.l", "'Y'"),
    ("CREATE TABLE d.c AS SELECT * FROM d.t", "d.c", None),
    ("ALTER TABLE d.t ENCRYPTION='n', LOCK=SHARED", "d.t", None),
    ("CREATE TABLE d.u (a INT) ENCRYPTION='N'", "d.u", None),
    ("CREATE TABLE d.v (a INT) ENCRYPTION='x'", "d.v", 3184),
    ("CREATE TEMPORARY TABLE d.v (a INT) ENCRYPTION='y'", "d.v", 3833),
    ("CREATE TABLE d.v (a INT) ENCRYPTION='y' ENGINE=MEMORY", "d.v", 1178),
    ("CREATE TABLE e.t (a INT)", "e.t", "'Y'"),
    ("CREATE TABLE e.n (a INT) ENCRYPTION='n'", "e.n", "'n'"),
    ("CREATE TABLE e.l LIKE d.u", "e.l", "'Y'"),
    ("CREATE TABLE e.s AS SELECT 1 a", "e.s", "'Y'"),
    ("CREATE TABLE e.m (a INT) ENGINE=MEMORY", "e.m", 1178),
    ("RENAME TABLE e.t TO d.t2", "d.t2", "'Y'"),
    ("ALTER DATABASE f ENCRYPTION='Y'", "f.t", "'N'"),
]


def test_clauses(kept, clearway_only):
    start, root = kept
    server = start()
    with server.connect() as connection:
        cursor = connection.cursor()
        for statement in ("CREATE DATABASE d", "CREATE DATABASE e ENCRYPTION='Y'", "CREATE DATABASE f", "CREATE TABLE f.t (a INT)"):
            cursor.execute(statement)
        for statement, table, expected in CLAUSES:
            if isinstance(expected, int):
                assert error_of(cursor, statement) == expected, statement
            else:
                cursor.execute(statement)
                assert shown(cursor, table) == expected, statement
        cursor.execute("CREATE TABLE e.w (a INT) ENCRYPTION='N'")
        cursor.execute("SHOW WARNINGS")
        assert cursor.fetchone()[1] == 3824
        cursor.execute("SELECT SCHEMA_NAME, DEFAULT_ENCRYPTION FROM information_schema.SCHEMATA WHERE SCHEMA_NAME IN ('d', 'e') ORDER BY 1")
        assert cursor.fetchall() == (("d", "NO"), ("e", "YES"))
        cursor.execute("SELECT CREATE_OPTIONS FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'd' AND TABLE_NAME = 't2'")
        assert cursor.fetchone() == ("ENCRYPTION='Y'",)
        cursor.execute("SHOW CREATE DATABASE e")
        assert cursor.fetchone()[1].endswith("/*!80016 DEFAULT ENCRYPTION='Y' */")
        assert error_of(cursor, "CREATE DATABASE g ENCRYPTION='z'") == 1525
        cursor.execute("SET default_table_encryption = ON")
        cursor.execute("CREATE DATABASE g")
        cursor.execute("SHOW CREATE DATABASE g")
        assert "ENCRYPTION='Y'" in cursor.fetchone()[1]
        cursor.execute("ANALYZE TABLE d.t2 UPDATE HISTOGRAM ON a")
        assert cursor.fetchone()[2:] == ("Error", "Cannot create histogram statistics for an encrypted table.")
        # A histogram of the table that becomes encrypted goes.
        cursor.execute("CREATE TABLE d.h (a INT)")
        cursor.execute("INSERT INTO d.h VALUES (1), (2)")
        cursor.execute("ANALYZE TABLE d.h UPDATE HISTOGRAM ON a")
        cursor.execute("ALTER TABLE d.h ENCRYPTION='Y'")
        cursor.execute("SELECT COUNT(*) FROM information_schema.COLUMN_STATISTICS WHERE TABLE_NAME = 'h'")
        assert cursor.fetchone() == (0,)
    assert server.stop() == 0
    server.assert_sound()
    server = start()
    with server.connect() as connection:
        cursor = connection.cursor()
        assert shown(cursor, "d.t2") == "'Y'"
        cursor.execute("SELECT COUNT(*) FROM d.h")
        assert cursor.fetchone() == (2,)


def test_who_may_say_what_is_encrypted(kept, clearway_only):
    start, _ = kept
    server = start()
    with server.connect() as connection:
        root = connection.cursor()
        for statement in ("CREATE DATABASE d", "CREATE DATABASE e ENCRYPTION='Y'", "CREATE USER u IDENTIFIED BY 'p'",
                          "GRANT CREATE, ALTER, DROP, INSERT, SELECT ON *.* TO u", "CREATE TABLE d.x (a INT)"):
            root.execute(statement)
        with server.connect(user="u", password="p") as other:
            user = other.cursor()
            user.execute("CREATE TABLE d.free (a INT) ENCRYPTION='Y'")
            root.execute("SET GLOBAL table_encryption_privilege_check = ON")
            for statement, error in [
                ("CREATE TABLE d.a (a INT) ENCRYPTION='Y'", 3826),
                ("CREATE TABLE e.a (a INT) ENCRYPTION='N'", 3826),
                ("ALTER TABLE d.x ENCRYPTION='Y'", 3826),
                ("RENAME TABLE d.x TO e.x", 3826),
                ("ALTER TABLE d.x RENAME e.x", 3826),
                ("CREATE DATABASE h ENCRYPTION='Y'", 3827),
                ("ALTER DATABASE d ENCRYPTION='Y'", 3827),
                ("SET default_table_encryption = ON", 1227),
                ("SET GLOBAL table_encryption_privilege_check = OFF", 1227),
                ("ALTER INSTANCE ROTATE INNODB MASTER KEY", 1227),
                ("ALTER INSTANCE RELOAD KEYRING", 1227),
            ]:
                assert error_of(user, statement) == error, statement
            for statement in ("CREATE TABLE d.n (a INT) ENCRYPTION='N'", "CREATE TABLE e.y (a INT)", "CREATE DATABASE h ENCRYPTION='N'",
                              "ALTER TABLE d.free ADD COLUMN b INT", "TRUNCATE TABLE d.free", "SET default_table_encryption = OFF"):
                user.execute(statement)
            root.execute("GRANT TABLE_ENCRYPTION_ADMIN ON *.* TO u")
            user.execute("CREATE TABLE d.a (a INT) ENCRYPTION='Y'")
            user.execute("RENAME TABLE d.x TO e.x")
            root.execute("SET GLOBAL table_encryption_privilege_check = OFF")


def test_a_clone_is_as_encrypted_and_opens_with_the_same_keyring(kept):
    start, root = kept
    cursor = start("--skip-log-bin").connect().cursor()
    for statement in ("CREATE DATABASE d", f"CREATE TABLE d.t {DEFINITION} ENCRYPTION='Y'"):
        cursor.execute(statement)
    fill(cursor, "d.t", MARK, 300)
    cursor.execute(f"CLONE LOCAL DATA DIRECTORY '{root}/copies/data'")
    copies = root / "copies"
    (copies / "tmp").mkdir()
    assert not files_with(copies, MARK)
    server = harness.Server("clearway", "--skip-log-bin", root=copies, datadir=copies / "data")
    try:
        cursor.execute("CHECKSUM TABLE d.t")
        checksum = cursor.fetchall()
        configure(copies, path=str(root / "keyring"))
        server.start()
        copied = server.connect().cursor()
        copied.execute("CHECKSUM TABLE d.t")
        assert copied.fetchall() == checksum
    finally:
        server.kill()
    server.assert_sound()


def assert_closed(directory):
    """Files are their owner's to write and the group's to read at most, and those with keys their owner's alone."""
    found = set()
    for path in directory.rglob("*"):
        if path.is_socket() or path.name == "component_keyring_file.cnf":
            continue
        is_key = path.name in ("clearway.keys", "keyring") or path.name.endswith("key.pem") and not path.name.startswith("public")
        most = 0o750 if path.is_dir() else 0o600 if is_key else 0o640
        assert path.stat().st_mode & 0o777 & ~most == 0, (path, oct(path.stat().st_mode))
        found.add(path.name)
    assert "clearway.keys" in found


def test_keys_are_their_owners_alone_wherever_data_are_copied_to(kept, clearway_only):
    start, root = kept
    server = start("--log-bin", "--server-id=1", "--binlog-encryption=ON")
    cursor = server.connect().cursor()
    for statement in ("CREATE DATABASE d", f"CREATE TABLE d.t {DEFINITION} ENCRYPTION='Y'"):
        cursor.execute(statement)
    fill(cursor, "d.t", MARK, 30)
    cursor.execute(f"CLONE LOCAL DATA DIRECTORY '{root}/cloned/data'")

    def run(*words):
        done = subprocess.run([str(harness.BINARY), *words], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr

    whole, increment, restored = (str(root / name) for name in ("whole", "increment", "restored/data"))
    run("backup", f"--port={server.port}", f"--to={whole}")
    cursor.execute("ALTER INSTANCE ROTATE INNODB MASTER KEY")
    cursor.execute("ALTER INSTANCE ROTATE BINLOG MASTER KEY")
    run("backup", f"--port={server.port}", f"--to={increment}", f"--incremental-from={whole}")
    (root / "restored" / "data").mkdir(parents=True, mode=0o750)
    configure(root / "restored", path=str(root / "keyring"))
    run("restore", f"--from={whole}", f"--from={increment}", f"--to={restored}")
    assert server.stop() == 0
    for directory in (server.datadir, root / "cloned" / "data", root / "whole", root / "increment", root / "restored" / "data"):
        assert_closed(directory)
    assert (root / "keyring").stat().st_mode & 0o777 == 0o600


def overwritten(cursor):
    cursor.execute("SHOW GLOBAL STATUS LIKE 'Clearway_pages_to_overwrite'")
    return cursor.fetchone()[1] == "0"


def test_what_a_table_had_before_it_was_encrypted_is_overwritten(kept, clearway_only):
    start, root = kept
    server = start("--skip-log-bin")
    with server.connect() as connection:
        cursor = connection.cursor()
        for statement in ("CREATE DATABASE d", "USE d", f"CREATE TABLE early {DEFINITION}", f"CREATE TABLE s {DEFINITION}",
                          f"CREATE TABLE gone {DEFINITION}", f"CREATE TABLE cut {DEFINITION}", f"CREATE TABLE w {DEFINITION}"):
            cursor.execute(statement)
        for table in ("early", "s", "gone", "cut"):
            fill(cursor, table, MARK, 200)
        fill(cursor, "w", WALL, 40)
        cursor.execute("DROP TABLE early")
        cursor.execute("DELETE FROM s WHERE id BETWEEN 20 AND 120")
        assert "clearway.data" in files_with(root, MARK, server) or any(name.endswith(".log") for name in files_with(root, MARK, server))
        # From here on there are keys.
        for statement in ("ALTER TABLE s ENCRYPTION='Y'", "DROP TABLE gone", "TRUNCATE TABLE cut"):
            cursor.execute(statement)
        harness.wait_until(lambda: files_with(root, MARK, server) == set(), 60, "nothing is left")
        harness.wait_until(lambda: overwritten(cursor), 20, "nothing is to be overwritten")
        cursor.execute("SELECT COUNT(*), SUM(v LIKE %s) FROM s", (f"%{MARK}%",))
        assert cursor.fetchone() == (100, 100)
    server.kill()
    assert files_with(root, MARK) == set() and files_with(root, WALL)
    server.assert_sound()
    server = start("--skip-log-bin")
    with server.connect(database="d") as connection:
        cursor = connection.cursor()
        cursor.execute("SELECT COUNT(*), SUM(v LIKE %s) FROM w", (f"%{WALL}%",))
        assert cursor.fetchone() == (41, 41)
        assert files_with(root, MARK, server) == set()
    assert server.stop() == 0
    server.assert_sound()


def test_a_kill_between_encrypting_and_overwriting_changes_nothing(kept, clearway_only):
    start, root = kept
    server = start("--skip-log-bin")
    with server.connect() as connection:
        cursor = connection.cursor()
        for statement in ("CREATE DATABASE d", "CREATE TABLE d.key_maker (a INT) ENCRYPTION='Y'"):
            cursor.execute(statement)
    for life, pause in enumerate((0, 0.05, 0.2, 0.6)):
        with server.connect(database="d") as connection:
            cursor = connection.cursor()
            cursor.execute(f"CREATE TABLE s{life} {DEFINITION}")
            fill(cursor, f"s{life}", MARK, 60)
            cursor.execute(f"ALTER TABLE s{life} ENCRYPTION='Y'")
        time.sleep(pause)
        server.kill()
        server.assert_sound()
        server = start("--skip-log-bin")
    with server.connect(database="d") as connection:
        cursor = connection.cursor()
        harness.wait_until(lambda: files_with(root, MARK, server) == set(), 60, "nothing is left")
        for life in range(4):
            cursor.execute(f"SELECT COUNT(*), SUM(v LIKE %s) FROM s{life}", (f"%{MARK}%",))
            assert cursor.fetchone() == (61, 61)
    assert server.stop() == 0
    assert files_with(root, MARK) == set()
    server.assert_sound()


def test_files_of_the_binary_log_are_encrypted(kept, clearway_only):
    start, root = kept
    server = start("--log-bin", "--server-id=1")
    connection = server.connect()
    cursor = connection.cursor()

    def logs():
        cursor.execute("SHOW BINARY LOGS")
        return cursor.fetchall()

    assert error_of(cursor, "ALTER INSTANCE ROTATE BINLOG MASTER KEY") == 3805
    cursor.execute("SET GLOBAL binlog_encryption = ON")
    assert [encrypted for _, _, encrypted in logs()] == ["No", "Yes"]
    cursor.execute("CREATE DATABASE d")
    cursor.execute("CREATE TABLE d.t (id INT PRIMARY KEY, v VARCHAR(100))")
    cursor.execute(f"INSERT INTO d.t VALUES (1, '{MARK}')")
    names = [name for name, _, _ in logs()]
    file = server.datadir / names[-1]
    first = file.read_bytes()
    assert first[:4] == b"\xfdbin" and MARK.encode() not in first and b"MySQLReplicationKey_" in first
    assert logs()[-1][1] == file.stat().st_size
    cursor.execute(f"SHOW BINLOG EVENTS IN '{names[-1]}'")
    assert "Write_rows" in [row[2] for row in cursor.fetchall()]
    cursor.execute("ALTER INSTANCE ROTATE BINLOG MASTER KEY")
    assert [encrypted for _, _, encrypted in logs()] == ["No", "Yes", "Yes"]
    # The password is under another key, and the contents are what they were, but for the sign that the file
    # is in use and the event that names the next one.
    second = file.read_bytes()
    assert second[:512] != first[:512] and second[540:600] == first[540:600]
    keys = [element["data_id"] for element in json.loads((root / "keyring").read_text())["elements"]]
    assert len([key for key in keys if key.startswith("MySQLReplicationKey_")]) == 3
    cursor.execute(f"INSERT INTO d.t VALUES (2, '{MARK}')")
    server.kill()
    server = start("--log-bin", "--server-id=1", "--binlog-encryption=ON")
    connection = server.connect()
    cursor = connection.cursor()
    cursor.execute(f"INSERT INTO d.t VALUES (3, '{MARK}')")
    assert [encrypted for _, _, encrypted in logs()][-2:] == ["Yes", "Yes"]
    # A replica is told what is in them, and encrypts its relay log.
    replica_root = root / "replica"
    (replica_root / "data").mkdir(parents=True)
    configure(replica_root, path=str(replica_root / "keyring"))
    replica = harness.Server("clearway", "--log-bin", "--server-id=2", "--binlog-encryption=ON", root=replica_root, datadir=replica_root / "data")
    try:
        replica.start()
        follower = replica.connect().cursor()
        cursor.execute("CREATE USER repl IDENTIFIED BY 'secret'")
        cursor.execute("GRANT REPLICATION SLAVE ON *.* TO repl")
        follower.execute(f"CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT={server.port}, SOURCE_USER='repl', "
                         f"SOURCE_PASSWORD='secret', GET_SOURCE_PUBLIC_KEY=1, SOURCE_LOG_FILE='{names[1]}', SOURCE_LOG_POS=4")
        follower.execute("START REPLICA")

        def arrived():
            follower.execute("SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'd'")
            if follower.fetchone() != (1,):
                return False
            follower.execute("SELECT COUNT(*) FROM d.t")
            return follower.fetchone() == (3,)

        harness.wait_until(arrived, 60, "the replica has three rows")
        relay = max(replica.datadir.glob("*relay-bin.0*"))
        assert relay.read_bytes()[:4] == b"\xfdbin"
        assert not any(MARK.encode() in path.read_bytes() for path in replica.datadir.glob("*bin*"))
    finally:
        replica.kill()
    cursor.execute("SET GLOBAL binlog_encryption = OFF")
    assert logs()[-1][2] == "No"
    server.stop()
    (root / "keyring").rename(root / "elsewhere")
    with pytest.raises(AssertionError, match="MySQLReplicationKey_|keyring"):
        start("--log-bin", "--server-id=1")
    (root / "elsewhere").rename(root / "keyring")
    start("--log-bin", "--server-id=1")


def test_a_server_without_keyring_keeps_its_binary_log_as_it_is(start, clearway_only):
    server = start("--log-bin")
    cursor = server.connect().cursor()
    assert error_of(cursor, "SET GLOBAL binlog_encryption = ON") == 3794
    cursor.execute("SHOW BINARY LOGS")
    assert cursor.fetchall()[-1][2] == "No"


def test_encrypted_and_compressed_files_of_the_binary_log_are_applied_to_a_backup(kept, clearway_only):
    start, root = kept
    server = start("--log-bin", "--server-id=1", "--gtid-mode=ON", "--enforce-gtid-consistency=ON", "--binlog-encryption=ON")
    cursor = server.connect().cursor()
    cursor.execute("CREATE DATABASE d")
    cursor.execute("CREATE TABLE d.t (id INT PRIMARY KEY, v VARCHAR(3000))")
    done = subprocess.run([str(harness.BINARY), "backup", f"--port={server.port}", "--to", str(root / "backup")], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    cursor.execute("INSERT INTO d.t VALUES (1, 'plain'), (2, 'plain')")
    cursor.execute("SET SESSION binlog_transaction_compression = ON")
    cursor.execute("INSERT INTO d.t VALUES (3, REPEAT('c', 3000)), (4, REPEAT('d', 3000))")
    cursor.execute("FLUSH BINARY LOGS")
    cursor.execute("UPDATE d.t SET v = REPEAT('e', 2000) WHERE id > 1")
    cursor.execute("SELECT COMPRESSION_TYPE FROM performance_schema.binary_log_transaction_compression_stats")
    assert ("ZSTD",) in cursor.fetchall()
    cursor.execute("SELECT * FROM d.t")
    wanted = cursor.fetchall()
    assert server.stop() == 0
    files = sorted(str(path) for path in server.datadir.glob("binlog.0*"))
    assert all(open(file, "rb").read(4) == b"\xfdbin" for file in files[-2:])

    def restored(to):
        return subprocess.run([str(harness.BINARY), "restore", "--from", str(root / "backup"), "--to", str(to / "data"),
                               "--binlog", *files], capture_output=True, text=True)

    (root / "without").mkdir()
    refused = restored(root / "without")
    assert refused.returncode == 1 and "key" in refused.stderr, refused.stderr
    (root / "with" / "data").mkdir(parents=True)
    configure(root / "with", path=str(root / "keyring"))
    done = restored(root / "with")
    assert done.returncode == 0, done.stderr
    again = harness.Server("clearway", "--log-bin", root=root / "with", datadir=root / "with" / "data")
    try:
        again.start()
        cursor = again.connect().cursor()
        cursor.execute("SELECT * FROM d.t")
        assert cursor.fetchall() == wanted
    finally:
        again.kill()
