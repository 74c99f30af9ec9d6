//! JSON_TABLE: what its paths make rows and columns of.

use expr::Expr;
use types::DataType;
use types::json::Json;
use types::json::path::Path;

/// One JSON_TABLE of a FROM clause.
pub struct JsonTable {
    pub slot: usize,
    pub alias: String,
    /// Reads columns of the tables before it.
    pub doc: Expr,
    pub top: Level,
    /// How many columns all levels have together.
    pub width: usize,
}

/// The elements that a path leads to, each a row: of its own columns, and joined with the rows of the levels within.
pub struct Level {
    pub path: Path,
    pub columns: Vec<Column>,
    pub nested: Vec<Level>,
}

impl Level {
    /// What stands in for a level that is being read.
    pub fn empty() -> Level {
        Level { path: Path { legs: Vec::new() }, columns: Vec::new(), nested: Vec::new() }
    }
}

/// A column of JSON_TABLE.
pub struct Column {
    /// Position in the row.
    pub at: usize,
    pub name: String,
    pub data_type: DataType,
    pub what: What,
}

/// What a column of JSON_TABLE gives.
pub enum What {
    /// The number of the row in its level.
    Ordinality,
    /// Whether the path leads anywhere.
    Exists(Path),
    Value {
        path: Path,
        on_empty: Response,
        on_error: Response,
    },
}

/// What stands in for a value: ON EMPTY, ON ERROR.
pub enum Response {
    Null,
    Error,
    Default(Json),
}
