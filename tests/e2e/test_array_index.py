"""Multi-valued indexes under concurrent changes and kill -9: what they find is what a scan of the table finds.

Clients change random rows in transactions, some of which roll back, and ask the same questions with the index and without, in one
snapshot or with locks. After each kill -9 CHECK TABLE compares every entry with the elements of its row."""

import json
import os
import random
import threading
import time

import pymysql
import pytest
from harness import rows, run, value

ROUNDS = int(os.environ.get("CRASH_ROUNDS", "2"))
CLIENTS = 4
ROWS, TAGS = 60, 12
RETRY = (1213, 1205)
DUPLICATE = 1062

TAG = "(CAST(doc->'$.t' AS UNSIGNED ARRAY))"
SCHEMA = [
    "CREATE DATABASE d",
    f"CREATE TABLE d.docs (id INT PRIMARY KEY, g INT, doc JSON, KEY tags ({TAG}), KEY g_tags (g, {TAG}),"
    " KEY words ((CAST(doc->'$.w' AS CHAR(8) ARRAY)), g), UNIQUE KEY own ((CAST(doc->'$.o' AS SIGNED ARRAY))))",
]


def document(chance):
    doc = {"t": [chance.randrange(TAGS) for _ in range(chance.randrange(5))], "w": [f"w{chance.randrange(TAGS)}"]}
    if chance.random() < 0.2:
        # JSON_CONTAINS of an array is true of a scalar alone where the index, whose column is an array, is asked: a tag of its own.
        doc["t"] = TAGS
    if chance.random() < 0.1:
        del doc["t"]
    if chance.random() < 0.5:
        doc["o"] = [chance.randrange(-400, 400) for _ in range(chance.randrange(4))]
    return json.dumps(doc)


def question(chance):
    """A condition, and the index that can answer it."""
    tags = json.dumps([chance.randrange(TAGS) for _ in range(chance.randrange(1, 4))])
    tag, g = chance.randrange(TAGS + 1), chance.randrange(3)
    return chance.choice([
        (f"{tag} MEMBER OF (doc->'$.t')", "tags"),
        (f"JSON_CONTAINS(doc->'$.t', '{tags}')", "tags"),
        (f"JSON_OVERLAPS(doc->'$.t', '{tags}')", "tags"),
        (f"JSON_OVERLAPS(doc->'$.t', '{tags}') AND id > {chance.randrange(ROWS)}", "tags"),
        (f"g = {g} AND {tag} MEMBER OF (doc->'$.t')", "g_tags"),
        (f"g IN ({g}, 1) AND JSON_OVERLAPS(doc->'$.t', '{tags}')", "g_tags"),
        (f"{tag} MEMBER OF (doc->'$.t') OR 3 MEMBER OF (doc->'$.t')", "tags"),
        (f"'w{tag}' MEMBER OF (doc->'$.w') AND g < 2", "words"),
        (f"JSON_OVERLAPS(doc->'$.o', '[{tag}, {-tag}, 1, 2, 3]')", "own"),
    ])


class Client(threading.Thread):
    def __init__(self, server, seed):
        super().__init__(daemon=True)
        self.server, self.random = server, random.Random(seed)
        self.changed = self.asked = self.locked = 0
        self.problem = None

    def run(self):
        try:
            connection = self.server.connect(database="d", autocommit=False)
            while True:
                try:
                    self.transaction(connection)
                except pymysql.MySQLError as error:
                    if error.args[0] not in RETRY:
                        raise
                    connection.rollback()
        except pymysql.err.OperationalError as error:
            if error.args[0] not in (2003, 2006, 2013):
                self.problem = error
        except (OSError, pymysql.err.InterfaceError):
            pass
        except Exception as error:  # Whatever else it is, the test must hear of it.
            self.problem = error

    def transaction(self, connection):
        for _ in range(self.random.randrange(1, 5)):
            if self.random.random() < 0.4:
                self.ask(connection, "")
                self.asked += 1
            else:
                try:
                    self.change(connection)
                except pymysql.MySQLError as error:
                    if error.args[0] != DUPLICATE:
                        raise
        if self.random.random() < 0.1:
            self.ask(connection, " FOR UPDATE")
            self.locked += 1
        connection.rollback() if self.random.random() < 0.3 else connection.commit()

    def ask(self, connection, lock):
        condition, index = question(self.random)
        found = rows(connection, f"SELECT id FROM docs FORCE INDEX ({index}) WHERE {condition}{lock}")
        there = rows(connection, f"SELECT id FROM docs IGNORE INDEX (tags, g_tags, words, own) WHERE {condition}{lock}")
        assert sorted(found) == sorted(there), f"{condition}{lock}: {sorted(found)} by index {index}, but there are {sorted(there)}"

    def change(self, connection):
        chance = self.random
        i, g, doc = chance.randrange(ROWS), chance.randrange(3), document(chance)
        condition, _ = question(chance)
        statement, arguments = chance.choice([
            ("INSERT INTO docs VALUES (%s, %s, %s)", (i, g, doc)),
            ("INSERT IGNORE INTO docs VALUES (%s, %s, %s)", (i, g, doc)),
            ("REPLACE INTO docs VALUES (%s, %s, %s)", (i, g, doc)),
            ("INSERT INTO docs VALUES (%s, %s, %s) AS new ON DUPLICATE KEY UPDATE doc = new.doc", (i, g, doc)),
            ("UPDATE docs SET doc = %s WHERE id = %s", (doc, i)),
            ("UPDATE docs SET id = %s, g = %s WHERE id = %s", (i, g, chance.randrange(ROWS))),
            (f"UPDATE docs SET doc = JSON_ARRAY_APPEND(doc, '$.t', {chance.randrange(TAGS)}) WHERE {condition.replace('%', '%%')}"
             " AND JSON_LENGTH(doc->'$.t') < 8", None),
            (f"UPDATE docs SET doc = JSON_SET(doc, '$.t', JSON_ARRAY({chance.randrange(TAGS)})) WHERE {condition} LIMIT 3", None),
            (f"DELETE FROM docs WHERE {condition} LIMIT 2", None),
        ])
        self.changed += run_with(connection, statement, arguments)


def run_with(connection, statement, arguments):
    with connection.cursor() as cursor:
        return cursor.execute(statement, arguments)


def check(connection, chance):
    assert [row[2:] for row in rows(connection, "CHECK TABLE d.docs")] == [("status", "OK")]
    asker = Client(None, chance.random())
    run("USE d", on=connection)
    for _ in range(100):
        asker.ask(connection, "")


def test_what_the_index_finds_is_what_is_there(start, kind):
    if kind != "clearway":
        pytest.skip("MariaDB has no such indexes")
    seed = int(os.environ.get("CRASH_SEED", time.time_ns() % 10**9))
    print(f"CRASH_SEED={seed}")
    chance = random.Random(seed)
    server = start("--innodb_buffer_pool_size=16M", "--innodb-lock-wait-timeout=2")
    admin = server.connect()
    run(*SCHEMA, on=admin)
    changed = asked = locked = 0
    for round_number in range(ROUNDS):
        clients = [Client(server, chance.random()) for _ in range(CLIENTS)]
        for client in clients:
            client.start()
        # The one thing here that must happen at a random moment.
        threading.Event().wait(chance.uniform(1.0, 2.5))
        if round_number % 2:
            # Builds an index beside them, and one by copying the table.
            run("ALTER TABLE d.docs ADD KEY plain (g, id)", f"ALTER TABLE d.docs DROP KEY tags, ADD KEY tags ({TAG})",
                "ALTER TABLE d.docs DROP KEY plain", on=admin)
        server.kill()
        for client in clients:
            client.join(60)
            assert not client.is_alive(), "a client hangs on a dead server"
            assert client.problem is None, f"round {round_number}: {client.problem!r}"
            changed, asked, locked = changed + client.changed, asked + client.asked, locked + client.locked
        server.start()
        admin = server.connect()
        check(admin, chance)
    assert changed > 20 * ROUNDS and asked > 20 * ROUNDS and locked > 0, f"no load: {changed}, {asked}, {locked}"
    assert server.stop() == 0
    server.start()
    check(server.connect(), chance)


def test_a_duplicate_element_leads_to_its_row(server, database):
    """REPLACE and ON DUPLICATE KEY UPDATE find each row that has an element of the new one."""
    connection = server.connect(database=database)
    run("CREATE TABLE t (id INT PRIMARY KEY, j JSON, UNIQUE KEY u ((CAST(j AS UNSIGNED ARRAY))))",
        "INSERT INTO t VALUES (1, '[1,2]'), (2, '[3]'), (3, '[4,5]'), (4, '[6]')", on=connection)
    assert run("REPLACE INTO t VALUES (5, '[7, 2, 5]')", on=connection) == 3
    assert rows(connection, "SELECT id FROM t ORDER BY id") == ((2,), (4,), (5,))
    assert run("INSERT INTO t VALUES (6, '[8, 7]') ON DUPLICATE KEY UPDATE j = '[1, 9]'", on=connection) == 2
    assert rows(connection, "SELECT id FROM t WHERE JSON_CONTAINS(j, '[1, 9]')") == ((5,),)
    assert value(connection, "SELECT COUNT(*) FROM t WHERE JSON_OVERLAPS(j, '[2,4,5,7,8]')") == 0
    with pytest.raises(pymysql.err.IntegrityError, match="1062"):
        run("INSERT INTO t VALUES (7, '[10, 6]')", on=connection)
    # Nothing of the refused row stays.
    assert value(connection, "SELECT COUNT(*) FROM t WHERE 10 MEMBER OF (j)") == 0
    assert rows(connection, "CHECK TABLE t")[0][3] == "OK"


def test_joins_meet_each_row_once(server, database):
    connection = server.connect(database=database)
    run("CREATE TABLE t (a INT, j JSON, KEY k (a, (CAST(j AS UNSIGNED ARRAY))))",
        "INSERT INTO t VALUES (1, '[1,2,3]'), (1, '[2,3]'), (2, '[3]'), (2, '[4]'), (3, '[]')", on=connection)
    for hint in ("FORCE INDEX (k)", "IGNORE INDEX (k)"):
        on = f"SELECT COUNT(*) FROM t x JOIN t y {hint} ON y.a = x.a AND JSON_OVERLAPS(y.j, '[1,2,3]')"
        assert value(connection, on) == 6, hint
        outer = f"SELECT COUNT(*) FROM t x LEFT JOIN t y {hint} ON y.a = x.a AND JSON_OVERLAPS(y.j, '[1,2,3]')"
        assert value(connection, outer) == 7, hint
