"""Random queries of queries: correlated through several levels, outer-joined, grouped, windowed, united and recursive, over small tables with
NULLs and duplicates. Rows come in any order; values do not depend on it."""

from tree import All, Instead, Many, Maybe, Text, Within

COMPARE = ["=", "=", "=", "<", ">", "<=", ">=", "<>", "<=>"]
QUANTIFIED = ["=", "<>", "<", ">", "<=", ">="]
LEVELS_MAX = 3
# Each leaves the rows of a query as they are.
SWITCHES = ["semijoin", "firstmatch", "materialization", "derived_merge", "derived_condition_pushdown", "block_nested_loop", "index_merge",
            "batched_key_access", "mrr_cost_based", "skip_scan"]
HINTS = ["NO_SEMIJOIN()", "SEMIJOIN(FIRSTMATCH)", "SEMIJOIN(MATERIALIZATION)", "NO_MERGE(d1)", "NO_MERGE(d1, d2)", "NO_BNL()", "JOIN_FIXED_ORDER()", "SUBQUERY(MATERIALIZATION)",
         "SUBQUERY(INTOEXISTS)", "NO_DERIVED_CONDITION_PUSHDOWN()", "NO_ICP(t1)", "BKA()", "NO_INDEX(t1)", "MERGE(d1)"]


class Small:
    """A table of few small values: `id` is its key where it has one."""

    def __init__(self, rng, name):
        self.rng, self.name = rng, name
        self.columns = [("a", "int"), ("b", "int"), ("c", "int"), ("s", "str")]
        self.required = {c for c, _ in self.columns if rng.random() < 0.2}
        self.keyed = rng.random() < 0.6
        if self.keyed:
            self.columns.insert(0, ("id", "int"))

    def create(self):
        rng = self.rng
        lines = [f"{c} {'INT' if kind == 'int' else 'VARCHAR(3)'}{' NOT NULL' if c in self.required or c == 'id' else ''}" for c, kind in self.columns]
        if self.keyed:
            lines.append("PRIMARY KEY (id)")
        for n in range(rng.choice([0, 0, 1, 1, 2])):
            columns = rng.sample([c for c, _ in self.columns], rng.choice([1, 1, 2]))
            lines.append(f"KEY k{n} ({', '.join(columns)})")
        return f"CREATE TABLE {self.name} ({', '.join(lines)})"

    def fill(self):
        rng = self.rng
        count = rng.choice([0, 1, 2, 4, 6, 9])
        if not count:
            return []
        rows = []
        for n in range(count):
            row = []
            for c, kind in self.columns:
                if c == "id":
                    row.append(str(n))
                elif c not in self.required and rng.random() < 0.2:
                    row.append("NULL")
                else:
                    row.append(str(rng.randrange(4)) if kind == "int" else rng.choice(["'x'", "'y'", "'0'", "'1'"]))
            rows.append(f"({', '.join(row)})")
        return [f"INSERT INTO {self.name} VALUES {', '.join(rows)}"]


class Source:
    """A table of FROM as names see it."""

    def __init__(self, alias, columns):
        self.alias, self.columns = alias, columns

    def names(self, kind):
        return [f"{self.alias}.{c}" for c, k in self.columns if k == kind]


class Query:
    """A SELECT with its parts, and what its columns are."""

    def __init__(self, parts, columns):
        self.parts, self.columns = parts, columns

    def text(self):
        return self.parts.text()

    def smaller(self):
        for less in self.parts.smaller():
            yield Query(less, self.columns)


class Nested:
    def __init__(self, rng, tables, views=(), windows=True):
        self.rng, self.tables, self.views, self.windows = rng, tables, list(views), windows
        self.aliases = self.derived = 0
        self.ctes = []

    def query(self):
        """A statement; the order of its rows does not count."""
        self.aliases = self.derived = 0
        self.ctes = []
        return self.statement(), False

    def statement(self):
        rng = self.rng
        pick = rng.random()
        if pick < 0.16:
            return self.with_common()
        if pick < 0.26:
            return self.united([], 0)
        return self.select([], 0)

    # Names

    def alias(self):
        self.aliases += 1
        return f"t{self.aliases}"

    def derived_alias(self):
        self.derived += 1
        return f"d{self.derived}"

    def own(self, scopes, kind="int"):
        """A column of the innermost query, if it has one of that kind."""
        names = [n for s in scopes[-1] for n in s.names(kind)] if scopes else []
        return self.rng.choice(names) if names else self.constant(kind)

    def outer(self, scopes, kind="int"):
        """A column of a query further out, each level as likely as the others."""
        levels = [[n for s in level for n in s.names(kind)] for level in scopes[:-1]]
        levels = [names for names in levels if names]
        return self.rng.choice(self.rng.choice(levels)) if levels else self.own(scopes, kind)

    def fixed(self, scopes):
        """A column of a query further out, or a number: the same for all rows of a group."""
        return self.rng.choice([n for level in scopes[:-1] for s in level for n in s.names("int")] or ["1"])

    def constant(self, kind="int"):
        if kind == "str":
            return self.rng.choice(["'x'", "'y'", "'1'", "'0'", "NULL"])
        return self.rng.choice(["0", "1", "2", "3", "1", "2", "NULL"])

    def value(self, scopes, depth, kind="int"):
        """Something of that kind, as a tree."""
        return Instead(self.any_value(scopes, depth, kind), self.own(scopes, kind))

    def any_value(self, scopes, depth, kind):
        rng, pick = self.rng, self.rng.random()
        if pick < 0.55:
            return Text(self.own(scopes, kind))
        if pick < 0.72:
            return Text(self.outer(scopes, kind))
        if pick < 0.78 and not scopes[:-1] and depth == LEVELS_MAX - 1:
            # Not in a derived table: MySQL takes such a constant for NULL of an outer join, or not, as its plan has it.
            return Text(self.constant(kind))
        if kind == "str":
            return Text(f"CONCAT({self.own(scopes, 'str')}, '')")
        if pick < 0.86:
            return Text(f"{self.own(scopes)} {rng.choice(['+', '-'])} {rng.choice([self.outer(scopes), '1'])}")
        if pick < 0.92:
            return Text(f"{rng.choice(['COALESCE', 'IFNULL', 'NULLIF'])}({self.own(scopes)}, {self.outer(scopes)})")
        if depth < LEVELS_MAX and pick < 0.98:
            return Within("(", self.scalar(scopes, depth + 1), ")")
        return All("CASE WHEN", self.condition(scopes, depth + 1), "THEN", self.own(scopes), "ELSE", self.outer(scopes), "END")

    # Conditions

    def condition(self, scopes, depth, nested=True):
        return Instead(self.any_condition(scopes, depth, nested), "TRUE", "FALSE")

    def any_condition(self, scopes, depth, nested):
        rng, pick = self.rng, self.rng.random()
        if pick < 0.2:
            return Text(f"{self.own(scopes)} {rng.choice(COMPARE)} {self.outer(scopes)}")
        if pick < 0.28:
            return Text(f"{self.own(scopes)} {rng.choice(COMPARE)} {self.own(scopes)}")
        if pick < 0.34:
            return Text(f"{self.own(scopes)} {rng.choice(COMPARE)} {rng.choice(['0', '1', '2'])}")
        if pick < 0.38:
            return Text(f"{rng.choice([self.own, self.outer])(scopes)} IS {rng.choice(['', 'NOT '])}NULL")
        if pick < 0.42:
            return Text(f"{self.own(scopes, 'str')} {rng.choice(COMPARE)} {self.outer(scopes, 'str')}")
        if pick < 0.46:
            return Text(f"{self.own(scopes)} {rng.choice(['', 'NOT '])}IN (1, 2, {rng.choice(['NULL', '3', self.outer(scopes)])})")
        if pick < 0.49:
            return Text(f"{self.own(scopes)} {rng.choice(['', 'NOT '])}BETWEEN {self.outer(scopes)} AND {self.own(scopes)}")
        if pick < 0.6 or not nested or depth >= LEVELS_MAX:
            if depth >= LEVELS_MAX + 2:
                return Text(f"{self.own(scopes)} = {self.outer(scopes)}")
            both = [self.condition(scopes, depth + 1, nested), self.condition(scopes, depth + 1, nested)]
            joined = Within("(", Many(both, between=rng.choice([" AND ", " AND ", " OR "])), ")")
            return Within("NOT ", joined, "") if rng.random() < 0.2 else joined
        return self.subcondition(scopes, depth + 1)

    def subcondition(self, scopes, depth):
        rng = self.rng
        pick = rng.random()
        if pick < 0.3:
            return Within(rng.choice(["EXISTS (", "EXISTS (", "NOT EXISTS ("]), self.subquery(scopes, depth, None), ")")
        if pick < 0.62:
            kind = rng.choice(["int", "int", "int", "str"])
            operand = self.value(scopes, LEVELS_MAX, kind)
            return All(operand, rng.choice(["IN", "IN", "NOT IN"]), Within("(", self.subquery(scopes, depth, [kind]), ")"))
        if pick < 0.7:
            operand = f"({self.own(scopes)}, {rng.choice([self.own, self.outer])(scopes)})"
            return All(operand, rng.choice(["IN", "IN", "NOT IN"]), Within("(", self.subquery(scopes, depth, ["int", "int"]), ")"))
        if pick < 0.82:
            return All(self.own(scopes), rng.choice(QUANTIFIED), rng.choice(["ANY", "ALL"]), Within("(", self.subquery(scopes, depth, ["int"]), ")"))
        if pick < 0.94:
            return All(self.own(scopes), rng.choice(COMPARE), Within("(", self.scalar(scopes, depth), ")"))
        return Within("(", All(Within("EXISTS (", self.subquery(scopes, depth, None), ")"), rng.choice(["IS TRUE", "= 1", "IS NOT TRUE"])), ")")

    # Queries inside

    def subquery(self, scopes, depth, kinds):
        """Of EXISTS (`kinds` None), IN or a quantified comparison."""
        rng, pick = self.rng, self.rng.random()
        if pick < 0.72:
            return self.select(scopes, depth, kinds, limited=kinds is None)
        if pick < 0.86:
            return self.grouped(scopes, depth, kinds or ["int"])
        return self.united(scopes, depth, kinds or ["int"])

    def scalar(self, scopes, depth):
        rng = self.rng
        source, inner = self.sources(scopes, depth)
        scopes = [*scopes, inner]
        name = self.own(scopes)
        where = self.where(scopes, depth)
        if rng.random() < 0.2:
            return All("SELECT", name, source, where, f"ORDER BY {name}{rng.choice(['', ' DESC'])} LIMIT 1")
        what = rng.choice([f"MAX({name})", f"MIN({name})", "COUNT(*)", f"COUNT({name})", f"SUM({name})", f"MAX({name}) + {self.fixed(scopes)}",
                           f"COUNT(DISTINCT {name})"])
        having = Maybe(f"HAVING COUNT(*) {rng.choice(['>', '<='])} {rng.choice(['0', '1', '2'])}") if rng.random() < 0.15 else Text("")
        return All("SELECT", what, source, where, having)

    def select(self, scopes, depth, kinds=None, limited=False):
        rng = self.rng
        if rng.random() < 0.12 and depth == 0:
            return self.grouped(scopes, depth, kinds)
        source, inner = self.sources(scopes, depth)
        scopes = [*scopes, inner]
        if kinds is None and scopes[:-1] and rng.random() < 0.6:
            items, columns = Text(rng.choice(["1", "*", self.own(scopes)])), [("x", "int")]
        else:
            items, columns = self.items(scopes, depth, kinds)
        distinct = "DISTINCT" if rng.random() < 0.12 else ""
        # No OFFSET: MySQL forgets it where EXISTS is in a view and its query has a subquery that becomes a join.
        limit = Maybe(f"LIMIT {rng.choice(['1', '1', '2', '0'])}") if limited and rng.random() < 0.08 else Text("")
        return Query(All("SELECT", distinct, items, source, self.where(scopes, depth), limit), columns)

    def items(self, scopes, depth, kinds=None):
        rng = self.rng
        kinds = kinds or [rng.choice(["int", "int", "str"]) for _ in range(rng.randrange(1, 4))]
        parts, columns = [], []
        for n, kind in enumerate(kinds):
            deep = depth + 1 if depth else LEVELS_MAX - 1
            parts.append(All(self.value(scopes, deep if rng.random() < 0.5 else LEVELS_MAX, kind), f"AS x{n}"))
            columns.append((f"x{n}", kind))
        return Many(parts, least=len(parts)), columns

    def grouped(self, scopes, depth, kinds=None):
        rng = self.rng
        source, inner = self.sources(scopes, depth)
        scopes = [*scopes, inner]
        keys = list(dict.fromkeys(self.own(scopes, rng.choice(["int", "int", "str"])) for _ in range(rng.randrange(0, 3))))
        keys = [k for k in keys if "." in k]
        parts, columns = [], []
        for n, kind in enumerate(kinds or ["int"] * rng.randrange(1, 4)):
            name = self.own(scopes, kind)
            own_keys = [k for k in keys if k.endswith(".s") == (kind == "str")]
            if own_keys and rng.random() < 0.5:
                what = rng.choice(own_keys)
            elif kind == "str":
                what = rng.choice(["MAX", "MIN"]) + f"({name})"
            else:
                what = rng.choice([f"MAX({name})", f"MIN({name})", f"SUM({name})", "COUNT(*)", f"COUNT({name})", f"COUNT(DISTINCT {name})"])
            parts.append(f"{what} AS x{n}")
            columns.append((f"x{n}", kind))
        having = Text("")
        pick = rng.random()
        if pick < 0.2:
            having = Maybe(f"HAVING {rng.choice(['COUNT(*)', f'MAX({self.own(scopes)})', f'SUM({self.own(scopes)})'])} {rng.choice(COMPARE)} {rng.choice(['1', '2', self.fixed(scopes)])}")
        elif pick < 0.3 and depth < LEVELS_MAX:
            having = Maybe("HAVING", f"MAX({self.own(scopes)})", rng.choice(["IN", "NOT IN"]), Within("(", self.subquery(scopes[:-1] + [[]], depth + 1, ["int"]), ")"))
        # Of no rows at all MySQL gives the ROLLUP of a subquery a row or none, as its plan has it.
        rollup = rng.choice(["", "", "WITH ROLLUP"]) if depth == 0 else ""
        by = All("GROUP BY", Many(keys, least=len(keys)), rollup) if keys else ""
        return Query(All("SELECT", Many(parts, least=len(parts)), source, self.where(scopes, depth), by, having), columns)

    def united(self, scopes, depth, kinds=None):
        rng = self.rng
        kinds = kinds or [rng.choice(["int", "int", "str"]) for _ in range(rng.randrange(1, 3))]
        op = rng.choice(["UNION", "UNION ALL", "UNION ALL", "INTERSECT", "EXCEPT"])
        sides = [self.select(scopes, max(depth, 1), kinds) for _ in range(rng.choice([2, 2, 3]))]
        return Query(Many(sides, least=2, between=f" {op} "), sides[0].columns)

    def windowed(self, scopes, depth):
        rng = self.rng
        source, inner = self.sources(scopes, depth, most=2)
        scopes = [*scopes, inner]
        by = rng.choice(["", f"PARTITION BY {self.own(scopes)}"])
        call = rng.choice([f"RANK() OVER ({by} ORDER BY {self.own(scopes)})", f"COUNT(*) OVER ({by})", f"SUM({self.own(scopes)}) OVER ({by} ORDER BY {self.own(scopes)})",
                           f"MAX({self.own(scopes)}) OVER ({by})", f"DENSE_RANK() OVER ({by} ORDER BY {self.own(scopes)} DESC)"])
        return Query(All("SELECT", f"{self.own(scopes)} AS x0, {call} AS x1", source, self.where(scopes, depth)), [("x0", "int"), ("x1", "int")])

    # FROM

    def sources(self, scopes, depth, most=3):
        rng = self.rng
        count = min(most, rng.choice([1, 1, 1, 2, 2, 3] if depth < 2 else [1, 1, 1, 2]))
        part, first = self.source(scopes, depth, [])
        parts, sources = [part], [first]
        for n in range(1, count):
            kind = rng.choice([",", "JOIN", "JOIN", "LEFT JOIN", "LEFT JOIN", "LEFT JOIN", "RIGHT JOIN", "STRAIGHT_JOIN"])
            # LATERAL to the right of RIGHT JOIN reads nothing to the left.
            part, source = self.source(scopes, depth, sources if kind != "RIGHT JOIN" else None)
            if kind == ",":
                # It binds less than JOIN: what follows would not see what is before it.
                kind = "CROSS JOIN"
                parts.append(All(kind, part))
                sources.append(source)
                continue
            if n == 1 and rng.random() < 0.15:
                extra, third = self.source(scopes, depth, None)
                inner = self.on(scopes, [source, third], depth)
                part = Within("(", All(part, rng.choice(["JOIN", "LEFT JOIN"]), extra, "ON", inner), ")")
                joined = [source, third]
            else:
                joined = [source]
            sources = [*sources, *joined]
            parts.append(All(kind, part, "ON", Instead(self.on(scopes, sources, depth), "TRUE")))
        return All("FROM", *parts), sources

    def on(self, scopes, sources, depth):
        rng = self.rng
        left, right = rng.choice(sources[:-1]).names("int"), sources[-1].names("int")
        equal = Text(f"{rng.choice(left)} = {rng.choice(right)}") if left and right else Text("TRUE")
        pick = rng.random()
        if pick < 0.6:
            return equal
        inner = [*scopes, sources]
        # Subqueries in ON, too, seldom.
        more = self.condition(inner, depth, nested=depth < 2 and rng.random() < 0.3)
        return Many([equal, more], between=rng.choice([" AND ", " AND ", " OR "]))

    def source(self, scopes, depth, beside):
        """A table of FROM. `beside`: what a lateral one may read; None where it may not be lateral."""
        rng, pick = self.rng, self.rng.random()
        if pick < 0.76 or depth >= LEVELS_MAX:
            if self.ctes and rng.random() < 0.4:
                name, columns = rng.choice(self.ctes)
            elif self.views and rng.random() < 0.15:
                name, columns = rng.choice(self.views)
            else:
                table = rng.choice(self.tables)
                name, columns = table.name, table.columns
            alias = self.alias()
            return Text(f"{name} {alias}"), Source(alias, columns)
        lateral = beside is not None and beside and rng.random() < 0.5
        inner = [*scopes, beside] if lateral else scopes
        kind = rng.random()
        if kind < 0.5:
            query = self.select(inner, depth + 1, [rng.choice(["int", "int", "str"]) for _ in range(rng.randrange(1, 3))])
        elif kind < 0.75:
            query = self.grouped(inner, depth + 1, ["int"] * rng.randrange(1, 3))
        elif kind < 0.87:
            query = self.united(inner, depth + 1, ["int"] * rng.randrange(1, 3))
        elif self.windows:
            query = self.windowed(inner, depth + 1)
        else:
            query = self.select(inner, depth + 1, ["int"])
        alias = self.derived_alias()
        return Within("LATERAL (" if lateral else "(", query, f") AS {alias}"), Source(alias, query.columns)

    def with_common(self):
        rng = self.rng
        parts = []
        for n in range(rng.choice([1, 1, 2])):
            if rng.random() < 0.2:
                body = Text(f"SELECT 0 AS x0, 1 AS x1 UNION {rng.choice(['', 'ALL '])}SELECT x0 + 1, x1 * 2 FROM w{n} WHERE x0 < {rng.randrange(1, 4)}")
                columns = [("x0", "int"), ("x1", "int")]
            else:
                query = rng.choice([self.select, self.grouped, self.united, self.windowed])([], 1)
                body, columns = query, query.columns
            parts.append(Within(f"w{n} AS (", body, ")"))
            self.ctes.append((f"w{n}", columns))
        main = self.united([], 0) if rng.random() < 0.2 else self.select([], 0)
        return Query(All("WITH RECURSIVE", Many(parts, least=len(parts)), main), main.columns)

    def where(self, scopes, depth):
        rng = self.rng
        if rng.random() < 0.15:
            return Text("")
        conditions = [self.condition(scopes, depth) for _ in range(rng.choice([1, 1, 2, 2, 3]))]
        return Maybe("WHERE", Many(conditions, between=" AND "))


class Case:
    """One database of small tables and views over them, and queries; as `statements.Case`."""

    mode = "ONLY_FULL_GROUP_BY"

    def __init__(self, rng):
        self.rng = rng
        self.tables = [Small(rng, name) for name in "pqr"]
        self.views = []
        self.history = []

    def statements(self, count):
        for sql in self.setup():
            yield sql, True
        for _ in range(count):
            yield Nested(self.rng, self.tables, self.views).query()

    def setup(self):
        rng = self.rng
        for table in self.tables:
            yield table.create()
            yield from table.fill()
        for n in range(rng.choice([0, 1, 2])):
            maker = Nested(rng, self.tables, self.views, windows=False)
            query = maker.select([], 1, ["int"] * rng.randrange(1, 4)) if rng.random() < 0.6 else maker.grouped([], 1, ["int", "int"])
            yield f"CREATE VIEW v{n} AS {query.text()}"
            self.views.append((f"v{n}", query.columns))
