//! How an operand of a comparison is read beside the other one: literals as dates, numbers as years, what a column would hold.

use crate::compare::is_number;
use crate::convert::is_string;
use crate::function::{Function, Rule, unlisted};
use crate::{Expr, Node, convert, moment, operand, reborrow};
use types::codes::*;
use types::datatype::DECIMALS_NOT_FIXED;
use types::error::Level;
use types::store::StoreContext;
use types::temporal::parse::{self, Problem};
use types::{DataType, Result, SqlError, SqlMode, TypeKind, Value, err};

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

/// The check of a text that is constant and no literal, which stands beside a date: asked once, before any row is. Errors as those of
/// [`check_temporal`].
pub fn checked_moment(text: Expr, kind: TypeKind, stored: bool) -> Expr {
    static CHECKED: Function = unlisted("checked moment", 3, 3, Rule::Int(1), |a| {
        let Value::Bytes(text) = a.value(0)? else { return Ok(Value::Null) };
        let kind = match a.int(1)? {
            Some(0) => TypeKind::Date,
            Some(1) => TypeKind::DateTime,
            _ => TypeKind::Timestamp,
        };
        let reading = if a.int(2)? == Some(1) { Reading::Stored } else { Reading::Strict };
        check_temporal(&Value::Bytes(text), kind, "", a.run.evaluation().sql_mode, reading)?;
        Ok(Value::Int(1))
    });
    let code = match kind {
        TypeKind::Date => 0,
        TypeKind::DateTime => 1,
        TypeKind::Timestamp => 2,
        // Others are read otherwise.
        _ => return text,
    };
    let args = vec![text, Expr::int(code), Expr::int(stored.into())];
    Expr::new(Node::Call(&CHECKED, args), DataType { length: 1, ..DataType::new(TypeKind::BigInt) })
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
    if value.is_null() || is_text && (column.kind != TypeKind::Time || matches!(value, Value::Bytes(b) if b.is_empty()))
    {
        return (None, None);
    }
    // Zero dates and days that their month lacks are let in.
    let rules = SqlMode::NO_ZERO_IN_DATE.0 | SqlMode::TIME_TRUNCATE_FRACTIONAL.0;
    let mode = SqlMode(mode.0 & rules | SqlMode::ALLOW_INVALID_DATES.0);
    let context = StoreContext { mode, column: name, row: 1, members: &[] };
    let source = convert::type_of(value);
    let Ok((held, warning)) = types::coerce_for_store(reborrow(value), &source, column, &context) else {
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

static HELD_BY_COLUMN: Function = unlisted("held by column", 1, 1, Rule::First, |a| {
    let v = a.value(0)?;
    Ok(held_by_column(&v, a.ty, "", a.run.evaluation().sql_mode).0.unwrap_or(v))
});

/// A bound of BETWEEN beside a column of dates or times, whose type the first argument has: what is nothing for the column is an integer.
static INTEGER_OF_BOUND: Function = unlisted("integer of bound", 2, 2, Rule::Int(21), |a| {
    let v = a.value(1)?;
    let mode = SqlMode(a.run.evaluation().sql_mode.0 & SqlMode::TIME_TRUNCATE_FRACTIONAL.0 | convert::LENIENT.0);
    let context = StoreContext { mode, column: "", row: 1, members: &[] };
    let held = types::coerce_for_store(reborrow(&v), &convert::type_of(&v), &a.args[0].ty, &context);
    Ok(match (held, &v) {
        (_, Value::Null) => Value::Null,
        (Ok((held, warning)), _) if warning.as_ref().is_none_or(|w| w.level == Level::Note) => {
            Value::Int(held.to_i64())
        }
        (_, Value::Bytes(text)) => Value::Int(integer_of(text, a.run)),
        (_, v) => Value::Int(v.to_i64()),
    })
});

fn integer_of(text: &[u8], run: &dyn crate::Execution) -> i64 {
    convert::integer_of_text(text, (i64::MIN.into(), i64::MAX.into()), run) as i64
}

/// The text as an integer beside the column of dates or times that has the type `beside`.
pub fn integer_of_bound(e: Expr, beside: &DataType) -> Expr {
    let nullable = e.ty.nullable;
    let of_type = Expr::new(Node::Const(Value::Null), *beside);
    let ty = DataType { length: 21, nullable, ..DataType::new(TypeKind::BigInt) };
    Expr::new(Node::Call(&INTEGER_OF_BOUND, vec![of_type, e]), ty)
}

/// What stands for a literal as a bound of BETWEEN: as the column holds it, or an integer.
static HELD_OR_INTEGER: Function = unlisted("held by column", 1, 1, Rule::First, |a| {
    let v = a.value(0)?;
    match (held_by_column(&v, a.ty, "", a.run.evaluation().sql_mode).0, &v) {
        (Some(held), _) => Ok(held),
        (None, Value::Bytes(text)) => Ok(Value::Int(integer_of(text, a.run))),
        (None, _) => Ok(v),
    }
});

/// A bound that [`beside_column`] has made of what stands for a literal.
pub fn held_or_integer(e: Expr, column: &DataType) -> Expr {
    match e.node {
        Node::Call(f, args) if std::ptr::eq(f, &HELD_BY_COLUMN) && column.kind == TypeKind::Time => {
            Expr::new(Node::Call(&HELD_OR_INTEGER, args), e.ty)
        }
        node => Expr::new(node, e.ty),
    }
}

/// The same of what a client gives for `?`: what is nothing for the column is NULL.
static HELD_OR_NULL: Function = unlisted("held by column", 1, 1, Rule::First, |a| {
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
static MOMENT_OF_SUBQUERY: Function = unlisted("moment", 1, 1, Rule::First, |a| {
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
static NEAR_FLOAT: Function = unlisted("near_float", 3, 3, Rule::First, |a| {
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
    let e = if is_number(other) { operand::number_of_long(operand::enum_number(e)) } else { e };
    let is_other_type = is_given(&e) && e.ty.kind != TypeKind::Year;
    if other.ty.kind == TypeKind::Year
        && matches!(other.node, Node::Column { .. })
        && is_year_value(&e)
        && !is_other_type
    {
        return as_year(e);
    }
    adapt_member(e, other)
}

/// Does `?` stand for it, and not a literal that was lifted, which is never NULL?
fn is_given(e: &Expr) -> bool {
    matches!(e.node, Node::Param(_)) && e.ty.nullable
}

/// The same, but for years of two digits.
pub fn adapt_member(e: Expr, other: &Expr) -> Expr {
    let e = if is_number(other) { operand::number_of_long(operand::enum_number(e)) } else { e };
    if !matches!(other.ty.kind, TypeKind::Date | TypeKind::DateTime | TypeKind::Timestamp) {
        return e;
    }
    let are_of_rows = matches!(e.node, Node::Column { .. }) && !other.is_constant();
    if e.ty.kind == TypeKind::Year && are_of_rows {
        return moment::of_year(e);
    }
    match &e.node {
        Node::Const(Value::Bytes(b)) => match parse::parse_datetime(b, convert::LENIENT) {
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

/// The value that a YEAR is compared with: as the column would store it, but for what it could not.
static YEAR_FUNCTION: Function = unlisted("year", 1, 1, Rule::Int(5), |a| {
    let v = a.value(0)?;
    Ok(match (&v, v.to_i64()) {
        (Value::Null, _) => Value::Null,
        (Value::Date(date), _) => Value::Int(date.year().into()),
        (Value::DateTime(moment), _) => Value::Int(moment.date().year().into()),
        // A text that begins with no number is that number 0, and no year.
        (Value::Bytes(b), _) if types::number::parse_integer(b).1 == 0 => {
            convert::warn_truncated_double(b, a.run);
            Value::Int(0)
        }
        (Value::Bytes(b), 0) if b.len() < 4 => Value::Int(2000),
        (_, n @ 1..=99) => Value::Int(types::temporal::parse::full_year(n as u32) as i64),
        (_, n) => Value::Int(n),
    })
});

/// A constant beside a YEAR.
pub fn as_year(e: Expr) -> Expr {
    let ty = DataType { length: 5, nullable: true, ..DataType::new(TypeKind::BigInt) };
    Expr::new(Node::Call(&YEAR_FUNCTION, vec![e]), ty)
}
