//! What an engine is opened with.

use log::Lsn;
use std::path::PathBuf;

/// Fixed at start, from the server's options.
#[derive(Clone, Debug)]
pub struct EngineOptions {
    pub datadir: PathBuf,
    /// Bytes of page frames: `innodb_buffer_pool_size` at start.
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
    /// Threads that read pages ahead, and that write them: `innodb_read_io_threads`, `innodb_write_io_threads`.
    pub read_io_threads: usize,
    pub write_io_threads: usize,
    /// `innodb_purge_threads`.
    pub purge_threads: u32,
    /// Where a reader of events wants to go on: the log is kept from there, see [`crate::Engine::follow_events`].
    pub events_from: Option<Lsn>,
}

/// Who does the background work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Background {
    Threads,
    /// A [`crate::Stepper`].
    Steps,
}
