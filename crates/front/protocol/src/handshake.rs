//! Handshake packets: the server's greeting (protocol version 10) and the client's answer.
//!
//! ```text
//!  greeting  0a | version NUL | connection id 4 | scramble 8 | 00 | capabilities low 2 | collation 1 | status 2
//!            | capabilities high 2 | 15 | 10 zeros | scramble 12 NUL | plugin NUL
//!  answer    capabilities 4 | max packet 4 | collation 1 | 23 zeros | user NUL | lenenc auth reply | [database NUL]
//!            | [plugin NUL] | [lenenc attributes] | [zstd level 1]
//!  SSLRequest: the answer's first 32 bytes, before TLS begins; the whole answer follows under TLS
//! ```

use crate::auth::Plugin;
use crate::wire::{Malformed, Reader};
use crate::{Capabilities, ServerStatus};
use types::charset::Charset;
use types::collation::CollationId;

/// Length of the part of the answer that has no strings, which is all of SSLRequest.
const FIXED_BYTES: usize = 32;
/// Length of the random challenge.
pub const SCRAMBLE_BYTES: usize = 20;
/// Connection attributes of a client may take so much, as in MySQL.
const MAX_ATTRIBUTES_BYTES: usize = 64 << 10;

pub type Scramble = [u8; SCRAMBLE_BYTES];

/// Connection attributes: keys and values.
pub type Attributes<'a> = Vec<(&'a [u8], &'a [u8])>;

/// The server's first packet.
#[derive(Clone, Copy, Debug)]
pub struct Greeting<'a> {
    /// Begins with `8.4.`: clients read features off it.
    pub version: &'a str,
    pub connection_id: u32,
    pub scramble: Scramble,
    pub collation: u8,
    pub status: ServerStatus,
    pub plugin: Plugin,
}

impl<'a> Greeting<'a> {
    /// A greeting with a fresh scramble, utf8mb4_0900_ai_ci and caching_sha2_password.
    pub fn new(version: &'a str, connection_id: u32) -> Greeting<'a> {
        debug_assert!(version.starts_with("8.4."));
        Greeting {
            version,
            connection_id,
            scramble: new_scramble(),
            collation: 255,
            status: ServerStatus::AUTOCOMMIT,
            plugin: Plugin::CachingSha2,
        }
    }

    pub(crate) fn put(&self, out: &mut Vec<u8>, capabilities: Capabilities) {
        let [c0, c1, c2, c3] = capabilities.0.to_le_bytes();
        out.push(10);
        out.extend_from_slice(self.version.as_bytes());
        out.push(0);
        out.extend_from_slice(&self.connection_id.to_le_bytes());
        out.extend_from_slice(&self.scramble[..8]);
        out.extend_from_slice(&[0, c0, c1, self.collation]);
        out.extend_from_slice(&self.status.0.to_le_bytes());
        out.extend_from_slice(&[c2, c3, SCRAMBLE_BYTES as u8 + 1]);
        out.extend_from_slice(&[0; 10]);
        out.extend_from_slice(&self.scramble[8..]);
        out.push(0);
        out.extend_from_slice(self.plugin.name().as_bytes());
        out.push(0);
    }
}

/// Random bytes of the kind that old clients survive: ASCII, no NUL, no `$`.
pub fn new_scramble() -> Scramble {
    let mut scramble = [0; SCRAMBLE_BYTES];
    getrandom::fill(&mut scramble).expect("the system has a source of random bytes");
    for byte in &mut scramble {
        *byte &= 0x7f;
        if *byte == 0 || *byte == b'$' {
            *byte += 1;
        }
    }
    scramble
}

/// What the client said when it connected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Login {
    /// What client and server both have.
    pub capabilities: Capabilities,
    pub max_packet: u32,
    /// Low byte of the collation id that the client wants.
    pub collation: u16,
    pub user: String,
    pub database: Option<String>,
    /// The plugin that the client guessed; empty without PLUGIN_AUTH.
    pub plugin: String,
    /// With ZSTD_COMPRESSION_ALGORITHM; 0 without.
    pub zstd_level: u8,
    /// COMPRESS or ZSTD_COMPRESSION_ALGORITHM was asked for.
    pub wanted_compression: bool,
    pub auth_reply: Vec<u8>,
    /// What the client says of itself.
    pub attributes: Vec<(Vec<u8>, Vec<u8>)>,
    /// Filled in by the exchange: the client sent a password ("using password: YES").
    pub used_password: bool,
}

impl Login {
    /// Does the client want TLS before it logs in? `Malformed`: it says so, and yet goes on in clear text.
    pub fn is_tls_request(packet: &[u8]) -> Result<bool, Malformed> {
        let asked = Capabilities(Reader::new(packet).u32()?);
        match asked.has(Capabilities::SSL | Capabilities::PROTOCOL_41) {
            true if packet.len() == FIXED_BYTES => Ok(true),
            true => Err(Malformed),
            false => Ok(false),
        }
    }

    /// Parses HandshakeResponse41. `Malformed` is error 1043 (bad handshake): so are older protocols, and SSLRequest where TLS
    /// is not offered.
    pub fn parse(packet: &[u8], server: Capabilities) -> Result<Login, Malformed> {
        let mut reader = Reader::new(packet);
        let asked = Capabilities(reader.u32()?);
        let capabilities = asked & server;
        if !capabilities.has(Capabilities::PROTOCOL_41) {
            return Err(Malformed);
        }
        let max_packet = reader.u32()?;
        let collation = u16::from(reader.u8()?);
        reader.bytes(23)?;
        if reader.is_empty() {
            return Err(Malformed); // SSLRequest
        }
        let user = name(reader.null_terminated()?, collation);
        let auth_reply = if capabilities.has(Capabilities::PLUGIN_AUTH_LENENC_CLIENT_DATA) {
            reader.lenenc_bytes()?
        } else if capabilities.has(Capabilities::SECURE_CONNECTION) {
            let len = reader.u8()?.into();
            reader.bytes(len)?
        } else {
            reader.null_terminated()?
        };
        let auth_reply = auth_reply.to_vec();
        let database = if capabilities.has(Capabilities::CONNECT_WITH_DB) && !reader.is_empty() {
            Some(name(reader.null_terminated_or_rest(), collation)).filter(|name| !name.is_empty())
        } else {
            None
        };
        let plugin = if capabilities.has(Capabilities::PLUGIN_AUTH) {
            text(reader.null_terminated_or_rest())
        } else {
            String::new()
        };
        let attributes = match capabilities.has(Capabilities::CONNECT_ATTRS) && !reader.is_empty() {
            true => owned(&read_attributes(&mut reader)?),
            false => Vec::new(),
        };
        let zstd_level = match capabilities.has(Capabilities::ZSTD_COMPRESSION_ALGORITHM) {
            true => reader.u8()?,
            false => 0,
        };
        let wanted_compression =
            asked.has(Capabilities::COMPRESS) || asked.has(Capabilities::ZSTD_COMPRESSION_ALGORITHM);
        Ok(Login {
            capabilities,
            max_packet,
            collation,
            user,
            database,
            plugin,
            zstd_level,
            wanted_compression,
            auth_reply,
            attributes,
            used_password: false,
        })
    }
}

/// The name of a user or a schema, in the character set that the client wants to speak.
pub fn name(bytes: &[u8], collation: u16) -> String {
    let collation = CollationId(collation);
    match collation.is_known().then(|| collation.charset()) {
        Some(set) if set.is_single_byte() && set != Charset::Binary => text(&set.to_utf8(bytes)),
        _ => text(bytes),
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Attributes as a session keeps them.
pub fn owned(attributes: &Attributes<'_>) -> Vec<(Vec<u8>, Vec<u8>)> {
    attributes.iter().map(|(name, value)| (name.to_vec(), value.to_vec())).collect()
}

/// Connection attributes: a length-encoded block of length-encoded keys and values.
pub(crate) fn read_attributes<'a>(reader: &mut Reader<'a>) -> Result<Attributes<'a>, Malformed> {
    let block = reader.lenenc_bytes()?;
    if block.len() > MAX_ATTRIBUTES_BYTES {
        return Err(Malformed);
    }
    let mut block = Reader::new(block);
    let mut attributes = Vec::new();
    while !block.is_empty() {
        attributes.push((block.lenenc_bytes()?, block.lenenc_bytes()?));
    }
    Ok(attributes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_greeting_has_the_documented_bytes() {
        let greeting = Greeting { scramble: *b"abcdefghijklmnopqrst", ..Greeting::new("8.4.0", 11) };
        let mut out = Vec::new();
        greeting.put(&mut out, Capabilities(0x8bff_a1b2));
        let expected = b"\x0a8.4.0\0\x0b\0\0\0abcdefgh\0\xb2\xa1\xff\x02\0\xff\x8b\x15\
            \0\0\0\0\0\0\0\0\0\0ijklmnopqrst\0caching_sha2_password\0";
        assert_eq!(out, expected);
    }

    #[test]
    fn a_handshake_response_parses() {
        let capabilities = Capabilities::PROTOCOL_41
            | Capabilities::SECURE_CONNECTION
            | Capabilities::CONNECT_WITH_DB
            | Capabilities::PLUGIN_AUTH
            | Capabilities::CONNECT_ATTRS
            | Capabilities::COMPRESS;
        let mut packet = capabilities.0.to_le_bytes().to_vec();
        packet.extend_from_slice(b"\0\0\0\x01\xff");
        packet.extend_from_slice(&[0; 23]);
        let fixed = packet.len();
        packet.extend_from_slice(b"pam\0\x04abcdtest\0mysql_native_password\0\x08\x03_os\x03lin");
        let login = Login::parse(&packet, Capabilities::SERVER).unwrap();
        assert_eq!(login.capabilities, capabilities.with(Capabilities::COMPRESS, false));
        assert_eq!((login.user.as_str(), login.auth_reply.as_slice()), ("pam", &b"abcd"[..]));
        assert_eq!((login.database.as_deref(), login.plugin.as_str()), (Some("test"), "mysql_native_password"));
        assert_eq!(login.max_packet, 1 << 24);
        assert_eq!(Login::parse(&packet[..fixed], Capabilities::SERVER), Err(Malformed), "SSLRequest");
        assert_eq!(Login::is_tls_request(&packet), Ok(false));
        packet[..4].copy_from_slice(&(capabilities | Capabilities::SSL).0.to_le_bytes());
        assert_eq!((fixed, Login::is_tls_request(&packet[..fixed])), (32, Ok(true)));
        assert_eq!(Login::is_tls_request(&packet), Err(Malformed), "a login in clear text that says TLS");
        assert_eq!(Login::parse(&packet[..packet.len() - 1], Capabilities::SERVER), Err(Malformed));
    }
}
