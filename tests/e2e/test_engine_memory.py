"""Engine MEMORY over restarts: the tables stay, their rows go, and so do their counters; tables of InnoDB keep theirs."""

from harness import rows, run, value


def fill(db):
    run("CREATE DATABASE d", on=db)
    for name, engine in (("gone", "MEMORY"), ("kept", "InnoDB")):
        run(f"CREATE TABLE d.{name} (id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(10), KEY (v)) ENGINE={engine}", on=db)
        run(f"INSERT INTO d.{name} (v) VALUES ('a'), ('b'), ('c')", on=db)


def check(db):
    assert rows(db, "SELECT * FROM d.gone") == ()
    assert value(db, "SELECT COUNT(*) FROM d.gone FORCE INDEX (v) WHERE v >= 'a'") == 0
    assert value(db, "SELECT COUNT(*) FROM d.kept") == 3
    run("INSERT INTO d.gone (v) VALUES ('d')", on=db)
    assert rows(db, "SELECT * FROM d.gone") == ((1, "d"),)
    assert "ENGINE=MEMORY" in rows(db, "SHOW CREATE TABLE d.gone")[0][1]


def test_rows_go_at_a_restart(start):
    server = start()
    fill(server.connect())
    assert server.stop() == 0
    server.start()
    check(server.connect())
    # And once more, from the trees that the start has made.
    assert server.stop() == 0
    server.start()
    check(server.connect())


def test_rows_go_at_a_crash(start):
    """With a transaction in the middle, whose undo leads into trees that are gone after the start."""
    server = start()
    db = server.connect()
    fill(db)
    open_transaction = server.connect()
    run("BEGIN", on=open_transaction)
    run("UPDATE d.gone SET v = 'x'", on=open_transaction)
    run("UPDATE d.kept SET v = 'x'", on=open_transaction)
    # Waits for the log up to here: what is to be undone is there after the crash.
    run("CREATE TABLE d.later (a INT)", on=db)
    server.kill()
    server.start()
    db = server.connect()
    check(db)
    assert rows(db, "SELECT v FROM d.kept ORDER BY v") == (("a",), ("b",), ("c",))
