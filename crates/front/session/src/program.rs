//! What stored programs ask of a session: plans, answers, transactions, definitions, rights.

use crate::com::kind_of;
use crate::performance::Nested;
use crate::run::REPLANS_MAX;
use crate::session::plans::Planned;
use crate::session::programs::Running;
use crate::session::{Done, Session};
use crate::sink::{gone, wire_column};
use crate::variables::{VarId, id};
use accounts::{Access, AccountName, Privileges};
use catalog::RoutineKind;
use engine::Transaction;
use plan::{ColumnMeta, LocalType};
use protocol::{Capabilities, Column, Output, RowFormat, ServerStatus};
use run::program::{Condition, Form, Host, Interpreter, OutValue, Own, Plans, run_statement};
use run::{Env, Outcome, Prepared, RowSink};
use sql::ast::{ObjectName, Parsed, Statement};
use std::sync::Arc;
use types::codes::*;
use types::{DataType, Result, SqlError, Value, err};

const MAX_RECURSION: VarId = id("max_sp_recursion_depth");
pub(crate) const SQL_MODE: VarId = id("sql_mode");
pub(crate) const COLLATION: VarId = id("collation_connection");
pub(crate) const CHARSET: VarId = id("character_set_connection");
const PROGRAM_CACHE: VarId = id("stored_program_cache");

fn of_out_value(out: OutValue) -> (Value<'static>, ColumnMeta) {
    (out.value, ColumnMeta::of_parameter((out.schema, out.routine), out.name, out.data_type))
}

/// A session while a statement of programs runs in it.
struct Calling<'s> {
    session: &'s mut Session,
    out: &'s mut Output,
}

impl Session {
    /// CALL, SIGNAL, RESIGNAL, GET DIAGNOSTICS.
    pub(crate) fn interpret(&mut self, parsed: Arc<Parsed>, out: &mut Output) -> Result<Done> {
        self.refresh_access()?;
        self.refuse_expired()?;
        self.check_xa(&parsed.statement)?;
        if self.restricted {
            self.check_restrictions(false, false)?;
        }
        let is_call = matches!(parsed.statement, Statement::Call { .. });
        observe::increment(self.com(kind_of(&parsed)));
        let is_get = matches!(parsed.statement, Statement::GetDiagnostics(_));
        let before = self.state.warning_count;
        let (values, mut types) = self.bound_values();
        for (value, data_type) in values.iter().zip(&mut types) {
            // A parameter takes a moment with as many digits as it has.
            if matches!(value, Value::DateTime(at) if at.micros() == 0)
                || matches!(value, Value::Time(t) if t.micros() == 0)
            {
                data_type.decimals = 0;
            }
        }
        let more = self.more;
        self.more |= is_call;
        // That of a call which no handler has saved.
        self.programs.is_cut = false;
        let result = run_statement(&mut Calling { session: self, out }, parsed, values, types);
        self.more = more;
        if is_call && self.autocommits() && !self.tx.is_active() {
            // No statement of it has ended what the procedure was kept for.
            self.ended();
        }
        let out_values = result?;
        match self.format {
            RowFormat::Binary => self.send_out_values(out_values, out)?,
            RowFormat::Text => self.bound.out = out_values,
        }
        let affected_rows = if is_call { self.state.row_count.max(0) as u64 } else { 0 };
        self.state.row_count = affected_rows as i64;
        // GET DIAGNOSTICS tells of nothing but what itself has come to.
        let kept = match self.state.warning_count == before && is_get {
            true => std::mem::take(&mut self.state.warning_count),
            false => 0,
        };
        let sent = self.ok(out, &Outcome { affected_rows, ..Outcome::default() });
        self.state.warning_count += kept;
        sent?;
        Ok(if std::mem::take(&mut self.programs.closes) { Done::Close } else { Done::Answered })
    }

    /// The row of those parameters of a CALL that are OUT or INOUT and were `?`, behind the procedure's own results.
    fn send_out_values(&mut self, values: Vec<OutValue>, out: &mut Output) -> Result<()> {
        if values.is_empty() || !out.capabilities().has(Capabilities::PS_MULTI_RESULTS) {
            return Ok(());
        }
        let (row, metas): (Vec<Value<'static>>, Vec<ColumnMeta>) = values.into_iter().map(of_out_value).unzip();
        let columns: Vec<Column<'_>> = metas.iter().map(wire_column).collect();
        let types: Vec<DataType> = metas.iter().map(|meta| meta.data_type).collect();
        let status = self.status(true).with(ServerStatus::PS_OUT_PARAMS, true);
        out.start_rows(&columns, status, self.state.wire_warnings()).map_err(|_| gone())?;
        out.row(RowFormat::Binary, &types, &row).map_err(|_| gone())?;
        out.end_rows(status, self.state.wire_warnings()).map_err(|_| gone())
    }

    /// Runs an event's body.
    pub(crate) fn run_program(&mut self, compiled: Own, out: &mut Output) -> Result<()> {
        let height = compiled.program().parts.iter().map(|part| part.height()).max().unwrap_or(0);
        plan::stack::with_stack(plan::stack::stack_bytes(height), || {
            self.enter_routine(compiled.clone())?;
            // No statement of it is the last one, whose commit may be waited for behind the answer.
            self.more = true;
            let result =
                Interpreter::new(&mut Calling { session: self, out }, &compiled, Vec::new()).run(&compiled).map(drop);
            self.more = false;
            self.leave_routine();
            result
        })
    }

    /// A panic has ended the routines that ran: the session is as it was before.
    #[cold]
    pub(crate) fn abandon_programs(&mut self) {
        self.take_back();
        while !self.programs.calls.is_empty() {
            self.leave_routine();
        }
        self.programs.given.clear();
    }

    /// What was planned under other settings is planned anew.
    pub(crate) fn forget_program_plans(&mut self) {
        self.programs.kept.clear();
        if let Some(lent) = &mut self.state.lent {
            lent.forget_plans();
        }
    }

    /// Looks a procedure up, which stays as it is until the transaction ends: in autocommit, that of its first statement.
    /// Errors 1205, 1213, 1305, 1317.
    fn keep_procedure(&mut self, schema: &str, name: &str) -> Result<Own> {
        for _ in 0..REPLANS_MAX {
            let version = self.catalog.get(self.server.catalog.cell());
            let missing = || err!(ER_SP_DOES_NOT_EXIST, "PROCEDURE", format!("{schema}.{name}"));
            let routine = version.routine(schema, RoutineKind::Procedure, name).ok_or_else(missing)?;
            let compiled = self.state.lent().own(routine)?;
            if self.pin_tables(std::slice::from_ref(&compiled.pin), false)? {
                return Ok(compiled);
            }
        }
        Err(err!(ER_NEED_REPREPARE))
    }

    fn enter_routine(&mut self, compiled: Own) -> Result<()> {
        let name = &compiled.routine;
        let depth = self.programs.calls.iter().filter(|c| c.compiled.routine == *name).count() as u64;
        let limit = self.state.vars.uint(MAX_RECURSION);
        if depth > limit {
            return Err(err!(ER_SP_RECURSION_LIMIT, limit, name.name));
        }
        // A routine of one's own keeps the roles that are active.
        let access = match compiled.invoker || self.rights().is_of(&compiled.definer) {
            true => None,
            false => Some(self.act_as_definer(&compiled)?),
        };
        let (sql_mode, collation) = (self.state.sql_mode.0, self.state.vars.hot().literals);
        self.state.set_surroundings(compiled.sql_mode, compiled.connection_collation);
        let database = self.state.database.replace(name.schema.clone());
        let began_ns = observe::programs::began_ns();
        self.programs.calls.push(Running { compiled, database, sql_mode, collation, access, began_ns });
        self.state.outer_programs = self.programs.calls.len();
        Ok(())
    }

    /// Runs as the routine's definer, who must be allowed to call it, with its default roles; the caller's rights and name.
    fn act_as_definer(&mut self, compiled: &Own) -> Result<(Access, String)> {
        let name = &compiled.routine;
        let definer = self.rights().take_calling(&compiled.definer, (&name.schema, name.kind, &name.name))?;
        let caller = self.access.replace(definer).expect("statements come after the login");
        let user = std::mem::replace(&mut self.state.current_user, compiled.definer.clone());
        self.show_roles();
        Ok((caller, user))
    }

    /// The account that has logged in, also while routines run as their definers.
    pub(crate) fn login_account(&self) -> &AccountName {
        let as_definer = self.programs.calls.iter().find_map(|call| call.access.as_ref());
        &as_definer.map_or(self.access(), |(own, _)| own).account().name
    }

    /// The user whose own sessions are seen and ended without a further right: who has logged in, or the definer that a routine runs as.
    pub(crate) fn acting_user(&self) -> &str {
        match self.programs.calls.iter().any(|call| call.access.is_some()) {
            true => &self.access().account().name.user,
            false => self.state.login_name(),
        }
    }

    fn leave_routine(&mut self) {
        let Some(running) = self.programs.calls.pop() else { return };
        self.state.outer_programs = self.programs.calls.len();
        if let Some(began_ns) = running.began_ns {
            self.state.note_program(&running.compiled.routine, &observe::programs::run_since(began_ns));
        }
        let sets_roles = match self.programs.calls.is_empty() {
            true => std::mem::take(&mut self.programs.sets_roles),
            false => self.programs.sets_roles,
        };
        self.state.database = running.database;
        // Also where the routine has set them itself.
        self.state.set_surroundings(running.sql_mode, running.collation);
        if let Some((access, user)) = running.access {
            // SET ROLE in the routine has been of the definer's rights here, and ends with them.
            let definer = self.access.replace(access).expect("the definer's");
            if !sets_roles {
                self.rights().keep_definer(definer);
            }
            self.state.current_user = user;
            self.show_roles();
            self.note_privileges();
        }
    }
}

impl Host for Calling<'_> {
    type Plan = Box<Planned>;
    type Begun = Option<Nested>;

    fn begin_statement(&mut self) -> Option<Nested> {
        self.session.begin_nested()
    }

    fn end_statement(&mut self, begun: Option<Nested>, part: &Parsed, error: Option<&SqlError>) {
        if let Some(begun) = begun {
            self.session.end_nested(begun, part, error);
        }
    }

    fn parts(&mut self) -> (&mut Transaction, &mut dyn Env) {
        (&mut self.session.tx, &mut self.session.state)
    }

    fn plan(&mut self, part: &Arc<Parsed>, form: Form) -> Result<Box<Planned>> {
        self.session.refresh_access()?;
        self.session.refuse_dictionary(part)?;
        self.session.plan_part(Arc::clone(part), form).map(Box::new)
    }

    fn prepared<'p>(&self, plan: &'p mut Box<Planned>) -> &'p mut Prepared {
        &mut plan.prepared
    }

    fn is_stale(&self, plan: &Box<Planned>) -> bool {
        plan.prepared.is_spent() && plan.prepared.stands_alone()
    }

    fn query(&mut self, plan: &mut Box<Planned>, locals: &[Value<'static>], sink: &mut dyn RowSink) -> Result<Outcome> {
        self.session.state.read_clock();
        let is_query = plan.is_query;
        let outcome = self.session.run_into(plan, locals, sink)?;
        if is_query {
            self.session.state.row_count = outcome.affected_rows as i64;
            self.session.state.found_rows = outcome.found_rows.unwrap_or(outcome.affected_rows);
        }
        Ok(outcome)
    }

    fn run(&mut self, plan: &mut Box<Planned>, locals: &[Value<'static>]) -> Result<()> {
        self.session.state.read_clock();
        self.may_answer(!plan.prepared.columns().is_empty())?;
        self.session.state.note_source(&plan.parsed);
        self.session.recorder.part_uses_no_index |= plan.prepared.uses_no_index();
        let format = self.session.format;
        self.session.run(plan, locals, format, self.out).map(drop)
    }

    fn obey(&mut self, part: &Parsed, given: Vec<(Value<'static>, DataType)>) -> Result<()> {
        self.session.state.read_clock();
        let answers = matches!(
            part.statement,
            Statement::Show(_) | Statement::DescribeTable { .. } | Statement::TableMaintenance(_) | Statement::Help(_)
        );
        self.may_answer(answers)?;
        self.session.refuse_dictionary(part)?;
        self.session.programs.given = given;
        let done = self.session.obey(part, true, self.out);
        self.session.programs.given.clear();
        self.session.programs.closes |= done? == Done::Close;
        Ok(())
    }

    fn show(&mut self, part: &Parsed, types: &Arc<[LocalType]>, locals: &[Value<'static>]) -> Result<()> {
        self.session.programs.shown = Some((Arc::clone(types), locals.to_vec()));
        let result = self.obey(part, Vec::new());
        self.session.programs.shown = None;
        result
    }

    fn may_call(&mut self, part: &Parsed, name: ObjectName) -> Result<()> {
        let (schema, name) = self.session.object(part, name)?;
        self.session.may_use_program(Privileges::EXECUTE, "execute", (&schema, false, &name))
    }

    fn find(&mut self, part: &Parsed, name: ObjectName) -> Result<Own> {
        let (schema, name) = self.session.object(part, name)?;
        let compiled = self.session.keep_procedure(&schema, &name)?;
        self.may_answer(compiled.answers).map_err(|_| err!(ER_SP_BADSELECT, format!("{schema}.{name}")))?;
        Ok(compiled)
    }

    fn enter(&mut self, compiled: &Own) -> Result<()> {
        self.session.enter_routine(compiled.clone())
    }

    fn leave(&mut self) {
        self.session.leave_routine();
    }

    fn take_plans(&mut self, compiled: &Own) -> Plans<Box<Planned>> {
        let kept = &mut self.session.programs.kept;
        match kept.iter().rposition(|p| p.compiled.is(compiled)) {
            Some(at) => kept.remove(at),
            None => Plans::new(compiled),
        }
    }

    fn keep_plans(&mut self, plans: Plans<Box<Planned>>) {
        if plans.compiled.routine.name.is_empty() {
            return;
        }
        let max = self.session.server.globals.load().uint(PROGRAM_CACHE) as usize;
        let kept = &mut self.session.programs.kept;
        kept.push(plans);
        if kept.len() > max {
            kept.remove(0);
        }
    }

    fn clear_conditions(&mut self) {
        self.session.state.begin_step();
    }

    fn conditions(&mut self) -> &mut Vec<Condition> {
        &mut self.session.state.warnings
    }

    fn replace_conditions(&mut self, conditions: Vec<Condition>) {
        self.session.state.put_conditions(conditions);
    }

    fn handles(&mut self, code: u16) {
        let session = &mut *self.session;
        session.state.note_raised(code, true);
        if std::mem::take(&mut session.programs.is_cut) {
            let (status, warnings) = (session.status(session.more), session.state.wire_warnings());
            // A connection that is lost tells the next answer.
            let _ = self.out.end_rows(status, warnings);
        }
    }

    fn add_condition(&mut self, condition: Condition) {
        self.session.state.add_condition(condition);
    }

    fn row_count(&self) -> i64 {
        self.session.state.row_count
    }

    fn set_row_count(&mut self, rows: i64) {
        self.session.state.row_count = rows;
    }
}

impl Calling<'_> {
    /// Error 1312 where the client takes one answer alone.
    fn may_answer(&self, answers: bool) -> Result<()> {
        if answers && !self.out.capabilities().has(Capabilities::MULTI_RESULTS) {
            let name = self.session.programs.calls.first().map(|c| &c.compiled.routine);
            return Err(err!(ER_SP_BADSELECT, name.map_or_else(String::new, |n| format!("{}.{}", n.schema, n.name))));
        }
        Ok(())
    }
}
