//! The data dictionary: schemas, tables, indexes as immutable versions; persistence in the engine's dictionary tree; DDL.
//!
//! ```text
//!   statement                                   DDL (one at a time, under the DDL mutex)
//!   ---------                                   ----------------------------------------
//!   Cached<Version>::get     one load           close the gate of each table that it changes
//!   MetadataPins::pin        own lane           wait until no lane pins those tables
//!   ... runs ...                                trees and dictionary entries in one engine transaction; commit
//!   MetadataPins::release    own lane           swap in the new Version, open the gates
//! ```
//!
//! Why in this order: a crash before the engine's commit leaves the old dictionary and frees new trees; a crash after it
//! finds the new dictionary at the next start, and nobody has been answered yet. A reader between commit and swap can not
//! use a changed table, its gate is closed; it may not see a new one yet, as if it had come earlier.

pub mod counter;
pub mod ddl;
pub mod define;
pub mod dictionary;
pub mod error;
pub mod live;
pub mod pins;
mod rules;
pub mod schema;
mod stored;
pub mod virtual_table;

pub use counter::AutoIncrement;
pub use ddl::Ddl;
pub use define::{CheckSpec, ForeignKeySpec, KeyKind, KeyPartSpec, KeySpec, TableSpec};
pub use live::Catalog;
pub use pins::{Gate, MetadataPins, Waiting};
pub use rules::{are_compatible, parent_index};
pub use schema::{
    Check, CheckOption, Column, ColumnDefault, ForeignKey, Generated, Index, IndexPart, ReferenceAction, Schema, Table,
    TableName, Version, View, ViewAlgorithm,
};
pub use virtual_table::{VirtualContext, VirtualTable};

/// Name of the clustered index of a table without a primary key; its one part is a hidden column.
pub const HIDDEN_INDEX: &str = "GEN_CLUST_INDEX";
/// Name of that hidden column.
pub const HIDDEN_COLUMN: &str = "DB_ROW_ID";
