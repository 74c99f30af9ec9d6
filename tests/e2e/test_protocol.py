"""The edges of the protocol: large packets, limits, authentication, broken clients."""

import os
import pathlib
import re
import socket
import struct

import pymysql
import pytest
from harness import rows, run, status, value, wait_until

MIB = 1024 * 1024


def test_packets_over_16_mib_both_ways(start):
    server = start("--max_allowed_packet=64M")
    connection = server.connect(max_allowed_packet=64 * MIB)
    # Around the length at which a packet is followed by another one, empty or not.
    for length in (2**24 - 2, 2**24 - 1, 2**24, 2**24 + 1, 40 * MIB):
        statement = "SELECT '" + "x" * (length - 1 - len("SELECT ''")) + "'"
        text = value(connection, statement)
        assert len(text) == length - 1 - len("SELECT ''"), length
    run("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, b LONGBLOB)", on=connection)
    data = os.urandom(17 * MIB)
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO d.t VALUES (1, %s)", (data,))
    assert value(connection, "SELECT b FROM d.t") == data


def test_max_allowed_packet_is_1153(start):
    server = start("--max_allowed_packet=1M")
    connection = server.connect(max_allowed_packet=64 * MIB)
    assert value(connection, "SELECT @@max_allowed_packet") == MIB
    with pytest.raises(pymysql.MySQLError) as raised:
        run("SELECT '" + "x" * (2 * MIB) + "'", on=connection)
    # The server may close while the client still writes: then the client sees only that.
    assert raised.value.args[0] in (1153, 2006, 2013, 0)
    assert value(server.connect(), "SELECT 1") == 1


def test_wait_timeout_ends_an_idle_connection(server):
    connection, watcher = server.connect(), server.connect()
    before = status(watcher, "Threads_connected")
    run("SET SESSION wait_timeout = 1", on=connection)
    wait_until(lambda: status(watcher, "Threads_connected") < before, 20, "the idle connection stays")
    with pytest.raises(pymysql.MySQLError):
        run("SELECT 1", on=connection)
    assert value(watcher, "SELECT 1") == 1


def test_max_connections_is_1040(start):
    server = start("--max_connections=10")
    held = []
    with pytest.raises(pymysql.MySQLError) as raised:
        for _ in range(12):
            held.append(server.connect())
    assert raised.value.args[0] == 1040
    # One beyond the limit is kept for an administrator.
    assert len(held) in (10, 11)
    for connection in held:
        connection.close()
    wait_until(lambda: try_connect(server), 20, "freed connections cannot be used")


def try_connect(server):
    try:
        server.connect().close()
        return True
    except pymysql.MySQLError:
        return False


def test_a_wrong_password_is_1045(server):
    with pytest.raises(pymysql.MySQLError) as raised:
        server.connect(password="wrong")
    assert raised.value.args[0] == 1045
    with pytest.raises(pymysql.MySQLError) as raised:
        server.connect(user="nobody_of_that_name", password="x")
    assert raised.value.args[0] == 1045


def test_an_unknown_database_is_1049(server):
    with pytest.raises(pymysql.MySQLError) as raised:
        server.connect(database="missing")
    assert raised.value.args[0] == 1049


def plugins_used(server, password):
    """Connects over TCP without TLS; the authentication steps that the server asked for."""
    steps = []
    original = pymysql.connections.Connection._read_packet

    def watch(connection, *words, **more):
        packet = original(connection, *words, **more)
        if packet.is_extra_auth_data():
            steps.append({3: "fast", 4: "full"}.get(packet._data[1], "key"))
        return packet

    pymysql.connections.Connection._read_packet = watch
    try:
        server.connect(password=password).close()
    finally:
        pymysql.connections.Connection._read_packet = original
    return steps


def test_the_rsa_key_is_there_before_anybody_asks(start, clearway_only):
    server = start()
    path, folder = rows(server.connect(), "SELECT @@caching_sha2_password_public_key_path, @@datadir")[0]
    public = pathlib.Path(folder, path).read_text()
    assert public.startswith("-----BEGIN PUBLIC KEY-----\n")
    told = dict(rows(server.connect(), "SHOW STATUS LIKE '%rsa_public_key'"))
    assert told == {"Caching_sha2_password_rsa_public_key": public, "Rsa_public_key": public}
    assert (server.datadir / "private_key.pem").stat().st_mode & 0o777 == 0o600
    server.stop()
    server.start()
    assert pathlib.Path(folder, path).read_text() == public


def test_generated_password_full_and_fast_path(start, clearway_only):
    server = start(insecure=False)
    words = re.search(r"password.*root@localhost.*?:\s*(\S+)", server.log_text())
    assert words, f"the first start says the root password once:\n{server.log_text()}"
    password = words[1]
    server.password = password
    with pytest.raises(pymysql.MySQLError) as raised:
        server.connect(password="")
    assert raised.value.args[0] == 1045
    assert "full" in plugins_used(server, password), "nothing is cached at first: RSA"
    assert plugins_used(server, password) == ["fast"], "the cache holds it now"
    server.stop()
    server.start()
    assert server.log_text().count(password) == 1, "said once, and never again"
    assert "full" in plugins_used(server, password), "the cache does not outlive the server"


def test_native_password(start, kind):
    """Off unless the server is told otherwise, as in 8.4; an account of the plugin cannot log in then."""
    server = start(*(["--mysql-native-password=ON"] if kind == "clearway" else []))
    admin = server.connect()
    identified = "VIA mysql_native_password USING PASSWORD('secret')" if kind == "mariadb" else "WITH mysql_native_password BY 'secret'"
    run(f"CREATE USER native@localhost IDENTIFIED {identified}", on=admin)
    connection = server.connect(user="native", password="secret")
    assert value(connection, "SELECT CURRENT_USER()") == "native@localhost"
    with pytest.raises(pymysql.MySQLError) as raised:
        server.connect(user="native", password="Secret")
    assert raised.value.args[0] == 1045
    connection.close()
    if kind == "clearway":
        server.stop()
        server.options.clear()
        server.start()
        with pytest.raises(pymysql.MySQLError) as raised:
            server.connect(user="native", password="secret")
        assert raised.value.args[0] == 1524
        with pytest.raises(pymysql.MySQLError) as raised:
            run("CREATE USER other@localhost IDENTIFIED WITH mysql_native_password BY 'x'", on=server.connect())
        assert raised.value.args == (1524, "Plugin 'mysql_native_password' is not loaded")


def greeted(server):
    client = socket.create_connection((server.host, server.port), timeout=20)
    head = receive(client, 4)
    greeting = receive(client, int.from_bytes(head[:3], "little"))
    assert greeting[0] == 10
    return client, greeting


def receive(client, length):
    data = b""
    while len(data) < length:
        piece = client.recv(length - len(data))
        assert piece, f"closed after {len(data)} of {length} bytes"
        data += piece
    return data


def test_the_greeting_says_8_4(server, clearway_only):
    client, greeting = greeted(server)
    version = greeting[1:greeting.index(b"\0", 1)].decode()
    assert version.startswith("8.4."), version
    client.close()


GARBAGE = {
    "nothing": b"",
    "half a header": b"\x10\x00",
    "header without body": b"\x10\x00\x00\x01",
    "noise": bytes(range(256)),
    "a huge length": b"\xff\xff\xff\x01" + b"x" * 100,
    "wrong sequence": struct.pack("<I", 4)[:3] + b"\x55" + b"abcd",
    "http": b"GET / HTTP/1.0\r\n\r\n",
    "short login": struct.pack("<I", 3)[:3] + b"\x01" + b"\x85\xa6\xff",
    "login cut in the name": struct.pack("<I", 34)[:3] + b"\x01" + struct.pack("<IIB", 0x000FA685, 2**24, 45) + b"\0" * 23 + b"ro",
}


@pytest.mark.parametrize("name", GARBAGE)
def test_garbage_ends_its_own_connection_only(server, name):
    watcher = server.connect()
    client, _ = greeted(server)
    client.sendall(GARBAGE[name])
    client.shutdown(socket.SHUT_WR)
    try:
        while client.recv(4096):
            pass
    except ConnectionResetError:
        pass
    client.close()
    assert value(watcher, "SELECT 1") == 1
    watcher.close()


def test_a_malformed_command_gets_an_error_or_an_end(server):
    watcher = server.connect()
    for payload in (b"", b"\xee", b"\x17", b"\x17\x01\x00", b"\x17\xff\xff\xff\xff\x00\x01\x00\x00\x00", b"\x1a\x01", b"\x02", b"\x04"):
        connection = server.connect()
        connection._sock.sendall(struct.pack("<I", len(payload))[:3] + b"\0" + payload)
        connection._sock.shutdown(socket.SHUT_WR)
        connection._sock.settimeout(20)
        answer = b""
        try:
            while piece := connection._sock.recv(4096):
                answer += piece
        except ConnectionResetError:
            pass
        assert answer == b"" or answer[4] in (0xFF, 0x00), (payload, answer)
        connection._force_close()
    assert value(watcher, "SELECT 1") == 1
    watcher.close()
