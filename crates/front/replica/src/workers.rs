//! What is told of a channel's workers.

use crate::config::Position;
use crate::progress::{LastError, Progress};
use crate::schedule::Job;
use std::sync::Arc;
use sync::{Mutex, Rank};
use types::SqlError;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkerStatus {
    pub id: u64,
    /// The number of its session.
    pub session: u32,
    pub running: bool,
    pub error: LastError,
    pub applied: Progress,
    pub applying: Progress,
}

/// Where a worker tells.
#[derive(Clone)]
pub(crate) struct Report {
    status: Arc<Mutex<WorkerStatus>>,
    /// Whose error it is that ends it.
    shown: Arc<Mutex<WorkerStatus>>,
}

impl Report {
    pub fn new(id: u64) -> Report {
        let status = WorkerStatus { id, running: true, ..WorkerStatus::default() };
        let status = Arc::new(Mutex::new(Rank::Replication, status));
        Report { shown: Arc::clone(&status), status }
    }

    /// Of a thread beside the workers: nothing is shown of it but an error, as this worker's.
    pub fn spare(&self) -> Report {
        Report { status: Report::new(self.get().id).status, shown: Arc::clone(&self.shown) }
    }

    pub fn get(&self) -> WorkerStatus {
        self.status.lock().clone()
    }

    /// What is shown of the error that has ended it.
    pub fn error(&self) -> String {
        self.shown.lock().error.text.clone()
    }

    pub fn stopped(&self) {
        let mut status = self.status.lock();
        (status.running, status.session) = (false, 0);
    }

    /// `session`: the number of the session that the transaction is made in.
    pub fn begins(&self, job: &Job, session: u32) {
        let mut status = self.status.lock();
        (status.applying, status.session) = (Progress::of(&job.origin.head), session);
    }

    pub fn applying(&self) -> Progress {
        self.status.lock().applying.clone()
    }

    /// The transaction at hand waits for its turn, and the worker goes on with another one.
    pub fn parks(&self) {
        self.status.lock().applying = Progress::default();
    }

    /// A transaction that waited is at hand.
    pub fn goes_on(&self, progress: Progress) {
        self.status.lock().applying = progress;
    }

    pub fn retries(&self, e: &SqlError) {
        let mut status = self.status.lock();
        status.applying.retries += 1;
        status.applying.transient = LastError::now(e);
    }

    /// `applied`: it is committed.
    pub fn ends(&self, applied: bool) {
        let mut status = self.status.lock();
        let ended = status.applying.end();
        if applied {
            status.applied = ended;
        }
    }

    /// Returns what is told of the channel; the worker's own words are in its status.
    pub fn fails(&self, at: &Position, e: &SqlError) -> SqlError {
        let status = self.status.lock();
        let failed = format!(
            "Worker {} failed executing transaction '{}' at source log {}, end_log_pos {}",
            status.id,
            status.applying.name(),
            at.file,
            at.offset
        );
        drop(status);
        self.shown.lock().error = LastError { text: format!("{failed}; {}", e.message), ..LastError::now(e) };
        SqlError::new(
            e.code,
            format!(
                "Coordinator stopped because there were error(s) in the worker(s). The most recent failure being: \
                 {failed}. See error \
                 log and/or performance_schema.replication_applier_status_by_worker table for more details about this \
                 failure or \
                 others, if any."
            ),
        )
    }
}
