//! UPDATE and DELETE.
//!
//! Rows come from the plan by exclusive locking reads. When the scan reads a key that the statement changes, keys are
//! collected first, so that no row is met twice (the Halloween problem); otherwise rows are written as they come.

use super::beside::{placed, row_savepoint, undo_row};
use super::execution::LOCKING;
use super::long;
use super::reread::{change_anew, read_anew};
use super::rules::{RuleSet, is_ignorable};
use super::scan::{ScanOp, count_position};
use super::sort::encode_sort_key;
use super::write::{Refused, RowWriter};
use super::{Frame, Op, Run, Scope, Settled, recycle};
use crate::context::Outcome;
use catalog::{Table, TriggerEvent};
use expr::Execution;
use expr::Node;
use expr::Strictness;
use expr::row::Slot;
use expr::store;
use plan::node::rules::Rules;
use plan::node::{self, Assigned, Plan, SortKey};
use plan::slots::slot_names;
use std::sync::Arc;
use types::codes::*;
use types::{Result, SqlError, Value};

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

/// Evaluates assignments over the row in one slot of a frame, into the writer's row and key.
pub struct Assigner {
    slot: usize,
    /// A column that is set to itself stays as it is: not where rows are kept before they are changed.
    pub keeps_own: bool,
    set: Vec<(usize, Assigned)>,
    /// A value reads a column set before it: each assignment is made visible to the next.
    sequential: bool,
    /// Columns that become the current time when a row changes and they are not set.
    stamped: Vec<usize>,
    /// Generated columns that read some of these or of those that are set.
    computed: Vec<usize>,
    /// Columns that triggers may change.
    by_triggers: Vec<usize>,
    /// Columns of the row at hand that are NULL and cannot be, before its triggers.
    nulls: Vec<usize>,
    /// By index: does it have a column that is set?
    pub touched: Vec<bool>,
    /// The AUTO_INCREMENT column, if it is set.
    counted: Option<usize>,
    rules: Option<RuleSet>,
    columns: Vec<usize>,
    values: Vec<Value<'static>>,
    old: Vec<u8>,
}

impl Assigner {
    pub fn new(table: &Table, slot: usize, set: Vec<(usize, Assigned)>, rules: Option<Arc<Rules>>) -> Assigner {
        let sequential = plan::dml::is_sequential(&set, slot);
        let is_set = |c: usize| set.iter().any(|(s, _)| *s == c);
        let stamped: Vec<usize> =
            (0..table.columns.len()).filter(|c| table.columns[*c].on_update_now && !is_set(*c)).collect();
        let mut rules = rules.map(RuleSet::new);
        let by_triggers = rules.as_ref().map_or_else(Vec::new, |r| r.changed_by_triggers().to_vec());
        let set_or_stamped = set.iter().map(|(c, _)| *c).chain(stamped.iter().copied());
        let set_or_stamped: Vec<usize> = set_or_stamped.chain(by_triggers.iter().copied()).collect();
        let computed = rules.as_mut().map_or_else(Vec::new, |rules| rules.only_changing(&set_or_stamped));
        let changes = |c: usize| set_or_stamped.contains(&c) || computed.contains(&c);
        let touched = table.indexes.iter().map(|i| i.parts.iter().any(|p| changes(p.column))).collect();
        let counted = table.columns.iter().position(|c| c.auto_increment);
        let counted = counted.filter(|c| is_set(*c) || by_triggers.contains(c));
        let (columns, values, old) = (Vec::new(), Vec::new(), Vec::new());
        Assigner {
            slot,
            keeps_own: true,
            set,
            sequential,
            stamped,
            by_triggers,
            nulls: Vec::new(),
            computed,
            touched,
            counted,
            rules,
            columns,
            values,
            old,
        }
    }

    /// Columns that a row may change in: those set, those stamped, and those computed of them.
    pub fn changing(&self) -> Vec<usize> {
        let mut columns: Vec<usize> = self.set.iter().map(|(c, _)| *c).collect();
        columns.extend(&self.computed);
        columns.extend(&self.by_triggers);
        columns.extend(&self.stamped);
        columns.sort_unstable();
        columns.dedup();
        columns
    }

    /// Columns that the statement itself sets, and those that are stamped.
    pub fn set_columns(&self) -> Vec<usize> {
        let mut columns: Vec<usize> = self.set.iter().map(|(c, _)| *c).chain(self.stamped.iter().copied()).collect();
        columns.sort_unstable();
        columns.dedup();
        columns
    }

    /// Columns that [`Assigner::set_values`] has found NULL, and that cannot be.
    pub fn nulls(&mut self) -> &mut Vec<usize> {
        &mut self.nulls
    }

    /// Do triggers set columns?
    pub fn has_set_by_triggers(&self) -> bool {
        !self.by_triggers.is_empty()
    }

    /// All values read the row as it was before the statement.
    pub fn set_not_sequential(&mut self) {
        self.sequential = false;
    }

    /// No side effect but warnings, and no other table read.
    fn is_repeatable(&self) -> bool {
        !self.defers_nulls()
            && self.set.iter().all(|(_, value)| match value {
                Assigned::Default => true,
                Assigned::Value(e) => !e.any(&mut |e| match &e.node {
                    Node::SetUserVariable(..) | Node::Subquery { .. } | Node::Exists { .. } => true,
                    Node::InSubquery { .. } | Node::Quantified { .. } => true,
                    Node::Call(f, _) => f.volatile,
                    Node::Routine(_) => true,
                    _ => false,
                }),
            })
    }

    /// Triggers see the row before NULL is refused.
    pub fn defers_nulls(&self) -> bool {
        self.rules.as_ref().is_some_and(|rules| rules.fires(TriggerEvent::Update, true))
    }

    /// The row stays as it was. Errors of triggers.
    pub fn unchanged(&self, old: &[u8], writer: &RowWriter, run: &Run<'_>) -> Result<()> {
        self.rules.as_ref().map_or(Ok(()), |rules| rules.unchanged(old, &writer.row, run))
    }

    /// Encodes the changed row into `writer`, complete. False: the row is gone, by what the statement calls.
    pub fn apply(
        &mut self,
        table: &Table,
        frame: &mut Frame,
        writer: &mut RowWriter,
        row: u64,
        how: Strictness,
        run: &Run<'_>,
    ) -> Result<bool> {
        self.set_values(table, frame, writer, row, how, run)?;
        let Slot { key, bytes, .. } = &mut frame.slots[self.slot];
        self.finish(table, (key, bytes), writer, row, how, run)
    }

    /// The first half of that: what the statement itself sets.
    pub fn set_values(
        &mut self,
        table: &Table,
        frame: &mut Frame,
        writer: &mut RowWriter,
        row: u64,
        how: Strictness,
        run: &Run<'_>,
    ) -> Result<()> {
        self.nulls.clear();
        if !self.sequential {
            return self.assign(0, self.set.len(), !self.stamped.is_empty(), table, frame, writer, row, how, run);
        }
        // The old row comes back into the slot at the end: the caller compares with it.
        self.old.clear();
        self.old.extend_from_slice(&frame.slots[self.slot].bytes);
        let result = self.apply_in_turn(table, frame, writer, row, how, run);
        std::mem::swap(&mut frame.slots[self.slot].bytes, &mut self.old);
        result
    }

    /// The second half, of a row that takes the place of `old`: triggers, what is computed of its columns, checks. `old` is read anew
    /// where these may have changed it. False: it is gone.
    pub fn finish(
        &mut self,
        table: &Table,
        (key, old): (&[u8], &mut Vec<u8>),
        writer: &mut RowWriter,
        row: u64,
        how: Strictness,
        run: &Run<'_>,
    ) -> Result<bool> {
        let defers = self.defers_nulls();
        let rekey = self.touched[0];
        let Some(rules) = &mut self.rules else { return change_anew(table, key, old, writer, rekey, run) };
        let set = &self.set;
        let absent = |c: usize| set.iter().any(|(s, value)| *s == c && matches!(value, Assigned::Default));
        if defers {
            rules.fill_for_triggers(TriggerEvent::Update, writer, &absent, row, how, run)?;
            let changed = rules.before_row(Some(old), writer, &mut self.nulls, run)?;
            for c in self.nulls.drain(..) {
                // What a trigger sets is refused whatever the mode.
                let null_is_error = !how.lenient || changed.iter().any(|(s, _)| *s == c);
                store::null_value(&table.columns[c], false, Strictness { null_is_error, ..how }, run)?;
            }
        }
        let is_there = change_anew(table, key, old, writer, rekey, run)?;
        if is_there {
            rules.complete(writer, &|c| !defers && absent(c), row, how, run)?;
        }
        Ok(is_there)
    }

    /// The row was written. Errors 1451, 1452.
    pub fn written(&mut self, table: &Table, old: &[u8], writer: &RowWriter, run: &Run<'_>) -> Result<()> {
        self.count(table, writer, run)?;
        self.rules.as_mut().map_or(Ok(()), |rules| rules.updated(old, &writer.row, run))
    }

    /// What refuses a change of `old` whose key `index` has already: 1062, or 1451, which InnoDB finds first. Errors are those
    /// of looking for rows that refer to it.
    #[cold]
    pub fn refused(
        &self,
        table: &Table,
        old: &[u8],
        writer: &RowWriter,
        index: usize,
        run: &Run<'_>,
    ) -> Result<SqlError> {
        match self.rules.as_ref().map_or(Ok(()), |rules| rules.referred(old, &writer.row, index, run)) {
            Ok(()) => Ok(writer.duplicate(table, index, run)),
            Err(e) if e.code == ER_ROW_IS_REFERENCED_2 => Ok(e),
            Err(e) => Err(e),
        }
    }

    /// A changed AUTO_INCREMENT value counts as one that was inserted.
    pub fn count(&self, table: &Table, writer: &RowWriter, run: &Run<'_>) -> Result<()> {
        let Some(c) = self.counted else { return Ok(()) };
        let tx = run.tx.borrow();
        let value = long::column(&tx, table, &writer.row, c)?;
        let negative = !table.columns[c].data_type.unsigned && value.to_i64() < 0;
        if negative { Ok(()) } else { super::insert::observe(table, value.to_u64(), run) }
    }

    fn apply_in_turn(
        &mut self,
        table: &Table,
        frame: &mut Frame,
        writer: &mut RowWriter,
        row: u64,
        how: Strictness,
        run: &Run<'_>,
    ) -> Result<()> {
        for i in 0..self.set.len() {
            self.assign(i, i + 1, false, table, frame, writer, row, how, run)?;
            frame.slots[self.slot].bytes.clone_from(&writer.row);
        }
        if writer.row != self.old && !self.stamped.is_empty() {
            self.assign(0, 0, true, table, frame, writer, row, how, run)?;
        }
        Ok(())
    }

    /// Assignments `from..to` over the row in the slot, and the time stamps if asked for and something changes.
    #[expect(clippy::too_many_arguments, reason = "one step of the two ways above")]
    fn assign(
        &mut self,
        from: usize,
        to: usize,
        stamp: bool,
        table: &Table,
        frame: &Frame,
        writer: &mut RowWriter,
        row: u64,
        how: Strictness,
        run: &Run<'_>,
    ) -> Result<()> {
        let mut values = recycle(std::mem::take(&mut self.values));
        self.columns.clear();
        let (defers, mut nulls) = (self.defers_nulls(), std::mem::take(&mut self.nulls));
        let at = Scope::new(frame, None);
        let slot = &frame.slots[self.slot];
        for (c, value) in &self.set[from..to] {
            let column = &table.columns[*c];
            values.push(match value {
                Assigned::Default => {
                    let default = store::default_value(column, how, run)?;
                    // What has none becomes zero or empty, and NULL stays.
                    let lacks = matches!(column.default, catalog::ColumnDefault::None) && default.is_null();
                    match lacks && !expr::Expr::column(self.slot, *c, column.data_type).eval(run, at)?.is_null() {
                        true => store::implicit_default(&column.data_type),
                        false => default,
                    }
                }
                // What a column has goes back to it as it is, whatever the mode allows.
                Assigned::Value(e)
                    if self.keeps_own
                        && e.own_column().is_some_and(|own| own == (self.slot as u16, *c as u16))
                        && column.generated.is_none() =>
                {
                    expr::Expr::column(self.slot, *c, column.data_type).eval(run, at)?.into_owned()
                }
                Assigned::Value(e) => store::computed(e.eval(run, at)?, e, column, row, how, run)
                    .and_then(|v| match v.is_null() && defers && !column.data_type.nullable {
                        true => {
                            nulls.push(*c);
                            Ok(store::implicit_default(&column.data_type))
                        }
                        false => store::store(v, &e.ty, column, row, how, run),
                    })
                    .map_err(|e| store::named(e, table))?,
            });
            self.columns.push(*c);
        }
        self.nulls = nulls;
        let changed = || -> Result<bool> {
            let tx = run.tx.borrow();
            for (c, v) in self.columns.iter().zip(&values) {
                if *v != long::column(&tx, table, &slot.bytes, *c)? {
                    return Ok(true);
                }
            }
            Ok(false)
        };
        if stamp && (from == to || changed()?) {
            for c in &self.stamped {
                let column = &table.columns[*c];
                let now = expr::convert::now(run, column.data_type.decimals);
                let ty = expr::convert::type_of(&now);
                values.push(store::store(now, &ty, column, 1, how, run)?);
                self.columns.push(*c);
            }
        }
        let tx = run.tx.borrow();
        writer.change(&tx, table, (&slot.bytes, &slot.key), &self.columns, &values, self.touched[0])?;
        drop(tx);
        self.values = recycle(values);
        Ok(())
    }
}

pub struct UpdateStatement {
    table: Arc<Table>,
    rows: Rows,
    ignore: bool,
    assigner: Assigner,
    writer: RowWriter,
}

impl UpdateStatement {
    pub fn new(u: node::Update) -> UpdateStatement {
        let table = u.target.table.clone();
        let assigner = Assigner::new(&table, 0, u.set, u.rules);
        let rows = Rows::new(u.target, assigner.is_repeatable(), true);
        UpdateStatement { table, rows, ignore: u.ignore, assigner, writer: RowWriter::default() }
    }

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
                match writer.update(table, &mut tx, &slot.key, &slot.bytes, &assigner.touched) {
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

/// The words and numbers of [`Outcome::info`].
pub fn info(parts: &[(&str, u64)]) -> String {
    let mut out = String::with_capacity(128);
    for (words, number) in parts {
        out.push_str(words);
        match u8::try_from(*number) {
            Ok(digit) if digit < 10 => out.push((b'0' + digit) as char),
            _ => out.push_str(&number.to_string()),
        }
    }
    out
}

pub struct DeleteStatement {
    rows: Rows,
    ignore: bool,
    rules: Option<RuleSet>,
    writer: RowWriter,
}

impl DeleteStatement {
    pub fn new(d: node::Delete) -> DeleteStatement {
        DeleteStatement {
            rows: Rows::new(d.target, d.rules.as_ref().is_none_or(|r| r.triggers.all.is_empty()), false),
            ignore: d.ignore,
            rules: d.rules.map(RuleSet::new),
            writer: RowWriter::default(),
        }
    }

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
