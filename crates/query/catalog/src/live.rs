//! The live dictionary: loading at start, the snapshot that statements read, and closing.

use crate::dictionary::{self, Kind, damaged};
use crate::error::from_engine;
use crate::event::{Event, Run};
use crate::mdl::{MetadataLocks, MetadataPins};
use crate::options::StorageEngine;
use crate::schema::{MYSQL, SYSTEM_SCHEMAS, Schema, Version};
use crate::table::Table;
use crate::{stored, stored_event, stored_routine};
use engine::{Engine, Isolation, Transaction};
use std::sync::{Arc, OnceLock};
use sync::{Mutex, Rank, Snapshot};
use types::Result;
use types::collation::CollationId;

pub struct Catalog {
    pub(crate) engine: Arc<Engine>,
    /// What statements read. W: DDL, after its commit. R: statements, through [`sync::Cached`].
    current: Snapshot<Version>,
    /// The one data definition that commits. Statements never touch it.
    pub(crate) ddl: Mutex<DdlState>,
    locks: Arc<MetadataLocks>,
    /// The tables of `mysql` that are computed.
    pub(crate) computed: Vec<Arc<Table>>,
    /// Called behind each change of events.
    on_events: OnceLock<Box<dyn Fn() + Send + Sync>>,
}

/// Under the DDL mutex: commits of data definition, one at a time.
pub(crate) struct DdlState {
    /// The highest table id ever given.
    pub(crate) last_table: u64,
}

/// Told of a table of engine MEMORY, in the transaction that throws its rows away.
pub type Emptied<'e> = &'e mut dyn FnMut(&Table, &mut Transaction) -> Result<()>;

impl Catalog {
    /// Loads the dictionary. `system` are the schemas whose tables are computed (information_schema, performance_schema);
    /// `mysql` is made empty when it is not among them.
    pub fn open(engine: &Arc<Engine>, system: Vec<Schema>) -> Result<Arc<Catalog>> {
        Catalog::open_telling(engine, system, Some(&mut |_, _| Ok(())))
    }

    /// The same; `emptied` is told of each table of engine MEMORY, in the transaction that throws its rows away. `None`: they stay.
    pub fn open_telling(
        engine: &Arc<Engine>,
        system: Vec<Schema>,
        emptied: Option<Emptied<'_>>,
    ) -> Result<Arc<Catalog>> {
        let mut version = Version { number: 1, ..Version::default() };
        for schema in system {
            assert!(schema.is_system(), "{} is no system schema", schema.name);
            version.schemas.insert(schema.name.clone(), Arc::new(schema));
        }
        for name in SYSTEM_SCHEMAS {
            let empty = || Arc::new(Schema::new(name, CollationId::UTF8MB4_0900_AI_CI));
            version.schemas.get_or_insert_with(&name.to_string(), empty);
        }
        let computed = version.schemas.get(MYSQL).expect("made above").tables.values().cloned().collect();
        let mut tx = Transaction::new(engine).map_err(from_engine)?;
        tx.begin(Isolation::RepeatableRead, true);
        let loaded = load(engine, &mut tx, &mut version);
        tx.rollback().map_err(from_engine)?;
        loaded?;
        drop_temporary_tables(engine, &mut tx)?;
        if let Some(emptied) = emptied {
            empty_memory_tables(engine, &mut tx, &mut version, emptied)?;
        }
        // Table ids are unique for ever: the dictionary tree's counter keeps the highest.
        let last_table = engine.counter(engine.dictionary()).map_err(from_engine)?;
        Ok(Arc::new(Catalog {
            engine: Arc::clone(engine),
            current: Snapshot::new(version),
            ddl: Mutex::new(Rank::CatalogDdl, DdlState { last_table }),
            locks: Arc::default(),
            computed,
            on_events: OnceLock::new(),
        }))
    }

    /// The cell that sessions keep a [`sync::Cached`] of.
    #[inline]
    pub fn cell(&self) -> &Snapshot<Version> {
        &self.current
    }

    /// The dictionary at this moment. For cold use.
    pub fn current(&self) -> Arc<Version> {
        self.current.load()
    }

    pub fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    /// `told` is called behind each definition that changes events. The first call counts.
    pub fn on_events(&self, told: Box<dyn Fn() + Send + Sync>) {
        let _ = self.on_events.set(told);
    }

    pub(crate) fn events_changed(&self) {
        if let Some(told) = self.on_events.get() {
            told();
        }
    }

    /// Are there tables in the places of computed ones, or computed ones that were dropped?
    pub fn has_replaced(&self) -> bool {
        let version = self.current();
        self.computed.iter().any(|table| version.base_table(MYSQL, &table.name).is_none_or(|t| !t.is_virtual()))
    }

    /// Does a table stand in the place of the computed one of this name?
    pub(crate) fn replaces(&self, version: &Version, name: &str) -> bool {
        version.base_table(MYSQL, name).is_some_and(|table| table.is_base())
    }

    pub fn locks(&self) -> &Arc<MetadataLocks> {
        &self.locks
    }

    /// The metadata locks of a new session: its transaction, its connection's id. `None`: too many connections.
    pub fn claim_pins(&self, tx: &Transaction, connection: u64) -> Option<MetadataPins> {
        MetadataPins::claim(&self.locks, tx, connection)
    }

    /// Entries of another crate's making (accounts), by name.
    pub fn load_entries(&self, kind: Kind) -> Result<Vec<(String, Vec<u8>)>> {
        let mut tx = Transaction::new(&self.engine).map_err(from_engine)?;
        tx.begin(Isolation::RepeatableRead, true);
        let entries = dictionary::load(&mut tx, self.engine.dictionary(), kind);
        tx.rollback().map_err(from_engine)?;
        Ok(entries?.into_iter().map(|e| (e.name, e.value)).collect())
    }

    /// At a clean shutdown, after the last session: stores the exact AUTO_INCREMENT values.
    pub fn close(&self) -> Result<()> {
        let version = self.current.load();
        for table in version.schemas.values().flat_map(|s| s.tables.values()) {
            for counter in table.auto_increment.iter().chain(&table.row_ids) {
                counter.save(&self.engine).map_err(from_engine)?;
            }
        }
        Ok(())
    }

    /// An event runs: its body may begin once this has returned. `over`: no run follows. Durable as far as commits are.
    pub fn note_run(&self, tx: &mut Transaction, event: &Event, last: i64, over: bool) -> Result<()> {
        let run = Run { id: event.id, last: Some(last), over };
        let json = serde_json::to_vec(&run).expect("numbers become JSON");
        tx.begin(Isolation::ReadCommitted, false);
        let written = dictionary::put(tx, self.engine.dictionary(), Kind::EventRun, &event.schema, &event.key(), &json);
        match written.and_then(|()| tx.commit().map_err(from_engine)) {
            Ok(()) => {
                event.runs.note(run);
                Ok(())
            }
            Err(e) => {
                if tx.is_active() {
                    tx.rollback().map_err(from_engine)?;
                }
                Err(e)
            }
        }
    }

    /// An event is past its last time without a run: only this process knows, and the next start finds out again.
    pub fn note_over(&self, event: &Event) {
        event.runs.note(Run { id: event.id, last: event.runs.last(), over: true });
    }
}

/// Frees what sessions had that did not end before the server did.
fn drop_temporary_tables(engine: &Engine, tx: &mut Transaction) -> Result<()> {
    tx.begin(Isolation::RepeatableRead, false);
    let tree = engine.dictionary();
    for entry in dictionary::load(tx, tree, Kind::Temporary)? {
        let table = stored::read_table(&entry.schema, &entry.name, &entry.value);
        let table = table.ok_or_else(|| damaged(entry.name.as_bytes()))?;
        for index in &table.indexes {
            engine.drop_tree(tx, index.tree).map_err(from_engine)?;
        }
        dictionary::remove(tx, tree, Kind::Temporary, &entry.schema, &entry.name)?;
    }
    tx.commit().map_err(from_engine)
}

/// New trees for tables of engine MEMORY: nobody has used them yet. One transaction each.
fn empty_memory_tables(
    engine: &Engine,
    tx: &mut Transaction,
    version: &mut Version,
    emptied: Emptied<'_>,
) -> Result<()> {
    let tables = version.schemas.values().flat_map(|s| s.tables.values());
    let in_memory: Vec<_> = tables.filter(|t| t.is_base() && t.engine == StorageEngine::Memory).cloned().collect();
    for table in in_memory {
        tx.begin(Isolation::RepeatableRead, false);
        let mut table = Table::clone(&table);
        for index in &mut table.indexes {
            engine.drop_tree(tx, index.tree).map_err(from_engine)?;
            let was = index.tree;
            index.tree = engine.create_tree_as(tx, was.kind, was.is_encrypted()).map_err(from_engine)?;
        }
        stored::attach_counters(&mut table);
        let (tree, entry) = (engine.dictionary(), stored::write_table(&table));
        dictionary::put(tx, tree, Kind::Table, &table.schema, &table.name, &entry)?;
        emptied(&table, tx)?;
        version.insert_table(Arc::new(table));
        tx.commit().map_err(from_engine)?;
    }
    Ok(())
}

fn load(engine: &Engine, tx: &mut Transaction, version: &mut Version) -> Result<()> {
    let tree = engine.dictionary();
    for entry in dictionary::load(tx, tree, Kind::Schema)? {
        let schema = stored::read_schema(&entry.name, &entry.value).ok_or_else(|| damaged(entry.name.as_bytes()))?;
        version.schemas.insert(entry.name, Arc::new(schema));
    }
    for entry in dictionary::load(tx, tree, Kind::Table)? {
        let shown = format!("{}/{}", entry.schema, entry.name);
        let table =
            stored::read_table(&entry.schema, &entry.name, &entry.value).ok_or_else(|| damaged(shown.as_bytes()))?;
        if !version.schemas.contains_key(&entry.schema) {
            return Err(damaged(shown.as_bytes()));
        }
        version.insert_table(Arc::new(table));
    }
    for entry in dictionary::load(tx, tree, Kind::Routine)? {
        let shown = format!("{}/{}", entry.schema, entry.name);
        let routine = stored_routine::read(&entry.schema, &entry.value).ok_or_else(|| damaged(shown.as_bytes()))?;
        if !version.schemas.contains_key(&entry.schema) {
            return Err(damaged(shown.as_bytes()));
        }
        version.insert_routine(Arc::new(routine));
    }
    stored_event::load(tx, tree, version)
}
