//! The RSA key pair with which caching_sha2_password clients hide their password on a plain TCP connection.
//!
//! Kept in the data directory as `private_key.pem` (mode 0600) and `public_key.pem`, made at the first start.

use crate::pem;
use aws_lc_rs::encoding::{AsDer, Pkcs8V1Der, PublicKeyX509Der};
use aws_lc_rs::rsa::{KeySize, OAEP_SHA1_MGF1SHA1, OaepPrivateDecryptingKey, PrivateDecryptingKey};
use aws_lc_rs::rsa::{OaepPublicEncryptingKey, PublicEncryptingKey};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{PrivatePkcs8KeyDer, SubjectPublicKeyInfoDer};
use std::io;
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

    /// The pair, if somebody has asked for it before.
    pub fn known(&self) -> Option<&RsaPair> {
        self.pair.get()?.as_ref().ok()
    }
}

/// Encrypts for the holder of a public key, as clients of caching_sha2_password do. The error is one line.
pub fn encrypt_for(public_pem: &[u8], plain: &[u8]) -> Result<Vec<u8>, String> {
    let der = SubjectPublicKeyInfoDer::from_pem_slice(public_pem).map_err(|e| format!("public key: {e}"))?;
    let key = PublicEncryptingKey::from_der(der.as_ref()).map_err(|e| format!("public key: {e}"))?;
    let key = OaepPublicEncryptingKey::new(key).map_err(|e| format!("public key: {e}"))?;
    let mut sealed = vec![0; key.ciphertext_size()];
    let len = key.encrypt(&OAEP_SHA1_MGF1SHA1, plain, &mut sealed, None).map_err(|e| format!("encryption: {e}"))?.len();
    sealed.truncate(len);
    Ok(sealed)
}

#[derive(Debug)]
pub struct RsaPair {
    key: OaepPrivateDecryptingKey,
    public_pem: String,
}

impl RsaPair {
    fn open(directory: &Path) -> Result<RsaPair, String> {
        let path = directory.join(PRIVATE_FILE);
        match std::fs::read(&path) {
            Ok(pem) => {
                let said = |e: &dyn std::fmt::Display| format!("{}: {e}", path.display());
                let der = PrivatePkcs8KeyDer::from_pem_slice(&pem).map_err(|e| said(&e))?;
                let key = PrivateDecryptingKey::from_pkcs8(der.secret_pkcs8_der()).map_err(|e| said(&e))?;
                RsaPair::new(key)
            }
            Err(e) if e.kind() == io::ErrorKind::NotFound => RsaPair::generate(directory),
            Err(e) => Err(format!("{}: {e}", path.display())),
        }
    }

    fn generate(directory: &Path) -> Result<RsaPair, String> {
        let key = PrivateDecryptingKey::generate(KeySize::Rsa2048).map_err(|e| format!("key generation: {e}"))?;
        let der: Pkcs8V1Der<'_> = key.as_der().map_err(|e| format!("key encoding: {e}"))?;
        let private_pem = pem::encode(der.as_ref(), "PRIVATE KEY");
        let pair = RsaPair::new(key)?;
        pem::write_file(&directory.join(PUBLIC_FILE), pair.public_pem.as_bytes(), 0o644)?;
        pem::write_file(&directory.join(PRIVATE_FILE), private_pem.as_bytes(), 0o600)?;
        Ok(pair)
    }

    fn new(key: PrivateDecryptingKey) -> Result<RsaPair, String> {
        let der: PublicKeyX509Der<'_> = key.public_key().as_der().map_err(|e| format!("key encoding: {e}"))?;
        let public_pem = pem::encode(der.as_ref(), "PUBLIC KEY");
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_pair_is_made_once_and_loaded_again() {
        let directory = std::env::temp_dir().join(format!("clearway-rsa-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let first = RsaKeys::new(&directory).get().unwrap().public_pem().to_string();
        let again = RsaKeys::new(&directory);
        assert_eq!(again.get().unwrap().public_pem(), first);
        assert_eq!(std::fs::read_to_string(directory.join(PUBLIC_FILE)).unwrap(), first);
        assert_eq!(again.get().unwrap().decrypt(&[7; 256]), None);
        let sealed = encrypt_for(first.as_bytes(), b"secret").unwrap();
        assert_eq!(again.get().unwrap().decrypt(&sealed).as_deref(), Some(&b"secret"[..]));
        std::fs::remove_dir_all(&directory).unwrap();
    }
}
