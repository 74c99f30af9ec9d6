//! Range scans over a tree.
//!
//! A cursor copies a stretch of a leaf, validates it once, and hands out the visible entries of the copy; then it descends
//! again from the leaf's fence. So it holds no latch between two calls, and nothing that others write is touched for a step.

use crate::btree::Target;
use crate::lock::Name;
use crate::page::get_u64;
use crate::page::node::{Node, Torn};
use crate::pool::View;
use crate::transaction::{Isolation, LockMode, Read, Transaction, Wait};
use crate::txn::Status;
use crate::txn::read::{Found, finish};
use crate::version::{Header, PAYLOAD_AT, ROW_AT};
use crate::{Error, Result, Tree, TreeKind};
use observe::Counter;
use std::ops::Bound;

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

/// Copied entries of a leaf: bytes of key and value, one after the other.
#[derive(Default)]
struct Stretch {
    bytes: Vec<u8>,
    /// (start, key length, value length)
    entries: Vec<(usize, usize, usize)>,
    next: usize,
}

/// Where the scan goes on after the stretch.
enum Onward {
    /// Forward: the least key not seen yet; backward: the key below which to go on (`None`: from the end).
    From(Option<Vec<u8>>, /* inclusive */ bool),
    End,
}

/// A scan. Owns copies of what it read, so the transaction may write between two steps; entries that the transaction writes
/// ahead of the cursor may or may not be seen, so a statement that moves its own scan key collects the keys first.
pub struct Cursor {
    tree: Tree,
    direction: Direction,
    read: Read,
    /// The bound at which the scan ends.
    end: Bound<Vec<u8>>,
    onward: Onward,
    stretch: Stretch,
    stretch_bytes_max: usize,
    /// The current row when it is not the copy itself (an older version, an off-page row, a locked row).
    row: Vec<u8>,
    /// The lock that the last entry took, if it was not held before.
    fresh_lock: Option<Name>,
    /// Entries must begin with these bytes.
    prefix: Option<Vec<u8>>,
}

const STRETCH_BYTES_MAX: usize = 64 << 10;

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
            direction,
            read,
            end: owned(end),
            onward,
            stretch: Stretch::default(),
            stretch_bytes_max,
            row: Vec::new(),
            fresh_lock: None,
            prefix: None,
        }
    }

    /// Starts another scan with the buffers of this one.
    pub fn reset(&mut self, tree: Tree, range: Range<'_>, direction: Direction, read: Read, limit_hint: usize) {
        let fresh = Cursor::new(tree, range, direction, read, limit_hint);
        let old = std::mem::replace(self, fresh);
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
        loop {
            let Some((start, key_len, value_len)) = self.stretch.pop() else {
                tx.check_interrupt()?;
                if !self.fill(tx)? {
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
                        observe::add(Counter::InnodbRowsRead, 1);
                        return Ok(Some(Entry { key, value: &self.row, certain: true }));
                    }
                    None => continue,
                },
                Read::Locking { mode, wait } => {
                    if !self.lock(tx, key.clone(), mode, wait)? {
                        continue;
                    }
                    let key = &self.stretch.bytes[key];
                    observe::add(Counter::InnodbRowsRead, 1);
                    return Ok(Some(Entry { key, value: &self.row, certain: true }));
                }
            };
            observe::add(Counter::InnodbRowsRead, 1);
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
        let reader = tx.reader();
        let core = &*tx.core;
        let bytes = &self.stretch.bytes[value];
        let header = Header(get_u64(bytes, 0));
        let sees = reader.sees(core, header.trx());
        if self.tree.kind == TreeKind::Secondary {
            // A version that is not ours to see: the row knows what stood here.
            return Ok(if !sees {
                Some(Seen::Copy { certain: false })
            } else if header.is_deleted() {
                None
            } else {
                Some(Seen::Copy { certain: true })
            });
        }
        if sees && !header.is_off_page() {
            return Ok((!header.is_deleted()).then_some(Seen::Copy { certain: true }));
        }
        self.row.clear();
        self.row.extend_from_slice(&bytes[ROW_AT..]);
        let found = Found { header, roll_ptr: get_u64(bytes, 8) };
        Ok(reader.resolve(core, &self.stretch.bytes[key], found, &mut self.row)?.then_some(Seen::Row))
    }

    /// Locking read: locks the entry and reads its newest version into `row`. False: there is none, or it is skipped.
    fn lock(&mut self, tx: &mut Transaction, key: std::ops::Range<usize>, mode: LockMode, wait: Wait) -> Result<bool> {
        let name = Name { tree: self.tree.id, key: self.stretch.bytes[key].into() };
        let skip = |outcome: Result<()>| match outcome {
            Err(Error::LockNoWait) if wait == Wait::SkipLocked => Ok(false),
            Err(error) => Err(error),
            Ok(()) => Ok(true),
        };
        let mut fresh = false;
        loop {
            match tx.acquire(&name, mode, wait) {
                Ok(taken) => fresh |= taken,
                Err(error) => return skip(Err(error)),
            }
            let store = tx.core.store();
            let Some(header) = newest_entry(store, self.tree, &name.key, &mut self.row)? else {
                if fresh {
                    tx.release(&name);
                }
                return Ok(false);
            };
            let trx = header.trx();
            if trx != tx.trx
                && let Status::Open(holder) = tx.core.system.status(trx)
            {
                if fresh {
                    tx.release(&name);
                    fresh = false;
                }
                if !skip(tx.wait_for(holder, trx, &name, mode, wait))? {
                    return Ok(false);
                }
                continue;
            }
            tx.rest_on(trx);
            let live = finish(tx.core.store(), header, &mut self.row)?;
            if !live && fresh {
                tx.release(&name);
            }
            self.fresh_lock = (live && fresh).then_some(name);
            return Ok(live);
        }
    }

    /// The last entry did not match the statement's WHERE: below REPEATABLE READ its lock, if this read took it, is given back.
    pub fn release_last(&mut self, tx: &mut Transaction) {
        if tx.isolation() <= Isolation::ReadCommitted
            && let Some(name) = self.fresh_lock.take()
        {
            tx.release(&name);
        }
    }

    /// Moves on to the first entry at or after `key` (before, for a backward scan): loose index scans, batched lookups.
    pub fn seek(&mut self, key: &[u8]) {
        self.stretch.clear();
        self.onward = Onward::From(Some(key.to_vec()), self.direction == Direction::Forward);
    }

    /// Copies the next stretch. False: the scan is at its end.
    fn fill(&mut self, tx: &mut Transaction) -> Result<bool> {
        // The snapshot comes before the copy: what is copied holds every version that the snapshot needs.
        if self.read == Read::Consistent {
            tx.reader();
        }
        let store = tx.core.store();
        loop {
            let Onward::From(from, inclusive) = &self.onward else { return Ok(false) };
            let target = match (self.direction, from) {
                (Direction::Forward, None) => Target::First,
                (Direction::Forward, Some(key)) => Target::At(key),
                (Direction::Backward, Some(key)) if *inclusive => Target::At(key),
                (Direction::Backward, key) => Target::Below(key.as_deref()),
            };
            let leaf = store.leaf(self.tree, target)?;
            self.stretch.clear();
            let copied = match self.direction {
                Direction::Forward => copy_forward(
                    &mut self.stretch,
                    leaf,
                    from.as_deref(),
                    *inclusive,
                    &self.end,
                    self.stretch_bytes_max,
                ),
                Direction::Backward => copy_backward(
                    &mut self.stretch,
                    leaf,
                    from.as_deref(),
                    *inclusive,
                    &self.end,
                    self.stretch_bytes_max,
                ),
            };
            match copied {
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

impl Stretch {
    fn clear(&mut self) {
        self.bytes.clear();
        self.entries.clear();
        self.next = 0;
    }

    #[inline]
    fn pop(&mut self) -> Option<(usize, usize, usize)> {
        let entry = self.entries.get(self.next).copied();
        self.next += 1;
        entry
    }

    /// Appends slot `i`; the key's bytes as the node has them.
    #[inline]
    fn push(&mut self, node: Node<'_>, prefix: &[u8], i: usize) -> std::result::Result<(), Torn> {
        let (rest, value) = (node.key_rest(i)?, node.value(i)?);
        if value.len() < PAYLOAD_AT {
            return Err(Torn);
        }
        let start = self.bytes.len();
        self.bytes.extend_from_slice(prefix);
        self.bytes.extend_from_slice(rest);
        self.bytes.extend_from_slice(value);
        self.entries.push((start, prefix.len() + rest.len(), value.len()));
        Ok(())
    }

    fn last_key(&self) -> Option<Vec<u8>> {
        self.entries.last().map(|(start, key_len, _)| self.bytes[*start..start + key_len].to_vec())
    }
}

/// The first slot at or beyond a bound's key: (slot, equal).
fn slot_for(node: Node<'_>, key: Option<&[u8]>, none: usize) -> std::result::Result<(usize, bool), Torn> {
    key.map_or(Ok((none, false)), |key| node.search(key))
}

fn copy_forward(
    stretch: &mut Stretch,
    leaf: View<'_>,
    from: Option<&[u8]>,
    inclusive: bool,
    end: &Bound<Vec<u8>>,
    bytes_max: usize,
) -> std::result::Result<Onward, Torn> {
    let node = Node(leaf.bytes());
    let (first, equal) = slot_for(node, from, 0)?;
    let first = first + (equal && !inclusive) as usize;
    let len = node.len();
    let (stop, ends_here) = match end {
        Bound::Unbounded => (len, false),
        Bound::Included(key) => node.search(key).map(|(i, equal)| (i + equal as usize, i + (equal as usize) < len))?,
        Bound::Excluded(key) => node.search(key).map(|(i, equal)| (i, i < len || equal))?,
    };
    let prefix = node.prefix()?;
    for i in first..stop.max(first) {
        if stretch.bytes.len() >= bytes_max {
            return Ok(Onward::From(stretch.last_key(), false));
        }
        stretch.push(node, prefix, i)?;
    }
    if ends_here {
        return Ok(Onward::End);
    }
    let Some(fence) = node.upper_fence()? else { return Ok(Onward::End) };
    let past_end = match end {
        Bound::Unbounded => false,
        Bound::Included(key) => fence > &key[..],
        Bound::Excluded(key) => fence >= &key[..],
    };
    Ok(if past_end { Onward::End } else { Onward::From(Some(fence.to_vec()), true) })
}

fn copy_backward(
    stretch: &mut Stretch,
    leaf: View<'_>,
    from: Option<&[u8]>,
    inclusive: bool,
    end: &Bound<Vec<u8>>,
    bytes_max: usize,
) -> std::result::Result<Onward, Torn> {
    let node = Node(leaf.bytes());
    let len = node.len();
    let (last, equal) = slot_for(node, from, len)?;
    let last = last + (equal && inclusive) as usize;
    let stop = match end {
        Bound::Unbounded => 0,
        Bound::Included(key) => node.search(key)?.0,
        Bound::Excluded(key) => node.search(key).map(|(i, equal)| i + equal as usize)?,
    };
    let prefix = node.prefix()?;
    for i in (stop.min(last)..last).rev() {
        if stretch.bytes.len() >= bytes_max {
            return Ok(Onward::From(stretch.last_key(), false));
        }
        stretch.push(node, prefix, i)?;
    }
    if stop > 0 {
        return Ok(Onward::End);
    }
    let Some(fence) = node.lower_fence()? else { return Ok(Onward::End) };
    let past_end = match end {
        Bound::Unbounded => false,
        Bound::Included(key) | Bound::Excluded(key) => fence <= &key[..],
    };
    Ok(if past_end { Onward::End } else { Onward::From(Some(fence.to_vec()), false) })
}

/// The newest version of an entry: its header, and row or payload in `row`.
fn newest_entry(store: crate::btree::Store<'_>, tree: Tree, key: &[u8], row: &mut Vec<u8>) -> Result<Option<Header>> {
    let at = if tree.kind == TreeKind::Clustered { ROW_AT } else { PAYLOAD_AT };
    loop {
        let leaf = store.leaf(tree, Target::At(key))?;
        let node = Node(leaf.bytes());
        let copy = node.search(key).and_then(|(slot, equal)| if equal { node.value(slot).map(Some) } else { Ok(None) });
        match copy {
            Ok(None) if leaf.validate() => return Ok(None),
            Ok(Some(value)) if value.len() >= at => {
                row.clear();
                row.extend_from_slice(&value[at..]);
                let header = Header(get_u64(value, 0));
                if leaf.validate() {
                    return Ok(Some(header));
                }
            }
            Ok(_) => {}
            Err(torn) => store.torn(leaf, torn)?,
        }
    }
}
