#!/usr/bin/env python3
"""Sends every statement of a file to two servers and lists those whose outcome differs: OK, or the number of the error.

    outcomes.py STATEMENTS REFERENCE_PORT PORT [--prelude FILE] [--known FILE] [--class CLASS]...

The file has one statement a line; lines that begin with `--` are comments, `-- class: X` names what follows. Each statement
runs on a connection of its own, in schema `outcomes`, which holds the prelude's tables as they were before it: what one
statement changes, the next does not see. Rows are not compared, the golden scripts do that. Error 1235 for what comes later
(stored programs, triggers, events, partitioning, spatial and full-text) is counted apart. The reference's outcomes are kept in
the file `--known`, if there is one, and not asked for again.
"""

import argparse
import collections
import json
import pathlib
import re
import sys

import pymysql

# Statements that end the server, or take the account away that this script connects with.
SKIPPED = re.compile(r"^\s*(SHUTDOWN|RESTART|CLONE\b)|SET PASSWORD|ALTER USER (USER|CURRENT_USER)\(\)|SET (GLOBAL|PERSIST)", re.I)

# What is accepted to answer 1235 for now.
LATER = re.compile(
    r"\b(PROCEDURE|FUNCTION|TRIGGER|EVENT|CALL|SIGNAL|PARTITION(S|ING)?|SPATIAL|FULLTEXT|GEOMETRY|POINT|LINESTRING|POLYGON"
    r"|GEOMCOLLECTION|GEOMETRYCOLLECTION|ST_\w+|MATCH\s*\(|DIAGNOSTICS)\b", re.I)

# Accounts and roles that the statements make.
USERS = ("u", "v", "r1", "r2", "r", "'u'@'h'", "a", "b", "`v`@`10.%`", "u2", "admin", "dev", "app", "''@localhost")

# What the statements make outside of schemas.
TIDY = ("STOP REPLICA", "RESET REPLICA ALL", "DROP TABLESPACE ts", "ALTER UNDO TABLESPACE u SET INACTIVE", "DROP UNDO TABLESPACE u",
        "DROP SERVER s", "SET RESOURCE GROUP USR_default", "DROP RESOURCE GROUP rg FORCE")

PRELUDE = """
CREATE TABLE parent (id INT PRIMARY KEY, v INT)
CREATE TABLE p (id INT PRIMARY KEY)
CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT, c INT, name VARCHAR(50), body TEXT, d DATETIME, INDEX ia (a))
CREATE TABLE t1 (id INT PRIMARY KEY, a INT, b INT, c INT, x INT)
CREATE TABLE t2 (id INT PRIMARY KEY, a INT, b INT, c INT, y INT)
CREATE TABLE u (id INT PRIMARY KEY, a INT, b INT)
INSERT INTO t VALUES (1, 1, 2, 3, 'n', 'b', '2020-01-01'), (2, 1, 5, 3, 'm', NULL, NULL)
INSERT INTO t1 VALUES (1, 1, 1, 1, 1), (2, 2, 2, 2, 2)
INSERT INTO t2 VALUES (1, 1, 1, 1, 1)
"""


def statements(path):
    kind = ""
    for line in pathlib.Path(path).read_text().splitlines():
        if line.startswith("-- class:"):
            kind = line.split(":", 1)[1].strip()
        elif line.strip() and not line.startswith("--"):
            yield kind, line


class Side:
    def __init__(self, port, prelude):
        self.port, self.prelude = port, prelude
        self.dirty = True

    def connect(self, **words):
        return pymysql.connect(host="127.0.0.1", port=self.port, user="root", autocommit=True, read_timeout=20,
                               ssl_disabled=True, local_infile=True, **words)

    def reset(self):
        with self.connect() as connection, connection.cursor() as cursor:
            cursor.execute("SET foreign_key_checks = 0")
            for statement in TIDY:
                try:
                    cursor.execute(statement)
                except pymysql.MySQLError:
                    pass  # There was none.
            for (name,) in self.rows(cursor, "SHOW DATABASES"):
                if name not in ("information_schema", "performance_schema", "mysql", "sys"):
                    cursor.execute(f"DROP DATABASE `{name}`")
            for user in USERS:
                for verb in ("USER", "ROLE"):
                    try:
                        cursor.execute(f"DROP {verb} {user}")
                    except pymysql.MySQLError:
                        pass  # There was none, or the server knows no roles.
            cursor.execute("CREATE DATABASE outcomes")
            cursor.execute("USE outcomes")
            for statement in self.prelude:
                cursor.execute(statement)

    @staticmethod
    def rows(cursor, statement):
        cursor.execute(statement)
        return cursor.fetchall()

    def run(self, statement):
        """None for OK, or (number, message)."""
        if self.dirty:
            self.reset()
            self.dirty = False
        self.dirty = not statement.lstrip(" (").upper().startswith(("SELECT", "SHOW", "DESC", "EXPLAIN", "HELP"))
        try:
            connection = self.connect(database="outcomes")
            try:
                with connection.cursor() as cursor:
                    cursor.execute(statement)
                    cursor.fetchall()
            finally:
                connection.close()
            return None
        except pymysql.MySQLError as error:
            return (error.args + ("",))[:2]


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("statements")
    options.add_argument("reference", type=int)
    options.add_argument("port", type=int)
    options.add_argument("--prelude")
    options.add_argument("--known", type=pathlib.Path)
    options.add_argument("--class", dest="classes", action="append")
    options = options.parse_args()
    prelude = pathlib.Path(options.prelude).read_text() if options.prelude else PRELUDE
    prelude = [line for line in prelude.splitlines() if line.strip()]
    reference, ours = Side(options.reference, prelude), Side(options.port, prelude)
    known = json.loads(options.known.read_text()) if options.known and options.known.exists() else {}
    total, later, kinds = 0, 0, collections.Counter()
    for kind, statement in statements(options.statements):
        if SKIPPED.search(statement) or (options.classes and kind not in options.classes):
            continue
        total += 1
        if statement not in known:
            known[statement] = reference.run(statement)
        wanted, got = known[statement], ours.run(statement)
        if (wanted or (0,))[0] == (got or (0,))[0]:
            continue
        if got and got[0] == 1235 and LATER.search(statement):
            later += 1
            kind = "later"
        else:
            kinds[kind] += 1
        print(f"{kind}\t{wanted[0] if wanted else 'ok'}\t{got[0] if got else 'ok'}\t{statement[:160]}\t{got[1] if got else ''}"
              f"\t{wanted[1] if wanted else ''}")
        sys.stdout.flush()
    if options.known:
        options.known.write_text(json.dumps(known))
    print(f"{total - later - sum(kinds.values())} of {total} agree, {later} answer 1235 for what comes later; "
          f"others by class: {dict(kinds.most_common())}", file=sys.stderr)
    sys.exit(1 if kinds else 0)


if __name__ == "__main__":
    main()
