//! What the engine costs without a server around it: lookup, insert, update with commit, range scan, snapshot.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use engine::{
    Cursor, Direction, Engine, EngineOptions, Isolation, LockMode, Range, Read, Transaction, Tree, TreeKind, Wait,
};
use std::hint::black_box;
use std::ops::Bound;
use std::sync::Arc;

const ROWS: u64 = 100_000;
const X: Read = Read::Locking { mode: LockMode::Exclusive, wait: Wait::Block };

fn open(name: &str) -> (Arc<Engine>, std::path::PathBuf) {
    let path = std::env::temp_dir().join(format!("clearway-bench-{name}-{}", std::process::id()));
    let options = EngineOptions {
        datadir: path.clone(),
        buffer_pool_bytes: 256 << 20,
        log_capacity_bytes: 256 << 20,
        log_buffer_bytes: 64 << 20,
        address_space_bytes: 16 << 30,
        doublewrite: true,
        direct_io: false,
        flush_log_at_commit: 0,
        read_io_threads: 2,
        write_io_threads: 2,
        purge_threads: 2,
        events_from: None,
    };
    (Engine::open(options, &mut |_| ()).unwrap(), path)
}

fn begin(engine: &Engine) -> Transaction {
    let mut tx = Transaction::new(engine).unwrap();
    tx.begin(Isolation::RepeatableRead, false);
    tx
}

fn key(i: u64) -> [u8; 4] {
    (i as u32 ^ 0x8000_0000).to_be_bytes()
}

fn load(engine: &Engine) -> Tree {
    let mut tx = begin(engine);
    let tree = engine.create_tree(&mut tx, TreeKind::Clustered).unwrap();
    for i in 0..ROWS {
        tx.insert(tree, &key(i), &[i as u8; 190]).unwrap();
    }
    tx.commit().unwrap();
    tree
}

fn random(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

fn benches(c: &mut Criterion) {
    let (engine, path) = open("engine");
    let tree = load(&engine);
    let mut state = 88172645463325252;
    let mut row = Vec::new();
    let mut group = c.benchmark_group("engine");

    group.bench_function("point get, autocommit", |b| {
        let mut tx = Transaction::new(&engine).unwrap();
        b.iter(|| {
            tx.begin(Isolation::RepeatableRead, false);
            assert!(tx.get(tree, &key(random(&mut state) % ROWS), Read::Consistent, &mut row).unwrap());
            tx.commit().unwrap();
        });
    });
    group.bench_function("point get in a snapshot", |b| {
        let mut tx = begin(&engine);
        b.iter(|| assert!(tx.get(tree, &key(random(&mut state) % ROWS), Read::Consistent, &mut row).unwrap()));
    });
    group.bench_function("snapshot", |b| {
        let mut tx = Transaction::new(&engine).unwrap();
        b.iter(|| {
            tx.begin(Isolation::RepeatableRead, false);
            tx.take_snapshot();
            tx.commit().unwrap();
        });
    });
    group.throughput(Throughput::Elements(100));
    group.bench_function("range of 100 rows", |b| {
        let mut tx = begin(&engine);
        b.iter(|| {
            let low = random(&mut state) % (ROWS - 100);
            let (low, high) = (key(low), key(low + 99));
            let range = Range { lower: Bound::Included(&low), upper: Bound::Included(&high) };
            let mut cursor = Cursor::new(tree, range, Direction::Forward, Read::Consistent, 0);
            let mut n = 0;
            while let Some(entry) = cursor.next(&mut tx).unwrap() {
                n += black_box(entry.value).len() / 190;
            }
            assert_eq!(n, 100);
        });
    });
    group.throughput(Throughput::Elements(1));
    group.bench_function("update one row, commit without flush", |b| {
        let mut tx = Transaction::new(&engine).unwrap();
        b.iter(|| {
            tx.begin(Isolation::RepeatableRead, false);
            let key = key(random(&mut state) % ROWS);
            assert!(tx.get(tree, &key, X, &mut row).unwrap());
            row[8] ^= 1;
            tx.update(tree, &key, &row).unwrap();
            tx.commit().unwrap();
        });
    });
    let mut next = ROWS;
    group.bench_function("insert at the end, commit without flush", |b| {
        let mut tx = Transaction::new(&engine).unwrap();
        b.iter(|| {
            tx.begin(Isolation::RepeatableRead, false);
            tx.insert(tree, &key(next), &[7; 190]).unwrap();
            next += 1;
            tx.commit().unwrap();
        });
    });
    group.finish();
    engine.close().unwrap();
    std::fs::remove_dir_all(path).unwrap();
}

criterion_group!(all, benches);
criterion_main!(all);
