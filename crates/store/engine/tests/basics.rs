//! The engine through its interface: rows, versions, locks, rollback, reopening.

mod common;

use common::{Scratch, key, options, row, whole};
use engine::{Cursor, Direction, Engine, Error, Isolation, LockMode, Range, Read, Transaction, Tree, TreeKind, Wait};
use std::ops::Bound;
use std::sync::Arc;
use std::time::Duration;

const X: Read = Read::Locking { mode: LockMode::Exclusive, wait: Wait::Block };
const ALL: Range<'static> = Range { lower: Bound::Unbounded, upper: Bound::Unbounded };

fn begin(engine: &Engine) -> Transaction {
    let mut tx = Transaction::new(engine).unwrap();
    tx.begin(Isolation::RepeatableRead, false);
    tx
}

fn table(engine: &Engine) -> Tree {
    let mut tx = begin(engine);
    let tree = engine.create_tree(&mut tx, TreeKind::Clustered).unwrap();
    tx.commit().unwrap();
    tree
}

fn scan(
    tx: &mut Transaction,
    tree: Tree,
    range: Range<'_>,
    direction: Direction,
    read: Read,
) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut cursor = Cursor::new(tree, range, direction, read, 0);
    let mut out = Vec::new();
    while let Some(entry) = cursor.next(tx).unwrap() {
        out.push((entry.key.to_vec(), entry.value.to_vec()));
    }
    out
}

fn get(tx: &mut Transaction, tree: Tree, key: &[u8]) -> Option<Vec<u8>> {
    let mut row = Vec::new();
    tx.get(tree, key, Read::Consistent, &mut row).unwrap().then(|| whole(tx, &row))
}

fn update(tx: &mut Transaction, tree: Tree, key: &[u8], new: &[u8]) -> engine::Result<()> {
    let mut row = Vec::new();
    assert!(tx.get(tree, key, X, &mut row)?);
    tx.update(tree, key, stored!(new))
}

/// The greatest `max_connections`, and an administrator's connection.
const CONNECTIONS: usize = 100_001;

#[test]
fn every_connection_has_a_transaction_and_one_beside_it() {
    let scratch = Scratch::new("connections");
    let engine = Engine::open(options(scratch.path()), &mut |_| ()).unwrap();
    let tree = table(&engine);
    let mut sessions: Vec<Transaction> = (0..CONNECTIONS).map(|_| Transaction::new(&engine).unwrap()).collect();
    let beside: Vec<Transaction> = sessions.iter().map(|tx| tx.beside().unwrap()).collect();
    let last = sessions.last_mut().unwrap();
    last.begin(Isolation::RepeatableRead, false);
    last.insert(tree, &key(1), &row(1, 10)).unwrap();
    last.commit().unwrap();
    drop((sessions, beside));
    assert_eq!(scan(&mut begin(&engine), tree, ALL, Direction::Forward, Read::Consistent).len(), 1);
}

#[test]
fn rows_survive_splits_reopening_and_scans_both_ways() {
    let scratch = Scratch::new("splits");
    let n = 20_000u64;
    let tree = {
        let engine = Engine::open(options(scratch.path()), &mut |_| ()).unwrap();
        let tree = table(&engine);
        let mut tx = begin(&engine);
        for i in 0..n {
            let i = i * 7919 % n;
            tx.insert(tree, &key(i), &row(i, 100)).unwrap();
        }
        assert!(matches!(tx.insert(tree, &key(5), b"again"), Err(Error::DuplicateKey)));
        tx.commit().unwrap();
        drop(tx);
        engine.close().unwrap();
        tree
    };
    let engine = Engine::open(options(scratch.path()), &mut |_| ()).unwrap();
    let mut tx = begin(&engine);
    let expected: Vec<_> = (0..n).map(|i| (key(i).to_vec(), row(i, 100))).collect();
    assert_eq!(scan(&mut tx, tree, ALL, Direction::Forward, Read::Consistent), expected);
    let mut back = scan(&mut tx, tree, ALL, Direction::Backward, Read::Consistent);
    back.reverse();
    assert_eq!(back, expected);
    let (low, high) = (key(1234), key(4321));
    let some = Range { lower: Bound::Excluded(&low), upper: Bound::Included(&high) };
    assert_eq!(scan(&mut tx, tree, some, Direction::Forward, Read::Consistent), expected[1235..=4321]);
    let some = Range { lower: Bound::Included(&low), upper: Bound::Excluded(&high) };
    let mut back = scan(&mut tx, tree, some, Direction::Backward, Read::Consistent);
    back.reverse();
    assert_eq!(back, expected[1234..4321]);
    assert_eq!(get(&mut tx, tree, &key(77)), Some(row(77, 100)));
    assert_eq!(get(&mut tx, tree, &key(n)), None);
    let (entries, leaves) = engine.estimate(tree).unwrap();
    assert!((n / 3..n * 3).contains(&entries) && leaves > 50, "estimate {entries} entries in {leaves} leaves");
    let part = engine
        .estimate_range(tree, Range { lower: Bound::Included(&key(1000)), upper: Bound::Excluded(&key(3000)) })
        .unwrap();
    assert!((500..8000).contains(&part), "estimate of 2000 rows: {part}");
}

#[test]
fn a_snapshot_sees_its_moment_through_updates_deletes_and_reinserts() {
    let scratch = Scratch::new("snapshot");
    let engine = Engine::open(options(scratch.path()), &mut |_| ()).unwrap();
    let tree = table(&engine);
    let mut tx = begin(&engine);
    for i in 0..100 {
        tx.insert(tree, &key(i), &row(i, 50)).unwrap();
    }
    tx.commit().unwrap();

    let mut old = begin(&engine);
    let before = scan(&mut old, tree, ALL, Direction::Forward, Read::Consistent);
    let mut tx = begin(&engine);
    for round in 0..5u64 {
        for i in 0..100 {
            match (i + round) % 3 {
                0 if get(&mut tx, tree, &key(i)).is_some() => {
                    let mut r = Vec::new();
                    assert!(tx.get(tree, &key(i), X, &mut r).unwrap());
                    tx.delete(tree, &key(i)).unwrap();
                }
                0 => tx.insert(tree, &key(i), &row(round * 1000 + i, 10 + i as usize * 3)).unwrap(),
                _ if get(&mut tx, tree, &key(i)).is_some() => update(&mut tx, tree, &key(i), &row(round, 80)).unwrap(),
                _ => tx.insert(tree, &key(i), &row(round, 20)).unwrap(),
            }
        }
        for i in 1000 * (round + 1)..1000 * (round + 1) + 50 {
            tx.insert(tree, &key(i), &row(i, 50)).unwrap();
        }
        tx.commit().unwrap();
        tx.begin(Isolation::RepeatableRead, false);
        assert_eq!(scan(&mut old, tree, ALL, Direction::Forward, Read::Consistent), before);
        assert_eq!(get(&mut old, tree, &key(3)), Some(row(3, 50)));
    }
    let now = scan(&mut tx, tree, ALL, Direction::Forward, Read::Consistent);
    old.commit().unwrap();
    old.begin(Isolation::RepeatableRead, false);
    assert_eq!(scan(&mut old, tree, ALL, Direction::Forward, Read::Consistent), now);
    assert_ne!(now, before);
}

#[test]
fn what_was_undone_is_no_change_and_two_transactions_of_a_session_end_apart() {
    let scratch = Scratch::new("changes");
    let engine = Engine::open(options(scratch.path()), &mut |_| ()).unwrap();
    let tree = table(&engine);
    let mut tx = begin(&engine);
    let mut beside = tx.beside().unwrap();
    beside.begin(Isolation::ReadCommitted, false);
    assert!(Arc::ptr_eq(tx.interrupt(), beside.interrupt()) && tx.slot() != beside.slot());
    for i in 0..3 {
        let savepoint = beside.savepoint();
        beside.insert(tree, &key(i), &row(i, 100)).unwrap();
        assert!(beside.has_changes());
        beside.rollback_to(savepoint).unwrap();
        assert!(beside.has_writes() && !beside.has_changes(), "row {i}");
    }
    beside.insert(tree, &key(7), &row(7, 100)).unwrap();
    let savepoint = beside.savepoint();
    beside.insert(tree, &key(8), &row(8, 100)).unwrap();
    beside.rollback_to(savepoint).unwrap();
    assert!(beside.has_changes());
    tx.insert(tree, &key(9), &row(9, 100)).unwrap();
    beside.commit().unwrap();
    tx.rollback().unwrap();
    tx.begin(Isolation::RepeatableRead, false);
    let rows = [7, 8, 9].map(|i| get(&mut tx, tree, &key(i)).is_some());
    assert_eq!(rows, [true, false, false]);
    beside.begin(Isolation::ReadCommitted, false);
    assert!(!beside.has_changes());
}

#[test]
fn rollback_and_savepoints_restore_rows_and_entries() {
    let scratch = Scratch::new("rollback");
    let engine = Engine::open(options(scratch.path()), &mut |_| ()).unwrap();
    let tree = table(&engine);
    let mut tx = begin(&engine);
    let index = engine.create_tree(&mut tx, TreeKind::Secondary).unwrap();
    for i in 0..500 {
        tx.insert(tree, &key(i), &row(i, 200)).unwrap();
        tx.index_insert(index, &key(i * 10), None, b"").unwrap();
    }
    tx.commit().unwrap();
    let mut check = begin(&engine);
    let before = (
        scan(&mut check, tree, ALL, Direction::Forward, Read::Consistent),
        scan(&mut check, index, ALL, Direction::Forward, Read::Consistent),
    );
    check.commit().unwrap();

    tx.begin(Isolation::RepeatableRead, false);
    for i in 0..250 {
        update(&mut tx, tree, &key(i), &row(i, 150)).unwrap();
        tx.index_delete(index, &key(i * 10)).unwrap();
        tx.index_insert(index, &key(i * 10 + 1), None, b"").unwrap();
    }
    let savepoint = tx.savepoint();
    let middle = (
        scan(&mut tx, tree, ALL, Direction::Forward, Read::Consistent),
        scan(&mut tx, index, ALL, Direction::Forward, X),
    );
    for i in 100..500 {
        let mut r = Vec::new();
        assert!(tx.get(tree, &key(i), X, &mut r).unwrap());
        tx.delete(tree, &key(i)).unwrap();
        if i >= 250 {
            tx.index_delete(index, &key(i * 10)).unwrap();
        }
    }
    for i in 1000..3000 {
        tx.insert(tree, &key(i), &row(i, 300)).unwrap();
    }
    tx.rollback_to(savepoint).unwrap();
    assert_eq!(
        (
            scan(&mut tx, tree, ALL, Direction::Forward, Read::Consistent),
            scan(&mut tx, index, ALL, Direction::Forward, X)
        ),
        middle
    );
    // Rows that the undone part changed stay locked.
    check.begin(Isolation::RepeatableRead, false);
    check.set_lock_wait_timeout(Duration::from_millis(10));
    let mut r = Vec::new();
    assert!(matches!(check.get(tree, &key(450), X, &mut r), Err(Error::LockWaitTimeout)));
    check.commit().unwrap();
    for i in 0..50 {
        update(&mut tx, tree, &key(i), &row(i, 3000)).unwrap();
    }
    tx.rollback().unwrap();
    check.begin(Isolation::RepeatableRead, false);
    assert_eq!(
        (
            scan(&mut check, tree, ALL, Direction::Forward, Read::Consistent),
            scan(&mut check, index, ALL, Direction::Forward, X)
        ),
        before
    );
}

#[test]
fn long_rows_live_off_page() {
    let scratch = Scratch::new("long");
    let engine = Engine::open(options(scratch.path()), &mut |_| ()).unwrap();
    let tree = table(&engine);
    let mut tx = begin(&engine);
    for i in 0..20 {
        tx.insert(tree, &key(i), stored!(row(i, 1 << i))).unwrap();
    }
    tx.commit().unwrap();
    let mut old = begin(&engine);
    assert_eq!(get(&mut old, tree, &key(19)), Some(row(19, 1 << 19)));
    tx.begin(Isolation::RepeatableRead, false);
    for i in 0..20 {
        update(&mut tx, tree, &key(i), &row(i + 100, 1 << (19 - i))).unwrap();
    }
    assert_eq!(get(&mut old, tree, &key(19)), Some(row(19, 1 << 19)));
    assert_eq!(get(&mut tx, tree, &key(0)), Some(row(100, 1 << 19)));
    tx.rollback().unwrap();
    for i in 0..20 {
        assert_eq!(get(&mut old, tree, &key(i)), Some(row(i, 1 << i)));
    }
}

#[test]
fn writers_wait_for_each_other_and_deadlocks_end() {
    let scratch = Scratch::new("deadlock");
    let engine = Engine::open(options(scratch.path()), &mut |_| ()).unwrap();
    let tree = table(&engine);
    let mut a = begin(&engine);
    for i in 0..2 {
        a.insert(tree, &key(i), b"0").unwrap();
    }
    a.commit().unwrap();
    a.begin(Isolation::RepeatableRead, false);
    update(&mut a, tree, &key(0), b"a").unwrap();
    let waiting = Arc::new(std::sync::Barrier::new(2));
    let other = {
        let (engine, waiting) = (engine.clone(), waiting.clone());
        std::thread::spawn(move || {
            let mut b = begin(&engine);
            update(&mut b, tree, &key(1), b"b").unwrap();
            waiting.wait();
            let outcome = update(&mut b, tree, &key(0), b"b");
            if outcome.is_ok() {
                b.commit().unwrap();
            }
            outcome.is_ok()
        })
    };
    waiting.wait();
    let mine = update(&mut a, tree, &key(1), b"a");
    if mine.is_ok() {
        a.commit().unwrap();
    } else {
        assert!(matches!(mine, Err(Error::Deadlock)), "{mine:?}");
        assert!(!a.is_active());
    }
    assert!(other.join().unwrap() != mine.is_ok(), "one of the two goes on, the other is the victim");

    // NOWAIT, SKIP LOCKED and the timeout.
    let mut a = begin(&engine);
    update(&mut a, tree, &key(0), b"x").unwrap();
    let mut b = begin(&engine);
    let mut r = Vec::new();
    let nowait = Read::Locking { mode: LockMode::Exclusive, wait: Wait::NoWait };
    assert!(matches!(b.get(tree, &key(0), nowait, &mut r), Err(Error::LockNoWait)));
    let skip = Read::Locking { mode: LockMode::Exclusive, wait: Wait::SkipLocked };
    assert_eq!(scan(&mut b, tree, ALL, Direction::Forward, skip).len(), 1);
    b.set_lock_wait_timeout(Duration::from_millis(30));
    assert!(matches!(b.get(tree, &key(0), X, &mut r), Err(Error::LockWaitTimeout)));
    b.interrupt().raise(1);
    b.set_lock_wait_timeout(Duration::from_secs(100));
    assert!(matches!(b.get(tree, &key(0), X, &mut r), Err(Error::Interrupted)));
    b.interrupt().clear_statement();
    a.commit().unwrap();
    assert!(b.get(tree, &key(0), X, &mut r).unwrap());
    assert_eq!(r, b"x");
}

#[test]
fn unique_values_are_unique() {
    let scratch = Scratch::new("unique");
    let engine = Engine::open(options(scratch.path()), &mut |_| ()).unwrap();
    let mut tx = begin(&engine);
    let index = engine.create_tree(&mut tx, TreeKind::Secondary).unwrap();
    tx.index_insert(index, b"aa1", Some(2), b"").unwrap();
    assert!(matches!(tx.index_insert(index, b"aa2", Some(2), b""), Err(Error::DuplicateKey)));
    tx.index_insert(index, b"ab2", Some(2), b"").unwrap();
    tx.index_delete(index, b"aa1").unwrap();
    tx.index_insert(index, b"aa2", Some(2), b"").unwrap();
    tx.commit().unwrap();
    tx.begin(Isolation::RepeatableRead, false);
    assert_eq!(scan(&mut tx, index, ALL, Direction::Forward, X).len(), 2);
}

#[test]
fn purge_gives_pages_back() {
    let scratch = Scratch::new("purge");
    let engine = Engine::open(options(scratch.path()), &mut |_| ()).unwrap();
    let tree = table(&engine);
    let mut tx = begin(&engine);
    for round in 0..6u64 {
        for i in 0..5000 {
            tx.insert(tree, &key(i), &row(i + round, 200)).unwrap();
        }
        tx.commit().unwrap();
        tx.begin(Isolation::RepeatableRead, false);
        for i in 0..5000 {
            let mut r = Vec::new();
            assert!(tx.get(tree, &key(i), X, &mut r).unwrap());
            tx.delete(tree, &key(i)).unwrap();
        }
        tx.commit().unwrap();
        tx.begin(Isolation::RepeatableRead, false);
    }
    tx.commit().unwrap();
    // Nothing holds purge back: in the end the tree is as small as a new one.
    let began = std::time::Instant::now();
    while engine.estimate(tree).unwrap() != (0, 1) {
        assert!(began.elapsed() < Duration::from_secs(20), "purge leaves {:?}", engine.estimate(tree));
        std::thread::yield_now();
    }
}

#[test]
fn a_row_read_to_be_written_is_checked_when_it_is_written() {
    let scratch = Scratch::new("claim");
    let engine = Engine::open(options(scratch.path()), &mut |_| ()).unwrap();
    let tree = table(&engine);
    let mut a = begin(&engine);
    a.insert(tree, &key(1), b"0").unwrap();
    a.commit().unwrap();
    let (mut b, mut r) = (begin(&engine), Vec::new());
    a.begin(Isolation::RepeatableRead, false);
    assert!(a.read_to_write(tree, &key(1), &mut r).unwrap());
    assert!(b.read_to_write(tree, &key(1), &mut r).unwrap());
    a.update(tree, &key(1), b"a").unwrap();
    assert!(matches!(b.update(tree, &key(1), b"b"), Err(Error::RowChanged)));
    a.commit().unwrap();
    assert!(matches!(b.update(tree, &key(1), b"b"), Ok(())), "without a claim the row is locked by the change");
    b.commit().unwrap();
    // A row that stays as it is is locked all the same.
    a.begin(Isolation::RepeatableRead, false);
    b.begin(Isolation::RepeatableRead, false);
    assert!(a.read_to_write(tree, &key(1), &mut r).unwrap());
    assert_eq!(r, b"b");
    a.keep_lock(tree, &key(1)).unwrap();
    b.set_lock_wait_timeout(Duration::from_millis(20));
    assert!(matches!(b.read_to_write(tree, &key(1), &mut r), Err(Error::LockWaitTimeout)));
    a.rollback().unwrap();
    assert!(b.read_to_write(tree, &key(1), &mut r).unwrap());
    a.begin(Isolation::RepeatableRead, false);
    assert!(a.read_to_write(tree, &key(1), &mut r).unwrap());
    a.delete(tree, &key(1)).unwrap();
    a.commit().unwrap();
    assert!(matches!(b.keep_lock(tree, &key(1)), Err(Error::RowChanged)));
    assert!(!b.read_to_write(tree, &key(1), &mut r).unwrap());
}
