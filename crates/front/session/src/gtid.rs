//! Which number a session's next transaction gets (`gtid_next`), who owns which number, and what counts as executed.
//!
//! ```text
//!   AUTOMATIC, ANONYMOUS    the writer of the files numbers the transaction, or nobody does
//!        |  SET gtid_next = 'uuid:7'
//!        v
//!   Owned(uuid:7) --- COMMIT, implicit commit ---> Over(uuid:7)     changes go under that number; without any it is an empty transaction
//!        |                                             ^
//!        +-- ROLLBACK, an error outside a transaction -+            the number is free again
//!   Executed(uuid:7) --- COMMIT, ROLLBACK -------------+            it had been executed: what would change data is passed over
//! ```
//! In `Over` nothing that needs a number runs until `gtid_next` is set anew (error 1837). A number has one owner at a time; who wants one
//! that is owned waits for its owner's end.

use crate::binary_log::binlog_error;
use crate::gtids::{
    ENFORCE_GTIDS, ENFORCE_OFF, ENFORCE_ON, GTID_MODE, GTID_NEXT, GTID_PURGED, MODE_ON, NO_COMMIT_TIME, NO_VERSION,
    Next, OUTSIDE_TRANSACTIONS, TRACK_ALL, TRACK_GTIDS, TRACK_OFF, TRACK_RECEIPT, Waits, names_tag, numbers,
};
use crate::needs::Action;
use crate::receipt;
use crate::session::Session;
use crate::session_gtid::Counted;
use crate::state::State;
use crate::variables::{Val, VarId, id};
use crate::xa::DETACH;
use binlog::Tracked;
use binlog::payload::Numbering;
use engine::Lsn;
use expr::Env;
use sql::ast::Statement;
use std::time::{Duration, Instant};
use sync::blocking::{ASK_AGAIN, is_interrupted};
use sync::waits::Wait;
use types::codes::*;
use types::gtid::{GtidSet, Tag};
use types::{Result, SqlError, err};
const ORIGINAL_COMMIT: VarId = id("original_commit_timestamp");
const ORIGINAL_VERSION: VarId = id("original_server_version");

/// Is it a statement that a session may run whatever `gtid_next` says? Those of the executor are looked at when they are planned.
fn needs_no_number(statement: &Statement) -> bool {
    use Statement as S;
    matches!(
        statement,
        S::Begin { .. }
            | S::Commit(_)
            | S::Rollback(_)
            | S::Savepoint(_)
            | S::RollbackTo(_)
            | S::ReleaseSavepoint(_)
            | S::Set(_)
            | S::SetRole(_)
            | S::Show(_)
            | S::Explain(_)
            | S::DescribeTable { .. }
            | S::Help(_)
            | S::Handler(_)
            | S::Use(_)
            | S::Kill { .. }
            | S::Prepare { .. }
            | S::Execute { .. }
            | S::Deallocate(_)
            | S::Xa(_)
            // Its rows are looked at one event after the other.
            | S::Binlog(_)
            | S::Shutdown
    )
}

/// Does a statement that has succeeded outside of a transaction use up the number, whatever it did?
pub(crate) fn ends_number(statement: &Statement) -> bool {
    use Statement as S;
    let locks = matches!(statement, S::LockTables(_) | S::UnlockTables | S::LockInstance | S::UnlockInstance);
    !locks && !needs_no_number(statement) && !matches!(statement, S::Call { .. })
}

/// Does it commit the transaction in progress?
fn commits_first(statement: &Statement) -> bool {
    match statement {
        Statement::Begin { .. } | Statement::LockTables(_) => true,
        Statement::CreateTable(create) => !create.temporary,
        Statement::DropTable { temporary, .. } => !temporary,
        other => ends_number(other),
    }
}

impl State {
    /// What becomes of the transaction that is about to commit: its number. [`State::end_gtid`] follows.
    pub(crate) fn numbering(&mut self) -> Numbering {
        let globals = self.server.globals.load();
        let numbered = numbers(&globals);
        // The applier asks what is executed before it begins, and nobody else applies the source's transactions.
        if let Some(gtid) = self.applied.as_ref().and_then(|applied| applied.gtid())
            && globals.uint(GTID_MODE) > 0
        {
            return Numbering::Given(gtid);
        }
        match self.gtid.next {
            Next::Owned(gtid) => {
                self.gtid.next = Next::Over(gtid);
                self.gtid.committing = Some(gtid);
                Numbering::Given(gtid)
            }
            // Unless the mode became ON meanwhile: from then on nothing is without a number.
            Next::Anonymous if globals.uint(GTID_MODE) != MODE_ON => Numbering::Anonymous,
            Next::Undetermined => {
                self.gtid.next = Next::Anonymous;
                Numbering::Anonymous
            }
            Next::Tagged(tag) if numbered => Numbering::Automatic(tag),
            _ if numbered => Numbering::Automatic(Tag::default()),
            _ => Numbering::Anonymous,
        }
    }

    /// The commit that took a number is over.
    #[inline]
    pub(crate) fn end_gtid(&mut self, committed: bool) {
        if self.gtid.next == Next::Anonymous {
            self.gtid.counted = None;
        }
        if let Some(gtid) = self.gtid.committing.take() {
            self.server.gtids.release(gtid, committed, self.server.binlog.as_deref());
        }
    }

    /// A commit of this session ends there in the log; 0: it has written nothing.
    #[inline]
    pub(crate) fn track_commit(&mut self, end: Lsn) {
        if self.gtid.tracks() && end != 0 {
            self.gtid.committed.push(end);
        }
    }

    /// What the OK packet tells of the commits of this statement: numbers by `session_track_gtids`, and the receipt by
    /// `clearway_track_receipt`. Waits for the writer of the files, who numbers them.
    #[cold]
    pub(crate) fn told_of_commits(&mut self) -> (Option<String>, Option<String>) {
        let ends = std::mem::take(&mut self.gtid.committed);
        let Some(binlog) = self.server.binlog.as_ref().filter(|_| !ends.is_empty()) else { return (None, None) };
        // Who is interrupted in the wait is told nothing.
        let Ok(now) = binlog.catch_up(is_interrupted) else { return (None, None) };
        let commits: Vec<Tracked> = ends.into_iter().filter_map(|end| binlog.tracked(end)).collect();
        let mut own = GtidSet::default();
        commits.iter().filter_map(|commit| commit.gtid).for_each(|gtid| own.add(gtid));
        let tracked = match self.vars.uint(TRACK_GTIDS) {
            _ if own.is_empty() => None,
            TRACK_OFF => None,
            TRACK_ALL => Some(now.executed.to_string()),
            _ => Some(own.to_string()),
        };
        // Who has the last one has those before it.
        let last = commits.last().filter(|_| self.vars.bool(TRACK_RECEIPT));
        (tracked, last.map(|last| receipt::text(binlog, last.gtid, Some(last.place))))
    }

    /// `session_track_gtids` may have been set.
    pub(crate) fn follow_tracking(&mut self, tracks: bool) {
        if self.gtid.tracks() != tracks {
            self.gtid.tracker = self.server.binlog.as_ref().filter(|_| tracks).map(|binlog| binlog.track());
        }
    }

    /// When and on what version the transaction was committed where it came from; 0: here.
    pub(crate) fn origin(&self) -> (u64, u32) {
        if let Some(applied) = &self.applied {
            return applied.original();
        }
        let told = |id, nothing| Some(self.vars.uint(id)).filter(|n| *n != nothing).unwrap_or(0);
        (told(ORIGINAL_COMMIT, NO_COMMIT_TIME), told(ORIGINAL_VERSION, NO_VERSION) as u32)
    }

    /// The number is free again; what it was for did not happen.
    #[inline]
    pub(crate) fn release_gtid(&mut self) {
        if self.gtid.next.is_given() || self.gtid.next == Next::Anonymous {
            self.release_gtid_slow();
        }
    }

    #[cold]
    fn release_gtid_slow(&mut self) {
        match self.gtid.next {
            Next::Owned(gtid) => {
                self.server.gtids.release(gtid, false, self.server.binlog.as_deref());
                self.gtid.next = Next::Over(gtid);
            }
            Next::Executed(gtid) => self.gtid.next = Next::Over(gtid),
            Next::Anonymous => self.gtid.counted = None,
            _ => {}
        }
    }

    /// A transaction of a session begins that has asked for none with a number.
    #[cold]
    pub(crate) fn begin_anonymous(&mut self) {
        if self.gtid.counted.is_none() && self.server.globals.load().uint(GTID_MODE) != MODE_ON {
            self.gtid.counted = Some(Counted::new(&self.server, Waits::Anonymous));
        }
    }

    /// `@@gtid_owned`, of this session or of all.
    pub(crate) fn owned_gtid(&self, global: bool) -> String {
        match self.gtid.next {
            _ if global => self.server.gtids.print_owned(),
            Next::Owned(gtid) => gtid.to_string(),
            _ => String::new(),
        }
    }
}

impl Session {
    /// A BINLOG statement begins a file: who has left numbers to the server has to say what those of the file are. Error 1766.
    pub(crate) fn undetermine_gtid(&mut self) -> Result<()> {
        if self.state.gtid.next != Next::Automatic {
            return Ok(());
        }
        if self.is_in_transaction() {
            return Err(err!(ER_VARIABLE_NOT_SETTABLE_IN_TRANSACTION, "gtid_next"));
        }
        self.state.gtid.next = Next::Undetermined;
        Ok(())
    }

    /// Is a transaction of several statements in progress?
    pub(crate) fn is_in_transaction(&self) -> bool {
        self.tx.is_active() || self.transaction.explicit
    }

    /// Before SET of `gtid_next`, `gtid_purged` or `gtid_mode` is done. Errors 1231, 1766, 1774, 1781, 1782, 1790, 3111, 3138,
    /// 6038, 6039, 6040, and 1227 of `gtid_next`.
    pub(crate) fn may_set_gtid(&self, id: VarId, new: &Val) -> Result<()> {
        let owned = match self.state.gtid.next {
            Next::Owned(gtid) => Some(gtid),
            _ => None,
        };
        let name = crate::variables::VARIABLES[id as usize].name;
        match id {
            GTID_NEXT | GTID_PURGED | TRACK_GTIDS | DETACH if self.is_in_transaction() => {
                Err(err!(ER_VARIABLE_NOT_SETTABLE_IN_TRANSACTION, name))
            }
            _ if OUTSIDE_TRANSACTIONS.contains(&id) && self.is_in_transaction() => {
                Err(err!(ER_VARIABLE_NOT_SETTABLE_IN_TRANSACTION, name))
            }
            GTID_NEXT => {
                let globals = self.server.globals.load();
                self.may_set_gtid_next(new.text())?;
                Next::parse(new.text(), &globals)?;
                match owned {
                    Some(gtid) => Err(err!(ER_CANT_SET_GTID_NEXT_WHEN_OWNING_GTID, gtid)),
                    None if self.state.gtid.holds(Waits::Anonymous) => {
                        Err(err!(ER_CANT_SET_GTID_NEXT_WHEN_OWNING_GTID, "ANONYMOUS"))
                    }
                    None => Ok(()),
                }
            }
            GTID_PURGED | GTID_MODE => match owned {
                Some(gtid) => Err(err!(ER_CANT_SET_VARIABLE_WHEN_OWNING_GTID, name, gtid)),
                // One step further than it is: who goes on to it is asked.
                None if id == GTID_MODE && self.server.globals.load().uint(GTID_MODE) != new.uint() => {
                    self.server.gtids.may_set_mode(new.uint())
                }
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }

    /// What SET of `gtid_next` needs depends on the value. Error 1227; 6038 for one with a tag.
    fn may_set_gtid_next(&self, text: &str) -> Result<()> {
        if !names_tag(text) {
            return self.need(Action::SetReplicationSession);
        }
        let may = self.need(Action::TagGtids).and_then(|()| self.need(Action::SetReplicationSession));
        const NEEDED: &str = "the TRANSACTION_GTID_TAG and at least one of the: SYSTEM_VARIABLES_ADMIN, \
                              SESSION_VARIABLES_ADMIN or REPLICATION_APPLIER";
        may.map_err(|_| err!(ER_SPECIFIC_ACCESS_DENIED, NEEDED))
    }

    /// SET gtid_next. Errors 1026, 1317, and those of [`Session::may_set_gtid`].
    pub(crate) fn set_gtid_next(&mut self, text: &str) -> Result<()> {
        let globals = self.server.globals.load();
        self.state.gtid.next = match (Next::parse(text, &globals)?, self.server.binlog.clone()) {
            (Next::Over(gtid), Some(binlog)) => match self.server.gtids.acquire(gtid, self.state.id, &binlog)? {
                true => Next::Owned(gtid),
                false => Next::Executed(gtid),
            },
            (next, _) => next,
        };
        let waits = match self.state.gtid.next {
            Next::Anonymous => Some(Waits::Anonymous),
            Next::Tagged(_) => Some(Waits::Tagged),
            _ => None,
        };
        self.state.gtid.counted = waits.map(|waits| Counted::new(&self.server, waits));
        Ok(())
    }

    /// SET GLOBAL gtid_purged. Errors 1231, 1317, 3546.
    pub(crate) fn set_gtid_purged(&mut self, text: &str) -> Result<()> {
        let malformed = || crate::variables::VARIABLES[GTID_PURGED as usize].cannot(text);
        let binlog = self.server.binlog.clone().ok_or_else(malformed)?;
        self.server.gtids.purge(text, &binlog, malformed)
    }

    /// Error or warning, by `enforce_gtid_consistency`, where what a statement changes cannot have one number: 1785, 1786.
    pub(crate) fn check_gtid_consistency(&mut self, violation: impl Fn() -> SqlError) -> Result<()> {
        if self.state.logs_to().is_none() {
            return Ok(());
        }
        match self.server.globals.load().uint(ENFORCE_GTIDS) {
            ENFORCE_OFF => Ok(()),
            ENFORCE_ON => Err(violation()),
            _ => {
                self.state.push_warning("Warning", violation());
                Ok(())
            }
        }
    }

    /// Is a statement that would change rows passed over, because its number is executed? Errors 1782, 1837.
    #[cold]
    pub(crate) fn passes_over(&self) -> Result<bool> {
        match self.state.gtid.next {
            Next::Over(gtid) => Err(err!(ER_GTID_NEXT_TYPE_UNDEFINED_GTID, gtid)),
            Next::Undetermined if self.server.globals.load().uint(GTID_MODE) == MODE_ON => {
                Err(err!(ER_CANT_SET_GTID_NEXT_TO_ANONYMOUS_WHEN_GTID_MODE_IS_ON))
            }
            Next::Executed(_) => Ok(true),
            _ => Ok(false),
        }
    }

    /// The same of a statement that is not the executor's. Errors 1778, 1837.
    #[cold]
    pub(crate) fn passes_over_statement(&mut self, statement: &Statement) -> Result<bool> {
        if commits_first(statement) && self.is_in_transaction() {
            return Err(err!(ER_CANT_DO_IMPLICIT_COMMIT_IN_TRX_WHEN_GTID_NEXT_IS_SET));
        }
        if needs_no_number(statement) {
            return Ok(false);
        }
        let passes = self.passes_over()?;
        if passes && ends_number(statement) && !self.is_in_transaction() {
            self.state.release_gtid();
        }
        Ok(passes)
    }

    /// COMMIT, or a statement that commits, where nothing was changed: an empty transaction has the number.
    #[cold]
    pub(crate) fn commit_number(&mut self) -> Result<()> {
        if let Next::Owned(_) = self.state.gtid.next {
            return self.commit_event(None);
        }
        self.state.release_gtid();
        Ok(())
    }
}

/// WAIT_FOR_EXECUTED_GTID_SET: false after `time`. Errors 1317, and 3173 where the session owns one of them itself.
pub(crate) fn wait_for(state: &State, set: &GtidSet, time: Option<Duration>) -> Result<bool> {
    match state.gtid.next {
        Next::Owned(own) if set.contains(own) => {
            return Err(err!(ER_CANT_WAIT_FOR_EXECUTED_GTID_SET_WHILE_OWNING_A_GTID, own));
        }
        _ => {}
    }
    match &state.server.binlog {
        Some(binlog) => binlog.await_executed(set, time, is_interrupted).map_err(binlog_error),
        None if set.is_empty() => Ok(true),
        // Nothing is ever executed without a binary log: the time goes by.
        None => {
            let began = Instant::now();
            let mut parker = sync::Parker::new();
            while time.is_none_or(|time| began.elapsed() < time) {
                if is_interrupted() {
                    return Err(err!(ER_QUERY_INTERRUPTED));
                }
                let left = time.map_or(ASK_AGAIN, |time| time.saturating_sub(began.elapsed()));
                parker.park_timeout(left.min(ASK_AGAIN), Wait::Gtids);
            }
            Ok(false)
        }
    }
}
