"""The schema `sys`: its objects are those of MySQL, each view with its columns, and all can be read and called."""

import pathlib
import re

import pytest
from harness import Server, rows, run, value

pytestmark = pytest.mark.usefixtures("clearway_only")

# What a MySQL 9.7 says of its own in information_schema.COLUMNS.
RECORDED = pathlib.Path(__file__).with_name("sys_columns.txt")

# Their types hang from the version's length, and from a column of information_schema that is wider there.
OTHER = {("version", "mysql_version"), ("schema_auto_increment_columns", "auto_increment_ratio")}


def recorded():
    tables = {}
    for line in RECORDED.read_text().splitlines():
        if line.startswith(" "):
            columns.append(tuple(line.strip().split(" ", 1)))
        else:
            columns = tables[line] = []
    return tables


def columns_of(db, table):
    found = rows(db, "SELECT column_name, column_type, is_nullable FROM information_schema.columns "
                     "WHERE table_schema = 'sys' AND table_name = %s ORDER BY ordinal_position", [table])
    return [(name, kind + (" not null" if nullable == "NO" else "")) for name, kind, nullable in found]


def width_aside(kind):
    """Sums and quotients of signed BIGINT are one digit wider here."""
    found = re.fullmatch(r"decimal\((\d+),(\d+)\)(.*)", kind)
    return (f"decimal(n,{found[2]}){found[3]}", int(found[1])) if found else (kind, 0)


def is_as(ours, theirs):
    (our_kind, our_width), (kind, width) = width_aside(ours[1]), width_aside(theirs[1])
    return ours[0] == theirs[0] and our_kind == kind and our_width - width in (0, 1)


def test_views_have_the_columns_of_mysql(db):
    differences = []
    tables = recorded()
    listed = {name for (name,) in rows(db, "SHOW TABLES FROM sys")}
    assert listed == set(tables)
    for table, columns in tables.items():
        for ours, theirs in zip(columns_of(db, table), columns, strict=True):
            if not is_as(ours, theirs) and (table, theirs[0]) not in OTHER:
                differences.append((table, ours, theirs))
    assert differences == []


def test_every_view_can_be_read(db):
    for table in recorded():
        rows(db, f"SELECT * FROM sys.`{table}`")


def test_routines_belong_to_an_account_that_nobody_uses(db):
    of = "FROM information_schema.routines WHERE routine_schema = 'sys'"
    assert rows(db, f"SELECT DISTINCT definer, security_type {of}") == (("mysql.sys@localhost", "INVOKER"),)
    assert rows(db, f"SELECT routine_type, COUNT(*) {of} GROUP BY 1 ORDER BY 1") == (("FUNCTION", 22), ("PROCEDURE", 27))
    assert [row[0] for row in rows(db, "SHOW GRANTS FOR `mysql.sys`@localhost")] == [
        "GRANT USAGE ON *.* TO `mysql.sys`@`localhost`",
        "GRANT AUDIT_ABORT_EXEMPT,FIREWALL_EXEMPT,SYSTEM_USER ON *.* TO `mysql.sys`@`localhost`",
        "GRANT TRIGGER ON `sys`.* TO `mysql.sys`@`localhost`",
        "GRANT SELECT ON `sys`.`sys_config` TO `mysql.sys`@`localhost`",
    ]


def test_options_remember_who_has_set_them(db):
    run("INSERT INTO sys.sys_config (variable, value) VALUES ('test.option', '1')", on=db)
    assert value(db, "SELECT sys.sys_get_config('test.option', '2')") == "1"
    assert value(db, "SELECT sys.sys_get_config('test.other', '2')") == "2"
    assert value(db, "SELECT set_by FROM sys.sys_config WHERE variable = 'test.option'") is None
    run("DELETE FROM sys.sys_config WHERE variable = 'test.option'", on=db)


def test_a_schema_that_was_dropped_does_not_come_back():
    server = Server("clearway").start()
    try:
        db = server.connect()
        run("DROP DATABASE sys", on=db)
        db.close()
        server.stop()
        server.start()
        assert value(server.connect(), "SELECT COUNT(*) FROM information_schema.schemata WHERE schema_name = 'sys'") == 0
    finally:
        server.remove()
