//! How transactions read: isolation levels, and what a read locks.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isolation {
    ReadUncommitted,
    ReadCommitted,
    RepeatableRead,
    Serializable,
}

impl Isolation {
    /// As SQL has it.
    pub const fn name(self) -> &'static str {
        match self {
            Isolation::ReadUncommitted => "READ UNCOMMITTED",
            Isolation::ReadCommitted => "READ COMMITTED",
            Isolation::RepeatableRead => "REPEATABLE READ",
            Isolation::Serializable => "SERIALIZABLE",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockMode {
    Shared,
    Exclusive,
}

/// What to do about a lock that another transaction holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// Wait up to the transaction's lock wait timeout.
    Block,
    NoWait,
    SkipLocked,
}

/// Which version a read returns, and what it locks. Gap locks follow from the transaction's isolation level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Read {
    /// The version in the transaction's snapshot, no lock. Takes the snapshot when there is none.
    Consistent,
    /// The newest committed version (or our own), locked until the transaction ends.
    Locking { mode: LockMode, wait: Wait },
}
