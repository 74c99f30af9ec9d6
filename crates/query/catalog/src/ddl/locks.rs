//! The metadata locks of a data definition, and what others have committed before it got them.

use super::{Ddl, Lets, Touched, refuse_computed, refuse_system};
use crate::define::check_name;
use crate::error::from_engine;
use crate::mdl::{Duration, Mode, Name, Pin, Waiting};
use crate::schema::{Schema, Version};
use crate::table::Table;
use std::sync::Arc;
use types::codes::*;
use types::{Result, err};

impl Ddl<'_> {
    pub(crate) fn lock(&mut self, name: &Arc<Name>, mode: Mode, duration: Duration) -> Result<()> {
        assert!(!self.temporary, "temporary tables are locked by nobody");
        let mut waiting = Waiting { timeout: self.timeout, tx: self.tx };
        if matches!(**name, Name::Global | Name::BackupLock) {
            // Beside what the session may hold there by name.
            self.pins.lock(name, mode, duration, &mut waiting)?;
            return Ok(());
        }
        let explicit = self.pins.tickets().iter().find(|t| t.name == *name && t.duration == Duration::Explicit);
        match explicit.map(|t| t.mode) {
            Some(held) if held.covers(mode) => {}
            // Of LOCK TABLES: stronger until the statement ends.
            Some(_) => {
                self.pins.upgrade(name, mode, &mut waiting)?;
                self.upgraded.push(Arc::clone(name));
            }
            None if self.pins.tickets().iter().any(|t| t.name == *name) => {
                self.pins.upgrade(name, mode, &mut waiting)?;
            }
            None => {
                self.pins.lock(name, mode, duration, &mut waiting)?;
            }
        }
        Ok(())
    }

    /// LOCK TABLES is in force.
    pub(crate) fn locks_tables(&self) -> bool {
        self.pins.locks_tables()
    }

    /// Locks a schema, and takes over what others have done to it meanwhile.
    pub(super) fn lock_schema(&mut self, schema: &str, mode: Mode) -> Result<()> {
        if mode == Mode::Exclusive && self.pins.locks_tables() {
            return Err(err!(ER_LOCK_OR_ACTIVE_TRANSACTION));
        }
        self.lock(&Arc::new(Name::Schema(schema.into())), mode, Duration::Transaction)?;
        self.catch_up();
        Ok(())
    }

    /// Keeps a schema as it is until the end, for a change of what is in it. Error 3989 where that is READ ONLY.
    pub fn lock_to_define(&mut self, schema: &str) -> Result<()> {
        if self.temporary {
            return Ok(());
        }
        self.lock_schema(schema, Mode::IntentionExclusive)?;
        self.next.check_writable(schema)
    }

    /// Locks the name of a table, existing or not, that the statement defines, and takes over what others have done to it
    /// meanwhile. Under LOCK TABLES only what was locked for writing: errors 1099, 1100. Error 3989 where its schema is READ ONLY.
    pub(super) fn lock_name(&mut self, schema: &str, name: &str, mode: Mode) -> Result<()> {
        self.check_locked(schema, name)?;
        self.lock_to_define(schema)?;
        self.lock_new_name(schema, name, mode)
    }

    fn check_locked(&self, schema: &str, name: &str) -> Result<()> {
        if self.pins.locks_tables() && !self.temporary {
            let key = Name::table(schema, name);
            match self.pins.tickets().iter().find(|t| *t.name == key) {
                None => return Err(err!(ER_TABLE_NOT_LOCKED, name)),
                Some(t) if !t.mode.covers(Mode::SharedNoReadWrite) => {
                    return Err(err!(ER_TABLE_NOT_LOCKED_FOR_WRITE, name));
                }
                Some(_) => {}
            }
        }
        Ok(())
    }

    /// The other end of a foreign key, locked as by [`Ddl::lock_table`]: only the dictionary's note of the key changes, so its
    /// schema may be READ ONLY.
    pub(super) fn lock_related(&mut self, schema: &str, name: &str) -> Result<Arc<Table>> {
        self.base(schema, name, |ddl, schema, name| {
            ddl.check_locked(schema, name)?;
            ddl.lock_new_name(schema, name, Mode::Exclusive)?;
            ddl.found(schema, name)
        })
    }

    pub(crate) fn lock_new_name(&mut self, schema: &str, name: &str, mode: Mode) -> Result<()> {
        if self.temporary {
            return Ok(());
        }
        self.lock_schema(schema, Mode::IntentionExclusive)?;
        self.lock(&Arc::new(Name::table(schema, name)), mode, Duration::Transaction)?;
        self.catch_up();
        Ok(())
    }

    /// Locks several names against everybody, in one order for all statements. Errors 1205, 1213, 1317.
    pub fn lock_names(&mut self, names: &[(String, String)]) -> Result<()> {
        let mut sorted: Vec<_> = names.iter().collect();
        sorted.sort();
        sorted.into_iter().try_for_each(|(schema, name)| self.lock_name(schema, name, Mode::Exclusive))
    }

    /// A base table, locked against everybody until the end. Errors 1146, 1205, 1213, 1317, 1347.
    pub fn lock_table(&mut self, schema: &str, name: &str) -> Result<Arc<Table>> {
        self.base(schema, name, Ddl::lock_any)
    }

    pub(super) fn base(
        &mut self,
        schema: &str,
        name: &str,
        lock: impl FnOnce(&mut Self, &str, &str) -> Result<Arc<Table>>,
    ) -> Result<Arc<Table>> {
        let table = lock(self, schema, name)?;
        match table.view {
            Some(_) => Err(err!(ER_WRONG_OBJECT, schema, name, "BASE TABLE")),
            None => Ok(table),
        }
    }

    /// As [`Ddl::lock_table`], for a view too.
    pub fn lock_any(&mut self, schema: &str, name: &str) -> Result<Arc<Table>> {
        self.lock_name(schema, name, Mode::Exclusive)?;
        self.found(schema, name)
    }

    /// A table that others may use as `lets` says until the commit, which then waits for them. Errors as [`Ddl::lock_table`].
    pub fn lock_to_alter(&mut self, schema: &str, name: &str, lets: Lets) -> Result<Arc<Table>> {
        self.lock_name(schema, name, Mode::SharedUpgradable)?;
        self.base(schema, name, |ddl, schema, name| ddl.found(schema, name))?;
        match lets {
            Lets::Write => {}
            Lets::Read => self.lock_name(schema, name, Mode::SharedNoWrite)?,
            Lets::Nothing => self.lock_name(schema, name, Mode::Exclusive)?,
        }
        let table = self.found(schema, name)?;
        if !self.temporary {
            self.shared.push(Arc::new(Name::table(schema, name)));
            self.await_rollbacks(&table)?;
        }
        Ok(table)
    }

    /// The lock keeps transactions out that have changed rows, but for those that are undone in the background: a copy would take
    /// over what they have not undone yet. As in MySQL, where such a transaction holds locks on its tables, this goes for changes in
    /// an instant too. Errors 1205, 1317, and what reading the undo of such a transaction comes to.
    fn await_rollbacks(&self, table: &Table) -> Result<()> {
        let trees: Vec<_> = table.indexes.iter().map(|index| index.tree).collect();
        self.tx.await_rollbacks(&trees, self.timeout).map_err(from_engine)
    }

    /// A table of which more is to be known, and nothing else changes: others go on using it, before the commit and after.
    /// Its schema may be READ ONLY. Errors as [`Ddl::lock_table`].
    pub fn lock_to_sample(&mut self, schema: &str, name: &str) -> Result<Arc<Table>> {
        self.base(schema, name, |ddl, schema, name| {
            ddl.check_locked(schema, name)?;
            ddl.lock_new_name(schema, name, Mode::SharedUpgradable)?;
            ddl.found(schema, name)
        })
    }

    /// May writers go on while this statement alters tables? Not under LOCK TABLES, and nobody else knows temporary ones.
    pub fn lets_write(&self) -> bool {
        !self.temporary && !self.pins.locks_tables()
    }

    /// Keeps everybody from a table that was locked by [`Ddl::lock_to_alter`] with [`Lets::Write`], for a moment or until the
    /// commit. Errors 1205, 1213, 1317.
    pub fn shut_out(&mut self, table: &Table) -> Result<()> {
        self.lock(&Arc::new(Name::table(&table.schema, &table.name)), Mode::Exclusive, Duration::Transaction)?;
        self.await_rollbacks(table)
    }

    /// Lets them in again.
    pub fn let_in(&mut self, table: &Table) {
        self.pins.downgrade(&Name::table(&table.schema, &table.name), Mode::SharedUpgradable);
    }

    pub(super) fn found(&self, schema: &str, name: &str) -> Result<Arc<Table>> {
        let table = self.next.table(schema, name).cloned().ok_or_else(|| err!(ER_NO_SUCH_TABLE, schema, name))?;
        if table.is_virtual() {
            refuse_system(&self.next, schema)?;
        }
        refuse_computed(&self.next, schema)?;
        Ok(table)
    }

    /// Locks the name of a table to be made, of which nobody may have made one. Errors 1049, 1050, 1059, 1100, 1103, 1205, 1213, 1317,
    /// 3989.
    pub fn lock_to_create(&mut self, schema: &str, name: &str) -> Result<()> {
        check_name(name, ER_WRONG_TABLE_NAME)?;
        // A table that is there is not waited for. Behind the lock on the schema it may be gone.
        if self.exists(schema, name) {
            self.lock_to_define(schema)?;
        }
        if !self.exists(schema, name) {
            self.lock_name(schema, name, Mode::Exclusive)?;
        }
        self.next.schema(schema).ok_or_else(|| err!(ER_BAD_DB_ERROR, schema))?;
        if self.exists(schema, name) {
            return Err(err!(ER_TABLE_EXISTS_ERROR, name));
        }
        refuse_computed(&self.next, schema)
    }

    /// Is there a table of this name among those that the statement changes?
    pub(super) fn exists(&self, schema: &str, name: &str) -> bool {
        match self.temporary {
            true => self.next.temporary_table(schema, name).is_some(),
            false => self.next.base_table(schema, name).is_some(),
        }
    }

    /// Pins tables that the statement reads beside what it makes: until it ends nobody changes their definitions, and
    /// [`Ddl::version`] has them as they are. `rows` are those that nobody changes meanwhile, of tables that are not transactional.
    /// Errors 1205, 1213, 1317.
    pub fn pin_to_read(&mut self, pins: &[Pin], rows: &[Arc<Name>]) -> Result<()> {
        while !self.pins.pin(pins, false, Waiting { timeout: self.timeout, tx: self.tx })? {}
        for name in rows {
            self.lock(name, Mode::SharedReadOnly, Duration::Statement)?;
        }
        self.catch_up();
        Ok(())
    }

    /// Takes over what other statements have committed since the copy of the dictionary was made. Nothing of it is what this
    /// statement has locked.
    pub(crate) fn catch_up(&mut self) {
        let current = self.catalog.current();
        if current.number + 1 == self.next.number {
            return;
        }
        let provisional = self.next.number;
        let mut next = Version::clone(&current);
        next.number = current.number + 1;
        for touched in &self.touched {
            match touched {
                Touched::Schema(name) => match (self.next.schemas.get(name), next.schemas.get_mut(name)) {
                    (Some(mine), Some(schema)) => {
                        let schema = Arc::make_mut(schema);
                        schema.default_collation = mine.default_collation;
                        (schema.read_only, schema.encrypts) = (mine.read_only, mine.encrypts);
                    }
                    // Its tables follow.
                    (Some(mine), None) => {
                        let schema = Schema { encrypts: mine.encrypts, ..Schema::new(name, mine.default_collation) };
                        next.schemas.insert(name.clone(), Arc::new(schema));
                    }
                    (None, _) => {
                        next.schemas.remove(name);
                    }
                },
                Touched::Routine(schema, key) => {
                    let routine = self.next.schemas.get(schema).and_then(|s| s.routines.get(key)).cloned();
                    match routine.filter(|_| next.schemas.contains_key(schema)) {
                        Some(routine) => next.insert_routine(routine),
                        None => next.remove_routine(schema, key),
                    }
                }
                Touched::Event(schema, key) => {
                    let event = self.next.schemas.get(schema).and_then(|s| s.events.get(key)).cloned();
                    match event.filter(|_| next.schemas.contains_key(schema)) {
                        Some(event) => next.insert_event(event),
                        None => next.remove_event(schema, key),
                    }
                }
                Touched::Table(schema, name) => {
                    next.remove_table(schema, name);
                    let table = self.next.schemas.get(schema).and_then(|s| s.tables.get(name)).cloned();
                    if let Some(mut table) = table
                        && next.schemas.contains_key(schema)
                    {
                        if table.readable_since == provisional {
                            Arc::make_mut(&mut table).readable_since = next.number;
                        }
                        next.insert_table(table);
                    }
                }
            }
        }
        self.next = next;
    }

    /// LOCK TABLES goes on after the statement: with its own locks, without dropped tables, with renamed ones under their
    /// new names.
    pub(super) fn settle_locked_tables(&mut self) {
        if !self.pins.locks_tables() {
            return;
        }
        for name in std::mem::take(&mut self.upgraded) {
            self.pins.downgrade(&name, Mode::SharedNoReadWrite);
        }
        if !self.committed {
            return;
        }
        let version = self.catalog.current();
        for touched in std::mem::take(&mut self.touched) {
            let Touched::Table(schema, table) = touched else { continue };
            let name = Name::table(&schema, &table);
            if version.table(&schema, &table).is_some() {
                self.pins.keep_locked(&name, Mode::SharedNoReadWrite);
            } else {
                self.pins.release_where(|t| *t.name == name);
            }
        }
    }
}
