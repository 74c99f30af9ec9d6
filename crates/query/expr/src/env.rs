//! The session as expressions see it: who is there, its variables, functions with state, warnings.

use std::time::Duration;
use types::collation::CollationId;
use types::gtid::{Gtid, GtidSet};
use types::{DataType, Result, SqlError, Value};

/// The session that an expression is evaluated for. Implemented by crate `session`.
pub trait Env {
    /// The current schema, if any.
    fn database(&self) -> Option<&str>;
    fn connection_id(&self) -> u64;
    /// Is there a session with this id?
    fn is_connected(&self, id: u64) -> bool {
        id == self.connection_id()
    }
    /// What CONNECTION_ID() answers: another session's for one that repeats its statements.
    fn pseudo_thread_id(&self) -> u64 {
        self.connection_id()
    }
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
    /// `collation_connection`: of literals.
    fn literal_collation(&self) -> CollationId {
        CollationId::UTF8MB4_0900_AI_CI
    }
    fn last_insert_id(&self) -> u64;
    fn set_last_insert_id(&mut self, id: u64);
    /// Both halves of the state of RAND() without argument, [`crate::random_seed`] at first.
    fn random(&mut self) -> &mut (u32, u32);
    /// ROW_COUNT() and FOUND_ROWS() of the previous statement.
    fn row_count(&self) -> i64;
    fn found_rows(&self) -> u64;
    /// `@@name`, `@@global.name`, `@@session.name`: the value and its type.
    fn system_variable(&self, global: Option<bool>, name: &str) -> Result<(Value<'static>, DataType)>;
    fn user_variable(&self, name: &str) -> (Value<'static>, DataType);
    fn set_user_variable(&mut self, name: &str, value: Value<'static>, data_type: DataType);
    /// Tells PROCESSLIST what the statement does from now on; answers what it did before.
    fn stage(&self, stage: Stage) -> Stage {
        stage
    }
    /// Whom to tell how far the stage at hand is.
    fn teller(&self) -> Option<Teller> {
        None
    }
    /// RELEASE_LOCK: `Some(false)` when another session holds it, `None` when nobody does.
    fn release_lock(&mut self, name: &str) -> Option<bool>;
    /// RELEASE_ALL_LOCKS: how many holds there were.
    fn release_all_locks(&mut self) -> u64;
    /// IS_USED_LOCK: the connection that holds it.
    fn lock_owner(&self, name: &str) -> Option<u64>;
    /// CLEARWAY_RECEIPT: what an executed transaction rests on, as JSON. Errors 1026, 1317.
    fn receipt(&self, gtid: Gtid) -> Result<Option<String>>;
    /// Error 3062 where no transaction has a GTID.
    fn may_wait_for_gtids(&self) -> Result<()>;
    /// WAIT_FOR_EXECUTED_GTID_SET: until all of the set is executed, or for `time`; false: it is not. Errors 1317, 3173.
    fn wait_for_gtids(&self, set: &GtidSet, time: Option<Duration>) -> Result<bool>;
    /// SOURCE_POS_WAIT: until a channel's applier has come to a place of its source, or for a time. Errors 1317, 3079.
    fn wait_for_source(&self, _place: &SourcePlace<'_>, _time: Option<Duration>) -> Result<SourceWait> {
        Ok(SourceWait::NotRunning)
    }
    /// LOAD_FILE() of a file of at most so many bytes. Error 1085.
    fn load_file(&self, _name: &str, _size_max: u64) -> Result<LoadedFile> {
        Ok(LoadedFile::Refused)
    }
    /// VALIDATE_PASSWORD_STRENGTH(): 0 to 100; 0 without the component that says what a good password is.
    fn password_strength(&self, _password: &str) -> i64 {
        0
    }
    /// What STATEMENT_DIGEST_TEXT() depends on beside its argument.
    fn digesting(&self) -> sql::digest::Digesting {
        sql::digest::Digesting::new(sql::SqlMode::default())
    }
    /// What the client has sent with the statement under a name of any case. `None`: nothing, or NULL. Error 1305: the component has
    /// gone since the statement was planned.
    fn query_attribute(&self, _name: &str) -> Result<Option<&str>> {
        Ok(None)
    }
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
    /// [`Env::warn`] with number and message of `condition`.
    fn push_warning(&mut self, level: &'static str, condition: SqlError) {
        self.warn(level, condition.code, condition.message);
    }
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
    /// SOURCE_POS_WAIT()
    SourcePosition,
    /// An index is made: rows are read, entries sorted.
    AlterRead,
    /// Sorted entries become the index.
    AlterInsert,
    /// What others have changed meanwhile is done again.
    AlterApply,
}

impl Stage {
    /// All stages, in the order of their numbers.
    pub const ALL: [Stage; 17] = [
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
        Stage::SourcePosition,
        Stage::AlterRead,
        Stage::AlterInsert,
        Stage::AlterApply,
    ];

    /// As `SHOW PROCESSLIST` has it.
    pub const fn name(self) -> &'static str {
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
            Stage::AlteringTable | Stage::AlterRead | Stage::AlterInsert | Stage::AlterApply => "altering table",
            Stage::SendingEvents => "Sending binlog event to replica",
            Stage::AllSent => "Source has sent all binlog to replica; waiting for more updates",
            Stage::ConnectionControl => "Waiting in connection_control plugin",
            Stage::SourcePosition => "Waiting for the replica SQL thread to advance position",
        }
    }

    /// Its instrument in `performance_schema`.
    pub const fn instrument(self) -> &'static str {
        match self {
            Stage::Starting => "stage/sql/starting",
            Stage::Init => "stage/sql/init",
            Stage::Executing => "stage/sql/executing",
            Stage::Update => "stage/sql/update",
            Stage::Updating => "stage/sql/updating",
            Stage::UserSleep => "stage/sql/User sleep",
            Stage::HandlerCommit => "stage/sql/waiting for handler commit",
            Stage::CreatingTable => "stage/sql/creating table",
            Stage::CopyToTmpTable => "stage/sql/copy to tmp table",
            Stage::AlteringTable => "stage/sql/altering table",
            Stage::SendingEvents => "stage/sql/Sending binlog event to replica",
            Stage::AllSent => "stage/sql/Source has sent all binlog to replica; waiting for more updates",
            Stage::ConnectionControl => "stage/sql/Waiting in connection_control plugin",
            Stage::SourcePosition => "stage/sql/Waiting for the replica SQL thread to advance position",
            Stage::AlterRead => "stage/innodb/alter table (read PK and internal sort)",
            Stage::AlterInsert => "stage/innodb/alter table (insert)",
            Stage::AlterApply => "stage/innodb/alter table (log apply index)",
        }
    }

    /// Does it tell how far it is?
    pub const fn has_progress(self) -> bool {
        matches!(self, Stage::CopyToTmpTable | Stage::AlterRead | Stage::AlterInsert | Stage::AlterApply)
    }
}

/// Hears how much is done of how much, from any thread that works for the statement.
pub type Teller = std::sync::Arc<dyn Fn(u64, u64) + Send + Sync>;

/// A place in a source's binary log, for the applier of a channel; `None`: of the only one.
pub struct SourcePlace<'a> {
    pub channel: Option<&'a str>,
    pub file: &'a str,
    pub offset: u64,
}

/// How a wait for an applier has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceWait {
    /// It does not run, or that is no place of its source.
    NotRunning,
    TimedOut,
    /// It is there, and has moved so often meanwhile.
    Reached(u64),
}

/// What LOAD_FILE() finds.
pub enum LoadedFile {
    /// It is not there, or not for this user.
    Refused,
    /// Its bytes are more than were asked for.
    TooLarge(u64),
    Content(Vec<u8>),
}
