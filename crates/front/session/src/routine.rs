//! CREATE, ALTER and DROP PROCEDURE and FUNCTION.

use crate::needs::Action;
use crate::session::Session;
use crate::statement::text_of;
use crate::variables::{VarId, id};
use accounts::Privileges;
use catalog::RoutineKind;
use catalog::routine::{Parameter, ParameterMode, Routine, RoutineAccess, RoutineChange};
use expr::Env;
use run::program::{columns_of, variable};
use sql::ast::{self, AlterRoutine, Characteristics, CreateRoutine, DataAccess, Parsed, SetItem, Statement};
use std::sync::{Arc, OnceLock};
use std::time::{SystemTime, UNIX_EPOCH};
use types::codes::*;
use types::{Result, err};

const CHARACTER_SET_CLIENT: VarId = id("character_set_client");
const TRUST_CREATORS: VarId = id("log_bin_trust_function_creators");
const COLLATION_CONNECTION: VarId = id("collation_connection");

pub(crate) fn kind_of(function: bool) -> RoutineKind {
    if function { RoutineKind::Function } else { RoutineKind::Procedure }
}

fn access_of(access: DataAccess) -> RoutineAccess {
    match access {
        DataAccess::ContainsSql => RoutineAccess::ContainsSql,
        DataAccess::NoSql => RoutineAccess::NoSql,
        DataAccess::ReadsSqlData => RoutineAccess::ReadsSqlData,
        DataAccess::ModifiesSqlData => RoutineAccess::ModifiesSqlData,
    }
}

/// What a function says of itself: DETERMINISTIC, and its access to data.
fn said_of(create: &CreateRoutine) -> (bool, RoutineAccess) {
    let said = &create.characteristics;
    (said.deterministic.unwrap_or(false), access_of(said.access.unwrap_or_default()))
}

impl Session {
    /// May functions of such kind be made while there is a binary log? Errors 1418, 1419.
    fn check_logged_function(&self, (deterministic, access): (bool, RoutineAccess)) -> Result<()> {
        let changes = matches!(access, RoutineAccess::ContainsSql | RoutineAccess::ModifiesSqlData);
        if self.trusts_creators() {
            return Ok(());
        }
        if !deterministic && changes {
            return Err(err!(ER_BINLOG_UNSAFE_ROUTINE));
        }
        self.check_logged_creator()
    }

    /// Are functions and triggers taken from whoever may make them?
    fn trusts_creators(&self) -> bool {
        let globals = self.server.globals.load();
        // What a source has made a replica makes, too.
        globals.bool(TRUST_CREATORS) || !globals.bool(crate::binary_log::LOG_BIN) || self.state.applied.is_some()
    }

    /// Error 1419 without SUPER where what is made has its part in what the binary log says.
    pub(crate) fn check_logged_creator(&self) -> Result<()> {
        match self.trusts_creators() || self.access().global().has(accounts::Privileges::SUPER) {
            true => Ok(()),
            false => Err(err!(ER_BINLOG_CREATE_ROUTINE_NEED_SUPER)),
        }
    }

    /// Errors 1044, 1049, 1193, 1304 and those of the types of parameters and variables.
    pub(crate) fn create_routine(&mut self, parsed: &Parsed, create: &CreateRoutine) -> Result<()> {
        if let Some(language) = create.characteristics.language {
            return Err(err!(
                ER_LANGUAGE_COMPONENT,
                format!("Language '{}' is not supported.", text_of(parsed, language))
            ));
        }
        let (schema, name) = self.object(parsed, create.name)?;
        self.need_in(Action::CreateRoutine, &schema)?;
        if schema != "mysql" {
            self.refuse_system_schema(&schema)?;
        }
        self.check_variables(&create.program.parts)?;
        if create.function && !create.program.code.iter().any(|op| matches!(op, ast::Op::Return(_))) {
            return Err(err!(ER_SP_NORETURN, format!("{schema}.{name}")));
        }
        let definer = self.definer(parsed, create.definer)?;
        if create.function {
            self.check_logged_function(said_of(create))?;
        }
        let version = self.dictionary();
        catalog::define::check_name(&schema, ER_WRONG_DB_NAME)?;
        let found = version.schema(&schema).ok_or_else(|| err!(ER_BAD_DB_ERROR, schema))?;
        let collation = found.default_collation;
        let mut columns = columns_of(parsed, &create.program, collation, self.state.sql_mode)?;
        columns.truncate(create.program.parameter_count as usize);
        let returns = create.returns.as_ref();
        let returns = returns.map(|t| variable(parsed, "", t, collation, self.state.sql_mode)).transpose()?;
        let modes = create.program.locals.iter().map(|local| match local.mode {
            ast::ParameterMode::In => ParameterMode::In,
            ast::ParameterMode::Out => ParameterMode::Out,
            ast::ParameterMode::InOut => ParameterMode::InOut,
        });
        for part in &create.program.parts {
            self.state.note_parsed(part);
        }
        let said: &Characteristics = &create.characteristics;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let routine = Routine {
            schema: schema.clone(),
            name: name.clone(),
            kind: kind_of(create.function),
            parameters: columns.into_iter().zip(modes).map(|(column, mode)| Parameter { mode, column }).collect(),
            parameter_text: utf8(parsed, create.parameters)?,
            returns,
            body: utf8(parsed, create.body)?,
            access: access_of(said.access.unwrap_or_default()),
            deterministic: said.deterministic.unwrap_or(false),
            invoker: said.invoker.unwrap_or(false),
            definer,
            comment: said.comment.map_or_else(String::new, |c| text_of(parsed, c)),
            sql_mode: self.state.sql_mode.0,
            client_charset: self.state.vars.text(CHARACTER_SET_CLIENT).to_string(),
            connection_collation: self.state.vars.text(COLLATION_CONNECTION).to_string(),
            database_collation: collation.info().name.to_string(),
            created: now,
            altered: now,
            compiled: OnceLock::new(),
        };
        // As it was written: whoever repeats it may be in another schema.
        let named = create.name.schema.map(|_| schema.as_str());
        let logged = inspect::routines::create_text(named, &routine, create.if_not_exists);
        let made = self.define_with(|ddl, state| {
            if state.log_text.is_some() {
                state.log_text = Some(logged.into_bytes());
            }
            ddl.create_routine(routine)
        });
        let is_there = made.as_ref().is_err_and(|e| e.code == ER_SP_ALREADY_EXISTS) && create.if_not_exists;
        if create.function && (made.is_ok() || is_there) && expr::functions::find(&name).is_some() {
            let hidden = err!(ER_NATIVE_FCT_NAME_COLLISION, name);
            self.state.warn("Note", hidden.code, hidden.message);
        }
        match made {
            Err(e) if e.code == ER_SP_ALREADY_EXISTS && create.if_not_exists => {
                self.state.warn("Note", ER_SP_ALREADY_EXISTS, e.message);
                Ok(())
            }
            Ok(()) => self.change_routine_grants(&schema, create.function, &name, true),
            made => made,
        }
    }

    /// Error 1193 for system variables that there are not, set or read anywhere in the body.
    pub(crate) fn check_variables(&self, parts: &[Arc<Parsed>]) -> Result<()> {
        let globals = self.server.globals.load();
        for part in parts {
            // Names with a part in front may be those of a component's variables, or of key caches.
            let mut named: Vec<&str> = Vec::new();
            if let Statement::Set(items) = &part.statement {
                named.extend(items.iter().filter_map(|item| match item {
                    SetItem::SystemVar { base: None, name, .. } => Some(part.name(*name)),
                    _ => None,
                }));
            }
            named.extend(part.exprs().iter().filter_map(|e| match e {
                ast::Expr::SystemVar { base: None, name, .. } => Some(part.name(*name)),
                _ => None,
            }));
            named.into_iter().try_for_each(|name| globals.lookup(name).map(drop))?;
        }
        Ok(())
    }

    /// Error 1227 for a routine whose definer has SYSTEM_USER, which the session has not.
    fn may_change_routine(&mut self, schema: &str, function: bool, name: &str) -> Result<()> {
        let version = self.dictionary();
        let routine = version.routine(schema, kind_of(function), name);
        routine.map_or(Ok(()), |routine| self.may_change_what_is_of(&routine.definer))
    }

    /// Errors 1227, 1305, 1370.
    pub(crate) fn alter_routine(&mut self, parsed: &Parsed, alter: &AlterRoutine) -> Result<()> {
        let (schema, name) = self.object(parsed, alter.name)?;
        self.may_use_program(Privileges::ALTER_ROUTINE, "alter routine", (&schema, alter.function, &name))?;
        self.may_change_routine(&schema, alter.function, &name)?;
        let said = &alter.characteristics;
        let change = RoutineChange {
            access: said.access.map(access_of),
            invoker: said.invoker,
            comment: said.comment.map(|c| text_of(parsed, c)),
        };
        self.define(|ddl| ddl.alter_routine(&schema, kind_of(alter.function), &name, change))
    }

    /// Errors 1227, 1305, 1370.
    pub(crate) fn drop_routine(
        &mut self,
        parsed: &Parsed,
        function: bool,
        if_exists: bool,
        name: ast::ObjectName,
    ) -> Result<()> {
        let (schema, name) = self.object(parsed, name)?;
        self.may_use_program(Privileges::ALTER_ROUTINE, "alter routine", (&schema, function, &name))?;
        self.may_change_routine(&schema, function, &name)?;
        let dropped = self.define(|ddl| ddl.drop_routine(&schema, kind_of(function), &name));
        if dropped.is_ok() {
            self.change_routine_grants(&schema, function, &name, false)?;
        }
        match dropped {
            Err(e) if if_exists && matches!(e.code, ER_SP_DOES_NOT_EXIST | ER_BAD_DB_ERROR) => {
                let missing = err!(ER_SP_DOES_NOT_EXIST, kind_of(function).word(), format!("{schema}.{name}"));
                self.state.warn("Note", ER_SP_DOES_NOT_EXIST, missing.message);
                Ok(())
            }
            dropped => dropped,
        }
    }
}

/// Error 1300 for a text that the dictionary could not keep.
pub(crate) fn utf8(parsed: &Parsed, text: ast::Str) -> Result<String> {
    let bytes = parsed.bytes(text);
    let kept = std::str::from_utf8(bytes);
    kept.map(str::to_string).map_err(|_| err!(ER_INVALID_CHARACTER_STRING, "utf8mb4", String::from_utf8_lossy(bytes)))
}
