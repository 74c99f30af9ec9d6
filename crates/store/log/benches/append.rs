//! The log's two costs: an append of 100 bytes by some threads at once, and a commit (append, wait until it is durable) by few and many.
//!
//! `cargo bench -p log@0.1.0`. Times are per append or commit of all threads together: wall time / count.

use std::path::PathBuf;
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion};
use log::{Log, Options};

fn open(name: &str) -> (Arc<Log>, PathBuf) {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("log-bench-{name}-{}", std::process::id()));
    std::fs::remove_dir_all(&path).ok();
    let options = Options { capacity: 256 << 20, ..Options::default() };
    let (log, _) = Log::open(&path, options).expect("open the log");
    (log, path)
}

/// Runs `count` times `one` in all, by `threads` threads that start together; checkpoints, so that the files stay few.
fn run(log: &Arc<Log>, threads: u64, count: u64, one: fn(&Log)) -> Duration {
    let barrier = Arc::new(Barrier::new(threads as usize + 1));
    let spawn = |thread| {
        let (log, barrier) = (Arc::clone(log), Arc::clone(&barrier));
        let mine = count / threads + u64::from(thread < count % threads);
        std::thread::spawn(move || {
            barrier.wait();
            for i in 0..mine {
                one(&log);
                if thread == 0 && i % 65_536 == 0 {
                    let to = log.flushed_lsn();
                    log.set_checkpoint(to, b"").expect("checkpoint");
                }
            }
        })
    };
    let workers: Vec<_> = (0..threads).map(spawn).collect();
    barrier.wait();
    let start = Instant::now();
    workers.into_iter().for_each(|worker| worker.join().expect("a worker"));
    start.elapsed()
}

fn append(log: &Log) {
    log.append(&[&[7; 100]]).expect("append");
}

fn commit(log: &Log) {
    let at = log.append(&[&[7; 300]]).expect("append");
    log.wait_flushed(at.end).expect("flush");
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args().sample_size(10);
    let mut group = criterion.benchmark_group("append 100 B");
    for threads in [1, 2, 4] {
        let (log, path) = open("append");
        group.bench_function(BenchmarkId::from_parameter(threads), |b| {
            b.iter_custom(|count| run(&log, threads, count, append));
        });
        drop(log);
        std::fs::remove_dir_all(path).expect("clean up");
    }
    group.finish();
    let mut group = criterion.benchmark_group("commit");
    for threads in [1, 2, 4, 16, 64] {
        let (log, path) = open("commit");
        group.bench_function(BenchmarkId::from_parameter(threads), |b| {
            b.iter_custom(|count| run(&log, threads, count, commit));
        });
        drop(log);
        std::fs::remove_dir_all(path).expect("clean up");
    }
    group.finish();
    criterion.final_summary();
}
