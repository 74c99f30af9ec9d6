//! When an event is due.

use crate::time_zone::TimeZone;
use catalog::event::event_unit;
use catalog::{Event, EventSchedule};
use types::DateTime;
use types::temporal::{Interval, IntervalUnit};

/// The last second that a schedule may name: 3001-01-18 23:59:59 UTC.
pub(crate) const LAST: i64 = 32_536_771_199;

/// Of an event that is enabled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Due {
    At(i64),
    /// Its last time is in the past.
    Over,
}

/// When the event is due next, as of `now`; what was missed is not made up for, but for the one time of AT.
pub(crate) fn due(event: &Event, now: i64) -> Due {
    match &event.schedule {
        EventSchedule::At(at) => Due::At(*at),
        EventSchedule::Every { starts, ends, .. } => {
            let next = match now < *starts || now == *starts && event.runs.last() != Some(now) {
                true => Some(*starts),
                false => following(event, now),
            };
            match (next, *ends) {
                (Some(next), Some(ends)) if next > ends => Due::Over,
                (Some(next), _) => Due::At(next),
                (None, _) => Due::Over,
            }
        }
    }
}

/// When the event is due again after it has begun to run at `now`.
pub(crate) fn due_again(event: &Event, now: i64) -> Due {
    match &event.schedule {
        EventSchedule::At(_) => Due::Over,
        EventSchedule::Every { ends, .. } => match following(event, now) {
            Some(next) if ends.is_none_or(|ends| next <= ends) => Due::At(next),
            _ => Due::Over,
        },
    }
}

/// Is the only time, or the last one, behind `now`?
pub(crate) fn is_past(schedule: &EventSchedule, now: i64) -> bool {
    match schedule {
        EventSchedule::At(at) => *at < now,
        EventSchedule::Every { ends, .. } => ends.is_some_and(|ends| ends < now),
    }
}

fn step_of(amount: i64, unit: IntervalUnit) -> Interval {
    use IntervalUnit::*;
    match unit {
        YearMonth => Interval::new(Month, amount),
        DayHour => Interval::new(Hour, amount),
        DayMinute | HourMinute => Interval::new(Minute, amount),
        DaySecond | HourSecond | MinuteSecond => Interval::new(Second, amount),
        unit => Interval::new(unit, amount),
    }
}

/// The first of the times that lie whole steps behind the start, by the clock of the event's time zone, and behind `now`. `None`: the
/// calendar ends before.
fn following(event: &Event, now: i64) -> Option<i64> {
    let EventSchedule::Every { amount, unit, starts, .. } = &event.schedule else { return None };
    let zone = TimeZone::parse(&event.settings.time_zone).unwrap_or_else(TimeZone::system);
    let step = step_of(*amount, event_unit(unit)?);
    let local = |unix: i64| DateTime::from_unix(unix + i64::from(zone.offset_at(unix)), 0);
    let (first, here) = (local(*starts)?, local(now)?);
    let passed = match step.months {
        0 => i128::from(here.to_micros() - first.to_micros()) / step.micros.max(1),
        months => {
            let month = |t: DateTime| i64::from(t.date().year()) * 12 + i64::from(t.date().month());
            i128::from((month(here) - month(first)) / months)
        }
    };
    // One step of two may be lost where the clock is put back or the month has no such day.
    let mut steps = passed.max(1) - 1;
    loop {
        let count = i64::try_from(steps).ok()?;
        let ahead = Interval { months: step.months.checked_mul(count)?, micros: step.micros.checked_mul(steps)? };
        let at = zone.to_utc(first.add(ahead)?.to_unix_seconds());
        if at > now {
            return (at <= LAST).then_some(at);
        }
        steps += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use catalog::{EventSettings, EventStatus};
    use std::sync::{Arc, OnceLock};
    use types::temporal::parse::parse_datetime;

    fn at(text: &str) -> i64 {
        parse_datetime(text.as_bytes(), types::sql_mode::SqlMode::NONE).expect("a time").value.to_unix_seconds()
    }

    fn every(amount: i64, unit: &str, zone: &str, starts: &str, ends: Option<&str>) -> Event {
        Event {
            schema: String::new(),
            name: String::new(),
            id: 0,
            schedule: EventSchedule::Every { amount, unit: unit.to_string(), starts: at(starts), ends: ends.map(at) },
            preserve: false,
            said: EventStatus::Enabled,
            comment: String::new(),
            body: String::new(),
            definer: String::new(),
            settings: EventSettings {
                time_zone: zone.to_string(),
                sql_mode: 0,
                client_charset: String::new(),
                connection_collation: String::new(),
                database_collation: String::new(),
            },
            created: 0,
            altered: 0,
            originator: 0,
            runs: Arc::default(),
            compiled: OnceLock::new(),
        }
    }

    #[test]
    fn steps_count_from_the_start() {
        let event = every(90, "MINUTE_SECOND", "+00:00", "2024-01-01 00:00:00", None);
        assert_eq!(due(&event, at("2023-12-31 00:00:00")), Due::At(at("2024-01-01 00:00:00")));
        assert_eq!(due(&event, at("2024-01-01 00:00:00")), Due::At(at("2024-01-01 00:00:00")));
        assert_eq!(due_again(&event, at("2024-01-01 00:00:00")), Due::At(at("2024-01-01 00:01:30")));
        assert_eq!(due(&event, at("2025-01-01 00:00:10")), Due::At(at("2025-01-01 00:01:30")));
    }

    #[test]
    fn months_have_their_last_days() {
        let event = every(1, "MONTH", "+00:00", "2024-01-31 10:00:00", None);
        assert_eq!(due(&event, at("2024-02-01 00:00:00")), Due::At(at("2024-02-29 10:00:00")));
        assert_eq!(due(&event, at("2024-02-29 10:00:00")), Due::At(at("2024-03-31 10:00:00")));
        let event = every(14, "YEAR_MONTH", "+00:00", "2024-01-31 10:00:00", None);
        assert_eq!(due(&event, at("2024-02-01 00:00:00")), Due::At(at("2025-03-31 10:00:00")));
        let event = every(1_000_000_000, "YEAR", "+00:00", "2024-01-31 10:00:00", None);
        assert_eq!(due(&event, at("2024-02-01 00:00:00")), Due::Over);
    }

    #[test]
    fn the_clock_of_the_time_zone_counts() {
        // At half past two, which there is not on 2024-03-31, and twice on 2024-10-27.
        let event = every(1, "DAY", "Europe/Berlin", "2024-03-29 01:30:00", None);
        assert_eq!(due(&event, at("2024-03-30 01:30:00")), Due::At(at("2024-03-31 01:00:00")));
        assert_eq!(due(&event, at("2024-03-31 01:00:00")), Due::At(at("2024-04-01 00:30:00")));
        assert_eq!(due(&event, at("2024-10-26 00:30:00")), Due::At(at("2024-10-27 00:30:00")));
        assert_eq!(due(&event, at("2024-10-27 00:30:00")), Due::At(at("2024-10-28 01:30:00")));
        let event = every(1, "HOUR", "Europe/Berlin", "2024-10-26 22:00:00", None);
        assert_eq!(due(&event, at("2024-10-27 00:00:00")), Due::At(at("2024-10-27 02:00:00")));
    }

    #[test]
    fn an_event_has_an_end() {
        let event = every(1, "HOUR", "+00:00", "2024-01-01 00:00:00", Some("2024-01-01 02:00:00"));
        assert_eq!(due_again(&event, at("2024-01-01 01:00:00")), Due::At(at("2024-01-01 02:00:00")));
        assert_eq!(due_again(&event, at("2024-01-01 02:00:00")), Due::Over);
        assert_eq!(due(&event, at("2024-01-01 03:00:00")), Due::Over);
        assert!(is_past(&event.schedule, at("2024-01-01 02:00:01")));
        assert!(!is_past(&event.schedule, at("2024-01-01 02:00:00")));
    }
}
