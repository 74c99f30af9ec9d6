//! Rows read and changed, by the tree that they are in.
//!
//! Each lane has cells of the trees that it came across: a list of parts, each twice as large as the one before and probed in a few
//! places. The cells of the tree that was counted last are found at once, so a scan, or point reads of one table, look for them
//! but once. Trees are known by numbers that are never given again, so a table that is dropped takes its figures along.

use crate::lane::{Block, block, blocks, bump};
use std::collections::HashMap;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use sync::waits::{self, Wait};

/// What was done with a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum RowUse {
    /// Read by a key, or a range of keys, or the order of the index.
    Fetch,
    /// Read in a scan of the whole table.
    Scan,
    Insert,
    Update,
    Delete,
}

pub const ROW_USES: usize = RowUse::Delete as usize + 1;
/// Counts by [`RowUse`].
pub type RowCounts = [u64; ROW_USES];

const FIRST_CELLS: usize = 8;
const PROBES: usize = 4;
/// Parts have 8, 16, ... cells.
const PARTS: usize = 20;

/// On a line of its own: what lies beside it may be another lane's.
#[repr(align(64))]
struct Cells {
    /// 0: nobody's. W: the lane's owner. R: readers.
    tree: AtomicU32,
    counts: [AtomicU64; ROW_USES],
}

impl Cells {
    fn new() -> Cells {
        Cells { tree: AtomicU32::new(0), counts: [const { AtomicU64::new(0) }; ROW_USES] }
    }
}

/// The cells of one lane.
#[derive(Default)]
pub(crate) struct TableCells {
    epoch: AtomicU32,
    /// Part and place of the cells that were used last. W, R: the lane's owner.
    last: AtomicUsize,
    parts: [OnceLock<Box<[Cells]>>; PARTS],
}

impl TableCells {
    #[inline]
    fn add(&self, tree: u32, how: RowUse, n: u64) {
        // Relaxed: single writer.
        if self.epoch.load(Ordering::Relaxed) != waits::current_epoch() {
            self.clear();
        }
        let last = self.last.load(Ordering::Relaxed); // Relaxed: as above
        let cells = self.parts[last % PARTS].get().and_then(|part| part.get(last / PARTS));
        match cells.filter(|cells| cells.tree.load(Ordering::Relaxed) == tree) {
            Some(cells) => bump(&cells.counts[how as usize], n),
            None => self.add_slowly(tree, how, n),
        }
    }

    #[cold]
    fn add_slowly(&self, tree: u32, how: RowUse, n: u64) {
        for (at, part) in self.parts.iter().enumerate() {
            let len = FIRST_CELLS << at;
            let part = part.get_or_init(|| (0..len).map(|_| Cells::new()).collect());
            let hash = (tree.wrapping_mul(0x9e37_79b9) >> 7) as usize;
            for probe in 0..PROBES {
                let place = (hash + probe) % len;
                let cells = &part[place];
                // Relaxed: single writer.
                let of = cells.tree.load(Ordering::Relaxed);
                if of == 0 {
                    // Release: pairs with Acquire in `read`; the counts are of this tree.
                    cells.tree.store(tree, Ordering::Release);
                } else if of != tree {
                    continue;
                }
                self.last.store(place * PARTS + at, Ordering::Relaxed); // Relaxed: as above
                return bump(&cells.counts[how as usize], n);
            }
        }
    }

    #[cold]
    fn clear(&self) {
        let cells = self.parts.iter().filter_map(OnceLock::get).flat_map(|part| part.iter());
        // Relaxed: single writer.
        cells.flat_map(|cells| &cells.counts).for_each(|count| count.store(0, Ordering::Relaxed));
        // Release: pairs with Acquire in `read`.
        self.epoch.store(waits::current_epoch(), Ordering::Release);
    }

    fn read(&self, sums: &mut HashMap<u32, RowCounts>) {
        // Acquire: pairs with Release in `clear`.
        if self.epoch.load(Ordering::Acquire) != waits::current_epoch() {
            return;
        }
        for cells in self.parts.iter().filter_map(OnceLock::get).flat_map(|part| part.iter()) {
            // Acquire: pairs with Release in `add_slowly`.
            let tree = cells.tree.load(Ordering::Acquire);
            if tree != 0 {
                let sum = sums.entry(tree).or_default();
                // Relaxed: see `bump`.
                sum.iter_mut().zip(&cells.counts).for_each(|(sum, n)| *sum += n.load(Ordering::Relaxed));
            }
        }
    }
}

/// So many rows of a tree were read or changed, by this thread.
#[inline]
pub fn count_rows(tree: u32, how: RowUse, n: u64) {
    let (is_counted, _) = waits::flags(Wait::TableIo);
    if is_counted {
        let block: &Block = block();
        block.tables.add(tree, how, n);
    }
}

/// What was counted by tree.
pub fn rows_by_tree() -> HashMap<u32, RowCounts> {
    let mut sums = HashMap::new();
    blocks().for_each(|block| block.tables.read(&mut sums));
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_counted_by_tree() {
        let cells = TableCells::default();
        for round in 1..=2 {
            for tree in 1..=1000 {
                cells.add(tree, RowUse::Insert, 1);
                cells.add(tree, RowUse::Fetch, u64::from(tree));
            }
            let mut sums = HashMap::new();
            cells.read(&mut sums);
            assert_eq!(sums.len(), 1000);
            assert!(sums.iter().all(|(tree, n)| *n == [u64::from(*tree) * round, 0, round, 0, 0]));
        }
    }
}
