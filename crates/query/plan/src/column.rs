//! Columns of results, as clients are told of them.

use types::DataType;

/// A result column as the client is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnMeta {
    pub schema: String,
    /// Alias of the table.
    pub table: String,
    pub org_table: String,
    pub name: String,
    pub org_name: String,
    pub data_type: DataType,
    /// Protocol flags: NOT_NULL 1, PRI_KEY 2, UNIQUE_KEY 4, MULTIPLE_KEY 8, BLOB 16, UNSIGNED 32, ZEROFILL 64, BINARY 128, ENUM
    /// 256, AUTO_INCREMENT 512, ...
    pub flags: u16,
    /// Where its values come from, on which the type of a column made of it depends.
    pub provenance: Provenance,
    /// What clients are told in place of its own origin; `None`: that.
    pub told: Option<Box<Told>>,
    /// MIN or MAX of a table's column: that column, of which a column made of the result takes all it is.
    pub extreme_of: Option<Box<Extreme>>,
}

/// A table's column by its names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extreme {
    pub schema: String,
    pub table: String,
    pub column: String,
}

/// What clients are told of a column that a query has by way of a view, a derived table or rows that are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    pub schema: String,
    /// The view, or the table that a column comes from.
    pub org_table: String,
    pub org_name: String,
    /// A column of stored rows, and no expression.
    pub stored: bool,
    /// Stored, and made of an expression: a long string is a TEXT or BLOB there.
    pub computed: bool,
}

impl Told {
    /// Of rows that are kept, and made of no table's column.
    pub fn kept(name: &str) -> Option<Box<Told>> {
        let nothing = String::new;
        Some(Box::new(Told {
            schema: nothing(),
            org_table: nothing(),
            org_name: name.to_string(),
            stored: true,
            computed: true,
        }))
    }
}

/// What a result's column is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Provenance {
    /// The column of a table in FROM, or an expression that is none of the following.
    Table,
    /// A column that is reached through a view or derived table merged into the query, or a recursive expression.
    Merged,
    /// A column of the rows that a view or derived table has of its own.
    Kept,
    /// The value of a scalar subquery, or an integer that is written with as many digits as no INT is sure to have.
    Subquery,
    /// MIN or MAX of a column: what is made of it is made of the column.
    Extreme,
    /// MIN or MAX of an expression.
    ExtremeValue,
    /// One of several values: CASE, IF, COALESCE, ...
    Choice,
    /// What a stored function gives.
    Routine,
}

/// Among [`ColumnMeta::flags`], not for clients: the column of a temporary table, told of as a table's.
pub const KEPT: u16 = 1 << 15;
