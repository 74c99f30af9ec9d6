//! The platform's own reader-writer lock behind the interface of the others: `std::sync::RwLock`.
//!
//! On Linux that is two futex words straight on the kernel, on Windows an SRW lock, elsewhere what the platform's libc
//! offers. `pthread_rwlock_t` itself was left out: on glibc it takes 56 bytes, and calling it takes `unsafe` and a pinned
//! allocation for each lock. Kept for comparison only (see [`ReaderWriter`]). No model check: loom does not see into it.

use crate::lock::Held;
use crate::rank::{self, Rank, SameRank};
use crate::reader_writer::ReaderWriter;
use std::sync::PoisonError;

/// The lock. Readers must not nest.
#[derive(Debug)]
pub struct SystemRwLock {
    #[expect(clippy::disallowed_types, reason = "this is the one place that wraps the platform's lock")]
    raw: std::sync::RwLock<()>,
    rank: Rank,
}

/// A shared hold.
#[must_use = "the lock is released at once when the guard is not kept"]
pub struct SystemShared<'a> {
    _raw: std::sync::RwLockReadGuard<'a, ()>,
    _held: Held,
}

/// The exclusive hold.
#[must_use = "the lock is released at once when the guard is not kept"]
pub struct SystemExclusive<'a> {
    _raw: std::sync::RwLockWriteGuard<'a, ()>,
    _held: Held,
}

impl SystemRwLock {
    #[expect(clippy::disallowed_types, reason = "this is the one place that wraps the platform's lock")]
    pub const fn new(rank: Rank) -> Self {
        SystemRwLock { raw: std::sync::RwLock::new(()), rank }
    }
}

impl ReaderWriter for SystemRwLock {
    const KIND: &'static str = "system";
    type Shared<'a> = SystemShared<'a>;
    type Exclusive<'a> = SystemExclusive<'a>;

    // It guards no value that a panic could leave half changed, so poison says nothing.
    #[inline]
    fn shared(&self) -> SystemShared<'_> {
        rank::check(self.rank, SameRank::Refused);
        SystemShared { _raw: self.raw.read().unwrap_or_else(PoisonError::into_inner), _held: Held::new(self.rank) }
    }

    #[inline]
    fn exclusive(&self) -> SystemExclusive<'_> {
        rank::check(self.rank, SameRank::Refused);
        SystemExclusive { _raw: self.raw.write().unwrap_or_else(PoisonError::into_inner), _held: Held::new(self.rank) }
    }
}
