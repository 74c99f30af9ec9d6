//! INSERT, INSERT IGNORE, REPLACE, INSERT ... ON DUPLICATE KEY UPDATE, from rows or a query.

use super::change::{Assigner, info};
use super::subquery::Query;
use super::write::{self, Refused, RowWriter, Strictness};
use super::{Frame, Run, Scope, recycle};
use crate::context::Outcome;
use crate::error;
use crate::plan::node::{self, Assigned};
use catalog::Table;
use engine::{Cursor, Direction, LockMode, Range, Read, Wait};
use std::ops::Bound;
use std::sync::Arc;
use types::sql_mode::SqlMode;
use types::{DataType, Result, SqlError, TypeKind, Value};

const LOCKING: Read = Read::Locking { mode: LockMode::Exclusive, wait: Wait::Block };

enum Source {
    Rows(Vec<Vec<Assigned>>),
    Query(Query),
}

pub struct InsertStatement {
    /// Taken out while the statement runs, so that its methods may borrow the table and change the rest.
    table: Option<Arc<Table>>,
    replace: bool,
    ignore: bool,
    columns: Vec<usize>,
    /// By column: which given value it gets.
    given: Vec<Option<usize>>,
    source: Source,
    on_duplicate: Option<Assigner>,
    frame: Frame,
    writer: RowWriter,
    values: Vec<Value<'static>>,
    probe: Vec<u8>,
}

/// What the rows of one execution have come to.
struct Progress {
    how: Strictness,
    row: u64,
    affected: u64,
    duplicates: u64,
    /// AUTO_INCREMENT: values reserved and not used yet, (next, left, step).
    reserved: (u64, u64, u64),
    rows_left: u64,
    first_generated: u64,
    last_explicit: u64,
}

impl InsertStatement {
    pub fn new(i: node::Insert) -> InsertStatement {
        let mut given = vec![None; i.table.columns.len()];
        for (n, c) in i.columns.iter().enumerate() {
            given[*c] = Some(n);
        }
        let on_duplicate = (!i.on_duplicate.is_empty()).then(|| Assigner::new(&i.table, i.on_duplicate));
        InsertStatement {
            replace: i.replace,
            ignore: i.ignore,
            columns: i.columns,
            given,
            source: match i.source {
                node::InsertSource::Rows(rows) => Source::Rows(rows),
                node::InsertSource::Query(q) => Source::Query(Query::new(*q)),
            },
            on_duplicate,
            frame: Frame::new(i.shapes),
            table: Some(i.table),
            writer: RowWriter::default(),
            values: Vec::new(),
            probe: Vec::new(),
        }
    }

    pub fn execute(&mut self, run: &Run<'_>) -> Result<Outcome> {
        let table = self.table.take().expect("put back after each execution");
        let result = self.execute_on(&table, run);
        self.table = Some(table);
        result
    }

    fn execute_on(&mut self, table: &Table, run: &Run<'_>) -> Result<Outcome> {
        let row_count = match &self.source {
            Source::Rows(rows) => rows.len() as u64,
            Source::Query(_) => 0,
        };
        let how = Strictness::new(run, self.ignore, row_count == 1);
        run.strict.set(!how.lenient);
        let mut p = Progress {
            how,
            row: 0,
            affected: 0,
            duplicates: 0,
            reserved: (0, 0, 1),
            rows_left: row_count,
            first_generated: 0,
            last_explicit: 0,
        };
        let mut source = std::mem::replace(&mut self.source, Source::Rows(Vec::new()));
        let result = match &mut source {
            Source::Rows(rows) => self.insert_rows(table, rows, &mut p, run),
            Source::Query(query) => self.insert_query(table, query, &mut p, run),
        };
        let from_query = matches!(source, Source::Query(_));
        self.source = source;
        result?;
        if p.first_generated != 0 {
            run.env.borrow_mut().set_last_insert_id(p.first_generated);
        }
        let info = if from_query || row_count > 1 {
            let warnings = run.warnings.get();
            info(&[("Records: ", p.row), ("  Duplicates: ", p.duplicates), ("  Warnings: ", warnings)])
        } else {
            String::new()
        };
        let insert_id = if p.first_generated != 0 { p.first_generated } else { p.last_explicit };
        Ok(Outcome { affected_rows: p.affected, insert_id, info, ..Outcome::default() })
    }

    fn insert_rows(&mut self, table: &Table, rows: &[Vec<Assigned>], p: &mut Progress, run: &Run<'_>) -> Result<()> {
        for row in rows {
            run.check_interrupt()?;
            p.row += 1;
            let mut values = recycle(std::mem::take(&mut self.values));
            let at = Scope::new(&self.frame, None);
            for (i, c) in table.columns.iter().enumerate() {
                let v = match self.given[i].and_then(|n| row.get(n)) {
                    None => absent(table, i, p, run)?,
                    Some(Assigned::Default) => absent(table, i, p, run)?,
                    Some(Assigned::Value(e)) => {
                        let v = e.eval(run, at)?;
                        if c.auto_increment {
                            auto_increment(table, v, &e.ty, i, p, run)?
                        } else {
                            write::store(v, &e.ty, c, p.row, p.how, run)?
                        }
                    }
                };
                values.push(v);
            }
            self.writer.encode(table, &values);
            self.values = recycle(values);
            self.write(table, p, run)?;
            p.rows_left -= 1;
        }
        Ok(())
    }

    fn insert_query(&mut self, table: &Table, query: &mut Query, p: &mut Progress, run: &Run<'_>) -> Result<()> {
        query.forget();
        query.open(run, None)?;
        // A query that reads the table itself sees none of the new rows: they are kept apart until it ends.
        let mut kept: Vec<u8> = Vec::new();
        let mut ends: Vec<usize> = Vec::new();
        while query.next(run, None)? {
            run.check_interrupt()?;
            query.write_row(run, None, &mut kept)?;
            ends.push(kept.len());
            run.check_temp_bytes(kept.len())?;
        }
        let width = query.outputs.len();
        let mut start = 0;
        for end in ends {
            run.check_interrupt()?;
            p.row += 1;
            let tuple = &kept[start..end];
            start = end;
            let mut values = recycle(std::mem::take(&mut self.values));
            for (i, c) in table.columns.iter().enumerate() {
                let v = match self.given[i] {
                    None => absent(table, i, p, run)?,
                    Some(n) => {
                        let v = super::tuple::get(tuple, width, n);
                        let ty = &query.outputs[n].ty;
                        if c.auto_increment {
                            auto_increment(table, v, ty, i, p, run)?
                        } else {
                            write::store(v, ty, c, p.row, p.how, run)?
                        }
                    }
                };
                values.push(v);
            }
            self.writer.encode(table, &values);
            self.values = recycle(values);
            self.write(table, p, run)?;
        }
        debug_assert_eq!(self.columns.len(), width);
        Ok(())
    }

    /// Writes the encoded row.
    fn write(&mut self, table: &Table, p: &mut Progress, run: &Run<'_>) -> Result<()> {
        let special = self.ignore || self.replace || self.on_duplicate.is_some();
        loop {
            let mut tx = run.tx.borrow_mut();
            let savepoint = special.then(|| tx.savepoint());
            let index = match self.writer.insert(table, &mut tx) {
                Ok(()) => {
                    p.affected += 1;
                    return Ok(());
                }
                Err(Refused::Duplicate(i)) => i,
                Err(refused) => return Err(refused.locked()),
            };
            let Some(savepoint) = savepoint else { return Err(self.writer.duplicate(table, index)) };
            tx.rollback_to(savepoint).map_err(error::engine)?;
            drop(tx);
            if self.replace || self.on_duplicate.is_some() {
                if !self.find_conflict(table, index, run)? {
                    // The other row has gone between the check and the lock: try again.
                    run.check_interrupt_now()?;
                    continue;
                }
                p.duplicates += 1;
                if self.replace {
                    let slot = &self.frame.slots[0];
                    let mut remover = RowWriter::default();
                    remover.delete(table, &mut run.tx.borrow_mut(), &slot.key, &slot.bytes).map_err(Refused::locked)?;
                    p.affected += 1;
                    continue;
                }
                return self.update_conflict(table, p, run);
            }
            p.duplicates += 1;
            let e = self.writer.duplicate(table, index);
            run.warn(e.code, e.message);
            return Ok(());
        }
    }

    /// Reads and locks the row that has the encoded row's key in `index`, into slot 0.
    fn find_conflict(&mut self, table: &Table, index: usize, run: &Run<'_>) -> Result<bool> {
        let mut tx = run.tx.borrow_mut();
        let slot = &mut self.frame.slots[0];
        slot.present = true;
        slot.key.clear();
        if index == 0 {
            slot.key.extend_from_slice(&self.writer.key);
        } else {
            self.probe.clear();
            write::index_parts(&mut self.probe, table, index, &self.writer.row);
            let mut upper = self.probe.clone();
            let bounded = types::key::successor(&mut upper);
            let range = Range {
                lower: Bound::Included(&self.probe[..]),
                upper: if bounded { Bound::Excluded(&upper[..]) } else { Bound::Unbounded },
            };
            let mut cursor = Cursor::new(table.indexes[index].tree, range, Direction::Forward, LOCKING, 1);
            match cursor.next(&mut tx).map_err(|e| run.engine_error(e))? {
                Some(entry) => slot.key.extend_from_slice(&entry.key[self.probe.len()..]),
                None => return Ok(false),
            }
        }
        tx.get(table.indexes[0].tree, &slot.key, LOCKING, &mut slot.bytes).map_err(|e| run.engine_error(e))
    }

    /// ON DUPLICATE KEY UPDATE of the row in slot 0.
    fn update_conflict(&mut self, table: &Table, p: &mut Progress, run: &Run<'_>) -> Result<()> {
        let new = &mut self.frame.slots[1];
        new.bytes.clear();
        new.bytes.extend_from_slice(&self.writer.row);
        new.present = true;
        let assigner = self.on_duplicate.as_mut().expect("called for ON DUPLICATE KEY UPDATE");
        assigner.apply(table, &mut self.frame, &mut self.writer, p.row, p.how, run)?;
        let slot = &self.frame.slots[0];
        let mut tx = run.tx.borrow_mut();
        match self.writer.update(table, &mut tx, &slot.key, &slot.bytes, &assigner.touched) {
            Ok(true) => p.affected += 2,
            Ok(false) => {}
            Err(Refused::Duplicate(i)) => return Err(self.writer.duplicate(table, i)),
            Err(refused) => return Err(refused.locked()),
        }
        Ok(())
    }
}

/// The value of a column that none was given for.
fn absent<'v>(table: &'v Table, i: usize, p: &mut Progress, run: &Run<'_>) -> Result<Value<'v>> {
    let c = &table.columns[i];
    if c.auto_increment {
        return auto_increment(table, Value::Null, &DataType::new(TypeKind::Null), i, p, run);
    }
    if c.hidden {
        let ids = table.row_ids.as_ref().expect("a table with a hidden key has a row id counter");
        let id = ids.reserve(run.env.borrow().engine(), 1, 1, 1, u64::MAX).map_err(error::engine)?;
        let id = id.ok_or_else(|| SqlError::new(1467, "Failed to read auto-increment value from storage engine"))?;
        return Ok(if c.data_type.unsigned { Value::UInt(id) } else { Value::Int(id as i64) });
    }
    write::default_value(c, p.how, run)
}

/// The value of the AUTO_INCREMENT column: generated for NULL and 0, else the given one.
fn auto_increment<'v>(
    table: &Table,
    v: Value<'v>,
    ty: &DataType,
    i: usize,
    p: &mut Progress,
    run: &Run<'_>,
) -> Result<Value<'v>> {
    let c = &table.columns[i];
    let counter = table.auto_increment.as_ref().expect("an AUTO_INCREMENT column has a counter");
    if !v.is_null() {
        let v = write::store(v, ty, c, p.row, p.how, run)?;
        let number = v.to_i64();
        let zero = if c.data_type.unsigned { v.to_u64() == 0 } else { number == 0 };
        if !zero || run.sql_mode.has(SqlMode::NO_AUTO_VALUE_ON_ZERO) {
            let number = v.to_u64();
            if number > 0 {
                counter.observe(run.env.borrow().engine(), number).map_err(error::engine)?;
                p.last_explicit = number;
            }
            return Ok(v);
        }
    }
    if p.reserved.1 == 0 {
        let env = run.env.borrow();
        let (step, offset) = env.auto_increment_step();
        let (_, max) = c.data_type.integer_bounds();
        let wanted = p.rows_left.max(1);
        let mut first = counter.reserve(env.engine(), wanted, step, offset, max).map_err(error::engine)?;
        let mut count = wanted;
        if first.is_none() && wanted > 1 {
            first = counter.reserve(env.engine(), 1, step, offset, max).map_err(error::engine)?;
            count = 1;
        }
        let first = match first {
            Some(first) => first,
            // The last value is tried again, and is a duplicate unless its row is gone.
            None if max < u64::MAX => max,
            None => return Err(SqlError::new(1467, "Failed to read auto-increment value from storage engine")),
        };
        p.reserved = (first, count, step);
    }
    let value = p.reserved.0;
    p.reserved = (value.saturating_add(p.reserved.2), p.reserved.1 - 1, p.reserved.2);
    if p.first_generated == 0 {
        p.first_generated = value;
    }
    Ok(if c.data_type.unsigned { Value::UInt(value) } else { Value::Int(value as i64) })
}
