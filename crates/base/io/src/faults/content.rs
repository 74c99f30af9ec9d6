//! The bytes of a simulated file, and which of its blocks take no room.

use std::collections::BTreeSet;
use std::ops::{Deref, DerefMut, Range};

/// What a file system gives and takes back at a time.
pub const BLOCK: usize = 4096;

#[derive(Clone, Default)]
pub struct Content {
    bytes: Vec<u8>,
    /// Blocks that were punched and not written or allocated since.
    holes: BTreeSet<usize>,
}

#[derive(Clone, Debug)]
pub enum Change {
    Write {
        offset: usize,
        bytes: Vec<u8>,
    },
    /// A write that no crash tears.
    WholeWrite {
        offset: usize,
        bytes: Vec<u8>,
    },
    Length(usize),
    Allocate {
        offset: usize,
        len: usize,
    },
    Punch {
        offset: usize,
        len: usize,
    },
}

impl Change {
    pub fn apply(&self, to: &mut Content) {
        match self {
            Change::Write { offset, bytes } | Change::WholeWrite { offset, bytes } => {
                to.fill(*offset..offset + bytes.len());
                to.bytes[*offset..offset + bytes.len()].copy_from_slice(bytes);
            }
            Change::Length(len) => {
                to.bytes.resize(*len, 0);
                to.holes.split_off(&len.div_ceil(BLOCK));
            }
            Change::Allocate { offset, len } => to.fill(*offset..offset + len),
            Change::Punch { offset, len } => {
                for block in whole_blocks(*offset..(offset + len).min(to.bytes.len())) {
                    to.bytes[block * BLOCK..(block + 1) * BLOCK].fill(0);
                    to.holes.insert(block);
                }
            }
        }
    }
}

impl Content {
    /// Room that the file takes.
    pub fn allocated(&self) -> usize {
        self.bytes.len() - self.holes.len() * BLOCK
    }

    /// Room that is missing for `range` to be written.
    pub fn missing(&self, range: Range<usize>) -> usize {
        range.end.saturating_sub(self.bytes.len()) + self.holes_in(&range).count() * BLOCK
    }

    fn holes_in(&self, range: &Range<usize>) -> impl Iterator<Item = usize> {
        self.holes.range(range.start / BLOCK..range.end.div_ceil(BLOCK)).copied()
    }

    /// Makes the file reach the end of the range and have all of its blocks.
    fn fill(&mut self, range: Range<usize>) {
        if self.bytes.len() < range.end {
            self.bytes.resize(range.end, 0);
        }
        for block in self.holes_in(&range).collect::<Vec<_>>() {
            self.holes.remove(&block);
        }
    }
}

/// Blocks that lie in the range whole.
pub fn whole_blocks(range: Range<usize>) -> Range<usize> {
    range.start.div_ceil(BLOCK)..(range.end / BLOCK).max(range.start.div_ceil(BLOCK))
}

impl Deref for Content {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

impl DerefMut for Content {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }
}
