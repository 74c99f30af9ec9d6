//! CHECK TABLE: reads every row and every index entry, and compares them. And a check of all data: each table so, then
//! everything that the engine keeps.

use crate::fill::check_interrupt;
use catalog::error;
use catalog::{Catalog, Table};
use engine::{Cursor, Direction, Engine, Isolation, PARTS_A_THREAD, Part, Read, Transaction};
use run::entries::{Entries, own_length, unique_prefix};
use run::entry_rows::has_row;
use run::{long, write};
use std::collections::BTreeMap;
use std::fmt;
use std::hash::BuildHasher;
use std::sync::Arc;
use types::Result;

/// Reads a base table in the transaction's snapshot: each row's columns decode, its key is the one that the row says, and
/// every secondary index has an entry for each row and no other. What is wrong comes back as words.
///
/// Each tree is read once, from end to end, in parts by up to `threads` threads: what the rows say about an index and what is
/// there are compared as sums of hashes, which do not depend on the order. Only entries that an open transaction has touched are
/// looked up in the table, and all of an index whose sums differ, to tell which entry it is.
pub fn check_table(tx: &mut Transaction, table: &Table, threads: usize) -> Result<Option<String>> {
    let parts = tx.parts(table.indexes[0].tree, threads * PARTS_A_THREAD).map_err(error::engine)?;
    let read = tx.read_parts(&parts, threads, |tx, part| read_rows(tx, table, part));
    let mut rows = Rows::none(table);
    for part in read {
        let part = part?;
        if let Some(row) = part.misplaced {
            return Ok(Some(format!("Row {} lies under another key than its own", rows.count + row)));
        }
        rows.add(&part);
    }
    for (i, index) in table.indexes.iter().enumerate().skip(1) {
        let found = match read_index(tx, table, i, false, threads)? {
            Ok(found) => found,
            Err(problem) => return Ok(Some(problem)),
        };
        let expected = rows.entries[i];
        if found == expected {
            continue;
        }
        if let Err(problem) = read_index(tx, table, i, true, threads)? {
            return Ok(Some(problem));
        }
        let what = if index.array_part.is_some() { "elements" } else { "rows" };
        return Ok(Some(format!(
            "Found {} entries in index '{}', and {} {what}",
            found.count, index.name, expected.count
        )));
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
        self.add_all(Sum { count: 1, hashes: foldhash::quality::FixedState::default().hash_one(entry) });
    }

    fn add_all(&mut self, entries: Sum) {
        self.count += entries.count;
        self.hashes = self.hashes.wrapping_add(entries.hashes);
    }
}

/// What rows say.
struct Rows {
    count: u64,
    /// The entries that each index is to have for them; the first is not used.
    entries: Vec<Sum>,
    /// The number of a row that lies under another key than its own.
    misplaced: Option<u64>,
}

impl Rows {
    fn none(table: &Table) -> Rows {
        Rows { count: 0, entries: vec![Sum::default(); table.indexes.len()], misplaced: None }
    }

    fn add(&mut self, part: &Rows) {
        self.count += part.count;
        self.entries.iter_mut().zip(&part.entries).for_each(|(sum, part)| sum.add_all(*part));
    }
}

/// Reads the rows of a part, to the first one that is misplaced.
fn read_rows(tx: &mut Transaction, table: &Table, part: &Part) -> Result<Rows> {
    let mut rows = Rows::none(table);
    let (mut wanted, mut inside) = (Vec::new(), Vec::new());
    let mut scan = Cursor::new(table.indexes[0].tree, part.range(), Direction::Forward, Read::Consistent, 0);
    while let Some(entry) = scan.next(tx).map_err(error::engine)? {
        rows.count += 1;
        check_interrupt(tx, rows.count as usize)?;
        let row = long::inside(tx, table, entry.value, &mut inside)?;
        let decoded = (0..table.columns.len()).filter(|i| !write::column(table, row, *i).is_null()).count();
        debug_assert!(decoded <= table.columns.len());
        wanted.clear();
        write::index_parts(&mut wanted, table, 0, row);
        if wanted != entry.key {
            rows.misplaced = Some(rows.count);
            return Ok(rows);
        }
        for (i, expected) in rows.entries.iter_mut().enumerate().skip(1) {
            if table.indexes[i].array_part.is_some() {
                Entries::of(table, i, row, entry.key).iter().for_each(|entry| expected.add(entry));
            } else {
                write::secondary_key(&mut wanted, table, i, row, entry.key);
                expected.add(&wanted);
            }
        }
    }
    Ok(rows)
}

/// The entries of an index that the snapshot sees, or what is wrong with one. `look_up`: asks the row of each.
fn read_index(
    tx: &mut Transaction,
    table: &Table,
    i: usize,
    look_up: bool,
    threads: usize,
) -> Result<std::result::Result<Sum, String>> {
    let index = &table.indexes[i];
    let parts = tx.parts(index.tree, threads * PARTS_A_THREAD).map_err(error::engine)?;
    let read = tx.read_parts(&parts, threads, |tx, part| read_entries(tx, table, i, look_up, part));
    let (mut sum, mut seen, mut last) = (Sum::default(), 0, Vec::new());
    for part in read {
        let part = part?;
        let wrong = match part.values {
            // One value that ends a part and begins the next.
            Some((at, first, _)) if first == last => Some((at, "has the value before")),
            Some((_, _, of_part)) => {
                last = of_part;
                part.wrong
            }
            None => part.wrong,
        };
        if let Some((at, what)) = wrong {
            let (number, kind) = (seen + at, if index.unique { "unique index" } else { "index" });
            return Ok(Err(format!("Entry {number} of {kind} '{}' {what}", index.name)));
        }
        sum.add_all(part.sum);
        seen += part.seen;
    }
    Ok(Ok(sum))
}

/// What a part of an index has.
#[derive(Default)]
struct IndexEntries {
    sum: Sum,
    /// Entries read, also those that the snapshot does not see.
    seen: u64,
    /// Of a unique index, the first value without NULL and which entry has it, and the last one.
    values: Option<(u64, Vec<u8>, Vec<u8>)>,
    /// The number of a wrong entry, at which reading ended, and what is wrong with it.
    wrong: Option<(u64, &'static str)>,
}

fn read_entries(tx: &mut Transaction, table: &Table, i: usize, look_up: bool, part: &Part) -> Result<IndexEntries> {
    let index = &table.indexes[i];
    let mut read = IndexEntries::default();
    let mut scan = Cursor::new(index.tree, part.range(), Direction::Forward, Read::Consistent, 0);
    let mut found = Vec::new();
    while let Some(entry) = scan.next(tx).map_err(error::engine)? {
        read.seen += 1;
        let certain = entry.certain;
        found.clear();
        found.extend_from_slice(entry.key);
        check_interrupt(tx, read.seen as usize)?;
        if own_length(table, i, &found).is_none() {
            read.wrong = Some((read.seen, "can not be read"));
            return Ok(read);
        }
        // What an open transaction has changed is the row's to say.
        if (look_up || !certain) && !has_row(tx, table, i, &found)? {
            if certain {
                read.wrong = Some((read.seen, "has no row"));
                return Ok(read);
            }
            continue;
        }
        read.sum.add(&found);
        let Some(own) = index.unique.then(|| unique_prefix(table, i, &found)).flatten() else { continue };
        match &mut read.values {
            Some((_, _, last)) if *last == found[..own] => {
                read.wrong = Some((read.seen, "has the value before"));
                return Ok(read);
            }
            Some((_, _, last)) => {
                last.clear();
                last.extend_from_slice(&found[..own]);
            }
            None => read.values = Some((read.seen, found[..own].to_vec(), found[..own].to_vec())),
        }
    }
    Ok(read)
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
    /// Nothing is wrong with the table and its trees.
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

/// Threads that check a table of a server that does not run, where there are so many processors.
const CHECK_THREADS: usize = 16;

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
        let outcome = check_table(&mut tx, table, CHECK_THREADS);
        tx.rollback().map_err(error::engine)?;
        let what = outcome.unwrap_or_else(|error| Some(error.message));
        problems.extend(what.map(|what| format!("{}.{}: {what}", table.schema, table.name)));
    }
    Ok(DataReport { tables: tables.len() as u64, problems, engine: engine.check(&trees), owners })
}
