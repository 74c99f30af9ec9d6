//! The transaction in progress: what was said of it, XA, LOCK TABLES.

use binlog::event::XaId;
use engine::{Isolation, Savepoint};

/// The transaction in progress, as SQL sees it.
#[derive(Default)]
pub(crate) struct TransactionState {
    /// BEGIN was said: autocommit is off until the end.
    pub explicit: bool,
    pub read_only: bool,
    /// It has changed tables that are not transactional.
    pub kept: bool,
    /// A statement in autocommit did, and failed: for whoever notes the error.
    pub tells_kept: bool,
    /// Each with the number of engines that had a part in the transaction then.
    pub savepoints: Vec<(String, Savepoint, u64)>,
    /// The statement at hand may change rows.
    pub writes: bool,
    /// One has changed rows of tables that are not the session's own: `read_only` is about those.
    pub changes_shared: bool,
    /// SET TRANSACTION: for the next transaction alone.
    pub next_isolation: Option<Isolation>,
    pub next_read_only: Option<bool>,
    /// [`catalog::Version::number`] when its snapshot was taken, [`NO_SNAPSHOT`] before: with that it reads no table that was made or
    /// rebuilt since.
    pub snapshot_at: u64,
    /// A variable that the connection itself obeys was set in this command.
    pub settings_changed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    Active,
    Idle,
    Prepared,
    /// The engine has rolled it back: nothing is left but XA ROLLBACK.
    RollbackOnly,
}

/// The session's XA transaction.
#[derive(Debug)]
pub(crate) struct XaTransaction {
    pub id: XaId,
    pub stage: Stage,
}

impl XaTransaction {
    /// Its name as a statement has it.
    pub fn printed(&self) -> String {
        let XaId { format, gtrid, bqual } = &self.id;
        let quoted = |part: &[u8]| match part.iter().all(|b| b.is_ascii_graphic() && *b != b'\'') {
            true => format!("'{}'", String::from_utf8_lossy(part)),
            false => format!("X'{}'", part.iter().map(|b| format!("{b:02x}")).collect::<String>()),
        };
        match (bqual.is_empty(), *format) {
            (true, 1) => quoted(gtrid),
            (false, 1) => format!("{},{}", quoted(gtrid), quoted(bqual)),
            (_, format) => format!("{},{},{format}", quoted(gtrid), quoted(bqual)),
        }
    }

    /// Does it refuse statements that read or write tables?
    pub fn is_ended(&self) -> bool {
        self.stage != Stage::Active
    }

    pub fn words(&self) -> &'static str {
        match self.stage {
            Stage::Active => "ACTIVE",
            Stage::Idle => "IDLE",
            Stage::Prepared => "PREPARED",
            Stage::RollbackOnly => "ROLLBACK ONLY",
        }
    }
}

/// One name of LOCK TABLES, or a table that is locked for it: of a view, or at the other end of a foreign key.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct LockedTable {
    pub schema: String,
    pub table: String,
    /// What statements have to call it.
    pub alias: String,
    pub write: bool,
}
