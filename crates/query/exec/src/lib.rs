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
pub mod context;
pub mod ddl;
pub mod handler;
pub mod histogram;
pub mod online;
pub mod prepared;
pub mod program;
pub mod rewrite;
pub mod run;

pub use context::{Env, Outcome, RowSink};
pub use prepared::{Prepared, Uses};
