//! Sets of byte strings.

use expr::Execution;
use types::Result;

/// Byte strings seen so far, kept in one buffer.
#[derive(Default)]
pub struct KeySet {
    table: hashbrown::HashTable<(u32, u32)>,
    bytes: Vec<u8>,
}

/// The same in all executions: spilled rows are divided by it.
pub fn hash_bytes(bytes: &[u8]) -> u64 {
    use std::hash::BuildHasher;
    foldhash::fast::FixedState::default().hash_one(bytes)
}

impl KeySet {
    /// Empties the set and keeps its memory.
    pub fn clear(&mut self) {
        self.table.clear();
        self.bytes.clear();
    }

    /// Has the key been put in?
    pub fn contains(&self, key: &[u8]) -> bool {
        self.table.find(hash_bytes(key), |e| &self.bytes[e.0 as usize..e.1 as usize] == key).is_some()
    }

    /// Bytes that it takes, roughly.
    pub fn memory(&self) -> usize {
        self.bytes.len() + self.table.len() * 2 * size_of::<(u32, u32)>()
    }

    /// True when the key is new.
    pub fn insert(&mut self, run: &impl Execution, key: &[u8]) -> Result<bool> {
        let bytes = &self.bytes;
        let of = |e: &(u32, u32)| &bytes[e.0 as usize..e.1 as usize];
        let hash = hash_bytes(key);
        if self.table.find(hash, |e| of(e) == key).is_some() {
            return Ok(false);
        }
        run.check_growth(bytes.len() + key.len())?;
        let entry = (bytes.len() as u32, (bytes.len() + key.len()) as u32);
        self.table.insert_unique(hash, entry, |e| hash_bytes(of(e)));
        self.bytes.extend_from_slice(key);
        Ok(true)
    }
}
