//! Triggers at the rows of a statement.

use super::Own;
use super::at_hand::AtHand;
use super::function::{Transactions, enter, inside, leave};
use super::interpreter::Ended;
use super::lent::Lent;
use crate::context::Env;
use crate::triggers::{Fire, NewRow};
use crate::{Run, long};
use catalog::Table;
use sql::ast::{LocalId, RowImage};
use types::{Result, Value};

/// Stack for a trigger inside of a statement, in an optimised build.
const FIRE_BYTES: usize = 96 << 10;

impl Fire for Run<'_> {
    fn fire(
        &self,
        triggers: &[Own],
        table: &Table,
        old: Option<&[u8]>,
        mut new: Option<&mut NewRow<'_>>,
        changes_new: bool,
    ) -> Result<()> {
        for compiled in triggers {
            let mut hand = self.take_at_hand(|hand| hand.compiled.is(compiled));
            let mut locals = hand.as_mut().map_or_else(Vec::new, |hand| std::mem::take(&mut hand.locals));
            locals.clear();
            locals.resize(compiled.columns.len(), Value::Null);
            for c in &compiled.row_columns {
                locals[c.local] = match (c.image, old, new.as_deref()) {
                    (RowImage::Old, Some(old), _) => {
                        long::column(&self.tx.borrow(), table, old, c.column)?.into_owned()
                    }
                    (RowImage::New, _, Some(new)) => new.get(table, c.column, self)?,
                    _ => Value::Null,
                };
            }
            let ended = match &mut hand {
                None => sync::stack::with_room(FIRE_BYTES, || run_one(compiled, table, locals, self))?,
                Some(hand) => sync::stack::with_room(FIRE_BYTES, || fire_at_hand(hand, table, locals, self))?,
            };
            if changes_new && let Some(new) = new.as_deref_mut() {
                for c in compiled.row_columns.iter().filter(|c| ended.set.contains(&(c.local as LocalId))) {
                    new.put(c.column, ended.locals[c.local].clone());
                }
            }
            if let Some(mut hand) = hand {
                (hand.locals, hand.set) = (ended.locals, ended.set);
                hand.set.clear();
                self.keep_at_hand(hand);
            }
        }
        Ok(())
    }
}

/// Runs a trigger that was run before.
fn fire_at_hand(hand: &mut AtHand, table: &Table, locals: Vec<Value<'static>>, run: &Run<'_>) -> Result<Ended> {
    let _outside = run.outside();
    hand.locals = locals;
    let (mut tx, mut env) = (run.tx.borrow_mut(), run.env.borrow_mut());
    let ended = hand.compute(None, false, Transactions::of(run, &mut tx), &mut **env)?;
    if !ended.set.iter().all(|local| hand.settable.contains(local)) {
        may_set(&mut **env, &hand.compiled, table, &ended)?;
        hand.settable.extend(&ended.set);
    }
    Ok(ended)
}

fn run_one(compiled: &Own, table: &Table, locals: Vec<Value<'static>>, run: &Run<'_>) -> Result<Ended> {
    let _outside = run.outside();
    let (mut tx, mut env) = (run.tx.borrow_mut(), run.env.borrow_mut());
    let before = enter(&mut **env, compiled, Some(&table.name), None)?;
    let mut beside = run.beside.take();
    let both = Transactions { own: &mut tx, beside: beside.as_deref_mut(), stores: run.evaluation.strict.get() };
    let result = inside(both, &mut **env, compiled, None, locals);
    run.beside.set(beside);
    // Only what it has set: a branch that it has not taken needs no rights.
    let result = result.and_then(|ended| may_set(&mut **env, compiled, table, &ended).map(|()| ended));
    let is_plain = before.is_plain;
    // Of one that has come to its end nothing is told.
    leave(&mut **env, before, result.is_err());
    drop((tx, env));
    let ended = result?;
    if is_plain {
        run.put_at_hand(compiled, None)?;
    }
    Ok(ended)
}

/// Error 1143.
fn may_set(env: &mut dyn Env, compiled: &Own, table: &Table, ended: &Ended) -> Result<()> {
    if ended.set.is_empty() {
        return Ok(());
    }
    Lent::of(env.lent())?.rights()?.may_set(&compiled.routine.schema, &table.name, compiled, &ended.set)
}
