//! Events of transactions: they come in the order of the commits, all of them and no others, also after a crash.

mod common;

use common::{Scratch, Stop, await_rollbacks, key, options, row};
use engine::{Engine, EngineOptions, EventStream, Isolation, LockMode, Lsn, Read, Transaction, Tree, TreeKind, Wait};
use io::faults::SimDisk;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use sync::blocking::serve;

const X: Read = Read::Locking { mode: LockMode::Exclusive, wait: Wait::Block };

fn open(datadir: &Path, events_from: Option<Lsn>) -> Arc<Engine> {
    open_with(datadir, 16 << 20, events_from)
}

fn open_with(datadir: &Path, log_capacity_bytes: u64, events_from: Option<Lsn>) -> Arc<Engine> {
    let options = EngineOptions { log_capacity_bytes, events_from, ..options(datadir) };
    Engine::open(options, &mut |_| ()).unwrap()
}

fn push(bytes: &mut Vec<u8>, piece: &[u8]) -> Result<(), engine::Error> {
    bytes.extend_from_slice(piece);
    Ok(())
}

fn begin(engine: &Engine) -> Transaction {
    let mut tx = Transaction::new(engine).unwrap();
    tx.begin(Isolation::RepeatableRead, false);
    tx
}

fn tree(engine: &Engine) -> Tree {
    let mut tx = begin(engine);
    let tree = engine.create_tree(&mut tx, TreeKind::Clustered).unwrap();
    tx.insert(tree, &key(0), &0_u64.to_le_bytes()).unwrap();
    tx.commit().unwrap();
    tree
}

/// A length for the events of number `n`: mostly short, now and then more than a group takes.
fn event_bytes(n: u64) -> usize {
    match n % 50 {
        7 => 400_000 + n as usize,
        23 => 131_000 + n as usize,
        _ => 8 + (n as usize * 37) % 900,
    }
}

/// Takes the next number from the row with key 0, and notes it in a row and in events of its own.
fn count_up(tx: &mut Transaction, tree: Tree) -> Result<u64, engine::Error> {
    let mut counter = Vec::new();
    tx.begin(Isolation::ReadCommitted, false);
    assert!(tx.get(tree, &key(0), X, &mut counter)?);
    let n = u64::from_le_bytes(counter[..8].try_into().unwrap()) + 1;
    tx.update(tree, &key(0), &n.to_le_bytes())?;
    tx.insert(tree, &key(n), &row(n, 20))?;
    let body = row(n, event_bytes(n));
    // In two pieces, as statements write them.
    let (first, second) = body.split_at(body.len() / 3);
    tx.events().append(|out| out.extend_from_slice(&n.to_le_bytes()))?;
    tx.events().append(|out| out.extend_from_slice(first))?;
    tx.events().append(|out| out.extend_from_slice(second))?;
    tx.commit()?;
    Ok(n)
}

/// Reads what is there, checks it against what number `expected` and those after it wrote, and returns the next number.
fn take(stream: &mut EventStream, mut expected: u64) -> u64 {
    while let Some(commit) = stream.next().unwrap() {
        let mut bytes = Vec::new();
        stream.read(&commit, |piece| push(&mut bytes, piece)).unwrap();
        let n = u64::from_le_bytes(bytes[..8].try_into().unwrap());
        assert_eq!(n, expected, "the order of commits");
        assert!(bytes[8..] == row(n, event_bytes(n)), "the bytes of number {n}");
        assert!(commit.start < commit.end && stream.needed() <= stream.position());
        expected += 1;
    }
    expected
}

#[test]
fn they_come_in_the_order_of_commits() {
    let scratch = Scratch::new("events-order");
    let engine = open(scratch.path(), None);
    let tree = tree(&engine);
    let mut stream = engine.follow_events(engine.hurry_events().unwrap());
    engine.retain_events(Some(stream.needed())).unwrap();
    let each = 150;
    std::thread::scope(|scope| {
        for _ in 0..4 {
            let engine = &engine;
            scope.spawn(move || {
                let mut tx = Transaction::new(engine).unwrap();
                for _ in 0..each {
                    count_up(&mut tx, tree).unwrap();
                }
            });
        }
        let (mut next, began) = (1, Instant::now());
        while next <= 4 * each {
            next = take(&mut stream, next);
            engine.retain_events(Some(stream.needed())).unwrap();
            stream.wait(Duration::from_millis(100));
            assert!(began.elapsed() < Duration::from_secs(60), "{next}");
        }
    });
    assert_eq!(stream.needed(), stream.position());
    engine.close().unwrap();
}

#[test]
fn what_is_undone_takes_its_events_along() {
    let scratch = Scratch::new("events-undone");
    let engine = open(scratch.path(), None);
    let tree = tree(&engine);
    let mut stream = engine.follow_events(engine.hurry_events().unwrap());
    let collect = |stream: &mut EventStream| {
        engine.hurry_events().unwrap();
        let mut all = Vec::new();
        while let Some(commit) = stream.next().unwrap() {
            let mut bytes = Vec::new();
            stream.read(&commit, |piece| push(&mut bytes, piece)).unwrap();
            all.push(bytes);
        }
        all
    };
    let mut tx = begin(&engine);
    tx.events().set_bounds(4096, scratch.path().into());
    tx.insert(tree, &key(1), b"one").unwrap();
    tx.events().append(|out| out.extend_from_slice(b"one ")).unwrap();
    let savepoint = tx.savepoint();
    tx.insert(tree, &key(2), b"two").unwrap();
    tx.events().append(|out| out.extend_from_slice(&[b'2'; 10_000])).unwrap();
    assert!(tx.events().spilled());
    let second = tx.savepoint();
    tx.events().append(|out| out.extend_from_slice(b"more")).unwrap();
    tx.rollback_to(second).unwrap();
    assert_eq!(tx.events().len(), 10_004);
    tx.rollback_to(savepoint).unwrap();
    tx.events().append(|out| out.extend_from_slice(b"three")).unwrap();
    tx.commit().unwrap();
    assert_eq!(collect(&mut stream), [b"one three"]);

    // A rollback leaves nothing, nor does a transaction that is dropped.
    tx.begin(Isolation::RepeatableRead, false);
    tx.insert(tree, &key(3), b"three").unwrap();
    tx.events().append(|out| out.extend_from_slice(b"lost")).unwrap();
    tx.rollback().unwrap();
    tx.begin(Isolation::RepeatableRead, false);
    tx.events().append(|out| out.extend_from_slice(b"lost too")).unwrap();
    drop(tx);
    // One without changes is a commit, too.
    let mut tx = begin(&engine);
    tx.events().append(|out| out.extend_from_slice(b"alone")).unwrap();
    tx.commit().unwrap();
    assert_eq!(collect(&mut stream), [b"alone"]);
    drop(tx);
    engine.close().unwrap();
}

#[test]
fn parts_without_a_commit_hold_nothing_back() {
    let scratch = Scratch::new("events-dropped");
    let engine = open(scratch.path(), None);
    let tree = tree(&engine);
    let mut stream = engine.follow_events(engine.hurry_events().unwrap());
    engine.retain_events(Some(stream.needed())).unwrap();
    // The parts of a transaction of 40 MB do not fit between two checkpoints, since nobody takes them.
    let mut tx = begin(&engine);
    tx.insert(tree, &key(1), b"one").unwrap();
    for _ in 0..40 {
        tx.events().append(|out| out.resize(out.len() + (1 << 20), 1)).unwrap();
    }
    let interrupt = Arc::clone(tx.interrupt());
    serve(&interrupt);
    let killer = std::thread::spawn(move || {
        let deadline = Instant::now() + Duration::from_secs(60);
        while interrupt.waits().is_none() {
            assert!(Instant::now() < deadline, "nobody waits");
            std::thread::yield_now();
        }
        interrupt.raise(1);
    });
    let refused = tx.commit();
    killer.join().unwrap();
    assert!(matches!(refused, Err(engine::Error::Interrupted)), "{refused:?}");
    tx.interrupt().clear_statement();
    assert!(!tx.is_active());
    engine.hurry_events().unwrap();
    assert_eq!(stream.next().unwrap(), None);
    assert_eq!(stream.needed(), stream.position());
    engine.retain_events(Some(stream.needed())).unwrap();
    let mut counter = Vec::new();
    tx.begin(Isolation::RepeatableRead, false);
    assert!(!tx.get(tree, &key(1), Read::Consistent, &mut counter).unwrap());
    tx.commit().unwrap();
    assert_eq!(count_up(&mut tx, tree).unwrap(), 1);
    engine.hurry_events().unwrap();
    assert_eq!(take(&mut stream, 1), 2);
    drop(tx);
    engine.close().unwrap();
}

/// Power cuts under load: what a stream finds afterwards is what was committed, in that order, whether it begins anew or goes on.
#[test]
fn a_crash_keeps_the_events_of_what_it_keeps() {
    let disk = SimDisk::mount("/sim/events-crash", 11);
    // Nobody reads while it runs, so it needs room for all of it.
    let engine = open_with(disk.root(), 512 << 20, None);
    let tree = tree(&engine);
    let from = engine.hurry_events().unwrap();
    engine.retain_events(Some(from)).unwrap();
    let (stop, commits) = (AtomicBool::new(false), AtomicU64::new(0));
    let images: Vec<_> = std::thread::scope(|scope| {
        let (engine, stop, commits) = (&engine, &stop, &commits);
        for _ in 0..3 {
            scope.spawn(move || {
                let mut tx = Transaction::new(engine).unwrap();
                while !stop.load(Ordering::Relaxed) {
                    count_up(&mut tx, tree).unwrap();
                    commits.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        let _stop = Stop(stop);
        (0..12)
            .map(|i| {
                while commits.load(Ordering::Relaxed) < 17 * i {
                    std::thread::yield_now();
                }
                disk.image()
            })
            .collect()
    });
    drop(engine);
    disk.unmount();
    for (i, image) in images.into_iter().enumerate() {
        let disk = image.mount(format!("/sim/events-crash-{i}"), i as u64);
        disk.reboot();
        let engine = open_with(disk.root(), 512 << 20, Some(from));
        await_rollbacks(&engine);
        let mut counter = Vec::new();
        let mut tx = begin(&engine);
        assert!(tx.get(tree, &key(0), Read::Consistent, &mut counter).unwrap());
        let last = u64::from_le_bytes(counter[..8].try_into().unwrap());
        assert!(engine.has_log_from(from));
        let mut stream = engine.follow_events(from);
        assert_eq!(take(&mut stream, 1), last + 1, "image {i}");
        tx.commit().unwrap();
        // It goes on, and parts that the crash left without a commit hold nothing back.
        assert_eq!(count_up(&mut tx, tree).unwrap(), last + 1);
        engine.hurry_events().unwrap();
        assert_eq!(take(&mut stream, last + 1), last + 2);
        assert_eq!(stream.needed(), stream.position());
        drop(tx);
        engine.close().unwrap();
        drop((stream, engine));
        disk.unmount();
    }
}
