//! CREATE and DROP TRIGGER.

use crate::Ddl;
use crate::define::check_name;
use crate::mdl::{Duration, Mode, Name};
use crate::routine::{RoutineKind, routine_key, same_name};
use crate::trigger::{Trigger, TriggerOrder};
use std::sync::Arc;
use types::codes::*;
use types::{Result, err};

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
                let is_it = |t: &Arc<Trigger>| same_name(&t.name, &order.other) && t.fires_with(&trigger);
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
        self.alter_table(&old, |t| t.triggers.retain(|t| !same_name(&t.name, name))).map(drop)
    }
}
