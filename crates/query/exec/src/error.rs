//! The one place where engine errors become MySQL's, and the constructors of errors that many operators raise.

pub use types::work::{check as check_interrupt, check_memory, check_memory_for, interrupted, out_of_memory};
use types::{SqlError, err};

/// An engine error as the client is told. Duplicate keys need the entry and the key's name: see [`duplicate`].
#[cold]
pub fn engine(e: engine::Error) -> SqlError {
    use engine::Error::*;
    match e {
        DuplicateKey => SqlError::new(1022, "Can't write; duplicate key in table"),
        MustRollBack => during_rollback(MustRollBack),
        RowChanged => SqlError::new(1020, "Record has changed since last read"),
        Deadlock => SqlError::new(1213, "Deadlock found when trying to get lock; try restarting transaction"),
        LockWaitTimeout => SqlError::new(1205, "Lock wait timeout exceeded; try restarting transaction"),
        LockNoWait => SqlError::new(
            3572,
            "Statement aborted because lock(s) could not be acquired immediately and NOWAIT is set.",
        ),
        // No answer goes out with this code: the connection ends and the outcome is open, as after any lost connection.
        Unacknowledged => SqlError::new(1160, "Got an error writing communication packets"),
        Interrupted => SqlError::new(1317, "Query execution was interrupted"),
        DiskFull => SqlError::new(1114, "The table is full"),
        TooLong => SqlError::new(1118, "Row size too large"),
        Io(e) => SqlError::new(1030, format!("Got error -1 - '{e}' from storage engine")),
        Corrupt(what) => SqlError::new(1712, format!("Index is corrupted: {what}")),
        Keyring(what) => catalog::error::keyring(&what),
        LockTableFull => SqlError::new(1206, "The total number of locks exceeds the lock table size"),
        TooManyTransactions => SqlError::new(1637, "Too many active concurrent transactions"),
    }
}

/// 1181 for an engine error that kept a transaction or statement from being undone: it is undone in the background.
#[cold]
pub fn during_rollback(e: engine::Error) -> SqlError {
    if matches!(e, engine::Error::MustRollBack) {
        return err!(1181, 1181, "a statement could not be undone, only ROLLBACK can follow");
    }
    let inner = engine(e);
    err!(1181, inner.code, inner.message)
}

/// A text that could not be read.
#[cold]
pub fn parse_error(e: &sql::ParseError) -> SqlError {
    match e.why_ended() {
        Some(sql::Ended::Interrupted(reason)) => interrupted(reason),
        Some(sql::Ended::Memory(excess)) => out_of_memory(excess),
        None => SqlError::new(e.code(), e.message()),
    }
}

/// 1062 for `entry` (the key's values joined by `-`) in `table.index`.
#[cold]
pub fn duplicate(entry: &str, table: &str, index: &str) -> SqlError {
    // MySQL's message has room for so much of it.
    let end = (0..=entry.len().min(64)).rev().find(|at| entry.is_char_boundary(*at)).expect("0 is one");
    let entry = &entry[..end];
    SqlError::new(1062, format!("Duplicate entry '{entry}' for key '{table}.{index}'"))
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

/// Errors that end the whole transaction, not the statement alone (the engine has rolled back already).
pub fn ends_transaction(e: &SqlError) -> bool {
    matches!(e.code, 1206 | 1213)
}
