//! Triggers: a part of their table's definition, which they follow wherever it goes.
//!
//! The text of the body stays as it was written, with what it has to be read under. The table keeps those of one event and time in the
//! order in which they fire.

use serde::{Deserialize, Serialize};
use std::any::Any;
use std::sync::{Arc, OnceLock};

/// CREATE TRIGGER, as the dictionary keeps it.
#[derive(Clone, Serialize, Deserialize)]
pub struct Trigger {
    pub name: String,
    pub before: bool,
    pub event: TriggerEvent,
    pub body: String,
    /// `user@host`
    pub definer: String,
    /// What the body is read and run under.
    pub sql_mode: u64,
    pub client_charset: String,
    pub connection_collation: String,
    pub database_collation: String,
    /// Hundredths of seconds since 1970.
    pub created: u64,
    /// What the executor has made of the text for this version of the table: one for all sessions.
    #[serde(skip)]
    pub compiled: OnceLock<Arc<dyn Any + Send + Sync>>,
}

impl std::fmt::Debug for Trigger {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "TRIGGER {}", self.name)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TriggerEvent {
    Insert,
    Update,
    Delete,
}

impl TriggerEvent {
    pub fn word(self) -> &'static str {
        match self {
            TriggerEvent::Insert => "INSERT",
            TriggerEvent::Update => "UPDATE",
            TriggerEvent::Delete => "DELETE",
        }
    }
}

impl Trigger {
    pub fn timing(&self) -> &'static str {
        if self.before { "BEFORE" } else { "AFTER" }
    }

    pub(crate) fn fires_with(&self, other: &Trigger) -> bool {
        (self.before, self.event) == (other.before, other.event)
    }
}

/// FOLLOWS or PRECEDES the trigger of that name.
pub struct TriggerOrder {
    pub follows: bool,
    pub other: String,
}
