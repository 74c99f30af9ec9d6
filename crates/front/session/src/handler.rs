//! HANDLER: tables opened by name, read row by row, closed. They are the session's alone and hold no lock between statements:
//! what others do to a table meanwhile makes the next READ start anew, what the session itself does closes it.

use crate::needs::Action;
use crate::run::REPLANS_MAX;
use crate::session::{Done, Session};
use crate::sink::WireSink;
use accounts::Privileges;
use catalog::eq_name;
use catalog::{Pin, Table};
use protocol::Output;
use run::Outcome;
use run::handler::Handler;
use sql::ast::{HandlerRead, HandlerStatement, Parsed};
use std::sync::Arc;
use types::codes::*;
use types::{Result, err};

impl Session {
    /// Errors 1066, 1109, 1146, 1192, 1347 and those of reading.
    pub(crate) fn handler(&mut self, parsed: &Parsed, statement: &HandlerStatement, out: &mut Output) -> Result<Done> {
        if self.locked.is_some() {
            return Err(err!(ER_LOCK_OR_ACTIVE_TRANSACTION));
        }
        match statement {
            HandlerStatement::Open { table, alias } => {
                let (schema, name) = self.object(parsed, *table)?;
                let alias = parsed.name(*alias);
                if self.handlers.iter().any(|h| eq_name(h.alias(), alias)) {
                    return Err(err!(ER_NONUNIQ_TABLE, alias));
                }
                self.need_on_shared(Action::Handler, &schema, &name)?;
                let found = self.handled(&schema, &name)?;
                self.handlers.push(Handler::new(found, alias));
                self.ok(out, &Outcome::default())?;
            }
            HandlerStatement::Close(alias) => {
                let at = self.opened(parsed.name(*alias))?;
                self.handlers.swap_remove(at);
                self.ok(out, &Outcome::default())?;
            }
            HandlerStatement::Read(read) => {
                let at = self.opened(parsed.name(read.handler))?;
                let mut handler = self.handlers.swap_remove(at);
                let result = self.read_handler(parsed, read, &mut handler, out);
                self.handlers.push(handler);
                result?;
            }
        }
        Ok(Done::Answered)
    }

    /// Error 1109.
    fn opened(&self, alias: &str) -> Result<usize> {
        let at = self.handlers.iter().position(|h| eq_name(h.alias(), alias));
        at.ok_or_else(|| err!(ER_UNKNOWN_TABLE, alias, "HANDLER"))
    }

    /// Errors 1049, 1146, 1347.
    fn handled(&mut self, schema: &str, name: &str) -> Result<Arc<Table>> {
        let version = self.dictionary();
        version.schema(schema).ok_or_else(|| err!(ER_BAD_DB_ERROR, schema))?;
        let table = version.table(schema, name).ok_or_else(|| err!(ER_NO_SUCH_TABLE, schema, name))?;
        if table.is_base() { Ok(Arc::clone(table)) } else { Err(err!(ER_WRONG_OBJECT, schema, name, "BASE TABLE")) }
    }

    fn read_handler(
        &mut self,
        parsed: &Parsed,
        read: &HandlerRead,
        handler: &mut Handler,
        out: &mut Output,
    ) -> Result<()> {
        let (schema, name) = (handler.table().schema.clone(), handler.table().name.clone());
        self.need_on_shared(Action::Handler, &schema, &name)?;
        let table = self.pin_handled(&schema, &name).map_err(|e| self.not_begun(e))?;
        if !table.temporary {
            // It reads whole rows.
            let columns: Vec<String> = table.named_columns().map(|c| c.name.clone()).collect();
            let denied = self.access().check_columns(Privileges::SELECT, &schema, &name, &columns, true);
            denied.map_err(|e| self.not_begun(e))?;
        }
        handler.follow(Arc::clone(&table));
        let hot = self.state.vars.hot();
        let mut sink = WireSink {
            status: self.status(self.more),
            results: hot.results,
            limit: u64::MAX,
            out,
            format: self.format,
            head: None,
            rows: 0,
            started: false,
            durable: None,
        };
        // One table is locked and unlocked.
        observe::add(observe::Counter::HandlerExternalLock, 2);
        self.state.single_statement = self.autocommits();
        let version = self.dictionary();
        let result = match table.engine.is_transactional() {
            true => self
                .begin_readable(table.readable_since, true)
                .and_then(|()| handler.read((parsed, read), &version, &mut self.tx, &mut self.state, &mut sink)),
            false => self.with_beside(None, |session, beside| {
                handler.read((parsed, read), &version, beside, &mut session.state, &mut sink)
            }),
        };
        let rows = sink.rows;
        self.finish_statement(result)?;
        self.state.found_rows = rows;
        self.state.row_count = -1;
        let (status, warnings) = (self.status(self.more), self.state.wire_warnings());
        out.end_rows(status, warnings).map_err(|_| crate::sink::gone())
    }

    /// The table as it is, kept from DDL until the statement ends. Errors 1049, 1146, 1205, 1213, 1347, 1615.
    pub(crate) fn pin_handled(&mut self, schema: &str, name: &str) -> Result<Arc<Table>> {
        for _ in 0..REPLANS_MAX {
            let table = self.handled(schema, name)?;
            if table.temporary {
                return Ok(table);
            }
            if self.pin_tables(&[Pin::new(schema, name, false)], false)? {
                return Ok(table);
            }
        }
        Err(err!(ER_NEED_REPREPARE))
    }

    /// The session has changed definitions: what it did them to is closed.
    pub(crate) fn close_changed_handlers(&mut self) {
        if self.handlers.is_empty() {
            return;
        }
        let version = self.dictionary();
        self.handlers.retain(|h| {
            let (was, now) = (h.table(), version.table(&h.table().schema, &h.table().name));
            now.is_some_and(|t| (t.id, t.version) == (was.id, was.version))
        });
    }

    /// FLUSH TABLES: reading starts anew.
    pub(crate) fn rewind_handlers(&mut self) {
        self.handlers.iter_mut().for_each(Handler::rewind);
    }
}
