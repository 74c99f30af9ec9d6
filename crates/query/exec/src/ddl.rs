//! Bulk work of DDL: filling a new index, copying rows to a rebuilt table. Bounded memory: rows are sorted in chunks, and
//! each chunk is inserted in key order.

use crate::context::Env;
use crate::error;
use crate::expr::convert;
use crate::plan::Planner;
use crate::run::Run;
use crate::run::entries::Entries;
use crate::run::rules::RuleSet;
use crate::run::write::{self, RowWriter, Strictness, duplicate_entry};
use catalog::{Changes, Table, Version};
use engine::{Cursor, Direction, Isolation, LockMode, Range, Read, Transaction, Wait};
use std::ops::Bound;
use std::sync::Arc;
use types::{DataType, Result, SqlMode, StoreContext, Value, key};

/// Entries that one chunk sorts, in bytes.
const CHUNK_BYTES: usize = 8 << 20;

pub(crate) const ALL: Range<'static> = Range { lower: Bound::Unbounded, upper: Bound::Unbounded };
const SHARED: Read = Read::Locking { mode: LockMode::Shared, wait: Wait::Block };

/// How all rows of a table are read that nobody else writes meanwhile: the newest versions, also of commits that are not durable
/// yet (our own commit comes after them in the log). At READ UNCOMMITTED that takes no lock; else a lock for each row.
fn newest(tx: &Transaction) -> Read {
    if tx.isolation() == Isolation::ReadUncommitted { Read::Consistent } else { SHARED }
}

/// Entries in one buffer, sorted by reference.
#[derive(Default)]
struct Chunk {
    bytes: Vec<u8>,
    /// (start of the key, end of the key, end of the row); for index entries the row is empty.
    entries: Vec<(usize, usize, usize)>,
}

impl Chunk {
    fn push(&mut self, key: &[u8], row: &[u8]) {
        let from = self.bytes.len();
        self.bytes.extend_from_slice(key);
        let end = self.bytes.len();
        self.bytes.extend_from_slice(row);
        self.entries.push((from, end, self.bytes.len()));
    }

    fn is_full(&self) -> bool {
        self.bytes.len() >= CHUNK_BYTES
    }

    fn sort(&mut self) {
        let bytes = &self.bytes;
        self.entries.sort_unstable_by(|a, b| bytes[a.0..a.1].cmp(&bytes[b.0..b.1]));
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.entries.clear();
    }
}

/// Fills index `index` of `table`, whose tree `tx` has made, from the clustered tree, which nobody else writes. Errors: 1062 for a
/// duplicate in a unique index, and the engine's.
pub fn fill_index(tx: &mut Transaction, table: &Table, index: usize) -> Result<()> {
    let read = newest(tx);
    fill(tx, None, read, table, index)
}

/// The same from the rows that a snapshot has.
pub(crate) fn fill_from(tx: &mut Transaction, snapshot: &mut Transaction, table: &Table, index: usize) -> Result<()> {
    fill(tx, Some(snapshot), Read::Consistent, table, index)
}

fn fill(
    tx: &mut Transaction,
    mut reader: Option<&mut Transaction>,
    read: Read,
    table: &Table,
    index: usize,
) -> Result<()> {
    assert!(index != 0, "the clustered index is the table");
    let clustered = table.indexes[0].tree;
    let mut scan = Cursor::new(clustered, ALL, Direction::Forward, read, 0);
    let mut chunk = Chunk::default();
    let mut entry_key = Vec::new();
    for at in 0.. {
        check_interrupt(tx, at)?;
        let more = match scan.next(reader.as_deref_mut().unwrap_or(tx)).map_err(error::engine)? {
            Some(entry) => {
                if table.indexes[index].array_part.is_some() {
                    Entries::of(table, index, entry.value, entry.key).iter().for_each(|e| chunk.push(e, &[]));
                } else {
                    write::secondary_key(&mut entry_key, table, index, entry.value, entry.key);
                    chunk.push(&entry_key, &[]);
                }
                true
            }
            None => false,
        };
        if chunk.is_full() || !more {
            chunk.sort();
            for (at, (from, end, _)) in chunk.entries.iter().enumerate() {
                check_interrupt(tx, at)?;
                let entry = &chunk.bytes[*from..*end];
                if !load_entry(tx, table, index, entry)? {
                    let mut row = Vec::new();
                    let at = own_parts(table, index, entry);
                    let reader = reader.as_deref_mut().unwrap_or(tx);
                    reader.get(clustered, &entry[at..], read, &mut row).map_err(error::engine)?;
                    return Err(duplicate_entry(table, index, &row, None));
                }
            }
            chunk.clear();
        }
        if !more {
            break;
        }
    }
    Ok(())
}

/// KILL ends the work: looked at every few hundred entries, some milliseconds. (The cursor looks itself.)
pub(crate) fn check_interrupt(tx: &Transaction, at: usize) -> Result<()> {
    if at.is_multiple_of(256) { tx.check_interrupt().map_err(error::engine) } else { Ok(()) }
}

/// False: its unique value is there already.
fn load_entry(tx: &mut Transaction, table: &Table, index: usize, entry: &[u8]) -> Result<bool> {
    let prefix = if table.indexes[index].unique { unique_prefix(table, index, entry) } else { None };
    match tx.index_load(table.indexes[index].tree, entry, prefix) {
        Ok(()) => Ok(true),
        Err(engine::Error::DuplicateKey) => Ok(false),
        Err(e) => Err(error::engine(e)),
    }
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
fn unique_prefix(table: &Table, index: usize, entry: &[u8]) -> Option<usize> {
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

/// Which columns of the old table those of a new one get their values from.
#[derive(Clone, Copy)]
pub struct Mapping<'m> {
    /// `columns[i]` is the column that column `i` gets its values from, `None` for its default.
    pub columns: &'m [Option<usize>],
    /// MySQL would do it in place, which has an error of its own for NULL.
    pub in_place: bool,
}

/// Copies all rows of `from` into `to`, a new version of it in `version` whose trees are empty, column by column. Generated
/// columns are computed anew, checks and foreign keys looked at. Fills every index. Values that do not fit the new types are
/// errors or warnings as the session's mode says; the number of rows comes back.
pub fn copy_rows(
    tx: &mut Transaction,
    env: &mut dyn Env,
    version: &Arc<Version>,
    from: &Table,
    to: &Arc<Table>,
    mapping: Mapping<'_>,
    row_ids: &mut dyn FnMut() -> Result<u64>,
) -> Result<u64> {
    let columns = mapping.columns;
    assert_eq!(columns.len(), to.columns.len());
    let mut rules = rules_of(env, version, to)?;
    let run = Run::new(tx, env, &[], &[]);
    let how = Strictness::new(&run, false, false);
    run.strict.set(!how.lenient);
    let mut scan = Cursor::new(from.indexes[0].tree, ALL, Direction::Forward, newest(&run.tx.borrow()), 0);
    let mut chunk = Chunk::default();
    let (mut writer, mut rows) = (RowWriter::default(), 0u64);
    let mut more = true;
    while more {
        more = {
            let mut tx = run.tx.borrow_mut();
            let entry = scan.next(&mut tx).map_err(error::engine)?;
            drop(tx);
            match entry {
                Some(entry) => {
                    rows += 1;
                    let values = converted(from, to, mapping, entry.value, rows, how, row_ids, &run)?;
                    writer.encode(to, &values);
                    true
                }
                None => false,
            }
        };
        if more {
            run.check_interrupt()?;
            if let Some(rules) = &mut rules {
                rules.complete(&mut writer, &|c| columns[c].is_none(), rows, how, &run)?;
                if !rules.refers_to_itself() {
                    rules.inserted(&writer.row, &run)?;
                }
            }
            chunk.push(&writer.key, &writer.row);
        }
        if chunk.is_full() || !more {
            chunk.sort();
            let mut tx = run.tx.borrow_mut();
            for (at, (start, end, row_end)) in chunk.entries.iter().enumerate() {
                check_interrupt(&tx, at)?;
                let (k, row) = (&chunk.bytes[*start..*end], &chunk.bytes[*end..*row_end]);
                match tx.load(to.indexes[0].tree, k, row) {
                    Ok(()) => {}
                    Err(engine::Error::DuplicateKey) => return Err(duplicate_entry(to, 0, row, None)),
                    Err(e) => return Err(error::engine(e)),
                }
            }
            chunk.clear();
        }
    }
    for index in 1..to.indexes.len() {
        fill_index(&mut run.tx.borrow_mut(), to, index)?;
    }
    if let Some(rules) = rules.filter(RuleSet::refers_to_itself) {
        check_parents(to, &rules, &run)?;
    }
    Ok(rows)
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
        catalog::ColumnDefault::Now => Ok(write::default_value(c, how, &run)?.into_owned()),
        catalog::ColumnDefault::None => Ok(write::placeholder(&c.data_type)),
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

/// Looks for the parents of all rows of a table. Error 1452.
fn check_parents(table: &Table, rules: &RuleSet, run: &Run<'_>) -> Result<()> {
    let read = newest(&run.tx.borrow());
    let mut scan = Cursor::new(table.indexes[0].tree, ALL, Direction::Forward, read, 0);
    let mut row = Vec::new();
    loop {
        run.check_interrupt()?;
        match scan.next(&mut run.tx.borrow_mut()).map_err(error::engine)? {
            Some(entry) => {
                row.clear();
                row.extend_from_slice(entry.value);
            }
            None => return Ok(()),
        }
        rules.inserted(&row, run)?;
    }
}

/// The rules of a table outside a statement on it.
fn rules_of(env: &mut dyn Env, version: &Arc<Version>, table: &Arc<Table>) -> Result<Option<RuleSet>> {
    let parsed = sql::parse(b"DO 0", sql::SqlMode::default()).expect("a statement");
    let rules = Planner::new(&parsed, version, env, &[]).rules(table, Changes::INSERT, None)?;
    Ok(rules.map(RuleSet::new))
}

/// Checks that the expressions of a table's definition can be planned: names, types, functions.
pub fn check_expressions(env: &mut dyn Env, version: &Arc<Version>, table: &Arc<Table>) -> Result<()> {
    rules_of(env, version, table).map(drop)
}

/// The type of an expression over the columns of a table.
pub fn expression_type(env: &mut dyn Env, version: &Arc<Version>, table: &Arc<Table>, text: &str) -> Result<DataType> {
    let parsed = sql::parse(b"DO 0", sql::SqlMode::default()).expect("a statement");
    Ok(Planner::new(&parsed, version, env, &[]).stored_expression(text, table)?.ty)
}

/// Checks that the array of a multi-valued index part, CAST(... AS type ARRAY), can be planned.
pub fn check_array(env: &mut dyn Env, version: &Arc<Version>, table: &Arc<Table>, text: &str) -> Result<()> {
    let parsed = sql::parse(b"DO 0", sql::SqlMode::default()).expect("a statement");
    Planner::new(&parsed, version, env, &[]).stored(text, table, true).map(drop)
}

/// The row of `to` that a row of `from` becomes, with placeholders for what rules compute.
#[expect(clippy::too_many_arguments, reason = "the inside of a loop")]
fn converted<'v>(
    from: &'v Table,
    to: &'v Table,
    mapping: Mapping<'_>,
    row: &'v [u8],
    number: u64,
    how: Strictness,
    row_ids: &mut dyn FnMut() -> Result<u64>,
    run: &Run<'_>,
) -> Result<Vec<Value<'v>>> {
    let mut values = Vec::with_capacity(to.columns.len());
    for (c, source) in to.columns.iter().zip(mapping.columns) {
        let in_place = mapping.in_place;
        values.push(match source {
            _ if c.generated.is_some() => write::placeholder(&c.data_type),
            source if c.auto_increment => {
                let given = match source {
                    Some(i) if !write::column(from, row, *i).is_null() => convert_column(
                        write::column(from, row, *i),
                        &from.columns[*i],
                        c,
                        number,
                        (how.mode, in_place),
                        run,
                    )?,
                    _ => Value::Null,
                };
                // A column that counted already holds what was meant, a zero too.
                let counted = source.is_some_and(|i| from.columns[i].auto_increment);
                numbered(given, counted, to, c, run)?
            }
            Some(i) => {
                convert_column(write::column(from, row, *i), &from.columns[*i], c, number, (how.mode, in_place), run)?
            }
            None if c.is_row_id() => {
                let id = row_ids()?;
                if c.data_type.unsigned { Value::UInt(id) } else { Value::Int(id as i64) }
            }
            None => match &c.default {
                catalog::ColumnDefault::Value(v) => crate::expr::reborrow(v),
                catalog::ColumnDefault::Now => write::default_value(c, how, run)?,
                _ => write::placeholder(&c.data_type),
            },
        });
    }
    Ok(values)
}

/// The value of the AUTO_INCREMENT column of a copied row: generated for NULL, and for zeros that `counted` does not tell to
/// keep. Error 1467.
fn numbered<'v>(
    given: Value<'v>,
    counted: bool,
    to: &Table,
    column: &catalog::Column,
    run: &Run<'_>,
) -> Result<Value<'v>> {
    let counter = to.auto_increment.as_ref().expect("an AUTO_INCREMENT column has a counter");
    let (_, max) = column.data_type.integer_bounds();
    let env = run.env.borrow();
    let keeps_zero = counted || run.sql_mode.has(SqlMode::NO_AUTO_VALUE_ON_ZERO);
    let is_zero = matches!(given, Value::Int(0) | Value::UInt(0)) || given.to_f64() == 0.0;
    if !given.is_null() && (keeps_zero || !is_zero) {
        if given.to_f64() > 0.0 {
            counter.observe(env.engine(), given.to_u64(), max).map_err(error::engine)?;
        }
        return Ok(given);
    }
    let (step, offset) = env.auto_increment_step();
    let id = counter.reserve(env.engine(), 1, step, offset, max).map_err(error::engine)?;
    let id = id.ok_or_else(|| types::err!(1467))?;
    Ok(if column.data_type.unsigned { Value::UInt(id) } else { Value::Int(id as i64) })
}

fn convert_column<'v>(
    v: Value<'v>,
    from: &catalog::Column,
    to: &catalog::Column,
    row: u64,
    (mode, in_place): (SqlMode, bool),
    run: &Run<'_>,
) -> Result<Value<'v>> {
    if v.is_null() {
        let truncated = || format!("Data truncated for column '{}' at row {row}", to.name);
        return match to.data_type.nullable {
            true => Ok(Value::Null),
            false if mode.is_strict() && in_place => Err(types::SqlError::new(1138, "Invalid use of NULL value")),
            false if mode.is_strict() => Err(types::SqlError::new(1265, truncated())),
            false => {
                run.warn(1265, truncated());
                Ok(write::placeholder(&to.data_type))
            }
        };
    }
    // Copied, dates are looked at anew.
    let looks = !in_place && matches!(v, Value::Date(_) | Value::DateTime(_));
    if from.data_type == to.data_type && from.members == to.members && !looks {
        return Ok(v);
    }
    let named = !from.members.is_empty() && from.members != to.members;
    let v = match (&v, named && !to.data_type.kind.is_numeric()) {
        (Value::UInt(n), true) if from.data_type.kind == types::TypeKind::Enum => {
            let name = (*n as usize).checked_sub(1).and_then(|n| from.members.get(n)).cloned().unwrap_or_default();
            Value::Bytes(name.into_bytes().into())
        }
        (Value::UInt(bits), true) if from.data_type.kind == types::TypeKind::Set => {
            let names = from.members.iter().enumerate().filter(|(i, _)| bits >> i & 1 == 1);
            let names: Vec<&str> = names.map(|(_, name)| name.as_str()).collect();
            Value::Bytes(names.join(",").into_bytes().into())
        }
        // A number is looked for among the members as a text, as a string is.
        (Value::Int(_) | Value::UInt(_) | Value::Decimal(_) | Value::Double(_), false)
            if !to.members.is_empty() && from.members.is_empty() && from.data_type.kind != types::TypeKind::Bit =>
        {
            Value::Bytes(convert::text(&v, &from.data_type).into_owned().into())
        }
        _ => v,
    };
    let stamp = types::TypeKind::Timestamp;
    let v = match (v, from.data_type.kind) {
        (Value::DateTime(t), kind) if kind == stamp => Value::DateTime(convert::from_utc(t, run)),
        (v, _) => v,
    };
    let source = convert::source_type(&from.data_type, &v);
    let context = StoreContext { mode, column: &to.name, row, members: &to.members };
    let (v, warning) = types::coerce_for_store(v, &source, &to.data_type, &context)?;
    match warning {
        // A rebuild changes no value without saying so.
        Some(w) if mode.is_strict() => return Err(w.into()),
        Some(w) => run.warn(w.code, w.message),
        None => {}
    }
    match v {
        Value::DateTime(t) if to.data_type.kind == stamp => match convert::to_utc(t, run) {
            Some(t) => Ok(Value::DateTime(t)),
            None => {
                let shown = String::from_utf8_lossy(&convert::text(&Value::DateTime(t), &to.data_type)).into_owned();
                let message = format!("Incorrect datetime value: '{shown}' for column '{}' at row {row}", to.name);
                Err(types::SqlError::new(1292, message))
            }
        },
        v => Ok(v),
    }
}
