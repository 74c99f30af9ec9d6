//! The buffer pool's size, changed while it is in use.

mod common;

use common::{Scratch, Stop, check_sound, key, options, row, table};
use engine::{
    Cursor, Direction, Engine, EngineOptions, Error, Isolation, LockMode, Range, Read, ResizeRefused, ResizeStage,
    Transaction, Tree, TreeKind, Wait,
};
use std::collections::BTreeSet;
use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

const ALL: Range<'static> = Range { lower: Bound::Unbounded, upper: Bound::Unbounded };
const PAGE: u64 = 16384;
const MIB: u64 = 1 << 20;
const BYTES: usize = 1000;

fn open(datadir: &Path, pool: u64) -> Arc<Engine> {
    let options = EngineOptions { buffer_pool_bytes: pool, address_space_bytes: 256 * MIB, ..options(datadir) };
    Engine::open(options, &mut |_| ()).unwrap()
}

fn begin(engine: &Engine) -> Transaction {
    let mut tx = Transaction::new(engine).unwrap();
    tx.begin(Isolation::RepeatableRead, false);
    tx
}

fn resize(engine: &Engine, bytes: u64) {
    engine.resize_pool(bytes).unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    while !matches!(engine.pool_resize(), ResizeStage::Completed { .. }) {
        assert!(Instant::now() < deadline, "{:?}", engine.pool_resize());
        std::thread::yield_now();
    }
    assert_eq!(status(engine, "Innodb_buffer_pool_pages_total"), bytes / PAGE);
}

fn status(engine: &Engine, name: &str) -> u64 {
    engine.status().counters.iter().find(|(known, _)| *known == name).unwrap().1
}

/// Pages in memory, each in a frame of its own below `frames`.
fn resident(engine: &Engine, frames: u64) -> u64 {
    let mut pages: Vec<(u64, u64)> = engine.buffer_pages().map(|page| (page.frame, page.page)).collect();
    let count = pages.len();
    assert!(pages.iter().all(|(frame, _)| *frame < frames));
    pages.sort_unstable();
    pages.dedup_by_key(|(frame, _)| *frame);
    assert_eq!(pages.len(), count, "a frame is listed once");
    count as u64
}

fn scan(tx: &mut Transaction, tree: Tree) -> u64 {
    let mut cursor = Cursor::new(tree, ALL, Direction::Forward, Read::Consistent, 0);
    std::iter::from_fn(|| cursor.next(tx).unwrap().map(|_| ())).count() as u64
}

#[test]
fn a_pool_holds_as_many_pages_as_its_size_of_the_moment_says() {
    let scratch = Scratch::new("resize");
    let engine = open(scratch.path(), 8 * MIB);
    assert_eq!(engine.pool_resize(), ResizeStage::Never);
    // Twice the smaller pool.
    let rows = 16 * MIB / BYTES as u64;
    let tree = table(&engine, rows, BYTES);
    assert!(resident(&engine, 8 * MIB / PAGE) * PAGE <= 8 * MIB);
    resize(&engine, 64 * MIB);
    let mut tx = begin(&engine);
    assert_eq!(scan(&mut tx, tree), rows);
    let all = resident(&engine, 64 * MIB / PAGE);
    assert!(all * PAGE >= 16 * MIB, "the table finds room: {all} pages");
    resize(&engine, 6 * MIB);
    assert!(resident(&engine, 6 * MIB / PAGE) * PAGE <= 6 * MIB);
    assert_eq!(scan(&mut tx, tree), rows);
    assert!(resident(&engine, 6 * MIB / PAGE) * PAGE <= 6 * MIB);
    engine.resize_pool(6 * MIB).unwrap();
    assert_eq!(engine.pool_resize(), ResizeStage::Unchanged { bytes: 6 * MIB });
    assert_eq!(engine.resize_pool(512 * MIB), Err(ResizeRefused::TooLarge), "there are no addresses for so many pages");
    assert!(matches!(engine.pool_resize(), ResizeStage::Failed { .. }));
    assert_eq!(status(&engine, "Innodb_buffer_pool_pages_total"), 6 * MIB / PAGE);
    drop(tx);
    check_sound(&engine, &[tree], "after all sizes");
    engine.close().unwrap();
}

#[test]
fn a_pool_that_is_not_full_shrinks_without_evicting() {
    let scratch = Scratch::new("resize-roomy");
    let engine = open(scratch.path(), 64 * MIB);
    let tree = table(&engine, 4 * MIB / BYTES as u64, BYTES);
    let leaves = || -> BTreeSet<u64> {
        let of_tree =
            |page: &engine::BufferPage| page.content.and_then(|c| c.node).is_some_and(|node| node.0 == tree.id);
        engine.buffer_pages().filter(of_tree).map(|page| page.page).collect()
    };
    let before = leaves();
    resize(&engine, 32 * MIB);
    resident(&engine, 32 * MIB / PAGE);
    assert_eq!(leaves(), before);
    check_sound(&engine, &[tree], "after shrinking");
    engine.close().unwrap();
}

#[test]
fn memory_of_locks_follows() {
    let scratch = Scratch::new("resize-locks");
    let engine = open(scratch.path(), 8 * MIB);
    resize(&engine, 160 * MIB);
    let mut tx = begin(&engine);
    let tree = engine.create_tree(&mut tx, TreeKind::Clustered).unwrap();
    // More locks than 64 MiB have room for, the bound with 8 MiB, and fewer than 160 MiB have.
    let rows = 400_000;
    for id in 0..rows {
        tx.load(tree, &key(id), b"row").unwrap();
    }
    tx.commit().unwrap();
    let lock_all = |tx: &mut Transaction| {
        let (x, mut out) = (Read::Locking { mode: LockMode::Exclusive, wait: Wait::Block }, Vec::new());
        tx.begin(Isolation::ReadCommitted, false);
        (0..rows).try_for_each(|id| tx.get(tree, &key(id), x, &mut out).map(|there| assert!(there)))
    };
    lock_all(&mut tx).unwrap();
    tx.rollback().unwrap();
    resize(&engine, 8 * MIB);
    assert!(matches!(lock_all(&mut tx), Err(Error::LockTableFull)));
    drop(tx);
    engine.close().unwrap();
}

/// Sessions change rows while the pool's size goes up and down. Each counts what it wrote, and the sum is right at the end.
#[test]
fn sessions_go_on_while_the_size_changes() {
    let scratch = Scratch::new("resize-load");
    let rows = 24 * MIB / BYTES as u64;
    let (tree, sum) = {
        let engine = open(scratch.path(), 32 * MIB);
        let tree = table(&engine, rows, BYTES);
        let (stop, sum) = (AtomicBool::new(false), AtomicU64::new(0));
        std::thread::scope(|scope| {
            for session in 0..4u64 {
                let (engine, stop, sum) = (&engine, &stop, &sum);
                scope.spawn(move || {
                    let (mut tx, mut out, mut at) = (Transaction::new(engine).unwrap(), Vec::new(), session * 7919);
                    while !stop.load(Ordering::Relaxed) {
                        tx.begin(Isolation::ReadCommitted, false);
                        at = (at + 104_729) % rows;
                        add(&mut tx, tree, at, &mut out).unwrap();
                        tx.commit().unwrap();
                        sum.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
            let _stop = Stop(&stop);
            let sizes = [8, 48, 5, 16, 64, 6, 24, 5, 40];
            for mib in sizes.iter().cycle().take(18) {
                resize(&engine, mib * MIB);
                let (seen, deadline) = (sum.load(Ordering::Relaxed), Instant::now() + Duration::from_secs(60));
                while sum.load(Ordering::Relaxed) < seen + 50 {
                    assert!(Instant::now() < deadline, "nobody changes a row with {mib} MiB");
                    std::thread::yield_now();
                }
            }
        });
        check_sound(&engine, &[tree], "under load");
        let sum = sum.into_inner();
        assert_eq!(total(&engine, tree, rows), sum);
        engine.close().unwrap();
        (tree, sum)
    };
    let engine = open(scratch.path(), 8 * MIB);
    assert_eq!(total(&engine, tree, rows), sum);
    engine.close().unwrap();
}

/// Adds one to the counter in the last bytes of a row.
fn add(tx: &mut Transaction, tree: Tree, id: u64, out: &mut Vec<u8>) -> Result<(), Error> {
    out.clear();
    let found = tx.get(tree, &key(id), Read::Locking { mode: LockMode::Exclusive, wait: Wait::Block }, out)?;
    assert!(found);
    let at = out.len() - 8;
    let count = u64::from_be_bytes(out[at..].try_into().unwrap());
    out[at..].copy_from_slice(&(count.wrapping_add(1)).to_be_bytes());
    tx.update(tree, &key(id), &*out)
}

/// How often rows were added to.
fn total(engine: &Engine, tree: Tree, rows: u64) -> u64 {
    let (mut tx, mut out) = (begin(engine), Vec::new());
    (0..rows)
        .map(|id| {
            out.clear();
            assert!(tx.get(tree, &key(id), Read::Consistent, &mut out).unwrap());
            let first = row(id, BYTES);
            let count = |row: &[u8]| u64::from_be_bytes(row[BYTES - 8..].try_into().unwrap());
            assert_eq!(out[..BYTES - 8], first[..BYTES - 8]);
            count(&out).wrapping_sub(count(&first))
        })
        .sum()
}
