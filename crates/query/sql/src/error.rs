//! What a statement that cannot be parsed is answered with.

use std::fmt;
use types::codes::*;
use types::{SqlError, err};

/// MySQL's error number, message, and where in the text it struck. Boxed: the good path pays one word for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError(Box<Details>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Details {
    code: u16,
    message: String,
    offset: usize,
    ended: Option<Ended>,
}

/// Why the text was not read to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The statement is to end, see [`sync::blocking::interruption`].
    Interrupted(u8),
    /// Its tree is too much.
    Memory(sync::memory::Excess),
}

/// Most bytes of the statement that a message quotes.
const NEAR_BYTES: usize = 80;

impl ParseError {
    #[cold]
    pub(crate) fn new(code: u16, message: impl Into<String>, offset: usize) -> ParseError {
        ParseError(Box::new(Details { code, message: message.into(), offset, ended: None }))
    }

    /// `error` at `offset` of the statement.
    #[cold]
    pub(crate) fn at(error: SqlError, offset: usize) -> ParseError {
        ParseError::new(error.code, error.message, offset)
    }

    /// 1064 at `offset` of `source`.
    #[cold]
    pub(crate) fn syntax(source: &[u8], offset: usize) -> ParseError {
        // MySQL takes what ends a statement off before it looks at it.
        let end = source.iter().rposition(|b| *b != b';' && !b.is_ascii_whitespace()).map_or(0, |last| last + 1);
        let source = &source[..end];
        let offset = offset.min(source.len());
        let near = &source[offset..(offset + NEAR_BYTES).min(source.len())];
        // MySQL prints it as a string of C.
        let near = near.split(|&b| b == 0).next().unwrap_or_default();
        let mut near = String::from_utf8_lossy(near).into_owned();
        if offset + NEAR_BYTES < source.len() {
            // A character cut in half at the end is not shown.
            near.truncate(near.trim_end_matches(char::REPLACEMENT_CHARACTER).len());
        }
        let line = 1 + source[..offset].iter().filter(|&&b| b == b'\n').count();
        ParseError::at(
            err!(
                ER_PARSE_ERROR,
                "You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version \
                 for the right syntax to use",
                near,
                line
            ),
            offset,
        )
    }

    #[cold]
    pub(crate) fn ended(ended: Ended) -> ParseError {
        let message = "Query execution was interrupted".to_string();
        ParseError(Box::new(Details { code: ER_QUERY_INTERRUPTED, message, offset: 0, ended: Some(ended) }))
    }

    /// It is no mistake of the text.
    pub fn why_ended(&self) -> Option<Ended> {
        self.0.ended
    }

    #[cold]
    pub(crate) fn too_deep(offset: usize) -> ParseError {
        ParseError::new(ER_STACK_OVERRUN_NEED_MORE, "Thread stack overrun: the statement is nested too deeply", offset)
    }

    /// 1473: SELECTs inside of one another.
    #[cold]
    pub(crate) fn too_many_levels(offset: usize) -> ParseError {
        ParseError::at(err!(ER_TOO_HIGH_LEVEL_OF_NESTING_FOR_SELECT), offset)
    }

    /// MySQL's error number.
    pub fn code(&self) -> u16 {
        self.0.code
    }

    /// MySQL's message, without number and SQLSTATE.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Offset in bytes of the offending token.
    pub fn offset(&self) -> usize {
        self.0.offset
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ERROR {}: {}", self.code(), self.message())
    }
}

impl std::error::Error for ParseError {}
