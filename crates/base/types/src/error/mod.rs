//! The error that a statement ends with, and MySQL's error numbers, symbols, SQLSTATEs and messages.
//!
//! ```
//! use types::{err, error::ER_DUP_ENTRY};
//! let error = err!(ER_DUP_ENTRY, "7", "sbtest1.PRIMARY");
//! assert_eq!(error.to_string(), "ERROR 1062 (23000): Duplicate entry '7' for key 'sbtest1.PRIMARY'");
//! ```

use std::fmt::{self, Display, Write as _};

/// Declares the error constants and their table, sorted by number.
macro_rules! error_table {
    ($($symbol:ident = $code:literal, $state:literal, $template:literal;)*) => {
        $(#[doc = $template] pub const $symbol: u16 = $code;)*

        pub(super) static ENTRIES: &[super::Entry] = &[
            $(super::Entry {
                code: $code,
                symbol: stringify!($symbol),
                sqlstate: super::state_bytes($state),
                template: $template,
            }),*
        ];
    };
}

pub mod codes;

pub use codes::*;

pub type Result<T, E = SqlError> = std::result::Result<T, E>;

/// The longest message in bytes that a client is sent (MYSQL_ERRMSG_SIZE).
pub const MESSAGE_BYTES_MAX: usize = 512;

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
        let mut message = message.into();
        truncate(&mut message, MESSAGE_BYTES_MAX);
        SqlError { code, sqlstate: sqlstate(code), message }
    }

    /// The error `code` with MySQL's message, its directives (`%s`, `%d`, `%-.192s`, ...) filled with `arguments` in order.
    /// A code outside the table gets the arguments joined by a space.
    #[cold]
    pub fn format(code: u16, arguments: &[&dyn Display]) -> SqlError {
        SqlError::new(code, message(code, arguments))
    }

    /// MySQL's symbol for the number, such as `ER_DUP_ENTRY`; empty outside the table.
    pub fn symbol(&self) -> &'static str {
        entry(self.code).map_or("", |e| e.symbol)
    }
}

impl fmt::Display for SqlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ERROR {} ({}): {}", self.code, String::from_utf8_lossy(&self.sqlstate), self.message)
    }
}

impl std::error::Error for SqlError {}

/// How grave a condition in the diagnostics area is, as SHOW WARNINGS prints it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Level {
    Note,
    Warning,
    Error,
}

impl Level {
    pub const fn name(self) -> &'static str {
        match self {
            Level::Note => "Note",
            Level::Warning => "Warning",
            Level::Error => "Error",
        }
    }
}

/// A condition that does not end the statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    pub level: Level,
    pub code: u16,
    pub message: String,
}

impl Warning {
    #[cold]
    pub fn format(level: Level, code: u16, arguments: &[&dyn Display]) -> Warning {
        let SqlError { message, .. } = SqlError::format(code, arguments);
        Warning { level, code, message }
    }
}

impl From<Warning> for SqlError {
    fn from(warning: Warning) -> SqlError {
        SqlError::new(warning.code, warning.message)
    }
}

impl From<SqlError> for Warning {
    fn from(error: SqlError) -> Warning {
        Warning { level: Level::Warning, code: error.code, message: error.message }
    }
}

/// `err!(ER_X, argument, ...)`: the [`SqlError`] with MySQL's message for `ER_X`.
#[macro_export]
macro_rules! err {
    ($code:expr $(, $argument:expr)* $(,)?) => {
        $crate::SqlError::format($code, &[$(&$argument as &dyn ::std::fmt::Display),*])
    };
}

/// One row of the error table.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    pub code: u16,
    pub symbol: &'static str,
    pub sqlstate: [u8; 5],
    pub template: &'static str,
}

/// ER_PARSE_ERROR of a text in which nobody knows the place.
#[cold]
pub fn syntax_error() -> SqlError {
    let what = message(ER_SYNTAX_ERROR, &[]);
    err!(ER_PARSE_ERROR, what, "", 1)
}

/// The table's row for an error number.
pub fn entry(code: u16) -> Option<&'static Entry> {
    ENTRIES.binary_search_by_key(&code, |e| e.code).ok().map(|i| &ENTRIES[i])
}

/// The number of an error by its symbol.
pub fn code_of(symbol: &str) -> Option<u16> {
    ENTRIES.iter().find(|e| e.symbol == symbol).map(|e| e.code)
}

/// The SQLSTATE of an error number; `HY000` where MySQL names none.
pub fn sqlstate(code: u16) -> [u8; 5] {
    entry(code).map_or(*b"HY000", |e| e.sqlstate)
}

/// MySQL's message for `code` with its directives filled in order.
pub fn message(code: u16, arguments: &[&dyn Display]) -> String {
    let mut arguments = arguments.iter();
    let mut out = String::new();
    let Some(entry) = entry(code) else {
        for argument in arguments {
            if !out.is_empty() {
                out.push(' ');
            }
            let _ = write!(out, "{argument}"); // a String takes whatever is written
        }
        return out;
    };
    let mut rest = entry.template;
    while let Some(at) = rest.find('%') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('%') {
            out.push('%');
            rest = after;
            continue;
        }
        // %[-][width][.precision][l|ll|z]conversion
        let end = rest.find(|c: char| c.is_ascii_alphabetic() && !matches!(c, 'l' | 'z')).unwrap_or(rest.len());
        let directive = &rest[..end];
        let precision = directive
            .split_once('.')
            .and_then(|(_, p)| p.trim_end_matches(|c: char| !c.is_ascii_digit()).parse::<usize>().ok());
        let argument = arguments.next();
        // A precision of 0 is an argument that MySQL keeps for its own error log.
        debug_assert!(argument.is_some() || precision == Some(0), "{} wants more arguments", entry.symbol);
        if let Some(argument) = argument {
            let start = out.len();
            let _ = write!(out, "{argument}"); // a String takes whatever is written
            if let Some(precision) = precision {
                truncate(&mut out, start + precision);
            }
        }
        rest = rest.get(end + 1..).unwrap_or("");
    }
    out.push_str(rest);
    debug_assert!(arguments.next().is_none(), "{} has arguments left", entry.symbol);
    out
}

/// Cuts at a character boundary at or below `bytes`.
fn truncate(text: &mut String, bytes: usize) {
    if text.len() > bytes {
        let mut end = bytes;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
    }
}

const fn state_bytes(state: &str) -> [u8; 5] {
    let s = state.as_bytes();
    assert!(s.len() == 5);
    [s[0], s[1], s[2], s[3], s[4]]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_every_directive_is_filled() {
        assert!(ENTRIES.is_sorted_by(|a, b| a.code < b.code));
        for e in ENTRIES {
            let directives = e.template.replace("%%", "").matches('%').count();
            let arguments: [&dyn Display; 8] = [&"A", &"B", &"C", &"D", &"E", &"F", &"G", &"H"];
            let text = message(e.code, &arguments[..directives]);
            assert!(!text.contains("%s") && !text.contains("%d") && !text.contains("%-"), "{}: {text}", e.symbol);
        }
    }

    #[test]
    fn messages_states_and_limits() {
        let e = err!(ER_NO_SUCH_TABLE, "db", "t");
        assert_eq!(e.to_string(), "ERROR 1146 (42S02): Table 'db.t' doesn't exist");
        assert_eq!(err!(ER_DATA_TOO_LONG, "c", 7).message, "Data too long for column 'c' at row 7");
        let long = "é".repeat(100);
        assert_eq!(err!(ER_DUP_ENTRY, long, "k").message, format!("Duplicate entry '{}' for key 'k'", "é".repeat(32)));
        assert_eq!(SqlError::new(ER_PARSE_ERROR, "x".repeat(999)).message.len(), MESSAGE_BYTES_MAX);
        assert_eq!(sqlstate(ER_LOCK_DEADLOCK), *b"40001");
        assert!(syntax_error().message.ends_with("for the right syntax to use near '' at line 1"));
    }
}
