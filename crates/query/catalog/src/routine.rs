//! Stored procedures and functions: what the dictionary has of them.
//!
//! The text of the body stays as it was written, with what it has to be read under. Types of parameters are kept as those of columns are,
//! so that whoever lists them reads no text.

use crate::column::Column;
use serde::{Deserialize, Serialize};
use std::any::Any;
use std::sync::{Arc, OnceLock};
use types::CollationId;

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

/// How a routine is found: procedures have names of their own.
pub type RoutineKey = (RoutineKind, String);

pub fn routine_key(kind: RoutineKind, name: &str) -> RoutineKey {
    (kind, folded_name(name))
}

/// Names of routines are the same in any letter case and with any accents, as `utf8mb3_general_ci` has it: by their weights, each of
/// which is a character.
pub fn folded_name(name: &str) -> String {
    // Of ASCII characters the letter case is all that has no weight.
    if name.is_ascii() {
        return name.to_ascii_lowercase();
    }
    let of = |c: char| {
        let mut weights = Vec::new();
        CollationId::UTF8MB3_GENERAL_CI.weights(c.encode_utf8(&mut [0; 4]).as_bytes(), &mut weights);
        let unit = weights.first_chunk().map_or(0, |unit| u16::from_be_bytes(*unit));
        char::from_u32(unit.into()).unwrap_or(char::REPLACEMENT_CHARACTER)
    };
    name.chars().map(of).collect::<String>().to_lowercase()
}

/// Do two names of programs mean the same?
pub fn same_name(a: &str, b: &str) -> bool {
    a == b || folded_name(a) == folded_name(b)
}

/// What ALTER PROCEDURE says.
#[derive(Clone, Debug, Default)]
pub struct RoutineChange {
    pub access: Option<RoutineAccess>,
    pub invoker: Option<bool>,
    pub comment: Option<String>,
}
