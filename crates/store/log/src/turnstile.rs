//! Group commit without a flusher thread: whoever waits first flushes for everybody, and hands the turn on.
//!
//! ```text
//!   turn:      generation << 1 | running     the flush round that runs, or the next one to run
//!   announced: target LSN | synced           what the running round covers (LSNs are multiples of 8, bit 0 says: with sync)
//!   buckets[generation % 4]: epoch << 1 | somebody sleeps here
//! ```
//!
//! A round: CAS `turn` from (g, idle) to (g, running); announce; write and sync; publish the LSNs; `finish`: `turn` = (g + 1,
//! idle), wake *one* sleeper of bucket g + 1 (who leads the next round at once) and all of bucket g. A waiter that finds round g
//! running sleeps in bucket g if the round covers it, else in bucket g + 1: so a commit is woken once, by the round that made
//! it durable, and a round costs two wake calls at most, none when nobody sleeps.
//!
//! # No wake-up is lost
//!
//! *Sleepers are only in buckets g and g + 1 while `turn` is (g, running), and only in bucket g while it is (g, idle); each of them
//! will be woken.*
//!
//! A sleeper marks its bucket (RMW), then checks that `turn` is still the (g, running) that it saw, then sleeps on the marked
//! value. `finish` stores `turn`, then advances buckets g + 1 and g (RMWs). The RMWs on one bucket are ordered: if the mark came
//! first, `finish` sees it, wakes, and has changed the value, so that a sleeper on its way finds another value and does not
//! sleep. If the mark came second, it reads from `finish`'s RMW (Release/Acquire), so the check sees the new `turn` and does not sleep.
//!
//! Bucket g + 1's sleepers that `finish` leaves asleep: the one it wakes either runs round g + 1 (or finds it run by another), whose
//! `finish` wakes all of them; or finds itself satisfied and leaves, and then `pass_on` wakes the next one, as long as
//! `turn` is (g + 1, idle). If nobody sleeps there, nobody waits.
//!
//! What the announcement says decides only which bucket is chosen, never whether a sleeper is woken, so it may be read stale.
//!
//! # No leader waits for a sleeper
//!
//! A leader waits for groups that others fill, so whoever sleeps with a place taken ([`Want::Room`]) must not need this very leader's
//! `finish` to go on. *While round g gathers its groups nobody sleeps with a place taken whose room is there already.* Such a waiter
//! reads `turn` first, then how far the log is written, and sleeps in the bucket of the round that runs, covered or not: every
//! `finish` wakes it. So if it sleeps while round g gathers, its look came after round g had begun, hence after all earlier rounds had
//! published (`turn` is an Acquire/Release chain), and found no room; and its place lies above what is written, which the leader
//! then has to write.

use crate::Lsn;
use std::time::Duration;
use sync::shim::atomic::{AtomicU32, AtomicU64, Ordering};
use sync::waits::Wait;
use sync::{CachePadded, futex};

/// How long a waiter sleeps before it looks again.
const SLEEP: Duration = Duration::from_millis(100);

const RUNNING: u32 = 1;
const SLEEPERS: u32 = 1;

/// How far a waiter wants its bytes to have come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    /// In the segment file (the kernel has them).
    Written,
    /// The same, for a waiter whose place in the log is taken: others may wait for its group.
    Room,
    /// On the device.
    Flushed,
}

/// Whose turn it is and what comes of it: a waiter reads both, from one line.
#[derive(Default)]
struct Round {
    /// W: leaders. R: waiters.
    turn: AtomicU32,
    /// W: leaders. R: waiters.
    announced: AtomicU64,
}

/// The turn to flush, and the queue for it.
pub struct Turnstile {
    round: CachePadded<Round>,
    /// W: waiters and leaders, both of whom are about to enter the kernel.
    buckets: [CachePadded<AtomicU32>; 4],
}

/// What `enter` came back with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entered {
    /// The caller leads the round and must call [`Turnstile::finish`].
    Leader,
    /// The world moved on: look again. Hand `slept`, the round that may want the caller for its leader, to `pass_on` when leaving.
    Again { slept: Option<u32> },
}

impl Default for Turnstile {
    fn default() -> Turnstile {
        Turnstile {
            round: CachePadded::default(),
            buckets: std::array::from_fn(|_| CachePadded::new(AtomicU32::new(0))),
        }
    }
}

impl Turnstile {
    /// Whose turn it is, for `enter`: to be asked before the look at how far the log has come.
    pub fn turn(&self) -> u32 {
        // Acquire: pairs with Release in `finish`: who looks next sees what the rounds before this one have published. Leaders'
        // exchanges continue the release sequence.
        self.round.turn.load(Ordering::Acquire)
    }

    /// Takes the turn, or sleeps until a round has finished. `lsn` was not yet what `want` asks for at a look after `turn`.
    pub fn enter(&self, turn: u32, lsn: Lsn, want: Want) -> Entered {
        if turn & RUNNING == 0 {
            // Acquire: pairs with Release in `finish`; a leader sees the files as the last leader left them. Failure: somebody else took
            // it.
            return match self.round.turn.compare_exchange(turn, turn | RUNNING, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => Entered::Leader,
                Err(_) => Entered::Again { slept: None },
            };
        }
        // Relaxed: a hint (see the module).
        let announced = self.round.announced.load(Ordering::Relaxed);
        let covered = want == Want::Room || announced & !1 >= lsn && (want == Want::Written || announced & 1 == 1);
        let generation = (turn >> 1).wrapping_add(u32::from(!covered));
        let bucket = self.bucket(generation);
        // AcqRel: ordered with the RMWs in `advance` (see the module): Acquire to see `turn` after them, Release for symmetry.
        let marked = bucket.fetch_or(SLEEPERS, Ordering::AcqRel) | SLEEPERS;
        // Acquire: pairs with Release in `finish`.
        if self.round.turn.load(Ordering::Acquire) == turn {
            // Not for ever: whoever the thread serves may want the wait to end. Who leaves passes its turn on.
            futex::wait(bucket, marked, Some(SLEEP), Wait::LogFlush);
        }
        // Who was covered sleeps for no turn to come: the `finish` that wakes it makes the next round's turn idle, and wakes one for it.
        Entered::Again { slept: (!covered).then_some(generation) }
    }

    /// The leader says what its round will cover.
    pub fn announce(&self, target: Lsn, want: Want) {
        // Relaxed: a hint (see the module).
        self.round.announced.store(target | u64::from(want == Want::Flushed), Ordering::Relaxed);
    }

    /// The leader gives the turn back, after publishing what it reached.
    pub fn finish(&self) {
        // Relaxed: only the leader, this thread, changes a running turn.
        let turn = self.round.turn.load(Ordering::Relaxed);
        assert!(turn & RUNNING != 0, "finish without a turn");
        let generation = turn >> 1;
        // Release: pairs with Acquire in `enter` and `pass_on`.
        self.round.turn.store(generation.wrapping_add(1) << 1, Ordering::Release);
        // The next leader first: the device is idle until it runs.
        if self.advance(generation.wrapping_add(1), false) {
            futex::wake_one(self.bucket(generation.wrapping_add(1)));
        }
        if self.advance(generation, true) {
            futex::wake_all(self.bucket(generation));
        }
    }

    /// A waiter that got what it wanted after sleeping in the bucket of `slept` leaves: if it was the one woken to
    /// lead that round, another must.
    pub fn pass_on(&self, slept: Option<u32>) {
        let Some(generation) = slept else { return };
        // Acquire: pairs with Release in `finish`. If the round runs or is over, its `finish` wakes the bucket.
        if self.round.turn.load(Ordering::Acquire) == generation << 1 {
            let bucket = self.bucket(generation);
            // Relaxed: all marks of this bucket precede the `finish` that made the turn idle, or their owners do not sleep.
            if bucket.load(Ordering::Relaxed) & SLEEPERS != 0 {
                futex::wake_one(bucket);
            }
        }
    }

    fn bucket(&self, generation: u32) -> &AtomicU32 {
        &self.buckets[generation as usize % self.buckets.len()]
    }

    /// Changes the bucket's value so that nobody falls asleep on the old one; says whether somebody sleeps.
    fn advance(&self, generation: u32, all: bool) -> bool {
        let next = |old: u32| if all { old.wrapping_add(2) & !SLEEPERS } else { old.wrapping_add(2) };
        let bucket = self.bucket(generation);
        // Relaxed: the exchange decides.
        let mut old = bucket.load(Ordering::Relaxed);
        loop {
            // AcqRel: Release pairs with the Acquire of the mark in `enter`, so a later sleeper sees the new turn.
            match bucket.compare_exchange_weak(old, next(old), Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return old & SLEEPERS != 0,
                Err(now) => old = now,
            }
        }
    }
}
