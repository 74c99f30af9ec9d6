//! TLS: a layer between the packets of a connection and its socket, put in after the greeting when the client asks for it.
//!
//! ```text
//!  server                             client
//!  greeting (SSL offered)    -->
//!                            <--      SSLRequest: the first 32 bytes of a login, with the flag SSL
//!  ............................ from here on records of TLS ............................
//!                            <-->     handshake of TLS
//!                            <--      login, as without TLS; sequence ids go on
//! ```
//!
//! | file | |
//! | --- | --- |
//! | `acceptor` | what the server's variables and files say of TLS; makes layers |
//! | `layer` | one connection's TLS: records in and out |
//! | `cache` | sessions that clients may resume |
//! | `cipher` | names of cipher suites and versions, in OpenSSL's words |
//! | `connector` | the client's side, for connections to another server |
//! | `certificate` | names and dates in an X.509 certificate |
//! | `generate` | certificates of a new data directory |

pub mod acceptor;
mod cache;
mod certificate;
pub mod cipher;
pub mod connector;
pub mod generate;
mod layer;

pub use acceptor::{Acceptor, TlsOptions};
pub use cache::CacheFigures;
pub(crate) use layer::Layer;

/// What TLS is made by.
pub const LIBRARY: &str = "rustls with aws-lc";

/// What a connection's handshake has come to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsInfo {
    /// `TLSv1.3`
    pub version: &'static str,
    /// As OpenSSL calls it.
    pub cipher: &'static str,
    /// The client took up an earlier session.
    pub is_resumed: bool,
    /// What the client has called the server, if it has.
    pub server_name: String,
    /// Of the client's certificate, if it has shown one. Its signature is valid, and leads to `ssl_ca`.
    pub client: Option<ClientNames>,
}

/// Who a client is by its certificate, in the form `/C=SE/O=MySQL/CN=client`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientNames {
    pub subject: String,
    pub issuer: String,
}
