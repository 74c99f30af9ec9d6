//! What plain tables leave in files, once there are encrypted ones: it is overwritten with zeros before its space is free.
//!
//! A dropped tree of plain pages stays doomed in the maps, so nobody has its units and a crash begins all of this again, until
//!
//! 1. the undo pages that there are have become encrypted: some may have before-images of its rows, and stay for other transactions,
//! 2. its pages have gone from memory, and the log past the segments that have bytes of a former life,
//! 3. the checkpoint, and whoever else reads the log, have passed all that was logged of it: the cleaner is asked to hurry,
//! 4. zeros stand in its units, in the log's files below the checkpoint, and in the doublewrite file.
//!
//! ```text
//!  doomed ──1, 2──► Awaited ──3──► Writing ──► Written ──the doublewrite file is zeros──► its units are cleared in the maps
//! ```
//!
//! Freed pages of trees that live on, and undo pages that were purged, are zeros from their next write on (`Pool::seal`). What was free
//! when the first key was made is distrusted: [`super::units::Units::distrust`].
//!
//! Trees are taken together, and not more often than every [`REST`], since the log and the doublewrite file are overwritten for all of
//! them.

use super::map::{self, Map, group_of};
use super::{DOOMED, UNIT_PAGES, map_page};
use crate::mtr::Mtr;
use crate::page::{ENCRYPTED, OFF_TREE, PAGE_BYTES, PageId, PageType, get_u32};
use crate::segment::Segment;
use crate::shared::Core;
use crate::{Error, Result, Tree, undo};
use io::AlignedBuf;
use log::{Log, Lsn};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// From the end of one overwriting to the begin of the next.
const REST: Duration = Duration::from_secs(5);
/// Zeros written at a time.
const PIECE_BYTES: usize = 1 << 20;
/// Log written at a time to get past segments.
const FILLER_BYTES: usize = 12 << 10;

/// What the task and the cleaner want of each other.
#[derive(Default)]
pub struct Overwrites {
    /// A checkpoint is wanted here. W: the task. R: the cleaner.
    pub checkpoint: AtomicU64,
    /// How often the doublewrite file was to be overwritten, and was. W: the task; the cleaner. R: the other.
    pub doublewrites_wanted: AtomicU32,
    pub doublewrites_done: AtomicU32,
    /// Pages that wait, for who asks.
    pub pages: AtomicU64,
}

impl Overwrites {
    /// A checkpoint that is wanted, and not there while the log is needed from `checkpointed` on.
    pub fn awaited_checkpoint(&self, checkpointed: Lsn) -> Option<Lsn> {
        // Relaxed: a wish.
        Some(self.checkpoint.load(Ordering::Relaxed)).filter(|wanted| *wanted > checkpointed)
    }

    /// The number of an order to overwrite the doublewrite file that is not carried out.
    pub fn doublewrite_order(&self) -> Option<u32> {
        // Acquire: pairs with the Release in `Plain::write`: no page of what was overwritten comes into a batch after that.
        let wanted = self.doublewrites_wanted.load(Ordering::Acquire);
        // Relaxed: the caller's own.
        (wanted != self.doublewrites_done.load(Ordering::Relaxed)).then_some(wanted)
    }
}

/// Dropped trees of plain pages on their way to being free.
pub struct Plain {
    trees: Vec<Tree>,
    stage: Stage,
}

enum Stage {
    /// All that was logged of the trees is below.
    Awaited { since: Lsn },
    /// Zeros stand in place of the trees before this one, and of this one in the groups before.
    Writing { tree: usize, group: u64 },
    /// The doublewrite file is to be overwritten by this order.
    Written { order: u32 },
}

/// The task's memory of this.
#[derive(Default)]
pub struct Overwriting {
    plain: Option<Plain>,
    ended: Option<Instant>,
}

impl Overwriting {
    /// One step, if there is one to be made. False: nothing to do now.
    pub fn round(&mut self, core: &Core) -> Result<bool> {
        let Some(plain) = &mut self.plain else { return self.begin(core) };
        let more = plain.step(core)?;
        if plain.trees.is_empty() {
            self.plain = None;
            self.ended = Some(Instant::now());
        }
        core.note_plain_pages(self.plain.as_ref());
        Ok(more)
    }

    /// Takes all dropped trees that are plain, where anything is encrypted.
    fn begin(&mut self, core: &Core) -> Result<bool> {
        core.note_plain_pages(None);
        if self.ended.is_some_and(|ended| ended.elapsed() < REST) {
            return Ok(false);
        }
        let trees: Vec<Tree> =
            core.space.doomed.lock().iter().copied().filter(|tree| core.is_overwritten(*tree)).collect();
        if trees.is_empty() {
            return Ok(false);
        }
        // Whoever found a tree there has ended what they do to it; nobody finds it there any more.
        drop(core.space.in_use.write());
        core.seal_plain_undo()?;
        for (tree, group) in trees.iter().flat_map(|tree| (0..core.space.groups()).map(move |group| (tree, group))) {
            if core.stopping() {
                return Ok(false);
            }
            let pages = core.units_in_group(*tree, group)?.into_iter().flat_map(|first| first..first + UNIT_PAGES);
            core.pool.throw_away(&core.log, pages);
        }
        let since = core.pass_worn_log(trees[0])?;
        // Relaxed: a wish.
        core.space.overwrites.checkpoint.store(since, Ordering::Relaxed);
        core.pool.want_cleaning();
        core.space.doomed.lock().retain(|tree| !trees.iter().any(|taken| taken.id == tree.id));
        self.plain = Some(Plain { trees, stage: Stage::Awaited { since } });
        core.note_plain_pages(self.plain.as_ref());
        Ok(true)
    }
}

impl Plain {
    fn step(&mut self, core: &Core) -> Result<bool> {
        match self.stage {
            // A copy of the server begins at an older checkpoint, and must find these pages as they were. The order counts.
            Stage::Awaited { since } if core.log.kept_from() < since || core.log.is_copied() => Ok(false),
            Stage::Awaited { .. } => {
                self.stage = Stage::Writing { tree: 0, group: 0 };
                Ok(true)
            }
            Stage::Writing { tree, group } if tree < self.trees.len() => {
                core.overwrite_in_group(self.trees[tree], group)?;
                let next = if group + 1 < core.space.groups() { (tree, group + 1) } else { (tree + 1, 0) };
                self.stage = Stage::Writing { tree: next.0, group: next.1 };
                Ok(true)
            }
            Stage::Writing { .. } => {
                core.pool.file().sync_data()?;
                core.log.overwrite()?;
                let overwrites = &core.space.overwrites;
                // Release: pairs with the Acquire in `doublewrite_order`.
                let order = overwrites.doublewrites_wanted.fetch_add(1, Ordering::Release).wrapping_add(1);
                core.pool.want_cleaning();
                self.stage = Stage::Written { order };
                Ok(true)
            }
            // Acquire: pairs with the Release of the cleaner.
            Stage::Written { order } if core.space.overwrites.doublewrites_done.load(Ordering::Acquire) != order => {
                Ok(false)
            }
            Stage::Written { .. } => {
                while let Some(tree) = self.trees.last() {
                    if !core.free_tree(*tree)? {
                        return Ok(true);
                    }
                    self.trees.pop();
                }
                Ok(true)
            }
        }
    }
}

impl Core {
    /// Are the pages of this tree to be overwritten before they are free?
    pub(super) fn is_overwritten(&self, tree: Tree) -> bool {
        !tree.is_encrypted() && self.vault().keys().is_some()
    }

    fn note_plain_pages(&self, plain: Option<&Plain>) {
        let waiting: Vec<Tree> =
            self.space.doomed.lock().iter().copied().filter(|tree| self.is_overwritten(*tree)).collect();
        let trees = waiting.iter().chain(plain.iter().flat_map(|plain| &plain.trees));
        let pages: u64 = trees.map(|tree| self.space.units_of(tree.id) * UNIT_PAGES).sum();
        // Relaxed: a number for who asks.
        self.space.overwrites.pages.store(pages + self.space.distrusted_pages(), Ordering::Relaxed);
    }

    /// The first pages of the units that a dropped tree has in a group. Nobody else gives it pages or takes them.
    fn units_in_group(&self, tree: Tree, group: u64) -> Result<Vec<PageId>> {
        loop {
            let view = self.pool.read(map_page(group))?;
            let map = Map(view.bytes());
            let units = map.units_of(tree.id, 0).chain(map.units_of(tree.id | DOOMED, 0));
            let first = units.map(|unit| map::first_page(group, unit)).collect();
            if view.validate() {
                return Ok(first);
            }
        }
    }

    fn overwrite_in_group(&self, tree: Tree, group: u64) -> Result<()> {
        let mut units = self.units_in_group(tree, group)?;
        units.sort_unstable();
        for run in units.chunk_by(|a, b| a + UNIT_PAGES == *b) {
            if self.stopping() {
                return Ok(());
            }
            self.overwrite_pages(run[0], run.len() as u64 * UNIT_PAGES)?;
        }
        Ok(())
    }

    /// Zeros in the file. Where the disk has no room for them, which a file system that never overwrites may say, the blocks go back to it.
    fn overwrite_pages(&self, first: PageId, pages: u64) -> Result<()> {
        let zeros = AlignedBuf::zeroed(PIECE_BYTES);
        let (mut at, end) = (first * PAGE_BYTES as u64, (first + pages) * PAGE_BYTES as u64);
        while at < end {
            let len = zeros.len().min((end - at) as usize);
            match self.pool.file().write_at(&zeros[..len], at).map_err(Error::from) {
                Err(Error::DiskFull) => self.pool.file().punch(at, len as u64)?,
                outcome => outcome?,
            }
            at += len as u64;
        }
        Ok(())
    }

    /// Zeros over those of these pages that are not, durably: holes stay holes.
    pub(super) fn overwrite_what_is_there(&self, first: PageId, pages: u64) -> Result<()> {
        let mut buffer = AlignedBuf::zeroed(PIECE_BYTES);
        let per_piece = (PIECE_BYTES / PAGE_BYTES) as u64;
        let mut wrote = false;
        for from in (first..first + pages).step_by(per_piece as usize) {
            let count = per_piece.min(first + pages - from);
            let bytes = &mut buffer[..count as usize * PAGE_BYTES];
            let got = self.pool.file().read_up_to(bytes, from * PAGE_BYTES as u64)?;
            if bytes[..got].iter().any(|byte| *byte != 0) {
                self.overwrite_pages(from, count)?;
                wrote = true;
            }
        }
        if wrote { Ok(self.pool.file().sync_data()?) } else { Ok(()) }
    }

    /// Undo pages are encrypted from their next write on, all that there are now.
    fn seal_plain_undo(&self) -> Result<()> {
        for segment in self.segments.from(0) {
            match self.seal_undo_of(&segment) {
                // Purge tells of it.
                Ok(()) | Err(Error::Corrupt(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn seal_undo_of(&self, segment: &Segment) -> Result<()> {
        // Acquire: pairs with the Release in `free_first`.
        let mut id = segment.place.load(Ordering::Acquire);
        while id != 0 && !self.stopping() {
            self.log.ensure_room_critical(PAGE_BYTES)?;
            let mut page = self.pool.exclusive(id)?;
            let owner = undo::segment(page.bytes());
            let is_ours =
                crate::page::page_type(page.bytes()) == Some(PageType::Undo) && [0, segment.page].contains(&owner);
            if !is_ours {
                // Purged meanwhile: on from where purge is.
                drop(page);
                // Acquire: as above.
                let now = segment.place.load(Ordering::Acquire);
                if now == id {
                    return Err(self.pool.corrupt(id, "it is not an undo page of its segment"));
                }
                id = now;
                continue;
            }
            let word = get_u32(page.bytes(), OFF_TREE);
            if word & ENCRYPTED == 0 {
                let mut mtr = Mtr::new();
                mtr.write(&mut page, OFF_TREE, &(word | ENCRYPTED).to_le_bytes());
                mtr.commit(&self.log, &mut [&mut page]);
            }
            id = undo::next(page.bytes());
        }
        Ok(())
    }

    /// Makes the log go past its segments with bytes of a former life, and past the block of what was logged so far. Returns where it has
    /// to be needed from so that all of that can be overwritten.
    fn pass_worn_log(&self, tree: Tree) -> Result<Lsn> {
        let worn = self.log.begin_overwriting();
        let end = worn.max(self.log.tail_lsn() + Log::OVERWRITTEN_BEHIND);
        while self.log.tail_lsn() < end && !self.stopping() {
            self.log.ensure_room(2 * FILLER_BYTES)?;
            // What stands there already, once more.
            let mut map = self.pool.exclusive(map_page(group_of(tree.root)))?;
            let same = map.bytes()[map::OWNERS_AT..map::OWNERS_AT + FILLER_BYTES].to_vec();
            let mut mtr = Mtr::new();
            mtr.write(&mut map, map::OWNERS_AT, &same);
            mtr.commit(&self.log, &mut [&mut map]);
        }
        Ok(self.log.tail_lsn())
    }
}
