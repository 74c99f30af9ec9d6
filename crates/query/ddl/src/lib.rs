//! Work of definitions over all rows of a table: indexes filled, tables copied and rebuilt beside writers, checks, checksums, histograms.
//!
//! ```text
//!   fill      an index from the clustered tree        online     the same, and copies of tables, while others write
//!   rewrite   rows copied into new trees              definition what new rows hold, and whether expressions can be planned
//!   check     trees against rows                      checksum, histogram: one pass over all rows
//! ```
//! Knows nothing of SQL text or of sessions: what a statement asks for comes as tables of the dictionary.

mod bulk;
pub mod check;
pub mod checksum;
mod copied;
pub mod definition;
pub mod fill;
pub mod histogram;
pub mod online;
mod progress;
pub mod rewrite;
