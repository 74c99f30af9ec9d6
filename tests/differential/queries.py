"""Random queries over given tables: joins, subqueries, derived tables, groupings, windows, set operations, ORDER BY and LIMIT."""

from expressions import KINDS, make
from tree import All, Many, Maybe, Text, Within

COMPARE = ["=", "<", ">", "<=", ">=", "<>", "<=>"]
KEYED = ["int", "num", "str", "date", "time"]


class Source:
    """A table of a FROM clause: alias, columns as (name, kind), and which of them make a row unique."""

    def __init__(self, part, alias, columns, key):
        self.part, self.alias, self.columns, self.key = part, alias, columns, key

    def names(self, kind=None):
        return [f"{self.alias}.{name}" for name, k in self.columns if kind in (None, k)]


class Queries:
    def __init__(self, rng, tables):
        self.rng, self.tables = rng, tables

    def query(self):
        """A statement, and whether the order of its rows is determined."""
        pick = self.rng.random()
        if pick < 0.40:
            return self.plain()
        if pick < 0.62:
            return self.grouped()
        if pick < 0.78:
            return self.windowed()
        if pick < 0.90:
            return self.united()
        return self.expression()

    # Sources

    def table(self, alias, lateral_to=None):
        table = self.rng.choice(self.tables)
        columns = [(c.name, c.kind) for c in table.all()]
        if self.rng.random() < 0.85:
            return Source(Text(f"{table.name} {alias}"), alias, columns, [c.name for c in table.key])
        inner = Source(None, "q", columns, [])
        where = Maybe("WHERE", self.condition([inner], 1))
        kept = [(n, k) for n, k in columns if n in [c.name for c in table.key] or self.rng.random() < 0.6]
        if self.rng.random() < 0.3:
            expr = make(self.rng, "int", 1, self.scope([inner]))
            kept_text = [*(f"q.{n}" for n, _ in kept), All(expr, "AS ex")]
            kept.append(("ex", "int"))
        else:
            kept_text = [f"q.{n}" for n, _ in kept]
        key = [c.name for c in table.key]
        select = All("SELECT", Many(kept_text, least=len(kept_text)), f"FROM {table.name} q", where)
        return Source(Within("(", select, f") AS {alias}"), alias, kept, key)

    def scope(self, sources):
        columns = {}
        for source in sources:
            for name, kind in source.columns:
                for k in {kind, "num" if kind == "int" else kind}:
                    columns.setdefault(k, []).append(f"{source.alias}.{name}")
        return columns

    def sources(self, most=3):
        """The FROM clause and its sources."""
        count = self.rng.choice([1, 1, 1, 2, 2, 3][:most * 2])
        sources = [self.table(alias) for alias in "abc"[:count]]
        parts = [sources[0].part]
        for i in range(1, count):
            kind = self.rng.choice(["JOIN", "JOIN", "LEFT JOIN", "LEFT JOIN", "RIGHT JOIN", "STRAIGHT_JOIN", "CROSS JOIN"])
            on = self.match(sources[:i], sources[i]) if self.rng.random() < 0.8 else self.condition(sources[:i + 1], 1)
            # An expression in ON stays; without it there are too many rows.
            parts.append(All(kind, sources[i].part, "ON", on))
        return All("FROM", *parts), sources

    def match(self, left, right):
        pairs = [(a, b) for k in KEYED for s in left for a in s.names(k) for b in right.names(k)]
        if not pairs:
            return Text("TRUE")
        a, b = self.rng.choice(pairs)
        return Text(f"{a} = {b}")

    # Conditions

    def condition(self, sources, depth):
        scope = self.scope(sources)
        pick = self.rng.random()
        if pick < 0.35:
            return make(self.rng, "bool", depth, scope)
        if pick < 0.6:
            column = self.rng.choice([n for s in sources for n in s.names()])
            kind = next(k for s in sources for n, k in s.columns if f"{s.alias}.{n}" == column)
            if kind == "json":
                return Text(f"{column} IS NOT NULL")
            value = make(self.rng, kind, 0, {})
            return All(column, self.rng.choice(COMPARE), value)
        if pick < 0.8:
            return self.subcondition(sources)
        other = self.rng.choice([" AND ", " AND ", " OR "])
        return Within("(", Many([self.condition(sources, depth - 1) for _ in range(2)], between=other), ")")

    def subcondition(self, sources):
        inner = self.table("s")
        outer = self.rng.choice(sources)
        kinds = [k for k in KEYED if inner.names(k) and outer.names(k)]
        kind = self.rng.choice(kinds)
        mine, theirs = self.rng.choice(inner.names(kind)), self.rng.choice(outer.names(kind))
        where = Maybe("WHERE", self.condition([inner], 0)) if self.rng.random() < 0.4 else Text("")
        correlated = All("WHERE", self.rng.choice([f"{mine} = {theirs}", f"s.id = {outer.alias}.id" if "id" in outer.key else f"{mine} = {theirs}"]))
        body = All("SELECT", mine, "FROM", inner.part, where)
        return self.rng.choice([
            lambda: All(theirs, self.rng.choice(["IN", "NOT IN"]), Within("(", body, ")")),
            lambda: All(self.rng.choice(["EXISTS", "NOT EXISTS"]), Within("(", All("SELECT 1 FROM", inner.part, correlated), ")")),
            lambda: All(theirs, self.rng.choice(COMPARE[:6]), self.rng.choice(["ANY", "ALL"]), Within("(", body, ")")),
            lambda: All(theirs, self.rng.choice(COMPARE), Within("(", All(f"SELECT {self.rng.choice(['MAX', 'MIN'])}({mine}) FROM", inner.part, correlated), ")")),
            lambda: All(theirs, self.rng.choice(COMPARE), Within("(", All(f"SELECT MAX({mine}) FROM", inner.part, where), ")")),
        ])()

    def where(self, sources):
        return Maybe("WHERE", self.condition(sources, 1)) if self.rng.random() < 0.7 else Text("")

    def limit(self):
        if self.rng.random() < 0.3:
            return Maybe(f"LIMIT {self.rng.choice(['1', '3', '2, 2', '0', '5 OFFSET 1'])}")
        return Text("")

    # Queries

    def items(self, sources, count):
        scope = self.scope(sources)
        out = []
        for _ in range(count):
            if self.rng.random() < 0.5:
                out.append(Text(self.rng.choice([n for s in sources for n in s.names()])))
            elif self.rng.random() < 0.12:
                out.append(self.scalar(sources))
            else:
                out.append(make(self.rng, self.rng.choice(KINDS), 1, scope))
        return out

    def scalar(self, sources):
        inner = self.table("s")
        outer = self.rng.choice(sources)
        mine = self.rng.choice(inner.names())
        what = self.rng.choice([f"COUNT({mine})", f"MAX({mine})", "COUNT(*)", f"MIN({mine})"])
        kinds = [k for k in KEYED if inner.names(k) and outer.names(k)]
        kind = self.rng.choice(kinds)
        link = f"{self.rng.choice(inner.names(kind))} = {self.rng.choice(outer.names(kind))}"
        return Within("(", All(f"SELECT {what} FROM", inner.part, Maybe(f"WHERE {link}")), ")")

    def plain(self):
        source, sources = self.sources()
        items = Many(self.items(sources, self.rng.randrange(1, 5)))
        key = [f"{s.alias}.{k}" for s in sources for k in s.key]
        if self.rng.random() < 0.7:
            extra = [Text(self.rng.choice([n for s in sources for n in s.names() if self.kind(s, n) != "json"]) + self.rng.choice(["", " DESC"]))
                     for _ in range(self.rng.randrange(3))]
            if extra and self.rng.random() < 0.3:
                extra[0] = make(self.rng, self.rng.choice(["int", "num", "date"]), 1, self.scope(sources))
            order = Within("ORDER BY ", Many([*extra, Text(", ".join(key))]), "")
            return All("SELECT", items, source, self.where(sources), order, self.limit()), all(s.key for s in sources)
        distinct = "DISTINCT" if self.rng.random() < 0.2 else ""
        if distinct:
            items = Many([Text(self.rng.choice([n for s in sources for n in s.names()])) for _ in range(2)])
        return All("SELECT", distinct, items, source, self.where(sources)), False

    def kind(self, source, name):
        return next(k for n, k in source.columns if f"{source.alias}.{n}" == name)

    def aggregate(self, sources):
        rng, scope = self.rng, self.scope(sources)
        names = [n for s in sources for n in s.names() if self.kind(s, n) != "json"]
        operand = Text(rng.choice(names)) if rng.random() < 0.7 else make(rng, rng.choice(["int", "num"]), 1, scope)
        ints = scope.get("int", ["1"])
        return rng.choice([
            lambda: Text("COUNT(*)"), lambda: Within("COUNT(", operand, ")"), lambda: Within("COUNT(DISTINCT ", operand, ")"),
            lambda: Within("SUM(", operand, ")"), lambda: Within("AVG(", operand, ")"), lambda: Within("MIN(", operand, ")"),
            lambda: Within("MAX(", operand, ")"), lambda: Within("SUM(DISTINCT ", operand, ")"), lambda: Text(f"BIT_OR({rng.choice(ints)})"),
            lambda: Text(f"BIT_XOR({rng.choice(ints)})"), lambda: Text(f"BIT_AND({rng.choice(ints)})"),
            lambda: Text("GROUP_CONCAT({0} ORDER BY {0})".format(rng.choice(names))),
            lambda: Text("GROUP_CONCAT(DISTINCT {0} ORDER BY {0} DESC SEPARATOR '|')".format(rng.choice(names))),
            lambda: Text(f"STDDEV_POP({rng.choice(ints)})"), lambda: Text(f"VAR_SAMP({rng.choice(ints)})"), lambda: Text(f"VARIANCE({rng.choice(ints)})"),
        ])()

    def grouped(self):
        source, sources = self.sources()
        names = [n for s in sources for n in s.names() if self.kind(s, n) != "json"]
        groups = [Text(n) for n in self.rng.sample(names, self.rng.randrange(0, min(3, len(names) + 1)))]
        if groups and self.rng.random() < 0.2:
            groups[0] = make(self.rng, "int", 1, {k: v for k, v in self.scope(sources).items()})
        aggregates = [self.aggregate(sources) for _ in range(self.rng.randrange(1, 4))]
        having = Text("")
        if self.rng.random() < 0.25:
            having = Maybe("HAVING", self.aggregate(sources), self.rng.choice(COMPARE[:6]), self.rng.choice(["1", "2", "0", "'a'"]))
        if not groups:
            return All("SELECT", Many(aggregates), source, self.where(sources), having), False
        if self.rng.random() < 0.2:
            tail = Maybe("WITH ROLLUP")
        else:
            tail = Text("")
        shown = [g for g in groups if self.rng.random() < 0.8]
        return All("SELECT", Many([*shown, *aggregates]), source, self.where(sources), "GROUP BY", Many(groups), tail, having), False

    def windowed(self):
        source, sources = self.sources(most=2)
        rng = self.rng
        names = [n for s in sources for n in s.names() if self.kind(s, n) != "json"]
        key = ", ".join(f"{s.alias}.{k}" for s in sources for k in s.key)
        out = []
        for _ in range(rng.randrange(1, 3)):
            partition = Maybe(f"PARTITION BY {rng.choice(names)}") if rng.random() < 0.5 else Text("")
            order = All("ORDER BY", Maybe(rng.choice(names) + rng.choice(["", " DESC"]) + ","), key)
            peers = All("ORDER BY", rng.choice(names))
            n, m = rng.choice(names), rng.choice(["1", "2", "3"])
            frame = Maybe(rng.choice(["ROWS UNBOUNDED PRECEDING", "ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING", "ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
                                      "ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING", "RANGE UNBOUNDED PRECEDING", "RANGE CURRENT ROW"])) if rng.random() < 0.5 else Text("")
            ranked = rng.choice(["RANK()", "DENSE_RANK()", "PERCENT_RANK()", "CUME_DIST()", f"COUNT({n})", f"MAX({n})", f"SUM({n})"])
            ordered = rng.choice(["ROW_NUMBER()", f"LAG({n})", f"LEAD({n}, {m})", f"LAG({n}, 1, 5)", f"NTILE({m})"])
            framed = rng.choice([f"FIRST_VALUE({n})", f"LAST_VALUE({n})", f"NTH_VALUE({n}, {m})", f"SUM({n})", f"AVG({n})", f"COUNT({n})", f"MIN({n})",
                                 "COUNT(*)", f"BIT_OR({n})", f"STDDEV_POP({n})"])
            over = rng.choice([lambda: All(ranked, Within("OVER (", All(partition, peers), ")")), lambda: All(ordered, Within("OVER (", All(partition, order), ")")),
                               lambda: All(framed, Within("OVER (", All(partition, order, frame), ")"))])()
            out.append(over)
        items = Many([Text(key), *out])
        return All("SELECT", items, source, self.where(sources), f"ORDER BY {key}", self.limit()), all(s.key for s in sources)

    def united(self):
        rng = self.rng
        kinds = [rng.choice(KEYED) for _ in range(rng.randrange(1, 3))]

        def part():
            inner = self.table("a")
            names = []
            for kind in kinds:
                names.append(Text(rng.choice(inner.names(kind) or [rng.choice(inner.names("int"))])))
            return All("SELECT", Many(names, least=len(names)), "FROM", inner.part, self.where([inner]))

        op = rng.choice(["UNION", "UNION ALL", "UNION ALL", "INTERSECT", "EXCEPT", "UNION DISTINCT", "EXCEPT ALL", "INTERSECT ALL"])
        parts = [part() for _ in range(rng.choice([2, 2, 3]))]
        united = Many(parts, least=2, between=f" {op} ")
        pick = rng.random()
        if pick < 0.2:
            return All("SELECT COUNT(*) FROM", Within("(", united, ") AS d")), True
        if pick < 0.35:
            return All("WITH w AS", Within("(", united, ")"), "SELECT * FROM w"), False
        return united, False

    def expression(self):
        source, sources = self.sources(most=1)
        key = ", ".join(f"{s.alias}.{k}" for s in sources for k in s.key)
        return All("SELECT", make(self.rng, self.rng.choice(KINDS), 2, self.scope(sources)), source, f"ORDER BY {key}"), True
