//! Bulk work of DDL: filling a new index, and what a definition asks of a table's rows. Bounded memory: entries are sorted in chunks,
//! and each chunk is inserted in key order.

use crate::context::Env;
use crate::error;
use crate::plan::Planner;
use crate::run::Run;
use crate::run::entries::Entries;
use crate::run::rules::RuleSet;
use crate::run::write::{self, Strictness, duplicate_entry};
use catalog::{Changes, Table, Version};
use engine::{Cursor, Direction, Isolation, LockMode, Range, Read, Transaction, Wait};
use std::ops::Bound;
use std::sync::Arc;
use types::{DataType, Result, Value, key};

/// Entries that one chunk sorts, in bytes.
const CHUNK_BYTES: usize = 8 << 20;

pub(crate) const ALL: Range<'static> = Range { lower: Bound::Unbounded, upper: Bound::Unbounded };
const SHARED: Read = Read::Locking { mode: LockMode::Shared, wait: Wait::Block };

/// How all rows of a table are read that nobody else writes meanwhile: the newest versions, also of commits that are not durable
/// yet (our own commit comes after them in the log). At READ UNCOMMITTED that takes no lock; else a lock for each row.
pub(crate) fn newest(tx: &Transaction) -> Read {
    if tx.isolation() == Isolation::ReadUncommitted { Read::Consistent } else { SHARED }
}

/// Entries in one buffer, sorted by reference.
#[derive(Default)]
pub(crate) struct Chunk {
    bytes: Vec<u8>,
    /// (start of the key, end of the key, end of the row); for index entries the row is empty.
    entries: Vec<(usize, usize, usize)>,
}

impl Chunk {
    pub(crate) fn push(&mut self, key: &[u8], row: &[u8]) {
        let from = self.bytes.len();
        self.bytes.extend_from_slice(key);
        let end = self.bytes.len();
        self.bytes.extend_from_slice(row);
        self.entries.push((from, end, self.bytes.len()));
    }

    pub(crate) fn is_full(&self) -> bool {
        self.bytes.len() >= CHUNK_BYTES
    }

    pub(crate) fn sort(&mut self) {
        let bytes = &self.bytes;
        self.entries.sort_unstable_by(|a, b| bytes[a.0..a.1].cmp(&bytes[b.0..b.1]));
    }

    /// Keys and rows.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.entries.iter().map(|(start, end, row_end)| (&self.bytes[*start..*end], &self.bytes[*end..*row_end]))
    }

    pub(crate) fn clear(&mut self) {
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
            for (at, (entry, _)) in chunk.iter().enumerate() {
                check_interrupt(tx, at)?;
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

/// The rules of a table outside a statement on it.
pub(crate) fn rules_of(env: &mut dyn Env, version: &Arc<Version>, table: &Arc<Table>) -> Result<Option<RuleSet>> {
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
