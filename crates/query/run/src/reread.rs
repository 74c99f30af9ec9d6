//! The row at hand, where what the statement calls may change it.
//!
//! A trigger or function never writes to the table that its statement writes to (1442), but to a parent of it: a foreign key then
//! changes or deletes rows of the table, the very row at hand among them. So it is read once more before it is written. Changes go
//! over the row as it is now; of a row that is gone nothing is left to do. (MySQL 9.7 does the same for changes, and damages its
//! indexes where the row is gone.)

use super::execution::LOCKING;
use super::write::RowWriter;
use super::{Run, long};
use catalog::{ReferenceAction, Table};
use types::Result;

/// Reads the row anew if it may be another one now. False: it is gone.
#[inline]
pub fn read_anew(table: &Table, key: &[u8], row: &mut Vec<u8>, run: &Run<'_>) -> Result<bool> {
    if run.writes_within && follows_parents(table) { read(table, key, row, run) } else { Ok(true) }
}

/// The same for an update: the writer's row, made of `row`, becomes the one that its changes make of the row as it is now. `rekey`:
/// they may be of the clustered key.
#[inline]
pub fn change_anew(
    table: &Table,
    key: &[u8],
    row: &mut Vec<u8>,
    writer: &mut RowWriter,
    rekey: bool,
    run: &Run<'_>,
) -> Result<bool> {
    if !(run.writes_within && follows_parents(table)) {
        return Ok(true);
    }
    let mut now = Vec::new();
    if !read(table, key, &mut now, run)? {
        return Ok(false);
    }
    if now != *row {
        let tx = run.tx.borrow();
        let (mut columns, mut values) = (Vec::new(), Vec::new());
        for c in 0..table.columns.len() {
            let value = long::column(&tx, table, &writer.row, c)?;
            if value != long::column(&tx, table, row, c)? {
                columns.push(c);
                values.push(value.into_owned());
            }
        }
        writer.change(&tx, table, (&now, key), &columns, &values, rekey)?;
        *row = now;
    }
    Ok(true)
}

fn follows_parents(table: &Table) -> bool {
    let follows = |action| matches!(action, ReferenceAction::Cascade | ReferenceAction::SetNull);
    table.foreign_keys.iter().any(|key| follows(key.on_delete) || follows(key.on_update))
}

#[cold]
fn read(table: &Table, key: &[u8], row: &mut Vec<u8>, run: &Run<'_>) -> Result<bool> {
    let tree = table.indexes[0].tree;
    run.tx.borrow_mut().get(tree, key, LOCKING, row).map_err(|e| run.engine_error(e))
}
