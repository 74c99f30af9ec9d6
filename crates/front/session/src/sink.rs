//! Where rows go: the wire, memory (cursors, SET, SHOW ... WHERE).

use exec::{ColumnMeta, RowSink};
use protocol::{Column, ColumnFlags, Output, RowFormat, ServerStatus};
use std::borrow::Cow;
use types::charset::Charset;
use types::{DataType, Result, SqlError, Value};

/// The error of a statement whose client has gone: nobody reads it.
#[cold]
pub(crate) fn gone() -> SqlError {
    SqlError::new(1160, "Got an error writing communication packets")
}

pub(crate) fn wire_column(meta: &ColumnMeta) -> Column<'_> {
    Column {
        schema: &meta.schema,
        table: &meta.table,
        org_table: &meta.org_table,
        name: &meta.name,
        org_name: &meta.org_name,
        data_type: meta.data_type,
        flags: ColumnFlags(meta.flags),
    }
}

/// Rows as packets.
pub(crate) struct WireSink<'o> {
    pub out: &'o mut Output,
    pub format: RowFormat,
    pub status: ServerStatus,
    /// `character_set_results` unless it is NULL.
    pub results: Option<Charset>,
    /// At most so many rows are sent (`sql_select_limit`).
    pub limit: u64,
    pub types: Vec<DataType>,
    pub rows: u64,
    pub started: bool,
}

impl WireSink<'_> {
    /// Values in other character sets than the results' are converted.
    #[cold]
    fn converted(&self, values: &[Value<'_>], to: Charset) -> Vec<Value<'static>> {
        let convert = |(value, t): (&Value<'_>, &DataType)| match value {
            Value::Bytes(b) if t.kind.is_text() && differs(t, to) => {
                let mut out = Vec::with_capacity(b.len());
                t.collation.charset().convert(to, b, &mut out);
                Value::Bytes(Cow::Owned(out))
            }
            other => other.clone().into_owned(),
        };
        values.iter().zip(&self.types).map(convert).collect()
    }
}

fn differs(t: &DataType, to: Charset) -> bool {
    let from = t.collation.charset();
    // utf8mb3 and ASCII are subsets of utf8mb4.
    from != to
        && from != Charset::Binary
        && !(to == Charset::Utf8mb4 && matches!(from, Charset::Utf8mb3 | Charset::Ascii))
}

impl RowSink for WireSink<'_> {
    fn columns(&mut self, columns: &[ColumnMeta]) -> Result<()> {
        self.types.clear();
        self.types.extend(columns.iter().map(|c| c.data_type));
        let wire: Vec<Column<'_>> = columns.iter().map(wire_column).collect();
        self.started = true;
        self.out.start_rows(&wire, self.status, 0).map_err(|_| gone())
    }

    #[inline]
    fn row(&mut self, values: &[Value<'_>]) -> Result<()> {
        if self.rows == self.limit {
            return Ok(());
        }
        self.rows += 1;
        match self.results {
            Some(to) if self.types.iter().any(|t| t.kind.is_text() && differs(t, to)) => {
                let values = self.converted(values, to);
                self.out.row(self.format, &self.types, &values)
            }
            _ => self.out.row(self.format, &self.types, values),
        }
        .map_err(|_| gone())
    }
}

/// Rows in memory, up to a bound.
pub(crate) struct MemorySink {
    pub columns: Vec<ColumnMeta>,
    pub rows: Vec<Vec<Value<'static>>>,
    pub bytes: usize,
    pub bytes_max: usize,
}

impl MemorySink {
    pub fn new(bytes_max: usize) -> MemorySink {
        MemorySink { columns: Vec::new(), rows: Vec::new(), bytes: 0, bytes_max }
    }
}

impl RowSink for MemorySink {
    fn columns(&mut self, columns: &[ColumnMeta]) -> Result<()> {
        self.columns = columns.to_vec();
        Ok(())
    }

    fn row(&mut self, values: &[Value<'_>]) -> Result<()> {
        let size = |v: &Value<'_>| size_of::<Value<'_>>() + if let Value::Bytes(b) = v { b.len() } else { 0 };
        self.bytes += values.iter().map(size).sum::<usize>() + size_of::<Vec<Value<'_>>>();
        if self.bytes > self.bytes_max {
            return Err(SqlError::new(
                1037,
                format!("Out of memory; restart server and try again (needed {} bytes)", self.bytes),
            ));
        }
        self.rows.push(values.iter().map(|v| v.clone().into_owned()).collect());
        Ok(())
    }
}
