//! Row locks: waits, deadlocks, gaps, and what others are kept from.

mod common;

use common::{Scratch, key, options};
use engine::{Engine, Error, ForeignWait, Isolation, LockMode, Read, Transaction, Tree, TreeKind, Wait};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};

const X: Read = Read::Locking { mode: LockMode::Exclusive, wait: Wait::Block };

fn begin(engine: &Engine, isolation: Isolation) -> Transaction {
    let mut tx = Transaction::new(engine).unwrap();
    tx.begin(isolation, false);
    tx
}

/// A clustered tree with the rows `keys`.
fn table(engine: &Engine, keys: impl IntoIterator<Item = u64>) -> Tree {
    let mut tx = begin(engine, Isolation::RepeatableRead);
    let tree = engine.create_tree(&mut tx, TreeKind::Clustered).unwrap();
    for i in keys {
        tx.insert(tree, &key(i), b"0").unwrap();
    }
    tx.commit().unwrap();
    tree
}

/// A lock that is not the engine's: waits for `holder` until aborted.
struct Gate {
    holder: u32,
    aborted: AtomicBool,
    told: mpsc::Sender<()>,
}

impl ForeignWait for Gate {
    fn blockers(&self, out: &mut Vec<u32>) {
        if !self.aborted.load(Ordering::SeqCst) {
            out.push(self.holder);
        }
    }

    fn abort(&self) -> bool {
        let first = !self.aborted.swap(true, Ordering::SeqCst);
        self.told.send(()).unwrap();
        first
    }

    fn describe(&self) -> String {
        "a gate".into()
    }
}

/// `a` holds a row and waits at the gate of `b`, who waits for the row: whoever comes last finds the cycle, and the lighter one goes.
#[test]
fn deadlocks_across_foreign_and_row_locks_are_found() {
    for weight in [0, 1000] {
        let scratch = Scratch::new("foreign");
        let engine = Engine::open(options(scratch.path()), &mut |_| ()).unwrap();
        let tree = table(&engine, 0..2);
        let mut a = begin(&engine, Isolation::RepeatableRead);
        let mut row = Vec::new();
        assert!(a.get(tree, &key(0), X, &mut row).unwrap());
        let mut b = begin(&engine, Isolation::RepeatableRead);
        let (told, aborts) = mpsc::channel();
        let gate = Arc::new(Gate { holder: b.slot(), aborted: AtomicBool::new(false), told });
        a.enter_wait(gate.clone(), weight);
        let heavier_b = std::thread::spawn(move || {
            b.insert(tree, &key(7), b"work").unwrap();
            let outcome = b.get(tree, &key(0), X, &mut Vec::new());
            (outcome, b.is_active())
        });
        if weight == 0 {
            aborts.recv().unwrap();
            assert!(gate.aborted.load(Ordering::SeqCst), "one row changed is more than none");
            a.leave_wait();
            a.rollback().unwrap();
            assert!(heavier_b.join().unwrap().0.unwrap());
        } else {
            let (outcome, active) = heavier_b.join().unwrap();
            assert!(matches!(outcome, Err(Error::Deadlock)), "{outcome:?}");
            assert!(!active && !gate.aborted.load(Ordering::SeqCst));
            a.leave_wait();
        }
    }
}
