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

use crate::receipt::RECEIPT;
use crate::session::Session;
use crate::session::plans::Planned;
use crate::session::tracking::{
    Changes, LETTERS, LOCKED, Level, NOTHING, READ, READ_OTHER, ROWS, SYSTEM_VARIABLES, UNSAFE, UNSAFE_FUNCTIONS,
    WRITE, WRITE_OTHER, names,
};
use crate::variables::{VARIABLES, Val, VarId};
use protocol::Output;
use run::Prepared;
use sql::ast::{Builtin, Expr, Parsed, Statement};
use types::codes::*;
use types::{Result, err};

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
