//! What a statement says that is deprecated: warnings that come with the text, whatever it means.

use super::{Name, Parsed, Str};

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
    /// A name without quotes that begins with `$`.
    Dollar,
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

impl Note {
    /// The warning's number and text.
    pub fn message(self, parsed: &Parsed) -> (u16, String) {
        let instead = |old: &str, new: &str| {
            (1287, format!("'{old}' is deprecated and will be removed in a future release. Please use {new} instead"))
        };
        let (code, text) = match self {
            Note::LossyName(name) => return (1300, cannot_convert(parsed.bytes(name))),
            Note::Dollar => (
                1681,
                "'$ as the first character of an unquoted identifier' is deprecated and will be removed in a future \
                 release.",
            ),
            Note::IntegerWidth => {
                (1681, "Integer display width is deprecated and will be removed in a future release.")
            }
            Note::FloatDigits => (
                1681,
                "Specifying number of digits for floating point data types is deprecated and will be removed in a future \
                 release.",
            ),
            Note::UnsignedFraction => (
                1681,
                "UNSIGNED for decimal and floating point data types is deprecated and support for it will be removed in \
                 a future release.",
            ),
            Note::Zerofill => (
                1681,
                "The ZEROFILL attribute is deprecated and will be removed in a future release. Use the LPAD function to \
                 zero-pad numbers, or store the formatted numbers in a CHAR column.",
            ),
            Note::GluedVersion => (
                4164,
                "Immediately starting the version comment after the version number is deprecated and may change behavior \
                 in a future release. Please insert a white-space character after the version number.",
            ),
            Note::NestedComment => {
                (1681, "Nested comment syntax is deprecated and will be removed in a future release.")
            }
            Note::National => (
                3720,
                "NATIONAL/NCHAR/NVARCHAR implies the character set UTF8MB3, which will be replaced by UTF8MB4 in a future \
                 release. Please consider using CHAR(x) CHARACTER SET UTF8MB4 in order to be unambiguous.",
            ),
            Note::Utf8 => (
                3719,
                "'utf8' is currently an alias for the character set UTF8MB3, but will be an alias for UTF8MB4 in a future \
                 release. Please consider using UTF8MB4 in order to be unambiguous.",
            ),
            Note::Utf8mb3Collation(name) => {
                let name = parsed.name(name).to_ascii_lowercase();
                let text = format!(
                    "'{name}' is a collation of the deprecated character set UTF8MB3. Please consider using UTF8MB4 with \
                     an appropriate collation instead."
                );
                return (3778, text);
            }
            Note::AssignUserVar => (
                1287,
                "Setting user variables within expressions is deprecated and will be removed in a future release. \
                 Consider alternatives: 'SET variable=expression, ...', or 'SELECT expression(s) INTO variables(s)'.",
            ),
            Note::Charset(name) => return instead(&parsed.name(name).to_ascii_lowercase(), "utf8mb4"),
            Note::CollationOf(name, set) => {
                let name = parsed.name(name).to_ascii_lowercase();
                let text = format!(
                    "'{name}' is a collation of the deprecated character set {set}. Please consider using utf8mb4 with an \
                     appropriate collation instead."
                );
                return (4079, text);
            }
            Note::Utf8mb3 => return instead("utf8mb3", "utf8mb4"),
            Note::Year4 => return instead("YEAR(4)", "YEAR"),
            Note::BinaryAttribute => {
                return instead("BINARY as attribute of a type", "a CHARACTER SET clause with _bin collation");
            }
            Note::Ascii => return instead("ASCII", "CHARACTER SET charset_name"),
            Note::Unicode => return instead("UNICODE", "CHARACTER SET charset_name"),
            Note::BinaryExpr => return instead("BINARY expr", "CAST"),
            Note::PipesOr => return instead("|| as a synonym for OR", "OR"),
            Note::AndAnd => return instead("&&", "AND"),
            Note::Bang => return instead("!", "NOT"),
        };
        (code, text.to_string())
    }
}
