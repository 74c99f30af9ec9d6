//! Triggers: a part of their table's definition, which they follow wherever it goes.
//!
//! The text of the body stays as it was written, with what it has to be read under. The table keeps those of one event and time in the
//! order in which they fire.

use crate::Ddl;
use crate::define::check_name;
use crate::mdl::{Duration, Mode, Name};
use crate::routine::{RoutineKind, routine_key};
use crate::schema::{Table, Version, eq_name};
use serde::{Deserialize, Serialize};
use std::any::Any;
use std::sync::{Arc, OnceLock};
use types::codes::*;
use types::{Result, err};

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

    fn fires_with(&self, other: &Trigger) -> bool {
        (self.before, self.event) == (other.before, other.event)
    }
}

/// FOLLOWS or PRECEDES the trigger of that name.
pub struct TriggerOrder {
    pub follows: bool,
    pub other: String,
}

impl Table {
    /// Those that fire at that time of that event, in their order.
    pub fn triggers_of(&self, event: TriggerEvent, before: bool) -> impl Iterator<Item = &Arc<Trigger>> {
        self.triggers.iter().filter(move |t| t.event == event && t.before == before)
    }

    /// For another version of the table: nothing is known of what was compiled for this one.
    pub(crate) fn renew_triggers(&mut self) {
        for trigger in &mut self.triggers {
            *trigger = Arc::new(Trigger { compiled: OnceLock::new(), ..Trigger::clone(trigger) });
        }
    }
}

impl Version {
    /// A trigger by name, and its table.
    pub fn trigger(&self, schema: &str, name: &str) -> Option<(&Arc<Table>, &Arc<Trigger>)> {
        let tables = self.schema(schema)?.tables.values();
        tables.into_iter().find_map(|table| {
            let found = table.triggers.iter().find(|t| eq_name(&t.name, name));
            found.map(|trigger| (table, trigger))
        })
    }
}

impl Ddl<'_> {
    /// Keeps the name of a trigger to the statement. Errors 1049, 1205, 1213, 1317, 3989.
    fn lock_trigger(&mut self, schema: &str, name: &str) -> Result<()> {
        self.lock_to_define(schema)?;
        let (kind, key) = routine_key(RoutineKind::Trigger, name);
        let name = Arc::new(Name::Routine(kind, schema.into(), key.as_str().into()));
        self.lock(&name, Mode::Exclusive, Duration::Transaction)?;
        self.catch_up();
        Ok(())
    }

    /// CREATE TRIGGER on a base table of its schema. Errors 1059, 1146, 1347, 1359, 3011.
    pub fn create_trigger(
        &mut self,
        schema: &str,
        table: &str,
        trigger: Trigger,
        order: Option<&TriggerOrder>,
    ) -> Result<()> {
        check_name(&trigger.name, ER_SP_WRONG_NAME)?;
        self.lock_trigger(schema, &trigger.name)?;
        let old = self.lock_table(schema, table)?;
        if self.version().trigger(schema, &trigger.name).is_some() {
            return Err(err!(ER_TRG_ALREADY_EXISTS));
        }
        let at = match order {
            None => old.triggers.len(),
            Some(order) => {
                let is_it = |t: &Arc<Trigger>| eq_name(&t.name, &order.other) && t.fires_with(&trigger);
                let at = old
                    .triggers
                    .iter()
                    .position(is_it)
                    .ok_or_else(|| err!(ER_REFERENCED_TRG_DOES_NOT_EXIST, order.other))?;
                at + usize::from(order.follows)
            }
        };
        self.alter_table(&old, |t| t.triggers.insert(at, Arc::new(trigger))).map(drop)
    }

    /// DROP TRIGGER. Error 1360.
    pub fn drop_trigger(&mut self, schema: &str, name: &str) -> Result<()> {
        self.lock_trigger(schema, name)?;
        let (table, _) = self.version().trigger(schema, name).ok_or_else(|| err!(ER_TRG_DOES_NOT_EXIST))?;
        let table = table.name.clone();
        let old = self.lock_table(schema, &table)?;
        self.alter_table(&old, |t| t.triggers.retain(|t| !eq_name(&t.name, name))).map(drop)
    }
}
