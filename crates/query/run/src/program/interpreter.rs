//! The interpreter.

use super::cursor::OpenCursor;
use super::handlers::choose;
use super::values::{Row, assign, read, read_for};
use super::{Compiled, Condition, Form, Host, LocalType, Own};
use catalog::Column;
use expr::call::StoredCall;
use sql::ast::{
    Diagnosed, DiagnosticTarget, EventSchedule, ExplainTarget, Expr, ExprId, GetDiagnostics, Into, IntoVar, LocalId,
    Op, ParameterMode, Parsed, PartId, Place, PurgeLogs, SetItem, Signal, Statement, StatementItem,
};
use std::sync::Arc;
use types::codes::*;
use types::sql_mode::SqlMode;
use types::{DataType, Result, SqlError, TypeKind, Value, err};

/// Stack for a call of one program by another, in an optimised build.
const CALL_BYTES: usize = 64 << 10;

/// The plans of one session for a routine at one depth, by part.
pub struct Plans<P> {
    pub compiled: Own,
    plans: Vec<Option<P>>,
    /// With those of the values that CASEs compare, once they are known.
    types: Arc<[LocalType]>,
}

impl<P> Plans<P> {
    /// No statement of the program is planned yet.
    pub fn new(compiled: &Own) -> Plans<P> {
        let parts = compiled.program().parts.len();
        Plans {
            compiled: compiled.clone(),
            plans: (0..parts).map(|_| None).collect(),
            types: Arc::clone(&compiled.types),
        }
    }
}

/// An argument of CALL.
enum Given {
    Value(Value<'static>, DataType),
    /// A user variable, for a parameter that is OUT or INOUT.
    User(String),
    Local(LocalId),
    /// `?`, which is number so and so, for such a parameter.
    Param(u32, Value<'static>, DataType),
}

/// What goes back to the caller.
struct Back {
    /// Number of the parameter.
    parameter: usize,
    given: Given,
    value: Value<'static>,
    ty: DataType,
}

/// What a parameter that is OUT or INOUT has come to, for which `?` stood.
pub struct OutValue {
    /// Number of the `?`.
    pub param: u32,
    pub schema: String,
    pub routine: String,
    /// Of the parameter.
    pub name: String,
    pub value: Value<'static>,
    pub data_type: DataType,
}

/// A handler's statement that runs.
struct Activation {
    /// Where a CONTINUE handler goes on.
    resume: Place,
    handler: u32,
    /// Handlers that are not in force in it.
    saved: Vec<u32>,
    /// What it handles, and all conditions of the statement that failed.
    condition: Condition,
    conditions: Vec<Condition>,
    /// It has raised it again: what its statement tells of conditions stays when it ends.
    resignalled: bool,
}

/// One call of a routine.
pub struct Interpreter<'h, H: Host> {
    host: &'h mut H,
    plans: Plans<H::Plan>,
    locals: Vec<Value<'static>>,
    handlers: Vec<u32>,
    /// By number, those of inner blocks last.
    cursors: Vec<(u32, Option<OpenCursor>)>,
    active: Vec<Activation>,
    /// Types of what stands for `?`, in a statement that is no program's.
    params: Box<[DataType]>,
    /// The call of a function.
    pub called: Option<&'h StoredCall>,
    returned: Option<Value<'static>>,
    /// Variables that were set, in a trigger.
    pub(super) set: Vec<LocalId>,
    /// Of a CALL that is no program's.
    out: Vec<OutValue>,
}

/// What a program has come to: the values of its variables, what a function gives, which columns of its rows a trigger has set.
pub struct Ended {
    pub locals: Vec<Value<'static>>,
    pub returned: Option<Value<'static>>,
    pub set: Vec<LocalId>,
    pub out: Vec<OutValue>,
}

/// How the program goes on.
enum Next {
    On,
    To(Place),
    End,
}

impl<'h, H: Host> Interpreter<'h, H> {
    /// A call with values for the first variables, the parameters: those of OUT are NULL.
    pub fn new(host: &'h mut H, compiled: &Own, mut values: Vec<Value<'static>>) -> Interpreter<'h, H> {
        let plans = host.take_plans(compiled);
        values.resize(compiled.columns.len(), Value::Null);
        Interpreter::over(host, plans, values)
    }

    /// The same with plans at hand, and values for all variables.
    pub(super) fn over(host: &'h mut H, plans: Plans<H::Plan>, locals: Vec<Value<'static>>) -> Interpreter<'h, H> {
        let (handlers, cursors, active) = (Vec::new(), Vec::new(), Vec::new());
        Interpreter {
            host,
            plans,
            locals,
            handlers,
            cursors,
            active,
            params: Box::default(),
            called: None,
            set: Vec::new(),
            out: Vec::new(),
            returned: None,
        }
    }

    /// Runs the program, of which it is a call, to its end.
    pub fn run(self, compiled: &Own) -> Result<Ended> {
        let (host, plans, ended) = self.run_with(compiled);
        host.keep_plans(plans);
        ended
    }

    /// The same where the caller keeps the plans.
    pub(super) fn run_with(mut self, compiled: &Own) -> (&'h mut H, Plans<H::Plan>, Result<Ended>) {
        let result = self.steps(compiled);
        let Interpreter { host, plans, locals, returned, set, out, .. } = self;
        (host, plans, result.map(|()| Ended { locals, returned, set, out }))
    }

    fn steps(&mut self, compiled: &Own) -> Result<()> {
        let code = &compiled.program().code;
        let mut at: Place = 0;
        while let Some(op) = code.get(at as usize) {
            let result = self.step(compiled, op);
            // KILL ends the program, whatever its statement has made of it: SLEEP gives 1, and a loop may have none.
            types::work::check()?;
            at = match result {
                Ok(next) => {
                    let after = match next {
                        Next::On => at + 1,
                        Next::To(to) => to,
                        Next::End => code.len() as Place,
                    };
                    let is_quiet = self.handlers.is_empty() || self.host.conditions().is_empty();
                    if is_quiet { after } else { self.warned(compiled, op, after).unwrap_or(after) }
                }
                Err(error) => self.failed(compiled, op, at, error)?,
            };
        }
        Ok(())
    }

    fn step(&mut self, compiled: &Own, op: &Op) -> Result<Next> {
        match op {
            Op::Set { local, value } => {
                let column = &compiled.columns[*local as usize];
                let stored = self.stored_value(compiled, *value, column);
                match stored {
                    Ok(value) => self.locals[*local as usize] = value,
                    // One that fails, and is handled, has set NULL, and a column of a row stays as it is.
                    Err(error) => {
                        if !compiled.row_columns.iter().any(|c| c.local == *local as usize) {
                            self.locals[*local as usize] = Value::Null;
                        }
                        return Err(error);
                    }
                }
                self.note_set(compiled, *local);
                Ok(Next::On)
            }
            Op::Clear(local) => {
                self.locals[*local as usize] = Value::Null;
                Ok(Next::On)
            }
            Op::SetCase { local, value, .. } => self.set_case(compiled, *local as usize, *value),
            Op::Run(part) => self.statement(compiled, *part).map(|()| Next::On),
            Op::Jump(to) => Ok(Next::To(*to)),
            Op::JumpUnless { condition, to, .. } => {
                self.host.clear_conditions();
                self.ready(*condition, compiled, None)?;
                let stores = self.host.stores();
                let plan = self.plans.plans[*condition as usize].as_mut().expect("planned above");
                let holds = if self.host.prepared(plan).stands_alone() {
                    let prepared = self.host.prepared(plan);
                    let (tx, env) = self.host.parts();
                    prepared.holds(tx, &self.locals, env, stores)?
                } else {
                    if stores {
                        self.host.prepared(plan).store_values(None);
                    }
                    let (value, ty) = self.value(*condition)?;
                    if ty.kind.is_text() { value.to_f64() != 0.0 } else { value.to_bool() == Some(true) }
                };
                Ok(if holds { Next::On } else { Next::To(*to) })
            }
            Op::CaseNotFound => Err(err!(ER_SP_CASE_NOT_FOUND)),
            Op::PushHandler(number) => {
                self.handlers.push(*number);
                Ok(Next::On)
            }
            Op::PopHandlers(n) => {
                self.handlers.truncate(self.handlers.len() - *n as usize);
                Ok(Next::On)
            }
            Op::PushCursor(number) => {
                self.cursors.push((*number, None));
                Ok(Next::On)
            }
            Op::PopCursors(n) => {
                self.cursors.truncate(self.cursors.len() - *n as usize);
                Ok(Next::On)
            }
            Op::Open(number) => self.open(compiled, *number).map(|()| Next::On),
            Op::Close(number) => match self.cursor(*number).take() {
                Some(_) => Ok(Next::On),
                None => Err(err!(ER_SP_CURSOR_NOT_OPEN)),
            },
            Op::Fetch { cursor, into } => self.fetch(compiled, *cursor, into).map(|()| Next::On),
            Op::EndHandler { exit } => Ok(self.end_handler(compiled, *exit)),
            Op::Return(part) => {
                // One that fails, and is handled, has returned NULL.
                self.returned = Some(Value::Null);
                let column = self.called.map(|c| &c.returns).or(compiled.returns.as_ref());
                self.returned = Some(self.stored_value(compiled, *part, column.expect("only functions return"))?);
                Ok(Next::End)
            }
        }
    }

    /// The operand of CASE, which its WHENs are compared with.
    fn set_case(&mut self, compiled: &Own, local: usize, part: PartId) -> Result<Next> {
        self.host.clear_conditions();
        self.ready(part, compiled, None)?;
        if self.host.stores() {
            let plan = self.plans.plans[part as usize].as_mut().expect("planned above");
            self.host.prepared(plan).store_values(None);
        }
        let (value, mut ty) = self.value(part)?;
        // It is kept, and read quietly where a number is wanted, as long strings are.
        ty.kind = match ty.kind {
            TypeKind::Char | TypeKind::VarChar => TypeKind::LongText,
            TypeKind::Binary | TypeKind::VarBinary => TypeKind::LongBlob,
            kind => kind,
        };
        if self.plans.types[local].data_type != ty {
            // What compares it is planned for its type.
            let mut types = self.plans.types.to_vec();
            types[local] = LocalType::plain(ty);
            self.plans.types = types.into();
            let readers =
                |part: &Parsed| part.exprs().iter().any(|e| matches!(e, Expr::Local(l) if *l as usize == local));
            for (plan, part) in self.plans.plans.iter_mut().zip(&compiled.program().parts) {
                if readers(part) {
                    *plan = None;
                }
            }
        }
        self.locals[local] = value;
        Ok(Next::On)
    }

    /// The end of a handler's statement: where the program goes on. `exit`: the end of its block, of an EXIT handler.
    fn end_handler(&mut self, compiled: &Own, exit: Option<Place>) -> Next {
        let done = self.active.pop().expect("a handler's statement runs");
        if !done.resignalled && *self.host.conditions() == done.conditions {
            // What was handled is over.
            self.host.clear_conditions();
        }
        let handler = &compiled.program().handlers[done.handler as usize];
        self.handlers.truncate(handler.handlers as usize);
        match exit {
            Some(to) => {
                self.cursors.truncate(handler.cursors as usize);
                Next::To(to)
            }
            None => {
                self.handlers.extend(done.saved);
                Next::To(done.resume)
            }
        }
    }

    fn note_set(&mut self, compiled: &Compiled, local: LocalId) {
        if !compiled.row_columns.is_empty() && !self.set.contains(&local) {
            self.set.push(local);
        }
    }

    /// The value of a part as a column would hold it.
    fn stored_value(&mut self, compiled: &Own, part: PartId, column: &Column) -> Result<Value<'static>> {
        self.host.clear_conditions();
        self.ready(part, compiled, None)?;
        let plan = self.plans.plans[part as usize].as_mut().expect("planned above");
        if self.host.prepared(plan).stands_alone() {
            let prepared = self.host.prepared(plan);
            let (tx, env) = self.host.parts();
            return prepared.assign(tx, &self.locals, env, column);
        }
        self.host.prepared(plan).store_values(Some(&column.data_type));
        let (value, ty) = self.value(part)?;
        let (tx, env) = self.host.parts();
        assign(tx, env, value, &ty, column)
    }

    // --- conditions ---

    /// An error: where the program goes on if a handler takes it.
    fn failed(&mut self, compiled: &Own, op: &Op, at: Place, error: SqlError) -> Result<Place> {
        // What ends the connection or the statement as such is nobody's to handle.
        let is_fatal = matches!(
            error.code,
            ER_QUERY_INTERRUPTED
                | ER_QUERY_TIMEOUT
                | ER_CAPACITY_EXCEEDED
                | ER_DA_GLOBAL_CONN_LIMIT
                | ER_DA_CONN_LIMIT
                | ER_NET_ERROR_ON_WRITE
                | ER_INTERNAL_ERROR
                | ER_STACK_OVERRUN_NEED_MORE
                | ER_GET_STACKED_DA_WITHOUT_ACTIVE_HANDLER
        );
        let program = compiled.program();
        let chosen = match is_fatal {
            true => None,
            false => choose(program, &self.handlers, error.code, &error.sqlstate, "Error"),
        };
        let Some(number) = chosen else { return Err(error) };
        self.host.set_row_count(-1);
        let condition = Condition::of_error(&error);
        let condition = match self.host.conditions().iter().rfind(|c| c.is_of(&error)) {
            Some(noted) => noted.clone(),
            None => {
                self.host.add_condition(condition.clone());
                self.host.conditions().last().cloned().unwrap_or(condition)
            }
        };
        Ok(self.activate(compiled, number, condition, after_handling(op, at + 1)))
    }

    /// The statement has come to warnings: where the program goes on if a handler takes one.
    fn warned(&mut self, compiled: &Own, op: &Op, after: Place) -> Option<Place> {
        // What tells of conditions has not raised them.
        let tells = |part: &PartId| {
            let part = &compiled.program().parts[*part as usize];
            matches!(part.statement, Statement::GetDiagnostics(_) | Statement::Show(_))
        };
        match op {
            Op::Run(part) if tells(part) => return None,
            Op::Set { .. }
            | Op::SetCase { .. }
            | Op::JumpUnless { .. }
            | Op::Run(_)
            | Op::Fetch { .. }
            | Op::Open(_)
            | Op::Return(_) => {}
            _ => return None,
        }
        let program = compiled.program();
        let (conditions, handlers) = (self.host.conditions(), &self.handlers);
        let taken =
            conditions.iter().rev().filter(|c| !c.is_error()).find_map(|c| {
                choose(program, handlers, c.code, &c.sqlstate, c.level).map(|number| (number, c.clone()))
            });
        let (number, condition) = taken?;
        Some(self.activate(compiled, number, condition, after_handling(op, after)))
    }

    fn activate(&mut self, compiled: &Own, number: u32, condition: Condition, resume: Place) -> Place {
        let handler = &compiled.program().handlers[number as usize];
        let saved = self.handlers.split_off(handler.handlers as usize);
        if condition.is_error() {
            self.host.handles(condition.code);
        }
        let conditions = self.host.conditions().clone();
        let resignalled = false;
        self.active.push(Activation { resume, handler: number, saved, condition, conditions, resignalled });
        handler.body
    }

    // --- parts ---

    /// Plans a part unless it is planned. `values`: the expressions of a statement that are wanted, in place of the statement.
    fn ready(&mut self, part: PartId, compiled: &Own, values: Option<Box<[ExprId]>>) -> Result<()> {
        let at = part as usize;
        if let Some(plan) = &self.plans.plans[at]
            && !self.host.is_stale(plan)
        {
            return Ok(());
        }
        let parsed = &compiled.program().parts[at];
        let values = values.or_else(|| match &parsed.statement {
            Statement::Do(list) => Some(parsed.list(*list).into()),
            _ => None,
        });
        let form = Form { locals: Arc::clone(&self.plans.types), values, params: self.params.clone() };
        self.plans.plans[at] = Some(self.host.plan(parsed, form)?);
        Ok(())
    }

    /// The values of a part, which is planned.
    fn values(&mut self, part: PartId) -> Result<(Vec<Value<'static>>, Vec<DataType>)> {
        let plan = self.plans.plans[part as usize].as_mut().expect("planned before");
        let mut row = Row::default();
        if self.host.prepared(plan).stands_alone() {
            let prepared = self.host.prepared(plan);
            let (tx, env) = self.host.parts();
            prepared.execute(tx, &self.locals, env, &mut row)?;
        } else {
            self.host.query(plan, &self.locals, &mut row)?;
        }
        let types = self.host.prepared(plan).value_types().to_vec();
        Ok((row.0.expect("values are one row"), types))
    }

    fn value(&mut self, part: PartId) -> Result<(Value<'static>, DataType)> {
        let (mut values, mut types) = self.values(part)?;
        Ok((values.swap_remove(0), types.swap_remove(0)))
    }

    fn statement(&mut self, compiled: &Own, part: PartId) -> Result<()> {
        let begun = self.host.begin_statement();
        let result = self.run_statement(compiled, part);
        self.host.end_statement(begun, &compiled.program().parts[part as usize], result.as_ref().err());
        result
    }

    fn run_statement(&mut self, compiled: &Own, part: PartId) -> Result<()> {
        let parsed = &compiled.program().parts[part as usize];
        match &parsed.statement {
            Statement::GetDiagnostics(get) => return self.get_diagnostics(compiled, part, parsed, get),
            Statement::Signal(signal) => return self.signal(compiled, part, signal),
            Statement::Show(_) => return self.host.show(parsed, &self.plans.types, &self.locals),
            _ => self.host.clear_conditions(),
        }
        match &parsed.statement {
            Statement::Query(query) => {
                let into = match parsed[*query].into.as_deref() {
                    Some(Into::Vars(variables)) => Some(variables),
                    _ => None,
                };
                self.ready(part, compiled, None)?;
                let plan = self.plans.plans[part as usize].as_mut().expect("planned above");
                match into {
                    Some(variables) if variables.iter().any(|v| matches!(v, IntoVar::Local(_))) => {
                        let mut row = Row::default();
                        let result = self.host.query(plan, &self.locals, &mut row).map(drop);
                        let types = self.host.prepared(plan).value_types().to_vec();
                        // The first of too many is taken.
                        self.take_row(compiled, parsed, variables, row.0, &types)?;
                        result
                    }
                    _ => self.host.run(plan, &self.locals),
                }
            }
            Statement::Insert(_) | Statement::Update(_) | Statement::Delete(_) => self.run_part(compiled, part),
            Statement::Explain(explain) if !matches!(explain.target, ExplainTarget::Connection(_)) => {
                self.run_part(compiled, part)
            }
            Statement::Do(_) => {
                self.ready(part, compiled, None)?;
                self.values(part)?;
                self.host.set_row_count(0);
                Ok(())
            }
            Statement::Set(items) => self.set(compiled, part, parsed, &items[0]),
            Statement::Call { name, args } => {
                let args = parsed.list(*args).to_vec();
                self.call(compiled, part, *name, &args)
            }
            // The times of an event, an id, or a time before which logs go: they may be variables'.
            Statement::CreateEvent(create) => self.obey_with(compiled, part, times(create.clauses.schedule)),
            Statement::AlterEvent(alter) => self.obey_with(compiled, part, times(alter.clauses.schedule)),
            Statement::Kill { id, .. } => {
                self.ready(part, compiled, Some([*id].into()))?;
                let prepared = self.host.prepared(self.plans.plans[part as usize].as_mut().expect("planned above"));
                if prepared.calls() || !prepared.tables().is_empty() {
                    let what = "Usage of subqueries or stored function calls as part of this statement";
                    return Err(expr::error::unsupported(what));
                }
                self.obey_with(compiled, part, vec![*id])
            }
            Statement::PurgeLogs(PurgeLogs::Before(time, _)) => self.obey_with(compiled, part, vec![*time]),
            _ => self.host.obey(parsed, Vec::new()),
        }
    }

    /// A statement that the session obeys, with the values of its expressions.
    fn obey_with(&mut self, compiled: &Own, part: PartId, values: Vec<ExprId>) -> Result<()> {
        let parsed = &compiled.program().parts[part as usize];
        if values.is_empty() {
            return self.host.obey(parsed, Vec::new());
        }
        self.ready(part, compiled, Some(values.into()))?;
        let (values, types) = self.values(part)?;
        self.host.obey(parsed, values.into_iter().zip(types).collect())
    }

    /// A statement whose rows, if it has some, are the client's.
    fn run_part(&mut self, compiled: &Own, part: PartId) -> Result<()> {
        self.ready(part, compiled, None)?;
        let plan = self.plans.plans[part as usize].as_mut().expect("planned above");
        self.host.run(plan, &self.locals)
    }

    /// SELECT INTO.
    fn take_row(
        &mut self,
        compiled: &Own,
        parsed: &Parsed,
        variables: &[IntoVar],
        row: Option<Vec<Value<'static>>>,
        types: &[DataType],
    ) -> Result<()> {
        let Some(row) = row else { return Ok(()) };
        for ((variable, value), ty) in variables.iter().zip(row).zip(types) {
            let (tx, env) = self.host.parts();
            match variable {
                IntoVar::User(name) => env.set_user_variable(parsed.name(*name), value, *ty),
                IntoVar::Local(local) => {
                    let local = *local as usize;
                    self.locals[local] = assign(tx, env, value, ty, &compiled.columns[local])?;
                }
            }
        }
        Ok(())
    }

    fn set(&mut self, compiled: &Own, part: PartId, parsed: &Parsed, item: &SetItem) -> Result<()> {
        match item {
            SetItem::UserVar { name, value } => {
                self.ready(part, compiled, Some([*value].into()))?;
                let (value, ty) = self.value(part)?;
                let (_, env) = self.host.parts();
                env.set_user_variable(parsed.name(*name), value, ty);
                self.host.set_row_count(0);
                Ok(())
            }
            SetItem::SystemVar { value: Some(value), .. } if !matches!(parsed[*value], Expr::String { .. }) => {
                self.ready(part, compiled, Some([*value].into()))?;
                let given = self.value(part)?;
                self.host.obey(parsed, vec![given])
            }
            _ => self.host.obey(parsed, Vec::new()),
        }
    }

    // --- calls ---

    fn call(&mut self, compiled: &Own, part: PartId, name: sql::ast::ObjectName, args: &[ExprId]) -> Result<()> {
        let parsed = &compiled.program().parts[part as usize];
        self.host.may_call(parsed, name)?;
        let mut callee = self.host.find(parsed, name)?;
        check_count(&callee, args.len())?;
        // What is given is the caller's to compute.
        self.ready(part, compiled, Some(args.into()))?;
        let plan = self.plans.plans[part as usize].as_mut().expect("planned above");
        self.host.prepared(plan).store_values(None);
        let (values, types) = self.values(part)?;
        let plan = self.plans.plans[part as usize].as_mut().expect("planned above");
        if !self.host.prepared(plan).stands_alone() {
            // A statement has run, and may have ended what the procedure was kept for.
            callee = self.host.find(parsed, name)?;
            check_count(&callee, args.len())?;
        }
        let given = given(&callee, parsed, args, values, types)?;
        let inputs = self.inputs(compiled, &given, &callee)?;
        self.host.enter(&callee)?;
        // What the arguments have come to is the caller's to tell, whatever the procedure does.
        let before = self.host.conditions().clone();
        let result = sync::stack::with_room(CALL_BYTES, || self.call_inside(given, inputs, &callee));
        self.host.leave();
        if !before.is_empty() && result.is_ok() {
            let own = std::mem::take(self.host.conditions());
            self.host.clear_conditions();
            before.into_iter().chain(own).for_each(|c| self.host.add_condition(c));
        }
        for Back { parameter, given, value, ty } in result? {
            let (tx, env) = self.host.parts();
            match given {
                Given::Local(local) => {
                    let at = local as usize;
                    self.locals[at] = assign(tx, env, value, &ty, &compiled.columns[at])?;
                    self.note_set(compiled, local);
                }
                Given::User(name) => env.set_user_variable(&name, value, ty),
                Given::Param(param, ..) => self.out.push(OutValue {
                    param,
                    schema: callee.routine.schema.clone(),
                    routine: callee.routine.name.clone(),
                    name: callee.program().locals[parameter].name.clone(),
                    value,
                    data_type: ty,
                }),
                Given::Value(..) => {}
            }
        }
        Ok(())
    }

    /// The values of a call's parameters, as the caller's SQL mode has them; those of OUT are NULL. Errors as of columns.
    fn inputs(&mut self, compiled: &Compiled, given: &[Given], callee: &Compiled) -> Result<Vec<Value<'static>>> {
        let mut inputs = Vec::with_capacity(given.len());
        for (i, argument) in given.iter().enumerate() {
            let (tx, env) = self.host.parts();
            let (value, ty) = match argument {
                _ if callee.program().locals[i].mode == ParameterMode::Out => {
                    inputs.push(Value::Null);
                    continue;
                }
                Given::Value(value, ty) | Given::Param(_, value, ty) => (value.clone(), *ty),
                Given::User(name) => env.user_variable(name),
                Given::Local(n) => {
                    let (value, source) = (&self.locals[*n as usize], &compiled.columns[*n as usize]);
                    read_for(&callee.columns[i], tx, env, value, source)
                }
            };
            inputs.push(assign(tx, env, value, &ty, &callee.columns[i])?);
        }
        Ok(inputs)
    }

    /// What goes back to the caller.
    fn call_inside(&mut self, given: Vec<Given>, inputs: Vec<Value<'static>>, callee: &Own) -> Result<Vec<Back>> {
        let Ended { locals, .. } = call(&mut *self.host, callee, inputs)?;
        let mut back = Vec::new();
        for (i, (argument, value)) in given.into_iter().zip(locals).enumerate() {
            if callee.program().locals[i].mode != ParameterMode::In {
                let (tx, env) = self.host.parts();
                let source = &callee.columns[i];
                let (value, ty) = match argument {
                    Given::Local(to) => read_for(&self.plans.compiled.columns[to as usize], tx, env, &value, source),
                    _ => read(tx, env, &value, source),
                };
                back.push(Back { parameter: i, given: argument, value, ty });
            }
        }
        Ok(back)
    }

    // --- cursors ---

    fn cursor(&mut self, number: u32) -> &mut Option<OpenCursor> {
        let found = self.cursors.iter_mut().rev().find(|(n, _)| *n == number);
        &mut found.expect("the parser has found its declaration").1
    }

    fn open(&mut self, compiled: &Own, number: u32) -> Result<()> {
        self.host.clear_conditions();
        if self.cursor(number).is_some() {
            return Err(err!(ER_SP_CURSOR_ALREADY_OPEN));
        }
        let part = compiled.program().cursors[number as usize].query;
        self.ready(part, compiled, None)?;
        let plan = self.plans.plans[part as usize].as_mut().expect("planned above");
        let mut open = OpenCursor::default();
        let rows = self.host.row_count();
        self.host.query(plan, &self.locals, &mut open)?;
        self.host.set_row_count(rows);
        *self.cursor(number) = Some(open);
        Ok(())
    }

    fn fetch(&mut self, compiled: &Own, number: u32, into: &[LocalId]) -> Result<()> {
        self.host.clear_conditions();
        let Some(open) = self.cursor(number) else { return Err(err!(ER_SP_CURSOR_NOT_OPEN)) };
        if open.types.len() != into.len() {
            return Err(err!(ER_SP_WRONG_NO_OF_FETCH_ARGS));
        }
        let Some(row) = open.next() else { return Err(err!(ER_SP_FETCH_NO_DATA)) };
        let types = std::mem::take(&mut open.types);
        let mut result = Ok(());
        for ((local, value), ty) in into.iter().zip(row).zip(&types) {
            let local = *local as usize;
            let (tx, env) = self.host.parts();
            match assign(tx, env, value, ty, &compiled.columns[local]) {
                Ok(value) => self.locals[local] = value,
                Err(e) => {
                    result = Err(e);
                    break;
                }
            }
        }
        if let Some(open) = self.cursor(number) {
            open.types = types;
        }
        result
    }

    // --- diagnostics ---

    fn signal(&mut self, compiled: &Own, part: PartId, signal: &Signal) -> Result<()> {
        if signal.resignal && self.active.is_empty() {
            return Err(err!(ER_RESIGNAL_WITHOUT_ACTIVE_HANDLER));
        }
        let ids: Box<[ExprId]> = signal.items.iter().map(|(_, value)| *value).collect();
        let (values, types) = match ids.is_empty() {
            true => (Vec::new(), Vec::new()),
            false => {
                self.ready(part, compiled, Some(ids))?;
                self.values(part)?
            }
        };
        let handled = self.active.last();
        let mut condition = match (&signal.condition, signal.resignal, handled) {
            (None, _, Some(handled)) => handled.condition.clone(),
            (Some(wanted), true, Some(handled)) => {
                // The message and the items stay, unless they are said anew.
                let Condition { level, code, sqlstate, .. } = Condition::signalled(wanted);
                Condition { level, code, sqlstate, ..handled.condition.clone() }
            }
            (Some(wanted), ..) => Condition::signalled(wanted),
            (None, _, None) => return Err(err!(ER_RESIGNAL_WITHOUT_ACTIVE_HANDLER)),
        };
        let lenient = !SqlMode(self.host.parts().1.sql_mode()).is_strict();
        let mut told = Vec::new();
        for (((item, _), value), ty) in signal.items.iter().zip(&values).zip(&types) {
            told.extend(condition.set(*item, value, ty, lenient)?);
        }
        match self.active.last_mut().filter(|_| signal.resignal) {
            None => {
                self.host.clear_conditions();
                told.into_iter().for_each(|e| self.host.add_condition(Condition::new("Warning", e.code, e.message)));
                self.host.add_condition(condition.clone());
            }
            Some(active) => {
                self.host.replace_conditions(active.conditions.clone());
                told.into_iter().for_each(|e| self.host.add_condition(Condition::new("Warning", e.code, e.message)));
                // Without a new SQLSTATE it takes the place of what it was.
                let handled = self.host.conditions().iter_mut().find(|c| **c == active.condition);
                match handled.filter(|_| signal.condition.is_none()) {
                    Some(handled) => *handled = condition.clone(),
                    None => self.host.add_condition(condition.clone()),
                }
                if signal.condition.is_none() {
                    active.condition = condition.clone();
                }
                // What the handler raises next, and tells of what it handles, follows it.
                active.conditions = self.host.conditions().clone();
                active.resignalled = true;
            }
        }
        if condition.is_error() { Err(condition.error()) } else { Ok(()) }
    }

    fn get_diagnostics(&mut self, compiled: &Own, part: PartId, parsed: &Parsed, get: &GetDiagnostics) -> Result<()> {
        let conditions = match (get.stacked, self.active.last()) {
            (true, Some(active)) => active.conditions.clone(),
            (true, None) => return Err(err!(ER_GET_STACKED_DA_WITHOUT_ACTIVE_HANDLER)),
            (false, _) => self.host.conditions().clone(),
        };
        let bigint = DataType::new(TypeKind::BigInt);
        let mut out: Vec<(DiagnosticTarget, (Value<'static>, DataType))> = Vec::new();
        match &get.what {
            Diagnosed::Statement(items) => {
                let rows = self.host.row_count();
                out.extend(items.iter().map(|(target, item)| match item {
                    StatementItem::Number => (*target, (Value::UInt(conditions.len() as u64), bigint.unsigned())),
                    StatementItem::RowCount => (*target, (Value::Int(rows), bigint)),
                }));
            }
            Diagnosed::Condition(number, items) => {
                self.ready(part, compiled, Some([*number].into()))?;
                let (number, _) = self.value(part)?;
                let at = usize::try_from(number.to_i64()).ok().filter(|n| *n > 0 && !number.is_null());
                let Some(condition) = at.and_then(|n| conditions.get(n - 1)) else {
                    self.host.add_condition(Condition::of_error(&err!(ER_DA_INVALID_CONDITION_NUMBER)));
                    return Ok(());
                };
                out.extend(items.iter().map(|(target, item)| (*target, condition.get(*item))));
            }
        }
        for (target, (value, ty)) in out {
            let (tx, env) = self.host.parts();
            match target {
                DiagnosticTarget::User(name) => env.set_user_variable(parsed.name(name), value, ty),
                DiagnosticTarget::Local(local) => {
                    let local = local as usize;
                    self.locals[local] = assign(tx, env, value, &ty, &compiled.columns[local])?;
                }
            }
        }
        Ok(())
    }
}

/// Error 1318.
fn check_count(callee: &Compiled, given: usize) -> Result<()> {
    let (wanted, routine) = (callee.program().parameter_count as usize, &callee.routine);
    if wanted == given {
        return Ok(());
    }
    let name = format!("{}.{}", routine.schema, routine.name);
    Err(err!(ER_SP_WRONG_NO_OF_ARGS, routine.kind.word(), name, wanted, given))
}

/// The arguments of a call, from their values. Error 1414.
fn given(
    callee: &Compiled,
    parsed: &Parsed,
    args: &[ExprId],
    values: Vec<Value<'static>>,
    types: Vec<DataType>,
) -> Result<Vec<Given>> {
    let program = callee.program();
    let name = || format!("{}.{}", callee.routine.schema, callee.routine.name);
    let mut given = Vec::with_capacity(args.len());
    for (i, ((id, value), ty)) in args.iter().zip(values).zip(types).enumerate() {
        given.push(match (program.locals[i].mode, &parsed[*id]) {
            (ParameterMode::In, Expr::Local(local)) => Given::Local(*local),
            (ParameterMode::In, _) => Given::Value(value, ty),
            (_, Expr::UserVar(name)) => Given::User(parsed.name(*name).to_string()),
            (_, Expr::Local(local)) => Given::Local(*local),
            (_, Expr::Param(param)) => Given::Param(*param, value, ty),
            _ => return Err(err!(ER_SP_NOT_VAR_ARG, i + 1, name())),
        });
    }
    Ok(given)
}

/// Runs a routine with values for its parameters.
fn call<H: Host>(host: &mut H, callee: &Own, inputs: Vec<Value<'static>>) -> Result<Ended> {
    Interpreter::new(host, callee, inputs).run(callee)
}

/// Runs a statement of the client's that is the interpreter's: see [`Compiled::of_statement`]. `values` stand for `?`; gives what a CALL
/// has made of those that are OUT or INOUT.
pub fn run_statement<H: Host>(
    host: &mut H,
    parsed: Arc<Parsed>,
    values: Vec<Value<'static>>,
    types: Vec<DataType>,
) -> Result<Vec<OutValue>> {
    let compiled = Compiled::of_statement(parsed);
    let mut interpreter = Interpreter::new(host, &compiled, Vec::new());
    interpreter.locals = values;
    interpreter.params = types.into();
    interpreter.run(&compiled).map(|ended| ended.out)
}

/// Where the program goes on when a handler has had its say, if the operation itself would go on at `next`: a condition that has
/// not come to a clean end is neither true nor false, and what hangs from it is left.
fn after_handling(op: &Op, next: Place) -> Place {
    match op {
        Op::JumpUnless { otherwise, .. } | Op::SetCase { otherwise, .. } => *otherwise,
        _ => next,
    }
}

fn times(schedule: Option<EventSchedule>) -> Vec<ExprId> {
    schedule.map_or(Vec::new(), |schedule| schedule.expressions())
}
