"""An application's schema, dumped from Clearway and loaded again into Clearway and MariaDB, gives equal dumps."""

import pathlib
import shutil
import subprocess

import pytest

import harness

SCHEMA = pathlib.Path(__file__).with_name("shop.sql")
DUMP = ["--skip-comments", "--skip-dump-date", "--complete-insert", "--hex-blob", "--order-by-primary"]

pytestmark = pytest.mark.skipif(not shutil.which("mariadb-dump"), reason="no mariadb-dump")


def client(server, program, *words, text=None):
    command = [program, "--no-defaults", "--skip-ssl", "-uroot", "-h127.0.0.1", f"-P{server.port}", *words]
    done = subprocess.run(command, capture_output=True, timeout=300, input=text)
    assert done.returncode == 0, f"{program} {' '.join(words)}: {done.stderr.decode(errors='replace')}"
    assert not done.stderr, done.stderr.decode(errors="replace")
    return done.stdout


def load(server, name, text):
    client(server, "mariadb", "-e", f"DROP DATABASE IF EXISTS {name}; CREATE DATABASE {name} CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci")
    client(server, "mariadb", "--default-character-set=utf8mb4", name, text=text)


def dump(server, name, *words):
    return client(server, "mariadb-dump", *DUMP, *words, name)


@pytest.fixture(scope="module")
def shop(request):
    """Clearway with the schema in the database `shop`."""
    if request.config.getoption("--address") or request.config.getoption("--server") == "mariadb":
        pytest.skip("starts its own servers")
    server = harness.Server("clearway", "--secure-file-priv=")
    try:
        server.start()
        load(server, "shop", SCHEMA.read_bytes())
        yield server
    finally:
        server.remove()


# mariadb-dump writes values of generated columns into INSERT, which MySQL refuses: rows of these go by --tab alone.
GENERATED = ["customer", "order_item", "active_customer", "order_total", "big_order"]
WITHOUT = [f"--ignore-table=shop.{name}" for name in GENERATED] + [f"--ignore-table=again.{name}" for name in GENERATED]


def test_definitions(shop):
    first = dump(shop, "shop", "--no-data")
    assert first.count(b"CREATE TABLE `") >= 30 and first.count(b"VIEW") >= 3 and b"FOREIGN KEY" in first
    load(shop, "defined", first)
    assert dump(shop, "defined", "--no-data") == first


@pytest.mark.parametrize("words", [(), ("--single-transaction",), ("--opt", "--extended-insert=0"), ("--lock-all-tables",)], ids=" ".join)
def test_dump_and_load(shop, words):
    first = dump(shop, "shop", *WITHOUT, *words)
    assert first.count(b"INSERT INTO `") >= 28
    load(shop, "again", first)
    assert dump(shop, "again", *WITHOUT, *words) == first


def test_tab_separated(shop, tmp_path):
    """--tab: definitions as SQL, rows through SELECT ... INTO OUTFILE, back through LOAD DATA."""
    tmp_path.chmod(0o777)
    client(shop, "mariadb-dump", "--skip-comments", "--default-character-set=utf8mb4", f"--tab={tmp_path}", "shop")
    load(shop, "tabbed", dump(shop, "shop", "--no-data"))
    paths = sorted(tmp_path.glob("*.txt"))
    assert len(paths) >= 30
    for path in paths:
        client(shop, "mariadb", "tabbed", "-e",
               f"SET foreign_key_checks = 0; LOAD DATA INFILE '{path}' INTO TABLE `{path.stem}` CHARACTER SET utf8mb4")
    assert dump(shop, "tabbed") == dump(shop, "shop")


def test_to_mariadb_and_back(shop):
    """Only rows: what the definitions say differs between the two in words."""
    mariadb = harness.Server("mariadb")
    try:
        mariadb.start()
        load(mariadb, "shop", SCHEMA.read_bytes())
        rows = dump(shop, "shop", "--no-create-info", *WITHOUT)
        emptied = "".join(f"DELETE FROM `{name}`;" for name in tables(mariadb) if name not in GENERATED)
        client(mariadb, "mariadb", "shop", "-e", "SET foreign_key_checks = 0;" + emptied)
        client(mariadb, "mariadb", "--default-character-set=utf8mb4", "shop", text=rows)
        theirs = dump(mariadb, "shop", "--no-create-info", *WITHOUT)
        assert theirs == rows
        load(shop, "again", dump(shop, "shop", "--no-data"))
        client(shop, "mariadb", "--default-character-set=utf8mb4", "again", text=theirs)
        assert dump(shop, "again", *WITHOUT) == dump(shop, "shop", *WITHOUT)
    finally:
        mariadb.remove()


def tables(server):
    query = "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'shop' AND TABLE_TYPE = 'BASE TABLE'"
    return client(server, "mariadb", "-N", "-B", "-e", query).decode().split()
