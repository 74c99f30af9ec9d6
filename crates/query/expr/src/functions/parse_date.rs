//! STR_TO_DATE: a text read by a format, and what kind of value a format gives.

use super::Value;
use crate::function::Args;
use types::codes::*;
use types::temporal::parse::full_year;
use types::{Date, DateTime, Result, SqlMode, Time, TypeKind, err};

pub(super) const DAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
pub(super) const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// What a format has: a date, a time of day, digits of the second.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Parts {
    pub date: bool,
    pub time: bool,
    pub micros: bool,
}

/// The parts that a format asks for.
pub fn parts_of(format: &[u8]) -> Parts {
    let mut parts = Parts { date: false, time: false, micros: false };
    let mut it = format.iter();
    while let Some(b) = it.next() {
        if *b != b'%' {
            continue;
        }
        match it.next() {
            Some(b'f') => (parts.time, parts.micros) = (true, true),
            Some(b'H' | b'I' | b'S' | b'T' | b'h' | b'i' | b'k' | b'l' | b'p' | b'r' | b's') => parts.time = true,
            Some(
                b'M' | b'V' | b'U' | b'X' | b'Y' | b'W' | b'a' | b'b' | b'c' | b'D' | b'd' | b'e' | b'j' | b'm' | b'u'
                | b'v' | b'w' | b'x' | b'y',
            ) => parts.date = true,
            _ => {}
        }
    }
    // A format of nothing is one of a date.
    parts.date |= !parts.time;
    parts
}

/// What a text has said so far: as many fields as there are kinds of directives.
#[derive(Default)]
struct Fields {
    year: u32,
    month: u32,
    day: u32,
    hour: u32,
    minute: u32,
    second: u32,
    micros: u32,
    /// Hours are of a twelve hour clock; after noon.
    twelve: bool,
    pm: bool,
    day_of_year: u32,
    /// 1 is Monday, 7 is Sunday.
    weekday: u32,
    week: Option<u32>,
    /// Of `%U %V`: weeks begin on Sunday.
    sunday_first: bool,
    /// Of `%V %v`: weeks 1..53 of the year that `%X %x` name.
    strict_week: bool,
    week_year: Option<u32>,
    week_year_sunday: bool,
}

struct Reader<'t> {
    text: &'t [u8],
    at: usize,
}

impl Reader<'_> {
    /// A number of at most so many digits.
    fn number(&mut self, most: usize) -> Option<u32> {
        let digits = self.text[self.at..].iter().take(most).take_while(|b| b.is_ascii_digit()).count();
        if digits == 0 {
            return None;
        }
        let text = &self.text[self.at..self.at + digits];
        self.at += digits;
        Some(text.iter().fold(0, |n, b| n * 10 + (b - b'0') as u32))
    }

    /// One of the names, in full or by its first three letters; its position.
    fn name(&mut self, names: &[&str], short: bool) -> Option<u32> {
        let rest = &self.text[self.at..];
        for (i, name) in names.iter().enumerate() {
            let name = if short { &name[..3] } else { name };
            if rest.len() >= name.len() && rest[..name.len()].eq_ignore_ascii_case(name.as_bytes()) {
                self.at += name.len();
                return Some(i as u32);
            }
        }
        None
    }

    fn blanks(&mut self) {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }

    fn skip(&mut self, test: fn(&u8) -> bool) {
        while self.text.get(self.at).is_some_and(test) {
            self.at += 1;
        }
    }
}

/// Reads `text` by `format`. `None`: it does not fit. The number is how many bytes were read.
fn read(text: &[u8], format: &[u8]) -> Option<(Fields, usize)> {
    let mut f = Fields::default();
    let mut r = Reader { text, at: 0 };
    read_into(&mut f, &mut r, format)?;
    if f.twelve {
        if !(1..=12).contains(&f.hour) {
            return None;
        }
        f.hour = f.hour % 12 + if f.pm { 12 } else { 0 };
    }
    Some((f, r.at))
}

fn read_into(f: &mut Fields, r: &mut Reader<'_>, format: &[u8]) -> Option<()> {
    let mut it = format.iter();
    while let Some(b) = it.next() {
        r.blanks();
        if r.at >= r.text.len() {
            break;
        }
        if *b != b'%' {
            if !b.is_ascii_whitespace() {
                if r.text[r.at] != *b {
                    return None;
                }
                r.at += 1;
            }
            continue;
        }
        let Some(c) = it.next() else { break };
        match c {
            b'Y' => {
                let start = r.at;
                let year = r.number(4)?;
                f.year = if r.at - start <= 2 { full_year(year) } else { year };
            }
            b'y' => f.year = full_year(r.number(2)?),
            b'm' | b'c' => f.month = r.number(2)?,
            b'M' => f.month = r.name(&MONTHS, false)? + 1,
            b'b' => f.month = r.name(&MONTHS, true)? + 1,
            b'd' | b'e' => f.day = r.number(2)?,
            b'D' => {
                f.day = r.number(2)?;
                r.at = (r.at + 2).min(r.text.len());
            }
            b'H' | b'k' => f.hour = r.number(2)?,
            b'h' | b'I' | b'l' => (f.twelve, f.hour) = (true, r.number(2)?),
            b'i' => f.minute = r.number(2)?,
            b's' | b'S' => f.second = r.number(2)?,
            b'f' => {
                let start = r.at;
                let n = r.number(6)?;
                f.micros = n * 10u32.pow(6 - (r.at - start) as u32);
            }
            b'p' => {
                let half = r.text.get(r.at..r.at + 2)?;
                match () {
                    _ if !f.twelve => return None,
                    _ if half.eq_ignore_ascii_case(b"PM") => f.pm = true,
                    _ if half.eq_ignore_ascii_case(b"AM") => {}
                    _ => return None,
                }
                r.at += 2;
            }
            b'W' => f.weekday = r.name(&DAYS, false)? + 1,
            b'a' => f.weekday = r.name(&DAYS, true)? + 1,
            b'w' => {
                let day = r.number(1)?;
                if day > 6 {
                    return None;
                }
                f.weekday = if day == 0 { 7 } else { day };
            }
            b'j' => f.day_of_year = r.number(3)?,
            b'U' | b'u' | b'V' | b'v' => {
                f.sunday_first = matches!(c, b'U' | b'V');
                f.strict_week = matches!(c, b'V' | b'v');
                let week = r.number(2)?;
                if week > 53 || f.strict_week && week == 0 {
                    return None;
                }
                f.week = Some(week);
            }
            b'X' | b'x' => {
                f.week_year_sunday = *c == b'X';
                f.week_year = Some(r.number(4)?);
            }
            b'r' => read_into(f, r, b"%I:%i:%S %p")?,
            b'T' => read_into(f, r, b"%H:%i:%S")?,
            b'.' => r.skip(u8::is_ascii_punctuation),
            b'@' => r.skip(u8::is_ascii_alphabetic),
            b'#' => r.skip(u8::is_ascii_digit),
            _ => return None,
        }
    }
    Some(())
}

/// The date of a weekday in a week.
fn date_of_week(f: &Fields, week: u32) -> Option<Date> {
    if f.weekday == 0 || f.strict_week && (f.week_year.is_none() || f.week_year_sunday != f.sunday_first) {
        return None;
    }
    if !f.strict_week && f.week_year.is_some() {
        return None;
    }
    let year = if f.strict_week { f.week_year? } else { f.year };
    let first = Date::new(year.min(9999), 1, 1);
    let (days, weekday) = (first.to_days() as i64, first.weekday() as i64);
    let days = if f.sunday_first {
        let base = if weekday == 6 { 0 } else { 7 } - (weekday + 1) % 7 * (weekday != 6) as i64;
        days + base + (week as i64 - 1) * 7 + (f.weekday % 7) as i64
    } else {
        let base = if weekday <= 3 { 0 } else { 7 } - weekday;
        days + base + (week as i64 - 1) * 7 + f.weekday as i64 - 1
    };
    let date = Date::from_days(u32::try_from(days).ok()?);
    (!date.is_zero()).then_some(date)
}

/// STR_TO_DATE. NULL with warning 1411 for a text that the format does not fit.
pub fn str_to_date<'a>(a: Args<'a>) -> Result<Value<'a>> {
    let (Some(text), Some(format)) = (a.text(0)?, a.text(1)?) else { return Ok(Value::Null) };
    let parts = parts_of(&format);
    let mode = a.run.evaluation().sql_mode;
    let value = read(&text, &format).and_then(|(f, used)| Some((value_of(&f, parts, mode)?, used)));
    // A time alone is one of the zero date where a moment is asked for.
    let is_let_in =
        |v: &Value<'_>| !matches!((v, a.ty.kind), (Value::Time(_), TypeKind::DateTime)) || Date::ZERO.is_allowed(mode);
    let value = value.filter(|(v, _)| is_let_in(v));
    let Some((value, used)) = value else {
        let text = String::from_utf8_lossy(&text).into_owned();
        a.run.push_warning(err!(ER_WRONG_VALUE_FOR_TYPE, "datetime", text, "str_to_date"));
        return Ok(Value::Null);
    };
    if text[used..].iter().any(|b| !b.is_ascii_whitespace()) {
        let shown = String::from_utf8_lossy(&text).into_owned();
        let what = match (parts.date, parts.time) {
            (true, true) => "datetime",
            (true, false) => "date",
            _ => "time",
        };
        a.run.push_warning(err!(ER_TRUNCATED_WRONG_VALUE, what, shown));
    }
    Ok(match (value, a.ty.kind) {
        // A format that is no constant may turn out to have a part only.
        (Value::Date(d), TypeKind::DateTime) => Value::DateTime(d.at_midnight()),
        (Value::Time(t), TypeKind::DateTime) => {
            Value::DateTime(DateTime::new(Date::ZERO, t.hours(), t.minutes(), t.seconds(), t.micros()))
        }
        (v, _) => v,
    })
}

fn value_of<'a>(f: &Fields, parts: Parts, mode: SqlMode) -> Option<Value<'a>> {
    let mut date = None;
    if f.day_of_year > 0 {
        let d = Date::from_days(Date::new(f.year, 1, 1).to_days() + f.day_of_year - 1);
        date = Some((!d.is_zero()).then_some(d)?);
    }
    if let (Some(week), true) = (f.week, f.weekday > 0) {
        date = Some(date_of_week(f, week)?);
    }
    if f.month > 12 || f.day > 31 || f.hour > 23 || f.minute > 59 || f.second > 59 || f.year > 9999 {
        return None;
    }
    let time = Time::new(false, f.hour, f.minute, f.second, f.micros);
    if !parts.date {
        return Some(Value::Time(time));
    }
    let date = date.unwrap_or(Date::new(f.year, f.month, f.day));
    if !date.is_allowed(mode) {
        return None;
    }
    Some(match parts.time {
        true => Value::DateTime(DateTime::new(date, f.hour, f.minute, f.second, f.micros)),
        false => Value::Date(date),
    })
}

/// GET_FORMAT's table: `None` for names that it lacks.
pub fn named_format(kind: sql::ast::TemporalKind, name: &[u8]) -> Option<&'static str> {
    use sql::ast::TemporalKind::{Date, DateTime, Time};
    let name = name.to_ascii_uppercase();
    Some(match (&name[..], kind) {
        (b"USA", Date) => "%m.%d.%Y",
        (b"JIS" | b"ISO", Date) => "%Y-%m-%d",
        (b"EUR", Date) => "%d.%m.%Y",
        (b"INTERNAL", Date) => "%Y%m%d",
        (b"USA" | b"EUR", DateTime) => "%Y-%m-%d %H.%i.%s",
        (b"JIS" | b"ISO", DateTime) => "%Y-%m-%d %H:%i:%s",
        (b"INTERNAL", DateTime) => "%Y%m%d%H%i%s",
        (b"USA", Time) => "%h:%i:%s %p",
        (b"JIS" | b"ISO", Time) => "%H:%i:%s",
        (b"EUR", Time) => "%H.%i.%s",
        (b"INTERNAL", Time) => "%H%i%s",
        _ => return None,
    })
}
