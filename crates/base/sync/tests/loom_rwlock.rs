//! Model checks of the compact reader-writer locks: exclusion, no lost wake-up (loom reports the deadlock), whom each kind
//! prefers, and nested reads. See `tests/loom.rs` for how to run them.
//!
//! What a lock protects is a pair of relaxed words here: a hold that overlapped with a writer's, or that did not see what the
//! holder before it wrote, finds them unequal or loses a count.
#![cfg(loom)]

use loom::sync::Arc;
use loom::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use loom::thread;
use sync::{CompactRwLock, PreferReader, PreferWriter, Preference, Rank, ReaderWriter};

struct Guarded<P: Preference> {
    lock: CompactRwLock<P>,
    words: [AtomicU64; 2],
    /// Set by readers inside the lock.
    read: AtomicBool,
}

impl<P: Preference> Guarded<P> {
    fn new() -> Arc<Self> {
        let words = [AtomicU64::new(0), AtomicU64::new(0)];
        Arc::new(Guarded { lock: CompactRwLock::new(Rank::Observe), words, read: AtomicBool::new(false) })
    }

    fn look(&self) -> u64 {
        let seen = [self.words[0].load(Relaxed), self.words[1].load(Relaxed)];
        assert_eq!(seen[0], seen[1], "a reader saw a writer at work");
        seen[0]
    }

    fn bump(&self) -> u64 {
        let next = self.look() + 1;
        self.words.iter().for_each(|word| word.store(next, Relaxed));
        next
    }

    fn read(&self) -> u64 {
        let _held = self.lock.shared();
        self.read.store(true, Relaxed);
        self.look()
    }

    fn write(&self) -> u64 {
        let _held = self.lock.exclusive();
        self.bump()
    }

    /// Nobody holds it, nobody waits.
    fn assert_idle(&self, writes: u64) {
        assert_eq!((self.lock.readers(), self.lock.waiting_writers()), (0, 0));
        let held = self.lock.try_exclusive();
        assert!(held.is_some(), "idle, and not to be had");
        assert_eq!(self.look(), writes);
    }
}

/// Runs `body` on a thread of its own.
fn on_thread<P: Preference, R: 'static>(
    guarded: &Arc<Guarded<P>>,
    body: impl FnOnce(&Guarded<P>) -> R + 'static,
) -> thread::JoinHandle<R> {
    let guarded = Arc::clone(guarded);
    thread::spawn(move || body(&guarded))
}

/// Lets the other threads run until `condition` holds.
fn await_that(condition: impl Fn() -> bool) {
    while !condition() {
        thread::yield_now();
    }
}

/// Explores with at most `preemptions` forced switches, where the whole space is too large.
fn bounded(preemptions: usize, model: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(model);
}

fn a_reader_and_a_writer<P: Preference>() {
    loom::model(|| {
        let guarded = Guarded::<P>::new();
        let reader = on_thread(&guarded, Guarded::read);
        guarded.write();
        assert!(reader.join().unwrap() <= 1);
        guarded.assert_idle(1);
    });
}

#[test]
fn prefer_reader_keeps_a_reader_and_a_writer_apart() {
    a_reader_and_a_writer::<PreferReader>();
}

#[test]
fn prefer_writer_keeps_a_reader_and_a_writer_apart() {
    a_reader_and_a_writer::<PreferWriter>();
}

fn two_writers<P: Preference>() {
    bounded(3, || {
        let guarded = Guarded::<P>::new();
        let other = on_thread(&guarded, Guarded::write);
        guarded.write();
        other.join().unwrap();
        guarded.assert_idle(2);
    });
}

#[test]
fn prefer_reader_keeps_writers_apart() {
    two_writers::<PreferReader>();
}

#[test]
fn prefer_writer_keeps_writers_apart() {
    two_writers::<PreferWriter>();
}

/// One holds, one is the head, one stands at the turnstile.
fn three_writers<P: Preference>() {
    bounded(2, || {
        let guarded = Guarded::<P>::new();
        let others = [(); 2].map(|()| on_thread(&guarded, Guarded::write));
        guarded.write();
        for other in others {
            other.join().unwrap();
        }
        guarded.assert_idle(3);
    });
}

#[test]
fn prefer_reader_lets_three_writers_through() {
    three_writers::<PreferReader>();
}

#[test]
fn prefer_writer_lets_three_writers_through() {
    three_writers::<PreferWriter>();
}

fn readers_and_writers<P: Preference>() {
    bounded(2, || {
        let guarded = Guarded::<P>::new();
        let reader = on_thread(&guarded, Guarded::read);
        let writer = on_thread(&guarded, Guarded::write);
        guarded.write();
        guarded.read();
        reader.join().unwrap();
        writer.join().unwrap();
        guarded.assert_idle(2);
    });
}

#[test]
fn prefer_reader_wakes_readers_and_writers() {
    readers_and_writers::<PreferReader>();
}

#[test]
fn prefer_writer_wakes_readers_and_writers() {
    readers_and_writers::<PreferWriter>();
}

/// The guarantee of the prefer-reader kind: a reader that had arrived before a writer left goes before every other writer.
#[test]
fn no_writer_comes_between_a_readers_arrival_and_its_hold() {
    bounded(2, || {
        let guarded = Guarded::<PreferReader>::new();
        let held = guarded.lock.exclusive();
        let reader = on_thread(&guarded, Guarded::read);
        let writer = on_thread(&guarded, |guarded| {
            let _held = guarded.lock.exclusive();
            guarded.bump();
            guarded.read.load(Relaxed)
        });
        await_that(|| guarded.lock.readers() == 1);
        drop(held);
        assert!(writer.join().unwrap(), "a writer was granted the lock while a reader was pending");
        assert_eq!(reader.join().unwrap(), 0);
        guarded.assert_idle(1);
    });
}

#[test]
fn prefer_readers_nest_while_a_writer_waits() {
    bounded(3, || {
        let guarded = Guarded::<PreferReader>::new();
        let outer = guarded.lock.shared();
        let writer = on_thread(&guarded, Guarded::write);
        let inner = guarded.lock.shared();
        assert_eq!(guarded.look(), 0);
        drop(outer);
        assert_eq!(guarded.look(), 0, "the inner hold keeps the writer out");
        drop(inner);
        assert_eq!(writer.join().unwrap(), 1);
        guarded.assert_idle(1);
    });
}

/// The guarantee of the prefer-writer kind: a reader that arrives while a writer waits goes after it.
#[test]
fn no_reader_overtakes_a_waiting_writer() {
    bounded(2, || {
        let guarded = Guarded::<PreferWriter>::new();
        let held = guarded.lock.shared();
        let writer = on_thread(&guarded, Guarded::write);
        await_that(|| guarded.lock.waiting_writers() == 1);
        assert!(guarded.lock.try_shared().is_none(), "a writer waits");
        let late = on_thread(&guarded, Guarded::read);
        drop(held);
        writer.join().unwrap();
        assert_eq!(late.join().unwrap(), 1, "the late reader went first");
        guarded.assert_idle(1);
    });
}
