//! Stored functions inside of expressions.

use super::lent::{Lent, SubPlan};
use super::{Compiled, Condition, Form, Host, Interpreter, Plans, RoutineName};
use crate::context::{Conditions, Env, Outcome, RowSink, Surroundings};
use expr::error::unsupported;
use expr::StoredCall;
use crate::Run;
use crate::prepared::{Prepared, Uses};
use plan::TableUse;
use catalog::{RoutineKind, Version};
use engine::Transaction;
use sql::ast::{ObjectName, Parsed};
use std::sync::Arc;
use types::{DataType, Result, Value, err};

/// Stack for a call inside of an expression, in an optimised build: the interpreter, a statement, its operators.
const CALL_BYTES: usize = 96 << 10;
/// Routines inside of each other: memory is bounded before the stack is.
const DEPTH_MAX: usize = 250;

/// The value of a call inside of an expression. Errors of the routine; 1321, 1424, 1449.
pub(crate) fn evaluate(
    run: &Run<'_>,
    stored: &Arc<StoredCall>,
    given: Vec<(Value<'static>, DataType)>,
) -> Result<Value<'static>> {
    let compiled = Compiled::of(&stored.routine)?;
    let warnings = run.env.borrow().warning_count();
    let _outside = run.outside();
    let (mut tx, mut env) = (run.tx.borrow_mut(), run.env.borrow_mut());
    let value = sync::stack::with_room(CALL_BYTES, || call(&mut tx, &mut **env, &compiled, given, stored))?;
    let counted = &run.evaluation.warnings;
    counted.set(counted.get() + env.warning_count() - warnings);
    Ok(value)
}

/// Calls a function with values for its parameters.
fn call(
    tx: &mut Transaction,
    env: &mut dyn Env,
    compiled: &Arc<Compiled>,
    given: Vec<(Value<'static>, DataType)>,
    stored: &Arc<StoredCall>,
) -> Result<Value<'static>> {
    let before = enter(env, compiled)?;
    let result = inside(tx, env, compiled, |interpreter| {
        interpreter.called = Some(Arc::clone(stored));
        for (i, (value, ty)) in given.into_iter().enumerate() {
            interpreter.give(i, value, &ty)?;
        }
        Ok(())
    });
    leave(env, before);
    let (_, returned) = result?;
    returned.ok_or_else(|| err!(1321, compiled.routine.name))
}

/// What a routine inside of a statement has put aside.
pub(super) struct Before {
    surroundings: Surroundings,
    conditions: Conditions,
    figures: crate::context::Figures,
}

/// Errors 1424, 1436, 1449.
pub(super) fn enter(env: &mut dyn Env, compiled: &Arc<Compiled>) -> Result<Before> {
    let lent = Lent::of(env.lent())?;
    let is_function = compiled.routine.kind == RoutineKind::Function;
    if is_function && lent.running.iter().any(|running| running.routine == compiled.routine) {
        return Err(err!(1424));
    }
    if lent.running.len() >= DEPTH_MAX {
        return Err(types::SqlError::new(1436, "Thread stack overrun: routines are nested too deeply"));
    }
    let definer = (!compiled.invoker).then_some(compiled.definer.as_str());
    let RoutineName { schema, kind, name } = &compiled.routine;
    let user = lent.rights()?.enter(definer, (schema, *kind, name))?;
    lent.running.push(Arc::clone(compiled));
    let routine = Surroundings {
        database: Some(Some(compiled.routine.schema.clone())),
        sql_mode: Some(compiled.sql_mode),
        collation: Some(compiled.connection_collation),
        user,
    };
    let surroundings = env.surround(&routine);
    let conditions = env.exchange_conditions(Conditions::default());
    Ok(Before { surroundings, conditions, figures: env.figures() })
}

/// The routine is over. Conditions of its last statement follow those that there were.
pub(super) fn leave(env: &mut dyn Env, before: Before) {
    let Before { surroundings, mut conditions, figures } = before;
    let own = env.exchange_conditions(Conditions::default());
    conditions.count += own.count;
    conditions.errors += own.errors;
    conditions.kept.extend(own.kept);
    env.exchange_conditions(conditions);
    env.set_figures(figures);
    env.restore(surroundings);
    if let Ok(lent) = Lent::of(env.lent()) {
        lent.running.pop();
        if let Ok(rights) = lent.rights() {
            rights.leave();
        }
    }
}

type Given<'g, 'h, 'x> = &'g mut Interpreter<'h, Within<'x>>;

/// Runs a routine that was entered.
pub(super) fn inside(
    tx: &mut Transaction,
    env: &mut dyn Env,
    compiled: &Arc<Compiled>,
    give: impl FnOnce(Given<'_, '_, '_>) -> Result<()>,
) -> Result<(Vec<Value<'static>>, Option<Value<'static>>)> {
    let version = Lent::of(env.lent())?.version()?;
    let mut host = Within { tx, env, version };
    let mut interpreter = Interpreter::new(&mut host, compiled);
    give(&mut interpreter)?;
    interpreter.run()
}

/// A statement's transaction and session, for the sub-statements of what it calls.
pub(crate) struct Within<'x> {
    tx: &'x mut Transaction,
    env: &'x mut dyn Env,
    version: Arc<Version>,
}

/// Error 1442 where a sub-statement writes to a table that a statement around it uses.
fn check_written(lent: &Lent, tables: &[TableUse]) -> Result<()> {
    let is_used = |t: &&TableUse| (t.is_written() && !t.by_routine) && lent.used.iter().any(|ids| ids.contains(&t.id));
    match tables.iter().find(is_used) {
        Some(t) => Err(err!(1442, t.table)),
        None => Ok(()),
    }
}

impl Within<'_> {
    fn execute(&mut self, plan: &mut SubPlan, locals: &[Value<'static>], sink: &mut dyn RowSink) -> Result<Outcome> {
        types::work::check()?;
        let lent = Lent::of(self.env.lent())?;
        let reads = lent.reads;
        if !plan.tables().is_empty() || plan.calls() {
            lent.rights()?.check(plan)?;
            check_written(lent, plan.tables())?;
        }
        if let Some(reads) = reads {
            plan.set_plain_reads(reads);
        }
        plan.execute(self.tx, locals, self.env, sink)
    }
}

impl Host for Within<'_> {
    type Plan = SubPlan;

    fn parts(&mut self) -> (&mut Transaction, &mut dyn Env) {
        (self.tx, self.env)
    }

    fn plan(&mut self, part: &Arc<Parsed>, form: Form) -> Result<SubPlan> {
        let prepared = Prepared::in_program(part, &self.version, self.env, &form)?;
        if matches!(prepared.uses(), Uses::Beside | Uses::Both) {
            return Err(unsupported("tables that are not transactional in stored functions and triggers"));
        }
        for t in prepared.tables().iter().filter(|t| t.is_written() && !t.temporary) {
            self.version.check_writable(&t.schema)?;
        }
        Ok(Box::new(prepared))
    }

    fn prepared<'p>(&self, plan: &'p mut SubPlan) -> &'p mut Prepared {
        plan
    }

    fn is_stale(&self, plan: &SubPlan) -> bool {
        plan.catalog_version() != self.version.number && !(plan.stands_alone() && !plan.is_spent())
    }

    fn query(&mut self, plan: &mut SubPlan, locals: &[Value<'static>], sink: &mut dyn RowSink) -> Result<Outcome> {
        let outcome = self.execute(plan, locals, sink)?;
        if !plan.columns().is_empty() {
            let mut figures = self.env.figures();
            figures.row_count = outcome.affected_rows as i64;
            figures.found_rows = outcome.found_rows.unwrap_or(outcome.affected_rows);
            self.env.set_figures(figures);
        }
        Ok(outcome)
    }

    fn run(&mut self, plan: &mut SubPlan, locals: &[Value<'static>]) -> Result<()> {
        let answers = !plan.columns().is_empty();
        let outcome = self.execute(plan, locals, &mut Nowhere)?;
        let mut figures = self.env.figures();
        figures.row_count = outcome.affected_rows as i64;
        if answers {
            figures.found_rows = outcome.found_rows.unwrap_or(outcome.affected_rows);
        }
        if outcome.insert_id != 0 {
            figures.last_insert_id = self.env.last_insert_id();
        }
        self.env.set_figures(figures);
        Ok(())
    }

    fn obey(&mut self, _: &Parsed, _: Option<(Value<'static>, DataType)>) -> Result<()> {
        Err(unsupported("this statement in stored functions and triggers"))
    }

    fn may_call(&mut self, part: &Parsed, name: ObjectName) -> Result<()> {
        let (schema, name) = self.named(part, name)?;
        Lent::of(self.env.lent())?.rights()?.may_call(&schema, RoutineKind::Procedure, &name)
    }

    fn enter(&mut self, _: &Parsed, _: ObjectName) -> Result<Arc<Compiled>> {
        Err(unsupported("CALL in stored functions and triggers"))
    }

    fn leave(&mut self) {}

    fn take_plans(&mut self, compiled: &Arc<Compiled>) -> Plans<SubPlan> {
        match Lent::of(self.env.lent()) {
            Ok(lent) => lent.take_plans(compiled),
            Err(_) => Plans::new(compiled),
        }
    }

    fn keep_plans(&mut self, plans: Plans<SubPlan>) {
        if let Ok(lent) = Lent::of(self.env.lent()) {
            lent.keep_plans(plans);
        }
    }

    fn clear_conditions(&mut self) {
        self.env.clear_conditions();
    }

    fn conditions(&mut self) -> &mut Vec<Condition> {
        self.env.conditions()
    }

    fn add_condition(&mut self, condition: Condition) {
        self.env.add_condition(condition);
    }

    fn row_count(&self) -> i64 {
        self.env.row_count()
    }
}

impl Within<'_> {
    fn named(&self, part: &Parsed, name: ObjectName) -> Result<(String, String)> {
        let schema = match name.schema {
            Some(schema) => part.name(schema).to_string(),
            None => self.env.database().ok_or_else(|| err!(1046))?.to_string(),
        };
        Ok((schema, part.name(name.name).to_string()))
    }
}

/// Rows that nobody takes.
struct Nowhere;

impl RowSink for Nowhere {
    fn columns(&mut self, _: &[plan::ColumnMeta]) -> Result<()> {
        Ok(())
    }

    fn row(&mut self, _: &[Value<'_>]) -> Result<()> {
        Ok(())
    }
}
