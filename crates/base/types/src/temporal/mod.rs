//! Dates and times as MySQL knows them: zero dates, fractional seconds to the microsecond, TIME up to 838:59:59.
//!
//! The three types are integers whose order is that of time, so comparing and storing them costs nothing. Reading of
//! literals is in [`parse`], days and intervals in [`calendar`].

pub mod calendar;
pub mod parse;
pub mod record;

pub use calendar::{Interval, IntervalUnit};
pub use parse::Problem;

use crate::SqlMode;
use calendar::days_in_month;

pub const MICROS_PER_SECOND: i64 = 1_000_000;
pub const MICROS_PER_DAY: i64 = 86_400 * MICROS_PER_SECOND;

/// Year, month, day packed so that integer order is calendar order: `(year * 13 + month) << 5 | day`. Zero is 0000-00-00.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date(pub u32);

/// Microseconds since 00:00:00, negative before; at most 838:59:59.000000 either way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub i64);

/// MySQL's packed form: `((year * 13 + month) << 5 | day) << 17 | hour << 12 | minute << 6 | second`, then `<< 24 | microseconds`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DateTime(pub u64);

impl Date {
    pub const ZERO: Date = Date(0);

    /// Packs the parts as they are; they are in the ranges 0..=9999, 0..=12, 0..=31 and need not be a day of the calendar.
    #[inline]
    pub const fn new(year: u32, month: u32, day: u32) -> Date {
        debug_assert!(year <= 9999 && month <= 12 && day <= 31);
        Date((year * 13 + month) << 5 | day)
    }

    pub const fn year(self) -> u32 {
        (self.0 >> 5) / 13
    }

    pub const fn month(self) -> u32 {
        (self.0 >> 5) % 13
    }

    pub const fn day(self) -> u32 {
        self.0 & 31
    }

    /// 0000-00-00.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// Whether this is a date that the mode lets in: days exist in their month (unless ALLOW_INVALID_DATES), and zeros only
    /// where NO_ZERO_IN_DATE and NO_ZERO_DATE allow them.
    pub const fn is_allowed(self, mode: SqlMode) -> bool {
        if self.is_zero() {
            return !mode.has(SqlMode::NO_ZERO_DATE);
        }
        if self.month() == 0 || self.day() == 0 {
            return !mode.has(SqlMode::NO_ZERO_IN_DATE);
        }
        mode.has(SqlMode::ALLOW_INVALID_DATES) || self.day() <= days_in_month(self.year(), self.month())
    }

    /// Midnight.
    #[inline]
    pub const fn at_midnight(self) -> DateTime {
        DateTime((self.0 as u64) << 41)
    }

    /// YYYYMMDD.
    pub const fn to_number(self) -> u64 {
        self.year() as u64 * 10_000 + self.month() as u64 * 100 + self.day() as u64
    }

    /// Appends YYYY-MM-DD.
    pub fn write(self, out: &mut Vec<u8>) {
        let year = self.year();
        let (month, day) = (digits2(self.month()), digits2(self.day()));
        let (high, low) = (digits2(year / 100), digits2(year % 100));
        out.extend_from_slice(&[high[0], high[1], low[0], low[1], b'-', month[0], month[1], b'-', day[0], day[1]]);
    }
}

impl Time {
    /// 838:59:59.
    pub const MAX: Time = Time((838 * 3600 + 59 * 60 + 59) * MICROS_PER_SECOND);
    pub const MIN: Time = Time(-Time::MAX.0);

    /// `None` when out of range.
    pub const fn from_micros(micros: i64) -> Option<Time> {
        if micros.unsigned_abs() > Time::MAX.0 as u64 { None } else { Some(Time(micros)) }
    }

    pub const fn new(negative: bool, hours: u32, minutes: u32, seconds: u32, micros: u32) -> Time {
        let seconds = hours as i64 * 3600 + minutes as i64 * 60 + seconds as i64;
        let total = seconds * MICROS_PER_SECOND + micros as i64;
        Time(if negative { -total } else { total })
    }

    pub const fn is_negative(self) -> bool {
        self.0 < 0
    }

    /// Whole hours of the magnitude, up to 838.
    pub const fn hours(self) -> u32 {
        (self.0.unsigned_abs() / (3600 * MICROS_PER_SECOND as u64)) as u32
    }

    pub const fn minutes(self) -> u32 {
        (self.0.unsigned_abs() / (60 * MICROS_PER_SECOND as u64) % 60) as u32
    }

    pub const fn seconds(self) -> u32 {
        (self.0.unsigned_abs() / MICROS_PER_SECOND as u64 % 60) as u32
    }

    pub const fn micros(self) -> u32 {
        (self.0.unsigned_abs() % MICROS_PER_SECOND as u64) as u32
    }

    /// To `fsp` digits of the second, half away from zero, and not beyond the range; `truncate` cuts instead.
    pub fn round(self, fsp: u8, truncate: bool) -> Time {
        let magnitude = round_micros(self.0.unsigned_abs(), fsp, truncate) as i64;
        let rounded = if self.0 < 0 { -magnitude } else { magnitude };
        Time(rounded.clamp(Time::MIN.0, Time::MAX.0))
    }

    /// [-]HHMMSS.
    pub fn to_number(self) -> i64 {
        let n = self.hours() as i64 * 10_000 + self.minutes() as i64 * 100 + self.seconds() as i64;
        if self.0 < 0 { -n } else { n }
    }

    /// Appends [-]HH:MM:SS[.ffffff] with `fsp` digits of the second (cut, not rounded).
    pub fn write(self, fsp: u8, out: &mut Vec<u8>) {
        if self.0 < 0 {
            out.push(b'-');
        }
        let hours = self.hours();
        if hours >= 100 {
            out.push(b'0' + (hours / 100) as u8);
        }
        let (h, m, s) = (digits2(hours % 100), digits2(self.minutes()), digits2(self.seconds()));
        out.extend_from_slice(&[h[0], h[1], b':', m[0], m[1], b':', s[0], s[1]]);
        write_fraction(self.micros(), fsp, out);
    }
}

impl DateTime {
    pub const ZERO: DateTime = DateTime(0);

    #[inline]
    pub const fn new(date: Date, hour: u32, minute: u32, second: u32, micros: u32) -> DateTime {
        debug_assert!(hour < 24 && minute < 60 && second < 60 && micros < 1_000_000);
        let time = hour << 12 | minute << 6 | second;
        DateTime(((date.0 as u64) << 17 | time as u64) << 24 | micros as u64)
    }

    pub const fn date(self) -> Date {
        Date((self.0 >> 41) as u32)
    }

    pub const fn hour(self) -> u32 {
        (self.0 >> 36) as u32 & 31
    }

    pub const fn minute(self) -> u32 {
        (self.0 >> 30) as u32 & 63
    }

    pub const fn second(self) -> u32 {
        (self.0 >> 24) as u32 & 63
    }

    pub const fn micros(self) -> u32 {
        self.0 as u32 & 0xFF_FFFF
    }

    /// Time of day.
    pub const fn time(self) -> Time {
        Time::new(false, self.hour(), self.minute(), self.second(), self.micros())
    }

    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// To `fsp` digits of the second, half up; `truncate` cuts instead. `None` when that leaves the year 9999.
    pub fn round(self, fsp: u8, truncate: bool) -> Option<DateTime> {
        let micros = round_micros(self.micros() as u64, fsp, truncate) as u32;
        if micros < 1_000_000 {
            return Some(DateTime(self.0 & !0xFF_FFFF | micros as u64));
        }
        let whole = DateTime(self.0 & !0xFF_FFFF);
        if whole.date().month() == 0 || whole.date().day() == 0 {
            return Some(whole); // no calendar to carry into
        }
        whole.add_micros(MICROS_PER_SECOND)
    }

    /// YYYYMMDDHHMMSS.
    pub const fn to_number(self) -> u64 {
        self.date().to_number() * 1_000_000
            + self.hour() as u64 * 10_000
            + self.minute() as u64 * 100
            + self.second() as u64
    }

    /// Appends YYYY-MM-DD HH:MM:SS[.ffffff] with `fsp` digits of the second (cut, not rounded).
    pub fn write(self, fsp: u8, out: &mut Vec<u8>) {
        self.date().write(out);
        let (h, m, s) = (digits2(self.hour()), digits2(self.minute()), digits2(self.second()));
        out.extend_from_slice(&[b' ', h[0], h[1], b':', m[0], m[1], b':', s[0], s[1]]);
        write_fraction(self.micros(), fsp, out);
    }
}

#[inline]
fn digits2(v: u32) -> [u8; 2] {
    [b'0' + (v / 10) as u8, b'0' + (v % 10) as u8]
}

fn write_fraction(micros: u32, fsp: u8, out: &mut Vec<u8>) {
    if fsp == 0 {
        return;
    }
    out.push(b'.');
    let mut unit = 100_000;
    for _ in 0..fsp.min(6) {
        out.push(b'0' + (micros / unit % 10) as u8);
        unit /= 10;
    }
}

fn round_micros(micros: u64, fsp: u8, truncate: bool) -> u64 {
    let unit = 10u64.pow(6 - fsp.min(6) as u32);
    let half = if truncate { 0 } else { unit / 2 };
    (micros + half) / unit * unit
}

#[cfg(test)]
mod tests;
