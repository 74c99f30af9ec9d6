"""Statements that take all they can get: depth, width, size and time, with random parameters, beside a connection that selects points.

Of each: the server lives, the statement ends within a second of KILL QUERY at a random moment, memory stays below a bound and comes back to
its level, the point selects go on. What fails is made small and told. `python3 tests/e2e/hostile.py --rounds 20` runs each kind so often;
`--kind NAME --seed N` what a run has told. The server has `clearway_memory_size`, and its resident memory is watched.
"""

import argparse
import random
import sys
import threading
import time

import harness
import pymysql

MIB = 1024  # in KiB
MEMORY_KIB = 2048 * MIB
# What may be left of a statement in the allocator and the buffer pool.
LEVEL_KIB = 192 * MIB
LEVEL_SECONDS = 30
POINT_SECONDS = 1.0


class Draw:
    """Random numbers of a statement, each written down, so that it can be made again with others in some places."""

    def __init__(self, seed, fixed=()):
        self.random = random.Random(seed)
        self.fixed = list(fixed)
        self.taken = []

    def number(self, low, high):
        """Small ones more often than great ones."""
        return self.take(low, int(low + (high - low + 1) * self.random.random() ** 2))

    def take(self, low, drawn):
        at = len(self.taken)
        value = self.fixed[at] if at < len(self.fixed) else drawn
        self.taken.append((value, low))
        return value

    def choice(self, options):
        return options[self.take(0, self.random.randrange(len(options))) % len(options)]


# Texts of about {n} bytes.
TEXTS = ["REPEAT('a', {n})", "REPEAT('ab,', {n} DIV 3)", "REPEAT('ä', {n} DIV 2)", "REPEAT(x'00', {n})", "SPACE({n})",
         "CONCAT(REPEAT('a', {n}), RAND())", "REPEAT('<a>1</a>', {n} DIV 8)", "REPEAT('''\\\\', {n} DIV 2)", "REPEAT(CHAR(RAND() * 255), {n})"]
# Documents, of elements, of members, of texts, of other documents.
DOCUMENTS = ["CAST(CONCAT('[1', REPEAT(',1', {n} DIV 2), ']') AS JSON)", "CAST(CONCAT('[\"a', REPEAT('\",\"a', {n} DIV 4), '\"]') AS JSON)",
             "JSON_ARRAY(REPEAT('a', {n}))", "JSON_OBJECT('a', REPEAT('a', {n}), 'b', JSON_ARRAY(1, 2))",
             "CAST(CONCAT('[[]', REPEAT(',[]', {n} DIV 3), ']') AS JSON)", "CAST(CONCAT(REPEAT('[', {n} MOD 101), REPEAT(']', {n} MOD 101)) AS JSON)",
             "(SELECT JSON_OBJECTAGG(CONCAT('k', a.i, '_', b.i), a.i) FROM n a, n b WHERE a.i * 300 + b.i < {n} DIV 100)"]

# {x} and {y} are texts, {j} a document, {k} a number, {m} a length.
FUNCTIONS = """
CONCAT({x}, {x}) | CONCAT_WS({y}, {x}, {x}, {x}) | REPEAT({x}, {k}) | LPAD({x}, {m}, {y}) | RPAD({x}, {m}, {y}) | INSERT({x}, {k}, {k}, {x})
REPLACE({x}, 'a', {y}) | REPLACE({x}, {y}, 'b') | REVERSE({x}) | UPPER({x}) | LOWER({x}) | TRIM(BOTH 'a' FROM {x}) | TRIM({x})
SUBSTRING_INDEX({x}, ',', {k}) | SUBSTRING_INDEX({x}, 'a', -{k}) | SUBSTRING({x}, {k}) | LEFT({x}, {m}) | RIGHT({x}, {m})
LOCATE({y}, {x}) | LOCATE('b', {x}, {k}) | INSTR({x}, {y}) | FIND_IN_SET('b', {x}) | FIELD({x}, {y}, {x}) | ELT(1 + {k} MOD 3, {x}, {y}, {x})
MAKE_SET(-1, {x}, {y}, {x}) | EXPORT_SET(-1, {x}, {y}, {y}, 64) | EXPORT_SET({k}, {x}, 'b') | QUOTE({x}) | HEX({x}) | UNHEX(HEX({x}))
TO_BASE64({x}) | FROM_BASE64(TO_BASE64({x})) | WEIGHT_STRING({x}) | WEIGHT_STRING({x} AS CHAR({m})) | WEIGHT_STRING({x} AS BINARY({m}))
SOUNDEX({x}) | COMPRESS({x}) | UNCOMPRESS(COMPRESS({x})) | MD5({x}) | SHA2({x}, 512) | AES_ENCRYPT({x}, 'k') | CRC32({x})
AES_DECRYPT(AES_ENCRYPT({x}, 'k'), 'k') | CAST({x} AS BINARY({m})) | CAST({x} AS CHAR({m})) | CAST({x} AS DECIMAL(65, 30)) | CAST({x} AS DATETIME)
CONVERT({x} USING utf16) | CONVERT({x} USING latin1) | CONVERT({x} USING utf8mb3) | {x} = {y} COLLATE utf8mb4_general_ci | STRCMP({x}, {y})
{x} LIKE CONCAT('%', {y}, '%b') | {x} LIKE '%a%a%a%a%b' | {x} REGEXP '(a+)+b' | REGEXP_REPLACE({x}, 'a', {y}) | REGEXP_SUBSTR({x}, 'a*b', 1, {k})
REGEXP_INSTR({x}, '(a|b)*c') | REGEXP_LIKE({x}, {y}) | CHAR_LENGTH({x}) | ORD({x}) | GREATEST({x}, {y}, {x}) | LEAST({x}, {y}) | COALESCE(NULL, {x})
CASE {x} WHEN {y} THEN {x} ELSE {y} END | IF({x} < {y}, {x}, {y}) | {x} + 1 | -{x} | CONV({x}, 36, 2) | FORMAT({x}, 30) | DATE_FORMAT('2020-01-01', {x})
STR_TO_DATE({x}, {x}) | {x} IN ({y}, {y}, {x}) | {x} BETWEEN {y} AND {x} | INET6_ATON({x}) | STATEMENT_DIGEST(CONCAT('SELECT ', {x}))
CAST({x} AS BINARY) & CAST({x} AS BINARY) | ~CAST({x} AS BINARY) | CAST({x} AS BINARY) << {k} | EXTRACTVALUE({x}, '//a') | UPDATEXML({x}, '/a', {y})
JSON_ARRAY({x}, {x}, {x}) | JSON_OBJECT('a', {x}, 'b', {x}) | JSON_QUOTE({x}) | JSON_UNQUOTE(JSON_QUOTE({x})) | JSON_PRETTY({j})
JSON_MERGE_PRESERVE({j}, {j}, {j}) | JSON_MERGE_PATCH({j}, {j}) | JSON_SEARCH({j}, 'all', 'a%') | JSON_SEARCH({j}, 'all', '%', NULL, '$**[*]')
JSON_SET({j}, '$[{k}]', {x}) | JSON_INSERT({j}, '$.b', {j}) | JSON_REPLACE({j}, '$[0]', {x}) | JSON_REMOVE({j}, '$[0]', '$[1]')
JSON_ARRAY_APPEND({j}, '$', {j}) | JSON_ARRAY_INSERT({j}, '$[0]', {x}) | JSON_EXTRACT({j}, '$**.a') | JSON_EXTRACT({j}, '$[*]', '$[*]')
JSON_CONTAINS({j}, {j}) | JSON_OVERLAPS({j}, {j}) | 1 MEMBER OF ({j}) | JSON_KEYS({j}) | JSON_DEPTH({j}) | JSON_LENGTH({j}) | JSON_TYPE({j}) | JSON_VALID({x})
JSON_VALID(CONCAT(REPEAT('[', {m}), REPEAT(']', {m}))) | JSON_VALID(CONCAT('[1', REPEAT(',1', {m} DIV 2), ']')) | JSON_STORAGE_SIZE({j})
JSON_CONTAINS_PATH({j}, 'all', '$[*]', '$**.b') | JSON_VALUE({j}, '$[0]') | CAST({j} AS CHAR) | {j} = {j} | {j} < {j} | CAST({x} AS JSON)
JSON_EXTRACT({j}, '$**[*]') | JSON_CONTAINS({j}, '[1, "b"]') | JSON_SCHEMA_VALID('{{"type":"array","items":{{"type":"number"}}}}', {j})
"""

# {f} is a value of one of the functions; n has 300 rows, k two columns to write to.
SHAPES = """
SELECT LENGTH({f}) | SELECT SUM(LENGTH({f})) FROM n | SELECT MAX(LENGTH({f})) FROM n a, n b | SELECT LENGTH(GROUP_CONCAT({f})) FROM n a, n b
SELECT LENGTH(GROUP_CONCAT({f} ORDER BY a.i)) FROM n a, n b | SELECT LENGTH(GROUP_CONCAT(DISTINCT {f}, a.i)) FROM n a, n b
SELECT JSON_LENGTH(JSON_ARRAYAGG({f})) FROM n a, n b | SELECT JSON_LENGTH(JSON_OBJECTAGG(CONCAT(a.i, '-', b.i), {f})) FROM n a, n b
SELECT COUNT(DISTINCT {f}, a.i) FROM n a, n b | SELECT LENGTH(MAX(CONCAT({f}, i))) FROM n | SELECT LENGTH(ANY_VALUE({f})) FROM n GROUP BY i
SELECT COUNT(*) FROM (SELECT {f} v, a.i, b.i k FROM n a, n b ORDER BY v, k DESC LIMIT 100000) d | SELECT i, LENGTH({f}) v FROM n ORDER BY {f}, i
SELECT COUNT(*) FROM (SELECT {f} v, a.i, COUNT(*) FROM n a, n b GROUP BY v, a.i, b.i) d | SELECT COUNT(*) FROM (SELECT DISTINCT {f} v, a.i, b.i k FROM n a, n b) d
SELECT COUNT(*) FROM (SELECT {f} v, a.i FROM n a UNION SELECT {f}, b.i FROM n a, n b) d | SELECT COUNT(*) FROM (SELECT {f} v, i FROM n EXCEPT SELECT {f}, a.i + b.i FROM n a, n b) d
SELECT COUNT(*) FROM n a WHERE CONCAT({f}, i) IN (SELECT CONCAT({f}, a.i, b.i) FROM n a, n b) | SELECT COUNT(*) FROM (SELECT {f} v FROM n) a JOIN (SELECT {f} v FROM n) b USING (v)
SELECT SUM(LENGTH(v)) FROM (SELECT LAG({f}) OVER (ORDER BY a.i) v FROM n a, n b) d | SELECT COUNT(v) FROM (SELECT FIRST_VALUE({f}) OVER (PARTITION BY a.i) v FROM n a, n b) d
SELECT COUNT(v) FROM (SELECT COUNT(*) OVER (PARTITION BY {f} ORDER BY a.i ROWS 9 PRECEDING) v FROM n a, n b) d | SELECT MAX(LENGTH(v)) FROM (SELECT GROUP_CONCAT({f}) v FROM n a, n b GROUP BY a.i WITH ROLLUP) d
SET @v = {f} | INSERT INTO k (v) SELECT {f} FROM n | INSERT INTO k (v) VALUES ({f}), ({f}) | UPDATE k, n SET k.v = {f} WHERE n.i < 100 | DELETE FROM k WHERE v = {f}
REPLACE INTO k (i, v) SELECT i, {f} FROM n | CREATE TABLE c AS SELECT {f} v FROM n | SELECT {f} FROM n | SELECT v.* FROM n, LATERAL (SELECT {f} x, n.i y) v
WITH RECURSIVE r AS (SELECT CAST({f} AS CHAR(100000)) v, 1 i UNION ALL SELECT CONCAT(v, v), i + 1 FROM r WHERE i < 200) SELECT SUM(LENGTH(v)) FROM r
WITH RECURSIVE r AS (SELECT 1 i UNION ALL SELECT i + 1 FROM r WHERE i < 1000) SELECT SUM(LENGTH({f})) FROM r | EXPLAIN ANALYZE SELECT LENGTH({f}) FROM n
SELECT COUNT(*) FROM JSON_TABLE(CONCAT('[1', REPEAT(',1', LENGTH({f})), ']'), '$[*]' COLUMNS (a INT PATH '$', NESTED PATH '$' COLUMNS (b INT PATH '$'))) t
HANDLER n OPEN | DO {f} | SELECT (SELECT {f} FROM n LIMIT 1), n.i FROM n HAVING 1 ORDER BY 1 | SELECT LENGTH({f}) FROM n WHERE EXISTS (SELECT {f} FROM n m WHERE m.i = n.i)
"""


def names(text):
    return [part.strip() for line in text.strip().splitlines() for part in line.split(" | ")]


FUNCTIONS, SHAPES = names(FUNCTIONS), names(SHAPES)


def value(draw, template):
    size = draw.choice([1 << 10, 1 << 16, 1 << 20, 1 << 24, 1 << 26, 1 << 30])
    parts = {}
    for name, options in (("x", TEXTS), ("y", TEXTS), ("j", DOCUMENTS)):
        if "{" + name + "}" in template:
            most = size if name != "y" else max(size >> 8, 1)
            parts[name] = draw.choice(options).format(n=draw.number(0, most))
    return template.format(k=draw.number(0, 1 << 20) if "{k}" in template else 0, m=draw.number(0, size * 2) if "{m}" in template else 0, **parts)


def shaped(draw, shape):
    template = draw.choice(FUNCTIONS)
    return shape.format(f=value(draw, template))


def nested(opening, closing, inside="1"):
    return lambda draw: "SELECT " + (lambda n: opening * n + inside + closing * n)(draw.number(1, 200_000))


def chain(link, operand, most=200_000):
    return lambda draw: "SELECT " + link.join([operand] * draw.number(1, most))


def around(template, inside, most):
    def make(draw):
        text = inside
        for level in range(draw.number(1, most)):
            text = template.replace("{}", text).replace("##", str(level))
        return text
    return make


def windows(draw):
    count = draw.number(1, 3000)
    inherited = ", ".join(f"w{i} AS (w{i - 1})" for i in range(1, count))
    return f"SELECT SUM(i) OVER w{count - 1} FROM n WINDOW w0 AS (ORDER BY i)" + (", " + inherited if inherited else "")


def tables(draw):
    count = draw.number(2, 61)
    return "SELECT COUNT(*) FROM " + ", ".join(f"n t{i}" for i in range(count)) + f" WHERE t0.i + t{count - 1}.i = {draw.number(0, 700)}"


def joined(draw):
    count = draw.number(2, 61)
    return "SELECT COUNT(*) FROM n t0 " + " ".join(f"LEFT JOIN n t{i} ON t{i}.i > t{i - 1}.i" for i in range(1, count))


def expressions(draw):
    count = draw.number(1, 24)
    tables = ", ".join(f"c{i} AS (SELECT x.i FROM c{i - 1} x JOIN c{i - 1} y USING (i) GROUP BY x.i)" for i in range(1, count + 1))
    return f"WITH c0 AS (SELECT i FROM n), {tables} SELECT COUNT(*) FROM c{count}"


def nest(draw, inside):
    levels = draw.number(1, 99)
    return f"CONCAT(REPEAT('[', {levels}), '{inside}', REPEAT(']', {levels}))"


BIG = "n a, n b, n c, n d, n e"
OTHERS = {
    "parentheses": nested("(", ")"), "functions": nested("ABS(", ")"), "NOT": nested("NOT ", ""), "minus": nested("- ", ""),
    "concatenations": nested("CONCAT('a', ", ")"), "CASE": nested("CASE WHEN 1 THEN ", " END"), "JSON_ARRAY of": nested("JSON_ARRAY(", ")"),
    "scalar subqueries": nested("(SELECT ", ")"), "IF of": nested("IF(1, ", ", 2)"),
    "sum": chain(" + ", "1"), "OR": chain(" OR ", "1 = 0"), "AND": chain(" AND ", "i > 0"), "columns": chain(", ", "1", 100_000),
    "UNION": chain(" UNION SELECT ", "1", 20_000), "UNION ALL of tables": chain(" UNION ALL SELECT ", "1 FROM n", 5_000), "arguments": chain("", "1"),
    "IN list": lambda d: f"SELECT 1 IN ({','.join(map(str, range(2, 2 + d.number(1, 300_000))))})",
    "rows": lambda d: f"INSERT INTO k (i) VALUES {','.join(['(NULL)'] * d.number(1, 200_000))}",
    "CONCAT of many": lambda d: f"SELECT CONCAT({','.join(['1'] * d.number(1, 200_000))})",
    "doubling": lambda d: "SELECT LENGTH(" + around("CONCAT({0}, {0})", "REPEAT('a', 1000)", 1)(d).replace("{0}", f"REPEAT('a', {d.number(1, 1 << 27)})") + ")",
    "derived tables": around("SELECT i FROM ({}) d##", "SELECT i FROM n", 200), "IN of IN": around("SELECT i FROM n WHERE i IN ({})", "SELECT i FROM n", 200),
    "EXISTS": around("SELECT i FROM n x## WHERE EXISTS ({})", "SELECT 1 FROM n", 100), "grouped derived tables": around("SELECT i, COUNT(*) FROM ({}) d## GROUP BY i", "SELECT i FROM n", 60),
    "windows": windows, "tables": tables, "LEFT JOIN": joined, "common table expressions": expressions,
    # Counted: a client that reads rows is behind the server by what lies in sockets.
    "derived tables that double": lambda d: f"SELECT COUNT(*) FROM ({around('SELECT x.i + y.i AS i FROM ({}) x, ({}) y', 'SELECT i FROM n', 12)(d)}) c",
    "join": lambda d: f"SELECT COUNT(*) FROM {BIG} WHERE a.i + b.i + c.i + d.i + e.i = {d.number(0, 1500)}",
    "sort": lambda d: f"SELECT a.i FROM {BIG} ORDER BY a.i * b.i * c.i, RAND() LIMIT {d.number(1, 1 << 20)}, 5",
    "groups": lambda d: f"SELECT COUNT(*) FROM (SELECT a.i * 90000 + b.i * 300 + c.i x, COUNT(*), GROUP_CONCAT(d.i) FROM {BIG} GROUP BY x) d",
    "rollup": lambda d: f"SELECT COUNT(*) FROM (SELECT a.i x, b.i y, c.i z, COUNT(*), MAX(d.i) FROM n a, n b, n c, n d GROUP BY x, y, z WITH ROLLUP) d",
    "distinct": lambda d: f"SELECT COUNT(DISTINCT a.i, b.i, c.i) FROM {BIG}", "sums of distinct": lambda d: f"SELECT SUM(DISTINCT a.i * 90000 + b.i * 300 + c.i), a.i MOD {d.number(1, 300)} m FROM {BIG} GROUP BY m",
    "one partition": lambda d: f"SELECT MAX(m) FROM (SELECT SUM(a.i) OVER (ORDER BY b.i, c.i) m FROM n a, n b, n c, (SELECT 1 UNION SELECT 2) x) d",
    "frames": lambda d: f"SELECT MAX(m) FROM (SELECT MAX(a.i) OVER (ORDER BY b.i ROWS BETWEEN {d.number(0, 9000)} PRECEDING AND {d.number(0, 9000)} FOLLOWING) m FROM n a, n b) d",
    "one key": lambda d: f"SELECT COUNT(*) FROM (SELECT 1 k, a.i + b.i x FROM n a, n b, n c) p JOIN (SELECT 1 k, a.i + b.i y FROM n a, n b, n c) q ON p.k = q.k AND p.x + q.y = -1",
    "set of IN": lambda d: "SELECT COUNT(*) FROM n WHERE i + 0.5 IN (SELECT a.i + b.i * 300 + c.i * 90000 + 0.1 FROM n a, n b, n c)",
    "EXCEPT": lambda d: f"SELECT COUNT(*) FROM (SELECT i FROM n EXCEPT ALL SELECT a.i + b.i * 300 + c.i * 90000 FROM {BIG}) d",
    "INTERSECT": lambda d: f"SELECT COUNT(*) FROM (SELECT i FROM n INTERSECT SELECT a.i + b.i * 300 + c.i * 90000 FROM {BIG}) d",
    "recursion": lambda d: f"WITH RECURSIVE r AS (SELECT 1 i UNION ALL SELECT i + 1 FROM r) SELECT /*+ SET_VAR(cte_max_recursion_depth = 4294967295) */ COUNT(*) FROM r",
    "distinct recursion": lambda d: f"WITH RECURSIVE r AS (SELECT 1 i UNION SELECT i + 1 FROM r) SELECT /*+ SET_VAR(cte_max_recursion_depth = 4294967295) */ COUNT(*) FROM r",
    "recursion that doubles": lambda d: "WITH RECURSIVE r AS (SELECT 1 i UNION ALL SELECT i + 1 FROM r UNION ALL SELECT i + 2 FROM r) SELECT COUNT(*) FROM r",
    "BENCHMARK": lambda d: f"SELECT BENCHMARK({d.number(1, 1 << 40)}, SHA2(REPEAT('a', {d.number(0, 100_000)}), 512))", "SLEEP": lambda d: f"SELECT SLEEP({d.number(0, 100)})",
    "insertion": lambda d: f"INSERT INTO k (v) SELECT a.i FROM {BIG}", "insertion of large values": lambda d: f"INSERT INTO k (v) SELECT REPEAT('a', {d.number(1, 1 << 24)}) FROM n",
    "update": lambda d: f"UPDATE k, {BIG} SET k.v = a.i", "ordered update": lambda d: "UPDATE k SET v = CONCAT(v, 'a') ORDER BY REVERSE(v)", "deletion": lambda d: f"DELETE k FROM k, {BIG} WHERE a.i + b.i + c.i = -1",
    "creation": lambda d: f"CREATE TABLE c AS SELECT a.i, REPEAT('a', {d.number(0, 100_000)}) v FROM {BIG}", "locks": lambda d: "SELECT COUNT(*) FROM n a, n b, k FOR UPDATE",
    "volatile window": lambda d: f"SELECT ROW_NUMBER() OVER (ORDER BY RAND()), LAG(UUID()) OVER (ORDER BY a.i) FROM n a, n b, n c",
    "long JSON path": lambda d: f"SELECT JSON_EXTRACT('[]', CONCAT('$', REPEAT('[0]', {d.number(1, 1 << 20)})))", "many JSON paths": lambda d: f"SELECT JSON_EXTRACT('[]', {','.join(chr(39) + '$[0]' + chr(39) for _ in range(d.number(1, 20_000)))})",
    "ellipses": lambda d: "SELECT JSON_LENGTH(JSON_EXTRACT(" + nest(d, "1") + f", CONCAT('$', REPEAT('**[0]', {d.number(1, 20)}))))",
    "searches with ellipses": lambda d: "SELECT JSON_SEARCH(" + nest(d, '"a"') + f", 'all', 'b', NULL, CONCAT('$', REPEAT('**[0]', {d.number(1, 20)})))",
    "schema of itself": lambda d: "SELECT JSON_SCHEMA_VALID('{\"allOf\": [" + ", ".join(['{\"$ref\": \"#\"}'] * d.number(1, 9)) + "]}', '1')",
    "unique items": lambda d: f"SELECT JSON_SCHEMA_VALID('{{\"uniqueItems\": true}}', (SELECT JSON_ARRAYAGG(a.i * 300 + b.i) FROM n a, n b WHERE a.i < {d.number(1, 300)}))",
    "pattern": lambda d: f"SELECT REPEAT('a', {d.number(1, 1 << 22)}) LIKE CONCAT('%', REPEAT('a%', {d.number(1, 1 << 16)}), 'b')",
    "regular expression": lambda d: f"SELECT REPEAT('a', {d.number(1, 1 << 22)}) REGEXP CONCAT(REPEAT('(a?){{1,9}}', {d.number(1, 9)}), 'b')",
    "long regular expression": lambda d: f"SELECT 'a' REGEXP REPEAT('(a|b)', {d.number(1, 1 << 20)})",
    "XML": lambda d: f"SELECT EXTRACTVALUE(CONCAT(REPEAT('<a>', {d.number(1, 1 << 16)}), REPEAT('</a>', {d.number(1, 1 << 16)})), '//a//a//a')",
    "prepared": lambda d: f"PREPARE p FROM 'SELECT {'(' * 1000}1{')' * 1000} + {' + '.join(['?'] * d.number(1, 5000))}'",
    "comments": lambda d: f"SELECT 1 {'/* a */' * d.number(1, 200_000)}", "names": lambda d: f"SELECT 1 AS `{'a' * d.number(1, 256)}`, `{'b' * d.number(1, 1 << 20)}`",
}


def kinds():
    """Every kind: a name, and what makes a statement of it."""
    made = {"function " + f: (lambda f: lambda draw: "SELECT LENGTH(" + value(draw, f) + ")")(f) for f in FUNCTIONS}
    made.update({"shape " + s: (lambda s: lambda draw: shaped(draw, s))(s) for s in SHAPES})
    made.update(OTHERS)
    return made


SETUP = [
    "DROP DATABASE IF EXISTS hostile", "CREATE DATABASE hostile", "USE hostile", "CREATE TABLE n (i INT PRIMARY KEY)",
    "INSERT INTO n WITH RECURSIVE r AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM r WHERE i < 300) SELECT i FROM r",
    "CREATE TABLE k (i INT AUTO_INCREMENT PRIMARY KEY, v LONGTEXT)", "CREATE TABLE p (id INT PRIMARY KEY, c CHAR(60))",
    "INSERT INTO p SELECT i, REPEAT('p', 60) FROM n",
]
MODES = ["SET SESSION group_concat_max_len = 1073741824", "SET SESSION sql_mode = ''", "SET SESSION cte_max_recursion_depth = 100000000"]


class Fault(AssertionError):
    pass


class Arena:
    """A server, a connection that selects points, and who watches its memory."""

    def __init__(self, server, end_seconds):
        self.server, self.end_seconds = server, end_seconds
        self.admin = server.connect(read_timeout=60)
        harness.run(*SETUP, on=self.admin)
        self.stopping = False
        self.peak = self.points = 0
        self.slowest = 0.0
        self.lost = None
        self.threads = [threading.Thread(target=work, daemon=True) for work in (self.watch, self.select)]
        for thread in self.threads:
            thread.start()
        time.sleep(0.5)
        self.level = server.memory_kib()

    def watch(self):
        while not self.stopping:
            try:
                self.peak = max(self.peak, self.server.memory_kib())
            except (OSError, StopIteration):
                return
            time.sleep(0.01)

    def select(self):
        try:
            connection = self.server.connect(database="hostile", read_timeout=60)
            while not self.stopping:
                began = time.monotonic()
                assert harness.value(connection, f"SELECT c FROM p WHERE id = {1 + self.points % 300}") == "p" * 60
                self.slowest = max(self.slowest, time.monotonic() - began)
                self.points += 1
                time.sleep(0.002)
        except Exception as error:  # whatever it is, the run tells it
            self.lost = error

    def close(self):
        self.stopping = True
        for thread in self.threads:
            thread.join(10)

    def run(self, statement, kill_after):
        """Runs it in a session of its own. A Fault says what is wrong. Returns the error's number, None for none."""
        victim = self.server.connect(database="hostile", read_timeout=120, max_allowed_packet=1 << 30)
        harness.run(*MODES, on=victim)
        number = victim.thread_id()
        outcome = []

        def work():
            try:
                cursor = pymysql.cursors.SSCursor(victim)
                cursor.execute(statement)
                for _ in cursor:
                    pass
                outcome.append(None)
            except pymysql.MySQLError as error:
                outcome.append(error.args[0])
            except (OSError, UnicodeError):
                outcome.append(None)

        self.peak, self.slowest = 0, 0.0
        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        thread.join(kill_after)
        ended = 0.0
        if thread.is_alive():
            began = time.monotonic()
            self.alive()
            harness.run(f"KILL QUERY {number}", on=self.admin)
            thread.join(60)
            ended = time.monotonic() - began
        self.alive()
        if thread.is_alive():
            raise Fault("it does not end after KILL")
        if ended > self.end_seconds:
            raise Fault(f"it ends {ended:.1f} s after KILL")
        if self.peak > MEMORY_KIB:
            raise Fault(f"{self.peak // MIB} MiB of memory")
        if outcome[0] in (1815, 2006, 2013):
            raise Fault(f"error {outcome[0]}")
        if self.slowest > self.end_seconds + POINT_SECONDS:
            raise Fault(f"a point select took {self.slowest:.1f} s")
        victim.close()
        harness.run("TRUNCATE TABLE k", "DROP TABLE IF EXISTS c", on=self.admin)
        self.settle()
        return outcome[0]

    def alive(self):
        if self.server.process.poll() is not None:
            raise Fault(f"the server is gone:\n{self.server.log_tail(40)}")
        if self.lost is not None:
            raise Fault(f"the point selects failed: {self.lost!r}")

    def settle(self):
        deadline = time.monotonic() + LEVEL_SECONDS
        while self.server.memory_kib() > self.level + LEVEL_KIB:
            if time.monotonic() > deadline:
                raise Fault(f"{self.server.memory_kib() // MIB} MiB stay, {self.level // MIB} before")
            time.sleep(0.05)


class Runner:
    def __init__(self, start, end_seconds=1.0, kill_most=3.0):
        self.start, self.end_seconds, self.kill_most = start, end_seconds, kill_most
        self.arena = None

    def attempt(self, make, seed, fixed=()):
        """None, or the draw and what is wrong."""
        if self.arena is None:
            self.arena = Arena(self.start(), self.end_seconds)
        draw = Draw(seed, fixed)
        statement = make(draw)
        kill_after = random.Random(seed).random() * self.kill_most
        try:
            self.last = self.arena.run(statement, kill_after)
        except (Fault, pymysql.MySQLError, OSError) as fault:
            self.restart()
            return draw, statement, str(fault)
        return None

    def restart(self):
        self.arena.close()
        self.arena.server.kill()
        self.arena = None

    def reduce(self, make, seed, found):
        """The same with each number as small as it can be."""
        draw, statement, fault = found
        numbers = [value for value, _ in draw.taken]
        for at, (_, low) in enumerate(draw.taken):
            while numbers[at] > low:
                smaller = [*numbers[:at], max(low, numbers[at] // 2), *numbers[at + 1:]]
                again = self.attempt(make, seed, smaller)
                if again is None:
                    break
                numbers, (_, statement, fault) = smaller, again
        return statement, fault

    def close(self):
        if self.arena is not None:
            self.arena.close()


def short(statement, most=2000):
    return statement if len(statement) <= most else f"{statement[:most // 2]} ... {statement[-most // 2:]} ({len(statement)} bytes)"


OPTIONS = ["--clearway_memory_size=2G", "--innodb_buffer_pool_size=64M", "--max_allowed_packet=64M"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kind", help="only kinds whose name has this")
    parser.add_argument("--packet", default="64M")
    parser.add_argument("--end", type=float, default=1.0, help="seconds from KILL to the end")
    parser.add_argument("--no-reduce", action="store_true")
    arguments = parser.parse_args()
    servers = []

    def start():
        server = harness.Server("clearway", *OPTIONS[:-1], f"--max_allowed_packet={arguments.packet}")
        servers.append(server)
        return server.start()

    runner = Runner(start, arguments.end)
    found = 0
    try:
        for seed in range(arguments.seed, arguments.seed + arguments.rounds):
            for name, make in kinds().items():
                if arguments.kind and arguments.kind not in name:
                    continue
                began = time.monotonic()
                wrong = runner.attempt(make, f"{seed} {name}")
                if wrong is None:
                    print(f"{time.monotonic() - began:6.2f} s {runner.arena.peak // MIB:5} MiB {runner.last or '':>5} {name[:100]}", flush=True)
                    continue
                found += 1
                print(f"FAULT, seed {seed}, kind {name}: {wrong[2]}\n  {short(wrong[1])}", flush=True)
                if not arguments.no_reduce:
                    statement, fault = runner.reduce(make, f"{seed} {name}", wrong)
                    print(f"  reduced: {fault}\n  {short(statement)}", flush=True)
    finally:
        runner.close()
        for server in servers:
            server.remove()
    print(f"{found} faults")
    return found > 0


if __name__ == "__main__":
    sys.exit(main())
