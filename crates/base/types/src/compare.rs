//! Comparison of two values under MySQL's rules, whatever mix of types they are.

use crate::json::Json;
use crate::temporal::parse::parse_datetime;
use crate::{CollationId, DateTime, Decimal, SqlMode, Value};
use std::cmp::Ordering;

/// `None` when either is NULL.
///
/// | operands | compared as |
/// | --- | --- |
/// | same type | that type; strings under `collation` |
/// | integer, unsigned integer | exactly, without wrapping |
/// | integer or DECIMAL, DECIMAL | DECIMAL |
/// | number, DOUBLE or string | double |
/// | DATE or DATETIME, string | DATETIME; a string that does not read as such is the zero date |
/// | TIME, string | text |
/// | DATE, DATETIME or TIME, number | its digits as a number |
/// | DATE, DATETIME | DATETIME; TIME against either: as numbers, the caller converts with the current date where MySQL does |
#[inline]
pub fn compare(a: &Value<'_>, b: &Value<'_>, collation: CollationId) -> Option<Ordering> {
    match (a, b) {
        (Value::Int(x), Value::Int(y)) => Some(x.cmp(y)),
        (Value::UInt(x), Value::UInt(y)) => Some(x.cmp(y)),
        (Value::Bytes(x), Value::Bytes(y)) => Some(collation.compare(x, y)),
        _ => compare_slow(a, b, collation),
    }
}

fn compare_slow(a: &Value<'_>, b: &Value<'_>, collation: CollationId) -> Option<Ordering> {
    use Value as V;
    Some(match (a, b) {
        (V::Null, _) | (_, V::Null) => return None,
        (V::Int(x), V::Int(y)) => x.cmp(y),
        (V::UInt(x), V::UInt(y)) => x.cmp(y),
        (V::Int(x), V::UInt(y)) => (*x as i128).cmp(&(*y as i128)),
        (V::UInt(x), V::Int(y)) => (*x as i128).cmp(&(*y as i128)),
        (V::Decimal(x), V::Decimal(y)) => x.cmp(y),
        (V::Decimal(x), V::Int(y)) => x.cmp(&Decimal::from(*y)),
        (V::Decimal(x), V::UInt(y)) => x.cmp(&Decimal::from(*y)),
        (V::Int(x), V::Decimal(y)) => Decimal::from(*x).cmp(y),
        (V::UInt(x), V::Decimal(y)) => Decimal::from(*x).cmp(y),
        (V::Date(x), V::Date(y)) => x.cmp(y),
        (V::Time(x), V::Time(y)) => x.cmp(y),
        (V::DateTime(x), V::DateTime(y)) => x.cmp(y),
        (V::Date(x), V::DateTime(y)) => x.at_midnight().cmp(y),
        (V::DateTime(x), V::Date(y)) => x.cmp(&y.at_midnight()),
        (V::Bytes(x), V::Bytes(y)) => collation.compare(x, y),
        (V::Json(_), _) | (_, V::Json(_)) => Json::from_scalar(a).compare(&Json::from_scalar(b)),
        (V::Date(x), other) => return compare_datetime(x.at_midnight(), a, other),
        (V::DateTime(x), other) => return compare_datetime(*x, a, other),
        (other, V::Date(y)) => return compare_datetime(y.at_midnight(), b, other).map(Ordering::reverse),
        (other, V::DateTime(y)) => return compare_datetime(*y, b, other).map(Ordering::reverse),
        (V::Time(_), other) => return compare_time(a, other, collation),
        (other, V::Time(_)) => return compare_time(b, other, collation).map(Ordering::reverse),
        (x, y) => return compare_doubles(x.to_f64(), y.to_f64()),
    })
}

/// For ORDER BY and `<=>`: NULL equals NULL and sorts first.
pub fn compare_nulls_first(a: &Value<'_>, b: &Value<'_>, collation: CollationId) -> Ordering {
    match (a.is_null(), b.is_null()) {
        (true, true) => Ordering::Equal,
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
        (false, false) => compare(a, b, collation).unwrap_or(Ordering::Equal),
    }
}

/// No SQL double is NaN; should one appear, it equals itself and sorts last.
fn compare_doubles(x: f64, y: f64) -> Option<Ordering> {
    Some(x.partial_cmp(&y).unwrap_or_else(|| x.is_nan().cmp(&y.is_nan())))
}

/// `value` (a DATE or DATETIME, at `at`) against a string or a number.
fn compare_datetime(at: DateTime, value: &Value<'_>, other: &Value<'_>) -> Option<Ordering> {
    match other {
        Value::Bytes(text) => {
            let read = parse_datetime(text, SqlMode::NONE).map_or(DateTime::ZERO, |parsed| parsed.value);
            Some(at.cmp(&read))
        }
        Value::Int(_) | Value::UInt(_) | Value::Decimal(_) => Some(value.to_decimal().cmp(&other.to_decimal())),
        other => compare_doubles(value.to_f64(), other.to_f64()),
    }
}

fn compare_time(value: &Value<'_>, other: &Value<'_>, collation: CollationId) -> Option<Ordering> {
    match other {
        Value::Bytes(text) => compare_as_text(value, text, collation),
        Value::Int(_) | Value::UInt(_) | Value::Decimal(_) => Some(value.to_decimal().cmp(&other.to_decimal())),
        other => compare_doubles(value.to_f64(), other.to_f64()),
    }
}

fn compare_as_text(value: &Value<'_>, text: &[u8], collation: CollationId) -> Option<Ordering> {
    let mut own = Vec::with_capacity(32);
    value.write_plain(&mut own);
    Some(collation.compare(&own, text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Time;
    use Ordering::*;

    #[test]
    fn mixed_types_compare_as_mysql_does() {
        let text = |t: &'static str| Value::Bytes(t.as_bytes().into());
        let date = |t: &str| parse_datetime(t.as_bytes(), SqlMode::NONE).unwrap().value;
        let decimal = |t: &str| Value::Decimal(Decimal::parse(t.as_bytes()).0);
        let day = Value::Date(date("2024-01-02").date());
        for (a, b, expected) in [
            (Value::UInt(u64::MAX), Value::Int(-1), Greater),
            (Value::Int(i64::MIN), Value::UInt(0), Less),
            (text("1x"), Value::Int(1), Equal),
            (text("abc"), Value::Int(0), Equal),
            (decimal("1.5"), text("1.50"), Equal),
            (decimal("9007199254740993"), Value::Int(9007199254740993), Equal),
            (day.clone(), text("2024-1-2"), Equal),
            (day.clone(), Value::Int(20240102), Equal),
            (Value::Int(20240103), day.clone(), Greater),
            (day.clone(), Value::DateTime(date("2024-01-02 00:00:01")), Less),
            (Value::Time(Time::new(false, 10, 0, 0, 0)), Value::Int(100000), Equal),
            (text("10:00:01"), Value::Time(Time::new(false, 10, 0, 0, 0)), Greater),
            (text("2"), Value::Time(Time::new(false, 10, 0, 0, 0)), Greater),
            (text("ABC"), text("abc"), Equal),
            (text("."), Value::DateTime(DateTime::ZERO), Equal),
            (text("x"), day.clone(), Less),
        ] {
            assert_eq!(compare(&a, &b, CollationId::UTF8MB4_0900_AI_CI), Some(expected), "{a:?} {b:?}");
            assert_eq!(compare(&b, &a, CollationId::UTF8MB4_0900_AI_CI), Some(expected.reverse()));
        }
        assert_eq!(compare(&Value::Null, &Value::Int(1), CollationId::BINARY), None);
        assert_eq!(compare_nulls_first(&Value::Null, &Value::Int(i64::MIN), CollationId::BINARY), Less);
    }
}
