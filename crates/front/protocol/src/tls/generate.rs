//! Certificates of a new data directory (`auto_generate_certs`): an authority, and certificates for the server and for clients that it
//! has signed. File names are MySQL's. The server has two: one of the curve P-256, which costs a login a tenth of what RSA costs it, and
//! one of RSA for clients that know nothing else. The authority's key is RSA, so that they can verify it.

use crate::pem;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, PKCS_RSA_SHA256, RsaKeySize,
    SerialNumber,
};
use std::path::Path;
use std::time::{Duration, SystemTime};

pub const CA_FILE: &str = "ca.pem";
pub const CERT_FILE: &str = "server-cert.pem";
pub const KEY_FILE: &str = "server-key.pem";
/// For clients that know RSA alone; where these are not, such clients are refused.
pub const RSA_CERT_FILE: &str = "server-rsa-cert.pem";
pub const RSA_KEY_FILE: &str = "server-rsa-key.pem";
const CA_KEY_FILE: &str = "ca-key.pem";
const CLIENT_CERT_FILE: &str = "client-cert.pem";
const CLIENT_KEY_FILE: &str = "client-key.pem";

const YEAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// All of the server's own files are there.
pub fn is_complete(directory: &Path) -> bool {
    [CA_FILE, CERT_FILE, KEY_FILE].iter().all(|name| directory.join(name).exists())
}

/// Makes all files unless one of them is there. True: they were made. The error says which file and why.
pub fn generate(directory: &Path, version: &str) -> Result<bool, String> {
    let files = [CA_FILE, CA_KEY_FILE, CERT_FILE, KEY_FILE, CLIENT_CERT_FILE, CLIENT_KEY_FILE];
    if files.iter().any(|name| directory.join(name).exists()) {
        return Ok(false);
    }
    let said = |e: rcgen::Error| format!("certificate generation: {e}");
    let curve = || KeyPair::generate().map_err(said);
    let rsa = || KeyPair::generate_rsa_for(&PKCS_RSA_SHA256, RsaKeySize::_2048).map_err(said);
    let ca = CertifiedIssuer::self_signed(params("CA", 1, version), rsa()?).map_err(said)?;
    put(directory, CA_KEY_FILE, ca.key())?;
    for (role, serial, pair, cert_file, key_file) in [
        ("Server", 2, curve()?, CERT_FILE, KEY_FILE),
        ("Client", 3, curve()?, CLIENT_CERT_FILE, CLIENT_KEY_FILE),
        ("Server", 4, rsa()?, RSA_CERT_FILE, RSA_KEY_FILE),
    ] {
        let certificate = params(role, serial, version).signed_by(&pair, &ca).map_err(said)?;
        put(directory, key_file, &pair)?;
        pem::write_file(&directory.join(cert_file), pem::encode(certificate.der(), "CERTIFICATE").as_bytes(), 0o644)?;
    }
    // Last: without it the others are not looked for.
    pem::write_file(&directory.join(CA_FILE), pem::encode(ca.der(), "CERTIFICATE").as_bytes(), 0o644)?;
    Ok(true)
}

fn put(directory: &Path, name: &str, key: &KeyPair) -> Result<(), String> {
    pem::write_file(&directory.join(name), pem::encode(key.serialized_der(), "PRIVATE KEY").as_bytes(), 0o600)
}

fn params(role: &str, serial: u64, version: &str) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = rcgen::DistinguishedName::new();
    let name = format!("MySQL_Server_{version}_Auto_Generated_{role}_Certificate");
    params.distinguished_name.push(DnType::CommonName, name);
    params.serial_number = Some(SerialNumber::from(serial));
    let now = SystemTime::now();
    params.not_before = now.into();
    params.not_after = (now + 10 * YEAR).into();
    params.is_ca = match role {
        "CA" => IsCa::Ca(BasicConstraints::Unconstrained),
        _ => IsCa::ExplicitNoCa,
    };
    params
}
