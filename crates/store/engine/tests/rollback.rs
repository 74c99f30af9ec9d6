//! Rollback cannot fail: rows that grow again find their place, on a full disk too; where a page cannot be read it goes on in the
//! background, and nothing that it was to undo is ever committed.

mod common;

use common::{await_rollbacks, key, options, row};
use engine::{
    Cursor, Direction, Engine, EngineOptions, Error, Isolation, LockMode, Range, Read, Transaction, Tree, TreeKind,
    Wait,
};
use io::Op;
use io::faults::{Script, SimDisk};
use std::ops::Bound;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

const X: Read = Read::Locking { mode: LockMode::Exclusive, wait: Wait::Block };
const ALL: Range<'static> = Range { lower: Bound::Unbounded, upper: Bound::Unbounded };

fn disk(name: &str) -> (SimDisk, EngineOptions) {
    let root = PathBuf::from(format!("/sim/rollback-{name}"));
    (SimDisk::mount(&root, 1), simulated(root))
}

fn simulated(datadir: PathBuf) -> EngineOptions {
    EngineOptions { buffer_pool_bytes: 16 << 20, log_capacity_bytes: 16 << 20, ..options(&datadir) }
}

fn open(options: &EngineOptions) -> Arc<Engine> {
    Engine::open(options.clone(), &mut |_| ()).unwrap()
}

fn begin(engine: &Engine) -> Transaction {
    let mut tx = Transaction::new(engine).unwrap();
    tx.begin(Isolation::ReadCommitted, false);
    tx
}

/// Even keys hold rows of 3,000 bytes.
fn table(engine: &Engine, rows: u64) -> Tree {
    let mut tx = begin(engine);
    let tree = engine.create_tree(&mut tx, TreeKind::Clustered).unwrap();
    for i in 0..rows {
        tx.insert(tree, &key(2 * i), &row(2 * i, 3000)).unwrap();
    }
    tx.commit().unwrap();
    tree
}

/// Shrinks all rows, and leaves the transaction open.
fn shrink(engine: &Engine, tree: Tree, rows: u64) -> Transaction {
    let mut tx = begin(engine);
    let mut old = Vec::new();
    for i in 0..rows {
        assert!(tx.get(tree, &key(2 * i), X, &mut old).unwrap());
        tx.update(tree, &key(2 * i), b"short").unwrap();
    }
    tx
}

/// Takes the room that the rows gave up.
fn fill(engine: &Engine, tree: Tree, rows: u64) -> u64 {
    for i in 0..rows {
        let mut tx = begin(engine);
        tx.insert(tree, &key(2 * i + 1), &row(2 * i + 1, 2900)).unwrap();
        tx.commit().unwrap();
    }
    rows
}

/// Fills the disk, but for what statements must leave.
fn exhaust(engine: &Engine, disk: &SimDisk) {
    disk.set_room(Some(0));
    let mut tx = begin(engine);
    let other = engine.create_tree(&mut tx, TreeKind::Clustered).unwrap();
    tx.commit().unwrap();
    for i in 0.. {
        let mut tx = begin(engine);
        if let Err(error) = tx.insert(other, &key(i), stored!(row(i, 7000))) {
            assert!(matches!(error, Error::DiskFull), "{error}");
            tx.rollback().unwrap();
            break;
        }
        tx.commit().unwrap();
    }
}

/// Every even row is whole again and the odd ones that were put between are there.
fn check(engine: &Engine, tree: Tree, rows: u64, filled: u64) {
    let mut tx = begin(engine);
    let mut cursor = Cursor::new(tree, ALL, Direction::Forward, Read::Consistent, 0);
    let (mut even, mut odd) = (0, 0);
    while let Some(entry) = cursor.next(&mut tx).unwrap() {
        let i = u64::from_be_bytes(entry.key.try_into().unwrap());
        let len = if i % 2 == 0 { 3000 } else { 2900 };
        assert_eq!(entry.value, row(i, len), "row {i}");
        *(if i % 2 == 0 { &mut even } else { &mut odd }) += 1;
    }
    tx.rollback().unwrap();
    assert_eq!((even, odd), (rows, filled));
}

#[test]
fn rows_that_grow_again_find_room() {
    let (_disk, options) = disk("grows");
    let engine = open(&options);
    let tree = table(&engine, 6_000);
    let mut tx = shrink(&engine, tree, 6_000);
    let filled = fill(&engine, tree, 6_000);
    tx.rollback().unwrap();
    check(&engine, tree, 6_000, filled);
}

/// The server as the next start finds it when the power fails now.
fn after_power_cut(disk: &SimDisk, name: &str, seed: u64) -> (SimDisk, Arc<Engine>) {
    let root = PathBuf::from(format!("/sim/rollback-after-{name}"));
    let after = disk.image().mount(&root, seed);
    after.reboot();
    let engine = open(&simulated(root));
    (after, engine)
}

#[test]
fn a_crash_before_or_in_the_middle_of_such_a_rollback_is_undone_by_the_next_start() {
    let (disk, options) = disk("crash");
    let engine = open(&options);
    let tree = table(&engine, 2_000);
    let mut tx = shrink(&engine, tree, 2_000);
    let filled = fill(&engine, tree, 2_000);
    let (_after, restarted) = after_power_cut(&disk, "before", 1);
    await_rollbacks(&restarted);
    check(&restarted, tree, 2_000, filled);
    drop(restarted);
    // What the disk was at some changes while it is undone.
    let (give, images) = channel();
    let mut seen = 0u64;
    disk.set_witness(move |moment| {
        seen += 1;
        // Each is a copy of the disk, which the write waits for: no more than are looked at.
        if seen.is_multiple_of(4) && seen <= 48 {
            give.send(moment.image()).expect("the test waits for them");
        }
    });
    tx.rollback().unwrap();
    let images: Vec<_> = images.try_iter().collect();
    assert!(images.len() >= 3, "{} images", images.len());
    for (i, image) in images.into_iter().enumerate() {
        let root = PathBuf::from(format!("/sim/rollback-middle-{i}"));
        let after = image.mount(&root, i as u64);
        after.reboot();
        let restarted = open(&simulated(root));
        await_rollbacks(&restarted);
        check(&restarted, tree, 2_000, filled);
    }
}

#[test]
fn on_a_full_disk_too() {
    let (disk, options) = disk("full");
    let engine = open(&options);
    let tree = table(&engine, 8_000);
    let mut tx = shrink(&engine, tree, 8_000);
    let filled = fill(&engine, tree, 8_000);
    exhaust(&engine, &disk);
    tx.rollback().unwrap();
    check(&engine, tree, 8_000, filled);
    engine.close().unwrap();
}

/// What a transaction changes more than once grows and shrinks where it is, and comes back version by version.
#[test]
fn each_version_of_a_row_comes_back() {
    const ROWS: u64 = 300;
    let (disk, options) = disk("versions");
    let engine = open(&options);
    let tree = table(&engine, ROWS);
    let mut tx = begin(&engine);
    let mut old = Vec::new();
    let mut kept = Vec::new();
    // The last one is longer than the place that the row has.
    for len in [2000, 1999, 1900, 1645, 10, 2500, 9, 3000, 3001, 0, 3400] {
        let savepoint = tx.savepoint();
        for i in 0..ROWS {
            assert!(tx.get(tree, &key(2 * i), X, &mut old).unwrap());
            kept.push(old.clone());
            tx.update(tree, &key(2 * i), &row(2 * i, len)[..]).unwrap();
            if i % 3 == 0 {
                assert!(tx.get(tree, &key(2 * i), X, &mut old).unwrap());
                tx.delete(tree, &key(2 * i)).unwrap();
                tx.insert(tree, &key(2 * i), &row(2 * i, len / 2)[..]).unwrap();
            }
        }
        if len == 10 {
            fill(&engine, tree, ROWS);
            exhaust(&engine, &disk);
            disk.set_room(None);
        }
        if len % 2 == 0 {
            tx.rollback_to(savepoint).unwrap();
            for i in 0..ROWS {
                assert!(tx.get(tree, &key(2 * i), X, &mut old).unwrap());
                assert_eq!(old, kept[i as usize], "row {i} before it had {len} bytes");
            }
        }
        kept.clear();
    }
    tx.rollback().unwrap();
    check(&engine, tree, ROWS, ROWS);
    engine.close().unwrap();
}

/// Room that rows gave up is others' once their transaction has ended.
#[test]
fn what_is_committed_keeps_no_room() {
    let (disk, options) = disk("committed");
    let engine = open(&options);
    let tree = table(&engine, 2_000);
    shrink(&engine, tree, 2_000).commit().unwrap();
    let before = engine.tree_space(tree).used_bytes;
    fill(&engine, tree, 2_000);
    let after = engine.tree_space(tree).used_bytes;
    assert!(after < before + before / 4, "{after} bytes, {before} before");
    engine.close().unwrap();
    drop(disk);
}

/// A deletion that purge has not come to yet, of a row that was made shorter: who looks for it locks the gap.
#[test]
fn a_row_with_spare_bytes_that_is_gone_is_a_gap() {
    let (disk, options) = disk("gone");
    let engine = open(&options);
    let tree = table(&engine, 10);
    let mut old = Vec::new();
    let mut snapshot = Transaction::new(&engine).unwrap();
    snapshot.begin(Isolation::RepeatableRead, false);
    assert!(snapshot.get(tree, &key(4), Read::Consistent, &mut old).unwrap());
    let mut tx = begin(&engine);
    assert!(tx.get(tree, &key(4), X, &mut old).unwrap());
    tx.update(tree, &key(4), b"short").unwrap();
    tx.delete(tree, &key(4)).unwrap();
    tx.commit().unwrap();
    tx.begin(Isolation::RepeatableRead, false);
    assert!(!tx.get(tree, &key(4), X, &mut old).unwrap());
    let mut other = begin(&engine);
    other.set_lock_wait_timeout(Duration::from_millis(10));
    assert!(matches!(other.insert(tree, &key(4), b"x"), Err(Error::LockWaitTimeout)));
    other.rollback().unwrap();
    tx.rollback().unwrap();
    assert!(snapshot.get(tree, &key(4), Read::Consistent, &mut old).unwrap() && old == row(4, 3000));
    drop((snapshot, tx, other));
    engine.close().unwrap();
    drop(disk);
}

#[test]
fn where_pages_cannot_be_read_the_background_goes_on_and_nothing_is_committed() {
    let (disk, options) = disk("unread");
    let engine = open(&options);
    let tree = table(&engine, 8_000);
    let mut tx = shrink(&engine, tree, 8_000);
    let filled = fill(&engine, tree, 8_000);
    disk.fail_from(Op::Read, 1);
    let error = tx.rollback().unwrap_err();
    assert!(matches!(error, Error::Io(_)), "{error}");
    assert!(!tx.is_active(), "for the session it is over");
    assert_eq!(engine.rollbacks_pending(), 1);

    // What is not undone yet stays locked, is shown to nobody, and no commit makes it durable.
    let mut other = begin(&engine);
    other.set_lock_wait_timeout(Duration::from_millis(10));
    let mut read = Vec::new();
    let mut locked = 0;
    for i in 0..8_000 {
        if let Ok(found) = other.get(tree, &key(2 * i), Read::Consistent, &mut read) {
            assert!(found && read.len() == 3000, "row {i}");
        }
        let skip = Read::Locking { mode: LockMode::Exclusive, wait: Wait::SkipLocked };
        locked += matches!(other.get(tree, &key(2 * i), skip, &mut read), Ok(false)) as u64;
    }
    assert!(locked > 0);
    other.rollback().unwrap();
    tx.begin(Isolation::ReadCommitted, false);
    tx.commit().unwrap();

    disk.set_script(Script::default());
    await_rollbacks(&engine);
    check(&engine, tree, 8_000, filled);
    engine.close().unwrap();
}

#[test]
fn a_statement_that_cannot_be_undone_leaves_a_transaction_that_only_rolls_back() {
    let (disk, options) = disk("statement");
    let engine = open(&options);
    let tree = table(&engine, 8_000);
    let mut tx = begin(&engine);
    let savepoint = tx.savepoint();
    let mut old = Vec::new();
    for i in 0..8_000 {
        assert!(tx.get(tree, &key(2 * i), X, &mut old).unwrap());
        tx.update(tree, &key(2 * i), b"short").unwrap();
    }
    let filled = fill(&engine, tree, 8_000);
    disk.fail_from(Op::Read, 1);
    assert!(matches!(tx.rollback_to(savepoint), Err(Error::Io(_))));
    assert!(tx.is_active() && tx.must_roll_back());
    assert!(matches!(tx.insert(tree, &key(1 << 40), b"x"), Err(Error::MustRollBack)));
    assert!(matches!(tx.get(tree, &key(0), X, &mut old), Err(Error::MustRollBack)));
    assert!(matches!(tx.rollback_to(savepoint), Err(Error::MustRollBack)));
    assert!(matches!(tx.commit(), Err(Error::MustRollBack)));
    assert!(!tx.is_active(), "a commit that fails has rolled back");
    tx.begin(Isolation::ReadCommitted, false);
    tx.rollback().unwrap();
    disk.set_script(Script::default());
    await_rollbacks(&engine);
    check(&engine, tree, 8_000, filled);
}

#[test]
fn a_start_with_open_transactions_serves_while_they_are_undone() {
    let (disk, options) = disk("start");
    let engine = open(&options);
    let tree = table(&engine, 2_000);
    let tx = shrink(&engine, tree, 2_000);
    let (_after, engine) = after_power_cut(&disk, "start", 3);
    drop(tx);
    let mut reader = begin(&engine);
    let mut read = Vec::new();
    assert!(reader.get(tree, &key(3_998), Read::Consistent, &mut read).unwrap());
    assert_eq!(read, row(3_998, 3000));
    // A writer of such a row waits for it and then changes what was there before.
    assert!(reader.get(tree, &key(0), X, &mut read).unwrap());
    assert_eq!(read, row(0, 3000));
    reader.rollback().unwrap();
    await_rollbacks(&engine);
    check(&engine, tree, 2_000, 0);
}

/// A transaction that a crash left open and that is not undone yet is waited for by who wants the tables that it changed, and by
/// nobody else.
#[test]
fn who_waits_for_rollbacks_waits_for_those_of_its_tables() {
    const ROWS: u64 = 100;
    let (disk, options) = disk("tables");
    let engine = open(&options);
    let [first, second, untouched] = [(); 3].map(|()| table(&engine, ROWS));
    let mut open = shrink(&engine, first, ROWS);
    open.insert(second, &key(1), b"one").unwrap();
    // Its flush takes the open transaction's changes along.
    let mut other = begin(&engine);
    other.insert(untouched, &key(1), b"one").unwrap();
    other.commit().unwrap();
    let image = disk.image();
    drop((open, other, engine));
    disk.unmount();

    let root = PathBuf::from("/sim/rollback-tables-after");
    let disk = image.mount(&root, 1);
    disk.reboot();
    Engine::open_stepped(simulated(root), &mut |_| (), |engine, mut stepper| {
        assert_eq!(engine.rollbacks_pending(), 1);
        let tx = Transaction::new(engine).unwrap();
        let passes = |trees: &[Tree]| tx.await_rollbacks(trees, Duration::from_secs(60)).is_ok();
        let is_awaited =
            |trees: &[Tree]| matches!(tx.await_rollbacks(trees, Duration::ZERO), Err(Error::LockWaitTimeout));
        for records in [0, 1, 10] {
            stepper.roll_back(records);
            assert!(passes(&[untouched, engine.dictionary()]));
            assert!(is_awaited(&[first]) && is_awaited(&[second]) && is_awaited(&[untouched, second]));
        }
        tx.interrupt().raise(1);
        assert!(matches!(tx.await_rollbacks(&[first], Duration::from_secs(60)), Err(Error::Interrupted)));
        tx.interrupt().clear_statement();
        stepper.roll_back(u32::MAX);
        assert_eq!(engine.rollbacks_pending(), 0);
        assert!(passes(&[first, second, untouched]));
    })
    .unwrap();
    disk.unmount();
}
