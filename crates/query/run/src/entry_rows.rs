//! Whether an index entry that may be of any version is of the row that a snapshot has.

use crate::entries::{Entries, own_length};
use crate::{long, write};
use catalog::{Table, error};
use engine::{Read, Transaction};
use types::Result;

/// Does the snapshot see a row that is to have this entry? An entry that cannot be read is an error of damaged data.
pub fn has_row(tx: &mut Transaction, table: &Table, index: usize, entry: &[u8]) -> Result<bool> {
    let own = own_length(table, index, entry);
    let corrupt = || error::engine(engine::Error::Corrupt(format!("key of index {}", table.indexes[index].name)));
    let clustered = &entry[own.ok_or_else(corrupt)?..];
    let (mut row, mut inside) = (Vec::new(), Vec::new());
    if !tx.get(table.indexes[0].tree, clustered, Read::Consistent, &mut row).map_err(error::engine)? {
        return Ok(false);
    }
    let row = long::indexed(tx, table, [index].into_iter(), &row, &mut inside)?;
    if table.indexes[index].array_part.is_some() {
        return Ok(Entries::of(table, index, row, clustered).contains(entry));
    }
    let mut wanted = Vec::new();
    write::secondary_key(&mut wanted, table, index, row, clustered);
    Ok(wanted == entry)
}
