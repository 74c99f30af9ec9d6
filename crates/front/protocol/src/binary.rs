//! Rows of the binary protocol.
//!
//! ```text
//!  00 | null bitmap, (columns + 7 + 2) / 8 bytes, column i at bit i + 2 | values that are not NULL
//!  integers and floats   little-endian, as wide as the type
//!  DATE, DATETIME        length 0, 4, 7 or 11 | year 2 | month | day | hour | minute | second | microseconds 4
//!  TIME                  length 0, 8 or 12 | negative | days 4 | hours | minutes | seconds | microseconds 4
//!  the rest              length-encoded string
//! ```

use crate::text::{put_as_text, put_bits};
use crate::wire::put_lenenc_bytes;
use types::{DataType, Date, DateTime, Time, TypeKind, Value};

/// Appends a binary row.
#[inline]
pub fn put_row(out: &mut Vec<u8>, types: &[DataType], values: &[Value<'_>]) {
    debug_assert_eq!(types.len(), values.len());
    out.push(0);
    let bitmap = out.len();
    out.resize(bitmap + (values.len() + 9) / 8, 0);
    for (i, (data_type, value)) in types.iter().zip(values).enumerate() {
        if value.is_null() {
            out[bitmap + (i + 2) / 8] |= 1 << ((i + 2) % 8);
        } else {
            put_value(out, data_type, value);
        }
    }
}

/// Appends a value that is not NULL in the encoding of its column's type.
fn put_value(out: &mut Vec<u8>, data_type: &DataType, value: &Value<'_>) {
    use TypeKind::*;
    match data_type.kind {
        TinyInt => out.push(integer(value) as u8),
        SmallInt | Year => out.extend_from_slice(&(integer(value) as u16).to_le_bytes()),
        MediumInt | Int => out.extend_from_slice(&(integer(value) as u32).to_le_bytes()),
        BigInt => out.extend_from_slice(&integer(value).to_le_bytes()),
        Float => out.extend_from_slice(&(double(value) as f32).to_le_bytes()),
        Double => out.extend_from_slice(&double(value).to_le_bytes()),
        Date | DateTime | Timestamp => match value {
            Value::Date(v) => put_date(out, *v),
            Value::DateTime(v) => put_datetime(out, *v),
            _ => mismatch(out, data_type, value),
        },
        Time => match value {
            Value::Time(v) => put_time(out, *v),
            _ => mismatch(out, data_type, value),
        },
        Bit => match value {
            Value::UInt(bits) => put_bits(out, *bits, data_type.length),
            Value::Bytes(bytes) => put_lenenc_bytes(out, bytes),
            _ => mismatch(out, data_type, value),
        },
        _ => match value {
            Value::Bytes(bytes) => put_lenenc_bytes(out, bytes),
            _ => put_as_text(out, data_type, value),
        },
    }
}

/// Two's complement of the value: signed and unsigned integers share their low bytes.
fn integer(value: &Value<'_>) -> u64 {
    match value {
        Value::Int(n) => *n as u64,
        Value::UInt(n) => *n,
        other => other.to_i64() as u64,
    }
}

fn double(value: &Value<'_>) -> f64 {
    match value {
        Value::Double(x) => *x,
        other => other.to_f64(),
    }
}

/// The executor gave a value that is not of its column's type: a bug there. The row stays well-formed.
#[cold]
fn mismatch(out: &mut Vec<u8>, data_type: &DataType, value: &Value<'_>) {
    debug_assert!(false, "{value:?} in a column of {:?}", data_type.kind);
    out.push(0);
}

fn put_date(out: &mut Vec<u8>, date: Date) {
    if date.0 == 0 {
        return out.push(0);
    }
    let (year, month, day) = split_date(date.0);
    let [a, b] = year.to_le_bytes();
    out.extend_from_slice(&[4, a, b, month, day]);
}

/// The shortest form that holds the value: without a time of day when that is 0, without microseconds when they are.
fn put_datetime(out: &mut Vec<u8>, value: DateTime) {
    let micros = (value.0 & 0xff_ffff) as u32;
    let seconds = value.0 >> 24;
    let clock = (seconds & 0x1_ffff) as u32;
    let (year, month, day) = split_date((seconds >> 17) as u32);
    if value.0 == 0 {
        return out.push(0);
    }
    let [a, b] = year.to_le_bytes();
    let len = if micros != 0 {
        11
    } else if clock != 0 {
        7
    } else {
        4
    };
    out.extend_from_slice(&[len, a, b, month, day]);
    if len >= 7 {
        out.extend_from_slice(&[(clock >> 12) as u8, (clock >> 6 & 63) as u8, (clock & 63) as u8]);
    }
    if len == 11 {
        out.extend_from_slice(&micros.to_le_bytes());
    }
}

fn put_time(out: &mut Vec<u8>, value: Time) {
    if value.0 == 0 {
        return out.push(0);
    }
    let micros_total = value.0.unsigned_abs();
    let micros = (micros_total % 1_000_000) as u32;
    let seconds = micros_total / 1_000_000;
    let days = (seconds / 86_400) as u32;
    out.push(if micros != 0 { 12 } else { 8 });
    out.push(u8::from(value.0 < 0));
    out.extend_from_slice(&days.to_le_bytes());
    out.extend_from_slice(&[(seconds / 3600 % 24) as u8, (seconds / 60 % 60) as u8, (seconds % 60) as u8]);
    if micros != 0 {
        out.extend_from_slice(&micros.to_le_bytes());
    }
}

/// Year, month and day of the packed `(year * 13 + month) << 5 | day`.
fn split_date(packed: u32) -> (u16, u8, u8) {
    let months = packed >> 5;
    ((months / 13) as u16, (months % 13) as u8, (packed & 31) as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn date(y: u32, m: u32, d: u32) -> u32 {
        (y * 13 + m) << 5 | d
    }

    fn datetime(y: u32, m: u32, d: u32, clock: (u64, u64, u64), micros: u64) -> DateTime {
        DateTime((u64::from(date(y, m, d)) << 17 | clock.0 << 12 | clock.1 << 6 | clock.2) << 24 | micros)
    }

    fn row(kind: TypeKind, value: Value<'_>) -> Vec<u8> {
        let mut out = Vec::new();
        put_row(&mut out, &[DataType::new(kind)], &[value]);
        assert_eq!(out[..2], [0, 0]);
        out.split_off(2)
    }

    #[test]
    fn values_have_the_bytes_of_the_documentation() {
        assert_eq!(row(TypeKind::TinyInt, Value::Int(-1)), [0xff]);
        assert_eq!(row(TypeKind::Year, Value::UInt(1999)), [0xcf, 0x07]);
        assert_eq!(row(TypeKind::MediumInt, Value::Int(1)), [1, 0, 0, 0]);
        assert_eq!(row(TypeKind::BigInt, Value::UInt(u64::MAX)), [0xff; 8]);
        assert_eq!(row(TypeKind::Float, Value::Double(10.2f32.into())), [0x33, 0x33, 0x23, 0x41]);
        assert_eq!(row(TypeKind::Double, Value::Double(10.2)), [0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x24, 0x40]);
        // 2010-10-17 19:27:30.000001 and its shorter forms.
        let full = datetime(2010, 10, 17, (19, 27, 30), 1);
        let expected = [0x0b, 0xda, 0x07, 0x0a, 0x11, 0x13, 0x1b, 0x1e, 0x01, 0x00, 0x00, 0x00];
        assert_eq!(row(TypeKind::DateTime, Value::DateTime(full)), expected);
        let seconds = datetime(2010, 10, 17, (19, 27, 30), 0);
        assert_eq!(row(TypeKind::Timestamp, Value::DateTime(seconds)), [7, 0xda, 7, 10, 17, 19, 27, 30]);
        let midnight = datetime(2010, 10, 17, (0, 0, 0), 0);
        assert_eq!(row(TypeKind::DateTime, Value::DateTime(midnight)), [4, 0xda, 7, 10, 17]);
        assert_eq!(row(TypeKind::Date, Value::Date(Date(0))), [0]);
        // -120 days 19:27:30.000001
        let time = -((120 * 86_400 + 19 * 3600 + 27 * 60 + 30) * 1_000_000 + 1);
        let expected = [0x0c, 0x01, 0x78, 0x00, 0x00, 0x00, 0x13, 0x1b, 0x1e, 0x01, 0x00, 0x00, 0x00];
        assert_eq!(row(TypeKind::Time, Value::Time(Time(time))), expected);
    }

    #[test]
    fn the_null_bitmap_starts_at_bit_two() {
        let types = [DataType::new(TypeKind::TinyInt); 7];
        let mut values = [const { Value::Int(5) }; 7];
        values[0] = Value::Null;
        values[6] = Value::Null;
        let mut out = Vec::new();
        put_row(&mut out, &types, &values);
        assert_eq!(out, [0, 0b0000_0100, 0b0000_0001, 5, 5, 5, 5, 5]);
    }
}
