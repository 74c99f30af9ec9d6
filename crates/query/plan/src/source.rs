//! What is kept of a table in FROM besides its columns: how it is written through, planned anew, and what hints say of it.

use catalog::Table;
use sql::ast::QueryId;
use sql::hints::KeyHint;
use std::ops::Range;
use std::sync::Arc;

/// What a view is merged for. Where something is written, its condition may have subqueries.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub enum Through {
    #[default]
    Read,
    /// Rows are added: what its condition reads does not matter.
    Insert,
    /// Rows are changed or deleted: they are of a table that its condition does not read.
    Change,
}

/// A column that is set, with the table that it is said to be of; or a table, all of whose rows go.
pub struct Written {
    pub(super) table: Option<String>,
    pub(super) column: Option<String>,
}

/// How a derived table is planned anew.
pub struct Origin {
    pub from: Definition,
    /// The subqueries that its first plan has made.
    pub subqueries: Range<usize>,
    /// Query blocks that its first plan has planned anew.
    pub blocks_anew: usize,
    /// Of the statement, before its first plan.
    pub height: u32,
}

/// What a derived table's rows are.
#[derive(Clone)]
pub enum Definition {
    /// A query of the statement; of a common table expression with its place among those in scope.
    Query(QueryId, Option<usize>),
    View(Arc<Table>),
}

/// What hints say of a table in FROM.
#[derive(Clone, Debug, Default)]
pub struct Tuning {
    /// BNL and NO_BNL: may it be joined by a hash table?
    pub hash: Option<bool>,
    /// BKA and NO_BKA: is it looked up for many rows at a time?
    pub batched: Option<bool>,
    /// Index hints, with places in the table's list; an empty list means all.
    pub keys: Vec<(KeyHint, bool, Vec<usize>)>,
}

/// Which tables of a statement may become part of the block that reads them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Merges {
    Nothing,
    /// Those of a view that is written through: its derived tables are read alone.
    Views,
    All,
}
