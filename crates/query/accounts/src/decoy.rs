//! Which plugin a name that is no account's is asked for, so that nobody learns by it who exists.
//!
//! Each name has one for as long as the server runs, as in MySQL, and of all names as many have a plugin as accounts do: where
//! all have caching_sha2_password, so has whoever is not there.

use crate::{Directory, Plugin};
use std::hash::{BuildHasher, RandomState};

#[derive(Debug)]
pub struct Decoys {
    /// How many accounts have a password, with the first one, two, three plugins of [`ORDER`].
    accounts: [u32; ORDER.len()],
    /// An account has kept its former password beside the present one.
    has_second: bool,
}

/// In this order they share out the hashes of names.
const ORDER: [Plugin; 3] = [Plugin::CachingSha2, Plugin::NativePassword, Plugin::Sha256];

impl Decoys {
    pub fn of(directory: &Directory) -> Decoys {
        let mut accounts = [0; ORDER.len()];
        let mut has_second = false;
        for account in directory.accounts() {
            has_second |= !account.second_auth.is_empty();
            for (count, plugin) in accounts.iter_mut().zip(ORDER) {
                *count += u32::from(account.plugin == plugin);
            }
        }
        accounts[1] += accounts[0];
        accounts[2] += accounts[1];
        Decoys { accounts, has_second }
    }

    /// As many as a refusal seems to have looked at, whoever is refused.
    pub fn passwords_max(&self) -> usize {
        1 + usize::from(self.has_second)
    }

    /// `names` hashes the same way from start to end of a server.
    pub fn plugin(&self, user: &str, names: &RandomState) -> Plugin {
        let all = u64::from(self.accounts[ORDER.len() - 1]);
        // A name keeps its place from 0 to `all` when accounts come and go, so that few plugins change.
        let place = ((names.hash_one(user) >> 32) * all) >> 32;
        let at = self.accounts.iter().position(|count| place < u64::from(*count));
        at.map_or(Plugin::CachingSha2, |at| ORDER[at])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Account, AccountName};

    fn plugins(directory: &Directory, names: &RandomState) -> Vec<Plugin> {
        let decoys = Decoys::of(directory);
        (0..1000).map(|n| decoys.plugin(&format!("nobody{n}"), names)).collect()
    }

    #[test]
    fn names_have_plugins_as_accounts_have_them_and_keep_them() {
        let names = RandomState::new();
        let mut directory = Directory::bootstrap("secret");
        assert!(plugins(&directory, &names).iter().all(|plugin| *plugin == Plugin::CachingSha2));
        for n in 0..3 {
            directory.put(Account::new(AccountName::new(format!("n{n}"), "%"), Plugin::NativePassword));
        }
        let some = plugins(&directory, &names);
        assert_eq!(some, plugins(&directory, &names));
        let natives = some.iter().filter(|plugin| **plugin == Plugin::NativePassword).count();
        assert!((650..850).contains(&natives), "{natives} of 1000 where three of four accounts have it");
        directory.put(Account::new(AccountName::new("nobody", "%"), Plugin::NoLogin));
        assert_eq!(some, plugins(&directory, &names), "who has no password is no model");
        assert_eq!(Decoys::of(&directory).passwords_max(), 1);
        let mut kept = Account::new(AccountName::new("kept", "%"), Plugin::CachingSha2);
        kept.second_auth = b"hash".to_vec();
        directory.put(kept);
        assert_eq!(Decoys::of(&directory).passwords_max(), 2);
        assert!(plugins(&Directory::default(), &names).iter().all(|plugin| *plugin == Plugin::CachingSha2));
    }
}
