//! What changes in a session, for clients that asked.

use crate::session::transaction::TransactionState;
use crate::variables::{SessionVariables, Val, VarId, find, id};
use engine::Isolation;
use protocol::StateChange;
use sql::ast::AccessMode;

pub(crate) const SYSTEM_VARIABLES: VarId = id("session_track_system_variables");
pub(crate) const SCHEMA: VarId = id("session_track_schema");
pub(crate) const STATE_CHANGE: VarId = id("session_track_state_change");
pub(crate) const TRANSACTION_INFO: VarId = id("session_track_transaction_info");

/// The list that stands for all variables.
pub(crate) const ALL: &str = "*";

/// Functions whose result hangs from more than rows and arguments, as MySQL counts them.
pub(crate) const UNSAFE_FUNCTIONS: [&str; 17] = [
    "found_rows",
    "get_lock",
    "is_free_lock",
    "is_used_lock",
    "load_file",
    "master_pos_wait",
    "source_pos_wait",
    "rand",
    "random_bytes",
    "release_all_locks",
    "release_lock",
    "row_count",
    "sleep",
    "uuid",
    "uuid_short",
    "version",
    "wait_for_executed_gtid_set",
];

/// Letters of the transaction's word, by position.
pub(crate) const READ_OTHER: usize = 1;
pub(crate) const READ: usize = 2;
pub(crate) const WRITE_OTHER: usize = 3;
pub(crate) const WRITE: usize = 4;
pub(crate) const UNSAFE: usize = 5;
pub(crate) const ROWS: usize = 6;
pub(crate) const LOCKED: usize = 7;
pub(crate) const LETTERS: [u8; 8] = *b"TrRwWsSL";
pub(crate) const NOTHING: [u8; 8] = [b'_'; 8];

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    #[default]
    Off,
    State,
    Characteristics,
}

/// Which variables are told of.
#[derive(Debug)]
pub(crate) enum Listed {
    All,
    Some(Vec<VarId>),
}

/// What is told, and what has changed since it was told last.
#[derive(Debug)]
pub(crate) struct Tracking {
    pub listed: Listed,
    pub schema: bool,
    pub state: bool,
    pub level: Level,
    pub changed: Vec<VarId>,
    pub schema_changed: bool,
    pub state_changed: bool,
    /// What the transaction in progress has done.
    pub done: [bool; 8],
    pub told: [u8; 8],
    /// The characteristics are told in any case.
    pub tells_begin: bool,
    pub told_begin: String,
    /// SET TRANSACTION, for the transaction in progress or the next.
    pub isolation: Option<Isolation>,
    pub read_only: Option<bool>,
    pub consistent_snapshot: bool,
}

impl Tracking {
    /// As the variables have it, of a session that nobody has been told anything of.
    pub fn new(vars: &SessionVariables) -> Tracking {
        let mut tracking = Tracking {
            listed: Listed::Some(Vec::new()),
            schema: false,
            state: false,
            level: Level::Off,
            changed: Vec::new(),
            schema_changed: false,
            state_changed: false,
            done: [false; 8],
            told: NOTHING,
            tells_begin: false,
            told_begin: String::new(),
            isolation: None,
            read_only: None,
            consistent_snapshot: false,
        };
        tracking.follow(vars);
        tracking
    }

    pub fn follow(&mut self, vars: &SessionVariables) {
        self.listed = match vars.get(SYSTEM_VARIABLES) {
            Val::Str(list) if &**list == ALL => Listed::All,
            Val::Str(list) => Listed::Some(names(list).filter_map(find).collect()),
            _ => Listed::Some(Vec::new()),
        };
        self.schema = vars.bool(SCHEMA);
        self.state = vars.bool(STATE_CHANGE);
        self.level = match vars.uint(TRANSACTION_INFO) {
            0 => Level::Off,
            1 => Level::State,
            _ => Level::Characteristics,
        };
    }

    /// Are transactions followed?
    #[inline]
    pub fn follows_transactions(&self) -> bool {
        self.level != Level::Off
    }

    /// A variable of the session was set, by SET or by what it brings with it.
    pub fn variable(&mut self, id: VarId) {
        let is_listed = match &self.listed {
            Listed::All => true,
            Listed::Some(list) => list.contains(&id),
        };
        if is_listed && !self.changed.contains(&id) {
            self.changed.push(id);
        }
        self.state_changed |= id != STATE_CHANGE;
    }

    /// The session's schema is named, another one or the same.
    pub fn schema(&mut self) {
        self.schema_changed = true;
        self.state_changed = true;
    }

    /// Something else that belongs to the session has changed.
    pub fn state(&mut self) {
        self.state_changed = true;
    }

    /// START TRANSACTION.
    pub fn begin(&mut self, consistent_snapshot: bool, access: Option<AccessMode>) {
        self.consistent_snapshot = consistent_snapshot;
        self.done[READ] |= consistent_snapshot;
        self.read_only = access.map(|mode| mode == AccessMode::ReadOnly).or(self.read_only);
        self.tells_begin = true;
    }

    /// SET TRANSACTION for one transaction.
    pub fn next(&mut self, isolation: Option<Isolation>, read_only: Option<bool>) {
        self.isolation = isolation.or(self.isolation);
        self.read_only = read_only.or(self.read_only);
    }

    /// What a transaction that is chained to this one has of it.
    pub fn chained(&self) -> (Option<Isolation>, Option<bool>) {
        (self.isolation, self.read_only)
    }

    /// The transaction is over. What SET TRANSACTION says of the next one stays.
    #[cold]
    pub fn end(&mut self, next: &TransactionState, was_explicit: bool) {
        self.done = [false; 8];
        self.consistent_snapshot = false;
        self.tells_begin |= was_explicit;
        if next.next_isolation.is_none() {
            self.isolation = None;
        }
        if next.next_read_only.is_none() {
            self.read_only = None;
        }
    }
}

/// The names of a list.
pub(crate) fn names(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').map(str::trim).filter(|name| !name.is_empty())
}

/// Changes as they are told, with their texts.
pub(crate) struct Changes {
    pub variables: Vec<(&'static str, String)>,
    pub schema: Option<String>,
    pub state: bool,
    pub gtids: Option<String>,
    pub word: Option<String>,
    pub begin: Option<String>,
}

impl Changes {
    pub fn list(&self) -> Vec<StateChange<'_>> {
        let mut list: Vec<StateChange<'_>> =
            self.variables.iter().map(|(name, value)| StateChange::SystemVariable { name, value }).collect();
        list.extend(self.schema.as_deref().map(StateChange::Schema));
        list.extend(self.state.then_some(StateChange::StateChanged));
        list.extend(self.gtids.as_deref().map(StateChange::Gtids));
        list.extend(self.word.as_deref().map(StateChange::TransactionState));
        list.extend(self.begin.as_deref().map(StateChange::TransactionCharacteristics));
        list
    }
}
