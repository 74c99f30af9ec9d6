//! Name resolution, planning and execution of queries and DML: SELECT, INSERT, REPLACE, UPDATE, DELETE, DO.
//!
//! ```text
//!   sql::ast::Parsed --plan::Planner--> plan::node (a tree of plain data, printable)
//!                    --run::build-----> run::* (operators with their buffers)      both in a Prepared
//!   Prepared::execute: operators pull rows from engine cursors into slots; expressions read slots; rows go to a RowSink
//! ```
//! The planner lives here and not in crate `sql`, so that the parser knows no catalog and no engine.
//! Knows nothing of packets, connections or transactions' begin and end.

pub mod apply;
mod bulk;
pub mod check;
pub mod checksum;
pub mod column_type;
pub mod context;
pub mod ddl;
pub mod error;
pub mod expr;
pub mod handler;
pub mod histogram;
pub mod online;
pub mod parameter;
pub mod plan;
pub mod prepared;
pub mod program;
pub mod rewrite;
pub mod run;
pub mod time_zone;

pub use context::{ColumnMeta, Env, Extreme, KEPT, Outcome, Provenance, RowSink, Stage, Told};
pub use expr::functions::{random_part, random_seed};
pub use plan::tables::PROCESSLIST_DEPRECATED;
pub use prepared::{ColumnUse, Prepared, TableUse, Uses, ViewRight, stack_bytes, with_stack};
