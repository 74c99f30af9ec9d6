//! What a statement says that is deprecated: warnings that come with the text, whatever it means.

use super::{Name, Parsed, Str};
use types::codes::*;
use types::{SqlError, err};

/// A deprecated form, found by the parser, in the order in which MySQL finds it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Note {
    /// INT(11).
    IntegerWidth,
    /// FLOAT(7, 4).
    FloatDigits,
    /// DECIMAL UNSIGNED.
    UnsignedFraction,
    Zerofill,
    /// NCHAR, N'..'.
    National,
    /// `utf8`.
    Utf8,
    /// `utf8mb3`.
    Utf8mb3,
    /// A collation of `utf8mb3`.
    Utf8mb3Collation(Name),
    /// Another character set that is to go, and a collation of one.
    Charset(Name),
    CollationOf(Name, &'static str),
    /// YEAR(4).
    Year4,
    /// CHAR(3) BINARY.
    BinaryAttribute,
    /// BINARY 'a'.
    BinaryExpr,
    /// CHAR(3) ASCII, CHAR(3) UNICODE.
    Ascii,
    Unicode,
    /// `/*!80000x */`.
    GluedVersion,
    /// A comment in a versioned comment.
    NestedComment,
    PipesOr,
    AndAnd,
    Bang,
    /// `@a := 1` in an expression.
    AssignUserVar,
    /// Functions: FOUND_ROWS(), MASTER_POS_WAIT(..), JSON_MERGE(..).
    FoundRows,
    MasterPosWait,
    JsonMerge,
    /// SELECT options.
    CalcFoundRows,
    NoCache,
    /// A name without quotes that begins with `$`.
    Dollar,
    /// CREATE EVENT ... DISABLE ON SLAVE.
    DisableOnSlave,
    /// A name, as written, with characters that utf8mb3 lacks.
    LossyName(Str),
}

/// The name of an output that has only its text: in utf8mb3, with `?` for what that lacks.
pub fn name_of_text(text: &[u8]) -> String {
    const NAME_BYTES_MAX: usize = 255;
    let mut name = String::with_capacity(text.len());
    for chunk in text.utf8_chunks() {
        name.extend(chunk.valid().chars().map(|c| if c.len_utf8() < 4 { c } else { '?' }));
        name.extend(chunk.invalid().iter().map(|_| '?'));
    }
    while name.len() > NAME_BYTES_MAX {
        name.pop();
    }
    name
}

/// Message 1300 of a text that the dictionary cannot keep as it is: its first bytes.
pub fn cannot_convert(text: &[u8]) -> String {
    const SHOWN_BYTES: usize = 6;
    let shown =
        |b: u8| if b.is_ascii_graphic() || b == b' ' { char::from(b).to_string() } else { format!("\\x{b:02X}") };
    let start: String = text.iter().take(SHOWN_BYTES).map(|b| shown(*b)).collect();
    let more = if text.len() > SHOWN_BYTES { "..." } else { "" };
    format!("Cannot convert string '{start}{more}' from utf8mb4 to utf8mb3")
}

/// Character sets beside utf8mb3 that are deprecated.
pub const DEPRECATED_SETS: [&str; 5] = ["ucs2", "macroman", "macce", "dec8", "hp8"];

/// What is said of FOUND_ROWS(), also to whoever reads a view that calls it.
pub const FOUND_ROWS_DEPRECATED: &str =
    "FOUND_ROWS() is deprecated and will be removed in a future release. Consider using COUNT(*) instead.";

impl Note {
    /// Of a function that is called by this name.
    pub(crate) fn of_function(name: &[u8]) -> Option<Note> {
        let of = |known: &str| name.eq_ignore_ascii_case(known.as_bytes());
        match name.len() {
            10 if of("found_rows") => Some(Note::FoundRows),
            10 if of("json_merge") => Some(Note::JsonMerge),
            15 if of("master_pos_wait") => Some(Note::MasterPosWait),
            _ => None,
        }
    }

    /// The warning of it.
    pub fn warning(self, parsed: &Parsed) -> SqlError {
        let instead = |old: &str, new: &str| err!(ER_WARN_DEPRECATED_SYNTAX, old, new);
        // MySQL has other words for these than the template's.
        let said = |text: &str| SqlError::new(ER_WARN_DEPRECATED_SYNTAX_NO_REPLACEMENT, text);
        let lower = |name: Name| parsed.name(name).to_ascii_lowercase();
        match self {
            Note::LossyName(name) => SqlError::new(ER_INVALID_CHARACTER_STRING, cannot_convert(parsed.bytes(name))),
            Note::Dollar => {
                err!(ER_WARN_DEPRECATED_SYNTAX_NO_REPLACEMENT, "$ as the first character of an unquoted identifier")
            }
            Note::IntegerWidth => said("Integer display width is deprecated and will be removed in a future release."),
            Note::FloatDigits => said(
                "Specifying number of digits for floating point data types is deprecated and will be removed in a \
                 future \
                 release.",
            ),
            Note::UnsignedFraction => said(
                "UNSIGNED for decimal and floating point data types is deprecated and support for it will be removed \
                 in \
                 a future release.",
            ),
            Note::Zerofill => said(
                "The ZEROFILL attribute is deprecated and will be removed in a future release. Use the LPAD function \
                 to \
                 zero-pad numbers, or store the formatted numbers in a CHAR column.",
            ),
            Note::GluedVersion => err!(ER_WARN_NO_SPACE_VERSION_COMMENT),
            Note::NestedComment => said("Nested comment syntax is deprecated and will be removed in a future release."),
            Note::National => err!(ER_DEPRECATED_NATIONAL),
            Note::Utf8 => err!(ER_DEPRECATED_UTF8_ALIAS),
            Note::Utf8mb3Collation(name) => err!(ER_WARN_DEPRECATED_UTF8MB3_COLLATION, lower(name)),
            Note::AssignUserVar => SqlError::new(
                ER_WARN_DEPRECATED_SYNTAX,
                "Setting user variables within expressions is deprecated and will be removed in a future release. \
                 Consider alternatives: 'SET variable=expression, ...', or 'SELECT expression(s) INTO variables(s)'.",
            ),
            Note::FoundRows => SqlError::new(ER_WARN_DEPRECATED_SYNTAX, FOUND_ROWS_DEPRECATED),
            Note::MasterPosWait => instead("MASTER_POS_WAIT", "SOURCE_POS_WAIT"),
            Note::JsonMerge => instead("JSON_MERGE", "JSON_MERGE_PRESERVE/JSON_MERGE_PATCH"),
            Note::CalcFoundRows => SqlError::new(
                ER_WARN_DEPRECATED_SYNTAX,
                "SQL_CALC_FOUND_ROWS is deprecated and will be removed in a future release. Consider using two \
                 separate queries instead.",
            ),
            Note::NoCache => err!(ER_WARN_DEPRECATED_SYNTAX_NO_REPLACEMENT, "SQL_NO_CACHE"),
            Note::Charset(name) => instead(&lower(name), "utf8mb4"),
            Note::CollationOf(name, set) => err!(ER_WARN_DEPRECATED_COLLATION, lower(name), set, "utf8mb4"),
            Note::Utf8mb3 => instead("utf8mb3", "utf8mb4"),
            Note::Year4 => instead("YEAR(4)", "YEAR"),
            Note::BinaryAttribute => {
                instead("BINARY as attribute of a type", "a CHARACTER SET clause with _bin collation")
            }
            Note::Ascii => instead("ASCII", "CHARACTER SET charset_name"),
            Note::Unicode => instead("UNICODE", "CHARACTER SET charset_name"),
            Note::BinaryExpr => instead("BINARY expr", "CAST"),
            Note::PipesOr => instead("|| as a synonym for OR", "OR"),
            Note::AndAnd => instead("&&", "AND"),
            Note::Bang => instead("!", "NOT"),
            Note::DisableOnSlave => {
                instead("<CREATE|ALTER> EVENT ... DISABLE ON SLAVE", "<CREATE|ALTER> EVENT ... DISABLE ON REPLICA")
            }
        }
    }
}
