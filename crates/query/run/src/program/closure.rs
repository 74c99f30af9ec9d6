//! The tables that routines use, and all that these call: a statement that calls them pins them like its own.

use super::lent::Lent;
use super::{Compiled, Form};
use crate::{Env, Prepared};
use catalog::{Routine, RoutineKind, Table, Trigger, Version};
use plan::routine::TriggerUse;
use plan::{ColumnUse, TableUse};
use sql::ast::{ExprId, Parsed, RowImage, SetItem, Statement};
use std::sync::Arc;
use types::Result;

/// As [`plan::Env::tables_of_routine`].
pub fn tables_of_routine(version: &Arc<Version>, env: &mut dyn Env, routine: &Arc<Routine>) -> Result<Arc<[TableUse]>> {
    closure(version, env, &Compiled::of(routine)?)
}

/// As [`plan::Env::use_of_trigger`].
pub fn use_of_trigger(
    version: &Arc<Version>,
    env: &mut dyn Env,
    table: &Arc<Table>,
    trigger: &Arc<Trigger>,
) -> Result<TriggerUse> {
    let compiled = Compiled::of_trigger(table, trigger)?;
    let tables = closure(version, env, &compiled)?;
    let new = compiled.row_columns.iter().filter(|c| c.image == RowImage::New);
    Ok(TriggerUse { tables, sets: new.map(|c| c.column).collect() })
}

/// The tables that a routine uses, and all that it calls. What cannot be planned is not looked at: it will not run either.
fn closure(version: &Arc<Version>, env: &mut dyn Env, routine: &Arc<Compiled>) -> Result<Arc<[TableUse]>> {
    let closures = &mut Lent::of(env.lent())?.closures;
    if let Some(known) = closures.find(version, routine) {
        return Ok(known);
    }
    if closures.open.iter().any(|r| Arc::ptr_eq(r, routine)) {
        closures.is_cut = true;
        return Ok(Arc::from([]));
    }
    closures.open.push(Arc::clone(routine));
    env.surround(routine.around(None));
    let found = sync::stack::with_room(PLAN_BYTES, || tables_of(version, env, routine));
    env.restore();
    let closures = &mut Lent::of(env.lent())?.closures;
    closures.open.pop();
    let found: Arc<[TableUse]> = found.into();
    closures.keep(routine, &found);
    Ok(found)
}

/// Stack for planning what a routine does, in an optimised build.
const PLAN_BYTES: usize = 512 << 10;

fn tables_of(version: &Arc<Version>, env: &mut dyn Env, compiled: &Compiled) -> Vec<TableUse> {
    let mut found: Vec<TableUse> = Vec::new();
    for part in &compiled.program().parts {
        if let Statement::Call { name, .. } = &part.statement {
            let schema = name.schema.map_or(compiled.routine.schema.as_str(), |s| part.name(s));
            let called = version.routine(schema, RoutineKind::Procedure, part.name(name.name));
            let called = called.and_then(|routine| Compiled::of(routine).ok());
            for t in called.and_then(|called| closure(version, env, &called).ok()).iter().flat_map(|all| all.iter()) {
                add(&mut found, t.clone());
            }
        }
        let Some(values) = wanted(part) else { continue };
        let form = Form { locals: Arc::clone(&compiled.types), values, params: Box::default() };
        let Ok(prepared) = Prepared::in_program(part, version, env, &form) else { continue };
        for t in prepared.tables().iter().filter(|t| !t.temporary) {
            let (carried, columns) = (t.is_opened_for_write(), ColumnUse::default());
            add(&mut found, TableUse { by_routine: true, carried, columns, ..TableUse::unused(t) });
        }
    }
    found
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
