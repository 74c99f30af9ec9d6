//! Text literals: from the bytes of a statement to those of their character set, well formed or not.

use super::Planner;
use expr::Expr;
use expr::charset;
use expr::string;
use types::Value;
use types::charset::Charset;
use types::collation::CollationId;
use types::{Result, SqlError};

impl Planner<'_> {
    /// The bytes of a literal as the client sent them: its statement has been read as utf8mb4, but for the two sets whose
    /// bytes that reading leaves as they are.
    pub(super) fn as_sent(&self, bytes: Vec<u8>) -> Vec<u8> {
        match self.client_set(&bytes) {
            None | Some(Charset::Utf8mb3 | Charset::Utf8mb4) => bytes,
            Some(set) => set.from_utf8(&bytes).into_owned(),
        }
    }

    /// The bytes of a literal in the connection's character set. What the client sent in that set stays, malformed or not.
    pub(super) fn in_connection(&self, bytes: Vec<u8>) -> Vec<u8> {
        let set = self.literal_collation.charset();
        match (set, self.client_set(&bytes)) {
            (Charset::Utf8mb3, Some(Charset::Utf8mb3)) => bytes,
            _ => set.from_utf8(&bytes).into_owned(),
        }
    }

    /// `character_set_client`, for bytes to which it matters.
    fn client_set(&self, bytes: &[u8]) -> Option<Charset> {
        match self.env.system_variable(None, "character_set_client") {
            Ok((Value::Bytes(name), _)) if !bytes.is_ascii() => Charset::by_name(&String::from_utf8_lossy(&name)),
            _ => None,
        }
    }

    /// A text literal. Warning 1300 when it is no string of its set.
    pub(super) fn literal(&mut self, bytes: Vec<u8>, collation: CollationId) -> Expr {
        let set = collation.charset();
        let bytes = filled_up(bytes, set);
        self.literal_warnings.extend(malformed(&bytes, set).map(|message| (1300, message)));
        string(bytes, collation)
    }
}

/// A hexadecimal or bit literal behind a character set introducer. Error 1300 when it is none of that set.
pub(super) fn introduced(bytes: Vec<u8>, collation: CollationId) -> Result<Expr> {
    let bytes = filled_up(bytes, collation.charset());
    match malformed(&bytes, collation.charset()) {
        Some(message) => Err(SqlError::new(1300, message)),
        None => Ok(string(bytes, collation)),
    }
}

/// The string with zero bytes in front, so that its first character is whole.
fn filled_up(bytes: Vec<u8>, set: Charset) -> Vec<u8> {
    match bytes.len().next_multiple_of(set.mbminlen()) - bytes.len() {
        0 => bytes,
        lacking => [vec![0; lacking], bytes].concat(),
    }
}

/// Message 1300, when the bytes are no string of this set.
fn malformed(bytes: &[u8], set: Charset) -> Option<String> {
    if set.is_single_byte() || (set.mbminlen() == 1 && bytes.is_ascii()) {
        return None;
    }
    let valid = set.valid_up_to(bytes);
    (valid < bytes.len()).then(|| charset::invalid_string(&bytes[valid..], set))
}
