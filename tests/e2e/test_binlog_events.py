"""Events that not every file has: compressed transactions, updates of documents by what differs, and BINLOG statements that make events
again. What mysqlbinlog of MySQL 9.7 and mariadb-binlog print of such files was looked at beside; here replicas and clients read them.
"""

import base64
import random
import re
import shutil
import struct
import subprocess

import pymysql
import pytest
from harness import code_of, rows, run, value
from test_binlog import BINLOG
from test_replica import GTIDS, catch_up, follow, pair, same

pytestmark = pytest.mark.usefixtures("clearway_only")

TABLES = (
    "CREATE DATABASE d",
    "CREATE TABLE d.t (id INT PRIMARY KEY, s VARCHAR(200), n INT)",
    "CREATE TABLE d.docs (id INT PRIMARY KEY, a JSON, v VARCHAR(20), b JSON)",
    "CREATE TABLE d.bare (a INT, j JSON)",
)
FILLER = "0123456789" * 8
DOCUMENT = '{"k": 1, "list": [1, 2, 3, {"x": "y"}], "filler": "%s"}' % FILLER


def kinds(connection, file="binlog.000001"):
    return [row[2] for row in rows(connection, f"SHOW BINLOG EVENTS IN '{file}'")]


def events(path):
    """The events of a file: type and bytes."""
    data, at = path.read_bytes(), 4
    while at < len(data):
        length = int.from_bytes(data[at + 9:at + 13], "little")
        yield data[at + 4], data[at:at + length]
        at += length


def test_transactions_are_compressed_and_a_replica_reads_them(start):
    source, replica = pair(start, "--binlog-transaction-compression=ON", "--binlog-cache-size=4096")
    connection, other = source.connect(), replica.connect()
    run(*TABLES, on=connection)
    follow(other, source)
    run("INSERT INTO d.t SELECT n, REPEAT('a', 200), n FROM (WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r "
        "WHERE n < 900) SELECT n FROM r) AS numbers", on=connection)
    connection.begin()
    run("UPDATE d.t SET n = n + 1", "SAVEPOINT a", "DELETE FROM d.t", "ROLLBACK TO a", "DELETE FROM d.t WHERE id > 800", on=connection)
    connection.commit()
    run("SET SESSION binlog_transaction_compression = 0", "UPDATE d.t SET s = 'plain' WHERE id = 1",
        "SET SESSION binlog_transaction_compression = 1, binlog_transaction_compression_level_zstd = 19",
        "SET SESSION binlog_rows_query_log_events = 1", "DELETE FROM d.t WHERE id BETWEEN 2 AND 200", on=connection)
    catch_up(other, connection)
    same(other, connection, "d.t")
    found = rows(connection, "SHOW BINLOG EVENTS")
    payloads = [row for row in found if row[2] == "Transaction_payload"]
    assert len(payloads) == 3
    assert all(row[5].startswith("compression='ZSTD', decompressed_size=") for row in payloads)
    # What is in one stands behind it, at its end.
    at = found.index(payloads[2])
    inside = found[at + 1:]
    assert [row[2] for row in inside][:4] == ["Query", "Rows_query", "Table_map", "Delete_rows"] and inside[-1][2] == "Xid"
    assert {row[1] for row in inside} == {row[4] for row in inside} == {payloads[2][4]}
    assert payloads[0][4] - payloads[0][1] < 5000
    stats = rows(connection, "SELECT COMPRESSION_TYPE, TRANSACTION_COUNTER, COMPRESSED_BYTES_COUNTER < UNCOMPRESSED_BYTES_COUNTER FROM "
                 "performance_schema.binary_log_transaction_compression_stats WHERE LOG_TYPE = 'BINARY'")
    assert stats[0] == ("ZSTD", 3, 1) and stats[1][0] == "NONE" and stats[1][2] == 0
    # What a definition puts into rows is the same at both.
    run("ALTER TABLE d.t ADD ts TIMESTAMP(6) DEFAULT CURRENT_TIMESTAMP(6)", on=connection)
    catch_up(other, connection)
    same(other, connection, "d.t")
    # A replica's own log is as its own setting says.
    assert kinds(other).count("Transaction_payload") == 4
    assert code_of(connection, "SET binlog_transaction_compression_level_zstd = 'x'") == 1232
    connection.begin()
    run("INSERT INTO d.t (id) VALUES (1000)", on=connection)
    assert code_of(connection, "SET binlog_transaction_compression = 0") == 1766
    connection.rollback()


def test_documents_are_told_by_what_differs(start):
    source, replica = pair(start)
    connection, other = source.connect(), replica.connect()
    run(*TABLES, f"INSERT INTO d.docs VALUES (1, '{DOCUMENT}', 'x', '{DOCUMENT}'), (2, NULL, 'y', '[]')",
        f"INSERT INTO d.bare VALUES (1, '{DOCUMENT}')", on=connection)
    follow(other, source)
    run("SET binlog_row_value_options = PARTIAL_JSON", on=connection)
    assert rows(connection, "SHOW WARNINGS")[0][1] == 3647
    for image in ("FULL", "MINIMAL", "NOBLOB"):
        run(f"SET binlog_row_image = {image}",
            "UPDATE d.docs SET a = JSON_SET(a, '$.k', 2, '$.new', '{}') WHERE id = 1",
            "UPDATE d.docs SET b = JSON_REMOVE(b, '$.list[1]'), v = 'z' WHERE id = 1",
            "UPDATE d.docs SET b = JSON_ARRAY_INSERT(b, '$.list[0]', DATE '2020-02-02'), a = JSON_REMOVE(a, '$.new') WHERE id = 1",
            "UPDATE d.docs SET a = JSON_REPLACE(a, '$.list[3].x', TIME '10:11:12.5') WHERE id = 1",
            "UPDATE d.docs SET v = 'q' WHERE id = 1",
            f"UPDATE d.docs SET a = '{DOCUMENT}' WHERE id = 2",
            "UPDATE d.docs SET a = NULL WHERE id = 2",
            "UPDATE d.docs SET b = '[1]' WHERE id = 2",
            "UPDATE d.bare SET j = JSON_SET(j, '$.k', j->'$.k' + 1)",
            f"UPDATE d.docs SET a = '{DOCUMENT}', b = '{DOCUMENT}' WHERE id = 1", on=connection)
    run("SET binlog_row_image = MINIMAL", "UPDATE d.docs SET a = JSON_SET(a, '$.k', 77) WHERE id = 1", on=connection)
    catch_up(other, connection)
    same(other, connection, "d.docs", "d.bare")
    assert value(other, "SELECT b->'$.list[0]' FROM d.docs WHERE id = 1") == "1"
    found = kinds(connection)
    assert found.count("Update_rows_partial") > found.count("Update_rows")
    # MySQL's bytes: no options but one, the first document, no NULLs, and one change.
    last = [event for code, event in events(source.datadir / "binlog.000001") if code == 39][-1]
    assert last.endswith(b"\x01\x01\x00\x09\0\0\0" + b"\x00\x03$.k\x03\x05\x4d\x00" + last[-4:])
    # A document that is another one at the replica.
    run("UPDATE d.docs SET a = '{}' WHERE id = 1", on=other)
    run("UPDATE d.docs SET a = JSON_SET(a, '$.k', 78) WHERE id = 1", on=connection)
    with pytest.raises(AssertionError, match="Coordinator stopped"):
        catch_up(other, connection)
    said = rows(other, "SELECT last_error_message FROM performance_schema.replication_applier_status_by_worker")
    assert any("Could not apply JSON diff in table docs, column a" in message for (message,) in said), said
    assert code_of(connection, "SET binlog_row_value_options = FOO") == 1231


def binlog_statement(*parts):
    return "BINLOG '\n" + "\n".join(base64.b64encode(part).decode() for part in parts) + "\n'"


@pytest.mark.skipif(not shutil.which("mariadb"), reason="the client that reads what mariadb-binlog prints")
def test_what_a_tool_prints_of_a_file_is_taken(start):
    source, target = start("--log-bin", "--server-id=1", *GTIDS), start("--log-bin", "--server-id=2")
    connection, other = source.connect(), target.connect()
    run(*TABLES, "INSERT INTO d.t VALUES (1, 'one', 1), (2, 'two', NULL)", "UPDATE d.t SET n = 5 WHERE id = 2",
        f"INSERT INTO d.docs VALUES (1, '{DOCUMENT}', 'x', NULL)", "DELETE FROM d.t WHERE id = 1",
        "CREATE VIEW d.v AS SELECT id FROM d.t", "ALTER TABLE d.t ADD ts TIMESTAMP DEFAULT CURRENT_TIMESTAMP",
        "INSERT INTO d.t (id) VALUES (3)", on=connection)
    run("FLUSH BINARY LOGS", on=connection)
    printed = subprocess.run([BINLOG, str(source.datadir / "binlog.000001")], capture_output=True, check=True)
    # What MariaDB's tool sets of variables that MariaDB alone has.
    text = re.sub(rb",? ?@@session\.(check_constraint_checks|sql_if_exists|system_versioning_insert_history)=\d", b"", printed.stdout)
    into = subprocess.run(["mariadb", "--skip-ssl", "-uroot", "-h127.0.0.1", f"-P{target.port}"], input=text, capture_output=True)
    assert into.returncode == 0, into.stderr
    same(other, connection, "d.t", "d.docs", "d.v")
    assert value(other, "SELECT @@pseudo_replica_mode") == 0


def test_events_in_a_statement(start):
    source, target = start("--log-bin"), start("--log-bin")
    connection, other = source.connect(), target.connect()
    for each in (connection, other):
        run(*TABLES, on=each)
    run("FLUSH BINARY LOGS", "INSERT INTO d.t VALUES (1, 'one', 1), (2, 'two', 2)", "UPDATE d.t SET n = 22 WHERE id = 2",
        "SHOW BINARY LOG STATUS", on=connection)
    found = list(events(source.datadir / "binlog.000002"))
    form = found[0][1]
    of_rows = [event for code, event in found if code in (19, 30, 31)]
    assert len(of_rows) == 4
    assert code_of(other, "BINLOG 'AAA'") == 1575
    assert code_of(other, "BINLOG ''") == 1149
    assert code_of(other, binlog_statement(form[:-1])) == 1149
    assert code_of(other, binlog_statement(*of_rows)) == 1609
    assert code_of(other, binlog_statement(form, [event for code, event in found if code == 2][0])) == 1730
    assert code_of(other, binlog_statement(form)) == 0
    # A transaction of its own, or part of one; an error undoes the statement alone.
    run(binlog_statement(*of_rows[:2]), on=other)
    assert rows(other, "SELECT id, n FROM d.t") == ((1, 1), (2, 2))
    other.begin()
    run(binlog_statement(*of_rows[2:]), "INSERT INTO d.t VALUES (3, '', 3)", on=other)
    assert code_of(other, binlog_statement(*of_rows)) == 1062
    assert rows(other, "SELECT id, n FROM d.t") == ((1, 1), (2, 22), (3, 3))
    other.rollback()
    assert rows(other, "SELECT id, n FROM d.t") == ((1, 1), (2, 2))
    # The same where the transaction would begin with the statement.
    run("SET autocommit = 0", on=other)
    assert code_of(other, binlog_statement(*of_rows[2:], *of_rows[:2])) == 1062
    run("COMMIT", "SET autocommit = 1", on=other)
    assert rows(other, "SELECT id, n FROM d.t") == ((1, 1), (2, 2))
    assert rows(other, "SELECT @@foreign_key_checks, @@unique_checks, @@timestamp > 1700000000") == ((1, 1, 1),)
    for at in (0, 5, 9, 19, 30, len(of_rows[1]) - 1):
        bad = bytearray(of_rows[1])
        bad[at] ^= 0x11
        assert code_of(other, binlog_statement(of_rows[0], bytes(bad))) in (1149, 1610, 1730), at
    run("CREATE USER u IDENTIFIED BY ''", "GRANT SELECT ON *.* TO u", on=other)
    user = target.connect(user="u")
    assert code_of(user, binlog_statement(form)) == 1227
    run("GRANT REPLICATION_APPLIER ON *.* TO u", on=other)
    user = target.connect(user="u")
    assert code_of(user, binlog_statement(form)) == 0
    run("SET pseudo_replica_mode = 1", binlog_statement(form), "SET pseudo_replica_mode = 0", on=user)
    assert code_of(user, binlog_statement(*of_rows)) == 1609


def test_events_bring_no_bytes_that_are_no_text(start):
    server = start("--log-bin")
    connection = server.connect()
    made = ["s VARBINARY(20)", "s BLOB", "s ENUM('a', 'b', 'c')", "s SET('a', 'b', 'c')"]
    found = ["s VARCHAR(5) CHARACTER SET utf8mb4", "s TEXT CHARACTER SET utf8mb4", "s ENUM('a', 'b')", "s SET('a', 'b')"]
    run("CREATE DATABASE d", on=connection)
    for at, (column, value) in enumerate(zip(made, ["x'41c3'", "x'41c3'", "'c'", "'c'"])):
        run(f"CREATE TABLE d.t (id INT PRIMARY KEY, {column})", "FLUSH BINARY LOGS", f"INSERT INTO d.t VALUES (1, {value})",
            "SHOW BINARY LOG STATUS", on=connection)
        sent = list(events(server.datadir / f"binlog.{2 * at + 2:06}"))
        statement = binlog_statement(sent[0][1], *[event for code, event in sent if code in (19, 30)])
        run("FLUSH BINARY LOGS", "DELETE FROM d.t", statement, "DROP TABLE d.t", f"CREATE TABLE d.t (id INT PRIMARY KEY, {found[at]})", on=connection)
        assert code_of(connection, statement) == 1366, column
        assert rows(connection, "SELECT * FROM d.t") == ()
        run("DROP TABLE d.t", on=connection)


def dump(connection, file, position=4):
    """The events from there to the end, as a replica is sent them; the error's number in the place of one."""
    found = []
    try:
        connection._execute_command(0x12, struct.pack("<IHI", position, 1, 99) + file.encode())
        while not (packet := connection._read_packet()).is_eof_packet():
            found.append(packet.get_all_data()[1:])
    except pymysql.err.MySQLError as refused:
        found.append(refused.args[0])
    return found


def test_damage_in_a_file_is_told_of_and_nothing_else_suffers(start):
    server = start("--log-bin", "--binlog-transaction-compression=ON")
    connection, other = server.connect(), server.connect()
    run("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, v VARCHAR(100))",
        "INSERT INTO d.t VALUES (1, REPEAT('a', 100)), (2, 'b')", "SET binlog_transaction_compression = OFF",
        "UPDATE d.t SET v = 'c' WHERE id = 2", "FLUSH BINARY LOGS", on=connection)
    file = server.datadir / "binlog.000001"
    whole = file.read_bytes()
    run("SET @source_binlog_checksum = 'CRC32'", on=other)
    as_sent = dump(other, file.name)
    # ROTATE and the format are made up for the reader in front of each file.
    assert all(isinstance(event, bytes) for event in as_sent) and len(as_sent) > 12
    shown = rows(connection, f"SHOW BINLOG EVENTS IN '{file.name}'")
    ends = {row[4] for row in shown}
    random.seed(7)
    for at in (*range(250), *range(250, len(whole), 3)):
        bad = bytearray(whole)
        bad[at] ^= 1 << random.randrange(8)
        file.write_bytes(bad)
        code = code_of(connection, f"SHOW BINLOG EVENTS IN '{file.name}'") if at % 5 == 0 else 1220
        sent = dump(other, file.name)
        # But for the sign that the file is in use, which no checksum is about.
        if at == 21 and bad[21] ^ whole[21] == 1:
            continue
        assert code == 1220 and sent[-1] == 1236, (at, code, sent[-1])
        assert all(event in as_sent for event in sent[:-1])
    for cut in (*range(200), *range(200, len(whole), 7)):
        file.write_bytes(whole[:cut])
        sent = dump(other, file.name)
        # Between two events nothing shows; MySQL goes on with the next file, too.
        if cut not in ends:
            assert sent[-1] == 1236, (cut, sent[-1])
            assert code_of(connection, f"SHOW BINLOG EVENTS IN '{file.name}'") == 1220, cut
    for junk in (b"", b"\0" * 19, b"\xff" * 19, b"\0" * 4000, whole[4:60], b"\xff" * 4000):
        file.write_bytes(whole + junk)
        if junk:
            assert dump(other, file.name)[-1] == 1236
    file.write_bytes(whole)
    for position in (5, 130, len(whole) - 1, len(whole) + 1, 1 << 31):
        assert dump(other, file.name, position)[-1] == 1236
    assert dump(other, "binlog.000009")[-1] == 1236
    assert dump(other, file.name) == as_sent
    assert value(connection, "SELECT COUNT(*) FROM d.t") == 2
    assert "panic" not in server.log_text()


def test_a_start_says_which_file_is_damaged(start):
    server = start("--log-bin")
    connection = server.connect()
    run("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)",
        "FLUSH BINARY LOGS", "INSERT INTO d.t VALUES (1)", on=connection)
    value(connection, "SHOW BINARY LOG STATUS")
    server.kill()
    for name in ("binlog.state", "binlog.index"):
        kept = (server.datadir / name).read_bytes()
        for bad in (kept[:len(kept) // 2], b"\0" * len(kept), kept[:-3] + b"xx\n"):
            (server.datadir / name).write_bytes(bad)
            try:
                server.start(seconds=20)
            except AssertionError as refused:
                assert "binlog" in str(refused), refused
                assert "panicked" not in str(refused)
            else:
                # What is lost of the index are names of files that nobody misses.
                assert value(server.connect(), "SELECT COUNT(*) FROM d.t") == 1
                server.kill()
            (server.datadir / name).write_bytes(kept)
    # Without the state new files would take the names of those that are there.
    state = server.datadir / "binlog.state"
    kept, before = state.read_bytes(), {path.name: path.read_bytes() for path in server.datadir.glob("binlog.*")}
    state.unlink()
    with pytest.raises(AssertionError, match="'binlog.state' is missing"):
        server.start(seconds=20)
    state.write_bytes(kept)
    assert {path.name: path.read_bytes() for path in server.datadir.glob("binlog.*")} == before
    file = server.datadir / "binlog.000002"
    kept = file.read_bytes()
    for bad in (b"", kept[:3], b"\xfdbin" + kept[4:], kept[:50], b"\0" * len(kept)):
        file.write_bytes(bad)
        with pytest.raises(AssertionError, match="binlog.000002"):
            server.start(seconds=20)
    file.write_bytes(kept)
    server.start()
    connection = server.connect()
    assert value(connection, "SELECT COUNT(*) FROM d.t") == 1
    # A file in the middle that is gone: a replica would read on behind it. The first one is as good as purged.
    run("FLUSH BINARY LOGS", on=connection)
    listed = [name for name, *_ in rows(connection, "SHOW BINARY LOGS")]
    assert server.stop() == 0
    kept = (server.datadir / listed[1]).read_bytes()
    (server.datadir / listed[1]).unlink()
    with pytest.raises(AssertionError, match=f"'binlog.index' lists '{listed[1]}', which is not there"):
        server.start(seconds=20)
    (server.datadir / listed[1]).write_bytes(kept)
    (server.datadir / listed[0]).unlink()
    server.start()
    assert [name for name, *_ in rows(server.connect(), "SHOW BINARY LOGS")][:2] == listed[1:3]


def test_what_is_not_transactional_ends_with_a_statement(start):
    source, replica = pair(start)
    connection, other = source.connect(), replica.connect()
    run("CREATE DATABASE d", "CREATE TABLE d.m (a INT) ENGINE=MyISAM", "CREATE TABLE d.t (a INT)", on=connection)
    counters = lambda: {name: int(count) for name, count in rows(connection, "SHOW GLOBAL STATUS LIKE 'Binlog%cache_use'")}
    before = counters()
    run("FLUSH BINARY LOGS", "INSERT INTO d.m VALUES (1), (2)", "INSERT INTO d.t VALUES (1)", "BEGIN", "INSERT INTO d.t VALUES (2)",
        "INSERT INTO d.m VALUES (3)", "COMMIT", on=connection)
    found = [row[5] if row[2] in ("Query", "Xid") else row[2] for row in rows(connection, "SHOW BINLOG EVENTS IN 'binlog.000002'")[2:]]
    found = [re.sub(r" xid=\d+ ", " xid ", text) for text in found]
    of_rows = ["Anonymous_Gtid", "BEGIN", "Table_map", "Write_rows"]
    assert found == [*of_rows, "COMMIT", *of_rows, "COMMIT /* xid */", *of_rows, "COMMIT", *of_rows, "COMMIT /* xid */"]
    now = counters()
    assert {name: now[name] - before[name] for name in now} == {"Binlog_cache_use": 2, "Binlog_stmt_cache_use": 2}
    follow(other, source)
    catch_up(other, connection)
    same(other, connection, "d.m", "d.t")


def test_statements_are_told_as_mysql_tells_them(start):
    server = start()
    connection = server.connect()
    run("CREATE DATABASE d", "USE d", "CREATE TABLE a (i INT)", "CREATE TABLE b (i INT)", "CREATE TABLE c (i INT)",
        "CREATE DATABASE e", "CREATE TABLE e.f (i INT)", "CREATE TEMPORARY TABLE tt (i INT)", "CREATE TEMPORARY TABLE e.t2 (i INT)",
        "RESET BINARY LOGS AND GTIDS", on=connection)
    run("DROP TABLE IF EXISTS missing, a, b, e.f, e.y", "DROP TABLE IF EXISTS nn", "DROP TABLE c, tt", "DROP TABLE IF EXISTS e.t2, qq",
        "CREATE TABLE c (i INT)", "USE e", "DROP /* why */ TABLE d.c", "DROP VIEW IF EXISTS v",
        "CREATE USER u@localhost", on=connection)
    shown = rows(connection, "SHOW BINLOG EVENTS")
    told = [row[5] for row in shown if row[2] == "Query"]
    # What MySQL has; it numbers what has changed the dictionary.
    assert [re.sub(r"xid=\d+", "xid", text) for text in told[:-1]] == [
        "use `d`; DROP TABLE IF EXISTS `a`,`b`,`e`.`f`,`missing`,`e`.`y` /* generated by server */ /* xid */",
        "use `d`; DROP TABLE IF EXISTS `nn` /* generated by server */",
        "use `d`; DROP TABLE `c` /* generated by server */ /* xid */",
        "use `d`; DROP TABLE IF EXISTS `qq` /* generated by server */",
        "use `d`; CREATE TABLE c (i INT) /* xid */",
        "use `e`; DROP TABLE `d`.`c` /* generated by server */ /* xid */",
        "use `e`; DROP VIEW IF EXISTS v",
    ]
    assert re.search(r" /\* xid=\d+ \*/$", told[-1])
    # From a place in the middle of an event: the next one.
    second = shown[1][1]
    assert rows(connection, f"SHOW BINLOG EVENTS FROM {second - 7}") == shown[1:]
    assert rows(connection, f"SHOW BINLOG EVENTS FROM {second}") == shown[1:]
    assert not rows(connection, "SHOW BINLOG EVENTS FROM 99999999")
    # The first file since RESET says that it is the first: replicas forget temporary tables.
    _, description = next(events(server.datadir / "binlog.000001"))
    assert description[19 + 52:19 + 56] != bytes(4)


def test_a_statement_of_several_events_ends_once_where_its_end_commits(start):
    """A replica commits rows of tables that are not transactional where their statement ends."""
    source, replica = pair(start, "--gtid-mode=ON", "--enforce-gtid-consistency=ON")
    connection, other = source.connect(), replica.connect()
    run("CREATE DATABASE d", "CREATE TABLE d.m (a VARCHAR(5000), KEY (a(5))) ENGINE=MyISAM",
        "CREATE TABLE d.t (a VARCHAR(5000))", "FLUSH BINARY LOGS", on=connection)
    three = "VALUES (REPEAT('a', 5000)), (REPEAT('b', 5000)), (REPEAT('c', 5000))"
    run(f"INSERT INTO d.m {three}", "UPDATE d.m SET a = CONCAT('x', SUBSTR(a, 2))", "DELETE FROM d.m LIMIT 2", f"INSERT INTO d.t {three}",
        on=connection)
    ends = lambda on, file: [(row[2], "STMT_END_F" in row[5]) for row in rows(on, f"SHOW BINLOG EVENTS IN '{file}'")
                             if row[2].endswith(("_rows", "_map"))]
    map_, last = ("Table_map", False), lambda kind: (kind, True)
    several = lambda kind: [map_, (kind, False), (kind, False), last(kind)]
    of_m = [*several("Write_rows"), *several("Update_rows"), map_, ("Delete_rows", False), last("Delete_rows")]
    assert ends(connection, "binlog.000002") == of_m + [map_, last("Write_rows")] * 3
    follow(other, source)
    catch_up(other, connection)
    same(other, connection, "d.m", "d.t")
    # A replica tells its own ones the same.
    value(other, "SHOW BINARY LOG STATUS")
    assert ends(other, "binlog.000001")[:len(of_m)] == of_m


def test_a_statement_over_several_tables_ends_once_where_its_end_commits(start):
    """A replica opens the tables that are not transactional at the first row: it has been told of all of them before."""
    source, replica = pair(start, "--gtid-mode=ON", "--enforce-gtid-consistency=ON")
    connection, other = source.connect(), replica.connect()
    run("CREATE DATABASE d", "USE d", "CREATE TABLE a (a INT, t VARCHAR(5000)) ENGINE=MyISAM", "CREATE TABLE b LIKE a", "CREATE TABLE c LIKE a",
        "CREATE TRIGGER r AFTER INSERT ON c FOR EACH ROW BEGIN INSERT INTO a VALUES (NEW.a, 'x'); "
        "INSERT INTO b VALUES (NEW.a, 'y'); END", "INSERT INTO a VALUES (1, 'a'), (2, 'a')", "INSERT INTO b VALUES (1, 'b'), (2, 'b')",
        "FLUSH BINARY LOGS", on=connection)
    shapes = []
    for statement in ("UPDATE a JOIN b USING (a) SET a.t = 'new', b.t = REPEAT('n', 5000)", "INSERT INTO c VALUES (5, 'z'), (6, 'z')",
                      "DELETE a, b FROM a JOIN b USING (a)"):
        run(statement, "FLUSH BINARY LOGS", on=connection)
        file = rows(connection, "SHOW BINARY LOGS")[-2][0]
        kept = [(row[2], "STMT_END_F" in row[5]) for row in rows(connection, f"SHOW BINLOG EVENTS IN '{file}'") if row[2].endswith(("_rows", "_map"))]
        maps = sum(kind == "Table_map" for kind, _ in kept)
        assert all(kind == "Table_map" for kind, _ in kept[:maps]), kept
        assert [ends for _, ends in kept[maps:]] == [False] * (len(kept) - maps - 1) + [True], kept
        shapes.append(maps)
    assert shapes == [2, 3, 2]
    follow(other, source, "SOURCE_AUTO_POSITION=1")
    catch_up(other, connection)
    same(other, connection, "d.a", "d.b", "d.c")
    value(other, "SHOW BINARY LOG STATUS")
    assert value(other, "SELECT @@gtid_executed") == value(connection, "SELECT @@gtid_executed")


def test_what_is_sent_is_what_is_in_the_file(start):
    server = start("--log-bin")
    connection = server.connect()
    run("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)", "INSERT INTO d.t VALUES (1)", "FLUSH BINARY LOGS", on=connection)
    for word in ("CRC32", "NONE"):
        other = server.connect()
        run(f"SET @source_binlog_checksum = '{word}'", on=other)
        # Tools that copy files say NONE. Before each file comes its name, which no file has.
        sent = dump(other, "binlog.000001")
        names = [at for at, event in enumerate(sent) if event[4] == 4 and event[13:17] == bytes(4)]
        copy = b"\xfebin" + b"".join(sent[names[0] + 1:names[1]])
        assert copy == (server.datadir / "binlog.000001").read_bytes(), word
        # The first name comes before the event that says whether there are checksums.
        assert len(sent[0]) == 19 + 8 + len("binlog.000001") + (4 if word == "CRC32" else 0), word
