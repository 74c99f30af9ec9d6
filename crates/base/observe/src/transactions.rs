//! Sums of transactions, of one session each.

use crate::setup::Consumers;
use std::sync::atomic::{AtomicU32, Ordering};
use sync::{TimeCells, TimeTotals};

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
    pub fn add(&self, consumers: Consumers, read_only: bool, took_ns: Option<u64>) {
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
