//! The parking table: queues of sleeping threads by address, so that a lock needs one "somebody waits" bit and no queue of its own.
//!
//! An address hashes to a bucket; a bucket holds its waiters in order of arrival. Only the cold side of a lock comes here.
//!
//! Why no wake-up is lost: a waiter checks, under the bucket's lock, that the lock is still taken and its waiters bit still set
//! (`validate`), and enqueues itself before it lets go of the bucket. A releasing thread that sees the bit takes the same
//! bucket lock, so it finds the waiter in the queue, or runs before the check, which then fails. The bit is cleared only under
//! the bucket lock, when no waiter of that address is left.

use crate::parker::{Parker, Unparker};
use crate::shim::RawMutex;
use crate::waits::Wait;
use crossbeam_utils::CachePadded;
use std::time::Duration;

/// What a waiter waits for, which decides how many are woken at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Can go on together with other readers.
    Reader,
    /// Needs the lock alone.
    Writer,
}

/// Whom to wake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Policy {
    /// All readers and the writer that waits longest: no herd of writers for one lock. Each woken writer must, sooner or
    /// later, release the lock and so wake the next one.
    ReadersAndOneWriter,
    /// Everybody: the lock is gone, woken writers will not release it.
    All,
}

/// How [`park`] ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Woken,
    /// `validate` said no: nobody slept.
    Invalid,
    TimedOut,
}

struct Waiter {
    address: usize,
    kind: Kind,
    unparker: Unparker,
}

/// W, R: threads that park or unpark at an address of this bucket. Alone on its line.
struct Bucket {
    waiters: RawMutex<Vec<Waiter>>,
}

#[cfg(not(loom))]
const BUCKETS: usize = 256;
#[cfg(loom)]
const BUCKETS: usize = 1;
const _: () = assert!(BUCKETS.is_power_of_two());

#[cfg(not(loom))]
static TABLE: [CachePadded<Bucket>; BUCKETS] =
    [const { CachePadded::new(Bucket { waiters: RawMutex::new(Vec::new()) }) }; BUCKETS];

#[cfg(loom)]
loom::lazy_static! {
    static ref TABLE: [CachePadded<Bucket>; BUCKETS] =
        [CachePadded::new(Bucket { waiters: RawMutex::new(Vec::new()) })];
}

fn bucket(address: usize) -> &'static Bucket {
    // Fibonacci hashing: the top bits of the product are well mixed.
    let hash = (address as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    &TABLE[(hash >> 32) as usize % BUCKETS]
}

#[cfg(not(loom))]
thread_local! {
    static PARKER: std::cell::RefCell<Parker> = std::cell::RefCell::new(Parker::new());
}

/// Runs `f` with a parker that nobody else uses meanwhile.
fn with_parker<R>(f: impl FnOnce(&mut Parker) -> R) -> R {
    #[cfg(not(loom))]
    {
        let mut f = Some(f);
        let cached = PARKER.try_with(|parker| f.take().map(|f| f(&mut parker.borrow_mut())));
        if let Ok(Some(result)) = cached {
            return result;
        }
        // Thread-locals are being torn down: a fresh parker does as well.
        let f = f.take().expect("f runs once");
        f(&mut Parker::new())
    }
    #[cfg(loom)]
    f(&mut Parker::new())
}

/// Sleeps at `address` until [`unpark`] picks this thread, unless `validate`, called under the bucket lock, says no.
#[cold]
pub(crate) fn park(
    address: usize,
    kind: Kind,
    validate: impl FnOnce() -> bool,
    timeout: Option<Duration>,
    what: Wait,
) -> Outcome {
    with_parker(|parker| {
        let bucket = bucket(address);
        let unparker = parker.unparker();
        {
            let mut waiters = bucket.waiters.lock();
            if !validate() {
                return Outcome::Invalid;
            }
            waiters.push(Waiter { address, kind, unparker: unparker.clone() });
        }
        let Some(timeout) = timeout else {
            parker.park(what);
            return Outcome::Woken;
        };
        if parker.park_timeout(timeout, what) {
            return Outcome::Woken;
        }
        let mut waiters = bucket.waiters.lock();
        if let Some(at) = waiters.iter().position(|w| w.unparker.same_as(&unparker)) {
            waiters.remove(at);
            return Outcome::TimedOut;
        }
        drop(waiters);
        // Dequeued between the timeout and here: the token is on its way and must not be left for the next park.
        parker.park(what);
        Outcome::Woken
    })
}

/// Wakes waiters at `address` as `policy` says. `none_left` runs under the bucket lock when no waiter of the address remains,
/// also when there was none.
#[cold]
pub(crate) fn unpark(address: usize, policy: Policy, none_left: impl FnOnce()) {
    let mut woken = Vec::new();
    {
        let mut waiters = bucket(address).waiters.lock();
        let mut writers = 0;
        let mut left = 0;
        waiters.retain(|waiter| {
            if waiter.address != address {
                return true;
            }
            if waiter.kind == Kind::Writer && policy == Policy::ReadersAndOneWriter {
                writers += 1;
                if writers > 1 {
                    left += 1;
                    return true;
                }
            }
            woken.push(waiter.unparker.clone());
            false
        });
        if left == 0 {
            none_left();
        }
    }
    for unparker in woken {
        unparker.unpark();
    }
}
