//! Temporary tables: the session's own, in front of the tables that all share.
//!
//! They are ordinary trees. The session alone has their definitions; what stands in the dictionary is an entry a table that names
//! its trees, so that a restart frees what a session left behind. They are made and freed in transactions of their own: the
//! session's transaction goes on, and its rollback leaves the tables and takes the rows.

use crate::create_select::{self, CreateSelect};
use crate::needs::Action;
use crate::run::REPLANS_MAX;
use crate::session::Session;
use crate::session::plans::{RowLocks, pins_of};
use crate::sink::MemorySink;
use crate::state::State;
use catalog::{Ddl, TableName, Version, Waiting};
use engine::Transaction;
use run::{Outcome, Prepared, Uses};
use sql::ast::{CreateTable, CreateTableBody, Parsed};
use std::sync::Arc;
use types::codes::*;
use types::{Result, err};

impl Session {
    /// The dictionary as of now, with the session's temporary tables in front.
    pub(crate) fn dictionary(&mut self) -> Arc<Version> {
        let base = self.catalog.get(self.server.catalog.cell());
        self.temporary.over(base)
    }

    pub(crate) fn is_temporary(&self, schema: &str, name: &str) -> bool {
        self.temporary.get(schema, name).is_some()
    }

    /// Changes temporary tables in a transaction of its own.
    pub(crate) fn define_temporary<R>(
        &mut self,
        change: impl FnOnce(&mut Ddl<'_>, &mut State) -> Result<R>,
    ) -> Result<R> {
        let server = Arc::clone(&self.server);
        let base = self.catalog.get(server.catalog.cell());
        let version = Version::with_temporary(base, self.temporary.tables.clone());
        let mut tx = Transaction::new(&server.engine).map_err(catalog::error::engine)?;
        let mut ddl = server.catalog.begin_temporary(&mut tx, &mut self.pins, &version);
        let result = change(&mut ddl, &mut self.state)?;
        self.temporary.tables = ddl.commit_temporary()?;
        self.temporary_changed();
        self.tracking.state();
        Ok(result)
    }

    fn temporary_changed(&mut self) {
        self.temporary.generation += 1;
        self.plans.clear();
        self.close_changed_handlers();
    }

    /// CREATE TEMPORARY TABLE: the transaction in progress goes on. Errors 1044, 1050 and those of the definition.
    pub(crate) fn create_temporary(
        &mut self,
        parsed: &Parsed,
        create: &CreateTable,
        to: (&str, &str),
    ) -> Result<Outcome> {
        self.need_in(Action::CreateTemporaryTable, to.0)?;
        if self.is_temporary(to.0, to.1) {
            return Err(err!(ER_TABLE_EXISTS_ERROR, to.1));
        }
        if let CreateTableBody::Columns { columns, keys, options, select: Some((duplicates, query)) } = &create.body {
            let (duplicates, query) = (*duplicates, *query);
            let of = CreateSelect { create, columns, keys, options, duplicates, query };
            return self.create_temporary_select(parsed, of, to);
        }
        let spec = self.new_table(parsed, &create.body, to, true)?;
        self.check_new_table(&spec)?;
        self.define_temporary(|ddl, _| ddl.create_table(spec).map(drop))?;
        self.begin_with_temporary();
        Ok(Outcome::default())
    }

    /// CREATE and DROP of temporary tables are statements of a transaction, and begin one where none commits by itself.
    pub(crate) fn begin_with_temporary(&mut self) {
        if !self.autocommits() {
            self.begin_if_needed();
        }
    }

    /// The rows are the session's transaction's, the table is not.
    fn create_temporary_select(&mut self, parsed: &Parsed, of: CreateSelect<'_>, to: (&str, &str)) -> Result<Outcome> {
        let result = self.make_and_fill(parsed, of, to);
        self.state.inspect = None;
        let result = self.finish_statement(result);
        if result.is_err() && self.is_temporary(to.0, to.1) {
            self.drop_temporary(&[(to.0.to_string(), to.1.to_string())]);
        }
        result
    }

    fn make_and_fill(&mut self, parsed: &Parsed, of: CreateSelect<'_>, to: (&str, &str)) -> Result<Outcome> {
        for _ in 0..REPLANS_MAX {
            self.state.clear_conditions();
            self.state.note_parsed(parsed);
            let version = self.dictionary();
            let (values, types) = self.bound_values();
            let collation = version.schema(to.0).ok_or_else(|| err!(ER_BAD_DB_ERROR, to.0))?.default_collation;
            let planned = Prepared::of_query(parsed, of.query, &version, &mut self.state, &types);
            let planned = planned.map_err(|e| self.denied_or(parsed, e))?;
            self.check_rights(&planned)?;
            create_select::refuse_exclusive(&planned, to.1)?;
            self.note_hints(&planned);
            let (pins, readable_since) = pins_of(&planned, &version);
            let timeout = self.state.vars.hot().lock_wait_timeout;
            let pinned = self.pins.pin(&pins, false, Waiting { timeout, tx: &mut self.tx })?;
            if !pinned || !self.catalog.is_current(self.server.catalog.cell()) {
                continue;
            }
            let selected = create_select::made_columns(&version, planned.columns(), self.state.sql_mode)?;
            let spec = self.table_spec(parsed, to, true, collation, of.columns, &selected, of.keys, of.options)?;
            self.check_new_table(&spec)?;
            self.begin_readable(readable_since, false)?;
            let table = self.define_temporary(|ddl, _| ddl.create_table(spec))?;
            let columns = create_select::positions(&table, &selected);
            let (table, query) = ((&table, columns), of.query);
            let mut prepared =
                Prepared::filling(parsed, query, table, of.duplicates, &version, &mut self.state, &types)?;
            if prepared.tables().iter().any(|t| version.table(&t.schema, &t.table).is_some_and(|t| t.is_virtual())) {
                self.state.inspect = Some(Box::new(self.inspect_context()));
            }
            self.state.single_statement = self.autocommits();
            let rows = RowLocks::of(&prepared, &version);
            let sink = &mut MemorySink::new(0);
            if prepared.calls() {
                self.lend();
            }
            let result = match prepared.uses() {
                Uses::Nothing | Uses::Transaction => prepared.execute(&mut self.tx, &values, &mut self.state, sink),
                Uses::Beside | Uses::Both => self.with_beside(rows.as_deref(), |session, beside| {
                    prepared.execute_beside(&mut session.tx, beside, &values, &mut session.state, sink)
                }),
            };
            self.take_back();
            return result;
        }
        Err(err!(ER_NEED_REPREPARE))
    }

    /// Lets go of temporary tables; their trees are freed once no transaction of the session may have changed them.
    pub(crate) fn drop_temporary(&mut self, names: &[TableName]) {
        for name in names {
            if let Some(table) = self.temporary.tables.remove(name) {
                self.temporary.dropped.push(table);
            }
        }
        self.temporary_changed();
        if !self.tx.is_active() {
            self.free_dropped();
        }
    }

    /// All of them: the session ends or starts over. No transaction runs.
    pub(crate) fn drop_all_temporary(&mut self) {
        if !self.temporary.tables.is_empty() {
            let names: Vec<TableName> = self.temporary.tables.keys().cloned().collect();
            self.drop_temporary(&names);
        }
    }

    /// The session's transaction is over: frees the trees of tables that were dropped in it.
    #[cold]
    pub(crate) fn free_dropped(&mut self) {
        assert!(!self.tx.is_active(), "its undo may lead into these trees");
        let dropped = std::mem::take(&mut self.temporary.dropped);
        // What can not be freed now, on a full disk, say, is freed at the next start.
        let _ = self.define_temporary(|ddl, _| dropped.iter().try_for_each(|t| ddl.free_temporary(t)));
    }
}
