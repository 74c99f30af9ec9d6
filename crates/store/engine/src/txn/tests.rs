//! The transaction system on its own, with a ring so small that ids leave it all the time.

use super::*;
use std::sync::Barrier;
use std::sync::atomic::AtomicBool;
use sync::{Mutex, Rank};

const RING: u64 = 4 * BLOCK_IDS;

/// A log that is nothing but a counter: commits one after another.
struct Commits {
    /// W: under the mutex. R: everybody, as the newest LSN.
    completed: AtomicU64,
    order: Mutex<()>,
}

impl Commits {
    fn new() -> Commits {
        Commits { completed: AtomicU64::new(1), order: Mutex::new(Rank::Session, ()) }
    }

    fn newest(&self) -> Lsn {
        self.completed.load(Ordering::Acquire)
    }

    fn finish(&self, system: &System, slot: LaneId, trx: u64, commit: bool, note: impl FnOnce(Lsn)) {
        let _order = self.order.lock();
        let lsn = self.newest() + 1;
        note(lsn);
        let outcome = if commit { Status::Committed(lsn) } else { Status::RolledBack };
        system.finish(slot, trx, outcome, lsn);
        self.completed.store(lsn, Ordering::Release);
    }
}

fn start(system: &System, slot: LaneId, advance: impl Fn()) -> u64 {
    loop {
        match system.start(slot) {
            Some(trx) => return trx,
            None => advance(),
        }
    }
}

fn bounds(system: &System) -> (u64, u64) {
    (system.bounds.oldest.load(Ordering::Acquire), system.bounds.ring_start.load(Ordering::Acquire))
}

/// One thread: what each of a few snapshots sees is known exactly.
#[test]
fn old_snapshots_and_open_transactions_do_not_fill_the_ring() {
    let (system, commits) = (System::new(1, std::iter::empty(), RING).unwrap(), Commits::new());
    let newest = || commits.newest();
    let slots: Vec<LaneId> = (0..8).map(|_| system.slots.claim().unwrap()).collect();
    let (writer, prepared, readers) = (slots[0], slots[1], &slots[2..5]);
    let state = std::cell::RefCell::new(Advancer::default());
    let advance = || {
        system.advance(&mut state.borrow_mut(), newest);
    };

    let long = start(&system, prepared, || ());
    let mut outcomes = Vec::new();
    let mut snapshots = Vec::new();
    for round in 0..100_000u64 {
        if round % 30_000 == 10_000 {
            snapshots.push(system.open_snapshot(readers[snapshots.len()], newest));
        }
        let trx = start(&system, writer, advance);
        commits.finish(&system, writer, trx, round % 10 != 9, |lsn| outcomes.push((trx, lsn, round % 10 != 9)));
        if round % 100 == 0 {
            advance();
        }
    }
    assert_eq!(snapshots.len(), 3);
    let check = |snapshots: &[Lsn]| {
        assert_eq!(system.status(long), Status::Open(prepared.index() as u32));
        for (trx, lsn, committed) in &outcomes {
            for snapshot in snapshots {
                let sees = system.sees(*snapshot, *trx);
                assert!(if *lsn <= *snapshot { sees || !committed } else { !sees }, "id {trx} at {lsn} by {snapshot}");
            }
            assert_eq!(system.is_history(*trx, snapshots[0]), *lsn <= snapshots[0], "id {trx} at {lsn}");
        }
    };
    check(&snapshots);
    let (oldest, ring_start) = bounds(&system);
    assert!(oldest <= long && ring_start > 90_000, "{oldest} {ring_start}");
    assert!(system.moved.table().len() <= 6, "{} runs", system.moved.table().len());

    // As snapshots end their runs are joined; what is left is seen as before.
    system.close_snapshot(readers[0]);
    (0..64).for_each(|_| advance());
    check(&snapshots[1..]);
    // A transaction that ends after it was moved.
    let mut end = 0;
    commits.finish(&system, prepared, long, true, |lsn| end = lsn);
    assert!(!system.sees(snapshots[2], long));
    assert!(system.sees(end, long));
    assert_eq!(system.status(long), Status::Committed(end));
    system.close_snapshot(readers[1]);
    system.close_snapshot(readers[2]);
    advance();
    advance();
    assert_eq!(system.status(long), Status::Old);
    assert!(system.moved.table().is_empty());
    assert!(bounds(&system).0 >= outcomes.last().unwrap().0);
}

#[test]
fn a_full_ring_makes_writers_wait_and_loses_no_id() {
    let (system, commits) = (System::new(1, std::iter::empty(), RING).unwrap(), Commits::new());
    let slot = system.slots.claim().unwrap();
    let mut last = 0;
    while let Some(trx) = system.start(slot) {
        assert!(trx > last);
        last = trx;
        commits.finish(&system, slot, trx, true, |_| ());
    }
    assert!(system.start(slot).is_none());
    let seen = system.releases();
    std::thread::scope(|threads| {
        let waiter = threads.spawn(|| {
            while system.releases() == seen {
                system.await_room(seen, Duration::from_secs(60));
            }
        });
        let mut state = Advancer::default();
        (0..2).for_each(|_| assert!(system.advance(&mut state, || commits.newest()) > 0));
        waiter.join().unwrap();
    });
    assert!(system.start(slot).is_some_and(|trx| trx > last));
}

/// Who looks in the ring still would find it open, though its end is in a snapshot.
#[test]
fn a_transaction_that_is_being_moved_ends_when_the_table_is_in_force() {
    let (system, commits) = (System::new(1, std::iter::empty(), RING).unwrap(), Commits::new());
    let slot = system.slots.claim().unwrap();
    let trx = system.start(slot).unwrap();
    let (state, before) = (&system.slots.get(slot).trx, commits.newest());
    std::thread::scope(|threads| {
        let mut admission = system.moved.begin_move();
        let mut runs = Builder::new(&[], before);
        let mover = Mover { system: &system, snapshots: &[], floor: before, starting: false };
        assert!(mover.move_one(&mut runs, &mut admission, trx));
        threads.spawn(|| commits.finish(&system, slot, trx, true, |_| ()));
        admission.conclude(runs.build(trx + 1), || {
            while state.load(Ordering::Acquire) & ENDING == 0 {
                std::thread::yield_now();
            }
            // The other thread gets every chance to go on.
            (0..1000).for_each(|_| std::thread::yield_now());
            assert_eq!(commits.newest(), before, "it has ended");
            system.raise_ring_start(trx + 1);
        });
    });
    assert!(commits.newest() > before);
    assert_eq!(system.status(trx), Status::Committed(commits.newest()));
}

/// An id that was open when the server ended, long before the others; it goes from slot to slot until it ends.
#[test]
fn what_was_open_at_the_start_is_open_until_it_ends() {
    let (old, older) = (700, 699);
    let system = System::new(1_000_000, [old, older].into_iter(), RING).unwrap();
    let commits = Commits::new();
    let slots: Vec<LaneId> = (0..7).map(|_| system.slots.claim().unwrap()).collect();
    let [first, second, third, fourth, fifth, writer, reader] = slots[..] else { panic!("seven") };
    system.adopt(first, old);
    system.adopt(second, older);
    let snapshot = system.open_snapshot(reader, || commits.newest());
    let mut state = Advancer::default();
    let owner = |trx: u64| match system.status(trx) {
        Status::Open(slot) => slot as usize,
        other => panic!("{trx} is {other:?}"),
    };
    let moving = system.start(fourth).unwrap();
    for round in 0..5000 {
        assert_eq!((owner(old), owner(older)), ([first, third][round / 2500].index(), second.index()));
        for over in [1, 698, 701, 999_000] {
            assert_eq!(system.status(over), Status::Old);
        }
        if round == 10 {
            system.hand_over(fourth, fifth, moving); // in the ring still
        }
        if round == 2499 {
            system.hand_over(first, third, old);
            system.hand_over(fifth, first, moving);
        }
        let trx = system.start(writer).unwrap();
        commits.finish(&system, writer, trx, true, |_| ());
        system.advance(&mut state, || commits.newest());
    }
    assert_eq!(owner(moving), first.index());
    commits.finish(&system, third, old, false, |_| ());
    commits.finish(&system, second, older, false, |_| ());
    commits.finish(&system, first, moving, true, |_| ());
    for trx in [old, older, moving] {
        assert!(!system.sees(snapshot, trx));
    }
    system.close_snapshot(reader);
    (0..2).for_each(|_| assert!(system.advance(&mut state, || commits.newest()) > snapshot));
    assert_eq!(system.status(moving), Status::Old);
    assert!(system.moved.table().is_empty());
}

/// Writers, snapshots short and long and transactions that stay open, beside ids that leave the ring all the time. Whoever
/// looks knows from a list what the answer must be.
#[test]
fn everybody_is_told_the_truth_while_ids_move() {
    const IDS: u64 = 1_000_000;
    const STARTED: u64 = u64::MAX;
    const ROLLED_BACK: u64 = 1 << 63;
    let (system, commits) = (&System::new(1, std::iter::empty(), RING).unwrap(), &Commits::new());
    let newest = || commits.newest();
    // 0: not used (yet), STARTED, the LSN of its end; before its end is complete.
    let list: &Vec<AtomicU64> = &(0..IDS + 2 * RING).map(|_| AtomicU64::new(0)).collect();
    let (done, together) = (&AtomicBool::new(false), &Barrier::new(9));
    let goes_on = move || !done.load(Ordering::Acquire);
    std::thread::scope(|threads| {
        for writer in 0..4u64 {
            threads.spawn(move || {
                let (slot, mut n) = (system.slots.claim().unwrap(), writer);
                together.wait();
                while goes_on() {
                    let seen = system.releases();
                    let Some(trx) = system.start(slot) else {
                        system.await_room(seen, Duration::from_millis(20));
                        continue;
                    };
                    list[trx as usize].store(STARTED, Ordering::Release);
                    if trx >= IDS {
                        done.store(true, Ordering::Release);
                    }
                    n += 1;
                    // Those of two stay open until they are about to be moved, or the others have gone round the ring.
                    let stays_for = [0, 0, 250 + n % 300, 3000][writer as usize];
                    while stays_for != 0 && goes_on() && system.next_id() < trx + stays_for {
                        std::thread::yield_now();
                    }
                    let commit = !n.is_multiple_of(7);
                    commits.finish(system, slot, trx, commit, |lsn| {
                        let how = if commit { 0 } else { ROLLED_BACK };
                        list[trx as usize].store(lsn | how, Ordering::Release);
                    });
                }
            });
        }
        for reader in 0..4u64 {
            threads.spawn(move || {
                let slot = system.slots.claim().unwrap();
                together.wait();
                let mut at = reader;
                while goes_on() {
                    let snapshot = system.open_snapshot(slot, newest);
                    let opened = system.next_id();
                    // Some look at once and go, some stay while the others fill the ring some times.
                    let stays_for = [0, 500, 5000, 40_000][reader as usize];
                    loop {
                        let next = system.next_id();
                        let reach = (next - opened.saturating_sub(3000)).max(1);
                        for _ in 0..64 {
                            at = at.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                            let trx = opened.saturating_sub(3000) + (at >> 33) % reach;
                            let known = list.get(trx as usize).map_or(0, |known| known.load(Ordering::Acquire));
                            let sees = system.sees(snapshot, trx);
                            let (lsn, committed) = (known & !ROLLED_BACK, known & ROLLED_BACK == 0);
                            let right = match known {
                                0 => true,
                                STARTED => !sees,
                                _ if lsn > snapshot => !sees,
                                _ => sees || !committed,
                            };
                            assert!(right, "id {trx}, {lsn} committed {committed}: {snapshot} sees {sees}");
                        }
                        if !goes_on() || next >= opened + stays_for {
                            break;
                        }
                    }
                    system.close_snapshot(slot);
                }
            });
        }
        let mut state = Advancer::default();
        together.wait();
        let (mut at, mut moved) = (1u64, 0);
        while goes_on() {
            let horizon = system.advance(&mut state, newest);
            let (oldest, ring_start) = bounds(system);
            moved += (ring_start > oldest) as u64;
            for _ in 0..16 {
                at = at.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                let trx = 1 + (at >> 33) % system.next_id().max(2);
                let known = list.get(trx as usize).map_or(0, |known| known.load(Ordering::Acquire));
                if system.is_history(trx, horizon) && known == STARTED {
                    let known = list[trx as usize].load(Ordering::Acquire);
                    assert!(known & !ROLLED_BACK <= horizon, "id {trx} is no history: {known:x}, {horizon}");
                }
            }
        }
        assert!(moved > 0, "nothing left the ring");
    });
    let slots = system.slots.iter_claimed().count();
    assert!(system.moved.table().len() <= 4 * slots * slots, "{} runs", system.moved.table().len());
}
