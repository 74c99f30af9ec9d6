//! What the server's variables and files say of TLS, read at start and by ALTER INSTANCE RELOAD TLS.

use super::cache::{CacheFigures, SESSIONS, SessionCache};
use super::certificate::Certificate;
use super::cipher::{self, Family};
use super::generate;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, CertificateRevocationListDer, PrivateKeyDer};
use rustls::server::{ClientHello, NoServerSessionStorage, ResolvesServerCert, WebPkiClientVerifier};
use rustls::sign::CertifiedKey;
use rustls::{InconsistentKeys, RootCertStore, ServerConfig};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The variables `ssl_*` and `tls_*`. Relative names are below `directory`; an empty text stands for NULL.
#[derive(Clone, Debug, Default)]
pub struct TlsOptions {
    pub directory: PathBuf,
    pub ca: String,
    pub cert: String,
    pub key: String,
    pub crl: String,
    pub versions: String,
    /// Of TLS 1.2.
    pub cipher: String,
    /// Of TLS 1.3.
    pub ciphersuites: String,
    /// `None`: no session is resumed.
    pub cache_timeout: Option<Duration>,
}

/// Puts TLS under connections.
#[derive(Debug)]
pub struct Acceptor {
    pub(super) config: Arc<ServerConfig>,
    cache: Option<Arc<SessionCache>>,
    certificate: Certificate,
    asks_for_certificates: bool,
    ciphers: Vec<&'static str>,
    /// Handshakes begun. W: connections that log in. R: SHOW STATUS.
    accepts: AtomicU64,
    /// Handshakes that came to their end. W, R: as `accepts`.
    finished: AtomicU64,
}

impl Acceptor {
    /// Reads the files. The error is one line for ER_DA_SSL_LIBRARY_ERROR or the error log.
    pub fn new(options: &TlsOptions) -> Result<Acceptor, String> {
        let versions = cipher::versions(&options.versions).filter(|v| !v.is_empty()).ok_or("TLS version is invalid")?;
        let mut suites = Vec::new();
        for (family, list) in [(Family::Tls13, &options.ciphersuites), (Family::Tls12, &options.cipher)] {
            suites.extend(cipher::suites(family, list).ok_or("Failed to set ciphers to use")?);
        }
        suites.retain(|suite| versions.contains(&suite.version()));
        let ciphers = suites.iter().map(|suite| cipher::name_of(suite.suite())).collect();
        let provider = rustls::crypto::CryptoProvider { cipher_suites: suites, ..aws_lc_rs::default_provider() };
        let provider = Arc::new(provider);
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(&versions)
            .map_err(|e| format!("Failed to set ciphers to use: {e}"))?;
        let builder = match options.ca.as_str() {
            "" => builder.with_no_client_auth(),
            ca => {
                let roots = Arc::new(roots(&place(&options.directory, ca))?);
                let crls = match options.crl.as_str() {
                    "" => Vec::new(),
                    crl => read_all::<CertificateRevocationListDer<'static>>(
                        &place(&options.directory, crl),
                        "SSL_CTX_load_verify_locations failed",
                    )?,
                };
                let verifier = WebPkiClientVerifier::builder_with_provider(roots, Arc::clone(&provider))
                    .with_crls(crls)
                    .allow_unknown_revocation_status()
                    .allow_unauthenticated()
                    .build()
                    .map_err(|e| format!("SSL_CTX_set_default_verify_paths failed: {e}"))?;
                builder.with_client_cert_verifier(verifier)
            }
        };
        let (key, certificate) = own_certificate(options, &provider)?;
        let mut keys = vec![Arc::new(key)];
        if options.cert == generate::CERT_FILE && options.directory.join(generate::RSA_CERT_FILE).exists() {
            let [cert, key] = [generate::RSA_CERT_FILE, generate::RSA_KEY_FILE].map(str::to_string);
            let rsa = own_certificate(&TlsOptions { cert, key, ..options.clone() }, &provider)?.0;
            keys.push(Arc::new(rsa));
        }
        let mut config = builder.with_cert_resolver(Arc::new(Keys(keys)));
        let cache = options.cache_timeout.map(|timeout| Arc::new(SessionCache::new(timeout)));
        match &cache {
            Some(cache) => config.session_storage = Arc::clone(cache) as _,
            None => {
                config.session_storage = Arc::new(NoServerSessionStorage {});
                config.send_tls13_tickets = 0;
            }
        }
        Ok(Acceptor {
            config: Arc::new(config),
            cache,
            certificate,
            asks_for_certificates: !options.ca.is_empty(),
            ciphers,
            accepts: AtomicU64::new(0),
            finished: AtomicU64::new(0),
        })
    }

    pub(super) fn begins(&self) {
        // Relaxed: a figure for SHOW STATUS, it orders nothing.
        self.accepts.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn finishes(&self) {
        // Relaxed: as in `begins`.
        self.finished.fetch_add(1, Ordering::Relaxed);
    }

    /// Handshakes begun, and those that came to their end.
    pub fn accepts(&self) -> (u64, u64) {
        // Relaxed: as in `begins`.
        (self.accepts.load(Ordering::Relaxed), self.finished.load(Ordering::Relaxed))
    }

    /// When the server's certificate begins and ends to be valid: `Nov 22 14:18:48 2026 GMT`.
    pub fn validity(&self) -> (&str, &str) {
        (&self.certificate.not_before, &self.certificate.not_after)
    }

    /// Clients may show a certificate.
    pub fn asks_for_certificates(&self) -> bool {
        self.asks_for_certificates
    }

    /// Names of the suites that clients may choose of.
    pub fn ciphers(&self) -> &[&'static str] {
        &self.ciphers
    }

    /// Of the sessions that clients may resume, and how many it can be. `None`: none are kept.
    pub fn cache(&self) -> Option<(CacheFigures, usize)> {
        Some((self.cache.as_ref()?.figures(), SESSIONS))
    }
}

/// The server's certificates: the first whose key the client can verify is shown. rustls names only what fits the client's suites.
#[derive(Debug)]
struct Keys(Vec<Arc<CertifiedKey>>);

impl ResolvesServerCert for Keys {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let fits = |key: &&Arc<CertifiedKey>| key.key.choose_scheme(hello.signature_schemes()).is_some();
        self.0.iter().find(fits).cloned()
    }
}

fn place(directory: &Path, name: &str) -> PathBuf {
    // An absolute name replaces the directory.
    directory.join(name)
}

/// All items of a kind in a PEM file: at least one. `failed`: what MySQL says of the file.
fn read_all<T: PemObject>(path: &Path, failed: &str) -> Result<Vec<T>, String> {
    let said = |e: &dyn std::fmt::Display| format!("{failed}: '{}': {e}", path.display());
    let items: Result<Vec<T>, _> = T::pem_file_iter(path).map_err(|e| said(&e))?.collect();
    let items = items.map_err(|e| said(&e))?;
    if items.is_empty() { Err(said(&"nothing of the kind in it")) } else { Ok(items) }
}

fn roots(path: &Path) -> Result<RootCertStore, String> {
    let failed = "SSL_CTX_load_verify_locations failed";
    let mut roots = RootCertStore::empty();
    for certificate in read_all::<CertificateDer<'static>>(path, failed)? {
        roots.add(certificate).map_err(|e| format!("{failed}: '{}': {e}", path.display()))?;
    }
    Ok(roots)
}

/// Appends those of the authorities that have signed the certificate, as OpenSSL does. Clients that trust a server's word for its
/// certificate, once it has shown that it knows the password, want to see that it ends with one that is signed by itself.
fn lead_to_authority(chain: &mut Vec<CertificateDer<'static>>, authorities: &[CertificateDer<'static>]) {
    let known: Vec<_> = authorities.iter().filter_map(|der| Some((Certificate::read(der)?, der))).collect();
    while let Some(last) = chain.last().and_then(|der| Certificate::read(der))
        && last.issuer != last.subject
        && chain.len() <= authorities.len()
        && let Some((_, der)) = known.iter().find(|(authority, _)| authority.subject == last.issuer)
    {
        chain.push((*der).clone());
    }
}

/// The server's certificate with those that lead to its authority, and its key.
fn own_certificate(
    options: &TlsOptions,
    provider: &rustls::crypto::CryptoProvider,
) -> Result<(CertifiedKey, Certificate), String> {
    if options.cert.is_empty() || options.key.is_empty() {
        return Err("Unable to get certificate: ssl_cert and ssl_key name none".to_string());
    }
    let mut chain =
        read_all::<CertificateDer<'static>>(&place(&options.directory, &options.cert), "Unable to get certificate")?;
    if chain.len() == 1 && !options.ca.is_empty() {
        let failed = "SSL_CTX_load_verify_locations failed";
        lead_to_authority(&mut chain, &read_all(&place(&options.directory, &options.ca), failed)?);
    }
    let key_path = place(&options.directory, &options.key);
    let unusable = |e: &dyn std::fmt::Display| format!("Unable to get private key: '{}': {e}", key_path.display());
    let key = PrivateKeyDer::from_pem_file(&key_path).map_err(|e| unusable(&e))?;
    let key = provider.key_provider.load_private_key(key).map_err(|e| unusable(&e))?;
    let certificate =
        Certificate::read(&chain[0]).ok_or_else(|| format!("Unable to get certificate '{}'", options.cert))?;
    let key = CertifiedKey::new(chain, key);
    match key.keys_match() {
        // A certificate of version 1 cannot be asked; clients will.
        Ok(())
        | Err(rustls::Error::InconsistentKeys(InconsistentKeys::Unknown) | rustls::Error::InvalidCertificate(_)) => {
            Ok((key, certificate))
        }
        Err(_) => Err("Private key does not match the certificate public key".to_string()),
    }
}
