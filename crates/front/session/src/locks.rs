//! Locks that statements ask for by name: LOCK TABLES, FLUSH TABLES WITH READ LOCK, LOCK INSTANCE FOR BACKUP, GET_LOCK.

use crate::needs::Action;
use crate::performance::PERFORMANCE_SCHEMA;
use crate::session::Session;
use crate::session::plans::Planned;
use crate::session::transaction::LockedTable;
use crate::user_locks::RETRIES_MAX;
use catalog::mdl::{Duration, Mode, Name};
use catalog::{Changes, MYSQL, MetadataPins, RoutineKind, StorageEngine, Table, Version, Waiting};
use expr::Env;
use observe::Counter;
use plan::TableUse;
use sql::ast::{FlushTables, LockTable, ObjectName, Parsed, Statement, TableLockMode, TableRef};
use std::sync::Arc;
use types::codes::*;
use types::{Result, SqlError, err};

impl Session {
    fn waiting(&mut self) -> (&mut MetadataPins, Waiting<'_>) {
        let timeout = self.state.vars.hot().lock_wait_timeout;
        (&mut self.pins, Waiting { timeout, tx: &mut self.tx })
    }

    fn lock_named(&mut self, name: Name, mode: Mode) -> Result<()> {
        let (pins, mut waiting) = self.waiting();
        pins.lock(&Arc::new(name), mode, Duration::Explicit, &mut waiting).map(drop)
    }

    /// LOCK TABLES: what was locked before is unlocked, what runs is committed.
    pub(crate) fn lock_tables(&mut self, parsed: &Parsed, tables: &[LockTable]) -> Result<()> {
        let mut wanted: Vec<LockedTable> = Vec::with_capacity(tables.len());
        let mut statistics: Vec<String> = Vec::new();
        for t in tables {
            let (schema, table) = self.object(parsed, t.name)?;
            let alias = parsed.name(t.alias.unwrap_or(t.name.name)).to_string();
            if wanted.iter().any(|w| w.alias.eq_ignore_ascii_case(&alias) && w.schema == schema) {
                return Err(err!(ER_NONUNIQ_TABLE, alias));
            }
            if self.is_temporary(&schema, &table) {
                // Nobody else knows it: there is nothing to lock.
                continue;
            }
            let write = matches!(t.mode, TableLockMode::Write | TableLockMode::LowPriorityWrite);
            if t.mode != TableLockMode::ReadLocal
                && self.dictionary().table(&schema, &table).is_some_and(|t| t.is_virtual())
            {
                statistics.extend(Some(&table).filter(|table| table.starts_with("innodb_")).cloned());
            }
            wanted.push(LockedTable { schema, table, alias, write });
        }
        self.unlock_tables_alone();
        self.commit_all()?;
        for w in &wanted {
            self.need_on(Action::LockTables, &w.schema, &w.table)?;
            // Who writes these looks at no locks. READ LOCAL lets others write, and a dump asks for it.
            if w.schema == MYSQL && statistics.contains(&w.table) {
                return Err(err!(ER_NO_SYSTEM_TABLE_ACCESS, "system table", w.schema, w.table));
            }
        }
        for _ in 0..RETRIES_MAX {
            let all = self.with_related(&wanted)?;
            let mut result = self.take_table_locks(&all, Mode::SharedReadOnly, Mode::SharedNoReadWrite);
            // What the locked views and tables refer to may have changed before they were locked.
            let settled = match result.is_ok().then(|| self.with_related(&wanted)) {
                Some(Ok(now)) => now == all,
                Some(Err(e)) => {
                    result = Err(e);
                    true
                }
                None => true,
            };
            if settled {
                return self.finish_table_locks(all, result);
            }
            self.unlock_tables_alone();
        }
        Err(err!(ER_NEED_REPREPARE))
    }

    /// What is named, and what MySQL locks with it: the tables of a view as the view, those of its subqueries to be read; and with a
    /// table that is locked to be written the tables to which foreign keys lead, written where a key's action may change
    /// their rows.
    fn with_related(&mut self, wanted: &[LockedTable]) -> Result<Vec<LockedTable>> {
        let version = Arc::clone(self.catalog.get(self.server.catalog.cell()));
        let implied = |schema: &str, table: &str, write: bool| {
            let (schema, table) = (schema.to_string(), table.to_string());
            LockedTable { alias: table.clone(), schema, table, write }
        };
        let mut all = wanted.to_vec();
        let mut at = 0;
        while at < all.len() {
            if let Some(view) = version.table(&all[at].schema, &all[at].table).filter(|t| t.view.is_some()) {
                for (schema, table, direct) in plan::views::tables_of(view)? {
                    let part = implied(&schema, &table, all[at].write && direct);
                    if version.table(&schema, &table).is_some_and(|t| !t.is_virtual()) && !all.contains(&part) {
                        all.push(part);
                    }
                }
            }
            for used in self.used_by_routines(&version, &all[at]) {
                let part = implied(&used.schema, &used.table, used.carried);
                if !all.contains(&part) {
                    all.push(part);
                }
            }
            at += 1;
        }
        for at in 0..all.len() {
            let written = version.table(&all[at].schema, &all[at].table).filter(|t| all[at].write && t.is_base());
            for related in written.into_iter().flat_map(|table| version.related(table, Changes::ALL)) {
                let end = implied(&related.table.schema, &related.table.name, related.written);
                if !all.contains(&end) {
                    all.push(end);
                }
            }
        }
        Ok(all)
    }

    /// The tables that functions of a view use, and triggers of a table that is locked to be written. What cannot be planned will not
    /// run either.
    fn used_by_routines(&mut self, version: &Arc<Version>, locked: &LockedTable) -> Vec<TableUse> {
        let Some(table) = version.table(&locked.schema, &locked.table) else { return Vec::new() };
        let mut used = Vec::new();
        for routine in plan::views::functions_of(version, table) {
            if let Ok(closure) = plan::Env::closure_of(&mut self.state, version, routine) {
                used.extend(closure.tables.iter().cloned());
            }
        }
        for trigger in table.triggers.iter().filter(|_| locked.write) {
            if let Ok(of) = plan::Env::use_of_trigger(&mut self.state, version, table, trigger) {
                used.extend(of.closure.tables.iter().cloned());
            }
        }
        used
    }

    /// FLUSH TABLES t, ... WITH READ LOCK.
    pub(crate) fn flush_with_read_lock(&mut self, parsed: &Parsed, tables: &[ObjectName]) -> Result<()> {
        let mut wanted = Vec::with_capacity(tables.len());
        for name in tables {
            let (schema, table) = self.object(parsed, *name)?;
            self.need_on(Action::FlushTablesForReading, &schema, &table)?;
            let version = self.catalog.get(self.server.catalog.cell());
            if version.table(&schema, &table).is_some_and(|t| t.view.is_some()) {
                return Err(err!(ER_WRONG_OBJECT, schema, table, "BASE TABLE"));
            }
            wanted.push(LockedTable { alias: table.clone(), schema, table, write: false });
        }
        if self.locked.is_some() {
            return Err(err!(ER_LOCK_OR_ACTIVE_TRANSACTION));
        }
        self.commit_all()?;
        let result = self
            .lock_named(Name::BackupLock, Mode::IntentionExclusive)
            .and_then(|()| self.take_table_locks(&wanted, Mode::SharedNoWrite, Mode::SharedNoWrite));
        self.finish_table_locks(wanted, result)
    }

    fn finish_table_locks(&mut self, wanted: Vec<LockedTable>, result: Result<()>) -> Result<()> {
        if result.is_err() {
            self.unlock_tables_alone();
            return result;
        }
        observe::add(Counter::HandlerExternalLock, wanted.len() as u64);
        self.locked = Some(wanted);
        Ok(())
    }

    /// Locks each table once, in one order for all sessions, as strongly as it is named.
    fn take_table_locks(&mut self, wanted: &[LockedTable], read: Mode, write: Mode) -> Result<()> {
        let mut sorted: Vec<(&str, &str, bool)> =
            wanted.iter().map(|w| (w.schema.as_str(), w.table.as_str(), w.write)).collect();
        // Writes first, so that the first of each name is the strongest.
        let any_write = wanted.iter().any(|w| w.write);
        sorted.sort_by(|a, b| (a.0, a.1, !a.2).cmp(&(b.0, b.1, !b.2)));
        sorted.dedup_by(|later, first| (later.0, later.1) == (first.0, first.1));
        if any_write {
            // Kept as long as the tables: FLUSH TABLES WITH READ LOCK waits for UNLOCK TABLES.
            self.pins.check_protection()?;
            self.lock_named(Name::Global, Mode::IntentionExclusive)?;
        }
        for (schema, table, writes) in sorted {
            self.lock_named(Name::Schema(schema.into()), Mode::IntentionExclusive)?;
            let name = Name::table(schema, table);
            let mode = if writes { write } else { read };
            self.lock_named(name, mode)?;
            let version = self.catalog.get(self.server.catalog.cell());
            match version.table(schema, table) {
                // Those that are set up can be locked, which nobody is kept out by.
                Some(t) if t.virtual_rows.as_ref().is_some_and(|rows| rows.writes().update) => {}
                Some(_) if schema == PERFORMANCE_SCHEMA => {
                    return Err(self.denied_computed("SELECT, LOCK TABLES", table));
                }
                Some(t) if plan::dml::is_log_table(t) => return Err(err!(ER_CANT_LOCK_LOG_TABLE)),
                // A dump locks the others.
                Some(t) if t.is_virtual() && schema == MYSQL => {}
                Some(t) if t.is_virtual() => {
                    let account = &self.access().account().name;
                    return Err(err!(ER_DBACCESS_DENIED_ERROR, account.user, account.host, schema));
                }
                Some(_) if writes => version.check_writable(schema)?,
                Some(_) => {}
                None => return Err(err!(ER_NO_SUCH_TABLE, schema, table)),
            }
        }
        Ok(())
    }

    /// Gives back what LOCK TABLES took. False: nothing was.
    pub(crate) fn unlock_tables_alone(&mut self) -> bool {
        self.pins.release_where(|t| {
            t.duration == Duration::Explicit
                && match *t.name {
                    Name::Table(..) | Name::Schema(_) => true,
                    Name::Global | Name::BackupLock => t.mode == Mode::IntentionExclusive,
                    _ => false,
                }
        });
        let locked = self.locked.take();
        observe::add(Counter::HandlerExternalLock, locked.as_ref().map_or(0, |tables| tables.len() as u64));
        locked.is_some()
    }

    /// Data definition has dropped or renamed tables: LOCK TABLES goes on with those that are locked now.
    pub(crate) fn follow_locked_tables(&mut self) {
        let Some(locked) = &mut self.locked else { return };
        let tickets = self.pins.tickets();
        locked.retain(|l| tickets.iter().any(|t| *t.name == Name::table(&l.schema, &l.table)));
        for ticket in tickets {
            let Name::Table(schema, table) = &*ticket.name else { continue };
            if !locked.iter().any(|l| *l.schema == **schema && *l.table == **table) {
                let (schema, table) = (schema.to_string(), table.to_string());
                locked.push(LockedTable { schema, alias: table.clone(), table, write: true });
            }
        }
        if locked.is_empty() {
            self.unlock_tables_alone();
        }
    }

    /// Under LOCK TABLES, of a table that a statement reads by its own name. Error 1100.
    pub(crate) fn check_locked_name(&self, schema: &str, name: &str) -> Result<()> {
        let Some(locked) = self.locked.as_ref().filter(|_| !self.is_temporary(schema, name)) else { return Ok(()) };
        let is_it = |l: &LockedTable| l.schema == schema && l.table == name && l.alias.eq_ignore_ascii_case(name);
        if locked.iter().any(is_it) { Ok(()) } else { Err(err!(ER_TABLE_NOT_LOCKED, name)) }
    }

    /// Under LOCK TABLES a table that is not there is one that is not locked: 1146 becomes 1100.
    #[cold]
    pub(crate) fn missing_or_unlocked(&self, error: SqlError) -> SqlError {
        let name = error.message.split_once('.').and_then(|(_, rest)| rest.split_once('\''));
        match name {
            Some((table, _)) if error.code == ER_NO_SUCH_TABLE && self.locked.is_some() => {
                err!(ER_TABLE_NOT_LOCKED, table)
            }
            _ => error,
        }
    }

    /// UNLOCK TABLES: the global read lock too. With locked tables it commits, without it does not.
    pub(crate) fn unlock_tables(&mut self) -> Result<()> {
        if self.locked.is_some() {
            self.commit_all()?;
        }
        self.unlock_tables_alone();
        self.unlock_global();
        Ok(())
    }

    pub(crate) fn unlock_global(&mut self) {
        self.pins.release_where(|t| t.duration == Duration::Explicit && matches!(*t.name, Name::Global | Name::Commit));
    }

    /// FLUSH TABLES WITH READ LOCK: stops statements that write, then commits.
    pub(crate) fn lock_global(&mut self) -> Result<()> {
        let taken =
            self.lock_named(Name::Global, Mode::Shared).and_then(|()| self.lock_named(Name::Commit, Mode::Shared));
        if taken.is_err() {
            self.unlock_global();
        }
        taken
    }

    /// FLUSH TABLES in its forms.
    pub(crate) fn flush_tables(&mut self, parsed: &Parsed, tables: &[ObjectName], mode: FlushTables) -> Result<()> {
        match mode {
            FlushTables::Close if self.locked.as_ref().is_some_and(|l| l.iter().any(|t| !t.write)) => {
                let read = self.locked.iter().flatten().find(|t| !t.write).expect("one is read-locked");
                Err(err!(ER_TABLE_NOT_LOCKED_FOR_WRITE, read.alias))
            }
            // No table stays open between statements.
            FlushTables::Close => {
                self.rewind_handlers();
                self.commit_all()
            }
            FlushTables::WithReadLock if tables.is_empty() => {
                if self.locked.is_some() {
                    return Err(err!(ER_LOCK_OR_ACTIVE_TRANSACTION));
                }
                self.commit_all()?;
                self.lock_global()
            }
            FlushTables::WithReadLock => self.flush_with_read_lock(parsed, tables),
            FlushTables::ForExport => {
                for name in tables {
                    let (schema, table) = self.object(parsed, *name)?;
                    let version = self.catalog.get(self.server.catalog.cell());
                    let is_set_up = |t: &Table| t.virtual_rows.as_ref().is_some_and(|rows| rows.writes().update);
                    let is_of_another = |t: &Table| t.is_base() && t.engine != StorageEngine::InnoDb;
                    if version.table(&schema, &table).is_some_and(|t| is_of_another(t) || is_set_up(t)) {
                        return Err(err!(ER_ILLEGAL_HA, table));
                    }
                }
                self.flush_with_read_lock(parsed, tables)?;
                // All tables are in one file: there is none to copy.
                for name in tables {
                    let (schema, table) = self.object(parsed, *name)?;
                    let shown = format!("InnoDB: Table '`{schema}`.`{table}`' in system tablespace");
                    self.state.warn("Warning", ER_TABLE_IN_SYSTEM_TABLESPACE, shown);
                }
                Ok(())
            }
        }
    }

    /// SET GLOBAL read_only = ON: after the statements and commits that write now.
    pub(crate) fn while_nobody_writes(&mut self, change: impl FnOnce(&mut Session)) -> Result<()> {
        if self.locked.is_some() || self.tx.is_active() || self.transaction.explicit {
            return Err(err!(ER_LOCK_OR_ACTIVE_TRANSACTION));
        }
        let held = self.pins.holds(&Name::Global, Mode::Shared);
        if !held {
            self.lock_global()?;
        }
        change(self);
        if !held {
            self.unlock_global();
        }
        Ok(())
    }

    /// LOCK INSTANCE FOR BACKUP: no data definition until UNLOCK INSTANCE.
    pub(crate) fn lock_instance(&mut self) -> Result<()> {
        self.need(Action::Backup)?;
        self.lock_named(Name::BackupLock, Mode::Shared)
    }

    /// PURGE BINARY LOGS beside LOCK INSTANCE FOR BACKUP, this session's own too: error 4085.
    pub(crate) fn check_no_backup(&mut self) -> Result<()> {
        let is_own = |t: &catalog::mdl::Ticket| *t.name == Name::BackupLock && t.duration == Duration::Explicit;
        if self.pins.tickets().iter().any(is_own) {
            return Err(err!(ER_CANNOT_PURGE_BINLOG_WITH_BACKUP_LOCK));
        }
        let (pins, mut waiting) = self.waiting();
        waiting.timeout = std::time::Duration::ZERO;
        let name = Arc::new(Name::BackupLock);
        pins.lock(&name, Mode::IntentionExclusive, Duration::Statement, &mut waiting).map(drop).map_err(|e| {
            match e.code {
                ER_LOCK_WAIT_TIMEOUT => err!(ER_CANNOT_PURGE_BINLOG_WITH_BACKUP_LOCK),
                _ => e,
            }
        })
    }

    pub(crate) fn unlock_instance(&mut self) -> Result<()> {
        self.need(Action::Backup)?;
        self.pins.release_where(|t| t.duration == Duration::Explicit && *t.name == Name::BackupLock);
        Ok(())
    }

    /// All that was locked by name: the session starts over.
    pub(crate) fn unlock_all(&mut self) {
        self.unlock_tables_alone();
        self.pins.release_where(|_| true);
    }

    /// Under LOCK TABLES a statement uses what was locked, by the alias it was locked under. Errors 1099, 1100.
    #[cold]
    pub(crate) fn check_locked(&self, planned: &Planned) -> Result<()> {
        let Some(locked) = &self.locked else { return Ok(()) };
        let parsed = &planned.parsed;
        let mut used: Vec<(ObjectName, &str)> = Vec::new();
        let inserts = matches!(parsed.statement, Statement::Insert(_));
        if let Statement::Insert(insert) = &parsed.statement {
            used.push((insert.table, parsed.name(insert.table.name)));
        }
        for reference in parsed.table_refs() {
            if let TableRef::Table(factor) = reference {
                used.push((factor.name, parsed.name(factor.alias.unwrap_or(factor.name.name))));
            }
        }
        // Those of triggers are locked with their tables.
        let calls = planned.prepared.routines().iter().any(|r| r.kind == RoutineKind::Function);
        let by_routine = planned.prepared.tables().iter().filter(|t| calls && t.by_routine && !t.temporary);
        for t in by_routine.filter(|t| planned.pins.iter().any(|p| p.is_on(&t.schema, &t.table))) {
            let mut named = locked.iter().filter(|l| l.schema == t.schema && l.table == t.table).peekable();
            if named.peek().is_none() {
                return Err(err!(ER_TABLE_NOT_LOCKED, t.table));
            }
            if t.carried && !named.any(|l| l.write) {
                return Err(err!(ER_TABLE_NOT_LOCKED_FOR_WRITE, t.table));
            }
        }
        let version = self.catalog.peek();
        let is_view = |schema: &str, table: &str| version.table(schema, table).is_some_and(|t| t.view.is_some());
        for (at, (name, alias)) in used.iter().copied().enumerate() {
            let (schema, table) = self.object(parsed, name)?;
            // What is not among the tables is the name of a common table expression; computed tables need no lock.
            let use_ = planned.prepared.tables().iter().find(|t| t.schema == schema && t.table == table);
            let is_pinned = |t: &TableUse| planned.pins.iter().any(|p| p.is_on(&t.schema, &t.table));
            let Some(use_) = use_.filter(|t| is_pinned(t) || is_view(&t.schema, &t.table)) else {
                continue;
            };
            let mut matching =
                locked.iter().filter(|l| l.schema == schema && l.table == table && l.alias.eq_ignore_ascii_case(alias));
            if matching.clone().next().is_none() {
                return Err(err!(ER_TABLE_NOT_LOCKED, alias));
            }
            // An INSERT writes its target alone. Where a table stands more than once, one of its names has to be locked for writing.
            let writes = match inserts {
                true => at == 0,
                false => use_.update || use_.delete || use_.for_update,
            };
            let alone = inserts || used.iter().filter(|(other, _)| parsed.name(other.name) == table).count() == 1;
            let on_table = |l: &&LockedTable| l.schema == schema && l.table == table;
            let locked_to_write = match alone {
                true => matching.any(|l| l.write),
                false => locked.iter().filter(on_table).any(|l| l.write),
            };
            if writes && !locked_to_write {
                return Err(err!(ER_TABLE_NOT_LOCKED_FOR_WRITE, alias));
            }
        }
        Ok(())
    }
}
