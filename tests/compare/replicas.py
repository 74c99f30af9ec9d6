#!/usr/bin/env python3
"""Replication between real servers under load, definitions and kill -9: all tables must be equal at the end.

    replicas.py source  [--seconds 600] [--kills 5]     Clearway feeds a MariaDB and a MySQL, and is killed
    replicas.py replica [--seconds 120] [--kills 10]    Clearway follows a Clearway, a MariaDB and a MySQL in turn, and is killed

Clearway is $CLEARWAY or the development build; $MYSQLD is the command that runs a mysqld, words apart by blanks (without it there is no
MySQL); MariaDB is Debian's. The load: sysbench's read write and write only by four threads each, and a session that makes, alters,
truncates, renames and drops tables. Tables are compared by the number of their rows and a sum over all columns."""

import argparse
import itertools
import os
import pathlib
import shutil
import subprocess
import sys
import threading
import time

import pymysql

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))
from harness import Server, rows, run, value, wait_until  # noqa: E402

TABLES, TABLE_ROWS = 2, 10_000
GTIDS = ("--gtid-mode=ON", "--enforce-gtid-consistency=ON")
# MariaDB knows no collations of MySQL 8.
WORDS = "SET NAMES utf8mb4 COLLATE utf8mb4_general_ci"
LOADS = ("oltp_read_write", "oltp_write_only")
# Transactions a second of each, so that a machine that all of these servers share keeps up.
RATE = 150
CATCH_UP_SECONDS = 1200


class MySql(Server):
    """A MySQL by $MYSQLD."""

    def __init__(self, *options):
        super().__init__("mysql", *options)
        self.program = os.environ["MYSQLD"].split()

    def command(self):
        return [*self.program, "--no-defaults", "--user=root", f"--datadir={self.datadir}", f"--port={self.port}", f"--socket={self.socket}",
                "--bind-address=127.0.0.1", "--mysqlx=OFF", *self.options]

    def start(self, seconds=120):
        if not self.datadir.exists():
            subprocess.run([*self.program, "--no-defaults", "--user=root", "--initialize-insecure", f"--datadir={self.datadir}"], check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return super().start(seconds)


def connect(server):
    return server.connect(init_command=WORDS)


class Load:
    """What changes the source; it begins again wherever the source does."""

    def __init__(self, source):
        self.source, self.over = source, threading.Event()
        self.statements, self.processes = 0, []

    def begin(self):
        """For one life of the source."""
        words = ["--db-driver=mysql", "--mysql-host=127.0.0.1", f"--mysql-port={self.source.port}", "--mysql-user=root", "--mysql-db=sbtest",
                 "--mysql-ssl=off", f"--tables={TABLES}", f"--table-size={TABLE_ROWS}", "--threads=4", f"--rate={RATE}", "--time=0", "--db-ps-mode=disable",
                 "--mysql-ignore-errors=1213,1205,1020,1412"]
        self.processes = [subprocess.Popen(["sysbench", test, *words, "run"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for test in LOADS]
        self.thread = threading.Thread(target=self.define)
        self.thread.start()

    def end(self):
        """After the source's death, or to end it."""
        for process in self.processes:
            process.terminate()
            process.wait()
        self.over.set()
        self.thread.join()
        self.over.clear()

    def define(self):
        try:
            connection = connect(self.source)
            for number in itertools.count():
                # What a kill left half way may be there or not.
                made = f"defined.t{self.statements % 7}"
                for statement in (f"DROP TABLE IF EXISTS {made}, {made}_b", f"CREATE TABLE {made} (id INT AUTO_INCREMENT PRIMARY KEY, n INT, s VARCHAR(50)) CHARSET utf8mb4",
                                  f"INSERT INTO {made} (n, s) VALUES (1, 'a'), (2, 'b'), (3, REPEAT('c', 50))", f"ALTER TABLE {made} ADD COLUMN more INT DEFAULT {number}",
                                  f"INSERT INTO {made} (n, s) SELECT n, s FROM {made}", f"CREATE INDEX by_n ON {made} (n)", f"RENAME TABLE {made} TO {made}_b",
                                  f"UPDATE {made}_b SET more = id WHERE n > 1", f"DELETE FROM {made}_b WHERE n = 1"):
                    run(statement, on=connection)
                    self.statements += 1
                if number % 10 == 9:
                    run(f"TRUNCATE TABLE {made}_b", on=connection)
                if self.over.wait(0.02):
                    return
        except pymysql.err.MySQLError as e:
            # Its death; anything else is a defect of the script or of the source.
            if self.source.process is not None and self.source.process.poll() is None and e.args[0] not in (2006, 2013, 2003):
                print(f"definitions end: {e}", flush=True)


def prepare(source):
    run("CREATE DATABASE sbtest CHARSET utf8mb4 COLLATE utf8mb4_general_ci", "CREATE DATABASE defined CHARSET utf8mb4 COLLATE utf8mb4_general_ci", on=connect(source))
    subprocess.run(["sysbench", "oltp_read_write", "--db-driver=mysql", "--mysql-host=127.0.0.1", f"--mysql-port={source.port}", "--mysql-user=root", "--mysql-ssl=off",
                    "--mysql-db=sbtest", f"--tables={TABLES}", f"--table-size={TABLE_ROWS}", "prepare"], check=True, stdout=subprocess.DEVNULL)


def picture(server):
    """Of each table: its columns, how many rows, and a sum over them."""
    connection, found = connect(server), {}
    columns = "SELECT GROUP_CONCAT('`', column_name, '`' ORDER BY ordinal_position) FROM information_schema.columns WHERE table_schema = '{}' AND table_name = '{}'"
    tables = rows(connection, "SELECT table_schema, table_name FROM information_schema.tables WHERE table_schema IN ('sbtest', 'defined') ORDER BY 1, 2")
    for schema, table in tables:
        names = value(connection, columns.format(schema, table))
        found[schema, table] = (names, *rows(connection, f"SELECT COUNT(*), COALESCE(SUM(CRC32(CONCAT_WS('#', {names}))), 0) FROM {schema}.{table}")[0])
    return found


def status(replica):
    words = "SHOW SLAVE STATUS" if replica.kind == "mariadb" else "SHOW REPLICA STATUS"
    cursor = replica.connect().cursor(pymysql.cursors.DictCursor)
    cursor.execute(words)
    return {name.replace("Source", "Master").replace("Replica_", "Slave_"): value for name, value in cursor.fetchone().items()}


def end_of(source):
    words = "SHOW MASTER STATUS" if source.kind == "mariadb" else "SHOW BINARY LOG STATUS"
    return rows(source.connect(), words)[0][:2]


def catch_up(replica, source):
    file, position = end_of(source)

    def arrived():
        now = status(replica)
        assert not now["Last_SQL_Error"], f"{replica.kind}: {now['Last_SQL_Error']}"
        assert now["Slave_IO_Running"] != "No", f"{replica.kind}: {now['Last_IO_Error']}"
        return (now["Relay_Master_Log_File"], now["Exec_Master_Log_Pos"]) == (file, position)

    wait_until(arrived, CATCH_UP_SECONDS, f"{replica.kind} comes to {file} {position}")


def compare(replica, source):
    ours, theirs = picture(source), picture(replica)
    different = sorted(name for name in ours.keys() | theirs.keys() if ours.get(name) != theirs.get(name))
    for name in different:
        print(f"  {name}: {source.kind} {ours.get(name)}, {replica.kind} {theirs.get(name)}")
    print(f"{source.kind} -> {replica.kind}: {len(ours)} tables, {len(different)} different", flush=True)
    return not different


def accounts(source):
    connection = connect(source)
    if source.kind == "clearway":
        run("SET sql_log_bin = 0", on=connection)
    plugin = "IDENTIFIED WITH mysql_native_password BY" if source.kind == "clearway" else "IDENTIFIED BY"
    run(f"CREATE USER repl {plugin} 'secret'", "GRANT REPLICATION SLAVE ON *.* TO repl", on=connection)


def lives(source, seconds, kills, kill):
    """Load for so long, with `kill` so many times in equal parts of it."""
    load = Load(source)
    load.begin()
    for number in range(kills + 1):
        time.sleep(seconds / (kills + 1))
        if number < kills:
            kill(load, number)
    load.end()
    return load.statements


def as_source(seconds, kills):
    source = Server("clearway", "--log-bin", "--server-id=1", "--mysql-native-password=ON", "--collation-server=utf8mb4_general_ci", "--max-binlog-size=64M", *GTIDS)
    replicas = [Server("mariadb", "--server-id=2", "--slave-net-timeout=5")]
    replicas += [MySql("--server-id=3", "--replica-net-timeout=5", *GTIDS)] if os.environ.get("MYSQLD") else []
    try:
        source.start()
        run("CREATE USER sha IDENTIFIED WITH caching_sha2_password BY 'secret'", "GRANT REPLICATION SLAVE ON *.* TO sha", on=connect(source))
        run("RESET BINARY LOGS AND GTIDS", on=connect(source))
        accounts(source)
        for replica in replicas:
            follower = replica.start().connect()
            if replica.kind == "mariadb":
                run(f"CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT={source.port}, MASTER_USER='repl', MASTER_PASSWORD='secret', "
                    "MASTER_LOG_FILE='binlog.000001', MASTER_LOG_POS=4, MASTER_CONNECT_RETRY=1, MASTER_USE_GTID=no, MASTER_SSL=0", "START SLAVE", on=follower)
            else:
                run(f"CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT={source.port}, SOURCE_USER='sha', SOURCE_PASSWORD='secret', "
                    "SOURCE_AUTO_POSITION=1, SOURCE_CONNECT_RETRY=1, SOURCE_RETRY_COUNT=1000, GET_SOURCE_PUBLIC_KEY=1", "START REPLICA", on=follower)
        prepare(source)

        def kill(load, number):
            source.kill()
            load.end()
            source.start()
            load.begin()
            print(f"kill {number + 1} of {kills}: {end_of(source)}", flush=True)

        statements = lives(source, seconds, kills, kill)
        print(f"{statements} definitions and their changes; the source's end {end_of(source)}", flush=True)
        for replica in replicas:
            catch_up(replica, source)
        equal = [compare(replica, source) for replica in replicas]
        source.stop()
        source.assert_sound()
        return all(equal)
    finally:
        for server in [source, *replicas]:
            server.remove()


def as_replica(make_source, seconds, kills):
    source = make_source()
    replica = Server("clearway", "--log-bin", "--server-id=9", "--replica-net-timeout=5", "--collation-server=utf8mb4_general_ci", *([] if source.kind == "mariadb" else GTIDS))
    try:
        source.start()
        accounts(source)
        file, position = end_of(source)
        place = f"SOURCE_LOG_FILE='{file}', SOURCE_LOG_POS={position}" if source.kind == "mariadb" else "SOURCE_AUTO_POSITION=1"
        if source.kind == "mysql":
            run("RESET BINARY LOGS AND GTIDS", on=connect(source))
        run(f"CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT={source.port}, SOURCE_USER='repl', SOURCE_PASSWORD='secret', {place}, "
            "SOURCE_CONNECT_RETRY=1, SOURCE_RETRY_COUNT=1000, GET_SOURCE_PUBLIC_KEY=1", "START REPLICA", on=replica.start().connect())
        prepare(source)

        def kill(_, number):
            replica.kill()
            replica.start()

        lives(source, seconds, kills, kill)
        catch_up(replica, source)
        equal = compare(replica, source)
        replica.stop()
        replica.assert_sound()
        return equal
    finally:
        source.remove()
        replica.remove()


def sources():
    yield lambda: Server("clearway", "--log-bin", "--server-id=1", "--mysql-native-password=ON", "--collation-server=utf8mb4_general_ci", *GTIDS)
    if shutil.which("mariadbd") or os.path.exists("/usr/sbin/mariadbd"):
        yield lambda: Server("mariadb", "--server-id=1", "--log-bin=binlog", "--binlog-format=ROW")
    if os.environ.get("MYSQLD"):
        yield lambda: MySql("--server-id=1", *GTIDS)


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("role", choices=("source", "replica"))
    words.add_argument("--seconds", type=float)
    words.add_argument("--kills", type=int)
    given = words.parse_args()
    if given.role == "source":
        return 0 if as_source(given.seconds or 600, given.kills or 5) else 1
    results = [as_replica(make, given.seconds or 120, given.kills or 10) for make in sources()]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
