//! What a statement needs from its session, and where its rows go.

use types::{DataType, Result, Value};

/// A result column as the client is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnMeta {
    pub schema: String,
    /// Alias of the table.
    pub table: String,
    pub org_table: String,
    pub name: String,
    pub org_name: String,
    pub data_type: DataType,
    /// Protocol flags: NOT_NULL 1, PRI_KEY 2, UNIQUE_KEY 4, MULTIPLE_KEY 8, BLOB 16, UNSIGNED 32, ZEROFILL 64, BINARY 128, ENUM 256, AUTO_INCREMENT 512, ...
    pub flags: u16,
    /// Where its values come from, on which the type of a column made of it depends.
    pub provenance: Provenance,
    /// What clients are told in place of its own origin; `None`: that.
    pub told: Option<Box<Told>>,
    /// MIN or MAX of a table's column: that column, of which a column made of the result takes all it is.
    pub extreme_of: Option<Box<Extreme>>,
}

/// A table's column by its names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extreme {
    pub schema: String,
    pub table: String,
    pub column: String,
}

/// What clients are told of a column that a query has by way of a view, a derived table or rows that are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    pub schema: String,
    /// The view, or the table that a column comes from.
    pub org_table: String,
    pub org_name: String,
    /// A column of stored rows, and no expression.
    pub stored: bool,
    /// Stored, and made of an expression: a long string is a TEXT or BLOB there.
    pub computed: bool,
}

impl Told {
    /// Of rows that are kept, and made of no table's column.
    pub fn kept(name: &str) -> Option<Box<Told>> {
        let nothing = String::new;
        Some(Box::new(Told {
            schema: nothing(),
            org_table: nothing(),
            org_name: name.to_string(),
            stored: true,
            computed: true,
        }))
    }
}

/// What a result's column is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Provenance {
    /// The column of a table in FROM, or an expression that is none of the following.
    Table,
    /// A column that is reached through a view or derived table merged into the query, or a recursive expression.
    Merged,
    /// A column of the rows that a view or derived table has of its own.
    Kept,
    /// The value of a scalar subquery.
    Subquery,
    /// MIN or MAX of a column: what is made of it is made of the column.
    Extreme,
    /// MIN or MAX of an expression.
    ExtremeValue,
    /// One of several values: CASE, IF, COALESCE, ...
    Choice,
}

/// What a statement is busy with, in the words of PROCESSLIST's State. Who waits for a row lock keeps the word of its statement,
/// as in MySQL; waits for metadata and user-level locks are seen in their queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Stage {
    Starting,
    /// Statements that are not the executor's.
    Init,
    /// Queries.
    Executing,
    /// INSERT and REPLACE.
    Update,
    /// UPDATE and DELETE.
    Updating,
    /// SLEEP()
    UserSleep,
    /// The wait for the log's flush.
    HandlerCommit,
    CreatingTable,
    CopyToTmpTable,
    AlteringTable,
    /// A replica's dump.
    SendingEvents,
    /// The same, at the end of the binary log.
    AllSent,
    /// A login after too many failures.
    ConnectionControl,
}

impl Stage {
    pub const ALL: [Stage; 13] = [
        Stage::Starting,
        Stage::Init,
        Stage::Executing,
        Stage::Update,
        Stage::Updating,
        Stage::UserSleep,
        Stage::HandlerCommit,
        Stage::CreatingTable,
        Stage::CopyToTmpTable,
        Stage::AlteringTable,
        Stage::SendingEvents,
        Stage::AllSent,
        Stage::ConnectionControl,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Stage::Starting => "starting",
            Stage::Init => "init",
            Stage::Executing => "executing",
            Stage::Update => "update",
            Stage::Updating => "updating",
            Stage::UserSleep => "User sleep",
            Stage::HandlerCommit => "waiting for handler commit",
            Stage::CreatingTable => "creating table",
            Stage::CopyToTmpTable => "copy to tmp table",
            Stage::AlteringTable => "altering table",
            Stage::SendingEvents => "Sending binlog event to replica",
            Stage::AllSent => "Source has sent all binlog to replica; waiting for more updates",
            Stage::ConnectionControl => "Waiting in connection_control plugin",
        }
    }
}

/// Among [`ColumnMeta::flags`], not for clients: the column of a temporary table, told of as a table's.
pub const KEPT: u16 = 1 << 15;

/// Receives a result set. Implemented by crate `session` over the wire protocol (text or binary), and by tests.
pub trait RowSink {
    /// Called once, before the first row.
    fn columns(&mut self, columns: &[ColumnMeta]) -> Result<()>;
    fn row(&mut self, values: &[Value<'_>]) -> Result<()>;
}

/// How a statement without result set ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    pub affected_rows: u64,
    /// First AUTO_INCREMENT value that the statement generated, 0 if none.
    pub insert_id: u64,
    /// Rows that an UPDATE found, changed or not: what CLIENT_FOUND_ROWS asks for in place of `affected_rows`.
    pub matched_rows: Option<u64>,
    /// What FOUND_ROWS() says next where that is not the number of rows: SQL_CALC_FOUND_ROWS.
    pub found_rows: Option<u64>,
    /// `Rows matched: 1  Changed: 1  Warnings: 0`
    pub info: String,
}

/// The session as the executor sees it: variables, functions with state, warnings. Implemented by crate `session`.
pub trait Env {
    /// The current schema, if any.
    fn database(&self) -> Option<&str>;
    fn connection_id(&self) -> u64;
    /// `user@host` that the client gave, and the account that matched.
    fn user(&self) -> &str;
    fn current_user(&self) -> &str;
    /// The active roles as CURRENT_ROLE() prints them; `NONE` for none.
    fn current_role(&self) -> &str {
        "NONE"
    }
    /// The statement's start: microseconds since 1970 UTC.
    fn now_us(&self) -> i64;
    /// Offset in seconds east of UTC of the session time zone at the given UTC time.
    fn time_zone_offset(&self, unix_seconds: i64) -> i32;
    fn sql_mode(&self) -> u64;
    fn last_insert_id(&self) -> u64;
    fn set_last_insert_id(&mut self, id: u64);
    /// SET INSERT_ID: what the statement's first AUTO_INCREMENT value is, 0 for as the table says. Asked for once.
    fn take_insert_id(&mut self) -> u64;
    /// Both halves of the state of RAND() without argument, [`crate::random_seed`] at first.
    fn random(&mut self) -> &mut (u32, u32);
    /// ROW_COUNT() and FOUND_ROWS() of the previous statement.
    fn row_count(&self) -> i64;
    fn found_rows(&self) -> u64;
    /// `@@name`, `@@global.name`, `@@session.name`: the value and its type.
    fn system_variable(&self, global: Option<bool>, name: &str) -> Result<(Value<'static>, DataType)>;
    /// Is it EXECUTE that runs, and not COM_STMT_EXECUTE?
    fn runs_execute(&self) -> bool {
        false
    }
    fn user_variable(&self, name: &str) -> (Value<'static>, DataType);
    fn set_user_variable(&mut self, name: &str, value: Value<'static>, data_type: DataType);
    /// The engine that the transaction runs in: AUTO_INCREMENT counters live there.
    fn engine(&self) -> &engine::Engine;
    /// `auto_increment_increment` and `auto_increment_offset`, at least 1. Asked for by each INSERT that generates a value:
    /// worth an implementation that looks up no names.
    fn auto_increment_step(&self) -> (u64, u64) {
        let variable = |name: &str| match self.system_variable(Some(false), name) {
            Ok((v, _)) => v.to_u64().max(1),
            Err(_) => 1,
        };
        (variable("auto_increment_increment"), variable("auto_increment_offset"))
    }
    /// GET_LOCK: false when the lock is not had within `timeout`. Errors 1317, 3024, 3058.
    fn get_lock(&mut self, name: &str, timeout: std::time::Duration, tx: &mut engine::Transaction) -> Result<bool>;
    /// Tells PROCESSLIST what the statement does from now on; answers what it did before.
    fn stage(&self, stage: Stage) -> Stage {
        stage
    }
    /// RELEASE_LOCK: `Some(false)` when another session holds it, `None` when nobody does.
    fn release_lock(&mut self, name: &str) -> Option<bool>;
    /// RELEASE_ALL_LOCKS: how many holds there were.
    fn release_all_locks(&mut self) -> u64;
    /// IS_USED_LOCK: the connection that holds it.
    fn lock_owner(&self, name: &str) -> Option<u64>;
    /// What reading a system variable warns of.
    fn deprecated_variable(&self, _name: &str) -> Option<&'static str> {
        None
    }
    /// CLEARWAY_RECEIPT: what an executed transaction rests on, as JSON. Errors 1026, 1317.
    fn receipt(&self, gtid: binlog::gtid::Gtid) -> Result<Option<String>>;
    /// Error 3062 where no transaction has a GTID.
    fn may_wait_for_gtids(&self) -> Result<()>;
    /// WAIT_FOR_EXECUTED_GTID_SET: until all of the set is executed, or for `time`; false: it is not. Errors 1317, 3173.
    fn wait_for_gtids(&self, set: &binlog::gtid::GtidSet, time: Option<std::time::Duration>) -> Result<bool>;
    /// Is the statement a transaction of its own (autocommit)? Then SERIALIZABLE needs no locks for reading.
    fn is_single_statement(&self) -> bool {
        false
    }
    /// Are foreign keys looked at? Asked for by statements that write tables with some.
    fn foreign_key_checks(&self) -> bool {
        !matches!(self.system_variable(None, "foreign_key_checks"), Ok((Value::Int(0), _)))
    }
    /// Does a table have a foreign key, or another table one on it? Asked when its rows are logged for the first time.
    fn has_foreign_keys(&self, _table: &catalog::Table) -> bool {
        true
    }
    /// How changes of rows go into the binary log, and `max_binlog_cache_size`; `None`: they do not. Asked for once an execution.
    fn logged_rows(&self) -> Option<(binlog::payload::RowSettings, u64)> {
        None
    }
    /// Bytes that a temporary table may take in memory before it goes on in a file.
    fn tmp_memory(&self) -> u64 {
        16 << 20
    }
    /// Bytes that a sort may take in memory before it goes on in a file.
    fn sort_buffer_size(&self) -> u64 {
        256 << 10
    }
    /// Bytes of weights that ORDER BY looks at, of a text under a collation that pads.
    fn max_sort_length(&self) -> u64 {
        1024
    }
    /// The file of LOAD DATA, opened by whoever runs the statement.
    fn take_file(&mut self) -> Option<Box<dyn std::io::Read + Send>> {
        None
    }
    /// LOAD_FILE() of a file of at most so many bytes. Error 1085.
    fn load_file(&self, _name: &str, _size_max: u64) -> Result<LoadedFile> {
        Ok(LoadedFile::Refused)
    }
    /// VALIDATE_PASSWORD_STRENGTH(): 0 to 100; 0 without the component that says what a good password is.
    fn password_strength(&self, _password: &str) -> i64 {
        0
    }
    /// What the virtual tables of information_schema and performance_schema may see of the session.
    fn virtual_context(&self) -> &dyn catalog::VirtualContext;
    /// Conditions of this statement so far.
    fn warning_count(&self) -> u64 {
        0
    }
    /// A warning of the value of a parameter, for when somebody asks for it.
    fn tell_of_parameter(&mut self, _parameter: usize, code: u16, message: String) {
        self.warn("Warning", code, message);
    }
    /// The warnings of a parameter that nobody had asked for, taken out, and whether there are others.
    fn untold(&mut self, _parameter: usize) -> (Vec<(u16, String)>, bool) {
        (Vec::new(), false)
    }
    /// level: Note, Warning, Error as SHOW WARNINGS prints.
    fn warn(&mut self, level: &'static str, code: u16, message: String);
}

/// What LOAD_FILE() finds.
pub enum LoadedFile {
    /// It is not there, or not for this user.
    Refused,
    /// Its bytes are more than were asked for.
    TooLarge(u64),
    Content(Vec<u8>),
}

/// How the parser reads text under a `sql_mode`.
pub fn lexer_mode(mode: types::sql_mode::SqlMode) -> sql::SqlMode {
    use types::sql_mode::SqlMode as M;
    sql::SqlMode {
        pipes_as_concat: mode.has(M::PIPES_AS_CONCAT),
        ansi_quotes: mode.has(M::ANSI_QUOTES),
        no_backslash_escapes: mode.has(M::NO_BACKSLASH_ESCAPES),
        high_not_precedence: mode.has(M::HIGH_NOT_PRECEDENCE),
        ignore_space: mode.has(M::IGNORE_SPACE),
        real_as_float: mode.has(M::REAL_AS_FLOAT),
    }
}
