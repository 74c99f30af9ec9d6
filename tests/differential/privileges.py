"""Who may do what: a matrix of statements by what an account was granted, sent to a real MySQL and to Clearway.

    privileges.py MYSQL_PORT CLEARWAY_PORT [--kinds WORD] [--levels WORD] [--sample N --seed S] [--record FILE]
    privileges.py FILE CLEARWAY_PORT ...                                                       FILE has MySQL's answers of before
    privileges.py MYSQL_PORT CLEARWAY_PORT --lists [--levels WORD]                             what lists show, row by row

Each cell is one statement of an account `m` with the grants of one level. What MySQL refuses for want of a privilege and Clearway does not is
over-permissive, the other way round under-permissive, and what both refuse by different numbers is another error. Cells are told by
statement, with the levels at which they differ. The servers are root's without a password, and their accounts m, plain, sys, other and
schemas p1, p2, p3 are made anew."""

import argparse
import collections
import json
import pathlib
import random
import re
import sys

import pymysql

import privilege_cases as cases

# Numbers that say that a privilege, a role or the right account is missing.
DENIED = {1044, 1045, 1095, 1142, 1143, 1227, 1345, 1356, 1370, 1419, 1698, 1862, 3530, 3836, 3879, 3891, 3892, 4006, 4007, 6038}
# What is answered where a feature has an issue of its own.
ABSENT = {1235}


class Side:
    """One server: root's connection, those of plain and sys, and m's."""

    def __init__(self, port):
        self.port = port
        self.root = self.connect("root")
        self.admin("INSTALL PLUGIN clone SONAME 'mysql_clone.so'", *cases.OBJECTS.strip().splitlines())
        self.plain, self.sys = self.connect("plain"), self.connect("sys")
        self.m = None

    def connect(self, user):
        return pymysql.connect(host="127.0.0.1", port=self.port, user=user, charset="utf8mb4", autocommit=True, ssl_disabled=True, read_timeout=60)

    def admin(self, *statements):
        with self.root.cursor() as cursor:
            for statement in statements:
                try:
                    cursor.execute(statement)
                except pymysql.MySQLError as e:
                    if e.args[0] not in (1008, 1049, 1051, 1125, 1126, 1141, 1147):
                        print(f"port {self.port}: {statement}: {e}", file=sys.stderr)

    def level(self, grants):
        """m anew, with these grants."""
        if self.m is not None:
            self.m.close()
        self.admin("DROP USER IF EXISTS m", "SET GLOBAL partial_revokes = OFF", "CREATE USER m", *grants)
        self.m = self.connect("m")

    def again(self):
        """What a statement left in the session is gone, from the server, too: a client's goodbye has no answer."""
        former = self.m.thread_id()
        self.m.close()
        with self.root.cursor() as cursor:
            while cursor.execute("SELECT 1 FROM information_schema.PROCESSLIST WHERE ID = %s", (former,)):
                pass
        self.m = self.connect("m")

    def run(self, sql, undo):
        """0 when it is allowed, else the error's number."""
        sql = sql.format(plain=self.plain.thread_id(), sys=self.sys.thread_id(), root=self.root.thread_id())
        code = 0
        try:
            with self.m.cursor() as cursor:
                cursor.execute(sql)
        except pymysql.MySQLError as e:
            code = e.args[0]
            if code in (0, 2006, 2013):
                self.m = self.connect("m")
        if code == 0:
            if "@" in undo:
                self.again()
            elif undo == ["REBUILD"]:
                self.admin("CREATE USER IF NOT EXISTS sys, other, boss", "GRANT SYSTEM_USER ON *.* TO sys", "GRANT ALL ON *.* TO boss WITH GRANT OPTION")
            else:
                self.admin(*undo)
        return code


    def rows(self, sql):
        """The rows as texts, or the error's number."""
        try:
            with self.m.cursor() as cursor:
                cursor.execute(sql)
                return sorted(" | ".join(str(v).lower() for v in row[:5]) for row in cursor.fetchall())
        except pymysql.MySQLError as e:
            return [str(e.args[0])]

    def end(self):
        self.m.close()
        self.admin("DROP USER IF EXISTS m, plain, sys, other, other2, boss", "DROP ROLE IF EXISTS r1, r2, rs, rnew", "DROP DATABASE IF EXISTS p1",
                   "DROP DATABASE IF EXISTS p2", "DROP DATABASE IF EXISTS p3", "DROP DATABASE IF EXISTS pq")


def verdict(mysql, clearway, sql):
    if mysql == clearway:
        return "same"
    # A table of the server's own that is not there tells nothing, whoever asks.
    if clearway in ABSENT or (clearway == 1146 and re.search(r"(FROM|TABLE|UPDATE) (performance_schema|mysql)\.", sql)):
        return "absent"
    if (mysql in DENIED) == (clearway in DENIED):
        return "other"
    return "over" if mysql in DENIED else "under"


def tell(count, found):
    for what in ("over", "under", "other", "absent"):
        told = sorted((cell for cell in found.items() if cell[0][0] == what), key=lambda cell: cell[0][1:3])
        print(f"\n== {what}: {count[what]} cells")
        for (_, kind, sql, mysql, clearway), at in told if what != "absent" else []:
            print(f"{len(at):4} {kind} | {sql} | mysql {mysql} clearway {clearway} | {'; '.join(at[:6])}{' ...' if len(at) > 6 else ''}")
    total = sum(count.values())
    print(f"\n{total} cells, {count['same'] / total:.2%} the same, " + ", ".join(f"{n} {what}" for what, n in sorted(count.items()) if what != "same"))


def answers(side, levels, statements):
    """{level: {statement: answer}}"""
    all = {}
    for name, grants in levels:
        side.level(grants)
        all[name] = {sql: side.run(sql, undo) for _, sql, undo in statements}
    side.end()
    return all


def compare_lists(sides, levels):
    different = 0
    for name, grants in levels:
        for side in sides:
            side.level(grants)
        for sql in cases.LISTS.strip().splitlines():
            mysql, clearway = (set(side.rows(sql)) for side in sides)
            if mysql != clearway:
                different += 1
                print(f"{name}: {sql}\n   only MySQL {sorted(mysql - clearway)[:5]}\n   only Clearway {sorted(clearway - mysql)[:5]}")
    print(f"{len(levels) * len(cases.LISTS.strip().splitlines())} lists, {different} different")
    for side in sides:
        side.end()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mysql", help="the port of a MySQL, or a file of its answers")
    parser.add_argument("clearway", type=int, nargs="?")
    parser.add_argument("--record", help="writes MySQL's answers to this file")
    parser.add_argument("--kinds", default="", help="only kinds or statements with this word")
    parser.add_argument("--levels", default="", help="only levels with this word")
    parser.add_argument("--sample", type=int, help="so many levels, by chance")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--lists", action="store_true", help="compares the rows of lists")
    options = parser.parse_args()
    statements = [s for s in cases.statements() if options.kinds in s[0] + " | " + s[1]]
    levels = [level for level in cases.levels() if options.levels in level[0]]
    if options.sample:
        levels = random.Random(options.seed).sample(levels, min(options.sample, len(levels)))
    if options.lists:
        return compare_lists([Side(int(options.mysql)), Side(options.clearway)], levels)
    if options.mysql.isdigit():
        mysql = answers(Side(int(options.mysql)), levels, statements)
    else:
        mysql = json.loads(pathlib.Path(options.mysql).read_text())
    if options.record:
        # Beside what it has of other kinds and levels.
        file = pathlib.Path(options.record)
        known = json.loads(file.read_text()) if file.exists() else {}
        file.write_text(json.dumps({**known, **{name: {**known.get(name, {}), **told} for name, told in mysql.items()}}))
    if options.clearway is None:
        return
    clearway = answers(Side(options.clearway), levels, statements)
    count, found = collections.Counter(), collections.defaultdict(list)
    for name, _ in levels:
        for kind, sql, _ in statements:
            if sql not in mysql.get(name, ()):
                continue
            cell = mysql[name][sql], clearway[name][sql]
            what = verdict(*cell, sql)
            count[what] += 1
            if what != "same":
                found[what, kind, sql, *cell].append(name)
    tell(count, found)


if __name__ == "__main__":
    main()
