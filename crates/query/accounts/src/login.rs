//! One login: which account a client gets, and whether it proves the password. The packets are somebody else's work.

use crate::directory::{Account, AccountName, Plugin};
use crate::host::Client;
use crate::options::Requirement;
use crate::password::{self, Scramble};
use crate::usage::Connected;
use crate::{Accounts, Sha2Cache};
use std::sync::{Arc, LazyLock};
use types::codes::*;
use types::{SqlError, err};

/// The stored password of accounts that are not there. No client knows it.
static NOBODY: LazyLock<Vec<u8>> = LazyLock::new(|| password::hash_sha2(password::random_password(20).as_bytes()));
/// The same with mysql_native_password.
static NOBODY_NATIVE: LazyLock<Vec<u8>> =
    LazyLock::new(|| password::hash_native(password::random_password(20).as_bytes()));

/// Who a client turned out to be.
#[derive(Debug)]
pub struct Identity {
    /// USER(): what the client called itself, and where it is.
    pub user: String,
    pub client_host: String,
    /// CURRENT_USER(): the account that covers it.
    pub account: AccountName,
    /// Only ALTER USER and SET PASSWORD are allowed until the password is new (error 1820).
    pub password_expired: bool,
    /// What proved who it is, where it is `account` by proxy.
    pub proxy_user: Option<AccountName>,
    /// What the plugin knows the client by.
    pub external_user: Option<String>,
    /// Of an account with limits: held until the session ends.
    pub connected: Option<Connected>,
}

/// What REQUIRE asks of a connection under TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Channel<'a> {
    pub cipher: &'a str,
    /// Subject and issuer of the client's certificate, which is valid.
    pub client: Option<(&'a str, &'a str)>,
}

impl Requirement {
    fn is_met(&self, tls: Option<Channel<'_>>) -> bool {
        let Some(tls) = tls else { return *self == Requirement::None };
        match self {
            Requirement::None | Requirement::Ssl => true,
            Requirement::X509 => tls.client.is_some(),
            Requirement::Specified { subject, issuer, cipher } => {
                let fits = |asked: &str, found: &str| asked.is_empty() || asked == found;
                let (of_subject, of_issuer) = tls.client.unwrap_or_default();
                fits(cipher, tls.cipher) && fits(subject, of_subject) && fits(issuer, of_issuer)
            }
        }
    }
}

/// Checks the steps of one authentication exchange against the accounts.
#[derive(Debug)]
pub struct LoginCheck<'a> {
    accounts: &'a Accounts,
    client: Client,
    user: String,
    account: Option<Arc<Account>>,
    /// The account's plugin, which the server has not loaded: nobody logs in then.
    not_loaded: Option<Plugin>,
    /// What the plugin knows the client by.
    external_user: Option<String>,
}

impl<'a> LoginCheck<'a> {
    pub fn new(accounts: &'a Accounts, client: Client) -> LoginCheck<'a> {
        LoginCheck { accounts, client, user: String::new(), account: None, not_loaded: None, external_user: None }
    }

    /// Looks for the account. An unknown user gets a plugin too ([`crate::decoy`]) and fails every check: nobody learns who exists.
    pub fn begin(&mut self, user: &str) -> Plugin {
        self.user = user.to_string();
        self.account = self.accounts.directory().find(user, &self.client).cloned();
        let plugin = self.account.as_ref().map_or_else(|| self.accounts.decoy(user), |a| a.plugin);
        if !self.accounts.has_plugin(plugin) {
            (self.account, self.not_loaded) = (None, Some(plugin));
            return Plugin::CachingSha2;
        }
        plugin
    }

    pub fn empty_password(&self) -> bool {
        self.account.as_ref().is_some_and(|a| a.auth_string.is_empty())
    }

    pub fn native(&self, scramble: &Scramble, reply: &[u8; 20]) -> bool {
        let Some(account) = self.account.as_ref().filter(|a| !a.auth_string.is_empty()) else {
            // As in `sha2_full`.
            std::hint::black_box(password::verify_native(&NOBODY_NATIVE, scramble, reply));
            return false;
        };
        [&account.auth_string, &account.second_auth]
            .iter()
            .any(|stored| password::verify_native(stored, scramble, reply))
    }

    /// True: the cache proves it. False: the full exchange must.
    pub fn sha2_fast(&self, scramble: &Scramble, reply: &[u8; 32]) -> bool {
        let Some(account) = &self.account else { return false };
        match self.accounts.sha2_cache().load().0.get(&account.name) {
            Some((stored, digest)) if *stored == account.auth_string || *stored == account.second_auth => {
                password::verify_sha2_fast(digest, scramble, reply)
            }
            _ => false,
        }
    }

    /// Checks the password itself and remembers its digest.
    pub fn sha2_full(&self, password: &[u8]) -> bool {
        let account = self.account.as_ref().filter(|a| !a.auth_string.is_empty());
        let both = account.map(|a| [&a.auth_string, &a.second_auth]).into_iter().flatten().filter(|s| !s.is_empty());
        let found = both.clone().find(|stored| password::verify_sha2(stored, password));
        let (Some(account), Some(stored)) = (account, found) else {
            // A refusal takes as long whether there is an account or not, and whether it has one password or two: nobody learns who
            // exists. The compiler must not see that nobody asks for the outcome.
            for _ in both.count()..self.accounts.passwords_max() {
                std::hint::black_box(password::verify_sha2(&NOBODY, password));
            }
            return false;
        };
        if account.plugin != Plugin::CachingSha2 {
            return true;
        }
        let digest = password::sha2_digest(password);
        self.accounts.sha2_cache().update(|cache| {
            let mut cache = Sha2Cache(cache.0.clone());
            cache.0.insert(account.name.clone(), (stored.clone(), digest));
            cache
        });
        true
    }

    /// auth_socket: the machine's user has the account's name, or the one that stands in place of its password. `None`: there is none.
    pub fn socket(&mut self, machine_user: Option<&str>) -> bool {
        let (Some(account), Some(name)) = (&self.account, machine_user) else { return false };
        let accepted = name == self.user || name.as_bytes() == account.auth_string;
        self.external_user = accepted.then(|| name.to_string());
        accepted
    }

    /// The account that was found for the client; `None`: there is none, or its plugin is not loaded.
    pub fn account(&self) -> Option<&AccountName> {
        self.account.as_ref().map(|a| &a.name)
    }

    /// After a check failed with `error`, or the client went away before the exchange ended: counts it, if the account has
    /// FAILED_LOGIN_ATTEMPTS, so that nobody tries passwords unseen. Once it is blocked error 3955 stands in place of one of the password,
    /// and error 1524 when the account's plugin is not loaded.
    pub fn refused(&self, error: SqlError) -> SqlError {
        if let Some(plugin) = self.not_loaded {
            return err!(ER_PLUGIN_IS_NOT_LOADED, plugin.name());
        }
        let Some(account) = self.account.as_ref().filter(|account| account.logins.block()) else { return error };
        self.accounts.failed_login(account, password::now_s());
        let is_of_password = matches!(error.code, ER_ACCESS_DENIED_ERROR | ER_ACCESS_DENIED_NO_PASSWORD_ERROR);
        self.blocked(account).filter(|_| is_of_password).unwrap_or(error)
    }

    /// What the client calls itself.
    pub fn user(&self) -> &str {
        &self.user
    }

    fn blocked(&self, account: &Account) -> Option<SqlError> {
        let (days, left) = self.accounts.blocked(account, password::now_s())?;
        Some(err!(
            ER_USER_ACCESS_DENIED_FOR_USER_ACCOUNT_BLOCKED_BY_PASSWORD_LOCK,
            self.user,
            self.client.host,
            days,
            left,
            account.logins.attempts
        ))
    }

    /// After a check succeeded: the identity, or why the account may not log in now (3118 locked, 3955 blocked, 1045 without
    /// TLS or certificate, 1226 too many sessions).
    pub fn finish(mut self, tls: Option<Channel<'_>>) -> Result<Identity, SqlError> {
        let account = self.account.take().expect("a check succeeded, so there is an account");
        if account.logins.block() {
            if let Some(error) = self.blocked(&account) {
                return Err(error);
            }
            self.accounts.forget_failures(&account.name);
        }
        let LoginCheck { accounts, client, user, external_user, .. } = self;
        if account.locked {
            return Err(err!(ER_ACCOUNT_HAS_BEEN_LOCKED, user, client.host));
        }
        if !account.requirement.is_met(tls) {
            return Err(err!(ER_ACCESS_DENIED_ERROR, user, client.host, "YES"));
        }
        let directory = accounts.directory();
        let password_expired = account.must_change_password(directory.policy(), password::now_s());
        let proxied = directory.proxied_by(&account);
        let connected = accounts.connect(proxied.unwrap_or(&account), password::now_s())?;
        let (account, proxy_user) = match proxied {
            Some(proxied) => (proxied.name.clone(), Some(account.name.clone())),
            None => (account.name.clone(), None),
        };
        Ok(Identity { user, client_host: client.host, password_expired, account, proxy_user, external_user, connected })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Directory;
    use sha2::{Digest, Sha256};

    fn fast_reply(password: &[u8], scramble: &Scramble) -> [u8; 32] {
        let first = Sha256::digest(password);
        let mut reply: [u8; 32] =
            Sha256::new().chain_update(Sha256::digest(first)).chain_update(scramble).finalize().into();
        for (r, f) in reply.iter_mut().zip(first) {
            *r ^= f;
        }
        reply
    }

    #[test]
    fn a_full_login_makes_the_next_one_fast_until_the_password_changes() {
        let accounts = Accounts::new(Directory::bootstrap("secret"));
        let scramble = *b"abcdefghijklmnopqrst";
        let reply = fast_reply(b"secret", &scramble);
        let mut check = LoginCheck::new(&accounts, Client::new(None));
        assert_eq!(check.begin("root"), Plugin::CachingSha2);
        assert!(!check.empty_password() && !check.sha2_fast(&scramble, &reply));
        assert!(!check.sha2_full(b"guess") && check.sha2_full(b"secret") && check.sha2_fast(&scramble, &reply));
        assert_eq!(check.finish(None).unwrap().account.to_string(), "'root'@'localhost'");

        let mut directory = Directory::clone(&accounts.directory());
        let root = AccountName::new("root", "localhost");
        directory.change(&root, |a| a.set_password(b"other", 0)).unwrap();
        directory.change(&root, |a| a.locked = true).unwrap();
        accounts.replace(directory);
        let mut check = LoginCheck::new(&accounts, Client::new(None));
        check.begin("root");
        assert!(!check.sha2_fast(&scramble, &reply), "the cache knows the old password only");
        assert!(check.sha2_full(b"other"));
        assert_eq!(check.finish(None).unwrap_err().code, ER_ACCOUNT_HAS_BEEN_LOCKED);
        let mut check = LoginCheck::new(&accounts, Client::new(Some("10.0.0.1".parse().unwrap())));
        check.begin("root");
        assert!(!check.empty_password() && !check.sha2_full(b"other"), "no such account from there");
    }

    #[test]
    fn what_is_required_of_a_connection() {
        let bare = Channel { cipher: "C", client: None };
        let shown = Channel { client: Some(("/CN=a", "/CN=b")), ..bare };
        let specified = |subject: &str, issuer: &str, cipher: &str| Requirement::Specified {
            subject: subject.to_string(),
            issuer: issuer.to_string(),
            cipher: cipher.to_string(),
        };
        for (requirement, without, with, with_certificate) in [
            (Requirement::None, true, true, true),
            (Requirement::Ssl, false, true, true),
            (Requirement::X509, false, false, true),
            (specified("", "", "C"), false, true, true),
            (specified("", "", "D"), false, false, false),
            (specified("/CN=a", "", ""), false, false, true),
            (specified("/CN=a", "/CN=b", "C"), false, false, true),
            (specified("/CN=a", "/CN=c", ""), false, false, false),
        ] {
            let met = [None, Some(bare), Some(shown)].map(|tls| requirement.is_met(tls));
            assert_eq!(met, [without, with, with_certificate], "{requirement:?}");
        }
    }

    #[test]
    fn native_passwords_log_nobody_in_unless_the_plugin_is_loaded() {
        let mut directory = Directory::default();
        directory.put(Account::new(AccountName::new("old", "%"), Plugin::NativePassword));
        let accounts = Accounts::new(directory.clone());
        let mut check = LoginCheck::new(&accounts, Client::new(None));
        assert_eq!(check.begin("old"), Plugin::CachingSha2);
        assert!(!check.empty_password());
        assert_eq!(check.refused(SqlError::new(ER_ACCESS_DENIED_ERROR, "")).code, ER_PLUGIN_IS_NOT_LOADED);
        let accounts = Accounts::new(directory).with_native_password(true);
        let mut check = LoginCheck::new(&accounts, Client::new(None));
        assert_eq!((check.begin("old"), check.empty_password()), (Plugin::NativePassword, true));
    }
}
