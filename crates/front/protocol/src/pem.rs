//! PEM files: written here, read by the TLS library's reader.

use std::io::{self, Write};
use std::path::Path;

/// Writes beside and renames: a crash leaves the old file or the new one. The error names the file.
pub(crate) fn write_file(path: &Path, bytes: &[u8], mode: u32) -> Result<(), String> {
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

pub(crate) fn encode(der: &[u8], label: &str) -> String {
    let mut body = Vec::new();
    types::base64::encode_lines(der, 64, &mut body);
    let body = std::str::from_utf8(&body).expect("base 64 is ASCII");
    format!("-----BEGIN {label}-----\n{body}\n-----END {label}-----\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustls::pki_types::{PrivatePkcs8KeyDer, pem::PemObject};

    #[test]
    fn pem_round_trips() {
        for len in [1, 2, 3, 64, 65] {
            let der: Vec<u8> = (0..len).map(|i| (i * 37) as u8).collect();
            let pem = encode(&der, "PRIVATE KEY");
            assert_eq!(PrivatePkcs8KeyDer::from_pem_slice(pem.as_bytes()).unwrap().secret_pkcs8_der(), der);
        }
        assert_eq!(encode(b"foob", "X"), "-----BEGIN X-----\nZm9vYg==\n-----END X-----\n");
    }
}
