//! Model checks: every interleaving, and every reordering that the memory model permits, of small cases.
//!
//! Run with `RUSTFLAGS="--cfg loom" cargo test -p sync --release --test loom`. Loom also reports deadlocks, which is how a lost
//! wake-up shows, and unsynchronised access to its `UnsafeCell`, which is how a broken latch shows.
#![cfg(loom)]
#![allow(unsafe_code, reason = "loom's UnsafeCell is how a model states what a latch protects")]

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed, Ordering::Release};
use loom::thread;
use sync::waits::Wait;
use sync::{
    CachePadded, Evicted, Gate as PinGate, LaneId, LaneRwLock, LaneSet, Optimistic, PageLatch, Parker, PinLane,
    Records, Snapshot, TryLatch, futex, pins,
};

/// A page of two words that every writer keeps equal. Readers may see a torn state; validation must tell.
struct Page {
    latch: PageLatch,
    words: [AtomicU64; 2],
    /// Touched under the latch only; loom fails when two threads do so without synchronisation.
    private: UnsafeCell<u64>,
}

// SAFETY: `private` is touched under `latch` only, which is what the models check.
unsafe impl Sync for Page {}
// SAFETY: plain data.
unsafe impl Send for Page {}

impl Page {
    fn evicted() -> Arc<Page> {
        let words = [AtomicU64::new(0), AtomicU64::new(0)];
        Arc::new(Page { latch: PageLatch::new(), words, private: UnsafeCell::new(0) })
    }

    /// In memory, unlocked, both words 1.
    fn loaded() -> Arc<Page> {
        let page = Page::evicted();
        assert!(page.latch.try_claim_for_load());
        page.set(1);
        page.latch.finish_load();
        page
    }

    fn set(&self, value: u64) {
        for word in &self.words {
            word.store(value, Relaxed);
        }
    }

    /// Adds 1 under an exclusive latch.
    fn bump(&self) {
        // SAFETY: the caller holds the latch exclusively.
        self.private.with_mut(|p| unsafe { *p += 1 });
        let next = self.words[0].load(Relaxed) + 1;
        self.set(next);
    }

    fn private(&self) -> u64 {
        // SAFETY: the caller holds the latch shared or exclusively.
        self.private.with(|p| unsafe { *p })
    }

    /// One optimistic attempt: what was read, if it is valid.
    fn read(&self) -> Option<u64> {
        let Optimistic::Version(v) = self.latch.optimistic() else { return None };
        let seen = [self.words[0].load(Relaxed), self.words[1].load(Relaxed)];
        if !self.latch.validate(v) {
            return None;
        }
        assert_eq!(seen[0], seen[1], "a torn read passed validation");
        Some(seen[0])
    }
}

/// Explores with at most `preemptions` forced switches, where the whole space is too large.
fn bounded(preemptions: usize, model: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(model);
}

#[test]
fn optimistic_reader_never_accepts_a_half_written_page() {
    loom::model(|| {
        let page = Page::loaded();
        let writer = {
            let page = Arc::clone(&page);
            thread::spawn(move || {
                assert_eq!(page.latch.try_exclusive(), TryLatch::Acquired);
                page.bump();
                page.latch.unlock_exclusive();
            })
        };
        if let Some(seen) = page.read() {
            assert!(seen == 1 || seen == 2);
        }
        writer.join().unwrap();
        assert_eq!(page.read(), Some(2));
    });
}

#[test]
fn a_hold_without_change_leaves_readers_valid_and_the_version_alone() {
    loom::model(|| {
        let page = Page::loaded();
        let Optimistic::Version(v) = page.latch.optimistic() else { panic!("loaded") };
        let other = {
            let page = Arc::clone(&page);
            thread::spawn(move || {
                assert_eq!(page.latch.try_exclusive(), TryLatch::Acquired);
                page.latch.unlock_exclusive_unchanged();
            })
        };
        page.read();
        other.join().unwrap();
        assert!(page.latch.validate(v));
    });
}

#[test]
fn of_two_upgrades_from_one_version_one_succeeds() {
    loom::model(|| {
        let page = Page::loaded();
        let Optimistic::Version(v) = page.latch.optimistic() else { panic!("loaded") };
        let upgrade = move |page: &Page| {
            let won = page.latch.try_upgrade(v);
            if won {
                page.bump();
                page.latch.unlock_exclusive();
            }
            won
        };
        let other = {
            let page = Arc::clone(&page);
            thread::spawn(move || upgrade(&page))
        };
        let won = upgrade(&page);
        assert!(won ^ other.join().unwrap());
        assert_eq!(page.read(), Some(2));
    });
}

#[test]
fn reader_never_accepts_a_page_that_is_being_evicted() {
    loom::model(|| {
        let page = Page::loaded();
        let evictor = {
            let page = Arc::clone(&page);
            thread::spawn(move || {
                if page.latch.mark() && page.latch.try_claim_marked() {
                    page.set(0); // What discarding the memory does.
                    page.latch.set_evicted();
                }
            })
        };
        match page.read() {
            Some(seen) => assert_eq!(seen, 1, "discarded memory passed validation"),
            None => {}
        }
        evictor.join().unwrap();
        let evicted = page.latch.optimistic() == Optimistic::Evicted;
        assert!(evicted || page.read() == Some(1));
    });
}

#[test]
fn evicted_and_loaded_again_is_another_version() {
    loom::model(|| {
        let page = Page::loaded();
        let Optimistic::Version(before) = page.latch.optimistic() else { panic!("loaded") };
        let other = {
            let page = Arc::clone(&page);
            thread::spawn(move || {
                assert!(page.latch.mark() && page.latch.try_claim_marked());
                page.set(0);
                page.latch.set_evicted();
                assert!(page.latch.try_claim_for_load());
                page.set(5);
                page.latch.finish_load();
            })
        };
        let seen = [page.words[0].load(Relaxed), page.words[1].load(Relaxed)];
        if page.latch.validate(before) {
            assert_eq!(seen, [1, 1]);
        }
        other.join().unwrap();
        assert!(!page.latch.validate(before) && !page.latch.try_upgrade(before));
    });
}

#[test]
fn one_thread_loads_and_the_other_waits_for_it() {
    loom::model(|| {
        let page = Page::evicted();
        let fetch = |page: &Page| {
            loop {
                if let Some(seen) = page.read() {
                    return seen;
                }
                if page.latch.try_claim_for_load() {
                    assert_eq!(page.private(), 0, "loaded twice");
                    page.bump();
                    page.latch.finish_load();
                } else {
                    page.latch.wait_readable();
                }
            }
        };
        let other = {
            let page = Arc::clone(&page);
            thread::spawn(move || fetch(&page))
        };
        assert_eq!(fetch(&page), 1);
        assert_eq!(other.join().unwrap(), 1);
    });
}

#[test]
fn two_writers_wait_for_each_other() {
    loom::model(|| {
        let page = Page::loaded();
        let write = |page: &Page| {
            page.latch.exclusive().unwrap();
            page.bump();
            page.latch.unlock_exclusive();
        };
        let other = {
            let page = Arc::clone(&page);
            thread::spawn(move || write(&page))
        };
        write(&page);
        other.join().unwrap();
        assert_eq!(page.read(), Some(3));
    });
}

#[test]
fn three_writers_all_get_their_turn() {
    bounded(2, || {
        let page = Page::loaded();
        let write = |page: &Page| {
            page.latch.exclusive().unwrap();
            page.bump();
            page.latch.unlock_exclusive();
        };
        let others = [(); 2].map(|()| {
            let page = Arc::clone(&page);
            thread::spawn(move || write(&page))
        });
        write(&page);
        for other in others {
            other.join().unwrap();
        }
        assert_eq!(page.read(), Some(4));
        assert!(!page.latch.has_waiters());
    });
}

#[test]
fn a_reader_and_a_writer_exclude_each_other_and_both_go_on() {
    loom::model(|| {
        let page = Page::loaded();
        let reader = {
            let page = Arc::clone(&page);
            thread::spawn(move || {
                page.latch.shared().unwrap();
                let seen = page.private();
                page.latch.unlock_shared();
                seen
            })
        };
        page.latch.exclusive().unwrap();
        page.bump();
        page.latch.unlock_exclusive();
        assert!(reader.join().unwrap() <= 1);
    });
}

#[test]
fn two_readers_and_a_writer_and_nobody_sleeps_for_ever() {
    bounded(2, || {
        let page = Page::loaded();
        let readers = [(); 2].map(|()| {
            let page = Arc::clone(&page);
            thread::spawn(move || {
                page.latch.shared().unwrap();
                page.private();
                page.latch.unlock_shared();
            })
        });
        page.latch.exclusive().unwrap();
        page.bump();
        page.latch.downgrade();
        assert_eq!(page.private(), 1);
        page.latch.unlock_shared();
        for reader in readers {
            reader.join().unwrap();
        }
        assert!(!page.latch.is_shared() && !page.latch.has_waiters());
    });
}

#[test]
fn all_who_wait_learn_that_the_page_was_evicted() {
    bounded(2, || {
        let page = Page::loaded();
        assert_eq!(page.latch.try_exclusive(), TryLatch::Acquired);
        let waiters = [(); 2].map(|()| {
            let page = Arc::clone(&page);
            thread::spawn(move || assert_eq!(page.latch.exclusive(), Err(Evicted)))
        });
        page.latch.set_evicted();
        for waiter in waiters {
            waiter.join().unwrap();
        }
    });
}

#[test]
fn marking_loses_against_a_reader_or_takes_the_page_from_it() {
    loom::model(|| {
        let page = Page::loaded();
        let clock = {
            let page = Arc::clone(&page);
            thread::spawn(move || {
                page.latch.mark();
                let taken = page.latch.try_claim_marked();
                if taken {
                    page.latch.unlock_exclusive_unchanged();
                }
            })
        };
        if page.latch.try_shared() == TryLatch::Acquired {
            page.private();
            page.latch.unlock_shared();
        }
        clock.join().unwrap();
        assert_eq!(page.read(), Some(1));
    });
}

#[test]
fn a_lane_has_one_owner_and_its_next_owner_sees_what_it_wrote() {
    loom::model(|| {
        let set = Arc::new((LaneSet::new(2), CachePadded::new(AtomicU64::new(0))));
        let count = |set: &(LaneSet, CachePadded<AtomicU64>)| {
            let lane = set.0.claim().expect("two lanes for two threads");
            if lane.index() == 0 {
                // A single writer's increment: two owners at once, or one that misses the other's store, would lose one.
                set.1.store(set.1.load(Relaxed) + 1, Relaxed);
            }
            set.0.release(lane);
            lane.index()
        };
        let other = {
            let set = Arc::clone(&set);
            thread::spawn(move || count(&set))
        };
        let owners_of_0 = u64::from(count(&set) == 0) + u64::from(other.join().unwrap() == 0);
        assert_eq!(set.1.load(Relaxed), owners_of_0);
        assert!(set.0.high_water() >= 1 && set.0.iter().next().is_none());
    });
}

#[test]
fn whoever_knows_of_a_claim_finds_the_lane() {
    loom::model(|| {
        let set = Arc::new((LaneSet::new(2), AtomicU64::new(0)));
        let claimer = {
            let set = Arc::clone(&set);
            thread::spawn(move || {
                set.0.claim().expect("free");
                set.1.store(1, Release);
            })
        };
        if set.1.load(loom::sync::atomic::Ordering::Acquire) == 1 {
            assert_eq!(set.0.iter().count(), 1);
        }
        claimer.join().unwrap();
    });
}

#[test]
fn a_cached_handle_goes_forward_and_sees_what_the_writer_did_before() {
    loom::model(|| {
        let cell = Arc::new((Snapshot::new(0_u64), AtomicU64::new(0)));
        let mut handle = cell.0.cached();
        let writer = {
            let cell = Arc::clone(&cell);
            thread::spawn(move || {
                cell.1.store(1, Relaxed);
                cell.0.store(std::sync::Arc::new(1));
            })
        };
        let first = **handle.get(&cell.0);
        let second = **handle.get(&cell.0);
        assert!(first <= second);
        if second == 1 {
            assert_eq!(cell.1.load(Relaxed), 1);
        }
        writer.join().unwrap();
        assert_eq!(**handle.get(&cell.0), 1);
    });
}

#[test]
fn updates_are_not_lost() {
    loom::model(|| {
        let cell = Arc::new(Snapshot::new(0_u64));
        let other = {
            let cell = Arc::clone(&cell);
            thread::spawn(move || cell.update(|n| n + 1))
        };
        cell.update(|n| n + 1);
        other.join().unwrap();
        assert_eq!(*cell.load(), 2);
    });
}

#[test]
fn a_token_left_before_or_during_a_park_ends_it() {
    loom::model(|| {
        let mut parker = Parker::new();
        let unparker = parker.unparker();
        let done = Arc::new(UnsafeCell::new(0));
        let other = {
            let done = Arc::clone(&done);
            thread::spawn(move || {
                // SAFETY: the parker's owner looks only after it has the token.
                done.with_mut(|p| unsafe { *p = 1 });
                unparker.unpark();
            })
        };
        parker.park(Wait::Background);
        // SAFETY: the token was taken, so the other thread is done with the cell.
        assert_eq!(done.with(|p| unsafe { *p }), 1);
        other.join().unwrap();
    });
}

#[test]
fn a_futex_waiter_is_not_lost() {
    loom::model(|| {
        let word = Arc::new(AtomicU32::new(0));
        let waker = {
            let word = Arc::clone(&word);
            thread::spawn(move || {
                word.store(1, Release);
                futex::wake_all(&word);
            })
        };
        while word.load(loom::sync::atomic::Ordering::Acquire) == 0 {
            futex::wait(&word, 0, None, Wait::Background);
        }
        waker.join().unwrap();
    });
}

/// A lane lock around a value that loom watches.
struct Gate {
    lock: LaneRwLock,
    value: UnsafeCell<u64>,
}

// SAFETY: `value` is touched under `lock` only, which is what the models check.
unsafe impl Sync for Gate {}
// SAFETY: plain data.
unsafe impl Send for Gate {}

impl Gate {
    fn new() -> Arc<Gate> {
        let gate = Gate { lock: LaneRwLock::new(2), value: UnsafeCell::new(0) };
        // The lanes are allocated here: loom does not know `OnceLock`, and would miss that it publishes them.
        gate.read(0);
        Arc::new(gate)
    }

    fn read(&self, lane: usize) -> u64 {
        let lane = LaneId::from_index(lane);
        self.lock.read(lane);
        assert!(self.lock.try_read(lane), "nested");
        self.lock.unlock_read(lane);
        // SAFETY: under the shared lock.
        let seen = self.value.with(|p| unsafe { *p });
        self.lock.unlock_read(lane);
        seen
    }

    fn write(&self) {
        self.lock.write();
        // SAFETY: under the exclusive lock.
        self.value.with_mut(|p| unsafe { *p += 1 });
        self.lock.unlock_write();
    }
}

#[test]
fn lane_lock_keeps_a_reader_and_a_writer_apart() {
    loom::model(|| {
        let gate = Gate::new();
        let reader = {
            let gate = Arc::clone(&gate);
            thread::spawn(move || gate.read(1))
        };
        gate.write();
        assert!(reader.join().unwrap() <= 1);
    });
}

#[test]
fn lane_lock_keeps_writers_apart_and_wakes_everybody() {
    bounded(2, || {
        let gate = Gate::new();
        let reader = {
            let gate = Arc::clone(&gate);
            thread::spawn(move || gate.read(0))
        };
        let writer = {
            let gate = Arc::clone(&gate);
            thread::spawn(move || gate.write())
        };
        gate.write();
        reader.join().unwrap();
        writer.join().unwrap();
        assert_eq!(gate.read(0), 2);
    });
}

/// The engine's gap locks (`engine::lock::range`): a scan counts itself, then finds the leaf unchanged and takes the gap; a writer
/// latches the leaf, then looks whether anybody counts, and only then at the gaps. Never do both go ahead.
#[test]
fn a_scan_that_locks_a_gap_and_a_writer_see_each_other() {
    use loom::sync::Mutex;
    use loom::sync::atomic::{Ordering::SeqCst, fence};
    loom::model(|| {
        let page = Page::loaded();
        let count = Arc::new(AtomicU32::new(0));
        // The gap is locked; the mutex of the tree's spans.
        let spans = Arc::new(Mutex::new(false));
        let scan = {
            let (page, count, spans) = (page.clone(), count.clone(), spans.clone());
            thread::spawn(move || {
                let Optimistic::Version(version) = page.latch.optimistic() else { return None };
                let read = page.words[0].load(Relaxed);
                let mut span = spans.lock().unwrap();
                count.fetch_add(1, SeqCst);
                fence(SeqCst);
                if !page.latch.validate(version) {
                    return None;
                }
                *span = true;
                Some(read)
            })
        };
        let wrote = {
            let Optimistic::Version(version) = page.latch.optimistic() else { unreachable!("nobody else writes") };
            assert!(page.latch.try_upgrade(version));
            fence(SeqCst);
            let refused = count.load(SeqCst) != 0 && *spans.lock().unwrap();
            if refused {
                page.latch.unlock_exclusive_unchanged();
            } else {
                page.bump();
                page.latch.unlock_exclusive();
            }
            !refused
        };
        let locked = scan.join().unwrap();
        assert!(!(locked == Some(1) && wrote), "written after the gap was locked: a phantom");
    });
}

/// Metadata locks: a session that pins in its lane, and data definition that shuts the gate, around a value that loom watches.
struct Pinned {
    lane: PinLane<2>,
    gate: PinGate,
    /// 1: the session has freed its word and was asked to tell.
    told: AtomicU32,
    value: UnsafeCell<u64>,
}

// SAFETY: `value` is touched under a pin or behind the shut gate only, which is what the models check.
unsafe impl Sync for Pinned {}
// SAFETY: plain data.
unsafe impl Send for Pinned {}

const PIN: u64 = 4;

impl Pinned {
    fn new() -> Arc<Pinned> {
        let value = UnsafeCell::new(0);
        Arc::new(Pinned { lane: PinLane::default(), gate: PinGate::default(), told: AtomicU32::new(0), value })
    }

    /// One statement; false: it was stopped at the gate.
    fn statement(&self) -> bool {
        self.lane.set(0, PIN);
        pins::announced();
        let runs = !self.gate.stops(0);
        if runs {
            // SAFETY: pinned.
            self.value.with(|p| unsafe { *p });
        }
        if self.lane.clear(0..1) {
            self.told.store(1, Release);
            futex::wake_all(&self.told);
        }
        runs
    }

    fn define(&self) {
        self.gate.shut(0);
        pins::announced();
        while self.lane.asks_for_notice(|word| word == PIN) {
            while self.told.load(loom::sync::atomic::Ordering::Acquire) == 0 {
                futex::wait(&self.told, 0, None, Wait::Background);
            }
            self.told.store(0, Release);
            self.lane.noticed();
        }
        // SAFETY: nobody pins, nobody will.
        self.value.with_mut(|p| unsafe { *p += 1 });
        self.gate.open(0);
    }
}

#[test]
fn a_pin_keeps_definition_out_and_its_end_is_told() {
    loom::model(|| {
        let pinned = Pinned::new();
        let session = {
            let pinned = Arc::clone(&pinned);
            thread::spawn(move || pinned.statement())
        };
        pinned.define();
        session.join().unwrap();
        assert!(pinned.statement(), "the gate is open again");
    });
}

#[test]
fn pins_of_two_statements_in_a_row() {
    bounded(3, || {
        let pinned = Pinned::new();
        let session = {
            let pinned = Arc::clone(&pinned);
            thread::spawn(move || {
                pinned.statement();
                pinned.statement();
            })
        };
        pinned.define();
        session.join().unwrap();
    });
}

#[test]
fn a_record_is_read_whole_or_not_at_all() {
    loom::model(|| {
        // With no history each record is written over the one before.
        let records: Arc<Records<2>> = Arc::new(Records::new(0));
        let write = |n| {
            let writing = records.write();
            writing.set(0, n);
            writing.set(1, n);
        };
        write(1);
        let reader = {
            let records = Arc::clone(&records);
            thread::spawn(move || {
                if let Some(record) = records.current() {
                    assert_eq!(record.words[0], record.words[1]);
                }
            })
        };
        write(2);
        records.clear();
        reader.join().unwrap();
    });
}
