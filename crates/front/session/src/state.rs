//! What the executor sees of a session: variables, the clock, warnings ([`run::Env`]).

use crate::binary_log::Reads;
use crate::clock::clock_us;
use crate::define::FOREIGN_KEY_CHECKS;
use crate::former::SetWithin;
use crate::gtid::{self, SessionGtid};
use crate::gtids::{GTID_NEXT, GTID_OWNED, TRACK_GTIDS};
use crate::locks::UserLocks;
use crate::receipt::TRACK_RECEIPT;
use crate::time_zone::TimeZone;
use crate::variables::{Globals, Scope, SessionVariables, VARIABLES, Val, VarId, id};
use crate::{Server, gtids};
use catalog::VirtualContext;
use engine::Transaction;
use expr::{LoadedFile, SourcePlace, SourceWait, Stage};
use run::Env;
use run::context::{Around, Conditions, Figures};
use run::program::Condition;
use sql::ast::Parsed;
use std::collections::HashMap;
use std::sync::Arc;
use sync::{Cached, LaneId};
use types::codes::*;
use types::collation::CollationId;
use types::sql_mode::SqlMode;
use types::{DataType, Result, SqlError, TypeKind, Value, err};

const ERROR_COUNT: VarId = id("error_count");
const WARNING_COUNT: VarId = id("warning_count");
const LAST_INSERT_ID: VarId = id("last_insert_id");
const IDENTITY: VarId = id("identity");
const INSERT_ID: VarId = id("insert_id");
const TIMESTAMP: VarId = id("timestamp");
const PSEUDO_THREAD_ID: VarId = id("pseudo_thread_id");
const SQL_MODE: VarId = id("sql_mode");
const TIME_ZONE: VarId = id("time_zone");
pub(crate) const MAX_ERROR_COUNT: VarId = id("max_error_count");
const SQL_NOTES: VarId = id("sql_notes");

/// Those that [`State::computed`] knows.
const COMPUTED: [VarId; 9] = [
    ERROR_COUNT,
    WARNING_COUNT,
    LAST_INSERT_ID,
    IDENTITY,
    INSERT_ID,
    PSEUDO_THREAD_ID,
    GTID_NEXT,
    GTID_OWNED,
    TIMESTAMP,
];

/// Bytes that all user variables of a session may take.
const USER_VARIABLE_BYTES_MAX: usize = 64 << 20;

pub(crate) struct State {
    pub server: Arc<Server>,
    pub globals: Cached<Globals>,
    pub vars: SessionVariables,
    pub id: u32,
    pub database: Option<String>,
    /// `user@host` as the client called itself, and `user@host` of the account.
    pub user: String,
    pub current_user: String,
    /// CURRENT_ROLE()
    pub current_role: String,
    /// The collation that SET NAMES or the login gave, until `character_set_results` is set alone: descriptions of columns name it.
    pub results_collation: Option<CollationId>,
    /// Read off the variables when they are set.
    pub sql_mode: SqlMode,
    pub time_zone: TimeZone,
    /// The statement's start, microseconds since 1970: by the clock, and for NOW(), which SET TIMESTAMP may rule.
    pub clock_us: u64,
    pub now_us: i64,
    /// The statement is a transaction of its own.
    pub single_statement: bool,
    /// EXECUTE runs a prepared statement.
    pub runs_execute: bool,
    /// SET TIMESTAMP: overrides the clock.
    pub timestamp: Option<f64>,
    pub last_insert_id: u64,
    /// `pseudo_thread_id`: the connection's id, until it is set.
    pub pseudo_thread_id: u64,
    /// SET INSERT_ID: what the next AUTO_INCREMENT value is; 0: as the table says.
    pub insert_id: u64,
    /// Both halves of the state of RAND().
    pub random: (u32, u32),
    pub row_count: i64,
    pub found_rows: u64,
    user_vars: HashMap<String, (Value<'static>, DataType)>,
    user_var_bytes: usize,
    pub warnings: Vec<Condition>,
    /// All conditions, those beyond `max_error_count` too.
    pub warning_count: u64,
    /// Warnings of the values of parameters that the statement has not asked for yet, by parameter.
    pub untold: Vec<(usize, u16, String)>,
    pub error_count: u64,
    /// Both when the statement began: `@@warning_count` and `@@error_count` in it.
    former_counts: (u64, u64),
    /// Made before a statement that reads virtual tables.
    pub inspect: Option<Box<inspect::Context>>,
    /// The session's lane in the process list.
    pub lane: Option<LaneId>,
    user_locks: UserLocks,
    /// Has the user the privilege to read the server's files?
    pub reads_files: bool,
    /// What LOAD DATA reads.
    pub file: Option<Box<dyn std::io::Read + Send>>,
    /// Collations of the server and of utf8mb4, as the binary log tells them.
    pub log_collations: [u16; 2],
    pub log_reads: Reads,
    /// The statement at hand as the binary log has it, where it goes there.
    pub log_text: Option<Vec<u8>>,
    /// The database that it makes, alters or drops.
    pub log_database: Option<String>,
    /// The session makes a source's changes.
    pub applied: Option<Box<crate::replica_apply::Applied>>,
    pub gtid: SessionGtid,
    /// `binlog_rows_query_log_events`: the text of the statement at hand is kept.
    pub keeps_text: bool,
    pub text: Vec<u8>,
    /// What stored functions and triggers run with, once a statement has called some.
    pub lent: Option<Box<run::program::Lent>>,
    pub set_within: SetWithin,
}

impl State {
    pub fn new(server: &Arc<Server>, id: u32) -> State {
        let globals = server.globals.cached();
        let vars = SessionVariables::new(Arc::clone(globals.peek()));
        let mut state = State {
            server: Arc::clone(server),
            globals,
            vars,
            id,
            database: None,
            user: String::new(),
            current_user: String::new(),
            current_role: "NONE".to_string(),
            results_collation: None,
            sql_mode: SqlMode::DEFAULT,
            time_zone: TimeZone::Offset(0),
            clock_us: 0,
            now_us: 0,
            single_statement: false,
            runs_execute: false,
            timestamp: None,
            last_insert_id: 0,
            pseudo_thread_id: id.into(),
            insert_id: 0,
            random: expr::random_seed(),
            row_count: 0,
            found_rows: 0,
            user_vars: HashMap::new(),
            user_var_bytes: 0,
            warnings: Vec::new(),
            warning_count: 0,
            untold: Vec::new(),
            error_count: 0,
            former_counts: (0, 0),
            inspect: None,
            lane: None,
            user_locks: UserLocks::default(),
            reads_files: false,
            file: None,
            log_text: None,
            log_database: None,
            gtid: SessionGtid::default(),
            keeps_text: false,
            text: Vec::new(),
            log_collations: [0; 2],
            log_reads: Reads::default(),
            applied: None,
            lent: None,
            set_within: SetWithin::default(),
        };
        state.reload();
        state
    }

    /// Whom the client called itself, without the host. A name may hold an `@`, a host cannot.
    pub fn login_name(&self) -> &str {
        self.user.rsplit_once('@').map_or("", |(name, _)| name)
    }

    /// COM_RESET_CONNECTION, COM_CHANGE_USER: variables as at connect.
    pub fn reset(&mut self) {
        let server = Arc::clone(&self.server);
        let database = self.database.take();
        let (user, current_user) = (std::mem::take(&mut self.user), std::mem::take(&mut self.current_user));
        let current_role = std::mem::take(&mut self.current_role);
        let lane = self.lane;
        *self = State { database, user, current_user, current_role, lane, ..State::new(&server, self.id) };
    }

    /// Reads what is kept beside the variables.
    pub fn reload(&mut self) {
        self.sql_mode = SqlMode(self.vars.uint(SQL_MODE));
        self.log_collations =
            crate::binary_log::COLLATIONS.map(|id| CollationId::by_name(self.vars.text(id)).map_or(0, |c| c.0));
        self.time_zone = TimeZone::parse(self.vars.text(TIME_ZONE)).unwrap_or_else(TimeZone::system);
        self.keeps_text = self.tells_text();
        self.follow_tracking(self.vars.uint(TRACK_GTIDS) != 0 || self.vars.bool(TRACK_RECEIPT));
    }

    /// A statement begins.
    #[inline]
    pub fn begin_statement(&mut self) {
        self.former_counts = (self.warning_count, self.error_count);
        self.read_clock();
    }

    /// The statement's time is now, or that of `timestamp`.
    #[inline]
    pub fn read_clock(&mut self) {
        self.clock_us = clock_us();
        self.now_us = match self.timestamp {
            Some(seconds) => (seconds * 1e6) as i64,
            None => self.clock_us as i64,
        };
    }

    /// Statements other than SHOW WARNINGS and its like forget the conditions of the former.
    #[inline]
    pub fn clear_conditions(&mut self) {
        if self.warning_count > 0 {
            self.warnings.clear();
            self.warning_count = 0;
            self.error_count = 0;
        }
    }

    /// The number that OK and EOF packets carry.
    pub fn wire_warnings(&self) -> u16 {
        self.warning_count.min(u64::from(u16::MAX)) as u16
    }

    /// A failed statement's error is a condition too.
    /// A program may have noted it, and what it knew of it.
    pub fn note_error(&mut self, error: &SqlError) {
        let noted = |c: &Condition| c.is_error() && c.code == error.code && c.message == error.message;
        if !self.warnings.last().is_some_and(noted) {
            self.add_condition(Condition::of_error(error));
        }
    }

    /// Warns of what the statement says that is deprecated.
    #[inline]
    pub fn note_parsed(&mut self, parsed: &Parsed) {
        for note in parsed.notes() {
            let SqlError { code, message, .. } = note.warning(parsed);
            self.condition("Warning", code, message);
        }
    }

    fn condition(&mut self, level: &'static str, code: u16, message: String) {
        if level == "Note" && !self.vars.bool(SQL_NOTES) {
            return;
        }
        self.add_condition(Condition::new(level, code, message));
    }

    pub fn add_condition(&mut self, condition: Condition) {
        self.warning_count += 1;
        self.error_count += u64::from(condition.is_error());
        if (self.warnings.len() as u64) < self.vars.uint(MAX_ERROR_COUNT) {
            self.warnings.push(condition);
        }
    }

    /// A variable's value with its type.
    pub fn variable(&self, global: Option<bool>, id: VarId) -> Result<(Value<'static>, DataType)> {
        let variable = &VARIABLES[id as usize];
        variable.may_read(global)?;
        let uint = |n: u64| (Value::UInt(n), DataType { length: 21, ..DataType::new(TypeKind::BigInt).unsigned() });
        match id {
            ERROR_COUNT => return Ok(uint(self.former_counts.1)),
            WARNING_COUNT => return Ok(uint(self.former_counts.0)),
            LAST_INSERT_ID | IDENTITY => return Ok(uint(self.last_insert_id)),
            INSERT_ID => return Ok(uint(self.insert_id)),
            PSEUDO_THREAD_ID => return Ok(uint(self.pseudo_thread_id)),
            TIMESTAMP => {
                let seconds = self.timestamp.unwrap_or(self.now_us as f64 / 1e6);
                return Ok(variable.select(&Val::Double(seconds)));
            }
            GTID_NEXT => return Ok(variable.select(&Val::Str(self.gtid.next.print().into()))),
            GTID_OWNED => {
                let owned = self.owned_gtid(global == Some(true));
                return Ok(variable.select(&Val::Str(owned.into())));
            }
            _ => {}
        }
        if let Some(set) = self.server.gtid_set(id) {
            return Ok(variable.select(&Val::Str(set.into())));
        }
        Ok(match (global, variable.scope) {
            (Some(true), _) | (_, Scope::Global) => variable.select(self.server.globals.load().get(id)),
            _ => variable.select(self.vars.get(id)),
        })
    }

    /// A session value as SHOW prints it.
    pub fn printed(&self, id: VarId) -> String {
        self.computed(id).unwrap_or_else(|| printed(&self.server, &self.vars, id))
    }

    /// All that there are to see, as SHOW prints them, with what is stored here as it is now; the server's are looked at when the
    /// closure is called.
    pub fn printed_later(&self) -> inspect::SessionVariables {
        let (server, vars) = (Arc::clone(&self.server), self.vars.clone());
        let computed: Vec<_> = COMPUTED.iter().map(|id| (*id, self.computed(*id))).collect();
        Box::new(move |wanted| {
            let globals = server.globals.load();
            let is_shown = |id: &VarId| globals.shows(*id) && wanted(VARIABLES[*id as usize].name);
            let shown = (0..VARIABLES.len() as VarId).filter(is_shown);
            let print = |id: VarId| match computed.iter().find(|(own, _)| *own == id) {
                Some((_, Some(value))) => value.clone(),
                _ => printed(&server, &vars, id),
            };
            shown.map(|id| (VARIABLES[id as usize].name, print(id))).collect()
        })
    }

    /// A value that is not stored among the variables; `None`: it is.
    fn computed(&self, id: VarId) -> Option<String> {
        Some(match id {
            ERROR_COUNT => self.error_count.to_string(),
            WARNING_COUNT => self.warning_count.to_string(),
            LAST_INSERT_ID | IDENTITY => self.last_insert_id.to_string(),
            INSERT_ID => self.insert_id.to_string(),
            PSEUDO_THREAD_ID => self.pseudo_thread_id.to_string(),
            GTID_NEXT => self.gtid.next.print(),
            GTID_OWNED => self.owned_gtid(false),
            TIMESTAMP => format!("{:.6}", self.timestamp.unwrap_or(self.now_us as f64 / 1e6)),
            _ => return None,
        })
    }
}

/// A value that is stored, the session's or the server's.
fn printed(server: &Server, vars: &SessionVariables, id: VarId) -> String {
    let variable = &VARIABLES[id as usize];
    match variable.scope {
        Scope::Global => server.printed_global(&server.globals.load(), id),
        _ => variable.print(vars.get(id)).into_owned(),
    }
}

fn bytes_of(value: &Value<'_>) -> usize {
    match value {
        Value::Bytes(b) => b.len() + 64,
        _ => 64,
    }
}

impl expr::Env for State {
    fn warning_count(&self) -> u64 {
        self.warning_count
    }

    fn database(&self) -> Option<&str> {
        self.database.as_deref()
    }

    fn connection_id(&self) -> u64 {
        self.id.into()
    }

    fn pseudo_thread_id(&self) -> u64 {
        self.pseudo_thread_id
    }

    fn user(&self) -> &str {
        &self.user
    }

    fn current_user(&self) -> &str {
        &self.current_user
    }

    fn current_role(&self) -> &str {
        &self.current_role
    }

    fn now_us(&self) -> i64 {
        self.now_us
    }

    fn time_zone_offset(&self, unix_seconds: i64) -> i32 {
        self.time_zone.offset_at(unix_seconds)
    }

    fn literal_collation(&self) -> CollationId {
        self.vars.hot().literals
    }

    fn sql_mode(&self) -> u64 {
        self.sql_mode.0
    }

    fn last_insert_id(&self) -> u64 {
        self.last_insert_id
    }

    fn set_last_insert_id(&mut self, id: u64) {
        self.last_insert_id = id;
    }

    fn random(&mut self) -> &mut (u32, u32) {
        &mut self.random
    }

    fn row_count(&self) -> i64 {
        self.row_count
    }

    fn found_rows(&self) -> u64 {
        self.found_rows
    }

    fn system_variable(&self, global: Option<bool>, name: &str) -> Result<(Value<'static>, DataType)> {
        self.variable(global, self.server.globals.load().lookup(name)?)
    }

    fn user_variable(&self, name: &str) -> (Value<'static>, DataType) {
        let found = match name.bytes().any(|b| b.is_ascii_uppercase()) {
            true => self.user_vars.get(&name.to_ascii_lowercase()),
            false => self.user_vars.get(name),
        };
        found.cloned().unwrap_or((Value::Null, DataType::new(TypeKind::Null)))
    }

    fn set_user_variable(&mut self, name: &str, value: Value<'static>, data_type: DataType) {
        let name = name.to_ascii_lowercase();
        let (new, old) = (bytes_of(&value), self.user_vars.get(&name).map_or(0, |(v, _)| bytes_of(v)));
        if self.user_var_bytes + new - old.min(new) > USER_VARIABLE_BYTES_MAX {
            self.condition("Error", ER_UNKNOWN_ERROR, format!("User variable '{name}' is too large and was not set"));
            return;
        }
        self.user_var_bytes = self.user_var_bytes + new - old;
        self.user_vars.insert(name, (value, data_type));
    }

    fn stage(&self, stage: Stage) -> Stage {
        self.lane.map_or(stage, |lane| self.server.processes.stage(lane, stage))
    }

    fn release_lock(&mut self, name: &str) -> Option<bool> {
        match self.user_locks.release(name) {
            Some(()) => Some(true),
            None => self.lock_owner(name).map(|_| false),
        }
    }

    fn release_all_locks(&mut self) -> u64 {
        self.user_locks.release_all()
    }

    fn lock_owner(&self, name: &str) -> Option<u64> {
        self.server.catalog.locks().user_lock_owner(name)
    }

    fn receipt(&self, gtid: types::gtid::Gtid) -> Result<Option<String>> {
        crate::receipt::of(self, gtid)
    }

    fn may_wait_for_gtids(&self) -> Result<()> {
        match self.server.globals.load().uint(gtids::GTID_MODE) {
            gtids::MODE_OFF => Err(err!(ER_GTID_MODE_OFF, "WAIT_FOR_EXECUTED_GTID_SET")),
            _ => Ok(()),
        }
    }

    fn wait_for_gtids(&self, set: &types::gtid::GtidSet, time: Option<std::time::Duration>) -> Result<bool> {
        gtid::wait_for(self, set, time)
    }

    fn wait_for_source(&self, place: &SourcePlace<'_>, time: Option<std::time::Duration>) -> Result<SourceWait> {
        let before = self.stage(Stage::SourcePosition);
        let wait = self.server.channels.wait_for(place, time);
        self.stage(before);
        wait
    }

    fn load_file(&self, name: &str, size_max: u64) -> Result<LoadedFile> {
        if !self.reads_files {
            return Ok(LoadedFile::Refused);
        }
        crate::files::load(&self.server.globals.load(), name, size_max)
    }

    fn password_strength(&self, password: &str) -> i64 {
        self.server.password_strength(self, password)
    }

    fn tell_of_parameter(&mut self, parameter: usize, code: u16, message: String) {
        self.untold.push((parameter, code, message));
    }

    fn untold(&mut self, parameter: usize) -> (Vec<(u16, String)>, bool) {
        let taken = self.untold.extract_if(.., |(n, ..)| *n == parameter);
        let taken = taken.map(|(_, code, message)| (code, message)).collect();
        (taken, !self.untold.is_empty())
    }

    fn warn(&mut self, level: &'static str, code: u16, message: String) {
        self.condition(level, code, message);
    }
}

impl plan::Env for State {
    fn closure_of(
        &mut self,
        version: &Arc<catalog::Version>,
        routine: &Arc<catalog::Routine>,
    ) -> Result<plan::routine::Closure> {
        run::program::closure::closure_of(version, self, routine)
    }

    fn use_of_trigger(
        &mut self,
        version: &Arc<catalog::Version>,
        table: &Arc<catalog::Table>,
        trigger: &Arc<catalog::Trigger>,
    ) -> Result<plan::routine::TriggerUse> {
        run::program::closure::use_of_trigger(version, self, table, trigger)
    }

    fn deprecated_variable(&self, name: &str) -> Option<&'static str> {
        crate::variables::find(name).and_then(|id| VARIABLES[id as usize].deprecated_read())
    }

    fn engine(&self) -> &engine::Engine {
        &self.server.engine
    }
}

impl Env for State {
    fn take_insert_id(&mut self) -> u64 {
        std::mem::take(&mut self.insert_id)
    }

    fn get_lock(&mut self, name: &str, timeout: std::time::Duration, tx: &mut engine::Transaction) -> Result<bool> {
        self.user_locks.get(&self.server, self.id.into(), name, timeout, tx)
    }

    fn is_single_statement(&self) -> bool {
        self.single_statement
    }

    fn has_foreign_keys(&self, table: &catalog::Table) -> bool {
        let current = self.server.catalog.current();
        !table.foreign_keys.is_empty() || current.children(&table.schema, &table.name).next().is_some()
    }

    fn logged_rows(&self, beside: bool) -> Option<(binlog::payload::RowSettings, u64)> {
        self.row_settings(beside)
    }

    fn foreign_key_checks(&self) -> bool {
        self.vars.bool(FOREIGN_KEY_CHECKS)
    }

    fn runs_execute(&self) -> bool {
        self.runs_execute
    }

    fn tmp_memory(&self) -> u64 {
        self.vars.hot().tmp_memory
    }

    fn sort_buffer_size(&self) -> u64 {
        self.vars.hot().sort_buffer_size
    }

    fn max_sort_length(&self) -> u64 {
        self.vars.hot().max_sort_length
    }

    fn take_file(&mut self) -> Option<Box<dyn std::io::Read + Send>> {
        self.file.take()
    }

    fn virtual_context(&self) -> &dyn VirtualContext {
        match &self.inspect {
            Some(context) => &**context,
            None => &NoContext,
        }
    }

    fn lent(&mut self) -> Option<&mut dyn std::any::Any> {
        Some(State::lent(self))
    }

    fn surround(&mut self, routine: Around<'_>) {
        self.take_surroundings(routine);
    }

    fn restore(&mut self) {
        self.put_surroundings();
    }

    fn obey_within(
        &mut self,
        tx: &mut Transaction,
        part: &Parsed,
        given: Option<(Value<'static>, DataType)>,
    ) -> Result<()> {
        self.run_within(tx, part, given)
    }

    fn exchange_conditions(&mut self, others: Conditions) -> Conditions {
        self.exchange_all_conditions(others)
    }

    fn conditions(&mut self) -> &mut Vec<Condition> {
        &mut self.warnings
    }

    fn clear_conditions(&mut self) {
        State::clear_conditions(self);
    }

    fn add_condition(&mut self, condition: Condition) {
        State::add_condition(self, condition);
    }

    fn figures(&self) -> Figures {
        self.all_figures()
    }

    fn set_figures(&mut self, figures: Figures) {
        self.put_figures(figures);
    }
}

/// For statements without virtual tables.
struct NoContext;

impl VirtualContext for NoContext {
    fn as_any(&self) -> &dyn std::any::Any {
        self
    }
}
