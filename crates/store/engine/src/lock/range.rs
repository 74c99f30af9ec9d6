//! Gap and next-key locks, as intervals of a tree's keys.
//!
//! InnoDB hangs a gap lock on the record after the gap, so every split, merge, insertion and purge has to move locks to the
//! record's heirs. Here a lock is a *span* `[low, high)` of key space, which no page operation can change. Keys are byte
//! strings in which no key is the beginning of another, so the place just behind a key `k` is `k` with a zero byte behind it
//! ([`after`]), and every open or closed interval is such a span. A scan extends its one span from row to row, so a million
//! locked rows are one span.
//!
//! A span covers gaps, or records, or both ([`Covers`]). Gaps are never contended between spans: they only keep others from
//! inserting. Whoever has to wait for a span makes it explicit for one key, like an implicit lock: the owner gets a granted
//! request in that key's queue (see the module above), and queues, deadlock search and release are those of record locks.
//!
//! What keeps a scan and a writer apart, when the writer has the leaf latched:
//!
//! ```text
//!   scan                                        writer
//!   1. holding made: count += 1 (SeqCst)        a. latches the leaf (read-modify-write of its version word)
//!   2. mutex { leaf's version as it was read?   b. fence; loads the count: zero? then no span in any tree of this count
//!              then extend the span }           c. else mutex { is the key in a span? }
//! ```
//!
//! Either b follows 1 in the one order of SeqCst, and then c and 2 are ordered by the mutex: c finds the span, or 2 follows c
//! and so finds the version of a. Or b precedes 1, hence a precedes 2, which finds the version of a. (Modelled in
//! `crates/base/sync/tests/loom.rs`.) Lockers of rows stand to scans as writers do, with their request in the row's queue in place
//! of the latch, which the scan looks for between 1 and 2. So while no transaction holds a span in a tree, its writers pay one
//! load of a line that nobody writes.

use crate::LockMode;
use hashbrown::HashMap;
use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::atomic::{AtomicU32, Ordering};
use sync::{CachePadded, Mutex, MutexGuard, Rank};

const PARTITIONS: usize = 256;

/// What a span keeps others from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Covers {
    /// Inserting.
    Gaps,
    /// Locking or changing the records in it.
    Records,
    /// Both: next-key locks.
    NextKeys,
}

impl Covers {
    pub fn gaps(self) -> bool {
        self != Covers::Records
    }

    pub fn records(self) -> bool {
        self != Covers::Gaps
    }
}

/// The place just behind `key`.
pub fn after(key: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(key.len() + 1);
    set_after(&mut out, key);
    out
}

/// Makes `out` the place just behind `key`.
pub fn set_after(out: &mut Vec<u8>, key: &[u8]) {
    out.clear();
    out.extend_from_slice(key);
    out.push(0);
}

/// The upper end of a span; `None`: the end of the tree (InnoDB's supremum).
pub type High = Option<Vec<u8>>;

fn reaches(high: &High, place: &[u8]) -> bool {
    high.as_ref().is_none_or(|high| &high[..] >= place)
}

/// One transaction's spans of one kind in one tree, none touching another.
pub struct Holding {
    pub slot: u32,
    pub mode: LockMode,
    pub covers: Covers,
    spans: BTreeMap<Box<[u8]>, High>,
}

impl Holding {
    pub fn contains(&self, key: &[u8]) -> bool {
        let at_or_below = self.spans.range::<[u8], _>((Bound::Unbounded, Bound::Included(key))).next_back();
        at_or_below.is_some_and(|(_, high)| high.as_ref().is_none_or(|high| key < &high[..]))
    }

    /// The spans in key order.
    pub fn spans(&self) -> impl Iterator<Item = (&[u8], Option<&[u8]>)> {
        self.spans.iter().map(|(low, high)| (&**low, high.as_deref()))
    }

    /// Adds `[low, high)`, and joins what it touches. Extending a span upward allocates nothing but what its end needs. Returns by
    /// how much the number of spans has changed.
    pub fn add(&mut self, low: &[u8], high: Option<&[u8]>) -> isize {
        let before = self.spans.len();
        self.join(low, high);
        debug_assert!(high.is_some_and(|high| high <= low) || self.contains(low), "what was added is held");
        self.spans.len().cast_signed() - before.cast_signed()
    }

    fn join(&mut self, low: &[u8], high: Option<&[u8]>) {
        if high.is_some_and(|high| high <= low) {
            return;
        }
        let below = self.spans.range_mut::<[u8], _>((Bound::Unbounded, Bound::Included(low))).next_back();
        match below.filter(|(_, end)| reaches(end, low)) {
            Some((_, None)) => return,
            Some((_, Some(end))) if high.is_some_and(|high| &end[..] >= high) => return,
            Some((_, end)) => match (&mut *end, high) {
                (Some(end), Some(high)) => {
                    end.clear();
                    end.extend_from_slice(high);
                }
                (end, high) => *end = high.map(<[u8]>::to_vec),
            },
            None => {
                self.spans.insert(low.into(), high.map(<[u8]>::to_vec));
            }
        }
        let next = self.spans.range::<[u8], _>((Bound::Excluded(low), Bound::Unbounded)).next();
        if next.is_some_and(|(at, _)| high.is_none_or(|high| &**at <= high)) {
            self.swallow(low, high);
        }
    }

    /// Joins to the span that `low` lies in, and that now ends at `high`, those that begin within.
    fn swallow(&mut self, low: &[u8], high: Option<&[u8]>) {
        let mut furthest = high.map(<[u8]>::to_vec);
        let above = (Bound::Excluded(low), Bound::Unbounded);
        while let Some((at, _)) = self.spans.range::<[u8], _>(above).next()
            && high.is_none_or(|high| &**at <= high)
        {
            let at = at.clone();
            let end = self.spans.remove(&at).expect("it was just found");
            if furthest.as_ref().is_some_and(|high| end.as_ref().is_none_or(|end| end > high)) {
                furthest = end;
            }
        }
        let own = self.spans.range_mut::<[u8], _>((Bound::Unbounded, Bound::Included(low))).next_back();
        *own.expect("the span that grows").1 = furthest;
    }
}

/// The holdings of the trees of one partition, by tree.
pub type Trees = HashMap<u32, Vec<Holding>>;

/// All spans.
pub struct Ranges {
    /// Holdings by partition. W: who makes or drops one, under the partition's mutex. R: writers and lockers of rows. Apart from the
    /// mutexes, whose lines change.
    counts: Box<[CachePadded<AtomicU32>]>,
    partitions: Box<[CachePadded<Mutex<Trees>>]>,
}

impl Ranges {
    pub fn new() -> Ranges {
        Ranges {
            counts: (0..PARTITIONS).map(|_| CachePadded::new(AtomicU32::new(0))).collect(),
            partitions: (0..PARTITIONS)
                .map(|_| CachePadded::new(Mutex::new(Rank::LockRanges, Trees::default())))
                .collect(),
        }
    }

    /// May there be a span in this tree? The caller's latch or request comes before.
    #[inline(always)]
    pub fn in_use(&self, tree: u32) -> bool {
        // SeqCst: pairs with the addition in `holding`; see the module.
        self.counts[tree as usize % PARTITIONS].load(Ordering::SeqCst) != 0
    }

    pub fn lock(&self, tree: u32) -> MutexGuard<'_, Trees> {
        self.partitions[tree as usize % PARTITIONS].lock()
    }

    /// The transaction's holding of this kind, made if need be; in `trees`, locked by the caller.
    pub fn holding<'t>(
        &self,
        trees: &'t mut Trees,
        tree: u32,
        slot: u32,
        mode: LockMode,
        covers: Covers,
    ) -> (&'t mut Holding, bool) {
        let holdings = trees.entry(tree).or_default();
        let found = holdings.iter().position(|h| h.slot == slot && h.mode == mode && h.covers == covers);
        let at = found.unwrap_or_else(|| {
            // SeqCst: before the caller looks at queues and at the leaf's version; pairs with the load in `in_use`.
            self.counts[tree as usize % PARTITIONS].fetch_add(1, Ordering::SeqCst);
            holdings.push(Holding { slot, mode, covers, spans: BTreeMap::new() });
            holdings.len() - 1
        });
        (&mut holdings[at], found.is_none())
    }

    /// Drops what a transaction holds in a tree.
    pub fn release(&self, tree: u32, slot: u32) {
        let mut dropped = Vec::new();
        let mut trees = self.lock(tree);
        let Some(holdings) = trees.get_mut(&tree) else { return };
        dropped.extend(holdings.extract_if(.., |h| h.slot == slot));
        if holdings.is_empty() {
            trees.remove(&tree);
        }
        // SeqCst: as above. After the holdings have gone: who finds zero need not look.
        let before = self.counts[tree as usize % PARTITIONS].fetch_sub(dropped.len() as u32, Ordering::SeqCst);
        debug_assert!(before as usize >= dropped.len(), "what is dropped was counted");
        drop(trees); // before the spans are freed
    }

    /// What one slot holds in a tree becomes another's, which holds nothing there.
    pub fn hand_over(&self, tree: u32, from: u32, to: u32) {
        let mut trees = self.lock(tree);
        let is_new = |trees: &Trees| trees.get(&tree).into_iter().flatten().all(|h| h.slot != to);
        debug_assert!(from != to && is_new(&trees), "slot {to} holds nothing in tree {tree} yet");
        trees.get_mut(&tree).into_iter().flatten().filter(|h| h.slot == from).for_each(|h| h.slot = to);
    }

    /// Calls `each` with every tree's holdings, one partition at a time.
    pub fn visit(&self, mut each: impl FnMut(u32, &Holding)) {
        for partition in &self.partitions {
            for (tree, holdings) in &*partition.lock() {
                holdings.iter().for_each(|h| each(*tree, h));
            }
        }
    }
}

/// The others whose spans of the kind that `in_the_way` tells contain `key`.
pub fn others<'t>(
    trees: &'t Trees,
    slot: u32,
    tree: u32,
    key: &'t [u8],
    in_the_way: impl Fn(&Holding) -> bool + 't,
) -> impl Iterator<Item = &'t Holding> {
    let holdings = trees.get(&tree).map_or(&[][..], |h| h);
    holdings.iter().filter(move |h| h.slot != slot && in_the_way(h) && h.contains(key))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn holding() -> Holding {
        Holding { slot: 0, mode: LockMode::Exclusive, covers: Covers::NextKeys, spans: BTreeMap::new() }
    }

    #[test]
    fn a_scan_of_many_rows_is_one_span() {
        let (mut held, mut low) = (holding(), Vec::new());
        for i in 0..1000u32 {
            let high = after(&i.to_be_bytes());
            held.add(&low, Some(&high));
            low = high;
        }
        held.add(&low, None);
        assert_eq!(held.spans.len(), 1);
        assert!(held.contains(b"") && held.contains(&[255; 9]));
    }

    proptest! {
        /// Against a set of single places; no two spans touch.
        #[test]
        fn spans_are_the_union_of_what_was_added(
            added in prop::collection::vec((0u8..40, prop::option::weighted(0.9, 0u8..40)), 0..30),
        ) {
            let (mut held, mut model) = (holding(), [false; 256]);
            for (low, high) in added {
                held.add(&[low], high.as_ref().map(std::slice::from_ref));
                (low as usize..high.map_or(256, usize::from)).for_each(|at| model[at] = true);
            }
            for (at, covered) in model.iter().enumerate() {
                prop_assert_eq!(held.contains(&[at as u8]), *covered, "{}", at);
            }
            let spans: Vec<_> = held.spans().collect();
            for pair in spans.windows(2) {
                prop_assert!(pair[0].1.is_some_and(|high| high < pair[1].0));
            }
        }
    }
}
