//! The value of an AUTO_INCREMENT column.

use super::Progress;
use crate::Run;
use catalog::{Table, error};
use expr::store;
use types::codes::*;
use types::sql_mode::SqlMode;
use types::{DataType, Result, Value, err};

/// Most AUTO_INCREMENT values that are reserved at a time.
const BATCH_MAX: u64 = 65_535;

/// The value of the AUTO_INCREMENT column: generated for NULL and 0, else the given one.
pub(crate) fn auto_increment<'v>(
    table: &Table,
    v: Value<'v>,
    ty: &DataType,
    i: usize,
    p: &mut Progress,
    run: &Run<'_>,
) -> Result<Value<'v>> {
    let v = store::store_nullable(v, ty, &table.columns[i], p.row, p.how, run)?;
    number(table, v, i, p, run)
}

/// As [`next_or_given`]; a column that was declared NULL keeps its NULL, with a number that is used up.
pub(crate) fn number<'v>(table: &Table, v: Value<'v>, i: usize, p: &mut Progress, run: &Run<'_>) -> Result<Value<'v>> {
    let stays_null = v.is_null() && table.columns[i].data_type.nullable;
    let number = next_or_given(table, v, i, p, run)?;
    Ok(if stays_null { Value::Null } else { number })
}

/// The value of the AUTO_INCREMENT column for a row: generated for NULL and 0, else the one given, as the column holds it.
fn next_or_given<'v>(table: &Table, v: Value<'v>, i: usize, p: &mut Progress, run: &Run<'_>) -> Result<Value<'v>> {
    let c = &table.columns[i];
    let counter = table.auto_increment.as_ref().expect("an AUTO_INCREMENT column has a counter");
    if p.has_reserved {
        p.rows = p.rows.saturating_sub(1);
    }
    if !v.is_null() {
        let number = v.to_i64();
        let zero = if c.data_type.unsigned { v.to_u64() == 0 } else { number == 0 };
        if !zero || run.evaluation.sql_mode.has(SqlMode::NO_AUTO_VALUE_ON_ZERO) {
            let given = number;
            let number = v.to_u64();
            let (_, max) = c.data_type.integer_bounds();
            p.given = if (c.data_type.unsigned || given > 0) && number <= max { number } else { 0 };
            p.last_value = if c.data_type.unsigned { number } else { given as u64 };
            return Ok(v);
        }
    }
    if p.reserved.1 == 0 {
        let given = if p.generated_any { 0 } else { run.env.borrow_mut().take_insert_id() };
        p.generated_any = true;
        if given != 0 {
            p.given = given;
            p.reserved = (given, 1, 1);
            // The rows behind it take portions as if this were one.
            p.has_reserved = true;
        }
    }
    if p.reserved.1 == 0 && table.counts_in_groups() {
        p.counts_in_group = true;
        return Ok(if c.data_type.unsigned { Value::UInt(0) } else { Value::Int(0) });
    }
    if p.reserved.1 == 0 && !table.engine.is_transactional() {
        // Nobody else writes the table: what no row has is handed out again.
        let (step, offset) = run.env.borrow().auto_increment_step();
        let (_, max) = c.data_type.integer_bounds();
        let last = (!run.evaluation.sql_mode.is_strict()).then_some(max);
        let next = counter.peek(run.env.borrow().engine(), step, offset, max).map_err(error::engine)?;
        p.reserved = (next.or(last).ok_or_else(|| err!(ER_AUTOINC_READ_FAILED))?, 1, step);
        p.counts_on_write = true;
    }
    if p.reserved.1 == 0 {
        let env = run.env.borrow();
        let (step, offset) = env.auto_increment_step();
        let (_, max) = c.data_type.integer_bounds();
        let wanted = if p.rows > 0 { p.rows } else { p.batch };
        p.has_reserved = true;
        p.batch = (p.batch * 2).min(BATCH_MAX);
        let first = counter.reserve(env.engine(), wanted, step, offset, max).map_err(error::engine)?;
        p.reserved = (first.ok_or_else(|| err!(ER_AUTOINC_READ_FAILED))?, wanted, step);
    }
    if p.reserved.0 > c.data_type.integer_bounds().1 {
        return Err(err!(ER_AUTOINC_READ_FAILED));
    }
    let value = p.reserved.0;
    p.reserved = (value.saturating_add(p.reserved.2), p.reserved.1 - 1, p.reserved.2);
    p.generated = value;
    p.last_value = value;
    Ok(if c.data_type.unsigned { Value::UInt(value) } else { Value::Int(value as i64) })
}
