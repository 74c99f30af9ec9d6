//! Range scans over a tree.
//!
//! A cursor copies a stretch of a leaf, validates it once, and hands out the visible entries of the copy; then it descends
//! again from the leaf's fence. So it holds no latch between two calls, and nothing that others write is touched for a step.

mod ahead;
pub mod next_key;
mod stretch;

use crate::btree::Target;
use crate::isolation::{Isolation, LockMode, Read, Wait};
use crate::lock::Name;
use crate::page::get_u64;
use crate::page::node::{Node, Torn};
use crate::pool::Stamp;
use crate::shared::Core;
use crate::transaction::Transaction;
use crate::txn::Status;
use crate::txn::read::{Found, Reader};
use crate::version::{Header, PAYLOAD_AT, ROW_AT, without_spare};
use crate::{Error, Result, Tree, TreeKind};
use ahead::Ahead;
use next_key::{Locked, NextKeys};
use observe::{Counter, RowUse};
use std::ops::Bound;
use stretch::{From, Onward, Stretch};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    Forward,
    Backward,
}

/// Bounds on encoded keys.
#[derive(Clone, Copy, Debug)]
pub struct Range<'k> {
    pub lower: Bound<&'k [u8]>,
    pub upper: Bound<&'k [u8]>,
}

/// One visible entry. Borrowed from the cursor until it moves.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'c> {
    pub key: &'c [u8],
    /// Row (clustered) or payload (secondary).
    pub value: &'c [u8],
    /// In a secondary tree: false when only the row can tell whether this entry belongs to the snapshot. The caller then
    /// reads the row by its primary key and takes the entry only if that version's index key equals this one.
    /// True always in a clustered tree and for locking reads.
    pub certain: bool,
}

/// A scan. Owns copies of what it read, so the transaction may write between two steps; entries that the transaction writes
/// ahead of the cursor may or may not be seen, so a statement that moves its own scan key collects the keys first.
/// Its fields are the state of one scan, kept from scan to scan for its buffers: a step moves most of them.
pub struct Cursor {
    tree: Tree,
    /// What its rows are counted as in the table's figures; `None`: not at all.
    how: Option<RowUse>,
    direction: Direction,
    read: Read,
    /// The bound at which the scan ends.
    end: Bound<Vec<u8>>,
    onward: Onward,
    stretch: Stretch,
    stretch_bytes_max: usize,
    /// The current row when it is not the copy itself (an older version, a locked row).
    row: Vec<u8>,
    /// The lock that the last entry took, if it was not held before.
    fresh_lock: Option<Name>,
    /// Entries must begin with these bytes.
    prefix: Option<Vec<u8>>,
    extent: Extent,
    /// How far a locking scan that covers gaps has come.
    next_keys: Option<Box<NextKeys>>,
    /// The leaf that the stretch is of, as it was then.
    stamp: Option<Stamp>,
    /// Lock objects that the scan took and has not given back.
    locks_kept: usize,
    semi_consistent: bool,
    /// The last entry was read without its lock: its key in the stretch.
    unlocked: Option<std::ops::Range<usize>>,
    ahead: Ahead,
}

/// What a locking scan locks besides the entries that it returns. Gaps only from REPEATABLE READ on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// All that it passes, with the gaps, as far as the entries next to its range: next-key locks.
    Range,
    /// The range is one value of a unique key, so that at most one entry lives in it: nothing besides, or the gap if there is none.
    Unique,
    /// Nothing, at any level.
    Records,
}

/// Lock objects that one scan may keep before it goes on with one lock of many rows.
const LOCKS_KEPT_MAX: usize = 1024;

const STRETCH_BYTES_MAX: usize = 64 << 10;
/// How much is copied at first of a leaf that changes under a scan.
const STRETCH_BYTES_OUTDATED: usize = 1 << 10;

/// A row was read.
#[inline]
fn count(tree: Tree, how: Option<RowUse>) {
    observe::add(Counter::InnodbRowsRead, 1);
    if let Some(how) = how {
        observe::count_rows(tree.id, how, 1);
    }
}

impl Cursor {
    /// `limit_hint`: how many entries the caller expects to need, so that few are copied for LIMIT 1; 0 if unknown.
    pub fn new(tree: Tree, range: Range<'_>, direction: Direction, read: Read, limit_hint: usize) -> Cursor {
        let owned = |bound: Bound<&[u8]>| bound.map(<[u8]>::to_vec);
        let (start, end) = match direction {
            Direction::Forward => (range.lower, range.upper),
            Direction::Backward => (range.upper, range.lower),
        };
        let onward = match start {
            Bound::Unbounded => Onward::From(None, true),
            Bound::Included(key) => Onward::From(Some(key.to_vec()), true),
            Bound::Excluded(key) => Onward::From(Some(key.to_vec()), false),
        };
        let stretch_bytes_max =
            if limit_hint == 0 { STRETCH_BYTES_MAX } else { (limit_hint * 256).min(STRETCH_BYTES_MAX) };
        Cursor {
            tree,
            how: None,
            direction,
            read,
            end: owned(end),
            onward,
            stretch: Stretch::default(),
            stretch_bytes_max,
            row: Vec::new(),
            fresh_lock: None,
            prefix: None,
            extent: Extent::Range,
            next_keys: None,
            stamp: None,
            locks_kept: 0,
            semi_consistent: false,
            unlocked: None,
            ahead: Ahead::default(),
        }
    }

    /// A statement reads: its rows count for the table. What samples and definitions read does not.
    pub fn counted(mut self) -> Cursor {
        self.how = Some(self.row_use());
        self
    }

    /// Of a range that was not begun.
    fn row_use(&self) -> RowUse {
        let is_whole = matches!((&self.onward, &self.end), (Onward::From(None, _), Bound::Unbounded));
        if is_whole && self.tree.kind == TreeKind::Clustered { RowUse::Scan } else { RowUse::Fetch }
    }

    /// What a locking scan locks. To be called before the first entry is read; [`Extent::Range`] without.
    pub fn set_extent(&mut self, extent: Extent) {
        self.extent = extent;
    }

    /// Starts another scan with the buffers of this one.
    pub fn reset(&mut self, tree: Tree, range: Range<'_>, direction: Direction, read: Read, limit_hint: usize) {
        let fresh = Cursor::new(tree, range, direction, read, limit_hint);
        let old = std::mem::replace(self, fresh);
        self.how = old.how.map(|_| self.row_use());
        self.stretch = old.stretch;
        self.stretch.clear();
        self.row = old.row;
    }

    /// Ends the scan at the first entry that does not begin with `prefix`.
    pub fn stop_at_prefix(&mut self, prefix: &[u8]) {
        self.prefix = Some(prefix.to_vec());
    }

    /// The next visible entry, or `None` at the end.
    pub fn next<'c>(&'c mut self, tx: &mut Transaction) -> Result<Option<Entry<'c>>> {
        self.fresh_lock = None;
        self.unlocked = None;
        loop {
            let Some((start, key_len, value_len)) = self.stretch.pop() else {
                tx.check_interrupt()?;
                if !self.fill(tx)? && !self.lock_end(tx)? {
                    self.stretch.give_back_buffers();
                    return Ok(None);
                }
                continue;
            };
            let key = start..start + key_len;
            let value = key.end..key.end + value_len;
            let certain = match self.read {
                Read::Consistent => match self.look(tx, key.clone(), value.clone())? {
                    Some(Seen::Copy { certain }) => certain,
                    Some(Seen::Row) => {
                        let key = &self.stretch.bytes[key];
                        count(self.tree, self.how);
                        return Ok(Some(Entry { key, value: &self.row, certain: true }));
                    }
                    None => continue,
                },
                Read::Locking { mode, wait } => {
                    let covers_gaps = self.covers_gaps();
                    if !covers_gaps && self.is_outdated(tx) {
                        self.go_back_before_last();
                        continue;
                    }
                    let locked = if covers_gaps {
                        self.lock_next_key(tx, key.clone(), value, mode, wait)?
                    } else if self.semi_consistent && !tx.locks_gaps() {
                        self.lock_or_look(tx, key.clone(), mode)?
                    } else {
                        self.lock(tx, key.clone(), mode, wait)?
                    };
                    if locked != Locked::Live {
                        continue;
                    }
                    self.note_found();
                    self.locks_kept += self.fresh_lock.is_some() as usize;
                    // Rows that the statement has changed meanwhile need no object and are not counted.
                    let many = self.locks_kept > LOCKS_KEPT_MAX && tx.lock_count() > LOCKS_KEPT_MAX;
                    if many && self.next_keys.is_none() {
                        let last = self.stretch.bytes[key.clone()].to_vec();
                        self.coalesce(&last);
                    }
                    let key = &self.stretch.bytes[key];
                    count(self.tree, self.how);
                    return Ok(Some(Entry { key, value: &self.row, certain: true }));
                }
            };
            count(self.tree, self.how);
            let at = if self.tree.kind == TreeKind::Clustered { ROW_AT } else { PAYLOAD_AT };
            return Ok(Some(Entry {
                key: &self.stretch.bytes[key],
                value: &self.stretch.bytes[value.start + at..value.end],
                certain,
            }));
        }
    }

    /// Consistent read: what the snapshot sees of a copied entry.
    #[inline]
    fn look(
        &mut self,
        tx: &mut Transaction,
        key: std::ops::Range<usize>,
        value: std::ops::Range<usize>,
    ) -> Result<Option<Seen>> {
        // A scan comes by each row once.
        let (reader, core, past) = tx.reading(8);
        let bytes = &self.stretch.bytes[value];
        let header = Header::read(bytes);
        let sees = reader.sees(core, header.trx());
        if self.tree.kind == TreeKind::Secondary {
            // A version that is not ours to see: the row knows what stood here.
            return Ok(if !sees {
                Some(Seen::Copy { certain: false })
            } else if header.is_deleted() {
                None
            } else {
                // An uncommitted entry may be gone by the time that the row is read.
                let certain = !reader.uncommitted
                    || header.trx() == reader.trx
                    || core.system.sees(reader.snapshot, header.trx());
                Some(Seen::Copy { certain })
            });
        }
        if sees && !(header.has_long() && reader.uncommitted) {
            return Ok((!header.is_deleted()).then_some(Seen::Copy { certain: true }));
        }
        self.row.clear();
        self.row.extend_from_slice(&bytes[ROW_AT..]);
        let found = Found { header, roll_ptr: get_u64(bytes, 8) };
        let key = &self.stretch.bytes[key];
        Ok(reader.resolve(core, self.tree, key, found, &mut self.row, past)?.then_some(Seen::Row))
    }

    /// UPDATE below REPEATABLE READ: a row that others have locked is returned as it was last committed, and not waited for
    /// before [`Cursor::lock_last`]: the caller asks for that if it wants the row (InnoDB's semi-consistent read).
    pub fn set_semi_consistent(&mut self, on: bool) {
        self.semi_consistent = on;
    }

    /// Is the last entry not locked yet?
    pub fn is_unlocked(&self) -> bool {
        self.unlocked.is_some()
    }

    /// Locks the last entry, which was returned without its lock; the newest version of its row, or `None` if it is gone.
    pub fn lock_last(&mut self, tx: &mut Transaction) -> Result<Option<&[u8]>> {
        let key = self.unlocked.take().expect("the last entry is not locked");
        let locked = self.lock(tx, key, LockMode::Exclusive, Wait::Block)?;
        self.locks_kept += self.fresh_lock.is_some() as usize;
        Ok((locked == Locked::Live).then_some(&self.row[..]))
    }

    /// Locks the entry, or reads the version before that of whoever holds it.
    fn lock_or_look(&mut self, tx: &mut Transaction, key: std::ops::Range<usize>, mode: LockMode) -> Result<Locked> {
        // Before the look: the snapshot keeps the versions that it may need.
        tx.reader();
        match self.lock(tx, key.clone(), mode, Wait::NoWait) {
            Err(Error::LockNoWait) => {}
            other => return other,
        }
        if !Reader::get_committed(
            &tx.core,
            (tx.trx, tx.interrupt()),
            self.tree,
            &self.stretch.bytes[key.clone()],
            &mut self.row,
        )? {
            return Ok(Locked::Gone);
        }
        self.unlocked = Some(key);
        Ok(Locked::Live)
    }

    /// Locking read: locks the entry, no gap, and reads its newest version into `row`.
    fn lock(
        &mut self,
        tx: &mut Transaction,
        key: std::ops::Range<usize>,
        mode: LockMode,
        wait: Wait,
    ) -> Result<Locked> {
        let name = Name { tree: self.tree.id, key: self.stretch.bytes[key].into() };
        let mut fresh = false;
        loop {
            match tx.acquire(&name, mode, wait) {
                Ok(taken) => fresh |= taken,
                Err(Error::LockNoWait) if wait == Wait::SkipLocked => return Ok(Locked::Skipped),
                Err(error) => return Err(error),
            }
            let Some((header, status)) = newest_entry(&tx.core, self.tree, &name.key, &mut self.row)? else {
                if fresh {
                    tx.release(&name);
                }
                return Ok(Locked::Gone);
            };
            let trx = header.trx();
            if trx != tx.trx
                && let Status::Open(holder) = status
            {
                if fresh {
                    tx.release(&name);
                    fresh = false;
                }
                match tx.wait_for(holder, trx, &name, mode, wait) {
                    Err(Error::LockNoWait) if wait == Wait::SkipLocked => return Ok(Locked::Skipped),
                    other => fresh |= other?,
                }
                continue;
            }
            tx.rest_on(trx);
            let live = !header.is_deleted();
            if !live && fresh {
                tx.release(&name);
            }
            self.fresh_lock = (live && fresh).then_some(name);
            return Ok(if live { Locked::Live } else { Locked::Gone });
        }
    }

    /// The last entry did not match the statement's WHERE: below REPEATABLE READ its lock, if this read took it, is given back.
    pub fn release_last(&mut self, tx: &mut Transaction) {
        if tx.isolation() <= Isolation::ReadCommitted
            && let Some(name) = self.fresh_lock.take()
        {
            self.locks_kept -= 1;
            tx.release(&name);
        }
    }

    /// Moves on to the first entry at or after `key` (before, for a backward scan): loose index scans, batched lookups.
    pub fn seek(&mut self, key: &[u8]) {
        self.stretch.clear();
        self.next_keys = None;
        self.onward = Onward::From(Some(key.to_vec()), self.direction == Direction::Forward);
    }

    /// Has the leaf changed since it was copied? A locking scan takes rows as they are when it comes by: whoever changed the leaf
    /// may have moved or put a row ahead of the scan, above all while it waited for a lock.
    fn is_outdated(&self, tx: &Transaction) -> bool {
        self.stamp.is_some_and(|stamp| !stamp.is_current(&tx.core.pool))
    }

    /// The entry popped last is looked for again, with all that may stand before it by now.
    fn go_back_before_last(&mut self) {
        let before = self.stretch.popped_before_last().map(<[u8]>::to_vec);
        self.onward = match before {
            Some(key) => Onward::From(Some(key), false),
            // The first of its copy, so nothing but this moment lies between.
            None => Onward::From(self.stretch.popped_last().map(<[u8]>::to_vec), true),
        };
        self.stretch.clear();
        // A few rows: the leaf is one that is written to.
        self.stretch_bytes_max = STRETCH_BYTES_OUTDATED;
    }

    /// Copies the next stretch. False: the scan is at its end.
    fn fill(&mut self, tx: &mut Transaction) -> Result<bool> {
        match self.read {
            // The snapshot comes before the copy: what is copied holds every version that the snapshot needs.
            Read::Consistent => {
                tx.reader();
            }
            Read::Locking { .. } => self.begin_next_keys(tx),
        }
        self.stretch.borrow_buffers();
        if matches!(self.read, Read::Locking { .. })
            && !self.covers_gaps()
            && self.is_outdated(tx)
            && let Some(last) = self.stretch.popped_last()
        {
            // Behind the last entry of the copy, too.
            self.onward = Onward::From(Some(last.to_vec()), false);
        }
        loop {
            if matches!(self.onward, Onward::Over(_)) && self.covers_gaps() {
                self.lock_to_fence(tx)?;
            }
            let store = tx.core.store();
            let forward = self.direction == Direction::Forward;
            let (from, inclusive) = match &self.onward {
                Onward::End => return Ok(false),
                Onward::From(from, inclusive) => (from.as_deref(), *inclusive),
                Onward::Over(fence) => (Some(&fence[..]), forward),
            };
            let target = match from {
                None if forward => Target::First,
                Some(key) if forward || inclusive => Target::At(key),
                key => Target::Below(key),
            };
            if matches!(self.onward, Onward::Over(_)) {
                self.ahead.enter(store, self.tree, self.direction, target, &self.end)?;
            }
            let leaf = store.leaf(self.tree, target)?;
            self.stretch.clear();
            let from = From { direction: self.direction, key: from, inclusive, end: &self.end };
            match stretch::copy(&mut self.stretch, leaf, &from, self.stretch_bytes_max) {
                Ok(onward) if leaf.validate() => self.onward = onward,
                Ok(_) => {
                    self.stretch.clear();
                    continue;
                }
                Err(torn) => {
                    self.stretch.clear();
                    store.torn(leaf, torn)?;
                    continue;
                }
            }
            self.stamp = Some(leaf.stamp());
            self.stretch_bytes_max = (self.stretch_bytes_max * 2).min(STRETCH_BYTES_MAX);
            self.cut_at_prefix();
            if !self.stretch.entries.is_empty() {
                return Ok(true);
            }
        }
    }

    fn cut_at_prefix(&mut self) {
        let Some(prefix) = &self.prefix else { return };
        let stretch = &mut self.stretch;
        let outside = stretch
            .entries
            .iter()
            .position(|(start, key_len, _)| !stretch.bytes[*start..start + key_len].starts_with(prefix));
        if let Some(at) = outside {
            stretch.entries.truncate(at);
            self.onward = Onward::End;
        }
    }
}

/// What a consistent read found.
enum Seen {
    /// The copied bytes are it.
    Copy { certain: bool },
    /// It was put into `row`.
    Row,
}

/// The newest version of an entry: its header, what became of its author, and row or payload in `row`. As with
/// [`crate::txn::read::newest_settled`], no row comes back whose author was rolled back meanwhile.
fn newest_entry(core: &Core, tree: Tree, key: &[u8], row: &mut Vec<u8>) -> Result<Option<(Header, Status)>> {
    let at = if tree.kind == TreeKind::Clustered { ROW_AT } else { PAYLOAD_AT };
    let store = core.store();
    loop {
        let leaf = store.leaf(tree, Target::At(key))?;
        let node = Node(leaf.bytes());
        let copy = node.search(key).and_then(|(slot, equal)| {
            if equal { without_spare(node.value(slot)?).ok_or(Torn).map(Some) } else { Ok(None) }
        });
        match copy {
            Ok(None) if leaf.validate() => return Ok(None),
            Ok(Some(value)) if value.len() >= at => {
                row.clear();
                row.extend_from_slice(&value[at..]);
                let header = Header::read(value);
                if !leaf.validate() {
                    continue;
                }
                let status = core.system.status(header.trx());
                if leaf.validate() {
                    return Ok(Some((header, status)));
                }
            }
            Ok(_) => {}
            Err(torn) => store.torn(leaf, torn)?,
        }
    }
}
