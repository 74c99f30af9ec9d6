//! What can go wrong in the engine, sorted by what the caller does about it.

use std::fmt;

pub type Result<T> = std::result::Result<T, Error>;

#[derive(Debug)]
pub enum Error {
    /// The statement's fault: an entry with this (unique) key exists. The statement rolls back; MySQL 1062.
    DuplicateKey,
    /// Between [`crate::Transaction::read_to_write`] and the change somebody else changed or locked the row: nothing was done,
    /// read again with a locking read.
    RowChanged,
    /// The transaction was rolled back to break a cycle of waits; MySQL 1213.
    Deadlock,
    /// Locks take more memory than they may; the transaction was rolled back; MySQL 1206.
    LockTableFull,
    /// The statement waited longer than `innodb_lock_wait_timeout`; MySQL 1205.
    LockWaitTimeout,
    /// A statement of the transaction could not be undone, so all of it is being undone in the background; the session may only say
    /// ROLLBACK. MySQL 1181.
    MustRollBack,
    /// A row is locked and the statement said NOWAIT; MySQL 3572.
    LockNoWait,
    /// KILL QUERY, KILL CONNECTION or a deadline; MySQL 1317 or 3024.
    Interrupted,
    /// KILL CONNECTION or shutdown ended a commit's wait for its flush. The commit stands in the log and becomes durable when the
    /// disk has room, unless the server crashes before: the client must be told neither success nor failure.
    Unacknowledged,
    /// No room on the device for data: MySQL 1114. The server goes on and works again when there is room.
    DiskFull,
    /// Key or row too long for the engine; MySQL 1118 or 1071.
    TooLong,
    /// A read or write failed; MySQL 1030.
    Io(String),
    /// A page or log record is damaged; the message names file and page or offset. MySQL 1712 / startup failure.
    Corrupt(String),
    /// There is no keyring, or not the key that is needed, or it takes no new one: nothing encrypted can be read or made. MySQL 3185.
    Keyring(String),
    /// All transaction slots are in use, or the status ring stays full; MySQL 1637.
    TooManyTransactions,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::DuplicateKey => write!(f, "duplicate key"),
            Error::RowChanged => write!(f, "the row changed since it was read"),
            Error::Deadlock => write!(f, "deadlock found"),
            Error::LockTableFull => write!(f, "the locks take too much memory"),
            Error::LockWaitTimeout => write!(f, "lock wait timeout exceeded"),
            Error::MustRollBack => write!(f, "a statement could not be undone: the transaction is being rolled back"),
            Error::LockNoWait => write!(f, "row is locked and NOWAIT is set"),
            Error::Interrupted => write!(f, "interrupted"),
            Error::Unacknowledged => write!(f, "the session ended while its commit waited to become durable"),
            Error::DiskFull => write!(f, "no space left on the device"),
            Error::TooLong => write!(f, "key or row too long"),
            Error::Io(what) => write!(f, "{what}"),
            Error::Corrupt(what) | Error::Keyring(what) => write!(f, "{what}"),
            Error::TooManyTransactions => write!(f, "too many active transactions"),
        }
    }
}

impl std::error::Error for Error {}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Error {
        match error.kind() {
            io::ErrorKind::Full => Error::DiskFull,
            _ => Error::Io(error.to_string()),
        }
    }
}

impl From<cipher::Error> for Error {
    fn from(error: cipher::Error) -> Error {
        Error::Keyring(error.to_string())
    }
}

impl From<log::Error> for Error {
    fn from(error: log::Error) -> Error {
        match error {
            log::Error::NoSpace { .. } => Error::DiskFull,
            log::Error::Interrupted => Error::Interrupted,
            log::Error::Corrupt { .. } => Error::Corrupt(error.to_string()),
            log::Error::Sealed { .. } => Error::Keyring(error.to_string()),
            log::Error::TooLarge { .. } => Error::TooLong,
            log::Error::Io { .. } | log::Error::Poisoned { .. } => Error::Io(error.to_string()),
        }
    }
}
