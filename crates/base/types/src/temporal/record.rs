//! Dates and times as bytes of MySQL's records, which row events of the binary log have too: most significant byte first, a
//! fraction of a second in as many bytes as the digits of the type take
//! ([manual, internals](https://dev.mysql.com/doc/refman/8.4/en/storage-requirements.html)).

use super::{Date, DateTime, Time};

/// Bits of a fraction of a second in packed times.
pub const FRACTION_BITS: u32 = 24;
/// 0 as a TIME has this added to its seconds, and as a DATETIME this.
const TIME_ZERO: i64 = 0x80_0000;
const DATETIME_ZERO: u64 = 0x80_0000_0000;
/// The year before the first that a YEAR holds, beside 0.
const FIRST_YEAR: u64 = 1900;

pub fn put_year(out: &mut Vec<u8>, year: u64) {
    out.push(year.saturating_sub(FIRST_YEAR) as u8);
}

/// The one of them that has its least significant byte first.
pub fn put_date(out: &mut Vec<u8>, d: Date) {
    let packed = d.day() | d.month() << 5 | d.year() << 9;
    out.extend_from_slice(&packed.to_le_bytes()[..3]);
}

/// Hours, minutes, seconds and microseconds in one number, negative as a whole.
pub fn packed_time(t: Time) -> i64 {
    let seconds = i64::from(t.hours() << 12 | t.minutes() << 6 | t.seconds());
    let packed = seconds << FRACTION_BITS | i64::from(t.micros());
    if t.is_negative() { -packed } else { packed }
}

/// The other way round.
pub fn unpacked_time(packed: i64) -> Option<Time> {
    let (magnitude, negative) = (packed.unsigned_abs(), packed < 0);
    let (seconds, micros) = ((magnitude >> FRACTION_BITS) as u32, magnitude as u32 & ((1 << FRACTION_BITS) - 1));
    let (hours, minutes, left) = (seconds >> 12, seconds >> 6 & 63, seconds & 63);
    let fits = hours <= 838 && minutes < 60 && left < 60 && micros < 1_000_000;
    fits.then(|| Time::new(negative, hours, minutes, left, micros))
}

/// Negative times have a negative fraction beside their seconds rounded down.
pub fn put_time(out: &mut Vec<u8>, t: Time, digits: u8) {
    let packed = packed_time(t);
    if digits > 4 {
        out.extend_from_slice(&(packed + (TIME_ZERO << FRACTION_BITS)).to_be_bytes()[2..]);
        return;
    }
    out.extend_from_slice(&(TIME_ZERO + (packed >> FRACTION_BITS)).to_be_bytes()[5..]);
    let micros = i64::from(t.micros());
    put_fraction(out, if t.is_negative() { -micros } else { micros }, digits);
}

pub fn put_datetime(out: &mut Vec<u8>, t: DateTime, digits: u8) {
    out.extend_from_slice(&(DATETIME_ZERO + (t.0 >> FRACTION_BITS)).to_be_bytes()[3..]);
    put_fraction(out, t.micros().into(), digits);
}

/// A TIMESTAMP, in UTC.
pub fn put_timestamp(out: &mut Vec<u8>, t: DateTime, digits: u8) {
    let seconds = if t == DateTime::ZERO { 0 } else { t.to_unix_seconds() };
    out.extend_from_slice(&(seconds as u32).to_be_bytes());
    put_fraction(out, t.micros().into(), digits);
}

fn put_fraction(out: &mut Vec<u8>, micros: i64, digits: u8) {
    let (units, bytes) = match digits {
        0 => (0, 0),
        1 | 2 => (micros / 10_000, 1),
        3 | 4 => (micros / 100, 2),
        _ => (micros, 3),
    };
    out.extend_from_slice(&units.to_be_bytes()[8 - bytes..]);
}

/// Bytes of a fraction of so many digits.
pub const fn fraction_bytes(digits: u8) -> usize {
    digits.div_ceil(2) as usize
}

fn high_first(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |n, b| n << 8 | u64::from(*b))
}

/// Microseconds of a fraction.
fn fraction(bytes: &[u8]) -> u32 {
    let units = high_first(bytes) as u32;
    match bytes.len() {
        1 => units.saturating_mul(10_000),
        2 => units.saturating_mul(100),
        _ => units,
    }
}

/// The functions from here on read what those above write; `None`: it is no such date or time.
pub fn year(byte: u8) -> u64 {
    if byte == 0 { 0 } else { FIRST_YEAR + u64::from(byte) }
}

pub fn date(bytes: &[u8]) -> Option<Date> {
    let packed = bytes.iter().rev().fold(0, |n, b| n << 8 | u32::from(*b));
    let (year, month, day) = (packed >> 9, packed >> 5 & 15, packed & 31);
    (year <= 9999 && month <= 12).then(|| Date::new(year, month, day))
}

pub fn time(bytes: &[u8], digits: u8) -> Option<Time> {
    let (whole, rest) = bytes.split_at_checked(3)?;
    let mut seconds = high_first(whole) as i64 - TIME_ZERO;
    let mut part = high_first(rest) as i64;
    if seconds < 0 && part != 0 {
        // The fraction is negative beside seconds rounded down.
        seconds += 1;
        part = (1 << (8 * rest.len())) - part;
    }
    let negative = high_first(whole) < TIME_ZERO as u64;
    let seconds = seconds.unsigned_abs() as u32;
    let part = part.to_be_bytes();
    let micros = fraction(&part[8 - fraction_bytes(digits)..]);
    let (hours, minutes, left) = (seconds >> 12 & 0x3FF, seconds >> 6 & 63, seconds & 63);
    let fits = hours <= 838 && minutes < 60 && left < 60 && micros < 1_000_000;
    fits.then(|| Time::new(negative, hours, minutes, left, micros))
}

pub fn datetime(bytes: &[u8], digits: u8) -> Option<DateTime> {
    let (whole, rest) = bytes.split_at_checked(5)?;
    debug_assert_eq!(rest.len(), fraction_bytes(digits));
    let t = DateTime(high_first(whole).checked_sub(DATETIME_ZERO)? << FRACTION_BITS | u64::from(fraction(rest)));
    let date = t.date();
    let fits = date.year() <= 9999 && t.hour() < 24 && t.minute() < 60 && t.second() < 60 && t.micros() < 1_000_000;
    fits.then_some(t)
}

/// In UTC.
pub fn timestamp(bytes: &[u8], digits: u8) -> Option<DateTime> {
    let (whole, rest) = bytes.split_at_checked(4)?;
    debug_assert_eq!(rest.len(), fraction_bytes(digits));
    match high_first(whole) {
        0 if rest.iter().all(|b| *b == 0) => Some(DateTime::ZERO),
        seconds => DateTime::from_unix(seconds as i64, fraction(rest)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        for digits in 0..=6 {
            let micros = [0, 999_999, 1, 500_000, 120_000];
            for us in micros.map(|us: u32| us / 10u32.pow(6 - u32::from(digits)) * 10u32.pow(6 - u32::from(digits))) {
                let moment = DateTime::new(Date::new(2024, 2, 29), 23, 59, 58, us);
                let mut out = Vec::new();
                put_datetime(&mut out, moment, digits);
                assert_eq!(datetime(&out, digits), Some(moment));
                out.clear();
                put_timestamp(&mut out, moment, digits);
                assert_eq!(timestamp(&out, digits), Some(moment));
                for (negative, hours) in [(false, 838), (true, 838), (true, 0), (false, 0)] {
                    let t = Time::new(negative, hours, 59, 59, us.min(if hours == 838 { 0 } else { us }));
                    out.clear();
                    put_time(&mut out, t, digits);
                    assert_eq!(time(&out, digits), Some(t), "{digits} digits of {us}");
                }
            }
        }
        let mut out = Vec::new();
        put_date(&mut out, Date::new(1000, 12, 31));
        assert_eq!(date(&out), Some(Date::new(1000, 12, 31)));
        assert_eq!((year(0), year(155)), (0, 2055));
    }
}
