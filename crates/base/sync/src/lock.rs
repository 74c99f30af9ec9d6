//! Ranked mutex, condition variable and reader-writer lock: `parking_lot` underneath, rank checks in debug builds on top.

#[cfg(not(loom))]
use crate::blocking;
use crate::rank::{self, Rank, SameRank};
use crate::reader_writer::ReaderWriter;
use crate::shim::{RawCondvar, RawGuard, RawMutex, RawReadGuard, RawRwLock, RawWriteGuard};
use crate::waits::Wait;
use std::ops::{Deref, DerefMut};
use std::time::Duration;

/// Mutual exclusion with a rank. Not fair in the short run, not poisoned by a panic.
#[derive(Debug)]
pub struct Mutex<T> {
    rank: Rank,
    raw: RawMutex<T>,
}

/// A held [`Mutex`]; gives it back when dropped.
#[must_use = "the mutex is released at once when the guard is not kept"]
pub struct MutexGuard<'a, T> {
    raw: RawGuard<'a, T>,
    _held: Held,
}

/// One entry in the thread's list of held ranks.
pub(crate) struct Held(Rank);

impl Held {
    #[inline(always)]
    pub(crate) fn new(rank: Rank) -> Held {
        rank::acquired(rank);
        Held(rank)
    }
}

impl Drop for Held {
    #[inline(always)]
    fn drop(&mut self) {
        rank::released(self.0);
    }
}

impl<T> Mutex<T> {
    #[cfg(not(loom))]
    pub const fn new(rank: Rank, value: T) -> Self {
        Mutex { rank, raw: RawMutex::new(value) }
    }

    #[cfg(loom)]
    pub fn new(rank: Rank, value: T) -> Self {
        Mutex { rank, raw: RawMutex::new(value) }
    }

    /// Waits for the mutex. Panics (debug builds) when this thread holds a lock of this rank or a higher one.
    #[inline]
    pub fn lock(&self) -> MutexGuard<'_, T> {
        rank::check(self.rank, SameRank::Refused);
        MutexGuard { raw: self.raw_lock(), _held: Held::new(self.rank) }
    }

    /// As [`Mutex::lock`], where the caller orders several locks of one rank itself (by address, by partition number).
    #[inline]
    pub fn lock_same_rank(&self) -> MutexGuard<'_, T> {
        rank::check(self.rank, SameRank::Allowed);
        MutexGuard { raw: self.raw_lock(), _held: Held::new(self.rank) }
    }

    /// What `parking_lot` does for a free mutex is the same instruction as in its `lock`: an exchange, and no look before it.
    #[cfg(not(loom))]
    #[inline]
    fn raw_lock(&self) -> RawGuard<'_, T> {
        match self.raw.try_lock_for(Duration::ZERO) {
            Some(raw) => raw,
            None => self.wait_for_it(),
        }
    }

    /// It has spun, and is about to sleep.
    #[cfg(not(loom))]
    #[cold]
    #[inline(never)]
    fn wait_for_it(&self) -> RawGuard<'_, T> {
        let _waiting = blocking::waiting(Wait::mutex(self.rank));
        self.raw.lock()
    }

    #[cfg(loom)]
    fn raw_lock(&self) -> RawGuard<'_, T> {
        self.raw.lock()
    }

    /// Takes the mutex if it is free. Never waits, so any rank may be held.
    #[inline]
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        let raw = self.raw.try_lock()?;
        Some(MutexGuard { raw, _held: Held::new(self.rank) })
    }

    /// As [`Mutex::lock`], where the holder may be at I/O: the wait has a name, and ends without the mutex when somebody wants that of
    /// whom the thread serves (see [`blocking`](crate::blocking)).
    #[cfg(not(loom))]
    pub fn lock_or_end(&self, what: Wait) -> Option<MutexGuard<'_, T>> {
        rank::check(self.rank, SameRank::Refused);
        if let Some(guard) = self.try_lock() {
            return Some(guard);
        }
        let _waiting = blocking::waiting(what);
        blocking::about_to_block();
        loop {
            if let Some(raw) = self.raw.try_lock_for(blocking::ASK_AGAIN) {
                return Some(MutexGuard { raw, _held: Held::new(self.rank) });
            }
            if blocking::is_interrupted() {
                return None;
            }
        }
    }

    pub fn get_mut(&mut self) -> &mut T {
        self.raw.get_mut()
    }

    pub fn into_inner(self) -> T {
        self.raw.into_inner()
    }
}

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        &self.raw
    }
}

impl<T> DerefMut for MutexGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.raw
    }
}

/// Waits under a [`Mutex`] for what another thread will do. Waits may end without cause: loop on the condition.
#[derive(Debug)]
pub struct Condvar {
    raw: RawCondvar,
}

impl Default for Condvar {
    fn default() -> Self {
        Self::new()
    }
}

impl Condvar {
    #[cfg(not(loom))]
    pub const fn new() -> Self {
        Condvar { raw: RawCondvar::new() }
    }

    #[cfg(loom)]
    pub fn new() -> Self {
        Condvar { raw: RawCondvar::new() }
    }

    /// Gives the mutex back, waits to be notified, takes the mutex again.
    pub fn wait<T>(&self, guard: &mut MutexGuard<'_, T>, what: Wait) {
        #[cfg(not(loom))]
        let _waiting = blocking::waiting(what);
        #[cfg(not(loom))]
        blocking::about_to_block();
        let _ = what;
        self.raw.wait(&mut guard.raw);
    }

    /// As [`Condvar::wait`]; false when `timeout` passed first.
    pub fn wait_timeout<T>(&self, guard: &mut MutexGuard<'_, T>, timeout: Duration, what: Wait) -> bool {
        #[cfg(not(loom))]
        let _waiting = blocking::waiting(what);
        #[cfg(not(loom))]
        blocking::about_to_block();
        let _ = what;
        !self.raw.wait_for(&mut guard.raw, timeout).timed_out()
    }

    pub fn notify_one(&self) {
        self.raw.notify_one();
    }

    pub fn notify_all(&self) {
        self.raw.notify_all();
    }
}

/// Many readers or one writer, with a rank. Readers write the shared word: never on a statement path.
#[derive(Debug)]
pub struct RwLock<T> {
    rank: Rank,
    raw: RawRwLock<T>,
}

/// A shared hold of a [`RwLock`].
#[must_use = "the lock is released at once when the guard is not kept"]
pub struct RwLockReadGuard<'a, T> {
    raw: RawReadGuard<'a, T>,
    _held: Held,
}

/// The exclusive hold of a [`RwLock`].
#[must_use = "the lock is released at once when the guard is not kept"]
pub struct RwLockWriteGuard<'a, T> {
    raw: RawWriteGuard<'a, T>,
    _held: Held,
}

impl<T> RwLock<T> {
    #[cfg(not(loom))]
    pub const fn new(rank: Rank, value: T) -> Self {
        RwLock { rank, raw: RawRwLock::new(value) }
    }

    #[cfg(loom)]
    pub fn new(rank: Rank, value: T) -> Self {
        RwLock { rank, raw: RawRwLock::new(value) }
    }

    #[inline]
    pub fn read(&self) -> RwLockReadGuard<'_, T> {
        rank::check(self.rank, SameRank::Refused);
        RwLockReadGuard { raw: self.raw_read(), _held: Held::new(self.rank) }
    }

    #[inline]
    pub fn write(&self) -> RwLockWriteGuard<'_, T> {
        rank::check(self.rank, SameRank::Refused);
        RwLockWriteGuard { raw: self.raw_write(), _held: Held::new(self.rank) }
    }

    // As for mutexes: the way in is that of `parking_lot`, and only who is about to sleep takes the time.

    #[inline]
    fn raw_read(&self) -> RawReadGuard<'_, T> {
        #[cfg(not(loom))]
        let Some(raw) = self.raw.try_read_for(Duration::ZERO) else {
            let _waiting = blocking::waiting(Wait::rw_lock(self.rank));
            return self.raw.read();
        };
        #[cfg(loom)]
        let raw = self.raw.read();
        raw
    }

    #[inline]
    fn raw_write(&self) -> RawWriteGuard<'_, T> {
        #[cfg(not(loom))]
        let Some(raw) = self.raw.try_write_for(Duration::ZERO) else {
            let _waiting = blocking::waiting(Wait::rw_lock(self.rank));
            return self.raw.write();
        };
        #[cfg(loom)]
        let raw = self.raw.write();
        raw
    }

    #[inline]
    pub fn try_read(&self) -> Option<RwLockReadGuard<'_, T>> {
        let raw = self.raw.try_read()?;
        Some(RwLockReadGuard { raw, _held: Held::new(self.rank) })
    }

    #[inline]
    pub fn try_write(&self) -> Option<RwLockWriteGuard<'_, T>> {
        let raw = self.raw.try_write()?;
        Some(RwLockWriteGuard { raw, _held: Held::new(self.rank) })
    }

    pub fn get_mut(&mut self) -> &mut T {
        self.raw.get_mut()
    }

    pub fn into_inner(self) -> T {
        self.raw.into_inner()
    }
}

/// Behind the interface of the other kinds.
impl<T: Send + Sync> ReaderWriter for RwLock<T> {
    const KIND: &'static str = "parking";
    type Shared<'a>
        = RwLockReadGuard<'a, T>
    where
        T: 'a;
    type Exclusive<'a>
        = RwLockWriteGuard<'a, T>
    where
        T: 'a;

    #[inline]
    fn shared(&self) -> RwLockReadGuard<'_, T> {
        self.read()
    }

    #[inline]
    fn exclusive(&self) -> RwLockWriteGuard<'_, T> {
        self.write()
    }
}

impl<T> Deref for RwLockReadGuard<'_, T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        &self.raw
    }
}

impl<T> Deref for RwLockWriteGuard<'_, T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        &self.raw
    }
}

impl<T> DerefMut for RwLockWriteGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.raw
    }
}
