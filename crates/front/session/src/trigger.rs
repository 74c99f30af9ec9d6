//! CREATE and DROP TRIGGER.

use crate::performance::PERFORMANCE_SCHEMA;
use crate::routine::utf8;
use crate::session::Session;
use crate::variables::{VarId, id};
use accounts::Privileges;
use catalog::eq_name;
use catalog::{Trigger, TriggerEvent, TriggerOrder};
use expr::Env;
use run::program::trigger_columns;
use sql::ast::{self, CreateTrigger, ObjectName, Parsed, TriggerPlace};
use std::sync::OnceLock;
use std::time::{SystemTime, UNIX_EPOCH};
use types::codes::*;
use types::{Result, err};

const CHARACTER_SET_CLIENT: VarId = id("character_set_client");
const COLLATION_CONNECTION: VarId = id("collation_connection");

/// Schemas whose tables have no triggers.
const UNTOUCHED: [&str; 3] = ["mysql", "information_schema", "performance_schema"];

impl Session {
    /// Errors 1142, 1146, 1347, 1359, 1361, 1419, 1435, 1465, 3011 and those of the types of variables.
    pub(crate) fn create_trigger(&mut self, parsed: &Parsed, create: &CreateTrigger) -> Result<()> {
        let (own_schema, name) = self.object(parsed, create.name)?;
        let (schema, table) = self.object(parsed, create.table)?;
        if [&own_schema, &schema].iter().any(|s| s.eq_ignore_ascii_case(PERFORMANCE_SCHEMA)) {
            self.refuse_system_schema(PERFORMANCE_SCHEMA)?;
        }
        if UNTOUCHED.iter().any(|s| s.eq_ignore_ascii_case(&schema) || s.eq_ignore_ascii_case(&own_schema)) {
            return Err(err!(ER_NO_TRIGGERS_ON_SYSTEM_SCHEMA));
        }
        self.access().check_table(Privileges::TRIGGER, &schema, &table)?;
        if own_schema != schema {
            return Err(err!(ER_TRG_IN_WRONG_SCHEMA));
        }
        self.check_logged_creator()?;
        let definer = self.definer(parsed, create.definer)?;
        if self.is_temporary(&schema, &table) {
            return Err(err!(ER_TRG_ON_VIEW_OR_TEMP_TABLE, table));
        }
        let version = self.dictionary();
        let found = version.table(&schema, &table).ok_or_else(|| err!(ER_NO_SUCH_TABLE, schema, table))?;
        if !found.is_base() {
            return Err(err!(ER_WRONG_OBJECT, schema, table, "BASE TABLE"));
        }
        let collation = version.schema(&schema).ok_or_else(|| err!(ER_BAD_DB_ERROR, schema))?.default_collation;
        if create.if_not_exists
            && let Some((on, _)) = version.trigger(&schema, &name)
            && eq_name(&on.name, &table)
        {
            let known = err!(ER_WARN_TRIGGER_ALREADY_EXISTS, name, schema, table);
            self.state.warn("Note", known.code, known.message);
            return Ok(());
        }
        trigger_columns(parsed, &create.program, found, collation, self.state.sql_mode)?;
        for part in &create.program.parts {
            self.state.note_parsed(part);
        }
        let order = create.place.map(|(place, other)| TriggerOrder {
            follows: place == TriggerPlace::Follows,
            other: parsed.name(other).to_string(),
        });
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let trigger = Trigger {
            name,
            before: create.before,
            event: match create.event {
                ast::TriggerEvent::Insert => TriggerEvent::Insert,
                ast::TriggerEvent::Update => TriggerEvent::Update,
                ast::TriggerEvent::Delete => TriggerEvent::Delete,
            },
            body: utf8(parsed, create.body)?,
            definer,
            sql_mode: self.state.sql_mode.0,
            client_charset: self.state.vars.text(CHARACTER_SET_CLIENT).to_string(),
            connection_collation: self.state.vars.text(COLLATION_CONNECTION).to_string(),
            database_collation: collation.info().name.to_string(),
            created: u64::try_from(since.as_millis() / 10).unwrap_or(u64::MAX),
            compiled: OnceLock::new(),
        };
        // Whoever repeats it may be in another schema.
        let logged = inspect::triggers::create_text(Some(&schema), &trigger, &table, order.as_ref());
        self.define_with(|ddl, state| {
            if state.log_text.is_some() {
                state.log_text = Some(logged.into_bytes());
            }
            ddl.create_trigger(&schema, &table, trigger, order.as_ref())
        })
    }

    /// Errors 1142, 1360.
    pub(crate) fn drop_trigger(&mut self, parsed: &Parsed, if_exists: bool, name: ObjectName) -> Result<()> {
        let (schema, name) = self.object(parsed, name)?;
        let version = self.dictionary();
        if let Some((table, _)) = version.trigger(&schema, &name) {
            self.access().check_table(Privileges::TRIGGER, &schema, &table.name)?;
            self.check_logged_creator()?;
        }
        match self.define(|ddl| ddl.drop_trigger(&schema, &name)) {
            Err(e) if if_exists && e.code == ER_TRG_DOES_NOT_EXIST => {
                self.state.warn("Note", e.code, e.message);
                Ok(())
            }
            dropped => dropped,
        }
    }
}
