//! Tables of information_schema, performance_schema and mysql, whose rows are made when they are read. Some of them take changes:
//! a row that is written is encoded as a table's, its own key, and the table is told what it becomes.

use super::write::{Refused, RowWriter, column};
use super::{Frame, Op, Run, Scope, Shape, tuple};
use catalog::{Changed, ComputedRows, Sought, Table, VirtualContext, VirtualTable};
use observe::Counter;
use plan::node::SoughtColumn;
use std::sync::Arc;
use types::{Result, TypeKind, Value};

/// A table of information_schema or performance_schema.
pub struct VirtualOp {
    slot: usize,
    table: Arc<Table>,
    sought: Vec<SoughtColumn>,
    /// Those that were not read yet.
    rows: ComputedRows,
}

impl VirtualOp {
    pub fn new(slot: usize, table: Arc<Table>, sought: Vec<SoughtColumn>) -> VirtualOp {
        VirtualOp { slot, table, sought, rows: none() }
    }
}

fn none() -> ComputedRows {
    Box::new(std::iter::empty())
}

/// Values of ENUM and SET columns are computed as texts, and are numbers where rows are compared and sorted.
fn number_members(table: &Table, row: &mut [Value<'static>]) {
    for (at, column) in table.columns.iter().enumerate().filter(|(_, c)| !c.members.is_empty()) {
        let member = |text: &[u8]| column.members.iter().position(|m| m.as_bytes() == text);
        let Value::Bytes(text) = &row[at] else { continue };
        let number = match column.data_type.kind {
            TypeKind::Enum => member(text).map(|n| n as u64 + 1),
            TypeKind::Set if text.is_empty() => Some(0),
            TypeKind::Set => text.split(|b| *b == b',').try_fold(0, |bits, word| member(word).map(|n| bits | 1 << n)),
            _ => None,
        };
        if let Some(n) = number {
            row[at] = Value::UInt(n);
        }
    }
}

impl Op for VirtualOp {
    fn open(&mut self, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<()> {
        self.rows = none();
        let at = Scope::new(frame, outer);
        let mut all = Vec::with_capacity(self.sought.len());
        for SoughtColumn { column, values, collation } in &self.sought {
            let values: Result<Vec<Value<'_>>> = values.iter().map(|e| e.eval(run, at)).collect();
            let texts: Option<Vec<Vec<u8>>> = values?
                .into_iter()
                .filter(|v| !v.is_null())
                .map(|v| if let Value::Bytes(text) = v { Some(text.into_owned()) } else { None })
                .collect();
            all.extend(texts.map(|values| Sought { column: *column, values, collation: *collation }));
        }
        let source = self.table.virtual_rows.clone().expect("planned as a virtual table");
        let env = run.env.borrow();
        self.rows = source.rows(env.virtual_context(), &all)?;
        Ok(())
    }

    fn next(&mut self, _run: &Run<'_>, frame: &mut Frame, _outer: Option<&Scope<'_>>) -> Result<bool> {
        observe::increment(Counter::HandlerReadRndNext);
        let Some(mut row) = self.rows.next() else {
            self.rows = none();
            return Ok(false);
        };
        number_members(&self.table, &mut row);
        let slot = &mut frame.slots[self.slot];
        slot.bytes.clear();
        match &slot.shape {
            Shape::Row(table) => {
                table.layout.encode(&mut slot.bytes, &row);
                slot.key.clone_from(&slot.bytes);
            }
            shape => {
                debug_assert!(matches!(shape, Shape::Tuple(n) if *n == row.len()));
                let mut w = tuple::Writer::new(&mut slot.bytes, row.len());
                row.iter().for_each(|v| w.push(v));
                w.finish();
            }
        }
        slot.present = true;
        Ok(true)
    }
}

fn values<'r>(table: &'r Table, row: &'r [u8]) -> Vec<Value<'r>> {
    (0..table.columns.len()).map(|i| column(table, row, i)).collect()
}

fn tell(
    table: &Table,
    run: &Run<'_>,
    change: impl FnOnce(&dyn VirtualTable, &dyn VirtualContext) -> Result<()>,
) -> Result<(), Refused> {
    let rows = table.virtual_rows.as_ref().expect("it is computed");
    change(&**rows, run.env.borrow().virtual_context()).map_err(Refused::Error)
}

/// As [`RowWriter::insert`], into a table that is computed.
#[cold]
pub fn insert(table: &Table, writer: &RowWriter, run: &Run<'_>) -> Result<(), Refused> {
    observe::increment(Counter::HandlerWrite);
    tell(table, run, |rows, cx| rows.insert(cx, &values(table, &writer.row)))
}

/// As [`RowWriter::update`]; `set`: the columns that the statement sets.
#[cold]
pub fn update(
    table: &Table,
    writer: &RowWriter,
    old_row: &[u8],
    set: &[usize],
    run: &Run<'_>,
) -> Result<bool, Refused> {
    if writer.row == old_row {
        return Ok(false);
    }
    observe::increment(Counter::HandlerUpdate);
    let (old, new) = (values(table, old_row), values(table, &writer.row));
    tell(table, run, |rows, cx| rows.update(cx, &Changed { old: &old, new: &new, set }))?;
    Ok(true)
}

/// As [`RowWriter::delete`].
#[cold]
pub fn delete(table: &Table, old_row: &[u8], run: &Run<'_>) -> Result<(), Refused> {
    observe::increment(Counter::HandlerDelete);
    tell(table, run, |rows, cx| rows.delete(cx, &values(table, old_row)))
}
