//! CREATE, ALTER and DROP EVENT.

use super::Touched;
use crate::Ddl;
use crate::define::check_name;
use crate::dictionary::{self, Kind};
use crate::event::{Event, EventRuns, Run, event_key};
use crate::routine::{RoutineKind, routine_key};
use crate::stored_event::write;
use std::sync::{Arc, OnceLock};
use types::codes::*;
use types::{Result, err};

impl Ddl<'_> {
    /// Keeps names of events to the statement. Errors 1192, 1205, 1213, 1317, 3989.
    fn lock_events(&mut self, names: &[(&str, &str)]) -> Result<()> {
        let key = |name: &str| routine_key(RoutineKind::Event, name);
        let mut names: Vec<_> = names.iter().map(|(schema, name)| (*schema, key(name))).collect();
        self.lock_programs(&mut names)
    }

    fn check_new_event(&self, schema: &str, name: &str) -> Result<()> {
        let found = self.version().schema(schema).ok_or_else(|| err!(ER_BAD_DB_ERROR, schema))?;
        match found.events.contains_key(&event_key(name)) {
            true => Err(err!(ER_EVENT_ALREADY_EXISTS, name)),
            false => Ok(()),
        }
    }

    /// CREATE EVENT. Errors 1049, 1059, 1458, 1537.
    pub fn create_event(&mut self, event: Event) -> Result<()> {
        check_name(&event.name, ER_SP_WRONG_NAME)?;
        self.lock_events(&[(&event.schema, &event.name)])?;
        self.check_new_event(&event.schema, &event.name)?;
        self.put_event(event)
    }

    /// ALTER EVENT: `change` is given a copy that has the present status. Errors 1049, 1059, 1458, 1537, 1539.
    pub fn alter_event(
        &mut self,
        schema: &str,
        name: &str,
        to: Option<(&str, &str)>,
        change: impl FnOnce(&mut Event) -> Result<()>,
    ) -> Result<()> {
        match to {
            None => self.lock_events(&[(schema, name)])?,
            Some(to) => {
                check_name(to.1, ER_SP_WRONG_NAME)?;
                self.lock_events(&[(schema, name), to])?;
                self.check_new_event(to.0, to.1)?;
            }
        }
        let old = self.version().event(schema, name).ok_or_else(|| err!(ER_EVENT_DOES_NOT_EXIST, name))?;
        let runs = EventRuns::default();
        runs.note(Run { id: 0, last: old.runs.last(), over: false });
        let mut event =
            Event { said: old.status(), runs: Arc::new(runs), compiled: OnceLock::new(), ..Event::clone(old) };
        if let Some((schema, name)) = to {
            (event.schema, event.name) = (schema.to_string(), name.to_string());
        }
        if let Some(found) = self.version().schema(&event.schema) {
            event.settings.database_collation = found.default_collation.info().name.to_string();
        }
        change(&mut event)?;
        self.forget_event(schema, &event_key(name))?;
        self.put_event(event)
    }

    /// DROP EVENT; of several definitions of that name only the one with `id`, if it is said. Error 1539.
    pub fn drop_event(&mut self, schema: &str, name: &str, id: Option<u64>) -> Result<()> {
        self.lock_events(&[(schema, name)])?;
        let found = self.version().event(schema, name).filter(|event| id.is_none_or(|id| id == event.id));
        if found.is_none() {
            return Err(err!(ER_EVENT_DOES_NOT_EXIST, name));
        }
        self.forget_event(schema, &event_key(name))
    }

    /// Those of a schema that goes.
    pub(crate) fn drop_events(&mut self, schema: &str) -> Result<()> {
        let keys: Vec<String> =
            self.version().schema(schema).into_iter().flat_map(|s| s.events.keys().cloned()).collect();
        keys.iter().try_for_each(|key| self.forget_event(schema, key))
    }

    fn put_event(&mut self, event: Event) -> Result<()> {
        let event = Event { id: self.new_id()?, ..event };
        let (tree, key) = (self.engine().dictionary(), event.key());
        dictionary::put(self.tx(), tree, Kind::Event, &event.schema, &key, &write(&event))?;
        // Of an event of that name that is gone another one has nothing.
        let run = event.runs.last().map(|last| Run { id: event.id, last: Some(last), over: false });
        let json = run.map_or_else(Vec::new, |run| serde_json::to_vec(&run).expect("numbers become JSON"));
        dictionary::put(self.tx(), tree, Kind::EventRun, &event.schema, &key, &json)?;
        self.touch(Touched::Event(event.schema.clone(), key));
        self.next_version().insert_event(Arc::new(event));
        Ok(())
    }

    fn forget_event(&mut self, schema: &str, key: &str) -> Result<()> {
        let tree = self.engine().dictionary();
        dictionary::remove(self.tx(), tree, Kind::Event, schema, key)?;
        dictionary::remove(self.tx(), tree, Kind::EventRun, schema, key)?;
        self.touch(Touched::Event(schema.to_string(), key.to_string()));
        self.next_version().remove_event(schema, key);
        Ok(())
    }
}
