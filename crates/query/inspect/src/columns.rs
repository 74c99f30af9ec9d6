//! Building virtual tables from lists of columns.

use crate::{Context, Row};
use catalog::{Column, ColumnDefault, Table, VirtualContext, VirtualTable};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use types::collation::CollationId;
use types::row::RowLayout;
use types::{DataType, Result, SqlError, TypeKind, Value};

/// Names and types of the columns of a SHOW.
pub type ShowColumns = Vec<(String, DataType)>;

/// VARCHAR(n), in the collation of names.
pub(crate) const fn varchar(n: u32) -> DataType {
    DataType::string(TypeKind::VarChar, n, CollationId::UTF8MB4_0900_AI_CI)
}

pub(crate) const fn longtext() -> DataType {
    DataType::string(TypeKind::LongText, 0, CollationId::UTF8MB4_0900_AI_CI)
}

pub(crate) const fn bigint() -> DataType {
    DataType { length: 21, ..DataType::new(TypeKind::BigInt).unsigned() }
}

pub(crate) const fn int() -> DataType {
    DataType { length: 11, ..DataType::new(TypeKind::Int) }
}

pub(crate) const fn time() -> DataType {
    DataType::new(TypeKind::DateTime)
}

/// Computes the rows of a table of a system schema.
pub(crate) type Compute = fn(&Context, &mut Vec<Row>) -> Result<()>;

struct Computed(Compute);

impl VirtualTable for Computed {
    fn rows(&self, cx: &dyn VirtualContext, out: &mut Vec<Row>) -> Result<()> {
        let cx = cx.as_any().downcast_ref::<Context>();
        let cx = cx.ok_or_else(|| SqlError::new(1105, "this statement has no view of the system schemas"))?;
        (self.0)(cx, out)
    }
}

/// Rows that are known already: what `SHOW ... WHERE` filters.
pub struct VirtualRows(pub Vec<Row>);

impl VirtualTable for VirtualRows {
    fn rows(&self, _cx: &dyn VirtualContext, out: &mut Vec<Row>) -> Result<()> {
        out.extend(self.0.iter().cloned());
        Ok(())
    }
}

impl VirtualRows {
    /// A table of these rows.
    pub fn table(self, schema: &str, name: &str, columns: &[(String, DataType)]) -> Table {
        build(schema, name, columns.iter().map(|(n, t)| (n.as_str(), *t)), Arc::new(self))
    }
}

/// A table of a system schema.
pub(crate) fn computed(schema: &str, name: &str, columns: &[(&str, DataType)], compute: Compute) -> Table {
    build(schema, name, columns.iter().copied(), Arc::new(Computed(compute)))
}

fn build<'c>(
    schema: &str,
    name: &str,
    columns: impl Iterator<Item = (&'c str, DataType)>,
    rows: Arc<dyn VirtualTable>,
) -> Table {
    /// Ids of virtual tables, far above those of real ones.
    static NEXT_ID: AtomicU64 = AtomicU64::new(1 << 62);
    let columns: Vec<Column> = columns
        .map(|(name, data_type)| Column {
            name: name.to_string(),
            data_type,
            default: ColumnDefault::Value(Value::Null),
            auto_increment: false,
            on_update_now: false,
            members: Vec::new(),
            comment: String::new(),
            hidden: false,
        })
        .collect();
    let types: Vec<DataType> = columns.iter().map(|c| c.data_type).collect();
    Table {
        // Relaxed: only has to be unique.
        id: NEXT_ID.fetch_add(1, Ordering::Relaxed),
        version: 1,
        schema: schema.to_string(),
        name: name.to_string(),
        columns,
        indexes: Vec::new(),
        layout: RowLayout::new(&types),
        auto_increment: None,
        row_ids: None,
        default_collation: CollationId::UTF8MB4_0900_AI_CI,
        comment: String::new(),
        create_options: String::new(),
        created: 0,
        readable_since: 0,
        gate: Arc::default(),
        virtual_rows: Some(rows),
    }
}
