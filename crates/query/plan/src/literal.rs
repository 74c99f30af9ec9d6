//! Text literals: from the bytes of a statement to those of their character set, well formed or not.

use crate::Planner;
use expr::{Expr, charset, constant, convert, operand, string};
use sql::ast::{ExprId, Name, Str, TemporalKind};
use std::borrow::Cow;
use types::charset::Charset;
use types::codes::*;
use types::collation::CollationId;
use types::{DataType, Result, SqlError, TypeKind, Value, err};

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
        let set = self.settings.literal_collation.charset();
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
        self.warnings
            .literal_warnings
            .extend(malformed(&bytes, set).map(|message| (ER_INVALID_CHARACTER_STRING, message)));
        string(bytes, collation)
    }
}

/// A hexadecimal or bit literal behind a character set introducer. Error 1300 when it is none of that set.
pub(super) fn introduced(bytes: Vec<u8>, collation: CollationId) -> Result<Expr> {
    let bytes = filled_up(bytes, collation.charset());
    match malformed(&bytes, collation.charset()) {
        Some(message) => Err(SqlError::new(ER_INVALID_CHARACTER_STRING, message)),
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

impl Planner<'_> {
    pub(super) fn string_literal(&mut self, text: Str, introducer: Option<Name>) -> Result<Expr> {
        let parsed = self.parsed;
        let bytes = parsed.bytes(text).to_vec();
        match introducer {
            Some(n) => Ok(self.literal(self.as_sent(bytes), self.charset(parsed.name(n))?)),
            None => Ok(self.literal(self.in_connection(bytes), self.settings.literal_collation)),
        }
    }

    pub(super) fn bytes_literal(&self, bytes: Str, introducer: Option<Name>, of_bits: bool) -> Result<Expr> {
        let parsed = self.parsed;
        let bytes = parsed.bytes(bytes).to_vec();
        match introducer {
            Some(n) => introduced(bytes, self.charset(parsed.name(n))?),
            // In a numeric place it is a number: see `convert::is_hex_literal`.
            None => Ok(operand::hex_literal(bytes, of_bits)),
        }
    }

    pub(super) fn decimal_literal(&self, s: Str) -> Expr {
        let parsed = self.parsed;
        let text = parsed.bytes(s);
        let d = convert::parse_decimal(text);
        // Digits before the point count as they are written, zeros alone as one.
        let before = text.iter().take_while(|b| b.is_ascii_digit()).count() as u32;
        let own = convert::decimal_type(&d);
        let is_whole = d.integer_digits() > 0;
        let digits = if is_whole { before } else { before.min(1) };
        let precision = (digits + u32::from(d.scale())).max(own.length).min(types::Decimal::MAX_PRECISION);
        constant(Value::Decimal(d), DataType { length: precision, ..own })
    }

    /// Error 1367.
    pub(super) fn float_literal(&self, s: Str) -> Result<Expr> {
        let parsed = self.parsed;
        let v = Value::Bytes(Cow::Borrowed(parsed.bytes(s))).to_f64();
        let exact = std::str::from_utf8(parsed.bytes(s)).ok().and_then(|t| t.parse::<f64>().ok());
        if exact.is_none_or(f64::is_infinite) {
            let text = String::from_utf8_lossy(parsed.bytes(s)).into_owned();
            return Err(err!(ER_ILLEGAL_VALUE_FOR_TYPE, "double", text));
        }
        let length = parsed.bytes(s).len() as u32;
        Ok(constant(Value::Double(v), DataType { length, ..DataType::new(TypeKind::Double) }))
    }

    /// DATE'...', TIME'...', TIMESTAMP'...', and the ODBC forms `{d '...'}`, which are the text itself where it is none.
    pub(super) fn temporal_literal(&mut self, kind: TemporalKind, text: Str, escaped: Option<ExprId>) -> Result<Expr> {
        let parsed = self.parsed;
        let text = parsed.bytes(text);
        let (date, time) = (kind == TemporalKind::Date, kind == TemporalKind::Time);
        let mode = types::SqlMode(self.env.sql_mode());
        let zone_offset = |seconds| self.env.time_zone_offset(seconds);
        let (e, delimiter) = match (convert::temporal_literal(date, time, text, mode, zone_offset), escaped) {
            (Err(_), Some(string)) => return self.expr(string),
            (read, _) => read?,
        };
        self.warnings.literal_warnings.extend(delimiter.map(|d| d.warning(text, 1)));
        Ok(e)
    }
}
