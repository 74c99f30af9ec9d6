//! Building trees of a table beside its writers: new indexes, and all trees of a table that gets another form.
//!
//! ```text
//!   X    nobody uses the table: the row log opens, snapshot S0 is taken
//!   SU   others read and write; their statements note the keys of the rows that they write
//!          fill       the rows in S0, in their new form, and their entries are sorted and put into the new trees
//!          catch up   snapshot S1, then the notes are taken: of each row noted the new trees have what S0 says, and get what S1
//!                     says. Again with S1 and S2, until little is left
//!   X    the last of it, with everybody out again; then the data definition commits
//! ```
//! Between two steps the trees are exactly what a snapshot of the table says, so a unique value that is there twice is there twice.
//! A transaction that has noted a row and is not seen by the new snapshot is looked at again in the next one. Statements that a
//! rollback undoes have noted their rows too, and those are found unchanged.
//!
//! The snapshot is taken before the notes: who is seen by it has noted everything before it committed, and is among them.

use crate::fill;
use crate::rewrite::Rewrite;
use catalog::Table;
use catalog::error;
use catalog::row_log::{Note, RowLog};
use engine::{Engine, Isolation, Read, Transaction};
use expr::Execution;
use expr::Stage;
use run::Env;
use run::Run;
use run::entries::{self, Entries};
use run::long;
use run::write::{Refused, RowWriter, duplicate_entry};
use std::collections::BTreeMap;
use std::sync::Arc;
use types::codes::*;
use types::row::long::Parts;
use types::{Result, err};

/// Steps of nice(2) that a build stands behind statements while it reads the whole table: nobody waits for it then.
const FILL_NICE: u8 = 5;

/// What is built.
pub enum Goal {
    /// The indexes at these positions of the table's new version, whose rows are the old one's.
    Indexes(Arc<Table>, Vec<usize>),
    /// All trees of the table's new form.
    Form(Box<Rewrite>),
}

/// Trees of a table that are being built. Dropped, it shuts the row log.
pub struct OnlineBuild {
    engine: Arc<Engine>,
    /// Whose rows are read and noted.
    from: Arc<Table>,
    /// Whose trees are built.
    to: Arc<Table>,
    /// Positions of those in [`Table::indexes`].
    indexes: Vec<usize>,
    /// Unless rows stay as they are.
    rewrite: Option<Rewrite>,
    /// What the new trees agree with, once they are filled.
    snapshot: Transaction,
    /// Rows noted by transactions that the snapshot does not see.
    unseen: BTreeMap<Box<[u8]>, Vec<u64>>,
}

/// A row in an older and in a newer snapshot, in its new form; nothing where it is not there.
#[derive(Default)]
struct Change {
    old_row: Vec<u8>,
    new_row: Vec<u8>,
    old: Option<RowWriter>,
    new: Option<RowWriter>,
}

impl OnlineBuild {
    /// Opens the row log and takes the first snapshot. The caller keeps everybody else from the table meanwhile.
    pub fn begin(engine: &Arc<Engine>, goal: Goal, log_bytes: usize) -> Result<OnlineBuild> {
        let (from, to, indexes, rewrite) = match goal {
            Goal::Indexes(table, indexes) => (Arc::clone(&table), table, indexes, None),
            Goal::Form(rewrite) => {
                debug_assert!(rewrite.repeats(), "what is made of a row is made of it again");
                let (from, to) = (Arc::clone(&rewrite.from), Arc::clone(&rewrite.to));
                let indexes = (0..to.indexes.len()).collect();
                (from, to, indexes, Some(*rewrite))
            }
        };
        let snapshot = snapshot(engine)?;
        from.row_log.open(log_bytes);
        let (engine, unseen) = (Arc::clone(engine), BTreeMap::new());
        Ok(OnlineBuild { engine, from, to, indexes, rewrite, snapshot, unseen })
    }

    fn log(&self) -> &RowLog {
        &self.from.row_log
    }

    /// Puts what all rows are and have into the new trees, which are of `tx`. Errors 1062, 1138, 1317 and those of conversions.
    pub fn fill(&mut self, tx: &mut Transaction, env: &mut dyn Env) -> Result<()> {
        let _behind_statements = io::StandingBack::new(FILL_NICE);
        if let Some(rewrite) = &mut self.rewrite {
            return rewrite.copy(tx, env, Some(&mut self.snapshot)).map(drop);
        }
        self.snapshot.heed(tx);
        let run = Run::new(tx, env, &[], &[]);
        self.indexes.iter().try_for_each(|index| fill::fill_from(&run, &mut self.snapshot, &self.to, *index))
    }

    /// Brings the new trees to what the table is now; says for how many rows. Errors as [`OnlineBuild::fill`], and 1799.
    pub fn catch_up(&mut self, tx: &mut Transaction, env: &mut dyn Env) -> Result<usize> {
        env.stage(Stage::AlterApply);
        let mut now = snapshot(&self.engine)?;
        let mut rows = std::mem::take(&mut self.unseen);
        let name = &self.to.indexes[self.indexes[0]].name;
        for Note { trx, key } in self.log().take().map_err(|_| err!(ER_INNODB_ONLINE_LOG_TOO_BIG, name))? {
            let writers = rows.entry(key).or_default();
            if writers.last() != Some(&trx) {
                writers.push(trx);
            }
        }
        let run = Run::new(tx, env, &[], &[]);
        let (mut change, mut come) = (Change::default(), Vec::new());
        // A unique value may have gone from one row to another: first all that went. What is to come is read again.
        for key in rows.keys() {
            if self.read(key, &mut now, &mut change, &run)? && self.take_away(&change, &mut run.tx.borrow_mut())? {
                come.push(key);
            }
        }
        for key in come {
            self.read(key, &mut now, &mut change, &run)?;
            self.put(&change, &mut run.tx.borrow_mut())?;
        }
        drop(run);
        let count = rows.len();
        rows.retain(|_, writers| {
            writers.retain(|trx| !now.sees_end_of(*trx));
            !writers.is_empty()
        });
        (self.unseen, self.snapshot) = (rows, now);
        Ok(count)
    }

    /// Reads a row in both snapshots. False: it is the same, nothing is to be done.
    fn read(&mut self, key: &[u8], now: &mut Transaction, change: &mut Change, run: &Run<'_>) -> Result<bool> {
        run.check_interrupt()?;
        let tree = self.from.indexes[0].tree;
        let Change { old_row, new_row, old, new } = change;
        let was = self.snapshot.get(tree, key, Read::Consistent, old_row).map_err(error::engine)?;
        let is = now.get(tree, key, Read::Consistent, new_row).map_err(error::engine)?;
        if was == is && (!was || old_row == new_row) {
            return Ok(false);
        }
        for (there, row, form, tx) in [(was, old_row, old, &self.snapshot), (is, new_row, new, &*now)] {
            *form = there.then(|| form.take().unwrap_or_default());
            let mut inside = Vec::new();
            let row = if there { long::inside(tx, &self.from, row, &mut inside)? } else { &row[..] };
            match (form, &mut self.rewrite) {
                (None, _) => {}
                (Some(form), Some(rewrite)) => rewrite.convert(row, form, run)?,
                (Some(form), None) => {
                    form.row.clear();
                    form.row.extend_from_slice(row);
                    form.key.clear();
                    form.key.extend_from_slice(key);
                }
            }
        }
        Ok(true)
    }

    /// Takes what the old row has and the new one has not out of the trees. A row that keeps its key becomes the new one. Says
    /// whether there is anything to [`OnlineBuild::put`].
    fn take_away(&self, change: &Change, tx: &mut Transaction) -> Result<bool> {
        let mut more = false;
        for index in self.indexes.iter().copied() {
            if index == 0 {
                let tree = self.to.indexes[0].tree;
                match (&change.old, &change.new) {
                    (Some(old), Some(new)) if old.key == new.key => {
                        if old.row != new.row {
                            let update = |tx: &mut Transaction, row: engine::Row<'_>| tx.update(tree, &new.key, row);
                            let parts = &mut Parts::default();
                            long::store(tx, &self.to, new.key.len(), &new.row, parts, update).map_err(error::engine)?;
                        }
                    }
                    (old, new) => {
                        if let Some(old) = old {
                            tx.delete(tree, &old.key).map_err(error::engine)?;
                        }
                        more |= new.is_some();
                    }
                }
                continue;
            }
            let (old, new) = self.entries(index, change);
            let gone = old.without(&new, false).map(|(entry, _)| entry);
            entries::delete(tx, &self.to, index, gone).map_err(Refused::locked)?;
            more |= new.without(&old, false).next().is_some();
        }
        Ok(more)
    }

    /// Puts what the new row has and the old one has not into the trees. Error 1062.
    fn put(&self, change: &Change, tx: &mut Transaction) -> Result<()> {
        let Some(form) = &change.new else { return Ok(()) };
        let mut refused = Vec::new();
        for index in self.indexes.iter().copied() {
            let put = if index == 0 {
                match &change.old {
                    Some(old) if old.key == form.key => Ok(()),
                    _ => match self.insert_row(form, tx) {
                        Err(engine::Error::DuplicateKey) => Err(Refused::Duplicate(0)),
                        other => other.map_err(Refused::from),
                    },
                }
            } else {
                let (old, new) = self.entries(index, change);
                let come = new.without(&old, self.to.indexes[index].unique);
                entries::insert(tx, &self.to, index, come, &mut refused)
            };
            match put {
                Ok(()) => {}
                Err(Refused::Duplicate(index)) => return Err(duplicate_entry(&self.to, index, &form.row, None)),
                Err(refused) => return Err(refused.locked()),
            }
        }
        Ok(())
    }

    fn insert_row(&self, form: &RowWriter, tx: &mut Transaction) -> engine::Result<()> {
        let insert = |tx: &mut Transaction, row: engine::Row<'_>| tx.insert(self.to.indexes[0].tree, &form.key, row);
        long::store(tx, &self.to, form.key.len(), &form.row, &mut Parts::default(), insert)
    }

    /// What the old and the new row have in one secondary index.
    fn entries(&self, index: usize, change: &Change) -> (Entries, Entries) {
        let of = |form: &Option<RowWriter>| {
            form.as_ref().map_or_else(Entries::default, |f| Entries::of(&self.to, index, &f.row, &f.key))
        };
        (of(&change.old), of(&change.new))
    }

    /// Looks once more, with everybody out: nothing is left. Errors as [`OnlineBuild::catch_up`].
    pub fn finish(mut self, tx: &mut Transaction, env: &mut dyn Env) -> Result<()> {
        self.catch_up(tx, env)?;
        while !self.unseen.is_empty() {
            // Their sessions are done with the table and about to say so.
            tx.check_interrupt().map_err(error::engine)?;
            std::thread::yield_now();
            self.catch_up(tx, env)?;
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
