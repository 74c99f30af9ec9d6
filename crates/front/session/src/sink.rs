//! Where rows go: the wire, memory (cursors, SET, SHOW ... WHERE).

use engine::Engine;
use plan::ColumnMeta;
use protocol::{Column, ColumnFlags, Output, RowFormat, RowsHead, ServerStatus};
use run::RowSink;
use std::borrow::Cow;
use std::sync::Arc;
use types::charset::Charset;
use types::codes::*;
use types::{DataType, Result, SqlError, TypeKind, Value, err};

/// The error of a statement whose client has gone, nobody reads it; and of a commit whose session was killed while it waited to
/// become durable ([`engine::Error::Unacknowledged`]), which must be called neither done nor failed.
#[cold]
pub(crate) fn gone() -> SqlError {
    err!(ER_NET_ERROR_ON_WRITE)
}

pub(crate) fn wire_column(meta: &ColumnMeta) -> Column<'_> {
    let (schema, org_table, org_name, stored) = match &meta.told {
        Some(told) => (&told.schema, &told.org_table, &told.org_name, told.stored),
        None => (&meta.schema, &meta.org_table, &meta.org_name, !meta.org_table.is_empty()),
    };
    let computed = meta.told.as_ref().is_some_and(|told| told.computed);
    Column {
        schema,
        table: &meta.table,
        org_table,
        name: &meta.name,
        org_name,
        data_type: if computed { kept_text(meta.data_type) } else { meta.data_type },
        flags: ColumnFlags(meta.flags | if stored { plan::KEPT } else { 0 }),
    }
}

/// What a temporary table makes of an expression's string: a TEXT or BLOB when it is long, each of whose bytes counts as a character.
fn kept_text(t: DataType) -> DataType {
    const VARCHAR_MAX: u32 = 512;
    match t.kind {
        TypeKind::VarChar if t.length > VARCHAR_MAX => {
            let length = t.length.saturating_mul(t.collation.charset().mbmaxlen());
            DataType { kind: TypeKind::Text, length, ..t }
        }
        TypeKind::VarBinary if t.length > VARCHAR_MAX => DataType { kind: TypeKind::Blob, ..t },
        _ => t,
    }
}

/// What a plan keeps of its result set's head from one execution to the next.
pub(crate) struct Head {
    /// `None`: too large to keep.
    wire: Option<RowsHead>,
    types: Vec<DataType>,
    /// Some column is in another character set than the results'.
    converts: bool,
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
    /// From an earlier execution of the same plan, and for the next.
    pub head: Option<Head>,
    pub rows: u64,
    pub started: bool,
    /// The rows rest on commits that may not be durable: rows leave in the middle of the result only behind them. The
    /// output is held.
    pub durable: Option<Arc<Engine>>,
}

impl WireSink<'_> {
    /// Values in other character sets than the results' are converted.
    #[cold]
    fn converted(types: &[DataType], values: &[Value<'_>], to: Charset) -> Vec<Value<'static>> {
        let convert = |(value, t): (&Value<'_>, &DataType)| match value {
            Value::Bytes(b) if t.kind.is_text() && differs(t, to) => {
                let mut out = Vec::with_capacity(b.len());
                t.collation.charset().convert(to, b, &mut out);
                Value::Bytes(Cow::Owned(out))
            }
            other => other.clone().into_owned(),
        };
        values.iter().zip(types).map(convert).collect()
    }

    #[cold]
    fn columns_slow(&mut self, columns: &[ColumnMeta]) -> Result<()> {
        let types: Vec<DataType> = columns.iter().map(|c| c.data_type).collect();
        let columns: Vec<Column<'_>> = columns.iter().map(wire_column).collect();
        let converts = self.results.is_some_and(|to| types.iter().any(|t| t.kind.is_text() && differs(t, to)));
        let wire = self.out.encode_head(&columns);
        let sent = match &wire {
            Some(head) => self.out.start_rows_with(head, self.status, 0),
            None => self.out.start_rows(&columns, self.status, 0),
        };
        self.head = Some(Head { wire, types, converts });
        sent.map_err(|_| gone())
    }

    /// The buffer of a held output is full.
    #[cold]
    fn send_durable(&mut self, engine: &Engine) -> Result<()> {
        engine.await_commits().map_err(catalog::error::engine)?;
        self.out.flush().map_err(|_| gone())
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
    #[inline]
    fn columns(&mut self, columns: &[ColumnMeta]) -> Result<()> {
        self.started = true;
        match &self.head {
            Some(Head { wire: Some(head), .. }) if self.out.accepts(head) => {
                self.out.start_rows_with(head, self.status, 0).map_err(|_| gone())
            }
            _ => self.columns_slow(columns),
        }
    }

    #[inline]
    fn row(&mut self, values: &[Value<'_>]) -> Result<()> {
        if self.rows == self.limit {
            return Ok(());
        }
        self.rows += 1;
        let Head { types, converts, .. } = self.head.as_ref().expect("columns come before rows");
        match self.results {
            Some(to) if *converts => {
                let values = Self::converted(types, values, to);
                self.out.row(self.format, types, &values)
            }
            _ => self.out.row(self.format, types, values),
        }
        .map_err(|_| gone())?;
        if self.out.is_full()
            && let Some(engine) = self.durable.take()
        {
            self.send_durable(&engine)?;
            self.durable = Some(engine);
        }
        Ok(())
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
            return Err(err!(ER_OUTOFMEMORY, self.bytes));
        }
        self.rows.push(values.iter().map(|v| v.clone().into_owned()).collect());
        Ok(())
    }
}
