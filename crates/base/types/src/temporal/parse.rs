//! Reading of temporal literals, strings and numbers, as liberal as MySQL: any punctuation between fields, two-digit
//! years, no delimiters at all, fractions of a second of any length, time zone offsets.

use super::{Date, DateTime, Interval, MICROS_PER_SECOND, Time};
use crate::SqlMode;
use crate::number::is_blank;

/// What is wrong with a literal that was read all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Problem {
    /// Nothing.
    None,
    /// Junk behind the value was left out (MySQL 1292 as a warning, "Truncated").
    Truncated,
    /// The value was cut to the type's range (TIME).
    OutOfRange,
}

/// A literal that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parsed<T> {
    pub value: T,
    /// Digits of the second in the text, 0..=6.
    pub fsp: u8,
    /// Whether the text had a time of day.
    pub has_time: bool,
    /// The text named its distance from UTC, and the value is in UTC: it is still to be brought to the session's zone.
    pub zoned: bool,
    pub problem: Problem,
}

/// Two-digit years: 70..=99 are 19xx, 00..=69 are 20xx.
pub const fn full_year(year: u32) -> u32 {
    if year < 70 { year + 2000 } else { year + 1900 }
}

struct Cursor<'t> {
    text: &'t [u8],
    at: usize,
}

impl Cursor<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn skip(&mut self, wanted: impl Fn(u8) -> bool) -> usize {
        let from = self.at;
        while self.peek().is_some_and(&wanted) {
            self.at += 1;
        }
        self.at - from
    }

    fn digits_ahead(&self) -> usize {
        self.text[self.at..].iter().take_while(|b| b.is_ascii_digit()).count()
    }

    /// A number of at most `most` digits, and how many it had.
    fn number(&mut self, most: usize) -> (u32, usize) {
        let n = self.digits_ahead().min(most);
        let digits = &self.text[self.at..self.at + n];
        let value = digits.iter().fold(0u32, |v, b| v.saturating_mul(10).saturating_add((b - b'0') as u32));
        self.at += n;
        (value, n)
    }

    /// Behind a point: microseconds rounded from all digits (1,000,000 after rounding up) or cut, and digits up to 6.
    fn fraction(&mut self, cut: bool) -> (u32, u8) {
        let (value, n) = self.number(6);
        let mut micros = value * 10u32.pow(6 - n as u32);
        if !cut && self.peek().is_some_and(|b| (b'5'..=b'9').contains(&b)) {
            micros += 1;
        }
        self.skip(|b| b.is_ascii_digit());
        (micros, n as u8)
    }
}

/// A DATE, DATETIME or TIMESTAMP literal. `None`: no such value (MySQL 1292 "Incorrect datetime value"). `mode` decides
/// about zeros and days that their month lacks.
pub fn parse_datetime(text: &[u8], mode: SqlMode) -> Option<Parsed<DateTime>> {
    let mut c = Cursor { text, at: 0 };
    c.skip(is_blank);
    let run = c.digits_ahead();
    if run == 0 {
        return None;
    }
    let after_run = c.text.get(c.at + run).copied();
    let bare = matches!(after_run, None | Some(b'.' | b'T')) || (run >= 6 && after_run.is_some_and(is_blank));
    // [year, month, day, hour, minute, second]
    let mut fields = [0u32; 6];
    let mut found = 0;
    let year_digits;
    if bare && (run != 4 || after_run.is_none()) {
        // YYMMDD, YYYYMMDD, YYMMDDhhmmss, YYYYMMDDhhmmss, and shorter forms.
        year_digits = if run == 4 || run == 8 || run >= 14 { 4 } else { 2 };
        let end = c.at + run;
        fields[0] = c.number(year_digits).0;
        found = 1;
        while found < 6 && c.at < end {
            fields[found] = c.number(2).0;
            found += 1;
        }
        if c.peek() == Some(b'T') || (found <= 3 && c.peek().is_some_and(is_blank)) {
            let separator = c.at;
            c.at += 1;
            c.skip(is_blank);
            if c.digits_ahead() == 0 {
                c.at = separator;
            }
            while (3..6).contains(&found) && c.digits_ahead() > 0 {
                fields[found] = c.number(2).0;
                found += 1;
                if c.peek() == Some(b':') {
                    c.at += 1;
                }
            }
        }
    } else {
        let mut digits = 0;
        while found < 6 {
            let (value, n) = c.number(usize::MAX);
            if n == 0 {
                break;
            }
            if found == 0 {
                digits = n;
            }
            fields[found] = value;
            found += 1;
            if found == 6 {
                break;
            }
            let before = c.at;
            if found == 3 && c.peek() == Some(b'T') {
                c.at += 1;
            } else {
                let blank = if found == 3 { c.skip(is_blank) } else { 0 };
                let punctuation = c.skip(|b| b.is_ascii_punctuation());
                if found == 3 && blank == 0 && punctuation == 0 {
                    break;
                }
                if found == 3 {
                    c.skip(is_blank);
                }
            }
            if c.digits_ahead() == 0 {
                c.at = before;
                break;
            }
        }
        year_digits = digits;
    }
    if found < 3 {
        return None;
    }
    if year_digits == 2 && fields.iter().any(|f| *f != 0) {
        fields[0] = if fields[0] < 100 { full_year(fields[0]) } else { fields[0] };
    }
    let has_time = found > 3;
    let (mut micros, mut fsp) = (0, 0);
    if c.peek() == Some(b'.') && found == 6 {
        c.at += 1;
        (micros, fsp) = c.fraction(mode.has(SqlMode::TIME_TRUNCATE_FRACTIONAL));
    } else if c.peek() == Some(b'.') && has_time {
        c.at += 1;
    }
    let [year, month, day, hour, minute, second] = fields;
    if month > 12 || day > 31 || hour > 23 || minute > 59 || second > 59 || year > 9999 {
        return None;
    }
    let date = Date::new(year, month, day);
    let clock_only = date.is_zero() && (hour | minute | second) != 0;
    if !clock_only && !date.is_allowed(mode) {
        return None;
    }
    let mut value = DateTime::new(date, hour, minute, second, micros.min(999_999));
    if micros == 1_000_000 {
        value = DateTime(value.0 & !0xFF_FFFF).add_micros(MICROS_PER_SECOND)?;
    }
    let mut problem = Problem::None;
    let mut zoned = false;
    if has_time && let Some(offset) = zone_offset(&mut c) {
        zoned = true;
        if offset.abs() > 14 * 3600 {
            return None;
        }
        value = value.add(Interval { months: 0, micros: -(offset as i128) * MICROS_PER_SECOND as i128 })?;
    }
    c.skip(is_blank);
    if c.at < text.len() {
        problem = Problem::Truncated;
    }
    Some(Parsed { value, fsp, has_time, zoned, problem })
}

/// `+hh:mm` or `-hh:mm` in seconds; beyond 14 hours it is no offset that MySQL takes. The value then is in UTC.
fn zone_offset(c: &mut Cursor<'_>) -> Option<i64> {
    let rest = &c.text[c.at..];
    let (sign, rest) = match rest.split_first()? {
        (b'+', rest) => (1, rest),
        (b'-', rest) => (-1, rest),
        _ => return None,
    };
    let [h1, h2, b':', m1, m2] = *rest.first_chunk::<5>()? else { return None };
    if ![h1, h2, m1, m2].iter().all(u8::is_ascii_digit) {
        return None;
    }
    let number = |a: u8, b: u8| ((a - b'0') * 10 + (b - b'0')) as i64;
    let (hours, minutes) = (number(h1, h2), number(m1, m2));
    if minutes > 59 {
        return None;
    }
    c.at += 6;
    Some(sign * (hours * 3600 + minutes * 60))
}

/// A number as a date: YYMMDD, YYYYMMDD, YYMMDDhhmmss or YYYYMMDDhhmmss. `None`: no such date.
pub fn datetime_from_number(number: i64, micros: u32, mode: SqlMode) -> Option<Parsed<DateTime>> {
    const SECONDS: i64 = 1_000_000;
    let has_time = number > 99_991_231;
    let full = match number {
        0 => 0,
        101..=691_231 => (number + 20_000_000) * SECONDS,
        700_101..=991_231 => (number + 19_000_000) * SECONDS,
        1_000_101..=99_991_231 => number * SECONDS,
        101_000_000..=691_231_235_959 => number + 20_000_000_000_000,
        700_101_000_000..=991_231_235_959 => number + 19_000_000_000_000,
        10_000_101_000_000.. => number,
        _ => return None,
    };
    let (date, time) = (full / SECONDS, full % SECONDS);
    let (year, month, day) = ((date / 10_000) as u64, (date / 100 % 100) as u32, (date % 100) as u32);
    let (hour, minute, second) = ((time / 10_000) as u32, (time / 100 % 100) as u32, (time % 100) as u32);
    if year > 9999 || month > 12 || day > 31 || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let date = Date::new(year as u32, month, day);
    if !date.is_allowed(mode) {
        return None;
    }
    let value = DateTime::new(date, hour, minute, second, micros);
    Some(Parsed { value, fsp: if micros > 0 { 6 } else { 0 }, has_time, zoned: false, problem: Problem::None })
}

/// A TIME literal: `[-][D ]hh:mm[:ss[.f]]`, `[-]hhmmss[.f]`, or a whole DATETIME whose date is dropped.
/// `None`: not a time at all.
pub fn parse_time(text: &[u8]) -> Option<Parsed<Time>> {
    let mut c = Cursor { text, at: 0 };
    c.skip(is_blank);
    let negative = c.peek() == Some(b'-');
    c.at += negative as usize;
    let start = c.at;
    if c.digits_ahead() == 0 && c.peek() != Some(b'.') {
        return None;
    }
    // A whole DATETIME has 12 digits in a row, or something that ends its date before the first colon.
    let mut head = text[start..].iter().take_while(|b| **b != b':');
    let dated = head.any(|b| is_blank(*b) || matches!(b, b'T' | b'-' | b'/')) || c.digits_ahead() >= 12;
    if !negative
        && dated
        && text.len() - start >= 12
        && let Some(parsed) = parse_datetime(text, SqlMode::NONE)
        && parsed.has_time
    {
        return Some(Parsed {
            value: parsed.value.time(),
            fsp: parsed.fsp,
            has_time: true,
            zoned: false,
            problem: parsed.problem,
        });
    }
    let big = |c: &mut Cursor<'_>| -> u64 {
        let n = c.digits_ahead();
        let value =
            c.text[c.at..c.at + n].iter().fold(0u64, |v, b| v.saturating_mul(10).saturating_add((b - b'0') as u64));
        c.at += n;
        value
    };
    let (mut hours, mut minutes, mut seconds) = (0u64, 0u64, 0u64);
    let mut days = 0u64;
    let first = big(&mut c);
    let mut clock = |c: &mut Cursor<'_>, head: u64| {
        hours = head;
        if c.peek() == Some(b':') && c.text.get(c.at + 1).is_some_and(u8::is_ascii_digit) {
            c.at += 1;
            minutes = big(c);
            if c.peek() == Some(b':') && c.text.get(c.at + 1).is_some_and(u8::is_ascii_digit) {
                c.at += 1;
                seconds = big(c);
            }
        }
    };
    match c.peek() {
        Some(b) if is_blank(b) => {
            c.skip(is_blank);
            if c.digits_ahead() > 0 {
                days = first;
                let head = big(&mut c);
                clock(&mut c, head);
            } else {
                (hours, minutes, seconds) = (first / 10_000, first / 100 % 100, first % 100);
            }
        }
        Some(b':') if c.text.get(c.at + 1).is_some_and(u8::is_ascii_digit) => clock(&mut c, first),
        _ => (hours, minutes, seconds) = (first / 10_000, first / 100 % 100, first % 100),
    }
    let (mut micros, mut fsp) = (0, 0);
    if c.peek() == Some(b'.') {
        c.at += 1;
        (micros, fsp) = c.fraction(false);
    }
    if minutes > 59 || seconds > 59 {
        return None;
    }
    c.skip(is_blank);
    let junk = c.at < text.len();
    let hours = hours.saturating_add(days.saturating_mul(24));
    let total = (hours.min(10_000) as i64 * 3600 + (minutes * 60 + seconds) as i64) * MICROS_PER_SECOND + micros as i64;
    let problem = match (total > Time::MAX.0, junk) {
        (true, _) => Problem::OutOfRange,
        (false, true) => Problem::Truncated,
        (false, false) => Problem::None,
    };
    let total = total.min(Time::MAX.0);
    let value = Time(if negative { -total } else { total });
    Some(Parsed { value, fsp, has_time: true, zoned: false, problem })
}

/// A number as a time: [-]hhmmss; from 10,000,000,000 on a DATETIME whose date is dropped. `None`: no such time.
pub fn time_from_number(number: i64, micros: u32) -> Option<Parsed<Time>> {
    let magnitude = number.unsigned_abs();
    if magnitude > 8_385_959 {
        if number >= 10_000_000_000 {
            let parsed = datetime_from_number(number, micros, SqlMode::NONE)?;
            return Some(Parsed {
                value: parsed.value.time(),
                fsp: parsed.fsp,
                has_time: true,
                zoned: false,
                problem: Problem::None,
            });
        }
        let value = if number < 0 { Time::MIN } else { Time::MAX };
        return Some(Parsed { value, fsp: 0, has_time: true, zoned: false, problem: Problem::OutOfRange });
    }
    let (hours, minutes, seconds) = (magnitude / 10_000, magnitude / 100 % 100, magnitude % 100);
    if minutes > 59 || seconds > 59 {
        return None;
    }
    let value = Time::new(number < 0, hours as u32, minutes as u32, seconds as u32, micros);
    Some(Parsed {
        value: Time(value.0.clamp(Time::MIN.0, Time::MAX.0)),
        fsp: if micros > 0 { 6 } else { 0 },
        has_time: true,
        zoned: false,
        problem: Problem::None,
    })
}
