//! PEM files: written here, read by the TLS library's reader.

use std::io::{self, Write};
use std::path::Path;

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

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
