"""An application's schema, dumped from Clearway and loaded again, gives an equal dump."""

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
    """A column whose collation was written, as a dump does it, is shown with its character set from then on, in MySQL too."""
    text = client(server, "mariadb-dump", *DUMP, *words, name)
    return text.replace(b" CHARACTER SET utf8mb4 COLLATE ", b" COLLATE ")


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


def test_definitions(shop):
    first = dump(shop, "shop", "--no-data")
    assert first.count(b"CREATE TABLE `") >= 30 and first.count(b"VIEW") >= 3 and b"FOREIGN KEY" in first
    load(shop, "defined", first)
    assert dump(shop, "defined", "--no-data") == first


# mariadb-dump writes values of generated columns into INSERT, which MySQL refuses (3105): rows of these tables go by --tab alone.
GENERATED = ["customer", "order_item", "active_customer", "order_total", "big_order"]
WITHOUT = [f"--ignore-table={schema}.{name}" for schema in ("shop", "again") for name in GENERATED]


def test_rows(shop):
    first = dump(shop, "shop", *WITHOUT, "--single-transaction")
    assert first.count(b"INSERT INTO `") >= 28
    load(shop, "again", first)
    assert dump(shop, "again", *WITHOUT, "--lock-all-tables") == first


def test_tab_separated(shop, tmp_path):
    """--tab: definitions as SQL, rows through SELECT ... INTO OUTFILE, back through LOAD DATA; generated columns too."""
    tmp_path.chmod(0o777)
    client(shop, "mariadb-dump", "--skip-comments", "--default-character-set=binary", f"--tab={tmp_path}", "shop")
    load(shop, "tabbed", dump(shop, "shop", "--no-data"))
    paths = sorted(tmp_path.glob("*.txt"))
    assert len(paths) >= 30
    loads = "".join(f"LOAD DATA INFILE '{path}' INTO TABLE `{path.stem}` CHARACTER SET binary;" for path in paths)
    client(shop, "mariadb", "tabbed", "-e", "SET foreign_key_checks = 0;" + loads)
    assert dump(shop, "tabbed", "--no-create-info") == dump(shop, "shop", "--no-create-info")


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
        load(shop, "again", dump(shop, "shop", "--no-data", *WITHOUT))
        client(shop, "mariadb", "--default-character-set=utf8mb4", "again", text=theirs)
        assert dump(shop, "again", *WITHOUT) == dump(shop, "shop", *WITHOUT)
    finally:
        mariadb.remove()


def test_definitions_to_mariadb_and_back(shop):
    """Whole, with views. MariaDB prints in its own words, and no ON DELETE RESTRICT, which is what it does anyway."""
    mariadb = harness.Server("mariadb")
    try:
        mariadb.start()
        first = dump(shop, "shop", "--no-data")
        load(mariadb, "shop", first)
        theirs = dump(mariadb, "shop", "--no-data")
        load(shop, "returned", theirs)
        returned = dump(shop, "returned", "--no-data")
        assert returned == first.replace(b" ON DELETE RESTRICT", b"")
        load(mariadb, "again", returned)
        assert dump(mariadb, "again", "--no-data") == theirs
    finally:
        mariadb.remove()


def tables(server):
    query = "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'shop' AND TABLE_TYPE = 'BASE TABLE'"
    return client(server, "mariadb", "-N", "-B", "-e", query).decode().split()


def test_mydumper_to_mariadb_and_back(shop, tmp_path):
    """Through mydumper's files. What MariaDB has of a view it says in its own words: tables alone."""
    mariadb = harness.Server("mariadb")
    try:
        mariadb.start()
        tables_of = r"--regex=^(?!shop\.(active_customer|order_total|big_order|" + "|".join(with_expressions(shop)) + "))"
        for source, target, name in ((shop, mariadb, "there"), (mariadb, shop, "back")):
            place = lambda server: ["-h", "127.0.0.1", "-P", str(server.port), "-u", "root"]
            database = "shop" if source is shop else "there"
            words = ["mydumper", "-B", database, "-o", tmp_path / name, "-t", "2", *place(source)]
            words += [tables_of] if source is shop else []
            for command in (words, ["myloader", "-B", name, "-d", tmp_path / name, "-t", "2", *place(target)]):
                done = subprocess.run([*map(str, command)], capture_output=True, timeout=300)
                assert done.returncode == 0 and b"CRITICAL" not in done.stderr, done.stderr.decode(errors="replace")
        left_out = [f"--ignore-table=shop.{name}" for name in [*with_expressions(shop), "active_customer", "order_total", "big_order"]]
        mine, back = dump(shop, "shop", *left_out), dump(shop, "back")
        assert back.count(b"INSERT INTO `") >= 25
        assert back == mine.replace(b" ON DELETE RESTRICT", b"")
    finally:
        mariadb.remove()


def with_expressions(server):
    """Tables that mydumper 0.10 does not dump whole: it leaves out columns with a default that is an expression, and generated ones."""
    query = "SELECT DISTINCT TABLE_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'shop' AND EXTRA LIKE '%GENERATED%'"
    names = client(server, "mariadb", "-N", "-B", "-e", query).decode().split()
    assert 0 < len(names) < 8
    return names


def test_mydumper(shop, tmp_path):
    """Several threads on one snapshot under FLUSH TABLES WITH READ LOCK, and back with myloader. mydumper 0.10 makes a MyISAM table
    in a view's place first, and leaves out columns with a default that is an expression, taking them for generated ones."""
    mode = "SET GLOBAL sql_mode = REPLACE(@@GLOBAL.sql_mode, 'NO_ENGINE_SUBSTITUTION', '')"
    client(shop, "mariadb", "-e", mode)
    place = ["-h", "127.0.0.1", "-P", str(shop.port), "-u", "root"]
    for words in (["mydumper", "-B", "shop", "-o", tmp_path / "out", "-t", "3"], ["myloader", "-B", "loaded", "-d", tmp_path / "out", "-t", "2"]):
        done = subprocess.run([*map(str, words), *place], capture_output=True, timeout=300)
        assert done.returncode == 0 and b"CRITICAL" not in done.stderr, done.stderr.decode(errors="replace")
    client(shop, "mariadb", "-e", "SET GLOBAL sql_mode = DEFAULT")
    query = "SELECT DISTINCT TABLE_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'shop' AND EXTRA LIKE '%DEFAULT_GENERATED%'"
    left_out = client(shop, "mariadb", "-N", "-B", "-e", query).decode().split()
    others = [f"--ignore-table={schema}.{name}" for schema in ("shop", "loaded") for name in left_out]
    assert 0 < len(left_out) < 5
    assert dump(shop, "loaded", *others) == dump(shop, "shop", *others)
    assert dump(shop, "loaded", "--no-data") == dump(shop, "shop", "--no-data")
