"""Clearway as a replica: of another Clearway by file and position and by GTIDs, of MariaDB, with kill -9 on both sides, with errors,
filters and delay. What counts in the end is that both have the same tables and that the replica stands where the source does.
"""

import shutil
import threading
import time

import pymysql
import pytest
from harness import Server, rows, run, value, wait_until
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


def catch_up(replica, source_connection, statement="SHOW BINARY LOG STATUS"):
    """Until the replica stands at the source's end."""
    end = end_of(source_connection, statement)

    def arrived():
        now = status(replica)
        assert not now["Last_SQL_Error"], now["Last_SQL_Error"]
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
        run("CHANGE REPLICATION SOURCE TO SOURCE_PORT=2", on=connection)
    assert refused.value.args[0] == 3081
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


def failed(replica, code):
    wait_until(lambda: status(replica)["Last_SQL_Errno"] == code, SECONDS, f"error {code}")
    now = status(replica)
    assert now["Replica_SQL_Running"] == "No" and now["Replica_IO_Running"] == "Yes"
    return now["Last_SQL_Error"]


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
    assert error.startswith("Could not execute Write_rows event on table d.t; Duplicate entry '3' for key 't.PRIMARY', Error_code: MY-001062; "
                            f"handler error HA_ERR_FOUND_DUPP_KEY; the event's source log {file}, end_log_pos "), error
    # Nothing of it is there, and it does not go on by itself.
    assert value(here, "SELECT n FROM d.t WHERE id = 3") == 30
    run("START REPLICA SQL_THREAD", on=here)
    failed(here, 1062)
    run("DELETE FROM d.t WHERE id = 3", "START REPLICA SQL_THREAD", on=here)
    catch_up(here, there)
    run("UPDATE d.t SET n = 5 WHERE id = 2", on=there)
    error = failed(here, 1032)
    assert "Update_rows event on table d.t; Can't find record in 't', Error_code: MY-001032; handler error HA_ERR_KEY_NOT_FOUND" in error
    run("SET GLOBAL sql_replica_skip_counter = 1", "START REPLICA SQL_THREAD", on=here)
    catch_up(here, there)
    assert value(here, "SELECT @@global.sql_slave_skip_counter") == 0
    run("SET GLOBAL replica_exec_mode = 'IDEMPOTENT'", "DELETE FROM d.t WHERE id = 1", "INSERT INTO d.t VALUES (4, 40)", on=here)
    run("UPDATE d.t SET n = 6 WHERE id = 1", "INSERT INTO d.t VALUES (4, 4)", on=there)
    catch_up(here, there)
    assert value(here, "SELECT n FROM d.t WHERE id = 4") == 4
    run("CREATE TABLE d.only_here (a INT)", on=here)
    run("CREATE TABLE d.only_here (a INT)", on=there)
    error = failed(here, 1050)
    assert error == ("Error 'Table 'only_here' already exists' on query. Default database: ''. Query: 'CREATE TABLE d.only_here (a INT)'")


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
    assert failed(here, 1677) == "Column 1 of table 'd.t' cannot be converted from type 'smallint' to type 'int'"
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
    assert refused.value.args[0] == 3017
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
