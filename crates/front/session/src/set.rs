//! SET in all its forms.

use crate::binlog_statement::{PSEUDO_REPLICA, PSEUDO_SLAVE};
use crate::evaluate::assignment_texts;
use crate::gtids::{GTID_MODE, GTID_NEXT, GTID_PURGED};
use crate::hints::{MAX_JOIN_SIZE, join_bound};
use crate::needs::Action;
use crate::roles::{MANDATORY_ROLES, role_list};
use crate::run::lexer_mode;
use crate::server::{EVENT_SCHEDULER, EVENTS_DISABLED, EVENTS_ON, POLICY};
use crate::session::Session;
use crate::variables::{
    self, Access, Globals, LOCK_WAIT, Origin, SetBy, VARIABLES, Val, VarId, id, isolation_of, pair, variable_name,
};
use crate::{
    binary_log, buffer_pool, charset, clone_remote, encryption, error_log, extensions, logs, persist, persisted,
    replica_apply, tls, tracking,
};
use expr::Env;
use sql::ast::{AccessMode, Expr, ExprId, IsolationLevel, Parsed, SetItem, Str, VarScope};
use std::borrow::Cow;
use std::time::Duration;
use types::charset::Charset;
use types::codes::*;
use types::collation::CollationId;
use types::{Result, Value, err};

pub(crate) const EXPLICIT_DEFAULTS: VarId = id("explicit_defaults_for_timestamp");
const AUTOCOMMIT: VarId = id("autocommit");
pub(crate) const TIMESTAMP: VarId = id("timestamp");
pub(crate) const RESTRICT_FK: VarId = id("restrict_fk_on_non_standard_key");
pub(crate) const LAST_INSERT_ID: VarId = id("last_insert_id");
pub(crate) const IDENTITY: VarId = id("identity");
pub(crate) const INSERT_ID: VarId = id("insert_id");
pub(crate) const PSEUDO_THREAD_ID: VarId = id("pseudo_thread_id");
pub(crate) const RAND_SEED1: VarId = id("rand_seed1");
pub(crate) const RAND_SEED2: VarId = id("rand_seed2");
pub(crate) const ISOLATION: VarId = id("transaction_isolation");
pub(crate) const READ_ONLY: VarId = id("transaction_read_only");
/// There is no log that it keeps a session's changes out of: dumps set it, and it stays as it is set.
pub(crate) const SQL_LOG_BIN: VarId = id("sql_log_bin");
const READ_ONLY_SERVER: VarId = id("read_only");
const SUPER_READ_ONLY: VarId = id("super_read_only");
const RESULTSET_METADATA: VarId = id("resultset_metadata");

/// The variables that SET NAMES sets.
pub(crate) const OF_NAMES: [VarId; 3] =
    [id("character_set_client"), id("character_set_connection"), id("character_set_results")];

/// The variable of a name that is set so, and whether it is the server's. Errors 1193, 1228, 1229, 1238.
pub(crate) fn settable(globals: &Globals, name: &str, scope: VarScope) -> Result<(VarId, bool)> {
    let global = match scope {
        VarScope::Global | VarScope::Persist | VarScope::PersistOnly => true,
        VarScope::Session | VarScope::Unspecified => false,
    };
    let id = globals.lookup(name)?;
    let variable = &VARIABLES[id as usize];
    match scope {
        VarScope::PersistOnly => persisted::may_persist_only(variable)?,
        _ => variable.may_set(global)?,
    }
    Ok((id, global))
}

impl Session {
    /// SET: all items are checked first, so a failing one leaves the others undone too.
    pub(crate) fn set(&mut self, parsed: &Parsed, items: &[SetItem]) -> Result<()> {
        let source = parsed.source().to_vec();
        // Names come before values.
        for item in items {
            if let SetItem::SystemVar { scope, base, name, .. } = item {
                settable(&self.server.globals.load(), &variable_name(parsed, *base, *name), *scope)?;
            }
        }
        let texts = assignment_texts(&source, lexer_mode(self.state.sql_mode));
        let mut checked = Vec::with_capacity(items.len());
        for (i, item) in items.iter().enumerate() {
            let (text, at_at) = texts.get(i).map_or((&b""[..], false), |a| (&source[a.value.clone()], a.at_at));
            checked.push(self.check_item(parsed, item, text, at_at)?);
        }
        let persisted: Vec<(VarId, Val)> = checked.iter().filter_map(Change::persisted).collect();
        if !persisted.is_empty() {
            self.persist(&persisted)?;
        }
        checked.into_iter().try_for_each(|change| self.apply(change))
    }

    /// `text` is the value's, `at_at` says that the variable was written with `@@`.
    fn check_item(&mut self, parsed: &Parsed, item: &SetItem, text: &[u8], at_at: bool) -> Result<Change> {
        Ok(match item {
            SetItem::UserVar { name, value } => {
                // A bare word is a value of system variables alone.
                if let Expr::Column { schema: None, table: None, column } = parsed[*value] {
                    return Err(err!(ER_BAD_FIELD_ERROR, parsed.name(column), "field list"));
                }
                let is_text = matches!(parsed[*value], Expr::String { introducer: None, .. });
                let (value, t) = self.evaluate(parsed, *value, text)?;
                let (value, t) = if is_text { charset::of_connection(&self.state, value, t) } else { (value, t) };
                Change::User(parsed.name(*name).to_string(), value, t)
            }
            SetItem::Names { charset, collation } => {
                let collation = collation_of_names(parsed, *charset, *collation)?;
                may_be_client(collation.charset())?;
                Change::Names(collation)
            }
            SetItem::CharacterSet(charset) => {
                let charset = match charset {
                    Some(s) => charset_named(&String::from_utf8_lossy(parsed.bytes(*s)))?,
                    None => Charset::Utf8mb4,
                };
                may_be_client(charset)?;
                Change::CharacterSet(charset)
            }
            SetItem::Transaction { scope, isolation, access } => {
                if *scope == VarScope::Unspecified && (self.tx.is_active() || self.transaction.explicit) {
                    return Err(err!(ER_CANT_CHANGE_TX_CHARACTERISTICS));
                }
                if matches!(scope, VarScope::Global) {
                    self.need(Action::SetGlobal)?;
                }
                Change::Transaction(*scope, *isolation, *access)
            }
            SetItem::SystemVar { scope, base, name, value } => {
                let name = variable_name(parsed, *base, *name);
                let (id, global) = settable(&self.server.globals.load(), &name, *scope)?;
                let value = value.map(|value| (value, text));
                return self.check_variable(parsed, id, (*scope, global, at_at), value);
            }
        })
    }

    /// SET of a system variable: scope, whether that is the global value, and whether `@@` stood before its name. `value`: the
    /// expression and its text; None: DEFAULT.
    fn check_variable(
        &mut self,
        parsed: &Parsed,
        id: VarId,
        (scope, global, at_at): (VarScope, bool, bool),
        value: Option<(ExprId, &[u8])>,
    ) -> Result<Change> {
        let variable = &VARIABLES[id as usize];
        let only_persists = scope == VarScope::PersistOnly;
        match (only_persists, global) {
            (true, _) => self.need(Action::PersistOnly).map_err(|_| persist::not_persistable())?,
            (_, true) => {
                self.need(Action::SetGlobal)?;
                self.may_set_global(variable.name)?;
            }
            // Its value says what it needs: `may_set_gtid`.
            _ if id == GTID_NEXT => {}
            _ => self.may_set_session(variable.name)?,
        }
        if let Some((code, message)) = variable.deprecated() {
            self.state.warn("Warning", code, message);
        }
        let given = value.is_some();
        let new = self.value_to_set(parsed, id, global, value)?;
        self.may_set_encryption(id, global, &new)?;
        self.state.warn_of_value(id, &new);
        let new = match logs::checked(id, new.clone(), &self.server.datadir) {
            Some(stored) => stored,
            None => return Err(variable.cannot(&variable.print(&new))),
        };
        self.check_error_log(id, &new)?;
        logs::audit::may_set(&self.server.globals.load(), id, &new)?;
        if !tls::is_possible(id, &new) {
            return Err(variable.cannot(&variable.print(&new)));
        }
        self.check_metrics(id, &new, given)?;
        self.state.warn_of_mode(id, &new);
        self.may_have_value(id, global, &new)?;
        let mut new = new;
        if global {
            let globals = self.server.globals.load();
            binary_log::may_set(&globals, id, &new)?;
            replica_apply::may_set(id, &new)?;
            self.server.may_set_of_appliers(id)?;
            clone_remote::may_set(id, &new)?;
            let persists = matches!(scope, VarScope::Persist | VarScope::PersistOnly);
            new = extensions::agree(&globals, id, new, persists)?;
        }
        let present = if global { self.server.globals.load().get(id).clone() } else { self.state.vars.get(id).clone() };
        let fixed = variable.access == Access::Fixed || (only_persists && variable.startup.is_fixed());
        if fixed && new != present {
            return Err(variable.cannot(&variable.print(&new)));
        }
        // `SET @@transaction_isolation = x`: the next transaction's. `SET transaction_isolation = x`: the session's.
        if at_at && scope == VarScope::Unspecified && (id == ISOLATION || id == READ_ONLY) {
            if self.tx.is_active() || self.transaction.explicit {
                return Err(err!(ER_CANT_CHANGE_TX_CHARACTERISTICS));
            }
            return Ok(Change::Next(new));
        }
        Ok(match scope {
            VarScope::Persist => Change::Persisted(id, new, true),
            VarScope::PersistOnly => Change::Persisted(id, new, false),
            _ => Change::Variable(id, global, new),
        })
    }

    /// What the variable gets: the value as its kind has it, or its default.
    fn value_to_set(
        &mut self,
        parsed: &Parsed,
        id: VarId,
        global: bool,
        value: Option<(ExprId, &[u8])>,
    ) -> Result<Val> {
        let value = match value {
            Some((value, text)) => Some(self.evaluate(parsed, value, text)?),
            None => None,
        };
        self.state.value_to_set(&self.server.globals.load(), id, global, value)
    }

    /// Values that want a privilege, or that the session may not have now.
    fn may_have_value(&mut self, id: VarId, global: bool, new: &Val) -> Result<()> {
        let variable = &VARIABLES[id as usize];
        if id == MANDATORY_ROLES {
            self.need(Action::SetMandatoryRoles)?;
            let roles = role_list(new.text()).map_err(|_| variable.cannot(&variable.print(new)))?;
            self.may_be_mandatory(&roles)?;
        }
        if id == SQL_LOG_BIN && (self.tx.is_active() || self.transaction.explicit) {
            return Err(err!(ER_INSIDE_TRANSACTION_PREVENTS_SWITCH_SQL_LOG_BIN));
        }
        if id == EVENT_SCHEDULER && self.server.globals.load().uint(EVENT_SCHEDULER) == EVENTS_DISABLED {
            let option = "--event-scheduler=DISABLED or --skip-grant-tables";
            return Err(err!(ER_OPTION_PREVENTS_STATEMENT, option));
        }
        self.may_set_gtid(id, new)?;
        tracking::may_set(id, new)?;
        if id == RESULTSET_METADATA && !self.can_leave_out_metadata && new.uint() == 0 {
            return Err(err!(ER_CLIENT_DOES_NOT_SUPPORT, "optional metadata transfer"));
        }
        if id == binary_log::ROW_VALUES && new.uint() == 1 {
            self.state.warn_of_partial(global);
        }
        Ok(())
    }

    fn apply(&mut self, change: Change) -> Result<()> {
        match change {
            Change::User(name, value, t) => {
                self.state.set_user_variable(&name, value, t);
                self.tracking.state();
            }
            Change::Names(collation) => {
                charset::set_names(&mut self.state, collation);
                OF_NAMES.into_iter().for_each(|id| self.tracking.variable(id));
                self.after_set();
            }
            Change::CharacterSet(charset) => {
                self.state.set_character_set(charset);
                OF_NAMES.into_iter().for_each(|id| self.tracking.variable(id));
                self.after_set();
            }
            Change::Next(Val::Bool(read_only)) => {
                self.transaction.next_read_only = Some(read_only);
                self.tracking.next(None, Some(read_only));
            }
            Change::Next(level) => {
                let level = isolation_of(level.uint());
                self.transaction.next_isolation = Some(level);
                self.tracking.next(Some(level), None);
            }
            Change::Transaction(scope, isolation, access) => self.set_transaction(scope, isolation, access),
            Change::Variable(READ_ONLY_SERVER | SUPER_READ_ONLY, true, Val::Bool(true)) => {
                let id = if matches!(change, Change::Variable(SUPER_READ_ONLY, ..)) {
                    SUPER_READ_ONLY
                } else {
                    READ_ONLY_SERVER
                };
                self.set_read_only(id)?;
            }
            Change::Variable(READ_ONLY_SERVER, true, value) => {
                self.set_global(SUPER_READ_ONLY, value.clone());
                self.set_global(READ_ONLY_SERVER, value);
            }
            Change::Persisted(_, _, false) => {}
            Change::Persisted(id, value, true) => self.apply(Change::Variable(id, true, value))?,
            Change::Variable(MAX_JOIN_SIZE, global, value) => {
                for (id, value) in join_bound(value) {
                    match global {
                        true => self.set_global(id, value),
                        false => self.set_session(id, value)?,
                    }
                }
            }
            Change::Variable(GTID_MODE, true, value) => {
                let changes = self.server.globals.load().uint(GTID_MODE) != value.uint();
                self.set_global(GTID_MODE, value);
                // A replica that names what it has is sent no file with transactions that have no number.
                if changes {
                    self.flush_binary_logs()?;
                }
            }
            Change::Variable(GTID_PURGED, true, value) => self.set_gtid_purged(value.text())?,
            Change::Variable(buffer_pool::SIZE, true, value) => self.resize_pool(value.uint()),
            Change::Variable(
                wish @ (buffer_pool::DUMP_NOW | buffer_pool::LOAD_NOW | buffer_pool::LOAD_ABORT),
                true,
                value,
            ) => {
                if value.bool() {
                    self.ask_pool(wish);
                }
            }
            Change::Variable(binary_log::ENCRYPTION, true, value) => {
                if value.bool() && self.server.log_keys().check().is_err() {
                    return Err(err!(ER_RPL_ENCRYPTION_MASTER_KEY_RECOVERY_FAILED));
                }
                let on = value.bool();
                self.set_global(binary_log::ENCRYPTION, value);
                self.encrypt_binary_log(on)?;
            }
            Change::Variable(id, true, value) if encryption::LOGS.contains(&id) => {
                self.encrypt_log(id, value.bool())?;
                self.set_global(id, value);
            }
            Change::Variable(id, true, value) if POLICY.contains(&id) => {
                let mut globals = Globals::clone(&self.server.globals.load());
                globals.set(id, value.clone());
                self.server.apply_policy(&globals)?;
                self.set_global(id, value);
            }
            Change::Variable(error_log::SERVICES, true, value) => self.set_error_log_services(value)?,
            Change::Variable(id, true, value) if VARIABLES[id as usize].extension().is_some() => {
                self.set_of_extension(id, value)?;
            }
            Change::Variable(id, true, value) => match buffer_pool::agree(&self.server.globals.load(), id, &value) {
                None => self.set_global(id, value),
                Some(agreed) => {
                    agreed.warnings.into_iter().for_each(|text| self.state.warn("Warning", ER_WRONG_ARGUMENTS, text));
                    agreed.values.into_iter().for_each(|(id, value)| self.set_global(id, value));
                }
            },
            Change::Variable(id, false, value) => self.set_session(id, value)?,
        }
        Ok(())
    }

    fn set_transaction(&mut self, scope: VarScope, isolation: Option<IsolationLevel>, access: Option<AccessMode>) {
        let level = isolation.map(|level| match level {
            IsolationLevel::ReadUncommitted => 0,
            IsolationLevel::ReadCommitted => 1,
            IsolationLevel::RepeatableRead => 2,
            IsolationLevel::Serializable => 3,
        });
        let read_only = access.map(|mode| mode == AccessMode::ReadOnly);
        match scope {
            VarScope::Global => {
                level.into_iter().for_each(|n| self.set_global(ISOLATION, Val::UInt(n)));
                read_only.into_iter().for_each(|b| self.set_global(READ_ONLY, Val::Bool(b)));
            }
            VarScope::Session => {
                if let Some(n) = level {
                    self.state.vars.set(ISOLATION, Val::UInt(n));
                    self.tracking.variable(ISOLATION);
                }
                if let Some(read_only) = read_only {
                    self.state.vars.set(READ_ONLY, Val::Bool(read_only));
                    self.tracking.variable(READ_ONLY);
                }
            }
            _ => {
                let level = level.map(isolation_of);
                self.transaction.next_isolation = level.or(self.transaction.next_isolation);
                self.transaction.next_read_only = read_only.or(self.transaction.next_read_only);
                self.tracking.next(level, read_only);
            }
        }
    }

    /// `read_only` or `super_read_only`, which brings the former with it, are switched on.
    fn set_read_only(&mut self, id: VarId) -> Result<()> {
        self.while_nobody_writes(|session| {
            session.set_global(READ_ONLY_SERVER, Val::Bool(true));
            if id == SUPER_READ_ONLY {
                session.set_global(SUPER_READ_ONLY, Val::Bool(true));
            }
        })
    }

    pub(crate) fn set_global(&mut self, id: VarId, value: Val) {
        let account = self.access().account().name.clone();
        let by = SetBy { user: account.user, host: account.host, time_us: self.state.clock_us };
        self.server.globals.update(|old| {
            let mut globals = Globals::clone(old);
            globals.set(id, value.clone());
            globals.came_from(id, Origin::Dynamic, Some(by.clone()));
            pair(id, &value, &mut |id, value| globals.set(id, value));
            globals
        });
        self.state.globals.get(&self.server.globals);
        self.server.apply_globals();
        self.order_metrics(id, &value);
        if id == EVENT_SCHEDULER {
            self.server.events.set(value.uint() == EVENTS_ON);
        }
    }

    fn set_session(&mut self, id: VarId, value: Val) -> Result<()> {
        self.change_session(id, value)?;
        self.tracking.variable(id);
        Ok(())
    }

    fn change_session(&mut self, id: VarId, value: Val) -> Result<()> {
        if self.state.set_beside_variables(id, &value) {
            return Ok(());
        }
        match id {
            GTID_NEXT => return self.set_gtid_next(value.text()),
            PSEUDO_REPLICA | PSEUDO_SLAVE => {
                self.set_pseudo_replica(value.bool());
                return Ok(());
            }
            AUTOCOMMIT if value == Val::Bool(true) && !self.state.vars.bool(AUTOCOMMIT) => {
                if self.xa.is_some() {
                    return Err(self.wrong_stage());
                }
                self.commit_all()?;
            }
            _ => {}
        }
        self.state.set_variable(id, value);
        if crate::traces::are_forgotten_by(id) {
            self.state.traces = None;
        }
        self.after_set();
        Ok(())
    }

    /// What is kept beside the variables follows them.
    pub(crate) fn after_set(&mut self) {
        self.state.reload();
        self.follow_tracking();
        self.tx.set_lock_wait_timeout(Duration::from_secs(self.state.vars.uint(LOCK_WAIT)));
        // Plans know sql_mode, collations and the like.
        self.plans.clear();
        self.forget_program_plans();
        self.transaction.settings_changed = true;
    }
}

/// A checked item.
enum Change {
    User(String, Value<'static>, types::DataType),
    Names(CollationId),
    CharacterSet(Charset),
    Transaction(VarScope, Option<IsolationLevel>, Option<AccessMode>),
    Variable(VarId, bool, Val),
    /// SET PERSIST; without the flag SET PERSIST_ONLY, which leaves the value of this run alone.
    Persisted(VarId, Val, bool),
    /// `transaction_isolation` or `transaction_read_only` of the next transaction alone.
    Next(Val),
}

impl Change {
    fn persisted(&self) -> Option<(VarId, Val)> {
        match self {
            Change::Persisted(id, value, _) => Some((*id, value.clone())),
            _ => None,
        }
    }
}

/// Collations and character sets can be given by the id of a collation, and locales by their number, as mysqlbinlog does. Of those there
/// is one.
pub(crate) fn by_number(variable: &variables::Variable, value: Value<'static>) -> Value<'static> {
    if variable.name == "lc_time_names" && matches!(value, Value::Int(0)) {
        return Value::Bytes(Cow::Borrowed(b"en_US"));
    }
    let id = match value {
        Value::Int(n) => u16::try_from(n).ok().map(CollationId).filter(|c| c.is_known()),
        _ => None,
    };
    let name = match (variable.kind, id) {
        (variables::Kind::Collation, Some(c)) => c.info().name,
        (variables::Kind::Charset { .. }, Some(c)) => c.charset().name(),
        _ => return value,
    };
    Value::Bytes(Cow::Borrowed(name.as_bytes()))
}

/// Statements are read byte by byte: 1231 for a set whose shortest character is longer.
pub(crate) fn may_be_client(charset: Charset) -> Result<()> {
    match charset.mbminlen() {
        1 => Ok(()),
        _ => Err(err!(ER_WRONG_VALUE_FOR_VAR, "character_set_client", charset.name())),
    }
}

pub(crate) fn charset_named(name: &str) -> Result<Charset> {
    Charset::by_name(name).ok_or_else(|| err!(ER_UNKNOWN_CHARACTER_SET, name))
}

fn collation_named(name: &str) -> Result<CollationId> {
    CollationId::by_name(name).ok_or_else(|| err!(ER_UNKNOWN_COLLATION, name))
}

/// The collation of SET NAMES.
pub(crate) fn collation_of_names(parsed: &Parsed, charset: Option<Str>, collation: Option<Str>) -> Result<CollationId> {
    let text = |s| String::from_utf8_lossy(parsed.bytes(s)).into_owned();
    Ok(match (charset.map(text), collation.map(text)) {
        (None, None) => CollationId::UTF8MB4_0900_AI_CI,
        (None, Some(collation)) => collation_named(&collation)?,
        (Some(charset), None) => CollationId::default_of(charset_named(&charset)?),
        (Some(charset), Some(collation)) => {
            let (set, found) = (charset_named(&charset)?, collation_named(&collation)?);
            if found.charset() != set {
                return Err(err!(ER_COLLATION_CHARSET_MISMATCH, collation, charset));
            }
            found
        }
    })
}
