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

use crate::Server;
use crate::binary_log::binlog_error;
use crate::command::Session;
use crate::needs::Action;
use crate::receipt::{self, TRACK_RECEIPT};
use crate::state::State;
use crate::variables::{Globals, Val, VarId, id};
use crate::xa::DETACH;
use binlog::payload::Numbering;
use binlog::{Binlog, Tracked, Tracker};
use engine::Lsn;
use expr::Env;
use sql::ast::Statement;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use sync::blocking::{ASK_AGAIN, is_interrupted};
use sync::{Condvar, Mutex, Rank};
use types::codes::*;
use types::gtid::{Gtid, GtidSet, Tag};
use types::{Result, SqlError, err};

pub(crate) const GTID_NEXT: VarId = id("gtid_next");
pub(crate) const GTID_EXECUTED: VarId = id("gtid_executed");
pub(crate) const GTID_PURGED: VarId = id("gtid_purged");
pub(crate) const GTID_OWNED: VarId = id("gtid_owned");
pub(crate) const GTID_MODE: VarId = id("gtid_mode");
pub(crate) const ENFORCE_GTIDS: VarId = id("enforce_gtid_consistency");
pub(crate) const TRACK_GTIDS: VarId = id("session_track_gtids");
const ORIGINAL_COMMIT: VarId = id("original_commit_timestamp");
const ORIGINAL_VERSION: VarId = id("original_server_version");

/// `gtid_mode` by its place among its words.
pub(crate) const MODE_OFF: u64 = 0;
const MODE_ON_PERMISSIVE: u64 = 2;
pub(crate) const MODE_ON: u64 = 3;
/// `enforce_gtid_consistency` likewise.
const ENFORCE_OFF: u64 = 0;
pub(crate) const ENFORCE_ON: u64 = 1;

/// Others that say how a transaction is logged: none changes in its middle.
pub(crate) const OUTSIDE_TRANSACTIONS: [VarId; 5] = [
    id("binlog_row_value_options"),
    id("binlog_transaction_compression"),
    id("binlog_transaction_compression_level_zstd"),
    id("pseudo_replica_mode"),
    id("pseudo_slave_mode"),
];

/// `session_track_gtids` likewise.
const TRACK_OFF: u64 = 0;
const TRACK_ALL: u64 = 2;

/// `original_commit_timestamp` and `original_server_version` that say nothing.
const NO_COMMIT_TIME: u64 = 36_028_797_018_963_968;
const NO_VERSION: u64 = 999_999;

/// A session's `gtid_next`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Next {
    #[default]
    Automatic,
    /// AUTOMATIC:tag
    Tagged(Tag),
    Anonymous,
    Owned(Gtid),
    Executed(Gtid),
    Over(Gtid),
    /// A BINLOG statement has begun a file: what follows has to name its number.
    Undetermined,
}

impl Next {
    /// A number was named, or is to be.
    #[inline]
    pub fn is_given(self) -> bool {
        !matches!(self, Next::Automatic | Next::Tagged(_) | Next::Anonymous)
    }

    /// As `@@gtid_next` shows it.
    pub fn print(self) -> String {
        match self {
            Next::Automatic => "AUTOMATIC".to_string(),
            Next::Tagged(tag) => format!("AUTOMATIC:{tag}"),
            Next::Anonymous => "ANONYMOUS".to_string(),
            Next::Undetermined => "NOT_YET_DETERMINED".to_string(),
            Next::Owned(gtid) | Next::Executed(gtid) | Next::Over(gtid) => gtid.to_string(),
        }
    }

    /// What SET makes of a text, before anybody owns anything. Errors 1774, 1781, 1782, 6039, 6040.
    fn parse(text: &str, globals: &Globals) -> Result<Next> {
        let mode = globals.uint(GTID_MODE);
        let word = text.trim();
        if word.eq_ignore_ascii_case("AUTOMATIC") {
            return Ok(Next::Automatic);
        }
        if word.eq_ignore_ascii_case("ANONYMOUS") {
            return if mode == MODE_ON {
                Err(err!(ER_CANT_SET_GTID_NEXT_TO_ANONYMOUS_WHEN_GTID_MODE_IS_ON))
            } else {
                Ok(Next::Anonymous)
            };
        }
        if let Some(tag) = automatic_tag(word) {
            return if mode < MODE_ON_PERMISSIVE {
                Err(err!(ER_CANT_SET_GTID_NEXT_TO_AUTOMATIC_TAGGED_WHEN_GTID_MODE_IS_OFF))
            } else {
                Ok(Next::Tagged(tag))
            };
        }
        match Gtid::parse(word) {
            Some(gtid) if mode == MODE_OFF => Err(if gtid.tag.is_empty() {
                err!(ER_CANT_SET_GTID_NEXT_TO_GTID_WHEN_GTID_MODE_IS_OFF)
            } else {
                err!(ER_GTID_NEXT_TAG_GTID_MODE_OFF)
            }),
            Some(gtid) => Ok(Next::Over(gtid)),
            None => Err(err!(ER_MALFORMED_GTID_SPECIFICATION, text)),
        }
    }
}

/// Is it a value of `gtid_next` with a tag? Whether it may be named is asked before anything else of it.
fn names_tag(text: &str) -> bool {
    let word = text.trim();
    automatic_tag(word).is_some() || Gtid::parse(word).is_some_and(|gtid| !gtid.tag.is_empty())
}

/// The tag of `AUTOMATIC:tag`.
fn automatic_tag(word: &str) -> Option<Tag> {
    let (automatic, tag) = word.split_once(':')?;
    if automatic.eq_ignore_ascii_case("AUTOMATIC") { Tag::parse(tag.trim()) } else { None }
}

/// What a session has to do with GTIDs.
#[derive(Default)]
pub(crate) struct SessionGtid {
    pub next: Next,
    /// While a change of `gtid_mode` has to wait for this session.
    counted: Option<Counted>,
    /// The commit that is on its way has this number.
    committing: Option<Gtid>,
    /// There when `session_track_gtids` is not OFF.
    tracker: Option<Tracker>,
    /// Where the commits of this statement end in the log, for who tracks.
    committed: Vec<Lsn>,
}

impl SessionGtid {
    fn holds(&self, waits: Waits) -> bool {
        self.counted.as_ref().is_some_and(|counted| counted.1 == waits)
    }

    /// Does the client want to hear the numbers of its commits?
    #[inline]
    pub fn tracks(&self) -> bool {
        self.tracker.is_some()
    }
}

/// A session that `gtid_mode` waits for, for as long as this lives.
struct Counted(Arc<Server>, Waits);

/// For what.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Waits {
    /// Its transaction will have no number, which ON does not allow.
    Anonymous,
    /// Its transactions have numbers with a tag, which OFF and OFF_PERMISSIVE do not allow.
    Tagged,
}

impl Counted {
    fn new(server: &Arc<Server>, waits: Waits) -> Counted {
        *server.gtids.numbers.lock().waiting(waits) += 1;
        Counted(Arc::clone(server), waits)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        *self.0.gtids.numbers.lock().waiting(self.1) -= 1;
    }
}

/// Numbers that sessions own, and those that they have committed, in the order of the log's writer or before it.
pub(crate) struct Gtids {
    numbers: Mutex<Numbers>,
    released: Condvar,
}

#[derive(Default)]
struct Numbers {
    /// With the owners' connections.
    owned: BTreeMap<Gtid, u32>,
    /// Given numbers that are committed or purged since the start, whether the writer of the files has met them or not.
    committed: GtidSet,
    /// Sessions by what `gtid_mode` waits for.
    anonymous: u64,
    tagged: u64,
}

impl Numbers {
    fn waiting(&mut self, waits: Waits) -> &mut u64 {
        match waits {
            Waits::Anonymous => &mut self.anonymous,
            Waits::Tagged => &mut self.tagged,
        }
    }
}

impl Default for Gtids {
    fn default() -> Gtids {
        Gtids { numbers: Mutex::new(Rank::Session, Numbers::default()), released: Condvar::new() }
    }
}

impl Gtids {
    /// Makes `connection` the owner of a number, once nobody else is; false: it is executed. Error 1317.
    pub fn acquire(&self, gtid: Gtid, connection: u32, binlog: &Binlog) -> Result<bool> {
        let mut numbers = self.numbers.lock();
        while numbers.owned.contains_key(&gtid) {
            if is_interrupted() {
                return Err(err!(ER_QUERY_INTERRUPTED));
            }
            self.released.wait_timeout(&mut numbers, ASK_AGAIN);
        }
        let committed = numbers.committed.contains(gtid);
        numbers.owned.insert(gtid, connection);
        drop(numbers);
        // Nobody else can commit it from here on; this server's own numbers the writer must not give to others.
        let free = match (committed, is_own(gtid, binlog)) {
            (true, _) => Ok(false),
            (false, false) => Ok(!binlog.published().executed.contains(gtid)),
            (false, true) => binlog.reserve(gtid, is_interrupted).map_err(binlog_error),
        };
        if !matches!(free, Ok(true)) {
            self.disown(gtid, false);
        }
        free
    }

    /// The owner's transaction is over.
    pub fn release(&self, gtid: Gtid, committed: bool, binlog: Option<&Binlog>) {
        // Before anybody else can own it.
        if let Some(binlog) = binlog.filter(|binlog| !committed && is_own(gtid, binlog)) {
            binlog.release(gtid, is_interrupted);
        }
        self.disown(gtid, committed);
    }

    fn disown(&self, gtid: Gtid, committed: bool) {
        let mut numbers = self.numbers.lock();
        numbers.owned.remove(&gtid);
        if committed {
            numbers.committed.add(gtid);
        }
        drop(numbers);
        self.released.notify_all();
    }

    /// RESET BINARY LOGS AND GTIDS has made all of them executed no more.
    pub fn forget_committed(&self) {
        self.numbers.lock().committed = GtidSet::default();
    }

    /// Is there a transaction or a session that the new `gtid_mode` does not allow? Error 3111.
    fn may_set_mode(&self, mode: u64) -> Result<()> {
        const MANUAL: &str = "on all servers. See the Manual for details";
        let numbers = self.numbers.lock();
        if mode == MODE_ON && numbers.anonymous > 0 {
            let why = "there are ongoing, anonymous transactions. Before setting @@GLOBAL.GTID_MODE = ON, wait until \
                       SHOW STATUS LIKE \
                       'ANONYMOUS_TRANSACTION_COUNT' shows zero on all servers. Then wait for all existing, anonymous \
                       transactions to \
                       replicate to all replicas, and then execute SET @@GLOBAL.GTID_MODE = ON";
            return Err(err!(ER_CANT_SET_GTID_MODE, "ON", format!("{why} {MANUAL}")));
        }
        if mode == MODE_OFF && !numbers.owned.is_empty() {
            let why = "there are ongoing transactions that have a GTID. Before you set @@GLOBAL.GTID_MODE = OFF, wait \
                       until SELECT \
                       @@GLOBAL.GTID_OWNED is empty on all servers. Then wait for all GTID-transactions to replicate \
                       to all servers, and \
                       then execute SET @@GLOBAL.GTID_MODE = OFF";
            return Err(err!(ER_CANT_SET_GTID_MODE, "OFF", format!("{why} {MANUAL}")));
        }
        if mode < MODE_ON_PERMISSIVE && numbers.tagged > 0 {
            return Err(err!(
                ER_CANT_SET_GTID_MODE,
                "OFF/OFF_PERMISSIVE",
                "there is an ongoing session with GTID_NEXT set to AUTOMATIC:<TAG>"
            ));
        }
        Ok(())
    }

    /// `@@global.gtid_owned`: `uuid:7#8, uuid:9#10`, each with its owner's connection.
    pub fn print_owned(&self) -> String {
        let numbers = self.numbers.lock();
        let print = |(gtid, connection): (&Gtid, &u32)| format!("{gtid}#{connection}");
        numbers.owned.iter().map(print).collect::<Vec<_>>().join(",\n")
    }

    /// SET GLOBAL gtid_purged to a set, or `+set` on top of what is there. Errors 1231, 1317, 3546.
    pub fn purge(&self, text: &str, binlog: &Binlog, malformed: impl Fn() -> SqlError) -> Result<()> {
        let refused = |why: &str| Err(err!(ER_CANT_SET_GTID_PURGED_DUE_SETS_CONSTRAINTS, why));
        let (adds, rest) = text.trim().strip_prefix('+').map_or((false, text), |rest| (true, rest));
        let mut added = GtidSet::parse(rest).ok_or_else(malformed)?;
        // What is owned is looked at first: what is committed meanwhile is executed.
        let is_owned = {
            let numbers = self.numbers.lock();
            numbers.owned.keys().any(|gtid| added.contains(*gtid))
        };
        let now = binlog.catch_up(is_interrupted).map_err(binlog_error)?;
        if !adds {
            if !now.purged.is_subset_of(&added) {
                return refused("the new value must be a superset of the old value");
            }
            added.subtract(&now.purged);
        }
        if added.intersects(&now.executed) {
            return refused("the added gtid set must not overlap with @@GLOBAL.GTID_EXECUTED");
        }
        if is_owned {
            return refused("the added gtid set must not overlap with @@GLOBAL.GTID_OWNED");
        }
        // From here on nobody gets one of them any more.
        self.numbers.lock().committed.union(&added);
        let done = binlog.add_purged(added.clone(), is_interrupted).map_err(binlog_error);
        if done.is_err() {
            self.numbers.lock().committed.subtract(&added);
        }
        done
    }
}

/// Is it one that the writer may give by itself?
fn is_own(gtid: Gtid, binlog: &Binlog) -> bool {
    gtid.uuid == binlog.config().server_uuid
}

/// Do transactions that name no number get one?
pub(crate) fn numbers(globals: &Globals) -> bool {
    globals.uint(GTID_MODE) >= MODE_ON_PERMISSIVE
}

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

/// The rows of `mysql.gtid_executed`, all commits so far among them unless the wait for them is interrupted.
pub(crate) fn executed_rows(binlog: &Binlog) -> Vec<inspect::ExecutedGtids> {
    let now = binlog.catch_up(is_interrupted).unwrap_or_else(|_| binlog.published());
    let row = |(uuid, tag, first, last): (types::gtid::Uuid, Tag, u64, u64)| inspect::ExecutedGtids {
        uuid: uuid.to_string(),
        tag: tag.to_string(),
        first,
        last,
    };
    now.executed.iter().map(row).collect()
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
                parker.park_timeout(left.min(ASK_AGAIN));
            }
            Ok(false)
        }
    }
}
