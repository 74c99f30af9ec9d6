//! The page cleaner: writes dirty pages in batches, continuously, so that neither eviction nor the log ever waits for a storm.
//!
//! Two wishes set the pace. The clock wants clean pages ahead of its hand once all frames are in use. The log wants the
//! oldest change that is not on disk to be no older than half its capacity: as the log grows, pages cross that age one after
//! the other and are written then. An idle server writes the rest bit by bit. Whatever runs, [`Cleaner::checkpoint`] then
//! finds how far recovery no longer has to read.

use super::Pool;
use super::doublewrite::{BATCH_PAGES, Doublewrite};
use crate::Result;
use crate::page::{self, PAGE_BYTES, PageId};
use io::AlignedBuf;
use log::{Log, Lsn};
use observe::Counter;
use std::sync::atomic::Ordering;
use sync::futex;

/// One thread's work: see the module.
pub struct Cleaner<'p> {
    pool: &'p Pool,
    log: &'p Log,
    doublewrite: Option<Doublewrite>,
    /// A page for the doublewrite header, then the copies.
    batch: AlignedBuf,
    ids: Vec<PageId>,
    victims: Vec<PageId>,
}

impl<'p> Cleaner<'p> {
    pub fn new(pool: &'p Pool, log: &'p Log, doublewrite: Option<Doublewrite>) -> Cleaner<'p> {
        Cleaner {
            pool,
            log,
            doublewrite,
            batch: AlignedBuf::zeroed((1 + BATCH_PAGES) * PAGE_BYTES),
            ids: Vec::with_capacity(BATCH_PAGES),
            victims: Vec::new(),
        }
    }

    /// One round: writes what is due. Returns the number of pages written.
    pub fn round(&mut self, idle: bool) -> Result<usize> {
        self.victims.clear();
        self.collect_ahead_of_hand();
        let tail = self.log.tail_lsn();
        let old = tail.saturating_sub(self.log.capacity() / 2);
        let mut more = if idle { BATCH_PAGES * 2 } else { 0 };
        for (id, since) in self.pool.dirty_pages() {
            if since < old || more > 0 {
                more = more.saturating_sub((since >= old) as usize);
                self.victims.push(id);
            }
        }
        self.victims.sort_unstable();
        self.victims.dedup();
        let victims = std::mem::take(&mut self.victims);
        let mut written = 0;
        for chunk in victims.chunks(BATCH_PAGES) {
            written += self.write(chunk)?;
        }
        self.victims = victims;
        Ok(written)
    }

    /// Dirty pages that the clock will come to next.
    fn collect_ahead_of_hand(&mut self) {
        let frames = &self.pool.frames;
        // Relaxed here and below: guesses at what will be due; `write` looks again under the latch.
        if self.pool.opened.load(Ordering::Relaxed) < frames.len() as u64 {
            return;
        }
        // Relaxed: as above.
        let hand = self.pool.hand.load(Ordering::Relaxed) as usize;
        let ahead = (frames.len() / 8).clamp(1, 8 * BATCH_PAGES);
        for i in 0..ahead {
            let at = (hand + i) % frames.len();
            // Relaxed: as above.
            if self.pool.dirty_since[at].load(Ordering::Relaxed) != 0
                && let Some(id) = frames[at].load(Ordering::Relaxed).checked_sub(1)
            {
                self.victims.push(id);
            }
        }
    }

    /// Writes every dirty page: shutdown, and the end of recovery.
    pub fn write_all(&mut self) -> Result<()> {
        let mut dirty: Vec<PageId> = self.pool.dirty_pages().map(|(id, _)| id).collect();
        dirty.sort_unstable();
        for chunk in dirty.chunks(BATCH_PAGES) {
            self.write(chunk)?;
        }
        Ok(())
    }

    /// Redo: writes dirty pages when most frames are taken, since nobody else does yet.
    pub fn relieve(&mut self) -> Result<()> {
        if self.pool.resident() * 2 > self.pool.frame_count() { self.write_all() } else { Ok(()) }
    }

    /// Writes up to a batch of pages: copies, log, doublewrite, data file.
    fn write(&mut self, ids: &[PageId]) -> Result<usize> {
        let mut newest: Lsn = 0;
        let mut oldest_since = Vec::with_capacity(ids.len());
        self.ids.clear();
        for &id in ids {
            let Some(shared) = self.pool.try_shared(id) else { continue };
            let meta = shared.meta();
            // Relaxed: stored under the exclusive latch, whose release our shared latch pairs with.
            let since = shared.dirty_since().load(Ordering::Relaxed);
            if since == 0 {
                continue;
            }
            // In flight before clean, both under the shared latch: the clock, which needs the page exclusively, sees one of them.
            // Relaxed for both: the release of the shared latch pairs with the clock's exclusive latch.
            meta.in_flight.store(1, Ordering::Relaxed);
            shared.dirty_since().store(0, Ordering::Relaxed);
            let at = (1 + self.ids.len()) * PAGE_BYTES;
            let copy = &mut self.batch[at..at + PAGE_BYTES];
            copy.copy_from_slice(shared.bytes());
            drop(shared);
            newest = newest.max(page::page_lsn(copy));
            page::seal(copy);
            self.ids.push(id);
            oldest_since.push(since);
        }
        if self.ids.is_empty() {
            return Ok(0);
        }
        let outcome = self.write_batch(newest);
        for (&id, since) in self.ids.iter().zip(oldest_since) {
            let meta = self.pool.meta(id);
            if outcome.is_err() {
                // Still to be written, and since when. In flight it cannot be evicted, so this waits for its latch only.
                if let Ok(page) = self.pool.exclusive(id) {
                    page.set_dirty_again(since);
                }
            }
            meta.in_flight.store(0, Ordering::Release); // pairs with the clock's Acquire
        }
        self.pool.cleaned.fetch_add(1, Ordering::Release); // pairs with the Acquire in `evict`
        futex::wake_all(&self.pool.cleaned);
        outcome?;
        Ok(self.ids.len())
    }

    fn write_batch(&mut self, newest: Lsn) -> Result<()> {
        // The log first: no page on disk is ahead of it.
        self.log.wait_flushed(newest)?;
        if let Some(doublewrite) = &self.doublewrite {
            doublewrite.write(&mut self.batch, &self.ids)?;
            observe::add(Counter::InnodbDblwrWrites, 1);
            observe::add(Counter::InnodbDblwrPagesWritten, self.ids.len() as u64);
        }
        // Neighbours go in one write.
        let mut start = 0;
        while start < self.ids.len() {
            let mut end = start + 1;
            while end < self.ids.len() && self.ids[end] == self.ids[end - 1] + 1 {
                end += 1;
            }
            let bytes = &self.batch[(1 + start) * PAGE_BYTES..(1 + end) * PAGE_BYTES];
            self.pool.file.write_at(bytes, self.ids[start] * PAGE_BYTES as u64)?;
            observe::increment(Counter::InnodbDataWrites);
            observe::add(Counter::InnodbDataWritten, bytes.len() as u64);
            start = end;
        }
        self.pool.file.sync_data()?;
        observe::add(Counter::InnodbDataFsyncs, 1);
        observe::add(Counter::InnodbPagesWritten, self.ids.len() as u64);
        observe::add(Counter::InnodbBufferPoolPagesFlushed, self.ids.len() as u64);
        Ok(())
    }

    /// How far back recovery would have to read. Called between batches, by the cleaner's own thread.
    pub fn oldest_change(&self) -> Lsn {
        // Before the scan: groups below are complete, so their pages were marked dirty before we look.
        let complete = self.log.completed_lsn();
        self.pool.dirty_pages().map(|(_, since)| since).fold(complete, Lsn::min)
    }
}
