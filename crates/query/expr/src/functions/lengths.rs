//! The types of functions whose results are as long as their arguments let them be, as MySQL counts: what a column made of one has.

use crate::{Expr, Node, compare};
use types::collation::CollationId;
use types::{DataType, Result, TypeKind, Value};

/// Characters in a line of TO_BASE64.
const BASE64_LINE: u32 = 76;
/// Bits of a number, each of which EXPORT_SET shows.
const BITS: u32 = 64;
/// Digits behind the point that FORMAT has room for, and room for the point and a sign.
const FORMAT_ROOM: u32 = 30 + 2;
/// What DATE_FORMAT makes of a character of a format that is not known yet.
const FORMATTED_MAX: u32 = 10;

/// Characters of what REPEAT gives where nobody knows how often.
pub(super) const REPEATED_TEXT: u32 = 1 << 26;

/// A string type of an expression: VARCHAR, or the TEXT that holds so many characters.
pub fn long_text(characters: u32, collation: CollationId) -> DataType {
    let binary = collation.is_binary();
    let kind = match (characters as u64 * collation.charset().mbmaxlen() as u64, binary) {
        (0..0x1_0000, false) => TypeKind::VarChar,
        (0..0x1_0000, true) => TypeKind::VarBinary,
        (0..0x100_0000, false) => TypeKind::MediumText,
        (0..0x100_0000, true) => TypeKind::MediumBlob,
        (_, false) => TypeKind::LongText,
        (_, true) => TypeKind::LongBlob,
    };
    DataType::string(kind, characters, collation)
}

/// What a function whose first argument decides gives its result: see [`compare::FIRST_DECIDES`].
pub(super) fn first_collation(first: &Expr) -> CollationId {
    match first.ty.kind {
        TypeKind::Null if !matches!(first.node, Node::Param(_)) => CollationId::BINARY,
        TypeKind::Bit => CollationId::BINARY,
        k if k.is_text() || k.is_bytes() => first.ty.collation,
        _ => CollationId::UTF8MB4_0900_AI_CI,
    }
}

/// Characters of a value as a string.
pub(super) fn characters(t: &DataType) -> u32 {
    let with_digits = |n: u32| if t.decimals > 0 { n + 1 + u32::from(t.decimals) } else { n };
    match t.kind {
        TypeKind::Null => 0,
        TypeKind::Decimal => t.length + 1 + u32::from(t.decimals > 0),
        TypeKind::Double => 22,
        TypeKind::Float => 12,
        TypeKind::Date => 10,
        TypeKind::DateTime | TypeKind::Timestamp => with_digits(19),
        TypeKind::Time => with_digits(10),
        TypeKind::TinyText | TypeKind::TinyBlob => 255,
        // A column: each of its bytes may be a character, of as many bytes as one can have.
        kind if kind.is_blob() && t.length == 0 => (t.max_bytes() * 4).min(u32::MAX.into()) as u32,
        _ => t.length,
    }
}

/// Bytes of a value as a string.
fn bytes(t: &DataType) -> u32 {
    let width = if t.kind.is_text() { t.collation.charset().mbmaxlen() } else { 1 };
    match t.kind {
        kind if kind.is_blob() && t.length == 0 => characters(t),
        _ => characters(t).saturating_mul(width),
    }
}

/// CAST(.. AS CHAR) and AS BINARY without a length.
pub fn whole(from: &DataType, collation: CollationId) -> DataType {
    let is_text = from.kind.is_text() && from.kind != TypeKind::Json;
    match collation.is_binary() && is_text {
        true if from.kind.is_blob() && from.kind != TypeKind::TinyText && from.length == 0 => {
            long_text(characters(from), collation)
        }
        true => long_text(characters(from).saturating_mul(from.collation.charset().mbmaxlen()), collation),
        false if collation.is_binary() => long_text(bytes(from), collation),
        false => long_text(characters(from), collation),
    }
}

/// The type of a call of [`crate::function::Rule::ByLength`], or of FROM_UNIXTIME with a format.
pub(super) fn string_type(name: &'static str, args: &[Expr]) -> Result<DataType> {
    let length = |at: usize| args.get(at).map_or(0, |e| characters(&e.ty));
    let of = |list: &[&Expr], length: u32| Ok(long_text(length, compare::result_collation(list, name)?));
    let shown = |length: u32| Ok(long_text(length, CollationId::UTF8MB4_0900_AI_CI));
    let all: Vec<&Expr> = args.iter().collect();
    match name {
        "format" => shown(length(0).saturating_add(length(0) / 3).saturating_add(FORMAT_ROOM)),
        "to_base64" => {
            let encoded = bytes(&args[0].ty).div_ceil(3).saturating_mul(4);
            shown(encoded.saturating_add(encoded.saturating_sub(1) / BASE64_LINE))
        }
        "from_base64" => {
            let encoded = u64::from(bytes(&args[0].ty));
            Ok(long_text((encoded * 3 / 4) as u32, CollationId::BINARY))
        }
        "aes_decrypt" => Ok(long_text(bytes(&args[0].ty), CollationId::BINARY)),
        "compress" => {
            let most = u64::from(bytes(&args[0].ty)) * 120 / 100 + 12;
            Ok(long_text(most.min(u32::MAX.into()) as u32, CollationId::BINARY))
        }
        "unhex" => Ok(long_text(bytes(&args[0].ty).div_ceil(2), CollationId::BINARY)),
        "aes_encrypt" => {
            let blocks = bytes(&args[0].ty) / 16 + 1;
            Ok(long_text(blocks.saturating_mul(16), CollationId::BINARY))
        }
        "date_format" | "time_format" | "from_unixtime" => match &args[1].node {
            Node::Const(Value::Bytes(format)) => shown(formatted(format)),
            _ => shown(length(1).saturating_mul(FORMATTED_MAX)),
        },
        "space" => match &args[0].node {
            Node::Const(Value::Int(n)) => shown(u32::try_from(*n).unwrap_or(0)),
            Node::Const(Value::Null) => shown(0),
            _ => shown(REPEATED_TEXT),
        },
        "export_set" => {
            let separator = if args.len() > 3 { length(3) } else { 1 };
            let texts = BITS.saturating_mul(length(1).max(length(2)));
            of(&all[1..all.len().min(4)], texts.saturating_add((BITS - 1).saturating_mul(separator)))
        }
        "replace" => {
            // Each character may be one that is replaced.
            let collation = first_collation(&args[0]);
            let most = if collation.is_binary() { bytes(&args[2].ty) } else { length(2) };
            let ty = long_text(length(0).saturating_mul(most.saturating_sub(1).max(1)), collation);
            Ok(ty)
        }
        "json_quote" => Ok(long_text(length(0).saturating_mul(6).saturating_add(2), CollationId::UTF8MB4_BIN)),
        "make_set" => {
            let texts = (1..args.len()).map(length).fold(0, u32::saturating_add);
            of(&all[1..], texts.saturating_add(args.len() as u32 - 2))
        }
        _ => unreachable!("a function of this rule"),
    }
}

/// Characters of a text from a position that is known on: MySQL has none from position 0.
pub(super) fn rest(whole: u32, from: i64) -> u32 {
    match from {
        0 => 0,
        1.. => u32::try_from(from - 1).map_or(0, |skipped| whole.saturating_sub(skipped)),
        _ => u32::try_from(from.unsigned_abs()).map_or(whole, |n| n.min(whole)),
    }
}

/// Characters that a format of DATE_FORMAT can come to.
fn formatted(format: &[u8]) -> u32 {
    let mut bytes = format.iter();
    let mut length = 0u32;
    while let Some(byte) = bytes.next() {
        length += match byte {
            b'%' => match bytes.next() {
                Some(b'M' | b'W') => 64,
                Some(b'a' | b'b') => 32,
                Some(b'r') => 11,
                Some(b'T') => 8,
                // Hours of times that are longer than a day.
                Some(b'H' | b'k') => 7,
                Some(b'f') => 6,
                Some(b'D' | b'Y' | b'x' | b'X') => 4,
                Some(b'j') => 3,
                Some(b'm' | b'd' | b'h' | b'i' | b'I' | b'l' | b'p' | b'S' | b's' | b'c' | b'e' | b'y') => 2,
                Some(b'u' | b'U' | b'v' | b'V') => 2,
                _ => 1,
            },
            // Bytes behind the first of a character.
            0x80..0xC0 => 0,
            _ => 1,
        };
    }
    length
}
