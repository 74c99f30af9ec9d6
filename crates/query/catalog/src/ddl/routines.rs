//! CREATE, ALTER and DROP of stored procedures and functions.

use super::Touched;
use crate::define::check_name;
use crate::dictionary::{self, Kind};
use crate::mdl::{Duration, Mode, Name};
use crate::routine::{Routine, RoutineChange, RoutineKey, RoutineKind, routine_key};
use crate::{Ddl, stored_routine};
use std::sync::{Arc, OnceLock};
use types::codes::*;
use types::{Result, err};

impl Ddl<'_> {
    /// Keeps names of programs that are no table's to the statement. Errors 1192, 1205, 1213, 1317, 3989.
    pub(crate) fn lock_programs(&mut self, names: &mut [(&str, RoutineKey)]) -> Result<()> {
        if self.locks_tables() {
            return Err(err!(ER_LOCK_OR_ACTIVE_TRANSACTION));
        }
        names.sort();
        for (schema, _) in names.iter() {
            self.lock_to_define(schema)?;
        }
        for (schema, (kind, key)) in names.iter() {
            let name = Arc::new(Name::routine(*kind, schema, key));
            self.lock(&name, Mode::Exclusive, Duration::Transaction)?;
        }
        self.catch_up();
        Ok(())
    }

    /// Keeps a routine's name to the statement. Errors 1049, 1192, 1205, 1213, 1317, 3989.
    fn lock_routine(&mut self, schema: &str, key: &RoutineKey) -> Result<()> {
        self.lock_programs(&mut [(schema, key.clone())])?;
        match self.version().schema(schema) {
            None => Err(err!(ER_BAD_DB_ERROR, schema)),
            Some(s) if s.is_system() && schema != "mysql" => Err(err!(ER_DBACCESS_DENIED_ERROR, "", "", schema)),
            Some(_) => Ok(()),
        }
    }

    /// Waits for whoever calls it. Errors 1205, 1213, 1317.
    fn lock_routine_name(&mut self, schema: &str, key: &RoutineKey) -> Result<()> {
        let name = Arc::new(Name::routine(key.0, schema, &key.1));
        self.lock(&name, Mode::Exclusive, Duration::Transaction)
    }

    /// CREATE PROCEDURE, CREATE FUNCTION. Errors 1049, 1059, 1304.
    pub fn create_routine(&mut self, routine: Routine) -> Result<()> {
        check_name(&routine.name, ER_SP_WRONG_NAME)?;
        let key = routine_key(routine.kind, &routine.name);
        self.lock_routine(&routine.schema, &key)?;
        if self.version().routine(&routine.schema, routine.kind, &routine.name).is_some() {
            return Err(err!(ER_SP_ALREADY_EXISTS, routine.kind.word(), routine.name));
        }
        self.put_routine(routine)
    }

    /// ALTER PROCEDURE, ALTER FUNCTION. Error 1305.
    pub fn alter_routine(&mut self, schema: &str, kind: RoutineKind, name: &str, change: RoutineChange) -> Result<()> {
        self.lock_routine(schema, &routine_key(kind, name))?;
        let found = self.version().routine(schema, kind, name);
        let found = found.ok_or_else(|| err!(ER_SP_DOES_NOT_EXIST, kind.word(), format!("{schema}.{name}")))?;
        let mut routine = Routine::clone(found);
        routine.access = change.access.unwrap_or(routine.access);
        routine.invoker = change.invoker.unwrap_or(routine.invoker);
        routine.comment = change.comment.unwrap_or(routine.comment);
        routine.altered = super::now();
        routine.compiled = OnceLock::new();
        self.put_routine(routine)
    }

    /// DROP PROCEDURE, DROP FUNCTION. Error 1305.
    pub fn drop_routine(&mut self, schema: &str, kind: RoutineKind, name: &str) -> Result<()> {
        let key = routine_key(kind, name);
        self.lock_routine(schema, &key)?;
        if self.version().routine(schema, kind, name).is_none() {
            return Err(err!(ER_SP_DOES_NOT_EXIST, kind.word(), format!("{schema}.{name}")));
        }
        self.forget_routine(schema, &key)
    }

    /// Those of a schema that goes.
    pub(crate) fn drop_routines(&mut self, schema: &str) -> Result<()> {
        let keys: Vec<RoutineKey> =
            self.version().schema(schema).into_iter().flat_map(|s| s.routines.keys().cloned()).collect();
        for key in &keys {
            self.lock_routine_name(schema, key)?;
            self.forget_routine(schema, key)?;
        }
        Ok(())
    }

    fn put_routine(&mut self, routine: Routine) -> Result<()> {
        let key = routine_key(routine.kind, &routine.name);
        let (tree, json) = (self.catalog.engine().dictionary(), stored_routine::write(&routine));
        dictionary::put(self.tx(), tree, Kind::Routine, &routine.schema, &entry_name(&key), &json)?;
        self.touch(Touched::Routine(routine.schema.clone(), key));
        self.next_version().insert_routine(Arc::new(routine));
        Ok(())
    }

    fn forget_routine(&mut self, schema: &str, key: &RoutineKey) -> Result<()> {
        let tree = self.catalog.engine().dictionary();
        dictionary::remove(self.tx(), tree, Kind::Routine, schema, &entry_name(key))?;
        self.touch(Touched::Routine(schema.to_string(), key.clone()));
        self.next_version().remove_routine(schema, key);
        Ok(())
    }
}

/// The name of its entry.
fn entry_name(key: &RoutineKey) -> String {
    format!("{} {}", if key.0 == RoutineKind::Procedure { "p" } else { "f" }, key.1)
}
