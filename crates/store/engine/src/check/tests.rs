//! Each kind of damage is done to a sound engine, and named by the check.

use super::Report;
use crate::btree::Target;
use crate::page::node::{Node, NodeMut};
use crate::page::{OFF_LEVEL, OFF_LSN, OFF_TREE, PageId, get_u64, put_u16, put_u32, put_u64};
use crate::space::{UNDO_DIRECTORY, map_page, unit_of};
use crate::undo;
use crate::version::{Header, ROW_AT};
use crate::{Engine, EngineOptions, Isolation, LockMode, Long, Read, Row, Transaction, Tree, TreeKind, Wait};
use io::faults::SimDisk;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

const X: Read = Read::Locking { mode: LockMode::Exclusive, wait: Wait::Block };
/// A row with a long value.
const LONG: u64 = 7;
/// A row that an open transaction has changed, twice.
const CHANGED: u64 = 100;
/// A row whose change was rolled back.
const ROLLED_BACK: u64 = 200;

/// A table with an index, in all states that rows can be in.
struct Sample {
    engine: Arc<Engine>,
    table: Tree,
    index: Tree,
    open: Transaction,
    rolled_back: u64,
    disk: SimDisk,
}

fn key(id: u64) -> [u8; 8] {
    id.to_be_bytes()
}

fn sample() -> Sample {
    // Relaxed: numbers that differ.
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let datadir = PathBuf::from(format!("/sim/check-{}", NUMBER.fetch_add(1, Ordering::Relaxed)));
    let disk = SimDisk::mount(&datadir, 1);
    let options = EngineOptions {
        datadir,
        buffer_pool_bytes: 16 << 20,
        log_capacity_bytes: 16 << 20,
        log_buffer_bytes: 16 << 20,
        address_space_bytes: 256 << 20,
        doublewrite: true,
        direct_io: false,
        flush_log_at_commit: 1,
        read_io_threads: 2,
        write_io_threads: 2,
        purge_threads: 2,
        events_from: None,
    };
    let engine = Engine::open(options, &mut |_| ()).unwrap();
    let mut tx = Transaction::new(&engine).unwrap();
    tx.begin(Isolation::ReadCommitted, false);
    let table = engine.create_tree(&mut tx, TreeKind::Clustered).unwrap();
    let index = engine.create_tree(&mut tx, TreeKind::Secondary).unwrap();
    for id in 0..600 {
        let row = vec![id as u8; if id == LONG { 40_000 } else { 100 }];
        let long = [Long::New(&row)];
        let row = if id == LONG { Row { body: b"long", long: &long } } else { Row::from(&row) };
        tx.insert(table, &key(id), row).unwrap();
        tx.index_insert(index, &[&[id as u8][..], &key(id)].concat(), None, b"").unwrap();
    }
    tx.commit().unwrap();
    let mut row = Vec::new();
    tx.begin(Isolation::ReadCommitted, false);
    assert!(tx.get(table, &key(ROLLED_BACK), X, &mut row).unwrap());
    tx.update(table, &key(ROLLED_BACK), &[1; 50]).unwrap();
    let rolled_back = tx.id();
    tx.rollback().unwrap();
    tx.begin(Isolation::ReadCommitted, false);
    for id in [CHANGED, CHANGED + 1] {
        assert!(tx.get(table, &key(id), X, &mut row).unwrap());
        tx.update(table, &key(id), &[2; 120]).unwrap();
        tx.update(table, &key(id), &[3; 90]).unwrap();
    }
    Sample { engine, table, index, open: tx, rolled_back, disk }
}

impl Sample {
    fn check(&self) -> Report {
        self.engine.check(&[self.table, self.index])
    }

    fn leaf(&self, id: u64) -> PageId {
        self.engine.core().store().leaf(self.table, Target::At(&key(id))).unwrap().id
    }

    fn damage(&self, page: PageId, change: impl FnOnce(&mut [u8])) {
        change(self.engine.core().pool.exclusive(page).unwrap().bytes_mut());
    }

    fn damage_leaf(&self, id: u64, change: impl FnOnce(&mut [u8])) {
        self.damage(self.leaf(id), change);
    }

    /// Changes the value of a row.
    fn damage_row(&self, id: u64, change: impl FnOnce(&mut [u8])) {
        self.damage_leaf(id, |page| {
            let (slot, equal) = Node(page).search(&key(id)).unwrap();
            assert!(equal);
            change(NodeMut(page).value_mut(slot));
        });
    }

    fn row(&self, id: u64) -> Vec<u8> {
        let leaf = self.engine.core().store().leaf(self.table, Target::At(&key(id))).unwrap();
        let (slot, _) = Node(leaf.bytes()).search(&key(id)).unwrap();
        Node(leaf.bytes()).value(slot).unwrap().to_vec()
    }

    fn undo_page(&self) -> PageId {
        // Relaxed: nobody extends the segment now.
        self.open.segment.as_ref().unwrap().newest.load(Ordering::Relaxed)
    }
}

/// What was done, what the check says of it, and how it is done.
type Damage = (&'static str, &'static str, fn(&Sample));

const SLOT_0: usize = 64;

/// Where slot `i` of a node stands.
fn slot_at(page: &[u8], i: usize) -> usize {
    SLOT_0 + u16::from_le_bytes([page[44], page[45]]) as usize + i * 10
}

const DAMAGES: [Damage; 25] = [
    ("slots swapped", "the key of slot", |s| {
        s.damage_leaf(0, |page| {
            let (a, b) = (slot_at(page, 3), slot_at(page, 4));
            let (one, other) = (page[a..a + 10].to_vec(), page[b..b + 10].to_vec());
            page[a..a + 10].copy_from_slice(&other);
            page[b..b + 10].copy_from_slice(&one);
        })
    }),
    ("head of a slot", "the head of another key", |s| s.damage_leaf(0, |page| page[slot_at(page, 5)] ^= 1)),
    ("offset of a cell", "past the page's end", |s| {
        s.damage_leaf(0, |page| put_u16(page, slot_at(page, 5) + 4, 17_000))
    }),
    ("cells on one another", "lies on others", |s| {
        s.damage_leaf(0, |page| {
            let at = slot_at(page, 5);
            let offset = u16::from_le_bytes([page[at + 4], page[at + 5]]);
            put_u16(page, at + 4, offset + 8);
        })
    }),
    ("lost bytes of the heap", "bytes, ", |s| s.damage_leaf(0, |page| put_u16(page, 32, 5))),
    ("a prefix too long", "and the fences share", |s| s.damage_leaf(300, |page| put_u16(page, 34, 8))),
    ("a level", "its level is", |s| s.damage_leaf(300, |page| page[OFF_LEVEL] = 3)),
    ("another tree's leaf", "it says that it belongs to tree", |s| {
        s.damage_leaf(300, |page| put_u32(page, OFF_TREE, 99))
    }),
    ("a type", "it is Free", |s| s.damage_leaf(300, |page| page[4] = 8)),
    ("an LSN", "is past the end of the log", |s| s.damage_leaf(300, |page| put_u64(page, OFF_LSN, 1 << 50))),
    ("a page's number", "it says that it is page", |s| s.damage_leaf(300, |page| put_u64(page, 8, 3))),
    ("a page that counts as written", "the file has other bytes", |s| {
        s.damage_row(300, |value| value[ROW_AT + 5] ^= 1);
    }),
    ("a child twice", "it is reached as a node", |s| {
        let other = s.leaf(599);
        s.damage(s.table.root, |page| put_u64(page, 48, other))
    }),
    ("a separator", "its fences are not the separators", |s| {
        s.damage(s.table.root, |page| {
            let separator = Node(page).key_rest(0).unwrap();
            assert!(separator.len() >= 5, "{separator:?}");
            let at = separator.as_ptr().addr() - page.as_ptr().addr() + separator.len() - 1;
            page[at] += 1;
        })
    }),
    ("a transaction to come", "and the next one is", |s| {
        s.damage_row(300, |value| put_u64(value, 0, Header::new(1 << 40).0))
    }),
    ("a row that was rolled back", "which was rolled back", |s| {
        let trx = s.rolled_back;
        s.damage_row(ROLLED_BACK, |value| put_u64(value, 0, Header::new(trx).0))
    }),
    ("another row's version", "where there is a record of", |s| {
        let other = get_u64(&s.row(CHANGED + 1), 8);
        s.damage_row(CHANGED, |value| put_u64(value, 8, other))
    }),
    ("a change that an open transaction lost", "by its undo record open transaction", |s| {
        s.damage_row(CHANGED, |value| put_u64(value, 0, Header::new(s.rolled_back - 1).0))
    }),
    ("an undo record", "there is no undo record at offset", |s| {
        s.damage(s.undo_page(), |page| put_u16(page, undo::RECORDS_AT, 7))
    }),
    ("an undo page's segment", "it says that it belongs to undo segment", |s| {
        s.damage(s.undo_page(), |page| put_u64(page, 64, 6000))
    }),
    ("the undo directory", "it is Free", |s| s.damage(UNDO_DIRECTORY, |page| page[4] = 8)),
    ("a piece of a chain", "bytes, its row", |s| {
        let first = get_u64(&s.row(LONG), ROW_AT + 4);
        s.damage(first, |page| put_u64(page, 64, 0))
    }),
    ("an allocated page that the map calls free", "free by the map", |s| {
        let leaf = s.leaf(300);
        s.damage(map_page(0), |page| page[14_400 + leaf as usize / 8] &= !(1 << (leaf % 8)))
    }),
    ("a unit of somebody else", "in a unit of owner 99", |s| {
        let leaf = s.leaf(300);
        s.damage(map_page(0), |page| put_u32(page, 64 + unit_of(leaf) * 4, 99))
    }),
    ("a page that nobody has", "nothing leads to", |s| {
        let (leaf, root) = (s.leaf(599), s.table.root);
        s.damage(root, |page| {
            let last = Node(page).len();
            assert_eq!(Node(page).child(last).unwrap(), leaf);
            NodeMut(page).remove(last - 1);
        })
    }),
];

#[test]
fn a_sound_engine_has_no_problems() {
    let sample = sample();
    let report = sample.check();
    assert!(report.is_clean(), "{report}");
    assert_eq!((report.leaked.len(), report.open_transactions, report.trees.len()), (0, 1, 3));
    assert_eq!(report.trees[&sample.table.id].entries, 600);
    assert!(report.trees[&sample.table.id].nodes > 3 && report.undo_records >= 4);
    drop(sample.open);
    drop(sample.engine);
    sample.disk.unmount();
}

#[test]
fn each_damage_is_named() {
    for (what, expected, damage) in DAMAGES {
        let sample = sample();
        // No cleaner is at work on what is damaged.
        sample.engine.close().unwrap();
        damage(&sample);
        let report = sample.check();
        let Sample { engine, open, disk, .. } = sample;
        // Neither is undone nor written: there is no telling what it would do.
        disk.crash();
        std::mem::forget((engine, open));
        disk.unmount();
        let named = report.problems.iter().any(|problem| problem.to_string().contains(expected));
        assert!(named, "{what}: no \"{expected}\" in\n{report}");
    }
}

#[test]
fn trees_that_nobody_names_and_trees_named_twice_are_problems() {
    let sample = sample();
    let report = sample.engine.check(&[sample.table]);
    assert!(report.to_string().contains(&format!("tree {}: nothing leads to", sample.index.id)), "{report}");
    let report = sample.engine.check(&[sample.table, sample.index, sample.table]);
    assert!(report.to_string().contains(&format!("tree {}: it is listed twice", sample.table.id)), "{report}");
    drop(sample.open);
    drop(sample.engine);
    sample.disk.unmount();
}
