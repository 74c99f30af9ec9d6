//! Bulk work of DDL: filling a new index, and what a definition asks of a table's rows.

use crate::bulk::{Order, SharedRuns, Sorter, Unsorted};
use crate::progress::Progress;
use catalog::{Table, error};
use engine::{Cursor, Direction, Isolation, LockMode, PARTS_A_THREAD, Range, Read, Transaction, Wait};
use expr::Stage;
use run::entries::{Entries, own_parts, unique_prefix};
use run::write::{self, duplicate_entry};
use run::{Env, Run, long};
use std::cell::{OnceCell, RefCell};
use std::ops::Bound;
use types::Result;

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
    let (read_rows, progress) = (Progress::begin(run, Stage::AlterRead, table), OnceCell::new());
    let load = |entry: &[u8], _: &[u8]| {
        progress.get_or_init(|| Progress::begin(run, Stage::AlterInsert, table)).step(loaded);
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
    };
    let filled = match snapshot.as_deref_mut() {
        Some(snapshot) => fill_in_parts(run, snapshot, table, index, &read_rows, load),
        None => {
            let mut sorter = Sorter::new(run, Order::Strict, load)?;
            let told = |rows| read_rows.step(rows);
            let entries = collect(&run.tx, read, table, index, ALL, told, |entry| sorter.push(run, entry, &[]));
            entries.and_then(|()| sorter.finish(run))
        }
    };
    let Some(entry) = twice else { return filled };
    let (mut row, mut inside, own) = (Vec::new(), Vec::new(), own_parts(table, index, &entry));
    let mut of_run = run.tx.borrow_mut();
    let tx = snapshot.unwrap_or(&mut *of_run);
    tx.get(clustered, &entry[own..], read, &mut row).map_err(error::engine)?;
    let row = long::indexed(tx, table, [index].into_iter(), &row, &mut inside)?;
    Err(duplicate_entry(table, index, row, None))
}

/// Gives the entries of all rows that a snapshot has, in order, to `load`: read and sorted in parts, by several threads where
/// processors are idle.
fn fill_in_parts(
    run: &Run<'_>,
    snapshot: &mut Transaction,
    table: &Table,
    index: usize,
    progress: &Progress,
    mut load: impl FnMut(&[u8], &[u8]) -> Result<()>,
) -> Result<()> {
    let threads = run.env.borrow().system_variable(Some(false), "innodb_ddl_threads")?.0.to_u64() as usize;
    let parts = snapshot.parts(table.indexes[0].tree, threads * PARTS_A_THREAD).map_err(error::engine)?;
    if parts.len() < 2 {
        let mut sorter = Sorter::new(run, Order::Strict, load)?;
        let snapshot = RefCell::new(snapshot);
        let told = |rows| progress.step(rows);
        collect(&snapshot, Read::Consistent, table, index, ALL, told, |entry| sorter.push(run, entry, &[]))?;
        return sorter.finish(run);
    }
    let runs = SharedRuns::new(run, threads)?;
    let sorted = snapshot.read_parts(&parts, threads, |tx, part| {
        let (tx, mut own) = (RefCell::new(tx), Unsorted::default());
        let told = |rows| progress.step(rows);
        collect(&tx, Read::Consistent, table, index, part.range(), told, |entry| runs.push(&mut own, entry))?;
        runs.add(&mut own)
    });
    sorted.into_iter().collect::<Result<()>>()?;
    let mut merge = runs.merge(run)?;
    while let Some((entry, row)) = merge.advance()? {
        load(entry, row)?;
    }
    Ok(())
}

/// Gives all entries that rows of a range have in an index, in the order of the rows, to `take`, which may use the transaction.
/// `told` hears of how many rows.
fn collect(
    tx: &RefCell<&mut Transaction>,
    read: Read,
    table: &Table,
    index: usize,
    range: Range<'_>,
    told: impl Fn(usize),
    mut take: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let mut scan = Cursor::new(table.indexes[0].tree, range, Direction::Forward, read, 0);
    let (mut key, mut inside, mut rows) = (Vec::new(), Vec::new(), 0);
    loop {
        let next = scan.next(&mut tx.borrow_mut());
        let Some(row) = next.map_err(error::engine)? else { return Ok(()) };
        check_interrupt(&tx.borrow(), rows)?;
        rows += 1;
        told(rows);
        let value = long::indexed(&tx.borrow(), table, [index].into_iter(), row.value, &mut inside)?;
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
