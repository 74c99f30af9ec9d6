//! AUTO_INCREMENT and row id counters: in memory, with a persistent ceiling that keeps ahead in blocks.
//!
//! ```text
//!   handed out          free, covered       not covered yet
//!   1 ....... next-1 | next ... persisted-1 | persisted ...
//! ```
//!
//! Before a value at or above `persisted` is handed out, the tree's persistent counter is raised a block further. The
//! raise stands in the log before the commit that uses the value, so a crash may skip values and never repeats one. A
//! clean shutdown stores the exact next value.

use engine::{Engine, Tree};
use std::sync::atomic::{AtomicU64, Ordering};

/// How far the persistent ceiling is raised ahead of what was asked for.
const BLOCK: u64 = 1024;

/// A counter, shared by all versions of its table. It is read from its tree when it is first used: a start, of many tables,
/// reads none.
#[derive(Debug)]
pub struct AutoIncrement {
    /// The tree that keeps the ceiling: the index that starts with the column.
    pub tree: Tree,
    /// The next value to hand out; 0: the tree knows. W: inserts by compare-exchange. R: SHOW TABLE STATUS.
    next: AtomicU64,
    /// Values below this are covered by the persistent counter. W: whoever raised the ceiling, by fetch_max. R: inserts.
    persisted: AtomicU64,
}

impl AutoIncrement {
    /// The counter that the tree has; a new tree's starts at 1.
    pub fn new(tree: Tree) -> AutoIncrement {
        AutoIncrement { tree, next: AtomicU64::new(0), persisted: AtomicU64::new(0) }
    }

    /// The next value to hand out, as it was a moment ago.
    #[inline]
    pub fn next(&self, engine: &Engine) -> engine::Result<u64> {
        // Relaxed: the counter orders nothing but itself.
        match self.next.load(Ordering::Relaxed) {
            0 => self.read(engine),
            next => Ok(next),
        }
    }

    /// Nobody raises the tree's counter before `next` is known, so all who read it at once read the same.
    #[cold]
    fn read(&self, engine: &Engine) -> engine::Result<u64> {
        let stored = engine.counter(self.tree)?.max(1);
        // Relaxed: who sees the new `next` and the old ceiling raises the ceiling once more.
        self.persisted.fetch_max(stored, Ordering::Relaxed);
        // Relaxed: as all exchanges of the counter.
        let first = self.next.compare_exchange(0, stored, Ordering::Relaxed, Ordering::Relaxed);
        Ok(first.err().unwrap_or(stored))
    }

    /// Hands out `count` values `offset + k * increment` in a row, all above every value handed out or observed before, and
    /// returns the first. Those above `max`, the largest value of the column's type, are the caller's to refuse (MySQL error
    /// 1467): the counter stays at `max`, which is handed out again and again. `None`: the first one is above it, or 2^64 - 1.
    pub fn reserve(
        &self,
        engine: &Engine,
        count: u64,
        increment: u64,
        offset: u64,
        max: u64,
    ) -> engine::Result<Option<u64>> {
        assert!(count > 0 && increment > 0);
        let mut next = self.next(engine)?; // the exchange below checks the guess
        loop {
            let first = align(next, increment, offset).filter(|first| *first <= max && *first < u64::MAX);
            let Some(first) = first else { return Ok(None) };
            // The next value of this step, also for who counts in another one afterwards, as in InnoDB.
            let after = first.saturating_add(count.saturating_mul(increment)).min(max);
            // Relaxed: only the counter itself is exchanged; see above.
            match self.next.compare_exchange_weak(next, after, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => {
                    self.cover(engine, after, max)?;
                    return Ok(Some(first));
                }
                Err(now) => next = now,
            }
        }
    }

    /// The value that [`AutoIncrement::reserve`] would hand out: for a table with one writer at a time, who [observes] it once its row is
    /// written. `None` as there.
    ///
    /// [observes]: AutoIncrement::observe
    pub fn peek(&self, engine: &Engine, increment: u64, offset: u64, max: u64) -> engine::Result<Option<u64>> {
        let next = align(self.next(engine)?, increment, offset);
        Ok(next.filter(|next| *next <= max && *next < u64::MAX))
    }

    /// A row with an explicit value, at most `max`, was inserted: values up to it are not handed out any more.
    pub fn observe(&self, engine: &Engine, value: u64, max: u64) -> engine::Result<()> {
        let after = value.saturating_add(1).min(max);
        // The load saves the write when the counter is ahead already.
        if self.next(engine)? < after {
            // Relaxed: as all exchanges of the counter.
            self.next.fetch_max(after, Ordering::Relaxed);
            self.cover(engine, after, max)?;
        }
        Ok(())
    }

    /// ALTER TABLE ... AUTO_INCREMENT: the caller has made sure that no row has `next` or a larger value.
    pub fn reset(&self, engine: &Engine, next: u64) -> engine::Result<()> {
        engine.set_counter(self.tree, next)?;
        // Relaxed: the table's gate is closed, no insert runs.
        self.persisted.store(next, Ordering::Relaxed);
        self.next.store(next, Ordering::Relaxed);
        Ok(())
    }

    /// Stores the exact value at a clean shutdown, where it is not what the tree has.
    pub fn save(&self, engine: &Engine) -> engine::Result<()> {
        // Relaxed: sessions have ended.
        let (next, stored) = (self.next.load(Ordering::Relaxed), self.persisted.load(Ordering::Relaxed));
        if next == stored { Ok(()) } else { engine.set_counter(self.tree, next) }
    }

    /// Makes sure that the persistent counter is at least `after`; it does not pass `max` for that.
    fn cover(&self, engine: &Engine, after: u64, max: u64) -> engine::Result<()> {
        // Relaxed: a value read too low only raises the ceiling once more.
        if after > self.persisted.load(Ordering::Relaxed) {
            let ceiling = after.saturating_add(BLOCK).min(max.max(after));
            engine.raise_counter(self.tree, ceiling)?;
            // Relaxed: the raise stands in the log already; who reads the old value raises again.
            self.persisted.fetch_max(ceiling, Ordering::Relaxed);
        }
        Ok(())
    }
}

/// The smallest `offset + k * increment` that is at least `next`. Of an offset above the increment no more counts than what is left
/// of it by the increment. (The manual says that MySQL ignores it; 9.7 does this, but for the first values of a table.)
fn align(next: u64, increment: u64, offset: u64) -> Option<u64> {
    let offset = (offset - 1) % increment + 1;
    if next <= offset {
        return Some(offset);
    }
    let steps = (next - offset).div_ceil(increment);
    steps.checked_mul(increment)?.checked_add(offset)
}

#[cfg(test)]
mod tests {
    use super::align;

    #[test]
    fn values_follow_increment_and_offset() {
        assert_eq!(align(1, 1, 1), Some(1));
        assert_eq!(align(7, 10, 5), Some(15));
        assert_eq!(align(15, 10, 5), Some(15));
        assert_eq!(align(16, 10, 5), Some(25));
        assert_eq!(align(1, 10, 5), Some(5));
        // offset > increment
        assert_eq!(align(3, 2, 9), Some(3));
        assert_eq!(align(42, 5, 30), Some(45));
        assert_eq!(align(15, 5, 7), Some(17));
        assert_eq!(align(u64::MAX, 2, 2), None);
    }
}
