//! The page cleaner: writes dirty pages in batches, continuously, so that neither eviction nor the log ever waits for a storm.
//!
//! Two wishes set the pace. The clock wants clean pages ahead of its hand once all frames are in use. The log wants the
//! oldest change that is not on disk to be no older than half its capacity: as the log grows, pages cross that age one after
//! the other and are written then. An idle server writes the rest bit by bit. Whatever runs, [`Cleaner::checkpoint`] then
//! finds how far recovery no longer has to read.

use super::Pool;
use super::batch::Stage;
use super::doublewrite::{BATCH_PAGES, Doublewrite, HALVES};
use crate::Result;
use crate::page::PageId;
use log::{Log, Lsn};
use std::sync::atomic::Ordering;

/// One thread's work: see the module. There is one at a time.
pub struct Cleaner<'p> {
    pool: &'p Pool,
    log: &'p Log,
    doublewrite: Option<Doublewrite>,
    victims: Vec<PageId>,
}

impl<'p> Cleaner<'p> {
    pub fn new(pool: &'p Pool, log: &'p Log, doublewrite: Option<Doublewrite>) -> Cleaner<'p> {
        Cleaner { pool, log, doublewrite, victims: Vec::new() }
    }

    /// One round: writes what is due. Returns the number of pages written.
    pub fn round(&mut self, idle: bool) -> Result<usize> {
        self.repeat_failed()?;
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
        loop {
            // A page that was changed after its copy was made is dirty again, and waits for that copy.
            self.settle()?;
            let mut dirty: Vec<PageId> = self.pool.dirty_pages().map(|(id, _)| id).collect();
            if dirty.is_empty() {
                return Ok(());
            }
            dirty.sort_unstable();
            for chunk in dirty.chunks(BATCH_PAGES) {
                self.write(chunk)?;
            }
        }
    }

    /// Redo: writes dirty pages when most frames are taken, since nobody else does yet.
    pub fn relieve(&mut self) -> Result<()> {
        if self.pool.resident() * 2 > self.pool.frame_count() { self.write_all() } else { Ok(()) }
    }

    /// Sends up to a batch of pages on their way to the data file. Returns how many; the others are clean, or on their way.
    fn write(&mut self, ids: &[PageId]) -> Result<usize> {
        let half = self.pool.turn();
        self.make_idle(half)?;
        let batch = &self.pool.batches[half];
        let count = batch.fill(self.pool, ids);
        if count > 0 {
            self.pool.next_turn();
            self.protect(half)?;
        }
        Ok(count)
    }

    /// The half's batch is durable in the log and in the doublewrite file; its pages go to their places.
    fn protect(&self, half: usize) -> Result<()> {
        let runs = self.pool.batches[half].protect(self.log, self.doublewrite.as_ref(), half)?;
        self.pool.share_out(half, runs);
        Ok(())
    }

    /// Ends what is under way in a half. An error leaves the batch as it is, to be tried again.
    fn make_idle(&self, half: usize) -> Result<()> {
        let batch = &self.pool.batches[half];
        match batch.stage() {
            Stage::Idle => return Ok(()),
            Stage::Copied => self.protect(half)?,
            Stage::Placing => {}
            Stage::Failed => self.pool.share_out(half, batch.repeat()),
        }
        batch.place(self.pool);
        batch.wait_placed();
        batch.failure().map_or(Ok(()), Err)
    }

    fn repeat_failed(&self) -> Result<()> {
        let failed = |half: &usize| matches!(self.pool.batches[*half].stage(), Stage::Copied | Stage::Failed);
        (0..HALVES).filter(failed).try_for_each(|half| self.make_idle(half))
    }

    /// Waits until all batches are in the data file.
    fn settle(&self) -> Result<()> {
        // The older one first.
        (0..HALVES).try_for_each(|i| self.make_idle((self.pool.turn() + i) % HALVES))
    }

    /// How far back recovery would have to read. Called between batches, by the cleaner's own thread.
    pub fn oldest_change(&self) -> Lsn {
        // Before the scan: groups below are complete, so their pages were marked dirty before we look.
        let complete = self.log.completed_lsn();
        let on_their_way = self.pool.batches.iter().filter_map(|batch| batch.oldest());
        self.pool
            .redo_from(self.pool.dirty_pages().map(|(_, since)| since).chain(on_their_way).fold(complete, Lsn::min))
    }
}
