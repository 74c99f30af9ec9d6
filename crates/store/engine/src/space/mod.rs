//! Space of the data file: who owns it, what is free, and what of that has blocks in the file system.
//!
//! Space belongs to trees in units of four pages ([`map`]). A tree takes pages of its own units first, near the page that is
//! split; then a new unit, or once it is no longer small an extent of 1 MiB, so that leaves that come one after the other lie
//! so. A unit whose last page is freed is free again. Long values belong to their tree, so a tree is freed by clearing its
//! units in the maps, without reading a page of it ([`reclaim`]).
//!
//! Allocating and freeing change the map in the mini-transaction that begins or ends the page's use. Maps are latched last, and
//! one at a time. Units get their blocks ahead of need and outside any latch, so that a full disk is met before a statement has
//! changed anything ([`growth`]).
//!
//! ```text
//!  page 0 (PageType::Super), after the common header
//!  64 "CLEARWAY" | 72 format version u32 | 76 page bytes u32 | 80 zero 16 bytes | 96 next tree id u32
//!  page 1  map of group 0        page 2  undo directory (see `segment`)       page 4  root of the dictionary
//! ```

mod growth;
mod map;
pub mod overwrite;
pub mod reclaim;
mod units;

pub use growth::Need;
pub use map::{DOOMED, GROUP_PAGES, Map, OWNER_SYSTEM, UNIT_PAGES, format_map, is_map, map_page, unit_of};

use crate::mtr::Mtr;
use crate::page::{HEADER_BYTES, OFF_TYPE, PageId, PageType};
use crate::pool::{Exclusive, Frame, Pool};
use crate::{Error, Result, Tree};
use log::{Log, Lsn};
use map::{EXTENT_UNITS, GROUP_UNITS, group_of};
use overwrite::Overwrites;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use sync::{CachePadded, Mutex, Rank, RwLock, RwLockReadGuard};
use units::{Run, Units};

pub const SUPER_PAGE: PageId = 0;
pub const UNDO_DIRECTORY: PageId = 2;
pub const DICTIONARY_ROOT: PageId = 4;
pub const DICTIONARY_TREE: u32 = 1;

pub const MAGIC: &[u8; 8] = b"CLEARWAY";
pub const FORMAT_VERSION: u32 = 6;
pub const OFF_MAGIC: usize = HEADER_BYTES;
pub const OFF_FORMAT: usize = HEADER_BYTES + 8;
pub const OFF_PAGE_BYTES: usize = HEADER_BYTES + 12;
pub const OFF_NEXT_TREE: usize = HEADER_BYTES + 32;

/// Groups in which a tree's spare pages are looked for before it is given new units.
const SCAN_GROUPS_MAX: u64 = 32;

pub struct Space {
    /// Pages that the file has room for. W: growth. R: everybody.
    file_pages: AtomicU64,
    /// The end of the log group that made the newest map. W: growth. R: checkpoints.
    mapped_lsn: AtomicU64,
    /// Units that may be given at once. W: who has `units`. R: every statement that writes.
    ready: CachePadded<AtomicU64>,
    units: Mutex<Units>,
    /// Pages of the next step.
    growth: Mutex<u64>,
    /// Held shared by who changes trees without a metadata lock, for one change; see [`Space::keep_trees`].
    in_use: RwLock<()>,
    /// Trees to be freed.
    doomed: Mutex<VecDeque<Tree>>,
    /// What is free is not all known to be overwritten: see [`overwrite`]. W: who makes the first key; the task. R: who makes room.
    distrusts_free: AtomicBool,
    pub overwrites: Overwrites,
    /// Grows when there is something to do for the task in `reclaim`.
    wanted: AtomicU32,
}

/// For whom a page is, and beside which page it should lie.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    owner: u32,
    near: Option<PageId>,
    rising: bool,
}

impl Place {
    /// For undo and directories.
    pub const SYSTEM: Place = Place { owner: OWNER_SYSTEM, near: None, rising: false };

    /// Anywhere in the tree's space.
    pub fn of(tree: Tree) -> Place {
        Place { owner: tree.id, near: None, rising: false }
    }

    pub fn beside(tree: Tree, page: PageId) -> Place {
        Place { owner: tree.id, near: Some(page), rising: false }
    }

    /// Behind a page that was the tree's last: more will follow, so not in a gap far away.
    pub fn behind(tree: Tree, page: PageId) -> Place {
        Place { owner: tree.id, near: Some(page), rising: true }
    }
}

/// A page just allocated, to be formatted. The map stays latched until the mini-transaction commits.
pub struct Allocation<'p> {
    pub page: Exclusive<'p>,
    pub map: Exclusive<'p>,
}

impl Space {
    /// `file_pages`: pages of the data file. [`Space::read_maps`] follows once the maps are recovered.
    pub fn new(file_pages: u64) -> Space {
        Space {
            file_pages: AtomicU64::new(file_pages),
            mapped_lsn: AtomicU64::new(0),
            ready: CachePadded::new(AtomicU64::new(0)),
            units: Mutex::new(Rank::FreeSpace, Units::default()),
            growth: Mutex::new(Rank::FileGrowth, growth::STEP_PAGES_MIN),
            in_use: RwLock::new(Rank::TreesInUse, ()),
            doomed: Mutex::new(Rank::FreeSpace, VecDeque::new()),
            distrusts_free: AtomicBool::new(false),
            overwrites: Overwrites::default(),
            wanted: AtomicU32::new(0),
        }
    }

    pub fn file_pages(&self) -> u64 {
        // Acquire: pairs with the Release in `set_file_pages`: the file has these pages, and their map is there.
        self.file_pages.load(Ordering::Acquire)
    }

    /// The file has this many pages.
    pub fn set_file_pages(&self, pages: u64) {
        // Release: pairs with the Acquire in `file_pages`.
        self.file_pages.store(pages, Ordering::Release);
    }

    /// All maps of the file, as long as [`Space::file_pages`] said before, are in the log below this LSN. Maps that recovery found
    /// are durable: 0.
    pub fn mapped_lsn(&self) -> Lsn {
        // Relaxed: the Acquire in `file_pages`, which comes first, pairs with the Release behind the store.
        self.mapped_lsn.load(Ordering::Relaxed)
    }

    fn groups(&self) -> u64 {
        self.file_pages().div_ceil(GROUP_PAGES)
    }

    /// Pages of units that nobody owns.
    pub fn free_pages(&self) -> u64 {
        let units = self.units.lock();
        (units.ready() + units.bare()) * UNIT_PAGES
    }

    /// Pages that the owner of a tree has in use, and pages of its units that are not.
    pub fn pages_of(&self, tree: u32) -> (u64, u64) {
        let holding = self.units.lock().holding(tree);
        (holding.pages, holding.spare())
    }

    fn units_of(&self, tree: u32) -> u64 {
        self.units.lock().holding(tree).units
    }

    /// The first key was made: free pages may have plain bytes of what was there before.
    pub fn distrust_free(&self) {
        // Before the units change, so that nobody takes what is to be overwritten. Release: pairs with the Acquire in `distrusts_free`.
        self.distrusts_free.store(true, Ordering::Release);
        self.change_units(Units::distrust);
        self.want_work();
    }

    fn distrusts_free(&self) -> bool {
        self.distrusts_free.load(Ordering::Acquire) // pairs with the Release in `distrust_free`
    }

    /// Free pages that are still to be overwritten.
    fn distrusted_pages(&self) -> u64 {
        if self.distrusts_free() { self.units.lock().bare_aged() * UNIT_PAGES } else { 0 }
    }

    /// The end of the last unit that somebody owns, by the maps.
    pub fn owned_pages(&self, pool: &Pool) -> Result<PageId> {
        let mut end = 0;
        for group in 0..self.groups() {
            let view = pool.read(map_page(group))?;
            let map = Map(view.bytes());
            if let Some(unit) = (0..GROUP_UNITS).rev().find(|unit| map.owner(*unit) != 0) {
                end = map::first_page(group, unit) + UNIT_PAGES;
            }
        }
        Ok(end)
    }

    /// Learns who owns what; before anybody allocates. Nobody knows what free units have blocks. Trees that were being freed
    /// when the server ended are to be freed.
    pub fn read_maps(&self, pool: &Pool) -> Result<()> {
        let pages = self.file_pages();
        let mut doomed = VecDeque::new();
        self.change_units(|all| all.add_groups(self.groups()));
        for group in 0..self.groups() {
            let view = pool.read(map_page(group))?;
            if view.kind() != Some(PageType::Map) {
                return Err(pool.corrupt(map_page(group), "it is not the map of its group"));
            }
            let map = Map(view.bytes());
            let in_file = ((pages - group * GROUP_PAGES) / UNIT_PAGES).min(GROUP_UNITS as u64) as usize;
            self.change_units(|all| {
                for unit in 0..in_file {
                    let (owner, first) = (map.owner(unit), map::first_page(group, unit));
                    if owner == 0 {
                        all.add_bare(Run { group, first: unit, units: 1 });
                        continue;
                    }
                    all.found(owner & !DOOMED, first, map.used(unit).count_ones());
                    if owner & DOOMED != 0 {
                        // Of the root only its unit matters from here on.
                        doomed.push_back(Tree { id: owner & !DOOMED, root: first, kind: crate::TreeKind::Clustered });
                    }
                }
            });
        }
        self.change_units(Units::age_bare);
        *self.doomed.lock() = doomed;
        Ok(())
    }

    /// After [`Space::read_maps`]: is there an encrypted tree?
    pub fn has_encrypted(&self) -> bool {
        self.units.lock().has_encrypted()
    }

    /// Changes what is known of units, and tells those who ask for headroom.
    fn change_units<R>(&self, change: impl FnOnce(&mut Units) -> R) -> R {
        let mut units = self.units.lock();
        let outcome = change(&mut units);
        // Relaxed for both: written under the mutex; a number that readers need about right.
        let before = self.ready.load(Ordering::Relaxed);
        if before != units.ready() {
            self.ready.store(units.ready(), Ordering::Relaxed);
        }
        let runs_low = units.ready() < growth::LOW_UNITS && before >= growth::LOW_UNITS;
        drop(units);
        if runs_low {
            self.want_work();
        }
        outcome
    }

    // ---- pages

    /// Takes a page. Latches of other pages may be held: there is a frame for it, and maps are in memory.
    pub fn allocate<'p>(
        &self,
        pool: &'p Pool,
        frame: Frame<'p>,
        mtr: &mut Mtr,
        place: Place,
    ) -> Result<Allocation<'p>> {
        let (mut map, page) = self.find(pool, mtr, place)?.ok_or(Error::DiskFull)?;
        map::set_used(mtr, &mut map, page, true);
        self.change_units(|units| units.page_taken(place.owner, page));
        Ok(Allocation { page: pool.create(page, frame), map })
    }

    /// A page of the owner's that is not in use, and its map, latched.
    fn find<'p>(&self, pool: &'p Pool, mtr: &mut Mtr, place: Place) -> Result<Option<(Exclusive<'p>, PageId)>> {
        let owner = place.owner;
        let holding = self.units.lock().holding(owner);
        let near = place.near.unwrap_or(holding.cursor);
        if holding.spare() > 0 {
            if let Some(found) = Self::find_near(pool, owner, near)? {
                return Ok(Some(found));
            }
            // Where more will follow an extent is better than gaps, while these are few.
            let scattered = place.rising && holding.is_large() && holding.spare() * 8 < holding.units * UNIT_PAGES;
            if !scattered && let Some(found) = self.find_from(pool, owner, holding.cursor)? {
                return Ok(Some(found));
            }
        }
        if let Some(found) = self.take_units(pool, mtr, owner, near)? {
            return Ok(Some(found));
        }
        self.find_from(pool, owner, holding.cursor)
    }

    /// In the extent of a page, its own unit and those behind it first.
    fn find_near(pool: &Pool, owner: u32, near: PageId) -> Result<Option<(Exclusive<'_>, PageId)>> {
        let (group, unit) = (group_of(near), unit_of(near));
        let extent = unit - unit % EXTENT_UNITS;
        let latched = pool.exclusive(map_page(group))?;
        let map = Map(latched.bytes());
        let spare = map.spare(owner, unit, extent + EXTENT_UNITS).or_else(|| map.spare(owner, extent, unit));
        Ok(spare.map(|at| (latched, group * GROUP_PAGES + at)))
    }

    /// From a page on, and then from the first one.
    fn find_from<'p>(&self, pool: &'p Pool, owner: u32, from: PageId) -> Result<Option<(Exclusive<'p>, PageId)>> {
        let groups = self.groups();
        for turn in 0..=groups.min(SCAN_GROUPS_MAX) {
            let group = (group_of(from) + turn) % groups;
            let unit = if turn == 0 { unit_of(from) } else { 0 };
            // A look first, at bytes that may change: it only says which map is worth its latch.
            if Map(pool.read(map_page(group))?.bytes()).spare(owner, unit, GROUP_UNITS).is_none() {
                continue;
            }
            let map = pool.exclusive(map_page(group))?;
            if let Some(at) = Map(map.bytes()).spare(owner, unit, GROUP_UNITS) {
                return Ok(Some((map, group * GROUP_PAGES + at)));
            }
        }
        Ok(None)
    }

    /// Gives new units to an owner: a unit to a small one, an extent to others unless room is short.
    fn take_units<'p>(
        &self,
        pool: &'p Pool,
        mtr: &mut Mtr,
        owner: u32,
        near: PageId,
    ) -> Result<Option<(Exclusive<'p>, PageId)>> {
        let run = self.change_units(|units| {
            let plenty = units.ready() >= growth::HEADROOM_UNITS + EXTENT_UNITS as u64;
            let extent = if units.holding(owner).is_large() && plenty { units.claim_extent(near) } else { None };
            extent.or_else(|| units.claim_unit(near))
        });
        let Some(run) = run else { return Ok(None) };
        let mut map = pool.exclusive(map_page(run.group))?;
        map::give(mtr, &mut map, run.first, run.units, owner);
        self.change_units(|units| units.given(owner, run));
        Ok(Some((map, run.pages().start)))
    }

    /// Frees a page that is latched and that nothing refers to any more. Returns the latched map, to be committed along.
    pub fn free<'p>(&self, pool: &'p Pool, mtr: &mut Mtr, page: &mut Exclusive<'_>) -> Result<Exclusive<'p>> {
        let unit = unit_of(page.id);
        let mut map = pool.exclusive(map_page(group_of(page.id)))?;
        let owner = Map(map.bytes()).owner(unit);
        assert!(owner & DOOMED == 0, "page {} is freed of a tree that is gone", page.id);
        map::set_used(mtr, &mut map, page.id, false);
        let whole = Map(map.bytes()).used(unit) == 0;
        if whole {
            map::set_owner(mtr, &mut map, unit, 0);
        }
        mtr.write(page, OFF_TYPE, &[PageType::Free as u8]);
        // Whoever is given the unit now waits for the map, and so for the mini-transaction that frees it.
        self.change_units(|units| units.page_freed(owner, page.id, whole));
        Ok(map)
    }

    /// Is the page in use, in a unit with this owner word?
    pub fn is_owned(&self, pool: &Pool, owner: u32, page: PageId) -> Result<bool> {
        if page >= self.file_pages() {
            return Ok(false);
        }
        loop {
            let view = pool.read(map_page(group_of(page)))?;
            let map = Map(view.bytes());
            let owned = map.owner(unit_of(page)) == owner && map.is_used(page);
            if view.validate() {
                return Ok(owned);
            }
        }
    }

    /// Is the page the tree's, and the tree not being freed? Asked before pages are read that may be anybody's since, or gone
    /// from the file.
    pub fn has(&self, pool: &Pool, tree: Tree, page: PageId) -> Result<bool> {
        Ok(self.is_owned(pool, tree.id, tree.root)? && self.is_owned(pool, tree.id, page)?)
    }

    /// Purge and rollback, which no metadata lock keeps apart from a drop, hold this for one change and first ask whether the
    /// tree is there: as long as they do, no page of a tree that was is freed.
    pub fn keep_trees(&self) -> RwLockReadGuard<'_, ()> {
        self.in_use.read()
    }

    /// Gives up a tree that nobody uses any more: from here on it is gone for everybody, and its pages are freed by the task in
    /// [`reclaim`], also after a crash. A tree that is gone already is left alone.
    pub fn doom(&self, pool: &Pool, log: &Log, tree: Tree) -> Result<()> {
        if !self.is_owned(pool, tree.id, tree.root)? {
            return Ok(());
        }
        log.ensure_room_critical(4096)?;
        let mut map = pool.exclusive(map_page(group_of(tree.root)))?;
        let mut mtr = Mtr::new();
        map::set_owner(&mut mtr, &mut map, unit_of(tree.root), tree.id | DOOMED);
        mtr.commit(log, &mut [&mut map]);
        drop(map);
        self.doomed.lock().push_back(tree);
        self.want_work();
        Ok(())
    }
}
