//! Cursors: the rows of a query as they were when it was opened.

use crate::context::RowSink;
use plan::ColumnMeta;
use types::{DataType, Result, Value};

/// Rows between two looks at how much memory they take.
const LOOK_AFTER: usize = 256;

/// An open cursor.
#[derive(Default)]
pub(super) struct OpenCursor {
    pub types: Vec<DataType>,
    rows: std::collections::VecDeque<Box<[Value<'static>]>>,
    read: usize,
}

impl OpenCursor {
    /// The next row; `None`: there is no more.
    pub fn next(&mut self) -> Option<Box<[Value<'static>]>> {
        self.rows.pop_front()
    }
}

impl RowSink for OpenCursor {
    fn columns(&mut self, columns: &[ColumnMeta]) -> Result<()> {
        self.types = columns.iter().map(|c| c.data_type).collect();
        Ok(())
    }

    /// Error 3170 beyond what the statement may have.
    fn row(&mut self, values: &[Value<'_>]) -> Result<()> {
        self.rows.push_back(values.iter().map(|v| v.clone().into_owned()).collect());
        self.read += 1;
        if self.read.is_multiple_of(LOOK_AFTER) { expr::error::check_memory() } else { Ok(()) }
    }
}
