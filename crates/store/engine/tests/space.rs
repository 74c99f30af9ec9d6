//! Space of the data file on a simulated disk: what trees are given, what a drop gives back to whom, full disks, and power cuts
//! at changes of the disk while a tree is freed and its blocks go back.

mod common;

use common::{check_sound, key, options, row, whole};
use engine::{
    Cursor, DATA_FILE, Direction, Engine, EngineOptions, Error, Isolation, LockMode, Range, Read, Transaction, Tree,
    TreeKind, Wait,
};
use io::Op;
use io::faults::{Image, SimDisk};
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::time::{Duration, Instant};

const X: Read = Read::Locking { mode: LockMode::Exclusive, wait: Wait::Block };
const MIB: u64 = 1 << 20;

fn small(datadir: &Path) -> EngineOptions {
    EngineOptions {
        buffer_pool_bytes: 4 * MIB,
        log_capacity_bytes: 4 * MIB,
        address_space_bytes: 512 * MIB,
        ..options(datadir)
    }
}

fn open(datadir: &Path) -> Arc<Engine> {
    Engine::open(small(datadir), &mut |_| ()).unwrap()
}

fn mounted(name: &str) -> (SimDisk, PathBuf, Arc<Engine>) {
    let datadir = PathBuf::from(format!("/sim/space-{name}"));
    let disk = SimDisk::mount(&datadir, 1);
    let engine = open(&datadir);
    (disk, datadir, engine)
}

fn begin(engine: &Engine) -> Transaction {
    let mut tx = Transaction::new(engine).unwrap();
    tx.begin(Isolation::ReadCommitted, false);
    tx
}

fn long(id: u64) -> usize {
    if id.is_multiple_of(50) { 30_000 } else { 2_000 }
}

/// A tree with some two and a half KiB a row, some of them off-page, and its name in the dictionary.
fn loaded(engine: &Engine, name: &[u8], rows: u64) -> Tree {
    let mut tx = begin(engine);
    let tree = engine.create_tree(&mut tx, TreeKind::Clustered).unwrap();
    for id in 0..rows {
        tx.load(tree, &key(id), stored!(row(id, long(id)))).unwrap();
    }
    tx.insert(engine.dictionary(), name, &[tree.root.to_le_bytes(), u64::from(tree.id).to_le_bytes()].concat())
        .unwrap();
    tx.commit().unwrap();
    tree
}

fn named(engine: &Engine, name: &[u8]) -> Option<Tree> {
    let mut out = Vec::new();
    let found = begin(engine).get(engine.dictionary(), name, Read::Consistent, &mut out).unwrap();
    let word = |at: usize| u64::from_le_bytes(out[at..at + 8].try_into().unwrap());
    found.then(|| Tree { id: word(8) as u32, root: word(0), kind: TreeKind::Clustered })
}

fn drop_tree(engine: &Engine, name: &[u8]) {
    let tree = named(engine, name).unwrap();
    let mut tx = begin(engine);
    assert!(tx.get(engine.dictionary(), name, X, &mut Vec::new()).unwrap());
    tx.delete(engine.dictionary(), name).unwrap();
    engine.drop_tree(&mut tx, tree).unwrap();
    tx.commit().unwrap();
}

fn check_rows(engine: &Engine, tree: Tree, rows: u64) {
    let mut tx = begin(engine);
    let all = Range { lower: Bound::Unbounded, upper: Bound::Unbounded };
    let mut cursor = Cursor::new(tree, all, Direction::Forward, Read::Consistent, 0);
    let mut found = 0;
    while let Some(entry) = cursor.next(&mut tx).unwrap() {
        let id = u64::from_be_bytes(entry.key.try_into().unwrap());
        assert_eq!(whole(&tx, entry.value), row(id, long(id)));
        found += 1;
    }
    assert_eq!(found, rows);
}

#[track_caller]
fn until(what: &str, mut done: impl FnMut() -> bool) {
    let began = Instant::now();
    while !done() {
        assert!(began.elapsed() < Duration::from_secs(60), "this does not come: {what}");
        std::thread::yield_now();
    }
}

fn allocated(engine: &Engine) -> u64 {
    engine.data_file().unwrap().allocated_bytes
}

#[test]
fn a_dropped_tree_is_freed_unread_and_its_blocks_go_back() {
    let (disk, _, engine) = mounted("drop");
    let other = loaded(&engine, b"other", 500);
    let tree = loaded(&engine, b"tree", 20_000);
    let space = engine.tree_space(tree);
    assert!(space.used_bytes > 50 * MIB && space.spare_bytes < 2 * MIB, "{space:?}");
    let (full, reads) = (allocated(&engine), disk.count(Op::Read));
    drop_tree(&engine, b"tree");
    until("the tree's pages are free", || engine.tree_space(tree).used_bytes == 0);
    let reads = disk.count(Op::Read) - reads;
    assert!(reads < 50, "{reads} pages were read to free {} bytes", space.used_bytes);
    // Some 24 MiB stay ready.
    until("blocks go back", || allocated(&engine) + space.used_bytes < full + 30 * MIB);
    assert!(disk.count(Op::Punch) > 0);
    check_rows(&engine, other, 500);
    // What went back can be had again.
    let again = loaded(&engine, b"again", 10_000);
    assert!(engine.data_file().unwrap().bytes <= full + MIB, "the file grew though there was room in it");
    check_rows(&engine, again, 10_000);
    check_sound(&engine, &[other, again], "after a drop");
    engine.close().unwrap();
    drop(engine);
    disk.unmount();
}

#[test]
fn load_and_delete_again_and_again_takes_the_room_of_once() {
    let (disk, _, engine) = mounted("again");
    let rows = 4_000;
    let mut most = 0;
    for round in 0..6 {
        let tree = loaded(&engine, b"tree", rows);
        let bytes = engine.tree_space(tree).used_bytes;
        if round % 2 == 0 {
            let mut tx = begin(&engine);
            for id in 0..rows {
                assert!(tx.get(tree, &key(id), X, &mut Vec::new()).unwrap());
                tx.delete(tree, &key(id)).unwrap();
            }
            tx.commit().unwrap();
            drop(tx);
            until("deleted rows are purged", || engine.tree_space(tree).used_bytes < bytes / 20);
        }
        drop_tree(&engine, b"tree");
        until("the tree is freed", || engine.tree_space(tree).used_bytes == 0);
        most = most.max(engine.data_file().unwrap().bytes);
        if round == 0 {
            most += 4 * MIB;
        }
        assert!(engine.data_file().unwrap().bytes <= most, "round {round} needed new room");
    }
    engine.close().unwrap();
    drop(engine);
    disk.unmount();
}

#[test]
fn leaves_of_trees_that_grow_side_by_side_lie_in_order() {
    let (disk, _, engine) = mounted("order");
    let mut tx = begin(&engine);
    let mut trees = Vec::new();
    for _ in 0..3 {
        trees.push(engine.create_tree(&mut tx, TreeKind::Clustered).unwrap());
    }
    for id in 0..6_000 {
        for tree in &trees {
            tx.insert(*tree, &key(id), &row(id, 1_000)).unwrap();
        }
    }
    tx.commit().unwrap();
    drop(tx);
    let report = engine.check(&trees);
    assert!(report.is_clean(), "{report}");
    for tree in &trees {
        let figures = report.trees[&tree.id];
        assert!(figures.nodes > 350 && figures.jumps < 30, "{figures:?}");
    }
    engine.close().unwrap();
    drop(engine);
    disk.unmount();
}

/// Recovers from an image: the tree is there whole or is freed, and the other is untouched.
fn cut(image: Image, number: u64, other: Tree, tree: Tree, rows: u64) {
    let datadir = PathBuf::from(format!("/sim/space-cut-{number}"));
    let disk = image.mount(&datadir, number);
    disk.reboot();
    let engine = open(&datadir);
    check_rows(&engine, other, 500);
    let mut trees = vec![other];
    if named(&engine, b"tree").is_some() {
        check_rows(&engine, tree, rows);
        trees.push(tree);
    } else {
        until("recovery goes on freeing the tree", || engine.tree_space(tree).used_bytes == 0);
    }
    let more = loaded(&engine, b"more", 300);
    trees.push(more);
    let report = engine.check(&trees);
    assert!(report.is_clean(), "image {number}: {report}");
    engine.close().unwrap();
    drop(engine);
    disk.unmount();
}

#[test]
fn a_power_cut_while_a_tree_is_freed_and_punched_loses_nothing() {
    let (disk, _, engine) = mounted("cuts");
    let rows = 14_000;
    let other = loaded(&engine, b"other", 500);
    let tree = loaded(&engine, b"tree", rows);
    let (send, receive) = sync_channel::<(u64, Image)>(1);
    let checker = std::thread::spawn(move || {
        let mut cuts = 0;
        for (number, image) in receive {
            cut(image, number, other, tree, rows);
            cuts += 1;
        }
        cuts
    });
    let (mut changes, mut punches) = (0, 0);
    disk.set_witness(move |moment| {
        changes += 1;
        punches += (moment.op == Op::Punch) as u64;
        // All of the first changes, when the tree goes; then a sample, and the ends of each punch.
        if changes < 12 || changes % 11 == 0 || punches == 1 {
            // The checker has failed when nobody listens: its message is the one to read.
            let _ = send.send((changes, moment.image()));
        }
        punches += (punches == 1) as u64;
    });
    let full = allocated(&engine);
    drop_tree(&engine, b"tree");
    // Others' pages are dirty meanwhile, older and newer than those that are thrown away.
    let mut tx = begin(&engine);
    for id in 0..200 {
        tx.insert(engine.dictionary(), &key(id), b"x").unwrap();
    }
    tx.rollback().unwrap();
    drop(tx);
    until("blocks go back", || allocated(&engine) < full);
    disk.set_witness(|_| ());
    let cuts = checker.join().unwrap();
    // How many changes come behind the first eleven and the punch hangs from how the page cleaner gathers them.
    assert!(cuts >= 12, "{cuts} cuts");
    engine.close().unwrap();
    drop(engine);
    disk.unmount();
}

/// Inserts small rows into a new tree until the disk is full: the tree and its rows.
fn fill(engine: &Engine) -> (Tree, u64) {
    let mut tx = begin(engine);
    let tree = engine.create_tree(&mut tx, TreeKind::Clustered).unwrap();
    let mut rows = 0;
    loop {
        let savepoint = tx.savepoint();
        match tx.insert(tree, &key(rows), stored!(row(rows, long(rows)))) {
            Ok(()) => rows += 1,
            Err(Error::DiskFull) => {
                tx.rollback_to(savepoint).unwrap();
                break;
            }
            Err(error) => panic!("{error}"),
        }
    }
    tx.commit().unwrap();
    (tree, rows)
}

#[test]
fn the_last_pieces_of_a_disk_are_used_and_deletions_do_not_ask_for_more() {
    let (disk, _, engine) = mounted("full");
    let before = allocated(&engine);
    let room = 21 * MIB + 700_000;
    disk.set_room_within(Some(room), DATA_FILE);
    let (tree, rows) = fill(&engine);
    let grown = allocated(&engine) - before;
    assert!((room - MIB..=room).contains(&grown), "of {room} bytes {grown} were used");
    let asked = disk.count(Op::Allocate);
    let mut tx = begin(&engine);
    for id in 0..rows {
        assert!(tx.get(tree, &key(id), X, &mut Vec::new()).unwrap());
        tx.delete(tree, &key(id)).unwrap();
        if id % 100 == 0 {
            tx.commit().unwrap();
            tx.begin(Isolation::ReadCommitted, false);
        }
    }
    tx.commit().unwrap();
    drop(tx);
    let asked = disk.count(Op::Allocate) - asked;
    assert!(asked < rows / 20, "{asked} attempts to get room for {rows} deletions");
    engine.close().unwrap();
    drop(engine);
    disk.unmount();
}

/// On a full disk each finds what those before it had to leave: rows are changed where inserts are refused, trees dropped where changes
/// are refused, and whoever is refused is undone.
#[test]
fn what_makes_room_finds_what_others_leave() {
    let (disk, _, engine) = mounted("reserves");
    let other = loaded(&engine, b"other", 2_000);
    disk.set_room_within(Some(0), DATA_FILE);
    let (tree, rows) = fill(&engine);
    let mut tx = begin(&engine);
    let mut changed = 0;
    let refused = 'full: loop {
        for id in 0..rows {
            assert!(tx.get(tree, &key(id), X, &mut Vec::new()).unwrap());
            if let Err(error) = tx.update(tree, &key(id), &row(id + changed, 100)[..]) {
                break 'full error;
            }
            changed += 1;
        }
    };
    assert!(matches!(refused, Error::DiskFull), "{refused}");
    assert!(changed > rows, "{changed} changes of {rows} rows");
    let mut dropping = begin(&engine);
    for id in 0..100 {
        dropping.insert(engine.dictionary(), &key(id), &row(id, 1_000)[..]).unwrap();
    }
    engine.drop_tree(&mut dropping, other).unwrap();
    dropping.commit().unwrap();
    tx.rollback().unwrap();
    check_rows(&engine, tree, rows);
    drop((tx, dropping));
    engine.close().unwrap();
    drop(engine);
    disk.unmount();
}

#[test]
fn what_is_granted_can_be_written_though_the_disk_is_full() {
    let (disk, datadir, engine) = mounted("granted");
    let tree = loaded(&engine, b"tree", 20_000);
    let full = allocated(&engine);
    drop_tree(&engine, b"tree");
    until("blocks go back", || allocated(&engine) + 20 * MIB < full);
    // Somebody else takes what went back.
    disk.set_room_within(Some(0), DATA_FILE);
    let (kept, rows) = fill(&engine);
    check_rows(&engine, kept, rows);
    assert!(engine.tree_space(kept).used_bytes > 8 * MIB, "the reserve was not used");
    // Every page finds its place.
    engine.close().unwrap();
    drop(engine);
    // Nor does a start need room, and what has blocks is found again.
    disk.reboot();
    disk.set_room_within(Some(0), DATA_FILE);
    let engine = open(&datadir);
    check_rows(&engine, kept, rows);
    let mut tx = begin(&engine);
    for id in 0..rows {
        assert!(tx.get(kept, &key(id), X, &mut Vec::new()).unwrap());
        tx.delete(kept, &key(id)).unwrap();
    }
    tx.commit().unwrap();
    drop(tx);
    until("deleted rows are purged", || engine.tree_space(kept).used_bytes < MIB);
    let (last, more) = fill(&engine);
    assert!(more * 2 > rows, "{more} rows of {rows} found room");
    check_rows(&engine, last, more);
    assert_eq!(engine.tree_space(tree).used_bytes, 0);
    check_sound(&engine, &[kept, last], "on a full disk");
    engine.close().unwrap();
    drop(engine);
    disk.unmount();
}
