//! The engine as a whole: open with recovery, close, trees, status.

use crate::{Result, Tree, TreeKind, transaction::Transaction};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8};

/// Fixed at start, from the server's options.
#[derive(Clone, Debug)]
pub struct EngineOptions {
    pub datadir: PathBuf,
    /// Bytes of page frames: `innodb_buffer_pool_size`.
    pub buffer_pool_bytes: u64,
    /// Bytes of log files: `innodb_redo_log_capacity`.
    pub log_capacity_bytes: u64,
    /// Bytes of the log's ring in memory: `innodb_log_buffer_size`.
    pub log_buffer_bytes: u64,
    /// The most address space to reserve for pages: bounds the data's size. Emulators and `ulimit -v` need it small.
    pub address_space_bytes: u64,
    /// `innodb_doublewrite`.
    pub doublewrite: bool,
    /// `innodb_flush_method=O_DIRECT` (true) or `fsync`.
    pub direct_io: bool,
    /// `innodb_flush_log_at_trx_commit` at start.
    pub flush_log_at_commit: u8,
}

/// Counters that `SHOW GLOBAL STATUS` shows as `Innodb_*`, summed from lanes when asked.
#[derive(Clone, Debug, Default)]
pub struct EngineStatus {
    /// (name, value), names as MySQL's: `Innodb_rows_read`, `Innodb_buffer_pool_reads`, ...
    pub counters: Vec<(&'static str, u64)>,
}

pub struct Engine {
    /// `innodb_flush_log_at_trx_commit`, dynamic. W: SET GLOBAL. R: every commit.
    pub flush_log_at_commit: AtomicU8,
    /// `innodb_deadlock_detect`.
    pub deadlock_detect: AtomicBool,
}

impl Engine {
    /// Opens the data directory, creating it when empty; recovers after a crash, with progress in the log.
    pub fn open(_options: EngineOptions) -> Result<Arc<Engine>> {
        todo!()
    }

    /// Stops background work, flushes everything and writes a final checkpoint. Sessions have ended before.
    pub fn close(&self) -> Result<()> {
        todo!()
    }

    /// The tree that the catalog keeps its dictionary in: there from the first start.
    pub fn dictionary(&self) -> Tree {
        todo!()
    }

    /// Makes an empty tree. If `tx` does not commit, or the server crashes before it does, the tree is freed again.
    pub fn create_tree(&self, _tx: &mut Transaction, _kind: TreeKind) -> Result<Tree> {
        todo!()
    }

    /// Frees the tree's pages after `tx` commits (also when the server crashes in between).
    pub fn drop_tree(&self, _tx: &mut Transaction, _tree: Tree) -> Result<()> {
        todo!()
    }

    /// The tree's persistent counter (AUTO_INCREMENT ceiling, row id ceiling); 0 in a new tree.
    pub fn counter(&self, _tree: Tree) -> Result<u64> {
        todo!()
    }

    /// Raises the tree's persistent counter to at least `value`, at once and outside any transaction.
    pub fn raise_counter(&self, _tree: Tree, _value: u64) -> Result<()> {
        todo!()
    }

    /// Sets the tree's persistent counter (ALTER TABLE ... AUTO_INCREMENT, TRUNCATE).
    pub fn set_counter(&self, _tree: Tree, _value: u64) -> Result<()> {
        todo!()
    }

    /// Estimated (entries, leaf pages) of a tree from a few random descents; no lock.
    pub fn estimate(&self, _tree: Tree) -> Result<(u64, u64)> {
        todo!()
    }

    /// Estimated entries between two keys (records_in_range), from two descents; no lock.
    pub fn estimate_range(&self, _tree: Tree, _range: crate::Range<'_>) -> Result<u64> {
        todo!()
    }

    pub fn status(&self) -> EngineStatus {
        todo!()
    }
}
