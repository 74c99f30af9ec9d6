//! The one thread that makes files of the log.
//!
//! ```text
//!   EventStream::next          the next commit that is durable
//!   first pass of its items    how long its events are, and what its end says
//!   number it                  GTID, sequence number, last_committed: by what came before it
//!   second pass                events with header, position and checksum
//!   publish                    readers may go so far; then the next one
//!   settle, now and then       sync the file, write the state, let go of the log below it
//! ```
//! When the device is full or fails, the thread tries again each second; meanwhile the log keeps what is not in the files, and at its
//! capacity commits wait, as they do for a checkpoint.

use crate::error::{Error, Result};
use crate::event::{self, Checksum, FLAG_IN_USE, FLAG_SUPPRESS_USE, GtidEvent, Kind, MAGIC, Stamp};
use crate::files::{self, Files, State};
use crate::gtid::{Gtid, GtidSet, Uuid};
use crate::payload::{Assembler, Commit, Numbering, Unplaced};
use engine::{CommittedEvents, Engine, EventStream, Lsn};
use io::{File, OpenOptions};
use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};
use sync::{Condvar, Mutex, Rank};

/// Bytes that are gathered before they go to the file.
const BUFFER_BYTES: usize = 1 << 20;
/// So much of the log, or so long, may go by between two settlements.
const SETTLE_BYTES: u64 = 8 << 20;
const SETTLE_TIME: Duration = Duration::from_secs(5);
/// How long the thread sleeps when nothing comes.
const IDLE: Duration = Duration::from_secs(1);
/// Numbers of commits that are remembered while a session asks for those of its own.
const NUMBERED_MAX: usize = 1 << 16;
/// Commits whose places in the log are remembered, for `last_committed`.
const RECENT_MAX: usize = 256;

/// What is fixed at start.
#[derive(Clone, Debug)]
pub struct Config {
    pub directory: PathBuf,
    /// The name before the number: `binlog`.
    pub base: String,
    pub server_uuid: Uuid,
    pub server_id: u32,
    /// `8.4.0`, and the same as a number.
    pub version: String,
    pub version_number: u32,
}

/// What may change while the server runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// `max_binlog_size`
    pub file_max: u64,
    pub checksum: Checksum,
    /// `binlog_expire_logs_seconds`; 0: files are kept.
    pub expire: Duration,
}

/// A file, as SHOW BINARY LOGS tells of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileInfo {
    pub number: u64,
    pub name: String,
    pub size: u64,
}

/// Up to where the files may be read.
#[derive(Clone, Debug)]
pub struct Published {
    pub file: u64,
    pub offset: u64,
    /// All commits below are in the files.
    pub position: Lsn,
    /// Numbers of all files.
    pub files: Arc<Vec<u64>>,
    pub executed: Arc<GtidSet>,
    pub purged: Arc<GtidSet>,
}

/// What a session asks of the writer.
enum Request {
    Rotate,
    /// Files before this one go.
    Purge(u64),
    /// Everything goes; the next file has this number.
    Reset(u64),
    /// `gtid_purged`
    AddPurged(GtidSet),
    /// The state is to say what is in the files now.
    Settle,
}

struct Shared {
    published: Published,
    settings: Settings,
    requests: VecDeque<(u64, Request)>,
    asked: u64,
    /// Answers by number of the request, `None` before there is one. Who gives up takes his request with him.
    answers: BTreeMap<u64, Option<Result<()>>>,
    /// Numbers of the last commits by where they end in the log, while there are trackers.
    numbered: VecDeque<(Lsn, Gtid)>,
    /// Files that readers are in, each reader's.
    in_use: BTreeMap<u64, u64>,
    readers: u64,
    stop: bool,
    stopped: bool,
}

/// As long as there is one, numbers of commits can be asked for.
#[derive(Debug)]
pub struct Tracker(Arc<AtomicUsize>);

impl Drop for Tracker {
    fn drop(&mut self) {
        // Relaxed: as in `Binlog::track`.
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The binary log of a server.
pub struct Binlog {
    engine: Arc<Engine>,
    config: Config,
    shared: Arc<(Mutex<Shared>, Condvar)>,
    /// Sessions that want to know the numbers of their commits. W: those sessions. R: the writer.
    trackers: Arc<AtomicUsize>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// Told of what an administrator should know.
pub type Tell = Box<dyn Fn(&str) + Send>;

impl Binlog {
    /// From where on the engine has to keep its log, to be asked before it is opened; `None`: there is no binary log yet.
    pub fn needed(config: &Config) -> Result<Option<Lsn>> {
        let state = Files::open(&config.directory, &config.base)?.load_state()?;
        Ok(state.map(|state| state.needed))
    }

    /// Completes the files by what the log has, begins a new one, and starts the thread. On a full disk the thread does so once there is
    /// room.
    pub fn start(engine: &Arc<Engine>, config: Config, settings: Settings, tell: Tell) -> Result<Arc<Binlog>> {
        let mut writer = Writer::open(engine, &config, settings)?;
        let before = writer.published();
        let published = match writer.begin() {
            Ok(()) => writer.published(),
            Err(Error::DiskFull) => before,
            Err(e) => return Err(e),
        };
        let shared = Shared {
            published,
            settings,
            requests: VecDeque::new(),
            asked: 0,
            answers: BTreeMap::new(),
            numbered: VecDeque::new(),
            in_use: BTreeMap::new(),
            readers: 0,
            stop: false,
            stopped: false,
        };
        let shared = Arc::new((Mutex::new(Rank::Binlog, shared), Condvar::new()));
        let trackers = Arc::clone(&writer.trackers);
        let for_thread = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("binlog".into());
        let thread = thread.spawn(move || run(writer, &for_thread, &tell)).map_err(|e| Error::Io(e.to_string()))?;
        Ok(Arc::new(Binlog {
            engine: Arc::clone(engine),
            config,
            shared,
            trackers,
            thread: Mutex::new(Rank::Session, Some(thread)),
        }))
    }

    /// For a server without a binary log: completes the files of one that it had, and lets go of the log.
    pub fn complete(engine: &Arc<Engine>, config: &Config, settings: Settings) -> Result<()> {
        let Some(state) = Files::open(&config.directory, &config.base)?.load_state()? else { return Ok(()) };
        if !state.closed {
            let mut writer = Writer::open(engine, config, settings)?;
            writer.catch_up()?;
            writer.close()?;
        }
        Ok(engine.retain_events(None)?)
    }

    /// After the last session: all that the log has goes to the files, and the last one is closed.
    pub fn close(&self) {
        // What cannot be made durable now is written by the next start.
        let _ = self.engine.hurry_events();
        self.shared.0.lock().stop = true;
        self.shared.1.notify_all();
        let thread = self.thread.lock().take();
        if let Some(thread) = thread {
            let _ = self.engine.hurry_events();
            let _ = thread.join();
        }
    }

    pub fn config(&self) -> &Config {
        &self.config
    }

    pub fn set(&self, settings: Settings) {
        self.shared.0.lock().settings = settings;
    }

    pub fn published(&self) -> Published {
        self.shared.0.lock().published.clone()
    }

    pub fn file_name(&self, number: u64) -> String {
        format!("{}.{number:06}", self.config.base)
    }

    /// The same once all commits so far are in the files. `ended`: why the wait should end.
    pub fn catch_up(&self, ended: impl Fn() -> bool) -> Result<Published> {
        let end = self.engine.hurry_events()?;
        self.wait(ended, |shared| (shared.published.position >= end).then(|| shared.published.clone()))
    }

    /// A session wants to know the numbers of its commits from now on: [`Binlog::number_at`].
    pub fn track(&self) -> Tracker {
        // Relaxed: a commit of this session reaches the writer by way of the log, which orders both.
        self.trackers.fetch_add(1, Ordering::Relaxed);
        Tracker(Arc::clone(&self.trackers))
    }

    /// The number of the commit that ends there in the log, which is in the files, for who [`Binlog::track`]s. `None`: it has none, or
    /// there have been tens of thousands since.
    pub fn number_at(&self, end: Lsn) -> Option<Gtid> {
        let shared = self.shared.0.lock();
        let at = shared.numbered.binary_search_by_key(&end, |(end, _)| *end).ok()?;
        Some(shared.numbered[at].1)
    }

    /// Waits until all of `set` is executed, or for `time`; `None`: as long as it takes. False: it is not.
    pub fn await_executed(&self, set: &GtidSet, time: Option<Duration>, ended: impl Fn() -> bool) -> Result<bool> {
        self.engine.hurry_events()?;
        let (mutex, moved) = &*self.shared;
        let mut shared = mutex.lock();
        let began = Instant::now();
        loop {
            if set.is_subset_of(&shared.published.executed) {
                return Ok(true);
            }
            if shared.stopped {
                return Err(Error::Stopped);
            }
            if ended() {
                return Err(Error::Interrupted);
            }
            let left = time.map_or(sync::blocking::ASK_AGAIN, |time| time.saturating_sub(began.elapsed()));
            if left.is_zero() {
                return Ok(false);
            }
            moved.wait_timeout(&mut shared, left.min(sync::blocking::ASK_AGAIN));
        }
    }

    /// Waits until the files go on behind `file` and `offset`, or for `time`. False: they do not.
    pub fn await_more(&self, file: u64, offset: u64, time: Duration) -> Result<bool> {
        let (mutex, moved) = &*self.shared;
        let mut shared = mutex.lock();
        let began = Instant::now();
        loop {
            if (shared.published.file, shared.published.offset) != (file, offset) {
                return Ok(true);
            }
            if shared.stop {
                return Err(Error::Stopped);
            }
            let left = time.saturating_sub(began.elapsed());
            if left.is_zero() {
                return Ok(false);
            }
            moved.wait_timeout(&mut shared, left);
        }
    }

    /// FLUSH BINARY LOGS.
    pub fn rotate(&self, ended: impl Fn() -> bool) -> Result<()> {
        self.catch_up(&ended)?;
        self.ask(Request::Rotate, ended)
    }

    /// PURGE BINARY LOGS TO: files before this one go, but for those that somebody reads and what comes behind them. Returns the first of
    /// those. Errors: [`Error::UnknownFile`].
    pub fn purge_to(&self, name: &str, ended: impl Fn() -> bool) -> Result<Option<u64>> {
        let number = self.number_of(name)?;
        let oldest = self.shared.0.lock().in_use.values().copied().min();
        self.ask(Request::Purge(number), ended)?;
        Ok(oldest.filter(|oldest| *oldest < number))
    }

    /// PURGE BINARY LOGS BEFORE: those that were written last before `time` go.
    pub fn purge_before(&self, time: SystemTime, ended: impl Fn() -> bool) -> Result<()> {
        let files = Files::open(&self.config.directory, &self.config.base)?;
        let keep = first_since(&files, time)?;
        self.ask(Request::Purge(keep), ended)
    }

    /// RESET BINARY LOGS AND GTIDS: nothing is left, and the next file has this number.
    pub fn reset(&self, number: u64, ended: impl Fn() -> bool) -> Result<()> {
        self.catch_up(&ended)?;
        self.ask(Request::Reset(number), ended)
    }

    /// SET GLOBAL gtid_purged: these count as executed, and are in no file.
    pub fn add_purged(&self, set: GtidSet, ended: impl Fn() -> bool) -> Result<()> {
        self.catch_up(&ended)?;
        self.ask(Request::AddPurged(set), ended)
    }

    /// Has the state on disk say what is in the files, all commits so far among it.
    pub(crate) fn settle(&self, ended: impl Fn() -> bool) -> Result<()> {
        self.catch_up(&ended)?;
        self.ask(Request::Settle, ended)
    }

    /// The files with their lengths as far as they may be read.
    pub fn files(&self) -> Result<Vec<FileInfo>> {
        let published = self.published();
        let files = Files::open(&self.config.directory, &self.config.base)?;
        let mut all = Vec::new();
        for number in published.files.iter() {
            let size = match *number == published.file {
                true => published.offset,
                false => files.open_file(*number, OpenOptions::READ)?.len()?,
            };
            all.push(FileInfo { number: *number, name: files.name(*number), size });
        }
        Ok(all)
    }

    /// The number of a file that there is, by its name. Errors: [`Error::UnknownFile`].
    pub fn number_of(&self, name: &str) -> Result<u64> {
        let name = name.rsplit('/').next().unwrap_or(name);
        let published = self.published();
        let found = published.files.iter().copied().find(|number| self.file_name(*number) == name);
        found.ok_or(Error::UnknownFile)
    }

    /// A reader is in this file: it is not purged. Returns the reader's number, for the next call; 0 is none yet.
    pub(crate) fn reads(&self, reader: u64, file: Option<u64>) -> u64 {
        let mut shared = self.shared.0.lock();
        let reader = if reader == 0 {
            shared.readers += 1;
            shared.readers
        } else {
            reader
        };
        match file {
            Some(file) => _ = shared.in_use.insert(reader, file),
            None => _ = shared.in_use.remove(&reader),
        }
        reader
    }

    fn ask(&self, request: Request, ended: impl Fn() -> bool) -> Result<()> {
        let number = {
            let mut shared = self.shared.0.lock();
            shared.asked += 1;
            let number = shared.asked;
            shared.requests.push_back((number, request));
            shared.answers.insert(number, None);
            number
        };
        let answer = match self.engine.hurry_events() {
            Ok(_) => self.wait(ended, |shared| shared.answers.get_mut(&number)?.take()),
            Err(e) => Err(e.into()),
        };
        let mut shared = self.shared.0.lock();
        shared.answers.remove(&number);
        shared.requests.retain(|(asked, _)| *asked != number);
        drop(shared);
        answer?
    }

    fn wait<T>(&self, ended: impl Fn() -> bool, mut ready: impl FnMut(&mut Shared) -> Option<T>) -> Result<T> {
        let (mutex, moved) = &*self.shared;
        let mut shared = mutex.lock();
        loop {
            if let Some(found) = ready(&mut shared) {
                return Ok(found);
            }
            if shared.stopped {
                return Err(Error::Stopped);
            }
            if ended() {
                return Err(Error::Interrupted);
            }
            moved.wait_timeout(&mut shared, sync::blocking::ASK_AGAIN);
        }
    }
}

/// The first file that was written to since `time`, which is when the one behind it was begun; the one in use when there is none.
fn first_since(files: &Files, time: SystemTime) -> Result<u64> {
    let seconds = time.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |d| d.as_secs());
    for pair in files.numbers().windows(2) {
        let next = files.open_file(pair[1], OpenOptions::READ)?;
        if u64::from(files::front(&next)?.created) >= seconds {
            return Ok(pair[0]);
        }
    }
    Ok(*files.numbers().last().expect("there is a file in use"))
}

/// The thread.
fn run(mut writer: Writer, shared: &(Mutex<Shared>, Condvar), tell: &Tell) {
    let mut failed = None;
    loop {
        let (settings, stop) = {
            let shared = shared.0.lock();
            (shared.settings, shared.stop)
        };
        writer.settings = settings;
        let result = writer.round(shared, stop);
        if result != failed.clone().map_or(Ok(()), Err) {
            match &result {
                Err(e) => tell(&format!("The binary log is not written: {e}. Trying again each second.")),
                Ok(()) => tell("The binary log is written again."),
            }
        }
        failed = result.err();
        if stop {
            shared.0.lock().stopped = true;
            shared.1.notify_all();
            return;
        }
        match failed {
            Some(_) => std::thread::sleep(Duration::from_secs(1)),
            None => writer.stream.wait(IDLE),
        }
    }
}

struct Writer {
    engine: Arc<Engine>,
    config: Config,
    settings: Settings,
    stream: EventStream,
    files: Files,
    /// The commit that came by last and is not written yet.
    pending: Option<CommittedEvents>,
    /// The files are not completed yet, or the file of this start is not begun.
    begins: bool,
    file: File,
    checksum: Checksum,
    /// As it will be when the buffer is in the file; `state.position` is that of the next commit.
    state: State,
    /// Bytes that belong at the end of the file, before `state.offset`.
    buffer: Vec<u8>,
    settled: Lsn,
    settled_at: Instant,
    assembler: Assembler,
    trackers: Arc<AtomicUsize>,
    /// Numbers that are not published yet.
    numbered: Vec<(Lsn, Gtid)>,
}

fn now_s() -> u32 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |d| d.as_secs() as u32)
}

impl Writer {
    /// Opens the files where the state says, and the log at the same place.
    fn open(engine: &Arc<Engine>, config: &Config, settings: Settings) -> Result<Writer> {
        let mut files = Files::open(&config.directory, &config.base)?;
        let state = match files.load_state()? {
            None => State { needed: engine.events_end(), position: engine.events_end(), ..State::default() },
            Some(state) if engine.has_log_from(state.needed) => state,
            // Between then and now there was a server without a binary log.
            Some(state) if state.closed => {
                State { needed: engine.events_end(), position: engine.events_end(), ..state }
            }
            Some(state) => {
                return Err(Error::Corrupt(format!(
                    "the log no longer reaches back to LSN {}, from which '{}' is to be completed",
                    state.needed,
                    files.name(state.file)
                )));
            }
        };
        engine.retain_events(Some(state.needed))?;
        let stream = engine.follow_events(state.needed);
        // What lies behind the state is written anew.
        let found = files.found()?;
        let beyond: Vec<u64> = found.iter().copied().filter(|n| *n > state.file).collect();
        let is_kept = |n: &u64| *n < state.file && found.contains(n);
        let mut kept: Vec<u64> = files.numbers().iter().copied().filter(is_kept).collect();
        if state.file != 0 {
            kept.push(state.file);
            if kept != files.numbers() {
                files.list(kept)?;
            }
            files.remove(beyond.into_iter())?;
        }
        let mut writer = Writer {
            engine: Arc::clone(engine),
            config: config.clone(),
            settings,
            stream,
            pending: None,
            begins: state.file != 0,
            // Replaced at once.
            file: File::unnamed(&config.directory)?,
            checksum: settings.checksum,
            settled: state.needed,
            settled_at: Instant::now(),
            buffer: Vec::new(),
            assembler: Assembler::default(),
            trackers: Arc::new(AtomicUsize::new(0)),
            numbered: Vec::new(),
            files,
            state,
        };
        if writer.state.file == 0 {
            writer.begin_file(1, true)?;
            return Ok(writer);
        }
        // A crash may have come between the index and the state of a purge.
        let oldest = writer.files.open_file(writer.files.numbers()[0], OpenOptions::READ)?;
        writer.state.purged.union(&files::front(&oldest)?.previous);
        writer.file = writer.files.open_file(writer.state.file, OpenOptions::WRITE)?;
        writer.checksum = files::front(&writer.file)?.checksum;
        if writer.file.len()? < writer.state.offset {
            return Err(Error::Corrupt(format!(
                "'{}' is shorter than the {} bytes that were in it",
                writer.files.name(writer.state.file),
                writer.state.offset
            )));
        }
        writer.file.truncate(writer.state.offset)?;
        Ok(writer)
    }

    fn published(&self) -> Published {
        Published {
            file: self.state.file,
            offset: self.state.offset,
            position: self.state.position,
            files: Arc::new(self.files.numbers().to_vec()),
            executed: Arc::new(self.state.executed.clone()),
            purged: Arc::new(self.state.purged.clone()),
        }
    }

    fn publish(&mut self, shared: &(Mutex<Shared>, Condvar)) {
        let mut guard = shared.0.lock();
        let before = &guard.published;
        let files = match *before.files == self.files.numbers() {
            true => Arc::clone(&before.files),
            false => Arc::new(self.files.numbers().to_vec()),
        };
        let keep =
            |old: &Arc<GtidSet>, new: &GtidSet| if **old == *new { Arc::clone(old) } else { Arc::new(new.clone()) };
        let executed = keep(&before.executed, &self.state.executed);
        let purged = keep(&before.purged, &self.state.purged);
        let (file, offset, position) = (self.state.file, self.state.offset, self.state.position);
        guard.published = Published { file, offset, position, files, executed, purged };
        guard.numbered.extend(self.numbered.drain(..));
        let too_many = guard.numbered.len().saturating_sub(NUMBERED_MAX);
        guard.numbered.drain(..too_many);
        drop(guard);
        shared.1.notify_all();
    }

    /// Writes what is there, and does what was asked. After an error everything is as if the round had not gone further than what is
    /// written, and it can be begun again.
    fn round(&mut self, shared: &(Mutex<Shared>, Condvar), stop: bool) -> Result<()> {
        let written = self.write_all(shared);
        loop {
            let request = {
                let requests = &mut shared.0.lock().requests;
                // PURGE is what makes room.
                let is_due = |request: &Request| written.is_ok() || matches!(request, Request::Purge(_));
                requests.iter().position(|(_, request)| is_due(request)).and_then(|at| requests.remove(at))
            };
            let Some((number, request)) = request else { break };
            let oldest = shared.0.lock().in_use.values().copied().min().unwrap_or(u64::MAX);
            let result = self.obey(request, oldest);
            // What is not in the file yet is nobody's to read.
            if self.buffer.is_empty() {
                self.publish(shared);
            }
            if let Some(answer) = shared.0.lock().answers.get_mut(&number) {
                *answer = Some(result);
            }
            shared.1.notify_all();
        }
        written?;
        if stop {
            return self.close();
        }
        if self.state.position != self.settled && self.settled_at.elapsed() >= SETTLE_TIME {
            self.settle()?;
        }
        Ok(())
    }

    /// Writes what is there.
    fn write_all(&mut self, shared: &(Mutex<Shared>, Condvar)) -> Result<()> {
        if self.begins {
            self.begin()?;
        }
        if self.settings.checksum != self.checksum {
            self.rotate(true)?;
        }
        while self.write_next()? {
            if self.buffer.len() >= BUFFER_BYTES / 2 {
                self.flush()?;
                self.publish(shared);
            }
            if self.state.position - self.settled >= SETTLE_BYTES {
                self.settle()?;
            }
        }
        self.flush()?;
        self.publish(shared);
        Ok(())
    }

    fn obey(&mut self, request: Request, oldest: u64) -> Result<()> {
        match request {
            Request::Rotate => self.rotate(true),
            Request::Settle => self.settle(),
            Request::Purge(to) => self.purge(to.min(oldest)),
            Request::Reset(number) => self.reset(number),
            Request::AddPurged(set) => {
                self.state.executed.union(&set);
                self.state.purged.union(&set);
                // The next file says that they are executed.
                self.rotate(true)
            }
        }
    }

    /// At start: completes the files, and begins a new one unless the first was just begun.
    fn begin(&mut self) -> Result<()> {
        self.catch_up()?;
        if self.begins {
            self.rotate(false)?;
            self.begins = false;
        }
        Ok(())
    }

    /// All that is durable in the log.
    fn catch_up(&mut self) -> Result<()> {
        while self.write_next()? {}
        self.flush()
    }

    /// Writes the next commit; false: there is none.
    fn write_next(&mut self) -> Result<bool> {
        if self.pending.is_none() {
            self.pending = self.stream.next()?;
        }
        let Some(commit) = self.pending else {
            self.state.position = self.state.position.max(self.stream.position());
            return Ok(false);
        };
        if commit.start >= self.state.position {
            let begin = self.state.offset;
            if let Err(e) = self.write(&commit) {
                // As it was. What went to the file already is overwritten.
                self.assembler = Assembler::default();
                let buffer_at = self.state.offset - self.buffer.len() as u64;
                self.buffer.truncate(begin.saturating_sub(buffer_at) as usize);
                self.state.offset = begin;
                return Err(e);
            }
        }
        self.pending = None;
        if self.state.offset >= self.settings.file_max {
            self.rotate(true)?;
        }
        Ok(true)
    }

    fn write(&mut self, commit: &CommittedEvents) -> Result<()> {
        let sum = self.checksum.bytes() as u64;
        let mut others = 0;
        let end = self.pass(commit, &mut |e: Unplaced<'_>| {
            others += event::HEADER_BYTES as u64 + e.body.iter().map(|b| b.len() as u64).sum::<u64>() + sum;
            Ok(())
        })?;
        if end.is_block {
            others += 2 * (event::HEADER_BYTES as u64 + sum) + end.begin.len() as u64 + 8;
        }
        let gtid = self.number(&end)?;
        let us = end.commit_us;
        let event = GtidEvent {
            gtid,
            has_statements: end.has_statements,
            last_committed: self.last_committed(end.prepared),
            sequence_number: self.state.sequence + 1,
            immediate_commit_us: us,
            original_commit_us: if end.original_us == 0 { us } else { end.original_us },
            immediate_version: self.config.version_number,
            original_version: match end.original_version {
                0 => self.config.version_number,
                version => version,
            },
        };
        let stamp = Stamp { timestamp: (us / 1_000_000) as u32, server_id: end.server_id };
        self.put(event.kind(), stamp, 0, &[&event.body(others, self.checksum)])?;
        if end.is_block {
            let stamp = Stamp { timestamp: end.timestamp, ..stamp };
            self.put(Kind::Query, stamp, FLAG_SUPPRESS_USE, &[&end.begin])?;
        }
        let mut writer = std::mem::take(&mut self.assembler);
        let result = {
            let (this, server_id) = (&mut *self, end.server_id);
            let mut sink = |out: &mut Output, e: Unplaced<'_>| {
                let stamp = Stamp { timestamp: e.timestamp, server_id };
                out.put(e.kind, stamp, e.flags, e.body)
            };
            this.second_pass(commit, &mut writer, &mut sink)
        };
        self.assembler = writer;
        result?;
        if end.is_block {
            self.put(Kind::Xid, stamp, 0, &[&event::xid(commit.start)])?;
        }
        if let Some(gtid) = gtid {
            self.state.executed.add(gtid.uuid, gtid.number);
            // Relaxed: see `Binlog::track`.
            if self.trackers.load(Ordering::Relaxed) > 0 {
                self.numbered.push((commit.end, gtid));
            }
        }
        self.state.sequence += 1;
        if self.state.recent.len() == RECENT_MAX {
            self.state.recent.pop_front();
        }
        self.state.recent.push_back((commit.end, self.state.sequence));
        self.state.position = commit.end;
        self.state.needed = self.stream.needed();
        Ok(())
    }

    /// Gives the events of a commit to `sink`; what its end says.
    fn pass(&mut self, commit: &CommittedEvents, sink: &mut impl FnMut(Unplaced<'_>) -> Result<()>) -> Result<Commit> {
        let assembler = &mut self.assembler;
        let mut failed = None;
        let read = self.stream.read(commit, |bytes| {
            assembler.feed(bytes, sink).map_err(|e| {
                failed = Some(e);
                engine::Error::Interrupted
            })
        });
        if let Some(e) = failed {
            return Err(e);
        }
        read?;
        assembler.finish(sink)
    }

    fn second_pass(
        &mut self,
        commit: &CommittedEvents,
        assembler: &mut Assembler,
        sink: &mut impl FnMut(&mut Output<'_>, Unplaced<'_>) -> Result<()>,
    ) -> Result<()> {
        let mut failed = None;
        let mut out = Output {
            buffer: &mut self.buffer,
            offset: &mut self.state.offset,
            file: &self.file,
            checksum: self.checksum,
        };
        let read = self.stream.read(commit, |bytes| {
            assembler.feed(bytes, &mut |e: Unplaced<'_>| sink(&mut out, e)).map_err(|e: Error| {
                failed = Some(e);
                engine::Error::Interrupted
            })
        });
        if let Some(e) = failed {
            return Err(e);
        }
        read?;
        assembler.finish(&mut |e: Unplaced<'_>| sink(&mut out, e)).map(drop)
    }

    fn put(&mut self, kind: Kind, stamp: Stamp, flags: u16, body: &[&[u8]]) -> Result<()> {
        let mut out = Output {
            buffer: &mut self.buffer,
            offset: &mut self.state.offset,
            file: &self.file,
            checksum: self.checksum,
        };
        out.put(kind, stamp, flags, body)
    }

    fn number(&self, end: &Commit) -> Result<Option<Gtid>> {
        Ok(match end.numbering {
            Numbering::Anonymous => None,
            // A number of this server's own may have gone to another transaction since it was given.
            Numbering::Given(gtid) if !self.state.executed.contains(gtid.uuid, gtid.number) => Some(gtid),
            Numbering::Automatic | Numbering::Given(_) => {
                let uuid = self.config.server_uuid;
                let number = self.state.executed.next_free(uuid);
                Some(Gtid { uuid, number: number.ok_or("all numbers of transactions are used up")? })
            }
        })
    }

    /// The newest commit that ends no later in the log than `prepared`: all before it had their locks to themselves.
    fn last_committed(&self, prepared: Lsn) -> u64 {
        let recent = &self.state.recent;
        let behind = recent.partition_point(|(end, _)| *end <= prepared);
        match behind.checked_sub(1) {
            Some(at) => recent[at].1,
            // Older ones than are remembered count as before it.
            None => recent.front().map_or(self.state.sequence, |(_, first)| first - 1),
        }
    }

    fn flush(&mut self) -> Result<()> {
        if !self.buffer.is_empty() {
            self.file.write_at(&self.buffer, self.state.offset - self.buffer.len() as u64)?;
            self.buffer.clear();
        }
        Ok(())
    }

    /// What is in the files is on disk, the state says so, and the log below is not needed any more.
    fn settle(&mut self) -> Result<()> {
        self.flush()?;
        self.file.sync_data()?;
        self.save_state()
    }

    fn save_state(&mut self) -> Result<()> {
        self.state.needed = match self.pending {
            Some(_) => self.state.needed,
            None => self.stream.needed(),
        };
        self.files.save_state(&self.state)?;
        self.engine.retain_events(Some(self.state.needed))?;
        self.settled = self.state.position;
        self.settled_at = Instant::now();
        Ok(())
    }

    /// Goes on in a new file. `in_order`: the old one ends with the name of the new one.
    fn rotate(&mut self, in_order: bool) -> Result<()> {
        self.flush()?;
        let next = self.state.file + 1;
        if next > files::NUMBER_MAX {
            return Err("the binary log has used up its file numbers".into());
        }
        let end = self.state.offset;
        if in_order {
            let stamp = Stamp { timestamp: now_s(), server_id: self.config.server_id };
            let body = event::rotate(&self.files.name(next), MAGIC.len() as u64);
            let put = self.put(Kind::Rotate, stamp, 0, &[&body]).and_then(|()| self.flush());
            if let Err(e) = put {
                self.buffer.clear();
                self.state.offset = end;
                return Err(e);
            }
        }
        let began = self.file.sync_data().map_err(Error::from).and_then(|()| self.begin_file(next, !in_order));
        if began.is_err() {
            self.state.offset = end;
            return began;
        }
        self.expire()
    }

    /// `first`: since the server has started.
    fn begin_file(&mut self, number: u64, first: bool) -> Result<()> {
        if self.state.file != 0 {
            self.mark_closed()?;
        }
        let now = now_s();
        let stamp = Stamp { timestamp: now, server_id: self.config.server_id };
        let checksum = self.settings.checksum;
        let mut front = MAGIC.to_vec();
        let body = event::format_description(&self.config.version, if first { now } else { 0 }, checksum);
        let start = Some(front.len() as u64);
        event::put(&mut front, Kind::FormatDescription, stamp, FLAG_IN_USE, start, &[&body], checksum);
        let start = Some(front.len() as u64);
        let gtids = event::previous_gtids(&self.state.executed);
        event::put(&mut front, Kind::PreviousGtids, stamp, 0x80, start, &[&gtids], checksum);
        let options = OpenOptions { truncate: true, ..OpenOptions::CREATE };
        let file = self.files.open_file(number, options)?;
        file.write_at(&front, 0)?;
        file.sync_data()?;
        let mut numbers = self.files.numbers().to_vec();
        if numbers.last() != Some(&number) {
            numbers.push(number);
        }
        self.files.list(numbers)?;
        let before = self.state.clone();
        self.state.file = number;
        self.state.offset = front.len() as u64;
        self.state.sequence = 0;
        self.state.recent.clear();
        self.state.closed = false;
        if let Err(e) = self.save_state() {
            self.state = before;
            return Err(e);
        }
        self.file = file;
        self.checksum = checksum;
        Ok(())
    }

    /// The file being written is complete.
    fn mark_closed(&self) -> Result<()> {
        let at = MAGIC.len() as u64 + event::HEADER_BYTES as u64 - 2;
        self.file.write_at(&[0], at)?;
        Ok(self.file.sync_data()?)
    }

    /// Files that nobody has written to for so long as they are kept go.
    fn expire(&mut self) -> Result<()> {
        if self.settings.expire.is_zero() {
            return Ok(());
        }
        match SystemTime::now().checked_sub(self.settings.expire) {
            Some(time) => self.purge(first_since(&self.files, time)?),
            None => Ok(()),
        }
    }

    /// Removes the files before `to`, the one in use never.
    fn purge(&mut self, to: u64) -> Result<()> {
        let to = to.min(self.state.file);
        let (gone, kept): (Vec<u64>, Vec<u64>) = self.files.numbers().iter().partition(|n| **n < to);
        if gone.is_empty() {
            return Ok(());
        }
        let first = self.files.open_file(kept[0], OpenOptions::READ)?;
        self.state.purged.union(&files::front(&first)?.previous);
        // The index first: what it does not list nobody misses. On a full disk the oldest file makes room; a start passes over its name.
        if let Err(error) = self.files.list(kept.clone()) {
            if error != Error::DiskFull {
                return Err(error);
            }
            self.files.remove(gone.iter().copied().take(1))?;
            self.files.list(kept)?;
        }
        let settled = self.settle();
        self.files.remove(gone.into_iter())?;
        if settled == Err(Error::DiskFull) { self.settle() } else { settled }
    }

    fn reset(&mut self, number: u64) -> Result<()> {
        self.flush()?;
        let gone: Vec<u64> = self.files.numbers().to_vec();
        (self.state.executed, self.state.purged) = (GtidSet::default(), GtidSet::default());
        self.files.list(Vec::new())?;
        let stays = gone.iter().copied().filter(|n| *n != number);
        // The state refers to the new file before the old ones are gone.
        self.state.file = 0;
        self.begin_file(number, false)?;
        self.files.remove(stays.collect::<Vec<_>>().into_iter())
    }

    fn close(&mut self) -> Result<()> {
        let stamp = Stamp { timestamp: now_s(), server_id: self.config.server_id };
        self.put(Kind::Stop, stamp, 0, &[])?;
        self.flush()?;
        self.mark_closed()?;
        self.state.closed = true;
        self.save_state()
    }
}

/// Where events go.
struct Output<'w> {
    buffer: &'w mut Vec<u8>,
    offset: &'w mut u64,
    file: &'w File,
    checksum: Checksum,
}

impl Output<'_> {
    fn put(&mut self, kind: Kind, stamp: Stamp, flags: u16, body: &[&[u8]]) -> Result<()> {
        let before = self.buffer.len();
        event::put(self.buffer, kind, stamp, flags, Some(*self.offset), body, self.checksum);
        *self.offset += (self.buffer.len() - before) as u64;
        if self.buffer.len() >= BUFFER_BYTES {
            self.file.write_at(self.buffer, *self.offset - self.buffer.len() as u64)?;
            self.buffer.clear();
        }
        Ok(())
    }
}
