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
