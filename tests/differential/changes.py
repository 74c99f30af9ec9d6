"""Random INSERT, REPLACE, UPDATE, DELETE and ALTER TABLE on given tables."""

from expressions import make
from queries import Queries, Source
from schema import EASY, TYPES, Column
from structures import View
from tree import All, Many, Maybe, Text


class Changes:
    def __init__(self, rng, tables):
        self.rng, self.tables = rng, tables
        self.queries = Queries(rng, tables)

    def change(self, ddl=True):
        """(table that changes, statement)"""
        table = self.rng.choice(self.tables)
        pick = self.rng.random() * (1.0 if ddl and not isinstance(table, View) else 0.92)
        if pick < 0.40:
            return table, self.insert(table, rows=self.rng.randrange(1, 4))
        if pick < 0.52:
            return table, self.insert_select(table)
        if pick < 0.78:
            return table, self.update(table)
        if pick < 0.92:
            return table, self.delete(table)
        return table, self.alter(table)

    def value(self, column):
        rng = self.rng
        if rng.random() < 0.06:
            return "DEFAULT"
        if rng.random() < 0.25 and column.kind in ("int", "num"):
            return rng.choice(EASY)
        if rng.random() < 0.1:
            return make(rng, column.kind, 1, {}).text()
        return column.value(rng)

    def columns(self, table):
        """Which columns an INSERT names."""
        key = [] if table.increments and self.rng.random() < 0.6 else table.key
        return [*key, *[c for c in table.writable() if self.rng.random() < 0.8]]

    def insert(self, table, rows):
        rng = self.rng
        columns = self.columns(table)
        names = ", ".join(c.name for c in columns)
        verb = rng.choice(["INSERT INTO"] * 5 + ["INSERT IGNORE INTO", "INSERT IGNORE", "REPLACE INTO"])
        values = ", ".join("(" + ", ".join(self.value(c) for c in columns) + ")" for _ in range(rows))
        statement = f"{verb} {table.name} ({names}) VALUES {values}"
        if not verb.startswith("REPLACE") and rng.random() < 0.3:
            statement += self.on_duplicate(table, "VALUES({0})")
        return statement

    def on_duplicate(self, table, inserted):
        choices = table.writable()
        sets = []
        for c in self.rng.sample(choices, min(len(choices), self.rng.randrange(1, 3))):
            number = c.kind in ("int", "num")
            sets.append(f"{c.name} = " + self.rng.choice([inserted.format(c.name), self.value(c), f"{c.name} + 1" if number else self.value(c)]))
        return " ON DUPLICATE KEY UPDATE " + ", ".join(sets) if sets else ""

    def insert_select(self, table):
        rng = self.rng
        source = rng.choice(self.tables)
        columns = [c for c in self.columns(table) if c.name != "id" or rng.random() < 0.5 or not table.increments]
        items = []
        for c in columns:
            same = [s.name for s in source.all() if s.kind == c.kind]
            items.append(rng.choice(same) if same and rng.random() < 0.8 else self.value(c).replace("DEFAULT", "NULL"))
        verb = rng.choice(["INSERT INTO", "INSERT INTO", "INSERT IGNORE INTO", "REPLACE INTO"])
        if not columns:
            return f"{verb} {table.name} VALUES ()"
        tail = self.on_duplicate(table, "VALUES({0})") if verb == "INSERT INTO" and rng.random() < 0.2 and source is not table else ""
        return (f"{verb} {table.name} ({', '.join(c.name for c in columns)}) SELECT {', '.join(items)} FROM {source.name}"
                f" ORDER BY {source.order()} LIMIT {rng.randrange(1, 4)}{tail}")

    def where(self, table):
        source = Source(None, table.name, [(c.name, c.kind) for c in table.all()], [])
        return self.queries.condition([source], 1) if self.rng.random() < 0.6 else Text(f"{table.name}.id < {self.rng.randrange(1, 30)}")

    def update(self, table):
        rng = self.rng
        sets = []
        for c in rng.sample(table.writable(), min(len(table.writable()), rng.randrange(1, 3))):
            scope = {}
            for s in table.all():
                scope.setdefault(s.kind, []).append(s.name)
            sets.append(All(c.name, "=", rng.choice([lambda: Text(self.value(c)), lambda: make(rng, c.kind, 1, scope)])()))
        if not sets or rng.random() < 0.05:
            sets = [Text(rng.choice(["id = id + 100", "id = id - 1", f"id = {rng.randrange(1, 40)}"]))]
        verb = rng.choice(["UPDATE", "UPDATE", "UPDATE IGNORE"])
        others = [t for t in self.tables if t is not table]
        if others and rng.random() < 0.2:
            other = rng.choice(others)
            return self.update_many(table, other, verb, sets)
        order = f"ORDER BY {table.order()}"
        limit = f"LIMIT {rng.randrange(1, 5)}" if rng.random() < 0.3 else ""
        return All(verb, table.name, "SET", Many(sets), "WHERE", self.where(table), order, limit).text()

    def update_many(self, table, other, verb, sets):
        """An UPDATE of one or two joined tables."""
        rng = self.rng
        join = rng.choice(["JOIN", "JOIN", "LEFT JOIN"])
        sets = self.qualified(table, sets)
        scope = {}
        for s in [*table.all(), *other.all()]:
            scope.setdefault(s.kind, []).append(("" if s.name not in ("id", "k2") else f"{table.name}.") + s.name)
        if other.writable() and rng.random() < 0.4:
            c = rng.choice(other.writable())
            sets = [*sets, All(f"{other.name}.{c.name} =", rng.choice([lambda: Text(self.value(c)), lambda: make(rng, c.kind, 1, scope)])())]
        where = f"WHERE {table.name}.id < {rng.randrange(30)}" if rng.random() < 0.5 else ""
        return All(verb, f"{table.name} {join} {other.name} ON {table.name}.id = {other.name}.id SET", Many(sets), where).text()

    def qualified(self, table, sets):
        return [Text(f"{table.name}.{table.writable()[0].name} = {self.value(table.writable()[0])}")] if table.writable() else sets

    def delete(self, table):
        rng = self.rng
        others = [t for t in self.tables if t is not table]
        if others and rng.random() < 0.25:
            other = rng.choice(others)
            if rng.random() < 0.4:
                return (f"DELETE {rng.choice([table.name, f'{table.name}, {other.name}'])} FROM {table.name}"
                        + f" {rng.choice(['LEFT JOIN', 'JOIN'])} {other.name} ON {table.name}.id = {other.name}.id WHERE {other.name}.id < {rng.randrange(15)}")
            return f"DELETE {table.name} FROM {table.name} JOIN {other.name} ON {table.name}.id = {other.name}.id AND {other.name}.id < {rng.randrange(9)}"
        return All("DELETE", rng.choice(["", "", "IGNORE"]), "FROM", table.name, "WHERE", self.where(table),
                   f"ORDER BY {table.order()} LIMIT {rng.randrange(1, 4)}").text()

    def alter(self, table):
        rng = self.rng
        pick = rng.random()
        taken = {c.name for c in table.all()}
        action = None
        if pick < 0.3:
            column = Column(next(f"{table.name}n{i}" for i in range(99) if f"{table.name}n{i}" not in taken), *rng.choice(TYPES))
            null = rng.choice(["", " NOT NULL"]) if "NULL" not in column.type else ""
            action = f"ADD COLUMN {column.name} {column.type}{null}" + rng.choice(["", " FIRST", " AFTER id"])
            table.columns.append(column)
        elif pick < 0.55 and table.writable():
            column = rng.choice(table.writable())
            new = rng.choice([t for t in TYPES if t[1] == column.kind or rng.random() < 0.1])
            null = rng.choice(["", "", " NOT NULL"]) if "NULL" not in new[0] else ""
            action = f"MODIFY {column.name} {new[0]}{null}" + rng.choice(["", "", "", " FIRST"])
        elif pick < 0.8:
            action = self.alter_more(table, taken)
        elif table.writable():
            column = rng.choice(table.writable())
            if column.kind in ("int", "num", "date", "time"):
                action = f"ADD {rng.choice(['KEY', 'UNIQUE', 'KEY'])} y{rng.randrange(3)} ({column.name})"
        return f"ALTER TABLE {table.name} {action or self.alter_more(table, taken) or 'FORCE'}"

    def alter_more(self, table, taken):
        rng = self.rng
        spare = [c for c in table.writable() if c.name[-1] != "z"]
        if not spare:
            return None
        column = rng.choice(spare)
        number = column.kind in ("int", "num")

        def drop():
            if len(table.columns) < 3:
                return "FORCE"
            table.columns.remove(column)
            return f"DROP COLUMN {column.name}"

        return rng.choice([
            drop, lambda: f"ALTER COLUMN {column.name} SET DEFAULT {'7' if number else self.value(column).replace('DEFAULT', 'NULL')}",
            lambda: f"ALTER COLUMN {column.name} DROP DEFAULT", lambda: f"DROP INDEX x{rng.randrange(2)}", lambda: f"ADD CHECK ({column.name} IS NOT NULL)",
            lambda: f"RENAME INDEX x0 TO x{rng.randrange(5, 7)}", lambda: "ORDER BY id", lambda: f"AUTO_INCREMENT = {rng.randrange(1, 60)}",
            lambda: f"CHANGE {column.name} {column.name} {rng.choice([t for t in TYPES if t[1] == column.kind])[0]}, ADD KEY z{rng.randrange(9)} (id)",
            lambda: "CONVERT TO CHARACTER SET " + rng.choice(["latin1", "utf8mb4", "utf8mb4 COLLATE utf8mb4_bin"]),
            lambda: f"ADD INDEX e{rng.randrange(9)} ((COALESCE({column.name}, {column.name})))" if number else "COMMENT = 'c'"])()
