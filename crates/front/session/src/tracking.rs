//! What clients are told of the session's state with the answers to their statements (`session_track_*`).
//!
//! ```text
//!  kind in an OK packet        by                                   told
//!  0  system variable          session_track_system_variables       a variable of the list was set, by name and value
//!  1  schema                   session_track_schema                 USE, also of the schema in use
//!  2  state change             session_track_state_change           variables, schema, prepared statements, temporary tables
//!  3  GTIDs                    session_track_gtids                  see `gtid`
//!  5  transaction state        session_track_transaction_info       the word is another one than the last that was told
//!  4  characteristics          the same, CHARACTERISTICS            statements that begin such a transaction
//!
//!  the word   T or I  explicit or implicit     r R  a table was read, not transactional or transactional     w W  changed or locked
//!             s  a statement gives other results elsewhere      S  rows were sent      L  LOCK TABLES
//! ```

use crate::command::Session;
use crate::control::TransactionState;
use crate::receipt::RECEIPT;
use crate::run::Planned;
use crate::variables::{SessionVariables, VARIABLES, Val, VarId, find, id};
use engine::Isolation;
use protocol::{Output, StateChange};
use run::Prepared;
use sql::ast::{AccessMode, Builtin, Expr, Parsed, Statement};
use types::codes::*;
use types::{Result, err};

const SYSTEM_VARIABLES: VarId = id("session_track_system_variables");
const SCHEMA: VarId = id("session_track_schema");
const STATE_CHANGE: VarId = id("session_track_state_change");
const TRANSACTION_INFO: VarId = id("session_track_transaction_info");

/// The list that stands for all variables.
const ALL: &str = "*";

/// Functions whose result hangs from more than rows and arguments, as MySQL counts them.
const UNSAFE_FUNCTIONS: [&str; 17] = [
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
const READ_OTHER: usize = 1;
const READ: usize = 2;
const WRITE_OTHER: usize = 3;
const WRITE: usize = 4;
const UNSAFE: usize = 5;
const ROWS: usize = 6;
const LOCKED: usize = 7;
const LETTERS: [u8; 8] = *b"TrRwWsSL";
const NOTHING: [u8; 8] = [b'_'; 8];

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    #[default]
    Off,
    State,
    Characteristics,
}

/// Which variables are told of.
#[derive(Debug)]
enum Listed {
    All,
    Some(Vec<VarId>),
}

/// What is told, and what has changed since it was told last.
#[derive(Debug)]
pub(crate) struct Tracking {
    listed: Listed,
    schema: bool,
    state: bool,
    level: Level,
    changed: Vec<VarId>,
    schema_changed: bool,
    state_changed: bool,
    /// What the transaction in progress has done.
    done: [bool; 8],
    told: [u8; 8],
    /// The characteristics are told in any case.
    tells_begin: bool,
    told_begin: String,
    /// SET TRANSACTION, for the transaction in progress or the next.
    isolation: Option<Isolation>,
    read_only: Option<bool>,
    consistent_snapshot: bool,
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

    fn follow(&mut self, vars: &SessionVariables) {
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
fn names(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').map(str::trim).filter(|name| !name.is_empty())
}

/// Can the variable be set to this? Error 3026 for a list that names something twice.
pub(crate) fn may_set(id: VarId, value: &Val) -> Result<()> {
    let Val::Str(list) = value else { return Ok(()) };
    if id != SYSTEM_VARIABLES {
        return Ok(());
    }
    let mut before: Vec<&str> = Vec::new();
    for name in names(list) {
        if before.iter().any(|b| b.eq_ignore_ascii_case(name)) {
            return Err(err!(ER_DUP_LIST_ENTRY, name));
        }
        before.push(name);
    }
    Ok(())
}

fn is_unsafe(parsed: &Parsed) -> bool {
    let unsafe_expr = |e: &Expr| match e {
        Expr::Call { name, .. } => {
            let name = parsed.name(*name);
            UNSAFE_FUNCTIONS.iter().any(|f| f.eq_ignore_ascii_case(name))
        }
        Expr::Builtin { func: Builtin::SysDate | Builtin::CurrentUser | Builtin::User, .. }
        | Expr::SystemVar { .. } => true,
        _ => false,
    };
    let is_limited = match &parsed.statement {
        Statement::Update(update) => update.limit.is_some(),
        Statement::Delete(delete) => delete.limit.is_some(),
        _ => parsed.queries().iter().any(|query| query.limit.is_some()),
    };
    is_limited || parsed.exprs().iter().any(unsafe_expr)
}

/// Changes as they are told, with their texts.
pub(crate) struct Changes {
    variables: Vec<(&'static str, String)>,
    schema: Option<String>,
    state: bool,
    gtids: Option<String>,
    word: Option<String>,
    begin: Option<String>,
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

impl Session {
    /// One of the variables may have been set.
    pub(crate) fn follow_tracking(&mut self) {
        let before = self.tracking.level;
        self.tracking.follow(&self.state.vars);
        if before == Level::Off && self.tracking.follows_transactions() {
            // From here on: what the transaction in progress has done so far nobody has noted.
            (self.tracking.done, self.tracking.told) = ([false; 8], self.transaction_word());
            let next = &self.transaction;
            (self.tracking.isolation, self.tracking.read_only) = (next.next_isolation, next.next_read_only);
        }
        self.tracking.tells_begin |= before != self.tracking.level && self.tracking.level == Level::Characteristics;
    }

    /// What a statement of the transaction in progress has done.
    #[cold]
    pub(crate) fn track_planned(&mut self, planned: &Planned, sent_rows: bool) {
        if !self.is_in_transaction() {
            return;
        }
        let done = used(&planned.prepared, |schema, table| {
            let version = self.catalog.peek();
            version.table(schema, table).is_some_and(|t| t.is_base() && !t.engine.is_transactional())
        });
        let tracked = &mut self.tracking.done;
        for (tracked, done) in tracked.iter_mut().zip(done) {
            *tracked |= done;
        }
        tracked[ROWS] |= sent_rows;
        tracked[UNSAFE] |= is_unsafe(&planned.parsed);
    }

    fn transaction_word(&self) -> [u8; 8] {
        let mut done = self.tracking.done;
        done[LOCKED] = self.locked.is_some();
        done[WRITE] |= self.tx.is_active() && self.tx.has_writes();
        let mut word = NOTHING;
        for (at, letter) in word.iter_mut().enumerate() {
            if done[at] {
                *letter = LETTERS[at];
            }
        }
        word[0] = match (self.transaction.explicit || self.xa.is_some(), self.is_in_transaction()) {
            (true, _) => b'T',
            (false, true) => b'I',
            (false, false) => b'_',
        };
        word
    }

    /// The statements that begin such a transaction.
    fn characteristics(&self) -> String {
        let tracking = &self.tracking;
        let mut text = String::new();
        if let Some(level) = tracking.isolation {
            text = format!("SET TRANSACTION ISOLATION LEVEL {}; ", level.name());
        }
        let access = tracking.read_only.map(|read_only| if read_only { "READ ONLY" } else { "READ WRITE" });
        match (&self.xa, self.transaction.explicit, access) {
            (Some(xa), ..) => text += &format!("XA START {};", xa.printed()),
            (None, true, access) => {
                text += "START TRANSACTION";
                if tracking.consistent_snapshot {
                    text += " WITH CONSISTENT SNAPSHOT";
                }
                if let Some(access) = access {
                    text += if tracking.consistent_snapshot { ", " } else { " " };
                    text += access;
                }
                text += ";";
            }
            (None, false, Some(access)) => text += &format!("SET TRANSACTION {access};"),
            (None, false, None) => {}
        }
        text.trim_end().to_string()
    }

    /// What the answer at hand tells; `None`: nothing. What is not told now is not told later.
    #[inline]
    pub(crate) fn changes(&mut self, out: &Output) -> Option<Changes> {
        let tracking = &self.tracking;
        let may_tell = tracking.state_changed || tracking.follows_transactions() || self.state.gtid.tracks();
        if may_tell { self.changes_slow(out) } else { None }
    }

    #[cold]
    fn changes_slow(&mut self, out: &Output) -> Option<Changes> {
        let (gtids, receipt) = if self.state.gtid.tracks() { self.state.told_of_commits() } else { (None, None) };
        let tracking = &mut self.tracking;
        let changed = std::mem::take(&mut tracking.changed);
        let schema_changed = std::mem::take(&mut tracking.schema_changed) && tracking.schema;
        let state_changed = std::mem::take(&mut tracking.state_changed) && tracking.state;
        if !out.tracks_session() {
            return None;
        }
        let mut variables: Vec<(&'static str, String)> =
            changed.into_iter().map(|id| (VARIABLES[id as usize].name, self.state.printed(id))).collect();
        variables.extend(receipt.map(|receipt| (RECEIPT, receipt)));
        variables.sort_unstable_by_key(|(name, _)| *name);
        let schema = schema_changed.then(|| self.state.database.clone().unwrap_or_default());
        let (mut word, mut begin) = (None, None);
        if self.tracking.follows_transactions() {
            let now = self.transaction_word();
            if std::mem::replace(&mut self.tracking.told, now) != now {
                word = Some(String::from_utf8_lossy(&now).into_owned());
            }
        }
        if self.tracking.level == Level::Characteristics {
            let text = self.characteristics();
            if std::mem::take(&mut self.tracking.tells_begin) || text != self.tracking.told_begin {
                self.tracking.told_begin.clone_from(&text);
                begin = Some(text);
            }
        }
        let changes = Changes { variables, schema, state: state_changed, gtids, word, begin };
        (!changes.list().is_empty()).then_some(changes)
    }
}

/// What a statement does to tables of the two kinds, by positions of the word.
fn used(prepared: &Prepared, is_other: impl Fn(&str, &str) -> bool) -> [bool; 8] {
    let mut done = [false; 8];
    for table in prepared.tables() {
        let other = !table.temporary && is_other(&table.schema, &table.table);
        let at = match (table.is_written(), other) {
            (true, true) => WRITE_OTHER,
            (true, false) => WRITE,
            (false, true) => READ_OTHER,
            (false, false) => READ,
        };
        done[at] |= table.is_written() || table.read;
    }
    done
}
