//! Encrypted trees: no file shows their rows, at whatever moment the server dies; and nothing of them is lost.

mod common;

use common::{key, options};
use engine::{
    Cursor, Direction, Engine, EngineOptions, Error, Isolation, Long, Range, Read, Row, Transaction, Tree, TreeKind,
};
use io::faults::SimDisk;
use io::{Directory, File, OpenOptions};
use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;

const ALL: Range<'static> = Range { lower: Bound::Unbounded, upper: Bound::Unbounded };
const SECRET: &[u8] = b"the secret of a row that nobody may see";
const PLAIN: &[u8] = b"what is written on every wall in the city";

fn small(datadir: &Path) -> EngineOptions {
    EngineOptions { buffer_pool_bytes: 4 << 20, log_capacity_bytes: 16 << 20, ..options(datadir) }
}

fn open(datadir: &Path) -> Arc<Engine> {
    Engine::open(small(datadir), &mut |_| ()).unwrap()
}

fn write(directory: &Directory, name: &str, bytes: &[u8]) {
    let file = directory
        .open_file(name, OpenOptions { truncate: true, ..OpenOptions::create(sync::waits::Wait::DataFile) })
        .unwrap();
    file.write_at(bytes, 0).unwrap();
    file.sync_all().unwrap();
    directory.sync().unwrap();
}

/// A disk whose data directory has a keyring's configuration. The keyring lies there, too.
fn disk(name: &str) -> SimDisk {
    let disk = SimDisk::mount(format!("/sim/encryption-{name}"), 1);
    write(&Directory::open(disk.root()).unwrap(), cipher::CONFIG_FILE, br#"{"path": "keyring"}"#);
    disk
}

fn begin(engine: &Engine) -> Transaction {
    let mut tx = Transaction::new(engine).unwrap();
    tx.begin(Isolation::RepeatableRead, false);
    tx
}

fn bytes_of(directory: &Directory, name: &str) -> Vec<u8> {
    let file = File::open(directory.join(name), OpenOptions::read(sync::waits::Wait::DataFile)).unwrap();
    let mut bytes = vec![0; file.len().unwrap() as usize];
    file.read_at(&mut bytes, 0).unwrap();
    bytes
}

/// The files, of those on the disk, in which the words stand.
fn files_with(root: &Path, words: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    for place in [root.to_path_buf(), root.join("redo")] {
        let directory = Directory::open(&place).unwrap();
        for name in directory.list().unwrap().into_iter().filter(|name| name != "redo") {
            if bytes_of(&directory, &name).windows(words.len()).any(|window| window == words) {
                found.push(name);
            }
        }
    }
    found
}

/// Row `id` in its `version`, with the words in it.
fn row(words: &[u8], id: u64, version: u64) -> Vec<u8> {
    let head = [id.to_be_bytes(), version.to_be_bytes()].concat();
    let repeated = words.iter().cycle().take(words.len() * (1 + (id + version) as usize % 8));
    head.into_iter().chain(repeated.copied()).collect()
}

/// Changes of all kinds to a tree of `rows` rows, and their events: rows come, grow, shrink, go; some transactions roll back.
fn change(engine: &Engine, tree: Tree, words: &[u8], rows: u64, version: u64) {
    let mut tx = begin(engine);
    for id in 0..rows {
        let new = row(words, id, version);
        let outcome = match version {
            1 => tx.insert(tree, &key(id), new.as_slice()),
            _ => tx.update(tree, &key(id), new.as_slice()),
        };
        outcome.unwrap();
        tx.events().append(|out| out.extend_from_slice(&new)).unwrap();
    }
    tx.commit().unwrap();
    // A long value, and what is undone again.
    tx.begin(Isolation::RepeatableRead, false);
    let long = words.repeat(1000);
    let outside = [Long::New(&long)];
    tx.insert(tree, &key(1_000_000 + version), Row { body: &[], long: &outside }).unwrap();
    tx.delete(tree, &key(version)).unwrap();
    tx.update(tree, &key(0), row(words, 0, 99).as_slice()).unwrap();
    tx.rollback().unwrap();
}

fn check(engine: &Engine, tree: Tree, words: &[u8], rows: u64, version: u64) {
    let mut tx = begin(engine);
    let mut cursor = Cursor::new(tree, ALL, Direction::Forward, Read::Consistent, 0);
    for id in 0..rows {
        let entry = cursor.next(&mut tx).unwrap().expect("a row is missing");
        assert_eq!(entry.key, key(id));
        assert!(entry.value == row(words, id, version), "row {id}");
    }
    assert!(cursor.next(&mut tx).unwrap().is_none());
    tx.rollback().unwrap();
}

/// Makes a tree whose words must not be seen in any file, next to one whose words are.
fn two_trees(engine: &Engine) -> (Tree, Tree) {
    let mut tx = begin(engine);
    let secret = engine.create_tree_as(&mut tx, TreeKind::Clustered, true).unwrap();
    let plain = engine.create_tree(&mut tx, TreeKind::Clustered).unwrap();
    tx.commit().unwrap();
    assert!(secret.is_encrypted() && !plain.is_encrypted());
    (secret, plain)
}

#[test]
fn no_file_shows_a_row_whenever_the_server_dies() {
    const ROWS: u64 = 3000;
    let disk = disk("kill");
    let root = disk.root().to_path_buf();
    let mut engine = open(&root);
    let (secret, plain) = two_trees(&engine);
    for version in 1..=6 {
        change(&engine, secret, SECRET, ROWS, version);
        change(&engine, plain, PLAIN, ROWS / 10, version);
        if version % 2 == 0 {
            // Pages go through the doublewrite file to their places; the log goes on.
            engine.close().unwrap();
            drop(engine);
            engine = open(&root);
        }
        let mut open_one = begin(&engine);
        open_one.update(secret, &key(7), row(SECRET, 7, 50).as_slice()).unwrap();
        open_one.update(plain, &key(7), row(PLAIN, 7, 50).as_slice()).unwrap();
        for seed in 0..3 {
            let after = format!("/sim/encryption-kill-{version}-{seed}");
            let cut = disk.image().mount(&after, seed);
            cut.reboot();
            assert_eq!(files_with(Path::new(&after), SECRET), [""; 0], "version {version}, before the start");
            assert!(!files_with(Path::new(&after), PLAIN).is_empty(), "the search finds nothing");
            let again = open(Path::new(&after));
            check(&again, secret, SECRET, ROWS, version);
            check(&again, plain, PLAIN, ROWS / 10, version);
            assert_eq!(files_with(Path::new(&after), SECRET), [""; 0], "version {version}, after the start");
            common::await_rollbacks(&again);
            common::check_sound_after_crash(&again, &[secret, plain]);
            again.close().unwrap();
            drop(again);
            assert_eq!(files_with(Path::new(&after), SECRET), [""; 0], "version {version}, after the end");
            cut.unmount();
        }
        open_one.rollback().unwrap();
    }
    engine.close().unwrap();
    assert_eq!(files_with(&root, SECRET), [""; 0]);
    let data = files_with(&root, PLAIN);
    assert!(data.contains(&"clearway.data".to_string()), "{data:?}");
    drop(engine);
    disk.unmount();
}

/// A page of undo that has plain records takes one that must not be seen.
#[test]
fn an_undo_page_is_encrypted_from_its_first_secret_on() {
    let disk = disk("undo");
    let root = disk.root().to_path_buf();
    let engine = open(&root);
    let (secret, plain) = two_trees(&engine);
    let mut tx = begin(&engine);
    tx.insert(plain, &key(1), row(PLAIN, 1, 1).as_slice()).unwrap();
    tx.insert(secret, &key(1), row(SECRET, 1, 1).as_slice()).unwrap();
    tx.commit().unwrap();
    drop(tx);
    engine.close().unwrap();
    drop(engine);
    let engine = open(&root);
    // A snapshot keeps the records; the same session's undo page has both kinds.
    let mut old = begin(&engine);
    let mut row_then = Vec::new();
    assert!(old.get(secret, &key(1), Read::Consistent, &mut row_then).unwrap());
    let mut tx = begin(&engine);
    tx.update(plain, &key(1), b"gone".as_slice()).unwrap();
    tx.update(secret, &key(1), b"gone".as_slice()).unwrap();
    tx.commit().unwrap();
    drop(tx);
    assert!(old.get(secret, &key(1), Read::Consistent, &mut row_then).unwrap());
    assert_eq!(row_then, row(SECRET, 1, 1));
    engine.close().unwrap();
    assert_eq!(files_with(&root, SECRET), [""; 0]);
    drop(old);
    drop(engine);
    disk.unmount();
}

#[test]
fn logs_are_encrypted_of_all_tables_where_that_is_asked_for() {
    let disk = disk("logs");
    let root = disk.root().to_path_buf();
    let engine = open(&root);
    let mut tx = begin(&engine);
    let tree = engine.create_tree(&mut tx, TreeKind::Clustered).unwrap();
    tx.commit().unwrap();
    assert!(!engine.encrypts());
    engine.set_redo_log_encrypt(true).unwrap();
    engine.set_undo_log_encrypt(true).unwrap();
    assert!(engine.encrypts());
    change(&engine, tree, PLAIN, 100, 1);
    change(&engine, tree, PLAIN, 100, 2);
    // Killed: the log is read.
    let cut = disk.image().mount("/sim/encryption-logs-cut", 3);
    cut.reboot();
    let again = open(cut.root());
    check(&again, tree, PLAIN, 100, 2);
    again.close().unwrap();
    drop(again);
    let found = files_with(cut.root(), PLAIN);
    assert!(found.iter().all(|name| !name.ends_with(".log")), "{found:?}");
    assert!(found.contains(&"clearway.data".to_string()), "the table's own pages are plain");
    cut.unmount();
    engine.set_redo_log_encrypt(false).unwrap();
    change(&engine, tree, PLAIN, 100, 3);
    engine.close().unwrap();
    assert!(files_with(&root, PLAIN).iter().any(|name| name.ends_with(".log")));
    drop(engine);
    disk.unmount();
}

#[test]
fn without_its_keyring_a_server_does_not_start_and_loses_nothing() {
    let disk = disk("keyring");
    let root = disk.root().to_path_buf();
    let engine = open(&root);
    let (secret, plain) = two_trees(&engine);
    change(&engine, secret, SECRET, 200, 1);
    change(&engine, plain, PLAIN, 200, 1);
    drop(engine);
    let directory = Directory::open(&root).unwrap();
    let keyring = bytes_of(&directory, "keyring");
    let refused = |why: &str| match Engine::open(small(&root), &mut |_| ()) {
        Err(Error::Keyring(what)) => assert!(what.contains(why), "{what}"),
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("it starts"),
    };
    write(&directory, "keyring", b"");
    refused("the keyring does not have the master key 'INNODBKey-");
    directory.remove("keyring").unwrap();
    refused("the keyring does not have the master key 'INNODBKey-");
    write(&directory, "keyring", b"nonsense");
    refused("keyring");
    directory.remove(cipher::CONFIG_FILE).unwrap();
    refused("there is no keyring");
    write(&directory, cipher::CONFIG_FILE, br#"{"path": "keyring", "read_only": true}"#);
    write(&directory, "keyring", &keyring);
    let engine = open(&root);
    check(&engine, secret, SECRET, 200, 1);
    check(&engine, plain, PLAIN, 200, 1);
    assert!(matches!(engine.rotate_master_key(), Err(Error::Keyring(_))), "it may not be written to");
    // Data keys that are gone cannot be made again, and what they were for is told apart from damage.
    engine.close().unwrap();
    drop(engine);
    let keys = bytes_of(&directory, cipher::FILE_NAME);
    directory.remove(cipher::FILE_NAME).unwrap();
    refused("clearway.keys");
    // Those of another server, under a master key that is there.
    write(&directory, cipher::CONFIG_FILE, br#"{"path": "keyring"}"#);
    cipher::Vault::open(&directory).unwrap().make_keys().unwrap();
    let engine = open(&root);
    let mut tx = begin(&engine);
    let mut out = Vec::new();
    let lost = tx.get(secret, &key(1), Read::Consistent, &mut out);
    assert!(matches!(&lost, Err(Error::Keyring(what)) if what.contains(cipher::FILE_NAME)), "{lost:?}");
    assert!(tx.get(plain, &key(1), Read::Consistent, &mut out).unwrap(), "others are there");
    drop(tx);
    drop(engine);
    write(&directory, cipher::FILE_NAME, &keys);
    let engine = open(&root);
    check(&engine, secret, SECRET, 200, 1);
    engine.close().unwrap();
    drop(engine);
    disk.unmount();
}

#[test]
fn rotation_changes_what_opens_the_data_and_nothing_else() {
    let disk = disk("rotate");
    let root = disk.root().to_path_buf();
    let engine = open(&root);
    let (secret, _) = two_trees(&engine);
    change(&engine, secret, SECRET, 200, 1);
    for keys in 2..5 {
        engine.rotate_master_key().unwrap();
        assert_eq!(engine.keyring().unwrap().keys.len(), keys);
    }
    drop(engine);
    // The newest master key alone opens them.
    let directory = Directory::open(&root).unwrap();
    let keyring = String::from_utf8(bytes_of(&directory, "keyring")).unwrap();
    write(&directory, "keyring", keyring.replace("-4\"", "-5\"").as_bytes());
    assert!(matches!(Engine::open(small(&root), &mut |_| ()), Err(Error::Keyring(_))));
    write(&directory, "keyring", keyring.replace("-1\"", "-7\"").as_bytes());
    let engine = open(&root);
    check(&engine, secret, SECRET, 200, 1);
    engine.close().unwrap();
    drop(engine);
    disk.unmount();
}

#[test]
fn without_a_keyring_nothing_can_be_encrypted() {
    let disk = SimDisk::mount("/sim/encryption-none", 1);
    let engine = open(disk.root());
    let mut tx = begin(&engine);
    let refused = engine.create_tree_as(&mut tx, TreeKind::Clustered, true);
    assert!(matches!(&refused, Err(Error::Keyring(what)) if what.contains(cipher::CONFIG_FILE)), "{refused:?}");
    assert!(matches!(engine.set_redo_log_encrypt(true), Err(Error::Keyring(_))));
    assert!(matches!(engine.reload_keyring(), Err(Error::Keyring(_))));
    // It may come while the server runs.
    write(&Directory::open(disk.root()).unwrap(), cipher::CONFIG_FILE, br#"{"path": "keyring"}"#);
    engine.reload_keyring().unwrap();
    engine.create_tree_as(&mut tx, TreeKind::Clustered, true).unwrap();
    tx.commit().unwrap();
    drop(tx);
    engine.close().unwrap();
    drop(engine);
    disk.unmount();
}
