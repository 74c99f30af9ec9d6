//! Users, roles and privileges.

use super::{Name, ObjectName, Str};

/// A user or role as written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Account {
    /// `host` None: `%`.
    Named { user: Str, host: Option<Str> },
    /// CURRENT_USER, CURRENT_USER(), USER()
    Current,
}

/// CREATE USER. Manual: 15.7.1.3.
#[derive(Debug)]
pub struct CreateUser {
    pub if_not_exists: bool,
    pub users: Vec<UserSpec>,
    pub default_roles: Vec<Account>,
    pub options: AccountOptions,
}

/// ALTER USER. Manual: 15.7.1.1.
#[derive(Debug)]
pub struct AlterUser {
    pub if_exists: bool,
    pub users: Vec<UserSpec>,
    /// ALTER USER u DEFAULT ROLE ...; then nothing else is set.
    pub default_role: Option<RoleSelection>,
    pub options: AccountOptions,
    pub factors: Vec<FactorChange>,
}

/// What ALTER USER says of a further factor, by its number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FactorChange {
    Add(u64, Auth),
    Modify(u64, Auth),
    Drop(u64),
    /// INITIATE REGISTRATION, FINISH REGISTRATION, UNREGISTER
    Register(u64),
}

/// An account in CREATE or ALTER USER, with how it authenticates.
#[derive(Clone, Debug)]
pub struct UserSpec {
    pub account: Account,
    pub auth: Option<Auth>,
    /// Second and third factor.
    pub more_factors: Vec<Auth>,
    /// REPLACE 'current password'
    pub replace: Option<Str>,
    pub retain_current: bool,
    pub discard_old: bool,
}

/// IDENTIFIED: a plugin and what it is given.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Auth {
    pub plugin: Option<Str>,
    pub secret: AuthSecret,
}

/// A password as written, or what the plugin keeps of one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AuthSecret {
    None,
    /// BY 'password'
    Password(Str),
    /// BY RANDOM PASSWORD
    Random,
    /// AS 'hash'
    Hash(Str),
}

/// None: not written, keep.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct AccountOptions {
    pub require: Option<Require>,
    pub max_queries_per_hour: Option<u64>,
    pub max_updates_per_hour: Option<u64>,
    pub max_connections_per_hour: Option<u64>,
    pub max_user_connections: Option<u64>,
    pub password_expire: Option<PasswordExpire>,
    pub password_history: Option<Limited>,
    pub password_reuse_interval: Option<Limited>,
    /// None inside: DEFAULT; Some(true): required; Some(false): OPTIONAL.
    pub password_require_current: Option<Option<bool>>,
    pub failed_login_attempts: Option<u64>,
    /// Limited::Unbounded: UNBOUNDED
    pub password_lock_time: Option<Limited>,
    pub account_locked: Option<bool>,
    pub comment: Option<Str>,
    pub attribute: Option<Str>,
}

/// A number of account options that may also be DEFAULT or UNBOUNDED.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limited {
    Default,
    Unbounded,
    Count(u64),
}

/// PASSWORD EXPIRE and its forms.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PasswordExpire {
    Now,
    Default,
    Never,
    Days(u64),
}

/// REQUIRE: what of TLS a login of the account needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Require {
    None,
    Ssl,
    X509,
    Specified { subject: Option<Str>, issuer: Option<Str>, cipher: Option<Str> },
}

/// Which roles SET ROLE and SET DEFAULT ROLE name.
#[derive(Debug)]
pub enum RoleSelection {
    None,
    Default,
    All { except: Vec<Account> },
    Roles(Vec<Account>),
}

/// `privilege [(columns)]`: static privileges by MySQL's words, joined by one space, upper case; dynamic ones as written.
#[derive(Clone, Debug)]
pub struct Privilege {
    pub kind: PrivilegeKind,
    pub columns: Vec<Name>,
}

/// A privilege of GRANT or REVOKE: one of the words of the grammar, or the name of a dynamic one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PrivilegeKind {
    All,
    GrantOption,
    Proxy,
    /// e.g. `SELECT`, `CREATE TEMPORARY TABLES`.
    Static(&'static str),
    /// A dynamic privilege or a role, to be told apart by whether there is an ON clause.
    Named(Account),
}

/// What a privilege is on: everything, a schema, or one object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PrivilegeLevel {
    /// `*.*`
    Global,
    /// `*`: the current database.
    CurrentDatabase,
    /// `db.*`
    Database(Name),
    /// `[db.]name` of a table (or, by `object`, a routine).
    Object(ObjectName),
}

/// What kind of object stands behind ON.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GrantObject {
    Table,
    Function,
    Procedure,
}

/// GRANT of privileges, roles or PROXY. Manual: 15.7.1.6.
#[derive(Debug)]
pub enum Grant {
    Privileges {
        privileges: Vec<Privilege>,
        object: GrantObject,
        level: PrivilegeLevel,
        to: Vec<Account>,
        with_grant_option: bool,
        /// AS user [WITH ROLE ...]
        as_user: Option<(Account, RoleSelection)>,
    },
    Roles {
        roles: Vec<Account>,
        to: Vec<Account>,
        with_admin_option: bool,
    },
    Proxy {
        proxied: Account,
        to: Vec<Account>,
        with_grant_option: bool,
    },
}

/// REVOKE. Manual: 15.7.1.8.
#[derive(Debug)]
pub struct Revoke {
    pub if_exists: bool,
    pub what: RevokeWhat,
    pub from: Vec<Account>,
    pub ignore_unknown_user: bool,
}

/// What REVOKE takes away.
#[derive(Debug)]
pub enum RevokeWhat {
    Privileges {
        privileges: Vec<Privilege>,
        object: GrantObject,
        level: PrivilegeLevel,
    },
    /// REVOKE ALL PRIVILEGES, GRANT OPTION
    Everything,
    Roles(Vec<Account>),
    Proxy(Account),
}

/// SET PASSWORD. Manual: 15.7.1.10.
#[derive(Debug)]
pub struct SetPassword {
    pub account: Account,
    /// None: TO RANDOM
    pub password: Option<Str>,
    pub replace: Option<Str>,
    pub retain_current: bool,
}
