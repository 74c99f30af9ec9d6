//! Data definition, atomic across a crash.
//!
//! A [`Ddl`] collects changes to a copy of the dictionary while it writes them through one engine transaction;
//! [`Ddl::commit`] makes both happen. Dropped without commit, it rolls back. The caller has committed the session's own
//! transaction before (implicit commit), so the session pins nothing but what LOCK TABLES locked.
//!
//! Statements on different tables run side by side: metadata locks on the names keep them apart, and only the commit is one at
//! a time. What others have committed meanwhile is taken over under each new lock and before the commit.

mod again;
mod computed;
mod events;
mod locks;
mod routines;
mod triggers;

pub use again::spec_of;

use crate::column::{Column, eq_name};
use crate::define::{ForeignKeySpec, KeySpec, PAGE_ROW_BYTES, TableSpec, check_name, outgrows_page, plan_index};
use crate::dictionary::{self, Kind};
use crate::error::from_engine;
use crate::index::{Index, IndexPart, counting};
use crate::live::{Catalog, DdlState};
use crate::mdl::{Duration, Mode, Name};
use crate::routine::RoutineKey;
use crate::rules::{CHECK_INFIX, Demands, FOREIGN_KEY_INFIX, follow_rename, parent_index};
use crate::schema::{MYSQL, PartKind, Schema, TemporaryTables, Version};
use crate::table::{Check, ForeignKey, Table, TableName, View};
use crate::{CreateOptions, Evolution, HIDDEN_INDEX, MetadataPins, StorageEngine, stored};
use again::key_of;
use engine::{Engine, Isolation, Transaction, TreeKind};
use std::sync::Arc;
use std::time::SystemTime;
use sync::MutexGuard;
use sync::waits::Wait;
use types::codes::*;
use types::collation::CollationId;
use types::row::RowLayout;
use types::{DataType, Result, Value, err};

/// What a statement has changed in its copy of the dictionary, to be taken over into a newer one.
pub(crate) enum Touched {
    Schema(String),
    Table(String, String),
    Routine(String, RoutineKey),
    /// By its name in lower case.
    Event(String, String),
}

/// What ALTER DATABASE says of a schema.
#[derive(Clone, Copy, Debug, Default)]
pub struct SchemaChange {
    pub collation: Option<CollationId>,
    pub encrypts: Option<bool>,
    pub read_only: Option<bool>,
}

/// What others may do with a table while it is altered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lets {
    Write,
    Read,
    Nothing,
}

/// A data definition statement in progress.
pub struct Ddl<'a> {
    pub(crate) catalog: &'a Catalog,
    tx: &'a mut Transaction,
    pins: &'a mut MetadataPins,
    /// The dictionary as it will be.
    next: Version,
    touched: Vec<Touched>,
    /// Tables that are readable by others until the commit.
    shared: Vec<Arc<Name>>,
    /// Tables of LOCK TABLES that were locked stronger than that.
    upgraded: Vec<Arc<Name>>,
    timeout: std::time::Duration,
    /// Of new foreign keys. Where they have to fit, parents stay.
    foreign_keys: Demands,
    /// Of the session's temporary tables: nobody else knows them, so nothing is locked and the shared dictionary stays.
    temporary: bool,
    committed: bool,
}

impl Catalog {
    /// Waits for the commit of another definition, and so for its flush, which a full disk may hold up. Error 1317.
    fn lock_ddl(&self) -> Result<MutexGuard<'_, DdlState>> {
        self.ddl.lock_or_end(Wait::CatalogDdlMutex).ok_or_else(|| from_engine(engine::Error::Interrupted))
    }

    /// Begins a data definition statement: waits for global read locks and backups (1205, 1317) and begins its transaction in
    /// `tx`, which must not be active. Error 1223 when the session itself holds the global read lock.
    ///
    /// `isolation`: of what the statement reads of tables that it has not locked. [`Isolation::ReadUncommitted`] for all but CREATE
    /// TABLE ... SELECT: nobody else writes the tables that a statement has locked, so the newest version of a row is the only one in
    /// progress, and index builds and copies read without a lock object for each row.
    pub fn begin_ddl<'a>(
        &'a self,
        tx: &'a mut Transaction,
        pins: &'a mut MetadataPins,
        timeout: std::time::Duration,
        isolation: Isolation,
    ) -> Result<Ddl<'a>> {
        assert!(!tx.is_active(), "DDL commits implicitly before it begins");
        assert!(pins.is_empty(), "a session that begins DDL uses no table");
        pins.check_protection()?;
        let mut next = Version::clone(&self.current());
        next.number += 1;
        let mut ddl = Ddl {
            catalog: self,
            tx,
            pins,
            next,
            touched: Vec::new(),
            shared: Vec::new(),
            upgraded: Vec::new(),
            timeout,
            foreign_keys: Demands { fitting: true, unique: true, not_unique: Vec::new() },
            temporary: false,
            committed: false,
        };
        ddl.lock(&Arc::new(Name::Global), Mode::IntentionExclusive, Duration::Statement)?;
        ddl.lock(&Arc::new(Name::BackupLock), Mode::IntentionExclusive, Duration::Transaction)?;
        ddl.tx.begin(isolation, false);
        Ok(ddl)
    }

    /// Begins a change of a session's temporary tables, those in `version`. `tx` is not the session's transaction, which may
    /// go on. Ends with [`Ddl::commit_temporary`].
    pub fn begin_temporary<'a>(
        &'a self,
        tx: &'a mut Transaction,
        pins: &'a mut MetadataPins,
        version: &Version,
    ) -> Ddl<'a> {
        assert!(!tx.is_active(), "a transaction of its own");
        // Read uncommitted: the session alone writes these tables, and no transaction of it runs when rows are read.
        tx.begin(Isolation::ReadUncommitted, false);
        Ddl {
            catalog: self,
            tx,
            pins,
            next: version.clone(),
            touched: Vec::new(),
            shared: Vec::new(),
            upgraded: Vec::new(),
            timeout: std::time::Duration::ZERO,
            foreign_keys: Demands { fitting: true, unique: true, not_unique: Vec::new() },
            temporary: true,
            committed: false,
        }
    }
}

impl Ddl<'_> {
    /// `SET foreign_key_checks = 0`: parents may be missing or misfit, and may go.
    pub fn ignore_foreign_keys(&mut self) {
        self.foreign_keys.fitting = false;
    }

    /// `SET restrict_fk_on_non_standard_key = 0`: foreign keys may refer to columns that are not unique.
    pub fn allow_any_parent_key(&mut self) {
        self.foreign_keys.unique = false;
    }

    /// Names of the new foreign keys that refer to columns that are not unique.
    pub fn take_not_unique(&mut self) -> Vec<String> {
        std::mem::take(&mut self.foreign_keys.not_unique)
    }

    /// See [`TableSpec::take_checks`].
    pub fn take_checks(&self, spec: &mut TableSpec) -> Result<Vec<Check>> {
        spec.take_checks((!self.temporary).then_some(&self.next))
    }

    /// See [`TableSpec::take_foreign_keys`].
    pub fn take_foreign_keys(
        &mut self,
        spec: &mut TableSpec,
        indexes: &[Index],
        kept: &[ForeignKey],
    ) -> Result<Vec<ForeignKey>> {
        spec.take_foreign_keys(&self.next, indexes, &mut self.foreign_keys, kept)
    }

    pub fn checks_foreign_keys(&self) -> bool {
        self.foreign_keys.fitting
    }

    /// The dictionary as it will be after the commit.
    pub fn version(&self) -> &Version {
        &self.next
    }

    pub fn engine(&self) -> &Arc<Engine> {
        &self.catalog.engine
    }

    /// The transaction that the statement runs in: for filling new trees.
    pub fn tx(&mut self) -> &mut Transaction {
        self.tx
    }

    /// CREATE DATABASE. Errors 1007, 1059, 1102.
    pub fn create_schema(&mut self, name: &str, collation: CollationId, encrypts: bool) -> Result<()> {
        check_name(name, ER_WRONG_DB_NAME)?;
        self.lock_schema(name, Mode::Exclusive)?;
        if self.next.schema(name).is_some() {
            return Err(err!(ER_DB_CREATE_EXISTS, name));
        }
        self.put_schema(Schema { encrypts, ..Schema::new(name, collation) })
    }

    /// ALTER DATABASE. It waits for all who use a table of the schema until the end of their transactions, and keeps others out.
    /// Of a schema that is READ ONLY nothing else can be said, unless the statement also ends that.
    /// Errors 1049, 1192, 1205, 1213, 1317, 3552, 3989.
    pub fn alter_schema(&mut self, name: &str, change: SchemaChange) -> Result<()> {
        self.lock_schema(name, Mode::Exclusive)?;
        let schema = self.next.schema(name).ok_or_else(|| err!(ER_BAD_DB_ERROR, name))?;
        refuse_system(&self.next, name)?;
        if change.read_only != Some(false) && (change.collation.is_some() || change.encrypts.is_some()) {
            self.next.check_writable(name)?;
        }
        let tables: Vec<String> = schema.tables.keys().cloned().collect();
        for table in tables {
            self.lock(&Arc::new(Name::table(name, &table)), Mode::Exclusive, Duration::Transaction)?;
        }
        self.catch_up();
        let mut schema = Schema::clone(self.next.schema(name).expect("it is locked"));
        schema.default_collation = change.collation.unwrap_or(schema.default_collation);
        schema.read_only = change.read_only.unwrap_or(schema.read_only);
        schema.encrypts = change.encrypts.unwrap_or(schema.encrypts);
        self.put_schema(schema)
    }

    fn put_schema(&mut self, schema: Schema) -> Result<()> {
        let tree = self.catalog.engine.dictionary();
        dictionary::put(self.tx, tree, Kind::Schema, "", &schema.name, &stored::write_schema(&schema))?;
        self.touched.push(Touched::Schema(schema.name.clone()));
        self.next.schemas.insert(schema.name.clone(), Arc::new(schema));
        Ok(())
    }

    /// DROP DATABASE with all its tables; returns how many. Errors 1008, 1059, 1102, 1205, 3552, 3989.
    pub fn drop_schema(&mut self, name: &str) -> Result<u64> {
        check_name(name, ER_WRONG_DB_NAME)?;
        self.lock_schema(name, Mode::Exclusive)?;
        let schema = self.next.schema(name).cloned().ok_or_else(|| err!(ER_DB_DROP_EXISTS, name))?;
        refuse_system(&self.next, name)?;
        self.next.check_writable(name)?;
        // Tables whose foreign keys lead here from elsewhere keep the schema; those inside go together.
        for table in schema.tables.values() {
            self.refuse_referenced(table, |child| child.schema != name)?;
        }
        for table in schema.tables.values() {
            match table.view {
                Some(_) => self.drop_view(name, &table.name)?,
                None => self.drop_unreferenced(name, &table.name)?,
            }
        }
        self.drop_routines(name)?;
        self.drop_events(name)?;
        dictionary::remove(self.tx, self.catalog.engine.dictionary(), Kind::Schema, "", name)?;
        self.touched.push(Touched::Schema(name.to_string()));
        self.next.schemas.remove(name);
        Ok(schema.tables.len() as u64)
    }

    /// CREATE TABLE. Errors 1050, 1049 and those of the definition.
    pub fn create_table(&mut self, spec: TableSpec) -> Result<Arc<Table>> {
        self.lock_to_create(&spec.schema, &spec.name)?;
        let id = self.new_id()?;
        let table = self.build_table(spec, id, None)?;
        self.put_table(table)
    }

    /// A table id, never given before. Error 1317.
    pub(crate) fn new_id(&self) -> Result<u64> {
        let mut state = self.catalog.lock_ddl()?;
        state.last_table += 1;
        let (id, engine) = (state.last_table, &self.catalog.engine);
        // At once, and durable with the commit.
        engine.raise_counter(engine.dictionary(), id).map_err(from_engine)?;
        Ok(id)
    }

    /// A table with new trees from a definition: for CREATE TABLE, and for changes that rebuild.
    /// `old`: the table as it was, if it was, and whether its rows stay without being asked for their parents.
    fn build_table(&mut self, mut spec: TableSpec, id: u64, old: Option<(&Table, bool)>) -> Result<Table> {
        if self.temporary && !spec.foreign_keys.is_empty() {
            return Err(err!(ER_CANNOT_ADD_FOREIGN));
        }
        let plans = spec.plan()?;
        // In other servers rows of these two would not be written at all.
        let in_memory = self.temporary || spec.engine == StorageEngine::Memory;
        let encrypted = spec.create_options.is_encrypted() || in_memory && self.catalog.engine.encrypts();
        let mut indexes = Vec::with_capacity(plans.len());
        for (i, plan) in plans.into_iter().enumerate() {
            let kind = if i == 0 { TreeKind::Clustered } else { TreeKind::Secondary };
            let tree = self.catalog.engine.create_tree_as(self.tx, kind, encrypted).map_err(from_engine)?;
            indexes.push(Index {
                name: plan.name,
                unique: plan.unique,
                primary: plan.primary,
                invisible: plan.invisible,
                for_foreign_key: plan.for_foreign_key,
                // The types may have become NOT NULL since the plan was made.
                array_part: Index::array_part_of(&plan.parts, &spec.columns),
                parts: retype(plan.parts, &spec.columns),
                tree,
                algorithm: plan.algorithm,
                comment: plan.comment,
            });
        }
        let types: Vec<DataType> = spec.columns.iter().map(|c| c.data_type).collect();
        let kept = old.map_or(&[][..], |(old, _)| &old.foreign_keys[..]);
        let unasked = if old.is_some_and(|(_, stay)| stay) { kept } else { &[] };
        self.lock_parents(&spec.foreign_keys, id, unasked)?;
        let checks = self.take_checks(&mut spec)?;
        let foreign_keys = self.take_foreign_keys(&mut spec, &indexes, kept)?;
        let mut table = Table {
            id,
            version: 1,
            schema: spec.schema,
            name: spec.name,
            layout: RowLayout::new(&types),
            evolution: None,
            columns: spec.columns,
            indexes,
            checks,
            foreign_keys,
            auto_increment: None,
            row_ids: None,
            default_collation: spec.default_collation,
            comment: spec.comment,
            engine: spec.engine,
            create_options: spec.create_options,
            created: now(),
            readable_since: self.next.number,
            row_log: Default::default(),
            statistics: Default::default(),
            temporary: false,
            virtual_rows: None,
            view: None,
            triggers: old.map_or_else(Vec::new, |(old, _)| old.triggers.clone()),
        };
        stored::attach_counters(&mut table);
        if let (Some(start), Some(counter)) = (spec.auto_increment, &table.auto_increment) {
            counter.reset(&self.catalog.engine, start.max(1)).map_err(from_engine)?;
        }
        Ok(table)
    }

    /// Keeps everybody from the parents of a table's new foreign keys: their rows are looked up from now on, so their statements plan
    /// anew. Those of keys that are `kept` know the table. Errors 1205, 1213, 1317.
    pub fn lock_parents(&mut self, keys: &[ForeignKeySpec], id: u64, kept: &[ForeignKey]) -> Result<()> {
        for key in keys {
            let parent = self.next.table(&key.parent.0, &key.parent.1);
            if parent.is_some_and(|t| t.is_base() && t.id != id) && !kept.iter().any(|k| key.is_kept(k)) {
                self.lock_related(&key.parent.0, &key.parent.1)?;
            }
        }
        Ok(())
    }

    /// ALTER TABLE that changes columns or the primary key: a table with the same id and name and new, empty trees. The
    /// caller copies the rows from `old` into it, through [`Ddl::tx`], before the commit. Counting goes on, unless `recounts`.
    /// `in_place`: rows are not asked for their parents, which others go on using.
    pub fn rebuild_table(
        &mut self,
        old: &Table,
        spec: TableSpec,
        recounts: bool,
        in_place: bool,
    ) -> Result<Arc<Table>> {
        let keep = match (spec.auto_increment, &old.auto_increment) {
            (asked, _) if recounts => asked,
            // Where inserts go on, `count_on` looks again.
            (None, Some(counter)) => Some(counter.next(&self.catalog.engine).map_err(from_engine)?),
            (asked, _) => asked,
        };
        let spec = TableSpec { auto_increment: keep, schema: old.schema.clone(), name: old.name.clone(), ..spec };
        let mut table = self.build_table(spec, old.id, Some((old, in_place)))?;
        table.version = old.version + 1;
        table.created = old.created;
        let gone = old.named_indexes().find(|i| !table.indexes.iter().any(|n| n.name == i.name));
        if let Some(gone) = gone.filter(|_| self.foreign_keys.fitting) {
            self.refuse_needed_index(old, &table, &gone.name)?;
        }
        self.drop_trees(old)?;
        self.put_table(table)
    }

    /// The counters of a rebuilt table go on where those of the old one have come to while its rows were written anew; that of an
    /// AUTO_INCREMENT column unless it begins anew. Nobody uses the table.
    pub fn count_on(&self, old: &Table, new: &Table, with_auto_increment: bool) -> Result<()> {
        let auto = new.columns.iter().find(|c| c.auto_increment).filter(|_| with_auto_increment);
        let largest = auto.map_or(0, |c| c.data_type.integer_bounds().1);
        let auto = auto.and(old.auto_increment.as_ref().zip(new.auto_increment.as_ref())).map(|both| (both, largest));
        let ids = old.row_ids.as_ref().zip(new.row_ids.as_ref()).map(|both| (both, u64::MAX));
        for ((was, is), largest) in auto.into_iter().chain(ids) {
            // The table is locked, no insert runs.
            let last = was.next(&self.catalog.engine).map_err(from_engine)?.saturating_sub(1);
            is.observe(&self.catalog.engine, last, largest).map_err(from_engine)?;
        }
        Ok(())
    }

    /// ALTER TABLE of what needs no rebuild (comment, defaults, names): `change` gets a copy.
    pub fn alter_table(&mut self, old: &Table, change: impl FnOnce(&mut Table)) -> Result<Arc<Table>> {
        let mut table = old.clone();
        change(&mut table);
        assert!(table.id == old.id && table.schema == old.schema && table.name == old.name);
        if table.columns.len() != old.columns.len() {
            // A column came or went: older snapshots have rows of the old kind.
            table.readable_since = self.next.number;
        }
        table.version += 1;
        self.put_table(table)
    }

    /// ALTER TABLE that adds and drops columns and leaves the rows as they are: see [`crate::evolution`]. `from[i]` is the old
    /// position of column `i` of `columns`, or nothing and the next of the values `initial`. No dropped column is part of an index
    /// or a foreign key.
    pub fn evolve_table(
        &mut self,
        old: &Table,
        mut columns: Vec<Column>,
        from: &[Option<usize>],
        initial: Vec<Value<'static>>,
    ) -> Result<Arc<Table>> {
        let mut from = from.to_vec();
        // The row id stays the last.
        if let Some(at) = old.columns.iter().position(Column::is_row_id) {
            from.push(Some(at));
            columns.push(old.columns[at].clone());
        }
        let adds = from.iter().any(Option::is_none);
        if adds && old.engine == StorageEngine::InnoDb && outgrows_page(&columns) {
            return Err(err!(ER_TOO_BIG_ROWSIZE, PAGE_ROW_BYTES));
        }
        let now = |was: usize| from.iter().position(|f| *f == Some(was)).expect("columns of keys stay");
        let evolution = Evolution::after(old.evolution.as_ref(), &old.columns, &from, initial);
        let layout = evolution.layout(&columns).expect("a column for each place");
        self.alter_table(old, |t| {
            t.indexes.iter_mut().flat_map(|i| &mut i.parts).for_each(|p| p.column = now(p.column));
            t.foreign_keys.iter_mut().flat_map(|k| &mut k.columns).for_each(|c| *c = now(*c));
            (t.columns, t.layout, t.evolution) = (columns, layout, Some(evolution));
        })
    }

    /// Foreign keys on a table name its columns as they are called now.
    pub fn rename_parent_columns(&mut self, parent: &Table, renamed: &[(String, String)]) -> Result<()> {
        let name = |t: &Arc<Table>| (t.schema.clone(), t.name.clone());
        let children: Vec<TableName> = self.next.children(&parent.schema, &parent.name).map(name).collect();
        for (schema, name) in children {
            let child = self.lock_related(&schema, &name)?;
            self.alter_table(&child, |t| {
                let leads = |k: &&mut ForeignKey| k.parent.0 == parent.schema && k.parent.1 == parent.name;
                for column in t.foreign_keys.iter_mut().filter(leads).flat_map(|k| &mut k.parent_columns) {
                    if let Some((_, new)) = renamed.iter().find(|(old, _)| eq_name(old, column)) {
                        column.clone_from(new);
                    }
                }
            })?;
        }
        Ok(())
    }

    /// CREATE INDEX: the index is empty; the caller fills it through [`Ddl::tx`] before the commit.
    /// Errors 1061, 1069, 1071, 1072, ...
    pub fn create_index(&mut self, old: &Table, mut key: KeySpec) -> Result<(Arc<Table>, usize)> {
        let mut names = TableSpec { keys: Vec::new(), ..spec_of(old) };
        let kept = old.named_indexes().filter(|i| !i.name.ends_with(REPLACED));
        names.keys = kept.map(key_of(old)).chain([key.clone()]).collect();
        // Checks names and count, makes up a name, and tells the order.
        let order = names.plan()?;
        key.name = names.keys.last().expect("the new key is the last").name.clone();
        let plan = plan_index(&old.columns, &key, old.engine)?;
        let encrypted = old.indexes[0].tree.is_encrypted();
        let kind = TreeKind::Secondary;
        let tree = self.catalog.engine.create_tree_as(self.tx, kind, encrypted).map_err(from_engine)?;
        let mut table = old.clone();
        let unique = plan.unique;
        let before: Vec<&str> = order.iter().map(|i| i.name.as_str()).take_while(|n| *n != plan.name).collect();
        let last = table.indexes.iter().rposition(|i| before.contains(&i.name.as_str()));
        let at = last.map_or(1, |last| last + 1);
        let index = Index {
            name: plan.name,
            unique,
            primary: false,
            invisible: plan.invisible,
            for_foreign_key: plan.for_foreign_key,
            array_part: Index::array_part_of(&plan.parts, &old.columns),
            parts: plan.parts,
            tree,
            algorithm: plan.algorithm,
            comment: plan.comment,
        };
        table.indexes.insert(at, index);
        table.version += 1;
        table.readable_since = self.next.number;
        Ok((self.put_table(table)?, at))
    }

    /// DROP INDEX of a secondary index. Error 1091, 1075.
    pub fn drop_index(&mut self, old: &Table, name: &str) -> Result<Arc<Table>> {
        let at = old.indexes.iter().position(|i| eq_name(&i.name, name) && i.name != HIDDEN_INDEX);
        let at = at.ok_or_else(|| err!(ER_CANT_DROP_FIELD_OR_KEY, name))?;
        assert!(at > 0, "dropping the primary key rebuilds the table");
        let mut table = old.clone();
        let dropped = table.indexes.remove(at);
        self.refuse_needed_index(old, &table, dropped.name.trim_end_matches(REPLACED))?;
        if let Some(counter) = &table.auto_increment
            && counter.tree == dropped.tree
        {
            // Another index has to start with the column, and takes over the counter.
            let column = table.columns.iter().position(|c| c.auto_increment).expect("the counter's column");
            let next = counter.next(&self.catalog.engine).map_err(from_engine)?;
            let other = counting(table.indexes.iter().map(|i| &i.parts[..]), column, table.engine);
            let other = &table.indexes[other.ok_or_else(|| err!(ER_WRONG_AUTO_KEY))?];
            let engine = &self.catalog.engine;
            engine.raise_counter(other.tree, next).map_err(from_engine)?;
            table.auto_increment = Some(Arc::new(crate::AutoIncrement::new(other.tree)));
        }
        self.catalog.engine.drop_tree(self.tx, dropped.tree).map_err(from_engine)?;
        table.version += 1;
        self.put_table(table)
    }

    /// RENAME TABLE, of a view too. Foreign keys on the table, and made-up names of its own, follow. The new name is looked
    /// at first: errors 1049, 1050, 1146. Error 3989 before those where either schema is READ ONLY.
    pub fn rename_table(&mut self, from: (&str, &str), to: (&str, &str)) -> Result<Arc<Table>> {
        check_name(to.1, ER_WRONG_TABLE_NAME)?;
        self.lock_to_define(from.0)?;
        self.lock_to_define(to.0)?;
        self.lock_new_name(to.0, to.1, Mode::Exclusive)?;
        self.next.schema(to.0).ok_or_else(|| err!(ER_BAD_DB_ERROR, to.0))?;
        if self.exists(to.0, to.1) {
            return Err(err!(ER_TABLE_EXISTS_ERROR, to.1));
        }
        let old = self.lock_any(from.0, from.1)?;
        refuse_computed(&self.next, to.0)?;
        if old.view.is_some() && from.0 != to.0 {
            return Err(err!(ER_FORBID_SCHEMA_CHANGE, from.0, to.0));
        }
        if !old.triggers.is_empty() && from.0 != to.0 {
            return Err(err!(ER_TRG_IN_WRONG_SCHEMA));
        }
        let children: Vec<TableName> =
            self.next.children(from.0, from.1).map(|t| (t.schema.clone(), t.name.clone())).collect();
        self.forget(&old)?;
        let mut table = Table::clone(&old);
        (table.schema, table.name) = (to.0.to_string(), to.1.to_string());
        table.version += 1;
        for check in &mut table.checks {
            follow_rename(&mut check.name, from.1, to.1, CHECK_INFIX);
        }
        for key in &mut table.foreign_keys {
            follow_rename(&mut key.name, from.1, to.1, FOREIGN_KEY_INFIX);
        }
        self.check_part_names(&table)?;
        let renamed = self.put_table(table)?;
        for (schema, name) in children {
            let itself = (schema.as_str(), name.as_str()) == from;
            let (schema, name) = if itself { to } else { (schema.as_str(), name.as_str()) };
            let child = self.lock_related(schema, name)?;
            self.alter_table(&child, |t| {
                for key in t.foreign_keys.iter_mut().filter(|k| (k.parent.0.as_str(), k.parent.1.as_str()) == from) {
                    key.parent = (to.0.to_string(), to.1.to_string());
                }
            })?;
        }
        Ok(renamed)
    }

    /// Errors 1826 and 3822: another table of the schema has a constraint of the name that one of a renamed table would have.
    fn check_part_names(&self, table: &Table) -> Result<()> {
        let schema = self.next.schema(&table.schema).expect("the caller has found the schema");
        if let Some(key) = table.foreign_keys.iter().find(|k| schema.table_of(PartKind::ForeignKey, &k.name).is_some())
        {
            return Err(err!(ER_FK_DUP_NAME, key.name));
        }
        match table.checks.iter().find(|c| schema.table_of(PartKind::Check, &c.name).is_some()) {
            Some(check) => Err(err!(ER_CHECK_CONSTRAINT_DUP_NAME, check.name)),
            None => Ok(()),
        }
    }

    /// DROP TABLE of all of these; a parent may go together with its children.
    /// Errors 1051 for a missing table or a view, 1205, 3730.
    pub fn drop_tables(&mut self, names: &[TableName]) -> Result<()> {
        for (schema, name) in names {
            let table = self.next.table(schema, name).filter(|t| t.is_base() || t.is_virtual()).cloned();
            let table = table.ok_or_else(|| err!(ER_BAD_TABLE_ERROR, format!("{schema}.{name}")))?;
            self.refuse_referenced(&table, |t| !names.iter().any(|n| n.0 == t.schema && n.1 == t.name))?;
        }
        names.iter().try_for_each(|(schema, name)| self.drop_unreferenced(schema, name))
    }

    fn drop_unreferenced(&mut self, schema: &str, name: &str) -> Result<()> {
        if self.is_replaceable(schema, name) {
            return self.hide_computed(schema, name);
        }
        let table = self.lock_table(schema, name)?;
        self.drop_trees(&table)?;
        self.forget(&table)
    }

    /// Error 3730 while a foreign key of another table that `counts` leads here.
    fn refuse_referenced(&self, table: &Table, counts: impl Fn(&Table) -> bool) -> Result<()> {
        if !self.foreign_keys.fitting {
            return Ok(());
        }
        match self.child_of(table, counts) {
            Some((child, key)) => Err(err!(ER_FK_CANNOT_DROP_PARENT, table.name, key.name, child.name)),
            None => Ok(()),
        }
    }

    /// Another table that `counts`, and its first foreign key on this one.
    fn child_of(&self, table: &Table, counts: impl Fn(&Table) -> bool) -> Option<(&Table, &ForeignKey)> {
        let mut others = self.next.children(&table.schema, &table.name);
        let child = others.find(|t| t.id != table.id && counts(t))?;
        let leads = |k: &&ForeignKey| k.parent.0 == table.schema && k.parent.1 == table.name;
        Some((child, child.foreign_keys.iter().find(leads)?))
    }

    /// Error 1553: a foreign key of the table, or on it, finds its rows by this index and has no other.
    fn refuse_needed_index(&self, old: &Table, new: &Table, index: &str) -> Result<()> {
        // Columns before a key's own may be gone: each table has its own numbers for them.
        for key in &new.foreign_keys {
            let before = old.foreign_keys.iter().find(|k| k.name == key.name);
            if before.is_some_and(|k| old.foreign_key_index(k).is_some()) && new.foreign_key_index(key).is_none() {
                return Err(err!(ER_DROP_INDEX_FK, index));
            }
        }
        for child in self.next.children(&old.schema, &old.name) {
            let leads = |k: &&ForeignKey| k.parent.0 == old.schema && k.parent.1 == old.name;
            for key in child.foreign_keys.iter().filter(leads) {
                let found = |t: &Table| parent_index(&t.columns, &t.indexes, &key.parent_columns).is_some();
                let named = key.parent_columns.iter().all(|c| new.column_position(c).is_some());
                if named && found(old) && !found(new) {
                    return Err(err!(ER_DROP_INDEX_FK, index));
                }
            }
        }
        Ok(())
    }

    /// CREATE VIEW; `replace`: a view of this name is replaced. Errors 1050, 1049, 1347.
    pub fn put_view(
        &mut self,
        schema: &str,
        name: &str,
        columns: Vec<Column>,
        view: View,
        replace: bool,
    ) -> Result<()> {
        check_name(name, ER_WRONG_TABLE_NAME)?;
        self.lock_name(schema, name, Mode::Exclusive)?;
        let found = self.next.schema(schema).ok_or_else(|| err!(ER_BAD_DB_ERROR, schema))?;
        refuse_computed(&self.next, schema)?;
        let collation = found.default_collation;
        match found.tables.get(name).map(|t| t.view.is_some()) {
            Some(_) if !replace => return Err(err!(ER_TABLE_EXISTS_ERROR, name)),
            Some(false) => return Err(err!(ER_WRONG_OBJECT, schema, name, "VIEW")),
            Some(true) | None => {}
        }
        let id = self.new_id()?;
        let types: Vec<DataType> = columns.iter().map(|c| c.data_type).collect();
        self.put_table(Table {
            id,
            version: 1,
            schema: schema.to_string(),
            name: name.to_string(),
            columns,
            indexes: Vec::new(),
            checks: Vec::new(),
            foreign_keys: Vec::new(),
            layout: RowLayout::new(&types),
            evolution: None,
            auto_increment: None,
            row_ids: None,
            default_collation: collation,
            comment: String::new(),
            engine: StorageEngine::InnoDb,
            create_options: CreateOptions::default(),
            created: now(),
            readable_since: 0,
            row_log: Default::default(),
            statistics: Default::default(),
            temporary: false,
            virtual_rows: None,
            view: Some(Arc::new(view)),
            triggers: Vec::new(),
        })?;
        Ok(())
    }

    /// DROP VIEW. Errors 1051, 1347.
    pub fn drop_view(&mut self, schema: &str, name: &str) -> Result<()> {
        self.lock_name(schema, name, Mode::Exclusive)?;
        let Some(found) = self.next.table(schema, name) else {
            return Err(err!(ER_BAD_TABLE_ERROR, format!("{schema}.{name}")));
        };
        if found.view.is_none() {
            return Err(err!(ER_WRONG_OBJECT, schema, name, "VIEW"));
        }
        let view = self.lock_any(schema, name)?;
        self.forget(&view)
    }

    /// TRUNCATE TABLE: new trees in place of the old ones. Errors 1146, 1205.
    pub fn truncate_table(&mut self, schema: &str, name: &str) -> Result<Arc<Table>> {
        let old = self.lock_table(schema, name)?;
        if let Some((child, key)) = self.child_of(&old, |_| self.foreign_keys.fitting) {
            let shown = format!("`{}`.`{}`, CONSTRAINT `{}`", child.schema, child.name, key.name);
            return Err(err!(ER_TRUNCATE_ILLEGAL_FK, shown));
        }
        let mut table = Table::clone(&old);
        if table.evolution.take().is_some() {
            table.layout = RowLayout::new(&table.columns.iter().map(|c| c.data_type).collect::<Vec<_>>());
        }
        for index in &mut table.indexes {
            let (engine, was) = (&self.catalog.engine, index.tree);
            index.tree = engine.create_tree_as(self.tx, was.kind, was.is_encrypted()).map_err(from_engine)?;
        }
        self.drop_trees(&old)?;
        stored::attach_counters(&mut table);
        table.version += 1;
        table.readable_since = self.next.number;
        self.put_table(table)
    }

    pub(crate) fn next_version(&mut self) -> &mut Version {
        &mut self.next
    }

    pub(crate) fn touch(&mut self, what: Touched) {
        self.touched.push(what);
    }

    /// Writes an entry of another crate's making (accounts).
    pub fn put_entry(&mut self, kind: Kind, name: &str, value: &[u8]) -> Result<()> {
        dictionary::put(self.tx, self.catalog.engine.dictionary(), kind, "", name, value)
    }

    pub fn remove_entry(&mut self, kind: Kind, name: &str) -> Result<()> {
        dictionary::remove(self.tx, self.catalog.engine.dictionary(), kind, "", name)
    }

    /// Makes everything happen: waits for readers of altered tables, commits, swaps the dictionary. Errors 1205, 1213, 1317.
    pub fn commit(mut self) -> Result<()> {
        assert!(!self.temporary);
        for name in std::mem::take(&mut self.shared) {
            self.lock(&name, Mode::Exclusive, Duration::Transaction)?;
        }
        let catalog = self.catalog;
        let one_at_a_time = catalog.lock_ddl()?;
        self.catch_up();
        let outcome = self.tx.commit();
        if !matches!(outcome, Ok(()) | Err(engine::Error::Unacknowledged)) {
            return outcome.map_err(from_engine);
        }
        self.committed = true;
        self.catalog.cell().store(Arc::new(std::mem::take(&mut self.next)));
        drop(one_at_a_time);
        if self.touched.iter().any(|t| matches!(t, Touched::Event(..))) {
            self.catalog.events_changed();
        }
        outcome.map_err(from_engine)
        // Dropping gives the metadata locks back, after the swap: who waited finds the new version.
    }

    /// Makes a change of temporary tables happen: those that the session has now.
    pub fn commit_temporary(mut self) -> Result<TemporaryTables> {
        assert!(self.temporary);
        self.tx.commit().map_err(from_engine)?;
        self.committed = true;
        Ok(self.next.take_temporary())
    }

    /// Frees a temporary table that the session has let go of.
    pub fn free_temporary(&mut self, table: &Table) -> Result<()> {
        assert!(self.temporary && table.temporary);
        self.drop_trees(table)?;
        self.remove_temporary_entry(table)
    }

    fn remove_temporary_entry(&mut self, table: &Table) -> Result<()> {
        let tree = self.catalog.engine.dictionary();
        dictionary::remove(self.tx, tree, Kind::Temporary, "", &table.id.to_string())
    }

    fn drop_trees(&mut self, table: &Table) -> Result<()> {
        for index in &table.indexes {
            self.catalog.engine.drop_tree(self.tx, index.tree).map_err(from_engine)?;
        }
        Ok(())
    }

    fn put_table(&mut self, mut table: Table) -> Result<Arc<Table>> {
        let tree = self.catalog.engine.dictionary();
        for i in 0..table.columns.len() {
            if table.columns[i].histogram.is_some() && table.is_unique_alone(i) {
                table.columns[i].histogram = None;
            }
        }
        table.renew_triggers();
        let json = stored::write_table(&table);
        if self.temporary {
            dictionary::put(self.tx, tree, Kind::Temporary, "", &table.id.to_string(), &json)?;
            table.temporary = true;
            let table = Arc::new(table);
            self.next.insert_temporary(Arc::clone(&table));
            return Ok(table);
        }
        dictionary::put(self.tx, tree, Kind::Table, &table.schema, &table.name, &json)?;
        let table = Arc::new(table);
        self.touched.push(Touched::Table(table.schema.clone(), table.name.clone()));
        self.next.insert_table(Arc::clone(&table));
        Ok(table)
    }

    /// Removes a table from the dictionary, not its trees.
    fn forget(&mut self, table: &Table) -> Result<()> {
        if self.temporary {
            self.next.remove_temporary(table);
            return self.remove_temporary_entry(table);
        }
        let tree = self.catalog.engine.dictionary();
        dictionary::remove(self.tx, tree, Kind::Table, &table.schema, &table.name)?;
        self.touched.push(Touched::Table(table.schema.clone(), table.name.clone()));
        self.next.remove_table(&table.schema, &table.name);
        Ok(())
    }
}

impl Drop for Ddl<'_> {
    fn drop(&mut self) {
        if !self.committed && self.tx.is_active() {
            // What cannot be undone now is undone in the background: its trees and entries are locked and invisible until then.
            let _ = self.tx.rollback();
        }
        if self.temporary {
            return;
        }
        self.settle_locked_tables();
        self.pins.release();
    }
}

/// Behind the name of an index whose name another one gets in the same statement. No name can have it.
const REPLACED: char = '\u{FFFF}';

/// What an index is called that is dropped once another one of its name is there.
pub fn replaced_name(name: &str) -> String {
    format!("{name}{REPLACED}")
}

/// Error 3552 for schemas that the server makes itself.
fn refuse_system(version: &Version, schema: &str) -> Result<()> {
    match version.schema(schema) {
        Some(s) if s.is_system() => Err(err!(ER_NO_SYSTEM_SCHEMA_ACCESS, s.name)),
        _ => Ok(()),
    }
}

/// The same for schemas whose tables are all computed.
fn refuse_computed(version: &Version, schema: &str) -> Result<()> {
    if schema == MYSQL { Ok(()) } else { refuse_system(version, schema) }
}

pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |d| d.as_secs())
}

fn retype(mut parts: Vec<IndexPart>, columns: &[Column]) -> Vec<IndexPart> {
    for part in &mut parts {
        part.key.data_type = columns[part.column].key_type();
    }
    parts
}
