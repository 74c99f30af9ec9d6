//! The RSA key pair with which caching_sha2_password clients hide their password on a plain TCP connection.
//!
//! Kept in the data directory as `private_key.pem` (mode 0600) and `public_key.pem`, made at first use.

use aws_lc_rs::encoding::{AsDer, Pkcs8V1Der, PublicKeyX509Der};
use aws_lc_rs::rsa::{KeySize, OAEP_SHA1_MGF1SHA1, OaepPrivateDecryptingKey, PrivateDecryptingKey};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

const PRIVATE_FILE: &str = "private_key.pem";
const PUBLIC_FILE: &str = "public_key.pem";

/// The key pair of a data directory, loaded or made when first asked for.
#[derive(Debug)]
pub struct RsaKeys {
    directory: PathBuf,
    pair: OnceLock<Result<RsaPair, String>>,
}

impl RsaKeys {
    pub fn new(directory: &Path) -> RsaKeys {
        RsaKeys { directory: directory.to_path_buf(), pair: OnceLock::new() }
    }

    /// The pair. Makes it (some tenths of a second) when the directory has none. The error says which file and why.
    pub fn get(&self) -> Result<&RsaPair, &str> {
        self.pair.get_or_init(|| RsaPair::open(&self.directory)).as_ref().map_err(String::as_str)
    }
}

#[derive(Debug)]
pub struct RsaPair {
    key: OaepPrivateDecryptingKey,
    public_pem: String,
}

impl RsaPair {
    fn open(directory: &Path) -> Result<RsaPair, String> {
        let path = directory.join(PRIVATE_FILE);
        match std::fs::read_to_string(&path) {
            Ok(pem) => {
                let der =
                    from_pem(&pem, "PRIVATE KEY").ok_or_else(|| format!("{}: no PEM private key", path.display()))?;
                let key = PrivateDecryptingKey::from_pkcs8(&der).map_err(|e| format!("{}: {e}", path.display()))?;
                RsaPair::new(key)
            }
            Err(e) if e.kind() == io::ErrorKind::NotFound => RsaPair::generate(directory),
            Err(e) => Err(format!("{}: {e}", path.display())),
        }
    }

    fn generate(directory: &Path) -> Result<RsaPair, String> {
        let key = PrivateDecryptingKey::generate(KeySize::Rsa2048).map_err(|e| format!("key generation: {e}"))?;
        let der: Pkcs8V1Der<'_> = key.as_der().map_err(|e| format!("key encoding: {e}"))?;
        let private_pem = to_pem(der.as_ref(), "PRIVATE KEY");
        let pair = RsaPair::new(key)?;
        write_file(&directory.join(PUBLIC_FILE), pair.public_pem.as_bytes(), 0o644)?;
        write_file(&directory.join(PRIVATE_FILE), private_pem.as_bytes(), 0o600)?;
        Ok(pair)
    }

    fn new(key: PrivateDecryptingKey) -> Result<RsaPair, String> {
        let der: PublicKeyX509Der<'_> = key.public_key().as_der().map_err(|e| format!("key encoding: {e}"))?;
        let public_pem = to_pem(der.as_ref(), "PUBLIC KEY");
        let key = OaepPrivateDecryptingKey::new(key).map_err(|e| format!("key: {e}"))?;
        Ok(RsaPair { key, public_pem })
    }

    pub fn public_pem(&self) -> &str {
        &self.public_pem
    }

    /// `None`: not encrypted for this key.
    pub fn decrypt(&self, ciphertext: &[u8]) -> Option<Vec<u8>> {
        let mut plain = vec![0; self.key.min_output_size()];
        let len = self.key.decrypt(&OAEP_SHA1_MGF1SHA1, ciphertext, &mut plain, None).ok()?.len();
        plain.truncate(len);
        Some(plain)
    }
}

/// Writes beside and renames: a crash leaves the old file or the new one.
fn write_file(path: &Path, bytes: &[u8], mode: u32) -> Result<(), String> {
    let write = || -> io::Result<()> {
        let temporary = path.with_extension("pem.new");
        let mut options = std::fs::OpenOptions::new();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
        #[cfg(not(unix))]
        let _ = mode;
        let mut file = options.open(&temporary)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        std::fs::rename(&temporary, path)
    };
    write().map_err(|e| format!("{}: {e}", path.display()))
}

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

fn to_pem(der: &[u8], label: &str) -> String {
    let mut body = String::with_capacity(der.len() * 4 / 3 + 4);
    for chunk in der.chunks(3) {
        let bits = u32::from(chunk[0]) << 16
            | u32::from(*chunk.get(1).unwrap_or(&0)) << 8
            | u32::from(*chunk.get(2).unwrap_or(&0));
        for i in 0..4 {
            let digit = BASE64[(bits >> (18 - 6 * i) & 63) as usize];
            body.push(if i <= chunk.len() { digit.into() } else { '=' });
        }
    }
    let mut pem = format!("-----BEGIN {label}-----\n");
    for line in body.as_bytes().chunks(64) {
        pem.push_str(std::str::from_utf8(line).expect("base64 is ASCII"));
        pem.push('\n');
    }
    pem.push_str(&format!("-----END {label}-----\n"));
    pem
}

fn from_pem(pem: &str, label: &str) -> Option<Vec<u8>> {
    let (_, rest) = pem.split_once(&format!("-----BEGIN {label}-----"))?;
    let (body, _) = rest.split_once(&format!("-----END {label}-----"))?;
    let mut der = Vec::with_capacity(body.len() * 3 / 4);
    let (mut bits, mut count) = (0u32, 0);
    for digit in body.bytes().filter(|b| !b.is_ascii_whitespace() && *b != b'=') {
        let value = BASE64.iter().position(|d| *d == digit)? as u32;
        bits = bits << 6 | value;
        count += 6;
        if count >= 8 {
            count -= 8;
            der.push((bits >> count) as u8);
        }
    }
    Some(der)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pem_round_trips() {
        for len in [0, 1, 2, 3, 64, 65] {
            let der: Vec<u8> = (0..len).map(|i| (i * 37) as u8).collect();
            assert_eq!(from_pem(&to_pem(&der, "X"), "X"), Some(der));
        }
        assert_eq!(to_pem(b"foob", "X"), "-----BEGIN X-----\nZm9vYg==\n-----END X-----\n");
    }

    #[test]
    fn a_key_pair_is_made_once_and_loaded_again() {
        let directory = std::env::temp_dir().join(format!("clearway-rsa-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let first = RsaKeys::new(&directory).get().unwrap().public_pem().to_string();
        let again = RsaKeys::new(&directory);
        assert_eq!(again.get().unwrap().public_pem(), first);
        assert_eq!(std::fs::read_to_string(directory.join(PUBLIC_FILE)).unwrap(), first);
        assert_eq!(again.get().unwrap().decrypt(&[7; 256]), None);
        std::fs::remove_dir_all(&directory).unwrap();
    }
}
