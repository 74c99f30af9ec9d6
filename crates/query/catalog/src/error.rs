//! The one place where the engine's errors become MySQL's.

use types::codes::*;
use types::{SqlError, err};

/// An engine error as the client is told. Duplicate keys need the entry and the key's name: see [`duplicate`].
#[cold]
pub fn engine(e: engine::Error) -> SqlError {
    use engine::Error::*;
    match e {
        DuplicateKey => SqlError::new(ER_DUP_KEY, "Can't write; duplicate key in table"),
        MustRollBack => during_rollback(MustRollBack),
        RowChanged => SqlError::new(ER_CHECKREAD, "Record has changed since last read"),
        Deadlock => err!(ER_LOCK_DEADLOCK),
        LockWaitTimeout => err!(ER_LOCK_WAIT_TIMEOUT),
        LockNoWait => err!(ER_LOCK_NOWAIT),
        // No answer goes out with this code: the connection ends and the outcome is open, as after any lost connection.
        Unacknowledged => err!(ER_NET_ERROR_ON_WRITE),
        Interrupted => err!(ER_QUERY_INTERRUPTED),
        DiskFull => SqlError::new(ER_RECORD_FILE_FULL, "The table is full"),
        TooLong => SqlError::new(ER_TOO_BIG_ROWSIZE, "Row size too large"),
        Io(e) => err!(ER_GET_ERRNO, -1, e),
        Corrupt(what) => SqlError::new(ER_INDEX_CORRUPT, format!("Index is corrupted: {what}")),
        Keyring(what) => keyring(&what),
        LockTableFull => err!(ER_LOCK_TABLE_FULL),
        TooManyTransactions => err!(ER_TOO_MANY_CONCURRENT_TRXS),
    }
}

/// 1181 for an engine error that kept a transaction or statement from being undone: it is undone in the background.
#[cold]
pub fn during_rollback(e: engine::Error) -> SqlError {
    if matches!(e, engine::Error::MustRollBack) {
        return err!(ER_ERROR_DURING_ROLLBACK, 1181, "a statement could not be undone, only ROLLBACK can follow");
    }
    let inner = engine(e);
    err!(ER_ERROR_DURING_ROLLBACK, inner.code, inner.message)
}

/// 1062 for `entry` (the key's values joined by `-`) in `table.index`.
#[cold]
pub fn duplicate(entry: &str, table: &str, index: &str) -> SqlError {
    // MySQL's message has room for so much of it.
    let end = (0..=entry.len().min(64)).rev().find(|at| entry.is_char_boundary(*at)).expect("0 is one");
    let entry = &entry[..end];
    err!(ER_DUP_ENTRY, entry, format!("{table}.{index}"))
}

/// Errors that end the whole transaction, not the statement alone (the engine has rolled back already).
pub fn ends_transaction(e: &SqlError) -> bool {
    matches!(e.code, ER_LOCK_TABLE_FULL | ER_LOCK_DEADLOCK)
}

/// The same of an error in the dictionary's own tables, during DDL.
#[cold]
pub fn from_engine(e: engine::Error) -> SqlError {
    use engine::Error::*;
    match e {
        Deadlock => err!(ER_LOCK_DEADLOCK),
        LockWaitTimeout => err!(ER_LOCK_WAIT_TIMEOUT),
        // As for any commit: the session ends without an answer.
        Unacknowledged => err!(ER_NET_ERROR_ON_WRITE),
        Interrupted => err!(ER_QUERY_INTERRUPTED),
        DiskFull => err!(ER_RECORD_FILE_FULL, "dictionary"),
        LockTableFull => err!(ER_LOCK_TABLE_FULL),
        TooManyTransactions => err!(ER_TOO_MANY_CONCURRENT_TRXS),
        Corrupt(what) => SqlError::new(ER_INDEX_CORRUPT, format!("Index dictionary is corrupted: {what}")),
        Keyring(what) => keyring(&what),
        Io(what) => err!(ER_GET_ERRNO, -1, what),
        other => err!(ER_GET_ERRNO, -1, other),
    }
}

/// Error 3185; the error log says what is wrong with the keyring.
#[cold]
pub fn keyring(what: &str) -> SqlError {
    eprintln!("[ERROR] [Engine] {what}");
    err!(ER_CANNOT_FIND_KEY_IN_KEYRING)
}
