//! COM_REGISTER_REPLICA, COM_BINLOG_DUMP and COM_BINLOG_DUMP_GTID: the events of the binary log for a replica, as they come.
//!
//! ```text
//!   ROTATE (made up)          which file, from where
//!   FORMAT_DESCRIPTION        the file's own
//!   events                    up to the end that the writer has published, then it waits, with HEARTBEATs
//!   ROTATE (the file's own)   and all over again
//! ```
//! A replica's thread reads files and waits for the writer of them: no session that commits ever hears of it.

use crate::Server;
use crate::binary_log::binlog_error;
use crate::dumps::{Dumping, Identity, Replica};
use crate::gtids::{GTID_MODE, MODE_OFF, MODE_ON};
use crate::needs::Action;
use crate::session::{Done, Session};
use crate::sink::gone;
use crate::variables::Extension;
use binlog::event::{
    self, Checksum, FLAG_ARTIFICIAL, FLAG_IN_USE, GtidEvent, HEADER_BYTES, Header, Kind, MAGIC, Stamp,
};
use binlog::semisync::Place;
use binlog::{Binlog, Read, Reader};
use expr::{Env, Stage};
use protocol::command::RegisterReplica;
use protocol::{Connection, Output, ReadOutcome};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use types::codes::*;
use types::gtid::GtidSet;
use types::{Result, SqlError, Value, err};

/// In the flags of COM_BINLOG_DUMP: end at the end of the log.
const NON_BLOCK: u16 = 1;
/// How often a dump that waits looks for KILL.
const ASK_AGAIN: Duration = Duration::from_millis(200);

/// A fatal error that the replica tells its administrator.
fn fatal(text: impl Into<String>) -> SqlError {
    SqlError::new(ER_SOURCE_FATAL_ERROR_READING_BINLOG, text)
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
    conn: &'o mut Connection,
    answers: Option<Answers>,
    server: Arc<Server>,
    server_id: u32,
    /// Before the first event that describes a format, the reader expects no checksums.
    begins_plain: bool,
    heartbeat: Option<Duration>,
    /// What the replica has: left out.
    has: Option<GtidSet>,
    skips: bool,
    sent_at: Instant,
    /// File and position of the first event.
    began: (u64, u64),
    replaced: Arc<AtomicBool>,
}

/// A replica that answers: semi-synchronous replication. It is asked about the end of all that is published, then about the next
/// one.
struct Answers {
    replica: u64,
    /// Where an event has to end to be asked about.
    next: Option<Place>,
    /// What it has not answered yet.
    asked: Option<Place>,
    asked_at: Instant,
    /// Events have gone out behind what it was asked about last.
    is_behind: bool,
}

impl Answers {
    /// An event that ends there goes out: is the replica to answer?
    fn asks(&mut self, place: Place) -> bool {
        let asks = self.asked.is_none() && self.next == Some(place);
        self.is_behind = true;
        if asks {
            self.ask(place);
        }
        if self.next.is_some_and(|next| next <= place) {
            self.next = None;
        }
        asks
    }

    fn ask(&mut self, place: Place) {
        (self.asked, self.asked_at, self.is_behind) = (Some(place), Instant::now(), false);
    }
}

/// What stands before each event for a replica that answers, and before its answer.
const SEMI_SYNC: u8 = 0xEF;
/// A replica that does not answer for so long gets more events meanwhile.
const PATIENCE: Duration = Duration::from_secs(1);
/// How often it is looked for answers while there is nothing to wait for.
const LOOK: Duration = Duration::from_millis(20);

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
        self.ok(out, &run::Outcome::default())?;
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
    pub(crate) fn dump_binlog(&mut self, conn: &mut Connection) -> Result<Done> {
        let dump = self.dump.take().expect("it was asked for");
        self.refresh_access()?;
        self.need(Action::ReadBinaryLog)?;
        let binlog = self.server.binlog.clone().ok_or_else(|| fatal("Binary log is not open"))?;
        // Whoever is no replica, as `mysqlbinlog`, has no number.
        let ends_at_end = dump.flags & NON_BLOCK != 0 || dump.server_id == 0;
        if ends_at_end {
            // It ends with what is committed now.
            binlog.catch_up(sync::blocking::is_interrupted).map_err(fatal_of)?;
        }
        let name = dump.file;
        let has = match &dump.gtids {
            Some(bytes) => Some(GtidSet::decode(bytes).ok_or_else(|| err!(ER_MALFORMED_GTID_SET_ENCODING))?),
            None => None,
        };
        self.check_gtid_mode(has.is_some())?;
        let position = dump.position.max(if has.is_some() { MAGIC.len() as u64 } else { 0 });
        if position < MAGIC.len() as u64 {
            return Err(fatal("Client requested source to start replication from position < 4"));
        }
        let is_named = !name.is_empty();
        let number = match &has {
            _ if is_named => binlog.number_of(&name).map_err(fatal_of)?,
            Some(set) => first_file(&binlog, set)?,
            None => *binlog.published().files.first().expect("there is a file in use"),
        };
        let mut reader = Reader::open(&binlog, number).map_err(fatal_of)?;
        if has.is_none() || is_named {
            reader
                .seek(position)
                .map_err(|_| fatal("Client requested source to start replication from position > file size"))?;
        }
        // Whoever names any knows checksums, and takes what is in the files.
        let word = self.user_text(&["source_binlog_checksum", "master_binlog_checksum"]);
        if word.is_none() && reader.checksum() != Checksum::None {
            return Err(fatal(
                "Replica can not handle replication events with the checksum that source is configured to log",
            ));
        }
        let replaced = self.take_place(dump.server_id);
        let heartbeat = self.user_text(&["source_heartbeat_period", "master_heartbeat_period"]);
        let heartbeat = heartbeat.and_then(|ns| ns.parse().ok()).filter(|ns| *ns > 0).map(Duration::from_nanos);
        let answers = self.agrees_to_answer().then(|| Answers {
            replica: self.state.id.into(),
            next: None,
            asked: None,
            asked_at: Instant::now(),
            is_behind: false,
        });
        if let Some(answers) = &answers {
            binlog.attach_answering(answers.replica);
        }
        let mut dump_in_progress = Dump {
            binlog: Arc::clone(&binlog),
            reader,
            conn,
            answers,
            server: Arc::clone(&self.server),
            server_id: self.server.globals.load().uint(crate::binary_log::SERVER_ID) as u32,
            begins_plain: word.is_some_and(|word| word.eq_ignore_ascii_case("NONE")),
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
        let ends = dump_in_progress.run(ends_at_end, &|| interrupt.reason() != 0, &stage);
        self.server.replicas.lock().remove(&self.state.id);
        self.server.dumps.lock().remove(&self.state.id);
        binlog.detach_answering(self.state.id.into());
        ends?;
        let (status, warnings) = (self.status(false), 0);
        conn.output().eof(status, warnings).map_err(|_| gone())?;
        Ok(Done::Answered)
    }
}

impl Session {
    /// Whoever says what it has gets what it has not: of transactions without a number that is not known. Error 1236.
    fn check_gtid_mode(&self, by_gtids: bool) -> Result<()> {
        const MODES: [&str; 4] = ["OFF", "OFF_PERMISSIVE", "ON_PERMISSIVE", "ON"];
        let mode = self.server.globals.load().uint(GTID_MODE);
        if !by_gtids || mode == MODE_ON {
            return Ok(());
        }
        Err(fatal(format!(
            "The replication sender thread cannot start in AUTO_POSITION mode: this server has GTID_MODE = {} instead \
             of ON.",
            MODES[mode as usize]
        )))
    }

    /// Does the replica want to answer, and is there the plugin that wants to know?
    fn agrees_to_answer(&self) -> bool {
        self.server.globals.load().has(Extension::SemiSyncSource)
            && self.user_text(crate::semisync::ANSWERS).is_some_and(|word| word != "0")
    }

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
            self.aim();
            match self.reader.next(&mut event).map_err(fatal_of)? {
                Read::Event(header) => {
                    self.check_number(&header)?;
                    if !self.leaves_out(&header, &event) {
                        self.send(&event)?;
                        self.await_answer(killed)?;
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
            return Err(self.fatal_here(
                "A replica with the same server_uuid/server_id as this replica has connected to the source",
            ));
        }
        if killed() { Err(err!(ER_QUERY_INTERRUPTED)) } else { Ok(()) }
    }

    fn fatal_here(&self, why: &str) -> SqlError {
        let first = self.binlog.file_name(self.began.0);
        let (last, at) = (self.binlog.file_name(self.reader.number()), self.reader.offset());
        fatal(format!(
            "{why}; the first event '{first}' at {}, the last event read from '{last}' at {at}, the last byte read \
             from '{last}' at {at}.",
            self.began.1
        ))
    }

    /// Has a transaction a number where there should be none, or none where it needs one? A replica that names what it has would get
    /// one without a number again and again. Error 1236.
    fn check_number(&self, header: &Header) -> Result<()> {
        let mode = || self.server.globals.load().uint(GTID_MODE);
        let why = match header.kind() {
            Some(Kind::AnonymousGtid) if self.has.is_some() => "anonymous transaction when AUTO_POSITION = 1",
            Some(Kind::AnonymousGtid) if mode() == MODE_ON => "anonymous transaction when @@GLOBAL.GTID_MODE = ON",
            Some(Kind::Gtid | Kind::GtidTagged) if mode() == MODE_OFF => {
                "GTID-transaction when @@GLOBAL.GTID_MODE = OFF"
            }
            _ => return Ok(()),
        };
        let file = self.binlog.file_name(self.reader.number());
        let at = self.reader.offset() - u64::from(header.len);
        Err(self.fatal_here(&format!("Cannot replicate {why}, at file ./{file}, position {at}.")))
    }

    /// Names the file and describes its format.
    fn begin_file(&mut self) -> Result<()> {
        let name = self.binlog.file_name(self.reader.number());
        let offset = self.reader.offset();
        let stamp = Stamp { timestamp: 0, server_id: self.server_id };
        let is_plain = std::mem::take(&mut self.begins_plain);
        let sum = if is_plain { Checksum::None } else { self.reader.checksum() };
        let mut bytes = Vec::new();
        event::put(&mut bytes, Kind::Rotate, stamp, FLAG_ARTIFICIAL, None, &[&event::rotate(&name, offset)], sum);
        self.packet(&bytes, false)?;
        let mut description = self.reader.front().description.clone();
        let is_front = offset == MAGIC.len() as u64;
        description[17] &= !(FLAG_IN_USE as u8);
        if !is_front {
            // Not where it was read, and not the start of the server: temporary tables stay.
            description[13..17].fill(0);
            let created = HEADER_BYTES + 52;
            description[created..created + 4].fill(0);
        }
        event::seal(&mut description);
        self.packet(&description, false)?;
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
            Some(kind @ (Kind::Gtid | Kind::GtidTagged)) => {
                let body = &event[HEADER_BYTES..event.len() - self.reader.checksum().bytes()];
                self.skips = GtidEvent::gtid_of(kind, body).is_some_and(|gtid| has.contains(gtid));
            }
            Some(Kind::AnonymousGtid | Kind::Rotate | Kind::Stop | Kind::PreviousGtids) => self.skips = false,
            _ => {}
        }
        self.skips
    }

    fn send(&mut self, event: &[u8]) -> Result<()> {
        let place = (self.reader.number(), self.reader.offset());
        let asks = self.answers.as_mut().is_some_and(|answers| answers.asks(place));
        self.packet(event, asks)
    }

    /// `asks`: the replica is to answer, at once.
    fn packet(&mut self, event: &[u8], asks: bool) -> Result<()> {
        let out = self.conn.output();
        let buffer = out.begin();
        buffer.push(0);
        if self.answers.is_some() {
            buffer.extend_from_slice(&[SEMI_SYNC, u8::from(asks)]);
        }
        buffer.extend_from_slice(event);
        out.end().map_err(|_| gone())?;
        if asks {
            out.flush().map_err(|_| gone())?;
            // Its answer begins the sequence anew.
            out.restart_sequence(1);
        }
        Ok(())
    }

    /// Chooses the next place to ask about: all that is published.
    fn aim(&mut self) {
        if let Some(answers) = &mut self.answers
            && answers.next.is_none()
            && answers.asked.is_none()
        {
            let published = self.binlog.published();
            answers.next = Some((published.file, published.offset)).filter(|next| {
                // Where there is nothing more, nothing is asked.
                *next > (self.reader.number(), self.reader.offset())
            });
        }
    }

    /// Waits for the answer that is due while commits may wait for it.
    fn await_answer(&mut self, killed: &dyn Fn() -> bool) -> Result<()> {
        while let Some(answers) = &self.answers
            && answers.asked.is_some()
            && answers.asked_at.elapsed() < PATIENCE
            && self.binlog.waits_for_answers()
        {
            self.take_answer(ASK_AGAIN)?;
            self.check_ended(killed)?;
        }
        Ok(())
    }

    /// Takes an answer, if one comes in `time`. Errors: the replica is gone, or says something else.
    fn take_answer(&mut self, time: Duration) -> Result<()> {
        match self.conn.read_aside(Some(time)) {
            ReadOutcome::Packet if self.conn.packet().first() == Some(&SEMI_SYNC) => {}
            ReadOutcome::Idle => return Ok(()),
            _ => return Err(gone()),
        }
        if let Some(answers) = &mut self.answers
            && let Some(place) = answers.asked.take()
        {
            self.binlog.answered(answers.replica, place);
        }
        Ok(())
    }

    /// All is sent: waits for more, and tells the replica now and then that it is still there.
    fn await_more(&mut self, killed: &dyn Fn() -> bool) -> Result<()> {
        self.conn.output().flush().map_err(|_| gone())?;
        self.sent_at = Instant::now();
        let (number, offset) = (self.reader.number(), self.reader.offset());
        if let Some(answers) = &mut self.answers
            && answers.asked.is_none()
            && !answers.is_behind
        {
            // It has told by its position, or by its set of numbers, that it has what was not sent.
            self.binlog.answered(answers.replica, (number, offset));
        }
        loop {
            self.check_ended(killed)?;
            if self.answers.as_ref().is_some_and(|answers| answers.asked.is_none() && answers.is_behind) {
                // Nothing comes that it could be asked about.
                self.send_heartbeat(number, offset, true)?;
            }
            self.await_answer(killed)?;
            let is_due = self.answers.as_ref().is_some_and(|answers| answers.asked.is_some());
            let rest = if is_due { LOOK } else { ASK_AGAIN };
            let left = self.heartbeat.map_or(rest, |period| period.saturating_sub(self.sent_at.elapsed()).min(rest));
            if self.binlog.await_more(number, offset, left).map_err(fatal_of)? {
                return Ok(());
            }
            if is_due {
                self.take_answer(Duration::ZERO)?;
            }
            if self.heartbeat.is_some_and(|period| self.sent_at.elapsed() >= period) {
                self.send_heartbeat(number, offset, false)?;
            }
        }
    }

    /// `asks`: the replica is to answer.
    fn send_heartbeat(&mut self, number: u64, offset: u64, asks: bool) -> Result<()> {
        if asks && let Some(answers) = &mut self.answers {
            answers.ask((number, offset));
        }
        let name = self.binlog.file_name(number);
        let sum = self.reader.checksum();
        let len = (HEADER_BYTES + name.len() + sum.bytes()) as u64;
        let stamp = Stamp { timestamp: 0, server_id: self.server_id };
        let mut bytes = Vec::new();
        let start = Some(offset.saturating_sub(len));
        event::put(&mut bytes, Kind::Heartbeat, stamp, FLAG_ARTIFICIAL, start, &[&event::heartbeat(&name)], sum);
        self.packet(&bytes, asks)?;
        self.conn.output().flush().map_err(|_| gone())?;
        self.sent_at = Instant::now();
        Ok(())
    }
}
