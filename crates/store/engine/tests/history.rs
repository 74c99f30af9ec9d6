//! Old snapshots and transactions that stay open beside many commits.

mod common;

use common::{Scratch, key, options};
use engine::{
    Cursor, Direction, Engine, EngineOptions, Error, Isolation, PurgeSettings, Range, Read, Transaction, Tree, TreeKind,
};
use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// An address space so small that the status ring holds 2,048 ids.
fn tiny(datadir: &Path) -> EngineOptions {
    EngineOptions { address_space_bytes: 512 << 20, flush_log_at_commit: 0, ..options(datadir) }
}

fn begin(engine: &Engine) -> Transaction {
    let mut tx = Transaction::new(engine).unwrap();
    tx.begin(Isolation::RepeatableRead, false);
    tx
}

fn get(tx: &mut Transaction, tree: Tree, id: u64) -> Option<u64> {
    let mut row = Vec::new();
    tx.get(tree, &key(id), Read::Consistent, &mut row).unwrap().then(|| u64::from_be_bytes(row[..].try_into().unwrap()))
}

/// A table of rows that hold a number each.
fn table(engine: &Engine, rows: u64) -> Tree {
    let mut tx = begin(engine);
    let tree = engine.create_tree(&mut tx, TreeKind::Clustered).unwrap();
    for id in 0..rows {
        tx.insert(tree, &key(id), &key(0)).unwrap();
    }
    tx.commit().unwrap();
    tree
}

#[test]
fn writers_go_on_beside_an_old_snapshot_and_an_open_transaction() {
    const COMMITS: u64 = 20_000;
    let scratch = Scratch::new("history");
    let engine: Arc<Engine> = Engine::open(tiny(scratch.path()), &mut |_| ()).unwrap();
    let tree = table(&engine, 10);
    let mut open = begin(&engine);
    open.update(tree, &key(9), &key(77)).unwrap();
    let mut snapshots: Vec<(Transaction, u64)> = Vec::new();
    let mut writer = Transaction::new(&engine).unwrap();
    for n in 0..COMMITS {
        if n % 6000 == 100 {
            let mut old = begin(&engine);
            old.take_snapshot();
            snapshots.push((old, n));
        }
        writer.begin(Isolation::RepeatableRead, false);
        writer.update(tree, &key(n % 9), &key(n + 1)).unwrap();
        if n % 5 == 4 { writer.rollback().unwrap() } else { writer.commit().unwrap() }
    }
    for (old, when) in &mut snapshots {
        for id in 0..9 {
            // The newest commit of this row before the snapshot.
            let seen = (0..*when).rev().find(|n| n % 9 == id && n % 5 != 4).map_or(0, |n| n + 1);
            assert_eq!(get(old, tree, id), Some(seen), "row {id} after {when} commits");
        }
        assert_eq!(get(old, tree, 9), Some(0));
    }
    assert_eq!(get(&mut open, tree, 9), Some(77));
    open.commit().unwrap();
    assert_eq!(get(&mut snapshots[0].0, tree, 9), Some(0), "it committed after the snapshot");
    let mut new = begin(&engine);
    assert_eq!(get(&mut new, tree, 9), Some(77));
}

#[test]
fn a_walk_over_many_versions_ends_on_kill() {
    let scratch = Scratch::new("walk");
    let engine = Engine::open(tiny(scratch.path()), &mut |_| ()).unwrap();
    let tree = table(&engine, 1);
    let mut old = begin(&engine);
    old.take_snapshot();
    let mut writer = begin(&engine);
    for n in 1..=300 {
        writer.update(tree, &key(0), &key(n)).unwrap();
    }
    writer.commit().unwrap();
    let mut row = Vec::new();
    old.interrupt().raise(1);
    assert!(matches!(old.get(tree, &key(0), Read::Consistent, &mut row), Err(Error::Interrupted)));
    old.interrupt().clear_statement();
    assert_eq!(get(&mut old, tree, 0), Some(0));
}

fn await_that(what: &str, condition: impl Fn() -> bool) {
    let began = Instant::now();
    while !condition() {
        assert!(began.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::yield_now();
    }
}

#[test]
fn the_history_is_what_purge_has_not_passed() {
    const EACH: u64 = 700; // some undo pages
    let scratch = Scratch::new("length");
    let engine = Engine::open(tiny(scratch.path()), &mut |_| ()).unwrap();
    let tree = table(&engine, 3);
    await_that("purge passes the table's making", || engine.history_length() == 0);
    let mut old = begin(&engine);
    old.take_snapshot();
    let mut writers: Vec<Transaction> = (0..3).map(|_| Transaction::new(&engine).unwrap()).collect();
    for n in 0..EACH {
        for (writer, id) in writers.iter_mut().zip(0..) {
            writer.begin(Isolation::RepeatableRead, false);
            writer.update(tree, &key(id), &key(n)).unwrap();
            // One is not over.
            if (n, id) == (EACH - 1, 2) {
                continue;
            }
            if n % 4 == 0 { writer.rollback().unwrap() } else { writer.commit().unwrap() }
        }
    }
    assert_eq!(engine.history_length(), 3 * EACH - 1);
    assert_eq!(get(&mut old, tree, 0), Some(0));
    old.rollback().unwrap();
    await_that("purge passes all that is over", || engine.history_length() == 0);
    writers[2].rollback().unwrap();
    await_that("and then the last", || engine.history_length() == 0);
    drop((writers, old));
    engine.close().unwrap();
    drop(engine);
    let engine = Engine::open(tiny(scratch.path()), &mut |_| ()).unwrap();
    await_that("nothing comes back", || engine.history_length() == 0);
}

#[test]
fn a_history_that_is_too_long_delays_changes_until_kill() {
    let scratch = Scratch::new("lag");
    let engine = Engine::open(tiny(scratch.path()), &mut |_| ()).unwrap();
    let tree = table(&engine, 1);
    let mut old = begin(&engine);
    old.take_snapshot();
    let mut writer = Transaction::new(&engine).unwrap();
    for n in 0..1000 {
        writer.begin(Isolation::RepeatableRead, false);
        writer.update(tree, &key(0), &key(n)).unwrap();
        writer.commit().unwrap();
    }
    assert_eq!(engine.purge_delay_us(), 0);
    engine.set_purge(PurgeSettings { lag_max: 500, delay_us_max: 10_000_000, ..PurgeSettings::default() });
    await_that("the coordinator looks", || engine.purge_delay_us() == 15_000);
    writer.begin(Isolation::RepeatableRead, false);
    let began = Instant::now();
    writer.update(tree, &key(0), &key(7)).unwrap();
    assert!(began.elapsed() >= Duration::from_millis(15));
    engine.set_purge(PurgeSettings { lag_max: 1, delay_us_max: 10_000_000, ..PurgeSettings::default() });
    await_that("the coordinator looks", || engine.purge_delay_us() > 9_000_000);
    writer.interrupt().raise(1);
    assert!(matches!(writer.update(tree, &key(0), &key(8)), Err(Error::Interrupted)));
    assert!(began.elapsed() < Duration::from_secs(9), "it waited for its whole delay");
    old.rollback().unwrap();
    await_that("purge catches up", || engine.purge_delay_us() == 0);
}

/// A snapshot that goes by what is durable still shows what was acknowledged before it was.
#[test]
fn no_commit_disappears_when_commits_are_to_be_durable_again() {
    let scratch = Scratch::new("tightening");
    let engine = Engine::open(tiny(scratch.path()), &mut |_| ()).unwrap();
    let tree = table(&engine, 1);
    for n in 0..200 {
        let (weak, strict) = [(0, 1), (2, 1), (0, 2)][n as usize % 3];
        engine.set_flush_log_at_commit(weak);
        let mut tx = begin(&engine);
        tx.update(tree, &key(0), &key(n)).unwrap();
        tx.commit().unwrap();
        engine.set_flush_log_at_commit(strict);
        assert_eq!(engine.flush_log_at_commit(), strict);
        tx.begin(Isolation::RepeatableRead, false);
        assert_eq!(get(&mut tx, tree, 0), Some(n), "from {weak} to {strict}");
        tx.commit().unwrap();
    }
}

/// Undo is larger than the pool: what an old snapshot has read of a row's chain it does not read again.
#[test]
fn an_old_snapshot_reads_each_chain_once_beside_a_small_pool() {
    const ROWS: u64 = 2000;
    const ROUNDS: u64 = 19;
    let scratch = Scratch::new("small");
    let small = EngineOptions { buffer_pool_bytes: 4 << 20, flush_log_at_commit: 0, ..options(scratch.path()) };
    let engine = Engine::open(small, &mut |_| ()).unwrap();
    let value = |id: u64, round: u64| [&key(round * ROWS + id)[..], &[round as u8; 200]].concat();
    let mut tx = begin(&engine);
    let rows = engine.create_tree(&mut tx, TreeKind::Clustered).unwrap();
    let index = engine.create_tree(&mut tx, TreeKind::Secondary).unwrap();
    let entry = |id: u64, round: u64| [key(round), key(id)].concat();
    for id in 0..ROWS {
        tx.insert(rows, &key(id), &value(id, 0)).unwrap();
        tx.index_insert(index, &entry(id, 0), None, b"").unwrap();
    }
    tx.commit().unwrap();
    let mut old = begin(&engine);
    old.take_snapshot();
    let mut writer = Transaction::new(&engine).unwrap();
    for round in 1..=ROUNDS {
        for id in 0..ROWS {
            // Each chain is spread over all of the undo.
            let id = id * 769 % ROWS;
            writer.begin(Isolation::ReadCommitted, false);
            writer.update(rows, &key(id), &value(id, round)).unwrap();
            writer.index_delete(index, &entry(id, round - 1)).unwrap();
            writer.index_insert(index, &entry(id, round), None, b"").unwrap();
            writer.commit().unwrap();
        }
    }
    let mut scan = |tree: Tree, index: bool| {
        let reads = || observe::sum(observe::Counter::InnodbPagesRead);
        let (before, began) = (reads(), Instant::now());
        let everything = Range { lower: Bound::Unbounded, upper: Bound::Unbounded };
        let mut cursor = Cursor::new(tree, everything, Direction::Forward, Read::Consistent, 0);
        let (mut row, mut seen) = (Vec::new(), 0);
        while let Some(found) = cursor.next(&mut old).unwrap() {
            let id = u64::from_be_bytes(found.key[found.key.len() - 8..].try_into().unwrap());
            if index {
                assert!(old.get(rows, &key(id), Read::Consistent, &mut row).unwrap() && row == value(id, 0));
                seen += 1;
            } else {
                seen += u64::from(found.value == value(id, 0));
            }
        }
        println!("{} reads, {:?}", reads() - before, began.elapsed());
        (seen, reads() - before)
    };
    let (seen, of_rows) = scan(rows, false);
    assert_eq!(seen, ROWS);
    // An entry of each round asks for its row again.
    let (seen, of_entries) = scan(index, true);
    assert!(seen >= ROWS * ROUNDS);
    assert!(of_entries * 4 < of_rows, "{of_entries} pages were read for entries after {of_rows} for rows");
}
