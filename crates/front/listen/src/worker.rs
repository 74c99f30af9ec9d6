//! A worker thread: serves one connection until it falls idle or ends, or leads a group of the crew; then the next job.

use crate::crew::{Back, Joined, Turn};
use crate::doors::{self, Arrival};
use crate::pool::Job;
use crate::proxy::client_of;
use crate::shared::Shared;
use crate::slots::Parked;
use crate::task::{Stage, Task};
use observe::Counter;
use protocol::{ClosedBy, Connection, Next, ReadOutcome, Service};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use sync::{Parker, blocking};

/// Ends the process when a worker panics: an invariant is broken, perhaps with a page latched. Recovery is the safe way on.
struct AbortOnPanic;

impl Drop for AbortOnPanic {
    fn drop(&mut self) {
        if std::thread::panicking() {
            std::process::abort();
        }
    }
}

/// Why a connection is not served by this thread any more, for now or for good.
enum Left {
    /// It has sent nothing for a while, or nothing yet.
    Idle,
    /// It has been served, and would do better the other way: in the crew, or with a thread of its own.
    Elsewhere,
    /// It has an answer that may not leave yet.
    Unsettled,
    Over(ClosedBy),
}

/// The worker thread's whole life.
pub fn run<S: Service>(shared: &Arc<Shared<S>>) {
    let _guard = AbortOnPanic;
    let lane = shared.running.claim();
    let running = lane.map(|lane| shared.running.get(lane));
    let mut parker = Parker::new();
    while let Some(job) = shared.pool.next(&mut parker) {
        match job {
            Job::Greet(arrival) => greet(shared, arrival, running),
            Job::Serve(task) => {
                serve_one(shared, task, running);
            }
            Job::Lead { group, term } => lead(shared, group, term, running),
        }
    }
    if let Some(lane) = lane {
        shared.running.release(lane);
    }
}

/// Serves a connection that has just come. Where it ends soon, others may come the same way: then this thread lets them in itself.
fn greet<S: Service>(shared: &Arc<Shared<S>>, arrival: Arrival, running: Option<&AtomicBool>) {
    let mut next = Some(arrival);
    while let Some(arrival) = next {
        let entrance = Arc::clone(&arrival.entrance);
        let Some(task) = open(shared, arrival) else { return };
        let ended = serve_one(shared, task, running);
        next = if ended { doors::next(shared, &entrance) } else { None };
    }
}

/// The connection and its session, made by the thread that serves them first.
fn open<S: Service>(shared: &Shared<S>, arrival: Arrival) -> Option<Box<Task<S>>> {
    let Arrival { stream, peer, timeouts, slot, id, entrance, is_reserved } = arrival;
    let made = client_of(&stream, peer, &shared.proxies)
        .and_then(|peer| Connection::over(stream, peer, timeouts).map(|conn| (conn, peer)));
    let Ok((mut conn, peer)) = made else {
        observe::increment(Counter::ConnectionErrorsPeerAddress);
        shared.crew.one_less();
        shared.gone();
        shared.slots.close(slot, None);
        return None;
    };
    if entrance.is_administrative {
        conn.set_administrative();
    }
    if is_reserved {
        conn.set_reserved();
    }
    let session = shared.service.open(id, peer, conn.hang_up());
    let stage = Stage::Greet;
    Some(Box::new(Task {
        conn,
        session,
        slot,
        registered: false,
        stage,
        resumed: false,
        midway: false,
        counted: (0, 0),
    }))
}

/// Serves a connection that has become active, until it is no longer, or joins the crew. True: it has ended.
fn serve_one<S: Service>(shared: &Arc<Shared<S>>, mut task: Box<Task<S>>, running: Option<&AtomicBool>) -> bool {
    if !std::mem::replace(&mut task.resumed, true) {
        shared.service.resume(&mut task.session);
    }
    shared.service.enter(&mut task.session);
    let left = serve(shared, &mut task, running);
    task.midway = shared.service.is_midway(&task.session);
    shared.service.leave(&mut task.session);
    match left {
        Left::Idle => park(shared, task),
        Left::Elsewhere => join(shared, task),
        Left::Over(by) => {
            finish(shared, task, by);
            return true;
        }
        Left::Unsettled => unreachable!("with a thread of its own a connection is settled at once"),
    }
    false
}

/// Serves with blocking reads.
fn serve<S: Service>(shared: &Shared<S>, task: &mut Task<S>, running: Option<&AtomicBool>) -> Left {
    match task.stage {
        Stage::Serve => {}
        Stage::Close(by) => {
            if by == ClosedBy::IdleTimeout {
                // The client may be gone: then nobody is there to be told.
                let _ = task.conn.output().error(&protocol::idle_for_too_long());
            }
            return Left::Over(by);
        }
        Stage::Greet => {
            let next = ask(running, || shared.service.greet(&mut task.session, &mut task.conn));
            if let Some(by) = answer(shared, task, running, next) {
                return Left::Over(by);
            }
            task.stage = Stage::Serve;
        }
    }
    loop {
        if shared.crew.is_crowded() && !task.conn.has_more_input() {
            return Left::Elsewhere;
        }
        if let Some(left) = serve_packet(shared, task, running, shared.park_after) {
            return left;
        }
    }
}

/// Serves one command, if one comes within `patience`.
#[inline]
fn serve_packet<S: Service>(
    shared: &Shared<S>,
    task: &mut Task<S>,
    running: Option<&AtomicBool>,
    patience: Duration,
) -> Option<Left> {
    match task.conn.read_packet(Some(patience)) {
        ReadOutcome::Packet => {
            // Who does not wait for a command does not wait for a flush, either, unless another command is there.
            let keeps = patience.is_zero() && task.conn.is_drained();
            let next = ask(running, || shared.service.serve(&mut task.session, &mut task.conn));
            if next == Next::Settle && keeps {
                return Some(Left::Unsettled);
            }
            answer(shared, task, running, next).map(Left::Over)
        }
        ReadOutcome::Idle => Some(Left::Idle),
        ReadOutcome::Closed | ReadOutcome::Broken => Some(Left::Over(ClosedBy::Client)),
        outcome @ (ReadOutcome::TooLarge
        | ReadOutcome::OutOfOrder
        | ReadOutcome::NotCompressed
        | ReadOutcome::TimedOut) => {
            if let Some(error) = Connection::read_error(outcome) {
                // The connection ends whether the client hears it or not.
                let _ = task.conn.output().error(&error);
            }
            Some(Left::Over(ClosedBy::ProtocolError))
        }
    }
}

/// Has the service do its part.
#[inline]
fn ask(running: Option<&AtomicBool>, part: impl FnOnce() -> Next) -> Next {
    // Relaxed: a figure for SHOW STATUS, it orders nothing.
    let mark = |on: bool| running.into_iter().for_each(|r| r.store(on, Ordering::Relaxed));
    mark(true);
    let next = part();
    mark(false);
    next
}

/// Sends the answer, once it may leave. Why the connection is over, if it is.
#[inline]
fn answer<S: Service>(
    shared: &Shared<S>,
    task: &mut Task<S>,
    running: Option<&AtomicBool>,
    mut next: Next,
) -> Option<ClosedBy> {
    if next == Next::Settle {
        next = ask(running, || shared.service.settle(&mut task.session, &mut task.conn));
        assert!(next != Next::Settle, "what is settled is settled");
    }
    let flushed = task.conn.output().flush();
    count_bytes(task);
    if next == Next::Close {
        return Some(ClosedBy::Service);
    }
    flushed.is_err().then_some(ClosedBy::Client)
}

/// Leads a group of the crew, until another worker does or nobody is left in it.
fn lead<S: Service>(shared: &Arc<Shared<S>>, at: usize, term: u64, running: Option<&AtomicBool>) {
    let group = shared.crew.group(at);
    let for_action = Arc::clone(shared);
    blocking::before_blocking(Some(Box::new(move || {
        if let Some(term) = for_action.crew.group(at).depose(term) {
            for_action.pool.hand_over(&for_action, Job::Lead { group: at, term });
        }
    })));
    let (mut settler, mut back) = (false, Back::Nothing);
    loop {
        let (key, task, left) = match group.next(term, &mut settler, back) {
            Turn::Serve(key, mut task) => {
                let left = serve_ready(shared, &mut task, running);
                (key, task, left)
            }
            Turn::Settle(key, mut task) => {
                let left = settle(shared, &mut task, running);
                (key, task, left)
            }
            Turn::Wait { held_up } => {
                group.wait(shared.park_after, held_up).into_iter().for_each(|task| park(shared, task));
                back = Back::Nothing;
                continue;
            }
            Turn::Over => break,
        };
        back = match left {
            Left::Idle => Back::Answered(key, task),
            Left::Unsettled => Back::Unsettled(key, task),
            Left::Elsewhere => {
                group.leave(key, &task);
                shared.pool.hand_over(shared, Job::Serve(task));
                Back::Nothing
            }
            Left::Over(by) => {
                group.leave(key, &task);
                finish(shared, task, by);
                Back::Nothing
            }
        };
    }
    blocking::before_blocking(None);
}

/// Waits until the answer that was kept may leave, and sends it.
fn settle<S: Service>(shared: &Shared<S>, task: &mut Task<S>, running: Option<&AtomicBool>) -> Left {
    shared.service.enter(&mut task.session);
    let over = answer(shared, task, running, Next::Settle);
    task.midway = shared.service.is_midway(&task.session);
    shared.service.leave(&mut task.session);
    over.map_or(Left::Idle, Left::Over)
}

/// Serves what a connection has sent.
fn serve_ready<S: Service>(shared: &Shared<S>, task: &mut Task<S>, running: Option<&AtomicBool>) -> Left {
    shared.service.enter(&mut task.session);
    let left = loop {
        if let Some(left) = serve_packet(shared, task, running, Duration::ZERO) {
            break left;
        }
        if task.conn.is_drained() {
            break if shared.crew.is_crowded() { Left::Idle } else { Left::Elsewhere };
        }
    };
    task.midway = shared.service.is_midway(&task.session);
    shared.service.leave(&mut task.session);
    left
}

fn join<S: Service>(shared: &Arc<Shared<S>>, task: Box<Task<S>>) {
    match shared.crew.join(task) {
        (_, Joined::Yes) => {}
        (group, Joined::ToLead(term)) => shared.pool.hand_over(shared, Job::Lead { group, term }),
        (_, Joined::Failed(task)) => {
            observe::increment(Counter::ConnectionErrorsSelect);
            finish(shared, task, ClosedBy::Client);
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
    task.resumed = false;
    task.conn.release_buffers();
    let deadline = Instant::now().checked_add(shared.service.idle_limit(&task.session));
    match shared.slots.park(task, deadline) {
        Parked::Yes => shared.crew.one_less(),
        Parked::Stopping(task) => end(shared, *task, ClosedBy::Shutdown),
        Parked::Failed(task) => {
            observe::increment(Counter::ConnectionErrorsSelect);
            end(shared, *task, ClosedBy::Client);
        }
    }
}

fn finish<S: Service>(shared: &Shared<S>, mut task: Box<Task<S>>, by: ClosedBy) {
    // What is still buffered is for a client that may be gone already.
    let _ = task.conn.output().flush();
    count_bytes(&mut task);
    end(shared, *task, by);
}

/// The only place where a connection is dropped once it has a slot.
fn end<S: Service>(shared: &Shared<S>, mut task: Task<S>, by: ClosedBy) {
    // Relaxed: only which word goes to the log depends on it.
    let stopping = shared.stopping.load(Ordering::Relaxed);
    let by = if by == ClosedBy::Client && stopping { ClosedBy::Shutdown } else { by };
    task.conn.close();
    task.conn.release_buffers();
    shared.crew.one_less();
    shared.gone();
    shared.slots.close(task.slot, task.registered.then(|| task.conn.stream()));
    let Task { conn, session, .. } = task;
    drop(conn);
    shared.service.close(session, by);
}
