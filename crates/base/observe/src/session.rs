//! What one session has counted, for `SHOW SESSION STATUS`, at no cost per count.
//!
//! A session that is active owns a block of its own, and the thread that serves it counts there: for as long as it serves no
//! other session, or for one command where a thread serves many in turn. An idle session keeps only its totals.
//!
//! ```text
//!   idle --attach--> active --enter--> served by this thread --leave--> active --detach--> idle
//! ```
//!
//! Others read both through [`SharedCounts`]: a sequence word is odd while the session attaches or detaches, and who has read meanwhile
//! reads again.

use crate::counters::CounterId;
use crate::lane::{BLOCKS, Block, COUNTERS_MAX, Claim, count_in};
use std::sync::atomic::{AtomicU64, Ordering, fence};
use std::sync::{Arc, OnceLock};
use sync::LaneId;

/// What a session has counted, for other threads.
#[derive(Debug, Default)]
pub struct SharedCounts {
    /// Odd while the other two change. W: the session. R: anybody.
    sequence: AtomicU64,
    /// The block that the session has, by its number and 1; 0: none. W: the session. R: anybody.
    block: AtomicU64,
    /// Totals of former attachments minus, while attached, what the block held at the start (wrapping). W: the session. R: anybody.
    totals: OnceLock<Box<[AtomicU64]>>,
}

impl SharedCounts {
    fn totals(&self) -> &[AtomicU64] {
        self.totals.get_or_init(|| (0..COUNTERS_MAX).map(|_| AtomicU64::new(0)).collect())
    }

    fn total(&self, index: usize) -> u64 {
        // Relaxed: readers of other threads look at the sequence.
        self.totals.get().map_or(0, |totals| totals[index].load(Ordering::Relaxed))
    }

    /// Changes what readers put together. On the session's thread.
    fn change(&self, change: impl FnOnce()) {
        // Relaxed: the session alone writes it.
        let before = self.sequence.load(Ordering::Relaxed);
        self.sequence.store(before + 1, Ordering::Relaxed); // Relaxed: the fence orders it
        // Release: pairs with the Acquire fence in `values`; who sees what changes sees the odd number.
        fence(Ordering::Release);
        change();
        // Release: pairs with Acquire in `values`; who sees the even number sees all of the change.
        self.sequence.store(before + 2, Ordering::Release);
    }

    fn add(&self, block: &Block, add: fn(u64, u64) -> u64) {
        for (total, word) in self.totals().iter().zip(&block.counters) {
            // Relaxed: nobody writes to the block of a session that no thread serves; the sequence tells readers.
            total.store(add(total.load(Ordering::Relaxed), word.load(Ordering::Relaxed)), Ordering::Relaxed);
        }
    }

    /// All counts, by the numbers of counters.
    pub fn values(&self) -> Vec<u64> {
        loop {
            // Acquire: pairs with Release in `change`.
            let before = self.sequence.load(Ordering::Acquire);
            // Relaxed: checked by the sequence.
            let block = self.block.load(Ordering::Relaxed);
            let block = block.checked_sub(1).map(|at| BLOCKS.get(LaneId::from_index(at as usize)));
            let now = |index: usize| {
                // Relaxed: as above; a count that goes on is as recent as it is.
                let since = block.map_or(0, |block| block.counters[index].load(Ordering::Relaxed));
                self.total(index).wrapping_add(since)
            };
            let values: Vec<u64> = (0..COUNTERS_MAX).map(now).collect();
            // Acquire: pairs with the Release fence in `change`.
            fence(Ordering::Acquire);
            // Relaxed: the fence orders it.
            if before.is_multiple_of(2) && self.sequence.load(Ordering::Relaxed) == before {
                return values;
            }
            std::hint::spin_loop();
        }
    }
}

/// A session's counters; 4 KiB, and a block as large while it is attached.
#[derive(Debug, Default)]
pub struct SessionCounters {
    shared: Arc<SharedCounts>,
    claim: Option<Claim>,
}

impl SessionCounters {
    pub fn new() -> Self {
        Self::default()
    }

    /// For who reads the counts from other threads.
    pub fn shared(&self) -> Arc<SharedCounts> {
        Arc::clone(&self.shared)
    }

    /// The session becomes active: it gets a block.
    pub fn attach(&mut self) {
        assert!(self.claim.is_none(), "a session has one block at a time");
        let claim = Claim::new();
        self.shared.change(|| {
            self.shared.add(claim.block(), u64::wrapping_sub);
            // Relaxed: readers look at the sequence.
            self.shared.block.store(claim.number() + 1, Ordering::Relaxed);
        });
        self.claim = Some(claim);
    }

    /// The session becomes idle: it gives its block back.
    pub fn detach(&mut self) {
        let claim = self.claim.take().expect("detach without attach");
        self.shared.change(|| {
            self.shared.add(claim.block(), u64::wrapping_add);
            // Relaxed: readers look at the sequence.
            self.shared.block.store(0, Ordering::Relaxed);
        });
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
        let shared = &self.shared;
        shared.change(|| {
            // Relaxed: readers look at the sequence.
            shared.totals().iter().for_each(|total| total.store(0, Ordering::Relaxed));
            if let Some(claim) = &self.claim {
                shared.add(claim.block(), u64::wrapping_sub);
            }
        });
    }

    /// As if the session had counted nothing, also in the sums of all sessions: what a start does is no client's. Call while attached,
    /// on the serving thread, before anybody reads sums, since they fall.
    pub fn take_back(&mut self) {
        let block = self.claim.as_ref().expect("an attached session takes back").block();
        for (index, word) in block.counters.iter().enumerate() {
            // Relaxed: single writer; readers want recent figures.
            let counted = self.shared.total(index).wrapping_add(word.load(Ordering::Relaxed));
            word.store(word.load(Ordering::Relaxed).wrapping_sub(counted), Ordering::Relaxed); // Relaxed: as above
        }
        self.reset();
    }

    /// The session's count.
    pub fn value(&self, counter: impl Into<CounterId>) -> u64 {
        let index = counter.into().index();
        // Relaxed: the caller serves the session, so nobody else writes.
        let since = self.claim.as_ref().map_or(0, |claim| claim.block().counters[index].load(Ordering::Relaxed));
        self.shared.total(index).wrapping_add(since)
    }
}

impl Drop for SessionCounters {
    /// Whoever still reads sees what was counted, and not what the block's next owner counts.
    fn drop(&mut self) {
        if self.claim.is_some() {
            self.detach();
        }
    }
}
