//! What a snapshot has seen of rows that have newer versions, so that their chains are not walked anew.
//!
//! A row that was updated a thousand times since an old snapshot has up to a thousand entries in an index on what was updated, and
//! only the row can tell of each whether it belongs to the snapshot. Without memory each would cost the walk over the row's whole
//! chain, and where undo is no longer in the pool, a read from disk a step. What a snapshot sees of a row never changes, but by
//! the transaction's own writes, whose versions are the newest and need no walk.

use crate::version::Header;
use foldhash::fast::RandomState;
use hashbrown::HashTable;
use std::hash::BuildHasher;

/// Bytes of rows and keys that half of the memory takes.
const HALF_BYTES: usize = 4 << 20;

/// A transaction's memory, for one snapshot. When a half is full, the other is forgotten: what was asked for stays.
#[derive(Default)]
pub struct Versions {
    /// Undo records read so far.
    pub steps: u64,
    young: HashTable<Version>,
    young_bytes: usize,
    old: HashTable<Version>,
    hasher: RandomState,
}

/// A row as it is stored; with a deletion's header if the snapshot sees none.
struct Version {
    tree: u32,
    key: Box<[u8]>,
    header: Header,
    row: Box<[u8]>,
}

impl Version {
    fn is(&self, tree: u32, key: &[u8]) -> bool {
        self.tree == tree && *self.key == *key
    }

    fn bytes(&self) -> usize {
        size_of::<Version>() + self.key.len() + self.row.len()
    }
}

impl Versions {
    /// What the snapshot sees of the row: its header, and in `row` its bytes as they are stored.
    pub fn get(&mut self, tree: u32, key: &[u8], row: &mut Vec<u8>) -> Option<Header> {
        if self.young.is_empty() && self.old.is_empty() {
            return None;
        }
        let hash = self.hasher.hash_one((tree, key));
        if self.young.find(hash, |v| v.is(tree, key)).is_none() {
            let (version, _) = self.old.find_entry(hash, |v| v.is(tree, key)).ok()?.remove();
            self.keep(hash, version);
        }
        let version = self.young.find(hash, |v| v.is(tree, key))?;
        row.clear();
        row.extend_from_slice(&version.row);
        Some(version.header)
    }

    /// Remembers what [`Versions::get`] did not know.
    pub fn put(&mut self, tree: u32, key: &[u8], header: Header, row: &[u8]) {
        let hash = self.hasher.hash_one((tree, key));
        self.keep(hash, Version { tree, key: key.into(), header, row: row.into() });
    }

    fn keep(&mut self, hash: u64, version: Version) {
        if self.young_bytes > HALF_BYTES {
            self.old = std::mem::take(&mut self.young);
            self.young_bytes = 0;
        }
        self.young_bytes += version.bytes();
        let hasher = &self.hasher;
        self.young.insert_unique(hash, version, |v| hasher.hash_one((v.tree, &*v.key)));
    }

    /// The snapshot is over.
    #[inline]
    pub fn forget(&mut self) {
        if self.young_bytes != 0 {
            *self = Versions::default();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cursor, Direction, Engine, EngineOptions, Isolation, Range, Read, Transaction, TreeKind};
    use std::ops::Bound;

    /// Each update of the row leaves an entry that only the row can tell of.
    #[test]
    fn an_index_scan_walks_the_chain_of_a_row_once() {
        const UPDATES: u64 = 500;
        let datadir = std::env::temp_dir().join(format!("clearway-versions-{}", std::process::id()));
        std::fs::create_dir_all(&datadir).unwrap();
        let options = EngineOptions {
            datadir: datadir.clone(),
            buffer_pool_bytes: 32 << 20,
            log_capacity_bytes: 64 << 20,
            log_buffer_bytes: 16 << 20,
            address_space_bytes: 1 << 30,
            doublewrite: true,
            direct_io: false,
            flush_log_at_commit: 0,
            read_io_threads: 0,
            write_io_threads: 2,
            purge_threads: 2,
            events_from: None,
        };
        let engine = Engine::open(options, &mut |_| ()).unwrap();
        let begin = || {
            let mut tx = Transaction::new(&engine).unwrap();
            tx.begin(Isolation::RepeatableRead, false);
            tx
        };
        let mut writer = begin();
        let rows = engine.create_tree(&mut writer, TreeKind::Clustered).unwrap();
        let index = engine.create_tree(&mut writer, TreeKind::Secondary).unwrap();
        writer.insert(rows, b"row", &0u64.to_be_bytes()).unwrap();
        writer.index_insert(index, &0u64.to_be_bytes(), None, b"").unwrap();
        writer.commit().unwrap();
        let mut old = begin();
        old.take_snapshot();
        for n in 0..UPDATES {
            let mut writer = begin();
            writer.update(rows, b"row", &(n + 1).to_be_bytes()).unwrap();
            writer.index_delete(index, &n.to_be_bytes()).unwrap();
            writer.index_insert(index, &(n + 1).to_be_bytes(), None, b"").unwrap();
            writer.commit().unwrap();
        }
        let everything = Range { lower: Bound::Unbounded, upper: Bound::Unbounded };
        let mut cursor = Cursor::new(index, everything, Direction::Forward, Read::Consistent, 0);
        let (mut uncertain, mut row) = (0, Vec::new());
        while let Some(entry) = cursor.next(&mut old).unwrap() {
            uncertain += !entry.certain as u64;
            assert!(old.get(rows, b"row", Read::Consistent, &mut row).unwrap());
            assert_eq!(row, 0u64.to_be_bytes());
        }
        assert_eq!((uncertain, old.versions.steps), (UPDATES + 1, UPDATES));
        // The memory goes with the snapshot.
        old.rollback().unwrap();
        assert_eq!(old.versions.get(rows.id, b"row", &mut row), None);
        drop((old, engine));
        std::fs::remove_dir_all(datadir).unwrap();
    }

    #[test]
    fn memory_is_bounded_and_keeps_what_is_asked_for() {
        let mut versions = Versions::default();
        let (mut row, header) = (Vec::new(), Header::new(7));
        versions.put(1, b"favourite", header, b"kept");
        for n in 0..200_000u32 {
            assert_eq!(versions.get(1, &n.to_be_bytes(), &mut row), None);
            versions.put(1, &n.to_be_bytes(), header, &[n as u8; 100]);
            assert!(versions.get(1, b"favourite", &mut row) == Some(header) && row == b"kept", "after {n}");
        }
        let bytes = |table: &HashTable<Version>| table.iter().map(Version::bytes).sum::<usize>();
        assert!(bytes(&versions.young) + bytes(&versions.old) <= 2 * HALF_BYTES + 1000);
        assert_eq!(versions.get(1, &199_999u32.to_be_bytes(), &mut row), Some(header));
        assert_eq!(row, [199_999u32 as u8; 100]);
        assert_eq!(versions.get(2, &199_999u32.to_be_bytes(), &mut row), None, "another tree");
        versions.forget();
        assert_eq!(versions.get(1, b"favourite", &mut row), None);
    }
}
