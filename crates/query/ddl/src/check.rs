//! CHECK TABLE: reads every row and every index entry, and compares them. And a check of all data: each table so, then
//! everything that the engine keeps.

use crate::fill::check_interrupt;
use catalog::error;
use catalog::{Catalog, Table};
use engine::{Cursor, Direction, Engine, Isolation, Range, Read, Transaction};
use run::entries::Entries;
use run::entries::unique_prefix;
use run::{long, write};
use std::collections::BTreeMap;
use std::fmt;
use std::hash::BuildHasher;
use std::ops::Bound;
use std::sync::Arc;
use types::{Result, key};

const ALL: Range<'static> = Range { lower: Bound::Unbounded, upper: Bound::Unbounded };

/// Reads a base table in the transaction's snapshot: each row's columns decode, its key is the one that the row says, and
/// every secondary index has an entry for each row and no other. What is wrong comes back as words.
///
/// Each tree is read once, from end to end: what the rows say about an index and what is there are compared as sums of hashes,
/// which do not depend on the order. Only entries that an open transaction has touched are looked up in the table, and all of an
/// index whose sums differ, to tell which entry it is.
pub fn check_table(tx: &mut Transaction, table: &Table) -> Result<Option<String>> {
    let mut rows = 0;
    let mut expected = vec![Sum::default(); table.indexes.len()];
    let (mut wanted, mut inside) = (Vec::new(), Vec::new());
    let mut scan = Cursor::new(table.indexes[0].tree, ALL, Direction::Forward, Read::Consistent, 0);
    while let Some(entry) = scan.next(tx).map_err(error::engine)? {
        rows += 1;
        check_interrupt(tx, rows)?;
        let row = long::inside(tx, table, entry.value, &mut inside)?;
        let decoded = (0..table.columns.len()).filter(|i| !write::column(table, row, *i).is_null()).count();
        debug_assert!(decoded <= table.columns.len());
        wanted.clear();
        write::index_parts(&mut wanted, table, 0, row);
        if wanted != entry.key {
            return Ok(Some(format!("Row {rows} lies under another key than its own")));
        }
        for (i, expected) in expected.iter_mut().enumerate().skip(1) {
            if table.indexes[i].array_part.is_some() {
                Entries::of(table, i, row, entry.key).iter().for_each(|entry| expected.add(entry));
            } else {
                write::secondary_key(&mut wanted, table, i, row, entry.key);
                expected.add(&wanted);
            }
        }
    }
    for (i, index) in table.indexes.iter().enumerate().skip(1) {
        let found = match read_index(tx, table, i, false)? {
            Ok(found) => found,
            Err(problem) => return Ok(Some(problem)),
        };
        if found == expected[i] {
            continue;
        }
        if let Err(problem) = read_index(tx, table, i, true)? {
            return Ok(Some(problem));
        }
        let what = if index.array_part.is_some() { "elements" } else { "rows" };
        let (entries, rows) = (found.count, expected[i].count);
        return Ok(Some(format!("Found {entries} entries in index '{}', and {rows} {what}", index.name)));
    }
    Ok(None)
}

/// A set of entries as far as one compares two of them: how many, and the sum of their hashes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sum {
    count: u64,
    hashes: u64,
}

impl Sum {
    fn add(&mut self, entry: &[u8]) {
        self.count += 1;
        self.hashes = self.hashes.wrapping_add(foldhash::quality::FixedState::default().hash_one(entry));
    }
}

/// The entries of an index that the snapshot sees, or what is wrong with one. `look_up`: asks the row of each.
fn read_index(
    tx: &mut Transaction,
    table: &Table,
    i: usize,
    look_up: bool,
) -> Result<std::result::Result<Sum, String>> {
    let index = &table.indexes[i];
    let mut sum = Sum::default();
    let mut scan = Cursor::new(index.tree, ALL, Direction::Forward, Read::Consistent, 0);
    let (mut found, mut value, mut seen) = (Vec::new(), Vec::new(), 0);
    while let Some(entry) = scan.next(tx).map_err(error::engine)? {
        seen += 1;
        let certain = entry.certain;
        found.clear();
        found.extend_from_slice(entry.key);
        check_interrupt(tx, seen)?;
        let Some(own) = own_length(table, i, &found) else {
            return Ok(Err(format!("Entry {seen} of index '{}' can not be read", index.name)));
        };
        // What an open transaction has changed is the row's to say.
        if (look_up || !certain) && !is_of_row(tx, table, i, &found, own)? {
            if certain {
                return Ok(Err(format!("Entry {seen} of index '{}' has no row", index.name)));
            }
            continue;
        }
        sum.add(&found);
        if index.unique
            && let Some(own) = unique_prefix(table, i, &found)
        {
            if value == found[..own] {
                return Ok(Err(format!("Entry {seen} of unique index '{}' has the value before", index.name)));
            }
            value.clear();
            value.extend_from_slice(&found[..own]);
        }
    }
    Ok(Ok(sum))
}

/// Does the snapshot see a row that is to have this entry? `own`: where the clustered key begins.
fn is_of_row(tx: &mut Transaction, table: &Table, i: usize, entry: &[u8], own: usize) -> Result<bool> {
    let (mut row, mut inside) = (Vec::new(), Vec::new());
    let clustered = &entry[own..];
    if !tx.get(table.indexes[0].tree, clustered, Read::Consistent, &mut row).map_err(error::engine)? {
        return Ok(false);
    }
    let row = long::indexed(tx, table, [i].into_iter(), &row, &mut inside)?;
    if table.indexes[i].array_part.is_some() {
        return Ok(Entries::of(table, i, row, clustered).contains(entry));
    }
    let mut wanted = Vec::new();
    write::secondary_key(&mut wanted, table, i, row, clustered);
    Ok(wanted == entry)
}

/// Length of the index's own parts in front of the clustered key.
fn own_length(table: &Table, index: usize, entry: &[u8]) -> Option<usize> {
    let mut at = 0;
    for part in &table.indexes[index].parts {
        at += key::part_length(entry.get(at..)?, &part.key)?;
    }
    Some(at)
}

/// What a check of all data found.
pub struct DataReport {
    pub tables: u64,
    /// Of tables, a line each.
    pub problems: Vec<String>,
    pub engine: engine::Report,
    /// Table and index of each tree.
    owners: BTreeMap<u32, String>,
}

impl DataReport {
    pub fn is_clean(&self) -> bool {
        self.problems.is_empty() && self.engine.is_clean()
    }
}

impl fmt::Display for DataReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for problem in &self.problems {
            writeln!(f, "{problem}")?;
        }
        for problem in &self.engine.problems {
            match problem.tree.and_then(|tree| self.owners.get(&tree)) {
                Some(owner) => writeln!(f, "{problem} ({owner})")?,
                None => writeln!(f, "{problem}")?,
            }
        }
        let (told, engine) = (self.engine.problems.len() as u64, &self.engine);
        if engine.problem_count > told {
            writeln!(f, "and {} more", engine.problem_count - told)?;
        }
        write!(
            f,
            "{} tables, {} trees, {} pages allocated, {} of them leaked by crashes, {} undo records, {} open \
             transactions, {} of them prepared: {} problems",
            self.tables,
            engine.trees.len(),
            engine.pages_allocated,
            engine.leaked.len(),
            engine.undo_records,
            engine.open_transactions,
            engine.prepared_transactions,
            self.problems.len() as u64 + engine.problem_count
        )
    }
}

/// Checks all data of an engine that nobody else uses, and which is closed afterwards: the dictionary, every table against its
/// indexes, and all that the engine keeps. An error says that the dictionary cannot be read.
pub fn check_data(engine: &Arc<Engine>) -> Result<DataReport> {
    let catalog = Catalog::open(engine, Vec::new())?;
    let (mut problems, mut owners, mut trees) = (Vec::new(), BTreeMap::new(), Vec::new());
    let version = catalog.current();
    let tables: Vec<_> = version.schemas.values().flat_map(|s| s.tables.values()).filter(|t| t.is_base()).collect();
    let mut tx = Transaction::new(engine).map_err(error::engine)?;
    for table in &tables {
        for index in &table.indexes {
            trees.push(index.tree);
            owners.insert(index.tree.id, format!("{}.{}, index {}", table.schema, table.name, index.name));
        }
        tx.begin(Isolation::RepeatableRead, true);
        let outcome = check_table(&mut tx, table);
        tx.rollback().map_err(error::engine)?;
        let what = outcome.unwrap_or_else(|error| Some(error.message));
        problems.extend(what.map(|what| format!("{}.{}: {what}", table.schema, table.name)));
    }
    Ok(DataReport { tables: tables.len() as u64, problems, engine: engine.check(&trees), owners })
}
