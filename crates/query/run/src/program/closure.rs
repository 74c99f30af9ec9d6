//! What routines use, and all that these call: a statement that calls them pins it like its own.

use super::lent::Lent;
use super::{Compiled, Form, Own};
use crate::{Env, Prepared};
use catalog::mdl::Pin;
use catalog::{Routine, RoutineKind, Table, Trigger, Version};
use plan::routine::{Closure, TriggerUse};
use plan::{ColumnUse, TableUse};
use sql::ast::{ExprId, Parsed, RowImage, SetItem, Statement};
use std::sync::Arc;
use types::Result;

/// As [`plan::Env::closure_of`].
pub fn closure_of(version: &Arc<Version>, env: &mut dyn Env, routine: &Arc<Routine>) -> Result<Closure> {
    let compiled = Lent::of(env.lent())?.own(routine)?;
    closure(version, env, &compiled)
}

/// As [`plan::Env::use_of_trigger`].
pub fn use_of_trigger(
    version: &Arc<Version>,
    env: &mut dyn Env,
    table: &Arc<Table>,
    trigger: &Arc<Trigger>,
) -> Result<TriggerUse> {
    let compiled = Own::new(Compiled::of_trigger(table, trigger)?);
    let closure = closure(version, env, &compiled)?;
    let new = compiled.row_columns.iter().filter(|c| c.image == RowImage::New && c.is_set);
    Ok(TriggerUse { closure, sets: new.map(|c| c.column).collect() })
}

/// What a routine uses, and all that it calls. What cannot be planned is not looked at: it will not run either.
fn closure(version: &Arc<Version>, env: &mut dyn Env, routine: &Own) -> Result<Closure> {
    let closures = &mut Lent::of(env.lent())?.closures;
    if let Some(known) = closures.find(version, routine) {
        return Ok(known);
    }
    if closures.open.iter().any(|r| r.is(routine)) {
        closures.is_cut = true;
        return Ok(Closure { tables: Arc::from([]), routines: Arc::from([]), uses_own: false });
    }
    closures.open.push(routine.clone());
    env.surround(routine.around(None));
    let found = sync::stack::with_room(PLAN_BYTES, || used_by(version, env, routine));
    env.restore();
    let closures = &mut Lent::of(env.lent())?.closures;
    closures.open.pop();
    closures.keep(routine, &found);
    Ok(found)
}

/// Stack for planning what a routine does, in an optimised build.
const PLAN_BYTES: usize = 512 << 10;

fn used_by(version: &Arc<Version>, env: &mut dyn Env, compiled: &Compiled) -> Closure {
    let (mut found, mut routines): (Vec<TableUse>, Vec<Pin>) = (Vec::new(), Vec::new());
    let mut uses_own = false;
    if compiled.routine.kind != RoutineKind::Trigger {
        routines.push(compiled.pin.clone());
    }
    for part in &compiled.program().parts {
        if let Statement::Call { name, .. } = &part.statement {
            let schema = name.schema.map_or(compiled.routine.schema.as_str(), |s| part.name(s));
            let called = version.routine(schema, RoutineKind::Procedure, part.name(name.name));
            let called = called.and_then(|routine| Lent::of(env.lent()).and_then(|lent| lent.own(routine)).ok());
            if let Some(closure) = called.and_then(|called| closure(version, env, &called).ok()) {
                closure.tables.iter().for_each(|t| add(&mut found, t.clone()));
                add_called(&mut routines, &closure.routines);
                uses_own |= closure.uses_own;
            }
        }
        let Some(values) = wanted(part) else { continue };
        let form = Form { locals: Arc::clone(&compiled.types), values, params: Box::default() };
        let Ok(prepared) = Prepared::in_program(part, version, env, &form) else { continue };
        add_called(&mut routines, prepared.called());
        uses_own |= prepared.tables().iter().any(|t| t.temporary) || prepared.calls_for_own();
        for t in prepared.tables().iter().filter(|t| !t.temporary) {
            let (carried, columns) = (t.is_opened_for_write(), ColumnUse::default());
            add(&mut found, TableUse { by_routine: true, carried, columns, ..TableUse::unused(t) });
        }
    }
    Closure { tables: found.into(), routines: routines.into(), uses_own }
}

fn add_called(routines: &mut Vec<Pin>, called: &[Pin]) {
    for pin in called {
        if !routines.iter().any(|known| known.name == pin.name) {
            routines.push(pin.clone());
        }
    }
}

fn add(found: &mut Vec<TableUse>, used: TableUse) {
    match found.iter_mut().find(|f| f.id == used.id && f.schema == used.schema) {
        Some(known) => known.carried |= used.carried,
        None => found.push(used),
    }
}

/// The expressions of a part that are evaluated, or `Some(None)`: it is run itself. `None`: neither.
fn wanted(part: &Parsed) -> Option<Option<Box<[ExprId]>>> {
    match &part.statement {
        Statement::Do(list) => Some(Some(part.list(*list).into())),
        Statement::Call { args, .. } => Some(Some(part.list(*args).into())),
        Statement::Set(items) => match items.first() {
            Some(SetItem::UserVar { value, .. }) => Some(Some([*value].into())),
            Some(SetItem::SystemVar { value: Some(value), .. }) => Some(Some([*value].into())),
            _ => None,
        },
        Statement::Signal(signal) => Some(Some(signal.items.iter().map(|(_, value)| *value).collect())),
        Statement::Query(_) | Statement::Insert(_) | Statement::Update(_) | Statement::Delete(_) => Some(None),
        _ => None,
    }
}
