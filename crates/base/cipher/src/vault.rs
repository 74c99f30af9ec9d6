//! The data keys of a data directory, wrapped in a file there:
//!
//! ```text
//!  0          8       12          16                 16+n      28+n
//!  +----------+-------+-----------+------------------+---------+-------------------------------+--------+
//!  | CWKEYS01 | crc32 | length n  | name of the      | nonce   | data keys, AES-256-GCM under  | tag    |
//!  |          |       | of name   | master key       | 12      | the master key                | 16     |
//!  +----------+-------+-----------+------------------+---------+-------------------------------+--------+
//!  crc32 over the bytes 12.. ; the tag also covers length and name; little-endian
//! ```
//!
//! The file is made when the first thing is to be encrypted, and durable before that is written; it is never removed, since old
//! log, free pages and backups need it. A rotation replaces it as a whole. The master key is durable in the keyring before
//! the file is wrapped with it, and stays there: copies of the data directory from before need it.

use crate::keyring::{self, Keyring, KeyringConfig};
use crate::keys::{KEY_BYTES, Keys};
use crate::{Error, Result, random, scratch};
use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use io::{Destination, Directory};
use std::path::PathBuf;
use std::sync::OnceLock;
use sync::{Mutex, Rank};

mod log_files;

pub use log_files::{LOG_HEADER_BYTES, LOG_MAGIC, LogKey};

pub const FILE_NAME: &str = "clearway.keys";
const MAGIC: &[u8; 8] = b"CWKEYS01";
const CRC_AT: usize = 8;
const LENGTH_AT: usize = 12;
const NAME_AT: usize = 16;
const TAG_BYTES: usize = 16;
const MASTER_KEY_BYTES: usize = 32;
/// What MySQL calls the master keys of InnoDB: this, an identity, a dash and a number.
const MASTER_KEY_PREFIX: &str = "INNODBKey-";

/// The keys of one data directory.
pub struct Vault {
    directory: PathBuf,
    /// W: rotation, RELOAD KEYRING, the first use. R: who asks what keys there are. Across the write of both files.
    state: Mutex<State>,
    /// W: once, at the start or by the first use. R: who reads or writes something encrypted.
    keys: OnceLock<Keys>,
}

#[derive(Default)]
struct State {
    config: Option<KeyringConfig>,
    keyring: Keyring,
    /// What the data keys are wrapped with.
    master: Option<String>,
}

/// Where a keyring is and what it has, for `performance_schema`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyringStatus {
    pub path: PathBuf,
    pub read_only: bool,
    /// Name and owner of each key.
    pub keys: Vec<(String, String)>,
}

impl Vault {
    /// Reads the keyring's configuration, the keyring, and the data keys, as far as they are there.
    ///
    /// Errors: [`Error::NoKeyring`], [`Error::NoMasterKey`] when there are data keys and they cannot be unwrapped: nothing that is
    /// encrypted can be read then; [`Error::Damaged`]; [`Error::Io`].
    pub fn open(directory: &Directory) -> Result<Vault> {
        let config = KeyringConfig::load(directory)?;
        keyring::remove_unfinished(directory, FILE_NAME)?;
        if let Some(config) = config.as_ref().filter(|config| !config.read_only) {
            config.remove_unfinished()?;
        }
        let keyring = match &config {
            Some(config) => Keyring::load(&config.path)?,
            None => Keyring::default(),
        };
        let vault = Vault {
            directory: directory.path().into(),
            state: Mutex::new(Rank::Keys, State { config, keyring, master: None }),
            keys: OnceLock::new(),
        };
        let file = directory.join(FILE_NAME);
        if let Some(bytes) = keyring::read(&file)? {
            let wrapped = Wrapped::decode(&bytes).map_err(|why| Error::Damaged { file, why: why.into() })?;
            let mut state = vault.state.lock();
            let keys = state.unwrap(&wrapped)?;
            state.master = Some(wrapped.name);
            drop(state);
            vault.publish(&keys)?;
        }
        Ok(vault)
    }

    fn publish(&self, keys: &[u8; KEY_BYTES]) -> Result<&Keys> {
        let keys = Keys::new(keys)?;
        scratch::seal_from_now_on();
        Ok(self.keys.get_or_init(|| keys))
    }

    /// The data keys, if anything has ever been encrypted.
    #[inline]
    pub fn keys(&self) -> Option<&Keys> {
        self.keys.get()
    }

    /// The data keys, made and durable when there are none.
    ///
    /// Errors: [`Error::NoKeyring`], [`Error::ReadOnly`], [`Error::Io`]. Of keys that are there: none but [`Error::NoMasterKey`], when the
    /// keyring has lost the key in the meantime, so that nobody encrypts what a start could not read.
    pub fn make_keys(&self) -> Result<&Keys> {
        let mut state = self.state.lock();
        if let (Some(keys), Some(master)) = (self.keys.get(), &state.master) {
            return if state.keyring.get(master).is_some() {
                Ok(keys)
            } else {
                Err(Error::NoMasterKey(master.clone()))
            };
        }
        if state.config.is_none() {
            return Err(Error::NoKeyring);
        }
        let keys: [u8; KEY_BYTES] = random();
        let identity = uuid();
        let master = state.make_master(|_| format!("{MASTER_KEY_PREFIX}{identity}-1"))?;
        self.wrap(&mut state, master, &keys)?;
        self.publish(&keys)
    }

    /// ALTER INSTANCE ROTATE INNODB MASTER KEY: a new master key, and the data keys wrapped with it. Makes them if there are none.
    ///
    /// Errors: those of [`Vault::make_keys`].
    pub fn rotate(&self) -> Result<()> {
        self.make_keys()?;
        let mut state = self.state.lock();
        let file = Directory::open(&self.directory)?.join(FILE_NAME);
        let bytes = keyring::read(&file)?.unwrap_or_default();
        let wrapped = Wrapped::decode(&bytes).map_err(|why| Error::Damaged { file, why: why.into() })?;
        let keys = state.unwrap(&wrapped)?;
        let (stem, number) = wrapped.name.rsplit_once('-').unwrap_or((&wrapped.name, "0"));
        let number: u64 = number.parse().unwrap_or(0);
        // A number whose rotation was cut short is passed over.
        let master = state.make_master(|attempt| format!("{stem}-{}", number + 1 + attempt))?;
        self.wrap(&mut state, master, &keys)
    }

    /// ALTER INSTANCE RELOAD KEYRING: reads the configuration and the keyring anew. What was unwrapped stays so.
    ///
    /// Errors: [`Error::NoKeyring`], [`Error::Damaged`], [`Error::Io`]; the keyring is then what it was.
    pub fn reload(&self) -> Result<()> {
        let mut state = self.state.lock();
        let config = KeyringConfig::load(&Directory::open(&self.directory)?)?.ok_or(Error::NoKeyring)?;
        state.keyring = Keyring::load(&config.path)?;
        state.config = Some(config);
        Ok(())
    }

    /// `None`: there is no keyring.
    pub fn keyring_status(&self) -> Option<KeyringStatus> {
        let state = self.state.lock();
        let config = state.config.as_ref()?;
        Some(KeyringStatus { path: config.path.clone(), read_only: config.read_only, keys: state.keyring.listed() })
    }

    /// Gives a copy of the data directory the data keys, if there are any, wrapped as they are. Error: [`Error::Io`].
    pub fn copy_to(&self, copy: &dyn Destination) -> Result<()> {
        let stored = {
            let _state = self.state.lock();
            keyring::read(&self.directory.join(FILE_NAME))?
        };
        Ok(stored.map_or(Ok(()), |bytes| copy.put(FILE_NAME, &bytes))?)
    }

    fn wrap(&self, state: &mut State, master: String, keys: &[u8; KEY_BYTES]) -> Result<()> {
        let key = state.keyring.get(&master).ok_or_else(|| Error::NoMasterKey(master.clone()))?;
        let bytes = Wrapped::encode(&master, &key, keys).ok_or_else(|| Error::NoMasterKey(master.clone()))?;
        keyring::replace(&Directory::open(&self.directory)?, FILE_NAME, &bytes)?;
        state.master = Some(master);
        Ok(())
    }
}

impl std::fmt::Debug for Vault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Vault({})", self.directory.display())
    }
}

impl State {
    fn unwrap(&self, wrapped: &Wrapped) -> Result<[u8; KEY_BYTES]> {
        if self.config.is_none() {
            return Err(Error::NoKeyring);
        }
        let key = self.keyring.get(&wrapped.name);
        key.and_then(|key| wrapped.unwrap(&key)).ok_or_else(|| Error::NoMasterKey(wrapped.name.clone()))
    }

    /// A new master key, durable in the keyring, under the first name that is free. The file is read anew: others may use it, too.
    fn make_master(&mut self, name: impl Fn(u64) -> String) -> Result<String> {
        let config = self.config.as_ref().ok_or(Error::NoKeyring)?;
        if config.read_only {
            return Err(Error::ReadOnly);
        }
        let mut keyring = Keyring::load(&config.path)?;
        let id = (0..).map(name).find(|id| keyring.get(id).is_none()).expect("numbers do not end");
        keyring.put(&id, &random::<MASTER_KEY_BYTES>());
        keyring.store(&config.path)?;
        self.keyring = keyring;
        Ok(id)
    }
}

/// The file's parts.
struct Wrapped {
    name: String,
    head: Vec<u8>,
    nonce: [u8; NONCE_LEN],
    sealed: Vec<u8>,
}

impl Wrapped {
    fn encode(name: &str, master: &[u8], keys: &[u8; KEY_BYTES]) -> Option<Vec<u8>> {
        let head = [&(name.len() as u32).to_le_bytes(), name.as_bytes()].concat();
        let nonce: [u8; NONCE_LEN] = random();
        let mut sealed = keys.to_vec();
        let key = LessSafeKey::new(UnboundKey::new(&AES_256_GCM, master).ok()?);
        let tag = key
            .seal_in_place_separate_tag(Nonce::assume_unique_for_key(nonce), Aad::from(&head), &mut sealed)
            .expect("a hundred bytes are not too many");
        let body = [&head[..], &nonce, &sealed, tag.as_ref()].concat();
        Some([&MAGIC[..], &crc32fast::hash(&body).to_le_bytes(), &body].concat())
    }

    fn decode(bytes: &[u8]) -> std::result::Result<Wrapped, &'static str> {
        let word = |at: usize| Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
        if !bytes.starts_with(MAGIC) {
            return Err("no file of keys");
        }
        if word(CRC_AT) != Some(crc32fast::hash(bytes.get(LENGTH_AT..).unwrap_or_default())) {
            return Err("checksum mismatch");
        }
        let split = || {
            let length = word(LENGTH_AT)? as usize;
            let (name, rest) = bytes.get(NAME_AT..)?.split_at_checked(length)?;
            let (nonce, sealed) = rest.split_first_chunk()?;
            (sealed.len() == KEY_BYTES + TAG_BYTES).then_some(())?;
            let name = String::from_utf8(name.to_vec()).ok()?;
            let head = bytes[LENGTH_AT..NAME_AT + length].to_vec();
            Some(Wrapped { name, head, nonce: *nonce, sealed: sealed.to_vec() })
        };
        split().ok_or("its parts do not fit")
    }

    /// `None`: it is another key.
    fn unwrap(&self, master: &[u8]) -> Option<[u8; KEY_BYTES]> {
        let key = LessSafeKey::new(UnboundKey::new(&AES_256_GCM, master).ok()?);
        let mut bytes = self.sealed.clone();
        let nonce = Nonce::assume_unique_for_key(self.nonce);
        key.open_in_place(nonce, Aad::from(&self.head), &mut bytes).ok()?.first_chunk().copied()
    }
}

/// A random identity in the form of a UUID, version 4.
pub fn uuid() -> String {
    let mut bytes: [u8; 16] = random();
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keyring::CONFIG_FILE;
    use io::OpenOptions;
    use io::faults::SimDisk;

    struct Home {
        disk: SimDisk,
        directory: Directory,
    }

    impl Home {
        fn new(name: &str) -> Home {
            let disk = SimDisk::mount(format!("/sim/vault-{name}"), 1);
            let home = Home { directory: Directory::open(disk.root()).unwrap(), disk };
            home.configure(r#"{"path": "keyring"}"#);
            home
        }

        fn configure(&self, text: &str) {
            keyring::replace(&self.directory, CONFIG_FILE, text.as_bytes()).unwrap();
        }

        fn open(&self) -> Result<Vault> {
            Vault::open(&self.directory)
        }
    }

    /// Whether both have the same data keys.
    fn agree(a: &Vault, b: &Vault) -> bool {
        let sealed = |vault: &Vault| {
            let mut bytes = [5; 64];
            vault.keys().unwrap().seal_page(1, 2, &mut bytes);
            vault.keys().unwrap().seal_group([1; 8], 16, &mut bytes);
            bytes
        };
        sealed(a) == sealed(b)
    }

    #[test]
    fn keys_are_made_once_and_survive_rotations() {
        let home = Home::new("rotate");
        let vault = home.open().unwrap();
        assert!(vault.keys().is_none());
        vault.make_keys().unwrap();
        vault.make_keys().unwrap();
        assert_eq!(vault.keyring_status().unwrap().keys.len(), 1);
        assert!(agree(&vault, &home.open().unwrap()));
        for rotations in 1..=3 {
            vault.rotate().unwrap();
            let again = home.open().unwrap();
            assert!(agree(&vault, &again));
            assert_eq!(again.keyring_status().unwrap().keys.len(), 1 + rotations);
        }
        let first = &vault.keyring_status().unwrap().keys[0].0;
        assert!(first.starts_with("INNODBKey-") && first.ends_with("-1"), "{first}");
        // What is in the file is not the keys.
        let other = Home::new("other");
        let stranger = other.open().unwrap();
        stranger.make_keys().unwrap();
        assert!(!agree(&vault, &stranger));
        other.disk.unmount();
        home.disk.unmount();
    }

    #[test]
    fn without_the_right_keyring_nothing_opens() {
        let home = Home::new("lost");
        let vault = home.open().unwrap();
        vault.make_keys().unwrap();
        let keyring = keyring::read(&home.directory.join("keyring")).unwrap().unwrap();
        let is_refused = || matches!(home.open(), Err(Error::NoMasterKey(id)) if id.starts_with("INNODBKey-"));
        home.directory.remove("keyring").unwrap();
        assert!(is_refused());
        // Another key under the same name.
        let mut wrong = Keyring::default();
        wrong.put(&vault.keyring_status().unwrap().keys[0].0, &[7; 32]);
        wrong.store(&home.directory.join("keyring")).unwrap();
        assert!(is_refused());
        home.directory.remove(CONFIG_FILE).unwrap();
        assert!(matches!(home.open(), Err(Error::NoKeyring)));
        assert!(matches!(vault.reload(), Err(Error::NoKeyring)));
        home.configure(r#"{"path": "keyring", "read_only": true}"#);
        keyring::replace(&home.directory, "keyring", &keyring).unwrap();
        let read_only = home.open().unwrap();
        assert!(agree(&vault, &read_only));
        assert!(matches!(read_only.rotate(), Err(Error::ReadOnly)));
        assert!(agree(&vault, &home.open().unwrap()));
        // A server that runs notices on RELOAD KEYRING, before it encrypts more.
        home.directory.remove("keyring").unwrap();
        vault.reload().unwrap();
        assert!(matches!(vault.make_keys(), Err(Error::NoMasterKey(_))));
        home.disk.unmount();
    }

    #[test]
    fn damage_shows() {
        let home = Home::new("damage");
        home.open().unwrap().make_keys().unwrap();
        let good = keyring::read(&home.directory.join(FILE_NAME)).unwrap().unwrap();
        for at in 0..good.len() {
            let mut bad = good.clone();
            bad[at] ^= 1;
            keyring::replace(&home.directory, FILE_NAME, &bad).unwrap();
            assert!(matches!(home.open(), Err(Error::Damaged { .. })), "byte {at}");
        }
        home.disk.unmount();
    }

    /// At each operation of a rotation the power fails: either master key unwraps the same data keys.
    #[test]
    fn a_rotation_may_be_cut_short_anywhere() {
        for operation in 1.. {
            let home = Home::new("cut");
            let vault = home.open().unwrap();
            vault.make_keys().unwrap();
            home.disk.crash_at_change(operation);
            let outcome = vault.rotate();
            home.disk.crash();
            home.disk.reboot();
            let directory = Directory::open(home.disk.root()).unwrap();
            let again = Vault::open(&directory).unwrap();
            assert!(agree(&vault, &again), "operation {operation}");
            again.rotate().unwrap();
            assert!(agree(&again, &Vault::open(&directory).unwrap()));
            home.disk.unmount();
            if outcome.is_ok() {
                assert!(operation > 8, "it writes two files");
                break;
            }
        }
    }

    #[test]
    fn the_keyring_is_its_owners_alone() {
        let path = std::env::temp_dir().join(format!("clearway-vault-{}", std::process::id()));
        let directory = Directory::open_or_create(&path).unwrap();
        keyring::replace(&directory, CONFIG_FILE, br#"{"path": "keyring"}"#).unwrap();
        Vault::open(&directory).unwrap().make_keys().unwrap();
        for name in ["keyring", FILE_NAME] {
            use std::os::unix::fs::PermissionsExt;
            let mode = std::fs::metadata(directory.join(name)).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{name}");
        }
        let _ = directory.open_file(FILE_NAME, OpenOptions::read(sync::waits::Wait::MiscFile)).unwrap();
        std::fs::remove_dir_all(path).unwrap();
    }
}
