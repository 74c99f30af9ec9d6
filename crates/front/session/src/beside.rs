//! Statements with tables that are not transactional (engines MEMORY and MyISAM): what they change there stays, whatever becomes of
//! the statement and of the session's transaction.
//!
//! ```text
//!   pin      metadata locks of all tables, to the end of the session's transaction
//!   lock     the rows of those that are not transactional and change (X) or are locked (S), to the end of the statement
//!   begin    the transaction beside, READ COMMITTED: it sees what there is now
//!   execute  run::beside
//!   commit   the transaction beside, also after an error; then the session's own goes on, or ends, as ever
//! ```
//!
//! Two statements that write one such table run one after the other, as with MySQL's table locks, so the transaction beside never
//! waits for a row. The locks of rows are metadata locks, in whose deadlock search the session's own row locks take part.

use crate::binary_log::LoggedAs;
use crate::session::Session;
use crate::session::plans::{Planned, RowLocks, tables};
use catalog::mdl::{Duration, Name};
use catalog::{Version, Waiting};
use engine::{Begin, Isolation, Transaction};
use expr::{Env, Stage};
use run::{Outcome, Prepared, RowSink, Uses};
use std::sync::Arc;
use types::codes::*;
use types::{Result, Value, err};

/// The rows that data definition reads in its own transaction, which locks them one by one: writers are to wait for all of them, or
/// it could wait for them and they for it.
pub(crate) fn rows_read(prepared: &Prepared, version: &Version) -> Vec<Arc<Name>> {
    tables(prepared, version).into_iter().map(|(_, name)| name).collect()
}

impl Session {
    /// Runs a pinned statement with tables that are not transactional.
    #[cold]
    pub(crate) fn run_beside(
        &mut self,
        planned: &mut Planned,
        params: &[Value<'_>],
        sink: &mut dyn RowSink,
    ) -> Result<Outcome> {
        if let Some(rows) = planned.rows.as_deref().filter(|rows| rows.writes) {
            let mixes = rows.mixes || (self.is_in_transaction() && !self.tx.events().is_empty());
            if mixes {
                self.check_gtid_consistency(|| err!(ER_GTID_UNSAFE_NON_TRANSACTIONAL_TABLE))?;
            }
        }
        let locks = planned.rows.take();
        let result = self.with_beside(locks.as_deref(), |session, beside| {
            let both = planned.prepared.uses() == Uses::Both;
            if both || planned.prepared.calls() {
                session.begin_readable(planned.readable_since, planned.takes_snapshot())?;
            }
            let result = planned.prepared.execute_beside(&mut session.tx, beside, params, &mut session.state, sink);
            session.transaction.tells_kept = both && result.is_err() && beside.has_changes() && session.autocommits();
            result
        });
        planned.rows = locks;
        result
    }

    /// Gives `run` a transaction for tables that are not transactional, and commits it. What it changes in others is the session's
    /// transaction's. Errors of the locks: 1205, 1213, 1317, 3024.
    pub(crate) fn with_beside(
        &mut self,
        locks: Option<&RowLocks>,
        run: impl FnOnce(&mut Session, &mut Transaction) -> Result<Outcome>,
    ) -> Result<Outcome> {
        let mut beside = match self.beside.take() {
            Some(beside) => beside,
            None => {
                let mut beside = self.tx.beside().map_err(catalog::error::engine)?;
                self.state.bound_events(&mut beside);
                Box::new(beside)
            }
        };
        let locked = locks.map_or(Ok(()), |locks| self.lock_rows(locks));
        let result = locked.and_then(|()| {
            beside.begin_as(Begin {
                isolation: Isolation::ReadCommitted,
                read_only: false,
                alone: false,
                now_us: self.state.clock_us,
            });
            let result = run(self, &mut beside);
            self.commit_beside(&mut beside, result)
        });
        self.beside = Some(beside);
        result
    }

    fn lock_rows(&mut self, rows: &RowLocks) -> Result<()> {
        let timeout = self.state.vars.hot().lock_wait_timeout;
        for (name, mode) in &rows.locks {
            self.pins.lock(name, *mode, Duration::Statement, &mut Waiting { timeout, tx: &mut self.tx })?;
        }
        if rows.rests_on_others { self.tx.await_others().map_err(catalog::error::engine) } else { Ok(()) }
    }

    /// The statement has ended: what it changed stays.
    fn commit_beside(&mut self, beside: &mut Transaction, result: Result<Outcome>) -> Result<Outcome> {
        if !beside.is_active() {
            return result;
        }
        if beside.has_writes() {
            self.transaction.kept |= beside.has_changes() && !self.autocommits();
            self.entry.stage(Stage::HandlerCommit);
        }
        let mut ended = match self.state.log_commit(beside, LoggedAs::RowsBeside) {
            Ok(()) => beside.precommit(),
            Err(e) => {
                // What cannot be undone now is undone in the background.
                let _ = beside.rollback();
                self.state.end_gtid(false);
                self.pins.release_where(|t| matches!(*t.name, Name::Rows(..)));
                return Err(e);
            }
        };
        self.pins.release_where(|t| matches!(*t.name, Name::Rows(..)));
        if ended.is_ok() {
            ended = beside.await_durable();
        }
        self.state.end_gtid(ended.is_ok());
        self.state.track_commit(beside.commit_end());
        // The statement's own error is the one to tell.
        let outcome = result?;
        ended.map_err(catalog::error::engine)?;
        Ok(outcome)
    }

    /// Warning 1196 at a rollback of a transaction that has changed such tables.
    pub(crate) fn tell_kept(&mut self) {
        self.state.push_warning("Warning", err!(ER_WARNING_NOT_COMPLETE_ROLLBACK));
    }
}
