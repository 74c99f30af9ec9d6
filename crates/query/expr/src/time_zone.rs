//! Session time zones: `SYSTEM`, offsets from `-13:59` to `+14:00`, and names of the time zone database.

use jiff::Timestamp;

/// A value of `time_zone`. Cheap to clone.
#[derive(Clone, Debug)]
pub enum TimeZone {
    /// The zone of the machine.
    System(jiff::tz::TimeZone),
    /// Seconds east of UTC.
    Offset(i32),
    Named(jiff::tz::TimeZone),
}

impl TimeZone {
    /// The machine's own.
    pub fn system() -> TimeZone {
        TimeZone::System(jiff::tz::TimeZone::system())
    }

    /// `None`: unknown zone or malformed offset.
    pub fn parse(text: &str) -> Option<TimeZone> {
        if text.eq_ignore_ascii_case("SYSTEM") {
            return Some(TimeZone::system());
        }
        match text.as_bytes().first()? {
            b'+' | b'-' => parse_offset(text).map(TimeZone::Offset),
            _ => jiff::tz::TimeZone::get(text).ok().map(TimeZone::Named),
        }
    }

    /// As `@@time_zone` shows it.
    pub fn name(&self) -> String {
        match self {
            TimeZone::System(_) => "SYSTEM".to_string(),
            TimeZone::Offset(seconds) => {
                let sign = if *seconds < 0 { '-' } else { '+' };
                let minutes = seconds.abs() / 60;
                format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60)
            }
            TimeZone::Named(zone) => zone.iana_name().unwrap_or("UTC").to_string(),
        }
    }

    /// Seconds since 1970 UTC of a local time given the same way. What a change of the clock leaves out counts as the change
    /// itself; of what it repeats the first time counts.
    pub fn to_utc(&self, local_seconds: i64) -> i64 {
        let early = local_seconds - self.offset_at(local_seconds - 86_400) as i64;
        let late = local_seconds - self.offset_at(local_seconds + 86_400) as i64;
        let is = |utc: i64| utc + self.offset_at(utc) as i64 == local_seconds;
        match (is(early), is(late)) {
            (true, _) => early,
            (false, true) => late,
            // The gap's end: where the later offset begins.
            (false, false) => {
                let (mut before, mut after) = (late.min(early) - 1, late.max(early) + 1);
                let offset = self.offset_at(after);
                while after - before > 1 {
                    let middle = (before + after) / 2;
                    if self.offset_at(middle) == offset { after = middle } else { before = middle }
                }
                after
            }
        }
    }

    /// Seconds east of UTC at a moment.
    pub fn offset_at(&self, unix_seconds: i64) -> i32 {
        match self {
            TimeZone::Offset(seconds) => *seconds,
            TimeZone::System(zone) | TimeZone::Named(zone) => match Timestamp::from_second(unix_seconds) {
                Ok(at) => zone.to_offset(at).seconds(),
                // Beyond the year 9999: the zone's last rule does not matter to any value that MySQL can show.
                Err(_) => 0,
            },
        }
    }
}

/// `[+-]H[H]:MM` from -13:59 to +14:00.
fn parse_offset(text: &str) -> Option<i32> {
    let (sign, rest) = match text.as_bytes()[0] {
        b'-' => (-1, &text[1..]),
        _ => (1, &text[1..]),
    };
    let (hours, minutes) = rest.split_once(':')?;
    let digits = |s: &str, most: usize| -> Option<i32> {
        if s.is_empty() || s.len() > most || !s.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        s.parse().ok()
    };
    let (hours, minutes) = (digits(hours, 2)?, digits(minutes, 2)?);
    let total = sign * (hours * 60 + minutes);
    (minutes < 60 && (-(13 * 60 + 59)..=14 * 60).contains(&total)).then_some(total * 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_and_names() {
        let offset = |s| TimeZone::parse(s).map(|z| (z.name(), z.offset_at(0)));
        assert_eq!(offset("+05:30"), Some(("+05:30".to_string(), 19800)));
        assert_eq!(offset("-3:00"), Some(("-03:00".to_string(), -10800)));
        assert_eq!(offset("+14:00").map(|z| z.1), Some(50400));
        for bad in ["+14:01", "-14:00", "+5", "+5:60", "+:30", "", "No/Where"] {
            assert!(TimeZone::parse(bad).is_none(), "{bad}");
        }
        assert_eq!(TimeZone::parse("system").unwrap().name(), "SYSTEM");
    }
}
