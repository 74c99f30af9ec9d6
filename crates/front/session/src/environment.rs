//! What expressions, the planner and the executor see of a session: [`expr::Env`], [`plan::Env`], [`run::Env`].

use crate::gtid;
use crate::gtids;
use crate::state::State;
use crate::variables::{Extension, FOREIGN_KEY_CHECKS, VARIABLES};
use catalog::VirtualContext;
use engine::Transaction;
use expr::{LoadedFile, SourcePlace, SourceWait, Stage, Teller};
use observe::TimeTotals;
use run::Env;
use run::context::{Around, Conditions, Figures};
use run::program::{Condition, RoutineName};
use sql::ast::Parsed;
use std::sync::Arc;
use types::codes::*;
use types::collation::CollationId;
use types::{DataType, Result, SqlError, TypeKind, Value, err};

/// Bytes that all user variables of a session may take.
const USER_VARIABLE_BYTES_MAX: usize = 64 << 20;

fn bytes_of(value: &Value<'_>) -> usize {
    match value {
        Value::Bytes(b) => b.len() + 64,
        _ => 64,
    }
}

impl expr::Env for State {
    fn warning_count(&self) -> u64 {
        self.warning_count
    }

    fn database(&self) -> Option<&str> {
        self.database.as_deref()
    }

    fn is_connected(&self, id: u64) -> bool {
        self.server.processes.user_of(id).is_some()
    }

    fn connection_id(&self) -> u64 {
        self.id.into()
    }

    fn pseudo_thread_id(&self) -> u64 {
        self.pseudo_thread_id
    }

    fn user(&self) -> &str {
        &self.user
    }

    fn current_user(&self) -> &str {
        &self.current_user
    }

    fn current_role(&self) -> &str {
        &self.current_role
    }

    fn now_us(&self) -> i64 {
        self.now_us
    }

    fn time_zone_offset(&self, unix_seconds: i64) -> i32 {
        self.time_zone.offset_at(unix_seconds)
    }

    fn literal_collation(&self) -> CollationId {
        self.vars.hot().literals
    }

    fn sql_mode(&self) -> u64 {
        self.sql_mode.0
    }

    fn last_insert_id(&self) -> u64 {
        self.last_insert_id
    }

    fn set_last_insert_id(&mut self, id: u64) {
        self.last_insert_id = id;
    }

    fn random(&mut self) -> &mut (u32, u32) {
        &mut self.random
    }

    fn row_count(&self) -> i64 {
        self.row_count
    }

    fn found_rows(&self) -> u64 {
        self.found_rows
    }

    fn system_variable(&self, global: Option<bool>, name: &str) -> Result<(Value<'static>, DataType)> {
        self.variable(global, self.server.globals.load().lookup(name)?)
    }

    fn user_variable(&self, name: &str) -> (Value<'static>, DataType) {
        let found = self.user_vars.get(&*expr::variable::key(name));
        found.map_or((Value::Null, DataType::new(TypeKind::Null)), |(_, known)| known.as_ref().clone())
    }

    fn set_user_variable(&mut self, name: &str, value: Value<'static>, data_type: DataType) {
        let key = expr::variable::key(name);
        let (value, data_type) = expr::variable::kept(value, &data_type);
        let known = self.user_vars.get(&*key).map(|(_, known)| known);
        let (new, old) = (bytes_of(&value), known.map_or(0, |known| bytes_of(&known.0)));
        if self.user_var_bytes + new - old.min(new) > USER_VARIABLE_BYTES_MAX {
            self.condition("Error", ER_UNKNOWN_ERROR, format!("User variable '{name}' is too large and was not set"));
            return;
        }
        // NULL is of any type, and a binary string at first.
        let binary = DataType::string(TypeKind::VarBinary, 0, types::CollationId::BINARY);
        let data_type = match known {
            Some(known) if data_type.kind == TypeKind::Null => known.1,
            None if data_type.kind == TypeKind::Null => expr::variable::kept_type(&binary),
            _ => data_type,
        };
        self.retyped_variables |= known.is_none_or(|known| known.1 != data_type);
        self.user_var_bytes = self.user_var_bytes + new - old;
        let value = Arc::new((value, data_type));
        match self.user_vars.get_mut(&*key) {
            // It keeps the name that it was made by.
            Some((_, known)) => *known = value,
            None => {
                self.user_vars.insert(key.into_owned(), (name.to_string(), value));
            }
        }
        self.vars.note_change();
    }

    fn stage(&self, stage: Stage) -> Stage {
        self.lane.map_or(stage, |lane| self.server.processes.stage(lane, stage))
    }

    fn teller(&self) -> Option<Teller> {
        let (server, lane) = (Arc::clone(&self.server), self.lane?);
        Some(Arc::new(move |done, of| server.processes.0.get(lane).performance.stages.note_progress(done, of)))
    }

    fn release_lock(&mut self, name: &str) -> Option<bool> {
        match self.user_locks.release(name) {
            Some(()) => Some(true),
            None => self.lock_owner(name).map(|_| false),
        }
    }

    fn release_all_locks(&mut self) -> u64 {
        self.user_locks.release_all()
    }

    fn lock_owner(&self, name: &str) -> Option<u64> {
        self.server.catalog.locks().user_lock_owner(name)
    }

    fn receipt(&self, gtid: types::gtid::Gtid) -> Result<Option<String>> {
        crate::receipt::of(self, gtid)
    }

    fn may_wait_for_gtids(&self) -> Result<()> {
        match self.server.globals.load().uint(gtids::GTID_MODE) {
            gtids::MODE_OFF => Err(err!(ER_GTID_MODE_OFF, "WAIT_FOR_EXECUTED_GTID_SET")),
            _ => Ok(()),
        }
    }

    fn wait_for_gtids(&self, set: &types::gtid::GtidSet, time: Option<std::time::Duration>) -> Result<bool> {
        gtid::wait_for(self, set, time)
    }

    fn wait_for_source(&self, place: &SourcePlace<'_>, time: Option<std::time::Duration>) -> Result<SourceWait> {
        let before = self.stage(Stage::SourcePosition);
        let wait = self.server.channels.wait_for(place, time);
        self.stage(before);
        wait
    }

    fn load_file(&self, name: &str, size_max: u64) -> Result<LoadedFile> {
        if !self.reads_files {
            return Ok(LoadedFile::Refused);
        }
        crate::files::load(&self.server.globals.load(), name, size_max)
    }

    fn password_strength(&self, password: &str) -> i64 {
        self.server.password_strength(self, password)
    }

    fn digesting(&self) -> sql::digest::Digesting {
        State::digesting(self)
    }

    fn query_attribute(&self, name: &str) -> Result<Option<&str>> {
        if !self.server.globals.load().has(Extension::QueryAttributes) {
            let function = format!("{}.mysql_query_attribute_string", self.database.as_deref().unwrap_or_default());
            return Err(err!(ER_SP_DOES_NOT_EXIST, "FUNCTION", function));
        }
        let is_it = |known: &str| !known.is_empty() && known.eq_ignore_ascii_case(name);
        let found = self.attributes.iter().find(|(known, _)| is_it(known));
        Ok(found.and_then(|(_, value)| value.as_deref()))
    }

    fn tell_of_parameter(&mut self, parameter: usize, code: u16, message: String) {
        self.untold.push((parameter, code, message));
    }

    fn untold(&mut self, parameter: usize) -> (Vec<(u16, String)>, bool) {
        let taken = self.untold.extract_if(.., |(n, ..)| *n == parameter);
        let taken = taken.map(|(_, code, message)| (code, message)).collect();
        (taken, !self.untold.is_empty())
    }

    fn warn(&mut self, level: &'static str, code: u16, message: String) {
        self.condition(level, code, message);
    }
}

impl plan::Env for State {
    fn closure_of(
        &mut self,
        version: &Arc<catalog::Version>,
        routine: &Arc<catalog::Routine>,
    ) -> Result<plan::routine::Closure> {
        run::program::closure::closure_of(version, self, routine)
    }

    fn use_of_trigger(
        &mut self,
        version: &Arc<catalog::Version>,
        table: &Arc<catalog::Table>,
        trigger: &Arc<catalog::Trigger>,
    ) -> Result<plan::routine::TriggerUse> {
        run::program::closure::use_of_trigger(version, self, table, trigger)
    }

    fn deprecated_variable(&self, name: &str) -> Option<&'static str> {
        crate::variables::find(name).and_then(|id| VARIABLES[id as usize].deprecated_read())
    }

    fn wants_trace(&self) -> Option<plan::trace::Wanted> {
        self.vars.hot().traces.then(|| crate::traces::wanted(&self.vars))
    }

    fn keep_trace(&mut self, trace: plan::trace::Traced) {
        self.traces.get_or_insert_default().keep(&self.vars, trace);
    }

    fn has_loadable(&self, function: expr::function::Func) -> bool {
        self.server.globals.load().brings(function.name)
    }

    fn engine(&self) -> &engine::Engine {
        &self.server.engine
    }
}

impl Env for State {
    fn take_insert_id(&mut self) -> u64 {
        std::mem::take(&mut self.insert_id)
    }

    fn get_lock(&mut self, name: &str, timeout: std::time::Duration, tx: &mut engine::Transaction) -> Result<bool> {
        self.user_locks.get(&self.server, self.id.into(), name, timeout, tx)
    }

    fn is_single_statement(&self) -> bool {
        self.single_statement
    }

    fn has_foreign_keys(&self, table: &catalog::Table) -> bool {
        let current = self.server.catalog.current();
        !table.foreign_keys.is_empty() || current.children(&table.schema, &table.name).next().is_some()
    }

    fn logged_rows(&self, beside: bool) -> Option<(binlog::payload::RowSettings, u64)> {
        self.row_settings(beside)
    }

    fn foreign_key_checks(&self) -> bool {
        self.vars.bool(FOREIGN_KEY_CHECKS)
    }

    fn runs_execute(&self) -> bool {
        self.runs_execute
    }

    fn tmp_memory(&self) -> u64 {
        self.vars.hot().tmp_memory
    }

    fn sort_buffer_size(&self) -> u64 {
        self.vars.hot().sort_buffer_size
    }

    fn max_sort_length(&self) -> u64 {
        self.vars.hot().max_sort_length
    }

    fn take_file(&mut self) -> Option<Box<dyn std::io::Read + Send>> {
        self.file.take()
    }

    fn virtual_context(&self) -> &dyn VirtualContext {
        match &self.inspect {
            Some(context) => &**context,
            None => &NoContext,
        }
    }

    fn lent(&mut self) -> Option<&mut dyn std::any::Any> {
        Some(State::lent(self))
    }

    fn surround(&mut self, routine: Around<'_>) {
        self.take_surroundings(routine);
    }

    fn is_surrounded(&self, routine: &Around<'_>) -> bool {
        let are_settings = self.sql_mode.0 == routine.sql_mode && self.vars.hot().literals == routine.collation;
        are_settings && routine.user.is_none() && self.database.as_deref() == Some(routine.schema)
    }

    fn restore(&mut self) {
        self.put_surroundings();
    }

    fn obey_within(
        &mut self,
        tx: &mut Transaction,
        part: &Parsed,
        given: Option<(Value<'static>, DataType)>,
    ) -> Result<()> {
        self.run_within(tx, part, given)
    }

    fn note_runs(&mut self, program: &RoutineName, runs: &TimeTotals) {
        self.note_program(program, runs);
    }

    fn begin_inner(&mut self) -> bool {
        self.begin_inner_statement()
    }

    fn end_inner(&mut self, part: &Parsed, error: Option<&SqlError>) {
        self.end_inner_statement(part, error);
    }

    fn exchange_conditions(&mut self, others: Conditions) -> Conditions {
        self.exchange_all_conditions(others)
    }

    fn conditions(&mut self) -> &mut Vec<Condition> {
        &mut self.warnings
    }

    fn replace_conditions(&mut self, conditions: Vec<Condition>) {
        self.put_conditions(conditions);
    }

    fn clear_conditions(&mut self) {
        self.begin_step();
    }

    fn handles(&mut self, code: u16) {
        self.note_raised(code, true);
    }

    fn add_condition(&mut self, condition: Condition) {
        State::add_condition(self, condition);
    }

    fn figures(&self) -> Figures {
        self.all_figures()
    }

    fn set_figures(&mut self, figures: Figures) {
        self.put_figures(figures);
    }
}

/// For statements without virtual tables.
pub(crate) struct NoContext;

impl VirtualContext for NoContext {
    fn as_any(&self) -> &dyn std::any::Any {
        self
    }
}
