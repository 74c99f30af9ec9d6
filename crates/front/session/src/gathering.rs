//! `binlog_group_commit_sync_delay` and `binlog_group_commit_sync_no_delay_count`: commits wait a little for others, so that one flush does
//! for more of them (manual, 19.1.6.4). Without a delay, which is the default, a commit pays one load.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use sync::waits::Wait;
use sync::{Condvar, Mutex, Rank};

/// Commits that have their place in the log and wait for others before they ask for its flush.
pub(crate) struct Gathering {
    /// W: SET GLOBAL. R: commits.
    delay_us: AtomicU64,
    count: AtomicU64,
    /// The group that gathers, and how many are in it.
    group: Mutex<(u64, u64)>,
    full: Condvar,
}

impl Default for Gathering {
    fn default() -> Gathering {
        Gathering {
            delay_us: AtomicU64::new(0),
            count: AtomicU64::new(0),
            group: Mutex::new(Rank::Session, (0, 0)),
            full: Condvar::new(),
        }
    }
}

impl Gathering {
    /// `count`: so many wait no longer; 0: all wait out the delay.
    pub fn set(&self, delay_us: u64, count: u64) {
        // Relaxed: settings for commits to come.
        self.delay_us.store(delay_us, Ordering::Relaxed);
        self.count.store(count, Ordering::Relaxed); // Relaxed: as above
    }

    /// When a commit that has its place in the log now need wait no longer; `None`: it need not wait.
    #[inline]
    pub fn until(&self) -> Option<Instant> {
        // Relaxed: a setting.
        match self.delay_us.load(Ordering::Relaxed) {
            0 => None,
            us => Some(Instant::now() + Duration::from_micros(us)),
        }
    }

    /// Waits for others. The first whose time is up, or whom the count makes the last one, goes with all that are there.
    #[cold]
    pub fn gather(&self, until: Instant) {
        let mut group = self.group.lock();
        let number = group.0;
        group.1 += 1;
        // Relaxed: a setting.
        let count = self.count.load(Ordering::Relaxed);
        let is_full = count != 0 && group.1 >= count;
        while !is_full && group.0 == number {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            self.full.wait_timeout(&mut group, left, Wait::BinlogGroup);
        }
        if group.0 == number {
            *group = (number + 1, 0);
            drop(group);
            self.full.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn a_full_group_goes_at_once_and_a_lonely_commit_after_its_delay() {
        let gathering = Arc::new(Gathering::default());
        assert_eq!(gathering.until(), None);
        gathering.set(60_000_000, 3);
        let until = gathering.until().unwrap();
        let threads: Vec<_> = (0..3)
            .map(|_| {
                let gathering = Arc::clone(&gathering);
                std::thread::spawn(move || gathering.gather(until))
            })
            .collect();
        threads.into_iter().for_each(|t| t.join().unwrap());
        assert!(until > Instant::now() + Duration::from_secs(30), "nobody waited out the minute");
        gathering.set(20_000, 3);
        let began = Instant::now();
        gathering.gather(gathering.until().unwrap());
        assert!(began.elapsed() >= Duration::from_millis(20));
    }
}
