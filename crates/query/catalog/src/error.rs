//! The one place where the engine's errors become MySQL's.

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
        Keyring(what) => keyring(&what),
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

/// 1062 for `entry` (the key's values joined by `-`) in `table.index`.
#[cold]
pub fn duplicate(entry: &str, table: &str, index: &str) -> SqlError {
    // MySQL's message has room for so much of it.
    let end = (0..=entry.len().min(64)).rev().find(|at| entry.is_char_boundary(*at)).expect("0 is one");
    let entry = &entry[..end];
    SqlError::new(1062, format!("Duplicate entry '{entry}' for key '{table}.{index}'"))
}

/// Errors that end the whole transaction, not the statement alone (the engine has rolled back already).
pub fn ends_transaction(e: &SqlError) -> bool {
    matches!(e.code, 1206 | 1213)
}

/// The same of an error in the dictionary's own tables, during DDL.
#[cold]
pub fn from_engine(e: engine::Error) -> SqlError {
    use engine::Error::*;
    match e {
        Deadlock => SqlError::new(1213, "Deadlock found when trying to get lock; try restarting transaction"),
        LockWaitTimeout => SqlError::new(1205, "Lock wait timeout exceeded; try restarting transaction"),
        // As for any commit: the session ends without an answer.
        Unacknowledged => SqlError::new(1160, "Got an error writing communication packets"),
        Interrupted => SqlError::new(1317, "Query execution was interrupted"),
        DiskFull => SqlError::new(1114, "The table 'dictionary' is full"),
        LockTableFull => SqlError::new(1206, "The total number of locks exceeds the lock table size"),
        TooManyTransactions => SqlError::new(1637, "Too many active concurrent transactions"),
        Corrupt(what) => SqlError::new(1712, format!("Index dictionary is corrupted: {what}")),
        Keyring(what) => keyring(&what),
        Io(what) => SqlError::new(1030, format!("Got error -1 - '{what}' from storage engine")),
        other => SqlError::new(1030, format!("Got error -1 - '{other}' from storage engine")),
    }
}

/// Error 3185; the error log says what is wrong with the keyring.
#[cold]
pub fn keyring(what: &str) -> SqlError {
    eprintln!("[ERROR] [Engine] {what}");
    err!(3185)
}
