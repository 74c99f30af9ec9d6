//! Wait on a 32-bit word until it changes: the kernel's futex on Linux, the parking table elsewhere and under loom.
//!
//! The protocol is the caller's: the waker changes the word (Release) and then wakes; the waiter reads the word (Acquire) before
//! it decides to wait. A wait may end without cause, so callers loop.

use crate::shim::atomic::AtomicU32;
use std::time::Duration;

/// Sleeps while `*word == expected`, until woken. True when woken or when the word differed; false when `timeout` passed.
pub fn wait(word: &AtomicU32, expected: u32, timeout: Option<Duration>) -> bool {
    imp::wait(word, expected, timeout)
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
    use super::{AtomicU32, Duration};
    use rustix::io::Errno;
    use rustix::thread::futex::{self, Flags, Timespec};

    pub(super) fn wait(word: &AtomicU32, expected: u32, timeout: Option<Duration>) -> bool {
        crate::blocking::about_to_block();
        // A timeout beyond the kernel's range is no timeout.
        let timeout = timeout.and_then(|t| Timespec::try_from(t).ok());
        match futex::wait(word, Flags::PRIVATE, expected, timeout.as_ref()) {
            Ok(()) | Err(Errno::AGAIN | Errno::INTR) => true,
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
    use super::{AtomicU32, Duration};
    use crate::parking::{self, Kind, Outcome, Policy};
    use crate::shim::atomic::Ordering;

    pub(super) fn wait(word: &AtomicU32, expected: u32, timeout: Option<Duration>) -> bool {
        let address = std::ptr::from_ref(word).addr();
        // Relaxed: under the bucket lock, which the waker takes after its change of the word.
        let unchanged = || word.load(Ordering::Relaxed) == expected;
        parking::park(address, Kind::Writer, unchanged, timeout) != Outcome::TimedOut
    }

    pub(super) fn wake(word: &AtomicU32, count: u32) {
        let policy = if count == 1 { Policy::ReadersAndOneWriter } else { Policy::All };
        parking::unpark(std::ptr::from_ref(word).addr(), policy, || ());
    }
}

/// The model of a futex: comparing and falling asleep are one step with respect to waking, and nothing more is promised. One
/// queue for all words, so every wake-up of one word is a groundless one for the others. Time stands still.
#[cfg(loom)]
mod imp {
    use super::{AtomicU32, Duration};
    use crate::shim::atomic::Ordering;
    use crate::shim::{RawCondvar, RawMutex};

    loom::lazy_static! {
        static ref QUEUE: (RawMutex<()>, RawCondvar) = (RawMutex::new(()), RawCondvar::new());
    }

    pub(super) fn wait(word: &AtomicU32, expected: u32, _timeout: Option<Duration>) -> bool {
        let (mutex, changed) = &*QUEUE;
        let mut guard = mutex.lock();
        // Relaxed, as the kernel's load: the queue's mutex orders it against a waker that came first.
        if word.load(Ordering::Relaxed) == expected {
            changed.wait(&mut guard);
        }
        true
    }

    pub(super) fn wake(_word: &AtomicU32, _count: u32) {
        let (mutex, changed) = &*QUEUE;
        let guard = mutex.lock();
        changed.notify_all();
        drop(guard);
    }
}
