"""Performance Schema of a server that has just begun: sizes that options set, and nothing that no client has done."""

from harness import rows, run, status


def test_options_say_how_much_is_kept(start, clearway_only):
    c = start("--performance-schema-events-statements-history-size=3", "--performance-schema-events-transactions-history-size=5",
              "--performance-schema-events-waits-history-size=2", "--performance-schema-events-stages-history-size=0",
              "--performance-schema-consumer-events-waits-current=ON", "--performance-schema-consumer-events-waits-history=ON",
              "--performance-schema-digests-size=4", "--performance-schema-max-digest-sample-age=0").connect()
    run("COMMIT", "CREATE DATABASE d", "CREATE TABLE d.t (a INT)", on=c)
    for n in range(12):
        run("BEGIN", f"INSERT INTO d.t VALUES ({n})", "COMMIT", on=c)
    kept = {kind: rows(c, f"SELECT COUNT(*) FROM performance_schema.events_{kind}_history WHERE THREAD_ID = CONNECTION_ID()")[0][0]
            for kind in ("statements", "transactions", "waits", "stages")}
    assert kept == {"statements": 3, "transactions": 5, "waits": 2, "stages": 0}
    digests = rows(c, "SELECT DIGEST IS NULL FROM performance_schema.events_statements_summary_by_digest")
    assert sorted(digests) == [(0,), (0,), (0,), (1,)]
    assert int(status(c, "Performance_schema_digest_lost")) > 0
    names = ("events_statements_history_size", "events_transactions_history_size", "events_waits_history_size",
             "events_stages_history_size", "digests_size", "max_digest_sample_age")
    assert [rows(c, f"SELECT @@performance_schema_{name}")[0][0] for name in names] == [3, 5, 2, 0, 4, 0]
    run("SET GLOBAL performance_schema_max_digest_sample_age = 7", on=c)
    assert rows(c, "SELECT @@performance_schema_max_digest_sample_age")[0][0] == 7


def test_a_new_server_has_counted_nothing(start, clearway_only):
    c = start().connect()
    counts = dict(rows(c, "SHOW GLOBAL STATUS WHERE variable_name LIKE 'Com_create%' OR variable_name = 'Handler_write'"))
    assert set(counts.values()) == {"0"}
    assert int(status(c, "Queries")) < 20
    assert {user for user, in rows(c, "SELECT user FROM performance_schema.accounts")} <= {None, "root", "event_scheduler"}


def test_the_engine_tells_what_its_records_take(start, clearway_only):
    server = start()
    c = server.connect()
    told = {name: int(n) for _, name, n in rows(c, "SHOW ENGINE PERFORMANCE_SCHEMA STATUS")}
    # This session's, and perhaps one of before.
    assert told["events_statements_history.count"] >= 11 and told["events_statements_history.count"] % 11 == 0
    parts = ["statements", "transactions", "stages", "waits"]
    assert told["performance_schema.memory"] == sum(told[f"events_{part}_history.memory"] for part in parts) > 0
    more = [server.connect() for _ in range(3)]
    for session in more:
        run("DO 1", on=session)
    grown = {name: int(n) for _, name, n in rows(c, "SHOW ENGINE PERFORMANCE_SCHEMA STATUS")}
    assert grown["events_statements_history.memory"] > told["events_statements_history.memory"]


def test_nothing_is_collected_without_performance_schema(start, clearway_only):
    c = start("--performance-schema=OFF").connect()
    run("CREATE DATABASE d", "CREATE TABLE d.t (a INT)", "INSERT INTO d.t VALUES (1)", "COMMIT", on=c)
    tables = [name for name, in rows(c, "SELECT table_name FROM information_schema.tables WHERE table_schema = 'performance_schema'")]
    told = [name for name in tables if rows(c, f"SELECT 1 FROM performance_schema.`{name}` LIMIT 1")]
    # As of a MySQL that was started so.
    assert sorted(told) == ["global_status", "global_variables", "innodb_redo_log_files", "log_status", "session_status",
                            "session_variables", "variables_info"]


def test_a_large_table_is_made_as_it_is_read(start, clearway_only):
    server = start()
    c = server.connect()
    run("CREATE USER reader", "GRANT SELECT ON performance_schema.* TO reader", "SET GLOBAL connection_memory_limit = 2097152", on=c)
    sessions = [server.connect() for _ in range(30)]
    reader = server.connect(user="reader")
    for table in ("events_errors_summary_by_thread_by_error", "events_statements_summary_by_thread_by_event_name"):
        # Some 9 and 6 MiB, were all rows there at once.
        count, threads = rows(reader, f"SELECT COUNT(*), COUNT(DISTINCT thread_id) FROM performance_schema.{table}")[0]
        assert threads >= len(sessions) and count % threads == 0 and count > 200 * threads
