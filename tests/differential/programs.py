#!/usr/bin/env python3
"""Random stored programs, made, called and compared on two servers:

    programs.py --left 33061 --right 3310 --count 2000 --seed 7

Left is the real MySQL. A case is two tables and a log, a function or two, triggers with side effects, and procedures with variables of many types,
blocks, loops, cursors, handlers, SIGNAL, GET DIAGNOSTICS, savepoints and statements by PREPARE. What is compared: each answer's rows, counts,
warnings and errors, what comes back in variables, and the tables afterwards. What differs is made smaller and printed as a script. Programs, not
statements, are counted. The exit status is 1 when something differed."""

import argparse
import collections
import random
import re
import sys

import pymysql
from servers import LOST, Server
from tree import All, Many, Maybe, Text

TYPES = ["INT", "INT", "INT", "TINYINT", "BIGINT UNSIGNED", "DECIMAL(6,2)", "VARCHAR(6)", "VARCHAR(20)", "DOUBLE", "DATE"]
MODES = ["DEFAULT", "DEFAULT", "DEFAULT", "''", "'ANSI_QUOTES,STRICT_TRANS_TABLES'", "'ERROR_FOR_DIVISION_BY_ZERO'"]
TABLES = ["CREATE TABLE t (id INT PRIMARY KEY, a INT, b VARCHAR(8), c DECIMAL(8,2))",
          "CREATE TABLE u (id INT AUTO_INCREMENT PRIMARY KEY, a TINYINT NOT NULL, b VARCHAR(4), UNIQUE KEY (b))",
          "CREATE TABLE log (n INT AUTO_INCREMENT PRIMARY KEY, what VARCHAR(30), v VARCHAR(30))"]
CONDITIONS = ["SQLEXCEPTION", "SQLEXCEPTION", "SQLWARNING", "NOT FOUND", "SQLSTATE '23000'", "SQLSTATE '45000'", "SQLSTATE '22003'", "1062", "1365", "1264", "1329",
              "duplicate", "SQLEXCEPTION, SQLWARNING", "1048, 1364"]
SIGNALS = ["'45000'", "'45000'", "'01000'", "'02000'", "'23000'", "'22012'"]
# Rows of a case's programs, at most: of two loops, one in the other.
ROUNDS = 4


class Scope:
    """The names that a statement may use."""

    def __init__(self, kind, outer=None):
        self.kind = kind
        self.locals = list(outer.locals) if outer else []
        self.cursors = list(outer.cursors) if outer else []
        self.labels = list(outer.labels) if outer else []
        self.depth = outer.depth + 1 if outer else 0
        self.handling = outer.handling if outer else False
        self.guarded = outer.guarded if outer else set()
        self.rows = outer.rows if outer else []


class Programs:
    """The statements of a case."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.functions, self.procedures, self.number = [], [], 0

    # --- expressions ---

    def literal(self):
        return self.rng.choice(["0", "1", "2", "3", "-1", "7", "100", "300", "1.5", "-0.25", "NULL", "''", "'a'", "'x1'", "'12'", "'2024-02-29'", "'abcdefgh'", "1e2"])

    def value(self, scope, depth=0):
        rng = self.rng
        pick = rng.random()
        if depth > 2 or pick < 0.25:
            return self.literal()
        if pick < 0.6 and scope.locals:
            return rng.choice(scope.locals)[0]
        if pick < 0.64:
            return rng.choice(["@x", "@y"])
        a, b = self.value(scope, depth + 1), self.value(scope, depth + 1)
        if pick < 0.78:
            return f"({a} {rng.choice(['+', '-', '*', '/', 'DIV', '%'])} {b})"
        if pick < 0.82 and self.functions:
            name, count = rng.choice(self.functions)
            return f"{name}({', '.join(self.value(scope, depth + 2) for _ in range(count))})"
        if pick < 0.85 and scope.kind != "pure":
            return rng.choice(["(SELECT COUNT(*) FROM t)", "(SELECT MAX(id) FROM u)", f"(SELECT a FROM t WHERE id = {a})", "(SELECT b FROM t ORDER BY id LIMIT 1)"])
        return rng.choice([f"CONCAT({a}, {b})", f"LEFT({a}, 3)", f"IFNULL({a}, {b})", f"COALESCE({a}, {b}, 5)", f"ABS({a})", f"LENGTH({a})", f"UPPER({a})", f"IF({a}, {b}, 1)",
                           f"NULLIF({a}, {b})", f"GREATEST({a}, {b})", f"ROUND({a}, 1)", f"CASE WHEN {a} THEN {b} ELSE 'z' END", f"({a} = {b})", f"({a} IS NULL)"])

    def condition(self, scope):
        rng = self.rng
        a, b = self.value(scope, 1), self.value(scope, 1)
        return rng.choice([f"{a} {rng.choice(['<', '>', '=', '<>', '<=>'])} {b}", f"{a} IS NULL", f"{a} BETWEEN {b} AND 5", f"{a} IN ({b}, 2)", f"NOT ({a} = {b})"])

    # --- statements ---

    def fresh(self, letter):
        self.number += 1
        return f"{letter}{self.number}"

    def statements(self, scope, low=1, high=4):
        return Many([self.statement(scope) for _ in range(self.rng.randint(low, high))], 1, " ")

    def statement(self, scope):
        rng = self.rng
        kinds = [self.assign] * 4 + [self.log] * 3 + [self.choice] * 2 + [self.case]
        if scope.depth < 3:
            kinds += [self.loop] * 2 + [self.block] * 2
        if scope.kind != "pure":
            kinds += [self.change] * 4 + [self.into] * 2 + [self.signal, self.diagnose, self.user_variable]
        if scope.kind == "procedure":
            kinds += [self.shown] * 2 + [self.prepared, self.transaction] + ([self.call] if self.procedures else [])
        if scope.labels:
            kinds.append(self.leave)
        if scope.cursors:
            kinds += [self.fetch] * 2
        if scope.handling:
            kinds += [self.resignal, self.diagnose]
        if scope.rows:
            kinds += [self.set_row] * 3
        kind = rng.choice(kinds)
        return Maybe(kind(scope))

    def target(self, scope):
        free = [name for name, _ in scope.locals if name not in scope.guarded and not name.startswith("OLD.") and not name.startswith("NEW.")]
        return self.rng.choice(free) if free else None

    def assign(self, scope):
        name = self.target(scope)
        return f"SET {name} = {self.value(scope)};" if name else f"SET @x = {self.value(scope)};"

    def user_variable(self, scope):
        return f"SET {self.rng.choice(['@x', '@y'])} = {self.value(scope)};"

    def set_row(self, scope):
        column = self.rng.choice(scope.rows)
        return f"SET NEW.{column} = {self.value(scope)};"

    def log(self, scope):
        if scope.kind == "pure":
            return self.assign(scope)
        return f"INSERT INTO log (what, v) VALUES ('{self.fresh('m')}', LEFT({self.value(scope, 1)}, 30));"

    def change(self, scope):
        v = lambda: self.value(scope, 1)
        id = self.rng.choice(["1", "2", "3", "9", v()])
        return self.rng.choice([
            f"INSERT INTO t VALUES ({id}, {v()}, {v()}, {v()});", f"INSERT INTO u (a, b) VALUES ({v()}, {v()});", f"INSERT IGNORE INTO u (a, b) VALUES ({v()}, {v()});",
            f"UPDATE t SET a = {v()} WHERE id = {id};", f"UPDATE t SET c = {v()}, b = {v()} WHERE id > {id};", f"DELETE FROM t WHERE id = {id};", f"UPDATE u SET a = {v()};",
            f"REPLACE INTO u (id, a, b) VALUES ({id}, {v()}, {v()});", f"INSERT INTO t (id, a) VALUES ({id}, {v()}) ON DUPLICATE KEY UPDATE a = {v()};"])

    def into(self, scope):
        names = [name for name in (self.target(scope), self.target(scope)) if name]
        if not names:
            return f"SELECT {self.value(scope, 1)} INTO @y;"
        if len(names) == 2 and names[0] != names[1]:
            return f"SELECT id, a INTO {names[0]}, {names[1]} FROM t WHERE id >= {self.value(scope, 1)} ORDER BY id LIMIT 1;"
        return self.rng.choice([f"SELECT a INTO {names[0]} FROM t WHERE id = {self.value(scope, 1)};", f"SELECT COUNT(*) INTO {names[0]} FROM log;",
                                f"SELECT b INTO {names[0]} FROM t ORDER BY id;", f"SELECT {self.value(scope, 1)} INTO {names[0]};"])

    def shown(self, scope):
        return self.rng.choice([f"SELECT {self.value(scope)} AS v, {self.value(scope)} AS w;", f"SELECT id, a, {self.value(scope, 1)} AS v FROM t ORDER BY id;",
                                "SELECT ROW_COUNT(), FOUND_ROWS(), LAST_INSERT_ID();", "SELECT COUNT(*), MAX(v) FROM log;"])

    def signal(self, scope):
        text = f" SET MESSAGE_TEXT = '{self.fresh('s')}'" if self.rng.random() < 0.6 else ""
        number = f"{', ' if text else ' SET '}MYSQL_ERRNO = {self.rng.choice([1000, 1062, 3000, 30001])}" if self.rng.random() < 0.3 else ""
        return f"IF {self.condition(scope)} THEN SIGNAL SQLSTATE {self.rng.choice(SIGNALS)}{text}{number}; END IF;"

    def resignal(self, scope):
        return self.rng.choice(["RESIGNAL;", "RESIGNAL SET MESSAGE_TEXT = 'again';", "RESIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 1500;"])

    def diagnose(self, scope):
        which = self.rng.choice(["", "CURRENT ", "STACKED "] if scope.handling else ["", "CURRENT "])
        if self.rng.random() < 0.3:
            return f"GET {which}DIAGNOSTICS @n = NUMBER, @r = ROW_COUNT; INSERT INTO log (what, v) VALUES ('n', CONCAT_WS(',', @n, @r));"
        items = self.rng.sample(["RETURNED_SQLSTATE", "MESSAGE_TEXT", "MYSQL_ERRNO", "CLASS_ORIGIN", "SUBCLASS_ORIGIN", "TABLE_NAME"], 2)
        return f"GET {which}DIAGNOSTICS CONDITION 1 @p = {items[0]}, @q = {items[1]}; INSERT INTO log (what, v) VALUES ('d', LEFT(CONCAT_WS(',', @p, @q), 30));"

    def prepared(self, scope):
        return self.rng.choice([f"SET @x = {self.value(scope)}; PREPARE s FROM 'SELECT ? AS p, ? + 1 AS q'; EXECUTE s USING @x, @y; DEALLOCATE PREPARE s;",
                                "PREPARE s FROM 'INSERT INTO log (what, v) VALUES (?, 1)'; EXECUTE s USING @y; EXECUTE s USING @x; DEALLOCATE PREPARE s;",
                                "PREPARE s FROM 'SELECT nothing FROM t';"])

    def transaction(self, scope):
        return self.rng.choice(["START TRANSACTION;", "COMMIT;", "ROLLBACK;", "SAVEPOINT p;", "ROLLBACK TO p;", "SET autocommit = 1;"])

    def call(self, scope):
        name, modes = self.rng.choice(self.procedures)
        args = []
        for mode in modes:
            free = self.target(scope)
            args.append(self.value(scope, 1) if mode == "IN" else free if free and self.rng.random() < 0.7 else self.rng.choice(["@x", "@y"]))
        return f"CALL {name}({', '.join(args)});"

    def choice(self, scope):
        parts = ["IF", self.condition(scope), "THEN", self.statements(scope, 1, 2)]
        if self.rng.random() < 0.3:
            parts += [All("ELSEIF", self.condition(scope), "THEN", self.statements(scope, 1, 2))]
        if self.rng.random() < 0.5:
            parts += [Maybe("ELSE", self.statements(scope, 1, 2))]
        return All(*parts, "END IF;")

    def case(self, scope):
        operand = self.value(scope, 1) if self.rng.random() < 0.5 else ""
        when = lambda: self.value(scope, 1) if operand else self.condition(scope)
        parts = [f"CASE {operand}", f"WHEN {when()} THEN", self.statements(scope, 1, 2), Maybe(f"WHEN {when()} THEN", self.statements(scope, 1, 1))]
        if self.rng.random() < 0.7:
            parts += [All("ELSE", self.statements(scope, 1, 1))]
        return All(*parts, "END CASE;")

    def leave(self, scope):
        label, is_loop = self.rng.choice(scope.labels)
        word = self.rng.choice(["LEAVE", "ITERATE"]) if is_loop else "LEAVE"
        return f"IF {self.condition(scope)} THEN {word} {label}; END IF;"

    def fetch(self, scope):
        names = [self.target(scope), self.target(scope)]
        cursor = self.rng.choice(scope.cursors)
        if None in names:
            return f"CLOSE {cursor};"
        return self.rng.choice([f"FETCH {cursor} INTO {names[0]}, {names[1]};"] * 4 + [f"CLOSE {cursor};", f"OPEN {cursor};", f"FETCH {cursor} INTO {names[0]};"])

    def loop(self, scope):
        """One whose rounds are counted before anything else happens."""
        inner, counter, label = Scope(scope.kind, scope), self.fresh("i"), self.fresh("l")
        inner.locals.append((counter, "INT"))
        inner.guarded = scope.guarded | {counter}
        inner.labels.append((label, True))
        body, rounds = self.statements(inner, 1, 3), self.rng.randint(1, ROUNDS)
        count = f"SET {counter} = {counter} + 1;"
        end = f"IF {counter} > {rounds} THEN LEAVE {label}; END IF;"
        form = self.rng.choice([All(f"{label}: WHILE {counter} < {rounds} DO {count}", body, f"END WHILE {label};"), All(f"{label}: LOOP {count} {end}", body, f"END LOOP {label};"),
                                All(f"{label}: REPEAT {count} {end}", body, f"UNTIL {self.condition(inner)} END REPEAT {label};")])
        return All(f"BEGIN DECLARE {counter} INT DEFAULT 0;", form, "END;")

    def block(self, scope):
        return self.body(Scope(scope.kind, scope))

    def body(self, scope, end="END;", last=""):
        """A block with its declarations."""
        rng = self.rng
        label = self.fresh("b")
        parts = []
        for _ in range(rng.randint(0, 3)):
            name, kind = self.fresh("v"), rng.choice(TYPES)
            default = f" DEFAULT {self.value(scope, 1)}" if rng.random() < 0.5 else ""
            parts.append(f"DECLARE {name} {kind}{default};")
            scope.locals.append((name, kind))
        if rng.random() < 0.3:
            parts.append("DECLARE duplicate CONDITION FOR 1062;")
            known = CONDITIONS
        else:
            known = [c for c in CONDITIONS if c != "duplicate"]
        opened = []
        if scope.kind != "pure" and rng.random() < 0.35:
            cursor = self.fresh("c")
            query = rng.choice(["SELECT id, a FROM t ORDER BY id", "SELECT b, c FROM t ORDER BY id", f"SELECT id, {self.value(scope, 1)} FROM u ORDER BY id", "SELECT 1, 2"])
            parts.append(f"DECLARE {cursor} CURSOR FOR {query};")
            scope.cursors = [*scope.cursors, cursor]
            opened.append(f"OPEN {cursor};")
        used = set()
        for _ in range(rng.choice([0, 0, 1, 1, 2])):
            condition = rng.choice(known)
            words = {w.strip() for w in condition.split(",")}
            if words & used:
                continue
            used |= words
            inner = Scope(scope.kind, scope)
            inner.handling, inner.labels, inner.depth = True, [], 3
            handled = rng.choice([self.log(inner), self.assign(inner), self.diagnose(inner) if scope.kind != "pure" else self.assign(inner), self.statement(inner).text() or self.assign(inner)])
            parts.append(Maybe(f"DECLARE {rng.choice(['CONTINUE', 'CONTINUE', 'EXIT'])} HANDLER FOR {condition} BEGIN {handled} END;"))
        scope.labels.append((label, False))
        return All(f"{label}: BEGIN", *parts, *opened, self.statements(scope, 1, 5), last, end)

    # --- what a case makes and calls ---

    def setup(self):
        yield from TABLES
        yield "INSERT INTO t VALUES (1, 10, 'one', 1.50), (2, NULL, 'two', -2.25), (3, 30, NULL, NULL)"
        yield "INSERT INTO u (a, b) VALUES (1, 'p'), (2, 'q')"
        yield f"SET sql_mode = {self.rng.choice(MODES)}"
        yield "SET @x = 5, @y = 'y', @n = NULL, @r = NULL, @p = NULL, @q = NULL"

    def programs(self):
        rng = self.rng
        for _ in range(rng.randint(0, 2)):
            kind = rng.choice(["pure", "pure", "function"])
            name, scope, kinds = self.fresh("f"), Scope(kind), [rng.choice(TYPES) for _ in range(rng.randint(0, 2))]
            scope.locals = [(f"a{n}", kind) for n, kind in enumerate(kinds)]
            given = ", ".join(f"{name} {kind}" for name, kind in scope.locals)
            plain = kind == "pure" and rng.random() < 0.4
            body = All(f"RETURN {self.value(scope)}") if plain else self.body(scope, "END", f"RETURN {self.value(scope, 1)};")
            data = "NO SQL" if kind == "pure" else "MODIFIES SQL DATA"
            yield All(f"CREATE FUNCTION {name} ({given}) RETURNS {rng.choice(TYPES)} {rng.choice(['', 'DETERMINISTIC'])} {data}", body)
            self.functions.append((name, len(kinds)))
        for table, columns in rng.sample([("t", ["a", "b", "c"]), ("u", ["a", "b"])], rng.choice([0, 1, 1, 2])):
            for _ in range(rng.choice([1, 1, 2])):
                event, before = rng.choice(["INSERT", "UPDATE", "DELETE"]), rng.random() < 0.6
                scope = Scope("pure" if rng.random() < 0.4 else "trigger")
                images = {"INSERT": ["NEW"], "UPDATE": ["NEW", "OLD"], "DELETE": ["OLD"]}[event]
                scope.locals = [(f"{image}.{column}", "INT") for image in images for column in ["id", *columns]]
                scope.rows = columns if before and event != "DELETE" else []
                yield All(f"CREATE TRIGGER {self.fresh('g')} {'BEFORE' if before else 'AFTER'} {event} ON {table} FOR EACH ROW", self.body(scope, "END"))
        for _ in range(rng.randint(1, 3)):
            name, scope = self.fresh("p"), Scope("procedure")
            given = [(rng.choice(["IN", "IN", "OUT", "INOUT"]), f"a{n}", rng.choice(TYPES)) for n in range(rng.randint(0, 3))]
            scope.locals = [(n, kind) for _, n, kind in given]
            yield All(f"CREATE PROCEDURE {name} ({', '.join(' '.join(g) for g in given)})", self.body(scope, "END"))
            self.procedures.append((name, [mode for mode, _, _ in given]))

    def uses(self):
        rng, outside = self.rng, Scope("client")
        for name, modes in self.procedures:
            for _ in range(2):
                yield f"CALL {name}({', '.join(self.literal() if mode == 'IN' else rng.choice(['@x', '@y']) for mode in modes)})"
                yield "SELECT @x, @y, @n, @r, @p, @q"
        for _ in range(rng.randint(2, 4)):
            yield self.change(outside)[:-1]
        for name, count in self.functions:
            args = ", ".join(rng.choice(["t.id", "t.a", "t.b", "t.c", self.literal()]) for _ in range(count))
            yield f"SELECT t.id, {name}({args}) AS v FROM t ORDER BY t.id"
            yield f"SELECT COUNT(*) FROM t WHERE {name}({args}) > 1"
            yield f"UPDATE t SET a = {name}({args}) ORDER BY id"
        yield "INSERT INTO u (a, b) SELECT id, LEFT(b, 3) FROM t ORDER BY id"
        yield "DELETE FROM t WHERE id > 1 ORDER BY id"
        for table in ("t", "u", "log"):
            yield f"SELECT * FROM {table} ORDER BY 1"


def answers(server, sql):
    """All that a statement answers: of each answer its rows or counts, at the end its warnings or its error."""
    cursor, out = server.link.cursor(), []
    try:
        cursor.execute(sql)
        while True:
            result = cursor._result
            if cursor.description:
                out.append(("rows", [d[0] for d in cursor.description], cursor.fetchall()))
            else:
                out.append(("ok", result.affected_rows, result.insert_id))
            if not cursor.nextset():
                break
        warned = cursor._result.warning_count
    except (pymysql.err.MySQLError, OSError) as e:
        if not isinstance(e, pymysql.err.MySQLError) or e.args[0] in LOST:
            server.connect_again()
            server.run(f"USE {server.database}")
            return [("lost", str(e.args))]
        return [*out, ("error", e.args[0], plain(e.args[1]))]
    if warned:
        cursor.execute("SHOW WARNINGS")
        out.append(("warnings", sorted((code, plain(message)) for _, code, message in cursor.fetchall())))
    return out


def plain(message):
    """Without the number of the row, which MySQL counts over whatever statements have come before."""
    text = message.decode("utf8", "replace") if isinstance(message, bytes) else message
    return re.sub(r" at row -?\d+$", "", text)


class Script:
    """A case's statements."""

    def __init__(self, setup, statements):
        self.setup, self.statements = setup, statements

    def smaller(self):
        for i in reversed(range(len(self.statements))):
            yield Script(self.setup, self.statements[:i] + self.statements[i + 1:])
        for i, statement in enumerate(self.statements):
            for less in statement.smaller():
                yield Script(self.setup, [*self.statements[:i], less, *self.statements[i + 1:]])

    def compare(self, servers):
        """The first statement that the servers answer otherwise, and both answers."""
        for server in servers:
            server.reset()
            for sql in self.setup:
                server.run(sql)
        for statement in self.statements:
            sql = statement.text()
            left, right = (answers(server, sql) for server in servers)
            if left != right and left[-1][0] != "lost":
                return sql, left, right
        return None

    def reduced(self, servers, found, tries=400):
        kind = signature(found)
        script = self
        while True:
            for less in script.smaller():
                tries -= 1
                if tries < 0:
                    return script, found
                other = less.compare(servers)
                if other and signature(other) == kind:
                    script, found = less, other
                    break
            else:
                return script, found


def signature(found):
    """What stays as a script is made smaller."""
    _, left, right = found
    numbers = lambda answer: (answer[-1][0], answer[-1][1] if answer[-1][0] == "error" else None)
    if numbers(left) != numbers(right):
        return numbers(left), numbers(right)
    return [a[0] for a, b in zip(left, right) if a != b][:1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--left", type=int, required=True, help="port of the real MySQL")
    parser.add_argument("--right", type=int, required=True, help="port of Clearway")
    parser.add_argument("--count", type=int, default=1000, help="programs")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--database", default="programs")
    args = parser.parse_args()
    servers = [Server(port, args.database) for port in (args.left, args.right)]
    for server in servers:
        server.run("SET GLOBAL log_bin_trust_function_creators = 1")
    seed, total, refused, kinds = args.seed, 0, 0, collections.Counter()
    while total < args.count:
        case = Programs(seed)
        setup, made = list(case.setup()), list(case.programs())
        script = Script(setup, [*made, *(Text(sql) for sql in case.uses())])
        total += len(made)
        found = script.compare(servers)
        if found:
            kinds[str(signature(found))] += 1
            small, (sql, left, right) = script.reduced(servers, found)
            print(f"-- case {seed}", *(f"{s};" for s in setup), *(f"{s.text()};" for s in small.statements), f"-- mysql: {left}"[:900], f"-- here:  {right}"[:900], sep="\n", flush=True)
        seed += 1
    print(*(f"-- {n:6} {what}" for what, n in kinds.most_common()), f"-- {total} programs, {sum(kinds.values())} cases differ; next seed {seed}", sep="\n")
    return bool(kinds)


if __name__ == "__main__":
    sys.exit(main())
