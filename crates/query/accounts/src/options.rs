//! What CREATE USER and ALTER USER say of an account besides who it is: certificates, limits, the ageing of passwords, and what
//! failed logins lead to.

/// What the connection of an account must be (REQUIRE).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Requirement {
    #[default]
    None,
    Ssl,
    X509,
    /// Empty: not asked for.
    Specified {
        subject: String,
        issuer: String,
        cipher: String,
    },
}

/// WITH MAX_...; 0: no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    pub queries_per_hour: u32,
    pub updates_per_hour: u32,
    pub connections_per_hour: u32,
    /// At the same time.
    pub user_connections: u32,
}

impl Limits {
    pub fn is_none(&self) -> bool {
        *self == Limits::default()
    }

    /// Has each statement to be counted?
    pub fn counts_statements(&self) -> bool {
        self.queries_per_hour > 0 || self.updates_per_hour > 0
    }
}

/// PASSWORD EXPIRE
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lifetime {
    #[default]
    Default,
    Never,
    Days(u16),
}

/// PASSWORD ...; `None`: DEFAULT, what the server's variables say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PasswordRules {
    pub lifetime: Lifetime,
    /// How many of the last passwords must not come again.
    pub history: Option<u32>,
    /// For how many days a password must not come again.
    pub reuse_days: Option<u32>,
    /// Who changes the own password has to tell the old one.
    pub require_current: Option<bool>,
}

/// What variables of the server say of all accounts. Not stored with them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    /// `partial_revokes`: `%` and `_` of a schema's name in a grant stand for themselves, and REVOKE ON a schema takes away from what
    /// is granted on all.
    pub partial_revokes: bool,
    /// `default_password_lifetime` in days; 0: for ever.
    pub lifetime_days: u16,
    /// `password_history`
    pub history: u32,
    /// `password_reuse_interval`
    pub reuse_days: u32,
    /// `password_require_current`
    pub require_current: bool,
    /// `max_user_connections`, of accounts that have no such limit of their own; 0: any number.
    pub user_connections: u32,
    /// `check_proxy_users` with `caching_sha2_password_proxy_users`, and with `sha256_password_proxy_users`: who has one of these plugins
    /// and PROXY on an account is that account after the login.
    pub proxies_caching_sha2: bool,
    pub proxies_sha256: bool,
    /// The plugins `auth_socket` and `mysql_no_login` are installed.
    pub auth_socket: bool,
    pub no_login: bool,
}

/// FAILED_LOGIN_ATTEMPTS and PASSWORD_LOCK_TIME: both have to be there to lead to anything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoginRules {
    pub attempts: u16,
    pub lock: LockTime,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockTime {
    Days(u16),
    Unbounded,
}

impl Default for LockTime {
    fn default() -> LockTime {
        LockTime::Days(0)
    }
}

impl LoginRules {
    /// Does a series of failed logins block the account?
    pub fn block(&self) -> bool {
        self.attempts > 0 && self.lock != LockTime::Days(0)
    }
}
