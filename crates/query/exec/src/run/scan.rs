//! Reading tables: point reads, range scans, index scans with row lookup, covering scans, virtual tables.

use super::{Frame, Op, Receive, Run, Scope, Settled, Shape, Step, own_line, tuple};
use crate::error;
use crate::expr::{Expr, convert};
use crate::plan::node::{IndexRange, Scan};
use catalog::{Index, Table};
use engine::{Cursor, Direction, Extent, Isolation, Range, Read, Tree};
use std::ops::Bound;
use std::sync::Arc;
use types::key::{self, KeyPart};
use types::{DataType, Decimal, Result, SqlMode, StoreContext, TypeKind, Value};

/// A half-open range of keys in `bytes`: `[lower, upper)`, unbounded above without `upper`.
#[derive(Clone, Copy)]
struct KeyRange {
    lower: (usize, usize),
    upper: Option<(usize, usize)>,
    /// One value of a unique key.
    unique: bool,
}

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
    /// How this execution reads: `read`, or with shared locks at SERIALIZABLE.
    reading: Read,
    covering: bool,
    limit_hint: Option<Expr>,
    /// What the ranges say, to be checked for each row unless `precise`: all values of this execution are held exactly.
    implied: Option<Expr>,
    precise: bool,
    /// The equalities of the ranges are all in the keys of this execution.
    whole: bool,
    /// Parts of the secondary key that a covering scan decodes.
    parts: Vec<(usize, KeyPart)>,
    /// Encoded ranges of this execution, sorted, without overlap.
    key_ranges: Vec<KeyRange>,
    bytes: Vec<u8>,
    next_range: usize,
    /// Kept from scan to scan for its buffers; `live` while it has more.
    cursor: Option<Cursor>,
    live: bool,
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

#[derive(Clone, Copy, PartialEq, Eq)]
enum Lookup {
    /// Not a point read.
    No,
    Pending,
    Done,
}

/// How a value compares with what the column can hold.
enum Held<'v> {
    Exact(Value<'v>),
    /// Between two values of the column: this one is the next below.
    Above(Value<'v>),
    /// Below, or above, everything the column holds.
    Low,
    High,
    Null,
    /// The comparison is not the column's order: the range says nothing.
    Unordered,
}

impl ScanOp {
    pub fn new(scan: Scan) -> ScanOp {
        let table = scan.table;
        let index = scan.access.index;
        let parts = crate::plan::access::key_columns(&table, &table.indexes[index]);
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
        let mut open = false;
        let mut precise = true;
        let mut unique = index.unique && range.equal.len() == index.parts.len();
        let mut selective = range.pattern.is_none() || !range.equal.is_empty() || self.ranges.len() > 1;
        for (n, alternatives) in range.equal.iter().enumerate() {
            let part = &index.parts[n];
            unique &= part.key.prefix == 0;
            if let [one] = &alternatives[..] {
                let v = searched(one.eval(run, at)?, table, part.column, run);
                precise &= is_precise(&v, table, part.column);
                match hold(v, &one.ty, table, part.column) {
                    Held::Exact(v) => prefixes.iter_mut().for_each(|p| key::encode_part(p, &part.key, &v)),
                    Held::Null if range.nulls[n] && part.key.data_type.nullable => {
                        unique = false; // NULLs are not equal
                        prefixes.iter_mut().for_each(|p| key::encode_part(p, &part.key, &Value::Null))
                    }
                    Held::Unordered => open = true,
                    _ => prefixes.clear(),
                }
            } else {
                let mut encoded: Vec<Vec<u8>> = Vec::with_capacity(alternatives.len());
                for e in alternatives {
                    let v = searched(e.eval(run, at)?, table, part.column, run);
                    precise &= is_precise(&v, table, part.column);
                    match hold(v, &e.ty, table, part.column) {
                        Held::Exact(v) => {
                            let mut out = Vec::new();
                            key::encode_part(&mut out, &part.key, &v);
                            encoded.push(out);
                        }
                        Held::Unordered => open = true,
                        _ => {}
                    }
                }
                if !open {
                    encoded.sort_unstable();
                    encoded.dedup();
                    prefixes =
                        prefixes.iter().flat_map(|p| encoded.iter().map(move |e| [&p[..], &e[..]].concat())).collect();
                }
            }
            if open || prefixes.is_empty() {
                break;
            }
        }
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
        match &mut self.cursor {
            Some(c) => c.reset(self.tree, range, direction, self.reading, hint),
            None => self.cursor = Some(Cursor::new(self.tree, range, direction, self.reading, hint)),
        }
        if self.reading != Read::Consistent {
            let cursor = self.cursor.as_mut().expect("just made");
            cursor.set_extent(if r.unique { Extent::Unique } else { Extent::Range });
            cursor.set_semi_consistent(self.semi_consistent);
        }
        self.live = true;
        true
    }

    fn hint(&self, run: &Run<'_>, at: Scope<'_>) -> Result<usize> {
        match &self.limit_hint {
            None => Ok(0),
            Some(e) => Ok(super::flow::limit_value(e, run, at)?.min(1 << 20) as usize),
        }
    }

    /// Where the clustered key begins in a secondary key.
    fn clustered_key_at(&self, key: &[u8]) -> Result<usize> {
        let mut at = 0;
        for part in &self.index().parts {
            match key::part_length(&key[at..], &part.key) {
                Some(n) => at += n,
                None => {
                    return Err(error::engine(engine::Error::Corrupt(format!("key of index {}", self.index().name))));
                }
            }
        }
        Ok(at)
    }
}

fn owned<'a>(h: Held<'_>) -> Held<'a> {
    match h {
        Held::Exact(v) => Held::Exact(v.into_owned()),
        Held::Above(v) => Held::Above(v.into_owned()),
        Held::Low => Held::Low,
        Held::High => Held::High,
        Held::Null => Held::Null,
        Held::Unordered => Held::Unordered,
    }
}

fn append(bytes: &mut Vec<u8>, key: &[u8]) -> (usize, usize) {
    let from = bytes.len();
    bytes.extend_from_slice(key);
    (from, bytes.len())
}

/// The smallest key after all that begin with `key`; `None` when there is none.
fn append_successor(bytes: &mut Vec<u8>, key: &[u8]) -> Option<(usize, usize)> {
    let end = key.iter().rposition(|b| *b != 0xFF)?;
    let from = bytes.len();
    bytes.extend_from_slice(&key[..=end]);
    *bytes.last_mut().expect("not empty") += 1;
    Some((from, bytes.len()))
}

/// The range of keys with `prefix` whose next part is within the bounds.
fn push_bounds(
    bytes: &mut Vec<u8>,
    out: &mut Vec<KeyRange>,
    prefix: &[u8],
    part: &KeyPart,
    low: &Option<(Held<'_>, bool)>,
    high: &Option<(Held<'_>, bool)>,
) {
    let mut key = prefix.to_vec();
    let encode = |key: &mut Vec<u8>, v: &Value<'_>| {
        key.truncate(prefix.len());
        key::encode_part(key, part, v);
    };
    // In value order: where the range starts and ends. Prefix parts compare by their prefix only, so take ends in.
    let loose = part.prefix != 0;
    let lower_value: Option<(&Value<'_>, bool)> = match low {
        None => None,
        Some((Held::Exact(v), inclusive)) => Some((v, *inclusive || loose)),
        Some((Held::Above(v), _)) => Some((v, loose)),
        Some((Held::Low | Held::Unordered, _)) => None,
        Some((Held::High | Held::Null, _)) => return,
    };
    let upper_value: Option<(&Value<'_>, bool)> = match high {
        None => None,
        Some((Held::Exact(v), inclusive)) => Some((v, *inclusive || loose)),
        Some((Held::Above(v), _)) => Some((v, true)),
        Some((Held::High | Held::Unordered, _)) => None,
        Some((Held::Low | Held::Null, _)) => return,
    };
    let lower_value = match lower_value {
        // NULL is below all values and in no range.
        None if part.data_type.nullable => Some((&Value::Null, false)),
        other => other,
    };
    let (first, last) = if part.descending { (upper_value, lower_value) } else { (lower_value, upper_value) };
    let lower = match first {
        None => append(bytes, prefix),
        Some((v, inclusive)) => {
            encode(&mut key, v);
            if inclusive {
                append(bytes, &key)
            } else {
                match append_successor(bytes, &key) {
                    Some(r) => r,
                    None => return,
                }
            }
        }
    };
    let upper = match last {
        None => append_successor(bytes, prefix),
        Some((v, inclusive)) => {
            encode(&mut key, v);
            if inclusive { append_successor(bytes, &key) } else { Some(append(bytes, &key)) }
        }
    };
    if upper.is_some_and(|u| bytes[lower.0..lower.1] >= bytes[u.0..u.1]) {
        return;
    }
    out.push(KeyRange { lower, upper, unique: false });
}

/// Does [`hold`] lose nothing of a comparison with this value, unless it says that it cannot? Then the rows of the range are the
/// rows for which the comparison holds. (A string beside a number is left to the comparison, which warns of bad ones.)
#[inline]
fn is_precise(v: &Value<'_>, table: &Table, column: usize) -> bool {
    let kind = table.columns[column].data_type.kind;
    match v {
        Value::Null => true,
        Value::Int(_) => kind.is_integer() || kind == TypeKind::Decimal,
        Value::UInt(_) | Value::Decimal(_) => kind.is_integer() || kind == TypeKind::Decimal,
        Value::Double(_) => kind.is_integer(),
        Value::Bytes(_) => kind.is_bytes(),
        Value::Date(_) | Value::DateTime(_) => matches!(kind, TypeKind::Date | TypeKind::DateTime),
        Value::Time(_) | Value::Json(_) => false,
    }
}

/// A value beside a temporal column as the column's values are: texts with an offset without it, and beside a TIMESTAMP in UTC,
/// outside of whose range it cannot be searched for.
#[inline(always)]
fn searched<'v>(v: Value<'v>, table: &Table, column: usize, run: &Run<'_>) -> Value<'v> {
    let kind = table.columns[column].data_type.kind;
    if kind.is_temporal() { in_utc(v, kind, run) } else { v }
}

fn in_utc<'v>(v: Value<'v>, kind: TypeKind, run: &Run<'_>) -> Value<'v> {
    let v = convert::zoned_text(&v, convert::LENIENT, run).map_or(v, Value::DateTime);
    if kind != TypeKind::Timestamp {
        return v;
    }
    let local = match &v {
        Value::DateTime(t) => Some(*t),
        Value::Date(d) => Some(d.at_midnight()),
        Value::Bytes(b) => convert::parse_datetime(b),
        _ => None,
    };
    local.and_then(|t| convert::to_utc(t, run)).map_or(v, Value::DateTime)
}

/// The value as the column would hold it, for searching.
#[inline(always)]
fn hold<'v>(v: Value<'v>, ty: &DataType, table: &Table, column: usize) -> Held<'v> {
    let c = &table.columns[column].data_type;
    match v {
        Value::Int(i) if c.holds_integer(i) => {
            Held::Exact(if c.unsigned { Value::UInt(i as u64) } else { Value::Int(i) })
        }
        v => hold_converted(v, ty, table, column),
    }
}

fn hold_converted<'v>(v: Value<'v>, ty: &DataType, table: &Table, column: usize) -> Held<'v> {
    let c = &table.columns[column].data_type;
    if v.is_null() {
        return Held::Null;
    }
    if c.kind.is_integer() || c.kind == TypeKind::Year {
        let (low, high) = if c.kind == TypeKind::Year { (0, 2155) } else { c.integer_bounds() };
        let whole: Option<i128> = match &v {
            Value::Int(i) => Some(*i as i128),
            Value::UInt(u) => Some(*u as i128),
            _ => None,
        };
        let (whole, exact) = match whole {
            Some(w) => (w, true),
            None => match &v {
                Value::Decimal(d) => {
                    let f = d.floor();
                    let w = match (f.to_i64(), f.to_u64()) {
                        (Ok(i), _) => i as i128,
                        (_, Ok(u)) => u as i128,
                        _ => return if d.is_negative() { Held::Low } else { Held::High },
                    };
                    (w, f == *d || d.checked_sub(f).is_some_and(|r| r.is_zero()))
                }
                Value::Double(_) | Value::Bytes(_) => {
                    let d = v.to_f64();
                    if !d.is_finite() || d.abs() > 9e15 {
                        // Doubles beyond 2^53 equal more than one integer.
                        return Held::Unordered;
                    }
                    (d.floor() as i128, d.floor() == d)
                }
                _ => return Held::Unordered,
            },
        };
        if whole < low as i128 {
            return Held::Low;
        }
        if whole > high as i128 {
            return Held::High;
        }
        let held =
            if c.unsigned || c.kind == TypeKind::Year { Value::UInt(whole as u64) } else { Value::Int(whole as i64) };
        return if exact { Held::Exact(held) } else { Held::Above(held) };
    }
    if c.kind.is_bytes() && !c.kind.is_text() || c.kind.is_text() {
        return match v {
            Value::Bytes(b) => Held::Exact(Value::Bytes(b)),
            _ => Held::Unordered,
        };
    }
    match (&v, c.kind) {
        (Value::Date(d), TypeKind::Date) => return Held::Exact(Value::Date(*d)),
        (Value::DateTime(t), TypeKind::Date) => {
            let d = t.date();
            return if d.at_midnight() == *t { Held::Exact(Value::Date(d)) } else { Held::Above(Value::Date(d)) };
        }
        (Value::Date(d), TypeKind::DateTime | TypeKind::Timestamp) if c.kind == TypeKind::DateTime => {
            return Held::Exact(Value::DateTime(d.at_midnight()));
        }
        (Value::DateTime(t), TypeKind::DateTime | TypeKind::Timestamp) => {
            return match t.round(c.decimals, true) {
                Some(r) if r == *t => Held::Exact(Value::DateTime(r)),
                Some(r) => Held::Above(Value::DateTime(r)),
                None => Held::Unordered,
            };
        }
        (Value::Bytes(b), TypeKind::Date | TypeKind::DateTime) => {
            return match convert::parse_datetime(b) {
                Some(t) => hold(Value::DateTime(t), &convert::type_of(&Value::DateTime(t)), table, column),
                None => Held::Unordered,
            };
        }
        _ => {}
    }
    if c.kind == TypeKind::Decimal && matches!(v, Value::Int(_) | Value::UInt(_) | Value::Decimal(_)) {
        return hold_decimal(v.to_decimal(), c);
    }
    if c.kind == TypeKind::Double
        && matches!(v, Value::Int(_) | Value::Double(_) | Value::Decimal(_))
        && c.decimals == types::DECIMALS_NOT_FIXED
    {
        return Held::Exact(Value::Double(v.to_f64()));
    }
    if c.kind == TypeKind::Time && matches!(v, Value::Time(_)) {
        let context = StoreContext { mode: SqlMode::NONE, column: "", row: 1, members: &table.columns[column].members };
        let source = convert::source_type(ty, &v);
        return match types::coerce_for_store(v, &source, c, &context) {
            Ok((v, None)) => Held::Exact(v),
            _ => Held::Unordered,
        };
    }
    Held::Unordered
}

/// A number beside a DECIMAL column.
fn hold_decimal<'v>(d: Decimal, c: &DataType) -> Held<'v> {
    let t = d.round(c.decimals);
    let below = if t <= d { Some(t) } else { t.checked_sub(Decimal::from_parts(false, 1, c.decimals)) };
    match below.filter(|t| t.fits(c.length, c.decimals)) {
        Some(t) if t == d => Held::Exact(Value::Decimal(t)),
        Some(t) => Held::Above(Value::Decimal(t)),
        None if d.is_negative() => Held::Low,
        None => Held::High,
    }
}

impl Op for ScanOp {
    fn open(&mut self, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<()> {
        self.live = false;
        self.next_range = 0;
        self.key_ranges.clear();
        self.precise = true;
        self.whole = true;
        self.reading = self.read;
        if self.read == Read::Consistent && run.tx.borrow().isolation() > Isolation::ReadCommitted {
            self.reading = run.plain_read();
        }
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
        if let Some(cursor) = &mut self.cursor
            && self.reading != Read::Consistent
        {
            cursor.release_last(&mut run.tx.borrow_mut());
        }
    }
}

impl ScanOp {
    /// May entries be left out, as far as this execution's way of reading goes?
    pub(super) fn may_hop(&self) -> bool {
        self.reading == Read::Consistent && self.lookup == Lookup::No
    }

    /// The encoded ranges of this execution: in order, without overlap.
    pub(super) fn take_ranges(&mut self) -> Vec<(Vec<u8>, Option<Vec<u8>>)> {
        let of = |(from, to): (usize, usize)| self.bytes[from..to].to_vec();
        self.key_ranges.iter().map(|r| (of(r.lower), r.upper.map(of))).collect()
    }

    /// Are the entries of this execution those of one key of the whole index, and so in the order of the clustered key? Or of none.
    pub(super) fn has_one_key(&self) -> bool {
        self.whole && self.key_ranges.len() <= 1 && self.index == self.planned
    }

    /// The row of a clustered key, as this execution reads it.
    pub(super) fn row_of(&self, run: &Run<'_>, key: &[u8], row: &mut Vec<u8>) -> Result<bool> {
        let clustered = self.table.indexes[0].tree;
        run.tx.borrow_mut().get(clustered, key, self.reading, row).map_err(|e| run.engine_error(e))
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

    /// The point read of the key in `bytes`, once.
    fn read_point(&mut self, run: &Run<'_>, row: &mut Vec<u8>) -> Result<bool> {
        self.lookup = Lookup::Done;
        if self.to_write && self.precise {
            return run.tx.borrow_mut().read_to_write(self.tree, &self.bytes, row).map_err(|e| run.engine_error(e));
        }
        run.tx.borrow_mut().get(self.tree, &self.bytes, self.reading, row).map_err(|e| run.engine_error(e))
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
            let Some(entry) = cursor.next(&mut tx).map_err(|e| run.engine_error(e))? else {
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
            let found = tx.get(clustered, &slot.key, self.reading, row).map_err(|e| run.engine_error(e))?;
            if !found {
                if self.reading != Read::Consistent {
                    self.cursor.as_mut().expect("it is live").release_last(&mut tx);
                }
                continue;
            }
            if !certain {
                // The snapshot's row decides whether this entry is one of its own.
                self.row_key(if self.covering { None } else { Some(&slot.bytes) });
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

    /// Encodes into `prefixes[1]` the index parts of a row.
    fn row_key(&mut self, row: Option<&Vec<u8>>) {
        let mut out = match self.prefixes.len() {
            0 | 1 => Vec::new(),
            _ => self.prefixes.pop().expect("two"),
        };
        out.clear();
        let row = row.unwrap_or(&self.row);
        super::write::index_parts(&mut out, &self.table, self.index, row);
        if self.prefixes.is_empty() {
            self.prefixes.push(Vec::new());
        }
        self.prefixes.push(out);
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

/// A table of information_schema or performance_schema.
pub struct VirtualOp {
    pub slot: usize,
    pub table: Arc<Table>,
    pub rows: Vec<Vec<Value<'static>>>,
    pub next: usize,
}

impl Op for VirtualOp {
    fn open(&mut self, run: &Run<'_>, _frame: &mut Frame, _outer: Option<&Scope<'_>>) -> Result<()> {
        self.rows.clear();
        self.next = 0;
        let source = self.table.virtual_rows.clone().expect("planned as a virtual table");
        let env = run.env.borrow();
        source.rows(env.virtual_context(), &mut self.rows)
    }

    fn next(&mut self, _run: &Run<'_>, frame: &mut Frame, _outer: Option<&Scope<'_>>) -> Result<bool> {
        let Some(row) = self.rows.get(self.next) else { return Ok(false) };
        self.next += 1;
        let slot = &mut frame.slots[self.slot];
        debug_assert!(matches!(slot.shape, Shape::Tuple(n) if n == row.len()));
        slot.bytes.clear();
        let mut w = tuple::Writer::new(&mut slot.bytes, row.len());
        row.iter().for_each(|v| w.push(v));
        w.finish();
        slot.present = true;
        Ok(true)
    }
}
