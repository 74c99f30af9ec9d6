//! Setting Performance Schema up, and what its tables refuse.

use super::{HAS_HISTORY, INSTRUMENTED, Lane};
use crate::Server;
use crate::session::Session;
use crate::variables::{Globals, Val, VarId, id};
use observe::forgotten::Events;
use observe::watched::Answers;
use std::sync::atomic::Ordering;
use types::codes::*;
use types::{Result, SqlError, err};

/// The schema whose definition nobody changes.
pub(crate) const PERFORMANCE_SCHEMA: &str = "performance_schema";

const IS_ON: VarId = id("performance_schema");
const ACTORS_SIZE: VarId = id("performance_schema_setup_actors_size");
const OBJECTS_SIZE: VarId = id("performance_schema_setup_objects_size");

const DIGESTS_SIZE: VarId = id("performance_schema_digests_size");
const HISTORY_SIZES: [(Events, VarId); 4] = [
    (Events::Statements, id("performance_schema_events_statements_history_size")),
    (Events::Transactions, id("performance_schema_events_transactions_history_size")),
    (Events::Stages, id("performance_schema_events_stages_history_size")),
    (Events::Waits, id("performance_schema_events_waits_history_size")),
];

/// How many there may be, as an option says: -1 is for any number.
pub(super) fn size(globals: &Globals, id: VarId) -> usize {
    match globals.get(id) {
        Val::Int(n) => usize::try_from(*n).unwrap_or(usize::MAX),
        Val::UInt(n) => *n as usize,
        _ => usize::MAX,
    }
}

/// The same where -1 is for what serves most.
fn autosized(globals: &Globals, id: VarId, usual: usize) -> usize {
    match size(globals, id) {
        usize::MAX => usual,
        size => size,
    }
}

/// Sets up what is collected, as the options say. Called when the server starts.
pub(crate) fn start(globals: &Globals) {
    let (mut actors, mut objects) = (size(globals, ACTORS_SIZE), size(globals, OBJECTS_SIZE));
    for (events, id) in HISTORY_SIZES {
        observe::setup::set_history(events, autosized(globals, id, 10));
    }
    observe::digests::set_size(autosized(globals, DIGESTS_SIZE, 10_000));
    if !globals.bool(IS_ON) {
        observe::setup::switch_off();
        (actors, objects) = (0, 0);
    }
    inspect::setup::start(actors, objects);
}

impl Lane {
    /// Is the session instrumented, and does it have a history?
    pub fn answers(&self) -> Answers {
        // Relaxed: a figure for the reader.
        let watched = self.watched.load(Ordering::Relaxed);
        Answers { enabled: watched & INSTRUMENTED != 0, other: watched & HAS_HISTORY != 0 }
    }

    /// Its statements go by it from the next one on.
    pub fn watch(&self, answers: Answers) {
        let bit = |yes, bit| if yes { bit } else { 0 };
        let watched = bit(answers.enabled, INSTRUMENTED) | bit(answers.other, HAS_HISTORY);
        // Relaxed: nothing hangs from it.
        self.watched.store(watched, Ordering::Relaxed);
    }

    /// The account is known: `setup_actors` says.
    pub fn watch_account(&self, user: &str, host: &str) {
        self.watch(observe::watched::actor(user, inspect::without_port(host)));
    }
}

impl Server {
    /// UPDATE of `threads`.
    pub(crate) fn watch_thread(&self, thread: u64, answers: Answers) {
        // Acquire: pairs with Release in `Entry::open`.
        let found = self.processes.0.iter_claimed().find(|(_, lane)| lane.id.load(Ordering::Acquire) == thread);
        match found {
            Some((_, lane)) => lane.performance.watch(answers),
            None => self.events.watch(thread, answers),
        }
    }
}

impl Session {
    /// Error 1142 for what a table of `performance_schema` is not there for.
    #[cold]
    pub(crate) fn denied_computed(&self, command: &str, table: &str) -> SqlError {
        let access = self.access();
        err!(ER_TABLEACCESS_DENIED_ERROR, command, access.account().name.user, access.client_host(), table)
    }

    /// Error 1142 for a table of `performance_schema` that is there: nobody drops it.
    pub(crate) fn refuse_to_drop(&mut self, schema: &str, table: &str) -> Result<()> {
        let is_there = schema == PERFORMANCE_SCHEMA && self.dictionary().table(schema, table).is_some();
        if is_there { Err(self.denied_computed("DROP", table)) } else { Ok(()) }
    }

    /// TRUNCATE TABLE of a table of `performance_schema`. Errors 1142, 1146.
    pub(crate) fn truncate_computed(&mut self, schema: &str, table: &str) -> Result<()> {
        let found = self.dictionary().table(schema, table).cloned();
        let Some(found) = found else {
            return Err(self.missing_or_unlocked(err!(ER_NO_SUCH_TABLE, schema, table)));
        };
        let Some(rows) = found.virtual_rows.as_ref().filter(|rows| rows.writes().truncate) else {
            return Err(self.denied_computed("DROP", table));
        };
        self.commit_all()?;
        match table.to_ascii_lowercase().as_str() {
            "prepared_statements_instances" => super::forget_prepared(),
            "global_status" => self.flush_status(),
            lower if crate::seen::truncate(&self.server, lower) => {}
            _ => return rows.truncate(&self.inspect_context()),
        }
        Ok(())
    }
}
