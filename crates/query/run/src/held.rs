//! Values beside what a column can hold: what an index is searched for.

use super::Run;
use catalog::Table;
use expr::convert;
use types::{DataType, Decimal, SqlMode, StoreContext, TypeKind, Value};

/// How a value compares with what the column can hold.
pub(super) enum Held<'v> {
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

pub(super) fn owned<'a>(h: Held<'_>) -> Held<'a> {
    match h {
        Held::Exact(v) => Held::Exact(v.into_owned()),
        Held::Above(v) => Held::Above(v.into_owned()),
        Held::Low => Held::Low,
        Held::High => Held::High,
        Held::Null => Held::Null,
        Held::Unordered => Held::Unordered,
    }
}

/// Does [`hold`] lose nothing of a comparison with this value, unless it says that it cannot? Then the rows of the range are the
/// rows for which the comparison holds. (A string beside a number is left to the comparison, which warns of bad ones.)
#[inline]
pub(super) fn is_precise(v: &Value<'_>, table: &Table, column: usize) -> bool {
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
pub(super) fn searched<'v>(v: Value<'v>, table: &Table, column: usize, run: &Run<'_>) -> Value<'v> {
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
pub(super) fn hold<'v>(v: Value<'v>, ty: &DataType, table: &Table, column: usize) -> Held<'v> {
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
