"""The PROXY protocol: a proxy in a listed network says whose connection it passes on."""

import socket
import struct

import pymysql
import pytest
from harness import value

SIGNATURE = b"\r\n\r\n\0\r\nQUIT\n"


def connect_behind(server, header):
    """A client whose connection a proxy has made, which says `header` first."""
    stream = socket.create_connection((server.host, server.port), timeout=30)
    stream.sendall(header)
    client = pymysql.connect(host=server.host, port=server.port, user="root", ssl_disabled=True, defer_connect=True, read_timeout=30)
    client.connect(stream)
    return client


def host_of(client):
    return value(client, "SELECT HOST FROM performance_schema.processlist WHERE ID = CONNECTION_ID()")


def test_a_proxy_names_its_client(start, clearway_only):
    server = start("--proxy-protocol-networks=127.0.0.0/8")
    local = connect_behind(server, SIGNATURE + bytes([0x20, 0, 0, 0]))
    assert host_of(local).startswith("localhost:"), "the proxy itself"
    with local.cursor() as cursor:
        cursor.execute("CREATE USER root@'192.0.2.%'")
        cursor.execute("CREATE USER root@'2001:db8::%'")
    assert host_of(connect_behind(server, b"PROXY TCP4 192.0.2.7 192.0.2.1 4711 3306\r\n")) == "192.0.2.7:4711"
    version_2 = socket.inet_aton("192.0.2.8") + socket.inet_aton("192.0.2.1") + struct.pack(">HH", 4712, 3306)
    # What a proxy tells besides is passed over.
    more = version_2 + b"\x04\0\x03abc"
    assert host_of(connect_behind(server, SIGNATURE + bytes([0x21, 0x11]) + struct.pack(">H", len(more)) + more)) == "192.0.2.8:4712"
    assert "2001:db8::7" in host_of(connect_behind(server, b"PROXY TCP6 2001:db8::7 2001:db8::1 4713 3306\r\n"))
    assert host_of(connect_behind(server, b"PROXY UNKNOWN\r\n")).startswith("localhost:")


@pytest.mark.parametrize("header", [b"GET / HTTP/1.1\r\n\r\n", b"PROXY TCP4 nonsense\r\n", SIGNATURE + b"\x31\x11\0\0", b"P" * 200])
def test_what_is_no_header_ends_the_connection(start, header, clearway_only):
    server = start("--proxy-protocol-networks=127.0.0.1")
    with socket.create_connection((server.host, server.port), timeout=30) as stream:
        stream.sendall(header)
        try:
            said = stream.recv(100)
        except ConnectionResetError:
            # What the server has not read makes the kernel say so.
            said = b""
        assert said == b""


def test_nobody_else_may_say_so(server, clearway_only):
    with pytest.raises(pymysql.err.MySQLError):
        connect_behind(server, b"PROXY TCP4 192.0.2.7 192.0.2.1 4711 3306\r\n")
    assert value(server.connect(), "SELECT @@proxy_protocol_networks") == ""


def test_a_network_that_is_none_is_refused_at_start(clearway_only, tmp_path):
    import subprocess

    from harness import BINARY

    words = [str(BINARY), "serve", f"--datadir={tmp_path / 'data'}", "--port=0", "--initialize-insecure", "--proxy-protocol-networks=10.0.0.0/33"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert done.returncode != 0 and "proxy-protocol-networks" in done.stderr
