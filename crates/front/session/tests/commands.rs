//! Commands of the protocol, end to end in one process: prepared statements, cursors, long data, several statements in one
//! command, a session that starts over, KILL and deadlines.

mod common;

use common::{Answer, CURSOR_EXISTS, LAST_ROW_SENT, MORE_RESULTS, Row, TestServer};
use std::time::{Duration, Instant};

fn texts(values: &[&str]) -> Vec<Row> {
    values.iter().map(|v| vec![Some(v.to_string())]).collect()
}

fn filled(server: &TestServer) -> common::Client {
    let mut client = server.root();
    client.run("CREATE DATABASE d");
    client.run("USE d");
    client.run("CREATE TABLE t (id INT PRIMARY KEY, c VARCHAR(20))");
    client.run("INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, NULL)");
    client
}

#[test]
fn cursors_hand_out_rows_in_portions() {
    let server = TestServer::new();
    let mut client = filled(&server);
    let id = client.prepare("SELECT c FROM t WHERE id >= ? ORDER BY id").unwrap();
    assert_eq!(client.execute(id, 1, &[Some("1")]), Answer::Rows(Vec::new()));
    assert_ne!(client.status & CURSOR_EXISTS, 0);
    assert_eq!(client.fetch(id, 3, 1).unwrap(), texts(&["a", "b", "c"]));
    assert_eq!(client.status & LAST_ROW_SENT, 0);
    // Other statements may come in between, and the cursor does not see what they change.
    client.run("DELETE FROM t WHERE id = 4");
    assert_eq!(client.fetch(id, 3, 1).unwrap(), [[None]]);
    assert_ne!(client.status & LAST_ROW_SENT, 0);
    assert_eq!(client.fetch(id, 1, 1), Err(1421), "the cursor is closed");
    // A new execution without a cursor, with other values; RESET closes an open one.
    assert_eq!(client.execute(id, 0, &[Some("3")]), Answer::Rows(texts(&["c"])));
    client.execute(id, 1, &[Some("1")]);
    assert!(matches!(client.command(0x1a, &id.to_le_bytes()), Answer::Ok { .. }));
    assert_eq!(client.fetch(id, 1, 1), Err(1421));
    // CLOSE has no answer; the id is gone.
    client.send(0x19, &id.to_le_bytes());
    assert!(matches!(client.execute(id, 0, &[Some("1")]), Answer::Error(1243, _)));
}

#[test]
fn long_data_comes_in_pieces() {
    let server = TestServer::new();
    let mut client = filled(&server);
    let id = client.prepare("INSERT INTO t VALUES (?, ?)").unwrap();
    for piece in ["lo", "ng"] {
        client.send(0x18, &[&id.to_le_bytes()[..], &1u16.to_le_bytes(), piece.as_bytes()].concat());
    }
    assert_eq!(client.execute(id, 0, &[Some("7"), None]), Answer::Ok { affected: 1, insert_id: 0 });
    assert_eq!(client.value("SELECT c FROM t WHERE id = 7"), "long");
    // It is used up: the next execution brings its own value.
    assert_eq!(client.execute(id, 0, &[Some("8"), Some("x")]), Answer::Ok { affected: 1, insert_id: 0 });
    assert_eq!(client.value("SELECT c FROM t WHERE id = 8"), "x");
}

#[test]
fn a_plan_follows_the_dictionary_and_the_character_set() {
    let server = TestServer::new();
    let mut client = filled(&server);
    let id = client.prepare("SELECT * FROM t WHERE id = ?").unwrap();
    let narrow = client.prepare("SELECT c FROM t WHERE id = ?").unwrap();
    assert_eq!(client.execute(narrow, 0, &[Some("1")]), Answer::Rows(texts(&["a"])));
    client.run("ALTER TABLE t DROP COLUMN c");
    client.run("ALTER TABLE t ADD COLUMN c VARCHAR(20) DEFAULT 'é'");
    assert_eq!(client.execute(narrow, 0, &[Some("1")]), Answer::Rows(texts(&["é"])));
    client.run("ALTER TABLE t DROP COLUMN c");
    assert!(matches!(client.execute(narrow, 0, &[Some("1")]), Answer::Error(1054, _)));
    // The key goes too: else, as in MySQL, the column that takes the name takes its place in the key.
    client.run("ALTER TABLE t DROP PRIMARY KEY, DROP id, ADD id VARCHAR(5) DEFAULT '1', ADD e VARCHAR(5) DEFAULT 'é'");
    let all = client.execute(id, 0, &[Some("1")]);
    let Answer::Rows(rows) = all else { panic!("{all:?}") };
    assert_eq!(rows[0].len(), 2);
    // A kept result head does not outlive SET NAMES, not even in the same command.
    client.send(3, "SELECT e FROM t LIMIT 1; SET NAMES latin1; SELECT e FROM t LIMIT 1".as_bytes());
    assert_eq!(client.answer(false), Answer::Rows(texts(&["é"])));
    client.answer(false);
    // latin1's single byte is no valid UTF-8.
    assert_eq!(client.answer(false), Answer::Rows(texts(&["\u{fffd}"])));
}

#[test]
fn several_statements_in_one_command() {
    let server = TestServer::new();
    let mut client = filled(&server);
    client.send(3, b"SELECT c FROM t WHERE id = 1; INSERT INTO t VALUES (9, 'z'); SELECT nothing; SELECT 1");
    assert_eq!(client.answer(false), Answer::Rows(texts(&["a"])));
    assert_ne!(client.status & MORE_RESULTS, 0);
    assert_eq!(client.answer(false), Answer::Ok { affected: 1, insert_id: 0 });
    assert_ne!(client.status & MORE_RESULTS, 0);
    assert!(matches!(client.answer(false), Answer::Error(1054, _)), "the rest is not run");
    assert_eq!(client.value("SELECT c FROM t WHERE id = 9"), "z");
    // COM_SET_OPTION 1 switches it off.
    client.send(0x1b, &[1, 0]);
    client.read();
    assert_eq!(client.error("SELECT 1; SELECT 2"), 1064);
}

#[test]
fn a_session_starts_over() {
    let server = TestServer::new();
    let mut client = filled(&server);
    client.run("CREATE USER u IDENTIFIED BY 'secret'");
    let id = client.prepare("SELECT 1").unwrap();
    let dirty = |client: &mut common::Client| {
        client.run("SET @a = 1, sql_select_limit = 1");
        client.run("BEGIN");
        client.run("DELETE FROM t");
    };
    let clean = |client: &mut common::Client| {
        assert_eq!(client.value("SELECT @a"), "NULL");
        assert_eq!(client.rows("SELECT c FROM d.t").len(), 4, "rolled back, and no limit");
    };
    dirty(&mut client);
    assert!(matches!(client.command(0x1f, &[]), Answer::Ok { .. }));
    clean(&mut client);
    assert!(matches!(client.execute(id, 0, &[]), Answer::Error(1243, _)));
    assert_eq!(client.value("SELECT DATABASE()"), "d", "RESET CONNECTION keeps the database");
    dirty(&mut client);
    client.change_user("root", "", "d").unwrap();
    clean(&mut client);
    client.change_user("u", "secret", "").unwrap();
    assert_eq!(client.value("SELECT CURRENT_USER()"), "u@%");
    assert_eq!(client.value("SELECT DATABASE()"), "NULL");
    assert_eq!(client.error("SELECT * FROM d.t"), 1142);
    assert_eq!(client.change_user("u", "wrong", "").unwrap_err().0, 1045);
    assert!(client.read().is_empty(), "a refused change of user ends the connection");
}

/// Waits until the connection executes something that its process list entry shows.
fn await_running(client: &mut common::Client, id: u32, text: &str) {
    let query = format!("SELECT info FROM information_schema.processlist WHERE id = {id} AND command <> 'Sleep'");
    let deadline = Instant::now() + Duration::from_secs(30);
    while client.rows(&query) != texts(&[text]) {
        assert!(Instant::now() < deadline, "{text} does not run");
        std::thread::yield_now();
    }
}

#[test]
fn kill_ends_a_statement_at_once() {
    let server = TestServer::new();
    let (mut victim, mut killer) = (filled(&server), server.root());
    // As text, then prepared: both are shown while they run. The faster one counts, for the machine may be busy.
    let mut fastest = Duration::MAX;
    for prepared in [false, true] {
        let text = "SELECT SLEEP(100)";
        match prepared {
            false => victim.send(3, text.as_bytes()),
            true => {
                let id = victim.prepare(text).unwrap();
                victim.send(0x17, &[&id.to_le_bytes()[..], &[0], &1u32.to_le_bytes()].concat());
            }
        }
        await_running(&mut killer, victim.id, text);
        let since = Instant::now();
        killer.run(&format!("KILL QUERY {}", victim.id));
        match victim.answer(prepared) {
            // SLEEP that is interrupted yields 1, as in MySQL; a query may also end with 1317.
            Answer::Rows(_) | Answer::Error(1317, _) => {}
            other => panic!("{other:?}"),
        }
        fastest = fastest.min(since.elapsed());
        assert_eq!(victim.value("SELECT 1"), "1", "the connection lives");
    }
    assert!(fastest < Duration::from_millis(100), "{fastest:?}");
    victim.run("BEGIN");
    victim.run("DELETE FROM t");
    killer.run(&format!("KILL {}", victim.id));
    assert!(victim.read().is_empty());
    drop(victim);
    assert_eq!(killer.value("SELECT COUNT(*) FROM d.t"), "4", "its transaction is undone");
    assert_eq!(killer.error("KILL 999999"), 1094);
}

#[test]
fn a_deadline_ends_a_query() {
    let server = TestServer::new();
    let mut client = filled(&server);
    client.run("SET max_execution_time = 30");
    let since = Instant::now();
    // 4^12 rows: minutes, if nobody ends it.
    let tables = ["t"; 12].iter().enumerate().map(|(i, t)| format!("{t} t{i}")).collect::<Vec<_>>().join(", ");
    // A condition that no order of the joins can look at before the last.
    let sum = (0..12).map(|i| format!("t{i}.id")).collect::<Vec<_>>().join(" + ");
    assert_eq!(client.error(&format!("SELECT COUNT(*) FROM {tables} WHERE {sum} > 1000")), 3024);
    assert!(since.elapsed() < Duration::from_secs(2), "{:?}", since.elapsed());
    client.run("SET max_execution_time = 0");
    assert_eq!(client.value("SELECT COUNT(*) FROM t"), "4");
}
