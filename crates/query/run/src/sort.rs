//! Sorting: rows as tuples in one buffer, keys as memory-comparable bytes in another, sorted by reference.

use crate::order::{self, Entry, leading_bytes};
use crate::spill::{Merge, Room, Runs};
use crate::{Frame, Op, Receive, Run, Scope, Step, tuple};
use expr::key::encode_key;
use expr::{Execution, Expr, Node, convert};
use observe::Counter;
use plan::node::SortKey;
use std::cmp::Ordering;
use types::{CollationId, Result, TypeKind, Value};

/// The same of what ORDER BY looks at, where that is less than the value: see [`CollationId::sorted_part`].
pub fn encode_sort_key(out: &mut Vec<u8>, v: &Value<'_>, k: &SortKey, longest: usize) {
    match v {
        Value::Bytes(text) if k.expr.ty.kind.is_text() => {
            let part = Value::Bytes(k.expr.ty.collation.sorted_part(text, longest).into());
            encode_key(out, &part, &k.expr.ty, k.descending);
        }
        v => encode_key(out, v, &k.expr.ty, k.descending),
    }
}

/// Where a row's key and tuple are, both with end.
#[derive(Clone, Copy)]
struct Place {
    key: (u32, u32),
    row: (u32, u32),
}

/// In place of a key's start: NULL.
const NULL_AT: u32 = u32::MAX;

/// What the keys are.
#[derive(Clone, Copy)]
enum Form {
    /// Bytes of [`encode_key`].
    Encoded,
    /// One string as it is: weighed as far as comparing needs, which is far less than all of it. In the row's tuple already,
    /// when it is this one of the values.
    Text { collation: CollationId, descending: bool, value: Option<usize> },
}

/// Rows as tuples, their keys, and their order.
struct Rows {
    form: Form,
    /// Which of the values each key is, where it is not computed of its own.
    kept: Vec<Option<usize>>,
    /// `max_sort_length`; of no concern where rows are made distinct.
    longest: usize,
    key_bytes: Vec<u8>,
    row_bytes: Vec<u8>,
    places: Vec<Place>,
    entries: Vec<Entry>,
    /// Of a LIMIT: rows whose leading bytes are greater come behind as many as are wanted.
    bound: u64,
    /// Values are columns as they are, so that nobody sees whether those of a row were read.
    plain: bool,
}

impl Rows {
    /// `slot`: of the tuples.
    fn new(keys: &[SortKey], values: &[Expr], slot: usize) -> Rows {
        let kept = |k: &SortKey| match k.expr.node {
            Node::Column { depth: 0, slot: of, column } if of as usize == slot => Some(column as usize),
            _ => None,
        };
        let kept: Vec<Option<usize>> = keys.iter().map(kept).collect();
        let form = match keys {
            [SortKey { expr, descending }] if expr.ty.kind.is_bytes() && expr.ty.kind != TypeKind::Json => Form::Text {
                collation: expr.ty.collation,
                descending: *descending,
                value: kept[0].or_else(|| values.iter().position(|v| v.same(expr))),
            },
            _ => Form::Encoded,
        };
        Rows {
            form,
            kept,
            longest: usize::MAX,
            key_bytes: Vec::new(),
            row_bytes: Vec::new(),
            places: Vec::new(),
            entries: Vec::new(),
            bound: u64::MAX,
            plain: values.iter().all(|e| matches!(e.node, Node::Column { .. })),
        }
    }

    fn clear(&mut self) {
        self.key_bytes.clear();
        self.row_bytes.clear();
        self.places.clear();
        self.entries.clear();
        self.bound = u64::MAX;
    }

    fn add(&mut self, keys: &[SortKey], values: &[Expr], run: &Run<'_>, at: Scope<'_>) -> Result<()> {
        let (start, from) = (self.row_bytes.len(), self.key_bytes.len());
        if self.bound < u64::MAX && self.plain && self.is_beyond(keys, run, at)? {
            return Ok(());
        }
        let mut w = tuple::Writer::new(&mut self.row_bytes, values.len());
        for e in values {
            w.push(&e.eval(run, at)?);
        }
        w.finish();
        let (key, leading) = match self.form {
            Form::Encoded => {
                for (k, kept) in keys.iter().zip(&self.kept) {
                    let value = match kept {
                        Some(i) => tuple::get(&self.row_bytes[start..], values.len(), *i),
                        None => k.expr.eval(run, at)?,
                    };
                    encode_sort_key(&mut self.key_bytes, &value, k, self.longest);
                }
                ((from as u32, self.key_bytes.len() as u32), leading_bytes(&self.key_bytes[from..], 0))
            }
            Form::Text { collation, descending, value } => {
                let range = match value {
                    Some(i) => tuple::string(&self.row_bytes[start..], values.len(), i)
                        .map(|r| (start + r.start, start + r.end)),
                    None => match keys[0].expr.eval(run, at)? {
                        Value::Null => None,
                        v => {
                            self.key_bytes.extend_from_slice(&convert::text(&v, &keys[0].expr.ty));
                            Some((from, self.key_bytes.len()))
                        }
                    },
                };
                let bytes = if value.is_some() { &self.row_bytes } else { &self.key_bytes };
                let longest = self.longest;
                let range =
                    range.map(|(from, to)| (from, from + collation.sorted_part(&bytes[from..to], longest).len()));
                let leading = range.map_or(0, |(from, to)| collation.leading_weights(&bytes[from..to]));
                let key = range.map_or((NULL_AT, NULL_AT), |(from, to)| (from as u32, to as u32));
                (key, if descending { !leading } else { leading })
            }
        };
        if leading > self.bound {
            self.row_bytes.truncate(start);
            self.key_bytes.truncate(from);
            return Ok(());
        }
        let row = self.places.len() as u32;
        self.places.push(Place { key, row: (start as u32, self.row_bytes.len() as u32) });
        self.entries.push(Entry { leading, row });
        run.check_work(self.row_bytes.len() - start + self.key_bytes.len() - from)
    }

    /// Does the first key alone say that the row comes behind all that are wanted? Its values are not copied then.
    fn is_beyond(&mut self, keys: &[SortKey], run: &Run<'_>, at: Scope<'_>) -> Result<bool> {
        if !matches!(keys[0].expr.node, Node::Column { .. }) || self.kept[0].is_some() {
            return Ok(false);
        }
        let v = keys[0].expr.eval(run, at)?;
        let leading = match (self.form, &v) {
            (Form::Encoded, v) => {
                let from = self.key_bytes.len();
                encode_sort_key(&mut self.key_bytes, v, &keys[0], self.longest);
                let leading = leading_bytes(&self.key_bytes[from..], 0);
                self.key_bytes.truncate(from);
                leading
            }
            (Form::Text { .. }, _) => return Ok(false),
        };
        Ok(leading > self.bound)
    }

    /// Order of two rows by their whole keys.
    fn compare_whole(&self, a: &Entry, b: &Entry) -> Ordering {
        let (x, y) = (self.places[a.row as usize].key, self.places[b.row as usize].key);
        match self.form {
            Form::Encoded => {
                let of = |k: (u32, u32)| &self.key_bytes[k.0 as usize..k.1 as usize];
                of(x).cmp(of(y))
            }
            Form::Text { collation, descending, value } => {
                let bytes = if value.is_some() { &self.row_bytes } else { &self.key_bytes };
                let of = |k: (u32, u32)| (k.0 != NULL_AT).then(|| &bytes[k.0 as usize..k.1 as usize]);
                let order = match (of(x), of(y)) {
                    (Some(x), Some(y)) if x == y => Ordering::Equal,
                    (Some(x), Some(y)) => collation.compare(x, y),
                    (x, y) => x.is_some().cmp(&y.is_some()),
                };
                if descending { order.reverse() } else { order }
            }
        }
    }

    /// Sorts the rows. Entries of encoded keys are led by any of their bytes afterwards.
    fn sort(&mut self, unique: bool) {
        let mut entries = std::mem::take(&mut self.entries);
        let mut exact = false;
        if let Form::Encoded = self.form {
            let key = |i: usize| {
                let (from, to) = self.places[i].key;
                &self.key_bytes[from as usize..to as usize]
            };
            (entries, exact) = order::entries(self.places.len(), key);
        }
        // Rows of equal keys keep the order in which they came.
        order::sort(&mut entries);
        if !exact {
            for tied in entries.chunk_by_mut(|a, b| a.leading == b.leading) {
                if tied.len() > 1 {
                    tied.sort_by(|a, b| self.compare_whole(a, b));
                }
            }
        }
        if unique {
            entries.dedup_by(|a, b| a.leading == b.leading && self.compare_whole(a, b).is_eq());
        }
        self.entries = entries;
    }

    /// Keeps the first `n` rows only.
    fn shrink(&mut self, n: usize, unique: bool) {
        self.sort(unique);
        self.entries.truncate(n);
        let (mut keys, mut rows) = (Vec::new(), Vec::new());
        let mut places = Vec::with_capacity(self.entries.len());
        let in_row = matches!(self.form, Form::Text { value: Some(_), .. });
        for (i, e) in self.entries.iter_mut().enumerate() {
            let Place { key, row } = self.places[e.row as usize];
            let start = rows.len() as u32;
            rows.extend_from_slice(&self.row_bytes[row.0 as usize..row.1 as usize]);
            let key = if key.0 == NULL_AT {
                key
            } else if in_row {
                (key.0 - row.0 + start, key.1 - row.0 + start)
            } else {
                let from = keys.len() as u32;
                keys.extend_from_slice(&self.key_bytes[key.0 as usize..key.1 as usize]);
                if let Form::Encoded = self.form {
                    e.leading = leading_bytes(&keys[from as usize..], 0);
                }
                (from, keys.len() as u32)
            };
            places.push(Place { key, row: (start, rows.len() as u32) });
            e.row = i as u32;
        }
        (self.key_bytes, self.row_bytes, self.places) = (keys, rows, places);
        if self.entries.len() == n {
            self.bound = self.entries.last().map_or(u64::MAX, |e| e.leading);
        }
    }

    fn memory(&self) -> usize {
        let row = size_of::<Place>() + size_of::<Entry>();
        self.key_bytes.len() + self.row_bytes.len() + self.places.len() * row
    }

    /// Writes the sorted rows as a run, with keys as [`encode_key`] makes them.
    fn write_run(&self, runs: &mut Runs, keys: &[SortKey], run: &Run<'_>) -> Result<()> {
        let mut encoded = Vec::new();
        runs.add(|put| {
            for e in &self.entries {
                let (from, to) = self.places[e.row as usize].key;
                run.check_work(self.tuple(e).len())?;
                match self.form {
                    Form::Encoded => put(&self.key_bytes[from as usize..to as usize], self.tuple(e))?,
                    Form::Text { descending, value, .. } => {
                        let bytes = if value.is_some() { &self.row_bytes } else { &self.key_bytes };
                        let v = match from {
                            NULL_AT => Value::Null,
                            _ => Value::Bytes(bytes[from as usize..to as usize].into()),
                        };
                        encoded.clear();
                        encode_key(&mut encoded, &v, &keys[0].expr.ty, descending);
                        put(&encoded, self.tuple(e))?;
                    }
                }
            }
            Ok(())
        })
    }

    fn tuple(&self, e: &Entry) -> &[u8] {
        let (from, to) = self.places[e.row as usize].row;
        &self.row_bytes[from as usize..to as usize]
    }
}

/// The input's rows in an order, in memory or spilled.
pub struct SortOp {
    input: Box<dyn Op>,
    keys: Vec<SortKey>,
    unique: bool,
    values: Vec<Expr>,
    slot: usize,
    limit: Option<(Expr, Option<Expr>)>,
    rows: Rows,
    next: usize,
    /// Where the rows are, if they were too many for memory.
    merge: Option<Merge>,
}

/// A sort of so many rows, or of all from which a LIMIT took so many.
pub(super) fn count(rows: u64) {
    let lane = observe::lane();
    lane.increment(Counter::SortScan);
    lane.add(Counter::SortRows, rows);
}

/// Rows kept at least before the surplus of a LIMIT is dropped.
const SHRINK_AT: usize = 1024;

impl SortOp {
    /// `values` of each row are kept, and read from `slot` afterwards. `unique`: of rows with the same keys one.
    pub fn new(
        input: Box<dyn Op>,
        keys: Vec<SortKey>,
        unique: bool,
        values: Vec<Expr>,
        slot: usize,
        limit: Option<(Expr, Option<Expr>)>,
    ) -> SortOp {
        let rows = Rows::new(&keys, &values, slot);
        SortOp { input, keys, unique, values, slot, limit, rows, next: 0, merge: None }
    }
}

impl Op for SortOp {
    fn open(&mut self, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<()> {
        self.rows.clear();
        self.rows.longest = if self.unique { usize::MAX } else { run.max_sort_length() };
        self.next = 0;
        let wanted = match &self.limit {
            Some((count, offset)) => {
                let at = Scope::new(frame, outer);
                let count = super::limit::limit_value(count, run, at)?;
                let offset = match offset {
                    Some(o) => super::limit::limit_value(o, run, at)?,
                    None => 0,
                };
                usize::try_from(count.saturating_add(offset)).unwrap_or(usize::MAX)
            }
            None => usize::MAX,
        };
        self.merge = None;
        let memory = run.sort_memory();
        self.input.open(run, frame, outer)?;
        let SortOp { input, keys, values, rows, unique, .. } = self;
        let mut runs: Option<Runs> = None;
        let mut sorted = 0;
        input.each(run, frame, outer, &mut |at| {
            run.check_interrupt()?;
            rows.add(keys, values, run, at)?;
            sorted += 1;
            if rows.entries.len() >= SHRINK_AT && rows.entries.len() / 2 > wanted {
                rows.shrink(wanted, *unique);
            }
            run.check_growth(rows.memory())?;
            if run.must_spill(rows.memory(), memory) {
                spill(rows, keys, *unique, &mut runs, run)?;
            }
            Ok(Step::More)
        })?;
        count(u64::min(sorted, wanted as u64));
        match runs {
            None => rows.sort(*unique),
            Some(_) => {
                spill(rows, keys, *unique, &mut runs, run)?;
                self.merge = Some(runs.expect("there are runs").merge(run, *unique)?);
            }
        }
        Ok(())
    }

    fn next(&mut self, run: &Run<'_>, frame: &mut Frame, _outer: Option<&Scope<'_>>) -> Result<bool> {
        if let Some(merge) = &mut self.merge {
            let Some((_, tuple)) = merge.advance()? else { return Ok(false) };
            run.check_work(tuple.len())?;
            let slot = &mut frame.slots[self.slot];
            slot.bytes.clear();
            slot.bytes.extend_from_slice(tuple);
            slot.present = true;
            return Ok(true);
        }
        let Some(e) = self.rows.entries.get(self.next) else { return Ok(false) };
        self.next += 1;
        let slot = &mut frame.slots[self.slot];
        slot.bytes.clear();
        slot.bytes.extend_from_slice(self.rows.tuple(e));
        slot.present = true;
        Ok(true)
    }

    fn each(
        &mut self,
        run: &Run<'_>,
        frame: &mut Frame,
        outer: Option<&Scope<'_>>,
        receive: &mut Receive<'_>,
    ) -> Result<()> {
        if let Some(merge) = &mut self.merge {
            while let Some((_, tuple)) = merge.advance()? {
                run.check_work(tuple.len())?;
                if receive(Scope::with_row(frame, outer, self.slot, tuple))? == Step::Stop {
                    break;
                }
            }
            return Ok(());
        }
        for e in &self.rows.entries[self.next..] {
            if receive(Scope::with_row(frame, outer, self.slot, self.rows.tuple(e)))? == Step::Stop {
                break;
            }
        }
        Ok(())
    }

    fn forget(&mut self) {
        self.input.forget();
    }
}

/// Sorts the rows and writes them out as a run.
#[cold]
fn spill(rows: &mut Rows, keys: &[SortKey], unique: bool, runs: &mut Option<Runs>, run: &Run<'_>) -> Result<()> {
    let runs = match runs {
        Some(runs) => runs,
        None => runs.insert(Runs::new(run)?),
    };
    rows.sort(unique);
    rows.write_run(runs, keys, run)?;
    rows.clear();
    Ok(())
}
