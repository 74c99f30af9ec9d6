//! What the executor sees of a session: variables, the clock, warnings ([`run::Env`]).

use crate::Server;
use crate::binary_log::Reads;
use crate::clock::clock_us;
use crate::former::SetWithin;
use crate::gtids::{GTID_NEXT, GTID_OWNED, TRACK_GTIDS, TRACK_RECEIPT};
use crate::session_gtid::SessionGtid;
use crate::time_zone::TimeZone;
use crate::user_locks::UserLocks;
use crate::variables::{Globals, Scope, SessionVariables, VARIABLES, Val, VarId, id};
use observe::instrument::InstrumentId;
use observe::setup::{self, Consumer};
use run::program::Condition;
use sql::ast::Parsed;
use std::collections::HashMap;
use std::sync::Arc;
use sync::{Cached, LaneId};
use types::collation::CollationId;
use types::sql_mode::SqlMode;
use types::{DataType, Result, SqlError, TypeKind, Value};

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

/// What functions and statements may ask of a session. Its fields are answers, most of them one variable or function each.
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
    /// How many procedures and events run.
    pub(crate) outer_programs: usize,
    /// Statements of functions and triggers that have begun, the innermost last.
    pub(crate) inner_statements: Vec<crate::performance::Nested>,
    /// By `expr::variable::key`, each with its name.
    pub(crate) user_vars: HashMap<String, (String, Arc<crate::seen::UserVariable>)>,
    pub(crate) user_var_bytes: usize,
    /// Some have got a type that they had not, since the plans that are kept were made.
    pub(crate) retyped_variables: bool,
    pub warnings: Vec<Condition>,
    /// All conditions, those beyond `max_error_count` too.
    pub warning_count: u64,
    /// Warnings of the values of parameters that the statement has not asked for yet, by parameter.
    pub untold: Vec<(usize, u16, String)>,
    pub error_count: u64,
    /// Both when the statement began: `@@warning_count` and `@@error_count` in it.
    pub former_counts: (u64, u64),
    /// Made before a statement that reads virtual tables.
    pub inspect: Option<Box<inspect::Context>>,
    /// The session's lane in the process list.
    pub lane: Option<LaneId>,
    /// With `optimizer_trace`.
    pub traces: Option<Box<crate::traces::Traces>>,
    pub(crate) user_locks: UserLocks,
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
    pub applied: Option<Box<crate::applied::Applied>>,
    pub gtid: SessionGtid,
    /// `binlog_rows_query_log_events`: the text of the statement at hand is kept.
    pub keeps_text: bool,
    pub text: Vec<u8>,
    /// What stored functions and triggers run with, once a statement has called some.
    pub lent: Option<Box<run::program::Lent>>,
    pub set_within: SetWithin,
    /// What the client has sent with the command at hand, as texts by their names.
    pub attributes: Vec<(String, Option<String>)>,
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
            outer_programs: 0,
            inner_statements: Vec::new(),
            user_vars: HashMap::new(),
            retyped_variables: false,
            user_var_bytes: 0,
            warnings: Vec::new(),
            warning_count: 0,
            untold: Vec::new(),
            error_count: 0,
            former_counts: (0, 0),
            inspect: None,
            lane: None,
            traces: None,
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
            attributes: Vec::new(),
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

    /// Conditions in place of those that there are.
    pub(crate) fn put_conditions(&mut self, conditions: Vec<Condition>) {
        self.warning_count = conditions.len() as u64;
        self.error_count = conditions.iter().filter(|c| c.is_error()).count() as u64;
        self.warnings = conditions;
    }

    /// A step of a program begins, which is a statement as to conditions: it may ask how many the step before has come to.
    #[inline]
    pub fn begin_step(&mut self) {
        self.former_counts = (self.warning_count, self.error_count);
        self.clear_conditions();
    }

    /// The number that OK and EOF packets carry.
    pub fn wire_warnings(&self) -> u16 {
        self.warning_count.min(u64::from(u16::MAX)) as u16
    }

    /// A failed statement's error is a condition too.
    /// A program may have noted it, and what it knew of it.
    pub fn note_error(&mut self, error: &SqlError) {
        if !self.warnings.iter().any(|c| c.is_of(error)) {
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

    pub(crate) fn condition(&mut self, level: &'static str, code: u16, message: String) {
        if level == "Note" && !self.vars.bool(SQL_NOTES) {
            return;
        }
        self.add_condition(Condition::new(level, code, message));
    }

    pub fn add_condition(&mut self, condition: Condition) {
        self.warning_count += 1;
        self.error_count += u64::from(condition.is_error());
        self.note_raised(condition.code, false);
        if (self.warnings.len() as u64) < self.vars.uint(MAX_ERROR_COUNT) {
            self.warnings.push(condition);
        }
    }

    /// A condition was raised, or a program has handled it.
    #[cold]
    pub(crate) fn note_raised(&self, code: u16, handled: bool) {
        const ERROR: InstrumentId = observe::instrument::id("error");
        let counts = setup::flags(ERROR).is_enabled() && setup::consumers().has(Consumer::Global);
        if let Some(lane) = self.lane.filter(|_| counts) {
            let lane = &self.server.processes.0.get(lane).performance;
            lane.errors.add(code, handled, clock_us() / 1_000_000);
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

    /// Those that are computed, as they are now.
    pub fn computed_now(&self) -> Vec<(VarId, String)> {
        COMPUTED.iter().filter_map(|id| Some((*id, self.computed(*id)?))).collect()
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
