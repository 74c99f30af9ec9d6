//! The receiver: MySQL's I/O thread. Connects to the source, asks for its events, and puts them into the relay log.

use crate::client::{Connection, registration};
use crate::config::{Position, SourceConfig};
use crate::errors::unwritten;
use crate::group::{Groups, Step};
use crate::progress::Progress;
use crate::relay::RelayLog;
use crate::shared::Shared;
use crate::status::IoState;
use binlog::decode::{Head, body_of, code, rotate};
use binlog::event::{self, Checksum, FLAG_ARTIFICIAL, HEADER_BYTES, Header, Kind, MAGIC};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use types::codes::*;
use types::gtid::{Gtid, GtidSet, Uuid};
use types::{SqlError, err};

/// The thread ended with an error that trying again does not mend.
/// MariaDB's: its thread was ended by KILL.
const ER_CONNECTION_KILLED: u16 = 1927;
const COM_BINLOG_DUMP: u8 = 0x12;
const COM_REGISTER_REPLICA: u8 = 0x15;
const COM_BINLOG_DUMP_GTID: u8 = 0x1E;
/// What stands before an event of a source that wants to know what has come, and before the answer.
const SEMI_SYNC: u8 = 0xEF;
/// Behind it: this event is to be answered.
const ANSWER: u8 = 1;
/// In the flags of COM_BINLOG_DUMP_GTID: a set follows.
const THROUGH_GTID: u16 = 4;
/// Events that are gathered before they are written, while more are there to be read.
const BATCH_BYTES: usize = 256 << 10;

/// Runs until it is told to stop or something is wrong that trying again does not mend.
pub(crate) fn run(channel: &Arc<Shared>) {
    let mut ends = Told(channel, false);
    receive(channel);
    ends.1 = true;
}

/// However the thread ends: that is told.
struct Told<'c>(&'c Shared, bool);

impl Drop for Told<'_> {
    fn drop(&mut self) {
        if !self.1 {
            self.0.io_failed(fatal("the receiver has panicked"));
        }
    }
}

fn receive(channel: &Arc<Shared>) {
    let mut attempts = 0;
    while !channel.io_stops() {
        let config = channel.config();
        channel.io_state(IoState::Connecting);
        match connect(channel, &config) {
            Ok((connection, source)) => {
                attempts = 0;
                channel.set_answers(source.answers);
                let ended = stream(channel, &config, connection, &source);
                channel.set_answers(false);
                channel.io_state(IoState::Reconnecting);
                match ended {
                    _ if channel.io_stops() => break,
                    Ok(()) => {}
                    Err(e) if is_transient(&e) => {
                        channel.host.tell(&format!(
                            "Error reading packet from server for channel '{}': {} (server_errno={})",
                            channel.name, e.message, e.code
                        ));
                    }
                    Err(e) => return channel.io_failed(explained(e)),
                }
                // A source that is gone is asked again at once, then in its own time.
                channel.pause_io(Duration::from_millis(100));
            }
            Err(e) if e.code == ER_REPLICA_FATAL_ERROR || e.code == ER_SERVER_SOURCE_FATAL_ERROR_READING_BINLOG => {
                return channel.io_failed(e);
            }
            Err(e) => {
                attempts += 1;
                let retries = config.retry_count;
                let text = format!(
                    "Error {} to source '{}@{}:{}'. This was attempt {attempts}/{retries}, with a delay of {} seconds \
                     between \
                     attempts. Message: {}",
                    if attempts == 1 { "connecting" } else { "reconnecting" },
                    config.user,
                    config.host,
                    config.port,
                    config.connect_retry_s,
                    e.message
                );
                channel.io_error(SqlError::new(e.code, text));
                if retries > 0 && attempts >= retries {
                    return channel.io_ended();
                }
                channel.pause_io(Duration::from_secs(config.connect_retry_s.into()));
            }
        }
    }
    channel.io_ended();
}

/// Lost connections; the source's own errors are final.
fn is_transient(e: &SqlError) -> bool {
    matches!(
        e.code,
        CR_CONN_HOST_ERROR
            | CR_UNKNOWN_HOST
            | CR_SERVER_GONE_ERROR
            | CR_SERVER_LOST
            | ER_SERVER_SHUTDOWN
            | ER_QUERY_INTERRUPTED
            | ER_CONNECTION_KILLED
    )
}

/// The source's error as `Last_IO_Error` tells it.
fn explained(e: SqlError) -> SqlError {
    match e.code {
        ER_SOURCE_FATAL_ERROR_READING_BINLOG => {
            err!(ER_SERVER_SOURCE_FATAL_ERROR_READING_BINLOG, e.code, e.message)
        }
        _ => e,
    }
}

fn fatal(text: impl Into<String>) -> SqlError {
    err!(ER_REPLICA_FATAL_ERROR, text.into())
}

/// What is known of the source before its events come.
struct Source {
    checksum: Checksum,
    /// It wants to know what has come.
    answers: bool,
}

fn now_s() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs() as i64
}

/// Connects, and settles with the source what it has to know. Errors: of the connection; [`ER_REPLICA_FATAL_ERROR`].
fn connect(channel: &Arc<Shared>, config: &SourceConfig) -> Result<(Connection, Source), SqlError> {
    let host = &channel.host;
    let mut connection = Connection::open(config, host.net_timeout(), &|cutter| channel.io_cutter(cutter))?;
    let c = &mut connection;
    let is_maria = c.server_version.contains("MariaDB");
    if let Some(now) = c.value("SELECT UNIX_TIMESTAMP()")?.and_then(|n| n.parse::<i64>().ok()) {
        channel.clock_is_behind(now_s() - now);
    }
    let server_id = c.value("SELECT @@GLOBAL.SERVER_ID")?.and_then(|n| n.parse::<u32>().ok()).unwrap_or(0);
    if server_id == host.server_id() {
        return Err(fatal(
            "The replica I/O thread stops because source and replica have equal MySQL server ids; these ids must be \
             different for \
             replication to work (or the --replicate-same-server-id option must be used on replica but this does not \
             always make \
             sense; please check the manual before using it).",
        ));
    }
    let uuid = if is_maria { String::new() } else { c.value("SELECT @@GLOBAL.SERVER_UUID")?.unwrap_or_default() };
    if Uuid::parse(&uuid) == Some(host.server_uuid()) {
        return Err(fatal(
            "The replica I/O thread stops because source and replica have equal MySQL server UUIDs; these UUIDs must \
             be different \
             for replication to work.",
        ));
    }
    if !is_maria {
        let mode = c.value("SELECT @@GLOBAL.GTID_MODE")?.unwrap_or_default();
        agree_on_gtids(&mode, host.gtid_mode(), config)?;
    } else if config.auto_position {
        return Err(fatal("MariaDB has no GTIDs that SOURCE_AUTO_POSITION could be of; name a file and a position."));
    }
    let period = config.heartbeat.unwrap_or(host.net_timeout() / 2).as_nanos();
    c.query(&format!("SET @master_heartbeat_period= {period}, @source_heartbeat_period= {period}"))?;
    let known = c.value("SELECT @@GLOBAL.BINLOG_CHECKSUM")?.unwrap_or_default();
    let checksum = if known.eq_ignore_ascii_case("NONE") { Checksum::None } else { Checksum::Crc32 };
    let word = if checksum == Checksum::None { "NONE" } else { "CRC32" };
    c.query(&format!("SET @master_binlog_checksum= '{word}', @source_binlog_checksum= '{word}'"))?;
    let own = host.server_uuid();
    c.query(&format!("SET @slave_uuid= '{own}', @replica_uuid= '{own}'"))?;
    if is_maria {
        // It sends its GTIDs as they are.
        c.query("SET @mariadb_slave_capability= 4")?;
    }
    let answers = host.answers() && agree_to_answer(channel, c)?;
    channel.source_is(server_id, uuid);
    let (report_host, report_port) = host.report();
    c.command(COM_REGISTER_REPLICA, &registration(host.server_id(), &report_host, report_port))?;
    c.ok()?;
    Ok((connection, Source { checksum, answers }))
}

/// Semi-synchronous replication, if the source can.
fn agree_to_answer(channel: &Shared, c: &mut Connection) -> Result<bool, SqlError> {
    let mut asked = c.value("SELECT @@GLOBAL.rpl_semi_sync_source_enabled");
    if matches!(&asked, Err(e) if e.code == ER_UNKNOWN_SYSTEM_VARIABLE) {
        // As MariaDB and MySQL before 8.0.26 call it.
        asked = c.value("SELECT @@GLOBAL.rpl_semi_sync_master_enabled");
    }
    match asked {
        Ok(_) => c.query("SET @rpl_semi_sync_replica= 1, @rpl_semi_sync_slave= 1").map(|_| true),
        Err(e) if e.code == ER_UNKNOWN_SYSTEM_VARIABLE => {
            channel.host.tell("Source server does not support semi-sync, fallback to asynchronous replication");
            Ok(false)
        }
        Err(e) => Err(e),
    }
}

/// Modes that are two steps apart cannot replicate; auto-position needs numbers on both sides.
fn agree_on_gtids(source: &str, own: u64, config: &SourceConfig) -> Result<(), SqlError> {
    const MODES: [&str; 4] = ["OFF", "OFF_PERMISSIVE", "ON_PERMISSIVE", "ON"];
    let Some(theirs) = MODES.iter().position(|m| m.eq_ignore_ascii_case(source)) else { return Ok(()) };
    let ours = MODES[own as usize];
    if theirs.abs_diff(own as usize) > 2 || config.auto_position && theirs == 0 {
        return Err(fatal(format!(
            "The replication receiver thread cannot start{} because the source has GTID_MODE = {} and this server has \
             GTID_MODE = \
             {ours}.",
            if config.auto_position { " in AUTO_POSITION mode" } else { "" },
            MODES[theirs]
        )));
    }
    Ok(())
}

/// Asks for events and takes them until the connection or the thread ends.
fn stream(
    channel: &Arc<Shared>,
    config: &SourceConfig,
    mut connection: Connection,
    source: &Source,
) -> Result<(), SqlError> {
    let from = channel.resume_at();
    ask(channel, config, &mut connection, &from)?;
    channel.io_state(IoState::Waiting);
    let relay = channel.relay();
    let mut receiver = Receiver {
        channel,
        relay: &relay,
        own_id: channel.host.server_id(),
        ignored: &config.ignore_server_ids,
        checksum: source.checksum,
        groups: Groups::default(),
        position: from,
        front: Front::default(),
        batch: Vec::new(),
        boundary: None,
        gtid: None,
        received: GtidSet::default(),
        queued: Progress::default(),
        queueing: Progress::default(),
    };
    let mut packet = Vec::new();
    loop {
        if channel.io_stops() {
            return receiver.write();
        }
        if !connection.event(&mut packet)? {
            receiver.write()?;
            return Err(err!(CR_SERVER_LOST));
        }
        let (event, is_asked) = match source.answers {
            false => (&packet[1..], false),
            true => match packet.get(1..3) {
                Some([SEMI_SYNC, flag]) => (&packet[3..], *flag & ANSWER != 0),
                _ => return Err(fatal("Missing magic number for semi-sync packet")),
            },
        };
        receiver.take(event)?;
        if is_asked || receiver.batch.len() >= BATCH_BYTES || !connection.has_more() {
            receiver.write()?;
        }
        if is_asked {
            connection.answer(&answer(&receiver.position))?;
        }
    }
}

/// All up to here is in the relay log.
fn answer(position: &Position) -> Vec<u8> {
    let mut packet = vec![SEMI_SYNC];
    packet.extend_from_slice(&position.offset.to_le_bytes());
    packet.extend_from_slice(position.file.as_bytes());
    packet
}

fn ask(
    channel: &Arc<Shared>,
    config: &SourceConfig,
    connection: &mut Connection,
    from: &Position,
) -> Result<(), SqlError> {
    let server_id = channel.host.server_id().to_le_bytes();
    if config.auto_position {
        let set = channel.known_gtids().encode();
        let mut body = THROUGH_GTID.to_le_bytes().to_vec();
        body.extend_from_slice(&server_id);
        body.extend_from_slice(&0u32.to_le_bytes());
        body.extend_from_slice(&(MAGIC.len() as u64).to_le_bytes());
        body.extend_from_slice(&(set.len() as u32).to_le_bytes());
        body.extend_from_slice(&set);
        return connection.command(COM_BINLOG_DUMP_GTID, &body);
    }
    let mut body = (from.offset.max(MAGIC.len() as u64) as u32).to_le_bytes().to_vec();
    body.extend_from_slice(&0u16.to_le_bytes());
    body.extend_from_slice(&server_id);
    body.extend_from_slice(from.file.as_bytes());
    connection.command(COM_BINLOG_DUMP, &body)
}

/// What a file of the relay log begins with: where the source is, and how it writes.
#[derive(Default)]
struct Front {
    rotate: Vec<u8>,
    description: Vec<u8>,
}

struct Receiver<'c> {
    channel: &'c Arc<Shared>,
    relay: &'c RelayLog,
    own_id: u32,
    ignored: &'c [u32],
    checksum: Checksum,
    groups: Groups,
    /// Behind the last event, at the source.
    position: Position,
    front: Front,
    /// Events that are not in the relay log yet.
    batch: Vec<u8>,
    /// Behind the last whole transaction in `batch`.
    boundary: Option<Position>,
    gtid: Option<Gtid>,
    received: GtidSet,
    /// The last transaction that has come, and the one that comes.
    queued: Progress,
    queueing: Progress,
}

impl Receiver<'_> {
    /// Takes one event. Errors: it is damaged.
    fn take(&mut self, bytes: &[u8]) -> Result<(), SqlError> {
        let damaged = || unwritten("could not queue event from source");
        let header = Header::decode(bytes).filter(|h| h.len as usize == bytes.len()).ok_or_else(damaged)?;
        let is_format = header.kind() == Some(Kind::FormatDescription);
        if is_format {
            let body =
                bytes.get(HEADER_BYTES..bytes.len().saturating_sub(event::CHECKSUM_BYTES)).ok_or_else(damaged)?;
            self.checksum = event::checksum_of(body).ok_or_else(damaged)?;
        }
        if (self.checksum == Checksum::Crc32 || is_format) && !event::verify(bytes) {
            let text = "Replication event checksum verification failed while reading from network.";
            return Err(SqlError::new(1743, text));
        }
        let sums = if is_format { Checksum::Crc32 } else { self.checksum };
        let body = body_of(bytes, sums).ok_or_else(damaged)?;
        match header.kind() {
            Some(Kind::Rotate) => return self.rotated(&header, bytes, body),
            Some(Kind::FormatDescription) => {
                self.front.description = bytes.to_vec();
                return self.begin_file();
            }
            Some(Kind::Heartbeat) => {
                self.channel.heartbeat();
                return Ok(());
            }
            _ if header.code == binlog::decode::code::HEARTBEAT_V2 => {
                self.channel.heartbeat();
                return Ok(());
            }
            _ => {}
        }
        let step = self.groups.step(&header, body).ok_or_else(damaged)?;
        if !self.queueing.is_there && step != Step::Outside {
            let head = match (step, header.kind()) {
                _ if header.code == code::MARIA_GTID => Head::decode_maria(body),
                (Step::Head, Some(kind)) => Head::decode(kind, body),
                _ => None,
            };
            let head = head.unwrap_or_default();
            self.gtid = head.gtid;
            self.queueing = Progress::of(&head);
        }
        let skipped = header.server_id == self.own_id || self.ignored.contains(&header.server_id);
        if !skipped {
            self.batch.extend_from_slice(bytes);
        }
        if header.flags & FLAG_ARTIFICIAL == 0 && header.end_position != 0 {
            self.position.offset = u64::from(header.end_position);
        }
        if step == Step::Outside && !self.groups.is_open() {
            self.boundary = Some(self.position.clone());
        }
        if step.ends() {
            self.boundary = Some(self.position.clone());
            self.queued = self.queueing.end();
            if let Some(gtid) = self.gtid.take().filter(|_| !skipped) {
                self.received.add(gtid);
            }
        }
        Ok(())
    }

    /// The source goes on in another file, or says which it begins with.
    fn rotated(&mut self, header: &Header, bytes: &[u8], body: &[u8]) -> Result<(), SqlError> {
        let damaged = || unwritten("could not queue event from source");
        let (file, offset) = rotate(body).ok_or_else(damaged)?;
        self.position = Position::new(&file, offset);
        self.boundary = Some(self.position.clone());
        // Made up, it is followed by a format, and both begin a file; the source's own one is an event as others.
        if header.flags & FLAG_ARTIFICIAL != 0 || header.end_position == 0 {
            self.front.rotate = bytes.to_vec();
            return Ok(());
        }
        self.batch.extend_from_slice(bytes);
        self.write()
    }

    fn begin_file(&mut self) -> Result<(), SqlError> {
        self.write()?;
        let front = [&self.front.rotate[..], &self.front.description[..]].concat();
        self.groups = Groups::default();
        self.relay.next_file(self.checksum, &front).map_err(unwritten)?;
        self.queueing = Progress::default();
        self.channel.received(None, &self.received, &self.queued, &self.queueing);
        Ok(())
    }

    /// Puts what has come into the relay log.
    fn write(&mut self) -> Result<(), SqlError> {
        if !self.batch.is_empty() {
            self.relay.append(&self.batch).map_err(unwritten)?;
            self.batch.clear();
        }
        if self.boundary.is_some() || !self.received.is_empty() {
            self.channel.received(self.boundary.take(), &self.received, &self.queued, &self.queueing);
            self.received = GtidSet::default();
        }
        let wants_file = self.relay.wants_file(self.channel.host.relay_file_max());
        if wants_file && !self.groups.is_open() && !self.front.description.is_empty() {
            // The position in front is that of the next transaction.
            let stamp = event::Stamp { timestamp: 0, server_id: self.own_id };
            let body = event::rotate(&self.position.file, self.position.offset);
            self.front.rotate.clear();
            event::put(&mut self.front.rotate, Kind::Rotate, stamp, FLAG_ARTIFICIAL, None, &[&body], self.checksum);
            let front = [&self.front.rotate[..], &self.front.description[..]].concat();
            self.relay.next_file(self.checksum, &front).map_err(unwritten)?;
        }
        Ok(())
    }
}
