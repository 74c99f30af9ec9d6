//! The number of all rows of a table: entries are counted and nothing of them is decoded, of a large table in parts by several threads.

use super::{Lookup, ScanOp};
use crate::Run;
use crate::entry_rows::has_row;
use catalog::{Table, error};
use engine::{Cursor, Direction, PARTS_A_THREAD, Part, Read, Transaction};
use expr::Execution;
use types::Result;

/// The rows that have entries in a part of an index.
fn count(tx: &mut Transaction, table: &Table, index: usize, part: &Part) -> Result<u64> {
    let mut scan =
        Cursor::new(table.indexes[index].tree, part.range(), Direction::Forward, Read::Consistent, 0).counted();
    let (mut rows, mut uncertain) = (0, Vec::new());
    while let Some(entry) = scan.next(tx).map_err(error::engine)? {
        if entry.certain {
            rows += 1;
            continue;
        }
        uncertain.clear();
        uncertain.extend_from_slice(entry.key);
        rows += u64::from(has_row(tx, table, index, &uncertain)?);
    }
    Ok(rows)
}

impl ScanOp {
    /// The number of rows of an execution that has begun and reads all of a tree without locks; `None`: they are to be read.
    pub(super) fn count_all(&mut self, run: &Run<'_>) -> Result<Option<u64>> {
        let [range] = self.key_ranges[..] else { return Ok(None) };
        let reads_all = self.lookup == Lookup::No && range.lower.0 == range.lower.1 && range.upper.is_none();
        let asks_each = self.reading != Read::Consistent || self.implied.is_some() || self.multi;
        if !reads_all || asks_each || self.limit_hint.is_some() {
            return Ok(None);
        }
        let (threads, _) = run.env.borrow().system_variable(Some(false), "innodb_parallel_read_threads")?;
        let threads = threads.to_u64() as usize;
        let mut tx = run.tx.borrow_mut();
        let parts = tx.parts(self.tree, threads * PARTS_A_THREAD).map_err(|e| run.engine_error(e))?;
        let (table, index) = (&*self.table, self.index);
        let counted = tx.read_parts(&parts, threads, |tx, part| count(tx, table, index, part));
        drop(tx);
        // What ended them is the statement's to say.
        run.check_interrupt()?;
        let rows = counted.into_iter().sum::<Result<u64>>()?;
        self.begin_steps(range).count_all(rows);
        Ok(Some(rows))
    }
}
