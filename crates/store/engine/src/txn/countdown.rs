//! How far the undoing of a transaction is. What its slot says of its changes falls with each one that is undone, as
//! `trx_rows_modified` of `INNODB_TRX` does.

use crate::undo::{Kind, Record};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Hears how many changes are undone, and of how many; of 0: it is over.
pub type Progress = Arc<dyn Fn(u64, u64) + Send + Sync>;

/// How many changes there are between two tellings.
const EVERY: u64 = 1024;

/// The changes of a transaction, or those since a savepoint, while they are undone.
pub struct Countdown<'a> {
    /// In the transaction's slot. W: who undoes it.
    left: &'a AtomicU64,
    undone: u64,
    of: u64,
    tell: Option<&'a Progress>,
}

impl<'a> Countdown<'a> {
    /// `left`: the changes of the whole transaction, of which `of` are to be undone.
    pub fn new(left: &'a AtomicU64, of: u64, tell: Option<&'a Progress>) -> Countdown<'a> {
        Countdown { left, undone: 0, of, tell }
    }

    /// A record is undone.
    #[inline]
    pub fn pass(&mut self, record: &Record<'_>) {
        if !is_change(record) {
            return;
        }
        // Relaxed for both: a figure for those who list transactions, and a hint for the choice of deadlock victims.
        self.left.store(self.left.load(Ordering::Relaxed).saturating_sub(1), Ordering::Relaxed);
        self.undone += 1;
        if self.undone.is_multiple_of(EVERY)
            && let Some(tell) = self.tell
        {
            tell(self.undone, self.of.max(self.undone));
        }
    }
}

impl Drop for Countdown<'_> {
    fn drop(&mut self) {
        if let Some(tell) = self.tell.filter(|_| self.undone >= EVERY) {
            tell(0, 0);
        }
    }
}

/// Does the transaction count it among its changes?
pub fn is_change(record: &Record<'_>) -> bool {
    !matches!(record.kind, Kind::LongValue | Kind::Prepare)
}
