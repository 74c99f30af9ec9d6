//! Redo: brings the pages to the end of the log, in parallel.
//!
//! ```text
//!  the log ──► fill: groups to ops, ops to their pages      batch n + 1, by the thread that opens the engine
//!              apply: a page and its ops at a time          batch n, by some threads, each page by one of them
//! ```
//!
//! # Why pages may be redone apart
//!
//! *An op reads and writes the bytes of its own page and nothing else* ([`Op::apply`]): an image, a split, a freed page and its next
//! life are ops on one page each, and the map that says who owns it is another page with ops of its own. So what becomes of a
//! page depends on its own ops in their order, and the order of ops on different pages shows in no byte. One thread applies all ops of a
//! page in a batch, in the order of the log, and a batch begins when the one before it is done, so the order of a page's ops is the
//! log's. The page's
//! LSN says which of them it has seen. A group is atomic because the log ends with a whole group, and nobody looks at pages before the end.
//!
//! Written on the way, when memory gets scarce, a page carries the LSN up to which it was redone: a crash during recovery begins anew at
//! the same checkpoint.
//!
//! # Memory
//!
//! Two batches, each bounded in bytes and in pages; dirty pages are written between batches, so that while one is applied there is always a
//! frame to be had without waiting for the cleaner.
//!
//! # Pages that cannot be read
//!
//! A damaged page must not keep everything else from opening: its ops are skipped, and it is *lost* up to the end of the last group that
//! was skipped. From then on [`Pool`] refuses what it reads of the page as long as its LSN is below that, however whole it looks: a
//! device that gives back the old bytes later must not bring back old rows. Checkpoints carry the list on, for they pass the groups that
//! were skipped. A
//! page that is made anew, by an image later in the log or by its next owner, has a higher LSN and so is no longer lost.
//!
//! Not every page can be lost: without the maps, the dictionary's root, the undo directory, or undo that a rollback may need, the start
//! fails.

use crate::events;
use crate::mtr::Op;
use crate::page::{self, PageId, page_lsn, put_u64};
use crate::pool::cleaner::Cleaner;
use crate::pool::{Lost, Pool};
use crate::space::{DICTIONARY_ROOT, SUPER_PAGE, UNDO_DIRECTORY, is_map};
use crate::{Error, Result};
use hashbrown::HashMap;
use log::{Groups, Lsn, Recovery};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Bytes of log in a batch, about.
const BATCH_BYTES: usize = 8 << 20;
/// Threads that apply a batch, at most: so many reads of pages are in flight.
pub const WORKERS: usize = 16;
/// Pages that a thread takes at a time.
const STRIDE: usize = 16;
/// Lost pages that a checkpoint has room for; a disk with more of them needs its backup.
const LOST_MAX: usize = 1024;
const NONE: u32 = u32::MAX;

/// What the log said.
pub struct Redone {
    /// Pages that the file must have.
    pub pages: u64,
    /// Above every transaction that left undo.
    pub next_trx: u64,
    pub lost: Lost,
}

/// Applies the log since the checkpoint, by so many threads; 0: by the calling one alone. `pool` knows the pages that were lost before.
/// `rewrite`: pages that need no redo are written again all the same. Without a doublewrite file that tells which they are, any of them may
/// have been written by a batch whose sync failed, and stand in the kernel's memory alone (see [`Doublewrite::restore`]).
///
/// [`Doublewrite::restore`]: crate::pool::doublewrite::Doublewrite::restore
pub fn run(
    pool: &Pool,
    recovery: &Recovery,
    cleaner: &mut Cleaner<'_>,
    workers: usize,
    rewrite: bool,
    tell: &mut dyn FnMut(&str),
) -> Result<Redone> {
    let (start, end) = (recovery.checkpoint().lsn, recovery.end());
    let mut skipped = Skipped::new();
    let mut source = Source { groups: recovery.groups(start), pages: 0, next_trx: 0, count: 0 };
    if end > start {
        tell(&format!("starting crash recovery from checkpoint LSN {start}: {} MiB of log", (end - start) >> 20));
    }
    let (began, mut told) = (Instant::now(), Instant::now());
    let pages_max = pool.frame_count() / 8;
    let (mut ready, mut filling) = (Batch::default(), Batch::default());
    let mut touched = 0;
    source.fill(&mut ready, pages_max)?;
    while !ready.chains.is_empty() {
        let next = AtomicUsize::new(0);
        let worker = Worker { pool, batch: &ready, skipped: &skipped, next: &next, end, rewrite };
        let outcomes = std::thread::scope(|scope| {
            let threads = workers.min(ready.chains.len() / STRIDE + 1);
            let threads: Vec<_> = (0..threads).map(|_| scope.spawn(|| worker.work())).collect();
            let own = if threads.is_empty() { worker.work() } else { Ok(Vec::new()) };
            let filled = source.fill(&mut filling, pages_max);
            let others = threads.into_iter().map(|thread| thread.join().expect("a thread of redo panicked"));
            let outcomes: Result<Vec<_>> = others.chain([own]).collect();
            filled.and(outcomes)
        })?;
        for (page, fate) in outcomes.into_iter().flatten() {
            match fate {
                Fate::Healed => drop(skipped.remove(&page)),
                Fate::Skipped(skip) => drop(skipped.insert(page, skip)),
            }
        }
        touched += ready.chains.len();
        if touched >= pages_max {
            touched = 0;
            cleaner.relieve()?;
        }
        if told.elapsed() >= Duration::from_secs(1) {
            told = Instant::now();
            tell(&format!("crash recovery: {} % of the log applied", (ready.end - start) * 100 / (end - start)));
        }
        std::mem::swap(&mut ready, &mut filling);
    }
    if end > start {
        let (groups, seconds) = (source.count, began.elapsed().as_secs_f64());
        tell(&format!("crash recovery applied {groups} log groups in {seconds:.1} s"));
    }
    check_needed(pool, &skipped)?;
    let lost = still_lost(pool, &skipped)?;
    for (page, until) in &lost {
        eprintln!(
            "[ERROR] [Engine] page {page}: changes up to LSN {until} are lost; what needs the page answers an error"
        );
    }
    if lost.len() > LOST_MAX {
        let (first, others) = (*lost.keys().next().expect("there are many"), lost.len() - 1);
        return Err(pool.corrupt(first, &format!("and so are {others} other pages, too many to go on without")));
    }
    Ok(Redone { pages: source.pages, next_trx: source.next_trx, lost })
}

/// Fails if a page was skipped that the server cannot do without.
fn check_needed(pool: &Pool, skipped: &Skipped) -> Result<()> {
    for (&page, skip) in skipped {
        let what = match page {
            SUPER_PAGE => "it says what the file is",
            UNDO_DIRECTORY => "it says where undo is",
            DICTIONARY_ROOT => "it is the root of the dictionary",
            page if is_map(page) => "it says whose pages are whose",
            _ if skip.undo => "transactions that were open may have to be rolled back by it",
            _ => continue,
        };
        return Err(pool.corrupt(page, &format!("the log could not be applied to it, and {what}")));
    }
    Ok(())
}

/// Pages that were skipped, and of those that were lost before the ones that are still so.
fn still_lost(pool: &Pool, skipped: &Skipped) -> Result<Lost> {
    let mut lost: Lost = skipped.iter().map(|(&page, skip)| (page, skip.until)).collect();
    for (&page, &before) in pool.lost() {
        if let Some(until) = lost.get_mut(&page) {
            *until = before.max(*until);
        } else if pool.exclusive_unless_damaged(page)?.is_err() {
            lost.insert(page, before);
        }
    }
    Ok(lost)
}

/// The log as a sequence of batches.
struct Source {
    groups: Groups,
    pages: u64,
    next_trx: u64,
    count: u64,
}

/// Some groups, their ops in order of page.
#[derive(Default)]
struct Batch {
    /// The groups' payloads, one after the other.
    bytes: Vec<u8>,
    steps: Vec<Step>,
    chains: Vec<Chain>,
    /// By page: its chain.
    index: HashMap<PageId, u32, foldhash::fast::RandomState>,
    /// The end of the last group.
    end: Lsn,
}

/// An op, and the next one of its page.
struct Step {
    /// In `bytes`.
    at: usize,
    next: u32,
    /// Of the op's group.
    start: Lsn,
    end: Lsn,
}

/// A page and its ops.
struct Chain {
    page: PageId,
    first: u32,
    last: u32,
}

impl Source {
    /// The next groups. No chains: the log is at its end.
    fn fill(&mut self, batch: &mut Batch, pages_max: usize) -> Result<()> {
        batch.clear();
        while batch.bytes.len() < BATCH_BYTES && batch.chains.len() < pages_max {
            let Some(group) = self.groups.next()? else { break };
            let corrupt = |why| Error::Corrupt(format!("log group at LSN {}: {why}", group.start));
            let ops = events::ops(group.payload).map_err(corrupt)?;
            let base = batch.bytes.len();
            batch.bytes.extend_from_slice(ops);
            batch.end = group.end;
            self.count += 1;
            let mut rest = ops;
            while !rest.is_empty() {
                let at = base + ops.len() - rest.len();
                let op = Op::split_from(&mut rest).map_err(corrupt)?;
                self.pages = self.pages.max(op.page + 1);
                if let Some(trx) = op.undo_transaction() {
                    self.next_trx = self.next_trx.max(trx + 1);
                }
                batch.push(op.page, Step { at, next: NONE, start: group.start, end: group.end });
            }
        }
        Ok(())
    }
}

impl Batch {
    fn clear(&mut self) {
        self.bytes.clear();
        self.steps.clear();
        self.chains.clear();
        self.index.clear();
    }

    fn push(&mut self, page: PageId, step: Step) {
        let new = u32::try_from(self.steps.len()).expect("a batch has less than four billion ops");
        self.steps.push(step);
        let chain = *self.index.entry(page).or_insert(self.chains.len() as u32) as usize;
        match self.chains.get_mut(chain) {
            Some(chain) => {
                self.steps[chain.last as usize].next = new;
                chain.last = new;
            }
            None => self.chains.push(Chain { page, first: new, last: new }),
        }
    }

    /// A page's ops, each with its group's start and end.
    fn ops(&self, chain: &Chain) -> impl Iterator<Item = (Op<'_>, Lsn, Lsn)> {
        let step = |at: u32| self.steps.get(at as usize);
        std::iter::successors(step(chain.first), move |before| step(before.next)).map(|step| {
            let op = Op::split_from(&mut &self.bytes[step.at..]).expect("it was read before");
            (op, step.start, step.end)
        })
    }
}

/// Pages whose ops are skipped.
type Skipped = BTreeMap<PageId, Skip>;

#[derive(Clone, Copy)]
struct Skip {
    /// The end of the last group that was skipped.
    until: Lsn,
    /// Did it hold what a rollback goes by?
    undo: bool,
}

/// What became of a page that is not as usual.
enum Fate {
    /// Its ops were skipped, and then came an image.
    Healed,
    Skipped(Skip),
}

/// What the threads share that apply a batch.
struct Worker<'b> {
    pool: &'b Pool,
    batch: &'b Batch,
    /// As the batches before have left it.
    skipped: &'b Skipped,
    /// The next chain that nobody has taken. W, R: the threads.
    next: &'b AtomicUsize,
    /// Of the log.
    end: Lsn,
    /// See [`run`].
    rewrite: bool,
}

impl Worker<'_> {
    /// Applies chains until all are taken.
    fn work(&self) -> Result<Vec<(PageId, Fate)>> {
        let mut fates = Vec::new();
        loop {
            // Relaxed: it shares out chains; the threads' start and end order the rest.
            let from = self.next.fetch_add(STRIDE, Ordering::Relaxed);
            let Some(rest) = self.batch.chains.get(from..) else { return Ok(fates) };
            for chain in &rest[..rest.len().min(STRIDE)] {
                fates.extend(self.redo(chain)?.map(|fate| (chain.page, fate)));
            }
        }
    }

    /// Brings a page to the end of the batch.
    fn redo(&self, chain: &Chain) -> Result<Option<Fate>> {
        let mut page = None;
        // The page has seen all groups that end here or before.
        let mut seen = 0;
        let before = self.skipped.get(&chain.page);
        let mut skip = before.copied();
        for (op, start, end) in self.batch.ops(chain) {
            if op.is_image() {
                // Whatever was there, it may have been evicted, and need not be read.
                if page.is_none() {
                    self.pool.check_range(op.page)?;
                    page = Some(self.pool.create(op.page, self.pool.reserve_frame()?));
                }
                (seen, skip) = (0, None);
            } else if page.is_none() && skip.is_none() {
                let found = match self.pool.exclusive_unless_damaged(op.page)? {
                    // Once more: to give a page up loses what is in the log only.
                    Err(_) => self.pool.exclusive_unless_damaged(op.page)?,
                    found => found,
                };
                match found {
                    Ok(found) => {
                        seen = page_lsn(found.bytes());
                        if seen > self.end {
                            let why = format!(
                                "its LSN {seen} is past the end of the log, {}: the log has lost its end",
                                self.end
                            );
                            return Err(self.pool.corrupt(op.page, &why));
                        }
                        page = Some(found);
                    }
                    // Whoever read it has told the error log why.
                    Err(_) => skip = Some(Skip { until: 0, undo: false }),
                }
            }
            if let Some(skip) = &mut skip {
                *skip = Skip { until: end, undo: skip.undo || op.is_undo() };
            } else if let Some(page) = &mut page {
                if end > seen {
                    op.apply(page.bytes_mut());
                    put_u64(page.bytes_mut(), page::OFF_LSN, end);
                }
                if end > seen || self.rewrite {
                    page.set_dirty(start);
                }
            }
        }
        Ok(skip.map(Fate::Skipped).or(before.map(|_| Fate::Healed)))
    }
}

#[cfg(test)]
mod tests;
