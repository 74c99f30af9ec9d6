//! Range scans over a tree.

use crate::{Read, Result, Transaction, Tree};
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

/// A scan. Owns copies of what it read, so the transaction may write between two steps; entries that the transaction writes
/// ahead of the cursor may or may not be seen, so a statement that moves its own scan key collects the keys first.
pub struct Cursor {}

impl Cursor {
    /// `limit_hint`: how many entries the caller expects to need, so that few are copied for LIMIT 1; 0 if unknown.
    pub fn new(_tree: Tree, _range: Range<'_>, _direction: Direction, _read: Read, _limit_hint: usize) -> Cursor {
        todo!()
    }

    /// The next visible entry, or `None` at the end.
    pub fn next<'c>(&'c mut self, _tx: &mut Transaction) -> Result<Option<Entry<'c>>> {
        todo!()
    }

    /// The last entry did not match the statement's WHERE: below REPEATABLE READ its lock, if this read took it, is given back.
    pub fn release_last(&mut self, _tx: &mut Transaction) {
        todo!()
    }

    /// Moves on to the first entry at or after `key` (before, for a backward scan): loose index scans, batched lookups.
    pub fn seek(&mut self, _key: &[u8]) {
        todo!()
    }
}
