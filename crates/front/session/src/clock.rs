//! The time of day.

use rustix::time::{ClockId, clock_gettime};

/// Microseconds since 1970.
#[inline]
pub(crate) fn clock_us() -> u64 {
    // Straight from the kernel's page: a difference of two SystemTimes takes twice as long.
    let now = clock_gettime(ClockId::Realtime);
    let nanoseconds = u64::try_from(now.tv_nsec).unwrap_or_default();
    u64::try_from(now.tv_sec).unwrap_or_default() * 1_000_000 + nanoseconds / 1000
}
