//! Values brought to the type of the column that they are stored in.

use crate::{Execution, Expr, Node, convert, operand, reborrow};
use catalog::{Column, ColumnDefault, Table};
use types::codes::*;
use types::temporal::parse::delimiter_of;
use types::{DataType, Date, DateTime, Decimal, Result, SqlError, SqlMode, StoreContext, Time, TypeKind, Value, err};

/// How problems of values are taken.
#[derive(Clone, Copy, Debug)]
pub struct Strictness {
    pub mode: SqlMode,
    /// IGNORE, or not strict: problems are warnings.
    pub lenient: bool,
    /// A single-row INSERT refuses NULL for NOT NULL also when not strict.
    pub null_is_error: bool,
    /// An INSERT of one row: that error is 1048 of documents, too.
    pub names_null: bool,
}

impl Strictness {
    /// Of a statement that writes rows: IGNORE, and whether it writes one row alone.
    pub fn new(run: &dyn Execution, ignore: bool, single_row: bool) -> Strictness {
        let strict = run.evaluation().sql_mode.is_strict() && !ignore;
        let mut mode = run.evaluation().sql_mode;
        if ignore {
            mode = SqlMode(mode.0 & !(SqlMode::STRICT_TRANS_TABLES.0 | SqlMode::STRICT_ALL_TABLES.0));
        }
        Strictness {
            mode,
            lenient: !strict,
            null_is_error: strict || (single_row && !ignore),
            names_null: single_row && !ignore,
        }
    }
}

/// Converts a value for a column: its type, range, length, NULL. Error 1048 and those of [`store_nullable`].
pub fn store<'v>(
    v: Value<'v>,
    source: &DataType,
    c: &Column,
    row: u64,
    how: Strictness,
    run: &dyn Execution,
) -> Result<Value<'v>> {
    match store_nullable(v, source, c, row, how, run)? {
        Value::Null if !c.data_type.nullable => null_value(c, false, how, run),
        v => Ok(v),
    }
}

/// The value of an expression for a column. A computed document that is NULL where it cannot be counts as cut off: error 1265.
pub fn computed<'v>(
    v: Value<'v>,
    e: &Expr,
    c: &Column,
    row: u64,
    how: Strictness,
    run: &dyn Execution,
) -> Result<Value<'v>> {
    let is_document = |kind| kind == TypeKind::Json;
    if !v.is_null() || !is_document(e.ty.kind) || !is_document(c.data_type.kind) || c.data_type.nullable {
        return Ok(v);
    }
    if how.names_null || matches!(e.node, Node::Column { .. }) {
        return Ok(v);
    }
    let message = format!("Data truncated for column '{}' at row {row}", c.name);
    if !how.lenient {
        return Err(SqlError::new(WARN_DATA_TRUNCATED, message));
    }
    run.warn(WARN_DATA_TRUNCATED, message);
    Ok(implicit_default(&c.data_type))
}

/// What a column that cannot be NULL holds in its place: zero, with a warning unless it was `told`. Error 1048.
#[cold]
pub fn null_value<'v>(c: &Column, told: bool, how: Strictness, run: &dyn Execution) -> Result<Value<'v>> {
    if how.null_is_error || !told {
        let message = format!("Column '{}' cannot be null", c.name);
        if how.null_is_error {
            return Err(SqlError::new(ER_BAD_NULL_ERROR, message));
        }
        run.warn(ER_BAD_NULL_ERROR, message);
    }
    Ok(match c.data_type.kind {
        TypeKind::Enum => Value::UInt(0),
        _ => implicit_default(&c.data_type),
    })
}

/// Converts a value for a column: its type, range, length. NULL stays, also where the column cannot be.
pub fn store_nullable<'v>(
    v: Value<'v>,
    source: &DataType,
    c: &Column,
    row: u64,
    how: Strictness,
    run: &dyn Execution,
) -> Result<Value<'v>> {
    run.check_strict()?;
    if v.is_null() {
        if c.data_type.nullable {
            return Ok(Value::Null);
        }
        if c.data_type.kind == TypeKind::Timestamp && run.variable("explicit_defaults_for_timestamp") == 0 {
            let now = convert::now(run, c.data_type.decimals);
            return store(now, &DataType { decimals: 6, ..DataType::new(TypeKind::DateTime) }, c, row, how, run);
        }
        return Ok(Value::Null);
    }
    // An integer in its own range needs no conversion.
    if let (Value::Int(i), false) = (&v, c.data_type.unsigned)
        && c.data_type.kind.is_integer()
    {
        let (low, high) = c.data_type.integer_bounds();
        if *i >= low && *i <= high as i64 {
            return Ok(v);
        }
    }
    let v = digits_for_text(v, source.kind, c.data_type.kind);
    if c.data_type.kind.is_temporal()
        && let Value::Bytes(text) = &v
        && let Some(delimiter) = delimiter_of(text, c.data_type.kind == TypeKind::Time, how.mode)
    {
        let (code, message) = delimiter.warning(text, row);
        run.warn(code, message);
    }
    let context = StoreContext { mode: how.mode, column: &c.name, row, members: &c.members };
    let v = match (c.data_type.kind, &v) {
        (TypeKind::Date | TypeKind::DateTime | TypeKind::Timestamp, Value::Time(t)) => {
            let (moment, note) = convert::moment_of_today(*t, &c.data_type, &context, run);
            note.into_iter().for_each(|note| tell(note, run));
            moment
        }
        (TypeKind::Date | TypeKind::DateTime | TypeKind::Timestamp, _) => in_session_zone(v, c, row, how, run),
        _ => v,
    };
    let source = convert::source_type(source, &v);
    let given = match &v {
        Value::DateTime(_) => None,
        given if c.data_type.kind == TypeKind::Timestamp => Some(convert::text(given, &source).into_owned()),
        _ => None,
    };
    let is_number = matches!(v, Value::Int(_) | Value::UInt(_) | Value::Decimal(_) | Value::Double(_));
    let no_bits = match &v {
        Value::Decimal(d) if c.data_type.kind == TypeKind::Bit => d.round(0).to_u64().err(),
        // A hexadecimal literal that is longer than any integer; of fewer bits the column itself tells.
        Value::Bytes(b) if c.data_type.kind == TypeKind::Bit && source.unsigned && b.len() > 8 => {
            Some(u64::MAX).filter(|_| c.data_type.length >= u64::BITS)
        }
        _ => None,
    };
    let (v, warning) = types::coerce_for_store(v, &source, &c.data_type, &context)?;
    match warning {
        Some(w) if c.data_type.kind == TypeKind::Bit => tell_of_bits(w, no_bits, c, row, run),
        Some(w) => tell(w, run),
        None => {}
    }
    match (&v, c.data_type.kind) {
        (Value::DateTime(t), TypeKind::Timestamp) => timestamp(*t, (given.as_deref(), is_number), c, row, how, run),
        _ => Ok(v),
    }
}

/// What did not fit into a BIT. `no_bits`: what a number that is no unsigned integer was taken for, of which MySQL warns before it
/// looks at how many bits that has.
#[cold]
fn tell_of_bits(w: types::error::Warning, no_bits: Option<u64>, c: &Column, row: u64, run: &dyn Execution) {
    if no_bits.is_some() {
        tell(w.clone(), run);
    }
    if no_bits == Some(0) || no_bits.is_some() && c.data_type.length >= u64::BITS {
        return;
    }
    // A strict mode warns only under IGNORE: MySQL's BIT asks the mode itself.
    let is_strict = run.evaluation().sql_mode.is_strict();
    let too_long = || format!("Data too long for column '{}' at row {row}", c.name);
    tell(if is_strict { types::error::Warning { code: ER_DATA_TOO_LONG, message: too_long(), ..w } } else { w }, run);
}

/// Says a warning of a value that is being stored.
#[cold]
pub fn tell(w: types::error::Warning, run: &dyn Execution) {
    run.evaluation().warnings.set(run.evaluation().warnings.get() + 1);
    run.session().warn(w.level.name(), w.code, w.message);
}

/// A text that names its distance from UTC as a local moment, for a column of dates; others stay.
fn in_session_zone<'v>(v: Value<'v>, c: &Column, row: u64, how: Strictness, run: &dyn Execution) -> Value<'v> {
    let Some(local) = convert::zoned_text(&v, how.mode, run) else { return v };
    if c.data_type.kind != TypeKind::Date {
        return Value::DateTime(local);
    }
    if local != local.date().at_midnight()
        && let Value::Bytes(text) = &v
    {
        let text = String::from_utf8_lossy(text);
        let message = format!("Incorrect date value: '{text}' for column '{}' at row {row}", c.name);
        run.evaluation().warnings.set(run.evaluation().warnings.get() + 1);
        run.session().warn("Note", ER_TRUNCATED_WRONG_VALUE, message);
    }
    Value::Date(local.date())
}

/// A local time for a TIMESTAMP column, which holds UTC. Error 1292 (a warning and the zero date, unless strict) outside of its
/// range.
/// `given`: the text that it was read from, or that of a number.
fn timestamp(
    t: DateTime,
    (given, is_number): (Option<&[u8]>, bool),
    c: &Column,
    row: u64,
    how: Strictness,
    run: &dyn Execution,
) -> Result<Value<'static>> {
    let is_partial = !t.date().is_zero() && (t.date().month() == 0 || t.date().day() == 0);
    if !is_partial && let Some(t) = convert::to_utc(t, run) {
        return Ok(Value::DateTime(t));
    }
    if how.mode.is_strict() {
        let read = Value::DateTime(t);
        let shown = given.map_or_else(|| convert::text(&read, &c.data_type), |text| text.into());
        let shown = String::from_utf8_lossy(&shown);
        let message = format!("Incorrect datetime value: '{shown}' for column '{}' at row {row}", c.name);
        return Err(SqlError::new(ER_TRUNCATED_WRONG_VALUE, message));
    }
    run.push_warning(match is_partial && is_number {
        true => err!(WARN_DATA_TRUNCATED, c.name, row),
        false => err!(ER_WARN_DATA_OUT_OF_RANGE, c.name, row),
    });
    Ok(implicit_default(&c.data_type))
}

/// A BIT or a YEAR that a column of short strings takes is the digits of its number.
fn digits_for_text<'v>(v: Value<'v>, from: TypeKind, to: TypeKind) -> Value<'v> {
    use TypeKind::{Binary, Bit, Char, VarBinary, VarChar, Year};
    match v {
        Value::UInt(n) if matches!((from, to), (Bit | Year, Char | VarChar | Binary | VarBinary)) => {
            Value::Bytes(n.to_string().into_bytes().into())
        }
        v => v,
    }
}

/// A column, or a variable of a program, that another one takes as it is: of an ENUM or a SET the number where that is one of
/// numbers, and of a DATETIME the number of
/// its digits where it is a YEAR.
pub fn column_into(e: Expr, to: TypeKind) -> Expr {
    if !matches!(e.raw(), Node::Column { .. } | Node::Local(..)) {
        return e;
    }
    match &e.node {
        Node::EnumText(..) | Node::SetText(..) if to.is_numeric() => operand::enum_number(e),
        _ if to == TypeKind::Year && matches!(e.ty.kind, TypeKind::DateTime | TypeKind::Timestamp) => {
            let ty = DataType { length: 21, nullable: e.ty.nullable, ..DataType::new(TypeKind::BigInt) };
            Expr::new(Node::Cast(Box::new(e)), ty)
        }
        _ => e,
    }
}

/// The error of bad JSON names the table too.
#[cold]
pub fn named(e: SqlError, table: &Table) -> SqlError {
    match e.code {
        types::error::ER_INVALID_JSON_TEXT => {
            SqlError::new(e.code, e.message.replacen("for column '", &format!("for column '{}.", table.name), 1))
        }
        _ => e,
    }
}

/// The value of a column that an INSERT names no value for.
pub fn default_value<'v>(c: &'v Column, how: Strictness, run: &dyn Execution) -> Result<Value<'v>> {
    match &c.default {
        // A placeholder: the rules put the value there when the row is encoded.
        _ if c.generated.is_some() => Ok(placeholder(&c.data_type)),
        ColumnDefault::Expression(_) => Ok(placeholder(&c.data_type)),
        // A TIMESTAMP's is in UTC, as the column.
        ColumnDefault::Value(v) => Ok(reborrow(v)),
        ColumnDefault::Now => {
            let now = convert::now(run, c.data_type.decimals);
            store(now, &DataType { decimals: 6, ..DataType::new(TypeKind::DateTime) }, c, 1, how, run)
        }
        ColumnDefault::None if c.auto_increment => Ok(Value::Null),
        // Whose default was dropped has none, even where it may be NULL.
        ColumnDefault::None => {
            if c.data_type.kind == TypeKind::Enum {
                return Ok(placeholder(&c.data_type));
            }
            let message = format!("Field '{}' doesn't have a default value", c.name);
            if !how.lenient {
                return Err(SqlError::new(ER_NO_DEFAULT_FOR_FIELD, message));
            }
            run.warn(ER_NO_DEFAULT_FOR_FIELD, message);
            Ok(placeholder(&c.data_type))
        }
    }
}

/// What stands for a value of that type that nobody has given yet.
pub fn placeholder(t: &DataType) -> Value<'static> {
    if t.nullable { Value::Null } else { implicit_default(t) }
}

/// What MySQL stores where there is no value: zero, the empty string, the zero date.
pub fn implicit_default(t: &DataType) -> Value<'static> {
    use TypeKind as K;
    match t.kind {
        K::Null => Value::Null,
        K::Enum => Value::UInt(1),
        K::Bit | K::Set | K::Year => Value::UInt(0),
        K::Json => Value::from_json(&types::json::Json::Null),
        k if k.is_integer() => {
            if t.unsigned {
                Value::UInt(0)
            } else {
                Value::Int(0)
            }
        }
        K::Decimal => Value::Decimal(Decimal::ZERO.round(t.decimals)),
        K::Float | K::Double => Value::Double(0.0),
        K::Date => Value::Date(Date::ZERO),
        K::Time => Value::Time(Time(0)),
        K::DateTime | K::Timestamp => Value::DateTime(DateTime::ZERO),
        K::Binary => Value::Bytes(vec![0; t.length as usize].into()),
        _ => Value::Bytes(Vec::new().into()),
    }
}
