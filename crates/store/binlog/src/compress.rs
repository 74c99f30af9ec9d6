//! Transactions whose events are compressed: `binlog_transaction_compression`, MySQL's TRANSACTION_PAYLOAD event.
//!
//! ```text
//!   GTID | TRANSACTION_PAYLOAD: fields, then one zstd stream of the events from BEGIN to XID, each with its header and without a checksum
//!   field   type | length | value      all packed integers; type 0 ends them and has neither length nor value
//!           1: bytes of the stream     2: how it is compressed, 0 zstd, 255 not at all     3: bytes of the events
//! ```
//! The session that commits compresses, in place of its events: so the log carries the small form, and who writes the files passes it on
//! as one event more. A stream longer than [`STREAM_BYTES_MAX`] is given up, and its transaction stays as it is: the event is in memory
//! as a whole wherever it is read.

use crate::event::{self, Checksum, HEADER_BYTES, Header, Kind, Stamp, put_lenenc};
use crate::payload::{Assembler, Commit, Damage, Unplaced, put_event};
use crate::{Error, Result};
use engine::Events;
use std::io::{Read, Write};

/// The longest stream that is written.
pub const STREAM_BYTES_MAX: usize = 64 << 20;
/// The longest event in a stream that is read: as anywhere else.
const EVENT_BYTES_MAX: usize = 1 << 30 | 1 << 16;
const ZSTD: u64 = 0;
const NONE: u64 = 255;

/// How a payload is compressed, in MySQL's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    Zstd,
    None,
}

impl Compression {
    pub fn name(self) -> &'static str {
        match self {
            Compression::Zstd => "ZSTD",
            Compression::None => "NONE",
        }
    }
}

/// The body of a TRANSACTION_PAYLOAD.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Payload<'b> {
    pub compression: Compression,
    /// Bytes of the events that are in it.
    pub events_bytes: u64,
    pub stream: &'b [u8],
}

impl<'b> Payload<'b> {
    /// `None`: it is damaged, or compressed in a way that is not known.
    pub fn decode(body: &'b [u8]) -> Option<Payload<'b>> {
        let mut rest = body;
        let (mut stream_bytes, mut compression, mut events_bytes) = (None, Compression::Zstd, None);
        loop {
            let field = take_lenenc(&mut rest)?;
            if field == 0 {
                break;
            }
            let len = usize::try_from(take_lenenc(&mut rest)?).ok()?;
            let (value, behind) = rest.split_at_checked(len)?;
            rest = behind;
            let number = |mut value: &[u8]| take_lenenc(&mut value);
            match field {
                1 => stream_bytes = Some(number(value)?),
                2 => {
                    compression = match number(value)? {
                        ZSTD => Compression::Zstd,
                        NONE => Compression::None,
                        _ => return None,
                    }
                }
                3 => events_bytes = Some(number(value)?),
                // Of later servers.
                _ => {}
            }
        }
        let stream_bytes = stream_bytes.unwrap_or(rest.len() as u64);
        (stream_bytes == rest.len() as u64).then_some(())?;
        Some(Payload { compression, events_bytes: events_bytes.unwrap_or(stream_bytes), stream: rest })
    }

    fn encode_head(stream_bytes: u64, events_bytes: u64) -> Vec<u8> {
        let mut head = Vec::new();
        for (field, number) in [(1, stream_bytes), (2, ZSTD), (3, events_bytes)] {
            let mut value = Vec::new();
            put_lenenc(&mut value, number);
            head.extend_from_slice(&[field, value.len() as u8]);
            head.extend_from_slice(&value);
        }
        head.push(0);
        head
    }
}

fn take_lenenc(bytes: &mut &[u8]) -> Option<u64> {
    let (first, rest) = bytes.split_first()?;
    let width = match first {
        0..=250 => {
            *bytes = rest;
            return Some(u64::from(*first));
        }
        0xFC => 2,
        0xFD => 3,
        0xFE => 8,
        _ => return None,
    };
    let (number, rest) = rest.split_at_checked(width)?;
    *bytes = rest;
    Some(number.iter().rev().fold(0, |n, b| n << 8 | u64::from(*b)))
}

/// The events of a payload, one after the other. They have no checksums.
pub struct Expander {
    input: Box<dyn Read + Send>,
    /// Bytes of events that are still to come.
    left: u64,
}

impl Expander {
    /// Of the body of a TRANSACTION_PAYLOAD. Errors: [`Error::Corrupt`].
    pub fn new(body: &[u8]) -> Result<Expander> {
        let payload = Payload::decode(body).ok_or(DAMAGED)?;
        let stream = std::io::Cursor::new(payload.stream.to_vec());
        let input: Box<dyn Read + Send> = match payload.compression {
            Compression::None => Box::new(stream),
            Compression::Zstd => Box::new(zstd::stream::read::Decoder::with_buffer(stream).map_err(damaged)?),
        };
        Ok(Expander { input, left: payload.events_bytes })
    }

    /// Puts the next event into `event`; `None`: there are no more. It says that it ends at `end_position`, where the payload does.
    /// Errors: [`Error::Corrupt`].
    pub fn next(&mut self, end_position: u32, event: &mut Vec<u8>) -> Result<Option<Header>> {
        event.clear();
        if self.left == 0 {
            return Ok(None);
        }
        let mut head = [0; HEADER_BYTES];
        self.input.read_exact(&mut head).map_err(damaged)?;
        let len = Header::decode(&head).ok_or(DAMAGED)?.len as usize;
        if len > EVENT_BYTES_MAX || len as u64 > self.left {
            return Err(DAMAGED.into());
        }
        head[13..17].copy_from_slice(&end_position.to_le_bytes());
        event.extend_from_slice(&head);
        // Grows by what comes, not by what a length says.
        let rest = (len - HEADER_BYTES) as u64;
        let read = (&mut self.input).take(rest).read_to_end(event).map_err(damaged)?;
        if read as u64 != rest {
            return Err(DAMAGED.into());
        }
        self.left -= len as u64;
        if self.left == 0 && self.input.read(&mut [0]).map_err(damaged)? != 0 {
            return Err(DAMAGED.into());
        }
        Ok(Header::decode(event))
    }

    /// Was the last event the last one?
    pub fn is_done(&self) -> bool {
        self.left == 0
    }
}

const DAMAGED: Damage = "a compressed transaction is damaged";

fn damaged(e: std::io::Error) -> Error {
    Error::Corrupt(format!("{DAMAGED}: {e}"))
}

/// Why a transaction is not compressed.
enum Stop {
    /// It has events that stay as they are, or its stream is too long.
    Unfit,
    Failed(Error),
}

impl From<Damage> for Stop {
    fn from(what: Damage) -> Stop {
        Stop::Failed(what.into())
    }
}

/// Takes in events, and writes them with headers into a stream.
struct Compressor {
    stream: zstd::stream::write::Encoder<'static, Vec<u8>>,
    event: Vec<u8>,
    server_id: u32,
    events_bytes: u64,
}

impl Compressor {
    fn put(&mut self, kind: Kind, timestamp: u32, flags: u16, body: &[&[u8]]) -> std::result::Result<(), Stop> {
        self.event.clear();
        let stamp = Stamp { timestamp, server_id: self.server_id };
        event::put(&mut self.event, kind, stamp, flags, None, body, Checksum::None);
        self.events_bytes += self.event.len() as u64;
        let written = self.stream.write_all(&self.event);
        written.map_err(|e| Stop::Failed(Error::Io(e.to_string())))?;
        if self.stream.get_ref().len() > STREAM_BYTES_MAX { Err(Stop::Unfit) } else { Ok(()) }
    }
}

/// Puts one compressed event in place of the events so far, from BEGIN to `xid`, where all of them are of rows; `commit`, which goes behind
/// them, then has neither BEGIN nor XID of its own. Events that do not become smaller stay as they are.
///
/// Errors: [`Error::Io`], [`Error::DiskFull`]: as [`Events::append`], the transaction cannot commit.
pub fn compress(events: &mut Events, commit: &mut Commit, level: i32, xid: u64) -> Result<()> {
    let stream = zstd::stream::write::Encoder::new(Vec::new(), level).map_err(|e| Error::Io(e.to_string()))?;
    let mut compressor = Compressor { stream, event: Vec::new(), server_id: commit.server_id, events_bytes: 0 };
    match write_stream(&mut compressor, events, commit, xid) {
        Ok(()) => {}
        Err(Stop::Unfit) => return Ok(()),
        Err(Stop::Failed(e)) => return Err(e),
    }
    let stream = compressor.stream.finish().map_err(|e| Error::Io(e.to_string()))?;
    if stream.len() as u64 >= compressor.events_bytes {
        return Ok(());
    }
    let head = Payload::encode_head(stream.len() as u64, compressor.events_bytes);
    events.truncate(0);
    put_event(events, Kind::TransactionPayload, 0, commit.seconds(), &[&head, &stream])?;
    (commit.is_block, commit.has_statements) = (false, false);
    commit.begin.clear();
    Ok(())
}

fn write_stream(to: &mut Compressor, events: &Events, commit: &Commit, xid: u64) -> std::result::Result<(), Stop> {
    to.put(Kind::Query, commit.timestamp, event::FLAG_SUPPRESS_USE, &[&commit.begin])?;
    let mut assembler = Assembler::default();
    let mut sink = |e: Unplaced<'_>| match e.kind {
        Kind::TableMap
        | Kind::RowsQuery
        | Kind::WriteRows
        | Kind::UpdateRows
        | Kind::DeleteRows
        | Kind::PartialUpdateRows => to.put(e.kind, e.timestamp, e.flags, e.body),
        _ => Err(Stop::Unfit),
    };
    let mut stopped = None;
    let read = events.replay(|bytes| {
        assembler.feed(bytes, &mut sink).map_err(|stop| {
            stopped = Some(stop);
            engine::Error::Interrupted
        })
    });
    match (stopped, read) {
        (Some(stop), _) => return Err(stop),
        (None, read) => read.map_err(|e| Stop::Failed(e.into()))?,
    }
    assembler.close_open(&mut sink)?;
    to.put(Kind::Xid, commit.seconds(), 0, &[&event::xid(xid)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::payload::Numbering;

    fn commit() -> Commit {
        Commit {
            is_block: true,
            ends_itself: false,
            is_beside: false,
            has_statements: false,
            numbering: Numbering::Anonymous,
            server_id: 7,
            commit_us: 1_700_000_000_000_000,
            original_us: 0,
            original_version: 0,
            prepared: 0,
            timestamp: 1_700_000_000,
            begin: b"the session, then BEGIN".to_vec(),
        }
    }

    fn compressed() -> (Commit, Vec<u8>) {
        let mut events = Events::default();
        let text = crate::payload::rows_query(&[b'x'; 500]);
        for _ in 0..10 {
            put_event(&mut events, Kind::RowsQuery, 0x80, 5, &[&text]).unwrap();
        }
        let before = events.len();
        let mut commit = commit();
        compress(&mut events, &mut commit, 3, 99).unwrap();
        assert!(events.len() < before / 10);
        commit.put(&mut events).unwrap();
        let mut bytes = Vec::new();
        let gathered = events.replay(|piece| {
            bytes.extend_from_slice(piece);
            Ok(())
        });
        gathered.unwrap();
        let mut assembler = Assembler::default();
        let mut bodies = Vec::new();
        let mut sink = |e: Unplaced<'_>| -> Result<()> {
            assert_eq!(e.kind, Kind::TransactionPayload);
            bodies.push(e.body.concat());
            Ok(())
        };
        assembler.feed(&bytes, &mut sink).unwrap();
        let end = assembler.finish(&mut sink).unwrap();
        assert_eq!(bodies.len(), 1);
        (end, bodies.remove(0))
    }

    #[test]
    fn events_come_back_out_of_their_payload() {
        let (end, body) = compressed();
        assert!(!end.is_block && !end.has_statements && end.begin.is_empty());
        let mut expander = Expander::new(&body).unwrap();
        let (mut event, mut kinds, mut bytes) = (Vec::new(), Vec::new(), 0);
        while let Some(header) = expander.next(4711, &mut event).unwrap() {
            assert_eq!((header.end_position, header.server_id), (4711, 7));
            kinds.push(header.kind().unwrap());
            bytes += event.len() as u64;
        }
        assert_eq!((kinds.len(), kinds[0], kinds[5], kinds[11]), (12, Kind::Query, Kind::RowsQuery, Kind::Xid));
        assert_eq!(Payload::decode(&body).unwrap().events_bytes, bytes);
    }

    #[test]
    fn statements_stay_as_they_are() {
        let mut events = Events::default();
        put_event(&mut events, Kind::Query, 0, 5, &[&[0; 500]]).unwrap();
        let (before, mut end) = (events.len(), commit());
        compress(&mut events, &mut end, 3, 1).unwrap();
        assert_eq!((events.len(), end), (before, commit()));
    }

    /// Whatever a byte is turned into, all of the events come or an error, and never more than was said.
    #[test]
    fn damage_shows_or_does_no_harm() {
        let (_, body) = compressed();
        let read = |body: &[u8]| -> Result<usize> {
            let (mut expander, mut event, mut count) = (Expander::new(body)?, Vec::new(), 0);
            while expander.next(0, &mut event)?.is_some() {
                count += 1;
            }
            Ok(count)
        };
        assert_eq!(read(&body), Ok(12));
        for at in 0..body.len() {
            assert!(read(&body[..at]).is_err(), "cut at {at}");
            for bit in 0..8 {
                let mut bad = body.clone();
                bad[at] ^= 1 << bit;
                let _ = read(&bad);
            }
        }
    }
}
