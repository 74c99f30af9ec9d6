//! Dictionary objects as statements see them. A [`Version`] is immutable; DDL makes a new one and swaps it in.

use crate::VirtualTable;
use engine::Tree;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
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

impl Version {
    pub fn table(&self, schema: &str, table: &str) -> Option<&Arc<Table>> {
        self.schemas.get(schema)?.tables.get(table)
    }
}

#[derive(Clone)]
pub struct Schema {
    pub name: String,
    pub default_collation: types::datatype::CollationId,
    pub tables: BTreeMap<String, Arc<Table>>,
}

/// One version of a table's definition.
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
    pub default_collation: types::datatype::CollationId,
    pub comment: String,
    /// Seconds since 1970.
    pub created: u64,
    /// Set for tables of information_schema and performance_schema: no trees, rows computed when asked.
    pub virtual_rows: Option<Arc<dyn VirtualTable>>,
}

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

pub enum ColumnDefault {
    /// No default: INSERT must give a value (in strict mode).
    None,
    Value(Value<'static>),
    /// CURRENT_TIMESTAMP with the column's fractional digits.
    Now,
}

pub struct Index {
    pub name: String,
    pub unique: bool,
    pub primary: bool,
    /// The index's own columns. Keys of a secondary tree are these, then the clustered index's parts that are not whole parts of it.
    pub parts: Vec<IndexPart>,
    pub tree: Tree,
    pub comment: String,
}

pub struct IndexPart {
    /// Position in [`Table::columns`].
    pub column: usize,
    pub key: KeyPart,
}

/// A table's AUTO_INCREMENT counter in memory; shared by all versions of the table.
pub struct AutoIncrement {
    pub column: usize,
    /// The next value to hand out. W: inserts by fetch_max/compare-exchange. R: SHOW TABLE STATUS.
    pub next: AtomicU64,
    /// Values below this are already covered by the persistent counter in the clustered tree.
    pub persisted: AtomicU64,
}

/// The live dictionary.
pub struct Catalog {}
