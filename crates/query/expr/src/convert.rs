//! Conversions that expressions ask for: casts, common types of branches, text and numbers of values, and the warnings
//! that go with them.

pub use super::clock::{
    LENIENT, cuts_seconds, first_day, from_utc, local_now, local_time, now, parse_datetime, plain_date,
    temporal_literal, to_unix, to_utc,
};
use crate::charset::{charset_of, cut, transcode, well_formed};
use crate::document::{self, json_decimal, json_integer, json_number, warn_json};
use crate::{Execution, Expr, Node};
use std::borrow::Cow;
use types::codes::*;
use types::error::Warning;
use types::sql_mode::SqlMode;
use types::temporal::parse::{self, Parsed};
use types::{
    Charset, CollationId, DECIMALS_NOT_FIXED, DataType, DateTime, Decimal, Result, StoreContext, Time, TypeKind, Value,
    decimal, err,
};

/// The decimal that a text begins with.
pub fn parse_decimal(text: &[u8]) -> Decimal {
    Decimal::parse(text).0
}

/// The type of a decimal literal.
pub fn decimal_type(d: &Decimal) -> DataType {
    let scale = d.scale();
    DataType::decimal(d.precision().max(scale as u32).max(1), scale)
}

/// The type of a value by its kind alone: of parameters and user variables.
pub fn type_of(v: &Value<'_>) -> DataType {
    match v {
        Value::Null => DataType::new(TypeKind::Null),
        Value::Int(_) => DataType { length: 20, ..DataType::new(TypeKind::BigInt) },
        Value::UInt(_) => DataType { length: 20, ..DataType::new(TypeKind::BigInt).unsigned() },
        Value::Double(_) => DataType { length: 23, ..DataType::new(TypeKind::Double) },
        Value::Decimal(d) => decimal_type(d),
        Value::Date(_) => DataType { length: 10, ..DataType::new(TypeKind::Date) },
        Value::Time(t) => {
            DataType { length: 10, decimals: if t.micros() == 0 { 0 } else { 6 }, ..DataType::new(TypeKind::Time) }
        }
        Value::DateTime(t) => {
            DataType { length: 19, decimals: if t.micros() == 0 { 0 } else { 6 }, ..DataType::new(TypeKind::DateTime) }
        }
        Value::Bytes(b) => DataType::string(TypeKind::VarChar, b.len() as u32, CollationId::UTF8MB4_0900_AI_CI),
        Value::Json(_) => json_type(),
    }
}

/// Does the static type describe values of this kind? Parameters and user variables may differ from what was planned.
fn describes(ty: &DataType, v: &Value<'_>) -> bool {
    match v {
        Value::Null => true,
        Value::Int(_) | Value::UInt(_) => ty.kind.is_integer() || matches!(ty.kind, TypeKind::Bit | TypeKind::Year),
        Value::Double(_) => matches!(ty.kind, TypeKind::Float | TypeKind::Double),
        Value::Decimal(_) => ty.kind == TypeKind::Decimal,
        Value::Date(_) => ty.kind == TypeKind::Date,
        Value::Time(_) => ty.kind == TypeKind::Time,
        Value::DateTime(_) => matches!(ty.kind, TypeKind::DateTime | TypeKind::Timestamp),
        Value::Bytes(_) => ty.kind.is_bytes() || ty.kind.is_text(),
        Value::Json(_) => ty.kind == TypeKind::Json,
    }
}

/// The type of documents: their text is utf8mb4 under its binary collation.
pub fn json_type() -> DataType {
    DataType { collation: CollationId::UTF8MB4_BIN, length: u32::MAX, ..DataType::new(TypeKind::Json) }
}

/// The source type to convert `v` from: the static one where it fits.
pub fn source_type(ty: &DataType, v: &Value<'_>) -> DataType {
    if describes(ty, v) { *ty } else { type_of(v) }
}

/// A double that would be longer as text is written with an exponent (a result's column has no such limit).
const DOUBLE_TEXT_MAX: usize = 22;

/// The value as text.
pub fn text<'v>(v: &'v Value<'_>, ty: &DataType) -> Cow<'v, [u8]> {
    match v {
        Value::Bytes(b) => Cow::Borrowed(b),
        v => {
            let mut out = Vec::new();
            v.write_text(&source_type(ty, v), &mut out);
            if let Value::Double(d) = v
                && out.len() > DOUBLE_TEXT_MAX
                && ty.decimals >= DECIMALS_NOT_FIXED
            {
                out = format!("{d:e}").into_bytes();
            }
            Cow::Owned(out)
        }
    }
}

/// As [`text`], keeping what the value borrows.
pub fn into_text<'v>(v: Value<'v>, ty: &DataType) -> Cow<'v, [u8]> {
    match v {
        Value::Bytes(b) => b,
        v => Cow::Owned(text(&v, ty).into_owned()),
    }
}

/// Truth of a value in a condition.
pub fn truth(v: &Value<'_>, run: &dyn Execution) -> Result<Option<bool>> {
    if let Value::Bytes(b) = v {
        warn_truncated_double(b, run);
    }
    Ok(v.to_bool())
}

/// 1292 for a string that is no number from end to end.
pub fn warn_truncated_double(b: &[u8], run: &dyn Execution) {
    let (_, used) = types::number::parse_f64(b);
    if !b[used..].iter().all(|c| types::number::is_blank(*c)) {
        warn_truncated("DOUBLE", b, run);
    }
}

/// 1292: the text is no number of that kind.
pub fn warn_truncated(kind: &str, b: &[u8], run: &dyn Execution) {
    run.push_warning(err!(ER_TRUNCATED_WRONG_VALUE, kind, shown(b)));
}

/// The beginning of a text, for a message.
pub fn shown(b: &[u8]) -> String {
    String::from_utf8_lossy(&b[..b.len().min(128)]).into_owned()
}

/// The integer that a string begins with, cut to `low..=high`: 1292 for one that is no such integer from end to end.
pub fn integer_of_text(b: &[u8], (low, high): (i128, i128), run: &dyn Execution) -> i128 {
    let (i, used, beyond) = types::number::parse_integer(b);
    let is_whole = used > 0 && !beyond && b[used..].iter().all(|c| types::number::is_blank(*c));
    if !is_whole || !(low..=high).contains(&i) {
        warn_truncated("INTEGER", b, run);
    }
    i.clamp(low, high)
}

/// 1292 for a string that is no decimal from end to end.
pub fn warn_truncated_decimal(b: &[u8], run: &dyn Execution) {
    let (_, used, status) = Decimal::parse_prefix(b);
    let lost = matches!(status, decimal::Parsed::Truncated | decimal::Parsed::Bad) && used > 0;
    if lost || b.is_empty() || !b[used..].iter().all(|c| types::number::is_blank(*c)) {
        run.push_warning(err!(ER_TRUNCATED_WRONG_VALUE, "DECIMAL", String::from_utf8_lossy(b)));
    }
}

/// The same of a text that a function has made: MySQL says nothing of what is behind the number, and 1366 where there is none.
pub fn warn_made_decimal(b: &[u8], run: &dyn Execution) {
    if Decimal::parse_prefix(b).1 == 0 {
        run.push_warning(err!(ER_TRUNCATED_WRONG_VALUE_FOR_FIELD, "DECIMAL", "0", "", -1));
    }
}

/// Is the text one that a function makes, and not one that it chooses among its arguments?
pub fn is_made_text(e: &Expr) -> bool {
    const CHOICES: [&str; 8] = ["coalesce", "if", "ifnull", "nullif", "greatest", "least", "any_value", "name_const"];
    is_string(e.ty.kind)
        && match &e.node {
            Node::Call(f, _) => !CHOICES.contains(&f.name),
            Node::Cast(_) => true,
            Node::InCharset(inner) => is_made_text(inner),
            _ => false,
        }
}

/// 4095 or 4096 for a delimiter in a text that was read as a date or time.
fn warn_delimiter<T>(p: &Option<Parsed<T>>, text: &[u8], run: &dyn Execution) {
    if let Some(delimiter) = p.as_ref().and_then(|p| p.delimiter) {
        let (code, message) = delimiter.warning(text, run.evaluation().row.get());
        run.warn(code, message);
    }
}

/// 64 bits for bit operations: negative numbers in two's complement.
pub fn bits64(v: &Value<'_>, run: &dyn Execution) -> u64 {
    match v {
        Value::Int(v) => *v as u64,
        Value::UInt(v) => *v,
        Value::Bytes(b) => integer_of_text(b, (i64::MIN.into(), u64::MAX.into()), run) as u64,
        Value::Double(d) if *d < 0.0 => v.to_i64() as u64,
        Value::Decimal(d) if d.is_negative() => v.to_i64() as u64,
        Value::Time(_) => v.to_i64() as u64,
        Value::Json(_) => bits64(&json_integer(v, run), run),
        v => v.to_u64(),
    }
}

/// The nearest BIGINT: 1292 is warned of where that is out of its range.
pub fn integer_of_decimal(d: &Decimal, run: &dyn Execution) -> i64 {
    let n = Value::Decimal(*d).to_i64();
    if Decimal::from(n) != d.round(0) {
        run.push_warning(err!(ER_TRUNCATED_WRONG_VALUE, "DECIMAL", d));
    }
    n
}

/// The nearest unsigned BIGINT of a number that has no sign: 1292 is warned of where that is out of its range.
fn unsigned_of_decimal(d: &Decimal, run: &dyn Execution) -> u64 {
    d.round(0).to_u64().unwrap_or_else(|_| {
        run.push_warning(err!(ER_TRUNCATED_WRONG_VALUE, "DECIMAL", d));
        u64::MAX
    })
}

/// A moment whose text named its distance from UTC, in the session's time zone; others stay.
fn in_session_zone(p: Parsed<DateTime>, run: &dyn Execution) -> Parsed<DateTime> {
    if p.zoned { Parsed { value: from_utc(p.value, run), zoned: false, ..p } } else { p }
}

/// The moment of a text that names its distance from UTC, in the session's time zone; `None` for other values.
pub fn zoned_text(v: &Value<'_>, mode: SqlMode, run: &dyn Execution) -> Option<DateTime> {
    let Value::Bytes(text) = v else { return None };
    // `+hh:mm` at the end.
    let [.., b'+' | b'-', _, _, b':', _, _] = **text else { return None };
    let p = parse::parse_datetime(text, mode).filter(|p| p.zoned && p.problem == parse::Problem::None)?;
    Some(from_utc(p.value, run))
}

/// A value as date and time of day; `None` with a warning when it is none. Of `sql_mode` ALLOW_INVALID_DATES counts.
pub fn datetime(v: &Value<'_>, run: &dyn Execution) -> Option<DateTime> {
    datetime_in(v, SqlMode(LENIENT.0 | run.evaluation().sql_mode.0 & SqlMode::ALLOW_INVALID_DATES.0), run)
}

/// Texts are read under `mode`.
pub fn datetime_in(v: &Value<'_>, mode: SqlMode, run: &dyn Execution) -> Option<DateTime> {
    match v {
        Value::Null => None,
        Value::Date(d) => Some(d.at_midnight()),
        Value::DateTime(t) => Some(*t),
        Value::Time(t) => {
            let today = local_now(run, 0).date().at_midnight();
            today.add_micros(t.0)
        }
        Value::Bytes(b) => moment_of_text(b, mode, false, run),
        Value::Json(_) => match v.json_scalar() {
            v @ (Value::Date(_) | Value::DateTime(_)) => datetime(&v, run),
            Value::Bytes(b) if parse_datetime(&b).is_some() => datetime(&Value::Bytes(b), run),
            _ => {
                warn_json("DATETIME", run);
                None
            }
        },
        v @ (Value::Double(_) | Value::Decimal(_)) => {
            let number = v.split_number().filter(|_| !v.to_decimal().is_negative());
            let read = number.and_then(|n| {
                let p = parse::datetime_from_number(n.whole, n.micros, LENIENT)?;
                if n.rest == 0 || cuts_seconds(run) { Some(p.value) } else { p.value.add_micros(n.rest) }
            });
            if read.is_none() {
                let shown = text(v, &type_of(v)).into_owned();
                run.warn(
                    ER_TRUNCATED_WRONG_VALUE,
                    format!("Incorrect datetime value: '{}'", String::from_utf8_lossy(&shown)),
                );
            }
            read
        }
        v => {
            // In 64 bits with a sign, as MySQL has it.
            let n = if let Value::UInt(n) = v { *n as i64 } else { v.to_i64() };
            let p = parse::datetime_from_number(n, 0, LENIENT);
            if p.is_none() {
                run.warn(ER_TRUNCATED_WRONG_VALUE, format!("Incorrect datetime value: '{n}'"));
            }
            p.map(|p| p.value)
        }
    }
}

/// The moment of a text. `is_day`: a date is asked for, and what there is to say names one.
fn moment_of_text(text: &[u8], mode: SqlMode, is_day: bool, run: &dyn Execution) -> Option<DateTime> {
    let session = run.evaluation().sql_mode;
    let mode = SqlMode(mode.0 | session.0 & SqlMode::TIME_TRUNCATE_FRACTIONAL.0);
    let p = parse::parse_datetime(text, mode).map(|p| in_session_zone(p, run));
    let is_zero = p.is_some_and(|p| p.value == DateTime::ZERO) && session.has(SqlMode::NO_ZERO_DATE);
    if is_zero || p.is_none_or(|p| p.problem != parse::Problem::None) {
        let words = match p.filter(|_| !is_zero) {
            None if !is_day => "Incorrect datetime value",
            Some(p) if !is_day && p.has_time => "Truncated incorrect datetime value",
            _ => "Truncated incorrect date value",
        };
        run.warn(ER_TRUNCATED_WRONG_VALUE, format!("{words}: '{}'", String::from_utf8_lossy(text)));
    }
    if is_zero {
        return None;
    }
    warn_delimiter(&p, text, run);
    p.map(|p| p.value)
}

/// A value where a day is asked for, which may lack its month or itself: so does a number of less than three digits, a day of the
/// year 2000. Of `sql_mode` ALLOW_INVALID_DATES counts.
pub fn day(v: &Value<'_>, mode: SqlMode, run: &dyn Execution) -> Option<DateTime> {
    const SHORT_MAX: i64 = 100;
    let whole = match v {
        Value::DateTime(t) => return Some(*t),
        Value::Date(d) => return Some(d.at_midnight()),
        Value::Int(n) => *n,
        Value::UInt(n) => i64::try_from(*n).unwrap_or(i64::MAX),
        Value::Double(_) | Value::Decimal(_) => v.split_number().map_or(0, |n| n.whole),
        _ => 0,
    };
    let (month, day) = ((whole / 100) as u32, (whole % 100) as u32);
    if (1..=SHORT_MAX).contains(&whole) && day <= 31 {
        return Some(types::Date::new(2000, month, day).at_midnight());
    }
    let own = run.evaluation().sql_mode.0 & SqlMode::ALLOW_INVALID_DATES.0;
    let mode = SqlMode(mode.0 | own);
    match v {
        Value::Bytes(text) => moment_of_text(text, mode, true, run),
        v => datetime_in(v, mode, run),
    }
}

/// A value as TIME.
pub fn time(v: &Value<'_>, run: &dyn Execution) -> Option<Time> {
    match v {
        Value::Null => None,
        Value::Time(t) => Some(*t),
        Value::Date(_) => Some(Time(0)),
        Value::DateTime(t) => Some(t.time()),
        Value::Bytes(b) => {
            let p = parse::parse_time(b, run.evaluation().sql_mode);
            if p.is_none_or(|p| p.problem != parse::Problem::None) {
                run.push_warning(err!(ER_TRUNCATED_WRONG_VALUE, "time", String::from_utf8_lossy(b)));
            }
            warn_delimiter(&p, b, run);
            p.map(|p| p.value)
        }
        Value::Json(_) => match v.json_scalar() {
            v @ Value::Time(_) => time(&v, run),
            Value::Bytes(b) if parse::parse_time(&b, run.evaluation().sql_mode).is_some() => {
                time(&Value::Bytes(b), run)
            }
            _ => {
                warn_json("TIME", run);
                None
            }
        },
        v => {
            let p = match v {
                Value::Double(_) | Value::Decimal(_) => v.to_time().map(|t| (t, false)),
                Value::UInt(n) => {
                    parse::time_from_number(*n as i64, 0).map(|p| (p.value, p.problem != parse::Problem::None))
                }
                v => parse::time_from_number(v.to_i64(), 0).map(|p| (p.value, p.problem != parse::Problem::None)),
            };
            if p.is_none_or(|(_, bad)| bad) {
                let shown = String::from_utf8_lossy(&text(v, &type_of(v))).into_owned();
                run.push_warning(err!(ER_TRUNCATED_WRONG_VALUE, "time", shown));
            }
            p.filter(|(_, bad)| !bad).map(|(t, _)| t)
        }
    }
}

/// What a column of dates takes for a time: that moment of today, and for a DATE the note that a time of day is left out.
pub fn moment_of_today(
    t: Time,
    column: &DataType,
    context: &StoreContext<'_>,
    run: &dyn Execution,
) -> (Value<'static>, Option<Warning>) {
    if column.kind != TypeKind::Date {
        return (datetime(&Value::Time(t), run).map_or(Value::Time(t), Value::DateTime), None);
    }
    let t = t.round(0, context.mode.has(SqlMode::TIME_TRUNCATE_FRACTIONAL));
    let Some(moment) = datetime(&Value::Time(t), run) else { return (Value::Time(t), None) };
    let note = (moment.time() != Time(0)).then(|| context.left_out("date", &Value::Time(t)));
    (Value::Date(moment.date()), note)
}

/// CAST and CONVERT.
pub fn cast<'a>(v: Value<'a>, to: &DataType, from: &DataType, run: &dyn Execution) -> Result<Value<'a>> {
    if v.is_null() {
        return Ok(Value::Null);
    }
    use TypeKind as K;
    let v = match (from.kind, &v) {
        (_, Value::Json(_)) if to.kind == K::BigInt => json_integer(&v, run),
        (_, Value::Json(_)) if matches!(to.kind, K::Double | K::Float) => json_number(&v, run),
        (_, Value::Json(_)) if to.kind == K::Decimal => json_decimal(&v, run),
        (K::Year, Value::Int(_) | Value::UInt(_)) if to.kind.is_temporal() => first_day(v.to_u64()),
        (K::Bit, Value::Int(_) | Value::UInt(_)) if to.kind.is_temporal() => Value::Bytes(into_text(v, from)),
        _ => v,
    };
    Ok(match to.kind {
        K::BigInt => cast_to_integer(&v, to.unsigned, run),
        K::Double => {
            if let Value::Bytes(b) = &v {
                warn_truncated_double(b, run);
            }
            Value::Double(v.to_f64())
        }
        K::Float => {
            if let Value::Bytes(b) = &v {
                warn_truncated_double(b, run);
            }
            let d = v.to_f64();
            if (d as f32).is_infinite() {
                return Err(crate::error::out_of_range("DOUBLE", &format!("cast({d:e} as float)")));
            }
            Value::Double(d as f32 as f64)
        }
        K::Decimal => {
            if let Value::Bytes(b) = &v {
                warn_truncated_decimal(b, run);
            }
            let d = v.to_decimal().round(to.decimals);
            if d.fits(to.length, to.decimals) {
                Value::Decimal(d)
            } else {
                run.push_warning(err!(ER_WARN_DATA_OUT_OF_RANGE, "(null)", 1));
                Value::Decimal(Decimal::max_value(to.length, to.decimals, d.is_negative()))
            }
        }
        K::Date => day(&v, run.evaluation().sql_mode, run)
            .filter(|t| is_let_in(*t, &v, true, run))
            .map_or(Value::Null, |t| Value::Date(t.date())),
        K::DateTime | K::Timestamp => {
            match datetime_in(&v, run.evaluation().sql_mode, run)
                .filter(|t| is_let_in(*t, &v, false, run))
                .and_then(|t| t.round(to.decimals, cuts_seconds(run)))
            {
                Some(t) => Value::DateTime(t),
                None => Value::Null,
            }
        }
        K::Time => time(&v, run).map_or(Value::Null, |t| Value::Time(t.round(to.decimals, cuts_seconds(run)))),
        K::Json => document::cast(&v, from)?,
        K::Year => cast_to_year(&v, run),
        _ => return cast_to_text(v, to, from, run),
    })
}

fn cast_to_integer<'a>(v: &Value<'_>, unsigned: bool, run: &dyn Execution) -> Value<'a> {
    if unsigned {
        match v {
            Value::Int(i) => Value::UInt(*i as u64),
            Value::Bytes(_) => Value::UInt(bits64(v, run)),
            Value::Double(d) if *d < 0.0 => Value::UInt(v.to_i64() as u64),
            Value::Decimal(d) if d.is_negative() => Value::UInt(v.to_i64() as u64),
            Value::Decimal(d) => Value::UInt(unsigned_of_decimal(d, run)),
            // By way of a signed integer.
            Value::Double(d) => Value::UInt(d.round_ties_even().min(i64::MAX as f64) as i64 as u64),
            v => Value::UInt(v.to_u64()),
        }
    } else {
        match v {
            Value::UInt(u) => Value::Int(*u as i64),
            Value::Bytes(_) => Value::Int(bits64(v, run) as i64),
            Value::Decimal(d) => Value::Int(integer_of_decimal(d, run)),
            v => Value::Int(v.to_i64()),
        }
    }
}

fn cast_to_year<'a>(v: &Value<'_>, run: &dyn Execution) -> Value<'a> {
    let mut is_whole = true;
    let y = match v {
        Value::Bytes(text) => match types::number::parse_integer(text) {
            (_, 0, _) => {
                run.push_warning(err!(ER_WRONG_VALUE, "YEAR", String::from_utf8_lossy(text)));
                return Value::Null;
            }
            (0, ..) => 2000,
            (n, used, _) => {
                is_whole = text[used..].iter().all(|b| types::number::is_blank(*b));
                n.clamp(i64::MIN.into(), i64::MAX.into()) as i64
            }
        },
        Value::Date(d) => d.year() as i64,
        Value::DateTime(t) => t.date().year() as i64,
        Value::Time(_) => datetime(v, run).map_or(0, |t| i64::from(t.date().year())),
        v => v.to_i64(),
    };
    let shown = || match v {
        Value::Bytes(text) => String::from_utf8_lossy(text).into_owned(),
        _ => y.to_string(),
    };
    if !is_whole {
        run.push_warning(err!(ER_TRUNCATED_WRONG_VALUE, "YEAR", shown()));
    }
    match y {
        0 | 1901..=2155 => Value::UInt(y as u64),
        1..=69 => Value::UInt(y as u64 + 2000),
        70..=99 => Value::UInt(y as u64 + 1900),
        _ => {
            if is_whole {
                run.push_warning(err!(ER_TRUNCATED_WRONG_VALUE, "YEAR", shown()));
            }
            Value::Null
        }
    }
}

fn cast_to_text<'a>(v: Value<'a>, to: &DataType, from: &DataType, run: &dyn Execution) -> Result<Value<'a>> {
    // BINARY(n) is filled up.
    let fills = to.collation.is_binary() && to.zerofill && to.length != u32::MAX;
    if fills && run.outgrows_packet("cast_as_binary", to.length as usize)? {
        return Ok(Value::Null);
    }
    let bytes = into_text(v, from);
    let bytes = transcode(bytes, from, to);
    let bytes = match charset_of(from) {
        Charset::Binary => well_formed(bytes, to, run),
        _ => Some(bytes),
    };
    Ok(bytes.map_or(Value::Null, |bytes| Value::Bytes(cut(bytes, to, run))))
}

/// Do NO_ZERO_DATE and NO_ZERO_IN_DATE let the date in? Warns if not, unless it was a date or time before.
/// `is_day`: see [`moment_of_text`].
pub fn is_let_in(t: DateTime, given: &Value<'_>, is_day: bool, run: &dyn Execution) -> bool {
    // A zero date with a time of day is no zero date.
    let has_time = t.date().is_zero() && t != DateTime::ZERO;
    let fits = if has_time {
        !run.evaluation().sql_mode.has(SqlMode::NO_ZERO_IN_DATE)
    } else {
        t.date().is_allowed(run.evaluation().sql_mode)
    };
    if !fits && !matches!(given, Value::Date(_) | Value::DateTime(_) | Value::Time(_)) {
        let shown = String::from_utf8_lossy(&text(given, &type_of(given))).into_owned();
        let is_date = is_day && matches!(given, Value::Bytes(_));
        let words = if is_date { "Truncated incorrect date value" } else { "Incorrect datetime value" };
        run.warn(ER_TRUNCATED_WRONG_VALUE, format!("{words}: '{shown}'"));
    }
    fits
}

/// Has a text of one type other bytes in another? Bytes are filled up to whole characters.
fn is_transcoded(from: &DataType, to: &DataType) -> bool {
    let fills = from.kind.is_bytes() && to.collation.charset().mbminlen() > 1;
    (from.kind.is_text() || fills) && from.collation != to.collation
}

/// As [`unify`], with all the digits behind the point that the type has, as columns have them.
pub fn widen<'a>(v: Value<'a>, from: &DataType, to: &DataType, run: &dyn Execution) -> Result<Value<'a>> {
    Ok(match unify(v, from, to, run)? {
        Value::Decimal(d) if to.kind == TypeKind::Decimal => Value::Decimal(d.round(to.decimals)),
        v => v,
    })
}

/// As [`widen`], as a column of a temporary table takes it: numbers are written in digits, BINARY is filled up.
pub fn keep<'a>(v: Value<'a>, from: &DataType, to: &DataType, run: &dyn Execution) -> Result<Value<'a>> {
    let is_number = matches!(from.kind, TypeKind::Year | TypeKind::Bit);
    let v = match v {
        // A TEXT takes a year's digits, a VARCHAR its number.
        Value::Int(_) | Value::UInt(_) if from.kind == TypeKind::Year && to.kind.is_blob() => {
            Value::Bytes(transcode(Cow::Owned(format!("{:04}", v.to_u64()).into_bytes()), &type_of(&v), to))
        }
        Value::Int(_) | Value::UInt(_) if is_number && is_string(to.kind) => {
            Value::Bytes(transcode(Cow::Owned(v.to_u64().to_string().into_bytes()), &type_of(&v), to))
        }
        v => widen(v, from, to, run)?,
    };
    Ok(match within(v, to) {
        Value::Bytes(b) if to.kind == TypeKind::Binary && b.len() < to.length as usize => {
            let mut b = b.into_owned();
            b.resize(to.length as usize, 0);
            Value::Bytes(b.into())
        }
        v => v,
    })
}

/// A user variable's value as the number that it was planned as: the variable may have become another kind of value since.
pub fn as_planned<'a>(v: Value<'a>, planned: &DataType) -> Value<'a> {
    match (planned.kind, &v) {
        (_, Value::Null) => v,
        (TypeKind::BigInt, Value::Int(_) | Value::UInt(_)) => v,
        (TypeKind::BigInt, _) if planned.unsigned => Value::UInt(v.to_u64()),
        (TypeKind::BigInt, _) => Value::Int(v.to_i64()),
        (TypeKind::Double, Value::Double(_)) | (TypeKind::Decimal, Value::Decimal(_)) => v,
        (TypeKind::Double, _) => Value::Double(v.to_f64()),
        (TypeKind::Decimal, _) => Value::Decimal(v.to_decimal()),
        _ => v,
    }
}

/// A number as a column of a temporary table takes it: the largest of its sign where it has more digits than any DECIMAL.
pub fn within<'a>(v: Value<'a>, to: &DataType) -> Value<'a> {
    match v {
        Value::Decimal(d)
            if to.kind == TypeKind::Decimal && d.integer_digits() + u32::from(to.decimals) > Decimal::MAX_PRECISION =>
        {
            Value::Decimal(Decimal::max_value(Decimal::MAX_PRECISION, to.decimals, d.is_negative()))
        }
        v => v,
    }
}

/// A branch's value in the common type of all branches.
pub fn unify<'a>(v: Value<'a>, from: &DataType, to: &DataType, run: &dyn Execution) -> Result<Value<'a>> {
    use TypeKind as K;
    Ok(match (&v, to.kind) {
        (Value::Null, _) => Value::Null,
        (Value::Int(_) | Value::UInt(_) | Value::Decimal(_), K::Double | K::Float) => Value::Double(v.to_f64()),
        (Value::Int(_) | Value::UInt(_), K::Decimal) => Value::Decimal(v.to_decimal()),
        (Value::Date(d), K::DateTime | K::Timestamp) => Value::DateTime(d.at_midnight()),
        // Of numbers and texts, those that stand for parameters.
        (Value::Date(_) | Value::DateTime(_), K::Date | K::DateTime | K::Timestamp) | (Value::Time(_), K::Time) => v,
        (_, K::DateTime | K::Timestamp) => datetime(&v, run).map_or(Value::Null, Value::DateTime),
        (_, K::Time) => time(&v, run).map_or(Value::Null, Value::Time),
        (Value::Json(_), K::Json) => v,
        (_, K::Json) => {
            let e = Expr::new(Node::Const(Value::Null), type_of(&v));
            Value::from_json(&document::scalar(&v, &e)?)
        }
        (Value::Bytes(_), k) if k.is_text() && is_transcoded(from, to) => {
            let Value::Bytes(b) = v else { unreachable!("bytes") };
            Value::Bytes(transcode(b, from, to))
        }
        (Value::Bytes(_), _) => v,
        (_, k) if k.is_bytes() || k.is_text() => {
            let ty = source_type(from, &v);
            Value::Bytes(transcode(into_text(v, &ty), &ty, to))
        }
        _ => v,
    })
}

/// Numbers of the type are never negative.
pub fn is_unsigned(t: &DataType) -> bool {
    t.unsigned || matches!(t.kind, TypeKind::Year | TypeKind::Bit)
}

/// x'41' or b'101' as written: a binary string that is a number where one is asked for. Marked by an unsigned type, b'101', whose
/// number is signed, by ZEROFILL too.
pub fn is_hex_literal(e: &Expr) -> bool {
    e.ty.kind == TypeKind::VarBinary && e.ty.unsigned && matches!(e.node, Node::Const(_))
}

/// Is it a column or variable of a long string, or another that counts as a number without a warning?
pub fn is_long_column(e: &Expr) -> bool {
    is_string(e.ty.kind)
        && e.ty.kind != TypeKind::Json
        && match &e.node {
            Node::Column { .. } | Node::Local(..) => e.ty.kind.is_blob(),
            // What it has answered is kept, and read quietly.
            Node::Subquery { .. } => !matches!(e.ty.kind, TypeKind::Enum | TypeKind::Set),
            Node::Aggregate(call) => call.quiet,
            Node::Call(f, _) => matches!(f.name, "coalesce" | "greatest" | "ifnull" | "least"),
            _ => false,
        }
}

/// Values of the type are strings, of characters or bytes.
pub(crate) fn is_string(k: TypeKind) -> bool {
    k.is_bytes() || k.is_text()
}
