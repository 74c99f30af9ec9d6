//! Events: what the dictionary keeps of them, their definition and end, and what their runs leave behind.
//!
//! ```text
//!   'E' schema | name   the definition, as CREATE and ALTER EVENT have made it: a new version of the dictionary
//!   'L' schema | name   [`Run`]: when the event ran last, and whether that was the end of it. No version of the dictionary
//! ```
//! A run is written in a transaction of its own before the event's body begins, so that a crash repeats no run. It names the definition
//! that it is of: what is found of an earlier one counts for nothing.

use crate::routine::{RoutineKind, routine_key};
use serde::{Deserialize, Serialize};
use std::any::Any;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, OnceLock};
use types::temporal::IntervalUnit;

/// No run.
const NEVER: i64 = i64::MIN;

/// CREATE EVENT, as the dictionary keeps it. Times are seconds since 1970.
#[derive(Clone, Serialize, Deserialize)]
pub struct Event {
    #[serde(skip)]
    pub schema: String,
    pub name: String,
    /// Another one for each definition, so that a run is known to be of this one.
    pub id: u64,
    pub schedule: EventSchedule,
    /// ON COMPLETION PRESERVE.
    pub preserve: bool,
    /// As it was said: see [`Event::status`].
    pub said: EventStatus,
    pub comment: String,
    pub body: String,
    /// `user@host`
    pub definer: String,
    pub settings: EventSettings,
    pub created: i64,
    pub altered: i64,
    /// The server that it was made on.
    pub originator: u32,
    #[serde(skip)]
    pub runs: Arc<EventRuns>,
    /// What the executor has made of the text: one for all sessions.
    #[serde(skip)]
    pub compiled: OnceLock<Arc<dyn Any + Send + Sync>>,
}

/// What the body is read and run under.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventSettings {
    pub time_zone: String,
    pub sql_mode: u64,
    pub client_charset: String,
    pub connection_collation: String,
    pub database_collation: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventSchedule {
    At(i64),
    /// `amount`: months of units of months, years and quarters by themselves; otherwise of the smallest unit that the word names.
    Every {
        amount: i64,
        unit: String,
        starts: i64,
        ends: Option<i64>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventStatus {
    Enabled,
    Disabled,
    ReplicaSideDisabled,
}

impl EventStatus {
    pub fn word(self) -> &'static str {
        match self {
            EventStatus::Enabled => "ENABLED",
            EventStatus::Disabled => "DISABLED",
            EventStatus::ReplicaSideDisabled => "REPLICA_SIDE_DISABLED",
        }
    }
}

/// Units of EVERY.
pub const EVENT_UNITS: [(IntervalUnit, &str); 15] = [
    (IntervalUnit::Year, "YEAR"),
    (IntervalUnit::Quarter, "QUARTER"),
    (IntervalUnit::Month, "MONTH"),
    (IntervalUnit::Day, "DAY"),
    (IntervalUnit::Hour, "HOUR"),
    (IntervalUnit::Minute, "MINUTE"),
    (IntervalUnit::Week, "WEEK"),
    (IntervalUnit::Second, "SECOND"),
    (IntervalUnit::YearMonth, "YEAR_MONTH"),
    (IntervalUnit::DayHour, "DAY_HOUR"),
    (IntervalUnit::DayMinute, "DAY_MINUTE"),
    (IntervalUnit::DaySecond, "DAY_SECOND"),
    (IntervalUnit::HourMinute, "HOUR_MINUTE"),
    (IntervalUnit::HourSecond, "HOUR_SECOND"),
    (IntervalUnit::MinuteSecond, "MINUTE_SECOND"),
];

pub fn event_unit(word: &str) -> Option<IntervalUnit> {
    EVENT_UNITS.iter().find(|(_, w)| *w == word).map(|(unit, _)| *unit)
}

/// What runs have come to: shared by all versions of the dictionary that have this definition.
#[derive(Debug)]
pub struct EventRuns {
    /// When the last one began, or [`NEVER`].
    last: AtomicI64,
    /// No run follows.
    over: AtomicBool,
}

impl Default for EventRuns {
    fn default() -> EventRuns {
        EventRuns { last: AtomicI64::new(NEVER), over: AtomicBool::new(false) }
    }
}

impl EventRuns {
    /// When the event ran last, perhaps under an earlier definition.
    pub fn last(&self) -> Option<i64> {
        // Relaxed: a figure for the reader. The scheduler alone writes it, and reads what it has written.
        Some(self.last.load(Ordering::Relaxed)).filter(|last| *last != NEVER)
    }

    pub fn is_over(&self) -> bool {
        // Relaxed: as for `last`.
        self.over.load(Ordering::Relaxed)
    }

    pub(crate) fn note(&self, run: Run) {
        // Relaxed: figures, each for itself.
        self.last.store(run.last.unwrap_or(NEVER), Ordering::Relaxed);
        self.over.store(run.over, Ordering::Relaxed); // Relaxed: as above
    }
}

/// A run as it is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Run {
    /// Of [`Event::id`].
    pub id: u64,
    pub last: Option<i64>,
    pub over: bool,
}

impl std::fmt::Debug for Event {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "EVENT {}.{}", self.schema, self.name)
    }
}

impl Event {
    /// What is said of it, unless its last run is behind it.
    pub fn status(&self) -> EventStatus {
        if self.runs.is_over() { EventStatus::Disabled } else { self.said }
    }

    pub(crate) fn key(&self) -> String {
        event_key(&self.name)
    }
}

/// How an event is found: names are the same in any letter case.
pub fn event_key(name: &str) -> String {
    routine_key(RoutineKind::Event, name).1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_disabled_by_its_last_run() {
        let runs = EventRuns::default();
        assert_eq!((runs.last(), runs.is_over()), (None, false));
        runs.note(Run { id: 1, last: Some(5), over: true });
        assert_eq!((runs.last(), runs.is_over()), (Some(5), true));
    }

    #[test]
    fn units_have_words() {
        assert!(EVENT_UNITS.iter().all(|(unit, word)| event_unit(word) == Some(*unit)));
        assert_eq!(event_unit("MICROSECOND"), None);
    }
}
