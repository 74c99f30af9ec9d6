//! Comparison operators, and which collation a comparison uses.

use crate::convert::{self, is_string};
use crate::{Execution, Expr, Node, charset};
use std::borrow::Cow;
use std::cmp::Ordering;
use types::codes::*;
use types::collation::CollationId;
use types::datatype::IMPLICIT;
use types::{DataType, Result, SqlError, SqlMode, TypeKind, Value, err};

/// Order of two values, neither of which is NULL.
#[inline]
pub fn values(a: &Value<'_>, b: &Value<'_>, collation: CollationId, run: &dyn Execution) -> Result<Ordering> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => Ok(a.cmp(b)),
        (Value::Bytes(a), Value::Bytes(b)) => Ok(collation.compare(a, b)),
        (Value::Decimal(a), Value::Decimal(b)) => Ok(a.cmp(b)),
        (Value::Date(a), Value::Date(b)) => Ok(a.cmp(b)),
        (Value::DateTime(a), Value::DateTime(b)) => Ok(a.cmp(b)),
        _ => mixed(a, b, collation, run),
    }
}

fn mixed(a: &Value<'_>, b: &Value<'_>, collation: CollationId, run: &dyn Execution) -> Result<Ordering> {
    if let (Value::Bytes(text), other) | (other, Value::Bytes(text)) = (a, b)
        && matches!(other, Value::Int(_) | Value::UInt(_) | Value::Double(_) | Value::Decimal(_))
    {
        convert::warn_truncated_double(text, run);
    }
    if let (Value::Time(_), Value::Date(_) | Value::DateTime(_))
    | (Value::Date(_) | Value::DateTime(_), Value::Time(_)) = (a, b)
    {
        // A time beside a date is one of today.
        return Ok(convert::datetime(a, run).cmp(&convert::datetime(b, run)));
    }
    if let (Value::Bytes(_), Value::Date(_) | Value::DateTime(_))
    | (Value::Date(_) | Value::DateTime(_), Value::Bytes(_)) = (a, b)
        && run.evaluation().sql_mode.has(SqlMode::ALLOW_INVALID_DATES)
    {
        return Ok(convert::datetime(a, run).cmp(&convert::datetime(b, run)));
    }
    types::compare(a, b, collation).ok_or_else(|| SqlError::new(ER_UNKNOWN_ERROR, "comparison of NULL"))
}

/// Name of the function that stands for COLLATE.
pub const COLLATE: &str = "collate";

/// [`coercibility`] of columns of one character set and different collations together: none of the collations holds.
const NONE: u8 = 1;

/// [`coercibility`] of literals, and of what is made of them or of numbers.
pub const COERCIBLE: u8 = 4;

/// [`coercibility`] of NULL, and of a text that is made of nothing else.
const IGNORABLE: u8 = 6;

/// How strongly an expression's collation is held; lower wins (MySQL's coercibility).
pub fn coercibility(e: &Expr) -> u8 {
    match &e.node {
        Node::Call(f, _) if f.name == COLLATE => 0,
        Node::Const(Value::Null) => IGNORABLE,
        _ if e.ty.kind == TypeKind::Json => 2,
        Node::SetUserVariable(..) | Node::UserVariable(_) if is_string(e.ty.kind) || e.ty.kind == TypeKind::Null => 2,
        _ if !is_string(e.ty.kind) => 5,
        Node::Column { .. } | Node::Subquery { .. } => e.ty.coercibility,
        Node::EnumText(..) | Node::SetText(..) => IMPLICIT,
        // CHAR(.. USING ..).
        Node::Cast(e) if matches!(&e.node, Node::Call(f, _) if f.name == "char") => COERCIBLE,
        Node::Bits(..) | Node::BitNot(_) => COERCIBLE,
        Node::Local(..) | Node::Cast(_) | Node::InCharset(_) => 2,
        Node::Const(_) | Node::Param(_) => COERCIBLE,
        Node::Call(f, _) if SYSTEM_CONSTANTS.contains(&f.name) => 3,
        Node::Call(f, _) if f.has_own_collation() => COERCIBLE,
        Node::Call(f, args) if FIRST_DECIDES.contains(&f.name) => match args.first() {
            Some(first) if is_string(first.ty.kind) => coercibility(first),
            Some(first) if is_null(first) => IGNORABLE,
            _ => COERCIBLE,
        },
        Node::Case { whens, otherwise } => held_by_all(whens.iter().map(|(_, then)| then).chain(otherwise.as_deref())),
        _ => {
            let mut parts = Vec::new();
            e.children(&mut |c| parts.push(c));
            let has_no_text = !parts.iter().any(|p| is_string(p.ty.kind));
            let of_null = e.ty.collation.is_binary() && has_no_text && parts.iter().any(|p| is_null(p));
            if of_null { IGNORABLE } else { held_by_all(parts.into_iter()) }
        }
    }
}

fn is_null(e: &Expr) -> bool {
    matches!(e.node, Node::Const(Value::Null))
}

/// The type of a column that is made of the expression.
pub fn column_of(e: &Expr) -> DataType {
    match coercibility(e) {
        // Whatever collation it has now is the column's.
        NONE => e.ty,
        coercibility => DataType { coercibility, ..e.ty },
    }
}

/// The same of the column of several rows or queries, of their common type.
pub fn column_of_all(all: &[&Expr], ty: DataType) -> DataType {
    match held_by_all(all.iter().copied()) {
        NONE => DataType { coercibility: IMPLICIT, ..ty },
        coercibility => DataType { coercibility, ..ty },
    }
}

/// The level of what is made of these.
fn held_by_all<'e>(parts: impl Iterator<Item = &'e Expr>) -> u8 {
    let strings = parts.filter(|e| is_string(e.ty.kind)).map(Held::of);
    let all = strings.reduce(|held, next| held.with(next).unwrap_or(if next.level < held.level { next } else { held }));
    all.map_or(COERCIBLE, |held| held.level)
}

/// Functions whose result is under the collation of their first argument, whatever the others are under.
pub const FIRST_DECIDES: [&str; 8] = ["insert", "lpad", "ltrim", "replace", "rpad", "rtrim", "substring_index", "trim"];

/// Functions whose text is the server's.
const SYSTEM_CONSTANTS: [&str; 9] = [
    "database",
    "schema",
    "user",
    "current_user",
    "session_user",
    "system_user",
    "current_role",
    "version",
    "system variable",
];

/// Is it a number? Of a decimal literal that was lifted out of its statement nothing is known but that it is not NULL.
pub fn is_number(e: &Expr) -> bool {
    e.ty.kind.is_numeric() || e.ty.kind == TypeKind::Null && !e.ty.nullable
}

/// The collation that strings among the operands compare and combine under.
pub fn collation_of(operands: &[&Expr]) -> Result<CollationId> {
    collation_for(operands, "=")
}

/// As [`collation_of`], for an operation that messages name. Errors 1267, 1270, 1271.
pub fn collation_for(operands: &[&Expr], operation: &str) -> Result<CollationId> {
    let (collation, level) = aggregate(operands, operation, &|e| is_string(e.ty.kind))?;
    if level == NONE { Err(illegal_mix(operands, operation)) } else { Ok(collation) }
}

/// The collation of a string that is made of the operands, and not compared: where columns of one character set have different
/// collations, its binary one. Errors as those of [`collation_for`]; 3854: a literal has characters that the collation's character
/// set lacks.
pub fn result_collation(operands: &[&Expr], operation: &str) -> Result<CollationId> {
    let is_string = |e: &Expr| is_string(e.ty.kind) || e.ty.kind == TypeKind::Bit;
    let (collation, _) = aggregate(operands, operation, &is_string)?;
    check_literals(operands, collation)?;
    Ok(collation)
}

/// Error 3854: a literal has characters that the collation's character set lacks.
pub fn check_literals(operands: &[&Expr], collation: CollationId) -> Result<()> {
    for e in operands.iter().filter(|e| is_string(e.ty.kind) || e.ty.kind == TypeKind::Bit) {
        if let Node::Const(Value::Bytes(text)) = &e.node {
            charset::in_charset(Cow::Borrowed(&text[..]), &e.ty, collation)?;
        }
    }
    Ok(())
}

fn aggregate(operands: &[&Expr], operation: &str, is_string: &dyn Fn(&Expr) -> bool) -> Result<(CollationId, u8)> {
    let mut best: Option<Held> = None;
    for e in operands.iter().filter(|e| is_string(e)) {
        let mine = Held::of(e);
        best = match best {
            None => Some(mine),
            Some(held) => Some(held.with(mine).ok_or_else(|| illegal_mix(operands, operation))?),
        };
    }
    // Numbers are texts of the connection, which a NULL gives way to.
    let has_number = || operands.iter().any(|e| !is_string(e) && e.ty.kind != TypeKind::Null);
    let best = best.filter(|held| held.level < IGNORABLE || !has_number());
    let (collation, level) =
        best.map_or((CollationId::UTF8MB4_0900_AI_CI, COERCIBLE), |held| (held.collation, held.level));
    Ok((collation, level))
}

/// How an operand holds its collation.
#[derive(Clone, Copy)]
struct Held {
    level: u8,
    collation: CollationId,
    /// Nothing but ASCII characters: they are in every character set.
    is_ascii: bool,
}

/// Operands down from this level give way to others of another character set.
const SYSCONST: u8 = 3;

impl Held {
    fn of(e: &Expr) -> Held {
        // A BIT among strings is one of bytes, as a column is.
        if e.ty.kind == TypeKind::Bit {
            return Held { level: 2, collation: CollationId::BINARY, is_ascii: false };
        }
        Held { level: coercibility(e), collation: e.ty.collation, is_ascii: is_ascii(e) }
    }

    /// The collation of both together: the stronger one's, if the other's characters can be brought to its set.
    fn with(self, other: Held) -> Option<Held> {
        let (a, b) = (self.collation, other.collation);
        let ascii = |held: Held| Held { is_ascii: self.is_ascii && other.is_ascii, ..held };
        if a.charset() == b.charset() {
            return match self.level.cmp(&other.level) {
                Ordering::Less => Some(ascii(self)),
                Ordering::Greater => Some(ascii(other)),
                Ordering::Equal if a == b => Some(ascii(self)),
                Ordering::Equal if self.level == 0 => None,
                Ordering::Equal => match [a, b].map(is_binary_order) {
                    [true, false] => Some(ascii(self)),
                    [false, true] => Some(ascii(other)),
                    _ => Some(ascii(Held { level: NONE, collation: CollationId::binary_of(a.charset()), ..self })),
                },
            };
        }
        if a.is_binary() || b.is_binary() {
            let first = if a.is_binary() { self.level <= other.level } else { self.level < other.level };
            return Some(if first { self } else { other });
        }
        if self.holds(&other) || self.level < other.level && other.level >= SYSCONST {
            return Some(ascii(self));
        }
        (other.holds(&self) || other.level < self.level && self.level >= SYSCONST).then(|| ascii(other))
    }

    /// Can this one's character set have what the other one's has?
    fn holds(&self, other: &Held) -> bool {
        let (mine, others) = (self.collation.charset(), other.collation.charset());
        // Of the forms of Unicode, MySQL takes these two to hold the others.
        let is_wider = !others.is_unicode() || matches!(mine.name(), "utf8mb4" | "utf32");
        mine.is_unicode() && (self.level < other.level || self.level == other.level && is_wider)
            || other.is_ascii && (self.level < other.level || self.level == other.level && !self.is_ascii)
    }
}

/// Does the collation compare by code points?
fn is_binary_order(collation: CollationId) -> bool {
    collation.info().name.ends_with("_bin")
}

fn is_ascii(e: &Expr) -> bool {
    match &e.node {
        Node::Const(Value::Bytes(b)) => e.ty.collation.charset().to_utf8(b).is_ascii(),
        Node::Const(_) => true,
        Node::Call(f, _) if matches!(f.name, "charset" | "collation") => true,
        _ => e.ty.collation.charset() == types::Charset::Ascii,
    }
}

#[cold]
fn illegal_mix(operands: &[&Expr], operation: &str) -> SqlError {
    // Numbers, dates and NULL count, and are shown with the collations that MySQL gives them.
    let show = |e: &&Expr| {
        let level = coercibility(e);
        let name = match level {
            5 => "latin1_swedish_ci",
            6 => "binary",
            _ => e.ty.collation.info().name,
        };
        format!("({name},{})", level_name(level))
    };
    let list: Vec<String> = operands.iter().map(show).collect();
    match list.len() {
        2 => SqlError::new(
            ER_CANT_AGGREGATE_2COLLATIONS,
            format!("Illegal mix of collations {} and {} for operation '{operation}'", list[0], list[1]),
        ),
        3 => SqlError::new(
            ER_CANT_AGGREGATE_3COLLATIONS,
            format!("Illegal mix of collations {} for operation '{operation}'", list.join(", ")),
        ),
        _ => err!(ER_CANT_AGGREGATE_NCOLLATIONS, operation),
    }
}

fn level_name(level: u8) -> &'static str {
    match level {
        0 => "EXPLICIT",
        NONE => "NONE",
        2 => "IMPLICIT",
        3 => "SYSCONST",
        4 => "COERCIBLE",
        5 => "NUMERIC",
        _ => "NULL",
    }
}

/// The operand in the character set of the collation that a comparison is done under.
pub fn in_charset(e: Expr, collation: CollationId) -> Expr {
    let (from, to) = (e.ty.collation.charset(), collation.charset());
    let ty = types::DataType { kind: TypeKind::VarChar, length: u32::MAX, collation, ..e.ty };
    if let Node::Const(Value::Bytes(text)) = &e.node
        && is_string(e.ty.kind)
        && charset::in_charset(Cow::Borrowed(&text[..]), &e.ty, collation).is_err()
    {
        // Error 3854 comes when a row is compared.
        return Expr::new(Node::InCharset(Box::new(e)), ty);
    }
    let takes_bytes = from == types::Charset::Binary && to.mbminlen() == 1;
    if !is_string(e.ty.kind) || from == to || takes_bytes || to == types::Charset::Binary {
        return e;
    }
    if (from, to) == (types::Charset::Utf8mb3, types::Charset::Utf8mb4) {
        return e;
    }
    if let Node::Const(Value::Bytes(b)) = &e.node {
        let text = charset::transcode(b.clone(), &e.ty, &ty).into_owned();
        return Expr::new(Node::Const(Value::Bytes(text.into())), ty);
    }
    Expr::new(Node::InCharset(Box::new(e)), ty)
}
