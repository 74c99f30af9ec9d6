//! CHECK TABLE: reads every row and every index entry, and compares them.

use crate::error;
use crate::run::entries::Entries;
use crate::run::write;
use catalog::Table;
use engine::{Cursor, Direction, Range, Read, Transaction};
use std::ops::Bound;
use types::{Result, key};

const ALL: Range<'static> = Range { lower: Bound::Unbounded, upper: Bound::Unbounded };

/// Reads a base table in the transaction's snapshot: each row's columns decode, its key is the one that the row says, and
/// every secondary index has an entry for each row and no other. What is wrong comes back as words.
pub fn check_table(tx: &mut Transaction, table: &Table) -> Result<Option<String>> {
    let mut rows = 0u64;
    let mut wanted = Vec::new();
    let mut scan = Cursor::new(table.indexes[0].tree, ALL, Direction::Forward, Read::Consistent, 0);
    while let Some(entry) = scan.next(tx).map_err(error::engine)? {
        rows += 1;
        let decoded = (0..table.columns.len()).filter(|i| !write::column(table, entry.value, *i).is_null()).count();
        debug_assert!(decoded <= table.columns.len());
        wanted.clear();
        write::index_parts(&mut wanted, table, 0, entry.value);
        if wanted != entry.key {
            return Ok(Some(format!("Row {rows} lies under another key than its own")));
        }
    }
    let mut row = Vec::new();
    for (i, index) in table.indexes.iter().enumerate().skip(1) {
        let rows = if index.array_part.is_some() { count_entries(tx, table, i)? } else { rows };
        let mut entries = 0u64;
        let mut scan = Cursor::new(index.tree, ALL, Direction::Forward, Read::Consistent, 0);
        let mut found = Vec::new();
        while let Some(entry) = scan.next(tx).map_err(error::engine)? {
            entries += 1;
            found.clear();
            found.extend_from_slice(entry.key);
            let at = own_length(table, i, &found);
            let Some(clustered) = at.map(|at| &found[at..]) else {
                return Ok(Some(format!("Entry {entries} of index '{}' can not be read", index.name)));
            };
            let there = tx.get(table.indexes[0].tree, clustered, Read::Consistent, &mut row).map_err(error::engine)?;
            let of_row = match index.array_part {
                _ if !there => false,
                Some(_) => Entries::of(table, i, &row, clustered).contains(&found),
                None => {
                    write::secondary_key(&mut wanted, table, i, &row, clustered);
                    wanted == found
                }
            };
            if !of_row {
                return Ok(Some(format!("Entry {entries} of index '{}' has no row", index.name)));
            }
        }
        if entries != rows {
            let what = if index.array_part.is_some() { "elements" } else { "rows" };
            return Ok(Some(format!("Found {entries} entries in index '{}', and {rows} {what}", index.name)));
        }
    }
    Ok(None)
}

/// How many entries a multi-valued index is to have.
fn count_entries(tx: &mut Transaction, table: &Table, index: usize) -> Result<u64> {
    let mut count = 0;
    let mut scan = Cursor::new(table.indexes[0].tree, ALL, Direction::Forward, Read::Consistent, 0);
    while let Some(entry) = scan.next(tx).map_err(error::engine)? {
        count += Entries::of(table, index, entry.value, entry.key).count() as u64;
    }
    Ok(count)
}

/// Length of the index's own parts in front of the clustered key.
fn own_length(table: &Table, index: usize, entry: &[u8]) -> Option<usize> {
    let mut at = 0;
    for part in &table.indexes[index].parts {
        at += key::part_length(entry.get(at..)?, &part.key)?;
    }
    Some(at)
}
