#!/usr/bin/env python3
"""Runs the 22 queries on two servers in turn, compares the results row by row and prints the times.

compare.py QUERIES CLEARWAY_PORT MARIADB_PORT [ROUNDS [NUMBER,...]]
The time of a query is the least of its rounds, results fetched; the servers alternate, so that both see the same neighbours.
"""

import sys
import time

import pymysql


def run(connection, query):
    started = time.perf_counter()
    with connection.cursor() as cursor:
        cursor.execute(query)
        rows = cursor.fetchall()
    return time.perf_counter() - started, rows


def first_difference(ours, theirs):
    if len(ours) != len(theirs):
        return f"{len(ours)} rows, not {len(theirs)}"
    for number, (a, b) in enumerate(zip(ours, theirs), 1):
        if a != b:
            return f"row {number}: {a} not {b}"
    return None


def main(queries, clearway_port, mariadb_port, rounds="3", only=""):
    wanted = {int(n) for n in only.split(",")} if only else None
    servers = [
        pymysql.connect(host="127.0.0.1", port=int(port), user="root", database="tpch", read_timeout=600)
        for port in (clearway_port, mariadb_port)
    ]
    totals, different = [0.0, 0.0], 0
    print("| query | rows | Clearway ms | MariaDB ms | ratio | result |\n| --- | --- | --- | --- | --- | --- |", flush=True)
    with open(queries, encoding="utf-8") as lines:
        for number, query in enumerate(lines, 1):
            if wanted and number not in wanted:
                continue
            best, results = [float("inf")] * 2, [(), ()]
            for _ in range(int(rounds)):
                for i, server in enumerate(servers):
                    took, results[i] = run(server, query)
                    best[i] = min(best[i], took)
            problem = first_difference(*results)
            different += problem is not None
            totals = [t + b for t, b in zip(totals, best)]
            ours, theirs = (b * 1000 for b in best)
            print(f"| {number} | {len(results[0])} | {ours:.1f} | {theirs:.1f} | {ours / theirs:.2f} | {problem or 'equal'} |", flush=True)
    ours, theirs = (t * 1000 for t in totals)
    print(f"| all | | {ours:.0f} | {theirs:.0f} | **{ours / theirs:.2f}** | {different} different |")
    return different != 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
