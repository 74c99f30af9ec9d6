"""TLS: the switch in mid-handshake, what goes over it, who must have it, and its certificates."""

import hashlib
import os
import pathlib
import socket
import ssl
import struct
import subprocess
import threading

import pymysql
import pytest
from harness import rows, run, value, wait_until

MIB = 1024 * 1024
PROTOCOL_41, SSL, SECURE, PLUGIN_AUTH = 1 << 9, 1 << 11, 1 << 15, 1 << 19


def context(server, certificate=None, newest=None):
    """A client that trusts the server's authority."""
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    made.check_hostname = False
    made.load_verify_locations(server.datadir / "ca.pem")
    if certificate:
        made.load_cert_chain(*[server.datadir / f"{certificate}-{part}.pem" for part in ("cert", "key")])
    if newest:
        made.maximum_version = newest
    return made


def connect(server, made=None, **words):
    return server.connect(ssl_disabled=False, ssl=made or context(server), **words)


def ssl_status(connection, name):
    return rows(connection, f"SHOW STATUS LIKE 'Ssl_{name}'")[0][1]


def refused(code, connect, *arguments, **words):
    with pytest.raises(pymysql.MySQLError) as raised:
        connect(*arguments, **words)
    assert raised.value.args[0] == code, raised.value


def read_packet(connection):
    header = exactly(connection, 4)
    length = int.from_bytes(header[:3], "little")
    return header[3], exactly(connection, length)


def exactly(connection, length):
    data = b""
    while len(data) < length:
        part = connection.recv(length - len(data))
        if not part:
            raise ConnectionError("the server has closed")
        data += part
    return data


def packet(sequence, payload):
    return struct.pack("<I", len(payload))[:3] + bytes([sequence]) + payload


def greeted(server):
    """A raw connection that has been greeted."""
    connection = socket.create_connection((server.host, server.port), timeout=30)
    assert read_packet(connection)[1][0] == 10
    return connection


REQUEST = packet(1, struct.pack("<IIB", PROTOCOL_41 | SSL | SECURE | PLUGIN_AUTH, 1 << 24, 45) + bytes(23))


def test_both_versions_and_their_status(server):
    plain, first = server.connect(), connect(server)
    assert ssl_status(first, "version") == "TLSv1.3" and ssl_status(first, "cipher").startswith("TLS_")
    assert ssl_status(first, "cipher") in ssl_status(first, "cipher_list").split(":")
    older = connect(server, context(server, newest=ssl.TLSVersion.TLSv1_2))
    assert ssl_status(older, "version") == "TLSv1.2" and ssl_status(older, "cipher").startswith("ECDHE-ECDSA-")
    assert [ssl_status(plain, name) for name in ("version", "cipher", "cipher_list", "verify_mode")] == ["", "", "", "0"]
    assert int(ssl_status(plain, "finished_accepts")) >= 2
    assert ssl_status(plain, "server_not_after").endswith(" GMT")


def test_threads_tell_how_they_are_connected(server):
    query = "SELECT connection_type FROM performance_schema.threads WHERE processlist_id = CONNECTION_ID()"
    ways = server.connect(), connect(server), server.connect(unix_socket=str(server.socket))
    assert [value(connection, query) for connection in ways] == ["TCP/IP", "SSL/TLS", "Socket"]


def test_an_authority_that_is_not_the_servers_is_noticed(server, tmp_path):
    made = ssl.create_default_context()
    made.check_hostname = False
    with pytest.raises(pymysql.MySQLError, match="(?i)certificate"):
        connect(server, made)
    assert value(connect(server), "SELECT 1") == 1


def test_passwords_travel_over_tls_in_clear(start):
    server = start()
    run("CREATE USER u IDENTIFIED BY 'secret'", on=server.connect())
    asked = []
    original = pymysql.connections._auth.sha2_rsa_encrypt
    pymysql.connections._auth.sha2_rsa_encrypt = lambda *parts: asked.append(1) or original(*parts)
    try:
        refused(1045, connect, server, user="u", password="wrong")
        for _ in range(2):
            connection = connect(server, user="u", password="secret")
            assert value(connection, "SELECT CURRENT_USER()") == "u@%"
    finally:
        pymysql.connections._auth.sha2_rsa_encrypt = original
    assert not asked, "no key was asked for"


def test_large_results_and_packets(start):
    server = start("--max_allowed_packet=64M", "--local_infile=1")
    connection = connect(server, max_allowed_packet=64 * MIB, local_infile=True)
    run("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, b LONGBLOB)", on=connection)
    data = os.urandom(17 * MIB)
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO d.t VALUES (1, %s)", (data,))
    assert value(connection, "SELECT b FROM d.t") == data
    with connection.cursor(pymysql.cursors.SSCursor) as cursor:
        cursor.execute("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)"
                       " SELECT REPEAT(CHAR(65 + i MOD 26), 65536 + i) FROM n")
        sizes = [len(text) for (text,) in cursor]
    assert sum(sizes) == 1000 * 65536 + 1000 * 1001 // 2, "64 MiB in rows"


def test_load_data_local(start, tmp_path):
    server = start("--local_infile=1")
    connection = connect(server, local_infile=True)
    file = tmp_path / "rows"
    file.write_text("".join(f"{n}\t{hashlib.md5(str(n).encode()).hexdigest()}\n" for n in range(50_000)))
    run("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, h CHAR(32))",
        f"LOAD DATA LOCAL INFILE '{file}' INTO TABLE d.t", on=connection)
    assert rows(connection, "SELECT COUNT(*), SUM(h = MD5(id)) FROM d.t") == ((50_000, 50_000),)


@pytest.mark.parametrize("crowd", ["1000", "1"], ids=["threads", "crew"])
def test_many_at_once(start, crowd):
    server = start(f"--clearway-crowd-size={crowd}", "--max_connections=200")
    made = context(server)
    wrong = []

    def work(own):
        connection = connect(server, made)
        for n in range(100):
            # Answers of less than a record, of some, and statements of more than one.
            length = (n * 7919 + own * 104729) % 70_000
            text = value(connection, f"SELECT CONCAT('{'y' * length}', REPEAT('x', {length}))")
            if text != "y" * length + "x" * length:
                wrong.append((own, n, length))
        connection.close()

    threads = [threading.Thread(target=work, args=(own,)) for own in range(8)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not wrong


def test_commands_sent_without_waiting(start):
    """Several in one record, and one in several records: none is lost between the layer and the buffers."""
    server = start("--clearway-crowd-size=1")
    others = [connect(server) for _ in range(3)]
    connection = connect(server)
    commands = [b"\x03SELECT " + str(n).encode() + b", '" + b"z" * (n * 3000) + b"'" for n in range(1, 40)]
    connection._sock.sendall(b"".join(packet(0, command) for command in commands))
    for n in range(1, 40):
        connection._next_seq_id = 1
        result = pymysql.connections.MySQLResult(connection)
        result.read()
        assert result.rows == ((n, "z" * (n * 3000)),)
    for command in (b"\x0e", b"\x03SELECT 1"):
        for byte in packet(0, command):
            connection._sock.sendall(bytes([byte]))
        connection._next_seq_id = 1
        pymysql.connections.MySQLResult(connection).read()
    assert [value(other, "SELECT 7") for other in others] == [7, 7, 7]


def test_a_hundred_idle_connections_and_kill(start):
    server = start("--max_connections=200")
    made = context(server)
    watcher = server.connect()
    held = [connect(server, made) for _ in range(100)]
    wait_until(lambda: server.threads() < 40, 30, "idle connections keep their threads")
    assert all(value(connection, "SELECT @@version_comment") for connection in held)
    for connection in held[:50]:
        run(f"KILL {connection.thread_id()}", on=watcher)
    for connection in held[:50]:
        with pytest.raises(pymysql.MySQLError):
            run("SELECT 1", on=connection)
    assert all(value(connection, "SELECT 1") == 1 for connection in held[50:])
    wait_until(lambda: value(watcher, "SELECT COUNT(*) FROM information_schema.processlist WHERE command <> 'Daemon'") == 51, 30, "the killed stay")


def test_kill_ends_a_statement(server):
    watcher, connection = server.connect(), connect(server)
    identity, ended = connection.thread_id(), []

    def sleep():
        try:
            ended.append(value(connection, "SELECT SLEEP(60)"))
        except pymysql.MySQLError as error:
            ended.append(error.args[0])

    thread = threading.Thread(target=sleep)
    thread.start()
    wait_until(lambda: rows(watcher, f"SELECT 1 FROM information_schema.processlist WHERE id = {identity} AND state = 'User sleep'"),
               20, "it does not sleep")
    run(f"KILL {identity}", on=watcher)
    thread.join(20)
    assert not thread.is_alive() and ended[0] in (1317, 2013)


def test_handshakes_that_stop_or_are_none(start):
    server = start("--connect_timeout=2")
    before = value(server.connect(), "SELECT 1")
    hello = ssl.MemoryBIO()
    client = context(server).wrap_bio(ssl.MemoryBIO(), hello)
    with pytest.raises(ssl.SSLWantReadError):
        client.do_handshake()
    hello = hello.read()
    for sent in (REQUEST, REQUEST + hello[: len(hello) // 2], REQUEST + b"\x16\x03\x01\xff\xff", REQUEST[:20],
                 REQUEST + b"GET / HTTP/1.0\r\n\r\n", REQUEST + packet(2, b"\x03SELECT 1")):
        connection = greeted(server)
        connection.sendall(sent)
        connection.settimeout(20)
        try:
            while connection.recv(4096):
                pass
        except ConnectionResetError:
            pass
    assert before == 1 and value(connect(server), "SELECT 2") == 2


def test_the_clients_hello_may_come_with_its_request(server):
    """And what was sent in clear behind the request is no command."""
    connection = greeted(server)
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = context(server).wrap_bio(incoming, outgoing)
    early = REQUEST
    while True:
        try:
            client.do_handshake()
            break
        except ssl.SSLWantReadError:
            connection.sendall(early + outgoing.read())
            early = b""
            incoming.write(connection.recv(65536))
    login = REQUEST[4:] + b"root\0" + b"\0" + b"caching_sha2_password\0"
    client.write(packet(2, login))
    connection.sendall(outgoing.read())
    answer = b""
    while len(answer) < 5:
        incoming.write(connection.recv(65536))
        try:
            answer += client.read(4096)
        except ssl.SSLWantReadError:
            pass
    assert answer[3:5] == b"\x03\x00", "OK, and the sequence goes on"


def test_what_accounts_require(start):
    server = start()
    admin = server.connect()
    names = "MySQL_Server_8.4.0_Auto_Generated_{}_Certificate"
    subject, issuer = ["/CN=" + names.format(role) for role in ("Client", "CA")]
    run("CREATE USER s REQUIRE SSL", "CREATE USER x REQUIRE X509",
        f"CREATE USER j REQUIRE SUBJECT '{subject}' AND ISSUER '{issuer}'",
        "CREATE USER k REQUIRE SUBJECT '/CN=somebody'",
        "CREATE USER c REQUIRE CIPHER 'TLS_AES_256_GCM_SHA384'", on=admin)
    shown = context(server, "client")

    def may(user):
        outcomes = []
        for words in ({}, {"ssl_disabled": False, "ssl": context(server)}, {"ssl_disabled": False, "ssl": shown}):
            try:
                outcomes.append(value(server.connect(user=user, **words), "SELECT CURRENT_USER()") == f"{user}@%")
            except pymysql.MySQLError as error:
                assert error.args[0] == 1045
                outcomes.append(False)
        return outcomes

    assert may("s") == [False, True, True]
    assert may("x") == [False, False, True]
    assert may("j") == [False, False, True]
    assert may("k") == [False, False, False]
    assert may("c") == [False, True, True]
    # A Unix socket is no TLS.
    refused(1045, server.connect, user="s", unix_socket=str(server.socket))


def test_a_client_certificate_of_another_authority_is_refused(start):
    server, other = start(), start()
    made = context(server)
    made.load_cert_chain(other.datadir / "client-cert.pem", other.datadir / "client-key.pem")
    with pytest.raises((pymysql.MySQLError, OSError)):
        connect(server, made)
    assert value(connect(server, context(server, "client")), "SELECT 1") == 1


@pytest.mark.parametrize("words", [["-tls1_3"], ["-tls1_2", "-cipher", "ECDHE-RSA-AES128-GCM-SHA256"]])
def test_the_authority_is_shown_with_the_certificate(server, words):
    """Connector/C from 3.4 on takes a certificate that it cannot check for the server's if the chain ends with one signed by itself."""
    shown = subprocess.run(["openssl", "s_client", "-starttls", "mysql", "-connect", f"127.0.0.1:{server.port}", "-showcerts", *words],
                           stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert shown.stdout.count("BEGIN CERTIFICATE") == 2
    assert "self-signed certificate in certificate chain" in shown.stdout


def test_require_secure_transport(start):
    server = start("--require_secure_transport=ON")
    wait_until(lambda: server.socket.exists(), 20, "no socket")
    refused(3159, server.connect)
    assert value(server.connect(unix_socket=str(server.socket)), "SELECT 1") == 1
    connection = connect(server)
    refused(1045, server.connect, user="nobody")
    run("SET GLOBAL require_secure_transport = OFF", on=connection)
    assert value(server.connect(), "SELECT 1") == 1


def test_reload(start):
    server, other = start(), start()
    old = connect(server)
    for name in ("ca.pem", "server-cert.pem", "server-key.pem"):
        (server.datadir / name).write_bytes((other.datadir / name).read_bytes())
    refused(2003, connect, server, context(other))
    run("ALTER INSTANCE RELOAD TLS", on=old)
    assert value(connect(server, context(other)), "SELECT 1") == 1
    assert value(old, "SELECT 1") == 1, "who is connected stays"

    def fails(code, statement):
        with pytest.raises(pymysql.MySQLError) as raised:
            run(statement, on=old)
        assert raised.value.args[0] == code, raised.value

    fails(1231, "SET GLOBAL tls_version = 'TLSv1'")
    fails(1231, "SET GLOBAL ssl_cipher = 'NONSENSE'")
    fails(1231, "SET GLOBAL tls_ciphersuites = 'ECDHE-RSA-AES256-GCM-SHA384'")
    fails(1149, "ALTER INSTANCE RELOAD TLS FOR CHANNEL nowhere")
    run("SET GLOBAL ssl_cert = 'nowhere.pem'", on=old)
    fails(3888, "ALTER INSTANCE RELOAD TLS")
    assert value(connect(server, context(other)), "SELECT 1") == 1, "it stays as it was"
    run("ALTER INSTANCE RELOAD TLS NO ROLLBACK ON ERROR", on=old)
    assert rows(old, "SHOW WARNINGS")[0][1] == 3888
    refused(2026, connect, server, context(other))
    run("SET GLOBAL ssl_cert = 'server-cert.pem', GLOBAL tls_version = 'TLSv1.2'",
        "SET GLOBAL ssl_cipher = 'ECDHE-ECDSA-AES256-GCM-SHA384'", "ALTER INSTANCE RELOAD TLS FOR CHANNEL mysql_main", on=old)
    connection = connect(server, context(other))
    assert [ssl_status(connection, name) for name in ("version", "cipher", "cipher_list")] == [
        "TLSv1.2", "ECDHE-ECDSA-AES256-GCM-SHA384", "ECDHE-ECDSA-AES256-GCM-SHA384"]
    run("CREATE USER u", on=old)
    with pytest.raises(pymysql.MySQLError) as raised:
        run("ALTER INSTANCE RELOAD TLS", on=server.connect(user="u"))
    assert raised.value.args[0] == 1227


def test_sessions_are_resumed(start):
    server = start()
    made = context(server, newest=ssl.TLSVersion.TLSv1_2)

    def handshake(session=None):
        connection = greeted(server)
        connection.sendall(REQUEST)
        wrapped = made.wrap_socket(connection, session=session)
        return wrapped.session, wrapped.session_reused

    session, reused = handshake()
    assert not reused and handshake(session)[1]
    run("SET GLOBAL ssl_session_cache_mode = OFF", "ALTER INSTANCE RELOAD TLS", on=server.connect())
    session, _ = handshake()
    assert not handshake(session)[1]
    assert ssl_status(server.connect(), "session_cache_mode") == "OFF"


def test_without_tls(start):
    server = start("--tls_version=")
    refused(2026, connect, server, ssl.create_default_context())
    connection = server.connect()
    assert not (server.datadir / "ca.pem").exists() and ssl_status(connection, "session_cache_mode") == "NONE"
    other = start("--skip-auto-generate-certs")
    assert not (other.datadir / "ca.pem").exists() and value(other.connect(), "SELECT 1") == 1


@pytest.mark.parametrize("suite", ["ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-RSA-CHACHA20-POLY1305", "ECDHE-ECDSA-AES128-GCM-SHA256"])
def test_clients_of_one_kind_of_key(server, suite, tmp_path):
    """TLS 1.2 with suites of RSA or of curves alone, and a client that verifies the server by its authority."""
    connection = server.connect()
    directory = pathlib.Path(rows(connection, "SELECT @@datadir")[0][0])
    context = ssl.create_default_context(cafile=directory / "ca.pem")
    context.check_hostname = False
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers(suite)
    named = pymysql.connect(host="127.0.0.1", port=server.port, user="root", password=server.password, ssl=context)
    assert rows(named, "SHOW STATUS LIKE 'Ssl_cipher'")[0][1] == suite


def test_data_from_before_the_second_certificate(start):
    server = start()
    server.stop()
    (server.datadir / "server-rsa-cert.pem").unlink()
    server.start()
    client = pymysql.connect(host="127.0.0.1", port=server.port, user="root", ssl={"check_hostname": False})
    assert rows(client, "SHOW STATUS LIKE 'Ssl_cipher'")[0][1]


def test_certificates_are_made_once_and_named(start):
    server = start()
    names = rows(server.connect(), "SELECT @@ssl_ca, @@ssl_cert, @@ssl_key")
    assert names == (("ca.pem", "server-cert.pem", "server-key.pem"),)
    made = (server.datadir / "server-cert.pem").read_bytes()
    assert (server.datadir / "server-key.pem").stat().st_mode & 0o777 == 0o600
    server.stop()
    server.start()
    assert (server.datadir / "server-cert.pem").read_bytes() == made
    # Keys of RSA, and files elsewhere.
    other = start("--skip-auto-generate-certs", run=False)
    other.datadir.parent.mkdir(exist_ok=True)
    keys = other.root / "keys"
    keys.mkdir()
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/C=SE/O=Clearway/CN=own",
                    "-keyout", keys / "key.pem", "-out", keys / "cert.pem"], check=True, capture_output=True)
    other.options += [f"--ssl-ca={keys}/cert.pem", f"--ssl-cert={keys}/cert.pem", f"--ssl-key={keys}/key.pem"]
    other.start()
    trusting = ssl.create_default_context(cafile=keys / "cert.pem")
    trusting.check_hostname = False
    trusting.maximum_version = ssl.TLSVersion.TLSv1_2
    connection = connect(other, trusting)
    assert ssl_status(connection, "cipher").startswith("ECDHE-RSA-")


def test_the_mariadb_client(server):
    command = ["mariadb", "--no-defaults", "-uroot", f"-h{server.host}", f"-P{server.port}", "-N", "-e",
               "SHOW STATUS LIKE 'Ssl_version'"]
    ca = ["--ssl", f"--ssl-ca={server.datadir}/ca.pem"]
    assert subprocess.run([*command, *ca], check=True, capture_output=True, text=True).stdout.split() == ["Ssl_version", "TLSv1.3"]
    assert subprocess.run([*command, "--skip-ssl"], check=True, capture_output=True, text=True).stdout.split() == ["Ssl_version"]
