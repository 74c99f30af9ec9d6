"""The audit log: what is in it and what is not, its policies, accounts, rotation, and disks that take nothing."""

import json

import pymysql
import pytest
from pymysql.constants import COMMAND
from harness import code_of, rows, run, status, value, wait_until


@pytest.fixture
def audited(start, clearway_only):
    server = start()
    run("INSTALL PLUGIN audit_log SONAME 'audit_log.so'", on=server.connect())
    return server


def entries(server, name="audit.log"):
    path = server.datadir / name
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def await_query(server, text):
    found = lambda: [e for e in entries(server) if e.get("general_data", {}).get("query") == text]
    return wait_until(found, 10, text)


def test_off_by_default(start, clearway_only):
    server = start()
    c = server.connect(autocommit=True)
    assert code_of(c, "SELECT @@audit_log_policy") == 1193
    assert not rows(c, "SHOW STATUS LIKE 'Audit_log%'")
    assert not (server.datadir / "audit.log").exists()


def test_statements_and_connections(audited):
    c = audited.connect(autocommit=True)
    run("CREATE DATABASE d", on=c)
    assert code_of(c, "SELECT * FROM d.nothing") == 1146
    assert code_of(c, "SELEC 'hidden'") == 1064
    with pytest.raises(pymysql.err.OperationalError):
        audited.connect(user="nobody", password="hidden")
    number = value(c, "SELECT CONNECTION_ID()")
    run("SELECT 'the end'", on=c)
    last = await_query(audited, "SELECT 'the end'")[0]
    assert list(last) == ["timestamp", "id", "class", "event", "connection_id", "account", "login", "general_data"]
    assert (last["class"], last["event"], last["connection_id"]) == ("general", "status", number)
    assert last["account"] == {"user": "root", "host": "localhost"}
    assert last["login"] == {"user": "root", "os": "", "ip": "127.0.0.1", "proxy": ""}
    assert last["general_data"] == {"command": "Query", "sql_command": "select", "query": "SELECT 'the end'", "status": 0}
    failed = await_query(audited, "SELECT * FROM d.nothing")[0]
    assert failed["general_data"]["status"] == 1146
    assert [e["general_data"]["status"] for e in await_query(audited, "")].count(1064) == 1
    logins = [e for e in entries(audited) if e["class"] == "connection" and e["event"] == "connect"]
    assert [(e["login"]["user"], e["connection_data"]["status"]) for e in logins] == [("root", 0), ("nobody", 1045)]
    c.close()
    wait_until(lambda: [e for e in entries(audited) if e["event"] == "disconnect" and e["connection_id"] == number], 10, "the end of it")


def test_passwords_never_appear(audited):
    c = audited.connect(autocommit=True)
    run("CREATE USER u IDENTIFIED BY 'hidden'", "ALTER USER u IDENTIFIED BY 'hidden'", "SET PASSWORD FOR u = 'hidden'", on=c)
    run("PREPARE p FROM 'ALTER USER u IDENTIFIED BY \"hidden\"'", "EXECUTE p", on=c)
    assert code_of(c, "CREATE USER u IDENTIFIED BY 'hidden'") == 1396
    assert code_of(c, "CREATE USER x IDENTIFED BY 'hidden'") == 1064
    run("SELECT 'the end'", on=c)
    await_query(audited, "SELECT 'the end'")
    assert "hidden" not in (audited.datadir / "audit.log").read_text()


def test_what_is_taken(audited):
    c = audited.connect(autocommit=True)
    run("CREATE USER u@localhost", "SET GLOBAL audit_log_exclude_accounts = 'u@localhost'", on=c)
    assert code_of(c, "SET GLOBAL audit_log_include_accounts = 'root@localhost'") == 1231
    assert code_of(c, "SET GLOBAL audit_log_exclude_accounts = 'nobody'") == 1231
    run("SELECT 'of u'", on=audited.connect(user="u"))
    run("SELECT 'of root'", on=c)
    await_query(audited, "SELECT 'of root'")
    assert not [e for e in entries(audited) if e["account"]["user"] == "u"]
    assert int(status(c, "Audit_log_events_filtered")) >= 2
    run("SET GLOBAL audit_log_exclude_accounts = ''", "SET GLOBAL audit_log_include_commands = 'select'", on=c)
    run("DO 1", "SELECT 'one'", on=c)
    await_query(audited, "SELECT 'one'")
    run("SET GLOBAL audit_log_include_commands = ''", "SET GLOBAL audit_log_statement_policy = ERRORS", on=c)
    run("SELECT 'good'", on=c)
    assert code_of(c, "SELECT bad") == 1054
    await_query(audited, "SELECT bad")
    run("SET GLOBAL audit_log_policy = LOGINS", on=c)
    assert code_of(c, "SELECT worse") == 1054
    audited.connect(user="u").close()
    wait_until(lambda: [e for e in entries(audited) if e["account"]["user"] == "u"], 10, "the login")
    texts = [e["general_data"]["query"] for e in entries(audited) if "general_data" in e]
    assert not {"DO 1", "SELECT 'good'", "SELECT worse"} & set(texts)
    run("UNINSTALL PLUGIN audit_log", on=c)
    assert code_of(c, "SELECT @@audit_log_policy") == 1193


def test_rotation(audited):
    c = audited.connect(autocommit=True)
    (audited.datadir / "audit.log").rename(audited.datadir / "moved")
    run("SELECT 'before'", "SET GLOBAL audit_log_flush = ON", "SELECT 'after'", on=c)
    assert value(c, "SELECT @@audit_log_flush") == 0
    await_query(audited, "SELECT 'after'")
    assert [e for e in entries(audited, "moved") if e.get("general_data", {}).get("query") == "SELECT 'before'"]
    run("SET GLOBAL audit_log_rotate_on_size = 4096", on=c)
    for at in range(40):
        run(f"SELECT '{'x' * 200}', {at}", on=c)
    wait_until(lambda: len(list(audited.datadir.glob("audit.2*.log"))) > 0, 10, "a file that was left")


def test_hostile_texts(audited):
    c = audited.connect(autocommit=True, use_unicode=False)
    c._execute_command(COMMAND.COM_QUERY, b"SELECT 'half \xe2\x82', '\x00', 7")
    c._read_query_result()
    run("SELECT '" + "y" * (1 << 20) + "'", on=c)
    run("SELECT 'the end'", on=c)
    await_query(audited, "SELECT 'the end'")
    long = [e["general_data"] for e in entries(audited) if e.get("general_data", {}).get("query", "").startswith("SELECT 'yyy")]
    assert len(long[0]["query"]) == 65536 and long[0]["query_length"] == (1 << 20) + 9


@pytest.mark.parametrize("strategy", ["ASYNCHRONOUS", "PERFORMANCE"])
def test_a_disk_that_takes_nothing(start, clearway_only, strategy):
    server = start("--loose-audit-log-file=/dev/full", f"--loose-audit-log-strategy={strategy}")
    c = server.connect(autocommit=True)
    run("INSTALL PLUGIN audit_log SONAME 'audit_log.so'", on=c)
    for _ in range(200):
        run(f"SELECT '{'x' * 20000}'", on=c)
    wait_until(lambda: int(status(c, "Audit_log_events_lost")) > 100, 10, "what is lost is counted")
