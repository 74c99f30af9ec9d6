//! Files begin, end and go: rotation, PURGE, RESET.

use super::{Writer, now_s};
use crate::error::{Error, Result};
use crate::event::{self, FLAG_IN_USE, Kind, MAGIC, Stamp};
use crate::files;
use io::OpenOptions;
use std::time::SystemTime;
use types::gtid::GtidSet;

impl Writer {
    /// Goes on in a new file. `in_order`: the old one ends with the name of the new one.
    pub(super) fn rotate(&mut self, in_order: bool) -> Result<()> {
        self.flush()?;
        let next = self.state.file + 1;
        if next > files::NUMBER_MAX {
            return Err("the binary log has used up its file numbers".into());
        }
        let end = self.state.offset;
        if in_order {
            let stamp = Stamp { timestamp: now_s(), server_id: self.config.server_id };
            let body = event::rotate(&self.files.name(next), MAGIC.len() as u64);
            let put = self.put(Kind::Rotate, stamp, 0, &[&body]).and_then(|()| self.flush());
            if let Err(e) = put {
                self.buffer.clear();
                self.state.offset = end;
                return Err(e);
            }
        }
        let began = self.file.sync_data().and_then(|()| self.begin_file(next, !in_order));
        if began.is_err() {
            self.state.offset = end;
            return began;
        }
        self.expire()
    }

    /// `first`: since the server has started, or since a RESET; a replica forgets temporary tables of the time before.
    pub(super) fn begin_file(&mut self, number: u64, first: bool) -> Result<()> {
        if self.state.file != 0 {
            self.mark_closed()?;
        }
        let now = now_s();
        let stamp = Stamp { timestamp: now, server_id: self.config.server_id };
        let checksum = self.settings.checksum;
        let mut front = MAGIC.to_vec();
        let body = event::format_description(&self.config.version, if first { now } else { 0 }, checksum);
        let start = Some(front.len() as u64);
        event::put(&mut front, Kind::FormatDescription, stamp, FLAG_IN_USE, start, &[&body], checksum);
        let start = Some(front.len() as u64);
        let gtids = event::previous_gtids(&self.state.executed);
        event::put(&mut front, Kind::PreviousGtids, stamp, 0x80, start, &[&gtids], checksum);
        let file = self.files.create_file(number)?;
        file.write_at(&front, 0)?;
        file.sync_data()?;
        let mut numbers = self.files.numbers().to_vec();
        if numbers.last() != Some(&number) {
            numbers.push(number);
        }
        self.files.list(numbers)?;
        let before = self.state.clone();
        self.state.file = number;
        self.state.offset = front.len() as u64;
        self.state.sequence = 0;
        self.state.recent.clear();
        self.state.closed = false;
        if let Err(e) = self.save_state() {
            self.state = before;
            return Err(e);
        }
        self.file = file;
        self.checksum = checksum;
        Ok(())
    }

    /// The file being written is complete.
    fn mark_closed(&self) -> Result<()> {
        let at = MAGIC.len() as u64 + event::HEADER_BYTES as u64 - 2;
        self.file.write_at(&[0], at)?;
        self.file.sync_data()
    }

    /// Files that nobody has written to for so long as they are kept go.
    fn expire(&mut self) -> Result<()> {
        if self.settings.expire.is_zero() {
            return Ok(());
        }
        match SystemTime::now().checked_sub(self.settings.expire) {
            Some(time) => self.purge(self.files.first_since(time)?),
            None => Ok(()),
        }
    }

    /// Removes the files before `to`, the one in use never.
    pub(super) fn purge(&mut self, to: u64) -> Result<()> {
        let to = to.min(self.state.file);
        let (gone, kept): (Vec<u64>, Vec<u64>) = self.files.numbers().iter().partition(|n| **n < to);
        if gone.is_empty() {
            return Ok(());
        }
        let first = self.files.open_file(kept[0], OpenOptions::read(sync::waits::Wait::BinlogFile))?;
        self.state.purged.union(&files::front(&first)?.previous);
        // The index first: what it does not list nobody misses. On a full disk the oldest file makes room; a start passes over its name.
        if let Err(error) = self.files.list(kept.clone()) {
            if error != Error::DiskFull {
                return Err(error);
            }
            self.files.remove(gone.iter().copied().take(1))?;
            self.files.list(kept)?;
        }
        let settled = self.settle();
        self.files.remove(gone.into_iter())?;
        if settled == Err(Error::DiskFull) { self.settle() } else { settled }
    }

    pub(super) fn reset(&mut self, number: u64) -> Result<()> {
        self.flush()?;
        let gone: Vec<u64> = self.files.numbers().to_vec();
        (self.state.executed, self.state.purged) = (GtidSet::default(), GtidSet::default());
        self.files.list(Vec::new())?;
        let stays = gone.iter().copied().filter(|n| *n != number);
        // The state refers to the new file before the old ones are gone.
        self.state.file = 0;
        self.begin_file(number, true)?;
        if let Some(semisync) = &self.semisync {
            semisync.reset(&self.engine);
        }
        self.files.remove(stays.collect::<Vec<_>>().into_iter())
    }

    pub(super) fn close(&mut self) -> Result<()> {
        let stamp = Stamp { timestamp: now_s(), server_id: self.config.server_id };
        self.put(Kind::Stop, stamp, 0, &[])?;
        self.flush()?;
        self.mark_closed()?;
        self.state.closed = true;
        self.save_state()
    }
}
