//! Columns, and how their names compare.

use crate::histogram::Histogram;
use std::sync::Arc;
use types::{DataType, Value};

/// Names of columns, indexes and aliases are the same in any letter case.
pub fn eq_name(a: &str, b: &str) -> bool {
    a.eq_ignore_ascii_case(b) || (!a.is_ascii() && a.to_lowercase() == b.to_lowercase())
}

#[derive(Clone, Debug)]
pub struct Column {
    pub name: String,
    pub data_type: DataType,
    pub default: ColumnDefault,
    pub generated: Option<Generated>,
    pub auto_increment: bool,
    /// ON UPDATE CURRENT_TIMESTAMP
    pub on_update_now: bool,
    /// Members of ENUM and SET.
    pub members: Vec<String>,
    pub comment: String,
    /// Was its character set or collation written for it? SHOW CREATE TABLE repeats both then, whatever the table's are.
    pub explicit_collation: bool,
    /// Attributes without effect here that SHOW CREATE TABLE repeats, such as `STORAGE DISK`.
    pub kept: Vec<String>,
    /// INVISIBLE: not part of `*`, but has a name.
    pub invisible: bool,
    /// The row id of a table without a primary key, or the value of an index's expression: no statement can name it.
    pub hidden: bool,
    /// How its values are spread, if ANALYZE TABLE was asked to find out.
    pub histogram: Option<Arc<Histogram>>,
}

impl Column {
    /// A plain column: no default, no attribute.
    pub fn new(name: impl Into<String>, data_type: DataType) -> Column {
        Column {
            name: name.into(),
            data_type,
            default: ColumnDefault::None,
            generated: None,
            auto_increment: false,
            on_update_now: false,
            members: Vec::new(),
            comment: String::new(),
            explicit_collation: false,
            kept: Vec::new(),
            invisible: false,
            hidden: false,
            histogram: None,
        }
    }

    /// The row id of a table without a primary key.
    pub fn is_row_id(&self) -> bool {
        self.hidden && self.generated.is_none()
    }

    /// Is it part of `*`?
    pub fn is_in_star(&self) -> bool {
        !self.hidden && !self.invisible
    }

    /// The type that its values have in the key of an index: of an array, that of the elements.
    pub fn key_type(&self) -> DataType {
        self.array_of().unwrap_or(self.data_type)
    }

    /// The type of the elements, for the hidden column of a multi-valued index part.
    pub fn array_of(&self) -> Option<DataType> {
        self.generated.as_ref().and_then(|g| g.array)
    }

    /// The expression of the index part that this hidden column holds.
    pub fn index_expression(&self) -> Option<&str> {
        self.generated.as_ref().filter(|_| self.hidden).map(|g| g.expression.as_str())
    }
}

/// GENERATED ALWAYS AS (expression). Virtual columns are kept in the row like stored ones: they cost space, and reading
/// them costs nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Generated {
    /// Canonical text (see `sql::print`), with names of columns of the table.
    pub expression: String,
    pub stored: bool,
    /// CAST(... AS type ARRAY), the hidden column of a multi-valued index part: the type of the elements, nullable. The column
    /// holds a JSON array of different values of that type in their order, or NULL.
    pub array: Option<DataType>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ColumnDefault {
    /// No default: INSERT must give a value (in strict mode).
    None,
    Value(Value<'static>),
    /// CURRENT_TIMESTAMP with the column's fractional digits.
    Now,
    /// DEFAULT (expression), as canonical text.
    Expression(String),
}
