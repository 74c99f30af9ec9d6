//! Date and time functions.

use super::parse_date::{DAYS, MONTHS};
use crate::function::{Args, Function, Rule, bytes, f, unlisted, volatile};
use crate::time_zone::TimeZone;
use crate::{Execution, Expr, convert, operand};
use sql::ast;
use std::time::{SystemTime, UNIX_EPOCH};
use types::codes::*;
use types::temporal::{Interval, IntervalUnit as Unit, MICROS_PER_DAY, parse};
use types::{DataType, Date, DateTime, Decimal, Result, SqlMode, Time, TypeKind, Value, err};

/// Of dates and times.
pub static FUNCTIONS: &[Function] = &[
    f("now", 0, 1, Rule::DateTime, |a| Ok(convert::now(a.run, a.ty.decimals))),
    f("curdate", 0, 0, Rule::Date, |a| Ok(Value::Date(convert::local_now(a.run, 0).date()))),
    f("curtime", 0, 1, Rule::Time, |a| Ok(Value::Time(convert::local_now(a.run, a.ty.decimals).time()))),
    f("utc_date", 0, 0, Rule::Date, |a| Ok(Value::Date(utc(&a).date()))),
    f("utc_time", 0, 1, Rule::Time, |a| Ok(Value::Time(utc(&a).time()))),
    f("utc_timestamp", 0, 1, Rule::DateTime, |a| Ok(Value::DateTime(utc(&a)))),
    volatile(f("sysdate", 0, 1, Rule::DateTime, |a| {
        let us = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_micros() as i64);
        Ok(Value::DateTime(convert::local_time(a.run, us, a.ty.decimals)))
    })),
    f("date", 1, 1, Rule::Date, |a| {
        let v = in_year(a.value(0)?, &a.args[0].ty);
        let date = convert::day(&v, convert::LENIENT, a.run).filter(|t| convert::is_let_in(*t, &v, true, a.run));
        Ok(date.map_or(Value::Null, |t| Value::Date(t.date())))
    }),
    f("time", 1, 1, Rule::TimeOf, |a| on_time(a, Value::Time)),
    f("timestamp", 1, 2, Rule::Moment, timestamp),
    f("year", 1, 1, Rule::Year, |a| on_date(a, |d| Some(Value::UInt(d.year() as u64)))),
    f("month", 1, 1, Rule::Int(3), |a| on_date(a, |d| Some(Value::Int(d.month() as i64)))),
    f("day", 1, 1, Rule::Int(3), |a| on_date(a, |d| Some(Value::Int(d.day() as i64)))),
    f("dayofmonth", 1, 1, Rule::Int(3), |a| on_date(a, |d| Some(Value::Int(d.day() as i64)))),
    f("quarter", 1, 1, Rule::Int(2), |a| on_date(a, |d| Some(Value::Int(d.month().div_ceil(3) as i64)))),
    f("dayofweek", 1, 1, Rule::Int(2), |a| on_real_date(a, |d| Value::Int((d.weekday() as i64 + 1) % 7 + 1))),
    f("weekday", 1, 1, Rule::Int(2), |a| on_real_date(a, |d| Value::Int(d.weekday() as i64))),
    f("dayofyear", 1, 1, Rule::Int(4), |a| on_real_date(a, |d| Value::Int(d.day_of_year() as i64))),
    f("dayname", 1, 1, Rule::System(9), |a| on_real_date(a, |d| bytes(DAYS[d.weekday() as usize].as_bytes()))),
    f("monthname", 1, 1, Rule::System(9), |a| {
        on_date(a, |d| (d.month() > 0).then(|| bytes(MONTHS[d.month() as usize - 1].as_bytes())))
    }),
    f("last_day", 1, 1, Rule::Date, last_day),
    f("week", 1, 2, Rule::Int(3), |a| week(a, false)),
    f("weekofyear", 1, 1, Rule::Int(3), |a| on_real_date(a, |d| Value::Int(d.week(3).1 as i64))),
    f("yearweek", 1, 2, Rule::Int(7), |a| week(a, true)),
    f("to_days", 1, 1, Rule::Int(8), |a| on_real_date(a, |d| Value::Int(d.to_days() as i64))),
    f("from_days", 1, 1, Rule::Date, |a| {
        Ok(a.int(0)?.map_or(Value::Null, |n| Value::Date(Date::from_days(n.clamp(0, u32::MAX as i64) as u32))))
    }),
    f("to_seconds", 1, 1, Rule::Int(21), |a| {
        Ok(real_moment(&a, 0, NO_MOMENT)?
            .map_or(Value::Null, |t| Value::Int(t.date().to_days() as i64 * 86_400 + t.time().0 / 1_000_000)))
    }),
    f("hour", 1, 1, Rule::Int(4), |a| on_time(a, |t| Value::Int(t.hours() as i64))),
    f("minute", 1, 1, Rule::Int(3), |a| on_time(a, |t| Value::Int(t.minutes() as i64))),
    f("second", 1, 1, Rule::Int(3), |a| on_time(a, |t| Value::Int(t.seconds() as i64))),
    f("microsecond", 1, 1, Rule::Int(21), |a| on_time(a, |t| Value::Int(t.micros() as i64))),
    f("time_to_sec", 1, 1, Rule::Int(10), |a| on_time(a, |t| Value::Int(t.0 / 1_000_000))),
    f("sec_to_time", 1, 1, Rule::TimeOf, |a| {
        Ok(a.double(0)?.map_or(Value::Null, |s| {
            let us = micros_of(s, a.run);
            let time = us.clamp(Time::MIN.0, Time::MAX.0);
            if time != us {
                let shown = match a.value(0) {
                    Ok(Value::Int(n)) => n.to_string(),
                    Ok(Value::UInt(n)) => n.to_string(),
                    _ => s.to_string(),
                };
                a.run.push_warning(err!(ER_TRUNCATED_WRONG_VALUE, "time", shown));
            }
            Value::Time(Time(time))
        }))
    }),
    f("maketime", 3, 3, Rule::TimeOf, maketime),
    f("makedate", 2, 2, Rule::Date, makedate),
    f("datediff", 2, 2, Rule::Int(9), |a| {
        let (x, y) = (real_moment(&a, 0, NO_DATE)?, real_moment(&a, 1, NO_DATE)?);
        let (Some(x), Some(y)) = (x, y) else { return Ok(Value::Null) };
        Ok(Value::Int(x.date().to_days() as i64 - y.date().to_days() as i64))
    }),
    f("timediff", 2, 2, Rule::TimeOf, timediff),
    f("addtime", 2, 2, Rule::Shifted, |a| add_time(a, 1)),
    f("subtime", 2, 2, Rule::Shifted, |a| add_time(a, -1)),
    f("date_format", 2, 2, Rule::ByLength, |a| date_format(a, false)),
    f("time_format", 2, 2, Rule::ByLength, |a| date_format(a, true)),
    f("unix_timestamp", 0, 1, Rule::Seconds, unix_timestamp),
    f("from_unixtime", 1, 2, Rule::Moment, from_unixtime),
    f("str_to_date", 2, 2, Rule::ByFormat, super::parse_date::str_to_date),
    f("convert_tz", 3, 3, Rule::Moment, convert_tz),
    f("period_add", 2, 2, Rule::Int(21), |a| {
        let (Some(p), Some(n)) = (a.int(0)?, a.int(1)?) else { return Ok(Value::Null) };
        let months = period_months(&a, p)?.wrapping_add(n) as u64;
        if months == 0 {
            return Ok(Value::Int(0));
        }
        let year = match months / 12 {
            year @ 0..100 => types::temporal::parse::full_year(year as u32).into(),
            year => year,
        };
        Ok(Value::Int(year.wrapping_mul(100).wrapping_add(months % 12 + 1) as i64))
    }),
    f("period_diff", 2, 2, Rule::Int(21), |a| {
        let (Some(p), Some(q)) = (a.int(0)?, a.int(1)?) else { return Ok(Value::Null) };
        Ok(Value::Int(period_months(&a, p)?.wrapping_sub(period_months(&a, q)?)))
    }),
    f("adddate", 2, 2, Rule::First, |a| plain_days(a, 1)),
    f("subdate", 2, 2, Rule::First, |a| plain_days(a, -1)),
];

static ADD_INTERVAL: Function = unlisted("date_add", 4, 4, Rule::First, eval_add);
static EXTRACT: Function = unlisted("extract", 2, 2, Rule::Int(21), eval_extract);
static DIFFERENCE: Function = unlisted("timestampdiff", 3, 3, Rule::Int(21), eval_difference);

const UNITS: [Unit; 20] = [
    Unit::Microsecond,
    Unit::Second,
    Unit::Minute,
    Unit::Hour,
    Unit::Day,
    Unit::Week,
    Unit::Month,
    Unit::Quarter,
    Unit::Year,
    Unit::SecondMicrosecond,
    Unit::MinuteMicrosecond,
    Unit::MinuteSecond,
    Unit::HourMicrosecond,
    Unit::HourSecond,
    Unit::HourMinute,
    Unit::DayMicrosecond,
    Unit::DaySecond,
    Unit::DayMinute,
    Unit::DayHour,
    Unit::YearMonth,
];

/// The unit as an argument: its position in [`UNITS`], which is the order of [`ast::IntervalUnit`].
fn unit_argument(unit: ast::IntervalUnit) -> Expr {
    Expr::int(unit as i64)
}

fn unit(a: &Args<'_>, i: usize) -> Result<Unit> {
    Ok(UNITS[a.int(i)?.unwrap_or(0) as usize])
}

fn call(function: &'static Function, args: Vec<Expr>, ty: DataType) -> Expr {
    Expr::new(crate::Node::Call(function, args), DataType { nullable: true, ..ty })
}

/// DATE_ADD and DATE_SUB: a DATE stays one for units of days and more, a TIME for those of less; text in, text out.
pub fn add_interval(date: Expr, amount: Expr, unit: ast::IntervalUnit, subtract: bool) -> Expr {
    let amount = if convert::is_hex_literal(&amount) { operand::enum_number(amount) } else { amount };
    let of = UNITS[unit as usize];
    let micros = matches!(
        of,
        Unit::Microsecond
            | Unit::SecondMicrosecond
            | Unit::MinuteMicrosecond
            | Unit::HourMicrosecond
            | Unit::DayMicrosecond
    );
    let is_text = amount.ty.kind.is_text() || amount.ty.kind.is_bytes();
    let parts = match of {
        // Of a text MySQL does not know them, be it a literal.
        Unit::Second if is_text => 6,
        Unit::Second => super::digits::second_digits(&amount),
        _ => 0,
    };
    let decimals = if micros { 6 } else { date.ty.decimals.min(6).max(parts) };
    let ty = match date.ty.kind {
        TypeKind::Date if of.is_date_part() => DataType { length: 10, ..DataType::new(TypeKind::Date) },
        TypeKind::Time if !has_days(of) => DataType { length: 10, decimals, ..DataType::new(TypeKind::Time) },
        TypeKind::Date | TypeKind::Time => DataType { length: 19, decimals, ..DataType::new(TypeKind::DateTime) },
        TypeKind::DateTime | TypeKind::Timestamp => {
            DataType { length: 19, decimals, ..DataType::new(TypeKind::DateTime) }
        }
        _ => DataType::string(TypeKind::Char, 29, types::CollationId::UTF8MB4_0900_AI_CI),
    };
    call(&ADD_INTERVAL, vec![date, amount, unit_argument(unit), Expr::int(subtract as i64)], ty)
}

/// EXTRACT(unit FROM e).
pub fn extract(e: Expr, unit: ast::IntervalUnit) -> Expr {
    use ast::IntervalUnit as U;
    let length = match unit {
        U::Quarter => 2,
        U::Month | U::Week | U::Day | U::Minute | U::Second => 3,
        U::Hour => 4,
        U::Year | U::MinuteSecond => 5,
        U::HourMinute => 6,
        U::YearMonth | U::Microsecond => 7,
        U::HourSecond => 8,
        U::DayHour | U::SecondMicrosecond => 9,
        U::DayMinute | U::MinuteMicrosecond => 11,
        U::DaySecond => 13,
        U::HourMicrosecond => 14,
        U::DayMicrosecond => 20,
    };
    call(&EXTRACT, vec![e, unit_argument(unit)], DataType { length, ..DataType::new(TypeKind::BigInt) })
}

static GET_FORMAT: Function = unlisted("get_format", 2, 2, Rule::System(17), |a| {
    let kinds = [ast::TemporalKind::Date, ast::TemporalKind::Time, ast::TemporalKind::DateTime];
    let kind = kinds[a.int(0)?.unwrap_or(0) as usize];
    let name = a.text(1)?;
    let format = name.and_then(|n| super::parse_date::named_format(kind, &n));
    Ok(format.map_or(Value::Null, |f| bytes(f.as_bytes())))
});

/// GET_FORMAT(kind, format).
pub fn get_format(kind: ast::TemporalKind, format: Expr) -> Expr {
    let ty = DataType::string(TypeKind::VarChar, 17, types::CollationId::UTF8MB4_0900_AI_CI);
    call(&GET_FORMAT, vec![Expr::int(kind as i64), format], ty)
}

/// TIMESTAMPDIFF(unit, from, to).
pub fn difference(from: Expr, to: Expr, unit: ast::IntervalUnit) -> Expr {
    call(&DIFFERENCE, vec![from, to, unit_argument(unit)], DataType { length: 21, ..DataType::new(TypeKind::BigInt) })
}

/// Months since the year 0 of a period YYMM or YYYYMM; 1210 for what is none.
fn period_months(a: &Args<'_>, period: i64) -> Result<i64> {
    if period <= 0 || !(1..=12).contains(&(period % 100)) {
        return Err(err!(ER_WRONG_ARGUMENTS, a.function));
    }
    let year = period / 100;
    let year = if year < 100 { types::temporal::parse::full_year(year as u32) as i64 } else { year };
    Ok(year.wrapping_mul(12) + period % 100 - 1)
}

/// CONVERT_TZ(moment, from, to): unchanged outside what TIMESTAMP can hold; NULL for unknown zones.
fn convert_tz<'a>(a: Args<'a>) -> Result<Value<'a>> {
    let Some(t) = moment(&a, 0)? else { return Ok(Value::Null) };
    let (Some(from), Some(to)) = (a.text(1)?, a.text(2)?) else { return Ok(Value::Null) };
    let zone = |name: &[u8]| std::str::from_utf8(name).ok().and_then(TimeZone::parse);
    let (Some(from), Some(to)) = (zone(&from), zone(&to)) else { return Ok(Value::Null) };
    if real(t.date()).is_none() {
        if let Value::Bytes(given) = a.value(0)? {
            a.run.warn(
                ER_TRUNCATED_WRONG_VALUE,
                format!("Incorrect datetime value: '{}'", String::from_utf8_lossy(&given)),
            );
        }
        return Ok(Value::Null);
    }
    let seconds = from.to_utc(t.to_unix_seconds());
    if !(1..=TIMESTAMP_SECONDS_MAX).contains(&seconds) {
        return Ok(Value::DateTime(t));
    }
    let local = DateTime::from_unix(seconds + to.offset_at(seconds) as i64, t.micros());
    Ok(local.map_or(Value::Null, Value::DateTime))
}

static AT_TIME_ZONE: Function = unlisted("at time zone", 2, 2, Rule::Moment, |a| {
    let Some(t) = moment(&a, 0)? else { return Ok(Value::Null) };
    let zone = a.text(1)?;
    let zone = zone.as_deref().and_then(|name| std::str::from_utf8(name).ok()).and_then(TimeZone::parse);
    let (Some(zone), false) = (zone, t.date().is_zero()) else { return Ok(Value::Null) };
    let seconds = convert::to_unix(t, a.run);
    let there = DateTime::from_unix(seconds + zone.offset_at(seconds) as i64, t.micros());
    let cut = there.and_then(|t| t.round(a.ty.decimals, true));
    Ok(cut.map_or(Value::Null, Value::DateTime))
});

/// A moment of the session's time zone, as clocks show it in another, cut to the digits of `ty`.
pub fn at_time_zone(moment: Expr, zone: String, ty: DataType) -> Expr {
    call(&AT_TIME_ZONE, vec![moment, crate::string(zone.into_bytes(), types::CollationId::UTF8MB4_0900_AI_CI)], ty)
}

/// The last moment that UNIX_TIMESTAMP and CONVERT_TZ know: 3001-01-18 23:59:59 UTC.
const TIMESTAMP_SECONDS_MAX: i64 = 32_536_771_199;

fn utc(a: &Args<'_>) -> DateTime {
    let us = a.run.evaluation().now_us;
    let t = DateTime::from_unix(us.div_euclid(1_000_000), us.rem_euclid(1_000_000) as u32).unwrap_or(DateTime::ZERO);
    t.round(a.ty.decimals, true).unwrap_or(t)
}

fn moment(a: &Args<'_>, i: usize) -> Result<Option<DateTime>> {
    let v = in_year(a.value(i)?, &a.args[i].ty);
    Ok(convert::datetime(&v, a.run))
}

/// The first argument where a day is asked for, which may lack its month or itself.
fn day(a: &Args<'_>) -> Result<Option<DateTime>> {
    match a.value(0)? {
        // The usual case first.
        Value::DateTime(t) => Ok(Some(t)),
        v => Ok(convert::day(&in_year(v, &a.args[0].ty), convert::LENIENT, a.run)),
    }
}

/// The first argument as a moment that `sql_mode` lets in.
fn moment_let_in(a: &Args<'_>) -> Result<Option<DateTime>> {
    let v = in_year(a.value(0)?, &a.args[0].ty);
    Ok(convert::datetime(&v, a.run).filter(|t| convert::is_let_in(*t, &v, false, a.run)))
}

/// Where a date or time is asked for, a YEAR is its first day, and the bytes of a BIT are read as a text.
pub(super) fn in_year<'a>(v: Value<'a>, ty: &DataType) -> Value<'a> {
    match (ty.kind, &v) {
        (TypeKind::Year, Value::Int(_) | Value::UInt(_)) => convert::first_day(v.to_u64()),
        (TypeKind::Bit, Value::Int(_) | Value::UInt(_)) => Value::Bytes(convert::into_text(v, ty)),
        _ => v,
    }
}

/// Not a zero date.
fn real(d: Date) -> Option<Date> {
    (d.month() > 0 && d.day() > 0).then_some(d)
}

/// A date whose weekday has a name: without a day, or a month, it is the day that MySQL reckons.
fn named(d: Date) -> Option<Date> {
    (d.year() > 0 || d.month() > 0).then_some(d)
}

/// An argument as a date that has a month and a day, as `words` say where a text has none.
fn real_moment(a: &Args<'_>, i: usize, words: &str) -> Result<Option<DateTime>> {
    let v = in_year(a.value(i)?, &a.args[i].ty);
    let read = match v {
        Value::Bytes(_) if words == NO_DATE => convert::day(&v, convert::LENIENT, a.run),
        _ => convert::datetime(&v, a.run),
    };
    let Some(t) = read else { return Ok(None) };
    if real(t.date()).is_some() {
        return Ok(Some(t));
    }
    match &v {
        Value::Bytes(text) => {
            a.run.warn(ER_TRUNCATED_WRONG_VALUE, format!("{words}: '{}'", String::from_utf8_lossy(text)));
        }
        Value::Int(_) | Value::UInt(_) | Value::Decimal(_) | Value::Double(_) => {
            let shown = String::from_utf8_lossy(&convert::text(&v, &convert::type_of(&v))).into_owned();
            a.run.warn(ER_TRUNCATED_WRONG_VALUE, format!("{NO_MOMENT}: '{shown}'"));
        }
        _ => {}
    }
    Ok(None)
}

const NO_DATE: &str = "Truncated incorrect date value";
const NO_MOMENT: &str = "Incorrect datetime value";

fn on_real_date<'a>(a: Args<'a>, f: impl Fn(Date) -> Value<'a>) -> Result<Value<'a>> {
    Ok(real_moment(&a, 0, NO_DATE)?.map_or(Value::Null, |t| f(t.date())))
}

fn last_day<'a>(a: Args<'a>) -> Result<Value<'a>> {
    let Some(t) = day(&a)? else { return Ok(Value::Null) };
    let last = t.date().last_day().filter(|_| t.date().month() > 0);
    if last.is_none() {
        let v = a.value(0)?;
        let read = Value::Date(t.date());
        let is_short = t.date().year() > 0 && !matches!(v, Value::Bytes(_));
        let shown = if is_short { convert::text(&read, a.ty) } else { convert::text(&v, &a.args[0].ty) };
        let shown = String::from_utf8_lossy(&shown).into_owned();
        a.run.warn(ER_TRUNCATED_WRONG_VALUE, format!("{NO_DATE}: '{shown}'"));
    }
    Ok(last.map_or(Value::Null, Value::Date))
}

fn on_date<'a>(a: Args<'a>, f: impl Fn(Date) -> Option<Value<'a>>) -> Result<Value<'a>> {
    Ok(day(&a)?.and_then(|t| f(t.date())).unwrap_or(Value::Null))
}

fn on_time<'a>(a: Args<'a>, f: impl Fn(Time) -> Value<'a>) -> Result<Value<'a>> {
    let v = in_year(a.value(0)?, &a.args[0].ty);
    Ok(convert::time(&v, a.run).map_or(Value::Null, f))
}

fn timestamp<'a>(a: Args<'a>) -> Result<Value<'a>> {
    if a.len() == 1 {
        return Ok(moment_let_in(&a)?.map_or(Value::Null, Value::DateTime));
    }
    let Some(t) = real_moment(&a, 0, NO_MOMENT)? else { return Ok(Value::Null) };
    let v = a.value(1)?;
    Ok(convert::time(&v, a.run).and_then(|d| moved(t, d.0)).map_or(Value::Null, Value::DateTime))
}

/// `None`: a date without a month or a day is not moved, nor beyond the calendar.
fn moved(t: DateTime, micros: i64) -> Option<DateTime> {
    let date = t.date();
    if date.month() == 0 || date.day() == 0 { None } else { t.add_micros(micros) }
}

/// `default_week_format` for WEEK; YEARWEEK does not look at it.
fn default_week_mode(a: &Args<'_>, with_year: bool) -> u32 {
    if with_year { 0 } else { a.run.variable("default_week_format") as u32 & 7 }
}

fn week<'a>(a: Args<'a>, with_year: bool) -> Result<Value<'a>> {
    let Some(t) = real_moment(&a, 0, NO_DATE)? else { return Ok(Value::Null) };
    if a.len() == 2 && a.value(1)?.is_null() {
        return Ok(Value::Int(0));
    }
    let mode = if a.len() == 2 {
        a.int(1)?.map_or(0, |n| (n as i32).max(0) as u32 & 7)
    } else {
        default_week_mode(&a, with_year)
    };
    let d = t.date();
    // YEARWEEK always numbers weeks 1..53.
    let (y, w) = d.week(if with_year { mode | 2 } else { mode });
    Ok(Value::Int(if with_year { y as i64 * 100 + w as i64 } else { w as i64 }))
}

/// What lies behind a microsecond is rounded, or left out under TIME_TRUNCATE_FRACTIONAL.
fn micros_of(seconds: f64, run: &dyn Execution) -> i64 {
    match convert::cuts_seconds(run) {
        // First to the digits that a double surely has.
        true => ((seconds * 1e9).round() / 1e3).trunc() as i64,
        false => (seconds * 1e6).round() as i64,
    }
}

fn maketime<'a>(a: Args<'a>) -> Result<Value<'a>> {
    let Some(h) = a.int(0)?.map(i128::from) else { return Ok(Value::Null) };
    let h = if let Value::UInt(h) = a.value(0)? { i128::from(h) } else { h };
    let Some(m) = a.int(1)? else { return Ok(Value::Null) };
    let Some(s) = a.double(2)? else { return Ok(Value::Null) };
    warn_too_many_seconds(&a.value(2)?, &a);
    // A nanosecond is the least that counts.
    let s = if s > -1e-9 && s < 0.0 { 0.0 } else { s };
    if !(0..60).contains(&m) || !(0.0..60.0).contains(&s) {
        return Ok(Value::Null);
    }
    let us = h.unsigned_abs().min(839) as i64 * 3_600_000_000 + m * 60_000_000 + micros_of(s, a.run);
    if us > Time::MAX.0 {
        let second = if s.fract() == 0.0 {
            format!("{s:02}")
        } else {
            format!("{:0>2}{}", s.trunc(), &s.fract().to_string()[1..])
        };
        a.run.push_warning(err!(ER_TRUNCATED_WRONG_VALUE, "time", format!("{h}:{m:02}:{second}")));
    }
    let us = us.min(Time::MAX.0);
    Ok(Value::Time(Time(if h < 0 { -us } else { us })))
}

fn makedate<'a>(a: Args<'a>) -> Result<Value<'a>> {
    let Some(n) = a.int(1)? else { return Ok(Value::Null) };
    let Some(y) = a.int(0)? else { return Ok(Value::Null) };
    if n < 1 || !(0..=9999).contains(&y) {
        return Ok(Value::Null);
    }
    let y = if y < 100 { types::temporal::parse::full_year(y as u32) } else { y as u32 };
    let days = (Date::new(y, 1, 1).to_days() as i64 - 1).saturating_add(n);
    let d = Date::from_days(days.min(u32::MAX as i64) as u32);
    Ok(if d.is_zero() { Value::Null } else { Value::Date(d) })
}

/// Numbers up to 838:59:59 are times.
const TIME_NUMBER_MAX: u64 = 8_385_959;

fn timediff<'a>(a: Args<'a>) -> Result<Value<'a>> {
    let whole = |v: &Value<'_>| match v {
        Value::DateTime(_) | Value::Date(_) => convert::datetime(v, a.run).map(|t| (true, t.to_micros())),
        // Zero dates, too.
        Value::Bytes(b) if b.iter().skip(1).any(|b| *b == b'-') => match parse::parse_datetime(b, convert::LENIENT) {
            Some(p) if p.value.date().is_zero() => Some((true, p.value.to_micros())),
            _ => convert::datetime(v, a.run).map(|t| (true, t.to_micros())),
        },
        Value::Int(n) if n.unsigned_abs() > TIME_NUMBER_MAX => {
            convert::datetime(v, a.run).map(|t| (true, t.to_micros()))
        }
        v => convert::time(v, a.run).map(|t| (false, t.0)),
    };
    // What follows one that is none is not asked.
    let Some((p, m)) = whole(&a.value(0)?) else { return Ok(Value::Null) };
    Ok(match whole(&a.value(1)?) {
        Some((q, n)) if p == q => {
            let us = m - n;
            if !(Time::MIN.0..=Time::MAX.0).contains(&us) {
                let (sign, us) = (if us < 0 { "-" } else { "" }, us.unsigned_abs());
                let (h, m, s) = (us / 3_600_000_000, us / 60_000_000 % 60, us / 1_000_000 % 60);
                let fraction = match a.ty.decimals {
                    0 => String::new(),
                    d => format!(".{:0width$}", us % 1_000_000 / 10u64.pow(6 - d as u32), width = d as usize),
                };
                a.run.push_warning(err!(
                    ER_TRUNCATED_WRONG_VALUE,
                    "time",
                    format!("{sign}{h:02}:{m:02}:{s:02}{fraction}")
                ));
            }
            Value::Time(Time(us.clamp(Time::MIN.0, Time::MAX.0)))
        }
        _ => Value::Null,
    })
}

fn add_time<'a>(a: Args<'a>, sign: i64) -> Result<Value<'a>> {
    let v = a.value(0)?;
    if v.is_null() {
        return Ok(Value::Null);
    }
    let d = a.value(1)?;
    if let (Value::Bytes(b), true) = (&v, d.is_null()) {
        // It is read first.
        let _ = if is_moment(b) { convert::datetime(&v, a.run).is_some() } else { convert::time(&v, a.run).is_some() };
    }
    let Some(d) = convert::time(&d, a.run) else { return Ok(Value::Null) };
    let text = a.ty.kind.is_text();
    let whole = |n: i128| n.unsigned_abs() < 10_000_000;
    let out = match &v {
        Value::Null => return Ok(Value::Null),
        Value::Int(_) | Value::UInt(_) | Value::Decimal(_) | Value::Double(_) if whole(v.to_integer()) => {
            convert::time(&v, a.run).map(|t| Value::Time(Time((t.0 + sign * d.0).clamp(Time::MIN.0, Time::MAX.0))))
        }
        Value::Time(t) => Some(Value::Time(Time((t.0 + sign * d.0).clamp(Time::MIN.0, Time::MAX.0)))),
        Value::Bytes(b) if !is_moment(b) => {
            convert::time(&v, a.run).map(|t| Value::Time(Time((t.0 + sign * d.0).clamp(Time::MIN.0, Time::MAX.0))))
        }
        v => {
            let t = convert::datetime(v, a.run);
            let out = t.and_then(|t| moved(t, sign * d.0));
            if let (Value::Bytes(given), Some(_), None) = (v, t, out) {
                let shown = String::from_utf8_lossy(given).into_owned();
                a.run.push_warning(err!(ER_TRUNCATED_WRONG_VALUE, "datetime", shown));
            }
            out.map(Value::DateTime)
        }
    };
    Ok(as_given(out.unwrap_or(Value::Null), text))
}

/// Is the text a date with its time of day? A sign in front is a time's.
fn is_moment(text: &[u8]) -> bool {
    let body = text.trim_ascii_start();
    let body = body.strip_prefix(b"-").unwrap_or(body);
    parse::is_dated(body) || body.contains(&b'-') && body.len() >= 9
}

/// Text arguments give text back.
fn as_given<'a>(v: Value<'a>, text: bool) -> Value<'a> {
    if !text || v.is_null() {
        return v;
    }
    let ty = convert::type_of(&v);
    Value::Bytes(convert::text(&v, &ty).into_owned().into())
}

fn plain_days<'a>(a: Args<'a>, sign: i64) -> Result<Value<'a>> {
    let v = a.value(0)?;
    let (Some(t), Some(n)) = (convert::datetime(&v, a.run), a.int(1)?) else { return Ok(Value::Null) };
    let Some(t) = t.add(Interval::new(Unit::Day, sign.wrapping_mul(n))) else { return Ok(Value::Null) };
    Ok(shaped(&v, t, true))
}

/// The result in the shape of what was added to.
fn shaped<'a>(v: &Value<'_>, t: DateTime, date_part: bool) -> Value<'a> {
    match v {
        Value::Date(_) if date_part => Value::Date(t.date()),
        Value::Bytes(b) => {
            let has_time = || parse::parse_datetime(b, convert::LENIENT).is_some_and(|p| p.has_time);
            let date_only = date_part && t.time().0 == 0 && (b.len() <= 10 || !has_time());
            let value = if date_only { Value::Date(t.date()) } else { Value::DateTime(t) };
            as_given(value, true)
        }
        // A number of no more digits than a date has.
        Value::Int(n) if date_part && n.unsigned_abs() < 100_000_000 => as_given(Value::Date(t.date()), true),
        Value::Int(_) | Value::UInt(_) | Value::Double(_) | Value::Decimal(_) => as_given(Value::DateTime(t), true),
        _ => Value::DateTime(t),
    }
}

/// Does the unit count days, or months?
fn has_days(of: Unit) -> bool {
    of.is_date_part() || matches!(of, Unit::DayHour | Unit::DayMinute | Unit::DaySecond | Unit::DayMicrosecond)
}

/// What an interval is added to: a text without month or day is none, whatever `sql_mode` lets in. A text that ADDTIME or SUBTIME
/// made of a time of day is that.
fn base_of_interval(v: &Value<'_>, a: &Args<'_>) -> Option<DateTime> {
    if let Value::DateTime(t) = v {
        return real(t.date()).map(|_| *t);
    }
    if let (Value::Bytes(text), crate::Node::Call(f, _)) = (v, &a.args[0].node)
        && matches!(f.name, "addtime" | "subtime")
        && !text.contains(&b' ')
        && let Some(read) = types::temporal::parse::parse_time(text, SqlMode::NONE)
    {
        return convert::datetime(&Value::Time(read.value), a.run);
    }
    // Nor a day that its month lacks, where it is no date yet.
    let allowed = match v {
        Value::Date(_) => SqlMode::ALLOW_INVALID_DATES.0,
        _ => 0,
    };
    let t = convert::datetime_in(v, SqlMode(SqlMode::NO_ZERO_IN_DATE.0 | allowed), a.run)?;
    if real(t.date()).is_some() {
        return Some(t);
    }
    if !matches!(v, Value::Date(_) | Value::Time(_)) {
        let text = convert::text(v, &a.args[0].ty);
        a.run.warn(ER_TRUNCATED_WRONG_VALUE, format!("{NO_MOMENT}: '{}'", String::from_utf8_lossy(&text)));
    }
    None
}

/// A day that its month lacks is one of the next month where days are counted, and the month's last where months are.
fn within_month(t: DateTime, of: Unit, months: i64) -> Option<DateTime> {
    match of {
        Unit::Year => Some(t),
        // It is brought into the month that it is moved to.
        Unit::Month | Unit::Quarter | Unit::YearMonth if months != 0 => Some(t),
        Unit::Month | Unit::Quarter | Unit::YearMonth => {
            let last = t.date().last_day().filter(|last| t.date().day() > last.day());
            last.map_or(Some(t), |last| last.at_midnight().add_micros(t.time().0))
        }
        _ => t.add_micros(0),
    }
}

fn eval_add<'a>(a: Args<'a>) -> Result<Value<'a>> {
    let v = match a.value(0)? {
        Value::Null => return Ok(Value::Null),
        v @ Value::DateTime(_) => v,
        v => in_year(v, &a.args[0].ty),
    };
    // The date is read first, and if it is none nothing else.
    let base = match &v {
        Value::Time(_) if a.ty.kind == TypeKind::Time => DateTime::ZERO,
        v => match base_of_interval(v, &a) {
            Some(base) => base,
            None => return Ok(Value::Null),
        },
    };
    let amount = a.value(1)?;
    if amount.is_null() {
        return Ok(Value::Null);
    }
    let of = unit(&a, 2)?;
    let subtract = a.int(3)? == Some(1);
    let simple = matches!(
        of,
        Unit::Year
            | Unit::Quarter
            | Unit::Month
            | Unit::Week
            | Unit::Day
            | Unit::Hour
            | Unit::Minute
            | Unit::Microsecond
    );
    let mut interval = if simple {
        crate::integer::check(&amount, &a.args[1], a.run, a.at)?;
        // A number beyond the signed ones is negative.
        let n = match &amount {
            Value::UInt(n) => *n as i64,
            Value::Bytes(text) => convert::integer_of_text(text, (i64::MIN.into(), u64::MAX.into()), a.run) as i64,
            v => v.to_i64(),
        };
        Interval::new(of, n)
    } else if of == Unit::Second {
        warn_too_many_seconds(&amount, &a);
        let micros = amount.to_decimal().checked_mul(Decimal::from_parts(false, 1_000_000, 0)).map(|d| d.truncate(0));
        Interval { months: 0, micros: micros.and_then(|d| d.to_i64().ok()).unwrap_or(i64::MAX) as i128 }
    } else {
        let Some(parts) = Interval::parse(of, &convert::text(&amount, &a.args[1].ty)) else { return Ok(Value::Null) };
        parts
    };
    if subtract {
        interval = Interval { months: interval.months.wrapping_neg(), micros: -interval.micros };
    }
    if let Value::Time(t) = &v
        && a.ty.kind == TypeKind::Time
    {
        let us = t.0 as i128 + interval.micros;
        return Ok(match i64::try_from(us).ok().and_then(Time::from_micros) {
            Some(t) => Value::Time(t),
            None => Value::Null,
        });
    }
    let base = if base.date().day() > 28 { within_month(base, of, interval.months) } else { Some(base) };
    Ok(match base.and_then(|base| base.add(interval)) {
        Some(t) => shaped(&v, t, of.is_date_part() && !operand::is_shifted_text(&a.args[0])),
        None => {
            let message = "Datetime function: datetime field overflow";
            if a.run.evaluation().strict.get() {
                return Err(types::SqlError::new(ER_DATETIME_FUNCTION_OVERFLOW, message));
            }
            a.run.warn(ER_DATETIME_FUNCTION_OVERFLOW, message.to_string());
            Value::Null
        }
    })
}

fn eval_extract<'a>(a: Args<'a>) -> Result<Value<'a>> {
    let v = a.value(0)?;
    let of = unit(&a, 1)?;
    let date_part = of.is_date_part();
    let (d, t) = if date_part {
        match convert::datetime(&v, a.run) {
            Some(t) => (t.date(), Time(0)),
            None => return Ok(Value::Null),
        }
    } else {
        match &v {
            Value::Date(_) | Value::DateTime(_) => match convert::datetime(&v, a.run) {
                Some(t) => (t.date(), t.time()),
                None => return Ok(Value::Null),
            },
            Value::Bytes(b) if b.iter().skip(1).any(|b| *b == b'-') => match convert::datetime(&v, a.run) {
                Some(t) => (t.date(), t.time()),
                None => return Ok(Value::Null),
            },
            Value::Int(n) if n.unsigned_abs() >= 10_000_000 => match convert::datetime(&v, a.run) {
                Some(t) => (t.date(), t.time()),
                None => return Ok(Value::Null),
            },
            v => match convert::time(v, a.run) {
                Some(t) => (Date::ZERO, t),
                None => return Ok(Value::Null),
            },
        }
    };
    let days = d.day() as i64;
    let (h, m, s, u) = (t.hours() as i64, t.minutes() as i64, t.seconds() as i64, t.micros() as i64);
    let n = match of {
        Unit::Year => d.year() as i64,
        Unit::Quarter => d.month().div_ceil(3) as i64,
        Unit::Month => d.month() as i64,
        Unit::Week => real(d).map_or(0, |d| d.week(0).1 as i64),
        Unit::Day => days,
        Unit::YearMonth => d.year() as i64 * 100 + d.month() as i64,
        Unit::Hour => h,
        Unit::Minute => m,
        Unit::Second => s,
        Unit::Microsecond => u,
        Unit::DayHour => days * 100 + h,
        Unit::DayMinute => (days * 100 + h) * 100 + m,
        Unit::DaySecond => ((days * 100 + h) * 100 + m) * 100 + s,
        Unit::HourMinute => h * 100 + m,
        Unit::HourSecond => (h * 100 + m) * 100 + s,
        Unit::MinuteSecond => m * 100 + s,
        Unit::DayMicrosecond => (((days * 100 + h) * 100 + m) * 100 + s) * 1_000_000 + u,
        Unit::HourMicrosecond => ((h * 100 + m) * 100 + s) * 1_000_000 + u,
        Unit::MinuteMicrosecond => (m * 100 + s) * 1_000_000 + u,
        Unit::SecondMicrosecond => s * 1_000_000 + u,
    };
    Ok(Value::Int(if t.0 < 0 { -n } else { n }))
}

fn eval_difference<'a>(a: Args<'a>) -> Result<Value<'a>> {
    let Some(x) = real_moment(&a, 0, NO_MOMENT)? else { return Ok(Value::Null) };
    let Some(y) = real_moment(&a, 1, NO_MOMENT)? else { return Ok(Value::Null) };
    let of = unit(&a, 2)?;
    let us = y.to_micros() - x.to_micros();
    let months = || {
        let (first, second, sign) = if us < 0 { (y, x, -1) } else { (x, y, 1) };
        let (f, s) = (first.date(), second.date());
        let mut n = (s.year() as i64 - f.year() as i64) * 12 + s.month() as i64 - f.month() as i64;
        if (s.day(), second.time()) < (f.day(), first.time()) {
            n -= 1;
        }
        n * sign
    };
    Ok(Value::Int(match of {
        Unit::Year => months() / 12,
        Unit::Quarter => months() / 3,
        Unit::Month => months(),
        Unit::Week => us / (7 * MICROS_PER_DAY),
        Unit::Day => us / MICROS_PER_DAY,
        Unit::Hour => us / 3_600_000_000,
        Unit::Minute => us / 60_000_000,
        Unit::Second => us / 1_000_000,
        _ => us,
    }))
}

fn date_format<'a>(a: Args<'a>, time_only: bool) -> Result<Value<'a>> {
    let v = a.value(0)?;
    let (t, hours) = if time_only {
        let Some(time) = convert::time(&v, a.run) else { return Ok(Value::Null) };
        let day = Time(time.0.abs() % MICROS_PER_DAY);
        (DateTime::new(Date::ZERO, day.hours(), day.minutes(), day.seconds(), day.micros()), time.hours())
    } else {
        match convert::datetime(&v, a.run) {
            Some(t) => (t, t.hour()),
            None => return Ok(Value::Null),
        }
    };
    let Some(format) = a.text(1)? else { return Ok(Value::Null) };
    if format.is_empty() || time_only && asks_day(&format) {
        return Ok(Value::Null);
    }
    let negative = time_only && convert::time(&v, a.run).is_some_and(|t| t.0 < 0);
    Ok(format_moment(t, hours, &format).map_or(Value::Null, |mut text| {
        if negative {
            text.insert(0, b'-');
        }
        bytes(text)
    }))
}

/// Does the format of a time ask what only a day has?
fn asks_day(format: &[u8]) -> bool {
    let mut it = format.iter();
    while let Some(b) = it.next() {
        if *b == b'%' && it.next().is_some_and(|c| b"aWbMDjwUuVvXx".contains(c)) {
            return true;
        }
    }
    false
}

/// Appends a number, with zeros in front up to `width` digits.
#[inline]
fn put_digits(out: &mut Vec<u8>, n: u32, width: usize) {
    match (width, n) {
        (2, 0..100) => out.extend_from_slice(&[b'0' + (n / 10) as u8, b'0' + (n % 10) as u8]),
        _ => put_many_digits(out, n, width),
    }
}

fn put_many_digits(out: &mut Vec<u8>, mut n: u32, width: usize) {
    const DIGITS_MAX: usize = 10;
    let (mut digits, mut from) = ([b'0'; DIGITS_MAX], DIGITS_MAX);
    while n > 0 || from > DIGITS_MAX - width {
        from -= 1;
        digits[from] = b'0' + (n % 10) as u8;
        n /= 10;
    }
    out.extend_from_slice(&digits[from..]);
}

/// DATE_FORMAT's conversion; `None` when a name of a zero month or day is asked for.
fn format_moment(t: DateTime, hours: u32, format: &[u8]) -> Option<Vec<u8>> {
    let d = t.date();
    let twelve = match hours % 12 {
        0 => 12,
        h => h,
    };
    let mut out = Vec::with_capacity(2 * format.len() + 8);
    let mut it = format.iter();
    while let Some(b) = it.next() {
        if *b != b'%' {
            out.push(*b);
            continue;
        }
        let Some(c) = it.next() else {
            out.push(b'%');
            break;
        };
        let half = if hours % 24 < 12 { "AM" } else { "PM" };
        match c {
            b'a' => out.extend_from_slice(&DAYS[named(d)?.weekday() as usize].as_bytes()[..3]),
            b'W' => out.extend_from_slice(DAYS[named(d)?.weekday() as usize].as_bytes()),
            b'b' | b'M' if d.month() == 0 => return None,
            b'b' => out.extend_from_slice(&MONTHS[d.month() as usize - 1].as_bytes()[..3]),
            b'M' => out.extend_from_slice(MONTHS[d.month() as usize - 1].as_bytes()),
            b'c' => put_digits(&mut out, d.month(), 1),
            b'm' => put_digits(&mut out, d.month(), 2),
            b'd' => put_digits(&mut out, d.day(), 2),
            b'e' => put_digits(&mut out, d.day(), 1),
            b'D' => {
                put_digits(&mut out, d.day(), 1);
                out.extend_from_slice(match (d.day() % 10, d.day() / 10) {
                    (_, 1) => b"th",
                    (1, _) => b"st",
                    (2, _) => b"nd",
                    (3, _) => b"rd",
                    _ => b"th",
                });
            }
            b'f' => put_digits(&mut out, t.micros(), 6),
            b'H' => put_digits(&mut out, hours, 2),
            b'k' => put_digits(&mut out, hours, 1),
            b'h' | b'I' => put_digits(&mut out, twelve, 2),
            b'l' => put_digits(&mut out, twelve, 1),
            b'i' => put_digits(&mut out, t.minute(), 2),
            b's' | b'S' => put_digits(&mut out, t.second(), 2),
            b'p' => out.extend_from_slice(half.as_bytes()),
            b'r' | b'T' => {
                put_digits(&mut out, if *c == b'r' { twelve } else { hours }, 2);
                for part in [t.minute(), t.second()] {
                    out.push(b':');
                    put_digits(&mut out, part, 2);
                }
                if *c == b'r' {
                    out.push(b' ');
                    out.extend_from_slice(half.as_bytes());
                }
            }
            b'j' => {
                let day = d.day_in_year();
                // A sign stands in the place of a digit.
                let digits = if day < 0 { 2 } else { 3 };
                out.extend((day < 0).then_some(b'-'));
                put_digits(&mut out, day.unsigned_abs(), digits);
            }
            b'w' => put_digits(&mut out, (named(d)?.weekday() + 1) % 7, 1),
            b'Y' => put_digits(&mut out, d.year(), 4),
            b'y' => put_digits(&mut out, d.year() % 100, 2),
            b'U' => put_digits(&mut out, d.week(0).1, 2),
            b'u' => put_digits(&mut out, d.week(1).1, 2),
            b'V' => put_digits(&mut out, d.week(2).1, 2),
            b'v' => put_digits(&mut out, d.week(3).1, 2),
            b'X' => put_digits(&mut out, d.week(2).0, 4),
            b'x' => put_digits(&mut out, d.week(3).0, 4),
            // The first byte of a character, whose others follow.
            other => out.push(*other),
        }
    }
    Some(out)
}

fn unix_timestamp<'a>(a: Args<'a>) -> Result<Value<'a>> {
    if a.is_empty() {
        return Ok(Value::Int(a.run.evaluation().now_us.div_euclid(1_000_000)));
    }
    let v = in_year(a.value(0)?, &a.args[0].ty);
    if v.is_null() {
        return Ok(Value::Null);
    }
    let zero = match a.ty.kind {
        TypeKind::Decimal => Value::Decimal(Decimal::ZERO.round(a.ty.decimals)),
        _ => Value::Int(0),
    };
    let Some(t) = convert::datetime(&v, a.run).filter(|t| real(t.date()).is_some()) else { return Ok(zero) };
    let seconds = convert::to_unix(t, a.run);
    if !(0..=TIMESTAMP_SECONDS_MAX).contains(&seconds) {
        return Ok(Value::Int(0));
    }
    if a.ty.kind != TypeKind::Decimal {
        return Ok(Value::Int(seconds));
    }
    let exact = Decimal::from_parts(false, seconds as u128 * 1_000_000 + t.micros() as u128, 6);
    Ok(Value::Decimal(exact.truncate(a.ty.decimals)))
}

/// 1292 for a number of seconds that MySQL cannot read. Is it one?
fn warn_too_many_seconds(v: &Value<'_>, a: &Args<'_>) -> bool {
    let too_many = match v {
        Value::Decimal(d) => d.abs() >= Decimal::from(SECONDS_TOO_MANY),
        Value::Double(d) => d.abs() >= SECONDS_TOO_MANY as f64,
        _ => false,
    };
    if too_many {
        a.run.push_warning(err!(ER_TRUNCATED_WRONG_VALUE, "DECIMAL", v.to_decimal()));
    }
    too_many
}

/// MySQL reads seconds of 18 digits.
const SECONDS_TOO_MANY: u64 = 1_000_000_000_000_000_000;

fn from_unixtime<'a>(a: Args<'a>) -> Result<Value<'a>> {
    let v = a.value(0)?;
    if v.is_null() {
        return Ok(Value::Null);
    }
    if warn_too_many_seconds(&v, &a) {
        return Ok(Value::Null);
    }
    if let Value::Bytes(text) = &v {
        match convert::is_made_text(&a.args[0]) {
            true => convert::warn_made_decimal(text, a.run),
            false => convert::warn_truncated_decimal(text, a.run),
        }
    }
    let seconds = v.to_decimal();
    let micros = seconds.checked_mul(Decimal::from_parts(false, 1_000_000, 0));
    let micros = match a.run.evaluation().sql_mode.has(SqlMode::TIME_TRUNCATE_FRACTIONAL) {
        true => micros.map(|d| d.truncate(0)),
        false => micros.map(|d| d.round(0)),
    };
    let Some(us) = micros.and_then(|d| d.to_i64().ok()) else { return Ok(Value::Null) };
    if seconds.is_negative() || !(0..=32_536_771_199_999_999).contains(&us) {
        return Ok(Value::Null);
    }
    let t = convert::local_time(a.run, us, 6);
    if a.len() == 1 {
        return Ok(Value::DateTime(t));
    }
    let Some(format) = a.text(1)? else { return Ok(Value::Null) };
    Ok(format_moment(t, t.hour(), &format).map_or(Value::Null, bytes))
}
