#!/usr/bin/env python3
"""Random schemas, data, queries and changes against two servers: reports where rows, columns, counts, warnings or errors differ.

    statements.py --left 33061 --right 3310 --count 20000 --seed 7

Left is the real MySQL, right is Clearway; both on 127.0.0.1, user root without password. Statements come in cases: a few tables, then
queries, changes and DDL on them. A difference is made smaller, the failing statement as well as those before it, and printed as a script.
The exit status is 1 when there was a difference that KNOWN does not explain."""

import argparse
import collections
import itertools
import random
import re
import sys

import pymysql

import expressions
import nested
import plans
from binary import Bound
from known import explained
from queries import Queries
from changes import Changes
from schema import Table
from servers import Server, differs, show
from structures import View, add_foreign_key, scripts

MODES = [None, None, None, "", "ONLY_FULL_GROUP_BY,STRICT_ALL_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE", "ONLY_FULL_GROUP_BY",
         "ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,PIPES_AS_CONCAT,NO_UNSIGNED_SUBTRACTION", "ONLY_FULL_GROUP_BY,ALLOW_INVALID_DATES"]

# A literal behind a comparison, alone.
COMPARED = re.compile(r"(?<=[<>=] )(?:\d+\b(?!\.)|'(?:[^'\\]|\\.)*'(?= |\)|$)(?! COLLATE))")
# Values for parameters, as literals and as the protocol has them.
GIVEN = ["1", "-3", "7.5", "'2'", "NULL", "'abc'", "'2024-02-29'", "1e1"]
BOUND = [1, 0, -3, 255, 7.5, "2", "abc", "2024-02-29", "é", None, b"a"]

READS = re.compile(r"SELECT|WITH|TABLE|\(|SHOW|VALUES|EXECUTE")


class Case:
    """One database and the statements that came so far: each a (text, whether the order of its rows counts)."""

    def __init__(self, rng):
        self.rng = rng
        self.mode = rng.choice(MODES)
        if self.mode == "":
            self.mode = "ONLY_FULL_GROUP_BY"
        self.tables = [Table(rng, name) for name in "tuv"[:rng.randrange(1, 4)]]
        self.linked = False
        for i, child in enumerate(self.tables):
            if rng.random() < 0.2:
                self.linked |= add_foreign_key(rng, child, rng.choice(self.tables[:i + 1]))
        self.queries, self.changes = Queries(rng, self.tables), Changes(rng, self.tables)
        self.history = []

    def statements(self, count):
        rng = self.rng
        for table in self.tables:
            yield table.create(), True
        for table in self.tables:
            for _ in range(3):
                yield self.changes.insert(table, rows=rng.randrange(2, 6)), True
        yield from self.more_structures()
        while count > 0:
            count -= 1
            pick = rng.random()
            if pick < 0.62:
                yield self.queries.query()
            elif pick < 0.66:
                yield from self.prepared()
                count -= 2
            elif pick < 0.69:
                for statement in scripts(rng, self.changes):
                    yield statement, True
                    count -= 1
            else:
                yield from self.changed()
                count -= 1

    def more_structures(self):
        rng = self.rng
        if rng.random() < 0.25:
            table = rng.choice(self.tables)
            where = self.changes.where(table).text() if rng.random() < 0.6 else ""
            view = View(rng, "w1", table, where)
            yield view.create(), True
            self.tables.append(view)

    def changed(self):
        table, statement = self.changes.change()
        yield statement, True
        looked = self.tables if self.linked else dict.fromkeys([table, getattr(table, "base", table)])
        for seen in looked:
            yield f"SELECT * FROM {seen.name} ORDER BY {seen.order()}", True
        if self.rng.random() < 0.05:
            yield f"SHOW CREATE TABLE {table.name}", True
        elif self.rng.random() < 0.04:
            query, _ = self.queries.query()
            yield f"CREATE TABLE c1 {query.text()}", True
            yield "SHOW CREATE TABLE c1", True
            yield "SELECT COUNT(*) FROM c1", True
            yield "DROP TABLE IF EXISTS c1", True

    def prepared(self):
        """A query by PREPARE and EXECUTE, twice, or by the commands of the protocol, with parameters for the first few literals that are
        compared, if there are any."""
        query, exact = self.queries.query()
        most = self.rng.randrange(1, 4)
        if self.rng.random() < 0.5:
            yield Bound(Replaced(query, most), [self.rng.choice(BOUND) for _ in range(most)]), exact
            return
        sql = query.text()
        with_parameters, count = with_markers(sql, most)
        names = [f"@p{i}" for i in range(count)]
        if names:
            yield "SET " + ", ".join(f"{name} = {self.rng.choice(GIVEN)}" for name in names), True
        yield "PREPARE p FROM '" + with_parameters.replace("\\", "\\\\").replace("'", "''") + "'", True
        using = " USING " + ", ".join(names) if names else ""
        yield f"EXECUTE p{using}", exact
        yield f"EXECUTE p{using}", exact


def with_markers(sql, most):
    """The statement with `?` for at most so many literals that are compared, and how many there are."""
    return COMPARED.subn("?", sql, count=most)


class Replaced:
    """A query in which literals have given way to parameters, whatever becomes of it."""

    def __init__(self, query, most):
        self.query, self.most = query, most

    def text(self):
        return with_markers(self.query.text(), self.most)[0]

    def smaller(self):
        for less in self.query.smaller():
            yield Replaced(less, self.most)


def text(statement):
    return statement if isinstance(statement, str) else statement.text()


class Runner:
    def __init__(self, servers, what, most, width=300, make=Case):
        self.servers, self.what, self.most, self.width, self.make = servers, what, most, width, make
        self.total = self.bad = 0
        self.kinds, self.known = collections.Counter(), collections.Counter()
        self.first = None

    def differ(self, statement, exact):
        sql = text(statement)
        try:
            results = [s.run(sql, values=getattr(statement, "values", None)) for s in self.servers]
        except pymysql.err.OperationalError:
            print(f"-- a server has ended at\n{sql}")
            raise
        return results, differs(*results, self.what, exact)

    def why(self, statement, exact, results, found):
        """What explains a difference, or None."""
        why = explained(text(statement), results, found)
        if why or not READS.match(text(statement)) or results[1][0] == "lost":
            return why
        given = [], []
        for mine, server in zip(given, self.servers):
            for answer in plans.answers(server, text(statement), getattr(statement, "values", None)):
                mine.append(answer)
                # Of rows and values that differ the warnings are another matter.
                what = self.what if found not in ("rows", "value") else [w for w in self.what if w != "warnings"]
                if mine is given[0] and not differs(answer, results[1], what, exact):
                    return "MySQL gives the same answer by another plan"
            if found != "warning":
                return None
        if any(not differs(a, b, self.what, exact) for a, b in itertools.product([results[0], *given[0]], given[1])):
            return "the same rows are warned of by another plan of both"
        return None

    def case(self, seed, count):
        case = self.make(random.Random(seed))
        for s in self.servers:
            s.reset(case.mode)
        for statement, exact in case.statements(count):
            self.total += 1
            results, found = self.differ(statement, exact)
            if results[0][0] == "lost":
                self.known["MySQL itself ended, or did not answer within a minute"] += 1
                # What it may be at still keeps the database.
                for s in self.servers:
                    s.database += "_"
                return
            reads = READS.match(text(statement))
            if not found:
                if not reads and results[0][0] == "ok":
                    case.history.append((text(statement), exact))
                continue
            why = self.why(statement, exact, results, found)
            if why:
                self.known[why] += 1
            else:
                self.report(case, seed, statement, exact, found)
            # What follows a table that has become another says nothing.
            if found == "lost" or not reads and found in ("ok", "outcome") or text(statement).startswith("SELECT * FROM"):
                return

    def report(self, case, seed, statement, exact, found):
        self.bad += 1
        self.kinds[found] += 1
        self.first = self.first or self.total
        if self.bad > self.most:
            print(f"-- case {seed} at {self.total}: {found}: {text(statement)[:self.width]}")
            return
        smaller = self.smaller(statement, exact, found)
        results, _ = self.differ(smaller, exact) if READS.match(text(statement)) else (None, None)
        print(f"-- case {seed} at {self.total}, sql_mode {case.mode}")
        history = self.shorter(case, smaller, exact, found)
        for sql, _ in history:
            print(sql + ";")
        if results is None:
            self.replay(case.mode, history)
            results, _ = self.differ(smaller, exact)
        show(text(smaller) + (f" -- {smaller.values}" if isinstance(smaller, Bound) else ""), *results, found)
        sys.stdout.flush()
        self.replay(case.mode, case.history)

    def smaller(self, statement, exact, found):
        """The smallest part of a query that still differs in the same way; other statements stay as they are."""
        if isinstance(statement, str) or not READS.match(statement.text()):
            return statement
        tries = 400
        while True:
            for less in statement.smaller():
                tries -= 1
                if tries < 0:
                    return statement
                results, now = self.differ(less, exact)
                if now == found and not self.why(less, exact, results, now):
                    statement = less
                    break
            else:
                return statement

    def replay(self, mode, history):
        for s in self.servers:
            s.reset(mode)
        for sql, exact in history:
            self.differ(sql, exact)

    def shorter(self, case, statement, exact, found):
        """The statements before it that the difference needs."""
        history, size = list(case.history), max(1, len(case.history) // 2)
        while True:
            at, cut = 0, False
            while at < len(history):
                less = history[:at] + history[at + size:]
                self.replay(case.mode, less)
                if self.differ(statement, exact)[1] == found:
                    history, cut = less, True
                else:
                    at += size
            if size == 1 and not cut or size == 1 and len(history) < 3:
                return history
            size = max(1, size // 2)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--left", type=int, required=True, help="port of the real MySQL")
    parser.add_argument("--right", type=int, required=True, help="port of Clearway")
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--case", type=int, default=60, help="statements in a case")
    parser.add_argument("--seed", type=int, default=None, help="of the first case; the others count on from it")
    parser.add_argument("--what", default="values,types,names,warnings", help="comma-separated: values, types, names, lengths, warnings, messages")
    parser.add_argument("--most", type=int, default=20, help="differences to make smaller; of the others only the statement is printed")
    parser.add_argument("--simple", action="store_true", help="simple expressions only, so that what is around them shows")
    parser.add_argument("--nested", action="store_true", help="queries of queries over small tables alone")
    parser.add_argument("--database", default="differential")
    args = parser.parse_args()
    seed = args.seed if args.seed is not None else random.randrange(1 << 30)
    if args.simple:
        expressions.simple()
    print(f"-- seed {seed}")
    runner = Runner([Server(port, args.database) for port in (args.left, args.right)], args.what.split(","), args.most, make=nested.Case if args.nested else Case)
    while runner.total < args.count:
        runner.case(seed, args.case)
        seed += 1
    for count in (runner.kinds, runner.known):
        print(*(f"-- {n:6} {what}" for what, n in count.most_common()), sep="\n")
    explained = sum(runner.known.values())
    print(f"-- {runner.total} statements, {runner.bad} differ, {explained} explained; first at {runner.first}; next seed {seed}")
    return bool(runner.bad)


if __name__ == "__main__":
    sys.exit(main())
