//! TLS and compression as the server's variables have it: what is read at start and by ALTER INSTANCE RELOAD TLS, and what SHOW STATUS
//! says.

use crate::variables::{Globals, Val, VarId, id};
use protocol::tls::cipher::{self, Family};
use protocol::tls::generate::{CA_FILE, CERT_FILE, KEY_FILE, is_complete};
use protocol::tls::{Acceptor, TlsOptions};
use protocol::{Algorithm, Allowed, TlsInfo};
use std::path::Path;
use std::time::Duration;

pub(crate) const CA: VarId = id("ssl_ca");
pub(crate) const CERT: VarId = id("ssl_cert");
pub(crate) const KEY: VarId = id("ssl_key");
pub(crate) const CRL: VarId = id("ssl_crl");
pub(crate) const CAPATH: VarId = id("ssl_capath");
pub(crate) const CRLPATH: VarId = id("ssl_crlpath");
pub(crate) const CIPHER: VarId = id("ssl_cipher");
pub(crate) const CIPHERSUITES: VarId = id("tls_ciphersuites");
pub(crate) const VERSION: VarId = id("tls_version");
const CACHE_MODE: VarId = id("ssl_session_cache_mode");
const COMPRESSION: VarId = id("protocol_compression_algorithms");
pub(crate) const CACHE_TIMEOUT: VarId = id("ssl_session_cache_timeout");

/// What new connections are offered. `None`: no TLS.
#[derive(Debug, Default)]
pub struct Tls(pub Option<Acceptor>);

/// No TLS is wanted, as the option `--tls-version=''` says it.
pub fn is_off(globals: &Globals) -> bool {
    globals.text(VERSION).is_empty()
}

/// The names in the variables, if none was given and the server's files are all there: those.
pub fn find_files(globals: &mut Globals, datadir: &Path) {
    let files = [(CA, CA_FILE), (CERT, CERT_FILE), (KEY, KEY_FILE)];
    if files.iter().all(|(id, _)| globals.text(*id).is_empty()) && is_complete(datadir) {
        files.into_iter().for_each(|(id, name)| globals.set(id, Val::Str(name.into())));
    }
}

/// No file is named: certificates may be made.
pub fn names_nothing(globals: &Globals) -> bool {
    [CA, CERT, KEY, CRL, CIPHER].iter().all(|id| globals.text(*id).is_empty())
}

/// What the variables say now.
pub fn options(globals: &Globals, datadir: &Path) -> TlsOptions {
    let text = |id| globals.text(id).to_string();
    TlsOptions {
        directory: datadir.to_path_buf(),
        ca: text(CA),
        cert: text(CERT),
        key: text(KEY),
        crl: text(CRL),
        versions: text(VERSION),
        cipher: text(CIPHER),
        ciphersuites: text(CIPHERSUITES),
        cache_timeout: globals.bool(CACHE_MODE).then(|| Duration::from_secs(globals.uint(CACHE_TIMEOUT))),
    }
}

/// Can the variable be set to this text? Lists have to name what there is.
pub fn is_possible(id: VarId, value: &Val) -> bool {
    match id {
        VERSION => cipher::versions(value.text()).is_some(),
        CIPHER => cipher::suites(Family::Tls12, value.text()).is_some(),
        CIPHERSUITES => cipher::suites(Family::Tls13, value.text()).is_some(),
        COMPRESSION => Allowed::parse(value.text()).is_some(),
        _ => true,
    }
}

/// What connections may be compressed with.
pub(crate) fn compression(globals: &Globals) -> Allowed {
    // The variable takes nothing else.
    Allowed::parse(globals.text(COMPRESSION)).unwrap_or(Allowed::NOTHING)
}

/// The rows `Compression...` and `Tls_sni_server_name` of SHOW STATUS, for a session that is compressed so and has this TLS.
pub(crate) fn own_status(session: Option<Algorithm>, tls: Option<&TlsInfo>) -> Vec<(String, String)> {
    let is_on = if session.is_some() { "ON" } else { "OFF" };
    vec![
        ("Compression".to_string(), is_on.to_string()),
        ("Compression_algorithm".to_string(), session.map_or("", Algorithm::name).to_string()),
        ("Compression_level".to_string(), session.map_or(0, Algorithm::level).to_string()),
        ("Tls_sni_server_name".to_string(), tls.map_or_else(String::new, |tls| tls.server_name.clone())),
    ]
}
