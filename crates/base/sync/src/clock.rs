//! A monotonic clock that is a pure read: the time stamp counter where the processor keeps it steady, the vDSO elsewhere.
//!
//! No last value is stored anywhere: two threads that ask at once share nothing.

use fastant::{Anchor, Instant};
use std::sync::LazyLock;
use std::time::Duration;

/// Where the clock's scale begins. The anchor turns ticks into nanoseconds by one multiplication, where a difference of two
/// instants is a `Duration`, which divides them into seconds and multiplies them again.
struct Start {
    anchor: Anchor,
    /// What the anchor calls the moment of the start.
    ns: u64,
}

static START: LazyLock<Start> = LazyLock::new(|| {
    let anchor = Anchor::new();
    Start { anchor, ns: Instant::now().as_unix_nanos(&anchor) }
});

/// Nanoseconds since the process first asked. Monotonic for one thread and, as far as the hardware is, across threads.
#[inline]
pub fn now_ns() -> u64 {
    // Read the origin first: a first caller gets 0, not a negative time.
    let start = &*START;
    Instant::now().as_unix_nanos(&start.anchor).saturating_sub(start.ns)
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
