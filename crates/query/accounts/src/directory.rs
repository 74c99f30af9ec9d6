//! The directory: every account with its grants, immutable once published.

use crate::host::{Client, HostPattern};
use crate::privilege::{DYNAMIC_PRIVILEGES, Privileges};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use types::SqlError;

/// `'user'@'host'`. Users are case-sensitive, hosts are kept in lower case.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AccountName {
    pub user: String,
    pub host: String,
}

impl AccountName {
    /// An empty host is `%`.
    pub fn new(user: impl Into<String>, host: &str) -> AccountName {
        let host = if host.is_empty() { "%".to_string() } else { host.to_ascii_lowercase() };
        AccountName { user: user.into(), host }
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
}

impl Plugin {
    pub const fn name(self) -> &'static str {
        match self {
            Plugin::CachingSha2 => "caching_sha2_password",
            Plugin::NativePassword => "mysql_native_password",
        }
    }

    /// `None`: error 1524, plugin not loaded.
    pub fn by_name(name: &str) -> Option<Plugin> {
        [Plugin::CachingSha2, Plugin::NativePassword].into_iter().find(|p| p.name().eq_ignore_ascii_case(name))
    }
}

/// What the connection of an account must be (REQUIRE).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Requirement {
    #[default]
    None,
    Ssl,
}

/// Privileges ON schema.*; `schema` is a pattern with `%`, `_` and `\`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaGrant {
    pub schema: String,
    pub privileges: Privileges,
}

/// Privileges ON schema.table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableGrant {
    pub schema: String,
    pub table: String,
    pub privileges: Privileges,
}

/// One account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    pub name: AccountName,
    pub plugin: Plugin,
    /// The stored hash (see [`crate::password`]); empty: no password.
    pub auth_string: Vec<u8>,
    pub requirement: Requirement,
    pub locked: bool,
    pub password_expired: bool,
    pub global: Privileges,
    /// Dynamic privileges; the value says WITH GRANT OPTION.
    pub dynamic: BTreeMap<String, bool>,
    pub schemas: Vec<SchemaGrant>,
    pub tables: Vec<TableGrant>,
}

impl Account {
    /// An account as CREATE USER makes it: no password yet, no privileges.
    pub fn new(name: AccountName, plugin: Plugin) -> Account {
        Account {
            name,
            plugin,
            auth_string: Vec::new(),
            requirement: Requirement::None,
            locked: false,
            password_expired: false,
            global: Privileges::NONE,
            dynamic: BTreeMap::new(),
            schemas: Vec::new(),
            tables: Vec::new(),
        }
    }

    /// IDENTIFIED BY 'password': stores its hash, ends an expiry.
    pub fn set_password(&mut self, password: &[u8]) {
        self.auth_string = match self.plugin {
            Plugin::CachingSha2 => crate::password::hash_sha2(password),
            Plugin::NativePassword => crate::password::hash_native(password),
        };
        self.password_expired = false;
    }

    /// IDENTIFIED WITH plugin AS 'hash'. Error 1827 when it is no hash of the plugin.
    pub fn set_hash(&mut self, hash: &[u8]) -> Result<(), SqlError> {
        let valid = match self.plugin {
            Plugin::CachingSha2 => crate::password::is_sha2_hash(hash),
            Plugin::NativePassword => crate::password::is_native_hash(hash),
        };
        if !valid {
            return Err(SqlError::new(1827, "The password hash doesn't have the expected format."));
        }
        self.auth_string = hash.to_vec();
        self.password_expired = false;
        Ok(())
    }
}

/// All accounts, in the order in which a client is matched: hosts from specific to general, then named users before the
/// anonymous one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Directory {
    accounts: Vec<(HostPattern, Account)>,
}

impl Directory {
    /// The directory of a first start: `root`@`localhost` with every privilege. The empty password stores none.
    pub fn bootstrap(root_password: &str) -> Directory {
        let mut root = Account::new(AccountName::new("root", "localhost"), Plugin::CachingSha2);
        root.set_password(root_password.as_bytes());
        root.global = Privileges::GLOBAL;
        root.dynamic = DYNAMIC_PRIVILEGES.iter().map(|name| (name.to_string(), true)).collect();
        let mut directory = Directory::default();
        directory.put(root);
        directory
    }

    pub fn accounts(&self) -> impl Iterator<Item = &Account> {
        self.accounts.iter().map(|(_, account)| account)
    }

    pub fn get(&self, name: &AccountName) -> Option<&Account> {
        self.accounts().find(|a| a.name == *name)
    }

    /// The account that a client is logged in as: the first in order that covers it.
    pub fn find(&self, user: &str, client: &Client) -> Option<&Account> {
        self.accounts
            .iter()
            .find(|(host, account)| (account.name.user == user || account.name.user.is_empty()) && host.matches(client))
            .map(|(_, account)| account)
    }

    /// Adds the account, or replaces the one of this name.
    pub fn put(&mut self, account: Account) {
        self.remove(&account.name);
        self.accounts.push((HostPattern::new(&account.name.host), account));
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
        Some(self.accounts.remove(at).1)
    }

    /// Changes one account. `None`: there is none of this name.
    pub fn change<R>(&mut self, name: &AccountName, f: impl FnOnce(&mut Account) -> R) -> Option<R> {
        let (_, account) = self.accounts.iter_mut().find(|(_, a)| a.name == *name)?;
        let result = f(account);
        debug_assert_eq!(account.name, *name, "renaming is remove and put");
        Some(result)
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
