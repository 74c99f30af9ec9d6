//! Hints that hold for one statement: SET_VAR and MAX_EXECUTION_TIME are session variables while it is planned and runs.

use crate::session::Session;
use crate::session::hinted::Before;
use crate::session::plans::Planned;
use crate::variables::{Access, VARIABLES, Val, VarId, find, id, parse_bytes};
use plan::hints::StatementHints;
use run::Prepared;
use sql::ast::Parsed;
use std::borrow::Cow;
use types::codes::*;
use types::{Result, Value};

const INSERT_ID: VarId = id("insert_id");
const MAX_EXECUTION_TIME: VarId = id("max_execution_time");
const OPTIMIZER_SWITCH: VarId = id("optimizer_switch");
const TIMESTAMP: VarId = id("timestamp");

/// Variables that SET_VAR may name, of those that there are.
const HINTABLE: &[&str] = &[
    "auto_increment_increment",
    "auto_increment_offset",
    "big_tables",
    "bulk_insert_buffer_size",
    "cte_max_recursion_depth",
    "default_table_encryption",
    "default_tmp_storage_engine",
    "div_precision_increment",
    "end_markers_in_json",
    "eq_range_index_dive_limit",
    "foreign_key_checks",
    "group_concat_max_len",
    "insert_id",
    "internal_tmp_mem_storage_engine",
    "join_buffer_size",
    "lock_wait_timeout",
    "max_error_count",
    "max_execution_time",
    "max_heap_table_size",
    "max_join_size",
    "max_length_for_sort_data",
    "max_points_in_geometry",
    "max_seeks_for_key",
    "max_sort_length",
    "optimizer_prune_level",
    "optimizer_search_depth",
    "optimizer_switch",
    "range_alloc_block_size",
    "range_optimizer_max_mem_size",
    "read_buffer_size",
    "read_rnd_buffer_size",
    "select_into_buffer_size",
    "select_into_disk_sync",
    "select_into_disk_sync_delay",
    "sort_buffer_size",
    "sql_auto_is_null",
    "sql_big_selects",
    "sql_buffer_result",
    "sql_mode",
    "sql_require_primary_key",
    "sql_safe_updates",
    "sql_select_limit",
    "time_zone",
    "timestamp",
    "tmp_table_size",
    "unique_checks",
    "updatable_views_with_limit",
    "use_secondary_engine",
    "windowing_use_high_precision",
];

impl Session {
    /// The statement's hints come into force; `warns`: with what there is to say of them.
    pub(crate) fn obey_hints(&mut self, hints: &StatementHints, warns: bool) {
        let (timestamp, insert_id) = (self.state.timestamp, self.state.insert_id);
        self.hinted.push(Before { vars: self.state.vars.clone(), timestamp, insert_id });
        if let Some(ms) = hints.time_limit_ms {
            self.state.vars.set(MAX_EXECUTION_TIME, Val::UInt(ms));
        }
        for (name, value, number) in &hints.set_vars {
            if let Err((code, message)) = self.set_hinted(name, value, *number, warns)
                && warns
            {
                expr::Env::warn(&mut self.state, "Warning", code, message);
            }
        }
        self.hints_changed();
    }

    /// Undoes what [`Session::obey_hints`] did last.
    pub(crate) fn end_hints(&mut self) {
        let before = self.hinted.pop().expect("hints are in force");
        self.state.vars = before.vars;
        self.state.timestamp = before.timestamp;
        self.state.insert_id = before.insert_id;
        self.hints_changed();
    }

    fn hints_changed(&mut self) {
        self.state.reload();
        self.state.read_clock();
        self.apply_memory_limits();
    }

    fn set_hinted(&mut self, name: &str, value: &str, number: bool, warns: bool) -> Result<(), (u16, String)> {
        let Some(at) = find(name) else {
            return Err((ER_UNRESOLVED_HINT_NAME, format!("Unresolved name '{name}' for SET_VAR hint")));
        };
        let variable = &VARIABLES[at as usize];
        if !HINTABLE.contains(&variable.name) {
            return Err((
                ER_NOT_HINT_UPDATABLE_VARIABLE,
                format!("Variable '{name}' cannot be set using SET_VAR hint."),
            ));
        }
        let plain = |e: types::SqlError| (e.code, e.message);
        self.may_set_session(variable.name).map_err(plain)?;
        let text = || Value::Bytes(Cow::Borrowed(value.as_bytes()));
        let given = match parse_bytes(value).filter(|_| number) {
            Some(n) => Value::UInt(n),
            None => match value.parse::<f64>().ok().filter(|_| number) {
                Some(n) => Value::Double(n),
                None => text(),
            },
        };
        let mut adjusted = Vec::new();
        let checked = match at {
            OPTIMIZER_SWITCH => variable.check_flags(&given, self.state.vars.get(at)),
            _ => variable.check(&given, false, &mut |w| adjusted.push(w)),
        };
        let new = checked.map_err(plain)?;
        if variable.access == Access::Fixed && new != *self.state.vars.get(at) {
            return Err(plain(variable.cannot(value)));
        }
        for warning in adjusted.into_iter().filter(|_| warns) {
            expr::Env::warn(&mut self.state, "Warning", ER_TRUNCATED_WRONG_VALUE, warning);
        }
        match at {
            TIMESTAMP => self.state.timestamp = Some(new.double()).filter(|s| *s != 0.0),
            INSERT_ID => self.state.insert_id = new.uint(),
            MAX_JOIN_SIZE => join_bound(new).into_iter().for_each(|(id, value)| self.state.vars.set(id, value)),
            _ => self.state.vars.set(at, new),
        }
        Ok(())
    }

    /// Runs a planned statement with the variables that its hints set, if any.
    pub(crate) fn run_under_hints<T>(
        &mut self,
        planned: &mut Planned,
        run: impl FnOnce(&mut Session, &mut Planned) -> Result<T>,
    ) -> Result<T> {
        let Some(hints) = planned.hinted.take() else { return run(self, planned) };
        self.obey_hints(&hints, true);
        let result = run(self, planned);
        planned.hinted = Some(hints);
        self.end_hints();
        result
    }

    /// Warns of the hints that do not count.
    pub(crate) fn note_hints(&mut self, prepared: &Prepared) {
        for (code, message) in prepared.hint_warnings() {
            expr::Env::warn(&mut self.state, "Warning", *code, message.clone());
        }
    }

    /// Runs `plan` with the variables that the statement's hints set.
    pub(crate) fn under_hints<T>(&mut self, hints: Option<&StatementHints>, plan: impl FnOnce(&mut Session) -> T) -> T {
        let Some(hints) = hints else { return plan(self) };
        self.obey_hints(hints, false);
        let result = plan(self);
        self.end_hints();
        result
    }
}

/// The hints of a statement that change variables.
pub(crate) fn of(parsed: &Parsed) -> Option<Box<StatementHints>> {
    let hints = plan::hints::of_statement(parsed)?;
    (hints != StatementHints::default()).then(|| Box::new(hints))
}

pub(crate) const MAX_JOIN_SIZE: VarId = id("max_join_size");
const BIG_SELECTS: VarId = id("sql_big_selects");

/// What `max_join_size` sets: it is obeyed until `sql_big_selects` is set again.
pub(crate) fn join_bound(value: Val) -> [(VarId, Val); 2] {
    let unbounded = Val::Bool(value.uint() == u64::MAX);
    [(MAX_JOIN_SIZE, value), (BIG_SELECTS, unbounded)]
}
