//! What CREATE USER, ALTER USER and SET PASSWORD say of one account: its password and its options.

use crate::session::Session;
use accounts::{AccountName, Lifetime, LockTime, Plugin, Privileges, Requirement, password};
use expr::Env;
use sql::ast::{AccountOptions, Auth, AuthSecret, Limited, Parsed, PasswordExpire, Require, Str, UserSpec};
use types::codes::*;
use types::json::{Json, parse};
use types::{Result, SqlError, err};

const RANDOM_PASSWORD_LENGTH: crate::variables::VarId = crate::variables::id("generated_random_password_length");
/// Most days and attempts of the options of passwords and logins.
const ATTEMPTS_MAX: u64 = 32_767;

/// The new password of an account, and what was said of the old one.
pub(crate) struct NewPassword<'a> {
    /// `None`: a random one.
    pub password: Option<&'a [u8]>,
    /// REPLACE 'current password'
    pub replace: Option<&'a [u8]>,
    pub retain_current: bool,
    /// The account has no password yet.
    pub fresh: bool,
}

impl Session {
    /// IDENTIFIED ... of one account, after its options.
    pub(crate) fn authenticate(
        &mut self,
        parsed: &Parsed,
        account: &mut accounts::Account,
        spec: &UserSpec,
        fresh: bool,
    ) -> Result<()> {
        if let Some(factor) = spec.more_factors.first() {
            return Err(self.no_factor(parsed, factor, 2, if fresh { "CREATE USER" } else { "ALTER USER" }));
        }
        if spec.discard_old {
            account.second_auth.clear();
        }
        let Some(Auth { plugin, secret }) = &spec.auth else { return Ok(()) };
        if let Some(plugin) = plugin {
            let name = String::from_utf8_lossy(parsed.bytes(*plugin)).into_owned();
            let loaded = |p: &Plugin| self.server.accounts.has_plugin(*p);
            let plugin = Plugin::by_name(&name).filter(loaded).ok_or_else(|| err!(ER_PLUGIN_IS_NOT_LOADED, name))?;
            let changes = plugin != account.plugin;
            if changes && spec.retain_current {
                return Err(err!(
                    ER_PASSWORD_CANNOT_BE_RETAINED_ON_PLUGIN_CHANGE,
                    account.name.user,
                    account.name.host
                ));
            }
            // Another plugin has other passwords: it begins with none, and so it does where none is given.
            if changes || *secret == AuthSecret::None {
                account.plugin = plugin;
                account.auth_string.clear();
                account.second_auth.clear();
            }
        }
        if !account.plugin.keeps_password() {
            return self.without_password(parsed, account, spec, *secret);
        }
        let password = match secret {
            AuthSecret::None => return Ok(()),
            AuthSecret::Hash(hash) => {
                account.set_hash(parsed.bytes(*hash), password::now_s())?;
                account.remember_password(self.server.accounts.directory().policy(), password::now_s());
                return Ok(());
            }
            AuthSecret::Password(password) => Some(parsed.bytes(*password)),
            AuthSecret::Random => None,
        };
        let replace = spec.replace.map(|s| parsed.bytes(s));
        self.new_password(account, NewPassword { password, replace, retain_current: spec.retain_current, fresh })
    }

    /// What is said of an account whose plugin keeps no password: it goes by what AS says, and by nothing that is said BY.
    fn without_password(
        &mut self,
        parsed: &Parsed,
        account: &mut accounts::Account,
        spec: &UserSpec,
        secret: AuthSecret,
    ) -> Result<()> {
        if spec.retain_current {
            let AccountName { user, host } = &account.name;
            let plugin = account.plugin.name();
            self.state
                .push_warning("Warning", err!(ER_WARNING_RETAIN_CURRENT_PASSWORD_CLAUSE_VOID, user, host, plugin));
        }
        match secret {
            AuthSecret::Hash(text) => account.set_hash(parsed.bytes(text), password::now_s())?,
            AuthSecret::None | AuthSecret::Password(_) | AuthSecret::Random => account.auth_string.clear(),
        }
        if secret == AuthSecret::Random {
            let length = self.state.vars.uint(RANDOM_PASSWORD_LENGTH);
            let random = password::random_password(length as usize);
            self.generated.push([account.name.user.clone(), account.name.host.clone(), random]);
        }
        Ok(())
    }

    /// Why an account has no further factor: no plugin that could be one is there (1524), and those of passwords are none (4052).
    pub(crate) fn no_factor(&self, parsed: &Parsed, factor: &Auth, number: usize, statement: &str) -> SqlError {
        let name = factor.plugin.map_or(String::new(), |p| String::from_utf8_lossy(parsed.bytes(p)).into_owned());
        match Plugin::by_name(&name).filter(|p| self.server.accounts.has_plugin(*p)) {
            Some(plugin) => err!(ER_INVALID_MFA_PLUGIN_SPECIFIED, plugin.name(), number, statement),
            None => err!(ER_PLUGIN_IS_NOT_LOADED, name),
        }
    }

    /// Errors 3638, 3878, 3891, 3892, 3893, 3895.
    pub(crate) fn new_password(&mut self, account: &mut accounts::Account, new: NewPassword<'_>) -> Result<()> {
        let now_s = password::now_s();
        let policy = *self.server.accounts.directory().policy();
        let random = new.password.is_none().then(|| {
            let length = self.state.vars.uint(RANDOM_PASSWORD_LENGTH);
            password::random_password(length as usize)
        });
        let password = new.password.unwrap_or_else(|| random.as_deref().unwrap_or("").as_bytes());
        if !password.is_empty() {
            account.check_history(password, &policy, now_s)?;
        }
        if !new.fresh {
            self.check_current(account, new.replace, password)?;
        }
        if new.retain_current {
            let AccountName { user, host } = &account.name;
            if account.auth_string.is_empty() {
                return Err(err!(ER_SECOND_PASSWORD_CANNOT_BE_EMPTY, user, host));
            }
            if password.is_empty() {
                return Err(err!(ER_CURRENT_PASSWORD_CANNOT_BE_RETAINED, user, host));
            }
            account.second_auth = account.auth_string.clone();
        }
        if password.is_empty() {
            account.second_auth.clear();
        }
        account.set_password(password, now_s);
        account.remember_password(&policy, now_s);
        if let Some(random) = random {
            self.generated.push([account.name.user.clone(), account.name.host.clone(), random]);
        }
        Ok(())
    }

    /// What REPLACE says, or that it is missing.
    fn check_current(&self, account: &accounts::Account, replace: Option<&[u8]>, new: &[u8]) -> Result<()> {
        let own = self.access().account().name == account.name;
        match replace {
            Some(_) if !own => Err(err!(ER_CURRENT_PASSWORD_NOT_REQUIRED)),
            Some(current) if !account.proves(current) => Err(err!(ER_INCORRECT_CURRENT_PASSWORD)),
            Some(current) => self.check_changed(current, new),
            None => {
                let by_default = self.server.accounts.directory().policy().require_current;
                let required = own && account.rules.require_current.unwrap_or(by_default);
                if required && !self.access().global().has(Privileges::CREATE_USER) {
                    Err(err!(ER_MISSING_CURRENT_PASSWORD))
                } else {
                    Ok(())
                }
            }
        }
    }

    /// REQUIRE, WITH, PASSWORD, FAILED_LOGIN_ATTEMPTS, ACCOUNT, COMMENT and ATTRIBUTE of one account. Errors 1064, 1525, 3982.
    pub(crate) fn apply_options(
        &mut self,
        parsed: &Parsed,
        account: &mut accounts::Account,
        options: &AccountOptions,
    ) -> Result<()> {
        let text = |s: Option<Str>| s.map_or(String::new(), |s| String::from_utf8_lossy(parsed.bytes(s)).into_owned());
        match options.require {
            None => {}
            Some(Require::None) => account.requirement = Requirement::None,
            Some(Require::Ssl) => account.requirement = Requirement::Ssl,
            Some(Require::X509) => account.requirement = Requirement::X509,
            Some(Require::Specified { subject, issuer, cipher }) => {
                let (subject, issuer, cipher) = (text(subject), text(issuer), text(cipher));
                account.requirement = Requirement::Specified { subject, issuer, cipher };
            }
        }
        let limits = &mut account.limits;
        for (said, limit) in [
            (options.max_queries_per_hour, &mut limits.queries_per_hour),
            (options.max_updates_per_hour, &mut limits.updates_per_hour),
            (options.max_connections_per_hour, &mut limits.connections_per_hour),
            (options.max_user_connections, &mut limits.user_connections),
        ] {
            if let Some(n) = said {
                *limit = n as u32;
                self.server.accounts.reset_usage_of(&account.name);
            }
        }
        let rules = &mut account.rules;
        match options.password_expire {
            None | Some(PasswordExpire::Now) => {}
            Some(PasswordExpire::Default) => rules.lifetime = Lifetime::Default,
            Some(PasswordExpire::Never) => rules.lifetime = Lifetime::Never,
            Some(PasswordExpire::Days(days)) => rules.lifetime = Lifetime::Days(days_of(days)?),
        }
        if options.password_expire.is_some() {
            account.password_expired = false;
        }
        if let Some(said) = options.password_history {
            rules.history = count_of(said);
        }
        if let Some(said) = options.password_reuse_interval {
            rules.reuse_days = count_of(said);
        }
        if let Some(required) = options.password_require_current {
            rules.require_current = required;
        }
        if let Some(n) = options.failed_login_attempts {
            account.logins.attempts = attempts("FAILED_LOGIN_ATTEMPTS", n)?;
        }
        match options.password_lock_time {
            None => {}
            Some(Limited::Count(days)) => account.logins.lock = LockTime::Days(attempts("PASSWORD_LOCK_TIME", days)?),
            Some(Limited::Unbounded | Limited::Default) => account.logins.lock = LockTime::Unbounded,
        }
        if let Some(locked) = options.account_locked {
            account.locked = locked;
        }
        let rules_changed = options.failed_login_attempts.is_some() || options.password_lock_time.is_some();
        if rules_changed || options.account_locked == Some(false) {
            self.server.accounts.forget_failures(&account.name);
        }
        if let Some(comment) = options.comment {
            let comment = Json::String(text(Some(comment)));
            let members = vec![("comment".to_string(), comment)];
            patch_attribute(account, Json::Object(types::json::Object::from_members(members)));
        }
        if let Some(attribute) = options.attribute {
            match parse::parse(parsed.bytes(attribute)) {
                Ok(patch @ Json::Object(_)) => patch_attribute(account, patch),
                _ => return Err(err!(ER_INVALID_USER_ATTRIBUTE_JSON)),
            }
        }
        Ok(())
    }
}

/// PASSWORD EXPIRE, once the password is what it is to be. Error 3671 of an account without one.
pub(crate) fn expire(account: &mut accounts::Account, options: &AccountOptions) -> Result<()> {
    if options.password_expire == Some(PasswordExpire::Now) {
        if !account.plugin.keeps_password() {
            return Err(err!(ER_PASSWORD_EXPIRATION_NOT_SUPPORTED_BY_AUTH_METHOD, account.plugin.name()));
        }
        account.password_expired = true;
    }
    Ok(())
}

/// Members of `patch` stand for those of the attribute; NULL takes one away.
fn patch_attribute(account: &mut accounts::Account, patch: Json) {
    let present = match parse::parse(account.attribute.as_bytes()) {
        Ok(present) => present,
        Err(_) => Json::Object(types::json::Object::from_members(Vec::new())),
    };
    let merged = present.merge_patch(patch);
    account.attribute = String::from_utf8(merged.to_text()).expect("JSON is text");
}

fn attempts(option: &str, n: u64) -> Result<u16> {
    if n > ATTEMPTS_MAX { Err(err!(ER_WRONG_VALUE, option, n)) } else { Ok(n as u16) }
}

fn days_of(days: u64) -> Result<u16> {
    match u16::try_from(days) {
        Ok(days) if days > 0 => Ok(days),
        _ => Err(err!(ER_WRONG_VALUE, "DAY", days)),
    }
}

/// As much as MySQL's table has room for.
fn count_of(said: Limited) -> Option<u32> {
    match said {
        Limited::Count(n) => Some((n as u32).min(u16::MAX.into())),
        Limited::Default | Limited::Unbounded => None,
    }
}
