"""Parameters of each type in each place: prepared statements by COM_STMT_EXECUTE and by EXECUTE, MySQL beside Clearway.

    python tests/differential/parameters.py MYSQL_HOST:PORT CLEARWAY_HOST:PORT

Statements are those that the golden scripts prepare and that read no table, and the ones below. Each `?` gets each value in turn, on a fresh
statement, and 2 stands for the others. Columns (kind and sign), rows and warnings' codes are compared; what differs is printed."""

import datetime
import decimal
import pathlib
import re
import struct
import sys

import binary
import pymysql
from pymysql.constants import COMMAND, FIELD_TYPE

GOLDEN = pathlib.Path(__file__).resolve().parents[1] / "golden"
DATABASE = "parameters"
SECOND = 1_700_000_000
MOMENT = datetime.datetime(2024, 2, 29, 12, 30, 45, 123456)
VALUES = [5, -5, 1.5, decimal.Decimal("1.25"), "7", "-7", "1.5", "abc", "99999999999999999999", b"ab", MOMENT.date(), MOMENT,
          datetime.timedelta(hours=10, minutes=20, seconds=30), None]
TABLE = """CREATE TABLE t (i INT, u INT UNSIGNED, d DECIMAL(10,2), f DOUBLE, s VARCHAR(20), x VARBINARY(9), dt DATETIME(3), da DATE,
           ti TIME(2), y YEAR, j JSON, e ENUM('a','b'))"""
ROW = "INSERT INTO t VALUES (5, 5, 1.25, 1.5, 'abc', 'ab', '2024-02-29 12:30:45.123', '2024-02-29', '10:20:30', 2024, '[1]', 'a')"
STATEMENTS = """SELECT ?; SELECT ? + 0; SELECT -?; SELECT ? * 1.5; SELECT ? + 1e0; SELECT ? + ?; SELECT d * ? FROM t; SELECT ? | 1; SELECT NOT ?;
    SELECT IFNULL(?, 7); SELECT COALESCE(?, 'a'); SELECT IF(1, ?, da) FROM t; SELECT IF(1, ?, dt) FROM t; SELECT IF(1, ?, ti) FROM t;
    SELECT i = ? FROM t; SELECT u = ? FROM t; SELECT d = ? FROM t; SELECT f = ? FROM t; SELECT s = ? FROM t; SELECT x = ? FROM t;
    SELECT dt = ? FROM t; SELECT da = ? FROM t; SELECT ti = ? FROM t; SELECT y = ? FROM t; SELECT j = ? FROM t; SELECT e = ? FROM t;
    SELECT CAST(? AS SIGNED); SELECT CAST(? AS UNSIGNED); SELECT CAST(? AS DECIMAL(10,2)); SELECT CAST(? AS CHAR); SELECT CAST(? AS JSON);
    SELECT CAST(? AS DATE); SELECT CAST(? AS DATETIME); SELECT CAST(? AS DOUBLE); SELECT CONCAT(?, 'x'); SELECT LENGTH(?); SELECT ABS(?);
    SELECT ROUND(?); SELECT YEAR(?); SELECT DATE_ADD(?, INTERVAL 1 DAY); SELECT i IN (?, ?) FROM t; SELECT ? BETWEEN 1 AND 3;
    SELECT GREATEST(?, 1); SELECT CASE ? WHEN 1 THEN 'a' ELSE 'b' END; SELECT SUM(?) FROM t; SELECT MAX(?) FROM t;
    SELECT ? UNION SELECT 1; SELECT a FROM (SELECT ? a) x; SELECT i FROM t WHERE i = ?; SELECT i FROM t WHERE dt > ?"""


def statements():
    found = [s.strip() for s in STATEMENTS.split(";")]
    for path in sorted(GOLDEN.glob("**/*.sql")):
        for text in re.findall(r"^PREPARE \w+ FROM '((?:[^']|'')*)';$", path.read_text(), re.M):
            text = text.replace("''", "'")
            if re.match(r"(SELECT|DO) ", text, re.I) and not re.search(r"\bFROM\b", text, re.I) and "?" in text:
                found.append(text)
    return list(dict.fromkeys(found))


def connect(address):
    host, port = address.split(":")
    link = pymysql.connect(host=host, port=int(port), user="root", autocommit=True)
    run(link, f"CREATE DATABASE IF NOT EXISTS {DATABASE}", f"USE {DATABASE}", "DROP TABLE IF EXISTS t", TABLE, ROW, f"SET timestamp = {SECOND}")
    return link


def run(link, *texts, given=None):
    with link.cursor() as cursor:
        for text in texts:
            cursor.execute(text, given)
        return cursor.description, cursor.fetchall()


def encoded(value):
    """Type code and bytes of a value in COM_STMT_EXECUTE."""
    sized = lambda kind, data: (kind, bytes([len(data)]) + data)
    if value is None:
        return FIELD_TYPE.NULL, b""
    if isinstance(value, int):
        return FIELD_TYPE.LONGLONG, struct.pack("<q", value)
    if isinstance(value, float):
        return FIELD_TYPE.DOUBLE, struct.pack("<d", value)
    if isinstance(value, decimal.Decimal):
        return sized(FIELD_TYPE.NEWDECIMAL, str(value).encode())
    if isinstance(value, datetime.datetime):
        day = (value.year, value.month, value.day, value.hour, value.minute, value.second, value.microsecond)
        return sized(FIELD_TYPE.DATETIME, struct.pack("<HBBBBBI", *day))
    if isinstance(value, datetime.date):
        return sized(FIELD_TYPE.DATE, struct.pack("<HBB", value.year, value.month, value.day))
    if isinstance(value, datetime.timedelta):
        hours, seconds = divmod(value.seconds, 3600)
        return sized(FIELD_TYPE.TIME, struct.pack("<BIBBBI", 0, value.days, hours, seconds // 60, seconds % 60, value.microseconds))
    return sized(FIELD_TYPE.BLOB, value) if isinstance(value, bytes) else sized(FIELD_TYPE.VAR_STRING, value.encode())


def kinds(fields):
    return [(f.type_code, bool(f.flags & binary.UNSIGNED_FLAG)) for f in fields]


def by_command(link, text, values):
    link._execute_command(COMMAND.COM_STMT_PREPARE, text)
    try:
        statement, columns, parameters = struct.unpack("<xIHH", link._read_packet().get_all_data()[:9])
    except pymysql.err.MySQLError as error:
        return error.args[0]
    told = [kinds(binary._read_fields(link, count)) for count in (parameters, columns)]
    nulls = sum(1 << i for i, v in enumerate(values) if v is None)
    pairs = [encoded(v) for v in values]
    body = nulls.to_bytes((len(values) + 7) // 8, "little") + b"\1" + b"".join(struct.pack("<H", kind) for kind, _ in pairs)
    try:
        link._execute_command(COMMAND.COM_STMT_EXECUTE, struct.pack("<IBI", statement, 0, 1) + body + b"".join(data for _, data in pairs))
        fields, rows, _, warnings = binary._answer(link)
        codes = [w[1] for w in run(link, "SHOW WARNINGS")[1]] if warnings else []
        return told, kinds(fields or []), sorted(rows, key=repr), codes
    except pymysql.err.MySQLError as error:
        return told, error.args[0]
    finally:
        link._execute_command(COMMAND.COM_STMT_CLOSE, struct.pack("<I", statement))


def by_text(link, text, values):
    quoted = text.replace("'", "''")
    try:
        for i, value in enumerate(values):
            run(link, f"SET @p{i} = %s", given=(value,))
        run(link, f"PREPARE p FROM '{quoted}'")
        fields, rows = run(link, "EXECUTE p USING " + ", ".join(f"@p{i}" for i in range(len(values))))
        return [f[1] for f in fields or []], sorted(rows, key=repr), [w[1] for w in run(link, "SHOW WARNINGS")[1]]
    except pymysql.err.MySQLError as error:
        return error.args[0]


def main(addresses):
    links, asked, differ = [connect(a) for a in addresses], 0, 0
    for text in statements():
        count = text.count("?")
        for place in range(count):
            for value in VALUES:
                values = [2] * count
                values[place] = value
                for way in (by_command, by_text):
                    answers = [way(link, text, values) for link in links]
                    asked += 1
                    if answers[0] != answers[1]:
                        differ += 1
                        print(f"{way.__name__} {text} {values!r}\n  MySQL    {answers[0]}\n  Clearway {answers[1]}")
    print(f"{asked} executions, {differ} differ")


if __name__ == "__main__":
    main(sys.argv[1:])
