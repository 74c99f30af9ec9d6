"""One account of memory for each statement, one for each connection, one for all: who goes beyond ends, and nobody else."""

import threading
import time

import pymysql
import pytest
from harness import rows, run, status, value, wait_until

MIB = 1 << 20
MEMORY_KIB = 512 * 1024
SIZES = ["--clearway_memory_size=512M", "--innodb_buffer_pool_size=64M"]
# A quarter of what the buffer pool leaves.
STATEMENT = (512 - 64) * MIB // 4


def code_of(connection, sql):
    with pytest.raises(pymysql.MySQLError) as ended:
        rows(connection, sql)
    return ended.value.args[0]


def is_closed(connection):
    try:
        value(connection, "SELECT 1")
    except pymysql.MySQLError:
        return True
    return False


@pytest.fixture
def limited(start, clearway_only):
    server = start(*SIZES)
    admin = server.connect()
    run("CREATE USER u@'%'", "GRANT ALL ON *.* TO u@'%'", "REVOKE SUPER, CONNECTION_ADMIN ON *.* FROM u@'%'", "CREATE DATABASE d",
        "CREATE TABLE d.n (i INT PRIMARY KEY)", "SET SESSION cte_max_recursion_depth = 100000",
        "INSERT INTO d.n WITH RECURSIVE r AS (SELECT 1 i UNION ALL SELECT i + 1 FROM r WHERE i < 2000) SELECT i FROM r", on=admin)
    return server, admin


def user(server, **words):
    return server.connect(user="u", database="d", **words)


# A few hundred thousand rows of half a kilobyte are several times what a statement may have.
WIDE = "CONCAT(REPEAT('x', 500), a.i, '-', b.i)"
GREEDY = {
    "members": f"SELECT JSON_LENGTH(JSON_OBJECTAGG({WIDE}, 1)) FROM n a, n b",
    "pieces": f"SELECT LENGTH(GROUP_CONCAT({WIDE} ORDER BY b.i)) FROM n a, n b",
    "a partition": f"SELECT MAX(m) FROM (SELECT MIN({WIDE}) OVER () m FROM n a, n b WHERE b.i <= 300) d",
    "rows of one key": "WITH w AS (SELECT DISTINCT b.i - b.i k, CONCAT(REPEAT('x', 2000), a.i, '-', b.i) v FROM n a, n b WHERE b.i <= 40) "
                       "SELECT COUNT(*) FROM w p JOIN w q ON p.k = q.k AND p.v < q.v",
    "a set": f"SELECT SUM(CONCAT(i, 'y') IN (SELECT {WIDE} FROM n a, n b)) FROM n",
    "EXCEPT": f"SELECT CONCAT(i, 'y') v FROM n EXCEPT SELECT {WIDE} FROM n a, n b",
    "DISTINCT values": f"SELECT COUNT(DISTINCT {WIDE}) FROM n a, n b",
    "a document": "SELECT JSON_LENGTH(CONCAT('[1', REPEAT(',1', 30000000), ']'))",
    "copies of a tree": "SELECT JSON_LENGTH(JSON_EXTRACT(CAST(CONCAT('[[]', REPEAT(',[]', 500000), ']') AS JSON), '$', '$', '$', '$', '$', '$', '$', '$'))",
    "a statement's text": "SELECT 1" + ",1" * 3000000,
}


@pytest.fixture(scope="module")
def small(kind):
    if kind != "clearway":
        pytest.skip("promised by Clearway only")
    import harness
    server = harness.Server(kind, *SIZES)
    try:
        connection = server.start().connect()
        run("CREATE DATABASE d", "CREATE TABLE d.n (i INT PRIMARY KEY)", "CREATE TABLE d.w (v TEXT)", "SET SESSION cte_max_recursion_depth = 100000",
            "INSERT INTO d.n WITH RECURSIVE r AS (SELECT 1 i UNION ALL SELECT i + 1 FROM r WHERE i < 2000) SELECT i FROM r", on=connection)
        yield server
    finally:
        server.remove()


@pytest.mark.parametrize("name", GREEDY)
def test_a_statement_ends_at_its_bound_and_gives_back(small, name):
    connection = small.connect(database="d", read_timeout=300, max_allowed_packet=64 * MIB)
    run("SET SESSION group_concat_max_len = 1073741824", "SET SESSION max_execution_time = 60000", on=connection)
    with pytest.raises(pymysql.MySQLError) as ended:
        rows(connection, GREEDY[name])
    assert ended.value.args == (3170, f"Memory capacity of {STATEMENT} bytes for 'statement' exceeded. The statement has ended.")
    # The session goes on, and what there was is there again.
    assert value(connection, "SELECT COUNT(*) FROM n") == 2000
    wait_until(lambda: small.memory_kib() < 256 * 1024, 30, "the memory does not come back")
    assert small.memory_kib("VmHWM") < MEMORY_KIB


def test_what_can_go_on_in_files_does(small):
    connection = small.connect(database="d", read_timeout=300)
    run("SET SESSION tmp_table_size = 4294967296", "SET SESSION max_heap_table_size = 4294967296", "SET SESSION sort_buffer_size = 4294967296", on=connection)
    text = "REPEAT('a', 100)"
    counted = value(connection, f"SELECT COUNT(*) FROM (SELECT DISTINCT a.i, b.i k, {text} v FROM n a, n b WHERE b.i <= 300 ORDER BY v, k, 1 LIMIT 2000000) d")
    assert counted == 600_000
    # Rows that are written: as they come, and kept apart where the query reads the same table.
    wide = "CONCAT(REPEAT('x', 4000), a.i, '-', b.i)"
    assert run(f"INSERT INTO w SELECT {wide} FROM n a, n b WHERE b.i <= 16", "INSERT INTO w SELECT v FROM w", on=connection) == 32_000
    run("TRUNCATE TABLE w", on=connection)


def test_connection_memory_limit(limited):
    server, admin = limited
    connection = user(server)
    greedy = "SELECT COUNT(DISTINCT a.i, b.i) FROM n a, n b"
    run("SET SESSION connection_memory_limit = 4194304", on=connection)
    with pytest.raises(pymysql.MySQLError) as ended:
        rows(connection, greedy)
    assert ended.value.args[0] == 4082
    assert ended.value.args[1].startswith("Connection closed. Connection memory limit 4194304 bytes exceeded. Consumed ")
    assert is_closed(connection)
    # Administrators have no such limit.
    run("SET SESSION connection_memory_limit = 4194304", "USE d", on=admin)
    assert value(admin, "SELECT COUNT(DISTINCT a.i, b.i) FROM n a, n b WHERE b.i < 500") == 2000 * 499
    # What stays with the connection counts, statement after statement.
    connection = user(server)
    run("SET SESSION connection_memory_limit = 16777216", on=connection)
    with pytest.raises(pymysql.MySQLError) as ended:
        for n in range(60):
            run(f"SET @v{n} = REPEAT('a', 1000000)", on=connection)
    assert ended.value.args[0] == 4082 and 10 < n < 20
    assert is_closed(connection)


def test_the_limits_are_guarded(limited):
    server, admin = limited
    run("CREATE USER v@'%'", on=admin)
    connection = server.connect(user="v")
    for name in ("connection_memory_limit", "connection_memory_chunk_size", "global_connection_memory_tracking"):
        assert code_of(connection, f"SET SESSION {name} = DEFAULT") == 1227
    assert code_of(connection, "SET GLOBAL global_connection_memory_limit = 16777216") == 1227
    run("GRANT SESSION_VARIABLES_ADMIN ON *.* TO v@'%'", on=admin)
    run("SET SESSION connection_memory_limit = 4194304", on=connection)


def test_global_connection_memory_limit(limited):
    server, admin = limited
    run("SET GLOBAL global_connection_memory_limit = 35651584", "SET GLOBAL global_connection_memory_tracking = ON", on=admin)
    holder = user(server)
    for n in range(26):
        run(f"SET @v{n} = REPEAT('a', 1000000)", on=holder)
    assert 24 * MIB < status(admin, "Global_connection_memory") < 33 * MIB
    small = user(server)
    # The one that has most goes, not the one that asks for more.
    assert value(small, "SELECT LENGTH(GROUP_CONCAT(DISTINCT a.i, '-', b.i)) FROM n a, n b WHERE b.i < 100") == 1024
    assert is_closed(holder)
    wait_until(lambda: status(admin, "Global_connection_memory") < 24 * MIB, 10, "what it had is still counted")
    with pytest.raises(pymysql.MySQLError) as ended:
        rows(small, "SELECT COUNT(DISTINCT a.i, b.i) FROM n a, n b")
    assert ended.value.args[0] == 4081
    assert ended.value.args[1].startswith("Connection closed. Global connection memory limit 35651584 bytes exceeded. Consumed ")
    assert is_closed(small)
    # Who is not tracked is not counted, and administrators are not ended.
    free = user(server)
    run("SET SESSION global_connection_memory_tracking = OFF", on=free)
    assert value(free, "SELECT COUNT(DISTINCT a.i, b.i) FROM n a, n b WHERE b.i < 500") == 2000 * 499
    run("SET SESSION global_connection_memory_tracking = ON", "USE d", on=admin)
    assert value(admin, "SELECT COUNT(DISTINCT a.i, b.i) FROM n a, n b WHERE b.i < 500") == 2000 * 499


def test_the_greediest_of_many_ends(limited):
    server, admin = limited
    greedy = f"SELECT COUNT(DISTINCT {WIDE}, {{}}) FROM n a, n b"
    outcomes = []

    def work(n):
        connection = server.connect(database="d", read_timeout=300)
        try:
            outcomes.append(rows(connection, greedy.format(n)))
        except pymysql.MySQLError as error:
            outcomes.append(error.args[0])

    threads = [threading.Thread(target=work, args=(n,), daemon=True) for n in range(6)]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + 100
    points = 0
    while any(thread.is_alive() for thread in threads):
        assert value(admin, "SELECT i FROM d.n WHERE i = 7") == 7
        points += 1
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert points > 0 and set(outcomes) <= {3170, 4081, 2013}
    assert server.memory_kib("VmHWM") < MEMORY_KIB
    assert server.process.poll() is None
