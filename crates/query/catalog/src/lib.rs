//! The data dictionary: schemas, tables, indexes as immutable versions; persistence in the engine's dictionary tree; DDL.

pub mod schema;
pub mod virtual_table;

pub use schema::{AutoIncrement, Catalog, Column, ColumnDefault, Index, IndexPart, Schema, Table, Version};
pub use virtual_table::VirtualTable;
