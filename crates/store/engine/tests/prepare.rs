//! Prepared transactions: durable with their locks, nobody's, and decided once, whatever ends in between.

mod common;

use common::{await_rollbacks, check_sound, check_sound_after_crash, key, options};
use engine::{
    Decision, Engine, EngineOptions, Error, Isolation, LockMode, Prepared, Read, Transaction, Tree, TreeKind, Wait,
};
use io::faults::SimDisk;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

const X: Read = Read::Locking { mode: LockMode::Exclusive, wait: Wait::Block };
const NOW: Read = Read::Locking { mode: LockMode::Exclusive, wait: Wait::NoWait };

fn disk(name: &str) -> (SimDisk, EngineOptions) {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed); // Relaxed: a number of its own for each
    let root = PathBuf::from(format!("/sim/prepare-{name}-{number}"));
    let own = EngineOptions { buffer_pool_bytes: 16 << 20, log_capacity_bytes: 16 << 20, ..options(&root) };
    (SimDisk::mount(&root, 1), own)
}

fn open(options: &EngineOptions) -> Arc<Engine> {
    Engine::open(options.clone(), &mut |_| ()).unwrap()
}

fn begin(engine: &Engine) -> Transaction {
    let mut tx = Transaction::new(engine).unwrap();
    tx.begin(Isolation::RepeatableRead, false);
    tx.set_lock_wait_timeout(Duration::from_millis(50));
    tx
}

/// Rows 0 to 9, each one byte.
fn table(engine: &Engine) -> Tree {
    let mut tx = begin(engine);
    let tree = engine.create_tree(&mut tx, TreeKind::Clustered).unwrap();
    for i in 0..10 {
        tx.insert(tree, &key(i), b"a").unwrap();
    }
    tx.commit().unwrap();
    tree
}

fn read(engine: &Engine, tree: Tree, i: u64) -> Option<Vec<u8>> {
    let (mut tx, mut row) = (begin(engine), Vec::new());
    let found = tx.get(tree, &key(i), Read::Consistent, &mut row).unwrap();
    found.then_some(row)
}

/// Row 1 changed, 2 deleted, 20 inserted, 3 locked.
fn prepare(engine: &Engine, tree: Tree, label: &[u8]) -> Prepared {
    let (mut tx, mut row) = (begin(engine), Vec::new());
    for i in [1, 2, 3] {
        assert!(tx.get(tree, &key(i), X, &mut row).unwrap());
    }
    tx.update(tree, &key(1), b"b").unwrap();
    tx.delete(tree, &key(2)).unwrap();
    tx.insert(tree, &key(20), b"n").unwrap();
    let prepared = tx.prepare(label, None).unwrap();
    tx.await_durable().unwrap();
    assert!(!tx.is_active());
    prepared
}

fn decide(engine: &Engine, prepared: Prepared, decision: Decision) {
    let mut tx = begin(engine);
    assert!(tx.decide(prepared, decision).is_ok());
    tx.await_durable().unwrap();
}

fn assert_locked(engine: &Engine, tree: Tree, rows: &[u64]) {
    let (mut tx, mut row) = (begin(engine), Vec::new());
    for i in rows {
        assert!(matches!(tx.get(tree, &key(*i), NOW, &mut row), Err(Error::LockNoWait)), "row {i}");
        assert!(matches!(tx.get(tree, &key(*i), X, &mut row), Err(Error::LockWaitTimeout)), "row {i}");
    }
}

#[track_caller]
fn assert_rows(engine: &Engine, tree: Tree, rows: [Option<&[u8]>; 3]) {
    let now = [1, 2, 20].map(|i| read(engine, tree, i));
    assert_eq!(now.each_ref().map(Option::as_deref), rows);
}

const BEFORE: [Option<&[u8]>; 3] = [Some(b"a"), Some(b"a"), None];
const AFTER: [Option<&[u8]>; 3] = [Some(b"b"), None, Some(b"n")];

#[test]
fn who_prepared_has_nothing_and_others_wait_until_somebody_decides() {
    for decision in [Decision::Commit, Decision::RollBack] {
        let (_disk, options) = disk("live");
        let engine = open(&options);
        let tree = table(&engine);
        let prepared = prepare(&engine, tree, b"x");
        assert_locked(&engine, tree, &[1, 2, 3, 20]);
        assert_rows(&engine, tree, BEFORE);
        assert_eq!(engine.trees_changed_by(&prepared).unwrap(), [tree.id]);
        let waiter = {
            let engine = Arc::clone(&engine);
            std::thread::spawn(move || {
                let (mut tx, mut row) = (begin(&engine), Vec::new());
                tx.set_lock_wait_timeout(Duration::from_secs(60));
                assert!(tx.get(tree, &key(1), X, &mut row).unwrap());
                row
            })
        };
        while engine.lock_waits() == 0 {
            std::thread::yield_now();
        }
        decide(&engine, prepared, decision);
        let (seen, rows) = if decision == Decision::Commit { (b"b", AFTER) } else { (b"a", BEFORE) };
        assert_eq!(waiter.join().unwrap(), seen);
        assert_rows(&engine, tree, rows);
        let (mut tx, mut row) = (begin(&engine), Vec::new());
        assert!(tx.get(tree, &key(3), NOW, &mut row).unwrap(), "all locks are given back");
        drop(tx);
        await_rollbacks(&engine);
        assert!(engine.locks().is_empty());
        check_sound(&engine, &[tree], "decided");
        engine.close().unwrap();
    }
}

#[test]
fn a_start_finds_it_with_its_locks_and_nothing_else_is_prepared() {
    for decision in [Decision::Commit, Decision::RollBack] {
        for clean in [false, true] {
            let (disk, options) = disk("restart");
            let engine = open(&options);
            let tree = table(&engine);
            drop(prepare(&engine, tree, b"first"));
            let mut other = begin(&engine);
            other.insert(tree, &key(30), b"o").unwrap();
            if clean {
                drop(other);
                engine.close().unwrap();
            } else {
                other.crash();
            }
            if !clean {
                disk.crash();
            }
            drop(engine);
            disk.reboot();
            for _ in 0..2 {
                let engine = open(&options);
                await_rollbacks(&engine);
                let found = engine.take_prepared();
                assert_eq!(found.iter().map(|(label, _)| &label[..]).collect::<Vec<_>>(), [b"first"]);
                assert_eq!(read(&engine, tree, 30), None);
                assert_locked(&engine, tree, &[1, 2, 20]);
                assert_rows(&engine, tree, BEFORE);
                let report = engine.check(&[tree]);
                assert!(report.is_clean(), "{report}");
                assert_eq!((report.open_transactions, report.prepared_transactions), (1, 1));
                engine.close().unwrap();
            }
            let engine = open(&options);
            let (_, prepared) = engine.take_prepared().remove(0);
            decide(&engine, prepared, decision);
            disk.crash();
            drop(engine);
            disk.reboot();
            let engine = open(&options);
            assert!(engine.take_prepared().is_empty());
            await_rollbacks(&engine);
            assert_rows(&engine, tree, if decision == Decision::Commit { AFTER } else { BEFORE });
            check_sound_after_crash(&engine, &[tree]);
            engine.close().unwrap();
        }
    }
}

#[test]
fn what_goes_along_is_committed_with_the_prepare_and_with_the_decision() {
    let (disk, options) = disk("along");
    let engine = open(&options);
    let tree = table(&engine);
    let mut tx = begin(&engine);
    tx.insert(tree, &key(40), b"p").unwrap();
    let mut along = begin(&engine);
    along.insert(tree, &key(41), b"1").unwrap();
    drop(tx.prepare(b"x", Some(&mut along)).unwrap());
    assert!(!along.is_active());
    tx.await_durable().unwrap();
    assert_eq!((read(&engine, tree, 40), read(&engine, tree, 41)), (None, Some(b"1".to_vec())));
    disk.crash();
    drop((tx, along, engine));
    disk.reboot();
    let engine = open(&options);
    assert_eq!((read(&engine, tree, 40), read(&engine, tree, 41)), (None, Some(b"1".to_vec())));
    let (_, prepared) = engine.take_prepared().remove(0);
    let mut tx = begin(&engine);
    tx.insert(tree, &key(42), b"2").unwrap();
    assert!(tx.decide(prepared, Decision::Commit).is_ok());
    tx.await_durable().unwrap();
    disk.crash();
    drop((tx, engine));
    disk.reboot();
    let engine = open(&options);
    assert!(engine.take_prepared().is_empty());
    assert_eq!([40, 41, 42].map(|i| read(&engine, tree, i).is_some()), [true; 3]);
    check_sound_after_crash(&engine, &[tree]);
    engine.close().unwrap();
}

/// The log has gone round several times, and purge has passed the others' history.
#[test]
fn one_that_stays_for_days_keeps_neither_log_nor_history() {
    let (_disk, options) = disk("days");
    let engine = open(&options);
    let tree = table(&engine);
    drop(prepare(&engine, tree, b"x"));
    let big = vec![7; 3000];
    for round in 0..12_000 {
        let mut tx = begin(&engine);
        let i = 100 + round % 50;
        if round < 50 {
            tx.insert(tree, &key(i), &big).unwrap();
        } else {
            let mut row = Vec::new();
            assert!(tx.get(tree, &key(i), X, &mut row).unwrap());
            row[0] = row[0].wrapping_add(1);
            tx.update(tree, &key(i), &big).unwrap();
            tx.delete(tree, &key(i)).unwrap();
            tx.insert(tree, &key(i), &row).unwrap();
        }
        tx.commit().unwrap();
    }
    let began = std::time::Instant::now();
    while engine.history_length() > 1 {
        assert!(began.elapsed() < Duration::from_secs(60), "a history of {} stays", engine.history_length());
        std::thread::yield_now();
    }
    engine.close().unwrap();
    drop(engine);
    let engine = open(&options);
    let (_, prepared) = engine.take_prepared().remove(0);
    decide(&engine, prepared, Decision::RollBack);
    await_rollbacks(&engine);
    assert_rows(&engine, tree, BEFORE);
    check_sound(&engine, &[tree], "rolled back");
    engine.close().unwrap();
}
