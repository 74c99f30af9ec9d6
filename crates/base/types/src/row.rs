//! Rows as bytes: null bitmap, fixed-width columns at fixed offsets, then variable-length columns. Any column is read in O(1).

use crate::{DataType, Value};

/// The layout of a table's rows, computed once per schema version.
#[derive(Clone, Debug)]
pub struct RowLayout {}

impl RowLayout {
    pub fn new(_columns: &[DataType]) -> RowLayout {
        todo!()
    }

    /// Appends the row to `out`. `values` are of the columns' types already.
    pub fn encode(&self, _out: &mut Vec<u8>, _values: &[Value<'_>]) {
        todo!()
    }

    /// Column `i` of an encoded row. A row written before a column was added is shorter: then `None` (take the column's default).
    pub fn get<'r>(&self, _row: &'r [u8], _i: usize) -> Option<Value<'r>> {
        todo!()
    }
}
