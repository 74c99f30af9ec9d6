//! The page latch: one 8-byte word per page that is latch, version and residency state in one.
//!
//! After vmcache (Leis and others, SIGMOD 2023) and the hybrid latches of LeanStore: readers descend optimistically, that is
//! they read the version, read the page, and check the version again; they write nothing.
//!
//! ```text
//!  63                              16 15 14                            0
//! ┌──────────────────────────────────┬──┬───────────────────────────────┐
//! │ version, 48 bits                 │ W│ state, 15 bits                │
//! └──────────────────────────────────┴──┴───────────────────────────────┘
//!
//! state       meaning                                       readable optimistically
//!  0          Evicted: no frame. Zeroed memory is Evicted   no: load it
//!  1          Exclusive                                     no: wait
//!  2          Marked: unlocked, evicted at the next         yes, after Marked -> Unlocked
//!             round of the clock unless somebody reads it
//!  3          Unlocked                                      yes
//!  3 + n      Shared by n, 1 <= n <= 32,764                 yes
//!
//! W           somebody waits in the parking table; kept by every transition, cleared under the bucket lock
//! version     + 1 when an Exclusive hold ends that may have changed the page, and when the page is evicted
//! ```
//!
//! | from | to | by | version |
//! | --- | --- | --- | --- |
//! | Evicted | Exclusive | `try_claim_for_load` | |
//! | Exclusive | Exclusive | `raise_version` | the floor, if it is less |
//! | Exclusive | Unlocked | `unlock_exclusive`, `finish_load` | + 1 |
//! | Exclusive | Unlocked | `unlock_exclusive_unchanged` | |
//! | Exclusive | Marked | `finish_load_marked` | + 1 |
//! | Exclusive | Shared 1 | `downgrade` | + 1 |
//! | Exclusive | Evicted | `set_evicted` | + 1 |
//! | Exclusive | Evicted | zeroing the word's memory, then `wake_evicted` | 0 |
//! | Unlocked | Marked | `mark` | |
//! | Marked | Unlocked | `optimistic` | |
//! | Marked | Exclusive | `try_claim_marked` (the evictor) | |
//! | Unlocked, Marked | Exclusive | `exclusive`, `try_exclusive`, `try_upgrade` | |
//! | Unlocked, Marked, Shared n | Shared n + 1 | `shared`, `try_shared` | |
//! | Shared n | Shared n - 1, or Unlocked | `unlock_shared` | |
//!
//! Releasing is an addition to the word, so a waiters bit set at the same moment survives it and is seen by the releaser.
//!
//! The exclusive holder of a page that goes may give the word's memory back, so that it is zero. The version is lost with it: the owner
//! of the latches keeps a floor above all versions that were lost, and whoever has claimed a page for loading raises its version to
//! that (`raise_version`), so that no version comes twice.
//!
//! # Orderings
//!
//! The bytes of a page are read optimistically while a writer may change them, so this is a sequence lock and needs two fences
//! besides the usual Acquire and Release of a lock:
//! * a writer, once Exclusive, issues a Release fence before it writes a byte;
//! * a reader, having read its bytes, issues an Acquire fence before it loads the word again.
//!
//! If a reader saw any byte that the writer wrote, those two fences synchronise, and the reader's load sees the Exclusive state or
//! something later: validation fails.
//!
//! # Waiting
//!
//! A page is Exclusive for the 50 µs of its read from disk, so waiters spin only briefly and then park. A release wakes all
//! waiting readers and one writer; the woken ones compete with newcomers (no hand-off, no convoy). Shared holders can
//! keep a writer waiting as long as they overlap; in the engine shared holds are the rare fallback of the optimistic read.

use crate::parking::{self, Kind, Outcome, Policy};
use crate::rank::{self, Rank, SameRank};
use crate::shim;
use crate::shim::atomic::{AtomicU64, Ordering, fence};
use crate::waits::Wait;
use std::time::Duration;

const WAITERS: u64 = 1 << 15;
const STATE_MASK: u64 = WAITERS - 1;
const VERSION_SHIFT: u32 = 16;
const VERSION_ONE: u64 = 1 << VERSION_SHIFT;

const EVICTED: u64 = 0;
const EXCLUSIVE: u64 = 1;
const MARKED: u64 = 2;
const UNLOCKED: u64 = 3;
const SHARED_MAX: u64 = STATE_MASK;

/// Looks before a waiter parks: one to three microseconds, longer than most changes of a page, far shorter than a read from disk.
#[cfg(not(loom))]
const SPINS_MAX: u32 = 64;
#[cfg(loom)]
const SPINS_MAX: u32 = 0;

/// How long a reader sleeps before it asks whether it should go on waiting; the page may be on its way from a slow disk.
#[cfg(not(loom))]
const LOOK_AGAIN: Option<Duration> = Some(crate::blocking::ASK_AGAIN);
#[cfg(loom)]
const LOOK_AGAIN: Option<Duration> = None;

/// What an optimistic reader found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Optimistic {
    /// Readable; hand the version to [`PageLatch::validate`] after reading.
    Version(u64),
    /// Held exclusively: [`PageLatch::wait_readable`], then again.
    Busy,
    /// Not in memory: load it.
    Evicted,
}

/// What became of an attempt to latch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum TryLatch {
    Acquired,
    /// Held by others in a mode that excludes this one.
    Busy,
    /// Not in memory: load it.
    Evicted,
}

/// The page is not in memory: nothing is latched, load it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Evicted;

impl std::fmt::Display for Evicted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the page is not in memory")
    }
}

impl std::error::Error for Evicted {}

/// The word. See the module for its layout. A thread that takes a latch also releases it.
#[repr(transparent)]
#[derive(Debug)]
pub struct PageLatch {
    /// W: whoever latches, marks, loads or evicts the page. R: everybody who reads it.
    word: AtomicU64,
}

#[cfg(not(loom))]
const _: () = assert!(size_of::<PageLatch>() == 8 && align_of::<PageLatch>() == 8);

impl Default for PageLatch {
    fn default() -> Self {
        Self::new()
    }
}

#[inline(always)]
fn state(word: u64) -> u64 {
    word & STATE_MASK
}

#[inline(always)]
fn with_state(word: u64, state: u64) -> u64 {
    word & !STATE_MASK | state
}

#[inline(always)]
fn version(word: u64) -> u64 {
    word >> VERSION_SHIFT
}

impl PageLatch {
    /// Evicted, version 0: the same as eight zero bytes.
    #[cfg(not(loom))]
    pub const fn new() -> Self {
        PageLatch { word: AtomicU64::new(EVICTED) }
    }

    #[cfg(loom)]
    pub fn new() -> Self {
        PageLatch { word: AtomicU64::new(EVICTED) }
    }

    // ---- optimistic reading

    /// Begins an optimistic read. A Marked page becomes Unlocked: it has been used again.
    #[inline]
    pub fn optimistic(&self) -> Optimistic {
        // Acquire: pairs with Release in `release`; a reader of this version sees the bytes that made it.
        let word = self.word.load(Ordering::Acquire);
        if state(word) >= UNLOCKED { Optimistic::Version(version(word)) } else { self.optimistic_slow(word) }
    }

    #[cold]
    fn optimistic_slow(&self, mut word: u64) -> Optimistic {
        loop {
            match state(word) {
                EVICTED => return Optimistic::Evicted,
                EXCLUSIVE => return Optimistic::Busy,
                MARKED => {
                    // Acquire: pairs with Release in `release`. Nothing to release: an unlatched thread changes the mark alone.
                    match self.word.compare_exchange_weak(
                        word,
                        with_state(word, UNLOCKED),
                        Ordering::Acquire,
                        Ordering::Acquire,
                    ) {
                        Ok(_) => return Optimistic::Version(version(word)),
                        Err(now) => word = now,
                    }
                }
                _ => return Optimistic::Version(version(word)),
            }
        }
    }

    /// As [`PageLatch::optimistic`], but a Marked page stays so: for those who look at pages without using them.
    #[inline]
    pub fn peek(&self) -> Optimistic {
        // Acquire: as in `optimistic`.
        let word = self.word.load(Ordering::Acquire);
        match state(word) {
            EVICTED => Optimistic::Evicted,
            EXCLUSIVE => Optimistic::Busy,
            _ => Optimistic::Version(version(word)),
        }
    }

    /// Ends an optimistic read: true when what was read since `version` was obtained is one consistent state of the page.
    /// Shared holders and marking do not disturb; an exclusive holder does, even before it writes.
    #[inline]
    pub fn validate(&self, v: u64) -> bool {
        // Acquire fence: pairs with the Release fence in `entered_exclusive`; see the module. It also keeps the reads of
        // the page, which come before it, from moving below the load.
        fence(Ordering::Acquire);
        let word = self.word.load(Ordering::Relaxed);
        version(word) == v && state(word) >= MARKED
    }

    /// Takes the latch exclusively if the page is as it was at version `v`. False: read it again (or it is shared: retry).
    #[inline]
    pub fn try_upgrade(&self, v: u64) -> bool {
        // Relaxed: only a guess for the exchange.
        let mut word = self.word.load(Ordering::Relaxed);
        while version(word) == v && (state(word) == UNLOCKED || state(word) == MARKED) {
            // Acquire: pairs with Release in `release`; also makes the reads that found `v` valid, since the version is unchanged.
            match self.word.compare_exchange_weak(
                word,
                with_state(word, EXCLUSIVE),
                Ordering::Acquire,
                Ordering::Relaxed,
            ) {
                Ok(_) => {
                    self.entered_exclusive();
                    return true;
                }
                Err(now) => word = now,
            }
        }
        false
    }

    /// Waits until the page can be read optimistically, or is evicted; for a tenth of a second at most. The
    /// state may have changed again on return.
    pub fn wait_readable(&self) {
        self.wait_while(Kind::Reader, LOOK_AGAIN, |state| state == EXCLUSIVE);
    }

    // ---- latching

    /// Takes the latch exclusively if nobody holds it.
    #[inline]
    pub fn try_exclusive(&self) -> TryLatch {
        // Relaxed: only a guess for the exchange, and in the other cases nothing is read on the strength of it.
        let mut word = self.word.load(Ordering::Relaxed);
        loop {
            match state(word) {
                EVICTED => return TryLatch::Evicted,
                MARKED | UNLOCKED => {
                    // Acquire: pairs with Release in `release` and in `unlock_shared`.
                    match self.word.compare_exchange_weak(
                        word,
                        with_state(word, EXCLUSIVE),
                        Ordering::Acquire,
                        Ordering::Relaxed,
                    ) {
                        Ok(_) => {
                            self.entered_exclusive();
                            return TryLatch::Acquired;
                        }
                        Err(now) => word = now,
                    }
                }
                _ => return TryLatch::Busy,
            }
        }
    }

    /// Takes the latch shared unless somebody holds it exclusively.
    #[inline]
    pub fn try_shared(&self) -> TryLatch {
        // Relaxed: only a guess for the exchange, and in the other cases nothing is read on the strength of it.
        let mut word = self.word.load(Ordering::Relaxed);
        loop {
            let next = match state(word) {
                EVICTED => return TryLatch::Evicted,
                EXCLUSIVE | SHARED_MAX => return TryLatch::Busy,
                MARKED => UNLOCKED + 1,
                unlocked_or_shared => unlocked_or_shared + 1,
            };
            // Acquire: pairs with Release in `release`.
            match self.word.compare_exchange_weak(word, with_state(word, next), Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => {
                    rank::acquired(Rank::PageLatch);
                    return TryLatch::Acquired;
                }
                Err(now) => word = now,
            }
        }
    }

    /// Waits for the exclusive latch.
    #[inline]
    pub fn exclusive(&self) -> Result<(), Evicted> {
        rank::check(Rank::PageLatch, SameRank::Allowed);
        loop {
            match self.try_exclusive() {
                TryLatch::Acquired => return Ok(()),
                TryLatch::Evicted => return Err(Evicted),
                TryLatch::Busy => {
                    self.wait_while(Kind::Writer, None, |state| state == EXCLUSIVE || state > UNLOCKED);
                }
            }
        }
    }

    /// Waits for a shared latch.
    #[inline]
    pub fn shared(&self) -> Result<(), Evicted> {
        rank::check(Rank::PageLatch, SameRank::Allowed);
        loop {
            match self.try_shared() {
                TryLatch::Acquired => return Ok(()),
                TryLatch::Evicted => return Err(Evicted),
                TryLatch::Busy => {
                    self.wait_while(Kind::Reader, None, |state| state == EXCLUSIVE || state == SHARED_MAX);
                }
            }
        }
    }

    /// Ends an exclusive hold that may have changed the page.
    #[inline]
    pub fn unlock_exclusive(&self) {
        self.release(UNLOCKED - EXCLUSIVE + VERSION_ONE, Policy::ReadersAndOneWriter);
        rank::released(Rank::PageLatch);
    }

    /// Ends an exclusive hold in which no byte of the page was written: optimistic readers from before stay valid.
    #[inline]
    pub fn unlock_exclusive_unchanged(&self) {
        self.release(UNLOCKED - EXCLUSIVE, Policy::ReadersAndOneWriter);
        rank::released(Rank::PageLatch);
    }

    /// Turns the exclusive hold into a shared one. The page may have been changed.
    #[inline]
    pub fn downgrade(&self) {
        self.release(UNLOCKED + 1 - EXCLUSIVE + VERSION_ONE, Policy::ReadersAndOneWriter);
    }

    /// Ends a shared hold.
    #[inline]
    pub fn unlock_shared(&self) {
        // Release: pairs with Acquire in `try_exclusive`; this reader's reads come before the next writer's writes.
        let before = self.word.fetch_sub(1, Ordering::Release);
        assert!(state(before) > UNLOCKED, "unlock_shared of a page latch that is not shared: {before:#x}");
        rank::released(Rank::PageLatch);
        if before & WAITERS != 0 && state(before) == UNLOCKED + 1 {
            self.wake_slow(Policy::ReadersAndOneWriter);
        }
    }

    // ---- loading and evicting

    /// Evicted -> Exclusive: the caller is the one thread that loads the page.
    #[inline]
    pub fn try_claim_for_load(&self) -> bool {
        self.try_claim(EVICTED)
    }

    /// Makes the version at least `floor`. For who has claimed the page for loading: see the module.
    #[inline]
    pub fn raise_version(&self, floor: u64) {
        let behind = floor.saturating_sub(self.version());
        if behind > 0 {
            // Relaxed: the release of the latch publishes it. An addition, since the waiters bit may be set at the same moment.
            self.word.fetch_add(behind << VERSION_SHIFT, Ordering::Relaxed);
        }
    }

    /// The load is done and the page readable: the same as [`PageLatch::unlock_exclusive`].
    #[inline]
    pub fn finish_load(&self) {
        self.unlock_exclusive();
    }

    /// As [`PageLatch::finish_load`] for a page that nobody has asked for yet: the mark stays until somebody does.
    #[inline]
    pub fn finish_load_marked(&self) {
        self.release(MARKED - EXCLUSIVE + VERSION_ONE, Policy::ReadersAndOneWriter);
        rank::released(Rank::PageLatch);
    }

    /// Unlocked -> Marked: the page goes at the next round of the clock unless it is read before.
    #[inline]
    pub fn mark(&self) -> bool {
        // Relaxed throughout: the mark carries no data, and what the clock does to the page it does after `try_claim_marked`.
        let word = self.word.load(Ordering::Relaxed);
        state(word) == UNLOCKED
            && self.word.compare_exchange(word, with_state(word, MARKED), Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// Marked -> Exclusive: the evictor takes a page that nobody has read since it was marked.
    #[inline]
    pub fn try_claim_marked(&self) -> bool {
        self.try_claim(MARKED)
    }

    /// Exclusive -> Evicted. Its bytes may be discarded before (under the latch) or by the next loader.
    #[inline]
    pub fn set_evicted(&self) {
        // (0 - 1) + version: an addition that borrows is a subtraction, modulo 2^64.
        self.release(VERSION_ONE.wrapping_add(EVICTED.wrapping_sub(EXCLUSIVE)), Policy::All);
        rank::released(Rank::PageLatch);
    }

    /// After the word's memory was zeroed by the exclusive holder, for whom this ends the hold: Evicted, version 0.
    pub fn wake_evicted(&self) {
        // The waiters bit was lost, so without asking for it; who is about to sleep finds the latch Evicted, under the bucket's lock.
        // The word is left alone: a write would take memory for it again.
        parking::unpark(self.address(), Policy::All, || ());
        rank::released(Rank::PageLatch);
    }

    // ---- looking

    /// The version, for the exclusive holder.
    #[inline]
    pub fn version(&self) -> u64 {
        // Relaxed: nobody else changes it.
        version(self.word.load(Ordering::Relaxed))
    }

    /// Whether the page is Marked now.
    #[inline]
    pub fn is_marked(&self) -> bool {
        self.now() == MARKED
    }

    /// Whether the page is not in memory now.
    #[inline]
    pub fn is_evicted(&self) -> bool {
        self.now() == EVICTED
    }

    /// Whether somebody holds the latch exclusively now.
    #[inline]
    pub fn is_exclusive(&self) -> bool {
        self.now() == EXCLUSIVE
    }

    /// Whether somebody holds the latch shared now.
    #[inline]
    pub fn is_shared(&self) -> bool {
        self.now() > UNLOCKED
    }

    /// Whether a thread sleeps, or is about to, until the latch changes hands.
    #[inline]
    pub fn has_waiters(&self) -> bool {
        // Relaxed: a hint.
        self.word.load(Ordering::Relaxed) & WAITERS != 0
    }

    // ---- inside

    #[inline]
    fn now(&self) -> u64 {
        // Relaxed: a hint; nothing is read on the strength of it.
        state(self.word.load(Ordering::Relaxed))
    }

    #[inline]
    fn try_claim(&self, from: u64) -> bool {
        // Relaxed: only a guess for the exchange. Reloaded when just the waiters bit has moved.
        let mut word = self.word.load(Ordering::Relaxed);
        while state(word) == from {
            // Acquire: pairs with Release in `release`; a loader comes after the evictor, an evictor after the last writer.
            match self.word.compare_exchange_weak(
                word,
                with_state(word, EXCLUSIVE),
                Ordering::Acquire,
                Ordering::Relaxed,
            ) {
                Ok(_) => {
                    self.entered_exclusive();
                    return true;
                }
                Err(now) => word = now,
            }
        }
        false
    }

    #[inline]
    fn entered_exclusive(&self) {
        // Release fence: pairs with the Acquire fence in `validate`; whoever reads a byte that we write from here on also
        // sees that the latch is Exclusive, or what came after.
        fence(Ordering::Release);
        rank::acquired(Rank::PageLatch);
    }

    /// Ends an exclusive hold by adding `delta` to the word.
    #[inline]
    fn release(&self, delta: u64, wake: Policy) {
        // Release: pairs with Acquire in `optimistic`, `try_exclusive`, `try_shared`, `try_upgrade` and `try_claim`.
        let before = self.word.fetch_add(delta, Ordering::Release);
        assert!(state(before) == EXCLUSIVE, "release of a page latch that is not exclusive: {before:#x}");
        if before & WAITERS != 0 {
            self.wake_slow(wake);
        }
    }

    #[cold]
    fn wake_slow(&self, policy: Policy) {
        parking::unpark(self.address(), policy, || {
            // Relaxed: under the bucket lock, where the bit is also checked by `wait_while`; no data depends on it.
            self.word.fetch_and(!WAITERS, Ordering::Relaxed);
        });
    }

    /// Returns once `blocked` was false of the state, having spun and then slept, or `timeout` has passed.
    #[cold]
    fn wait_while(&self, kind: Kind, timeout: Option<Duration>, blocked: impl Fn(u64) -> bool) {
        rank::check(Rank::PageLatch, SameRank::Allowed);
        for _ in 0..SPINS_MAX {
            if !blocked(self.now()) {
                return;
            }
            shim::spin_loop();
        }
        #[cfg(not(loom))]
        let _waiting = crate::blocking::waiting(Wait::PageLatch);
        loop {
            // Relaxed throughout: the caller acquires when it looks again. Announce, then sleep: the read-modify-write on
            // the word orders this waiter before the release that will see its bit.
            let word = self.word.load(Ordering::Relaxed);
            if !blocked(state(word)) {
                return;
            }
            if word & WAITERS == 0
                && self.word.compare_exchange_weak(word, word | WAITERS, Ordering::Relaxed, Ordering::Relaxed).is_err()
            {
                continue;
            }
            let validate = || {
                let word = self.word.load(Ordering::Relaxed);
                word & WAITERS != 0 && blocked(state(word))
            };
            if parking::park(self.address(), kind, validate, timeout, Wait::PageLatch) == Outcome::TimedOut {
                return;
            }
            // A woken writer is the only one woken: it goes and tries rather than sleeping again on a stale look.
        }
    }

    fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }
}
