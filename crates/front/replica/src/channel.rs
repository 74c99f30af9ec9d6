//! A channel: one source, its two threads, and what is told of them.

use crate::client::Cutter;
use crate::config::{Filters, Position, SourceConfig};
use crate::errors::{self, Stopped};
use crate::host::Host;
use crate::relay::{EachEvent, Place, RelayLog};
use crate::schedule::Schedule;
use crate::until::Until;
use crate::workers::{Progress, Report, WorkerStatus};
use crate::{coordinator, receiver};
use binlog::decode::Head;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use sync::{Condvar, Mutex, Rank};
use types::codes::*;
use types::gtid::GtidSet;
use types::{SqlError, err};

/// How long one step of stopping waits before it looks again.
const STOP_STEP: Duration = Duration::from_millis(100);

/// What the receiver is at, in the words of `Replica_IO_State`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IoState {
    #[default]
    Stopped,
    Connecting,
    Reconnecting,
    Waiting,
}

impl IoState {
    pub fn words(self) -> &'static str {
        match self {
            IoState::Stopped => "",
            IoState::Connecting => "Connecting to source",
            IoState::Reconnecting => "Reconnecting after a failed source event read",
            IoState::Waiting => "Waiting for source to send event",
        }
    }

    /// `Replica_IO_Running`
    pub fn running(self) -> &'static str {
        match self {
            IoState::Stopped => "No",
            IoState::Connecting | IoState::Reconnecting => "Connecting",
            IoState::Waiting => "Yes",
        }
    }
}

/// What the applier is at, in the words of `Replica_SQL_Running_State`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SqlState {
    #[default]
    Stopped,
    Reading,
    Delayed,
    Waiting,
}

impl SqlState {
    pub fn words(self) -> &'static str {
        match self {
            SqlState::Stopped => "",
            SqlState::Reading => "Reading event from the relay log",
            SqlState::Delayed => "Waiting until SOURCE_DELAY seconds after source executed event",
            SqlState::Waiting => "Replica has read all relay log; waiting for more updates",
        }
    }
}

/// The last error of a thread, with its time in microseconds since 1970.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LastError {
    pub code: u16,
    pub text: String,
    pub at_us: u64,
}

impl LastError {
    pub(crate) fn now(e: &SqlError) -> LastError {
        LastError { code: e.code, text: e.message.clone(), at_us: now_us() }
    }
}

/// All that is told of a channel. The fields are what SHOW REPLICA STATUS and `replication_*` tables have columns for.
#[derive(Clone, Debug, Default)]
pub struct Status {
    pub channel: String,
    pub config: SourceConfig,
    pub io: IoState,
    pub sql: SqlState,
    pub io_error: LastError,
    pub sql_error: LastError,
    /// Up to where events have come.
    pub read: Position,
    /// Behind the last transaction that has been applied.
    pub applied: Position,
    pub relay_file: String,
    pub relay_offset: u64,
    pub relay_space: u64,
    pub source_server_id: u32,
    pub source_uuid: String,
    pub retrieved: GtidSet,
    pub skip_left: u64,
    /// `Seconds_Behind_Source`; `None`: not known.
    pub behind_s: Option<u64>,
    /// What is left of SOURCE_DELAY.
    pub delay_left_s: Option<u64>,
    /// The source is told what has come.
    pub answers: bool,
    pub heartbeats: u64,
    pub heartbeat_us: u64,
    /// How often the source is to send one.
    pub heartbeat: Duration,
    /// The last transaction that has come, and the one that comes.
    pub queued: Progress,
    pub queueing: Progress,
    /// The same of those that the coordinator has read in the relay log.
    pub read_whole: Progress,
    pub reading: Progress,
    pub until: Until,
    pub transactions: u64,
    pub retries: u64,
    /// Of the present start of the applier, or the last one.
    pub workers: Vec<WorkerStatus>,
}

/// How a wait for the applier has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Awaited {
    /// It does not run, or that is no place of its source.
    NotRunning,
    TimedOut,
    /// It is there; how often it was seen to move meanwhile.
    Reached(u64),
}

/// Which of the threads a statement means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadChoice {
    pub io: bool,
    pub sql: bool,
}

#[derive(Default)]
struct Shared {
    status: Status,
    /// Behind the last whole transaction that has come: where the receiver goes on.
    resume: Position,
    /// The same in the relay log for the applier.
    applied_place: Option<Place>,
    io_stop: bool,
    sql_stop: bool,
    cutter: Option<Cutter>,
    interrupts: Vec<Box<dyn Fn() + Send + Sync>>,
    /// While the applier runs.
    schedule: Option<Arc<Schedule>>,
    workers: Vec<Report>,
    /// Up to which of the applier's transactions `applied` is.
    applied_number: u64,
    /// Seconds that the source's clock is behind.
    clock_s: i64,
    /// The time of the event that waits for SOURCE_DELAY, seconds since 1970; 0: none does.
    event_s: u32,
}

#[derive(Default)]
struct Threads {
    io: Option<JoinHandle<()>>,
    sql: Option<JoinHandle<()>>,
}

pub struct Channel {
    pub name: String,
    pub(crate) host: Arc<dyn Host>,
    /// W: both threads, statements about the channel. R: SHOW REPLICA STATUS.
    shared: Mutex<Shared>,
    moved: Condvar,
    /// One statement about the channel at a time.
    threads: Mutex<Threads>,
    /// `None`: the channel was reset. W: statements about the channel. R: the threads when they begin.
    relay: Mutex<Option<Arc<RelayLog>>>,
}

pub(crate) fn now_us() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_micros() as u64
}

impl Channel {
    /// A channel that is there already, its threads not running.
    pub fn new(name: &str, host: Arc<dyn Host>, config: SourceConfig, position: Position) -> Channel {
        let status = Status {
            channel: name.to_string(),
            config,
            read: position.clone(),
            applied: position.clone(),
            ..Status::default()
        };
        let shared = Shared { status, resume: position, ..Shared::default() };
        Channel {
            name: name.to_string(),
            host,
            shared: Mutex::new(Rank::Replication, shared),
            moved: Condvar::new(),
            threads: Mutex::new(Rank::Session, Threads::default()),
            relay: Mutex::new(Rank::Replication, None),
        }
    }

    pub fn config(&self) -> SourceConfig {
        self.shared.lock().status.config.clone()
    }

    pub(crate) fn filters(&self) -> Filters {
        self.shared.lock().status.config.filters.clone()
    }

    /// CHANGE REPLICATION SOURCE. `position`: where to begin; with it what has come and was not applied is dropped. Errors 3021, 3081,
    /// 3085 by what it changes, and those of keeping it.
    pub fn change(&self, config: SourceConfig, position: Option<Position>, stopped: Stopped) -> Result<(), SqlError> {
        let threads = self.threads.lock();
        let running = self.is_running(&threads);
        match stopped {
            Stopped::Receiver if running.io => return Err(errors::receiver_must_stop(&self.name)),
            Stopped::Applier if running.sql => return Err(errors::applier_must_stop(&self.name)),
            // What the applier has not reached goes with the relay log.
            Stopped::Receiver if position.is_some() && running.sql => {
                return Err(errors::applier_must_stop(&self.name));
            }
            Stopped::Both => self.stopped(&threads, ThreadChoice { io: true, sql: true })?,
            _ => {}
        }
        // The transactions in between would be neither fetched nor applied.
        if position.is_some() && !self.host.done(&self.name)?.ahead.is_empty() {
            return Err(errors::gaps());
        }
        self.host.save(&self.name, Some(&config.encode()), position.as_ref())?;
        if let Some(position) = position {
            self.drop_relay();
            let mut shared = self.shared.lock();
            shared.applied_place = None;
            shared.status.retrieved = GtidSet::default();
            (shared.status.read, shared.status.applied) = (position.clone(), position.clone());
            shared.resume = position;
        }
        let mut shared = self.shared.lock();
        shared.status.config = config;
        (shared.status.io_error, shared.status.sql_error) = (LastError::default(), LastError::default());
        Ok(())
    }

    /// CHANGE REPLICATION FILTER. Error 3085 while the applier runs.
    pub fn set_filters(&self, filters: Filters) -> Result<(), SqlError> {
        let threads = self.threads.lock();
        if self.is_running(&threads).sql {
            return Err(errors::applier_must_stop(&self.name));
        }
        let config = SourceConfig { filters, ..self.config() };
        self.host.save(&self.name, Some(&config.encode()), None)?;
        self.shared.lock().status.config = config;
        Ok(())
    }

    /// Does the applier run?
    pub fn applies(&self) -> bool {
        let threads = self.threads.lock();
        self.is_running(&threads).sql
    }

    fn is_running(&self, threads: &Threads) -> ThreadChoice {
        let runs = |thread: &Option<JoinHandle<()>>| thread.as_ref().is_some_and(|t| !t.is_finished());
        ThreadChoice { io: runs(&threads.io), sql: runs(&threads.sql) }
    }

    fn stopped(&self, threads: &Threads, wanted: ThreadChoice) -> Result<(), SqlError> {
        let running = self.is_running(threads);
        if running.io && wanted.io || running.sql && wanted.sql {
            return Err(errors::must_stop(&self.name));
        }
        Ok(())
    }

    fn drop_relay(&self) {
        let relay = self.relay.lock().take();
        if let Some(relay) = relay {
            // What cannot be removed is dropped when the next relay log is begun.
            if let Err(e) = relay.remove() {
                self.host.tell(&format!("relay log of channel '{}': {e}", self.name));
            }
        }
    }

    /// RESET REPLICA: begins anew at the first file of the source. Error 3081.
    pub fn reset(&self) -> Result<(), SqlError> {
        let threads = self.threads.lock();
        self.stopped(&threads, ThreadChoice { io: true, sql: true })?;
        let position = Position::new("", 4);
        self.host.save(&self.name, None, Some(&position))?;
        self.drop_relay();
        let mut shared = self.shared.lock();
        let config = std::mem::take(&mut shared.status.config);
        let status = Status {
            channel: self.name.clone(),
            config,
            read: position.clone(),
            applied: position.clone(),
            ..Status::default()
        };
        *shared = Shared { status, resume: position, ..Shared::default() };
        Ok(())
    }

    /// RESET REPLICA ALL: all that was said of the source is forgotten. Error 3081.
    pub fn forget(&self) -> Result<(), SqlError> {
        let threads = self.threads.lock();
        self.stopped(&threads, ThreadChoice { io: true, sql: true })?;
        self.host.forget(&self.name)?;
        self.drop_relay();
        Ok(())
    }

    /// START REPLICA. False: all that was asked for runs already. Errors 1200, 1135, and those of the relay log's files.
    /// `until`: where the applier is to end.
    pub fn start(self: &Arc<Self>, choice: ThreadChoice, until: &Until) -> Result<bool, SqlError> {
        let mut threads = self.threads.lock();
        if self.config().host.is_empty() {
            return Err(err!(ER_BAD_REPLICA));
        }
        let running = self.is_running(&threads);
        let (io, sql) = (choice.io && !running.io, choice.sql && !running.sql);
        if !io && !sql {
            return Ok(false);
        }
        self.open_relay()?;
        let spawn = |name: &str, run: fn(&Arc<Channel>)| {
            let channel = Arc::clone(self);
            let thread = std::thread::Builder::new().name(name.to_string()).spawn(move || run(&channel));
            thread.map_err(|e| SqlError::new(ER_CANT_CREATE_THREAD, format!("Can't create a new thread (errno {e})")))
        };
        if io {
            let mut shared = self.shared.lock();
            shared.io_stop = false;
            shared.status.io = IoState::Connecting;
            shared.status.io_error = LastError::default();
            drop(shared);
            threads.io = Some(spawn("replica_io", receiver::run)?);
        }
        if sql {
            let skips = self.host.take_skip_counter();
            let mut shared = self.shared.lock();
            shared.sql_stop = false;
            shared.status.sql = SqlState::Reading;
            shared.status.sql_error = LastError::default();
            shared.status.skip_left = skips;
            shared.status.until = until.clone();
            drop(shared);
            threads.sql = Some(spawn("replica_sql", coordinator::run)?);
        }
        Ok(true)
    }

    fn open_relay(&self) -> Result<(), SqlError> {
        if self.relay.lock().is_some() {
            return Ok(());
        }
        let (directory, mut base) = self.host.relay_base();
        if !self.name.is_empty() {
            base = format!("{base}-{}", self.name);
        }
        let made =
            RelayLog::create(&directory, &base, self.host.server_id(), &self.host.version(), self.host.log_keys());
        let made = made.map_err(|e| SqlError::new(ER_CONNECTION_METADATA, format!("relay log: {e}")))?;
        *self.relay.lock() = Some(Arc::new(made));
        let mut shared = self.shared.lock();
        shared.applied_place = None;
        shared.status.retrieved = GtidSet::default();
        // What had come and was not applied comes again.
        let applied = shared.status.applied.clone();
        (shared.status.read, shared.resume) = (applied.clone(), applied);
        Ok(())
    }

    /// STOP REPLICA: waits until the threads have ended. False: none of them ran.
    pub fn stop(&self, choice: ThreadChoice) -> bool {
        let mut threads = self.threads.lock();
        let running = self.is_running(&threads);
        let (io, sql) = (choice.io && running.io, choice.sql && running.sql);
        self.ask_to_stop(io, sql);
        let wait = |thread: Option<JoinHandle<()>>| {
            let Some(thread) = thread else { return };
            while !thread.is_finished() {
                self.ask_to_stop(io, sql);
                std::thread::sleep(Duration::from_millis(2));
            }
            // A thread that has panicked has told the error log.
            let _ = thread.join();
        };
        if io {
            wait(threads.io.take());
        }
        if sql {
            wait(threads.sql.take());
        }
        io || sql
    }

    fn ask_to_stop(&self, io: bool, sql: bool) {
        let mut shared = self.shared.lock();
        shared.io_stop |= io;
        shared.sql_stop |= sql;
        if io && let Some(cutter) = &shared.cutter {
            cutter.cut();
        }
        let (interrupts, schedule) = match sql {
            true => (std::mem::take(&mut shared.interrupts), shared.schedule.clone()),
            false => (Vec::new(), None),
        };
        drop(shared);
        // The schedule first: who is interrupted sees there that it is no error.
        if let Some(schedule) = schedule {
            schedule.stop();
        }
        interrupts.iter().for_each(|interrupt| interrupt());
        self.moved.notify_all();
        let relay = self.relay.lock().clone();
        if sql && let Some(relay) = relay {
            relay.wake();
        }
    }

    /// For SHOW REPLICA STATUS.
    pub fn status(&self) -> Status {
        let relay = self.relay.lock().clone();
        let end = relay.as_ref().map(|relay| relay.end());
        let mut status;
        let place;
        let schedule = self.shared.lock().schedule.clone();
        let oldest = schedule.and_then(|schedule| schedule.oldest());
        let workers = self.shared.lock().workers.clone();
        {
            let shared = self.shared.lock();
            status = shared.status.clone();
            place = shared.applied_place;
            status.behind_s = behind(&shared, end, oldest);
            status.delay_left_s = match status.sql {
                SqlState::Delayed => {
                    let due = i64::from(shared.event_s) + i64::from(status.config.delay_s) + shared.clock_s;
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

    /// SHOW RELAYLOG EVENTS: see [`RelayLog::each_event`].
    pub fn relay_events(&self, file: Option<&str>, each: &mut EachEvent<'_>) -> binlog::Result<bool> {
        let relay = self.relay.lock().clone();
        relay.map_or(Ok(false), |relay| relay.each_event(file, each))
    }

    /// FLUSH RELAY LOGS: a file begins behind what comes next, unless a connection that is made before has begun one.
    pub fn begin_relay_file(&self) {
        let relay = self.relay.lock().clone();
        if let Some(relay) = relay {
            relay.ask_for_file();
        }
    }

    /// Waits until all up to a place of the source is applied, while the applier runs. `None`: interrupted.
    pub fn await_applied(
        &self,
        file: &str,
        offset: u64,
        time: Option<Duration>,
        is_interrupted: impl Fn() -> bool,
    ) -> Option<Awaited> {
        let end = time.map(|time| Instant::now() + time);
        let wanted = Position::new(file, offset);
        let mut shared = self.shared.lock();
        let (mut moves, mut seen) = (0, shared.status.applied.clone());
        loop {
            let status = &shared.status;
            if status.sql == SqlState::Stopped || !wanted.may_be_of(&status.applied) {
                return Some(Awaited::NotRunning);
            }
            if status.applied != seen {
                moves += 1;
                seen = status.applied.clone();
            }
            if !status.applied.file.is_empty() && !wanted.is_behind(&status.applied) {
                return Some(Awaited::Reached(moves));
            }
            let left = end.map_or(STOP_STEP, |end| end.saturating_duration_since(Instant::now()));
            if left.is_zero() {
                return Some(Awaited::TimedOut);
            }
            if is_interrupted() {
                return None;
            }
            self.moved.wait_timeout(&mut shared, left.min(STOP_STEP));
        }
    }

    /// What the threads ask and tell, from here on.
    pub(crate) fn relay(&self) -> Arc<RelayLog> {
        Arc::clone(self.relay.lock().as_ref().expect("opened before a thread starts"))
    }

    pub(crate) fn io_stops(&self) -> bool {
        self.shared.lock().io_stop
    }

    pub(crate) fn sql_stops(&self) -> bool {
        self.shared.lock().sql_stop
    }

    pub(crate) fn io_state(&self, state: IoState) {
        self.shared.lock().status.io = state;
    }

    pub(crate) fn sql_state(&self, state: SqlState) {
        self.shared.lock().status.sql = state;
    }

    pub(crate) fn io_cutter(&self, cutter: Cutter) {
        let mut shared = self.shared.lock();
        if shared.io_stop {
            cutter.cut();
        }
        shared.cutter = Some(cutter);
    }

    pub(crate) fn sql_interrupt(&self, interrupt: Box<dyn Fn() + Send + Sync>) {
        let mut shared = self.shared.lock();
        if shared.sql_stop {
            interrupt();
        }
        shared.interrupts.push(interrupt);
    }

    pub(crate) fn set_schedule(&self, schedule: Option<Arc<Schedule>>) {
        let mut shared = self.shared.lock();
        shared.applied_number = 0;
        shared.schedule = schedule;
    }

    /// Where this start's workers tell.
    pub(crate) fn begin_workers(&self, count: usize) -> Vec<Report> {
        let reports: Vec<Report> = (1..=count as u64).map(Report::new).collect();
        self.shared.lock().workers.clone_from(&reports);
        reports
    }

    /// Waits for so long, or until the receiver is to stop.
    pub(crate) fn pause_io(&self, time: Duration) {
        self.pause(time, |shared| shared.io_stop);
    }

    pub(crate) fn pause_sql(&self, time: Duration) {
        self.pause(time, |shared| shared.sql_stop);
    }

    fn pause(&self, time: Duration, ends: impl Fn(&Shared) -> bool) {
        let end = Instant::now() + time;
        let mut shared = self.shared.lock();
        while !ends(&shared) {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            self.moved.wait_timeout(&mut shared, left.min(STOP_STEP));
        }
    }

    fn noted(&self, which: &str, e: &SqlError) -> LastError {
        self.host
            .tell(&format!("Replica {which} for channel '{}': {}, Error_code: MY-{:06}", self.name, e.message, e.code));
        LastError::now(e)
    }

    pub(crate) fn io_error(&self, e: SqlError) {
        let error = self.noted("I/O", &e);
        self.shared.lock().status.io_error = error;
    }

    pub(crate) fn io_failed(&self, e: SqlError) {
        self.io_error(e);
        self.io_ended();
    }

    pub(crate) fn io_ended(&self) {
        let mut shared = self.shared.lock();
        shared.cutter = None;
        shared.status.io = IoState::Stopped;
    }

    pub(crate) fn sql_ended(&self, error: Option<&SqlError>) {
        let error = error.map(|e| self.noted("SQL", e));
        let mut shared = self.shared.lock();
        if let Some(error) = error {
            shared.status.sql_error = error;
        }
        shared.interrupts.clear();
        shared.event_s = 0;
        shared.status.sql = SqlState::Stopped;
        drop(shared);
        self.moved.notify_all();
    }

    pub(crate) fn clock_is_behind(&self, seconds: i64) {
        self.shared.lock().clock_s = seconds;
    }

    pub(crate) fn source_is(&self, server_id: u32, uuid: String) {
        let mut shared = self.shared.lock();
        (shared.status.source_server_id, shared.status.source_uuid) = (server_id, uuid);
        shared.status.io_error = LastError::default();
    }

    /// Is the source told what has come: semi-synchronous replication?
    pub fn answers(&self) -> bool {
        self.shared.lock().status.answers
    }

    pub(crate) fn set_answers(&self, on: bool) {
        self.shared.lock().status.answers = on;
    }

    pub(crate) fn heartbeat(&self) {
        let mut shared = self.shared.lock();
        shared.status.heartbeats += 1;
        shared.status.heartbeat_us = now_us();
    }

    pub(crate) fn until(&self) -> Until {
        self.shared.lock().status.until.clone()
    }

    /// The coordinator reads a transaction, or has read it.
    pub(crate) fn reads(&self, head: &Head) {
        self.shared.lock().status.reading = Progress::of(head);
    }

    pub(crate) fn has_read(&self) {
        let mut shared = self.shared.lock();
        shared.status.read_whole = shared.status.reading.end();
    }

    /// Where the receiver goes on.
    pub(crate) fn resume_at(&self) -> Position {
        self.shared.lock().resume.clone()
    }

    /// Whole transactions up to here are in the relay log, these numbers among them.
    pub(crate) fn received(&self, boundary: Option<Position>, gtids: &GtidSet, queued: &Progress, queueing: &Progress) {
        let mut shared = self.shared.lock();
        shared.status.queueing.clone_from(queueing);
        if queued.is_there {
            shared.status.queued.clone_from(queued);
        }
        if let Some(boundary) = boundary {
            shared.status.read = boundary.clone();
            shared.resume = boundary;
        }
        shared.status.retrieved.union(gtids);
    }

    /// What this server has, applied or not.
    pub(crate) fn known_gtids(&self) -> GtidSet {
        let mut set = self.host.executed();
        set.union(&self.shared.lock().status.retrieved);
        set
    }

    /// Where the applier goes on in the relay log; `None`: at its front.
    pub(crate) fn applied_place(&self) -> Option<Place> {
        self.shared.lock().applied_place
    }

    /// All transactions up to this one of the present start are applied, or left out.
    pub(crate) fn applied(&self, at: &Position, place: Place, number: u64) {
        let mut shared = self.shared.lock();
        if number < shared.applied_number {
            return;
        }
        shared.applied_number = number;
        shared.status.applied = at.clone();
        // The coordinator may have gone on to another file meanwhile, and the one before is gone.
        if shared.applied_place.is_none_or(|now| (now.number, now.offset) < (place.number, place.offset)) {
            shared.applied_place = Some(place);
        }
        drop(shared);
        self.moved.notify_all();
    }

    pub(crate) fn counts_transaction(&self) {
        self.shared.lock().status.transactions += 1;
    }

    /// Between two transactions: where the next one begins.
    pub(crate) fn passed(&self, place: Place) {
        self.shared.lock().applied_place = Some(place);
    }

    /// An event of that time waits for SOURCE_DELAY.
    pub(crate) fn delays_event_of(&self, seconds: Option<u32>) {
        self.shared.lock().event_s = seconds.unwrap_or(0);
    }

    pub(crate) fn retried(&self) {
        self.shared.lock().status.retries += 1;
    }

    /// Is a transaction to be left out?
    pub(crate) fn has_skip(&self) -> bool {
        self.shared.lock().status.skip_left > 0
    }

    /// One transaction fewer to leave out.
    pub(crate) fn takes_skip(&self) {
        let left = &mut self.shared.lock().status.skip_left;
        *left = left.saturating_sub(1);
    }
}

/// Seconds that the applier is behind the source: of the oldest transaction that is not applied; none when all that has come is.
fn behind(shared: &Shared, end: Option<Place>, oldest: Option<u32>) -> Option<u64> {
    if shared.status.sql == SqlState::Stopped {
        return None;
    }
    let all_applied = end.is_none() || shared.applied_place == end;
    let event_s = oldest.unwrap_or(shared.event_s);
    if all_applied || event_s == 0 {
        return (shared.status.io == IoState::Waiting).then_some(0);
    }
    let now = (now_us() / 1_000_000) as i64;
    Some((now - i64::from(event_s) - shared.clock_s).max(0) as u64)
}

#[cfg(test)]
mod tests;
