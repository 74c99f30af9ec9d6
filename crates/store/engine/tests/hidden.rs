//! What only shows later: what a rollback leaves for purge and for recovery, what old files say.

mod common;

use common::{Scratch, key, options, row, whole};
use engine::{
    Cursor, Direction, Engine, EngineOptions, Error, Isolation, LockMode, Range, Read, Transaction, Tree, TreeKind,
    Wait,
};
use io::faults::SimDisk;
use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

const X: Read = Read::Locking { mode: LockMode::Exclusive, wait: Wait::Block };
const ALL: Range<'static> = Range { lower: Bound::Unbounded, upper: Bound::Unbounded };

fn open(datadir: &Path) -> engine::Result<Arc<Engine>> {
    Engine::open(EngineOptions { log_capacity_bytes: 4 << 20, ..options(datadir) }, &mut |_| ())
}

fn begin(engine: &Engine) -> Transaction {
    let mut tx = Transaction::new(engine).unwrap();
    tx.begin(Isolation::RepeatableRead, false);
    tx
}

fn table(engine: &Engine, rows: u64, len: usize) -> Tree {
    let mut tx = begin(engine);
    let tree = engine.create_tree(&mut tx, TreeKind::Clustered).unwrap();
    for i in 0..rows {
        tx.insert(tree, &key(i), stored!(row(i, len))).unwrap();
    }
    tx.commit().unwrap();
    tree
}

fn count(engine: &Engine, tree: Tree) -> engine::Result<usize> {
    let mut tx = begin(engine);
    let mut cursor = Cursor::new(tree, ALL, Direction::Forward, Read::Consistent, 0);
    let mut count = 0;
    while let Some(entry) = cursor.next(&mut tx)? {
        let value = whole(&tx, entry.value);
        assert_eq!(value, row(u64::from_be_bytes(entry.key.try_into().unwrap()), value.len()));
        count += 1;
    }
    Ok(count)
}

/// Waits until purge has gone past all that is committed now: it removes the mark that this leaves.
fn purged(engine: &Engine) {
    let probe = table(engine, 1, 10);
    let mut tx = begin(engine);
    let mut r = Vec::new();
    assert!(tx.get(probe, &key(0), X, &mut r).unwrap());
    tx.delete(probe, &key(0)).unwrap();
    tx.commit().unwrap();
    let began = Instant::now();
    while engine.estimate(probe).unwrap().0 > 0 {
        assert!(began.elapsed() < Duration::from_secs(20), "purge does not get on");
        std::thread::yield_now();
    }
}

#[test]
fn a_drop_that_is_rolled_back_drops_nothing() {
    let scratch = Scratch::new("drop");
    let engine = open(scratch.path()).unwrap();
    let tree = table(&engine, 100, 10);
    let mut tx = begin(&engine);
    engine.drop_tree(&mut tx, tree).unwrap();
    tx.rollback().unwrap();
    drop(tx);
    for _ in 0..20 {
        purged(&engine);
    }
    assert_eq!(count(&engine, tree).unwrap(), 100);
}

#[test]
fn a_drop_that_a_crash_rolled_back_drops_nothing() {
    let disk = SimDisk::mount("/sim/hidden-drop", 1);
    let engine = open(disk.root()).unwrap();
    let tree = table(&engine, 100, 10);
    let mut tx = begin(&engine);
    engine.drop_tree(&mut tx, tree).unwrap();
    table(&engine, 1, 1);
    let image = disk.image();
    let after = image.mount("/sim/hidden-drop-after", 1);
    after.reboot();
    let again = open(after.root()).unwrap();
    for _ in 0..20 {
        purged(&again);
    }
    assert_eq!(count(&again, tree).unwrap(), 100);
}

#[test]
fn a_long_row_comes_back_by_rollback_and_stays() {
    let scratch = Scratch::new("long");
    let engine = open(scratch.path()).unwrap();
    let tree = table(&engine, 3, 30_000);
    let mut r = Vec::new();
    let mut tx = begin(&engine);
    assert!(tx.get(tree, &key(1), X, &mut r).unwrap());
    tx.update(tree, &key(1), stored!(row(1, 40_000))).unwrap();
    tx.rollback().unwrap();
    tx.begin(Isolation::RepeatableRead, false);
    let savepoint = tx.savepoint();
    assert!(tx.get(tree, &key(2), X, &mut r).unwrap());
    tx.update(tree, &key(2), stored!(row(2, 40_000))).unwrap();
    tx.rollback_to(savepoint).unwrap();
    tx.insert(tree, &key(9), &row(9, 9)).unwrap();
    tx.commit().unwrap();
    for _ in 0..20 {
        purged(&engine);
    }
    assert_eq!(count(&engine, tree).unwrap(), 4);
}

#[test]
fn a_tree_made_and_undone_in_one_statement_stops_neither_rollback_nor_recovery() {
    let disk = SimDisk::mount("/sim/hidden-create", 1);
    let engine = open(disk.root()).unwrap();
    let mut tx = begin(&engine);
    tx.insert(engine.dictionary(), b"a", b"a").unwrap();
    let savepoint = tx.savepoint();
    let tree = engine.create_tree(&mut tx, TreeKind::Clustered).unwrap();
    tx.insert(tree, b"k", b"v").unwrap();
    tx.rollback_to(savepoint).unwrap();
    table(&engine, 1, 1);
    let image = disk.image();
    tx.rollback().unwrap();
    let after = image.mount("/sim/hidden-create-after", 1);
    after.reboot();
    open(after.root()).unwrap();
}

#[test]
fn a_delete_mark_that_rollback_restores_is_purged() {
    let scratch = Scratch::new("ghost");
    let engine = open(scratch.path()).unwrap();
    let tree = table(&engine, 1, 10);
    // A snapshot holds purge back until the key is taken again.
    let mut old = begin(&engine);
    old.take_snapshot();
    let mut tx = begin(&engine);
    let mut r = Vec::new();
    assert!(tx.get(tree, &key(0), X, &mut r).unwrap());
    tx.delete(tree, &key(0)).unwrap();
    tx.commit().unwrap();
    tx.begin(Isolation::RepeatableRead, false);
    tx.insert(tree, &key(0), &row(0, 10)).unwrap();
    old.commit().unwrap();
    for _ in 0..20 {
        purged(&engine);
    }
    tx.rollback().unwrap();
    for _ in 0..20 {
        purged(&engine);
    }
    assert_eq!(engine.estimate(tree).unwrap().0, 0, "a deleted row stays for ever");
}

#[test]
fn an_old_doublewrite_file_does_not_bring_back_old_pages() {
    let disk = SimDisk::mount("/sim/hidden-doublewrite", 1);
    let with = |doublewrite| EngineOptions { doublewrite, log_capacity_bytes: 4 << 20, ..options(disk.root()) };
    let engine = Engine::open(with(true), &mut |_| ()).unwrap();
    let tree = table(&engine, 10, 100);
    engine.close().unwrap();
    drop(engine);
    let engine = Engine::open(with(false), &mut |_| ()).unwrap();
    let mut tx = begin(&engine);
    for i in 10..20 {
        tx.insert(tree, &key(i), &row(i, 100)).unwrap();
    }
    tx.commit().unwrap();
    drop(tx);
    engine.close().unwrap();
    drop(engine);
    assert!(disk.corrupt(disk.root().join("clearway.data"), tree.root as usize * 16384 + 9000, 1));
    let found = Engine::open(with(false), &mut |_| ()).and_then(|engine| count(&engine, tree));
    assert!(matches!(found, Err(Error::Corrupt(_))), "{found:?}");
}

#[test]
fn a_data_file_without_its_log_is_refused() {
    let scratch = Scratch::new("nolog");
    let engine = open(scratch.path()).unwrap();
    table(&engine, 100, 10);
    engine.close().unwrap();
    drop(engine);
    std::fs::remove_dir_all(scratch.path().join("redo")).unwrap();
    assert!(matches!(open(scratch.path()), Err(Error::Corrupt(_))));
}

#[test]
fn a_log_without_its_data_file_is_refused() {
    let scratch = Scratch::new("nodata");
    let engine = open(scratch.path()).unwrap();
    table(&engine, 100, 10);
    engine.close().unwrap();
    drop(engine);
    std::fs::remove_file(scratch.path().join("clearway.data")).unwrap();
    assert!(matches!(open(scratch.path()), Err(Error::Corrupt(_))));
}

#[test]
fn rows_can_be_deleted_when_no_page_is_to_be_had() {
    let scratch = Scratch::new("full");
    let limit = EngineOptions { address_space_bytes: 16 << 20, log_capacity_bytes: 4 << 20, ..options(scratch.path()) };
    let engine = Engine::open(limit, &mut |_| ()).unwrap();
    let tree = table(&engine, 100, 1000);
    let mut tx = begin(&engine);
    let mut id = 1000;
    while tx.insert(tree, &key(id), &row(id, 3000)).is_ok() {
        id += 1;
    }
    tx.commit().unwrap();
    tx.begin(Isolation::RepeatableRead, false);
    let mut r = Vec::new();
    for id in 1000..id {
        assert!(tx.get(tree, &key(id), X, &mut r).unwrap());
        tx.delete(tree, &key(id)).unwrap();
    }
    tx.commit().unwrap();
}

#[test]
fn rows_that_a_transaction_changed_need_no_lock_object() {
    let scratch = Scratch::new("locks");
    let engine = open(scratch.path()).unwrap();
    let tree = table(&engine, 2000, 10);
    let mut tx = begin(&engine);
    let mut r = Vec::new();
    for i in 0..2000 {
        assert!(tx.get(tree, &key(i), X, &mut r).unwrap());
        tx.update(tree, &key(i), &row(i, 12)).unwrap();
    }
    assert!(tx.lock_count() < 100, "{} locks", tx.lock_count());
}
