//! Multi-range read: entries of a secondary index are collected in batches and sorted by the clustered key, and their rows are
//! read in that order, so that a page of the table is visited once a batch.

use super::scan::ScanOp;
use super::{Frame, Op, Run, Scope};
use expr::Execution;
use plan::node::Scan;
use types::Result;

/// Bytes of the first batch of a scan. Each later one is so many times the last: who wants few rows has few entries read.
const FIRST_BYTES: usize = 4 << 10;
const GROWTH: usize = 4;

/// Entries of an index whose rows are to be read.
#[derive(Default)]
pub(super) struct Entries {
    list: Vec<Entry>,
    /// Keys one after another: of uncertain entries the index's own parts, of all the clustered key.
    bytes: Vec<u8>,
    /// How many have been taken.
    taken: usize,
}

#[derive(Clone, Copy)]
struct Entry {
    /// The first bytes of the clustered key, which mostly decide.
    head: u64,
    from: u32,
    /// Where the clustered key begins: at `from` if the entry is certain.
    clustered: u32,
    to: u32,
    /// Whom it was looked up for.
    owner: u32,
}

/// An entry that was taken: its key, where the clustered key begins in it, and whom it was looked up for.
pub(super) struct Taken<'e> {
    pub key: &'e [u8],
    pub clustered: usize,
    pub owner: u32,
}

impl Entries {
    /// Empties the batch and keeps its memory.
    pub fn clear(&mut self) {
        self.list.clear();
        self.bytes.clear();
        self.taken = 0;
    }

    /// Bytes that the batch takes.
    pub fn memory(&self) -> usize {
        self.bytes.len() + self.list.len() * size_of::<Entry>()
    }

    /// Have all entries been taken?
    pub fn is_empty(&self) -> bool {
        self.taken == self.list.len()
    }

    /// Adds the entry of a secondary index whose clustered key begins at `clustered`.
    pub fn push(&mut self, key: &[u8], clustered: usize, certain: bool, owner: u32) {
        let (mut head, row) = ([0; 8], &key[clustered..]);
        let n = row.len().min(8);
        head[..n].copy_from_slice(&row[..n]);
        let from = self.bytes.len() as u32;
        let clustered = if certain { from } else { from + clustered as u32 };
        self.bytes.extend_from_slice(if certain { row } else { key });
        let to = self.bytes.len() as u32;
        self.list.push(Entry { head: u64::from_be_bytes(head), from, clustered, to, owner });
    }

    /// Puts them in the order of the clustered index.
    pub fn sort(&mut self) {
        assert_eq!(self.taken, 0, "a batch is sorted before it is read");
        let row = |e: &Entry| &self.bytes[e.clustered as usize..e.to as usize];
        self.list.sort_unstable_by(|a, b| a.head.cmp(&b.head).then_with(|| row(a).cmp(row(b))));
    }

    /// The next entry.
    pub fn take(&mut self) -> Option<Taken<'_>> {
        let e = *self.list.get(self.taken)?;
        self.taken += 1;
        let key = &self.bytes[e.from as usize..e.to as usize];
        Some(Taken { key, clustered: (e.clustered - e.from) as usize, owner: e.owner })
    }
}

/// Bytes that a batch of entries may take: `read_rnd_buffer_size`.
pub(super) fn batch_bytes(run: &Run<'_>) -> usize {
    run.variable("read_rnd_buffer_size").clamp(1, 1 << 30) as usize
}

/// A multi-range read: entries in batches, rows in the order of the clustered index.
pub struct MultiRangeOp {
    scan: ScanOp,
    entries: Entries,
    /// Bytes of the next batch, and of the greatest.
    bytes: usize,
    bytes_max: usize,
    /// The index is at its end.
    ended: bool,
    /// In this execution entry by entry, each with its row: the index tells nothing, or locks are given back.
    one_by_one: bool,
}

impl MultiRangeOp {
    /// Made of its plan, which asks for one.
    pub fn new(scan: Scan) -> MultiRangeOp {
        assert!(scan.multi_range, "planned as a multi-range read");
        MultiRangeOp {
            scan: ScanOp::new(scan),
            entries: Entries::default(),
            bytes: FIRST_BYTES,
            bytes_max: 0,
            ended: false,
            one_by_one: false,
        }
    }

    fn fill(&mut self, run: &Run<'_>) -> Result<()> {
        self.entries.clear();
        while self.entries.memory() < self.bytes {
            run.check_interrupt()?;
            let Some((key, clustered, certain)) = self.scan.next_key(run)? else {
                self.ended = true;
                break;
            };
            self.entries.push(key, clustered, certain, 0);
        }
        run.check_growth(self.entries.memory())?;
        self.bytes = (self.bytes * GROWTH).min(self.bytes_max);
        self.entries.sort();
        Ok(())
    }
}

impl Op for MultiRangeOp {
    fn open(&mut self, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<()> {
        self.entries.clear();
        self.ended = false;
        self.scan.open(run, frame, outer)?;
        self.one_by_one = !self.scan.may_batch(run);
        if !self.one_by_one {
            observe::increment(observe::Counter::HandlerMrrInit);
        }
        self.bytes_max = batch_bytes(run);
        self.bytes = FIRST_BYTES.min(self.bytes_max);
        Ok(())
    }

    fn next(&mut self, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<bool> {
        if self.one_by_one {
            return self.scan.next(run, frame, outer);
        }
        loop {
            run.check_interrupt()?;
            let Some(entry) = self.entries.take() else {
                if self.ended {
                    return Ok(false);
                }
                self.fill(run)?;
                continue;
            };
            if self.scan.read_row(run, frame, entry.key, entry.clustered)?
                && self.scan.wanted(run, Scope::new(frame, outer))?
            {
                return Ok(true);
            }
        }
    }

    fn reject(&mut self, run: &Run<'_>) {
        if self.one_by_one {
            self.scan.reject(run);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_in_the_order_of_the_clustered_key() {
        let mut entries = Entries::default();
        // Keys that agree in their first eight bytes, and some that are shorter than these.
        let keys: [&[u8]; 5] = [b"b", b"aaaaaaaa2", b"aaaaaaaa1", b"a", b"aaaaaaaa"];
        for (owner, row) in keys.iter().enumerate() {
            let key = [b"index", *row].concat();
            entries.push(&key, 5, owner % 2 == 0, owner as u32);
        }
        entries.sort();
        let mut rows = Vec::new();
        while let Some(e) = entries.take() {
            let certain = e.owner % 2 == 0;
            assert_eq!(&e.key[..e.clustered], if certain { &b""[..] } else { b"index" });
            rows.push(e.key[e.clustered..].to_vec());
        }
        assert_eq!(rows, [&b"a"[..], b"aaaaaaaa", b"aaaaaaaa1", b"aaaaaaaa2", b"b"]);
    }
}
