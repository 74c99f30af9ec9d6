//! What can go wrong, sorted by what the caller does about it.

use std::path::PathBuf;

use crate::Lsn;

/// The log's errors. Only `NoSpace`, `Interrupted` and `TooLarge` leave a log that works on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The kernel refused a file operation outside a flush (opening, reading, checkpointing). `errno` is 0 when there is none.
    Io { what: String, errno: i32 },
    /// No room for another segment: the disk is full, or checkpoints are too late. From [`crate::Log::ensure_room`] it
    /// means that nothing happened yet; from a wait it means *not durable yet*: the group keeps its place in the log, and a
    /// later wait succeeds once there is room. Never report such a group as committed, nor as rolled back, before that.
    NoSpace { what: String },
    /// Who the thread serves wants the wait to end. As with `NoSpace`: from [`crate::Log::ensure_room`] nothing happened yet, from a
    /// wait the group keeps its place.
    Interrupted,
    /// Bytes that had been durable are damaged. The log refuses to open rather than drop what follows them.
    Corrupt {
        file: PathBuf,
        /// In bytes from the start of `file`.
        offset: u64,
        lsn: Lsn,
        why: String,
    },
    /// A write or a sync of the log failed earlier, so nobody knows what is on disk. Each later wait fails; restart to recover.
    Poisoned { why: String },
    /// The group at this LSN is encrypted, and there are no keys.
    Sealed { lsn: Lsn },
    /// A group longer than [`crate::Log::group_bytes_max`].
    TooLarge { bytes: usize, max: usize },
}

pub type Result<T> = std::result::Result<T, Error>;

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Error {
        let what = error.to_string();
        match error.kind() {
            io::ErrorKind::Full => Error::NoSpace { what },
            _ => Error::Io { what, errno: error.errno().unwrap_or(0) },
        }
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Error::Io { what, .. } => write!(f, "log: {what}"),
            Error::Interrupted => write!(f, "log: the wait was interrupted"),
            Error::NoSpace { what } => write!(f, "log: no space: {what}"),
            Error::Corrupt { file, offset, lsn, why } => {
                write!(f, "log: {} is corrupt at byte {offset} (LSN {lsn}): {why}", file.display())
            }
            Error::Poisoned { why } => write!(f, "log: stopped after a failed write: {why}"),
            Error::Sealed { lsn } => {
                write!(f, "log: the group at LSN {lsn} is encrypted, and the data directory has no keys")
            }
            Error::TooLarge { bytes, max } => write!(f, "log: a group of {bytes} bytes is longer than {max}"),
        }
    }
}

impl std::error::Error for Error {}
