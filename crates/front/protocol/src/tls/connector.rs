//! The client's side of TLS, for connections that this server makes to another one.

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, Error, RootCertStore};
use rustls::{SignatureScheme, StreamOwned};
use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;

/// A connection under TLS.
pub type TlsStream = StreamOwned<ClientConnection, TcpStream>;

/// How far the server's certificate is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust<'p> {
    /// Whoever answers is believed; what is said cannot be overheard.
    Anybody,
    /// The certificate leads to one in this file; with `name` it is that of the host, too.
    Authority { file: &'p Path, name: bool },
}

#[derive(Debug)]
struct Verifier {
    /// `None`: anybody is believed.
    chain: Option<Arc<WebPkiServerVerifier>>,
    name: bool,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(chain) = &self.chain else { return Ok(ServerCertVerified::assertion()) };
        match chain.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now) {
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if !self.name => Ok(ServerCertVerified::assertion()),
            result => result,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, cert, signed, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, cert, signed, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// Puts TLS over `stream`, which speaks it from its next byte on. The error is one line.
pub fn connect(stream: TcpStream, host: &str, trust: Trust<'_>) -> Result<TlsStream, String> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let (chain, name) = match trust {
        Trust::Anybody => (None, false),
        Trust::Authority { file, name } => {
            let said = |e: &dyn std::fmt::Display| format!("{}: {e}", file.display());
            let mut roots = RootCertStore::empty();
            for certificate in CertificateDer::pem_file_iter(file).map_err(|e| said(&e))? {
                roots.add(certificate.map_err(|e| said(&e))?).map_err(|e| said(&e))?;
            }
            let chain = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider)).build();
            (Some(chain.map_err(|e| said(&e))?), name)
        }
    };
    let verifier = Arc::new(Verifier { chain, name, provider: Arc::clone(&provider) });
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|e| e.to_string())?
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth();
    let name = ServerName::try_from(host.to_string()).map_err(|e| e.to_string())?;
    let connection = ClientConnection::new(Arc::new(config), name).map_err(|e| e.to_string())?;
    Ok(StreamOwned::new(connection, stream))
}
