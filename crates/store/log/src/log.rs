//! The handle.
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::{Lsn, Recovery, Result};

/// How a log is set up.
#[derive(Clone, Debug)]
pub struct Options {
    /// Bytes of the ring in memory; a power of two, 64 KiB..=1 GiB (`innodb_log_buffer_size`).
    pub ring_bytes: usize,
    /// Bytes of log kept on disk before checkpoints are due (`innodb_redo_log_capacity`).
    pub capacity: u64,
    /// How often the background thread writes and flushes what nobody waited for. `None`: no such thread (tests).
    pub flush_interval: Option<Duration>,
    /// Bypass the page cache.
    pub direct: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options { ring_bytes: 32 << 20, capacity: 1 << 30, flush_interval: Some(Duration::from_secs(1)), direct: false }
    }
}

/// Where a group stands: `start` is its LSN, `end` the LSN of the next one. Durable when `flushed_lsn() >= end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Appended {
    pub start: Lsn,
    pub end: Lsn,
}

/// The newest durable checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    pub lsn: Lsn,
    /// The engine's own state, opaque here.
    pub payload: Vec<u8>,
}

/// What the log did so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// `Innodb_os_log_written`: bytes written to segments.
    pub os_log_written: u64,
    /// `Innodb_os_log_fsyncs`.
    pub os_log_fsyncs: u64,
    /// `Innodb_log_writes`: writes to segments.
    pub log_writes: u64,
    /// `Innodb_log_write_requests`: groups appended.
    pub log_write_requests: u64,
    /// `Innodb_log_waits`: reservations that waited for the ring.
    pub log_waits: u64,
}

/// The one log. Shared by reference; every method takes `&self`.
pub struct Log {}

/// A place in the log that is taken but not filled.
#[must_use = "a reservation must be filled and completed"]
pub struct Reservation<'l> {
    log: &'l Log,
}

impl Log {
    /// Opens (or creates) the log in `directory`.
    pub fn open(_directory: &Path, _options: Options) -> Result<(Arc<Log>, Recovery)> { todo!() }
    /// Largest payload of a group in bytes.
    pub fn group_bytes_max(&self) -> usize { todo!() }
    pub fn reserve(&self, _payload_bytes: usize) -> Result<Reservation<'_>> { todo!() }
    /// One group of the parts' bytes, one after the other.
    pub fn append(&self, _parts: &[&[u8]]) -> Result<Appended> { todo!() }
    /// Call before latching pages.
    pub fn ensure_room(&self, _bytes: usize) -> Result<()> { todo!() }
    /// The same for rollback, purge and checkpoints: may use the reserve.
    pub fn ensure_room_critical(&self, _bytes: usize) -> Result<()> { todo!() }
    /// Durable up to `lsn`.
    pub fn wait_flushed(&self, _lsn: Lsn) -> Result<()> { todo!() }
    pub fn wait_written(&self, _lsn: Lsn) -> Result<()> { todo!() }
    pub fn wait_completed(&self, _lsn: Lsn) -> Result<()> { todo!() }
    /// LSN that the next reservation will get, a moment ago.
    pub fn tail_lsn(&self) -> Lsn { todo!() }
    pub fn completed_lsn(&self) -> Lsn { todo!() }
    pub fn written_lsn(&self) -> Lsn { todo!() }
    pub fn flushed_lsn(&self) -> Lsn { todo!() }
    pub fn set_checkpoint(&self, _lsn: Lsn, _payload: &[u8]) -> Result<()> { todo!() }
    pub fn checkpoint(&self) -> Checkpoint { todo!() }
    pub fn oldest_needed(&self) -> Lsn { todo!() }
    pub fn capacity(&self) -> u64 { todo!() }
    pub fn set_capacity(&self, _bytes: u64) { todo!() }
    pub fn used(&self) -> u64 { todo!() }
    pub fn status(&self) -> Status { todo!() }
    /// Flushes everything and stops the background thread. Also done by drop, without the error.
    pub fn close(&self) -> Result<()> { todo!() }
}

impl Reservation<'_> {
    pub fn lsn(&self) -> Lsn { let _ = self.log; todo!() }
    pub fn end(&self) -> Lsn { todo!() }
    /// Appends bytes to the payload.
    pub fn fill(&mut self, _bytes: &[u8]) { todo!() }
    /// The payload must be filled to the last byte.
    pub fn complete(self) -> Appended { todo!() }
}
