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
/// Steps of nice(2) that readers stand behind statements, a third of their weight: nobody waits for what they bring but scans, which
/// would otherwise take more of the processors than a short statement does.
const READER_NICE: u8 = 5;
/// Pages of an extent that are in memory before the rest is read (InnoDB's 5 + 64 / 8).
const RANDOM_THRESHOLD: usize = 13;

/// Work for a reader.
pub struct Job {
    /// Neighbours.
    pages: Range<PageId>,
    wish: Wish,
}

/// Why pages are read that nobody waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// A scan comes by.
    Scan,
    /// Much of their extent is in memory.
    Extent,
    /// They were in memory when the list was made.
    List,
}

impl Pool {
    /// Leaves that a scan reads one after the other before further ones are read ahead; `None`: never.
    pub fn read_ahead_threshold(&self) -> Option<u32> {
        // Relaxed: a setting.
        Some(self.read_ahead_threshold.load(Ordering::Relaxed)).filter(|n| *n > 0)
    }

    /// Asks for pages that a scan will want soon. Neither waits nor fails.
    pub fn read_ahead(&self, ids: &mut Vec<PageId>) {
        self.ask_for(ids, Wish::Scan);
    }

    fn ask_for(&self, ids: &mut Vec<PageId>, wish: Wish) {
        ids.retain(|id| *id < self.page_count() && self.meta(*id).latch.is_evicted());
        ids.sort_unstable();
        for neighbours in ids.chunk_by(|a, b| a + 1 == *b) {
            for run in neighbours.chunks(RUN_PAGES as usize) {
                if !self.reads.push(Job { pages: run[0]..run[0] + run.len() as u64, wish }) {
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
            self.ask_for(&mut missing, Wish::Extent);
        }
    }

    /// A reader's work until [`Pool::end_io_threads`].
    pub fn run_reader(&self) {
        io::stand_back(READER_NICE);
        while let Some(job) = self.reads.pop() {
            self.load_pages(job.pages.clone(), job.wish);
        }
    }

    /// Runs of pages that were asked for and are not there yet.
    pub fn reads_pending(&self) -> usize {
        self.reads.pending()
    }

    /// Calls of writers to batches of pages that are not answered.
    pub fn writes_pending(&self) -> usize {
        self.writes.pending()
    }

    /// Loads those of neighbouring pages that are not in memory, as far as there are frames.
    pub fn load_pages(&self, pages: Range<PageId>, wish: Wish) {
        let mut next = pages.start;
        while next < pages.end {
            next = self.load_run(next..pages.end, wish);
        }
    }

    /// Loads the pages at the front of the run that are not in memory; where to go on.
    fn load_run(&self, run: Range<PageId>, wish: Wish) -> PageId {
        let missing = run.clone().take_while(|id| self.meta(*id).latch.is_evicted()).count();
        if missing == 0 {
            return run.start + 1;
        }
        let mut frames = match wish {
            Wish::List => (0..missing).map_while(|_| self.unused_frame()).collect(),
            Wish::Scan | Wish::Extent => self.frames_ahead(missing),
        };
        let claimed = (run.start..).take(frames.len()).take_while(|id| self.claim_for_load(*id)).count();
        let full = frames.len() == missing;
        self.give(&frames.split_off(claimed));
        self.load_claimed(run.start, &frames, wish);
        if full { run.start + claimed.max(1) as u64 } else { run.end }
    }

    /// Reads pages that this thread has claimed, from `first` on, into these frames.
    fn load_claimed(&self, first: PageId, frames: &[u32], wish: Wish) {
        if frames.is_empty() {
            return;
        }
        observe::increment(Counter::InnodbDataReads);
        let sound = self.read_claimed(first, frames.len());
        for (i, (frame, sound)) in frames.iter().zip(sound).enumerate() {
            let id = first + i as u64;
            if sound {
                self.occupy(id, *frame);
                self.finish_wish(id, wish);
                observe::increment(Counter::InnodbPagesRead);
                observe::add(Counter::InnodbDataRead, PAGE_BYTES as u64);
            } else {
                self.discard(id..id + 1);
                self.meta(id).latch.set_evicted();
                self.give_back(*frame);
            }
        }
    }

    /// The page is whole, and in a frame.
    fn finish_wish(&self, id: PageId, wish: Wish) {
        let meta = self.meta(id);
        match wish {
            Wish::List => return meta.latch.finish_load(),
            Wish::Scan => observe::increment(Counter::InnodbBufferPoolReadAhead),
            Wish::Extent => observe::increment(Counter::InnodbBufferPoolReadAheadRnd),
        }
        // Relaxed: the latch's release publishes it.
        meta.ahead.store(1, Ordering::Relaxed);
        meta.latch.finish_load_marked();
    }
}
