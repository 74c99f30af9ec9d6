//! A channel: one source, its two threads, and what is told of them.

use crate::config::{Filters, Position, SourceConfig};
use crate::errors::{self, Stopped};
use crate::host::Host;
use crate::progress::LastError;
use crate::relay::{EachEvent, RelayLog};
use crate::shared::{STOP_STEP, Shared, State};
use crate::status::{IoState, SqlState, Status};
use crate::until::Until;
use crate::{coordinator, receiver};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use sync::waits::Wait;
use sync::{Mutex, Rank};
use types::codes::*;
use types::gtid::GtidSet;
use types::{SqlError, err};

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
struct Threads {
    io: Option<JoinHandle<()>>,
    sql: Option<JoinHandle<()>>,
}

pub struct Channel {
    pub(crate) shared: Arc<Shared>,
    /// One statement about the channel at a time.
    threads: Mutex<Threads>,
}

impl Channel {
    /// A channel that is there already, its threads not running.
    pub fn new(name: &str, host: Arc<dyn Host>, config: SourceConfig, position: Position) -> Channel {
        Channel {
            shared: Arc::new(Shared::new(name, host, config, position)),
            threads: Mutex::new(Rank::Session, Threads::default()),
        }
    }

    pub fn name(&self) -> &str {
        &self.shared.name
    }

    pub fn config(&self) -> SourceConfig {
        self.shared.config()
    }

    /// For SHOW REPLICA STATUS.
    pub fn status(&self) -> Status {
        self.shared.status()
    }

    /// Is the source told what has come: semi-synchronous replication?
    pub fn answers(&self) -> bool {
        self.shared.answers()
    }

    /// CHANGE REPLICATION SOURCE. `position`: where to begin; with it what has come and was not applied is dropped. Errors 3021, 3081,
    /// 3085 by what it changes, and those of keeping it.
    pub fn change(&self, config: SourceConfig, position: Option<Position>, stopped: Stopped) -> Result<(), SqlError> {
        let threads = self.threads.lock();
        let running = self.is_running(&threads);
        match stopped {
            Stopped::Receiver if running.io => return Err(errors::receiver_must_stop(&self.shared.name)),
            Stopped::Applier if running.sql => return Err(errors::applier_must_stop(&self.shared.name)),
            // What the applier has not reached goes with the relay log.
            Stopped::Receiver if position.is_some() && running.sql => {
                return Err(errors::applier_must_stop(&self.shared.name));
            }
            Stopped::Both => self.stopped(&threads, ThreadChoice { io: true, sql: true })?,
            _ => {}
        }
        // The transactions in between would be neither fetched nor applied.
        if position.is_some() && !self.shared.host.done(&self.shared.name)?.ahead.is_empty() {
            return Err(errors::gaps());
        }
        self.shared.host.save(&self.shared.name, Some(&config.encode()), position.as_ref())?;
        if let Some(position) = position {
            self.drop_relay();
            let mut state = self.shared.state.lock();
            state.applied_place = None;
            state.status.retrieved = GtidSet::default();
            (state.status.read, state.status.applied) = (position.clone(), position.clone());
            state.resume = position;
        }
        let mut state = self.shared.state.lock();
        state.status.config = config;
        (state.status.io_error, state.status.sql_error) = (LastError::default(), LastError::default());
        Ok(())
    }

    /// CHANGE REPLICATION FILTER. Error 3085 while the applier runs.
    pub fn set_filters(&self, filters: Filters) -> Result<(), SqlError> {
        let threads = self.threads.lock();
        if self.is_running(&threads).sql {
            return Err(errors::applier_must_stop(&self.shared.name));
        }
        let config = SourceConfig { filters, ..self.config() };
        self.shared.host.save(&self.shared.name, Some(&config.encode()), None)?;
        self.shared.state.lock().status.config = config;
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
            return Err(errors::must_stop(&self.shared.name));
        }
        Ok(())
    }

    fn drop_relay(&self) {
        let relay = self.shared.relay.lock().take();
        if let Some(relay) = relay {
            // What cannot be removed is dropped when the next relay log is begun.
            if let Err(e) = relay.remove() {
                self.shared.host.tell(&format!("relay log of channel '{}': {e}", self.shared.name));
            }
        }
    }

    /// RESET REPLICA: begins anew at the first file of the source. Error 3081.
    pub fn reset(&self) -> Result<(), SqlError> {
        let threads = self.threads.lock();
        self.stopped(&threads, ThreadChoice { io: true, sql: true })?;
        let position = Position::new("", 4);
        self.shared.host.save(&self.shared.name, None, Some(&position))?;
        self.drop_relay();
        let mut state = self.shared.state.lock();
        let config = std::mem::take(&mut state.status.config);
        *state = State::begin(&self.shared.name, config, position);
        Ok(())
    }

    /// RESET REPLICA ALL: all that was said of the source is forgotten. Error 3081.
    pub fn forget(&self) -> Result<(), SqlError> {
        let threads = self.threads.lock();
        self.stopped(&threads, ThreadChoice { io: true, sql: true })?;
        self.shared.host.forget(&self.shared.name)?;
        self.drop_relay();
        Ok(())
    }

    /// START REPLICA. False: all that was asked for runs already. Errors 1200, 1135, and those of the relay log's files.
    /// `until`: where the applier is to end.
    pub fn start(&self, choice: ThreadChoice, until: &Until) -> Result<bool, SqlError> {
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
        let spawn = |name: &str, run: fn(&Arc<Shared>)| {
            let channel = Arc::clone(&self.shared);
            let thread = std::thread::Builder::new().name(name.to_string()).spawn(move || run(&channel));
            thread.map_err(|e| SqlError::new(ER_CANT_CREATE_THREAD, format!("Can't create a new thread (errno {e})")))
        };
        if io {
            let mut state = self.shared.state.lock();
            state.io_stop = false;
            state.status.io = IoState::Connecting;
            state.status.io_error = LastError::default();
            drop(state);
            threads.io = Some(spawn("replica_io", receiver::run)?);
        }
        if sql {
            let skips = self.shared.host.take_skip_counter();
            let mut state = self.shared.state.lock();
            state.sql_stop = false;
            state.status.sql = SqlState::Reading;
            state.status.sql_error = LastError::default();
            state.status.skip_left = skips;
            state.status.until = until.clone();
            drop(state);
            threads.sql = Some(spawn("replica_sql", coordinator::run)?);
        }
        Ok(true)
    }

    fn open_relay(&self) -> Result<(), SqlError> {
        if self.shared.relay.lock().is_some() {
            return Ok(());
        }
        let (directory, mut base) = self.shared.host.relay_base();
        if !self.shared.name.is_empty() {
            base = format!("{base}-{}", self.shared.name);
        }
        let made = RelayLog::create(
            &directory,
            &base,
            self.shared.host.server_id(),
            &self.shared.host.version(),
            self.shared.host.log_keys(),
        );
        let made = made.map_err(|e| SqlError::new(ER_CONNECTION_METADATA, format!("relay log: {e}")))?;
        *self.shared.relay.lock() = Some(Arc::new(made));
        let mut state = self.shared.state.lock();
        state.applied_place = None;
        state.status.retrieved = GtidSet::default();
        // What had come and was not applied comes again.
        let applied = state.status.applied.clone();
        (state.status.read, state.resume) = (applied.clone(), applied);
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
                sync::blocking::sleep(Wait::ReplicaChannel, Duration::from_millis(2));
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
        let mut state = self.shared.state.lock();
        state.io_stop |= io;
        state.sql_stop |= sql;
        if io && let Some(cutter) = &state.cutter {
            cutter.cut();
        }
        let (interrupts, schedule) = match sql {
            true => (std::mem::take(&mut state.interrupts), state.schedule.clone()),
            false => (Vec::new(), None),
        };
        drop(state);
        // The schedule first: who is interrupted sees there that it is no error.
        if let Some(schedule) = schedule {
            schedule.stop();
        }
        interrupts.iter().for_each(|interrupt| interrupt());
        self.shared.moved.notify_all();
        let relay = self.shared.relay.lock().clone();
        if sql && let Some(relay) = relay {
            relay.wake();
        }
    }

    /// SHOW RELAYLOG EVENTS: see [`RelayLog::each_event`].
    pub fn relay_events(&self, file: Option<&str>, each: &mut EachEvent<'_>) -> binlog::Result<bool> {
        let relay = self.shared.relay.lock().clone();
        relay.map_or(Ok(false), |relay| relay.each_event(file, each))
    }

    /// FLUSH RELAY LOGS: a file begins behind what comes next, unless a connection that is made before has begun one.
    pub fn begin_relay_file(&self) {
        let relay = self.shared.relay.lock().clone();
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
        let mut state = self.shared.state.lock();
        let (mut moves, mut seen) = (0, state.status.applied.clone());
        loop {
            let status = &state.status;
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
            self.shared.moved.wait_timeout(&mut state, left.min(STOP_STEP), Wait::ReplicaChannel);
        }
    }
}

#[cfg(test)]
mod tests;
