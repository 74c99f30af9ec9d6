"""GTIDs that sessions name: ownership, empty transactions, what is passed over, gtid_purged, waiting, session tracking. Errors and values are
those that a MySQL 9.7 gave for the same statements."""

import itertools
import random
import re
import threading

import pytest
from harness import code_of, rows, run, value, wait_until
from pymysql.constants import CLIENT

pytestmark = pytest.mark.usefixtures("clearway_only")

U = "aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa"
GTIDS = ("--log-bin", "--gtid-mode=ON", "--enforce-gtid-consistency=ON")
STATE = "SELECT @@gtid_next, @@gtid_owned, @@gtid_executed"


def check(connection, script):
    """Lines of `statement`, `statement => error number` and `=> next owned executed`, the session's state, in which OWN is this server."""
    own = value(connection, "SELECT @@server_uuid")
    for number, line in enumerate(script.strip().splitlines(), 1):
        statement, _, expected = line.strip().replace("UU", U).replace("OWN", own).partition("=>")
        if statement.strip():
            assert code_of(connection, statement) == int(expected or 0), f"{number}: {line}"
        else:
            found = rows(connection, STATE)[0]
            wanted = tuple(word.strip() for word in expected.split("|"))
            assert tuple(text.replace("\n", "") for text in found) == wanted, f"{number}: {line}"


def prepare(server):
    connection = server.connect()
    run("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)", "CREATE TABLE d.m (id INT PRIMARY KEY) ENGINE=MyISAM",
        "RESET BINARY LOGS AND GTIDS", on=connection)
    return connection


def test_a_number_is_owned_used_and_not_used_again(start):
    server = start(*GTIDS)
    connection = prepare(server)
    check(connection, """
        SET gtid_next = 'ANONYMOUS' => 1782
        SET gtid_next = 'UU:1'
        => UU:1 | UU:1 |
        SELECT * FROM d.t
        INSERT INTO d.t VALUES (1)
        => UU:1 | | UU:1
        INSERT INTO d.t VALUES (2) => 1837
        CREATE TABLE d.u (a INT) => 1837
        SELECT * FROM d.t
        BEGIN
        SET gtid_next = 'UU:2' => 1766
        INSERT INTO d.t VALUES (2) => 1837
        COMMIT
        SET gtid_next = 'UU:3'
        BEGIN
        COMMIT
        => UU:3 | | UU:1:3
        SET gtid_next = 'UU:4'
        BEGIN
        INSERT INTO d.t VALUES (4)
        SET gtid_next = 'AUTOMATIC' => 1766
        CREATE TABLE d.u (a INT) => 1778
        BEGIN => 1778
        => UU:4 | UU:4 | UU:1:3
        ROLLBACK
        => UU:4 | | UU:1:3
        SET gtid_next = 'UU:4'
        INSERT INTO d.t VALUES (1) => 1062
        => UU:4 | | UU:1:3
        SET gtid_next = 'UU:4'
        SET gtid_next = 'UU:5' => 1790
        => UU:4 | | UU:1:3
        SET gtid_next = 'UU:5'
        CREATE TABLE d.v (a INT)
        => UU:5 | | UU:1:3:5
        SET gtid_next = 'UU:6'
        CREATE TABLE IF NOT EXISTS d.v (a INT)
        => UU:6 | | UU:1:3:5-6
        SET gtid_next = 'UU:7'
        CREATE USER somebody
        => UU:7 | | UU:1:3:5-7
        SET gtid_next = 'UU:8'
        INSERT INTO d.m VALUES (1)
        => UU:8 | | UU:1:3:5-8
        SET gtid_next = 'UU:9'
        ANALYZE TABLE d.t
        => UU:9 | | UU:1:3:5-9
        SET gtid_next = 'UU:10'
        UPDATE d.t SET id = 5 WHERE id = -1
        => UU:10 | UU:10 | UU:1:3:5-9
        COMMIT
        SET gtid_next = 'AUTOMATIC'
        => AUTOMATIC | | UU:1:3:5-10
    """)
    # All of it is there after a crash.
    server.kill()
    server.start()
    connection = server.connect()
    assert value(connection, "SELECT @@gtid_executed") == f"{U}:1:3:5-10"
    # What is executed is passed over, until the transaction ends.
    check(connection, """
        SET gtid_next = 'UU:1'
        => UU:1 | | UU:1:3:5-10
        BEGIN
        INSERT INTO d.t VALUES (70)
        COMMIT
        INSERT INTO d.t VALUES (71) => 1837
        SET gtid_next = 'UU:1'
        CREATE TABLE d.x (a INT)
        CREATE TABLE d.x (a INT) => 1837
        SET gtid_next = 'UU:1'
        INSERT INTO d.t VALUES (72)
        ROLLBACK
        SET gtid_next = 'OWN:3'
        COMMIT
        SET gtid_next = 'AUTOMATIC'
        INSERT INTO d.t VALUES (11)
        INSERT INTO d.t VALUES (12)
        INSERT INTO d.t VALUES (13)
        => AUTOMATIC | | UU:1:3:5-10,OWN:1-4
        BEGIN
        INSERT INTO d.t VALUES (14)
        INSERT INTO d.m VALUES (14) => 1785
        ROLLBACK
        UPDATE d.t, d.m SET d.t.id = d.t.id + 100, d.m.id = d.m.id + 100 => 1785
    """.replace("UU:1:3:5-10,OWN:1-4", ordered(connection)))
    assert rows(connection, "SELECT * FROM d.t ORDER BY id") == ((1,), (11,), (12,), (13,))
    assert [name for name, in rows(connection, "SHOW TABLES FROM d")] == ["m", "t", "v"]


def ordered(connection):
    """Sets are shown in the order of their UUIDs."""
    sets = sorted([(U, "UU:1:3:5-10"), (value(connection, "SELECT @@server_uuid"), "OWN:1-4")])
    return ",".join(text for _, text in sets)


def test_who_wants_an_owned_number_waits_for_its_end(start):
    server = start(*GTIDS)
    first, second, third = prepare(server), server.connect(), server.connect()
    run(f"SET gtid_next = '{U}:1'", "BEGIN", "INSERT INTO d.t VALUES (1)", on=first)
    owner = value(first, "SELECT CONNECTION_ID()")
    assert value(second, "SELECT @@global.gtid_owned") == f"{U}:1#{owner}"
    ended = []

    def wait(connection):
        ended.append((connection, code_of(connection, f"SET gtid_next = '{U}:1'")))

    waiting = [threading.Thread(target=wait, args=(c,)) for c in (second, third)]
    numbers = [value(c, "SELECT CONNECTION_ID()") for c in (second, third)]
    for thread in waiting:
        thread.start()
    observer = server.connect()
    pending = lambda: len(rows(observer, f"SELECT 1 FROM information_schema.processlist WHERE id IN ({numbers[0]}, {numbers[1]}) "
                                         "AND info LIKE 'SET gtid_next%'")) == 2
    wait_until(pending, 10, "both wait")
    run(f"KILL QUERY {numbers[1]}", on=observer)
    waiting[1].join(10)
    assert ended == [(third, 1317)]
    run("COMMIT", on=first)
    waiting[0].join(10)
    assert ended[1:] == [(second, 0)]
    run("INSERT INTO d.t VALUES (2)", on=second)
    assert rows(second, "SELECT * FROM d.t") == ((1,),), "it was passed over"
    # A connection that ends gives its number back.
    run(f"SET gtid_next = '{U}:2'", on=third)
    third.close()
    wait_until(lambda: value(observer, "SELECT @@global.gtid_owned") == "", 10, "nobody owns a number")


def test_an_own_number_that_is_owned_goes_to_nobody_else(start):
    server = start(*GTIDS)
    first, second = prepare(server), server.connect()
    own = value(first, "SELECT @@server_uuid")
    executed = lambda: value(second, "SELECT @@global.gtid_executed")
    run(f"SET gtid_next = '{own}:2'", "BEGIN", "INSERT INTO d.t VALUES (2)", on=first)
    for n in (1, 3, 4):
        run(f"INSERT INTO d.t VALUES ({n})", on=second)
    assert executed() == f"{own}:1:3-4"
    # What is rolled back is the next one, as MySQL has it.
    run("ROLLBACK", on=first)
    run("INSERT INTO d.t VALUES (5)", on=second)
    assert executed() == f"{own}:1-4"
    run(f"SET gtid_next = '{own}:6'", "BEGIN", "INSERT INTO d.t VALUES (6)", on=first)
    run("INSERT INTO d.t VALUES (7)", "INSERT INTO d.t VALUES (8)", on=second)
    assert executed() == f"{own}:1-5:7"
    # The files that are written anew after a crash have the same numbers; who owned one is gone.
    server.kill()
    server.start()
    second = server.connect()
    assert executed() == f"{own}:1-5:7"
    run("INSERT INTO d.t VALUES (9)", on=second)
    assert executed() == f"{own}:1-7"
    assert rows(second, "SELECT id FROM d.t") == ((1,), (3,), (4,), (5,), (7,), (8,), (9,))
    # A connection that ends gives its number back.
    third = server.connect()
    run(f"SET gtid_next = '{own}:8'", on=third)
    third.close()
    wait_until(lambda: value(second, "SELECT @@global.gtid_owned") == "", 10, "nobody owns a number")
    run("INSERT INTO d.t VALUES (10)", on=second)
    assert executed() == f"{own}:1-8"


def test_named_and_automatic_numbers_side_by_side(start):
    server = start(*GTIDS)
    connection = prepare(server)
    own = value(connection, "SELECT @@server_uuid")
    run("CREATE TABLE d.named (number INT PRIMARY KEY)", "CREATE TABLE d.automatic (id INT AUTO_INCREMENT PRIMARY KEY, n INT)", on=connection)
    numbers = itertools.count(30)
    rolled_back = set()
    # The first ones are named before automatic numbers can come to them.
    begin = threading.Barrier(6)

    def name(seed):
        session, chance = server.connect(), random.Random(seed)
        for i in range(15):
            number = next(numbers)
            run(f"SET gtid_next = '{own}:{number}'", on=session)
            if i == 0:
                begin.wait(60)
            run("BEGIN", f"INSERT IGNORE INTO d.named VALUES ({number})", on=session)
            end = "COMMIT" if i == 0 else chance.choice(["COMMIT", "ROLLBACK"])
            if end == "ROLLBACK":
                rolled_back.add(number)
            run(end, on=session)

    def leave(seed):
        session = server.connect()
        begin.wait(60)
        for n in range(20):
            run(f"INSERT INTO d.automatic (n) VALUES ({n})", on=session)

    threads = [threading.Thread(target=each, args=(seed,)) for seed in range(3) for each in (name, leave)]
    [thread.start() for thread in threads]
    [thread.join(60) for thread in threads]
    assert value(connection, "SELECT COUNT(*) FROM d.automatic") == 60
    # What was committed under a number has it: in the files, the table of each number's transaction is the one that it was named for, or it
    # was executed before it could be named.
    of = {}
    for path in sorted(server.datadir.glob("binlog.0*")):
        for row in rows(connection, f"SHOW BINLOG EVENTS IN '{path.name}'"):
            if row[2] == "Gtid":
                number = int(re.search(r":(\d+)'", row[5])[1])
                assert number not in of
            elif row[2] == "Table_map":
                of[number] = re.search(r"\(d\.(\w+)\)", row[5])[1]
    named = {number for number, in rows(connection, "SELECT number FROM d.named")}
    assert named and all(of[number] == "named" for number in named)
    assert sorted(number for number, table in of.items() if table == "named") == sorted(named)
    assert sum(table == "automatic" for table in of.values()) == 60
    assert not named & rolled_back


def test_temporary_tables_begin_a_transaction(start):
    check(prepare(start(*GTIDS)), """
        SET autocommit = 0
        CREATE TEMPORARY TABLE d.own (a INT)
        SET gtid_next = 'UU:1' => 1766
        COMMIT
        SET gtid_next = 'UU:1'
        INSERT INTO d.t VALUES (1)
        COMMIT
        SET gtid_next = 'AUTOMATIC'
        DROP TEMPORARY TABLE d.own
        SET gtid_next = 'UU:2' => 1766
        ROLLBACK
        SET autocommit = 1
        CREATE TEMPORARY TABLE d.own (a INT)
        SET gtid_next = 'UU:2'
        COMMIT
        => UU:2 | | UU:1-2
    """)


def test_modes_and_words(start):
    connection = start("--log-bin").connect()
    check(connection, """
        SET gtid_next = 'UU:1' => 1781
        SET gtid_next = 'ANONYMOUS'
        => ANONYMOUS | |
        SET gtid_next = automatic => 1790
        SET gtid_next = automatic
        SET gtid_next = 'x' => 1774
        SET gtid_next = 'UU:0' => 1774
        SET gtid_next = 'UU:1-2' => 1774
        SET gtid_next = NULL => 1231
        SET gtid_next = 'UU:tag:1' => 6040
        SET gtid_next = 'AUTOMATIC:tag' => 6039
        SET GLOBAL gtid_next = 'AUTOMATIC' => 1228
        SET GLOBAL gtid_mode = ON => 1788
        SET GLOBAL enforce_gtid_consistency = ON
        SET GLOBAL gtid_mode = OFF_PERMISSIVE
        SET gtid_next = 'UU:1'
        SET GLOBAL gtid_mode = ON_PERMISSIVE => 3138
        SET gtid_next = 'AUTOMATIC'
        SET GLOBAL gtid_mode = ON_PERMISSIVE
        SET GLOBAL gtid_mode = ON
        SET GLOBAL enforce_gtid_consistency = WARN => 1779
    """)


def test_purged_sets(start):
    server = start(*GTIDS)
    connection, other = prepare(server), server.connect()
    run("INSERT INTO d.t VALUES (1)", f"SET gtid_next = '{U}:60'", on=other)
    check(connection, """
        SET GLOBAL gtid_purged = 'UU:20-30'
        SET GLOBAL gtid_purged = '+UU:25' => 3546
        SET GLOBAL gtid_purged = '+UU:1-3'
        SET GLOBAL gtid_purged = 'UU:1-3' => 3546
        SET GLOBAL gtid_purged = 'UU:1-3:20-31'
        SET GLOBAL gtid_purged = '' => 3546
        SET GLOBAL gtid_purged = '+'
        SET GLOBAL gtid_purged = '+UU:60' => 3546
        SET GLOBAL gtid_purged = '+OWN:1' => 3546
        SET GLOBAL gtid_purged = 'x' => 1231
        SET GLOBAL gtid_purged = NULL => 1231
        SET GLOBAL gtid_purged = 5 => 1232
        SET gtid_purged = 'UU:1' => 1229
        SET GLOBAL gtid_executed = 'UU:1' => 1238
        BEGIN
        SET GLOBAL gtid_purged = '+UU:70' => 1766
        ROLLBACK
        SET gtid_next = 'UU:70'
        SET GLOBAL gtid_purged = '+UU:71' => 3138
        SET gtid_next = 'UU:21'
        INSERT INTO d.t VALUES (21)
        COMMIT
        SET gtid_next = 'AUTOMATIC'
    """)
    assert rows(connection, "SELECT * FROM d.t") == ((1,),), "a purged number is executed"
    run("ROLLBACK", on=other)
    server.kill()
    server.start()
    connection = server.connect()
    assert value(connection, "SELECT @@global.gtid_purged") == f"{U}:1-3:20-31"
    run("RESET BINARY LOGS AND GTIDS", f"SET gtid_next = '{U}:21'", "INSERT INTO d.t VALUES (21)", on=connection)
    assert value(connection, "SELECT @@gtid_executed") == f"{U}:21"


def test_waiting_for_a_set(start):
    server = start(*GTIDS)
    connection, other = prepare(server), server.connect()
    assert value(connection, f"SELECT WAIT_FOR_EXECUTED_GTID_SET('{U}:1', 0.05)") == 1
    assert value(connection, "SELECT WAIT_FOR_EXECUTED_GTID_SET('')") == 0
    found = []
    waiting = threading.Thread(target=lambda: found.append(value(other, f"SELECT WAIT_FOR_EXECUTED_GTID_SET('{U}:1-2', 30)")))
    waiting.start()
    for number in (2, 1):
        assert not found
        run(f"SET gtid_next = '{U}:{number}'", f"INSERT INTO d.t VALUES ({number})", on=connection)
    waiting.join(10)
    assert found == [0]
    for statement, code in [("WAIT_FOR_EXECUTED_GTID_SET('x')", 1772), ("WAIT_FOR_EXECUTED_GTID_SET(NULL)", 1772),
                            (f"WAIT_FOR_EXECUTED_GTID_SET('{U}:9', -1)", 1210), ("WAIT_FOR_EXECUTED_GTID_SET()", 1582)]:
        assert code_of(connection, "SELECT " + statement) == code, statement
    run(f"SET gtid_next = '{U}:9'", on=connection)
    assert code_of(connection, f"SELECT WAIT_FOR_EXECUTED_GTID_SET('{U}:9')") == 3173


def test_the_answer_tells_the_number_of_its_commit(start):
    """`session_track_gtids`: PyMySQL leaves what follows the status in the message of the OK packet."""
    server = start(*GTIDS)
    prepare(server)
    session_track = 1 << 23
    connection = server.connect(client_flag=CLIENT.MULTI_STATEMENTS | session_track)
    own = value(connection, "SELECT @@server_uuid")

    def told(statement):
        run(statement, on=connection)
        return connection._result.message.decode(errors="replace") if connection._result.message else ""

    assert own not in told("INSERT INTO d.t VALUES (1)")
    run("SET session_track_gtids = OWN_GTID", on=connection)
    assert f"{own}:2" in told("INSERT INTO d.t VALUES (2)")
    assert own not in told("BEGIN") + told("INSERT INTO d.t VALUES (3)")
    assert code_of(connection, "SET session_track_gtids = OFF") == 1766
    assert f"{own}:3" in told("COMMIT")
    assert f"{own}:4" in told("CREATE TABLE d.u (a INT)")
    assert f"{own}:5" in told("CREATE USER somebody")
    assert f"{own}:6" in told("INSERT INTO d.m VALUES (1)")
    run(f"SET gtid_next = '{U}:7'", on=connection)
    assert f"{U}:7" in told("INSERT INTO d.t VALUES (7)")
    run("SET gtid_next = AUTOMATIC", "SET session_track_gtids = ALL_GTIDS", on=connection)
    assert f"{own}:1-7" in told("INSERT INTO d.t VALUES (8)")
    run("SET session_track_gtids = OFF", on=connection)
    assert own not in told("INSERT INTO d.t VALUES (9)")


def test_tags_tell_numbers_apart(start):
    source = start(*GTIDS, "--server-id=1")
    connection = prepare(source)
    check(connection, """
        SET gtid_next = 'AUTOMATIC:1a' => 1774
        SET gtid_next = 'AUTOMATIC:a:1' => 1774
        SET gtid_next = 'AUTOMATIC:Tag_1'
        => AUTOMATIC:tag_1 | |
        INSERT INTO d.t VALUES (1)
        INSERT INTO d.t VALUES (2)
        => AUTOMATIC:tag_1 | | OWN:tag_1:1-2
        SET gtid_next = 'AUTOMATIC'
        INSERT INTO d.t VALUES (3)
        SET gtid_next = 'UU:x:7'
        => UU:x:7 | UU:x:7 | OWN:1:tag_1:1-2
        INSERT INTO d.t VALUES (4)
        SET gtid_next = 'UU:7'
        INSERT INTO d.t VALUES (5)
        SET gtid_next = 'UU:x:7'
        INSERT INTO d.t VALUES (4)
        SET gtid_next = 'AUTOMATIC'
    """)
    own = value(connection, "SELECT @@server_uuid")
    executed = value(connection, "SELECT @@gtid_executed").replace("\n", "")
    assert sorted(executed.split(",")) == sorted([f"{U}:7:x:7", f"{own}:1:tag_1:1-2"])
    assert sorted(rows(connection, "SELECT * FROM mysql.gtid_executed")) == sorted(
        [(U, 7, 7, ""), (U, 7, 7, "x"), (own, 1, 1, ""), (own, 1, 2, "tag_1")])
    assert value(connection, f"SELECT GTID_SUBSET('{own}:TAG_1:2', @@gtid_executed)") == 1
    kinds = [row[2] for row in rows(connection, "SHOW BINLOG EVENTS")]
    assert kinds.count("Gtid_tagged_log_event") == 3 and kinds.count("Gtid") == 2
    # Over a restart, and to a replica that says what it has.
    run("FLUSH BINARY LOGS", on=connection)
    source.kill()
    source.start()
    connection = source.connect()
    assert value(connection, "SELECT @@gtid_executed").replace("\n", "") == executed
    run("CREATE USER repl IDENTIFIED BY 'secret'", "GRANT REPLICATION SLAVE ON *.* TO repl", "SET gtid_next = 'AUTOMATIC:z'",
        "INSERT INTO d.t VALUES (6)", on=connection)
    replica = start(*GTIDS, "--server-id=2")
    other = replica.connect()
    run("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)", "INSERT INTO d.t VALUES (1), (2), (3), (4), (5)",
        "RESET BINARY LOGS AND GTIDS", f"SET GLOBAL gtid_purged = '{executed}'", on=other)
    run(f"CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT={source.port}, SOURCE_USER='repl', SOURCE_PASSWORD='secret', "
        "GET_SOURCE_PUBLIC_KEY=1, SOURCE_AUTO_POSITION=1", "START REPLICA", on=other)
    wait_until(lambda: value(other, "SELECT COUNT(*) FROM d.t") == 6, 60, "the replica has the last row")
    assert value(other, f"SELECT GTID_SUBSET('{own}:z:1', @@gtid_executed)") == 1
    run("CREATE USER u IDENTIFIED BY ''", "GRANT REPLICATION_APPLIER ON *.* TO u", on=connection)
    assert code_of(source.connect(user="u"), "SET gtid_next = 'AUTOMATIC:q'") == 6038
    run("GRANT TRANSACTION_GTID_TAG ON *.* TO u", on=connection)
    assert code_of(source.connect(user="u"), "SET gtid_next = 'AUTOMATIC:q'") == 0


def test_numbers_executed_are_known_without_the_files(start):
    """MySQL has them in a table, and begins new files behind them."""
    server = start(*GTIDS)
    connection = prepare(server)
    own = value(connection, "SELECT @@server_uuid")
    run("INSERT INTO d.t VALUES (1)", "INSERT INTO d.t VALUES (2)", on=connection)

    def move(name, to):
        to.mkdir()
        for path in server.datadir.glob(f"{name}.*"):
            path.rename(to / path.name)

    def sets(connection):
        found = rows(connection, "SELECT @@gtid_executed, @@gtid_purged")[0]
        return [text.replace(own, "OWN") for text in found]

    server.stop()
    move("binlog", server.datadir / "before")
    server.start()
    connection = server.connect()
    assert sets(connection) == ["OWN:1-2", "OWN:1-2"]
    run("INSERT INTO d.t VALUES (3)", on=connection)
    assert sets(connection) == ["OWN:1-3", "OWN:1-2"]
    assert [row[0] for row in rows(connection, "SHOW BINARY LOGS")] == ["binlog.000001"]
    # What the files of a server that was killed did not have on disk is in the new ones.
    server.kill()
    move("binlog", server.datadir / "killed")
    server.start()
    connection = server.connect()
    assert sets(connection)[0] == "OWN:1-3"
    run("INSERT INTO d.t VALUES (4)", on=connection)
    assert sets(connection)[0] == "OWN:1-4"
    # Files of another name go on behind them, too; then the first ones are no longer all that there was.
    server.stop()
    server.options.append("--log-bin=other")
    server.start()
    connection = server.connect()
    assert sets(connection) == ["OWN:1-4", "OWN:1-4"]
    run("INSERT INTO d.t VALUES (5)", on=connection)
    server.stop()
    server.options.pop()
    with pytest.raises(AssertionError, match="'binlog.state' is older than the data"):
        server.start(seconds=20)
    move("binlog", server.datadir / "first")
    server.start()
    connection = server.connect()
    assert sets(connection) == ["OWN:1-5", "OWN:1-5"]
    # RESET forgets them for good.
    run("RESET BINARY LOGS AND GTIDS", "INSERT INTO d.t VALUES (6)", on=connection)
    server.kill()
    move("binlog", server.datadir / "reset")
    server.start()
    assert sets(server.connect())[0] == "OWN:1"


def test_a_table_made_of_a_query_has_one_number_or_is_refused(start):
    server = start(*GTIDS)
    connection = prepare(server)
    check(connection, """
        CREATE TABLE d.a ENGINE=MyISAM SELECT 1 AS a => 1786
        CREATE TABLE d.a ENGINE=MEMORY SELECT 1 AS a => 1786
        CREATE TABLE IF NOT EXISTS d.t ENGINE=MyISAM SELECT 1 AS a => 1786
        CREATE TABLE d.a ENGINE=MyISAM SELECT 1 AS a FROM nowhere => 1786
        CREATE TABLE d.a ENGINE=InnoDB SELECT 1 AS a
        CREATE TEMPORARY TABLE d.b ENGINE=MyISAM SELECT 1 AS a
        DROP TEMPORARY TABLE d.b
        SET sql_log_bin = 0
        CREATE TABLE d.c ENGINE=MyISAM SELECT 1 AS a
        SET sql_log_bin = 1
        SET default_storage_engine = MyISAM
        CREATE TABLE d.e SELECT 1 AS a => 1786
    """)
    server = start("--log-bin", "--enforce-gtid-consistency=WARN")
    connection = server.connect()
    run("CREATE DATABASE d", "CREATE TABLE d.a ENGINE=MEMORY SELECT 1 AS a", on=connection)
    assert [row[:2] for row in rows(connection, "SHOW WARNINGS")] == [("Warning", 1786)]
    text = [row[5] for row in rows(connection, "SHOW BINLOG EVENTS") if "CREATE TABLE" in row[5]]
    assert len(text) == 1 and "START TRANSACTION" not in text[0]
