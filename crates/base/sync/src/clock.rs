//! A monotonic clock that is a pure read: the time stamp counter where the processor keeps it steady, the vDSO elsewhere.
//!
//! No last value is stored anywhere: two threads that ask at once share nothing.

use fastant::Instant;
use std::sync::LazyLock;
use std::time::Duration;

static START: LazyLock<Instant> = LazyLock::new(Instant::now);

/// Nanoseconds since the process first asked. Monotonic for one thread and, as far as the hardware is, across threads.
#[inline]
pub fn now_ns() -> u64 {
    // Read the origin first: a first caller gets 0, not a negative time.
    let start = *START;
    u64::try_from(Instant::now().saturating_duration_since(start).as_nanos()).unwrap_or(u64::MAX)
}

/// Time since `start_ns`, which came from [`now_ns`].
#[inline]
pub fn since(start_ns: u64) -> Duration {
    Duration::from_nanos(now_ns().saturating_sub(start_ns))
}

/// The process has begun: times count from here.
pub fn start() {
    LazyLock::force(&START);
}

/// Whole seconds since [`start`]: `SHOW GLOBAL STATUS LIKE 'Uptime'`.
pub fn uptime_s() -> u64 {
    now_ns() / 1_000_000_000
}
