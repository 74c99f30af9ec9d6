//! Sums of transactions, of one session each.

use crate::lane::bump;
use crate::setup::Consumers;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// How many there were, and how long they took, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimeTotals {
    pub count: u64,
    pub sum_ns: u64,
    /// 0 if there were none.
    pub min_ns: u64,
    pub max_ns: u64,
}

impl TimeTotals {
    /// Both together.
    pub fn merge(&mut self, other: &TimeTotals) {
        if other.count > 0 {
            self.min_ns = if self.count == 0 { other.min_ns } else { self.min_ns.min(other.min_ns) };
            self.max_ns = self.max_ns.max(other.max_ns);
            self.count += other.count;
            self.sum_ns = self.sum_ns.wrapping_add(other.sum_ns);
        }
    }
}

/// The same in words that their one writer adds to and anybody reads.
pub struct TimeCells {
    count: AtomicU64,
    sum_ns: AtomicU64,
    min_ns: AtomicU64,
    max_ns: AtomicU64,
}

impl Default for TimeCells {
    fn default() -> TimeCells {
        TimeCells {
            count: AtomicU64::new(0),
            sum_ns: AtomicU64::new(0),
            min_ns: AtomicU64::new(u64::MAX),
            max_ns: AtomicU64::new(0),
        }
    }
}

impl TimeCells {
    /// Adds something that took so long. For the one writer.
    #[inline]
    pub fn add(&self, took_ns: u64) {
        bump(&self.count, 1);
        bump(&self.sum_ns, took_ns);
        // Relaxed: single writer, as in `bump`.
        if took_ns < self.min_ns.load(Ordering::Relaxed) {
            self.min_ns.store(took_ns, Ordering::Relaxed);
        }
        // Relaxed: as above.
        if took_ns > self.max_ns.load(Ordering::Relaxed) {
            self.max_ns.store(took_ns, Ordering::Relaxed);
        }
    }

    /// What they hold now; the words may be of slightly different moments.
    pub fn totals(&self) -> TimeTotals {
        // Relaxed: see `bump`.
        let load = |cell: &AtomicU64| cell.load(Ordering::Relaxed);
        let (count, min_ns) = (load(&self.count), load(&self.min_ns));
        let min_ns = if count == 0 || min_ns == u64::MAX { 0 } else { min_ns };
        TimeTotals { count, sum_ns: load(&self.sum_ns), min_ns, max_ns: load(&self.max_ns) }
    }

    /// All is 0 again. For the one writer.
    pub fn clear(&self) {
        for (cell, value) in [(&self.count, 0), (&self.sum_ns, 0), (&self.min_ns, u64::MAX), (&self.max_ns, 0)] {
            // Relaxed: single writer.
            cell.store(value, Ordering::Relaxed);
        }
    }
}

/// Sums of transactions: those that may write, and READ ONLY ones.
pub type TransactionTotals = [TimeTotals; 2];

/// Sums of one session.
#[derive(Default)]
pub struct TransactionSums {
    /// As that of [`StatementSums`](crate::StatementSums).
    epoch: AtomicU32,
    cells: [TimeCells; 2],
}

impl TransactionSums {
    /// Adds a transaction. For the one writer.
    #[inline]
    pub fn add(&self, consumers: Consumers, read_only: bool, took_ns: u64) {
        // Relaxed: single writer.
        if self.epoch.load(Ordering::Relaxed) != consumers.epoch() {
            self.clear(consumers);
        }
        self.cells[usize::from(read_only)].add(took_ns);
    }

    /// All sums are 0, and of this epoch. For the one writer.
    #[cold]
    pub fn clear(&self, consumers: Consumers) {
        self.cells.iter().for_each(TimeCells::clear);
        // Release: pairs with Acquire in `totals`.
        self.epoch.store(consumers.epoch(), Ordering::Release);
    }

    pub fn totals(&self, consumers: Consumers) -> TransactionTotals {
        // Acquire: pairs with Release in `clear`.
        match self.epoch.load(Ordering::Acquire) == consumers.epoch() {
            true => [self.cells[0].totals(), self.cells[1].totals()],
            false => TransactionTotals::default(),
        }
    }
}
