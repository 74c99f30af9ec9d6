//! Calls of stored functions, and triggers: which they are, and what tables the statement uses by them.

use super::Planner;
use crate::local::read_as;
use crate::node::rules::Triggers;
use crate::{LocalType, RoutineUse, TableUse};
use catalog::mdl::Pin;
use catalog::{Changes, Column, Routine, RoutineKind, Table, TriggerEvent};
use expr::call::StoredCall;
use expr::error::unsupported;
use expr::functions::stored::{CALL, CALL_DETERMINISTIC};
use expr::{Expr, Node};
use sql::ast::{ExprList, Name};
use std::sync::Arc;
use types::codes::*;
use types::{DataType, Result, TypeKind, err};

/// What a routine or trigger uses, and all that it calls.
#[derive(Clone, Debug)]
pub struct Closure {
    pub tables: Arc<[TableUse]>,
    /// Procedures and functions, itself among them: who calls it keeps them as they are.
    pub routines: Arc<[Pin]>,
    /// Temporary tables are used, too.
    pub uses_own: bool,
}

/// What is to be known of a trigger before a statement that fires it is run.
pub struct TriggerUse {
    pub closure: Closure,
    /// Columns of NEW that it may set.
    pub sets: Vec<usize>,
}

impl Planner<'_> {
    /// The call of a stored function; `None`: there is none of that name. Errors 1318, 1235 where none may be called.
    pub(super) fn stored_call(&mut self, schema: Option<Name>, name: Name, args: ExprList) -> Result<Option<Expr>> {
        let (parsed, version) = (self.parsed, self.version);
        let schema = match schema {
            Some(schema) => parsed.name(schema).to_string(),
            None => match self.scope.routine_schema.as_deref().or(self.env.database()) {
                Some(database) => database.to_string(),
                None => return Ok(None),
            },
        };
        let Some(routine) = version.routine(&schema, RoutineKind::Function, parsed.name(name)) else {
            return Ok(None);
        };
        let given = parsed.list(args);
        let wanted = routine.parameters.len();
        if given.len() != wanted {
            let name = format!("{}.{}", routine.schema, routine.name);
            return Err(err!(ER_SP_WRONG_NO_OF_ARGS, "FUNCTION", name, wanted, given.len()));
        }
        if !self.uses.calls_routines {
            return Err(unsupported("stored functions in this place"));
        }
        let returns = routine.returns.as_ref().expect("a function has a type");
        let column = Column { name: routine.name.clone(), ..returns.clone() };
        let (caller, view) = (self.scope.routine_caller.clone(), self.scope.routine_view.clone());
        let stored = StoredCall { routine: Arc::clone(routine), returns: column, caller, view };
        let mut all = vec![Expr::new(Node::Routine(Arc::new(stored)), DataType::new(TypeKind::Null))];
        for id in given {
            all.push(self.expr(*id)?);
        }
        self.found.unsteady |= !routine.deterministic;
        self.note_routine(routine)?;
        let returns = LocalType::of(returns);
        let function = if routine.deterministic { &CALL_DETERMINISTIC } else { &CALL };
        let ty = DataType { nullable: true, ..returns.data_type };
        Ok(Some(read_as(Node::Call(function, all), &LocalType { data_type: ty, ..returns })))
    }

    /// The statement calls a routine: it uses what that uses.
    pub(super) fn note_routine(&mut self, routine: &Arc<Routine>) -> Result<()> {
        let (schema, name, caller) = (routine.schema.clone(), routine.name.clone(), self.scope.routine_caller.clone());
        let used = RoutineUse { schema, kind: routine.kind, name, caller, view: None };
        if self.uses.routines.contains(&used) {
            return Ok(());
        }
        self.uses.routines.push(used);
        let closure = self.env.closure_of(self.version, routine)?;
        self.note_closure(&closure);
        Ok(())
    }

    /// The triggers of a table that rows are inserted into, updated in, deleted from. Errors 1054.
    pub(super) fn triggers(&mut self, table: &Arc<Table>, changes: Changes) -> Result<Triggers> {
        let mut triggers = Triggers::default();
        if table.triggers.is_empty() || !self.uses.calls_routines {
            return Ok(triggers);
        }
        for trigger in &table.triggers {
            let fires = match trigger.event {
                TriggerEvent::Insert => changes.insert,
                TriggerEvent::Update => changes.update,
                TriggerEvent::Delete => changes.delete,
            };
            if !fires {
                continue;
            }
            let (schema, name) = (table.schema.clone(), trigger.name.clone());
            self.uses.routines.push(RoutineUse { schema, kind: RoutineKind::Trigger, name, caller: None, view: None });
            let TriggerUse { closure, sets } = self.env.use_of_trigger(self.version, table, trigger)?;
            self.note_closure(&closure);
            if trigger.event == TriggerEvent::Update && trigger.before {
                triggers.set_by_update.extend(sets);
            }
            triggers.all.push(Arc::clone(trigger));
        }
        triggers.set_by_update.sort_unstable();
        triggers.set_by_update.dedup();
        Ok(triggers)
    }

    fn note_closure(&mut self, closure: &Closure) {
        self.uses.note_called(&closure.routines);
        self.uses.calls_for_own |= closure.uses_own;
        for used in closure.tables.iter() {
            match self.uses.tables.iter_mut().find(|t| t.id == used.id && t.schema == used.schema) {
                Some(own) => {
                    own.by_routine = true;
                    own.carried |= used.carried;
                }
                None => self.uses.tables.push(used.clone()),
            }
        }
    }
}
