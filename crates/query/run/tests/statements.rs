//! Statements end to end on the engine.

mod common;

use common::{Database, int, varchar};
use types::{DataType, TypeKind, Value};

#[test]
fn the_statements_of_sysbench() {
    let mut db = Database::new();
    db.sbtest(20);
    assert_eq!(db.rows("SELECT c FROM sbtest1 WHERE id=7"), ["c1"]);
    assert_eq!(db.rows("SELECT c FROM sbtest1 WHERE id BETWEEN 3 AND 5"), ["c0", "c1", "c2"]);
    assert_eq!(db.rows("SELECT SUM(k) FROM sbtest1 WHERE id BETWEEN 1 AND 4"), ["100"]);
    assert_eq!(db.rows("SELECT c FROM sbtest1 WHERE id BETWEEN 3 AND 5 ORDER BY c"), ["c0", "c1", "c2"]);
    assert_eq!(db.rows("SELECT DISTINCT c FROM sbtest1 WHERE id BETWEEN 1 AND 9 ORDER BY c"), ["c0", "c1", "c2"]);
    assert_eq!(db.change("UPDATE sbtest1 SET k=k+1 WHERE id=7"), 1);
    assert_eq!(db.rows("SELECT id FROM sbtest1 WHERE k=71"), ["7"]);
    assert_eq!(db.rows("SELECT id FROM sbtest1 WHERE k=70"), [] as [&str; 0]);
    assert_eq!(db.change("UPDATE sbtest1 SET c='new' WHERE id=7"), 1);
    assert_eq!(db.change("UPDATE sbtest1 SET c='new' WHERE id=7"), 0, "unchanged rows are not counted");
    assert_eq!(db.change("DELETE FROM sbtest1 WHERE id=7"), 1);
    assert_eq!(db.change("INSERT INTO sbtest1 (id, k, c, pad) VALUES (7, 5, 'x', 'y')"), 1);
    assert_eq!(db.rows("SELECT k, c, pad FROM sbtest1 WHERE id=7"), ["5|x|y"]);
    assert_eq!(db.rows("SELECT COUNT(*) FROM (SELECT * FROM sbtest1 WHERE k LIKE '%0%' LIMIT 100) t"), ["19"]);
    assert_eq!(db.rows("SELECT AVG(id) FROM (SELECT * FROM sbtest1 FORCE KEY (PRIMARY) LIMIT 3) t"), ["2.0000"]);
    let (code, message) = db.error("INSERT INTO sbtest1 (id, k, c, pad) VALUES (7, 5, 'x', 'y')");
    assert_eq!((code, &message[..]), (1062, "Duplicate entry '7' for key 'sbtest1.PRIMARY'"));
}

#[test]
fn a_prepared_plan_serves_one_value_after_another() {
    let mut db = Database::new();
    db.sbtest(10);
    let bigint = DataType::new(TypeKind::BigInt);
    let mut p = db.prepare("SELECT k FROM sbtest1 WHERE id=?", &[bigint]).unwrap();
    for id in [3i64, 9, 11, -1] {
        let rows = db.execute(&mut p, &[Value::Int(id)]).unwrap().1.rows;
        let wanted: Vec<String> = if (1..=10).contains(&id) { vec![(id * 10).to_string()] } else { Vec::new() };
        assert_eq!(rows, wanted);
    }
    let text = Value::Bytes(b"4".as_slice().into());
    assert_eq!(db.execute(&mut p, &[text]).unwrap().1.rows, ["40"], "a string finds the number");
    assert_eq!(db.execute(&mut p, &[Value::Double(4.5)]).unwrap().1.rows.len(), 0);
    assert_eq!(db.execute(&mut p, &[Value::Null]).unwrap().1.rows.len(), 0);
    let mut p = db.prepare("SELECT id FROM sbtest1 WHERE id IN (?, ?) ORDER BY id LIMIT ?", &[bigint; 3]).unwrap();
    let rows = db.execute(&mut p, &[Value::Int(5), Value::Int(2), Value::Int(1)]).unwrap().1.rows;
    assert_eq!(rows, ["2"]);
}

#[test]
fn like_with_a_prefix_reads_a_range() {
    let mut db = Database::new();
    db.table(
        "t",
        &[("id", int().not_null()), ("d", varchar(20))],
        &[("PRIMARY", true, &[0]), ("d", false, &[1])],
        false,
    );
    for (id, d) in ["'abc'", "'ABD'", "'ab'", "'áb'", "'b'", "''", "NULL", "'a%b'", "'ab '"].iter().enumerate() {
        db.change(&format!("INSERT INTO t VALUES ({id}, {d})"));
    }
    let text = DataType::string(TypeKind::VarChar, 20, types::CollationId::UTF8MB4_0900_AI_CI);
    let mut p = db.prepare("SELECT id FROM t FORCE INDEX (d) WHERE d LIKE ? ORDER BY id", &[text]).unwrap();
    assert!(p.outline().contains("scan t.d [d like]"), "{}", p.outline());
    for (pattern, wanted) in [
        ("ab%", &["0", "1", "2", "3", "8"][..]),
        ("%b", &["2", "3", "4", "7"]),
        ("a\\%%", &["7"]),
        ("ab", &["2", "3"]),
        ("", &["5"]),
        ("%", &["0", "1", "2", "3", "4", "5", "7", "8"]),
        ("a_", &["2", "3"]),
        ("zz%", &[]),
    ] {
        let rows = db.execute(&mut p, &[Value::Bytes(pattern.as_bytes().into())]).unwrap().1.rows;
        assert_eq!(rows, wanted, "LIKE '{pattern}'");
    }
    assert!(db.execute(&mut p, &[Value::Null]).unwrap().1.rows.is_empty());
}

#[test]
fn access_paths() {
    let mut db = Database::new();
    db.sbtest(1);
    db.table(
        "t",
        &[("a", int().not_null()), ("b", int().not_null()), ("c", int()), ("d", varchar(20))],
        &[("PRIMARY", true, &[0, 1]), ("c_d", false, &[2, 3]), ("d_u", true, &[3])],
        false,
    );
    for (text, wanted) in [
        ("SELECT c FROM sbtest1 WHERE id=5", "scan sbtest1.PRIMARY [id=]\n"),
        ("SELECT id FROM sbtest1 WHERE k=5", "scan sbtest1.k_1 [k=] covering\n"),
        ("SELECT id FROM sbtest1 WHERE k>5 AND k<=9", "scan sbtest1.k_1 [k> k<=] covering\n"),
        ("SELECT c FROM sbtest1 WHERE id IN (1,2,3)", "scan sbtest1.PRIMARY [id in 3]\n"),
        ("SELECT c FROM sbtest1 WHERE id=1 OR id=9", "scan sbtest1.PRIMARY [id in 2]\n"),
        ("SELECT * FROM t WHERE a=1 AND b>3", "scan t.PRIMARY [a= b>]\n"),
        ("SELECT * FROM t WHERE b>3", "filter\n  scan t.PRIMARY\n"),
        ("SELECT * FROM t WHERE d='x'", "scan t.d_u [d=]\n"),
        ("SELECT * FROM t WHERE d LIKE 'x%'", "filter\n  scan t.d_u [d like]\n"),
        ("SELECT * FROM t WHERE d LIKE '%x'", "filter\n  scan t.PRIMARY\n"),
        ("SELECT * FROM t WHERE (a=1 AND b=2) OR (a=1 AND b=3)", "scan t.PRIMARY [a= b in 2]\n"),
        (
            "SELECT * FROM t x STRAIGHT_JOIN t y WHERE (x.a=y.a AND y.b=2 AND x.b=1) OR (x.a=y.a AND x.b=3 AND y.b=1)",
            "join (loop)\n  filter\n    scan t.PRIMARY\n  filter\n    scan t.PRIMARY [a= b in 2]\n",
        ),
        (
            "SELECT * FROM t x STRAIGHT_JOIN t z STRAIGHT_JOIN t y WHERE x.a=y.b AND y.b=z.a AND x.b=1",
            "join (hash) on ...\n  join (loop)\n    filter\n      scan t.PRIMARY\n    scan t.PRIMARY [a=]\n  scan \
             t.PRIMARY\n",
        ),
        ("SELECT * FROM t ORDER BY a DESC, b DESC LIMIT 3", "limit\n  scan t.PRIMARY backward\n"),
        ("SELECT * FROM t WHERE a=1 ORDER BY b", "scan t.PRIMARY [a=]\n"),
        ("SELECT * FROM t ORDER BY b", "sort keys=1\n  scan t.PRIMARY\n"),
        ("UPDATE t SET b=b+1 WHERE a=1", "update t collect\n  scan t.PRIMARY [a=] Exclusive\n"),
        ("DELETE FROM sbtest1 WHERE id=1", "delete sbtest1\n  scan sbtest1.PRIMARY [id=] Exclusive\n"),
        (
            "SELECT s.c FROM t JOIN sbtest1 s ON s.id = t.a",
            "join (loop)\n  scan t.c_d covering\n  scan sbtest1.PRIMARY [id=]\n",
        ),
        (
            "SELECT COUNT(*) FROM t x JOIN t y ON x.c = y.c + 1",
            "group keys=0 aggregates=1\n  join (loop)\n    scan t.c_d covering\n    scan t.c_d [c=] covering\n",
        ),
    ] {
        let plan = db.plan(text);
        assert_eq!(plan, wanted, "{text}");
    }
}

#[test]
fn joins_groups_and_subqueries() {
    let mut db = Database::new();
    db.table("d", &[("id", int().not_null()), ("name", varchar(10))], &[("PRIMARY", true, &[0])], false);
    db.table(
        "e",
        &[("id", int().not_null()), ("dept", int()), ("pay", int())],
        &[("PRIMARY", true, &[0]), ("dept", false, &[1])],
        false,
    );
    db.change("INSERT INTO d VALUES (1,'one'), (2,'two'), (3,'three')");
    db.change("INSERT INTO e VALUES (1,1,10), (2,1,20), (3,2,30), (4,NULL,40)");
    for (text, wanted) in [
        ("SELECT e.id, name FROM e JOIN d ON d.id = e.dept ORDER BY e.id", &["1|one", "2|one", "3|two"][..]),
        ("SELECT d.id, e.id FROM d LEFT JOIN e ON e.dept = d.id ORDER BY d.id, e.id", &["1|1", "1|2", "2|3", "3|NULL"]),
        ("SELECT e.id, d.id FROM d RIGHT JOIN e ON e.dept = d.id ORDER BY 1", &["1|1", "2|1", "3|2", "4|NULL"]),
        (
            "SELECT dept, COUNT(*), SUM(pay), AVG(pay) FROM e GROUP BY dept ORDER BY dept",
            &["NULL|1|40|40.0000", "1|2|30|15.0000", "2|1|30|30.0000"],
        ),
        ("SELECT dept, SUM(pay) s FROM e GROUP BY dept HAVING s > 30", &["NULL|40"]),
        ("SELECT id FROM e WHERE dept IN (SELECT id FROM d WHERE name = 'one') ORDER BY id", &["1", "2"]),
        ("SELECT id FROM d WHERE NOT EXISTS (SELECT * FROM e WHERE e.dept = d.id)", &["3"]),
        ("SELECT id FROM d WHERE id NOT IN (SELECT dept FROM e)", &[]),
        ("SELECT (SELECT MAX(pay) FROM e WHERE e.dept = d.id) FROM d ORDER BY id", &["20", "30", "NULL"]),
        ("SELECT id FROM e WHERE pay >= ALL (SELECT pay FROM e)", &["4"]),
        ("SELECT id FROM d UNION SELECT dept FROM e ORDER BY 1", &["NULL", "1", "2", "3"]),
        ("SELECT 1 UNION ALL SELECT 1", &["1", "1"]),
        ("SELECT GROUP_CONCAT(id ORDER BY id DESC SEPARATOR '-') FROM e", &["4-3-2-1"]),
        ("SELECT COUNT(DISTINCT dept), MIN(pay), MAX(pay) FROM e", &["2|10|40"]),
        ("SELECT COUNT(*), SUM(pay) FROM e WHERE id > 100", &["0|NULL"]),
        ("SELECT * FROM d NATURAL JOIN (SELECT 2 id) x", &["2|two"]),
        ("SELECT id FROM e ORDER BY pay DESC LIMIT 1, 2", &["3", "2"]),
    ] {
        assert_eq!(db.rows(text), wanted, "{text}");
    }
}

#[test]
fn inserting() {
    let mut db = Database::new();
    db.table(
        "t",
        &[("id", int().not_null()), ("u", int()), ("s", varchar(5).not_null())],
        &[("PRIMARY", true, &[0]), ("u", true, &[1])],
        true,
    );
    let (outcome, _) = db.run("INSERT INTO t (u, s) VALUES (1,'a'), (2,'b')").unwrap();
    assert_eq!(
        (outcome.affected_rows, outcome.insert_id, &outcome.info[..]),
        (2, 1, "Records: 2  Duplicates: 0  Warnings: 0")
    );
    assert_eq!(db.env.last_insert_id, 1);
    assert_eq!(db.run("INSERT INTO t VALUES (10, NULL, 'c')").unwrap().0.insert_id, 10);
    assert_eq!(db.run("INSERT INTO t VALUES (0, NULL, 'd')").unwrap().0.insert_id, 11);
    for (text, code) in [
        ("INSERT INTO t (u) VALUES (9)", 1364),
        ("INSERT INTO t (u, s) VALUES (9, NULL)", 1048),
        ("INSERT INTO t (u, s) VALUES (9, 'toolong')", 1406),
        ("INSERT INTO t (u, s) VALUES (99999999999, 'x')", 1264),
        ("INSERT INTO t (u, s) VALUES ('abc', 'x')", 1366),
        ("INSERT INTO t (u, s) VALUES (1, 'x')", 1062),
        ("INSERT INTO t (u, s) VALUES (1)", 1136),
        ("INSERT INTO t (u, v) VALUES (1, 2)", 1054),
        ("INSERT INTO nosuch VALUES (1)", 1146),
    ] {
        assert_eq!(db.error(text).0, code, "{text}");
    }
    assert_eq!(db.rows("SELECT COUNT(*) FROM t"), ["4"], "failed statements leave nothing");
    assert_eq!(db.change("INSERT IGNORE INTO t (u, s) VALUES (1, 'x'), (5, 'y')"), 1);
    assert_eq!(db.env.warnings, [(1062, "Duplicate entry '1' for key 't.u'".to_string())]);
    assert_eq!(db.change("INSERT INTO t (u, s) VALUES (5, 'z') ON DUPLICATE KEY UPDATE s = CONCAT(s, VALUES(s))"), 2);
    assert_eq!(db.rows("SELECT s FROM t WHERE u = 5"), ["yz"]);
    assert_eq!(db.change("REPLACE INTO t (id, u, s) VALUES (1, 5, 'r')"), 3, "two rows go, one comes");
    assert_eq!(db.rows("SELECT id, s FROM t WHERE u = 5"), ["1|r"]);
    assert_eq!(db.change("INSERT INTO t (u, s) SELECT u + 100, s FROM t WHERE u IS NOT NULL"), 2);
    assert_eq!(db.rows("SELECT u FROM t WHERE u > 100 ORDER BY u"), ["102", "105"]);
}

#[test]
fn updating() {
    let mut db = Database::new();
    db.table("t", &[("a", int().not_null()), ("b", int())], &[("PRIMARY", true, &[0]), ("b", false, &[1])], false);
    db.change("INSERT INTO t VALUES (1,1), (2,2), (3,3), (4,4)");
    // The scan key moves ahead of the scan: each row is met once.
    assert_eq!(db.change("UPDATE t SET a = a + 10 ORDER BY a DESC"), 4);
    assert_eq!(db.rows("SELECT a, b FROM t ORDER BY a"), ["11|1", "12|2", "13|3", "14|4"]);
    assert_eq!(db.change("UPDATE t SET b = b + 1 WHERE b >= 1"), 4);
    assert_eq!(db.rows("SELECT b FROM t ORDER BY b"), ["2", "3", "4", "5"]);
    assert_eq!(db.change("UPDATE t SET a = 100, b = a WHERE a = 11"), 1);
    assert_eq!(db.rows("SELECT b FROM t WHERE a = 100"), ["100"], "assignments see those before them");
    assert_eq!(db.change("DELETE FROM t ORDER BY a DESC LIMIT 1"), 1);
    assert_eq!(db.error("UPDATE t SET a = 12 WHERE a = 13").0, 1062);
    assert_eq!(db.rows("SELECT a FROM t ORDER BY a"), ["12", "13", "14"]);
    assert_eq!(
        db.run("UPDATE t SET b = 3 WHERE b IN (3, 4)").unwrap().0.info,
        "Rows matched: 2  Changed: 1  Warnings: 0"
    );
}

/// Conditions that a range stands for are not checked row by row, unless a value at hand is none that the column's order knows.
#[test]
fn ranges_stand_for_their_conditions() {
    let mut db = Database::new();
    db.table(
        "t",
        &[("a", int().not_null()), ("b", int()), ("s", varchar(10)), ("d", DataType::new(TypeKind::Date))],
        &[("PRIMARY", true, &[0]), ("b", false, &[1]), ("s", false, &[2]), ("d", false, &[3])],
        false,
    );
    db.change(
        "INSERT INTO t VALUES (1,10,'a','2020-01-01'), (2,20,'A','2020-01-02'), (3,30,'b',NULL), \
         (4,NULL,NULL,'2020-01-04')",
    );
    let typed = [DataType::new(TypeKind::BigInt), DataType::new(TypeKind::Null), varchar(10)];
    let text = |s: &str| Value::Bytes(s.as_bytes().to_vec().into());
    let double = Value::Double;
    let cases: Vec<(&str, Value<'static>, &[&str])> = vec![
        ("a = ?", Value::Int(2), &["2"]),
        ("a = ?", text("2"), &["2"]),
        ("a = ?", text("2x"), &["2"]),
        ("a = ?", text("9e18"), &[]),
        ("a = ?", double(1e17), &[]),
        ("a = ?", double(2.5), &[]),
        ("a = ?", Value::Null, &[]),
        ("a <=> ?", Value::Null, &[]),
        ("a > ?", double(1.5), &["2", "3", "4"]),
        ("a < ?", double(1e17), &["1", "2", "3", "4"]),
        ("a < ?", text("9e18"), &["1", "2", "3", "4"]),
        ("a > ?", text("9e18"), &[]),
        ("a <= ?", double(2.9), &["1", "2"]),
        ("a BETWEEN ? AND 3", text("2"), &["2", "3"]),
        ("a BETWEEN ? AND 3", Value::Null, &[]),
        ("a IN (?, 4)", text("1e17"), &["4"]),
        ("b = ?", Value::UInt(u64::MAX), &[]),
        ("b < ?", Value::UInt(u64::MAX), &["1", "2", "3"]),
        ("b <=> ?", Value::Null, &["4"]),
        ("b = ?", Value::Null, &[]),
        ("b > ? AND b < 30", Value::Int(10), &["2"]),
        ("b > ? AND b > 25", Value::Int(10), &["3"]),
        ("s = ?", text("a"), &["1", "2"]),
        ("s = ?", Value::Int(0), &["1", "2", "3"]),
        ("s > ?", text("a"), &["3"]),
        ("s = ? AND a > 1", text("a"), &["2"]),
        ("d = ?", text("2020-01-02"), &["2"]),
        ("d >= ?", text("2020-01-02 00:00:01"), &["4"]),
    ];
    for (condition, value, wanted) in cases {
        for ty in typed {
            let mut p = db.prepare(&format!("SELECT a FROM t WHERE {condition} ORDER BY a"), &[ty]).unwrap();
            // First a value that the range knows, then the one at hand: a plan serves both.
            let _ = db.execute(&mut p, &[Value::Int(1)]);
            let rows = db.execute(&mut p, std::slice::from_ref(&value)).unwrap().1.rows;
            assert_eq!(rows, wanted, "{condition} with {value:?} as {:?}:\n{}", ty.kind, p.outline());
        }
    }
    assert_eq!(db.plan("SELECT * FROM t WHERE a = 1 AND b = 10"), "filter\n  scan t.PRIMARY [a=]\n");
    assert_eq!(db.plan("SELECT * FROM t WHERE a > 1 AND a > 2"), "filter\n  scan t.PRIMARY [a>]\n");
    assert_eq!(db.rows("SELECT a FROM t WHERE a IS NULL"), [] as [&str; 0]);
    assert_eq!(db.change("UPDATE t SET b = 7 WHERE a = '2'"), 1);
    assert_eq!(db.change("DELETE FROM t WHERE a = 1e17"), 0);
    assert_eq!(db.rows("SELECT a FROM t WHERE b = 7"), ["2"]);
}

#[test]
fn sorting() {
    let mut db = Database::new();
    db.table("t", &[("a", int().not_null()), ("s", varchar(20)), ("n", int())], &[("PRIMARY", true, &[0])], false);
    db.change(
        "INSERT INTO t VALUES (1,'abcdefgh2',1), (2,'ABCDEFGH1',2), (3,NULL,1), (4,'',2), (5,'abcdefgh1',1), \
         (6,'abc',NULL), (7,'\u{e4}bc',1)",
    );
    for (text, wanted) in [
        ("SELECT a FROM t ORDER BY s", &["3", "4", "6", "7", "2", "5", "1"][..]),
        ("SELECT a FROM t ORDER BY s DESC", &["1", "2", "5", "6", "7", "4", "3"]),
        ("SELECT s, a FROM t ORDER BY s DESC LIMIT 2", &["abcdefgh2|1", "ABCDEFGH1|2"]),
        ("SELECT DISTINCT s FROM t ORDER BY s", &["NULL", "", "abc", "ABCDEFGH1", "abcdefgh2"]),
        ("SELECT DISTINCT s FROM t WHERE a > 4 ORDER BY s DESC", &["abcdefgh1", "abc"]),
        ("SELECT DISTINCT n FROM t", &["1", "2", "NULL"]),
        ("SELECT a FROM t ORDER BY n, s DESC", &["6", "1", "5", "7", "3", "2", "4"]),
        ("SELECT a FROM t ORDER BY CONCAT(s, 'x'), a DESC", &["3", "5", "2", "1", "7", "6", "4"]),
        ("SELECT a FROM t ORDER BY s COLLATE utf8mb4_0900_bin", &["3", "4", "2", "6", "5", "1", "7"]),
    ] {
        assert_eq!(db.rows(text), wanted, "{text}");
    }
    // Enough rows for the surplus of a LIMIT to be dropped on the way.
    for from in (0..4000).step_by(500) {
        let rows: Vec<String> =
            (from..from + 500).map(|i| format!("({}, 'prefix-{:05}', 0)", i + 10, i * 7919 % 4000)).collect();
        db.change(&format!("INSERT INTO t VALUES {}", rows.join(",")));
    }
    let wanted: Vec<String> = (3995..4000).rev().map(|i| format!("prefix-{i:05}")).collect();
    assert_eq!(db.rows("SELECT s FROM t ORDER BY s DESC LIMIT 5"), wanted);
    assert_eq!(db.rows("SELECT CONCAT(s, '') FROM t ORDER BY s DESC LIMIT 5"), wanted);
}

#[test]
fn a_row_is_written_once_whatever_came_between() {
    let mut db = Database::new();
    db.sbtest(3);
    let (outcome, _) = db.run("UPDATE sbtest1 SET k = k WHERE id = 2").unwrap();
    assert_eq!((outcome.affected_rows, outcome.matched_rows), (0, Some(1)));
    assert_eq!(outcome.info, "Rows matched: 1  Changed: 0  Warnings: 0");
    let (outcome, _) = db.run("UPDATE sbtest1 SET k = k + 1, c = CONCAT(c, '!') WHERE id = 2").unwrap();
    assert_eq!((outcome.affected_rows, outcome.matched_rows), (1, Some(1)));
    assert_eq!(db.rows("SELECT id, c FROM sbtest1 WHERE k = 21"), ["2|c2!"]);
    assert_eq!(db.change("UPDATE sbtest1 SET k = k + 1 WHERE id = 9"), 0);
    assert_eq!(db.change("UPDATE sbtest1 SET id = 9 WHERE id = 2"), 1);
    assert_eq!(db.rows("SELECT id FROM sbtest1 WHERE k = 21"), ["9"]);
    assert_eq!(db.change("DELETE FROM sbtest1 WHERE id = 9"), 1);
    assert_eq!(db.change("DELETE FROM sbtest1 WHERE id = 9"), 0);
    assert_eq!(db.rows("SELECT COUNT(*) FROM sbtest1 FORCE INDEX (k_1) WHERE k > 0"), ["2"]);
}

#[test]
fn serializable_reads_lock() {
    let mut db = Database::new();
    db.sbtest(4);
    let mut other = engine::Transaction::new(&db.env.engine).unwrap();
    db.tx.begin(engine::Isolation::Serializable, false);
    assert_eq!(db.rows("SELECT k FROM sbtest1 WHERE id = 2"), ["20"]);
    assert_eq!(db.rows("SELECT SUM(k) FROM sbtest1 WHERE id BETWEEN 3 AND 4"), ["70"]);
    let tree = db.version.schemas["test"].tables["sbtest1"].indexes[0].tree;
    let write = engine::Read::Locking { mode: engine::LockMode::Exclusive, wait: engine::Wait::NoWait };
    other.begin(engine::Isolation::RepeatableRead, false);
    for (id, locked) in [(1u32, false), (2, true), (3, true), (4, true)] {
        let key = (id | 1 << 31).to_be_bytes();
        let result = other.get(tree, &key, write, &mut Vec::new());
        assert_eq!(matches!(result, Err(engine::Error::LockNoWait)), locked, "id {id}: {result:?}");
    }
    db.tx.commit().unwrap();
    other.rollback().unwrap();
}

#[test]
fn extremes_come_from_the_end_of_an_index() {
    let mut db = Database::new();
    db.table("t", &[("a", int().not_null()), ("b", int())], &[("PRIMARY", true, &[0]), ("b", false, &[1])], false);
    assert_eq!(db.rows("SELECT MIN(a), MIN(b) FROM t"), ["NULL|NULL"]);
    db.change("INSERT INTO t VALUES (1,NULL), (2,20), (3,10), (4,NULL)");
    for (text, plan, wanted) in [
        ("SELECT MIN(a) FROM t", "ends of indexes\n    scan t.PRIMARY\n", "1"),
        ("SELECT MAX(a) + 1 FROM t", "ends of indexes\n    scan t.PRIMARY backward\n", "5"),
        ("SELECT MAX(a) FROM t WHERE a < 3", "ends of indexes\n    scan t.PRIMARY [a<] backward\n", "2"),
        ("SELECT MIN(b) FROM t", "ends of indexes\n    scan t.b [] covering\n", "10"),
        ("SELECT MAX(b) FROM t WHERE a > 100", "filter\n", "NULL"),
        ("SELECT MIN(a), MAX(a) FROM t", "    scan t.PRIMARY\n    scan t.PRIMARY backward\n", "1|4"),
    ] {
        let printed = db.plan(text);
        assert!(printed.contains(plan), "{text}\n{printed}");
        assert_eq!(db.rows(text), [wanted], "{text}");
    }
}
