//! What one session has counted, for `SHOW SESSION STATUS`, at no cost per statement.
//!
//! A session is served by one thread from one parking to the next. While it is attached, all that the thread's lane gains is
//! the session's: attaching notes the lane's counts, detaching adds the difference to the session's totals.

use crate::counters::CounterId;
use crate::lane::{COUNTERS_MAX, block};
use std::sync::atomic::Ordering;

/// A session's counters; 4 KiB, taken when first detached or asked for.
#[derive(Debug, Default)]
pub struct SessionCounters {
    /// Totals of former attachments minus, while attached, what the lane held at the start (wrapping).
    totals: Option<Box<[u64; COUNTERS_MAX]>>,
    attached: bool,
}

impl SessionCounters {
    pub fn new() -> Self {
        Self::default()
    }

    /// Call on the thread that begins to serve the session.
    pub fn attach(&mut self) {
        assert!(!self.attached, "a session is served by one thread at a time");
        self.attached = true;
        let totals = self.totals.get_or_insert_with(|| Box::new([0; COUNTERS_MAX]));
        for (total, word) in totals.iter_mut().zip(&block().counters) {
            // Relaxed: this thread is the only writer.
            *total = total.wrapping_sub(word.load(Ordering::Relaxed));
        }
    }

    /// Call on the same thread when it stops serving the session.
    pub fn detach(&mut self) {
        assert!(self.attached, "detach without attach");
        self.attached = false;
        let totals = self.totals.as_mut().expect("allocated by attach");
        for (total, word) in totals.iter_mut().zip(&block().counters) {
            // Relaxed: this thread is the only writer.
            *total = total.wrapping_add(word.load(Ordering::Relaxed));
        }
    }

    /// The session's count. While attached, call on the serving thread.
    pub fn value(&self, counter: impl Into<CounterId>) -> u64 {
        let index = counter.into().index();
        let total = self.totals.as_ref().map_or(0, |totals| totals[index]);
        // Relaxed: this thread is the only writer.
        let lane = if self.attached { block().counters[index].load(Ordering::Relaxed) } else { 0 };
        total.wrapping_add(lane)
    }
}
