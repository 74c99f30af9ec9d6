//! Random transactions that lock ranges: what a locking scan has seen stays so until the transaction ends.

mod common;

use common::{Scratch, key, options};
use engine::{
    Cursor, Direction, Engine, Error, Isolation, LockMode, Range, Read, Result, Transaction, Tree, TreeKind, Wait,
};
use fastrand::Rng;
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Few keys over several leaves: the rows are long.
const KEYS: u64 = 400;
const THREADS: u64 = 6;

/// (key, row) of a range, read with locks.
fn scan(
    tx: &mut Transaction,
    tree: Tree,
    from: u64,
    to: u64,
    direction: Direction,
    mode: LockMode,
) -> Result<Vec<(u64, Vec<u8>)>> {
    let (lower, upper) = (key(from), key(to));
    let range = Range { lower: Bound::Included(&lower[..]), upper: Bound::Excluded(&upper[..]) };
    let mut cursor = Cursor::new(tree, range, direction, Read::Locking { mode, wait: Wait::Block }, 0);
    let mut found = Vec::new();
    while let Some(entry) = cursor.next(tx)? {
        found.push((u64::from_be_bytes(entry.key.try_into().unwrap()), entry.value.to_vec()));
    }
    if direction == Direction::Backward {
        found.reverse();
    }
    Ok(found)
}

/// Reads a range, changes something elsewhere or in it, reads it again.
fn transaction(tx: &mut Transaction, tree: Tree, random: &mut Rng, number: u64) -> Result<()> {
    let from = random.u64(..KEYS);
    let to = from + 1 + random.u64(..KEYS / 8);
    let mode = if random.u64(..2) == 0 { LockMode::Shared } else { LockMode::Exclusive };
    let direction = if random.u64(..3) == 0 { Direction::Backward } else { Direction::Forward };
    let mut seen = scan(tx, tree, from, to, direction, mode)?;
    for _ in 0..random.u64(..4) {
        let at = random.u64(..KEYS);
        let within = (from..to).contains(&at);
        let row = [&number.to_le_bytes()[..], &[at as u8; 300]].concat();
        let mut old = Vec::new();
        let exclusive = Read::Locking { mode: LockMode::Exclusive, wait: Wait::Block };
        match (random.u64(..3), tx.get(tree, &key(at), exclusive, &mut old)?) {
            (0, true) => {
                tx.delete(tree, &key(at))?;
                seen.retain(|(k, _)| *k != at);
            }
            (_, true) => {
                tx.update(tree, &key(at), &row)?;
                seen.iter_mut().filter(|(k, _)| *k == at).for_each(|(_, r)| r.clone_from(&row));
            }
            (_, false) => {
                tx.insert(tree, &key(at), &row)?;
                if within {
                    seen.push((at, row));
                    seen.sort();
                }
            }
        }
    }
    std::thread::yield_now();
    let again = scan(tx, tree, from, to, Direction::Forward, LockMode::Shared)?;
    assert_eq!(keys(&again), keys(&seen), "rows of {from}..{to} came or went while they were locked");
    assert!(again == seen, "rows of {from}..{to} changed while they were locked");
    Ok(())
}

fn keys(rows: &[(u64, Vec<u8>)]) -> Vec<u64> {
    rows.iter().map(|(k, _)| *k).collect()
}

#[test]
fn locked_ranges_let_no_phantoms_in() {
    let seed = std::env::var("SEED").map_or_else(|_| u64::from(std::process::id()), |s| s.parse().unwrap());
    println!("SEED={seed}");
    let scratch = Scratch::new("phantoms");
    let engine = Engine::open(options(scratch.path()), &mut |_| ()).unwrap();
    engine.set_flush_log_at_commit(2);
    let mut tx = Transaction::new(&engine).unwrap();
    tx.begin(Isolation::RepeatableRead, false);
    let tree = engine.create_tree(&mut tx, TreeKind::Clustered).unwrap();
    for i in (0..KEYS).filter(|i| i % 3 == 0) {
        tx.insert(tree, &key(i), &[i as u8; 300]).unwrap();
    }
    tx.commit().unwrap();
    let (commits, deadlocks) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let until = Instant::now() + Duration::from_secs(3);
    let threads: Vec<_> = (0..THREADS)
        .map(|n| {
            let (engine, commits, deadlocks) = (engine.clone(), commits.clone(), deadlocks.clone());
            std::thread::spawn(move || {
                let mut random = Rng::with_seed(seed.wrapping_mul(THREADS + 1) + n);
                let mut tx = Transaction::new(&engine).unwrap();
                while Instant::now() < until {
                    let serializable = random.u64(..2) == 0;
                    tx.begin(if serializable { Isolation::Serializable } else { Isolation::RepeatableRead }, false);
                    let number = random.u64(..u64::MAX);
                    match transaction(&mut tx, tree, &mut random, number) {
                        Ok(()) if random.u64(..5) != 0 => {
                            tx.commit().unwrap();
                            commits.fetch_add(1, Ordering::Relaxed);
                        }
                        Ok(()) => tx.rollback().unwrap(),
                        Err(Error::Deadlock) => {
                            assert!(!tx.is_active());
                            deadlocks.fetch_add(1, Ordering::Relaxed);
                        }
                        Err(error) => panic!("SEED={seed}: {error:?}"),
                    }
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap_or_else(|_| panic!("SEED={seed}"));
    }
    let (commits, deadlocks) = (commits.load(Ordering::Relaxed), deadlocks.load(Ordering::Relaxed));
    println!("{commits} commits, {deadlocks} deadlocks");
    assert!(commits > 20, "SEED={seed}: {commits} commits, {deadlocks} deadlocks");
    assert_eq!(engine.locks(), [], "SEED={seed}: locks that nobody holds");
}
