//! Conversions of values in expressions: to integers, doubles, DECIMAL, temporals and text, as MySQL's expressions do it
//! implicitly. None of them fails: what does not convert becomes the nearest thing, and callers that owe the client a
//! warning (1292) ask [`Value::is_clean_number`] first.

use crate::json::Json;
use crate::json::part::Part;
use crate::number;
use crate::temporal::parse::{datetime_from_number, parse_datetime, parse_time, time_from_number};
use crate::{DataType, Date, DateTime, Decimal, SqlMode, Time, TypeKind, Value};
use std::borrow::Cow;

/// A number that is to be a moment or a time.
#[derive(Clone, Copy)]
pub struct SplitNumber {
    /// What is before the point.
    pub whole: i64,
    /// Microseconds behind it.
    pub micros: u32,
    /// What the rest of the fraction rounds to, in microseconds: 0, or 1 away from zero.
    pub rest: i64,
}

impl SplitNumber {
    /// The time that its digits make, with the rest of the fraction.
    pub fn round_time(self, t: Time) -> Time {
        Time((t.0 + self.rest).clamp(Time::MIN.0, Time::MAX.0))
    }
}

impl Value<'_> {
    /// As a signed integer (64 bits): decimals and doubles round, strings take their leading integer, out of range saturates.
    /// NULL is 0.
    #[inline]
    pub fn to_i64(&self) -> i64 {
        match self {
            Value::Int(v) => *v,
            Value::UInt(v) => i64::try_from(*v).unwrap_or(i64::MAX),
            _ => self.to_integer().clamp(i64::MIN as i128, i64::MAX as i128) as i64,
        }
    }

    /// As an unsigned integer; negative numbers saturate to 0.
    #[inline]
    pub fn to_u64(&self) -> u64 {
        match self {
            Value::UInt(v) => *v,
            Value::Int(v) => u64::try_from(*v).unwrap_or(0),
            _ => self.to_integer().clamp(0, u64::MAX as i128) as u64,
        }
    }

    /// As an integer of any sign, within `i64::MIN..=u64::MAX`.
    pub fn to_integer(&self) -> i128 {
        match self {
            Value::Null => 0,
            Value::Int(v) => *v as i128,
            Value::UInt(v) => *v as i128,
            Value::Double(v) => (v.round_ties_even() as i128).clamp(i64::MIN as i128, u64::MAX as i128),
            Value::Decimal(v) => decimal_to_integer(*v),
            Value::Date(v) => v.to_number() as i128,
            Value::Time(v) => v.round(0, false).to_number() as i128,
            Value::DateTime(v) => v.round(0, false).unwrap_or(*v).to_number() as i128,
            Value::Bytes(v) => number::parse_integer(v).0,
            Value::Json(_) => self.json_scalar().to_integer(),
        }
    }

    /// NULL is 0; strings take their leading number.
    #[inline]
    pub fn to_f64(&self) -> f64 {
        match self {
            Value::Null => 0.0,
            Value::Int(v) => *v as f64,
            Value::UInt(v) => *v as f64,
            Value::Double(v) => *v,
            Value::Decimal(v) => v.to_f64(),
            Value::Date(v) => v.to_number() as f64,
            Value::Time(v) => {
                let whole = v.to_number().unsigned_abs() as f64 + v.micros() as f64 / 1e6;
                if v.is_negative() { -whole } else { whole }
            }
            Value::DateTime(v) => v.to_number() as f64 + v.micros() as f64 / 1e6,
            Value::Bytes(v) => number::parse_f64(v).0,
            Value::Json(_) => self.json_scalar().to_f64(),
        }
    }

    /// NULL is 0; strings take their leading number; doubles beyond DECIMAL's range become its bound.
    pub fn to_decimal(&self) -> Decimal {
        let with_micros = |negative: bool, number: u64, micros: u32| match micros {
            0 => Decimal::from_parts(negative, number as u128, 0),
            _ => Decimal::from_parts(negative, number as u128 * 1_000_000 + micros as u128, 6),
        };
        match self {
            Value::Null => Decimal::ZERO,
            Value::Int(v) => Decimal::from(*v),
            Value::UInt(v) => Decimal::from(*v),
            Value::Double(v) => Decimal::from_f64(*v)
                .unwrap_or_else(|| Decimal::max_value(Decimal::MAX_PRECISION, 0, v.is_sign_negative())),
            Value::Decimal(v) => *v,
            Value::Date(v) => Decimal::from(v.to_number()),
            Value::Time(v) => with_micros(v.is_negative(), v.to_number().unsigned_abs(), v.micros()),
            Value::DateTime(v) => with_micros(false, v.to_number(), v.micros()),
            Value::Bytes(v) => Decimal::parse_prefix(v).0,
            Value::Json(_) => self.json_scalar().to_decimal(),
        }
    }

    /// Truth value; `None` for NULL.
    #[inline]
    pub fn to_bool(&self) -> Option<bool> {
        Some(match self {
            Value::Null => return None,
            Value::Int(v) => *v != 0,
            Value::UInt(v) => *v != 0,
            Value::Double(v) => *v != 0.0,
            Value::Decimal(v) => !v.is_zero(),
            Value::Date(v) => !v.is_zero(),
            Value::Time(v) => v.0 != 0,
            Value::DateTime(v) => !v.is_zero(),
            Value::Bytes(v) => number::parse_f64(v).0 != 0.0,
            Value::Json(_) => self.json_truth(),
        })
    }

    /// As a date and time; `None` for NULL and for what is none. A TIME has no date: the caller adds the current one.
    pub fn to_datetime(&self, mode: SqlMode) -> Option<DateTime> {
        match self {
            Value::Null | Value::Time(_) => None,
            Value::Date(v) => Some(v.at_midnight()),
            Value::DateTime(v) => Some(*v),
            Value::Bytes(v) => parse_datetime(v, mode).map(|p| p.value),
            Value::Int(v) => datetime_from_number(*v, 0, mode).map(|p| p.value),
            Value::UInt(v) => datetime_from_number(i64::try_from(*v).ok()?, 0, mode).map(|p| p.value),
            Value::Double(_) | Value::Decimal(_) => {
                let split = self.split_number()?;
                let value = datetime_from_number(split.whole, split.micros, mode)?.value;
                let cut = mode.has(SqlMode::TIME_TRUNCATE_FRACTIONAL);
                if cut || split.rest == 0 { Some(value) } else { value.add_micros(split.rest) }
            }
            Value::Json(_) => self.json_scalar().to_datetime(mode),
        }
    }

    pub fn to_date(&self, mode: SqlMode) -> Option<Date> {
        self.to_datetime(mode).map(DateTime::date)
    }

    /// As a time; `None` for NULL and for what is none.
    pub fn to_time(&self) -> Option<Time> {
        match self {
            Value::Null => None,
            Value::Time(v) => Some(*v),
            Value::Date(_) => Some(Time(0)),
            Value::DateTime(v) => Some(v.time()),
            Value::Bytes(v) => parse_time(v, SqlMode::NONE).map(|p| p.value),
            Value::Int(v) => time_from_number(*v, 0).map(|p| p.value),
            Value::UInt(v) => time_from_number(i64::try_from(*v).ok()?, 0).map(|p| p.value),
            Value::Double(_) | Value::Decimal(_) => {
                let split = self.split_number()?;
                time_from_number(split.whole, split.micros).map(|p| split.round_time(p.value))
            }
            Value::Json(_) => self.json_scalar().to_time(),
        }
    }

    /// A document's scalar as an SQL value; NULL of containers and `null`. Of all but documents the value itself.
    pub fn json_scalar(&self) -> Value<'static> {
        match self.json() {
            Some(doc) => doc.into_scalar(),
            None => Value::Null,
        }
    }

    /// Numbers by their value, `false` and nothing else untrue.
    fn json_truth(&self) -> bool {
        match self.json() {
            Some(Json::Bool(v)) => v,
            Some(Json::Null) | None => true,
            Some(doc) => match doc.into_scalar() {
                Value::Bytes(_) | Value::Null => true,
                v => v.to_bool() == Some(true),
            },
        }
    }

    /// A fractional number as whole part and microseconds: 101010.5 is ten o'clock and a bit.
    pub fn split_number(&self) -> Option<SplitNumber> {
        let decimal = self.to_decimal();
        let whole = decimal.truncate(0);
        let cut = decimal.truncate(6);
        let fraction = cut.checked_sub(whole)?.abs().checked_mul(Decimal::from(1_000_000u64))?;
        let rest = match decimal.round(6) == cut {
            true => 0,
            false => {
                if decimal.is_negative() {
                    -1
                } else {
                    1
                }
            }
        };
        Some(SplitNumber { whole: whole.to_i64().ok()?, micros: fraction.to_u64().ok()? as u32, rest })
    }

    /// Whether a string is a number from end to end (blanks around it allowed), so that converting it loses nothing.
    /// True of everything that is no string.
    pub fn is_clean_number(&self) -> bool {
        match self {
            Value::Bytes(v) => {
                let used = number::scan(v).map_or(0, |s| s.length);
                used > 0 && v[used..].iter().all(|b| number::is_blank(*b))
            }
            _ => true,
        }
    }

    /// Appends the value as a client of the text protocol sees it (and CAST AS CHAR makes it). NULL appends nothing.
    /// `data_type` gives zerofill width, scale, fractional seconds digits, FLOAT.
    pub fn write_text(&self, data_type: &DataType, out: &mut Vec<u8>) {
        match self {
            Value::Null => {}
            Value::Int(_) | Value::UInt(_) if data_type.zerofill => {
                let start = out.len();
                self.write_plain(out);
                zerofill(out, start, data_type.length as usize);
            }
            Value::Int(v) => number::write_i64(*v, out),
            Value::UInt(v) if data_type.kind == TypeKind::Bit => {
                let bytes = data_type.length.clamp(1, 64).div_ceil(8) as usize;
                out.extend_from_slice(&v.to_be_bytes()[8 - bytes..]);
            }
            Value::UInt(v) => number::write_u64(*v, out),
            Value::Double(v) => {
                let start = out.len();
                if data_type.decimals <= 30 && matches!(data_type.kind, TypeKind::Float | TypeKind::Double) {
                    number::write_fixed(*v, data_type.decimals, out);
                } else if data_type.kind == TypeKind::Float {
                    number::write_f32(*v as f32, out);
                } else {
                    number::write_f64(*v, out);
                }
                if data_type.zerofill {
                    zerofill(out, start, data_type.length as usize);
                }
            }
            Value::Decimal(v) => {
                let start = out.len();
                if data_type.kind == TypeKind::Decimal && (v.scale() > data_type.decimals || data_type.zerofill) {
                    v.round(data_type.decimals).write(out)
                } else {
                    v.write(out)
                }
                if data_type.zerofill {
                    zerofill(out, start, data_type.length as usize + (data_type.decimals > 0) as usize);
                }
            }
            Value::Time(v) => v.write(data_type.decimals, out),
            Value::DateTime(v) => v.write(data_type.decimals, out),
            Value::Date(_) | Value::Bytes(_) | Value::Json(_) => self.write_plain(out),
        }
    }

    /// Appends the value in its own terms: no zerofill, fractional seconds only where they are not zero. For messages and
    /// for comparison with strings.
    pub fn write_plain(&self, out: &mut Vec<u8>) {
        let fsp = |micros: u32| if micros == 0 { 0 } else { 6 };
        match self {
            Value::Null => {}
            Value::Int(v) => number::write_i64(*v, out),
            Value::UInt(v) => number::write_u64(*v, out),
            Value::Double(v) => number::write_f64(*v, out),
            Value::Decimal(v) => v.write(out),
            Value::Date(v) => v.write(out),
            Value::Time(v) => v.write(fsp(v.micros()), out),
            Value::DateTime(v) => v.write(fsp(v.micros()), out),
            Value::Bytes(v) => out.extend_from_slice(v),
            Value::Json(document) => {
                let written = Part::of(document).and_then(|whole| whole.write(out));
                written.expect("JSON values hold well-formed documents");
            }
        }
    }

    /// The value's text; strings are borrowed, NULL is empty.
    pub fn to_text(&self, data_type: &DataType) -> Cow<'_, [u8]> {
        match self {
            Value::Bytes(v) => Cow::Borrowed(v),
            other => {
                let mut out = Vec::with_capacity(24);
                other.write_text(data_type, &mut out);
                Cow::Owned(out)
            }
        }
    }
}

fn decimal_to_integer(v: Decimal) -> i128 {
    match v.to_i64() {
        Ok(v) => v as i128,
        Err(low) if low < 0 => low as i128,
        Err(_) => v.to_u64().unwrap_or(u64::MAX) as i128,
    }
}

fn zerofill(out: &mut Vec<u8>, start: usize, width: usize) {
    let length = out.len() - start;
    if length < width {
        out.splice(start..start, std::iter::repeat_n(b'0', width - length));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_from_values() {
        let text = |t: &'static str| Value::Bytes(t.as_bytes().into());
        assert_eq!(Value::Double(2.5).to_i64(), 2);
        assert_eq!(Value::Decimal(Decimal::from_parts(false, 25, 1)).to_i64(), 3);
        assert_eq!(text("12.9abc").to_i64(), 12);
        assert_eq!(text("1e2").to_f64(), 100.0);
        assert_eq!(Value::UInt(u64::MAX).to_i64(), i64::MAX);
        assert_eq!(Value::Int(-1).to_u64(), 0);
        assert_eq!(text("0.0").to_bool(), Some(false));
        assert_eq!(Value::Null.to_bool(), None);
        assert_eq!(text("2024-01-02 03:04:05.5").to_datetime(SqlMode::NONE).unwrap().micros(), 500_000);
        assert_eq!(Value::Double(101010.5).to_time().unwrap(), Time::new(false, 10, 10, 10, 500_000));
        assert!(text(" 1.5 ").is_clean_number() && !text("1.5x").is_clean_number() && !text("").is_clean_number());
    }

    #[test]
    fn text_follows_the_type() {
        let show = |value: Value<'_>, t: DataType| String::from_utf8(value.to_text(&t).into_owned()).unwrap();
        let zerofill = DataType { zerofill: true, length: 5, ..DataType::new(TypeKind::Int).unsigned() };
        assert_eq!(show(Value::UInt(42), zerofill), "00042");
        assert_eq!(show(Value::UInt(0), DataType::new(TypeKind::Year)), "0000");
        assert_eq!(show(Value::Double(1.5), DataType { decimals: 3, ..DataType::new(TypeKind::Double) }), "1.500");
        assert_eq!(show(Value::Double(0.1f32 as f64), DataType::new(TypeKind::Float)), "0.1");
        let third = Decimal::from(1i64).checked_div(Decimal::from(3i64), 4).unwrap();
        assert_eq!(show(Value::Decimal(third), DataType::decimal(14, 4)), "0.3333");
        let time = DataType { decimals: 2, ..DataType::new(TypeKind::Time) };
        assert_eq!(show(Value::Time(Time::new(true, 1, 2, 3, 450_000)), time), "-01:02:03.45");
    }
}
