//! The error log: what happens to the server, for whoever runs it.
//!
//! ```text
//!   event --> stages of log_error_services --> ring of 5 MiB, which performance_schema.error_log shows
//!             (filters drop or change it,  \-> pending lines --whoever finds nobody writing--> file, or stderr
//!              sinks print it)
//! ```
//!
//! One thread writes at a time; whoever comes meanwhile leaves its lines to that one and goes on, so that a slow disk holds up one
//! thread. Lines that find no room, and those that the disk does not take, are lost and counted (`Clearway_error_log_lines_lost`).

mod dragnet;
mod event;
mod notes;
mod pipeline;
mod ring;
mod settings;

pub use event::Level;
pub(crate) use event::quote;
pub(crate) use pipeline::Stage;
pub use ring::Logged;
pub(crate) use settings::named;

use crate::variables::{Globals, VarId, id};
use dragnet::Rules;
use event::Event;
use observe::CounterId;
use ring::Ring;
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};
use sync::{Mutex, Rank};

pub(crate) const SERVICES: VarId = id("log_error_services");
pub(crate) const SUPPRESSED: VarId = id("log_error_suppression_list");
pub(crate) const RULES: VarId = id("dragnet.log_error_filter_rules");
const LOG_ERROR: VarId = id("log_error");
const VERBOSITY: VarId = id("log_error_verbosity");
const TIMESTAMPS: VarId = id("log_timestamps");

/// Bytes of lines that wait for another thread's write.
const PENDING_BYTES_MAX: usize = 1 << 20;

/// What an event goes through.
struct Filter {
    stages: Vec<Stage>,
    verbosity: u64,
    is_system_time: bool,
    suppressed: Vec<u16>,
    /// The text of the rules, to know a new one by.
    rules_text: String,
    rules: Rules,
}

/// A line on its way to a sink's file.
struct Line {
    sink: Stage,
    text: String,
}

#[derive(Default)]
struct Pending {
    lines: Vec<Line>,
    bytes: usize,
    /// Somebody writes, and will find what is here.
    is_written: bool,
}

/// The figures of the ring for the status, which reads them under a lock of its own.
#[derive(Default)]
struct Figures {
    bytes: AtomicU64,
    events: AtomicU64,
    expired: AtomicU64,
    latest_us: AtomicU64,
}

pub struct ErrorLog {
    /// Empty: stderr.
    path: PathBuf,
    filter: Mutex<Filter>,
    ring: Mutex<Ring>,
    /// W: whoever has changed the ring. R: SHOW STATUS.
    figures: Arc<Figures>,
    pending: Mutex<Pending>,
    /// The open files, by sink. Held while they are written.
    files: Mutex<BTreeMap<u8, File>>,
    lost: CounterId,
}

/// The key of a sink's file.
fn file_key(sink: Stage) -> u8 {
    match sink {
        Stage::SinkJson(n) => n + 1,
        _ => 0,
    }
}

impl ErrorLog {
    /// As the variables say, with what the last server has left in the file. An error is one line for stderr.
    pub fn open(globals: &Globals) -> Result<ErrorLog, String> {
        let path = match globals.text(LOG_ERROR) {
            "stderr" => PathBuf::new(),
            path => PathBuf::from(path),
        };
        let log = ErrorLog {
            path,
            filter: Mutex::new(Rank::Observe, Filter::new()),
            ring: Mutex::new(Rank::Observe, Ring::default()),
            figures: Arc::default(),
            pending: Mutex::new(Rank::Observe, Pending::default()),
            files: Mutex::new(Rank::Observe, BTreeMap::new()),
            lost: observe::register("Clearway_error_log_lines_lost"),
        };
        settings::check_at_start(globals)?;
        log.set(globals);
        if !log.path.as_os_str().is_empty() {
            let sinks: Vec<Stage> = log.filter.lock().stages.iter().copied().filter(|s| s.is_sink()).collect();
            let shown = sinks.iter().find(|s| **s == Stage::SinkInternal).or(sinks.first());
            let before = shown.map_or_else(Vec::new, |sink| ring::read_back(&log.path_of(*sink)));
            let mut ring = log.ring.lock();
            before.into_iter().for_each(|line| ring.push(line));
            log.note_figures(&ring);
            drop(ring);
            for sink in sinks {
                let path = log.path_of(sink);
                let opened = open(&path).map_err(|e| format!("cannot open error log '{}': {e}", path.display()))?;
                log.files.lock().insert(file_key(sink), opened);
            }
        }
        log.register_gauges();
        Ok(log)
    }

    /// One to stderr for what is no server.
    pub fn to_stderr() -> ErrorLog {
        let mut globals = Globals::new();
        globals.set(VERBOSITY, crate::variables::Val::UInt(1));
        ErrorLog::open(&globals).expect("stderr is always there")
    }

    fn register_gauges(&self) {
        let gauge = |name: &str, read: fn(&Figures) -> &AtomicU64| {
            let figures = Arc::clone(&self.figures);
            // Relaxed: a figure for the reader.
            observe::register_gauge(name, move || read(&figures).load(Ordering::Relaxed));
        };
        gauge("Error_log_buffered_bytes", |f| &f.bytes);
        gauge("Error_log_buffered_events", |f| &f.events);
        gauge("Error_log_expired_events", |f| &f.expired);
        gauge("Error_log_latest_write", |f| &f.latest_us);
    }

    fn note_figures(&self, ring: &Ring) {
        let figures = &self.figures;
        // Relaxed: figures for the reader, each by itself.
        figures.bytes.store(ring.bytes as u64, Ordering::Relaxed);
        figures.events.store(ring.lines.len() as u64, Ordering::Relaxed); // Relaxed: as above
        figures.expired.store(ring.expired, Ordering::Relaxed); // Relaxed: as above
        figures.latest_us.store(ring.latest_us(), Ordering::Relaxed); // Relaxed: as above
    }

    /// `err.log`, `err.log.00.json`
    fn path_of(&self, sink: Stage) -> PathBuf {
        match sink {
            Stage::SinkJson(n) => {
                let mut name = self.path.clone().into_os_string();
                name.push(format!(".{n:02}.json"));
                PathBuf::from(name)
            }
            _ => self.path.clone(),
        }
    }

    /// FLUSH ERROR LOGS: a file that was renamed is left. One that cannot be opened stays as it is.
    pub fn reopen(&self) {
        if self.path.as_os_str().is_empty() {
            return;
        }
        let mut files = self.files.lock();
        for (key, file) in files.iter_mut() {
            let sink = if *key == 0 { Stage::SinkInternal } else { Stage::SinkJson(*key - 1) };
            if let Ok(fresh) = open(&self.path_of(sink)) {
                *file = fresh;
            }
        }
    }

    /// What the variables say holds from now on.
    pub fn set(&self, globals: &Globals) {
        let mut filter = self.filter.lock();
        filter.verbosity = globals.uint(VERBOSITY);
        filter.is_system_time = globals.uint(TIMESTAMPS) == 1;
        // They were checked when they were set.
        let stages = pipeline::parse(globals.text(SERVICES)).unwrap_or_default();
        let sinks = (filter.stages != stages).then(|| stages.iter().copied().filter(|s| s.is_sink()).collect());
        filter.stages = stages;
        filter.suppressed = pipeline::suppressed(globals.text(SUPPRESSED)).unwrap_or_default();
        let rules = globals.text(RULES);
        if filter.rules_text != rules {
            filter.rules = Rules::parse(rules).unwrap_or_default();
            filter.rules_text = rules.to_string();
        }
        drop(filter);
        if let Some(sinks) = sinks {
            self.use_files(sinks);
        }
    }

    /// The files of these sinks are open, others are not. One that cannot be opened is tried again with the first line.
    fn use_files(&self, sinks: Vec<Stage>) {
        if self.path.as_os_str().is_empty() {
            return;
        }
        let mut files = self.files.lock();
        files.retain(|key, _| sinks.iter().any(|sink| file_key(*sink) == *key));
        for sink in sinks {
            if let std::collections::btree_map::Entry::Vacant(place) = files.entry(file_key(sink))
                && let Ok(opened) = open(&self.path_of(sink))
            {
                place.insert(opened);
            }
        }
    }

    /// `dragnet.Status`
    pub(crate) fn rules(&self) -> String {
        self.filter.lock().rules.print()
    }

    /// Bytes of the ring now, and the most that there have been.
    pub(crate) fn ring_bytes(&self) -> (u64, u64) {
        let ring = self.ring.lock();
        (ring.bytes as u64, ring.highest as u64)
    }

    /// The rows of `performance_schema.error_log`.
    pub(crate) fn rows(&self) -> Vec<Logged> {
        self.ring.lock().lines.iter().cloned().collect()
    }

    pub fn write(&self, level: Level, code: u16, text: &str) {
        self.write_of(0, level, code, text);
    }

    /// `thread`: the connection that it is about.
    pub fn write_of(&self, thread: u64, level: Level, code: u16, text: &str) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let at_us = now.as_micros() as u64;
        let mut filter = self.filter.lock();
        let stamp = crate::logs::stamp(at_us, filter.is_system_time);
        let mut event = Event::new(level, code, thread, at_us, stamp, text);
        let (lines, shown) = filter.run(&mut event);
        drop(filter);
        if let Some(shown) = shown {
            let mut ring = self.ring.lock();
            ring.push(shown);
            self.note_figures(&ring);
        }
        if !lines.is_empty() {
            self.hand_over(lines);
        }
    }

    /// Writes the lines, and those that others leave meanwhile; or leaves them to who writes.
    fn hand_over(&self, lines: Vec<Line>) {
        {
            let mut pending = self.pending.lock();
            for line in lines {
                if pending.bytes + line.text.len() > PENDING_BYTES_MAX {
                    observe::increment(self.lost);
                    continue;
                }
                pending.bytes += line.text.len();
                pending.lines.push(line);
            }
            if std::mem::replace(&mut pending.is_written, true) {
                return;
            }
        }
        loop {
            let mut pending = self.pending.lock();
            if pending.lines.is_empty() {
                pending.is_written = false;
                return;
            }
            pending.bytes = 0;
            let lines = std::mem::take(&mut pending.lines);
            drop(pending);
            self.write_lines(&lines);
        }
    }

    /// A log that cannot be written does not stop the server.
    fn write_lines(&self, lines: &[Line]) {
        if self.path.as_os_str().is_empty() {
            let mut stderr = std::io::stderr().lock();
            let failed = lines.iter().filter(|line| stderr.write_all(line.text.as_bytes()).is_err()).count();
            observe::add(self.lost, failed as u64);
            return;
        }
        let mut files = self.files.lock();
        for line in lines {
            let key = file_key(line.sink);
            if !files.contains_key(&key)
                && let Ok(opened) = open(&self.path_of(line.sink))
            {
                files.insert(key, opened);
            }
            let written = files.get_mut(&key).is_some_and(|file| file.write_all(line.text.as_bytes()).is_ok());
            if !written {
                observe::increment(self.lost);
            }
        }
    }
}

/// Rows of the table.
pub(crate) fn shown(rows: Vec<Logged>) -> Vec<inspect::LoggedError> {
    let row = |row: Logged| inspect::LoggedError {
        at_us: row.at_us,
        thread: row.thread,
        prio: row.level as u64 + 1,
        code: row.code,
        subsystem: row.subsystem,
        data: row.data,
    };
    rows.into_iter().map(row).collect()
}

fn open(path: &Path) -> std::io::Result<File> {
    OpenOptions::new().create(true).append(true).open(path)
}

impl Filter {
    fn new() -> Filter {
        Filter {
            stages: Vec::new(),
            verbosity: 1,
            is_system_time: false,
            suppressed: Vec::new(),
            rules_text: String::new(),
            rules: Rules::default(),
        }
    }

    /// The lines of the sinks, and the row of the table: as the internal sink prints it, or the first one if that is not there.
    fn run(&mut self, event: &mut Event) -> (Vec<Line>, Option<Logged>) {
        let (mut lines, mut shown) = (Vec::new(), None);
        for stage in &self.stages {
            match stage {
                Stage::FilterInternal => {
                    let level = event.level();
                    let is_suppressed = || self.suppressed.contains(&event.code());
                    if level as u64 > self.verbosity || level as u64 > 1 && is_suppressed() {
                        break;
                    }
                }
                Stage::FilterDragnet => {
                    if !self.rules.run(event) {
                        break;
                    }
                }
                Stage::SinkInternal => {
                    lines.push(Line { sink: *stage, text: event.traditional() + "\n" });
                    shown = Some(Logged::of(event, event.line().replace("\n\t", "\n")));
                }
                Stage::SinkJson(_) => {
                    let json = event.json();
                    lines.push(Line { sink: *stage, text: json.clone() + "\n" });
                    shown = shown.or_else(|| Some(Logged::of(event, json)));
                }
            }
        }
        (lines, shown)
    }
}
