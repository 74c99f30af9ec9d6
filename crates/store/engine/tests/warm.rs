//! Warm restart: lists of the pages in memory.

mod common;

use common::{Scratch, key, options, table};
use engine::{Engine, EngineOptions, Isolation, Read, Transaction, Tree, WarmFailure, WarmStage};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

const BYTES: usize = 1000;
const ROWS: u64 = 6000;
const LIST: &str = "ib_buffer_pool";

fn open(datadir: &Path, pool_bytes: u64) -> Arc<Engine> {
    let options = EngineOptions { buffer_pool_bytes: pool_bytes, ..options(datadir) };
    Engine::open(options, &mut |_| ()).unwrap()
}

fn begin(engine: &Engine) -> Transaction {
    let mut tx = Transaction::new(engine).unwrap();
    tx.begin(Isolation::RepeatableRead, false);
    tx
}

/// Pages of the tree in memory.
fn resident(engine: &Engine, tree: Tree) -> Vec<u64> {
    let node = |page: &engine::BufferPage| page.content.and_then(|c| c.node).is_some_and(|node| node.0 == tree.id);
    let mut pages: Vec<u64> = engine.buffer_pages().filter(node).map(|page| page.page).collect();
    pages.sort_unstable();
    pages
}

fn await_load(engine: &Engine) -> WarmStage {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        match engine.pool_load() {
            WarmStage::Running { .. } => assert!(Instant::now() < deadline, "{:?}", engine.pool_load()),
            stage => return stage,
        }
        std::thread::yield_now();
    }
}

#[test]
fn what_was_in_memory_comes_back() {
    let scratch = Scratch::new("warm");
    let engine = open(scratch.path(), 32 << 20);
    let tree = table(&engine, ROWS, BYTES);
    let before = resident(&engine, tree);
    assert!(before.len() as u64 > ROWS / 16);
    assert!(matches!(engine.dump_pool_last(LIST, 100), WarmStage::Completed { .. }));
    engine.close().unwrap();
    drop(engine);

    let engine = open(scratch.path(), 32 << 20);
    assert_eq!(engine.pool_load(), WarmStage::NotStarted);
    assert!(resident(&engine, tree).is_empty());
    assert!(engine.load_pool(LIST));
    assert!(matches!(await_load(&engine), WarmStage::Completed { .. }));
    assert_eq!(resident(&engine, tree), before);
    // The share that was used last.
    assert!(matches!(engine.dump_pool_last(LIST, 25), WarmStage::Completed { .. }));
    let listed = std::fs::read_to_string(scratch.path().join(LIST)).unwrap().lines().count();
    assert!((before.len() / 4..before.len() / 4 + 20).contains(&listed), "{listed} of {} pages", before.len());
    engine.close().unwrap();
}

#[test]
fn a_load_evicts_nothing() {
    let scratch = Scratch::new("warm-small");
    let tree = {
        let engine = open(scratch.path(), 32 << 20);
        let tree = table(&engine, ROWS, BYTES);
        engine.dump_pool_last(LIST, 100);
        engine.close().unwrap();
        tree
    };
    // 256 frames for some 400 leaves, some of them used before the list comes.
    let engine = open(scratch.path(), 4 << 20);
    let (mut tx, mut out) = (begin(&engine), Vec::new());
    for id in (0..ROWS).step_by(37) {
        assert!(tx.get(tree, &key(id), Read::Consistent, &mut out).unwrap());
    }
    let used = resident(&engine, tree);
    assert!(engine.load_pool(LIST));
    assert!(matches!(await_load(&engine), WarmStage::Completed { .. }));
    let after = resident(&engine, tree);
    assert!(used.iter().all(|page| after.contains(page)), "pages in use were evicted for others");
    assert!(after.len() > used.len() && after.len() <= 256);
    drop(tx);
    engine.close().unwrap();
}

#[test]
fn what_is_no_list_changes_nothing() {
    let scratch = Scratch::new("warm-damaged");
    let engine = open(scratch.path(), 8 << 20);
    let path = scratch.path().join(LIST);
    assert!(engine.load_pool(LIST));
    assert!(matches!(await_load(&engine), WarmStage::Failed(WarmFailure::Missing(_))), "there is none");
    for damaged in ["0,5\n0,", "clearway 1\n", "0,5\n0,six\n"] {
        std::fs::write(&path, damaged).unwrap();
        assert!(engine.load_pool(LIST));
        assert_eq!(await_load(&engine), WarmStage::Failed(WarmFailure::NoList(path.clone())), "{damaged:?}");
    }
    // Longer than a list of all pages.
    std::fs::write(&path, "0,5\n".repeat(1 << 20)).unwrap();
    assert!(engine.load_pool(LIST));
    assert_eq!(await_load(&engine), WarmStage::Failed(WarmFailure::NoList(path.clone())));
    // Nobody will ever write into this pipe.
    std::fs::remove_file(&path).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    assert!(engine.load_pool(LIST));
    assert!(matches!(await_load(&engine), WarmStage::Completed { .. }), "it reads as empty");
    std::fs::remove_file(&path).unwrap();
    // Pages that are past the end, of other tablespaces, or not in use.
    std::fs::write(&path, "0,99999999\n7,3\n0,60\n0,3\n").unwrap();
    assert!(engine.load_pool(LIST));
    assert!(matches!(await_load(&engine), WarmStage::Completed { .. }));
    // The server's own files are not replaced by a list.
    for name in [engine::DATA_FILE, "clearway.doublewrite"] {
        let before = std::fs::metadata(scratch.path().join(name)).unwrap().len();
        let stage = engine.dump_pool_last(name, 100);
        assert_eq!(stage, WarmStage::Failed(WarmFailure::NoList(scratch.path().join(name))));
        assert_eq!(std::fs::metadata(scratch.path().join(name)).unwrap().len(), before);
    }
    assert!(matches!(engine.dump_pool_last("nowhere/list", 100), WarmStage::Failed(WarmFailure::Write(..))));
    engine.close().unwrap();
}
