//! Growth of the data file that a crash cut short: what the log does not know of is not there.

mod common;

use common::{Scratch, key, options, row, whole};
use engine::{Engine, Isolation, Read, Transaction, TreeKind};

/// Pages of the file begin to count when the log says so. A crash between lengthening the file and that leaves zeros, also where the
/// page that says what is free in the next part of the file should be: over 2 GiB there is one in any case.
#[test]
fn a_length_that_the_log_does_not_know_is_not_trusted() {
    let scratch = Scratch::new("growth");
    let engine = Engine::open(options(scratch.path()), &mut |_| ()).unwrap();
    let bytes = engine.data_file().unwrap().bytes;
    engine.close().unwrap();
    drop(engine);
    let file = std::fs::OpenOptions::new().write(true).open(scratch.path().join("clearway.data")).unwrap();
    file.set_len((2 << 30) + (64 << 20)).unwrap();
    for round in 0..2 {
        let engine = Engine::open(options(scratch.path()), &mut |_| ()).unwrap();
        assert_eq!(engine.data_file().unwrap().bytes, bytes, "round {round}");
        engine.close().unwrap();
    }
    // And it grows anew, over what is there.
    let engine = Engine::open(options(scratch.path()), &mut |_| ()).unwrap();
    let mut tx = Transaction::new(&engine).unwrap();
    tx.begin(Isolation::RepeatableRead, false);
    let tree = engine.create_tree(&mut tx, TreeKind::Clustered).unwrap();
    for id in 0..4000 {
        tx.insert(tree, &key(id), stored!(row(id, 8000))).unwrap();
    }
    tx.commit().unwrap();
    drop(tx);
    let grown = engine.data_file().unwrap().bytes;
    assert!(grown > bytes, "{grown} bytes are no more than {bytes}");
    engine.close().unwrap();
    drop(engine);
    let after = Engine::open(options(scratch.path()), &mut |_| ()).unwrap();
    let mut tx = Transaction::new(&after).unwrap();
    tx.begin(Isolation::RepeatableRead, true);
    let mut found = Vec::new();
    for id in 0..4000 {
        assert!(tx.get(tree, &key(id), Read::Consistent, &mut found).unwrap() && whole(&tx, &found) == row(id, 8000));
    }
    drop(tx);
    assert!(after.data_file().unwrap().bytes >= grown);
    after.close().unwrap();
}
