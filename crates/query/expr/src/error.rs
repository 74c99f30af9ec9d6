//! Constructors of errors that many expressions and operators raise.

use types::SqlError;
pub use types::work::{check as check_interrupt, check_memory, check_memory_for, interrupted, out_of_memory};

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
    SqlError::new(1235, format!("This version of MySQL doesn't yet support '{what}'"))
}

#[cold]
pub fn unknown_column(name: &str, clause: &str) -> SqlError {
    SqlError::new(1054, format!("Unknown column '{name}' in '{clause}'"))
}

/// 1690. An empty text is that of the expression, which knows it: [`crate::Expr::eval`] puts it there.
#[cold]
pub fn out_of_range(kind: &str, text: &str) -> SqlError {
    SqlError::new(1690, format!("{kind} value is out of range in '{text}'"))
}
