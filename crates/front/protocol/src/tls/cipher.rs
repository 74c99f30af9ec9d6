//! Names of cipher suites and protocol versions, in OpenSSL's words, which are those of MySQL's variables.

use rustls::crypto::aws_lc_rs::ALL_CIPHER_SUITES;
use rustls::{CipherSuite, ProtocolVersion, SupportedCipherSuite, SupportedProtocolVersion, version};

/// OpenSSL's names of the suites that there are, most wanted first.
const SUITES: [(CipherSuite, &str); 9] = [
    (CipherSuite::TLS13_AES_128_GCM_SHA256, "TLS_AES_128_GCM_SHA256"),
    (CipherSuite::TLS13_AES_256_GCM_SHA384, "TLS_AES_256_GCM_SHA384"),
    (CipherSuite::TLS13_CHACHA20_POLY1305_SHA256, "TLS_CHACHA20_POLY1305_SHA256"),
    (CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, "ECDHE-ECDSA-AES128-GCM-SHA256"),
    (CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, "ECDHE-ECDSA-AES256-GCM-SHA384"),
    (CipherSuite::TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, "ECDHE-ECDSA-CHACHA20-POLY1305"),
    (CipherSuite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, "ECDHE-RSA-AES128-GCM-SHA256"),
    (CipherSuite::TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384, "ECDHE-RSA-AES256-GCM-SHA384"),
    (CipherSuite::TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256, "ECDHE-RSA-CHACHA20-POLY1305"),
];

const VERSIONS: [(&str, &SupportedProtocolVersion); 2] = [("TLSv1.2", &version::TLS12), ("TLSv1.3", &version::TLS13)];

/// Which variable names a suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// `ssl_cipher`: suites of TLS 1.2.
    Tls12,
    /// `tls_ciphersuites`: suites of TLS 1.3.
    Tls13,
}

impl Family {
    fn has(self, suite: &SupportedCipherSuite) -> bool {
        (suite.version().version == ProtocolVersion::TLSv1_3) == (self == Family::Tls13)
    }
}

pub(super) fn name_of(suite: CipherSuite) -> &'static str {
    SUITES.iter().find(|(known, _)| *known == suite).map_or("", |(_, name)| name)
}

pub(super) fn version_name(version: ProtocolVersion) -> &'static str {
    VERSIONS.iter().find(|(_, known)| known.version == version).map_or("", |(name, _)| name)
}

/// The versions of a list as `tls_version` has it, e.g. `TLSv1.2,TLSv1.3`. `None`: a word is no version.
pub fn versions(list: &str) -> Option<Vec<&'static SupportedProtocolVersion>> {
    let one = |word: &str| VERSIONS.iter().find(|(name, _)| name.eq_ignore_ascii_case(word.trim())).map(|(_, v)| *v);
    list.split(',').filter(|word| !word.trim().is_empty()).map(one).collect()
}

/// The suites of a colon-separated list, in its order; all of the family for an empty one. `None`: a word is no suite of it.
pub fn suites(family: Family, list: &str) -> Option<Vec<SupportedCipherSuite>> {
    let words: Vec<&str> = list.split(':').map(str::trim).filter(|word| !word.is_empty()).collect();
    let find = |id: CipherSuite| ALL_CIPHER_SUITES.iter().find(|s| s.suite() == id && family.has(s)).copied();
    if words.is_empty() {
        return Some(SUITES.iter().filter_map(|(id, _)| find(*id)).collect());
    }
    words.into_iter().map(|word| SUITES.iter().find(|(_, name)| *name == word).and_then(|(id, _)| find(*id))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_suite_of_the_library_has_a_name_and_a_family() {
        let families = [Family::Tls12, Family::Tls13].map(|family| suites(family, "").unwrap());
        assert_eq!(families[0].len() + families[1].len(), ALL_CIPHER_SUITES.len());
        assert!(ALL_CIPHER_SUITES.iter().all(|suite| !name_of(suite.suite()).is_empty()));
    }

    #[test]
    fn lists_are_read_word_by_word() {
        let two = suites(Family::Tls12, "ECDHE-RSA-AES256-GCM-SHA384:ECDHE-RSA-AES128-GCM-SHA256").unwrap();
        assert_eq!(two.iter().map(|s| name_of(s.suite())).collect::<Vec<_>>().join(" ").len(), 27 + 1 + 27);
        assert!(suites(Family::Tls12, "TLS_AES_128_GCM_SHA256").is_none(), "of the other family");
        assert!(suites(Family::Tls13, "NONSENSE").is_none());
        assert_eq!(versions("TLSv1.3, tlsv1.2").unwrap().len(), 2);
        assert!(versions("").unwrap().is_empty() && versions("TLSv1.1").is_none());
    }
}
