//! Sorting: rows as tuples in one buffer, keys as memory-comparable bytes in another, sorted by reference.

use super::{Frame, Op, Run, Scope, tuple};
use crate::expr::Expr;
use crate::plan::node::SortKey;
use types::{DataType, Decimal, Result, TypeKind, Value};

/// Appends `v` so that byte order is SQL order (NULL first), equal values are equal bytes, and no key is a prefix of
/// another. For intermediate results; index keys have their own form in `types::key`.
pub fn encode_key(out: &mut Vec<u8>, v: &Value<'_>, ty: &DataType, descending: bool) {
    let start = out.len();
    match v {
        Value::Null => out.push(0),
        v => {
            out.push(1);
            encode_value(out, v, ty);
        }
    }
    if descending {
        out[start..].iter_mut().for_each(|b| *b = !*b);
    }
}

fn encode_value(out: &mut Vec<u8>, v: &Value<'_>, ty: &DataType) {
    match (ty.kind, v) {
        (TypeKind::Double | TypeKind::Float, Value::Int(_) | Value::UInt(_) | Value::Decimal(_) | Value::Double(_)) => {
            encode_double(out, v.to_f64())
        }
        (TypeKind::Decimal, Value::Int(_) | Value::UInt(_) | Value::Decimal(_)) => {
            encode_decimal(out, v.to_decimal().round(ty.decimals), ty.decimals)
        }
        (_, Value::Int(i)) => {
            out.push((*i >= 0) as u8);
            out.extend_from_slice(&i.to_be_bytes());
        }
        (_, Value::UInt(u)) => {
            out.push(1);
            out.extend_from_slice(&u.to_be_bytes());
        }
        (_, Value::Double(d)) => encode_double(out, *d),
        (_, Value::Decimal(d)) => encode_decimal(out, *d, d.scale()),
        (_, Value::Date(d)) => out.extend_from_slice(&d.at_midnight().0.to_be_bytes()),
        (_, Value::DateTime(t)) => out.extend_from_slice(&t.0.to_be_bytes()),
        (_, Value::Time(t)) => out.extend_from_slice(&((t.0 as u64) ^ (1 << 63)).to_be_bytes()),
        (_, Value::Bytes(b)) => {
            let start = out.len();
            if ty.kind.is_text() || ty.kind.is_bytes() {
                ty.collation.weights(b, out);
            } else {
                out.extend_from_slice(b);
            }
            escape_zeros(out, start);
            out.extend_from_slice(&[0, 0]);
        }
        (_, Value::Null) => unreachable!("NULL is encoded by its flag"),
    }
}

fn encode_double(out: &mut Vec<u8>, d: f64) {
    let bits = if d == 0.0 { 0 } else { d.to_bits() };
    let ordered = if bits >> 63 == 1 { !bits } else { bits | 1 << 63 };
    out.extend_from_slice(&ordered.to_be_bytes());
}

fn encode_decimal(out: &mut Vec<u8>, d: Decimal, scale: u8) {
    d.write_binary(Decimal::MAX_PRECISION, scale, out);
}

/// 00 becomes 00 FF, so that 00 00 can end a string.
fn escape_zeros(out: &mut Vec<u8>, start: usize) {
    let zeros = out[start..].iter().filter(|b| **b == 0).count();
    if zeros == 0 {
        return;
    }
    let tail = out.split_off(start);
    for b in tail {
        out.push(b);
        if b == 0 {
            out.push(0xFF);
        }
    }
}

#[derive(Clone, Copy)]
struct Entry {
    key: (u32, u32),
    row: (u32, u32),
}

pub struct SortOp {
    pub input: Box<dyn Op>,
    pub keys: Vec<SortKey>,
    pub unique: bool,
    pub values: Vec<Expr>,
    pub slot: usize,
    pub limit: Option<(Expr, Option<Expr>)>,
    key_bytes: Vec<u8>,
    row_bytes: Vec<u8>,
    entries: Vec<Entry>,
    next: usize,
}

/// Most bytes that one sort keeps in memory.
const SORT_BYTES_MAX: usize = 1 << 30;

impl SortOp {
    pub fn new(
        input: Box<dyn Op>,
        keys: Vec<SortKey>,
        unique: bool,
        values: Vec<Expr>,
        slot: usize,
        limit: Option<(Expr, Option<Expr>)>,
    ) -> SortOp {
        SortOp {
            input,
            keys,
            unique,
            values,
            slot,
            limit,
            key_bytes: Vec::new(),
            row_bytes: Vec::new(),
            entries: Vec::new(),
            next: 0,
        }
    }

    fn order(&mut self) {
        let keys = &self.key_bytes;
        let of = |e: &Entry| &keys[e.key.0 as usize..e.key.1 as usize];
        // Rows of equal keys keep the order in which they came.
        self.entries.sort_by(|a, b| of(a).cmp(of(b)));
        if self.unique {
            self.entries.dedup_by(|a, b| of(a) == of(b));
        }
    }

    /// Keeps the first `n` rows only.
    fn shrink(&mut self, n: usize) {
        self.order();
        self.entries.truncate(n);
        let (mut keys, mut rows) = (Vec::new(), Vec::new());
        for e in &mut self.entries {
            let (k, r) = (keys.len() as u32, rows.len() as u32);
            keys.extend_from_slice(&self.key_bytes[e.key.0 as usize..e.key.1 as usize]);
            rows.extend_from_slice(&self.row_bytes[e.row.0 as usize..e.row.1 as usize]);
            *e = Entry { key: (k, keys.len() as u32), row: (r, rows.len() as u32) };
        }
        self.key_bytes = keys;
        self.row_bytes = rows;
    }
}

impl Op for SortOp {
    fn open(&mut self, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<()> {
        self.key_bytes.clear();
        self.row_bytes.clear();
        self.entries.clear();
        self.next = 0;
        let wanted = match &self.limit {
            Some((count, offset)) => {
                let at = Scope { frame, outer };
                let count = super::flow::limit_value(count, run, at)?;
                let offset = match offset {
                    Some(o) => super::flow::limit_value(o, run, at)?,
                    None => 0,
                };
                usize::try_from(count.saturating_add(offset)).unwrap_or(usize::MAX)
            }
            None => usize::MAX,
        };
        self.input.open(run, frame, outer)?;
        while self.input.next(run, frame, outer)? {
            run.check_interrupt()?;
            let at = Scope { frame, outer };
            let (k, r) = (self.key_bytes.len() as u32, self.row_bytes.len() as u32);
            for key in &self.keys {
                let v = key.expr.eval(run, at)?;
                encode_key(&mut self.key_bytes, &v, &key.expr.ty, key.descending);
            }
            let mut w = tuple::Writer::new(&mut self.row_bytes, self.values.len());
            for e in &self.values {
                w.push(&e.eval(run, at)?);
            }
            w.finish();
            if self.key_bytes.len() + self.row_bytes.len() > SORT_BYTES_MAX {
                return Err(types::SqlError::new(
                    1038,
                    "Out of sort memory, consider increasing server sort buffer size",
                ));
            }
            self.entries.push(Entry { key: (k, self.key_bytes.len() as u32), row: (r, self.row_bytes.len() as u32) });
            if self.entries.len() >= 1024 && self.entries.len() / 2 > wanted {
                self.shrink(wanted);
            }
        }
        self.order();
        Ok(())
    }

    fn next(&mut self, _run: &Run<'_>, frame: &mut Frame, _outer: Option<&Scope<'_>>) -> Result<bool> {
        let Some(e) = self.entries.get(self.next) else { return Ok(false) };
        self.next += 1;
        let slot = &mut frame.slots[self.slot];
        slot.bytes.clear();
        slot.bytes.extend_from_slice(&self.row_bytes[e.row.0 as usize..e.row.1 as usize]);
        slot.present = true;
        Ok(true)
    }

    fn forget(&mut self) {
        self.input.forget();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::borrow::Cow;

    #[test]
    fn key_bytes_order_as_values_do() {
        let ty = DataType::new(TypeKind::BigInt);
        let ordered =
            [Value::Null, Value::Int(i64::MIN), Value::Int(-1), Value::Int(0), Value::Int(7), Value::UInt(u64::MAX)];
        let key = |v: &Value<'_>, desc| {
            let mut out = Vec::new();
            encode_key(&mut out, v, &ty, desc);
            out
        };
        for w in ordered.windows(2) {
            assert!(key(&w[0], false) < key(&w[1], false), "{w:?}");
            assert!(key(&w[0], true) > key(&w[1], true), "{w:?}");
        }
        let real = DataType::new(TypeKind::Double);
        let d = |x: f64| {
            let mut out = Vec::new();
            encode_key(&mut out, &Value::Double(x), &real, false);
            out
        };
        assert!(d(-2.0) < d(-1.0) && d(-1.0) < d(0.0) && d(-0.0) == d(0.0) && d(0.0) < d(1e-300));
    }

    #[test]
    fn strings_with_zero_bytes_do_not_run_into_the_next_part() {
        let ty = DataType::string(TypeKind::VarBinary, 10, types::CollationId::BINARY);
        let key = |a: &'static [u8], b: &'static [u8]| {
            let mut out = Vec::new();
            for v in [a, b] {
                encode_key(&mut out, &Value::Bytes(Cow::Borrowed(v)), &ty, false);
            }
            out
        };
        assert!(key(b"a", b"z") < key(b"a\0", b"a"));
        assert!(key(b"a\0", b"") < key(b"a\0\0", b""));
    }
}
