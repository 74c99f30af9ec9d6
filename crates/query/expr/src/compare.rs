//! Comparison operators, and which collation a comparison uses.

use super::{Expr, Node, convert, functions, moment};
use crate::{Execution, charset};
use std::borrow::Cow;
use std::cmp::Ordering;
use types::codes::*;
use types::collation::CollationId;
use types::datatype::{DECIMALS_NOT_FIXED, IMPLICIT};
use types::error::Level;
use types::store::StoreContext;
use types::temporal::{Problem, parse};
use types::{DataType, Result, SqlError, SqlMode, TypeKind, Value, err};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CmpOp {
    Eq,
    NullSafeEq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

impl CmpOp {
    #[inline]
    pub fn holds(self, o: Ordering) -> bool {
        match self {
            CmpOp::Eq | CmpOp::NullSafeEq => o == Ordering::Equal,
            CmpOp::Ne => o != Ordering::Equal,
            CmpOp::Lt => o == Ordering::Less,
            CmpOp::Le => o != Ordering::Greater,
            CmpOp::Gt => o == Ordering::Greater,
            CmpOp::Ge => o != Ordering::Less,
        }
    }

    /// `a op b` is `b op.mirrored() a`.
    pub fn mirrored(self) -> CmpOp {
        match self {
            CmpOp::Lt => CmpOp::Gt,
            CmpOp::Le => CmpOp::Ge,
            CmpOp::Gt => CmpOp::Lt,
            CmpOp::Ge => CmpOp::Le,
            other => other,
        }
    }
}

/// Order of two values, neither of which is NULL.
#[inline]
pub fn values(a: &Value<'_>, b: &Value<'_>, collation: CollationId, run: &dyn Execution) -> Result<Ordering> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => Ok(a.cmp(b)),
        (Value::Bytes(a), Value::Bytes(b)) => Ok(collation.compare(a, b)),
        (Value::Decimal(a), Value::Decimal(b)) => Ok(a.cmp(b)),
        (Value::Date(a), Value::Date(b)) => Ok(a.cmp(b)),
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

/// [`coercibility`] of columns of one character set and different collations together: none of the collations holds.
const NONE: u8 = 1;

/// [`coercibility`] of literals, and of what is made of them or of numbers.
pub const COERCIBLE: u8 = 4;

/// How strongly an expression's collation is held; lower wins (MySQL's coercibility).
pub fn coercibility(e: &Expr) -> u8 {
    match &e.node {
        Node::Call(f, _) if f.name == functions::COLLATE => 0,
        Node::Const(Value::Null) => 6,
        _ if e.ty.kind == TypeKind::Json => 2,
        Node::SetUserVariable(..) | Node::UserVariable(_) if is_string(e.ty.kind) || e.ty.kind == TypeKind::Null => 2,
        _ if !is_string(e.ty.kind) => 5,
        Node::Column { .. } | Node::Subquery { .. } => e.ty.coercibility,
        Node::EnumText(..) | Node::SetText(..) => IMPLICIT,
        Node::Local(_) | Node::Cast(_) | Node::InCharset(_) => 2,
        Node::Const(_) | Node::Param(_) => COERCIBLE,
        Node::Call(f, _) if SYSTEM_CONSTANTS.contains(&f.name) => 3,
        Node::Call(f, _) if f.has_own_collation() => COERCIBLE,
        Node::Call(f, args) if FIRST_DECIDES.contains(&f.name) => match args.first() {
            Some(first) if is_string(first.ty.kind) => coercibility(first),
            _ => COERCIBLE,
        },
        Node::Case { whens, otherwise } => held_by_all(whens.iter().map(|(_, then)| then).chain(otherwise.as_deref())),
        _ => {
            let mut parts = Vec::new();
            e.children(&mut |c| parts.push(c));
            held_by_all(parts.into_iter())
        }
    }
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

pub(super) fn is_string(kind: TypeKind) -> bool {
    kind.is_bytes() || kind.is_text()
}

/// Is it a number? Of a decimal literal that was lifted out of its statement nothing is known but that it is not NULL.
pub fn is_number(e: &Expr) -> bool {
    e.ty.kind.is_numeric() || e.ty.kind == TypeKind::Null && !e.ty.nullable
}

/// The collation that strings among the operands compare and combine under.
pub fn collation_of(operands: &[&Expr]) -> Result<CollationId> {
    collation_for(operands, "=")
}

/// As [`collation_of`], for an operation that messages name. Errors 1267, 1270, 1271; 3854: a literal has characters that the
/// collation's character set lacks.
pub fn collation_for(operands: &[&Expr], operation: &str) -> Result<CollationId> {
    let (collation, level) = aggregate(operands, operation, &|e| is_string(e.ty.kind))?;
    if level == NONE { Err(illegal_mix(operands, operation)) } else { Ok(collation) }
}

/// The collation of a string that is made of the operands, and not compared: where columns of one character set have different
/// collations, its binary one. Errors as those of [`collation_for`].
pub fn result_collation(operands: &[&Expr], operation: &str) -> Result<CollationId> {
    let is_string = |e: &Expr| is_string(e.ty.kind) || e.ty.kind == TypeKind::Bit;
    aggregate(operands, operation, &is_string).map(|(collation, _)| collation)
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
    let (collation, level) =
        best.map_or((CollationId::UTF8MB4_0900_AI_CI, COERCIBLE), |held| (held.collation, held.level));
    for e in operands {
        if let Node::Const(Value::Bytes(text)) = &e.node
            && is_string(e)
        {
            charset::in_charset(Cow::Borrowed(&text[..]), &e.ty, collation)?;
        }
    }
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
    if !is_string(e.ty.kind) || from == to || from == types::Charset::Binary || to == types::Charset::Binary {
        return e;
    }
    if (from, to) == (types::Charset::Utf8mb3, types::Charset::Utf8mb4) {
        return e;
    }
    let ty = types::DataType { kind: TypeKind::VarChar, length: u32::MAX, collation, ..e.ty };
    if let Node::Const(Value::Bytes(b)) = &e.node {
        let text = charset::transcode(b.clone(), &e.ty, &ty).into_owned();
        return Expr::new(Node::Const(Value::Bytes(text.into())), ty);
    }
    Expr::new(Node::InCharset(Box::new(e)), ty)
}

/// How a literal is read that is compared with a date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// Error 1525 when it is none.
    Strict,
    /// The same in a statement that changes rows: error 1292.
    Stored,
    /// Of a list: warning 1292.
    Listed,
    /// Of a list of nothing but texts and dates, which have no time of day: warning 1292 of that, too.
    Day,
    /// The same in a statement that changes rows: error 1292.
    ListedStored,
    /// A bound of BETWEEN: warning 1292.
    Bound,
}

/// A parameter that stands for a literal beside a date or time.
#[derive(Clone, Debug)]
pub struct TemporalParam {
    pub param: usize,
    pub kind: TypeKind,
    /// Name of the column that it is compared with; empty for none.
    pub column: String,
    pub reading: Reading,
}

/// A literal beside a date, which is read once, under a `sql_mode`: what there is to say of it. `column`: the name of the column that
/// it is compared with, empty for none. Errors 1292, 1525.
pub fn check_temporal(
    value: &Value<'_>,
    kind: TypeKind,
    column: &str,
    mode: SqlMode,
    reading: Reading,
) -> Result<Vec<(u16, String)>> {
    let (Value::Bytes(text), TypeKind::Date | TypeKind::DateTime | TypeKind::Timestamp) = (value, kind) else {
        return Ok(Vec::new());
    };
    let shown = String::from_utf8_lossy(text);
    let Some(parsed) = parse::parse_datetime(text, mode) else {
        let form = if kind == TypeKind::Date { "date" } else { "datetime" };
        let of_column = format!("Incorrect {form} value: '{shown}' for column '{column}' at row 1");
        return match reading {
            Reading::Bound if column.is_empty() => {
                Ok(vec![(ER_TRUNCATED_WRONG_VALUE, format!("Truncated incorrect {form} value: '{shown}'"))])
            }
            Reading::Bound => Ok(vec![(ER_TRUNCATED_WRONG_VALUE, of_column)]),
            Reading::Listed | Reading::Day => {
                Ok(vec![(ER_TRUNCATED_WRONG_VALUE, format!("Truncated incorrect date value: '{shown}'"))])
            }
            Reading::Stored if !column.is_empty() => Err(SqlError::new(ER_TRUNCATED_WRONG_VALUE, of_column)),
            Reading::Stored | Reading::ListedStored => Err(err!(ER_TRUNCATED_WRONG_VALUE, form, shown)),
            Reading::Strict => {
                let kind = match kind {
                    TypeKind::Date => "DATE",
                    TypeKind::DateTime => "DATETIME",
                    _ => "TIMESTAMP",
                };
                Err(err!(ER_WRONG_VALUE, kind, shown))
            }
        };
    };
    let mut warnings = Vec::new();
    if parsed.problem != Problem::None {
        let form = if parsed.has_time { "datetime" } else { "date" };
        warnings.push((ER_TRUNCATED_WRONG_VALUE, format!("Truncated incorrect {form} value: '{shown}'")));
    }
    if reading == Reading::Day && kind == TypeKind::Date && parsed.value != parsed.value.date().at_midnight() {
        warnings.push((ER_TRUNCATED_WRONG_VALUE, format!("Truncated incorrect date value: '{shown}'")));
    }
    warnings.extend(parsed.delimiter.map(|d| d.warning(text, 1)));
    Ok(warnings)
}

/// A number beside a column of a date or time, or a text beside a TIME: as the column would hold it, and the warning if that is not
/// all of it. `None`: it is nothing for the column, and compares as it is.
pub fn held_by_column(
    value: &Value<'_>,
    column: &DataType,
    name: &str,
    mode: SqlMode,
) -> (Option<Value<'static>>, Option<(u16, String)>) {
    let is_text = matches!(value, Value::Bytes(_));
    if value.is_null() || is_text && column.kind != TypeKind::Time {
        return (None, None);
    }
    // Zero dates and days that their month lacks are let in.
    let rules = SqlMode::NO_ZERO_IN_DATE.0 | SqlMode::TIME_TRUNCATE_FRACTIONAL.0;
    let mode = SqlMode(mode.0 & rules | SqlMode::ALLOW_INVALID_DATES.0);
    let context = StoreContext { mode, column: name, row: 1, members: &[] };
    let source = convert::type_of(value);
    let Ok((held, warning)) = types::coerce_for_store(super::reborrow(value), &source, column, &context) else {
        return (None, None);
    };
    let warning = warning.map(|w| {
        let kind = match column.kind {
            TypeKind::Date => "date",
            TypeKind::Time => "time",
            _ => "datetime",
        };
        let shown = String::from_utf8_lossy(&convert::text(value, &source)).into_owned();
        (w.level, (ER_TRUNCATED_WRONG_VALUE, format!("Incorrect {kind} value: '{shown}' for column '{name}' at row 1")))
    });
    match warning {
        None => (Some(held.into_owned()), None),
        Some((Level::Note, told)) => (Some(held.into_owned()), Some(told)),
        Some((_, told)) => (None, Some(told)),
    }
}

static HELD_BY_COLUMN: functions::Function = functions::f("held by column", 1, 1, functions::Rule::First, |a| {
    let v = a.value(0)?;
    Ok(held_by_column(&v, a.ty, "", a.run.evaluation().sql_mode).0.unwrap_or(v))
});

/// The same of what a client gives for `?`: what is nothing for the column is NULL.
static HELD_OR_NULL: functions::Function = functions::f("held by column", 1, 1, functions::Rule::First, |a| {
    let v = a.value(0)?;
    let held = held_by_column(&v, a.ty, "", a.run.evaluation().sql_mode).0;
    Ok(match (held, &v) {
        (Some(held), _) => held,
        (None, Value::Bytes(_)) if a.ty.kind != TypeKind::Time => {
            convert::datetime_in(&v, a.run.evaluation().sql_mode, a.run).map_or(Value::Null, Value::DateTime)
        }
        (None, Value::Bytes(text)) => {
            a.run.push_warning(err!(ER_TRUNCATED_WRONG_VALUE, "time", String::from_utf8_lossy(text)));
            Value::Null
        }
        (None, Value::Int(_) | Value::UInt(_) | Value::Decimal(_) | Value::Double(_)) => {
            let shown = convert::text(&v, &convert::type_of(&v)).into_owned();
            let kind = if a.ty.kind == TypeKind::Time { "time" } else { "datetime" };
            a.run.warn(
                ER_TRUNCATED_WRONG_VALUE,
                format!("Incorrect {kind} value: '{}'", String::from_utf8_lossy(&shown)),
            );
            Value::Null
        }
        (None, _) => v,
    })
});

/// The time of day of a date that stands as a constant beside a TIME column.
pub fn time_beside(e: Expr, other: &Expr) -> Expr {
    let (TypeKind::Time, Node::Column { .. }) = (other.ty.kind, &other.node) else { return e };
    let of_day = match &e.node {
        Node::Const(Value::Date(_)) => types::Time(0),
        Node::Const(Value::DateTime(t)) => t.time().round(other.ty.decimals, false),
        _ => return e,
    };
    Expr::new(Node::Const(Value::Time(of_day)), DataType { length: 10, ..other.ty })
}

/// The column of a date or time among two operands that a constant is brought to.
pub fn temporal_column<'e>(e: &Expr, other: &'e Expr) -> Option<&'e Expr> {
    let column = match &other.node {
        Node::LocalTime(column) => column,
        _ => other,
    };
    // Of a parameter nothing may be known yet.
    let is_unknown = e.ty.kind == TypeKind::Null && matches!(e.node, Node::Param(_) | Node::Neg(_));
    let is_number = e.ty.kind.is_numeric() || is_unknown;
    let takes = match column.ty.kind {
        TypeKind::Date | TypeKind::DateTime | TypeKind::Timestamp => is_number,
        TypeKind::Time => is_number || is_string(e.ty.kind),
        _ => false,
    };
    (takes && matches!(column.node, Node::Column { .. })).then_some(column)
}

/// A parameter as the column would hold it.
pub fn beside_column(e: Expr, column: &DataType, of_client: bool) -> Expr {
    let kind = if column.kind == TypeKind::Timestamp { TypeKind::DateTime } else { column.kind };
    let ty = DataType { kind, nullable: true, ..*column };
    Expr::new(Node::Call(if of_client { &HELD_OR_NULL } else { &HELD_BY_COLUMN }, vec![e]), ty)
}

/// The value of a scalar subquery beside a date or time: MySQL reads it anew, under `sql_mode`.
static MOMENT_OF_SUBQUERY: functions::Function = functions::f("moment", 1, 1, functions::Rule::First, |a| {
    let v = a.value(0)?;
    let date = match &v {
        Value::Date(d) => *d,
        Value::DateTime(t) => t.date(),
        _ => return Ok(v),
    };
    if date.is_allowed(a.run.evaluation().sql_mode) {
        return Ok(v);
    }
    if let Value::DateTime(_) = v {
        let shown = String::from_utf8_lossy(&convert::text(&v, a.ty)).into_owned();
        a.run.warn(ER_TRUNCATED_WRONG_VALUE, format!("Incorrect datetime value: '{shown}'"));
    }
    Ok(Value::Null)
});

/// A YEAR that is looked for among texts alone, none of which is read from a row, is the text of its digits.
pub fn year_in_texts(e: Expr, list: &[Expr]) -> Expr {
    let is_column = e.ty.kind == TypeKind::Year && matches!(e.node, Node::Column { .. });
    if !is_column || !list.iter().all(|e| is_string(e.ty.kind) && e.is_constant()) {
        return e;
    }
    let ty = DataType { nullable: e.ty.nullable, ..DataType::string(TypeKind::VarChar, 4, list[0].ty.collation) };
    Expr::new(Node::Cast(Box::new(e)), ty)
}

/// A subquery's date as a comparison with `other` takes it: a zero date that `sql_mode` does not let in is NULL.
pub fn beside_moment(e: Expr, other: &Expr) -> Expr {
    let is_date = matches!(e.ty.kind, TypeKind::Date | TypeKind::DateTime | TypeKind::Timestamp);
    let are_dates = e.ty.kind == TypeKind::Date && other.ty.kind == TypeKind::Date;
    if !matches!(e.node, Node::Subquery { .. }) || !is_date || are_dates || !other.ty.kind.is_temporal() {
        return e;
    }
    let ty = e.ty;
    Expr::new(Node::Call(&MOMENT_OF_SUBQUERY, vec![e]), ty)
}

/// An exact number that is nearly what a FLOAT(M,D) holds is that: MySQL compares two numbers of so many digits no closer.
static NEAR_FLOAT: functions::Function = functions::f("near_float", 3, 3, functions::Rule::First, |a| {
    let Some(exact) = a.double(0)? else { return Ok(Value::Null) };
    let (Some(held), Some(digits)) = (a.double(1)?, a.int(2)?) else { return Ok(Value::Null) };
    let is_near = (held - exact).abs() < 5.0 / 10f64.powi(digits as i32 + 1);
    Ok(Value::Double(if is_near { held } else { exact }))
});

/// The operand as it is compared with `other`, which may be a FLOAT(M,D).
pub fn near_float(e: Expr, other: &Expr) -> Expr {
    let is_fixed = other.ty.kind == TypeKind::Float && other.ty.decimals < DECIMALS_NOT_FIXED;
    // What is given for `?` is a double, as the column is; a parameter's type may not be known yet.
    let is_given = matches!(e.node, Node::Param(_)) && e.ty.kind == TypeKind::Double && e.ty.nullable;
    let is_exact = e.ty.kind.is_integer() || matches!(e.ty.kind, TypeKind::Decimal | TypeKind::Null);
    let is_literal = |e: &Expr| matches!(e.node, Node::Const(_) | Node::Param(_));
    let is_signed = matches!(&e.node, Node::Neg(literal) if is_literal(literal));
    if !is_fixed || !(is_literal(&e) || is_signed) || !(is_given || is_exact) {
        return e;
    }
    let digits = if is_given { other.ty.decimals } else { other.ty.decimals.max(e.ty.decimals) };
    let mut held = e.clone();
    hold_as_float(&mut held, &other.ty);
    let ty = DataType { nullable: e.ty.nullable, ..DataType::new(TypeKind::Double) };
    Expr::new(Node::Call(&NEAR_FLOAT, vec![e, held, Expr::int(digits.into())]), ty)
}

/// What [`near_float`] stands around.
pub fn not_near(e: &Expr) -> &Expr {
    match &e.node {
        Node::Call(f, args) if std::ptr::eq(*f, &NEAR_FLOAT) => &args[0],
        _ => e,
    }
}

/// A literal that is compared with a FLOAT(M,D), as that column would hold it.
pub fn hold_as_float(e: &mut Expr, column: &types::DataType) {
    let value = std::mem::replace(e, Expr::null());
    let ty = types::DataType { length: 12, nullable: value.ty.nullable, ..*column };
    *e = Expr::new(Node::Cast(Box::new(value)), ty);
}

/// Characters of the longest time.
const TIME_TEXT_MAX: u32 = 17;

/// A time beside a string, as which it is compared: with all the digits behind the point that its type has.
pub fn time_as_text(e: Expr, other: &Expr) -> Expr {
    let has_digits = e.ty.kind == TypeKind::Time && (1..DECIMALS_NOT_FIXED).contains(&e.ty.decimals);
    // What stands for `?` takes the type of a time (a literal that was lifted is never NULL), and a column compares as one with
    // what is known before its rows are.
    let is_known = other.is_constant() || matches!(other.node, Node::Subquery { .. });
    let takes_type = matches!(other.node, Node::Param(_)) && other.ty.nullable;
    let as_time = takes_type || matches!(e.node, Node::Column { .. }) && is_known;
    if !has_digits || !is_string(other.ty.kind) || as_time {
        return e;
    }
    let ty = DataType::string(TypeKind::VarChar, TIME_TEXT_MAX, other.ty.collation);
    let ty = DataType { nullable: e.ty.nullable, ..ty };
    Expr::new(Node::Cast(Box::new(e)), ty)
}

/// Is it read as a year where it stands beside a column of these: a constant, if it begins with a number, or an expression of constants?
fn is_year_value(e: &Expr) -> bool {
    if let Node::Const(Value::Bytes(text)) = &e.node {
        return types::number::parse_integer(text).1 > 0;
    }
    let reads = |e: &Expr| matches!(e.node, Node::Column { .. } | Node::Subquery { .. } | Node::UserVariable(_));
    matches!(e.node, Node::Const(_) | Node::Param(_)) || e.is_constant() && !e.any(&mut |e| reads(e))
}

/// A constant to compare with `other` in the form that compares fastest: a string literal beside a temporal column becomes
/// a temporal once, at planning.
pub fn adapt(e: Expr, other: &Expr) -> Expr {
    if is_given(&e) { adapt_member(e, other) } else { adapt_equal(e, other) }
}

/// The same of one that is to be equal: only there what a client gives for `?` is a year, as long as its type is.
pub fn adapt_equal(e: Expr, other: &Expr) -> Expr {
    let e = if is_number(other) { convert::number_of_long(convert::enum_number(e)) } else { e };
    let is_other_type = is_given(&e) && e.ty.kind != TypeKind::Year;
    if other.ty.kind == TypeKind::Year
        && matches!(other.node, Node::Column { .. })
        && is_year_value(&e)
        && !is_other_type
    {
        return functions::as_year(e);
    }
    adapt_member(e, other)
}

/// Does `?` stand for it, and not a literal that was lifted, which is never NULL?
fn is_given(e: &Expr) -> bool {
    matches!(e.node, Node::Param(_)) && e.ty.nullable
}

/// The same, but for years of two digits.
pub fn adapt_member(e: Expr, other: &Expr) -> Expr {
    let e = if is_number(other) { convert::number_of_long(convert::enum_number(e)) } else { e };
    if !matches!(other.ty.kind, TypeKind::Date | TypeKind::DateTime | TypeKind::Timestamp) {
        return e;
    }
    let are_of_rows = matches!(e.node, Node::Column { .. }) && !other.is_constant();
    if e.ty.kind == TypeKind::Year && are_of_rows {
        return moment::of_year(e);
    }
    match &e.node {
        Node::Const(Value::Bytes(b)) => match types::temporal::parse::parse_datetime(b, convert::LENIENT) {
            Some(p) if !p.zoned => Expr {
                node: Node::Const(Value::DateTime(p.value)),
                ty: types::DataType { decimals: 6, ..types::DataType::new(TypeKind::DateTime) },
            },
            _ => e,
        },
        // What stands for a literal is read once.
        Node::Const(_) | Node::Param(_) => e,
        _ if is_string(e.ty.kind) && e.ty.kind != TypeKind::Json => moment::beside(e, other),
        _ => e,
    }
}
