//! A group that is being appended.

use std::cell::Cell;
use std::marker::PhantomData;

use crate::Lsn;
use crate::format::{GROUP_HEADER, GroupHeader, group_bytes};
use crate::prefix::Lane;
use crate::sealed::{self, Sealing};
use crate::shared::Core;

/// Where a group stands: `start` is its LSN, `end` the LSN of the next one. Durable when `flushed_lsn() >= end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Appended {
    pub start: Lsn,
    pub end: Lsn,
}

/// A place in the log that is taken, and filled by and by. Every later group waits for it to be written, so: no lock, no file, no
/// other wait until [`Reservation::complete`]. Dropping it incomplete aborts the process: the hole could never be closed.
#[must_use = "a reservation must be filled and completed"]
pub struct Reservation<'l> {
    pub(crate) core: &'l Core,
    pub(crate) lane: &'l Lane,
    pub(crate) start: Lsn,
    pub(crate) payload_bytes: u32,
    pub(crate) filled: u32,
    pub(crate) unflushed: u32,
    /// What was filled into a group that is to be sealed.
    pub(crate) sealing: Option<Sealing>,
    /// Tied to the thread, whose lane it uses.
    pub(crate) _thread: PhantomData<Cell<*const ()>>,
}

impl Reservation<'_> {
    /// The group's LSN.
    pub fn lsn(&self) -> Lsn {
        self.start
    }

    /// The LSN after the group: what to wait for.
    pub fn end(&self) -> Lsn {
        self.start + group_bytes(self.payload_bytes as usize)
    }

    /// Payload bytes that are still to fill.
    pub fn remaining(&self) -> usize {
        (self.payload_bytes - self.filled) as usize
    }

    /// Appends bytes to the payload.
    pub fn fill(&mut self, bytes: &[u8]) {
        assert!(bytes.len() <= self.remaining(), "{} bytes into a rest of {}", bytes.len(), self.remaining());
        match &mut self.sealing {
            Some(sealing) => sealing.fill(bytes),
            None => {
                let at = self.start + GROUP_HEADER as u64 + u64::from(self.filled);
                self.core.write_reserved(self.lane, at, bytes);
            }
        }
        self.filled += bytes.len() as u32;
    }

    /// Seals the group. The payload must be filled to its last byte.
    pub fn complete(mut self) -> Appended {
        assert_eq!(self.remaining(), 0, "a group is completed half filled");
        let appended = Appended { start: self.start, end: self.end() };
        let core = self.core;
        if let Some(sealing) = &mut self.sealing {
            let body = self.start + GROUP_HEADER as u64;
            let sealed = sealing.seal(sealed::keys(core.vault.as_deref(), self.start), core.nonce, self.start);
            core.write_reserved(self.lane, body, &core.nonce);
            core.write_reserved(self.lane, body + core.nonce.len() as u64, sealed);
        }
        let payload_end = self.start + GROUP_HEADER as u64 + u64::from(self.payload_bytes);
        core.write_reserved(self.lane, payload_end, &[0; 7][..(appended.end - payload_end) as usize]);
        let header = GroupHeader {
            payload_bytes: self.payload_bytes,
            sealed: self.sealing.is_some(),
            epoch: core.epoch,
            unflushed: self.unflushed,
        };
        let (mut bytes, mut hasher) = header.encode(core.log_id, self.start);
        let body = self.start + GROUP_HEADER as u64;
        let (first, second) = core.read_reserved(self.lane, body, (appended.end - body) as usize);
        hasher.update(first);
        hasher.update(second);
        bytes[..4].copy_from_slice(&hasher.finalize().to_le_bytes());
        core.write_reserved(self.lane, self.start, &bytes);
        core.prefix.complete(self.lane);
        if let Some(sealing) = self.sealing.take() {
            sealing.end();
        }
        std::mem::forget(self);
        appended
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        // Everything after it would wait for ever, and its page changes have no redo: as bad as a crash, so make it one.
        eprintln!("[ERROR] [log] a reservation at LSN {} was dropped incomplete; aborting", self.start);
        std::process::abort();
    }
}
