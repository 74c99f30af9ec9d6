//! One file of the binary log or of a relay log: plain, or encrypted behind a header (`binlog_encryption`, [`cipher::LogKey`]). Places
//! in it are those of its contents, so nobody else knows which it is.

use crate::error::{Error, Result};
use cipher::{LOG_HEADER_BYTES, LOG_MAGIC, LogKey, Vault};
use io::File;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Where keys come from, and whether new files are encrypted.
pub struct LogKeys {
    vault: Arc<Vault>,
    server_uuid: String,
    /// `binlog_encryption`. W: SET. R: who begins a file.
    on: AtomicBool,
}

impl LogKeys {
    pub fn new(vault: Arc<Vault>, server_uuid: String, on: bool) -> LogKeys {
        LogKeys { vault, server_uuid, on: AtomicBool::new(on) }
    }

    pub fn is_on(&self) -> bool {
        // Relaxed: which of two files around a change is the first encrypted one is nobody's concern.
        self.on.load(Ordering::Relaxed)
    }

    pub fn set(&self, on: bool) {
        // Relaxed: as above.
        self.on.store(on, Ordering::Relaxed);
    }

    /// Could a file be encrypted now? Errors: [`Error::Keys`].
    pub fn check(&self) -> Result<()> {
        Ok(self.vault.seal_log(&self.server_uuid).map(drop)?)
    }

    /// New files are under a new master key. Errors: [`Error::Keys`].
    pub fn rotate(&self) -> Result<()> {
        Ok(self.vault.rotate_log_master(&self.server_uuid)?)
    }
}

/// A file with its key.
pub struct LogFile {
    file: File,
    key: Option<LogKey>,
}

impl LogFile {
    /// One that is there. Errors: [`Error::Corrupt`], [`Error::Keys`] when it is encrypted and cannot be decrypted, [`Error::Io`].
    pub fn open(file: File, keys: Option<&LogKeys>) -> Result<LogFile> {
        let mut header = vec![0; LOG_HEADER_BYTES];
        let read = file.read_up_to(&mut header, 0)?;
        if read < LOG_MAGIC.len() || !header.starts_with(&LOG_MAGIC) {
            return Ok(LogFile { file, key: None });
        }
        let damaged = || Error::Corrupt(format!("'{}' has a damaged header of its encryption", file.path().display()));
        let keys = keys.ok_or_else(|| {
            Error::Keys(format!("'{}' is encrypted, and nobody knows of a keyring here", file.path().display()))
        })?;
        if read < LOG_HEADER_BYTES {
            return Err(damaged());
        }
        let key = keys.vault.open_log(&header)?.ok_or_else(damaged)?;
        Ok(LogFile { file, key: Some(key) })
    }

    /// A new one, in place of what is in `file`. Errors: [`Error::Keys`], [`Error::Io`].
    pub fn create(file: File, keys: Option<&LogKeys>) -> Result<LogFile> {
        let Some(keys) = keys.filter(|keys| keys.is_on()) else { return Ok(LogFile { file, key: None }) };
        let (header, key) = keys.vault.seal_log(&keys.server_uuid)?;
        file.write_at(&header, 0)?;
        Ok(LogFile { file, key: Some(key) })
    }

    pub fn is_encrypted(&self) -> bool {
        self.key.is_some()
    }

    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// Bytes in front of the contents.
    pub fn header_bytes(&self) -> u64 {
        if self.is_encrypted() { LOG_HEADER_BYTES as u64 } else { 0 }
    }

    /// The file as it is on disk.
    pub(crate) fn stored(&self) -> &File {
        &self.file
    }

    pub fn len(&self) -> Result<u64> {
        Ok(self.file.len()?.saturating_sub(self.header_bytes()))
    }

    pub fn is_empty(&self) -> Result<bool> {
        Ok(self.len()? == 0)
    }

    /// As [`File::read_up_to`].
    pub fn read_up_to(&self, bytes: &mut [u8], at: u64) -> Result<usize> {
        let read = self.file.read_up_to(bytes, at + self.header_bytes())?;
        if let Some(key) = &self.key {
            key.apply(at, &mut bytes[..read]);
        }
        Ok(read)
    }

    pub fn write_at(&self, bytes: &[u8], at: u64) -> Result<()> {
        let Some(key) = &self.key else { return Ok(self.file.write_at(bytes, at)?) };
        let mut sealed = bytes.to_vec();
        key.apply(at, &mut sealed);
        Ok(self.file.write_at(&sealed, at + self.header_bytes())?)
    }

    pub fn truncate(&self, len: u64) -> Result<()> {
        Ok(self.file.truncate(len + self.header_bytes())?)
    }

    pub fn sync_data(&self) -> Result<()> {
        Ok(self.file.sync_data()?)
    }

    /// Its password is under the master key in use from now on. Errors: [`Error::Corrupt`], [`Error::Keys`], [`Error::Io`].
    pub(crate) fn reseal(&self, keys: &LogKeys) -> Result<()> {
        if !self.is_encrypted() {
            return Ok(());
        }
        let mut header = vec![0; LOG_HEADER_BYTES];
        self.file.read_at(&mut header, 0)?;
        let header = keys.vault.reseal_log(&header, &keys.server_uuid)?.ok_or("a damaged header of encryption")?;
        // Less than a block of the device: it has the old one or the new one, and the keyring has both keys.
        self.file.write_at(&header, 0)?;
        self.sync_data()
    }
}
