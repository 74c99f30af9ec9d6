//! Password hashes of the two authentication plugins: as stored, as proved over the wire.
//!
//! ```text
//!  caching_sha2_password  "$A$005$" | salt 20 | 43 digits: SHA-crypt (SHA-256, 5 x 1000 rounds)
//!  sha256_password        "$5$" | salt 20 | "$" | 43 digits of the same, 5,000 rounds
//!  mysql_native_password  "*" | 40 hexadecimal digits of SHA1(SHA1(password))
//!  empty                  no password
//! ```

use crate::directory::{Account, AccountName, OldPassword, Plugin};
use crate::options::{Lifetime, Policy};
use sha1::Sha1;
use sha2::{Digest, Sha256};
use types::codes::*;
use types::{SqlError, err};

pub type Scramble = [u8; 20];
/// SHA256(SHA256(password)): what the cache of caching_sha2_password keeps.
pub type Sha2Digest = [u8; 32];

const PREFIX: &[u8] = b"$A$";
const PREFIX_SHA256: &[u8] = b"$5$";
const SALT_BYTES: usize = 20;
const HASH_DIGITS: usize = 43;
/// `005`: thousands of rounds, in hexadecimal.
const DEFAULT_ROUNDS: u32 = 5000;
const MAX_ROUNDS: u32 = 0xfff * 1000;

const DAY_S: u64 = 86_400;

impl Account {
    /// IDENTIFIED BY 'password': stores its hash, ends an expiry. `now_s`: seconds since 1970.
    pub fn set_password(&mut self, password: &[u8], now_s: u64) {
        let hash = match self.plugin {
            Plugin::CachingSha2 => hash_sha2(password),
            Plugin::NativePassword => hash_native(password),
            Plugin::Sha256 => hash_sha256(password),
            // As in MySQL: what they go by is said by AS.
            Plugin::Socket | Plugin::NoLogin => Vec::new(),
        };
        self.take_hash(hash, now_s);
    }

    /// IDENTIFIED WITH plugin AS 'hash'. Error 1827 when it is no hash of the plugin.
    pub fn set_hash(&mut self, hash: &[u8], now_s: u64) -> Result<(), SqlError> {
        let valid = match self.plugin {
            Plugin::CachingSha2 => is_sha2_hash(hash),
            Plugin::NativePassword => is_native_hash(hash),
            Plugin::Sha256 => is_sha256_hash(hash),
            Plugin::Socket | Plugin::NoLogin => true,
        };
        if !valid {
            return Err(err!(ER_PASSWORD_FORMAT));
        }
        self.take_hash(hash.to_vec(), now_s);
        Ok(())
    }

    fn take_hash(&mut self, hash: Vec<u8>, now_s: u64) {
        self.auth_string = hash;
        self.password_expired = false;
        self.password_set_at_s = now_s;
    }

    /// Is this the password, or the second one?
    pub fn proves(&self, password: &[u8]) -> bool {
        self.is_hash_of(&self.auth_string, password)
            || (!self.second_auth.is_empty() && self.is_hash_of(&self.second_auth, password))
    }

    fn is_hash_of(&self, stored: &[u8], password: &[u8]) -> bool {
        match self.plugin {
            _ if stored.is_empty() => password.is_empty(),
            Plugin::CachingSha2 | Plugin::Sha256 => verify_sha2(stored, password),
            Plugin::NativePassword => hash_native(password) == stored,
            Plugin::Socket | Plugin::NoLogin => false,
        }
    }

    /// PASSWORD HISTORY and REUSE INTERVAL: may `password` be the next one? Error 3638.
    pub fn check_history(&self, password: &[u8], policy: &Policy, now_s: u64) -> Result<(), SqlError> {
        let kept = self.passwords.iter().enumerate().filter(|(at, old)| self.counts(*at, old, policy, now_s));
        for (_, old) in kept {
            if self.is_hash_of(&old.hash, password) {
                let AccountName { user, host } = &self.name;
                return Err(err!(ER_CREDENTIALS_CONTRADICT_TO_HISTORY, user, host));
            }
        }
        Ok(())
    }

    /// The password that was just set joins the history, which forgets what no rule asks for.
    pub fn remember_password(&mut self, policy: &Policy, now_s: u64) {
        let present = OldPassword { set_at_s: self.password_set_at_s, hash: self.auth_string.clone() };
        let mut passwords = std::mem::take(&mut self.passwords);
        passwords.insert(0, present);
        let mut at = 0;
        passwords.retain(|old| {
            at += 1;
            self.counts(at - 1, old, policy, now_s)
        });
        self.passwords = passwords;
    }

    /// Do the rules ask for password `at` of the history?
    fn counts(&self, at: usize, old: &OldPassword, policy: &Policy, now_s: u64) -> bool {
        let days = u64::from(self.rules.reuse_days.unwrap_or(policy.reuse_days));
        at < self.rules.history.unwrap_or(policy.history) as usize || old.set_at_s + days * DAY_S > now_s
    }

    /// Has the password to be changed before anything else?
    pub fn must_change_password(&self, policy: &Policy, now_s: u64) -> bool {
        let days = match self.rules.lifetime {
            _ if self.password_expired => return true,
            Lifetime::Default => policy.lifetime_days,
            Lifetime::Never => 0,
            Lifetime::Days(days) => days,
        };
        days > 0 && self.password_set_at_s + u64::from(days) * DAY_S <= now_s
    }
}

/// Seconds since 1970.
pub fn now_s() -> u64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |d| d.as_secs())
}

/// The stored form of a password for caching_sha2_password, with a fresh salt. The empty password is stored as nothing.
pub fn hash_sha2(password: &[u8]) -> Vec<u8> {
    if password.is_empty() {
        return Vec::new();
    }
    let salt = random_salt();
    let mut stored = b"$A$005$".to_vec();
    stored.extend_from_slice(&salt);
    stored.extend_from_slice(&sha_crypt(password, &salt, DEFAULT_ROUNDS));
    stored
}

/// As [`hash_sha2`], for sha256_password.
fn hash_sha256(password: &[u8]) -> Vec<u8> {
    if password.is_empty() {
        return Vec::new();
    }
    let salt = random_salt();
    let mut stored = PREFIX_SHA256.to_vec();
    stored.extend_from_slice(&salt);
    stored.push(b'$');
    stored.extend_from_slice(&sha_crypt(password, &salt, DEFAULT_ROUNDS));
    stored
}

fn random_salt() -> [u8; SALT_BYTES] {
    let mut salt = [0; SALT_BYTES];
    fill_random(&mut salt);
    for byte in &mut salt {
        // Printable, neither NUL nor `$`: the salt stands in a string.
        *byte &= 0x7f;
        if *byte == 0 || *byte == b'$' {
            *byte += 1;
        }
    }
    salt
}

/// Some milliseconds of hashing.
pub fn verify_sha2(stored: &[u8], password: &[u8]) -> bool {
    let Some((rounds, salt, hash)) = parse_sha2(stored) else { return false };
    constant_time_eq(&sha_crypt(password, salt, rounds), hash)
}

/// Whether `stored` can be a hash of caching_sha2_password (`CREATE USER ... IDENTIFIED WITH ... AS 'hash'`).
pub fn is_sha2_hash(stored: &[u8]) -> bool {
    stored.is_empty() || stored.starts_with(PREFIX) && parse_sha2(stored).is_some()
}

fn is_sha256_hash(stored: &[u8]) -> bool {
    stored.is_empty() || stored.starts_with(PREFIX_SHA256) && parse_sha2(stored).is_some()
}

/// Rounds, salt and digits.
fn parse_sha2(stored: &[u8]) -> Option<(u32, &[u8], &[u8])> {
    if let Some(rest) = stored.strip_prefix(PREFIX_SHA256) {
        let (salt, rest) = rest.split_at_checked(SALT_BYTES)?;
        let digits = rest.strip_prefix(b"$").filter(|digits| digits.len() == HASH_DIGITS)?;
        return Some((DEFAULT_ROUNDS, salt, digits));
    }
    let rest = stored.strip_prefix(PREFIX)?;
    let (rounds, rest) = rest.split_at_checked(3)?;
    let rounds = u32::from_str_radix(std::str::from_utf8(rounds).ok()?, 16).ok()? * 1000;
    let rest = rest.strip_prefix(b"$")?;
    let in_range = (DEFAULT_ROUNDS..=MAX_ROUNDS).contains(&rounds);
    (in_range && rest.len() == SALT_BYTES + HASH_DIGITS).then(|| (rounds, &rest[..SALT_BYTES], &rest[SALT_BYTES..]))
}

/// What the cache keeps of a password.
pub fn sha2_digest(password: &[u8]) -> Sha2Digest {
    Sha256::digest(Sha256::digest(password)).into()
}

/// Checks the fast reply `SHA256(password) XOR SHA256(SHA256(SHA256(password)) + scramble)` against the cached digest.
pub fn verify_sha2_fast(digest: &Sha2Digest, scramble: &Scramble, reply: &[u8; 32]) -> bool {
    let mut first: [u8; 32] = Sha256::new().chain_update(digest).chain_update(scramble).finalize().into();
    xor(&mut first, reply);
    constant_time_eq(&Sha256::digest(first), digest)
}

/// The stored form of a password for mysql_native_password.
pub fn hash_native(password: &[u8]) -> Vec<u8> {
    if password.is_empty() {
        return Vec::new();
    }
    let digest = Sha1::digest(Sha1::digest(password));
    let mut stored = vec![b'*'];
    for byte in digest {
        stored.extend_from_slice(format!("{byte:02X}").as_bytes());
    }
    stored
}

pub fn is_native_hash(stored: &[u8]) -> bool {
    stored.is_empty() || parse_native(stored).is_some()
}

/// Checks the reply `SHA1(password) XOR SHA1(scramble + SHA1(SHA1(password)))`.
pub fn verify_native(stored: &[u8], scramble: &Scramble, reply: &[u8; 20]) -> bool {
    let Some(digest) = parse_native(stored) else { return false };
    let mut first: [u8; 20] = Sha1::new().chain_update(scramble).chain_update(digest).finalize().into();
    xor(&mut first, reply);
    constant_time_eq(&Sha1::digest(first), &digest)
}

fn parse_native(stored: &[u8]) -> Option<[u8; 20]> {
    let digits = stored.strip_prefix(b"*").filter(|d| d.len() == 40)?;
    let mut digest = [0; 20];
    for (byte, pair) in digest.iter_mut().zip(digits.chunks(2)) {
        let digit = |d: u8| (d as char).to_digit(16);
        *byte = (digit(pair[0])? << 4 | digit(pair[1])?) as u8;
    }
    Some(digest)
}

/// A password of `length` characters from letters, digits and signs: 16 for root's first start, 20 for RANDOM PASSWORD.
pub fn random_password(length: usize) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnpqrstuvwxyz23456789+-_.,:!=";
    let mut bytes = vec![0; length];
    fill_random(&mut bytes);
    bytes.iter().map(|b| ALPHABET[usize::from(b & 63)] as char).collect()
}

fn fill_random(bytes: &mut [u8]) {
    getrandom::fill(bytes).expect("the system has a source of random bytes");
}

fn xor(a: &mut [u8], b: &[u8]) {
    for (a, b) in a.iter_mut().zip(b) {
        *a ^= b;
    }
}

/// Takes as long for equal as for different bytes.
fn constant_time_eq(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && std::hint::black_box(a.iter().zip(b).fold(0, |acc, (a, b)| acc | (a ^ b))) == 0
}

/// Ulrich Drepper's SHA-crypt with SHA-256, for salts of any length: 43 digits.
fn sha_crypt(password: &[u8], salt: &[u8], rounds: u32) -> [u8; HASH_DIGITS] {
    let len = password.len();
    let b: [u8; 32] = Sha256::new().chain_update(password).chain_update(salt).chain_update(password).finalize().into();
    let mut a = Sha256::new().chain_update(password).chain_update(salt);
    a.update(repeated(&b, len));
    let mut bits = len;
    while bits > 0 {
        if bits & 1 == 1 {
            a.update(b)
        } else {
            a.update(password)
        }
        bits >>= 1;
    }
    let mut a: [u8; 32] = a.finalize().into();

    let mut dp = Sha256::new();
    for _ in 0..len {
        dp.update(password);
    }
    let p = repeated(&dp.finalize().into(), len);
    let mut ds = Sha256::new();
    for _ in 0..16 + usize::from(a[0]) {
        ds.update(salt);
    }
    let s = repeated(&ds.finalize().into(), salt.len());

    for round in 0..rounds {
        let mut c = Sha256::new();
        if round & 1 == 1 {
            c.update(&p)
        } else {
            c.update(a)
        }
        if round % 3 != 0 {
            c.update(&s);
        }
        if round % 7 != 0 {
            c.update(&p);
        }
        if round & 1 == 1 {
            c.update(a)
        } else {
            c.update(&p)
        }
        a = c.finalize().into();
    }
    crypt_digits(&a)
}

fn repeated(digest: &[u8; 32], len: usize) -> Vec<u8> {
    digest.iter().copied().cycle().take(len).collect()
}

/// crypt's own base 64 over bytes in SHA-crypt's order.
fn crypt_digits(digest: &[u8; 32]) -> [u8; HASH_DIGITS] {
    const DIGITS: &[u8; 64] = b"./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let mut out = [0; HASH_DIGITS];
    let mut at = 0;
    let mut put = |mut bits: u32, digits: usize| {
        for _ in 0..digits {
            out[at] = DIGITS[(bits & 63) as usize];
            at += 1;
            bits >>= 6;
        }
    };
    let byte = |i: usize| u32::from(digest[i]);
    let (mut x, mut y, mut z) = (0, 10, 20);
    for _ in 0..10 {
        put(byte(x) << 16 | byte(y) << 8 | byte(z), 4);
        (x, y, z) = (z + 1, x + 1, y + 1);
    }
    put(byte(31) << 8 | byte(30), 3);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sha_crypt_agrees_with_openssl_passwd_5() {
        let hash = sha_crypt(b"Hello world!", b"saltstring", 5000);
        assert_eq!(&hash, b"5B8vYYiY.CVt1RlTTf8KbXBH3hsxY/GNooZaBBGWEc5");
        let hash = sha_crypt(b"Hello world!", b"saltstringsaltst", 5000);
        assert_eq!(&hash, b"a5C8Ofk71MUIoKve2QuP9FMl.dwNgseF5tR1LGAL7iB");
    }

    #[test]
    fn hashes_verify_their_password_only() {
        let stored = hash_sha2(b"secret");
        assert_eq!((stored.len(), &stored[..7]), (70, &b"$A$005$"[..]));
        assert!(is_sha2_hash(&stored) && verify_sha2(&stored, b"secret") && !verify_sha2(&stored, b"Secret"));
        assert!(!verify_sha2(&stored[..69], b"secret") && !verify_sha2(b"", b""));
        assert_eq!(hash_native(b"password"), b"*2470C0C06DEE42FD1618BB99005ADCA2EC9D1E19");
        let stored = hash_sha256(b"secret");
        assert!(stored.len() == 67 && is_sha256_hash(&stored) && !is_sha2_hash(&stored));
        assert!(verify_sha2(&stored, b"secret") && !verify_sha2(&stored, b"Secret"));
        assert!(!is_native_hash(b"*2470") && is_native_hash(b""));
        assert_ne!(random_password(16), random_password(16));
    }

    #[test]
    fn replies_prove_the_password() {
        let scramble = *b"abcdefghijklmnopqrst";
        let mut native: [u8; 20] =
            Sha1::new().chain_update(scramble).chain_update(Sha1::digest(Sha1::digest(b"pw"))).finalize().into();
        xor(&mut native, &Sha1::digest(b"pw"));
        assert!(verify_native(&hash_native(b"pw"), &scramble, &native));
        assert!(!verify_native(&hash_native(b"pv"), &scramble, &native));
        let digest = sha2_digest(b"pw");
        let mut fast: [u8; 32] = Sha256::new().chain_update(digest).chain_update(scramble).finalize().into();
        xor(&mut fast, &Sha256::digest(b"pw"));
        assert!(verify_sha2_fast(&digest, &scramble, &fast));
        assert!(!verify_sha2_fast(&sha2_digest(b"pv"), &scramble, &fast));
    }
}
