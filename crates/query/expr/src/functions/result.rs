//! Types of functions' results.

use super::digits::second_digits;
use super::lengths::{REPEATED_TEXT, first_collation, long_text};
use super::{ANY_VALUE, constant_text, crypto, lengths, math, parse_date, regexp, xml};
use crate::function::{Func, Rule};
use crate::{Expr, Node, common, compare, convert, number};
use types::codes::ER_TOO_BIG_PRECISION;
use types::datatype::DECIMALS_NOT_FIXED;
use types::{CollationId, DataType, Result, TypeKind, Value, err};

pub(crate) fn result_type(function: Func, args: &[Expr]) -> Result<DataType> {
    if function.name.starts_with("regexp_") {
        regexp::check_charsets(function.name, args)?;
    }
    // A pattern is compared with what it is looked for in; of those that give texts [`text_collation`] looks.
    if matches!(function.name, "regexp_like" | "regexp_instr") {
        compare::collation_for(&[&args[0], &args[1]], function.name)?;
    }
    if function.name.starts_with("statement_digest") {
        crypto::check_digest_charset(function.name, &args[0].ty)?;
    }
    if xml::is_xml(function) {
        xml::check_path(&args[1])?;
    }
    let refs: Vec<&Expr> = args.iter().collect();
    let mut ty = match function.rule {
        Rule::Int(n) => DataType { length: n, ..DataType::new(TypeKind::BigInt) },
        Rule::UInt(n) => DataType { length: n, ..DataType::new(TypeKind::BigInt).unsigned() },
        Rule::Double => DataType { length: 23, ..DataType::new(TypeKind::Double) },
        Rule::Json => convert::json_type(),
        Rule::JsonText => DataType::string(TypeKind::LongText, u32::MAX, CollationId::UTF8MB4_BIN),
        Rule::ByLength => lengths::string_type(function.name, args)?,
        Rule::Unquoted if refs[0].ty.kind == TypeKind::Json => long_text(u32::MAX, CollationId::UTF8MB4_BIN),
        Rule::Unquoted => long_text(refs[0].ty.length, CollationId::UTF8MB4_BIN),
        Rule::Common => common::common_type(&refs, function.name)?,
        Rule::CommonTail => match common::common_type(&refs[1..], function.name)? {
            t if matches!(t.kind, TypeKind::Enum | TypeKind::Set) => DataType { kind: TypeKind::VarChar, ..t },
            t if t.kind == TypeKind::Null => DataType::string(TypeKind::VarBinary, 0, CollationId::BINARY),
            t if t.kind.is_text() || t.kind.is_bytes() => t,
            // Numbers and dates are chosen as texts.
            t if t.kind == TypeKind::Bit => DataType::string(TypeKind::VarBinary, t.length, CollationId::BINARY),
            _ => {
                let tail = &refs[1..];
                let longest = tail.iter().map(|e| common::text_length(&e.ty)).max().unwrap_or(0);
                long_text(longest, compare::result_collation(tail, function.name)?)
            }
        },
        Rule::Last => refs[refs.len() - 1].ty,
        // Of numbers those of a column alone are filled up.
        Rule::First if function.name == "nullif" && refs[0].ty.kind != TypeKind::Year => {
            DataType { zerofill: refs[0].ty.zerofill && !refs[0].ty.kind.is_numeric(), ..refs[0].ty }
        }
        Rule::First => refs[0].ty,
        Rule::Number => math::rounded_type(args),
        Rule::Whole => math::whole_type(args),
        Rule::Magnitude => magnitude_type(args),
        Rule::Text(_) | Rule::Joined | Rule::LongText | Rule::System(_) | Rule::Server(_) | Rule::Binary(_) => {
            text_type(function, args)?
        }
        Rule::Year | Rule::Date | Rule::DateTime | Rule::Time | Rule::Moment | Rule::TimeOf | Rule::ByFormat => {
            moment_type(function, args)?
        }
        Rule::Shifted | Rule::Seconds => moment_type(function, args)?,
    };
    match function.name {
        "char" => ty.length = 4 * args.len() as u32,
        "hex" => ty.length = hex_length(&args[0].ty).unwrap_or(ty.length),
        _ => {}
    }
    if function.name == "sha2" {
        ty.length = match args[1].node {
            Node::Const(Value::Int(224)) => 56,
            Node::Const(Value::Int(0 | 256)) => 64,
            Node::Const(Value::Int(384)) => 96,
            _ => 128,
        };
    }
    if function.name == "quote" {
        let t = &args[0].ty;
        let length = if t.kind.is_blob() { t.max_bytes().min(u32::MAX.into()) as u32 } else { shown(t) };
        let collation = if ty.collation.is_binary() { CollationId::UTF8MB4_0900_AI_CI } else { ty.collation };
        ty = long_text(length.saturating_mul(2).saturating_add(2), collation);
    }
    if function.name == "pi" {
        (ty.length, ty.decimals) = (8, 6);
    }
    ty.nullable = is_nullable(function, args);
    Ok(ty)
}

/// ABS and its like.
fn magnitude_type(args: &[Expr]) -> DataType {
    match args[0].ty.kind {
        TypeKind::Decimal => args[0].ty,
        TypeKind::Null => number::negate_type(&args[0].ty),
        k if k.is_integer() => DataType { length: args[0].ty.length, ..math::rounded_type(args) },
        k if k.is_temporal() => DataType { decimals: args[0].ty.decimals, ..math::rounded_type(args) },
        TypeKind::Float | TypeKind::Double => number::double_like(&args[0].ty, 0),
        _ => math::rounded_type(args),
    }
}

/// Of functions that give dates, times, or seconds.
fn moment_type(function: Func, args: &[Expr]) -> Result<DataType> {
    Ok(match function.rule {
        Rule::Year => DataType { zerofill: false, ..DataType::new(TypeKind::Year).unsigned() },
        Rule::Date => DataType { length: 10, ..DataType::new(TypeKind::Date) },
        Rule::DateTime => {
            DataType { length: 19, decimals: fraction(function, args)?, ..DataType::new(TypeKind::DateTime) }
        }
        Rule::Moment if function.name == "from_unixtime" && args.len() == 2 => {
            lengths::string_type(function.name, args)?
        }
        Rule::Moment => {
            let zones = function.name == "convert_tz";
            let decimals = args[..if zones { 1 } else { args.len() }].iter().map(second_digits).max().unwrap_or(0);
            DataType { length: 19, decimals, ..DataType::new(TypeKind::DateTime) }
        }
        Rule::TimeOf => {
            // Of MAKETIME, the seconds come last.
            let parts = if function.name == "maketime" { &args[args.len() - 1..] } else { args };
            let decimals = parts.iter().map(second_digits).max().unwrap_or(0);
            DataType { length: 10, decimals, ..DataType::new(TypeKind::Time) }
        }
        Rule::ByFormat => {
            let parts = match (&args[1].node, constant_text::value_of(&args[1])) {
                (Node::Const(Value::Bytes(format)), _) => parse_date::parts_of(format),
                (_, Some(format)) => parse_date::parts_of(&format),
                _ => parse_date::Parts { date: true, time: true, micros: true },
            };
            let decimals = if parts.micros { 6 } else { 0 };
            match (parts.date, parts.time) {
                (true, false) => DataType { length: 10, ..DataType::new(TypeKind::Date) },
                (false, true) => DataType { length: 10, decimals, ..DataType::new(TypeKind::Time) },
                _ => DataType { length: 19, decimals, ..DataType::new(TypeKind::DateTime) },
            }
        }
        Rule::Time => DataType { length: 10, decimals: fraction(function, args)?, ..DataType::new(TypeKind::Time) },
        // ADDTIME and SUBTIME.
        Rule::Shifted => {
            let decimals = args.iter().map(second_digits).max().unwrap_or(0);
            match args[0].ty.kind {
                TypeKind::Time => DataType { length: 10, decimals, ..DataType::new(TypeKind::Time) },
                TypeKind::Date | TypeKind::DateTime | TypeKind::Timestamp => {
                    DataType { length: 19, decimals, ..DataType::new(TypeKind::DateTime) }
                }
                _ => DataType::string(TypeKind::Char, 29, CollationId::UTF8MB4_0900_AI_CI),
            }
        }
        // UNIX_TIMESTAMP: with the digits of the second.
        Rule::Seconds => match args.first().map_or(0, second_digits) {
            0 => DataType { length: 17, ..DataType::new(TypeKind::BigInt) },
            digits => DataType::decimal(11 + digits as u32, digits),
        },
        _ => unreachable!("a rule of dates and times"),
    })
}

/// Digits of HEX of what is no string: of an integer, or of a moment's characters.
fn hex_length(t: &DataType) -> Option<u32> {
    let fraction = if t.decimals > 0 { u32::from(t.decimals) + 1 } else { 0 };
    match t.kind {
        TypeKind::Null => Some(0),
        TypeKind::Date => Some(2 * 10),
        TypeKind::Time => Some(2 * (10 + fraction)),
        TypeKind::DateTime | TypeKind::Timestamp => Some(2 * (19 + fraction)),
        kind => kind.is_numeric().then_some(16),
    }
}

/// The characters of an argument as a text.
fn shown(t: &DataType) -> u32 {
    /// Characters of any double.
    const DOUBLE_TEXT: u32 = 22;
    match t.kind {
        TypeKind::Date => 10,
        TypeKind::DateTime | TypeKind::Timestamp => 26,
        TypeKind::Decimal => t.length + 1 + u32::from(t.decimals > 0),
        TypeKind::Time if t.decimals > 0 => t.length.max(10 + 1 + u32::from(t.decimals)),
        TypeKind::Double if t.decimals == DECIMALS_NOT_FIXED => t.length.max(DOUBLE_TEXT),
        // A column: as MySQL counts, each of its bytes may be a character.
        kind if kind.is_blob() && t.length == 0 => {
            let mbmaxlen = if t.collation.is_binary() { 1 } else { t.collation.charset().mbmaxlen().into() };
            (t.max_bytes() * mbmaxlen).min(u32::MAX.into()) as u32
        }
        _ => t.length,
    }
}

/// The collation of a text that is made of the arguments. Errors 1267, 1270, 1271.
fn text_collation(function: Func, args: &[Expr]) -> Result<CollationId> {
    let refs: Vec<&Expr> = args.iter().collect();
    let is_null = |e: &&Expr| e.ty.kind == TypeKind::Null && !matches!(e.node, Node::Param(_));
    let is_count = |e: &&Expr| TAKES_COUNTS.contains(&function.name) && e.ty.kind.is_numeric();
    let of_null = refs.first().is_some_and(is_null) && refs.iter().all(|e| is_null(e) || is_count(e));
    match function.name {
        _ if of_null => Ok(CollationId::BINARY),
        name if compare::FIRST_DECIDES.contains(&name) => Ok(first_collation(refs[0])),
        // A pattern is compared with what it is looked for in.
        name if name.starts_with("regexp_") => {
            compare::collation_for(&refs[..2], name)?;
            compare::result_collation(&refs, name)
        }
        name => compare::result_collation(&refs, name),
    }
}

/// Of functions that give text.
fn text_type(function: Func, args: &[Expr]) -> Result<DataType> {
    let text = |n: u32| -> Result<DataType> { Ok(long_text(n, text_collation(function, args)?)) };
    Ok(match function.rule {
        Rule::Text(_) if function.name == "repeat" => match &args[1].node {
            Node::Const(Value::Int(times)) => match u32::try_from(*times) {
                Ok(times) => text(shown(&args[0].ty).saturating_mul(times))?,
                Err(_) => text(LONG_TEXT)?,
            },
            _ => text(REPEATED_TEXT)?,
        },
        Rule::Text(_) if matches!(function.name, "left" | "right" | "substring" | "substr" | "mid") => {
            text(part_length(function, args))?
        }
        Rule::System(_) if function.name == "hex" && (args[0].ty.kind.is_text() || args[0].ty.kind.is_bytes()) => {
            let mbmaxlen = args[0].ty.collation.charset().mbmaxlen();
            let length = shown(&args[0].ty).saturating_mul(mbmaxlen).saturating_mul(2);
            long_text(length, CollationId::UTF8MB4_0900_AI_CI)
        }
        Rule::Text(_) if matches!(function.name, "lpad" | "rpad") => match &args[1].node {
            Node::Const(Value::Int(n)) => text(u32::try_from(*n).unwrap_or(LONG_TEXT))?,
            _ => text(LONG_TEXT)?,
        },
        Rule::Text(_) if function.name == "soundex" => text(shown(&args[0].ty).max(4))?,
        Rule::Joined if function.name == "insert" => text(shown(&args[0].ty).saturating_add(shown(&args[3].ty)))?,
        Rule::Text(n) => text(if n == 0 { args.first().map_or(0, |e| shown(&e.ty)) } else { n })?,
        Rule::System(n) if function.name == "json_type" => {
            DataType::string(TypeKind::VarChar, n, CollationId::UTF8MB4_BIN)
        }
        Rule::System(n) => DataType::string(TypeKind::VarChar, n, CollationId::UTF8MB4_0900_AI_CI),
        Rule::Server(n) => long_text(n, CollationId::UTF8MB3_GENERAL_CI),
        Rule::Binary(n) => long_text(n, CollationId::BINARY),
        Rule::LongText => text(u32::MAX)?,
        Rule::Joined => {
            // In a binary string each byte of the others counts.
            let is_binary = text(0)?.collation.is_binary();
            let width = |t: &DataType| match is_binary && t.kind.is_text() {
                true => shown(t).saturating_mul(t.collation.charset().mbmaxlen()),
                false => shown(t),
            };
            // The separator stands between all others.
            let (separators, joined) = match function.name {
                "concat_ws" => (args.len() as u32 - 2, &args[1..]),
                _ => (0, args),
            };
            let all = joined.iter().map(|e| width(&e.ty)).fold(0u32, u32::saturating_add);
            text(all.saturating_add(separators.saturating_mul(width(&args[0].ty))))?
        }
        _ => unreachable!("a rule of texts"),
    })
}

/// Characters of LEFT, RIGHT, SUBSTRING.
fn part_length(function: Func, args: &[Expr]) -> u32 {
    let whole = shown(&args[0].ty);
    let whole = match (function.name, args.get(1).map(|e| &e.node)) {
        ("left" | "right", _) => whole,
        (_, Some(Node::Const(Value::Int(from)))) => lengths::rest(whole, *from),
        _ => whole,
    };
    let most = match (function.name, args) {
        ("left" | "right", [_, n]) | (_, [_, _, n]) => match n.node {
            Node::Const(Value::Int(n)) => u32::try_from(n.max(0)).unwrap_or(whole),
            _ => whole,
        },
        _ => whole,
    };
    most.min(whole)
}

/// May the result be NULL?
fn is_nullable(function: Func, args: &[Expr]) -> bool {
    match function.name {
        "coalesce" | "ifnull" | ANY_VALUE => args.iter().all(|e| e.ty.nullable),
        "unix_timestamp" => args.first().is_some_and(|e| e.ty.nullable),
        "isnull" | "coercibility" | "now" | "curdate" | "curtime" | "pi" | "version" | "connection_id" | "user"
        | "uuid" | "last_insert_id" | "row_count" | "found_rows" | "utc_timestamp" | "utc_date" | "utc_time"
        | "sysdate" => false,
        "field" | "interval" => false,
        "charset" | "collation" => false,
        "greatest" | "least" => {
            let same = |of: fn(&TypeKind) -> bool| args.iter().all(|e| of(&e.ty.kind));
            let mixed = !same(|k| k.is_numeric()) && !same(|k| k.is_text()) && !same(|k| k.is_temporal());
            mixed || args.iter().any(|e| e.ty.nullable)
        }
        // Nobody knows whether the result becomes too long where a column says how long it is.
        "lpad" | "rpad" | "repeat" | "space" if !args[if function.name == "space" { 0 } else { 1 }].is_constant() => {
            true
        }
        name if NULL_OF_NULL.contains(&name) => args.iter().any(|e| e.ty.nullable),
        _ => true,
    }
}

fn fraction(function: Func, args: &[Expr]) -> Result<u8> {
    match args.first().map(|e| &e.node) {
        Some(Node::Const(Value::Int(n @ 7..))) => Err(err!(ER_TOO_BIG_PRECISION, n, function.name, 6)),
        Some(Node::Const(Value::Int(n))) => Ok((*n).max(0) as u8),
        _ => Ok(0),
    }
}

/// Characters of a text that is as long as any may be.
const LONG_TEXT: u32 = 1 << 24;
/// Functions that are NULL where an argument is, and nowhere else.
const NULL_OF_NULL: [&str; 63] = [
    "abs",
    "aes_encrypt",
    "ascii",
    "bit_count",
    "bit_length",
    "ceiling",
    "char",
    "char_length",
    "concat",
    "concat_ws",
    "crc32",
    "degrees",
    "export_set",
    "find_in_set",
    "floor",
    "format",
    "hex",
    "insert",
    "instr",
    "is_ipv4",
    "is_ipv4_compat",
    "is_ipv4_mapped",
    "is_ipv6",
    "json_overlaps",
    "json_pretty",
    "lcase",
    "left",
    "length",
    "locate",
    "lower",
    "lpad",
    "ltrim",
    "make_set",
    "mid",
    "ord",
    "position",
    "quote",
    "radians",
    "regexp_instr",
    "regexp_like",
    "repeat",
    "replace",
    "reverse",
    "right",
    "round",
    "rpad",
    "rtrim",
    "sign",
    "soundex",
    "space",
    "strcmp",
    "substr",
    "substring",
    "substring_index",
    "to_base64",
    "trim",
    "truncate",
    "ucase",
    "uncompressed_length",
    "upper",
    "octet_length",
    "character_length",
    "ceil",
];

/// Functions whose numbers are counts and positions, and no texts.
const TAKES_COUNTS: [&str; 10] =
    ["left", "right", "repeat", "lpad", "rpad", "substring", "substr", "mid", "substring_index", "insert"];
