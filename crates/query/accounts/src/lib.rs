//! Users and privileges as immutable snapshots; password hashes and their checks.
//!
//! All accounts stand in one [`Directory`], an immutable value in a snapshot cell. A statement reads it through its
//! session's [`Access`]: one load of a version word that nobody writes to while no account changes, then bit tests. CREATE
//! USER, GRANT and their like build a new directory and swap it in.
//!
//! Must never know sockets, packets, SQL text or where the bytes of [`Directory::to_bytes`] are kept.

mod access;
mod codec;
mod create_text;
mod decoy;
mod directory;
mod grants;
mod host;
mod login;
mod options;
pub mod password;
mod privilege;
mod roles;
pub mod strength;
mod usage;

pub use access::Access;
pub use codec::Corrupt;
pub use create_text::HashForm;
pub use directory::{
    Account, AccountName, Directory, Granted, OldPassword, Plugin, ProxyGrant, RoutineGrant, SchemaGrant, TableGrant,
};
pub use grants::quoted_account;
pub use host::{Client, HostPattern};
pub use login::{Channel, Identity, LoginCheck};
pub use options::{Lifetime, Limits, LockTime, LoginRules, PasswordRules, Policy, Requirement};
pub use password::Scramble;
pub use privilege::{DYNAMIC_PRIVILEGES, Privileges};
pub use usage::{Connected, Usage};

use decoy::Decoys;
use password::Sha2Digest;
use std::collections::HashMap;
use std::hash::RandomState;
use std::sync::Arc;
use sync::Snapshot;
use types::codes::*;
use types::{SqlError, err};
use usage::{Failures, UsageMap};

/// The accounts of one server.
#[derive(Debug)]
pub struct Accounts {
    /// R: every statement, by its session's `Cached`. W: account statements.
    directory: Snapshot<Directory>,
    /// Of the directory. R: logins of who is not there. W: account statements.
    decoys: Snapshot<Decoys>,
    /// Gives each name its place among them.
    names: RandomState,
    /// The hosts of the directory's accounts, each once, general ones first. R: connections. W: account statements.
    hosts: Snapshot<Vec<HostPattern>>,
    /// caching_sha2_password's cache. R: logins. W: an account's first login after a start or a new password.
    sha2_cache: Snapshot<Sha2Cache>,
    /// R: logins to accounts with limits. W: the first of them.
    usage: Snapshot<UsageMap>,
    /// Of accounts with FAILED_LOGIN_ATTEMPTS. R, W: logins to them.
    failures: Snapshot<HashMap<AccountName, Failures>>,
    /// mysql_native_password can be used.
    native_password: bool,
}

/// What a successful full authentication leaves: the hash it proved, and the digest that proves the password from now on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sha2Cache(pub(crate) HashMap<AccountName, (Vec<u8>, Sha2Digest)>);

impl Accounts {
    pub fn new(directory: Directory) -> Accounts {
        Accounts {
            decoys: Snapshot::new(Decoys::of(&directory)),
            names: RandomState::new(),
            hosts: Snapshot::new(directory.hosts()),
            directory: Snapshot::new(directory),
            sha2_cache: Snapshot::new(Sha2Cache::default()),
            usage: Snapshot::new(UsageMap::new()),
            failures: Snapshot::new(HashMap::new()),
            native_password: false,
        }
    }

    /// `--mysql-native-password`
    pub fn with_native_password(self, on: bool) -> Accounts {
        Accounts { native_password: on, ..self }
    }

    /// Can it be used? mysql_native_password only when the server was started so, others once they are installed.
    pub fn has_plugin(&self, plugin: Plugin) -> bool {
        match plugin {
            Plugin::CachingSha2 | Plugin::Sha256 => true,
            Plugin::NativePassword => self.native_password,
            Plugin::Socket => self.directory().policy().auth_socket,
            Plugin::NoLogin => self.directory().policy().no_login,
        }
    }

    /// The plugin that a name is asked for that is no account's.
    pub(crate) fn decoy(&self, user: &str) -> Plugin {
        let plugin = self.decoys.load().plugin(user, &self.names);
        if self.has_plugin(plugin) { plugin } else { Plugin::CachingSha2 }
    }

    /// How many passwords an account of the directory has at most.
    pub(crate) fn passwords_max(&self) -> usize {
        self.decoys.load().passwords_max()
    }

    /// Whether there is any account for a client from there. Error 1130.
    pub fn admits(&self, client: &Client) -> Result<(), SqlError> {
        let covered = self.hosts.load().iter().any(|host| host.matches(client));
        if covered { Ok(()) } else { Err(err!(ER_HOST_NOT_PRIVILEGED, client.host)) }
    }

    /// The current directory. For cold use; statements go through [`Access`].
    pub fn directory(&self) -> Arc<Directory> {
        self.directory.load()
    }

    /// Makes `directory` the current one, after the caller has made it durable. The caller (the account statement in
    /// progress) holds the lock of rank `Accounts`.
    pub fn replace(&self, directory: Directory) {
        self.decoys.store(Arc::new(Decoys::of(&directory)));
        self.hosts.store(Arc::new(directory.hosts()));
        self.directory.store(Arc::new(directory));
    }

    /// The privileges of a session that logged in as `account` from `client_host`. No role is active yet.
    pub fn access(&self, account: AccountName, client_host: &str) -> Access {
        Access::new(self.directory.cached(), account, client_host)
    }

    /// The privileges of a thread of the server itself: all.
    pub fn unlimited(&self) -> Access {
        Access::unlimited(self.directory.cached())
    }

    /// FLUSH PRIVILEGES: each account's next login shows its password anew.
    pub fn forget_sha2(&self) {
        self.sha2_cache.store(Arc::new(Sha2Cache::default()));
    }

    /// As [`Accounts::forget_sha2`], of accounts that are gone.
    pub fn forget_sha2_of(&self, names: &[AccountName]) {
        if names.iter().any(|name| self.sha2_cache.load().0.contains_key(name)) {
            self.sha2_cache.update(|cache| {
                let mut cache = cache.clone();
                cache.0.retain(|name, _| !names.contains(name));
                cache
            });
        }
    }

    /// FLUSH USER_RESOURCES: what accounts with limits have used in this hour is forgotten.
    pub fn reset_usage(&self) {
        self.usage.load().values().for_each(|usage| usage.reset());
    }

    /// The same of one account, which is gone or has other limits.
    pub fn reset_usage_of(&self, account: &AccountName) {
        if let Some(usage) = self.usage.load().get(account) {
            usage.reset();
        }
    }

    /// Failed logins in a row are forgotten: of one account, whose lock was lifted or whose rules changed.
    pub fn forget_failures(&self, account: &AccountName) {
        if !self.failures.load().contains_key(account) {
            return;
        }
        self.failures.update(|failures| {
            let mut failures = failures.clone();
            failures.remove(account);
            failures
        });
    }

    /// As [`Accounts::forget_failures`], of all: FLUSH PRIVILEGES.
    pub fn forget_all_failures(&self) {
        self.failures.store(Arc::new(HashMap::new()));
    }

    fn failed_login(&self, account: &Account, now_s: u64) {
        self.failures.update(|failures| {
            let mut failures = failures.clone();
            let before = failures.get(&account.name).copied().unwrap_or_default();
            // After a block that is over the count begins anew.
            let over = before.count >= account.logins.attempts && before.blocked(&account.logins, now_s).is_none();
            let before = if over { Failures::default() } else { before };
            failures.insert(account.name.clone(), before.another(&account.logins, now_s));
            failures
        });
    }

    fn blocked(&self, account: &Account, now_s: u64) -> Option<(String, String)> {
        self.failures.load().get(&account.name)?.blocked(&account.logins, now_s)
    }

    /// Counts a session of an account with limits, or that `max_user_connections` limits. Errors 1203, 1226.
    fn connect(&self, account: &Account, now_s: u64) -> Result<Option<Connected>, SqlError> {
        let of_all = self.directory().policy().user_connections;
        if account.limits.is_none() && of_all == 0 {
            return Ok(None);
        }
        if !self.usage.load().contains_key(&account.name) {
            self.usage.update(|usage| {
                let mut usage = usage.clone();
                usage.entry(account.name.clone()).or_default();
                usage
            });
        }
        let usage = self.usage.load();
        let usage = usage.get(&account.name).expect("made above, and none is ever removed");
        usage.connect(&account.name.user, &account.limits, of_all, now_s).map(Some)
    }

    pub(crate) fn snapshot(&self) -> &Snapshot<Directory> {
        &self.directory
    }

    pub(crate) fn sha2_cache(&self) -> &Snapshot<Sha2Cache> {
        &self.sha2_cache
    }
}
