//! The page cleaner: writes dirty pages in batches, continuously, so that neither eviction nor the log ever waits for a storm.
//!
//! Two wishes set the pace. Eviction wants clean pages once all frames are in use, and some frames free ahead of need: what it
//! finds dirty is written at once. And every tenth of a second some of the oldest dirty pages are written, as many as [`pace`](super::pace)
//! says. Checkpoints follow ([`Cleaner::oldest_change`]), so that recovery never has much to read.

use super::Pool;
use super::batch::Stage;
use super::doublewrite::{BATCH_PAGES, Doublewrite, HALVES};
use super::pace::{Ages, Load, Pace};
use super::settings::PoolSettings;
use crate::Result;
use crate::page::PageId;
use log::{Log, Lsn};
use std::time::Duration;

/// How often the pace is set.
pub const TICK: Duration = Duration::from_millis(100);
/// Pages whose neighbours may be written with them.
const EXTENT_PAGES: u64 = 64;

/// One thread's work: see the module. There is one at a time.
pub struct Cleaner<'p> {
    pool: &'p Pool,
    log: &'p Log,
    doublewrite: Option<Doublewrite>,
    victims: Vec<PageId>,
    pace: Pace,
    /// Time since the pace was set last, and pages written since.
    since_tick: Duration,
    written: usize,
}

/// Pages written in a round.
pub struct Round {
    /// So that their frames can be used.
    pub ahead: usize,
    /// Because they were old enough.
    pub due: usize,
    /// The pool is on its way to a smaller size, and got on.
    pub shrinks: bool,
}

impl<'p> Cleaner<'p> {
    pub fn new(pool: &'p Pool, log: &'p Log, doublewrite: Option<Doublewrite>) -> Cleaner<'p> {
        Cleaner {
            pool,
            log,
            doublewrite,
            victims: Vec::new(),
            pace: Pace::default(),
            since_tick: Duration::ZERO,
            written: 0,
        }
    }

    /// One round: writes what is due. `elapsed`: since the last one; `hurry`: a checkpoint is wanted soon.
    pub fn round(&mut self, elapsed: Duration, hurry: bool) -> Result<Round> {
        self.pool.advance_clock(elapsed);
        self.since_tick += elapsed;
        self.repeat_failed()?;
        let settings = self.pool.settings();
        self.pool.refill();
        self.pool.collect_dirty_ahead(&mut self.victims);
        let ahead = self.write_victims(&settings)?;
        self.pool.refill();
        let shrinks = self.pool.withdraw();
        let mut due = 0;
        if self.since_tick >= TICK {
            let elapsed = std::mem::take(&mut self.since_tick);
            self.collect_oldest(elapsed, &settings, hurry);
            due = self.write_victims(&settings)?;
        }
        Ok(Round { ahead, due, shrinks })
    }

    /// As many of the oldest dirty pages as the pace asks for.
    fn collect_oldest(&mut self, elapsed: Duration, settings: &PoolSettings, hurry: bool) {
        let tail = self.log.tail_lsn();
        let oldest = self.oldest_change();
        let mut ages = Ages::new(oldest, tail);
        self.pool.dirty_pages().for_each(|(_, since)| ages.add(since));
        let load = Load {
            elapsed,
            tail,
            age: tail.saturating_sub(oldest),
            log_capacity: self.log.capacity(),
            dirty: &ages,
            frames: self.pool.frame_count(),
            written: std::mem::take(&mut self.written),
        };
        let mut left = self.pace.pages(&load, settings);
        if hurry {
            left = left.max((settings.io_capacity_max / 10).max(1) as usize);
        }
        let before = ages.lsn_of(left);
        for (id, since) in self.pool.dirty_pages() {
            if left == 0 {
                break;
            }
            if since < before {
                self.victims.push(id);
                left -= 1;
            }
        }
    }

    /// Writes what was collected, in the order of the file. Returns the number of pages.
    fn write_victims(&mut self, settings: &PoolSettings) -> Result<usize> {
        let mut victims = std::mem::take(&mut self.victims);
        if settings.flush_neighbors > 0 {
            self.add_neighbors(&mut victims, settings.flush_neighbors == 1);
        }
        victims.sort_unstable();
        victims.dedup();
        let mut written = 0;
        let mut outcome = Ok(());
        for chunk in victims.chunks(BATCH_PAGES) {
            match self.write(chunk) {
                Ok(count) => written += count,
                Err(error) => {
                    outcome = Err(error);
                    break;
                }
            }
        }
        victims.clear();
        self.victims = victims;
        self.written += written;
        outcome.map(|()| written)
    }

    /// Dirty pages of the victims' extents; `contiguous`: only those with nothing but dirty pages between them and a victim.
    fn add_neighbors(&self, victims: &mut Vec<PageId>, contiguous: bool) {
        for i in 0..victims.len() {
            let victim = victims[i];
            let extent = victim - victim % EXTENT_PAGES;
            let end = (extent + EXTENT_PAGES).min(self.pool.page_count());
            let mut add = |ids: &mut dyn Iterator<Item = PageId>| {
                for id in ids {
                    match self.pool.seems_dirty(id) {
                        true => victims.push(id),
                        false if contiguous => break,
                        false => {}
                    }
                }
            };
            add(&mut (victim + 1..end));
            add(&mut (extent..victim).rev());
        }
    }

    /// Zeros in place of what the doublewrite file has, once all of that is in the data file.
    pub fn overwrite_doublewrite(&self) -> Result<()> {
        self.settle()?;
        self.doublewrite.as_ref().map_or(Ok(()), Doublewrite::overwrite)
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

    /// Tells of a batch that has failed, then tries again.
    fn repeat_failed(&self) -> Result<()> {
        for (half, batch) in self.pool.batches.iter().enumerate() {
            if matches!(batch.stage(), Stage::Copied | Stage::Failed) {
                batch.failure().map_or(Ok(()), Err)?;
                self.make_idle(half)?;
            }
        }
        Ok(())
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
