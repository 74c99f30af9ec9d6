//! The TLS that new connections are offered: what SHOW STATUS tells of it, ALTER INSTANCE RELOAD TLS.

use crate::needs::Action;
use crate::server::Server;
use crate::session::Session;
use crate::tls::{CA, CACHE_TIMEOUT, CAPATH, CERT, CIPHER, CIPHERSUITES, CRL, CRLPATH, KEY, Tls, VERSION, options};
use crate::variables::VARIABLES;
use expr::Env;
use protocol::TlsInfo;
use protocol::tls::Acceptor;
use std::sync::Arc;
use types::codes::*;
use types::{Result, err};

/// The one channel: there is no port for administrators.
const MAIN_CHANNEL: &str = "mysql_main";

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
        let library = ("Tls_library_version".to_string(), protocol::tls::LIBRARY.to_string());
        current
            .into_iter()
            .chain([library])
            .chain(numbers)
            .chain(texts.iter().map(|(name, text)| (format!("Ssl_{name}"), text.to_string())))
            .collect()
    }
}
