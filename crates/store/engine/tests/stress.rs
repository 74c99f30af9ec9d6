//! Many threads on few frames: a bank of two clustered trees and their indexes, larger than the buffer pool, with transfers,
//! rollbacks, deadlocks, rows that come and go, scans both ways and snapshots held long. Each snapshot must show the same sum,
//! the same rows however often it looks, and indexes that agree with the rows; each writer reads what it wrote.
//!
//! `CLEARWAY_STRESS_SEED` and `CLEARWAY_STRESS_SECONDS` choose another run. A seed fixes what each thread does, not when.

mod common;

use common::{Scratch, check_sound, key, options, row, whole};
use engine::{
    Cursor, Direction, Engine, EngineOptions, Error, Isolation, LockMode, Range, Read, Transaction, Tree, TreeKind,
    Wait,
};
use fastrand::Rng;
use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

const X: Read = Read::Locking { mode: LockMode::Exclusive, wait: Wait::Block };
const S: Read = Read::Locking { mode: LockMode::Shared, wait: Wait::Block };
const ALL: Range<'static> = Range { lower: Bound::Unbounded, upper: Bound::Unbounded };

const ACCOUNTS: u64 = 6000;
const START: u64 = 1000;
/// Accounts that most transfers touch, so that they meet.
const HOT: u64 = 40;
const WRITERS: u64 = 5;
const READERS: u64 = 3;

/// Balance and a tail whose length and bytes follow from a version: a row is whole or it is not.
fn account(balance: u64, version: u64) -> Vec<u8> {
    // About one in 64 lives off-page.
    let len = if version % 64 == 63 { 5000 + version % 20_000 } else { 60 + version.wrapping_mul(37) % 1400 };
    let mut bytes = [balance.to_be_bytes(), version.to_be_bytes()].concat();
    bytes.extend(row(version, len as usize));
    bytes
}

fn balance_of(row: &[u8]) -> (u64, u64) {
    let word = |at: usize| u64::from_be_bytes(row[at..at + 8].try_into().unwrap());
    assert_eq!(row, account(word(0), word(8)), "a row is not what anybody wrote");
    (word(0), word(8))
}

#[derive(Clone, Copy)]
struct Bank {
    accounts: Tree,
    /// (balance, account)
    by_balance: Tree,
    /// (version, account), unique in the version
    by_version: Tree,
}

struct Run {
    engine: Arc<Engine>,
    bank: Bank,
    seed: u64,
    until: Instant,
    failed: AtomicBool,
    versions: AtomicU64,
    commits: AtomicU64,
    deadlocks: AtomicU64,
    snapshots: AtomicU64,
}

impl Run {
    fn goes_on(&self) -> bool {
        Instant::now() < self.until && !self.failed.load(Ordering::Relaxed)
    }
}

fn begin(engine: &Engine) -> Transaction {
    let mut tx = Transaction::new(engine).unwrap();
    tx.begin(Isolation::RepeatableRead, false);
    tx
}

fn put_entries(tx: &mut Transaction, bank: &Bank, id: u64, balance: u64, version: u64) -> engine::Result<()> {
    tx.index_insert(bank.by_balance, &[key(balance), key(id)].concat(), None, b"")?;
    tx.index_insert(bank.by_version, &[key(version), key(id)].concat(), Some(8), &key(id))
}

fn remove_entries(tx: &mut Transaction, bank: &Bank, id: u64, balance: u64, version: u64) -> engine::Result<()> {
    tx.index_delete(bank.by_balance, &[key(balance), key(id)].concat())?;
    tx.index_delete(bank.by_version, &[key(version), key(id)].concat())
}

/// Moves all or part of the money; an account that becomes empty goes, and comes back when it gets some.
fn transfer(tx: &mut Transaction, run: &Run, random: &mut Rng, from: u64, to: u64) -> engine::Result<()> {
    let bank = &run.bank;
    let mut bytes = Vec::new();
    if from == to || !tx.get(bank.accounts, &key(from), X, &mut bytes)? {
        return Ok(());
    }
    let (old, version) = balance_of(&whole(tx, &bytes));
    let amount = if random.u64(..8) == 0 { old } else { random.u64(..old + 1) };
    let fresh = || run.versions.fetch_add(1, Ordering::Relaxed);
    remove_entries(tx, bank, from, old, version)?;
    if amount == old {
        tx.delete(bank.accounts, &key(from))?;
        assert!(!tx.get(bank.accounts, &key(from), Read::Consistent, &mut bytes)?, "a writer reads its own deletion");
    } else {
        let version = fresh();
        tx.update(bank.accounts, &key(from), stored!(account(old - amount, version)))?;
        put_entries(tx, bank, from, old - amount, version)?;
        assert!(tx.get(bank.accounts, &key(from), Read::Consistent, &mut bytes)?);
        assert_eq!(balance_of(&whole(tx, &bytes)), (old - amount, version), "a writer reads its own update");
    }
    let version = fresh();
    let there = tx.get(bank.accounts, &key(to), X, &mut bytes)?;
    let total = if there {
        let (old, version) = balance_of(&whole(tx, &bytes));
        remove_entries(tx, bank, to, old, version)?;
        old + amount
    } else {
        if amount == 0 {
            return Err(Error::DuplicateKey); // nothing to put there: undo the statement
        }
        amount
    };
    if there {
        tx.update(bank.accounts, &key(to), stored!(account(total, version)))?;
    } else {
        // At READ COMMITTED the key was not locked: when it has been taken meanwhile, the statement is undone.
        tx.insert(bank.accounts, &key(to), stored!(account(total, version)))?;
    }
    put_entries(tx, bank, to, total, version)?;
    assert!(tx.get(bank.accounts, &key(to), Read::Consistent, &mut bytes)?);
    assert_eq!(balance_of(&whole(tx, &bytes)), (total, version), "a writer reads its own insertion");
    Ok(())
}

fn writer(run: &Run, number: u64) {
    let random = &mut Rng::with_seed(run.seed.wrapping_mul(1000) + number);
    let mut tx = Transaction::new(&run.engine).unwrap();
    tx.set_lock_wait_timeout(Duration::from_millis(300));
    while run.goes_on() {
        let isolation = if random.u64(..4) == 0 { Isolation::ReadCommitted } else { Isolation::RepeatableRead };
        tx.begin(isolation, false);
        let pick = |random: &mut Rng| match random.u64(..3) {
            0 => random.u64(..ACCOUNTS),
            _ => random.u64(..HOT) * (ACCOUNTS / HOT),
        };
        let statements = 1 + random.u64(..4);
        for _ in 0..statements {
            let savepoint = tx.savepoint();
            let (from, to) = (pick(random), pick(random));
            match transfer(&mut tx, run, random, from, to) {
                Ok(()) => tx.end_statement(),
                Err(Error::Deadlock) => {
                    assert!(!tx.is_active());
                    run.deadlocks.fetch_add(1, Ordering::Relaxed);
                    break;
                }
                Err(Error::LockWaitTimeout | Error::DuplicateKey) => tx.rollback_to(savepoint).unwrap(),
                Err(error) => panic!("seed {}: writer {number}: {error}", run.seed),
            }
        }
        if tx.is_active() && random.u64(..6) == 0 {
            tx.rollback().unwrap();
        } else if tx.is_active() {
            tx.commit().unwrap();
            run.commits.fetch_add(1, Ordering::Relaxed);
        }
    }
}

fn scan(
    tx: &mut Transaction,
    tree: Tree,
    range: Range<'_>,
    direction: Direction,
    mut each: impl FnMut(&[u8], &[u8], bool),
) {
    let mut cursor = Cursor::new(tree, range, direction, Read::Consistent, 0);
    let mut last: Option<Vec<u8>> = None;
    while let Some(entry) = cursor.next(tx).unwrap() {
        if let Some(last) = &last {
            let rises = last[..] < *entry.key;
            assert!(last[..] != *entry.key && rises == (direction == Direction::Forward), "a scan goes one way");
        }
        each(entry.key, &whole(tx, entry.value), entry.certain);
        last = Some(entry.key.to_vec());
    }
}

/// All accounts as this transaction's snapshot has them, by a scan in one direction.
fn accounts(tx: &mut Transaction, bank: &Bank, direction: Direction) -> BTreeMap<u64, (u64, u64)> {
    let mut found = BTreeMap::new();
    scan(tx, bank.accounts, ALL, direction, |key, row, certain| {
        assert!(certain);
        found.insert(u64::from_be_bytes(key.try_into().unwrap()), balance_of(row));
    });
    found
}

/// The entries of an index that belong to the snapshot; those that only the row can decide are compared with it.
fn entries(
    tx: &mut Transaction,
    tree: Tree,
    direction: Direction,
    rows: &BTreeMap<u64, (u64, u64)>,
    word: impl Fn(&(u64, u64)) -> u64,
) -> BTreeMap<u64, u64> {
    let mut found = BTreeMap::new();
    scan(tx, tree, ALL, direction, |key, _, certain| {
        let value = u64::from_be_bytes(key[..8].try_into().unwrap());
        let id = u64::from_be_bytes(key[8..].try_into().unwrap());
        let belongs = rows.get(&id).is_some_and(|row| word(row) == value);
        assert!(belongs || !certain, "a certain entry ({value}, {id}) has no such row: {:?}", rows.get(&id));
        if belongs {
            assert_eq!(found.insert(id, value), None, "account {id} has two entries with {value}");
        }
    });
    found
}

fn reader(run: &Run, number: u64) {
    let bank = &run.bank;
    let random = &mut Rng::with_seed(run.seed.wrapping_mul(1000) + 500 + number);
    let mut tx = Transaction::new(&run.engine).unwrap();
    while run.goes_on() {
        tx.begin(Isolation::RepeatableRead, true);
        let direction = if random.u64(..2) == 0 { Direction::Forward } else { Direction::Backward };
        let rows = accounts(&mut tx, bank, direction);
        let sum: u64 = rows.values().map(|(balance, _)| balance).sum();
        assert_eq!(sum, ACCOUNTS * START, "seed {}: a snapshot in which money is missing", run.seed);
        for _ in 0..1 + random.u64(..3) {
            let other = if random.u64(..2) == 0 { Direction::Forward } else { Direction::Backward };
            match random.u64(..4) {
                0 => assert!(accounts(&mut tx, bank, other) == rows, "seed {}: a snapshot changed", run.seed),
                1 => {
                    let found = entries(&mut tx, bank.by_balance, other, &rows, |row| row.0);
                    assert_eq!(found.len(), rows.len(), "seed {}: balances: entries are missing", run.seed);
                }
                2 => {
                    let found = entries(&mut tx, bank.by_version, other, &rows, |row| row.1);
                    assert_eq!(found.len(), rows.len(), "seed {}: versions: entries are missing", run.seed);
                }
                _ => {
                    for _ in 0..300 {
                        let id = random.u64(..ACCOUNTS);
                        let mut bytes = Vec::new();
                        let there = tx.get(bank.accounts, &key(id), Read::Consistent, &mut bytes).unwrap();
                        assert_eq!(
                            there.then(|| balance_of(&whole(&tx, &bytes))),
                            rows.get(&id).copied(),
                            "seed {}",
                            run.seed
                        );
                    }
                }
            }
            let (low, high) = (random.u64(..ACCOUNTS), random.u64(..ACCOUNTS));
            let (a, b) = (key(low.min(high)), key(low.max(high)));
            let mut part = BTreeMap::new();
            let range = Range { lower: Bound::Excluded(&a), upper: Bound::Included(&b) };
            scan(&mut tx, bank.accounts, range, other, |key, row, _| {
                part.insert(u64::from_be_bytes(key.try_into().unwrap()), balance_of(row));
            });
            let expected = rows.range((Bound::Excluded(low.min(high)), Bound::Included(low.max(high))));
            if low != high {
                assert!(part.iter().eq(expected), "seed {}: a range of the snapshot changed", run.seed);
            }
        }
        tx.commit().unwrap();
        run.snapshots.fetch_add(1, Ordering::Relaxed);
    }
}

/// Locking scans over a few neighbours, and a table of its own that fills and empties, so that pages come and go.
fn churner(run: &Run) -> Tree {
    let random = &mut Rng::with_seed(run.seed.wrapping_mul(1000) + 900);
    let mut tx = begin(&run.engine);
    let own = run.engine.create_tree(&mut tx, TreeKind::Clustered).unwrap();
    tx.commit().unwrap();
    let mut rows: BTreeMap<u64, u64> = BTreeMap::new();
    let mut fill = true;
    while run.goes_on() {
        tx.begin(Isolation::RepeatableRead, false);
        let mut after = rows.clone();
        for _ in 0..200 {
            let id = random.u64(..1500);
            let len = 100 + random.u64(..1800);
            let mut bytes = Vec::new();
            if tx.get(own, &key(id), X, &mut bytes).unwrap() {
                assert_eq!(bytes, row(id, after[&id] as usize), "seed {}", run.seed);
                if fill {
                    tx.update(own, &key(id), &row(id, len as usize)).unwrap();
                    after.insert(id, len);
                } else {
                    tx.delete(own, &key(id)).unwrap();
                    after.remove(&id);
                }
            } else {
                assert!(!after.contains_key(&id), "seed {}: row {id} is lost", run.seed);
                if fill || random.u64(..5) == 0 {
                    tx.insert(own, &key(id), &row(id, len as usize)).unwrap();
                    after.insert(id, len);
                }
            }
        }
        if random.u64(..5) == 0 {
            tx.rollback().unwrap();
        } else {
            tx.commit().unwrap();
            rows = after;
        }
        fill = if fill { rows.len() < 1200 } else { rows.len() < 100 };
        tx.begin(Isolation::RepeatableRead, false);
        let mut found = BTreeMap::new();
        scan(&mut tx, own, ALL, Direction::Backward, |key, row, _| {
            found.insert(u64::from_be_bytes(key.try_into().unwrap()), row.len() as u64);
        });
        assert!(found == rows, "seed {}: the churned table is not what was written", run.seed);
        // Share-locks neighbours of the hot accounts: deadlocks with transfers.
        tx.set_lock_wait_timeout(Duration::from_millis(100));
        let low = key(random.u64(..HOT) * (ACCOUNTS / HOT));
        let mut cursor = Cursor::new(
            run.bank.accounts,
            Range { lower: Bound::Included(&low), upper: Bound::Unbounded },
            Direction::Forward,
            S,
            8,
        );
        for _ in 0..8 {
            match cursor.next(&mut tx) {
                Ok(Some(entry)) => drop(balance_of(&whole(&tx, entry.value))),
                Ok(None) | Err(Error::Deadlock | Error::LockWaitTimeout) => break,
                Err(error) => panic!("seed {}: {error}", run.seed),
            }
        }
        if tx.is_active() {
            tx.rollback().unwrap();
        }
    }
    own
}

#[test]
fn snapshots_hold_while_many_threads_write_on_few_frames() {
    let number = |name: &str, default: u64| std::env::var(name).map_or(default, |text| text.parse().unwrap());
    let (seed, seconds) = (number("CLEARWAY_STRESS_SEED", 1), number("CLEARWAY_STRESS_SECONDS", 8));
    let scratch = Scratch::new("stress");
    // The address space bounds the status ring, to so few ids that they leave it while they are looked up.
    let few = EngineOptions {
        buffer_pool_bytes: 4 << 20,
        log_capacity_bytes: 32 << 20,
        address_space_bytes: 512 << 20,
        ..options(scratch.path())
    };
    let engine = Engine::open(few.clone(), &mut |_| ()).unwrap();
    // The seed decides how soon commits are shown, too.
    engine.set_flush_log_at_commit([1, 2, 0][seed as usize % 3]);
    let mut tx = begin(&engine);
    let trees = [TreeKind::Clustered, TreeKind::Secondary, TreeKind::Secondary];
    let [accounts_tree, by_balance, by_version] = trees.map(|kind| engine.create_tree(&mut tx, kind).unwrap());
    let bank = Bank { accounts: accounts_tree, by_balance, by_version };
    for id in 0..ACCOUNTS {
        tx.insert(bank.accounts, &key(id), stored!(account(START, id))).unwrap();
        put_entries(&mut tx, &bank, id, START, id).unwrap();
    }
    tx.commit().unwrap();
    let run = Run {
        engine: engine.clone(),
        bank,
        seed,
        until: Instant::now() + Duration::from_secs(seconds),
        failed: AtomicBool::new(false),
        versions: AtomicU64::new(ACCOUNTS),
        commits: AtomicU64::new(0),
        deadlocks: AtomicU64::new(0),
        snapshots: AtomicU64::new(0),
    };
    struct Fails<'r>(&'r Run);
    impl Drop for Fails<'_> {
        fn drop(&mut self) {
            if std::thread::panicking() {
                self.0.failed.store(true, Ordering::Relaxed);
            }
        }
    }
    let churned = std::thread::scope(|scope| {
        let run = &run;
        for number in 0..WRITERS {
            scope.spawn(move || {
                let _fails = Fails(run);
                writer(run, number);
            });
        }
        for number in 0..READERS {
            scope.spawn(move || {
                let _fails = Fails(run);
                reader(run, number);
            });
        }
        let churner = scope.spawn(move || {
            let _fails = Fails(run);
            churner(run)
        });
        churner.join().unwrap()
    });
    let trees = [bank.accounts, bank.by_balance, bank.by_version, churned];
    let [commits, deadlocks, snapshots] =
        [&run.commits, &run.deadlocks, &run.snapshots].map(|count| count.load(Ordering::Relaxed));
    drop(run);
    println!("seed {seed}: {commits} commits, {deadlocks} deadlocks, {snapshots} snapshots");
    assert!(commits > 20 && snapshots > 2, "seed {seed}: the threads hardly ran");

    // At rest and after reopening: nothing is uncertain, nothing is locked, the same rows.
    let check = |engine: &Engine| {
        let mut tx = begin(engine);
        let rows = accounts(&mut tx, &bank, Direction::Forward);
        assert_eq!(rows.values().map(|row| row.0).sum::<u64>(), ACCOUNTS * START);
        assert_eq!(entries(&mut tx, bank.by_balance, Direction::Backward, &rows, |row| row.0).len(), rows.len());
        assert_eq!(entries(&mut tx, bank.by_version, Direction::Forward, &rows, |row| row.1).len(), rows.len());
        rows
    };
    assert_eq!(engine.locks(), [], "seed {seed}: locks that nobody holds");
    let rows = check(&engine);
    drop(tx);
    check_sound(&engine, &trees, &format!("seed {seed}"));
    engine.close().unwrap();
    drop(engine);
    let engine = Engine::open(few, &mut |_| ()).unwrap();
    assert!(check(&engine) == rows, "seed {seed}: reopening changed rows");
    check_sound(&engine, &trees, &format!("seed {seed}, reopened"));
}
