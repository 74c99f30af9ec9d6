//! TRUNCATE of tables that show events. Nobody's records are touched: events that ended before it are not shown any more.

use crate::clock::now_ns;
use std::sync::atomic::{AtomicU64, Ordering};

/// The events of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Events {
    Statements,
    Transactions,
    Stages,
    Waits,
}

/// Until when events do not count, in nanoseconds since the server began: those that are current, and those that are kept.
/// W: TRUNCATE. R: readers.
static FORGOTTEN_NS: [[AtomicU64; 2]; 4] = [const { [const { AtomicU64::new(0) }; 2] }; 4];

/// What is over is not shown any more, in the table of current events or in those of the history.
pub fn forget(events: Events, history: bool) {
    // Relaxed: a reader goes by what it finds.
    FORGOTTEN_NS[events as usize][usize::from(history)].store(now_ns(), Ordering::Relaxed);
}

/// Is an event shown that ended at this time? `None`: it is going on, or nobody knows.
pub fn is_shown(events: Events, history: bool, ended_ns: Option<u64>) -> bool {
    // Relaxed: see `forget`.
    let forgotten_ns = FORGOTTEN_NS[events as usize][usize::from(history)].load(Ordering::Relaxed);
    ended_ns.is_none_or(|ended_ns| ended_ns >= forgotten_ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_over_is_forgotten() {
        let before = Some(now_ns());
        assert!(is_shown(Events::Stages, true, before));
        forget(Events::Stages, true);
        assert!(!is_shown(Events::Stages, true, before));
        assert!(is_shown(Events::Stages, false, before));
        assert!(is_shown(Events::Stages, true, None));
        assert!(is_shown(Events::Stages, true, Some(now_ns())));
    }
}
