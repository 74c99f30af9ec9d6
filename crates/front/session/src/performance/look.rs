//! What a session had counted when a statement began that is part of another one.

use io::Usage;
use observe::clock::now_ns;
use observe::setup::{self, Consumer};
use observe::{Counter, Figure};

/// Counters that few statements touch, with their figures.
pub(super) const RARE_FIGURES: [(Counter, Figure); 9] = [
    (Counter::CreatedTmpDiskTables, Figure::CreatedTmpDiskTables),
    (Counter::CreatedTmpTables, Figure::CreatedTmpTables),
    (Counter::SelectFullJoin, Figure::SelectFullJoin),
    (Counter::SelectFullRangeJoin, Figure::SelectFullRangeJoin),
    (Counter::SelectRange, Figure::SelectRange),
    (Counter::SelectScan, Figure::SelectScan),
    (Counter::SortMergePasses, Figure::SortMergePasses),
    (Counter::SortRows, Figure::SortRows),
    (Counter::SortScan, Figure::SortScan),
];

/// What a session had counted when a statement of a program began.
pub(crate) struct Look {
    pub(super) began_ns: u64,
    pub(super) cpu_us: Option<u64>,
    pub(super) rare: [u64; RARE_FIGURES.len()],
    pub(super) lock_ms: u64,
    pub(super) read: u64,
    pub(super) sent: u64,
}

impl Look {
    /// By a count of each counter, and of rows that were sent.
    pub fn new(count: impl Fn(Counter) -> u64, sent: u64) -> Look {
        Look {
            began_ns: now_ns(),
            cpu_us: cpu_us(),
            rare: RARE_FIGURES.map(|(counter, _)| count(counter)),
            lock_ms: count(Counter::InnodbRowLockTime),
            read: count(Counter::InnodbRowsRead),
            sent,
        }
    }

    /// By what the thread has counted, which is the session's while its statement runs.
    pub fn of_lane() -> Look {
        let lane = observe::lane();
        Look::new(|counter| lane.get(counter), 0)
    }

    /// From another look to this one.
    pub(super) fn since_ns(&self, began: &Look) -> u64 {
        self.began_ns.saturating_sub(began.began_ns)
    }

    /// Since then.
    pub(super) fn elapsed_ns(&self) -> u64 {
        now_ns().saturating_sub(self.began_ns)
    }
}

/// A statement of a program that runs.
pub(crate) struct Nested {
    pub(super) event_id: u64,
    /// [`super::Lane::statement`] of the one that it is in.
    pub(super) outer: u64,
    pub(super) began_us: u64,
    pub(super) look: Look,
}

/// Processor time of the calling thread in microseconds, with `events_statements_cpu`.
#[inline]
pub(super) fn cpu_us() -> Option<u64> {
    setup::consumers().has(Consumer::StatementsCpu).then(cpu_us_now)
}

#[cold]
fn cpu_us_now() -> u64 {
    let used = Usage::of_thread();
    used.user_us + used.system_us
}

/// Nanoseconds of it since then; 0: it was not wanted then, or is not now.
pub(super) fn cpu_ns_since(began_us: u64) -> u64 {
    cpu_us().map_or(0, |now_us| now_us.saturating_sub(began_us) * 1000)
}
