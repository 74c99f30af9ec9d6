//! What a table's definition says of its rows: defaults, numbers, expressions.

use crate::fill::{ALL, newest};
use catalog::error;
use catalog::{Changes, Table, Version};
use engine::{Cursor, Direction, Transaction};
use expr::{Strictness, store};
use plan::stored::planned;
use run::rules::RuleSet;
use run::{Env, Run};
use std::sync::Arc;
use types::{DataType, Result, Value, key};

/// What rows get for columns that are added to them: their defaults now.
pub fn initial_values<'c>(
    tx: &mut Transaction,
    env: &mut dyn Env,
    columns: impl Iterator<Item = &'c catalog::Column>,
) -> Result<Vec<Value<'static>>> {
    let run = Run::new(tx, env, &[], &[]);
    let how = Strictness::new(&run, false, false);
    let value = |c: &catalog::Column| match &c.default {
        catalog::ColumnDefault::Value(v) => Ok(v.clone()),
        catalog::ColumnDefault::Now => Ok(store::default_value(c, how, &run)?.into_owned()),
        catalog::ColumnDefault::None => Ok(store::placeholder(&c.data_type)),
        catalog::ColumnDefault::Expression(_) => {
            unreachable!("rows are written for a default that is computed for each")
        }
    };
    columns.map(value).collect()
}

/// Has the table no row? Nobody writes it meanwhile.
pub fn is_empty(tx: &mut Transaction, table: &Table) -> Result<bool> {
    let mut scan = Cursor::new(table.indexes[0].tree, ALL, Direction::Forward, newest(tx), 1);
    Ok(scan.next(tx).map_err(error::engine)?.is_none())
}

/// The largest value of the table's AUTO_INCREMENT column, 0 when it has none above that. Nobody writes the table meanwhile.
pub fn largest_number(tx: &mut Transaction, table: &Table) -> Result<u64> {
    let Some(counter) = &table.auto_increment else { return Ok(0) };
    let column = table.columns.iter().find(|c| c.auto_increment).expect("the counter's column");
    let starts = |i: &catalog::Index| i.tree == counter.tree;
    let index = table.indexes.iter().find(|i| starts(i)).expect("an index counts the column");
    if table.counts_in_groups() {
        return Ok(0);
    }
    let backward = !index.parts[0].key.descending;
    let direction = if backward { Direction::Backward } else { Direction::Forward };
    let mut scan = Cursor::new(index.tree, ALL, direction, newest(tx), 1);
    let Some(entry) = scan.next(tx).map_err(error::engine)? else { return Ok(0) };
    let part = &index.parts[0].key;
    let value = key::decode_part(&mut &entry.key[..], part);
    let value = value.ok_or_else(|| error::engine(engine::Error::Corrupt(format!("key of index {}", index.name))))?;
    let negative = !column.data_type.unsigned && value.to_i64() < 0;
    Ok(if negative { 0 } else { value.to_u64() })
}

/// The rules of a table outside a statement on it.
pub(crate) fn rules_of(env: &mut dyn Env, version: &Arc<Version>, table: &Arc<Table>) -> Result<Option<RuleSet>> {
    let rules = planned(env, version, |planner| planner.rules(table, Changes::INSERT, None))?;
    Ok(rules.map(RuleSet::new))
}

/// Checks that the expressions of a table's definition can be planned: names, types, functions.
pub fn check_expressions(env: &mut dyn Env, version: &Arc<Version>, table: &Arc<Table>) -> Result<()> {
    rules_of(env, version, table).map(drop)
}

/// The type of an expression over the columns of a table.
pub fn expression_type(env: &mut dyn Env, version: &Arc<Version>, table: &Arc<Table>, text: &str) -> Result<DataType> {
    planned(env, version, |planner| Ok(planner.stored_expression(text, table)?.ty))
}

/// Checks that the array of a multi-valued index part, CAST(... AS type ARRAY), can be planned.
pub fn check_array(env: &mut dyn Env, version: &Arc<Version>, table: &Arc<Table>, text: &str) -> Result<()> {
    planned(env, version, |planner| planner.stored(text, table, true).map(drop))
}
