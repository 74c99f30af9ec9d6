//! Texts between character sets: what is converted, what is no text of its set, and what is cut to its length.

use crate::Execution;
use std::borrow::Cow;
use types::codes::*;
use types::{Charset, CollationId, DataType, Result, TypeKind, Value, err};

/// What texts of the type are in: those of numbers and of parameters that nothing is known of are utf8mb4, those of bits are bytes.
pub(super) fn charset_of(t: &DataType) -> Charset {
    match t.kind {
        TypeKind::Bit => Charset::Binary,
        kind if kind.is_text() || kind.is_bytes() => t.collation.charset(),
        _ => Charset::Utf8mb4,
    }
}

/// Converts between the character sets of two types.
pub fn transcode<'a>(bytes: Cow<'a, [u8]>, from: &DataType, to: &DataType) -> Cow<'a, [u8]> {
    let source = charset_of(from);
    let target = to.collation.charset();
    // From binary, only what must be filled up to whole characters.
    if source == Charset::Binary && bytes.len().is_multiple_of(target.mbminlen())
        || source.is_subset_bytes(target, &bytes)
    {
        return bytes;
    }
    let mut out = Vec::with_capacity(bytes.len());
    source.convert(target, &bytes, &mut out);
    Cow::Owned(out)
}

/// Message 1300: what is no string of the set begins with these bytes.
pub fn invalid_string(bytes: &[u8], set: Charset) -> String {
    const SHOWN_MAX: usize = 3;
    let shown: String = bytes.iter().take(SHOWN_MAX).map(|b| format!("{b:02X}")).collect();
    format!("Invalid {} character string: '{shown}'", set.name())
}

/// Bytes become a text only where they are one: with warning 1300 `None`, in a strict mode, or what is valid in front. Those beyond
/// ASCII stay in ascii, as MySQL has it.
pub(super) fn well_formed<'a>(bytes: Cow<'a, [u8]>, to: &DataType, run: &dyn Execution) -> Option<Cow<'a, [u8]>> {
    let set = to.collation.charset();
    let plain = set.mbminlen() == 1 && bytes.is_ascii();
    if plain || set == Charset::Binary {
        return Some(bytes);
    }
    let valid = match set.is_single_byte() {
        // Every byte is a character of the others.
        true if set != Charset::Ascii => return Some(bytes),
        true => bytes.iter().position(|b| !b.is_ascii()).unwrap_or(bytes.len()),
        false => set.valid_up_to(&bytes),
    };
    if valid == bytes.len() {
        return Some(bytes);
    }
    run.warn(ER_INVALID_CHARACTER_STRING, invalid_string(&bytes[valid..], set));
    match bytes {
        bytes if set.is_single_byte() => Some(bytes),
        _ if run.evaluation().sql_mode.is_strict() => None,
        Cow::Borrowed(b) => Some(Cow::Borrowed(&b[..valid])),
        Cow::Owned(mut b) => {
            b.truncate(valid);
            Some(Cow::Owned(b))
        }
    }
}

/// A value that was cast to the type, which is NULL where it is to be a text and is none: see `well_formed`.
pub fn text_or_null<'a>(v: Value<'a>, to: &DataType, run: &dyn Execution) -> Value<'a> {
    match v {
        Value::Bytes(bytes) if to.kind.is_text() => well_formed(bytes, to, run).map_or(Value::Null, Value::Bytes),
        v => v,
    }
}

/// A text of an operand in the character set of the collation that the operation is done under. Error 3854: a character is not
/// in that, or bytes are no text of it.
pub fn in_charset<'a>(text: Cow<'a, [u8]>, of: &DataType, collation: CollationId) -> Result<Cow<'a, [u8]>> {
    let (from, to) = (charset_of(of), collation.charset());
    let mut text = text;
    if from == Charset::Binary && !text.len().is_multiple_of(to.mbminlen()) {
        // Bytes are filled up to whole characters.
        let mut filled = Vec::with_capacity(text.len() + to.mbminlen());
        from.convert(to, &text, &mut filled);
        text = Cow::Owned(filled);
    }
    let fits = match (from, to) {
        (_, Charset::Binary) => true,
        (Charset::Binary, to) => to.is_single_byte() || to.valid_up_to(&text) == text.len(),
        (from, to) => from.is_subset_bytes(to, &text),
    };
    if fits {
        return Ok(text);
    }
    let mut out = Vec::with_capacity(text.len());
    if from != Charset::Binary && from.convert(to, &text, &mut out) == 0 {
        return Ok(Cow::Owned(out));
    }
    Err(err!(ER_CANNOT_CONVERT_STRING, types::show_bytes(&text), from.name(), to.name()))
}

/// Cuts a cast string to its length, with a warning; fills BINARY(n) up with zero bytes.
pub(super) fn cut<'a>(bytes: Cow<'a, [u8]>, to: &DataType, run: &dyn Execution) -> Cow<'a, [u8]> {
    // BINARY without a length takes it from what comes.
    if to.length == u32::MAX || to.collation.is_binary() && !to.zerofill {
        return bytes;
    }
    let end = to.collation.charset().char_offset(&bytes, to.length as usize);
    if to.zerofill && bytes.len() < to.length as usize {
        let mut filled = bytes.into_owned();
        filled.resize(to.length as usize, 0);
        return Cow::Owned(filled);
    }
    if end >= bytes.len() {
        return bytes;
    }
    let kind = if to.collation.is_binary() { "BINARY" } else { "CHAR" };
    run.push_warning(err!(ER_TRUNCATED_WRONG_VALUE, format!("{kind}({})", to.length), String::from_utf8_lossy(&bytes)));
    match bytes {
        Cow::Borrowed(b) => Cow::Borrowed(&b[..end]),
        Cow::Owned(mut b) => {
            b.truncate(end);
            Cow::Owned(b)
        }
    }
}
