//! What the statements about a channel and its threads share: what is wanted of the threads, and what they tell.

use crate::client::Cutter;
use crate::config::{Filters, Position, SourceConfig};
use crate::host::Host;
use crate::progress::{LastError, Progress, now_us};
use crate::relay::{Place, RelayLog};
use crate::schedule::Schedule;
use crate::status::{IoState, SqlState, Status};
use crate::until::Until;
use crate::workers::Report;
use binlog::decode::Head;
use std::sync::Arc;
use std::time::{Duration, Instant};
use sync::waits::Wait;
use sync::{Condvar, Mutex, Rank};
use types::SqlError;
use types::gtid::GtidSet;

/// How long one step of stopping waits before it looks again.
pub(crate) const STOP_STEP: Duration = Duration::from_millis(100);

#[derive(Default)]
pub(crate) struct State {
    pub status: Status,
    /// Behind the last whole transaction that has come: where the receiver goes on.
    pub resume: Position,
    /// The same in the relay log for the applier.
    pub applied_place: Option<Place>,
    pub io_stop: bool,
    pub sql_stop: bool,
    pub cutter: Option<Cutter>,
    pub interrupts: Vec<Box<dyn Fn() + Send + Sync>>,
    /// While the applier runs.
    pub schedule: Option<Arc<Schedule>>,
    pub workers: Vec<Report>,
    /// Up to which of the applier's transactions `applied` is.
    pub applied_number: u64,
    /// Seconds that the source's clock is behind.
    pub clock_s: i64,
    /// The time of the event that waits for SOURCE_DELAY, seconds since 1970; 0: none does.
    pub event_s: u32,
}

/// A channel as its threads know it.
pub(crate) struct Shared {
    pub name: String,
    pub host: Arc<dyn Host>,
    /// W: both threads, statements about the channel. R: SHOW REPLICA STATUS.
    pub state: Mutex<State>,
    pub moved: Condvar,
    /// `None`: the channel was reset. W: statements about the channel. R: the threads when they begin.
    pub relay: Mutex<Option<Arc<RelayLog>>>,
}

impl State {
    /// Of a channel that goes on at this position.
    pub fn begin(name: &str, config: SourceConfig, position: Position) -> State {
        let status = Status {
            channel: name.to_string(),
            config,
            read: position.clone(),
            applied: position.clone(),
            ..Status::default()
        };
        State { status, resume: position, ..State::default() }
    }
}

impl Shared {
    /// No thread runs.
    pub fn new(name: &str, host: Arc<dyn Host>, config: SourceConfig, position: Position) -> Shared {
        Shared {
            name: name.to_string(),
            host,
            state: Mutex::new(Rank::Replication, State::begin(name, config, position)),
            moved: Condvar::new(),
            relay: Mutex::new(Rank::Replication, None),
        }
    }

    pub fn config(&self) -> SourceConfig {
        self.state.lock().status.config.clone()
    }

    pub fn filters(&self) -> Filters {
        self.state.lock().status.config.filters.clone()
    }

    /// For SHOW REPLICA STATUS.
    pub fn status(&self) -> Status {
        let relay = self.relay.lock().clone();
        let end = relay.as_ref().map(|relay| relay.end());
        let mut status;
        let place;
        let schedule = self.state.lock().schedule.clone();
        let oldest = schedule.and_then(|schedule| schedule.oldest());
        let workers = self.state.lock().workers.clone();
        {
            let state = self.state.lock();
            status = state.status.clone();
            place = state.applied_place;
            status.behind_s = behind(&state, end, oldest);
            status.delay_left_s = match status.sql {
                SqlState::Delayed => {
                    let due = i64::from(state.event_s) + i64::from(status.config.delay_s) + state.clock_s;
                    Some((due - (now_us() / 1_000_000) as i64).max(0) as u64)
                }
                _ => None,
            };
        }
        status.heartbeat = status.config.heartbeat.unwrap_or(self.host.net_timeout() / 2);
        status.workers = workers.iter().map(Report::get).collect();
        if let Some(relay) = relay {
            let place = place.unwrap_or(Place { number: 1, offset: 4 });
            (status.relay_file, status.relay_offset) = (relay.name(place.number), place.offset);
            status.relay_space = relay.space();
        }
        status
    }

    pub fn relay(&self) -> Arc<RelayLog> {
        Arc::clone(self.relay.lock().as_ref().expect("opened before a thread starts"))
    }

    pub fn io_stops(&self) -> bool {
        self.state.lock().io_stop
    }

    pub fn sql_stops(&self) -> bool {
        self.state.lock().sql_stop
    }

    pub fn io_state(&self, state: IoState) {
        self.state.lock().status.io = state;
    }

    pub fn sql_state(&self, state: SqlState) {
        self.state.lock().status.sql = state;
    }

    pub fn io_cutter(&self, cutter: Cutter) {
        let mut state = self.state.lock();
        if state.io_stop {
            cutter.cut();
        }
        state.cutter = Some(cutter);
    }

    pub fn sql_interrupt(&self, interrupt: Box<dyn Fn() + Send + Sync>) {
        let mut state = self.state.lock();
        if state.sql_stop {
            interrupt();
        }
        state.interrupts.push(interrupt);
    }

    pub fn set_schedule(&self, schedule: Option<Arc<Schedule>>) {
        let mut state = self.state.lock();
        state.applied_number = 0;
        state.schedule = schedule;
    }

    /// Where this start's workers tell.
    pub fn begin_workers(&self, count: usize) -> Vec<Report> {
        let reports: Vec<Report> = (1..=count as u64).map(Report::new).collect();
        self.state.lock().workers.clone_from(&reports);
        reports
    }

    /// Waits for so long, or until the receiver is to stop.
    pub fn pause_io(&self, time: Duration) {
        self.pause(time, |state| state.io_stop);
    }

    pub fn pause_sql(&self, time: Duration) {
        self.pause(time, |state| state.sql_stop);
    }

    fn pause(&self, time: Duration, ends: impl Fn(&State) -> bool) {
        let end = Instant::now() + time;
        let mut state = self.state.lock();
        while !ends(&state) {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            self.moved.wait_timeout(&mut state, left.min(STOP_STEP), Wait::ReplicaApplier);
        }
    }

    fn noted(&self, which: &str, e: &SqlError) -> LastError {
        self.host
            .tell(&format!("Replica {which} for channel '{}': {}, Error_code: MY-{:06}", self.name, e.message, e.code));
        LastError::now(e)
    }

    pub fn io_error(&self, e: SqlError) {
        let error = self.noted("I/O", &e);
        self.state.lock().status.io_error = error;
    }

    pub fn io_failed(&self, e: SqlError) {
        self.io_error(e);
        self.io_ended();
    }

    pub fn io_ended(&self) {
        let mut state = self.state.lock();
        state.cutter = None;
        state.status.io = IoState::Stopped;
    }

    pub fn sql_ended(&self, error: Option<&SqlError>) {
        let error = error.map(|e| self.noted("SQL", e));
        let mut state = self.state.lock();
        if let Some(error) = error {
            state.status.sql_error = error;
        }
        state.interrupts.clear();
        state.event_s = 0;
        state.status.sql = SqlState::Stopped;
        drop(state);
        self.moved.notify_all();
    }

    pub fn clock_is_behind(&self, seconds: i64) {
        self.state.lock().clock_s = seconds;
    }

    pub fn source_is(&self, server_id: u32, uuid: String) {
        let mut state = self.state.lock();
        (state.status.source_server_id, state.status.source_uuid) = (server_id, uuid);
        state.status.io_error = LastError::default();
    }

    /// Is the source told what has come: semi-synchronous replication?
    pub fn answers(&self) -> bool {
        self.state.lock().status.answers
    }

    pub fn set_answers(&self, on: bool) {
        self.state.lock().status.answers = on;
    }

    pub fn heartbeat(&self) {
        let mut state = self.state.lock();
        state.status.heartbeats += 1;
        state.status.heartbeat_us = now_us();
    }

    pub fn until(&self) -> Until {
        self.state.lock().status.until.clone()
    }

    /// The coordinator reads a transaction, or has read it.
    pub fn reads(&self, head: &Head) {
        self.state.lock().status.reading = Progress::of(head);
    }

    pub fn has_read(&self) {
        let mut state = self.state.lock();
        state.status.read_whole = state.status.reading.end();
    }

    /// Where the receiver goes on.
    pub fn resume_at(&self) -> Position {
        self.state.lock().resume.clone()
    }

    /// Whole transactions up to here are in the relay log, these numbers among them.
    pub fn received(&self, boundary: Option<Position>, gtids: &GtidSet, queued: &Progress, queueing: &Progress) {
        let mut state = self.state.lock();
        state.status.queueing.clone_from(queueing);
        if queued.is_there {
            state.status.queued.clone_from(queued);
        }
        if let Some(boundary) = boundary {
            state.status.read = boundary.clone();
            state.resume = boundary;
        }
        state.status.retrieved.union(gtids);
    }

    /// What this server has, applied or not.
    pub fn known_gtids(&self) -> GtidSet {
        let mut set = self.host.executed();
        set.union(&self.state.lock().status.retrieved);
        set
    }

    /// Where the applier goes on in the relay log; `None`: at its front.
    pub fn applied_place(&self) -> Option<Place> {
        self.state.lock().applied_place
    }

    /// All transactions up to this one of the present start are applied, or left out.
    pub fn applied(&self, at: &Position, place: Place, number: u64) {
        let mut state = self.state.lock();
        if number < state.applied_number {
            return;
        }
        state.applied_number = number;
        state.status.applied = at.clone();
        // The coordinator may have gone on to another file meanwhile, and the one before is gone.
        if state.applied_place.is_none_or(|now| (now.number, now.offset) < (place.number, place.offset)) {
            state.applied_place = Some(place);
        }
        drop(state);
        self.moved.notify_all();
    }

    pub fn counts_transaction(&self) {
        self.state.lock().status.transactions += 1;
    }

    /// Between two transactions: where the next one begins.
    pub fn passed(&self, place: Place) {
        self.state.lock().applied_place = Some(place);
    }

    /// An event of that time waits for SOURCE_DELAY.
    pub fn delays_event_of(&self, seconds: Option<u32>) {
        self.state.lock().event_s = seconds.unwrap_or(0);
    }

    pub fn retried(&self) {
        self.state.lock().status.retries += 1;
    }

    /// Is a transaction to be left out?
    pub fn has_skip(&self) -> bool {
        self.state.lock().status.skip_left > 0
    }

    /// One transaction fewer to leave out.
    pub fn takes_skip(&self) {
        let left = &mut self.state.lock().status.skip_left;
        *left = left.saturating_sub(1);
    }
}

/// Seconds that the applier is behind the source: of the oldest transaction that is not applied; none when all that has come is.
fn behind(state: &State, end: Option<Place>, oldest: Option<u32>) -> Option<u64> {
    if state.status.sql == SqlState::Stopped {
        return None;
    }
    let all_applied = end.is_none() || state.applied_place == end;
    let event_s = oldest.unwrap_or(state.event_s);
    if all_applied || event_s == 0 {
        return (state.status.io == IoState::Waiting).then_some(0);
    }
    let now = (now_us() / 1_000_000) as i64;
    Some((now - i64::from(event_s) - state.clock_s).max(0) as u64)
}
