//! Transactions, data definition and accounts, as sessions see them; what is left after a restart and after a crash.

mod common;

use common::{Answer, TestServer};

#[test]
fn set_transaction_has_three_scopes() {
    let server = TestServer::new();
    let mut client = server.root();
    client.run("CREATE DATABASE d");
    client.run("USE d");
    client.run("CREATE TABLE t (id INT PRIMARY KEY)");
    let mut other = server.login("root", "", "d").unwrap();
    // Does a transaction that has read once see what another one commits then?
    let mut sees = |client: &mut common::Client| {
        client.run("BEGIN");
        let before = client.value("SELECT COUNT(*) FROM t");
        other.run("INSERT INTO t SELECT COALESCE(MAX(id), 0) + 1 FROM t");
        let seen = client.value("SELECT COUNT(*) FROM t") != before;
        client.run("COMMIT");
        seen
    };
    assert!(!sees(&mut client), "REPEATABLE READ is the default");
    for next in ["SET @@transaction_isolation = 'READ-COMMITTED'", "SET TRANSACTION ISOLATION LEVEL READ COMMITTED"] {
        client.run(next);
        assert_eq!(client.value("SELECT @@transaction_isolation"), "REPEATABLE-READ");
        assert!(sees(&mut client), "{next}: the next transaction");
        assert!(!sees(&mut client), "{next}: only that one");
        // An empty transaction is the next one too.
        client.run(next);
        client.run("BEGIN");
        client.run("COMMIT");
        assert!(!sees(&mut client));
    }
    client.run("SET transaction_isolation = 'READ-COMMITTED'");
    assert!(sees(&mut client) && sees(&mut client), "without @@ it is the session's");
    client.run("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ");
    assert!(!sees(&mut client));
    client.run("SET TRANSACTION READ ONLY");
    client.run("BEGIN");
    assert_eq!(client.error("DELETE FROM t"), 1792);
    assert_eq!(client.error("SET TRANSACTION READ WRITE"), 1568);
    assert_eq!(client.error("SET @@transaction_read_only = 0"), 1568);
    client.run("ROLLBACK");
    client.run("DELETE FROM t");
}

#[test]
fn variables_are_obeyed_or_refused() {
    let server = TestServer::new();
    let mut client = server.root();
    for refused in ["GLOBAL innodb_spin_wait_delay = 7", "GLOBAL server_id_bits = 7", "optimizer_switch = 'x'"] {
        assert_eq!(client.error(&format!("SET {refused}")), 1231, "{refused}");
    }
    client.run("SET sql_safe_updates = 0, sql_quote_show_create = 1");
    assert_eq!(client.error("SET no_such_thing = 1"), 1193);
    assert_eq!(client.error("SET GLOBAL version = 'x'"), 1238);
    client.run("SET GLOBAL innodb_flush_log_at_trx_commit = 2");
    assert_eq!(server.engine.flush_log_at_commit(), 2);
    client.run("SET GLOBAL innodb_flush_log_at_trx_commit = DEFAULT");
    assert_eq!(server.engine.flush_log_at_commit(), 1);
    // What sysbench's prewarm sends.
    client.run("SET tmp_table_size = 2*1024*1024*1024, max_heap_table_size = 2*1024*1024*1024");
    assert_eq!(client.value("SELECT @@tmp_table_size"), "2147483648");
}

#[test]
fn a_lock_wait_ends() {
    let server = TestServer::new();
    let (mut a, mut b) = (server.root(), server.root());
    a.run("CREATE DATABASE d");
    a.run("CREATE TABLE d.t (id INT PRIMARY KEY, v INT)");
    a.run("INSERT INTO d.t VALUES (1, 0)");
    a.run("BEGIN");
    a.run("UPDATE d.t SET v = 1 WHERE id = 1");
    b.run("SET innodb_lock_wait_timeout = 1");
    assert_eq!(b.error("UPDATE d.t SET v = 2 WHERE id = 1"), 1205);
    assert_eq!(b.error("SELECT * FROM d.t WHERE id = 1 FOR UPDATE NOWAIT"), 3572);
    assert_eq!(b.value("SELECT v FROM d.t"), "0");
    a.run("COMMIT");
    assert_eq!(b.value("SELECT v FROM d.t"), "1");
}

/// Rows of a locking read that fill many buffers.
#[test]
fn a_large_locking_read_arrives_whole() {
    let server = TestServer::new();
    let mut client = server.root();
    client.run("CREATE DATABASE d");
    client.run("USE d");
    client.run("CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, c CHAR(200))");
    client.run("INSERT INTO t (c) VALUES (REPEAT('x', 200)), (REPEAT('y', 200))");
    for _ in 0..10 {
        client.run("INSERT INTO t (c) SELECT c FROM t");
    }
    let plain = client.rows("SELECT * FROM t ORDER BY id");
    assert_eq!(plain.len(), 2048);
    assert_eq!(client.rows("SELECT * FROM t ORDER BY id FOR UPDATE"), plain);
    client.run("SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE");
    client.run("BEGIN");
    assert_eq!(client.rows("SELECT * FROM t ORDER BY id"), plain);
    client.run("COMMIT");
}

#[test]
fn data_definition_waits_for_transactions() {
    let server = TestServer::new();
    let (mut reader, mut definer) = (server.root(), server.root());
    reader.run("CREATE DATABASE d");
    reader.run("CREATE TABLE d.t (id INT PRIMARY KEY)");
    reader.run("INSERT INTO d.t VALUES (1)");
    reader.run("BEGIN");
    assert_eq!(reader.value("SELECT COUNT(*) FROM d.t"), "1");
    definer.run("SET lock_wait_timeout = 1");
    assert_eq!(definer.error("DROP TABLE d.t"), 1205, "the transaction uses it");
    assert_eq!(reader.value("SELECT COUNT(*) FROM d.t"), "1");
    reader.run("COMMIT");
    definer.run("DROP TABLE d.t");
    assert_eq!(reader.error("SELECT COUNT(*) FROM d.t"), 1146);
}

#[test]
fn grants_are_enforced_in_running_sessions() {
    let server = TestServer::new();
    let mut root = server.root();
    root.run("CREATE DATABASE d");
    root.run("CREATE TABLE d.t (id INT PRIMARY KEY)");
    root.run("CREATE USER u@localhost IDENTIFIED BY 'p'");
    assert_eq!(server.login("u", "wrong", "").err().map(|e| e.0), Some(1045));
    assert_eq!(server.login("u", "p", "d").err().map(|e| e.0), Some(1044));
    let mut user = server.login("u", "p", "").unwrap();
    assert_eq!(user.error("SELECT * FROM d.t"), 1142);
    root.run("GRANT SELECT ON d.t TO u@localhost");
    let id = user.prepare("SELECT * FROM d.t").unwrap();
    assert_eq!(user.execute(id, 0, &[]), Answer::Rows(Vec::new()));
    assert_eq!(user.error("INSERT INTO d.t VALUES (1)"), 1142);
    assert_eq!(user.error("CREATE TABLE d.x (id INT)"), 1142);
    assert_eq!(user.error("DROP DATABASE d"), 1044);
    assert_eq!(user.error("SET GLOBAL max_connections = 10"), 1227);
    assert_eq!(user.error("CREATE USER v"), 1227);
    root.run("REVOKE SELECT ON d.t FROM u@localhost");
    assert!(matches!(user.execute(id, 0, &[]), Answer::Error(1142, _)), "a prepared statement is no loophole");
    root.run("DROP USER u@localhost");
    assert_eq!(server.login("u", "p", "").err().map(|e| e.0), Some(1045));
}

#[test]
fn analyze_answers_as_mysql_does() {
    let server = TestServer::new();
    let mut client = server.root();
    client.run("CREATE DATABASE d");
    client.run("CREATE TABLE d.t (id INT PRIMARY KEY)");
    let row = |words: [&str; 4]| words.map(|w| Some(w.to_string())).to_vec();
    let rows = client.rows("ANALYZE TABLE d.t, d.missing");
    assert_eq!(rows[0], row(["d.t", "analyze", "status", "OK"]));
    assert_eq!(rows[1], row(["d.missing", "analyze", "Error", "Table 'd.missing' doesn't exist"]));
    assert_eq!(rows[2], row(["d.missing", "analyze", "status", "Operation failed"]));
    assert_eq!(client.rows("CHECK TABLE d.t"), [row(["d.t", "check", "status", "OK"])]);
}

/// Everything that a fresh server reads back: tables with all that SHOW CREATE TABLE says, rows, counters, accounts.
#[test]
fn restart_and_crash_keep_everything() {
    let server = TestServer::new();
    let mut client = server.root();
    client.run("CREATE DATABASE d COLLATE utf8mb4_bin");
    client.run("USE d");
    client.run(
        "CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, a DECIMAL(10,3) DEFAULT 1.5, b VARCHAR(9) NOT NULL \
         DEFAULT 'x', \
         c TIMESTAMP DEFAULT CURRENT_TIMESTAMP, UNIQUE KEY ab (a, b), KEY b (b DESC)) COMMENT 'words'",
    );
    client.run("CREATE TABLE dropped (id INT)");
    client.run("DROP TABLE dropped");
    client.run("INSERT INTO t (a, b) VALUES (1, 'p'), (2, 'q')");
    client.run("CREATE USER u IDENTIFIED BY 'p'");
    client.run("GRANT ALL ON d.* TO u");
    client.run("BEGIN");
    client.run("INSERT INTO t (a, b) VALUES (3, 'open')");
    let definition = client.rows("SHOW CREATE TABLE t");
    let crashed = server.crash_image();
    client.run("ROLLBACK");
    drop(client);
    let closed = server.close();
    for directory in [closed, crashed] {
        let server = TestServer::open(directory);
        let mut user = server.login("u", "p", "d").unwrap();
        // The next AUTO_INCREMENT value may differ: it never goes back.
        let found = user.rows("SHOW CREATE TABLE t");
        assert_eq!(without_counter(&found), without_counter(&definition));
        assert_eq!(user.rows("SHOW TABLES").len(), 1);
        assert_eq!(user.value("SELECT GROUP_CONCAT(b ORDER BY id) FROM t"), "p,q");
        assert_eq!(user.value("SELECT COUNT(*) FROM t FORCE INDEX (ab) WHERE a >= 0"), "2");
        let Answer::Ok { insert_id, .. } = user.query("INSERT INTO t (a, b) VALUES (9, 'new')") else { panic!() };
        assert!(insert_id >= 3, "{insert_id} was given before");
        drop(user);
        let directory = server.close();
        std::fs::remove_dir_all(directory).unwrap();
    }
}

fn without_counter(rows: &[common::Row]) -> String {
    let definition = rows[0][1].as_deref().unwrap();
    definition.split(' ').filter(|w| !w.starts_with("AUTO_INCREMENT=")).collect::<Vec<_>>().join(" ")
}
