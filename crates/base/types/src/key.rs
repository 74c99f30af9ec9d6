//! Memory-comparable keys: `a < b` as SQL values of the key's types and collations iff the encoded bytes compare so.
//!
//! A key is its parts one after another; no part's encoding is a prefix of another encoding of the same part.
//!
//! ```text
//! part     = [00 NULL | 01 value]   the flag only when the part is nullable, so NULL sorts first
//! integers   big-endian at the type's width, sign bit flipped when signed
//! FLOAT      IEEE 754 big-endian, sign bit flipped when positive, all bits when negative; DOUBLE alike
//! DECIMAL    MySQL's binary form, see `Decimal::write_binary`
//! DATE       3 bytes; TIME 6 bytes, microseconds + 2^47; DATETIME, TIMESTAMP 5 bytes, and 3 of microseconds when fsp > 0
//! BIT        as many bytes as the bits need; YEAR 1; ENUM 2; SET 8
//! binary     bytes with 00 as 00 FF, ended by 00 01
//! text       the collation's weight string, see `CollationId::weights`
//! ```
//!
//! Every bit of a descending part is flipped, its flag included.

use crate::collation::{escape, unescape};
use crate::temporal::{Date, DateTime, Time};
use crate::{CollationId, DataType, Decimal, TypeKind, Value};

/// One part of an index key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyPart {
    pub data_type: DataType,
    pub descending: bool,
    /// Characters (or bytes for binary strings) of a prefix index; 0: the whole value.
    pub prefix: u32,
}

impl KeyPart {
    /// An ascending part over the whole value.
    pub const fn new(data_type: DataType) -> KeyPart {
        KeyPart { data_type, descending: false, prefix: 0 }
    }
}

const FLAG_NULL: u8 = 0;
const FLAG_VALUE: u8 = 1;
const TIME_OFFSET: i64 = 1 << 47;

/// How a type's values look in a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// So many bytes of an integer; the flag: signed.
    Integer(usize, bool),
    Float,
    Double,
    Decimal,
    Date,
    Time,
    DateTime {
        fraction: bool,
    },
    Year,
    Binary,
    Text,
    Null,
}

#[inline]
fn form(data_type: &DataType) -> Form {
    use TypeKind::*;
    let signed = !data_type.unsigned;
    match data_type.kind {
        TinyInt => Form::Integer(1, signed),
        SmallInt => Form::Integer(2, signed),
        MediumInt => Form::Integer(3, signed),
        Int => Form::Integer(4, signed),
        BigInt => Form::Integer(8, signed),
        Bit => Form::Integer(data_type.length.clamp(1, 64).div_ceil(8) as usize, false),
        Enum => Form::Integer(2, false),
        Set => Form::Integer(8, false),
        Year => Form::Year,
        TypeKind::Decimal => Form::Decimal,
        Float => Form::Float,
        Double => Form::Double,
        TypeKind::Date => Form::Date,
        TypeKind::Time => Form::Time,
        TypeKind::DateTime | Timestamp => Form::DateTime { fraction: data_type.decimals > 0 },
        Binary | VarBinary | TinyBlob | Blob | MediumBlob | LongBlob | Json | Geometry => Form::Binary,
        Char | VarChar | TinyText | Text | MediumText | LongText => {
            if data_type.collation == CollationId::BINARY {
                Form::Binary
            } else {
                Form::Text
            }
        }
        Null => Form::Null,
    }
}

/// Appends the encoding of one value to `out`. The value has the part's type already (coercion is done before).
///
/// # Panics
/// When the value is not one of the part's type.
#[inline]
pub fn encode_part(out: &mut Vec<u8>, part: &KeyPart, value: &Value<'_>) {
    let data_type = &part.data_type;
    // The hot path: an ascending integer.
    if !part.descending
        && let (TypeKind::Int | TypeKind::BigInt, Value::Int(v)) = (data_type.kind, value)
    {
        if data_type.nullable {
            out.push(FLAG_VALUE);
        }
        let flip = if data_type.unsigned { 0 } else { 1 << 63 };
        if data_type.kind == TypeKind::BigInt {
            out.extend_from_slice(&((*v as u64) ^ flip).to_be_bytes());
        } else {
            out.extend_from_slice(&((*v as u32) ^ (flip >> 32) as u32).to_be_bytes());
        }
        return;
    }
    encode_part_slow(out, part, value);
}

/// Appends what the encodings of a part begin with for all strings LIKE the pattern; false: of all strings, nothing is known.
pub fn encode_like_prefix(out: &mut Vec<u8>, part: &KeyPart, pattern: &[u8], escape: Option<char>) -> bool {
    let start = out.len();
    if part.data_type.nullable {
        out.push(FLAG_VALUE);
    }
    let from = out.len();
    let characters = if part.prefix == 0 { usize::MAX } else { part.prefix as usize };
    part.data_type.collation.like_prefix(pattern, escape, characters, out);
    let known = out.len() > from;
    if part.descending {
        out[start..].iter_mut().for_each(|b| *b = !*b);
    }
    known
}

fn encode_part_slow(out: &mut Vec<u8>, part: &KeyPart, value: &Value<'_>) {
    let start = out.len();
    let data_type = &part.data_type;
    if data_type.nullable {
        out.push(if value.is_null() { FLAG_NULL } else { FLAG_VALUE });
    }
    if !value.is_null() {
        encode_value(out, part, value);
    } else {
        assert!(data_type.nullable, "NULL in a key part that is NOT NULL");
    }
    if part.descending {
        out[start..].iter_mut().for_each(|b| *b = !*b);
    }
}

fn encode_value(out: &mut Vec<u8>, part: &KeyPart, value: &Value<'_>) {
    let data_type = &part.data_type;
    match (form(data_type), value) {
        (Form::Integer(width, signed), Value::Int(v)) => put_integer(out, *v as u64, width, signed),
        (Form::Integer(width, signed), Value::UInt(v)) => put_integer(out, *v, width, signed),
        (Form::Year, Value::UInt(v)) => out.push(year_to_byte(*v)),
        (Form::Year, Value::Int(v)) => out.push(year_to_byte(*v as u64)),
        (Form::Double, Value::Double(v)) => {
            let bits = (*v + 0.0).to_bits(); // -0.0 + 0.0 is 0.0
            let flip = if bits >> 63 == 1 { u64::MAX } else { 1 << 63 };
            out.extend_from_slice(&(bits ^ flip).to_be_bytes());
        }
        (Form::Float, Value::Double(v)) => {
            let bits = (*v as f32 + 0.0).to_bits();
            let flip = if bits >> 31 == 1 { u32::MAX } else { 1 << 31 };
            out.extend_from_slice(&(bits ^ flip).to_be_bytes());
        }
        (Form::Decimal, Value::Decimal(v)) => v.write_binary(data_type.length, data_type.decimals, out),
        (Form::Date, Value::Date(v)) => out.extend_from_slice(&v.0.to_be_bytes()[1..]),
        (Form::Time, Value::Time(v)) => out.extend_from_slice(&((v.0 + TIME_OFFSET) as u64).to_be_bytes()[2..]),
        (Form::DateTime { fraction }, Value::DateTime(v)) => {
            out.extend_from_slice(&v.0.to_be_bytes()[..if fraction { 8 } else { 5 }]);
        }
        (Form::Binary, Value::Bytes(v)) => escape(cut(v, part), out),
        (Form::Text, Value::Bytes(v)) => data_type.collation.weights(cut(v, part), out),
        (form, value) => panic!("a key part {form:?} cannot hold {value:?}"),
    }
}

/// The part's prefix of a string.
fn cut<'v>(v: &'v [u8], part: &KeyPart) -> &'v [u8] {
    if part.prefix == 0 {
        return v;
    }
    let characters = part.prefix as usize;
    &v[..part.data_type.collation.charset().char_offset(v, characters)]
}

#[inline]
fn put_integer(out: &mut Vec<u8>, v: u64, width: usize, signed: bool) {
    let flip = if signed { 1 << (width * 8 - 1) } else { 0 };
    out.extend_from_slice(&(v ^ flip).to_be_bytes()[8 - width..]);
}

/// 0 stays 0; 1901..=2155 become 1..=255, as in MySQL's rows.
pub(crate) fn year_to_byte(year: u64) -> u8 {
    if year == 0 { 0 } else { (year.saturating_sub(1900)).min(255) as u8 }
}

pub(crate) fn year_from_byte(byte: u8) -> u64 {
    if byte == 0 { 0 } else { byte as u64 + 1900 }
}

/// Whether [`decode_part`] can rebuild the value from its key bytes (an index-only read needs no row). False for text
/// under a collation with weights and for prefix parts.
pub fn is_reversible(part: &KeyPart) -> bool {
    match form(&part.data_type) {
        Form::Binary => part.prefix == 0,
        Form::Text => part.prefix == 0 && part.data_type.collation == CollationId::UTF8MB4_0900_BIN,
        _ => true,
    }
}

/// Reads one part off the front of `key` and moves `key` behind it. `None` when the part is not reversible or the bytes
/// are no key of this part.
pub fn decode_part(key: &mut &[u8], part: &KeyPart) -> Option<Value<'static>> {
    // The hot path: an ascending integer, as in `encode_part`.
    let data_type = &part.data_type;
    if !part.descending && data_type.kind == TypeKind::Int && !data_type.unsigned {
        let mut rest = *key;
        if data_type.nullable {
            let (flag, value) = rest.split_first()?;
            rest = value;
            if *flag == FLAG_NULL {
                *key = rest;
                return Some(Value::Null);
            }
        }
        let (bytes, rest) = rest.split_first_chunk()?;
        *key = rest;
        return Some(Value::Int((u32::from_be_bytes(*bytes) ^ 1 << 31) as i32 as i64));
    }
    decode_part_slow(key, part)
}

fn decode_part_slow(key: &mut &[u8], part: &KeyPart) -> Option<Value<'static>> {
    if !is_reversible(part) {
        return None;
    }
    let length = part_length(key, part)?;
    let (bytes, rest) = key.split_at_checked(length)?;
    let mut copy;
    let mut bytes = bytes;
    if part.descending {
        copy = bytes.to_vec();
        copy.iter_mut().for_each(|b| *b = !*b);
        bytes = &copy;
    }
    if part.data_type.nullable {
        let (flag, value) = bytes.split_first()?;
        if *flag == FLAG_NULL {
            *key = rest;
            return Some(Value::Null);
        }
        bytes = value;
    }
    let value = decode_value(bytes, &part.data_type)?;
    *key = rest;
    Some(value)
}

fn decode_value(bytes: &[u8], data_type: &DataType) -> Option<Value<'static>> {
    let big = || bytes.iter().fold(0u64, |v, b| v << 8 | *b as u64);
    Some(match form(data_type) {
        Form::Integer(width, true) => {
            let unused = 64 - width * 8;
            let flipped = big() ^ 1 << (width * 8 - 1);
            Value::Int((flipped << unused) as i64 >> unused)
        }
        Form::Integer(_, false) => Value::UInt(big()),
        Form::Year => Value::UInt(year_from_byte(bytes[0])),
        Form::Double => {
            let bits = big();
            Value::Double(f64::from_bits(if bits >> 63 == 1 { bits ^ 1 << 63 } else { !bits }))
        }
        Form::Float => {
            let bits = big() as u32;
            Value::Double(f32::from_bits(if bits >> 31 == 1 { bits ^ 1 << 31 } else { !bits }) as f64)
        }
        Form::Decimal => Value::Decimal(Decimal::read_binary(bytes, data_type.length, data_type.decimals)?),
        Form::Date => Value::Date(Date(big() as u32)),
        Form::Time => Value::Time(Time(big() as i64 - TIME_OFFSET)),
        Form::DateTime { fraction } => Value::DateTime(DateTime(if fraction { big() } else { big() << 24 })),
        Form::Binary | Form::Text => Value::Bytes(unescape(bytes)?.into()),
        Form::Null => return None,
    })
}

/// Length in bytes of the part at the front of `key`, flag included, of any type; `None` when `key` is too short.
pub fn part_length(key: &[u8], part: &KeyPart) -> Option<usize> {
    let flip = if part.descending { 0xFF } else { 0 };
    let flag = part.data_type.nullable as usize;
    if flag == 1 && key.first()? ^ flip == FLAG_NULL {
        return Some(1);
    }
    let data_type = &part.data_type;
    let fixed = match form(data_type) {
        Form::Integer(width, _) => width,
        Form::Year => 1,
        Form::Float => 4,
        Form::Double => 8,
        Form::Decimal => Decimal::binary_bytes(data_type.length, data_type.decimals),
        Form::Date => 3,
        Form::Time => 6,
        Form::DateTime { fraction } => {
            if fraction {
                8
            } else {
                5
            }
        }
        Form::Null => 0,
        variable @ (Form::Binary | Form::Text) => {
            let value = key.get(flag..)?;
            // Binary strings are escaped as the collation `binary` does it.
            let collation = if variable == Form::Binary { CollationId::BINARY } else { data_type.collation };
            if !part.descending {
                return Some(flag + collation.weights_length(value)?);
            }
            let flipped: Vec<u8> = value.iter().map(|b| !b).collect();
            return Some(flag + collation.weights_length(&flipped)?);
        }
    };
    (key.len() >= flag + fixed).then_some(flag + fixed)
}

/// Turns `key` into the smallest byte string that sorts after every string that starts with `key`: the exclusive end of
/// a prefix scan. False (and `key` empty): there is none, scan to the end.
pub fn successor(key: &mut Vec<u8>) -> bool {
    while let Some(last) = key.pop() {
        if last < 0xFF {
            key.push(last + 1);
            return true;
        }
    }
    false
}

/// The half-open range `[lower, upper)` of all keys whose first parts are the encoded `prefix`; `None` above: to the end.
pub fn encode_prefix_bounds(prefix: &[u8]) -> (Vec<u8>, Option<Vec<u8>>) {
    let mut upper = prefix.to_vec();
    let bounded = successor(&mut upper);
    (prefix.to_vec(), bounded.then_some(upper))
}
