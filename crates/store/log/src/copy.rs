//! Copying a log that is in use: all from the newest checkpoint on, to another place, by and by.
//!
//! ```text
//!        checkpoint            copied so far      flushed     tail
//!   ─────────┼──────────────────────┼────────────────┼──────────┼──
//!            └──── in the copy ─────┘◄──── held ────────────────┘
//! ```
//!
//! What the copy has not taken yet is *held*: its segments stay although a checkpoint has passed them. Nobody waits for that: a copy that
//! is more than [`crate::shared::HELD_CAPACITIES`] times the log's capacity behind loses its segments, and fails.

use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};

use io::{Destination, File};

use crate::control::{self, Control};
use crate::format::{SEGMENT_HEADER, SegmentHeader};
use crate::segment::file_name;
use crate::shared::Core;
use crate::{Error, Log, Lsn, Result};

/// Bytes copied at a time.
const PIECE_BYTES: u64 = 1 << 20;

/// A copy in the making. Its log is held until it is dropped.
pub struct LogCopy<'d> {
    core: Arc<Core>,
    to: &'d dyn Destination,
    /// What stands before the names of its files.
    prefix: String,
    /// What the control file said when the copy began.
    control: Control,
    /// All below is copied.
    next: Lsn,
    /// The segment that `next` lies in, if it is begun: in the log, and its name in the copy.
    segment: Option<(Arc<File>, String)>,
    buffer: Vec<u8>,
}

impl Log {
    /// Is a copy being made? Whoever has found that a checkpoint has passed some place in the log, and finds no copy after that, knows that
    /// copies begun later begin behind that place.
    pub fn is_copied(&self) -> bool {
        // SeqCst: pairs with the fence in `copy_to`: either this sees what is held, or that sees the checkpoint that the caller has seen.
        fence(Ordering::SeqCst);
        // Relaxed: ordered by the fence.
        self.core.held.load(Ordering::Relaxed) != Lsn::MAX
    }

    /// Begins a copy, whose files have `prefix` before their names. It begins at the checkpoint, or below it where a follower
    /// still needs more. One copy at a time: `None` while there is another.
    pub fn copy_to<'d>(&self, to: &'d dyn Destination, prefix: &str) -> Option<LogCopy<'d>> {
        let core = &self.core;
        // Everything, until it is known from where. Relaxed: ordered by the fence.
        if core.held.compare_exchange(Lsn::MAX, 0, Ordering::Relaxed, Ordering::Relaxed).is_err() {
            return None;
        }
        // SeqCst: pairs with the fence in `Core::free_segments`: either that sees what is held, or what it frees is below what is kept
        // here.
        fence(Ordering::SeqCst);
        // While the control file is locked there is no checkpoint.
        let (control, kept) = {
            let control = core.control.lock();
            (control.now.clone(), core.oldest_kept())
        };
        let mut copy = LogCopy {
            core: Arc::clone(core),
            to,
            prefix: prefix.to_string(),
            control,
            next: 0,
            segment: None,
            buffer: Vec::new(),
        };
        copy.pass(kept);
        Some(copy)
    }
}

impl LogCopy<'_> {
    /// Copies what is durable now. Errors: `Corrupt` when the copy is too far behind; `Io`, `NoSpace`.
    pub fn advance(&mut self) -> Result<()> {
        self.advance_to(self.core.flusher.flushed())
    }

    /// Recovery of the copy begins here.
    pub fn checkpoint(&self) -> Lsn {
        self.control.checkpoint
    }

    /// Tells this log from all others.
    pub fn log_id(&self) -> u64 {
        self.control.log_id
    }

    /// All below is in the copy.
    pub fn position(&self) -> Lsn {
        self.next
    }

    /// Ends the copy at `end`, the end of a group that is durable, and not below what has been copied. After that the files are those of a
    /// log whose server was killed right after that group. Errors as for `advance`.
    pub fn finish(mut self, end: Lsn) -> Result<()> {
        assert!(self.next <= end && end <= self.core.flusher.flushed(), "{} to {end}", self.next);
        self.advance_to(end)?;
        // A log that ends with a segment goes on in the next one, but recovery wants one that has the checkpoint.
        if self.segment.is_none() && self.control.checkpoint == end {
            self.segment = Some(self.begin(end)?);
        }
        if let Some((_, name)) = self.segment.take() {
            self.finish_segment(&name)?;
        }
        let control = Control { durable: end, ..self.control.clone() };
        Ok(self.to.put(&format!("{}{}", self.prefix, control::FILE_NAME), &control.file_bytes())?)
    }

    fn advance_to(&mut self, end: Lsn) -> Result<()> {
        let data_bytes = self.core.segments.data_bytes();
        while self.next < end {
            let (from, name) = match self.segment.take() {
                Some(segment) => segment,
                None => self.begin(self.next)?,
            };
            let segment_end = (self.next / data_bytes + 1) * data_bytes;
            let len = PIECE_BYTES.min(end - self.next).min(segment_end - self.next) as usize;
            self.buffer.resize(len, 0);
            let offset = SEGMENT_HEADER + self.next % data_bytes;
            from.read_at(&mut self.buffer, offset)?;
            self.to.write_at(&name, &self.buffer, offset)?;
            let next = self.next + len as u64;
            if next == segment_end {
                self.finish_segment(&name)?;
            } else {
                self.segment = Some((from, name));
            }
            self.pass(next);
        }
        Ok(())
    }

    /// The segment that holds `lsn`, and the name of a new one in the copy.
    fn begin(&self, lsn: Lsn) -> Result<(Arc<File>, String)> {
        let number = lsn / self.core.segments.data_bytes();
        let Some(from) = self.core.segments.existing(lsn) else {
            let (file, offset) = self.core.segments.place(lsn);
            let why = "it is gone: the log has grown faster than it was copied".into();
            return Err(Error::Corrupt { file, offset, lsn, why });
        };
        let (log_id, data_bytes) = (self.control.log_id, self.control.segment_data_bytes);
        let name = format!("{}{}", self.prefix, file_name(number));
        self.to.write_at(&name, &SegmentHeader { log_id, number, data_bytes }.encode(), 0)?;
        Ok((from, name))
    }

    /// It has its whole length, and room for it: who goes on in it must not run out of that.
    fn finish_segment(&self, name: &str) -> Result<()> {
        Ok(self.to.finish(name, SEGMENT_HEADER + self.core.segments.data_bytes(), true)?)
    }

    /// What lies below `next` need not be held any longer.
    fn pass(&mut self, next: Lsn) {
        self.next = next;
        // Release: pairs with the Acquire in `Core::free_segments`; the bytes below have been read.
        self.core.held.store(next, Ordering::Release);
    }
}

impl Drop for LogCopy<'_> {
    fn drop(&mut self) {
        // Release: as in `pass`.
        self.core.held.store(Lsn::MAX, Ordering::Release);
        // What could not be removed goes with the next checkpoint.
        let _ = self.core.free_segments();
    }
}
