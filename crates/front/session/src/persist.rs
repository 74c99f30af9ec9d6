//! SET PERSIST, SET PERSIST_ONLY, RESET PERSIST: variables that outlive the server.

use crate::needs::Action;
use crate::persisted::Entry;
use crate::session::Session;
use crate::variables::{Access, VARIABLES, Val, find};
use expr::Env;
use sql::ast::{ObjectName, Parsed};
use types::codes::*;
use types::{Result, SqlError, err};

impl Session {
    /// Writes values of SET PERSIST and SET PERSIST_ONLY to the file, all at once. Error 1 when it can not be written.
    pub(crate) fn persist(&mut self, values: &[(u16, Val)]) -> Result<()> {
        let by = self.access().account().name.clone();
        let mut persisted = self.server.persisted.lock();
        let mut next = persisted.clone();
        for (id, value) in values {
            let variable = &VARIABLES[*id as usize];
            next.put(Entry {
                name: variable.name,
                value: variable.print(value).into_owned(),
                user: by.user.clone(),
                host: by.host.clone(),
                time_us: self.state.clock_us,
            });
        }
        (self.server.write_persisted)(&next.text()).map_err(not_written)?;
        *persisted = next;
        Ok(())
    }

    /// RESET PERSIST [[IF EXISTS] name]: of what is there it takes what its setting took. Errors 1227, 3615, 3630.
    pub(crate) fn reset_persist(&mut self, parsed: &Parsed, name: Option<ObjectName>, if_exists: bool) -> Result<()> {
        let mut persisted = self.server.persisted.lock();
        let mut next = persisted.clone();
        match name.map(|n| crate::variables::variable_name(parsed, n.schema, n.name)) {
            None => next.entries.clear(),
            Some(name) => {
                next.entries.retain(|e| !e.name.eq_ignore_ascii_case(&name));
                if next.entries.len() == persisted.entries.len() {
                    let missing = err!(ER_VAR_DOES_NOT_EXIST, name);
                    drop(persisted);
                    if !if_exists {
                        return Err(missing);
                    }
                    self.state.warn("Warning", missing.code, missing.message);
                    return Ok(());
                }
            }
        }
        let goes = |e: &&Entry| !next.entries.iter().any(|kept| kept.name == e.name);
        for entry in persisted.entries.iter().filter(goes) {
            let variable = find(entry.name).map(|id| &VARIABLES[id as usize]);
            match variable.is_some_and(|v| v.access == Access::ReadOnly) {
                true => self.need(Action::PersistOnly).map_err(|_| not_persistable())?,
                false => self.need(Action::SetGlobal)?,
            }
        }
        (self.server.write_persisted)(&next.text()).map_err(not_written)?;
        *persisted = next;
        Ok(())
    }
}

/// Error 3630.
pub(crate) fn not_persistable() -> SqlError {
    err!(ER_PERSIST_ONLY_ACCESS_DENIED_ERROR, "SYSTEM_VARIABLES_ADMIN and PERSIST_RO_VARIABLES_ADMIN")
}

fn not_written(e: std::io::Error) -> SqlError {
    SqlError::new(
        EE_CANTCREATEFILE,
        format!("Can't create/write to file 'mysqld-auto.cnf' (OS errno {})", e.raw_os_error().unwrap_or(0)),
    )
}
