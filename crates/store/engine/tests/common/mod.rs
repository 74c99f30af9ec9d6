//! Scratch directories and small rows for the engine's tests.

#![allow(dead_code, reason = "each test file is a crate of its own and uses a part")]

use engine::{Engine, EngineOptions, Isolation, Long, REFERENCE_BYTES, Row, Transaction, Tree, TreeKind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// A directory that is removed at the end.
pub struct Scratch(PathBuf);

impl Scratch {
    pub fn new(name: &str) -> Scratch {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("clearway-engine-{name}-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Scratch(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Ends the threads that look at the word, also when the test fails: its scope would wait for them for ever.
pub struct Stop<'s>(pub &'s AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

pub fn options(datadir: &Path) -> EngineOptions {
    EngineOptions {
        datadir: datadir.into(),
        buffer_pool_bytes: 32 << 20,
        log_capacity_bytes: 64 << 20,
        log_buffer_bytes: 16 << 20,
        address_space_bytes: 4 << 30,
        doublewrite: true,
        direct_io: false,
        flush_log_at_commit: 1,
        read_io_threads: 2,
        write_io_threads: 2,
        purge_threads: 2,
        events_from: None,
    }
}

pub fn key(i: u64) -> [u8; 8] {
    i.to_be_bytes()
}

/// `len` bytes that differ from row to row.
pub fn row(i: u64, len: usize) -> Vec<u8> {
    (0..len).map(|at| (i.wrapping_mul(31).wrapping_add(at as u64 * 7)) as u8).collect()
}

/// A tree with `rows` rows of `bytes` each.
pub fn table(engine: &Engine, rows: u64, bytes: usize) -> Tree {
    let mut tx = Transaction::new(engine).unwrap();
    tx.begin(Isolation::RepeatableRead, false);
    let tree = engine.create_tree(&mut tx, TreeKind::Clustered).unwrap();
    for id in 0..rows {
        tx.insert(tree, &key(id), &row(id, bytes)).unwrap();
    }
    tx.commit().unwrap();
    tree
}

/// Waits until the background has undone what was handed to it.
pub fn await_rollbacks(engine: &Engine) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while engine.rollbacks_pending() > 0 {
        assert!(Instant::now() < deadline, "the background does not come to an end");
        std::thread::yield_now();
    }
}

/// The engine, in which nothing runs, has no problem and has lost no page; `trees` are all that there are besides the dictionary's.
/// Ends its background work: to be closed next.
pub fn check_sound(engine: &Engine, trees: &[Tree], when: &str) {
    let report = engine.check(trees);
    assert!(report.is_clean(), "{when}: {report}");
    assert!(report.leaked.is_empty(), "{when}: without a crash nothing leaks: {:?}", report.leaked);
}

/// The same after a crash, which may have leaked pages.
pub fn check_sound_after_crash(engine: &Engine, trees: &[Tree]) {
    let report = engine.check(trees);
    assert!(report.is_clean(), "after a crash: {report}");
}

/// A row that is nothing but one long value.
pub fn outside<'r>(long: &'r [Long<'r>; 1]) -> Row<'r> {
    Row { body: &[], long }
}

/// A row of these bytes, which are outside when they are too many for a leaf.
pub fn row_or_outside<'r>(bytes: &'r [u8], long: &'r [Long<'r>; 1]) -> Row<'r> {
    if bytes.len() > 3000 { outside(long) } else { bytes.into() }
}

/// [`row_or_outside`] of an expression, for one statement.
#[macro_export]
macro_rules! stored {
    ($bytes:expr) => {
        $crate::common::row_or_outside(&$bytes, &[engine::Long::New(&$bytes)])
    };
}

/// The bytes of such a row as it was read.
pub fn whole(tx: &Transaction, stored: &[u8]) -> Vec<u8> {
    try_whole(tx, stored).unwrap()
}

pub fn try_whole(tx: &Transaction, stored: &[u8]) -> engine::Result<Vec<u8>> {
    match stored.split_last_chunk() {
        Some((reference, [1, 0])) if reference.len() == REFERENCE_BYTES => {
            let mut bytes = Vec::new();
            tx.load_long(reference.try_into().unwrap(), &mut bytes)?;
            Ok(bytes)
        }
        _ => Ok(stored.into()),
    }
}
