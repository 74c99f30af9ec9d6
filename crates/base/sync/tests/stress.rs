//! The same algorithms as in `tests/loom.rs`, at full speed on real threads and memory.
#![cfg(not(loom))]

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread;
use sync::waits::Wait;
use sync::{Evicted, LaneSet, Lanes, Optimistic, PageLatch, Parker, Snapshot, TryLatch};

const THREADS: u64 = 4;
const ROUNDS: u64 = 20_000;

/// A page whose eight words every writer keeps equal, and 0 while it is not in memory.
struct Page {
    latch: PageLatch,
    words: [AtomicU64; 8],
}

impl Page {
    fn evicted() -> Page {
        Page { latch: PageLatch::new(), words: [const { AtomicU64::new(0) }; 8] }
    }

    fn set(&self, value: u64) {
        for word in &self.words {
            word.store(value, Relaxed);
        }
    }

    fn get(&self) -> [u64; 8] {
        std::array::from_fn(|i| self.words[i].load(Relaxed))
    }
}

#[test]
fn a_page_under_readers_writers_and_an_evictor_keeps_every_count() {
    let page = Page::evicted();
    let disk = AtomicU64::new(1);
    let stop = AtomicBool::new(false);
    let load = |page: &Page| {
        if page.latch.try_claim_for_load() {
            page.set(disk.load(Relaxed));
            page.latch.finish_load();
        } else {
            page.latch.wait_readable();
        }
    };
    thread::scope(|scope| {
        let writers = [(); 2].map(|()| {
            scope.spawn(|| {
                let mut done = 0;
                while done < ROUNDS {
                    match page.latch.exclusive() {
                        Err(Evicted) => load(&page),
                        Ok(()) => {
                            let now = page.get();
                            assert_eq!(now, [now[0]; 8]);
                            page.set(now[0] + 1);
                            page.latch.unlock_exclusive();
                            done += 1;
                        }
                    }
                }
            })
        });
        let upgrader = scope.spawn(|| {
            let mut done = 0;
            while done < ROUNDS {
                match page.latch.optimistic() {
                    Optimistic::Evicted => load(&page),
                    Optimistic::Busy => page.latch.wait_readable(),
                    Optimistic::Version(v) => {
                        let now = page.get();
                        if page.latch.try_upgrade(v) {
                            assert_eq!(page.get(), now, "an upgrade keeps what was read");
                            page.set(now[0] + 1);
                            page.latch.unlock_exclusive();
                            done += 1;
                        }
                    }
                }
            }
        });
        let readers = [false, true].map(|shared| {
            let (page, stop, load) = (&page, &stop, &load);
            scope.spawn(move || {
                let mut last = 0;
                while !stop.load(Relaxed) {
                    let seen = if shared {
                        if page.latch.shared() == Err(Evicted) {
                            load(page);
                            continue;
                        }
                        let seen = page.get();
                        page.latch.unlock_shared();
                        seen
                    } else {
                        match page.latch.optimistic() {
                            Optimistic::Evicted => {
                                load(page);
                                continue;
                            }
                            Optimistic::Busy => {
                                page.latch.wait_readable();
                                continue;
                            }
                            Optimistic::Version(v) => {
                                let seen = page.get();
                                if !page.latch.validate(v) {
                                    continue;
                                }
                                seen
                            }
                        }
                    };
                    assert_eq!(seen, [seen[0]; 8], "torn");
                    assert!(seen[0] >= last, "went back from {last} to {}", seen[0]);
                    last = seen[0];
                }
            })
        });
        let evictor = scope.spawn(|| {
            let mut evictions = 0;
            while !stop.load(Relaxed) {
                page.latch.mark();
                if page.latch.try_claim_marked() {
                    disk.store(page.get()[0], Relaxed);
                    page.set(0);
                    page.latch.set_evicted();
                    evictions += 1;
                }
                thread::yield_now();
            }
            evictions
        });
        for writer in writers {
            writer.join().unwrap();
        }
        upgrader.join().unwrap();
        stop.store(true, Relaxed);
        for reader in readers {
            reader.join().unwrap();
        }
        evictor.join().unwrap();
    });
    if page.latch.is_evicted() {
        load(&page);
    }
    assert_eq!(page.get(), [1 + 3 * ROUNDS; 8]);
    assert!(!page.latch.is_exclusive() && !page.latch.is_shared());
}

#[test]
fn lanes_are_handed_on_without_losing_a_count() {
    let set = LaneSet::new(3);
    let lanes: [AtomicU64; 3] = Default::default();
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                let mut done = 0;
                while done < ROUNDS {
                    let Some(lane) = set.claim() else {
                        thread::yield_now();
                        continue;
                    };
                    let word = &lanes[lane.index()];
                    word.store(word.load(Relaxed) + 1, Relaxed);
                    set.release(lane);
                    done += 1;
                }
            });
        }
    });
    assert_eq!(lanes.iter().map(|lane| lane.load(Relaxed)).sum::<u64>(), THREADS * ROUNDS);
}

#[test]
fn lanes_fill_from_the_bottom_across_chunks_and_keep_their_values() {
    let lanes: Lanes<AtomicU64> = Lanes::new(130);
    let claimed: Vec<_> = (0..130).map(|n| (n, lanes.claim().expect("room"))).collect();
    assert!(claimed.iter().all(|(n, lane)| lane.index() == *n));
    assert!(lanes.claim().is_none());
    for (n, lane) in &claimed {
        lanes.get(*lane).store(*n as u64 + 1, Relaxed);
    }
    lanes.release(claimed[70].1);
    lanes.release(claimed[3].1);
    assert_eq!(lanes.iter_claimed().count(), 128);
    assert!(lanes.iter_claimed().all(|(lane, value)| value.load(Relaxed) == lane.index() as u64 + 1));
    assert_eq!(lanes.iter_below(lanes.high_water()).map(|v| v.load(Relaxed)).sum::<u64>(), 130 * 131 / 2);
    let again = lanes.claim().expect("room");
    assert_eq!((again.index(), lanes.get(again).load(Relaxed)), (3, 4));
}

#[test]
#[should_panic(expected = "released twice")]
fn a_lane_is_released_once() {
    let set = LaneSet::new(1);
    let lane = set.claim().expect("room");
    set.release(lane);
    set.release(lane);
}

#[test]
fn a_thread_has_one_lane_and_gives_it_back() {
    let here = sync::thread_lane();
    assert_eq!(sync::thread_lane(), here);
    // Many threads, one after the other: were lanes not given back, the last would have a great one.
    for _ in 0..256 {
        thread::scope(|scope| {
            let there = scope.spawn(sync::thread_lane).join().unwrap();
            assert_ne!(there, here);
        });
    }
    assert!(sync::thread_lane_high_water() < 64, "{}", sync::thread_lane_high_water());
}

#[test]
fn snapshot_readers_see_whole_values_that_only_go_forward() {
    let cell = Snapshot::new([0_u64; 4]);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..ROUNDS / 10 {
                    cell.update(|old| old.map(|n| n + 1));
                }
            });
        }
        scope.spawn(|| {
            let mut handle = cell.cached();
            let mut last = 0;
            while last < ROUNDS / 5 {
                let now = **handle.get(&cell);
                assert_eq!(now, [now[0]; 4]);
                assert!(now[0] >= last);
                last = now[0];
            }
        });
    });
    assert_eq!(*cell.load(), [ROUNDS / 5; 4]);
    assert_eq!(cell.version(), ROUNDS / 5 + 1);
}

#[test]
fn an_old_snapshot_is_dropped_when_the_last_handle_moves_on() {
    let cell = Snapshot::new(String::from("old"));
    let mut handle = cell.cached();
    let old = std::sync::Arc::downgrade(handle.peek());
    cell.store(std::sync::Arc::new("new".into()));
    assert!(!handle.is_current(&cell) && old.upgrade().is_some());
    assert_eq!(**handle.get(&cell), "new");
    assert!(old.upgrade().is_none());
}

#[test]
fn ping_pong_over_parkers_loses_no_token() {
    let (mut mine, mut yours) = (Parker::new(), Parker::new());
    let (wake_me, wake_you) = (mine.unparker(), yours.unparker());
    thread::scope(|scope| {
        scope.spawn(move || {
            for _ in 0..ROUNDS {
                yours.park(Wait::Background);
                wake_me.unpark();
            }
        });
        for _ in 0..ROUNDS {
            wake_you.unpark();
            mine.park(Wait::Background);
        }
    });
}

#[test]
fn timeouts_pass_and_tokens_wait() {
    use std::time::Duration;
    let mut parker = Parker::new();
    assert!(!parker.park_timeout(Duration::from_millis(1), Wait::Background));
    let unparker = parker.unparker();
    unparker.unpark();
    unparker.unpark();
    assert!(parker.park_timeout(Duration::from_secs(3600), Wait::Background));
    assert!(!parker.park_timeout(Duration::ZERO, Wait::Background), "two tokens are one");
    let word = std::sync::atomic::AtomicU32::new(7);
    assert!(!sync::futex::wait(&word, 7, Some(Duration::from_millis(1)), Wait::Background));
    assert!(sync::futex::wait(&word, 8, None, Wait::Background), "another value is no reason to sleep");
}

#[test]
fn zeroed_memory_is_an_evicted_page_and_each_change_a_version() {
    let page = Page::evicted();
    assert_eq!(page.latch.optimistic(), Optimistic::Evicted);
    assert_eq!(page.latch.try_shared(), TryLatch::Evicted);
    assert_eq!(page.latch.try_exclusive(), TryLatch::Evicted);
    assert!(!page.latch.mark() && !page.latch.try_claim_marked());
    page.latch.wait_readable(); // Evicted is not a reason to wait: somebody has to load the page.
    assert!(page.latch.try_claim_for_load() && !page.latch.try_claim_for_load());
    assert_eq!(page.latch.optimistic(), Optimistic::Busy);
    page.latch.finish_load();
    assert_eq!(page.latch.optimistic(), Optimistic::Version(1));
    assert!(page.latch.mark() && page.latch.is_marked() && page.latch.validate(1));
    assert!(page.latch.peek() == Optimistic::Version(1) && page.latch.is_marked(), "a look is no read");
    assert_eq!(page.latch.optimistic(), Optimistic::Version(1));
    assert!(!page.latch.is_marked(), "a read is a second chance");
    assert!(page.latch.try_upgrade(1));
    page.latch.downgrade();
    assert!(!page.latch.validate(1), "a downgraded holder may have changed the page");
    assert_eq!((page.latch.try_exclusive(), page.latch.try_shared()), (TryLatch::Busy, TryLatch::Acquired));
    page.latch.unlock_shared();
    page.latch.unlock_shared();
    assert_eq!(page.latch.optimistic(), Optimistic::Version(2));
    assert!(page.latch.try_upgrade(2));
    page.latch.unlock_exclusive_unchanged();
    assert!(page.latch.validate(2) && page.latch.mark() && page.latch.try_claim_marked());
    page.latch.set_evicted();
    assert!(page.latch.is_evicted() && !page.latch.validate(3) && page.latch.try_claim_for_load());
    page.latch.unlock_exclusive();
    assert_eq!(page.latch.optimistic(), Optimistic::Version(4));
}

#[test]
fn a_page_read_ahead_is_marked_until_it_is_used_and_never_falls_behind_the_floor() {
    let page = Page::evicted();
    assert!(page.latch.try_claim_for_load());
    page.latch.raise_version(17);
    page.latch.raise_version(3);
    page.latch.finish_load_marked();
    assert!(page.latch.is_marked() && page.latch.peek() == Optimistic::Version(18) && page.latch.validate(18));
    assert!(!page.latch.mark(), "it is");
    assert_eq!(page.latch.optimistic(), Optimistic::Version(18));
    assert!(!page.latch.is_marked() && page.latch.mark());
}

#[test]
#[should_panic(expected = "not exclusive")]
fn unlocking_what_is_not_locked_is_caught() {
    let page = Page::evicted();
    page.latch.unlock_exclusive();
}

#[test]
fn a_lane_lock_lets_readers_in_together_and_writers_alone() {
    let lock = sync::LaneRwLock::new(sync::LANES_MAX);
    let words = [const { AtomicU64::new(0) }; 4];
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..ROUNDS / 20 {
                    lock.write();
                    words.iter().for_each(|word| word.store(word.load(Relaxed) + 1, Relaxed));
                    lock.unlock_write();
                }
            });
            scope.spawn(|| {
                let lane = sync::thread_lane();
                for _ in 0..ROUNDS {
                    lock.read(lane);
                    let seen: [u64; 4] = std::array::from_fn(|i| words[i].load(Relaxed));
                    assert_eq!(seen, [seen[0]; 4]);
                    lock.unlock_read(lane);
                }
            });
        }
    });
    assert_eq!(words[3].load(Relaxed), ROUNDS / 10);
}
