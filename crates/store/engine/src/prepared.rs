//! A prepared transaction, between [`crate::Transaction::prepare`] and [`crate::Transaction::decide`].

use crate::Error;
use crate::lock::held::HeldLocks;
use crate::page::PageId;
use crate::segment::Segment;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use sync::LaneId;

/// The longest label of a prepared transaction in bytes.
pub const LABEL_BYTES_MAX: usize = 1024;

/// A transaction that is prepared. Nothing becomes of it when it is dropped: the next start finds it again.
pub struct Prepared {
    pub(crate) slot: LaneId,
    pub(crate) trx: u64,
    pub(crate) segment: Arc<Segment>,
    /// Roll pointers of its first undo record, and to behind its last one.
    pub(crate) first: u64,
    pub(crate) end: u64,
    /// Locks beside those of its changes.
    pub(crate) locks: HeldLocks,
    /// Room in the log that is kept for its rollback.
    pub(crate) owed: Option<log::Owed>,
}

/// What becomes of a prepared transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    Commit,
    RollBack,
}

/// A decision that did not come about.
pub struct Undecided {
    pub error: Error,
    pub prepared: Prepared,
}

impl Prepared {
    /// Its id as `information_schema.innodb_trx` shows it.
    pub fn id(&self) -> u64 {
        self.trx
    }

    /// The undo page that its last record is in.
    pub(crate) fn newest(&self) -> PageId {
        // Relaxed: only who has the segment stores it.
        self.segment.newest.load(Ordering::Relaxed)
    }
}
