//! Reading the files while they grow: for replicas, and for SHOW BINLOG EVENTS.

use crate::error::{Error, Result};
use crate::event::{Checksum, GtidEvent, HEADER_BYTES, Header, Kind, MAGIC};
use crate::files::{self, Front};
use crate::sealed::LogFile;
use crate::semisync::Place;
use crate::writer::Binlog;
use io::OpenOptions;
use std::sync::Arc;
use types::gtid::{Gtid, GtidSet};

/// What comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Read {
    Event(Header),
    /// The file is read to its end, and there is a next one: [`Reader::next_file`].
    EndOfFile,
    /// All that is published has been read.
    EndOfLog,
}

/// A place in the files. The file that it is in is not purged.
pub struct Reader {
    binlog: Arc<Binlog>,
    ticket: u64,
    number: u64,
    file: LogFile,
    front: Front,
    offset: u64,
}

impl Reader {
    /// At the front of a file. Errors: [`Error::UnknownFile`], [`Error::Corrupt`], [`Error::Io`].
    pub fn open(binlog: &Arc<Binlog>, number: u64) -> Result<Reader> {
        let ticket = binlog.reads(0, Some(number));
        let opened = open(binlog, number);
        if opened.is_err() {
            binlog.reads(ticket, None);
        }
        let (file, front) = opened?;
        Ok(Reader { binlog: Arc::clone(binlog), ticket, number, file, front, offset: MAGIC.len() as u64 })
    }

    pub fn number(&self) -> u64 {
        self.number
    }

    pub fn front(&self) -> &Front {
        &self.front
    }

    pub fn checksum(&self) -> Checksum {
        self.front.checksum
    }

    /// Where the next event begins.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Goes on at `offset`, at which an event has to begin, or the file to end. Errors: [`Error::Corrupt`].
    pub fn seek(&mut self, offset: u64) -> Result<()> {
        if offset < MAGIC.len() as u64 || offset > self.end()? {
            let file = self.binlog.file_name(self.number);
            return Err(Error::Corrupt(format!("'{file}' has no position {offset}")));
        }
        self.offset = offset;
        Ok(())
    }

    /// Up to where the file may be read.
    fn end(&self) -> Result<u64> {
        let published = self.binlog.published();
        Ok(if published.file == self.number { published.offset } else { self.file.len()? })
    }

    /// Puts the next event into `event`. Errors: [`Error::Corrupt`], [`Error::Io`].
    pub fn next(&mut self, event: &mut Vec<u8>) -> Result<Read> {
        // Before the end: a file that is not the last one grows no more.
        let is_last = self.binlog.published().file == self.number;
        let end = self.end()?;
        match files::read_event(&self.file, self.offset, end, self.front.checksum, event)? {
            Some(header) => {
                self.offset += u64::from(header.len);
                Ok(Read::Event(header))
            }
            None if is_last => Ok(Read::EndOfLog),
            None => Ok(Read::EndOfFile),
        }
    }

    /// Goes on at the front of the next file. Errors: [`Error::UnknownFile`] when there is none.
    pub fn next_file(&mut self) -> Result<()> {
        let published = self.binlog.published();
        let number = published.files.iter().copied().find(|n| *n > self.number).ok_or(Error::UnknownFile)?;
        self.binlog.reads(self.ticket, Some(number));
        (self.file, self.front) = open(&self.binlog, number)?;
        (self.number, self.offset) = (number, MAGIC.len() as u64);
        Ok(())
    }

    /// Where a transaction with this number ends. `None`: it is in no file. `ended`: why the search should end.
    pub fn end_of(binlog: &Arc<Binlog>, gtid: Gtid, ended: impl Fn() -> bool) -> Result<Option<Place>> {
        let published = binlog.published();
        // The first file that begins behind it comes after its own.
        for number in published.files.iter().rev() {
            let mut reader = match Reader::open(binlog, *number) {
                Err(Error::UnknownFile) => return Ok(None),
                opened => opened?,
            };
            if reader.front.previous.contains(gtid) {
                continue;
            }
            let (mut event, mut found) = (Vec::new(), false);
            loop {
                if ended() {
                    return Err(Error::Interrupted);
                }
                let begin = (*number, reader.offset);
                let Read::Event(header) = reader.next(&mut event)? else {
                    return Ok(found.then_some(begin));
                };
                match header.kind() {
                    Some(kind @ (Kind::Gtid | Kind::AnonymousGtid | Kind::GtidTagged)) => {
                        if found {
                            return Ok(Some(begin));
                        }
                        let body = &event[HEADER_BYTES..event.len() - reader.front.checksum.bytes()];
                        found = GtidEvent::gtid_of(kind, body) == Some(gtid);
                    }
                    Some(Kind::Rotate | Kind::Stop) if found => return Ok(Some(begin)),
                    _ => {}
                }
            }
        }
        Ok(None)
    }

    /// The last file that a replica has to read from which has executed `set`: all before it is in the set. `None`: it needs what is
    /// purged.
    pub fn first_needed(binlog: &Arc<Binlog>, set: &GtidSet) -> Result<Option<u64>> {
        let published = binlog.published();
        for number in published.files.iter().rev() {
            let (_, front) = open(binlog, *number)?;
            if front.previous.is_subset_of(set) {
                return Ok(Some(*number));
            }
        }
        Ok(None)
    }
}

fn open(binlog: &Binlog, number: u64) -> Result<(LogFile, Front)> {
    if !binlog.published().files.contains(&number) {
        return Err(Error::UnknownFile);
    }
    let files = binlog.open_files()?;
    let file = files.open_file(number, OpenOptions::read(sync::waits::Wait::BinlogFile))?;
    let front = files::front(&file)?;
    Ok((file, front))
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.binlog.reads(self.ticket, None);
    }
}
