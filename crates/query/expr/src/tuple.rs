//! Materialised rows of intermediate results: self-describing, one value read in O(1), nothing allocated for reading.
//!
//! ```text
//! +----------+----------+-----+----------+---------+---------+----
//! | end 0 u32| end 1 u32| ... | end n-1  | tag|val | tag|val | ...     ends are offsets from the first value
//! +----------+----------+-----+----------+---------+---------+----
//! ```
//! Numbers are little-endian. The tag is the kind of the run-time value, so a value comes back exactly as it was stored.

use std::borrow::Cow;
use types::{Date, DateTime, Decimal, Time, Value};

/// Digits of MySQL's intermediate results, of which crate `types` keeps 77.
pub const INTERMEDIATE_DIGITS: u32 = 81;

const NULL: u8 = 0;
const INT: u8 = 1;
const UINT: u8 = 2;
const DOUBLE: u8 = 3;
const DECIMAL: u8 = 4;
const DATE: u8 = 5;
const TIME: u8 = 6;
const DATETIME: u8 = 7;
const BYTES: u8 = 8;
const JSON: u8 = 9;

/// Appends a tuple to a buffer, value by value.
pub struct Writer<'o> {
    out: &'o mut Vec<u8>,
    start: usize,
    values_start: usize,
    next: usize,
    count: usize,
}

impl<'o> Writer<'o> {
    /// Starts a tuple of exactly `count` values at the end of `out`.
    pub fn new(out: &'o mut Vec<u8>, count: usize) -> Writer<'o> {
        let start = out.len();
        out.resize(start + 4 * count, 0);
        let values_start = out.len();
        Writer { out, start, values_start, next: 0, count }
    }

    /// The next value.
    pub fn push(&mut self, value: &Value<'_>) {
        assert!(self.next < self.count, "tuple has more values than it was made for");
        let out = &mut *self.out;
        match value {
            Value::Null => out.push(NULL),
            Value::Int(v) => {
                out.push(INT);
                out.extend_from_slice(&v.to_le_bytes());
            }
            Value::UInt(v) => {
                out.push(UINT);
                out.extend_from_slice(&v.to_le_bytes());
            }
            Value::Double(v) => {
                out.push(DOUBLE);
                out.extend_from_slice(&v.to_bits().to_le_bytes());
            }
            Value::Decimal(v) => {
                out.push(DECIMAL);
                decimal_to_bytes(v, out);
            }
            Value::Date(v) => {
                out.push(DATE);
                out.extend_from_slice(&v.0.to_le_bytes());
            }
            Value::Time(v) => {
                out.push(TIME);
                out.extend_from_slice(&v.0.to_le_bytes());
            }
            Value::DateTime(v) => {
                out.push(DATETIME);
                out.extend_from_slice(&v.0.to_le_bytes());
            }
            Value::Bytes(b) => {
                out.push(BYTES);
                out.extend_from_slice(b);
            }
            Value::Json(b) => {
                out.push(JSON);
                out.extend_from_slice(b);
            }
        }
        let end = u32::try_from(out.len() - self.values_start).expect("a tuple is below 4 GiB");
        let at = self.start + 4 * self.next;
        out[at..at + 4].copy_from_slice(&end.to_le_bytes());
        self.next += 1;
    }

    /// All values are there.
    pub fn finish(self) {
        assert_eq!(self.next, self.count, "tuple has fewer values than it was made for");
    }
}

fn end_of(tuple: &[u8], i: usize) -> usize {
    u32::from_le_bytes(tuple[4 * i..4 * i + 4].try_into().expect("four bytes")) as usize
}

/// Value `i` of a tuple of `count` values.
pub fn get(tuple: &[u8], count: usize, i: usize) -> Value<'_> {
    debug_assert!(i < count);
    let from = 4 * count + if i == 0 { 0 } else { end_of(tuple, i - 1) };
    let to = 4 * count + end_of(tuple, i);
    let (tag, bytes) = (tuple[from], &tuple[from + 1..to]);
    let word = || u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
    match tag {
        NULL => Value::Null,
        INT => Value::Int(word() as i64),
        UINT => Value::UInt(word()),
        DOUBLE => Value::Double(f64::from_bits(word())),
        DECIMAL => Value::Decimal(decimal(bytes)),
        DATE => Value::Date(Date(u32::from_le_bytes(bytes.try_into().expect("four bytes")))),
        TIME => Value::Time(Time(word() as i64)),
        DATETIME => Value::DateTime(DateTime(word())),
        BYTES => Value::Bytes(Cow::Borrowed(bytes)),
        JSON => Value::Json(Cow::Borrowed(bytes)),
        other => unreachable!("tuple tag {other}"),
    }
}

/// Where value `i` of a tuple of `count` values has its bytes, when it is a string.
pub fn string(tuple: &[u8], count: usize, i: usize) -> Option<std::ops::Range<usize>> {
    let from = 4 * count + if i == 0 { 0 } else { end_of(tuple, i - 1) };
    (tuple[from] == BYTES).then(|| from + 1..4 * count + end_of(tuple, i))
}

fn decimal(bytes: &[u8]) -> Decimal {
    decimal_from_bytes(bytes)
}

/// Appends scale and MySQL's binary form, with all the digits that an intermediate result may have.
fn decimal_to_bytes(d: &Decimal, out: &mut Vec<u8>) {
    out.push(d.scale());
    d.write_binary(INTERMEDIATE_DIGITS, d.scale(), out);
}

fn decimal_from_bytes(bytes: &[u8]) -> Decimal {
    let (scale, rest) = (bytes[0], &bytes[1..]);
    Decimal::read_binary(rest, INTERMEDIATE_DIGITS, scale).expect("written by decimal_to_bytes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back_as_they_were_stored() {
        let values = [
            Value::Null,
            Value::Int(-5),
            Value::UInt(u64::MAX),
            Value::Double(-0.5),
            Value::Date(Date(77)),
            Value::Time(Time(-1)),
            Value::DateTime(DateTime(99)),
            Value::Bytes(Cow::Borrowed(b"")),
            Value::Bytes(Cow::Borrowed(b"abc")),
        ];
        let mut out = vec![1, 2, 3];
        let mut w = Writer::new(&mut out, values.len());
        values.iter().for_each(|v| w.push(v));
        w.finish();
        for (i, v) in values.iter().enumerate() {
            assert_eq!(&get(&out[3..], values.len(), i), v);
        }
    }
}
