//! Waits below a statement, for frames and for checkpoints, have a name, end when somebody wants it, and then nothing is lost.

mod common;

use common::{await_rollbacks, key, options, row};
use engine::{Engine, EngineOptions, Error, Interrupt, Isolation, Read, Transaction, TreeKind};
use io::faults::{Action, Rule, Script, SimDisk};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use sync::blocking::serve;
use sync::waits::Wait;

/// Writes until the disk, which takes no page, makes it wait; the wait's name, and what became of the writer once it was interrupted.
fn stuck(name: &str, limits: impl Fn(EngineOptions) -> EngineOptions) -> Wait {
    let root = PathBuf::from(format!("/sim/waits-{name}"));
    let disk = SimDisk::mount(&root, 1);
    let engine = Engine::open(limits(options(&root)), &mut |_| ()).unwrap();
    let mut tx = Transaction::new(&engine).unwrap();
    tx.begin(Isolation::ReadCommitted, false);
    let tree = engine.create_tree(&mut tx, TreeKind::Clustered).unwrap();
    tx.insert(tree, &key(0), stored!(row(0, 6000))).unwrap();
    tx.commit().unwrap();

    let mut broken = Script::default();
    broken.push(Rule::new(Action::Fail, Some(io::Op::Write), 1).within("clearway.data"));
    disk.set_script(broken);
    let interrupt = Arc::clone(tx.interrupt());
    let killer = std::thread::spawn(move || kill_when_it_waits(&interrupt));
    serve(tx.interrupt());
    tx.begin(Isolation::ReadCommitted, false);
    let error = (1..).find_map(|i| tx.insert(tree, &key(i), stored!(row(i, 6000))).err()).unwrap();
    let (waited_for, killed) = killer.join().unwrap();
    assert!(matches!(error, Error::Interrupted), "{error}");
    assert!(killed.elapsed() < Duration::from_secs(1), "{:?}", killed.elapsed());
    assert_eq!(tx.interrupt().waits(), None);

    // The statement's undo is not interrupted, whoever does it; the disk works again.
    disk.set_script(Script::default());
    let _ = tx.rollback();
    await_rollbacks(&engine);
    tx.interrupt().clear_statement();
    tx.begin(Isolation::ReadCommitted, false);
    let mut read = Vec::new();
    assert!(tx.get(tree, &key(0), Read::Consistent, &mut read).unwrap());
    assert!(!tx.get(tree, &key(1), Read::Consistent, &mut read).unwrap());
    tx.rollback().unwrap();
    engine.close().unwrap();
    waited_for
}

fn kill_when_it_waits(interrupt: &Interrupt) -> (Wait, Instant) {
    let deadline = Instant::now() + Duration::from_secs(120);
    loop {
        // Longer than a moment: it waits for what does not come.
        if let Some(wait) = interrupt.waits()
            && (0..200).all(|_| {
                sync::Parker::new().park_timeout(Duration::from_millis(1), Wait::Background);
                interrupt.waits() == Some(wait)
            })
        {
            interrupt.raise(1);
            return (wait, Instant::now());
        }
        assert!(Instant::now() < deadline, "nobody waits");
        std::thread::yield_now();
    }
}

#[test]
fn a_wait_for_a_frame_ends_with_an_interrupt() {
    let few_frames = |options| EngineOptions { buffer_pool_bytes: 4 << 20, log_capacity_bytes: 256 << 20, ..options };
    assert_eq!(stuck("frames", few_frames), Wait::FreeFrame);
}

#[test]
fn a_wait_for_a_checkpoint_ends_with_an_interrupt() {
    let little_log = |options| EngineOptions { buffer_pool_bytes: 256 << 20, log_capacity_bytes: 4 << 20, ..options };
    assert_eq!(stuck("checkpoint", little_log), Wait::Checkpoint);
}
