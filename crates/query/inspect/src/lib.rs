//! `information_schema`, `performance_schema`, `mysql` and the rows of SHOW, computed when asked from the dictionary, the engine
//! and the sessions' lanes. Nothing here is stored, and nothing here is touched by a statement that does not ask.
//!
//! Must never know packets or connections: what belongs to sessions comes through [`Source`].

mod columns;
pub mod create;
mod ddl_text;
mod digests;
mod errors;
pub mod events;
mod figures;
pub mod granted;
mod grants;
mod grouped;
pub mod help;
mod hosts;
mod information_schema;
mod innodb;
mod innodb_figures;
mod innodb_files;
mod innodb_statistics;
mod locks;
mod memory;
pub mod monitor;
mod mysql;
mod performance_schema;
pub mod plugins;
mod prepared;
pub mod profile;
pub mod routines;
mod rows;
mod sessions;
pub mod setup;
pub mod show;
mod stages;
mod statements;
mod threads;
mod transactions;
pub mod triggers;
mod view_check;
mod waits;
mod written;

pub use columns::{ShowColumns, VirtualRows};
pub use create::{create_database, create_table, create_view};
pub use ddl_text::column_type;
pub use grants::Rights;
pub use hosts::{HOST_ERRORS, HostEntry};
pub use plugins::PLUGINS;
pub use prepared::PreparedInstance;
pub use rows::Rows;
pub use sessions::{AccountSums, ConnectAttributes, GroupedBy, ThreadCounts, ThreadVariables, UserVariables};
pub use stages::StageEvent;
pub use statements::{SessionSums, StatementEvent, without_port};
pub use threads::RESOURCE_GROUPS;
pub use transactions::TransactionEvent;
pub use view_check::invalid_view;

use catalog::statistics::Sample;
use catalog::{RoutineKind, Schema, Table, Version, VirtualContext};
use engine::Engine;
use observe::programs::ProgramSum;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;
use types::codes::*;
use types::{Result, Value, err};

/// One line of SHOW PROCESSLIST.
#[derive(Clone, Debug, Default)]
pub struct Process {
    pub id: u64,
    pub user: String,
    pub host: String,
    /// How it is connected, in the words of `performance_schema.threads`; `None`: it is still logging in.
    pub connection_type: Option<&'static str>,
    /// What the thread is called, if it serves no connection.
    pub thread: Option<&'static str>,
    pub database: Option<String>,
    pub command: &'static str,
    /// Seconds in this state.
    pub time_s: u64,
    /// When it began, in microseconds since 1970.
    pub since_us: u64,
    pub state: Cow<'static, str>,
    pub info: Option<String>,
    /// The slot of the session's transactions in the engine.
    pub slot: u32,
    /// Is it instrumented, and does it have a history?
    pub watched: observe::watched::Answers,
}

/// Where a variable's value comes from, by its number in the ENUM of `performance_schema.variables_info`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VariableSource {
    Compiled = 1,
    CommandLine = 8,
    Persisted = 9,
    Dynamic = 10,
}

/// One line of `performance_schema.variables_info`.
#[derive(Clone, Debug)]
pub struct VariableInfo {
    pub name: &'static str,
    pub source: VariableSource,
    pub min: String,
    pub max: String,
    /// Who set it, user and host, and when: microseconds since 1970.
    pub set_by: Option<(String, String, u64)>,
}

/// One stage of a copy of the server, in the words of `performance_schema.clone_progress`. Times in microseconds since 1970; 0: not yet.
#[derive(Clone, Copy, Debug)]
pub struct CloneStage {
    pub name: &'static str,
    pub began_us: u64,
    pub ended_us: u64,
    /// Bytes, and how many there will be.
    pub done: u64,
    pub estimate: u64,
}

/// The copy of the server that was made last, or is being made.
#[derive(Clone, Debug, Default)]
pub struct CloneRecord {
    /// The connection that makes it.
    pub pid: u64,
    pub began_us: u64,
    /// 0: it is being made.
    pub ended_us: u64,
    /// `LOCAL INSTANCE`, or host and port.
    pub source: String,
    pub destination: String,
    pub error: Option<(u16, String)>,
    /// Where the copy ends.
    pub binlog_file: String,
    pub binlog_position: u64,
    pub gtid_executed: String,
    pub stages: Vec<CloneStage>,
    /// When this was asked for.
    pub now_us: u64,
}

/// Tables of `performance_schema` about replication channels whose rows sessions make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replication {
    ConnectionConfiguration,
    ConnectionStatus,
    ApplierConfiguration,
    ApplierStatus,
    ByCoordinator,
    ByWorker,
    Filters,
    GlobalFilters,
    /// Where the logs end, relay logs among them.
    LogStatus,
}

/// Numbers of one source, under one tag or none, that are executed: the first and the last one.
#[derive(Clone, Debug)]
pub struct ExecutedGtids {
    pub uuid: String,
    pub tag: String,
    pub first: u64,
    pub last: u64,
}

/// A transaction in [`BinlogCompression`]. Time in microseconds since 1970.
#[derive(Clone, Debug)]
pub struct CompressedTransaction {
    pub gtid: String,
    pub compressed_bytes: u64,
    pub events_bytes: u64,
    pub commit_us: u64,
}

/// A line of `performance_schema.binary_log_transaction_compression_stats`.
#[derive(Clone, Debug)]
pub struct BinlogCompression {
    pub compression: &'static str,
    pub transactions: u64,
    pub compressed_bytes: u64,
    pub events_bytes: u64,
    pub first: CompressedTransaction,
    pub last: CompressedTransaction,
}

/// A line of `performance_schema.error_log`.
#[derive(Clone, Debug)]
pub struct LoggedError {
    /// Microseconds since 1970.
    pub at_us: u64,
    pub thread: u64,
    /// The number of its ENUM.
    pub prio: u64,
    pub code: String,
    pub subsystem: String,
    pub data: String,
}

/// What only sessions know. Implemented by crate `session`.
pub trait Source: Send + Sync {
    /// What monitors remember.
    fn monitor(&self) -> &monitor::Monitor;
    /// `innodb_status_output_locks`
    fn lists_locks(&self) -> bool;
    /// The rows of a table about replication channels.
    fn replication(&self, table: Replication) -> Vec<Row>;
    /// The rows of `mysql.slow_log`, or of `mysql.general_log`.
    fn logged(&self, slow: bool) -> Result<Vec<Row>>;
    /// System variables of sessions; `own`: the slot of the one that asks.
    fn thread_variables(&self, own: u32) -> Vec<ThreadVariables>;
    fn user_variables(&self) -> Vec<UserVariables>;
    fn connect_attributes(&self) -> Vec<ConnectAttributes>;
    fn thread_counts(&self) -> Vec<ThreadCounts>;
    fn account_sums(&self, by: GroupedBy) -> Vec<AccountSums>;
    /// Connection, bytes of its memory, the most that it has had.
    fn thread_memory(&self) -> Vec<(u64, u64, u64)>;
    /// What the server has of memory besides: instrument, bytes, the most that there have been.
    fn server_memory(&self) -> Vec<(&'static str, u64, u64)>;
    /// Functions that components bring, and what they give.
    fn loaded_functions(&self) -> Vec<(&'static str, &'static str)>;
    fn has_tls(&self) -> bool;
    /// The last events of the error log.
    fn error_log(&self) -> Vec<LoggedError>;
    fn processes(&self) -> Vec<Process>;
    /// The last statement of each session, or (`history`) those that it keeps and that are over.
    fn statement_events(&self, history: bool) -> Vec<StatementEvent>;
    /// The last transaction of each session, or (`history`) those that it keeps and that are over.
    fn transaction_events(&self, history: bool) -> Vec<TransactionEvent>;
    /// The stage of each session, or (`history`) those that it keeps and that are over.
    fn stage_events(&self, history: bool) -> Vec<StageEvent>;
    /// Sums by session, and by account of those that have ended.
    fn session_sums(&self) -> Vec<SessionSums>;
    /// Sums of stored programs, of all sessions.
    fn program_sums(&self) -> Vec<ProgramSum>;
    /// Prepared statements of all sessions.
    fn prepared_instances(&self) -> Vec<PreparedInstance>;
    fn clone_record(&self) -> Option<CloneRecord>;
    /// `gtid_executed`, in order.
    fn gtid_executed(&self) -> Vec<ExecutedGtids>;
    /// Of the transactions in the binary log since the start, by how they are compressed.
    fn binlog_compression(&self) -> Vec<BinlogCompression>;
    /// What CREATE SERVER has made.
    fn foreign_servers(&self) -> Result<Vec<catalog::servers::ForeignServer>>;
    /// What INSTALL COMPONENT and INSTALL PLUGIN have installed.
    fn installed(&self) -> Result<Vec<catalog::installed::Installed>>;
    /// The host cache, the host seen last first.
    fn hosts(&self) -> Vec<HostEntry>;
    /// TRUNCATE of `host_cache`, and of `binary_log_transaction_compression_stats`.
    fn forget_hosts(&self);
    fn forget_compression(&self) -> Result<()>;
    /// UPDATE of `threads`: whether a thread is instrumented, and has a history.
    fn watch(&self, thread: u64, answers: observe::watched::Answers);
    /// Failed logins in a row, by `'user'@'host'`; `None`: the plugin that shows them is not installed.
    fn failed_logins(&self) -> Option<Vec<(String, u64)>>;
    /// Can mysql_native_password be used?
    fn has_native_password(&self) -> bool;
    /// Metadata locks, held and asked for.
    fn metadata_locks(&self) -> Vec<catalog::mdl::LockRow>;
    /// The global variables whose names are `wanted` with their values as printed, sorted by name.
    fn global_variables(&self, wanted: Wanted<'_>) -> Vec<(&'static str, String)>;
    /// Where their values come from, and their bounds.
    fn variable_infos(&self) -> Vec<VariableInfo>;
    /// What is known of a table's contents, sampled anew if the table has changed since.
    fn sample(&self, table: &Table) -> Result<Arc<Option<Sample>>>;
    /// What SET PERSIST has set.
    fn persisted_variables(&self) -> Vec<(&'static str, String)>;
}

/// (schema, table) -> may the session know of it?
pub type Visible = Box<dyn Fn(&str, &str) -> bool + Send>;

/// schema -> may the session know of what is in it?
pub type VisibleSchema = Box<dyn Fn(&str) -> bool + Send>;

/// (schema, kind, routine) -> may the session know of it?
pub type VisibleRoutine = Box<dyn Fn(&str, RoutineKind, &str) -> bool + Send>;

/// (schema, table, column) -> `select,insert`
pub type ColumnPrivileges = Box<dyn Fn(&str, &str, &str) -> String + Send>;

/// Whether a variable of this name is shown. The value of another one is not made: some wait for the binary log's writer.
pub type Wanted<'a> = &'a dyn Fn(&str) -> bool;

/// The session's variables that are wanted with their values as printed, made when they are asked for.
pub type SessionVariables = Box<dyn Fn(Wanted<'_>) -> Vec<(&'static str, String)> + Send>;

/// Rows of the status that are the server's own, as the session sees them: TLS, and the buffer pool in words.
pub type ServerStatus = Box<dyn Fn() -> Vec<(String, String)> + Send>;

/// An account that looks at virtual tables: the session's, or the definer's of the routine that does.
pub struct Viewer {
    /// The user part of the account; with `sees_all_processes` false only its own are shown.
    pub user: String,
    pub sees_all_processes: bool,
    /// Whose logins failed is for those who may do something about it.
    pub sees_failed_logins: bool,
    /// BACKUP_ADMIN
    pub makes_copies: bool,
    /// May the session know that this table (or, with an empty table name, schema) exists?
    pub visible: Visible,
    /// Has the session SHOW VIEW on this view?
    pub shows_views: Visible,
    /// Has the session TRIGGER on this table?
    pub shows_triggers: Visible,
    /// Has the session EVENT on this schema?
    pub shows_events: VisibleSchema,
    /// May the session know of the routine of this schema, kind and name, whoever has made it?
    pub sees_routines: VisibleRoutine,
    /// May it read all of them: SHOW_ROUTINE, or SELECT on everything?
    pub shows_routines: bool,
    /// What the session may do with a column, as COLUMNS has it; empty: it does not know of it.
    pub column_privileges: ColumnPrivileges,
    pub rights: Rights,
}

/// What a statement that reads virtual tables may see.
pub struct Context {
    pub version: Arc<Version>,
    pub engine: Arc<Engine>,
    pub source: Arc<dyn Source>,
    /// The session's variables, sorted by name.
    pub session_variables: SessionVariables,
    /// The session's `default_storage_engine`.
    pub default_storage_engine: String,
    /// `version`
    pub server_version: String,
    pub server_status: ServerStatus,
    /// Rows of SHOW SESSION STATUS that the server has none of.
    pub own_status: Vec<(String, String)>,
    /// What the session counts for itself, under the names of the status.
    pub own_counts: HashMap<String, u64>,
    /// The optimizer's traces that the session shows: the query, the document, bytes that are missing.
    pub traces: Vec<(String, String, u64)>,
    /// The session's statements that were profiled.
    pub profiles: Vec<Arc<profile::Profile>>,
    pub database: Option<String>,
    /// The slot of the session's transactions in the engine.
    pub slot: u32,
    pub viewer: Viewer,
    /// Who looks again when a routine ends that runs as its definer, with the depth of that.
    pub callers: Vec<(usize, Viewer)>,
}

impl VirtualContext for Context {
    fn as_any(&self) -> &dyn std::any::Any {
        self
    }
}

impl Context {
    /// Schemas that the session may see.
    pub(crate) fn schemas(&self) -> impl Iterator<Item = &Arc<Schema>> {
        self.version.schemas.values().filter(|s| (self.viewer.visible)(&s.name, ""))
    }

    /// Is the text of a view the session's to read? It is for its definer, and for who has SHOW VIEW.
    pub(crate) fn shows_text(&self, schema: &str, name: &str, view: &catalog::View) -> bool {
        let own = &self.viewer.rights.account;
        view.definer == format!("{}@{}", own.user, own.host) || (self.viewer.shows_views)(schema, name)
    }

    /// May the session know of a routine?
    pub(crate) fn sees_routine(&self, routine: &catalog::Routine) -> bool {
        self.shows_routine(routine) || (self.viewer.sees_routines)(&routine.schema, routine.kind, &routine.name)
    }

    /// Is its text the session's to read?
    pub(crate) fn shows_routine(&self, routine: &catalog::Routine) -> bool {
        let own = &self.viewer.rights.account;
        self.viewer.shows_routines || routine.definer == format!("{}@{}", own.user, own.host)
    }

    /// Tables that the session may see.
    pub(crate) fn tables<'s>(&'s self, schema: &'s Schema) -> impl Iterator<Item = &'s Arc<Table>> {
        schema.tables.values().filter(|t| (self.viewer.visible)(&schema.name, &t.name))
    }

    pub(crate) fn all_tables(&self) -> impl Iterator<Item = &Arc<Table>> {
        self.schemas().flat_map(|s| self.tables(s))
    }

    pub(crate) fn processes(&self) -> Vec<Process> {
        let mut list = self.source.processes();
        list.retain(|p| self.viewer.sees_all_processes || p.user == self.viewer.user);
        list.sort_by_key(|p| p.id);
        list
    }

    /// Counters and gauges as SHOW GLOBAL STATUS prints them, sorted by name.
    pub fn status(&self) -> Vec<(String, String)> {
        let mut all: Vec<(String, String)> = observe::status().into_iter().map(|(name, n)| shown(name, n)).collect();
        for (name, n) in self.engine.status().counters {
            // The engine counts some in lanes, which are there already.
            if !all.iter().any(|(known, _)| known == name) {
                all.push((name.to_string(), n.to_string()));
            }
        }
        all.extend((self.server_status)());
        all.sort_by_key(|(name, _)| name.to_ascii_lowercase());
        all
    }

    /// As SHOW SESSION STATUS: what sessions count for themselves stands in its place, the rest is of the server.
    pub fn session_status(&self) -> Vec<(String, String)> {
        let mut all = self.status();
        for (name, value) in &mut all {
            if let Some(own) = self.own_counts.get(name.as_str()) {
                *value = own.to_string();
            }
        }
        all.extend(self.own_status.iter().cloned());
        all.sort_by_key(|(name, _)| name.to_ascii_lowercase());
        all
    }

    /// Error 1227 without the privilege PROCESS.
    pub(crate) fn check_process(&self) -> Result<()> {
        match self.viewer.sees_all_processes {
            true => Ok(()),
            false => Err(err!(ER_SPECIFIC_ACCESS_DENIED_ERROR, "PROCESS")),
        }
    }
}

/// A counter or gauge as SHOW STATUS prints it.
fn shown(name: String, n: u64) -> (String, String) {
    let value = match &name[..] {
        // A gauge is a number: seconds since 1970.
        "Max_used_connections_time" => monitor::local_time(std::time::UNIX_EPOCH + std::time::Duration::from_secs(n)),
        _ => n.to_string(),
    };
    (name, value)
}

/// The schemas whose tables are computed, for [`catalog::Catalog::open`].
pub fn system_schemas() -> Vec<Schema> {
    vec![information_schema::schema(), mysql::schema(), performance_schema::schema()]
}

pub type Row = Vec<Value<'static>>;

pub(crate) fn text(s: impl Into<String>) -> Value<'static> {
    Value::Bytes(Cow::Owned(s.into().into_bytes()))
}

pub(crate) fn word(s: &'static str) -> Value<'static> {
    Value::Bytes(Cow::Borrowed(s.as_bytes()))
}

pub(crate) fn uint(n: u64) -> Value<'static> {
    Value::UInt(n)
}

pub(crate) fn maybe(s: Option<String>) -> Value<'static> {
    s.map_or(Value::Null, text)
}

/// Seconds since 1970 as a DATETIME in UTC.
pub(crate) fn datetime(unix_seconds: u64) -> Value<'static> {
    let (days, seconds) = (unix_seconds / 86_400, unix_seconds % 86_400);
    // Civil date from days, by eras of 400 years that begin on 1 March.
    let z = days + 719_468;
    let (era, day_of_era) = (z / 146_097, z % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    let date = (year * 13 + month) << 5 | day;
    let time = (seconds / 3600) << 12 | (seconds / 60 % 60) << 6 | (seconds % 60);
    Value::DateTime(types::DateTime((date << 17 | time) << 24))
}

/// Microseconds since 1970 as a TIMESTAMP(6); 0 is no moment.
pub(crate) fn moment(unix_us: u64) -> Value<'static> {
    match datetime(unix_us / 1_000_000) {
        Value::DateTime(time) if unix_us != 0 => Value::DateTime(types::DateTime(time.0 + (unix_us % 1_000_000))),
        _ => Value::DateTime(types::DateTime(0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn datetimes_are_packed_as_mysql_packs_them() {
        // 2000-02-29 12:34:56
        let packed = ((2000 * 13 + 2) << 5 | 29) << 17 | 12 << 12 | 34 << 6 | 56;
        assert_eq!(datetime(951_827_696), Value::DateTime(types::DateTime(packed << 24)));
    }
}
