//! Statements over tables of two kinds: rows of those that are not transactional are read and written in a transaction of their
//! own, beside the session's.
//!
//! [`Run::tx`] is the transaction at hand. Where a plan reads a table that is not transactional stands a [`BesideOp`], which puts
//! the other one in its place while that operator works, and takes it away for whoever receives the rows; a subquery
//! inside starts out in the session's again. Tables of transactional engines pay nothing for it. A statement without such
//! tables has all its rows in one transaction, and nothing is ever exchanged.

use super::{Frame, Op, Receive, Run, Scope, Settled};
use catalog::error;
use catalog::{Table, Version};
use engine::{Savepoint, Transaction};
use plan::TableUse;
use plan::node::Body;
use types::Result;

/// Which transactions a statement's tables want.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Uses {
    /// It has no table.
    Nothing,
    /// The session's.
    Transaction,
    /// That of tables that are not transactional, and no other.
    Beside,
    Both,
}

impl Uses {
    /// Of the tables of `version` that a statement names, and the one that it fills.
    pub fn of(tables: &[TableUse], body: &Body, version: &Version) -> Uses {
        let filled = match body {
            Body::Insert(insert) => Some(&insert.table),
            _ => None,
        };
        let named = tables.iter().filter_map(|t| version.table(&t.schema, &t.table)).filter(|t| t.is_base());
        let (mut own, mut beside) = (false, false);
        for table in named.chain(filled) {
            own |= table.engine.is_transactional();
            beside |= !table.engine.is_transactional();
        }
        match (own, beside) {
            (true, true) => Uses::Both,
            (false, true) => Uses::Beside,
            (false, false) if tables.is_empty() => Uses::Nothing,
            (_, false) => Uses::Transaction,
        }
    }
}

/// Puts the transaction that was at hand before back in its place.
pub struct Within<'r, 'x> {
    run: &'r Run<'x>,
    exchanged: bool,
}

impl Drop for Within<'_, '_> {
    fn drop(&mut self) {
        if self.exchanged {
            self.run.exchange();
        }
    }
}

impl<'x> Run<'x> {
    /// Until the guard goes, the transaction at hand is the one that `table` lives in.
    #[inline]
    pub fn within(&self, table: &Table) -> Within<'_, 'x> {
        self.at_hand(!table.engine.is_transactional())
    }

    /// The same for the session's own.
    #[inline]
    pub fn outside(&self) -> Within<'_, 'x> {
        self.at_hand(false)
    }

    #[inline]
    fn at_hand(&self, beside: bool) -> Within<'_, 'x> {
        let exchanged = self.has_beside && self.is_beside.get() != beside;
        if exchanged {
            self.exchange();
        }
        Within { run: self, exchanged }
    }

    /// The row at hand is written as a whole: whatever comes now, it stays where rows do.
    #[inline]
    pub fn row_stands(&self) {
        if self.keeps_rows {
            self.unfinished.set(None);
        }
    }

    /// The statement has failed: rows before the one at hand stay, of that one nothing does.
    #[cold]
    pub fn undo_unfinished(&self) -> Result<()> {
        undo_row(self.unfinished.take(), &mut self.tx.borrow_mut())
    }

    #[cold]
    fn exchange(&self) {
        let other = self.beside.take().expect("there are two");
        self.beside.set(Some(std::mem::replace(&mut *self.tx.borrow_mut(), other)));
        self.is_beside.set(!self.is_beside.get());
    }
}

/// What a row that cannot be written as a whole goes back to: with IGNORE and the like, in a routine's statement, and in a table that
/// is not transactional, where the rows before it stay.
#[inline]
pub fn row_savepoint(wanted: bool, table: &Table, run: &Run<'_>, tx: &Transaction) -> Option<Savepoint> {
    if run.keeps_rows {
        let savepoint = tx.savepoint();
        run.unfinished.set(Some(savepoint).filter(|_| table.engine.is_transactional()));
        return Some(savepoint);
    }
    (wanted || !table.engine.is_transactional()).then(|| tx.savepoint())
}

/// Undoes what was written of the row.
pub fn undo_row(savepoint: Option<Savepoint>, tx: &mut Transaction) -> Result<()> {
    savepoint.map_or(Ok(()), |savepoint| tx.rollback_to(savepoint).map_err(error::during_rollback))
}

/// The operator of a table that is not transactional.
struct BesideOp {
    inner: Box<dyn Op>,
}

/// The operator of `table`, in the transaction that the table lives in.
pub fn placed(table: &Table, inner: Box<dyn Op>) -> Box<dyn Op> {
    if table.engine.is_transactional() { inner } else { Box::new(BesideOp { inner }) }
}

impl Op for BesideOp {
    fn open(&mut self, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<()> {
        let _within = run.at_hand(true);
        self.inner.open(run, frame, outer)
    }

    fn next(&mut self, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<bool> {
        let _within = run.at_hand(true);
        self.inner.next(run, frame, outer)
    }

    fn each(
        &mut self,
        run: &Run<'_>,
        frame: &mut Frame,
        outer: Option<&Scope<'_>>,
        receive: &mut Receive<'_>,
    ) -> Result<()> {
        let _within = run.at_hand(true);
        self.inner.each(run, frame, outer, &mut |row| {
            let _outside = run.outside();
            receive(row)
        })
    }

    fn settle(&mut self, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<Settled> {
        let _within = run.at_hand(true);
        self.inner.settle(run, frame, outer)
    }

    fn reject(&mut self, run: &Run<'_>) {
        let _within = run.at_hand(true);
        self.inner.reject(run);
    }

    fn forget(&mut self) {
        self.inner.forget();
    }
}
