//! Window functions. All input rows are kept and sorted by partition and order, in files where they find no room in memory; then
//! one partition after another is computed, and its rows come out as they went in, with the results in a slot of their own.

use crate::order;
use crate::saved_slots::{restore_slots, save_slots};
use crate::spill::{Merge, Room, Runs};
use crate::{Frame, Op, Run, Scope, Step as Receiver, tuple};
use expr::aggregate::Accumulator;
use expr::call::AggregateCall;
use expr::key::encode_key;
use expr::{Execution, convert};
use plan::node::{Edge, Step, StepFrame, Window};
use std::cmp::Ordering;
use std::ops::Range;
use types::codes::*;
use types::{Result, SqlError, Value, err};

/// A kept row: where its parts are in [`WindowOp::bytes`], one behind the other.
#[derive(Clone, Copy)]
struct Kept {
    start: u32,
    /// Bytes of the encoded partition; of it and the encoded order; of the tuple of values; of the slots.
    partition: u32,
    key: u32,
    values: u32,
    slots: u32,
}

impl Kept {
    fn key(self) -> Range<usize> {
        let start = self.start as usize;
        start..start + self.key as usize
    }

    fn partition(self) -> Range<usize> {
        let start = self.start as usize;
        start..start + self.partition as usize
    }

    fn order(self) -> Range<usize> {
        self.partition().end..self.key().end
    }

    fn values(self) -> Range<usize> {
        self.key().end..self.key().end + self.values as usize
    }

    fn slots(self) -> Range<usize> {
        self.values().end..self.values().end + self.slots as usize
    }
}

/// The steps of windows over the input's rows.
pub struct WindowOp {
    input: Box<dyn Op>,
    rows: Rows,
    /// The partition at hand, and the results of its rows by step.
    partition: Range<usize>,
    results: Vec<Column>,
    next: usize,
}

/// The rows, and how they are kept.
struct Rows {
    plan: Window,
    bytes: Vec<u8>,
    rows: Vec<Kept>,
    memory_max: usize,
    /// Rows that found no room: sorted runs, then their merge, whose next record is `ahead` once it has been looked at. Its key is
    /// the row's, its payload `partition's length u32 | key's length u32 | values' length u32 | key | values | slots`.
    runs: Option<Runs>,
    merge: Option<Merge>,
    ahead: Option<Vec<u8>>,
}

/// The results of a step, a row each.
enum Column {
    Numbers(Vec<u64>),
    Values(Vec<Value<'static>>),
}

/// Bytes before the key in a record's payload.
const HEAD: usize = 12;

impl Rows {
    fn clear(&mut self, memory_max: usize) {
        self.bytes.clear();
        self.rows.clear();
        self.memory_max = memory_max;
        (self.runs, self.merge, self.ahead) = (None, None, None);
    }

    fn memory(&self) -> usize {
        self.bytes.len() + self.rows.len() * size_of::<Kept>()
    }

    /// Rows of equal keys keep the order in which they came.
    fn sort(&mut self) {
        if self.plan.partition.is_empty() && self.plan.order.is_empty() {
            return;
        }
        let (bytes, rows) = (&self.bytes, &self.rows);
        let key = |row: usize| &bytes[rows[row].key()];
        let (mut entries, exact) = order::entries(rows.len(), key);
        order::sort(&mut entries);
        if !exact {
            for tied in entries.chunk_by_mut(|a, b| a.leading == b.leading) {
                tied.sort_by(|a, b| key(a.row as usize).cmp(key(b.row as usize)));
            }
        }
        self.rows = entries.iter().map(|e| rows[e.row as usize]).collect();
    }

    /// The rows in memory become a sorted run.
    #[cold]
    fn spill(&mut self, run: &Run<'_>) -> Result<()> {
        self.sort();
        let runs = match &mut self.runs {
            Some(runs) => runs,
            None => self.runs.insert(Runs::new(run)?),
        };
        let (bytes, rows, mut payload) = (&self.bytes, &self.rows, Vec::new());
        runs.add(|put| {
            for k in rows {
                payload.clear();
                for length in [k.partition, k.key, k.values] {
                    payload.extend_from_slice(&length.to_le_bytes());
                }
                payload.extend_from_slice(&bytes[k.key().start..k.slots().end]);
                put(&bytes[k.key()], &payload)?;
            }
            Ok(())
        })?;
        self.bytes.clear();
        self.rows.clear();
        Ok(())
    }

    /// All rows are there: they are sorted, or their runs are merged, and the first partition is read.
    fn finish(&mut self, run: &Run<'_>) -> Result<()> {
        if self.runs.is_none() {
            self.sort();
            return Ok(());
        }
        self.spill(run)?;
        self.merge = self.runs.take().map(|runs| runs.merge(run, false)).transpose()?;
        self.load(run).map(|_| ())
    }

    /// Reads the next partition from the files; false: there is none.
    fn load(&mut self, run: &Run<'_>) -> Result<bool> {
        let Rows { bytes, rows, merge, ahead, .. } = self;
        let Some(merge) = merge else { return Ok(false) };
        bytes.clear();
        rows.clear();
        loop {
            let record = match ahead.take() {
                Some(record) => record,
                None => match merge.advance()? {
                    Some((_, payload)) => payload.to_vec(),
                    None => break,
                },
            };
            let length = |i: usize| u32::from_le_bytes(record[i..i + 4].try_into().expect("four bytes"));
            let (partition, key, values) = (length(0), length(4), length(8));
            let first = rows.first().map(|k: &Kept| &bytes[k.partition()]);
            if first.is_some_and(|p| p != &record[HEAD..HEAD + partition as usize]) {
                *ahead = Some(record);
                break;
            }
            let start = length32(bytes.len())?;
            bytes.extend_from_slice(&record[HEAD..]);
            run.check_interrupt()?;
            run.check_growth(bytes.len())?;
            let slots = (record.len() - HEAD) as u32 - key - values;
            rows.push(Kept { start, partition, key, values, slots });
        }
        Ok(!self.rows.is_empty())
    }

    fn keep(&mut self, run: &Run<'_>, at: Scope<'_>) -> Result<()> {
        let Rows { plan, bytes, rows, .. } = self;
        let start = bytes.len();
        for e in &plan.partition {
            encode_key(bytes, &e.eval(run, at)?, &e.ty, false);
        }
        let partition_end = bytes.len();
        for k in &plan.order {
            encode_key(bytes, &k.expr.eval(run, at)?, &k.expr.ty, k.descending);
        }
        let key_end = bytes.len();
        let mut w = tuple::Writer::new(bytes, plan.values.len());
        for e in &plan.values {
            w.push(&e.eval(run, at)?);
        }
        w.finish();
        let values_end = bytes.len();
        save_slots(bytes, at, &plan.keep);
        rows.push(Kept {
            start: length32(start)?,
            partition: length32(partition_end - start)?,
            key: length32(key_end - start)?,
            values: length32(values_end - key_end)?,
            slots: length32(bytes.len() - values_end)?,
        });
        run.check_work(bytes.len() - start)?;
        run.check_growth(bytes.len())
    }

    /// The partition that begins at row `from`.
    fn partition(&self, from: usize) -> Range<usize> {
        if self.plan.partition.is_empty() {
            return from..self.rows.len();
        }
        let of = |k: &Kept| &self.bytes[k.partition()];
        let count = self.rows[from..].iter().take_while(|k| of(k) == of(&self.rows[from])).count();
        from..from + count
    }
}

impl WindowOp {
    /// Made of its plan.
    pub fn new(input: Box<dyn Op>, plan: Window) -> WindowOp {
        let rows =
            Rows { plan, bytes: Vec::new(), rows: Vec::new(), memory_max: 0, runs: None, merge: None, ahead: None };
        WindowOp { input, rows, partition: 0..0, results: Vec::new(), next: 0 }
    }

    /// Computes the partition that begins at row `from`.
    fn compute(&mut self, from: usize, run: &Run<'_>, frame: &Frame, outer: Option<&Scope<'_>>) -> Result<()> {
        let Rows { plan, bytes, rows, .. } = &self.rows;
        self.partition = self.rows.partition(from);
        let partition = Partition::new(plan, bytes, &rows[self.partition.clone()]);
        self.results.clear();
        for (step, edges) in &plan.steps {
            self.results.push(partition.compute(step, edges, run, frame, outer)?);
        }
        Ok(())
    }
}

impl Op for WindowOp {
    fn open(&mut self, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<()> {
        self.rows.clear(run.tmp_memory());
        (self.partition, self.next) = (0..0, 0);
        self.input.open(run, frame, outer)?;
        let WindowOp { input, rows, .. } = self;
        let mut kept = 0;
        input.each(run, frame, outer, &mut |at| {
            run.check_interrupt()?;
            rows.keep(run, at)?;
            kept += 1;
            if run.must_spill(rows.memory(), rows.memory_max) {
                rows.spill(run)?;
            }
            Ok(Receiver::More)
        })?;
        if !(rows.plan.partition.is_empty() && rows.plan.order.is_empty()) {
            super::sort::count(kept);
        }
        rows.finish(run)
    }

    fn next(&mut self, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<bool> {
        if self.next == self.rows.rows.len() {
            if !self.rows.load(run)? {
                return Ok(false);
            }
            (self.partition, self.next) = (0..0, 0);
        }
        if self.next == self.partition.end {
            self.compute(self.next, run, frame, outer)?;
        }
        let Rows { plan, bytes, rows, .. } = &self.rows;
        restore_slots(&bytes[rows[self.next].slots()], frame, &plan.keep);
        let slot = &mut frame.slots[plan.slot];
        slot.bytes.clear();
        slot.present = true;
        let at = self.next - self.partition.start;
        let mut w = tuple::Writer::new(&mut slot.bytes, self.results.len());
        for column in &self.results {
            match column {
                Column::Numbers(numbers) => w.push(&Value::UInt(numbers[at])),
                Column::Values(values) => w.push(&values[at]),
            }
        }
        w.finish();
        self.next += 1;
        Ok(true)
    }

    fn forget(&mut self) {
        self.input.forget();
    }
}

/// The rows of one partition, in order.
struct Partition<'p> {
    width: usize,
    value_slot: usize,
    descending: bool,
    bytes: &'p [u8],
    rows: &'p [Kept],
    /// For each row, the range of its peers, where a step asks for them.
    peers: Vec<Range<usize>>,
}

/// Does the step ask which rows are peers?
fn asks_for_peers(step: &Step, edges: &StepFrame) -> bool {
    let by_peers = |edge: &Edge| match edge {
        Edge::Current => !edges.rows,
        Edge::Key { .. } => true,
        Edge::Unbounded | Edge::Before(_) | Edge::After(_) => false,
    };
    match step {
        Step::RowNumber | Step::Ntile(_) | Step::Shift { .. } => false,
        Step::Rank | Step::DenseRank | Step::PercentRank | Step::CumeDist => true,
        Step::First(_) | Step::Last(_) | Step::Nth(..) | Step::Aggregate(_) => {
            by_peers(&edges.start) || by_peers(&edges.end)
        }
    }
}

impl<'p> Partition<'p> {
    fn new(plan: &Window, bytes: &'p [u8], rows: &'p [Kept]) -> Partition<'p> {
        let mut peers = Vec::new();
        let key = |k: &Kept| &bytes[k.order()];
        let asked = plan.steps.iter().any(|(step, edges)| asks_for_peers(step, edges));
        while asked && peers.len() < rows.len() {
            let from = peers.len();
            let count = rows[from..].iter().take_while(|k| key(k) == key(&rows[from])).count();
            peers.extend(std::iter::repeat_n(from..from + count, count));
        }
        let descending = plan.order.first().is_some_and(|k| k.descending);
        Partition { width: plan.values.len(), value_slot: plan.value_slot, descending, bytes, rows, peers }
    }

    fn tuple(&self, row: usize) -> &'p [u8] {
        &self.bytes[self.rows[row].values()]
    }

    fn value(&self, row: usize, i: usize) -> Value<'p> {
        tuple::get(self.tuple(row), self.width, i)
    }

    fn compute(
        &self,
        step: &Step,
        edges: &StepFrame,
        run: &Run<'_>,
        frame: &Frame,
        outer: Option<&Scope<'_>>,
    ) -> Result<Column> {
        let n = self.rows.len();
        let rows = 0..n;
        let at = Scope::new(frame, outer);
        let place = |e: &expr::Expr, least: u64| -> Result<Option<u64>> {
            match e.eval(run, at)? {
                Value::Null => Ok(None),
                Value::Int(v) if v < 0 || (v as u64) < least => Err(wrong_argument(step)),
                Value::Int(v) => Ok(Some(v as u64)),
                v if v.to_u64() < least => Err(wrong_argument(step)),
                v => Ok(Some(v.to_u64())),
            }
        };
        let numbers = |of: &mut dyn FnMut(usize) -> u64| Ok(Column::Numbers(rows.clone().map(of).collect()));
        let values = match step {
            Step::RowNumber => return numbers(&mut |i| i as u64 + 1),
            Step::Rank => return numbers(&mut |i| self.peers[i].start as u64 + 1),
            Step::DenseRank => {
                let mut rank = 0;
                return numbers(&mut |i| {
                    rank += (self.peers[i].start == i) as u64;
                    rank
                });
            }
            Step::PercentRank => {
                let of = |i: usize| if n == 1 { 0.0 } else { self.peers[i].start as f64 / (n - 1) as f64 };
                rows.map(|i| Value::Double(of(i))).collect()
            }
            Step::CumeDist => rows.map(|i| Value::Double(self.peers[i].end as f64 / n as f64)).collect(),
            Step::Ntile(buckets) => match place(buckets, 1)? {
                None => vec![Value::Null; n],
                Some(buckets) => {
                    let (least, larger) = (n as u64 / buckets, n as u64 % buckets);
                    let of = |i: u64| match i < larger * (least + 1) {
                        true => i / (least + 1) + 1,
                        false => larger + (i - larger * (least + 1)) / least.max(1) + 1,
                    };
                    rows.map(|i| Value::UInt(of(i as u64))).collect()
                }
            },
            Step::Shift { value, default, offset, forward } => {
                let offset = usize::try_from(place(offset, 0)?.unwrap_or(0)).unwrap_or(usize::MAX);
                self.column(run, |i| {
                    let other = if *forward { i.checked_add(offset) } else { i.checked_sub(offset) };
                    Ok(match (other.filter(|o| *o < n), default) {
                        (Some(other), _) => self.value(other, *value),
                        (None, Some(default)) => self.value(i, *default),
                        (None, None) => Value::Null,
                    })
                })?
            }
            Step::First(value) => self.of_frames(edges, run, at, |f| f.start, *value)?,
            Step::Last(value) => self.of_frames(edges, run, at, |f| f.end - 1, *value)?,
            Step::Nth(value, nth) => match place(nth, 1)? {
                None => vec![Value::Null; n],
                Some(nth) => self.of_frames(edges, run, at, |f| f.start.saturating_add(nth as usize - 1), *value)?,
            },
            Step::Aggregate(call) => self.aggregate(call, edges, run, frame, outer)?,
        };
        debug_assert_eq!(values.len(), n);
        Ok(Column::Values(values))
    }

    /// For each row the value of one row of its frame, NULL when that lies outside.
    fn of_frames(
        &self,
        edges: &StepFrame,
        run: &Run<'_>,
        at: Scope<'_>,
        which: impl Fn(&Range<usize>) -> usize,
        value: usize,
    ) -> Result<Vec<Value<'static>>> {
        let amounts = self.amounts(edges, run, at)?;
        self.column(run, |i| {
            Ok(match self.frame(i, edges, amounts, run)? {
                f if f.is_empty() || !f.contains(&which(&f)) => Value::Null,
                f => self.value(which(&f), value),
            })
        })
    }

    /// A value for each row.
    fn column<'v>(&self, run: &Run<'_>, of: impl Fn(usize) -> Result<Value<'v>>) -> Result<Vec<Value<'static>>> {
        let mut column = Vec::with_capacity(self.rows.len());
        for i in 0..self.rows.len() {
            run.check_interrupt()?;
            let value = of(i)?;
            if let Value::Bytes(b) | Value::Json(b) = &value {
                run.check_work(b.len())?;
            }
            column.push(value.into_owned());
        }
        Ok(column)
    }

    fn aggregate(
        &self,
        call: &AggregateCall,
        edges: &StepFrame,
        run: &Run<'_>,
        frame: &Frame,
        outer: Option<&Scope<'_>>,
    ) -> Result<Vec<Value<'static>>> {
        let amounts = self.amounts(edges, run, Scope::new(frame, outer))?;
        let mut accumulator = Accumulator::new(call);
        let mut scratch = Vec::new();
        let mut done = 0..0;
        let mut out: Vec<Value<'static>> = Vec::with_capacity(self.rows.len());
        for i in 0..self.rows.len() {
            let f = self.frame(i, edges, amounts, run)?;
            if let Some(last) = out.last()
                && f == done
            {
                out.push(last.clone());
                continue;
            }
            if let Some(Value::Bytes(b) | Value::Json(b)) = out.last() {
                run.check_work(b.len())?;
            }
            // A frame that grew at its end is added to, and from one that moved on its first rows are taken away, where that
            // can be done; any other is computed anew, and what gives its members away.
            let left = f.start.saturating_sub(done.start);
            let moved = left > 0 && f.end >= done.end && f.start + left < done.end && call.may_remove();
            if moved {
                for row in done.start..f.start {
                    run.check_interrupt()?;
                    let at = Scope::with_row(frame, outer, self.value_slot, self.tuple(row));
                    accumulator.remove(call, run, at)?;
                }
            } else if f.start != done.start || f.end < done.end || out.is_empty() || call.kind.gives_away() {
                accumulator.reset(call);
                done = f.start..f.start;
            }
            for row in done.end..f.end {
                run.check_interrupt()?;
                let at = Scope::with_row(frame, outer, self.value_slot, self.tuple(row));
                accumulator.add(call, run, at, &mut scratch)?;
            }
            done = f;
            // A column of a temporary table takes it.
            out.push(convert::within(accumulator.result(call, run)?.into_owned(), &call.ty));
        }
        Ok(out)
    }

    /// By how many rows frames begin before their row or end behind it.
    fn amounts(&self, edges: &StepFrame, run: &Run<'_>, at: Scope<'_>) -> Result<(usize, usize)> {
        let amount = |e: &Edge| -> Result<usize> {
            match e {
                Edge::Before(e) | Edge::After(e) => match e.eval(run, at)? {
                    Value::Int(v @ 0..) => Ok(v as usize),
                    Value::UInt(v) => Ok(usize::try_from(v).unwrap_or(usize::MAX)),
                    _ => Err(err!(ER_WINDOW_FRAME_ILLEGAL, "<unnamed window>")),
                },
                _ => Ok(0),
            }
        };
        Ok((amount(&edges.start)?, amount(&edges.end)?))
    }

    /// The frame of row `i`.
    #[inline]
    fn frame(
        &self,
        i: usize,
        edges: &StepFrame,
        (before, after): (usize, usize),
        run: &Run<'_>,
    ) -> Result<Range<usize>> {
        let n = self.rows.len();
        let start = match &edges.start {
            Edge::Unbounded => 0,
            Edge::Current if edges.rows => i,
            Edge::Current => self.peers[i].start,
            Edge::Before(_) => i.saturating_sub(before),
            Edge::After(_) => i.saturating_add(before).min(n),
            Edge::Key { key, limit } => self.search(i, *key, *limit, false, run)?,
        };
        let end = match &edges.end {
            Edge::Unbounded => n,
            Edge::Current if edges.rows => i + 1,
            Edge::Current => self.peers[i].end,
            Edge::Before(_) => (i + 1).saturating_sub(after),
            Edge::After(_) => i.saturating_add(after).saturating_add(1).min(n),
            Edge::Key { key, limit } => self.search(i, *key, *limit, true, run)?,
        };
        Ok(start.min(end)..end)
    }

    /// The first row that is not before `limit` of row `i`; with `after` the first behind it.
    fn search(&self, i: usize, key: usize, limit: usize, after: bool, run: &Run<'_>) -> Result<usize> {
        if self.value(i, key).is_null() {
            return Ok(if after { self.peers[i].end } else { self.peers[i].start });
        }
        let limit = self.value(i, limit);
        let limit = match (&limit, self.value(i, key)) {
            // Intervals give strings where the key is one of the temporal kinds.
            (Value::Bytes(_), Value::DateTime(_) | Value::Date(_)) => {
                convert::datetime(&limit, run).map(Value::DateTime)
            }
            _ => None,
        }
        .unwrap_or(limit);
        // A date that there is not, as MySQL compares it: all rows lie before it in ascending order, behind it in descending.
        if limit.is_null() {
            return Ok(if self.descending { 0 } else { self.rows.len() });
        }
        let order = |row: usize| {
            let o = types::compare_nulls_first(&self.value(row, key), &limit, types::CollationId::BINARY);
            if self.descending { o.reverse() } else { o }
        };
        run.check_interrupt()?;
        let (mut low, mut high) = (0, self.rows.len());
        while low < high {
            let middle = low + (high - low) / 2;
            let before = match order(middle) {
                Ordering::Less => true,
                Ordering::Equal => after,
                Ordering::Greater => false,
            };
            if before { low = middle + 1 } else { high = middle }
        }
        Ok(low)
    }
}

/// Bytes are counted in 32 bits.
#[inline]
fn length32(bytes: usize) -> Result<u32> {
    u32::try_from(bytes).map_err(|_| err!(ER_OUT_OF_SORTMEMORY))
}

#[cold]
fn wrong_argument(step: &Step) -> SqlError {
    let name = match step {
        Step::Ntile(_) => "ntile",
        Step::Nth(..) => "nth_value",
        Step::Shift { forward: true, .. } => "lead",
        _ => "lag",
    };
    err!(ER_WRONG_ARGUMENTS, name)
}
