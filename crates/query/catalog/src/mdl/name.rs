//! What a metadata lock is on.

use super::Mode;
use crate::routine::RoutineKind;
use foldhash::fast::FixedState;
use std::hash::BuildHasher;
use std::sync::Arc;

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Name {
    /// The server: IX by whatever changes something, S by FLUSH TABLES WITH READ LOCK.
    Global,
    /// IX by data definition, S by LOCK INSTANCE FOR BACKUP.
    BackupLock,
    /// IX while a transaction with changes commits, S by FLUSH TABLES WITH READ LOCK.
    Commit,
    Schema(Box<str>),
    /// A table or view, existing or not, by schema and name.
    Table(Box<str>, Box<str>),
    /// The rows of a table that is not transactional: X by a statement that changes them, S by one that locks them to be read. Taken
    /// with the table itself locked already.
    Rows(Box<str>, Box<str>),
    /// A procedure, function, trigger or event, existing or not, by schema and name in lower case.
    Routine(RoutineKind, Box<str>, Box<str>),
    /// GET_LOCK; the name in lower case.
    User(Box<str>),
}

impl Name {
    pub fn table(schema: &str, name: &str) -> Name {
        Name::Table(schema.into(), name.into())
    }

    /// A procedure or function.
    pub fn routine(kind: RoutineKind, schema: &str, name: &str) -> Name {
        Name::Routine(kind, schema.into(), crate::routine::folded_name(name).into())
    }

    /// As the column OBJECT_TYPE says it.
    pub fn kind(&self) -> &'static str {
        match self {
            Name::Global => "GLOBAL",
            Name::BackupLock => "BACKUP LOCK",
            Name::Commit => "COMMIT",
            Name::Schema(_) => "SCHEMA",
            Name::Table(..) | Name::Rows(..) => "TABLE",
            Name::Routine(kind, ..) => kind.word(),
            Name::User(_) => "USER LEVEL LOCK",
        }
    }

    /// OBJECT_SCHEMA and OBJECT_NAME.
    pub fn parts(&self) -> (Option<&str>, Option<&str>) {
        match self {
            Name::Global | Name::BackupLock | Name::Commit => (None, None),
            Name::Schema(schema) => (Some(schema), None),
            Name::Table(schema, name) | Name::Rows(schema, name) | Name::Routine(_, schema, name) => {
                (Some(schema), Some(name))
            }
            Name::User(name) => (None, Some(name)),
        }
    }

    /// What a session that waits for it is doing, as PROCESSLIST says it.
    pub fn wait_state(&self) -> &'static str {
        match self {
            Name::Global => "Waiting for global read lock",
            Name::BackupLock => "Waiting for backup lock",
            Name::Commit => "Waiting for commit lock",
            Name::Schema(_) => "Waiting for schema metadata lock",
            Name::Table(..) => "Waiting for table metadata lock",
            Name::Rows(..) => "Waiting for table level lock",
            Name::Routine(RoutineKind::Procedure, ..) => "Waiting for stored procedure metadata lock",
            Name::Routine(RoutineKind::Function, ..) => "Waiting for stored function metadata lock",
            Name::Routine(RoutineKind::Trigger, ..) => "Waiting for trigger metadata lock",
            Name::Routine(RoutineKind::Event, ..) => "Waiting for event metadata lock",
            Name::User(_) => "User lock",
        }
    }

    /// The name in a lane's word: 62 bits of a hash, shifted by the two bits of a [`Weak`] mode. Two names may share it: then one
    /// waits for the other's users without need.
    pub(super) fn key(&self) -> u64 {
        // Never 0, which is a free word.
        (FixedState::with_seed(0x6d64_6c21).hash_one(self) | 1 << 62) << 2
    }
}

/// Modes that a lane can hold: what statements take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Weak {
    Read = 1,
    Write = 2,
    /// On scopes.
    Intention = 3,
}

impl Weak {
    /// As which mode it counts on an object of that name.
    pub fn mode_on(self, name: &Name) -> Mode {
        match self {
            Weak::Read if matches!(name, Name::Routine(..)) => Mode::Shared,
            Weak::Read => Mode::SharedRead,
            Weak::Write => Mode::SharedWrite,
            Weak::Intention => Mode::IntentionExclusive,
        }
    }

    pub(super) fn of_word(word: u64) -> Option<Weak> {
        match word & 3 {
            1 => Some(Weak::Read),
            2 => Some(Weak::Write),
            3 => Some(Weak::Intention),
            _ => None,
        }
    }
}

/// A table or routine as a statement uses it: made when the statement is planned.
#[derive(Clone, Debug)]
pub struct Pin {
    pub name: Arc<Name>,
    pub(super) weak: Weak,
    /// The lane's word.
    pub(super) word: u64,
}

impl Pin {
    /// SR, or SW for a table whose rows are changed or locked exclusively.
    pub fn new(schema: &str, table: &str, writes: bool) -> Pin {
        Pin::on(Name::table(schema, table), if writes { Weak::Write } else { Weak::Read })
    }

    /// S on a procedure or function that is called.
    pub fn of_routine(kind: RoutineKind, schema: &str, name: &str) -> Pin {
        Pin::on(Name::routine(kind, schema, name), Weak::Read)
    }

    pub(super) fn mode(&self) -> Mode {
        self.weak.mode_on(&self.name)
    }

    pub(super) fn on(name: Name, weak: Weak) -> Pin {
        let word = name.key() | weak as u64;
        Pin { name: Arc::new(name), weak, word }
    }

    pub fn is_on(&self, schema: &str, table: &str) -> bool {
        matches!(&*self.name, Name::Table(s, t) if **s == *schema && **t == *table)
    }

    pub fn writes(&self) -> bool {
        self.weak != Weak::Read
    }
}
