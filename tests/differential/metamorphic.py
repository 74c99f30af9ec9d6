#!/usr/bin/env python3
"""Random queries whose answers must agree with each other, on one server:

    metamorphic.py --port 3310 --count 5000 --seed 7

- of a query's rows each fulfils WHERE p, NOT p, or p IS NULL, and only one of these;
- hints and flags of optimizer_switch change the plan, not the rows;
- a derived table, a common table expression and a view of one text have the same rows.

What differs is made smaller and printed as a script. The exit status is 1 when something differed."""

import argparse
import collections
import random
import sys

from nested import HINTS, SWITCHES, Case, Nested
from servers import Server
from tree import All

# A plan may come across two rows of a scalar subquery, or a number that is out of range, or not get that far.
DEPENDS_ON_PLAN = {1242, 1690}


class Partitioned:
    """FROM, a select list, and a condition that splits its rows."""

    def __init__(self, select, condition):
        self.select, self.condition = select, condition

    def text(self):
        return f"{self.select.text()} WHERE {self.condition.text()}"

    def smaller(self):
        for less in self.select.smaller():
            yield Partitioned(less, self.condition)
        for less in self.condition.smaller():
            yield Partitioned(self.select, less)

    def parts(self):
        select, condition = self.select.text(), self.condition.text() or "TRUE"
        return select, [f"{select} WHERE {form}" for form in (f"({condition})", f"NOT ({condition})", f"({condition}) IS NULL")]


def rows_of(server, sql):
    """The rows in a canonical order; None for an error that hangs from the plan; the error's number for another."""
    result = server.run(sql)
    if result[0] == "error":
        return None if result[1] in DEPENDS_ON_PLAN else result[1]
    return sorted(result[2], key=repr) if result[0] == "rows" else result[0]


def agree(answers):
    return len({repr(a) for a in answers if a is not None}) <= 1


def splits(server, query):
    whole, parts = query.parts()
    all_rows, found = rows_of(server, whole), [rows_of(server, part) for part in parts]
    if None in found or any(not isinstance(f, list) for f in [all_rows, *found]):
        return ""
    return "" if sorted(sum(found, []), key=repr) == all_rows else "partition"


def plans(server, query):
    sql = query.text()
    server.run("SET optimizer_switch = DEFAULT")
    plain = rows_of(server, sql)
    for switch in SWITCHES:
        server.run(f"SET optimizer_switch = '{switch}=off'")
        other = rows_of(server, sql)
        server.run("SET optimizer_switch = DEFAULT")
        if not agree([plain, other]):
            return f"{switch}=off"
    for hint in HINTS:
        if not agree([plain, rows_of(server, sql.replace("SELECT", f"SELECT /*+ {hint} */", 1))]):
            return hint
    return ""


def forms(server, query):
    sql = query.text()
    server.run("DROP VIEW IF EXISTS same")
    made = server.run(f"CREATE VIEW same AS {sql}")
    answers = [rows_of(server, sql), rows_of(server, f"SELECT * FROM ({sql}) AS same"), rows_of(server, f"WITH same AS ({sql}) SELECT * FROM same")]
    if made[0] == "ok":
        answers.append(rows_of(server, "SELECT * FROM same"))
    return "" if agree(answers) else "form"


def smaller(server, query, check, found):
    tries = 300
    while tries > 0:
        for less in query.smaller():
            tries -= 1
            if tries < 0 or check(server, less) == found:
                break
        else:
            return query
        if tries < 0:
            return query
        query = less
    return query


def partitioned(maker):
    """A query for `splits`."""
    source, sources = maker.sources([], 0)
    items, _ = maker.items([sources], 1)
    return Partitioned(All("SELECT", items, source), maker.condition([sources], 0))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--case", type=int, default=40, help="queries over the same tables")
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--database", default="metamorphic")
    args = parser.parse_args()
    seed = args.seed if args.seed is not None else random.randrange(1 << 30)
    server, kinds, total = Server(args.port, args.database), collections.Counter(), 0
    while total < args.count:
        case = Case(random.Random(seed))
        server.reset(case.mode)
        history = list(case.setup())
        for sql in history:
            server.run(sql)
        for _ in range(args.case):
            total += 1
            maker = Nested(case.rng, case.tables, case.views)
            check = case.rng.choice([splits, plans, forms])
            query = partitioned(maker) if check is splits else maker.query()[0]
            found = check(server, query)
            if found:
                kinds[found] += 1
                print(f"-- case {seed}: {found}", *(sql + ";" for sql in history), smaller(server, query, check, found).text() + ";", sep="\n", flush=True)
        seed += 1
    print(*(f"-- {n:6} {what}" for what, n in kinds.most_common()), f"-- {total} queries, {sum(kinds.values())} differ; next seed {seed}", sep="\n")
    return bool(kinds)


if __name__ == "__main__":
    sys.exit(main())
