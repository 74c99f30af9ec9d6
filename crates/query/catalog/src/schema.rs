//! Dictionary objects as statements see them. A [`Version`] is immutable; DDL makes a new one and swaps it in.

use crate::event::{Event, event_key};
use crate::routine::{Routine, RoutineKey, RoutineKind, folded_name, routine_key, same_name};
use crate::shared_map::SharedMap;
use crate::table::{Table, TableName};
use crate::trigger::Trigger;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use types::codes::*;
use types::collation::CollationId;
use types::{Result, err};

/// All schemas and tables at one moment.
#[derive(Clone, Default)]
pub struct Version {
    /// Grows with each DDL; plans remember the number they were made for.
    pub number: u64,
    /// By name, case-sensitive (`lower_case_table_names=0`).
    pub schemas: SharedMap<String, Arc<Schema>>,
    /// The session's own tables, in front of those above.
    pub(crate) temporary: Option<Arc<Overlay>>,
    /// Which tables have a foreign key on a table, which need not exist: (schema, name) of the parent to those of children.
    pub(crate) references: SharedMap<TableName, SharedMap<TableName, ()>>,
}

/// Temporary tables of a session, by name.
pub type TemporaryTables = BTreeMap<TableName, Arc<Table>>;

/// What a session sees in front of the dictionary that all share.
#[derive(Clone)]
pub(crate) struct Overlay {
    tables: TemporaryTables,
    base: Arc<Version>,
}

/// Schemas that the server makes itself. Their names, and the names of tables in the first two, are matched in any case.
pub const SYSTEM_SCHEMAS: [&str; 3] = ["information_schema", "performance_schema", MYSQL];

/// The schema whose tables tell of accounts. Tables may be made in it, and take the place of those that are computed.
pub const MYSQL: &str = "mysql";

impl Version {
    pub fn schema(&self, name: &str) -> Option<&Arc<Schema>> {
        self.schemas.get(name).or_else(|| {
            let system = SYSTEM_SCHEMAS[..2].iter().find(|s| s.eq_ignore_ascii_case(name))?;
            self.schemas.get(*system)
        })
    }

    /// Error 3989 for a schema that ALTER DATABASE has made READ ONLY: nobody changes what is in it but temporary tables.
    pub fn check_writable(&self, schema: &str) -> Result<()> {
        match self.schema(schema) {
            Some(s) if s.read_only => Err(err!(ER_SCHEMA_READ_ONLY, s.name)),
            _ => Ok(()),
        }
    }

    /// `base` with temporary tables in front: they are found by name, and stand in no schema's list.
    pub fn with_temporary(base: &Arc<Version>, tables: TemporaryTables) -> Version {
        let base = Arc::clone(Version::base(base));
        let mut version = Version::clone(&base);
        version.temporary = Some(Arc::new(Overlay { tables, base }));
        version
    }

    /// The dictionary that all sessions share: what views and foreign keys lead to.
    pub fn base(this: &Arc<Version>) -> &Arc<Version> {
        this.temporary.as_ref().map_or(this, |overlay| &overlay.base)
    }

    pub fn temporary_table(&self, schema: &str, table: &str) -> Option<&Arc<Table>> {
        self.temporary.as_ref()?.tables.get(&(schema.to_string(), table.to_string()))
    }

    /// The session's temporary tables.
    pub fn temporary_tables(&self) -> impl Iterator<Item = &Arc<Table>> {
        self.temporary.iter().flat_map(|overlay| overlay.tables.values())
    }

    /// A temporary table of the session, else a table that all share.
    pub fn table(&self, schema: &str, table: &str) -> Option<&Arc<Table>> {
        self.temporary_table(schema, table).or_else(|| self.base_table(schema, table))
    }

    /// A table that all sessions share.
    pub fn base_table(&self, schema: &str, table: &str) -> Option<&Arc<Table>> {
        let schema = self.schema(schema)?;
        schema.tables.get(table).or_else(|| {
            let in_any_case = SYSTEM_SCHEMAS[..2].contains(&schema.name.as_str());
            let mut all = schema.tables.iter().filter(|_| in_any_case);
            all.find(|(name, _)| name.eq_ignore_ascii_case(table)).map(|(_, t)| t)
        })
    }

    /// Only of a version with temporary tables: see [`Version::with_temporary`].
    fn overlay(&mut self) -> &mut Overlay {
        Arc::make_mut(self.temporary.as_mut().expect("a version with temporary tables"))
    }

    pub(crate) fn insert_temporary(&mut self, table: Arc<Table>) {
        let name = (table.schema.clone(), table.name.clone());
        self.overlay().tables.insert(name, table);
    }

    pub(crate) fn remove_temporary(&mut self, table: &Table) {
        self.overlay().tables.remove(&(table.schema.clone(), table.name.clone()));
    }

    pub(crate) fn take_temporary(&mut self) -> TemporaryTables {
        std::mem::take(&mut self.overlay().tables)
    }

    /// Tables with a foreign key on this one, itself among them where it refers to itself.
    pub fn children<'v>(&'v self, schema: &str, table: &str) -> impl Iterator<Item = &'v Arc<Table>> {
        let key = (schema.to_string(), table.to_string());
        let hidden = self.temporary_table(schema, table).is_some();
        let names = self.references.get(&key).filter(|_| !hidden).into_iter().flat_map(SharedMap::keys);
        names.filter_map(|(schema, name)| self.base_table(schema, name))
    }

    /// Puts a table in its schema, which is there, in place of one of the same name.
    pub fn insert_table(&mut self, table: Arc<Table>) {
        self.remove_table(&table.schema, &table.name);
        for key in &table.foreign_keys {
            let child = (table.schema.clone(), table.name.clone());
            self.references.get_or_insert_with(&key.parent, SharedMap::new).insert(child, ());
        }
        let schema = self.schemas.get_mut(&table.schema).expect("the caller has found the schema");
        let schema = Arc::make_mut(schema);
        for part in parts_of(&table) {
            schema.parts.insert(part, table.name.clone());
        }
        schema.tables.insert(table.name.clone(), table);
    }

    pub fn remove_table(&mut self, schema: &str, name: &str) {
        let Some(found) = self.schemas.get_mut(schema) else { return };
        let Some(table) = found.tables.get(name).cloned() else { return };
        let found = Arc::make_mut(found);
        found.tables.remove(name);
        for part in parts_of(&table) {
            if found.parts.get(&part).is_some_and(|of| of == name) {
                found.parts.remove(&part);
            }
        }
        let child = (schema.to_string(), name.to_string());
        for key in &table.foreign_keys {
            if let Some(children) = self.references.get_mut(&key.parent) {
                children.remove(&child);
                if children.is_empty() {
                    self.references.remove(&key.parent);
                }
            }
        }
    }

    /// A trigger by name, and its table.
    pub fn trigger(&self, schema: &str, name: &str) -> Option<(&Arc<Table>, &Arc<Trigger>)> {
        let table = self.schema(schema)?.table_of(PartKind::Trigger, name)?;
        let trigger = table.triggers.iter().find(|t| same_name(&t.name, name))?;
        Some((table, trigger))
    }

    pub fn routine(&self, schema: &str, kind: RoutineKind, name: &str) -> Option<&Arc<Routine>> {
        self.schema(schema)?.routines.get(&routine_key(kind, name))
    }

    pub(crate) fn insert_routine(&mut self, routine: Arc<Routine>) {
        let key = routine_key(routine.kind, &routine.name);
        let schema = self.schemas.get_mut(&routine.schema).expect("the caller has found the schema");
        Arc::make_mut(schema).routines.insert(key, routine);
    }

    pub(crate) fn remove_routine(&mut self, schema: &str, key: &RoutineKey) {
        if let Some(schema) = self.schemas.get_mut(schema) {
            Arc::make_mut(schema).routines.remove(key);
        }
    }

    pub fn event(&self, schema: &str, name: &str) -> Option<&Arc<Event>> {
        self.schema(schema)?.events.get(&event_key(name))
    }

    pub fn events(&self) -> impl Iterator<Item = &Arc<Event>> {
        self.schemas.values().flat_map(|schema| schema.events.values())
    }

    pub(crate) fn insert_event(&mut self, event: Arc<Event>) {
        let schema = self.schemas.get_mut(&event.schema).expect("the caller has found the schema");
        Arc::make_mut(schema).events.insert(event.key(), event);
    }

    pub(crate) fn remove_event(&mut self, schema: &str, key: &str) {
        if let Some(schema) = self.schemas.get_mut(schema) {
            Arc::make_mut(schema).events.remove(key);
        }
    }
}

#[derive(Clone)]
pub struct Schema {
    pub name: String,
    pub default_collation: CollationId,
    /// ALTER DATABASE ... READ ONLY = 1: see [`Version::check_writable`].
    pub read_only: bool,
    /// DEFAULT ENCRYPTION='Y': of tables whose definition does not say.
    pub encrypts: bool,
    pub tables: SharedMap<String, Arc<Table>>,
    pub routines: SharedMap<RoutineKey, Arc<Routine>>,
    /// By name in lower case.
    pub events: SharedMap<String, Arc<Event>>,
    /// Which table has them.
    pub(crate) parts: SharedMap<PartName, String>,
}

/// Parts of tables whose names are unique in their schema, those of each kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PartKind {
    Check,
    ForeignKey,
    Trigger,
}

/// Kind and name, without what does not tell two names apart.
type PartName = (PartKind, String);

fn part_name(kind: PartKind, name: &str) -> PartName {
    let folded = if kind == PartKind::Trigger { folded_name(name) } else { name.to_lowercase() };
    (kind, folded)
}

fn parts_of(table: &Table) -> impl Iterator<Item = PartName> {
    let checks = table.checks.iter().map(|c| part_name(PartKind::Check, &c.name));
    let keys = table.foreign_keys.iter().map(|k| part_name(PartKind::ForeignKey, &k.name));
    checks.chain(keys).chain(table.triggers.iter().map(|t| part_name(PartKind::Trigger, &t.name)))
}

impl Schema {
    pub fn new(name: &str, default_collation: CollationId) -> Schema {
        let name = name.to_string();
        let (tables, routines, events, parts) = Default::default();
        Schema { name, default_collation, read_only: false, encrypts: false, tables, routines, events, parts }
    }

    /// The table that has a part of that kind and name.
    pub fn table_of(&self, kind: PartKind, name: &str) -> Option<&Arc<Table>> {
        self.parts.get(&part_name(kind, name)).and_then(|table| self.tables.get(table))
    }

    /// Tables that have parts of that kind, in the order of their names.
    pub fn tables_with(&self, kind: PartKind) -> impl Iterator<Item = &Arc<Table>> {
        let names: BTreeSet<&String> =
            self.parts.iter().filter(|(part, _)| part.0 == kind).map(|(_, name)| name).collect();
        names.into_iter().filter_map(|name| self.tables.get(name))
    }

    /// Made by the server: no DDL in it.
    pub fn is_system(&self) -> bool {
        SYSTEM_SCHEMAS.contains(&self.name.as_str())
    }
}
