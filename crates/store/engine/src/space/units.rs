//! What is known in memory of free units, and of what each tree has. The maps say who owns what; this says where to look, and
//! which free units have blocks in the file system.
//!
//! ```text
//!            claim                 release
//!   ready ─────────► owned ─────────────────► ready        ready: has blocks, may be given at once
//!     │  ▲                                                 bare:  may have none: to be backed before it is given
//!     │  └── backing, growth ── bare ◄── start             aged:  a free unit that may go back to the file system
//!     └───── punching ──────────► bare                            once the checkpoint has passed the LSN of its aging
//! ```
//!
//! A unit that is being backed or punched is neither ready nor bare, so nobody else touches it.

use super::map::{EXTENT_UNITS, GROUP_UNITS, OWNER_SYSTEM, UNIT_PAGES, first_page, group_of, unit_of};
use crate::page::{ENCRYPTED, PageId};
use std::collections::HashMap;
use std::ops::Range;

/// Neighbouring units of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    pub group: u64,
    pub first: usize,
    pub units: usize,
}

impl Run {
    pub fn pages(self) -> Range<PageId> {
        first_page(self.group, self.first)..first_page(self.group, self.first + self.units)
    }

    fn range(self) -> Range<usize> {
        self.first..self.first + self.units
    }

    /// The halves of a run of more than one unit.
    pub fn halves(self) -> [Run; 2] {
        let half = self.units / 2;
        [Run { units: half, ..self }, Run { first: self.first + half, units: self.units - half, ..self }]
    }
}

/// What an owner has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Holding {
    pub units: u64,
    /// Pages in use.
    pub pages: u64,
    /// From here on its spare pages are looked for: the last page that it was given, or a lower one that it gave back since.
    pub cursor: PageId,
}

impl Holding {
    /// Pages of its own that are not in use.
    pub fn spare(self) -> u64 {
        self.units * UNIT_PAGES - self.pages
    }

    /// Does it get extents rather than single units?
    pub fn is_large(self) -> bool {
        self.units >= EXTENT_UNITS as u64
    }
}

/// A set of a group's units.
#[derive(Clone)]
struct Bits([u64; GROUP_UNITS / 64]);

impl Bits {
    fn empty() -> Bits {
        Bits([0; GROUP_UNITS / 64])
    }

    fn has(&self, unit: usize) -> bool {
        self.0[unit / 64] & 1 << (unit % 64) != 0
    }

    fn set(&mut self, units: Range<usize>, on: bool) {
        for unit in units {
            let bit = 1 << (unit % 64);
            if on { self.0[unit / 64] |= bit } else { self.0[unit / 64] &= !bit }
        }
    }

    /// The first unit of the set from `from` on.
    fn next(&self, from: usize) -> Option<usize> {
        let words = self.0.iter().enumerate().skip(from / 64);
        let masked = words.map(|(at, word)| (at, if at == from / 64 { word & u64::MAX << (from % 64) } else { *word }));
        masked.into_iter().find(|(_, word)| *word != 0).map(|(at, word)| at * 64 + word.trailing_zeros() as usize)
    }

    /// The first whole extent of the set from extent `from` on: its first unit.
    fn next_extent(&self, from: usize) -> Option<usize> {
        const WHOLE: u64 = (1 << EXTENT_UNITS) - 1;
        let whole = |unit: &usize| self.0[unit / 64] >> (unit % 64) & WHOLE == WHOLE;
        (from * EXTENT_UNITS..GROUP_UNITS).step_by(EXTENT_UNITS).find(whole)
    }
}

#[derive(Clone)]
struct Group {
    ready: Bits,
    bare: Bits,
    aged: Bits,
    /// How many are in `ready`.
    ready_units: usize,
}

#[derive(Default)]
pub struct Units {
    groups: Vec<Group>,
    holdings: HashMap<u32, Holding>,
    ready: u64,
    bare: u64,
}

impl Units {
    /// Units that may be given at once.
    pub fn ready(&self) -> u64 {
        self.ready
    }

    /// Units that nobody owns and that may have no blocks.
    pub fn bare(&self) -> u64 {
        self.bare
    }

    /// Does a tree own units whose pages are encrypted?
    pub fn has_encrypted(&self) -> bool {
        self.holdings.keys().any(|owner| *owner != OWNER_SYSTEM && owner & ENCRYPTED != 0)
    }

    pub fn holding(&self, owner: u32) -> Holding {
        self.holdings.get(&owner).copied().unwrap_or_default()
    }

    /// The groups are at least this many from now on.
    pub fn add_groups(&mut self, groups: u64) {
        let none = Group { ready: Bits::empty(), bare: Bits::empty(), aged: Bits::empty(), ready_units: 0 };
        let groups = self.groups.len().max(groups as usize);
        self.groups.resize(groups, none);
    }

    /// An owner has a unit with so many pages in use, as a map says.
    pub fn found(&mut self, owner: u32, unit: PageId, used: u32) {
        let holding = self.holdings.entry(owner).or_insert(Holding { cursor: unit, ..Holding::default() });
        holding.units += 1;
        holding.pages += u64::from(used);
    }

    // ---- units are given and taken back

    /// Takes a unit out of the ready ones; the one right behind `near` if it is, else the lowest.
    pub fn claim_unit(&mut self, near: PageId) -> Option<Run> {
        let (group, unit) = (group_of(near), unit_of(near) + 1);
        let behind = self.groups.get(group as usize).is_some_and(|g| unit < GROUP_UNITS && g.ready.has(unit));
        if behind {
            return Some(self.claim(Run { group, first: unit, units: 1 }));
        }
        let at = self.groups.iter().position(|group| group.ready_units > 0)?;
        let first = self.groups[at].ready.next(0).expect("counted");
        Some(self.claim(Run { group: at as u64, first, units: 1 }))
    }

    /// Takes an extent of ready units: the next one behind `near` in its group, else the lowest.
    pub fn claim_extent(&mut self, near: PageId) -> Option<Run> {
        let next = |group: u64, from: usize| {
            let first = self.groups.get(group as usize)?.ready.next_extent(from)?;
            Some(Run { group, first, units: EXTENT_UNITS })
        };
        let lowest = || {
            let mut groups = self.groups.iter().enumerate().filter(|(_, group)| group.ready_units >= EXTENT_UNITS);
            groups.find_map(|(at, _)| next(at as u64, 0))
        };
        let run = next(group_of(near), unit_of(near) / EXTENT_UNITS + 1).or_else(lowest)?;
        Some(self.claim(run))
    }

    fn claim(&mut self, run: Run) -> Run {
        let group = &mut self.groups[run.group as usize];
        group.ready.set(run.range(), false);
        group.aged.set(run.range(), false);
        group.ready_units -= run.units;
        self.ready -= run.units as u64;
        run
    }

    /// Units that were claimed are the owner's.
    pub fn given(&mut self, owner: u32, run: Run) {
        self.holdings.entry(owner).or_default().units += run.units as u64;
    }

    /// An owner has put a page of its own to use.
    pub fn page_taken(&mut self, owner: u32, page: PageId) {
        let holding = self.holdings.get_mut(&owner).expect("it has units");
        holding.pages += 1;
        holding.cursor = page;
    }

    /// An owner has given back a page; its unit, too, if `whole`.
    pub fn page_freed(&mut self, owner: u32, page: PageId, whole: bool) {
        let holding = self.holdings.get_mut(&owner).expect("it has units");
        holding.pages -= 1;
        holding.cursor = holding.cursor.min(page);
        if whole {
            holding.units -= 1;
            self.add_ready(Run { group: group_of(page), first: unit_of(page), units: 1 });
        }
        self.forget_empty(owner);
    }

    /// All units that an owner had in a group are free.
    pub fn cleared(&mut self, owner: u32, group: u64, units: &[usize], pages: u64) {
        let holding = self.holdings.get_mut(&owner).expect("it has units");
        holding.units -= units.len() as u64;
        holding.pages -= pages;
        self.forget_empty(owner);
        for unit in units {
            self.add_ready(Run { group, first: *unit, units: 1 });
        }
    }

    fn forget_empty(&mut self, owner: u32) {
        if self.holding(owner).units == 0 {
            self.holdings.remove(&owner);
        }
    }

    // ---- which free units have blocks

    /// Free units have blocks.
    pub fn add_ready(&mut self, run: Run) {
        let group = &mut self.groups[run.group as usize];
        debug_assert!(
            run.range().all(|unit| !group.ready.has(unit) && !group.bare.has(unit)),
            "{run:?} is free already"
        );
        group.ready.set(run.range(), true);
        group.ready_units += run.units;
        self.ready += run.units as u64;
    }

    /// Free units may have no blocks.
    pub fn add_bare(&mut self, run: Run) {
        let group = &mut self.groups[run.group as usize];
        debug_assert!(
            run.range().all(|unit| !group.ready.has(unit) && !group.bare.has(unit)),
            "{run:?} is free already"
        );
        group.bare.set(run.range(), true);
        self.bare += run.units as u64;
    }

    /// Takes up to `units_max` neighbouring bare units out, the lowest from `from` on, to be backed; `but_aged`: none that waits for being
    /// punched.
    pub fn take_bare(&mut self, from: PageId, units_max: usize, but_aged: bool) -> Option<Run> {
        let mut unit = unit_of(from);
        for group in group_of(from)..self.groups.len() as u64 {
            let bits = &mut self.groups[group as usize];
            let may_go = |at: &usize| bits.bare.has(*at) && !(but_aged && bits.aged.has(*at));
            let first = std::iter::successors(bits.bare.next(unit), |at| bits.bare.next(at + 1)).find(may_go);
            if let Some(first) = first {
                let units = (first..GROUP_UNITS.min(first + units_max)).take_while(may_go).count();
                let run = Run { group, first, units };
                bits.bare.set(run.range(), false);
                bits.aged.set(run.range(), false);
                self.bare -= units as u64;
                return Some(run);
            }
            unit = 0;
        }
        None
    }

    /// All units that are free now are aged.
    pub fn age(&mut self) {
        for group in &mut self.groups {
            for (aged, ready) in group.aged.0.iter_mut().zip(group.ready.0) {
                *aged |= ready;
            }
        }
    }

    /// Bare units of a former life may have blocks all the same: they are aged too.
    pub fn age_bare(&mut self) {
        for group in &mut self.groups {
            group.aged = group.bare.clone();
        }
    }

    /// No free unit is known to have nothing of a former owner: as at the start.
    pub fn distrust(&mut self) {
        for group in &mut self.groups {
            for (bare, ready) in group.bare.0.iter_mut().zip(group.ready.0) {
                *bare |= ready;
            }
            self.ready -= group.ready_units as u64;
            self.bare += group.ready_units as u64;
            (group.ready, group.ready_units) = (Bits::empty(), 0);
        }
        self.age_bare();
    }

    /// Bare units that wait for being punched.
    pub fn bare_aged(&self) -> u64 {
        let both = |group: &Group| {
            group.bare.0.iter().zip(group.aged.0).map(|(bare, aged)| (bare & aged).count_ones()).sum::<u32>()
        };
        self.groups.iter().map(|group| u64::from(both(group))).sum()
    }

    /// Takes neighbouring aged units out, the highest ones, to be punched, and says whether they were bare. Of ready ones it leaves `keep`.
    pub fn take_aged(&mut self, keep: u64, units_max: usize) -> Option<(Run, bool)> {
        let spare = self.ready.saturating_sub(keep) as usize;
        for (at, group) in self.groups.iter_mut().enumerate().rev() {
            let may_go = |unit: usize| group.aged.has(unit) && (group.bare.has(unit) || spare > 0);
            let Some(last) = (0..GROUP_UNITS).rev().find(|unit| may_go(*unit)) else { continue };
            let ready = group.ready.has(last);
            let most = if ready { units_max.min(spare) } else { units_max };
            let same = |unit: &usize| may_go(*unit) && group.ready.has(*unit) == ready;
            let units = (0..=last).rev().take(most).take_while(same).count();
            let run = Run { group: at as u64, first: last + 1 - units, units };
            group.aged.set(run.range(), false);
            if ready {
                self.claim(run);
            } else {
                group.bare.set(run.range(), false);
                self.bare -= units as u64;
            }
            return Some((run, !ready));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_ready(units: Range<usize>) -> Units {
        let mut all = Units::default();
        all.add_groups(2);
        all.add_ready(Run { group: 0, first: units.start, units: units.len() });
        all
    }

    #[test]
    fn extents_are_whole_and_rise() {
        let mut units = with_ready(1..70);
        let near = first_page(0, 17);
        assert_eq!(units.claim_extent(near).unwrap().range(), 32..48);
        assert_eq!(units.claim_extent(first_page(0, 40)).unwrap().range(), 48..64);
        assert_eq!(units.claim_extent(first_page(0, 60)).unwrap().range(), 16..32);
        assert_eq!(units.claim_extent(near), None);
        assert_eq!(units.claim_unit(first_page(0, 3)).unwrap().range(), 4..5);
        assert_eq!(units.claim_unit(first_page(0, 20)).unwrap().range(), 1..2);
        assert_eq!(units.ready(), 69 - 48 - 2);
    }

    #[test]
    fn what_is_punched_is_high_and_aged_and_more_than_is_kept() {
        let mut units = with_ready(1..100);
        assert_eq!(units.take_aged(10, 64), None);
        units.age();
        let given = units.claim_unit(first_page(0, 97)).unwrap();
        units.add_ready(given); // free again, and young
        assert_eq!(units.take_aged(10, 64).unwrap().0.range(), 99..100);
        let (run, was_bare) = units.take_aged(10, 64).unwrap();
        assert!(!was_bare);
        assert_eq!(run.range(), 34..98);
        units.add_bare(run);
        assert_eq!(units.take_aged(10, 64).unwrap().0.range(), 10..34);
        assert_eq!((units.take_aged(10, 64), units.ready()), (None, 10));
        assert_eq!(units.take_bare(0, 16, false).unwrap().range(), 34..50);
        assert_eq!(units.take_bare(first_page(0, 60), 100, false).unwrap().range(), 60..98);
        assert_eq!(units.bare(), 10);
    }

    #[test]
    fn what_is_distrusted_is_punched_before_it_is_backed() {
        let mut units = with_ready(1..100);
        units.claim_unit(first_page(0, 49)).unwrap();
        units.distrust();
        assert_eq!((units.ready(), units.bare(), units.bare_aged()), (0, 98, 98));
        assert_eq!(units.take_bare(0, 16, true), None);
        let (run, was_bare) = units.take_aged(1000, 20).unwrap();
        assert_eq!((run.range(), was_bare), (80..100, true));
        units.add_bare(run);
        assert_eq!(units.take_bare(0, 16, true).unwrap().range(), 80..96);
        assert_eq!(units.take_bare(0, 16, false).unwrap().range(), 1..17);
        assert_eq!((units.bare(), units.bare_aged()), (66, 62));
    }
}
