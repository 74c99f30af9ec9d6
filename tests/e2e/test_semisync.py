"""Semi-synchronous replication: who waits for a replica, what others see meanwhile, and how it is given up and taken up again."""

import json
import re
import threading
import time

import pymysql
import pytest
from harness import code_of, rows, run, value, wait_until
from pymysql.constants import CLIENT
from test_replica import GTIDS, SECONDS, catch_up, follow, pair, same

pytestmark = pytest.mark.usefixtures("clearway_only")

SOURCE = "INSTALL PLUGIN rpl_semi_sync_source SONAME 'semisync_source.so'"
REPLICA = "INSTALL PLUGIN rpl_semi_sync_replica SONAME 'semisync_replica.so'"


def says(connection, name):
    return rows(connection, f"SHOW GLOBAL STATUS LIKE 'Rpl_semi_sync_{name}'")[0][1]


def semi(connection, **settings):
    for name, to in settings.items():
        run(f"SET GLOBAL rpl_semi_sync_source_{name} = {to}", on=connection)


def semi_pair(start, point, *options, timeout=60_000):
    """A source and a replica that answers, and that has all."""
    source, replica = pair(start, *options)
    run(SOURCE, "CREATE DATABASE d", "CREATE TABLE d.t (a INT PRIMARY KEY)", on=source.connect())
    run(REPLICA, "SET GLOBAL rpl_semi_sync_replica_enabled = ON", on=replica.connect())
    here = source.connect()
    semi(here, timeout=timeout, wait_point=f"'{point}'", enabled="ON")
    follow(replica.connect(), source, "SOURCE_AUTO_POSITION=1" if options else "SOURCE_LOG_FILE='binlog.000001', SOURCE_LOG_POS=4")
    wait_until(lambda: says(here, "source_clients") == "1", SECONDS, "the replica answers")
    catch_up(replica.connect(), here)
    assert says(replica.connect(), "replica_status") == "ON"
    return source, replica


class Later:
    """A statement in a thread of its own."""

    def __init__(self, server, statement):
        self.connection, self.error = server.connect(), None
        self.thread = threading.Thread(target=self._run, args=(statement,))
        self.thread.start()

    def _run(self, statement):
        try:
            run(statement, on=self.connection)
        except pymysql.err.MySQLError as e:
            self.error = e

    def is_over(self):
        return not self.thread.is_alive()


@pytest.mark.parametrize("options", [(), GTIDS], ids=["position", "gtid"])
@pytest.mark.parametrize("point", ["AFTER_SYNC", "AFTER_COMMIT"])
def test_a_commit_waits_for_its_replica(start, point, options):
    source, replica = semi_pair(start, point, *options)
    here, there = source.connect(), replica.connect()
    for n in range(20):
        run(f"INSERT INTO d.t VALUES ({n})", on=here)
    assert (says(here, "source_status"), says(here, "source_no_tx")) == ("ON", "0")
    assert int(says(here, "source_yes_tx")) >= 20
    replica.freeze()
    try:
        later = Later(source, "INSERT INTO d.t VALUES (100)")
        wait_until(lambda: says(here, "source_wait_sessions") == "1", SECONDS, "the commit waits")
        states = [state for (state,) in rows(here, "SELECT state FROM information_schema.processlist WHERE command = 'Query'")]
        assert "Waiting for semi-sync ACK from replica" in states
        seen = value(here, "SELECT COUNT(*) FROM d.t WHERE a = 100")
        assert seen == (0 if point == "AFTER_SYNC" else 1)
        assert not later.is_over()
        # Whoever reads the row with a lock is not told of it before the source is.
        reader = Later(source, "SELECT * FROM d.t WHERE a = 100 FOR UPDATE")
        if point == "AFTER_COMMIT":
            wait_until(reader.is_over, SECONDS, "a reader does not wait")
        else:
            time_to_be_wrong = time.monotonic() + 0.5
            wait_until(lambda: time.monotonic() > time_to_be_wrong, SECONDS, "some time goes by")
            assert not reader.is_over()
    finally:
        replica.thaw()
    for one in (later, reader):
        wait_until(one.is_over, SECONDS, "the answer has come")
        assert one.error is None
    assert value(here, "SELECT COUNT(*) FROM d.t WHERE a = 100") == 1
    assert (says(here, "source_status"), says(here, "source_no_tx"), says(here, "source_wait_sessions")) == ("ON", "0", "0")
    catch_up(there, here)
    same(there, here, "d.t")


@pytest.mark.parametrize("point", ["AFTER_SYNC", "AFTER_COMMIT"])
def test_who_waits_too_long_goes_on_and_the_replica_is_taken_up_again(start, point):
    source, replica = semi_pair(start, point, timeout=300)
    here = source.connect()
    run("INSERT INTO d.t VALUES (1)", on=here)
    # Which may have taken too long, too.
    wait_until(lambda: says(here, "source_status") == "ON", SECONDS, "the replica answers")
    times, alone = int(says(here, "source_no_times")), int(says(here, "source_no_tx"))
    replica.freeze()
    try:
        began = time.monotonic()
        run("INSERT INTO d.t VALUES (2)", on=here)
        assert time.monotonic() - began >= 0.3
        assert says(here, "source_status") == "OFF"
        assert (int(says(here, "source_no_times")), int(says(here, "source_no_tx"))) == (times + 1, alone + 1)
        began = time.monotonic()
        run("INSERT INTO d.t VALUES (3)", on=here)
        assert time.monotonic() - began < 0.3
        assert value(source.connect(), "SELECT COUNT(*) FROM d.t") == 3
        assert int(says(here, "source_no_tx")) == alone + 2
    finally:
        replica.thaw()
    assert "Timeout waiting for reply of binlog" in source.log_text()
    wait_until(lambda: says(here, "source_status") == "ON", SECONDS, "the replica has caught up")
    semi(here, timeout=60_000)
    confirmed = int(says(here, "source_yes_tx"))
    for n in range(10, 30):
        run(f"INSERT INTO d.t VALUES ({n})", on=here)
    assert int(says(here, "source_yes_tx")) == confirmed + 20
    # A file of the binary log ends, and they begin anew.
    run("FLUSH BINARY LOGS", "INSERT INTO d.t VALUES (40)", on=here)
    catch_up(replica.connect(), here)
    same(replica.connect(), here, "d.t")
    # Gone for good.
    run("STOP REPLICA", on=replica.connect())
    wait_until(lambda: says(here, "source_clients") == "0", SECONDS, "the replica is gone")
    semi(here, timeout=200, wait_no_replica="OFF")
    began = time.monotonic()
    run("INSERT INTO d.t VALUES (50)", on=here)
    assert time.monotonic() - began < 0.2
    assert says(here, "source_status") == "OFF"
    run("START REPLICA", on=replica.connect())
    wait_until(lambda: says(here, "source_status") == "ON", SECONDS, "the replica is back")


def test_so_many_replicas_have_to_answer(start):
    source, first = semi_pair(start, "AFTER_SYNC")
    here = source.connect()
    semi(here, wait_for_replica_count=2)
    later = Later(source, "INSERT INTO d.t VALUES (1)")
    wait_until(lambda: says(here, "source_wait_sessions") == "1", SECONDS, "the commit waits")
    second = start("--log-bin", "--server-id=3")
    run(REPLICA, "SET GLOBAL rpl_semi_sync_replica_enabled = ON", on=second.connect())
    assert not later.is_over()
    follow(second.connect(), source)
    wait_until(later.is_over, SECONDS, "the second answer has come")
    assert later.error is None and says(here, "source_no_tx") == "0"


def test_settings_change_while_commits_wait(start):
    source, replica = semi_pair(start, "AFTER_SYNC")
    here = source.connect()
    replica.freeze()
    try:
        later = Later(source, "INSERT INTO d.t VALUES (1)")
        wait_until(lambda: says(here, "source_wait_sessions") == "1", SECONDS, "the commit waits")
        semi(here, wait_point="'AFTER_COMMIT'")
        assert value(here, "SELECT COUNT(*) FROM d.t") == 1
        assert not later.is_over()
        semi(here, enabled="OFF")
        wait_until(later.is_over, SECONDS, "nobody waits any more")
        assert later.error is None
        semi(here, enabled="ON", wait_point="'AFTER_SYNC'")
        later = Later(source, "INSERT INTO d.t VALUES (2)")
        wait_until(lambda: says(here, "source_wait_sessions") == "1", SECONDS, "the commit waits")
        assert value(here, "SELECT COUNT(*) FROM d.t") == 1
        # Who commits nothing that replicas get waits for nobody, unless somebody may see it.
        run(f"KILL {later.connection.thread_id()}", on=here)
        wait_until(later.is_over, SECONDS, "KILL ends the wait")
        assert later.error is not None
        run("UNINSTALL PLUGIN rpl_semi_sync_source", on=here)
        assert value(here, "SELECT COUNT(*) FROM d.t") == 2
        run("INSERT INTO d.t VALUES (3)", on=here)
    finally:
        replica.thaw()
    catch_up(replica.connect(), here)
    same(replica.connect(), here, "d.t")


def test_plugins_come_and_go(start):
    server = start("--log-bin")
    here = server.connect()
    assert code_of(here, "SELECT @@rpl_semi_sync_source_enabled") == 1193
    assert code_of(here, "INSTALL PLUGIN rpl_semi_sync_source SONAME 'semisync_replica.so'") == 1127
    assert not rows(here, "SHOW GLOBAL STATUS LIKE 'Rpl_semi_sync%'")
    run(SOURCE, REPLICA, "CREATE DATABASE d", on=here)
    assert list(rows(here, "SELECT @@rpl_semi_sync_source_enabled, @@rpl_semi_sync_source_timeout, @@rpl_semi_sync_source_wait_point, "
                     "@@rpl_semi_sync_source_wait_no_replica, @@rpl_semi_sync_source_wait_for_replica_count, @@rpl_semi_sync_replica_enabled"
                     )) == [(0, 10000, "AFTER_SYNC", 1, 1, 0)]
    assert list(rows(here, "SELECT plugin_status, plugin_type FROM information_schema.plugins WHERE plugin_name LIKE 'rpl%'")) == \
        [("ACTIVE", "REPLICATION")] * 2
    # No replica, and none is to be waited for.
    semi(here, wait_no_replica="OFF", enabled="ON")
    run("DROP DATABASE d", on=here)
    assert (says(here, "source_status"), says(here, "source_clients"), says(here, "replica_status")) == ("OFF", "0", "OFF")
    server.kill()
    server.start()
    here = server.connect()
    assert says(here, "source_status") == "OFF"
    run("UNINSTALL PLUGIN rpl_semi_sync_source", "UNINSTALL PLUGIN rpl_semi_sync_replica", on=here)
    assert not rows(here, "SHOW GLOBAL STATUS LIKE 'Rpl_semi_sync%'")


RECEIPT = re.compile(rb'clearway_receipt.(\{"gtid": .*?\})')


def test_a_receipt_tells_what_a_commit_rests_on(start):
    """`clearway_track_receipt` and CLEARWAY_RECEIPT. PyMySQL leaves what follows the status in the message of the OK packet."""
    source, replica = semi_pair(start, "AFTER_SYNC", *GTIDS)
    own = value(source.connect(), "SELECT @@server_uuid")
    here = source.connect(client_flag=CLIENT.MULTI_STATEMENTS | 1 << 23)

    def receipt(statement):
        run(statement, on=here)
        found = RECEIPT.search(here._result.message or b"")
        return found and json.loads(found[1])

    def end():
        return dict(zip(("file", "position"), rows(here, "SHOW BINARY LOG STATUS")[0][:2]))

    assert value(here, "SELECT @@clearway_track_receipt") == 0
    assert receipt("INSERT INTO d.t VALUES (1)") is None
    run("SET clearway_track_receipt = ON", on=here)
    first = receipt("INSERT INTO d.t VALUES (2)")
    assert first == {"gtid": f"{own}:6", **end(), "replicas": 1}
    # In a transaction the commit tells; statements that change nothing tell nothing.
    assert receipt("BEGIN") is None and receipt("INSERT INTO d.t VALUES (3)") is None
    assert receipt("COMMIT") == {"gtid": f"{own}:7", **end(), "replicas": 1}
    assert receipt("DELETE FROM d.t WHERE a = 99") is None and receipt("SET @a = 1") is None
    made = receipt("CREATE TABLE d.u (a INT)")
    assert made == {"gtid": f"{own}:8", **end(), "replicas": 1}
    # A commit that nobody waits for: the replica has what was before.
    semi(here, enabled="OFF")
    replica.freeze()
    try:
        alone = receipt("INSERT INTO d.t VALUES (4)")
        assert alone == {"gtid": f"{own}:9", **end(), "replicas": 0}

        def asked(gtid):
            text = value(here, f"SELECT CLEARWAY_RECEIPT('{gtid}')")
            return text and json.loads(text)

        assert asked(f"{own}:6") == first and asked(f"{own}:8") == made and asked(f"{own}:9") == alone
        assert asked(f"{own}:10") is None and value(here, "SELECT CLEARWAY_RECEIPT(NULL)") is None
        assert code_of(here, "SELECT CLEARWAY_RECEIPT('x')") == code_of(here, f"SELECT CLEARWAY_RECEIPT('{own}:1-2')") == 1774
    finally:
        replica.thaw()
    wait_until(lambda: asked(f"{own}:9")["replicas"] == 1, SECONDS, "the replica has told")
    # In another file than the one in use, in none any more, and after a start.
    run("FLUSH BINARY LOGS", on=here)
    assert asked(f"{own}:9") == {**alone, "replicas": 1}
    last = receipt("INSERT INTO d.t VALUES (5)")
    wait_until(lambda: asked(f"{own}:10")["replicas"] == 1, SECONDS, "the replica has told")
    wait_until(lambda: purges(here, last["file"]), SECONDS, "the replica reads the new file")
    assert asked(f"{own}:9") == {"gtid": f"{own}:9", "file": None, "position": None, "replicas": 1}
    source.kill()
    source.start()
    again = json.loads(value(source.connect(), f"SELECT CLEARWAY_RECEIPT('{own}:10')"))
    assert {**again, "replicas": 0} == {**last, "replicas": 0}


def purges(connection, to):
    run(f"PURGE BINARY LOGS TO '{to}'", on=connection)
    return rows(connection, "SHOW BINARY LOGS")[0][0] == to


def test_a_receipt_without_numbers(start):
    server = start()
    connection = server.connect(client_flag=CLIENT.MULTI_STATEMENTS | 1 << 23)
    run("CREATE DATABASE d", "CREATE TABLE d.t (a INT)", "SET clearway_track_receipt = ON", "INSERT INTO d.t VALUES (1)", on=connection)
    file, position = rows(server.connect(), "SHOW BINARY LOG STATUS")[0][:2]
    told = json.loads(RECEIPT.search(connection._result.message)[1])
    assert told == {"gtid": None, "file": file, "position": position, "replicas": 0}
