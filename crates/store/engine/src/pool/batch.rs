//! Batches: copies of dirty pages on their way to the data file.
//!
//! There are two, one for each half of the doublewrite file, and they take turns: while the pages of the one go to their
//! places, the cleaner fills the other and makes it durable. A batch goes through
//!
//! ```text
//!  Idle ──fill──► Copied ──log, doublewrite──► Placing ──pages written and synced──► Idle
//!                   │ ▲                          │  ▲
//!                   └─┘ an error: again          ▼  │ again
//!                                               Failed
//! ```
//!
//! From `Placing` on the data file may hold torn pages whose only whole copies are in the batch's half. So a batch that failed is
//! written again, the very same copies, until all of it is in the data file; its half takes no other before. A page is in one
//! batch at a time (`PageMeta::in_flight`), so no older copy can overtake a newer one.

use super::Pool;
use super::doublewrite::{BATCH_PAGES, Doublewrite, HALVES};
use crate::page::{self, PAGE_BYTES, PageId};
use crate::{Error, Result};
use io::AlignedBuf;
use log::{Log, Lsn};
use observe::Counter;
use std::ops::Range;
use std::sync::atomic::Ordering;
use sync::waits::Wait;
use sync::{Condvar, Mutex, Rank, RwLock};

/// The copies.
struct Pages {
    /// A page for the doublewrite header, then the copies.
    bytes: AlignedBuf,
    ids: Vec<PageId>,
    /// By page: since when it differed from the data file.
    since: Vec<Lsn>,
    /// The newest change in any copy.
    newest: Lsn,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    Idle,
    Copied,
    Placing,
    Failed,
}

struct Progress {
    stage: Stage,
    /// Stretches of neighbours among the copies that nobody writes yet.
    runs: Vec<Range<usize>>,
    /// How many are being written.
    writing: usize,
    failure: Option<Error>,
}

pub struct Batch {
    /// W: the cleaner, in stages `Idle` and `Copied`. R: whoever writes it to a file.
    pages: RwLock<Pages>,
    /// W: the cleaner and the writers.
    progress: Mutex<Progress>,
    /// All runs are written and synced, or one has failed.
    placed: Condvar,
}

pub fn batches() -> [Batch; HALVES] {
    std::array::from_fn(|_| Batch::new())
}

impl Batch {
    fn new() -> Batch {
        let pages = Pages {
            bytes: AlignedBuf::zeroed((1 + BATCH_PAGES) * PAGE_BYTES),
            ids: Vec::with_capacity(BATCH_PAGES),
            since: Vec::with_capacity(BATCH_PAGES),
            newest: 0,
        };
        io::leave_out_of_core_dumps(&pages.bytes);
        let progress = Progress { stage: Stage::Idle, runs: Vec::new(), writing: 0, failure: None };
        Batch {
            pages: RwLock::new(Rank::Checkpoint, pages),
            progress: Mutex::new(Rank::PagePool, progress),
            placed: Condvar::new(),
        }
    }

    pub fn stage(&self) -> Stage {
        self.progress.lock().stage
    }

    /// How far back recovery would have to read for these pages; `None` when they are all in the data file.
    pub fn oldest(&self) -> Option<Lsn> {
        match self.stage() {
            Stage::Idle => None,
            _ => self.pages.read().since.iter().copied().min(),
        }
    }

    /// Pages that are on their way.
    pub fn len(&self) -> usize {
        match self.stage() {
            Stage::Idle => 0,
            _ => self.pages.read().ids.len(),
        }
    }

    /// `Idle` to `Copied`: copies those of the pages that are dirty and in no batch. Returns how many.
    pub fn fill(&self, pool: &Pool, ids: &[PageId]) -> usize {
        assert_eq!(self.stage(), Stage::Idle);
        let mut pages = self.pages.write();
        let pages = &mut *pages;
        pages.ids.clear();
        pages.since.clear();
        pages.newest = 0;
        for &id in ids.iter().take(BATCH_PAGES) {
            let Some(shared) = pool.try_shared(id) else { continue };
            let meta = shared.meta();
            // Relaxed: stored under the exclusive latch, whose release our shared latch pairs with.
            let since = shared.dirty_since().load(Ordering::Relaxed);
            // Acquire: pairs with the Release in `finish`; an older copy is in the data file before this one is made.
            if since == 0 || meta.in_flight.load(Ordering::Acquire) != 0 {
                continue;
            }
            // In flight before clean, both under the shared latch: the evictor, which needs the page exclusively, sees one of
            // them. Relaxed for both: the release of the shared latch pairs with the evictor's exclusive latch.
            meta.in_flight.store(1, Ordering::Relaxed);
            shared.dirty_since().store(0, Ordering::Relaxed);
            let at = (1 + pages.ids.len()) * PAGE_BYTES;
            let copy = &mut pages.bytes[at..at + PAGE_BYTES];
            copy.copy_from_slice(shared.bytes());
            drop(shared);
            pages.newest = pages.newest.max(page::page_lsn(copy));
            pool.seal(id, copy);
            pages.ids.push(id);
            pages.since.push(since);
        }
        let count = pages.ids.len();
        if count > 0 {
            self.progress.lock().stage = Stage::Copied;
        }
        count
    }

    /// `Copied` to `Placing`: makes the log and the doublewrite half durable. Returns the number of runs to be written.
    pub fn protect(&self, log: &Log, doublewrite: Option<&Doublewrite>, half: usize) -> Result<usize> {
        assert_eq!(self.stage(), Stage::Copied);
        let mut pages = self.pages.write();
        let pages = &mut *pages;
        // The log first: no page on disk is ahead of it.
        log.wait_flushed(pages.newest)?;
        if let Some(doublewrite) = doublewrite {
            doublewrite.write(half, &mut pages.bytes, &pages.ids)?;
            observe::add(Counter::InnodbDblwrWrites, 1);
            observe::add(Counter::InnodbDblwrPagesWritten, pages.ids.len() as u64);
        }
        Ok(self.start(&pages.ids))
    }

    /// `Failed` to `Placing`: the same pages once more. Returns the number of runs.
    pub fn repeat(&self) -> usize {
        assert_eq!(self.stage(), Stage::Failed);
        self.start(&self.pages.read().ids)
    }

    fn start(&self, ids: &[PageId]) -> usize {
        let mut progress = self.progress.lock();
        assert_eq!((progress.writing, progress.runs.len()), (0, 0));
        // Of the attempt before, if nobody has asked: this one answers for itself.
        progress.failure = None;
        let mut start = 0;
        while start < ids.len() {
            let mut end = start + 1;
            while end < ids.len() && ids[end] == ids[end - 1] + 1 {
                end += 1;
            }
            progress.runs.push(start..end);
            start = end;
        }
        progress.failure = None;
        progress.stage = Stage::Placing;
        progress.runs.len()
    }

    /// Writes runs that nobody else writes, until there are none; whoever ends the last one syncs the file. Any thread.
    pub fn place(&self, pool: &Pool) {
        if self.progress.lock().runs.is_empty() {
            return; // others were faster, and the cleaner may be filling it again
        }
        let pages = self.pages.read();
        loop {
            let run = {
                let mut progress = self.progress.lock();
                let Some(run) = progress.runs.pop() else { return };
                progress.writing += 1;
                run
            };
            let outcome = pages.write(pool, run);
            let mut progress = self.progress.lock();
            if let Err(error) = outcome {
                progress.failure.get_or_insert(error);
            }
            // The last one keeps itself counted until the file is synced.
            if progress.writing > 1 || !progress.runs.is_empty() {
                progress.writing -= 1;
                continue;
            }
            let mut failure = progress.failure.take();
            drop(progress);
            if failure.is_none() {
                failure = pages.finish(pool).err();
            }
            let mut progress = self.progress.lock();
            progress.writing = 0;
            progress.stage = if failure.is_none() { Stage::Idle } else { Stage::Failed };
            progress.failure = failure;
            drop(progress);
            self.placed.notify_all();
            pool.note_cleaned();
        }
    }

    /// Waits until the batch is not being placed.
    pub fn wait_placed(&self) {
        let mut progress = self.progress.lock();
        while progress.stage == Stage::Placing {
            self.placed.wait(&mut progress, Wait::PageBatch);
        }
    }

    /// Why it failed, told once.
    pub fn failure(&self) -> Option<Error> {
        self.progress.lock().failure.take()
    }
}

impl Pages {
    fn write(&self, pool: &Pool, run: Range<usize>) -> Result<()> {
        let bytes = &self.bytes[(1 + run.start) * PAGE_BYTES..(1 + run.end) * PAGE_BYTES];
        let offset = self.ids[run.start] * PAGE_BYTES as u64;
        if pool.atomic {
            for (page, at) in bytes.chunks_exact(PAGE_BYTES).zip((offset..).step_by(PAGE_BYTES)) {
                pool.file.write_atomic_at(page, at)?;
            }
            observe::add(Counter::InnodbDataWrites, run.len() as u64);
        } else {
            pool.file.write_at(bytes, offset)?;
            observe::increment(Counter::InnodbDataWrites);
        }
        observe::add(Counter::InnodbDataWritten, bytes.len() as u64);
        Ok(())
    }

    /// All pages are written: makes them durable, and lets them go.
    fn finish(&self, pool: &Pool) -> Result<()> {
        pool.file.sync_data()?;
        for id in &self.ids {
            pool.meta(*id).in_flight.store(0, Ordering::Release); // pairs with the Acquire of evictor and cleaner
        }
        observe::add(Counter::InnodbDataFsyncs, 1);
        observe::add(Counter::InnodbPagesWritten, self.ids.len() as u64);
        observe::add(Counter::InnodbBufferPoolPagesFlushed, self.ids.len() as u64);
        Ok(())
    }
}
