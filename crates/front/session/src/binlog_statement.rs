//! `BINLOG '...'`: row events in base64, as mysqlbinlog prints them, and how it says who wrote them.
//!
//! ```text
//!   BINLOG 'FORMAT_DESCRIPTION'           how the events that follow are protected, until the next one
//!   BEGIN, BINLOG 'TABLE_MAP, ROWS ...'   changes in the session's own transaction; statements come as what they are
//! ```
//! Rows are written as a replica writes them ([`Targets`]): by key, without a plan. In this server's binary log they are rows of this
//! session.

use crate::applied::Targets;
use crate::needs::Action;
use crate::session::Session;
use crate::session::binlog_events::BinlogEvents;
use crate::variables::{VarId, id};
use binlog::decode::{Change, FLAG_IGNORABLE, RowsEvent, SourceTable, body_of};
use binlog::event::{self, CHECKSUM_BYTES, Checksum, HEADER_BYTES, Header, Kind};
use expr::Env;
use run::Outcome;
use std::collections::HashMap;
use types::codes::*;
use types::{Result, SqlError, base64, err};

pub(crate) const PSEUDO_REPLICA: VarId = id("pseudo_replica_mode");
pub(crate) const PSEUDO_SLAVE: VarId = id("pseudo_slave_mode");
const FOREIGN_KEY_CHECKS: VarId = id("foreign_key_checks");
const UNIQUE_CHECKS: VarId = id("unique_checks");

/// Error 1610.
fn damaged(what: &str) -> SqlError {
    SqlError::new(ER_REPLICA_CORRUPT_EVENT, format!("Corrupted replication event was detected: {what}"))
}

/// Each event is padded by itself, and lines end where they may.
fn decode_pieces(text: &[u8]) -> Option<Vec<u8>> {
    let digits: Vec<u8> = text.iter().copied().filter(|b| !b.is_ascii_whitespace()).collect();
    let mut bytes = Vec::new();
    for piece in digits.chunk_by(|a, b| *a != b'=' || *b == b'=') {
        bytes.extend(base64::decode(piece)?);
    }
    Some(bytes)
}

/// As messages call the type of an event.
fn type_name(header: &Header) -> String {
    match (header.kind(), Change::of(header.code)) {
        (Some(Kind::FormatDescription), _) => "Format_desc".to_string(),
        (Some(kind), _) => kind.name().to_string(),
        (None, Some(change)) => format!("{}_v1", change.event_name()),
        (None, None) => "Unknown".to_string(),
    }
}

impl Session {
    /// BINLOG. Errors 1149, 1227, 1766, 1782, 1575, 1609, 1610, 1730, and those of [`Targets::apply`].
    pub(crate) fn binlog_statement(&mut self, text: &[u8]) -> Result<()> {
        self.need(Action::BinlogEvents)?;
        let bytes = decode_pieces(text).ok_or_else(|| err!(ER_BASE64_DECODE_ERROR))?;
        if bytes.len() < HEADER_BYTES {
            return Err(err!(ER_SYNTAX_ERROR));
        }
        let mut events = Vec::new();
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            let len = Header::decode(rest).map_or(usize::MAX, |header| header.len as usize);
            let (event, behind) = rest.split_at_checked(len).ok_or_else(|| err!(ER_SYNTAX_ERROR))?;
            events.push(event);
            rest = behind;
        }
        let savepoint = self.tx.is_active().then(|| self.tx.savepoint());
        let before = (
            self.state.timestamp,
            self.state.sql_mode,
            [FOREIGN_KEY_CHECKS, UNIQUE_CHECKS].map(|id| self.state.vars.get(id).clone()),
        );
        let made = events.iter().try_for_each(|event| self.binlog_event(event));
        let (timestamp, sql_mode, [foreign, unique]) = before;
        (self.state.timestamp, self.state.sql_mode) = (timestamp, sql_mode);
        self.state.vars.set(FOREIGN_KEY_CHECKS, foreign);
        self.state.vars.set(UNIQUE_CHECKS, unique);
        if made.is_err() {
            match savepoint {
                // The statement's error is the one to tell; what cannot be undone now may only be rolled back as a whole.
                Some(savepoint) => _ = self.tx.rollback_to(savepoint),
                // The transaction has begun with this statement.
                None => self.rollback_all(),
            }
        }
        self.finish_statement(made.map(|()| Outcome::default())).map(drop)
    }

    fn binlog_event(&mut self, event: &[u8]) -> Result<()> {
        let header = Header::decode(event).ok_or_else(|| err!(ER_SYNTAX_ERROR))?;
        let change = Change::of(header.code);
        match header.kind() {
            Some(Kind::FormatDescription) => return self.binlog_format(event),
            Some(Kind::TableMap | Kind::RowsQuery) => {}
            _ if change.is_some() || header.flags & FLAG_IGNORABLE != 0 => {}
            _ => return Err(err!(ER_ONLY_FD_AND_RBR_EVENTS_ALLOWED_IN_BINLOG_STATEMENT, type_name(&header))),
        }
        let Some(mut said) = self.binlog_events.take() else {
            return Err(err!(ER_NO_FORMAT_DESCRIPTION_EVENT_BEFORE_BINLOG_STATEMENT, type_name(&header)));
        };
        let made = self.binlog_rows(&mut said, &header, event);
        self.binlog_events = Some(said);
        made
    }

    fn binlog_format(&mut self, event: &[u8]) -> Result<()> {
        let body = event.get(HEADER_BYTES..event.len().saturating_sub(CHECKSUM_BYTES));
        let checksum = body.and_then(event::checksum_of).ok_or_else(|| damaged("a format that is not known"))?;
        if !event::verify(event) {
            return Err(damaged("a checksum is wrong"));
        }
        self.undetermine_gtid()?;
        let (tables, targets) = (HashMap::new(), Targets::default());
        self.binlog_events = Some(Box::new(BinlogEvents { checksum, tables, targets }));
        Ok(())
    }

    fn binlog_rows(&mut self, said: &mut BinlogEvents, header: &Header, event: &[u8]) -> Result<()> {
        if said.checksum == Checksum::Crc32 && !event::verify(event) {
            return Err(damaged("a checksum is wrong"));
        }
        let body = body_of(event, said.checksum).ok_or_else(|| damaged("an event is cut short"))?;
        if header.kind() == Some(Kind::TableMap) {
            let table = SourceTable::decode(body).ok_or_else(|| damaged("a table map"))?;
            said.tables.insert(table.id, table);
            return Ok(());
        }
        if Change::of(header.code).is_none() {
            return Ok(());
        }
        if self.state.gtid.next.is_given() && self.passes_over()? {
            return Ok(());
        }
        let rows = RowsEvent::decode(header.code, body).ok_or_else(|| damaged("rows"))?;
        let Some(table) = said.tables.get(&rows.table_id) else {
            // MySQL's last event of a statement may be of no table.
            return if rows.table_id == 0xFF_FFFF { Ok(()) } else { Err(damaged("rows of no table")) };
        };
        self.check_writable()?;
        self.transaction.changes_shared = true;
        self.begin_readable(0, false)?;
        said.targets.apply(self, table, &rows, header.timestamp)
    }

    /// SET pseudo_replica_mode: without it the session forgets what BINLOG statements have said.
    pub(crate) fn set_pseudo_replica(&mut self, on: bool) {
        for id in [PSEUDO_REPLICA, PSEUDO_SLAVE] {
            let was = self.state.vars.bool(id);
            self.state.vars.set(id, crate::variables::Val::Bool(on));
            if id == PSEUDO_REPLICA && on && self.binlog_events.is_some() {
                self.state.warn("Warning", ER_WRONG_VALUE_FOR_VAR, "'pseudo_replica_mode' is already ON.".to_string());
            }
            if id != PSEUDO_REPLICA || on {
                continue;
            }
            match (self.binlog_events.take(), was) {
                (Some(_), _) => {}
                (None, true) => {
                    let text = "Replica applier execution mode not active, statement ineffective.";
                    self.state.warn("Warning", ER_WRONG_VALUE_FOR_VAR, text.to_string());
                }
                (None, false) => {
                    self.state.warn(
                        "Warning",
                        ER_WRONG_VALUE_FOR_VAR,
                        "'pseudo_replica_mode' change was ineffective.".to_string(),
                    );
                }
            }
        }
    }
}
