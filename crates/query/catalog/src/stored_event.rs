//! Events and their runs as entries of the dictionary.

use crate::dictionary::{self, Kind};
use crate::event::{Event, Run};
use crate::schema::Version;
use engine::Transaction;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use types::Result;

/// The version of the entries' form.
const FORMAT: u32 = 1;

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{EventSchedule, EventSettings, EventStatus};
    use std::sync::OnceLock;

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
}
