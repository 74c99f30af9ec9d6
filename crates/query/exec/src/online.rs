//! Building indexes beside writers.
//!
//! ```text
//!   X    nobody uses the table: the row log opens, snapshot S0 is taken
//!   SU   others read and write; their statements note the keys of the rows that they write
//!          fill       the entries of the rows in S0 are sorted and put into the new trees
//!          catch up   snapshot S1, then the notes are taken: each row noted has an entry as it was in S0, and gets the one that it
//!                     has in S1. Again with S1 and S2, until little is left
//!   X    the last of it, with everybody out again; then the data definition commits
//! ```
//! Between two steps the trees are exactly what a snapshot of the table says, so a unique value that is there twice is there twice.
//! A transaction that has noted a row and is not seen by the new snapshot is looked at again in the next one. Statements that a
//! rollback undoes have noted their rows too, and those are found unchanged.
//!
//! The snapshot is taken before the notes: who is seen by it has noted everything before it committed, and is among them.

use crate::ddl;
use crate::error;
use crate::run::entries::Entries;
use crate::run::write::{self, duplicate_entry};
use catalog::Table;
use catalog::row_log::{Note, RowLog};
use engine::{Engine, Isolation, Read, Transaction};
use std::collections::BTreeMap;
use std::sync::Arc;
use types::{Result, err};

/// Indexes of a table that are being built. Dropped, it shuts the row log.
pub struct OnlineBuild {
    engine: Arc<Engine>,
    /// With the new indexes.
    table: Arc<Table>,
    /// Positions of those in [`Table::indexes`].
    indexes: Vec<usize>,
    /// What the new trees agree with, once they are filled.
    snapshot: Transaction,
    /// Rows noted by transactions that the snapshot does not see.
    unseen: BTreeMap<Box<[u8]>, Vec<u64>>,
}

impl OnlineBuild {
    /// Opens the row log and takes the first snapshot. The caller keeps everybody else from the table meanwhile.
    pub fn begin(
        engine: &Arc<Engine>,
        table: &Arc<Table>,
        indexes: Vec<usize>,
        log_bytes: usize,
    ) -> Result<OnlineBuild> {
        let snapshot = snapshot(engine)?;
        table.row_log.open(log_bytes);
        let (engine, table) = (Arc::clone(engine), Arc::clone(table));
        Ok(OnlineBuild { engine, table, indexes, snapshot, unseen: BTreeMap::new() })
    }

    fn log(&self) -> &RowLog {
        &self.table.row_log
    }

    /// Puts the entries of all rows into the new trees, which are of `tx`. Errors 1062, 1317.
    pub fn fill(&mut self, tx: &mut Transaction) -> Result<()> {
        for index in &self.indexes {
            ddl::fill_from(tx, &mut self.snapshot, &self.table, *index)?;
        }
        Ok(())
    }

    /// Brings the new trees to what the table is now; says for how many rows. Errors 1062, 1317, 1799.
    pub fn catch_up(&mut self, tx: &mut Transaction) -> Result<usize> {
        let mut now = snapshot(&self.engine)?;
        let mut rows = std::mem::take(&mut self.unseen);
        let name = &self.table.indexes[self.indexes[0]].name;
        for Note { trx, key } in self.log().take().map_err(|_| err!(1799, name))? {
            let writers = rows.entry(key).or_default();
            if writers.last() != Some(&trx) {
                writers.push(trx);
            }
        }
        let (mut before, mut after) = (Vec::new(), Vec::new());
        let (mut gone, mut come) = (Vec::new(), Vec::new());
        let (mut old_entry, mut new_entry) = (Vec::new(), Vec::new());
        let clustered = self.table.indexes[0].tree;
        for (at, key) in rows.keys().enumerate() {
            ddl::check_interrupt(tx, at)?;
            let was = self.snapshot.get(clustered, key, Read::Consistent, &mut before).map_err(error::engine)?;
            let is = now.get(clustered, key, Read::Consistent, &mut after).map_err(error::engine)?;
            for index in self.indexes.iter().copied() {
                if self.table.indexes[index].array_part.is_some() {
                    let unique = self.table.indexes[index].unique;
                    let entries = |row: Option<&Vec<u8>>| {
                        row.map_or_else(Entries::default, |row| Entries::of(&self.table, index, row, key))
                    };
                    let (old, new) = (entries(was.then_some(&before)), entries(is.then_some(&after)));
                    gone.extend(old.without(&new, false).map(|(entry, _)| (index, entry.to_vec())));
                    come.extend(new.without(&old, unique).map(|(entry, prefix)| (index, entry.to_vec(), prefix, key)));
                    continue;
                }
                if was {
                    write::secondary_key(&mut old_entry, &self.table, index, &before, key);
                }
                let prefix =
                    if is { write::secondary_key(&mut new_entry, &self.table, index, &after, key) } else { None };
                if was && is && old_entry == new_entry {
                    continue;
                }
                if was {
                    gone.push((index, old_entry.clone()));
                }
                if is {
                    come.push((index, new_entry.clone(), prefix, key));
                }
            }
        }
        // A value may have gone from one row to another: first all that went.
        for (at, (index, entry)) in gone.iter().enumerate() {
            ddl::check_interrupt(tx, at)?;
            tx.index_delete(self.table.indexes[*index].tree, entry).map_err(error::engine)?;
        }
        for (at, (index, entry, prefix, key)) in come.iter().enumerate() {
            ddl::check_interrupt(tx, at)?;
            match tx.index_insert(self.table.indexes[*index].tree, entry, *prefix, &[]) {
                Ok(()) => {}
                Err(engine::Error::DuplicateKey) => {
                    now.get(clustered, key, Read::Consistent, &mut after).map_err(error::engine)?;
                    return Err(duplicate_entry(&self.table, *index, &after, None));
                }
                Err(e) => return Err(error::engine(e)),
            }
        }
        let count = rows.len();
        rows.retain(|_, writers| {
            writers.retain(|trx| !now.sees_end_of(*trx));
            !writers.is_empty()
        });
        (self.unseen, self.snapshot) = (rows, now);
        Ok(count)
    }

    /// Looks once more, with everybody out: nothing is left. Errors as [`OnlineBuild::catch_up`].
    pub fn finish(mut self, tx: &mut Transaction) -> Result<()> {
        self.catch_up(tx)?;
        while !self.unseen.is_empty() {
            // Their sessions are done with the table and about to say so.
            tx.check_interrupt().map_err(error::engine)?;
            std::thread::yield_now();
            self.catch_up(tx)?;
        }
        Ok(())
    }
}

impl Drop for OnlineBuild {
    fn drop(&mut self) {
        self.log().shut();
    }
}

/// A transaction that reads as of now.
fn snapshot(engine: &Engine) -> Result<Transaction> {
    let mut tx = Transaction::new(engine).map_err(error::engine)?;
    // Snapshots do not see what a crash could lose; all that is committed now is to be seen.
    tx.await_others().map_err(error::engine)?;
    tx.begin(Isolation::RepeatableRead, true);
    tx.take_snapshot();
    Ok(tx)
}
