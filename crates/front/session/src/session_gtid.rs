//! The number that a session has for its transaction.

use crate::Server;
use crate::gtids::{Next, Waits};
use binlog::Tracker;
use engine::Lsn;
use std::sync::Arc;
use types::gtid::Gtid;

/// What a session has to do with GTIDs.
#[derive(Default)]
pub(crate) struct SessionGtid {
    pub next: Next,
    /// While a change of `gtid_mode` has to wait for this session.
    pub counted: Option<Counted>,
    /// The commit that is on its way has this number.
    pub committing: Option<Gtid>,
    /// There when `session_track_gtids` is not OFF.
    pub tracker: Option<Tracker>,
    /// Where the commits of this statement end in the log, for who tracks.
    pub committed: Vec<Lsn>,
}

impl SessionGtid {
    pub fn holds(&self, waits: Waits) -> bool {
        self.counted.as_ref().is_some_and(|counted| counted.1 == waits)
    }

    /// Does the client want to hear the numbers of its commits?
    #[inline]
    pub fn tracks(&self) -> bool {
        self.tracker.is_some()
    }
}

/// A session that `gtid_mode` waits for, for as long as this lives.
pub(crate) struct Counted(Arc<Server>, Waits);

impl Counted {
    pub fn new(server: &Arc<Server>, waits: Waits) -> Counted {
        *server.gtids.numbers.lock().waiting(waits) += 1;
        Counted(Arc::clone(server), waits)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        *self.0.gtids.numbers.lock().waiting(self.1) -= 1;
    }
}
