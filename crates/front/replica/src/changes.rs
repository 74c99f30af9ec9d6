//! The events inside of transactions, made one after the other by an [`Apply`]: what a channel's workers do with the relay log, and
//! [`crate::replay`] with files.

use crate::config::{Filters, Position};
use crate::host::{Apply, Origin};
use binlog::decode::{self, Change, FLAG_IGNORABLE, QueryEvent, RowsEvent, SourceTable, code};
use binlog::event::{Header, Kind};
use std::collections::HashMap;
use types::codes::*;
use types::{SqlError, err};

/// As the relay log says of itself.
const CANNOT_READ: u16 = ER_REPLICA_RELAY_LOG_READ_FAILURE;

pub(crate) fn unreadable(e: &binlog::Error) -> SqlError {
    SqlError::new(
        CANNOT_READ,
        format!("Relay log read failure: Could not parse relay log event entry. The possible reasons are: {e}"),
    )
}

pub(crate) fn damaged(what: &str) -> SqlError {
    unreadable(&binlog::Error::Corrupt(what.into()))
}

pub(crate) struct Changes {
    filters: Filters,
    /// As the table maps so far have it.
    tables: HashMap<u64, SourceTable>,
}

impl Changes {
    pub fn new(filters: Filters) -> Changes {
        Changes { filters, tables: HashMap::new() }
    }

    /// Another transaction begins: it names its tables itself.
    pub fn forget_tables(&mut self) {
        self.tables.clear();
    }

    /// An event inside of a transaction that has begun. `position`: behind it, for messages.
    pub fn inside(
        &mut self,
        apply: &mut dyn Apply,
        header: &Header,
        body: &[u8],
        position: &Position,
    ) -> Result<(), SqlError> {
        let cut = || damaged("an event is damaged");
        match (header.kind(), header.code) {
            (Some(Kind::Query), _) => self.statement(apply, header, body, None),
            (Some(Kind::TableMap), _) => {
                let mut table = SourceTable::decode(body).ok_or_else(cut)?;
                table.schema = self.filters.rewritten(&table.schema).to_string();
                self.tables.insert(table.id, table);
                Ok(())
            }
            (_, code) if Change::of(code).is_some() => self.rows(apply, header, body, position),
            (_, code::INTVAR) => {
                let (last, id) = decode::intvar(body).ok_or_else(cut)?;
                apply.set_insert_id(last, id);
                Ok(())
            }
            (_, code::RAND) => {
                apply.set_random(decode::rand(body).ok_or_else(cut)?);
                Ok(())
            }
            (Some(Kind::RowsQuery), _) | (_, 28 | 160 | 36 | 37) => Ok(()),
            _ if header.flags & FLAG_IGNORABLE != 0 => Ok(()),
            (_, other) => Err(unsupported(&format!("events of type {other} from a source"))),
        }
    }

    fn rows(&self, apply: &mut dyn Apply, header: &Header, body: &[u8], position: &Position) -> Result<(), SqlError> {
        let event = RowsEvent::decode(header.code, body).ok_or_else(|| damaged("a row event is damaged"))?;
        let Some(table) = self.tables.get(&event.table_id) else {
            // MySQL's last event of a statement may be of no table.
            return if event.table_id == 0xFF_FFFF { Ok(()) } else { Err(damaged("a row event is damaged")) };
        };
        if !self.filters.takes_rows(&table.schema, &table.name) {
            return Ok(());
        }
        let applied = apply.rows(table, &event, header.timestamp);
        applied.map_err(|e| {
            let handler = match e.code {
                ER_KEY_NOT_FOUND => "; handler error HA_ERR_KEY_NOT_FOUND",
                ER_DUP_ENTRY => "; handler error HA_ERR_FOUND_DUPP_KEY",
                ER_ROW_IS_REFERENCED_2 => "; handler error HA_ERR_ROW_IS_REFERENCED",
                ER_NO_REFERENCED_ROW_2 => "; handler error HA_ERR_NO_REFERENCED_ROW",
                _ => return e,
            };
            let text = format!(
                "Could not execute {} event on table {}.{}; {}, Error_code: MY-{:06}{handler}; the event's source log \
                 {}, \
                 end_log_pos {}",
                event.change.event_name(),
                table.schema,
                table.name,
                e.message,
                e.code,
                position.file,
                header.end_position
            );
            SqlError::new(e.code, text)
        })
    }

    /// A statement that is a transaction of its own, which stores the position behind it.
    pub fn alone(
        &self,
        apply: &mut dyn Apply,
        header: &Header,
        body: &[u8],
        origin: &Origin,
        position: &Position,
    ) -> Result<(), SqlError> {
        apply.begin(origin)?;
        self.statement(apply, header, body, Some(position))
    }

    fn statement(
        &self,
        apply: &mut dyn Apply,
        header: &Header,
        body: &[u8],
        ends: Option<&Position>,
    ) -> Result<(), SqlError> {
        let mut query = QueryEvent::decode(body).ok_or_else(|| damaged("a statement is damaged"))?;
        let database = String::from_utf8_lossy(query.database).into_owned();
        let rewritten = self.filters.rewritten(&database).to_string();
        query.database = rewritten.as_bytes();
        let applied = apply.statement(&query, header.timestamp, &self.filters, ends);
        applied.map_err(|e| {
            let text = String::from_utf8_lossy(query.text);
            let text = format!("Error '{}' on query. Default database: '{rewritten}'. Query: '{text}'", e.message);
            SqlError::new(e.code, text)
        })
    }
}

pub(crate) fn unsupported(what: &str) -> SqlError {
    err!(ER_NOT_SUPPORTED_YET, what)
}
