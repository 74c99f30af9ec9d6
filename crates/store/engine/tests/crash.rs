//! kill -9 under load: a child process transfers money between accounts, the parent kills it at a random moment, opens the
//! data directory and checks the ledger. Every acknowledged transfer is there, none is there in part, index and rows agree.

mod common;

use common::{Scratch, await_rollbacks, key, options};
use engine::{
    Cursor, Direction, Engine, EngineOptions, Error, Isolation, LockMode, Range, Read, Transaction, Tree, TreeKind,
    Wait,
};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::ops::Bound;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

const ACCOUNTS: u64 = 200;
const START: u64 = 1000;
const WRITERS: u64 = 4;
/// Transfers that a child has had acknowledged before it is killed, at least.
const ACKNOWLEDGED: usize = 60;
const X: Read = Read::Locking { mode: LockMode::Exclusive, wait: Wait::Block };
const ALL: Range<'static> = Range { lower: Bound::Unbounded, upper: Bound::Unbounded };

struct Ledger {
    accounts: Tree,
    /// (balance, account)
    by_balance: Tree,
    /// (transfer id) -> amount
    journal: Tree,
}

fn small(datadir: &Path) -> EngineOptions {
    EngineOptions { buffer_pool_bytes: 4 << 20, log_capacity_bytes: 16 << 20, ..options(datadir) }
}

impl Ledger {
    fn trees(&self) -> [Tree; 3] {
        [self.accounts, self.by_balance, self.journal]
    }
}

/// The trees are the first three that a new engine makes, so their places are written into the dictionary tree.
fn create(engine: &Engine) -> Ledger {
    let mut tx = Transaction::new(engine).unwrap();
    tx.begin(Isolation::RepeatableRead, false);
    let trees = [TreeKind::Clustered, TreeKind::Secondary, TreeKind::Clustered]
        .map(|kind| engine.create_tree(&mut tx, kind).unwrap());
    for (i, tree) in trees.iter().enumerate() {
        let place = [tree.root.to_le_bytes(), (tree.id as u64).to_le_bytes()].concat();
        tx.insert(engine.dictionary(), &[i as u8], &place).unwrap();
    }
    let ledger = Ledger { accounts: trees[0], by_balance: trees[1], journal: trees[2] };
    for i in 0..ACCOUNTS {
        tx.insert(ledger.accounts, &key(i), &START.to_be_bytes()).unwrap();
        tx.index_insert(ledger.by_balance, &[key(START), key(i)].concat(), None, b"").unwrap();
    }
    tx.commit().unwrap();
    ledger
}

fn open_ledger(engine: &Engine) -> Ledger {
    let mut tx = Transaction::new(engine).unwrap();
    tx.begin(Isolation::RepeatableRead, false);
    let mut tree = |i: u8, kind| {
        let mut row = Vec::new();
        assert!(tx.get(engine.dictionary(), &[i], Read::Consistent, &mut row).unwrap());
        let word = |at: usize| u64::from_le_bytes(row[at..at + 8].try_into().unwrap());
        Tree { id: word(8) as u32, root: word(0), kind }
    };
    Ledger {
        accounts: tree(0, TreeKind::Clustered),
        by_balance: tree(1, TreeKind::Secondary),
        journal: tree(2, TreeKind::Clustered),
    }
}

fn balance(row: &[u8]) -> u64 {
    u64::from_be_bytes(row[..8].try_into().unwrap())
}

/// Moves money; rows vary in length so that pages split and merge.
fn transfer(tx: &mut Transaction, ledger: &Ledger, id: u64, from: u64, to: u64, amount: u64) -> engine::Result<()> {
    let mut row = Vec::new();
    for (account, sign) in [(from, -1i64), (to, 1)] {
        assert!(tx.get(ledger.accounts, &key(account), X, &mut row)?);
        let old = balance(&row);
        let new = old.wrapping_add_signed(sign * amount as i64);
        let mut fresh = new.to_be_bytes().to_vec();
        fresh.resize(8 + (id % 700) as usize, id as u8);
        tx.update(ledger.accounts, &key(account), &fresh)?;
        tx.index_delete(ledger.by_balance, &[key(old), key(account)].concat())?;
        tx.index_insert(ledger.by_balance, &[key(new), key(account)].concat(), None, b"")?;
    }
    tx.insert(ledger.journal, &key(id), &amount.to_be_bytes())
}

/// Runs in the child until it is killed: prints each acknowledged transfer.
fn load(datadir: &Path, seed: u64) {
    let engine = Engine::open(small(datadir), &mut |_| ()).unwrap();
    let ledger = Arc::new(open_ledger(&engine));
    let threads: Vec<_> = (0..WRITERS)
        .map(|writer| {
            let (engine, ledger) = (engine.clone(), ledger.clone());
            std::thread::spawn(move || {
                let mut random = seed * WRITERS + writer + 1;
                let mut next = move |n: u64| {
                    random ^= random << 13;
                    random ^= random >> 7;
                    random ^= random << 17;
                    random % n
                };
                let mut tx = Transaction::new(&engine).unwrap();
                for turn in 0u64.. {
                    let id = (seed << 32) + turn * WRITERS + writer;
                    tx.begin(Isolation::RepeatableRead, false);
                    let (from, to) = (next(ACCOUNTS), next(ACCOUNTS));
                    match transfer(&mut tx, &ledger, id, from, to, next(5)) {
                        Ok(()) if next(10) == 0 => tx.rollback().unwrap(),
                        Ok(()) => {
                            tx.commit().unwrap();
                            // One write call a line: the parent sees whole lines.
                            std::io::stdout().write_all(format!("ack {id}\n").as_bytes()).unwrap();
                        }
                        Err(Error::Deadlock) => assert!(!tx.is_active()),
                        Err(error) => panic!("{error}"),
                    }
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
}

fn check(engine: &Engine, acknowledged: &BTreeSet<u64>, round: u64) {
    let ledger = open_ledger(engine);
    let mut tx = Transaction::new(engine).unwrap();
    tx.begin(Isolation::RepeatableRead, false);
    let mut scan = |tree: Tree| {
        let mut cursor = Cursor::new(tree, ALL, Direction::Forward, Read::Consistent, 0);
        let mut out = Vec::new();
        while let Some(entry) = cursor.next(&mut tx).unwrap() {
            assert!(entry.certain, "nothing is in progress");
            out.push((entry.key.to_vec(), entry.value.to_vec()));
        }
        out
    };
    let accounts = scan(ledger.accounts);
    assert_eq!(accounts.len() as u64, ACCOUNTS, "round {round}");
    let total = accounts.iter().fold(0u64, |sum, (_, row)| sum.wrapping_add(balance(row)));
    assert_eq!(total, ACCOUNTS * START, "round {round}: money appeared or vanished");
    let mut expected: Vec<_> = accounts.iter().map(|(account, row)| [&row[..8], account].concat()).collect();
    expected.sort();
    let index: Vec<_> = scan(ledger.by_balance).into_iter().map(|(key, _)| key).collect();
    assert_eq!(index, expected, "round {round}: the index does not agree with the rows");
    let journal: BTreeSet<u64> =
        scan(ledger.journal).iter().map(|(key, _)| u64::from_be_bytes(key[..].try_into().unwrap())).collect();
    let lost: Vec<_> = acknowledged.difference(&journal).collect();
    assert!(lost.is_empty(), "round {round}: acknowledged and lost: {lost:?}");
}

/// As `clearway check`: all of it is sound, and nothing of the directory changes.
fn check_over_overlay(datadir: &Path, acknowledged: &BTreeSet<u64>, round: u64) {
    let contents = || -> Vec<_> {
        let redo = datadir.join("redo");
        let entries = [datadir, &redo].map(|place| std::fs::read_dir(place).unwrap()).into_iter().flatten();
        let files = entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_file());
        let mut files: Vec<_> = files.map(|path| (crc32fast::hash(&std::fs::read(&path).unwrap()), path)).collect();
        files.sort();
        files
    };
    let before = contents();
    let overlay = io::Overlay::mount(datadir, std::env::temp_dir()).unwrap();
    let engine = Engine::open(small(datadir), &mut |_| ()).unwrap();
    await_rollbacks(&engine);
    check(&engine, acknowledged, round);
    let report = engine.check(&open_ledger(&engine).trees());
    assert!(report.is_clean(), "round {round}, over an overlay: {report}");
    engine.close().unwrap();
    drop(engine);
    overlay.unmount();
    assert!(contents() == before, "round {round}: the directory has changed");
}

#[test]
fn acknowledged_transfers_survive_kill_9() {
    if let Ok(datadir) = std::env::var("CLEARWAY_CRASH_DATADIR") {
        let seed = std::env::var("CLEARWAY_CRASH_SEED").unwrap().parse().unwrap();
        return load(Path::new(&datadir), seed);
    }
    let scratch = Scratch::new("crash");
    {
        let engine = Engine::open(small(scratch.path()), &mut |_| ()).unwrap();
        create(&engine);
    }
    let mut acknowledged = BTreeSet::new();
    for round in 1..=8u64 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "acknowledged_transfers_survive_kill_9", "--nocapture"])
            .env("CLEARWAY_CRASH_DATADIR", scratch.path())
            .env("CLEARWAY_CRASH_SEED", round.to_string())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let out = child.stdout.take().unwrap();
        let (sender, ids) = std::sync::mpsc::channel();
        let reader = std::thread::spawn(move || {
            let lines = BufReader::new(out).lines().map_while(Result::ok);
            let ids = lines.filter_map(|line| line.strip_prefix("ack ")?.parse::<u64>().ok());
            ids.for_each(|id| sender.send(id).unwrap());
        });
        // So many transfers however slow the machine is, then a moment that varies: the load has no end of its own.
        acknowledged.extend(ids.iter().take(ACKNOWLEDGED));
        sync::Parker::new().park_timeout(Duration::from_millis(round * 173 % 700), sync::waits::Wait::Background);
        child.kill().unwrap();
        child.wait().unwrap();
        reader.join().unwrap();
        acknowledged.extend(ids);
        check_over_overlay(scratch.path(), &acknowledged, round);
        let engine = Engine::open(small(scratch.path()), &mut |_| ()).unwrap();
        await_rollbacks(&engine);
        check(&engine, &acknowledged, round);
        let report = engine.check(&open_ledger(&engine).trees());
        assert!(report.is_clean(), "round {round}: {report}");
    }
    assert!(acknowledged.len() >= 8 * ACKNOWLEDGED, "a child ended before its transfers were made");
    println!("{} acknowledged transfers over 8 kills", acknowledged.len());
}
