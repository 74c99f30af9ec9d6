"""Conditions on names reach the tables of information_schema before their rows are computed, and change no answer."""

import pytest
from harness import rows, run

BY_TABLE = {
    "CHECK_CONSTRAINTS": ("CONSTRAINT_SCHEMA", None),
    "COLUMNS": ("TABLE_SCHEMA", "TABLE_NAME"),
    "COLUMNS_EXTENSIONS": ("TABLE_SCHEMA", "TABLE_NAME"),
    "COLUMN_STATISTICS": ("SCHEMA_NAME", "TABLE_NAME"),
    "KEY_COLUMN_USAGE": ("CONSTRAINT_SCHEMA", "TABLE_NAME"),
    "PARTITIONS": ("TABLE_SCHEMA", "TABLE_NAME"),
    "REFERENTIAL_CONSTRAINTS": ("CONSTRAINT_SCHEMA", "TABLE_NAME"),
    "STATISTICS": ("INDEX_SCHEMA", "TABLE_NAME"),
    "TABLES": ("TABLE_SCHEMA", "TABLE_NAME"),
    "TABLES_EXTENSIONS": ("TABLE_SCHEMA", "TABLE_NAME"),
    "TABLE_CONSTRAINTS": ("TABLE_SCHEMA", "TABLE_NAME"),
    "TABLE_CONSTRAINTS_EXTENSIONS": ("CONSTRAINT_SCHEMA", "TABLE_NAME"),
    "VIEWS": ("TABLE_SCHEMA", "TABLE_NAME"),
    "VIEW_TABLE_USAGE": ("VIEW_SCHEMA", "VIEW_NAME"),
}
VALUES = (
    "= '{}'",
    "= '{} '",
    "= UPPER('{}')",
    "= '{}' COLLATE utf8mb4_0900_ai_ci",
    "= UPPER('{}') COLLATE utf8mb4_general_ci",
    "IN ('{}', 'nothing', NULL)",
    "IN ('nothing', UPPER('{}'), '{}')",
    "= NULL",
    "= _latin1'{}'",
)


@pytest.fixture
def schemas(db):
    run("DROP DATABASE IF EXISTS other", "CREATE DATABASE other", on=db)
    run("DROP TABLE IF EXISTS child, parent, Upper", "DROP VIEW IF EXISTS v", on=db)
    for schema in ("", "other."):
        run(
            f"CREATE TABLE {schema}parent (id INT PRIMARY KEY, n INT CHECK (n > 0), m INT, UNIQUE KEY (n))",
            f"CREATE TABLE {schema}child (id INT, n INT, KEY (n), FOREIGN KEY (n) REFERENCES {schema}parent (n))",
            f"INSERT INTO {schema}parent VALUES (1, 1, 1), (2, 2, 2)",
            f"ANALYZE TABLE {schema}parent UPDATE HISTOGRAM ON m",
            f"CREATE VIEW {schema}v AS SELECT c.id FROM {schema}child c JOIN {schema}parent p ON c.n = p.n",
            on=db,
        )
    run("CREATE TABLE Upper (id INT)", on=db)
    db.commit()
    yield db
    run("DROP VIEW v", "DROP TABLE child, parent, Upper", "DROP DATABASE other", on=db)


@pytest.mark.parametrize("table", BY_TABLE)
def test_names_that_are_sought_are_those_that_are_found(schemas, database, table):
    def names(column, name):
        if column is None:
            return [("1", "1")]
        # Behind a function the condition is asked of all rows.
        return [(f"x.{column} {value.format(name, name)}", f"TRIM(LEADING '' FROM x.{column}) {value.format(name, name)}") for value in VALUES]

    schema, name = BY_TABLE[table]
    found = 0
    for of_schema in (database, "other", "information_schema"):
        for of_name in ("child", "parent", "upper", "Upper", "v", "TABLES"):
            for by_schema, asked_schema in names(schema, of_schema)[:: 1 if of_name == "parent" else 4]:
                for by_name, asked_name in names(name, of_name)[:: 2 if of_schema == database else 5]:
                    # All of a table's columns but its figures, which background work may change.
                    columns = f"x.{schema}, {'x.' + name if name else '1'}, COUNT(*)"
                    query = f"SELECT {columns} FROM information_schema.{table} x WHERE {{}} AND {{}} GROUP BY 1, 2 ORDER BY 1, 2"
                    sought = rows(schemas, query.format(by_schema, by_name))
                    assert sought == rows(schemas, query.format(asked_schema, asked_name)), (by_schema, by_name)
                    found += len(sought)
    assert found > 0


def test_the_present_database_is_sought(schemas, database):
    assert rows(schemas, "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() ORDER BY 1") == (
        ("Upper",),
        ("child",),
        ("parent",),
        ("v",),
    )
    joined = "SELECT c.COLUMN_NAME FROM information_schema.TABLES t LEFT JOIN information_schema.COLUMNS c ON c.TABLE_NAME = t.TABLE_NAME"
    assert rows(schemas, f"{joined} AND c.TABLE_SCHEMA = 'nothing' WHERE t.TABLE_SCHEMA = 'other' AND t.TABLE_NAME = 'parent'") == ((None,),)


# Of each table the columns that name a schema, a table or a part of one.
NAMING = {
    "information_schema.CHECK_CONSTRAINTS": "CONSTRAINT_SCHEMA CONSTRAINT_NAME",
    "information_schema.INNODB_TABLES": "NAME",
    "information_schema.INNODB_TABLESTATS": "NAME",
    "information_schema.KEY_COLUMN_USAGE": "TABLE_NAME CONSTRAINT_NAME REFERENCED_TABLE_SCHEMA REFERENCED_TABLE_NAME",
    "information_schema.REFERENTIAL_CONSTRAINTS": "CONSTRAINT_NAME UNIQUE_CONSTRAINT_SCHEMA REFERENCED_TABLE_NAME TABLE_NAME",
    "information_schema.TRIGGERS": "TRIGGER_SCHEMA TRIGGER_NAME EVENT_OBJECT_SCHEMA EVENT_OBJECT_TABLE",
    "mysql.innodb_table_stats": "database_name table_name",
    "mysql.innodb_index_stats": "database_name table_name index_name",
}
WORDS = (
    "sought", "SOUGHT", "Sought2", "parent", "Parent", "PARENT", "a/b", "énfant", "enfant", "sought/parent", "SOUGHT/Parent", "sought/x/a/b",
    "Sought2/énfant", "sought2/a/b", "sought/", "Chk", "chk", "Fk", "fk", "fk é", "FK E", "trigger e", "Trigger é", "v", "", "no",
)  # fmt: skip


@pytest.mark.parametrize("table", NAMING)
def test_tables_are_found_by_all_that_names_them(start, table):
    connection = start().connect()
    for schema in ("sought", "Sought2", "sought/x"):
        run(
            f"CREATE DATABASE `{schema}`",
            f"USE `{schema}`",
            "CREATE TABLE parent (id INT PRIMARY KEY, u INT UNIQUE)",
            "CREATE TABLE Parent (id INT PRIMARY KEY, CONSTRAINT `Chk` CHECK (id > 0))",
            "CREATE TABLE `a/b` (id INT PRIMARY KEY, p INT, CONSTRAINT `Fk` FOREIGN KEY (p) REFERENCES parent (id))",
            "CREATE TABLE `énfant` (p INT, CONSTRAINT `fk é` FOREIGN KEY (p) REFERENCES sought.Parent (id), CHECK (p <> 7))",
            "CREATE TRIGGER `Trigger é` BEFORE INSERT ON `a/b` FOR EACH ROW SET NEW.p = 1",
            "CREATE VIEW v AS SELECT * FROM parent",
            on=connection,
        )
    found = 0
    for column in NAMING[table].split():
        for word in WORDS:
            for query in (f"SELECT * FROM {table} x WHERE x.{column} = '{word}'", f"SELECT * FROM {table} x WHERE x.{column} IN ('{word}', 'no')"):
                # Behind a function the condition is asked of all rows.
                asked = query.replace(f"x.{column}", f"CONCAT(x.{column}, '')")
                sought = sorted(map(repr, rows(connection, query)))
                assert sought == sorted(map(repr, rows(connection, asked))), query
                found += len(sought)
    assert found > 0
