//! How many of something there were, and how long they took: figures of one writer, which anybody may read.

use std::sync::atomic::{AtomicU64, Ordering};

/// A count, and times in nanoseconds of those that were timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeTotals {
    pub count: u64,
    pub sum_ns: u64,
    /// [`u64::MAX`] if none was timed.
    pub min_ns: u64,
    pub max_ns: u64,
}

impl Default for TimeTotals {
    fn default() -> TimeTotals {
        TimeTotals::NONE
    }
}

impl TimeTotals {
    pub const NONE: TimeTotals = TimeTotals { count: 0, sum_ns: 0, min_ns: u64::MAX, max_ns: 0 };

    /// Both together.
    pub fn merge(&mut self, other: &TimeTotals) {
        self.count += other.count;
        self.sum_ns = self.sum_ns.wrapping_add(other.sum_ns);
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
    }
}

/// The same in words that their one writer adds to.
#[derive(Debug)]
pub struct TimeCells {
    count: AtomicU64,
    sum_ns: AtomicU64,
    min_ns: AtomicU64,
    max_ns: AtomicU64,
}

impl Default for TimeCells {
    fn default() -> TimeCells {
        TimeCells::new()
    }
}

impl TimeCells {
    pub const fn new() -> TimeCells {
        TimeCells {
            count: AtomicU64::new(0),
            sum_ns: AtomicU64::new(0),
            min_ns: AtomicU64::new(u64::MAX),
            max_ns: AtomicU64::new(0),
        }
    }

    /// Adds one that took so long; `None`: it was not timed. For the one writer.
    #[inline]
    pub fn add(&self, took_ns: Option<u64>) {
        // Relaxed: single writer; readers want recent figures, not a common moment.
        let bump = |word: &AtomicU64, n| word.store(word.load(Ordering::Relaxed).wrapping_add(n), Ordering::Relaxed);
        bump(&self.count, 1);
        let Some(ns) = took_ns else { return };
        bump(&self.sum_ns, ns);
        // Relaxed: as above.
        if ns < self.min_ns.load(Ordering::Relaxed) {
            self.min_ns.store(ns, Ordering::Relaxed);
        }
        // Relaxed: as above.
        if ns > self.max_ns.load(Ordering::Relaxed) {
            self.max_ns.store(ns, Ordering::Relaxed);
        }
    }

    /// What they hold now; the words may be of slightly different moments.
    pub fn totals(&self) -> TimeTotals {
        let load = |word: &AtomicU64| word.load(Ordering::Relaxed); // Relaxed: as in `add`
        TimeTotals {
            count: load(&self.count),
            sum_ns: load(&self.sum_ns),
            min_ns: load(&self.min_ns),
            max_ns: load(&self.max_ns),
        }
    }

    /// All is 0 again. For the one writer.
    pub fn clear(&self) {
        for word in [&self.count, &self.sum_ns, &self.max_ns] {
            word.store(0, Ordering::Relaxed); // Relaxed: as in `add`
        }
        self.min_ns.store(u64::MAX, Ordering::Relaxed); // Relaxed: as in `add`
    }
}
