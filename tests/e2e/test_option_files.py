"""Usual option files: the server starts with them, and says in one line each what makes no difference."""

import pathlib
import re
import subprocess

import pytest
from harness import BINARY, Server, rows, value
from wire import Client

FILES = pathlib.Path(__file__).with_name("option_files")


def start_with(text, *options):
    server = Server("clearway", *options)
    file = server.root / "my.cnf"
    file.write_text(text.replace("@ROOT@", str(server.root)))
    server.options.append(f"--defaults-file={file}")
    return server.start()


def warnings_of(server):
    return re.findall(r"\[Warning\].*my\.cnf:\d+: option '([^']+)'", server.log_text())


@pytest.mark.parametrize("name", sorted(f.stem for f in FILES.iterdir()))
def test_a_usual_file_starts_the_server(name, clearway_only):
    server = start_with((FILES / f"{name}.cnf").read_text())
    try:
        assert value(server.connect(), "SELECT 1") == 1
        warned = warnings_of(server)
        assert len(warned) == len(set(warned)), "one line each"
    finally:
        server.remove()


def test_what_a_file_says_is_obeyed(clearway_only):
    server = start_with((FILES / "tuned-web.cnf").read_text() + "expire_logs_days = 3\ntx_isolation = SERIALIZABLE\nskip-host-cache\n")
    try:
        variables = dict(rows(server.connect(), "SHOW GLOBAL VARIABLES"))
        for variable, expected in (("time_zone", "+00:00"), ("wait_timeout", "600"), ("max_connections", "300"),
                                   ("binlog_expire_logs_seconds", "259200"), ("transaction_isolation", "SERIALIZABLE"), ("host_cache_size", "0"),
                                   ("innodb_redo_log_capacity", str(256 << 20)), ("log_error_verbosity", "2")):
            assert variables[variable] == expected, variable
        warned = set(warnings_of(server))
        assert {"symbolic-links", "query_cache_size", "innodb_file_format"} <= warned
        # What is obeyed, or asked for as it is, is not spoken of.
        assert not warned & {"wait_timeout", "default_time_zone", "innodb_flush_method", "innodb_buffer_pool_size", "expire_logs_days", "slow_query_log", "long_query_time"}
    finally:
        server.remove()


def test_all_that_is_wrong_is_said_at_once(tmp_path, clearway_only):
    file = tmp_path / "my.cnf"
    file.write_text("[mysqld]\nno_such_one = 1\nmax_connections = 10\nport = many\nno-such-two\nlower_case_table_names = 1\nskip-grant-tables\n")
    done = subprocess.run([str(BINARY), "serve", f"--defaults-file={file}", "--no-such-three", f"--datadir={tmp_path / 'data'}"],
                          capture_output=True, text=True)
    assert done.returncode == 1
    said = done.stderr.splitlines()
    assert len(said) == 6 and all(line.startswith("clearway: ") for line in said), done.stderr
    for line, word in zip(said, (":2: unknown variable 'no_such_one'", ":4: option 'port': bad value 'many'", ":5: unknown variable 'no-such-two'",
                                 ":6: option 'lower_case_table_names': '1'", ":7: unknown variable 'skip-grant-tables'",
                                 "unknown variable 'no-such-three'")):
        assert word in line
    assert not (tmp_path / "data").exists(), "nothing is made before the options are right"


def test_options_can_be_looked_at_without_a_start(tmp_path, clearway_only):
    words = [str(BINARY), "serve", "--validate-config", f"--datadir={tmp_path / 'data'}"]
    done = subprocess.run([*words, "--ft-min-word-len=3"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "clearway: option 'ft-min-word-len': '3' has no effect, it is '4' here\n")
    assert subprocess.run([*words, "--nonsense"], capture_output=True).returncode == 1
    assert not (tmp_path / "data").exists()


def test_help_lists_every_variable_with_its_default_and_range(server, clearway_only):
    said = subprocess.run([str(BINARY), "serve", "--help", "--verbose"], capture_output=True, text=True).stdout
    listed = dict(re.findall(r"^([a-z][a-z0-9-]+) {2,}(\S.*)$", said, re.M))
    assert re.fullmatch(r"151 +1 to 100000", listed["max-connections"])
    assert re.fullmatch(r"OFF +OFF, OWN_GTID, ALL_GTIDS", listed["session-track-gtids"])
    assert re.fullmatch(r"4096 +512 to .*, in steps of 512|32768 +.*", listed["binlog-cache-size"]) or "in steps" in listed["binlog-cache-size"]
    assert len(listed) > 500


def test_the_pid_file_is_there_while_the_server_runs(start, tmp_path, clearway_only):
    server = start()
    path = pathlib.Path(value(server.connect(), "SELECT @@pid_file"))
    assert path.is_absolute() and path.parent == server.datadir and path.suffix == ".pid"
    assert int(path.read_text()) == server.process.pid
    server.stop()
    assert not path.exists()
    named = start(f"--pid-file={tmp_path / 'named.pid'}")
    assert int((tmp_path / "named.pid").read_text()) == named.process.pid
    named.stop()
    assert not (tmp_path / "named.pid").exists()


def test_a_file_of_former_versions_is_obeyed_as_far_as_it_goes(clearway_only):
    server = start_with((FILES / "tuned-forum.cnf").read_text())
    try:
        connection = server.connect(charset="latin1")
        variables = dict(rows(connection, "SHOW VARIABLES"))
        host = variables["hostname"].split(".")[0]
        data = variables["datadir"]
        for variable, expected in (
                ("sql_mode", "STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION"), ("report_host", "forum.example.net"), ("report_port", "3307"),
                ("relay_log", f"{host}-relay-bin"), ("relay_log_basename", f"{data}{host}-relay-bin"),
                ("relay_log_index", f"{data}{host}-relay-bin.index"), ("innodb_data_file_path", "clearway.data:16M:autoextend")):
            assert variables[variable] == expected, variable
        assert {"sql-mode", "innodb_data_home_dir", "relay_log", "sync_relay_log", "secure-auth"} <= set(warnings_of(server))
        assert not set(warnings_of(server)) & {"report_host", "report_port", "skip-character-set-client-handshake"}
    finally:
        server.remove()


@pytest.mark.parametrize("option, expected", [(None, "latin1_swedish_ci"), ("--skip-character-set-client-handshake", "utf8mb4_unicode_ci"),
                                              ("--character-set-client-handshake=FALSE", "utf8mb4_unicode_ci")])
def test_whose_character_set_a_connection_has(start, option, expected, clearway_only):
    server = start("--collation-server=utf8mb4_unicode_ci", *([option] if option else []))
    connection = Client(server.host, server.port, collation=8)
    assert connection.rows("SELECT @@collation_connection, @@character_set_client") == [[expected, expected.split("_")[0]]]
    assert connection.rows("SELECT @@character_set_results") == [[expected.split("_")[0]]]


def test_the_port_that_is_reported_is_the_servers_own_if_none_is_named(start, clearway_only):
    server = start()
    assert value(server.connect(), "SELECT @@report_port = @@port AND @@report_host IS NULL") == 1
