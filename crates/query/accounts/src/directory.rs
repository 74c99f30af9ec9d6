//! The directory: every account with its grants, immutable once published.

use crate::host::{Client, HostPattern};
use crate::options::{Limits, LoginRules, PasswordRules, Policy, Requirement};
use crate::privilege::{DYNAMIC_PRIVILEGES, Privileges};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt;
use std::sync::Arc;

/// `'user'@'host'`. Users are case-sensitive, hosts are kept in lower case.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AccountName {
    pub user: String,
    pub host: String,
}

impl AccountName {
    /// An empty host is `%`. Spaces around a name are no part of it, so that no two accounts look alike.
    pub fn new(user: impl AsRef<str>, host: &str) -> AccountName {
        let (user, host) = (user.as_ref().trim_matches(' '), host.trim_matches(' '));
        let host = if host.is_empty() { "%".to_string() } else { host.to_ascii_lowercase() };
        AccountName { user: user.to_string(), host }
    }

    /// Of `user@host`, as views and programs keep their definers.
    pub fn of_definer(definer: &str) -> AccountName {
        let (user, host) = definer.rsplit_once('@').unwrap_or((definer, ""));
        AccountName::new(user, host)
    }

    /// Stands for every account where PROXY is granted: the anonymous one of no host.
    pub fn of_all() -> AccountName {
        AccountName { user: String::new(), host: String::new() }
    }
}

/// As error messages write it: `'user'@'host'`.
impl fmt::Display for AccountName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}'@'{}'", self.user, self.host)
    }
}

/// How an account's password is stored and proved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Plugin {
    CachingSha2,
    NativePassword,
    Sha256,
    /// auth_socket: the machine's user of the same name, or of the one that is kept in place of a password.
    Socket,
    /// mysql_no_login: nobody logs in.
    NoLogin,
}

impl Plugin {
    pub const fn name(self) -> &'static str {
        match self {
            Plugin::CachingSha2 => "caching_sha2_password",
            Plugin::NativePassword => "mysql_native_password",
            Plugin::Sha256 => "sha256_password",
            Plugin::Socket => "auth_socket",
            Plugin::NoLogin => "mysql_no_login",
        }
    }

    /// Is a password kept with the account?
    pub const fn keeps_password(self) -> bool {
        !matches!(self, Plugin::Socket | Plugin::NoLogin)
    }

    /// `None`: error 1524, plugin not loaded.
    pub fn by_name(name: &str) -> Option<Plugin> {
        let all = [Plugin::CachingSha2, Plugin::NativePassword, Plugin::Sha256, Plugin::Socket, Plugin::NoLogin];
        all.into_iter().find(|p| p.name().eq_ignore_ascii_case(name))
    }
}

/// Privileges ON schema.*; `schema` is a pattern with `%`, `_` and `\`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaGrant {
    pub schema: String,
    pub privileges: Privileges,
}

impl SchemaGrant {
    /// How specific the pattern is: the further to the right its first wildcard stands the more, and most without one.
    pub(crate) fn rank(&self) -> usize {
        let mut bytes = self.schema.bytes().enumerate();
        while let Some((at, byte)) = bytes.next() {
            match byte {
                b'%' | b'_' => return at + 1,
                b'\\' => drop(bytes.next()),
                _ => {}
            }
        }
        usize::MAX
    }
}

/// Who granted something last, as `user@host`, and when: seconds since 1970. Empty and 0: it is not known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Granted {
    pub by: String,
    pub at_s: u64,
}

/// PROXY on an account.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProxyGrant {
    pub with_grant: bool,
    pub granted: Granted,
}

/// Privileges ON schema.table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableGrant {
    pub schema: String,
    pub table: String,
    pub privileges: Privileges,
    /// Privileges on columns alone, by column.
    pub columns: BTreeMap<String, Privileges>,
    pub granted: Granted,
}

/// Privileges ON PROCEDURE or FUNCTION schema.name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoutineGrant {
    pub schema: String,
    pub function: bool,
    /// In any letter case.
    pub name: String,
    pub privileges: Privileges,
    pub granted: Granted,
}

impl RoutineGrant {
    pub fn is_on(&self, schema: &str, function: bool, name: &str) -> bool {
        self.schema == schema && self.function == function && self.name.to_lowercase() == name.to_lowercase()
    }
}

/// A password that an account had, or has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OldPassword {
    /// Seconds since 1970.
    pub set_at_s: u64,
    pub hash: Vec<u8>,
}

/// One account. The fields are the columns of `mysql.user`, as far as an account has them here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    pub name: AccountName,
    pub plugin: Plugin,
    /// The stored hash (see [`crate::password`]); empty: no password.
    pub auth_string: Vec<u8>,
    /// RETAIN CURRENT PASSWORD: what was the password before, and still is one; empty: none.
    pub second_auth: Vec<u8>,
    pub requirement: Requirement,
    pub limits: Limits,
    pub rules: PasswordRules,
    pub logins: LoginRules,
    pub locked: bool,
    pub password_expired: bool,
    /// When the password was set, in seconds since 1970.
    pub password_set_at_s: u64,
    /// The present password and those before it, newest first, as far as `rules` ask for them.
    pub passwords: Vec<OldPassword>,
    /// COMMENT and ATTRIBUTE: a JSON object as text; empty: none.
    pub attribute: String,
    pub global: Privileges,
    /// Dynamic privileges; the value says WITH GRANT OPTION.
    pub dynamic: BTreeMap<String, bool>,
    pub schemas: Vec<SchemaGrant>,
    /// Partial revokes: what of `global` does not count in these schemas.
    pub restrictions: BTreeMap<String, Privileges>,
    pub tables: Vec<TableGrant>,
    pub routines: Vec<RoutineGrant>,
    /// Roles granted; the value says WITH ADMIN OPTION.
    pub roles: BTreeMap<AccountName, bool>,
    /// What is active after a login.
    pub default_roles: BTreeSet<AccountName>,
    /// Accounts that it may act for.
    pub proxies: BTreeMap<AccountName, ProxyGrant>,
    /// Of an effective account (see [`Directory::effective`]): what its active roles may hand on.
    pub(crate) administers: BTreeSet<AccountName>,
}

impl Account {
    /// An account as CREATE USER makes it: no password yet, no privileges.
    pub fn new(name: AccountName, plugin: Plugin) -> Account {
        Account {
            name,
            plugin,
            auth_string: Vec::new(),
            second_auth: Vec::new(),
            requirement: Requirement::None,
            limits: Limits::default(),
            rules: PasswordRules::default(),
            logins: LoginRules::default(),
            locked: false,
            password_expired: false,
            password_set_at_s: 0,
            passwords: Vec::new(),
            attribute: String::new(),
            global: Privileges::NONE,
            dynamic: BTreeMap::new(),
            schemas: Vec::new(),
            restrictions: BTreeMap::new(),
            tables: Vec::new(),
            routines: Vec::new(),
            roles: BTreeMap::new(),
            default_roles: BTreeSet::new(),
            proxies: BTreeMap::new(),
            administers: BTreeSet::new(),
        }
    }
}

/// All accounts, in the order in which a client is matched: hosts from specific to general, then named users before the
/// anonymous one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Directory {
    /// Each is shared with former directories, logins and sessions: nobody copies what does not change.
    accounts: Vec<(HostPattern, Arc<Account>)>,
    policy: Policy,
}

impl Directory {
    /// The directory of a first start: `root`@`localhost` with every privilege. The empty password stores none.
    pub fn bootstrap(root_password: &str) -> Directory {
        let mut root = Account::new(AccountName::new("root", "localhost"), Plugin::CachingSha2);
        root.set_password(root_password.as_bytes(), crate::password::now_s());
        root.global = Privileges::GLOBAL;
        root.dynamic = DYNAMIC_PRIVILEGES.iter().map(|name| (name.to_string(), true)).collect();
        root.proxies.insert(AccountName::of_all(), ProxyGrant { with_grant: true, granted: Granted::default() });
        let mut directory = Directory::default();
        directory.put(root);
        directory
    }

    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    pub fn set_policy(&mut self, policy: Policy) {
        self.policy = policy;
    }

    /// Is there an account with a partial revoke?
    pub fn has_restrictions(&self) -> bool {
        self.accounts().any(|a| !a.restrictions.is_empty())
    }

    pub fn accounts(&self) -> impl Iterator<Item = &Account> {
        self.accounts.iter().map(|(_, account)| &**account)
    }

    pub fn get(&self, name: &AccountName) -> Option<&Account> {
        self.shared(name).map(|account| &**account)
    }

    pub(crate) fn shared(&self, name: &AccountName) -> Option<&Arc<Account>> {
        self.accounts.iter().map(|(_, account)| account).find(|a| a.name == *name)
    }

    /// The account that a client is logged in as: the first in order that covers it.
    pub fn find(&self, user: &str, client: &Client) -> Option<&Arc<Account>> {
        self.accounts
            .iter()
            .find(|(host, account)| (account.name.user == user || account.name.user.is_empty()) && host.matches(client))
            .map(|(_, account)| account)
    }

    /// The account that one with this is after its login: the first of those it has PROXY on, while the variables have it so. What proves
    /// a login, and a lock, are the proxy's alone.
    pub fn proxied_by(&self, proxy: &Account) -> Option<&Account> {
        let maps = match proxy.plugin {
            Plugin::CachingSha2 => self.policy.proxies_caching_sha2,
            Plugin::Sha256 => self.policy.proxies_sha256,
            Plugin::NativePassword | Plugin::Socket | Plugin::NoLogin => false,
        };
        let mut named = proxy.proxies.keys().filter(|name| maps && !name.user.is_empty());
        named.find_map(|name| self.get(name))
    }

    /// Adds the account, or replaces the one of this name.
    pub fn put(&mut self, account: Account) {
        self.remove(&account.name);
        self.accounts.push((HostPattern::new(&account.name.host), Arc::new(account)));
        self.accounts.sort_by(|(ha, a), (hb, b)| {
            use std::cmp::Ord;
            ha.rank()
                .cmp(&hb.rank())
                .then_with(|| a.name.user.is_empty().cmp(&b.name.user.is_empty()))
                .then_with(|| a.name.cmp(&b.name))
        });
    }

    /// Removes the account; `None`: there is none of this name.
    pub fn remove(&mut self, name: &AccountName) -> Option<Account> {
        let at = self.accounts.iter().position(|(_, a)| a.name == *name)?;
        Some(Arc::unwrap_or_clone(self.accounts.remove(at).1))
    }

    /// Changes one account. `None`: there is none of this name.
    pub fn change<R>(&mut self, name: &AccountName, f: impl FnOnce(&mut Account) -> R) -> Option<R> {
        let (_, account) = self.accounts.iter_mut().find(|(_, a)| a.name == *name)?;
        let result = f(Arc::make_mut(account));
        debug_assert_eq!(account.name, *name, "renaming is remove and put");
        Some(result)
    }

    /// Changes every account.
    pub fn change_all(&mut self, mut f: impl FnMut(&mut Account)) {
        self.accounts.iter_mut().for_each(|(_, account)| f(Arc::make_mut(account)));
    }

    /// The hosts of all accounts, each once, those that cover most first.
    pub(crate) fn hosts(&self) -> Vec<HostPattern> {
        let mut seen = HashSet::new();
        let mut hosts = Vec::new();
        for (host, account) in self.accounts.iter().rev() {
            if seen.insert(account.name.host.as_str()) {
                hosts.push(host.clone());
            }
        }
        hosts
    }

    /// Users that have accounts, for information_schema and the like.
    pub fn users(&self) -> BTreeSet<&str> {
        self.accounts().map(|a| a.name.user.as_str()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_specific_account_wins() {
        let mut directory = Directory::default();
        for (user, host) in [("joe", "%"), ("", "localhost"), ("joe", "10.0.0.0/8"), ("joe", "10.1.1.1"), ("", "%")] {
            directory.put(Account::new(AccountName::new(user, host), Plugin::NativePassword));
        }
        let find = |user: &str, ip: Option<&str>| {
            let client = Client::new(ip.map(|ip| ip.parse().unwrap()));
            directory.find(user, &client).map(|a| a.name.to_string())
        };
        assert_eq!(find("joe", Some("10.1.1.1")).as_deref(), Some("'joe'@'10.1.1.1'"));
        assert_eq!(find("joe", Some("10.1.1.2")).as_deref(), Some("'joe'@'10.0.0.0/8'"));
        assert_eq!(find("joe", Some("11.1.1.2")).as_deref(), Some("'joe'@'%'"));
        // MySQL's well-known trap: the anonymous account of the more specific host comes first.
        assert_eq!(find("joe", None).as_deref(), Some("''@'localhost'"));
        assert_eq!(find("ann", Some("11.1.1.2")).as_deref(), Some("''@'%'"));
    }
}
