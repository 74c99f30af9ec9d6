//! Reading the log after a start: where it ends, and what it says.
//!
//! The log ends at the first group that fails its checks, unless that group is known to have been durable: it lies below the control
//! file's `durable`, or below the durable hint of a valid group further on. Then the log is damaged and refuses to open.

use std::ops::RangeInclusive;

use cipher::Vault;
use std::sync::Arc;

use crate::control::Control;
use crate::format::{GROUP_HEADER, GroupHeader, SEGMENT_HEADER, block_ceil, block_floor, group_bytes};
use crate::sealed::Opened;
use crate::segment::{Segments, Stretch};
use crate::{Checkpoint, Error, Lsn, Result};

/// Bytes read from the files at a time.
const READ_BYTES: usize = 1 << 20;

/// What was found at the start. Keep it for the scan, then drop it; do not move the checkpoint before the scan is done.
pub struct Recovery {
    pub(crate) created: bool,
    pub(crate) checkpoint: Checkpoint,
    pub(crate) end: Lsn,
    pub(crate) stretch: Stretch,
    pub(crate) epochs: Epochs,
    pub(crate) vault: Option<Arc<Vault>>,
}

/// Which epochs a valid group may have, by its LSN.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Epochs {
    pub last: u32,
    pub last_start: Lsn,
}

impl Epochs {
    /// As the control file says.
    pub fn of(control: &Control) -> Epochs {
        Epochs { last: control.epoch, last_start: control.epoch_start }
    }

    fn at(self, lsn: Lsn) -> RangeInclusive<u32> {
        if lsn >= self.last_start { self.last..=self.last } else { 0..=self.last }
    }
}

/// One group, borrowed until the next call.
#[derive(Debug, PartialEq, Eq)]
pub struct Group<'g> {
    pub start: Lsn,
    pub end: Lsn,
    /// Counts the starts of the server on this log.
    pub epoch: u32,
    pub payload: &'g [u8],
}

type Progress = Box<dyn FnMut(u64, u64) + Send>;

/// A streaming scan with big sequential reads.
pub struct Groups {
    reader: Reader,
    opened: Opened,
    start: Lsn,
    next: Lsn,
    end: Lsn,
    progress: Option<Progress>,
    told: Lsn,
}

impl Recovery {
    /// True when the log was created just now.
    pub fn created(&self) -> bool {
        self.created
    }

    pub fn checkpoint(&self) -> &Checkpoint {
        &self.checkpoint
    }

    /// Where the log ended, and goes on.
    pub fn end(&self) -> Lsn {
        self.end
    }

    /// Groups from `lsn` (a group's start at or above the checkpoint) to the end.
    pub fn groups(&self, lsn: Lsn) -> Groups {
        assert!(self.checkpoint.lsn <= lsn && lsn <= self.end, "a scan from {lsn}");
        let reader = Reader::new(self.stretch.clone(), self.epochs);
        let opened = Opened::new(self.vault.clone());
        Groups { reader, opened, start: lsn, next: lsn, end: self.end, progress: None, told: lsn }
    }

    /// The same, telling `progress` (bytes done, bytes in all) once a MiB and at the end.
    pub fn groups_with_progress(&self, lsn: Lsn, progress: impl FnMut(u64, u64) + Send + 'static) -> Groups {
        Groups { progress: Some(Box::new(progress)), ..self.groups(lsn) }
    }
}

impl Groups {
    /// The next group, `None` at the end of the log. What was valid at the start and is not now is `Corrupt`.
    #[expect(clippy::should_implement_trait, reason = "lends its buffer, which Iterator cannot say")]
    pub fn next(&mut self) -> Result<Option<Group<'_>>> {
        if let Some(progress) = &mut self.progress
            && (self.next == self.end || self.next - self.told >= READ_BYTES as u64)
        {
            progress(self.next - self.start, self.end - self.start);
            self.told = self.next;
        }
        if self.next >= self.end {
            return Ok(None);
        }
        let start = self.next;
        let header = match self.reader.check(start)? {
            Ok(header) => header,
            Err(why) => return Err(self.reader.corrupt(start, why.into())),
        };
        let end = start + group_bytes(header.payload_bytes as usize);
        self.next = end;
        let bytes = self.reader.bytes(start, (end - start) as usize)?.expect("just checked");
        let payload = self.opened.payload(header, start, bytes)?;
        Ok(Some(Group { start, end, epoch: header.epoch, payload }))
    }
}

/// The end of the log as a start finds it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct End {
    pub lsn: Lsn,
    /// All below was flushed by those who wrote it: the control file or a group says so. What lies between was read, no more.
    pub proved: Lsn,
}

/// Finds the end of the log that starts at the checkpoint.
pub(crate) fn find_end(control: &Control, stretch: &Stretch, progress: &mut dyn FnMut(u64, u64)) -> Result<End> {
    let mut reader = Reader::new(stretch.clone(), Epochs::of(control));
    let total = stretch.end().saturating_sub(control.checkpoint);
    let (mut lsn, mut told, mut proved) = (control.checkpoint, control.checkpoint, control.durable);
    let why = loop {
        match reader.check(lsn)? {
            Ok(header) => {
                proved = proved.max(header.durable_hint(lsn));
                lsn += group_bytes(header.payload_bytes as usize);
            }
            Err(why) => break why,
        }
        if lsn - told >= READ_BYTES as u64 {
            progress(lsn - control.checkpoint, total);
            told = lsn;
        }
    };
    if reader.is_of_later_start(lsn)? {
        let why =
            format!("a group of a later start than the {} that the control file knows stands here", control.epoch);
        return Err(reader.corrupt(lsn, why));
    }
    if lsn < control.durable {
        return Err(reader.corrupt(lsn, format!("{why}, but the log was durable up to LSN {}", control.durable)));
    }
    // Torn, or damaged? A later group knows.
    let mut later = lsn + 8;
    while later + (GROUP_HEADER as u64) < stretch.end() {
        if let Ok(header) = reader.check(later)?
            && header.durable_hint(later) > lsn
        {
            return Err(reader.corrupt(lsn, format!("{why}, but the group at LSN {later} says it was durable")));
        }
        later += 8;
    }
    progress(lsn - control.checkpoint, lsn - control.checkpoint);
    Ok(End { lsn, proved })
}

/// Makes durable what was read beyond what is proved to be, by writing it once more: after a failed flush the kernel holds pages that
/// it takes for clean and that never reached the device, so a flush alone may answer well and do nothing. A kill meanwhile is
/// harmless: the bytes are the same ones. Past the end the block is filled with zeros, so that no leftover survives at the very place where
/// the log goes on (see `format`).
pub(crate) fn harden(segments: &Segments, stretch: &Stretch, epochs: Epochs, end: End) -> Result<()> {
    // A segment that is not there yet will begin without leftovers.
    let stop = block_ceil(end.lsn + 1).min(segments.allocated());
    let mut at = block_floor(end.proved);
    let mut bytes = Vec::new();
    while at < stop {
        let segment_end = (at / segments.data_bytes() + 1) * segments.data_bytes();
        let until = stop.min(segment_end);
        let file = segments.file_for(at)?;
        while at < until {
            let offset = SEGMENT_HEADER + at % segments.data_bytes();
            bytes.resize((until - at).min(READ_BYTES as u64) as usize, 0);
            file.read_at(&mut bytes, offset)?;
            let keep = end.lsn.saturating_sub(at).min(bytes.len() as u64);
            bytes[keep as usize..].fill(0);
            file.write_at(&bytes, offset)?;
            at += bytes.len() as u64;
        }
        file.sync_data()?;
    }
    // The kernel may have dropped a page since the search for the end, and have read what the device held instead.
    let mut reader = Reader::new(stretch.clone(), epochs);
    let mut lsn = end.proved;
    while lsn < end.lsn {
        match reader.check(lsn)? {
            Ok(header) => lsn += group_bytes(header.payload_bytes as usize),
            Err(why) => return Err(reader.corrupt(lsn, format!("{why}, where a group was read a moment ago"))),
        }
    }
    Ok(())
}

/// Checks groups through a buffer.
pub(crate) struct Reader {
    stretch: Stretch,
    epochs: Epochs,
    buffer: Vec<u8>,
    buffer_start: Lsn,
}

impl Reader {
    pub(crate) fn new(stretch: Stretch, epochs: Epochs) -> Reader {
        Reader { stretch, epochs, buffer: Vec::new(), buffer_start: 0 }
    }

    /// `len` bytes from `lsn`; `None` when the segments end before.
    pub(crate) fn bytes(&mut self, lsn: Lsn, len: usize) -> Result<Option<&[u8]>> {
        if lsn + len as u64 > self.stretch.end() {
            return Ok(None);
        }
        let within = lsn >= self.buffer_start && lsn + len as u64 <= self.buffer_start + self.buffer.len() as u64;
        if !within {
            let fill = (len.max(READ_BYTES) as u64).min(self.stretch.end() - lsn) as usize;
            // Empty first: were the read to fail, the buffer would hold no lie.
            self.buffer.clear();
            let mut buffer = std::mem::take(&mut self.buffer);
            buffer.resize(fill, 0);
            self.stretch.read(lsn, &mut buffer)?;
            (self.buffer, self.buffer_start) = (buffer, lsn);
        }
        let at = (lsn - self.buffer_start) as usize;
        Ok(Some(&self.buffer[at..at + len]))
    }

    /// The header of the valid group at `lsn`, or why there is none.
    pub(crate) fn check(&mut self, lsn: Lsn) -> Result<std::result::Result<GroupHeader, &'static str>> {
        let (log_id, epochs) = (self.stretch.log_id, self.epochs.at(lsn));
        let Some(head) = self.bytes(lsn, GROUP_HEADER)? else { return Ok(Err("the segments end")) };
        let Some(header) = GroupHeader::decode(head, log_id, lsn, epochs) else {
            return Ok(Err("no group starts here"));
        };
        let Some(group) = self.bytes(lsn, group_bytes(header.payload_bytes as usize) as usize)? else {
            return Ok(Err("the group is longer than the log"));
        };
        Ok(if GroupHeader::verify(group, log_id, lsn) { Ok(header) } else { Err("checksum mismatch") })
    }

    /// Whether a whole group stands at `lsn` whose epoch the control file does not know. An epoch is in the control file before it is in
    /// any group, so the control file has gone back: it was lost and restored from a copy, or the device lost what it had flushed.
    fn is_of_later_start(&mut self, lsn: Lsn) -> Result<bool> {
        let known = std::mem::replace(&mut self.epochs.last, u32::MAX);
        let start = std::mem::replace(&mut self.epochs.last_start, Lsn::MAX);
        let found = self.check(lsn);
        self.epochs = Epochs { last: known, last_start: start };
        Ok(found?.is_ok_and(|header| header.epoch > known))
    }

    fn corrupt(&self, lsn: Lsn, why: String) -> Error {
        let (file, offset) = self.stretch.place(lsn);
        Error::Corrupt { file, offset, lsn, why }
    }
}
