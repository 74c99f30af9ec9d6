//! COM_REGISTER_REPLICA, COM_BINLOG_DUMP and COM_BINLOG_DUMP_GTID: the events of the binary log for a replica, as they come.
//!
//! ```text
//!   ROTATE (made up)          which file, from where
//!   FORMAT_DESCRIPTION        the file's own
//!   events                    up to the end that the writer has published, then it waits, with HEARTBEATs
//!   ROTATE (the file's own)   and all over again
//! ```
//! A replica's thread reads files and waits for the writer of them: no session that commits ever hears of it.

use crate::binary_log::binlog_error;
use crate::command::{Done, Session};
use crate::needs::Action;
use crate::sink::gone;
use binlog::event::{
    self, Checksum, FLAG_ARTIFICIAL, FLAG_IN_USE, GtidEvent, HEADER_BYTES, Header, Kind, MAGIC, Stamp,
};
use binlog::gtid::GtidSet;
use binlog::{Binlog, Read, Reader};
use exec::{Env, Stage};
use protocol::Output;
use protocol::command::{BinlogDump, RegisterReplica};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use types::{Result, SqlError, Value, err};

/// In the flags of COM_BINLOG_DUMP: end at the end of the log.
const NON_BLOCK: u16 = 1;
/// How often a dump that waits looks for KILL.
const ASK_AGAIN: Duration = Duration::from_millis(200);

/// A replica that has registered.
#[derive(Clone, Debug)]
pub(crate) struct Replica {
    pub server_id: u32,
    pub host: String,
    pub port: u16,
    pub source_id: u32,
    pub uuid: String,
}

/// Who reads a dump, and whether another connection has taken his place: one that was cut off may not know it yet.
pub(crate) struct Dumping {
    identity: Identity,
    replaced: Arc<AtomicBool>,
}

/// A replica's UUID, or its server's number where it tells none.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Identity {
    Uuid(String),
    Number(u32),
}

/// A fatal error that the replica tells its administrator.
fn fatal(text: impl Into<String>) -> SqlError {
    SqlError::new(1236, text)
}

fn fatal_of(e: binlog::Error) -> SqlError {
    match e {
        binlog::Error::Interrupted | binlog::Error::Stopped => binlog_error(e),
        binlog::Error::UnknownFile => fatal("Could not find first log file name in binary log index file"),
        other => fatal(other.to_string()),
    }
}

/// A dump in progress.
struct Dump<'o> {
    binlog: Arc<Binlog>,
    reader: Reader,
    out: &'o mut Output,
    server_id: u32,
    /// Events keep their checksums; a reader that cannot take them gets none.
    sums: bool,
    heartbeat: Option<Duration>,
    /// What the replica has: left out.
    has: Option<GtidSet>,
    skips: bool,
    sent_at: Instant,
    /// File and position of the first event.
    began: (u64, u64),
    replaced: Arc<AtomicBool>,
}

impl Session {
    /// COM_REGISTER_REPLICA.
    pub(crate) fn register_replica(&mut self, replica: RegisterReplica<'_>, out: &mut Output) -> Result<Done> {
        self.refresh_access()?;
        self.need(Action::ReadBinaryLog)?;
        let text = |b: &[u8]| String::from_utf8_lossy(b).into_owned();
        let uuid = self.user_text(&["replica_uuid", "slave_uuid"]).unwrap_or_default();
        let found = Replica {
            server_id: replica.server_id,
            host: text(replica.host),
            port: replica.port,
            source_id: self.server.globals.load().uint(crate::binary_log::SERVER_ID) as u32,
            uuid,
        };
        self.server.replicas.lock().insert(self.state.id, found);
        self.ok(out, &exec::Outcome::default())?;
        Ok(Done::Answered)
    }

    /// A text that the client has put into a user variable, under one of these names.
    fn user_text(&self, names: &[&str]) -> Option<String> {
        names.iter().find_map(|name| match self.state.user_variable(name).0 {
            Value::Null => None,
            Value::Bytes(b) => Some(String::from_utf8_lossy(&b).into_owned()),
            other => Some(other.to_integer().to_string()),
        })
    }

    /// COM_BINLOG_DUMP and COM_BINLOG_DUMP_GTID. Errors 1227, 1236, 1317.
    pub(crate) fn dump_binlog(&mut self, dump: BinlogDump<'_>, out: &mut Output) -> Result<Done> {
        self.refresh_access()?;
        self.need(Action::ReadBinaryLog)?;
        let binlog = self.server.binlog.clone().ok_or_else(|| fatal("Binary log is not open"))?;
        if dump.flags & NON_BLOCK != 0 {
            // It ends with what is committed now.
            binlog.catch_up(sync::blocking::is_interrupted).map_err(fatal_of)?;
        }
        let name = String::from_utf8_lossy(dump.file).into_owned();
        let has = match dump.gtids {
            Some(bytes) => {
                Some(GtidSet::decode(bytes).ok_or_else(|| fatal("The GTID set of the replica is malformed"))?)
            }
            None => None,
        };
        let position = dump.position.max(if has.is_some() { MAGIC.len() as u64 } else { 0 });
        if position < MAGIC.len() as u64 {
            return Err(fatal("Client requested source to start replication from position < 4"));
        }
        let number = match &has {
            Some(set) => first_file(&binlog, set)?,
            None if name.is_empty() => *binlog.published().files.first().expect("there is a file in use"),
            None => binlog.number_of(&name).map_err(fatal_of)?,
        };
        let mut reader = Reader::open(&binlog, number).map_err(fatal_of)?;
        if has.is_none() {
            reader
                .seek(position)
                .map_err(|_| fatal("Client requested source to start replication from position > file size"))?;
        }
        let sums = match self.user_text(&["source_binlog_checksum", "master_binlog_checksum"]) {
            Some(word) => !word.eq_ignore_ascii_case("NONE"),
            None if reader.checksum() == Checksum::None => true,
            None => {
                return Err(fatal(
                    "Replica can not handle replication events with the checksum that source is configured to log",
                ));
            }
        };
        let replaced = self.take_place(dump.server_id);
        let heartbeat = self.user_text(&["source_heartbeat_period", "master_heartbeat_period"]);
        let heartbeat = heartbeat.and_then(|ns| ns.parse().ok()).filter(|ns| *ns > 0).map(Duration::from_nanos);
        let mut dump_in_progress = Dump {
            binlog,
            reader,
            out,
            server_id: self.server.globals.load().uint(crate::binary_log::SERVER_ID) as u32,
            sums,
            heartbeat,
            has,
            skips: false,
            sent_at: Instant::now(),
            began: (number, position),
            replaced,
        };
        let interrupt = Arc::clone(self.tx.interrupt());
        let entry = &self.entry;
        let stage = |stage| entry.stage(stage);
        let ends = dump_in_progress.run(dump.flags & NON_BLOCK != 0, &|| interrupt.reason() != 0, &stage);
        self.server.replicas.lock().remove(&self.state.id);
        self.server.dumps.lock().remove(&self.state.id);
        ends?;
        let (status, warnings) = (self.status(false), 0);
        out.eof(status, warnings).map_err(|_| gone())?;
        Ok(Done::Answered)
    }
}

impl Session {
    /// The same replica's former dump ends. Who tells neither UUID nor number is nobody's successor.
    fn take_place(&self, server_id: u32) -> Arc<AtomicBool> {
        let replaced = Arc::new(AtomicBool::new(false));
        let identity = match self.user_text(&["replica_uuid", "slave_uuid"]) {
            Some(uuid) => Identity::Uuid(uuid.to_ascii_lowercase()),
            None => Identity::Number(server_id),
        };
        let mut dumps = self.server.dumps.lock();
        if identity != Identity::Number(0) {
            // Relaxed: a sign that is looked for now and then.
            dumps.values().filter(|d| d.identity == identity).for_each(|d| d.replaced.store(true, Ordering::Relaxed));
        }
        dumps.insert(self.state.id, Dumping { identity, replaced: Arc::clone(&replaced) });
        replaced
    }
}

/// The file that a replica with `set` goes on in. Error 1236.
fn first_file(binlog: &Arc<Binlog>, set: &GtidSet) -> Result<u64> {
    let published = binlog.published();
    if !published.purged.is_subset_of(set) {
        return Err(fatal(
            "Cannot replicate because the source purged required binary logs. Replicate the missing transactions from \
             elsewhere, or provision a new replica from backup. Consider increasing the source's binary log expiration \
             period.",
        ));
    }
    let of_source = |set: &GtidSet| {
        let mut others = set.clone();
        others.subtract(&published.executed);
        others
    };
    // What the replica has of this server and this server has not: they have gone different ways.
    if of_source(set).has_source(binlog.config().server_uuid) {
        return Err(fatal("Replica has more GTIDs than the source has, using the source's SERVER_UUID."));
    }
    let found = Reader::first_needed(binlog, set).map_err(fatal_of)?;
    found.ok_or_else(|| fatal("Cannot replicate because the source purged required binary logs."))
}

impl Dump<'_> {
    fn run(&mut self, ends_at_end: bool, killed: &dyn Fn() -> bool, stage: &dyn Fn(Stage)) -> Result<()> {
        stage(Stage::SendingEvents);
        self.begin_file()?;
        let mut event = Vec::new();
        loop {
            self.check_ended(killed)?;
            match self.reader.next(&mut event).map_err(fatal_of)? {
                Read::Event(header) => {
                    if !self.leaves_out(&header, &event) {
                        self.send(&header, &mut event)?;
                    }
                }
                Read::EndOfFile => {
                    self.reader.next_file().map_err(fatal_of)?;
                    self.begin_file()?;
                }
                Read::EndOfLog if ends_at_end => return Ok(()),
                Read::EndOfLog => {
                    stage(Stage::AllSent);
                    self.await_more(killed)?;
                    stage(Stage::SendingEvents);
                }
            }
        }
    }

    /// Errors 1236, 1317.
    fn check_ended(&self, killed: &dyn Fn() -> bool) -> Result<()> {
        // Relaxed: see `Session::take_place`.
        if self.replaced.load(Ordering::Relaxed) {
            let first = self.binlog.file_name(self.began.0);
            let (last, at) = (self.binlog.file_name(self.reader.number()), self.reader.offset());
            return Err(fatal(format!(
                "A replica with the same server_uuid/server_id as this replica has connected to the source; the first event \
                 '{first}' at {}, the last event read from '{last}' at {at}, the last byte read from '{last}' at {at}.",
                self.began.1
            )));
        }
        if killed() { Err(err!(1317)) } else { Ok(()) }
    }

    /// Names the file and describes its format.
    fn begin_file(&mut self) -> Result<()> {
        let name = self.binlog.file_name(self.reader.number());
        let offset = self.reader.offset();
        let stamp = Stamp { timestamp: 0, server_id: self.server_id };
        let sum = if self.sums { self.reader.checksum() } else { Checksum::None };
        let mut bytes = Vec::new();
        event::put(&mut bytes, Kind::Rotate, stamp, FLAG_ARTIFICIAL, None, &[&event::rotate(&name, offset)], sum);
        self.packet(&bytes)?;
        let mut description = self.reader.front().description.clone();
        let is_front = offset == MAGIC.len() as u64;
        description[17] &= !(FLAG_IN_USE as u8);
        if !is_front {
            // Not where it was read, and not the start of the server: temporary tables stay.
            description[13..17].fill(0);
            let created = HEADER_BYTES + 52;
            description[created..created + 4].fill(0);
        }
        let end = description.len() - event::CHECKSUM_BYTES;
        if !self.sums {
            description[end - 1] = Checksum::None as u8;
        }
        event::seal(&mut description);
        self.packet(&description)?;
        if is_front {
            let len = description.len() as u64;
            self.reader.seek(MAGIC.len() as u64 + len).map_err(fatal_of)?;
        }
        Ok(())
    }

    /// Is it part of a transaction that the replica has?
    fn leaves_out(&mut self, header: &Header, event: &[u8]) -> bool {
        let Some(has) = &self.has else { return false };
        match header.kind() {
            Some(Kind::Gtid) => {
                let gtid = GtidEvent::gtid_of(&event[HEADER_BYTES..]);
                self.skips = gtid.is_some_and(|g| has.contains(g.uuid, g.number));
            }
            Some(Kind::AnonymousGtid | Kind::Rotate | Kind::Stop | Kind::PreviousGtids) => self.skips = false,
            _ => {}
        }
        self.skips
    }

    fn send(&mut self, header: &Header, event: &mut Vec<u8>) -> Result<()> {
        if !self.sums && self.reader.checksum() == Checksum::Crc32 {
            event.truncate(event.len() - event::CHECKSUM_BYTES);
            let len = header.len - event::CHECKSUM_BYTES as u32;
            event[9..13].copy_from_slice(&len.to_le_bytes());
        }
        self.packet(event)
    }

    fn packet(&mut self, event: &[u8]) -> Result<()> {
        let buffer = self.out.begin();
        buffer.push(0);
        buffer.extend_from_slice(event);
        self.out.end().map_err(|_| gone())
    }

    /// All is sent: waits for more, and tells the replica now and then that it is still there.
    fn await_more(&mut self, killed: &dyn Fn() -> bool) -> Result<()> {
        self.out.flush().map_err(|_| gone())?;
        self.sent_at = Instant::now();
        let (number, offset) = (self.reader.number(), self.reader.offset());
        loop {
            self.check_ended(killed)?;
            let left = self.heartbeat.map_or(ASK_AGAIN, |period| period.saturating_sub(self.sent_at.elapsed()));
            if self.binlog.await_more(number, offset, left.min(ASK_AGAIN)).map_err(fatal_of)? {
                return Ok(());
            }
            if self.heartbeat.is_some_and(|period| self.sent_at.elapsed() >= period) {
                self.send_heartbeat(number, offset)?;
            }
        }
    }

    fn send_heartbeat(&mut self, number: u64, offset: u64) -> Result<()> {
        let name = self.binlog.file_name(number);
        let sum = if self.sums { self.reader.checksum() } else { Checksum::None };
        let len = (HEADER_BYTES + name.len() + sum.bytes()) as u64;
        let stamp = Stamp { timestamp: 0, server_id: self.server_id };
        let mut bytes = Vec::new();
        let start = Some(offset.saturating_sub(len));
        event::put(&mut bytes, Kind::Heartbeat, stamp, FLAG_ARTIFICIAL, start, &[&event::heartbeat(&name)], sum);
        self.packet(&bytes)?;
        self.out.flush().map_err(|_| gone())?;
        self.sent_at = Instant::now();
        Ok(())
    }
}
