//! The one thread that makes files of the log.
//!
//! ```text
//!   EventStream::next          the next commit that is durable
//!   read its items             drafts of its events, and what its end says
//!   number it                  GTID, sequence number, last_committed: by what came before it
//!   place its events           position and checksum; those of a large transaction are read and made once more
//!   publish                    readers may go so far; then the next one
//!   settle, now and then       sync the file, write the state, let go of the log below it
//! ```
//! When the device is full or fails, the thread tries again each second; meanwhile the log keeps what is not in the files, and at its
//! capacity commits wait, as they do for a checkpoint.

use crate::dependency::{self, History};
use crate::error::{Error, Result};
use crate::event::{self, Checksum, FLAG_SUPPRESS_USE, GtidEvent, Kind, Stamp};
use crate::files::{self, Files, State};
use crate::payload::{Assembler, Commit, Numbering, Unplaced};
use crate::sealed::{LogFile, LogKeys};
use crate::semisync::{Place, SemiSync, SemiSyncSettings, SemiSyncStatus};
use crate::statistics::{Sizes, Statistics};
use engine::{CommittedEvents, Confirmer, Engine, EventStream, Lsn};
use io::{File, OpenOptions};
use output::{BUFFER_BYTES, Draft, Output};
use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};
use sync::waits::Wait;
use sync::{Condvar, Mutex, Rank};
use types::gtid::{Gtid, GtidSet, Uuid};

mod output;
mod requests;
mod rotation;

/// This part of the log's capacity, or so long, may go by between two settlements: each is six flushes, and the log keeps what is
/// not settled.
const SETTLE_PART: u64 = 4;
const SETTLE_TIME: Duration = Duration::from_secs(5);
/// How long the thread sleeps when nothing comes.
const IDLE: Duration = Duration::from_secs(1);
/// Between two rounds of which the first failed, unless somebody asks for the second.
const RETRY: Duration = Duration::from_secs(1);
/// Numbers of commits that are remembered while a session asks for those of its own.
const NUMBERED_MAX: usize = 1 << 16;
/// Commits whose places in the log are remembered, for `last_committed`.
const RECENT_MAX: usize = 256;

/// What is fixed at start.
#[derive(Clone, Debug)]
pub struct Config {
    pub directory: PathBuf,
    /// Where the engine's files are.
    pub data: PathBuf,
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
    /// `binlog_encryption`
    pub encrypts: bool,
    /// `binlog_expire_logs_seconds`; 0: files are kept.
    pub expire: Duration,
    /// `binlog_transaction_dependency_history_size`, from the next settlement on.
    pub history_max: u64,
}

/// A file, as SHOW BINARY LOGS tells of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileInfo {
    pub number: u64,
    pub name: String,
    /// On disk.
    pub size: u64,
    pub encrypted: bool,
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

/// A commit in the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tracked {
    /// Where it ends in the log.
    pub end: Lsn,
    /// `None`: it is anonymous.
    pub gtid: Option<Gtid>,
    /// Where it ends in the files.
    pub place: Place,
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
    /// A session owns this number of the server's own, unless it is executed; or does so no longer.
    Reserve(Gtid),
    Release(Gtid),
    /// The state is to say what is in the files now.
    Settle,
    /// The file in use is to be encrypted, or not.
    Encrypt(bool),
    /// What compression has done is counted anew.
    ForgetStatistics,
}

struct Shared {
    published: Published,
    statistics: Statistics,
    settings: Settings,
    requests: VecDeque<(u64, Request)>,
    asked: u64,
    /// Answers by number of the request, `None` before there is one. Who gives up takes his request with him.
    answers: BTreeMap<u64, Option<Result<()>>>,
    /// The last commits in the order of where they end in the log, while there are trackers.
    numbered: VecDeque<Tracked>,
    /// Files that readers are in, each reader's.
    in_use: BTreeMap<u64, u64>,
    readers: u64,
    /// Rounds begun.
    rounds: u64,
    /// Somebody waits for what becomes of this round: the writer does not rest before it.
    wanted: u64,
    /// Why the last round that has ended did not come to its end, and which it was.
    failed: Option<(u64, Error)>,
    stop: bool,
    stopped: bool,
}

impl Shared {
    /// Puts a request in line. Returns its number.
    fn request(&mut self, request: Request) -> u64 {
        self.asked += 1;
        self.requests.push_back((self.asked, request));
        self.asked
    }
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
    keys: Arc<LogKeys>,
    semisync: Arc<SemiSync>,
    shared: Arc<(Mutex<Shared>, Condvar)>,
    /// Sessions that want to know the numbers of their commits. W: those sessions. R: the writer.
    trackers: Arc<AtomicUsize>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// What an administrator is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum News {
    /// The files are not written, or are again.
    Files,
    /// Commits wait for replicas from now on.
    SemiSyncOn,
    /// They do not, as nobody wants it or there are not enough replicas; one has waited too long.
    SemiSyncOff,
    SemiSyncTimeout,
}

pub type Tell = Arc<dyn Fn(News, &str) + Send + Sync>;

impl Binlog {
    /// From where on the engine has to keep its log, to be asked before it is opened; `None`: there is no binary log yet.
    pub fn needed(config: &Config) -> Result<Option<Lsn>> {
        let state = Files::open(&config.directory, &config.base, None)?.state_or_executed(&config.data)?;
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
            statistics: writer.statistics,
            settings,
            requests: VecDeque::new(),
            asked: 0,
            answers: BTreeMap::new(),
            numbered: VecDeque::new(),
            in_use: BTreeMap::new(),
            readers: 0,
            rounds: 0,
            wanted: 0,
            failed: None,
            stop: false,
            stopped: false,
        };
        let shared = Arc::new((Mutex::new(Rank::Binlog, shared), Condvar::new()));
        let trackers = Arc::clone(&writer.trackers);
        let keys = Arc::clone(&writer.keys);
        let semisync = Arc::new(SemiSync::new(&config.base, Arc::clone(&tell)));
        writer.semisync = Some(Arc::clone(&semisync));
        engine.set_confirmer(Arc::clone(&semisync) as Arc<dyn Confirmer>);
        let for_thread = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("binlog".into());
        let thread = thread.spawn(move || run(writer, &for_thread, &tell)).map_err(|e| Error::Io(e.to_string()))?;
        Ok(Arc::new(Binlog {
            engine: Arc::clone(engine),
            config,
            keys,
            semisync,
            shared,
            trackers,
            thread: Mutex::new(Rank::Session, Some(thread)),
        }))
    }

    /// For a server without a binary log: completes the files of one that it had, and lets go of the log.
    pub fn complete(engine: &Arc<Engine>, config: &Config, settings: Settings) -> Result<()> {
        let files = Files::open(&config.directory, &config.base, None)?;
        let Some(state) = files.state_or_executed(&config.data)? else { return Ok(()) };
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

    /// Of its files, and of the relay logs beside them.
    pub fn keys(&self) -> &Arc<LogKeys> {
        &self.keys
    }

    pub(crate) fn open_files(&self) -> Result<Files> {
        Files::open(&self.config.directory, &self.config.base, Some(Arc::clone(&self.keys)))
    }

    /// After a change of [`Settings::encrypts`]: waits until the file in use is as it says. Errors: [`Error::Keys`].
    pub fn encrypt(&self, on: bool, ended: impl Fn() -> bool) -> Result<()> {
        self.catch_up(&ended)?;
        self.ask(Request::Encrypt(on), ended)
    }

    /// ALTER INSTANCE ROTATE BINLOG MASTER KEY: a new key, a new file, and all files are under that key. Errors: [`Error::Keys`].
    pub fn rotate_key(&self, ended: impl Fn() -> bool) -> Result<()> {
        self.keys.rotate()?;
        self.rotate(&ended)?;
        let files = self.open_files()?;
        for number in self.published().files.iter() {
            match files.open_file(*number, OpenOptions::write(Wait::BinlogFile)) {
                // Purged meanwhile.
                Err(Error::Io(_)) if !files.found()?.contains(number) => {}
                opened => opened?.reseal(&self.keys)?,
            }
        }
        Ok(())
    }

    pub fn set(&self, settings: Settings) {
        self.shared.0.lock().settings = settings;
    }

    pub fn published(&self) -> Published {
        self.shared.0.lock().published.clone()
    }

    /// Up to where the files may be read.
    fn end(&self) -> (Place, Lsn) {
        let published = &self.shared.0.lock().published;
        ((published.file, published.offset), published.position)
    }

    pub fn set_semisync(&self, settings: SemiSyncSettings) {
        self.semisync.set(&self.engine, settings, self.end());
    }

    /// A reader of the files that answers what it has, by a number of its own, until it ends.
    pub fn attach_answering(&self, reader: u64) {
        self.semisync.attach(reader);
    }

    pub fn detach_answering(&self, reader: u64) {
        self.semisync.detach(&self.engine, reader);
    }

    /// It has everything before `place`.
    pub fn answered(&self, reader: u64, place: Place) {
        self.semisync.answered(&self.engine, reader, place);
    }

    /// Do commits wait for answers?
    pub fn waits_for_answers(&self) -> bool {
        self.semisync.is_on()
    }

    pub fn semisync_status(&self) -> SemiSyncStatus {
        self.semisync.status()
    }

    /// What compression has done to what is in the files since the start.
    pub fn statistics(&self) -> Statistics {
        self.shared.0.lock().statistics
    }

    pub fn file_name(&self, number: u64) -> String {
        format!("{}.{number:06}", self.config.base)
    }

    /// The same once all commits so far are in the files. `ended`: why the wait should end. Errors: the writer's own, when it has tried
    /// since and could not.
    pub fn catch_up(&self, ended: impl Fn() -> bool) -> Result<Published> {
        let end = self.engine.hurry_events()?;
        let round = self.hurry();
        self.wait(ended, |shared| match &shared.failed {
            _ if shared.published.position >= end => Some(Ok(shared.published.clone())),
            Some((failed, error)) if *failed >= round => Some(Err(error.clone())),
            _ => None,
        })?
    }

    /// The next round begins at once, also after one that failed. Returns its number.
    fn hurry(&self) -> u64 {
        let (mutex, moved) = &*self.shared;
        let mut shared = mutex.lock();
        shared.wanted = shared.rounds + 1;
        if shared.failed.is_some() {
            moved.notify_all();
        }
        shared.wanted
    }

    /// A session wants to know the numbers of its commits from now on: [`Binlog::number_at`].
    pub fn track(&self) -> Tracker {
        // Relaxed: a commit of this session reaches the writer by way of the log, which orders both.
        self.trackers.fetch_add(1, Ordering::Relaxed);
        Tracker(Arc::clone(&self.trackers))
    }

    /// The commit that ends there in the log, which is in the files, for who [`Binlog::track`]s. `None`: there have been tens of thousands
    /// since.
    pub fn tracked(&self, end: Lsn) -> Option<Tracked> {
        let shared = self.shared.0.lock();
        let at = shared.numbered.binary_search_by_key(&end, |tracked| tracked.end).ok()?;
        Some(shared.numbered[at])
    }

    /// How many replicas have told that they have everything before `place`.
    pub fn replicas_at(&self, place: Place) -> usize {
        self.semisync.replicas_at(place)
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
            moved.wait_timeout(&mut shared, left.min(sync::blocking::ASK_AGAIN), Wait::BinlogWriter);
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
            moved.wait_timeout(&mut shared, left, Wait::BinlogWriter);
        }
    }

    /// The files with their lengths as far as they may be read.
    pub fn files(&self) -> Result<Vec<FileInfo>> {
        let published = self.published();
        let files = self.open_files()?;
        let mut all = Vec::new();
        for number in published.files.iter() {
            let file = files.open_file(*number, OpenOptions::read(Wait::BinlogFile))?;
            let end = if *number == published.file { published.offset } else { file.len()? };
            let (size, encrypted) = (end + file.header_bytes(), file.is_encrypted());
            all.push(FileInfo { number: *number, name: files.name(*number), size, encrypted });
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
            moved.wait_timeout(&mut shared, sync::blocking::ASK_AGAIN, Wait::BinlogWriter);
        }
    }
}

/// The thread.
fn run(mut writer: Writer, shared: &(Mutex<Shared>, Condvar), tell: &Tell) {
    let mut failed = None;
    let mut answered = None;
    loop {
        let asked = writer.engine.asked_for_events();
        let (settings, stop, number) = {
            let mut shared = shared.0.lock();
            shared.rounds += 1;
            (shared.settings, shared.stop, shared.rounds)
        };
        writer.set(settings);
        let result = writer.round(shared, stop, answered.is_some_and(|(last, _)| last != asked));
        let answer = Some((asked, result.is_err()));
        if answered != answer {
            writer.engine.answer_events(asked, result.is_err());
            answered = answer;
        }
        if result != failed.clone().map_or(Ok(()), Err) {
            match &result {
                Err(e) => tell(News::Files, &format!("The binary log is not written: {e}. Trying again each second.")),
                Ok(()) => tell(News::Files, "The binary log is written again."),
            }
        }
        failed = result.err();
        let (mutex, moved) = shared;
        let mut told = mutex.lock();
        told.failed = failed.clone().map(|error| (number, error));
        told.stopped = stop;
        if stop || failed.is_some() {
            moved.notify_all();
        }
        if stop {
            return;
        }
        if failed.is_none() {
            drop(told);
            writer.stream.wait(IDLE);
            continue;
        }
        let again = Instant::now() + RETRY;
        while told.wanted <= number && !told.stop {
            let left = again.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            moved.wait_timeout(&mut told, left, Wait::BinlogWriter);
        }
    }
}

/// The thread that writes the files. Its fields are what it has to know between two commits; nobody else sees them.
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
    file: LogFile,
    keys: Arc<LogKeys>,
    checksum: Checksum,
    /// As it will be when the buffer is in the file; `state.position` is that of the next commit.
    state: State,
    /// Bytes that belong at the end of the file, before `state.offset`.
    buffer: Vec<u8>,
    settled: Lsn,
    settled_at: Instant,
    assembler: Assembler,
    draft: Draft,
    history: History,
    trackers: Arc<AtomicUsize>,
    /// Numbers that are not published yet.
    numbered: Vec<Tracked>,
    statistics: Statistics,
    /// Told of what is published; not there while the files are completed at a start.
    semisync: Option<Arc<SemiSync>>,
}

fn now_s() -> u32 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |d| d.as_secs() as u32)
}

impl Writer {
    /// Opens the files where the state says, and the log at the same place.
    fn open(engine: &Arc<Engine>, config: &Config, settings: Settings) -> Result<Writer> {
        let keys = LogKeys::new(engine.vault(), config.server_uuid.to_string(), settings.encrypts);
        let keys = Arc::new(keys);
        let mut files = Files::open(&config.directory, &config.base, Some(Arc::clone(&keys)))?;
        let found = files.found()?;
        let state = match files.state_or_executed(&config.data)? {
            state if !found.is_empty() && state.as_ref().is_none_or(|state| state.file == 0) => {
                return Err(files.without_state(&found));
            }
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
        let beyond: Vec<u64> = found.iter().copied().filter(|n| *n > state.file).collect();
        let is_kept = |n: &u64| *n < state.file && found.contains(n);
        let mut kept: Vec<u64> = files.numbers().iter().copied().filter(is_kept).collect();
        files.check_gaps(&kept, state.file)?;
        if state.file != 0 {
            kept.push(state.file);
            if kept != files.numbers() {
                files.list(kept)?;
            }
            files.remove(beyond.into_iter())?;
        } else if !files.numbers().is_empty() {
            // None of those that it lists is there.
            files.list(Vec::new())?;
        }
        let mut writer = Writer {
            engine: Arc::clone(engine),
            config: config.clone(),
            settings,
            stream,
            pending: None,
            begins: state.file != 0,
            // Replaced at once.
            file: LogFile::create(File::unnamed(&config.directory, Wait::BinlogFile)?, None)?,
            keys,
            checksum: settings.checksum,
            settled: state.needed,
            settled_at: Instant::now(),
            buffer: Vec::new(),
            assembler: Assembler::default(),
            draft: Draft::default(),
            history: History::new(state.sequence, state.history_max as usize),
            trackers: Arc::new(AtomicUsize::new(0)),
            numbered: Vec::new(),
            statistics: Statistics::default(),
            semisync: None,
            files,
            state,
        };
        if writer.state.file == 0 {
            writer.begin_file(1, true)?;
            return Ok(writer);
        }
        // A crash may have come between the index and the state of a purge.
        let oldest = writer.files.open_file(writer.files.numbers()[0], OpenOptions::read(Wait::BinlogFile))?;
        writer.state.purged.union(&files::front(&oldest)?.previous);
        writer.file = writer.files.open_file(writer.state.file, OpenOptions::write(Wait::BinlogFile))?;
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
        guard.statistics = self.statistics;
        guard.numbered.extend(self.numbered.drain(..));
        let too_many = guard.numbered.len().saturating_sub(NUMBERED_MAX);
        guard.numbered.drain(..too_many);
        drop(guard);
        shared.1.notify_all();
        if let Some(semisync) = &self.semisync {
            semisync.published(&self.engine, (file, offset), position);
        }
    }

    /// Writes what is there, a portion at a time, and does after each what was asked: while others commit, the end may never come.
    /// After an error everything is as if the round had not gone further than what is written, and it can be begun again.
    /// `settles`: somebody has no room for the log that is kept for this writer.
    fn round(&mut self, shared: &(Mutex<Shared>, Condvar), stop: bool, settles: bool) -> Result<()> {
        loop {
            let written = self.write_portion(shared);
            self.obey_all(shared, written.is_ok());
            if !written? {
                break;
            }
            self.set(shared.0.lock().settings);
        }
        if stop {
            return self.close();
        }
        if self.state.position != self.settled && (settles || self.settled_at.elapsed() >= SETTLE_TIME) {
            self.settle()?;
        }
        Ok(())
    }

    fn set(&mut self, settings: Settings) {
        self.settings = settings;
        self.keys.set(settings.encrypts);
    }

    /// Writes and publishes what is there, up to a buffer full or the end of a file. False: there is no more.
    fn write_portion(&mut self, shared: &(Mutex<Shared>, Condvar)) -> Result<bool> {
        if self.begins {
            self.begin()?;
        }
        if self.settings.checksum != self.checksum || self.settings.encrypts != self.file.is_encrypted() {
            self.rotate(true)?;
        }
        let file = self.state.file;
        let mut more = true;
        while more && self.buffer.len() < BUFFER_BYTES / 2 && self.state.file == file {
            more = self.write_next()?;
        }
        self.flush()?;
        self.publish(shared);
        if self.state.position - self.settled >= self.engine.log_capacity() / SETTLE_PART {
            self.settle()?;
        }
        Ok(more)
    }

    /// At start: completes the files, and begins a new one unless the first was just begun.
    fn begin(&mut self) -> Result<()> {
        self.catch_up()?;
        // The sessions that owned numbers are gone.
        self.state.reserved = GtidSet::default();
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
        let own = (event::HEADER_BYTES + self.checksum.bytes()) as u64;
        let mut sizes = Sizes::default();
        let mut draft = std::mem::take(&mut self.draft);
        draft.begin(self.checksum);
        let end = self.pass(commit, &mut |e: Unplaced<'_>| {
            sizes.add(&e);
            draft.add(&e);
            Ok(())
        });
        self.draft = draft;
        let (end, mut others) = (end?, self.draft.len);
        let last_event = end.last_event(commit.start);
        let mut block = 0;
        if end.is_block {
            let sum = self.checksum.bytes() as u64;
            let last = last_event.as_ref().map_or(0, |(_, body)| own + body.len() as u64);
            others += own + end.begin.len() as u64 + last;
            block = own - sum + end.begin.len() as u64 + last.saturating_sub(sum);
        }
        let by_locks = dependency::by_locks(&self.state, end.prepared);
        let gtid = self.number(&end)?;
        let us = end.commit_us;
        let event = GtidEvent {
            gtid,
            has_statements: end.has_statements,
            last_committed: self.history.last_committed(self.assembler.written(), by_locks),
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
        if !self.assembler.goes_again() && self.draft.is_whole {
            let mut out = Output {
                buffer: &mut self.buffer,
                offset: &mut self.state.offset,
                file: &self.file,
                checksum: self.checksum,
            };
            out.put_draft(&self.draft.bytes, end.server_id)?;
        } else {
            let mut assembler = std::mem::take(&mut self.assembler);
            let result = self.second_pass(commit, &mut assembler, end.server_id);
            self.assembler = assembler;
            result?;
        }
        match last_event {
            Some((Kind::Query, body)) => {
                let stamp = Stamp { timestamp: end.timestamp, ..stamp };
                self.put(Kind::Query, stamp, FLAG_SUPPRESS_USE, &[&body])?;
            }
            Some((kind, body)) => self.put(kind, stamp, 0, &[&body])?,
            None => {}
        }
        if let Some(gtid) = gtid {
            self.state.executed.add(gtid);
            if !self.state.reserved.is_empty() {
                self.state.reserved.remove(gtid);
            }
        }
        // Relaxed: see `Binlog::track`.
        if self.trackers.load(Ordering::Relaxed) > 0 {
            let place = (self.state.file, self.state.offset);
            self.numbered.push(Tracked { end: commit.end, gtid, place });
        }
        self.statistics.count(sizes, block, gtid, us);
        self.state.sequence += 1;
        if self.state.recent.len() == RECENT_MAX {
            self.state.recent.pop_front();
        }
        self.state.recent.push_back((commit.end, self.state.sequence));
        self.history.add(self.assembler.written(), self.state.sequence);
        self.state.position = commit.end;
        self.state.needed = self.stream.needed();
        Ok(())
    }

    /// Gives the events of a commit to `sink`; what its end says.
    fn pass(&mut self, commit: &CommittedEvents, sink: &mut impl FnMut(Unplaced<'_>) -> Result<()>) -> Result<Commit> {
        let assembler = &mut self.assembler;
        assembler.begin();
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

    fn second_pass(&mut self, commit: &CommittedEvents, assembler: &mut Assembler, server_id: u32) -> Result<()> {
        let mut failed = None;
        let mut out = Output {
            buffer: &mut self.buffer,
            offset: &mut self.state.offset,
            file: &self.file,
            checksum: self.checksum,
        };
        let mut sink = |e: Unplaced<'_>| out.put(e.kind, Stamp { timestamp: e.timestamp, server_id }, e.flags, e.body);
        let read = self.stream.read(commit, |bytes| {
            assembler.feed(bytes, &mut sink).map_err(|e: Error| {
                failed = Some(e);
                engine::Error::Interrupted
            })
        });
        if let Some(e) = failed {
            return Err(e);
        }
        read?;
        assembler.finish(&mut sink).map(drop)
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
            // A source may have sent a number of this server's own that has gone to another transaction.
            Numbering::Given(gtid) if !self.state.executed.contains(gtid) => Some(gtid),
            Numbering::Automatic(tag) | Numbering::Given(Gtid { tag, .. }) => {
                let uuid = self.config.server_uuid;
                let number = self.state.executed.next_free_beside(&self.state.reserved, uuid, tag);
                Some(Gtid { uuid, tag, number: number.ok_or("all numbers of transactions are used up")? })
            }
        })
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
        self.state.history_max = self.settings.history_max;
        self.files.save_state(&self.state, &self.config.data)?;
        self.history.begin(self.state.sequence, self.state.history_max as usize);
        self.engine.retain_events(Some(self.state.needed))?;
        self.settled = self.state.position;
        self.settled_at = Instant::now();
        Ok(())
    }
}
