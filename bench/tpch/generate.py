#!/usr/bin/env python3
"""Writes TPC-H's tables as INSERT statements and prints the 22 queries in MySQL's words.

generate.py SCALE DIRECTORY      TABLE.sql for each table, and queries.sql, a query a line
Data and queries are those of DuckDB's generator: pip install duckdb==1.5.5 duckdb-extension-tpch==1.5.5
"""

import glob
import os
import re
import sys

import duckdb
import duckdb_extension_tpch

TABLES = "region nation part supplier partsupp customer orders lineitem".split()
ROWS_PER_STATEMENT = 2000


def literal(value):
    text = str(value)
    if isinstance(value, str) or "-" in text[1:]:
        return "'" + text.replace("\\", "\\\\").replace("'", "''") + "'"
    return text


def in_mysql_words(query):
    """On one line, and without a list of columns behind a derived table, which MariaDB does not know."""
    line = re.sub(r"\s+", " ", query).strip().rstrip(";")
    return line.replace("count(o_orderkey) FROM", "count(o_orderkey) AS c_count FROM").replace("c_orders (c_custkey, c_count)", "c_orders")


def main(scale, directory):
    db = duckdb.connect()
    home = os.path.dirname(duckdb_extension_tpch.__file__)
    db.execute(f"LOAD '{glob.glob(os.path.join(home, 'extensions', '*', 'tpch.duckdb_extension'))[0]}'")
    db.execute(f"CALL dbgen(sf={float(scale)})")
    for table in TABLES:
        rows = db.execute(f"SELECT * FROM {table}")
        with open(os.path.join(directory, table + ".sql"), "w", encoding="utf-8") as out:
            while some := rows.fetchmany(ROWS_PER_STATEMENT):
                values = ",".join("(" + ",".join(map(literal, row)) + ")" for row in some)
                out.write(f"INSERT INTO {table} VALUES {values};\n")
    queries = db.execute("SELECT query FROM tpch_queries() ORDER BY query_nr").fetchall()
    with open(os.path.join(directory, "queries.sql"), "w", encoding="utf-8") as out:
        for (query,) in queries:
            out.write(in_mysql_words(query) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
