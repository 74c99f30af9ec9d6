//! Dictionary objects as statements see them. A [`Version`] is immutable; DDL makes a new one and swaps it in.

use crate::{AutoIncrement, Gate, VirtualTable};
use engine::Tree;
use std::collections::BTreeMap;
use std::sync::Arc;
use types::collation::CollationId;
use types::key::KeyPart;
use types::row::RowLayout;
use types::{DataType, Value};

/// All schemas and tables at one moment.
#[derive(Clone, Default)]
pub struct Version {
    /// Grows with each DDL; plans remember the number they were made for.
    pub number: u64,
    /// By name, case-sensitive (`lower_case_table_names=0`).
    pub schemas: BTreeMap<String, Arc<Schema>>,
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

    pub fn table(&self, schema: &str, table: &str) -> Option<&Arc<Table>> {
        let schema = self.schema(schema)?;
        schema.tables.get(table).or_else(|| {
            let system = SYSTEM_SCHEMAS[..2].contains(&schema.name.as_str());
            schema.tables.iter().find(|(name, _)| system && name.eq_ignore_ascii_case(table)).map(|(_, t)| t)
        })
    }
}

#[derive(Clone)]
pub struct Schema {
    pub name: String,
    pub default_collation: CollationId,
    pub tables: BTreeMap<String, Arc<Table>>,
}

impl Schema {
    pub fn new(name: &str, default_collation: CollationId) -> Schema {
        Schema { name: name.to_string(), default_collation, tables: BTreeMap::new() }
    }

    /// Made by the server: no DDL in it.
    pub fn is_system(&self) -> bool {
        SYSTEM_SCHEMAS.contains(&self.name.as_str())
    }
}

/// One version of a table's definition.
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
    pub layout: RowLayout,
    pub auto_increment: Option<Arc<AutoIncrement>>,
    /// Hands out the hidden row ids of a table without a primary key.
    pub row_ids: Option<Arc<AutoIncrement>>,
    pub default_collation: CollationId,
    pub comment: String,
    /// Table options without effect here that SHOW CREATE TABLE repeats, such as `ROW_FORMAT=DYNAMIC`.
    pub create_options: String,
    /// Seconds since 1970.
    pub created: u64,
    /// [`Version::number`] from which the trees hold the rows: a transaction whose snapshot is older can not read them
    /// (error 1412). 0 after a restart.
    pub readable_since: u64,
    /// Closed while DDL changes the table.
    pub gate: Arc<Gate>,
    /// Set for tables of information_schema and performance_schema: no trees, rows computed when asked.
    pub virtual_rows: Option<Arc<dyn VirtualTable>>,
}

impl Table {
    /// Columns that `*` stands for.
    pub fn visible_columns(&self) -> impl Iterator<Item = &Column> {
        self.columns.iter().filter(|c| !c.hidden)
    }

    /// Indexes that SHOW INDEX lists: all but the hidden clustered one.
    pub fn visible_indexes(&self) -> impl Iterator<Item = &Index> {
        self.indexes.iter().filter(|i| i.name != crate::HIDDEN_INDEX)
    }

    /// Position of a column by name, in any case.
    pub fn column_position(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|c| !c.hidden && eq_name(&c.name, name))
    }

    pub fn is_virtual(&self) -> bool {
        self.virtual_rows.is_some()
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
    pub auto_increment: bool,
    /// ON UPDATE CURRENT_TIMESTAMP
    pub on_update_now: bool,
    /// Members of ENUM and SET.
    pub members: Vec<String>,
    pub comment: String,
    /// The row id of a table without a primary key; not part of `*`.
    pub hidden: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ColumnDefault {
    /// No default: INSERT must give a value (in strict mode).
    None,
    Value(Value<'static>),
    /// CURRENT_TIMESTAMP with the column's fractional digits.
    Now,
}

#[derive(Clone, Debug)]
pub struct Index {
    pub name: String,
    pub unique: bool,
    pub primary: bool,
    /// The index's own columns. Keys of a secondary tree are these, then the clustered index's parts that are not whole parts of it.
    pub parts: Vec<IndexPart>,
    pub tree: Tree,
    pub comment: String,
}

#[derive(Clone, Debug)]
pub struct IndexPart {
    /// Position in [`Table::columns`].
    pub column: usize,
    pub key: KeyPart,
}
