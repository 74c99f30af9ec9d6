//! Every kind of reader-writer lock under the same stress, on real threads.
#![cfg(not(loom))]

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc;
use std::thread;
use sync::{LANES_MAX, LaneRwLock, PreferReaderLock, PreferWriterLock, Rank, ReaderWriter, RwLock, SystemRwLock};

const ROUNDS: u64 = 20_000;

/// Readers find all words equal; no writer's addition is lost. More threads than cores, so that many sleep.
fn stress<L: ReaderWriter>(lock: L) {
    let words = [const { AtomicU64::new(0) }; 8];
    let (writers, rounds) = (4, ROUNDS / 4);
    thread::scope(|scope| {
        for _ in 0..writers {
            scope.spawn(|| {
                for _ in 0..rounds {
                    let _held = lock.exclusive();
                    let now = words[0].load(Relaxed);
                    for word in &words {
                        assert_eq!(word.load(Relaxed), now, "{}: two writers", L::KIND);
                        word.store(now + 1, Relaxed);
                    }
                }
            });
            scope.spawn(|| {
                for _ in 0..ROUNDS {
                    let _held = lock.shared();
                    let seen: [u64; 8] = std::array::from_fn(|i| words[i].load(Relaxed));
                    assert_eq!(seen, [seen[0]; 8], "{}: a reader beside a writer", L::KIND);
                }
            });
        }
    });
    assert_eq!(words[7].load(Relaxed), writers * rounds, "{}", L::KIND);
}

#[test]
fn lane() {
    stress(LaneRwLock::new(LANES_MAX));
}

#[test]
fn prefer_reader() {
    stress(PreferReaderLock::new(Rank::Observe));
}

#[test]
fn prefer_writer() {
    stress(PreferWriterLock::new(Rank::Observe));
}

#[test]
fn parking() {
    stress(RwLock::new(Rank::Observe, ()));
}

#[test]
fn system() {
    stress(SystemRwLock::new(Rank::Observe));
}

/// Readers share: each of two waits inside for the other.
fn readers_meet<L: ReaderWriter>(lock: L) {
    let barrier = std::sync::Barrier::new(2);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let _held = lock.shared();
                barrier.wait();
            });
        }
    });
}

#[test]
fn readers_of_every_kind_are_inside_together() {
    readers_meet(LaneRwLock::new(LANES_MAX));
    readers_meet(PreferReaderLock::new(Rank::Observe));
    readers_meet(PreferWriterLock::new(Rank::Observe));
    readers_meet(RwLock::new(Rank::Observe, ()));
    readers_meet(SystemRwLock::new(Rank::Observe));
}

/// The threads really sleep here: nested and new readers pass a sleeping writer, which goes on when the last of them leaves.
#[test]
fn a_sleeping_writer_lets_readers_pass_and_is_woken_by_the_last() {
    let lock = PreferReaderLock::new(Rank::Observe);
    let outer = lock.shared();
    thread::scope(|scope| {
        let writer = scope.spawn(|| drop(lock.exclusive()));
        while lock.waiting_writers() == 0 {
            thread::yield_now();
        }
        let nested = lock.shared();
        scope.spawn(|| drop(lock.shared())).join().expect("a new reader passes");
        assert!(lock.try_exclusive().is_none());
        drop(outer);
        assert_eq!((lock.readers(), lock.waiting_writers()), (1, 1));
        drop(nested);
        writer.join().expect("the writer goes on");
    });
    assert_eq!((lock.readers(), lock.waiting_writers()), (0, 0));
}

/// A waiting writer holds new readers back and goes before them.
#[test]
fn a_sleeping_writer_goes_before_readers_that_came_later() {
    let lock = PreferWriterLock::new(Rank::Observe);
    let (order, came) = mpsc::channel();
    let held = lock.shared();
    thread::scope(|scope| {
        let (writer, reader) = (order.clone(), order);
        let (lock, at) = (&lock, &lock);
        scope.spawn(move || {
            let _held = lock.exclusive();
            writer.send("writer").expect("the test listens");
        });
        while lock.waiting_writers() == 0 {
            thread::yield_now();
        }
        assert!(lock.try_shared().is_none());
        scope.spawn(move || {
            let _held = at.shared();
            reader.send("reader").expect("the test listens");
        });
        drop(held);
    });
    assert_eq!(came.iter().collect::<Vec<_>>(), ["writer", "reader"]);
}

#[test]
#[cfg(debug_assertions)]
#[should_panic(expected = "asks for another of rank Observe")]
fn nested_reads_of_a_prefer_writer_lock_are_caught_in_debug_builds() {
    let lock = PreferWriterLock::new(Rank::Observe);
    let _outer = lock.shared();
    let _inner = lock.shared();
}
