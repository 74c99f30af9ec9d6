//! The map of a group of pages: who owns each unit of four pages, and which pages are in use.
//!
//! ```text
//!  0..64 common header (PageType::Map)
//!  64     owner u32 x 3,584      0: the unit is free; a tree's id; OWNER_SYSTEM: undo, directories, maps
//!                                bit 31: the tree whose root lies here is being freed
//!  14400  one bit a page x 14,336
//!  16192  zero
//! ```
//!
//! A free unit has no page in use; a unit with an owner may have none yet. Both arrays stand on one page, so that a page is
//! given or taken back with one latch. A group is 224 MiB, the maps of a terabyte are 73 MiB.

use crate::mtr::Mtr;
use crate::page::{self, HEADER_BYTES, PAGE_BYTES, PageId, PageType, get_u32};
use crate::pool::Exclusive;

pub const UNIT_PAGES: u64 = 4;
/// Units of a group. With `--cfg small_groups` (`make simulate`) few, so that short runs pass from group to group.
pub const GROUP_UNITS: usize = if cfg!(small_groups) { 64 } else { 3584 };
/// Pages that one map speaks for.
pub const GROUP_PAGES: u64 = GROUP_UNITS as u64 * UNIT_PAGES;
/// What a tree that is no longer small is given at a time: 1 MiB, aligned.
pub const EXTENT_UNITS: usize = 16;

/// Owner of what belongs to no tree.
pub const OWNER_SYSTEM: u32 = !DOOMED;
/// Set in the owner of the root's unit: the tree is to be freed, and nobody uses it any more.
pub const DOOMED: u32 = 1 << 31;

pub const OWNERS_AT: usize = HEADER_BYTES;
const USED_AT: usize = OWNERS_AT + GROUP_UNITS * 4;
const USED_BYTES: usize = GROUP_UNITS / 2;
const _: () = assert!(USED_AT + USED_BYTES <= PAGE_BYTES);
const _: () = assert!(GROUP_UNITS.is_multiple_of(64) && 64 % EXTENT_UNITS == 0);

/// The page of a group's map: the second of the group.
pub fn map_page(group: u64) -> PageId {
    group * GROUP_PAGES + 1
}

/// Is this page a map? Once read, at the start, maps are never evicted.
pub fn is_map(page: PageId) -> bool {
    page % GROUP_PAGES == 1
}

pub fn group_of(page: PageId) -> u64 {
    page / GROUP_PAGES
}

/// The unit of a page within its group.
pub fn unit_of(page: PageId) -> usize {
    (page % GROUP_PAGES / UNIT_PAGES) as usize
}

/// The first page of a unit.
pub fn first_page(group: u64, unit: usize) -> PageId {
    group * GROUP_PAGES + unit as u64 * UNIT_PAGES
}

/// Formats the map of a new group, in which the system owns the first unit and has the map's own page in use; in group 0 also
/// the other fixed pages, and tree 1 its root.
pub fn format_map(bytes: &mut [u8], group: u64) {
    page::init(bytes, map_page(group), PageType::Map, 0);
    page::put_u32(bytes, OWNERS_AT, OWNER_SYSTEM);
    bytes[USED_AT] = 0b0010;
    if group == 0 {
        page::put_u32(bytes, OWNERS_AT + 4, super::DICTIONARY_TREE);
        bytes[USED_AT] = 0b0001_0111;
    }
}

/// A map's bytes, latched or to be validated.
#[derive(Clone, Copy)]
pub struct Map<'b>(pub &'b [u8]);

impl Map<'_> {
    pub fn owner(self, unit: usize) -> u32 {
        get_u32(self.0, OWNERS_AT + unit * 4)
    }

    /// The unit's pages in use, a bit each.
    pub fn used(self, unit: usize) -> u8 {
        self.0[USED_AT + unit / 2] >> (unit % 2 * UNIT_PAGES as usize) & 0xF
    }

    pub fn is_used(self, page: PageId) -> bool {
        self.used(unit_of(page)) & 1 << (page % UNIT_PAGES) != 0
    }

    /// Units from `from` on with exactly this owner word.
    pub fn units_of(self, owner: u32, from: usize) -> impl Iterator<Item = usize> {
        let owners = &self.0[OWNERS_AT + from * 4..USED_AT];
        let word = owner.to_le_bytes();
        owners.chunks_exact(4).enumerate().filter(move |(_, bytes)| **bytes == word).map(move |(at, _)| from + at)
    }

    /// The first page of the owner's from unit `from` on that is not in use: its place within the group.
    pub fn spare(self, owner: u32, from: usize, to: usize) -> Option<u64> {
        let unit = self.units_of(owner, from).take_while(|unit| *unit < to).find(|unit| self.used(*unit) != 0xF)?;
        Some(unit as u64 * UNIT_PAGES + u64::from(self.used(unit).trailing_ones()))
    }
}

/// Gives units that nobody owns to an owner.
pub fn give(mtr: &mut Mtr, map: &mut Exclusive<'_>, first: usize, units: usize, owner: u32) {
    let at = OWNERS_AT + first * 4;
    assert!(map.bytes()[at..at + units * 4].iter().all(|b| *b == 0), "unit {first} of map {} has an owner", map.id);
    mtr.write(map, at, &owner.to_le_bytes().repeat(units));
}

/// Puts another owner in the place of a unit's.
pub fn set_owner(mtr: &mut Mtr, map: &mut Exclusive<'_>, unit: usize, owner: u32) {
    mtr.write(map, OWNERS_AT + unit * 4, &owner.to_le_bytes());
}

pub fn set_used(mtr: &mut Mtr, map: &mut Exclusive<'_>, page: PageId, on: bool) {
    let unit = unit_of(page);
    let mask = 1 << (page % UNIT_PAGES) << (unit % 2 * UNIT_PAGES as usize);
    let byte = map.bytes()[USED_AT + unit / 2];
    assert_eq!(byte & mask == 0, on, "page {page} is in use: {}", !on);
    mtr.write(map, USED_AT + unit / 2, &[byte ^ mask]);
}

/// Makes all units with this owner word free, whatever pages of theirs are in use. Returns the units.
pub fn clear(mtr: &mut Mtr, map: &mut Exclusive<'_>, owner: u32) -> Vec<usize> {
    let units: Vec<usize> = Map(map.bytes()).units_of(owner, 0).collect();
    let (Some(first), Some(last)) = (units.first().copied(), units.last().copied()) else { return units };
    // Two writes for all of them, which say again what stands in between: the map is latched.
    let mut owners = map.bytes()[OWNERS_AT + first * 4..OWNERS_AT + (last + 1) * 4].to_vec();
    let mut used = map.bytes()[USED_AT + first / 2..=USED_AT + last / 2].to_vec();
    for unit in &units {
        owners[(unit - first) * 4..][..4].fill(0);
        used[unit / 2 - first / 2] &= if unit % 2 == 0 { 0xF0 } else { 0x0F };
    }
    mtr.write(map, OWNERS_AT + first * 4, &owners);
    mtr.write(map, USED_AT + first / 2, &used);
    units
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spare_pages_are_found_in_the_owners_units_only() {
        let mut bytes = vec![0; PAGE_BYTES];
        format_map(&mut bytes, 1);
        assert_eq!(Map(&bytes).owner(0), OWNER_SYSTEM);
        assert_eq!(Map(&bytes).spare(OWNER_SYSTEM, 0, GROUP_UNITS), Some(0));
        page::put_u32(&mut bytes, OWNERS_AT + 5 * 4, 77);
        page::put_u32(&mut bytes, OWNERS_AT + 9 * 4, 77);
        bytes[USED_AT + 2] = 0xF0;
        assert_eq!(Map(&bytes).used(5), 0xF);
        assert_eq!(Map(&bytes).spare(77, 0, GROUP_UNITS), Some(36));
        assert_eq!(Map(&bytes).spare(77, 0, 9), None);
        assert!(Map(&bytes).is_used(first_page(1, 5) + 3) && !Map(&bytes).is_used(first_page(1, 9)));
    }
}
