//! Changes of a replication source, made in a session: the session's side of [`replica::Apply`].
//!
//! ```text
//!   QUERY event --> the session's variables become those of the source's --> obey, or plan and run
//!   row event   --> SourceTable --map_columns--> run::apply::RowApplier     no text, no plan
//!   commit      --> the channel's position into the dictionary, in the same transaction; log_commit; precommit
//! ```
//! The session is one like others, of the system's user: it is in the process list and can be killed, and all that it changes goes into
//! this server's own binary log as its changes (`log_replica_updates`), under the source's GTIDs.

use crate::applied::{Applied, Mapped, Target, Targets, place};
use crate::binary_log::LoggedAs;
use crate::replica_filters::is_taken;
use crate::run::{REPLANS_MAX, lexer_mode};
use crate::session::Session;
use crate::sink::MemorySink;
use crate::statement::parse_error;
use crate::variables::{Val, VarId, id};
use crate::{Server, charset, panics};
use accounts::AccountName;
use binlog::decode::{Change, Fit, QueryEvent, RowsEvent, SourceTable};
use binlog::event::{NO_FOREIGN_KEY_CHECKS, NO_UNIQUE_CHECKS, XaId};
use binlog::payload::{ROWS_NO_FOREIGN_KEYS, ROWS_RELAXED_UNIQUE};
use catalog::Column;
use engine::Isolation;
use expr::Execution;
use protocol::{HangUp, Peer};
use replica::{Apply, Filters, Mark, Origin, Position, Turn};
use run::apply::{Mode, RowApplier};
use run::{PlainReads, Run};
use sql::ast::{Parsed, Statement};
use std::cell::RefCell;
use std::sync::Arc;
use types::codes::*;
use types::collation::CollationId;
use types::sql_mode::SqlMode;
use types::{Result, SqlError, Value, err};

const SQL_MODE: VarId = id("sql_mode");
const TIME_ZONE: VarId = id("time_zone");
const FOREIGN_KEY_CHECKS: VarId = id("foreign_key_checks");
const UNIQUE_CHECKS: VarId = id("unique_checks");
const INCREMENT: VarId = id("auto_increment_increment");
const OFFSET: VarId = id("auto_increment_offset");
const COLLATION_CONNECTION: VarId = id("collation_connection");
const CHARSET_CONNECTION: VarId = id("character_set_connection");
const COLLATION_SERVER: VarId = id("collation_server");
const CHARSET_SERVER: VarId = id("character_set_server");
const COLLATION_DATABASE: VarId = id("collation_database");
const CHARSET_DATABASE: VarId = id("character_set_database");
const UTF8MB4_COLLATION: VarId = id("default_collation_for_utf8mb4");
const EXPLICIT_DEFAULTS: VarId = id("explicit_defaults_for_timestamp");
const DEFAULT_ENCRYPTION: VarId = id("default_table_encryption");
const REQUIRE_PRIMARY_KEY: VarId = id("sql_require_primary_key");
const SQL_LOG_BIN: VarId = id("sql_log_bin");
const LOG_UPDATES: VarId = id("log_replica_updates");
const EXEC_MODE: VarId = id("replica_exec_mode");
const CONVERSIONS: VarId = id("replica_type_conversions");
const TIMEOUT: VarId = id("innodb_lock_wait_timeout");

impl Targets {
    /// The table here that the rows of a source's table go to. Errors 1146, 1677.
    fn find(&mut self, session: &mut Session, source: &SourceTable) -> Result<()> {
        let version = session.dictionary();
        if let Some(target) = self.0.get(&source.id)
            && target.number == version.number
            && target.source.schema == source.schema
            && target.source.name == source.name
            && target.source.columns.len() == source.columns.len()
        {
            return Ok(());
        }
        self.0.remove(&source.id);
        let table = version.base_table(&source.schema, &source.name).filter(|t| t.is_base());
        let table = table.ok_or_else(|| err!(ER_NO_SUCH_TABLE, source.schema, source.name))?;
        let globals = session.server.globals.load();
        let mut source = source.clone();
        let columns = map_columns(&mut source, &table.columns, &table.schema, &table.name, globals.text(CONVERSIONS))?;
        let rows = RowApplier::new(&mut session.state, &version, table)?;
        let target = Target { rows, number: version.number, source, columns };
        // A source numbers its tables anew with each change of them.
        if self.0.len() >= TARGETS_MAX {
            self.0.clear();
        }
        self.0.insert(target.source.id, target);
        Ok(())
    }

    /// Makes the changes of a row event in the session's transaction, as one statement of it that has not ended. The session's checks,
    /// SQL mode and time are the event's from here on. Errors 1032, 1062, 1146, 1615, 1677, and those of writing rows.
    pub fn apply(
        &mut self,
        session: &mut Session,
        source: &SourceTable,
        event: &RowsEvent<'_>,
        timestamp: u32,
    ) -> Result<()> {
        let without = |flag| event.flags & flag == 0;
        session.set_event(timestamp, 0, (without(ROWS_NO_FOREIGN_KEYS), without(ROWS_RELAXED_UNIQUE)));
        session.state.sql_mode = SqlMode::NO_AUTO_VALUE_ON_ZERO;
        let mut pinned = false;
        for _ in 0..REPLANS_MAX {
            self.find(session, source)?;
            let target = &self.0[&source.id];
            if session.pin_tables(target.rows.pins(), true)? {
                pinned = true;
                break;
            }
        }
        if !pinned {
            return Err(err!(ER_NEED_REPREPARE));
        }
        session.begin_if_needed();
        let idempotent = session.server.globals.load().uint(EXEC_MODE) == 1;
        let mode = if idempotent { Mode::Idempotent } else { Mode::Strict };
        let target = self.0.get_mut(&source.id).expect("made above");
        let mut run = Run::new(&mut session.tx, &mut session.state, &[], &[]);
        (run.writes, run.plain_reads) = (true, PlainReads::Locked);
        write_rows(target, event, mode, &run)
    }
}

pub(crate) struct SessionApplier {
    session: Session,
    /// The transaction at hand has statements among its events.
    logged_as: LoggedAs,
    /// Its commit prepares it.
    prepares: Option<XaId>,
    targets: Targets,
    /// The other ends of the sockets that the session thinks it has.
    _peer: Box<dyn Send>,
}

impl SessionApplier {
    /// `channel`: where positions are kept. `number`: of this one among its appliers. Errors 1040, 1135.
    pub fn new(server: &Arc<Server>, channel: &str, number: usize, position: Position) -> Result<SessionApplier> {
        let id = crate::process::new_id();
        let (hang_up, peer) =
            HangUp::of_nobody().map_err(|e| SqlError::new(ER_CANT_CREATE_THREAD, format!("no socket: {e}")))?;
        let mut session = Session::new(server, id, Peer::Unix, hang_up)?;
        session.access = Some(server.accounts.unlimited());
        session.state.user = "system user@".to_string();
        session.state.current_user = "@".to_string();
        session.entry_identify("system user");
        session.restrict();
        let globals = server.globals.load();
        if !globals.bool(LOG_UPDATES) {
            session.state.vars.set(SQL_LOG_BIN, Val::Bool(false));
        }
        session.state.applied = Some(Box::new(Applied {
            channel: channel.to_string(),
            number,
            origin: Origin::default(),
            mark: RefCell::new(None),
            stored: RefCell::new(position),
        }));
        session.counters.attach();
        session.attend();
        session.memory.arm();
        let targets = Targets::default();
        Ok(SessionApplier { session, logged_as: LoggedAs::Rows, prepares: None, targets, _peer: Box::new(peer) })
    }

    /// Runs a step; a panic in it is its error, and the transaction is rolled back.
    fn step<T>(&mut self, step: impl FnOnce(&mut SessionApplier) -> Result<T>) -> Result<T> {
        sync::blocking::serve(self.session.tx.interrupt());
        self.session.memory.begin();
        let result = panics::catch(|| step(self));
        self.session.memory.end();
        match result {
            Ok(result) => result.map_err(|e| self.session.why_ended(e)),
            Err(panicked) => {
                let error = self.session.note_panic(&panicked);
                self.targets = Targets::default();
                self.session.rollback_all();
                Err(error)
            }
        }
    }

    fn applied(&mut self) -> &mut Applied {
        self.session.state.applied.as_mut().expect("an applier's session has it")
    }

    /// The session becomes the one that the statement ran in.
    fn set_session(&mut self, query: &QueryEvent<'_>, timestamp: u32) -> Result<()> {
        let has = |flag| query.flags.is_some_and(|flags| flags & flag != 0);
        self.session.set_event(timestamp, query.microseconds, (!has(NO_FOREIGN_KEY_CHECKS), !has(NO_UNIQUE_CHECKS)));
        let known = types::sql_mode::SQL_MODES.iter().fold(0, |all, (_, mode)| all | mode.0);
        self.session.set_own(SQL_MODE, Val::UInt(query.sql_mode.unwrap_or(SqlMode::DEFAULT.0) & known));
        let [client, connection, server] = query.collations.unwrap_or([45, 255, 255]).map(known_collation);
        charset::set_names(&mut self.session.state, client);
        let text = |s: &'static str| Val::Str(s.into());
        self.session.set_own(CHARSET_CONNECTION, text(connection.charset().name()));
        self.session.set_own(COLLATION_CONNECTION, text(connection.info().name));
        self.session.set_own(CHARSET_SERVER, text(server.charset().name()));
        self.session.set_own(COLLATION_SERVER, text(server.info().name));
        let utf8mb4 = query.utf8mb4_collation.map_or(CollationId::UTF8MB4_0900_AI_CI, known_collation);
        self.session.set_own(UTF8MB4_COLLATION, text(utf8mb4.info().name));
        if let Some(zone) = query.time_zone {
            self.session.set_own(TIME_ZONE, Val::Str(String::from_utf8_lossy(zone).into_owned().into()));
        }
        let (increment, offset) = query.auto_increment.unwrap_or((1, 1));
        self.session.set_own(INCREMENT, Val::UInt(increment.into()));
        self.session.set_own(OFFSET, Val::UInt(offset.into()));
        self.session.set_own(EXPLICIT_DEFAULTS, Val::Bool(query.explicit_defaults.unwrap_or(true)));
        if let Some(on) = query.default_encryption {
            self.session.set_own(DEFAULT_ENCRYPTION, Val::Bool(on));
        }
        self.session.set_own(REQUIRE_PRIMARY_KEY, Val::Bool(query.require_primary_key.unwrap_or(false)));
        let (user, host) = query.invoker.unwrap_or((b"", b"localhost"));
        let (user, host) = (String::from_utf8_lossy(user), String::from_utf8_lossy(host));
        let access = self.session.access.as_mut().expect("an applier's session has it");
        access.act_for(AccountName::new(&*user, &host));
        let state = &mut self.session.state;
        state.current_user = format!("{user}@{host}");
        state.pseudo_thread_id = query.thread_id.into();
        state.reload();
        state.read_clock();
        let database = String::from_utf8_lossy(query.database).into_owned();
        if state.database.as_deref().unwrap_or("") != database {
            self.use_database(&database)?;
        }
        Ok(())
    }

    fn use_database(&mut self, database: &str) -> Result<()> {
        let known = self.session.dictionary().schema(database).is_some();
        if known {
            return self.session.use_database(database);
        }
        // CREATE DATABASE runs in the one that it makes. Others fail where they need it, and only there.
        self.session.state.database = Some(database).filter(|name| !name.is_empty()).map(str::to_string);
        for (id, server) in [(CHARSET_DATABASE, CHARSET_SERVER), (COLLATION_DATABASE, COLLATION_SERVER)] {
            let value = self.session.state.vars.get(server).clone();
            self.session.set_own(id, value);
        }
        self.session.plans.clear();
        Ok(())
    }

    fn run_statement(&mut self, query: &QueryEvent<'_>, filters: &Filters) -> Result<()> {
        let text = charset::statement_text(&self.session.state, query.text).into_owned();
        self.session.entry.begin(crate::process::Doing::Query, &text, self.session.state.clock_us);
        let (mut parsed, tail) =
            sql::parse_next(&text, lexer_mode(self.session.state.sql_mode)).map_err(parse_error)?;
        if !tail.is_empty() {
            return Err(err!(ER_NOT_SUPPORTED_YET, "several statements in one event"));
        }
        parsed.utf8mb4_collation = query.utf8mb4_collation.map(known_collation);
        let database = String::from_utf8_lossy(query.database);
        if !is_taken(&parsed, &database, filters, &self.session.dictionary()) {
            return Ok(());
        }
        let room = plan::stack::stack_bytes(parsed.height());
        plan::stack::with_stack(room, || {
            if !crate::statement::is_planned(&parsed.statement) {
                return self.session.obey_event(Arc::new(parsed));
            }
            self.session.refresh_access()?;
            let mut planned = self.session.plan(parsed, &[])?;
            // Whoever logs statements logs queries that call functions, too; their rows are for nobody.
            observe::increment(planned.com);
            self.session.run_into(&mut planned, &[], &mut MemorySink::new(usize::MAX)).map(drop)
        })
    }

    /// CREATE TABLE ... START TRANSACTION: the table, and rows that follow, are one transaction at the source. Here the table is made
    /// first; that it has been is kept with the position, so that nobody makes it a second time. In this server's binary log both are one
    /// again.
    fn make_table(&mut self, query: &QueryEvent<'_>, definition: &[u8], filters: &Filters) -> Result<()> {
        let begin = self.applied().stored.borrow().clone();
        if !begin.made {
            self.session.transaction.explicit = false;
            *self.applied().mark.borrow_mut() = Some(Mark::at(Position { made: true, ..begin }));
            self.run_unlogged(&QueryEvent { text: definition, ..query.clone() }, filters)?;
            self.session.transaction.explicit = true;
            self.session.transaction.next_isolation = Some(Isolation::ReadCommitted);
        }
        // The filters leave out its rows as well.
        let left_out = !begin.made && self.applied().mark.borrow().is_some();
        if left_out || self.session.state.logs_to().is_none() {
            return Ok(());
        }
        self.session.begin_if_needed();
        self.session.state.log_database = None;
        self.logged_as = LoggedAs::Both;
        self.session.state.log_statement(&mut self.session.tx, query.text)
    }

    /// Runs a statement that goes into no binary log by itself.
    fn run_unlogged(&mut self, query: &QueryEvent<'_>, filters: &Filters) -> Result<()> {
        let logs = self.session.state.vars.get(SQL_LOG_BIN).clone();
        self.session.set_own(SQL_LOG_BIN, Val::Bool(false));
        let result = self.run_statement(query, filters);
        self.session.set_own(SQL_LOG_BIN, logs);
        result
    }

    /// A statement that ends its transaction by itself has stored the position, unless it had nothing to do.
    fn end_statement(&mut self, at: &Position) -> Result<()> {
        let stored = self.applied().mark.borrow().is_none();
        if stored && !self.session.tx.is_active() {
            return Ok(());
        }
        *self.applied().mark.borrow_mut() = Some(Mark::at(at.clone()));
        self.session.commit_applied(LoggedAs::Rows)
    }
}

/// What CREATE TABLE ... START TRANSACTION defines, without its last two words.
fn definition_of(text: &[u8]) -> Option<&[u8]> {
    const WORDS: &[u8] = b" START TRANSACTION";
    let (definition, words) =
        text.trim_ascii_end().split_at_checked(text.trim_ascii_end().len().checked_sub(WORDS.len())?)?;
    let is_create = text.trim_ascii_start().get(..6)?.eq_ignore_ascii_case(b"CREATE");
    (is_create && words.eq_ignore_ascii_case(WORDS)).then_some(definition)
}

/// Tables of a source that are remembered.
const TARGETS_MAX: usize = 1000;

/// A collation by number, or one that holds all texts where it is not known here.
fn known_collation(number: u16) -> CollationId {
    let id = CollationId(number);
    if id.is_known() && id.charset().mbminlen() == 1 { id } else { CollationId::UTF8MB4_0900_AI_CI }
}

/// Which column of the source is which one here: by place, as in MySQL. Error 1677 where one cannot be converted.
fn map_columns(
    source: &mut SourceTable,
    columns: &[Column],
    schema: &str,
    table: &str,
    conversions: &str,
) -> Result<Vec<Mapped>> {
    let allows = |word: &str| conversions.split(',').any(|w| w.trim().eq_ignore_ascii_case(word));
    let shown: Vec<usize> = (0..columns.len()).filter(|i| !columns[*i].hidden).collect();
    let mut mapped = Vec::with_capacity(source.columns.len());
    for (i, theirs) in source.columns.iter_mut().enumerate() {
        let Some(place) = shown.get(i).copied() else {
            mapped.push(Mapped { place: None, fit: Fit::Never });
            continue;
        };
        let ours = &columns[place];
        let fit = theirs.fit(&ours.data_type, ours.members.len());
        let allowed = match fit {
            Fit::Same => true,
            Fit::Widens => allows("ALL_NON_LOSSY"),
            Fit::Narrows => allows("ALL_LOSSY"),
            Fit::Never => false,
        };
        if !allowed {
            let text = format!(
                "Column {i} of table '{schema}.{table}' cannot be converted from type '{}' to type '{}'",
                theirs.type_words(),
                inspect::column_type(&ours.data_type, &ours.members)
            );
            return Err(SqlError::new(1677, text));
        }
        // Numbers have their sign from the column, as in MySQL, unless they are converted.
        if fit == Fit::Same || theirs.unsigned.is_none() {
            theirs.data_type.unsigned = ours.data_type.unsigned;
        }
        mapped.push(Mapped { place: Some(place), fit });
    }
    Ok(mapped)
}

/// Writes all rows of an event.
fn write_rows(target: &mut Target, event: &RowsEvent<'_>, mode: Mode, run: &Run<'_>) -> Result<()> {
    let Target { rows, source, columns, .. } = target;
    let damaged = || {
        SqlError::new(
            ER_REPLICA_CORRUPT_EVENT,
            format!("Corrupted replication event was detected: rows of {}", source.name),
        )
    };
    let table = Arc::clone(rows.table());
    let mut images = event.rows(source).ok_or_else(damaged)?;
    let (mut row, mut before, mut after) = (Vec::new(), Vec::new(), Vec::new());
    rows.begin(run);
    while !images.is_done() {
        run.check_interrupt()?;
        images.next(&mut row).ok_or_else(damaged)?;
        place(&mut row, &source.columns, columns, &table.columns, &mut before, run)?;
        match event.change {
            Change::Write => rows.insert(&before, mode, run)?,
            Change::Delete => rows.delete(&before, mode, run)?,
            Change::Update => {
                images.next(&mut row).ok_or_else(damaged)?;
                let changes = take_changes(&mut row, images.partial(), columns);
                place(&mut row, &source.columns, columns, &table.columns, &mut after, run)?;
                rows.update(&before, &after, &changes, mode, run)?;
            }
        }
    }
    Ok(())
}

/// Takes documents that are told by their changes out of an image.
fn take_changes<'v>(
    row: &mut [Option<Value<'v>>],
    partial: &[bool],
    mapped: &[Mapped],
) -> Vec<run::apply::DocumentChanges<'v>> {
    let mut changes = Vec::new();
    for (i, _) in partial.iter().enumerate().filter(|(_, is_partial)| **is_partial) {
        if let (Some(Value::Bytes(list)), Some(place)) = (row[i].take(), mapped[i].place) {
            changes.push((place, list));
        }
    }
    changes
}

impl Apply for SessionApplier {
    fn starts_from(&mut self, from: &Position) {
        let mut stored = self.applied().stored.borrow_mut();
        // What the transaction at hand has made before stays made.
        if !stored.made {
            stored.clone_from(from);
        }
    }

    fn begin(&mut self, origin: &Origin) -> Result<()> {
        let applied = self.applied();
        applied.origin = *origin;
        *applied.mark.borrow_mut() = None;
        let timeout = self.session.server.globals.load().uint(TIMEOUT);
        self.session.tx.set_lock_wait_timeout(std::time::Duration::from_secs(timeout));
        self.session.transaction.explicit = true;
        self.session.transaction.next_isolation = Some(Isolation::ReadCommitted);
        self.logged_as = LoggedAs::Rows;
        Ok(())
    }

    fn set_insert_id(&mut self, last: bool, id: u64) {
        let state = &mut self.session.state;
        if last {
            state.last_insert_id = id;
        } else {
            state.insert_id = id;
        }
    }

    fn set_random(&mut self, seeds: (u64, u64)) {
        self.session.state.random = (seeds.0 as u32, seeds.1 as u32);
    }

    fn statement(
        &mut self,
        query: &QueryEvent<'_>,
        timestamp: u32,
        filters: &Filters,
        ends: Option<&Position>,
    ) -> Result<()> {
        self.step(|this| {
            if let Some(at) = ends {
                // It commits by itself, as it did at the source.
                this.session.transaction.explicit = false;
                *this.applied().mark.borrow_mut() = Some(Mark::at(at.clone()));
            }
            this.set_session(query, timestamp)?;
            if ends.is_none()
                && let Some(definition) = definition_of(query.text)
            {
                return this.make_table(query, definition, filters);
            }
            let expected = query.error;
            match this.run_statement(query, filters) {
                Err(e) if expected != 0 && e.code == expected => {}
                result => result?,
            }
            ends.map_or(Ok(()), |at| this.end_statement(at))
        })
    }

    fn rows(&mut self, table: &SourceTable, event: &RowsEvent<'_>, timestamp: u32) -> Result<()> {
        self.step(|this| {
            let applied = this.targets.apply(&mut this.session, table, event, timestamp);
            this.session.pins.release_statement();
            if this.session.tx.is_active() {
                this.session.tx.end_statement();
            }
            applied
        })
    }

    fn park(&mut self, turn: &Turn) {
        self.session.park(turn);
    }

    fn unpark(&mut self) {
        self.session.tx.leave_wait();
    }

    fn commit(&mut self, mark: &Mark) -> Result<()> {
        self.step(|this| {
            *this.applied().mark.borrow_mut() = Some(mark.clone());
            match this.prepares.take() {
                Some(id) => this.session.prepare_applied(&id, this.logged_as),
                None => this.session.commit_applied(this.logged_as),
            }
        })
    }

    fn prepares(&mut self, id: XaId) {
        self.prepares = Some(id);
    }

    fn rollback(&mut self) {
        *self.applied().mark.borrow_mut() = None;
        self.prepares = None;
        self.session.rollback_all();
    }

    fn slot(&self) -> u32 {
        self.session.tx.slot()
    }

    fn thread(&self) -> u32 {
        self.session.state.id
    }

    fn interrupter(&self) -> Box<dyn Fn() + Send + Sync> {
        let interrupt = Arc::clone(self.session.tx.interrupt());
        Box::new(move || interrupt.raise(2))
    }
}

impl Drop for SessionApplier {
    fn drop(&mut self) {
        self.session.rollback_all();
        self.session.drop_all_temporary();
        self.session.stop_attending();
        self.session.counters.detach();
    }
}

impl Session {
    fn set_own(&mut self, id: VarId, value: Val) {
        if *self.state.vars.get(id) != value {
            self.state.vars.set(id, value);
        }
    }

    /// The time of an event, and what its session left out.
    fn set_event(&mut self, timestamp: u32, microseconds: u32, checks: (bool, bool)) {
        self.state.timestamp = Some(f64::from(timestamp) + f64::from(microseconds) / 1e6);
        self.set_own(FOREIGN_KEY_CHECKS, Val::Bool(checks.0));
        self.set_own(UNIQUE_CHECKS, Val::Bool(checks.1));
        self.state.begin_statement();
        self.state.clear_conditions();
    }

    /// Ends the transaction of a source with its changes and the position behind it; durable only after
    /// [`engine::Transaction::await_durable`].
    fn commit_applied(&mut self, kind: LoggedAs) -> Result<()> {
        self.begin_if_needed();
        let applied = self.state.applied.as_deref().expect("an applier's session has it");
        let ready = applied.store(&self.server, &mut self.tx);
        let ready = ready.and_then(|()| self.state.log_commit(&mut self.tx, kind));
        let timeout = self.state.vars.hot().lock_wait_timeout;
        let ready = ready.and_then(|()| self.pins.begin_commit(catalog::Waiting { timeout, tx: &mut self.tx }));
        let ended = match ready {
            Ok(()) => self.tx.precommit().map_err(catalog::error::engine),
            Err(e) => {
                self.rollback_all();
                Err(e)
            }
        };
        self.pins.end_commit();
        self.ended();
        ended
    }

    /// Prepares the transaction of a source, with the position behind it. Error 1440.
    fn prepare_applied(&mut self, id: &XaId, kind: LoggedAs) -> Result<()> {
        if !self.server.xids.begin(id) {
            self.rollback_all();
            return Err(err!(ER_XAER_DUPID));
        }
        // Of what the filters have left nothing of, the position is all there is to store.
        let has_writes = self.tx.has_writes();
        let stored = if has_writes { Ok(()) } else { self.commit_applied(kind) };
        match stored.and_then(|()| self.prepare_own(id)) {
            Ok(detached) => self.server.xids.put(detached, false),
            Err(e) => {
                self.pins.end_commit();
                self.server.xids.remove(id);
                self.rollback_all();
                return Err(e);
            }
        }
        self.pins.end_commit();
        self.ended();
        Ok(())
    }

    /// A statement of a source that is not the executor's.
    fn obey_event(&mut self, parsed: Arc<Parsed>) -> Result<()> {
        match &parsed.statement {
            // Nothing of what they do is seen in rows: the statistics and the files are this server's own.
            Statement::TableMaintenance(_) => return Ok(()),
            Statement::LoadData(_) => return Err(err!(ER_NOT_SUPPORTED_YET, "LOAD DATA from a source")),
            // Behind it comes the event that prepares.
            Statement::Xa(sql::ast::Xa::End { .. }) => return Ok(()),
            _ => {}
        }
        self.refresh_access()?;
        if let Some(expressions) = crate::events::expressions::scheduled(&parsed.statement) {
            self.programs.given = self.schedule_values(&parsed, &expressions)?;
        }
        self.note_logged(&parsed);
        let done = self.obey_quietly(&parsed).map(drop);
        self.programs.given.clear();
        done
    }
}

/// Error 1231 for a word of `replica_type_conversions` that there is not.
pub(crate) fn may_set(id: VarId, new: &Val) -> Result<()> {
    const WORDS: [&str; 4] = ["ALL_LOSSY", "ALL_NON_LOSSY", "ALL_SIGNED", "ALL_UNSIGNED"];
    if id != CONVERSIONS && crate::variables::other_name(id) != Some(CONVERSIONS) {
        return Ok(());
    }
    let text = new.text();
    let is_known = |word: &str| word.is_empty() || WORDS.iter().any(|known| known.eq_ignore_ascii_case(word));
    if text.split(',').all(|word| is_known(word.trim())) {
        return Ok(());
    }
    Err(err!(ER_WRONG_VALUE_FOR_VAR, "replica_type_conversions", text))
}
