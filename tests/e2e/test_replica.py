"""Clearway as a replica: of another Clearway by file and position and by GTIDs, of MariaDB, with kill -9 on both sides, with errors,
filters and delay. What counts in the end is that both have the same tables and that the replica stands where the source does.
"""

import random
import re
import shutil
import struct
import threading
import time

import pymysql
import pytest
from harness import Server, code_of, rows, run, value, wait_until
from test_binlog import connect, in_table, load_and_kill

pytestmark = pytest.mark.usefixtures("clearway_only")

SECONDS = 60
GTIDS = ("--gtid-mode=ON", "--enforce-gtid-consistency=ON")
ACCOUNT = ("CREATE USER repl IDENTIFIED WITH caching_sha2_password BY 'secret'", "GRANT REPLICATION SLAVE, REPLICATION CLIENT ON *.* TO repl")


def status(connection, channel=""):
    cursor = connection.cursor(pymysql.cursors.DictCursor)
    cursor.execute("SHOW REPLICA STATUS" + (f" FOR CHANNEL '{channel}'" if channel else ""))
    return cursor.fetchone()


def follow(replica, source, more="SOURCE_LOG_FILE='binlog.000001', SOURCE_LOG_POS=4", user="repl", password="secret"):
    run(f"CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT={source.port}, SOURCE_USER='{user}', "
        f"SOURCE_PASSWORD='{password}', SOURCE_CONNECT_RETRY=1, SOURCE_RETRY_COUNT=1000, GET_SOURCE_PUBLIC_KEY=1, "
        f"SOURCE_HEARTBEAT_PERIOD=0.5, {more}", "START REPLICA", on=replica)


def end_of(connection, statement="SHOW BINARY LOG STATUS"):
    return rows(connection, statement)[0][:2]


def workers_errors(replica):
    return rows(replica, "SELECT worker_id, last_error_number, last_error_message FROM performance_schema.replication_applier_status_by_worker "
                         "WHERE last_error_number <> 0")


def catch_up(replica, source_connection, statement="SHOW BINARY LOG STATUS"):
    """Until the replica stands at the source's end."""
    end = end_of(source_connection, statement)

    def arrived():
        now = status(replica)
        assert not now["Last_SQL_Error"], (now["Last_SQL_Error"], workers_errors(replica))
        assert now["Replica_SQL_Running"] == "Yes", now
        assert now["Replica_IO_Running"] != "No", now["Last_IO_Error"]
        return (now["Relay_Source_Log_File"], now["Exec_Source_Log_Pos"]) == end

    wait_until(arrived, SECONDS, f"the replica comes to {end}")


def same(replica, source, *tables):
    for table in tables:
        ours, theirs = rows(replica, f"SELECT * FROM {table}"), rows(source, f"SELECT * FROM {table}")
        assert sorted(map(repr, ours)) == sorted(map(repr, theirs)), table


def pair(start, *options):
    source = start("--log-bin", "--server-id=1", *options)
    replica = start("--log-bin", "--server-id=2", *options)
    run(*ACCOUNT, on=source.connect())
    return source, replica


def test_what_is_said_of_a_source_is_kept(start):
    server = start("--server-id=7")
    connection = server.connect()
    assert status(connection) is None
    with pytest.raises(pymysql.err.MySQLError) as refused:
        run("START REPLICA", on=connection)
    assert refused.value.args[0] == 1200
    run("CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT=1, SOURCE_USER='u', SOURCE_PASSWORD='p', SOURCE_DELAY=5, "
        "SOURCE_LOG_FILE='binlog.000003', SOURCE_LOG_POS=157, SOURCE_CONNECT_RETRY=1, SOURCE_RETRY_COUNT=2, IGNORE_SERVER_IDS=(4,5)",
        "CHANGE REPLICATION FILTER REPLICATE_DO_DB=(a,b), REPLICATE_WILD_IGNORE_TABLE=('a.x%')", on=connection)
    for option in ("SOURCE_SSL_CERT='x'", "RELAY_LOG_POS=4", "REQUIRE_ROW_FORMAT=1", "SOURCE_CONNECTION_AUTO_FAILOVER=1"):
        with pytest.raises(pymysql.err.MySQLError) as refused:
            run(f"CHANGE REPLICATION SOURCE TO {option}", on=connection)
        assert refused.value.args[0] == 1235, option
    with pytest.raises(pymysql.err.MySQLError) as refused:
        run("CHANGE REPLICATION SOURCE TO SOURCE_AUTO_POSITION=1", on=connection)
    assert refused.value.args[0] == 1777
    server.kill()
    server.start()
    connection = server.connect()
    now = status(connection)
    wanted = {"Source_Host": "127.0.0.1", "Source_Port": 1, "Source_User": "u", "SQL_Delay": 5, "Connect_Retry": 1,
              "Source_Retry_Count": 2, "Relay_Source_Log_File": "binlog.000003", "Exec_Source_Log_Pos": 157,
              "Replicate_Do_DB": "a,b", "Replicate_Wild_Ignore_Table": "a.x%", "Replicate_Ignore_Server_Ids": "4,5"}
    assert {name: now[name] for name in wanted} == wanted
    # It has begun by itself, and nobody answers there.
    wait_until(lambda: status(connection)["Replica_IO_Running"] == "No", SECONDS, "the receiver gives up")
    now = status(connection)
    assert now["Last_IO_Errno"] == 2003 and "This was attempt 2/2, with a delay of 1 seconds" in now["Last_IO_Error"]
    assert now["Replica_SQL_Running"] == "Yes"
    with pytest.raises(pymysql.err.MySQLError) as refused:
        run("CHANGE REPLICATION SOURCE TO SOURCE_DELAY=2", on=connection)
    assert refused.value.args[0] == 3085
    run("STOP REPLICA", "RESET REPLICA", on=connection)
    now = status(connection)
    assert (now["Source_Host"], now["Relay_Source_Log_File"], now["Exec_Source_Log_Pos"]) == ("127.0.0.1", "", 4)
    run("RESET REPLICA ALL", on=connection)
    assert status(connection) is None


SCHEMA = (
    "CREATE DATABASE d",
    "CREATE TABLE d.t (id INT AUTO_INCREMENT PRIMARY KEY, b BIGINT UNSIGNED, de DECIMAL(12,3), f FLOAT, g DOUBLE, da DATE, dt DATETIME(3), "
    "ts TIMESTAMP(6) NULL, ti TIME(2), y YEAR, c CHAR(5), vc VARCHAR(300), bi BINARY(4), vb VARBINARY(9), tx TEXT, bl LONGBLOB, "
    "e ENUM('x','y'), s SET('p','q','r'), j JSON, bit_ BIT(11), gen INT AS (y + 2) STORED, virt VARCHAR(9) AS (UPPER(c)), KEY (gen), KEY (virt), UNIQUE (vc)) CHARSET utf8mb4",
    "CREATE TABLE d.bare (a INT, b VARCHAR(20), KEY (a))",
    "CREATE TABLE d.heap (a INT, b TEXT)",
    "CREATE TABLE d.parent (id INT PRIMARY KEY)",
    "CREATE TABLE d.child (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES d.parent (id) ON DELETE CASCADE ON UPDATE CASCADE)",
)
ROWS = (
    "INSERT INTO d.t VALUES (NULL, 18446744073709551615, -12.345, 1.5, 2.25, '2024-02-29', '2024-01-02 03:04:05.678', "
    "'2024-01-02 03:04:05.678901', '-838:59:59.00', 2024, 'ab', 'ärger', x'6100', x'00ff', REPEAT('t', 3000), REPEAT('b', 70000), 'y', "
    "'p,r', '{\"a\": [1, 2.5, \"x\"], \"d\": null}', b'10110011001', DEFAULT, DEFAULT)",
    "INSERT INTO d.t (vc) VALUES (NULL), ('two'), ('three')",
    "INSERT INTO d.t (vc, j, ti) SELECT 'four', JSON_OBJECT('d', DATE '2020-01-02', 't', TIME '-10:11:12.5'), '-00:00:00.01'",
    "UPDATE d.t SET b = id, c = 'zz', tx = CONCAT(tx, 'x') WHERE id < 3",
    "UPDATE d.t SET id = 100 WHERE id = 2",
    "DELETE FROM d.t WHERE vc = 'three'",
    "INSERT INTO d.bare VALUES (1, 'a'), (1, 'A'), (1, 'a'), (2, NULL)",
    "INSERT INTO d.heap VALUES (1, 'a'), (2, REPEAT('y', 30000)), (2, 'z'), (NULL, NULL)",
    "DELETE FROM d.bare WHERE b = BINARY 'A'",
    "UPDATE d.bare SET b = 'b' WHERE a = 2",
    "UPDATE d.heap SET a = a + 1 WHERE b LIKE 'y%' OR b IS NULL",
    "DELETE FROM d.heap WHERE b = 'z'",
    "INSERT INTO d.parent VALUES (1), (2), (3)",
    "INSERT INTO d.child VALUES (10, 1), (11, 2), (12, 3)",
    "DELETE FROM d.parent WHERE id = 1",
    "UPDATE d.parent SET id = 20 WHERE id = 2",
    "SET foreign_key_checks = 0", "INSERT INTO d.child VALUES (13, 99)", "SET foreign_key_checks = 1",
    "BEGIN", "INSERT INTO d.bare VALUES (7, 'gone')", "ROLLBACK",
    "ALTER TABLE d.heap ADD COLUMN c INT DEFAULT 5",
    "INSERT INTO d.heap (a) VALUES (9)",
    "CREATE VIEW d.v AS SELECT id FROM d.t",
    "CREATE TABLE d.copied (PRIMARY KEY (id)) AS SELECT id, vc FROM d.t", "INSERT INTO d.copied VALUES (77, 'behind')",
    "CREATE USER 'someone'@'%' IDENTIFIED BY 'x'", "GRANT SELECT ON d.* TO 'someone'@'%'",
)
TABLES = ("d.t", "d.bare", "d.heap", "d.parent", "d.child", "d.copied", "d.v")


def test_words_of_older_tools(start):
    """What 8.4 has forgotten and mydumper, old exporters and scripts still say."""
    source, replica = pair(start)
    there, here = source.connect(), replica.connect()
    file, position = end_of(there, "SHOW MASTER STATUS")
    run(f"CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT={source.port}, MASTER_USER='repl', MASTER_PASSWORD='secret', "
        f"MASTER_LOG_FILE='{file}', MASTER_LOG_POS={position}, GET_MASTER_PUBLIC_KEY=1", "START SLAVE", on=here)
    run("CREATE DATABASE d", "CREATE TABLE d.t (a INT PRIMARY KEY)", "INSERT INTO d.t VALUES (1)", on=there)
    catch_up(here, there)
    same(here, there, "d.t")
    cursor = here.cursor(pymysql.cursors.DictCursor)
    cursor.execute("SHOW SLAVE STATUS")
    now = cursor.fetchone()
    assert (now["Slave_IO_Running"], now["Slave_SQL_Running"], now["Seconds_Behind_Master"]) == ("Yes", "Yes", 0)
    assert (now["Relay_Master_Log_File"], now["Exec_Master_Log_Pos"]) == end_of(there)
    assert len(rows(there, "SHOW SLAVE HOSTS")) == 1
    run("STOP SLAVE", "RESET SLAVE ALL", on=here)
    assert not rows(here, "SHOW SLAVE STATUS")
    run("RESET MASTER", on=here)
    assert end_of(here, "SHOW MASTER STATUS")[0] == "binlog.000001"


def test_rows_and_definitions_arrive(start):
    source, replica = pair(start)
    there, here = source.connect(), replica.connect()
    run(*SCHEMA, *ROWS[:6], on=there)
    run("SET GLOBAL super_read_only = 1", on=here)
    follow(here, source)
    catch_up(here, there)
    run(*ROWS[6:], on=there)
    catch_up(here, there)
    same(here, there, *TABLES)
    assert rows(here, "SHOW GRANTS FOR 'someone'@'%'") == rows(there, "SHOW GRANTS FOR 'someone'@'%'")
    assert value(here, "SELECT AUTO_INCREMENT FROM information_schema.tables WHERE table_name = 't'") == 101
    now = status(here)
    assert now["Replica_IO_Running"] == "Yes" and now["Seconds_Behind_Source"] == 0
    assert now["Relay_Log_File"].split(".")[0].endswith("-relay-bin") and now["Relay_Log_Space"] > 0
    assert (replica.datadir / now["Relay_Log_File"]).exists()
    # Its own binary log has the source's changes, under the source's server id.
    assert any(row[3] == 1 and row[2] == "Write_rows" for row in rows(here, "SHOW BINLOG EVENTS IN 'binlog.000001' LIMIT 1000"))
    # Stopped and started, also in halves, it goes on where it was.
    run("STOP REPLICA IO_THREAD", on=here)
    run("INSERT INTO d.parent VALUES (500)", on=there)
    run("START REPLICA IO_THREAD", "STOP REPLICA SQL_THREAD", "START REPLICA SQL_THREAD", on=here)
    catch_up(here, there)
    # So it does behind a file in which nothing follows.
    run("FLUSH BINARY LOGS", on=there)
    catch_up(here, there)
    run("STOP REPLICA SQL_THREAD", "START REPLICA SQL_THREAD", on=here)
    run("INSERT INTO d.parent VALUES (502)", on=there)
    catch_up(here, there)
    same(here, there, "d.parent")
    replica.stop()
    run("INSERT INTO d.parent VALUES (501)", on=there)
    replica.start()
    here = replica.connect()
    catch_up(here, there)
    same(here, there, *TABLES)
    replica.stop()
    replica.assert_sound()


def test_numbers_decide_where_it_goes_on(start):
    source, replica = pair(start, *GTIDS)
    there, here = source.connect(), replica.connect()
    run(*SCHEMA[:2], "INSERT INTO d.t (vc) VALUES ('one')", on=there)
    follow(here, source, "SOURCE_AUTO_POSITION=1")
    executed = lambda connection: value(connection, "SELECT @@global.gtid_executed").replace("\n", "")
    agree = lambda: executed(here) == executed(there)
    wait_until(agree, SECONDS, "the replica has all transactions")
    same(here, there, "d.t")
    # The files go; the numbers do not.
    run("FLUSH BINARY LOGS", "INSERT INTO d.t (vc) VALUES ('two')", on=there)
    wait_until(agree, SECONDS, "the replica has all transactions")
    replica.kill()
    run("FLUSH BINARY LOGS", "INSERT INTO d.t (vc) VALUES ('three')", on=there)
    replica.start()
    here = replica.connect()
    wait_until(agree, SECONDS, "the replica has all transactions")
    now = status(here)
    assert now["Auto_Position"] == 1 and not now["Last_SQL_Error"]
    same(here, there, "d.t")
    # A replica of the replica has the first source's numbers.
    third = start("--log-bin", "--server-id=3", *GTIDS)
    last = third.connect()
    follow(last, replica, "SOURCE_AUTO_POSITION=1")
    wait_until(lambda: executed(last) == executed(there), SECONDS, "numbers pass through")
    same(last, there, "d.t")


def test_the_connection_is_secured_if_asked(start):
    source, replica = pair(start)
    there, here = source.connect(), replica.connect()
    # A password in plain text needs a key or TLS.
    follow(here, source, "GET_SOURCE_PUBLIC_KEY=0, SOURCE_LOG_FILE='binlog.000001', SOURCE_LOG_POS=4")
    wait_until(lambda: status(here)["Last_IO_Errno"] == 2061, SECONDS, "it is refused")
    assert "Authentication requires secure connection." in status(here)["Last_IO_Error"]
    for trust in ("", f", SOURCE_SSL_CA='{source.datadir}/ca.pem'"):
        run("STOP REPLICA", f"CHANGE REPLICATION SOURCE TO SOURCE_SSL=1{trust}", "START REPLICA", on=here)
        catch_up(here, there)
        encrypted = "SELECT connection_type FROM performance_schema.threads WHERE processlist_user = 'repl'"
        assert set(rows(there, encrypted)) == {("SSL/TLS",)}, trust
        run("CREATE DATABASE IF NOT EXISTS d", on=there)
        catch_up(here, there)
    # Another authority's word counts for nothing.
    run("STOP REPLICA", f"CHANGE REPLICATION SOURCE TO SOURCE_SSL_CA='{replica.datadir}/ca.pem'", "START REPLICA", on=here)
    wait_until(lambda: status(here)["Last_IO_Errno"] in (2013, 2026), SECONDS, "it is not believed")


def test_kills_neither_skip_nor_repeat(start):
    source, replica = pair(start, "--max-binlog-size=3M")
    there = connect(source)
    run("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, n INT, s TEXT) CHARSET utf8mb4",
        "CREATE TABLE d.log (id INT AUTO_INCREMENT PRIMARY KEY, n INT)", on=there)
    follow(replica.connect(), source)
    stop = threading.Event()

    def write():
        writer = connect(source)
        number = 0
        while not stop.is_set():
            number += 1
            # No key keeps a row from being there twice but its own number.
            run("BEGIN", f"INSERT INTO d.log (n) VALUES ({number}), ({number})", f"REPLACE INTO d.t VALUES ({number % 50}, {number}, 'x')",
                f"UPDATE d.t SET n = n + 1 WHERE id = {(number + 7) % 50}", "COMMIT", on=writer)
            if number % 40 == 0:
                run(f"CREATE TABLE d.made_{number} (a INT)", f"DROP TABLE d.made_{number}", on=writer)

    thread = threading.Thread(target=write)
    thread.start()
    try:
        for _ in range(5):
            time.sleep(0.5)
            replica.kill()
            replica.start()
    finally:
        stop.set()
        thread.join(60)
    here = replica.connect()
    catch_up(here, there)
    same(here, there, "d.t", "d.log")
    assert value(here, "SELECT COUNT(*) FROM d.log") > 50
    # The source dies, too.
    for number in range(2):
        load_and_kill(source, 0.7, 50 + number)
        source.start()
    there = connect(source)
    run("INSERT INTO d.log (n) VALUES (-1)", on=there)
    catch_up(here, there)
    assert in_table(here, "d.t") == in_table(there, "d.t")
    replica.stop()
    replica.assert_sound()


def dependencies(source):
    """Of each transaction of all binary logs: sequence number and last_committed."""
    found = []
    for path in sorted(source.datadir.glob("binlog.0*")):
        data, at = path.read_bytes(), 4
        while at + 19 <= len(data):
            kind, length = data[at + 4], struct.unpack_from("<I", data, at + 9)[0]
            if kind in (33, 34):
                last_committed, sequence = struct.unpack_from("<QQ", data, at + 19 + 26)
                found.append((sequence, last_committed))
            at += length
    return found


def load(source, seconds, *writers):
    """Has functions run transactions beside each other; each is given a connection and a counter."""
    end = time.monotonic() + seconds

    def write(writer):
        connection, number = connect(source), 0
        while time.monotonic() < end:
            number += 1
            try:
                writer(connection, number)
            except pymysql.err.OperationalError as e:
                assert e.args[0] in (1213, 1205), e
                connection.rollback()

    threads = [threading.Thread(target=write, args=(writer,)) for writer in writers]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]


def test_keys_tell_what_can_be_applied_side_by_side(start):
    source = start("--log-bin", "--server-id=1", "--binlog-transaction-dependency-history-size=1000")
    here = source.connect()
    run("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, u VARCHAR(9) UNIQUE, n INT) COLLATE utf8mb4_0900_ai_ci",
        "CREATE TABLE d.bare (n INT)", "CREATE TABLE d.p (id INT PRIMARY KEY)",
        "CREATE TABLE d.c (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES d.p (id))", on=here)
    end_of(here)
    begin = len(dependencies(source))
    steps = [  # what it depends on: the distance to it, None: the beginning, or something that ends the history
        ("INSERT INTO d.t VALUES (1, 'a', 1)", None), ("INSERT INTO d.t VALUES (2, 'b', 1)", None),
        ("UPDATE d.t SET n = 2 WHERE id = 1", 2), ("UPDATE d.t SET n = 3 WHERE id = 2", 2),
        # The collation takes both for one key; a NULL is none.
        ("UPDATE d.t SET u = NULL WHERE id = 1", 2), ("INSERT INTO d.t VALUES (3, 'Ä', 1)", 1), ("INSERT INTO d.t VALUES (4, NULL, 1)", None),
        ("UPDATE d.t SET id = 5 WHERE id = 4", 1), ("INSERT INTO d.t VALUES (4, 'x', 1)", 1),
        # Without a key, by the order of commits; those with one go on as before.
        ("INSERT INTO d.bare VALUES (1)", 1), ("UPDATE d.t SET n = 4 WHERE id = 1", 6),
        # Foreign keys, and whoever comes after.
        ("INSERT INTO d.p VALUES (1)", 1), ("INSERT INTO d.t VALUES (9, 'y', 1)", 1), ("UPDATE d.t SET n = 5 WHERE id = 1", 2),
        ("INSERT INTO d.c VALUES (1, 1)", 1), ("ALTER TABLE d.t ADD m INT", 1), ("INSERT INTO d.t VALUES (10, 'z', 1, 1)", 1),
    ]
    for statement, _ in steps:
        run(statement, on=here)
    end_of(here)
    found = dependencies(source)[begin:]
    first = found[0][0]
    wanted = [(first + i, first - 1 if back is None else first + i - back) for i, (_, back) in enumerate(steps)]
    assert found == wanted


def test_workers_apply_side_by_side(start):
    source, replica = pair(start)
    there, here = connect(source), connect(replica)
    assert rows(here, "SELECT @@replica_parallel_workers, @@replica_preserve_commit_order, @@slave_parallel_workers") == ((4, 1, 4),)
    run("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, n INT, u INT UNIQUE)", "CREATE TABLE d.bare (id INT, n INT)",
        "CREATE TABLE d.p (id INT PRIMARY KEY)", "CREATE TABLE d.c (id INT AUTO_INCREMENT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES d.p (id) ON DELETE CASCADE)",
        "CREATE TABLE d.keyed (id INT PRIMARY KEY, n INT)", on=there)
    run("INSERT INTO d.t VALUES " + ", ".join(f"({i}, 0, {i})" for i in range(200)), "INSERT INTO d.keyed VALUES " + ", ".join(f"({i}, 0)" for i in range(40)),
        "INSERT INTO d.bare VALUES " + ", ".join(f"({i}, 0)" for i in range(20)), on=there)
    follow(here, source)
    catch_up(here, there)
    # Without its key here, rows that are nobody else's are locked on the way to those that are; no such wait may need its timeout.
    run("ALTER TABLE d.keyed DROP PRIMARY KEY", "SET GLOBAL innodb_lock_wait_timeout = 10000", on=here)

    def keys(connection, n):
        run("BEGIN", f"UPDATE d.t SET n = n + 1 WHERE id = {n * 7 % 200}", f"DELETE FROM d.t WHERE id = {n * 13 % 200}",
            f"REPLACE INTO d.t VALUES ({n * 13 % 200}, {n}, {n * 13 % 211})", "COMMIT", on=connection)

    def scans(connection, n):
        run("BEGIN", f"UPDATE d.keyed SET n = n + 1 WHERE id = {n * 3 % 40}", f"UPDATE d.keyed SET n = n + 1 WHERE id = {n * 11 % 40}", "COMMIT", on=connection)

    def others(connection, n):
        run(f"UPDATE d.bare SET n = n + 1 WHERE id = {n % 20}", f"INSERT IGNORE INTO d.p VALUES ({n % 10})", f"INSERT INTO d.c (p) VALUES ({n % 10})", on=connection)
        if n % 10 == 0:
            run(f"DELETE FROM d.p WHERE id = {n % 7}", f"CREATE TABLE d.x{n} (a INT)", f"DROP TABLE d.x{n}", on=connection)

    load(source, 3, keys, keys, scans, scans, scans, others)
    tables = ("d.t", "d.bare", "d.p", "d.c", "d.keyed")
    catch_up(here, there)
    same(here, there, *tables)
    # Stopped in the middle of it, and begun again: behind what is committed, durable or not.
    stop = threading.Event()

    def again():
        connection = connect(replica)
        while not stop.wait(random.random() * 0.2):
            run("STOP REPLICA SQL_THREAD", "START REPLICA SQL_THREAD", on=connection)

    thread = threading.Thread(target=again)
    thread.start()
    load(source, 4, keys, keys, scans, scans)
    stop.set()
    thread.join()
    catch_up(here, there)
    same(here, there, *tables)
    # How many rounds there were is a matter of the processors.
    assert value(here, "SELECT COUNT(*) FROM d.c") > 0


@pytest.mark.parametrize("automatic", [True, False], ids=["by GTIDs", "by position"])
def test_a_receiver_that_stops_within_a_transaction_loses_none(start, automatic):
    """What had come of it stays in a relay log file, and comes again, whole, in the next."""
    source, replica = pair(start, *GTIDS)
    there, here = connect(source), connect(replica)
    run("CREATE DATABASE d", "CREATE TABLE d.t (id INT AUTO_INCREMENT PRIMARY KEY, b LONGBLOB)", on=there)
    follow(here, source, "SOURCE_AUTO_POSITION=1" if automatic else "SOURCE_LOG_FILE='binlog.000001', SOURCE_LOG_POS=4")
    stop = threading.Event()

    def toggle():
        connection = connect(replica)
        while not stop.is_set():
            run("STOP REPLICA IO_THREAD", "START REPLICA IO_THREAD", on=connection)
            stop.wait(random.random() * 0.1)

    thread = threading.Thread(target=toggle)
    thread.start()
    load(source, 5, lambda connection, _: run("BEGIN", *["INSERT INTO d.t (b) VALUES (REPEAT('a', 100000))"] * 4, "COMMIT", on=connection))
    stop.set()
    thread.join()
    catch_up(here, there)
    assert value(here, "SELECT @@GLOBAL.gtid_executed") == value(there, "SELECT @@GLOBAL.gtid_executed")
    counts = "SELECT COUNT(*), SUM(LENGTH(b)) FROM d.t"
    assert rows(here, counts) == rows(there, counts)


def failed(replica, code):
    wait_until(lambda: status(replica)["Last_SQL_Errno"] == code, SECONDS, f"error {code}")
    now = status(replica)
    assert now["Replica_SQL_Running"] == "No" and now["Replica_IO_Running"] == "Yes"
    return now["Last_SQL_Error"]


def worker_error(replica):
    """What the worker that failed says."""
    found = rows(replica, "SELECT LAST_ERROR_NUMBER, LAST_ERROR_MESSAGE FROM performance_schema.replication_applier_status_by_worker "
                          "WHERE LAST_ERROR_NUMBER <> 0 AND SERVICE_STATE = 'OFF'")
    assert len(found) == 1
    return found[0]


def told(connection, table):
    cursor = connection.cursor(pymysql.cursors.DictCursor)
    cursor.execute(f"SELECT * FROM performance_schema.replication_{table}")
    return cursor.fetchall()


def test_tables_tell_of_a_channel(start):
    source, replica = pair(start, *GTIDS)
    there, here = source.connect(), replica.connect()
    for table in ("connection_configuration", "connection_status", "applier_configuration", "applier_status", "applier_status_by_coordinator",
                  "applier_status_by_worker", "applier_filters", "applier_global_filters"):
        assert not told(here, table), table
    # What is said of all channels holds for those to come.
    run("CHANGE REPLICATION FILTER REPLICATE_IGNORE_DB=(gone), REPLICATE_REWRITE_DB=((far, near))", on=here)
    follow(here, source, "SOURCE_AUTO_POSITION=1")
    run("CREATE DATABASE d", "USE d", "CREATE TABLE d.t (id INT PRIMARY KEY)", "CREATE DATABASE gone", "USE gone", "CREATE TABLE gone.t (id INT PRIMARY KEY)",
        "INSERT INTO gone.t VALUES (1)", "INSERT INTO gone.t VALUES (2)", "USE d", "INSERT INTO d.t VALUES (1)", on=there)
    catch_up(here, there)
    last = value(there, "SELECT @@global.gtid_executed")
    last = f"{last.rsplit(':', 1)[0]}:{last.rsplit('-', 1)[1]}"
    configuration, = told(here, "connection_configuration")
    assert (configuration["PORT"], configuration["AUTO_POSITION"], configuration["HEARTBEAT_INTERVAL"]) == (source.port, "1", 0.5)
    connection, = told(here, "connection_status")
    assert (connection["SERVICE_STATE"], connection["SOURCE_UUID"], connection["LAST_QUEUED_TRANSACTION"], connection["QUEUEING_TRANSACTION"]) == (
        "ON", value(there, "SELECT @@server_uuid"), last, "")
    assert connection["LAST_QUEUED_TRANSACTION_END_QUEUE_TIMESTAMP"] >= connection["LAST_QUEUED_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP"]
    wait_until(lambda: told(here, "connection_status")[0]["COUNT_RECEIVED_HEARTBEATS"] > 0, SECONDS, "a heartbeat")
    coordinator, = told(here, "applier_status_by_coordinator")
    assert (coordinator["SERVICE_STATE"], coordinator["LAST_PROCESSED_TRANSACTION"], coordinator["PROCESSING_TRANSACTION"]) == ("ON", last, "")
    workers = told(here, "applier_status_by_worker")
    assert [(w["WORKER_ID"], w["SERVICE_STATE"], w["APPLYING_TRANSACTION"]) for w in workers] == [(n, "ON", "") for n in (1, 2, 3, 4)]
    applied, = [w for w in workers if w["LAST_APPLIED_TRANSACTION"] == last]
    assert applied["LAST_APPLIED_TRANSACTION_END_APPLY_TIMESTAMP"] >= applied["LAST_APPLIED_TRANSACTION_START_APPLY_TIMESTAMP"]
    assert rows(here, f"SELECT COUNT(*) FROM performance_schema.threads WHERE THREAD_ID = {applied['THREAD_ID']}") == ((1,),)
    filters = [(f["FILTER_NAME"], f["FILTER_RULE"], f["CONFIGURED_BY"], f["COUNTER"] > 0) for f in told(here, "applier_filters")]
    assert filters == [("REPLICATE_IGNORE_DB", "gone", "CHANGE_REPLICATION_FILTER", True), ("REPLICATE_REWRITE_DB", "(far,near)", "CHANGE_REPLICATION_FILTER", False)]
    assert [f["FILTER_RULE"] for f in told(here, "applier_global_filters")] == ["gone", "(far,near)"]
    run("STOP REPLICA", on=here)
    assert {w["SERVICE_STATE"] for w in told(here, "applier_status_by_worker")} == {"OFF"}
    assert told(here, "connection_status")[0]["SERVICE_STATE"] == told(here, "applier_status")[0]["SERVICE_STATE"] == "OFF"


def test_until_says_where_it_ends(start):
    source, replica = pair(start, *GTIDS)
    there, here = source.connect(), replica.connect()
    run("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)", on=there)
    follow(here, source)
    catch_up(here, there)
    run("STOP REPLICA", on=here)
    ends = []
    for n in range(8):
        run(f"INSERT INTO d.t VALUES ({n})", on=there)
        ends.append((*end_of(there), value(there, "SELECT @@global.gtid_executed")))

    def until(condition, count, shown):
        run(f"START REPLICA UNTIL {condition}", on=here)
        wait_until(lambda: status(here)["Replica_SQL_Running"] == "No", SECONDS, f"{condition} is reached")
        now = status(here)
        assert (value(here, "SELECT COUNT(*) FROM d.t"), now["Last_SQL_Error"], now["Until_Condition"]) == (count, "", shown)
        return now

    file, offset, _ = ends[1]
    now = until(f"SOURCE_LOG_FILE='{file}', SOURCE_LOG_POS={offset}", 2, "Source")
    assert (now["Until_Log_File"], now["Until_Log_Pos"], now["Exec_Source_Log_Pos"]) == (file, offset, offset)
    until(f"SQL_AFTER_GTIDS='{ends[3][2]}'", 4, "SQL_AFTER_GTIDS")
    uuid, last = ends[6][2].split(":")[0], ends[6][2].rsplit("-", 1)[1]
    until(f"SQL_BEFORE_GTIDS='{uuid}:{last}'", 6, "SQL_BEFORE_GTIDS")
    until("SQL_AFTER_MTS_GAPS", 6, "SQL_AFTER_MTS_GAPS")
    now = status(here)
    until(f"RELAY_LOG_FILE='{now['Relay_Log_File']}', RELAY_LOG_POS={now['Relay_Log_Pos']}", 6, "Relay")
    run("START REPLICA", on=here)
    catch_up(here, there)
    assert value(here, "SELECT COUNT(*) FROM d.t") == 8 and status(here)["Until_Condition"] == "None"


@pytest.mark.parametrize("automatic", [True, False], ids=["numbers", "positions"])
def test_commits_out_of_order_are_neither_skipped_nor_repeated(start, automatic):
    source, replica = pair(start, *(GTIDS if automatic else ()), "--max-binlog-size=1M")
    there, here = connect(source), connect(replica)
    run("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, n INT)", "CREATE TABLE d.log (id INT AUTO_INCREMENT PRIMARY KEY, n INT)", on=there)
    run("INSERT INTO d.t VALUES " + ", ".join(f"({i}, 0)" for i in range(100)), on=there)
    run("SET GLOBAL replica_preserve_commit_order = OFF", on=here)
    follow(here, source, "SOURCE_AUTO_POSITION=1" if automatic else "SOURCE_LOG_FILE='binlog.000001', SOURCE_LOG_POS=4")

    def write(connection, n):
        run("BEGIN", f"INSERT INTO d.log (n) VALUES ({n}), ({n})", f"UPDATE d.t SET n = n + 1 WHERE id = {n * 7 % 100}", "COMMIT", on=connection)
        if n % 50 == 0:
            run(f"CREATE TABLE IF NOT EXISTS d.made_{n} AS SELECT * FROM d.t", on=connection)

    for _ in range(4):
        load(source, 0.5, write, write, write)
        replica.kill()
        replica.start()
        here = connect(replica)
        run("STOP REPLICA SQL_THREAD", "SET GLOBAL replica_preserve_commit_order = OFF", "START REPLICA SQL_THREAD", on=here)
    catch_up(here, there)
    same(here, there, "d.t", "d.log")
    if automatic:
        executed = lambda connection: value(connection, "SELECT @@global.gtid_executed").replace("\n", "")
        assert executed(here) == executed(there)
    replica.stop()
    replica.assert_sound()


def test_gaps_are_filled(start):
    source, replica = pair(start)
    there, here = connect(source), connect(replica)
    run("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, n INT)", "INSERT INTO d.t VALUES (1, 0), (2, 0), (3, 0)", on=there)
    run("SET GLOBAL replica_preserve_commit_order = OFF", on=here)
    follow(here, source)
    catch_up(here, there)
    # The first of three waits for a row's lock, and the others go on.
    blocker = connect(replica)
    run("BEGIN", "SELECT * FROM d.t WHERE id = 1 FOR UPDATE", on=blocker)
    run("STOP REPLICA SQL_THREAD", on=here)
    begins = end_of(there)
    for n in (1, 2, 3):
        run(f"UPDATE d.t SET n = n + 1 WHERE id = {n}", on=there)
    run("START REPLICA SQL_THREAD", on=here)
    wait_until(lambda: rows(here, "SELECT n FROM d.t") == ((0,), (1,), (1,)), SECONDS, "two of three are applied")
    assert status(here)["Exec_Source_Log_Pos"] == begins[1]
    replica.kill()
    replica.options.append("--skip-replica-start=ON")
    replica.start()
    here = connect(replica)
    assert rows(here, "SELECT n FROM d.t") == ((0,), (1,), (1,))
    # What lies in the gap would be lost.
    assert code_of(here, "CHANGE REPLICATION SOURCE TO SOURCE_LOG_FILE='binlog.000001', SOURCE_LOG_POS=4") == 1802
    run("UPDATE d.t SET n = 5 WHERE id = 3", on=there)
    run("START REPLICA IO_THREAD", "START REPLICA SQL_THREAD UNTIL SQL_AFTER_MTS_GAPS", on=here)
    wait_until(lambda: status(here)["Replica_SQL_Running"] == "No", SECONDS, "it ends behind the gap")
    assert rows(here, "SELECT n FROM d.t") == ((1,), (1,), (1,))
    assert status(here)["Last_SQL_Error"] == ""
    run("START REPLICA SQL_THREAD", on=here)
    catch_up(here, there)
    assert rows(here, "SELECT n FROM d.t") == ((1,), (1,), (5,))


def test_errors_stop_it_and_name_the_event(start):
    source, replica = pair(start)
    there, here = source.connect(), replica.connect()
    run("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, n INT)", "INSERT INTO d.t VALUES (1, 1), (2, 2)", on=there)
    follow(here, source)
    catch_up(here, there)
    run("DELETE FROM d.t WHERE id = 2", "INSERT INTO d.t VALUES (3, 30)", on=here)
    run("INSERT INTO d.t VALUES (3, 3)", on=there)
    file, end = end_of(there)
    error = failed(here, 1062)
    assert re.fullmatch(rf"Coordinator stopped because there were error\(s\) in the worker\(s\). The most recent failure being: Worker \d failed "
                        rf"executing transaction 'ANONYMOUS' at source log {file}, end_log_pos \d+. See error log and/or "
                        r"performance_schema.replication_applier_status_by_worker table for more details about this failure or others, if any.",
                        error), error
    assert worker_error(here) == (1062, f"Worker {re.search(r'Worker (.)', error)[1]} failed executing transaction 'ANONYMOUS' at source log {file}, "
                                  f"{error[error.index('end_log_pos'):].split('.')[0]}; Could not execute Write_rows event on table d.t; Duplicate entry "
                                  "'3' for key 't.PRIMARY', Error_code: MY-001062; handler error HA_ERR_FOUND_DUPP_KEY; the event's source log "
                                  f"{file}, {error[error.index('end_log_pos'):].split('.')[0]}")
    # Nothing of it is there, and it does not go on by itself.
    assert value(here, "SELECT n FROM d.t WHERE id = 3") == 30
    run("START REPLICA SQL_THREAD", on=here)
    failed(here, 1062)
    run("DELETE FROM d.t WHERE id = 3", "START REPLICA SQL_THREAD", on=here)
    catch_up(here, there)
    run("UPDATE d.t SET n = 5 WHERE id = 2", on=there)
    failed(here, 1032)
    assert "Update_rows event on table d.t; Can't find record in 't', Error_code: MY-001032; handler error HA_ERR_KEY_NOT_FOUND" in worker_error(here)[1]
    run("SET GLOBAL sql_replica_skip_counter = 1", "START REPLICA SQL_THREAD", on=here)
    catch_up(here, there)
    assert value(here, "SELECT @@global.sql_slave_skip_counter") == 0
    run("SET GLOBAL replica_exec_mode = 'IDEMPOTENT'", "DELETE FROM d.t WHERE id = 1", "INSERT INTO d.t VALUES (4, 40)", on=here)
    run("UPDATE d.t SET n = 6 WHERE id = 1", "INSERT INTO d.t VALUES (4, 4)", on=there)
    catch_up(here, there)
    assert value(here, "SELECT n FROM d.t WHERE id = 4") == 4
    run("CREATE TABLE d.only_here (a INT)", on=here)
    run("CREATE TABLE d.only_here (a INT)", on=there)
    failed(here, 1050)
    assert worker_error(here)[1].endswith("; Error 'Table 'only_here' already exists' on query. Default database: ''. Query: 'CREATE TABLE d.only_here (a INT)'")


def test_other_columns_are_converted_as_allowed(start):
    source, replica = pair(start)
    there, here = source.connect(), replica.connect()
    run("CREATE DATABASE d", "SET sql_log_bin = 0", "CREATE TABLE d.t (id INT PRIMARY KEY, n SMALLINT, s VARCHAR(10), gone INT)", on=there)
    run("SET sql_log_bin = 1", on=there)
    run("CREATE DATABASE IF NOT EXISTS d", "CREATE TABLE d.t (id INT PRIMARY KEY, n INT, s VARCHAR(10))", "DROP DATABASE d", on=here)
    follow(here, source)
    catch_up(here, there)
    run("CREATE TABLE d.t (id INT PRIMARY KEY, n INT, s VARCHAR(10))", on=here)
    run("INSERT INTO d.t VALUES (1, -2, 'x', 3)", on=there)
    failed(here, 1677)
    assert worker_error(here)[1].endswith("; Column 1 of table 'd.t' cannot be converted from type 'smallint' to type 'int'")
    run("SET GLOBAL replica_type_conversions = 'ALL_NON_LOSSY'", "START REPLICA SQL_THREAD", on=here)
    catch_up(here, there)
    assert rows(here, "SELECT * FROM d.t") == ((1, -2, "x"),)
    with pytest.raises(pymysql.err.MySQLError) as refused:
        run("SET GLOBAL replica_type_conversions = 'ALL'", on=here)
    assert refused.value.args[0] == 1231


def test_filters_and_delay(start):
    source, replica = pair(start)
    there, here = source.connect(), replica.connect()
    follow(here, source)
    run("CREATE DATABASE a", "CREATE TABLE a.t (n INT)", "CREATE TABLE a.x (n INT)", "CREATE DATABASE b", "CREATE TABLE b.t (n INT)", on=there)
    catch_up(here, there)
    with pytest.raises(pymysql.err.MySQLError) as refused:
        run("CHANGE REPLICATION FILTER REPLICATE_DO_DB=(a)", on=here)
    assert refused.value.args[0] == 3085
    run("STOP REPLICA", "CHANGE REPLICATION FILTER REPLICATE_DO_DB=(a), REPLICATE_IGNORE_TABLE=(a.x)", "START REPLICA", on=here)
    run("INSERT INTO a.t VALUES (1)", "INSERT INTO a.x VALUES (1)", "INSERT INTO b.t VALUES (1)", on=there)
    # Definitions go by the database that they ran in, then by their table.
    run("USE b", "CREATE TABLE a.made_in_b (n INT)", "DROP TABLE b.t", "USE a", "ALTER TABLE a.x ADD c INT", "ALTER TABLE a.t ADD c INT",
        "ALTER TABLE a.t DROP c", "CREATE DATABASE c", on=there)
    catch_up(here, there)
    assert [row[0] for row in rows(here, "SHOW TABLES FROM a")] == ["t", "x"] and len(rows(here, "DESCRIBE a.x")) == 1
    assert rows(here, "SHOW DATABASES LIKE 'c'") == ()
    assert [value(here, f"SELECT COUNT(*) FROM {table}") for table in ("a.t", "a.x", "b.t")] == [1, 0, 0]
    run("STOP REPLICA", "CHANGE REPLICATION SOURCE TO SOURCE_DELAY=2", "START REPLICA", on=here)
    wait_until(lambda: status(here)["Replica_IO_Running"] == "Yes", SECONDS, "it is connected")
    began = time.monotonic()
    run("INSERT INTO a.t VALUES (2)", on=there)
    wait_until(lambda: status(here)["SQL_Remaining_Delay"] is not None, SECONDS, "it waits")
    assert value(here, "SELECT COUNT(*) FROM a.t") == 1
    catch_up(here, there)
    assert time.monotonic() - began >= 1.9
    assert value(here, "SELECT COUNT(*) FROM a.t") == 2


def test_two_sources(start):
    first, replica = pair(start)
    second = start("--log-bin", "--server-id=3")
    run(*ACCOUNT, on=second.connect())
    here = replica.connect()
    for number, source in enumerate((first, second)):
        run(f"CREATE DATABASE d{number}", f"USE d{number}", "CREATE TABLE t (n INT)", f"INSERT INTO d{number}.t VALUES ({number})",
            on=source.connect())
    run("SET sql_log_bin = 0", on=here)
    for channel, source in (("one", first), ("two", second)):
        # Both have made the same account.
        file, _ = end_of(source.connect())
        run(f"CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT={source.port}, SOURCE_USER='repl', SOURCE_PASSWORD='secret', "
            f"GET_SOURCE_PUBLIC_KEY=1, SOURCE_LOG_FILE='{file}', SOURCE_LOG_POS=4 FOR CHANNEL '{channel}'",
            f"CHANGE REPLICATION FILTER REPLICATE_DO_DB=(d0, d1) FOR CHANNEL '{channel}'", on=here)
    run("DROP USER IF EXISTS repl", on=here)
    run("START REPLICA FOR CHANNEL 'one'", on=here)
    wait_until(lambda: value(here, "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'd0'") == 1, SECONDS, "channel one")
    run("DROP USER IF EXISTS repl", "START REPLICA FOR CHANNEL 'two'", on=here)
    wait_until(lambda: value(here, "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'd1'") == 1, SECONDS, "channel two")
    cursor = here.cursor(pymysql.cursors.DictCursor)
    cursor.execute("SHOW REPLICA STATUS")
    assert [(row["Channel_Name"], row["Source_Port"], row["Last_SQL_Error"]) for row in cursor.fetchall()] == [
        ("one", first.port, ""), ("two", second.port, "")]
    wait_until(lambda: rows(here, "SELECT n FROM d0.t UNION ALL SELECT n FROM d1.t") == ((0,), (1,)), SECONDS, "rows of both")


@pytest.mark.parametrize("image", ["full", "minimal", "noblob"])
def test_a_mariadb_source(start, image):
    if not shutil.which("mariadbd"):
        pytest.skip("MariaDB's server is not installed")
    replica = start("--log-bin", "--server-id=2")
    source = Server("mariadb", "--server-id=1", "--log-bin=binlog", f"--binlog-row-image={image}", "--binlog-format=ROW")
    try:
        source.start()
        there, here = source.connect(), replica.connect()
        run("CREATE USER repl IDENTIFIED BY 'secret'", "GRANT REPLICATION SLAVE ON *.* TO repl", "CREATE DATABASE d", "USE d", on=there)
        run("CREATE TABLE d.t (id INT PRIMARY KEY, n INT UNSIGNED, s VARCHAR(50), b BLOB, de DECIMAL(9,2), dt DATETIME(3), "
            "ts TIMESTAMP NULL, ti TIME, e ENUM('a','b'), f DOUBLE) CHARSET utf8mb4",
            "CREATE TABLE d.bare (a INT, b VARCHAR(10))", "CREATE TABLE d.doc (id INT PRIMARY KEY, j JSON)",
            "INSERT INTO d.t VALUES (1, 4000000000, 'ä', x'00ff', -1.25, '2024-01-02 03:04:05.678', '2024-01-02 03:04:05', '-10:00:00', 'b', 2.5)",
            "INSERT INTO d.t (id) VALUES (2), (3)", "INSERT INTO d.doc VALUES (1, '{\"a\": 1}')", on=there)
        first = rows(there, "SHOW BINARY LOGS")[0][0]
        run("CHANGE REPLICATION FILTER REPLICATE_DO_DB=(d)", on=here)
        run(f"CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT={source.port}, SOURCE_USER='repl', SOURCE_PASSWORD='secret', "
            f"SOURCE_LOG_FILE='{first}', SOURCE_LOG_POS=4", "START REPLICA", on=here)
        run("USE d", "UPDATE d.t SET s = 'x', n = 7 WHERE id = 2", "DELETE FROM d.t WHERE id = 3", "INSERT INTO d.bare VALUES (1, 'a'), (1, 'b')",
            "DELETE FROM d.bare WHERE b = 'a'", "ALTER TABLE d.bare ADD c INT DEFAULT 3", "SET SESSION binlog_format = STATEMENT",
            "INSERT INTO d.bare (a) VALUES (5)", "UPDATE d.bare SET b = 'st' WHERE a = 5", on=there)
        catch_up(here, there, "SHOW MASTER STATUS")
        same(here, there, "d.t", "d.bare")
        assert value(here, "SELECT j->'$.a' FROM d.doc") == "1"
    finally:
        source.remove()


def test_filters_ask_for_all_that_a_statement_defines(start):
    source, replica = pair(start)
    there, here = source.connect(), replica.connect()
    follow(here, source)
    run("CREATE DATABASE d1", "CREATE DATABASE d2", "CREATE TABLE d1.a (i INT)", "CREATE TABLE d1.z (i INT)", "CREATE TABLE d1.more (i INT)",
        "CREATE TABLE d2.b (i INT)", "CREATE VIEW d2.v AS SELECT 1 AS n", "CREATE TRIGGER d2.old BEFORE INSERT ON d2.b FOR EACH ROW SET @a = 1",
        "CREATE USER u", "CREATE PROCEDURE d2.q() SELECT 1", "USE d2", "CREATE PROCEDURE p() SELECT 1", on=there)
    catch_up(here, there)
    run("STOP REPLICA", "CHANGE REPLICATION FILTER REPLICATE_WILD_IGNORE_TABLE=('d2.%')", "START REPLICA", on=here)
    run("ALTER VIEW d2.v AS SELECT 2 AS n", "CREATE OR REPLACE VIEW d2.v AS SELECT 3 AS n", "CREATE VIEW d2.w AS SELECT 1 AS n",
        "CREATE TRIGGER d2.fresh BEFORE INSERT ON d2.b FOR EACH ROW SET @a = 1", "DROP TRIGGER d2.fresh", "DROP TRIGGER d2.old",
        "CREATE TRIGGER d1.fresh BEFORE INSERT ON d1.a FOR EACH ROW SET @a = 1",
        "GRANT SELECT ON d2.b TO u", "GRANT EXECUTE ON PROCEDURE d2.p TO u", "GRANT SELECT ON d1.a TO u",
        "RENAME TABLE d1.z TO d2.z", "DROP TABLE d2.b, d1.more", "DROP VIEW d2.v, d2.w", "ALTER DATABASE d2 CHARACTER SET latin1",
        "DROP DATABASE d2", "CREATE DATABASE d2", on=there)
    catch_up(here, there)
    names = lambda schema: [name for name, in rows(here, f"SHOW TABLES FROM {schema}")]
    assert (names("d1"), names("d2"), value(here, "SELECT n FROM d2.v")) == (["a", "more", "z"], ["b", "v"], 1)
    assert rows(here, "SELECT trigger_name FROM information_schema.triggers WHERE trigger_schema <> 'sys' ORDER BY 1") == (("fresh",), ("old",))
    assert [text for text, in rows(here, "SHOW GRANTS FOR u")][1:] == ["GRANT SELECT ON `d1`.`a` TO `u`@`%`"]
    assert "utf8mb4" in rows(here, "SHOW CREATE DATABASE d2")[0][1]
    run("STOP REPLICA", "CHANGE REPLICATION FILTER REPLICATE_WILD_IGNORE_TABLE=(), REPLICATE_WILD_DO_TABLE=('d1.%')", "START REPLICA", on=here)
    run("CREATE DATABASE d3", "CREATE DATABASE d1x", "DROP DATABASE d2", "CREATE VIEW d1.v AS SELECT 1 AS n", "CREATE VIEW d1x.v AS SELECT 1 AS n",
        "DROP DATABASE d1", on=there)
    catch_up(here, there)
    assert [name for name, in rows(here, "SHOW DATABASES LIKE 'd_%'")] == ["d2"]


def test_statements_of_another_server_run_as_they_did_there(start):
    """Filters by the tables that they change; a default database that is not here; CONNECTION_ID()."""
    if not shutil.which("mariadbd"):
        pytest.skip("MariaDB's server is not installed")
    replica = start("--log-bin", "--server-id=2")
    source = Server("mariadb", "--server-id=1", "--log-bin=binlog", "--binlog-format=STATEMENT")
    try:
        source.start()
        there, here = source.connect(), replica.connect()
        run("CREATE USER repl IDENTIFIED BY 'secret'", "GRANT REPLICATION SLAVE ON *.* TO repl", "RESET MASTER",
            *(f"CREATE DATABASE {name}" for name in ("d1", "d2")), "CREATE TABLE d1.src (i INT PRIMARY KEY, k INT)",
            "CREATE TABLE d1.a (i BIGINT PRIMARY KEY, k INT)", "CREATE TABLE d2.b (i INT PRIMARY KEY, k INT)",
            "INSERT INTO d1.src VALUES (1, 1), (2, 2)", "INSERT INTO d1.a VALUES (1, 1), (2, 2)", "INSERT INTO d2.b VALUES (1, 1), (2, 2)",
            "CREATE PROCEDURE d1.pr() INSERT INTO d2.b VALUES (77, 7)", on=there)
        run(f"CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT={source.port}, SOURCE_USER='repl', SOURCE_PASSWORD='secret', "
            "SOURCE_LOG_FILE='binlog.000001', SOURCE_LOG_POS=4", "START REPLICA", on=here)
        catch_up(here, there, "SHOW MASTER STATUS")
        run("STOP REPLICA", "CHANGE REPLICATION FILTER REPLICATE_WILD_IGNORE_TABLE=('d2.%')", "START REPLICA", on=here)
        run("USE d1", "INSERT INTO d2.b VALUES (10, 1)", "REPLACE INTO d2.b VALUES (1, 9)", "INSERT INTO d2.b SELECT i + 100, k FROM src",
            "INSERT IGNORE INTO d2.b VALUES (1, 5)", "INSERT INTO d2.b VALUES (1, 5) ON DUPLICATE KEY UPDATE k = 6",
            "UPDATE d2.b, src SET d2.b.k = 44 WHERE d2.b.i = src.i", "UPDATE d2.b SET k = 3", "DELETE d2.b FROM d2.b, src WHERE d2.b.i = 2",
            "DELETE x FROM d2.b AS x, src WHERE x.i = 1", "CALL pr()", "DELETE FROM d2.b",
            # The first table that a rule names decides.
            "UPDATE d2.b RIGHT JOIN a ON a.i = d2.b.i SET a.k = 45", "INSERT INTO d2.b VALUES (1, 1)",
            "UPDATE a JOIN d2.b ON a.i = d2.b.i SET a.k = 46, d2.b.k = 46",
            "DELETE a FROM d2.b, a WHERE a.i = 2", "INSERT INTO a VALUES (CONNECTION_ID(), 3)", on=there)
        catch_up(here, there, "SHOW MASTER STATUS")
        assert rows(here, "SELECT * FROM d2.b") == ((1, 1), (2, 2))
        assert rows(here, "SELECT * FROM d1.a") == ((1, 45), (there.thread_id(), 3))
        run("SET sql_log_bin = 0", "CREATE DATABASE away", "SET sql_log_bin = 1", "USE away", "DROP TABLE IF EXISTS m", "DROP VIEW IF EXISTS v",
            "INSERT INTO d1.a VALUES (9, 9)", on=there)
        catch_up(here, there, "SHOW MASTER STATUS")
        assert value(here, "SELECT k FROM d1.a WHERE i = 9") == 9
        run("CREATE TABLE made (a INT)", on=there)
        wait_until(lambda: status(here)["Last_SQL_Errno"] == 1049, SECONDS, "there is no such database")
    finally:
        source.remove()


def test_filters_by_options_hold_from_the_start_and_are_not_kept(start):
    source = start("--server-id=1")
    out = source.connect()
    run(*ACCOUNT, *[f"{verb} d{n}" + after for n in range(3) for verb, after in (("CREATE DATABASE", ""), ("USE", ""), ("CREATE TABLE", ".t (a INT)"))],
        "CREATE TABLE d1.tmp_x (a INT)", "USE d1", "CREATE TABLE d1.tmp_y (a INT)", "CREATE TABLE d1.other (a INT)", on=out)
    replica = start("--server-id=2", "--replicate-ignore-db=d2", "--replicate-rewrite-db=far->near", "--replicate-wild-ignore-table=d1.tmp%",
                    "--replicate-ignore-table=d1.other", "--replicate-do-db=west:d0")
    here = replica.connect()
    follow(here, source)
    catch_up(here, out)
    names = "SELECT CONCAT(table_schema, '.', table_name) n FROM information_schema.TABLES WHERE table_schema LIKE 'd_' ORDER BY n"
    assert [n for n, in rows(here, names)] == ["d0.t", "d1.t"]
    for table in ("d0.t", "d1.t", "d2.t", "d1.tmp_x", "d1.other"):
        run(f"INSERT INTO {table} VALUES (1)", on=out)
    catch_up(here, out)
    assert [rows(here, f"SELECT a FROM {table}") for table in ("d0.t", "d1.t")] == [((1,),), ((1,),)]
    run("STOP REPLICA", "CHANGE REPLICATION FILTER REPLICATE_DO_TABLE=(d1.t)", on=here)
    told = "SELECT filter_name, filter_rule, configured_by FROM performance_schema.replication_applier_filters WHERE channel_name = '' ORDER BY 1"
    by_options = (("REPLICATE_IGNORE_DB", "d2", "STARTUP_OPTIONS"), ("REPLICATE_IGNORE_TABLE", "d1.other", "STARTUP_OPTIONS"),
                  ("REPLICATE_REWRITE_DB", "(far,near)", "STARTUP_OPTIONS"), ("REPLICATE_WILD_IGNORE_TABLE", "d1.tmp%", "STARTUP_OPTIONS"))
    assert rows(here, told) == (("REPLICATE_DO_TABLE", "d1.t", "CHANGE_REPLICATION_FILTER"), *by_options)
    now = status(here)
    assert (now["Replicate_Ignore_DB"], now["Replicate_Rewrite_DB"], now["Replicate_Do_Table"]) == ("d2", "(far,near)", "d1.t")
    run("CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1' FOR CHANNEL 'west'", on=here)
    assert rows(here, told.replace("= ''", "= 'west' AND filter_name = 'REPLICATE_DO_DB'")) == (("REPLICATE_DO_DB", "d0", "STARTUP_OPTIONS_FOR_CHANNEL"),)
    replica.stop()
    # What options have given is gone with them, what was said stays.
    replica.options[1:] = ["--replicate-do-table=d0.t", "--replicate-do-table=d0.u"]
    replica.start()
    here = replica.connect()
    assert rows(here, told) == (("REPLICATE_DO_TABLE", "d0.t,d0.u", "STARTUP_OPTIONS"),)
    assert rows(here, told.replace("_filters WHERE channel_name = ''", "_global_filters")) == (("REPLICATE_DO_TABLE", "d0.t,d0.u", "STARTUP_OPTIONS"),)


@pytest.mark.parametrize("option", ["--replicate-do-table=t", "--replicate-rewrite-db=a", "--replicate-do-db", "--replicate-do-db=",
                                    "--replicate-same-server-id"])
def test_filters_that_make_no_sense_are_refused_at_the_start(start, option):
    server = start(option, run=False)
    with pytest.raises(AssertionError, match="the server ended with 1"):
        server.start()
