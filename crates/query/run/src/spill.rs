//! What does not fit in memory: records in a temporary file, as sorted runs that are merged, as partitions that are read again, or
//! one after the other as they came.
//!
//! ```text
//!   record   key length u32 | payload length u32 | key | payload
//!   run      records, one after the other, in key order          partition   records in the order in which they came
//! ```

use expr::Execution;
use observe::Counter;
use std::sync::Arc;
use types::codes::*;
use types::{Result, SqlError};

/// Bytes that are written and read at a time.
const BLOCK: usize = 32 << 10;
/// Runs merged at a time.
const FAN_IN: usize = 64;
const HEAD: usize = 8;

/// What spilling needs of an execution: when it has to begin, and a file.
pub trait Room: Execution {
    /// Has an operator's buffer of so many bytes to go on in a file? Beyond `max`, and earlier where the statement has little left.
    fn must_spill(&self, bytes: usize, max: usize) -> bool;

    /// A temporary file in `tmpdir`. Errors 1 (no such directory) and 3.
    fn temp_file(&self) -> Result<cipher::Scratch>;
}

/// Error 3: the disk is full, or worse.
#[cold]
fn failed(e: io::Error) -> SqlError {
    SqlError::new(EE_WRITE, format!("Error writing file '(temporary)' (OS errno - {e})"))
}

/// A part of the file that was written from `from` to `to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    from: u64,
    to: u64,
}

/// A temporary file that grows at its end.
pub struct Spill {
    file: cipher::Scratch,
    end: u64,
}

impl Spill {
    /// A temporary file of its own.
    pub fn new(run: &impl Room) -> Result<Spill> {
        Ok(Spill { file: run.temp_file()?, end: 0 })
    }

    fn append(&mut self, bytes: &[u8]) -> Result<Extent> {
        self.file.write_at(bytes, self.end).map_err(failed)?;
        let from = self.end;
        self.end += bytes.len() as u64;
        Ok(Extent { from, to: self.end })
    }
}

fn put(out: &mut Vec<u8>, key: &[u8], payload: &[u8]) {
    out.extend_from_slice(&(key.len() as u32).to_le_bytes());
    out.extend_from_slice(&(payload.len() as u32).to_le_bytes());
    out.extend_from_slice(key);
    out.extend_from_slice(payload);
}

/// Records on their way to the file's end.
#[derive(Default)]
struct Writer {
    buffer: Vec<u8>,
    start: Option<u64>,
}

impl Writer {
    fn push(&mut self, spill: &mut Spill, key: &[u8], payload: &[u8]) -> Result<()> {
        self.start.get_or_insert(spill.end);
        put(&mut self.buffer, key, payload);
        if self.buffer.len() >= BLOCK { self.flush(spill) } else { Ok(()) }
    }

    fn flush(&mut self, spill: &mut Spill) -> Result<()> {
        spill.append(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }

    /// The run is complete.
    fn finish(mut self, spill: &mut Spill) -> Result<Extent> {
        self.flush(spill)?;
        Ok(Extent { from: self.start.unwrap_or(spill.end), to: spill.end })
    }
}

/// Reads the records of some extents, one after the other.
pub struct Reader {
    extents: std::vec::IntoIter<Extent>,
    rest: Extent,
    buffer: Vec<u8>,
    /// The current record, and where the next one begins.
    key: (usize, usize),
    payload_end: usize,
}

impl Reader {
    /// Of rows that lie in these extents.
    pub fn new(extents: Vec<Extent>) -> Reader {
        let rest = Extent { from: 0, to: 0 };
        Reader { extents: extents.into_iter(), rest, buffer: Vec::new(), key: (0, 0), payload_end: 0 }
    }

    /// The key of the row at hand.
    pub fn key(&self) -> &[u8] {
        &self.buffer[self.key.0..self.key.1]
    }

    /// What lies behind it.
    pub fn payload(&self) -> &[u8] {
        &self.buffer[self.key.1..self.payload_end]
    }

    /// Goes to the next record; false: there is none.
    pub fn next(&mut self, spill: &Spill) -> Result<bool> {
        if !self.fill(spill, HEAD)? {
            return Ok(false);
        }
        let at = self.payload_end;
        let word = |i: usize| u32::from_le_bytes(self.buffer[i..i + 4].try_into().expect("four bytes")) as usize;
        let (key, payload) = (word(at), word(at + 4));
        let whole = self.fill(spill, HEAD + key + payload)?;
        assert!(whole, "a record ends within its extent");
        let at = self.payload_end;
        self.key = (at + HEAD, at + HEAD + key);
        self.payload_end = at + HEAD + key + payload;
        Ok(true)
    }

    /// Sees to it that `wanted` bytes from the next record on are in the buffer; false at the end.
    fn fill(&mut self, spill: &Spill, wanted: usize) -> Result<bool> {
        while self.buffer.len() - self.payload_end < wanted {
            if self.rest.from == self.rest.to {
                match self.extents.next() {
                    Some(next) => self.rest = next,
                    None => return Ok(false),
                }
                continue;
            }
            self.buffer.drain(..self.payload_end);
            self.payload_end = 0;
            let have = self.buffer.len();
            let left = (self.rest.to - self.rest.from) as usize;
            let more = left.min(BLOCK.max(wanted - have));
            self.buffer.resize(have + more, 0);
            spill.file.read_at(&mut self.buffer[have..], self.rest.from).map_err(failed)?;
            self.rest.from += more as u64;
        }
        Ok(true)
    }
}

/// Sorted runs in a file.
pub struct Runs {
    spill: Spill,
    runs: Vec<Extent>,
}

impl Runs {
    /// Runs in a temporary file of their own.
    pub fn new(run: &impl Room) -> Result<Runs> {
        Ok(Runs { spill: Spill::new(run)?, runs: Vec::new() })
    }

    /// Adds a run: `records` gives them in order to what it is called with.
    pub fn add(
        &mut self,
        records: impl FnOnce(&mut dyn FnMut(&[u8], &[u8]) -> Result<()>) -> Result<()>,
    ) -> Result<()> {
        let mut writer = Writer::default();
        let spill = &mut self.spill;
        records(&mut |key, payload| writer.push(spill, key, payload))?;
        let extent = writer.finish(spill)?;
        self.runs.push(extent);
        Ok(())
    }

    /// All records in order; those of equal keys in the order of their runs. `unique`: only the first of these.
    pub fn merge(mut self, run: &impl Room, unique: bool) -> Result<Merge> {
        while self.runs.len() > FAN_IN {
            observe::add(Counter::SortMergePasses, self.runs.len().div_ceil(FAN_IN) as u64);
            let mut merged = Vec::new();
            for batch in std::mem::take(&mut self.runs).chunks(FAN_IN) {
                let mut merge = Heap::new(batch, &self.spill)?;
                let mut writer = Writer::default();
                while let Some(i) = merge.next(&self.spill, unique)? {
                    run.check_interrupt()?;
                    let reader = &merge.readers[i];
                    run.check_work(reader.key().len() + reader.payload().len())?;
                    writer.push(&mut self.spill, reader.key(), reader.payload())?;
                }
                merged.push(writer.finish(&mut self.spill)?);
            }
            self.runs = merged;
        }
        observe::increment(Counter::SortMergePasses);
        let heap = Heap::new(&self.runs, &self.spill)?;
        Ok(Merge { spill: self.spill, heap, unique })
    }
}

/// The last merge: records as they are asked for.
pub struct Merge {
    spill: Spill,
    heap: Heap,
    unique: bool,
}

impl Merge {
    /// Key and payload of the next record.
    pub fn advance(&mut self) -> Result<Option<(&[u8], &[u8])>> {
        let at = self.heap.next(&self.spill, self.unique)?;
        Ok(at.map(|i| (self.heap.readers[i].key(), self.heap.readers[i].payload())))
    }
}

/// Readers of runs, as a binary heap by their current keys.
struct Heap {
    readers: Vec<Reader>,
    heap: Vec<usize>,
    /// The first reader's record was handed out.
    used: bool,
    last: Vec<u8>,
    started: bool,
}

impl Heap {
    fn new(runs: &[Extent], spill: &Spill) -> Result<Heap> {
        let mut readers: Vec<Reader> = runs.iter().map(|r| Reader::new(vec![*r])).collect();
        let mut heap = Vec::new();
        for (i, r) in readers.iter_mut().enumerate() {
            if r.next(spill)? {
                heap.push(i);
            }
        }
        let mut all = Heap { readers, heap, used: false, last: Vec::new(), started: false };
        for at in (0..all.heap.len() / 2).rev() {
            all.sift(at);
        }
        Ok(all)
    }

    fn before(&self, a: usize, b: usize) -> bool {
        let (x, y) = (self.heap[a], self.heap[b]);
        (self.readers[x].key(), x) < (self.readers[y].key(), y)
    }

    fn sift(&mut self, mut at: usize) {
        loop {
            let mut least = at;
            for child in [2 * at + 1, 2 * at + 2] {
                if child < self.heap.len() && self.before(child, least) {
                    least = child;
                }
            }
            if least == at {
                return;
            }
            self.heap.swap(at, least);
            at = least;
        }
    }

    /// The reader whose record comes next.
    fn next(&mut self, spill: &Spill, unique: bool) -> Result<Option<usize>> {
        loop {
            if std::mem::take(&mut self.used) {
                let first = self.heap[0];
                if !self.readers[first].next(spill)? {
                    self.heap.swap_remove(0);
                }
                self.sift(0);
            }
            let Some(first) = self.heap.first().copied() else { return Ok(None) };
            self.used = true;
            let key = self.readers[first].key();
            if unique && self.started && key == &self.last[..] {
                continue;
            }
            if unique {
                self.last.clear();
                self.last.extend_from_slice(key);
                self.started = true;
            }
            return Ok(Some(first));
        }
    }
}

/// How many partitions records are spread over.
const PARTITIONS: usize = 16;
/// The bits of a hash that tell partitions apart begin here: hash tables use those below and the last ones.
const FIRST_BIT: u32 = 28;
/// Partitions of partitions of ..., after which the table at hand has to grow.
const DEPTH_MAX: u32 = 6;

/// Rows that found no room in a hash table, by hash; each partition has its turn when those before are done.
#[derive(Default)]
pub struct Aside {
    open: Option<Partitions>,
    pending: Vec<(Arc<Spill>, Reader, u32)>,
    depth: u32,
}

impl Aside {
    /// Forgets all that was put aside.
    pub fn clear(&mut self) {
        *self = Aside::default();
    }

    /// May rows of the partition at hand be put aside once more?
    pub fn may_grow(&self) -> bool {
        self.depth < DEPTH_MAX
    }

    /// Puts a row aside, into the partition of its hash.
    #[cold]
    pub fn push(&mut self, run: &impl Room, hash: u64, row: &[u8]) -> Result<()> {
        let open = match &mut self.open {
            Some(open) => open,
            None => {
                if self.depth == 0 {
                    observe::increment(Counter::CreatedTmpDiskTables);
                }
                self.open.insert(Partitions::new(run, self.depth)?)
            }
        };
        open.push(hash, row)
    }

    /// The partition at hand is done: the next one, if any.
    pub fn next_partition(&mut self) -> Result<Option<(Arc<Spill>, Reader)>> {
        if let Some(open) = self.open.take() {
            let (spill, readers) = open.finish()?;
            let spill = Arc::new(spill);
            self.pending.extend(readers.into_iter().map(|r| (Arc::clone(&spill), r, self.depth + 1)));
        }
        let Some((spill, reader, depth)) = self.pending.pop() else { return Ok(None) };
        self.depth = depth;
        Ok(Some((spill, reader)))
    }
}

/// Records put aside by hash, to be read again partition by partition.
struct Partitions {
    spill: Spill,
    writers: Vec<Writer>,
    extents: Vec<Vec<Extent>>,
    /// How often the records were put aside before: each time other bits of the hash decide.
    depth: u32,
}

impl Partitions {
    fn new(run: &impl Room, depth: u32) -> Result<Partitions> {
        let writers = (0..PARTITIONS).map(|_| Writer::default()).collect();
        Ok(Partitions { spill: Spill::new(run)?, writers, extents: vec![Vec::new(); PARTITIONS], depth })
    }

    fn push(&mut self, hash: u64, payload: &[u8]) -> Result<()> {
        let i = (hash >> (FIRST_BIT + self.depth * 4)) as usize % PARTITIONS;
        let writer = &mut self.writers[i];
        put(&mut writer.buffer, &[], payload);
        if writer.buffer.len() >= BLOCK {
            self.flush(i)?;
        }
        Ok(())
    }

    fn flush(&mut self, i: usize) -> Result<()> {
        let buffer = &mut self.writers[i].buffer;
        let extent = self.spill.append(buffer)?;
        buffer.clear();
        self.extents[i].push(extent);
        Ok(())
    }

    /// The file with the extents of each partition.
    fn complete(mut self) -> Result<(Spill, Vec<Vec<Extent>>)> {
        for i in 0..PARTITIONS {
            if !self.writers[i].buffer.is_empty() {
                self.flush(i)?;
            }
        }
        Ok((self.spill, self.extents))
    }

    /// The readers of the partitions that have records.
    fn finish(self) -> Result<(Spill, Vec<Reader>)> {
        let (spill, extents) = self.complete()?;
        Ok((spill, extents.into_iter().filter(|e| !e.is_empty()).map(Reader::new).collect()))
    }
}

/// Both sides of a hash join, put aside by the hash of their keys: rows that can match are in partitions of one number.
pub struct Sides {
    left: Partitions,
    right: Partitions,
}

/// The left and the right rows of one partition, and how often they were put aside.
pub struct Pair {
    pub left: Rows,
    pub right: Rows,
    pub depth: u32,
}

/// Rows of a partition, to be read once.
pub struct Rows {
    spill: Arc<Spill>,
    reader: Reader,
}

impl Rows {
    /// The next row.
    pub fn advance(&mut self) -> Result<Option<&[u8]>> {
        Ok(if self.reader.next(&self.spill)? { Some(self.reader.payload()) } else { None })
    }
}

impl Sides {
    /// May rows that were put aside `depth` times be so once more?
    pub fn may_grow(depth: u32) -> bool {
        depth < DEPTH_MAX
    }

    /// Partitions for both sides of a join. `depth`: how often their rows have been divided before.
    #[cold]
    pub fn new(run: &impl Room, depth: u32) -> Result<Sides> {
        assert!(Sides::may_grow(depth), "a partition that cannot be divided stays in memory");
        Ok(Sides { left: Partitions::new(run, depth)?, right: Partitions::new(run, depth)? })
    }

    /// A row of the left side.
    pub fn push_left(&mut self, hash: u64, row: &[u8]) -> Result<()> {
        self.left.push(hash, row)
    }

    /// A row of the right side.
    pub fn push_right(&mut self, hash: u64, row: &[u8]) -> Result<()> {
        self.right.push(hash, row)
    }

    /// The partitions that have left rows.
    pub fn finish(self) -> Result<Vec<Pair>> {
        let depth = self.left.depth + 1;
        let (left, left_extents) = self.left.complete()?;
        let (right, right_extents) = self.right.complete()?;
        let (left, right) = (Arc::new(left), Arc::new(right));
        let rows = |spill: &Arc<Spill>, e| Rows { spill: Arc::clone(spill), reader: Reader::new(e) };
        let pairs = left_extents.into_iter().zip(right_extents).filter(|(l, _)| !l.is_empty());
        Ok(pairs.map(|(l, r)| Pair { left: rows(&left, l), right: rows(&right, r), depth }).collect())
    }
}

/// Rows in the order in which they came, `length u32 | bytes` each: the last ones in memory, those before in a file. They can be read
/// while more come.
#[derive(Default)]
pub struct Kept {
    spill: Option<Spill>,
    memory: Vec<u8>,
    /// Bytes in the file: where the memory begins.
    start: u64,
    count: usize,
}

/// Where somebody reads kept rows, with a block of the file.
#[derive(Default)]
pub struct Place {
    at: u64,
    block: Vec<u8>,
    block_at: u64,
}

impl Place {
    /// At the row that [`Kept::end`] was before.
    pub fn new(at: u64) -> Place {
        Place { at, ..Place::default() }
    }

    /// Where it is, as [`Kept::end`] tells it.
    pub fn at(&self) -> u64 {
        self.at
    }
}

impl Kept {
    /// Forgets all rows and keeps the memory.
    pub fn clear(&mut self) {
        *self = Kept { memory: std::mem::take(&mut self.memory), ..Kept::default() };
        self.memory.clear();
    }

    /// Rows so far.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Where the next row will begin.
    pub fn end(&self) -> u64 {
        self.start + self.memory.len() as u64
    }

    /// `memory_max`: bytes that may be in memory.
    pub fn push(&mut self, run: &impl Room, row: &[u8], memory_max: usize) -> Result<()> {
        self.memory.extend_from_slice(&(row.len() as u32).to_le_bytes());
        self.memory.extend_from_slice(row);
        self.count += 1;
        run.check_growth(self.memory.len())?;
        if !run.must_spill(self.memory.len(), memory_max.max(BLOCK)) {
            return Ok(());
        }
        let spill = match &mut self.spill {
            Some(spill) => spill,
            None => {
                observe::increment(Counter::CreatedTmpDiskTables);
                self.spill.insert(Spill::new(run)?)
            }
        };
        spill.append(&self.memory)?;
        self.start += self.memory.len() as u64;
        self.memory.clear();
        Ok(())
    }

    /// Puts the row at a place into `row`, and goes on to the next; false: there is none.
    pub fn read(&self, place: &mut Place, row: &mut Vec<u8>) -> Result<bool> {
        if let Some(at) = place.at.checked_sub(self.start) {
            let Some((head, rest)) = self.memory[at as usize..].split_first_chunk() else { return Ok(false) };
            let length = u32::from_le_bytes(*head) as usize;
            row.clear();
            row.extend_from_slice(&rest[..length]);
            place.at += (head.len() + length) as u64;
            return Ok(true);
        }
        let mut head = [0; 4];
        self.copy(place, &mut head)?;
        row.clear();
        row.resize(u32::from_le_bytes(head) as usize, 0);
        self.copy(place, row)?;
        Ok(true)
    }

    fn copy(&self, place: &mut Place, out: &mut [u8]) -> Result<()> {
        let mut done = 0;
        while done < out.len() {
            let from = match place.at.checked_sub(self.start) {
                Some(at) => &self.memory[at as usize..],
                None => {
                    let (block, end) = (place.block_at, place.block_at + place.block.len() as u64);
                    if place.at < block || place.at >= end {
                        let length = (self.start - place.at).min(BLOCK as u64) as usize;
                        place.block.resize(length, 0);
                        let spill = self.spill.as_ref().expect("what is before the memory is in the file");
                        spill.file.read_at(&mut place.block, place.at).map_err(failed)?;
                        place.block_at = place.at;
                    }
                    &place.block[(place.at - place.block_at) as usize..]
                }
            };
            let n = from.len().min(out.len() - done);
            out[done..done + n].copy_from_slice(&from[..n]);
            done += n;
            place.at += n as u64;
        }
        Ok(())
    }
}

/// All rows of a recursive expression, and where those are that the recursive blocks read now.
#[derive(Default)]
pub struct WorkingTable {
    pub rows: Kept,
    pub from: u64,
    pub to: u64,
}
