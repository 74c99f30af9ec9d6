//! UPDATE and DELETE.
//!
//! Rows come from the plan by exclusive locking reads. When the scan reads a key that the statement changes, keys are
//! collected first, so that no row is met twice (the Halloween problem); otherwise rows are written as they come.

use super::sort::encode_key;
use super::write::{self, Refused, RowWriter, Strictness};
use super::{Frame, Op, Run, Scope, recycle};
use crate::context::Outcome;
use crate::error;
use crate::plan::node::{self, Assigned, SortKey};
use catalog::Table;
use engine::{LockMode, Read, Wait};
use std::sync::Arc;
use types::{Result, Value};

const LOCKING: Read = Read::Locking { mode: LockMode::Exclusive, wait: Wait::Block };

/// The rows of an UPDATE or DELETE, one after another in slot 0.
struct Rows {
    table: Arc<Table>,
    root: Box<dyn Op>,
    frame: Frame,
    collect: bool,
    order: Vec<SortKey>,
    limit: Option<crate::expr::Expr>,
    /// Collected keys: sort key bytes, then clustered key.
    bytes: Vec<u8>,
    entries: Vec<(u32, u32, u32)>,
    next: usize,
    left: u64,
}

impl Rows {
    fn new(t: node::Target) -> Rows {
        assert_eq!(t.slot, 0, "the target is the first table");
        Rows {
            table: t.table,
            root: super::build::build(t.plan, false),
            frame: Frame::new(t.shapes),
            collect: t.collect,
            order: t.order,
            limit: t.limit,
            bytes: Vec::new(),
            entries: Vec::new(),
            next: 0,
            left: 0,
        }
    }

    fn open(&mut self, run: &Run<'_>) -> Result<()> {
        self.root.forget();
        self.next = 0;
        self.bytes.clear();
        self.entries.clear();
        self.left = match &self.limit {
            Some(e) => super::flow::limit_value(e, run, Scope { frame: &self.frame, outer: None })?,
            None => u64::MAX,
        };
        if self.left == 0 {
            return Ok(());
        }
        self.root.open(run, &mut self.frame, None)?;
        if !self.collect {
            return Ok(());
        }
        let early = if self.order.is_empty() { self.left } else { u64::MAX };
        while (self.entries.len() as u64) < early && self.root.next(run, &mut self.frame, None)? {
            run.check_interrupt()?;
            let start = self.bytes.len() as u32;
            let at = Scope { frame: &self.frame, outer: None };
            for k in &self.order {
                let v = k.expr.eval(run, at)?;
                encode_key(&mut self.bytes, &v, &k.expr.ty, k.descending);
            }
            let key_at = self.bytes.len() as u32;
            self.bytes.extend_from_slice(&self.frame.slots[0].key);
            self.entries.push((start, key_at, self.bytes.len() as u32));
            if self.bytes.len() > super::flow::HASH_BYTES_MAX {
                return Err(types::SqlError::new(
                    1038,
                    "Out of sort memory, consider increasing server sort buffer size",
                ));
            }
        }
        if !self.order.is_empty() {
            let bytes = &self.bytes;
            self.entries.sort_by(|a, b| bytes[a.0 as usize..a.1 as usize].cmp(&bytes[b.0 as usize..b.1 as usize]));
        }
        Ok(())
    }

    fn next(&mut self, run: &Run<'_>) -> Result<bool> {
        if self.left == 0 {
            return Ok(false);
        }
        run.check_interrupt()?;
        if !self.collect {
            let found = self.root.next(run, &mut self.frame, None)?;
            self.left = if found { self.left - 1 } else { 0 };
            return Ok(found);
        }
        while let Some((_, from, to)) = self.entries.get(self.next).copied() {
            self.next += 1;
            let slot = &mut self.frame.slots[0];
            slot.key.clear();
            slot.key.extend_from_slice(&self.bytes[from as usize..to as usize]);
            let tree = self.table.indexes[0].tree;
            let found =
                run.tx.borrow_mut().get(tree, &slot.key, LOCKING, &mut slot.bytes).map_err(|e| run.engine_error(e))?;
            if found {
                slot.present = true;
                self.left -= 1;
                return Ok(true);
            }
        }
        self.left = 0;
        Ok(false)
    }
}

/// Evaluates assignments over the row in slot `slot` of `frame`, into the writer's row and key.
pub struct Assigner {
    pub set: Vec<(usize, Assigned)>,
    /// A value reads a column set before it: each assignment is made visible to the next.
    pub sequential: bool,
    /// By index: does it have a column that is set?
    pub touched: Vec<bool>,
    values: Vec<Value<'static>>,
}

impl Assigner {
    pub fn new(table: &Arc<Table>, set: Vec<(usize, Assigned)>) -> Assigner {
        let sequential = crate::plan::dml::is_sequential(&set, 0);
        let changes = |c: usize| set.iter().any(|(s, _)| *s == c) || table.columns[c].on_update_now;
        let touched = table.indexes.iter().map(|i| i.parts.iter().any(|p| changes(p.column))).collect();
        Assigner { set, sequential, touched, values: Vec::new() }
    }

    /// Encodes the changed row into `writer`.
    pub fn apply(
        &mut self,
        table: &Table,
        frame: &mut Frame,
        writer: &mut RowWriter,
        row: u64,
        how: Strictness,
        run: &Run<'_>,
    ) -> Result<()> {
        if !self.sequential {
            let mut values = recycle(std::mem::take(&mut self.values));
            let result = self.compute(table, frame, &self.set, &mut values, row, how, run, true);
            if result.is_ok() {
                writer.encode(table, &values);
            }
            self.values = recycle(values);
            return result;
        }
        // The old row comes back into the slot at the end: the caller compares with it.
        let old = frame.slots[0].bytes.clone();
        let mut result = Ok(());
        for i in 0..self.set.len() {
            let mut values = Vec::new();
            let last = i + 1 == self.set.len();
            result = self.compute(table, frame, &self.set[i..=i], &mut values, row, how, run, false);
            if result.is_err() {
                break;
            }
            writer.encode(table, &values);
            if !last {
                drop(values);
                frame.slots[0].bytes.clear();
                frame.slots[0].bytes.extend_from_slice(&writer.row);
            }
        }
        if result.is_ok() && writer.row != old && table.columns.iter().any(|c| c.on_update_now) {
            frame.slots[0].bytes.clear();
            frame.slots[0].bytes.extend_from_slice(&writer.row);
            let mut values = Vec::new();
            self.current(table, frame, &mut values);
            self.touch(table, &mut values, how, run)?;
            writer.encode(table, &values);
        }
        frame.slots[0].bytes = old;
        result
    }

    fn current<'a>(&self, table: &'a Table, frame: &'a Frame, values: &mut Vec<Value<'a>>) {
        let bytes = &frame.slots[0].bytes;
        values.extend((0..table.columns.len()).map(|c| write::column(table, bytes, c)));
    }

    #[expect(clippy::too_many_arguments, reason = "one call of the two ways above")]
    fn compute<'a>(
        &'a self,
        table: &'a Table,
        frame: &'a Frame,
        set: &'a [(usize, Assigned)],
        values: &mut Vec<Value<'a>>,
        row: u64,
        how: Strictness,
        run: &'a Run<'_>,
        touch: bool,
    ) -> Result<()> {
        self.current(table, frame, values);
        let at = Scope { frame, outer: None };
        for (c, value) in set {
            let column = &table.columns[*c];
            values[*c] = match value {
                Assigned::Default => write::default_value(column, how, run)?,
                Assigned::Value(e) => write::store(e.eval(run, at)?, &e.ty, column, row, how, run)?,
            };
        }
        let changed = || set.iter().any(|(c, _)| values[*c] != write::column(table, &frame.slots[0].bytes, *c));
        if touch && table.columns.iter().any(|c| c.on_update_now) && changed() {
            self.touch(table, values, how, run)?;
        }
        Ok(())
    }

    /// ON UPDATE CURRENT_TIMESTAMP of columns that the statement does not set.
    fn touch<'a>(&self, table: &'a Table, values: &mut [Value<'a>], how: Strictness, run: &Run<'_>) -> Result<()> {
        for (i, c) in table.columns.iter().enumerate() {
            if c.on_update_now && !self.set.iter().any(|(s, _)| *s == i) {
                let now = crate::expr::convert::now(run, c.data_type.decimals);
                let ty = crate::expr::convert::type_of(&now);
                values[i] = write::store(now, &ty, c, 1, how, run)?;
            }
        }
        Ok(())
    }
}

pub struct UpdateStatement {
    rows: Rows,
    ignore: bool,
    assigner: Assigner,
    writer: RowWriter,
}

impl UpdateStatement {
    pub fn new(u: node::Update) -> UpdateStatement {
        let assigner = Assigner::new(&u.target.table, u.set);
        UpdateStatement { rows: Rows::new(u.target), ignore: u.ignore, assigner, writer: RowWriter::default() }
    }

    pub fn execute(&mut self, run: &Run<'_>) -> Result<Outcome> {
        let how = Strictness::new(run, self.ignore, false);
        run.strict.set(!how.lenient);
        let table = self.rows.table.clone();
        let (mut matched, mut changed) = (0u64, 0u64);
        self.rows.open(run)?;
        while self.rows.next(run)? {
            matched += 1;
            let frame = &mut self.rows.frame;
            self.assigner.apply(&table, frame, &mut self.writer, matched, how, run)?;
            let slot = &frame.slots[0];
            let mut tx = run.tx.borrow_mut();
            let savepoint = self.ignore.then(|| tx.savepoint());
            match self.writer.update(&table, &mut tx, &slot.key, &slot.bytes, &self.assigner.touched) {
                Ok(written) => changed += written as u64,
                Err(Refused::Error(e)) => return Err(e),
                Err(Refused::Duplicate(i)) => {
                    let e = self.writer.duplicate(&table, i);
                    let Some(savepoint) = savepoint else { return Err(e) };
                    tx.rollback_to(savepoint).map_err(error::engine)?;
                    drop(tx);
                    run.warn(e.code, e.message);
                }
            }
        }
        let info = format!("Rows matched: {matched}  Changed: {changed}  Warnings: {}", run.warnings.get());
        Ok(Outcome { affected_rows: changed, insert_id: 0, info })
    }
}

pub struct DeleteStatement {
    rows: Rows,
    writer: RowWriter,
}

impl DeleteStatement {
    pub fn new(d: node::Delete) -> DeleteStatement {
        DeleteStatement { rows: Rows::new(d.target), writer: RowWriter::default() }
    }

    pub fn execute(&mut self, run: &Run<'_>) -> Result<Outcome> {
        let mut deleted = 0;
        run.strict.set(run.sql_mode.is_strict());
        self.rows.open(run)?;
        while self.rows.next(run)? {
            let slot = &self.rows.frame.slots[0];
            self.writer.delete(&self.rows.table, &mut run.tx.borrow_mut(), &slot.key, &slot.bytes)?;
            deleted += 1;
        }
        Ok(Outcome { affected_rows: deleted, ..Outcome::default() })
    }
}
