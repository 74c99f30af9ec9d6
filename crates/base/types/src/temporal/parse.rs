//! Reading of temporal literals, strings and numbers, as liberal as MySQL: any punctuation between fields, two-digit
//! years, no delimiters at all, fractions of a second of any length, time zone offsets.

use super::{Date, DateTime, Interval, MICROS_PER_SECOND, Time};
use crate::SqlMode;
use crate::error::codes::*;
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
    /// The first delimiter that MySQL means to refuse one day.
    pub delimiter: Option<Delimiter>,
}

/// A delimiter that is not the standard one, or that need not be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delimiter {
    pub byte: u8,
    /// In bytes, from the text's start.
    pub position: usize,
    /// What should stand there; `None`: nothing.
    pub preferred: Option<u8>,
}

impl Delimiter {
    /// MySQL's warning, 4095 or 4096, of the value `text` in a row.
    pub fn warning(&self, text: &[u8], row: u64) -> (u16, String) {
        let shown = |b: u8| match b {
            b'\t' => "\\t".to_string(),
            b'\n' => "\\n".to_string(),
            b'\r' => "\\r".to_string(),
            b => (b as char).to_string(),
        };
        let start = format!(
            "Delimiter '{}' in position {} in datetime value '{}' at row {row} is ",
            shown(self.byte),
            self.position,
            String::from_utf8_lossy(text)
        );
        match self.preferred {
            Some(b) => (
                ER_WARN_DEPRECATED_DATETIME_DELIMITER,
                format!("{start}deprecated. Prefer the standard '{}'.", shown(b)),
            ),
            None => (
                ER_WARN_DEPRECATED_SUPERFLUOUS_DELIMITER,
                format!("{start}superfluous and is deprecated. Please remove."),
            ),
        }
    }
}

/// The deprecated delimiter of a text that is read as a time or as a date.
pub fn delimiter_of(text: &[u8], is_time: bool, mode: SqlMode) -> Option<Delimiter> {
    if is_time {
        return parse_time(text, mode)?.delimiter;
    }
    if has_standard_form(text) { None } else { parse_datetime(text, mode)?.delimiter }
}

/// Digits alone, or those of `2000-01-31 12:34:56.789`, of which the time may be missing.
fn has_standard_form(text: &[u8]) -> bool {
    const FORM: &[u8] = b"0000-00-00 00:00:00.";
    let (form, fraction) = text.split_at(text.len().min(FORM.len()));
    let fits = |(b, f): (&u8, &u8)| if f.is_ascii_digit() { b.is_ascii_digit() } else { b == f };
    let is_whole = matches!(form.len(), 10 | 19) || form.len() == FORM.len();
    text.iter().all(u8::is_ascii_digit)
        || is_whole && form.iter().zip(FORM).all(fits) && fraction.iter().all(u8::is_ascii_digit)
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

    /// All digits ahead as a number; `None` above 32 bits, which no field of a time is.
    fn whole(&mut self) -> Option<u64> {
        let n = self.digits_ahead();
        let digits = &self.text[self.at..self.at + n];
        let value = digits.iter().fold(0u64, |v, b| v.saturating_mul(10).saturating_add((b - b'0') as u64));
        self.at += n;
        (value <= u32::MAX as u64).then_some(value)
    }

    fn at_colon(&self) -> bool {
        matches!(&self.text[self.at..], [b':', b'0'..=b'9', ..])
    }

    /// `:mm:ss` behind the hours, as much as there is.
    fn clock(&mut self, fields: &mut [u64; 3]) -> Option<()> {
        for field in &mut fields[1..] {
            if !self.at_colon() {
                break;
            }
            self.at += 1;
            *field = self.whole()?;
        }
        Some(())
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
    read_datetime(text, mode, false).ok()
}

/// Why a text is no DATETIME.
enum Failure {
    /// It does not have the form of one.
    Form,
    /// It has, but its numbers are none of the calendar's or the clock's.
    Numbers,
}

/// The seven fields of a text: year, month, day, hour, minute, second, fraction.
const FIELDS: usize = 7;
const DAY: usize = 2;
const SECOND: usize = 5;
const FRACTION: usize = 6;
const CUTS: SqlMode = SqlMode::TIME_TRUNCATE_FRACTIONAL;
/// A field of more is none of a date, whatever it is.
const FIELD_MAX: u32 = 999_999;

struct Fields {
    numbers: [u32; FIELDS],
    digits: [usize; FIELDS],
    found: usize,
    has_delimiter: bool,
    has_blank: bool,
    deprecated: Option<Delimiter>,
}

impl Fields {
    fn deprecate(&mut self, c: &Cursor<'_>, at: usize, preferred: Option<u8>) {
        self.deprecated.get_or_insert(Delimiter { byte: c.text[at], position: at, preferred });
    }

    /// Skips what stands behind field `i`, which is not the last thing of the text.
    fn skip_delimiters(&mut self, c: &mut Cursor<'_>, i: usize, plain: bool) -> Result<(), Failure> {
        let standard = [b'-', b'-', b' ', b':', b':', 0, 0][i];
        let from = c.at;
        while let Some(b) = c.peek().filter(|b| b.is_ascii_punctuation() || is_blank(*b)) {
            if is_blank(b) {
                if i != DAY && i != FRACTION {
                    return Err(Failure::Form);
                }
                self.has_blank = true;
            }
            if c.at > from || i == FRACTION {
                self.deprecate(c, c.at, None);
            } else if b != standard && !(plain && i == DAY) {
                self.deprecate(c, c.at, Some(standard));
            }
            c.at += 1;
            self.has_delimiter = true;
        }
        // A blank that leads nowhere.
        if c.at > from && c.peek().is_none() && is_blank(c.text[c.at - 1]) {
            self.deprecate(c, c.at - 1, None);
        }
        Ok(())
    }
}

/// The fields up to the first that is none. `plain`: digits alone, `year_digits` of them for the year and two for others.
fn read_fields(c: &mut Cursor<'_>, plain: bool, year_digits: usize) -> Result<Fields, Failure> {
    let mut f = Fields {
        numbers: [0; FIELDS],
        digits: [0; FIELDS],
        found: 0,
        has_delimiter: false,
        has_blank: false,
        deprecated: None,
    };
    if c.at > 0 {
        f.deprecate(c, 0, None);
    }
    while f.found < FIELDS && c.digits_ahead() > 0 {
        let i = f.found;
        let most = match i {
            FRACTION => 6,
            _ if !plain => usize::MAX,
            0 => year_digits,
            _ => 2,
        };
        let (number, digits) = c.number(most);
        if number > FIELD_MAX {
            return Err(Failure::Form);
        }
        (f.numbers[i], f.digits[i]) = (number, digits);
        f.found += 1;
        match (i, c.peek()) {
            (_, None) => break,
            (DAY, Some(b'T')) => c.at += 1,
            (SECOND, Some(b'.')) => c.at += 1,
            (SECOND, _) => break,
            (FRACTION, Some(b'+' | b'-')) => break,
            (FRACTION, Some(b)) if b.is_ascii_digit() => break,
            _ => f.skip_delimiters(c, i, plain)?,
        }
    }
    Ok(f)
}

/// As [`parse_datetime`]. `in_time`: where a TIME is wanted a date must be followed by a blank, or be nothing but digits.
fn read_datetime(text: &[u8], mode: SqlMode, in_time: bool) -> Result<Parsed<DateTime>, Failure> {
    let mut c = Cursor { text, at: 0 };
    c.skip(is_blank);
    let start = c.at;
    if c.digits_ahead() == 0 {
        return Err(Failure::Form);
    }
    let run = c.skip(|b| b.is_ascii_digit() || b == b'T');
    // YYMMDD, YYYYMMDD, YYMMDDhhmmss, YYYYMMDDhhmmss, and shorter forms.
    let plain = matches!(c.peek(), None | Some(b'.'));
    let year_digits = if run == 4 || run == 8 || run >= 14 { 4 } else { 2 };
    c.at = start;
    let mut fields = read_fields(&mut c, plain, year_digits)?;
    if in_time && fields.has_delimiter && !fields.has_blank {
        return Err(Failure::Form);
    }
    let cut = mode.has(SqlMode::TIME_TRUNCATE_FRACTIONAL);
    let fsp = fields.digits[FRACTION] as u8;
    let rounds_up = fsp == 6 && !cut && c.peek().is_some_and(|b| (b'5'..=b'9').contains(&b));
    if fsp == 6 {
        c.skip(|b| b.is_ascii_digit());
    }
    let displaced = fields.found > SECOND && matches!(c.peek(), Some(b'+' | b'-'));
    let offset = if displaced { zone_offset(&mut c).ok_or(Failure::Form)? } else { 0 };

    let [mut year, month, day, hour, minute, second, fraction] = fields.numbers;
    let is_zero = fields.numbers.iter().all(|n| *n == 0);
    let year_digits = if plain { year_digits } else { fields.digits[0] };
    if year_digits == 2 && !is_zero {
        year = if year < 100 { full_year(year) } else { year };
    }
    let micros = fraction * 10u32.pow(6 - fsp as u32);
    let in_range = month <= 12 && day <= 31 && hour <= 23 && minute <= 59 && second <= 59 && year <= 9999;
    if fields.found < 3 || !in_range {
        return Err(Failure::Numbers);
    }
    let date = Date::new(year, month, day);
    // A zero date with a time of day is no zero date.
    let has_zeros = date.is_zero() && !is_zero;
    let is_allowed = if has_zeros { !mode.has(SqlMode::NO_ZERO_IN_DATE) } else { date.is_allowed(mode) };
    if !is_allowed {
        return Err(Failure::Numbers);
    }
    let mut value = DateTime::new(date, hour, minute, second, micros);
    if rounds_up {
        value = match micros {
            // There is no next second of a day that is none.
            999_999 if month == 0 || day == 0 => return Err(Failure::Numbers),
            999_999 => value.add_micros(1).ok_or(Failure::Numbers)?,
            _ => DateTime::new(date, hour, minute, second, micros + 1),
        };
    }
    if offset != 0 {
        let interval = Interval { months: 0, micros: -(offset as i128) * MICROS_PER_SECOND as i128 };
        value = value.add(interval).ok_or(Failure::Numbers)?;
    }
    let blank = c.at;
    if c.skip(is_blank) > 0 {
        fields.deprecate(&c, blank, None);
    }
    let problem = if c.at < text.len() { Problem::Truncated } else { Problem::None };
    let delimiter = fields.deprecated;
    Ok(Parsed { value, fsp, has_time: fields.found > 3, zoned: displaced, problem, delimiter })
}

/// `+hh:mm` or `-hh:mm` in seconds, and nothing behind it, at most 14 hours. The value then is in UTC.
fn zone_offset(c: &mut Cursor<'_>) -> Option<i64> {
    const MOST: i64 = 14 * 3600;
    let [sign, h1, h2, b':', m1, m2] = *c.text[c.at..].first_chunk::<6>().filter(|_| c.text.len() - c.at == 6)? else {
        return None;
    };
    if ![h1, h2, m1, m2].iter().all(u8::is_ascii_digit) {
        return None;
    }
    let number = |a: u8, b: u8| ((a - b'0') * 10 + (b - b'0')) as i64;
    let (hours, minutes) = (number(h1, h2), number(m1, m2));
    let seconds = hours * 3600 + minutes * 60;
    if minutes > 59 || seconds > MOST {
        return None;
    }
    c.at += 6;
    Some(if sign == b'-' { -seconds } else { seconds })
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
    Some(Parsed {
        value,
        fsp: if micros > 0 { 6 } else { 0 },
        has_time,
        zoned: false,
        problem: Problem::None,
        delimiter: None,
    })
}

/// Is a text a date with its time of day, where a TIME is wanted?
pub fn is_dated(text: &[u8]) -> bool {
    read_datetime(text, SqlMode::ALLOW_INVALID_DATES, true).is_ok_and(|p| p.has_time)
}

/// Where a text may be a whole DATETIME although a TIME is wanted.
const DATETIME_LENGTH_MIN: usize = 12;

/// A TIME literal: `[-][D ]hh:mm[:ss[.f]]`, `[-]hhmmss[.f]`, or a whole DATETIME whose date is dropped.
/// `None`: not a time at all.
pub fn parse_time(text: &[u8], mode: SqlMode) -> Option<Parsed<Time>> {
    let mut c = Cursor { text, at: 0 };
    let mut delimiter = None;
    let mut deprecate = |at: usize| {
        delimiter.get_or_insert(Delimiter { byte: text[at], position: at, preferred: None });
    };
    if c.skip(is_blank) > 0 {
        deprecate(0);
    }
    let negative = c.peek() == Some(b'-');
    c.at += negative as usize;
    let start = c.at;
    c.peek()?;
    if text.len() - start >= DATETIME_LENGTH_MIN {
        match read_datetime(&text[start..], SqlMode(SqlMode::ALLOW_INVALID_DATES.0 | mode.0 & CUTS.0), true) {
            Ok(p) if !negative && p.has_time => {
                let Parsed { fsp, has_time, zoned, problem, .. } = p;
                let delimiter = p.delimiter.map(|d| Delimiter { position: d.position + start, ..d });
                return Some(Parsed { value: p.value.time(), fsp, has_time, zoned, problem, delimiter });
            }
            Ok(_) | Err(Failure::Numbers) => return None,
            Err(Failure::Form) => {}
        }
    }
    let first = c.whole()?;
    let blank = c.at;
    let blanks = c.skip(is_blank);
    let goes_on = c.digits_ahead() > 0;
    if blanks > 1 || blanks == 1 && c.peek().is_none() {
        deprecate(blank);
    }
    // hours, minutes, seconds
    let mut fields = [0u64; 3];
    let mut days = 0;
    if blanks > 0 && goes_on && text.len() - c.at > 1 {
        days = first;
        fields[0] = c.whole()?;
        c.clock(&mut fields)?;
    } else if c.at_colon() {
        fields[0] = first;
        c.clock(&mut fields)?;
    } else {
        fields = [first / 10_000, first / 100 % 100, first % 100];
    }
    let (mut micros, mut fsp) = (0, 0);
    match &text[c.at..] {
        [b'.', b'0'..=b'9', ..] => {
            c.at += 1;
            (micros, fsp) = c.fraction(mode.has(CUTS));
        }
        [b'.'] => c.at += 1,
        _ => {}
    }
    // As a double is written.
    if matches!(&text[c.at..], [b'e' | b'E', b'0'..=b'9', ..] | [b'e' | b'E', b'+' | b'-', b'0'..=b'9', ..]) {
        return None;
    }
    let [hours, minutes, seconds] = fields;
    if minutes > 59 || seconds > 59 || c.at == start && c.at < text.len() {
        return None;
    }
    let blank = c.at;
    if c.skip(is_blank) > 0 {
        deprecate(blank);
    }
    let hours = hours.saturating_add(days.saturating_mul(24));
    let total = (hours.min(10_000) as i64 * 3600 + (minutes * 60 + seconds) as i64) * MICROS_PER_SECOND + micros as i64;
    let problem = match (total > Time::MAX.0, c.at < text.len()) {
        (true, _) => Problem::OutOfRange,
        (false, true) => Problem::Truncated,
        (false, false) => Problem::None,
    };
    let total = total.min(Time::MAX.0);
    let value = Time(if negative { -total } else { total });
    Some(Parsed { value, fsp, has_time: true, zoned: false, problem, delimiter })
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
                delimiter: None,
            });
        }
        let value = if number < 0 { Time::MIN } else { Time::MAX };
        return Some(Parsed {
            value,
            fsp: 0,
            has_time: true,
            zoned: false,
            problem: Problem::OutOfRange,
            delimiter: None,
        });
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
        delimiter: None,
    })
}
