//! Runs one cell: threads that read and write one lock as fast as they can.
#![expect(clippy::disallowed_methods, reason = "a measurement lasts for a time, and waits for nothing")]

use crate::kinds::Kind;
use std::io;
use std::path::Path;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

/// The figures of one kind at one thread count and one share of writers.
#[derive(Clone, Copy, Debug)]
pub struct Cell {
    pub kind: &'static str,
    pub threads: usize,
    pub writers_per_mille: u32,
    pub operations_per_s: f64,
    /// Operations of the thread that got least, of what an equal share would be.
    pub least_share: f64,
    /// The longest that any one operation took, lock and all.
    pub longest_ms: f64,
    /// Of all threads, given up or taken away, for each thousand operations.
    pub switches_per_1000: f64,
}

/// What one thread did.
#[derive(Clone, Copy, Default)]
struct Done {
    operations: u64,
    longest: Duration,
    switches: u64,
}

pub fn cell<K: Kind>(threads: usize, writers_per_mille: u32, duration: Duration) -> io::Result<Cell> {
    let (done, took) = run::<K, false>(threads, writers_per_mille, duration)?;
    let (timed, _) = run::<K, true>(threads, writers_per_mille, duration)?;
    let operations: u64 = done.iter().map(|done| done.operations).sum();
    let switches: u64 = done.iter().map(|done| done.switches).sum();
    let least = done.iter().map(|done| done.operations).min().unwrap_or(0);
    let longest = timed.iter().map(|done| done.longest).max().unwrap_or_default();
    Ok(Cell {
        kind: K::NAME,
        threads,
        writers_per_mille,
        operations_per_s: operations as f64 / took.as_secs_f64(),
        least_share: least as f64 * threads as f64 / operations.max(1) as f64,
        longest_ms: longest.as_secs_f64() * 1e3,
        switches_per_1000: switches as f64 * 1e3 / operations.max(1) as f64,
    })
}

/// Each figure's median. The cells are of one kind.
pub fn median(cells: &[Cell]) -> Cell {
    let middle = |figure: fn(&Cell) -> f64| {
        let mut figures: Vec<f64> = cells.iter().map(figure).collect();
        figures.sort_by(f64::total_cmp);
        figures[figures.len() / 2]
    };
    Cell {
        operations_per_s: middle(|cell| cell.operations_per_s),
        least_share: middle(|cell| cell.least_share),
        longest_ms: middle(|cell| cell.longest_ms),
        switches_per_1000: middle(|cell| cell.switches_per_1000),
        ..cells[0]
    }
}

/// What each thread did, and how long they had.
fn run<K: Kind, const TIMED: bool>(
    threads: usize,
    writers_per_mille: u32,
    duration: Duration,
) -> io::Result<(Vec<Done>, Duration)> {
    let (kind, stop, start) = (K::new(), AtomicBool::new(false), Barrier::new(threads + 1));
    let mut took = Duration::ZERO;
    let done: io::Result<Vec<Done>> = thread::scope(|scope| {
        let work = |seed| {
            let (kind, stop, start) = (&kind, &stop, &start);
            scope.spawn(move || {
                start.wait();
                let before = switches()?;
                let mut done = work::<K, TIMED>(kind, stop, seed, writers_per_mille);
                done.switches = switches()? - before;
                Ok(done)
            })
        };
        let handles: Vec<_> = (1..=threads as u64).map(work).collect();
        // From here: this thread may be the last of all to run again.
        let began = Instant::now();
        start.wait();
        thread::sleep(duration);
        stop.store(true, Relaxed);
        took = began.elapsed();
        handles
            .into_iter()
            .map(|handle| handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    Ok((done?, took))
}

fn work<K: Kind, const TIMED: bool>(kind: &K, stop: &AtomicBool, seed: u64, writers_per_mille: u32) -> Done {
    let (mut local, mut dice, mut done) = (kind.local(), Dice(seed), Done::default());
    while !stop.load(Relaxed) {
        let began = TIMED.then(Instant::now);
        if dice.below_1000() < writers_per_mille {
            kind.write(&mut local, || ());
        } else {
            kind.read(&mut local, || ());
        }
        done.operations += 1;
        if let Some(began) = began {
            done.longest = done.longest.max(began.elapsed());
        }
    }
    done
}

/// For an emulator that gives each thread a cache of its own and counts while `gate` exists. Threads yield within each
/// operation and after it, so that as many threads share the lock as there are, whatever the machine's number of cores.
/// The number of operations done.
pub fn gated<K: Kind>(gate: &Path, threads: usize, writers_per_mille: u32, operations: u64) -> io::Result<u64> {
    /// The emulator looks for the gate every 20 ms.
    const NOTICED: Duration = Duration::from_millis(300);
    let (kind, barrier) = (K::new(), Barrier::new(threads + 1));
    thread::scope(|scope| {
        for seed in 1..=threads as u64 {
            let (kind, barrier) = (&kind, &barrier);
            scope.spawn(move || {
                let (mut local, mut dice) = (kind.local(), Dice(seed));
                let mut repeat = |times| {
                    for _ in 0..times {
                        if dice.below_1000() < writers_per_mille {
                            kind.write(&mut local, thread::yield_now);
                        } else {
                            kind.read(&mut local, thread::yield_now);
                        }
                        thread::yield_now();
                    }
                };
                repeat(50);
                barrier.wait();
                barrier.wait();
                repeat(operations);
                barrier.wait();
                barrier.wait();
            });
        }
        barrier.wait();
        // An error is told when the threads are done.
        let opened = std::fs::write(gate, "");
        thread::sleep(NOTICED);
        barrier.wait();
        barrier.wait();
        let closed = opened.and_then(|()| std::fs::remove_file(gate));
        thread::sleep(NOTICED);
        barrier.wait();
        closed.map(|()| operations * threads as u64)
    })
}

/// Context switches of the calling thread so far.
fn switches() -> io::Result<u64> {
    let status = std::fs::read_to_string("/proc/thread-self/status")?;
    let counts = status.lines().filter(|line| line.contains("ctxt_switches"));
    Ok(counts.filter_map(|line| line.split_whitespace().last()?.parse::<u64>().ok()).sum())
}

/// xorshift64.
struct Dice(u64);

impl Dice {
    fn below_1000(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 32) % 1000) as u32
    }
}
