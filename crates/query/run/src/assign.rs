//! Assignments of UPDATE and ON DUPLICATE KEY UPDATE: what a row becomes.

use crate::reread::change_anew;
use crate::rules::RuleSet;
use crate::write::{RowWriter, observe};
use crate::{Frame, Run, Scope, long, recycle};
use catalog::{Table, TriggerEvent};
use expr::row::Slot;
use expr::{Node, Strictness, store};
use plan::node::Assigned;
use plan::node::rules::Rules;
use std::sync::Arc;
use types::codes::*;
use types::{Result, SqlError, Value};

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
    /// Assignments to columns of the row in `slot`, and the rules that the row is under.
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
    pub fn is_repeatable(&self) -> bool {
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
        if negative { Ok(()) } else { observe(table, value.to_u64(), run) }
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
