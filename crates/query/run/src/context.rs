//! What a statement needs from its session, and where its rows go.

use crate::program::RoutineName;
use crate::program::diagnostics::Condition;
use engine::Transaction;
use observe::TimeTotals;
use plan::ColumnMeta;
use types::{DataType, Result, Value};

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

/// The session as the executor sees it. Implemented by crate `session`.
pub trait Env: plan::Env {
    /// SET INSERT_ID: what the statement's first AUTO_INCREMENT value is, 0 for as the table says. Asked for once.
    fn take_insert_id(&mut self) -> u64;
    /// Is it EXECUTE that runs, and not COM_STMT_EXECUTE?
    fn runs_execute(&self) -> bool {
        false
    }
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
    fn logged_rows(&self, _beside: bool) -> Option<(binlog::payload::RowSettings, u64)> {
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
    /// What the virtual tables of information_schema and performance_schema may see of the session.
    fn virtual_context(&self) -> &dyn catalog::VirtualContext;
    /// What the session's stored functions and triggers run with: a [`crate::program::Lent`]. `None`: it runs none.
    fn lent(&mut self) -> Option<&mut dyn std::any::Any> {
        None
    }
    /// Makes those of a routine the session's, until [`Env::restore`]. After a panic the session does that itself.
    fn surround(&mut self, _routine: Around<'_>) {}
    fn restore(&mut self) {}
    /// Would it change nothing of the session's?
    fn is_surrounded(&self, _routine: &Around<'_>) -> bool {
        false
    }
    /// A statement of a stored function or trigger that is not the executor's: SET, and definitions of temporary tables. `given`: the
    /// values of its expressions. Error 1235 for all others.
    fn obey_within(
        &mut self,
        _: &mut Transaction,
        _: &sql::ast::Parsed,
        _given: Option<(Value<'static>, DataType)>,
    ) -> Result<()> {
        Err(expr::error::unsupported("this statement in stored functions and triggers"))
    }
    /// A routine has run, once or more often, inside of the statement.
    fn note_runs(&mut self, _program: &RoutineName, _runs: &TimeTotals) {}
    /// A statement of a function or trigger begins. True: somebody wants to know when it ends, see [`Env::end_inner`].
    fn begin_inner(&mut self) -> bool {
        false
    }
    /// The innermost of them that has begun has ended.
    fn end_inner(&mut self, _part: &sql::ast::Parsed, _error: Option<&types::SqlError>) {}
    /// The conditions of the statement at hand, put aside while a routine has its own, or put back.
    fn exchange_conditions(&mut self, _others: Conditions) -> Conditions {
        Conditions::default()
    }
    fn conditions(&mut self) -> &mut Vec<Condition>;
    /// Conditions in place of those that there are.
    fn replace_conditions(&mut self, conditions: Vec<Condition>) {
        *self.conditions() = conditions;
    }
    fn clear_conditions(&mut self) {}
    /// A program's handler takes an error.
    fn handles(&mut self, _code: u16) {}
    /// Another condition, counted.
    fn add_condition(&mut self, _condition: Condition) {}
    fn figures(&self) -> Figures {
        Figures::default()
    }
    fn set_figures(&mut self, _figures: Figures) {}
}

/// What a routine keeps until the statement that calls it is over.
pub(crate) trait Kept: std::any::Any {
    /// The statement is over.
    fn give_back(self: Box<Self>, env: &mut dyn Env);
}

/// What a routine is planned and run under.
#[derive(Clone, Debug)]
pub struct Around<'r> {
    pub schema: &'r str,
    pub sql_mode: u64,
    /// `collation_connection`
    pub collation: types::CollationId,
    /// CURRENT_USER(): the definer; `None`: as it is.
    pub user: Option<String>,
}

/// The conditions of a statement: those that are kept, and how many there were, errors among them; and the same two numbers of the
/// statement before, which `@@warning_count` and `@@error_count` tell.
#[derive(Debug, Default)]
pub struct Conditions {
    pub kept: Vec<Condition>,
    pub count: u64,
    pub errors: u64,
    pub former: (u64, u64),
}

/// What functions tell of the statement before.
#[derive(Clone, Copy, Debug, Default)]
pub struct Figures {
    pub row_count: i64,
    pub found_rows: u64,
    pub last_insert_id: u64,
    /// SET INSERT_ID
    pub insert_id: u64,
}

/// The words and numbers of [`Outcome::info`].
pub fn info(parts: &[(&str, u64)]) -> String {
    let mut out = String::with_capacity(128);
    for (words, number) in parts {
        out.push_str(words);
        match u8::try_from(*number) {
            Ok(digit) if digit < 10 => out.push((b'0' + digit) as char),
            _ => out.push_str(&number.to_string()),
        }
    }
    out
}
