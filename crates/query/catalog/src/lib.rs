//! The data dictionary: schemas, tables, indexes as immutable versions; persistence in the engine's dictionary tree; DDL.
//!
//! ```text
//!   statement                                   DDL (metadata locks keep statements on one table apart)
//!   ---------                                   ---------------------------------------------------------
//!   Cached<Version>::get     one load           lock the names that it changes: writers are out, or everybody
//!   MetadataPins::pin        own lane           trees and dictionary entries in one engine transaction
//!   ... runs ...                                wait until nobody uses those tables any more
//!   MetadataPins::release    own lane           one at a time: commit, swap in the new Version; unlock
//! ```
//!
//! Why in this order: a crash before the engine's commit leaves the old dictionary and frees new trees; a crash after it
//! finds the new dictionary at the next start, and nobody has been answered yet. A reader between commit and swap can not
//! use a changed table, it is locked; it may not see a new one yet, as if it had come earlier.

mod column;
pub mod counter;
pub mod ddl;
pub mod define;
pub mod dictionary;
pub mod error;
pub mod event;
pub mod evolution;
pub mod histogram;
mod histogram_data;
mod index;
pub mod installed;
pub mod live;
pub mod mdl;
pub mod options;
mod related;
pub mod routine;
pub mod row_log;
mod rules;
pub mod schema;
pub mod servers;
pub mod shared_map;
pub mod statistics;
mod stored;
mod stored_event;
mod stored_routine;
mod table;
pub mod trigger;
pub mod virtual_table;

pub use column::{Column, ColumnDefault, Generated, eq_name};
pub use counter::AutoIncrement;
pub use ddl::{Ddl, Lets};
pub use define::{CheckSpec, ForeignKeySpec, KeyKind, KeyPartSpec, KeySpec, NAME_CHARS_MAX, TableSpec};
pub use event::{Event, EventSchedule, EventSettings, EventStatus};
pub use evolution::Evolution;
pub use histogram::Histogram;
pub use index::{Index, IndexPart};
pub use live::{Catalog, Emptied};
pub use mdl::{MetadataLocks, MetadataPins, Pin, Waiting};
pub use options::{CreateOptions, IndexAlgorithm, StorageEngine};
pub use related::{Changes, Related};
pub use routine::{Routine, RoutineKind};
pub use rules::{are_compatible, parent_index};
pub use schema::{MYSQL, PartKind, Schema, TemporaryTables, Version};
pub use table::{Check, CheckOption, ForeignKey, ReferenceAction, Table, TableName, View, ViewAlgorithm};
pub use trigger::{Trigger, TriggerEvent, TriggerOrder};
pub use virtual_table::{Changed, ComputedRows, Sought, VirtualContext, VirtualTable, Writes};

/// Name of the clustered index of a table without a primary key; its one part is a hidden column.
pub const HIDDEN_INDEX: &str = "GEN_CLUST_INDEX";
/// Name of that hidden column.
pub const HIDDEN_COLUMN: &str = "DB_ROW_ID";
