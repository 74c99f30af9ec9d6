"""Files in statements: LOAD DATA [LOCAL] INFILE as MySQL does it, SELECT ... INTO OUTFILE and DUMPFILE, and who may.

What MySQL answers to the cases stands in load_data.json:

    python tests/e2e/test_files.py HOST:PORT DIRECTORY      anew, from a MySQL with secure_file_priv="" and local_infile=1
"""

import json
import os
import pathlib
import sys
import tempfile

import pymysql
import pytest

import harness

ANSWERS = pathlib.Path(__file__).with_name("load_data.json")
SCHEMA = [
    "CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(10), d DATE)",
    "CREATE TABLE a (id INT AUTO_INCREMENT PRIMARY KEY, n VARCHAR(10))",
    "CREATE TABLE g (a INT, g INT AS (a + 1), CHECK (a < 2))",
    "CREATE TABLE n (x INT NOT NULL, y VARCHAR(5) NOT NULL DEFAULT 'dd')",
    "CREATE TABLE b (id INT, x BIT(8), s SET('a','b'), e ENUM('x','y'))",
    "CREATE TABLE f (a CHAR(3) CHARSET latin1, b INT(4), c CHAR(2) CHARSET latin1 DEFAULT 'zz', d CHAR(1) CHARSET latin1 NOT NULL DEFAULT 'y')",
    "CREATE TABLE w (a TINYINT, b SMALLINT UNSIGNED, c MEDIUMINT, d BIGINT, e DOUBLE, f FLOAT, g TIME(3), h DATETIME(6), i YEAR, j DECIMAL(5,2), "
    "k ENUM('a','longer'), l SET('a','bb'), m BINARY(3), n VARBINARY(4), o FLOAT(5,2), p INT UNSIGNED, q DATE, r DECIMAL(5,0) UNSIGNED, s TINYTEXT)",
    "CREATE TABLE u (a CHAR(1) CHARSET utf8mb4, b CHAR(3) CHARSET latin1)",
    "CREATE TABLE i (id INT AUTO_INCREMENT PRIMARY KEY, g INT AS (5), c CHAR(2) CHARSET latin1, ts TIMESTAMP(6) NOT NULL DEFAULT '2000-01-01')",
]

# A line of table `w`.
WIDE = "".join(text.ljust(width) for text, width in [
    ("-1", 4), ("2", 5), ("3", 9), ("4", 20), ("5.5", 22), ("6.5", 12), ("-100:00:00.123", 14), ("2020-01-02 03:04:05.123456", 26), ("2001", 4),
    ("1.25", 7), ("longer", 24), ("a,bb", 16), ("xyz", 3), ("yy", 4), ("1.25", 5), ("7", 10), ("2020-01-02", 10), ("9", 5), ("text", 4)])

# What runs before, the clauses, the file.
CASES = [
    ("", "INTO TABLE t", "1\ta\t2020-01-01\n2\t\\N\t\\N\n3\tx\\ty\\\\\t2021-02-03\n"),
    ("", "INTO TABLE t FIELDS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '\"' LINES TERMINATED BY '\\r\\n'", '1,"a,b",2020-01-01\r\n2,"say ""hi""",NULL\r\n3,plain,"2020-03-03"\r\n'),
    ("", "INTO TABLE t FIELDS TERMINATED BY ',' IGNORE 2 LINES (v, id)", "head,er\nmore\none,1\ntwo,2\n"),
    ("", "INTO TABLE t FIELDS TERMINATED BY ',' (id, @x) SET v = UPPER(CONCAT(@x, id)), d = '2000-01-01'", "1,ab\n2,cd\n"),
    ("", "INTO TABLE t FIELDS TERMINATED BY ','", "1,a\n2,b,2020-01-01,extra\n\n3\n"),
    ("INSERT INTO t VALUES (1, 'old', NULL)", "INTO TABLE t", "1\tnew\t\\N\n2\ttwo\t\\N\n"),
    ("INSERT INTO t VALUES (1, 'old', NULL)", "REPLACE INTO TABLE t", "1\tnew\t\\N\n2\ttwo\t\\N\n1\tlast\t\\N\n"),
    ("INSERT INTO t VALUES (1, 'old', NULL)", "IGNORE INTO TABLE t", "1\tnew\t\\N\n2\ttwo\t\\N\n"),
    ("", "INTO TABLE t", "x\ta\tnodate\n300000000000\ttoo long a value here\t2020-13-01\n\t\t\n"),
    ("", "INTO TABLE t", "\\N\ta\t\\N\n"),
    ("", "INTO TABLE a", "\\N\tone\n0\ttwo\n7\tseven\n\\N\teight\n"),
    ("", "INTO TABLE a (n)", "one\ntwo\n"),
    ("", "INTO TABLE t LINES STARTING BY '>>'", "junk>>1\ta\t\\N\nno\n>>2\tb\t\\N\n"),
    ("", "INTO TABLE t FIELDS TERMINATED BY '||' ENCLOSED BY '\\'' ESCAPED BY ''", "'1'||'a\\n'||'2020-01-01'\n2||NULL||NULL\n'3'||'it''s'||''\n"),
    ("", "INTO TABLE t CHARACTER SET latin1 (id, v)", b"1\t\xe4\xf6\n"),
    ("", "INTO TABLE t (id, v)", "1\tä€\n"),
    ("", "INTO TABLE t (id, v)", b"1\tbad\xff\n"),
    ("", "INTO TABLE t (id, nix)", "1\t2\n"),
    ("", "INTO TABLE t (id, id)", "1\t2\n"),
    ("", "INTO TABLE missing", "1\t2\n"),
    ("", "INTO TABLE g", "1\t5\n2\t6\n"),
    ("", "INTO TABLE g (a) SET g = 5", "1\n"),
    ("", "INTO TABLE t FIELDS TERMINATED BY 'xx' ENCLOSED BY 'ab'", "1\n"),
    ("", "INTO TABLE t", ""),
    ("", "INTO TABLE t FIELDS TERMINATED BY ',' (id, @skip, v)", "1,zzz,a\n2,yyy,b"),
    ("", "INTO TABLE n", "\\N\t\\N\n1\n"),
    ("SET sql_mode = ''", "INTO TABLE t", "x\ta\tnodate\n"),
    ("", "INTO TABLE b", "1\tz\ta,b\tx\n2\t\\0\t\ty\n"),
    ("", "INTO TABLE t IGNORE 5 LINES", "1\ta\n2\tb\n"),
    ("", "INTO TABLE t (@a, @b) SET id = @a + 10, v = IF(@b = '', NULL, @b)", "1\t\n2\tx\n"),
    ("", "INTO TABLE t CHARACTER SET ascii (id, v)", b"1\tbad\xff\n"),
    ("SET sql_mode = ''", "INTO TABLE t CHARACTER SET ascii (id, v)", b"1\tbad\xff\n"),
    ("SET @x = 5", "INTO TABLE t CHARACTER SET latin1 (id, @x) SET v = @x", b"1\t\xe4\xf6\n"),
    ("SET @x = 5", "INTO TABLE t CHARACTER SET utf8mb4 (id, @X) SET v = CONCAT(@x, @x)", "1\tab\n"),
    ("", "INTO TABLE t CHARACTER SET binary (id, @bytes) SET v = @bytes", b"1\ta\xff\n"),
    # Fields of fixed width.
    ("SET sql_mode = ''", "INTO TABLE f FIELDS TERMINATED BY ''", "abc1234xyq\nab 12\n\nabc1234xyqmore\na\\nb  1x\n a\\"),
    ("", "INTO TABLE f FIELDS TERMINATED BY '' ENCLOSED BY ''", "abc1234xyq\nab 12  xyq\n"),
    ("", "INTO TABLE f FIELDS TERMINATED BY ''", "abc1234xyq\nab 12\n"),
    ("", "INTO TABLE f FIELDS TERMINATED BY ''", "abc1234xyqmore\n"),
    ("", "INTO TABLE f FIELDS TERMINATED BY ''", "abcwordxyq\n"),
    ("", "IGNORE INTO TABLE f FIELDS TERMINATED BY ''", "abc1234xyqmore\nab\n"),
    ("", "INTO TABLE f FIELDS TERMINATED BY '' (b, @x, a)", "1234abc\n"),
    ("", "INTO TABLE f FIELDS TERMINATED BY '' (b, a) SET c = CONCAT(b, 'x'), d = 'd'", "   1abc\n2   de \n"),
    ("", "INTO TABLE f FIELDS TERMINATED BY '' LINES TERMINATED BY '' (a, b)", "abc1234de\n5678ghi12"),
    ("", "INTO TABLE f FIELDS TERMINATED BY '' ESCAPED BY '' LINES STARTING BY '>' TERMINATED BY ';' IGNORE 1 LINES (a, b)", "first;no start>a\\b 1;>c   2  ;"),
    ("", "INTO TABLE w FIELDS TERMINATED BY ''", WIDE + "\n"),
    ("", "INTO TABLE u CHARACTER SET utf8mb4 FIELDS TERMINATED BY ''", "üü1\n"),
    ("", "INTO TABLE i FIELDS TERMINATED BY '' (id, g, c)", "7          9          ab\n8          10         cd\n"),
    ("SET sql_mode = ''", "INTO TABLE i FIELDS TERMINATED BY '' (c, id)", "ab\ncd\n"),
    ("", "INTO TABLE f FIELDS TERMINATED BY '' ENCLOSED BY '\"' (a)", "\"ab\"\nab\n"),
    ("INSERT INTO i VALUES (7, DEFAULT, 'x', DEFAULT)", "REPLACE INTO TABLE i FIELDS TERMINATED BY '' (id, c)", "7          ab\n"),
]


def connect(host, port):
    return pymysql.connect(host=host, port=port, user="root", autocommit=True, local_infile=True, charset="utf8mb4", ssl_disabled=True)


def answer(connection, local, case, directory):
    before, clauses, content = case
    table = clauses.split("INTO TABLE ")[1].split()[0]
    with tempfile.NamedTemporaryFile(dir=directory) as file, connection.cursor() as cursor:
        file.write(content if isinstance(content, bytes) else content.encode())
        file.flush()
        pathlib.Path(file.name).chmod(0o644)
        harness.run("DROP DATABASE IF EXISTS loads", "CREATE DATABASE loads CHARACTER SET utf8mb4", "USE loads", *SCHEMA, on=connection)
        cursor.execute("SET sql_mode = DEFAULT")
        if before:
            cursor.execute(before)
        try:
            cursor.execute(f"LOAD DATA {'LOCAL ' if local else ''}INFILE '{file.name}' {clauses}")
            info = cursor._result.message.decode()
            answer = [cursor._result.affected_rows, cursor._result.insert_id, info[info.index("Records"):]]
            cursor.execute("SHOW WARNINGS")
            answer.append(list(cursor.fetchall()))
        except pymysql.err.MySQLError as error:
            answer = ["error", error.args[0], error.args[1]]
        if table != "missing":
            cursor.execute(f"SELECT * FROM {table}")
            answer.append([[str(v) for v in row] for row in cursor.fetchall()])
    return json.loads(json.dumps(answer))


@pytest.fixture(scope="module")
def files(request, tmp_path_factory):
    """Clearway that may read and write files of one directory."""
    if request.config.getoption("--address") or request.config.getoption("--server") == "mariadb":
        pytest.skip("starts its own server")
    directory = tmp_path_factory.mktemp("files")
    server = harness.Server("clearway", f"--secure-file-priv={directory}", "--local-infile=1")
    try:
        server.start()
        connection = connect(server.host, server.port)
        yield server, connection, directory
        connection.close()
    finally:
        server.remove()


@pytest.mark.parametrize("number", range(len(CASES)))
@pytest.mark.parametrize("local", [False, True], ids=["server", "local"])
def test_load(files, number, local):
    _, connection, directory = files
    expected = json.loads(ANSWERS.read_text())["local" if local else "server"][number]
    assert answer(connection, local, CASES[number], directory) == expected, CASES[number]


def test_several_local_files_in_one_text(files):
    server, _, directory = files
    connection = pymysql.connect(host=server.host, port=server.port, user="root", autocommit=True, local_infile=True,
                                 client_flag=pymysql.constants.CLIENT.MULTI_STATEMENTS, ssl_disabled=True)
    harness.run("CREATE DATABASE several", "CREATE TABLE several.t (a INT)", on=connection)
    path = directory / "lines"
    path.write_text("1\n2\n3\n")
    load = f"LOAD DATA LOCAL INFILE '{path}' INTO TABLE several.t"
    with connection.cursor() as cursor:
        cursor.execute(f"{load}; {load}; SELECT SUM(a) FROM several.t")
        assert cursor.nextset() and cursor.nextset()
        assert cursor.fetchall() == ((12,),)
        # Larger than a block, and than a packet.
        path.write_text("".join(f"{n}\n" for n in range(100_000)))
        assert cursor.execute(load) == 100_000
    connection.close()


def test_a_pipe_is_not_waited_for(files):
    _, connection, directory = files
    os.mkfifo(directory / "pipe")
    harness.run("CREATE DATABASE IF NOT EXISTS pipes", "CREATE TABLE IF NOT EXISTS pipes.t (a INT)", on=connection)
    with pytest.raises(pymysql.err.MySQLError) as error, connection.cursor() as cursor:
        cursor.execute(f"LOAD DATA INFILE '{directory}/pipe' INTO TABLE pipes.t")
    assert error.value.args[0] == 1085


def test_outfile(files):
    _, connection, directory = files
    harness.run("DROP DATABASE IF EXISTS out_of", "CREATE DATABASE out_of", "USE out_of",
                "CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20), d DATE, x DOUBLE)",
                "INSERT INTO t VALUES (1, 'plain', '2020-01-01', 1.5), (2, NULL, NULL, NULL), (3, 'tab\there \\\\ \n\"q\"', NULL, -1e20)",
                on=connection)
    with connection.cursor() as cursor:
        assert cursor.execute(f"SELECT * FROM t ORDER BY id INTO OUTFILE '{directory}/plain'") == 3
        assert (directory / "plain").read_bytes() == (
            b"1\tplain\t2020-01-01\t1.5\n2\t\\N\t\\N\t\\N\n3\ttab\\\there \\\\ \\\n\"q\"\t\\N\t-1e20\n")
        cursor.execute(f"SELECT * FROM t ORDER BY id INTO OUTFILE '{directory}/csv' FIELDS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '\"' LINES TERMINATED BY '\\r\\n'")
        assert (directory / "csv").read_bytes() == (
            b'1,"plain","2020-01-01",1.5\r\n2,\\N,\\N,\\N\r\n3,"tab\there \\\\ \n\\"q\\"",\\N,-1e20\r\n')
        cursor.execute(f"SELECT v FROM t WHERE id = 3 INTO DUMPFILE '{directory}/dump'")
        assert (directory / "dump").read_bytes() == b'tab\there \\ \n"q"'
        for statement, code in [
            (f"SELECT 1 INTO OUTFILE '{directory}/plain'", 1086),
            (f"SELECT id FROM t INTO DUMPFILE '{directory}/two'", 1172),
            ("SELECT 1 INTO OUTFILE '/tmp/elsewhere'", 1290),
            ("LOAD DATA INFILE '/etc/hostname' INTO TABLE t", 1290),
            (f"LOAD DATA INFILE '{directory}/../passwd' INTO TABLE t", 1290),
            (f"LOAD DATA INFILE '{directory}/missing' INTO TABLE t", 13),
        ]:
            with pytest.raises(pymysql.err.MySQLError) as error:
                cursor.execute(statement)
            assert error.value.args[0] == code, (statement, error.value)
        assert not (directory / "two").exists()


# What is written as fields of fixed width, into which lines.
FIXED = [
    ("SELECT * FROM w", WIDE + " " * 1016 + "\n" + " " * (len(WIDE) + 1016) + "\n"),
    ("SELECT * FROM narrow", "1          2   \x033          4  \n"),
    ("SELECT 'ab', 5, NULL, a FROM narrow", "ab      5 1          \n"),
    ("SELECT 'a\\nb', x'00' FROM narrow", "a\\\nb         \\0\n"),
    # A column of 16 MiB has no width.
    ("SELECT 'ab', CAST('{}' AS JSON), NULL", "ab{}\\N\n"),
]


def write_fixed(connection, directory):
    """Gives what the files hold."""
    harness.run("DROP DATABASE IF EXISTS fixed", "CREATE DATABASE fixed", "USE fixed", *(table for table in SCHEMA if " w (" in table),
                "CREATE TABLE narrow (a INT(4), b TINYINT(1), c BIT(12), d VARBINARY(3))", "INSERT INTO narrow VALUES (1, 2, x'0333', '4')", on=connection)
    (directory / "wide").write_text(WIDE)
    harness.run(f"LOAD DATA INFILE '{directory}/wide' INTO TABLE w FIELDS TERMINATED BY ''", "INSERT INTO w (a) VALUES (NULL)", on=connection)
    for number, (query, _) in enumerate(FIXED):
        harness.run(f"{query} INTO OUTFILE '{directory}/fixed{number}' FIELDS TERMINATED BY ''", on=connection)
        yield (directory / f"fixed{number}").read_bytes().decode()


def test_outfile_of_fixed_widths(files):
    _, connection, directory = files
    assert list(write_fixed(connection, directory)) == [lines for _, lines in FIXED]


def test_load_file(files):
    server, connection, directory = files
    (directory / "content").write_bytes(b"one\0two\xff")
    (directory / "long").write_bytes(b"x" * 2000)
    (directory / "link").symlink_to("/etc/hostname")
    (directory / "folder").mkdir()
    harness.run("DROP USER IF EXISTS reads_files, reads_none", "CREATE USER reads_files, reads_none", "GRANT FILE ON *.* TO reads_files",
                "CREATE ROLE IF NOT EXISTS files_role", "GRANT FILE ON *.* TO files_role", "GRANT files_role TO reads_none", on=connection)

    def load(cursor, name):
        cursor.execute("SELECT LOAD_FILE(%s)", (str(name),))
        return cursor.fetchone()[0]

    reader = pymysql.connect(host=server.host, port=server.port, user="reads_files")
    with reader, reader.cursor() as cursor:
        assert load(cursor, directory / "content") == b"one\0two\xff"
        cursor.execute("SELECT LENGTH(LOAD_FILE(CONCAT(%s, '/long'))), LOAD_FILE(NULL)", (str(directory),))
        assert cursor.fetchone() == (2000, None)
        for name in ("missing", "../content", "link"):
            assert load(cursor, directory / name) is None, name
        assert load(cursor, "/etc/hostname") is None
        with pytest.raises(pymysql.err.MySQLError) as error:
            load(cursor, directory / "folder")
        assert error.value.args[0] == 1085
    harness.run("SET GLOBAL max_allowed_packet = 1024", on=connection)
    reader = pymysql.connect(host=server.host, port=server.port, user="reads_files")
    with reader, reader.cursor() as cursor:
        assert load(cursor, directory / "long") is None
        cursor.execute("SHOW WARNINGS")
        assert [row[1] for row in cursor.fetchall()] == [1301]
    harness.run("SET GLOBAL max_allowed_packet = DEFAULT", on=connection)
    other = pymysql.connect(host=server.host, port=server.port, user="reads_none")
    with other, other.cursor() as cursor:
        assert load(cursor, directory / "content") is None
        cursor.execute("SET ROLE files_role")
        assert load(cursor, directory / "content") == b"one\0two\xff"
        cursor.execute("SET ROLE NONE")
        assert load(cursor, directory / "content") is None
        harness.run("GRANT FILE ON *.* TO reads_none", on=connection)
        assert load(cursor, directory / "content") == b"one\0two\xff"
    harness.run("DROP USER reads_files, reads_none", "DROP ROLE files_role", on=connection)


def test_files_are_off_by_default(server, clearway_only, tmp_path):
    connection = connect(server.host, server.port)
    (tmp_path / "f").write_text("1\n")
    harness.run("CREATE DATABASE IF NOT EXISTS no_files", "CREATE TABLE IF NOT EXISTS no_files.t (a INT)", on=connection)
    for statement, code in [("SELECT 1 INTO OUTFILE '/tmp/x'", 1290), (f"LOAD DATA INFILE '{tmp_path}/f' INTO TABLE no_files.t", 1290),
                            (f"LOAD DATA LOCAL INFILE '{tmp_path}/f' INTO TABLE no_files.t", 3948)]:
        with pytest.raises(pymysql.err.MySQLError) as error, connection.cursor() as cursor:
            cursor.execute(statement)
        assert error.value.args[0] == code, (statement, error.value)
    connection.close()


if __name__ == "__main__":
    host, port = sys.argv[1].rsplit(":", 1)
    connection = connect(host, int(port))
    answers = {kind: [answer(connection, kind == "local", case, sys.argv[2]) for case in CASES] for kind in ("server", "local")}
    ANSWERS.write_text(json.dumps(answers, indent=1, ensure_ascii=False) + "\n")
