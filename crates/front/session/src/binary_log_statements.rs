//! Statements about the files of the binary log: SHOW BINARY LOGS, SHOW BINLOG EVENTS, SHOW BINARY LOG STATUS, FLUSH, PURGE, RESET.

use crate::binary_log::{ENCRYPTION, binlog_error};
use crate::needs::Action;
use crate::session::Session;
use binlog::compress::{Expander, Payload};
use binlog::decode::QueryEvent;
use binlog::event::{self, GtidEvent, HEADER_BYTES, Header, Kind};
use binlog::{Binlog, Published, Read, Reader};
use expr::Env;
use inspect::Rows;
use sql::ast::{Parsed, PurgeLogs, ShowLimit, ShowWhat};
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use types::codes::*;
use types::collation::CollationId;
use types::gtid::GtidSet;
use types::temporal::parse::parse_datetime;
use types::{DataType, Result, SqlError, TypeKind, Value, err};

/// Why error 1220 comes.
const NO_LOG: &str = "Could not find target log";
const WRONG_OFFSET: &str = "Wrong offset or I/O error";

fn varchar(n: u32) -> DataType {
    DataType::string(TypeKind::VarChar, n, CollationId::UTF8MB4_0900_AI_CI)
}

fn bigint() -> DataType {
    DataType { length: 20, ..DataType::new(TypeKind::BigInt).unsigned().not_null() }
}

fn text(s: impl Into<String>) -> Value<'static> {
    Value::Bytes(s.into().into_bytes().into())
}

/// The greatest number that RESET lets the next file have.
const RESET_NUMBER_MAX: u64 = 2_000_000_000;

impl Session {
    /// Has somebody killed this session's wait for the writer of the files?
    fn is_killed(&self) -> impl Fn() -> bool + use<> {
        let interrupt = Arc::clone(self.tx.interrupt());
        move || interrupt.reason() != 0
    }

    /// As of all commits so far.
    fn binlog_now(&self, binlog: &Binlog) -> Result<Published> {
        binlog.catch_up(self.is_killed()).map_err(binlog_error)
    }

    /// SHOW of what has to do with the binary log.
    pub(crate) fn show_binlog(&mut self, parsed: &Parsed, what: &ShowWhat) -> Result<Rows> {
        match what {
            ShowWhat::BinaryLogs => self.show_binary_logs(),
            ShowWhat::BinaryLogStatus => self.show_binary_log_status(),
            ShowWhat::Replicas => self.show_replicas(),
            ShowWhat::BinlogEvents { relay: false, file, position, limit, .. } => {
                let file = file.map(|f| String::from_utf8_lossy(parsed.bytes(f)).into_owned());
                self.show_binlog_events(parsed, file.as_deref(), *position, *limit)
            }
            _ => unreachable!("the caller passes those alone"),
        }
    }

    /// SHOW BINARY LOGS. On a full disk, which keeps commits from the files, as these are: whoever is to purge them asks. Error 1381.
    pub(crate) fn show_binary_logs(&mut self) -> Result<Rows> {
        let binlog = self.server.binlog.clone().ok_or_else(|| err!(ER_NO_BINARY_LOGGING))?;
        match binlog.catch_up(self.is_killed()) {
            Ok(_) | Err(binlog::Error::DiskFull) => {}
            Err(e) => return Err(binlog_error(e)),
        }
        let files = binlog.files().map_err(binlog_error)?;
        let rows = files
            .into_iter()
            .map(|f| vec![text(f.name), Value::UInt(f.size), text(if f.encrypted { "Yes" } else { "No" })])
            .collect();
        Ok(Rows::new(&[("Log_name", varchar(255)), ("File_size", bigint()), ("Encrypted", varchar(3))], rows))
    }

    /// SHOW BINARY LOG STATUS: no row without a binary log.
    pub(crate) fn show_binary_log_status(&mut self) -> Result<Rows> {
        let mut rows = Vec::new();
        if let Some(binlog) = self.server.binlog.clone() {
            let now = self.binlog_now(&binlog)?;
            rows.push(vec![
                text(binlog.file_name(now.file)),
                Value::UInt(now.offset),
                text(""),
                text(""),
                text(now.executed.to_string()),
            ]);
        }
        let columns = [
            ("File", varchar(255)),
            ("Position", bigint()),
            ("Binlog_Do_DB", varchar(255)),
            ("Binlog_Ignore_DB", varchar(255)),
            ("Executed_Gtid_Set", varchar(1024)),
        ];
        Ok(Rows::new(&columns, rows))
    }

    /// SHOW REPLICAS.
    pub(crate) fn show_replicas(&mut self) -> Result<Rows> {
        let replicas = self.server.replicas.lock().clone();
        let row = |r: &crate::dumps::Replica| {
            let number = |n: u32| Value::UInt(n.into());
            vec![number(r.server_id), text(&*r.host), number(r.port.into()), number(r.source_id), text(&*r.uuid)]
        };
        let int = DataType { length: 10, ..DataType::new(TypeKind::Int).unsigned().not_null() };
        let columns = [
            ("Server_Id", int),
            ("Host", varchar(20)),
            ("Port", int),
            ("Source_Id", int),
            ("Replica_UUID", varchar(36)),
        ];
        Ok(Rows::new(&columns, replicas.values().map(row).collect()))
    }

    /// SHOW BINLOG EVENTS. Error 1220.
    pub(crate) fn show_binlog_events(
        &mut self,
        parsed: &Parsed,
        file: Option<&str>,
        position: Option<u64>,
        limit: Option<ShowLimit>,
    ) -> Result<Rows> {
        let mut list = EventList::new(parsed, limit)?;
        let Some(binlog) = self.server.binlog.clone() else { return Ok(list.rows()) };
        let failed = |what: &str| err!(ER_ERROR_WHEN_EXECUTING_COMMAND, "SHOW BINLOG EVENTS", what);
        let now = self.binlog_now(&binlog)?;
        let number = match file {
            Some(name) => binlog.number_of(name).map_err(|_| failed(NO_LOG))?,
            None => *now.files.first().expect("there is a file in use"),
        };
        let mut reader = Reader::open(&binlog, number).map_err(|e| failed(&e.to_string()))?;
        // The first event that begins there or behind it.
        let from = position.unwrap_or(0);
        list.name = binlog.file_name(number);
        let (mut event, mut at) = (Vec::new(), reader.offset());
        let killed = self.is_killed();
        while list.left > 0 {
            if killed() {
                return Err(err!(ER_QUERY_INTERRUPTED));
            }
            let Read::Event(header) = reader.next(&mut event).map_err(|_| failed(WRONG_OFFSET))? else { break };
            let end = reader.offset();
            if at >= from {
                let body = &event[HEADER_BYTES..event.len() - reader.checksum().bytes()];
                list.add(at, end, &header, body).map_err(|_| failed(WRONG_OFFSET))?;
            }
            at = end;
        }
        Ok(list.rows())
    }

    /// SHOW RELAYLOG EVENTS. Errors 1220, 3074, 3079.
    pub(crate) fn show_relay_events(&mut self, parsed: &Parsed, what: &ShowWhat) -> Result<Rows> {
        let ShowWhat::BinlogEvents { file, position, limit, channel, .. } = what else {
            unreachable!("the caller passes those alone")
        };
        let word = |word: &Option<_>| word.map(|w| String::from_utf8_lossy(parsed.bytes(w)).into_owned());
        let mut list = EventList::new(parsed, *limit)?;
        let channel = word(channel).map(|name| name.to_lowercase());
        let channel = match self.server.channels.only(channel.as_deref())? {
            Some(channel) => channel,
            None => match channel {
                Some(name) if !name.is_empty() => return Err(err!(ER_REPLICA_CHANNEL_DOES_NOT_EXIST, name)),
                _ => return Ok(list.rows()),
            },
        };
        let failed = |what: &str| err!(ER_ERROR_WHEN_EXECUTING_COMMAND, "SHOW RELAYLOG EVENTS", what);
        let (from, killed) = (position.unwrap_or(0), self.is_killed());
        let mut ended = Ok(());
        let found = channel.relay_events(word(file).as_deref(), &mut |name, at, header, body| {
            if list.name.is_empty() {
                list.name = name.to_string();
            }
            ended = match killed() {
                true => Err(err!(ER_QUERY_INTERRUPTED)),
                // Where it ended at the source.
                false if at >= from => {
                    list.add(at, header.end_position.into(), header, body).map_err(|_| failed(WRONG_OFFSET))
                }
                false => Ok(()),
            };
            ended.is_ok() && list.left > 0
        });
        ended?;
        match found.map_err(|_| failed(WRONG_OFFSET))? {
            false if file.is_some() => Err(failed(NO_LOG)),
            _ => Ok(list.rows()),
        }
    }

    /// ALTER INSTANCE ROTATE BINLOG MASTER KEY. Errors 1227, 3805, 3807.
    pub(crate) fn rotate_binlog_key(&mut self) -> Result<()> {
        self.need(Action::BinlogMasterKey)?;
        if !self.server.globals.load().bool(ENCRYPTION) {
            return Err(err!(ER_RPL_ENCRYPTION_CANNOT_ROTATE_BINLOG_MASTER_KEY));
        }
        self.commit_all()?;
        match self.server.binlog.clone() {
            Some(binlog) => binlog.rotate_key(self.is_killed()).map_err(binlog_error),
            None => self.server.log_keys().rotate().map_err(binlog_error),
        }
    }

    /// Waits for the file that `binlog_encryption` asks for. Error 3807.
    pub(crate) fn encrypt_binary_log(&mut self, on: bool) -> Result<()> {
        match self.server.binlog.clone() {
            Some(binlog) => binlog.encrypt(on, self.is_killed()).map_err(binlog_error),
            None => Ok(()),
        }
    }

    /// FLUSH BINARY LOGS.
    pub(crate) fn flush_binary_logs(&mut self) -> Result<()> {
        match self.server.binlog.clone() {
            Some(binlog) => binlog.rotate(self.is_killed()).map_err(binlog_error),
            None => Ok(()),
        }
    }

    /// PURGE BINARY LOGS. Errors 1227, 1373, 1525, 4085.
    pub(crate) fn purge_binary_logs(&mut self, parsed: &Parsed, purge: PurgeLogs) -> Result<()> {
        self.need(Action::BinaryLogs)?;
        let Some(binlog) = self.server.binlog.clone() else { return Ok(()) };
        self.check_no_backup()?;
        match purge {
            PurgeLogs::To(name) => {
                let name = String::from_utf8_lossy(parsed.bytes(name)).into_owned();
                let kept = binlog.purge_to(&name, self.is_killed()).map_err(binlog_error)?;
                if let Some(kept) = kept {
                    let file = binlog.file_name(kept);
                    let message = format!("file {file} was not purged because it was being read by a thread");
                    self.state.warn("Warning", ER_WARN_PURGE_LOG_IS_ACTIVE, message);
                }
                Ok(())
            }
            PurgeLogs::Before(time, at) => {
                let source = parsed.source().get(at as usize..).unwrap_or_default().to_vec();
                let (value, t) = self.evaluate(parsed, time, &source)?;
                let seconds = self.seconds_of(&value, &t)?;
                let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
                binlog.purge_before(time, self.is_killed()).map_err(binlog_error)
            }
        }
    }

    /// A time in the session's zone, as seconds since 1970. Error 1292.
    fn seconds_of(&self, value: &Value<'_>, t: &DataType) -> Result<u64> {
        let mut shown = Vec::new();
        value.write_text(t, &mut shown);
        let shown = String::from_utf8_lossy(&shown).into_owned();
        let wrong = || SqlError::new(ER_TRUNCATED_WRONG_VALUE, format!("Incorrect DATETIME value: '{shown}'"));
        let time = match value {
            Value::DateTime(t) => *t,
            Value::Date(d) => d.at_midnight(),
            _ => parse_datetime(shown.as_bytes(), self.state.sql_mode).ok_or_else(wrong)?.value,
        };
        let local = time.to_unix_seconds();
        let offset = i64::from(self.state.time_zone.offset_at(local));
        Ok((local - offset).max(0) as u64)
    }

    /// RESET BINARY LOGS AND GTIDS.
    pub(crate) fn reset_binary_logs(&mut self, to: Option<u64>) -> Result<()> {
        self.need(Action::ResetBinaryLogs)?;
        let Some(binlog) = self.server.binlog.clone() else { return Ok(()) };
        let to = to.unwrap_or(1);
        if !(1..=RESET_NUMBER_MAX).contains(&to) {
            return Err(err!(ER_RESET_SOURCE_TO_VALUE_OUT_OF_RANGE, to, RESET_NUMBER_MAX));
        }
        binlog.reset(to, self.is_killed()).map_err(binlog_error)?;
        self.server.gtids.forget_committed();
        Ok(())
    }
}

/// Rows of SHOW BINLOG EVENTS and SHOW RELAYLOG EVENTS.
struct EventList {
    name: String,
    skip: u64,
    left: u64,
    rows: Vec<Vec<Value<'static>>>,
}

impl EventList {
    fn new(parsed: &Parsed, limit: Option<ShowLimit>) -> Result<EventList> {
        let mut number = |id| match crate::evaluate::literal(parsed, id) {
            Some((Value::Int(n), _)) => Ok(n as u64),
            Some((Value::UInt(n), _)) => Ok(n),
            _ => Err(err!(ER_NOT_SUPPORTED_YET, "LIMIT of SHOW BINLOG EVENTS that is no number")),
        };
        let (skip, left) = match limit {
            Some(limit) => (limit.offset.map_or(Ok(0), &mut number)?, number(limit.count)?),
            None => (0, u64::MAX),
        };
        Ok(EventList { name: String::new(), skip, left, rows: Vec::new() })
    }

    /// The event, and those that are packed in it.
    fn add(&mut self, at: u64, end: u64, header: &Header, body: &[u8]) -> binlog::Result<()> {
        self.add_one(at, end, header, body);
        if header.kind() == Some(Kind::TransactionPayload) {
            let mut inner = Vec::new();
            let mut expander = Expander::new(body)?;
            while let Some(header) = expander.next(end as u32, &mut inner)? {
                self.add_one(end, end, &header, &inner[HEADER_BYTES..]);
            }
        }
        Ok(())
    }

    fn add_one(&mut self, at: u64, end: u64, header: &Header, body: &[u8]) {
        if self.skip > 0 {
            self.skip -= 1;
        } else if self.left > 0 {
            self.left -= 1;
            self.rows.push(vec![
                text(&*self.name),
                Value::UInt(at),
                text(header.kind().map_or("Unknown", Kind::name)),
                Value::UInt(header.server_id.into()),
                Value::UInt(end),
                text(info(header, body)),
            ]);
        }
    }

    fn rows(self) -> Rows {
        let columns = [
            ("Log_name", varchar(20)),
            ("Pos", bigint()),
            ("Event_type", varchar(20)),
            ("Server_id", bigint()),
            ("End_log_pos", bigint()),
            ("Info", varchar(1024)),
        ];
        Rows::new(&columns, self.rows)
    }
}

/// What an event says, in the words of SHOW BINLOG EVENTS.
fn info(header: &Header, body: &[u8]) -> String {
    let lossy = |b: &[u8]| String::from_utf8_lossy(b).into_owned();
    let number = |from: usize, bytes: usize| {
        let mut wide = [0; 8];
        body.get(from..from + bytes).into_iter().for_each(|b| wide[..bytes].copy_from_slice(b));
        u64::from_le_bytes(wide)
    };
    match header.kind() {
        Some(Kind::FormatDescription) => {
            let version = body.get(2..52).unwrap_or_default();
            let end = version.iter().position(|b| *b == 0).unwrap_or(version.len());
            format!("Server ver: {}, Binlog ver: {}", lossy(&version[..end]), number(0, 2))
        }
        Some(Kind::PreviousGtids) => GtidSet::decode(body).map_or_else(String::new, |set| set.to_string()),
        Some(kind @ (Kind::Gtid | Kind::AnonymousGtid | Kind::GtidTagged)) => match GtidEvent::gtid_of(kind, body) {
            Some(gtid) => format!("SET @@SESSION.GTID_NEXT= '{gtid}'"),
            None => "SET @@SESSION.GTID_NEXT= 'ANONYMOUS'".to_string(),
        },
        Some(Kind::Query) => {
            let xid = QueryEvent::decode(body).and_then(|query| query.xid);
            let xid = xid.map_or_else(String::new, |xid| format!(" /* xid={xid} */"));
            match event::query_text(body) {
                Some((b"", query)) => lossy(query) + &xid,
                Some((database, query)) => {
                    format!("use `{}`; {}{xid}", lossy(database).replace('`', "``"), lossy(query))
                }
                None => String::new(),
            }
        }
        Some(Kind::Xid) => format!("COMMIT /* xid={} */", number(0, 8)),
        Some(Kind::XaPrepare) => match event::xa_prepared(body) {
            Some((id, false)) => format!("XA PREPARE {id}"),
            Some((id, true)) => format!("XA COMMIT {id} ONE PHASE"),
            None => String::new(),
        },
        Some(Kind::Rotate) => format!("{};pos={}", lossy(body.get(8..).unwrap_or_default()), number(0, 8)),
        Some(Kind::RowsQuery) => format!("# {}", lossy(body.get(1..).unwrap_or_default())),
        Some(Kind::TableMap) => {
            let name = |at: usize| {
                let len = body.get(at).copied().unwrap_or(0) as usize;
                (body.get(at + 1..at + 1 + len).unwrap_or_default(), at + len + 2)
            };
            let (schema, next) = name(8);
            format!("table_id: {} ({}.{})", number(0, 6), lossy(schema), lossy(name(next).0))
        }
        Some(Kind::TransactionPayload) => Payload::decode(body).map_or_else(String::new, |payload| {
            format!("compression='{}', decompressed_size={} bytes", payload.compression.name(), payload.events_bytes)
        }),
        Some(Kind::WriteRows | Kind::UpdateRows | Kind::DeleteRows | Kind::PartialUpdateRows) => {
            let last = if number(6, 2) & u64::from(event::ROWS_STATEMENT_END) != 0 { " flags: STMT_END_F" } else { "" };
            format!("table_id: {}{last}", number(0, 6))
        }
        _ => String::new(),
    }
}
