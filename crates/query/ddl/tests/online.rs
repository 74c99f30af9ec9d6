//! Trees that are built beside writers have, in the end, what the writers have left, however their steps come in between: random
//! statements of three transactions that commit, roll back, and stay open across any step of the build. A failing case names its seed:
//! `CLEARWAY_SEED=n cargo test -p ddl --test online` runs that one alone.

#[path = "../../run/tests/common/mod.rs"]
mod common;

use catalog::{Column, ColumnDefault, Index, IndexPart, Table, Version};
use common::{Database, Random, Rows, int, seeds, varchar};
use ddl::online::{Goal, OnlineBuild};
use ddl::rewrite::Rewrite;
use engine::{Isolation, Transaction, TreeKind};
use std::sync::Arc;
use std::time::Duration;
use types::{KeyPart, Result, RowLayout, Value};

fn database(random: &mut Random) -> Database {
    let mut db = Database::new();
    let columns = [("id", int().not_null()), ("u", int().not_null()), ("a", int()), ("s", varchar(9000))];
    db.table("t", &columns, &[("PRIMARY", true, &[0]), ("u", true, &[1]), ("a", false, &[2])], false);
    // Some builds sort in a file.
    db.env.tmp_memory = [100, 16 << 20][random.next(2) as usize];
    for id in 0..random.next(40) {
        db.change(&format!("INSERT INTO t VALUES ({id}, {}, {}, 's')", 100 - id, id % 5));
    }
    db
}

fn index(db: &Database, tx: &mut Transaction, name: &str, columns: &[Column], parts: &[usize]) -> Index {
    let kind = if name == "PRIMARY" { TreeKind::Clustered } else { TreeKind::Secondary };
    let key = |c: usize| KeyPart { data_type: columns[c].data_type, descending: false, prefix: 0 };
    Index {
        name: name.into(),
        unique: name != "a",
        primary: name == "PRIMARY",
        invisible: false,
        for_foreign_key: false,
        parts: parts.iter().map(|c| IndexPart { column: *c, key: key(*c) }).collect(),
        array_part: None,
        tree: db.env.engine.create_tree(tx, kind).unwrap(),
        algorithm: None,
        comment: String::new(),
    }
}

/// What is built of `t`, under the name `n`: another form with another primary key, or the same with a new index.
fn goal(db: &mut Database, tx: &mut Transaction, rewrites: bool) -> (Arc<Table>, Goal) {
    let from = Arc::clone(db.version.table("test", "t").unwrap());
    let mut to = Table::clone(&from);
    to.name = "n".into();
    if !rewrites {
        let made = index(db, tx, "ua", &from.columns, &[1, 2]);
        to.indexes.push(made);
        let to = Arc::new(to);
        return (Arc::clone(&to), Goal::Indexes(to, vec![3]));
    }
    let added = Column { default: ColumnDefault::Value(Value::Int(7)), ..Column::new("x", int()) };
    to.columns = vec![from.columns[3].clone(), added];
    to.columns.extend_from_slice(&from.columns[..3]);
    to.layout = RowLayout::new(&to.columns.iter().map(|c| c.data_type).collect::<Vec<_>>());
    let keys: [(&str, &[usize]); 3] = [("PRIMARY", &[3]), ("id", &[2]), ("a", &[4])];
    to.indexes = keys.iter().map(|(name, parts)| index(db, tx, name, &to.columns, parts)).collect();
    to.row_log = Default::default();
    let to = Arc::new(to);
    let columns = [Some(3), None, Some(0), Some(1), Some(2)];
    let rewrite = Rewrite::new(&mut db.env, &db.version, (&from, &to), &columns, true).unwrap();
    (to, Goal::Form(Box::new(rewrite)))
}

fn execute(db: &mut Database, tx: &mut Transaction, text: &str) -> Result<()> {
    let mut statement = db.prepare(text, &[])?;
    let done = statement.execute(tx, &[], &mut db.env, &mut Rows::default());
    tx.end_statement();
    done.map(drop)
}

/// A step of one writer: a statement, or the end of its transaction.
fn write(db: &mut Database, tx: &mut Transaction, random: &mut Random) {
    if !tx.is_active() {
        tx.begin(Isolation::RepeatableRead, false);
    }
    match random.next(10) {
        0 | 1 => return tx.commit().unwrap(),
        2 => return tx.rollback().unwrap(),
        _ => {}
    }
    let mut id = || random.next(50);
    let (one, other, value) = (id(), id(), id());
    let text = match random.next(6) {
        0 => format!("INSERT INTO t VALUES ({one}, {other}, {value}, 'new')"),
        1 => format!("DELETE FROM t WHERE id = {one}"),
        2 => format!("UPDATE t SET id = {other} WHERE id = {one}"),
        3 => format!("UPDATE t SET u = {value}, a = a + 1 WHERE id = {one}"),
        4 => format!("UPDATE t SET s = REPEAT('x', {}) WHERE id = {one}", value * 180),
        _ => format!("UPDATE t SET a = {value} WHERE id < {one}"),
    };
    // A duplicate, or a lock that another one holds: some give up.
    if execute(db, tx, &text).is_err() && tx.is_active() && random.next(2) == 0 {
        tx.rollback().unwrap();
    }
}

fn run(seed: u64, rewrites: bool) {
    let mut random = Random(seed * 2 + 1);
    let mut db = database(&mut random);
    let mut writers: Vec<Transaction> = (0..3).map(|_| Transaction::new(&db.env.engine).unwrap()).collect();
    writers.iter_mut().for_each(|tx| tx.set_lock_wait_timeout(Duration::ZERO));
    let mut ddl = Transaction::new(&db.env.engine).unwrap();
    ddl.begin(Isolation::ReadUncommitted, false);
    let (to, goal) = goal(&mut db, &mut ddl, rewrites);
    let engine = Arc::clone(&db.env.engine);
    let mut build = OnlineBuild::begin(&engine, goal, 1 << 20).unwrap();
    let mut work = |db: &mut Database, writers: &mut [Transaction]| {
        for _ in 0..random.next(40) {
            let at = random.next(3) as usize;
            write(db, &mut writers[at], &mut random);
        }
    };
    work(&mut db, &mut writers);
    build.fill(&mut ddl, &mut db.env).unwrap();
    for _ in 0..4 {
        work(&mut db, &mut writers);
        build.catch_up(&mut ddl, &mut db.env).unwrap();
    }
    work(&mut db, &mut writers);
    for (at, tx) in writers.iter_mut().enumerate() {
        match (seed as usize + at) % 2 {
            0 if tx.is_active() => tx.commit().unwrap(),
            _ => tx.rollback().unwrap(),
        }
    }
    build.finish(&mut ddl, &mut db.env).unwrap();
    ddl.commit().unwrap();

    let mut version = Version::clone(&db.version);
    version.number += 1;
    version.insert_table(to);
    db.version = Arc::new(version);
    let columns = "id, u, a, LENGTH(s)";
    let there = db.rows(&format!("SELECT {columns} FROM t IGNORE INDEX (u, a) ORDER BY id"));
    let indexes: &[&str] = if rewrites { &["PRIMARY", "id", "a"] } else { &["PRIMARY", "ua"] };
    for index in indexes {
        let made =
            db.rows(&format!("SELECT {columns} FROM n FORCE INDEX ({index}) WHERE id >= 0 AND u >= 0 ORDER BY id"));
        assert_eq!(made, there, "seed {seed}, index {index}");
        let count = db.rows(&format!("SELECT COUNT(*) FROM n FORCE INDEX ({index})"));
        assert_eq!(count, [there.len().to_string()], "seed {seed}, index {index}");
    }
    let table = Arc::clone(db.version.table("test", "n").unwrap());
    db.tx.begin(Isolation::RepeatableRead, true);
    assert_eq!(ddl::check::check_table(&mut db.tx, &table, 4).unwrap(), None, "seed {seed}");
    db.tx.rollback().unwrap();
}

#[test]
fn a_new_form_has_what_writers_left() {
    seeds(0..12).into_iter().for_each(|seed| run(seed, true));
}

#[test]
fn a_new_index_has_what_writers_left() {
    seeds(0..12).into_iter().for_each(|seed| run(seed, false));
}
