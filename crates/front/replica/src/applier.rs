//! The applier: MySQL's SQL thread. Reads the relay log and has its transactions made here, one after the other.

use crate::channel::{Channel, SqlState, now_us};
use crate::config::{Filters, Position};
use crate::group::{Groups, Step};
use crate::host::{Apply, Origin};
use crate::relay::{Cursor, Next, Place, RelayLog};
use binlog::decode::{self, Change, FLAG_IGNORABLE, Head, QueryEvent, RowsEvent, SourceTable, body_of, code};
use binlog::event::{Checksum, Header, Kind};
use binlog::gtid::GtidSet;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use types::SqlError;

/// How often a thread that waits for more looks whether it should stop.
const LOOK_AGAIN: Duration = Duration::from_millis(500);
/// So long commits may go by before one waits for the flush: the next transaction does not rest on it, since its position stands behind
/// in the same log.
const SETTLE_TIME: Duration = Duration::from_millis(10);
/// As the relay log says of itself.
const CANNOT_READ: u16 = 13_121;

pub(crate) fn run(channel: &Arc<Channel>) {
    let ended = Applier::new(channel).and_then(|mut applier| applier.run());
    let stops = channel.sql_stops();
    // What an order to stop has interrupted is no error.
    channel.sql_ended(ended.as_ref().err().filter(|e| !(stops && matches!(e.code, 1317 | 1053))));
}

fn unreadable(e: &binlog::Error) -> SqlError {
    SqlError::new(
        CANNOT_READ,
        format!("Relay log read failure: Could not parse relay log event entry. The possible reasons are: {e}"),
    )
}

struct Applier<'c> {
    channel: &'c Arc<Channel>,
    relay: Arc<RelayLog>,
    cursor: Cursor,
    apply: Box<dyn Apply>,
    filters: Filters,
    delay: Duration,
    groups: Groups,
    /// Where the source is behind the event at hand.
    position: Position,
    tables: HashMap<u64, SourceTable>,
    origin: Origin,
    /// The transaction at hand is left out: it was applied before, or somebody asked for that.
    skipped: bool,
    /// A transaction is open in `apply`.
    open: bool,
    executed: GtidSet,
    attempts: u64,
    /// The last transaction that is committed and may not be durable yet, and since when there is one.
    unsettled: Option<(Position, Place, Instant)>,
}

impl Applier<'_> {
    fn new(channel: &Arc<Channel>) -> Result<Applier<'_>, SqlError> {
        let relay = channel.relay();
        let cursor = Cursor::open(&relay, channel.applied_place()).map_err(|e| unreadable(&e))?;
        let apply = channel.host.applier(&channel.name)?;
        channel.sql_interrupt(apply.interrupter());
        let config = channel.config();
        Ok(Applier {
            channel,
            relay,
            cursor,
            apply,
            filters: channel.filters(),
            delay: Duration::from_secs(config.delay_s.into()),
            groups: Groups::default(),
            position: channel.status().applied,
            tables: HashMap::new(),
            origin: Origin::default(),
            skipped: false,
            open: false,
            executed: channel.host.executed(),
            attempts: 0,
            unsettled: None,
        })
    }

    fn run(&mut self) -> Result<(), SqlError> {
        let mut event = Vec::new();
        let mut begin = (self.cursor.place(), self.position.clone());
        loop {
            if self.channel.sql_stops() {
                self.abandon();
                return self.settle();
            }
            match self.cursor.next(&self.relay, &mut event).map_err(|e| unreadable(&e))? {
                Next::Wait => {
                    self.settle()?;
                    if !self.groups.is_open() {
                        self.channel.applied(&self.position, self.cursor.place());
                    }
                    self.channel.sql_state(SqlState::Waiting);
                    self.relay.wait(self.cursor.place(), LOOK_AGAIN);
                }
                Next::File => {
                    // What the file before had of a transaction comes again, whole.
                    self.abandon();
                    self.settle()?;
                    let place = self.cursor.place();
                    self.channel.passed(place);
                    self.relay.let_go(place.number).map_err(|e| unreadable(&e))?;
                    begin = (place, self.position.clone());
                }
                Next::Event(header) => {
                    self.channel.sql_state(SqlState::Reading);
                    match self.event(&header, &event) {
                        Ok(()) => {}
                        Err(e) if is_temporary(&e) && self.attempts < self.channel.host.retries() => {
                            self.again(&begin)?;
                            continue;
                        }
                        Err(e) => {
                            self.abandon();
                            self.settle()?;
                            return Err(e);
                        }
                    }
                    if !self.groups.is_open() {
                        begin = (self.cursor.place(), self.position.clone());
                        self.attempts = 0;
                        if self.unsettled.is_none() {
                            self.channel.applied(&begin.1, begin.0);
                        }
                    }
                }
            }
        }
    }

    /// Nothing of the transaction at hand stays.
    fn abandon(&mut self) {
        if std::mem::take(&mut self.open) {
            self.apply.rollback();
        }
        self.groups = Groups::default();
        self.skipped = false;
    }

    /// The transaction met a lock that others held: from its front, once more.
    fn again(&mut self, begin: &(Place, Position)) -> Result<(), SqlError> {
        self.abandon();
        self.attempts += 1;
        self.channel.retried();
        // As MySQL: a little longer each time, up to five seconds.
        self.channel.pause_sql(Duration::from_millis(10).saturating_mul(1 << self.attempts.min(9)));
        self.cursor = Cursor::open(&self.relay, Some(begin.0)).map_err(|e| unreadable(&e))?;
        self.position = begin.1.clone();
        Ok(())
    }

    fn event(&mut self, header: &Header, event: &[u8]) -> Result<(), SqlError> {
        let damaged = || unreadable(&binlog::Error::Corrupt("an event is damaged".into()));
        let is_format = header.kind() == Some(Kind::FormatDescription);
        let sums = if is_format { Checksum::Crc32 } else { self.cursor.checksum() };
        let body = body_of(event, sums).ok_or_else(damaged)?;
        let step = self.groups.step(header, body).ok_or_else(damaged)?;
        if step == Step::Outside {
            if header.kind() == Some(Kind::Rotate) {
                let (file, offset) = decode::rotate(body).ok_or_else(damaged)?;
                self.position = Position::new(&file, offset);
            }
            // What stands at the front of a file has been passed.
            if header.kind() == Some(Kind::PreviousGtids) && header.end_position != 0 {
                self.position.offset = header.end_position.into();
            }
            if header.code == code::INCIDENT {
                let text = "The incident LOST_EVENTS occurred on the source. Message: error writing to the binary log";
                return Err(SqlError::new(1590, text));
            }
            return Ok(());
        }
        if header.end_position != 0 {
            self.position.offset = header.end_position.into();
        }
        self.channel.applies_event_of(header.timestamp);
        if step == Step::Head || step == Step::Opens && header.code == code::MARIA_GTID {
            self.headed(header, body)?;
        }
        self.step(step, header, body)?;
        if step.ends() {
            self.finished()?;
        }
        Ok(())
    }

    /// The event in front of a transaction: who it is, whether it is wanted, and when.
    fn headed(&mut self, header: &Header, body: &[u8]) -> Result<(), SqlError> {
        let damaged = || unreadable(&binlog::Error::Corrupt("an event is damaged".into()));
        let head = match header.code {
            code::GTID_TAGGED => return Err(unsupported("GTIDs with tags")),
            code::MARIA_GTID => Head::decode_maria(body),
            _ => Head::decode(body),
        };
        let head = head.ok_or_else(damaged)?;
        self.origin = Origin { head, server_id: header.server_id };
        self.skipped = head.gtid.is_some_and(|g| self.executed.contains(g.uuid, g.number)) || self.channel.takes_skip();
        if !self.skipped {
            self.await_delay(header)?;
        }
        Ok(())
    }

    /// SOURCE_DELAY.
    fn await_delay(&mut self, header: &Header) -> Result<(), SqlError> {
        if self.delay.is_zero() {
            return Ok(());
        }
        let committed = match self.origin.head.immediate_commit_us {
            0 => u64::from(header.timestamp) * 1_000_000,
            us => us,
        };
        let due = committed + self.delay.as_micros() as u64;
        while !self.channel.sql_stops() {
            let left = due.saturating_sub(now_us());
            if left == 0 {
                return Ok(());
            }
            self.channel.sql_state(SqlState::Delayed);
            self.channel.pause_sql(Duration::from_micros(left.min(500_000)));
        }
        Err(SqlError::new(1317, "Query execution was interrupted"))
    }

    fn step(&mut self, step: Step, header: &Header, body: &[u8]) -> Result<(), SqlError> {
        if self.skipped {
            return Ok(());
        }
        match step {
            Step::Head | Step::Outside => Ok(()),
            Step::Opens => self.begin(),
            Step::Commits if header.code == code::XA_PREPARE => Err(unsupported("XA PREPARE from a source")),
            Step::Commits => {
                self.open = false;
                self.apply.commit(&self.position)
            }
            Step::RollsBack => {
                self.open = false;
                self.apply.rollback();
                self.skip()
            }
            Step::Alone => self.query(header, body, true),
            Step::Inside => self.inside(header, body),
        }
    }

    fn begin(&mut self) -> Result<(), SqlError> {
        self.open = true;
        self.apply.begin(&self.origin)
    }

    /// Stores the position behind a transaction that is left out.
    fn skip(&mut self) -> Result<(), SqlError> {
        self.apply.begin(&self.origin)?;
        self.apply.commit(&self.position)
    }

    /// Behind the last event of a transaction.
    fn finished(&mut self) -> Result<(), SqlError> {
        if std::mem::take(&mut self.skipped) {
            let known = self.origin.head.gtid.is_some_and(|g| self.executed.contains(g.uuid, g.number));
            if known {
                // It is no transaction of this server a second time.
                self.origin.head.gtid = None;
            }
            self.skip()?;
        }
        if let Some(gtid) = self.origin.head.gtid {
            self.executed.add(gtid.uuid, gtid.number);
        }
        self.origin = Origin::default();
        let since = self.unsettled.take().map_or_else(Instant::now, |(_, _, since)| since);
        self.unsettled = Some((self.position.clone(), self.cursor.place(), since));
        self.channel.counts_transaction();
        if since.elapsed() >= SETTLE_TIME { self.settle() } else { Ok(()) }
    }

    /// Waits until all that was committed is durable; only then it is told of.
    fn settle(&mut self) -> Result<(), SqlError> {
        if let Some((position, place, _)) = self.unsettled.take() {
            self.apply.settle()?;
            self.channel.applied(&position, place);
        }
        Ok(())
    }

    fn inside(&mut self, header: &Header, body: &[u8]) -> Result<(), SqlError> {
        let damaged = || unreadable(&binlog::Error::Corrupt("an event is damaged".into()));
        match (header.kind(), header.code) {
            (Some(Kind::Query), _) => self.query(header, body, false),
            (Some(Kind::TableMap), _) => {
                let table = SourceTable::decode(body).ok_or_else(damaged)?;
                self.tables.insert(table.id, table);
                Ok(())
            }
            (_, code) if Change::of(code).is_some() => self.rows(header, body),
            (_, code::INTVAR) => {
                let (last, id) = decode::intvar(body).ok_or_else(damaged)?;
                self.apply.set_insert_id(last, id);
                Ok(())
            }
            (_, code::RAND) => {
                self.apply.set_random(decode::rand(body).ok_or_else(damaged)?);
                Ok(())
            }
            (Some(Kind::RowsQuery), _) | (_, 28 | 160 | 36 | 37) => Ok(()),
            _ if header.flags & FLAG_IGNORABLE != 0 => Ok(()),
            (_, other) => Err(unsupported(&format!("events of type {other} from a source"))),
        }
    }

    fn rows(&mut self, header: &Header, body: &[u8]) -> Result<(), SqlError> {
        let damaged = || unreadable(&binlog::Error::Corrupt("a row event is damaged".into()));
        let event = RowsEvent::decode(header.code, body).ok_or_else(damaged)?;
        let Some(table) = self.tables.get_mut(&event.table_id) else {
            // MySQL's last event of a statement may be of no table.
            return if event.table_id == 0xFF_FFFF { Ok(()) } else { Err(damaged()) };
        };
        let schema = self.filters.rewritten(&table.schema).to_string();
        if !self.filters.takes_rows(&schema, &table.name) {
            return Ok(());
        }
        table.schema = schema;
        let applied = self.apply.rows(table, &event, header.timestamp);
        applied.map_err(|e| {
            let handler = match e.code {
                1032 => "; handler error HA_ERR_KEY_NOT_FOUND",
                1062 => "; handler error HA_ERR_FOUND_DUPP_KEY",
                1451 => "; handler error HA_ERR_ROW_IS_REFERENCED",
                1452 => "; handler error HA_ERR_NO_REFERENCED_ROW",
                _ => return e,
            };
            let text = format!(
                "Could not execute {} event on table {}.{}; {}, Error_code: MY-{:06}{handler}; the event's source log {}, \
                 end_log_pos {}",
                event.change.event_name(),
                table.schema,
                table.name,
                e.message,
                e.code,
                self.position.file,
                header.end_position
            );
            SqlError::new(e.code, text)
        })
    }

    fn query(&mut self, header: &Header, body: &[u8], alone: bool) -> Result<(), SqlError> {
        let damaged = || unreadable(&binlog::Error::Corrupt("a statement is damaged".into()));
        let mut query = QueryEvent::decode(body).ok_or_else(damaged)?;
        let database = String::from_utf8_lossy(query.database).into_owned();
        let rewritten = self.filters.rewritten(&database).to_string();
        query.database = rewritten.as_bytes();
        if alone {
            self.apply.begin(&self.origin)?;
        }
        let ends = alone.then_some(&self.position);
        let applied = self.apply.statement(&query, header.timestamp, &self.filters, ends);
        applied.map_err(|e| {
            self.apply.rollback();
            let text = String::from_utf8_lossy(query.text);
            let text = format!("Error '{}' on query. Default database: '{rewritten}'. Query: '{text}'", e.message);
            SqlError::new(e.code, text)
        })
    }
}

/// Errors 1205 and 1213, which another attempt may not meet.
fn is_temporary(e: &SqlError) -> bool {
    matches!(e.code, 1205 | 1213)
}

fn unsupported(what: &str) -> SqlError {
    types::err!(1235, what)
}
