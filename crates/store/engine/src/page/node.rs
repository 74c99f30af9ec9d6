//! Slotted B+tree nodes: sorted slots after the header, keys and values growing down from the end.
//!
//! ```text
//!  0       64      64 + slack               + 10 * slots   heap low                                16384
//!  +-------+-------+--------+--------+-----+--------------+---------------+-------------+-----------+
//!  | header| slack | slot 0 | slot 1 | ... |  gap         | key 1 value 1 | key 0 val 0 |  fences   |
//!  +-------+-------+--------+--------+-----+--------------+---------------+-------------+-----------+
//!  slot: head u32 | offset u16 | key length u16 | value length u16
//! ```
//!
//! The slots may grow into the slack or into the gap: an insertion or removal moves those on its shorter side, a quarter of
//! them on average, and so takes half of the cache lines from other cores that moving all behind it would.
//!
//! A node covers keys in [lower fence, upper fence); no fence (length 0xFFFF) means unbounded. All its keys share the common
//! prefix of the two fences, which is stored once, in the lower fence; slots hold the rest. `head` is the first four bytes of
//! that rest as a big-endian number, so that most comparisons touch the slot array only. In an inner node the entry of slot
//! `i` is (separator, child page id): the child holds keys at or above the separator; word A is the leftmost child.
//!
//! Reading functions work on pages that may change underneath (optimistic lock coupling): they check every offset, never
//! panic on a torn page, and answer [`Torn`]; the caller validates the page's version before it believes any result.

use super::{
    HEADER_BYTES, OFF_LEVEL, OFF_TREE, OFF_WORD_A, PAGE_BYTES, PageId, PageType, get_u16, get_u32, get_u64, init,
    put_u16, put_u32, put_u64,
};
use std::cmp::Ordering;

pub(super) const OFF_SLOTS: usize = 28;
pub(super) const OFF_HEAP: usize = 30;
pub(super) const OFF_DEAD: usize = 32;
const OFF_PREFIX: usize = 34;
pub(super) const OFF_LOWER: usize = 36;
pub(super) const OFF_UPPER: usize = 40;
const OFF_SLACK: usize = 44;

pub const SLOT_BYTES: usize = 10;
/// Slack of a node that has plenty of room.
const SLACK_BYTES: usize = 32 * SLOT_BYTES;
/// A fence of this length is no fence.
const UNBOUNDED: u16 = 0xFFFF;
/// What a fresh node offers to fences, slots and cells.
pub const NODE_BYTES: usize = PAGE_BYTES - HEADER_BYTES;
/// The longest key and value together that a node takes. Two such cells and two fences of [`crate::KEY_BYTES_MAX`] fit in
/// one node, so a split always makes room.
pub const CELL_BYTES_MAX: usize = 3900;

const _: () = assert!(2 * crate::KEY_BYTES_MAX + 2 * (CELL_BYTES_MAX + SLOT_BYTES) <= NODE_BYTES);

/// The page changed while it was read: start again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Torn;

pub type Read<T> = Result<T, Torn>;

/// A node for reading, possibly while others write to it.
#[derive(Clone, Copy)]
pub struct Node<'a>(pub &'a [u8]);

#[inline(always)]
pub(super) fn head_of(rest: &[u8]) -> u32 {
    match rest {
        [a, b, c, d, ..] => u32::from_be_bytes([*a, *b, *c, *d]),
        [a, b, c] => u32::from_be_bytes([*a, *b, *c, 0]),
        [a, b] => u32::from_be_bytes([*a, *b, 0, 0]),
        [a] => u32::from_be_bytes([*a, 0, 0, 0]),
        [] => 0,
    }
}

impl<'a> Node<'a> {
    #[inline(always)]
    fn slice(self, at: usize, len: usize) -> Read<&'a [u8]> {
        self.0.get(at..at + len).ok_or(Torn)
    }

    #[inline(always)]
    pub fn is_leaf(self) -> bool {
        self.0[super::OFF_TYPE] == PageType::Leaf as u8
    }

    pub fn is_node(self) -> bool {
        let kind = self.0[super::OFF_TYPE];
        kind == PageType::Leaf as u8 || kind == PageType::Inner as u8
    }

    pub fn level(self) -> u8 {
        self.0[OFF_LEVEL]
    }

    pub fn tree(self) -> u32 {
        get_u32(self.0, OFF_TREE)
    }

    /// Number of slots, bounded by what a page can hold even when torn.
    #[inline(always)]
    pub fn len(self) -> usize {
        (get_u16(self.0, OFF_SLOTS) as usize).min(NODE_BYTES / SLOT_BYTES)
    }

    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    pub fn prefix_len(self) -> usize {
        get_u16(self.0, OFF_PREFIX) as usize
    }

    pub(super) fn fence(self, at: usize) -> Read<Option<&'a [u8]>> {
        let len = get_u16(self.0, at + 2);
        if len == UNBOUNDED {
            return Ok(None);
        }
        self.slice(get_u16(self.0, at) as usize, len as usize).map(Some)
    }

    pub fn lower_fence(self) -> Read<Option<&'a [u8]>> {
        self.fence(OFF_LOWER)
    }

    pub fn upper_fence(self) -> Read<Option<&'a [u8]>> {
        self.fence(OFF_UPPER)
    }

    /// The bytes that every key of the node begins with.
    #[inline(always)]
    pub fn prefix(self) -> Read<&'a [u8]> {
        let len = self.prefix_len();
        if len == 0 {
            return Ok(&[]);
        }
        self.slice(get_u16(self.0, OFF_LOWER) as usize, len)
    }

    #[inline(always)]
    fn slack(self) -> usize {
        get_u16(self.0, OFF_SLACK) as usize
    }

    #[inline(always)]
    pub(super) fn slot_at(self, i: usize) -> usize {
        HEADER_BYTES + self.slack() + i * SLOT_BYTES
    }

    #[inline(always)]
    pub(super) fn cell(self, i: usize) -> Read<(usize, usize, usize)> {
        let slot = self.slice(self.slot_at(i) + 4, 6)?;
        Ok((get_u16(slot, 0) as usize, get_u16(slot, 2) as usize, get_u16(slot, 4) as usize))
    }

    /// The key of slot `i` without the node's prefix.
    #[inline(always)]
    pub fn key_rest(self, i: usize) -> Read<&'a [u8]> {
        let (at, klen, _) = self.cell(i)?;
        self.slice(at, klen)
    }

    /// Appends the whole key of slot `i`.
    pub fn copy_key(self, i: usize, out: &mut Vec<u8>) -> Read<()> {
        out.extend_from_slice(self.prefix()?);
        out.extend_from_slice(self.key_rest(i)?);
        Ok(())
    }

    #[inline(always)]
    pub fn value(self, i: usize) -> Read<&'a [u8]> {
        let (at, klen, vlen) = self.cell(i)?;
        self.slice(at + klen, vlen)
    }

    /// The first slot whose key is at or above `key`, and whether it is equal.
    #[inline]
    pub fn search(self, key: &[u8]) -> Read<(usize, bool)> {
        let prefix = self.prefix()?;
        let n = self.len();
        if !key.starts_with(prefix) {
            return Ok((if key < prefix { 0 } else { n }, false));
        }
        self.search_rest(&key[prefix.len()..])
    }

    /// As [`Node::search`] for a key that lies within the node's fences, whose prefix therefore need not be looked at.
    #[inline]
    pub fn search_within(self, key: &[u8]) -> Read<(usize, bool)> {
        self.search_rest(key.get(self.prefix_len()..).ok_or(Torn)?)
    }

    #[inline(always)]
    fn search_rest(self, rest: &[u8]) -> Read<(usize, bool)> {
        let n = self.len();
        let head = head_of(rest);
        let slots = self.slice(self.slot_at(0), n * SLOT_BYTES)?;
        // With branches: what is guessed fetches the next line of a cold leaf. Without them it took fewer instructions and more time.
        let (mut low, mut high) = (0, n);
        while low < high {
            let mid = (low + high) / 2;
            let order = match get_u32(slots, mid * SLOT_BYTES).cmp(&head) {
                Ordering::Equal => self.key_rest(mid)?.cmp(rest),
                other => other,
            };
            match order {
                Ordering::Less => low = mid + 1,
                Ordering::Greater => high = mid,
                Ordering::Equal => return Ok((mid, true)),
            }
        }
        Ok((low, false))
    }

    /// Child `i` of an inner node, 0 ..= len: 0 is the leftmost.
    #[inline(always)]
    pub fn child(self, i: usize) -> Read<PageId> {
        if i == 0 {
            return Ok(get_u64(self.0, OFF_WORD_A));
        }
        Ok(u64::from_le_bytes(self.value(i - 1)?.try_into().map_err(|_| Torn)?))
    }

    /// Which child covers `key`, which lies within the node's fences.
    #[inline]
    pub fn child_for(self, key: &[u8]) -> Read<usize> {
        let (i, equal) = self.search_within(key)?;
        Ok(if equal { i + 1 } else { i })
    }

    /// Which child covers the greatest keys below `key` (`None`: the greatest of all).
    pub fn child_below(self, key: Option<&[u8]>) -> Read<usize> {
        match key {
            None => Ok(self.len()),
            Some(key) => Ok(self.search(key)?.0),
        }
    }

    /// Bytes free between slots and heap.
    pub fn gap(self) -> usize {
        (get_u16(self.0, OFF_HEAP) as usize).saturating_sub(self.slot_at(self.len()))
    }

    /// Bytes free after a compaction.
    pub fn free(self) -> usize {
        self.slack() + self.gap() + get_u16(self.0, OFF_DEAD) as usize
    }

    /// Bytes that slots and cells (not fences) take.
    pub fn used(self) -> usize {
        let fences = [OFF_LOWER, OFF_UPPER]
            .iter()
            .map(|at| get_u16(self.0, at + 2))
            .filter(|l| *l != UNBOUNDED)
            .map(usize::from)
            .sum::<usize>();
        NODE_BYTES.saturating_sub(self.free() + fences)
    }

    /// Does a cell with a key of `key_len` bytes (whole) and a value of `value_len` fit?
    pub fn fits(self, key_len: usize, value_len: usize) -> bool {
        SLOT_BYTES + key_len.saturating_sub(self.prefix_len()) + value_len <= self.free()
    }

    /// Can the value of slot `i` become `len` bytes long?
    pub fn fits_value(self, i: usize, len: usize) -> bool {
        let (_, _, old) = self.cell(i).expect(TRUSTED);
        len <= self.free() + old
    }
}

/// Writes to a node that is latched exclusively. Offsets are trusted: a bad one is a bug or a page that slipped through
/// its checksum, and panics.
pub struct NodeMut<'a>(pub &'a mut [u8]);

const TRUSTED: &str = "a latched node has sound offsets";

impl NodeMut<'_> {
    #[inline(always)]
    pub fn node(&self) -> Node<'_> {
        Node(self.0)
    }

    /// Makes an empty node.
    pub fn format(&mut self, id: PageId, tree: u32, level: u8, lower: Option<&[u8]>, upper: Option<&[u8]>) {
        init(self.0, id, if level == 0 { PageType::Leaf } else { PageType::Inner }, tree);
        self.0[OFF_LEVEL] = level;
        put_u16(self.0, OFF_HEAP, PAGE_BYTES as u16);
        put_u16(self.0, OFF_SLACK, SLACK_BYTES as u16);
        self.set_fence(OFF_LOWER, lower);
        self.set_fence(OFF_UPPER, upper);
        let prefix = match (lower, upper) {
            (Some(l), Some(u)) => l.iter().zip(u).take_while(|(a, b)| a == b).count(),
            _ => 0,
        };
        put_u16(self.0, OFF_PREFIX, prefix as u16);
    }

    fn set_fence(&mut self, at: usize, fence: Option<&[u8]>) {
        let (offset, len) = match fence {
            None => (0, UNBOUNDED),
            Some(bytes) => (self.push(bytes), bytes.len() as u16),
        };
        put_u16(self.0, at, offset);
        put_u16(self.0, at + 2, len);
    }

    /// Puts bytes below the heap and returns where.
    fn push(&mut self, bytes: &[u8]) -> u16 {
        let at = get_u16(self.0, OFF_HEAP) as usize - bytes.len();
        self.0[at..at + bytes.len()].copy_from_slice(bytes);
        put_u16(self.0, OFF_HEAP, at as u16);
        at as u16
    }

    pub fn set_leftmost_child(&mut self, child: PageId) {
        put_u64(self.0, OFF_WORD_A, child);
    }

    fn write_slot(&mut self, i: usize, head: u32, at: u16, klen: usize, vlen: usize) {
        let slot = self.node().slot_at(i);
        put_u32(self.0, slot, head);
        put_u16(self.0, slot + 4, at);
        put_u16(self.0, slot + 6, klen as u16);
        put_u16(self.0, slot + 8, vlen as u16);
    }

    /// Inserts a cell at slot `i`; `rest` is the key without the node's prefix. The caller has checked that it fits.
    pub fn insert_rest(&mut self, i: usize, rest: &[u8], value: &[u8]) {
        let need = rest.len() + value.len();
        assert!(SLOT_BYTES + need <= self.node().free(), "the caller checked that the cell fits");
        self.open_slot(i, need);
        let at = get_u16(self.0, OFF_HEAP) as usize - need;
        self.0[at..at + rest.len()].copy_from_slice(rest);
        self.0[at + rest.len()..at + need].copy_from_slice(value);
        put_u16(self.0, OFF_HEAP, at as u16);
        self.write_slot(i, head_of(rest), at as u16, rest.len(), value.len());
    }

    /// Makes place for slot `i`, and for `cell_bytes` in the gap.
    fn open_slot(&mut self, i: usize, cell_bytes: usize) {
        let node = self.node();
        let n = node.len();
        assert!(i <= n);
        let (has_slack, shorter) = (node.slack() >= SLOT_BYTES, i <= n / 2);
        let (fits_left, fits_right) = (has_slack && cell_bytes <= node.gap(), SLOT_BYTES + cell_bytes <= node.gap());
        if !fits_left && !fits_right {
            self.compact(SLOT_BYTES + cell_bytes);
            return self.open_slot(i, cell_bytes);
        }
        let (first, slot, end) = (node.slot_at(0), node.slot_at(i), node.slot_at(n));
        if fits_left && (shorter || !fits_right) {
            self.0.copy_within(first..slot, first - SLOT_BYTES);
            self.set_slack(first - HEADER_BYTES - SLOT_BYTES);
        } else {
            self.0.copy_within(slot..end, slot + SLOT_BYTES);
        }
        put_u16(self.0, OFF_SLOTS, n as u16 + 1);
    }

    fn set_slack(&mut self, bytes: usize) {
        put_u16(self.0, OFF_SLACK, bytes as u16);
    }

    /// Removes slot `i`.
    pub fn remove(&mut self, i: usize) {
        let node = self.node();
        let n = node.len();
        assert!(i < n);
        let (_, klen, vlen) = node.cell(i).expect(TRUSTED);
        let (first, slot, end) = (node.slot_at(0), node.slot_at(i), node.slot_at(n));
        self.add_dead(klen + vlen);
        if i < n / 2 {
            self.0.copy_within(first..slot, first + SLOT_BYTES);
            self.set_slack(first - HEADER_BYTES + SLOT_BYTES);
        } else {
            self.0.copy_within(slot + SLOT_BYTES..end, slot);
        }
        put_u16(self.0, OFF_SLOTS, n as u16 - 1);
    }

    fn add_dead(&mut self, bytes: usize) {
        let dead = get_u16(self.0, OFF_DEAD) as usize + bytes;
        put_u16(self.0, OFF_DEAD, dead as u16);
    }

    /// The value of slot `i`, to be changed in place.
    pub fn value_mut(&mut self, i: usize) -> &mut [u8] {
        let (at, klen, vlen) = self.node().cell(i).expect(TRUSTED);
        &mut self.0[at + klen..at + klen + vlen]
    }

    /// Replaces the value of slot `i`. The caller has checked [`Node::fits_value`].
    pub fn replace_value(&mut self, i: usize, value: &[u8]) {
        let (at, klen, vlen) = self.node().cell(i).expect(TRUSTED);
        if value.len() <= vlen {
            self.0[at + klen..at + klen + value.len()].copy_from_slice(value);
            put_u16(self.0, self.node().slot_at(i) + 8, value.len() as u16);
            self.add_dead(vlen - value.len());
            return;
        }
        let rest = self.0[at..at + klen].to_vec();
        self.remove(i);
        self.insert_rest(i, &rest, value);
    }

    /// Gives dead bytes, and slack where room is short, back to the gap, which then has `wanted` bytes at least. The caller has
    /// checked that they are there.
    fn compact(&mut self, wanted: usize) {
        let old = self.0.to_vec();
        let old = Node(&old);
        let (lower, upper) = (old.lower_fence().expect(TRUSTED), old.upper_fence().expect(TRUSTED));
        // No slack in a node that is all but full: it would be compacted again and again.
        self.set_slack(if old.free() >= wanted + 2 * SLACK_BYTES { SLACK_BYTES } else { 0 });
        put_u16(self.0, OFF_HEAP, PAGE_BYTES as u16);
        put_u16(self.0, OFF_DEAD, 0);
        self.set_fence(OFF_LOWER, lower);
        self.set_fence(OFF_UPPER, upper);
        let slots = old.slot_at(0)..old.slot_at(old.len());
        let first = self.node().slot_at(0);
        self.0[first..first + slots.len()].copy_from_slice(&old.0[slots]);
        for i in 0..old.len() {
            let (at, klen, vlen) = old.cell(i).expect(TRUSTED);
            let at = self.push(&old.0[at..at + klen + vlen]);
            put_u16(self.0, first + i * SLOT_BYTES + 4, at);
        }
    }

    /// Rebuilds the node with other fences, keeping slots `range` and the header words.
    pub fn rebuild(&mut self, range: std::ops::Range<usize>, lower: Option<&[u8]>, upper: Option<&[u8]>) {
        let old = self.0.to_vec();
        let old = Node(&old);
        let (id, lsn) = (get_u64(old.0, super::OFF_ID), super::page_lsn(old.0));
        let (word_a, word_b) = (get_u64(old.0, OFF_WORD_A), get_u64(old.0, super::OFF_WORD_B));
        self.format(id, old.tree(), old.level(), lower, upper);
        put_u64(self.0, super::OFF_LSN, lsn);
        put_u64(self.0, OFF_WORD_A, word_a);
        put_u64(self.0, super::OFF_WORD_B, word_b);
        self.append_from(old, range);
    }

    /// Appends slots of another node, which lie inside this node's fences and after its last key.
    pub fn append_from(&mut self, from: Node<'_>, range: std::ops::Range<usize>) {
        let prefix = self.node().prefix_len();
        let mut key = Vec::with_capacity(256);
        for i in range {
            key.clear();
            from.copy_key(i, &mut key).expect(TRUSTED);
            let n = self.node().len();
            self.insert_rest(n, &key[prefix..], from.value(i).expect(TRUSTED));
        }
    }
}

/// A key `s` with `left < s <= right`, as short as possible: what separates two neighbouring leaves.
pub fn separator(left: &[u8], right: &[u8]) -> Vec<u8> {
    debug_assert!(left < right);
    let common = left.iter().zip(right).take_while(|(a, b)| a == b).count();
    right[..common + 1].to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn insert(page: &mut [u8], key: &[u8], value: &[u8]) -> bool {
        let (i, equal) = Node(page).search(key).unwrap();
        if equal || !Node(page).fits(key.len(), value.len()) {
            return false;
        }
        let prefix = Node(page).prefix_len();
        NodeMut(page).insert_rest(i, &key[prefix..], value);
        true
    }

    proptest! {
        #[test]
        fn behaves_like_a_sorted_map(
            ops in prop::collection::vec((0u8..4, prop::collection::vec(0u8..3, 0..12), 0usize..600), 1..300),
        ) {
            let mut page = vec![0; PAGE_BYTES];
            let (lower, upper): (&[u8], &[u8]) = (b"\x00\x00a", b"\x00\x00z");
            NodeMut(&mut page).format(7, 1, 0, Some(lower), Some(upper));
            let mut model = BTreeMap::new();
            for (op, tail, len) in ops {
                let key = [b"\x00\x00b".as_slice(), &tail].concat();
                let value = vec![len as u8; len];
                let (i, equal) = Node(&page).search(&key).unwrap();
                prop_assert_eq!(equal, model.contains_key(&key));
                match op {
                    0 | 1 if insert(&mut page, &key, &value) => { model.insert(key, value); },
                    2 if equal => { NodeMut(&mut page).remove(i); model.remove(&key); },
                    3 if equal && Node(&page).fits_value(i, len) => {
                        NodeMut(&mut page).replace_value(i, &value);
                        model.insert(key, value);
                    }
                    _ => {}
                }
            }
            let node = Node(&page);
            prop_assert_eq!(node.len(), model.len());
            for (i, (key, value)) in model.iter().enumerate() {
                let mut k = Vec::new();
                node.copy_key(i, &mut k).unwrap();
                prop_assert_eq!(&k, key);
                prop_assert_eq!(node.value(i).unwrap(), &value[..]);
            }
        }

        #[test]
        fn torn_pages_never_panic(
            mut bytes in prop::collection::vec(any::<u8>(), PAGE_BYTES),
            key in prop::collection::vec(any::<u8>(), 0..20),
        ) {
            bytes[4] = 3 + (bytes[4] & 1);
            let node = Node(&bytes);
            let _ = node.search(&key);
            let _ = node.child_for(&key);
            for i in 0..node.len() {
                let _ = (node.value(i), node.key_rest(i), node.child(i));
            }
            let _ = (node.lower_fence(), node.upper_fence(), node.gap(), node.free(), node.used());
        }

        #[test]
        fn separators_separate(
            a in prop::collection::vec(any::<u8>(), 0..8),
            b in prop::collection::vec(any::<u8>(), 0..8),
        ) {
            prop_assume!(a != b);
            let (left, right) = if a < b { (a, b) } else { (b, a) };
            let s = separator(&left, &right);
            prop_assert!(left < s && s <= right);
        }
    }
}
