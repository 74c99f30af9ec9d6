//! Weak locks that are announced and not taken: a session writes words into its own [`PinLane`] and looks at a [`Gate`]; who
//! wants something stronger shuts the gate and looks at the lanes.
//!
//! ```text
//!   session                                      who wants the strong lock
//!   -------                                      -------------------------
//!   set(word)                                    gate.shut()
//!   announced()           <- these pair ->       announced()
//!   gate.stops()?  clear and queue               a lane in conflict?  none: granted
//!           no: run                                       one: asks_for_notice, waits to be told
//!   ...
//!   clear(words)          <- these pair ->       (inside asks_for_notice)
//!   asked for notice?  tell
//! ```
//!
//! One of the two sees the other: either the session finds the gate shut, or the strong side finds the word. And either the
//! session finds that notice is asked for, or the strong side finds the word free. The words' meaning is the callers'.

use crate::shim::atomic::{AtomicU32, AtomicU64, Ordering, fence};
use std::ops::Range;

/// One session's words, 0: free. Two cache lines or less, which the session alone writes, but for `notice`.
#[derive(Debug)]
pub struct PinLane<const N: usize> {
    /// W: the session. R: who asks for a strong lock.
    words: [AtomicU64; N],
    /// Somebody waits for a word to be freed. W: who waits sets it, the session clears it, both under the callers' mutex.
    notice: AtomicU32,
}

impl<const N: usize> Default for PinLane<N> {
    fn default() -> Self {
        PinLane { words: std::array::from_fn(|_| AtomicU64::new(0)), notice: AtomicU32::new(0) }
    }
}

impl<const N: usize> PinLane<N> {
    /// This session's own word.
    #[inline]
    pub fn word(&self, at: usize) -> u64 {
        // Relaxed: the session is the only writer.
        self.words[at].load(Ordering::Relaxed)
    }

    /// Announces a weak lock: to be followed by [`announced`] and a look at the gate.
    #[inline]
    pub fn set(&self, at: usize, word: u64) {
        // Relaxed: ordered by the fence in `announced`.
        self.words[at].store(word, Ordering::Relaxed);
    }

    /// Frees words. True: somebody waits for that and is to be told.
    #[inline]
    #[must_use]
    pub fn clear(&self, range: Range<usize>) -> bool {
        for word in &self.words[range] {
            // Release: pairs with Acquire in `any`: what the session did is done for who waited.
            word.store(0, Ordering::Release);
        }
        // SeqCst: pairs with the one in `asks_for_notice`. Either we see the flag or the waiter sees the words free.
        fence(Ordering::SeqCst);
        // Relaxed: nothing is read on the strength of it but what the callers' mutex guards.
        self.notice.load(Ordering::Relaxed) != 0
    }

    /// Who was to be told is being told. Under the callers' mutex, before waiters look at the lane again.
    pub fn noticed(&self) {
        // Relaxed: set and cleared under the mutex.
        self.notice.store(0, Ordering::Relaxed);
    }

    /// Is there a word in use for which `conflicts` is true?
    pub fn any(&self, conflicts: impl Fn(u64) -> bool) -> bool {
        self.words().any(|(_, word)| conflicts(word))
    }

    /// As [`PinLane::any`], after the gate was shut and [`announced`] called; if so, the session will tell when it frees words.
    /// Under the callers' mutex.
    pub fn asks_for_notice(&self, conflicts: impl Fn(u64) -> bool) -> bool {
        if !self.any(&conflicts) {
            return false;
        }
        // Relaxed: ordered by the fence.
        self.notice.store(1, Ordering::Relaxed);
        // SeqCst: pairs with the one in `clear`.
        fence(Ordering::SeqCst);
        self.any(conflicts)
    }

    /// The words in use, by position.
    pub fn words(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        // Acquire: pairs with Release in `clear`.
        let words = self.words.iter().map(|word| word.load(Ordering::Acquire));
        words.enumerate().filter(|(_, word)| *word != 0)
    }
}

/// Between what one side announced (words in a lane, a shut gate) and its look at what the other side did.
#[inline]
pub fn announced() {
    // SeqCst: pairs with itself on the other side.
    fence(Ordering::SeqCst);
}

/// How many strong locks, held or asked for, keep weak ones off the fast path: counted for two classes of weak locks.
#[derive(Debug)]
pub struct Gate(AtomicU64);

impl Default for Gate {
    fn default() -> Self {
        Gate(AtomicU64::new(0))
    }
}

impl Gate {
    /// Is the gate shut for this class (0 or 1)?
    #[inline]
    pub fn stops(&self, class: usize) -> bool {
        debug_assert!(class < 2);
        // Acquire: pairs with Release in `open`: who finds it open sees what was done behind it.
        (self.0.load(Ordering::Acquire) >> (32 * class)) as u32 != 0
    }

    pub fn shut(&self, class: usize) {
        debug_assert!(class < 2);
        // Relaxed: ordered by the fence in `announced`.
        self.0.fetch_add(1 << (32 * class), Ordering::Relaxed);
    }

    pub fn open(&self, class: usize) {
        debug_assert!(class < 2);
        // Release: pairs with Acquire in `stops`.
        let before = self.0.fetch_sub(1 << (32 * class), Ordering::Release);
        debug_assert!((before >> (32 * class)) as u32 != 0, "a gate is opened as often as it was shut");
    }
}
