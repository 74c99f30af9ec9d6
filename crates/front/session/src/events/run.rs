//! A run of an event: a session of its own, as the definer, with the settings of the definition.

use super::scheduler::{Scheduler, Task, Work};
use crate::Server;
use crate::clock::clock_us;
use crate::error_log::Level;
use crate::needs::{Action, check};
use crate::panics;
use crate::process::{Doing, new_id};
use crate::server::{EVENT_SCHEDULER, EVENTS_ON};
use crate::session::Session;
use crate::variables::{Val, VarId, id};
use accounts::AccountName;
use catalog::Event;
use protocol::{ClosedBy, HangUp, Output, Peer};
use run::program::{Compiled, Own};
use sql::print::quote_name;
use std::sync::{Arc, Weak};
use types::charset::Charset;
use types::codes::*;
use types::collation::CollationId;
use types::sql_mode::SqlMode;
use types::{Result, SqlError, err};

const SQL_MODE: VarId = id("sql_mode");
const TIME_ZONE: VarId = id("time_zone");
const COLLATION_CONNECTION: VarId = id("collation_connection");
const CHARSET_CONNECTION: VarId = id("character_set_connection");

/// Who the runs are logged in as.
const USER: &str = "event_scheduler@localhost";

/// How a condition of a run is told.
fn level_of(level: &str) -> Option<Level> {
    match level {
        "Error" => Some(Level::Error),
        "Warning" => Some(Level::Warning),
        // The error log has no notes.
        _ => None,
    }
}

impl Server {
    /// Events run from here on, if `event_scheduler` is ON.
    pub fn start_events(self: &Arc<Self>) {
        let server = Arc::downgrade(self);
        self.events.open(Work {
            catalog: Arc::clone(&self.catalog),
            launch: Box::new(move |event, task| launch(&server, event, task)),
            new_id,
            now_us: clock_us,
            tell: panics::tell,
        });
        let told: Weak<Scheduler> = Arc::downgrade(&self.events);
        self.catalog.on_events(Box::new(move || {
            if let Some(scheduler) = told.upgrade() {
                scheduler.wake();
            }
        }));
        self.events.set(self.globals.load().uint(EVENT_SCHEDULER) == EVENTS_ON);
    }

    /// Before the server ends: no run begins any more, and those that go on are killed.
    pub fn stop_events(&self) {
        self.events.end(|id| _ = self.processes.kill(id.into(), false));
    }
}

fn launch(server: &Weak<Server>, event: &Arc<Event>, task: Task) {
    let Some(server) = server.upgrade() else { return };
    let (id, event, own) = (new_id(), Arc::clone(event), Arc::clone(&server));
    let begun = server.events.spawn(id, move || run(&own, id, &event, task));
    if let Err(e) = begun {
        panics::tell(&format!("Event Scheduler: cannot start a thread: {e}"));
    }
}

/// Tells the error log of something about the event.
fn tell(level: Level, event: &Event, text: &str) {
    let noted = err!(ER_EVENT_MESSAGE_STACK, event.definer, event.schema, event.name, text);
    panics::note(level, noted.code, &noted.message);
}

fn run(server: &Arc<Server>, id: u32, event: &Event, task: Task) {
    let opened = HangUp::of_nobody()
        .map_err(|e| SqlError::new(ER_CANT_CREATE_THREAD, format!("no socket: {e}")))
        .and_then(|(hang_up, peer)| Ok((Session::new(server, id, Peer::Unix, hang_up.clone())?, hang_up, peer)));
    let (mut session, hang_up, _peer) = match opened {
        Ok(opened) => opened,
        Err(e) => return tell(Level::Error, event, &e.message),
    };
    let mut out = Output::nowhere(&hang_up);
    session.counters.attach();
    session.attend();
    session.memory.arm();
    // A server that ends kills those that it knows; this one may have begun a moment too late.
    if !server.events.is_over() {
        sync::blocking::serve(session.tx.interrupt());
        session.memory.begin();
        match panics::catch(|| session.run_event(event, task, &mut out)) {
            Ok(()) => {}
            Err(panicked) => {
                let e = session.note_panic(&panicked);
                session.abandon_programs();
                tell(Level::Error, event, &e.message);
            }
        }
        session.memory.end();
    }
    session.stop_attending();
    session.counters.detach();
    session.close(ClosedBy::Service);
}

impl Session {
    fn run_event(&mut self, event: &Event, task: Task, out: &mut Output) {
        self.state.begin_statement();
        if let Task::Run { last } = task {
            // Without its definer an event is left as it is, disabled.
            if self.become_definer(event).is_err() {
                return;
            }
            self.run_body(event, out);
            if !last || event.preserve {
                return;
            }
        }
        if let Err(e) = self.drop_after_run(event) {
            tell(Level::Error, event, &e.message);
        }
    }

    /// The session becomes the one that the definition asks for. What keeps it from that has been told.
    fn become_definer(&mut self, event: &Event) -> std::result::Result<(), ()> {
        let (user, host) = event.definer.rsplit_once('@').unwrap_or((&event.definer, ""));
        let refused = |noted: SqlError, e: SqlError| {
            panics::note(Level::Error, noted.code, &noted.message);
            tell(Level::Error, event, &e.message);
        };
        let names = (&event.definer, &event.schema, &event.name);
        self.state.user = USER.to_string();
        let mut access = self.server.accounts.access(AccountName::new(user, host), host);
        if !access.is_there() {
            let noted = err!(ER_EVENT_EXECUTION_FAILED_CANT_AUTHENTICATE_USER, names.0, names.1, names.2);
            refused(noted, err!(ER_NO_SUCH_USER, user, host));
            return Err(());
        }
        let mandatory = self.server.mandatory_roles();
        let roles =
            crate::roles::default_roles(&self.server.accounts.directory(), &AccountName::new(user, host), &mandatory);
        access.set_roles(roles, mandatory);
        self.state.current_user = event.definer.clone();
        self.access = Some(access);
        self.restrict();
        self.note_privileges();
        self.entry.identify_event(user, host, &event.schema);
        if let Err(e) = check(self.access(), Action::Event, Some((&event.schema, ""))) {
            refused(err!(ER_EVENT_EXECUTION_FAILED_USER_LOST_EVEN_PRIVILEGE, names.0, names.1, names.2), e);
            return Err(());
        }
        self.apply_definition(event);
        Ok(())
    }

    fn apply_definition(&mut self, event: &Event) {
        let settings = &event.settings;
        let client = Charset::by_name(&settings.client_charset).map(CollationId::default_of);
        crate::charset::set_names(&mut self.state, client.unwrap_or(CollationId::UTF8MB4_0900_AI_CI));
        let connection = CollationId::by_name(&settings.connection_collation);
        let connection = connection.unwrap_or(CollationId::UTF8MB4_0900_AI_CI);
        let text = |s: &'static str| Val::Str(s.into());
        self.state.vars.set(CHARSET_CONNECTION, text(connection.charset().name()));
        self.state.vars.set(COLLATION_CONNECTION, text(connection.info().name));
        self.state.vars.set(TIME_ZONE, Val::Str(settings.time_zone.clone().into()));
        let known = types::sql_mode::SQL_MODES.iter().fold(0, |all, (_, mode)| all | mode.0);
        self.state.vars.set(SQL_MODE, Val::UInt(SqlMode(settings.sql_mode).0 & known));
        self.state.reload();
        self.state.read_clock();
    }

    fn run_body(&mut self, event: &Event, out: &mut Output) {
        self.entry.begin(Doing::Connect, event.body.as_bytes(), self.state.clock_us);
        let result = self.try_body(event, out);
        // What the body has begun and not committed.
        self.rollback_all();
        for condition in std::mem::take(&mut self.state.warnings) {
            if let Some(level) = level_of(condition.level) {
                tell(level, event, &condition.message);
            }
        }
        match result.map_err(|e| self.why_ended(e)) {
            // KILL, or the end of the server.
            Err(e) if e.code == ER_QUERY_INTERRUPTED => {}
            Err(e) => tell(Level::Error, event, &e.message),
            Ok(()) => {}
        }
    }

    fn try_body(&mut self, event: &Event, out: &mut Output) -> Result<()> {
        self.use_database(&event.schema)?;
        let compiled = Compiled::of_event(event)?;
        self.run_program(Own::new(compiled), out)
    }

    /// DROP EVENT of one that is over: whatever its definer may, and whether the server takes changes of others or not.
    fn drop_after_run(&mut self, event: &Event) -> Result<()> {
        self.state.begin_statement();
        self.access = Some(self.server.accounts.unlimited());
        self.restrict();
        self.state.clear_conditions();
        let text = format!("DROP EVENT IF EXISTS{}.{}", quote_name(&event.schema), quote_name(&event.name));
        self.state.log_text = self.state.logs_to().is_some().then(|| text.into_bytes());
        match self.define(|ddl| ddl.drop_event(&event.schema, &event.name, Some(event.id))) {
            // Others have dropped or changed it while it ran.
            Err(e) if matches!(e.code, ER_EVENT_DOES_NOT_EXIST) => Ok(()),
            dropped => dropped,
        }
    }
}
