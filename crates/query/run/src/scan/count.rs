//! The number of all rows of a table: entries are counted and nothing of them is decoded, of a large table in parts by several threads.

use super::{Lookup, ScanOp, get};
use crate::Run;
use catalog::error;
use engine::{Cursor, Direction, Part, Read, Transaction, Tree};
use expr::Execution;
use types::Result;

/// Parts that each thread counts, so that none waits for long for the one that has the largest.
const PARTS_A_THREAD: usize = 8;

/// The entries of a part.
#[derive(Default)]
struct Counted {
    certain: u64,
    /// Keys of entries of which only the row can tell whether the snapshot has them.
    uncertain: Vec<Vec<u8>>,
}

fn count(tx: &mut Transaction, tree: Tree, part: &Part) -> engine::Result<Counted> {
    let mut scan = Cursor::new(tree, part.range(), Direction::Forward, Read::Consistent, 0);
    let mut counted = Counted::default();
    while let Some(entry) = scan.next(tx)? {
        if entry.certain {
            counted.certain += 1;
        } else {
            counted.uncertain.push(entry.key.to_vec());
        }
    }
    Ok(counted)
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
        let threads =
            run.env.borrow().system_variable(Some(false), "innodb_parallel_read_threads")?.0.to_u64() as usize;
        let mut tx = run.tx.borrow_mut();
        let parts = tx.parts(self.tree, threads * PARTS_A_THREAD).map_err(|e| run.engine_error(e))?;
        let tree = self.tree;
        let counted = tx.read_parts(&parts, threads, |tx, part| count(tx, tree, part));
        drop(tx);
        let mut rows = 0;
        for part in counted {
            let part = part.map_err(|e| run.engine_error(e))?;
            rows += part.certain;
            for entry in part.uncertain {
                run.check_interrupt()?;
                rows += u64::from(self.row_has_entry(run, entry)?);
            }
        }
        self.begin_steps(range).count_all(rows);
        Ok(Some(rows))
    }

    /// Does the snapshot have a row that this entry of the index is of?
    fn row_has_entry(&mut self, run: &Run<'_>, entry: Vec<u8>) -> Result<bool> {
        self.check = entry;
        let at = self.clustered_key_at(&self.check)?;
        let mut tx = run.tx.borrow_mut();
        let clustered = self.table.indexes[0].tree;
        let found = get(&mut self.row_lock, &mut tx, clustered, &self.check[at..], self.reading, &mut self.row);
        if !found.map_err(error::engine)? {
            return Ok(false);
        }
        self.row_key(&tx, None)?;
        Ok(!self.bytes_differ())
    }
}
