//! Keys of intermediate results: of sorts, groups, hash joins.

use crate::tuple::INTERMEDIATE_DIGITS;
use types::{CollationId, DataType, Decimal, TypeKind, Value};

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
        // Weight strings end themselves.
        (_, Value::Bytes(b)) if ty.kind.is_text() || ty.kind.is_bytes() => ty.collation.weights(b, out),
        (_, Value::Bytes(b)) => CollationId::BINARY.weights(b, out),
        (_, Value::Json(_)) => v.json().expect("a document").sort_key(out),
        (_, Value::Null) => unreachable!("NULL is encoded by its flag"),
    }
}

fn encode_double(out: &mut Vec<u8>, d: f64) {
    let bits = if d == 0.0 { 0 } else { d.to_bits() };
    let ordered = if bits >> 63 == 1 { !bits } else { bits | 1 << 63 };
    out.extend_from_slice(&ordered.to_be_bytes());
}

fn encode_decimal(out: &mut Vec<u8>, d: Decimal, scale: u8) {
    d.write_binary(INTERMEDIATE_DIGITS, scale, out);
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
