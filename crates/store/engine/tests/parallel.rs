//! Reads in parts: they are the tree, and all of them see one snapshot.

mod common;

use common::{Scratch, Stop, key, options, row, table};
use engine::{Cursor, Direction, Engine, Isolation, Part, Range, Read, Transaction, Tree};
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const BYTES: usize = 300;
const ROWS: u64 = 20_000;

fn begin(engine: &Engine) -> Transaction {
    let mut tx = Transaction::new(engine).unwrap();
    tx.begin(Isolation::RepeatableRead, false);
    tx
}

/// Keys and rows of a range.
fn read(tx: &mut Transaction, tree: Tree, range: Range<'_>) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut scan = Cursor::new(tree, range, Direction::Forward, Read::Consistent, 0);
    let mut found = Vec::new();
    while let Some(entry) = scan.next(tx).unwrap() {
        found.push((entry.key.to_vec(), entry.value.to_vec()));
    }
    found
}

fn all(tx: &mut Transaction, tree: Tree) -> Vec<(Vec<u8>, Vec<u8>)> {
    read(tx, tree, Range { lower: Bound::Unbounded, upper: Bound::Unbounded })
}

fn filled(engine: &Arc<Engine>) -> Tree {
    let tree = table(engine, 0, 0);
    let mut tx = begin(engine);
    for id in 0..ROWS {
        tx.insert(tree, &key(2 * id), &row(id, BYTES)).unwrap();
    }
    tx.commit().unwrap();
    tree
}

#[test]
fn parts_follow_each_other_from_end_to_end() {
    let scratch = Scratch::new("parallel");
    let engine = Engine::open(options(scratch.path()), &mut |_| ()).unwrap();
    let tree = filled(&engine);
    let tx = begin(&engine);
    for wanted in [1, 2, 7, 64, 100_000] {
        let parts = tx.parts(tree, wanted).unwrap();
        assert!(parts.len() <= wanted && parts.len() >= wanted.min(50), "{} of {wanted}", parts.len());
        assert!(parts[0].from.is_none() && parts[parts.len() - 1].to.is_none());
        for pair in parts.windows(2) {
            assert!(pair[0].to.is_some() && pair[0].to == pair[1].from, "{pair:?}");
            assert!(pair[0].from < pair[0].to, "{pair:?}");
        }
    }
    let empty = table(&engine, 0, 0);
    assert_eq!(tx.parts(empty, 16).unwrap(), [Part::default()]);
}

/// Beside a writer that splits, empties and merges pages.
#[test]
fn parts_read_the_snapshot_of_who_asks() {
    let scratch = Scratch::new("parallel");
    let engine = Engine::open(options(scratch.path()), &mut |_| ()).unwrap();
    let tree = filled(&engine);
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let _stop = Stop(&over);
        scope.spawn(|| {
            let mut round = 0;
            // Relaxed: it only ends the loop.
            while !over.load(Ordering::Relaxed) {
                let mut tx = begin(&engine);
                for id in (round % 7..ROWS).step_by(7) {
                    if round % 2 == 0 {
                        // Some are there already.
                        tx.insert(tree, &key(2 * id + 1), &row(round, BYTES)).ok();
                    } else {
                        tx.delete(tree, &key(2 * id + 1)).ok();
                        tx.update(tree, &key(2 * id), &row(round, BYTES)).unwrap();
                    }
                }
                if round % 3 == 0 {
                    tx.rollback().unwrap()
                } else {
                    tx.commit().unwrap()
                }
                round += 1;
            }
        });
        for _ in 0..10 {
            let mut tx = begin(&engine);
            tx.take_snapshot();
            let parts = tx.parts(tree, 40).unwrap();
            let found = tx.read_parts(&parts, 4, |tx, part| read(tx, tree, part.range())).concat();
            assert!(found == all(&mut tx, tree), "{} rows in parts", found.len());
            tx.rollback().unwrap();
        }
    });
}

#[test]
fn who_has_written_reads_what_it_wrote() {
    let scratch = Scratch::new("parallel");
    let engine = Engine::open(options(scratch.path()), &mut |_| ()).unwrap();
    let tree = filled(&engine);
    let mut tx = begin(&engine);
    tx.insert(tree, &key(1), &row(1, BYTES)).unwrap();
    let parts = tx.parts(tree, 16).unwrap();
    let found = tx.read_parts(&parts, 4, |tx, part| read(tx, tree, part.range())).concat();
    assert_eq!(found.len() as u64, ROWS + 1);
    assert!(found == all(&mut tx, tree));
}

#[test]
fn a_panic_of_a_part_is_the_statements() {
    let scratch = Scratch::new("parallel");
    let engine = Engine::open(options(scratch.path()), &mut |_| ()).unwrap();
    let tree = filled(&engine);
    let mut tx = begin(&engine);
    let parts = tx.parts(tree, 16).unwrap();
    let last = parts.last().cloned();
    let read = |tx: &mut Transaction, part: &Part| assert_ne!(Some(part), last.as_ref(), "{}", tx.is_active());
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| tx.read_parts(&parts, 4, read)));
    assert!(outcome.is_err());
    assert_eq!(all(&mut tx, tree).len() as u64, ROWS, "it goes on");
}
