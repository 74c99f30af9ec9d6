//! The tables that routines use, and all that these call: a statement that calls them pins them like its own.

use super::lent::Lent;
use super::{Compiled, Form};
use crate::context::Surroundings;
use crate::{Env, Prepared};
use catalog::{Routine, Version};
use plan::{ColumnUse, TableUse};
use sql::ast::{ExprId, Parsed, SetItem, Statement};
use std::sync::Arc;
use types::Result;

/// The tables that a routine uses, and all that it calls. What cannot be planned is not looked at: it will not run either.
pub fn closure(version: &Arc<Version>, env: &mut dyn Env, routine: &Arc<Routine>) -> Result<Arc<[TableUse]>> {
    let closures = &mut Lent::of(env.lent())?.closures;
    if let Some(known) = closures.find(version, routine) {
        return Ok(known);
    }
    if closures.open.iter().any(|r| Arc::ptr_eq(r, routine)) {
        closures.is_cut = true;
        return Ok(Arc::from([]));
    }
    closures.open.push(Arc::clone(routine));
    let found = Compiled::of(routine).map(|compiled| {
        let surroundings = Surroundings {
            database: Some(Some(routine.schema.clone())),
            sql_mode: Some(compiled.sql_mode),
            collation: Some(compiled.connection_collation),
            user: None,
        };
        let before = env.surround(&surroundings);
        let found = sync::stack::with_room(PLAN_BYTES, || tables_of(version, env, &compiled));
        env.restore(before);
        found
    });
    let closures = &mut Lent::of(env.lent())?.closures;
    closures.open.pop();
    let found: Arc<[TableUse]> = found?.into();
    closures.keep(routine, &found);
    Ok(found)
}

/// Stack for planning what a routine does, in an optimised build.
const PLAN_BYTES: usize = 512 << 10;

fn tables_of(version: &Arc<Version>, env: &mut dyn Env, compiled: &Compiled) -> Vec<TableUse> {
    let mut found: Vec<TableUse> = Vec::new();
    for part in &compiled.program().parts {
        let Some(values) = wanted(part) else { continue };
        let form = Form { locals: Arc::clone(&compiled.types), values, params: Box::default() };
        let Ok(prepared) = Prepared::in_program(part, version, env, &form) else { continue };
        for t in prepared.tables().iter().filter(|t| !t.temporary) {
            let carried = t.is_opened_for_write();
            match found.iter_mut().find(|f| f.id == t.id && f.schema == t.schema) {
                Some(known) => known.carried |= carried,
                None => found.push(TableUse {
                    by_routine: true,
                    carried,
                    columns: ColumnUse::default(),
                    ..TableUse::unused(t)
                }),
            }
        }
    }
    found
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
