//! Model checks of the two protocols of the log: every interleaving and every permitted reordering of small cases.
//!
//! Run with `RUSTFLAGS="--cfg loom" cargo test -p log@0.1.0 --release --test loom`. A lost wake-up shows as a deadlock.
#![cfg(loom)]
#![allow(unsafe_code, reason = "loom's UnsafeCell states which bytes a protocol protects")]

use log::prefix::Prefix;
use log::turnstile::{Entered, Turnstile, Want};
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicBool, AtomicU64, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};
use loom::thread;
use sync::LaneId;

const GROUP: u64 = 8;

/// A log whose groups are one cell each; loom fails when a cell is read without its write happening before.
struct Cells {
    prefix: Prefix,
    cells: [UnsafeCell<bool>; 4],
}

// SAFETY: cells are written by the owner of the reservation and read below the bound only, which is what is checked.
unsafe impl Sync for Cells {}
// SAFETY: plain data.
unsafe impl Send for Cells {}

impl Cells {
    fn new(lanes: usize) -> Arc<Cells> {
        let cells = Cells { prefix: Prefix::new(0, lanes), cells: std::array::from_fn(|_| UnsafeCell::new(false)) };
        // The lanes' memory comes from a std OnceLock, whose synchronisation loom cannot see: allocate it before there are threads.
        // Lane 1 is still raised, in `Prefix::used`, by its own thread.
        cells.prefix.lane(LaneId::from_index(0));
        Arc::new(cells)
    }

    fn append(&self, lane: usize) -> u64 {
        let lane = self.prefix.lane(LaneId::from_index(lane));
        let start = self.prefix.reserve(lane, GROUP);
        // SAFETY: ours until complete.
        self.cells[(start / GROUP) as usize].with_mut(|cell| unsafe { *cell = true });
        self.prefix.complete(lane);
        start + GROUP
    }

    /// The bound, after checking that all below it is there.
    fn check(&self) -> u64 {
        self.all_below(self.prefix.bound())
    }

    /// The same of what `completed` says.
    fn told(&self) -> u64 {
        self.all_below(self.prefix.completed())
    }

    /// The same of what a reader finds.
    fn known(&self) -> u64 {
        self.all_below(self.prefix.known_complete())
    }

    fn all_below(&self, bound: u64) -> u64 {
        assert_eq!(bound % GROUP, 0, "a bound inside a group");
        for cell in &self.cells[..(bound / GROUP) as usize] {
            // SAFETY: below the bound: complete, says the claim.
            assert!(cell.with(|cell| unsafe { *cell }), "a hole below the bound");
        }
        bound
    }
}

/// Every order with at most two preemptions: all orders of three threads take many minutes.
fn model(check: impl Fn() + Sync + Send + 'static) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(2);
    model.check(check);
}

#[test]
fn all_below_the_bound_is_complete_and_visible() {
    model(|| {
        let log = Cells::new(2);
        let other = Arc::clone(&log);
        let one = thread::spawn(move || {
            other.append(0);
            other.append(0);
        });
        let other = Arc::clone(&log);
        let two = thread::spawn(move || other.append(1));
        log.check();
        log.check();
        one.join().unwrap();
        two.join().unwrap();
        assert_eq!(log.check(), 3 * GROUP);
    });
}

/// Bounds may go back (see the module); what is told may not, and holds for who is told, also when another found it.
#[test]
fn what_is_told_to_be_complete_never_goes_back() {
    model(|| {
        let log = Cells::new(2);
        let other = Arc::clone(&log);
        let one = thread::spawn(move || {
            other.append(0);
            other.told()
        });
        let other = Arc::clone(&log);
        let two = thread::spawn(move || other.append(1));
        let first = log.told();
        assert!(log.told() >= first, "a promise went back");
        let told = one.join().unwrap();
        assert!(log.told() >= told.max(first), "another's promise went back");
        two.join().unwrap();
        assert_eq!(log.told(), 2 * GROUP);
    });
}

/// Who only reads writes nothing, and yet finds all that was promised to others, and never less than before.
#[test]
fn a_reader_finds_what_others_were_told() {
    model(|| {
        let log = Cells::new(2);
        let other = Arc::clone(&log);
        let one = thread::spawn(move || {
            let end = other.append(0);
            // As a commit waits: until its own group is below.
            while other.told() < end {
                thread::yield_now();
            }
            end
        });
        let other = Arc::clone(&log);
        let two = thread::spawn(move || other.append(1));
        let first = log.known();
        assert!(log.known() >= first, "a snapshot went back");
        let end = one.join().unwrap();
        assert!(log.known() >= end.max(first), "an acknowledged commit is not seen");
        two.join().unwrap();
    });
}

#[test]
fn an_appender_finds_its_own_group_below_the_bound_when_alone() {
    loom::model(|| {
        let log = Cells::new(2);
        let other = Arc::clone(&log);
        let one = thread::spawn(move || {
            let end = other.append(0);
            assert!(other.check() <= 2 * GROUP);
            end
        });
        log.append(1);
        log.check();
        one.join().unwrap();
        assert_eq!(log.check(), 2 * GROUP);
    });
}

/// Group commit over the turnstile: `tail` counts complete groups, `flushed` what a round published.
#[derive(Default)]
struct Commits {
    turnstile: Turnstile,
    tail: AtomicU64,
    flushed: AtomicU64,
}

impl Commits {
    fn commit(&self) {
        // AcqRel in spirit: the group is complete.
        let lsn = self.tail.fetch_add(GROUP, loom::sync::atomic::Ordering::AcqRel) + GROUP;
        let mut slept = None;
        loop {
            let turn = self.turnstile.turn();
            if self.flushed.load(Acquire) >= lsn {
                self.turnstile.pass_on(slept);
                return;
            }
            slept = match self.turnstile.enter(turn, lsn, Want::Flushed) {
                Entered::Again { slept } => slept,
                Entered::Leader => {
                    let target = self.tail.load(Acquire);
                    self.turnstile.announce(target, Want::Flushed);
                    assert!(self.flushed.load(Relaxed) <= target, "two leaders at once");
                    self.flushed.store(target, Release);
                    self.turnstile.finish();
                    None
                }
            };
        }
    }
}

fn commits(threads: usize, each: usize, preemptions: usize) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(preemptions);
    model.check(move || {
        let log = Arc::new(Commits::default());
        let spawn = |_| {
            let log = Arc::clone(&log);
            thread::spawn(move || (0..each).for_each(|_| log.commit()))
        };
        let others: Vec<_> = (1..threads).map(spawn).collect();
        (0..each).for_each(|_| log.commit());
        others.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(log.flushed.load(Acquire), (threads * each) as u64 * GROUP);
    });
}

#[test]
fn two_committers_never_sleep_for_ever() {
    commits(2, 2, 2);
}

#[test]
fn three_committers_hand_the_turn_on() {
    commits(3, 1, 1);
}

/// Three places of a log with room for one group at a time, all taken: two wait for room, and leaders for groups that are being filled.
#[derive(Default)]
struct Tight {
    turnstile: Turnstile,
    complete: [AtomicBool; 3],
    written: AtomicU64,
}

impl Tight {
    /// Fills the place, once all below is written.
    fn fill(&self, place: usize) {
        self.wait(place as u64 * GROUP, Want::Room);
        self.complete[place].store(true, Release);
    }

    fn bound(&self) -> u64 {
        self.complete.iter().take_while(|complete| complete.load(Acquire)).count() as u64 * GROUP
    }

    fn wait(&self, lsn: u64, want: Want) {
        let mut slept = None;
        loop {
            let turn = self.turnstile.turn();
            if self.written.load(Acquire) >= lsn {
                return self.turnstile.pass_on(slept);
            }
            slept = match self.turnstile.enter(turn, lsn, want) {
                Entered::Again { slept } => slept,
                Entered::Leader => {
                    let mut target = self.bound();
                    // As `Flusher::target`: loom ends a model in which this goes on for ever.
                    while target < lsn && target <= self.written.load(Relaxed) {
                        thread::yield_now();
                        target = self.bound();
                    }
                    self.turnstile.announce(target, want);
                    self.written.store(target, Release);
                    self.turnstile.finish();
                    None
                }
            };
        }
    }
}

#[test]
fn no_leader_waits_for_who_sleeps_with_a_place_taken() {
    model(|| {
        let log = Arc::new(Tight::default());
        let spawn = |place| {
            let log = Arc::clone(&log);
            thread::spawn(move || log.fill(place))
        };
        let others: Vec<_> = (1..3).map(spawn).collect();
        log.fill(0);
        log.wait(GROUP, Want::Written);
        others.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(log.bound(), 3 * GROUP);
    });
}
