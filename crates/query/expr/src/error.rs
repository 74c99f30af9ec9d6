//! Constructors of errors that many expressions and operators raise.

use types::codes::*;
pub use types::work::{check as check_interrupt, check_memory, check_memory_for, interrupted, out_of_memory};
use types::{SqlError, err};

/// A text that could not be read.
#[cold]
pub fn parse_error(e: &sql::ParseError) -> SqlError {
    match e.why_ended() {
        Some(sql::Ended::Interrupted(reason)) => interrupted(reason),
        Some(sql::Ended::Memory(excess)) => out_of_memory(excess),
        None => SqlError::new(e.code(), e.message()),
    }
}

/// 1235: not built yet.
#[cold]
pub fn unsupported(what: &str) -> SqlError {
    err!(ER_NOT_SUPPORTED_YET, what)
}

/// Error 1054.
#[cold]
pub fn unknown_column(name: &str, clause: &str) -> SqlError {
    err!(ER_BAD_FIELD_ERROR, name, clause)
}

/// 1690. An empty text is that of the expression, which knows it: [`crate::Expr::eval`] puts it there.
#[cold]
pub fn out_of_range(kind: &str, text: &str) -> SqlError {
    err!(ER_DATA_OUT_OF_RANGE, kind, text)
}
