//! Name resolution, planning and execution of queries and DML: SELECT, INSERT, REPLACE, UPDATE, DELETE, DO.

pub mod context;

pub use context::{ColumnMeta, Env, Outcome, RowSink};
