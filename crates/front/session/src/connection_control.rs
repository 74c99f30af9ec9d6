//! The plugin `CONNECTION_CONTROL`: after some failed logins in a row the next answers come late (manual, 8.4.2).

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use sync::{Mutex, Rank};

/// Accounts and names that are remembered at a time. Beyond that those with one failure are forgotten.
const FAILURES_MAX: usize = 100_000;

/// What its variables say.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Delays {
    /// So many failures are free; 0: all are.
    pub threshold: u64,
    pub min_ms: u64,
    pub max_ms: u64,
}

/// Failed logins in a row, by `'user'@'host'`: an account, or what a client without one called itself and where it is.
pub(crate) struct FailedLogins {
    failures: Mutex<HashMap<String, u64>>,
    /// `Connection_control_delay_generated`. W: logins that are delayed. R: SHOW STATUS.
    delayed: AtomicU64,
}

impl FailedLogins {
    pub fn new() -> FailedLogins {
        FailedLogins { failures: Mutex::new(Rank::Observe, HashMap::new()), delayed: AtomicU64::new(0) }
    }

    /// How long the answer to this attempt waits, whether it succeeds or not.
    pub fn delay(&self, name: &str, delays: Delays) -> Option<Duration> {
        let failures = self.failures.lock().get(name).copied().unwrap_or(0);
        if delays.threshold == 0 || failures < delays.threshold {
            return None;
        }
        // Relaxed: a figure for SHOW STATUS, it orders nothing.
        self.delayed.fetch_add(1, Ordering::Relaxed);
        let seconds = failures + 1 - delays.threshold;
        Some(Duration::from_millis(seconds.saturating_mul(1000).clamp(delays.min_ms, delays.max_ms.max(delays.min_ms))))
    }

    /// The attempt is over: a success forgives all failures.
    pub fn note(&self, name: &str, succeeded: bool) {
        let mut failures = self.failures.lock();
        if succeeded {
            failures.remove(name);
            return;
        }
        if failures.len() >= FAILURES_MAX && !failures.contains_key(name) {
            failures.retain(|_, count| *count > 1);
            if failures.len() >= FAILURES_MAX {
                return;
            }
        }
        *failures.entry(name.to_string()).or_insert(0) += 1;
    }

    /// The threshold was set anew, or the plugin goes.
    pub fn forget(&self) {
        self.failures.lock().clear();
        // Relaxed: as in `delay`.
        self.delayed.store(0, Ordering::Relaxed);
    }

    pub fn delayed(&self) -> u64 {
        // Relaxed: as in `delay`.
        self.delayed.load(Ordering::Relaxed)
    }

    pub fn list(&self) -> Vec<(String, u64)> {
        let mut all: Vec<_> = self.failures.lock().iter().map(|(name, count)| (name.clone(), *count)).collect();
        all.sort();
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_grow_with_failures_and_end_with_a_login() {
        let logins = FailedLogins::new();
        let delays = Delays { threshold: 2, min_ms: 1500, max_ms: 3000 };
        let name = "'joe'@'%'";
        let mut waited = Vec::new();
        for _ in 0..6 {
            waited.push(logins.delay(name, delays).map(|d| d.as_millis() as u64));
            logins.note(name, false);
        }
        assert_eq!(waited, [None, None, Some(1500), Some(2000), Some(3000), Some(3000)]);
        assert_eq!((logins.list(), logins.delayed()), (vec![(name.to_string(), 6)], 4));
        assert_eq!(logins.delay("'ann'@'%'", delays), None);
        assert_eq!(logins.delay(name, Delays { threshold: 0, ..delays }), None);
        logins.note(name, true);
        assert_eq!(logins.delay(name, delays), None);
    }

    #[test]
    fn names_that_nobody_has_do_not_fill_the_memory() {
        let logins = FailedLogins::new();
        logins.note("'joe'@'%'", false);
        logins.note("'joe'@'%'", false);
        for i in 0..FAILURES_MAX + 10 {
            logins.note(&format!("'{i}'@'x'"), false);
        }
        let kept = logins.list();
        assert!(kept.len() < FAILURES_MAX && kept.contains(&("'joe'@'%'".to_string(), 2)));
    }
}
