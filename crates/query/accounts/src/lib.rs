//! Users and privileges as immutable snapshots; password hashes and their checks.
//!
//! All accounts stand in one [`Directory`], an immutable value in a snapshot cell. A statement reads it through its
//! session's [`Access`]: one load of a version word that nobody writes to while no account changes, then bit tests. CREATE
//! USER, GRANT and their like build a new directory and swap it in.
//!
//! Must never know sockets, packets, SQL text or where the bytes of [`Directory::to_bytes`] are kept.

mod access;
mod codec;
mod directory;
mod grants;
mod host;
mod login;
pub mod password;
mod privilege;

pub use access::Access;
pub use codec::Corrupt;
pub use directory::{Account, AccountName, Directory, Plugin, Requirement, SchemaGrant, TableGrant};
pub use host::{Client, HostPattern};
pub use login::{Identity, LoginCheck};
pub use password::Scramble;
pub use privilege::{DYNAMIC_PRIVILEGES, Privileges};

use password::Sha2Digest;
use std::collections::HashMap;
use std::sync::Arc;
use sync::Snapshot;

/// The accounts of one server.
#[derive(Debug)]
pub struct Accounts {
    /// R: every statement, by its session's `Cached`. W: account statements.
    directory: Snapshot<Directory>,
    /// caching_sha2_password's cache. R: logins. W: an account's first login after a start or a new password.
    sha2_cache: Snapshot<Sha2Cache>,
}

/// What a successful full authentication leaves: the hash it proved, and the digest that proves the password from now on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sha2Cache(pub(crate) HashMap<AccountName, (Vec<u8>, Sha2Digest)>);

impl Accounts {
    pub fn new(directory: Directory) -> Accounts {
        Accounts { directory: Snapshot::new(directory), sha2_cache: Snapshot::new(Sha2Cache::default()) }
    }

    /// The current directory. For cold use; statements go through [`Access`].
    pub fn directory(&self) -> Arc<Directory> {
        self.directory.load()
    }

    /// Makes `directory` the current one, after the caller has made it durable. The caller (the account statement in
    /// progress) holds the lock of rank `Accounts`.
    pub fn replace(&self, directory: Directory) {
        self.directory.store(Arc::new(directory));
    }

    /// The privileges of a session that logged in as `account`.
    pub fn access(&self, account: AccountName) -> Access {
        Access::new(self.directory.cached(), account)
    }

    pub(crate) fn snapshot(&self) -> &Snapshot<Directory> {
        &self.directory
    }

    pub(crate) fn sha2_cache(&self) -> &Snapshot<Sha2Cache> {
        &self.sha2_cache
    }
}
