//! The proleptic Gregorian calendar: day numbers, weeks, intervals.

use super::{Date, DateTime, MICROS_PER_DAY, MICROS_PER_SECOND, Time};

/// TO_DAYS('9999-12-31').
pub const DAYS_MAX: u32 = 3_652_424;
/// TO_DAYS('1970-01-01').
pub const DAYS_1970: u32 = 719_528;

pub const fn is_leap_year(year: u32) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) && year != 0
}

/// `month` is 1..=12. February of the year 0 has 28 days, as in MySQL.
pub const fn days_in_month(year: u32, month: u32) -> u32 {
    match month {
        2 => 28 + is_leap_year(year) as u32,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

impl Date {
    /// Day number as TO_DAYS(): 1 is 0000-01-01. Zero months and days count as MySQL counts them (a 0 for 0000-00-00).
    pub const fn to_days(self) -> u32 {
        let (year, month, day) = (self.year() as i32, self.month() as i32, self.day() as i32);
        if year == 0 && month == 0 {
            return 0;
        }
        // March-based months put the leap day at a year's end.
        let mut days = 365 * year + 31 * (month - 1) + day;
        let years = if month <= 2 {
            year - 1
        } else {
            days -= (month * 4 + 23) / 10;
            year
        };
        let total = days + years / 4 - (years / 100 + 1) * 3 / 4;
        if total < 0 { 0 } else { total as u32 }
    }

    /// The date of a day number; 0000-00-00 for numbers up to 365 and beyond 9999-12-31, as FROM_DAYS().
    pub fn from_days(days: u32) -> Date {
        if days <= 365 || days > DAYS_MAX { Date::ZERO } else { Date::of_day_number(days) }
    }

    /// The same of the year 0 too; `days`: 1 to [`DAYS_MAX`].
    fn of_day_number(days: u32) -> Date {
        // Estimate the year, correct by at most one.
        let mut year = (days as u64 * 400 / 146_097) as u32;
        while Date::new(year, 1, 1).to_days() > days {
            year -= 1;
        }
        while year < 9999 && Date::new(year + 1, 1, 1).to_days() <= days {
            year += 1;
        }
        let mut rest = days - Date::new(year, 1, 1).to_days();
        let mut month = 1;
        while rest >= days_in_month(year, month) {
            rest -= days_in_month(year, month);
            month += 1;
        }
        Date::new(year, month, rest + 1)
    }

    /// 0 is Monday, as WEEKDAY().
    pub const fn weekday(self) -> u32 {
        (self.to_days() + 5) % 7
    }

    /// 1..=366, as DAYOFYEAR(), and fewer for days of a zero month.
    pub const fn day_in_year(self) -> i32 {
        self.to_days() as i32 - Date::new(self.year(), 1, 1).to_days() as i32 + 1
    }

    /// 1..=366, as DAYOFYEAR().
    pub const fn day_of_year(self) -> u32 {
        self.day_in_year() as u32
    }

    /// The last day of the date's month; `None` for a zero month.
    pub const fn last_day(self) -> Option<Date> {
        match self.month() {
            0 => None,
            month => Some(Date::new(self.year(), month, days_in_month(self.year(), month))),
        }
    }

    /// (year, week) as WEEK(date, mode) and YEARWEEK(date, mode) need them. Mode bits: 1 weeks start on Monday, 2 weeks 1..53
    /// (else 0..53), 4 the first week is the one with the year's first weekday (else the first with 4 days or more; with bit 1
    /// the roles turn, as in MySQL's table of modes 0..7). Days of a zero month lie before the year begins: their weeks wrap, as
    /// MySQL's do, and so does the year before 0.
    pub fn week(self, mode: u32) -> (u32, u32) {
        let monday_first = mode & 1 != 0;
        let mut week_year = mode & 2 != 0;
        // Mode's third bit means "first weekday" for Monday weeks turned around.
        let first_weekday = (mode & 4 != 0) == monday_first;
        let days = self.to_days();
        let first_day = Date::new(self.year(), 1, 1).to_days();
        let mut weekday = (first_day + if monday_first { 5 } else { 6 }) % 7;
        let mut year = self.year();
        let mut first = first_day;
        if self.month() == 1 && self.day() <= 7 - weekday {
            if !week_year && ((first_weekday && weekday != 0) || (!first_weekday && weekday >= 4)) {
                return (year, 0);
            }
            week_year = true;
            year = year.wrapping_sub(1);
            let length = 365 + is_leap_year(year) as u32;
            first = first.wrapping_sub(length);
            weekday = (weekday + 53 * 7 - length) % 7;
        }
        let since = if (first_weekday && weekday != 0) || (!first_weekday && weekday >= 4) {
            days.wrapping_sub(first.wrapping_add(7 - weekday))
        } else {
            (days + weekday).wrapping_sub(first)
        };
        if week_year && since >= 52 * 7 {
            let weekday = (weekday + 365 + is_leap_year(year) as u32) % 7;
            if (!first_weekday && weekday < 4) || (first_weekday && weekday == 0) {
                return (year.wrapping_add(1), 1);
            }
        }
        (year, since / 7 + 1)
    }
}

/// Units of INTERVAL expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IntervalUnit {
    Year,
    Quarter,
    Month,
    Week,
    Day,
    Hour,
    Minute,
    Second,
    Microsecond,
    YearMonth,
    DayHour,
    DayMinute,
    DaySecond,
    HourMinute,
    HourSecond,
    MinuteSecond,
    DayMicrosecond,
    HourMicrosecond,
    MinuteMicrosecond,
    SecondMicrosecond,
}

impl IntervalUnit {
    /// Whether the result of adding it to a DATE stays a DATE.
    pub const fn is_date_part(self) -> bool {
        use IntervalUnit::*;
        matches!(self, Year | Quarter | Month | Week | Day | YearMonth)
    }

    /// How many numbers its text form has, and the unit of the last one.
    const fn fields(self) -> (usize, IntervalUnit) {
        use IntervalUnit::*;
        match self {
            YearMonth => (2, Month),
            DayHour => (2, Hour),
            DayMinute => (3, Minute),
            DaySecond => (4, Second),
            HourMinute => (2, Minute),
            HourSecond => (3, Second),
            MinuteSecond => (2, Second),
            DayMicrosecond => (5, Microsecond),
            HourMicrosecond => (4, Microsecond),
            MinuteMicrosecond => (3, Microsecond),
            SecondMicrosecond => (2, Microsecond),
            simple => (1, simple),
        }
    }
}

/// An amount of calendar time: months move by the calendar, microseconds (days included) by the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Interval {
    pub months: i64,
    pub micros: i128,
}

impl Interval {
    /// `amount` of a simple unit.
    pub fn new(unit: IntervalUnit, amount: i64) -> Interval {
        use IntervalUnit::*;
        let amount128 = amount as i128;
        let second = MICROS_PER_SECOND as i128;
        let (months, micros) = match unit {
            Year => (amount.saturating_mul(12), 0),
            Quarter => (amount.saturating_mul(3), 0),
            Month | YearMonth => (amount, 0),
            Week => (0, amount128 * 7 * MICROS_PER_DAY as i128),
            Day => (0, amount128 * MICROS_PER_DAY as i128),
            Hour | DayHour => (0, amount128 * 3600 * second),
            Minute | DayMinute | HourMinute => (0, amount128 * 60 * second),
            Second | DaySecond | HourSecond | MinuteSecond => (0, amount128 * second),
            Microsecond | DayMicrosecond | HourMicrosecond | MinuteMicrosecond | SecondMicrosecond => (0, amount128),
        };
        Interval { months, micros }
    }

    /// The text form of a composite unit: numbers with anything between them, a sign in front. Fewer numbers than the unit
    /// has are its last ones; a short fraction is one of microseconds from the left ('1.5' SECOND_MICROSECOND is half a second).
    /// `None`: there are more numbers than that.
    pub fn parse(unit: IntervalUnit, text: &[u8]) -> Option<Interval> {
        use IntervalUnit::*;
        let (count, last) = unit.fields();
        let start = text.iter().take_while(|b| crate::number::is_blank(**b)).count();
        let negative = text.get(start) == Some(&b'-');
        let mut values: [i64; 5] = [0; 5];
        let mut found = 0;
        let mut last_length = 0;
        let mut i = start + negative as usize;
        while i < text.len() && found < count {
            if !text[i].is_ascii_digit() {
                i += 1;
                continue;
            }
            let length = text[i..].iter().take_while(|b| b.is_ascii_digit()).count();
            values[found] =
                text[i..i + length].iter().fold(0i64, |v, b| v.saturating_mul(10).saturating_add((b - b'0') as i64));
            last_length = length;
            found += 1;
            i += length;
        }
        if text[i..].iter().any(u8::is_ascii_digit) {
            return None;
        }
        if last == Microsecond && count > 1 && found > 0 && last_length < 6 {
            values[found - 1] *= 10i64.pow(6 - last_length as u32);
        }
        let mut steps: [IntervalUnit; 5] = [Day, Hour, Minute, Second, Microsecond];
        if last == Month && count == 2 {
            steps[0] = Year;
            steps[1] = Month;
        }
        let position = if count == 1 { None } else { steps.iter().position(|s| *s == last) };
        let mut total = Interval::default();
        for (n, value) in values[..found].iter().enumerate() {
            let step = match position {
                None => last,
                Some(end) => steps[end + 1 + n - found],
            };
            let part = Interval::new(step, *value);
            total.months = total.months.saturating_add(part.months);
            total.micros += part.micros;
        }
        Some(if negative { total.neg() } else { total })
    }

    pub const fn neg(self) -> Interval {
        Interval { months: self.months.saturating_neg(), micros: -self.micros }
    }
}

impl DateTime {
    /// Microseconds since 0000-01-01 00:00:00 less one day, the clock that differences are taken on.
    pub const fn to_micros(self) -> i64 {
        self.date().to_days() as i64 * MICROS_PER_DAY + self.time().0
    }

    /// The inverse of [`DateTime::to_micros`]; `None` outside the years 0 to 9999.
    pub fn from_micros(micros: i64) -> Option<DateTime> {
        let days = u32::try_from(micros.div_euclid(MICROS_PER_DAY)).ok()?;
        let date = (1..=DAYS_MAX).contains(&days).then(|| Date::of_day_number(days))?;
        let time = Time(micros.rem_euclid(MICROS_PER_DAY));
        Some(DateTime::new(date, time.hours(), time.minutes(), time.seconds(), time.micros()))
    }

    pub fn add_micros(self, micros: i64) -> Option<DateTime> {
        DateTime::from_micros(self.to_micros().checked_add(micros)?)
    }

    /// DATE_ADD; `None` (SQL NULL) when the result leaves the calendar. A day that the target month lacks becomes its last.
    #[expect(clippy::should_implement_trait, reason = "it answers None where the calendar ends")]
    pub fn add(self, interval: Interval) -> Option<DateTime> {
        let mut at = self;
        if interval.months != 0 {
            let date = at.date();
            let months = (date.year() as i64 * 12 + date.month() as i64 - 1).checked_add(interval.months)?;
            if !(0..120_000).contains(&months) {
                return None;
            }
            let (year, month) = ((months / 12) as u32, (months % 12) as u32 + 1);
            let moved = Date::new(year, month, date.day().min(days_in_month(year, month)));
            at = DateTime(moved.at_midnight().0 | at.0 & ((1 << 41) - 1));
        }
        if interval.micros == 0 {
            return Some(at);
        }
        at.add_micros(i64::try_from(interval.micros).ok()?)
    }

    /// Seconds since 1970-01-01 00:00:00, both in UTC.
    pub const fn to_unix_seconds(self) -> i64 {
        (self.date().to_days() as i64 - DAYS_1970 as i64) * 86_400 + self.time().0 / MICROS_PER_SECOND
    }

    pub fn from_unix(seconds: i64, micros: u32) -> Option<DateTime> {
        let clock = seconds.checked_add(DAYS_1970 as i64 * 86_400)?.checked_mul(MICROS_PER_SECOND)?;
        DateTime::from_micros(clock.checked_add(micros as i64)?)
    }
}
