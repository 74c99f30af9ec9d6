//! The time of day.

use std::time::{SystemTime, UNIX_EPOCH};

/// Microseconds since 1970.
#[inline]
pub(crate) fn clock_us() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    since.as_secs() * 1_000_000 + u64::from(since.subsec_micros())
}
