"""The stock `mariadb` command line: batch, -e, several statements, how each type is shown."""

import subprocess

import pytest


@pytest.fixture
def client(server, database):
    def run(*words, text=None, check=True):
        command = ["mariadb", "--no-defaults", "--skip-ssl", f"-h{server.host}", f"-P{server.port}", "-uroot",
                   f"--password={server.password}", "--default-character-set=utf8mb4", *words, database]
        result = subprocess.run(command, input=text, capture_output=True, text=True, timeout=60)
        if check:
            assert result.returncode == 0, result.stderr
        return result

    return run


def test_execute_option(client):
    assert client("-N", "-e", "SELECT 1, 'a', NULL, -2.50").stdout == "1\ta\tNULL\t-2.50\n"


def test_several_statements_stop_at_the_first_error(client):
    result = client("-N", "-e", "SELECT 1; SELECT * FROM missing; SELECT 2", check=False)
    assert result.returncode == 1
    assert result.stdout == "1\n"
    assert "ERROR 1146 (42S02)" in result.stderr


def test_force_goes_on_after_an_error(client):
    result = client("-N", "-f", text="SELECT 1;\nSELECT * FROM missing;\nSELECT 2;\n", check=False)
    assert result.stdout == "1\n2\n"


def test_batch_from_standard_input(client):
    script = """
        -- a comment; with a semicolon
        CREATE TABLE t (id INT PRIMARY KEY, s VARCHAR(20));  # another
        INSERT INTO t VALUES (1, 'semi;colon'), (2, 'quo''te'), (3, "tab\\tline\\n"); /* and one more */
        SELECT * FROM t ORDER BY id;
    """
    assert client("-N", text=script).stdout == "1\tsemi;colon\n2\tquo'te\n3\ttab\\tline\\n\n"


def test_table_output_and_column_names(client):
    out = client("-t", "-e", "SELECT 1 AS one, 'x' AS `a b`, 1 + 1").stdout
    assert out.splitlines()[1].split("|")[1:4] == [" one ", " a b ", " 1 + 1 "]


def test_vertical_output(client):
    assert "one: 1" in client("-e", "SELECT 1 AS one\\G").stdout


def test_every_type_in_a_table(client):
    out = client("-t", text="""
        CREATE TABLE t (i INT, u BIGINT UNSIGNED, d DECIMAL(10,3), f DOUBLE, c CHAR(5), v VARCHAR(9), b BLOB,
                        da DATE, dt DATETIME(3), ts TIMESTAMP NULL, x TEXT);
        INSERT INTO t VALUES (-1, 18446744073709551615, 12.5, 1e100, 'ab', 'cd  ', 'ef', '2024-02-29',
                              '2024-02-29 12:34:56.789', '2024-02-29 01:02:03', 'gh');
        INSERT INTO t VALUES (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
        SELECT * FROM t;
    """).stdout
    lines = [line for line in out.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert cells[0] == ["i", "u", "d", "f", "c", "v", "b", "da", "dt", "ts", "x"]
    assert cells[1] == ["-1", "18446744073709551615", "12.500", "1e100", "ab", "cd", "ef", "2024-02-29",
                        "2024-02-29 12:34:56.789", "2024-02-29 01:02:03", "gh"]
    assert cells[2] == ["NULL"] * 11


def test_column_type_info(client):
    out = client("-t", "--column-type-info", "-e",
                 "CREATE TABLE t (i INT NOT NULL PRIMARY KEY, v VARCHAR(9), d DECIMAL(10,3)); SELECT * FROM t").stdout
    types = [line.split()[-1] for line in out.splitlines() if line.startswith("Type:")]
    assert types == ["LONG", "VAR_STRING", "NEWDECIMAL"]
    flags = [line for line in out.splitlines() if line.startswith("Flags:")]
    assert "NOT_NULL" in flags[0] and "PRI_KEY" in flags[0]


def test_status_command(client):
    out = client("-e", "status").stdout
    assert "Connection id:" in out and "Uptime:" in out


def test_utf8_survives(client):
    text = "grüße, 漢字, 🚦"
    out = client("-N", text=f"CREATE TABLE t (s VARCHAR(40)) CHARACTER SET utf8mb4; INSERT INTO t VALUES ('{text}'); SELECT s FROM t;")
    assert out.stdout == text + "\n"


def test_unix_socket(server, client):
    if not server.socket:
        pytest.skip("no socket path known")
    result = subprocess.run(["mariadb", "--no-defaults", f"--socket={server.socket}", "-uroot", f"--password={server.password}",
                             "-N", "-e", "SELECT 1"], capture_output=True, text=True, timeout=60)
    assert (result.returncode, result.stdout) == (0, "1\n"), result.stderr
