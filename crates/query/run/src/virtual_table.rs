//! Tables of information_schema, performance_schema and mysql, whose rows are made when they are read.

use super::{Frame, Op, Run, Scope, Shape, tuple};
use catalog::{Sought, Table};
use observe::Counter;
use plan::node::SoughtColumn;
use std::sync::Arc;
use types::{Result, TypeKind, Value};

/// A table of information_schema or performance_schema.
pub struct VirtualOp {
    pub slot: usize,
    pub table: Arc<Table>,
    pub sought: Vec<SoughtColumn>,
    pub rows: Vec<Vec<Value<'static>>>,
    pub next: usize,
}

/// Values of ENUM and SET columns are computed as texts, and are numbers where rows are compared and sorted.
fn number_members(table: &Table, rows: &mut [Vec<Value<'static>>]) {
    for (at, column) in table.columns.iter().enumerate().filter(|(_, c)| !c.members.is_empty()) {
        let member = |text: &[u8]| column.members.iter().position(|m| m.as_bytes() == text);
        for row in &mut *rows {
            let Value::Bytes(text) = &row[at] else { continue };
            let number = match column.data_type.kind {
                TypeKind::Enum => member(text).map(|n| n as u64 + 1),
                TypeKind::Set if text.is_empty() => Some(0),
                TypeKind::Set => {
                    text.split(|b| *b == b',').try_fold(0, |bits, word| member(word).map(|n| bits | 1 << n))
                }
                _ => None,
            };
            if let Some(n) = number {
                row[at] = Value::UInt(n);
            }
        }
    }
}

impl Op for VirtualOp {
    fn open(&mut self, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<()> {
        self.rows.clear();
        self.next = 0;
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
        source.rows(env.virtual_context(), &all, &mut self.rows)?;
        number_members(&self.table, &mut self.rows);
        Ok(())
    }

    fn next(&mut self, _run: &Run<'_>, frame: &mut Frame, _outer: Option<&Scope<'_>>) -> Result<bool> {
        observe::increment(Counter::HandlerReadRndNext);
        let Some(row) = self.rows.get(self.next) else { return Ok(false) };
        self.next += 1;
        let slot = &mut frame.slots[self.slot];
        debug_assert!(matches!(slot.shape, Shape::Tuple(n) if n == row.len()));
        slot.bytes.clear();
        let mut w = tuple::Writer::new(&mut slot.bytes, row.len());
        row.iter().for_each(|v| w.push(v));
        w.finish();
        slot.present = true;
        Ok(true)
    }
}
