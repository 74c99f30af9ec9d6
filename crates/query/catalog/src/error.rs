//! Engine errors as the dictionary reports them.

use types::SqlError;

/// The error that a client is told for an engine error during DDL.
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
    types::err!(3185)
}
