"""Two servers side by side: sends a statement to one of them, and says in what two answers differ."""

import re
import time

import pymysql

import binary
from pymysql.constants import FIELD_TYPE

UNSIGNED_FLAG = 32
# Types of columns that are not told apart: MySQL keeps an integer wider or narrower, and a string with 0 or with 31 digits behind the point,
# as the value passes through a temporary table or not, which hangs from its plan.
INTEGERS = {1, 2, 3, 8, 9}
STRINGS = {247, 248, 249, 250, 251, 252, 253, 254}
LOST = (0, 2006, 2013)
# MySQL 9.7 itself aborts at some queries; whoever runs it may start it again.
AGAIN_SECONDS = 120


class Server:
    """A connection as root without password; `run` gives answers as data that can be compared."""

    def __init__(self, port, database="differential"):
        self.port, self.database = port, database
        self.connect()

    def connect(self):
        self.link = pymysql.connect(host="127.0.0.1", port=self.port, user="root", charset="utf8mb4", autocommit=True, conv={},
                                    use_unicode=False, ssl_disabled=True, read_timeout=60)

    def connect_again(self):
        deadline = time.monotonic() + AGAIN_SECONDS
        while True:
            try:
                return self.connect()
            except pymysql.err.OperationalError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.2)

    def reset(self, mode=None):
        """An empty database on a session as new."""
        mode = "DEFAULT" if mode is None else f"'{mode}'"
        for sql in [f"SET sql_mode = {mode}", "SET time_zone = '+00:00'", "SET group_concat_max_len = 1024", f"DROP DATABASE IF EXISTS {self.database}",
                    f"CREATE DATABASE {self.database}", f"USE {self.database}"]:
            self.run(sql, strict=True)
        # What an earlier case has prepared.
        self.run("DEALLOCATE PREPARE p")
        # MySQL's search for the order of twenty tables has no end. Clearway has no such variable.
        self.run("SET optimizer_search_depth = 4")

    def run(self, sql, strict=False, values=None):
        """("rows", columns, rows, warnings), ("ok", affected, id, info, warnings), ("error", number, message) or ("lost", why).
        `values`: for the `?` of a statement that is sent to be prepared and executed."""
        cursor = self.link.cursor()
        try:
            if values is None:
                cursor.execute(sql)
                ok, rows, warned = cursor._result, cursor.fetchall(), cursor.warning_count
                fields = ok.fields if ok.description else None
            else:
                fields, rows, ok, warned = binary.execute(self.link, sql, values)
        except (pymysql.err.MySQLError, OSError) as e:
            if strict:
                raise
            if not isinstance(e, pymysql.err.MySQLError) or e.args[0] in LOST:
                thread = self.link.thread_id()
                self.link.close()
                self.connect_again()
                self.run(f"KILL {thread}")
                self.run(f"USE {self.database}")
                return ("lost", str(e.args))
            return ("error", e.args[0], e.args[1] if len(e.args) > 1 else "")
        warnings = []
        if warned:
            cursor.execute("SHOW WARNINGS")
            warnings = [(int(code), message.decode("utf8", "replace")) for _, code, message in cursor.fetchall()]
        if fields is not None:
            return ("rows", [Column(f) for f in fields], tuple(rows), warnings)
        message = ok.message or b""
        message = message.decode("utf8", "replace") if isinstance(message, bytes) else message
        return ("ok", ok.affected_rows, ok.insert_id, message, warnings)


class Column:
    """What the server says of a result's column."""

    def __init__(self, field):
        self.name, self.type, self.scale = field.name, field.type_code, field.scale
        self.unsigned = bool(field.flags & UNSIGNED_FLAG)
        self.nullable, self.length, self.charset = not field.flags & 1, field.length, field.charsetnr

    def __repr__(self):
        return f"{self.type}{'u' if self.unsigned else ''}({self.length},{self.scale}){'' if self.nullable else '!'}cs{self.charset}"


def is_double_text(a, b):
    """Do two texts name doubles that differ by rounding of the last digits only?"""
    try:
        x, y = float(a), float(b)
    except ValueError:
        return False
    return x == y or abs(x - y) <= 1e-13 * max(abs(x), abs(y))


def place(v, kind):
    """Where a value stands among those of its column, whatever their order is: doubles that are the same stand at the same place."""
    if v is not None and kind in (FIELD_TYPE.DOUBLE, FIELD_TYPE.FLOAT):
        v = f"{float(v):.11e}".encode()
    return (v is not None, v or b"")


def same_value(a, b, kind):
    return a == b or None not in (a, b) and kind in (FIELD_TYPE.DOUBLE, FIELD_TYPE.FLOAT) and is_double_text(a, b)


def codes(warnings):
    return sorted({code for code, _ in warnings})


def told(info):
    """The words of an OK packet; of warnings it counts only whether there were any, as [codes] does."""
    return re.sub(r"(Warnings: )[1-9]\d*", r"\1some", info[1:] if info[:1] and info[0] not in "RD" else info)


def differs(left, right, what, exact=True):
    """What is different: '' for nothing. `exact`: the order of the rows counts."""
    if left[0] == "lost" or right[0] == "lost":
        return "lost" if right[0] == "lost" else ""
    if left[0] != right[0]:
        return "outcome"
    if left[0] == "error":
        if left[1] != right[1]:
            return "error"
        return "message" if "messages" in what and left[1] != 1064 and left[2] != right[2] else ""
    if left[0] == "ok":
        if left[1:3] != right[1:3] or told(left[3]) != told(right[3]):
            return "ok"
        return "warning" if "warnings" in what and codes(left[4]) != codes(right[4]) else ""
    return differs_rows(left, right, what, exact)


def differs_rows(left, right, what, exact):
    kinds = [c.type for c in left[1]]
    if len(left[2]) != len(right[2]) or len(kinds) != len(right[1]):
        return "rows"
    rows = [left[2], right[2]] if exact else [sorted(r, key=lambda row: [place(v, kind) for v, kind in zip(row, kinds)]) for r in (left[2], right[2])]
    for x, y in zip(*rows):
        if not all(same_value(a, b, kind) for a, b, kind in zip(x, y, kinds)):
            return "value"
    if "types" in what:
        for x, y in zip(left[1], right[1]):
            if x.type != y.type and not (x.unsigned == y.unsigned and {x.type, y.type} <= INTEGERS):
                return "type"
            if "names" in what and x.name != y.name:
                return "name"
            if x.unsigned != y.unsigned or x.charset != y.charset:
                return "unsigned" if x.charset == y.charset else "charset"
            if x.scale != y.scale and x.type not in STRINGS:
                return "scale"
            if "lengths" in what and (x.length != y.length or x.nullable != y.nullable):
                return "length" if x.nullable == y.nullable else "nullable"
    if "warnings" in what and codes(left[3]) != codes(right[3]):
        return "warning"
    return ""


def shape(sql):
    return re.sub(r"'(?:[^'\\]|\\.)*'|\b\d[\d.e+-]*", "?", sql)


def show(sql, left, right, found):
    print(f"-- {found}\n{sql}")
    for name, result in (("mysql", left), ("clearway", right)):
        print(f"   {name}: {result if result[0] != 'rows' else (list(result[2]), result[1], result[3])}"[:900])
