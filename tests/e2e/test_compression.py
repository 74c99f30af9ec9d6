"""Compressed connections: what is agreed on, what goes over the wire, and frames that lie."""

import os
import shutil
import subprocess
import zlib

import mysql.connector
import pymysql
import pytest
from harness import rows, run, status, value, wait_until
from wire import COMPRESS, DEPRECATE_EOF, LOCAL_FILES, ZSTD, Client, Refused, error, ok

MIB = 1 << 20


def client(server, more=0, **words):
    return Client(server.host, server.port, more, **words)


def compressed(server, algorithm="zlib", more=0, **words):
    connection = client(server, more | (COMPRESS if algorithm == "zlib" else ZSTD), **words)
    connection.compress(algorithm)
    return connection


def test_what_is_agreed_on_is_what_status_says(server):
    admin = server.connect()
    assert rows(admin, "SHOW STATUS LIKE 'Compress%'") == (
        ("Compression", "OFF"), ("Compression_algorithm", ""), ("Compression_level", "0"))
    assert rows(admin, "SHOW GLOBAL STATUS LIKE 'Compress%'") == ()
    zlib_rows = [["Compression", "ON"], ["Compression_algorithm", "zlib"], ["Compression_level", "6"]]
    assert compressed(server).rows("SHOW STATUS LIKE 'Compress%'") == zlib_rows
    both = client(server, COMPRESS | ZSTD)
    both.compress("zlib")
    assert both.rows("SHOW STATUS LIKE 'Compress%'") == zlib_rows, "zlib before zstd"
    for level in (0, 23, 255):
        with pytest.raises(Refused) as raised:
            client(server, ZSTD, zstd_level=level)
        assert raised.value.args == (3923, "Invalid zstd compression level for algorithm 'zstd'.")
    for level in (1, 22):
        # One row at a time is short enough to stay as it is.
        connection = compressed(server, "zstd", DEPRECATE_EOF, zstd_level=level)
        assert connection.rows("SELECT 1") == [["1"]]


def test_the_list_of_algorithms_is_obeyed(server, start):
    server = start("--protocol-compression-algorithms=zlib")
    assert compressed(server).rows("SELECT @@protocol_compression_algorithms") == [["zlib"]]
    for more in (0, ZSTD):
        with pytest.raises(Refused) as raised:
            client(server, more)
        assert raised.value.args == (3922, "Invalid compression algorithm 'uncompressed'.")
    admin = compressed(server)
    for list_, offers in (("zstd", ZSTD), ("zlib,zstd", COMPRESS | ZSTD), ("uncompressed,ZLIB", COMPRESS)):
        assert admin.query(f"SET GLOBAL protocol_compression_algorithms = '{list_}'")[0][0] == 0
        connection = client(server, COMPRESS if offers & COMPRESS else ZSTD)
        assert connection.offered & (COMPRESS | ZSTD) == offers, list_
    for wrong in ("lz4", "", "zlib,", "zlib,zstd,uncompressed,zlib"):
        refused = admin.query(f"SET GLOBAL protocol_compression_algorithms = '{wrong}'")[0]
        assert error(refused) == (1231, f"Variable 'protocol_compression_algorithms' can't be set to the value of '{wrong}'")


def test_bytes_are_counted_as_they_travel(server):
    connection = compressed(server)
    admin = server.connect()
    text = "x" * 100_000
    received, sent = connection.received, connection.sent
    before = status(admin, "Bytes_sent"), status(admin, "Bytes_received")
    assert connection.rows(f"SELECT '{text}'") == [[text]]
    travelled = connection.received - received, connection.sent - sent
    assert max(travelled) < 2000, "the text is not sent as it is"
    # The figures go up behind the answer, and the admin's own questions count, some hundred bytes each.
    wait_until(lambda: status(admin, "Bytes_sent") - before[0] >= travelled[0], 20, "what was sent is not counted")
    wait_until(lambda: status(admin, "Bytes_received") - before[1] >= travelled[1], 20, "what was received is not counted")
    assert status(admin, "Bytes_sent") - before[0] < 50_000


def test_connector_python_compresses(server):
    connection = mysql.connector.connect(
        host=server.host, port=server.port, user="root", password=server.password, compress=True, use_pure=True)
    cursor = connection.cursor()
    cursor.execute("SHOW STATUS LIKE 'Compression'")
    assert cursor.fetchall() == [("Compression", "ON")]
    for text in ("y" * (17 * MIB), os.urandom(9 * MIB).hex()):
        cursor.execute("SELECT %s", (text,))
        assert cursor.fetchall()[0][0] == text
    connection.close()


def test_the_mariadb_client_compresses_over_tls(server, tmp_path):
    if not shutil.which("mariadb"):
        pytest.skip("no mariadb client")
    sql = "SHOW STATUS LIKE 'Compression'; SELECT @@version_comment = 'x', LENGTH(REPEAT('a', 5000000))"
    done = subprocess.run(
        ["mariadb", "--no-defaults", f"-h{server.host}", f"-P{server.port}", "-uroot", "--compress", "--ssl", "--skip-ssl-verify-server-cert",
         "-Ne", sql + "; SHOW STATUS LIKE 'Ssl_version'"], capture_output=True, text=True)
    assert done.stdout == "Compression\tON\n0\t5000000\nSsl_version\tTLSv1.3\n", done.stderr


def test_a_statement_in_many_frames_and_many_statements_in_one_segment(server):
    connection = compressed(server)
    payload = b"\x03SELECT '" + b"z" * 1000 + b"'"
    data = len(payload).to_bytes(3, "little") + b"\0" + payload
    connection.frame_seq = 0
    for at in range(0, len(data), 7):
        connection.send_frame(data[at:at + 7])
    assert len(connection.answer()[-2]) == 1003
    # Two commands at once: each begins the numbers anew, and both are answered.
    connection.seq = 0
    pings = b""
    for _ in range(2):
        pings += b"\x05\0\0\0\0\0\0\x01\0\0\0\x0e"
    connection.send(pings)
    for _ in range(2):
        connection.frame_seq = 1
        assert connection.read()[0] == 0


def test_local_infile_comes_in_frames(server, tmp_path):
    run("SET GLOBAL local_infile = ON", "CREATE DATABASE IF NOT EXISTS cmp", "CREATE OR REPLACE VIEW cmp.v AS SELECT 1",
        "DROP TABLE IF EXISTS cmp.t", "CREATE TABLE cmp.t (a INT, b VARCHAR(100))", on=server.connect())
    connection = compressed(server, more=LOCAL_FILES)
    connection.command(b"\x03LOAD DATA LOCAL INFILE 'x' INTO TABLE cmp.t")
    assert connection.read()[0] == 0xFB
    for i in range(300):
        connection.write(b"".join(b"%d\t%s\n" % (i * 100 + k, b"line" * 10) for k in range(100)))
        connection.seq = connection.seq + 1 & 0xFF
    connection.write(b"")
    assert ok(connection.read())[0] == 30_000
    run("DROP DATABASE cmp", "SET GLOBAL local_infile = OFF", on=server.connect())


def frame(connection, head_length, before, body, seq=0):
    connection.send(head_length.to_bytes(3, "little") + bytes([seq]) + before.to_bytes(3, "little") + body)


PING = b"\x01\0\0\0\x0e"


@pytest.mark.parametrize("body, before, code", [
    (b"no zlib at all", 100, 1157),
    (zlib.compress(PING), 6, 1157),
    (zlib.compress(PING), 4, 1157),
    (zlib.compress(PING) + b"more", 5, 1157),
    (zlib.compress(PING)[:-1], 5, 1157),
    (zlib.compress(bytes(MIB)), 0xFFFFFF, 1157),
    (zlib.compress(bytes(15 * MIB)), 100, 1157),
    (zlib.compress(bytes(15 * MIB)), 15 * MIB, 1153),
    (b"", 100, 1157),
])
def test_a_frame_that_lies_ends_the_connection_with_an_error(server, body, before, code):
    connection = compressed(server)
    if code == 1157 and before > MIB:
        run("SET GLOBAL max_allowed_packet = 64 * 1024 * 1024", on=server.connect())
    elif code == 1153:
        run("SET GLOBAL max_allowed_packet = 1024 * 1024", on=server.connect())
        connection = compressed(server)
    try:
        frame(connection, len(body), before, body)
        connection.frame_seq = 1
        assert error(connection.read())[0] == code
        assert connection.hangs_up()
    finally:
        run("SET GLOBAL max_allowed_packet = DEFAULT", on=server.connect())


def test_frames_out_of_order_are_1156(server):
    connection = compressed(server)
    frame(connection, len(PING), 0, PING, seq=7)
    connection.frame_seq = 0
    assert error(connection.read())[0] == 1156
    assert connection.hangs_up()


def test_half_a_frame_is_not_waited_for_longer_than_the_read_timeout(start):
    server = start("--net-read-timeout=1")
    connection = compressed(server)
    connection.send(b"\x05\0\0\0\0\0\0\x01\0")
    connection.frame_seq = 0
    assert error(connection.read())[0] == 1159
    assert connection.hangs_up()


def test_many_small_frames_do_not_become_much_memory(start):
    """Each unpacks to 16 MiB: they wait until what is before them is read."""
    server = start("--max-allowed-packet=64M")
    connection = compressed(server)
    run("SELECT 1", on=server.connect())
    packet = b"\xff\xff\xff\0" + bytes(0xFFFFFF - 4)
    body = zlib.compress(packet, 9)
    before = server.memory_kib("VmHWM")
    for seq in range(4):
        frame(connection, len(body), len(packet), body, seq)
    connection.frame_seq = 4
    # Four frames are one packet that is too large in the end, or two that are short of a whole one: either way no more than the limit.
    connection.send(b"\0" * 7)
    assert server.memory_kib("VmHWM") - before < 300 * 1024
    connection.close()
    assert value(server.connect(), "SELECT 1") == 1


def test_a_client_that_compresses_unasked_is_hung_up_on(start):
    """It takes the error for a frame and waits for the rest: it hears that there is none."""
    server = start("--protocol-compression-algorithms=uncompressed")
    connection = client(server, COMPRESS)
    assert not connection.offered & COMPRESS
    frame(connection, 9 + 4, 0, b"\x09\0\0\0\x03SELECT 1")
    assert error(connection.read())[0] == 1047
    assert connection.hangs_up()
    # One that asks for it and then does without is served, as by MySQL.
    assert client(server, COMPRESS).rows("SELECT 1") == [["1"]]
    with pytest.raises(mysql.connector.Error):
        other = mysql.connector.connect(host=server.host, port=server.port, user="root", compress=True, use_pure=True)
        other.cursor().execute("SELECT 1")


def test_a_parked_connection_goes_on(server):
    connection = compressed(server)
    text = "p" * 10_000
    assert connection.rows(f"SELECT '{text}'") == [[text]]
    admin = server.connect()
    name = connection.rows("SELECT CONNECTION_ID()")[0][0]
    wait_until(lambda: value(admin, f"SELECT COMMAND FROM information_schema.PROCESSLIST WHERE ID = {name}") == "Sleep", 20, "it sleeps")
    wait_until(lambda: status(admin, "Threads_running") <= 1, 20, "it is parked")
    assert connection.rows(f"SELECT '{text}'") == [[text]]
    with pytest.raises(pymysql.MySQLError):
        server.connect(user="nobody_of_that_name")
