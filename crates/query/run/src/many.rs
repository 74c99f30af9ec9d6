//! UPDATE and DELETE of several tables. The join is read to its end first, and what is to become of each row is kept: a row
//! that comes several times counts once, and no row is met again after it was written. What finds no room in memory goes to a file,
//! sorted by key: rows are written in the order of their keys then, and not as the join named them.

use crate::assign::Assigner;
use crate::beside::{row_savepoint, undo_row};
use crate::context::{Outcome, info};
use crate::execution::LOCKING;
use crate::key_set::KeySet;
use crate::reread::read_anew;
use crate::rules::{RuleSet, is_ignorable};
use crate::scan::count_position;
use crate::spill::{Merge, Room, Runs};
use crate::write::{Refused, RowWriter};
use crate::{Frame, Op, Run, Scope, long, recycle, tuple, virtual_table};
use catalog::Table;
use engine::Transaction;
use expr::{Execution, Expr, Strictness, store};
use plan::node;
use plan::slots::slot_names;
use std::sync::Arc;
use types::codes::ER_VIEW_CHECK_FAILED;
use types::{Result, Value, err};

/// Rows of one table that the join has named, each once.
#[derive(Default)]
struct Named {
    keys: KeySet,
    /// `key length u32 | key | tuple length u32 | tuple` one after another.
    bytes: Vec<u8>,
    /// Those before: what was named again since comes later and does not count.
    spilled: Option<Runs>,
}

impl Named {
    fn clear(&mut self) {
        self.keys.clear();
        self.bytes.clear();
        self.spilled = None;
    }

    /// Keeps a row whose key is new.
    fn push(&mut self, run: &Run<'_>, key: &[u8], tuple: &[u8]) -> Result<()> {
        for part in [key, tuple] {
            self.bytes.extend_from_slice(&(part.len() as u32).to_le_bytes());
            self.bytes.extend_from_slice(part);
        }
        match run.must_spill(self.bytes.len() + self.keys.memory(), run.tmp_memory()) {
            true => self.spill(run),
            false => run.check_growth(self.bytes.len()),
        }
    }

    #[cold]
    fn spill(&mut self, run: &Run<'_>) -> Result<()> {
        let bytes = std::mem::take(&mut self.bytes);
        let (mut parts, mut at) = (Vec::new(), 0);
        while at < bytes.len() {
            parts.push((part(&bytes, &mut at), part(&bytes, &mut at)));
        }
        parts.sort_unstable_by(|a, b| a.0.cmp(b.0));
        if self.spilled.is_none() {
            self.spilled = Some(Runs::new(run)?);
        }
        let runs = self.spilled.as_mut().expect("just set");
        runs.add(|record| parts.iter().try_for_each(|(key, tuple)| record(key, tuple)))?;
        self.keys.clear();
        Ok(())
    }

    /// The rows that were named.
    fn rows(&mut self, run: &Run<'_>) -> Result<NamedRows<'_>> {
        if self.spilled.is_none() {
            return Ok(NamedRows::Kept(&self.bytes, 0));
        }
        self.spill(run)?;
        let runs = self.spilled.take().expect("looked at above");
        Ok(NamedRows::Merged(Box::new(runs.merge(run, true)?)))
    }
}

fn part<'b>(bytes: &'b [u8], at: &mut usize) -> &'b [u8] {
    let from = *at + 4;
    let length = u32::from_le_bytes(bytes[*at..from].try_into().expect("four bytes")) as usize;
    *at = from + length;
    &bytes[from..from + length]
}

/// Keys and tuples of named rows.
enum NamedRows<'n> {
    Kept(&'n [u8], usize),
    Merged(Box<Merge>),
}

impl NamedRows<'_> {
    fn next(&mut self) -> Result<Option<(&[u8], &[u8])>> {
        match self {
            NamedRows::Kept(bytes, at) if *at == bytes.len() => Ok(None),
            NamedRows::Kept(bytes, at) => Ok(Some((part(bytes, at), part(bytes, at)))),
            NamedRows::Merged(merge) => merge.advance(),
        }
    }
}

struct Target {
    slot: usize,
    table: Arc<Table>,
    assigner: Assigner,
    columns: Vec<usize>,
    /// Of views: see [`node::UpdateTarget::checks`].
    checks: Vec<(String, Expr)>,
    /// Triggers fire when a row is written, and what follows them is done then.
    fires_late: bool,
    named: Named,
    /// Rows that were named and cannot be changed.
    ignored: u64,
}

/// Is the joined row one of these views' still, with that row in the slot? Error 1369.
fn check_views(
    checks: &[(String, Expr)],
    (slot, row): (usize, &mut Vec<u8>),
    frame: &mut Frame,
    run: &Run<'_>,
) -> Result<()> {
    std::mem::swap(&mut frame.slots[slot].bytes, row);
    let at = Scope::new(frame, None);
    let outcome = checks.iter().try_for_each(|(view, e)| match e.eval_bool(run, at)? {
        Some(true) => Ok(()),
        _ => {
            let (schema, name) = view.split_once('.').unwrap_or(("", view));
            Err(err!(ER_VIEW_CHECK_FAILED, schema, name))
        }
    });
    std::mem::swap(&mut frame.slots[slot].bytes, row);
    outcome
}

/// UPDATE of several tables.
pub struct UpdateManyStatement {
    root: Box<dyn Op>,
    frame: Frame,
    targets: Vec<Target>,
    /// Index of the target that is read first in the join, unless it is found by what changes: MySQL writes its rows as they
    /// come, so that the other tables' assignments see its new values, in each row of the join that it is part of.
    first: Option<usize>,
    /// Its row that was named last: the key, and what becomes of it.
    seen: (Vec<u8>, Vec<u8>),
    ignore: bool,
    writer: RowWriter,
    row: Vec<u8>,
    tuple: Vec<u8>,
}

impl UpdateManyStatement {
    /// Made of its plan.
    pub fn new(mut u: node::UpdateMany) -> UpdateManyStatement {
        u.plan.set_in_order();
        let first = u.plan.first_scan().and_then(|scan| {
            let at = u.targets.iter().position(|t| t.slot == scan.slot)?;
            let set: Vec<usize> = u.targets[at].set.iter().map(|(column, _)| *column).collect();
            let read = u.targets[at].read.as_ref()?;
            let is_asked = !scan.is_of_one_key() && set.iter().any(|column| read.contains(column));
            (scan.is_blind_to(&set) && !is_asked).then_some(at)
        });
        let target = |(i, t): (usize, node::UpdateTarget)| {
            let mut assigner = Assigner::new(&t.table, t.slot, t.set, t.rules);
            assigner.keeps_own = false;
            if Some(i) != first && !u.alone {
                assigner.set_not_sequential();
            }
            // Where triggers set what the other tables' assignments read, they fire before.
            let fires_late = assigner.defers_nulls() && !(Some(i) == first && assigner.has_set_by_triggers());
            let columns = if fires_late { assigner.set_columns() } else { assigner.changing() };
            Target {
                slot: t.slot,
                columns,
                checks: t.checks,
                table: t.table,
                assigner,
                fires_late,
                named: Named::default(),
                ignored: 0,
            }
        };
        UpdateManyStatement {
            frame: Frame::new(u.shapes, slot_names(&u.plan)),
            root: super::build::build(u.plan, false),
            first,
            seen: Default::default(),
            ignore: u.ignore,
            writer: RowWriter::default(),
            row: Vec::new(),
            tuple: Vec::new(),
            targets: u.targets.into_iter().enumerate().map(target).collect(),
        }
    }

    /// Joins, then writes each row of each table once.
    pub fn execute(&mut self, run: &Run<'_>) -> Result<Outcome> {
        let how = Strictness::new(run, self.ignore, false);
        run.evaluation.strict.set(!how.lenient);
        run.evaluate_constants()?;
        self.root.forget();
        self.targets.iter_mut().for_each(|t| {
            t.named.clear();
            t.ignored = 0;
        });
        self.seen.0.clear();
        self.root.open(run, &mut self.frame, None)?;
        let mut joined = 0;
        while self.root.next(run, &mut self.frame, None)? {
            run.check_interrupt()?;
            joined += 1;
            self.name_rows(joined, how, run)?;
        }
        let (mut matched, mut changed) = (0, 0);
        // MySQL has written the rows of the first one by now.
        let first = self.first;
        let others = (0..self.targets.len()).filter(move |i| Some(*i) != first);
        for i in first.into_iter().chain(others) {
            let (of_target, written) = self.write_rows(i, how, run)?;
            matched += of_target + self.targets[i].ignored;
            changed += written;
        }
        let info =
            info(&[("Rows matched: ", matched), ("  Changed: ", changed), ("  Warnings: ", run.warning_count())]);
        let insert_id = run.evaluation.given_id.get().unwrap_or(0);
        Ok(Outcome { affected_rows: changed, insert_id, matched_rows: Some(matched), found_rows: None, info })
    }

    /// Keeps what the joined row in the frame says about the targets.
    fn name_rows(&mut self, joined: u64, how: Strictness, run: &Run<'_>) -> Result<()> {
        // The assignments are made in the order of the tables; what they have made of the first one's row is seen by those behind it, and
        // by all in the next rows of the join that it is part of.
        let mut replaced = None;
        if let Some(t) = self.first.map(|at| &self.targets[at]) {
            let slot = &mut self.frame.slots[t.slot];
            if slot.present && slot.key == self.seen.0 {
                std::mem::swap(&mut slot.bytes, &mut self.row);
                slot.bytes.clone_from(&self.seen.1);
                replaced = Some(t.slot);
            }
        }
        for i in 0..self.targets.len() {
            let t = &mut self.targets[i];
            let slot = &self.frame.slots[t.slot];
            if !slot.present || replaced == Some(t.slot) || !t.named.keys.insert(run, &slot.key)? {
                continue;
            }
            let applied = match t.fires_late {
                true => {
                    t.assigner.set_values(&t.table, &mut self.frame, &mut self.writer, joined, how, run).map(|()| true)
                }
                false => t.assigner.apply(&t.table, &mut self.frame, &mut self.writer, joined, how, run),
            };
            let applied = match applied {
                Ok(true) if !t.checks.is_empty() => {
                    check_views(&t.checks, (t.slot, &mut self.writer.row), &mut self.frame, run).map(|()| true)
                }
                applied => applied,
            };
            match applied {
                Err(e) if self.ignore && is_ignorable(&e) => {
                    run.warn(e.code, e.message);
                    t.ignored += 1;
                    continue;
                }
                is_there => {
                    if !is_there? {
                        continue;
                    }
                }
            }
            self.tuple.clear();
            let mut w = tuple::Writer::new(&mut self.tuple, t.columns.len());
            for c in &t.columns {
                if t.fires_late && t.assigner.nulls().contains(c) {
                    w.push(&Value::Null);
                    continue;
                }
                w.push(&long::column(&run.tx.borrow(), &t.table, &self.writer.row, *c)?);
            }
            w.finish();
            let slot = &mut self.frame.slots[t.slot];
            t.named.push(run, &slot.key, &self.tuple)?;
            if Some(i) == self.first {
                self.seen.0.clone_from(&slot.key);
                self.seen.1.clone_from(&self.writer.row);
                std::mem::swap(&mut slot.bytes, &mut self.row);
                slot.bytes.clone_from(&self.writer.row);
                replaced = Some(t.slot);
            }
        }
        if let Some(slot) = replaced {
            std::mem::swap(&mut self.frame.slots[slot].bytes, &mut self.row);
        }
        Ok(())
    }

    /// Writes the named rows of a target; how many there were, and how many changed.
    fn write_rows(&mut self, i: usize, how: Strictness, run: &Run<'_>) -> Result<(u64, u64)> {
        let UpdateManyStatement { targets, writer, row, ignore, .. } = self;
        let Target { table, assigner, columns, named, fires_late, .. } = &mut targets[i];
        let _within = run.within(table);
        writer.begin(table, || assigner.changing(), run);
        let (mut matched, mut changed) = (0, 0);
        let mut kept: Vec<Value<'static>> = Vec::new();
        let mut rows = named.rows(run)?;
        while let Some((key, given)) = rows.next()? {
            run.check_interrupt()?;
            matched += 1;
            let mut tx = run.tx.borrow_mut();
            if !get(table, key, row, &mut tx, run)? {
                continue;
            }
            let mut values = recycle(kept);
            values.extend((0..columns.len()).map(|n| tuple::get(given, columns.len(), n)));
            if *fires_late {
                keep_nulls(table, columns, &mut values, assigner.nulls());
            }
            writer.change(&tx, table, (row, key), columns, &values, assigner.touched[0])?;
            kept = recycle(values);
            if *fires_late {
                drop(tx);
                match assigner.finish(table, (key, row), writer, matched, how, run) {
                    Err(e) if *ignore && is_ignorable(&e) => {
                        run.warn(e.code, e.message);
                        continue;
                    }
                    is_there => {
                        if !is_there? {
                            continue;
                        }
                    }
                }
                tx = run.tx.borrow_mut();
            }
            let savepoint = row_savepoint(*ignore, table, run, &tx);
            let written = match table.is_virtual() {
                true => virtual_table::update(table, writer, row, &assigner.set_columns(), run),
                false => writer.update(table, &mut tx, key, row, &assigner.touched),
            };
            match written {
                Ok(false) => {
                    drop(tx);
                    assigner.unchanged(row, writer, run)?;
                }
                Ok(true) => {
                    drop(tx);
                    match assigner.written(table, row, writer, run) {
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
                Err(Refused::Duplicate(i)) => {
                    undo_row(savepoint, &mut tx)?;
                    drop(tx);
                    let e = assigner.refused(table, row, writer, i, run)?;
                    if !*ignore {
                        return Err(e);
                    }
                    run.warn(e.code, e.message);
                }
                Err(refused) => {
                    undo_row(savepoint, &mut tx)?;
                    return Err(refused.locked());
                }
            }
            run.row_stands();
        }
        Ok((matched, changed))
    }
}

/// Reads a row that was named. False: it is gone.
fn get(table: &Table, key: &[u8], row: &mut Vec<u8>, tx: &mut Transaction, run: &Run<'_>) -> Result<bool> {
    if table.is_virtual() {
        // It is its own key.
        row.clear();
        row.extend_from_slice(key);
        return Ok(true);
    }
    count_position();
    tx.get(table.indexes[0].tree, key, LOCKING, row).map_err(|e| run.engine_error(e))
}

/// Notes which columns are NULL and cannot be, which triggers see before that is refused.
fn keep_nulls(table: &Table, columns: &[usize], values: &mut [Value<'_>], nulls: &mut Vec<usize>) {
    nulls.clear();
    for (c, value) in columns.iter().zip(values) {
        let ty = &table.columns[*c].data_type;
        if value.is_null() && !ty.nullable {
            nulls.push(*c);
            *value = store::implicit_default(ty);
        }
    }
}

/// DELETE from several tables.
pub struct DeleteManyStatement {
    root: Box<dyn Op>,
    frame: Frame,
    targets: Vec<(usize, Arc<Table>, Option<RuleSet>, Named)>,
    ignore: bool,
    writer: RowWriter,
}

impl DeleteManyStatement {
    /// Made of its plan.
    pub fn new(d: node::DeleteMany) -> DeleteManyStatement {
        DeleteManyStatement {
            frame: Frame::new(d.shapes, slot_names(&d.plan)),
            root: super::build::build(d.plan, false),
            targets: d
                .targets
                .into_iter()
                .map(|(slot, table, rules)| (slot, table, rules.map(RuleSet::new), Named::default()))
                .collect(),
            ignore: d.ignore,
            writer: RowWriter::default(),
        }
    }

    /// Joins, then takes each row of each table away once.
    pub fn execute(&mut self, run: &Run<'_>) -> Result<Outcome> {
        let DeleteManyStatement { root, frame, targets, ignore, writer } = self;
        run.evaluation.strict.set(run.evaluation.sql_mode.is_strict() && !*ignore);
        run.evaluate_constants()?;
        root.forget();
        targets.iter_mut().for_each(|(.., named)| named.clear());
        root.open(run, frame, None)?;
        while root.next(run, frame, None)? {
            run.check_interrupt()?;
            for (slot, _, _, named) in targets.iter_mut() {
                let slot = &frame.slots[*slot];
                if slot.present && named.keys.insert(run, &slot.key)? {
                    named.push(run, &slot.key, &[])?;
                }
            }
        }
        let mut deleted = 0;
        let mut row = Vec::new();
        for (_, table, rules, named) in targets.iter_mut() {
            let _within = run.within(table);
            writer.begin(table, Vec::new, run);
            let mut rows = named.rows(run)?;
            while let Some((key, _)) = rows.next()? {
                run.check_interrupt()?;
                let mut tx = run.tx.borrow_mut();
                let undone = *ignore && rules.is_some();
                if get(table, key, &mut row, &mut tx, run)? {
                    drop(tx);
                    if let Some(rules) = rules {
                        rules.before_delete(&row, run)?;
                    }
                    let savepoint = row_savepoint(undone, table, run, &run.tx.borrow());
                    if read_anew(table, key, &mut row, run)? {
                        tx = run.tx.borrow_mut();
                        let removed = match table.is_virtual() {
                            true => virtual_table::delete(table, &row, run),
                            false => writer.delete(table, &mut tx, key, &row),
                        };
                        if let Err(refused) = removed {
                            undo_row(savepoint, &mut tx)?;
                            return Err(refused.locked());
                        }
                        drop(tx);
                    }
                    match rules.as_mut().map_or(Ok(()), |rules| rules.deleted(&row, run)) {
                        Err(e) if undone && is_ignorable(&e) => {
                            undo_row(savepoint, &mut run.tx.borrow_mut())?;
                            run.warn(e.code, e.message);
                        }
                        result => {
                            result?;
                            deleted += 1;
                        }
                    }
                    run.row_stands();
                }
            }
        }
        Ok(Outcome { affected_rows: deleted, ..Outcome::default() })
    }
}
