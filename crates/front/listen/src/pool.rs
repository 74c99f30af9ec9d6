//! Worker threads: as many as there is work for at once, made when needed, gone after a while without work.
//!
//! A job goes to the worker that fell idle last (its caches are warm), else to a new thread, else it waits for the first worker
//! that gets free. The mutex is taken when a job is handed over or a worker becomes free.

use crate::config::Config;
use crate::doors::Arrival;
use crate::shared::Shared;
use crate::task::Task;
use protocol::Service;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use sync::waits::Wait;
use sync::{Condvar, Mutex, Parker, Rank, Unparker};

/// What a worker does next.
pub enum Job<S: Service> {
    /// Greet who has come.
    Greet(Arrival),
    /// Serve this connection for as long as it is active.
    Serve(Box<Task<S>>),
    /// Lead a group of the crew, from this term on.
    Lead { group: usize, term: u64 },
}

/// Where an idle worker is handed its next job.
struct Seat<S: Service> {
    job: Mutex<Option<Job<S>>>,
    unparker: Unparker,
}

struct State<S: Service> {
    idle: Vec<Arc<Seat<S>>>,
    pending: VecDeque<Job<S>>,
    workers: usize,
    stopping: bool,
    /// One for each connection, the administrator's included, and for each group of the crew.
    max_workers: usize,
    /// So many stay however long they have no work.
    kept: usize,
}

pub struct Pool<S: Service> {
    state: Mutex<State<S>>,
    /// Length of `State::idle`. W: whoever changes that list, under the mutex. R: the gauge Threads_cached, which may not lock.
    idle: AtomicUsize,
    /// Signalled when a worker ends.
    ended: Condvar,
    /// A worker's whole life.
    work: fn(&Arc<Shared<S>>),
    stack_bytes: usize,
    idle_time: Duration,
}

impl<S: Service> Pool<S> {
    /// `work`: a worker's whole life.
    pub fn new(config: &Config, work: fn(&Arc<Shared<S>>)) -> Pool<S> {
        let (idle, pending) = (Vec::new(), VecDeque::new());
        let state = State { idle, pending, workers: 0, stopping: false, max_workers: 0, kept: config.worker_cache };
        Pool {
            state: Mutex::new(Rank::Workers, state),
            idle: AtomicUsize::new(0),
            ended: Condvar::new(),
            work,
            stack_bytes: config.stack_bytes,
            idle_time: config.worker_idle,
        }
    }

    /// Gives a job to a worker. May be called by a thread that is about to sleep, whatever it holds.
    pub fn hand_over(&self, shared: &Arc<Shared<S>>, job: Job<S>) {
        let mut state = self.state.lock();
        if let Some(seat) = state.idle.pop() {
            self.note_idle(&state);
            drop(state);
            // Out of the idle list, the seat is ours alone to fill.
            *seat.job.lock() = Some(job);
            seat.unparker.unpark();
            return;
        }
        state.pending.push_back(job);
        drop(state);
        self.serve_pending(shared);
    }

    /// Starts workers for jobs that wait for one. Also called at each tick, in case a thread could not be made.
    pub fn serve_pending(&self, shared: &Arc<Shared<S>>) {
        loop {
            let mut state = self.state.lock();
            if state.pending.is_empty() || state.workers >= state.max_workers {
                return;
            }
            state.workers += 1;
            drop(state);
            let (work, for_thread) = (self.work, Arc::clone(shared));
            let stack_bytes = sync::stack::size_for(self.stack_bytes);
            let builder = std::thread::Builder::new().name("worker".into()).stack_size(stack_bytes);
            let begin = move || {
                sync::stack::begin(stack_bytes);
                work(&for_thread);
            };
            match builder.spawn(begin) {
                Ok(_) => observe::increment(observe::Counter::ThreadsCreated),
                Err(_) => {
                    observe::increment(observe::Counter::ConnectionErrorsInternal);
                    self.state.lock().workers -= 1;
                    return;
                }
            }
        }
    }

    /// Does a job wait for a worker that gets free?
    pub fn has_pending(&self) -> bool {
        !self.state.lock().pending.is_empty()
    }

    /// The next job for a worker that has none; `None`: the worker ends (and is not counted any more).
    pub fn next(&self, parker: &mut Parker) -> Option<Job<S>> {
        let seat = {
            let mut state = self.state.lock();
            if let Some(job) = state.pending.pop_front() {
                return Some(job);
            }
            if state.stopping {
                return self.leave(state);
            }
            let seat = Arc::new(Seat { job: Mutex::new(Rank::Workers, None), unparker: parker.unparker() });
            state.idle.push(Arc::clone(&seat));
            self.note_idle(&state);
            seat
        };
        loop {
            let woken = parker.park_timeout(self.idle_time, Wait::ThreadCache);
            if let Some(job) = seat.job.lock().take() {
                return Some(job);
            }
            let mut state = self.state.lock();
            // Not in the list: somebody is about to fill the seat.
            let place = state.idle.iter().position(|s| Arc::ptr_eq(s, &seat));
            if let Some(at) = place
                && (!woken && state.idle.len() > state.kept || state.stopping)
            {
                state.idle.remove(at);
                self.note_idle(&state);
                return self.leave(state);
            }
        }
    }

    fn leave(&self, mut state: sync::MutexGuard<'_, State<S>>) -> Option<Job<S>> {
        state.workers -= 1;
        self.ended.notify_all();
        None
    }

    pub fn set_max_workers(&self, count: usize) {
        self.state.lock().max_workers = count;
    }

    /// Of those who have no work by now, too, once their time is up.
    pub fn set_kept(&self, count: usize) {
        self.state.lock().kept = count;
    }

    pub fn workers(&self) -> usize {
        self.state.lock().workers
    }

    pub fn idle_workers(&self) -> usize {
        // Relaxed: a figure for SHOW STATUS, it orders nothing.
        self.idle.load(Ordering::Relaxed)
    }

    fn note_idle(&self, state: &State<S>) {
        // Relaxed: as in `idle_workers`.
        self.idle.store(state.idle.len(), Ordering::Relaxed);
    }

    /// Lets the workers end when they have nothing to do; false when some still run at `deadline`.
    pub fn stop(&self, deadline: Instant) -> bool {
        let mut state = self.state.lock();
        state.stopping = true;
        for seat in &state.idle {
            seat.unparker.unpark();
        }
        while state.workers > 0 {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            self.ended.wait_timeout(&mut state, left, Wait::ConnectionCount);
        }
        true
    }
}
