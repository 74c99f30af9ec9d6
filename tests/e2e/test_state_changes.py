"""What OK packets tell of the session's state, byte by byte as MySQL tells it.

    python tests/e2e/test_state_changes.py HOST:PORT

records `state_changes.json` from a server: the statements of `state_changes.txt` with what it told behind each."""

import json
import pathlib
import sys

from wire import DEPRECATE_EOF, SESSION_TRACK, Client, error, ok

SCRIPTS = pathlib.Path(__file__).with_name("state_changes.txt")
RECORDED = SCRIPTS.with_suffix(".json")
SETUP = ["DROP DATABASE IF EXISTS tk", "CREATE DATABASE tk", "CREATE TABLE tk.t (a INT PRIMARY KEY)",
         "CREATE TABLE tk.m (a INT PRIMARY KEY) ENGINE = MyISAM", "CREATE TABLE tk.u (a INT PRIMARY KEY AUTO_INCREMENT, b INT)"]
# In a transaction, autocommit, read-only.
STATUS = 1 | 2 | 1 << 13


def told(packet):
    if packet[0] == 0xFF:
        return list(error(packet))
    _, _, status, _, _, changes = ok(packet)
    return [status & STATUS, *([kind, data.decode()] for kind, data in changes)]


def scripts():
    for part in SCRIPTS.read_text().strip().split("\n\n"):
        title, *statements = part.splitlines()
        yield title.lstrip("# "), statements


def run_all(host, port):
    admin = Client(host, port)
    for statement in SETUP:
        assert admin.query(statement)[0][0] == 0, statement
    answers = {}
    for title, statements in scripts():
        client = Client(host, port, SESSION_TRACK | DEPRECATE_EOF, database="tk")
        said = [["(login)", told(client.welcome)]]
        for statement in statements:
            if statement == "RESET":
                client.command(b"\x1f")
                packets = client.answer()
            elif statement.startswith("USE! "):
                client.command(b"\x02" + statement[5:].encode())
                packets = client.answer()
            else:
                packets = client.query(statement)
            said.append([statement, told(packets[-1])])
        client.close()
        answers[title] = said
    admin.query("DROP DATABASE tk")
    return answers


def test_state_changes_are_told_as_mysql_tells_them(server):
    expected = json.loads(RECORDED.read_text())
    assert [title for title, _ in scripts()] == list(expected)
    for title, said in run_all(server.host, server.port).items():
        for here, there in zip(said, expected[title], strict=True):
            assert here == there, title


def test_a_client_that_does_not_ask_is_told_nothing(server):
    client = Client(server.host, server.port, DEPRECATE_EOF)
    for statement in ("SET session_track_state_change = ON, session_track_system_variables = '*'", "SET sql_mode = ''",
                      "SET session_track_transaction_info = 'STATE'", "BEGIN", "SELECT 1", "COMMIT"):
        assert ok(client.query(statement)[-1])[5] == [], statement


def test_all_variables_are_told_of(server):
    client = Client(server.host, server.port, SESSION_TRACK | DEPRECATE_EOF)
    for statement, changes in (
            ("SET session_track_system_variables = '*'", [(0, b"\x1esession_track_system_variables\x01*")]),
            ("SET wait_timeout = 100", [(0, b"\x0cwait_timeout\x03100")]),
            ("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED", [(0, b"\x15transaction_isolation\x0eREAD-COMMITTED")]),
            ("SET last_insert_id = 4", [(0, b"\x0elast_insert_id\x014")]),
            ("SET GLOBAL sort_buffer_size = DEFAULT", []),
            ("SET session_track_system_variables = ''", [])):
        # MySQL 9.7 adds its own statement_id to each.
        assert [c for c in ok(client.query(statement)[-1])[5] if not c[1].startswith(b"\x0cstatement_id")] == changes, statement


if __name__ == "__main__":
    host, port = sys.argv[1].rsplit(":", 1)
    lines = json.dumps(run_all(host, int(port)), indent=0, ensure_ascii=True)
    RECORDED.write_text(lines.replace("[\n", "[").replace("\n]", "]").replace(",\n", ", ").replace("]], [", "]],\n[").replace("[[", "\n[[", 1) + "\n")
