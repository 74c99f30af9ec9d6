//! Pages on their way to the data file: batches that fail in the middle, on a simulated disk that tears what was not flushed.

mod common;

use common::{key, options, row};
use engine::{Cursor, Direction, Engine, EngineOptions, Error, Isolation, Range, Read, Transaction, Tree, TreeKind};
use io::Op;
use io::faults::{Action, Rule, Script, SimDisk};
use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

const ALL: Range<'static> = Range { lower: Bound::Unbounded, upper: Bound::Unbounded };
const ROWS: u64 = 8000;
const BYTES: usize = 1000;

fn open(datadir: &Path) -> Arc<Engine> {
    let small = EngineOptions {
        buffer_pool_bytes: 24 << 20,
        log_capacity_bytes: 64 << 20,
        address_space_bytes: 256 << 20,
        ..options(datadir)
    };
    Engine::open(small, &mut |_| ()).unwrap()
}

fn begin(engine: &Engine) -> Transaction {
    let mut tx = Transaction::new(engine).unwrap();
    tx.begin(Isolation::RepeatableRead, false);
    tx
}

/// Writes to the disk, by file. W: the witness. R: the test.
#[derive(Default)]
struct Writes {
    data: AtomicU64,
    doublewrite: AtomicU64,
}

fn count_writes(disk: &SimDisk) -> Arc<Writes> {
    let writes = Arc::new(Writes::default());
    let told = writes.clone();
    disk.set_witness(move |moment| {
        let path = moment.path.to_string_lossy();
        // Relaxed: numbers that a test polls.
        match moment.op {
            Op::Write if path.contains("clearway.data") => told.data.fetch_add(1, Ordering::Relaxed),
            Op::Write if path.contains("doublewrite") => told.doublewrite.fetch_add(1, Ordering::Relaxed),
            _ => 0,
        };
    });
    writes
}

fn until(done: impl Fn() -> bool) {
    while !done() {
        std::thread::yield_now();
    }
}

/// Row `id` in its `version`.
fn bytes(id: u64, version: u64) -> Vec<u8> {
    row(id + version * 1_000_003, BYTES)
}

/// A table of some 570 leaves whose pages are all in the data file.
fn filled(datadir: &Path) -> Tree {
    let engine = open(datadir);
    let mut tx = begin(&engine);
    let tree = engine.create_tree(&mut tx, TreeKind::Clustered).unwrap();
    for id in 0..ROWS {
        tx.insert(tree, &key(id), &bytes(id, 0)).unwrap();
    }
    tx.commit().unwrap();
    drop(tx);
    engine.close().unwrap();
    tree
}

/// Is it one of the rows that are changed, in some of each few leaves? Leaves lie in order, so that each run of them is a write.
fn is_changed(id: u64) -> bool {
    (id / 16).is_multiple_of(4)
}

/// Gives changed rows from `from` on below `to` their next version.
fn change(engine: &Engine, tree: Tree, from: u64, to: u64) {
    let mut tx = begin(engine);
    for id in (from..to).filter(|id| is_changed(*id)) {
        tx.update(tree, &key(id), &bytes(id, 1)).unwrap();
    }
    tx.commit().unwrap();
}

/// All rows, of which those that `change` touched have version 1 if `changed` says so.
fn check(engine: &Engine, tree: Tree, changed: impl Fn(u64) -> bool) {
    let mut tx = begin(engine);
    let mut cursor = Cursor::new(tree, ALL, Direction::Forward, Read::Consistent, 0);
    for id in 0..ROWS {
        let entry = cursor.next(&mut tx).unwrap().expect("a row is missing");
        assert_eq!(entry.key, key(id));
        let version = (is_changed(id) && changed(id)) as u64;
        assert!(entry.value == bytes(id, version), "row {id} is not what was committed");
    }
}

/// From the `nth` write to the data file on, the device answers with an error.
fn break_data_file(disk: &SimDisk, action: Action, nth: u64) {
    let mut script = Script::default();
    script.push(Rule::new(action, Some(Op::Write), nth).within("clearway.data"));
    disk.set_script(script);
}

/// A batch fails after some of its pages were written. The next change must not take the place of their only whole copies.
#[test]
fn a_batch_that_failed_is_repeated_before_another_takes_its_place() {
    for (name, action) in [("eio", Action::Fail), ("full", Action::Full)] {
        let datadir = format!("/sim/doublewrite-{name}");
        let datadir = Path::new(&datadir);
        let disk = SimDisk::mount(datadir, 1);
        let tree = filled(datadir);
        let engine = open(datadir);
        let writes = count_writes(&disk);
        break_data_file(&disk, action, 15);
        change(&engine, tree, ROWS / 4 * 3, ROWS);
        // The batch has begun and stands still.
        until(|| writes.data.load(Ordering::Relaxed) >= 15);
        change(&engine, tree, 0, ROWS / 4 * 3);
        let now = writes.data.load(Ordering::Relaxed);
        until(|| writes.data.load(Ordering::Relaxed) > now + 2);
        for seed in 0..12 {
            let after = format!("/sim/doublewrite-{name}-{seed}");
            let cut = disk.image().mount(&after, seed);
            cut.reboot();
            let again = open(Path::new(&after));
            check(&again, tree, |_| true);
            again.close().unwrap();
            drop(again);
            cut.unmount();
        }
        // At shutdown it is tried again, and when it fails nobody says that all is well.
        let closed = engine.close();
        assert!(matches!(closed, Err(Error::Io(_) | Error::DiskFull)), "{closed:?}");
        drop(engine);
        for seed in 20..24 {
            let after = format!("/sim/doublewrite-{name}-{seed}");
            let cut = disk.image().mount(&after, seed);
            cut.reboot();
            let again = open(Path::new(&after));
            check(&again, tree, |_| true);
            again.close().unwrap();
            drop(again);
            cut.unmount();
        }
        disk.unmount();
    }
}

/// When the device takes writes again, the same batch goes first and the rest follows.
#[test]
fn a_batch_that_failed_goes_on_when_the_device_does() {
    let datadir = Path::new("/sim/doublewrite-again");
    let disk = SimDisk::mount(datadir, 1);
    let tree = filled(datadir);
    let engine = open(datadir);
    let writes = count_writes(&disk);
    break_data_file(&disk, Action::Fail, 15);
    change(&engine, tree, ROWS / 4 * 3, ROWS);
    until(|| writes.data.load(Ordering::Relaxed) >= 15);
    disk.set_script(Script::default());
    change(&engine, tree, 0, ROWS / 4 * 3);
    // The checkpoint passes what was in the batch: it has been repeated.
    let lsn = |name: &str| engine.status().counters.iter().find(|(n, _)| *n == name).expect("it is counted").1;
    let changed = lsn("Innodb_redo_log_current_lsn");
    until(|| lsn("Innodb_redo_log_checkpoint_lsn") >= changed);
    engine.close().unwrap();
    drop(engine);
    // No log is needed any more: what the data file says is what was committed.
    disk.crash();
    disk.reboot();
    let engine = open(datadir);
    check(&engine, tree, |_| true);
    engine.close().unwrap();
    drop(engine);
    disk.unmount();
}

/// A device that writes pages whole needs no second copy, and what an image of any moment loses is whole pages.
#[test]
fn pages_that_the_device_writes_whole_are_not_written_twice() {
    let datadir = Path::new("/sim/whole-pages");
    let disk = SimDisk::mount(datadir, 1);
    disk.set_atomic_write_bytes(64 << 10);
    let small = |datadir: &Path| {
        let options = EngineOptions {
            buffer_pool_bytes: 24 << 20,
            log_capacity_bytes: 64 << 20,
            address_space_bytes: 256 << 20,
            direct_io: true,
            ..options(datadir)
        };
        let mut told = Vec::new();
        let engine = Engine::open(options, &mut |line| told.push(line.to_owned())).unwrap();
        (engine, told)
    };
    let tree = filled(datadir);
    let (engine, told) = small(datadir);
    assert!(told.iter().any(|line| line.contains("not written twice")), "{told:?}");
    let writes = count_writes(&disk);
    for step in 0..8 {
        change(&engine, tree, ROWS / 8 * step, ROWS / 8 * (step + 1));
        let now = writes.data.load(Ordering::Relaxed);
        until(|| writes.data.load(Ordering::Relaxed) > now + 3);
        let after = format!("/sim/whole-pages-{step}");
        let cut = disk.image().mount(&after, step);
        cut.set_atomic_write_bytes(64 << 10);
        cut.reboot();
        let (again, told) = small(Path::new(&after));
        assert!(!told.iter().any(|line| line.contains("torn")), "{told:?}");
        check(&again, tree, |id| id < ROWS / 8 * (step + 1));
        again.close().unwrap();
        drop(again);
        cut.unmount();
    }
    assert_eq!(writes.doublewrite.load(Ordering::Relaxed), 0);
    engine.close().unwrap();
    drop(engine);
    disk.unmount();
}
