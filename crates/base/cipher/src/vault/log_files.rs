//! Files of the binary log and of relay logs, encrypted as MySQL does it (`binlog_encryption`), so that either server's tools know them:
//!
//! ```text
//!   header, 512 bytes    fd 62 69 6e | version 1 | fields: type, value | zeroes
//!      1  name of the master key, behind its length       MySQLReplicationKey_<server's UUID>_<number>
//!      2  the file's password, 32 bytes, AES-256-CBC under the master key
//!      3  what that begins with, 16 bytes
//!   contents             AES-256-CTR; SHA-512 of the password is the key (32 bytes) and the first half of the counter (8 bytes), the other
//!                        half of it the number of the block of 16 bytes
//! ```
//! The keyring has the master keys, and under the name without a number which of them is in use: that number, in 16 bytes. A rotation
//! wraps passwords anew, no contents; former master keys stay, since copies of the files need them.

use super::{State, Vault};
use crate::aes::{self, BLOCK, CTR_KEY_BYTES, Ctr};
use crate::keyring::Keyring;
use crate::{Error, Result, random};
use aws_lc_rs::digest::{SHA512, digest};

/// What stands in front of an encrypted file's contents.
pub const LOG_HEADER_BYTES: usize = 512;
/// What an encrypted file begins with.
pub const LOG_MAGIC: [u8; 4] = [0xFD, b'b', b'i', b'n'];

const VERSION: u8 = 1;
const KEY_NAME: u8 = 1;
const PASSWORD: u8 = 2;
const VECTOR: u8 = 3;
const PASSWORD_BYTES: usize = 32;
const NONCE_BYTES: usize = 8;
const KEY_PREFIX: &str = "MySQLReplicationKey_";
const MASTER_BYTES: usize = 32;

/// The key of one file's contents.
pub struct LogKey {
    ctr: Ctr,
    nonce: [u8; NONCE_BYTES],
}

impl LogKey {
    fn new(password: &[u8; PASSWORD_BYTES]) -> LogKey {
        let sum = digest(&SHA512, password);
        let (key, rest) = sum.as_ref().split_first_chunk::<CTR_KEY_BYTES>().expect("64 bytes");
        LogKey { ctr: Ctr::new(key), nonce: *rest.first_chunk().expect("32 bytes") }
    }

    /// Encrypts bytes that stand at `offset` behind the header, or decrypts them.
    pub fn apply(&self, offset: u64, bytes: &mut [u8]) {
        let mut counter = [0; BLOCK];
        counter[..NONCE_BYTES].copy_from_slice(&self.nonce);
        counter[NONCE_BYTES..].copy_from_slice(&(offset / BLOCK as u64).to_be_bytes());
        self.ctr.apply(counter, (offset % BLOCK as u64) as usize, bytes);
    }
}

/// A header's parts.
struct Header {
    key_name: String,
    password: [u8; PASSWORD_BYTES],
    vector: [u8; BLOCK],
}

impl Header {
    fn encode(&self) -> Vec<u8> {
        let mut bytes = LOG_MAGIC.to_vec();
        bytes.extend_from_slice(&[VERSION, KEY_NAME, self.key_name.len() as u8]);
        bytes.extend_from_slice(self.key_name.as_bytes());
        bytes.push(PASSWORD);
        bytes.extend_from_slice(&self.password);
        bytes.push(VECTOR);
        bytes.extend_from_slice(&self.vector);
        bytes.resize(LOG_HEADER_BYTES, 0);
        bytes
    }

    fn decode(bytes: &[u8]) -> Option<Header> {
        let mut rest = bytes.get(..LOG_HEADER_BYTES)?.strip_prefix(&LOG_MAGIC)?.strip_prefix(&[VERSION])?;
        let (mut key_name, mut password, mut vector) = (None, None, None);
        while let Some((field, value)) = rest.split_first() {
            rest = match *field {
                KEY_NAME => {
                    let (len, value) = value.split_first()?;
                    let (name, behind) = value.split_at_checked(usize::from(*len))?;
                    key_name = Some(String::from_utf8(name.to_vec()).ok()?);
                    behind
                }
                PASSWORD => {
                    let (found, behind) = value.split_first_chunk()?;
                    password = Some(*found);
                    behind
                }
                VECTOR => {
                    let (found, behind) = value.split_first_chunk()?;
                    vector = Some(*found);
                    behind
                }
                0 => break,
                _ => return None,
            };
        }
        Some(Header { key_name: key_name?, password: password?, vector: vector? })
    }
}

impl Vault {
    /// A header for a new file, and its key: under the master key in use, made and durable when there is none.
    ///
    /// Errors: [`Error::NoKeyring`], [`Error::NoMasterKey`], [`Error::ReadOnly`], [`Error::Damaged`], [`Error::Io`].
    pub fn seal_log(&self, server_uuid: &str) -> Result<(Vec<u8>, LogKey)> {
        let mut state = self.state.lock();
        let password: [u8; PASSWORD_BYTES] = random();
        let header = wrap(&mut state, server_uuid, password)?;
        Ok((header, LogKey::new(&password)))
    }

    /// The key of a file with this header.
    ///
    /// Errors: [`Error::NoKeyring`], [`Error::NoMasterKey`]; `None`: it is no such header.
    pub fn open_log(&self, header: &[u8]) -> Result<Option<LogKey>> {
        let Some(header) = Header::decode(header) else { return Ok(None) };
        let state = self.state.lock();
        Ok(Some(LogKey::new(&unwrap(&state, &header)?)))
    }

    /// The header wrapped under the master key in use.
    ///
    /// Errors: as [`Vault::seal_log`]; `None`: it is no such header.
    pub fn reseal_log(&self, header: &[u8], server_uuid: &str) -> Result<Option<Vec<u8>>> {
        let Some(header) = Header::decode(header) else { return Ok(None) };
        let mut state = self.state.lock();
        let password = unwrap(&state, &header)?;
        wrap(&mut state, server_uuid, password).map(Some)
    }

    /// ALTER INSTANCE ROTATE BINLOG MASTER KEY: new files are under a new master key. Errors: as [`Vault::seal_log`].
    pub fn rotate_log_master(&self, server_uuid: &str) -> Result<()> {
        let mut state = self.state.lock();
        let present = master(&mut state, server_uuid)?;
        let number: u32 = present.rsplit('_').next().and_then(|n| n.parse().ok()).unwrap_or(0);
        next_master(&mut state, server_uuid, number.saturating_add(1)).map(drop)
    }
}

fn key(state: &State, name: &str) -> Result<[u8; MASTER_BYTES]> {
    if state.config.is_none() {
        return Err(Error::NoKeyring);
    }
    let found = state.keyring.get(name).and_then(|key| <[u8; MASTER_BYTES]>::try_from(key).ok());
    found.ok_or_else(|| Error::NoMasterKey(name.to_string()))
}

/// The name of the master key in use.
fn master(state: &mut State, server_uuid: &str) -> Result<String> {
    let stem = format!("{KEY_PREFIX}{server_uuid}");
    match state.keyring.get(&stem).and_then(|word| word.first_chunk::<4>().copied()) {
        Some(number) => Ok(format!("{stem}_{}", u32::from_le_bytes(number))),
        None => next_master(state, server_uuid, 1),
    }
}

/// A new one, in use once it is durable. The file is read anew: others may use it, too.
fn next_master(state: &mut State, server_uuid: &str, from: u32) -> Result<String> {
    let config = state.config.as_ref().ok_or(Error::NoKeyring)?;
    if config.read_only {
        return Err(Error::ReadOnly);
    }
    let stem = format!("{KEY_PREFIX}{server_uuid}");
    let mut keyring = Keyring::load(&config.path)?;
    let is_free = |number: &u32| keyring.get(&format!("{stem}_{number}")).is_none();
    let number = (from..).find(is_free).expect("numbers do not end");
    let name = format!("{stem}_{number}");
    keyring.put(&name, &random::<MASTER_BYTES>());
    let mut in_use = [0; 16];
    in_use[..4].copy_from_slice(&number.to_le_bytes());
    keyring.put(&stem, &in_use);
    keyring.store(&config.path)?;
    state.keyring = keyring;
    Ok(name)
}

fn wrap(state: &mut State, server_uuid: &str, mut password: [u8; PASSWORD_BYTES]) -> Result<Vec<u8>> {
    let key_name = master(state, server_uuid)?;
    let vector = random();
    aes::cbc(&key(state, &key_name)?, &vector, &mut password, true);
    Ok(Header { key_name, password, vector }.encode())
}

fn unwrap(state: &State, header: &Header) -> Result<[u8; PASSWORD_BYTES]> {
    let mut password = header.password;
    aes::cbc(&key(state, &header.key_name)?, &header.vector, &mut password, false);
    Ok(password)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keyring::CONFIG_FILE;
    use io::faults::SimDisk;
    use io::{Directory, OpenOptions};

    const UUID: &str = "4d4de12f-e803-11f1-a8ee-02fc00000001";

    fn vault(disk: &SimDisk, keyring: &str) -> Vault {
        let directory = Directory::open(disk.root()).unwrap();
        let write = |name: &str, text: &str| {
            let file = directory
                .open_file(name, OpenOptions { truncate: true, ..OpenOptions::create(sync::waits::Wait::MiscFile) })
                .unwrap();
            file.write_at(text.as_bytes(), 0).unwrap();
        };
        write(CONFIG_FILE, r#"{"path": "keyring"}"#);
        if !keyring.is_empty() {
            write("keyring", keyring);
        }
        Vault::open(&directory).unwrap()
    }

    fn bytes(hex: &str) -> Vec<u8> {
        (0..hex.len() / 2).map(|i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).unwrap()).collect()
    }

    /// The header and the first bytes of a file that MySQL 9.7 has written, and its keyring.
    #[test]
    fn mysqls_file_is_read() {
        let disk = SimDisk::mount("/sim/log-key", 1);
        let keyring = format!(
            r#"{{"version":"1.0","elements":[{{"user":"","data_id":"MySQLReplicationKey_{UUID}_2","data_type":"AES",
            "data":"14DE548C9EDC0475209181144C69641B43F201C76209820E8C3BDF7E95A48E2B","extension":[]}}]}}"#
        );
        let vault = vault(&disk, &keyring);
        let mut header = bytes("fd62696e01013a");
        header.extend_from_slice(format!("MySQLReplicationKey_{UUID}_2").as_bytes());
        header.extend(bytes(
            "0252b23ddd8a5aebb28e2faab482c8a53d58b7bf8b5fee5f8ca96b63c51df5dd85033ac4144a5c2e88bbffcd18764076f63d",
        ));
        header.resize(LOG_HEADER_BYTES, 0);
        let key = vault.open_log(&header).unwrap().unwrap();
        let mut first = [0x71, 0x02, 0xED, 0xC6];
        key.apply(0, &mut first);
        assert_eq!(first, [0xFE, b'b', b'i', b'n']);
        assert!(vault.open_log(&header[1..]).unwrap().is_none());
        disk.unmount();
    }

    #[test]
    fn passwords_are_wrapped_anew_and_contents_stay() {
        let disk = SimDisk::mount("/sim/log-key-rotation", 1);
        let vault = vault(&disk, "");
        let (header, key) = vault.seal_log(UUID).unwrap();
        let mut text = *b"a text that is longer than one block of sixteen bytes";
        key.apply(5, &mut text);
        vault.rotate_log_master(UUID).unwrap();
        let again = vault.reseal_log(&header, UUID).unwrap().unwrap();
        assert_ne!(header, again);
        for header in [&header, &again] {
            let mut part = text;
            let key = vault.open_log(header).unwrap().unwrap();
            let (first, second) = part.split_at_mut(19);
            key.apply(5, first);
            key.apply(24, second);
            assert_eq!(&part, b"a text that is longer than one block of sixteen bytes");
        }
        let numbered = |n: u32| format!("MySQLReplicationKey_{UUID}_{n}");
        let names: Vec<String> = vault.keyring_status().unwrap().keys.into_iter().map(|(name, _)| name).collect();
        assert!(names.contains(&numbered(1)) && names.contains(&numbered(2)));
        disk.unmount();
    }
}
