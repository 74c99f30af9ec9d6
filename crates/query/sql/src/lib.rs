//! SQL: text to syntax tree. This crate knows MySQL 8.4's language and nothing else: no catalog, no types of columns, no
//! session. Bytes in, [`ast::Parsed`] out; names are resolved and plans made above it.
//!
//! ```text
//!   bytes --lexer--> tokens --parser--> ast::Parsed          once per text; prepared statements keep it
//!   bytes --digest::normalize--> hash + literals             a single pass, to find a cached plan
//!   bytes --digest::digest_text--> "SELECT * FROM `t` ..."   for statement digests
//! ```

pub mod ast;
mod dictionary;
pub mod digest;
mod error;
pub mod hints;
pub mod keywords;
pub mod lexer;
mod parser;
pub mod print;
pub mod print_query;

pub use dictionary::kind_of_reserved;
pub use error::{Ended, ParseError};
pub use parser::{parse, parse_lifted, parse_next};

/// Switches of `sql_mode` that change how text is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash)]
pub struct SqlMode {
    /// `||` concatenates.
    pub pipes_as_concat: bool,
    /// `"` quotes identifiers.
    pub ansi_quotes: bool,
    /// `\` is an ordinary character in strings.
    pub no_backslash_escapes: bool,
    /// NOT binds as tightly as `!`.
    pub high_not_precedence: bool,
    /// Spaces may stand between a function name and its parenthesis.
    pub ignore_space: bool,
    /// REAL is FLOAT.
    pub real_as_float: bool,
}
