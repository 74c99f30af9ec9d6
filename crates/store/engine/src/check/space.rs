//! The maps against the pages that were reached.

use super::{Checker, Reached};
use crate::page::node::Node;
use crate::page::{self, PageId, PageType};
use crate::space::{DOOMED, GROUP_PAGES, Map, OWNER_SYSTEM, UNIT_PAGES, map_page, unit_of};
use std::collections::{BTreeMap, BTreeSet};

/// By what they are and whose: how many, and the first.
type Lost = BTreeMap<(String, Option<u32>), (u64, PageId)>;

impl Checker<'_> {
    pub(super) fn space(&mut self) {
        let pages = self.reached.len() as u64;
        let mut maps = Vec::new();
        for group in 0..pages.div_ceil(GROUP_PAGES) {
            maps.push(self.reach(map_page(group), PageType::Map, Reached::Map));
        }
        let owners =
            maps.iter().flatten().flat_map(|map| (0..unit_of(GROUP_PAGES - 1) + 1).map(|unit| Map(map).owner(unit)));
        // What these have left is not reached, and is no loss.
        let doomed: BTreeSet<u32> = owners.filter(|owner| owner & DOOMED != 0).map(|owner| owner & !DOOMED).collect();
        let mut lost = Lost::new();
        for (group, map) in maps.iter().enumerate() {
            let Some(map) = map else { continue };
            for first in (0..GROUP_PAGES).step_by(UNIT_PAGES as usize) {
                self.unit(group as u64 * GROUP_PAGES + first, Map(map), &doomed, &mut lost);
            }
        }
        for ((what, tree), (count, first)) in lost {
            self.say(
                Some(first),
                tree,
                format!("nothing leads to {count} allocated pages of type {what}, this the first"),
            );
        }
    }

    fn unit(&mut self, first: PageId, map: Map<'_>, doomed: &BTreeSet<u32>, lost: &mut Lost) {
        let owner = map.owner(unit_of(first));
        if first >= self.reached.len() as u64 {
            if owner != 0 {
                self.say(Some(first), None, "its unit has an owner, and is past the end of the file");
            }
            return;
        }
        if owner == 0 && map.used(unit_of(first)) != 0 {
            self.say(Some(first), None, "its unit has no owner, and pages in use");
        }
        for id in first..first + UNIT_PAGES {
            let is_doomed = doomed.contains(&(owner & !DOOMED));
            match (map.is_used(id), self.reached[id as usize]) {
                (true, None) if is_doomed => continue,
                (true, None) => self.unreached(id, owner, lost),
                (true, Some(how)) => self.owned(id, how, owner),
                (false, Some(how)) => self.say(Some(id), None, format!("it is {how}, and free by the map")),
                (false, None) => continue,
            }
            self.report.pages_allocated += map.is_used(id) as u64;
        }
    }

    fn owned(&mut self, id: PageId, how: Reached, owner: u32) {
        let expected = match how {
            Reached::Node(tree) | Reached::Chain(tree) => tree,
            _ => OWNER_SYSTEM,
        };
        if owner != expected {
            self.say(Some(id), None, format!("it is {how}, in a unit of owner {owner}"));
        }
    }

    fn unreached(&mut self, id: PageId, owner: u32, lost: &mut Lost) {
        let Some(page) = self.page(id) else { return };
        let kind = page::page_type(&page);
        // A long value of which no undo record says: see [`crate::overflow`].
        if kind == Some(PageType::Overflow) && self.made.contains(&owner) {
            return;
        }
        if let Some(kind @ (PageType::Undo | PageType::UndoSegment)) = kind {
            self.report.leaked.push((id, kind));
            return;
        }
        let what = kind.map_or_else(|| page[page::OFF_TYPE].to_string(), |kind| format!("{kind:?}"));
        let tree = Node(&page).is_node().then(|| Node(&page).tree());
        lost.entry((what, tree)).or_insert((0, id)).0 += 1;
    }
}
