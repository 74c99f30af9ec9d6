//! Rows in row events: how a column is described by a table map, and what bytes its values have.
//!
//! ```text
//!   table map   id 6 bytes | flags u16 | schema | name | columns | types | lengths of types | may be NULL, a bit each | optional
//!   row         bits of NULLs, of the columns that are there | values one behind the other
//! ```
//! Values are MySQL's bytes (`Field::pack`): numbers at their widths, low byte first; DECIMAL and times in their binary forms, high
//! byte first; texts behind their length, CHAR and BINARY without the padding at their end.

use crate::event::put_lenenc;
use std::borrow::Cow;
use types::json::{Json, Object, binary};
use types::temporal::record;
use types::{DataType, Date, DateTime, Decimal, Time, TypeKind, Value};

/// A column as a table map tells of it.
#[derive(Clone, Debug)]
pub struct ColumnDef<'t> {
    pub name: &'t str,
    pub data_type: DataType,
    /// Of ENUM and SET.
    pub members: &'t [String],
    pub visible: bool,
}

/// A table as a table map tells of it.
#[derive(Clone, Debug)]
pub struct TableDef<'t> {
    /// Another one for each version of the definition; 48 bits.
    pub id: u64,
    pub schema: &'t str,
    pub name: &'t str,
    pub columns: Vec<ColumnDef<'t>>,
    /// Places in `columns`, each with the characters of its prefix, 0: the whole column. Empty: none.
    pub primary_key: Vec<(usize, u32)>,
    /// It is not transactional: rows that a statement changes in it are a transaction by themselves.
    pub is_beside: bool,
}

/// How a column's values lie in a row event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Integer {
        bytes: u8,
        code: u8,
    },
    Enum {
        bytes: u8,
    },
    Set {
        bytes: u8,
    },
    Bit {
        bits: u16,
    },
    Year,
    Float,
    Double,
    Decimal {
        precision: u8,
        scale: u8,
    },
    Date,
    Time {
        digits: u8,
    },
    DateTime {
        digits: u8,
    },
    Timestamp {
        digits: u8,
    },
    /// CHAR and BINARY: the most bytes, and what fills up a value.
    Fixed {
        max: u16,
        blank: &'static [u8],
    },
    Variable {
        max: u16,
    },
    Blob {
        length_bytes: u8,
    },
    Json,
    Geometry,
}

impl Form {
    pub fn of(t: &DataType, members: usize) -> Form {
        use TypeKind as K;
        let integer = |bytes, code| Form::Integer { bytes, code };
        let max = t.max_bytes().min(u64::from(u16::MAX)) as u16;
        match t.kind {
            K::TinyInt => integer(1, 1),
            K::SmallInt => integer(2, 2),
            K::MediumInt => integer(3, 9),
            K::Int => integer(4, 3),
            K::BigInt | K::Null => integer(8, 8),
            K::Enum => Form::Enum { bytes: if members < 256 { 1 } else { 2 } },
            K::Set if members > 32 => Form::Set { bytes: 8 },
            K::Set => Form::Set { bytes: members.div_ceil(8).max(1) as u8 },
            K::Bit => Form::Bit { bits: t.length.clamp(1, 64) as u16 },
            K::Year => Form::Year,
            K::Float => Form::Float,
            K::Double => Form::Double,
            K::Decimal => Form::Decimal { precision: t.length as u8, scale: t.decimals },
            K::Date => Form::Date,
            K::Time => Form::Time { digits: t.decimals },
            K::DateTime => Form::DateTime { digits: t.decimals },
            K::Timestamp => Form::Timestamp { digits: t.decimals },
            K::Binary => Form::Fixed { max, blank: &[0] },
            K::Char => Form::Fixed { max, blank: blank(t) },
            K::VarChar | K::VarBinary => Form::Variable { max },
            K::TinyText | K::TinyBlob => Form::Blob { length_bytes: 1 },
            K::Text | K::Blob => Form::Blob { length_bytes: 2 },
            K::MediumText | K::MediumBlob => Form::Blob { length_bytes: 3 },
            K::LongText | K::LongBlob => Form::Blob { length_bytes: 4 },
            K::Json => Form::Json,
            K::Geometry => Form::Geometry,
        }
    }

    /// MySQL's number of the type.
    fn code(self) -> u8 {
        match self {
            Form::Integer { code, .. } => code,
            Form::Float => 4,
            Form::Double => 5,
            Form::Date => 10,
            Form::Year => 13,
            Form::Variable { .. } => 15,
            Form::Bit { .. } => 16,
            Form::Timestamp { .. } => 17,
            Form::DateTime { .. } => 18,
            Form::Time { .. } => 19,
            Form::Json => 245,
            Form::Decimal { .. } => 246,
            Form::Blob { .. } => 252,
            Form::Enum { .. } | Form::Set { .. } | Form::Fixed { .. } => 254,
            Form::Geometry => 255,
        }
    }

    /// What a table map says about the type beside its number.
    fn put_metadata(self, out: &mut Vec<u8>) {
        match self {
            Form::Integer { .. } | Form::Date | Form::Year => {}
            Form::Float | Form::Json | Form::Geometry => out.push(4),
            Form::Double => out.push(8),
            Form::Variable { max } => out.extend_from_slice(&max.to_le_bytes()),
            Form::Bit { bits } => out.extend_from_slice(&[(bits % 8) as u8, (bits / 8) as u8]),
            Form::Timestamp { digits } | Form::DateTime { digits } | Form::Time { digits } => out.push(digits),
            Form::Decimal { precision, scale } => out.extend_from_slice(&[precision, scale]),
            Form::Blob { length_bytes } => out.push(length_bytes),
            Form::Enum { bytes } => out.extend_from_slice(&[247, bytes]),
            Form::Set { bytes } => out.extend_from_slice(&[248, bytes]),
            // The two high bits of the length are put, inverted, into two bits that are always set in a type.
            Form::Fixed { max, .. } => out.extend_from_slice(&[254 ^ ((max & 0x300) >> 4) as u8, max as u8]),
        }
    }

    /// Appends a value that is not NULL.
    #[inline]
    pub fn put(self, out: &mut Vec<u8>, value: &Value<'_>) {
        match (self, value) {
            (Form::Integer { bytes, .. } | Form::Enum { bytes } | Form::Set { bytes }, v) => {
                // Eight bytes and some of them back: a length that is known is no call.
                let end = out.len() + usize::from(bytes);
                out.extend_from_slice(&(v.to_integer() as u64).to_le_bytes());
                out.truncate(end);
            }
            (Form::Bit { bits }, v) => {
                let bytes = bits.div_ceil(8) as usize;
                out.extend_from_slice(&v.to_u64().to_be_bytes()[8 - bytes..]);
            }
            (Form::Year, v) => record::put_year(out, v.to_u64()),
            (Form::Float, v) => out.extend_from_slice(&(v.to_f64() as f32).to_le_bytes()),
            (Form::Double, v) => out.extend_from_slice(&v.to_f64().to_le_bytes()),
            (Form::Decimal { precision, scale }, Value::Decimal(v)) => v.write_binary(precision.into(), scale, out),
            (Form::Date, Value::Date(d)) => record::put_date(out, *d),
            (Form::Time { digits }, Value::Time(t)) => record::put_time(out, *t, digits),
            (Form::DateTime { digits }, Value::DateTime(t)) => record::put_datetime(out, *t, digits),
            (Form::Timestamp { digits }, Value::DateTime(t)) => record::put_timestamp(out, *t, digits),
            (Form::Fixed { max, blank }, Value::Bytes(b)) => {
                let mut text = &b[..];
                // Mostly one byte, and a value that has none at its end.
                while text.last() == blank.last() && !text.is_empty() && text.ends_with(blank) {
                    text = &text[..text.len() - blank.len()];
                }
                put_text(out, if max > 255 { 2 } else { 1 }, text);
            }
            (Form::Variable { max }, Value::Bytes(b)) => put_text(out, if max > 255 { 2 } else { 1 }, b),
            (Form::Blob { length_bytes }, Value::Bytes(b)) => put_text(out, length_bytes, b),
            (Form::Geometry, Value::Bytes(b)) => put_text(out, 4, b),
            (Form::Json, Value::Json(b)) => put_text(out, 4, &json_bytes(b)),
            (_, other) => unreachable!("a column cannot hold {other:?}"),
        }
    }

    /// Reads a value that is not NULL off the front: the value, and what follows. `unsigned`: of a number. `None`: it is cut short.
    pub fn take(self, bytes: &[u8], unsigned: bool) -> Option<(Value<'_>, &[u8])> {
        let split = |n: usize| bytes.split_at_checked(n);
        let low_first = |b: &[u8]| b.iter().rev().fold(0u64, |n, b| n << 8 | u64::from(*b));
        let high_first = |b: &[u8]| b.iter().fold(0u64, |n, b| n << 8 | u64::from(*b));
        let behind_length = |length_bytes: usize| -> Option<(&[u8], &[u8])> {
            let (len, rest) = split(length_bytes)?;
            rest.split_at_checked(low_first(len) as usize)
        };
        Some(match self {
            Form::Integer { bytes: n, .. } => {
                let (b, rest) = split(n.into())?;
                let (raw, spare) = (low_first(b), 64 - 8 * u32::from(n));
                let signed = (raw << spare) as i64 >> spare;
                (if unsigned { Value::UInt(raw) } else { Value::Int(signed) }, rest)
            }
            Form::Enum { bytes: n } | Form::Set { bytes: n } => {
                let (b, rest) = split(n.into())?;
                (Value::UInt(low_first(b)), rest)
            }
            Form::Bit { bits } => {
                let (b, rest) = split(bits.div_ceil(8).into())?;
                (Value::UInt(high_first(b)), rest)
            }
            Form::Year => {
                let (b, rest) = split(1)?;
                (Value::UInt(record::year(b[0])), rest)
            }
            Form::Float => {
                let (b, rest) = split(4)?;
                (Value::Double(f32::from_le_bytes(b.try_into().expect("four bytes")).into()), rest)
            }
            Form::Double => {
                let (b, rest) = split(8)?;
                (Value::Double(f64::from_le_bytes(b.try_into().expect("eight bytes"))), rest)
            }
            Form::Decimal { precision, scale } => {
                let (b, rest) = split(Decimal::binary_bytes(precision.into(), scale))?;
                (Value::Decimal(Decimal::read_binary(b, precision.into(), scale)?), rest)
            }
            Form::Date => {
                let (b, rest) = split(3)?;
                (Value::Date(record::date(b)?), rest)
            }
            Form::Time { digits } => {
                let (b, rest) = split(3 + record::fraction_bytes(digits))?;
                (Value::Time(record::time(b, digits)?), rest)
            }
            Form::DateTime { digits } => {
                let (b, rest) = split(5 + record::fraction_bytes(digits))?;
                (Value::DateTime(record::datetime(b, digits)?), rest)
            }
            Form::Timestamp { digits } => {
                let (b, rest) = split(4 + record::fraction_bytes(digits))?;
                (Value::DateTime(record::timestamp(b, digits)?), rest)
            }
            Form::Fixed { max, .. } | Form::Variable { max } => {
                let (b, rest) = behind_length(if max > 255 { 2 } else { 1 })?;
                (Value::Bytes(b.into()), rest)
            }
            Form::Blob { length_bytes } => {
                let (b, rest) = behind_length(length_bytes.into())?;
                (Value::Bytes(b.into()), rest)
            }
            Form::Geometry => {
                let (b, rest) = behind_length(4)?;
                (Value::Bytes(b.into()), rest)
            }
            Form::Json => {
                let (b, rest) = behind_length(4)?;
                (Value::Json(own_document(b)?), rest)
            }
        })
    }
}

/// What a CHAR is filled up with.
fn blank(t: &DataType) -> &'static [u8] {
    let set = t.collation.charset();
    match (set.mbminlen(), set.name()) {
        _ if t.collation.is_binary() => &[0],
        (2, "utf16le") => &[b' ', 0],
        (2, _) => &[0, b' '],
        (4, _) => &[0, 0, 0, b' '],
        _ => b" ",
    }
}

fn put_text(out: &mut Vec<u8>, length_bytes: u8, text: &[u8]) {
    let end = out.len() + usize::from(length_bytes);
    out.extend_from_slice(&(text.len() as u64).to_le_bytes());
    out.truncate(end);
    out.extend_from_slice(text);
}

/// Numbers of MySQL's types for dates and times in documents.
const DATE: u8 = 10;
const TIME: u8 = 11;

/// A document as MySQL has it: only dates and times have other bytes here.
fn json_bytes(bytes: &[u8]) -> Cow<'_, [u8]> {
    let may_have = bytes.windows(2).any(|pair| pair == [DATE, 8] || pair == [TIME, 8]);
    if !may_have {
        return Cow::Borrowed(bytes);
    }
    match binary::decode(bytes) {
        Some(doc) => Cow::Owned(binary::encode(&mysql_document(doc))),
        None => Cow::Borrowed(bytes),
    }
}

pub(crate) fn mysql_document(doc: Json) -> Json {
    match doc {
        Json::Date(d) => Json::Opaque(DATE, ((u64::from(d.0)) << 17 << record::FRACTION_BITS).to_le_bytes().to_vec()),
        Json::Time(t) => Json::Opaque(TIME, record::packed_time(t).to_le_bytes().to_vec()),
        Json::Array(values) => Json::Array(values.into_iter().map(mysql_document).collect()),
        Json::Object(members) => {
            let mut object = Object::default();
            for (key, value) in members.iter() {
                object.insert(key.to_string(), mysql_document(value.clone()));
            }
            Json::Object(object)
        }
        other => other,
    }
}

/// The other way round, of a document that MySQL has written, without the gaps that updates in place leave. An empty one is what MySQL
/// stores for NULL in a column that has none.
fn own_document(bytes: &[u8]) -> Option<Cow<'_, [u8]>> {
    let doc = if bytes.is_empty() { Json::Null } else { binary::decode_foreign(bytes)? };
    Some(Cow::Owned(binary::encode(&doc)))
}

/// The body of a table map. `full`: with names and members, `binlog_row_metadata=FULL`.
pub fn table_map(table: &TableDef<'_>, full: bool) -> Vec<u8> {
    let forms: Vec<Form> = table.columns.iter().map(|c| Form::of(&c.data_type, c.members.len())).collect();
    let mut body = table.id.to_le_bytes()[..6].to_vec();
    body.extend_from_slice(&1u16.to_le_bytes());
    for name in [table.schema, table.name] {
        body.push(name.len() as u8);
        body.extend_from_slice(name.as_bytes());
        body.push(0);
    }
    put_lenenc(&mut body, forms.len() as u64);
    body.extend(forms.iter().map(|f| f.code()));
    let mut metadata = Vec::new();
    forms.iter().for_each(|f| f.put_metadata(&mut metadata));
    put_lenenc(&mut body, metadata.len() as u64);
    body.extend_from_slice(&metadata);
    body.extend(bits_up(table.columns.iter().map(|c| c.data_type.nullable)));
    put_optional(&mut body, table, &forms, full);
    body
}

/// TIMESTAMP, DATETIME and TIME as they were before MySQL 5.6.4: seconds since 1970, and decimal digits of their parts.
pub(crate) fn old_timestamp(seconds: u64) -> Option<Value<'static>> {
    let t = if seconds == 0 { DateTime::ZERO } else { DateTime::from_unix(seconds as i64, 0)? };
    Some(Value::DateTime(t))
}

pub(crate) fn old_datetime(digits: u64) -> Option<Value<'static>> {
    let (date, time) = ((digits / 1_000_000) as u32, (digits % 1_000_000) as u32);
    let (year, month, day) = (date / 10_000, date / 100 % 100, date % 100);
    let (hour, minute, second) = (time / 10_000, time / 100 % 100, time % 100);
    let fits = year <= 9999 && month <= 12 && day <= 31 && hour < 24 && minute < 60 && second < 60;
    fits.then(|| Value::DateTime(DateTime::new(Date::new(year, month, day), hour, minute, second, 0)))
}

pub(crate) fn old_time(digits: u64) -> Option<Value<'static>> {
    let signed = (digits << 40) as i64 >> 40;
    let parts = signed.unsigned_abs() as u32;
    let (minute, second) = (parts / 100 % 100, parts % 100);
    (minute < 60 && second < 60).then(|| Value::Time(Time::new(signed < 0, parts / 10_000, minute, second, 0)))
}

/// Bits, the first one lowest.
pub(crate) fn bits_up(bits: impl Iterator<Item = bool>) -> Vec<u8> {
    let mut out = Vec::new();
    for (i, bit) in bits.enumerate() {
        if i % 8 == 0 {
            out.push(0);
        }
        *out.last_mut().expect("pushed") |= u8::from(bit) << (i % 8);
    }
    out
}

/// Bits, the first one highest.
fn bits_down(bits: impl Iterator<Item = bool>) -> Vec<u8> {
    bits_up(bits).into_iter().map(u8::reverse_bits).collect()
}

/// Kinds of optional metadata.
const SIGNEDNESS: u8 = 1;
const DEFAULT_CHARSET: u8 = 2;
const COLUMN_CHARSET: u8 = 3;
const COLUMN_NAME: u8 = 4;
const SET_STR_VALUE: u8 = 5;
const ENUM_STR_VALUE: u8 = 6;
const GEOMETRY_TYPE: u8 = 7;
const SIMPLE_PRIMARY_KEY: u8 = 8;
const PRIMARY_KEY_WITH_PREFIX: u8 = 9;
const ENUM_AND_SET_DEFAULT_CHARSET: u8 = 10;
const ENUM_AND_SET_COLUMN_CHARSET: u8 = 11;
const COLUMN_VISIBILITY: u8 = 12;

fn put_optional(body: &mut Vec<u8>, table: &TableDef<'_>, forms: &[Form], full: bool) {
    let columns = || table.columns.iter().zip(forms);
    let mut put = |kind: u8, value: Vec<u8>| {
        if !value.is_empty() {
            body.push(kind);
            put_lenenc(body, value.len() as u64);
            body.extend_from_slice(&value);
        }
    };
    let is_number = |f: &Form| {
        use Form::*;
        matches!(f, Integer { .. } | Year | Float | Double | Decimal { .. })
    };
    let numbers = columns().filter(|(_, f)| is_number(f));
    put(SIGNEDNESS, bits_down(numbers.map(|(c, f)| c.data_type.unsigned || *f == Form::Year)));
    let charsets = |wanted: fn(&Form) -> bool, default: u8, each: u8| {
        let ids: Vec<u16> = columns().filter(|(_, f)| wanted(f)).map(|(c, _)| c.data_type.collation.0).collect();
        let same = ids.windows(2).all(|pair| pair[0] == pair[1]);
        let mut value = Vec::new();
        ids.iter().take(if same { 1 } else { ids.len() }).for_each(|id| put_lenenc(&mut value, (*id).into()));
        (if same { default } else { each }, value)
    };
    let is_text = |f: &Form| matches!(f, Form::Fixed { .. } | Form::Variable { .. } | Form::Blob { .. });
    let (kind, value) = charsets(is_text, DEFAULT_CHARSET, COLUMN_CHARSET);
    put(kind, value);
    put(GEOMETRY_TYPE, columns().filter(|(_, f)| **f == Form::Geometry).map(|_| 0).collect());
    if !full {
        return;
    }
    let mut names = Vec::new();
    for column in &table.columns {
        put_lenenc(&mut names, column.name.len() as u64);
        names.extend_from_slice(column.name.as_bytes());
    }
    put(COLUMN_NAME, names);
    let is_listed = |f: &Form| matches!(f, Form::Enum { .. } | Form::Set { .. });
    let (kind, value) = charsets(is_listed, ENUM_AND_SET_DEFAULT_CHARSET, ENUM_AND_SET_COLUMN_CHARSET);
    put(kind, value);
    let members = |wanted: fn(&Form) -> bool| {
        let mut value = Vec::new();
        for (column, _) in columns().filter(|(_, f)| wanted(f)) {
            put_lenenc(&mut value, column.members.len() as u64);
            for member in column.members {
                put_lenenc(&mut value, member.len() as u64);
                value.extend_from_slice(member.as_bytes());
            }
        }
        value
    };
    put(SET_STR_VALUE, members(|f| matches!(f, Form::Set { .. })));
    put(ENUM_STR_VALUE, members(|f| matches!(f, Form::Enum { .. })));
    let prefixed = table.primary_key.iter().any(|(_, prefix)| *prefix != 0);
    let mut key = Vec::new();
    for (column, prefix) in &table.primary_key {
        put_lenenc(&mut key, *column as u64);
        if prefixed {
            put_lenenc(&mut key, u64::from(*prefix));
        }
    }
    put(if prefixed { PRIMARY_KEY_WITH_PREFIX } else { SIMPLE_PRIMARY_KEY }, key);
    put(COLUMN_VISIBILITY, bits_down(table.columns.iter().map(|c| c.visible)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use types::{CollationId, Date, DateTime, Decimal, Time};

    fn hex(text: &str) -> Vec<u8> {
        (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
    }

    /// A table of all types, and a row of it, with the bytes that MySQL 9.7 writes for them.
    #[test]
    fn tables_and_rows_have_mysqls_bytes() {
        use TypeKind as K;
        let members = |words: &[&str]| words.iter().map(|w| w.to_string()).collect::<Vec<_>>();
        let (enumeration, set) = (members(&["x", "y"]), members(&["p", "q", "r"]));
        let text = CollationId::UTF8MB4_0900_AI_CI;
        let plain = DataType::new;
        let string = |kind, length, collation| DataType::string(kind, length, collation);
        let digits = |kind, decimals| DataType { decimals, ..DataType::new(kind) };
        let point = DateTime::new(Date::new(2024, 1, 2), 3, 4, 5, 678_000);
        let stamp = DateTime::new(Date::new(2024, 1, 2), 3, 4, 5, 670_000);
        let time = -(((10 * 60 + 11) * 60 + 12) * 1_000_000 + 300_000);
        let bytes = |b: &'static [u8]| Value::Bytes(b.into());
        let json =
            Value::from_json(&types::json::parse::parse(br#"{"a":[1,2,"x"],"d":1.5}"#).unwrap_or_else(|_| panic!()));
        let columns: Vec<(&str, DataType, &[String], Value<'_>)> = vec![
            ("id", plain(K::Int).not_null(), &[], Value::Int(1)),
            ("c", string(K::Char, 10, text), &[], bytes(b"abc")),
            ("vc", string(K::VarChar, 300, text), &[], bytes(b"hello")),
            ("b", string(K::Binary, 4, CollationId::BINARY), &[], bytes(b"ab\0\0")),
            ("t", plain(K::TinyInt).unsigned(), &[], Value::UInt(200)),
            ("d", DataType::decimal(10, 3), &[], Value::Decimal(Decimal::parse(b"-123.456").0)),
            ("f", plain(K::Float), &[], Value::Double(1.5)),
            ("g", plain(K::Double), &[], Value::Double(2.5)),
            ("dt", digits(K::DateTime, 3), &[], Value::DateTime(point)),
            ("ts", digits(K::Timestamp, 2), &[], Value::DateTime(stamp)),
            ("ti", digits(K::Time, 1), &[], Value::Time(Time::from_micros(time).unwrap())),
            ("da", plain(K::Date), &[], Value::Date(Date::new(2024, 2, 29))),
            ("y", plain(K::Year), &[], Value::UInt(2024)),
            ("bi", DataType { length: 11, ..plain(K::Bit) }, &[], Value::UInt(0b101_1001_1001)),
            ("e", string(K::Enum, 1, text), &enumeration, Value::UInt(2)),
            ("s", string(K::Set, 5, text), &set, Value::UInt(0b101)),
            ("bl", string(K::Blob, 0, CollationId::BINARY), &[], bytes(b"blob")),
            ("j", plain(K::Json), &[], json),
            ("m", plain(K::MediumInt), &[], Value::Int(-5)),
        ];
        let defs = columns.iter().map(|(name, data_type, members, _)| ColumnDef {
            name,
            data_type: *data_type,
            members,
            visible: true,
        });
        let table = TableDef {
            id: 0x8a,
            schema: "t",
            name: "a",
            columns: defs.collect(),
            primary_key: vec![(0, 0)],
            is_beside: false,
        };
        let short = "8a000000000001000174000161001303fe0ffe01f604051211130a0d10fefefcf50915fe28b004fe040a030408030201\
                     0301f701f8010204feff070101440308fcff00fcff003f3f";
        let rest = "042e02696401630276630162017401640166016702647402747302746902646101790262690165017302626c016a016d\
                    0a03fcff00050703017001710172060502017801790801000c03ffffe0";
        assert_eq!(table_map(&table, false), hex(short));
        assert_eq!(table_map(&table, true), hex(&format!("{short}{rest}")));
        let mut row = Vec::new();
        for (_, data_type, members, value) in &columns {
            Form::of(data_type, members.len()).put(&mut row, value);
        }
        let expected = "0100000003616263050068656c6c6f026162c87fffff84fe370000c03f000000000000044099b24431051a7c65937d\
                        25437f5d33e25dd00f7c059902050400626c6f622c0000000002002b0012000100130001000214000b2300616403\
                        000f000501000502000c0d000178000000000000f83ffbffff";
        assert_eq!(row, hex(expected));
        let mut rest = &row[..];
        for (name, data_type, members, value) in &columns {
            let form = Form::of(data_type, members.len());
            let (read, behind) = form.take(rest, data_type.unsigned).unwrap();
            let wanted = if *name == "b" { &bytes(b"ab") } else { value };
            assert_eq!((*name, &read), (*name, wanted));
            rest = behind;
        }
        assert_eq!(rest, b"");
        let read = crate::decode::SourceTable::decode(&table_map(&table, true)).unwrap();
        assert_eq!((read.id, &*read.schema, &*read.name), (0x8a, "t", "a"));
        for ((name, data_type, members, _), column) in columns.iter().zip(&read.columns) {
            let (mut wanted, mut found) = (Form::of(data_type, members.len()), column.form);
            for form in [&mut wanted, &mut found] {
                if let Form::Fixed { blank, .. } = form {
                    *blank = b"";
                }
            }
            assert_eq!(found, wanted, "{name}");
        }
        assert_eq!(read.columns[4].unsigned, Some(true));
    }

    #[test]
    fn dates_and_times_in_documents_are_mysqls() {
        let mut object = Object::default();
        object.insert("d".into(), Json::Date(Date::new(2020, 1, 2)));
        object.insert("t".into(), Json::Time(Time::from_micros(-36_672_500_000).unwrap()));
        let mut out = Vec::new();
        let document = Value::from_json(&Json::Object(object));
        Form::Json.put(&mut out, &document);
        // MySQL's packed forms, as in a document that MySQL 9.7 has made.
        let found = |wanted: &str| out.windows(10).any(|w| w == hex(wanted));
        assert!(found("0a08000000000044a519") && found("0b08e05ef8335dffffff"), "{out:x?}");
        assert_eq!(Form::Json.take(&out, false), Some((document, &b""[..])));
    }
}
