//! TLS and compression as the server's variables have it: what is read at start and by ALTER INSTANCE RELOAD TLS, and what SHOW STATUS
//! says.

use crate::command::Session;
use crate::needs::Action;
use crate::server::Server;
use crate::variables::{Globals, VARIABLES, Val, VarId, id};
use expr::Env;
use protocol::tls::cipher::{self, Family};
use protocol::tls::generate::{CA_FILE, CERT_FILE, KEY_FILE, is_complete};
use protocol::tls::{Acceptor, TlsOptions};
use protocol::{Algorithm, Allowed, TlsInfo};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use types::codes::*;
use types::{Result, err};

const CA: VarId = id("ssl_ca");
const CERT: VarId = id("ssl_cert");
const KEY: VarId = id("ssl_key");
const CAPATH: VarId = id("ssl_capath");
const CRLPATH: VarId = id("ssl_crlpath");
const CRL: VarId = id("ssl_crl");
const CIPHER: VarId = id("ssl_cipher");
const CIPHERSUITES: VarId = id("tls_ciphersuites");
const VERSION: VarId = id("tls_version");
const CACHE_MODE: VarId = id("ssl_session_cache_mode");
const COMPRESSION: VarId = id("protocol_compression_algorithms");
const CACHE_TIMEOUT: VarId = id("ssl_session_cache_timeout");

/// The one channel: there is no port for administrators.
const MAIN_CHANNEL: &str = "mysql_main";

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

impl Session {
    /// ALTER INSTANCE RELOAD TLS: for connections to come. Errors 1149, 3888; without rollback 3888 is a warning, and TLS is over.
    pub(crate) fn reload_tls(&mut self, channel: Option<&str>, rolls_back: bool) -> Result<()> {
        self.need(Action::ReloadTls)?;
        if channel.is_some_and(|name| name != MAIN_CHANNEL) {
            return Err(err!(ER_SYNTAX_ERROR));
        }
        self.commit_all()?;
        let options = options(&self.server.globals.load(), &self.server.datadir);
        let tls = match Acceptor::new(&options) {
            Ok(acceptor) => Tls(Some(acceptor)),
            Err(text) if rolls_back => return Err(err!(ER_DA_SSL_LIBRARY_ERROR, text)),
            Err(text) => {
                let error = err!(ER_DA_SSL_LIBRARY_ERROR, text);
                self.state.warn("Warning", error.code, error.message);
                Tls(None)
            }
        };
        self.server.tls.store(Arc::new(tls));
        Ok(())
    }
}

/// What connections may be compressed with.
pub(crate) fn compression(globals: &Globals) -> Allowed {
    // The variable takes nothing else.
    Allowed::parse(globals.text(COMPRESSION)).unwrap_or(Allowed::NOTHING)
}

/// The rows `Compression...` and `Tls_...` of SHOW STATUS, for a session that is compressed so and has this TLS.
pub(crate) fn own_status(session: Option<Algorithm>, tls: Option<&TlsInfo>) -> Vec<(String, String)> {
    let is_on = if session.is_some() { "ON" } else { "OFF" };
    vec![
        ("Compression".to_string(), is_on.to_string()),
        ("Compression_algorithm".to_string(), session.map_or("", Algorithm::name).to_string()),
        ("Compression_level".to_string(), session.map_or(0, Algorithm::level).to_string()),
        ("Tls_library_version".to_string(), protocol::tls::LIBRARY.to_string()),
        ("Tls_sni_server_name".to_string(), tls.map_or_else(String::new, |tls| tls.server_name.clone())),
    ]
}

impl Server {
    /// The rows `Ssl_...` of SHOW STATUS, for a session with this TLS.
    pub(crate) fn tls_status(&self, session: Option<&TlsInfo>) -> Vec<(String, String)> {
        let tls = self.tls.load();
        let acceptor = tls.0.as_ref();
        let (accepts, finished) = acceptor.map_or((0, 0), Acceptor::accepts);
        let (figures, size) = acceptor.and_then(Acceptor::cache).unwrap_or_default();
        let verify = match acceptor.is_some_and(Acceptor::asks_for_certificates) {
            // SSL_VERIFY_PEER and SSL_VERIFY_CLIENT_ONCE.
            true => 5,
            false => 0,
        };
        let of_session = |n: u64| if session.is_some() { n } else { 0 };
        let numbers = [
            ("accept_renegotiates", 0),
            ("accepts", accepts),
            ("callback_cache_hits", 0),
            ("client_connects", 0),
            ("connect_renegotiates", 0),
            // No limit.
            ("ctx_verify_depth", if acceptor.is_some() { u64::MAX } else { 0 }),
            ("ctx_verify_mode", verify),
            ("default_timeout", of_session(7200)),
            ("finished_accepts", finished),
            ("finished_connects", 0),
            ("session_cache_hits", figures.hits),
            ("session_cache_misses", figures.misses),
            ("session_cache_overflows", figures.overflows),
            ("session_cache_size", size as u64),
            ("session_cache_timeout", self.globals.load().uint(CACHE_TIMEOUT)),
            ("session_cache_timeouts", figures.timeouts),
            ("sessions_reused", session.is_some_and(|s| s.is_resumed).into()),
            ("used_session_cache_entries", figures.used),
            ("verify_depth", of_session(u64::MAX)),
            ("verify_mode", of_session(verify)),
        ];
        let (not_before, not_after) = acceptor.map_or(("", ""), Acceptor::validity);
        let ciphers = session.and(acceptor).map_or(String::new(), |a| a.ciphers().join(":"));
        let cache_mode = match acceptor {
            None => "NONE",
            Some(acceptor) if acceptor.cache().is_some() => "SERVER",
            Some(_) => "OFF",
        };
        let texts = [
            ("cipher", session.map_or("", |s| s.cipher)),
            ("cipher_list", &ciphers),
            ("server_not_after", not_after),
            ("server_not_before", not_before),
            ("session_cache_mode", cache_mode),
            ("version", session.map_or("", |s| s.version)),
        ];
        let globals = self.globals.load();
        let current = [CA, CAPATH, CERT, CIPHER, CIPHERSUITES, CRL, CRLPATH, KEY, VERSION].map(|id| {
            let name = VARIABLES[id as usize].name;
            let short = name.trim_start_matches("ssl_").trim_start_matches("tls_");
            let text = if acceptor.is_some() { globals.text(id) } else { "" };
            (format!("Current_tls_{short}"), text.to_string())
        });
        let numbers = numbers.iter().map(|(name, n)| (format!("Ssl_{name}"), n.to_string()));
        current
            .into_iter()
            .chain(numbers)
            .chain(texts.iter().map(|(name, text)| (format!("Ssl_{name}"), text.to_string())))
            .collect()
    }
}
