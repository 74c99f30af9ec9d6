"""The rest of the protocol, packet by packet as MySQL speaks it: COM_CHANGE_USER, result sets without metadata, COM_DEBUG."""

import struct

import pymysql
import pytest
from harness import rows, run
from wire import DEPRECATE_EOF, OPTIONAL_METADATA, QUERY_ATTRIBUTES, SESSION_TRACK, Client, error, ok


def client(server, more=0, **words):
    return Client(server.host, server.port, more, **words)


def change_user(connection, user=b"root", reply=b"", plugin=b"caching_sha2_password", database=b"", collation=255):
    """What the server says to it: it is answered with no password whenever it asks."""
    names = user + b"\0" + bytes([len(reply)]) + reply + database + b"\0"
    connection.command(b"\x11" + names + collation.to_bytes(2, "little") + plugin + b"\0")
    said = [connection.read()]
    while said[-1][0] == 0xFE:
        connection.write(b"")
        said.append(connection.read())
    return said


@pytest.mark.parametrize("reply, plugin", [
    (b"", b"caching_sha2_password"), (b"x" * 32, b"caching_sha2_password"), (b"", b"mysql_native_password"), (b"", b"")])
def test_change_user_asks_with_a_new_scramble(server, reply, plugin):
    connection = client(server, SESSION_TRACK)
    before = connection.greeting
    asked, done = change_user(connection, reply=reply, plugin=plugin, database=b"mysql")
    assert asked.startswith(b"\xfecaching_sha2_password\0") and len(asked) == 44
    assert asked[23:43] not in before and asked[23:31] not in before
    assert ok(done)[5] == [(1, b"\x05mysql")]
    assert connection.rows("SELECT DATABASE()") == [["mysql"]]
    again, done = change_user(connection)
    assert again[23:43] != asked[23:43]
    assert connection.rows("SELECT DATABASE()") == [[None]]


LATIN1, KOI8R, UCS2 = 8, 7, 35


def test_names_of_a_login_are_in_its_character_set(server, clearway_only):
    named = server.connect()
    run("CREATE USER IF NOT EXISTS 'é', 'д'", "CREATE DATABASE IF NOT EXISTS `zé`", "GRANT ALL ON `zé`.* TO 'é'", on=named)
    connection = client(server)
    asked = "SELECT HEX(CURRENT_USER()), HEX(DATABASE()), @@character_set_client"
    assert change_user(connection, "é".encode("latin1"), database="zé".encode("latin1"), collation=LATIN1)[-1][0] == 0
    assert connection.rows(asked) == [["é@%".encode().hex().upper(), "zé".encode().hex().upper(), "latin1"]]
    assert change_user(connection, "д".encode("koi8-r"), collation=KOI8R)[-1][0] == 0
    assert connection.rows(asked) == [["д@%".encode().hex().upper(), None, "koi8r"]]
    # Bytes that are no text are nobody's name.
    assert error(change_user(connection, b"\xe9", collation=255)[-1])[0] == 1045
    run("DROP USER 'é', 'д'", "DROP DATABASE `zé`", on=named)


def test_no_login_in_a_set_that_statements_are_not_read_in(server):
    connection = client(server)
    assert error(change_user(connection, collation=UCS2)[-1])[0] == 1231


def test_change_user_that_is_refused_ends_the_connection(server):
    connection = client(server)
    assert error(change_user(connection, user=b"nobody_of_that_name")[-1])[0] == 1045
    assert connection.hangs_up()
    connection = client(server)
    assert error(change_user(connection, database=b"missing")[-1]) == (1049, "Unknown database 'missing'")
    assert connection.hangs_up()


@pytest.mark.parametrize("more", [0, DEPRECATE_EOF])
def test_result_sets_without_metadata(server, more):
    connection = client(server, OPTIONAL_METADATA | more)
    assert connection.offered & OPTIONAL_METADATA
    full = connection.query("SELECT 1, 2")
    assert full[0] == b"\x02\x01"
    assert ok(connection.query("SET resultset_metadata = 'NONE'")[0])[2] == 2
    eof = [] if more else [b"\xfe\0\0\x02\0"]
    end = [b"\xfe\0\0\x02\0\0\0"] if more else eof
    for _ in range(2):
        assert connection.query("SELECT 1, 2") == [b"\x02\0", *eof, b"\x011\x012", *end]
    assert connection.rows("SHOW VARIABLES LIKE 'resultset_metadata'") == [["resultset_metadata", "NONE"]]
    connection.command(b"\x16SELECT ?, 1")
    prepared = connection.read()
    assert prepared[5:] == b"\x02\0\x01\0\0\0\0\0"
    connection.command(b"\x17" + prepared[1:5] + b"\0\1\0\0\0\0\1\x08\0" + bytes(8))
    assert connection.answer() == [b"\x02\0", *eof, bytes(10) + b"\1" + bytes(7), *end]
    connection.query("SET resultset_metadata = DEFAULT")
    assert connection.query("SELECT 1, 2") == full


def test_a_client_that_needs_metadata_cannot_do_without(server):
    refused = client(server, DEPRECATE_EOF).query("SET resultset_metadata = 'NONE'")[0]
    assert error(refused) == (3640, "The client doesn't support optional metadata transfer")


def text(data):
    return bytes([len(data)]) + data


# Name, type, flag (0x80: unsigned), the value's bytes, and what the function says of it.
ATTRIBUTES = (
    (b"number", 8, 0, struct.pack("<q", -5), "-5"), (b"large", 8, 0x80, struct.pack("<Q", 2 ** 64 - 1), str(2 ** 64 - 1)),
    (b"double", 5, 0, struct.pack("<d", 0.1), "0.1"), (b"decimal", 0xF6, 0, text(b"12.50"), "12.50"),
    (b"Text", 0xFE, 0, text("é".encode()), "é"), (b"cut", 0xFE, 0, text(b"ab\xe9c"), "ab"), (b"nothing", 6, 0, None, None),
    (b"date", 10, 0, b"\4" + struct.pack("<HBB", 2024, 2, 3), "2024-02-03"),
    (b"moment", 12, 0, b"\7" + struct.pack("<HBBBBB", 2024, 2, 3, 4, 5, 6), "2024-02-03 04:05:06.000000"),
    (b"time", 11, 0, b"\x08" + struct.pack("<BIBBB", 1, 2, 3, 4, 5), "-51:04:05.000000"),
    (b"twice", 0xFE, 0, text(b"first"), "first"), (b"twice", 0xFE, 0, text(b"second"), "first"))


def block(attributes):
    nulls = sum(1 << i for i, a in enumerate(attributes) if a[3] is None).to_bytes((len(attributes) + 7) // 8, "little")
    types = b"".join(bytes([kind, flag]) + text(name) for name, kind, flag, *_ in attributes)
    return nulls + b"\1" + types + b"".join(a[3] for a in attributes if a[3] is not None)


@pytest.fixture
def attributed(server):
    """A client that sends attributes, beside the component that reads them."""
    connection = client(server, QUERY_ATTRIBUTES)
    connection.query("INSTALL COMPONENT 'file://component_query_attributes'")
    yield connection
    run("UNINSTALL COMPONENT 'file://component_query_attributes'", on=server.connect())


def ask(connection, statement, attributes):
    connection.command(b"\3" + bytes([len(attributes), 1]) + block(attributes) + statement.encode())
    return connection.answer()


@pytest.mark.parametrize("attribute", ATTRIBUTES, ids=lambda a: a[0].decode())
def test_attributes_of_a_statement_are_read_as_texts(attributed, attribute):
    name, *_, expected = attribute
    sent = ATTRIBUTES if name == b"twice" else (attribute,)
    row = ask(attributed, f"SELECT mysql_query_attribute_string('{name.decode().upper()}')", sent)[3]
    assert row == (b"\xfb" if expected is None else text(expected.encode()))


def test_attributes_are_those_of_one_command(attributed):
    function = "mysql_query_attribute_string('time')"
    assert ask(attributed, f"SET @a = {function}; SELECT @a, {function}", ATTRIBUTES)[5] == text(b"-51:04:05.000000") * 2
    assert attributed.rows(f"SELECT {function}") == [[None]]
    attributed.command(b"\x16SELECT ?, " + function.encode())
    prepared = attributed.read()
    for _ in "parameter", "end", "column", "column", "end":
        attributed.read()
    # One value, and one attribute behind it.
    values = [(b"", 8, 0, bytes(8)), ATTRIBUTES[9]]
    for sent in (values, values[:1]):
        attributed.command(b"\x17" + prepared[1:5] + b"\x08\1\0\0\0" + bytes([len(sent)]) + block(sent))
        row = attributed.answer()[4]
        assert row.endswith(text(b"-51:04:05.000000")) == (len(sent) == 2), row


def test_com_debug_tells_the_error_log(server, kind):
    connection = client(server, DEPRECATE_EOF)
    connection.command(b"\x0d")
    assert connection.read() == b"\xfe\0\0\x02\0\0\0"
    if kind == "clearway":
        assert "Status information:" in server.log_text()
    run("CREATE USER IF NOT EXISTS plain_one", on=server.connect())
    other = client(server, user="plain_one")
    other.command(b"\x0d")
    assert error(other.read())[0] == 1227
    run("DROP USER plain_one", on=server.connect())


def test_what_tls_is_made_of(server):
    admin = server.connect()
    assert dict(rows(admin, "SHOW STATUS LIKE 'Tls%'"))["Tls_sni_server_name"] == ""
    current = dict(rows(admin, "SHOW GLOBAL STATUS LIKE 'Current_tls%'"))
    assert sorted(current) == [f"Current_tls_{n}" for n in (
        "ca", "capath", "cert", "cipher", "ciphersuites", "crl", "crlpath", "key", "version")]
    assert current["Current_tls_version"] == "TLSv1.2,TLSv1.3"
    named = pymysql.connect(host="localhost", port=server.port, user="root", password=server.password, ssl={"check_hostname": False})
    assert rows(named, "SHOW STATUS LIKE 'Tls_sni%'") == (("Tls_sni_server_name", "localhost"),)


PS_MULTI_RESULTS, PS_OUT_PARAMS, MORE_RESULTS = 1 << 18, 0x1000, 0x8


def execute(connection, statement, values, cursor=0):
    """Prepares and executes: how many columns it said that there are, and the answer packet by packet."""
    connection.command(b"\x16" + statement.encode())
    prepared = connection.read()
    assert prepared[0] == 0, error(prepared)
    columns, parameters = struct.unpack("<HH", prepared[5:9])
    for _ in range(columns + parameters):
        connection.read()
    nulls, types, data = bytearray((len(values) + 7) // 8), b"", b""
    for at, value_ in enumerate(values):
        if value_ is None:
            nulls[at // 8] |= 1 << at % 8
        types += b"\x06\0" if value_ is None else b"\x08\0" if isinstance(value_, int) else b"\xfd\0"
        data += b"" if value_ is None else struct.pack("<q", value_) if isinstance(value_, int) else bytes([len(value_)]) + value_
    bound = bytes(nulls) + b"\1" + types + data if values else b""
    connection.command(b"\x17" + prepared[1:5] + bytes([cursor, 1, 0, 0, 0]) + bound)
    return columns, connection.answer()


def test_what_a_call_makes_of_its_parameters(server):
    admin = server.connect()
    run("CREATE DATABASE IF NOT EXISTS outs", on=admin)
    run("DROP PROCEDURE IF EXISTS outs.p", "DROP PROCEDURE IF EXISTS outs.n",
        "CREATE PROCEDURE outs.p(IN a INT, OUT b VARCHAR(19), INOUT c DECIMAL(10,2), OUT d DATETIME(3), OUT e JSON, OUT f ENUM('x','y'), "
        "OUT g BIGINT UNSIGNED) BEGIN SELECT a; SET b = 'out', c = c + 1, d = '2020-01-02 03:04:05.678', e = '{\"a\": 1}', f = 'y', "
        "g = 18446744073709551615; END", "CREATE PROCEDURE outs.n(OUT a INT) BEGIN END", on=admin)
    connection = client(server, DEPRECATE_EOF | PS_MULTI_RESULTS, database="outs")
    answer = execute(connection, "CALL p(?,?,?,?,?,?,?)", [5, b"in", b"10.5", None, None, None, None])[1]
    # Its own rows, then one of what it has made of OUT and INOUT, then the end.
    assert answer[0] == b"\1" and answer[4] == b"\x06"
    table = b"\4outs\1p\1p"
    # MySQL says of texts that they are binary.
    described = [packet.replace(b"\x0c\xff\0", b"\x0c?\0") for packet in answer[5:11]]
    assert described == [b"\3def" + table + of for of in (
        b"\1b\1b\x0c?\0\x4c\0\0\0\xfd\0\0\0\0\0", b"\1c\1c\x0c?\0\x0c\0\0\0\xf6\0\0\2\0\0", b"\1d\1d\x0c?\0\x17\0\0\0\x0c\x80\0\3\0\0",
        b"\1e\1e\x0c?\0\xff\xff\xff\xff\xf5\x90\0\0\0\0", b"\1f\1f\x0c?\0\4\0\0\0\xfe\0\1\0\0\0", b"\1g\1g\x0c?\0\x14\0\0\0\x08 \0\0\0\0")]
    assert answer[11] == b'\0\0\3out\x0511.50\x0b\xe4\x07\1\2\3\4\5pX\n\0\x08{"a": 1}\1y' + b"\xff" * 8
    assert int.from_bytes(answer[12][3:5], "little") & (PS_OUT_PARAMS | MORE_RESULTS) == PS_OUT_PARAMS | MORE_RESULTS
    assert answer[13][0] == 0 and len(answer) == 14 and int.from_bytes(answer[13][3:5], "little") & MORE_RESULTS == 0
    # Variables get theirs as ever, and only what was a parameter is sent.
    answer = execute(connection, "CALL p(1,@b,?,@d,@e,@f,@g)", [b"1"])[1]
    assert answer[4:7] == [b"\1", b"\3def" + table + b"\1c\1c\x0c?\0\x0c\0\0\0\xf6\0\0\2\0\0", b"\0\0\x042.00"]
    assert connection.rows("SELECT @b, @f") == [["out", "y"]]
    assert execute(connection, "CALL n(?)", [3])[1][2] == b"\0\4"
    assert error(execute(connection, "CALL n(? + 1)", [3])[1][0])[0] == 1414
    # Who cannot take that row gets none.
    plain = client(server, DEPRECATE_EOF, database="outs")
    assert len(execute(plain, "CALL n(?)", [3])[1]) == 1
    # EXECUTE gives them back to the variables.
    connection.query("PREPARE s FROM 'CALL p(?,?,?,?,?,?,?)'")
    connection.query("SET @a = 1, @b = NULL, @c = 2, @f = NULL, @g = NULL")
    connection.query("EXECUTE s USING @a, @b, @c, @d, @e, @f, @g")
    assert connection.rows("SELECT @a, @b, @c, @f, @g") == [["1", "out", "3.00", "y", "18446744073709551615"]]


def test_a_query_into_something_has_no_columns_and_no_cursor(server):
    connection = client(server, DEPRECATE_EOF)
    for statement in ("SELECT 1, 2 INTO @a, @b", "SELECT 1 INTO OUTFILE '/nonexistent/x'", "SELECT 1 UNION SELECT 1 INTO @a"):
        columns, answer = execute(connection, statement, [], cursor=1)
        assert columns == 0 and error(answer[0])[0] == 1323, statement
    assert execute(connection, "SELECT 1 UNION SELECT 1 INTO @c", [])[1][0][0] == 0
    assert connection.rows("SELECT @c") == [["1"]]
    assert execute(connection, "SELECT 1", [], cursor=1)[0] == 1


CURSOR_EXISTS, LAST_ROW_SENT = 0x40, 0x80


def fetched(connection, prepared, count):
    """COM_STMT_FETCH: how many rows came, and the status behind them."""
    connection.command(b"\x1c" + prepared + struct.pack("<I", count))
    rows_seen = 0
    while True:
        packet = connection.read()
        if packet[0] == 0xFF:
            return error(packet)[0]
        if packet[0] == 0xFE and len(packet) < 9:
            return rows_seen, int.from_bytes(packet[3:5], "little") & (CURSOR_EXISTS | LAST_ROW_SENT)
        rows_seen += 1


def test_a_cursor_is_opened_to_read_and_ends_when_more_is_asked_for_than_there_is(server):
    connection = client(server)

    def opened(flags):
        """A statement of its own each time: MySQL 9.7 sends no rows where one that had a cursor is executed without."""
        connection.command(b"\x16SELECT n FROM JSON_TABLE('[1, 2, 3]', '$[*]' COLUMNS (n INT PATH '$')) j")
        prepared = [connection.read() for _ in range(3)][0][1:5]
        connection.command(b"\x17" + prepared + bytes([flags, 1, 0, 0, 0]))
        packets = [connection.read() for _ in range(3)]
        return prepared, int.from_bytes(packets[2][3:5], "little") & CURSOR_EXISTS

    for flags in (1, 3, 5, 7):
        prepared, has_cursor = opened(flags)
        assert has_cursor
        assert fetched(connection, prepared, 2) == (2, CURSOR_EXISTS)
        assert fetched(connection, prepared, 1) == (1, CURSOR_EXISTS)
        assert fetched(connection, prepared, 1) == (0, LAST_ROW_SENT)
        assert fetched(connection, prepared, 1) == 1421
    assert fetched(connection, opened(1)[0], 100) == (3, LAST_ROW_SENT)
    # Cursors to write through, or to go back in, are none: the rows come at once.
    for flags in (0, 2, 4, 6):
        prepared, has_cursor = opened(flags)
        assert not has_cursor
        assert [connection.read()[0] for _ in range(4)] == [0, 0, 0, 0xFE]
        assert fetched(connection, prepared, 1) == 1421


NO_INDEX_USED = 0x20


def test_an_answer_says_that_no_index_was_used(server):
    run("CREATE DATABASE IF NOT EXISTS scanned", "DROP TABLE IF EXISTS scanned.t", "CREATE TABLE scanned.t (a INT PRIMARY KEY, b INT, KEY (b))",
        "INSERT INTO scanned.t VALUES (1, 1), (2, 2)", "CREATE TABLE IF NOT EXISTS scanned.bare (a INT)", "INSERT INTO scanned.bare VALUES (1)",
        "DROP PROCEDURE IF EXISTS scanned.p", "CREATE PROCEDURE scanned.p() BEGIN SELECT * FROM bare; SELECT b FROM t WHERE a = 1; SET @x = 1; END",
        "DROP PROCEDURE IF EXISTS scanned.q", "CREATE PROCEDURE scanned.q() BEGIN SELECT b FROM t WHERE a = 1; END", on=server.connect())
    connection = client(server, DEPRECATE_EOF | PS_MULTI_RESULTS, database="scanned")

    def flagged(packet):
        return bool(ok(packet)[2] & NO_INDEX_USED)

    for text, expected in (("SELECT * FROM bare", True), ("SELECT * FROM t WHERE a = 1", False), ("SELECT 1", False), ("DO 1", False),
                           ("SELECT b FROM t WHERE b > 1", False), ("CALL p()", True), ("CALL q()", False)):
        assert flagged(connection.query(text)[-1]) == expected, text
        assert flagged(execute(connection, text, [])[1][-1]) == expected, text
    connection.query("SELECT * FROM bare")
    connection.command(b"\x0e")
    assert not flagged(connection.read())
