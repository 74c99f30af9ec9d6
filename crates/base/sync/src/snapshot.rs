//! Snapshot cell: a value that is read by every statement and replaced once in a while (schema versions, grants, variables).
//!
//! Readers hold a [`Cached`] handle. While nothing is replaced, reading costs one load of a version word that stays shared in
//! every core's cache: no reference count is touched, no line is written. After a replacement each handle fetches the new value
//! once. The old value lives until the last handle has moved on; an idle session's handle keeps it until its next statement.

use crate::shim::RawMutex;
use crate::shim::atomic::{AtomicU64, Ordering};
use crossbeam_utils::CachePadded;
use std::sync::Arc;

/// The shared cell.
#[derive(Debug)]
pub struct Snapshot<T> {
    /// Replacements so far. W: `store`, `update`, under the mutex. R: every `Cached::get`. Alone on its line, so that the
    /// mutex does not disturb readers.
    version: CachePadded<AtomicU64>,
    /// Held for a clone or a swap of the Arc only, nothing is called meanwhile: a leaf that needs no rank.
    current: RawMutex<Arc<T>>,
}

/// One reader's handle: the value it saw last and that value's version.
#[derive(Debug)]
pub struct Cached<T> {
    version: u64,
    value: Arc<T>,
}

impl<T> Clone for Cached<T> {
    fn clone(&self) -> Cached<T> {
        Cached { version: self.version, value: Arc::clone(&self.value) }
    }
}

impl<T> Snapshot<T> {
    pub fn new(value: T) -> Self {
        Self::from_arc(Arc::new(value))
    }

    pub fn from_arc(value: Arc<T>) -> Self {
        Snapshot { version: CachePadded::new(AtomicU64::new(1)), current: RawMutex::new(value) }
    }

    /// The current value. For cold use: takes a mutex and counts a reference. Statements read through [`Cached`].
    pub fn load(&self) -> Arc<T> {
        Arc::clone(&self.current.lock())
    }

    /// A handle on the current value.
    pub fn cached(&self) -> Cached<T> {
        let current = self.current.lock();
        // Relaxed: `version` is written under this mutex only.
        Cached { version: self.version.load(Ordering::Relaxed), value: Arc::clone(&current) }
    }

    /// Replacements so far, plus one.
    pub fn version(&self) -> u64 {
        // Acquire: pairs with Release in `replace`.
        self.version.load(Ordering::Acquire)
    }

    /// Replaces the value.
    pub fn store(&self, value: Arc<T>) {
        let mut current = self.current.lock();
        let old = self.replace(&mut current, value);
        drop(current);
        drop(old); // Outside the mutex: dropping a catalog takes a while.
    }

    /// Replaces the value by `f` of it. `f` runs outside the mutex, and again when another writer came first.
    pub fn update(&self, mut f: impl FnMut(&T) -> T) {
        loop {
            let base = self.cached();
            let new = Arc::new(f(&base.value));
            let mut current = self.current.lock();
            // Relaxed: `version` is written under this mutex only.
            if self.version.load(Ordering::Relaxed) == base.version {
                let old = self.replace(&mut current, new);
                drop(current);
                drop(old);
                return;
            }
        }
    }

    /// Under the mutex. Hands back the old value, to be dropped outside.
    fn replace(&self, current: &mut Arc<T>, value: Arc<T>) -> Arc<T> {
        let old = std::mem::replace(current, value);
        // Relaxed load: `version` is written under this mutex only.
        let next = self.version.load(Ordering::Relaxed) + 1;
        // Release: pairs with Acquire in `Cached::get` and `version`. Whoever learns of the new version also sees what its
        // writer did before, and finds the new value under the mutex, which is still held here.
        self.version.store(next, Ordering::Release);
        old
    }
}

impl<T: Default> Default for Snapshot<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> Cached<T> {
    /// The current value: one load while nothing was replaced.
    #[inline]
    pub fn get(&mut self, cell: &Snapshot<T>) -> &Arc<T> {
        // Acquire: pairs with Release in `Snapshot::replace`.
        if cell.version.load(Ordering::Acquire) != self.version {
            self.refresh_slow(cell);
        }
        &self.value
    }

    /// Whether the cell has been replaced since this handle looked last.
    #[inline]
    pub fn is_current(&self, cell: &Snapshot<T>) -> bool {
        // Acquire: pairs with Release in `Snapshot::replace`.
        cell.version.load(Ordering::Acquire) == self.version
    }

    /// The value this handle saw last, current or not: a statement keeps to one version with it.
    #[inline]
    pub fn peek(&self) -> &Arc<T> {
        &self.value
    }

    #[cold]
    fn refresh_slow(&mut self, cell: &Snapshot<T>) {
        *self = cell.cached();
    }
}
