"""The slow query log and the general query log: MySQL's formats in files and tables, what is left out, rotation, and disks that take nothing."""

import os
import re

import pymysql
import pytest
from harness import code_of, rows, run, status, value, wait_until

STAMP = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z"
# As MySQL 8.4 writes an entry, up to the statement's text.
SLOW = re.compile(
    rf"# Time: ({STAMP})\n"
    r"# User@Host: (\S+\[\S+\] @ \S* \[\S*\])  Id: +(\d+)\n"
    r"# Query_time: (\d+\.\d{6})  Lock_time: (\d+\.\d{6}) Rows_sent: (\d+)  Rows_examined: (\d+)(.*)\n"
    r"((?:use \w+;\n)?)SET timestamp=(\d+);\n"
    r"((?:(?!# Time: )[^\n]*\n)*)"
)
HEADING = re.compile(r"\S+, Version: \S+ \(.*\)\. started with:\nTcp port: \d+  Unix socket: \S+\nTime                 Id Command    Argument\n")


@pytest.fixture
def logging(start, clearway_only):
    return start("--slow-query-log", "--long-query-time=0", "--general-log", "--log-output=FILE,TABLE")


def file_of(connection, name):
    with open(value(connection, f"SELECT @@GLOBAL.{name}"), encoding="utf-8", errors="replace") as file:
        return file.read()


def slow_texts(connection):
    return [entry[-1].rstrip("\n").removesuffix(";") for entry in SLOW.findall(file_of(connection, "slow_query_log_file"))]


def await_text(connection, name, text):
    wait_until(lambda: text in file_of(connection, name), 10, f"{text} in {name}")
    return file_of(connection, name)


def test_an_entry_reads_as_mysql_writes_it(logging):
    c = logging.connect(autocommit=True)
    run("CREATE DATABASE d", "USE d", "CREATE TABLE t (id INT PRIMARY KEY, k INT)", "INSERT INTO t VALUES (1, 1), (2, 2), (3, 3)", on=c)
    run("SELECT * FROM t ORDER BY k", "SELECT 'two\nlines'", "SELECT 'the end'", on=c)
    text = await_text(c, "slow_query_log_file", "SELECT 'the end'")
    heading = HEADING.match(text)
    assert heading
    entries = SLOW.findall(text, heading.end())
    assert sum(len(m.group(0)) for m in SLOW.finditer(text, heading.end())) == len(text) - heading.end(), "nothing but entries"
    by_text = {entry[-1].rstrip("\n"): entry for entry in entries}
    sorted_rows = by_text["SELECT * FROM t ORDER BY k;"]
    assert sorted_rows[1] == "root[root] @ localhost [127.0.0.1]"
    assert (sorted_rows[5], sorted_rows[6]) == ("3", "6")
    assert "SELECT 'two\nlines';" in by_text
    assert [entry[8] for entry in entries if entry[8]] == ["use d;\n"], "said once"


def test_extra_figures(logging):
    c = logging.connect(autocommit=True)
    run("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)", "INSERT INTO d.t VALUES (1), (2)", "SET GLOBAL log_slow_extra = ON", on=c)
    assert code_of(c, "INSERT INTO d.t VALUES (1)") == 1062
    run("SELECT * FROM d.t", on=c)
    text = await_text(c, "slow_query_log_file", "SELECT * FROM d.t")
    extra = {entry[-1].rstrip(";\n"): entry[7] for entry in SLOW.findall(text)}
    figures = r" Thread_id: \d+ Errno: (\d+) Killed: 0 Bytes_received: (\d+) Bytes_sent: (\d+) Read_first: (\d+) Read_last: 0 Read_key: (\d+)"
    figures += r" Read_next: 0 Read_prev: 0 Read_rnd: 0 Read_rnd_next: (\d+) Sort_merge_passes: 0 Sort_range_count: 0 Sort_rows: 0"
    figures += rf" Sort_scan_count: 0 Created_tmp_disk_tables: 0 Created_tmp_tables: 0 Start: {STAMP} End: {STAMP}"
    read = re.fullmatch(figures, extra["SELECT * FROM d.t"])
    assert read and read.group(1, 2, 4, 5, 6) == ("0", "22", "1", "1", "3") and int(read.group(3)) > 50
    assert re.fullmatch(figures, extra["INSERT INTO d.t VALUES (1)"]).group(1) == "1062"


def test_the_general_log(logging):
    c = logging.connect(autocommit=True)
    run("CREATE DATABASE d", "SELECT 1", on=c)
    c.select_db("d")
    c.ping(reconnect=False)
    assert code_of(c, "SELEC") == 1064
    with pytest.raises(pymysql.err.OperationalError):
        logging.connect(user="nobody", password="x")
    run("PREPARE p FROM 'SELECT ?'", "SET @a = 'it''s'", "EXECUTE p USING @a", "SELECT 'the end'", on=c)
    text = await_text(c, "general_log_file", "SELECT 'the end'")
    heading = HEADING.match(text)
    lines = re.findall(rf"{STAMP}\t +(\d+) (Query|Connect|Init DB|Ping|Prepare|Execute|Quit)\t(.*)\n", text[heading.end():])
    own = str(c.thread_id())
    told = [(command, argument) for connection, command, argument in lines if connection == own]
    assert ("Connect", "root@localhost on  using TCP/IP") in told or ("Connect", "root@localhost on  using SSL/TLS") in told
    for entry in (("Query", "CREATE DATABASE d"), ("Init DB", "d"), ("Ping", ""), ("Query", "PREPARE p FROM ..."), ("Prepare", "SELECT ?"),
                  ("Execute", "SELECT 'it\\'s'")):
        assert entry in told, entry
    assert not any("SELEC" == argument for _, argument in told), "what cannot be read may hold a password"
    assert any(argument.startswith("Access denied for user 'nobody'") for _, command, argument in lines if command == "Connect")


def test_passwords_never_appear(logging):
    c = logging.connect(autocommit=True)
    run("CREATE USER u IDENTIFIED BY 'h1dden'", "ALTER USER u IDENTIFIED BY 'h1dden'", "SET PASSWORD FOR u = 'h1dden'",
        "PREPARE p FROM \"ALTER USER u IDENTIFIED BY 'h1dden'\"", "EXECUTE p",
        "CREATE SERVER s FOREIGN DATA WRAPPER mysql OPTIONS (USER 'u', PASSWORD 'h1dden')",
        "CHANGE REPLICATION SOURCE TO SOURCE_HOST = 'h', SOURCE_PASSWORD = 'h1dden' FOR CHANNEL 'c'",
        "CREATE DATABASE d", "CREATE PROCEDURE d.p() BEGIN CREATE USER v IDENTIFIED BY 'h1dden'; SET PASSWORD FOR v = 'h1dden'; END",
        "SELECT 'the end'", on=c)
    assert code_of(c, "CREATE USER v IDENTIFIED BY 'h1dden' WITH NONSENSE") == 1064
    assert code_of(c, "SET PASSWORD FOR nobody = 'h1dden'") == 1133
    assert code_of(c, "ALTER USER nobody IDENTIFIED BY 'h1dden'") == 1396
    assert code_of(c, "SET @x = 1, password = 'h1dden'") == 1193
    assert code_of(c, "CREATE EVENT d.e ON SCHEDULE EVERY 1 DAY DISABLE DO ALTER USER v IDENTIFIED BY 'h1dden'") == 0
    for name in ("general_log_file", "slow_query_log_file"):
        text = await_text(c, name, "SELECT 'the end'")
        assert "h1dden" not in text and "<secret>" in text
    assert value(c, "SELECT COUNT(*) FROM mysql.general_log WHERE argument LIKE '%h1dden%' AND argument NOT LIKE '%SELECT COUNT%'") == 0


def test_tables_hold_the_same(logging):
    c = logging.connect(autocommit=True)
    run("SELECT 'a \"quoted\" \\\\ text\n'", on=c)
    [found] = rows(c, "SELECT user_host, query_time, rows_sent, sql_text, thread_id, server_id FROM mysql.slow_log WHERE sql_text LIKE 'SELECT ''a%'")
    assert found[0] == "root[root] @ localhost [127.0.0.1]" and found[2] == 1 and found[4] == c.thread_id() and found[5] == 1
    assert found[3] == b"SELECT 'a \"quoted\" \\\\ text\n'"
    [found] = rows(c, "SELECT command_type, argument FROM mysql.general_log WHERE argument LIKE 'SELECT ''a%'")
    assert found == ("Query", b"SELECT 'a \"quoted\" \\\\ text\n'")
    run("TRUNCATE TABLE mysql.slow_log", "TRUNCATE TABLE mysql.general_log", on=c)
    assert value(c, "SELECT COUNT(*) FROM mysql.general_log WHERE argument LIKE 'SELECT ''a%'") == 0


def test_variables_are_obeyed(start, clearway_only):
    server = start()
    c = server.connect(autocommit=True)
    run("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, k INT)", "INSERT INTO d.t VALUES (1, 1), (2, 2)", on=c)
    run("SET GLOBAL slow_query_log = ON", "SELECT 'not slow'", "SET SESSION long_query_time = 0.000001", "SELECT 'slow'", on=c)
    run("SET SESSION long_query_time = 100", "SET GLOBAL log_queries_not_using_indexes = ON", "SELECT k FROM d.t", "SELECT k FROM d.t WHERE id = 1", on=c)
    run("SET GLOBAL log_queries_not_using_indexes = OFF", "SET SESSION long_query_time = 0", "ANALYZE TABLE d.t", on=c)
    run("SET SESSION min_examined_row_limit = 2", "SELECT 'few'", "SELECT 'many' FROM d.t", "SET SESSION min_examined_row_limit = 0", on=c)
    run("SET GLOBAL log_slow_admin_statements = ON", "ANALYZE TABLE d.t /* told */", "SET GLOBAL log_output = 'NONE'", "SELECT 'nowhere'", on=c)
    run("SET GLOBAL log_output = 'FILE'", "SELECT 'the end'", on=c)
    await_text(c, "slow_query_log_file", "SELECT 'the end'")
    texts = slow_texts(c)
    for text in ("SELECT 'slow'", "SELECT k FROM d.t", "SELECT 'many' FROM d.t", "ANALYZE TABLE d.t /* told */"):
        assert text in texts, text
    for text in ("SELECT 'not slow'", "SELECT k FROM d.t WHERE id = 1", "ANALYZE TABLE d.t", "SELECT 'few'", "SELECT 'nowhere'"):
        assert text not in texts, text
    assert int(status(c, "Slow_queries")) >= 3
    run("SET GLOBAL general_log = ON", "SET SESSION sql_log_off = ON", "SELECT 'unseen'", "SET SESSION sql_log_off = OFF", "SELECT 'seen'", on=c)
    assert "unseen" not in await_text(c, "general_log_file", "SELECT 'seen'")


def test_values_that_no_variable_takes(server, clearway_only):
    c = server.connect(autocommit=True)
    for statement in ("SET GLOBAL log_output = ''", "SET GLOBAL log_output = 'X'", "SET GLOBAL slow_query_log_file = ''",
                      "SET GLOBAL slow_query_log_file = '/nosuch/directory/f'", "SET GLOBAL general_log_file = NULL"):
        assert code_of(c, statement) == 1231, statement
    home = value(c, "SELECT @@datadir")
    files = [entry.name for entry in os.scandir(home) if entry.is_file() and not entry.name.endswith((".log", ".err"))]
    assert files
    for name in ["a.cnf", "/tmp/a.INI", *files, f"../{os.path.basename(home.rstrip('/'))}/{files[0]}"]:
        assert code_of(c, f"SET GLOBAL general_log_file = '{name}'") == 1231, name
    assert code_of(c, "SET SESSION slow_query_log = ON") == 1229
    run("SET GLOBAL log_output = 'TABLE,none'", on=c)
    assert value(c, "SELECT @@log_output") == "NONE,TABLE"
    run("SET GLOBAL log_output = DEFAULT", on=c)


def test_rotation_by_rename(logging):
    c = logging.connect(autocommit=True)
    for log in ("general", "slow"):
        name = "general_log_file" if log == "general" else "slow_query_log_file"
        run(f"SELECT 'before {log}'", on=c)
        old = await_text(c, name, f"'before {log}'")
        path = value(c, f"SELECT @@GLOBAL.{name}")
        logging.root.joinpath("old").unlink(missing_ok=True)
        logging.root.joinpath("old").hardlink_to(path)
        os.unlink(path)
        run(f"FLUSH {log.upper()} LOGS", f"SELECT 'after {log}'", on=c)
        wait_until(lambda: os.path.exists(path), 10, "the new file")
        new = await_text(c, name, f"'after {log}'")
        assert HEADING.match(new) and f"'before {log}'" not in new
        assert logging.root.joinpath("old").read_text().startswith(old[:50])


def test_a_disk_that_takes_nothing_stops_nobody(start, clearway_only):
    server = start("--general-log", "--general-log-file=/dev/full")
    c = server.connect(autocommit=True)
    for n in range(100):
        assert value(c, f"SELECT {n}") == n
    wait_until(lambda: int(status(c, "Clearway_log_entries_lost")) >= 100, 10, "they are counted")
    run("SET GLOBAL general_log = OFF", on=c)
    assert server.process.poll() is None


def test_a_pipe_that_nobody_reads_stops_nobody(start, clearway_only, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    server = start("--general-log", f"--general-log-file={pipe}")
    c = server.connect(autocommit=True)
    for n in range(100):
        assert value(c, f"SELECT {n}") == n
    wait_until(lambda: int(status(c, "Clearway_log_entries_lost")) >= 100, 10, "they are counted")
    assert code_of(c, f"SET GLOBAL slow_query_log_file = '{pipe}'") == 1231
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        text = b""

        def comes():
            nonlocal text
            run("SELECT 'with a reader'", on=c)
            try:
                text += os.read(reader, 1 << 16)
            except BlockingIOError:
                pass
            return b"'with a reader'" in text

        wait_until(comes, 10, "what a reader takes")
        # A reader that stopped: the pipe is full some time, and the statements go on.
        lost = int(status(c, "Clearway_log_entries_lost"))
        wait_until(lambda: value(c, f"SELECT '{'x' * 50_000}'") and int(status(c, "Clearway_log_entries_lost")) > lost, 20, "a full pipe")
    finally:
        os.close(reader)
    run("SET GLOBAL general_log = OFF", on=c)


def test_offline_mode(server, clearway_only):
    admin = server.connect(autocommit=True)
    run("CREATE USER plain IDENTIFIED BY 'x'", "CREATE USER helper IDENTIFIED BY 'x'", "GRANT CONNECTION_ADMIN ON *.* TO helper", on=admin)
    plain, helper = (server.connect(user=name, password="x") for name in ("plain", "helper"))
    run("SET GLOBAL offline_mode = ON", on=admin)
    try:
        with pytest.raises(pymysql.err.MySQLError):
            value(plain, "SELECT 1")
        assert value(helper, "SELECT 1") == 1
        with pytest.raises(pymysql.err.MySQLError) as refused:
            server.connect(user="plain", password="x")
        assert refused.value.args == (3032, "The server is currently in offline mode")
        server.connect(user="helper", password="x").close()
    finally:
        run("SET GLOBAL offline_mode = OFF", "DROP USER plain, helper", on=admin)
    assert code_of(admin, "RESTART") == 3707
