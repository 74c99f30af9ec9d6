//! Locking scans that cover gaps: one span, extended from entry to entry.
//!
//! The span grows only over what the copied leaf shows and while the leaf is unchanged, so nothing can come to lie between two
//! entries that the scan has returned. Where the copy is out of date, the scan goes back to the last entry and copies again; where
//! an entry is locked by others, it waits in that entry's queue and then goes over it.
//!
//! As InnoDB does it, the span begins behind the entry before the range, unless the first entry is the range's bound itself, and
//! the gap after the last entry is locked as far as the next entry, unless nothing fits between the entry and the bound. A
//! descending scan that is left early has not locked the gap below its last entry.

use super::stretch::Onward;
use super::{Cursor, Direction, Extent, STRETCH_BYTES_OUTDATED};
use crate::btree::{Store, Target};
use crate::isolation::{LockMode, Read, Wait};
use crate::lock::range::{Covers, after, set_after};
use crate::lock::{Cover, Name};
use crate::page::node::{Node, Torn};
use crate::transaction::Transaction;
use crate::txn::Status;
use crate::version::{Header, PAYLOAD_AT, ROW_AT};
use crate::{Result, Tree, TreeKind};
use std::ops::Bound;

/// What an attempt to lock an entry came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Locked {
    /// Locked, the row is read.
    Live,
    /// No row lives there.
    Gone,
    /// Others hold it, and the statement said SKIP LOCKED.
    Skipped,
    /// Look again: what was copied is out of date, or the lock was waited for.
    Again,
}

/// How far a locking scan has come.
pub struct NextKeys {
    /// False: a search for one unique value, which covers gaps only when there is no live entry.
    active: bool,
    /// Next keys; records only below REPEATABLE READ.
    covers: Covers,
    /// A live entry was found.
    found: bool,
    /// The bound that the scan starts from.
    begin: Bound<Vec<u8>>,
    /// Where what comes next is to be covered from: the low end (forward) or the high end (backward, `None`: the tree's).
    edge: Option<Vec<u8>>,
    /// The edge is known.
    started: bool,
    /// The last entry gone over; from here the copy is renewed.
    last: Option<Vec<u8>>,
    /// Scratch.
    place: Vec<u8>,
    /// A lock object that was waited for, and that the span makes redundant.
    waited: Option<Name>,
}

/// Is `upper` the first place behind all keys that begin with `key`? Then nothing fits between.
fn is_just_below(key: &[u8], upper: &[u8]) -> bool {
    let Some(end) = key.iter().rposition(|b| *b != 0xFF) else { return false };
    upper.len() == end + 1 && upper[..end] == key[..end] && upper[end] == key[end] + 1
}

impl Cursor {
    pub(super) fn begin_next_keys(&mut self, tx: &Transaction) {
        if self.next_keys.is_some() || self.extent == Extent::Records || !tx.locks_gaps() {
            return;
        }
        let begin = match &self.onward {
            Onward::From(None, _) => Bound::Unbounded,
            Onward::From(Some(key), true) => Bound::Included(key.clone()),
            Onward::From(Some(key), false) => Bound::Excluded(key.clone()),
            Onward::Over(_) | Onward::End => unreachable!("called before the first stretch"),
        };
        self.next_keys = Some(Box::new(NextKeys {
            active: self.extent == Extent::Range,
            covers: Covers::NextKeys,
            found: false,
            begin,
            edge: None,
            started: false,
            last: None,
            place: Vec::new(),
            waited: None,
        }));
    }

    /// Does the scan cover what it passes?
    pub(super) fn covers_gaps(&self) -> bool {
        self.next_keys.as_ref().is_some_and(|keys| keys.active)
    }

    /// A live entry was locked.
    pub(super) fn note_found(&mut self) {
        if let Some(keys) = &mut self.next_keys {
            keys.found = true;
        }
    }

    /// Goes over a copied entry: covers it and the gap before it.
    pub(super) fn lock_next_key(
        &mut self,
        tx: &mut Transaction,
        key: std::ops::Range<usize>,
        value: std::ops::Range<usize>,
        mode: LockMode,
        wait: Wait,
    ) -> Result<Locked> {
        self.find_edge(tx.core.store(), Some(key.clone()))?;
        let header = Header::read(&self.stretch.bytes[value.clone()]);
        let trx = header.trx();
        let is_others = trx != tx.trx && matches!(tx.core.system.status(trx), Status::Open(_));
        let outcome = if is_others { Cover::Locked } else { self.cover_to(tx, key.clone(), mode)? };
        match outcome {
            Cover::Covered => {}
            Cover::Changed => {
                self.renew();
                return Ok(Locked::Again);
            }
            Cover::Locked => {
                let locked = if self.semi_consistent && !tx.locks_gaps() {
                    self.lock_or_look(tx, key.clone(), mode)?
                } else {
                    self.lock(tx, key.clone(), mode, wait)?
                };
                if locked == Locked::Live && self.is_unlocked() {
                    self.pass(key);
                    return Ok(locked);
                }
                if locked == Locked::Skipped {
                    self.pass(key);
                } else {
                    self.next_keys.as_deref_mut().expect("called with").waited = self.fresh_lock.take();
                    self.renew();
                }
                return Ok(if locked == Locked::Skipped { locked } else { Locked::Again });
            }
        }
        self.pass(key);
        if let Some(name) = self.next_keys.as_deref_mut().expect("called with").waited.take() {
            tx.release_if_alone(&name);
        }
        tx.rest_on(trx);
        self.row.clear();
        let row_at = if self.tree.kind == TreeKind::Clustered { ROW_AT } else { PAYLOAD_AT };
        self.row.extend_from_slice(&self.stretch.bytes[value.start + row_at..value.end]);
        let live = !header.is_deleted();
        Ok(if live { Locked::Live } else { Locked::Gone })
    }

    /// Covers from the edge to the entry, if the leaf is as it was copied.
    fn cover_to(&mut self, tx: &mut Transaction, key: std::ops::Range<usize>, mode: LockMode) -> Result<Cover> {
        let Cursor { next_keys, stretch, stamp, tree, direction, .. } = self;
        let keys = next_keys.as_deref_mut().expect("a scan that covers gaps");
        let key = &stretch.bytes[key];
        set_after(&mut keys.place, key);
        let span = match direction {
            Direction::Forward => (keys.edge.as_deref().unwrap_or_default(), Some(&keys.place[..])),
            Direction::Backward => (key, keys.edge.as_deref()),
        };
        let stamp = stamp.expect("a stretch has one");
        tx.cover(*tree, (mode, keys.covers), span, Some(key), |pool| stamp.is_current(pool))
    }

    /// Below REPEATABLE READ a scan keeps one lock object a row; one that has come to hold many goes on with a span of records from
    /// behind its last row, in which rows that do not match stay locked too. So its memory is bounded.
    pub(super) fn coalesce(&mut self, last: &[u8]) {
        let edge = match self.direction {
            Direction::Forward => after(last),
            Direction::Backward => last.to_vec(),
        };
        self.next_keys = Some(Box::new(NextKeys {
            active: true,
            covers: Covers::Records,
            found: true,
            begin: Bound::Excluded(last.to_vec()),
            edge: Some(edge),
            started: true,
            last: Some(last.to_vec()),
            place: Vec::new(),
            waited: None,
        }));
    }

    /// The scan is beyond the entry.
    fn pass(&mut self, key: std::ops::Range<usize>) {
        let keys = self.next_keys.as_deref_mut().expect("a scan that covers gaps");
        let key = &self.stretch.bytes[key];
        let edge = keys.edge.get_or_insert_default();
        match self.direction {
            Direction::Forward => set_after(edge, key),
            Direction::Backward => {
                edge.clear();
                edge.extend_from_slice(key);
            }
        }
        let last = keys.last.get_or_insert_default();
        last.clear();
        last.extend_from_slice(key);
    }

    /// The copy is out of date: the scan goes on from the last entry, or its beginning.
    fn renew(&mut self) {
        self.stretch.clear();
        let keys = self.next_keys.as_deref().expect("a scan that covers gaps");
        self.onward = match (&keys.last, &keys.begin) {
            (Some(last), _) => Onward::From(Some(last.clone()), false),
            (None, Bound::Unbounded) => Onward::From(None, true),
            (None, Bound::Included(key)) => Onward::From(Some(key.clone()), true),
            (None, Bound::Excluded(key)) => Onward::From(Some(key.clone()), false),
        };
        // A few rows: the leaf is one that is written to.
        self.stretch_bytes_max = STRETCH_BYTES_OUTDATED;
    }

    /// Finds where the span begins; `first`: the first entry of the range, if it is known.
    fn find_edge(&mut self, store: Store<'_>, first: Option<std::ops::Range<usize>>) -> Result<()> {
        let keys = self.next_keys.as_deref_mut().expect("a scan that covers gaps");
        if keys.started {
            return Ok(());
        }
        let first = first.map(|key| &self.stretch.bytes[key]);
        keys.edge = match (self.direction, &keys.begin) {
            (Direction::Forward, bound) => Some(lower_edge(store, self.tree, bound, first)?),
            (Direction::Backward, bound) => upper_edge(store, self.tree, bound, first)?,
        };
        keys.started = true;
        Ok(())
    }

    /// The scan leaves its leaf: covers the gap up to the fence.
    pub(super) fn lock_to_fence(&mut self, tx: &mut Transaction) -> Result<()> {
        self.find_edge(tx.core.store(), None)?;
        let Read::Locking { mode, .. } = self.read else { unreachable!("consistent reads cover nothing") };
        let keys = self.next_keys.as_deref_mut().expect("a scan that covers gaps");
        let Onward::Over(fence) = &self.onward else { unreachable!("the caller has seen it") };
        let span = match self.direction {
            Direction::Forward => (keys.edge.as_deref().unwrap_or_default(), Some(&fence[..])),
            Direction::Backward => (&fence[..], keys.edge.as_deref()),
        };
        let stamp = self.stamp.expect("a leaf that is left was read");
        match tx.cover(self.tree, (mode, keys.covers), span, None, |pool| stamp.is_current(pool))? {
            Cover::Covered => keys.edge = Some(fence.clone()),
            Cover::Changed => self.renew(),
            Cover::Locked => unreachable!("no record was named"),
        }
        Ok(())
    }

    /// The scan is at its end: locks the gap there. True: look again, something has changed meanwhile.
    pub(super) fn lock_end(&mut self, tx: &mut Transaction) -> Result<bool> {
        let Read::Locking { mode, .. } = self.read else { return Ok(false) };
        let Some(keys) = &mut self.next_keys else { return Ok(false) };
        if !keys.active {
            if keys.found {
                return Ok(false);
            }
            // Nothing has this value: once more over its range, which keeps it so.
            keys.active = true;
            self.renew();
            return Ok(true);
        }
        if keys.covers == Covers::Records {
            return Ok(false);
        }
        let store = tx.core.store();
        self.find_edge(store, None)?;
        let keys = self.next_keys.as_deref_mut().expect("looked at above");
        let last = keys.last.as_deref();
        let stamp = self.stamp.expect("a scan that has ended has read a leaf");
        let (low, high) = match self.direction {
            Direction::Forward => {
                (keys.edge.clone().unwrap_or_default(), upper_edge(store, self.tree, &self.end, last)?)
            }
            Direction::Backward => (lower_edge(store, self.tree, &self.end, last)?, keys.edge.clone()),
        };
        if high.as_ref().is_some_and(|high| *high <= low) {
            return Ok(false); // nothing fits in
        }
        let span = (&low[..], high.as_deref());
        let outcome = tx.cover(self.tree, (mode, Covers::Gaps), span, None, |pool| stamp.is_current(pool))?;
        if outcome == Cover::Changed {
            self.renew();
        }
        Ok(outcome == Cover::Changed)
    }
}

/// Where the gap at an upper bound ends: behind the last entry if nothing fits between it and the bound, else at the next entry.
fn upper_edge(store: Store<'_>, tree: Tree, bound: &Bound<Vec<u8>>, last: Option<&[u8]>) -> Result<Option<Vec<u8>>> {
    match (bound, last) {
        (Bound::Unbounded, _) => Ok(None),
        (Bound::Included(key), Some(last)) if last == key => Ok(Some(after(key))),
        (Bound::Excluded(key), Some(last)) if is_just_below(last, key) => Ok(Some(after(last))),
        (Bound::Included(key), _) => above(store, tree, key, false),
        (Bound::Excluded(key), _) => above(store, tree, key, true),
    }
}

/// Where the gap at a lower bound begins: at the bound if the first entry is just that, else behind the entry before.
fn lower_edge(store: Store<'_>, tree: Tree, bound: &Bound<Vec<u8>>, first: Option<&[u8]>) -> Result<Vec<u8>> {
    let before = match bound {
        Bound::Unbounded => None,
        Bound::Included(key) if first == Some(key) => return Ok(key.clone()),
        Bound::Included(key) => below(store, tree, key)?,
        Bound::Excluded(key) => below(store, tree, &after(key))?,
    };
    Ok(before.map_or_else(Vec::new, |key| after(&key)))
}

/// The least entry above `key`, or at it if `inclusive`.
pub fn above(store: Store<'_>, tree: Tree, key: &[u8], inclusive: bool) -> Result<Option<Vec<u8>>> {
    let (mut from, mut inclusive) = (key.to_vec(), inclusive);
    loop {
        let leaf = store.leaf(tree, Target::At(&from))?;
        let node = Node(leaf.bytes());
        let mut found = Vec::new();
        let copied = node.search(&from).and_then(|(slot, equal)| {
            let slot = slot + (equal && !inclusive) as usize;
            if slot < node.len() {
                node.copy_key(slot, &mut found)?;
                return Ok((true, true));
            }
            let fence = node.upper_fence()?;
            found.extend_from_slice(fence.unwrap_or_default());
            Ok((false, fence.is_some()))
        });
        match copied {
            Ok(_) if !leaf.validate() => {}
            Ok((true, _)) => return Ok(Some(found)),
            Ok((false, false)) => return Ok(None),
            Ok((false, true)) => (from, inclusive) = (found, true),
            Err(torn) => store.torn(leaf, torn)?,
        }
    }
}

/// The greatest entry below `key`.
pub fn below(store: Store<'_>, tree: Tree, key: &[u8]) -> Result<Option<Vec<u8>>> {
    let mut from = key.to_vec();
    loop {
        let leaf = store.leaf(tree, Target::Below(Some(&from)))?;
        let node = Node(leaf.bytes());
        let mut found = Vec::new();
        let copied = node.search(&from).and_then(|(slot, _)| {
            if slot > 0 {
                node.copy_key(slot - 1, &mut found)?;
                return Ok((true, true));
            }
            let fence = node.lower_fence()?;
            found.extend_from_slice(fence.unwrap_or_default());
            Ok((false, fence.is_some()))
        });
        match copied {
            Ok(_) if !leaf.validate() => {}
            Ok((true, _)) => return Ok(Some(found)),
            Ok((false, false)) => return Ok(None),
            Ok((false, true)) => from = found,
            Err(torn) => store.torn(leaf, torn)?,
        }
    }
}

/// Locks the gap that `key` would be in, which is not there or deleted for good; `header`: as the caller has found it. False: look
/// again, something has changed meanwhile.
pub fn lock_gap_at(
    tx: &mut Transaction,
    tree: Tree,
    key: &[u8],
    mode: LockMode,
    header: Option<Header>,
) -> Result<bool> {
    let store = tx.core.store();
    let low = below(store, tree, key)?.map_or_else(Vec::new, |key| after(&key));
    let high = above(store, tree, key, false)?;
    let leaf = store.leaf(tree, Target::At(key))?;
    let stamp = leaf.stamp();
    let node = Node(leaf.bytes());
    let now = node
        .search(key)
        .and_then(|(slot, equal)| if equal { Ok(Some(Header::of(node.value(slot)?).ok_or(Torn)?)) } else { Ok(None) });
    match now {
        Ok(now) if leaf.validate() && now == header => {}
        Ok(_) => return Ok(false),
        Err(torn) => {
            store.torn(leaf, torn)?;
            return Ok(false);
        }
    }
    let span = (&low[..], high.as_deref());
    let outcome = tx.cover(tree, (mode, Covers::Gaps), span, None, |pool| stamp.is_current(pool))?;
    Ok(outcome == Cover::Covered)
}
