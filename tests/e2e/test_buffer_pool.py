"""The buffer pool's size while it is in use, and the list of its pages that a start reads again."""

import threading

import pymysql
import pytest
from harness import rows, run, status, value, wait_until

MIB = 1024 * 1024
SIZE = "SELECT @@GLOBAL.innodb_buffer_pool_size"


def words(connection, name):
    return rows(connection, f"SHOW GLOBAL STATUS LIKE 'Innodb_buffer_pool_{name}'")[0][1]


def resize(connection, mib):
    """Sets the size and waits until it is reached; what the statement warned of."""
    with connection.cursor() as cursor:
        cursor.execute(f"SET GLOBAL innodb_buffer_pool_size = {mib * MIB}")
        cursor.execute("SHOW WARNINGS")
        warnings = cursor.fetchall()
    done = lambda: words(connection, "resize_status").startswith(("Completed", "Size did not change"))
    wait_until(done, 60, "the pool's size is not reached")
    assert words(connection, "resize_status_code") == "0"
    return warnings


def fill(connection, rows_count):
    run("CREATE DATABASE IF NOT EXISTS d", "CREATE TABLE d.t (id INT PRIMARY KEY, n INT NOT NULL, filler VARCHAR(1000) NOT NULL)",
        "SET cte_max_recursion_depth = 1000000",
        f"""INSERT INTO d.t WITH RECURSIVE s(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < {rows_count})
            SELECT i, 0, REPEAT(CHAR(65 + i % 26), 900) FROM s""", on=connection)


@pytest.mark.usefixtures("clearway_only")
def test_the_size_follows_while_sessions_work(start):
    server = start("--innodb_buffer_pool_size=24M", "--innodb_buffer_pool_chunk_size=1M")
    connection = server.connect()
    count = 40_000
    fill(connection, count)
    assert status(connection, "Innodb_buffer_pool_pages_total") == 24 * MIB // 16384
    stop, updated, failures = threading.Event(), [0, 0], []

    def work(number):
        mine = server.connect()
        try:
            at = number
            while not stop.is_set():
                at = (at + 7919) % count
                run(f"UPDATE d.t SET n = n + 1 WHERE id = {at + 1}", on=mine)
                updated[number] += 1
        except pymysql.Error as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for mib in [96, 8, 48, 6, 24]:
        assert resize(connection, mib) == ()
        assert value(connection, SIZE) == mib * MIB
        assert status(connection, "Innodb_buffer_pool_pages_total") == mib * MIB // 16384
        assert status(connection, "Innodb_buffer_pool_pages_data") <= mib * MIB // 16384
        assert words(connection, "resize_status_progress") == "100"
    stop.set()
    for thread in threads:
        thread.join()
    assert failures == []
    assert value(connection, "SELECT SUM(n) FROM d.t") == sum(updated)
    server.stop()
    server.assert_sound()


@pytest.mark.usefixtures("clearway_only")
def test_memory_goes_back_to_the_kernel(start):
    server = start("--innodb_buffer_pool_size=96M", "--innodb_buffer_pool_chunk_size=8M")
    connection = server.connect()
    fill(connection, 60_000)
    full = server.memory_kib()
    resize(connection, 8)
    assert full - server.memory_kib() > 40 * 1024, (full, server.memory_kib())


def test_sizes_are_whole_chunks(start):
    """As MySQL 9.7 answers, whose chunks are 128 MiB by default too."""
    server = start("--innodb_buffer_pool_size=256M")
    connection = server.connect()
    before = value(connection, SIZE)
    chunk = value(connection, "SELECT @@innodb_buffer_pool_chunk_size")
    truncated = "Truncated incorrect innodb_buffer_pool_size value: '{}'"
    small = f"InnoDB: Cannot resize buffer pool to lesser than chunk size of {chunk} bytes."
    cases = [
        (1, before, [(1292, truncated.format(1)), (1210, small)]),
        (5 * MIB, before, [(1210, small)]),
        (2 * chunk + 1, 2 * chunk, [(1292, truncated.format(2 * chunk + 1))]),
        (2 * chunk + MIB, 3 * chunk, [(1292, truncated.format(2 * chunk + MIB))]),
    ]
    for asked, then, warnings in cases:
        run(f"SET GLOBAL innodb_buffer_pool_size = {asked}", on=connection)
        told = rows(connection, "SHOW WARNINGS")
        wait_until(lambda: words(connection, "resize_status_code") == "0", 60, "the size")
        assert [(code, text) for _, code, text in told] == warnings, asked
        assert value(connection, SIZE) == then, asked
    run(f"SET GLOBAL innodb_buffer_pool_size = {before}", on=connection)
    wait_until(lambda: words(connection, "resize_status_code") == "0", 60, "the size")
    run(f"SET GLOBAL innodb_buffer_pool_size = {before}", on=connection)
    unchanged = f"Size did not change (old size = new size = {before}. Nothing to do."
    assert words(connection, "resize_status") == unchanged
    for wrong in ["'256M'", "1.5"]:
        with pytest.raises(pymysql.Error) as refused:
            run(f"SET GLOBAL innodb_buffer_pool_size = {wrong}", on=connection)
        assert refused.value.args[0] == 1232


@pytest.mark.usefixtures("clearway_only")
def test_there_are_addresses_for_so_many_pages_only(start):
    server = start("--innodb_buffer_pool_size=16M", "--clearway_address_space_size=1G")
    connection = server.connect()
    run(f"SET GLOBAL innodb_buffer_pool_size = {2048 * MIB}", on=connection)
    assert value(connection, SIZE) == 16 * MIB
    assert words(connection, "resize_status").startswith("Resizing buffer pool failed, finished resizing at ")
    assert words(connection, "resize_status_code") == "7"


@pytest.mark.usefixtures("clearway_only")
def test_a_start_brings_back_what_was_in_memory(start):
    server = start("--innodb_buffer_pool_size=32M", "--innodb_buffer_pool_dump_pct=100")
    connection = server.connect()
    fill(connection, 20_000)
    before = status(connection, "Innodb_buffer_pool_pages_data")
    assert words(connection, "dump_status") == "Dumping of buffer pool not started"
    server.stop()
    lines = (server.datadir / "ib_buffer_pool").read_text().splitlines()
    assert len(lines) >= before * 9 // 10 and all(line.startswith("0,") for line in lines)
    server.start()
    connection = server.connect()
    loaded = lambda: words(connection, "load_status").startswith("Buffer pool(s) load completed at ")
    wait_until(loaded, 60, "the list is not read")
    assert status(connection, "Innodb_buffer_pool_pages_data") >= before * 9 // 10
    reads = status(connection, "Innodb_buffer_pool_reads")
    assert value(connection, "SELECT SUM(LENGTH(filler)) FROM d.t") == 900 * 20_000
    assert status(connection, "Innodb_buffer_pool_reads") - reads < 20, "the table is in memory"

    # On demand, under another name; the switches stay off.
    run("SET GLOBAL innodb_buffer_pool_filename = 'other_list'", "SET GLOBAL innodb_buffer_pool_dump_pct = 10",
        "SET GLOBAL innodb_buffer_pool_dump_now = ON", on=connection)
    dumped = lambda: words(connection, "dump_status").startswith("Buffer pool(s) dump completed at ")
    wait_until(dumped, 60, "the list is not written")
    assert len((server.datadir / "other_list").read_text().splitlines()) <= before // 5
    run("SET GLOBAL innodb_buffer_pool_load_now = ON", "SET GLOBAL innodb_buffer_pool_load_abort = ON", on=connection)
    assert rows(connection, """SELECT @@innodb_buffer_pool_dump_now, @@innodb_buffer_pool_load_now,
        @@innodb_buffer_pool_load_abort""") == ((0, 0, 0),)

    # A file that is no list is left alone, in both directions, and said so.
    (server.datadir / "other_list").write_text("mine\n")
    run("SET GLOBAL innodb_buffer_pool_load_now = ON", "SET GLOBAL innodb_buffer_pool_dump_now = ON", on=connection)
    wait_until(lambda: words(connection, "load_status").startswith("Error parsing "), 60, "the load")
    wait_until(lambda: words(connection, "dump_status").startswith("Error parsing "), 60, "the dump")
    assert (server.datadir / "other_list").read_text() == "mine\n"
    assert "is no list of pages" in server.log_text()


@pytest.mark.usefixtures("clearway_only")
def test_a_start_without_the_list_and_a_stop_that_writes_none(start):
    server = start("--innodb_buffer_pool_dump_at_shutdown=OFF")
    connection = server.connect()
    unread = lambda: words(connection, "load_status").startswith("Cannot open ")
    wait_until(unread, 60, "there is no list")
    server.stop()
    assert not (server.datadir / "ib_buffer_pool").exists()
    server.options = ["--innodb_buffer_pool_load_at_startup=OFF", "--innodb_flush_method=O_DIRECT_NO_FSYNC"]
    server.start()
    connection = server.connect()
    assert words(connection, "load_status") == "Loading of buffer pool not started"
    assert value(connection, "SELECT @@innodb_flush_method") == "O_DIRECT"
    assert "'O_DIRECT_NO_FSYNC' has no effect" in server.log_text()
