//! A copy of the engine in use is what a kill would have left.

mod common;

use common::{Scratch, Stop, key, options};
use engine::{
    Cursor, Direction, Engine, EngineOptions, Error, Isolation, LockMode, Range, Read, Transaction, Tree, TreeKind,
    Wait,
};
use io::Folder;
use std::ops::Bound;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

const ACCOUNTS: u64 = 4_000;
const EACH: u64 = 1_000;
const WRITERS: u64 = 3;

/// A small pool and log, so that pages and segments go round while they are copied.
fn small(datadir: &Path) -> EngineOptions {
    EngineOptions { buffer_pool_bytes: 6 << 20, log_capacity_bytes: 8 << 20, ..options(datadir) }
}

const X: Read = Read::Locking { mode: LockMode::Exclusive, wait: Wait::Block };
const ALL: Range<'static> = Range { lower: Bound::Unbounded, upper: Bound::Unbounded };

/// Accounts with a balance each, and what has gone from one to another: the sum never changes.
struct Bank {
    accounts: Tree,
    journal: Tree,
}

fn account(balance: u64) -> Vec<u8> {
    let mut bytes = balance.to_be_bytes().to_vec();
    bytes.resize(3000, balance as u8);
    bytes
}

fn begin(engine: &Engine) -> Transaction {
    let mut tx = Transaction::new(engine).unwrap();
    tx.begin(Isolation::RepeatableRead, false);
    tx
}

fn create(engine: &Engine) -> Bank {
    let mut tx = begin(engine);
    let [accounts, journal] = [(); 2].map(|()| engine.create_tree(&mut tx, TreeKind::Clustered).unwrap());
    for id in 0..ACCOUNTS {
        tx.insert(accounts, &key(id), &account(EACH)).unwrap();
    }
    tx.commit().unwrap();
    Bank { accounts, journal }
}

/// Moves 1 from an account to another; the transfer is in the journal.
fn transfer(tx: &mut Transaction, bank: &Bank, number: u64) -> engine::Result<()> {
    let [from, to] = [number.wrapping_mul(7919) % ACCOUNTS, number.wrapping_mul(104_729) % ACCOUNTS];
    let mut row = Vec::new();
    for (id, by) in [(from, u64::MAX), (to, 1)] {
        assert!(tx.get(bank.accounts, &key(id), X, &mut row)?);
        let balance = u64::from_be_bytes(row[..8].try_into().unwrap()).wrapping_add(by);
        tx.update(bank.accounts, &key(id), &account(balance)[..])?;
    }
    tx.insert(bank.journal, &key(number), &number.to_be_bytes()[..])
}

/// Numbers of transfers that are there, after the balances have been found to follow from them.
fn audit(engine: &Engine, bank: &Bank) -> Vec<u64> {
    let mut tx = begin(engine);
    let mut numbers = Vec::new();
    let mut expected = vec![EACH; ACCOUNTS as usize];
    let mut cursor = Cursor::new(bank.journal, ALL, Direction::Forward, Read::Consistent, 0);
    while let Some(entry) = cursor.next(&mut tx).unwrap() {
        let number = u64::from_be_bytes(entry.key.try_into().unwrap());
        expected[(number.wrapping_mul(7919) % ACCOUNTS) as usize] -= 1;
        expected[(number.wrapping_mul(104_729) % ACCOUNTS) as usize] += 1;
        numbers.push(number);
    }
    let mut row = Vec::new();
    for id in 0..ACCOUNTS {
        assert!(tx.get(bank.accounts, &key(id), Read::Consistent, &mut row).unwrap());
        assert_eq!(row, account(expected[id as usize]), "account {id}");
    }
    numbers
}

#[test]
fn a_copy_made_under_load_has_what_was_committed_before_it_and_is_sound() {
    let (origin, copy) = (Scratch::new("backup"), Scratch::new("backup-copy"));
    let engine = Engine::open(small(origin.path()), &mut |_| ()).unwrap();
    let bank = create(&engine);
    let (stop, next) = (AtomicBool::new(false), AtomicU64::new(1));
    let before = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|_| {
                scope.spawn(|| {
                    let mut tx = Transaction::new(&engine).unwrap();
                    while !stop.load(Ordering::Relaxed) {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        tx.begin(Isolation::RepeatableRead, false);
                        match transfer(&mut tx, &bank, number) {
                            Ok(()) => tx.commit().unwrap(),
                            Err(Error::Deadlock) => tx.rollback().unwrap(),
                            Err(error) => panic!("{error}"),
                        }
                    }
                })
            })
            .collect();
        let stop = Stop(&stop);
        while next.load(Ordering::Relaxed) < 500 {
            std::thread::yield_now();
        }
        let before = audit(&engine, &bank);
        let folder = Folder::open(copy.path()).unwrap();
        let mut backup = engine.begin_backup(&folder, None).expect("the only one");
        assert!(engine.begin_backup(&folder, None).is_none());
        let mut bytes = 0;
        let after_some_more = &mut |some| {
            bytes += some;
            let more = next.load(Ordering::Relaxed) + 20;
            while next.load(Ordering::Relaxed) < more {
                std::thread::yield_now();
            }
            Ok(())
        };
        backup.copy_pages(after_some_more).unwrap();
        assert_eq!(bytes, backup.bytes());
        let end = backup.copied().unwrap();
        let more = next.load(Ordering::Relaxed) + 200;
        while next.load(Ordering::Relaxed) < more {
            std::thread::yield_now();
        }
        backup.finish(end).unwrap();
        drop(stop);
        writers.into_iter().for_each(|writer| writer.join().unwrap());
        before
    });
    let after = audit(&engine, &bank);
    drop(engine);

    let engine = Engine::open(small(copy.path()), &mut |_| ()).unwrap();
    let copied = audit(&engine, &bank);
    assert!(before.iter().all(|number| copied.binary_search(number).is_ok()), "what was there before is in the copy");
    assert!(copied.iter().all(|number| after.binary_search(number).is_ok()), "and nothing that never was");
    assert!(copied.len() + 100 < after.len(), "it ends where it was told to: {} of {}", copied.len(), after.len());
    common::await_rollbacks(&engine);
    let report = engine.check(&[bank.accounts, bank.journal]);
    assert!(report.is_clean(), "{report}");
}

#[test]
fn a_page_that_is_damaged_ends_the_copy() {
    let (origin, copy) = (Scratch::new("damaged-backup"), Scratch::new("damaged-backup-copy"));
    let engine = Engine::open(small(origin.path()), &mut |_| ()).unwrap();
    let bank = create(&engine);
    drop(engine);
    let file = std::fs::OpenOptions::new().write(true).open(origin.path().join(engine::DATA_FILE)).unwrap();
    let at = (bank.accounts.root + 40) * engine::PAGE_BYTES + 5000;
    std::os::unix::fs::FileExt::write_all_at(&file, b"rot", at).unwrap();
    let engine = Engine::open(small(origin.path()), &mut |_| ()).unwrap();
    let folder = Folder::open(copy.path()).unwrap();
    let mut backup = engine.begin_backup(&folder, None).unwrap();
    let outcome = backup.copy_pages(&mut |_| Ok(()));
    assert!(matches!(&outcome, Err(Error::Corrupt(what)) if what.contains("checksum")), "{outcome:?}");
}

#[test]
fn whoever_watches_ends_a_copy_and_the_log_is_free_again() {
    let (origin, copy) = (Scratch::new("ended-backup"), Scratch::new("ended-backup-copy"));
    let engine = Engine::open(small(origin.path()), &mut |_| ()).unwrap();
    create(&engine);
    let folder = Folder::open(copy.path()).unwrap();
    let mut backup = engine.begin_backup(&folder, None).unwrap();
    assert!(matches!(backup.copy_pages(&mut |_| Err(Error::Interrupted)), Err(Error::Interrupted)));
    drop(backup);
    assert!(engine.begin_backup(&folder, None).is_some());
}

#[test]
fn a_tree_that_is_dropped_meanwhile_leaves_no_holes_that_redo_falls_into() {
    let (origin, copy) = (Scratch::new("dropping-backup"), Scratch::new("dropping-backup-copy"));
    // Pages stay in the log from an old checkpoint on, and the file is large enough that free space is given back.
    let options = |path: &Path| EngineOptions { log_capacity_bytes: 64 << 20, ..small(path) };
    let engine = Engine::open(options(origin.path()), &mut |_| ()).unwrap();
    let bank = create(&engine);
    let doomed = common::table(&engine, 60_000, 1000);
    let file = origin.path().join(engine::DATA_FILE);
    let blocks = || std::os::unix::fs::MetadataExt::blocks(&std::fs::metadata(&file).unwrap());
    let folder = Folder::open(copy.path()).unwrap();
    let mut backup = engine.begin_backup(&folder, None).unwrap();
    let mut is_dropped = false;
    let drop_it = &mut |_| {
        if !std::mem::replace(&mut is_dropped, true) {
            let mut tx = begin(&engine);
            for id in 0..60_000 {
                tx.update(doomed, &key(id), &[7; 900][..])?;
            }
            engine.drop_tree(&mut tx, doomed)?;
            tx.commit()?;
            let (before, deadline) = (blocks(), Instant::now() + Duration::from_secs(4));
            while blocks() > before - before / 8 && Instant::now() < deadline {
                std::thread::yield_now();
            }
        }
        Ok(())
    };
    backup.copy_pages(drop_it).unwrap();
    let end = backup.copied().unwrap();
    backup.finish(end).unwrap();
    // What waited for the copy to end is given back now.
    let (held, deadline) = (blocks(), Instant::now() + Duration::from_secs(30));
    while blocks() > held - held / 8 {
        assert!(Instant::now() < deadline, "the space of the dropped tree is not given back");
        std::thread::yield_now();
    }
    drop(engine);
    let mut said = Vec::new();
    let engine = Engine::open(options(copy.path()), &mut |line| said.push(line.to_string())).unwrap();
    audit(&engine, &bank);
    let report = engine.check(&[bank.accounts, bank.journal]);
    assert!(report.is_clean(), "{report}");
    assert!(!said.iter().any(|line| line.contains("damaged")), "{said:?}");
}
