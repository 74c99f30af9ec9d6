//! Stored procedures and functions: what the dictionary keeps of them, and their definition and end.
//!
//! The text of the body stays as it was written, with what it has to be read under. Types of parameters are kept as those of columns are,
//! so that whoever lists them reads no text.

use crate::Ddl;
use crate::ddl::Touched;
use crate::define::check_name;
use crate::dictionary::{self, Kind};
use crate::mdl::{Duration, Mode, Name};
use crate::schema::{Column, Version};
use crate::stored::{self, FORMAT, PLAIN_FORMAT, StoredColumn};
use serde::{Deserialize, Serialize};
use std::any::Any;
use std::sync::{Arc, OnceLock};
use types::codes::*;
use types::{Result, err};

/// A procedure or a function. The fields are what `information_schema.ROUTINES` shows of it.
#[derive(Clone)]
pub struct Routine {
    pub schema: String,
    pub name: String,
    pub kind: RoutineKind,
    pub parameters: Vec<Parameter>,
    /// The text between the parentheses.
    pub parameter_text: String,
    /// What a function gives.
    pub returns: Option<Column>,
    pub body: String,
    pub access: RoutineAccess,
    pub deterministic: bool,
    /// SQL SECURITY INVOKER.
    pub invoker: bool,
    /// `user@host`
    pub definer: String,
    pub comment: String,
    /// What the body is read and run under.
    pub sql_mode: u64,
    pub client_charset: String,
    pub connection_collation: String,
    pub database_collation: String,
    /// Seconds since 1970.
    pub created: u64,
    pub altered: u64,
    /// What the executor has made of the text: one for all sessions.
    pub compiled: OnceLock<Arc<dyn Any + Send + Sync>>,
}

impl std::fmt::Debug for Routine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}.{}", self.kind.word(), self.schema, self.name)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RoutineKind {
    Procedure,
    Function,
    /// Kept with its table.
    Trigger,
    /// Kept apart: [`crate::Event`].
    Event,
}

impl RoutineKind {
    /// As error messages and columns name it.
    pub fn word(self) -> &'static str {
        match self {
            RoutineKind::Procedure => "PROCEDURE",
            RoutineKind::Function => "FUNCTION",
            RoutineKind::Trigger => "TRIGGER",
            RoutineKind::Event => "EVENT",
        }
    }
}

/// What it says that it does with data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RoutineAccess {
    ContainsSql,
    NoSql,
    ReadsSqlData,
    ModifiesSqlData,
}

impl RoutineAccess {
    pub fn words(self) -> &'static str {
        match self {
            RoutineAccess::ContainsSql => "CONTAINS SQL",
            RoutineAccess::NoSql => "NO SQL",
            RoutineAccess::ReadsSqlData => "READS SQL DATA",
            RoutineAccess::ModifiesSqlData => "MODIFIES SQL DATA",
        }
    }
}

#[derive(Clone, Debug)]
pub struct Parameter {
    pub mode: ParameterMode,
    pub column: Column,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ParameterMode {
    In,
    Out,
    InOut,
}

/// How a routine is found: names are the same in any letter case, and procedures have names of their own.
pub type RoutineKey = (RoutineKind, String);

pub fn routine_key(kind: RoutineKind, name: &str) -> RoutineKey {
    (kind, name.to_lowercase())
}

/// What ALTER PROCEDURE says.
#[derive(Clone, Debug, Default)]
pub struct RoutineChange {
    pub access: Option<RoutineAccess>,
    pub invoker: Option<bool>,
    pub comment: Option<String>,
}

/// A [`Routine`] as it is stored, with the same fields.
#[derive(Serialize, Deserialize)]
struct StoredRoutine {
    format: u32,
    kind: RoutineKind,
    name: String,
    parameters: Vec<(ParameterMode, StoredColumn)>,
    parameter_text: String,
    returns: Option<StoredColumn>,
    body: String,
    access: RoutineAccess,
    deterministic: bool,
    invoker: bool,
    definer: String,
    comment: String,
    sql_mode: u64,
    client_charset: String,
    connection_collation: String,
    database_collation: String,
    created: u64,
    altered: u64,
}

fn write(routine: &Routine) -> Vec<u8> {
    let parameter = |p: &Parameter| (p.mode, stored::store_column(&p.column));
    let stored = StoredRoutine {
        format: PLAIN_FORMAT,
        kind: routine.kind,
        name: routine.name.clone(),
        parameters: routine.parameters.iter().map(parameter).collect(),
        parameter_text: routine.parameter_text.clone(),
        returns: routine.returns.as_ref().map(stored::store_column),
        body: routine.body.clone(),
        access: routine.access,
        deterministic: routine.deterministic,
        invoker: routine.invoker,
        definer: routine.definer.clone(),
        comment: routine.comment.clone(),
        sql_mode: routine.sql_mode,
        client_charset: routine.client_charset.clone(),
        connection_collation: routine.connection_collation.clone(),
        database_collation: routine.database_collation.clone(),
        created: routine.created,
        altered: routine.altered,
    };
    serde_json::to_vec(&stored).expect("texts become JSON")
}

/// `None`: not a routine that this version can read.
pub(crate) fn read(schema: &str, json: &[u8]) -> Option<Routine> {
    let stored: StoredRoutine = serde_json::from_slice(json).ok()?;
    if stored.format > FORMAT {
        return None;
    }
    let mut parameters = Vec::with_capacity(stored.parameters.len());
    for (mode, column) in stored.parameters {
        parameters.push(Parameter { mode, column: stored::load_column(column)? });
    }
    Some(Routine {
        schema: schema.to_string(),
        name: stored.name,
        kind: stored.kind,
        parameters,
        parameter_text: stored.parameter_text,
        returns: match stored.returns {
            Some(column) => Some(stored::load_column(column)?),
            None => None,
        },
        body: stored.body,
        access: stored.access,
        deterministic: stored.deterministic,
        invoker: stored.invoker,
        definer: stored.definer,
        comment: stored.comment,
        sql_mode: stored.sql_mode,
        client_charset: stored.client_charset,
        connection_collation: stored.connection_collation,
        database_collation: stored.database_collation,
        created: stored.created,
        altered: stored.altered,
        compiled: OnceLock::new(),
    })
}

/// The name of its entry.
fn entry_name(key: &RoutineKey) -> String {
    format!("{} {}", if key.0 == RoutineKind::Procedure { "p" } else { "f" }, key.1)
}

impl Version {
    pub fn routine(&self, schema: &str, kind: RoutineKind, name: &str) -> Option<&Arc<Routine>> {
        self.schema(schema)?.routines.get(&routine_key(kind, name))
    }

    pub(crate) fn insert_routine(&mut self, routine: Arc<Routine>) {
        let key = routine_key(routine.kind, &routine.name);
        let schema = self.schemas.get_mut(&routine.schema).expect("the caller has found the schema");
        Arc::make_mut(schema).routines.insert(key, routine);
    }

    pub(crate) fn remove_routine(&mut self, schema: &str, key: &RoutineKey) {
        if let Some(schema) = self.schemas.get_mut(schema) {
            Arc::make_mut(schema).routines.remove(key);
        }
    }
}

impl Ddl<'_> {
    /// Keeps names of programs that are no table's to the statement. Errors 1192, 1205, 1213, 1317, 3989.
    pub(crate) fn lock_programs(&mut self, names: &mut [(&str, RoutineKey)]) -> Result<()> {
        if self.locks_tables() {
            return Err(err!(ER_LOCK_OR_ACTIVE_TRANSACTION));
        }
        names.sort();
        for (schema, _) in names.iter() {
            self.lock_to_define(schema)?;
        }
        for (schema, (kind, key)) in names.iter() {
            let name = Arc::new(Name::routine(*kind, schema, key));
            self.lock(&name, Mode::Exclusive, Duration::Transaction)?;
        }
        self.catch_up();
        Ok(())
    }

    /// Keeps a routine's name to the statement. Errors 1049, 1192, 1205, 1213, 1317, 3989.
    fn lock_routine(&mut self, schema: &str, key: &RoutineKey) -> Result<()> {
        self.lock_programs(&mut [(schema, key.clone())])?;
        match self.version().schema(schema) {
            None => Err(err!(ER_BAD_DB_ERROR, schema)),
            Some(s) if s.is_system() && schema != "mysql" => Err(err!(ER_DBACCESS_DENIED_ERROR, "", "", schema)),
            Some(_) => Ok(()),
        }
    }

    /// Waits for whoever calls it. Errors 1205, 1213, 1317.
    fn lock_routine_name(&mut self, schema: &str, key: &RoutineKey) -> Result<()> {
        let name = Arc::new(Name::routine(key.0, schema, &key.1));
        self.lock(&name, Mode::Exclusive, Duration::Transaction)
    }

    /// CREATE PROCEDURE, CREATE FUNCTION. Errors 1049, 1059, 1304.
    pub fn create_routine(&mut self, routine: Routine) -> Result<()> {
        check_name(&routine.name, ER_SP_WRONG_NAME)?;
        let key = routine_key(routine.kind, &routine.name);
        self.lock_routine(&routine.schema, &key)?;
        if self.version().routine(&routine.schema, routine.kind, &routine.name).is_some() {
            return Err(err!(ER_SP_ALREADY_EXISTS, routine.kind.word(), routine.name));
        }
        self.put_routine(routine)
    }

    /// ALTER PROCEDURE, ALTER FUNCTION. Error 1305.
    pub fn alter_routine(&mut self, schema: &str, kind: RoutineKind, name: &str, change: RoutineChange) -> Result<()> {
        self.lock_routine(schema, &routine_key(kind, name))?;
        let found = self.version().routine(schema, kind, name);
        let found = found.ok_or_else(|| err!(ER_SP_DOES_NOT_EXIST, kind.word(), format!("{schema}.{name}")))?;
        let mut routine = Routine::clone(found);
        routine.access = change.access.unwrap_or(routine.access);
        routine.invoker = change.invoker.unwrap_or(routine.invoker);
        routine.comment = change.comment.unwrap_or(routine.comment);
        routine.altered = crate::ddl::now();
        routine.compiled = OnceLock::new();
        self.put_routine(routine)
    }

    /// DROP PROCEDURE, DROP FUNCTION. Error 1305.
    pub fn drop_routine(&mut self, schema: &str, kind: RoutineKind, name: &str) -> Result<()> {
        let key = routine_key(kind, name);
        self.lock_routine(schema, &key)?;
        if self.version().routine(schema, kind, name).is_none() {
            return Err(err!(ER_SP_DOES_NOT_EXIST, kind.word(), format!("{schema}.{name}")));
        }
        self.forget_routine(schema, &key)
    }

    /// Those of a schema that goes.
    pub(crate) fn drop_routines(&mut self, schema: &str) -> Result<()> {
        let keys: Vec<RoutineKey> =
            self.version().schema(schema).into_iter().flat_map(|s| s.routines.keys().cloned()).collect();
        for key in &keys {
            self.lock_routine_name(schema, key)?;
            self.forget_routine(schema, key)?;
        }
        Ok(())
    }

    fn put_routine(&mut self, routine: Routine) -> Result<()> {
        let key = routine_key(routine.kind, &routine.name);
        let (tree, json) = (self.catalog.engine().dictionary(), write(&routine));
        dictionary::put(self.tx(), tree, Kind::Routine, &routine.schema, &entry_name(&key), &json)?;
        self.touch(Touched::Routine(routine.schema.clone(), key));
        self.next_version().insert_routine(Arc::new(routine));
        Ok(())
    }

    fn forget_routine(&mut self, schema: &str, key: &RoutineKey) -> Result<()> {
        let tree = self.catalog.engine().dictionary();
        dictionary::remove(self.tx(), tree, Kind::Routine, schema, &entry_name(key))?;
        self.touch(Touched::Routine(schema.to_string(), key.clone()));
        self.next_version().remove_routine(schema, key);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use types::{DataType, TypeKind};

    #[test]
    fn routines_are_read_as_they_were_written() {
        let column = |name: &str| Column::new(name, DataType::new(TypeKind::Int));
        let routine = Routine {
            schema: "s".to_string(),
            name: "P".to_string(),
            kind: RoutineKind::Function,
            parameters: vec![Parameter { mode: ParameterMode::InOut, column: column("x") }],
            parameter_text: "x INT".to_string(),
            returns: Some(column("")),
            body: "RETURN 'ü'".to_string(),
            access: RoutineAccess::ReadsSqlData,
            deterministic: true,
            invoker: true,
            definer: "root@localhost".to_string(),
            comment: "c".to_string(),
            sql_mode: 4,
            client_charset: "utf8mb4".to_string(),
            connection_collation: "utf8mb4_bin".to_string(),
            database_collation: "latin1_swedish_ci".to_string(),
            created: 7,
            altered: 8,
            compiled: OnceLock::new(),
        };
        let json = write(&routine);
        let again = read("s", &json).expect("it was written so");
        assert_eq!(write(&again), json);
        assert_eq!((again.name, again.parameters[0].mode), ("P".to_string(), ParameterMode::InOut));
        let later = String::from_utf8(json).expect("it is JSON").replace("\"format\":3", "\"format\":5");
        assert!(read("s", later.as_bytes()).is_none());
    }
}
