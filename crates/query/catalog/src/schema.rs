//! Dictionary objects as statements see them. A [`Version`] is immutable; DDL makes a new one and swaps it in.

use crate::routine::{Routine, RoutineKey, folded_name};
use crate::shared_map::SharedMap;
use crate::{AutoIncrement, CreateOptions, Evolution, Histogram, IndexAlgorithm, StorageEngine, VirtualTable};
use engine::Tree;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use types::codes::*;
use types::collation::CollationId;
use types::key::KeyPart;
use types::row::RowLayout;
use types::{DataType, Result, Value, err};

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

/// Schema and name of a table.
pub type TableName = (String, String);

/// Temporary tables of a session, by name.
pub type TemporaryTables = BTreeMap<TableName, Arc<Table>>;

/// What a session sees in front of the dictionary that all share.
#[derive(Clone)]
pub(crate) struct Overlay {
    tables: TemporaryTables,
    base: Arc<Version>,
}

/// Schemas that the server makes itself. Their names, and the names of tables in the first two, are matched in any case.
pub const SYSTEM_SCHEMAS: [&str; 4] = ["information_schema", "performance_schema", "mysql", "sys"];

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
    pub events: SharedMap<String, Arc<crate::Event>>,
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

/// One version of a table's definition. The fields are the parts and options of a CREATE TABLE.
#[derive(Clone)]
pub struct Table {
    /// Unique for ever; a table that is altered keeps it.
    pub id: u64,
    /// Grows with each change of the definition.
    pub version: u64,
    pub schema: String,
    pub name: String,
    pub columns: Vec<Column>,
    /// `indexes[0]` is the clustered index: PRIMARY, else the hidden row id.
    pub indexes: Vec<Index>,
    pub checks: Vec<Check>,
    pub foreign_keys: Vec<ForeignKey>,
    pub layout: RowLayout,
    /// Of a table whose columns came or went without a rewrite of its rows.
    pub evolution: Option<Evolution>,
    pub auto_increment: Option<Arc<AutoIncrement>>,
    /// Hands out the hidden row ids of a table without a primary key.
    pub row_ids: Option<Arc<AutoIncrement>>,
    pub default_collation: CollationId,
    pub comment: String,
    pub engine: StorageEngine,
    /// Table options without effect here that SHOW CREATE TABLE repeats, such as `ROW_FORMAT=DYNAMIC`.
    pub create_options: CreateOptions,
    /// Seconds since 1970.
    pub created: u64,
    /// [`Version::number`] from which the trees hold the rows: a transaction whose snapshot is older can not read them
    /// (error 1412). 0 after a restart.
    pub readable_since: u64,
    /// Of one session, which alone knows it; needs no metadata lock and no privilege.
    pub temporary: bool,
    /// Written rows are noted here while an index is built beside writers.
    pub row_log: Arc<crate::row_log::RowLog>,
    /// What planners know of its contents.
    pub statistics: Arc<crate::statistics::Statistics>,
    /// Set for tables of information_schema and performance_schema: no trees, rows computed when asked.
    pub virtual_rows: Option<Arc<dyn VirtualTable>>,
    /// Set for views: no trees either, the columns are the query's.
    pub view: Option<Arc<View>>,
    /// Of each event and time in the order in which they fire.
    pub triggers: Vec<Arc<crate::trigger::Trigger>>,
}

impl Table {
    /// Columns that a definition names: all but hidden ones.
    pub fn named_columns(&self) -> impl Iterator<Item = &Column> {
        self.columns.iter().filter(|c| !c.hidden)
    }

    /// Indexes that SHOW INDEX lists: all but the hidden clustered one.
    pub fn named_indexes(&self) -> impl Iterator<Item = &Index> {
        self.indexes.iter().filter(|i| !i.is_hidden())
    }

    /// What rows have for column `i` that were written before it was added.
    pub fn initial_value(&self, i: usize) -> &Value<'static> {
        let evolution = self.evolution.as_ref().expect("rows lack columns where columns were added to rows alone");
        &evolution.columns[i].initial
    }

    /// Position of a column by name, in any case.
    pub fn column_position(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|c| !c.hidden && eq_name(&c.name, name))
    }

    pub fn is_virtual(&self) -> bool {
        self.virtual_rows.is_some()
    }

    /// Is a visible unique index on this column alone? Then nothing is to be learnt from a histogram of it.
    pub fn is_unique_alone(&self, column: usize) -> bool {
        let alone = |i: &Index| i.unique && !i.invisible && i.parts.len() == 1 && i.parts[0].column == column;
        self.indexes.iter().any(alone)
    }

    /// Rows of its own in trees of its own: neither a view nor computed.
    pub fn is_base(&self) -> bool {
        self.virtual_rows.is_none() && self.view.is_none()
    }

    /// Is the AUTO_INCREMENT column, if there is one, counted among rows that are alike in the parts before it of an index?
    pub fn counts_in_groups(&self) -> bool {
        let counted = |p: &IndexPart| self.columns[p.column].auto_increment;
        let indexes = || self.indexes.iter().filter(|_| !self.engine.is_transactional());
        indexes().any(|i| i.parts.iter().any(counted)) && !indexes().any(|i| counted(&i.parts[0]))
    }

    /// Has a row to satisfy more than types and keys: are there generated columns, checks, foreign keys?
    pub fn has_rules(&self) -> bool {
        !self.checks.is_empty()
            || !self.foreign_keys.is_empty()
            || self.columns.iter().any(|c| c.generated.is_some() || matches!(c.default, ColumnDefault::Expression(_)))
    }
}

/// Names of columns, indexes and aliases are the same in any letter case.
pub fn eq_name(a: &str, b: &str) -> bool {
    a.eq_ignore_ascii_case(b) || (!a.is_ascii() && a.to_lowercase() == b.to_lowercase())
}

#[derive(Clone, Debug)]
pub struct Column {
    pub name: String,
    pub data_type: DataType,
    pub default: ColumnDefault,
    pub generated: Option<Generated>,
    pub auto_increment: bool,
    /// ON UPDATE CURRENT_TIMESTAMP
    pub on_update_now: bool,
    /// Members of ENUM and SET.
    pub members: Vec<String>,
    pub comment: String,
    /// Was its character set or collation written for it? SHOW CREATE TABLE repeats both then, whatever the table's are.
    pub explicit_collation: bool,
    /// Attributes without effect here that SHOW CREATE TABLE repeats, such as `STORAGE DISK`.
    pub kept: Vec<String>,
    /// INVISIBLE: not part of `*`, but has a name.
    pub invisible: bool,
    /// The row id of a table without a primary key, or the value of an index's expression: no statement can name it.
    pub hidden: bool,
    /// How its values are spread, if ANALYZE TABLE was asked to find out.
    pub histogram: Option<Arc<Histogram>>,
}

impl Column {
    /// A plain column: no default, no attribute.
    pub fn new(name: impl Into<String>, data_type: DataType) -> Column {
        Column {
            name: name.into(),
            data_type,
            default: ColumnDefault::None,
            generated: None,
            auto_increment: false,
            on_update_now: false,
            members: Vec::new(),
            comment: String::new(),
            explicit_collation: false,
            kept: Vec::new(),
            invisible: false,
            hidden: false,
            histogram: None,
        }
    }

    /// The row id of a table without a primary key.
    pub fn is_row_id(&self) -> bool {
        self.hidden && self.generated.is_none()
    }

    /// Is it part of `*`?
    pub fn is_in_star(&self) -> bool {
        !self.hidden && !self.invisible
    }

    /// The type that its values have in the key of an index: of an array, that of the elements.
    pub fn key_type(&self) -> DataType {
        self.array_of().unwrap_or(self.data_type)
    }

    /// The type of the elements, for the hidden column of a multi-valued index part.
    pub fn array_of(&self) -> Option<DataType> {
        self.generated.as_ref().and_then(|g| g.array)
    }

    /// The expression of the index part that this hidden column holds.
    pub fn index_expression(&self) -> Option<&str> {
        self.generated.as_ref().filter(|_| self.hidden).map(|g| g.expression.as_str())
    }
}

/// GENERATED ALWAYS AS (expression). Virtual columns are kept in the row like stored ones: they cost space, and reading
/// them costs nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Generated {
    /// Canonical text (see `sql::print`), with names of columns of the table.
    pub expression: String,
    pub stored: bool,
    /// CAST(... AS type ARRAY), the hidden column of a multi-valued index part: the type of the elements, nullable. The column
    /// holds a JSON array of different values of that type in their order, or NULL.
    pub array: Option<DataType>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ColumnDefault {
    /// No default: INSERT must give a value (in strict mode).
    None,
    Value(Value<'static>),
    /// CURRENT_TIMESTAMP with the column's fractional digits.
    Now,
    /// DEFAULT (expression), as canonical text.
    Expression(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    pub name: String,
    /// Canonical text.
    pub expression: String,
    pub enforced: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignKey {
    pub name: String,
    /// Positions in [`Table::columns`].
    pub columns: Vec<usize>,
    pub parent: TableName,
    pub parent_columns: Vec<String>,
    pub on_delete: ReferenceAction,
    pub on_update: ReferenceAction,
}

impl ForeignKey {
    /// `FOREIGN KEY ...` as SHOW CREATE TABLE and the errors of the key print it, for a key of `table`.
    pub fn clause(&self, table: &Table) -> String {
        let quote = |name: &str| format!("`{}`", name.replace('`', "``"));
        let own: Vec<String> = self.columns.iter().map(|c| quote(&table.columns[*c].name)).collect();
        let theirs: Vec<String> = self.parent_columns.iter().map(|c| quote(c)).collect();
        let schema = if self.parent.0 == table.schema { String::new() } else { quote(&self.parent.0) + "." };
        let mut text = format!(
            "CONSTRAINT {} FOREIGN KEY ({}) REFERENCES {schema}{} ({})",
            quote(&self.name),
            own.join(", "),
            quote(&self.parent.1),
            theirs.join(", ")
        );
        for (event, action) in [("DELETE", self.on_delete), ("UPDATE", self.on_update)] {
            if action != ReferenceAction::NoAction {
                text.push_str(&format!(" ON {event} {}", action.words()));
            }
        }
        text
    }
}

impl ReferenceAction {
    pub const fn words(self) -> &'static str {
        match self {
            ReferenceAction::NoAction => "NO ACTION",
            ReferenceAction::Restrict => "RESTRICT",
            ReferenceAction::Cascade => "CASCADE",
            ReferenceAction::SetNull => "SET NULL",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReferenceAction {
    NoAction,
    Restrict,
    Cascade,
    SetNull,
}

/// The definition of a view; the columns are those of its [`Table`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    /// Canonical text of the query: every name qualified, every column with an alias.
    pub query: String,
    /// Its columns were named: `CREATE VIEW v (a, b) AS`.
    pub named: bool,
    pub algorithm: ViewAlgorithm,
    /// `user@host`
    pub definer: String,
    /// SQL SECURITY INVOKER
    pub invoker: bool,
    pub check_option: CheckOption,
    /// Character set and collation of the connection that made it.
    pub client_charset: String,
    pub connection_collation: String,
    pub updatable: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ViewAlgorithm {
    Undefined,
    Merge,
    TempTable,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckOption {
    None,
    Local,
    Cascaded,
}

#[derive(Clone, Debug)]
pub struct Index {
    pub name: String,
    pub unique: bool,
    pub primary: bool,
    /// INVISIBLE: kept up to date, not used by plans.
    pub invisible: bool,
    /// Made for a foreign key without one: it goes when another index can serve the key, and somebody's own once it is renamed.
    pub for_foreign_key: bool,
    /// The index's own columns. Keys of a secondary tree are these, then the clustered index's parts that are not whole parts of it.
    pub parts: Vec<IndexPart>,
    /// Of a multi-valued index, the part that holds an array: a row has an entry for each element of it, none for an empty array,
    /// and one for NULL.
    pub array_part: Option<usize>,
    pub tree: Tree,
    /// As it was asked for.
    pub algorithm: Option<IndexAlgorithm>,
    pub comment: String,
}

impl Index {
    /// The clustered index of a table without a key that could be it.
    pub fn is_hidden(&self) -> bool {
        self.name == crate::HIDDEN_INDEX
    }

    /// Which of the parts holds an array.
    pub fn array_part_of(parts: &[IndexPart], columns: &[Column]) -> Option<usize> {
        parts.iter().position(|p| columns[p.column].array_of().is_some())
    }
}

#[derive(Clone, Debug)]
pub struct IndexPart {
    /// Position in [`Table::columns`].
    pub column: usize,
    pub key: KeyPart,
}
