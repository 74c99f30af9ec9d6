//! Wait on a 32-bit word until it changes: the kernel's futex on Linux, the parking table elsewhere and under loom.
//!
//! The protocol is the caller's: the waker changes the word (Release) and then wakes; the waiter reads the word (Acquire) before
//! it decides to wait. A wait may end without cause, so callers loop.

use crate::shim::atomic::AtomicU32;
use crate::waits::Wait;
use std::time::Duration;

/// Sleeps while `*word == expected`, until woken. True when woken or when the word differed; false when `timeout` passed.
pub fn wait(word: &AtomicU32, expected: u32, timeout: Option<Duration>, what: Wait) -> bool {
    imp::wait(word, expected, timeout, what)
}

/// Wakes one waiter, if there is any.
pub fn wake_one(word: &AtomicU32) {
    imp::wake(word, 1);
}

/// Wakes all waiters.
pub fn wake_all(word: &AtomicU32) {
    imp::wake(word, i32::MAX as u32);
}

#[cfg(all(target_os = "linux", not(loom)))]
mod imp {
    use super::{AtomicU32, Duration, Wait};
    use rustix::io::Errno;
    use rustix::thread::futex::{self, Flags, Timespec};

    pub(super) fn wait(word: &AtomicU32, expected: u32, timeout: Option<Duration>, what: Wait) -> bool {
        let waiting = crate::blocking::waiting(what);
        crate::blocking::about_to_block();
        // A timeout beyond the kernel's range is no timeout.
        let timeout = timeout.and_then(|t| Timespec::try_from(t).ok());
        match futex::wait(word, Flags::PRIVATE, expected, timeout.as_ref()) {
            Ok(()) | Err(Errno::INTR) => true,
            Err(Errno::AGAIN) => {
                waiting.did_not();
                true
            }
            Err(Errno::TIMEDOUT) => false,
            // EFAULT and EINVAL cannot happen with a live, aligned word and a normalised time.
            Err(e) => panic!("futex wait: {e}"),
        }
    }

    pub(super) fn wake(word: &AtomicU32, count: u32) {
        if let Err(e) = futex::wake(word, Flags::PRIVATE, count) {
            panic!("futex wake: {e}");
        }
    }
}

/// Without a futex: the parking table, by the word's address.
#[cfg(all(not(target_os = "linux"), not(loom)))]
mod imp {
    use super::{AtomicU32, Duration, Wait};
    use crate::parking::{self, Kind, Outcome, Policy};
    use crate::shim::atomic::Ordering;

    pub(super) fn wait(word: &AtomicU32, expected: u32, timeout: Option<Duration>, what: Wait) -> bool {
        let address = std::ptr::from_ref(word).addr();
        // Relaxed: under the bucket lock, which the waker takes after its change of the word.
        let unchanged = || word.load(Ordering::Relaxed) == expected;
        parking::park(address, Kind::Writer, unchanged, timeout, what) != Outcome::TimedOut
    }

    pub(super) fn wake(word: &AtomicU32, count: u32) {
        let policy = if count == 1 { Policy::ReadersAndOneWriter } else { Policy::All };
        parking::unpark(std::ptr::from_ref(word).addr(), policy, || ());
    }
}

/// The model of a futex: comparing and falling asleep are one step with respect to waking; who slept first at a word is woken first, and
/// nobody else is. No wait ends without cause, so that a lost wake-up shows. Time stands still.
#[cfg(loom)]
mod imp {
    use super::{AtomicU32, Duration, Wait};
    use crate::shim::atomic::Ordering;
    use crate::shim::{RawCondvar, RawMutex};
    use std::sync::Arc;

    struct Sleeper {
        word: usize,
        woken: Arc<RawCondvar>,
    }

    loom::lazy_static! {
        static ref SLEEPERS: RawMutex<Vec<Sleeper>> = RawMutex::new(Vec::new());
    }

    pub(super) fn wait(word: &AtomicU32, expected: u32, _timeout: Option<Duration>, _what: Wait) -> bool {
        let mut sleepers = SLEEPERS.lock();
        // Relaxed, as the kernel's load: the mutex orders it against a waker that came first.
        if word.load(Ordering::Relaxed) != expected {
            return true;
        }
        let woken = Arc::new(RawCondvar::new());
        sleepers.push(Sleeper { word: std::ptr::from_ref(word).addr(), woken: Arc::clone(&woken) });
        while sleepers.iter().any(|sleeper| Arc::ptr_eq(&sleeper.woken, &woken)) {
            woken.wait(&mut sleepers);
        }
        true
    }

    pub(super) fn wake(word: &AtomicU32, count: u32) {
        let mut sleepers = SLEEPERS.lock();
        for _ in 0..count {
            let first = sleepers.iter().position(|sleeper| sleeper.word == std::ptr::from_ref(word).addr());
            let Some(first) = first else { return };
            sleepers.remove(first).woken.notify_one();
        }
    }
}
