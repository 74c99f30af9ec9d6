//! The compact reader-writer lock: one word for all readers and writers, in a prefer-reader and a prefer-writer kind.
//!
//! ```text
//!  63 62 61 60 59                            30 29                             0
//! ┌──┬──┬──┬──┬────────────────────────────────┬────────────────────────────────┐
//! │ W│ H│ P│ R│ writers that wait, 30 bits     │ readers, 30 bits               │
//! └──┴──┴──┴──┴────────────────────────────────┴────────────────────────────────┘
//! W  a writer holds the lock            H  the head of the waiting writers sleeps on `head`
//! P  readers sleep on `readers`         R  reserved: the head lost the lock after waking, newcomers must queue
//! ```
//!
//! | kind | `readers` counts | a reader may enter while | a writer may enter while |
//! | --- | --- | --- | --- |
//! | [`PreferReaderLock`] | holders *and those who wait* | not W | not W, readers = 0 |
//! | [`PreferWriterLock`] | holders | not W, no writer waits | not W, readers = 0 |
//!
//! **Prefer-reader.** A reader arrives by one addition, which counts it whether it may enter or has to wait. No writer is
//! granted the lock while that count is above zero, so none ever comes between a reader's arrival and its hold: readers may
//! nest, and a writer may starve. **Prefer-writer.** Readers stand back as soon as a writer waits; readers must not nest,
//! and may starve.
//!
//! # Writers do not stampede, and do not march in convoy
//!
//! ```text
//!   newcomer ── free? ──> holds                      (barges: the lock is never idle while a sleeper wakes up)
//!      │ no
//!      └──> turnstile ──> head ──> holds ──> unlock: lets the next one through the turnstile
//!           (asleep)      (spins, then sleeps on `head`)
//! ```
//! Only one waiting writer at a time, the head, looks at the lock; the others sleep at the turnstile and are woken one by one, each
//! when the one before it gives the lock back. A release therefore wakes one writer at most. Nothing is handed over, so a
//! running writer may overtake the head; a head that woke up and lost sets R, after which no newcomer overtakes it.
//!
//! # Why no wake-up is lost
//!
//! A sleeper reads its gate (`readers` or `head`), then sets P or H by an exchange on a word that still blocks it, then sleeps
//! unless the gate has moved. Whoever clears P or H moves the gate afterwards, and whoever ends the blocking clears the bit.
//!
//! Waits have no timeout and do not end on KILL: nothing that a statement may wait for long is guarded by this lock.
//! See [`ReaderWriter`] for where it is used.

use crate::futex;
use crate::lock::Held;
use crate::rank::{self, Rank, SameRank};
use crate::reader_writer::ReaderWriter;
use crate::shim;
use crate::shim::atomic::{AtomicU32, AtomicU64, Ordering};
use crate::waits::Wait;
use std::marker::PhantomData;

const READER: u64 = 1;
const READERS: u64 = (1 << 30) - 1;
const WAITING_WRITER: u64 = 1 << 30;
const WAITING_WRITERS: u64 = READERS << 30;
const RESERVED: u64 = 1 << 60;
const READERS_PARKED: u64 = 1 << 61;
const HEAD_PARKED: u64 = 1 << 62;
const WRITER: u64 = 1 << 63;

/// The turnstile: nobody in it, the head in it, the head in it and others asleep before it.
const OPEN: u32 = 0;
const TAKEN: u32 = 1;
const TAKEN_AND_AWAITED: u32 = 2;

/// Looks before a thread sleeps: one to three microseconds, longer than a short hold, shorter than going to sleep.
#[cfg(not(loom))]
const SPINS_MAX: u32 = 64;
#[cfg(loom)]
const SPINS_MAX: u32 = 0;

/// Which side a [`CompactRwLock`] prefers. Two answers: [`PreferReader`], [`PreferWriter`].
pub trait Preference: Send + Sync + 'static {
    const READERS_FIRST: bool;
    const KIND: &'static str;
}

/// Waiting writers let every reader pass.
#[derive(Debug)]
pub struct PreferReader;

/// Waiting writers hold new readers back.
#[derive(Debug)]
pub struct PreferWriter;

impl Preference for PreferReader {
    const READERS_FIRST: bool = true;
    const KIND: &'static str = "prefer-reader";
}

impl Preference for PreferWriter {
    const READERS_FIRST: bool = false;
    const KIND: &'static str = "prefer-writer";
}

/// Readers may nest; no writer is granted while a reader waits.
pub type PreferReaderLock = CompactRwLock<PreferReader>;

/// No reader is granted while a writer waits; readers must not nest.
pub type PreferWriterLock = CompactRwLock<PreferWriter>;

/// The lock: 24 bytes. See the module.
#[derive(Debug)]
pub struct CompactRwLock<P: Preference> {
    /// W: everybody. R: everybody.
    word: AtomicU64,
    /// Gate of sleeping readers. W: the writer that clears READERS_PARKED.
    readers: AtomicU32,
    /// Gate of the sleeping head. W: whoever clears HEAD_PARKED.
    head: AtomicU32,
    /// OPEN, TAKEN or TAKEN_AND_AWAITED. W: writers that could not enter at once.
    turnstile: AtomicU32,
    rank: Rank,
    preference: PhantomData<P>,
}

#[cfg(not(loom))]
const _: () = assert!(size_of::<PreferReaderLock>() == 24);

/// A shared hold.
#[must_use = "the lock is released at once when the guard is not kept"]
pub struct CompactShared<'a, P: Preference> {
    lock: &'a CompactRwLock<P>,
    _held: Held,
}

/// The exclusive hold.
#[must_use = "the lock is released at once when the guard is not kept"]
pub struct CompactExclusive<'a, P: Preference> {
    lock: &'a CompactRwLock<P>,
    /// Came through the turnstile, and holds it.
    queued: bool,
    _held: Held,
}

impl<P: Preference> Drop for CompactShared<'_, P> {
    #[inline]
    fn drop(&mut self) {
        self.lock.unlock_shared();
    }
}

impl<P: Preference> Drop for CompactExclusive<'_, P> {
    #[inline]
    fn drop(&mut self) {
        self.lock.unlock_exclusive(self.queued);
    }
}

impl<P: Preference> ReaderWriter for CompactRwLock<P> {
    const KIND: &'static str = P::KIND;
    type Shared<'a> = CompactShared<'a, P>;
    type Exclusive<'a> = CompactExclusive<'a, P>;

    #[inline]
    fn shared(&self) -> CompactShared<'_, P> {
        if P::READERS_FIRST {
            rank::check(self.rank, SameRank::Allowed);
            // Acquire: pairs with Release in `unlock_exclusive`.
            if self.word.fetch_add(READER, Ordering::Acquire) & WRITER != 0 {
                self.await_writer_slow();
            }
        } else {
            rank::check(self.rank, SameRank::Refused);
            if !self.try_enter_shared() {
                self.enter_shared_slow();
            }
        }
        CompactShared { lock: self, _held: Held::new(self.rank) }
    }

    #[inline]
    fn exclusive(&self) -> CompactExclusive<'_, P> {
        rank::check(self.rank, SameRank::Refused);
        let queued = !self.try_enter_exclusive() && self.enter_exclusive_slow();
        CompactExclusive { lock: self, queued, _held: Held::new(self.rank) }
    }
}

impl<P: Preference> CompactRwLock<P> {
    #[cfg(not(loom))]
    pub const fn new(rank: Rank) -> Self {
        let (readers, head, turnstile) = (AtomicU32::new(0), AtomicU32::new(0), AtomicU32::new(OPEN));
        CompactRwLock { word: AtomicU64::new(0), readers, head, turnstile, rank, preference: PhantomData }
    }

    #[cfg(loom)]
    pub fn new(rank: Rank) -> Self {
        let (readers, head, turnstile) = (AtomicU32::new(0), AtomicU32::new(0), AtomicU32::new(OPEN));
        CompactRwLock { word: AtomicU64::new(0), readers, head, turnstile, rank, preference: PhantomData }
    }

    /// Takes the lock shared if that needs no waiting.
    #[inline]
    pub fn try_shared(&self) -> Option<CompactShared<'_, P>> {
        self.try_enter_shared().then(|| CompactShared { lock: self, _held: Held::new(self.rank) })
    }

    /// Takes the lock alone if nobody holds it and no writer has reserved it.
    #[inline]
    pub fn try_exclusive(&self) -> Option<CompactExclusive<'_, P>> {
        self.try_enter_exclusive().then(|| CompactExclusive { lock: self, queued: false, _held: Held::new(self.rank) })
    }

    /// Readers that hold the lock; in the prefer-reader kind also those that wait. A hint.
    pub fn readers(&self) -> u64 {
        // Relaxed: a hint.
        self.word.load(Ordering::Relaxed) & READERS
    }

    /// Writers that wait. A hint.
    pub fn waiting_writers(&self) -> u64 {
        // Relaxed: a hint.
        (self.word.load(Ordering::Relaxed) & WAITING_WRITERS) / WAITING_WRITER
    }

    // ---- readers

    /// Whether a reader that has not arrived yet must wait.
    fn blocks_reader(word: u64) -> bool {
        let blocking = if P::READERS_FIRST { WRITER } else { WRITER | WAITING_WRITERS };
        word & blocking != 0
    }

    #[inline]
    fn try_enter_shared(&self) -> bool {
        // Relaxed: only a guess for the exchange.
        let mut word = self.word.load(Ordering::Relaxed);
        while !Self::blocks_reader(word) {
            // Acquire: pairs with Release in `unlock_exclusive`.
            match self.word.compare_exchange_weak(word, word + READER, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(now) => word = now,
            }
        }
        false
    }

    /// Prefer-reader: this reader is counted and enters when the writer of the moment leaves.
    #[cold]
    fn await_writer_slow(&self) {
        for _ in 0..SPINS_MAX {
            // Acquire: pairs with Release in `unlock_exclusive`.
            if self.word.load(Ordering::Acquire) & WRITER == 0 {
                return;
            }
            shim::spin_loop();
        }
        while self.park_reader() {}
    }

    /// Prefer-writer: enters when neither a writer nor a waiting one is there.
    #[cold]
    fn enter_shared_slow(&self) {
        for _ in 0..SPINS_MAX {
            if self.try_enter_shared() {
                return;
            }
            shim::spin_loop();
        }
        while !self.try_enter_shared() {
            self.park_reader();
        }
    }

    /// Sleeps while readers are blocked; false when they are not.
    fn park_reader(&self) -> bool {
        // Acquire: pairs with Release in `wake`. If the gate has moved already, the word below is the one that moved it.
        let gate = self.readers.load(Ordering::Acquire);
        // Acquire: pairs with Release in `unlock_exclusive`, for a reader that is counted and finds itself let in.
        let word = self.word.load(Ordering::Acquire);
        if !Self::blocks_reader(word) {
            return false;
        }
        let parked = word | READERS_PARKED;
        // Relaxed: the bit carries no data. A failure means that the word has changed: the caller looks again.
        if word == parked || self.word.compare_exchange(word, parked, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            futex::wait(&self.readers, gate, None, Wait::CompactLock);
        }
        true
    }

    #[inline]
    fn unlock_shared(&self) {
        // Release: pairs with Acquire in `try_enter_exclusive` and `enter_as_head`; our reads come before their writes.
        let before = self.word.fetch_sub(READER, Ordering::Release);
        assert!(before & READERS != 0 && before & WRITER == 0, "no reader holds this lock: {before:#x}");
        if before & READERS == READER && before & HEAD_PARKED != 0 {
            self.wake_head_slow();
        }
    }

    #[cold]
    fn wake_head_slow(&self) {
        // Relaxed: the bit carries no data; of several that find it set, the one that clears it wakes.
        if self.word.fetch_and(!HEAD_PARKED, Ordering::Relaxed) & HEAD_PARKED != 0 {
            wake(&self.head, futex::wake_one);
        }
    }

    // ---- writers

    #[inline]
    fn try_enter_exclusive(&self) -> bool {
        // Relaxed: only a guess for the exchange.
        let mut word = self.word.load(Ordering::Relaxed);
        while word & (WRITER | READERS | RESERVED) == 0 {
            // Acquire: pairs with Release in `unlock_exclusive` and `unlock_shared`.
            match self.word.compare_exchange_weak(word, word | WRITER, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(now) => word = now,
            }
        }
        false
    }

    /// Spins, then queues. True when this writer now holds the turnstile besides the lock.
    #[cold]
    fn enter_exclusive_slow(&self) -> bool {
        for _ in 0..SPINS_MAX {
            if self.try_enter_exclusive() {
                return false;
            }
            shim::spin_loop();
        }
        // Relaxed: the count carries no data; it holds back readers of the prefer-writer kind.
        self.word.fetch_add(WAITING_WRITER, Ordering::Relaxed);
        self.pass_turnstile();
        let mut woken = false;
        loop {
            for _ in 0..=SPINS_MAX {
                if self.enter_as_head() {
                    return true;
                }
                shim::spin_loop();
            }
            woken |= self.park_head(if woken { RESERVED } else { 0 });
        }
    }

    /// The head takes the lock, its count and its bits go.
    fn enter_as_head(&self) -> bool {
        // Relaxed: only a guess for the exchange.
        let mut word = self.word.load(Ordering::Relaxed);
        while word & (WRITER | READERS) == 0 {
            let entered = ((word - WAITING_WRITER) & !(HEAD_PARKED | RESERVED)) | WRITER;
            // Acquire: pairs with Release in `unlock_exclusive` and `unlock_shared`.
            match self.word.compare_exchange_weak(word, entered, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(now) => word = now,
            }
        }
        false
    }

    /// Sleeps unless the lock has come free; sets `extra` with the bit that says so. Whether it slept.
    fn park_head(&self, extra: u64) -> bool {
        // Acquire: pairs with Release in `wake`. If the gate has moved already, the word below is the one that moved it.
        let gate = self.head.load(Ordering::Acquire);
        // Relaxed: the exchange below fails when this look was stale, and `enter_as_head` acquires.
        let word = self.word.load(Ordering::Relaxed);
        if word & (WRITER | READERS) == 0 {
            return false;
        }
        let parked = word | HEAD_PARKED | extra;
        if self.word.compare_exchange(word, parked, Ordering::Relaxed, Ordering::Relaxed).is_err() {
            return false;
        }
        futex::wait(&self.head, gate, None, Wait::CompactLock);
        true
    }

    fn unlock_exclusive(&self, queued: bool) {
        // Relaxed: only a guess for the exchange.
        let mut word = self.word.load(Ordering::Relaxed);
        let readers_next = loop {
            assert!(word & WRITER != 0, "no writer holds this lock: {word:#x}");
            let readers_next = if P::READERS_FIRST { word & READERS != 0 } else { word & WAITING_WRITERS == 0 };
            let woken = if readers_next { READERS_PARKED } else { HEAD_PARKED };
            // Release: pairs with Acquire in `shared`, `try_enter_shared`, `await_writer_slow`, `park_reader`,
            // `try_enter_exclusive` and `enter_as_head`.
            match self.word.compare_exchange_weak(word, word & !(WRITER | woken), Ordering::Release, Ordering::Relaxed)
            {
                Ok(_) => break readers_next,
                Err(now) => word = now,
            }
        };
        if readers_next && word & READERS_PARKED != 0 {
            wake(&self.readers, futex::wake_all);
        }
        if !readers_next && word & HEAD_PARKED != 0 {
            wake(&self.head, futex::wake_one);
        }
        // Release: pairs with Acquire in `pass_turnstile`.
        if queued && self.turnstile.swap(OPEN, Ordering::Release) == TAKEN_AND_AWAITED {
            futex::wake_one(&self.turnstile);
        }
    }

    /// Waits to be the head of the waiting writers.
    fn pass_turnstile(&self) {
        // Acquire, here and below: pairs with Release in `unlock_exclusive`. Relaxed on failure: nothing is read on the strength of it.
        if self.turnstile.compare_exchange(OPEN, TAKEN, Ordering::Acquire, Ordering::Relaxed).is_ok() {
            return;
        }
        while self.turnstile.swap(TAKEN_AND_AWAITED, Ordering::Acquire) != OPEN {
            futex::wait(&self.turnstile, TAKEN_AND_AWAITED, None, Wait::CompactLock);
        }
    }
}

/// Moves a gate and wakes those who sleep on it.
#[cold]
fn wake(gate: &AtomicU32, how: fn(&AtomicU32)) {
    // Release: pairs with Acquire in `park_reader` and `park_head`.
    gate.fetch_add(1, Ordering::Release);
    how(gate);
}
