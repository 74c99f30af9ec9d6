//! A worker thread: serves one connection until it falls idle or ends, then the next.

use crate::pool::Pool;
use crate::slots::{Parked, Slots};
use observe::Counter;
use protocol::{ClosedBy, Connection, Next, ReadOutcome, Service};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use sync::{Lanes, Parker};

/// One connection with its session, wherever it is.
pub struct Task<S: Service> {
    pub conn: Connection,
    pub session: S::Session,
    pub slot: usize,
    /// The socket is in the poller.
    pub registered: bool,
    pub stage: Stage,
    /// What of the connection's byte counts has been added to the status.
    pub counted: (u64, u64),
}

/// What a worker does first with a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    Greet,
    Serve,
    /// Nothing more is read.
    Close(ClosedBy),
}

/// What the poller thread and the workers share.
pub struct Shared<S: Service> {
    pub service: Arc<S>,
    pub slots: Slots<S>,
    pub pool: Pool<S>,
    pub park_after: Duration,
    /// W: each worker its own lane, around each command. R: the gauge Threads_running.
    pub running: Lanes<AtomicBool>,
    /// W: poller thread at accept, workers at close. R: poller thread at accept, gauges.
    pub connected: AtomicUsize,
    /// Most connections at once. W: poller thread.
    pub most_connected: AtomicUsize,
    /// W: SET GLOBAL. R: poller thread at accept.
    pub max_connections: AtomicUsize,
    /// W: shutdown. R: poller thread, and workers when a connection ends.
    pub stopping: AtomicBool,
}

/// Ends the process when a worker panics: an invariant is broken, perhaps with a page latched. Recovery is the safe way on.
struct AbortOnPanic;

impl Drop for AbortOnPanic {
    fn drop(&mut self) {
        if std::thread::panicking() {
            std::process::abort();
        }
    }
}

/// The worker thread's whole life.
pub fn run<S: Service>(shared: &Arc<Shared<S>>) {
    let _guard = AbortOnPanic;
    let lane = shared.running.claim();
    let mut parker = Parker::new();
    while let Some(mut task) = shared.pool.next(&mut parker) {
        shared.service.resume(&mut task.session);
        let running = lane.map(|lane| shared.running.get(lane));
        match serve(shared, &mut task, running) {
            Some(by) => finish(shared, task, by),
            None => park(shared, task),
        }
    }
    if let Some(lane) = lane {
        shared.running.release(lane);
    }
}

/// Serves until the connection is idle (`None`) or over.
fn serve<S: Service>(shared: &Shared<S>, task: &mut Task<S>, running: Option<&AtomicBool>) -> Option<ClosedBy> {
    // Relaxed: a figure for SHOW STATUS, it orders nothing.
    let mark = |on: bool| running.into_iter().for_each(|r| r.store(on, Ordering::Relaxed));
    match task.stage {
        Stage::Serve => {}
        Stage::Close(by) => {
            if by == ClosedBy::IdleTimeout {
                // The client may be gone: then nobody is there to be told.
                let _ = task.conn.output().error(&protocol::idle_for_too_long());
            }
            return Some(by);
        }
        Stage::Greet => {
            mark(true);
            let next = shared.service.greet(&mut task.session, &mut task.conn);
            mark(false);
            let flushed = task.conn.output().flush();
            count_bytes(task);
            if next == Next::Close {
                return Some(ClosedBy::Service);
            }
            if flushed.is_err() {
                return Some(ClosedBy::Client);
            }
            task.stage = Stage::Serve;
        }
    }
    loop {
        match task.conn.read_packet(Some(shared.park_after)) {
            ReadOutcome::Packet => {
                mark(true);
                let next = shared.service.serve(&mut task.session, &mut task.conn);
                let flushed = task.conn.output().flush();
                mark(false);
                count_bytes(task);
                if next == Next::Close {
                    return Some(ClosedBy::Service);
                }
                if flushed.is_err() {
                    return Some(ClosedBy::Client);
                }
            }
            ReadOutcome::Idle => return None,
            ReadOutcome::Closed | ReadOutcome::Broken => return Some(ClosedBy::Client),
            outcome @ (ReadOutcome::TooLarge | ReadOutcome::OutOfOrder | ReadOutcome::TimedOut) => {
                if let Some(error) = Connection::read_error(outcome) {
                    // The connection ends whether the client hears it or not.
                    let _ = task.conn.output().error(&error);
                }
                return Some(ClosedBy::ProtocolError);
            }
        }
    }
}

/// Adds what the connection has read and written since the last call to this thread's lane.
#[inline]
fn count_bytes<S: Service>(task: &mut Task<S>) {
    let now = (task.conn.bytes_received(), task.conn.bytes_sent());
    observe::add(Counter::BytesReceived, now.0 - task.counted.0);
    observe::add(Counter::BytesSent, now.1 - task.counted.1);
    task.counted = now;
}

fn park<S: Service>(shared: &Shared<S>, mut task: Box<Task<S>>) {
    shared.service.pause(&mut task.session);
    task.conn.release_buffers();
    let deadline = Instant::now().checked_add(shared.service.idle_limit(&task.session));
    match shared.slots.park(task, deadline) {
        Parked::Yes => {}
        Parked::Stopping(task) => end(shared, task, ClosedBy::Shutdown),
        Parked::Failed(task) => {
            observe::increment(Counter::ConnectionErrorsSelect);
            end(shared, task, ClosedBy::Client);
        }
    }
}

fn finish<S: Service>(shared: &Shared<S>, mut task: Box<Task<S>>, by: ClosedBy) {
    // What is still buffered is for a client that may be gone already.
    let _ = task.conn.output().flush();
    count_bytes(&mut task);
    shared.service.pause(&mut task.session);
    end(shared, task, by);
}

/// The only place where a connection is dropped once it has a slot.
fn end<S: Service>(shared: &Shared<S>, task: Box<Task<S>>, by: ClosedBy) {
    // Relaxed: only which word goes to the log depends on it.
    let stopping = shared.stopping.load(Ordering::Relaxed);
    let by = if by == ClosedBy::Client && stopping { ClosedBy::Shutdown } else { by };
    task.conn.stream().shutdown();
    // Release: pairs with Acquire in `Poller thread::accept`, which may take the place at once; the slot below is freed by
    // then or a moment later, and slots do not bound connections.
    shared.connected.fetch_sub(1, Ordering::Release);
    shared.slots.close(&task);
    let Task { conn, session, .. } = *task;
    drop(conn);
    shared.service.close(session, by);
}
