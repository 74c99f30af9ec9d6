//! Transactions: begin, commit, rollback, savepoints, and what SET TRANSACTION and autocommit say.

use crate::binary_log::LoggedAs;
use crate::gtids::Next as NextGtid;
use crate::performance::Savepointing;
use crate::session::Session;
use crate::variables::{VarId, id};
use binlog::event::XaId;
use catalog::Waiting;
use engine::{Begin, Isolation};
use expr::{Env, Stage};
use observe::Counter;
use protocol::{Next, Output};
use run::Outcome;
use sql::ast::{AccessMode, Completion};
use types::codes::*;
use types::{Result, SqlError, err};

const COMPLETION: VarId = id("completion_type");

/// Most savepoints of one transaction.
const SAVEPOINTS_MAX: usize = 10_000;

/// The dictionary of a snapshot that is not taken yet, or taken anew by each statement.
pub(crate) const NO_SNAPSHOT: u64 = u64::MAX;

impl Session {
    /// See [`protocol::Service::is_midway`].
    pub(crate) fn is_midway(&self) -> bool {
        self.transaction.explicit || self.tx.is_active() || !self.pins.holds_nothing()
    }

    /// Is each statement a transaction of its own now?
    #[inline]
    pub(crate) fn autocommits(&self) -> bool {
        !self.transaction.explicit && self.state.vars.hot().autocommit
    }

    /// The level of the transaction in progress, or of the next one.
    pub(crate) fn isolation(&self) -> Isolation {
        match self.tx.is_active() {
            true => self.tx.isolation(),
            false => self.transaction.next_isolation.unwrap_or(self.state.vars.hot().isolation),
        }
    }

    /// Begins the engine's transaction unless it runs.
    #[inline]
    pub(crate) fn begin_if_needed(&mut self) {
        if self.tx.is_active() {
            return;
        }
        let transaction = &mut self.transaction;
        let hot = self.state.vars.hot();
        let isolation = transaction.next_isolation.take().unwrap_or(hot.isolation);
        if !transaction.explicit {
            transaction.read_only = transaction.next_read_only.take().unwrap_or(hot.read_only);
        }
        transaction.snapshot_at = NO_SNAPSHOT;
        let alone = !transaction.explicit && hot.autocommit;
        if self.state.gtid.next == NextGtid::Anonymous {
            self.state.begin_anonymous();
        }
        let read_only = transaction.read_only;
        self.tx.begin_as(Begin { isolation, read_only, alone, now_us: self.state.clock_us });
        if !self.recorder.transaction.is_open() {
            self.note_transaction(isolation, read_only, alone);
        }
    }

    /// BEGIN, START TRANSACTION: commits what runs. As in MySQL the transaction has level and access mode of one that ran, unless it
    /// says otherwise.
    pub(crate) fn begin(&mut self, consistent_snapshot: bool, access: Option<AccessMode>) -> Result<()> {
        let runs = self.transaction.explicit || self.tx.is_active();
        let before = runs.then(|| (self.isolation(), self.transaction.read_only));
        self.commit_all()?;
        if let Some((isolation, _)) = before {
            self.transaction.next_isolation = Some(isolation);
        }
        self.unlock_tables_alone();
        let read_only = match access {
            Some(mode) => mode == AccessMode::ReadOnly,
            None => {
                let next = self.transaction.next_read_only.take();
                before.map(|(_, mode)| mode).or(next).unwrap_or(self.state.vars.hot().read_only)
            }
        };
        self.transaction.explicit = true;
        self.transaction.read_only = read_only;
        if self.state.gtid.next == NextGtid::Anonymous {
            self.state.begin_anonymous();
        }
        self.tracking.begin(consistent_snapshot, access);
        self.note_transaction(self.isolation(), read_only, false);
        if consistent_snapshot {
            self.catalog.get(self.server.catalog.cell());
            self.begin_if_needed();
            if self.tx.isolation() == Isolation::RepeatableRead {
                self.tx.take_snapshot();
                self.transaction.snapshot_at = self.catalog.peek().number;
            } else {
                let message = "InnoDB: WITH CONSISTENT SNAPSHOT was ignored because this phrase can only be used with \
                               REPEATABLE READ isolation level.";
                self.state.warn("Warning", HA_ERR_UNSUPPORTED_EXTENSION, message.to_string());
            }
        }
        Ok(())
    }

    /// The engines that have a part in the transaction, as MySQL counts them: the binary log is one where something is written.
    fn engines(&self) -> u64 {
        let logs = self.tx.has_writes() && self.state.logs_to().is_some();
        1 + u64::from(logs)
    }

    /// Counts a commit of the transaction, or of one statement in it, that so many engines have a part in: two prepare first.
    fn count_commit(engines: u64) {
        let lane = observe::lane();
        lane.add(Counter::HandlerCommit, engines);
        if engines > 1 {
            lane.add(Counter::HandlerPrepare, engines);
        }
    }

    /// Counts the end of a statement that leaves its transaction open.
    pub(crate) fn count_statement(&self, result: &Result<Outcome>) {
        match result {
            Ok(_) => {
                let wrote = self.transaction.writes && self.tx.has_writes();
                Self::count_commit(if wrote { self.engines() } else { 1 });
            }
            Err(_) => observe::increment(Counter::HandlerRollback),
        }
    }

    /// Ends the transaction, if there is one, with its changes. A failed commit has rolled back.
    pub(crate) fn commit_all(&mut self) -> Result<()> {
        self.commit_all_as(None)
    }

    /// The same of an XA transaction, in one phase.
    pub(crate) fn commit_all_as(&mut self, xa: Option<&XaId>) -> Result<()> {
        let result = if self.tx.is_active() { self.commit_engine(xa) } else { Ok(()) };
        if result.is_err() {
            self.recorder.transaction.rolls_back();
        }
        if result.is_err() && self.tx.is_active() {
            // The commit's error is the one to tell. What cannot be undone now is undone in the background.
            let _ = self.tx.rollback();
        }
        self.state.end_gtid(result.is_ok());
        self.ended();
        result
    }

    /// Commits; what was changed waits for FLUSH TABLES WITH READ LOCK and for `read_only` of others. Errors 1205, 1290, 1317.
    fn commit_engine(&mut self, xa: Option<&XaId>) -> Result<()> {
        Self::count_commit(self.engines());
        if !self.tx.has_writes() {
            if self.tx.rests_on_others() {
                self.entry.stage(Stage::HandlerCommit);
            }
            return self.tx.commit().map_err(catalog::error::engine);
        }
        if self.transaction.changes_shared {
            self.check_read_only()?;
        }
        match xa {
            Some(id) => _ = self.state.log_xa(&mut self.tx, id, true)?,
            None => self.state.log_commit(&mut self.tx, LoggedAs::Rows)?,
        }
        self.commit_logged()
    }

    /// Does what changes nothing here go into the binary log? A server that nobody may write to has no transactions of its own.
    pub(crate) fn may_add_events(&self) -> bool {
        self.state.logs_to().is_some() && self.check_read_only().is_ok()
    }

    /// Commits a transaction that has changed nothing: an empty one, or one with a statement that replicas are to run too.
    #[cold]
    pub(crate) fn commit_event(&mut self, text: Option<&[u8]>) -> Result<()> {
        self.begin_if_needed();
        let result = match text {
            None => self.state.log_end(&mut self.tx, LoggedAs::Rows),
            Some(text) => self
                .state
                .log_statement(&mut self.tx, text)
                .and_then(|()| self.state.log_end(&mut self.tx, LoggedAs::Statement)),
        };
        let result = result.and_then(|()| self.commit_logged());
        if result.is_err() && self.tx.is_active() {
            // The commit's error is the one to tell.
            let _ = self.tx.rollback();
        }
        self.state.end_gtid(result.is_ok());
        self.ended();
        result
    }

    fn commit_logged(&mut self) -> Result<()> {
        let timeout = self.state.vars.hot().lock_wait_timeout;
        self.entry.stage(Stage::HandlerCommit);
        self.pins.begin_commit(Waiting { timeout, tx: &mut self.tx })?;
        let mut result = self.tx.precommit();
        self.state.track_commit(self.tx.commit_end());
        self.gathers_until = if result.is_ok() { self.server.gathering.until() } else { None };
        if result.is_ok() && self.settles_later && !self.temporary.has_dropped() {
            self.unsettled = true;
            return Ok(());
        }
        if result.is_ok() {
            self.gather();
            result = self.tx.await_durable();
        }
        self.pins.end_commit();
        result.map_err(catalog::error::engine)
    }

    /// Before the wait for the flush: the wait for others to share it.
    #[inline]
    fn gather(&mut self) {
        if let Some(until) = self.gathers_until.take() {
            self.server.gathering.gather(until);
        }
    }

    /// The second half of a command whose answer rests on commits that are not durable yet: waits for them. The answer,
    /// which nobody has seen, becomes an error when that fails.
    pub(crate) fn settle(&mut self, out: &mut Output) -> Next {
        assert!(std::mem::take(&mut self.unsettled), "there is something to wait for");
        sync::blocking::serve(self.tx.interrupt());
        let result = self.await_settled();
        out.hold(false);
        let next = match result {
            Ok(()) => Next::Continue,
            Err(error) => {
                out.take_back(self.answer_at);
                let error = self.failed(error);
                self.answer_error(out, &error)
            }
        };
        self.after_command(next)
    }

    /// Waits for the commits that the answer at hand rests on.
    pub(crate) fn await_settled(&mut self) -> Result<()> {
        self.gather();
        let result = self.tx.await_durable().map_err(catalog::error::engine);
        if !self.tx.is_active() {
            self.pins.end_commit();
            self.pins.release();
        }
        result
    }

    /// Ends the transaction, if there is one, without its changes.
    pub(crate) fn rollback_all(&mut self) {
        self.recorder.transaction.rolls_back();
        if self.tx.is_active() {
            observe::increment(Counter::HandlerRollback);
            // What cannot be undone now is undone in the background, and told to the error log; there is another error to tell,
            // or nobody who listens.
            let _ = self.tx.rollback();
        }
        self.state.release_gtid();
        self.ended();
    }

    /// The transaction is over, however it ended.
    #[inline]
    pub(crate) fn ended(&mut self) {
        let transaction = &mut self.transaction;
        let was_explicit = transaction.explicit;
        if transaction.explicit {
            transaction.explicit = false;
            // SET TRANSACTION was for this one, also when no statement followed.
            transaction.next_isolation = None;
            transaction.next_read_only = None;
            transaction.savepoints.clear();
        } else if !transaction.savepoints.is_empty() {
            transaction.savepoints.clear();
        }
        transaction.read_only = false;
        self.note_transaction_end();
        let transaction = &mut self.transaction;
        (transaction.kept, transaction.changes_shared) = (false, false);
        if self.tracking.follows_transactions() {
            self.tracking.end(transaction, was_explicit);
        }
        // Until its end is durable a transaction keeps its tables, and FLUSH TABLES WITH READ LOCK waits for it.
        if !self.unsettled {
            self.pins.release();
        }
        if self.temporary.has_dropped() && !self.tx.is_active() {
            self.free_dropped();
        }
    }

    /// COMMIT and ROLLBACK with CHAIN and RELEASE. True: the connection ends.
    pub(crate) fn complete(&mut self, commit: bool, completion: Completion) -> Result<bool> {
        let setting = self.state.vars.uint(COMPLETION);
        let chain = completion.chain.unwrap_or(setting == 1);
        let release = completion.release.unwrap_or(setting == 2);
        let read_only = self.transaction.read_only;
        let isolation = self.isolation();
        let (own_isolation, own_read_only) = self.tracking.chained();
        if commit {
            self.settles_later = !chain && !release && !self.more && !self.state.gtid.tracks();
            let result = self.commit_all();
            self.settles_later = false;
            result?;
            if self.state.gtid.next.is_given() {
                self.commit_number()?;
            }
        } else {
            let active = self.tx.is_active();
            let kept = self.transaction.kept;
            if active {
                observe::add(Counter::HandlerRollback, self.engines());
            }
            let result = if active { self.tx.rollback().map_err(catalog::error::during_rollback) } else { Ok(()) };
            self.state.release_gtid();
            self.recorder.transaction.rolls_back();
            self.ended();
            result?;
            if kept {
                self.tell_kept();
            }
        }
        if chain {
            self.transaction.explicit = true;
            self.transaction.read_only = read_only;
            self.transaction.next_isolation = Some(isolation);
            self.tracking.next(own_isolation, own_read_only);
            self.tracking.begin(false, None);
            self.note_transaction(isolation, read_only, false);
        }
        Ok(release)
    }

    pub(crate) fn savepoint(&mut self, name: &str) -> Result<()> {
        // Outside a transaction a savepoint is of no use and no error.
        if self.autocommits() {
            return Ok(());
        }
        if self.transaction.savepoints.len() >= SAVEPOINTS_MAX {
            return Err(SqlError::new(ER_STACK_OVERRUN_NEED_MORE, "Thread stack overrun: too many savepoints"));
        }
        // Engines that nothing was asked of yet know of no savepoint, and have no part in the transaction because of one.
        let mut engines = 0;
        if self.tx.is_active() {
            engines = self.engines();
            self.begin_readable(0, false)?;
        }
        observe::add(Counter::HandlerSavepoint, engines);
        let savepoint = self.tx.savepoint();
        self.transaction.savepoints.retain(|(n, ..)| !n.eq_ignore_ascii_case(name));
        self.transaction.savepoints.push((name.to_string(), savepoint, engines));
        self.recorder.transaction.count(Savepointing::Set);
        Ok(())
    }

    fn find_savepoint(&self, name: &str) -> Result<usize> {
        let found = self.transaction.savepoints.iter().position(|(n, ..)| n.eq_ignore_ascii_case(name));
        found.ok_or_else(|| err!(ER_SP_DOES_NOT_EXIST, "SAVEPOINT", name))
    }

    pub(crate) fn rollback_to(&mut self, name: &str) -> Result<()> {
        let at = self.find_savepoint(name)?;
        let (_, savepoint, engines) = self.transaction.savepoints[at];
        observe::add(Counter::HandlerSavepointRollback, engines);
        let engines_now = if self.tx.is_active() { self.engines() } else { 0 };
        observe::add(Counter::HandlerRollback, engines_now.saturating_sub(engines));
        self.transaction.savepoints.truncate(at + 1);
        self.recorder.transaction.count(Savepointing::RolledBackTo);
        if engines > 0 {
            self.tx.rollback_to(savepoint).map_err(catalog::error::during_rollback)?;
        } else if engines_now > 0 {
            self.leave_engine()?;
        }
        if self.transaction.kept {
            self.tell_kept();
        }
        Ok(())
    }

    /// The engine had no part in the transaction at the savepoint, and has none again: its locks and its snapshot go. The next
    /// statement begins anew there, with the transaction's level and access mode.
    fn leave_engine(&mut self) -> Result<()> {
        let (isolation, read_only) = (self.tx.isolation(), self.transaction.read_only);
        let outcome = self.tx.rollback().map_err(catalog::error::during_rollback);
        let hot = self.state.vars.hot();
        if isolation != hot.isolation {
            self.transaction.next_isolation = Some(isolation);
        }
        if !self.transaction.explicit && read_only != hot.read_only {
            self.transaction.next_read_only = Some(read_only);
        }
        outcome
    }

    pub(crate) fn release_savepoint(&mut self, name: &str) -> Result<()> {
        let at = self.find_savepoint(name)?;
        self.transaction.savepoints.truncate(at);
        self.recorder.transaction.count(Savepointing::Released);
        Ok(())
    }
}
