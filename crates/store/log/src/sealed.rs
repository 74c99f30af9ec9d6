//! Sealed groups: what is filled into one is gathered, encrypted when it is complete, and decrypted by who reads it.

use std::cell::RefCell;
use std::sync::Arc;

use cipher::{Keys, NONCE_BYTES, Vault};

use crate::format::{GROUP_HEADER, GroupHeader};
use crate::{Error, Lsn, Result};

/// Bytes of a buffer that a thread keeps for its next group.
const KEPT_BYTES: usize = 256 << 10;

thread_local! {
    static BUFFER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// A payload on its way to being sealed.
pub(crate) struct Sealing {
    buffer: Vec<u8>,
}

impl Sealing {
    pub fn begin(payload_bytes: usize) -> Sealing {
        let mut buffer = BUFFER.take();
        buffer.clear();
        buffer.reserve(payload_bytes);
        Sealing { buffer }
    }

    pub fn fill(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    pub fn seal(&mut self, keys: &Keys, nonce: [u8; NONCE_BYTES], start: Lsn) -> &[u8] {
        keys.seal_group(nonce, start, &mut self.buffer);
        &self.buffer
    }

    pub fn end(self) {
        if self.buffer.capacity() <= KEPT_BYTES {
            BUFFER.set(self.buffer);
        }
    }
}

/// The keys that whoever asks for a sealed group has seen to.
pub(crate) fn keys(vault: Option<&Vault>, start: Lsn) -> &Keys {
    vault.and_then(Vault::keys).unwrap_or_else(|| panic!("the group at LSN {start} is to be sealed without keys"))
}

/// Opens groups, one at a time.
pub(crate) struct Opened {
    vault: Option<Arc<Vault>>,
    buffer: Vec<u8>,
}

impl Opened {
    pub fn new(vault: Option<Arc<Vault>>) -> Opened {
        Opened { vault, buffer: Vec::new() }
    }

    /// What a group says whose bytes begin here: header and payload, already verified.
    ///
    /// Errors: `Sealed` without keys; `Corrupt` is not found out here: the checksum was right.
    pub fn payload<'b>(&'b mut self, header: GroupHeader, start: Lsn, bytes: &'b [u8]) -> Result<&'b [u8]> {
        let payload = &bytes[GROUP_HEADER..GROUP_HEADER + header.payload_bytes as usize];
        if !header.sealed {
            return Ok(payload);
        }
        let keys = self.vault.as_deref().and_then(Vault::keys).ok_or(Error::Sealed { lsn: start })?;
        let (nonce, sealed) = payload.split_first_chunk::<NONCE_BYTES>().ok_or(Error::Sealed { lsn: start })?;
        self.buffer.clear();
        self.buffer.extend_from_slice(sealed);
        keys.seal_group(*nonce, start, &mut self.buffer);
        Ok(&self.buffer)
    }
}
