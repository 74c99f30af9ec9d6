//! Row locks: waits, deadlocks, gaps, and what others are kept from.

mod common;

use common::{Scratch, key, options};
use engine::{
    Cursor, Direction, Engine, Error, ForeignWait, Isolation, LockMode, Range, Read, Transaction, Tree, TreeKind, Wait,
};
use std::ops::Bound;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

const X: Read = Read::Locking { mode: LockMode::Exclusive, wait: Wait::Block };

fn begin(engine: &Engine, isolation: Isolation) -> Transaction {
    let mut tx = Transaction::new(engine).unwrap();
    tx.begin(isolation, false);
    tx
}

/// A clustered tree with the rows `keys`.
fn table(engine: &Engine, keys: impl IntoIterator<Item = u64>) -> Tree {
    let mut tx = begin(engine, Isolation::RepeatableRead);
    let tree = engine.create_tree(&mut tx, TreeKind::Clustered).unwrap();
    for i in keys {
        tx.insert(tree, &key(i), b"0").unwrap();
    }
    tx.commit().unwrap();
    tree
}

/// A lock that is not the engine's: waits for `holder` until aborted.
struct Gate {
    holder: u32,
    aborted: AtomicBool,
    told: mpsc::Sender<()>,
}

impl ForeignWait for Gate {
    fn blockers(&self, out: &mut Vec<u32>) {
        if !self.aborted.load(Ordering::SeqCst) {
            out.push(self.holder);
        }
    }

    fn abort(&self) -> bool {
        let first = !self.aborted.swap(true, Ordering::SeqCst);
        self.told.send(()).unwrap();
        first
    }

    fn describe(&self) -> String {
        "a gate".into()
    }
}

/// `a` holds a row and waits at the gate of `b`, who waits for the row: whoever comes last finds the cycle, and the lighter one goes.
#[test]
fn deadlocks_across_foreign_and_row_locks_are_found() {
    for weight in [0, 1000] {
        let scratch = Scratch::new("foreign");
        let engine = Engine::open(options(scratch.path()), &mut |_| ()).unwrap();
        let tree = table(&engine, 0..2);
        let mut a = begin(&engine, Isolation::RepeatableRead);
        let mut row = Vec::new();
        assert!(a.get(tree, &key(0), X, &mut row).unwrap());
        let mut b = begin(&engine, Isolation::RepeatableRead);
        let (told, aborts) = mpsc::channel();
        let gate = Arc::new(Gate { holder: b.slot(), aborted: AtomicBool::new(false), told });
        a.enter_wait(gate.clone(), weight);
        let heavier_b = std::thread::spawn(move || {
            b.insert(tree, &key(7), b"work").unwrap();
            let outcome = b.get(tree, &key(0), X, &mut Vec::new());
            (outcome, b.is_active())
        });
        if weight == 0 {
            aborts.recv().unwrap();
            assert!(gate.aborted.load(Ordering::SeqCst), "one row changed is more than none");
            a.leave_wait();
            a.rollback().unwrap();
            assert!(heavier_b.join().unwrap().0.unwrap());
        } else {
            let (outcome, active) = heavier_b.join().unwrap();
            assert!(matches!(outcome, Err(Error::Deadlock)), "{outcome:?}");
            assert!(!active && !gate.aborted.load(Ordering::SeqCst));
            a.leave_wait();
        }
    }
}

const S: Read = Read::Locking { mode: LockMode::Shared, wait: Wait::Block };

/// Which of `keys` another transaction cannot insert now, without waiting long.
fn not_insertable(engine: &Engine, tree: Tree, keys: impl IntoIterator<Item = u64>) -> Vec<u64> {
    keys.into_iter().filter(|i| is_refused(engine, |tx| tx.insert(tree, &key(*i), b"new"))).collect()
}

/// Which rows of `keys` another transaction cannot lock or change now.
fn not_lockable(engine: &Engine, tree: Tree, mode: LockMode, keys: impl IntoIterator<Item = u64>) -> Vec<u64> {
    let read = Read::Locking { mode, wait: Wait::NoWait };
    let lock = |tx: &mut Transaction, i: u64| match tx.get(tree, &key(i), read, &mut Vec::new()) {
        Err(Error::LockNoWait) => Err(Error::LockWaitTimeout),
        other => other.map(|_| ()),
    };
    let locked: Vec<u64> = keys.into_iter().filter(|i| is_refused(engine, |tx| lock(tx, *i))).collect();
    if mode == LockMode::Exclusive {
        for i in &locked {
            let write = |tx: &mut Transaction| {
                let found = tx.read_to_write(tree, &key(*i), &mut Vec::new())?;
                if found { tx.update(tree, &key(*i), b"other") } else { Ok(()) }
            };
            assert!(is_refused(engine, write), "row {i} is locked and can be changed");
        }
    }
    locked
}

fn is_refused(engine: &Engine, act: impl FnOnce(&mut Transaction) -> Result<(), Error>) -> bool {
    let mut tx = begin(engine, Isolation::ReadCommitted);
    tx.set_lock_wait_timeout(Duration::from_millis(2));
    let outcome = act(&mut tx);
    tx.rollback().unwrap();
    match outcome {
        Ok(()) => false,
        Err(Error::LockWaitTimeout) => true,
        Err(error) => panic!("{error:?}"),
    }
}

fn bytes(bound: Bound<u64>) -> Bound<[u8; 8]> {
    bound.map(key)
}

/// Reads up to `limit` rows of a range.
fn scan(
    tx: &mut Transaction,
    tree: Tree,
    range: (Bound<u64>, Bound<u64>),
    direction: Direction,
    read: Read,
    limit: usize,
) -> Vec<u64> {
    let (lower, upper) = (bytes(range.0), bytes(range.1));
    let range = Range { lower: lower.as_ref().map(|k| &k[..]), upper: upper.as_ref().map(|k| &k[..]) };
    let mut cursor = Cursor::new(tree, range, direction, read, 0);
    let mut found = Vec::new();
    while found.len() < limit
        && let Some(entry) = cursor.next(tx).unwrap()
    {
        found.push(u64::from_be_bytes(entry.key.try_into().unwrap()));
    }
    found
}

#[test]
fn ranges_lock_their_rows_and_the_gaps_as_far_as_the_neighbours() {
    use Bound::{Excluded as Ex, Included as In, Unbounded as All};
    use Direction::{Backward, Forward};
    let scratch = Scratch::new("ranges");
    let engine = Engine::open(options(scratch.path()), &mut |_| ()).unwrap();
    let tree = table(&engine, [10, 20, 30, 40, 50]);
    const EVERY: usize = usize::MAX;
    let between = |from: u64, to: u64| (from..=to).filter(|i| i % 10 != 0).collect::<Vec<_>>();
    // (range, direction, limit, rows locked, gaps locked from, to) as MySQL 9.7 has it, but for the records that it locks beyond
    // the range in descending scans.
    let cases = [
        ((In(20), In(30)), Forward, EVERY, vec![20, 30], 20, 30),
        ((Ex(20), Ex(40)), Forward, EVERY, vec![30], 20, 40),
        ((In(25), Ex(35)), Forward, EVERY, vec![30], 20, 40),
        ((Ex(40), All), Forward, EVERY, vec![50], 40, 60),
        ((All, Ex(20)), Forward, EVERY, vec![10], 0, 20),
        ((All, In(20)), Forward, EVERY, vec![10, 20], 0, 20),
        ((All, All), Forward, EVERY, vec![10, 20, 30, 40, 50], 0, 60),
        ((All, All), Forward, 1, vec![10], 0, 10),
        ((In(21), In(29)), Forward, EVERY, vec![], 20, 30),
        ((Ex(20), Ex(40)), Backward, EVERY, vec![30], 20, 40),
        ((In(25), Ex(35)), Backward, EVERY, vec![30], 20, 40),
        ((All, All), Backward, 1, vec![50], 50, 60),
        ((All, Ex(20)), Backward, EVERY, vec![10], 0, 20),
        ((All, All), Backward, EVERY, vec![10, 20, 30, 40, 50], 0, 60),
    ];
    for (range, direction, limit, rows, from, to) in cases {
        let what = format!("{range:?} {direction:?}");
        let mut tx = begin(&engine, Isolation::RepeatableRead);
        let mut found = scan(&mut tx, tree, range, direction, X, limit);
        found.sort();
        assert_eq!(found, rows, "{what}");
        assert_eq!(not_insertable(&engine, tree, between(1, 59)), between(from, to), "{what}");
        assert_eq!(not_lockable(&engine, tree, LockMode::Shared, [10, 20, 30, 40, 50]), rows, "{what}");
        assert_eq!(not_lockable(&engine, tree, LockMode::Exclusive, [10, 20, 30, 40, 50]), rows, "{what}");
        tx.commit().unwrap();
        // Shared: others may share the rows, not change them.
        tx.begin(Isolation::Serializable, false);
        scan(&mut tx, tree, range, direction, S, limit);
        assert_eq!(not_lockable(&engine, tree, LockMode::Shared, [10, 20, 30, 40, 50]), [0; 0], "{what}");
        assert_eq!(not_lockable(&engine, tree, LockMode::Exclusive, [10, 20, 30, 40, 50]), rows, "{what}");
        tx.commit().unwrap();
        // Below REPEATABLE READ rows only.
        tx.begin(Isolation::ReadCommitted, false);
        scan(&mut tx, tree, range, direction, X, limit);
        assert_eq!(not_insertable(&engine, tree, between(1, 59)), [0; 0], "{what}");
        assert_eq!(not_lockable(&engine, tree, LockMode::Shared, [10, 20, 30, 40, 50]), rows, "{what}");
        tx.commit().unwrap();
        assert_eq!(not_insertable(&engine, tree, between(1, 59)), [0; 0], "{what}");
    }
    // One row by its whole key: the record if it is there, else the gap.
    for (at, gap) in [(20, None), (25, Some((20, 30))), (99, Some((50, 120)))] {
        for isolation in [Isolation::RepeatableRead, Isolation::ReadCommitted] {
            for write in [false, true] {
                let mut tx = begin(&engine, isolation);
                let mut row = Vec::new();
                let found = if write {
                    tx.read_to_write(tree, &key(at), &mut row)
                } else {
                    tx.get(tree, &key(at), X, &mut row)
                };
                assert_eq!(found.unwrap(), at == 20);
                if write && at == 20 {
                    tx.update(tree, &key(at), b"x").unwrap();
                }
                let gap = gap.filter(|_| isolation == Isolation::RepeatableRead);
                let expected = gap.map_or(vec![], |(from, to)| between(from, to));
                assert_eq!(not_insertable(&engine, tree, between(1, 120)), expected, "{at} {isolation:?}");
                let rows = if at == 20 { vec![20] } else { vec![] };
                assert_eq!(not_lockable(&engine, tree, LockMode::Exclusive, [10, 20, 30]), rows, "{at} {isolation:?}");
                tx.rollback().unwrap();
            }
        }
    }
}

/// A span keeps others from inserting where no row is; looking for one there waits for nothing, at no level.
#[test]
fn who_looks_for_a_row_that_is_not_there_does_not_wait_for_spans() {
    let scratch = Scratch::new("absent");
    let engine = Engine::open(options(scratch.path()), &mut |_| ()).unwrap();
    let tree = table(&engine, [10, 20, 25, 30, 100]);
    let mut deleter = begin(&engine, Isolation::RepeatableRead);
    deleter.delete(tree, &key(25)).unwrap();
    deleter.commit().unwrap();
    let all = (Bound::Unbounded, Bound::Unbounded);
    for read in [S, X] {
        let mut a = begin(&engine, Isolation::RepeatableRead);
        assert_eq!(scan(&mut a, tree, all, Direction::Forward, read, usize::MAX), [10, 20, 30, 100]);
        assert_eq!(not_lockable(&engine, tree, LockMode::Exclusive, [5, 12, 20, 25, 101]), [20]);
        for isolation in [Isolation::ReadCommitted, Isolation::RepeatableRead] {
            let mut b = begin(&engine, isolation);
            b.set_lock_wait_timeout(Duration::from_millis(2));
            for place in [5, 12, 25, 101] {
                assert!(!b.get(tree, &key(place), X, &mut Vec::new()).unwrap());
                assert!(!b.read_to_write(tree, &key(place), &mut Vec::new()).unwrap());
                let inserted = b.insert(tree, &key(place), b"b");
                assert!(matches!(inserted, Err(Error::LockWaitTimeout)), "{place}: {inserted:?}");
            }
        }
        a.rollback().unwrap();
    }
}

type Outcome = (Result<(), Error>, Transaction);

/// Both come to an end, one of them as the victim of a deadlock.
fn one_is_the_victim(mine: Outcome, other: std::thread::JoinHandle<Outcome>) {
    let end = |(outcome, mut tx): Outcome| {
        if outcome.is_ok() {
            tx.commit().unwrap();
        }
        outcome
    };
    let outcomes = [end(mine), end(other.join().unwrap())];
    assert_eq!(outcomes.iter().filter(|o| matches!(o, Err(Error::Deadlock))).count(), 1, "{outcomes:?}");
}

/// Two hold the gap, both insert: one of them is the victim, at once.
#[test]
fn insertions_into_a_gap_that_both_hold_are_a_deadlock() {
    let scratch = Scratch::new("gaps");
    let engine = Engine::open(options(scratch.path()), &mut |_| ()).unwrap();
    let tree = table(&engine, [10, 20]);
    let mut a = begin(&engine, Isolation::RepeatableRead);
    let mut b = begin(&engine, Isolation::RepeatableRead);
    for tx in [&mut a, &mut b] {
        assert!(!tx.get(tree, &key(15), X, &mut Vec::new()).unwrap(), "gap locks go together");
    }
    let other = std::thread::spawn(move || {
        let outcome = b.insert(tree, &key(16), b"b");
        (outcome, b)
    });
    let mine = a.insert(tree, &key(15), b"a");
    one_is_the_victim((mine, a), other);
}

/// One has a record locked whose row it has taken back, another a span over its place: both insert it, one is the victim.
#[test]
fn insertions_of_a_row_that_was_taken_back_are_a_deadlock() {
    let scratch = Scratch::new("taken-back");
    let engine = Engine::open(options(scratch.path()), &mut |_| ()).unwrap();
    let tree = table(&engine, [10, 50]);
    let mut a = begin(&engine, Isolation::RepeatableRead);
    let savepoint = a.savepoint();
    a.insert(tree, &key(20), b"a").unwrap();
    a.rollback_to(savepoint).unwrap();
    let mut b = begin(&engine, Isolation::RepeatableRead);
    assert_eq!(scan(&mut b, tree, (Bound::Unbounded, Bound::Unbounded), Direction::Forward, X, usize::MAX), [10, 50]);
    let other = std::thread::spawn(move || {
        let outcome = b.insert(tree, &key(20), b"b");
        (outcome, b)
    });
    until_waiting(&engine, 1);
    let mine = a.insert(tree, &key(20), b"a");
    one_is_the_victim((mine, a), other);
}

fn until_waiting(engine: &Engine, count: usize) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while engine.lock_waits() < count {
        assert!(Instant::now() < deadline, "nobody waits");
        std::thread::yield_now();
    }
}

/// A scan takes over what it waited for: the lock object goes, the span stays.
#[test]
fn a_scan_that_waited_goes_on_and_sees_the_newest() {
    let scratch = Scratch::new("waited");
    let engine = Engine::open(options(scratch.path()), &mut |_| ()).unwrap();
    let tree = table(&engine, (0..2000).map(|i| i * 10));
    let mut a = begin(&engine, Isolation::RepeatableRead);
    assert!(a.read_to_write(tree, &key(5000), &mut Vec::new()).unwrap());
    a.update(tree, &key(5000), b"a").unwrap();
    a.insert(tree, &key(5005), b"a").unwrap();
    let other = {
        let engine = engine.clone();
        std::thread::spawn(move || {
            let mut b = begin(&engine, Isolation::RepeatableRead);
            let found = scan(&mut b, tree, (Bound::Unbounded, Bound::Unbounded), Direction::Forward, X, usize::MAX);
            assert_eq!(not_insertable(&engine, tree, [5, 5001, 5006, 19_991, 30_000]), [5, 5001, 5006, 19_991, 30_000]);
            assert_eq!(b.lock_count(), 0, "one span, no lock objects");
            found.len()
        })
    };
    while engine.lock_waits() == 0 {
        std::thread::yield_now();
    }
    a.commit().unwrap();
    assert_eq!(other.join().unwrap(), 2001);
}

#[test]
fn a_transaction_whose_locks_take_too_much_memory_is_rolled_back() {
    let scratch = Scratch::new("full");
    let engine = Engine::open(options(scratch.path()), &mut |_| ()).unwrap();
    let mut tx = Transaction::new(&engine).unwrap();
    tx.begin(Isolation::ReadCommitted, false);
    let tree = engine.create_tree(&mut tx, TreeKind::Clustered).unwrap();
    for id in 0..400_000u64 {
        tx.load(tree, &key(id), b"row").unwrap();
    }
    tx.commit().unwrap();
    let x = Read::Locking { mode: LockMode::Exclusive, wait: Wait::Block };
    let mut row = Vec::new();
    let mut counts = [0; 2];
    for count in &mut counts {
        tx.begin(Isolation::ReadCommitted, false);
        assert!(tx.get(tree, &key(0), x, &mut row).unwrap());
        tx.update(tree, &key(0), b"new").unwrap();
        let full = loop {
            *count += 1;
            match tx.get(tree, &key(*count), x, &mut row) {
                Ok(there) => assert!(there, "the bound is below {count} locks"),
                Err(error) => break error,
            }
        };
        assert!(matches!(full, Error::LockTableFull), "{full:?}");
        assert!(!tx.is_active());
        assert_eq!(engine.locks(), []);
    }
    // 64 MiB, whoever had them before.
    assert!((200_000..350_000).contains(&counts[0]) && counts[0] == counts[1], "{counts:?}");
    tx.begin(Isolation::ReadCommitted, false);
    assert!(tx.get(tree, &key(0), x, &mut row).unwrap() && row == b"row");
    tx.rollback().unwrap();
}

/// Many transactions lock few rows in any order, and somebody ends waits of any of them at any time: each deadlock is found, also one
/// that is hidden behind a wait that ends during the search.
#[test]
fn no_deadlock_is_missed_while_other_waits_end() {
    const THREADS: u64 = 12;
    const ROWS: u64 = 5;
    let scratch = Scratch::new("deadlocks");
    let engine = Engine::open(options(scratch.path()), &mut |_| ()).unwrap();
    engine.set_flush_log_at_commit(0);
    let tree = table(&engine, 0..ROWS);
    let until = Instant::now() + Duration::from_secs(3);
    let sessions: Vec<_> = (0..THREADS)
        .map(|n| {
            let mut tx = Transaction::new(&engine).unwrap();
            let interrupt = Arc::clone(tx.interrupt());
            let work = std::thread::spawn(move || {
                let (mut outcomes, mut row, mut draw) = ([0u64; 3], Vec::new(), n);
                while Instant::now() < until {
                    tx.begin(Isolation::ReadCommitted, false);
                    let outcome = (0..4).try_for_each(|_| {
                        // A linear congruential generator: Knuth, The Art of Computer Programming, 3.3.4.
                        draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                        let (id, shared) = ((draw >> 33) % ROWS, draw >> 60 < 11);
                        let mode = if shared { LockMode::Shared } else { LockMode::Exclusive };
                        let found = tx.get(tree, &key(id), Read::Locking { mode, wait: Wait::Block }, &mut row)?;
                        std::thread::yield_now();
                        assert!(found);
                        Ok(())
                    });
                    outcomes[match outcome {
                        Ok(()) => 0,
                        Err(Error::Deadlock) => 1,
                        Err(Error::Interrupted) => 2,
                        Err(error) => panic!("{error}"),
                    }] += 1;
                    tx.interrupt().clear_statement();
                    tx.rollback().unwrap();
                }
                outcomes
            });
            (interrupt, work)
        })
        .collect();
    for turn in 0.. {
        if Instant::now() >= until {
            break;
        }
        sessions[turn % sessions.len()].0.raise(1);
        sync::Parker::new().park_timeout(Duration::from_millis(2), sync::waits::Wait::Background);
    }
    let mut all = [0; 3];
    for (_, work) in sessions {
        all.iter_mut().zip(work.join().unwrap()).for_each(|(all, n)| *all += n);
    }
    println!("{} transactions, {} deadlocks, {} interrupted", all[0], all[1], all[2]);
    assert!(all.iter().all(|n| *n > 0), "{all:?}");
    assert_eq!(engine.locks(), []);
}
