//! Latency histograms with log-scale buckets, one set of cells per lane.
//!
//! ```text
//! value      bucket            width
//! 0..8       value             1
//! 8..16      8 + (v - 8)       1        eight buckets to each power of two from here on:
//! 16..32     16 + (v - 16)/2   2        a bucket is at most 12.5 % wide
//! ```

use crate::lane::{block, blocks, bump};
use std::sync::atomic::{AtomicU64, Ordering};

/// Buckets to a power of two, as a power of two.
const SUB_BITS: u32 = 3;
const SUB: u64 = 1 << SUB_BITS;
/// Values from 2^40 ns (18 minutes) on share the last bucket.
const TOP_BITS: u32 = 40;
const BUCKETS: usize = ((TOP_BITS - SUB_BITS + 1) << SUB_BITS) as usize;

/// What is timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(usize)]
pub enum Timer {
    /// A statement, from its last byte read to its reply written.
    Statement,
    /// A commit's wait for its log to be durable.
    CommitWait,
    /// One flush of the log file.
    LogFlush,
    /// One read of a page from disk.
    PageRead,
    /// One write of a batch of pages.
    PageWrite,
    /// A wait for a row lock.
    RowLockWait,
}

impl Timer {
    pub const ALL: &'static [Timer] =
        &[Timer::Statement, Timer::CommitWait, Timer::LogFlush, Timer::PageRead, Timer::PageWrite, Timer::RowLockWait];

    /// As metrics call it.
    pub const fn name(self) -> &'static str {
        match self {
            Timer::Statement => "statement",
            Timer::CommitWait => "commit_wait",
            Timer::LogFlush => "log_flush",
            Timer::PageRead => "page_read",
            Timer::PageWrite => "page_write",
            Timer::RowLockWait => "row_lock_wait",
        }
    }
}

/// One lane's cells of one timer.
pub(crate) struct Cells {
    sum_ns: AtomicU64,
    max_ns: AtomicU64,
    buckets: [AtomicU64; BUCKETS],
}

impl Default for Cells {
    fn default() -> Self {
        Cells { sum_ns: AtomicU64::new(0), max_ns: AtomicU64::new(0), buckets: [const { AtomicU64::new(0) }; BUCKETS] }
    }
}

fn bucket_of(ns: u64) -> usize {
    if ns < SUB {
        return ns as usize;
    }
    let power = ns.ilog2().min(TOP_BITS);
    if power >= TOP_BITS {
        return BUCKETS - 1;
    }
    // The highest bit says which group of eight, the next three bits which of the eight.
    let shift = power - SUB_BITS;
    ((u64::from(shift) + 1) * SUB + ((ns >> shift) - SUB)) as usize
}

/// The largest value of the bucket.
fn bucket_top(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    if bucket < SUB {
        return bucket;
    }
    let shift = bucket / SUB - 1;
    ((bucket % SUB + SUB + 1) << shift) - 1
}

/// Records one duration in this thread's lane.
#[inline]
pub fn record(timer: Timer, ns: u64) {
    let cells = &block().timers[timer as usize];
    bump(&cells.buckets[bucket_of(ns)], 1);
    bump(&cells.sum_ns, ns);
    // Relaxed: single writer, as in `bump`.
    if ns > cells.max_ns.load(Ordering::Relaxed) {
        cells.max_ns.store(ns, Ordering::Relaxed);
    }
}

/// The sum of a timer's cells over all lanes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram {
    buckets: Box<[u64]>,
    count: u64,
    sum_ns: u64,
    max_ns: u64,
}

/// Sums a timer over all lanes.
pub fn histogram(timer: Timer) -> Histogram {
    let mut sum = Histogram { buckets: vec![0; BUCKETS].into(), count: 0, sum_ns: 0, max_ns: 0 };
    for block in blocks() {
        let cells = &block.timers[timer as usize];
        // Relaxed: see `bump`; the words of one lane may be of slightly different moments.
        for (into, from) in sum.buckets.iter_mut().zip(&cells.buckets) {
            let n = from.load(Ordering::Relaxed);
            *into += n;
            sum.count += n;
        }
        sum.sum_ns = sum.sum_ns.wrapping_add(cells.sum_ns.load(Ordering::Relaxed));
        sum.max_ns = sum.max_ns.max(cells.max_ns.load(Ordering::Relaxed));
    }
    sum
}

impl Histogram {
    pub fn count(&self) -> u64 {
        self.count
    }

    pub fn sum_ns(&self) -> u64 {
        self.sum_ns
    }

    pub fn max_ns(&self) -> u64 {
        self.max_ns
    }

    /// The smallest bucket bound that at least the share `q` (0 to 1) of all values does not exceed; 0 when there are none.
    pub fn quantile_ns(&self, q: f64) -> u64 {
        assert!((0.0..=1.0).contains(&q), "a quantile is between 0 and 1, not {q}");
        let wanted = ((self.count as f64 * q).ceil() as u64).max(1);
        let mut seen = 0;
        for (bucket, n) in self.buckets.iter().enumerate() {
            seen += n;
            if seen >= wanted {
                return bucket_top(bucket).min(self.max_ns);
            }
        }
        0
    }

    /// Pairs of (largest value, count) of the buckets that hold something.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.buckets.iter().enumerate().filter(|(_, n)| **n > 0).map(|(bucket, n)| (bucket_top(bucket), *n))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_lies_in_its_bucket_and_buckets_join_without_gap() {
        for bucket in 1..BUCKETS {
            let low = bucket_top(bucket - 1) + 1;
            assert_eq!(bucket_of(low), bucket, "low end {low}");
            assert_eq!(bucket_of(bucket_top(bucket)), bucket, "high end {}", bucket_top(bucket));
        }
        assert_eq!(bucket_of(u64::MAX), BUCKETS - 1);
    }

    #[test]
    fn quantiles_come_within_an_eighth() {
        for ns in 1..=1000 {
            record(Timer::PageWrite, ns * 1000);
        }
        let h = histogram(Timer::PageWrite);
        assert_eq!(h.count(), 1000);
        assert_eq!(h.max_ns(), 1_000_000);
        let p95 = h.quantile_ns(0.95) as f64;
        assert!((950_000.0..=950_000.0 * 1.125).contains(&p95), "{p95}");
        assert_eq!(h.quantile_ns(1.0), 1_000_000);
    }
}
