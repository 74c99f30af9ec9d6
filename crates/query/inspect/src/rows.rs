//! The result of a SHOW statement.

use crate::Row;
use crate::columns::ShowColumns;
use types::DataType;

/// A result set, and the column that `LIKE` compares.
#[derive(Debug)]
pub struct Rows {
    pub columns: ShowColumns,
    pub rows: Vec<Row>,
    pub like: usize,
    /// The schema and table that clients are told they come from; empty: none.
    pub of: (&'static str, &'static str),
}

impl Rows {
    pub fn new(columns: &[(&str, DataType)], rows: Vec<Row>) -> Rows {
        Rows { columns: columns.iter().map(|(n, t)| (n.to_string(), *t)).collect(), rows, like: 0, of: ("", "") }
    }
}
