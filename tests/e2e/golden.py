"""Golden scripts: statements in tests/golden/**/NAME.sql, and in NAME.result what a real MySQL server answered.

    python tests/e2e/golden.py regenerate HOST:PORT [NAME ...]     results anew from that server (a real MySQL)
    python tests/e2e/golden.py check HOST:PORT [NAME ...]          differences of a server that runs already

NAME is a path below tests/golden, without .sql; all scripts when there is none. A statement ends with `;` at the end of a line.
Each script runs on a connection of its own in an empty database `golden`. Lines that begin with `-- ` are comments; some direct:

    -- sort                 rows of the next statement come in any order
    -- hide a, b            values of these columns are not compared; `warnings` stands for the warnings
    -- metadata             all that is told of the columns of the following statements: names, length, digits, character set, flags
    -- differs: why         the next statement does not answer as MySQL does yet; an error here once it does
    -- on NAME              the following statements go to this connection (the first one is `main`)

A result file repeats each statement and says: columns with types and rows, or what OK said, for each answer of a procedure; warnings, or the error."""

import pathlib
import sys

import pymysql
from pymysql.constants import FIELD_TYPE

SCRIPTS = pathlib.Path(__file__).resolve().parents[1] / "golden"
DATABASE = "golden"
BINARY_CHARSET = 63
UNSIGNED_FLAG = 32
TYPES = {code: name for name, code in vars(FIELD_TYPE).items() if isinstance(code, int) and name not in ("CHAR", "INTERVAL")}


class Statement:
    def __init__(self, text, line):
        self.text = text
        self.line = line
        self.sort = False
        self.hide = set()
        self.metadata = False
        self.differs = None
        self.connection = "main"


def parse(text):
    """The statements of a script."""
    statements, words, lines, connection, metadata = [], [], [], "main", False
    for number, line in enumerate(text.splitlines(), 1):
        if not lines and (line.startswith("-- ") or line.strip() in ("", "--")):
            words.append(line[3:].strip())
            continue
        lines.append(line)
        if not line.rstrip().endswith(";"):
            continue
        statement = Statement("\n".join(lines).rstrip()[:-1], number - len(lines) + 1)
        for word in words:
            if word == "sort":
                statement.sort = True
            elif word.startswith("hide "):
                statement.hide = {name.strip() for name in word[5:].split(",")}
            elif word.startswith("differs: "):
                statement.differs = word[9:]
            elif word == "metadata":
                metadata = True
            elif word.startswith("on ") and len(word.split()) == 2:
                connection = word[3:]
        statement.connection, statement.metadata = connection, metadata
        statements.append(statement)
        words, lines = [], []
    assert not lines, f"the last statement has no end: {lines[0]}"
    return statements


def printed(value):
    if value is None:
        return "NULL"
    if isinstance(value, bytes):
        try:
            value = value.decode("utf-8")
        except UnicodeDecodeError:
            return "0x" + value.hex().upper()
    escapes = {"\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r", "\0": "\\0"}
    return "".join(escapes.get(c, c) for c in value)


def column(field):
    name = TYPES.get(field.type_code, str(field.type_code))
    if name.endswith("BLOB") and field.charsetnr != BINARY_CHARSET:
        name = "TEXT"
    elif name in ("VAR_STRING", "STRING") and field.charsetnr == BINARY_CHARSET:
        name = "BINARY" if name == "STRING" else "VARBINARY"
    if name == "NEWDECIMAL":
        name = f"DECIMAL(,{field.scale})"
    unsigned = " UNSIGNED" if field.flags & UNSIGNED_FLAG and name not in ("YEAR",) else ""
    return f"{printed(field.name)}:{name}{unsigned}"


def told(field):
    """Where a column comes from, and its size and flags."""
    names = ".".join(printed(name) for name in (field.db, field.table_name, field.org_table, field.org_name))
    return f"@ {printed(field.name)}: {names} {field.length},{field.scale} {field.charsetnr} {field.flags:x}"


def answer(statement, cursor):
    """One result set, or what OK said."""
    out, result = [], cursor._result
    if cursor.description:
        out.append("# " + " | ".join(column(f) for f in result.fields))
        out += [told(f) for f in result.fields if statement.metadata]
        shown = [f.name not in statement.hide for f in result.fields]
        rows = ["\t".join(printed(v) if s else "?" for v, s in zip(row, shown)) for row in cursor.fetchall()]
        return out + ["= " + row for row in (sorted(rows) if statement.sort else rows)]
    info = result.message.decode() if isinstance(result.message, bytes) else result.message
    # PyMySQL leaves the length before it.
    info = info[1:] if info and ord(info[0]) == len(info) - 1 else info
    words = [f"ok {result.affected_rows}"]
    words += [f"id {result.insert_id}"] if result.insert_id else []
    words += [info] if info else []
    return [*out, "# " + " | ".join(words)]


def run(statement, connection):
    """What the server answers, as lines."""
    cursor = connection.cursor()
    try:
        cursor.execute(statement.text)
    except pymysql.err.MySQLError as error:
        if isinstance(error, pymysql.err.InterfaceError) or error.args[0] in (2006, 2013):
            raise
        code, message = error.args[0], error.args[1]
        # Where a syntax error is seen differs from version to version.
        return [f"! ERROR {code}" + ("" if code == 1064 else f" {printed(message)}")]
    out = []
    while True:
        out += answer(statement, cursor)
        result = cursor._result
        try:
            if not cursor.nextset():
                break
        except pymysql.err.MySQLError as error:
            code, message = error.args[0], error.args[1]
            return [*out, f"! ERROR {code} {printed(message)}"]
    if result.warning_count and "warnings" not in statement.hide:
        cursor.execute("SHOW WARNINGS")
        out += [f"! {printed(level)} {code} {printed(message)}" for level, code, message in cursor.fetchall()]
    return out


def connect(host, port, **words):
    options = dict(host=host, port=port, user="root", autocommit=True, charset="utf8mb4", conv={}, read_timeout=120, ssl_disabled=True)
    return pymysql.connect(**{**options, **words})


def answers(script, host, port):
    """Runs a script; (statement, lines) one after another."""
    admin = connect(host, port)
    with admin.cursor() as cursor:
        cursor.execute(f"DROP DATABASE IF EXISTS {DATABASE}")
        cursor.execute(f"CREATE DATABASE {DATABASE} DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_ai_ci")
    connections = {}
    try:
        for statement in parse(script.read_text()):
            if statement.connection not in connections:
                connection = connect(host, port, database=DATABASE)
                with connection.cursor() as cursor:
                    cursor.execute("SET time_zone = '+00:00'")
                connections[statement.connection] = connection
            yield statement, run(statement, connections[statement.connection])
    finally:
        for connection in connections.values():
            connection.close()
        with admin.cursor() as cursor:
            cursor.execute(f"DROP DATABASE IF EXISTS {DATABASE}")
        admin.close()


def quoted(statement):
    return "\n".join("> " + line for line in statement.text.splitlines())


def regenerate(script, host, port):
    blocks = ["\n".join([quoted(statement), *lines]) for statement, lines in answers(script, host, port)]
    assert blocks, f"{script} has no statements"
    script.with_suffix(".result").write_text("\n\n".join(blocks) + "\n")
    return len(blocks)


def differences(script, host, port):
    """What a server answers otherwise than the result file says, one text a statement."""
    blocks = script.with_suffix(".result").read_text().rstrip("\n").split("\n\n")
    name = script.relative_to(SCRIPTS)
    found, count = [], 0
    for statement, lines in answers(script, host, port):
        expected = blocks[count] if count < len(blocks) else "(nothing: the result file is out of date)"
        count += 1
        got = "\n".join([quoted(statement), *lines])
        if not expected.startswith(quoted(statement) + "\n"):
            found.append(f"{name}:{statement.line}: the result file is out of date")
            break
        if statement.differs:
            if got == expected:
                found.append(f"{name}:{statement.line}: answers as MySQL does now; take out `-- differs: {statement.differs}`")
        elif got != expected:
            wanted = expected[len(quoted(statement)) + 1:]
            found.append(f"{name}:{statement.line}:\n{quoted(statement)}\nexpected\n{wanted}\ngot\n" + "\n".join(lines))
    return found, count


def scripts(names=()):
    if names:
        return [SCRIPTS / f"{name.removesuffix('.sql')}.sql" for name in names]
    return sorted(SCRIPTS.rglob("*.sql"))


def main():
    if len(sys.argv) < 3 or sys.argv[1] not in ("regenerate", "check"):
        sys.exit(__doc__)
    host, port = sys.argv[2].rsplit(":", 1)
    total = different = 0
    for script in scripts(sys.argv[3:]):
        if sys.argv[1] == "regenerate":
            total += regenerate(script, host, int(port))
            continue
        found, count = differences(script, host, int(port))
        total, different = total + count, different + len(found)
        for difference in found:
            print(difference, end="\n\n")
    print(f"{total} statements" + (f", {different} different" if sys.argv[1] == "check" else ""))
    sys.exit(1 if different else 0)


if __name__ == "__main__":
    main()
