//! UPDATE and DELETE.
//!
//! Rows come from the plan by exclusive locking reads. When the scan reads a key that the statement changes, keys are
//! collected first, so that no row is met twice (the Halloween problem); otherwise rows are written as they come.

use crate::assign::Assigner;
use crate::beside::{placed, row_savepoint, undo_row};
use crate::context::{Outcome, info};
use crate::execution::LOCKING;
use crate::reread::read_anew;
use crate::rules::{RuleSet, is_ignorable};
use crate::scan::{ScanOp, count_position};
use crate::sort::encode_sort_key;
use crate::write::{Refused, RowWriter};
use crate::{Frame, Op, Run, Scope, Settled, virtual_table};
use catalog::Table;
use expr::{Execution, Strictness};
use plan::node::{self, Plan, SortKey};
use plan::slots::slot_names;
use std::sync::Arc;
use types::Result;

/// The rows of an UPDATE or DELETE, one after another in slot 0.
struct Rows {
    table: Arc<Table>,
    root: Box<dyn Op>,
    frame: Frame,
    updates: bool,
    collect: bool,
    order: Vec<SortKey>,
    limit: Option<expr::Expr>,
    /// Collected keys: sort key bytes, then clustered key.
    bytes: Vec<u8>,
    entries: Vec<(u32, u32, u32)>,
    next: usize,
    left: u64,
}

impl Rows {
    /// `repeatable`: what is done to a row can be done again, should it turn out to have changed. `update`: rows are updated.
    fn new(t: node::Target, repeatable: bool, update: bool) -> Rows {
        assert_eq!(t.slot, 0, "the target is the first table");
        let scan_of = |scan, to_write: bool| {
            let mut scan = Box::new(ScanOp::new(scan));
            if to_write {
                scan.read_to_write();
            }
            if update {
                scan.read_semi_consistently();
            }
            scan
        };
        let names = slot_names(&t.plan);
        let root: Box<dyn Op> = match t.plan {
            Plan::Scan(scan) => placed(&t.table, scan_of(scan, repeatable && !t.collect)),
            Plan::Filter { input, condition } => match *input {
                Plan::Scan(scan) => {
                    let input = placed(&t.table, scan_of(scan, false));
                    let input = if update && !t.collect { Box::new(CountRefused { input }) } else { input };
                    super::one_time_filter::filter(input, condition)
                }
                input => super::build::build(Plan::Filter { input: Box::new(input), condition }, false),
            },
            plan => super::build::build(plan, false),
        };
        Rows {
            table: t.table,
            root,
            frame: Frame::new(t.shapes, names),
            updates: update,
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
            Some(e) => super::limit::limit_value(e, run, Scope::new(&self.frame, None))?,
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
        while (self.entries.len() as u64) < early && self.next_of_plan(run)? {
            run.check_interrupt()?;
            let start = self.bytes.len() as u32;
            let at = Scope::new(&self.frame, None);
            for k in &self.order {
                let v = k.expr.eval(run, at)?;
                encode_sort_key(&mut self.bytes, &v, k, run.max_sort_length());
            }
            let key_at = self.bytes.len() as u32;
            self.bytes.extend_from_slice(&self.frame.slots[0].key);
            self.entries.push((start, key_at, self.bytes.len() as u32));
            run.check_growth(self.bytes.len())?;
        }
        if !self.order.is_empty() {
            let bytes = &self.bytes;
            self.entries.sort_by(|a, b| bytes[a.0 as usize..a.1 as usize].cmp(&bytes[b.0 as usize..b.1 as usize]));
            // MySQL's DELETE sorts all rows, whatever its LIMIT.
            let most = if self.updates { self.left } else { u64::MAX };
            super::sort::count(most.min(self.entries.len() as u64));
        }
        Ok(())
    }

    /// The next row of the plan, locked or read to be written.
    fn next_of_plan(&mut self, run: &Run<'_>) -> Result<bool> {
        while self.root.next(run, &mut self.frame, None)? {
            if self.root.settle(run, &mut self.frame, None)? != Settled::Gone {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The row was read without a lock and has changed since: reads it again with one. False: it is gone.
    #[cold]
    fn read_again(&mut self, run: &Run<'_>) -> Result<bool> {
        let slot = &mut self.frame.slots[0];
        let tree = self.table.indexes[0].tree;
        run.tx.borrow_mut().get(tree, &slot.key, LOCKING, &mut slot.bytes).map_err(|e| run.engine_error(e))
    }

    fn next(&mut self, run: &Run<'_>) -> Result<bool> {
        if self.left == 0 {
            return Ok(false);
        }
        run.check_interrupt()?;
        if !self.collect {
            let found = self.next_of_plan(run)?;
            self.left = if found { self.left - 1 } else { 0 };
            return Ok(found);
        }
        while let Some((_, from, to)) = self.entries.get(self.next).copied() {
            self.next += 1;
            let slot = &mut self.frame.slots[0];
            slot.key.clear();
            slot.key.extend_from_slice(&self.bytes[from as usize..to as usize]);
            if self.table.is_virtual() {
                slot.bytes.clone_from(&slot.key);
                slot.present = true;
                self.left -= 1;
                return Ok(true);
            }
            let tree = self.table.indexes[0].tree;
            let _within = run.within(&self.table);
            count_position();
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

/// Counts the rows that the condition refuses.
struct CountRefused {
    input: Box<dyn Op>,
}

impl Op for CountRefused {
    fn open(&mut self, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<()> {
        self.input.open(run, frame, outer)
    }

    fn next(&mut self, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<bool> {
        self.input.next(run, frame, outer)
    }

    fn settle(&mut self, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<Settled> {
        self.input.settle(run, frame, outer)
    }

    fn reject(&mut self, run: &Run<'_>) {
        run.refused.set(run.refused.get() + 1);
        self.input.reject(run);
    }

    fn forget(&mut self) {
        self.input.forget();
    }
}

/// UPDATE of one table.
pub struct UpdateStatement {
    table: Arc<Table>,
    rows: Rows,
    ignore: bool,
    assigner: Assigner,
    writer: RowWriter,
}

impl UpdateStatement {
    /// Made of its plan.
    pub fn new(u: node::Update) -> UpdateStatement {
        let table = u.target.table.clone();
        let assigner = Assigner::new(&table, 0, u.set, u.rules);
        let rows = Rows::new(u.target, assigner.is_repeatable(), true);
        UpdateStatement { table, rows, ignore: u.ignore, assigner, writer: RowWriter::default() }
    }

    /// Writes the rows. Errors of the rows' types, keys and rules are the statement's.
    pub fn execute(&mut self, run: &Run<'_>) -> Result<Outcome> {
        let UpdateStatement { table, rows, ignore, assigner, writer } = self;
        let how = Strictness::new(run, *ignore, false);
        run.evaluation.strict.set(!how.lenient);
        run.evaluate_constants()?;
        let (mut matched, mut changed) = (0u64, 0u64);
        {
            let _within = run.within(table);
            writer.begin(table, || assigner.changing(), run);
        }
        rows.open(run)?;
        while rows.next(run)? {
            matched += 1;
            let _within = run.within(table);
            loop {
                match assigner.apply(table, &mut rows.frame, writer, matched + run.refused.get(), how, run) {
                    Err(e) if *ignore && is_ignorable(&e) => {
                        run.warn(e.code, e.message);
                        break;
                    }
                    is_there => {
                        if !is_there? {
                            break;
                        }
                    }
                }
                let slot = &rows.frame.slots[0];
                let mut tx = run.tx.borrow_mut();
                let savepoint = row_savepoint(*ignore, table, run, &tx);
                let written = match table.is_virtual() {
                    true => virtual_table::update(table, writer, &slot.bytes, &assigner.set_columns(), run),
                    false => writer.update(table, &mut tx, &slot.key, &slot.bytes, &assigner.touched),
                };
                match written {
                    Ok(false) => {
                        drop(tx);
                        assigner.unchanged(&slot.bytes, writer, run)?;
                    }
                    Ok(true) => {
                        drop(tx);
                        match assigner.written(table, &slot.bytes, writer, run) {
                            Err(e) if *ignore && is_ignorable(&e) => {
                                undo_row(savepoint, &mut run.tx.borrow_mut())?;
                                run.warn(e.code, e.message);
                            }
                            result => {
                                result?;
                                changed += 1;
                            }
                        }
                    }
                    Err(Refused::Error(e)) => {
                        undo_row(savepoint, &mut tx)?;
                        return Err(e);
                    }
                    Err(Refused::Changed) => {
                        drop(tx);
                        if rows.read_again(run)? {
                            continue;
                        }
                        matched -= 1;
                    }
                    Err(Refused::Duplicate(i)) => {
                        undo_row(savepoint, &mut tx)?;
                        drop(tx);
                        let e = assigner.refused(table, &slot.bytes, writer, i, run)?;
                        if !*ignore {
                            return Err(e);
                        }
                        run.warn(e.code, e.message);
                    }
                }
                break;
            }
            run.row_stands();
        }
        let info =
            info(&[("Rows matched: ", matched), ("  Changed: ", changed), ("  Warnings: ", run.warning_count())]);
        let insert_id = run.evaluation.given_id.get().unwrap_or(0);
        Ok(Outcome { affected_rows: changed, insert_id, matched_rows: Some(matched), found_rows: None, info })
    }
}

/// DELETE from one table.
pub struct DeleteStatement {
    rows: Rows,
    ignore: bool,
    rules: Option<RuleSet>,
    writer: RowWriter,
}

impl DeleteStatement {
    /// Made of its plan.
    pub fn new(d: node::Delete) -> DeleteStatement {
        DeleteStatement {
            rows: Rows::new(d.target, d.rules.as_ref().is_none_or(|r| r.triggers.all.is_empty()), false),
            ignore: d.ignore,
            rules: d.rules.map(RuleSet::new),
            writer: RowWriter::default(),
        }
    }

    /// Takes the rows away. Errors of foreign keys and triggers are the statement's.
    pub fn execute(&mut self, run: &Run<'_>) -> Result<Outcome> {
        let mut deleted = 0;
        run.evaluation.strict.set(run.evaluation.sql_mode.is_strict() && !self.ignore);
        run.evaluate_constants()?;
        self.rows.open(run)?;
        let DeleteStatement { rows, ignore, rules, writer } = self;
        {
            let _within = run.within(&rows.table);
            writer.begin(&rows.table, Vec::new, run);
        }
        while rows.next(run)? {
            let _within = run.within(&rows.table);
            loop {
                let slot = &mut rows.frame.slots[0];
                let undone = *ignore && rules.is_some();
                if let Some(rules) = rules {
                    rules.before_delete(&slot.bytes, run)?;
                }
                let savepoint = row_savepoint(undone, &rows.table, run, &run.tx.borrow());
                let result = match read_anew(&rows.table, &slot.key, &mut slot.bytes, run)? {
                    true if rows.table.is_virtual() => virtual_table::delete(&rows.table, &slot.bytes, run),
                    true => writer.delete(&rows.table, &mut run.tx.borrow_mut(), &slot.key, &slot.bytes),
                    false => Ok(()),
                };
                match result {
                    Ok(()) => match rules.as_mut().map_or(Ok(()), |rules| rules.deleted(&slot.bytes, run)) {
                        Err(e) if undone && is_ignorable(&e) => {
                            undo_row(savepoint, &mut run.tx.borrow_mut())?;
                            run.warn(e.code, e.message);
                        }
                        result => {
                            result?;
                            deleted += 1;
                        }
                    },
                    Err(Refused::Changed) if rows.read_again(run)? => continue,
                    Err(Refused::Changed) => {}
                    Err(refused) => {
                        undo_row(savepoint, &mut run.tx.borrow_mut())?;
                        return Err(refused.locked());
                    }
                }
                break;
            }
            run.row_stands();
        }
        Ok(Outcome { affected_rows: deleted, ..Outcome::default() })
    }
}
