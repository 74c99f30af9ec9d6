"""Random views, foreign keys and transactions, over given tables."""

from schema import Column, Table

ACTIONS = ["CASCADE", "CASCADE", "SET NULL", "RESTRICT", "NO ACTION"]


class View(Table):
    """A view of one table: whatever it leaves out, its key stays, so that it can be changed as the table can."""

    def __init__(self, rng, name, table, where):
        self.name, self.key, self.increments = name, table.key, table.increments
        self.columns = [c for c in table.columns if rng.random() < 0.8]
        self.base = table
        names = ", ".join(c.name for c in self.all())
        select = f"SELECT {names} FROM {table.name}"
        if where:
            select += f" WHERE {where}"
            select += rng.choice(["", " WITH CHECK OPTION", " WITH LOCAL CHECK OPTION", " WITH CASCADED CHECK OPTION"])
        algorithm = rng.choice(["", "", "ALGORITHM=MERGE "])
        self.lines = [f"CREATE {algorithm}VIEW {name} AS {select}"]

    def create(self):
        return self.lines[0]


def add_foreign_key(rng, child, parent):
    """Gives `child` a column that refers to the key of `parent`; `child` was not made yet. Not where numbers are generated, nor within one
    table: 9.7 looks for parents before it writes a row, so refused rows take no numbers and a row is no parent of its own."""
    if len(parent.key) != 1 or child.increments or child is parent:
        return False
    column = Column(f"{child.name}z", "INT", "int", ["NULL", "NULL", *map(str, range(1, 8))])
    child.columns.append(column)
    child.lines.insert(len(child.key), f"{column.name} INT")
    update = rng.choice([a for a in ACTIONS if child is not parent or a != "CASCADE"])
    child.lines.append(f"FOREIGN KEY ({column.name}) REFERENCES {parent.name} (id) ON DELETE {rng.choice(ACTIONS)} ON UPDATE {update}")
    return True


def scripts(rng, changes):
    """A transaction: changes with savepoints, which it keeps or takes back. Statements, and the tables to look at afterwards."""
    seen, names = [], []
    yield rng.choice(["BEGIN", "START TRANSACTION", "SET autocommit = 0"])
    for _ in range(rng.randrange(2, 6)):
        pick = rng.random()
        if pick < 0.2:
            names.append(f"s{rng.randrange(3)}")
            yield f"SAVEPOINT {names[-1]}"
        elif pick < 0.35 and names:
            yield rng.choice(["ROLLBACK TO", "ROLLBACK TO SAVEPOINT", "RELEASE SAVEPOINT"]) + f" {rng.choice(names)}"
        else:
            table, statement = changes.change(ddl=False)
            seen.append(table)
            yield statement
    yield rng.choice(["COMMIT", "ROLLBACK"])
    yield "SET autocommit = 1"
    for table in dict.fromkeys(seen):
        yield f"SELECT * FROM {table.name} ORDER BY {table.order()}"
