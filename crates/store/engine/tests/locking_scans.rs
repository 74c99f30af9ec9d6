//! Locking scans without gap locks miss no row: what others have done when the scan comes by, it sees.

mod common;

use common::{Scratch, key, options};
use engine::{Cursor, Direction, Engine, Isolation, LockMode, Range, Read, Transaction, Tree, TreeKind, Wait};
use std::ops::Bound;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;

const ALL: Range<'static> = Range { lower: Bound::Unbounded, upper: Bound::Unbounded };
const X: Read = Read::Locking { mode: LockMode::Exclusive, wait: Wait::Block };

fn begin(engine: &Engine) -> Transaction {
    let mut tx = Transaction::new(engine).unwrap();
    tx.begin(Isolation::ReadCommitted, false);
    tx
}

/// A tree with these keys.
fn tree(engine: &Engine, kind: TreeKind, keys: impl IntoIterator<Item = u64>) -> Tree {
    let mut tx = begin(engine);
    let tree = engine.create_tree(&mut tx, kind).unwrap();
    for i in keys {
        put(&mut tx, tree, i);
    }
    tx.commit().unwrap();
    tree
}

fn put(tx: &mut Transaction, tree: Tree, i: u64) {
    match tree.kind {
        TreeKind::Clustered => tx.insert(tree, &key(i), b"row").unwrap(),
        TreeKind::Secondary => tx.index_insert(tree, &key(i), None, b"").unwrap(),
    }
}

/// Takes a key away that is locked or was never anybody else's.
fn take(tx: &mut Transaction, tree: Tree, i: u64) {
    match tree.kind {
        TreeKind::Clustered => {
            assert!(tx.get(tree, &key(i), X, &mut Vec::new()).unwrap());
            tx.delete(tree, &key(i)).unwrap();
        }
        TreeKind::Secondary => tx.index_delete(tree, &key(i)).unwrap(),
    }
}

/// Scans the tree with exclusive locks in a thread, telling of each key that it comes to; it goes on when it may.
fn scan(
    engine: &Arc<Engine>,
    tree: Tree,
    direction: Direction,
    semi_consistent: bool,
    told: Sender<u64>,
    may_go_on: std::sync::mpsc::Receiver<()>,
) -> JoinHandle<Vec<u64>> {
    let engine = Arc::clone(engine);
    std::thread::spawn(move || {
        let mut tx = begin(&engine);
        let mut cursor = Cursor::new(tree, ALL, direction, X, 0);
        cursor.set_semi_consistent(semi_consistent);
        let mut found = Vec::new();
        while let Some(entry) = cursor.next(&mut tx).unwrap() {
            let i = u64::from_be_bytes(entry.key.try_into().unwrap());
            if cursor.is_unlocked() && cursor.lock_last(&mut tx).unwrap().is_none() {
                continue;
            }
            found.push(i);
            told.send(i).unwrap();
            may_go_on.recv().unwrap();
        }
        tx.rollback().unwrap();
        found
    })
}

/// A scan that waits for key 100 while others change what lies ahead: the keys that it must have found.
fn waits(kind: TreeKind, direction: Direction, semi_consistent: bool) {
    let scratch = Scratch::new("scans");
    let engine = Engine::open(options(scratch.path()), &mut |_| ()).unwrap();
    let tree = tree(&engine, kind, [100, 200, 300, 400]);
    let mirror = |i: u64| if direction == Direction::Forward { i } else { 500 - i };
    let mut other = begin(&engine);
    // Holds the first entry that the scan comes to: written, and put back as it was.
    take(&mut other, tree, mirror(100));
    put(&mut other, tree, mirror(100));
    let (told, tells) = channel();
    let (go, may_go_on) = channel();
    let scanner = scan(&engine, tree, direction, semi_consistent, told, may_go_on);
    while engine.lock_waits() == 0 {
        assert!(!scanner.is_finished());
        std::thread::yield_now();
    }
    // A row moves, one is inserted, one goes.
    take(&mut other, tree, mirror(200));
    put(&mut other, tree, mirror(210));
    put(&mut other, tree, mirror(350));
    take(&mut other, tree, mirror(400));
    other.commit().unwrap();
    for _ in 0..4 {
        go.send(()).unwrap();
    }
    let found = scanner.join().unwrap();
    assert_eq!(found, [100, 210, 300, 350].map(mirror), "{kind:?} {direction:?} {semi_consistent}");
    assert_eq!(tells.try_iter().count(), 4);
}

#[test]
fn after_a_wait_a_scan_sees_what_was_changed_meanwhile() {
    for kind in [TreeKind::Clustered, TreeKind::Secondary] {
        for direction in [Direction::Forward, Direction::Backward] {
            waits(kind, direction, false);
            if kind == TreeKind::Clustered {
                waits(kind, direction, true);
            }
        }
    }
}

#[test]
fn between_two_rows_a_scan_sees_what_was_changed_ahead() {
    for direction in [Direction::Forward, Direction::Backward] {
        let scratch = Scratch::new("scans");
        let engine = Engine::open(options(scratch.path()), &mut |_| ()).unwrap();
        let tree = tree(&engine, TreeKind::Secondary, [100, 200, 300]);
        let mirror = |i: u64| if direction == Direction::Forward { i } else { 400 - i };
        let (told, tells) = channel();
        let (go, may_go_on) = channel();
        let scanner = scan(&engine, tree, direction, false, told, may_go_on);
        assert_eq!(tells.recv().unwrap(), mirror(100));
        let mut other = begin(&engine);
        // From behind the copied rows to between them, and behind the last one.
        take(&mut other, tree, mirror(300));
        put(&mut other, tree, mirror(150));
        put(&mut other, tree, mirror(350));
        other.commit().unwrap();
        for _ in 0..4 {
            go.send(()).unwrap();
        }
        let found = scanner.join().unwrap();
        assert_eq!(found, [100, 150, 200, 350].map(mirror), "{direction:?}");
    }
}

#[test]
fn a_scan_that_changes_the_leaf_itself_meets_each_row_once() {
    let scratch = Scratch::new("scans");
    let engine = Engine::open(options(scratch.path()), &mut |_| ()).unwrap();
    let tree = tree(&engine, TreeKind::Clustered, 0..3_000);
    for direction in [Direction::Forward, Direction::Backward] {
        let mut tx = begin(&engine);
        let mut cursor = Cursor::new(tree, ALL, direction, X, 0);
        let mut met = Vec::new();
        while let Some(entry) = cursor.next(&mut tx).unwrap() {
            let i = u64::from_be_bytes(entry.key.try_into().unwrap());
            met.push(i);
            match i % 3 {
                0 => tx.update(tree, &key(i), &[7; 40]).unwrap(),
                1 => tx.delete(tree, &key(i)).unwrap(),
                _ => {}
            }
        }
        let mut expected: Vec<u64> = (0..3_000).collect();
        if direction == Direction::Backward {
            expected.reverse();
        }
        assert_eq!(met, expected);
        tx.rollback().unwrap();
    }
}
