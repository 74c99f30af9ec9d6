//! The binary form of documents, MySQL's own: keys sorted, so that a member is found by binary search, and offsets to
//! everything, so that a part is read without the rest.
//!
//! ```text
//! document  = type, value                         type is a byte
//! object    = count, size, key entries, value entries, keys, values
//! array     = count, size, value entries, values
//! key entry = offset of the key, length u16
//! value entry = type, offset of the value or the value itself (literals, 16-bit and in large containers 32-bit integers)
//! string    = length in 7-bit groups, low first, UTF-8
//! custom    = protocol type u8, length in 7-bit groups, bytes      (decimals, temporals, opaque bytes)
//! ```
//!
//! Counts, sizes and offsets are u16 in small containers and u32 in large ones, little-endian; offsets are from the
//! container's first byte. Temporals are the 8 bytes of this server's packed form, not MySQL's.

use super::{DEPTH_MAX, Json, Object};
use crate::temporal::record;
use crate::{Date, DateTime, Decimal, Time};
use std::cell::Cell;

const SMALL_OBJECT: u8 = 0;
const LARGE_OBJECT: u8 = 1;
const SMALL_ARRAY: u8 = 2;
const LARGE_ARRAY: u8 = 3;
const LITERAL: u8 = 4;
const INT16: u8 = 5;
const UINT16: u8 = 6;
const INT32: u8 = 7;
const UINT32: u8 = 8;
const INT64: u8 = 9;
const UINT64: u8 = 10;
const DOUBLE: u8 = 11;
pub(super) const STRING: u8 = 12;
const CUSTOM: u8 = 15;

const LITERAL_NULL: u8 = 0;
const LITERAL_TRUE: u8 = 1;
const LITERAL_FALSE: u8 = 2;

/// Protocol types of custom values that are no opaque bytes.
const NEW_DECIMAL: u8 = 246;
const TIMESTAMP: u8 = 7;
const DATE: u8 = 10;
const TIME: u8 = 11;
const DATETIME: u8 = 12;

/// A container is too long for 16-bit offsets.
struct TooLong;

/// What offsets of 16 bits reach.
const SMALL_BYTES_MAX: usize = u16::MAX as usize;

/// The binary form.
pub fn encode(v: &Json) -> Vec<u8> {
    let mut out = vec![0];
    encode_at(v, 0, &mut out);
    out
}

/// Appends the value; its type goes to `type_at`.
fn encode_at(v: &Json, type_at: usize, out: &mut Vec<u8>) {
    let start = out.len();
    if encode_small(v, type_at, out).is_ok() {
        return;
    }
    out.truncate(start);
    if !v.is_container() {
        out[type_at] = scalar(v, out);
        return;
    }
    out[type_at] = if matches!(v, Json::Object(_)) { LARGE_OBJECT } else { LARGE_ARRAY };
    if container(v, true, out).is_err() {
        unreachable!("a large container holds any document");
    }
}

/// The same of a value in a small container. What is too long for one makes all containers around it too long: none of them is encoded
/// in its large form meanwhile, so that a level costs no more than its own length.
fn encode_small(v: &Json, type_at: usize, out: &mut Vec<u8>) -> Result<(), TooLong> {
    match v {
        Json::String(text) if text.len() > SMALL_BYTES_MAX => return Err(TooLong),
        Json::Opaque(_, bytes) if bytes.len() > SMALL_BYTES_MAX => return Err(TooLong),
        Json::Array(_) => out[type_at] = SMALL_ARRAY,
        Json::Object(_) => out[type_at] = SMALL_OBJECT,
        _ => {}
    }
    if v.is_container() {
        return container(v, false, out);
    }
    out[type_at] = scalar(v, out);
    Ok(())
}

/// Appends a scalar and says its type.
fn scalar(v: &Json, out: &mut Vec<u8>) -> u8 {
    match v {
        Json::Null => literal(LITERAL_NULL, out),
        Json::Bool(true) => literal(LITERAL_TRUE, out),
        Json::Bool(false) => literal(LITERAL_FALSE, out),
        Json::Int(v) => match (i16::try_from(*v), i32::try_from(*v)) {
            (Ok(v), _) => put(INT16, &v.to_le_bytes(), out),
            (_, Ok(v)) => put(INT32, &v.to_le_bytes(), out),
            _ => put(INT64, &v.to_le_bytes(), out),
        },
        Json::UInt(v) => match (u16::try_from(*v), u32::try_from(*v)) {
            (Ok(v), _) => put(UINT16, &v.to_le_bytes(), out),
            (_, Ok(v)) => put(UINT32, &v.to_le_bytes(), out),
            _ => put(UINT64, &v.to_le_bytes(), out),
        },
        Json::Double(v) => put(DOUBLE, &v.to_bits().to_le_bytes(), out),
        Json::String(text) => {
            put_length(text.len(), out);
            put(STRING, text.as_bytes(), out)
        }
        Json::Decimal(v) => {
            // What is computed may have more digits behind the point than a column.
            let v = if v.scale() > Decimal::MAX_SCALE { v.round(Decimal::MAX_SCALE) } else { *v };
            let mut bytes = vec![v.precision().max(v.scale() as u32) as u8, v.scale()];
            v.write_binary(bytes[0] as u32, bytes[1], &mut bytes);
            custom(NEW_DECIMAL, &bytes, out)
        }
        Json::Date(v) => custom(DATE, &(v.0 as u64).to_le_bytes(), out),
        Json::Time(v) => custom(TIME, &v.0.to_le_bytes(), out),
        Json::DateTime(v) => custom(DATETIME, &v.0.to_le_bytes(), out),
        Json::Timestamp(v) => custom(TIMESTAMP, &v.0.to_le_bytes(), out),
        Json::Opaque(kind, bytes) => custom(*kind, bytes, out),
        Json::Array(_) | Json::Object(_) => unreachable!("containers are no scalars"),
    }
}

fn put(kind: u8, bytes: &[u8], out: &mut Vec<u8>) -> u8 {
    out.extend_from_slice(bytes);
    kind
}

fn literal(v: u8, out: &mut Vec<u8>) -> u8 {
    put(LITERAL, &[v], out)
}

fn custom(kind: u8, bytes: &[u8], out: &mut Vec<u8>) -> u8 {
    out.push(kind);
    put_length(bytes.len(), out);
    put(CUSTOM, bytes, out)
}

fn put_length(mut n: usize, out: &mut Vec<u8>) {
    loop {
        let group = (n & 0x7F) as u8;
        n >>= 7;
        if n == 0 {
            out.push(group);
            return;
        }
        out.push(group | 0x80);
    }
}

/// Bytes of counts, sizes and offsets.
pub(super) fn width(large: bool) -> usize {
    if large { 4 } else { 2 }
}

fn put_number(n: usize, at: usize, large: bool, out: &mut [u8]) -> Result<(), TooLong> {
    if large {
        let n = u32::try_from(n).expect("documents are below 4 GiB");
        out[at..at + 4].copy_from_slice(&n.to_le_bytes());
    } else {
        let n = u16::try_from(n).map_err(|_| TooLong)?;
        out[at..at + 2].copy_from_slice(&n.to_le_bytes());
    }
    Ok(())
}

fn container(v: &Json, large: bool, out: &mut Vec<u8>) -> Result<(), TooLong> {
    let start = out.len();
    let w = width(large);
    let count = v.length();
    let keys = matches!(v, Json::Object(_)) as usize;
    let entries = start + 2 * w + keys * count * (w + 2);
    out.resize(entries + count * (1 + w), 0);
    put_number(count, start, large, out)?;
    if let Json::Object(members) = v {
        for (i, (key, _)) in members.iter().enumerate() {
            let at = start + 2 * w + i * (w + 2);
            put_number(out.len() - start, at, large, out)?;
            let length = u16::try_from(key.len()).expect("keys were checked to be below 64 KiB");
            out[at + w..at + w + 2].copy_from_slice(&length.to_le_bytes());
            out.extend_from_slice(key.as_bytes());
        }
    }
    let mut each = |i: usize, v: &Json| -> Result<(), TooLong> {
        let at = entries + i * (1 + w);
        if let Some((kind, value)) = inlined(v, large) {
            out[at] = kind;
            out[at + 1..at + 1 + w].copy_from_slice(&value.to_le_bytes()[..w]);
            return Ok(());
        }
        put_number(out.len() - start, at + 1, large, out)?;
        if large {
            encode_at(v, at, out);
            return Ok(());
        }
        encode_small(v, at, out)
    };
    match v {
        Json::Array(list) => list.iter().enumerate().try_for_each(|(i, v)| each(i, v))?,
        Json::Object(members) => members.iter().enumerate().try_for_each(|(i, (_, v))| each(i, v))?,
        _ => unreachable!("only containers have entries"),
    }
    put_number(out.len() - start, start + w, large, out)
}

pub(super) fn is_container(kind: u8) -> bool {
    matches!(kind, SMALL_OBJECT | LARGE_OBJECT | SMALL_ARRAY | LARGE_ARRAY)
}

pub(super) fn is_object(kind: u8) -> bool {
    matches!(kind, SMALL_OBJECT | LARGE_OBJECT)
}

/// Of a container.
pub(super) fn is_large(kind: u8) -> bool {
    kind & 1 == 1
}

/// Does an entry of a container hold a value of this kind itself?
pub(super) fn is_inlined(kind: u8, large: bool) -> bool {
    matches!(kind, LITERAL | INT16 | UINT16) || large && matches!(kind, INT32 | UINT32)
}

/// Bytes that the value takes at the start of `bytes`.
pub(super) fn value_bytes(kind: u8, bytes: &[u8]) -> Option<usize> {
    Some(match kind {
        _ if is_container(kind) => number_at(bytes, width(is_large(kind)), is_large(kind))?,
        LITERAL => 1,
        INT16 | UINT16 => 2,
        INT32 | UINT32 => 4,
        INT64 | UINT64 | DOUBLE => 8,
        STRING => {
            let (at, data) = length_at(bytes)?;
            at + data.len()
        }
        CUSTOM => {
            let (at, data) = length_at(bytes.get(1..)?)?;
            1 + at + data.len()
        }
        _ => return None,
    })
}

/// A value that its entry holds itself.
fn inlined(v: &Json, large: bool) -> Option<(u8, u32)> {
    Some(match v {
        Json::Null => (LITERAL, LITERAL_NULL as u32),
        Json::Bool(v) => (LITERAL, if *v { LITERAL_TRUE } else { LITERAL_FALSE } as u32),
        Json::Int(v) => match (i16::try_from(*v), i32::try_from(*v)) {
            (Ok(v), _) => (INT16, v as u16 as u32),
            (_, Ok(v)) if large => (INT32, v as u32),
            _ => return None,
        },
        Json::UInt(v) => match (u16::try_from(*v), u32::try_from(*v)) {
            (Ok(v), _) => (UINT16, v as u32),
            (_, Ok(v)) if large => (UINT32, v),
            _ => return None,
        },
        _ => return None,
    })
}

/// Bytes of memory that [`decode`] is about to take, roughly.
pub fn tree_bytes(bytes: &[u8]) -> usize {
    let bounds = Bounds::of(bytes);
    let elements = bytes.split_first().and_then(|(kind, rest)| elements(*kind, rest, &bounds, 1)).unwrap_or(0);
    bytes.len() + elements * size_of::<Json>()
}

/// Elements in a container and in those inside of it; a member counts for two.
fn elements(kind: u8, bytes: &[u8], bounds: &Bounds, depth: usize) -> Option<usize> {
    let (object, large) = match kind {
        SMALL_OBJECT | LARGE_OBJECT | SMALL_ARRAY | LARGE_ARRAY => {
            (matches!(kind, SMALL_OBJECT | LARGE_OBJECT), kind & 1 == 1)
        }
        _ => return Some(0),
    };
    let w = width(large);
    let count = number_at(bytes, 0, large)?;
    bounds.enter(count, depth)?;
    let entries = 2 * w + if object { count * (w + 2) } else { 0 };
    let mut sum = if object { 2 * count } else { count };
    for i in 0..count {
        let at = entries + i * (1 + w);
        let kind = *bytes.get(at)?;
        if matches!(kind, SMALL_OBJECT | LARGE_OBJECT | SMALL_ARRAY | LARGE_ARRAY) {
            sum += elements(kind, bytes.get(number_at(bytes, at + 1, large)?..)?, bounds, depth + 1)?;
        }
    }
    Some(sum)
}

/// The document of a binary form. `None`: the bytes are none.
pub fn decode(bytes: &[u8]) -> Option<Json> {
    let (kind, rest) = bytes.split_first()?;
    decode_value(*kind, rest, Writer::Here, &Bounds::of(bytes), 1)
}

/// The same of a document that MySQL has written: dates and times have its own packed forms.
pub fn decode_foreign(bytes: &[u8]) -> Option<Json> {
    let (kind, rest) = bytes.split_first()?;
    decode_value(*kind, rest, Writer::MySql, &Bounds::of(bytes), 1)
}

/// What bytes that somebody else made, or damaged, may ask for. Offsets may lead back to a container around them, or several times to
/// one inside, so neither depth nor number of elements is bounded by the bytes themselves.
pub(super) struct Bounds {
    /// Elements that may still come. Each takes an entry of its own, of three bytes at least.
    elements: Cell<usize>,
}

/// Containers in each other. Who makes documents keeps to [`DEPTH_MAX`]; what wraps them may add some.
const CONTAINERS_MAX: usize = 2 * DEPTH_MAX;

impl Bounds {
    pub(super) fn of(bytes: &[u8]) -> Bounds {
        Bounds { elements: Cell::new(bytes.len()) }
    }

    /// A container of `count` elements, the `depth`th from outside. `None`: no document is like this.
    pub(super) fn enter(&self, count: usize, depth: usize) -> Option<()> {
        self.elements.set(self.elements.get().checked_sub(count)?);
        (depth <= CONTAINERS_MAX).then_some(())
    }
}

/// Whose packed forms of dates and times a document has.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Writer {
    Here,
    MySql,
}

pub(super) fn number_at(bytes: &[u8], at: usize, large: bool) -> Option<usize> {
    Some(if large {
        u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?) as usize
    } else {
        u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?) as usize
    })
}

/// What stands behind its length, and where that begins.
pub(super) fn length_at(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let mut n = 0;
    for (i, b) in bytes.iter().enumerate().take(5) {
        n |= ((b & 0x7F) as usize) << (7 * i);
        if b & 0x80 == 0 {
            return Some((i + 1, bytes.get(i + 1..i + 1 + n)?));
        }
    }
    None
}

pub(super) fn decode_value(kind: u8, bytes: &[u8], writer: Writer, bounds: &Bounds, depth: usize) -> Option<Json> {
    let fixed = |n: usize| -> Option<u64> {
        let mut word = [0; 8];
        word[..n].copy_from_slice(bytes.get(..n)?);
        Some(u64::from_le_bytes(word))
    };
    Some(match kind {
        SMALL_OBJECT | LARGE_OBJECT | SMALL_ARRAY | LARGE_ARRAY => {
            let object = matches!(kind, SMALL_OBJECT | LARGE_OBJECT);
            return decode_container((object, kind & 1 == 1), bytes, writer, bounds, depth);
        }
        LITERAL => match *bytes.first()? {
            LITERAL_NULL => Json::Null,
            LITERAL_TRUE => Json::Bool(true),
            LITERAL_FALSE => Json::Bool(false),
            _ => return None,
        },
        INT16 => Json::Int(fixed(2)? as u16 as i16 as i64),
        INT32 => Json::Int(fixed(4)? as u32 as i32 as i64),
        INT64 => Json::Int(fixed(8)? as i64),
        UINT16 => Json::UInt(fixed(2)?),
        UINT32 => Json::UInt(fixed(4)?),
        UINT64 => Json::UInt(fixed(8)?),
        DOUBLE => Json::Double(f64::from_bits(fixed(8)?)),
        STRING => Json::String(std::str::from_utf8(length_at(bytes)?.1).ok()?.to_string()),
        CUSTOM => {
            let (kind, rest) = bytes.split_first()?;
            let data = length_at(rest)?.1;
            let word = || data.try_into().ok().map(u64::from_le_bytes);
            match *kind {
                NEW_DECIMAL => {
                    let (precision, scale) = (*data.first()?, *data.get(1)?);
                    if scale > precision || u32::from(precision) > Decimal::COMPUTED_MAX || scale > Decimal::MAX_SCALE {
                        return None;
                    }
                    Json::Decimal(Decimal::read_binary(&data[2..], precision as u32, scale)?)
                }
                DATE if writer == Writer::MySql => Json::Date(DateTime(word()?).date()),
                TIME if writer == Writer::MySql => Json::Time(record::unpacked_time(word()? as i64)?),
                DATE => Json::Date(Date(word()? as u32)),
                TIME => Json::Time(Time(word()? as i64)),
                DATETIME => Json::DateTime(DateTime(word()?)),
                TIMESTAMP => Json::Timestamp(DateTime(word()?)),
                kind => Json::Opaque(kind, data.to_vec()),
            }
        }
        _ => return None,
    })
}

fn decode_container(
    (object, large): (bool, bool),
    bytes: &[u8],
    writer: Writer,
    bounds: &Bounds,
    depth: usize,
) -> Option<Json> {
    let w = width(large);
    let count = number_at(bytes, 0, large)?;
    bounds.enter(count, depth)?;
    let bytes = bytes.get(..number_at(bytes, w, large)?)?;
    let entries = 2 * w + if object { count * (w + 2) } else { 0 };
    let value = |i: usize| -> Option<Json> {
        let at = entries + i * (1 + w);
        let kind = *bytes.get(at)?;
        if is_inlined(kind, large) {
            return decode_value(kind, bytes.get(at + 1..)?, writer, bounds, depth + 1);
        }
        decode_value(kind, bytes.get(number_at(bytes, at + 1, large)?..)?, writer, bounds, depth + 1)
    };
    if !object {
        return (0..count).map(value).collect::<Option<Vec<Json>>>().map(Json::Array);
    }
    let mut members = Vec::with_capacity(count);
    for i in 0..count {
        let at = 2 * w + i * (w + 2);
        let from = number_at(bytes, at, large)?;
        let length = number_at(bytes, at + w, false)?;
        let key = std::str::from_utf8(bytes.get(from..from + length)?).ok()?;
        members.push((key.to_string(), value(i)?));
    }
    Some(Json::Object(Object::from_members(members)))
}
