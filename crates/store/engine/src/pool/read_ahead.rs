//! Reading ahead: pages that a scan will want soon are brought into memory by threads of the engine, several at once.
//!
//! Neighbouring pages are one job and one read, since page `p` lives at `p * 16 KiB` in memory as in the file. A reader claims the
//! latches of the pages, so who needs one meanwhile waits for it as for any load. It takes only frames that are free, and leaves some
//! for those who need a page now. What cannot be read is left for them too: they get the error.

use super::Pool;
use crate::page::{PAGE_BYTES, PageId};
use observe::Counter;
use std::ops::Range;
use std::sync::atomic::Ordering;

/// Jobs that may stand in line; beyond that nothing is read ahead.
pub const READS_MAX: usize = 64;
/// Pages of one job.
const RUN_PAGES: u64 = 16;
const EXTENT_PAGES: u64 = 64;
/// Pages of an extent that are in memory before the rest is read (InnoDB's 5 + 64 / 8).
const RANDOM_THRESHOLD: usize = 13;

impl Pool {
    /// Leaves that a scan reads one after the other before further ones are read ahead; `None`: never.
    pub fn read_ahead_threshold(&self) -> Option<u32> {
        // Relaxed: a setting.
        Some(self.read_ahead_threshold.load(Ordering::Relaxed)).filter(|n| *n > 0)
    }

    /// Asks for pages that somebody will want soon. Neither waits nor fails.
    pub fn read_ahead(&self, ids: &mut Vec<PageId>) {
        ids.retain(|id| *id < self.page_count() && self.meta(*id).latch.is_evicted());
        ids.sort_unstable();
        for neighbours in ids.chunk_by(|a, b| a + 1 == *b) {
            for run in neighbours.chunks(RUN_PAGES as usize) {
                if !self.reads.push(run[0]..run[0] + run.len() as u64) {
                    return;
                }
            }
        }
    }

    /// After a miss: asks for the rest of the page's extent if much of it is in memory.
    pub(super) fn read_extent_ahead(&self, id: PageId) {
        let first = id - id % EXTENT_PAGES;
        let extent = first..(first + EXTENT_PAGES).min(self.page_count());
        let mut missing: Vec<PageId> = extent.clone().filter(|id| self.meta(*id).latch.is_evicted()).collect();
        if (extent.end - extent.start) as usize - missing.len() >= RANDOM_THRESHOLD {
            self.read_ahead(&mut missing);
        }
    }

    /// A reader's work until [`Pool::end_io_threads`].
    pub fn run_reader(&self) {
        while let Some(run) = self.reads.pop() {
            let mut next = run.start;
            while next < run.end {
                next = self.load_run(next..run.end);
            }
        }
    }

    /// Loads the pages at the front of the run that are not in memory; where to go on.
    fn load_run(&self, run: Range<PageId>) -> PageId {
        let mut frames = Vec::new();
        for id in run.clone() {
            let latch = &self.meta(id).latch;
            if !latch.is_evicted() {
                break;
            }
            let Some(frame) = self.spare_frame() else { return self.load_claimed(run.start, &frames, run.end) };
            if !self.claim_for_load(id) {
                self.give_back(frame);
                break;
            }
            frames.push(frame);
        }
        self.load_claimed(run.start, &frames, run.start + frames.len().max(1) as u64)
    }

    /// Reads pages that this thread has claimed, from `first` on, into these frames. Returns `next`.
    fn load_claimed(&self, first: PageId, frames: &[u32], next: PageId) -> PageId {
        if frames.is_empty() {
            return next;
        }
        observe::increment(Counter::InnodbDataReads);
        let sound = self.read_claimed(first, frames.len());
        for (i, (frame, sound)) in frames.iter().zip(sound).enumerate() {
            let id = first + i as u64;
            if sound {
                self.occupy(id, *frame);
                self.meta(id).latch.finish_load();
                observe::increment(Counter::InnodbBufferPoolReadAhead);
                observe::increment(Counter::InnodbPagesRead);
                observe::add(Counter::InnodbDataRead, PAGE_BYTES as u64);
            } else {
                self.discard(id..id + 1);
                self.meta(id).latch.set_evicted();
                self.give_back(*frame);
            }
        }
        next
    }
}
