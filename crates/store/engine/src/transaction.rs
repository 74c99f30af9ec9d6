//! A session's transaction: snapshot, writes, locks, savepoints, commit and rollback.

use crate::{Engine, Result, Tree};
use std::sync::Arc;
use std::sync::atomic::AtomicU8;
use std::time::Duration;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isolation {
    ReadUncommitted,
    ReadCommitted,
    RepeatableRead,
    Serializable,
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

/// A point in the transaction to roll back to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Savepoint {}

/// How others end what the session is doing. W: KILL, shutdown, deadline. R: the session's worker, in every wait and scan.
#[derive(Debug, Default)]
pub struct Interrupt {
    /// 0 none, 1 KILL QUERY, 2 KILL CONNECTION, 3 `max_execution_time`.
    pub state: AtomicU8,
}

/// One for each session, made with the session and used for one transaction after another.
pub struct Transaction {}

impl Transaction {
    pub fn new(_engine: &Arc<Engine>) -> Transaction {
        todo!()
    }

    /// Starts a transaction. Writes to no shared memory: ids, undo and snapshot come with the first use.
    pub fn begin(&mut self, _isolation: Isolation, _read_only: bool) {
        todo!()
    }

    pub fn is_active(&self) -> bool {
        todo!()
    }

    /// Has it changed anything?
    pub fn has_writes(&self) -> bool {
        todo!()
    }

    /// Takes the snapshot now (START TRANSACTION WITH CONSISTENT SNAPSHOT).
    pub fn take_snapshot(&mut self) {
        todo!()
    }

    /// To be called between statements: below REPEATABLE READ the next consistent read takes a new snapshot.
    pub fn end_statement(&mut self) {
        todo!()
    }

    pub fn set_lock_wait_timeout(&mut self, _timeout: Duration) {
        todo!()
    }

    /// The handle that KILL uses.
    pub fn interrupt(&self) -> &Arc<Interrupt> {
        todo!()
    }

    pub fn savepoint(&self) -> Savepoint {
        todo!()
    }

    /// Undoes every change since `savepoint`. Row locks stay. Also the way a failed statement is undone.
    pub fn rollback_to(&mut self, _savepoint: Savepoint) -> Result<()> {
        todo!()
    }

    /// Commits; returns when the commit is as durable as `innodb_flush_log_at_trx_commit` asks. The transaction is over.
    pub fn commit(&mut self) -> Result<()> {
        todo!()
    }

    /// Undoes everything and ends the transaction.
    pub fn rollback(&mut self) -> Result<()> {
        todo!()
    }

    /// Waits until every commit that this transaction's locking reads rest on is durable. To be called before an answer
    /// goes to the client (design rule 5); free when there is nothing to wait for.
    pub fn await_durable(&mut self) -> Result<()> {
        todo!()
    }

    /// Point read in a clustered tree. Puts the row into `row` (cleared first) and returns true, or returns false.
    /// With a locking read a missing key locks the gap where it would be, as the isolation level asks.
    pub fn get(&mut self, _tree: Tree, _key: &[u8], _read: Read, _row: &mut Vec<u8>) -> Result<bool> {
        todo!()
    }

    /// Inserts a row into a clustered tree. Waits for a transaction that deletes or inserts the same key.
    pub fn insert(&mut self, _tree: Tree, _key: &[u8], _row: &[u8]) -> Result<()> {
        todo!()
    }

    /// Replaces the row with this key, which exists and has been read by an exclusive locking read in this transaction.
    pub fn update(&mut self, _tree: Tree, _key: &[u8], _row: &[u8]) -> Result<()> {
        todo!()
    }

    /// Deletes the row with this key, which exists and has been read by an exclusive locking read in this transaction.
    pub fn delete(&mut self, _tree: Tree, _key: &[u8]) -> Result<()> {
        todo!()
    }

    /// Adds an entry to a secondary tree. `unique_prefix`: length of the key's unique part (index columns, none of them NULL);
    /// another live entry with that prefix is [`crate::Error::DuplicateKey`], one of an unfinished transaction is waited for.
    pub fn index_insert(&mut self, _tree: Tree, _key: &[u8], _unique_prefix: Option<usize>, _payload: &[u8]) -> Result<()> {
        todo!()
    }

    /// Removes an entry from a secondary tree (marks it; purge removes it when nobody can see it).
    pub fn index_delete(&mut self, _tree: Tree, _key: &[u8]) -> Result<()> {
        todo!()
    }
}
