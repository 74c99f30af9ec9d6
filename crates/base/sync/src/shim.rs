//! One door to concurrency: `std` in a normal build, loom's simulated memory and threads under `--cfg loom`.
//!
//! Code in this crate, and in crates that want to be model-checked with it, takes atomics, threads and the raw mutex from here.

#[cfg(not(loom))]
pub use std::hint::spin_loop;
#[cfg(not(loom))]
pub use std::sync::atomic;
#[cfg(not(loom))]
pub use std::thread;

#[cfg(loom)]
pub use loom::hint::spin_loop;
#[cfg(loom)]
pub use loom::sync::atomic;
#[cfg(loom)]
pub use loom::thread;

pub(crate) use raw::{RawCondvar, RawGuard, RawMutex, RawReadGuard, RawRwLock, RawWriteGuard};

#[cfg(not(loom))]
mod raw {
    pub(crate) use parking_lot::{
        Condvar as RawCondvar, Mutex as RawMutex, MutexGuard as RawGuard, RwLock as RawRwLock,
        RwLockReadGuard as RawReadGuard, RwLockWriteGuard as RawWriteGuard,
    };
}

/// Loom's locks with the calling convention of `parking_lot`: no poison, and a wait borrows the guard.
#[cfg(loom)]
mod raw {
    use std::ops::{Deref, DerefMut};
    use std::time::Duration;

    pub(crate) use loom::sync::{RwLockReadGuard as RawReadGuard, RwLockWriteGuard as RawWriteGuard};

    #[derive(Debug)]
    pub(crate) struct RawMutex<T>(loom::sync::Mutex<T>);

    #[derive(Debug)]
    pub(crate) struct RawGuard<'a, T>(Option<loom::sync::MutexGuard<'a, T>>);

    impl<T> RawMutex<T> {
        pub(crate) fn new(value: T) -> Self {
            RawMutex(loom::sync::Mutex::new(value))
        }
        pub(crate) fn lock(&self) -> RawGuard<'_, T> {
            RawGuard(Some(self.0.lock().expect("loom mutexes are not poisoned")))
        }
        pub(crate) fn try_lock(&self) -> Option<RawGuard<'_, T>> {
            self.0.try_lock().ok().map(|guard| RawGuard(Some(guard)))
        }
        pub(crate) fn get_mut(&mut self) -> &mut T {
            self.0.get_mut().expect("loom mutexes are not poisoned")
        }
        pub(crate) fn into_inner(self) -> T {
            self.0.into_inner().expect("loom mutexes are not poisoned")
        }
    }

    impl<T> Deref for RawGuard<'_, T> {
        type Target = T;
        fn deref(&self) -> &T {
            self.0.as_ref().expect("guard is held")
        }
    }

    impl<T> DerefMut for RawGuard<'_, T> {
        fn deref_mut(&mut self) -> &mut T {
            self.0.as_mut().expect("guard is held")
        }
    }

    pub(crate) struct TimedOut;
    impl TimedOut {
        pub(crate) fn timed_out(&self) -> bool {
            false
        }
    }

    #[derive(Debug)]
    pub(crate) struct RawCondvar(loom::sync::Condvar);

    impl RawCondvar {
        pub(crate) fn new() -> Self {
            RawCondvar(loom::sync::Condvar::new())
        }
        pub(crate) fn wait<T>(&self, guard: &mut RawGuard<'_, T>) {
            let held = guard.0.take().expect("guard is held");
            guard.0 = Some(self.0.wait(held).expect("loom mutexes are not poisoned"));
        }
        /// Time stands still under loom: a timed wait is a wait.
        pub(crate) fn wait_for<T>(&self, guard: &mut RawGuard<'_, T>, _timeout: Duration) -> TimedOut {
            self.wait(guard);
            TimedOut
        }
        pub(crate) fn notify_one(&self) {
            self.0.notify_one();
        }
        pub(crate) fn notify_all(&self) {
            self.0.notify_all();
        }
    }

    #[derive(Debug)]
    pub(crate) struct RawRwLock<T>(loom::sync::RwLock<T>);

    impl<T> RawRwLock<T> {
        pub(crate) fn new(value: T) -> Self {
            RawRwLock(loom::sync::RwLock::new(value))
        }
        pub(crate) fn read(&self) -> RawReadGuard<'_, T> {
            self.0.read().expect("loom locks are not poisoned")
        }
        pub(crate) fn write(&self) -> RawWriteGuard<'_, T> {
            self.0.write().expect("loom locks are not poisoned")
        }
        pub(crate) fn try_read(&self) -> Option<RawReadGuard<'_, T>> {
            self.0.try_read().ok()
        }
        pub(crate) fn try_write(&self) -> Option<RawWriteGuard<'_, T>> {
            self.0.try_write().ok()
        }
        pub(crate) fn get_mut(&mut self) -> &mut T {
            self.0.get_mut().expect("loom locks are not poisoned")
        }
        pub(crate) fn into_inner(self) -> T {
            self.0.into_inner().expect("loom locks are not poisoned")
        }
    }
}
