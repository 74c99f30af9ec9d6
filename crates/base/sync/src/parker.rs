//! A token for one thread to sleep on: [`Parker`] waits, any clone of its [`Unparker`] wakes.
//!
//! ```text
//! state           meaning
//!  0  EMPTY       no token, nobody sleeps
//!  1  NOTIFIED    a token waits to be taken
//! -1  PARKED      the owner sleeps, or is about to
//! ```
//! The token is kept when nobody sleeps, so a wake-up that comes early is not lost; two early wake-ups are one token.

use crate::waits::Wait;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The sleeping side; belongs to one thread at a time.
#[derive(Debug)]
pub struct Parker {
    inner: Arc<imp::Token>,
}

/// The waking side; cheap to clone, usable from any thread.
#[derive(Clone, Debug)]
pub struct Unparker {
    inner: Arc<imp::Token>,
}

impl Default for Parker {
    fn default() -> Self {
        Self::new()
    }
}

impl Parker {
    pub fn new() -> Self {
        Parker { inner: Arc::new(imp::Token::new()) }
    }

    pub fn unparker(&self) -> Unparker {
        Unparker { inner: Arc::clone(&self.inner) }
    }

    /// Waits for a token and takes it. What was written before [`Unparker::unpark`] is visible afterwards.
    pub fn park(&mut self, what: Wait) {
        self.inner.park(what);
    }

    /// As [`Parker::park`]; false when `timeout` passed without a token.
    pub fn park_timeout(&mut self, timeout: Duration, what: Wait) -> bool {
        match Instant::now().checked_add(timeout) {
            Some(deadline) => self.inner.park_until(deadline, what),
            None => {
                self.inner.park(what);
                true
            }
        }
    }
}

impl Unparker {
    /// Leaves a token and wakes the parker if it sleeps.
    pub fn unpark(&self) {
        self.inner.unpark();
    }

    /// Whether both wake the same parker.
    pub fn same_as(&self, other: &Unparker) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }
}

#[cfg(any(target_os = "linux", loom))]
mod imp {
    use crate::futex;
    use crate::shim::atomic::{AtomicU32, Ordering};
    use crate::waits::Wait;
    use std::time::Instant;

    const EMPTY: u32 = 0;
    const NOTIFIED: u32 = 1;
    const PARKED: u32 = u32::MAX;

    #[derive(Debug)]
    pub(super) struct Token {
        state: AtomicU32,
    }

    impl Token {
        pub(super) fn new() -> Self {
            Token { state: AtomicU32::new(EMPTY) }
        }

        /// NOTIFIED -> EMPTY (true), or EMPTY -> PARKED (false).
        fn take_or_announce(&self) -> bool {
            // Acquire: pairs with Release in `unpark`; the caller sees what the waker wrote.
            self.state.fetch_sub(1, Ordering::Acquire) == NOTIFIED
        }

        /// NOTIFIED -> EMPTY.
        fn take(&self) -> bool {
            // Acquire: pairs with Release in `unpark`.
            self.state.compare_exchange(NOTIFIED, EMPTY, Ordering::Acquire, Ordering::Relaxed).is_ok()
        }

        pub(super) fn park(&self, what: Wait) {
            if self.take_or_announce() {
                return;
            }
            loop {
                futex::wait(&self.state, PARKED, None, what);
                if self.take() {
                    return;
                }
            }
        }

        pub(super) fn park_until(&self, deadline: Instant, what: Wait) -> bool {
            if self.take_or_announce() {
                return true;
            }
            loop {
                let left = deadline.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    // Acquire: pairs with Release in `unpark`, which may have left its token since.
                    return self.state.swap(EMPTY, Ordering::Acquire) == NOTIFIED;
                }
                futex::wait(&self.state, PARKED, Some(left), what);
                if self.take() {
                    return true;
                }
            }
        }

        pub(super) fn unpark(&self) {
            // Release: pairs with Acquire in `take`, `take_or_announce` and `park_until`.
            if self.state.swap(NOTIFIED, Ordering::Release) == PARKED {
                futex::wake_one(&self.state);
            }
        }
    }
}

/// Where there is no futex to build on (the parking table, its stand-in, is built on this).
#[cfg(not(any(target_os = "linux", loom)))]
mod imp {
    use crate::shim::{RawCondvar, RawMutex};
    use crate::waits::Wait;
    use std::time::Instant;

    #[derive(Debug)]
    pub(super) struct Token {
        notified: RawMutex<bool>,
        changed: RawCondvar,
    }

    impl Token {
        pub(super) fn new() -> Self {
            Token { notified: RawMutex::new(false), changed: RawCondvar::new() }
        }

        pub(super) fn park(&self, what: Wait) {
            let _waiting = crate::blocking::waiting(what);
            crate::blocking::about_to_block();
            let mut notified = self.notified.lock();
            while !*notified {
                self.changed.wait(&mut notified);
            }
            *notified = false;
        }

        pub(super) fn park_until(&self, deadline: Instant, what: Wait) -> bool {
            let _waiting = crate::blocking::waiting(what);
            crate::blocking::about_to_block();
            let mut notified = self.notified.lock();
            while !*notified {
                let left = deadline.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    return false;
                }
                self.changed.wait_for(&mut notified, left);
            }
            *notified = false;
            true
        }

        pub(super) fn unpark(&self) {
            *self.notified.lock() = true;
            self.changed.notify_one();
        }
    }
}
