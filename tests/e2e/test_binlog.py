"""The binary log: MariaDB's mariadb-binlog reads every file, the rows that it finds there are the tables' rows, also after kill -9
under load, and a MariaDB replica ends with the source's tables.
"""

import random
import re
import shutil
import subprocess
import threading

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
    run("CREATE TEMPORARY TABLE own (a INT)", "INSERT INTO own VALUES (1)", "DROP TABLE own", on=connection)
    assert value(connection, "SHOW BINARY LOG STATUS") == "binlog.000001"
    text = decode(server)
    assert replay(text, "d.t") == in_table(connection, "d.t")
    assert "eight" not in text and "quiet" not in text and "own" not in text
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
    assert events[5][5] == "CREATE TABLE d.t (id INT PRIMARY KEY)" and events[7][5] == "BEGIN"
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
    assert text.count("IDENTIFIED WITH 'caching_sha2_password' AS 0x") == 3
    assert "GRANT SELECT ON *.* TO a" in text and "ACCOUNT LOCK" in text


def connect(server):
    """With a collation that MariaDB knows, too: statements carry it."""
    return server.connect(init_command="SET NAMES utf8mb4 COLLATE utf8mb4_general_ci")


def test_a_full_disk_leaves_no_gap(start, small_disk):
    """What the files cannot take stays in the log until they can."""
    disk = Disk(small_disk)
    server = start("--log-bin", "--innodb-redo-log-capacity=32M", "--innodb-buffer-pool-size=16M", datadir=small_disk / "data")
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
        wait_until(lambda: value(connection, "SHOW BINARY LOG STATUS"), 30, "the writer goes on")
        assert replay(decode(server), "d.t") == in_table(connection, "d.t"), number
    assert done > 100, done
    server.kill()
    server.start()
    assert replay(decode(server), "d.t") == in_table(server.connect(), "d.t")


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


def test_a_mariadb_replica_follows_a_source_that_is_killed(start):
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
            "MASTER_LOG_FILE='binlog.000001', MASTER_LOG_POS=4, MASTER_CONNECT_RETRY=1, MASTER_USE_GTID=no, MASTER_SSL=0",
            "START SLAVE", on=follower)
        for number in range(3):
            load_and_kill(server, 1.5, 7 + number)
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
