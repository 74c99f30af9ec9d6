//! Events on their way into the file: drafted until their transaction is numbered, then placed in the buffer.

use crate::error::Result;
use crate::event::{self, Checksum, Header, Kind, Stamp};
use crate::payload::Unplaced;
use crate::sealed::LogFile;

/// Bytes that are gathered before they go to the file.
pub const BUFFER_BYTES: usize = 1 << 20;
/// Events of a transaction that are kept until it is numbered. Those of larger ones are made twice.
const DRAFT_BYTES: usize = 256 << 10;

/// Events of a transaction that is not numbered yet.
#[derive(Default)]
pub struct Draft {
    pub bytes: Vec<u8>,
    /// All of them are in `bytes`, which is empty otherwise.
    pub is_whole: bool,
    /// Of all of them.
    pub len: u64,
    checksum: Checksum,
}

impl Draft {
    pub fn begin(&mut self, checksum: Checksum) {
        self.bytes.clear();
        (self.is_whole, self.len, self.checksum) = (true, 0, checksum);
    }

    pub fn add(&mut self, e: &Unplaced<'_>) {
        let body: usize = e.body.iter().map(|part| part.len()).sum();
        let len = event::HEADER_BYTES + body + self.checksum.bytes();
        self.len += len as u64;
        if self.len > DRAFT_BYTES as u64 {
            self.is_whole = false;
            self.bytes.clear();
        } else {
            event::draft(&mut self.bytes, e.kind, e.timestamp, e.flags, e.body, self.checksum);
        }
    }
}

/// Where events go.
pub struct Output<'w> {
    pub buffer: &'w mut Vec<u8>,
    pub offset: &'w mut u64,
    pub file: &'w LogFile,
    pub checksum: Checksum,
}

impl Output<'_> {
    pub fn put(&mut self, kind: Kind, stamp: Stamp, flags: u16, body: &[&[u8]]) -> Result<()> {
        let before = self.buffer.len();
        event::put(self.buffer, kind, stamp, flags, Some(*self.offset), body, self.checksum);
        *self.offset += (self.buffer.len() - before) as u64;
        self.spill()
    }

    /// Drafts of events, one behind the other.
    pub fn put_draft(&mut self, drafts: &[u8], server_id: u32) -> Result<()> {
        let mut at = self.buffer.len();
        self.buffer.extend_from_slice(drafts);
        while at < self.buffer.len() {
            let head = Header::decode(&self.buffer[at..]).expect("it was drafted so");
            let event = &mut self.buffer[at..at + head.len as usize];
            event::place(event, server_id, Some(*self.offset), self.checksum);
            *self.offset += u64::from(head.len);
            at += head.len as usize;
        }
        self.spill()
    }

    fn spill(&mut self) -> Result<()> {
        if self.buffer.len() >= BUFFER_BYTES {
            self.file.write_at(self.buffer, *self.offset - self.buffer.len() as u64)?;
            self.buffer.clear();
        }
        Ok(())
    }
}
