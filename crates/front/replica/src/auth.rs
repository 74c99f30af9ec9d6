//! How a client proves its password: what it answers to a server's scramble.

use sha1::Sha1;
use sha2::{Digest, Sha256};

fn xor(a: &[u8], b: &[u8]) -> Vec<u8> {
    a.iter().zip(b).map(|(a, b)| a ^ b).collect()
}

/// mysql_native_password: `SHA1(password) XOR SHA1(scramble + SHA1(SHA1(password)))`; nothing without a password.
pub fn native(password: &[u8], scramble: &[u8]) -> Vec<u8> {
    if password.is_empty() {
        return Vec::new();
    }
    let first = Sha1::digest(password);
    let second = Sha1::new().chain_update(scramble).chain_update(Sha1::digest(first)).finalize();
    xor(&first, &second)
}

/// caching_sha2_password: `SHA256(password) XOR SHA256(SHA256(SHA256(password)) + scramble)`.
pub fn sha2(password: &[u8], scramble: &[u8]) -> Vec<u8> {
    if password.is_empty() {
        return Vec::new();
    }
    let first = Sha256::digest(password);
    let second = Sha256::new().chain_update(Sha256::digest(first)).chain_update(scramble).finalize();
    xor(&first, &second)
}

/// The password with the zero at its end, as it is encrypted with a server's public key.
pub fn hidden(password: &[u8], scramble: &[u8]) -> Vec<u8> {
    let with_end = password.iter().copied().chain([0]);
    with_end.zip(scramble.iter().copied().cycle()).map(|(a, b)| a ^ b).collect()
}
