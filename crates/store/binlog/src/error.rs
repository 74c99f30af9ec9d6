//! What can go wrong with the binary log, by what the caller does about it.

use std::fmt;

pub type Result<T> = std::result::Result<T, Error>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// There is no file of that name: MySQL 1373.
    UnknownFile,
    /// No event begins there, or it is damaged; the message names file and position. MySQL 1236 or 1220.
    Corrupt(String),
    /// The keyring is not there, or has not the key that is needed; MySQL 3807.
    Keys(String),
    /// No room on the device. The writer goes on when there is some.
    DiskFull,
    Io(String),
    /// The wait was ended: MySQL 1317.
    Interrupted,
    /// The server ends.
    Stopped,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::UnknownFile => write!(f, "the binary log has no such file"),
            Error::Corrupt(what) | Error::Io(what) | Error::Keys(what) => write!(f, "{what}"),
            Error::DiskFull => write!(f, "no room on the device for the binary log"),
            Error::Interrupted => write!(f, "interrupted"),
            Error::Stopped => write!(f, "the server ends"),
        }
    }
}

impl std::error::Error for Error {}

impl From<engine::Error> for Error {
    fn from(e: engine::Error) -> Error {
        match e {
            engine::Error::DiskFull => Error::DiskFull,
            engine::Error::Interrupted => Error::Interrupted,
            engine::Error::Corrupt(what) => Error::Corrupt(what),
            other => Error::Io(other.to_string()),
        }
    }
}

impl From<cipher::Error> for Error {
    fn from(e: cipher::Error) -> Error {
        match e {
            cipher::Error::Io(e) => e.into(),
            other => Error::Keys(other.to_string()),
        }
    }
}

impl From<io::Error> for Error {
    fn from(e: io::Error) -> Error {
        match e.kind() {
            io::ErrorKind::Full => Error::DiskFull,
            _ => Error::Io(e.to_string()),
        }
    }
}

impl From<&'static str> for Error {
    fn from(what: &'static str) -> Error {
        Error::Corrupt(what.to_string())
    }
}
