//! Reading tables: point reads, range scans, index scans with row lookup, covering scans.

mod count;

use super::entries::{Entries, own_length};
use super::held::{Held, hold, is_precise, owned, searched};
use super::key_range::{Equal, KeyRange, append, append_successor, encode_equal, push_bounds};
use super::long;
use super::{Frame, Op, Receive, Run, Scope, Settled, Step, tuple};
use catalog::error;
use catalog::{Index, Table};
use engine::{Cursor, Direction, Extent, FreshLock, Isolation, Range, Read, Transaction, Tree};
use expr::Execution;
use expr::Expr;
use expr::row::own_line;
use observe::Counter;
use plan::node::{IndexRange, Scan};
use std::ops::Bound;
use std::sync::Arc;
use types::key::{self, KeyPart};
use types::{Result, Value};

/// Keys from the first on, up to the second if there is one.
pub(super) type Keys<'k> = (&'k [u8], Option<&'k [u8]>);

pub(super) type OwnKeys = (Vec<u8>, Option<Vec<u8>>);

/// The rows of one table by one index. Its fields are what the plan says, what this execution has made of it, and buffers; they lie side by
/// side because a point read sets and asks a few of each kind, and nothing else.
pub struct ScanOp {
    slot: usize,
    table: Arc<Table>,
    index: usize,
    tree: Tree,
    /// The index of the plan. An execution whose LIKE begins with a wildcard reads the clustered one instead.
    planned: usize,
    ordered: bool,
    ranges: Vec<IndexRange>,
    backward: bool,
    read: Read,
    /// How this execution reads: `read`, or as the statement reads what has no locking clause.
    reading: Read,
    covering: bool,
    limit_hint: Option<Expr>,
    /// What the ranges say, to be checked for each row unless `precise`: all values of this execution are held exactly.
    implied: Option<Expr>,
    precise: bool,
    /// The equalities of the ranges are all in the keys of this execution.
    whole: bool,
    /// The index is multi-valued: a row may be met several times, and is passed on once.
    multi: bool,
    /// Parts of the secondary key that a covering scan decodes.
    parts: Vec<(usize, KeyPart)>,
    /// Encoded ranges of this execution, sorted, without overlap.
    key_ranges: Vec<KeyRange>,
    bytes: Vec<u8>,
    next_range: usize,
    /// Kept from scan to scan for its buffers; `live` while it has more.
    cursor: Option<Cursor>,
    live: bool,
    /// What the entries of the current range count as.
    steps: Steps,
    /// That of the row read last by its key, beside the one of the index entry that led to it.
    row_lock: Option<FreshLock>,
    /// A whole primary key with one value a part: one point read, no cursor.
    point: bool,
    /// Rows are read to be written at once: a point read need not lock.
    to_write: bool,
    /// For UPDATE: rows that others have locked are looked at before they are waited for, where the isolation level allows.
    semi_consistent: bool,
    /// The state of this execution's point read, whose key is in `bytes`.
    lookup: Lookup,
    /// Scratch: prefixes under construction, and a row read to check an uncertain entry.
    prefixes: Vec<Vec<u8>>,
    row: Vec<u8>,
    check: Vec<u8>,
}

/// How MySQL's handlers count the entries of a range: its beginning by `Handler_read_key`, and what follows here.
#[derive(Clone, Copy, Default)]
struct Steps {
    /// Each entry and the end, but for the first entry, which the beginning has counted. `None`: a range of one key that is unique.
    counter: Option<Counter>,
    /// Is the next entry counted?
    counts: bool,
}

impl Steps {
    /// The beginning of a range. `is_table`: it is the whole table, in whatever order.
    fn begin(lower: &[u8], range: KeyRange, backward: bool, is_table: bool) -> Steps {
        let lane = observe::lane();
        lane.increment(Counter::HandlerReadKey);
        let (is_open, edge, step) = match backward {
            false => (lower.is_empty(), Counter::HandlerReadFirst, Counter::HandlerReadNext),
            true => (range.upper.is_none(), Counter::HandlerReadLast, Counter::HandlerReadPrev),
        };
        if is_open {
            lane.increment(edge);
        }
        let is_table = is_table && lower.is_empty() && range.upper.is_none();
        match range.unique {
            true => Steps::default(),
            false if is_table => Steps { counter: Some(Counter::HandlerReadRndNext), counts: true },
            false => Steps { counter: Some(step), counts: false },
        }
    }

    /// An entry was read (`met`), or the end was met.
    #[inline]
    fn count(&mut self, met: bool) {
        match self.counter {
            Some(counter) if self.counts => observe::increment(counter),
            _ => self.counts = met,
        }
    }

    /// All entries and the end were met.
    fn count_all(self, entries: u64) {
        if let Some(counter) = self.counter {
            observe::add(counter, entries + u64::from(self.counts));
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Lookup {
    /// Not a point read.
    No,
    Pending,
    Done,
}

impl ScanOp {
    /// Made of its plan.
    pub fn new(scan: Scan) -> ScanOp {
        let table = scan.table;
        let index = scan.access.index;
        let parts = plan::access::key_columns(&table, &table.indexes[index]);
        let multi = table.indexes[index].array_part.is_some();
        let point = index == 0
            && scan.access.ranges.len() == 1
            && scan.access.ranges[0].equal.len() == table.indexes[0].parts.len()
            && scan.access.ranges[0].equal.iter().all(|e| e.len() == 1)
            && table.indexes[0].parts.iter().all(|p| p.key.prefix == 0);
        ScanOp {
            slot: scan.slot,
            tree: table.indexes[index].tree,
            table,
            index,
            planned: index,
            ordered: scan.access.ordered,
            ranges: scan.access.ranges,
            backward: scan.access.backward,
            read: scan.read,
            reading: scan.read,
            implied: scan.implied,
            precise: true,
            whole: true,
            multi,
            lookup: Lookup::No,
            to_write: false,
            semi_consistent: false,
            covering: scan.covering,
            limit_hint: scan.limit_hint,
            parts,
            key_ranges: Vec::new(),
            bytes: own_line(),
            next_range: 0,
            cursor: None,
            live: false,
            steps: Steps::default(),
            row_lock: None,
            point,
            prefixes: Vec::new(),
            row: Vec::new(),
            check: Vec::new(),
        }
    }

    /// For UPDATE and DELETE: what a point read finds is written, or kept locked, before anything else is read. True: this is a
    /// point read, and writing may be refused because the row has changed.
    pub fn read_to_write(&mut self) -> bool {
        self.to_write = self.point;
        self.to_write
    }

    /// For UPDATE: what is read without its lock is to be settled before it is written. See [`Op::settle`].
    pub fn read_semi_consistently(&mut self) {
        self.semi_consistent = self.index == 0;
    }

    pub(super) fn index(&self) -> &Index {
        &self.table.indexes[self.index]
    }

    /// Encodes the key of a point read into `bytes`; false: no row can match. `None`: not a point after all.
    fn point_key(&mut self, run: &Run<'_>, at: Scope<'_>) -> Result<Option<bool>> {
        self.bytes.clear();
        let index = &self.table.indexes[0];
        for (part, e) in index.parts.iter().zip(&self.ranges[0].equal) {
            let v = searched(e[0].eval(run, at)?, &self.table, part.column, run);
            self.precise &= is_precise(&v, &self.table, part.column);
            match hold(v, &e[0].ty, &self.table, part.column) {
                Held::Exact(v) => key::encode_part(&mut self.bytes, &part.key, &v),
                Held::Null | Held::Above(_) | Held::Low | Held::High => return Ok(Some(false)),
                Held::Unordered => return Ok(None),
            }
        }
        Ok(Some(true))
    }

    /// The conditions that the ranges stand for, where they do not say all.
    #[inline]
    pub(super) fn wanted(&self, run: &Run<'_>, at: Scope<'_>) -> Result<bool> {
        match &self.implied {
            Some(e) if !self.precise => Ok(e.eval_bool(run, at)? == Some(true)),
            _ => Ok(true),
        }
    }

    /// Evaluates and encodes all ranges.
    fn encode(&mut self, run: &Run<'_>, at: Scope<'_>) -> Result<()> {
        self.bytes.clear();
        self.key_ranges.clear();
        self.next_range = 0;
        if self.ranges.is_empty() {
            self.key_ranges.push(KeyRange { lower: (0, 0), upper: None, unique: false });
            return Ok(());
        }
        for i in 0..self.ranges.len() {
            self.encode_range(i, run, at)?;
            if self.index != self.planned {
                return Ok(());
            }
        }
        if self.key_ranges.len() > 1 {
            self.merge();
        }
        Ok(())
    }

    fn encode_range(&mut self, i: usize, run: &Run<'_>, at: Scope<'_>) -> Result<()> {
        let table = &self.table;
        let index = &table.indexes[self.index];
        let range = &self.ranges[i];
        let mut prefixes = std::mem::take(&mut self.prefixes);
        // One buffer a prefix; the usual single one is kept from execution to execution.
        prefixes.truncate(1);
        match prefixes.first_mut() {
            Some(p) => p.clear(),
            None => prefixes.push(Vec::new()),
        }
        let Some(Equal { open, mut precise, unique }) = encode_equal(table, index, range, &mut prefixes, run, at)?
        else {
            self.prefixes = prefixes;
            self.read_all();
            return Ok(());
        };
        let mut selective = range.pattern.is_none() || !range.equal.is_empty() || self.ranges.len() > 1;
        if let Some((pattern, escape)) = range.pattern.as_ref().filter(|_| !open) {
            let part = &index.parts[range.equal.len()];
            let v = pattern.eval(run, at)?;
            let text = if let Value::Bytes(b) = &v { &b[..] } else { &[] };
            for p in prefixes.iter().filter(|_| !v.is_null()) {
                let mut key = p.clone();
                selective |= key::encode_like_prefix(&mut key, &part.key, text, *escape);
                let lower = append(&mut self.bytes, &key);
                let upper = append_successor(&mut self.bytes, &key);
                self.key_ranges.push(KeyRange { lower, upper, unique: false });
            }
            selective |= v.is_null();
        } else if range.bounded && !open {
            let part = &index.parts[range.equal.len()];
            let mut bound = |b: &'_ Option<(Expr, bool)>| -> Result<Option<(Held<'_>, bool)>> {
                match b {
                    None => Ok(None),
                    Some((e, inclusive)) => {
                        let v = searched(e.eval(run, at)?, table, part.column, run);
                        precise &= is_precise(&v, table, part.column);
                        let held = hold(v, &e.ty, table, part.column);
                        // This end of the range is open then: the comparison itself has to judge the rows.
                        precise &= !matches!(held, Held::Unordered);
                        Ok(Some((owned(held), *inclusive)))
                    }
                }
            };
            let (low, high) = (bound(&range.lower)?, bound(&range.upper)?);
            for p in &prefixes {
                push_bounds(&mut self.bytes, &mut self.key_ranges, p, &part.key, &low, &high);
            }
        } else {
            for p in &prefixes {
                let lower = append(&mut self.bytes, p);
                let upper = append_successor(&mut self.bytes, p);
                self.key_ranges.push(KeyRange { lower, upper, unique });
            }
        }
        self.prefixes = prefixes;
        self.precise &= precise && !open;
        self.whole &= !open;
        if !selective && !self.covering && !self.ordered && self.reading == Read::Consistent {
            self.read_all();
        }
        Ok(())
    }

    /// The index tells nothing: all rows from the clustered one.
    #[cold]
    fn read_all(&mut self) {
        self.index = 0;
        self.tree = self.table.indexes[0].tree;
        self.bytes.clear();
        self.key_ranges.clear();
        self.key_ranges.push(KeyRange { lower: (0, 0), upper: None, unique: false });
    }

    /// Sorts the ranges and joins those that overlap.
    fn merge(&mut self) {
        let bytes = &self.bytes;
        let of = |r: (usize, usize)| &bytes[r.0..r.1];
        self.key_ranges.sort_unstable_by(|a, b| of(a.lower).cmp(of(b.lower)));
        self.key_ranges.dedup_by(|next, last| {
            let overlap = last.upper.is_none_or(|u| of(next.lower) <= of(u));
            if overlap {
                let further = match (last.upper, next.upper) {
                    (None, _) | (_, None) => None,
                    (Some(a), Some(b)) => Some(if of(a) >= of(b) { a } else { b }),
                };
                last.upper = further;
                last.unique = false;
            }
            overlap
        });
    }

    /// Opens the cursor of the next range.
    fn advance(&mut self, hint: usize) -> bool {
        if self.next_range >= self.key_ranges.len() {
            return false;
        }
        let i = if self.backward { self.key_ranges.len() - 1 - self.next_range } else { self.next_range };
        self.next_range += 1;
        let r = self.key_ranges[i];
        let lower = &self.bytes[r.lower.0..r.lower.1];
        let range = Range {
            lower: if lower.is_empty() { Bound::Unbounded } else { Bound::Included(lower) },
            upper: match r.upper {
                Some(u) => Bound::Excluded(&self.bytes[u.0..u.1]),
                None => Bound::Unbounded,
            },
        };
        let direction = if self.backward { Direction::Backward } else { Direction::Forward };
        self.steps = self.begin_steps(r);
        match &mut self.cursor {
            Some(c) => c.reset(self.tree, range, direction, self.reading, hint),
            None => self.cursor = Some(Cursor::new(self.tree, range, direction, self.reading, hint).counted()),
        }
        if self.reading != Read::Consistent {
            let cursor = self.cursor.as_mut().expect("just made");
            cursor.set_extent(if r.unique { Extent::Unique } else { Extent::Range });
            cursor.set_semi_consistent(self.semi_consistent);
        }
        self.live = true;
        true
    }

    fn begin_steps(&self, range: KeyRange) -> Steps {
        let is_table = self.index == 0 && !self.ordered && (self.ranges.is_empty() || self.index != self.planned);
        Steps::begin(&self.bytes[range.lower.0..range.lower.1], range, self.backward, is_table)
    }

    fn hint(&self, run: &Run<'_>, at: Scope<'_>) -> Result<usize> {
        match &self.limit_hint {
            None => Ok(0),
            Some(e) => Ok(super::limit::limit_value(e, run, at)?.min(1 << 20) as usize),
        }
    }

    /// Where the clustered key begins in a secondary key.
    fn clustered_key_at(&self, key: &[u8]) -> Result<usize> {
        let corrupt = || error::engine(engine::Error::Corrupt(format!("key of index {}", self.index().name)));
        own_length(&self.table, self.index, key).ok_or_else(corrupt)
    }
}

impl Op for ScanOp {
    fn open(&mut self, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<()> {
        self.live = false;
        self.next_range = 0;
        self.key_ranges.clear();
        self.precise = true;
        self.whole = true;
        self.reading = if self.read == Read::Consistent { run.plain_read() } else { self.read };
        self.lookup = Lookup::No;
        let at = Scope::new(frame, outer);
        if self.point
            && let Some(possible) = self.point_key(run, at)?
        {
            self.lookup = if possible { Lookup::Pending } else { Lookup::Done };
            return Ok(());
        }
        if self.index != self.planned {
            self.index = self.planned;
            self.tree = self.table.indexes[self.planned].tree;
        }
        self.encode(run, at)
    }

    fn next(&mut self, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<bool> {
        loop {
            let found = match self.lookup {
                Lookup::No => self.scan(run, frame, outer)?,
                Lookup::Done => false,
                Lookup::Pending => {
                    let found = self.read_point(run, &mut frame.slots[self.slot].bytes)?;
                    let slot = &mut frame.slots[self.slot];
                    slot.present = found;
                    slot.key.clear();
                    slot.key.extend_from_slice(&self.bytes);
                    found
                }
            };
            if !found || self.wanted(run, Scope::new(frame, outer))? {
                return Ok(found);
            }
            self.reject(run);
            run.check_interrupt()?;
        }
    }

    fn each(
        &mut self,
        run: &Run<'_>,
        frame: &mut Frame,
        outer: Option<&Scope<'_>>,
        receive: &mut Receive<'_>,
    ) -> Result<()> {
        if self.lookup == Lookup::Pending && self.precise {
            // Nobody asks for the key of a row that is passed on.
            let slot = &mut frame.slots[self.slot];
            slot.present = self.read_point(run, &mut slot.bytes)?;
            if slot.present && receive(Scope::new(frame, outer))? == Step::Reject {
                self.reject(run);
            }
            return Ok(());
        }
        if self.lookup != Lookup::No || self.index != 0 {
            while self.next(run, frame, outer)? {
                match receive(Scope::new(frame, outer))? {
                    Step::More => {}
                    Step::Reject => self.reject(run),
                    Step::Stop => break,
                }
            }
            return Ok(());
        }
        // Rows of the clustered index are passed on from where the cursor has them.
        let hint = self.hint(run, Scope::new(frame, outer))?;
        while self.advance(hint) {
            let implied = self.implied.as_ref().filter(|_| !self.precise);
            let cursor = self.cursor.as_mut().expect("advance made it");
            loop {
                let entry = cursor.next(&mut run.tx.borrow_mut()).map_err(|e| run.engine_error(e))?;
                self.steps.count(entry.is_some());
                let Some(entry) = entry else { break };
                let at = Scope::with_row(frame, outer, self.slot, entry.value);
                let wanted = match implied {
                    Some(e) => e.eval_bool(run, at)? == Some(true),
                    None => true,
                };
                match if wanted { receive(at)? } else { Step::Reject } {
                    Step::More => {}
                    Step::Reject if self.reading == Read::Consistent => {}
                    Step::Reject => cursor.release_last(&mut run.tx.borrow_mut()),
                    Step::Stop => return Ok(()),
                }
            }
        }
        self.live = false;
        Ok(())
    }

    fn count_rows(&mut self, run: &Run<'_>) -> Result<Option<u64>> {
        self.count_all(run)
    }

    fn settle(&mut self, run: &Run<'_>, frame: &mut Frame, _outer: Option<&Scope<'_>>) -> Result<Settled> {
        let Some(cursor) = self.cursor.as_mut().filter(|c| self.semi_consistent && c.is_unlocked()) else {
            return Ok(Settled::AsRead);
        };
        let row = cursor.lock_last(&mut run.tx.borrow_mut()).map_err(|e| run.engine_error(e))?;
        let Some(row) = row else { return Ok(Settled::Gone) };
        let slot = &mut frame.slots[self.slot];
        slot.bytes.clear();
        slot.bytes.extend_from_slice(row);
        Ok(Settled::Changed)
    }

    fn reject(&mut self, run: &Run<'_>) {
        if self.reading == Read::Consistent {
            return;
        }
        let mut tx = run.tx.borrow_mut();
        if let Some(cursor) = &mut self.cursor {
            cursor.release_last(&mut tx);
        }
        if let Some(lock) = self.row_lock.take() {
            tx.give_back(lock);
        }
    }
}

/// A row is read by what is kept of it: its key.
pub(super) fn count_position() {
    let lane = observe::lane();
    lane.increment(Counter::HandlerReadRnd);
    lane.increment(Counter::HandlerReadKey);
}

/// Reads a row by its key. The lock that this takes can be given back.
#[inline]
fn get(
    lock: &mut Option<FreshLock>,
    tx: &mut Transaction,
    tree: Tree,
    key: &[u8],
    reading: Read,
    row: &mut Vec<u8>,
) -> engine::Result<bool> {
    let found = tx.get(tree, key, reading, row);
    if reading != Read::Consistent {
        *lock = tx.fresh_lock();
    }
    found
}

impl ScanOp {
    /// What bounds on one part of the index let through, as keys behind any values of the parts before it; without an end: as far
    /// as that prefix goes. `None`: nothing.
    pub(super) fn part_range(
        &self,
        part: usize,
        range: &IndexRange,
        run: &Run<'_>,
        at: Scope<'_>,
    ) -> Result<Option<OwnKeys>> {
        let part = &self.index().parts[part];
        let bound = |b: &Option<(Expr, bool)>| -> Result<Option<(Held<'static>, bool)>> {
            let Some((e, inclusive)) = b else { return Ok(None) };
            let v = searched(e.eval(run, at)?, &self.table, part.column, run);
            Ok(Some((owned(hold(v, &e.ty, &self.table, part.column)), *inclusive)))
        };
        let (mut bytes, mut found) = (Vec::new(), Vec::new());
        push_bounds(&mut bytes, &mut found, &[], &part.key, &bound(&range.lower)?, &bound(&range.upper)?);
        let of = |(from, to): (usize, usize)| bytes[from..to].to_vec();
        Ok(found.pop().map(|r| (of(r.lower), r.upper.map(of))))
    }

    /// May entries be left out, as far as this execution's way of reading goes?
    pub(super) fn may_hop(&self) -> bool {
        self.reading == Read::Consistent && self.lookup == Lookup::No
    }

    /// The encoded ranges of this execution: in order, without overlap.
    pub(super) fn take_ranges(&mut self) -> Vec<OwnKeys> {
        let of = |(from, to): (usize, usize)| self.bytes[from..to].to_vec();
        self.key_ranges.iter().map(|r| (of(r.lower), r.upper.map(of))).collect()
    }

    /// Are the entries of this execution those of one key of the whole index, and so in the order of the clustered key? Or of none.
    pub(super) fn has_one_key(&self) -> bool {
        self.whole && self.key_ranges.len() <= 1 && self.index == self.planned
    }

    /// The row of a clustered key, as this execution reads it.
    pub(super) fn row_of(&mut self, run: &Run<'_>, key: &[u8], row: &mut Vec<u8>) -> Result<bool> {
        let (clustered, reading) = (self.table.indexes[0].tree, self.reading);
        count_position();
        get(&mut self.row_lock, &mut run.tx.borrow_mut(), clustered, key, reading, row).map_err(|e| run.engine_error(e))
    }

    /// Reads from `lower` up to `upper`, or downwards from there, in place of its own ranges.
    pub(crate) fn seek(&mut self, lower: &[u8], upper: Option<&[u8]>, backward: bool) {
        self.bytes.clear();
        let lower = append(&mut self.bytes, lower);
        let upper = upper.map(|key| append(&mut self.bytes, key));
        self.key_ranges.clear();
        self.key_ranges.push(KeyRange { lower, upper, unique: false });
        (self.next_range, self.live, self.backward) = (0, false, backward);
    }

    /// The next entry, whether its row is wanted or not.
    pub(crate) fn next_entry(&mut self, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<bool> {
        self.scan(run, frame, outer)
    }

    /// The key of the entry read last, as its index has it.
    pub(crate) fn entry_key<'s>(&'s self, frame: &'s Frame) -> &'s [u8] {
        if self.index == 0 { &frame.slots[self.slot].key } else { &self.check }
    }

    /// May rows be read in another order than their entries? Not where an unwanted row's locks are given back, nor where the index
    /// tells nothing.
    pub(super) fn may_batch(&self, run: &Run<'_>) -> bool {
        let keeps_locks = self.reading == Read::Consistent || run.tx.borrow().isolation() > Isolation::ReadCommitted;
        keeps_locks && self.index == self.planned && self.index != 0
    }

    /// Are the rows of this execution's ranges those for which their conditions hold?
    pub(super) fn is_exact(&self) -> bool {
        self.precise
    }

    /// The ranges of several executions are looked up together.
    pub(super) fn set_exact(&mut self, exact: bool) {
        self.precise = exact;
    }

    /// The only range of this execution, as keys, and whether it is one key of a unique index; `None`: no row is looked for.
    pub(super) fn only_range(&self) -> Option<(Keys<'_>, bool)> {
        assert!(self.key_ranges.len() <= 1, "a lookup has one range");
        let of = |(from, to): (usize, usize)| &self.bytes[from..to];
        self.key_ranges.first().map(|r| ((of(r.lower), r.upper.map(of)), r.unique))
    }

    /// Reads a range that [`ScanOp::only_range`] gave.
    pub(super) fn look_up(&mut self, lower: &[u8], upper: Option<&[u8]>, unique: bool) {
        self.seek(lower, upper, false);
        self.key_ranges[0].unique = unique;
    }

    /// The next entry of a secondary index, whose row is not read: its key, where the clustered key begins in it, and whether it is
    /// known to belong to what this execution reads.
    pub(super) fn next_key(&mut self, run: &Run<'_>) -> Result<Option<(&[u8], usize, bool)>> {
        assert!(self.index != 0, "a secondary index");
        let certain = loop {
            if !self.live && !self.advance(0) {
                return Ok(None);
            }
            let cursor = self.cursor.as_mut().expect("advance made it");
            let entry = cursor.next(&mut run.tx.borrow_mut()).map_err(|e| run.engine_error(e))?;
            self.steps.count(entry.is_some());
            let Some(entry) = entry else {
                self.live = false;
                continue;
            };
            self.check.clear();
            self.check.extend_from_slice(entry.key);
            break entry.certain;
        };
        let clustered = self.clustered_key_at(&self.check)?;
        Ok(Some((&self.check, clustered, certain)))
    }

    /// Reads into the slot the row of an entry, whose clustered key begins at `clustered` of `key`; before it an uncertain entry has
    /// the index's own parts. False: this execution does not see such a row.
    pub(super) fn read_row(&mut self, run: &Run<'_>, frame: &mut Frame, key: &[u8], clustered: usize) -> Result<bool> {
        let slot = &mut frame.slots[self.slot];
        slot.key.clear();
        slot.key.extend_from_slice(&key[clustered..]);
        slot.present = self.row_of(run, &slot.key, &mut slot.bytes)?;
        if slot.present && clustered > 0 {
            self.check.clear();
            self.check.extend_from_slice(key);
            self.row_key(&run.tx.borrow(), Some(&slot.bytes))?;
            slot.present = !self.bytes_differ();
        }
        Ok(slot.present)
    }

    /// The point read of the key in `bytes`, once.
    fn read_point(&mut self, run: &Run<'_>, row: &mut Vec<u8>) -> Result<bool> {
        self.lookup = Lookup::Done;
        self.row_lock = None;
        let mut tx = run.tx.borrow_mut();
        let found = match self.to_write && self.precise {
            true => tx.read_to_write(self.tree, &self.bytes, row),
            false => get(&mut self.row_lock, &mut tx, self.tree, &self.bytes, self.reading, row),
        };
        let found = found.map_err(|e| run.engine_error(e))?;
        let lane = observe::lane();
        lane.increment(Counter::HandlerReadKey);
        lane.add(Counter::InnodbRowsRead, u64::from(found));
        if found {
            observe::count_rows(self.tree.id, observe::RowUse::Fetch, 1);
        }
        Ok(found)
    }

    /// Leaves the next entry of the ranges in the slot.
    fn scan(&mut self, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<bool> {
        loop {
            let Some(cursor) = self.cursor.as_mut().filter(|_| self.live) else {
                let hint = self.hint(run, Scope::new(frame, outer))?;
                if self.advance(hint) {
                    continue;
                }
                return Ok(false);
            };
            let mut tx = run.tx.borrow_mut();
            // What was taken for the row before it stays, whatever becomes of this one.
            self.row_lock = None;
            let entry = cursor.next(&mut tx).map_err(|e| run.engine_error(e))?;
            self.steps.count(entry.is_some());
            let Some(entry) = entry else {
                self.live = false;
                continue;
            };
            let slot = &mut frame.slots[self.slot];
            if self.index == 0 {
                slot.key.clear();
                slot.key.extend_from_slice(entry.key);
                slot.bytes.clear();
                slot.bytes.extend_from_slice(entry.value);
                slot.present = true;
                return Ok(true);
            }
            let certain = entry.certain;
            self.check.clear();
            self.check.extend_from_slice(entry.key);
            let at = self.clustered_key_at(&self.check)?;
            slot.key.clear();
            slot.key.extend_from_slice(&self.check[at..]);
            if self.covering && certain {
                decode_covered(&self.check, &self.parts, &mut slot.bytes)?;
                slot.present = true;
                return Ok(true);
            }
            let clustered = self.table.indexes[0].tree;
            let row = if self.covering { &mut self.row } else { &mut slot.bytes };
            let found = get(&mut self.row_lock, &mut tx, clustered, &slot.key, self.reading, row);
            let found = found.map_err(|e| run.engine_error(e))?;
            if !found {
                if self.reading != Read::Consistent {
                    self.cursor.as_mut().expect("it is live").release_last(&mut tx);
                }
                continue;
            }
            if self.multi {
                let mut inside = Vec::new();
                let row = long::indexed(&tx, &self.table, [self.index].into_iter(), &slot.bytes, &mut inside)?;
                let of_row = Entries::of(&self.table, self.index, row, &slot.key);
                if !of_row.is_first(&self.check, |entry| self.has(entry)) {
                    continue;
                }
            } else if !certain {
                // The snapshot's row decides whether this entry is one of its own.
                self.row_key(&tx, if self.covering { None } else { Some(&slot.bytes) })?;
                if self.bytes_differ() {
                    continue;
                }
            }
            if self.covering {
                decode_covered(&self.check, &self.parts, &mut slot.bytes)?;
            }
            slot.present = true;
            return Ok(true);
        }
    }

    /// Is the entry in a range of this execution?
    fn has(&self, entry: &[u8]) -> bool {
        let of = |r: (usize, usize)| &self.bytes[r.0..r.1];
        let at = self.key_ranges.partition_point(|r| of(r.lower) <= entry);
        at > 0 && self.key_ranges[at - 1].upper.is_none_or(|u| entry < of(u))
    }

    /// Encodes into `prefixes[1]` the index parts of a row.
    fn row_key(&mut self, tx: &Transaction, row: Option<&Vec<u8>>) -> Result<()> {
        let mut out = match self.prefixes.len() {
            0 | 1 => Vec::new(),
            _ => self.prefixes.pop().expect("two"),
        };
        out.clear();
        let row = row.unwrap_or(&self.row);
        let mut inside = Vec::new();
        let row = long::indexed(tx, &self.table, [self.index].into_iter(), row, &mut inside)?;
        super::write::index_parts(&mut out, &self.table, self.index, row);
        if self.prefixes.is_empty() {
            self.prefixes.push(Vec::new());
        }
        self.prefixes.push(out);
        Ok(())
    }

    fn bytes_differ(&self) -> bool {
        let own = self.prefixes.last().expect("row_key was called");
        !self.check.starts_with(own)
    }
}

/// Decodes what a covering scan reads from a secondary key into a tuple.
fn decode_covered(key: &[u8], parts: &[(usize, KeyPart)], out: &mut Vec<u8>) -> Result<()> {
    out.clear();
    let mut rest = key;
    let mut w = tuple::Writer::new(out, parts.len());
    let corrupt = || error::engine(engine::Error::Corrupt("secondary key".to_string()));
    for (_, part) in parts {
        if key::is_reversible(part) {
            let v = key::decode_part(&mut rest, part).ok_or_else(corrupt)?;
            w.push(&v);
        } else {
            let n = key::part_length(rest, part).ok_or_else(corrupt)?;
            rest = &rest[n..];
            w.push(&Value::Null);
        }
    }
    w.finish();
    Ok(())
}
