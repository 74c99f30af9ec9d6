//! Numbers of transactions: those that sessions have, what is asked for next, who waits for others.

use crate::binary_log::binlog_error;
use crate::variables::{Globals, VarId, id};
use binlog::Binlog;
use std::collections::BTreeMap;
use sync::blocking::{ASK_AGAIN, is_interrupted};
use sync::waits::Wait;
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

/// `gtid_mode` by its place among its words.
pub(crate) const MODE_OFF: u64 = 0;
pub(crate) const MODE_ON_PERMISSIVE: u64 = 2;
pub(crate) const MODE_ON: u64 = 3;

/// `enforce_gtid_consistency` likewise.
pub(crate) const ENFORCE_OFF: u64 = 0;
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
pub(crate) const TRACK_OFF: u64 = 0;
pub(crate) const TRACK_ALL: u64 = 2;

/// `original_commit_timestamp` and `original_server_version` that say nothing.
pub(crate) const NO_COMMIT_TIME: u64 = 36_028_797_018_963_968;
pub(crate) const NO_VERSION: u64 = 999_999;

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
    pub fn parse(text: &str, globals: &Globals) -> Result<Next> {
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
pub(crate) fn names_tag(text: &str) -> bool {
    let word = text.trim();
    automatic_tag(word).is_some() || Gtid::parse(word).is_some_and(|gtid| !gtid.tag.is_empty())
}

/// The tag of `AUTOMATIC:tag`.
pub(crate) fn automatic_tag(word: &str) -> Option<Tag> {
    let (automatic, tag) = word.split_once(':')?;
    if automatic.eq_ignore_ascii_case("AUTOMATIC") { Tag::parse(tag.trim()) } else { None }
}

/// For what.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waits {
    /// Its transaction will have no number, which ON does not allow.
    Anonymous,
    /// Its transactions have numbers with a tag, which OFF and OFF_PERMISSIVE do not allow.
    Tagged,
}

/// Numbers that sessions own, and those that they have committed, in the order of the log's writer or before it.
pub(crate) struct Gtids {
    pub numbers: Mutex<Numbers>,
    pub released: Condvar,
}

#[derive(Default)]
pub(crate) struct Numbers {
    /// With the owners' connections.
    pub owned: BTreeMap<Gtid, u32>,
    /// Given numbers that are committed or purged since the start, whether the writer of the files has met them or not.
    pub committed: GtidSet,
    /// Sessions by what `gtid_mode` waits for.
    pub anonymous: u64,
    pub tagged: u64,
}

impl Numbers {
    pub fn waiting(&mut self, waits: Waits) -> &mut u64 {
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
            self.released.wait_timeout(&mut numbers, ASK_AGAIN, Wait::Gtids);
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

    pub fn disown(&self, gtid: Gtid, committed: bool) {
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
    pub fn may_set_mode(&self, mode: u64) -> Result<()> {
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
pub(crate) fn is_own(gtid: Gtid, binlog: &Binlog) -> bool {
    gtid.uuid == binlog.config().server_uuid
}

/// Do transactions that name no number get one?
pub(crate) fn numbers(globals: &Globals) -> bool {
    globals.uint(GTID_MODE) >= MODE_ON_PERMISSIVE
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

pub(crate) const TRACK_RECEIPT: VarId = id("clearway_track_receipt");
