//! Assignment of a value to a column: range checks, rounding, truncation, padding, and the errors or warnings they make.

use crate::charset::Charset;
use crate::error::*;
use crate::json;
use crate::temporal::Problem;
use crate::temporal::parse::{
    Parsed, datetime_from_number, full_year, is_dated, parse_datetime, parse_time, time_from_number,
};
use crate::{CollationId, DataType, Date, DateTime, Decimal, SqlMode, Time, TypeKind, Value, decimal, number};
use std::borrow::Cow;
use std::fmt::Display;

/// What an assignment needs to know besides the two types.
#[derive(Clone, Copy, Debug)]
pub struct StoreContext<'c> {
    /// Strictness and date checks. For INSERT IGNORE and the like, pass a mode without the strict flags.
    pub mode: SqlMode,
    /// The column's name, for messages.
    pub column: &'c str,
    /// 1-based row of the statement, for messages.
    pub row: u64,
    /// Members of an ENUM or SET, in the column's character set.
    pub members: &'c [String],
}

type Stored<'a> = Result<(Value<'a>, Option<Warning>)>;

/// The value as the column stores it: of the column's own type, within its range, rounded to its scale, in its character
/// set, cut to its length. In strict mode what does not fit is an error (1264, 1265, 1292, 1366, 1406); otherwise the
/// nearest value that does and a warning. NULL passes (the caller checks NOT NULL, since DEFAULT and AUTO_INCREMENT differ).
///
/// Session state stays with the caller: a TIME for a DATE or DATETIME column is made a DATETIME with the current date
/// before, and a TIMESTAMP is converted to UTC and checked against its range after.
#[inline]
pub fn coerce_for_store<'a>(
    value: Value<'a>,
    source: &DataType,
    column: &DataType,
    context: &StoreContext<'_>,
) -> Stored<'a> {
    // The hot path: a signed integer that fits its column.
    if let Value::Int(v) = &value
        && column.kind.is_integer()
    {
        let (low, high) = column.integer_bounds();
        if *v >= low && (*v < 0 || *v as u64 <= high) {
            let value = if column.unsigned { Value::UInt(*v as u64) } else { value };
            return Ok((value, None));
        }
    }
    coerce_slow(value, source, column, context)
}

fn coerce_slow<'a>(value: Value<'a>, source: &DataType, column: &DataType, context: &StoreContext<'_>) -> Stored<'a> {
    use TypeKind::*;
    if value.is_null() {
        return Ok((value, None));
    }
    // Nothing fills up the text of a number that a column of texts takes, but a year.
    let unfilled = DataType {
        zerofill: source.zerofill
            && !matches!(value, Value::Int(_) | Value::UInt(_) | Value::Decimal(_) | Value::Double(_))
            || source.kind == Year,
        ..*source
    };
    let source = &unfilled;
    let value = match &value {
        // A hexadecimal literal is a number for columns of numbers.
        Value::Bytes(b) if source.kind == VarBinary && source.unsigned && column.kind.is_numeric() => {
            if b.len() > 8 {
                return too_many_bytes(column, context);
            }
            Value::UInt(b.iter().fold(0, |v, b| v << 8 | *b as u64))
        }
        // Members are UTF-8, and what is read as a number or a time is ASCII.
        Value::Bytes(b)
            if match column.kind {
                Enum | Set => {
                    !matches!(source.collation.charset(), Charset::Utf8mb4 | Charset::Utf8mb3 | Charset::Binary)
                }
                kind => !kind.is_text() && !kind.is_bytes() && !source.collation.charset().is_ascii_compatible(),
            } =>
        {
            let (text, collation) = (source.collation.charset().to_utf8(b).into_owned(), source.collation.of_utf8mb4());
            return coerce_slow(Value::Bytes(Cow::Owned(text)), &DataType { collation, ..*source }, column, context);
        }
        Value::Json(_) if !matches!(column.kind, Json | Null) && !column.kind.is_text() && !column.kind.is_bytes() => {
            return of_document(value, source, column, context);
        }
        _ => value,
    };
    match column.kind {
        TinyInt | SmallInt | MediumInt | Int | BigInt => to_integer(value, column, context),
        TypeKind::Decimal => to_decimal(value, column, context),
        Float | Double => to_double(value, column, context),
        Bit => to_bit(value, column, context),
        Year => to_year(value, context),
        TypeKind::Date => to_date(value, context),
        TypeKind::Time => to_time(value, column, context),
        TypeKind::DateTime | Timestamp => to_datetime(value, column, context),
        // What was no member there is none here.
        Enum if source.kind == Enum && matches!(&value, Value::Bytes(b) if b.is_empty()) => Ok((Value::UInt(0), None)),
        Enum => to_enum(value, column, context),
        Set => to_set(value, column, context),
        Char | VarChar | TinyText | Text | MediumText | LongText | Binary | VarBinary | TinyBlob | Blob
        | MediumBlob | LongBlob | Geometry => to_bytes(value, source, column, context),
        Json => to_json(value, source, context),
        Null => Ok((Value::Null, None)),
    }
}

/// A hexadecimal literal of more bytes than an integer has, zeros or not, in a column of numbers: the largest integer in its place, which
/// may be out of range already.
#[cold]
fn too_many_bytes<'a>(column: &DataType, context: &StoreContext<'_>) -> Stored<'a> {
    let is_unsigned = column.unsigned || column.kind == TypeKind::Bit;
    let most = if is_unsigned { Value::UInt(u64::MAX) } else { Value::Int(i64::MAX) };
    match coerce_slow(most, &DataType::new(TypeKind::BigInt).unsigned(), column, context)? {
        (stored, None) => context.out_of_range(stored),
        told => Ok(told),
    }
}

impl StoreContext<'_> {
    /// `stored` is not what was given: an error in strict mode, else a warning. The arguments are those of the message.
    #[cold]
    fn lossy<'a>(&self, stored: Value<'a>, code: u16, arguments: &[&dyn Display]) -> Stored<'a> {
        if self.mode.is_strict() {
            return Err(SqlError::format(code, arguments));
        }
        Ok((stored, Some(Warning::format(Level::Warning, code, arguments))))
    }

    fn out_of_range<'a>(&self, stored: Value<'a>) -> Stored<'a> {
        self.lossy(stored, ER_WARN_DATA_OUT_OF_RANGE, &[&self.column, &self.row])
    }

    fn truncated<'a>(&self, stored: Value<'a>) -> Stored<'a> {
        self.lossy(stored, WARN_DATA_TRUNCATED, &[&self.column, &self.row])
    }

    /// "Incorrect integer value: 'x' for column 'c' at row 1".
    fn incorrect<'a>(&self, stored: Value<'a>, kind: &str, given: &Value<'_>) -> Stored<'a> {
        let text = plain(given);
        self.lossy(stored, ER_TRUNCATED_WRONG_VALUE_FOR_FIELD, &[&kind, &text, &self.column, &self.row])
    }

    /// Digits or blanks were lost that nobody misses: a note in any mode.
    #[cold]
    fn note<'a>(&self, stored: Value<'a>) -> Stored<'a> {
        let note = Warning::format(Level::Note, WARN_DATA_TRUNCATED, &[&self.column, &self.row]);
        Ok((stored, Some(note)))
    }

    /// Temporal values that are none: 1292 in strict mode, else `code` (1264 or 1265) as a warning.
    #[cold]
    fn bad_temporal<'a>(&self, stored: Value<'a>, kind: &str, given: &Value<'_>, code: u16) -> Stored<'a> {
        if self.mode.is_strict() {
            return Err(wrong_temporal(kind, given, self));
        }
        Ok((stored, Some(Warning::format(Level::Warning, code, &[&self.column, &self.row]))))
    }

    /// A part of the temporal value has no place in the column (a DATE's time of day): a note.
    #[cold]
    fn temporal_note<'a>(&self, stored: Value<'a>, kind: &str, given: &Value<'_>) -> Stored<'a> {
        Ok((stored, Some(self.left_out(kind, given))))
    }

    /// The note that part of a date or time is left out.
    #[cold]
    pub fn left_out(&self, kind: &str, given: &Value<'_>) -> Warning {
        if !self.mode.is_strict() {
            return Warning::format(Level::Note, WARN_DATA_TRUNCATED, &[&self.column, &self.row]);
        }
        let SqlError { code, message, .. } = wrong_temporal(kind, given, self);
        Warning { level: Level::Note, code, message }
    }
}

fn wrong_temporal(kind: &str, given: &Value<'_>, context: &StoreContext<'_>) -> SqlError {
    let text = plain(given);
    let message = format!("Incorrect {kind} value: '{text}' for column '{}' at row {}", context.column, context.row);
    SqlError::new(ER_TRUNCATED_WRONG_VALUE, message)
}

fn plain(value: &Value<'_>) -> String {
    let mut text = Vec::with_capacity(32);
    value.write_plain(&mut text);
    let mut text = String::from_utf8_lossy(&text).into_owned();
    if text.len() > 128 {
        let mut end = 128;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
    }
    text
}

fn to_integer<'a>(value: Value<'a>, column: &DataType, context: &StoreContext<'_>) -> Stored<'a> {
    let (low, high) = column.integer_bounds();
    let mut junk = None;
    let wide = match &value {
        Value::Bytes(text) => {
            let (decimal, used, _) = Decimal::parse_prefix(text);
            let first = text.iter().find(|b| !matches!(b, b' ' | b'\t'));
            let (decimal, used) = match first {
                // Other blanks are not passed over.
                Some(b) if number::is_blank(*b) => (Decimal::ZERO, 0),
                _ => (decimal, used),
            };
            if used == 0 {
                junk = Some(ER_TRUNCATED_WRONG_VALUE_FOR_FIELD);
            } else if text[used..].iter().any(|b| !number::is_blank(*b)) {
                junk = Some(WARN_DATA_TRUNCATED);
            }
            decimal_to_i128(decimal)
        }
        // As in MySQL, one below zero is out of range though it rounds to 0; a real or a text is not.
        Value::Decimal(v) if column.unsigned && v.is_negative() && !v.is_zero() => decimal_to_i128(*v).min(-1),
        Value::Decimal(v) => decimal_to_i128(*v),
        Value::Double(v) => v.round_ties_even() as i128,
        other => other.to_integer(),
    };
    let clamped = wide.clamp(low as i128, high as i128);
    let stored = if column.unsigned { Value::UInt(clamped as u64) } else { Value::Int(clamped as i64) };
    if clamped != wide {
        return context.out_of_range(stored);
    }
    match junk {
        None => Ok((stored, None)),
        Some(WARN_DATA_TRUNCATED) => context.truncated(stored),
        Some(_) => context.incorrect(stored, "integer", &value),
    }
}

/// Rounded; beyond 64 bits some value that no integer type has.
fn decimal_to_i128(v: Decimal) -> i128 {
    match (v.to_i64(), v.to_u64()) {
        (Ok(v), _) => v as i128,
        (_, Ok(v)) => v as i128,
        (Err(bound), _) => bound as i128 * 4,
    }
}

fn to_decimal<'a>(value: Value<'a>, column: &DataType, context: &StoreContext<'_>) -> Stored<'a> {
    let (precision, scale) = (column.length, column.decimals);
    let (mut bad, mut cut, mut inexact, mut overflow) = (false, false, false, false);
    let exact = match &value {
        Value::Decimal(v) => *v,
        Value::Bytes(text) => {
            let (decimal, used, status) = Decimal::parse_prefix(text);
            bad = status == decimal::Parsed::Bad;
            let junk = text[used..].iter().any(|b| !number::is_blank(*b));
            cut = status == decimal::Parsed::Truncated || (junk && !bad);
            inexact = status == decimal::Parsed::Inexact;
            overflow = status == decimal::Parsed::Overflow;
            decimal
        }
        Value::Double(v) => {
            overflow = Decimal::from_f64(*v).is_none();
            value.to_decimal()
        }
        other => other.to_decimal(),
    };
    if exact.is_negative() && column.unsigned {
        return context.out_of_range(Value::Decimal(Decimal::ZERO.round(scale)));
    }
    let rounded = exact.round(scale);
    if overflow || !rounded.fits(precision, scale) {
        return context.out_of_range(Value::Decimal(Decimal::max_value(precision, scale, exact.is_negative())));
    }
    let stored = Value::Decimal(rounded);
    if bad || (cut && context.mode.is_strict()) {
        return context.incorrect(stored, "decimal", &value);
    }
    if cut || inexact || rounded != exact { context.note(stored) } else { Ok((stored, None)) }
}

fn to_double<'a>(value: Value<'a>, column: &DataType, context: &StoreContext<'_>) -> Stored<'a> {
    let mut junk = false;
    let mut overflow = false;
    let given = match &value {
        Value::Bytes(text) => {
            let (v, used) = number::parse_f64(text);
            junk = used == 0 || text[used..].iter().any(|b| !number::is_blank(*b));
            // The parser answers the largest double for what is too large; only a text of that very number spells it so.
            overflow = v.abs() == f64::MAX && !text.windows(7).any(|w| w == b"1.79769");
            v
        }
        other => other.to_f64(),
    };
    if given < 0.0 && column.unsigned {
        return context.out_of_range(Value::Double(0.0));
    }
    let float = column.kind == TypeKind::Float;
    let mut v = given;
    let mut limit = if float { f32::MAX as f64 } else { f64::MAX };
    if column.decimals <= 30 {
        let unit = 10f64.powi(column.decimals as i32);
        limit = (10f64.powi(column.length as i32 - column.decimals as i32) - 1.0 / unit).min(limit);
        // As MySQL rounds: the fraction above the floor, ties to even.
        let whole = v.floor();
        let fraction = ((v - whole) * unit).round_ties_even() / unit;
        if v.abs() < 1e15 {
            v = whole + fraction;
        }
    }
    let round = |v: f64| if float { v as f32 as f64 } else { v };
    if overflow || v.is_nan() || v.abs() > limit {
        return context.out_of_range(Value::Double(round(limit.copysign(given))));
    }
    let v = round(v);
    let stored = Value::Double(v);
    if junk { context.incorrect(stored, if float { "FLOAT" } else { "DOUBLE" }, &value) } else { Ok((stored, None)) }
}

fn to_bit<'a>(value: Value<'a>, column: &DataType, context: &StoreContext<'_>) -> Stored<'a> {
    let bits = column.length.clamp(1, 64);
    let most = u64::MAX >> (64 - bits);
    let (v, fits) = match &value {
        Value::Bytes(b) => {
            let digits = &b[b.iter().take_while(|b| **b == 0).count()..];
            (digits.iter().take(8).fold(0, |v, b| v << 8 | *b as u64), digits.len() <= 8)
        }
        Value::Int(v) => (*v as u64, true),
        // A number with a sign is out of the range of what has none, and then one that is too large for the bits may be too long.
        Value::Decimal(d) => match (d.is_negative(), d.round(0).to_u64()) {
            (true, _) => return context.out_of_range(Value::UInt(0)),
            (_, Ok(v)) => (v, true),
            (_, Err(_)) => return context.out_of_range(Value::UInt(most)),
        },
        Value::Double(d) => (*d as i64 as u64, true),
        other => {
            let v = other.to_integer();
            (v as u64, v >= 0)
        }
    };
    if fits && v <= most {
        return Ok((Value::UInt(v), None));
    }
    if context.mode.is_strict() {
        return Err(SqlError::format(ER_DATA_TOO_LONG, &[&context.column, &context.row]));
    }
    context.out_of_range(Value::UInt(most))
}

fn to_year<'a>(value: Value<'a>, context: &StoreContext<'_>) -> Stored<'a> {
    let mut junk = false;
    let year = match &value {
        Value::Bytes(text) => {
            let (decimal, used, _) = Decimal::parse_prefix(text);
            if used == 0 {
                return context.incorrect(Value::UInt(0), "integer", &value);
            }
            junk = text[used..].iter().any(|b| !number::is_blank(*b));
            match decimal.to_i64().unwrap_or(-1) {
                0 if text.len() < 4 => 2000,
                year => year,
            }
        }
        Value::Date(v) => v.year() as i64,
        Value::DateTime(v) => v.date().year() as i64,
        // Cut, not rounded.
        Value::Double(v) => *v as i64,
        other => other.to_i64(),
    };
    let stored = match year {
        0 | 1901..=2155 => year as u64,
        1..=99 => full_year(year as u32) as u64,
        _ => return context.out_of_range(Value::UInt(0)),
    };
    if junk { context.truncated(Value::UInt(stored)) } else { Ok((Value::UInt(stored), None)) }
}

/// What a value says as a date and time: parsed, or `None`.
fn read_datetime(value: &Value<'_>, mode: SqlMode) -> Option<Parsed<DateTime>> {
    let whole = |value: DateTime, has_time| Parsed {
        value,
        fsp: 6,
        has_time,
        zoned: false,
        problem: Problem::None,
        delimiter: None,
    };
    match value {
        Value::Bytes(text) => parse_datetime(text, mode),
        Value::Date(v) => v.is_allowed(mode).then(|| whole(v.at_midnight(), false)),
        Value::DateTime(v) => v.date().is_allowed(mode).then(|| whole(*v, true)),
        Value::Int(v) => datetime_from_number(*v, 0, mode),
        Value::UInt(v) => datetime_from_number(i64::try_from(*v).ok()?, 0, mode),
        Value::Double(_) | Value::Decimal(_) => {
            let split = value.split_number()?;
            let parsed = datetime_from_number(split.whole, split.micros, mode)?;
            let cut = mode.has(SqlMode::TIME_TRUNCATE_FRACTIONAL);
            let rest = if cut { 0 } else { split.rest };
            if rest == 0 { Some(parsed) } else { Some(Parsed { value: parsed.value.add_micros(rest)?, ..parsed }) }
        }
        Value::Json(_) => read_datetime(&value.json_scalar(), mode),
        Value::Null | Value::Time(_) => None,
    }
}

/// The warning for a value that is no date: it reads as one only without the calendar's rules (1264), or not at all (1265).
fn temporal_code(value: &Value<'_>) -> u16 {
    let looks_like = match value {
        Value::Bytes(text) => parse_datetime(text, SqlMode::ALLOW_INVALID_DATES).is_some(),
        Value::Int(v) => datetime_from_number(*v, 0, SqlMode::ALLOW_INVALID_DATES).is_some(),
        Value::Double(_) | Value::Decimal(_) | Value::Date(_) | Value::DateTime(_) => true,
        _ => false,
    };
    if looks_like { ER_WARN_DATA_OUT_OF_RANGE } else { WARN_DATA_TRUNCATED }
}

fn to_date<'a>(value: Value<'a>, context: &StoreContext<'_>) -> Stored<'a> {
    if let Value::Date(v) = value
        && v.is_allowed(context.mode)
    {
        return Ok((value, None));
    }
    let Some(parsed) = read_datetime(&value, context.mode) else {
        return context.bad_temporal(Value::Date(Date::ZERO), "date", &value, temporal_code(&value));
    };
    // Rounded to a second first, as for a DATETIME, which can be the next day.
    let cut = context.mode.has(SqlMode::TIME_TRUNCATE_FRACTIONAL);
    let Some(rounded) = parsed.value.round(0, cut) else {
        return context.bad_temporal(Value::Date(Date::ZERO), "date", &value, ER_WARN_DATA_OUT_OF_RANGE);
    };
    let stored = Value::Date(rounded.date());
    if parsed.problem != Problem::None {
        return context.bad_temporal(stored, "date", &value, WARN_DATA_TRUNCATED);
    }
    if rounded.time().0 != 0 { context.temporal_note(stored, "date", &value) } else { Ok((stored, None)) }
}

fn to_datetime<'a>(value: Value<'a>, column: &DataType, context: &StoreContext<'_>) -> Stored<'a> {
    let Some(parsed) = read_datetime(&value, context.mode) else {
        return context.bad_temporal(Value::DateTime(DateTime::ZERO), "datetime", &value, temporal_code(&value));
    };
    let cut = context.mode.has(SqlMode::TIME_TRUNCATE_FRACTIONAL);
    let Some(rounded) = parsed.value.round(column.decimals, cut) else {
        let zero = Value::DateTime(DateTime::ZERO);
        return context.bad_temporal(zero, "datetime", &value, ER_WARN_DATA_OUT_OF_RANGE);
    };
    let stored = Value::DateTime(rounded);
    if parsed.problem != Problem::None {
        return context.bad_temporal(stored, "datetime", &value, WARN_DATA_TRUNCATED);
    }
    Ok((stored, None))
}

/// Numbers between colons, which are no time because of their sizes.
fn has_form_of_time(text: &[u8]) -> bool {
    text.contains(&b':') && text.iter().all(|b| b.is_ascii_digit() || b":.- ".contains(b))
}

/// 838:59:59 as a number.
const TIME_NUMBER_MAX: f64 = 8_385_959.0;

fn to_time<'a>(value: Value<'a>, column: &DataType, context: &StoreContext<'_>) -> Stored<'a> {
    let whole =
        |value: Time| Parsed { value, fsp: 6, has_time: true, zoned: false, problem: Problem::None, delimiter: None };
    let parsed = match &value {
        Value::Time(v) => Some(whole(*v)),
        Value::DateTime(v) => Some(whole(v.time())),
        Value::Date(_) => Some(whole(Time(0))),
        Value::Bytes(text) => parse_time(text, context.mode),
        Value::Int(v) => time_from_number(*v, 0),
        Value::UInt(v) => time_from_number(i64::try_from(*v).unwrap_or(i64::MAX), 0),
        other => other.split_number().and_then(|split| {
            let parsed = time_from_number(split.whole, split.micros)?;
            let cut = context.mode.has(SqlMode::TIME_TRUNCATE_FRACTIONAL);
            Some(if cut { parsed } else { Parsed { value: split.round_time(parsed.value), ..parsed } })
        }),
    };
    let Some(parsed) = parsed else {
        if let Value::Double(v) = &value
            && v.abs() > TIME_NUMBER_MAX
        {
            return context.out_of_range(Value::Time(if *v < 0.0 { Time::MIN } else { Time::MAX }));
        }
        let code = match &value {
            Value::Bytes(text) if !has_form_of_time(text) => WARN_DATA_TRUNCATED,
            _ => ER_WARN_DATA_OUT_OF_RANGE,
        };
        return context.bad_temporal(Value::Time(Time(0)), "time", &value, code);
    };
    let cut = context.mode.has(SqlMode::TIME_TRUNCATE_FRACTIONAL);
    let stored = Value::Time(parsed.value.round(column.decimals, cut));
    match parsed.problem {
        Problem::OutOfRange => context.bad_temporal(stored, "time", &value, ER_WARN_DATA_OUT_OF_RANGE),
        Problem::Truncated => context.bad_temporal(stored, "time", &value, WARN_DATA_TRUNCATED),
        Problem::None => {
            let dropped_date = match &value {
                Value::Bytes(text) => text.len() >= 12 && is_dated(text),
                // The date of a DATETIME value is dropped in silence.
                _ => false,
            };
            if dropped_date { context.temporal_note(stored, "time", &value) } else { Ok((stored, None)) }
        }
    }
}

/// 1-based index of the member that equals `text` (UTF-8) in the column's collation, trailing blanks aside; 0: none.
fn member(text: &[u8], column: &DataType, members: &[String]) -> u64 {
    let kept = text.iter().rposition(|b| *b != b' ').map_or(0, |i| i + 1);
    let set = column.collation.charset();
    let text = set.from_utf8(&text[..kept]);
    let found = members.iter().position(|m| column.collation.equal(&set.from_utf8(m.as_bytes()), &text));
    found.map_or(0, |i| i as u64 + 1)
}

/// The integer that a number without its digits behind the point is, as ENUM and SET take it.
fn cut(number: &Value<'_>) -> i128 {
    match number {
        Value::Double(v) => *v as i128,
        Value::Decimal(d) => Value::Decimal(d.truncate(0)).to_integer(),
        other => other.to_integer(),
    }
}

fn to_enum<'a>(value: Value<'a>, column: &DataType, context: &StoreContext<'_>) -> Stored<'a> {
    let count = context.members.len() as i128;
    let index = match &value {
        Value::Bytes(text) => match member(text, column, context.members) {
            0 => {
                let (n, used, _) = number::parse_integer(text);
                match used == text.len() && used > 0 {
                    // The text of the number that is no member's.
                    true if n == 0 => return Ok((Value::UInt(0), None)),
                    true => n,
                    false => 0,
                }
            }
            index => index as i128,
        },
        other => cut(other),
    };
    if (1..=count).contains(&index) {
        return Ok((Value::UInt(index as u64), None));
    }
    context.truncated(Value::UInt(0))
}

fn to_set<'a>(value: Value<'a>, column: &DataType, context: &StoreContext<'_>) -> Stored<'a> {
    // The text of a time is none of its members.
    if matches!(value, Value::Date(_) | Value::Time(_) | Value::DateTime(_)) {
        return context.truncated(Value::UInt(0));
    }
    let all = match context.members.len() {
        0 => 0,
        n => u64::MAX >> (64 - n.min(64)),
    };
    let (bits, whole) = match &value {
        Value::Bytes(text) if text.is_empty() => (0, true),
        Value::Bytes(text) => {
            let mut bits = 0;
            let mut whole = true;
            for word in text.split(|b| *b == b',') {
                match member(word, column, context.members) {
                    0 => whole = false,
                    index => bits |= 1 << (index - 1),
                }
            }
            let (n, used, _) = number::parse_integer(text);
            if !whole && used == text.len() && (0..=all as i128).contains(&n) {
                (n as u64, true)
            } else {
                (bits, whole)
            }
        }
        other => {
            let n = cut(other);
            (n as u64 & all, (0..=all as i128).contains(&n))
        }
    };
    if whole { Ok((Value::UInt(bits), None)) } else { context.truncated(Value::UInt(bits)) }
}

/// A document for a column of numbers or times: its scalar, if that is one. Error or warning 3156 when it has none. Members and bits
/// are read from its text.
#[cold]
fn of_document<'a>(value: Value<'a>, source: &DataType, column: &DataType, context: &StoreContext<'_>) -> Stored<'a> {
    use TypeKind::{Bit, Double, Enum, Float, Set, Timestamp, Year};
    let text_type = DataType::string(TypeKind::LongText, u32::MAX, CollationId::UTF8MB4_BIN);
    let kind = match column.kind {
        TypeKind::Decimal => "DECIMAL",
        Float | Double => "DOUBLE",
        TypeKind::Date => "DATE",
        TypeKind::Time => "TIME",
        TypeKind::DateTime | Timestamp => "DATETIME/TIMESTAMP",
        Enum | Set | Bit => {
            let mut text = Vec::new();
            value.write_text(source, &mut text);
            return coerce_slow(Value::Bytes(text.into()), &text_type, column, context);
        }
        _ => "INTEGER",
    };
    let lenient = StoreContext { mode: SqlMode::NONE, ..*context };
    let scalar = value.json_scalar();
    let (fits, given) = match scalar {
        Value::Bytes(text) if column.kind.is_temporal() && column.kind != Year => {
            let strict = StoreContext { mode: SqlMode::STRICT_TRANS_TABLES, ..*context };
            let read = coerce_slow(Value::Bytes(Cow::Borrowed(&text)), &text_type, column, &strict);
            let fits = matches!(read, Ok((_, None)));
            (fits, if fits { Value::Bytes(text) } else { Value::Int(0) })
        }
        Value::Bytes(text) => {
            let (_, used) = number::parse_f64(&text);
            (used == text.len() && used > 0, Value::Bytes(text))
        }
        Value::Null => (false, Value::Int(0)),
        Value::Date(_) | Value::Time(_) | Value::DateTime(_) => (true, scalar),
        number => {
            let fits = !column.kind.is_temporal() || column.kind == Year;
            (fits, if fits { number } else { Value::Int(0) })
        }
    };
    let of_given = if matches!(given, Value::Bytes(_)) { text_type } else { DataType::new(TypeKind::BigInt) };
    if fits {
        return coerce_slow(given, &of_given, column, context);
    }
    let (stored, _) = coerce_slow(given, &of_given, column, &lenient)?;
    context.lossy(stored, ER_INVALID_JSON_VALUE_FOR_CAST, &[&kind, &"", &context.column, &context.row])
}

/// A string is read as JSON text; other values are no documents without CAST.
fn to_json<'a>(value: Value<'a>, source: &DataType, context: &StoreContext<'_>) -> Stored<'a> {
    let doc = match &value {
        Value::Json(_) => return Ok((value, None)),
        Value::Bytes(text) => {
            let charset = source.collation.charset();
            if charset == Charset::Binary {
                return Err(SqlError::format(ER_INVALID_JSON_CHARSET, &[&charset.name()]));
            }
            let (text, _) = transcode(Cow::Borrowed(text), charset, Charset::Utf8mb4);
            json::parse::parse(&text).map_err(|e| match (e.ended, e.code) {
                (Some(ended), _) => *ended,
                (None, Some(code)) => SqlError::format(code, &[]),
                (None, None) => {
                    let words = format!("\"{}\"", e.message);
                    SqlError::format(ER_INVALID_JSON_TEXT, &[&words, &e.at, &context.column])
                }
            })?
        }
        _ => {
            let words = "\"not a JSON text, may need CAST\"";
            return Err(SqlError::format(ER_INVALID_JSON_TEXT, &[&words, &0, &context.column]));
        }
    };
    Ok((Value::from_json(&doc), None))
}

fn to_bytes<'a>(value: Value<'a>, source: &DataType, column: &DataType, context: &StoreContext<'_>) -> Stored<'a> {
    use TypeKind::{Binary, Char, VarBinary, VarChar};
    let mut loses_digits = false;
    let given = match value {
        Value::Bytes(bytes) => bytes,
        other => {
            let mut text = Vec::with_capacity(24);
            match (&other, column.kind) {
                // A FLOAT, too, with all digits of the double that it is, as far as there is room.
                (Value::Double(v), Char | VarChar | Binary | VarBinary) => {
                    number::write_f64(*v, &mut text);
                    let mut within = Vec::with_capacity(24);
                    if text.len() > column.length as usize
                        && let Some(lost) = number::write_within(*v, column.length as usize, &mut within)
                    {
                        (text, loses_digits) = (within, lost);
                    }
                }
                _ => other.write_text(source, &mut text),
            }
            Cow::Owned(text)
        }
    };
    // Numbers and dates are ASCII whatever their type says.
    let from =
        if source.kind.is_bytes() || source.kind.is_text() { source.collation.charset() } else { Charset::Ascii };
    let to = if column.kind.is_text() { column.collation.charset() } else { Charset::Binary };
    let (text, bad) = transcode(given, from, to);
    let (stored, cut) = fit(text, column, to);
    if let Some(bad) = bad {
        let shown = if from.mbminlen() > 1 { escape_bytes(&bad, |_| false) } else { show_bytes(&bad) };
        let stored = Value::Bytes(stored);
        return context.lossy(
            stored,
            ER_TRUNCATED_WRONG_VALUE_FOR_FIELD,
            &[&"string", &shown, &context.column, &context.row],
        );
    }
    let stored = Value::Bytes(stored);
    match cut {
        Cut::Nothing if !loses_digits => Ok((stored, None)),
        Cut::Blanks if column.kind == TypeKind::Char => Ok((stored, None)),
        Cut::Blanks => context.note(stored),
        Cut::Text | Cut::Nothing if context.mode.is_strict() => {
            Err(SqlError::format(ER_DATA_TOO_LONG, &[&context.column, &context.row]))
        }
        Cut::Text | Cut::Nothing => context.truncated(stored),
    }
}

/// The bytes in the column's character set, and the first ones that have no place there.
fn transcode(given: Cow<'_, [u8]>, from: Charset, to: Charset) -> (Cow<'_, [u8]>, Option<Vec<u8>>) {
    if to == Charset::Binary {
        return (given, None);
    }
    if from == Charset::Binary && !given.len().is_multiple_of(to.mbminlen()) {
        let mut whole = Vec::with_capacity(given.len() + to.mbminlen());
        from.convert(to, &given, &mut whole);
        return transcode(Cow::Owned(whole), from, to);
    }
    if from == Charset::Binary || from.is_subset_bytes(to, &given) {
        let valid = to.valid_up_to(&given);
        if valid == given.len() {
            return (given, None);
        }
        let bad = given[valid..].to_vec();
        return (Cow::Owned(given[..valid].to_vec()), Some(bad));
    }
    let mut out = Vec::with_capacity(given.len() * 2);
    if from.convert(to, &given, &mut out) == 0 {
        return (Cow::Owned(out), None);
    }
    // Find where it went wrong, for the message.
    let mut rest = &given[..];
    let mut scratch = Vec::new();
    while !rest.is_empty() {
        let (code, length) = from.character(rest);
        scratch.clear();
        if !code.is_some_and(|code| to.encode(code, &mut scratch)) {
            break;
        }
        rest = &rest[length..];
    }
    (Cow::Owned(out), Some(rest.to_vec()))
}

enum Cut {
    Nothing,
    /// Only trailing spaces of a text.
    Blanks,
    Text,
}

/// Cuts to the column's length; CHAR loses trailing spaces, BINARY is filled up with zero bytes.
fn fit<'a>(text: Cow<'a, [u8]>, column: &DataType, charset: Charset) -> (Cow<'a, [u8]>, Cut) {
    use TypeKind::*;
    let keep = match column.kind {
        Char | VarChar => charset.char_offset(&text, column.length as usize),
        _ => {
            let most = usize::try_from(column.max_bytes()).unwrap_or(usize::MAX);
            if text.len() <= most { text.len() } else { character_start(charset, &text, most) }
        }
    };
    let cut = match &text[keep..] {
        [] => Cut::Nothing,
        rest if charset != Charset::Binary && charset.trimmed_length(rest) == 0 => Cut::Blanks,
        _ => Cut::Text,
    };
    let mut keep = keep;
    if column.kind == Char && column.collation != CollationId::BINARY {
        keep = charset.trimmed_length(&text[..keep]);
    }
    let mut text = cut_cow(text, keep);
    if column.kind == Binary && text.len() < column.length as usize {
        text.to_mut().resize(column.length as usize, 0);
    }
    (text, cut)
}

/// Start of the character that holds byte `at`.
fn character_start(charset: Charset, text: &[u8], at: usize) -> usize {
    let mut at = at - at % charset.mbminlen();
    if let Charset::Wide(_) = charset {
        // Not between the halves of a pair.
        return if charset.valid_up_to(&text[..at]) < at { at - charset.mbminlen() } else { at };
    }
    while !charset.is_single_byte() && at > 0 && text[at] & 0xC0 == 0x80 {
        at -= 1;
    }
    at
}

fn cut_cow(text: Cow<'_, [u8]>, keep: usize) -> Cow<'_, [u8]> {
    match text {
        Cow::Borrowed(b) => Cow::Borrowed(&b[..keep]),
        Cow::Owned(mut b) => {
            b.truncate(keep);
            Cow::Owned(b)
        }
    }
}

/// `\xFF` and readable ASCII, six bytes at most, as MySQL shows strings that are none.
pub fn show_bytes(bytes: &[u8]) -> String {
    escape_bytes(bytes, |b| (0x20..0x7F).contains(&b))
}

fn escape_bytes(bytes: &[u8], is_readable: impl Fn(u8) -> bool) -> String {
    let mut out = String::new();
    for b in bytes.iter().take(6) {
        match is_readable(*b) {
            true => out.push(*b as char),
            false => out.push_str(&format!("\\x{b:02X}")),
        }
    }
    if bytes.len() > 6 {
        out.push_str("...");
    }
    out
}

#[cfg(test)]
mod tests;
