//! The relay log: events of the source in files of this server, written by the receiver, read by the applier.
//!
//! ```text
//!   host-relay-bin.000003     magic | format of this server | ROTATE: file and position at the source | format of the source | events ...
//!   host-relay-bin.index
//! ```
//! A file begins with each connection, and with a transaction once the one before has grown great enough. Nothing is flushed: a start of
//! the server drops what is there.

use binlog::compress::Expander;
use binlog::decode::body_of;
use binlog::event::{self, Checksum, HEADER_BYTES, Header, Kind, MAGIC, Stamp};
use binlog::files::Files;
use binlog::{Error, LogFile, LogKeys, Result};
use io::OpenOptions;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use sync::waits::Wait;
use sync::{Condvar, Mutex, Rank};

/// The file being written.
struct State {
    files: Files,
    file: Option<LogFile>,
    number: u64,
    end: u64,
    /// Bytes of the files before it.
    before: u64,
    /// Another one is to begin as soon as it can.
    ends_soon: bool,
}

pub struct RelayLog {
    /// W: the receiver, and the applier when it lets go of files. R: the applier, SHOW REPLICA STATUS.
    state: Mutex<State>,
    moved: Condvar,
    stamp: Stamp,
    version: String,
}

/// A place in the relay log: number of a file, and where in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    pub number: u64,
    pub offset: u64,
}

/// Takes an event of a file: the file's name, where the event begins, its header and body. False: it wants no more.
pub type EachEvent<'e> = dyn FnMut(&str, u64, &Header, &[u8]) -> bool + 'e;

impl RelayLog {
    /// An empty one; what was there is dropped.
    pub fn create(
        directory: &Path,
        base: &str,
        server_id: u32,
        version: &str,
        keys: Option<Arc<LogKeys>>,
    ) -> Result<RelayLog> {
        let mut files = Files::of_relay_log(directory, base, keys)?;
        let found = files.found()?;
        files.list(Vec::new())?;
        files.remove(found.into_iter())?;
        let state = State { files, file: None, number: 0, end: 0, before: 0, ends_soon: false };
        let stamp = Stamp { timestamp: 0, server_id };
        let relay = RelayLog {
            state: Mutex::new(Rank::Replication, state),
            moved: Condvar::new(),
            stamp,
            version: version.to_string(),
        };
        relay.next_file(Checksum::Crc32, &[])?;
        Ok(relay)
    }

    /// Begins another file, whose events are protected like that, with these in front.
    pub fn next_file(&self, checksum: Checksum, front: &[u8]) -> Result<()> {
        let mut state = self.state.lock();
        let number = state.number + 1;
        let file = state.files.create_file(number)?;
        let mut bytes = MAGIC.to_vec();
        let body = event::format_description(&self.version, 0, checksum);
        event::put(&mut bytes, Kind::FormatDescription, self.stamp, 0, Some(MAGIC.len() as u64), &[&body], checksum);
        bytes.extend_from_slice(front);
        file.write_at(&bytes, 0)?;
        let mut numbers = state.files.numbers().to_vec();
        numbers.push(number);
        state.files.list(numbers)?;
        state.before += state.end;
        (state.file, state.number, state.end) = (Some(file), number, bytes.len() as u64);
        state.ends_soon = false;
        drop(state);
        self.moved.notify_all();
        Ok(())
    }

    /// Appends whole events.
    pub fn append(&self, events: &[u8]) -> Result<()> {
        let mut state = self.state.lock();
        let end = state.end;
        state.file.as_ref().expect("a file is open from the start on").write_at(events, end)?;
        state.end = end + events.len() as u64;
        drop(state);
        self.moved.notify_all();
        Ok(())
    }

    /// Gives `each` the events of a file, by default the first one. False: there is no such file.
    pub fn each_event(&self, file: Option<&str>, each: &mut EachEvent<'_>) -> Result<bool> {
        let number = {
            let state = self.state.lock();
            let mut numbers = state.files.numbers().iter().copied();
            match file {
                Some(file) => numbers.find(|number| state.files.name(*number) == file),
                None => numbers.next(),
            }
        };
        let Some(number) = number else { return Ok(false) };
        let name = self.name(number);
        let mut cursor = Cursor::at(self, Place { number, offset: MAGIC.len() as u64 }, Checksum::Crc32)?;
        let mut event = Vec::new();
        loop {
            let at = cursor.place().offset;
            let Next::Event(header) = cursor.next(self, &mut event)? else { return Ok(true) };
            let body = body_of(&event, cursor.checksum()).ok_or("an event is cut short")?;
            if !each(&name, at, &header, body) {
                return Ok(true);
            }
        }
    }

    /// The file that is written is to be the last one no longer.
    pub fn ask_for_file(&self) {
        self.state.lock().ends_soon = true;
    }

    /// Is another file to begin, which one of so many bytes makes time?
    pub fn wants_file(&self, bytes_max: u64) -> bool {
        let state = self.state.lock();
        state.ends_soon || state.end >= bytes_max
    }

    pub fn end(&self) -> Place {
        let state = self.state.lock();
        Place { number: state.number, offset: state.end }
    }

    /// Bytes of all files.
    pub fn space(&self) -> u64 {
        let state = self.state.lock();
        state.before + state.end
    }

    pub fn name(&self, number: u64) -> String {
        self.state.lock().files.name(number)
    }

    /// Files before this one have been applied.
    pub fn let_go(&self, number: u64) -> Result<()> {
        let mut state = self.state.lock();
        let (gone, kept): (Vec<u64>, Vec<u64>) = state.files.numbers().iter().partition(|n| **n < number);
        if gone.is_empty() {
            return Ok(());
        }
        let mut freed = 0;
        for number in &gone {
            freed += state.files.open_file(*number, OpenOptions::read(Wait::RelaylogFile))?.len()?;
        }
        state.files.list(kept)?;
        state.before = state.before.saturating_sub(freed);
        state.files.remove(gone.into_iter())
    }

    /// All files go: the channel is forgotten.
    pub fn remove(&self) -> Result<()> {
        let mut state = self.state.lock();
        let found = state.files.found()?;
        state.files.list(Vec::new())?;
        state.file = None;
        state.files.remove(found.into_iter())?;
        state.files.remove_index()
    }

    /// Waits until there is more behind `place`, or for so long.
    pub fn wait(&self, place: Place, time: Duration) {
        let mut state = self.state.lock();
        if (state.number, state.end) == (place.number, place.offset) {
            self.moved.wait_timeout(&mut state, time, Wait::RelayLogUpdate);
        }
    }

    /// Whoever waits looks again.
    pub fn wake(&self) {
        // Under the lock, so that nobody is between looking and waiting.
        drop(self.state.lock());
        self.moved.notify_all();
    }

    /// Up to where a file may be read, and the file behind it.
    fn readable(&self, number: u64) -> (Option<u64>, Option<u64>) {
        let state = self.state.lock();
        let end = (state.number == number).then_some(state.end);
        (end, state.files.numbers().iter().copied().find(|n| *n > number))
    }
}

/// Bytes that a cursor reads at once.
const CHUNK_BYTES: u64 = 64 << 10;

/// Reads the relay log.
pub struct Cursor {
    file: LogFile,
    place: Place,
    checksum: Checksum,
    /// The transaction whose events come out of a payload, and where that ends at the source.
    payload: Option<(Expander, u32)>,
    /// The last event came out of one.
    unpacked: bool,
    /// What was read of the file, from `chunk_at` on.
    chunk: Vec<u8>,
    chunk_at: u64,
}

/// What comes next.
pub enum Next {
    Event(Header),
    /// Another file has begun.
    File,
    /// Nothing yet.
    Wait,
}

impl Cursor {
    /// At a place where an event begins; `None`: in front of all there is.
    pub fn open(relay: &RelayLog, place: Option<Place>) -> Result<Cursor> {
        let first = || relay.readable(0).1.map(|number| Place { number, offset: MAGIC.len() as u64 });
        let place = place.or_else(first).ok_or(Error::UnknownFile)?;
        // Which checksums the events at the place have the formats before it say.
        let front = Place { offset: MAGIC.len() as u64, ..place };
        let mut cursor = Cursor::at(relay, front, Checksum::Crc32)?;
        let mut event = Vec::new();
        while cursor.place.offset < place.offset {
            match cursor.next(relay, &mut event)? {
                Next::Event(_) => {}
                _ => return Err(Error::Corrupt(format!("the relay log has no position {}", place.offset))),
            }
        }
        Ok(cursor)
    }

    /// At a place where an event begins whose checksum is of this kind.
    pub fn at(relay: &RelayLog, place: Place, checksum: Checksum) -> Result<Cursor> {
        let file = relay.state.lock().files.open_file(place.number, OpenOptions::read(Wait::RelaylogFile))?;
        Ok(Cursor { file, place, checksum, payload: None, unpacked: false, chunk: Vec::new(), chunk_at: 0 })
    }

    /// The same, at another place.
    pub fn moved(self, relay: &RelayLog, place: Place, checksum: Checksum) -> Result<Cursor> {
        if self.place.number == place.number {
            return Ok(Cursor { place, checksum, payload: None, unpacked: false, ..self });
        }
        Cursor::at(relay, place, checksum)
    }

    pub fn place(&self) -> Place {
        self.place
    }

    /// The checksum of the event that came last.
    pub fn checksum(&self) -> Checksum {
        if self.unpacked { Checksum::None } else { self.checksum }
    }

    /// As [`Cursor::next`], but for a payload the events that are in it.
    pub fn next_unpacked(&mut self, relay: &RelayLog, event: &mut Vec<u8>) -> Result<Next> {
        if self.payload.is_none() {
            self.unpacked = false;
            match self.next(relay, event)? {
                Next::Event(header) if header.kind() == Some(Kind::TransactionPayload) => {
                    let body = body_of(event, self.checksum).ok_or("an event is cut short")?;
                    self.payload = Some((Expander::new(body)?, header.end_position));
                }
                other => return Ok(other),
            }
        }
        let (expander, end) = self.payload.as_mut().expect("looked at above");
        let header = expander.next(*end, event)?.ok_or("a payload without events")?;
        if expander.is_done() {
            self.payload = None;
        }
        self.unpacked = true;
        Ok(Next::Event(header))
    }

    /// Puts the next event into `event`. Errors: [`Error::Corrupt`], [`Error::Io`].
    pub fn next(&mut self, relay: &RelayLog, event: &mut Vec<u8>) -> Result<Next> {
        if !self.holds(HEADER_BYTES as u64) {
            let (end, next) = relay.readable(self.place.number);
            let limit = match end {
                Some(end) => end,
                None => self.file.len()?,
            };
            if limit > self.place.offset {
                self.read(limit, HEADER_BYTES as u64)?;
            } else {
                let Some(number) = next.filter(|_| end.is_none()) else { return Ok(Next::Wait) };
                let place = Place { number, offset: MAGIC.len() as u64 };
                *self = Cursor::at(relay, place, Checksum::Crc32)?;
                return Ok(Next::File);
            }
        }
        let header =
            Header::decode(self.bytes(HEADER_BYTES as u64)).ok_or_else(|| self.corrupt("no event begins here"))?;
        let len = u64::from(header.len);
        if !self.holds(len) {
            let limit = relay.readable(self.place.number).0.map_or_else(|| self.file.len(), Ok)?;
            self.read(limit, len)?;
        }
        event.clear();
        event.extend_from_slice(self.bytes(len));
        if self.checksum == Checksum::Crc32 && !event::verify(event) {
            return Err(self.corrupt("an event's checksum is wrong"));
        }
        self.place.offset += len;
        if header.kind() == Some(Kind::FormatDescription) {
            let body = event.get(HEADER_BYTES..event.len() - event::CHECKSUM_BYTES);
            let checksum = body.and_then(event::checksum_of);
            self.checksum = checksum.ok_or_else(|| Error::Corrupt("checksums of unknown kind".into()))?;
        }
        Ok(Next::Event(header))
    }

    #[cold]
    fn corrupt(&self, what: &str) -> Error {
        Error::Corrupt(format!("'{}' at position {}: {what}", self.file.path().display(), self.place.offset))
    }

    /// Are so many bytes from the place on in memory?
    fn holds(&self, len: u64) -> bool {
        let from = self.place.offset;
        from >= self.chunk_at && from + len <= self.chunk_at + self.chunk.len() as u64
    }

    fn bytes(&self, len: u64) -> &[u8] {
        let at = (self.place.offset - self.chunk_at) as usize;
        &self.chunk[at..at + len as usize]
    }

    /// Reads so many bytes at the place, and some more, of those up to `limit`.
    fn read(&mut self, limit: u64, len: u64) -> Result<()> {
        let from = self.place.offset;
        let there = limit.saturating_sub(from);
        if len > there {
            return Err(self.corrupt("an event is cut short"));
        }
        self.chunk.resize(len.max(CHUNK_BYTES).min(there) as usize, 0);
        self.chunk_at = from;
        if self.file.read_up_to(&mut self.chunk, from)? < self.chunk.len() {
            return Err(self.corrupt("an event is cut short"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use binlog::event::{put, xid};

    #[test]
    fn what_is_appended_is_read_over_files() {
        let directory = std::env::temp_dir().join(format!("relay-test-{}", std::process::id()));
        let relay = RelayLog::create(&directory, "h-relay-bin", 3, "8.4.0", None).unwrap();
        let event = |n: u64| {
            let mut out = Vec::new();
            put(&mut out, Kind::Xid, Stamp { timestamp: 1, server_id: 2 }, 0, Some(4), &[&xid(n)], Checksum::Crc32);
            out
        };
        relay.append(&event(1)).unwrap();
        let mut cursor = Cursor::open(&relay, None).unwrap();
        let mut bytes = Vec::new();
        let mut next = |cursor: &mut Cursor| match cursor.next(&relay, &mut bytes).unwrap() {
            Next::Event(header) => format!("{:?}", header.kind().unwrap()),
            Next::File => "file".to_string(),
            Next::Wait => "wait".to_string(),
        };
        assert_eq!([(); 3].map(|()| next(&mut cursor)), ["FormatDescription", "Xid", "wait"]);
        relay.next_file(Checksum::Crc32, &event(2)).unwrap();
        let middle = cursor.place();
        assert_eq!([(); 4].map(|()| next(&mut cursor)), ["file", "FormatDescription", "Xid", "wait"]);
        let mut again = Cursor::open(&relay, Some(middle)).unwrap();
        assert_eq!(next(&mut again), "file");
        relay.let_go(2).unwrap();
        assert_eq!(relay.name(2), "h-relay-bin.000002");
        assert!(!directory.join("h-relay-bin.000001").exists() && directory.join("h-relay-bin.000002").exists());
        relay.remove().unwrap();
        std::fs::remove_dir_all(&directory).unwrap();
    }
}
