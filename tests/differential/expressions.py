#!/usr/bin/env python3
"""Sends the same expressions to two servers and reports where they differ: rows, column types, warnings, errors.

    expressions.py --left 33061 --right 3310 --count 20000 --seed 7     random typed expressions, made smaller until they agree
    expressions.py --left 33061 --right 3310 --file statements.sql      statements of a file, one a line

Left is the real MySQL, right is Clearway; both on 127.0.0.1, user root without password. A difference is printed once for
each shape (the statement with its literals left out). The exit status is 1 when there was any."""

import argparse
import random
import re
import sys

from servers import Server, differs, shape, show

TABLE = """CREATE TABLE t (id INT PRIMARY KEY, i INT, u BIGINT UNSIGNED, s SMALLINT, d DECIMAL(12,4), f DOUBLE, r FLOAT,
 c VARCHAR(40), b VARCHAR(20) COLLATE utf8mb4_bin, x VARBINARY(20), da DATE, dt DATETIME(3), ti TIME, y YEAR,
 e ENUM('one','two','three'), z SET('a','b','c'), j JSON, bi BIT(10))"""
ROWS = """INSERT INTO t VALUES
 (1, 0, 0, 0, 0, 0, 0, '', '', '', '2000-01-01', '2000-01-01 00:00:00', '00:00:00', 2000, 'one', '', '[]', 0),
 (2, -17, 18446744073709551615, -32768, -123.4567, -1.5e10, 1.25, 'Abc', 'abc', x'00ff41', '2024-02-29',
  '2024-02-29 12:34:56.789', '-12:34:56', 1999, 'two', 'a,c', '{"a": [1, 2.5, "x"], "b": null}', 5),
 (3, 2147483647, 42, 32767, 99999999.9999, 3.141592653589793, -0.1, '12.5xyz', ' x ', 'A', '1999-12-31',
  '1999-12-31 23:59:59.999', '838:59:59', 2155, 'three', 'b', '"text"', 1023),
 (4, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
 (5, 5, 7, 3, 2.5, 0.5, 2.5, 'émile ß', 'É', x'c3a9', '2021-03-14', '2021-03-14 02:30:00', '02:30:00', 2021, 'one',
  'a,b,c', '[1, {"a": true}, "é"]', 1)"""

COLUMNS = {"int": ["i", "u", "s", "y", "bi"], "num": ["d", "f", "i", "u"], "str": ["c", "b", "x", "e", "z"],
           "date": ["da", "dt"], "time": ["ti", "dt"], "json": ["j"]}
UNITS = ["MICROSECOND", "SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "QUARTER", "YEAR"]
LONG_UNITS = ["MINUTE_SECOND", "HOUR_SECOND", "HOUR_MINUTE", "DAY_HOUR", "DAY_SECOND", "YEAR_MONTH", "SECOND_MICROSECOND"]

LITERALS = {
    "int": ["0", "1", "-1", "2", "3", "7", "10", "255", "-128", "65536", "2147483648", "9223372036854775807",
            "18446744073709551615", "-9223372036854775808", "NULL", "TRUE", "FALSE"],
    "num": ["0.0", "1.5", "-2.25", "0.005", "123.456", "99999999999.99", "1e0", "1.5e3", "-2e-3", "1e20", "12345678901234567890.123",
            "0.1", "-0.5", "2.5", "3.5", "NULL"],
    "str": ["''", "'a'", "'abc'", "'ABC'", "'12'", "'1.5'", "'-3abc'", "' x '", "'hello world'", "'é'", "'ÄÖ'", "'2024-02-29'",
            "'10:11:12'", "'a,b'", "'%'", "'_b%'", "'.'", "NULL", "x'4142'", "_latin1'abc'", "'日本語'", "'\\\\'", "'2021-13-01'"],
    "date": ["'2024-02-29'", "DATE'2021-03-14'", "'2021-03-14 15:09:26.535'", "TIMESTAMP'1999-12-31 23:59:59'", "20240229", "'0000-00-00'",
             "'2023-01-31'", "NULL", "20210314150926", "'2024-1-2 3:4:5'"],
    "time": ["'10:11:12'", "TIME'-01:02:03.5'", "'838:59:59'", "101112", "'1 02:03:04'", "'00:00:00.000001'", "NULL", "'99:99'"],
    "json": ["'[1, 2, [3]]'", "'{\"a\": 1, \"b\": {\"c\": \"x\"}}'", "CAST('\"abc\"' AS JSON)", "CAST('3.5' AS JSON)",
             "JSON_OBJECT('k', 1, 'a', 'v')", "'null'", "JSON_ARRAY(1, 'a', NULL, TRUE)", "NULL"],
    "bool": ["TRUE", "FALSE", "NULL"],
    "fmt": ["'%Y-%m-%d'", "'%H:%i:%s.%f'", "'%W %D %M %y %j %U %u %V %v %X %x'", "'%a %b %e %k %l %p %r %T'", "'%h %I %c %%'"],
    "path": ["'$'", "'$.a'", "'$[0]'", "'$[last]'", "'$.a[1]'", "'$.b.c'", "'$**.a'", "'$[*]'", "'$.*'", "'$[0 to 1]'"],
    "epath": ["'$'", "'$.a'", "'$[0]'", "'$[9]'", "'$.zz'", "'$.a[1]'", "'$.b.c'"],
    "small": ["0", "1", "2", "3", "5", "-1", "-2", "NULL"],
    "cset": ["utf8mb4", "latin1", "ascii", "binary"],
}

# result kind -> templates; {kind} is an operand of that kind.
TEMPLATES = {
    "int": ["{int} + {int}", "{int} - {int}", "{int} * {int}", "{int} DIV {int}", "{num} DIV {num}", "{int} % {int}", "-{int}", "{int} & {int}",
            "{int} | {int}", "{int} ^ {int}", "~{int}", "{int} << {small}", "{int} >> {small}", "LENGTH({str})", "CHAR_LENGTH({str})",
            "LOCATE({str}, {str})", "LOCATE({str}, {str}, {small})", "INSTR({str}, {str})", "ASCII({str})", "ORD({str})", "BIT_LENGTH({str})",
            "STRCMP({str}, {str})", "FIELD({str}, {str}, {str})", "FIELD({int}, {int}, {num})", "FIND_IN_SET({str}, {str})",
            "CAST({str} AS SIGNED)", "CAST({num} AS UNSIGNED)", "CAST({num} AS SIGNED)", "CAST({date} AS SIGNED)", "CAST({time} AS SIGNED)",
            "SIGN({num})", "FLOOR({num})", "CEILING({num})", "ROUND({num})", "ROUND({int}, {small})", "TRUNCATE({int}, {small})",
            "ABS({int})", "MOD({int}, {int})", "BIT_COUNT({int})", "CRC32({str})", "YEAR({date})", "MONTH({date})", "DAY({date})",
            "DAYOFWEEK({date})", "DAYOFYEAR({date})", "WEEK({date}, {small})", "YEARWEEK({date})", "QUARTER({date})", "WEEKDAY({date})",
            "HOUR({time})", "MINUTE({time})", "SECOND({time})", "MICROSECOND({time})", "TO_DAYS({date})", "TO_SECONDS({date})",
            "TIME_TO_SEC({time})", "DATEDIFF({date}, {date})", "TIMESTAMPDIFF({unit}, {date}, {date})", "EXTRACT({unit} FROM {date})",
            "EXTRACT({lunit} FROM {date})", "INTERVAL({num}, {num}, {num})", "COALESCE({int}, {int})",
            "IFNULL({int}, {int})", "NULLIF({int}, {int})", "IF({bool}, {int}, {int})", "GREATEST({int}, {int})", "LEAST({int}, {int})",
            "CASE {int} WHEN {int} THEN {int} ELSE {int} END", "INET_ATON({str})", "JSON_LENGTH({json})", "JSON_DEPTH({json})",
            "JSON_CONTAINS({json}, {json})", "JSON_OVERLAPS({json}, {json})", "JSON_VALID({str})", "COERCIBILITY({str})",
            "REGEXP_INSTR({str}, {str})", "{int} MEMBER OF ({json})", "JSON_CONTAINS_PATH({json}, 'one', {path})", "UNCOMPRESSED_LENGTH({str})",
            "UNIX_TIMESTAMP({date})", "CONV({str}, 16, 10)", "JSON_STORAGE_SIZE({json})"],
    "num": ["{num} + {num}", "{num} - {num}", "{num} * {num}", "{num} / {num}", "{int} / {int}", "{num} % {num}", "-{num}", "{str} + {int}",
            "{date} + 0", "{time} + 0", "ROUND({num}, {small})", "TRUNCATE({num}, {small})", "ABS({num})", "CAST({num} AS DECIMAL(10,2))",
            "CAST({str} AS DECIMAL(20,3))", "CAST({num} AS DOUBLE)", "CAST({num} AS FLOAT)", "SQRT({num})", "POW({small}, {small})", "EXP({small})", "LN({num})",
            "LOG2({num})", "LOG10({num})", "DEGREES({num})", "SIN({num})", "ATAN2({num}, {num})", "COALESCE({num}, {num})", "IF({bool}, {num}, {int})",
            "GREATEST({num}, {int})", "LEAST({num}, {num})", "NULLIF({num}, {num})", "CASE WHEN {bool} THEN {num} ELSE {num} END",
            "IFNULL({num}, {str})"],
    "str": ["CONCAT({str}, {str})", "CONCAT({any}, {any})", "CONCAT_WS({str}, {str}, {any})", "UPPER({str})", "LOWER({str})", "LEFT({str}, {small})",
            "RIGHT({str}, {small})", "SUBSTRING({str}, {small})", "SUBSTRING({str}, {small}, {small})", "SUBSTRING_INDEX({str}, {str}, {small})",
            "REPLACE({str}, {str}, {str})", "INSERT({str}, {small}, {small}, {str})", "TRIM({str})", "LTRIM({str})", "RTRIM({str})",
            "TRIM(BOTH {str} FROM {str})", "TRIM(LEADING {str} FROM {str})", "LPAD({str}, {small}, {str})", "RPAD({str}, {small}, {str})",
            "REPEAT({str}, {small})", "SPACE({small})", "REVERSE({str})", "HEX({any})", "UNHEX({str})", "BIN({int})", "OCT({int})", "CHAR({int})",
            "CHAR({int} USING latin1)", "ELT({small}, {str}, {str})", "MAKE_SET({int}, {str}, {str})", "EXPORT_SET({small}, {str}, {str}, ',', 4)",
            "QUOTE({str})", "FORMAT({num}, {small})", "FORMAT({num}, 2, 'de_DE')", "SOUNDEX({str})", "SHA2({str}, 256)", "SHA2({any}, 0)", "SHA2({str}, 224)", "TO_BASE64({str})",
            "FROM_BASE64({str})", "CAST({any} AS CHAR)", "CAST({any} AS CHAR(3))", "CAST({str} AS BINARY)", "CAST({any} AS BINARY(4))",
            "CONVERT({str} USING {cset})", "COALESCE({str}, {any})", "IF({bool}, {str}, {any})", "NULLIF({str}, {str})", "GREATEST({str}, {str})",
            "CASE WHEN {bool} THEN {any} ELSE {any} END", "CONV({any}, 10, 16)", "CONV({str}, 36, -10)", "DATE_FORMAT({date}, {fmt})",
            "TIME_FORMAT({time}, {fmt})", "DAYNAME({date})", "MONTHNAME({date})", "INET_NTOA({int})", "JSON_QUOTE({str})", "JSON_UNQUOTE({json})",
            "JSON_TYPE({json})", "JSON_PRETTY({json})", "CHARSET({any})", "COLLATION({any})", "REGEXP_REPLACE({str}, {str}, {str})",
            "REGEXP_SUBSTR({str}, '[a-z]+')", "WEIGHT_STRING({str})", "INET6_NTOA(INET6_ATON({str}))", "{str} COLLATE utf8mb4_bin",
            "JSON_VALUE({json}, '$.a')", "BIN_TO_UUID(UNHEX(SHA2({str}, 256)))", "LPAD({int}, 5, '0')", "UPPER({any})", "HEX(WEIGHT_STRING({str}))",
            "HEX(CONVERT({str} USING utf16))", "HEX(AES_ENCRYPT({str}, 'k'))"],
    "bool": ["{int} = {int}", "{num} < {num}", "{str} = {str}", "{str} < {str}", "{any} = {any}", "{any} <=> {any}", "{any} >= {any}", "{any} <> {any}",
             "{str} LIKE {str}", "{str} NOT LIKE {str} ESCAPE '|'", "{any} IS NULL", "{int} IS NOT NULL", "{bool} AND {bool}", "{bool} OR {bool}",
             "{bool} XOR {bool}", "NOT {bool}", "{num} BETWEEN {num} AND {num}", "{str} BETWEEN {str} AND {str}", "{any} BETWEEN {any} AND {any}",
             "{int} IN ({int}, {int}, {num})", "{str} IN ({str}, {str})", "{any} IN ({any}, {any})", "{any} NOT IN ({any}, {any})",
             "{bool} IS TRUE", "{num} IS NOT FALSE", "{date} < {date}", "{date} = {str}", "{time} > {time}", "{time} = {any}", "{date} <=> {any}",
             "{str} REGEXP {str}", "REGEXP_LIKE({str}, {str}, 'c')", "{json} = {json}", "{json} < {any}", "ISNULL({any})", "({int}, {str}) = ({int}, {str})",
             "({int}, {int}) < ({int}, {int})", "IS_UUID({str})", "IS_IPV4({str})", "!{int}"],
    "date": ["DATE({date})", "CAST({any} AS DATE)", "CAST({any} AS DATETIME)", "CAST({date} AS DATETIME(3))", "{date} + INTERVAL {small} {unit}",
             "{date} - INTERVAL {int} {unit}", "DATE_ADD({date}, INTERVAL {num} SECOND)", "DATE_ADD({date}, INTERVAL {str} {lunit})", "LAST_DAY({date})",
             "FROM_DAYS(738000 + {small})", "MAKEDATE({int}, {int})", "TIMESTAMP({date})", "TIMESTAMP({date}, {time})", "ADDTIME({date}, {time})",
             "SUBTIME({date}, {time})", "STR_TO_DATE({str}, {fmt})", "FROM_UNIXTIME({int})", "FROM_UNIXTIME({num})", "TIMESTAMPADD({unit}, {small}, {date})",
             "CONVERT_TZ({date}, '+00:00', '+05:30')", "COALESCE({date}, {date})", "IF({bool}, {date}, {date})", "GREATEST({date}, {date})",
             "STR_TO_DATE(DATE_FORMAT({date}, '%Y %j %T'), '%Y %j %T')", "ADDDATE({date}, {small})"],
    "time": ["TIME({time})", "CAST({any} AS TIME)", "CAST({time} AS TIME(2))", "SEC_TO_TIME({num})", "MAKETIME({int}, {small}, {num})",
             "TIMEDIFF({time}, {time})", "TIMEDIFF({date}, {date})", "ADDTIME({time}, {time})", "SUBTIME({time}, {time})",
             "{time} + INTERVAL {small} HOUR", "COALESCE({time}, {time})"],
    "json": ["CAST({any} AS JSON)", "JSON_ARRAY({any}, {any})", "JSON_OBJECT('k', {any})", "JSON_EXTRACT({json}, {path})", "j->'$.a'", "j->>'$[0]'",
             "JSON_SET({json}, {epath}, {any})", "JSON_INSERT({json}, {epath}, {any})", "JSON_REPLACE({json}, {epath}, {any})",
             "JSON_REMOVE({json}, {epath})", "JSON_ARRAY_APPEND({json}, {epath}, {any})", "JSON_ARRAY_INSERT({json}, '$[1]', {any})",
             "JSON_MERGE_PATCH({json}, {json})", "JSON_MERGE_PRESERVE({json}, {json})", "JSON_KEYS({json})", "JSON_SEARCH({json}, 'all', {str})",
             "COALESCE({json}, {json})"],
}
KINDS = list(TEMPLATES)

# What is left of all these for `simple`: expressions that seldom differ, so that what is around them shows.
SIMPLE_LITERALS = {"int": ["0", "1", "-1", "2", "3", "7", "10", "255"], "num": ["0.0", "1.5", "-2.25", "0.1", "2.5"],
                   "str": ["''", "'a'", "'abc'", "'Zebra'", "'12'", "'y z'"], "bool": ["TRUE", "FALSE", "NULL"],
                   "date": ["'2024-02-29'", "DATE'2021-03-14'", "TIMESTAMP'1999-12-31 23:59:59'", "'2024-02-29 12:34:56'"],
                   "time": ["'10:11:12'", "TIME'-01:02:03'", "'00:00:00'"]}
SIMPLE_TEMPLATES = {
    "int": ["{int} + {int}", "{int} - {int}", "{int} * {int}", "-{int}", "LENGTH({str})", "COALESCE({int}, {int})", "IF({bool}, {int}, {int})", "IFNULL({int}, {int})",
            "CASE {int} WHEN {int} THEN {int} ELSE {int} END", "GREATEST({int}, {int})", "SIGN({num})"],
    "num": ["{num} + {num}", "{num} * {num}", "{int} / {int}", "-{num}", "COALESCE({num}, {num})", "IF({bool}, {num}, {int})", "ABS({num})"],
    "str": ["CONCAT({str}, {str})", "UPPER({str})", "LEFT({str}, {small})", "COALESCE({str}, {str})", "IF({bool}, {str}, {str})", "HEX({int})"],
    "bool": ["{int} = {int}", "{num} < {num}", "{str} = {str}", "{int} <=> {int}", "{str} LIKE {str}", "{int} IS NULL", "{str} IS NOT NULL", "{bool} AND {bool}",
             "{bool} OR {bool}", "NOT {bool}", "{int} BETWEEN {int} AND {int}", "{int} IN ({int}, {int})", "{str} IN ({str}, {str})", "{bool} IS TRUE"],
    "date": ["COALESCE({date}, {date})", "IF({bool}, {date}, {date})", "DATE({date})"], "time": ["COALESCE({time}, {time})"],
}


def simple():
    """From now on only simple expressions are made."""
    LITERALS.update(SIMPLE_LITERALS)
    TEMPLATES.update(SIMPLE_TEMPLATES)
    KINDS[:] = list(SIMPLE_TEMPLATES)


class Node:
    """A template with operands, or a text."""

    def __init__(self, kind, template, operands):
        self.kind, self.template, self.operands = kind, template, operands

    def text(self, top=True):
        parts = re.split(r"\{\w+\}", self.template)
        out = parts[0]
        for operand, rest in zip(self.operands, parts[1:]):
            out += operand.text(False) + rest
        plain = not self.operands and re.match(r"^[\w.'+-]+$|^'", out) and not out.startswith("-")
        return out if top or plain or re.match(r"^[A-Z_0-9]+\(.*\)$", out) else f"({out})"

    def smaller(self):
        """Trees with one part put in place of the whole, or of an operand."""
        for operand in self.operands:
            if operand.kind in KINDS:
                yield operand
        for i, operand in enumerate(self.operands):
            simple = LITERALS.get(operand.kind, [])[:3] if operand.operands else []
            for text in simple:
                yield Node(self.kind, self.template, [*self.operands[:i], Node(operand.kind, text, []), *self.operands[i + 1:]])
            for less in operand.smaller():
                yield Node(self.kind, self.template, [*self.operands[:i], less, *self.operands[i + 1:]])


def make(rng, kind, depth, columns=COLUMNS):
    if kind == "any":
        kind = rng.choice(KINDS)
    if kind == "unit":
        return Word(rng.choice(UNITS))
    if kind == "lunit":
        return Word(rng.choice(LONG_UNITS))
    if kind == "cset":
        return Word(rng.choice(LITERALS["cset"]))
    if kind not in TEMPLATES or depth <= 0 or rng.random() < 0.15:
        if columns.get(kind) and rng.random() < 0.4:
            return Node(kind, rng.choice(columns[kind]), [])
        return Node(kind, rng.choice(LITERALS[kind]), [])
    template = rng.choice(TEMPLATES[kind])
    return Node(kind, template, [make(rng, k, depth - 1, columns) for k in re.findall(r"\{(\w+)\}", template)])


class Word(Node):
    """A keyword among the operands."""

    def __init__(self, text):
        super().__init__("word", text, [])

    def text(self, top=True):
        return self.template


def statement(node, where):
    return f"SELECT {node.text()} FROM t WHERE id = {where}" if where else f"SELECT {node.text()}"


def minimise(node, where, servers, what, found):
    """The smallest part of the tree found that still differs in the same way."""
    for _ in range(40):
        for less in node.smaller():
            if where == 0 and re.search(r"(?<![\w'])(j|i|u|s|d|f|c|b|x|e|z|y|bi|da|dt|ti)(?![\w'(])", less.text()):
                continue
            results = [s.run(statement(less, where)) for s in servers]
            if differs(*results, what) == found:
                node = less
                break
        else:
            return node
    return node


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--left", type=int, required=True, help="port of the real MySQL")
    parser.add_argument("--right", type=int, required=True, help="port of Clearway")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--depth", type=int, default=2)
    parser.add_argument("--file")
    parser.add_argument("--what", default="values", help="comma-separated: values, types, names, lengths, warnings, messages")
    parser.add_argument("--most", type=int, default=60, help="differences to print")
    args = parser.parse_args()
    what = args.what.split(",")
    servers = [Server(args.left), Server(args.right)]
    for s in servers:
        s.reset()
        for sql in [TABLE, ROWS]:
            s.run(sql, strict=True)
    seen, total, bad = {}, 0, 0
    if args.file:
        for line in open(args.file, encoding="utf8"):
            sql = line.strip().rstrip(";")
            if not sql or sql.startswith("--"):
                continue
            total += 1
            results = [s.run(sql) for s in servers]
            found = differs(*results, what)
            if found:
                bad += 1
                show(sql, *results, found)
    else:
        seed = args.seed if args.seed is not None else random.randrange(1 << 30)
        rng = random.Random(seed)
        print(f"-- seed {seed}")
        for _ in range(args.count):
            node = make(rng, rng.choice(KINDS), args.depth)
            where = rng.randrange(1, 6)
            total += 1
            results = [s.run(statement(node, where)) for s in servers]
            found = differs(*results, what)
            if not found:
                continue
            bad += 1
            node = minimise(node, where, servers, what, found)
            key = shape(node.template if node.operands else node.text())
            seen[key] = seen.get(key, 0) + 1
            if seen[key] == 1 and len(seen) <= args.most:
                sql = statement(node, where)
                show(sql, *[s.run(sql) for s in servers], found)
        for key, n in sorted(seen.items(), key=lambda kv: -kv[1]):
            print(f"-- {n:5} {key}")
    print(f"-- {total} statements, {bad} differ")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
