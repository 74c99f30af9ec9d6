//! What is asked of the execution that an expression is evaluated in.

use crate::call::StoredCall;
use crate::operator::CmpOp;
use crate::row::Outside;
use crate::scratch::Scratch;
use crate::{Env, Expr, Scope, error};
use std::cell::{Cell, OnceCell, RefCell, RefMut};
use std::time::Duration;
use sync::memory::Excess;
use types::codes::*;
use types::sql_mode::SqlMode;
use types::{CollationId, Result, SqlError, Value, err};

/// A value that functions take some hundred microseconds for.
const LONG_BYTES: usize = 1 << 16;

/// The least that `max_allowed_packet` can be.
pub(crate) const LEAST_PACKET: usize = 1024;

/// Bytes of a buffer that a plan may keep for its next execution.
const KEPT_BYTES_MAX: usize = 1 << 20;

/// Variables of the session, once they have been asked for.
#[derive(Default)]
struct Asked {
    /// `div_precision_increment`
    div_increment: Cell<Option<u32>>,
    /// `group_concat_max_len`
    group_concat_max: Cell<Option<usize>>,
    /// `max_allowed_packet`, which only a longer result than any could be asks for.
    max_packet: Cell<Option<usize>>,
}

/// What all expressions of one execution share.
pub struct Evaluation<'x> {
    pub params: &'x [Value<'x>],
    /// `NOW()`: microseconds since 1970 UTC at the statement's start.
    pub now_us: i64,
    pub sql_mode: SqlMode,
    /// Conversion problems are errors (a strict INSERT or UPDATE), warnings else.
    pub strict: Cell<bool>,
    /// The first of them in this statement.
    strict_error: RefCell<Option<Box<SqlError>>>,
    /// Are there warnings of parameters that nobody has asked for yet?
    pub has_untold: Cell<bool>,
    /// The statement has no table.
    pub reads_nothing: bool,
    /// Numbers of UUID() within the statement.
    pub random: Cell<u64>,
    /// Made for the first function that remembers something: most executions have none.
    scratch: OnceCell<Box<Scratch>>,
    steps: Cell<u32>,
    asked: Asked,
    /// Warnings raised so far, for the `info` of the outcome.
    pub warnings: Cell<u64>,
    /// The row of the result that comes next, from 1: warnings name it.
    pub row: Cell<u64>,
    /// What LAST_INSERT_ID(expr) was given in this statement.
    pub given_id: Cell<Option<u64>>,
    /// Operators have opened a temporary file, or a buffer has grown beyond [`KEPT_BYTES_MAX`].
    pub holds_much: Cell<bool>,
}

impl<'x> Evaluation<'x> {
    /// Before the first expression is asked.
    pub fn new(params: &'x [Value<'x>], now_us: i64, sql_mode: SqlMode) -> Evaluation<'x> {
        Evaluation {
            params,
            now_us,
            sql_mode,
            strict: Cell::new(false),
            strict_error: RefCell::new(None),
            has_untold: Cell::new(false),
            reads_nothing: false,
            random: Cell::new(0),
            scratch: OnceCell::new(),
            steps: Cell::new(0),
            asked: Asked::default(),
            warnings: Cell::new(0),
            row: Cell::new(1),
            given_id: Cell::new(None),
            holds_much: Cell::new(false),
        }
    }

    /// What functions remember during the execution.
    #[inline]
    pub fn scratch(&self) -> &Scratch {
        self.scratch.get_or_init(Box::default)
    }

    /// Says the error that a warning became in other words.
    pub fn retell_strict(&self, tell: impl FnOnce(SqlError) -> SqlError) {
        if let Some(e) = self.strict_error.borrow_mut().as_deref_mut() {
            *e = tell(e.clone());
        }
    }

    fn count_warning(&self) {
        self.warnings.set(self.warnings.get() + 1);
    }
}

/// What an expression asks of the execution that it is evaluated in: the session, subqueries, what of a row lies elsewhere, whether
/// it has been killed. Implemented by the executor.
pub trait Execution: Outside {
    fn evaluation(&self) -> &Evaluation<'_>;

    /// Nobody else may use the session meanwhile: its answers are copied out of it.
    fn session(&self) -> RefMut<'_, dyn Env + '_>;

    /// A column of a subquery's only row: NULL for no row, 1242 for more than one.
    fn scalar(&self, query: usize, column: usize, at: Scope<'_>) -> Result<Value<'_>>;

    fn exists(&self, query: usize, at: Scope<'_>) -> Result<bool>;

    /// `operands IN (subquery)`.
    fn contains(
        &self,
        query: usize,
        operands: &[Expr],
        collations: &[CollationId],
        at: Scope<'_>,
    ) -> Result<Option<bool>>;

    /// `operand op ALL (subquery)` or ANY.
    fn quantified(
        &self,
        query: usize,
        op: CmpOp,
        all: bool,
        operand: &Expr,
        collation: CollationId,
        at: Scope<'_>,
    ) -> Result<Option<bool>>;

    /// The value of a stored function for values of its parameters. Errors of the routine; 1321, 1424, 1449.
    fn call(&self, stored: &StoredCall, args: &[Expr], at: Scope<'_>) -> Result<Value<'static>>;

    /// What has ended the statement: 0, or a reason of [`types::work::interrupted`].
    fn interrupt(&self) -> u8;

    /// SLEEP(): false when the sleep was interrupted.
    fn sleep(&self, time: Duration) -> bool;

    /// GET_LOCK: false when the lock is not had within `timeout`. Errors 1317, 3024, 3058.
    fn get_lock(&self, name: &str, timeout: Duration) -> Result<bool>;

    /// Somebody asks for a parameter's value.
    #[cold]
    fn tell_of_parameter(&self, parameter: usize) {
        let (told, more) = self.session().untold(parameter);
        self.evaluation().has_untold.set(more);
        for (code, message) in told {
            self.tell(code, message);
        }
    }

    /// A numeric variable of the session.
    #[cold]
    fn variable(&self, name: &str) -> u64 {
        let value = self.session().system_variable(None, name);
        value.expect("the executor asks for variables that there are").0.to_u64()
    }

    /// `max_allowed_packet`.
    fn max_packet(&self) -> usize {
        let known = &self.evaluation().asked.max_packet;
        let max = known.get().unwrap_or_else(|| self.variable("max_allowed_packet") as usize);
        known.set(Some(max));
        max
    }

    /// Would a function's result of so many bytes be longer than `max_allowed_packet`? It is NULL then, with warning 1301. Errors of
    /// [`error::check_memory`] if it is not, and more than the statement may take.
    fn outgrows_packet(&self, function: &str, bytes: usize) -> Result<bool> {
        if bytes <= LEAST_PACKET {
            return Ok(false);
        }
        let max = self.max_packet();
        if bytes > max {
            self.push_warning(err!(ER_WARN_ALLOWED_PACKET_OVERFLOWED, function, max));
            return Ok(true);
        }
        error::check_memory_for(bytes).map(|()| false)
    }

    /// `group_concat_max_len`.
    fn group_concat_max(&self) -> usize {
        let known = &self.evaluation().asked.group_concat_max;
        let max = || usize::try_from(self.variable("group_concat_max_len")).unwrap_or(usize::MAX);
        let max = known.get().unwrap_or_else(max);
        known.set(Some(max));
        max
    }

    /// `div_precision_increment`.
    fn div_increment(&self) -> u32 {
        let known = &self.evaluation().asked.div_increment;
        let increment = known.get().unwrap_or_else(|| self.variable("div_precision_increment") as u32);
        known.set(Some(increment));
        increment
    }

    /// A warning, or the statement's error: see [`Execution::check_strict`].
    fn warn(&self, code: u16, message: String) {
        let shared = self.evaluation();
        if shared.strict.get() && is_strict(code) {
            shared.strict_error.borrow_mut().get_or_insert_with(|| Box::new(SqlError::new(code, message)));
            return;
        }
        self.tell(code, message);
    }

    /// [`Execution::warn`] with number and message of `condition`.
    fn push_warning(&self, condition: SqlError) {
        self.warn(condition.code, condition.message);
    }

    /// A warning that is one in strict statements, too.
    fn tell(&self, code: u16, message: String) {
        self.evaluation().count_warning();
        self.session().warn("Warning", code, message);
    }

    /// A note, which is counted with the warnings.
    fn note(&self, code: u16, message: String) {
        self.evaluation().count_warning();
        self.session().warn("Note", code, message);
    }

    /// Warnings so far, with those of who read the statement.
    fn warning_count(&self) -> u64 {
        self.session().warning_count().max(self.evaluation().warnings.get())
    }

    /// The error that a warning became since the statement is a strict INSERT, UPDATE or DELETE.
    #[inline]
    fn check_strict(&self) -> Result<()> {
        match self.evaluation().strict_error.borrow().as_deref() {
            Some(e) => Err(e.clone()),
            None => Ok(()),
        }
    }

    /// A buffer (of groups, distinct keys, a hash join's side, rows about to change) has grown to so many bytes. Errors of
    /// [`error::check_memory`].
    #[inline]
    fn check_growth(&self, bytes: usize) -> Result<()> {
        if bytes <= KEPT_BYTES_MAX {
            return Ok(());
        }
        self.evaluation().holds_much.set(true);
        // Operators count bytes in 32 bits.
        if bytes > u32::MAX as usize {
            return Err(error::out_of_memory(Excess::Statement { limit: u32::MAX.into() }));
        }
        error::check_memory()
    }

    /// Has somebody killed this query, or has it too much memory? Looked at by what may work long without asking the engine.
    #[inline]
    fn check_interrupt(&self) -> Result<()> {
        let steps = &self.evaluation().steps;
        let n = steps.get().wrapping_add(1);
        steps.set(n);
        if n.is_multiple_of(256) { self.check_interrupt_now() } else { Ok(()) }
    }

    /// A value of so many bytes is about to be worked on: of long ones a few hundred rows take long.
    #[inline]
    fn check_work(&self, bytes: usize) -> Result<()> {
        if bytes < LONG_BYTES { Ok(()) } else { self.check_interrupt_now() }
    }

    #[inline]
    fn check_interrupt_now(&self) -> Result<()> {
        error::check_memory()?;
        self.check_killed()
    }

    #[inline]
    fn check_killed(&self) -> Result<()> {
        match self.interrupt() {
            0 => Ok(()),
            reason => Err(error::interrupted(reason)),
        }
    }

    /// Seconds east of UTC of the session's time zone at `unix_seconds`.
    fn zone_offset(&self, unix_seconds: i64) -> i64 {
        self.session().time_zone_offset(unix_seconds) as i64
    }
}

/// [`Execution::check_work`], which costs a short value no call.
#[inline]
pub(crate) fn check_work(run: &dyn Execution, bytes: usize) -> Result<()> {
    if bytes < LONG_BYTES { Ok(()) } else { run.check_interrupt_now() }
}

/// Does a strict INSERT, UPDATE or DELETE take this warning for an error?
#[cold]
fn is_strict(code: u16) -> bool {
    const CODES: [u16; 20] = [
        ER_BAD_NULL_ERROR,
        ER_TOO_LONG_KEY,
        ER_CUT_VALUE_GROUP_CONCAT,
        ER_WARN_TOO_FEW_RECORDS,
        ER_WARN_TOO_MANY_RECORDS,
        ER_WARN_NULL_TO_NOTNULL,
        ER_WARN_DATA_OUT_OF_RANGE,
        WARN_DATA_TRUNCATED,
        ER_TRUNCATED_WRONG_VALUE,
        ER_WARN_ALLOWED_PACKET_OVERFLOWED,
        ER_NO_DEFAULT_FOR_FIELD,
        ER_DIVISION_BY_ZERO,
        ER_TRUNCATED_WRONG_VALUE_FOR_FIELD,
        ER_DATA_TOO_LONG,
        ER_WRONG_VALUE_FOR_TYPE,
        ER_NO_DEFAULT_FOR_VIEW_FIELD,
        ER_DATETIME_FUNCTION_OVERFLOW,
        ER_INVALID_ARGUMENT_FOR_LOGARITHM,
        ER_NUMERIC_JSON_VALUE_OUT_OF_RANGE,
        ER_INVALID_JSON_VALUE_FOR_CAST,
    ];
    CODES.contains(&code)
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
