//! How long statements take, in MySQL's 450 buckets.
//!
//! The first ends at 10 microseconds, each further one at 10^(1/50) times the end of the one before; the last one has no end.

use crate::lane::bump;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Buckets of a latency histogram.
pub const BUCKETS: usize = 450;
/// 10^(1/50)
const FACTOR: f64 = 1.0471285480508996;
const FIRST_END_PS: f64 = 10_000_000.0;

/// Where each bucket ends, in picoseconds: what takes less is in it.
pub static BUCKET_ENDS_PS: [u64; BUCKETS] = {
    let mut ends = [u64::MAX; BUCKETS];
    let (mut end, mut at) = (FIRST_END_PS, 0);
    while at < BUCKETS - 1 {
        ends[at] = end as u64;
        end *= FACTOR;
        at += 1;
    }
    ends
};

/// Bits behind the highest one that choose where the search begins: a step is less than a bucket.
const STEP_BITS: u32 = 5;
const STEPS: usize = 1 << STEP_BITS;

/// By the highest bit of a time in picoseconds and the five behind it, the first bucket that such a time can be in.
static FIRST_BUCKET: [[u16; STEPS]; 64] = {
    let mut first = [[0; STEPS]; 64];
    let (mut high, mut bucket) = (STEP_BITS as usize, 0);
    while high < first.len() {
        let mut step = 0;
        while step < STEPS {
            let least = 1 << high | (step as u64) << (high - STEP_BITS as usize);
            while BUCKET_ENDS_PS[bucket] <= least && bucket < BUCKETS - 1 {
                bucket += 1;
            }
            first[high][step] = bucket as u16;
            step += 1;
        }
        high += 1;
    }
    first
};

/// The bucket of a time.
#[inline]
pub fn bucket_of(ns: u64) -> usize {
    let ps = ns.saturating_mul(1000);
    if ps < BUCKET_ENDS_PS[0] {
        return 0;
    }
    let high = ps.ilog2();
    let step = (ps >> (high - STEP_BITS)) as usize % STEPS;
    let bucket = usize::from(FIRST_BUCKET[high as usize][step]);
    // The next one at most: a step ends before a second bucket does.
    bucket + usize::from(BUCKET_ENDS_PS[bucket] <= ps && bucket < BUCKETS - 1)
}

/// Counts by bucket, as read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Latencies(Box<[u64; BUCKETS]>);

impl Default for Latencies {
    fn default() -> Latencies {
        Latencies(Box::new([0; BUCKETS]))
    }
}

impl Latencies {
    /// All counts.
    pub fn counts(&self) -> &[u64; BUCKETS] {
        &self.0
    }

    /// All that was counted.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// The end of the bucket in which so many of 1,000 have ended, in picoseconds; 0 of nothing.
    pub fn quantile_ps(&self, thousandths: u64) -> u64 {
        let total = self.total();
        if total == 0 {
            return 0;
        }
        let wanted = (total * thousandths).div_ceil(1000);
        let mut below = 0;
        for (count, end) in self.0.iter().zip(&BUCKET_ENDS_PS) {
            below += count;
            if below >= wanted {
                return *end;
            }
        }
        u64::MAX
    }
}

/// Buckets of a group, made when one of them is first counted in.
const GROUP: usize = 16;
const GROUPS: usize = BUCKETS.div_ceil(GROUP);

/// On lines of its own: what lies beside it may be another lane's.
#[derive(Default)]
#[repr(align(64))]
struct Group([AtomicU64; GROUP]);

/// Counts by bucket of one writer, of an epoch: those of another one are zero.
pub(crate) struct LatencyCells {
    epoch: AtomicU32,
    groups: [OnceLock<Box<Group>>; GROUPS],
}

impl Default for LatencyCells {
    fn default() -> LatencyCells {
        LatencyCells { epoch: AtomicU32::new(0), groups: [const { OnceLock::new() }; GROUPS] }
    }
}

impl LatencyCells {
    /// Counts one. For the one writer.
    #[inline]
    pub fn add(&self, epoch: u32, bucket: usize) {
        // Relaxed: single writer.
        if self.epoch.load(Ordering::Relaxed) != epoch {
            self.begin_anew(epoch);
        }
        let group = self.groups[bucket / GROUP].get_or_init(Box::default);
        bump(&group.0[bucket % GROUP], 1);
    }

    #[cold]
    fn begin_anew(&self, epoch: u32) {
        for cell in self.groups.iter().filter_map(OnceLock::get).flat_map(|group| group.0.iter()) {
            // Relaxed: single writer.
            cell.store(0, Ordering::Relaxed);
        }
        // Release: pairs with Acquire in `read`: who sees the epoch sees that the counts began anew.
        self.epoch.store(epoch, Ordering::Release);
    }

    /// Adds the counts to those of others.
    pub fn read(&self, epoch: u32, latencies: &mut Latencies) {
        // Acquire: pairs with Release in `begin_anew`.
        if self.epoch.load(Ordering::Acquire) != epoch {
            return;
        }
        for (group, sums) in self.groups.iter().zip(latencies.0.chunks_mut(GROUP)) {
            for (cell, sum) in group.get().into_iter().flat_map(|group| group.0.iter()).zip(sums) {
                // Relaxed: see `bump`.
                *sum += cell.load(Ordering::Relaxed);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_mysqls() {
        assert_eq!(BUCKET_ENDS_PS[..3], [10_000_000, 10_471_285, 10_964_781]);
        assert_eq!(BUCKET_ENDS_PS[50], 100_000_000);
        assert_eq!(BUCKET_ENDS_PS[213], 181_970_085_861);
        assert_eq!(BUCKET_ENDS_PS[448], 9_120_108_393_559_408);
        assert_eq!(BUCKET_ENDS_PS[449], u64::MAX);
    }

    #[test]
    fn a_time_is_in_the_bucket_that_ends_behind_it() {
        let near = BUCKET_ENDS_PS.iter().flat_map(|end| (0..3).map(move |n| (end / 1000).saturating_sub(1) + n));
        for ns in near.chain([0, 1, 9_999, 10_000, 1 << 40, u64::MAX / 1000, u64::MAX]) {
            let ps = ns.saturating_mul(1000);
            let want = BUCKET_ENDS_PS.iter().position(|end| ps < *end).unwrap_or(BUCKETS - 1);
            assert_eq!(bucket_of(ns), want, "{ns} ns");
        }
    }

    #[test]
    fn quantiles_are_ends_of_buckets() {
        let cells = LatencyCells::default();
        (0..95).for_each(|_| cells.add(1, 3));
        (0..5).for_each(|_| cells.add(1, 449));
        let mut latencies = Latencies::default();
        cells.read(1, &mut latencies);
        assert_eq!((latencies.total(), latencies.counts()[3]), (100, 95));
        assert_eq!(latencies.quantile_ps(950), BUCKET_ENDS_PS[3]);
        assert_eq!(latencies.quantile_ps(990), u64::MAX);
        assert_eq!(Latencies::default().quantile_ps(950), 0);
        let mut later = Latencies::default();
        cells.read(2, &mut later);
        assert_eq!(later.total(), 0);
    }
}
