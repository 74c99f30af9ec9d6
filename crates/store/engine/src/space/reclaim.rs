//! The task that looks after space: frees trees that were dropped, gives free space back to the file system, and makes room
//! ahead of need.
//!
//! A dropped tree is freed map by map, each in one mini-transaction that clears the tree's units there, whatever is on their
//! pages; no page is read. The unit of its root, whose owner word says that the tree is being freed, goes last: as long as it
//! stands, the work goes on after a crash. Before a map is changed the tree's pages go from memory, dirty ones unwritten. Redo
//! stays sound. An operation on such a page is older than the tree's end; it applies to what the disk has of the page, since
//! the checkpoint takes a page that was thrown away for dirty until all that is older than that moment is on disk
//! ([`crate::pool::Pool::throw_away`]), or it is skipped because a newer owner wrote the page. A page of zeros is met by redo only
//! where its image follows, since a unit is punched only when a durable checkpoint has passed the LSN at which it was free, and never while
//! the server is being copied.

use super::map::{self, DOOMED, Map, group_of};
use super::overwrite::Overwriting;
use super::units::Run;
use super::{Space, UNIT_PAGES, map_page};
use crate::mtr::Mtr;
use crate::page::{PAGE_BYTES, PageId};
use crate::shared::Core;
use crate::{Error, Result, Tree};
use log::Lsn;
use std::sync::atomic::Ordering;
use std::time::Duration;
use sync::futex;
use sync::waits::Wait;

/// Units that are punched in one call: 16 MiB.
const PUNCH_UNITS_MAX: usize = 256;
/// What a map's change takes of the log at most.
const MAP_BYTES_MAX: usize = 2 * PAGE_BYTES;

/// What the task has to remember.
pub struct Reclaim {
    /// LSN at which the free units were aged that are to be punched.
    aged_at: Option<Lsn>,
    overwriting: Overwriting,
}

impl Reclaim {
    pub fn new(core: &Core) -> Reclaim {
        // What was free at the start may have blocks. Redo needed those pages; it will not once a checkpoint has passed the log's
        // end.
        Reclaim { aged_at: Some(core.log.tail_lsn()), overwriting: Overwriting::default() }
    }

    /// One round: frees a tree, goes on with overwriting others, punches a run of units, makes room. False: there is nothing more to do
    /// now.
    pub fn round(&mut self, core: &Core) -> Result<bool> {
        let freed = core.free_next_tree()?;
        let overwritten = self.overwriting.round(core)?;
        let punched = core.punch(&mut self.aged_at)?;
        core.space.make_ready(core)?;
        Ok(freed || overwritten || punched)
    }
}

/// The task's work until the engine stops.
pub fn run(core: &Core) {
    let mut reclaim = Reclaim::new(core);
    while !core.stopping() {
        // Acquire: pairs with the Release in `want_work`.
        let seen = core.space.wanted.load(Ordering::Acquire);
        match reclaim.round(core) {
            Ok(true) => {}
            Ok(false) => {
                futex::wait(&core.space.wanted, seen, Some(Duration::from_secs(1)), Wait::Background);
            }
            // Statements hear of it when they find no room. What makes room again comes first in a round.
            Err(Error::DiskFull) => core.sleep(Duration::from_millis(200), Wait::Background),
            Err(error) => {
                eprintln!("[ERROR] [Engine] space of the data file: {error}");
                core.sleep(Duration::from_secs(1), Wait::Background);
            }
        }
    }
}

impl Space {
    /// Wakes the task.
    pub fn want_work(&self) {
        self.wanted.fetch_add(1, Ordering::Release); // pairs with the Acquire in `run`
        futex::wake_all(&self.wanted);
    }

    fn make_ready(&self, core: &Core) -> Result<()> {
        // Relaxed: a number kept about right.
        if self.ready.load(Ordering::Relaxed) >= self.enough() {
            return Ok(());
        }
        self.make_room(&core.pool, &core.log, self.enough())
    }
}

impl Core {
    /// Frees the tree that has waited longest, of those that need not be overwritten first. False: there is none.
    fn free_next_tree(&self) -> Result<bool> {
        let next = self.space.doomed.lock().iter().copied().find(|tree| !self.is_overwritten(*tree));
        let Some(tree) = next else { return Ok(false) };
        // Whoever found the tree there has ended what they do to it; nobody finds it there any more.
        drop(self.space.in_use.write());
        if self.free_tree(tree)? {
            self.space.doomed.lock().retain(|doomed| doomed.id != tree.id);
        }
        Ok(true)
    }

    /// False: the server stops.
    pub(super) fn free_tree(&self, tree: Tree) -> Result<bool> {
        for group in 0..self.space.groups() {
            if self.stopping() {
                return Ok(false);
            }
            self.free_in_group(tree, tree.id, group)?;
        }
        self.free_in_group(tree, tree.id | DOOMED, group_of(tree.root))?;
        Ok(true)
    }

    /// Frees the units of a group that have this owner word.
    fn free_in_group(&self, tree: Tree, owner: u32, group: u64) -> Result<()> {
        // Nobody else gives pages to the tree or takes them, so a look without a latch that is validated holds.
        let pages: Vec<PageId> = loop {
            let view = self.pool.read(map_page(group))?;
            let map = Map(view.bytes());
            let units = map.units_of(owner, 0).map(|unit| map::first_page(group, unit));
            let pages = units.flat_map(|first| first..first + UNIT_PAGES).filter(|page| map.is_used(*page)).collect();
            if view.validate() {
                break pages;
            }
        };
        self.pool.throw_away(&self.log, pages.iter().copied());
        self.log.ensure_room_critical(MAP_BYTES_MAX)?;
        let mut map = self.pool.exclusive(map_page(group))?;
        let mut mtr = Mtr::new();
        let units = map::clear(&mut mtr, &mut map, owner);
        if units.is_empty() {
            return Ok(());
        }
        mtr.commit(&self.log, &mut [&mut map]);
        drop(map);
        self.space.change_units(|all| all.cleared(tree.id, group, &units, pages.len() as u64));
        Ok(())
    }

    /// Gives blocks of free units back, but for some that will soon be wanted: first ages those that are free, at `aged_at`, and
    /// once the checkpoint has passed that, punches those that nobody was given since. False: there is nothing to do now.
    fn punch(&self, aged_at: &mut Option<Lsn>) -> Result<bool> {
        let keep = 2 * self.space.enough();
        if aged_at.is_none() && self.space.distrusts_free() {
            *aged_at = Some(self.log.tail_lsn());
        }
        let Some(lsn) = *aged_at else {
            // Relaxed: a number kept about right.
            if self.space.ready.load(Ordering::Relaxed) > keep {
                self.space.change_units(|all| all.age());
                *aged_at = Some(self.log.tail_lsn());
            }
            return Ok(false);
        };
        // A copy of the server has the log from an older checkpoint on, and must find these pages as they were. The order counts.
        if self.log.oldest_needed() < lsn || self.log.is_copied() {
            return Ok(false);
        }
        // Who finds no room meanwhile waits, and does not take the disk for full.
        let _growth = self.space.growth.lock();
        let Some((run, was_bare)) = self.space.change_units(|all| all.take_aged(keep, PUNCH_UNITS_MAX)) else {
            *aged_at = None;
            // Relaxed: whoever goes by it takes units under the mutex.
            self.space.distrusts_free.store(false, Ordering::Relaxed);
            return Ok(false);
        };
        let outcome = self.punch_run(run, was_bare);
        self.space.change_units(|all| all.add_bare(run));
        outcome.map(|()| true)
    }

    fn punch_run(&self, run: Run, was_bare: bool) -> Result<()> {
        // What is in memory of these pages is as old as what is on disk. One that is being written gets its block again, until
        // the unit is given away and freed once more.
        self.pool.throw_away(&self.log, run.pages());
        let pages = run.pages();
        if was_bare && self.vault().keys().is_some() {
            self.overwrite_what_is_there(pages.start, pages.end - pages.start)?;
        }
        let bytes = (pages.end - pages.start) * PAGE_BYTES as u64;
        Ok(self.pool.file().punch(pages.start * PAGE_BYTES as u64, bytes)?)
    }
}
