//! Events: what the dictionary keeps of them, their definition and end, and what their runs leave behind.
//!
//! ```text
//!   'E' schema | name   the definition, as CREATE and ALTER EVENT have made it: a new version of the dictionary
//!   'L' schema | name   [`Run`]: when the event ran last, and whether that was the end of it. No version of the dictionary
//! ```
//! A run is written in a transaction of its own before the event's body begins, so that a crash repeats no run. It names the definition
//! that it is of: what is found of an earlier one counts for nothing.

use crate::Catalog;
use crate::dictionary::{self, Kind};
use crate::error::from_engine;
use crate::routine::{RoutineKind, routine_key};
use crate::schema::Version;
use engine::{Isolation, Transaction};
use serde::{Deserialize, Serialize};
use std::any::Any;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, OnceLock};
use types::Result;
use types::temporal::IntervalUnit;

/// The version of the entries' form.
const FORMAT: u32 = 1;
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

#[derive(Serialize, Deserialize)]
struct Stored {
    format: u32,
    event: Event,
}

pub(crate) fn write(event: &Event) -> Vec<u8> {
    serde_json::to_vec(&Stored { format: FORMAT, event: event.clone() }).expect("texts become JSON")
}

/// `None`: not an event that this version can read.
fn read(schema: &str, json: &[u8]) -> Option<Event> {
    let stored: Stored = serde_json::from_slice(json).ok()?;
    (stored.format <= FORMAT).then(|| Event { schema: schema.to_string(), ..stored.event })
}

/// All events, at start.
pub(crate) fn load(tx: &mut Transaction, tree: engine::Tree, version: &mut Version) -> Result<()> {
    for entry in dictionary::load(tx, tree, Kind::Event)? {
        let damaged = || dictionary::damaged(format!("{}/{}", entry.schema, entry.name).as_bytes());
        let event = read(&entry.schema, &entry.value).ok_or_else(damaged)?;
        if !version.schemas.contains_key(&entry.schema) {
            return Err(damaged());
        }
        version.insert_event(Arc::new(event));
    }
    for entry in dictionary::load(tx, tree, Kind::EventRun)? {
        let run: Option<Run> = serde_json::from_slice(&entry.value).ok();
        let run = run.ok_or_else(|| dictionary::damaged(format!("{}/{}", entry.schema, entry.name).as_bytes()))?;
        if let Some(event) = version.event(&entry.schema, &entry.name).filter(|event| event.id == run.id) {
            event.runs.note(run);
        }
    }
    Ok(())
}

impl Version {
    pub fn event(&self, schema: &str, name: &str) -> Option<&Arc<Event>> {
        self.schema(schema)?.events.get(&event_key(name))
    }

    pub fn events(&self) -> impl Iterator<Item = &Arc<Event>> {
        self.schemas.values().flat_map(|schema| schema.events.values())
    }

    pub(crate) fn insert_event(&mut self, event: Arc<Event>) {
        let schema = self.schemas.get_mut(&event.schema).expect("the caller has found the schema");
        Arc::make_mut(schema).events.insert(event.key(), event);
    }

    pub(crate) fn remove_event(&mut self, schema: &str, key: &str) {
        if let Some(schema) = self.schemas.get_mut(schema) {
            Arc::make_mut(schema).events.remove(key);
        }
    }
}

impl Catalog {
    /// An event runs: its body may begin once this has returned. `over`: no run follows. Durable as far as commits are.
    pub fn note_run(&self, tx: &mut Transaction, event: &Event, last: i64, over: bool) -> Result<()> {
        let run = Run { id: event.id, last: Some(last), over };
        let json = serde_json::to_vec(&run).expect("numbers become JSON");
        tx.begin(Isolation::ReadCommitted, false);
        let written = dictionary::put(tx, self.engine.dictionary(), Kind::EventRun, &event.schema, &event.key(), &json);
        match written.and_then(|()| tx.commit().map_err(from_engine)) {
            Ok(()) => {
                event.runs.note(run);
                Ok(())
            }
            Err(e) => {
                if tx.is_active() {
                    tx.rollback().map_err(from_engine)?;
                }
                Err(e)
            }
        }
    }

    /// An event is past its last time without a run: only this process knows, and the next start finds out again.
    pub fn note_over(&self, event: &Event) {
        event.runs.note(Run { id: event.id, last: event.runs.last(), over: true });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_read_as_they_were_written() {
        let event = Event {
            schema: "s".to_string(),
            name: "E".to_string(),
            id: 9,
            schedule: EventSchedule::Every { amount: 90, unit: "MINUTE_SECOND".to_string(), starts: 7, ends: Some(8) },
            preserve: true,
            said: EventStatus::ReplicaSideDisabled,
            comment: "c".to_string(),
            body: "DO 'ü'".to_string(),
            definer: "root@localhost".to_string(),
            settings: EventSettings {
                time_zone: "SYSTEM".to_string(),
                sql_mode: 4,
                client_charset: "utf8mb4".to_string(),
                connection_collation: "utf8mb4_bin".to_string(),
                database_collation: "latin1_swedish_ci".to_string(),
            },
            created: 1,
            altered: 2,
            originator: 3,
            runs: Arc::default(),
            compiled: OnceLock::new(),
        };
        let json = write(&event);
        let again = read("s", &json).expect("it was written so");
        assert_eq!(write(&again), json);
        assert_eq!((again.schema.as_str(), again.said), ("s", EventStatus::ReplicaSideDisabled));
        let later = String::from_utf8(json).expect("it is JSON").replace("\"format\":1", "\"format\":2");
        assert!(read("s", later.as_bytes()).is_none());
    }

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
