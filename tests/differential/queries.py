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
        if pick < 0.87:
            return self.united()
        if pick < 0.95:
            return self.more()
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
            lambda: self.to_scalar(theirs, All(f"SELECT {self.rng.choice(['MAX', 'MIN'])}({mine}) FROM", inner.part, correlated)),
            lambda: self.to_scalar(theirs, All(f"SELECT MAX({mine}) FROM", inner.part, where)),
            lambda: All(Text(f"({theirs}, {theirs})"), self.rng.choice(["IN", "NOT IN"]), Within("(", All(f"SELECT {mine}, {mine} FROM", inner.part, where), ")")),
        ])()

    def to_scalar(self, value, body):
        """Compared with a subquery. With <=> on a unique key MySQL finds one row at most, also of many NULLs: so not by key."""
        operator = self.rng.choice(COMPARE)
        found = All(value, operator, Within("(", body, ")"))
        return Within("NOT (", found, ")") if operator == "<=>" else found

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

    # Less common forms

    def more(self):
        return self.rng.choice([self.recursive, self.lateral, self.common, self.using, self.ordered_union, self.nested_union, self.grouped_in, self.named_window])()

    def recursive(self):
        """Numbers, or ways from row to row."""
        rng = self.rng
        pick = rng.random()
        if pick < 0.4:
            start, step, end = rng.choice(["0", "1", "-3", "1.5"]), rng.choice(["+ 1", "* 2 + 1", "+ 2"]), rng.randrange(3, 30)
            union = rng.choice(["UNION ALL", "UNION", "UNION DISTINCT"])
            body = f"WITH RECURSIVE r (n) AS (SELECT {start} {union} SELECT n {step} FROM r WHERE n < {end})"
            inner = self.table("a")
            ints = inner.names("int") or ["a.id"]
            return rng.choice([
                lambda: (Text(f"{body} SELECT * FROM r ORDER BY n"), True), lambda: (Text(f"{body} SELECT COUNT(*), SUM(n), MAX(n) FROM r"), True),
                lambda: (All(body, f"SELECT r.n, {rng.choice(inner.names())} FROM r", rng.choice(["JOIN", "LEFT JOIN"]), inner.part, f"ON r.n = {rng.choice(ints)}"), False)])()
        inner = self.table("a")
        links = [n for n in inner.names("int") if n != "a.id"] or ["a.id"]
        shown = rng.choice(inner.names())
        where = rng.choice(["", f"WHERE a.id < {rng.randrange(30)}"])
        depth = rng.randrange(2, 5)
        body = All("WITH RECURSIVE r AS (SELECT a.id, 1 AS depth,", f"{shown} AS shown FROM", inner.part, where, rng.choice(["UNION ALL", "UNION"]),
                   f"SELECT a.id, r.depth + 1, {rng.choice(['r.shown', shown])} FROM r JOIN", inner.part, f"ON {rng.choice(links)} = r.id AND r.depth < {depth})")
        return All(body, rng.choice(["SELECT * FROM r", "SELECT depth, COUNT(*), COUNT(shown) FROM r GROUP BY depth", "SELECT DISTINCT id, depth FROM r"])), False

    def lateral(self):
        rng = self.rng
        outer, inner = self.table("a"), self.table("s")
        kind = rng.choice([k for k in KEYED if inner.names(k) and outer.names(k)])
        link = f"{rng.choice(inner.names(kind))} {rng.choice(['=', '=', '<=', '<>'])} {rng.choice(outer.names(kind))}"
        mine = rng.choice([n for n in inner.names() if self.kind(inner, n) != "json"])
        key = ", ".join(f"s.{k}" for k in inner.key)
        body = rng.choice([f"SELECT MAX({mine}) AS m, COUNT(*) AS n FROM", f"SELECT {mine} AS m, s.id AS n FROM"])
        tail = "" if "COUNT" in body else f"ORDER BY {mine} DESC, {key} LIMIT {rng.randrange(1, 4)}"
        join = rng.choice([", LATERAL", "JOIN LATERAL", "LEFT JOIN LATERAL"])
        on = "" if join[0] == "," else rng.choice(["ON TRUE", "ON l.n > 1"])
        return All("SELECT", rng.choice(outer.names()) + ", l.m, l.n FROM", outer.part, join, Within("(", All(body, inner.part, "WHERE", link, tail), ") AS l"), on), False

    def common(self):
        """A common table expression that is used more than once."""
        rng = self.rng
        inner = self.table("a")
        shown = ", ".join(dict.fromkeys([*(f"a.{k}" for k in inner.key), *rng.sample(inner.names(), min(2, len(inner.names())))]))
        body = All("WITH w AS", Within("(", All(f"SELECT {shown} FROM", inner.part, self.where([inner])), ")"))
        return rng.choice([
            lambda: (All(body, "SELECT * FROM w x JOIN w y ON x.id = y.id"), False),
            lambda: (All(body, "SELECT COUNT(*) FROM w WHERE id IN (SELECT id + 1 FROM w)"), True),
            lambda: (All(body, ", v2 AS (SELECT id, COUNT(*) AS n FROM w GROUP BY id) SELECT v2.id, v2.n FROM v2 LEFT JOIN w ON w.id = v2.id"), False),
            lambda: (All(body, "SELECT (SELECT COUNT(*) FROM w y WHERE y.id <= x.id), x.id FROM w x"), False)])()

    def using(self):
        rng = self.rng
        a, b = self.table("a"), self.table("b")
        join = rng.choice(["JOIN", "LEFT JOIN", "RIGHT JOIN", "INNER JOIN"])
        if rng.random() < 0.3:
            return All("SELECT id,", rng.choice(a.names()) + "," , rng.choice(b.names()), "FROM", a.part, "NATURAL", join.replace("INNER ", ""), b.part), False
        return All("SELECT", rng.choice(["id", "*", "b.id, a.id, id", "COUNT(id)"]), "FROM", a.part, join, b.part, "USING (id)", self.where([a, b])), False

    def ordered_union(self):
        """Set operations with ORDER BY and LIMIT: of the whole, which is in order as far as the first column goes."""
        rng = self.rng
        op = rng.choice(["UNION", "UNION ALL", "INTERSECT", "EXCEPT"])
        kind = rng.choice(["int", "num", "date", "int"])

        def part():
            inner = self.table("a")
            return All("SELECT", rng.choice(inner.names(kind) or ["a.id"]), "AS o FROM", inner.part, self.where([inner]))

        return All(part(), op, part(), "ORDER BY", rng.choice(["o", "1", "o DESC", "-o", "o IS NULL, o"]), rng.choice(["", "", "LIMIT 3", "LIMIT 2, 2"])), True

    def nested_union(self):
        rng = self.rng

        def part():
            inner = self.table("a")
            limit = f" ORDER BY {', '.join('a.' + k for k in inner.key)} LIMIT {rng.randrange(1, 5)}" if inner.key and rng.random() < 0.4 else ""
            return Within("(", All("SELECT", rng.choice(inner.names("int") or ["a.id"]), "FROM", inner.part, self.where([inner]), limit), ")")

        ops = [rng.choice(["UNION", "UNION ALL", "INTERSECT", "EXCEPT", "EXCEPT ALL"]) for _ in range(2)]
        nested = Within("(", All(part(), ops[0], part()), ")")
        return All(*(rng.choice([(nested, ops[1], part()), (part(), ops[1], nested), (part(), ops[0], part(), ops[1], part())]))), False

    def grouped_in(self):
        """A derived table or a subquery that groups."""
        rng = self.rng
        inner, outer = self.table("s"), self.table("a")
        by = rng.choice([n for n in inner.names() if self.kind(inner, n) != "json"])
        kind = self.kind(inner, by)
        aggregate = rng.choice(["COUNT(*)", "MAX(s.id)", "SUM(s.id)", "MIN(s.id)", "AVG(s.id)"])
        having = rng.choice(["", f"HAVING {aggregate} > {rng.randrange(4)}", f"HAVING n <> {rng.randrange(4)}"])
        grouped = All(f"SELECT {by} AS g, {aggregate} AS n FROM", inner.part, self.where([inner]), f"GROUP BY {by}", having)
        theirs = rng.choice(outer.names(kind) or ["a.id"])
        return rng.choice([
            lambda: (All("SELECT * FROM", Within("(", grouped, ") AS d")), False),
            lambda: (All(f"SELECT {theirs}, d.n FROM", outer.part, rng.choice(["JOIN", "LEFT JOIN"]), Within("(", grouped, ") AS d"), f"ON d.g = {theirs}"), False),
            lambda: (All(f"SELECT {theirs} FROM", outer.part, f"WHERE ({theirs}, a.id) IN", Within("(", grouped, ")")), False),
            lambda: (All("SELECT COUNT(*), SUM(n) FROM", Within("(", grouped, ") AS d")), False)])()

    def named_window(self):
        rng = self.rng
        inner = self.table("a")
        names = [n for n in inner.names() if self.kind(inner, n) != "json"]
        key = ", ".join(f"a.{k}" for k in inner.key)
        n = rng.choice(names)
        ints = rng.choice(inner.names("int") or ["a.id"])
        frame = rng.choice(["", "ROWS 1 PRECEDING", "ROWS BETWEEN UNBOUNDED PRECEDING AND 1 FOLLOWING"])
        calls = rng.sample([f"ROW_NUMBER() OVER w", f"FIRST_VALUE({n}) OVER (w {frame})", f"COUNT({n}) OVER w", f"SUM({ints}) OVER (w {frame})", f"LAG({n}, 2) OVER w",
                            f"MAX({ints}) OVER (w {frame})", f"NTH_VALUE({n}, 2) OVER (w {frame})", f"SUM(COUNT(*)) OVER (PARTITION BY {n})"][:7], 2)
        partition = rng.choice(["", f"PARTITION BY {rng.choice(names)}"])
        return All("SELECT", Many([Text(key), *map(Text, calls)]), "FROM", inner.part, self.where([inner]), f"WINDOW w AS ({partition} ORDER BY {key}) ORDER BY {key}"), bool(inner.key)

    def expression(self):
        source, sources = self.sources(most=1)
        key = ", ".join(f"{s.alias}.{k}" for s in sources for k in s.key)
        return All("SELECT", make(self.rng, self.rng.choice(KINDS), 2, self.scope(sources)), source, f"ORDER BY {key}"), True
