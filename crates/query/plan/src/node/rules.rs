//! What rows that are written have to obey, and what follows from them.

use catalog::{Table, Trigger};
use expr::Expr;
use std::sync::Arc;

/// The rules of the table that a statement writes, `nodes[0]`, and of those that its foreign keys carry changes to.
pub struct Rules {
    pub nodes: Vec<TableRules>,
    /// Of the table that the statement writes.
    pub triggers: Triggers,
}

/// What a row of a table has to satisfy, or gets, beyond types and keys.
pub struct TableRules {
    pub table: Arc<Table>,
    /// Expressions over a row in slot 0.
    pub defaults: Vec<(usize, Expr)>,
    pub generated: Vec<(usize, Expr)>,
    /// Those that are enforced, by name.
    pub checks: Vec<(String, Expr)>,
    /// WITH CHECK OPTION of the view that is written through: its name and condition.
    pub view_check: Option<(String, Expr)>,
    pub parents: Vec<Parent>,
    pub children: Vec<Child>,
}

/// A foreign key of the table: where its parent's rows are found.
pub struct Parent {
    /// Position in [`Table::foreign_keys`].
    pub key: usize,
    /// The parent and its index; `None`: there is none, no row can have one.
    pub found: Option<(Arc<Table>, usize)>,
    /// The table's column for each part of that index that is looked up.
    pub columns: Vec<usize>,
}

/// A foreign key on the table: where the rows are found that refer to one of its rows.
pub struct Child {
    pub node: usize,
    /// Position in the child's [`Table::foreign_keys`].
    pub key: usize,
    /// The child's index.
    pub index: usize,
    /// The parent's column for each part of that index that is looked up.
    pub columns: Vec<usize>,
    /// (child's column, parent's column)
    pub pairs: Vec<(usize, usize)>,
}

/// The triggers that a statement fires at the rows of the table that it writes, in the order of the table's definition.
#[derive(Default)]
pub struct Triggers {
    pub all: Vec<Arc<Trigger>>,
    /// Columns that those before an update may set.
    pub set_by_update: Vec<usize>,
}
