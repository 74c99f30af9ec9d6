//! What one session has counted, for `SHOW SESSION STATUS`, at no cost per count.
//!
//! A session that is active owns a block of its own, and the thread that serves it counts there: for as long as it serves no
//! other session, or for one command where a thread serves many in turn. An idle session keeps only its totals.
//!
//! ```text
//!   idle --attach--> active --enter--> served by this thread --leave--> active --detach--> idle
//! ```

use crate::counters::CounterId;
use crate::lane::{Block, COUNTERS_MAX, Claim, count_in};
use std::sync::atomic::Ordering;

/// A session's counters; 4 KiB, and a block as large while it is attached.
#[derive(Debug, Default)]
pub struct SessionCounters {
    /// Totals of former attachments minus, while attached, what the block held at the start (wrapping).
    totals: Option<Box<[u64]>>,
    claim: Option<Claim>,
}

impl SessionCounters {
    pub fn new() -> Self {
        Self::default()
    }

    /// The session becomes active: it gets a block.
    pub fn attach(&mut self) {
        assert!(self.claim.is_none(), "a session has one block at a time");
        let claim = Claim::new();
        match self.totals {
            Some(_) => self.add(claim.block(), u64::wrapping_sub),
            // Relaxed: as in `add`.
            None => {
                self.totals =
                    Some(claim.block().counters.iter().map(|w| w.load(Ordering::Relaxed).wrapping_neg()).collect())
            }
        }
        self.claim = Some(claim);
    }

    /// The session becomes idle: it gives its block back.
    pub fn detach(&mut self) {
        let claim = self.claim.take().expect("detach without attach");
        self.add(claim.block(), u64::wrapping_add);
    }

    /// The calling thread counts for this session, which is attached, until [`SessionCounters::leave`].
    #[inline]
    pub fn enter(&self) {
        count_in(Some(self.claim.as_ref().expect("an attached session is entered").block()));
    }

    /// The calling thread counts for itself again.
    #[inline]
    pub fn leave(&self) {
        count_in(None);
    }

    /// Starts over from zero. While attached, call on the serving thread.
    pub fn reset(&mut self) {
        self.totals = None;
        if let Some(claim) = self.claim.take() {
            self.add(claim.block(), u64::wrapping_sub);
            self.claim = Some(claim);
        }
    }

    /// The session's count.
    pub fn value(&self, counter: impl Into<CounterId>) -> u64 {
        let index = counter.into().index();
        let total = self.totals.as_ref().map_or(0, |totals| totals[index]);
        // Relaxed: the caller serves the session, so nobody else writes.
        let since = self.claim.as_ref().map_or(0, |claim| claim.block().counters[index].load(Ordering::Relaxed));
        total.wrapping_add(since)
    }

    fn add(&mut self, block: &Block, add: fn(u64, u64) -> u64) {
        let totals = self.totals.get_or_insert_with(|| vec![0; COUNTERS_MAX].into());
        for (total, word) in totals.iter_mut().zip(&block.counters) {
            // Relaxed: nobody writes to the block of a session that no thread serves.
            *total = add(*total, word.load(Ordering::Relaxed));
        }
    }
}
