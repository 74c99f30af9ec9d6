//! Window functions. All input rows are kept and sorted by partition and order, in files where they find no room in memory; then
//! one partition after another is computed, and its rows come out as they went in, with the results in a slot of their own.

use crate::saved_slots::{restore_slots, save_slots};
use crate::spill::{Merge, Room, Runs};
use crate::{Frame, Op, Run, Scope, tuple};
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
    /// The first bytes of its key, which tell most rows apart.
    leading: u64,
    start: usize,
    /// Bytes of the encoded partition; of it and the encoded order; of the tuple of values; of the slots.
    partition: u32,
    key: u32,
    values: u32,
    slots: u32,
}

impl Kept {
    fn key(self) -> Range<usize> {
        self.start..self.start + self.key as usize
    }

    fn partition(self) -> Range<usize> {
        self.start..self.start + self.partition as usize
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
    plan: Window,
    bytes: Vec<u8>,
    rows: Vec<Kept>,
    /// The partition at hand, and the results of its rows by step.
    partition: Range<usize>,
    results: Vec<Vec<Value<'static>>>,
    next: usize,
    memory_max: usize,
    /// Rows that found no room: sorted runs, then their merge, whose next record is `ahead` once it has been looked at. Its key is
    /// the row's, its payload `partition's length u32 | key's length u32 | values' length u32 | key | values | slots`.
    runs: Option<Runs>,
    merge: Option<Merge>,
    ahead: Option<Vec<u8>>,
}

/// Bytes before the key in a record's payload.
const HEAD: usize = 12;

impl WindowOp {
    /// Made of its plan.
    pub fn new(input: Box<dyn Op>, plan: Window) -> WindowOp {
        WindowOp {
            input,
            plan,
            bytes: Vec::new(),
            rows: Vec::new(),
            partition: 0..0,
            results: Vec::new(),
            next: 0,
            memory_max: 0,
            runs: None,
            merge: None,
            ahead: None,
        }
    }

    /// Rows of equal keys keep the order in which they came.
    fn sort(&mut self) {
        let bytes = &self.bytes;
        self.rows.sort_by(|a, b| a.leading.cmp(&b.leading).then_with(|| bytes[a.key()].cmp(&bytes[b.key()])));
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
                payload.extend_from_slice(&bytes[k.start..k.slots().end]);
                put(&bytes[k.key()], &payload)?;
            }
            Ok(())
        })?;
        self.bytes.clear();
        self.rows.clear();
        Ok(())
    }

    /// Reads the next partition from the files; false: there is none.
    fn load(&mut self, run: &Run<'_>) -> Result<bool> {
        let WindowOp { bytes, rows, merge, ahead, .. } = self;
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
            let start = bytes.len();
            bytes.extend_from_slice(&record[HEAD..]);
            run.check_interrupt()?;
            run.check_growth(bytes.len())?;
            let slots = (record.len() - HEAD) as u32 - key - values;
            rows.push(Kept { leading: 0, start, partition, key, values, slots });
        }
        (self.partition, self.next) = (0..0, 0);
        Ok(!self.rows.is_empty())
    }

    fn keep(&mut self, run: &Run<'_>, frame: &Frame, outer: Option<&Scope<'_>>) -> Result<()> {
        let WindowOp { plan, bytes, rows, .. } = self;
        let at = Scope::new(frame, outer);
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
        let length = |from: usize, to: usize| u32::try_from(to - from).map_err(|_| err!(ER_OUT_OF_SORTMEMORY));
        rows.push(Kept {
            leading: super::sort::leading_bytes(&bytes[start..key_end]),
            start,
            partition: length(start, partition_end)?,
            key: length(start, key_end)?,
            values: length(key_end, values_end)?,
            slots: length(values_end, bytes.len())?,
        });
        run.check_work(bytes.len() - start)?;
        run.check_growth(bytes.len())
    }

    /// Computes the partition that begins at row `from`.
    fn compute(&mut self, from: usize, run: &Run<'_>, frame: &Frame, outer: Option<&Scope<'_>>) -> Result<()> {
        let bytes = &self.bytes;
        let of = |k: &Kept| &bytes[k.partition()];
        let count = self.rows[from..].iter().take_while(|k| of(k) == of(&self.rows[from])).count();
        self.partition = from..from + count;
        let partition = Partition::new(&self.plan, bytes, &self.rows[self.partition.clone()]);
        self.results.clear();
        for (step, edges) in &self.plan.steps {
            let column = partition.compute(step, edges, run, frame, outer)?;
            debug_assert_eq!(column.len(), count);
            self.results.push(column);
        }
        Ok(())
    }
}

impl Op for WindowOp {
    fn open(&mut self, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<()> {
        self.bytes.clear();
        self.rows.clear();
        self.partition = 0..0;
        self.next = 0;
        self.memory_max = run.tmp_memory();
        (self.runs, self.merge, self.ahead) = (None, None, None);
        self.input.open(run, frame, outer)?;
        let mut kept = 0;
        while self.input.next(run, frame, outer)? {
            run.check_interrupt()?;
            self.keep(run, frame, outer)?;
            kept += 1;
            if run.must_spill(self.bytes.len() + self.rows.len() * size_of::<Kept>(), self.memory_max) {
                self.spill(run)?;
            }
        }
        if !(self.plan.partition.is_empty() && self.plan.order.is_empty()) {
            super::sort::count(kept);
        }
        if self.runs.is_none() {
            self.sort();
            return Ok(());
        }
        self.spill(run)?;
        self.merge = self.runs.take().map(|runs| runs.merge(run, false)).transpose()?;
        self.load(run).map(|_| ())
    }

    fn next(&mut self, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<bool> {
        if self.next == self.rows.len() && !self.load(run)? {
            return Ok(false);
        }
        if self.next == self.partition.end {
            self.compute(self.next, run, frame, outer)?;
        }
        let kept = self.rows[self.next];
        restore_slots(&self.bytes[kept.slots()], frame, &self.plan.keep);
        let slot = &mut frame.slots[self.plan.slot];
        slot.bytes.clear();
        slot.present = true;
        let mut w = tuple::Writer::new(&mut slot.bytes, self.results.len());
        self.results.iter().for_each(|column| w.push(&column[self.next - self.partition.start]));
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
    /// For each row, the range of its peers.
    peers: Vec<Range<usize>>,
}

impl<'p> Partition<'p> {
    fn new(plan: &Window, bytes: &'p [u8], rows: &'p [Kept]) -> Partition<'p> {
        let mut peers = Vec::with_capacity(rows.len());
        let key = |k: &Kept| &bytes[k.order()];
        while peers.len() < rows.len() {
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
    ) -> Result<Vec<Value<'static>>> {
        let n = self.rows.len();
        let rows = 0..n;
        let number = |i: usize| Value::UInt(i as u64);
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
        Ok(match step {
            Step::RowNumber => rows.map(|i| number(i + 1)).collect(),
            Step::Rank => rows.map(|i| number(self.peers[i].start + 1)).collect(),
            Step::DenseRank => {
                let mut rank = 0;
                let next = |i: usize| {
                    rank += (self.peers[i].start == i) as usize;
                    number(rank)
                };
                rows.map(next).collect()
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
                    match (other.filter(|o| *o < n), default) {
                        (Some(other), _) => self.value(other, *value),
                        (None, Some(default)) => self.value(i, *default),
                        (None, None) => Value::Null,
                    }
                })?
            }
            Step::First(value) => self.of_frames(edges, run, at, |f| f.start, *value)?,
            Step::Last(value) => self.of_frames(edges, run, at, |f| f.end - 1, *value)?,
            Step::Nth(value, nth) => match place(nth, 1)? {
                None => vec![Value::Null; n],
                Some(nth) => self.of_frames(edges, run, at, |f| f.start.saturating_add(nth as usize - 1), *value)?,
            },
            Step::Aggregate(call) => self.aggregate(call, edges, run, frame, outer)?,
        })
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
        let frames = self.frames(edges, run, at)?;
        self.column(run, |i| match &frames[i] {
            f if f.is_empty() || !f.contains(&which(f)) => Value::Null,
            f => self.value(which(f), value),
        })
    }

    /// A value for each row.
    fn column<'v>(&self, run: &Run<'_>, of: impl Fn(usize) -> Value<'v>) -> Result<Vec<Value<'static>>> {
        let mut column = Vec::with_capacity(self.rows.len());
        for i in 0..self.rows.len() {
            run.check_interrupt()?;
            let value = of(i);
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
        let frames = self.frames(edges, run, Scope::new(frame, outer))?;
        let mut accumulator = Accumulator::new(call);
        let mut scratch = Vec::new();
        let mut done = 0..0;
        let mut out: Vec<Value<'static>> = Vec::with_capacity(frames.len());
        for f in &frames {
            if let Some(last) = out.last()
                && *f == done
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
            done = f.clone();
            out.push(accumulator.result(call, run)?.into_owned());
        }
        Ok(out)
    }

    /// The frame of each row.
    fn frames(&self, edges: &StepFrame, run: &Run<'_>, at: Scope<'_>) -> Result<Vec<Range<usize>>> {
        let n = self.rows.len();
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
        let (before, after) = (amount(&edges.start)?, amount(&edges.end)?);
        let mut out = Vec::with_capacity(n);
        for i in 0..n {
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
            out.push(start.min(end)..end);
        }
        Ok(out)
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
