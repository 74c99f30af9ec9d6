//! Bulk work of DDL: filling a new index, and what a definition asks of a table's rows.

use crate::bulk::{Order, Sorter};
use crate::context::Env;
use crate::run::Run;
use crate::run::entries::Entries;
use crate::run::long;
use crate::run::rules::RuleSet;
use crate::run::write::{self, duplicate_entry};
use catalog::error;
use catalog::{Changes, Table, Version};
use engine::{Cursor, Direction, Isolation, LockMode, Range, Read, Transaction, Wait};
use expr::Execution;
use expr::Strictness;
use expr::store;
use plan::Planner;
use plan::stack::{stack_bytes, with_stack};
use std::ops::Bound;
use std::sync::Arc;
use types::{DataType, Result, Value, key};

pub(crate) const ALL: Range<'static> = Range { lower: Bound::Unbounded, upper: Bound::Unbounded };
const SHARED: Read = Read::Locking { mode: LockMode::Shared, wait: Wait::Block };

/// How all rows of a table are read that nobody else writes meanwhile: the newest versions, also of commits that are not durable
/// yet (our own commit comes after them in the log). At READ UNCOMMITTED that takes no lock; else a lock for each row.
pub(crate) fn newest(tx: &Transaction) -> Read {
    if tx.isolation() == Isolation::ReadUncommitted { Read::Consistent } else { SHARED }
}

/// Fills indexes of `table`, given by their positions, whose trees `tx` has made, from the clustered tree, which nobody else writes.
/// Errors: 1062 for a duplicate in a unique index, 1 and 3 for temporary files, and the engine's.
pub fn fill_indexes(
    tx: &mut Transaction,
    env: &mut dyn Env,
    table: &Table,
    mut indexes: impl Iterator<Item = usize>,
) -> Result<()> {
    let run = Run::new(tx, env, &[], &[]);
    indexes.try_for_each(|index| fill_index(&run, table, index))
}

/// The same for one.
pub(crate) fn fill_index(run: &Run<'_>, table: &Table, index: usize) -> Result<()> {
    let read = newest(&run.tx.borrow());
    fill(run, None, read, table, index)
}

/// As [`fill_index`], from the rows that a snapshot has.
pub(crate) fn fill_from(run: &Run<'_>, snapshot: &mut Transaction, table: &Table, index: usize) -> Result<()> {
    fill(run, Some(snapshot), Read::Consistent, table, index)
}

fn fill(run: &Run<'_>, mut snapshot: Option<&mut Transaction>, read: Read, table: &Table, index: usize) -> Result<()> {
    assert!(index != 0, "the clustered index is the table");
    let clustered = table.indexes[0].tree;
    let (tree, is_unique) = (table.indexes[index].tree, table.indexes[index].unique);
    let (mut loaded, mut unique, mut twice) = (0, Vec::new(), None);
    let mut sorter = Sorter::new(run, Order::Strict, |entry, _| {
        let mut tx = run.tx.borrow_mut();
        check_interrupt(&tx, loaded)?;
        loaded += 1;
        // All entries come in order, those of one value one after the other.
        if is_unique && let Some(bytes) = unique_prefix(table, index, entry) {
            if unique == entry[..bytes] {
                twice = Some(entry.to_vec());
                return Err(error::engine(engine::Error::DuplicateKey));
            }
            unique.clear();
            unique.extend_from_slice(&entry[..bytes]);
        }
        tx.index_load(tree, entry).map_err(error::engine)
    })?;
    let filled = collect(run, snapshot.as_deref_mut(), read, table, index, |entry| sorter.push(run, entry, &[]))
        .and_then(|()| sorter.finish(run));
    let Some(entry) = twice else { return filled };
    let (mut row, mut inside, own) = (Vec::new(), Vec::new(), own_parts(table, index, &entry));
    let mut of_run = run.tx.borrow_mut();
    let tx = snapshot.unwrap_or(&mut *of_run);
    tx.get(clustered, &entry[own..], read, &mut row).map_err(error::engine)?;
    let row = long::indexed(tx, table, [index].into_iter(), &row, &mut inside)?;
    Err(duplicate_entry(table, index, row, None))
}

/// Gives all entries that the table's rows have in an index, in the order of the rows, to `take`.
fn collect(
    run: &Run<'_>,
    mut snapshot: Option<&mut Transaction>,
    read: Read,
    table: &Table,
    index: usize,
    mut take: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let mut scan = Cursor::new(table.indexes[0].tree, ALL, Direction::Forward, read, 0);
    let (mut key, mut inside) = (Vec::new(), Vec::new());
    loop {
        run.check_interrupt()?;
        let next = match snapshot.as_deref_mut() {
            Some(snapshot) => scan.next(snapshot),
            None => scan.next(&mut run.tx.borrow_mut()),
        };
        let Some(row) = next.map_err(error::engine)? else { return Ok(()) };
        // Who takes an entry may use the transaction.
        let value = match snapshot.as_deref() {
            Some(snapshot) => long::indexed(snapshot, table, [index].into_iter(), row.value, &mut inside)?,
            None => long::indexed(&run.tx.borrow(), table, [index].into_iter(), row.value, &mut inside)?,
        };
        if table.indexes[index].array_part.is_some() {
            Entries::of(table, index, value, row.key).iter().try_for_each(&mut take)?;
        } else {
            write::secondary_key(&mut key, table, index, value, row.key);
            take(&key)?;
        }
    }
}

/// KILL ends the work: looked at every few hundred entries, some milliseconds. (The cursor looks itself.)
pub(crate) fn check_interrupt(tx: &Transaction, at: usize) -> Result<()> {
    if at.is_multiple_of(256) { tx.check_interrupt().map_err(error::engine) } else { Ok(()) }
}

/// Length of the index's own parts at the front of an entry.
pub(crate) fn own_parts(table: &Table, index: usize, entry: &[u8]) -> usize {
    let mut at = 0;
    for part in &table.indexes[index].parts {
        at += key::part_length(&entry[at..], &part.key).expect("an entry that was just encoded");
    }
    at
}

/// Length of the unique prefix of an encoded entry, unless a part is NULL.
pub(crate) fn unique_prefix(table: &Table, index: usize, entry: &[u8]) -> Option<usize> {
    let mut at = 0;
    let mut null_part = Vec::new();
    for part in &table.indexes[index].parts {
        let n = key::part_length(&entry[at..], &part.key).expect("an entry that was just encoded");
        if part.key.data_type.nullable {
            null_part.clear();
            key::encode_part(&mut null_part, &part.key, &Value::Null);
            if entry[at..at + n] == null_part[..] {
                return None;
            }
        }
        at += n;
    }
    Some(at)
}

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

/// Levels of an expression of a table's definition: rows are computed by it on whatever stack is at hand.
const RULE_HEIGHT_MAX: u32 = 200;

/// Plans expressions of a table's definition outside a statement on it. Error 1436 for one of more than [`RULE_HEIGHT_MAX`] levels.
pub(crate) fn planned<T>(
    env: &mut dyn Env,
    version: &Arc<Version>,
    plan: impl FnOnce(&mut Planner<'_>) -> Result<T>,
) -> Result<T> {
    let parsed = sql::parse(b"DO 0", sql::SqlMode::default()).expect("a statement");
    with_stack(stack_bytes(RULE_HEIGHT_MAX), || {
        let mut planner = Planner::new(&parsed, version, env, &[]);
        planner.make_room_for(RULE_HEIGHT_MAX);
        plan(&mut planner)
    })
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
