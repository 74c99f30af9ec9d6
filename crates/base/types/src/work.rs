//! Whether to go on: what works long on values, or makes a lot of them, asks from time to time.
//!
//! A thread says for whom it works ([`sync::blocking`]) and what that statement has of memory is known ([`sync::memory`]), so the question
//! needs no word from the caller.

use crate::error::codes::*;
use crate::error::{Result, SqlError};
use sync::memory::Excess;

/// 1317, or 3024 when the deadline of `max_execution_time` passed: `reason` is 3 then, see `engine::Interrupt::reason`.
#[cold]
pub fn interrupted(reason: u8) -> SqlError {
    if reason == 3 { crate::err!(ER_QUERY_TIMEOUT) } else { crate::err!(ER_QUERY_INTERRUPTED) }
}

/// 1317 or 3024 when the statement that the thread works for is to end, errors of [`check_memory`] when it has too much.
pub fn check() -> Result<()> {
    check_memory()?;
    match sync::blocking::interruption() {
        0 => Ok(()),
        reason => Err(interrupted(reason)),
    }
}

/// Has the statement that the thread works for more memory than it may? Errors 3170, 4081, 4082.
#[inline]
pub fn check_memory() -> Result<()> {
    sync::memory::check().map_err(out_of_memory)
}

/// The same of a statement that is about to take so many bytes at once.
#[inline]
pub fn check_memory_for(bytes: usize) -> Result<()> {
    sync::memory::check_for(bytes).map_err(out_of_memory)
}

/// 3170, 4081 or 4082: a statement, its connection or all of them have as much memory as they may. After the latter two the connection
/// is closed.
#[cold]
pub fn out_of_memory(excess: Excess) -> SqlError {
    match excess {
        Excess::Statement { limit } => {
            crate::err!(ER_CAPACITY_EXCEEDED, limit, "statement", "The statement has ended.")
        }
        Excess::Connection { limit, used } => crate::err!(ER_DA_CONN_LIMIT, limit, used),
        Excess::Server { limit, used } => crate::err!(ER_DA_GLOBAL_CONN_LIMIT, limit, used),
    }
}
