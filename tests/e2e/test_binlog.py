"""The binary log: MariaDB's mariadb-binlog reads every file, the rows that it finds there are the tables' rows, also after kill -9
under load, and a MariaDB replica ends with the source's tables.
"""

import itertools
import random
import re
import shutil
import subprocess
import threading
import time

import pymysql
import pytest
from harness import Server, rows, run, value, wait_until
from mixed_load import Disk

pytestmark = pytest.mark.usefixtures("clearway_only")

BINLOG = shutil.which("mariadb-binlog") or shutil.which("mysqlbinlog")
ROUNDS = 4


def decode(server):
    """All files in order, as text."""
    names = (server.datadir / "binlog.index").read_text().split()
    files = [str(server.datadir / name) for name in names]
    assert BINLOG, "mariadb-binlog is installed with the client"
    found = subprocess.run([BINLOG, "-v", "--base64-output=decode-rows", *files], capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    return found.stdout


def literal(text):
    """A value as the row comments print it."""
    text = re.sub(r" \(\d+\)$", "", text)
    if text == "NULL":
        return None
    return text[1:-1] if text.startswith("'") else int(text)


def replay(text, table):
    """The rows that the row events of one table leave, by their first column. Each image is checked against what was there."""
    found, verb, before, after = {}, None, {}, {}

    def apply():
        if verb is None:
            return
        if verb in ("UPDATE", "DELETE"):
            assert found.pop(before[1]) == before, (verb, before)
        if verb in ("UPDATE", "INSERT"):
            assert after[1] not in found, after
            found[after[1]] = after

    for line in text.splitlines():
        if not line.startswith("###"):
            continue
        if match := re.match(r"### (INSERT INTO|UPDATE|DELETE FROM) (\S+)", line):
            apply()
            verb = match[1].split()[0] if match[2].replace("`", "") == table else None
            before, after = {}, {}
            image = before
        elif line in ("### WHERE", "### SET"):
            image = before if line == "### WHERE" else after
        elif match := re.match(r"###   @(\d+)=(.*)", line):
            image[int(match[1])] = literal(match[2])
    apply()
    return found


def in_table(connection, table):
    return {row[0]: dict(enumerate(row, 1)) for row in rows(connection, f"SELECT * FROM {table}")}


def test_rows_and_statements_are_read_by_another_servers_tool(start):
    server = start("--log-bin", "--server-id=3")
    connection = server.connect()
    run(
        "CREATE DATABASE d",
        "USE d",
        "CREATE TABLE t (id INT PRIMARY KEY, n INT, s VARCHAR(300)) CHARSET utf8mb4",
        "CREATE TABLE no_key (a INT, b VARCHAR(5))",
        "INSERT INTO t VALUES (1, 1, 'one'), (2, 2, NULL), (3, -3, 'drei')",
        "UPDATE t SET n = n * 2, s = CONCAT(IFNULL(s, ''), '!') WHERE id > 1",
        "DELETE FROM t WHERE id = 3",
        "REPLACE INTO t VALUES (2, 22, 'replaced')",
        "INSERT INTO t VALUES (2, 0, 'x') ON DUPLICATE KEY UPDATE n = n + 1",
        "INSERT IGNORE INTO t VALUES (2, 5, 'refused'), (4, 4, 'four')",
        "INSERT INTO no_key VALUES (1, 'a'), (1, 'a')",
        "DELETE FROM no_key LIMIT 1",
        on=connection,
    )
    connection.begin()
    run("INSERT INTO t VALUES (5, 5, 'five')", "SAVEPOINT a", "INSERT INTO t VALUES (6, 6, 'six')", "UPDATE t SET n = 0",
        "ROLLBACK TO a", "UPDATE t SET n = 55 WHERE id = 5", on=connection)
    connection.commit()
    connection.begin()
    run("INSERT INTO t VALUES (7, 7, 'seven')", on=connection)
    connection.rollback()
    with pytest.raises(pymysql.err.IntegrityError):
        run("INSERT INTO t VALUES (8, 8, 'eight'), (1, 1, 'duplicate')", on=connection)
    run("SET sql_log_bin = 0", "INSERT INTO no_key VALUES (9, 'quiet')", "SET sql_log_bin = 1", on=connection)
    run("CREATE TEMPORARY TABLE secret (a INT)", "INSERT INTO secret VALUES (1)", "DROP TABLE secret", on=connection)
    assert value(connection, "SHOW BINARY LOG STATUS") == "binlog.000001"
    text = decode(server)
    assert replay(text, "d.t") == in_table(connection, "d.t")
    assert "eight" not in text and "quiet" not in text and "secret" not in text
    assert "CREATE TABLE no_key" in text and "server id 3" in text
    # Two equal rows came, one went.
    assert text.count("### INSERT INTO `d`.`no_key`") == 2 and text.count("### DELETE FROM `d`.`no_key`") == 1


def test_statements_about_the_files(start):
    server = start("--log-bin=log")
    connection = server.connect()
    assert rows(connection, "SELECT @@log_bin, @@sql_log_bin") == ((1, 1),)
    assert value(connection, "SELECT @@log_bin_basename") == str(server.datadir / "log")
    run("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)", "INSERT INTO d.t VALUES (1)", "FLUSH BINARY LOGS",
        "INSERT INTO d.t VALUES (2)", on=connection)
    files = rows(connection, "SHOW BINARY LOGS")
    assert [name for name, _, _ in files] == ["log.000001", "log.000002"]
    assert all((server.datadir / name).stat().st_size == size for name, size, _ in files)
    assert rows(connection, "SHOW MASTER STATUS")[0][:2] == files[1][:2]
    events = rows(connection, "SHOW BINLOG EVENTS")
    kinds = [kind for _, _, kind, *_ in events]
    assert kinds == ["Format_desc", "Previous_gtids", "Anonymous_Gtid", "Query", "Anonymous_Gtid", "Query", "Anonymous_Gtid",
                     "Query", "Table_map", "Write_rows", "Xid", "Rotate"]
    assert all(before[4] == after[1] for before, after in zip(events, events[1:]))
    assert re.fullmatch(r"CREATE TABLE d.t \(id INT PRIMARY KEY\) /\* xid=\d+ \*/", events[5][5]) and events[7][5] == "BEGIN"
    at = events[4][1]
    assert rows(connection, f"SHOW BINLOG EVENTS IN 'log.000001' FROM {at} LIMIT 1, 2") == events[5:7]
    with pytest.raises(pymysql.err.MySQLError) as wrong:
        rows(connection, "SHOW BINLOG EVENTS IN 'log.000009'")
    assert wrong.value.args[0] == 1220
    with pytest.raises(pymysql.err.MySQLError) as missing:
        run("PURGE BINARY LOGS TO 'log.000009'", on=connection)
    assert missing.value.args[0] == 1373
    run("PURGE BINARY LOGS BEFORE '2001-01-01'", on=connection)
    assert len(rows(connection, "SHOW BINARY LOGS")) == 2
    run("PURGE BINARY LOGS TO 'log.000002'", on=connection)
    assert [name for name, *_ in rows(connection, "SHOW BINARY LOGS")] == ["log.000002"]
    run("RESET BINARY LOGS AND GTIDS", on=connection)
    assert [name for name, *_ in rows(connection, "SHOW BINARY LOGS")] == ["log.000001"]
    # A start goes on in the next file.
    assert server.stop() == 0
    server.start()
    assert [name for name, *_ in rows(server.connect(), "SHOW BINARY LOGS")] == ["log.000001", "log.000002"]


def test_transactions_are_numbered_in_order_and_without_gaps(start):
    server = start("--log-bin", "--gtid-mode=ON", "--enforce-gtid-consistency=ON")
    connection = server.connect()
    uuid = value(connection, "SELECT @@server_uuid")
    assert value(connection, "SELECT @@gtid_executed") == ""
    run("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)", "INSERT INTO d.t VALUES (1)", on=connection)
    connection.begin()
    run("INSERT INTO d.t VALUES (2)", on=connection)
    connection.rollback()
    run("CREATE TABLE d.u SELECT * FROM d.t", on=connection)
    assert value(connection, "SELECT @@gtid_executed") == f"{uuid}:1-4"
    server.kill()
    server.start()
    connection = server.connect()
    assert value(connection, "SELECT @@global.gtid_executed") == f"{uuid}:1-4"
    run("DROP TABLE d.u", "FLUSH BINARY LOGS", on=connection)
    assert rows(connection, "SHOW BINARY LOG STATUS")[0][4] == f"{uuid}:1-5"
    run("PURGE BINARY LOGS TO 'binlog.000003'", on=connection)
    assert rows(connection, "SHOW VARIABLES LIKE 'gtid_purged'") == (("gtid_purged", f"{uuid}:1-5"),)
    assert rows(connection, f"SELECT GTID_SUBSET('{uuid}:2', @@gtid_executed), GTID_SUBTRACT(@@gtid_executed, '{uuid}:2-3')") == \
        ((1, f"{uuid}:1:4-5"),)
    for statement, code in [
        ("SELECT GTID_SUBSET('x', '')", 1772),
        ("SET GLOBAL gtid_mode = OFF", 1788),
        ("SET GLOBAL enforce_gtid_consistency = OFF", 1779),
        ("SET gtid_next = 'x'", 1774),
    ]:
        with pytest.raises(pymysql.err.MySQLError) as refused:
            run(statement, on=connection)
        assert refused.value.args[0] == code, statement


def test_passwords_are_not_in_the_files(start):
    server = start("--log-bin")
    connection = server.connect()
    run("CREATE USER a IDENTIFIED BY 'first-secret' ACCOUNT LOCK", "ALTER USER a IDENTIFIED BY 'second-secret'",
        "SET PASSWORD FOR a = 'third-secret'", "GRANT SELECT ON *.* TO a", "DROP USER a", on=connection)
    rows(connection, "SHOW BINARY LOG STATUS")
    text = decode(server)
    assert "secret" not in text
    # A hash whose salt happens to be printable is a quoted text.
    assert len(re.findall("IDENTIFIED WITH 'caching_sha2_password' AS (?:0x|')", text)) == 3
    assert "GRANT SELECT ON *.* TO a" in text and "ACCOUNT LOCK" in text


def connect(server):
    """With a collation that MariaDB knows, too: statements carry it."""
    return server.connect(init_command="SET NAMES utf8mb4 COLLATE utf8mb4_general_ci")


@pytest.mark.parametrize("file_max", ["1G", "64K"], ids=["one file", "rotation"])
def test_a_full_disk_leaves_no_gap(start, small_disk, file_max):
    """What the files cannot take stays in the log until they can; a file that could not be begun is begun later."""
    disk = Disk(small_disk)
    server = start(f"--max-binlog-size={file_max}", "--innodb-redo-log-capacity=32M", "--innodb-buffer-pool-size=16M", datadir=small_disk / "data")
    run("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, n INT, s TEXT) CHARSET utf8mb4", on=server.connect())
    connection = server.connect()
    done = 0
    for number in range(4):
        disk.fill(1 << 20)
        for row in range(400):
            try:
                run(f"REPLACE INTO d.t VALUES ({row}, {number}, REPEAT('x', 5000))", on=connection)
                done += 1
            except pymysql.err.MySQLError as refused:
                assert refused.args[0] in (1026, 1114, 1021, 1030, 3), refused
                break
        disk.release()
        wait_until(lambda: is_written(connection), 30, "the writer goes on")
        assert replay(decode(server), "d.t") == in_table(connection, "d.t"), number
    assert done > 100, done
    # A start on a full disk completes the files once there is room.
    disk.fill(0)
    server.kill()
    server.start()
    connection = server.connect()
    assert rows(connection, "SELECT COUNT(*) FROM d.t")
    disk.release()
    wait_until(lambda: is_written(connection), 30, "the writer begins")
    assert replay(decode(server), "d.t") == in_table(connection, "d.t")


def is_written(connection):
    """Are all commits so far in the files? Says 1026 while there is no room for them."""
    try:
        return value(connection, "SHOW BINARY LOG STATUS")
    except pymysql.err.MySQLError as refused:
        assert refused.args[0] == 1026, refused
        return None


def test_on_a_full_disk_sessions_are_answered_and_purge_makes_room(start, small_disk):
    """A writer that has no room stops nobody: sets are as far as they are written, what must wait for the files is refused."""
    disk = Disk(small_disk)
    server = start("--innodb-redo-log-capacity=32M", "--innodb-buffer-pool-size=16M", datadir=small_disk / "data")
    connection = server.connect(read_timeout=20)
    run("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, s MEDIUMTEXT)", on=connection)
    for row in range(8):
        run(f"REPLACE INTO d.t VALUES ({row}, REPEAT('x', 1000000))", on=connection)
    run("FLUSH BINARY LOGS", on=connection)

    def stall():
        disk.fill(0)
        for row in range(1000):
            try:
                run(f"REPLACE INTO d.t VALUES ({row % 8}, REPEAT('y', 100000))", on=connection)
            except pymysql.err.MySQLError as refused:
                assert refused.args[0] in (1026, 1114, 1021, 1030, 3), refused
            if not is_written(connection):
                return
        raise AssertionError("the disk is never full")

    stall()
    fresh = server.connect(read_timeout=20)
    assert rows(fresh, "SHOW TABLES FROM d LIKE 't%'") == (("t",),)
    before = value(fresh, "SELECT @@GLOBAL.gtid_executed")
    assert rows(fresh, "SHOW VARIABLES LIKE 'gtid_executed'") == (("gtid_executed", before),)
    for statement in ("FLUSH BINARY LOGS", "SHOW BINARY LOG STATUS", "SET GLOBAL gtid_purged = '+11111111-1111-1111-1111-111111111111:1'"):
        with pytest.raises(pymysql.err.MySQLError, match="No space left on device") as refused:
            run(statement, on=fresh)
        assert refused.value.args[0] == 1026, statement
    assert [name for name, *_ in rows(fresh, "SHOW BINARY LOGS")] == ["binlog.000001", "binlog.000002"]
    run("PURGE BINARY LOGS TO 'binlog.000002'", on=fresh)
    wait_until(lambda: is_written(fresh), 30, "the writer goes on with the room of the first file")
    assert [name for name, *_ in rows(fresh, "SHOW BINARY LOGS")] == ["binlog.000002"]
    # A stalled writer tries at once when somebody asks, and does not answer with what it met before.
    stall()
    disk.release()
    run("FLUSH BINARY LOGS", on=fresh)


class Writer(threading.Thread):
    """Changes rows of its own until the server dies."""

    def __init__(self, server, number, seed):
        super().__init__()
        self.connection = connect(server)
        self.number = number
        self.random = random.Random(seed)
        self.done = 0

    def run(self):
        try:
            while True:
                self.act()
                self.done += 1
        except pymysql.err.MySQLError:
            pass

    def act(self):
        pick = lambda: self.number * 1000 + self.random.randrange(200)
        self.connection.begin()
        for _ in range(self.random.choice((1, 1, 2, 30))):
            row, kind = pick(), self.random.random()
            text = "x" * self.random.choice((0, 5, 200, 5000))
            if kind < 0.5:
                run(f"REPLACE INTO d.t VALUES ({row}, {self.random.randrange(1000)}, '{text}')", on=self.connection)
            elif kind < 0.8:
                run(f"UPDATE d.t SET n = n + 1 WHERE id BETWEEN {row} AND {row + 5} AND id DIV 1000 = {self.number}", on=self.connection)
            else:
                run(f"DELETE FROM d.t WHERE id = {row}", on=self.connection)
        if self.random.random() < 0.1:
            self.connection.rollback()
        else:
            self.connection.commit()


def load_and_kill(server, seconds, seed):
    writers = [Writer(server, number, seed + number) for number in range(4)]
    for writer in writers:
        writer.start()
    pause = threading.Event()
    pause.wait(seconds)
    server.kill()
    for writer in writers:
        writer.join(60)
    return sum(writer.done for writer in writers)


def test_after_kill_9_the_files_hold_what_the_tables_hold(start):
    server = start("--log-bin", "--max-binlog-size=2M", "--innodb-redo-log-capacity=16M")
    run("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, n INT, s TEXT) CHARSET utf8mb4", on=server.connect())
    done = 0
    for number in range(ROUNDS):
        done += load_and_kill(server, 1.0, 100 * number)
        server.start()
        found = replay(decode(server), "d.t")
        assert found == in_table(server.connect(), "d.t"), number
    assert done > 50, f"only {done} transactions: no load"
    assert "panicked" not in server.log_text()


@pytest.mark.parametrize("begins", ["MASTER_LOG_FILE='binlog.000001', MASTER_LOG_POS=4, MASTER_USE_GTID=no", "MASTER_USE_GTID=slave_pos"],
                         ids=["by position", "asking for MariaDB's GTIDs"])
def test_a_mariadb_replica_follows_a_source_that_is_killed(start, begins):
    """One that wants MariaDB's GTIDs is told that there are none (1193), as by MySQL, and goes by file and position."""
    if not shutil.which("mariadbd"):
        pytest.skip("MariaDB's server is not installed")
    server = start("--log-bin", "--max-binlog-size=5M", "--mysql-native-password=ON", "--collation-server=utf8mb4_general_ci")
    source = connect(server)
    # Accounts have options that MariaDB does not know.
    run("SET sql_log_bin = 0", "CREATE USER replica IDENTIFIED WITH mysql_native_password BY 'secret'",
        "GRANT REPLICATION SLAVE, REPLICATION CLIENT ON *.* TO replica", "SET sql_log_bin = 1",
        "CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, n INT, s TEXT) CHARSET utf8mb4",
        "CREATE DATABASE other", on=source)
    replica = Server("mariadb", "--server-id=2", "--slave-net-timeout=2")
    try:
        replica.start()
        follower = replica.connect()
        run(f"CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT={server.port}, MASTER_USER='replica', MASTER_PASSWORD='secret', "
            f"{begins}, MASTER_CONNECT_RETRY=1, MASTER_SSL=0",
            "START SLAVE", on=follower)
        for number in range(3):
            load_and_kill(server, 1.5, 7 + number)
            if number == 1:
                replica.stop()
                replica.start()
                follower = replica.connect()
            server.start()
            run(f"CREATE TABLE d.made_{number} (a INT)", f"INSERT INTO d.made_{number} VALUES ({number})", on=connect(server))
        file, position = rows(server.connect(), "SHOW BINARY LOG STATUS")[0][:2]

        def status():
            found = follower.cursor(pymysql.cursors.DictCursor)
            found.execute("SHOW SLAVE STATUS")
            return found.fetchone()

        def arrived():
            now = status()
            assert not now["Last_SQL_Error"], now["Last_SQL_Error"]
            assert now["Slave_IO_Running"] != "No", f"{now['Last_IO_Error']}\n{server.log_tail(150)}\n{replica.log_tail(40)}"
            return (now["Relay_Master_Log_File"], now["Exec_Master_Log_Pos"]) == (file, position)

        wait_until(arrived, 60, f"the replica comes to {file} {position}")
        assert in_table(follower, "d.t") == in_table(server.connect(), "d.t")
        assert rows(follower, "SELECT * FROM d.made_2") == ((2,),)
    finally:
        replica.remove()


def test_the_log_is_there_by_default(start):
    server = start()
    connection = server.connect()
    assert rows(connection, "SELECT @@log_bin, @@server_id, @@sync_binlog, @@log_bin_basename") == ((1, 1, 1, str(server.datadir / "binlog")),)
    run("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)", "INSERT INTO d.t VALUES (1)", on=connection)
    assert [name for name, *_ in rows(connection, "SHOW BINARY LOGS")] == ["binlog.000001"]
    server.kill()
    # Without it, what the other had not written is written, and from then on nothing is.
    server.options.append("--skip-log-bin")
    server.start()
    connection = server.connect()
    assert rows(connection, "SELECT @@log_bin") == ((0,),)
    run("INSERT INTO d.t VALUES (2)", on=connection)
    for statement in ("SHOW BINARY LOGS",):
        with pytest.raises(pymysql.err.MySQLError) as refused:
            rows(connection, statement)
        assert refused.value.args[0] == 1381
    assert rows(connection, "SHOW BINARY LOG STATUS") == ()
    assert list(replay(decode(server), "d.t")) == [1]


def queries(connection, file="binlog.000001"):
    # Without the number of the transaction that a definition was made in.
    return [re.sub(r" /\* xid=\d+ \*/$", "", info) for *_, kind, _, _, info in rows(connection, f"SHOW BINLOG EVENTS IN '{file}'") if kind == "Query" and info != "BEGIN"]


def test_statements_that_replicas_run_too(start):
    server = start()
    connection = server.connect()
    run("CREATE DATABASE d", "USE d", "CREATE TABLE t (id INT PRIMARY KEY, n INT)", "CREATE TABLE m (id INT) ENGINE=MEMORY",
        "INSERT INTO m VALUES (1)", on=connection)
    before = len(queries(connection))
    for statement in ("ANALYZE TABLE t", "ANALYZE LOCAL TABLE t", "OPTIMIZE TABLE t", "ANALYZE TABLE t UPDATE HISTOGRAM ON n WITH 4 BUCKETS",
                      "CHECK TABLE t", "FLUSH TABLES", "FLUSH NO_WRITE_TO_BINLOG TABLES", "FLUSH TABLES WITH READ LOCK", "UNLOCK TABLES",
                      "CREATE TEMPORARY TABLE own (a INT, b VARCHAR(3))", "INSERT INTO own VALUES (1, 'x')", "ANALYZE TABLE own",
                      "CREATE TABLE `l``ike` LIKE own", "ALTER TABLE own ADD c INT", "CREATE TABLE u (a INT)", "CREATE TEMPORARY TABLE v (a INT)",
                      "DROP TABLE u, own, v", "RENAME TABLE t TO t2", "TRUNCATE TABLE m", "CREATE TABLE IF NOT EXISTS m (a INT)",
                      "CREATE DATABASE IF NOT EXISTS d", "DROP TABLE IF EXISTS nothing", "DROP VIEW IF EXISTS nothing",
                      "CREATE TEMPORARY TABLE IF NOT EXISTS v (a INT)", "CREATE TEMPORARY TABLE IF NOT EXISTS v (a INT)"):
        rows(connection, statement)
    found = queries(connection)[before:]
    assert [text.removeprefix("use `d`; ") for text in found] == [
        "ANALYZE TABLE t", "OPTIMIZE TABLE t", "ANALYZE TABLE t UPDATE HISTOGRAM ON n WITH 4 BUCKETS", "FLUSH TABLES",
        "CREATE TABLE `d`.`l``ike` (\\n  `a` int DEFAULT NULL,\\n  `b` varchar(3) DEFAULT NULL\\n) ENGINE=InnoDB DEFAULT "
        "CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci".replace("\\n", "\n"),
        "CREATE TABLE u (a INT)", "DROP TABLE `u` /* generated by server */", "RENAME TABLE t TO t2", "TRUNCATE TABLE m", "CREATE TABLE IF NOT EXISTS m (a INT)",
        "CREATE DATABASE IF NOT EXISTS d", "DROP TABLE IF EXISTS `nothing` /* generated by server */",
        "DROP VIEW IF EXISTS nothing"]
    run("INSERT INTO m VALUES (2)", on=connection)
    server.kill()
    server.start()
    connection = server.connect()
    assert rows(connection, "SELECT * FROM d.m") == ()
    assert queries(connection, "binlog.000002") == ["use `d`; TRUNCATE TABLE `d`.`m` /* generated by server */"]


def test_rows_tell_their_statements(start):
    connection = start("--binlog-rows-query-log-events").connect()
    run("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, n INT)", on=connection)
    statements = ["INSERT INTO d.t VALUES (1, 1)", "INSERT INTO d.t VALUES (2, 2), (3, 3)", "UPDATE d.t SET n = n + 1 WHERE id > 1",
                  "DELETE FROM d.t WHERE id = 3"]
    run(*statements, "PREPARE s FROM 'INSERT INTO d.t VALUES (?, 4)'", "SET @id = 4", "EXECUTE s USING @id", on=connection)
    run("SET binlog_rows_query_log_events = OFF", "INSERT INTO d.t VALUES (5, 5)", on=connection)
    told = [info for *_, kind, _, _, info in rows(connection, "SHOW BINLOG EVENTS") if kind == "Rows_query"]
    assert told == [f"# {statement}" for statement in statements] + ["# INSERT INTO d.t VALUES (?, 4)"]


def numbers_in(path):
    """The numbers of a file's transactions, in order, and whether each event's length leads to the next one."""
    data, at, found = path.read_bytes(), 4, []
    while at < len(data):
        kind, length = data[at + 4], int.from_bytes(data[at + 9:at + 13], "little")
        assert length >= 19 and at + length <= len(data), f"{path} is damaged at {at}"
        if kind == 33:
            found.append(int.from_bytes(data[at + 19 + 17:at + 19 + 25], "little"))
        at += length
    return found


class Inserter(threading.Thread):
    """Inserts rows of its own, one a transaction, and remembers which were acknowledged."""

    def __init__(self, server, number, done):
        super().__init__()
        self.connection = connect(server)
        self.next = number * 1_000_000 + done
        self.acknowledged = []

    def run(self):
        try:
            while True:
                run(f"INSERT INTO d.t VALUES ({self.next}, 0, REPEAT('x', {self.next % 1500}))", on=self.connection)
                self.acknowledged.append(self.next)
                self.next += 1
        except pymysql.err.MySQLError:
            pass


class Rotator(threading.Thread):
    """Begins new files, and purges old ones, of which it has taken copies."""

    def __init__(self, server, copies, seed):
        super().__init__()
        self.server = server
        self.connection = connect(server)
        self.copies = copies
        self.random = random.Random(seed)

    def run(self):
        try:
            while True:
                run("FLUSH BINARY LOGS", on=self.connection)
                names = [name for name, *_ in rows(self.connection, "SHOW BINARY LOGS")]
                keep = self.random.randrange(len(names))
                for name in names[:keep]:
                    if not (self.copies / name).exists():
                        self.copy(name)
                run(f"PURGE BINARY LOGS TO '{names[keep]}'", on=self.connection)
        except pymysql.err.MySQLError:
            pass

    def copy(self, name):
        """Whole or not at all: the other one may have copied and purged it meanwhile."""
        part = self.copies / f"part-{self.ident}"
        try:
            shutil.copy(self.server.datadir / name, part)
            part.rename(self.copies / name)
        except FileNotFoundError:
            assert (self.copies / name).exists(), name


def test_kill_9_during_rotation_and_purge_leaves_no_gap(start, tmp_path):
    """All that was acknowledged is in the files, each transaction once and under the next number, and nothing else."""
    server = start("--gtid-mode=ON", "--enforce-gtid-consistency=ON", "--max-binlog-size=64K")
    run("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, n INT, s TEXT) CHARSET utf8mb4", on=server.connect())
    acknowledged, chance = set(), random.Random(16)
    for number in range(ROUNDS):
        inserters = [Inserter(server, i, 10_000 * number) for i in range(3)]
        rotators = [Rotator(server, tmp_path, number * 2 + i) for i in range(2)]
        for thread in inserters + rotators:
            thread.start()
        threading.Event().wait(chance.uniform(0.5, 1.2))
        server.kill()
        for thread in inserters + rotators:
            thread.join(60)
        acknowledged.update(*(i.acknowledged for i in inserters))
        server.start()
        connection = connect(server)
        listed = (server.datadir / "binlog.index").read_text().split()
        paths = {path.name: path for path in tmp_path.glob("binlog.*")}
        paths.update({name.removeprefix("./"): server.datadir / name for name in listed})
        files = [paths[name] for name in sorted(paths)]
        executed = [n for path in files for n in numbers_in(path)]
        assert executed == list(range(1, len(executed) + 1)), f"round {number}: {[(p.name, numbers_in(p)[:1]) for p in files]}"
        uuid = value(connection, "SELECT @@server_uuid")
        assert value(connection, "SELECT @@gtid_executed") == f"{uuid}:1-{len(executed)}"
        purged = min(numbers_in(server.datadir / name)[0] for name in listed if numbers_in(server.datadir / name)) - 1
        assert value(connection, "SELECT @@global.gtid_purged") in (f"{uuid}:1-{purged}" if purged else "", )
        text = subprocess.run([BINLOG, "-v", "--base64-output=decode-rows", *map(str, files)], capture_output=True, text=True)
        assert text.returncode == 0, text.stderr
        found = replay(text.stdout, "d.t")
        assert found == in_table(connection, "d.t"), number
        assert acknowledged <= set(found), f"round {number}: lost {sorted(acknowledged - set(found))[:10]}"
        assert len(executed) == len(found) + 2
    assert len(acknowledged) > 100, "no load"


def dump(connection, gtids=None, file="", position=4, server_id=0):
    """Asks for a dump to the end of the log; the packets' bodies, or the error that ends it."""
    number = lambda n, size: n.to_bytes(size, "little")
    run("SET @source_binlog_checksum = 'CRC32'", on=connection)
    if gtids is None:
        connection._execute_command(0x12, number(position, 4) + number(1, 2) + number(server_id, 4) + file.encode())
    else:
        body = number(1, 2) + number(server_id, 4) + number(len(file), 4) + file.encode() + number(position, 8)
        connection._execute_command(0x1E, body + number(len(gtids), 4) + gtids)
    events = []
    while True:
        packet = connection._read_packet()
        if packet.is_eof_packet():
            return events
        events.append(packet.get_all_data()[1:])


def test_damage_and_what_is_gone_are_told(start):
    server = start("--gtid-mode=ON", "--enforce-gtid-consistency=ON")
    connection = server.connect()
    run("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)", "INSERT INTO d.t VALUES (1), (2)", "FLUSH BINARY LOGS",
        "INSERT INTO d.t VALUES (3)", "FLUSH BINARY LOGS", "INSERT INTO d.t VALUES (4)", on=connection)
    kinds = [event[4] for event in dump(server.connect(), file="binlog.000002")]
    assert [kind for kind in kinds if kind in (30, 33)] == [33, 30, 33, 30]
    nothing = bytes(8)
    assert len([e for e in dump(server.connect(), gtids=nothing) if e[4] == 33]) == 5

    def refusal(**wanted):
        with pytest.raises(pymysql.err.MySQLError) as refused:
            dump(server.connect(), **wanted)
        return refused.value.args

    assert refusal(file="binlog.000009") == (1236, "Could not find first log file name in binary log index file")
    code, text = refusal(file="binlog.000002", position=10_000)
    assert code == 1236 and "position > file size" in text
    # A bit of an event in the middle.
    path = server.datadir / "binlog.000002"
    data = bytearray(path.read_bytes())
    at = rows(connection, "SHOW BINLOG EVENTS IN 'binlog.000002'")[-2][1]
    data[at + 21] ^= 4
    path.write_bytes(data)
    code, text = refusal(file="binlog.000002")
    assert code == 1236 and f"at position {at}: an event's checksum is wrong" in text
    with pytest.raises(pymysql.err.MySQLError) as refused:
        rows(connection, "SHOW BINLOG EVENTS IN 'binlog.000002'")
    assert refused.value.args[0] == 1220
    # Cut short, and no file of a binary log any more.
    for damaged in (bytes(data[:at + 5]), b"nonsense" + bytes(data[8:]), b""):
        path.write_bytes(damaged)
        assert refusal(file="binlog.000002")[0] == 1236
    # Commits go on, and so do files that are sound.
    run("INSERT INTO d.t VALUES (5)", on=connection)
    assert len([e for e in dump(server.connect(), file="binlog.000003") if e[4] == 33]) == 2
    run("PURGE BINARY LOGS TO 'binlog.000003'", on=connection)
    code, text = refusal(gtids=nothing)
    assert code == 1236 and "purged required binary logs" in text
    # A file in use that has lost what was on disk for good is no base to go on from: the start says so.
    server.kill()
    newest = server.datadir / "binlog.000003"
    newest.write_bytes(newest.read_bytes()[:130])
    with pytest.raises(AssertionError, match="binlog.000003' at position 127: an event is cut short"):
        server.start()


def test_dumps_go_by_numbers_where_there_are_some(start):
    """A replica that names what it has would get transactions without a number again and again. MySQL 9.7 has these words."""
    server = start("--gtid-mode=ON", "--enforce-gtid-consistency=ON")
    connection = server.connect()
    newest = lambda: rows(connection, "SHOW BINARY LOGS")[-1][0]
    number = lambda n: n.to_bytes(8, "little")
    nothing, uuid = number(0), bytes(range(16))

    def mode(*modes):
        run(*(f"SET GLOBAL gtid_mode = {mode}" for mode in modes), on=connection)

    def answer(**wanted):
        try:
            return [event[4] for event in dump(server.connect(), **wanted) if event[4] in (33, 34)]
        except pymysql.err.MySQLError as refused:
            return refused.args

    run("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)", on=connection)
    numbered = newest()
    # A file that is named is begun with, whatever is known of numbers.
    run("FLUSH BINARY LOGS", "INSERT INTO d.t VALUES (1)", on=connection)
    assert answer(gtids=nothing) == [33, 33, 33]
    assert answer(gtids=nothing, file=newest()) == [33]
    assert answer(gtids=nothing, file="nothing.000001") == (1236, "Could not find first log file name in binary log index file")
    assert answer(gtids=number(1) + uuid + number(2) + number(1) + number(5) + number(3) + number(7)) == (1773, "Malformed GTID set encoding.")
    assert answer(gtids=number(2) + uuid + number(1) + number(1) + number(5) + uuid + number(1) + number(7) + number(9)) == [33, 33, 33]
    mode("ON_PERMISSIVE", "OFF_PERMISSIVE")
    run("INSERT INTO d.t VALUES (2)", on=connection)
    plain = newest()
    refusal = "The replication sender thread cannot start in AUTO_POSITION mode: this server has GTID_MODE = {} instead of ON."
    assert answer(file=plain) == [34]
    assert answer(gtids=nothing) == (1236, refusal.format("OFF_PERMISSIVE"))
    mode("OFF")
    assert answer(gtids=nothing) == (1236, refusal.format("OFF"))
    code, text = answer(file=numbered)
    assert code == 1236 and text.startswith(f"Cannot replicate GTID-transaction when @@GLOBAL.GTID_MODE = OFF, at file ./{numbered}, position 158.; the first event")
    assert answer(file=plain) == [34]
    mode("OFF_PERMISSIVE", "ON_PERMISSIVE")
    assert answer(gtids=nothing) == (1236, refusal.format("ON_PERMISSIVE"))
    mode("ON")
    code, text = answer(file=plain)
    assert code == 1236 and text.startswith(f"Cannot replicate anonymous transaction when @@GLOBAL.GTID_MODE = ON, at file ./{plain}, position ")
    code, text = answer(gtids=nothing)
    assert code == 1236 and text.startswith(f"Cannot replicate anonymous transaction when AUTO_POSITION = 1, at file ./{plain}, position ")
    assert answer(gtids=nothing, file=newest()) == []


def test_a_replica_that_comes_back_replaces_itself(start):
    server = start()
    first, second, other = server.connect(), server.connect(), server.connect()
    for connection, uuid in ((first, "one"), (second, "one"), (other, "two")):
        run(f"SET @replica_uuid = '{uuid}', @source_binlog_checksum = 'CRC32'", on=connection)
    observer = server.connect()
    dumps = lambda: value(observer, "SELECT COUNT(*) FROM information_schema.processlist WHERE command = 'Binlog Dump'")
    for count, connection in enumerate((first, other), 1):
        connection._execute_command(0x12, (4).to_bytes(4, "little") + bytes(2) + (7).to_bytes(4, "little"))
        wait_until(lambda: dumps() == count, 10, "the dump runs")
    second._execute_command(0x12, (4).to_bytes(4, "little") + bytes(2) + (7).to_bytes(4, "little"))
    with pytest.raises(pymysql.err.MySQLError) as replaced:
        while True:
            first._read_packet()
    assert replaced.value.args[0] == 1236 and "A replica with the same server_uuid" in replaced.value.args[1]
    wait_until(lambda: dumps() == 2, 10, "the others go on")


def test_commits_wait_for_each_other(start):
    """`binlog_group_commit_sync_delay`, in microseconds, and how many commits end it."""
    server = start()
    connections = [server.connect() for _ in range(3)]
    run("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)", "SET GLOBAL binlog_group_commit_sync_delay = 300000", on=connections[0])
    ids = itertools.count(1)

    def seconds(count):
        began = time.monotonic()
        threads = [threading.Thread(target=run, args=(f"INSERT INTO d.t VALUES ({next(ids)})",), kwargs={"on": c}) for c in connections[:count]]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return time.monotonic() - began

    assert seconds(1) >= 0.3
    assert 0.3 <= seconds(3) < 0.6
    run("SET GLOBAL binlog_group_commit_sync_no_delay_count = 3", "SET GLOBAL binlog_group_commit_sync_delay = 1000000", on=connections[0])
    assert seconds(3) < 0.9
    run("SET GLOBAL binlog_group_commit_sync_delay = 0", on=connections[0])
    assert seconds(3) < 0.9
