//! Bulk work of DDL: filling a new index, copying rows to a rebuilt table. Bounded memory: rows are sorted in chunks, and
//! each chunk is inserted in key order.

use crate::error;
use crate::expr::convert;
use crate::run::write::{self, duplicate_entry};
use catalog::Table;
use engine::{Cursor, Direction, Isolation, LockMode, Range, Read, Transaction, Wait};
use std::ops::Bound;
use types::{Result, SqlMode, StoreContext, Value, key};

/// Entries that one chunk sorts, in bytes.
const CHUNK_BYTES: usize = 8 << 20;

const ALL: Range<'static> = Range { lower: Bound::Unbounded, upper: Bound::Unbounded };
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

/// Fills index `index` of `table`, whose tree is empty, from the clustered tree. Errors: 1062 for a duplicate in a unique
/// index, and the engine's.
pub fn fill_index(tx: &mut Transaction, table: &Table, index: usize) -> Result<()> {
    assert!(index != 0, "the clustered index is the table");
    let mut scan = Cursor::new(table.indexes[0].tree, ALL, Direction::Forward, newest(tx), 0);
    let mut chunk = Chunk::default();
    let mut entry_key = Vec::new();
    loop {
        let more = match scan.next(tx).map_err(error::engine)? {
            Some(entry) => {
                write::secondary_key(&mut entry_key, table, index, entry.value, entry.key);
                chunk.push(&entry_key, &[]);
                true
            }
            None => false,
        };
        if chunk.is_full() || !more {
            chunk.sort();
            for (from, end, _) in &chunk.entries {
                insert_entry(tx, table, index, &chunk.bytes[*from..*end])?;
            }
            chunk.clear();
        }
        if !more {
            return Ok(());
        }
    }
}

fn insert_entry(tx: &mut Transaction, table: &Table, index: usize, entry: &[u8]) -> Result<()> {
    let prefix = if table.indexes[index].unique { unique_prefix(table, index, entry) } else { None };
    match tx.index_insert(table.indexes[index].tree, entry, prefix, &[]) {
        Ok(()) => Ok(()),
        Err(engine::Error::DuplicateKey) => {
            let at = own_parts(table, index, entry);
            let mut row = Vec::new();
            tx.get(table.indexes[0].tree, &entry[at..], SHARED, &mut row).map_err(error::engine)?;
            Err(duplicate_entry(table, index, &row))
        }
        Err(e) => Err(error::engine(e)),
    }
}

/// Length of the index's own parts at the front of an entry.
fn own_parts(table: &Table, index: usize, entry: &[u8]) -> usize {
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

/// Copies all rows of `from` into `to`, a new version of it whose trees are empty, column by column: `columns[i]` is the
/// column of `from` that column `i` of `to` gets its values from, `None` for its default. Fills every index. Values that do
/// not fit the new types are errors or warnings as `mode` says; the number of rows comes back.
pub fn copy_rows(
    tx: &mut Transaction,
    from: &Table,
    to: &Table,
    columns: &[Option<usize>],
    mode: SqlMode,
    warn: &mut dyn FnMut(types::Warning),
    row_ids: &mut dyn FnMut() -> Result<u64>,
) -> Result<u64> {
    assert_eq!(columns.len(), to.columns.len());
    let mut scan = Cursor::new(from.indexes[0].tree, ALL, Direction::Forward, newest(tx), 0);
    let mut chunk = Chunk::default();
    let (mut encoded, mut new_key, mut rows) = (Vec::new(), Vec::new(), 0u64);
    loop {
        let entry = scan.next(tx).map_err(error::engine)?;
        let more = entry.is_some();
        if let Some(entry) = entry {
            rows += 1;
            let mut values = Vec::with_capacity(to.columns.len());
            for (c, source) in to.columns.iter().zip(columns) {
                values.push(match source {
                    Some(i) => {
                        let v = write::column(from, entry.value, *i);
                        convert_column(v, &from.columns[*i], c, rows, mode, warn)?
                    }
                    None if c.hidden => {
                        let id = row_ids()?;
                        if c.data_type.unsigned { Value::UInt(id) } else { Value::Int(id as i64) }
                    }
                    None => match &c.default {
                        catalog::ColumnDefault::Value(v) => crate::expr::reborrow(v),
                        _ if c.data_type.nullable => Value::Null,
                        _ => write::implicit_default(&c.data_type),
                    },
                });
            }
            encoded.clear();
            new_key.clear();
            to.layout.encode(&mut encoded, &values);
            for part in &to.indexes[0].parts {
                key::encode_part(&mut new_key, &part.key, &values[part.column]);
            }
            chunk.push(&new_key, &encoded);
        }
        if chunk.is_full() || !more {
            chunk.sort();
            for (start, end, row_end) in &chunk.entries {
                let (k, row) = (&chunk.bytes[*start..*end], &chunk.bytes[*end..*row_end]);
                match tx.insert(to.indexes[0].tree, k, row) {
                    Ok(()) => {}
                    Err(engine::Error::DuplicateKey) => return Err(duplicate_entry(to, 0, row)),
                    Err(e) => return Err(error::engine(e)),
                }
            }
            chunk.clear();
        }
        if !more {
            break;
        }
    }
    for index in 1..to.indexes.len() {
        fill_index(tx, to, index)?;
    }
    Ok(rows)
}

fn convert_column<'v>(
    v: Value<'v>,
    from: &catalog::Column,
    to: &catalog::Column,
    row: u64,
    mode: SqlMode,
    warn: &mut dyn FnMut(types::Warning),
) -> Result<Value<'v>> {
    if v.is_null() {
        return match to.data_type.nullable {
            true => Ok(Value::Null),
            false => Err(types::SqlError::new(1138, "Invalid use of NULL value")),
        };
    }
    if from.data_type == to.data_type && from.members == to.members {
        return Ok(v);
    }
    let named = !from.members.is_empty() && from.members != to.members;
    let v = match (&v, named) {
        (Value::UInt(n), true) if from.data_type.kind == types::TypeKind::Enum => {
            let name = (*n as usize).checked_sub(1).and_then(|n| from.members.get(n)).cloned().unwrap_or_default();
            Value::Bytes(name.into_bytes().into())
        }
        _ => v,
    };
    let source = convert::source_type(&from.data_type, &v);
    let context = StoreContext { mode, column: &to.name, row, members: &to.members };
    let (v, warning) = types::coerce_for_store(v, &source, &to.data_type, &context)?;
    if let Some(w) = warning {
        warn(w);
    }
    Ok(v)
}
