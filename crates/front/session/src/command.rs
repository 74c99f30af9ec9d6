//! One session: its state, and the dispatch of commands.

use crate::authority::SYSTEM_USER;
use crate::error_log::Level;
use crate::login::ChangeUser;
use crate::needs::Action;
use crate::panics::{self, Panicked};
use crate::process::Doing;
use crate::process_entry::Entry;
use crate::session::bound::Bound;
use crate::session::plans::PlanCache;
use crate::session::programs::Programs;
use crate::session::statements::Statements;
use crate::session::temporary::Temporary;
use crate::session::tracking::{Changes, Tracking};
use crate::session::transaction::TransactionState;
use crate::session::{Done, Session};
use crate::sink::gone;
use crate::state::State;
use crate::variables::{LOCK_WAIT, VarId, id};
use crate::{Server, memory};
use engine::Transaction;
use expr::Env;
use observe::instrument::{self, InstrumentId};
use observe::{Counter, SessionCounters};
use protocol::command::{malformed_packet, unknown_command};
use protocol::handshake;
use protocol::{AnswerStart, ClosedBy, Command, Connection, HangUp, Next, OkReply, Output, Peer, ServerStatus};
use run::Outcome;
use std::sync::Arc;
use std::time::Duration;
use types::codes::*;
use types::sql_mode::SqlMode;
use types::{Result, SqlError, err};

const MAX_ALLOWED_PACKET: VarId = id("max_allowed_packet");
const NET_READ_TIMEOUT: VarId = id("net_read_timeout");
const NET_WRITE_TIMEOUT: VarId = id("net_write_timeout");
const DATABASE_CHARSET: VarId = id("character_set_database");
const DATABASE_COLLATION: VarId = id("collation_database");

const QUIT: InstrumentId = instrument::id("statement/com/Quit");
const CHANGE_USER: InstrumentId = instrument::id("statement/com/Change user");

/// The `Com_*` counter of a command that brings no statement.
fn kind_of_command(command: &Command<'_>) -> Option<&'static str> {
    Some(match command {
        Command::Ping | Command::ResetConnection | Command::Debug => "admin_commands",
        Command::RegisterReplica(_) | Command::BinlogDump(_) => "admin_commands",
        Command::InitDb(_) => "change_db",
        Command::FieldList { .. } => "show_fields",
        // As in MySQL, which takes it for the statement.
        Command::Statistics => "show_status",
        Command::ProcessKill { .. } => "kill",
        Command::SetOption(_) => "set_option",
        _ => return None,
    })
}

/// What the logs call a command that brings no statement, and its argument.
fn name_of_command<'c>(command: &Command<'c>) -> (&'static str, &'c [u8]) {
    match *command {
        Command::InitDb(name) => ("Init DB", name),
        Command::Ping => ("Ping", b""),
        Command::Statistics => ("Statistics", b""),
        Command::FieldList { table, .. } => ("Field List", table),
        Command::ProcessKill { .. } => ("Kill", b""),
        Command::ResetConnection => ("Reset Connection", b""),
        Command::Debug => ("Debug", b""),
        Command::SetOption(_) => ("Set option", b""),
        Command::StmtClose { .. } => ("Close stmt", b""),
        Command::StmtReset { .. } => ("Reset stmt", b""),
        Command::StmtFetch { .. } => ("Fetch", b""),
        Command::StmtSendLongData { .. } => ("Long Data", b""),
        Command::BinlogDump(_) => ("Binlog Dump", b""),
        Command::RegisterReplica(_) => ("Register Replica", b""),
        _ => ("", b""),
    }
}

impl Session {
    /// A session for a connection just accepted; `id` is the connection id.
    pub fn new(server: &Arc<Server>, id: u32, peer: Peer, hang_up: HangUp) -> Result<Session> {
        let mut tx = Transaction::new(&server.engine).map_err(|_| err!(ER_CON_COUNT_ERROR))?;
        let mut state = State::new(server, id);
        tx.set_lock_wait_timeout(Duration::from_secs(state.vars.uint(LOCK_WAIT)));
        let interrupt = Arc::clone(tx.interrupt());
        let entry = Entry::open(server, id.into(), peer.host_and_port(), interrupt, hang_up);
        let entry = entry.ok_or_else(|| err!(ER_CON_COUNT_ERROR))?;
        state.lane = Some(entry.id());
        if let Some(teller) = state.teller() {
            tx.tell_of_undoing(teller);
        }
        let counters = SessionCounters::new();
        let memory = memory::open(&entry);
        entry.lane().seen.count_in(counters.shared(), Arc::clone(&memory));
        state.bound_events(&mut tx);
        let tracking = Tracking::new(&state.vars);
        Ok(Session {
            memory,
            entry,
            server: Arc::clone(server),
            peer,
            scramble: [0; 20],
            tls: None,
            compression: None,
            access: None,
            definers: Vec::new(),
            lent_rights: None,
            password_expired: false,
            xa: None,
            connected: None,
            restricted: false,
            aborted: None,
            generated: Vec::new(),
            binlog_events: None,
            interactive: false,
            can_leave_out_metadata: false,
            found_rows: false,
            catalog: server.catalog.cell().cached(),
            pins: server.catalog.claim_pins(&tx, id.into()).ok_or_else(|| err!(ER_CON_COUNT_ERROR))?,
            temporary: Temporary::default(),
            upload: None,
            dump: None,
            locked: None,
            tx,
            beside: None,
            transaction: TransactionState::default(),
            state,
            statements: Statements::default(),
            handlers: Vec::new(),
            bound: Bound::default(),
            plans: PlanCache::default(),
            programs: Programs::default(),
            counters,
            tracking,
            more: false,
            settles_later: false,
            has_deadline: false,
            gathers_until: None,
            unsettled: false,
            answer_at: AnswerStart::default(),
            format: protocol::RowFormat::Text,
            log: crate::logs::Progress::default(),
            profiles: None,
            recorder: crate::performance::Recorder::default(),
            hinted: Vec::new(),
        })
    }

    pub(crate) fn entry_identify(&self, user: &str) {
        let connection_type = match (self.peer, &self.tls) {
            (_, Some(_)) => "SSL/TLS",
            (Peer::Unix, None) => "Socket",
            (Peer::Tcp(_), None) => "TCP/IP",
        };
        self.entry.identify(user, connection_type, self.state.database.as_deref());
    }

    pub(crate) fn pause(&mut self) {
        self.counters.detach();
        self.entry.shrink();
    }

    /// Reads the connection's settings off the variables.
    pub(crate) fn apply_to(&self, conn: &mut Connection) {
        let vars = &self.state.vars;
        conn.set_max_allowed_packet(vars.uint(MAX_ALLOWED_PACKET) as usize);
        conn.set_net_read_timeout(Duration::from_secs(vars.uint(NET_READ_TIMEOUT)));
        // A socket that refuses the option fails at its next write, which is answered there.
        let _ = conn.set_net_write_timeout(Duration::from_secs(vars.uint(NET_WRITE_TIMEOUT)));
        crate::charset::apply_results(&self.state, conn.output());
        self.apply_memory_limits();
    }

    /// Status flags of OK and EOF packets.
    #[inline]
    pub(crate) fn status(&self, more: bool) -> ServerStatus {
        let autocommit = self.state.vars.hot().autocommit;
        let in_transaction = self.transaction.explicit || (self.tx.is_active() && !autocommit);
        ServerStatus::NONE
            .with(ServerStatus::AUTOCOMMIT, autocommit)
            .with(ServerStatus::IN_TRANSACTION, in_transaction)
            .with(ServerStatus::IN_TRANSACTION_READONLY, in_transaction && self.transaction.read_only)
            .with(ServerStatus::NO_INDEX_USED, self.recorder.uses_no_index | self.recorder.part_uses_no_index)
            .with(ServerStatus::NO_BACKSLASH_ESCAPES, self.state.sql_mode.has(SqlMode::NO_BACKSLASH_ESCAPES))
            .with(ServerStatus::MORE_RESULTS_EXISTS, more)
    }

    /// An OK packet for a statement without result set.
    pub(crate) fn ok(&mut self, out: &mut Output, outcome: &Outcome) -> Result<()> {
        // The statements of a program have one answer, that of CALL.
        if !self.programs.calls.is_empty() {
            return Ok(());
        }
        let status = self.status(self.more);
        let changes = self.changes(out);
        let changes = changes.as_ref().map(Changes::list).unwrap_or_default();
        let reply = OkReply {
            affected_rows: outcome.affected_rows,
            insert_id: outcome.insert_id,
            status,
            warnings: self.state.wire_warnings(),
            info: &outcome.info,
            changes: &changes,
        };
        if self.unsettled {
            self.answer_at = out.answer_start();
            out.hold(true);
        }
        out.ok(&reply).map_err(|_| gone())
    }

    /// The end of a statement's rows.
    #[inline]
    pub(crate) fn end_rows(&mut self, out: &mut Output) -> Result<()> {
        let (status, warnings) = (self.status(self.more), self.state.wire_warnings());
        let sent = match self.changes(out) {
            None => out.end_rows(status, warnings),
            Some(changes) => {
                out.end_rows_with(&OkReply { status, warnings, changes: &changes.list(), ..OkReply::default() })
            }
        };
        sent.map_err(|_| gone())
    }

    /// The calling thread works for the session, which is attached, until [`Session::stop_attending`]: it counts for it, also its waits.
    #[inline]
    pub(crate) fn attend(&self) {
        self.counters.enter();
        sync::blocking::count_in(self.tx.interrupt().book());
    }

    /// The calling thread works for itself again.
    #[inline]
    pub(crate) fn stop_attending(&self) {
        sync::blocking::count_in(None);
        self.counters.leave();
    }

    /// One command. An error of a statement is answered and the session goes on, also after a panic.
    #[inline]
    pub(crate) fn serve(&mut self, conn: &mut Connection) -> Next {
        self.memory.arm();
        let next = match panics::catch(|| self.serve_command(conn)) {
            Ok(next) => next,
            Err(panicked) => self.recover(conn, &panicked),
        };
        self.memory.end();
        next
    }

    #[inline]
    fn serve_command(&mut self, conn: &mut Connection) -> Next {
        let capabilities = conn.capabilities();
        sync::blocking::serve(self.tx.interrupt());
        if self.tx.interrupt().reason() != 0 {
            // KILL QUERY came too late for the statement that it was meant for; KILL CONNECTION never does.
            self.tx.interrupt().clear_statement();
            if self.tx.interrupt().reason() != 0 {
                return self.end_killed(conn);
            }
        }
        let (packet, out) = conn.split();
        let command = match Command::parse(packet, capabilities) {
            Ok(command) => command,
            Err(_) => return self.answer_error(out, &malformed_packet()),
        };
        self.more = false;
        self.state.begin_statement();
        self.begin_logged(out);
        let result = match command {
            Command::Query { text, attributes } => {
                self.state.take_attributes(&attributes);
                self.memory.begin();
                self.entry.begin(Doing::Query, text, self.state.clock_us);
                self.query(text, out)
            }
            Command::StmtExecute { statement_id, cursor, body } => {
                self.execute_statement(statement_id, cursor, body, out)
            }
            Command::Quit => {
                self.log_administration("Quit", b"");
                self.note_event(QUIT, None);
                self.end_logged(None, out);
                return Next::Close;
            }
            Command::ChangeUser(request) => {
                let text = |b: &[u8]| String::from_utf8_lossy(b).into_owned();
                let wanted = request.collation.unwrap_or(255);
                let request = ChangeUser {
                    user: handshake::name(request.user, wanted),
                    auth_reply: request.auth_reply.to_vec(),
                    database: handshake::name(request.database, wanted),
                    collation: request.collation,
                    plugin: text(request.plugin),
                    attributes: handshake::owned(&request.attributes),
                };
                self.memory.begin();
                observe::increment(self.com("admin_commands"));
                self.entry.doing(Doing::ChangeUser, self.state.clock_us);
                self.log_administration("Change user", b"");
                self.note_event(CHANGE_USER, None);
                let next = self.change_user(conn, request);
                self.end_logged(None, conn.output());
                self.entry.sleep();
                return next;
            }
            other => {
                self.memory.begin();
                self.rare(other, out)
            }
        };
        let result = match result {
            Ok(Done::Upload) => self.uploads(conn),
            Ok(Done::Dump) => self.dump_binlog(conn),
            other => other,
        };
        self.end_logged(result.as_ref().err(), conn.output());
        let next = match result {
            Ok(Done::Close | Done::Upload | Done::Dump) => Next::Close,
            Ok(Done::Answered) => Next::Continue,
            Err(error) => {
                let next = self.answer_error(conn.output(), &error);
                // A client that reads frames where there are none waits for the rest of one for ever.
                let is_frame = error.code == unknown_command().code && conn.may_send_frames();
                if is_frame { Next::Close } else { next }
            }
        };
        if self.settings_changed() {
            self.apply_to(conn);
        }
        if self.unsettled {
            return Next::Settle;
        }
        self.after_command(next)
    }

    /// After a panic: the command is over and its transaction rolled back. What it had taken out of the session is gone: plans, which are
    /// made anew, and the prepared statement that it ran, whose operators are half-way.
    #[cold]
    fn recover(&mut self, conn: &mut Connection, panicked: &Panicked) -> Next {
        let error = self.note_panic(panicked);
        let out = conn.output();
        out.abandon();
        out.hold(false);
        (self.more, self.settles_later, self.unsettled) = (false, false, false);
        (self.upload, self.state.inspect) = (None, None);
        self.transaction.tells_kept = false;
        while !self.hinted.is_empty() {
            self.end_hints();
        }
        self.abandon_programs();
        self.end_deadline(None);
        self.xa_over();
        self.rollback_all();
        let error = self.failed(error);
        let next = self.answer_error(conn.output(), &error);
        self.after_command(next)
    }

    /// Counts a panic and tells the error log of it. Error 1815 for the client.
    #[cold]
    pub(crate) fn note_panic(&self, panicked: &Panicked) -> SqlError {
        observe::increment(Counter::StatementsPanicked);
        let reference = panics::reference();
        let digest = sql::digest::digest_text(&self.entry.text(), self.state.digesting());
        let Panicked { message, backtrace } = panicked;
        let text = format!("statement {reference} panicked: {digest}\n{message}\n{backtrace}");
        panics::note_of(self.state.id, Level::Error, 0, &text);
        err!(ER_INTERNAL_ERROR, format!("the statement failed (reference {reference})"))
    }

    /// The login. A panic ends the connection.
    pub(crate) fn admit(&mut self, conn: &mut Connection) -> Next {
        self.memory.arm();
        self.memory.begin();
        let next = panics::catch(|| self.greet(conn));
        self.memory.end();
        let panicked = match next {
            Ok(next) => return next,
            Err(panicked) => panicked,
        };
        let error = self.note_panic(&panicked);
        conn.output().abandon();
        self.answer_error(conn.output(), &error);
        Next::Close
    }

    /// The command has its answer.
    pub(crate) fn after_command(&mut self, next: Next) -> Next {
        self.entry.sleep();
        self.hand_over_variables();
        // A killed connection ends; the client has been told 1317 if a statement was running.
        if self.tx.interrupt().reason() == 2 { Next::Close } else { next }
    }

    /// LOAD DATA LOCAL, as often as the text has it.
    #[cold]
    fn uploads(&mut self, conn: &mut Connection) -> Result<Done> {
        loop {
            match self.receive_upload(conn) {
                Ok(Done::Upload) => {}
                other => return other,
            }
        }
    }

    pub(crate) fn answer_error(&mut self, out: &mut Output, error: &SqlError) -> Next {
        if error.code == gone().code {
            return Next::Close;
        }
        if out.error(error).is_err() || memory::closes(error) { Next::Close } else { Next::Continue }
    }

    /// Commands other than the hot two.
    fn rare(&mut self, command: Command<'_>, out: &mut Output) -> Result<Done> {
        let io = |r: std::io::Result<()>| r.map(|()| Done::Answered).map_err(|_| gone());
        self.note_command(&command)?;
        match command {
            Command::Ping => {
                self.ok(out, &Outcome::default())?;
                Ok(Done::Answered)
            }
            Command::InitDb(name) => {
                self.entry.doing(Doing::InitDb, self.state.clock_us);
                self.state.clear_conditions();
                self.refresh_access()?;
                let name = String::from_utf8_lossy(name).into_owned();
                self.use_database(&name)?;
                self.ok(out, &Outcome::default())?;
                Ok(Done::Answered)
            }
            Command::FieldList { table, .. } => self.field_list(table, out),
            Command::Statistics => {
                self.entry.doing(Doing::Statistics, self.state.clock_us);
                io(out.statistics(&self.statistics()))
            }
            Command::ProcessKill { id } => {
                self.refresh_access()?;
                self.kill(id.into(), false)?;
                self.ok(out, &Outcome::default())?;
                Ok(Done::Answered)
            }
            Command::ResetConnection => {
                self.entry.doing(Doing::ResetConnection, self.state.clock_us);
                self.forget();
                self.ok(out, &Outcome::default())?;
                Ok(Done::Answered)
            }
            Command::SetOption(option) => {
                match option {
                    0 => out.set_multi_statements(true),
                    1 => out.set_multi_statements(false),
                    _ => return Err(unknown_command()),
                }
                let (status, warnings) = (self.status(false), self.state.wire_warnings());
                io(out.eof(status, warnings))
            }
            Command::StmtPrepare { text } => {
                self.entry.begin(Doing::Prepare, text, self.state.clock_us);
                self.prepare_statement(text, out)
            }
            Command::StmtSendLongData { statement_id, parameter, data } => {
                // No answer, not even an error: the execution tells.
                self.long_data(statement_id, parameter, data);
                Ok(Done::Answered)
            }
            Command::StmtClose { statement_id } => {
                self.close_statement(statement_id);
                Ok(Done::Answered)
            }
            Command::StmtReset { statement_id } => {
                self.reset_statement(statement_id)?;
                self.ok(out, &Outcome::default())?;
                Ok(Done::Answered)
            }
            Command::StmtFetch { statement_id, rows } => {
                self.entry.doing(Doing::Fetch, self.state.clock_us);
                self.fetch(statement_id, rows, out)
            }
            Command::Debug => {
                self.refresh_access()?;
                self.need(Action::Debug)?;
                self.tell_status();
                let (status, warnings) = (self.status(false), self.state.wire_warnings());
                io(out.eof(status, warnings))
            }
            Command::RegisterReplica(replica) => {
                self.entry.doing(Doing::RegisterReplica, self.state.clock_us);
                self.register_replica(replica, out)
            }
            Command::BinlogDump(dump) => {
                let by_gtid = dump.gtids.is_some();
                let doing = if by_gtid { Doing::BinlogDumpGtid } else { Doing::BinlogDump };
                self.entry.begin(doing, b"", self.state.clock_us);
                self.dump = Some(Box::new(dump.into()));
                Ok(Done::Dump)
            }
            Command::Clone(request) => {
                self.entry.begin(Doing::Clone, b"", self.state.clock_us);
                self.send_copy(request, out)
            }
            _ => Err(unknown_command()),
        }
    }

    /// Counts and logs a command, unless the account's state forbids it.
    fn note_command(&mut self, command: &Command<'_>) -> Result<()> {
        // What is prepared is looked at statement by statement.
        let is_harmless = matches!(
            command,
            Command::Ping | Command::StmtPrepare { .. } | Command::StmtClose { .. } | Command::StmtSendLongData { .. }
        );
        if !is_harmless {
            self.refresh_access()?;
            self.refuse_expired()?;
        }
        if let Some(kind) = kind_of_command(command) {
            observe::increment(self.com(kind));
        }
        let (name, argument) = name_of_command(command);
        if !name.is_empty() {
            self.log_administration(name, argument);
            if let Some(class) = instrument::find_joined("statement/com/", name) {
                self.note_event(class, None);
            }
        }
        Ok(())
    }

    /// The line that COM_STATISTICS answers with.
    fn statistics(&self) -> String {
        let uptime = observe::clock::uptime_s();
        let questions = observe::sum(Counter::Questions);
        let average = questions as f64 / uptime.max(1) as f64;
        format!(
            "Uptime: {uptime}  Threads: {}  Questions: {questions}  Slow queries: {}  Opens: 0  Flush tables: 0  \
             Open tables: 0  Queries per second avg: {average:.3}",
            self.server.processes.connected(),
            observe::sum(Counter::SlowQueries),
        )
    }

    /// COM_DEBUG: what runs and what has been counted, for the error log.
    #[cold]
    fn tell_status(&self) {
        let mut text = String::from("Status information:");
        for (name, n) in observe::status() {
            text += &format!("\n  {name}: {n}");
        }
        for process in self.server.processes.list() {
            let (id, user, host) = (process.id, &process.user, &process.host);
            text += &format!("\n  connection {id}: {user}@{host} {} {}", process.command, process.state);
        }
        panics::tell(&text);
    }

    /// The privileges as of now: one load when no account has changed. Error 1820 while the password is expired.
    #[inline]
    pub(crate) fn refresh_access(&mut self) -> Result<()> {
        let access = self.access.as_mut().expect("statements come after the login");
        if access.refresh(&self.server.accounts) {
            self.privileges_changed();
        }
        Ok(())
    }

    #[cold]
    fn privileges_changed(&mut self) {
        self.restrict();
        self.show_roles();
        self.note_privileges();
        self.apply_memory_limits();
    }

    /// What others may do with this session, by its privileges.
    pub(crate) fn note_privileges(&self) {
        let admin = crate::needs::may(self.access(), Action::ReservedConnection);
        self.entry.note_privileges(self.access().has_dynamic(SYSTEM_USER), admin);
    }

    /// Notes whether statements have to be looked at by [`Session::check_restrictions`].
    pub(crate) fn restrict(&mut self) {
        let counted = self.connected.is_some() && self.access().account().limits.counts_statements();
        self.restricted = self.password_expired || counted || self.xa.is_some();
    }

    /// What an expired password, the limits of the account or an XA transaction that was ended forbid. Errors 1226, 1399, 1820, 4091.
    #[cold]
    pub(crate) fn check_planned(&self, prepared: &run::Prepared) -> Result<()> {
        self.check_xa_planned(prepared)?;
        self.check_restrictions(false, prepared.writes())
    }

    /// Error 1820 while the password is expired: then nothing is to be had but a new one.
    pub(crate) fn refuse_expired(&self) -> Result<()> {
        if self.password_expired { Err(err!(ER_MUST_CHANGE_PASSWORD)) } else { Ok(()) }
    }

    #[cold]
    pub(crate) fn check_restrictions(&self, changes_password: bool, is_update: bool) -> Result<()> {
        if !changes_password {
            self.refuse_expired()?;
        }
        let Some(connected) = &self.connected else { return Ok(()) };
        let account = self.access().account();
        connected.usage().statement(&account.name.user, &account.limits, is_update, accounts::password::now_s())
    }

    /// USE. Errors 1044, 1049, 1046 for an empty name.
    pub(crate) fn use_database(&mut self, name: &str) -> Result<()> {
        if name.is_empty() {
            return Err(err!(ER_NO_DB_ERROR));
        }
        let version = Arc::clone(self.catalog.get(self.server.catalog.cell()));
        self.access().check_use(name)?;
        let schema = version.schema(name).ok_or_else(|| err!(ER_BAD_DB_ERROR, name))?;
        self.state.database = Some(schema.name.clone());
        let collation = schema.default_collation;
        let text = |s: &'static str| crate::variables::Val::Str(s.into());
        self.state.vars.set_all([
            (DATABASE_CHARSET, text(collation.charset().name())),
            (DATABASE_COLLATION, text(collation.info().name)),
        ]);
        self.entry.use_database(self.state.database.as_deref());
        // Unqualified names mean other tables now.
        self.plans.clear();
        self.tracking.schema();
        Ok(())
    }

    /// COM_RESET_CONNECTION and COM_CHANGE_USER: back to the state of a fresh connection, same account and database.
    pub(crate) fn forget(&mut self) {
        self.xa_over();
        self.rollback_all();
        self.drop_all_temporary();
        self.unlock_all();
        self.handlers.clear();
        self.drop_statements();
        self.plans.clear();
        self.programs = Programs::default();
        self.transaction = TransactionState::default();
        self.state.reset();
        self.tracking = Tracking::new(&self.state.vars);
        self.tx.set_lock_wait_timeout(Duration::from_secs(self.state.vars.uint(LOCK_WAIT)));
        self.transaction.settings_changed = true;
    }

    pub(crate) fn settings_changed(&mut self) -> bool {
        std::mem::take(&mut self.transaction.settings_changed)
    }

    /// The connection is over.
    pub(crate) fn close(mut self, by: ClosedBy) {
        self.audit_end(by);
        if matches!(by, ClosedBy::Client | ClosedBy::IdleTimeout | ClosedBy::ProtocolError) {
            observe::increment(Counter::AbortedClients);
            self.note_aborted(by);
        }
        self.xa_over();
        self.rollback_all();
        self.drop_all_temporary();
        self.unlock_all();
        self.drop_statements();
        if self.server.binlog.is_some() {
            self.server.replicas.lock().remove(&self.state.id);
            self.server.dumps.lock().remove(&self.state.id);
        }
    }

    /// COM_FIELD_LIST: the columns of a table, for old clients.
    fn field_list(&mut self, table: &[u8], out: &mut Output) -> Result<Done> {
        self.refresh_access()?;
        let name = String::from_utf8_lossy(table).into_owned();
        let schema = self.state.database().ok_or_else(|| err!(ER_NO_DB_ERROR))?.to_string();
        let version = self.dictionary();
        self.need_on_shared(Action::Read, &schema, &name)?;
        let table = version.table(&schema, &name).ok_or_else(|| err!(ER_NO_SUCH_TABLE, schema, name))?;
        for column in table.named_columns() {
            let wire = protocol::Column {
                schema: &schema,
                table: &name,
                org_table: &name,
                name: &column.name,
                org_name: &column.name,
                data_type: column.data_type,
                flags: protocol::ColumnFlags::KEPT,
            };
            out.field_list_column(&wire, None).map_err(|_| gone())?;
        }
        let status = self.status(false);
        out.end_rows(status, 0).map_err(|_| gone())?;
        Ok(Done::Answered)
    }

    /// KILL. Errors 1094, 1095.
    pub(crate) fn kill(&mut self, id: u64, query: bool) -> Result<()> {
        let (user, is_system) = self.server.processes.user_of(id).ok_or_else(|| err!(ER_NO_SUCH_THREAD, id))?;
        let own = self.acting_user() == user;
        let may = own || crate::needs::may(self.access(), Action::KillOthers);
        if !may || (is_system && !self.access().has_dynamic(SYSTEM_USER)) {
            return Err(err!(ER_KILL_DENIED_ERROR, id));
        }
        if !query && id == u64::from(self.state.id) {
            // Its own connection, which is not hung up before it has the answer.
            self.tx.interrupt().raise(2);
            return Err(err!(ER_QUERY_INTERRUPTED));
        }
        if self.server.processes.kill(id, query) { Ok(()) } else { Err(err!(ER_NO_SUCH_THREAD, id)) }
    }
}
