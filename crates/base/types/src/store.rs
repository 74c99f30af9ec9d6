//! Assignment of a value to a column: range checks, rounding, truncation, padding, and the errors or warnings they make.

use crate::{DataType, Result, SqlMode, Value, error::Warning};

/// What an assignment needs to know besides the two types.
#[derive(Clone, Copy, Debug)]
pub struct StoreContext<'c> {
    /// Strictness and date checks. For INSERT IGNORE and the like, pass a mode without the strict flags.
    pub mode: SqlMode,
    /// The column's name, for messages.
    pub column: &'c str,
    /// 1-based row of the statement, for messages.
    pub row: u64,
    /// Members of an ENUM or SET, in the column's character set.
    pub members: &'c [String],
}

/// The value as the column stores it: of the column's own type, within its range, rounded to its scale, in its character
/// set, cut to its length. In strict mode what does not fit is an error (1264, 1265, 1292, 1366, 1406); otherwise the
/// nearest value that does and a warning. NULL passes (the caller checks NOT NULL, since DEFAULT and AUTO_INCREMENT differ).
pub fn coerce_for_store<'a>(
    _value: Value<'a>,
    _source: &DataType,
    _column: &DataType,
    _context: &StoreContext<'_>,
) -> Result<(Value<'a>, Option<Warning>)> {
    todo!()
}
