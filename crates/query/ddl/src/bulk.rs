//! Rows and index entries on their way into new trees, in the order of their keys.
//!
//! A tree that is filled in order is written once, page after page, whatever the pool's size. So what does not come in order is
//! sorted before any of it is handed over: in memory, as much as `innodb_ddl_buffer_size` allows, and beyond that as runs in a
//! temporary file, which are merged.

use run::Run;
use run::spill::{Merge, Runs};
use sync::{Mutex, Rank};
use types::Result;

/// Entries in one buffer, sorted by reference.
#[derive(Default)]
struct Chunk {
    bytes: Vec<u8>,
    /// (start of the key, end of the key, end of the row); for index entries the row is empty.
    entries: Vec<(usize, usize, usize)>,
}

impl Chunk {
    fn push(&mut self, key: &[u8], row: &[u8]) {
        let from = self.bytes.len();
        self.bytes.extend_from_slice(key);
        let end = self.bytes.len();
        self.bytes.extend_from_slice(row);
        self.entries.push((from, end, self.bytes.len()));
    }

    /// Bytes that it takes.
    fn size(&self) -> usize {
        self.bytes.len() + self.entries.len() * size_of::<(usize, usize, usize)>()
    }

    fn sort(&mut self) {
        let bytes = &self.bytes;
        let key = |entry: &(usize, usize, usize)| &bytes[entry.0..entry.1];
        // Rows mostly come as they were, and a look costs little.
        if !self.entries.is_sorted_by(|a, b| key(a) <= key(b)) {
            self.entries.sort_unstable_by(|a, b| key(a).cmp(key(b)));
        }
    }

    /// Keys and rows.
    fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.entries.iter().map(|(start, end, row_end)| (&self.bytes[*start..*end], &self.bytes[*end..*row_end]))
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.entries.clear();
    }
}

/// Runs of index entries that several threads sort, each in a buffer of its own, and add to one temporary file.
pub(crate) struct SharedRuns {
    runs: Mutex<Runs>,
    /// What each thread sorts in memory.
    chunk_bytes: usize,
}

/// The entries that a thread has not added to the runs yet.
#[derive(Default)]
pub(crate) struct Unsorted(Chunk);

impl SharedRuns {
    /// Errors 1 and 3 of the temporary file.
    pub(crate) fn new(run: &Run<'_>, threads: usize) -> Result<SharedRuns> {
        let runs = Mutex::new(Rank::TemporaryFile, Runs::new(run)?);
        Ok(SharedRuns { runs, chunk_bytes: buffer_bytes(run)? / threads })
    }

    pub(crate) fn push(&self, own: &mut Unsorted, entry: &[u8]) -> Result<()> {
        own.0.push(entry, &[]);
        if own.0.size() < self.chunk_bytes { Ok(()) } else { self.add(own) }
    }

    /// Sorts what there is and adds it to the runs.
    pub(crate) fn add(&self, own: &mut Unsorted) -> Result<()> {
        own.0.sort();
        self.runs.lock().add(|put| own.0.iter().try_for_each(|(key, row)| put(key, row)))?;
        own.0.clear();
        Ok(())
    }

    /// All entries in order.
    pub(crate) fn merge(self, run: &Run<'_>) -> Result<Merge> {
        self.runs.into_inner().merge(run, false)
    }
}

/// `innodb_ddl_buffer_size`: what a statement sorts in memory.
fn buffer_bytes(run: &Run<'_>) -> Result<usize> {
    let (value, _) = run.env.borrow().system_variable(Some(false), "innodb_ddl_buffer_size")?;
    Ok(value.to_u64() as usize)
}

/// When entries are handed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// All in order, after the last one came.
    Strict,
    /// As long as they come in order at once, so that rows that keep their order go through no file. What comes out of order goes
    /// behind, in an order of its own.
    Natural,
}

/// Sorts what is pushed, by key, and hands it to `sink`.
pub(crate) struct Sorter<S> {
    sink: S,
    order: Order,
    chunk: Chunk,
    chunk_bytes: usize,
    runs: Option<Runs>,
    /// The last key handed over.
    last: Vec<u8>,
}

impl<S: FnMut(&[u8], &[u8]) -> Result<()>> Sorter<S> {
    pub(crate) fn new(run: &Run<'_>, order: Order, sink: S) -> Result<Sorter<S>> {
        let chunk_bytes = buffer_bytes(run)?;
        Ok(Sorter { sink, order, chunk: Chunk::default(), chunk_bytes, runs: None, last: Vec::new() })
    }

    /// Errors of the temporary file and of `sink`.
    pub(crate) fn push(&mut self, run: &Run<'_>, key: &[u8], row: &[u8]) -> Result<()> {
        self.chunk.push(key, row);
        if self.chunk.size() < self.chunk_bytes { Ok(()) } else { self.empty(run) }
    }

    /// Makes room: hands the chunk over or makes a run of it.
    fn empty(&mut self, run: &Run<'_>) -> Result<()> {
        self.chunk.sort();
        let first = self.chunk.iter().next().map_or(&[][..], |(key, _)| key);
        if self.order == Order::Natural && self.runs.is_none() && self.last[..] <= *first {
            return self.hand_over();
        }
        let runs = match &mut self.runs {
            Some(runs) => runs,
            None => self.runs.insert(Runs::new(run)?),
        };
        runs.add(|put| self.chunk.iter().try_for_each(|(key, row)| put(key, row)))?;
        self.chunk.clear();
        Ok(())
    }

    fn hand_over(&mut self) -> Result<()> {
        for (key, row) in self.chunk.iter() {
            (self.sink)(key, row)?;
        }
        if let Some((key, _)) = self.chunk.iter().last() {
            self.last.clear();
            self.last.extend_from_slice(key);
        }
        self.chunk.clear();
        Ok(())
    }

    /// Everything has come; hands over what was not yet.
    pub(crate) fn finish(mut self, run: &Run<'_>) -> Result<()> {
        if self.runs.is_none() {
            self.chunk.sort();
            return self.hand_over();
        }
        self.empty(run)?;
        let mut merge = self.runs.take().expect("there are runs").merge(run, false)?;
        while let Some((key, row)) = merge.advance()? {
            (self.sink)(key, row)?;
        }
        Ok(())
    }
}
