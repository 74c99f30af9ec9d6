"""How one gets in, or does not: what is asked of passwords, delays after failures, hosts that are blocked, the door for administrators,
plugins, proxies. What is expected is what MySQL answers."""

import getpass
import pathlib
import socket
import subprocess
import threading
import time

import pymysql
import pytest

import harness
from harness import value

pytestmark = pytest.mark.usefixtures("clearway_only")

PROTOCOL_41, TLS, SECURE_CONNECTION, PLUGIN_AUTH = 1 << 9, 1 << 11, 1 << 15, 1 << 19
COMPONENT = "'file://component_validate_password'"


def run(*statements, on):
    """The rows of the last statement."""
    with on.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
        return list(cursor.fetchall())


def outcome(connection, statement):
    """The error number; 0: there was none."""
    try:
        run(statement, on=connection)
    except pymysql.MySQLError as error:
        return error.args[0]
    return 0


def login(server, user, password="", **words):
    """The error number of a login that is refused; 0: it is not."""
    try:
        server.connect(user=user, password=password, **words).close()
    except pymysql.MySQLError as error:
        return error.args[0]
    return 0


def test_passwords_have_to_be_good_enough(start):
    server = start()
    (server.datadir / "words").write_text("sesame\nShort\n")
    root = server.connect()
    assert outcome(root, "SELECT @@validate_password.length") == 1193
    run("CREATE USER early IDENTIFIED BY 'x'", f"INSTALL COMPONENT {COMPONENT} SET policy = STRONG",
        "SET GLOBAL validate_password.dictionary_file = 'words'", "SET PERSIST validate_password.number_count = 2", on=root)
    assert outcome(root, f"INSTALL COMPONENT {COMPONENT}") == 3529
    weak = ["", "short", "nodigitshere!", "NODIGITS12!", "nocapitals12!", "Noothers12", "Onedigit1!", "OpenSESAME12!"]
    for password in weak:
        for statement in [f"CREATE USER who IDENTIFIED BY '{password}'", f"ALTER USER early IDENTIFIED BY '{password}'",
                          f"SET PASSWORD FOR early = '{password}'", f"SET PASSWORD = '{password}'",
                          f"CREATE USER who IDENTIFIED WITH sha256_password BY '{password}'"]:
            assert outcome(root, statement) == 1819, statement
    assert outcome(root, "CREATE USER who") == 1819
    run("CREATE USER good IDENTIFIED BY 'Good enough 12!'", "CREATE USER random IDENTIFIED BY RANDOM PASSWORD",
        "ALTER USER early IDENTIFIED BY 'Shorter-Words 22'", "ALTER USER early ACCOUNT UNLOCK", "CREATE ROLE role", on=root)
    assert login(server, "good", "Good enough 12!") == 0
    status = dict(run("SHOW STATUS LIKE 'validate_password.%'", on=root))
    assert status["validate_password.dictionary_file_words_count"] == "2" and status["validate_password.dictionary_file_last_parsed"]
    assert server.stop() == 0
    server.start()
    root = server.connect()
    assert outcome(root, "CREATE USER who IDENTIFIED BY 'Onedigit1!'") == 1819, "the component and what was persisted are there again"
    assert value(root, "SELECT component_urn FROM mysql.component") == "file://component_validate_password"
    run(f"UNINSTALL COMPONENT {COMPONENT}", "CREATE USER who IDENTIFIED BY 'x'", on=root)
    assert outcome(root, f"UNINSTALL COMPONENT {COMPONENT}") == 3537
    assert run("SELECT * FROM mysql.component", on=root) == [] and run("SHOW VARIABLES LIKE 'validate%'", on=root) == []


def test_an_own_name_is_no_password_and_a_new_one_has_to_be_new(start):
    server = start()
    root = server.connect()
    run("CREATE USER longname IDENTIFIED BY 'longname'", f"INSTALL COMPONENT {COMPONENT} SET policy = LOW", on=root)
    own = server.connect(user="longname", password="longname")
    for name in ["longname", "emangnol"]:
        assert outcome(own, f"SET PASSWORD = '{name}'") == 1819, name
        assert value(own, f"SELECT VALIDATE_PASSWORD_STRENGTH('{name}')") == 0
    run("SET GLOBAL validate_password.changed_characters_percentage = 50", on=root)
    assert outcome(own, "SET PASSWORD = 'longnaming' REPLACE 'wrong'") == 3891
    assert outcome(own, "ALTER USER USER() IDENTIFIED BY 'LONGNAMEx' REPLACE 'longname'") == 4165
    run("ALTER USER USER() IDENTIFIED BY 'wxyzwxyz' REPLACE 'longname'", on=own)


def test_failures_delay_the_next_answers(start):
    server = start()
    root = server.connect()
    run("CREATE USER slow IDENTIFIED BY 'right'", "INSTALL PLUGIN connection_control SONAME 'connection_control.so'", on=root)
    table = "SELECT * FROM information_schema.CONNECTION_CONTROL_FAILED_LOGIN_ATTEMPTS"
    assert outcome(root, table) == 1109
    run("INSTALL PLUGIN connection_control_failed_login_attempts SONAME 'connection_control.so'",
        "SET GLOBAL connection_control_failed_connections_threshold = 2",
        "SET GLOBAL connection_control_max_connection_delay = 1000", on=root)
    assert outcome(root, "SET GLOBAL connection_control_min_connection_delay = 999") == 1231
    assert outcome(root, "SET GLOBAL connection_control_min_connection_delay = 1001") == 1231

    def timed(user, password):
        begun = time.monotonic()
        number = login(server, user, password)
        return number, time.monotonic() - begun

    for _ in range(2):
        number, seconds = timed("slow", "wrong")
        assert number == 1045 and seconds < 0.9, seconds
        login(server, "stranger", "wrong")
    assert sorted(run(table, on=root)) == [("'slow'@'%'", 2), ("'stranger'@'localhost'", 2)]
    assert run(table, on=server.connect(user="root")) != []
    number, seconds = timed("slow", "wrong")
    assert number == 1045 and seconds >= 1, seconds
    # A good password is no way around, and ends it.
    number, seconds = timed("slow", "right")
    assert number == 0 and seconds >= 1, seconds
    number, seconds = timed("slow", "right")
    assert number == 0 and seconds < 0.9, seconds
    assert dict(run("SHOW STATUS LIKE 'Connection_control%'", on=root)) == {"Connection_control_delay_generated": "2"}
    assert run(table, on=root) == [("'stranger'@'localhost'", 2)]
    # Who waits is seen, and goes when it is told to.
    run("SET GLOBAL connection_control_max_connection_delay = 60000", "SET GLOBAL connection_control_min_connection_delay = 60000", on=root)
    thread = threading.Thread(target=login, args=(server, "stranger", "wrong"))
    thread.start()
    waits = "SELECT ID FROM performance_schema.processlist WHERE STATE = 'Waiting in connection_control plugin'"
    waiting = harness.wait_until(lambda: run(waits, on=root), 20, "the login waits")
    run(f"KILL {waiting[0][0]}", on=root)
    thread.join(20)
    assert not thread.is_alive()
    assert server.stop() == 0
    server.start()
    root = server.connect()
    assert len(run("SELECT * FROM mysql.plugin", on=root)) == 2
    run("UNINSTALL PLUGIN connection_control", on=root)
    assert outcome(root, "SELECT @@connection_control_min_connection_delay") == 1193


def from_address(server, address):
    client = socket.socket()
    client.settimeout(20)
    client.bind((address, 0))
    client.connect((server.host, server.port))
    return client


def first_error(client):
    """The number in the server's first packet; 0: it greets."""
    packet = client.recv(4096)
    return int.from_bytes(packet[5:7], "little") if packet[4] == 0xFF else 0


def test_a_host_of_broken_handshakes_is_blocked(start):
    server = start("--max-connect-errors=3")
    root = server.connect()
    # Where no account is for a host, nobody is greeted from there; that is no broken handshake.
    for _ in range(4):
        assert first_error(from_address(server, "127.0.0.9")) == 1130
    assert login(server, "root", bind_address="127.0.0.9") == 1130
    refused = "SELECT COUNT_HOST_ACL_ERRORS, COUNT_HANDSHAKE_ERRORS, SUM_CONNECT_ERRORS FROM performance_schema.host_cache"
    assert run(refused, on=root) == [(5, 0, 0)]
    run("CREATE USER guest@'127.0.0._'", "TRUNCATE TABLE performance_schema.host_cache", on=root)

    def errors():
        rows = run("SELECT SUM_CONNECT_ERRORS FROM performance_schema.host_cache WHERE IP = '127.0.0.9'", on=root)
        return rows[0][0] if rows else 0

    for count in range(1, 4):
        client = from_address(server, "127.0.0.9")
        assert first_error(client) == 0
        if count == 2:
            # So is a request for TLS that comes to nothing.
            flags = TLS | PROTOCOL_41 | SECURE_CONNECTION
            client.sendall(b"\x20\x00\x00\x01" + flags.to_bytes(4, "little") + (1 << 24).to_bytes(4, "little") + b"\x2d" + bytes(23))
        client.close()
        harness.wait_until(lambda count=count: errors() == count, 20, "the handshake counts")
    assert first_error(from_address(server, "127.0.0.9")) == 1129
    assert first_error(from_address(server, "127.0.0.8")) == 0, "others get in"
    assert login(server, "root", bind_address="127.0.0.9") == 1129
    blocked = "SELECT COUNT_HOST_BLOCKED_ERRORS, COUNT_HANDSHAKE_ERRORS FROM performance_schema.host_cache WHERE IP = '127.0.0.9'"
    assert run(blocked, on=root) == [(2, 3)]
    run("TRUNCATE TABLE performance_schema.host_cache", on=root)
    # A refused password is no broken handshake.
    for _ in range(4):
        assert login(server, "root", bind_address="127.0.0.9") == 1045
    assert errors() == 0


def packet_of(client, sequence, payload):
    client.sendall(len(payload).to_bytes(3, "little") + bytes([sequence]) + payload)


def answer(client):
    head = client.recv(4, socket.MSG_WAITALL)
    return client.recv(int.from_bytes(head[:3], "little"), socket.MSG_WAITALL)


def hangs_up(server, user, after):
    """Begins to log in with a password that the server does not have at hand, and goes: after the first packet, the server's request for
    the password, or its key; or says what makes no sense in place of the password. The server's last answer."""
    client = from_address(server, "127.0.0.7")
    answer(client)
    flags = PROTOCOL_41 | SECURE_CONNECTION | PLUGIN_AUTH
    head = flags.to_bytes(4, "little") + (1 << 24).to_bytes(4, "little") + b"\x2d" + bytes(23)
    reply = b"\x03abc" if after == "short" else b"\x20" + bytes(range(32))
    packet_of(client, 1, head + user.encode() + b"\0" + reply + b"caching_sha2_password\0")
    last = b"" if after == "login" else answer(client)
    if after in ("key", "nonsense"):
        assert last == b"\x01\x04"
        packet_of(client, 3, b"\x02" if after == "key" else b"no password")
        last = answer(client)
    client.close()
    return last


# By whatever a login fails: the numbers are MySQL's. The third failure blocks the account, and is no error of the host's.
@pytest.mark.parametrize("after, counts", [("login", (2, 2, 0)), ("request", (2, 2, 0)), ("key", (0, 0, 2)), ("nonsense", (0, 0, 2)), ("short", (0, 0, 2))])
def test_a_login_that_is_begun_and_not_ended_has_failed(start, after, counts):
    server = start()
    root = server.connect()
    plugins = [f"INSTALL PLUGIN {name} SONAME 'connection_control.so'" for name in ("connection_control", "connection_control_failed_login_attempts")]
    run(*plugins, "SET GLOBAL connection_control_failed_connections_threshold = 1000",
        "CREATE USER begun IDENTIFIED BY 'right' FAILED_LOGIN_ATTEMPTS 3 PASSWORD_LOCK_TIME 1", on=root)

    def failures(name):
        table = "information_schema.CONNECTION_CONTROL_FAILED_LOGIN_ATTEMPTS"
        return [count for userhost, count in run(f"SELECT * FROM {table}", on=root) if userhost == name]

    for count in range(1, 4):
        last = hangs_up(server, "begun", after)
        harness.wait_until(lambda count=count: failures("'begun'@'%'") == [count], 20, "the failure counts")
    assert after not in ("nonsense", "short") or int.from_bytes(last[1:3], "little") == 3955
    columns = "SUM_CONNECT_ERRORS, COUNT_HANDSHAKE_ERRORS, COUNT_AUTH_PLUGIN_ERRORS"
    assert run(f"SELECT {columns} FROM performance_schema.host_cache WHERE IP = '127.0.0.7'", on=root) == [counts]
    assert login(server, "begun", "right") == 3955
    # Who says nothing at all is nobody, where it is.
    from_address(server, "127.0.0.7").close()
    harness.wait_until(lambda: failures("''@'127.0.0.7'") == [1], 20, "that counts as well")


@pytest.mark.parametrize("piece", [0.2, None], ids=["byte by byte", "not at all"])
def test_a_login_ends_at_connect_timeout_in_all(start, piece):
    server = start("--connect-timeout=2")
    client = socket.create_connection((server.host, server.port), timeout=20)
    client.recv(4096)
    begun = time.monotonic()
    packet = b"\x60\x00\x00\x01" + bytes(200)
    try:
        for at in range(len(packet)):
            if piece is None:
                client.recv(4096)
                break
            client.send(packet[at:at + 1])
            time.sleep(piece)
            assert time.monotonic() - begun < 10, "it goes on and on"
    except OSError:
        pass
    seconds = time.monotonic() - begun
    assert 1.5 < seconds < 8, seconds
    server.connect().close()


def test_administrators_have_a_door_of_their_own(start):
    port = harness.free_port()
    server = start("--max-connections=2", "--admin-address=127.0.0.1", f"--admin-port={port}")
    root = server.connect()
    run("CREATE USER service", "GRANT SERVICE_CONNECTION_ADMIN ON *.* TO service", "CREATE USER plain", on=root)
    plain = server.connect(user="plain")

    def full():
        return login(server, "plain") == 1040

    harness.wait_until(full, 10, "all connections are taken")
    assert login(server, "plain", port=port) == 1227
    others = [server.connect(user="service", port=port) for _ in range(3)]
    assert value(others[2], "SELECT CURRENT_USER()") == "service@%"
    assert value(root, "SELECT @@admin_port") == port
    plain.close()
    for connection in others:
        connection.close()
    assert server.stop() == 0
    for wrong in ["*", "0.0.0.0", "::", "127.0.0.1,127.0.0.2"]:
        refused = start(f"--admin-address={wrong}", run=False)
        done = subprocess.run(refused.command(), capture_output=True, text=True, timeout=60)
        assert done.returncode != 0 and "admin-address" in done.stderr, (wrong, done.stderr)


def test_one_connection_more_is_for_an_administrator(start):
    server = start("--max-connections=1")
    root = server.connect()
    run("CREATE USER plain", "CREATE USER chief", "GRANT CONNECTION_ADMIN ON *.* TO chief", on=root)
    assert login(server, "plain") == 1040

    def chief_in():
        try:
            return server.connect(user="chief")
        except pymysql.MySQLError:
            return None

    # Who was refused has a place until the socket is closed.
    chief = harness.wait_until(chief_in, 10, "an administrator gets in")
    assert login(server, "chief") == 1040, "one, and no second"
    chief.close()


def test_plugins_of_passwords(start):
    server = start()
    root = server.connect()
    run("CREATE USER sha IDENTIFIED WITH sha256_password BY 'secret'", "CREATE USER open IDENTIFIED WITH sha256_password", on=root)
    for words in [{"ssl_disabled": True}, {"ssl_disabled": False, "ssl": {"check_hostname": False}}, {"unix_socket": str(server.socket)}]:
        assert login(server, "sha", "secret", **words) == 0, words
        assert login(server, "sha", "Secret", **words) == 1045, words
        assert login(server, "sha", "", **words) == 1045, words
        assert login(server, "open", **words) == 0, words
        assert login(server, "open", "x", **words) == 1045, words
    text = value(root, "SHOW CREATE USER sha")
    stored = value(root, "SELECT authentication_string FROM mysql.user WHERE user = 'sha'")
    assert stored.startswith("$5$") and len(stored) == 67 and "WITH 'sha256_password' AS '$5$" in text
    run("SET print_identified_with_as_hex = ON", on=root)
    copy = value(root, "SHOW CREATE USER sha").replace("`sha`", "copy")
    run(copy, on=root)
    assert login(server, "copy", "secret") == 0
    for plugin in ["authentication_ldap_simple", "authentication_ldap_sasl", "authentication_pam", "authentication_kerberos", "nonsense",
                   "auth_socket", "mysql_no_login"]:
        with pytest.raises(pymysql.MySQLError) as refused:
            run(f"CREATE USER other IDENTIFIED WITH {plugin}", on=root)
        assert refused.value.args == (1524, f"Plugin '{plugin}' is not loaded")


def test_users_of_the_machine(start):
    server = start()
    root = server.connect()
    me = getpass.getuser()
    run("INSTALL PLUGIN auth_socket SONAME 'auth_socket.so'", "INSTALL PLUGIN mysql_no_login SONAME 'mysql_no_login.so'",
        "CREATE USER nobody_here IDENTIFIED WITH auth_socket", f"CREATE USER mapped IDENTIFIED WITH auth_socket AS '{me}'",
        "CREATE USER locked_out IDENTIFIED WITH mysql_no_login", on=root)
    by_socket = {"unix_socket": str(server.socket)}
    connection = server.connect(user="mapped", **by_socket)
    assert run("SELECT CURRENT_USER(), @@external_user", on=connection) == [("mapped@%", me)]
    assert login(server, "mapped") == 1698, "over TCP nobody says who the client is"
    assert login(server, "nobody_here", **by_socket) == 1698
    assert login(server, "locked_out", **by_socket) == 1698 == login(server, "locked_out", "x")
    assert outcome(root, "SET PASSWORD FOR mapped = 'x'") == 4102
    assert outcome(root, "ALTER USER mapped PASSWORD EXPIRE") == 3671
    run("UNINSTALL PLUGIN auth_socket", on=root)
    assert login(server, "mapped", **by_socket) == 1524


def test_proxies(start):
    server = start()
    root = server.connect()
    run("CREATE USER target IDENTIFIED BY 't' ACCOUNT LOCK", "CREATE USER proxy IDENTIFIED BY 'p'", "CREATE DATABASE prox",
        "CREATE USER sha IDENTIFIED WITH sha256_password BY 'p'", "CREATE USER astray IDENTIFIED BY 'p'",
        "GRANT SELECT ON prox.* TO target", "GRANT PROXY ON target TO proxy, sha", "GRANT PROXY ON missing TO astray", on=root)
    who = "SELECT USER(), CURRENT_USER(), @@proxy_user, @@external_user"

    def known_as(user):
        return run(who, on=server.connect(user=user, password="p"))[0]

    assert known_as("proxy") == ("proxy@localhost", "proxy@%", None, None)
    run("SET GLOBAL check_proxy_users = ON", "SET GLOBAL caching_sha2_password_proxy_users = ON", on=root)
    assert known_as("proxy") == ("proxy@localhost", "target@%", "'proxy'@'%'", None)
    assert known_as("sha") == ("sha@localhost", "sha@%", None, None)
    assert known_as("astray") == ("astray@localhost", "astray@%", None, None)
    assert login(server, "target", "t") == 3118, "a lock keeps out who would log in"
    connection = server.connect(user="proxy", password="p")
    assert run("SHOW GRANTS", on=connection) == [("GRANT USAGE ON *.* TO `target`@`%`",), ("GRANT SELECT ON `prox`.* TO `target`@`%`",)]
    run("SET GLOBAL sha256_password_proxy_users = ON", on=root)
    assert known_as("sha")[1:3] == ("target@%", "'sha'@'%'")
    run("REVOKE PROXY ON target FROM proxy", on=root)
    assert known_as("proxy")[1] == "proxy@%"


def test_who_grants_a_proxy_on_itself(start):
    server = start()
    run("CREATE USER own, all_of_it, other, own@'127.0.0.1' IDENTIFIED BY 'h', own@localhost", on=(root := server.connect()))
    run("DROP USER own@'127.0.0.1', own@localhost", "GRANT ALL ON *.* TO all_of_it WITH GRANT OPTION", on=root)
    own, whole = server.connect(user="own"), server.connect(user="all_of_it")
    run("GRANT PROXY ON own TO other", "GRANT PROXY ON CURRENT_USER() TO own WITH GRANT OPTION", on=own)
    assert outcome(own, "GRANT PROXY ON own TO missing") == 1410
    assert outcome(own, "GRANT PROXY ON own@localhost TO other") == 1698, "that is another account"
    assert outcome(own, "GRANT PROXY ON other TO own") == 1698
    assert outcome(whole, "GRANT PROXY ON other TO own") == 1698, "ALL is not PROXY"
    run("GRANT PROXY ON all_of_it TO own", on=whole)
    proxies = "SELECT User, Proxied_user, Proxied_host, With_grant, Grantor FROM mysql.proxies_priv WHERE User <> 'root' ORDER BY User, Proxied_user"
    assert run(proxies, on=root) == [("other", "own", "%", 0, "own@localhost"), ("own", "all_of_it", "%", 0, "all_of_it@localhost"),
                                     ("own", "own", "%", 1, "own@localhost")]
    run("REVOKE PROXY ON own FROM other", on=own)
    assert outcome(own, "REVOKE PROXY ON own FROM other") == 1141


def test_clients_of_every_kind(start):
    """The stock command line, with TLS and without, by both plugins of passwords."""
    server = start()
    root = server.connect()
    run("CREATE USER caching IDENTIFIED BY 'secret'", on=root)
    for words in [["--ssl"], ["--skip-ssl"], [f"--socket={server.socket}", "--skip-ssl"]]:
        address = [] if words[0].startswith("--socket") else [f"--host={server.host}", f"--port={server.port}", "--protocol=tcp"]
        done = subprocess.run(["mariadb", "--no-defaults", "--user=caching", "--password=secret", "--skip-ssl-verify-server-cert", *address,
                               *words, "--batch", "--skip-column-names", "--execute=SELECT CURRENT_USER()"],
                              capture_output=True, text=True, timeout=60)
        assert done.stdout.strip() == "caching@%", (words, done.stderr)
        # A password from the cache of the server takes the short way.
    assert pathlib.Path(server.socket).exists()
