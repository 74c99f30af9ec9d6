//! What the poller, those at the doors and the workers share.

use crate::crew::Crew;
use crate::pool::{Job, Pool};
use crate::proxy::Network;
use crate::slots::Slots;
use crate::task::Task;
use protocol::Service;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::time::Duration;
use sync::Lanes;

/// Connections of administrators above `max_connections` and the one reserved there.
pub const ADMINISTRATORS_MAX: usize = 1000;

/// What the poller thread and the workers share.
pub struct Shared<S: Service> {
    pub service: Arc<S>,
    pub slots: Slots<S>,
    pub pool: Pool<S>,
    pub crew: Crew<S>,
    pub park_after: Duration,
    pub proxies: Vec<Network>,
    /// W: each worker its own lane, around each command. R: the gauge Threads_running.
    pub running: Lanes<AtomicBool>,
    /// W: whoever accepts, workers at close. R: whoever accepts, gauges.
    pub connected: AtomicUsize,
    /// Workers that wait in `accept`. W: those. R: the gauge Threads_cached.
    pub at_doors: AtomicUsize,
    pub at_doors_max: usize,
    /// The next connection's id. W: whoever accepts.
    pub next_id: AtomicU32,
    /// Most connections at once. W: whoever accepts.
    pub most_connected: AtomicUsize,
    /// When that was, in seconds since 1970.
    pub most_connected_s: AtomicUsize,
    /// W: SET GLOBAL. R: whoever accepts.
    pub max_connections: AtomicUsize,
    /// W: shutdown. R: poller thread, acceptors, and workers when a connection ends.
    pub stopping: AtomicBool,
}

impl<S: Service> Shared<S> {
    /// As many workers as there may be statements that sleep, and a leader for each group.
    pub fn set_max_workers(&self, max_connections: usize) {
        self.pool.set_max_workers(max_connections + 1 + ADMINISTRATORS_MAX + self.crew.groups());
    }

    /// A connection is over, and another may take its place at once; its slot is freed then or a moment later, and slots do not bound
    /// connections.
    pub fn gone(&self) {
        // Release: pairs with Acquire in `doors::admit`.
        self.connected.fetch_sub(1, Ordering::Release);
    }

    /// A connection becomes active: a worker serves it.
    pub fn activate(self: &Arc<Self>, task: Box<Task<S>>) {
        self.crew.one_more();
        self.pool.hand_over(self, Job::Serve(task));
    }
}
