//! Stored functions inside of expressions.

use super::at_hand::AtHand;
use super::interpreter::Ended;
use super::lent::{Dictionary, Lent, Running, SubPlan};
use super::values::{assign_argument, fits};
use super::{Compiled, Condition, Form, Host, Interpreter, Own, Plans};
use crate::Run;
use crate::context::{Conditions, Env, Outcome, RowSink};
use crate::prepared::{Prepared, Uses};
use catalog::RoutineKind;
use engine::{Savepoint, Transaction};
use expr::call::StoredCall;
use expr::{Execution, Expr, Scope, operand};
use observe::programs;
use plan::{LocalType, TableUse};
use sql::ast::{ObjectName, Parsed, Statement};
use std::sync::Arc;
use types::codes::*;
use types::{DataType, Result, SqlError, Value, err};

/// Stack for a call inside of an expression, in an optimised build: the interpreter, a statement, its operators.
const CALL_BYTES: usize = 96 << 10;
/// Savepoints of one function or trigger: memory is bounded.
const SAVEPOINTS_MAX: usize = 1 << 16;
/// Routines inside of each other: memory is bounded before the stack is.
const DEPTH_MAX: usize = 250;

/// The value of a call inside of an expression. Errors of the routine; 1321, 1424, 1449.
pub(crate) fn evaluate(run: &Run<'_>, stored: &StoredCall, args: &[Expr], at: Scope<'_>) -> Result<Value<'static>> {
    let _outside = run.outside();
    if let Some(mut hand) = run.take_at_hand(|hand| hand.is_called(stored)) {
        let value = call_at_hand(run, stored, args, at, &mut hand);
        run.keep_at_hand(hand);
        return value;
    }
    let compiled = Lent::of(run.env.borrow_mut().lent())?.own(&stored.routine)?;
    let mut values = Vec::with_capacity(compiled.columns.len());
    arguments(run, &compiled, args, at, &mut values)?;
    let (value, is_plain) = counted(run, |tx, env| {
        let mut beside = run.beside.take();
        let both = Transactions { own: tx, beside: beside.as_deref_mut(), stores: run.evaluation.strict.get() };
        let value = sync::stack::with_room(CALL_BYTES, || call(both, env, &compiled, values, stored));
        run.beside.set(beside);
        value
    })?;
    if is_plain {
        run.put_at_hand(&compiled, Some(stored))?;
    }
    Ok(value)
}

/// Calls a function that the statement has called before.
fn call_at_hand(
    run: &Run<'_>,
    stored: &StoredCall,
    args: &[Expr],
    at: Scope<'_>,
    hand: &mut AtHand,
) -> Result<Value<'static>> {
    let mut values = std::mem::take(&mut hand.locals);
    values.clear();
    arguments(run, &hand.compiled, args, at, &mut values)?;
    values.resize(hand.compiled.columns.len(), Value::Null);
    hand.locals = values;
    let ended = counted(run, |tx, env| {
        sync::stack::with_room(CALL_BYTES, || hand.compute(Some(stored), true, Transactions::of(run, tx), env))
    })?;
    hand.locals = ended.locals;
    ended.returned.ok_or_else(|| err!(ER_SP_NORETURNEND, hand.compiled.routine.name))
}

/// The values of the parameters, as the caller's mode has them: one is stored before the next one is computed.
fn arguments(
    run: &Run<'_>,
    compiled: &Compiled,
    args: &[Expr],
    at: Scope<'_>,
    values: &mut Vec<Value<'static>>,
) -> Result<()> {
    let strict = &run.evaluation.strict;
    let before = strict.replace(run.stores_arguments());
    for (e, column) in args.iter().zip(&compiled.columns) {
        let e = operand::number_for(e, &column.data_type);
        let value = e.eval(run, at)?;
        run.check_strict()?;
        values.push(match fits(&value, column) {
            true => value.into_owned(),
            false => {
                let how = (run.evaluation.row.get(), !strict.get());
                counted(run, |tx, env| assign_argument(tx, env, value, &e.ty, column, how))?
            }
        });
    }
    strict.set(before);
    Ok(())
}

/// Does something of the session's; its warnings are the statement's.
#[inline]
fn counted<R>(run: &Run<'_>, f: impl FnOnce(&mut Transaction, &mut dyn Env) -> Result<R>) -> Result<R> {
    let (mut tx, mut env) = (run.tx.borrow_mut(), run.env.borrow_mut());
    let before = env.warning_count();
    let result = f(&mut tx, &mut **env)?;
    let counted = &run.evaluation.warnings;
    counted.set(counted.get() + env.warning_count() - before);
    Ok(result)
}

/// Calls a function with values for its parameters. Does it find the session as it wants it?
fn call(
    both: Transactions<'_>,
    env: &mut dyn Env,
    compiled: &Own,
    values: Vec<Value<'static>>,
    stored: &StoredCall,
) -> Result<(Value<'static>, bool)> {
    let before = enter(env, compiled, None, stored.caller.as_deref())?;
    let result = inside(both, env, compiled, Some(stored), values);
    let is_plain = before.is_plain;
    leave(env, before, true);
    let result = result.map_err(|e| match &stored.view {
        Some((schema, name)) if is_of_view(e.code) => err!(ER_VIEW_INVALID, schema, name),
        _ => e,
    });
    let returned = result?.returned.ok_or_else(|| err!(ER_SP_NORETURNEND, compiled.routine.name))?;
    Ok((returned, is_plain))
}

/// Errors that say what somebody lacks, or that something is gone: who reads a view is told no more of it than that.
fn is_of_view(code: u16) -> bool {
    matches!(
        code,
        ER_BAD_FIELD_ERROR
            | ER_COLUMNACCESS_DENIED_ERROR
            | ER_NO_SUCH_TABLE
            | ER_PROCACCESS_DENIED_ERROR
            | ER_SP_DOES_NOT_EXIST
            | ER_TABLEACCESS_DENIED_ERROR
            | ER_TABLE_NOT_LOCKED
    )
}

/// What a routine inside of a statement has put aside.
pub(super) struct Before {
    conditions: Conditions,
    figures: crate::context::Figures,
    /// The routine changes nothing of the session's: see [`begin`].
    pub is_plain: bool,
}

/// `table`: of a trigger; `caller`: of a call in a view, its definer. Errors 1142, 1424, 1436, 1449.
pub(super) fn enter(env: &mut dyn Env, compiled: &Own, table: Option<&str>, caller: Option<&str>) -> Result<Before> {
    let lent = Lent::of(env.lent())?;
    let is_function = compiled.routine.kind == RoutineKind::Function;
    if is_function && lent.running.iter().any(|running| running.own.routine == compiled.routine) {
        return Err(err!(ER_SP_NO_RECURSION));
    }
    let is_plain = begin(env, compiled, table, caller)?;
    let conditions = env.exchange_conditions(Conditions::default());
    Ok(Before { conditions, figures: env.figures(), is_plain })
}

/// A routine's rights and settings are in force until [`end`]. Are they those that were in force? Errors 1142, 1436, 1449.
fn begin(env: &mut dyn Env, compiled: &Own, table: Option<&str>, caller: Option<&str>) -> Result<bool> {
    let lent = Lent::of(env.lent())?;
    if lent.running.len() >= DEPTH_MAX {
        return Err(SqlError::new(ER_STACK_OVERRUN_NEED_MORE, "Thread stack overrun: routines are nested too deeply"));
    }
    let rights = lent.rights()?;
    let user = rights.enter(compiled, table, caller)?;
    if let Some(table) = table
        && let Err(denied) = rights.may_read(&compiled.routine.schema, table, compiled)
    {
        rights.leave();
        return Err(denied);
    }
    lent.running.push(Running { own: compiled.clone(), began_ns: programs::began_ns() });
    let around = compiled.around(user);
    let is_plain = env.is_surrounded(&around);
    env.surround(around);
    Ok(is_plain)
}

fn end(env: &mut dyn Env) {
    env.restore();
    if let Ok(lent) = Lent::of(env.lent()) {
        let ran = lent.running.pop();
        if let Ok(rights) = lent.rights() {
            rights.leave();
        }
        if let Some(Running { own, began_ns: Some(began_ns) }) = ran {
            env.note_runs(&own.routine, &programs::run_since(began_ns));
        }
    }
}

/// The routine is over. Conditions of its last statement follow those that there were, if it `tells` of them.
pub(super) fn leave(env: &mut dyn Env, before: Before, tells: bool) {
    let Before { conditions, figures, .. } = before;
    tell(env, conditions, tells);
    env.set_figures(figures);
    end(env);
}

/// The conditions that there were before a routine are those of the session again, and its own follow them, if it `tells` of them.
pub(super) fn tell(env: &mut dyn Env, before: Conditions, tells: bool) {
    let own = env.exchange_conditions(before);
    if tells && own.count > 0 {
        let mut all = env.exchange_conditions(Conditions::default());
        all.count += own.count;
        all.errors += own.errors;
        all.kept.extend(own.kept);
        env.exchange_conditions(all);
    }
}

/// Runs a routine that was entered. `values`: of its first variables.
pub(super) fn inside(
    both: Transactions<'_>,
    env: &mut dyn Env,
    compiled: &Own,
    called: Option<&StoredCall>,
    values: Vec<Value<'static>>,
) -> Result<Ended> {
    let version = Lent::of(env.lent())?.dictionary()?;
    let mut host = Within::new(both, env, version);
    let mut interpreter = Interpreter::new(&mut host, compiled, values);
    interpreter.called = called;
    interpreter.run(compiled)
}

/// The session's transaction, and that of tables that are not transactional, where the statement has some.
pub(super) struct Transactions<'x> {
    /// The statement changes rows, and a strict mode makes errors of its warnings.
    pub stores: bool,
    pub own: &'x mut Transaction,
    pub beside: Option<&'x mut Transaction>,
}

impl<'x> Transactions<'x> {
    /// Of a routine that only computes.
    pub fn of(run: &Run<'_>, own: &'x mut Transaction) -> Transactions<'x> {
        Transactions { own, beside: None, stores: run.evaluation.strict.get() }
    }
}

/// A statement's transactions and session, for the sub-statements of what it calls.
pub(crate) struct Within<'x> {
    tx: &'x mut Transaction,
    /// See [`crate::beside`].
    beside: Option<&'x mut Transaction>,
    stores: bool,
    env: &'x mut dyn Env,
    pub(super) version: Arc<Dictionary>,
    /// Its own: those of the statement around it are out of its reach.
    savepoints: Vec<(String, Option<Savepoint>)>,
}

/// Error 1442 where a sub-statement writes to a table that a statement around it uses.
fn check_written(lent: &Lent, tables: &[TableUse]) -> Result<()> {
    let is_used = |t: &&TableUse| t.is_changed() && lent.used.iter().any(|ids| ids.contains(&t.id));
    // Of a view and its table, the table is told.
    let mut used = tables.iter().filter(is_used);
    match used.clone().find(|t| t.is_target).or_else(|| used.next()) {
        Some(t) => Err(err!(ER_CANT_UPDATE_USED_TABLE_IN_SF_OR_TRG, t.table)),
        None => Ok(()),
    }
}

impl<'x> Within<'x> {
    pub(super) fn new(both: Transactions<'x>, env: &'x mut dyn Env, version: Arc<Dictionary>) -> Within<'x> {
        Within { tx: both.own, beside: both.beside, stores: both.stores, env, version, savepoints: Vec::new() }
    }

    fn execute(&mut self, plan: &mut SubPlan, locals: &[Value<'static>], sink: &mut dyn RowSink) -> Result<Outcome> {
        let lent = Lent::of(self.env.lent())?;
        let reads = lent.reads;
        if !plan.tables().is_empty() || plan.calls() {
            lent.rights()?.check(plan)?;
            check_written(lent, plan.tables())?;
        }
        plan.become_inner(reads);
        match (plan.uses(), self.beside.as_deref_mut()) {
            (Uses::Beside | Uses::Both, Some(beside)) => plan.execute_beside(self.tx, beside, locals, self.env, sink),
            _ => plan.execute(self.tx, locals, self.env, sink),
        }
    }
}

impl Host for Within<'_> {
    type Begun = bool;

    fn begin_statement(&mut self) -> bool {
        self.env.begin_inner()
    }

    fn end_statement(&mut self, is_watched: bool, part: &Parsed, error: Option<&SqlError>) {
        if is_watched {
            self.env.end_inner(part, error);
        }
    }

    type Plan = SubPlan;

    fn parts(&mut self) -> (&mut Transaction, &mut dyn Env) {
        (self.tx, self.env)
    }

    fn plan(&mut self, part: &Arc<Parsed>, form: Form) -> Result<SubPlan> {
        let prepared = Prepared::in_program(part, &self.version.version, self.env, &form)?;
        let is_beside = matches!(prepared.uses(), Uses::Beside | Uses::Both);
        if is_beside && self.beside.is_none() {
            // The statement was planned when the table was another.
            return Err(err!(ER_NEED_REPREPARE));
        }
        for (code, message) in prepared.hint_warnings() {
            self.env.warn("Warning", *code, message.clone());
        }
        let pinned = Arc::clone(&Lent::of(self.env.lent())?.pinned);
        for t in prepared.tables().iter().filter(|t| !t.temporary) {
            if t.is_written() {
                self.version.version.check_writable(&t.schema)?;
            }
            if !pinned.contains(&t.id) {
                return Err(err!(ER_NEED_REPREPARE));
            }
        }
        Ok(Box::new(prepared))
    }

    fn prepared<'p>(&self, plan: &'p mut SubPlan) -> &'p mut Prepared {
        plan
    }

    fn is_stale(&self, plan: &SubPlan) -> bool {
        plan.is_spent() || !plan.stands_alone() && plan.catalog_version() != self.version.version.number
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

    fn obey(&mut self, part: &Parsed, given: Vec<(Value<'static>, DataType)>) -> Result<()> {
        match &part.statement {
            Statement::Savepoint(name) => self.savepoint(part.name(*name)),
            Statement::RollbackTo(name) => self.rollback_to(part.name(*name)),
            Statement::ReleaseSavepoint(name) => {
                let at = self.find_savepoint(part.name(*name))?;
                self.savepoints.truncate(at);
                Ok(())
            }
            _ => self.env.obey_within(self.tx, part, given.into_iter().next()),
        }
    }

    fn show(&mut self, part: &Parsed, _: &Arc<[LocalType]>, _: &[Value<'static>]) -> Result<()> {
        self.obey(part, Vec::new())
    }

    fn may_call(&mut self, part: &Parsed, name: ObjectName) -> Result<()> {
        let (schema, name) = self.named(part, name)?;
        Lent::of(self.env.lent())?.rights()?.may_call(&schema, RoutineKind::Procedure, &name)
    }

    fn find(&mut self, part: &Parsed, name: ObjectName) -> Result<Own> {
        let (schema, name) = self.named(part, name)?;
        let found = self.version.version.routine(&schema, RoutineKind::Procedure, &name);
        let routine = found.ok_or_else(|| err!(ER_SP_DOES_NOT_EXIST, "PROCEDURE", format!("{schema}.{name}")))?;
        let lent = Lent::of(self.env.lent())?;
        let compiled = lent.own(routine)?;
        if let Some(forbidden) = compiled.program().forbidden {
            let in_trigger = lent.running.iter().rfind(|r| r.own.routine.kind != RoutineKind::Procedure);
            let in_trigger = in_trigger.is_some_and(|r| r.own.routine.kind == RoutineKind::Trigger);
            let (code, message) = forbidden.error(if in_trigger { "trigger" } else { "function" });
            return Err(SqlError::new(code, message));
        }
        Ok(compiled)
    }

    fn enter(&mut self, compiled: &Own) -> Result<()> {
        let limit = self.env.system_variable(None, "max_sp_recursion_depth")?.0.to_u64();
        let lent = Lent::of(self.env.lent())?;
        let depth = lent.running.iter().filter(|r| r.own.routine == compiled.routine).count() as u64;
        if depth > limit {
            return Err(err!(ER_SP_RECURSION_LIMIT, limit, compiled.routine.name));
        }
        begin(self.env, compiled, None, None).map(drop)
    }

    fn leave(&mut self) {
        end(self.env);
    }

    fn take_plans(&mut self, compiled: &Own) -> Plans<SubPlan> {
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

    fn replace_conditions(&mut self, conditions: Vec<Condition>) {
        self.env.replace_conditions(conditions);
    }

    fn handles(&mut self, code: u16) {
        self.env.handles(code);
    }

    fn add_condition(&mut self, condition: Condition) {
        self.env.add_condition(condition);
    }

    fn row_count(&self) -> i64 {
        self.env.row_count()
    }

    fn stores(&self) -> bool {
        self.stores
    }

    fn set_row_count(&mut self, rows: i64) {
        let mut figures = self.env.figures();
        figures.row_count = rows;
        self.env.set_figures(figures);
    }
}

impl Within<'_> {
    fn savepoint(&mut self, name: &str) -> Result<()> {
        if self.savepoints.len() >= SAVEPOINTS_MAX {
            return Err(SqlError::new(ER_STACK_OVERRUN_NEED_MORE, "Thread stack overrun: too many savepoints"));
        }
        // A statement without tables has no transaction, and changes nothing.
        let savepoint = self.tx.is_active().then(|| self.tx.savepoint());
        self.savepoints.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        self.savepoints.push((name.to_string(), savepoint));
        Ok(())
    }

    fn find_savepoint(&self, name: &str) -> Result<usize> {
        let found = self.savepoints.iter().position(|(known, _)| known.eq_ignore_ascii_case(name));
        found.ok_or_else(|| err!(ER_SP_DOES_NOT_EXIST, "SAVEPOINT", name))
    }

    fn rollback_to(&mut self, name: &str) -> Result<()> {
        let at = self.find_savepoint(name)?;
        self.savepoints.truncate(at + 1);
        match self.savepoints[at].1 {
            Some(savepoint) => self.tx.rollback_to(savepoint).map_err(catalog::error::during_rollback),
            None => Ok(()),
        }
    }

    fn named(&self, part: &Parsed, name: ObjectName) -> Result<(String, String)> {
        let schema = match name.schema {
            Some(schema) => part.name(schema).to_string(),
            None => self.env.database().ok_or_else(|| err!(ER_NO_DB_ERROR))?.to_string(),
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
