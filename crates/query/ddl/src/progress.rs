//! How far the work over all rows of a table is: for PROCESSLIST and `performance_schema.events_stages_current`.

use catalog::Table;
use expr::{Stage, Teller};
use run::Run;
use std::sync::atomic::{AtomicU64, Ordering};

/// How many rows there are between two tellings.
const EVERY: usize = 1024;

/// Rows done, of about so many, by all threads that work for the statement.
pub(crate) struct Progress {
    done: AtomicU64,
    estimate: u64,
    teller: Option<Teller>,
}

impl Progress {
    /// The session goes on to a stage that passes the rows of `table` once.
    pub fn begin(run: &Run<'_>, stage: Stage, table: &Table) -> Progress {
        let env = run.env.borrow();
        env.stage(stage);
        // Without an estimate nothing is told.
        let estimate = env.engine().estimate(table.indexes[0].tree).map_or(0, |(rows, _)| rows);
        let teller = env.teller().filter(|_| estimate > 0);
        Progress { done: AtomicU64::new(0), estimate, teller }
    }

    /// A thread has done `rows` so far, one more than when it called last.
    #[inline]
    pub fn step(&self, rows: usize) {
        if rows > 0 && rows.is_multiple_of(EVERY) {
            self.tell();
        }
    }

    #[cold]
    fn tell(&self) {
        // Relaxed: a sum, with which nothing else is published.
        let done = self.done.fetch_add(EVERY as u64, Ordering::Relaxed) + EVERY as u64;
        if let Some(tell) = &self.teller {
            tell(done, self.estimate.max(done));
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(tell) = &self.teller {
            tell(0, 0);
        }
    }
}
