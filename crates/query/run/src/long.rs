//! Long values: what of a row lies outside its leaf ([`types::row::long`]) and is loaded when somebody asks for it.
//!
//! Whoever has a row has the snapshot that sees it or its lock, and with it the long values. Expressions load them one by one; what
//! reads rows without expressions (indexes, rules, copies) brings a row's values inside first.

use catalog::Table;
use catalog::error;
use engine::{Long, Row, Transaction};
use std::borrow::Cow;
use types::row::long::{self, Outside, Part, Parts, Reference};
use types::{Result, TypeKind, Value};

const _: () = assert!(long::REFERENCE_BYTES == engine::REFERENCE_BYTES);

pub use long::has_outside;

fn load(tx: &Transaction, reference: &Reference) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    tx.load_long(reference, &mut bytes).map_err(error::engine)?;
    Ok(bytes)
}

/// Column `i` of a stored row that does not have it inside.
#[cold]
pub fn absent<'t>(tx: &Transaction, table: &'t Table, row: &[u8], i: usize) -> Result<Value<'t>> {
    match table.layout.outside(row, i) {
        None => Ok(added_column(table, i)),
        Some(Outside::Value(reference)) => {
            let bytes = Cow::Owned(load(tx, reference)?);
            Ok(match table.columns[i].data_type.kind {
                TypeKind::Json => Value::Json(bytes),
                _ => Value::Bytes(bytes),
            })
        }
        Some(Outside::Row(reference)) => {
            let row = load(tx, reference)?;
            match table.layout.get(&row, i) {
                Some(value) => Ok(value.into_owned()),
                None => Ok(added_column(table, i)),
            }
        }
    }
}

/// Column `i` of a row, wherever it is.
pub fn column<'r>(tx: &Transaction, table: &'r Table, row: &'r [u8], i: usize) -> Result<Value<'r>> {
    match table.layout.get(row, i) {
        Some(value) => Ok(value),
        None => absent(tx, table, row, i),
    }
}

/// The row with all values inside: itself, or put together in `buffer`.
pub fn inside<'r>(tx: &Transaction, table: &Table, row: &'r [u8], buffer: &'r mut Vec<u8>) -> Result<&'r [u8]> {
    if !has_outside(row) {
        return Ok(row);
    }
    buffer.clear();
    if let Some(Outside::Row(reference)) = table.layout.outside(row, 0) {
        tx.load_long(reference, buffer).map_err(error::engine)?;
        return Ok(buffer);
    }
    let values: Result<Vec<Value<'_>>> = (0..table.columns.len()).map(|i| column(tx, table, row, i)).collect();
    table.layout.encode(buffer, &values?);
    Ok(buffer)
}

/// The same where only these indexes' columns are asked for: a row that has those inside stays as it is.
pub fn indexed<'r>(
    tx: &Transaction,
    table: &Table,
    mut indexes: impl Iterator<Item = usize>,
    row: &'r [u8],
    buffer: &'r mut Vec<u8>,
) -> Result<&'r [u8]> {
    let is_out = |i: usize| table.indexes[i].parts.iter().any(|part| table.layout.outside(row, part.column).is_some());
    if has_outside(row) && indexes.any(is_out) { inside(tx, table, row, buffer) } else { Ok(row) }
}

/// Does a row like it keep long values when it is changed? One that is outside as a whole does not.
pub fn keeps(row: &[u8]) -> bool {
    long::has_values_outside(row)
}

/// Hands a row to `write` as it is to be stored under a key of so many bytes, the longest values outside where it is too long. A
/// value that is outside already is kept: the row replaces the one that it has the value from.
pub fn store<E: From<engine::Error>>(
    tx: &mut Transaction,
    table: &Table,
    key_bytes: usize,
    row: &[u8],
    parts: &mut Parts,
    write: impl FnOnce(&mut Transaction, Row<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let most = engine::row_bytes_max(key_bytes);
    if row.len() <= most && !has_outside(row) {
        return write(tx, row.into());
    }
    let mut whole = Vec::new();
    let mut row = row;
    if !table.layout.split(row, most, parts) {
        if has_outside(row) {
            let values: Result<Vec<Value<'_>>, engine::Error> = (0..table.columns.len())
                .map(|i| match (table.layout.get(row, i), table.layout.outside(row, i)) {
                    (None, Some(Outside::Value(reference) | Outside::Row(reference))) => {
                        let mut bytes = Vec::new();
                        tx.load_long(reference, &mut bytes).map(|()| Value::Bytes(Cow::Owned(bytes)))
                    }
                    (value, _) => Ok(value.unwrap_or_else(|| added_column(table, i))),
                })
                .collect();
            table.layout.encode(&mut whole, &values?);
            row = &whole;
        }
        long::split_whole(row, parts);
    }
    let of = |part: &Part| match *part {
        Part::New { from, to } => Long::New(&row[from..to]),
        Part::Kept { at } => Long::Kept(row[at..at + long::REFERENCE_BYTES].try_into().expect("so many bytes")),
    };
    let values: Vec<Long<'_>> = parts.long.iter().map(of).collect();
    write(tx, Row { body: &parts.body, long: &values })
}

/// The value that a row written before the column was added has for it.
#[cold]
pub fn added_column(table: &Table, column: usize) -> Value<'_> {
    expr::reborrow(table.initial_value(column))
}
