//! Threads that share a ring with hardly any room: each waits with its place taken, and nobody for ever.

use std::path::PathBuf;
use std::sync::Barrier;

use io::faults::SimDisk;
use log::{Log, Options};

const THREADS: usize = 8;
const ROUNDS: usize = 2000;

/// Four groups fill the ring, eight threads append: at any time some have a place that has no room yet, and wait for a flush whose
/// leader must not wait for them.
#[test]
fn who_waits_for_room_with_a_place_taken_is_never_waited_for() {
    let root = PathBuf::from("/sim/log-room");
    let disk = SimDisk::mount(&root, 1);
    let options = Options {
        ring_bytes: 16 << 10,
        capacity: 64 << 20,
        segment_bytes: Some(1 << 20),
        flush_interval: None,
        ..Options::default()
    };
    let (log, _) = Log::open(&root, options).unwrap();
    let payload = vec![7; log.group_bytes_max()];
    let start = Barrier::new(THREADS);
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                start.wait();
                for round in 0..ROUNDS {
                    let appended = log.append(&[&payload[..payload.len() - 8 * (round % 5)]]).unwrap();
                    log.wait_flushed(appended.end).unwrap();
                }
            });
        }
    });
    assert_eq!(log.flushed_lsn(), log.tail_lsn());
    drop(log);
    disk.unmount();
}
