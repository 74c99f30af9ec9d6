//! What is in memory: which pages a scan displaces, and what is read ahead for it.

mod common;

use common::{Scratch, key, options, row, table};
use engine::{Cursor, Direction, Engine, EngineOptions, Isolation, PoolSettings, Range, Read, Transaction, Tree};
use observe::Counter;
use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

const ALL: Range<'static> = Range { lower: Bound::Unbounded, upper: Bound::Unbounded };
const BYTES: usize = 1000;
/// Rows of a leaf, at least.
const ROWS_A_LEAF: u64 = 14;
const FRAMES: u64 = 1024;

fn open(datadir: &Path) -> Arc<Engine> {
    let small = EngineOptions { buffer_pool_bytes: FRAMES * 16384, address_space_bytes: 1 << 30, ..options(datadir) };
    Engine::open(small, &mut |_| ()).unwrap()
}

fn begin(engine: &Engine) -> Transaction {
    let mut tx = Transaction::new(engine).unwrap();
    tx.begin(Isolation::RepeatableRead, false);
    tx
}

/// Pages of the tree in memory.
fn resident(engine: &Engine, tree: Tree) -> usize {
    engine.buffer_pages().filter(|page| page.content.and_then(|c| c.node).is_some_and(|n| n.0 == tree.id)).count()
}

fn get(tx: &mut Transaction, tree: Tree, id: u64) {
    let mut out = Vec::new();
    assert!(tx.get(tree, &key(id), Read::Consistent, &mut out).unwrap() && out == row(id, BYTES));
}

/// Readers have done what they were asked for. A scan that does not wait for them reads itself what they have not come to, which is
/// as much as who gets the processors decides.
fn let_readers_finish(engine: &Engine) {
    let pending = || engine.status().counters.iter().find(|c| c.0 == "Clearway_reads_ahead_pending").unwrap().1;
    let deadline = Instant::now() + Duration::from_secs(60);
    while pending() > 0 {
        assert!(Instant::now() < deadline, "readers do not come to an end");
        std::thread::yield_now();
    }
}

/// Rows that the cursor finds, `rows` at most; at each leaf readers are waited for.
fn scan(engine: &Engine, tx: &mut Transaction, cursor: &mut Cursor, rows: u64) -> u64 {
    let mut next = |row: &u64| {
        if row.is_multiple_of(ROWS_A_LEAF) {
            let_readers_finish(engine);
        }
        cursor.next(tx).unwrap().is_some()
    };
    (0..rows).take_while(|row| next(row)).count() as u64
}

/// The only test here, for the counters are the process's.
#[test]
fn a_scan_of_a_large_table_is_read_ahead_and_displaces_itself() {
    let scratch = Scratch::new("memory");
    let (hot_leaves, large_leaves) = (FRAMES / 3, FRAMES * 4);
    let (hot, large) = {
        let engine = open(scratch.path());
        let trees =
            (table(&engine, hot_leaves * ROWS_A_LEAF, BYTES), table(&engine, large_leaves * ROWS_A_LEAF, BYTES));
        engine.close().unwrap();
        trees
    };
    let engine = open(scratch.path());
    let mut tx = begin(&engine);
    let mut cursor = Cursor::new(large, ALL, Direction::Forward, Read::Consistent, 0);
    // A third of the pool is used often while the scan goes on.
    let mut scanned = 0;
    for round in 0..large_leaves / 2 {
        scanned += scan(&engine, &mut tx, &mut cursor, ROWS_A_LEAF);
        for i in 0..8 {
            get(&mut tx, hot, (round * 8 + i) % hot_leaves * ROWS_A_LEAF);
        }
    }
    let before = resident(&engine, hot);
    assert!(before as u64 >= hot_leaves * 9 / 10, "{before} of {hot_leaves} hot pages are in memory");
    // Then not at all, while twice the pool is scanned.
    let (misses, ahead) =
        (observe::sum(Counter::InnodbBufferPoolReads), observe::sum(Counter::InnodbBufferPoolReadAhead));
    let part = scan(&engine, &mut tx, &mut cursor, u64::MAX);
    scanned += part;
    assert_eq!(scanned, large_leaves * ROWS_A_LEAF);
    let after = resident(&engine, hot);
    assert!(after * 20 >= before * 19, "of {before} hot pages the scan left {after}");
    let misses = observe::sum(Counter::InnodbBufferPoolReads) - misses;
    let ahead = observe::sum(Counter::InnodbBufferPoolReadAhead) - ahead;
    assert!(ahead * ROWS_A_LEAF * 10 > part * 9, "{ahead} pages were read ahead, {misses} by the scan itself");

    // Read-ahead that is switched off reads nothing ahead.
    engine.set_pool_settings(PoolSettings { read_ahead_threshold: 0, ..PoolSettings::default() });
    let ahead = observe::sum(Counter::InnodbBufferPoolReadAhead);
    let mut cursor = Cursor::new(large, ALL, Direction::Backward, Read::Consistent, 0);
    let rows = scan(&engine, &mut tx, &mut cursor, u64::MAX);
    assert_eq!(rows, large_leaves * ROWS_A_LEAF);
    assert_eq!(observe::sum(Counter::InnodbBufferPoolReadAhead), ahead);

    // A backward scan is read ahead too.
    engine.set_pool_settings(PoolSettings::default());
    let mut cursor = Cursor::new(large, ALL, Direction::Backward, Read::Consistent, 0);
    let rows = scan(&engine, &mut tx, &mut cursor, u64::MAX);
    assert_eq!(rows, large_leaves * ROWS_A_LEAF);
    let ahead = observe::sum(Counter::InnodbBufferPoolReadAhead) - ahead;
    assert!(ahead * 4 > large_leaves * 3, "{ahead} pages were read ahead");

    // What was read ahead for nothing is counted when it goes, what was used is not.
    let unused = || observe::sum(Counter::InnodbBufferPoolReadAheadEvicted);
    let all_ahead = observe::sum(Counter::InnodbBufferPoolReadAhead);
    assert!(unused() * 4 < all_ahead, "{} of {all_ahead} were not used", unused());
    let before = unused();
    let from = key(large_leaves / 2 * ROWS_A_LEAF);
    let second_half = Range { lower: Bound::Included(&from), upper: Bound::Unbounded };
    let mut cursor = Cursor::new(large, second_half, Direction::Forward, Read::Consistent, 0);
    assert_eq!(scan(&engine, &mut tx, &mut cursor, ROWS_A_LEAF * 60), ROWS_A_LEAF * 60);
    let_readers_finish(&engine);
    drop(cursor);
    for leaf in (0..large_leaves / 3).chain(large_leaves / 4 * 3..large_leaves) {
        get(&mut tx, large, leaf * ROWS_A_LEAF);
    }
    assert!(unused() > before + 8, "{before}, then {}", unused());
    drop(tx);
    engine.close().unwrap();
}
