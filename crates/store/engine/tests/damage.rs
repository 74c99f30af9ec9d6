//! Pages that recovery cannot read: the server opens, what needs such a page answers an error, and no older version of it is ever shown.

mod common;

use common::{key, options, row};
use engine::{Engine, EngineOptions, Error, Isolation, LockMode, Read, Transaction, Tree, TreeKind, Wait};
use io::Op;
use io::faults::{Action, Image, Rule, Script, SimDisk};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

const X: Read = Read::Locking { mode: LockMode::Exclusive, wait: Wait::Block };
const ROWS: u64 = 3000;
const PAGE: usize = 16384;
const LEAF: u8 = 3;

fn small(datadir: &Path) -> EngineOptions {
    EngineOptions {
        buffer_pool_bytes: 8 << 20,
        log_capacity_bytes: 16 << 20,
        address_space_bytes: 256 << 20,
        ..options(datadir)
    }
}

fn open(datadir: &Path) -> engine::Result<Arc<Engine>> {
    Engine::open(small(datadir), &mut |_| ())
}

fn begin(engine: &Engine) -> Transaction {
    let mut tx = Transaction::new(engine).unwrap();
    tx.begin(Isolation::ReadCommitted, false);
    tx
}

/// The newest version of a row: each seventh was changed after the checkpoint.
fn newest(id: u64) -> Vec<u8> {
    row(if id.is_multiple_of(7) { id + 1000 } else { id }, 300)
}

/// Two tables; all of their pages are on the disk, the changes of each seventh row are in the log only.
fn prepared(name: &str) -> (Image, [Tree; 2]) {
    prepared_by(name, |tx, tree, id| tx.update(tree, &key(id), &newest(id)))
}

/// The same, with what becomes of each seventh row, which is locked.
fn prepared_by(name: &str, change: impl Fn(&mut Transaction, Tree, u64) -> engine::Result<()>) -> (Image, [Tree; 2]) {
    let datadir = PathBuf::from(format!("/sim/damage-{name}"));
    let disk = SimDisk::mount(&datadir, 1);
    let engine = open(&datadir).unwrap();
    let mut tx = begin(&engine);
    let trees = [(); 2].map(|()| engine.create_tree(&mut tx, TreeKind::Clustered).unwrap());
    for (tree, id) in trees.iter().flat_map(|tree| (0..ROWS).map(move |id| (*tree, id))) {
        tx.insert(tree, &key(id), &row(id, 300)).unwrap();
    }
    tx.commit().unwrap();
    drop(tx);
    engine.close().unwrap();
    drop(engine);
    let engine = open(&datadir).unwrap();
    // No page gets to the disk from here on, so the checkpoint stays where it is.
    let mut script = Script::default();
    script.push(Rule::new(Action::Fail, Some(Op::Write), 1).within("clearway.d"));
    disk.set_script(script);
    let mut tx = begin(&engine);
    let mut old = Vec::new();
    for (tree, id) in trees.iter().flat_map(|tree| (0..ROWS).step_by(7).map(move |id| (*tree, id))) {
        assert!(tx.get(tree, &key(id), X, &mut old).unwrap());
        change(&mut tx, tree, id).unwrap();
    }
    tx.commit().unwrap();
    drop(tx);
    let image = disk.image();
    drop(engine);
    disk.unmount();
    (image, trees)
}

/// Pages of a type, and of a tree if it says so.
fn pages(datadir: &Path, kind: u8, tree: Option<Tree>) -> Vec<usize> {
    let file =
        io::File::open(datadir.join("clearway.data"), io::OpenOptions::read(sync::waits::Wait::DataFile)).unwrap();
    let mut bytes = vec![0; file.len().unwrap() as usize];
    file.read_at(&mut bytes, 0).unwrap();
    let belongs = |page: &[u8]| tree.is_none_or(|tree| page[24..28] == tree.id.to_le_bytes());
    let all = bytes.chunks(PAGE).enumerate().filter(|(_, page)| page[4] == kind && belongs(page));
    all.map(|(id, _)| id).collect()
}

/// Reads a table: how many rows are the newest ones; of the others each answers that `page` is damaged.
fn read(engine: &Engine, tree: Tree, page: usize) -> u64 {
    let mut tx = begin(engine);
    let mut found = Vec::new();
    let mut good = 0;
    for id in 0..ROWS {
        match tx.get(tree, &key(id), Read::Consistent, &mut found) {
            Ok(there) => {
                assert!(there && found == newest(id), "row {id} is an older one");
                good += 1;
            }
            Err(Error::Corrupt(what)) => assert!(what.contains(&format!("page {page} ")), "{what}"),
            Err(error) => panic!("row {id}: {error}"),
        }
    }
    good
}

#[test]
fn a_leaf_that_recovery_cannot_read_closes_its_rows_only_and_for_good() {
    let (image, [damaged, whole]) = prepared("leaf");
    let datadir = PathBuf::from("/sim/damage-leaf-after");
    let disk = image.mount(&datadir, 1);
    disk.reboot();
    let data = datadir.join("clearway.data");
    let leaves = pages(&datadir, LEAF, Some(damaged));
    let page = leaves[leaves.len() / 2];
    assert!(disk.corrupt(&data, page * PAGE + 5000, 1));
    let engine = open(&datadir).unwrap();
    assert_eq!(read(&engine, whole, page), ROWS);
    let good = read(&engine, damaged, page);
    assert!(good < ROWS && good > ROWS * 9 / 10, "{good} rows");
    // It works on, and checkpoints pass what could not be applied.
    let mut tx = begin(&engine);
    tx.insert(whole, &key(ROWS), b"more").unwrap();
    tx.commit().unwrap();
    drop(tx);
    engine.close().unwrap();
    drop(engine);
    // The device gives the bytes as they once were: whole, and older than what was acknowledged.
    assert!(disk.corrupt(&data, page * PAGE + 5000, 1));
    for _ in 0..2 {
        let engine = open(&datadir).unwrap();
        assert_eq!(read(&engine, whole, page), ROWS);
        assert_eq!(read(&engine, damaged, page), good, "an older version came back");
        engine.close().unwrap();
    }
    disk.unmount();
}

#[test]
fn a_page_that_everything_needs_stops_the_start_and_is_named() {
    let (image, _) = prepared("essential");
    // The identity of the file, who owns what, the undo directory; the undo that open transactions would be rolled back by.
    for kind in [1, 2, 5, 6] {
        let datadir = PathBuf::from(format!("/sim/damage-essential-{kind}"));
        let disk = image.clone().mount(&datadir, 1);
        disk.reboot();
        let page = *pages(&datadir, kind, None).last().unwrap();
        assert!(disk.corrupt(datadir.join("clearway.data"), page * PAGE + 5000, 1));
        match open(&datadir) {
            Err(Error::Corrupt(what)) => assert!(what.contains(&format!("page {page} ")), "{what}"),
            Err(error) => panic!("page {page}: {error}"),
            Ok(_) => panic!("opened without page {page}"),
        }
        disk.unmount();
    }
}

/// Reading fails once, in whatever read of recovery: giving a page up would lose what is still there.
#[test]
fn a_read_that_fails_once_loses_nothing() {
    let (image, trees) = prepared("once");
    let mut reads = 0;
    for nth in 2.. {
        let datadir = PathBuf::from(format!("/sim/damage-once-{nth}"));
        let disk = image.clone().mount(&datadir, nth);
        disk.reboot();
        let mut script = Script::default();
        script.push(Rule::new(Action::FailOnce, Some(Op::Read), nth).within("clearway.data"));
        disk.set_script(script);
        // Pages that everything needs are read after redo, too: then the start fails, and the next one does not.
        let engine = open(&datadir).or_else(|_| open(&datadir)).unwrap();
        let before = disk.count(Op::Read);
        for tree in trees {
            assert_eq!(read(&engine, tree, 0), ROWS, "read {nth}");
        }
        engine.close().unwrap();
        drop(engine);
        disk.unmount();
        reads = before;
        if nth > 40 {
            break;
        }
    }
    assert!(reads > 40, "recovery reads more than {reads} times");
}

/// The doublewrite file has a whole copy of a page that cannot be read in its place.
#[test]
fn an_unreadable_page_is_restored_from_its_copy() {
    let datadir = PathBuf::from("/sim/damage-copy");
    let disk = SimDisk::mount(&datadir, 1);
    let engine = open(&datadir).unwrap();
    let mut tx = begin(&engine);
    let tree = engine.create_tree(&mut tx, TreeKind::Clustered).unwrap();
    (0..ROWS).for_each(|id| tx.insert(tree, &key(id), &newest(id)).unwrap());
    tx.commit().unwrap();
    drop(tx);
    engine.close().unwrap();
    drop(engine);
    let mut script = Script::default();
    script.push(Rule::new(Action::FailOnce, Some(Op::Read), 1).within("clearway.data"));
    disk.set_script(script);
    let mut told = Vec::new();
    let engine = Engine::open(small(&datadir), &mut |line| told.push(line.to_owned())).unwrap();
    assert!(told.iter().any(|line| line.contains("restored 1 torn pages")), "{told:?}");
    assert_eq!(read(&engine, tree, 0), ROWS);
    engine.close().unwrap();
    drop(engine);
    disk.unmount();
}

/// Deleted rows that cannot be removed keep nothing else from being purged, and go with their table.
#[test]
fn purge_goes_on_behind_a_damaged_leaf() {
    let (image, [damaged, whole]) = prepared_by("purge", |tx, tree, id| tx.delete(tree, &key(id)));
    let datadir = PathBuf::from("/sim/damage-purge-after");
    let disk = image.mount(&datadir, 1);
    disk.reboot();
    let leaves = pages(&datadir, LEAF, Some(damaged));
    let page = leaves[leaves.len() / 2];
    assert!(disk.corrupt(datadir.join("clearway.data"), page * PAGE + 5000, 1));
    let engine = open(&datadir).unwrap();
    await_purge(&engine);
    let mut tx = begin(&engine);
    let mut found = Vec::new();
    for id in 0..ROWS {
        assert_eq!(tx.get(whole, &key(id), Read::Consistent, &mut found).unwrap(), !id.is_multiple_of(7), "row {id}");
    }
    engine.drop_tree(&mut tx, damaged).unwrap();
    tx.commit().unwrap();
    drop(tx);
    await_purge(&engine);
    let began = Instant::now();
    while engine.tree_space(damaged).used_bytes > 0 {
        assert!(began.elapsed() < Duration::from_secs(60), "the tree is not freed");
        std::thread::yield_now();
    }
    common::check_sound(&engine, &[whole], "after the drop");
    engine.close().unwrap();
    disk.unmount();
}

fn await_purge(engine: &Engine) {
    let began = Instant::now();
    while engine.history_length() > 0 {
        assert!(began.elapsed() < Duration::from_secs(60), "a history of {} stays", engine.history_length());
        std::thread::yield_now();
    }
}
