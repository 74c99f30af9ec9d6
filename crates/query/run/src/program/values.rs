//! Values on their way between expressions and variables.

use crate::Run;
use crate::context::{Env, RowSink};
use catalog::Column;
use engine::Transaction;
use expr::Execution;
use expr::Strictness;
use expr::store::store_nullable;
use expr::{convert, member_text};
use plan::ColumnMeta;
use types::{DataType, Result, TypeKind, Value};

/// The only row of a part that has one.
#[derive(Default)]
pub struct Row(pub Option<Vec<Value<'static>>>);

impl RowSink for Row {
    fn columns(&mut self, _: &[ColumnMeta]) -> Result<()> {
        Ok(())
    }

    fn row(&mut self, values: &[Value<'_>]) -> Result<()> {
        self.0 = Some(values.iter().map(|v| v.clone().into_owned()).collect());
        Ok(())
    }
}

/// The value as a variable holds it: as a column of its type would. Errors 1264, 1265, 1366, 1406, ... under a strict mode.
pub fn assign(
    tx: &mut Transaction,
    env: &mut dyn Env,
    value: Value<'_>,
    source: &DataType,
    column: &Column,
) -> Result<Value<'static>> {
    if fits(&value, column) {
        return Ok(value.into_owned());
    }
    let run = Run::new(tx, env, &[], &[]);
    stored(value, source, column, &run).map(Value::into_owned)
}

/// The same of an argument of a function, in this row of a statement, which conditions name; `lenient`: whatever the mode.
pub(super) fn assign_argument(
    tx: &mut Transaction,
    env: &mut dyn Env,
    value: Value<'_>,
    source: &DataType,
    column: &Column,
    (row, lenient): (u64, bool),
) -> Result<Value<'static>> {
    let run = Run::new(tx, env, &[], &[]);
    let how = Strictness::new(&run, lenient, false);
    run.evaluation.strict.set(!how.lenient);
    let stored = store_nullable(value, source, column, row, how, &run)?;
    run.check_strict()?;
    Ok(stored.into_owned())
}

/// Is it an integer, or NULL, that the column holds as it is?
#[inline]
pub(super) fn fits(value: &Value<'_>, column: &Column) -> bool {
    let ty = &column.data_type;
    match value {
        Value::Null => true,
        Value::Int(n) => !ty.unsigned && ty.holds_integer(*n),
        _ => false,
    }
}

/// The same while an expression is evaluated.
pub(crate) fn stored<'v>(v: Value<'v>, source: &DataType, column: &Column, run: &Run<'_>) -> Result<Value<'v>> {
    if fits(&v, column) {
        return Ok(v);
    }
    let how = Strictness::new(run, false, false);
    run.evaluation.strict.set(!how.lenient);
    let stored = store_nullable(v, source, column, 1, how, run)?;
    run.check_strict()?;
    Ok(stored)
}

/// A variable's value as an expression reads it.
pub(super) fn read(
    tx: &mut Transaction,
    env: &mut dyn Env,
    value: &Value<'static>,
    column: &Column,
) -> (Value<'static>, DataType) {
    let ty = column.data_type;
    let value = match (ty.kind, value) {
        (TypeKind::Enum | TypeKind::Set, v) => member_text(v.clone(), ty, &column.members).into_owned(),
        (TypeKind::Timestamp, Value::DateTime(t)) => {
            Value::DateTime(convert::from_utc(*t, &Run::new(tx, env, &[], &[])))
        }
        (_, v) => v.clone(),
    };
    (value, ty)
}

/// The same where another variable takes it: of an ENUM or SET the number, if that is one of numbers.
pub(super) fn read_for(
    to: &Column,
    tx: &mut Transaction,
    env: &mut dyn Env,
    value: &Value<'static>,
    column: &Column,
) -> (Value<'static>, DataType) {
    let is_member = matches!(column.data_type.kind, TypeKind::Enum | TypeKind::Set);
    match is_member && to.data_type.kind.is_numeric() {
        true => (value.clone(), DataType::new(TypeKind::BigInt).unsigned()),
        false => read(tx, env, value, column),
    }
}
