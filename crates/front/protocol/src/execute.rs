//! Parameters of COM_STMT_EXECUTE and query attributes of COM_QUERY: the same block of bytes.
//!
//! ```text
//!  [lenenc count]                      with QUERY_ATTRIBUTES
//!  null bitmap, (count + 7) / 8 bytes, parameter i at bit i
//!  new types follow 1
//!  (type 1, unsigned 0x80 1, [lenenc name]) each    if so; otherwise the types of the last execution hold
//!  values that are not NULL            as in binary rows, but for long data sent before
//! ```

use crate::wire::{Malformed, Reader};
use std::borrow::Cow;
use types::{Date, DateTime, Time, Value};

/// Flag of COM_STMT_EXECUTE: the parameter count is in the packet.
pub const PARAMETER_COUNT_AVAILABLE: u8 = 8;
/// No statement has more placeholders, so no packet may claim more parameters.
pub const MAX_PARAMETERS: usize = 65_535;

/// Type of a parameter: `MYSQL_TYPE_*` and the unsigned bit. Kept by the prepared statement between executions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParameterType {
    pub code: u8,
    pub unsigned: bool,
}

impl ParameterType {
    /// VARCHAR, VAR_STRING and STRING: text in the client's character set. Those of BLOBs and the like are bytes.
    pub fn is_text(self) -> bool {
        matches!(self.code, 0x0f | 0xfd | 0xfe)
    }

    /// The BLOBs: strings of bytes.
    pub fn is_bytes(self) -> bool {
        matches!(self.code, 0xf9..=0xfc)
    }
}

/// A query attribute, or a named parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter<'a> {
    pub name: &'a [u8],
    pub value: Value<'a>,
}

/// The parameter block of COM_STMT_EXECUTE before it is known how many parameters the statement has.
#[derive(Clone, Copy, Debug)]
pub struct ExecuteBody<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) has_count: bool,
    pub(crate) has_names: bool,
}

impl<'a> ExecuteBody<'a> {
    /// Decodes the values of `count` placeholders and hands them to `each` in order, borrowed from the packet.
    ///
    /// `types` holds the types of the last execution and takes the new ones. `long_data(i)` says that parameter `i` was
    /// sent by COM_STMT_SEND_LONG_DATA: the packet has no value for it, and `each` is not called for it. Values behind
    /// the placeholders' are query attributes, returned. An error is error 1210 (or 1835 for a broken block).
    pub fn decode(
        &self,
        count: usize,
        types: &mut Vec<ParameterType>,
        long_data: impl Fn(usize) -> bool,
        mut each: impl FnMut(usize, Value<'a>),
    ) -> Result<Vec<Parameter<'a>>, Malformed> {
        let mut attributes = Vec::new();
        if count == 0 && !self.has_count {
            return Ok(attributes);
        }
        let mut reader = Reader::new(self.bytes);
        let total = if self.has_names { parameter_count(&mut reader)? } else { count };
        if total < count {
            return Err(Malformed);
        }
        if total == 0 {
            return Ok(attributes);
        }
        let nulls = reader.bytes(total.div_ceil(8))?;
        let mut names = Vec::new();
        match reader.u8()? {
            0 if types.len() == total => {}
            0 => return Err(Malformed),
            _ => {
                types.clear();
                read_types(&mut reader, total, types, self.has_names.then_some(&mut names))?;
            }
        }
        for (i, parameter_type) in types.iter().enumerate() {
            let value = if i < count && long_data(i) {
                continue;
            } else if is_null(nulls, i) {
                Value::Null
            } else {
                read_value(&mut reader, *parameter_type)?
            };
            if i < count {
                each(i, value);
            } else {
                attributes.push(Parameter { name: names.get(i).copied().unwrap_or_default(), value });
            }
        }
        // Attributes are sent with each execution, placeholders' types only with the first.
        types.truncate(count);
        Ok(attributes)
    }
}

/// Takes the query attributes off the front of COM_QUERY's body.
pub(crate) fn read_attributes<'a>(reader: &mut Reader<'a>) -> Result<Vec<Parameter<'a>>, Malformed> {
    let count = parameter_count(reader)?;
    let sets = reader.lenenc()?;
    if count == 0 {
        return Ok(Vec::new());
    }
    let nulls = reader.bytes(count.div_ceil(8))?;
    if sets != 1 || reader.u8()? != 1 {
        return Err(Malformed);
    }
    let (mut types, mut names) = (Vec::new(), Vec::new());
    read_types(reader, count, &mut types, Some(&mut names))?;
    let mut attributes = Vec::with_capacity(count);
    for (i, (parameter_type, name)) in types.iter().zip(names).enumerate() {
        let value = if is_null(nulls, i) { Value::Null } else { read_value(reader, *parameter_type)? };
        attributes.push(Parameter { name, value });
    }
    Ok(attributes)
}

fn parameter_count(reader: &mut Reader<'_>) -> Result<usize, Malformed> {
    match reader.lenenc()? {
        n if n <= MAX_PARAMETERS as u64 => Ok(n as usize),
        _ => Err(Malformed),
    }
}

fn is_null(bitmap: &[u8], i: usize) -> bool {
    bitmap[i / 8] >> (i % 8) & 1 == 1
}

fn read_types<'a>(
    reader: &mut Reader<'a>,
    count: usize,
    types: &mut Vec<ParameterType>,
    mut names: Option<&mut Vec<&'a [u8]>>,
) -> Result<(), Malformed> {
    // Two bytes each at least: a count that the packet cannot hold allocates nothing.
    if reader.len() < count * 2 {
        return Err(Malformed);
    }
    types.reserve(count);
    for _ in 0..count {
        let code = reader.u8()?;
        let unsigned = reader.u8()? & 0x80 != 0;
        types.push(ParameterType { code, unsigned });
        if let Some(names) = &mut names {
            names.push(reader.lenenc_bytes()?);
        }
    }
    Ok(())
}

/// Reads one value that is not NULL.
fn read_value<'a>(reader: &mut Reader<'a>, parameter_type: ParameterType) -> Result<Value<'a>, Malformed> {
    let unsigned = parameter_type.unsigned;
    Ok(match parameter_type.code {
        0x01 => {
            let n = reader.u8()?;
            if unsigned { Value::UInt(n.into()) } else { Value::Int((n as i8).into()) }
        }
        0x02 | 0x0d => {
            let n = reader.u16()?;
            if unsigned { Value::UInt(n.into()) } else { Value::Int((n as i16).into()) }
        }
        0x03 | 0x09 => {
            let n = reader.u32()?;
            if unsigned { Value::UInt(n.into()) } else { Value::Int((n as i32).into()) }
        }
        0x08 => {
            let n = reader.u64()?;
            if unsigned { Value::UInt(n) } else { Value::Int(n as i64) }
        }
        0x04 => Value::Double(f32::from_bits(reader.u32()?).into()),
        0x05 => Value::Double(f64::from_bits(reader.u64()?)),
        0x06 => Value::Null,
        0x07 | 0x0c => Value::DateTime(read_datetime(reader)?),
        0x0a => Value::Date(Date((read_datetime(reader)?.0 >> 41) as u32)),
        0x0b => Value::Time(read_time(reader)?),
        0x00 | 0xf6 => Value::Decimal(Value::Bytes(Cow::Borrowed(reader.lenenc_bytes()?)).to_decimal()),
        // VARCHAR, BIT, JSON, ENUM, SET, the BLOBs, VAR_STRING, STRING, GEOMETRY
        0x0f | 0x10 | 0xf5 | 0xf7..=0xff => Value::Bytes(Cow::Borrowed(reader.lenenc_bytes()?)),
        _ => return Err(Malformed),
    })
}

fn read_datetime(reader: &mut Reader<'_>) -> Result<DateTime, Malformed> {
    let len = reader.u8()?;
    if len == 0 {
        return Ok(DateTime(0));
    }
    let (year, month, day) = (u64::from(reader.u16()?), u64::from(reader.u8()?), u64::from(reader.u8()?));
    let (hour, minute, second) = match len {
        4 => (0, 0, 0),
        7 | 11 => (u64::from(reader.u8()?), u64::from(reader.u8()?), u64::from(reader.u8()?)),
        _ => return Err(Malformed),
    };
    let micros = if len == 11 { u64::from(reader.u32()?) } else { 0 };
    let in_range = year <= 9999 && month <= 12 && day <= 31 && hour <= 23 && minute <= 59 && second <= 59;
    if !in_range || micros > 999_999 {
        return Err(Malformed);
    }
    let date = (year * 13 + month) << 5 | day;
    Ok(DateTime((date << 17 | hour << 12 | minute << 6 | second) << 24 | micros))
}

fn read_time(reader: &mut Reader<'_>) -> Result<Time, Malformed> {
    const MAX_MICROS: i64 = (838 * 3600 + 59 * 60 + 59) * 1_000_000;
    let len = reader.u8()?;
    if len == 0 {
        return Ok(Time(0));
    }
    if len != 8 && len != 12 {
        return Err(Malformed);
    }
    let negative = reader.u8()? != 0;
    // 34 days and 22:59:59 is the most; more would only overflow below.
    let days = i64::from(reader.u32()?.min(1000));
    let (hours, minutes, seconds) = (i64::from(reader.u8()?), i64::from(reader.u8()?), i64::from(reader.u8()?));
    let micros = if len == 12 { i64::from(reader.u32()?) } else { 0 };
    if minutes > 59 || seconds > 59 || micros > 999_999 {
        return Err(Malformed);
    }
    let total = ((days * 24 + hours) * 3600 + minutes * 60 + seconds) * 1_000_000 + micros;
    let total = total.min(MAX_MICROS);
    Ok(Time(if negative { -total } else { total }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(bytes: &[u8], count: usize, types: &mut Vec<ParameterType>) -> Result<Vec<Value<'static>>, Malformed> {
        let mut values = Vec::new();
        let body = ExecuteBody { bytes, has_count: false, has_names: false };
        body.decode(count, types, |_| false, |_, v| values.push(v.into_owned()))?;
        Ok(values)
    }

    #[test]
    fn types_are_remembered_between_executions() {
        let mut types = Vec::new();
        // "foo" as VARCHAR (documentation's example), -2 as TINY, 3 as unsigned SHORT, NULL.
        let first = b"\x08\x01\x0f\x00\x01\x00\x02\x80\x06\x00\x03foo\xfe\x03\x00";
        let expected = vec![Value::Bytes(b"foo"[..].into()), Value::Int(-2), Value::UInt(3), Value::Null];
        assert_eq!(decode(first, 4, &mut types), Ok(expected));
        let again = b"\x0e\x00\x01x";
        let expected = vec![Value::Bytes(b"x"[..].into()), Value::Null, Value::Null, Value::Null];
        assert_eq!(decode(again, 4, &mut types), Ok(expected));
        assert_eq!(decode(again, 3, &mut Vec::new()), Err(Malformed), "no types were ever sent");
        assert_eq!(decode(&first[..first.len() - 1], 4, &mut types), Err(Malformed));
    }

    #[test]
    fn attributes_follow_the_placeholders() {
        let bytes = b"\x02\x00\x01\x01\x00\x00\xfe\x00\x01k\x05\x01v";
        let body = ExecuteBody { bytes, has_count: true, has_names: true };
        let (mut types, mut values) = (Vec::new(), Vec::new());
        let attributes = body.decode(1, &mut types, |_| false, |i, v| values.push((i, v))).unwrap();
        assert_eq!(values, [(0, Value::Int(5))]);
        assert_eq!(attributes, [Parameter { name: b"k", value: Value::Bytes(b"v"[..].into()) }]);
        assert_eq!(types.len(), 1);
    }

    #[test]
    fn temporals_decode_and_nonsense_is_refused() {
        let mut types = Vec::new();
        let bytes = b"\x00\x01\x0c\x00\x0b\x00\x0a\x00\
            \x0b\xda\x07\x0a\x11\x13\x1b\x1e\x01\x00\x00\x00\
            \x0c\x01\x01\x00\x00\x00\x13\x1b\x1e\x01\x00\x00\x00\
            \x04\xda\x07\x0a\x11";
        let date = (2010 * 13 + 10) << 5 | 17;
        let expected = vec![
            Value::DateTime(DateTime((date << 17 | 19 << 12 | 27 << 6 | 30) << 24 | 1)),
            Value::Time(Time(-((86_400 + 19 * 3600 + 27 * 60 + 30) * 1_000_000 + 1))),
            Value::Date(Date(date as u32)),
        ];
        assert_eq!(decode(bytes, 3, &mut types), Ok(expected));
        assert_eq!(decode(b"\x00\x01\x0a\x00\x04\xda\x07\x0d\x11", 1, &mut types), Err(Malformed), "month 13");
    }
}
