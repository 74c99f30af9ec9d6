//! The files against the log: every event reads back, and whatever a crash leaves of files and state comes out the same, byte for byte.

use binlog::event::{Checksum, GtidEvent, HEADER_BYTES, Kind};
use binlog::payload::{Commit, Numbering, RowSettings, TableRows, put_event};
use binlog::row::{ColumnDef, TableDef};
use binlog::writer::Settings;
use binlog::{Binlog, Config, Read, Reader};
use engine::{Engine, EngineOptions, Isolation, Transaction, Tree, TreeKind};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};
use types::gtid::{GtidSet, Tag, Uuid};
use types::{DataType, TypeKind, Value};

struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        // Relaxed: a number of its own.
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("clearway-binlog-{name}-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Scratch(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn config(directory: &Path) -> Config {
    Config {
        data: directory.to_path_buf(),
        directory: directory.into(),
        base: "binlog".into(),
        server_uuid: Uuid([7; 16]),
        server_id: 1,
        version: "8.4.0".into(),
        version_number: 80_400,
    }
}

const SETTINGS: Settings = Settings {
    file_max: 16 << 10,
    checksum: Checksum::Crc32,
    encrypts: false,
    expire: Duration::ZERO,
    history_max: 1000,
};

fn open(directory: &Path) -> Arc<Engine> {
    let options = EngineOptions {
        datadir: directory.into(),
        buffer_pool_bytes: 16 << 20,
        log_capacity_bytes: 64 << 20,
        log_buffer_bytes: 16 << 20,
        address_space_bytes: 4 << 30,
        doublewrite: true,
        direct_io: false,
        flush_log_at_commit: 1,
        read_io_threads: 1,
        write_io_threads: 1,
        purge_threads: 1,
        events_from: Binlog::needed(&config(directory)).unwrap(),
    };
    Engine::open(options, &mut |_| ()).unwrap()
}

fn start(engine: &Arc<Engine>, directory: &Path) -> Arc<Binlog> {
    Binlog::start(engine, config(directory), SETTINGS, Arc::new(|_, text: &str| panic!("{text}"))).unwrap()
}

fn settings() -> RowSettings {
    RowSettings {
        timestamp: 1_700_000_000,
        event_max: 1024,
        image: Default::default(),
        full_metadata: false,
        partial_json: false,
        flags: 0,
        text: None,
    }
}

fn rows() -> TableRows {
    let column = |name, kind| ColumnDef { name, data_type: DataType::new(kind), members: &[], visible: true };
    let columns = vec![column("id", TypeKind::BigInt), column("text", TypeKind::Blob)];
    let table = TableDef { id: 65_537, schema: "d", name: "t", columns, primary_key: vec![(0, 0)], is_beside: false };
    TableRows::new(&table, &[0, 1], &settings(), |_| true)
}

/// Inserts `count` rows from `first` on in one transaction.
fn insert(
    tx: &mut Transaction,
    engine: &Engine,
    tree: Tree,
    rows: &mut TableRows,
    first: u64,
    count: u64,
    bytes: usize,
) {
    tx.begin(Isolation::RepeatableRead, false);
    rows.begin(&settings());
    tx.events().set_mark(0);
    for id in first..first + count {
        let text = vec![id as u8; bytes];
        tx.insert(tree, &id.to_be_bytes(), &text[..bytes.min(100)]).unwrap();
        let value = |i| match i {
            0 => Value::Int(id as i64),
            _ => Value::Bytes(text.as_slice().into()),
        };
        rows.insert(tx.events(), value).unwrap();
    }
    commit(tx, engine, true);
}

fn commit(tx: &mut Transaction, engine: &Engine, is_block: bool) {
    let commit = Commit {
        is_block,
        ends_itself: false,
        is_beside: false,
        has_statements: !is_block,
        numbering: Numbering::Automatic(Tag::default()),
        server_id: 1,
        commit_us: 1_700_000_000_000_000,
        original_us: 0,
        original_version: 0,
        prepared: engine.events_end(),
        timestamp: 1_700_000_000,
        begin: if is_block { b"BEGIN".to_vec() } else { Vec::new() },
    };
    commit.put(tx.events()).unwrap();
    tx.commit().unwrap();
}

/// All that is in the files: ids of rows, and GTIDs.
fn read(binlog: &Arc<Binlog>) -> (Vec<u64>, GtidSet) {
    let mut reader = Reader::open(binlog, binlog.published().files[0]).unwrap();
    let (mut ids, mut gtids, mut event) = (Vec::new(), GtidSet::default(), Vec::new());
    loop {
        match reader.next(&mut event).unwrap() {
            Read::EndOfLog => return (ids, gtids),
            Read::EndOfFile => reader.next_file().unwrap(),
            Read::Event(header) => {
                let body = &event[HEADER_BYTES..event.len() - 4];
                match header.kind().unwrap() {
                    Kind::Gtid => {
                        let gtid = GtidEvent::gtid_of(Kind::Gtid, body).unwrap();
                        assert!(!gtids.contains(gtid), "{gtid:?} comes twice");
                        gtids.add(gtid);
                    }
                    Kind::WriteRows => {
                        // id, flags, length, columns, bits; then a row: NULLs, id, length, text.
                        let mut at = 6 + 2 + 2 + 1 + 1;
                        while at < body.len() {
                            let id = u64::from_le_bytes(body[at + 1..at + 9].try_into().unwrap());
                            let len = u16::from_le_bytes(body[at + 9..at + 11].try_into().unwrap()) as usize;
                            assert!(body[at + 11..at + 11 + len].iter().all(|b| *b == id as u8));
                            ids.push(id);
                            at += 11 + len;
                        }
                    }
                    _ => {}
                }
            }
        }
    }
}

fn never() -> bool {
    false
}

fn tree(engine: &Engine) -> Tree {
    let mut tx = Transaction::new(engine).unwrap();
    tx.begin(Isolation::RepeatableRead, false);
    let tree = engine.create_tree(&mut tx, TreeKind::Clustered).unwrap();
    tx.commit().unwrap();
    tree
}

#[test]
fn all_that_is_committed_is_in_the_files_in_order() {
    let scratch = Scratch::new("order");
    let engine = open(&scratch.0);
    let binlog = start(&engine, &scratch.0);
    let tree = tree(&engine);
    let mut tx = Transaction::new(&engine).unwrap();
    let mut rows = rows();
    let mut next = 0;
    // Small ones, some that fill several events, one that fills several groups of the log.
    for (count, bytes) in [(1, 10), (3, 10), (100, 50), (1, 10), (40, 10_000), (1, 0)] {
        insert(&mut tx, &engine, tree, &mut rows, next, count, bytes);
        next += count;
    }
    tx.begin(Isolation::RepeatableRead, false);
    put_event(tx.events(), Kind::Query, 0, 5, &[b"....", &[0; 9], b"\0", b"DROP TABLE x"]).unwrap();
    commit(&mut tx, &engine, false);
    let now = binlog.catch_up(never).unwrap();
    assert!(now.files.len() > 1, "files of 16 KiB are followed by others");
    let (ids, gtids) = read(&binlog);
    assert_eq!(ids, (0..next).collect::<Vec<_>>());
    assert_eq!((gtids.to_string(), now.executed.to_string()), (format!("{}:1-7", Uuid([7; 16])), gtids.to_string()));
    // What is rolled back is not there, and leaves no gap.
    tx.begin(Isolation::RepeatableRead, false);
    rows.insert(tx.events(), |_| Value::Null).unwrap();
    tx.rollback().unwrap();
    insert(&mut tx, &engine, tree, &mut rows, next, 1, 5);
    binlog.catch_up(never).unwrap();
    let (ids, gtids) = read(&binlog);
    assert_eq!((ids.len() as u64, gtids.to_string()), (next + 1, format!("{}:1-8", Uuid([7; 16]))));
    drop(tx);
    binlog.close();
    engine.close().unwrap();
}

#[test]
fn files_are_rotated_purged_and_begun_anew() {
    let scratch = Scratch::new("purge");
    let engine = open(&scratch.0);
    let binlog = start(&engine, &scratch.0);
    let tree = tree(&engine);
    let mut tx = Transaction::new(&engine).unwrap();
    let mut rows = rows();
    for id in 0..3 {
        insert(&mut tx, &engine, tree, &mut rows, id, 1, 5);
        binlog.rotate(never).unwrap();
    }
    assert_eq!(*binlog.published().files, [1, 2, 3, 4]);
    let reader = Reader::open(&binlog, 2).unwrap();
    // A file that is read stays, and those behind it.
    assert_eq!(binlog.purge_to("binlog.000003", never).unwrap(), Some(2));
    assert_eq!(*binlog.published().files, [2, 3, 4]);
    drop(reader);
    assert_eq!(binlog.purge_to("./binlog.000004", never).unwrap(), None);
    let now = binlog.published();
    let uuid = Uuid([7; 16]);
    assert_eq!((now.files.to_vec(), now.purged.to_string()), (vec![4], format!("{uuid}:1-3")));
    assert_eq!(binlog.purge_to("binlog.000001", never), Err(binlog::Error::UnknownFile));
    assert_eq!(Reader::first_needed(&binlog, &GtidSet::default()).unwrap(), None);
    assert_eq!(Reader::first_needed(&binlog, &now.purged).unwrap(), Some(4));
    binlog.reset(9, never).unwrap();
    let now = binlog.published();
    assert_eq!((now.files.to_vec(), now.executed.is_empty(), now.purged.is_empty()), (vec![9], true, true));
    insert(&mut tx, &engine, tree, &mut rows, 10, 1, 5);
    binlog.catch_up(never).unwrap();
    assert_eq!(read(&binlog).0, [10]);
    assert_eq!(read(&binlog).1.to_string(), format!("{uuid}:1"));
    drop(tx);
    binlog.close();
    engine.close().unwrap();
}

#[test]
fn who_waits_for_the_files_is_not_put_off_by_those_who_commit() {
    let scratch = Scratch::new("busy");
    let engine = open(&scratch.0);
    let binlog = start(&engine, &scratch.0);
    let tree = tree(&engine);
    let (engine, binlog, is_over) = (&engine, &binlog, &AtomicBool::new(false));
    let directory = &scratch.0;
    // Files of four transactions. Who commits is up to twenty files ahead of the writer, which so never comes to the end.
    let commit = move || {
        let mut tx = Transaction::new(engine).unwrap();
        let mut rows = rows();
        let patience = Instant::now() + Duration::from_secs(30);
        // Relaxed: it publishes nothing.
        for id in (0..).take_while(|_| !is_over.load(Ordering::Relaxed)) {
            insert(&mut tx, engine, tree, &mut rows, id, 1, 4000);
            let file = directory.join(format!("binlog.{:06}", (id / 4).saturating_sub(20).max(1)));
            while !file.exists() && !is_over.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
            assert!(Instant::now() < patience, "the files have not caught up");
        }
    };
    std::thread::scope(|threads| {
        threads.spawn(commit);
        for _ in 0..3 {
            binlog.catch_up(never).unwrap();
            binlog.rotate(never).unwrap();
        }
        is_over.store(true, Ordering::Relaxed);
    });
    binlog.close();
    engine.close().unwrap();
}

/// Copies a directory as a crash would leave it, if nobody commits meanwhile. The log makes its next segments in the
/// background: one that gets its name while it is looked for is not in the copy, as if it had never been made.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &target),
            false => match std::fs::copy(entry.path(), target) {
                Err(error) if error.kind() == ErrorKind::NotFound => (),
                copied => _ = copied.unwrap(),
            },
        }
    }
}

#[test]
fn files_cut_anywhere_come_out_the_same() {
    let scratch = Scratch::new("cut");
    let engine = open(&scratch.0);
    let binlog = start(&engine, &scratch.0);
    let tree = tree(&engine);
    let mut tx = Transaction::new(&engine).unwrap();
    let mut rows = rows();
    for id in 0..4 {
        insert(&mut tx, &engine, tree, &mut rows, id * 3, 3, 40);
    }
    let end = binlog.catch_up(never).unwrap();
    assert_eq!(end.file, 1);
    // The process dies: the state is that of the start of the file.
    let image = scratch.0.join("../").join(format!("clearway-binlog-image-{}", std::process::id()));
    loop {
        let before = engine.status().counters;
        copy(&scratch.0, &image);
        // No page was written and no checkpoint taken meanwhile.
        if engine.status().counters == before {
            break;
        }
        std::fs::remove_dir_all(&image).unwrap();
    }
    let whole = std::fs::read(image.join("binlog.000001")).unwrap();
    let front = Reader::open(&binlog, 1).unwrap().front().end as usize;
    drop(tx);
    binlog.close();
    engine.close().unwrap();
    for len in (front..=whole.len()).step_by(41).chain([whole.len()]) {
        let again = Scratch::new("again");
        copy(&image, &again.0);
        let mut torn = whole.clone();
        // Beyond a cut there may be anything.
        torn[len..].fill(0xEE);
        torn.truncate(len + (whole.len() - len) / 2);
        std::fs::write(again.0.join("binlog.000001"), &torn).unwrap();
        let engine = open(&again.0);
        let binlog = start(&engine, &again.0);
        let now = std::fs::read(again.0.join("binlog.000001")).unwrap();
        // The next start has gone on in a second file, and marked the first as closed.
        assert_eq!(now.len(), whole.len(), "cut at {len}");
        assert!(now[..21] == whole[..21] && now[22..] == whole[22..], "cut at {len}");
        assert_eq!(read(&binlog).0, (0..12).collect::<Vec<_>>());
        binlog.close();
        engine.close().unwrap();
    }
    std::fs::remove_dir_all(&image).unwrap();
}

#[test]
fn a_time_without_a_binary_log_leaves_no_gap_unsaid() {
    let scratch = Scratch::new("off");
    let tree = {
        let engine = open(&scratch.0);
        let binlog = start(&engine, &scratch.0);
        let tree = tree(&engine);
        let mut tx = Transaction::new(&engine).unwrap();
        insert(&mut tx, &engine, tree, &mut rows(), 1, 1, 5);
        drop(tx);
        binlog.close();
        engine.close().unwrap();
        tree
    };
    {
        let engine = open(&scratch.0);
        Binlog::complete(&engine, &config(&scratch.0), SETTINGS).unwrap();
        let mut tx = Transaction::new(&engine).unwrap();
        tx.begin(Isolation::RepeatableRead, false);
        tx.insert(tree, &2u64.to_be_bytes(), b"unlogged").unwrap();
        tx.commit().unwrap();
        drop(tx);
        engine.close().unwrap();
    }
    let engine = open(&scratch.0);
    let binlog = start(&engine, &scratch.0);
    let mut tx = Transaction::new(&engine).unwrap();
    insert(&mut tx, &engine, tree, &mut rows(), 3, 1, 5);
    drop(tx);
    binlog.catch_up(never).unwrap();
    assert_eq!(read(&binlog).0, [1, 3]);
    assert_eq!(*binlog.published().files, [1, 2]);
    binlog.close();
    engine.close().unwrap();
}
