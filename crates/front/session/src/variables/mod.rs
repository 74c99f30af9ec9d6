//! System variables: MySQL 8.4's names, scopes, types, ranges and defaults; global values as an immutable snapshot and
//! session values as a copy-on-write difference to the snapshot of connect time.
//!
//! ```text
//!   VARIABLES (static table, sorted)         one entry a name, an id is an index
//!        |
//!   Globals  { values: Vec<Val> }            immutable; SET GLOBAL makes a new one and swaps it in (sync::Snapshot)
//!        |  Arc, taken at connect
//!   SessionVariables { base, changed, hot }  40 bytes for each variable that this session has set; those that every
//!                                            statement looks at are decoded into `hot` when one is set
//! ```
//!
//! A variable that can be set is obeyed. One that MySQL lets you set and that this server has no use for yet is
//! [`Access::Fixed`]: setting it to the value that it has succeeds, any other value is refused with error 1231.

mod hot;
mod table;
mod value;

pub use hot::{Hot, isolation_of};
pub use table::{CONNECTIONS_MAX, VARIABLES};
pub use value::{Val, Wrong, parse_bytes};

use crate::variables;
use sql::ast::{Name, Parsed};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
use types::charset::Charset;
use types::codes::*;
use types::collation::CollationId;
use types::{DataType, Result, SqlError, TypeKind, Value, const_eq, err};

/// Variables of replicas with the names that they had before.
const OLD_NAMES: [(VarId, VarId); 9] = [
    (id("log_replica_updates"), id("log_slave_updates")),
    (id("replica_exec_mode"), id("slave_exec_mode")),
    (id("replica_net_timeout"), id("slave_net_timeout")),
    (id("replica_parallel_workers"), id("slave_parallel_workers")),
    (id("replica_preserve_commit_order"), id("slave_preserve_commit_order")),
    (id("replica_transaction_retries"), id("slave_transaction_retries")),
    (id("replica_type_conversions"), id("slave_type_conversions")),
    (id("skip_replica_start"), id("skip_slave_start")),
    (id("sql_replica_skip_counter"), id("sql_slave_skip_counter")),
];

/// The other name of a variable that has two, which both have its value.
pub fn other_name(id: VarId) -> Option<VarId> {
    OLD_NAMES.iter().find_map(|(name, old)| match id {
        _ if id == *name => Some(*old),
        _ if id == *old => Some(*name),
        _ => None,
    })
}

/// Where a variable lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    Global,
    Session,
    /// A session's value starts as a copy of the global value.
    Both,
}

/// Who may change a variable while the server runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// SET works, and the server obeys.
    Dynamic,
    /// Only at start, by option.
    ReadOnly,
    /// Dynamic in MySQL; here only its present value can be set (error 1231 else).
    Fixed,
    /// SET GLOBAL works; the session's copy follows at the next connect (error 1621).
    SessionReadOnly,
}

/// Where a start-up value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Startup {
    /// `--name=value`.
    Option,
    /// An option in MySQL that has one possible value here: others are refused at start.
    OptionFixed,
    /// An option that tunes what is not there, or is done in another way: other values than the one that holds here are noted in the
    /// error log, and the server starts.
    OptionNoted,
    /// Computed by the server, or for sessions only: no option.
    None,
}

impl Startup {
    /// Is there one value, whatever an option says?
    pub const fn is_fixed(self) -> bool {
        matches!(self, Startup::OptionFixed | Startup::OptionNoted)
    }
}

/// The values a variable can have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    Bool,
    /// `block`: values are rounded down to a multiple.
    UInt {
        min: u64,
        max: u64,
        block: u64,
    },
    Int {
        min: i64,
        max: i64,
    },
    Double {
        min: f64,
        max: f64,
    },
    /// Stored as the index of a name.
    Enum(&'static [&'static str]),
    /// `sql_mode`, stored as bits.
    SqlMode,
    /// `optimizer_switch`: `name=on,name=off,...` of these names, stored as bits.
    Flags(&'static [&'static str]),
    /// Stored as the name.
    Charset {
        nullable: bool,
    },
    /// Stored as the name.
    Collation,
    TimeZone,
    /// A string; may be NULL when the default is.
    Str,
}

#[derive(Clone, Copy, Debug)]
pub enum Default {
    Bool(bool),
    UInt(u64),
    Int(i64),
    Double(f64),
    Str(&'static str),
    Null,
}

#[derive(Clone, Copy, Debug)]
pub struct Variable {
    pub name: &'static str,
    pub scope: Scope,
    pub access: Access,
    pub startup: Startup,
    pub kind: Kind,
    pub default: Default,
}

/// Index into [`VARIABLES`].
pub type VarId = u16;

/// The id of a name known at compile time: `const AUTOCOMMIT: VarId = id("autocommit")`.
pub const fn id(name: &str) -> VarId {
    let mut i = 0;
    while i < VARIABLES.len() {
        if const_eq(VARIABLES[i].name.as_bytes(), name.as_bytes()) {
            return i as VarId;
        }
        i += 1;
    }
    panic!("no such system variable");
}

/// What has variables of its own, which are there while it is installed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Extension {
    /// The component `validate_password`.
    ValidatePassword,
    /// The plugin `CONNECTION_CONTROL`.
    ConnectionControl,
    /// The plugin `CONNECTION_CONTROL_FAILED_LOGIN_ATTEMPTS`, which has a table.
    FailedLoginAttempts,
    /// The plugin `auth_socket`.
    AuthSocket,
    /// The plugin `mysql_no_login`.
    NoLogin,
    /// The plugin `rpl_semi_sync_source`.
    SemiSyncSource,
    /// The plugin `rpl_semi_sync_replica`.
    SemiSyncReplica,
    /// The component `query_attributes`.
    QueryAttributes,
    /// The component `log_sink_json`.
    LogSinkJson,
    /// The component `log_filter_dragnet`.
    LogFilterDragnet,
    /// The plugin `audit_log`.
    AuditLog,
}

impl Extension {
    const ALL: [Extension; 11] = [
        Extension::ValidatePassword,
        Extension::ConnectionControl,
        Extension::FailedLoginAttempts,
        Extension::AuthSocket,
        Extension::NoLogin,
        Extension::SemiSyncSource,
        Extension::SemiSyncReplica,
        Extension::QueryAttributes,
        Extension::LogSinkJson,
        Extension::LogFilterDragnet,
        Extension::AuditLog,
    ];

    /// How the names of its variables begin, if it has any.
    pub const fn prefix(self) -> Option<&'static str> {
        match self {
            Extension::ValidatePassword => Some("validate_password."),
            Extension::ConnectionControl => Some("connection_control_"),
            Extension::LogFilterDragnet => Some("dragnet."),
            Extension::AuditLog => Some("audit_log_"),
            Extension::SemiSyncSource => Some("rpl_semi_sync_source_"),
            Extension::SemiSyncReplica => Some("rpl_semi_sync_replica_"),
            _ => None,
        }
    }

    /// The name of the plugin that it is, if it is one.
    pub const fn plugin(self) -> Option<&'static str> {
        match self {
            Extension::ValidatePassword
            | Extension::QueryAttributes
            | Extension::LogSinkJson
            | Extension::LogFilterDragnet => None,
            Extension::ConnectionControl => Some("CONNECTION_CONTROL"),
            Extension::AuditLog => Some("audit_log"),
            Extension::FailedLoginAttempts => Some("CONNECTION_CONTROL_FAILED_LOGIN_ATTEMPTS"),
            Extension::AuthSocket => Some("auth_socket"),
            Extension::NoLogin => Some("mysql_no_login"),
            Extension::SemiSyncSource => Some("rpl_semi_sync_source"),
            Extension::SemiSyncReplica => Some("rpl_semi_sync_replica"),
        }
    }

    pub fn of_plugin(name: &str) -> Option<Extension> {
        Extension::ALL.into_iter().find(|e| e.plugin().is_some_and(|plugin| plugin.eq_ignore_ascii_case(name)))
    }

    const fn bit(self) -> u16 {
        1 << self as u8
    }
}

/// Finds a variable by its name in any case.
pub fn find(name: &str) -> Option<VarId> {
    // Names are at most 64 bytes; longer ones are unknown without a copy.
    let mut lower = [0u8; 64];
    let bytes = name.as_bytes();
    if bytes.len() > lower.len() {
        return None;
    }
    for (to, from) in lower.iter_mut().zip(bytes) {
        *to = from.to_ascii_lowercase();
    }
    let lower = &lower[..bytes.len()];
    VARIABLES.binary_search_by(|v| v.name.as_bytes().cmp(lower)).ok().map(|i| i as VarId)
}

/// Error 1193.
#[cold]
fn unknown(name: &str) -> SqlError {
    err!(ER_UNKNOWN_SYSTEM_VARIABLE, name)
}

/// All global values at one moment. Immutable once it is in the server's snapshot cell.
#[derive(Clone, Debug)]
pub struct Globals {
    values: Vec<Val>,
    /// Those that did not come from the compiler, by id.
    origins: BTreeMap<VarId, (Origin, Option<SetBy>)>,
    /// A bit for each [`Extension`].
    installed: u16,
}

/// Where a global value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    Compiled,
    CommandLine,
    Persisted,
    Dynamic,
}

/// Who set a value, and when in microseconds since 1970.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetBy {
    pub user: String,
    pub host: String,
    pub time_us: u64,
}

impl std::default::Default for Globals {
    fn default() -> Globals {
        Globals::new()
    }
}

impl Globals {
    /// MySQL's defaults.
    pub fn new() -> Globals {
        let values = VARIABLES.iter().map(Variable::default_value).collect();
        Globals { values, origins: BTreeMap::new(), installed: 0 }
    }

    /// [`find`] among those that are there now. Error 1193.
    pub fn lookup(&self, name: &str) -> Result<VarId> {
        find(name).filter(|id| self.shows(*id)).ok_or_else(|| unknown(name))
    }

    /// Is the variable there: the server's own, or of something that is installed?
    pub fn shows(&self, id: VarId) -> bool {
        VARIABLES[id as usize].extension().is_none_or(|e| self.has(e))
    }

    pub fn has(&self, extension: Extension) -> bool {
        self.installed & extension.bit() != 0
    }

    /// Is something installed that has a function of this name?
    pub fn brings(&self, function: &str) -> bool {
        self.has(Extension::QueryAttributes) && function == "mysql_query_attribute_string"
    }

    /// Functions of what is installed, and what they give.
    pub fn functions(&self) -> Vec<(&'static str, &'static str)> {
        let there = self.has(Extension::QueryAttributes);
        there.then_some(("mysql_query_attribute_string", "char")).into_iter().collect()
    }

    /// Its variables are there from now on, or have their defaults and are gone.
    pub fn install(&mut self, extension: Extension, there: bool) {
        if there {
            self.installed |= extension.bit();
            return;
        }
        self.installed &= !extension.bit();
        for (at, variable) in VARIABLES.iter().enumerate().filter(|(_, v)| v.extension() == Some(extension)) {
            self.values[at] = variable.default_value();
            self.origins.remove(&(at as VarId));
        }
    }

    pub fn get(&self, id: VarId) -> &Val {
        &self.values[id as usize]
    }

    /// Stores a value that [`Variable::check`] has returned.
    pub fn set(&mut self, id: VarId, value: Val) {
        self.values[id as usize] = value;
    }

    /// Notes where the value comes from.
    pub fn came_from(&mut self, id: VarId, origin: Origin, by: Option<SetBy>) {
        self.origins.insert(id, (origin, by));
    }

    pub fn origin(&self, id: VarId) -> (Origin, Option<&SetBy>) {
        self.origins.get(&id).map_or((Origin::Compiled, None), |(origin, by)| (*origin, by.as_ref()))
    }

    pub fn uint(&self, id: VarId) -> u64 {
        self.get(id).uint()
    }

    pub fn bool(&self, id: VarId) -> bool {
        self.get(id).bool()
    }

    pub fn text(&self, id: VarId) -> &str {
        self.get(id).text()
    }
}

/// One session's values.
#[derive(Clone, Debug)]
pub struct SessionVariables {
    base: Arc<Globals>,
    /// Sorted by id; a handful in practice.
    changed: Vec<(VarId, Val)>,
    hot: Hot,
    /// Since somebody has asked.
    has_changed: bool,
}

impl SessionVariables {
    pub fn new(base: Arc<Globals>) -> SessionVariables {
        let hot = Hot::read(|id| base.get(id));
        SessionVariables { base, changed: Vec::new(), hot, has_changed: true }
    }

    /// The values that statements look at.
    #[inline]
    pub fn hot(&self) -> &Hot {
        &self.hot
    }

    pub fn get(&self, id: VarId) -> &Val {
        value_in(&self.base, &self.changed, id)
    }

    /// Stores a value that [`Variable::check`] has returned.
    pub fn set(&mut self, id: VarId, value: Val) {
        self.set_all([(id, value)]);
    }

    /// Notes that a variable of the session has changed that is not kept here.
    pub fn note_change(&mut self) {
        self.has_changed = true;
    }

    /// Has a variable changed since this was asked last?
    #[inline]
    pub fn take_changed(&mut self) -> bool {
        std::mem::take(&mut self.has_changed)
    }

    /// The same of several at once.
    pub fn set_all<const N: usize>(&mut self, values: [(VarId, Val); N]) {
        self.has_changed = true;
        let is_hot = values.iter().any(|(id, _)| Hot::reads(*id));
        for (id, value) in values {
            match self.changed.binary_search_by_key(&id, |(i, _)| *i) {
                Ok(at) => self.changed[at].1 = value,
                Err(at) => self.changed.insert(at, (id, value)),
            }
        }
        if is_hot {
            self.hot = Hot::read(|id| value_in(&self.base, &self.changed, id));
        }
    }

    pub fn uint(&self, id: VarId) -> u64 {
        self.get(id).uint()
    }

    pub fn bool(&self, id: VarId) -> bool {
        self.get(id).bool()
    }

    pub fn text(&self, id: VarId) -> &str {
        self.get(id).text()
    }
}

fn value_in<'v>(base: &'v Globals, changed: &'v [(VarId, Val)], id: VarId) -> &'v Val {
    match changed.binary_search_by_key(&id, |(i, _)| *i) {
        Ok(at) => &changed[at].1,
        Err(_) => base.get(id),
    }
}

impl Variable {
    /// What has to be installed for it to be there.
    pub fn extension(&self) -> Option<Extension> {
        Extension::ALL.into_iter().find(|e| e.prefix().is_some_and(|prefix| self.name.starts_with(prefix)))
    }

    pub fn default_value(&self) -> Val {
        match (self.default, self.kind) {
            (Default::Bool(b), _) => Val::Bool(b),
            (Default::UInt(n), _) => Val::UInt(n),
            (Default::Int(n), _) => Val::Int(n),
            (Default::Double(n), _) => Val::Double(n),
            (Default::Null, _) => Val::Null,
            (Default::Str(s), Kind::Enum(names)) => {
                let at = names.iter().position(|n| *n == s);
                Val::UInt(at.expect("the default of an enumeration is a member") as u64)
            }
            (Default::Str(s), Kind::SqlMode) => {
                Val::UInt(types::sql_mode::SqlMode::parse(s).expect("the default mode parses").0)
            }
            (Default::Str(s), _) => Val::Str(Cow::Borrowed(s)),
        }
    }

    /// Least and greatest value as `variables_info` prints them, 0 for what has none.
    pub fn bounds(&self) -> (String, String) {
        match self.kind {
            Kind::UInt { min, max, .. } => (min.to_string(), max.to_string()),
            Kind::Int { min, max } => (min.to_string(), max.to_string()),
            _ => ("0".to_string(), "0".to_string()),
        }
    }

    /// How SHOW VARIABLES and `performance_schema` print a value.
    pub fn print<'v>(&self, value: &'v Val) -> Cow<'v, str> {
        match (value, self.kind) {
            (Val::Bool(b), _) => Cow::Borrowed(if *b { "ON" } else { "OFF" }),
            (Val::UInt(n), Kind::Enum(names)) => Cow::Borrowed(names[*n as usize]),
            (Val::UInt(n), Kind::SqlMode) => Cow::Owned(types::sql_mode::SqlMode(*n).names()),
            (Val::UInt(n), Kind::Flags(names)) => Cow::Owned(value::print_flags(names, *n)),
            (Val::UInt(n), _) => Cow::Owned(n.to_string()),
            (Val::Int(n), _) => Cow::Owned(n.to_string()),
            (Val::Double(n), _) => Cow::Owned(format!("{n:.6}")),
            (Val::Str(s), _) => Cow::Borrowed(s),
            (Val::Null, _) => Cow::Borrowed(""),
        }
    }

    /// What `SELECT @@name` yields.
    pub fn select(&self, value: &Val) -> (Value<'static>, DataType) {
        let text = |s: Cow<'_, str>| {
            let length = s.chars().count() as u32;
            (
                Value::Bytes(Cow::Owned(s.into_owned().into_bytes())),
                DataType::string(TypeKind::VarChar, length, types::collation::CollationId::UTF8MB3_GENERAL_CI),
            )
        };
        match (value, self.kind) {
            (Val::Bool(b), _) => (Value::Int(*b as i64), DataType { length: 1, ..DataType::new(TypeKind::BigInt) }),
            (Val::UInt(_), Kind::Enum(_) | Kind::SqlMode | Kind::Flags(_)) => text(self.print(value)),
            (Val::UInt(n), _) => {
                (Value::UInt(*n), DataType { length: 21, ..DataType::new(TypeKind::BigInt).unsigned() })
            }
            (Val::Int(n), _) => (Value::Int(*n), DataType { length: 21, ..DataType::new(TypeKind::BigInt) }),
            (Val::Double(n), _) => {
                (Value::Double(*n), DataType { length: 23, decimals: 6, ..DataType::new(TypeKind::Double) })
            }
            (Val::Str(s), _) => text(Cow::Borrowed(s)),
            (Val::Null, _) => {
                let (_, data_type) = text(Cow::Borrowed(""));
                (Value::Null, data_type)
            }
        }
    }
}

/// `base.name` or `name`.
pub(crate) fn variable_name(parsed: &Parsed, base: Option<Name>, name: Name) -> Cow<'_, str> {
    match base {
        Some(base) => Cow::Owned(format!("{}.{}", parsed.name(base), parsed.name(name))),
        None => Cow::Borrowed(parsed.name(name)),
    }
}

/// Character set variables and the collation variables that go with them.
const PAIRS: [(VarId, VarId); 3] = [
    (id("character_set_connection"), id("collation_connection")),
    (id("character_set_database"), id("collation_database")),
    (id("character_set_server"), id("collation_server")),
];

/// A character set brings its default collation, a collation its character set.
pub(crate) fn pair(id: VarId, value: &Val, set: &mut dyn FnMut(VarId, Val)) {
    if let Some(other) = variables::other_name(id) {
        set(other, value.clone());
    }
    for (charset, collation) in PAIRS {
        if id == charset
            && let Some(found) = Charset::by_name(value.text())
        {
            set(collation, Val::Str(Cow::Borrowed(CollationId::default_of(found).info().name)));
        }
        if id == collation
            && let Some(found) = CollationId::by_name(value.text())
        {
            set(charset, Val::Str(Cow::Borrowed(found.charset().name())));
        }
    }
}

pub(crate) const FOREIGN_KEY_CHECKS: VarId = id("foreign_key_checks");
pub(crate) const LOCK_WAIT: VarId = id("innodb_lock_wait_timeout");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_defaults_are_valid() {
        for pair in VARIABLES.windows(2) {
            assert!(pair[0].name < pair[1].name, "{} and {}", pair[0].name, pair[1].name);
        }
        for (i, v) in VARIABLES.iter().enumerate() {
            assert_eq!(find(&v.name.to_uppercase()), Some(i as VarId));
            let value = v.default_value();
            if value != Val::Null && v.startup == Startup::Option {
                assert_eq!(v.parse_option(&v.print(&value)), Ok(value), "{}", v.name);
            }
        }
    }

    #[test]
    fn session_values_start_as_the_globals_of_connect_time() {
        const WAIT: VarId = id("wait_timeout");
        let mut globals = Globals::new();
        let mut session = SessionVariables::new(Arc::new(globals.clone()));
        globals.set(WAIT, Val::UInt(5));
        assert_eq!(session.uint(WAIT), 28800);
        session.set(WAIT, Val::UInt(7));
        assert_eq!((session.uint(WAIT), globals.uint(WAIT)), (7, 5));
    }

    #[test]
    fn unknown_names_are_1193() {
        let globals = Globals::new();
        assert_eq!(globals.lookup("query_cache_size").unwrap_err().code, ER_UNKNOWN_SYSTEM_VARIABLE);
        assert_eq!(globals.lookup(&"x".repeat(100)).unwrap_err().code, ER_UNKNOWN_SYSTEM_VARIABLE);
    }

    #[test]
    fn variables_of_an_extension_come_and_go_with_it() {
        let mut globals = Globals::new();
        assert_eq!(globals.lookup("validate_password.length").unwrap_err().code, ER_UNKNOWN_SYSTEM_VARIABLE);
        globals.install(Extension::ValidatePassword, true);
        let length = globals.lookup("validate_password.LENGTH").unwrap();
        globals.set(length, Val::UInt(20));
        assert!(globals.lookup("connection_control_min_connection_delay").is_err());
        globals.install(Extension::ValidatePassword, false);
        assert_eq!((globals.shows(length), globals.uint(length)), (false, 8));
    }
}
