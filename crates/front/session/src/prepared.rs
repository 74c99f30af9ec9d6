//! Prepared statements: COM_STMT_* and PREPARE, EXECUTE, DEALLOCATE; cursors for COM_STMT_FETCH.

use crate::charset;
use crate::com::com_index;
use crate::digest_place::Verb;
use crate::performance::{EXECUTE, Instance, PREPARE};
use crate::process::Doing;
use crate::run::lexer_mode;
use crate::session::bound::Bound;
use crate::session::statements::{Body, Cursor, Stmt};
use crate::session::{Done, Session};
use crate::sink::{MemorySink, gone, wire_column};
use crate::statement::{is_interpreted, is_planned, parse_error};
use crate::variables::{VarId, id};
use accounts::Privileges;
use catalog::RoutineKind;
use observe::Counter;
use observe::clock::now_ns;
use plan::ColumnMeta;
use plan::parameter::{self, Parameter};
use protocol::command::CursorFlags;
use protocol::execute::ExecuteBody;
use protocol::{Column, Output, RowFormat, ServerStatus};
use sql::ast::{MaintenanceVerb, Parsed, QueryBody, ShowFilter, ShowWhat, Statement};
use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use types::codes::*;
use types::{Result, Value, err};

const STMT_EXECUTE: usize = com_index("stmt_execute");
const MAX_PREPARED: VarId = id("max_prepared_stmt_count");
const MAX_ALLOWED_PACKET: VarId = id("max_allowed_packet");
/// Parameters that an execution keeps on the stack.
const FEW: usize = 4;
/// Rows of open cursors that a session may keep, in bytes.
const CURSOR_BYTES_MAX: usize = 64 << 20;

/// Commands that MySQL prepares never, of those that are parsed and not executed.
const NEVER_PREPARED: [&str; 2] = ["create_trigger", "create_udf"];

/// SHOW WARNINGS and its like, which speak of the statement before.
fn is_of_conditions(what: &ShowWhat) -> bool {
    matches!(
        what,
        ShowWhat::Warnings { .. } | ShowWhat::CountWarnings | ShowWhat::Errors { .. } | ShowWhat::CountErrors
    )
}

fn unknown(id: u32, command: &str) -> types::SqlError {
    err!(ER_UNKNOWN_STMT_HANDLER, id, command)
}

/// A query whose rows go INTO variables or a file: nothing of it is sent.
fn puts_into(parsed: &Parsed) -> bool {
    matches!(parsed.statement, Statement::Query(id) if parsed[id].into.is_some())
}

/// A column as it is told before the query has run: the temporary table of a set operation, in which long strings are TEXT, is not
/// made yet.
fn prepared_column<'c>(parsed: &Parsed, meta: &'c ColumnMeta) -> Column<'c> {
    let is_set = matches!(parsed.statement, Statement::Query(id) if matches!(parsed[id].body, QueryBody::SetOp { .. }));
    let told = wire_column(meta);
    if is_set { Column { data_type: meta.data_type, ..told } } else { told }
}

impl Session {
    fn new_stmt(&mut self, text: &[u8]) -> Result<(u32, u32)> {
        observe::increment(self.com("stmt_prepare"));
        let text = charset::statement_text(&self.state, text).into_owned();
        let parsed = sql::parse(&text, lexer_mode(self.state.sql_mode)).map_err(parse_error)?;
        self.refuse_dictionary(&parsed)?;
        let is_constant = matches!(
            parsed.statement,
            Statement::Kill { .. } | Statement::Handler(_) | Statement::LoadData(_) | Statement::PurgeLogs(_)
        );
        if is_constant && parsed.param_count > 0 {
            return Err(err!(ER_NON_DML_DYNAMIC_PARAMETERS));
        }
        match &parsed.statement {
            Statement::Prepare { .. } | Statement::Execute { .. } | Statement::Deallocate(_) => {
                return Err(err!(ER_UNSUPPORTED_PS));
            }
            Statement::Begin { .. }
            | Statement::Savepoint(_)
            | Statement::RollbackTo(_)
            | Statement::ReleaseSavepoint(_)
            | Statement::LockTables(_)
            | Statement::UnlockTables
            | Statement::LockInstance
            | Statement::UnlockInstance
            | Statement::Shutdown
            | Statement::Help(_)
            | Statement::LoadData(_)
            | Statement::Handler(_)
            | Statement::Xa(_)
            | Statement::Binlog(_)
            | Statement::AlterDatabase(_)
            | Statement::Restart
            | Statement::CloneLocal(_)
            | Statement::CloneInstance(_)
            | Statement::CreateRoutine(_)
            | Statement::CreateTrigger(_)
            | Statement::Signal(_)
            | Statement::GetDiagnostics(_)
            | Statement::Use(_) => return Err(err!(ER_UNSUPPORTED_PS)),
            Statement::CreateView(_) if parsed.param_count > 0 => {
                return Err(err!(ER_VIEW_SELECT_VARIABLE));
            }
            Statement::Show(show) if is_of_conditions(&show.what) => return Err(err!(ER_UNSUPPORTED_PS)),
            Statement::TableMaintenance(m) if m.verb == MaintenanceVerb::Check => return Err(err!(ER_UNSUPPORTED_PS)),
            Statement::Unsupported(u) if NEVER_PREPARED.contains(&u.command) => return Err(err!(ER_UNSUPPORTED_PS)),
            _ => {}
        }
        self.refresh_access()?;
        if let Statement::Call { name, .. } = parsed.statement {
            let (schema, name) = self.object(&parsed, name)?;
            self.may_use_program(Privileges::EXECUTE, "execute", (&schema, false, &name))?;
            if self.dictionary().routine(&schema, RoutineKind::Procedure, &name).is_none() {
                return Err(err!(ER_SP_DOES_NOT_EXIST, "PROCEDURE", format!("{schema}.{name}")));
            }
        }
        self.state.note_parsed(&parsed);
        // Relaxed: a bound that may be passed by as many as prepare at once.
        if self.server.prepared.load(Ordering::Relaxed) as u64 >= self.server.globals.load().uint(MAX_PREPARED) {
            return Err(err!(ER_MAX_PREPARED_STMT_COUNT_REACHED, self.server.globals.load().uint(MAX_PREPARED)));
        }
        let params = parsed.param_count;
        self.log_prepare(&parsed);
        let body = if is_planned(&parsed.statement) {
            let mut planned = self.plan(parsed, &[])?;
            if planned.changes {
                self.check_access_mode()?;
            }
            planned.prepared.evaluate_constants(&mut self.tx, &mut self.state)?;
            Body::Planned(Box::new(planned))
        } else {
            Body::Other(Arc::new(parsed))
        };
        // Relaxed: a count that orders nothing.
        self.server.prepared.fetch_add(1, Ordering::Relaxed);
        let text: Arc<[u8]> = text.into();
        let instance = Arc::new(self.instance_of(&body));
        let types = Vec::with_capacity(32);
        let stmt = Stmt { body, types, long: Vec::new(), long_failed: false, cursor: None, instance };
        let id = self.statements.add(stmt);
        let stmt = self.statements.get(id).expect("it was added");
        self.entry.prepared(id, &text, &stmt.instance);
        Ok((id, params))
    }

    /// COM_STMT_PREPARE.
    pub(crate) fn prepare_statement(&mut self, text: &[u8], out: &mut Output) -> Result<Done> {
        self.state.clear_conditions();
        observe::increment(Counter::Queries);
        self.note_event(PREPARE, None);
        let (id, params) = self.new_stmt(text).map_err(|e| self.failed(e))?;
        (self.recorder.prepared, self.recorder.prepares) = (id, true);
        let parsed = self.statements.parsed(id);
        self.note_text(&parsed);
        self.digest(parsed.source(), Verb::Prepare);
        let (status, warnings) = (self.status(false), self.state.wire_warnings());
        let stmt = self.statements.get(id).expect("it was added");
        let told = |parameter: &Parameter| Column::expression("?", parameter.data_type);
        let (columns, parameters): (Vec<Column<'_>>, Vec<Column<'_>>) = match &stmt.body {
            Body::Planned(planned) => {
                let prepared = &planned.prepared;
                let sent = if puts_into(&planned.parsed) { &[] } else { prepared.columns() };
                let columns = sent.iter().map(|meta| prepared_column(&planned.parsed, meta));
                (columns.collect(), prepared.parameters().iter().map(told).collect())
            }
            Body::Other(_) => {
                let text = parameter::text_type(self.state.vars.hot().literals);
                (Vec::new(), vec![Column::expression("?", text); params as usize])
            }
        };
        out.prepared(id, &parameters, &columns, status, warnings).map_err(|_| gone())?;
        Ok(Done::Answered)
    }

    /// COM_STMT_EXECUTE.
    pub(crate) fn execute_statement(
        &mut self,
        id: u32,
        cursor: CursorFlags,
        body: ExecuteBody<'_>,
        out: &mut Output,
    ) -> Result<Done> {
        let lane = observe::lane();
        lane.increment(self.server.com.at(STMT_EXECUTE));
        lane.increment(Counter::Questions);
        lane.increment(Counter::Queries);
        self.state.clear_conditions();
        let mut stmt = self.statements.take(id).ok_or_else(|| unknown(id, "mysqld_stmt_execute"))?;
        self.entry.begin_statement(Doing::Execute, id, self.state.clock_us);
        (self.recorder.prepared, self.recorder.prepares) = (id, false);
        self.close_cursor(&mut stmt);
        let result = self.execute_taken(&mut stmt, cursor, body, out).map_err(|e| self.failed(e));
        stmt.long.clear();
        stmt.long_failed = false;
        self.statements.put_back(id, stmt);
        result
    }

    fn execute_taken(
        &mut self,
        stmt: &mut Stmt,
        cursor: CursorFlags,
        body: ExecuteBody<'_>,
        out: &mut Output,
    ) -> Result<Done> {
        if stmt.long_failed {
            return Err(err!(ER_WARN_ALLOWED_PACKET_OVERFLOWED, "long_data", self.state.vars.uint(MAX_ALLOWED_PACKET)));
        }
        let Stmt { body: what, types, long, .. } = stmt;
        let count = match what {
            Body::Planned(planned) => planned.prepared.param_count(),
            Body::Other(parsed) => parsed.param_count as usize,
        };
        // Few values stay on the stack.
        let mut few = [const { Value::Null }; FEW];
        let mut many = Vec::new();
        let values = match few.get_mut(..count) {
            Some(few) => few,
            None => {
                many.resize(count, Value::Null);
                &mut many[..]
            }
        };
        for (i, data) in long.iter().filter(|(i, _)| usize::from(*i) < count) {
            values[usize::from(*i)] = Value::Bytes(Cow::Borrowed(data));
        }
        let is_long = |i: usize| long.iter().any(|(n, _)| usize::from(*n) == i);
        let attributes = body
            .decode(count, types, is_long, |i, value| values[i] = value)
            .map_err(|_| err!(ER_WRONG_ARGUMENTS, "mysqld_stmt_execute"))?;
        self.state.take_attributes(&attributes);
        charset::parameters(&self.state, types, values);
        match what {
            Body::Planned(planned) => {
                let uses_no_index = planned.prepared.uses_no_index();
                self.note_planned(EXECUTE, planned);
                self.digest_plan(planned, Verb::Execute);
                self.recorder.uses_no_index = uses_no_index;
                self.log_execute(&planned.parsed, values, uses_no_index);
            }
            Body::Other(parsed) => {
                self.note_statement(EXECUTE, parsed);
                self.digest(parsed.source(), Verb::Execute);
                self.log_execute(parsed, values, false);
            }
        }
        if let Body::Planned(planned) = what {
            self.bind(planned, values, &|i| types.get(i).is_some_and(|t| t.is_bytes()))?;
        }
        match what {
            Body::Planned(planned) if !cursor.is_none() && puts_into(&planned.parsed) => {
                Err(err!(ER_SP_BAD_CURSOR_SELECT))
            }
            Body::Planned(planned) if !cursor.is_none() && planned.is_query => {
                let left = CURSOR_BYTES_MAX.saturating_sub(self.statements.cursor_bytes);
                let mut sink = MemorySink::new(left);
                observe::increment(planned.com);
                self.run_into(planned, values, &mut sink)?;
                let columns: Vec<Column<'_>> = sink.columns.iter().map(wire_column).collect();
                let status = self.status(false).with(ServerStatus::CURSOR_EXISTS, true);
                out.start_rows(&columns, status, self.state.wire_warnings()).map_err(|_| gone())?;
                self.statements.cursor_bytes += sink.bytes;
                let types = sink.columns.iter().map(|c| c.data_type).collect();
                stmt.cursor = Some(Cursor { rows: sink.rows.into_iter(), types, bytes: sink.bytes });
                Ok(Done::Answered)
            }
            Body::Planned(planned) => {
                self.state.note_source(&planned.parsed);
                observe::increment(planned.com);
                self.run(planned, values, RowFormat::Binary, out)
            }
            Body::Other(parsed) => {
                self.format = RowFormat::Binary;
                let result = self.obey_with(parsed, values, out);
                self.format = RowFormat::Text;
                result
            }
        }
    }

    /// A statement that the executor does not run, with its parameters. Error 1235 where it has no place for them.
    fn obey_with(&mut self, parsed: &Arc<Parsed>, values: &[Value<'_>], out: &mut Output) -> Result<Done> {
        let takes = match &parsed.statement {
            Statement::Set(_) | Statement::CreateTable(_) | Statement::Call { .. } => true,
            Statement::Show(show) => matches!(show.filter, ShowFilter::Where(_)),
            _ => false,
        };
        if !values.is_empty() && !takes {
            return Err(err!(ER_NOT_SUPPORTED_YET, "parameters in this statement"));
        }
        self.bound = Bound { values: values.iter().map(|v| v.clone().into_owned()).collect(), ..Bound::default() };
        let result = match is_interpreted(&parsed.statement) {
            true => self.interpret(Arc::clone(parsed), out),
            false => match crate::events::expressions::scheduled(&parsed.statement) {
                Some(expressions) => self.obey_with_values(parsed, &expressions, false, out),
                None => self.obey(parsed, false, out),
            },
        };
        self.bound = Bound { out: std::mem::take(&mut self.bound.out), ..Bound::default() };
        result
    }

    fn close_cursor(&mut self, stmt: &mut Stmt) {
        if let Some(cursor) = stmt.cursor.take() {
            self.statements.cursor_bytes -= cursor.bytes;
        }
    }

    /// COM_STMT_FETCH.
    pub(crate) fn fetch(&mut self, id: u32, count: u32, out: &mut Output) -> Result<Done> {
        observe::increment(self.com("stmt_fetch"));
        observe::increment(Counter::Queries);
        let (open, sent) = (self.status(false), ServerStatus::LAST_ROW_SENT);
        let stmt = self.statements.get_mut(id).ok_or_else(|| unknown(id, "mysqld_stmt_fetch"))?;
        let cursor = stmt.cursor.as_mut().ok_or_else(|| err!(ER_STMT_HAS_NO_OPEN_CURSOR, id))?;
        let mut last = false;
        for _ in 0..count {
            let Some(row) = cursor.rows.next() else {
                // As in MySQL it is told once somebody asks for more rows than there are.
                last = true;
                break;
            };
            out.row(RowFormat::Binary, &cursor.types, &row).map_err(|_| gone())?;
        }
        let status = open.with(ServerStatus::CURSOR_EXISTS, !last).with(sent, last);
        if last && let Some(cursor) = stmt.cursor.take() {
            self.statements.cursor_bytes -= cursor.bytes;
        }
        out.end_rows(status, 0).map_err(|_| gone())?;
        Ok(Done::Answered)
    }

    /// COM_STMT_SEND_LONG_DATA: has no answer.
    pub(crate) fn long_data(&mut self, id: u32, parameter: u16, data: &[u8]) {
        observe::increment(self.com("stmt_send_long_data"));
        let limit = self.state.vars.uint(MAX_ALLOWED_PACKET) as usize;
        let Some(stmt) = self.statements.get_mut(id) else { return };
        let total: usize = stmt.long.iter().map(|(_, data)| data.len()).sum();
        if total + data.len() > limit || expr::error::check_memory_for(data.len()).is_err() {
            stmt.long_failed = true;
            return;
        }
        match stmt.long.iter_mut().find(|(i, _)| *i == parameter) {
            Some((_, known)) => known.extend_from_slice(data),
            None => stmt.long.push((parameter, data.to_vec())),
        }
    }

    /// COM_STMT_RESET: closes the cursor, forgets long data.
    pub(crate) fn reset_statement(&mut self, id: u32) -> Result<()> {
        observe::increment(self.com("stmt_reset"));
        observe::increment(Counter::Queries);
        let mut stmt = self.statements.take(id).ok_or_else(|| unknown(id, "mysqld_stmt_reset"))?;
        self.close_cursor(&mut stmt);
        stmt.long.clear();
        stmt.long_failed = false;
        self.statements.put_back(id, stmt);
        Ok(())
    }

    /// COM_STMT_CLOSE: has no answer.
    pub(crate) fn close_statement(&mut self, id: u32) {
        if let Some(mut stmt) = self.statements.remove(id) {
            observe::increment(self.com("stmt_close"));
            self.note_prepared(&stmt.parsed(), Verb::Deallocate);
            self.close_cursor(&mut stmt);
            self.entry.closed(id);
            // Relaxed: a count that orders nothing.
            self.server.prepared.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// The session ends or starts over.
    pub(crate) fn drop_statements(&mut self) {
        // Relaxed: a count that orders nothing.
        self.server.prepared.fetch_sub(self.statements.by_id.len(), Ordering::Relaxed);
        self.entry.all_closed();
        // Ids go on: a client that uses an old one gets an error, not another statement.
        self.statements.clear();
    }

    fn instance_of(&self, body: &Body) -> Instance {
        let parsed = match body {
            Body::Planned(planned) => &planned.parsed,
            Body::Other(parsed) => parsed,
        };
        let owner = self.programs.calls.last().map(|running| {
            let routine = &running.compiled.routine;
            (routine.kind.word(), routine.schema.to_string(), routine.name.to_string())
        });
        let text = String::from_utf8_lossy(&self.shown_text(parsed)).into_owned();
        Instance::new(self.statements.last_id + 1, text, self.entry.performance.event_id(), owner)
    }

    /// Does it speak of a prepared statement, which has digests of its own? Of one that is not there it has one as others have.
    pub(crate) fn is_of_prepared(&self, parsed: &Parsed) -> bool {
        match &parsed.statement {
            Statement::Prepare { .. } => true,
            Statement::Execute { name, .. } | Statement::Deallocate(name) => {
                self.statements.by_name.contains_key(&parsed.name(*name).to_lowercase())
            }
            _ => false,
        }
    }

    /// PREPARE name FROM text.
    pub(crate) fn prepare_named(&mut self, name: &str, text: &[u8]) -> Result<()> {
        let (shown, began_ns) = (name, now_ns());
        let name = name.to_lowercase();
        if let Some(old) = self.statements.by_name.remove(&name) {
            self.close_statement(old);
        }
        let (id, _) = self.new_stmt(text)?;
        self.statements.by_name.insert(name, id);
        let instance = &self.statements.get(id).expect("it was added").instance;
        instance.name.get_or_init(|| shown.to_string());
        instance.prepared(now_ns().saturating_sub(began_ns));
        let parsed = self.statements.parsed(id);
        self.note_prepared(&parsed, Verb::Prepare);
        Ok(())
    }

    /// The statement at hand is about this prepared one, unless it is a procedure's: then the CALL is at hand.
    fn note_prepared(&mut self, parsed: &Parsed, verb: Verb) {
        if self.programs.calls.is_empty() {
            self.note_text(parsed);
            self.digest(parsed.source(), verb);
        }
    }

    /// EXECUTE name USING values.
    pub(crate) fn execute_named(
        &mut self,
        name: &str,
        values: &mut [Value<'static>],
        is_binary: &dyn Fn(usize) -> bool,
        out: &mut Output,
    ) -> Result<Done> {
        let id = self.statements.by_name.get(&name.to_lowercase()).copied();
        let id = id.ok_or_else(|| err!(ER_UNKNOWN_STMT_HANDLER, name, "EXECUTE"))?;
        observe::increment(self.server.com.at(STMT_EXECUTE));
        let mut stmt = self.statements.take(id).expect("named statements are in the table");
        self.entry.begin_statement(Doing::Execute, id, self.state.clock_us);
        self.state.runs_execute = true;
        let began = self.recorder.look(&self.counters, self.log.sent);
        match &mut stmt.body {
            Body::Planned(planned) => {
                if self.programs.calls.is_empty() {
                    self.note_text(&planned.parsed);
                    self.digest_plan(planned, Verb::Execute);
                }
                self.recorder.uses_no_index = planned.prepared.uses_no_index();
                self.log_execute(&planned.parsed, values, planned.prepared.uses_no_index());
            }
            Body::Other(parsed) => {
                self.note_prepared(parsed, Verb::Execute);
                self.log_execute(parsed, values, false);
            }
        }
        let result = match &mut stmt.body {
            Body::Planned(planned) if planned.prepared.param_count() == values.len() => {
                self.state.note_source(&planned.parsed);
                observe::increment(planned.com);
                self.bind(planned, values, is_binary).and_then(|()| self.run(planned, values, RowFormat::Text, out))
            }
            Body::Other(parsed) if parsed.param_count as usize == values.len() => self.obey_with(parsed, values, out),
            _ => Err(err!(ER_WRONG_ARGUMENTS, "EXECUTE")),
        };
        self.state.runs_execute = false;
        self.end_execute(&stmt.instance, &began, result.as_ref().err());
        self.statements.put_back(id, stmt);
        result
    }

    /// DEALLOCATE PREPARE name.
    pub(crate) fn deallocate(&mut self, name: &str) -> Result<()> {
        let id = self.statements.by_name.remove(&name.to_lowercase());
        let id = id.ok_or_else(|| err!(ER_UNKNOWN_STMT_HANDLER, name, "DEALLOCATE PREPARE"))?;
        self.close_statement(id);
        Ok(())
    }
}
