//! The engine on a simulated disk that loses and tears what was not flushed: power cuts at every change of the disk, also
//! during recovery; full disks; pages that cannot be read; rot in the data file and in the log.
//!
//! One thread runs a script of transactions and knows every state that a commit made. A commit also stores the state's number,
//! so whatever a crash leaves says which state it should be; it must be one that was acknowledged or is being committed.
//!
//! `CLEARWAY_FAULTS_SEED` chooses another script, `CLEARWAY_FAULTS_EVERY=1` cuts at every change, not at a sample.

mod common;

use common::{await_rollbacks, check_sound, key, options, row, try_whole, whole};
use engine::{
    Cursor, Direction, Engine, EngineOptions, Error, Isolation, LockMode, Range, Read, Transaction, Tree, TreeKind,
    Wait,
};
use fastrand::Rng;
use io::Op;
use io::faults::{Action, Image, Rule, Script, SimDisk};
use std::collections::BTreeMap;
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

const X: Read = Read::Locking { mode: LockMode::Exclusive, wait: Wait::Block };
const ALL: Range<'static> = Range { lower: Bound::Unbounded, upper: Bound::Unbounded };

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().unwrap())
}

fn small(datadir: &Path) -> EngineOptions {
    EngineOptions {
        buffer_pool_bytes: 4 << 20,
        log_capacity_bytes: 1 << 20,
        address_space_bytes: 256 << 20,
        ..options(datadir)
    }
}

fn root(name: &str) -> PathBuf {
    PathBuf::from(format!("/sim/engine-{name}"))
}

fn open(datadir: &Path) -> engine::Result<Arc<Engine>> {
    Engine::open(small(datadir), &mut |_| ())
}

fn begin(engine: &Engine) -> Transaction {
    let mut tx = Transaction::new(engine).unwrap();
    // Two of them at once in one thread: without gap locks they do not meet, for their rows differ.
    tx.begin(Isolation::ReadCommitted, false);
    tx
}

/// A row by what it is made from: its version and length.
type Rows = BTreeMap<u64, (u64, usize)>;

fn bytes((version, len): (u64, usize)) -> Vec<u8> {
    [&version.to_be_bytes()[..], &row(version, len)].concat()
}

/// An index entry: the version's low byte, then the key.
fn entry(id: u64, (version, _): (u64, usize)) -> Vec<u8> {
    [&[version as u8][..], &key(id)].concat()
}

/// What commit number `seq` made. The first tree is the table with an index, the others come and go.
#[derive(Clone, Debug, Default, PartialEq)]
struct State {
    seq: u64,
    table: Option<(Tree, Tree)>,
    rows: Rows,
    others: BTreeMap<u64, (Tree, Rows)>,
}

fn place(tree: Tree) -> Vec<u8> {
    [tree.root.to_le_bytes(), (tree.id as u64).to_le_bytes(), (tree.kind as u64).to_le_bytes()].concat()
}

fn placed(row: &[u8]) -> Tree {
    let word = |at: usize| u64::from_le_bytes(row[at..at + 8].try_into().unwrap());
    let kind = if word(16) == TreeKind::Clustered as u64 { TreeKind::Clustered } else { TreeKind::Secondary };
    Tree { id: word(8) as u32, root: word(0), kind }
}

fn scan(tx: &mut Transaction, tree: Tree) -> engine::Result<Vec<(Vec<u8>, Vec<u8>)>> {
    let mut cursor = Cursor::new(tree, ALL, Direction::Forward, Read::Consistent, 0);
    let mut out = Vec::new();
    while let Some(entry) = cursor.next(tx)? {
        assert!(entry.certain, "nothing is in progress");
        out.push((entry.key.to_vec(), try_whole(tx, entry.value)?));
    }
    Ok(out)
}

fn rows_of(tx: &mut Transaction, tree: Tree) -> engine::Result<Rows> {
    let decode = |(key, value): (Vec<u8>, Vec<u8>)| {
        let version = u64::from_be_bytes(value[..8].try_into().unwrap());
        assert_eq!(value, bytes((version, value.len() - 8)), "a row that nobody wrote");
        (u64::from_be_bytes(key[..].try_into().unwrap()), (version, value.len() - 8))
    };
    Ok(scan(tx, tree)?.into_iter().map(decode).collect())
}

impl State {
    /// Reads everything, from the dictionary down, and compares rows and index.
    fn read(engine: &Engine) -> engine::Result<State> {
        await_rollbacks(engine);
        let mut tx = begin(engine);
        let mut state = State::default();
        let mut table = (None, None);
        for (name, value) in scan(&mut tx, engine.dictionary())? {
            match name[0] {
                b's' => state.seq = u64::from_be_bytes(value[..].try_into().unwrap()),
                b't' => table.0 = Some(placed(&value)),
                b'u' => table.1 = Some(placed(&value)),
                _ => {
                    let number = u64::from_be_bytes(name[1..].try_into().unwrap());
                    state.others.insert(number, (placed(&value), rows_of(&mut tx, placed(&value))?));
                }
            }
        }
        assert_eq!(table.0.is_some(), table.1.is_some(), "half a table");
        if let (Some(tree), Some(index)) = table {
            state.table = Some((tree, index));
            state.rows = rows_of(&mut tx, tree)?;
            let mut expected: Vec<Vec<u8>> = state.rows.iter().map(|(id, row)| entry(*id, *row)).collect();
            expected.sort();
            let index: Vec<Vec<u8>> = scan(&mut tx, index)?.into_iter().map(|(key, _)| key).collect();
            assert_eq!(index, expected, "the index does not agree with the rows");
        }
        Ok(state)
    }

    fn trees(&self) -> Vec<Tree> {
        let table = self.table.iter().flat_map(|(tree, index)| [*tree, *index]);
        table.chain(self.others.values().map(|(tree, _)| *tree)).collect()
    }
}

/// The script's hands: a transaction and the state that it would commit.
struct Hand {
    tx: Transaction,
    state: State,
}

/// Runs the script, telling each state before its commit begins, and counting acknowledged ones.
struct Player<'e> {
    engine: &'e Engine,
    random: Rng,
    committed: State,
    versions: u64,
    tell: Box<dyn FnMut(&State) + 'e>,
    acknowledged: Arc<AtomicU64>,
}

impl Player<'_> {
    fn start(&self) -> Hand {
        Hand { tx: begin(self.engine), state: self.committed.clone() }
    }

    fn commit(&mut self, hand: &mut Hand) -> engine::Result<()> {
        hand.state.seq = self.committed.seq + 1;
        let dictionary = self.engine.dictionary();
        let seq = hand.state.seq.to_be_bytes();
        let mut old = Vec::new();
        if hand.tx.get(dictionary, b"s", X, &mut old)? {
            hand.tx.update(dictionary, b"s", &seq)?;
        } else {
            hand.tx.insert(dictionary, b"s", &seq)?;
        }
        (self.tell)(&hand.state);
        hand.tx.commit()?;
        self.acknowledged.store(hand.state.seq, Ordering::SeqCst);
        self.committed = hand.state.clone();
        Ok(())
    }

    fn fresh_row(&mut self) -> (u64, usize) {
        self.versions += 1;
        let len = match self.random.u64(..40) {
            0 => 4000 + self.random.u64(..40_000),
            1..4 => 1000 + self.random.u64(..2700),
            _ => self.random.u64(..400),
        };
        (self.versions, len as usize)
    }

    fn put(&mut self, hand: &mut Hand, id: u64) -> engine::Result<()> {
        let (tree, index) = hand.state.table.expect("the table is there");
        let new = self.fresh_row();
        let mut old = Vec::new();
        if hand.tx.get(tree, &key(id), X, &mut old)? {
            let before = hand.state.rows[&id];
            assert_eq!(whole(&hand.tx, &old), bytes(before));
            hand.tx.update(tree, &key(id), stored!(bytes(new)))?;
            if entry(id, before) != entry(id, new) {
                hand.tx.index_delete(index, &entry(id, before))?;
                hand.tx.index_insert(index, &entry(id, new), None, b"")?;
            }
        } else {
            hand.tx.insert(tree, &key(id), stored!(bytes(new)))?;
            hand.tx.index_insert(index, &entry(id, new), None, b"")?;
        }
        hand.state.rows.insert(id, new);
        Ok(())
    }

    fn remove(&mut self, hand: &mut Hand, id: u64) -> engine::Result<()> {
        let (tree, index) = hand.state.table.expect("the table is there");
        let mut old = Vec::new();
        if hand.tx.get(tree, &key(id), X, &mut old)? {
            hand.tx.delete(tree, &key(id))?;
            let before = hand.state.rows.remove(&id).expect("the model has it");
            hand.tx.index_delete(index, &entry(id, before))?;
        }
        Ok(())
    }

    /// A new tree with some rows and its name in the dictionary.
    fn create_other(&mut self, hand: &mut Hand) -> engine::Result<()> {
        self.versions += 1;
        let number = self.versions;
        let tree = self.engine.create_tree(&mut hand.tx, TreeKind::Clustered)?;
        let mut rows = Rows::new();
        for id in 0..self.random.u64(..120) {
            let new = self.fresh_row();
            hand.tx.insert(tree, &key(id), stored!(bytes(new)))?;
            rows.insert(id, new);
        }
        hand.tx.insert(self.engine.dictionary(), &[b"x", &key(number)[..]].concat(), &place(tree))?;
        hand.state.others.insert(number, (tree, rows));
        Ok(())
    }

    fn drop_other(&mut self, hand: &mut Hand) -> engine::Result<()> {
        let Some((&number, _)) = hand.state.others.iter().next() else { return Ok(()) };
        let (tree, _) = hand.state.others.remove(&number).expect("just seen");
        let name = [b"x", &key(number)[..]].concat();
        let mut old = Vec::new();
        assert!(hand.tx.get(self.engine.dictionary(), &name, X, &mut old)?);
        hand.tx.delete(self.engine.dictionary(), &name)?;
        self.engine.drop_tree(&mut hand.tx, tree)
    }

    /// Some statements on keys from `base` on.
    fn statements(&mut self, hand: &mut Hand, base: u64, keys: u64) -> engine::Result<()> {
        for _ in 0..1 + self.random.u64(..40) {
            let id = base + self.random.u64(..keys);
            match self.random.u64(..5) {
                0 | 1 => self.remove(hand, id)?,
                _ => self.put(hand, id)?,
            }
        }
        match self.random.u64(..8) {
            0 => self.create_other(hand),
            1 => self.drop_other(hand),
            _ => Ok(()),
        }
    }

    fn create_table(&mut self) -> engine::Result<()> {
        let mut hand = self.start();
        let tree = self.engine.create_tree(&mut hand.tx, TreeKind::Clustered)?;
        let index = self.engine.create_tree(&mut hand.tx, TreeKind::Secondary)?;
        hand.tx.insert(self.engine.dictionary(), b"t", &place(tree))?;
        hand.tx.insert(self.engine.dictionary(), b"u", &place(index))?;
        hand.state.table = Some((tree, index));
        self.commit(&mut hand)
    }

    /// `turns` transactions, some of which roll back all or part; beside them one that stays open over many turns, on keys of
    /// its own.
    fn play(&mut self, turns: u64) -> engine::Result<()> {
        if self.committed.table.is_none() {
            self.create_table()?;
        }
        let mut long: Option<Hand> = None;
        for turn in 0..turns {
            let mut hand = self.start();
            self.statements(&mut hand, 0, 300)?;
            if self.random.u64(..3) == 0 {
                let (savepoint, state) = (hand.tx.savepoint(), hand.state.clone());
                self.statements(&mut hand, 0, 300)?;
                hand.tx.rollback_to(savepoint)?;
                hand.state = state;
                self.statements(&mut hand, 0, 300)?;
            }
            if self.random.u64(..4) == 0 {
                hand.tx.rollback()?;
            } else {
                self.commit(&mut hand)?;
            }
            match &mut long {
                None if turn % 7 == 3 => long = Some(self.start()),
                None => {}
                Some(hand) => {
                    // What others committed since is in the model, not in this transaction's way.
                    let own = |rows: &Rows, other: bool| -> Rows {
                        rows.iter().filter(|(id, _)| (**id >= 1000) != other).map(|(id, row)| (*id, *row)).collect()
                    };
                    let mut merged = self.committed.clone();
                    merged.rows = own(&self.committed.rows, true);
                    merged.rows.append(&mut own(&hand.state.rows, false));
                    hand.state = merged;
                    if turn % 7 == 2 {
                        let mut hand = long.take().expect("it is open");
                        if self.random.u64(..2) == 0 {
                            self.commit(&mut hand)?;
                        } else {
                            hand.tx.rollback()?;
                        }
                    } else {
                        for _ in 0..20 {
                            let id = 1000 + self.random.u64(..200);
                            if self.random.u64(..3) == 0 { self.remove(hand, id)? } else { self.put(hand, id)? }
                        }
                    }
                }
            }
        }
        if let Some(mut hand) = long {
            hand.tx.rollback()?;
        }
        Ok(())
    }
}

enum Told {
    /// A commit of this state begins.
    State(State),
    /// The disk before a change, when so many states were acknowledged.
    Image { number: u64, image: Image, acknowledged: u64 },
}

/// Cuts the power on an image, recovers and checks; sometimes cuts it again while it recovers.
fn cut(image: Image, number: u64, acknowledged: u64, states: &[State], again: bool) {
    let datadir = root(&format!("cut-{number}-{}", again as u8));
    let disk = image.mount(&datadir, number);
    disk.reboot();
    let mut nested = None;
    if again {
        let (send, receive) = sync_channel(1);
        let at = 1 + number % 37;
        let mut changes = 0;
        disk.set_witness(move |moment| {
            changes += 1;
            if changes == at {
                let _ = send.send(moment.image());
            }
        });
        nested = Some(receive);
    }
    let engine = open(&datadir).unwrap_or_else(|error| panic!("image {number}: the server does not start: {error}"));
    let found = State::read(&engine).unwrap_or_else(|error| panic!("image {number}: {error}"));
    assert!(found.seq >= acknowledged, "image {number}: commit {acknowledged} was acknowledged, found {}", found.seq);
    let known: Vec<u64> = states.iter().map(|state| state.seq).collect();
    let expected = states.iter().find(|state| state.seq == found.seq);
    let expected = expected.unwrap_or_else(|| panic!("image {number}: state {} is none of {known:?}", found.seq));
    assert!(found == *expected, "image {number}: state {} is not what was committed", found.seq);
    // And it goes on.
    if again {
        disk.set_witness(|_| ());
    }
    let tell = Box::new(|_: &State| ());
    let mut player = Player {
        engine: &engine,
        random: Rng::with_seed(number),
        committed: found,
        versions: 1 << 40,
        tell,
        acknowledged: Arc::default(),
    };
    player.play(2).unwrap_or_else(|error| panic!("image {number}: after recovery: {error}"));
    let committed = player.committed.clone();
    drop(player);
    assert!(State::read(&engine).unwrap() == committed, "image {number}: after recovery");
    let trees = committed.trees();
    let report = engine.check(&trees);
    assert!(report.is_clean(), "image {number}: {report}");
    assert!(report.leaked.len() < 20, "image {number}: leaked pages: {:?}", report.leaked);
    engine.close().unwrap();
    drop(engine);
    disk.unmount();
    if let Some(image) = nested.and_then(|receive: Receiver<Image>| receive.try_recv().ok()) {
        cut(image, number, acknowledged, states, false);
    }
}

#[test]
fn every_acknowledged_commit_and_nothing_partial_survives_a_power_cut_anywhere() {
    let seed = number("CLEARWAY_FAULTS_SEED", 1);
    let every = number("CLEARWAY_FAULTS_EVERY", 0);
    let turns = number("CLEARWAY_FAULTS_TURNS", 40);
    let datadir = root("script");
    let disk = SimDisk::mount(&datadir, seed);
    let (tell, told): (SyncSender<Told>, _) = sync_channel(2);
    let checker = std::thread::spawn(move || {
        let mut states = vec![State::default()];
        let mut images = 0;
        for told in told {
            match told {
                Told::State(state) => states.push(state),
                Told::Image { number, image, acknowledged } => {
                    images += 1;
                    cut(image, number, acknowledged, &states, images % 3 == 0);
                    states.retain(|state| state.seq >= acknowledged);
                }
            }
        }
        images
    });
    let acknowledged = Arc::new(AtomicU64::new(0));
    {
        let (tell, acknowledged) = (tell.clone(), acknowledged.clone());
        let mut changes = 0;
        let mut random = Rng::with_seed(seed);
        disk.set_witness(move |moment| {
            changes += 1;
            // All of the creation, but its zero-filling; a sample of the rest.
            let sampled = match every {
                0 => random.u64(..if changes < 60 { 3 } else { 5 }) == 0,
                every => changes % every == 0,
            };
            if sampled && (changes > 30 || moment.op != Op::Write || changes % 4 == 0) {
                let (image, acknowledged) = (moment.image(), acknowledged.load(Ordering::SeqCst));
                // The checker has failed when nobody listens: its message is the one to read.
                let _ = tell.send(Told::Image { number: changes, image, acknowledged });
            }
        });
    }
    let engine = open(&datadir).unwrap();
    let mut player = Player {
        engine: &engine,
        random: Rng::with_seed(seed),
        committed: State::default(),
        versions: 0,
        tell: Box::new(|state| drop(tell.send(Told::State(state.clone())))),
        acknowledged,
    };
    player.play(turns).unwrap();
    let committed = player.committed.clone();
    drop(player);
    assert!(State::read(&engine).unwrap() == committed, "seed {seed}");
    check_sound(&engine, &committed.trees(), &format!("seed {seed}"));
    engine.close().unwrap();
    let changes = disk.changes();
    disk.set_witness(|_| ());
    drop(tell);
    let images = checker.join().unwrap_or_else(|_| panic!("seed {seed}: see the checker's message"));
    println!("seed {seed}: {images} power cuts over {changes} changes, {} commits", committed.seq);
    assert!(images > 30, "only {images}");
    drop(engine);
    disk.unmount();
}

/// A table larger than the pool, and the state that it is in.
fn filled(name: &str, rows: u64, len: usize) -> (SimDisk, PathBuf, Arc<Engine>, Tree) {
    let datadir = root(name);
    let disk = SimDisk::mount(&datadir, 1);
    let engine = open(&datadir).unwrap();
    let mut tx = begin(&engine);
    let tree = engine.create_tree(&mut tx, TreeKind::Clustered).unwrap();
    for id in 0..rows {
        tx.insert(tree, &key(id), &bytes((id, len))).unwrap();
    }
    tx.commit().unwrap();
    drop(tx);
    (disk, datadir, engine, tree)
}

#[test]
fn a_transaction_larger_than_the_pool_is_rolled_back_after_a_crash() {
    let (disk, _, engine, tree) = filled("large", 20_000, 300);
    let mut tx = begin(&engine);
    let mut old = Vec::new();
    for id in 0..20_000 {
        assert!(tx.get(tree, &key(id), X, &mut old).unwrap());
        tx.update(tree, &key(id), &bytes((id + 1_000_000, 310))).unwrap();
    }
    // Another's commit makes all of it durable; then the power fails.
    let mut other = begin(&engine);
    other.insert(engine.dictionary(), b"z", b"z").unwrap();
    other.commit().unwrap();
    let image = disk.image();
    let after = root("large-after");
    let cut = image.mount(&after, 1);
    cut.reboot();
    let again = open(&after).unwrap();
    let mut reader = begin(&again);
    let expected: Rows = (0..20_000).map(|id| (id, (id, 300))).collect();
    assert!(rows_of(&mut reader, tree).unwrap() == expected);
    drop(reader);
    again.close().unwrap();
    drop(again);
    cut.unmount();
    tx.rollback().unwrap();
    drop((tx, other));
    engine.close().unwrap();
    drop(engine);
    disk.unmount();
}

#[test]
fn a_full_disk_fails_statements_only_and_ends() {
    for (round, room) in [0u64, 1 << 20, 3 << 20, 4 << 20].into_iter().enumerate() {
        let (disk, _, engine, tree) = filled(&format!("full-{round}"), 2000, 300);
        disk.set_room(Some(room));
        let mut model: Rows = (0..2000).map(|id| (id, (id, 300))).collect();
        let mut refused = 0;
        let mut tx = begin(&engine);
        // Small and large rows, until refused a few times over.
        for turn in 0..2000u64 {
            if !tx.is_active() {
                tx.begin(Isolation::RepeatableRead, false);
            }
            let id = 10_000 + turn;
            let new = (id, if turn % 4 == 0 { 300_000 } else { 1000 });
            let savepoint = tx.savepoint();
            match tx.insert(tree, &key(id), stored!(bytes(new))) {
                Ok(()) => {
                    model.insert(id, new);
                    if turn % 5 == 0 {
                        tx.commit().unwrap();
                    }
                }
                Err(Error::DiskFull) => {
                    refused += 1;
                    tx.rollback_to(savepoint).unwrap();
                    if refused > 20 {
                        break;
                    }
                }
                Err(error) => panic!("room {room}: {error}"),
            }
        }
        assert!(refused > 20, "room {room}: the disk was never full");
        // Reads go on, and so does the transaction.
        let mut reader = begin(&engine);
        assert!(rows_of(&mut reader, tree).unwrap().len() >= 2000);
        drop(reader);
        disk.set_room(None);
        tx.insert(tree, &key(99_999), stored!(bytes((7, 300_000)))).unwrap();
        model.insert(99_999, (7, 300_000));
        tx.commit().unwrap();
        tx.begin(Isolation::RepeatableRead, false);
        assert!(rows_of(&mut tx, tree).unwrap() == model, "room {room}");
        tx.commit().unwrap();
        drop(tx);
        check_sound(&engine, &[tree], &format!("room {room}: {refused} refused rows"));
        engine.close().unwrap();
        drop(engine);
        disk.unmount();
    }
}

/// Writes to files whose path contains `part` find the disk full, or the device broken, from now on.
fn refuse_writes(disk: &SimDisk, action: Action, part: &str) {
    let mut script = Script::default();
    script.push(Rule::new(action, Some(Op::Write), 1).within(part));
    disk.set_script(script);
}

#[test]
fn a_commit_that_waits_on_a_full_disk_is_neither_failed_nor_acknowledged() {
    let (disk, datadir, engine, tree) = filled("commit-full", 10, 300);
    let mut tx = begin(&engine);
    tx.insert(tree, &key(100), &bytes((1, 300))).unwrap();
    refuse_writes(&disk, Action::Full, "redo");
    let writes = disk.count(Op::Write);
    let interrupt = tx.interrupt().clone();
    let session = std::thread::spawn(move || {
        let outcome = tx.commit();
        (tx, outcome)
    });
    let until = |done: &dyn Fn() -> bool| {
        while !done() {
            std::thread::yield_now()
        }
    };
    until(&|| disk.count(Op::Write) > writes);
    // Its locks are given back: the row can be locked, and what it says may not be told.
    let mut other = begin(&engine);
    let mut out = Vec::new();
    assert!(other.get(tree, &key(100), X, &mut out).unwrap());
    // A consistent read does not see it.
    let mut reader = begin(&engine);
    assert!(!reader.get(tree, &key(100), Read::Consistent, &mut out).unwrap());
    drop(reader);
    // KILL QUERY ends the wait of who only reads, not that of the commit.
    other.interrupt().raise(1);
    assert!(matches!(other.await_durable(), Err(Error::Interrupted)));
    other.interrupt().clear_statement();
    interrupt.raise(1);
    let tried = disk.count(Op::Write);
    until(&|| disk.count(Op::Write) > tried + 2);
    assert!(!session.is_finished());
    // KILL CONNECTION does.
    interrupt.raise(2);
    let (tx, outcome) = session.join().unwrap();
    assert!(matches!(outcome, Err(Error::Unacknowledged)), "{outcome:?}");
    assert!(!tx.is_active());
    drop(tx);
    // With room it is durable without anybody's doing more.
    disk.set_script(Script::default());
    engine.await_commits().unwrap();
    assert!(other.get(tree, &key(100), Read::Consistent, &mut out).unwrap());
    drop(other);
    disk.crash();
    drop(engine);
    disk.reboot();
    let engine = open(&datadir).unwrap();
    let mut reader = begin(&engine);
    assert!(reader.get(tree, &key(100), Read::Consistent, &mut out).unwrap() && out == bytes((1, 300)));
    drop(reader);
    engine.close().unwrap();
    drop(engine);
    disk.unmount();
}

#[test]
fn a_close_whose_pages_cannot_be_written_says_so_and_loses_nothing() {
    let (disk, datadir, engine, tree) = filled("close", 2000, 300);
    let mut tx = begin(&engine);
    tx.insert(tree, &key(5000), &bytes((1, 300))).unwrap();
    refuse_writes(&disk, Action::Fail, "clearway.d");
    tx.commit().unwrap();
    drop(tx);
    let closed = engine.close();
    assert!(matches!(&closed, Err(Error::Io(what)) if what.contains("clearway.d")), "{closed:?}");
    drop(engine);
    disk.set_script(Script::default());
    let engine = open(&datadir).unwrap();
    let mut reader = begin(&engine);
    assert_eq!(rows_of(&mut reader, tree).unwrap().len(), 2001);
    drop(reader);
    engine.close().unwrap();
    drop(engine);
    disk.unmount();
}

#[test]
fn a_page_that_cannot_be_read_fails_the_statement_only() {
    let (disk, _, engine, tree) = filled("eio", 12_000, 800);
    let mut tx = begin(&engine);
    let mut out = Vec::new();
    disk.fail_from(Op::Read, 1);
    let (mut failed, mut read) = (0, 0);
    for id in 0..12_000 {
        match tx.get(tree, &key(id), Read::Consistent, &mut out) {
            Ok(there) => {
                assert!(there && out == bytes((id, 800)));
                read += 1;
            }
            Err(Error::Io(what)) => {
                assert!(what.contains("clearway.data"), "{what}");
                failed += 1;
            }
            Err(error) => panic!("{error}"),
        }
    }
    assert!(failed > 1000 && read > 1000, "{failed} reads failed, {read} did not");
    disk.set_script(Script::default());
    assert!(rows_of(&mut tx, tree).unwrap() == (0..12_000).map(|id| (id, (id, 800))).collect());
    drop(tx);
    engine.close().unwrap();
    drop(engine);
    disk.unmount();
}

/// An engine with rows, entries, chains and undo, some of it in the log only: its disk, and the states that it may be in.
fn played(name: &str, close: bool) -> (Image, Vec<State>) {
    let datadir = root(name);
    let disk = SimDisk::mount(&datadir, 1);
    let engine = open(&datadir).unwrap();
    if !close {
        // No page gets to the disk, so the checkpoint stays where it is, however long the cleaner has: all of the log is needed.
        let mut script = Script::default();
        script.push(Rule::new(Action::Fail, Some(Op::Write), 1).within("doublewrite"));
        disk.set_script(script);
    }
    // While somebody may see what was there before, purge has nothing to do: the log ends with what the player did.
    let mut before = Transaction::new(&engine).unwrap();
    before.begin(Isolation::RepeatableRead, true);
    before.take_snapshot();
    let mut states = vec![State::default()];
    let tell = |state: &State| states.push(state.clone());
    let mut player = Player {
        engine: &engine,
        random: Rng::with_seed(5),
        committed: State::default(),
        versions: 0,
        tell: Box::new(tell),
        acknowledged: Arc::default(),
    };
    player.play(12).unwrap();
    // At the end stands a commit. What was rolled back before it may not be on the disk, and nobody needs it.
    let mut last = player.start();
    player.statements(&mut last, 0, 300).unwrap();
    player.commit(&mut last).unwrap();
    drop((last, player));
    let image = match close {
        true => {
            drop(before);
            engine.close().unwrap();
            disk.image()
        }
        false => {
            let image = disk.image();
            drop(before);
            image
        }
    };
    drop(engine);
    disk.unmount();
    (image, states)
}

/// The names and lengths of the files in a directory of a disk, after a reboot that loses nothing that was flushed.
fn names(datadir: &Path) -> Vec<(PathBuf, u64)> {
    let directory = io::Directory::open(datadir).unwrap();
    let length = |name: String| {
        let path = directory.join(&name);
        let file = io::File::open(&path, io::OpenOptions::read(sync::waits::Wait::DataFile)).ok()?;
        Some((path, file.len().ok()?))
    };
    directory.list().unwrap().into_iter().filter_map(length).collect()
}

#[test]
fn rot_in_the_data_file_is_named_or_harmless() {
    let (image, states) = played("rot", true);
    let last = states.last().unwrap();
    let random = &mut Rng::with_seed(number("CLEARWAY_FAULTS_SEED", 1));
    let (mut named, mut harmless) = (0, 0);
    let used: Vec<u64> = {
        let disk = image.clone().mount(root("rot-look"), 1);
        disk.reboot();
        let file =
            io::File::open(root("rot-look").join("clearway.data"), io::OpenOptions::read(sync::waits::Wait::DataFile))
                .unwrap();
        let mut bytes = vec![0; file.len().unwrap() as usize];
        file.read_at(&mut bytes, 0).unwrap();
        disk.unmount();
        (0..bytes.len() as u64 / 16384).filter(|id| !matches!(bytes[*id as usize * 16384 + 4], 0 | 8)).collect()
    };
    for round in 0..60u64 {
        let datadir = root("rot-look");
        let disk = image.clone().mount(&datadir, 1);
        disk.reboot();
        let page = used[(round * 7 + random.u64(..7)) as usize % used.len()];
        let offset = page * 16384 + random.u64(..16384);
        assert!(disk.corrupt(datadir.join("clearway.data"), offset as usize, 1 << random.u64(..8)));
        // Nor does the doublewrite file know better.
        for half in [0, 129 * 16384] {
            assert!(disk.corrupt(datadir.join("clearway.doublewrite"), half, 1));
        }
        let outcome = open(&datadir).and_then(|engine| State::read(&engine));
        match outcome {
            Ok(state) => {
                assert!(state == *last, "page {page}, byte {offset}: wrong rows");
                harmless += 1;
            }
            Err(Error::Corrupt(what)) => {
                named += 1;
                assert!(
                    what.contains("clearway.data") && what.contains(&format!("page {page} ")),
                    "page {page}: {what}"
                );
            }
            Err(error) => panic!("page {page}, byte {offset}: {error}"),
        }
        disk.unmount();
    }
    println!("{named} damaged pages were named, {harmless} were not needed");
    assert!(named > 30);
}

#[test]
fn rot_in_the_log_is_named_or_a_tail_and_never_a_wrong_state() {
    let (image, states) = played("log-rot", false);
    let random = &mut Rng::with_seed(number("CLEARWAY_FAULTS_SEED", 1));
    let datadir = root("log-rot-look");
    let (mut named, mut tails, mut whole) = (0, 0, 0);
    for round in 0..60u64 {
        let disk = image.clone().mount(&datadir, 1);
        disk.reboot();
        let files = names(&datadir.join("redo"));
        let segments: Vec<_> = files.iter().filter(|(path, _)| path.extension().is_some_and(|e| e == "log")).collect();
        // The bytes that are not zero: groups.
        let (path, _) = segments[0];
        let file = io::File::open(path, io::OpenOptions::read(sync::waits::Wait::DataFile)).unwrap();
        let mut bytes = vec![0; file.len().unwrap() as usize];
        file.read_at(&mut bytes, 0).unwrap();
        drop(file);
        let end = bytes.iter().rposition(|byte| *byte != 0).unwrap() as u64;
        let at = if round % 2 == 0 { end - random.u64(..8192.min(end)) } else { random.u64(..end) };
        assert!(disk.corrupt(path, at as usize, 1 << random.u64(..8)));
        let outcome = open(&datadir).and_then(|engine| State::read(&engine));
        match outcome {
            Ok(state) => {
                let expected = states.iter().find(|known| known.seq == state.seq).expect("a state that was committed");
                assert!(state == *expected, "byte {at}: wrong rows");
                if state == *states.last().unwrap() { whole += 1 } else { tails += 1 }
            }
            Err(Error::Corrupt(what)) => {
                assert!(what.contains("clearway-") && what.contains("corrupt at byte"), "byte {at}: {what}");
                named += 1;
            }
            Err(error) => panic!("byte {at}: {error}"),
        }
        disk.unmount();
    }
    println!("{named} times damage was named, {tails} times the tail was cut, {whole} times it was not needed");
    assert!(named > 20 && tails > 0 && whole < 10, "{named}, {tails}, {whole}");
}
