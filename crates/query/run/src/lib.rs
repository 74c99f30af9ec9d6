//! Operators over the engine, and the statements that they make up.
//!
//! ```text
//!   plan::node (plain data) --build-----> operators with their buffers      both in a Prepared
//!   Prepared::execute: operators pull rows from engine cursors into slots; expressions read slots; rows go to a RowSink
//! ```
//! Each operator pulls rows from its inputs and leaves its own in the slots of a [`expr::Frame`]. A row is no vector of values
//! ([`expr::row`]): a join's row is the slots of its tables side by side. Buffers belong to the plan and are used again by the next
//! execution, unless they have grown great or go on in files: then the operators go when the execution ends ([`Run::holds_much`]).
//!
//! Knows nothing of packets, connections or transactions' begin and end, and of syntax only what stored programs are made of.

pub mod apply;
mod assign;
mod batched;
pub mod beside;
mod build;
mod change;
pub mod context;
mod counted;
mod ends;
pub mod entries;
pub mod entry_rows;
mod execution;
mod explain;
mod expressions;
pub mod fields;
mod flow;
mod group;
pub mod handler;
mod held;
mod index_merge;
mod insert;
mod intersection;
mod join;
mod json_table;
mod key_range;
mod key_set;
mod limit;
mod load;
mod logged;
pub mod long;
mod loose;
mod many;
mod multi_range;
mod one_time_filter;
mod operator;
mod order;
pub mod prepared;
pub mod program;
mod recursive;
mod reread;
pub mod rules;
mod saved_slots;
mod scan;
mod skip;
mod sort;
pub mod spill;
mod statement;
mod subquery;
mod triggers;
mod virtual_table;
mod window;
pub mod write;

pub use context::{Env, Outcome, RowSink};
pub use execution::{PlainReads, Run};
pub use prepared::{Prepared, Uses};

use expr::{Frame, Scope, Shape, tuple};
use long::added_column;
use operator::{Op, Receive, Settled, Step, recycle};
