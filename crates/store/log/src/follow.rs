//! Reading the log while it grows, for who makes something else of it: the binary log.
//!
//! A follower sees only what is durable, so what it hands on outlives any crash. It reads the segment files, whose pages the kernel
//! still has in memory, and shares nothing with appenders but the flushed LSN.

use std::sync::Arc;
use std::time::{Duration, Instant};

use io::File;

use crate::format::{GROUP_HEADER, GroupHeader, SEGMENT_HEADER, group_bytes};
use crate::recovery::Group;
use crate::sealed::Opened;
use crate::shared::Core;
use crate::{Error, Lsn, Result};

/// Bytes read from the files at a time.
const READ_BYTES: u64 = 256 << 10;
/// After a batch a follower looks again so much later, without being woken: a leader that woke it at every flush would pay a
/// system call for each.
const NAP: Duration = Duration::from_millis(5);
/// It goes on so until nothing has come for so long; then it sleeps until it is woken.
const ATTENTIVE: Duration = Duration::from_millis(20);

/// A place in the log that moves on over groups.
///
/// The one that writers wait for tells them when it is gone.
pub struct Follower {
    core: Arc<Core>,
    next: Lsn,
    /// Its first `filled` bytes are those of the log from `buffer_start` on. It keeps its length, so that nothing is zeroed again.
    buffer: Vec<u8>,
    filled: usize,
    buffer_start: Lsn,
    opened: Opened,
    current: Option<(u64, Arc<File>)>,
    last_group: Instant,
    /// Writers do not get too far ahead of it.
    is_awaited: bool,
}

impl Drop for Follower {
    fn drop(&mut self) {
        if self.is_awaited {
            self.core.retention.end();
            self.core.flusher.checkpoint_moved();
        }
    }
}

impl Follower {
    pub(crate) fn new(core: Arc<Core>, from: Lsn, is_awaited: bool) -> Follower {
        let opened = Opened::new(core.vault.clone());
        Follower {
            core,
            next: from,
            buffer: Vec::new(),
            filled: 0,
            buffer_start: 0,
            opened,
            current: None,
            last_group: Instant::now(),
            is_awaited,
        }
    }

    /// Where the next group starts.
    pub fn position(&self) -> Lsn {
        self.next
    }

    /// A second place in the same log, to read again from `lsn` on.
    pub fn again(&self, lsn: Lsn) -> Follower {
        Follower::new(Arc::clone(&self.core), lsn, false)
    }

    /// The next durable group; `None`: there is none yet.
    ///
    /// Errors: `Corrupt` when what was durable is damaged or gone; `Io`. The place stays where it was.
    #[expect(clippy::should_implement_trait, reason = "lends its buffer, which Iterator cannot say")]
    pub fn next(&mut self) -> Result<Option<Group<'_>>> {
        let (start, flushed) = (self.next, self.core.flusher.flushed());
        if start >= flushed {
            return Ok(None);
        }
        let head = self.bytes(start, GROUP_HEADER, flushed)?;
        let (log_id, epoch) = (self.core.log_id, self.core.epoch);
        let Some(header) = GroupHeader::decode(&self.buffer[head..], log_id, start, 0..=epoch) else {
            return Err(self.corrupt(start, "no group starts here"));
        };
        let end = start + group_bytes(header.payload_bytes as usize);
        if end > flushed {
            return Err(self.corrupt(start, "a group ends beyond what is durable"));
        }
        let at = self.bytes(start, (end - start) as usize, flushed)?;
        if !GroupHeader::verify(&self.buffer[at..at + (end - start) as usize], log_id, start) {
            return Err(self.corrupt(start, "checksum mismatch"));
        }
        let payload = self.opened.payload(header, start, &self.buffer[at..])?;
        self.next = end;
        Ok(Some(Group { start, end, epoch: header.epoch, payload }))
    }

    /// For the one follower of a log that waits: waits until there is a group, somebody hurries ([`crate::Log::hurry_followers`]), or for
    /// `time`.
    pub fn wait(&mut self, time: Duration) {
        if self.core.flusher.flushed() > self.next {
            return;
        }
        let attentive = self.last_group.elapsed() < ATTENTIVE;
        self.core.flusher.await_more(self.next, !attentive, if attentive { NAP.min(time) } else { time });
        if self.core.flusher.flushed() > self.next {
            self.last_group = Instant::now();
        }
    }

    /// Sees to it that `len` bytes from `lsn` on, all below `flushed`, are in the buffer; returns where.
    fn bytes(&mut self, lsn: Lsn, len: usize, flushed: Lsn) -> Result<usize> {
        let within = lsn >= self.buffer_start && lsn + len as u64 <= self.buffer_start + self.filled as u64;
        if !within {
            let wanted = (flushed.min(lsn + READ_BYTES.max(len as u64)) - lsn) as usize;
            let mut buffer = std::mem::take(&mut self.buffer);
            if buffer.len() < wanted {
                buffer.resize(wanted.next_power_of_two(), 0);
            }
            // Nothing first: were the read to fail, the buffer would hold no lie.
            self.filled = 0;
            let read = self.read(lsn, &mut buffer[..wanted]);
            self.buffer = buffer;
            read?;
            if self.is_awaited {
                self.core.pass(lsn);
            }
            (self.filled, self.buffer_start) = (wanted, lsn);
        }
        Ok((lsn - self.buffer_start) as usize)
    }

    fn read(&mut self, lsn: Lsn, bytes: &mut [u8]) -> Result<()> {
        let data_bytes = self.core.segments.data_bytes();
        let mut done = 0;
        while done < bytes.len() {
            let at = lsn + done as u64;
            let number = at / data_bytes;
            if self.current.as_ref().is_none_or(|(current, _)| *current != number) {
                let Some(file) = self.core.segments.existing(at) else {
                    return Err(self.corrupt(at, "the segment is gone"));
                };
                self.current = Some((number, file));
            }
            let (_, file) = self.current.as_ref().expect("it was put there");
            let len = (bytes.len() - done).min((data_bytes - at % data_bytes) as usize);
            file.read_at(&mut bytes[done..done + len], SEGMENT_HEADER + at % data_bytes)?;
            done += len;
        }
        Ok(())
    }

    fn corrupt(&self, lsn: Lsn, why: &str) -> Error {
        let (file, offset) = self.core.segments.place(lsn);
        Error::Corrupt { file, offset, lsn, why: why.into() }
    }
}
