//! Rank checks: each way to take locks in the wrong order is caught in a debug build, by a message that names both classes.
#![cfg(all(debug_assertions, not(loom)))]

use sync::waits::Wait;
use sync::{Condvar, Mutex, PageLatch, Rank, RwLock};

#[test]
fn rising_ranks_pass_and_releasing_lowers_the_bar() {
    let (session, log) = (Mutex::new(Rank::Session, ()), RwLock::new(Rank::LogFile, 5));
    for _ in 0..2 {
        let first = session.lock();
        let second = log.read();
        drop(first); // Not in the order of a stack.
        assert_eq!(*second, 5);
    }
    drop(log.write());
    drop(session.lock());
}

#[test]
#[should_panic(expected = "holds a lock of rank LogFile and asks for one of rank Catalog")]
fn a_lower_rank_is_refused() {
    let (log, catalog) = (Mutex::new(Rank::LogFile, ()), RwLock::new(Rank::Catalog, ()));
    let _held = log.lock();
    let _refused = catalog.read();
}

#[test]
#[should_panic(expected = "asks for another of rank LockTable without lock_same_rank")]
fn the_same_rank_is_refused() {
    let partitions = [Mutex::new(Rank::LockTable, ()), Mutex::new(Rank::LockTable, ())];
    let _held = partitions[0].lock();
    let _refused = partitions[1].lock();
}

#[test]
fn the_same_rank_passes_where_the_caller_orders_it_or_does_not_wait() {
    let partitions = [0, 1, 2].map(|n| Mutex::new(Rank::LockTable, n));
    let _first = partitions[0].lock();
    let _second = partitions[1].lock_same_rank();
    assert!(partitions[2].try_lock().is_some_and(|n| *n == 2));
}

#[test]
#[should_panic(expected = "holds a lock of rank PagePool and asks for one of rank PageLatch")]
fn a_page_latch_has_its_rank() {
    let (pool, page) = (Mutex::new(Rank::PagePool, ()), PageLatch::new());
    assert!(page.try_claim_for_load());
    page.finish_load();
    let _held = pool.lock();
    let _refused = page.shared();
}

#[test]
fn several_page_latches_at_once_are_the_engines_business() {
    let pages = [PageLatch::new(), PageLatch::new()];
    for page in &pages {
        assert!(page.try_claim_for_load());
    }
    pages[0].finish_load();
    assert_eq!(pages[0].exclusive(), Ok(()));
    pages[1].set_evicted();
    pages[0].unlock_exclusive();
    drop(Mutex::new(Rank::Session, ()).lock()); // Nothing is left in the thread's list.
}

#[test]
fn a_condition_variable_wakes_its_waiter() {
    let (mutex, changed) = (Mutex::new(Rank::Session, false), Condvar::new());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            *mutex.lock() = true;
            changed.notify_all();
        });
        let mut guard = mutex.lock();
        while !*guard {
            changed.wait(&mut guard, Wait::Background);
        }
        assert!(!changed.wait_timeout(&mut guard, std::time::Duration::from_millis(1), Wait::Background));
    });
}
