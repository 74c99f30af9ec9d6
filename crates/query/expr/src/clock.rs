//! The session's clock: local times and UTC, and the literals of dates and times.

use super::{Expr, Node};
use crate::Execution;
use types::codes::*;
use types::sql_mode::SqlMode;
use types::temporal::parse::{self, Delimiter};
use types::{DataType, DateTime, Result, TypeKind, Value, err};

/// Date checks of values that are computed, not stored: zeros are let in.
pub const LENIENT: SqlMode = SqlMode::NONE;

/// The moment of a text, whatever is wrong with it; `None`: it is none.
pub fn parse_datetime(text: &[u8]) -> Option<DateTime> {
    parse::parse_datetime(text, LENIENT).map(|p| p.value)
}

/// The session's local time at the statement's start, cut to `decimals` digits of the second.
pub fn local_now(run: &dyn Execution, decimals: u8) -> DateTime {
    local_time(run, run.evaluation().now_us, decimals)
}

/// Microseconds since 1970 UTC as local time, cut to `decimals` digits of the second.
pub fn local_time(run: &dyn Execution, us: i64, decimals: u8) -> DateTime {
    let seconds = us.div_euclid(1_000_000);
    let micros = us.rem_euclid(1_000_000) as u32;
    let t = DateTime::from_unix(seconds + run.zone_offset(seconds), micros).unwrap_or(DateTime::ZERO);
    t.round(decimals, true).unwrap_or(t)
}

/// [`local_now`] as a value: NOW().
pub fn now(run: &dyn Execution, decimals: u8) -> Value<'static> {
    Value::DateTime(local_now(run, decimals))
}

/// A stored TIMESTAMP in the session's time zone; the zero date stays.
pub fn from_utc(t: DateTime, run: &dyn Execution) -> DateTime {
    if t.date().is_zero() {
        return t;
    }
    let seconds = t.to_unix_seconds();
    match run.zone_offset(seconds) {
        0 => t,
        offset => DateTime::from_unix(seconds + offset, t.micros()).unwrap_or(t),
    }
}

/// The last second of a TIMESTAMP column: 2038-01-19 03:14:07 UTC.
const TIMESTAMP_LAST: i64 = i32::MAX as i64;

/// A local time as a TIMESTAMP column holds it, in UTC; `None` outside of its range. The zero date stays.
pub fn to_utc(t: DateTime, run: &dyn Execution) -> Option<DateTime> {
    if t.date().is_zero() {
        return Some(t);
    }
    let seconds = to_unix(t, run);
    (1..=TIMESTAMP_LAST).contains(&seconds).then(|| DateTime::from_unix(seconds, t.micros())).flatten()
}

/// Seconds since 1970 UTC of a local time.
pub fn to_unix(t: DateTime, run: &dyn Execution) -> i64 {
    let local = t.to_unix_seconds();
    let guess = local - run.zone_offset(local);
    local - run.zone_offset(guess)
}

/// DATE '..', TIME '..', TIMESTAMP '..'. Error 1525, also for zero dates that `mode` does not allow.
/// `zone_offset`: seconds east of UTC in the session's zone at a moment.
pub fn temporal_literal(
    date: bool,
    time: bool,
    text: &[u8],
    mode: SqlMode,
    zone_offset: impl Fn(i64) -> i32,
) -> Result<(Expr, Option<Delimiter>)> {
    const OF_DATES: u64 = SqlMode::NO_ZERO_IN_DATE.0 | SqlMode::NO_ZERO_DATE.0 | SqlMode::ALLOW_INVALID_DATES.0;
    // A TIME literal is rounded whatever the mode.
    let mode = SqlMode(mode.0 & (OF_DATES | SqlMode::TIME_TRUNCATE_FRACTIONAL.0));
    let wrong = |kind: &str| err!(ER_WRONG_VALUE, kind, String::from_utf8_lossy(text));
    let sound = |problem: parse::Problem| problem == parse::Problem::None;
    let decimals_of = |micros: u32, fsp: u8| if micros == 0 && fsp == 0 { 0 } else { fsp };
    Ok(if date {
        let p = parse::parse_datetime(text, mode).filter(|p| sound(p.problem) && !p.has_time);
        let p = p.ok_or_else(|| wrong("DATE"))?;
        let ty = DataType { length: 10, ..DataType::new(TypeKind::Date) }.not_null();
        (Expr::new(Node::Const(Value::Date(p.value.date())), ty), p.delimiter)
    } else if time {
        let p = parse::parse_time(text, SqlMode::NONE).filter(|p| sound(p.problem) && !is_dated(text));
        let p = p.ok_or_else(|| wrong("TIME"))?;
        let decimals = decimals_of(p.value.micros(), p.fsp);
        let ty = DataType { length: 10, decimals, ..DataType::new(TypeKind::Time) }.not_null();
        (Expr::new(Node::Const(Value::Time(p.value)), ty), p.delimiter)
    } else {
        let p = parse::parse_datetime(text, mode).filter(|p| sound(p.problem) && p.has_time);
        let mut p = p.ok_or_else(|| wrong("DATETIME"))?;
        if p.zoned {
            let seconds = p.value.to_unix_seconds();
            let local = DateTime::from_unix(seconds + i64::from(zone_offset(seconds)), p.value.micros());
            p.value = local.ok_or_else(|| wrong("DATETIME"))?;
        }
        let decimals = decimals_of(p.value.micros(), p.fsp);
        let ty = DataType { length: 19, decimals, ..DataType::new(TypeKind::DateTime) }.not_null();
        (Expr::new(Node::Const(Value::DateTime(p.value)), ty), p.delimiter)
    })
}

/// Is a day written before the time of day?
fn is_dated(text: &[u8]) -> bool {
    let text = text.trim_ascii_start();
    let digits = text.iter().take_while(|b| b.is_ascii_digit()).count();
    digits >= 12 || text.iter().skip(1).any(|b| matches!(b, b'-' | b'T' | b'/'))
}

/// A date written as `YYYY-MM-DD`, which every sql_mode takes as it is.
pub fn plain_date(text: &[u8]) -> Option<types::Date> {
    let date = parse_datetime(text)?.date();
    let mut written = Vec::with_capacity(10);
    Value::Date(date).write_plain(&mut written);
    let zeros = text.split(|b| *b == b'-').any(|part| part.iter().all(|b| *b == b'0'));
    (written == text && !zeros).then_some(date)
}

/// Are digits of the second that a type lacks cut off, and not rounded?
pub fn cuts_seconds(run: &dyn Execution) -> bool {
    run.evaluation().sql_mode.has(SqlMode::TIME_TRUNCATE_FRACTIONAL)
}

/// The date that a YEAR stands for.
pub fn first_day(year: u64) -> Value<'static> {
    Value::Date(types::Date::new(year as u32, 1, 1))
}
