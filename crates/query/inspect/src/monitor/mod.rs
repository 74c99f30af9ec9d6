//! What monitors of the storage engine ask for: SHOW ENGINE INNODB STATUS, and what the server remembers from one report to the next.

mod locks;
pub(crate) mod metrics;
mod status;
mod table;

pub(crate) use locks::local_time;
pub use locks::{deadlock_report, thread_line};
pub use metrics::{Order, named};
pub use status::innodb_status;

use observe::Counter;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;
use sync::{Mutex, Rank};
use types::SqlError;

/// The transaction that met a foreign key last.
#[derive(Clone, Debug)]
pub struct KeyError {
    pub at: SystemTime,
    /// The connection.
    pub thread: u64,
    pub trx: u64,
    pub slot: u32,
    pub began_us: u64,
    /// Rows and entries that it had changed.
    pub work: u64,
    /// Who it is and what it runs: [`thread_line`] and the statement.
    pub session: String,
    /// 1451 or 1452, which names table and constraint.
    pub error: SqlError,
}

/// The counters that a report tells rates of, as they stood.
#[derive(Clone, Debug, Default)]
struct Past {
    at_ns: u64,
    counts: HashMap<String, u64>,
}

/// What a server remembers between reports.
pub struct Monitor {
    /// W: who reads the process list. R: SHOW STATUS.
    processlist_read_us: AtomicU64,
    /// W, R: who asks for a report.
    past: Mutex<Past>,
    /// W: statements that fail by a foreign key. R: reports.
    key_error: Mutex<Option<KeyError>>,
    /// W, R: SET of `innodb_monitor_*`, who reads INNODB_METRICS.
    metrics: Mutex<metrics::States>,
}

impl Default for Monitor {
    fn default() -> Monitor {
        Monitor {
            processlist_read_us: AtomicU64::new(0),
            past: Mutex::new(Rank::Observe, Past::default()),
            key_error: Mutex::new(Rank::Observe, None),
            metrics: Mutex::new(Rank::Observe, metrics::States::default()),
        }
    }
}

impl Monitor {
    /// The process list that is deprecated was read.
    pub(crate) fn note_processlist(&self) {
        observe::increment(Counter::DeprecatedProcesslist);
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        // Relaxed: a figure to show.
        self.processlist_read_us.store(now.as_micros() as u64, Ordering::Relaxed);
    }

    /// When that was, in microseconds since 1970; 0: never.
    pub fn processlist_read_us(&self) -> u64 {
        // Relaxed: a figure to show.
        self.processlist_read_us.load(Ordering::Relaxed)
    }

    /// A statement ended so. Where another session is at the same, its error is as late as this one.
    #[cold]
    pub fn note_key_error(&self, make: impl FnOnce() -> KeyError) {
        let error = make();
        if let Some(mut last) = self.key_error.try_lock() {
            *last = Some(error);
        }
    }
}
