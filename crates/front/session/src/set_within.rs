//! What SET does to the session's own state, and SET in stored functions and triggers, which run while a statement has borrowed
//! the session.

use crate::evaluate::assignment_texts;
use crate::gtids::{GTID_NEXT, OUTSIDE_TRANSACTIONS};
use crate::hints::{MAX_JOIN_SIZE, join_bound};
use crate::lent::LentRights;
use crate::run::lexer_mode;
use crate::set::*;
use crate::state::State;
use crate::variables::{
    Access, Extension, Globals, Kind, LOCK_WAIT, Scope, VARIABLES, Val, VarId, id, pair, variable_name,
};
use crate::{charset, tracking};
use engine::Transaction;
use expr::Env;
use expr::error::unsupported;
use sql::ast::{AccessMode, IsolationLevel, Parsed, SetItem, Statement, VarScope};
use std::sync::Arc;
use std::time::Duration;
use types::charset::Charset;
use types::codes::*;
use types::collation::CollationId;
use types::sql_mode::SqlMode;
use types::{DataType, Result, Value, err};

/// What the caller of a function or trigger has as it had it before, whatever that has set.
const RESTORED: [VarId; 10] = [
    charset::CLIENT,
    id("foreign_key_checks"),
    id("unique_checks"),
    id("sql_safe_updates"),
    id("sql_big_selects"),
    id("sql_auto_is_null"),
    id("sql_warnings"),
    id("sql_notes"),
    id("sql_buffer_result"),
    id("sql_log_off"),
];

impl State {
    /// What a variable gets: the value as its kind has it, or its default.
    pub(crate) fn value_to_set(
        &mut self,
        globals: &Globals,
        id: VarId,
        global: bool,
        value: Option<(Value<'static>, DataType)>,
    ) -> Result<Val> {
        let variable = &VARIABLES[id as usize];
        Ok(match value {
            None if matches!(
                id,
                INSERT_ID | PSEUDO_THREAD_ID | LAST_INSERT_ID | IDENTITY | RAND_SEED1 | RAND_SEED2
            ) =>
            {
                return Err(err!(ER_NO_DEFAULT, variable.name));
            }
            None if global || variable.scope == Scope::Session => variable.default_value(),
            None => globals.get(id).clone(),
            Some((value, ty)) => {
                // An integer that is NULL counts as 0.
                let value = if value.is_null() && ty.kind.is_integer() { Value::Int(0) } else { value };
                let value = by_number(variable, value);
                // Of the strict modes, this one alone.
                let strict = self.sql_mode.has(SqlMode::STRICT_ALL_TABLES)
                    || variable.extension() == Some(Extension::ConnectionControl);
                let mut warnings = Vec::new();
                let checked = match variable.kind {
                    Kind::Flags(_) if global => variable.check_flags(&value, globals.get(id))?,
                    Kind::Flags(_) => variable.check_flags(&value, self.vars.get(id))?,
                    _ => variable.check(&value, strict, &mut |w| warnings.push(w))?,
                };
                for warning in warnings {
                    self.warn("Warning", ER_TRUNCATED_WRONG_VALUE, warning);
                }
                checked
            }
        })
    }

    /// Warns of values that are deprecated.
    pub(crate) fn warn_of_value(&mut self, id: VarId, new: &Val) {
        let variable = &VARIABLES[id as usize];
        if id == EXPLICIT_DEFAULTS && *new == Val::Bool(false) {
            let text = format!("'{}' is deprecated and will be removed in a future release.", variable.name);
            self.warn("Warning", ER_WARN_DEPRECATED_SYNTAX, text);
        }
        if id == RESTRICT_FK {
            let (code, why) = match new {
                Val::Bool(true) => (ER_WARN_DEPRECATED_SYNTAX_NO_REPLACEMENT, ""),
                _ => (
                    ER_WARN_DEPRECATED_WITH_NOTE,
                    " Foreign key referring to non-unique or partial keys is unsafe and may break replication.",
                ),
            };
            let name = variable.name;
            let text = format!("'{name}' is deprecated and will be removed in a future release.{why}");
            self.warn("Warning", code, text);
        }
    }

    /// Warns of an SQL mode that will be another.
    pub(crate) fn warn_of_mode(&mut self, id: VarId, new: &Val) {
        if matches!(VARIABLES[id as usize].kind, Kind::SqlMode) && SqlMode(new.uint()).is_half_strict() {
            let text = "'NO_ZERO_DATE', 'NO_ZERO_IN_DATE' and 'ERROR_FOR_DIVISION_BY_ZERO' sql modes should be \
                        used with strict mode. They will be merged with strict mode in a future release.";
            self.warn("Warning", ER_SQL_MODE_MERGED, text.to_string());
        }
    }

    /// Sets what is kept beside the variables. False: the variable is not of that kind.
    pub(crate) fn set_beside_variables(&mut self, id: VarId, value: &Val) -> bool {
        match id {
            TIMESTAMP => {
                // 0 is back to the clock.
                self.timestamp = Some(value.double()).filter(|s| *s != 0.0);
                self.read_clock();
            }
            LAST_INSERT_ID | IDENTITY => self.last_insert_id = value.uint(),
            INSERT_ID => self.insert_id = value.uint(),
            PSEUDO_THREAD_ID => self.pseudo_thread_id = value.uint(),
            RAND_SEED1 => self.random.0 = expr::random_part(value.uint()),
            RAND_SEED2 => self.random.1 = expr::random_part(value.uint()),
            _ => return false,
        }
        true
    }

    /// Sets a session's variable, and the one that goes with it.
    pub(crate) fn set_variable(&mut self, id: VarId, value: Val) {
        if id == charset::RESULTS {
            self.results_collation = None;
        }
        let vars = &mut self.vars;
        vars.set(id, value.clone());
        pair(id, &value, &mut |id, value| vars.set(id, value));
    }

    /// SET CHARACTER SET: client and results; the connection's is the database's.
    pub(crate) fn set_character_set(&mut self, charset: Charset) {
        charset::set_names(self, CollationId::default_of(charset));
        let database = self.vars.get(id("collation_database")).clone();
        let name = self.vars.get(id("character_set_database")).clone();
        self.vars.set(id("character_set_connection"), name);
        self.vars.set(id("collation_connection"), database);
    }

    /// See [`run::Env::obey_within`].
    pub(crate) fn run_within(
        &mut self,
        tx: &mut Transaction,
        part: &Parsed,
        given: Option<(Value<'static>, DataType)>,
    ) -> Result<()> {
        match &part.statement {
            // The parser makes each item a statement of its own.
            Statement::Set(items) => self.set_within(tx, part, &items[0], given),
            Statement::Xa(xa) => Err(crate::xa::refused_within(xa)),
            _ => Err(unsupported("this statement in stored functions and triggers")),
        }
    }

    /// SET of something but a user variable, in a stored function or trigger. `given`: the value, where the program has evaluated it.
    fn set_within(
        &mut self,
        tx: &mut Transaction,
        parsed: &Parsed,
        item: &SetItem,
        given: Option<(Value<'static>, DataType)>,
    ) -> Result<()> {
        match item {
            SetItem::UserVar { .. } => return Err(unsupported("this SET in stored functions and triggers")),
            SetItem::Names { charset, collation } => {
                let collation = collation_of_names(parsed, *charset, *collation)?;
                may_be_client(collation.charset())?;
                self.keep_former(charset::CLIENT);
                charset::set_names(self, collation);
                self.set_within.ids.extend(OF_NAMES);
            }
            SetItem::CharacterSet(charset) => {
                let charset = match charset {
                    Some(s) => charset_named(&String::from_utf8_lossy(parsed.bytes(*s)))?,
                    None => Charset::Utf8mb4,
                };
                may_be_client(charset)?;
                self.keep_former(charset::CLIENT);
                self.set_character_set(charset);
                self.set_within.ids.extend(OF_NAMES);
            }
            SetItem::Transaction { scope, isolation, access } => {
                self.set_transaction_within(*scope, *isolation, *access)?;
            }
            SetItem::SystemVar { scope, base, name, value } => {
                let name = variable_name(parsed, *base, *name);
                let given = match (value, given) {
                    (None, _) => None,
                    (Some(_), Some(given)) => Some(given),
                    (Some(value), None) => {
                        let literal = crate::evaluate::literal(parsed, *value);
                        Some(literal.ok_or_else(|| unsupported("this SET in stored functions and triggers"))?)
                    }
                };
                let texts = assignment_texts(parsed.source(), lexer_mode(self.sql_mode));
                let at_at = texts.first().is_some_and(|text| text.at_at);
                self.set_variable_within(&name, (*scope, at_at), given)?;
            }
        }
        self.reload();
        tx.set_lock_wait_timeout(Duration::from_secs(self.vars.uint(LOCK_WAIT)));
        // Plans know sql_mode, collations and the like.
        self.lent().forget_plans();
        Ok(())
    }

    /// Errors 1568, since a statement runs, and 1235.
    fn set_transaction_within(
        &mut self,
        scope: VarScope,
        isolation: Option<IsolationLevel>,
        access: Option<AccessMode>,
    ) -> Result<()> {
        match scope {
            VarScope::Unspecified => return Err(err!(ER_CANT_CHANGE_TX_CHARACTERISTICS)),
            VarScope::Session => {}
            _ => return Err(unsupported("SET GLOBAL in stored functions and triggers")),
        }
        if let Some(level) = isolation {
            self.vars.set(ISOLATION, Val::UInt(level_number(level)));
            self.set_within.ids.push(ISOLATION);
        }
        if let Some(mode) = access {
            self.vars.set(READ_ONLY, Val::Bool(mode == AccessMode::ReadOnly));
            self.set_within.ids.push(READ_ONLY);
        }
        Ok(())
    }

    fn set_variable_within(
        &mut self,
        name: &str,
        (scope, at_at): (VarScope, bool),
        given: Option<(Value<'static>, DataType)>,
    ) -> Result<()> {
        let (globals, access) = {
            let rights = LentRights::of(self)?;
            (Arc::clone(&rights.server.globals.load()), rights.access().clone())
        };
        let (id, global) = settable(&globals, name, scope)?;
        if global {
            return Err(unsupported("SET GLOBAL in stored functions and triggers"));
        }
        let variable = &VARIABLES[id as usize];
        crate::authority::may_set_session(&access, variable.name)?;
        if let Some((code, message)) = variable.deprecated() {
            self.warn("Warning", code, message);
        }
        let new = self.value_to_set(&globals, id, false, given)?;
        self.warn_of_value(id, &new);
        self.warn_of_mode(id, &new);
        match id {
            SQL_LOG_BIN => return Err(err!(ER_STORED_FUNCTION_PREVENTS_SWITCH_SQL_LOG_BIN)),
            GTID_NEXT | EXPLICIT_DEFAULTS => {
                return Err(err!(ER_VARIABLE_NOT_SETTABLE_IN_SF_OR_TRIGGER, variable.name));
            }
            ISOLATION | READ_ONLY if at_at && scope == VarScope::Unspecified => {
                return Err(err!(ER_CANT_CHANGE_TX_CHARACTERISTICS));
            }
            _ if OUTSIDE_TRANSACTIONS.contains(&id) => {
                return Err(err!(ER_VARIABLE_NOT_SETTABLE_IN_SF_OR_TRIGGER, variable.name));
            }
            _ => tracking::may_set(id, &new)?,
        }
        if variable.access == Access::Fixed && new != *self.vars.get(id) {
            return Err(variable.cannot(&variable.print(&new)));
        }
        if self.set_beside_variables(id, &new) {
            return Ok(());
        }
        self.keep_former(id);
        for (id, value) in if id == MAX_JOIN_SIZE { join_bound(new).to_vec() } else { vec![(id, new)] } {
            self.set_variable(id, value);
            self.set_within.ids.push(id);
        }
        Ok(())
    }

    /// The variable is about to be set: its caller may have it back.
    fn keep_former(&mut self, id: VarId) {
        if RESTORED.contains(&id) {
            let depth = self.lent().innermost();
            let former = self.vars.get(id).clone();
            self.set_within.former.push((depth, id, former));
        }
    }

    /// A routine has ended, and `left` are left: what functions and triggers give back is as it was before.
    pub(crate) fn restore_options(&mut self, left: usize) {
        while let Some((_, id, value)) = self.set_within.former.pop_if(|(depth, ..)| *depth > left) {
            self.vars.set(id, value);
        }
    }
}

fn level_number(level: IsolationLevel) -> u64 {
    match level {
        IsolationLevel::ReadUncommitted => 0,
        IsolationLevel::ReadCommitted => 1,
        IsolationLevel::RepeatableRead => 2,
        IsolationLevel::Serializable => 3,
    }
}
