//! The triggers of a table, and the row that they may change.

use crate::program::compile::{Compiled, Own, RowColumn};
use crate::{Run, long};
use catalog::{Table, Trigger, TriggerEvent};
use sql::ast::RowImage;
use std::sync::Arc;
use types::{Result, Value};

/// Who runs triggers: rules of tables ask for it, and know nothing of programs.
pub trait Fire {
    /// Fires triggers one after another. `changes_new`: what they set is the row's. Errors: theirs; 1442, 1449, 1142 for TRIGGER.
    fn fire(
        &self,
        triggers: &[Own],
        table: &Table,
        old: Option<&[u8]>,
        new: Option<&mut NewRow<'_>>,
        changes_new: bool,
    ) -> Result<()>;
}

/// The triggers of a table that a statement fires, by event, those before the row's change first.
#[derive(Default)]
pub struct Triggers {
    insert: [Vec<Own>; 2],
    update: [Vec<Own>; 2],
    delete: [Vec<Own>; 2],
    /// Do those before an insertion, or an update, read generated columns of the new row?
    show_generated: [bool; 2],
}

impl Triggers {
    /// Those that a statement was planned with.
    pub fn new(table: &Table, planned: &[Arc<Trigger>]) -> Option<Box<Triggers>> {
        if planned.is_empty() {
            return None;
        }
        let mut triggers = Triggers::default();
        for trigger in planned {
            triggers.add(trigger, Own::new(Compiled::of_trigger(table, trigger).expect("compiled as it was planned")));
        }
        let shows =
            |c: &RowColumn| c.is_read && c.image == RowImage::New && table.columns[c.column].generated.is_some();
        let show = |all: &[Own]| all.iter().any(|t| t.row_columns.iter().any(shows));
        triggers.show_generated = [show(&triggers.insert[0]), show(&triggers.update[0])];
        Some(Box::new(triggers))
    }

    fn add(&mut self, trigger: &Trigger, compiled: Own) {
        let (before, after) = match trigger.event {
            TriggerEvent::Insert => (0, &mut self.insert),
            TriggerEvent::Update => (0, &mut self.update),
            TriggerEvent::Delete => (0, &mut self.delete),
        };
        after[before + usize::from(!trigger.before)].push(compiled);
    }

    /// Do triggers of the event see generated columns?
    pub fn shows_generated(&self, event: TriggerEvent) -> bool {
        self.show_generated[usize::from(event == TriggerEvent::Update)]
    }

    /// Triggers of the event at that time, in the order in which they fire.
    pub fn of(&self, event: TriggerEvent, before: bool) -> &[Own] {
        let triggers = match event {
            TriggerEvent::Insert => &self.insert,
            TriggerEvent::Update => &self.update,
            TriggerEvent::Delete => &self.delete,
        };
        &triggers[usize::from(!before)]
    }
}

/// The row that a trigger may change: encoded, with what is NULL beside it and what triggers have set.
pub struct NewRow<'r> {
    pub row: &'r [u8],
    /// Columns that are NULL, whatever the encoded row has in their places.
    pub nulls: Vec<usize>,
    /// By column.
    pub set: Vec<(usize, Value<'static>)>,
}

impl NewRow<'_> {
    /// `NEW.column`: what was set, else what the row has.
    pub fn get(&self, table: &Table, column: usize, run: &Run<'_>) -> Result<Value<'static>> {
        if let Some((_, value)) = self.set.iter().find(|(c, _)| *c == column) {
            return Ok(value.clone());
        }
        if self.nulls.contains(&column) {
            return Ok(Value::Null);
        }
        Ok(long::column(&run.tx.borrow(), table, self.row, column)?.into_owned())
    }

    /// `SET NEW.column = value`.
    pub fn put(&mut self, column: usize, value: Value<'static>) {
        self.nulls.retain(|c| *c != column);
        match self.set.iter_mut().find(|(c, _)| *c == column) {
            Some((_, old)) => *old = value,
            None => self.set.push((column, value)),
        }
    }
}
