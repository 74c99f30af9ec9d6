//! The slow query log and the general query log: to files, and to the tables `mysql.slow_log` and `mysql.general_log`.
//!
//! ```text
//!   statement --Entry--> buffer of its connection --writer thread, in the order of time--> file, and rows of the table
//! ```
//!
//! A statement adds to a bounded buffer and goes on: no statement waits for the disk of a log. What finds no room, and what the disk
//! does not take, is lost and counted (`Clearway_log_entries_lost`). With both logs off a statement pays a load of one unchanging word.

pub(crate) mod audit;
mod entry;
mod hooks;
mod progress;
mod secrets;
mod writer;

pub use entry::stamp;
pub(crate) use entry::{Log, rows_of};
pub(crate) use progress::Progress;
pub(crate) use secrets::without_secrets;

use crate::variables::{Globals, Val, VarId, id};
use audit::{AuditCounts, AuditSettings};
use entry::Entry;
use observe::CounterId;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::time::Duration;
use sync::waits::Wait;
use sync::{CachePadded, Condvar, Mutex, Rank, Snapshot};
use types::codes::*;
use types::{Result, err};
use writer::Writer;

pub(crate) const GENERAL: VarId = id("general_log");
pub(crate) const GENERAL_FILE: VarId = id("general_log_file");
pub(crate) const SLOW: VarId = id("slow_query_log");
pub(crate) const SLOW_FILE: VarId = id("slow_query_log_file");
const OUTPUT: VarId = id("log_output");

/// Buffers of entries; connections are spread over them.
const BUFFERS: usize = 16;
/// Bytes of entries that one buffer holds.
const BUFFER_BYTES_MAX: usize = 1 << 20;
/// How long an entry waits in its buffer.
const WRITE_EVERY: Duration = Duration::from_millis(20);
/// How often a writer without work looks whether the server ends.
const IDLE: Duration = Duration::from_millis(500);

/// The members of `log_output`, by their bits.
const OUTPUTS: [&str; 3] = ["NONE", "FILE", "TABLE"];
const NONE: u8 = 1;
const FILE: u8 = 2;
const TABLE: u8 = 4;

#[derive(Default)]
struct Buffer {
    entries: Vec<Entry>,
    bytes: usize,
    audit: AuditCounts,
}

pub(crate) struct Logs {
    /// A bit of [`Log`] for each log that takes entries. W: SET GLOBAL. R: every statement.
    on: AtomicU8,
    /// Where they go: [`FILE`], [`TABLE`]. W: SET GLOBAL. R: who makes an entry.
    outputs: AtomicU8,
    buffers: [CachePadded<Mutex<Buffer>>; BUFFERS],
    /// Whoever writes what the buffers hold.
    writer: Mutex<Writer>,
    /// Wakes the thread.
    awake: Mutex<()>,
    wake: Condvar,
    /// Told when buffers have room again.
    room: Condvar,
    /// What the audit log takes. W: SET GLOBAL. R: who has an event for it.
    audit: Snapshot<Option<AuditSettings>>,
    lost: CounterId,
    throttle: Mutex<Throttle>,
    /// The server ends. W: whoever stops it. R: the thread.
    ended: AtomicBool,
    /// Entries made so far: those of one microsecond keep their order by it.
    number: AtomicU64,
}

impl Logs {
    /// `started`: the lines that a log file begins with.
    pub fn new(globals: &Globals, datadir: &Path, started: String) -> Result<Arc<Logs>> {
        let logs = Arc::new(Logs {
            on: AtomicU8::new(0),
            outputs: AtomicU8::new(0),
            buffers: std::array::from_fn(|_| CachePadded::new(Mutex::new(Rank::Observe, Buffer::default()))),
            writer: Mutex::new(Rank::Workers, Writer::new(datadir, started)),
            awake: Mutex::new(Rank::Observe, ()),
            wake: Condvar::new(),
            room: Condvar::new(),
            audit: Snapshot::new(None),
            lost: observe::register("Clearway_log_entries_lost"),
            throttle: Mutex::new(Rank::Observe, Throttle::default()),
            ended: AtomicBool::new(false),
            number: AtomicU64::new(0),
        });
        logs.set(globals);
        let own = Arc::clone(&logs);
        let thread = std::thread::Builder::new().name("query_logs".to_string()).spawn(move || own.run());
        thread.map_err(|e| err!(ER_CANT_CREATE_THREAD, e.raw_os_error().unwrap_or(0)))?;
        Ok(logs)
    }

    /// What the variables say holds from now on.
    pub fn set(&self, globals: &Globals) {
        let outputs = outputs(globals.text(OUTPUT)).unwrap_or(NONE);
        let outputs = if outputs & NONE != 0 { 0 } else { outputs };
        let mut on = 0;
        if outputs != 0 {
            on |= if globals.bool(GENERAL) { Log::General.bit() } else { 0 };
            on |= if globals.bool(SLOW) { Log::Slow.bit() } else { 0 };
        }
        let audit = AuditSettings::of(globals);
        on |= if audit.is_some() { Log::Audit.bit() } else { 0 };
        let mut writer = self.writer.lock();
        self.drain(&mut writer);
        let rotate_at = globals.uint(audit::ROTATE);
        writer.set_files(globals.text(GENERAL_FILE), globals.text(SLOW_FILE), globals.text(audit::FILE), rotate_at);
        match audit {
            Some(_) => writer.open_file(Log::Audit),
            None => writer.close_file(Log::Audit),
        }
        if outputs & FILE != 0 {
            Log::ALL.into_iter().filter(|log| on & log.bit() != 0).for_each(|log| writer.open_file(log));
        }
        drop(writer);
        self.audit.store(Arc::new(audit));
        // Relaxed: settings that order nothing; who makes an entry meanwhile goes by either.
        self.outputs.store(outputs, Ordering::Relaxed);
        self.on.store(on, Ordering::Relaxed); // Relaxed: as above
        self.wake.notify_all();
    }

    /// Are there logs that want entries?
    #[inline]
    pub fn any(&self) -> bool {
        // Relaxed: a setting that orders nothing.
        self.on.load(Ordering::Relaxed) != 0
    }

    /// Does this log want entries?
    pub fn wants(&self, log: Log) -> bool {
        // Relaxed: a setting that orders nothing.
        self.on.load(Ordering::Relaxed) & log.bit() != 0
    }

    fn writes_file(&self) -> bool {
        // Relaxed: a setting that orders nothing.
        self.outputs.load(Ordering::Relaxed) & FILE != 0
    }

    fn writes_table(&self) -> bool {
        // Relaxed: a setting that orders nothing.
        self.outputs.load(Ordering::Relaxed) & TABLE != 0
    }

    /// Hands an entry to the writer, or loses it.
    fn push(&self, connection: u32, mut entry: Entry) {
        // Relaxed: one connection's entries are made one after another, and others' have no order but their times.
        entry.number = self.number.fetch_add(1, Ordering::Relaxed);
        let bytes = entry.bytes();
        let mut buffer = self.buffers[connection as usize % BUFFERS].lock();
        if buffer.bytes + bytes > BUFFER_BYTES_MAX {
            drop(buffer);
            observe::increment(self.lost);
            return;
        }
        buffer.bytes += bytes;
        buffer.entries.push(entry);
        if buffer.bytes > BUFFER_BYTES_MAX / 2 {
            drop(buffer);
            self.wake.notify_all();
        }
    }

    fn audit_settings(&self) -> Arc<Option<AuditSettings>> {
        self.audit.load()
    }

    /// An event that the audit log does not take.
    fn audit_filtered(&self, connection: u32) {
        let mut buffer = self.buffers[connection as usize % BUFFERS].lock();
        buffer.audit.events += 1;
        buffer.audit.filtered += 1;
    }

    /// Hands an event to the writer. One that finds no room is lost, unless it `waits`: until there is room, or the statement is killed.
    fn push_audit(&self, connection: u32, mut entry: Entry, waits: bool) {
        // Relaxed: as in `push`.
        entry.number = self.number.fetch_add(1, Ordering::Relaxed);
        let bytes = entry.bytes();
        let mut has_waited = false;
        loop {
            let mut buffer = self.buffers[connection as usize % BUFFERS].lock();
            if buffer.bytes + bytes <= BUFFER_BYTES_MAX {
                buffer.audit.events += 1;
                buffer.bytes += bytes;
                buffer.entries.push(entry);
                let is_full = buffer.bytes > BUFFER_BYTES_MAX / 2;
                drop(buffer);
                if is_full {
                    self.wake.notify_all();
                }
                return;
            }
            // Relaxed: only ends the wait.
            if !waits || sync::blocking::is_interrupted() || self.ended.load(Ordering::Relaxed) {
                buffer.audit.events += 1;
                buffer.audit.lost += 1;
                return;
            }
            buffer.audit.waits += u64::from(!has_waited);
            has_waited = true;
            drop(buffer);
            self.wake.notify_all();
            let mut awake = self.awake.lock();
            self.room.wait_timeout(&mut awake, WRITE_EVERY, Wait::QueryLogs);
        }
    }

    /// Rows of the status that the plugin has.
    pub(crate) fn audit_status(&self, file: &Path) -> Vec<(String, String)> {
        let mut sums = AuditCounts::default();
        for buffer in &self.buffers {
            let audit = buffer.lock().audit;
            sums.events += audit.events;
            sums.filtered += audit.filtered;
            sums.lost += audit.lost;
            sums.waits += audit.waits;
        }
        let written = sums.events.saturating_sub(sums.filtered + sums.lost);
        // Not by way of the writer, which may be at a slow disk.
        let bytes = std::fs::metadata(file).map_or(0, |m| m.len());
        [
            ("Audit_log_current_size", bytes),
            ("Audit_log_events", sums.events),
            ("Audit_log_events_filtered", sums.filtered),
            ("Audit_log_events_lost", sums.lost),
            ("Audit_log_events_written", written),
            ("Audit_log_write_waits", sums.waits),
        ]
        .map(|(name, n)| (name.to_string(), n.to_string()))
        .into()
    }

    /// Writes all that was made so far.
    fn drain(&self, writer: &mut Writer) {
        let mut entries = Vec::new();
        for buffer in &self.buffers {
            let mut buffer = buffer.lock();
            buffer.bytes = 0;
            entries.append(&mut buffer.entries);
        }
        if entries.is_empty() {
            return;
        }
        entries.sort_by_key(|entry| (entry.at_us, entry.number));
        self.room.notify_all();
        let (lost, lost_of_audit) = writer.write(&entries);
        observe::add(self.lost, lost);
        self.buffers[0].lock().audit.lost += lost_of_audit;
    }

    fn run(&self) {
        // Relaxed: only ends the thread.
        while !self.ended.load(Ordering::Relaxed) {
            let pause = if self.any() { WRITE_EVERY } else { IDLE };
            let mut awake = self.awake.lock();
            self.wake.wait_timeout(&mut awake, pause, Wait::Background);
            drop(awake);
            self.drain(&mut self.writer.lock());
        }
    }

    /// The last entries are written, and the thread ends.
    pub fn end(&self) {
        // Relaxed: only ends the thread.
        self.ended.store(true, Ordering::Relaxed);
        self.wake.notify_all();
        self.drain(&mut self.writer.lock());
    }

    /// FLUSH SLOW LOGS and the like: the file is opened anew, so that one that was renamed is left. Error 1317.
    pub fn reopen(&self, log: Log) -> Result<()> {
        let mut writer = self.writer.lock_or_end(Wait::QueryLogs).ok_or_else(|| err!(ER_QUERY_INTERRUPTED))?;
        self.drain(&mut writer);
        writer.close_file(log);
        Ok(())
    }

    /// The text of the table's rows, with all that was made so far. Errors 13, 1317.
    pub fn table(&self, log: Log) -> Result<Vec<u8>> {
        let mut writer = self.writer.lock_or_end(Wait::QueryLogs).ok_or_else(|| err!(ER_QUERY_INTERRUPTED))?;
        self.drain(&mut writer);
        writer.read_table(log)
    }

    /// TRUNCATE TABLE. Errors 13, 1317.
    pub fn truncate(&self, log: Log) -> Result<()> {
        let mut writer = self.writer.lock_or_end(Wait::QueryLogs).ok_or_else(|| err!(ER_QUERY_INTERRUPTED))?;
        self.drain(&mut writer);
        writer.empty_table(log)
    }
}

/// Bits of a value of `log_output`; `None`: it is none.
fn outputs(text: &str) -> Option<u8> {
    if text.is_empty() {
        return None;
    }
    let bit = |name: &str| OUTPUTS.iter().position(|known| known.eq_ignore_ascii_case(name)).map(|at| 1 << at);
    text.split(',').try_fold(0, |bits, name| Some(bits | bit(name)?))
}

/// The value of one of these variables as it is stored; `None`: it cannot be set to that.
pub(crate) fn checked(of: VarId, value: Val, datadir: &Path) -> Option<Val> {
    match of {
        OUTPUT => {
            let bits = match &value {
                Val::UInt(n) => u8::try_from(*n).ok().filter(|n| (1..8).contains(n))?,
                value => match value.text().parse::<u8>() {
                    Ok(n) if (1..8).contains(&n) => n,
                    Ok(_) => return None,
                    Err(_) => outputs(value.text())?,
                },
            };
            let names: Vec<&str> = (0..3).filter(|i| bits & 1 << i != 0).map(|i| OUTPUTS[i]).collect();
            Some(Val::Str(names.join(",").into()))
        }
        GENERAL_FILE | SLOW_FILE | audit::FILE => {
            let name = value.text();
            let path = datadir.join(name);
            let has_place = path.parent().is_some_and(Path::is_dir) && takes_lines(&path);
            (!name.is_empty() && has_place && !is_of_others(&path, datadir)).then_some(value)
        }
        _ => Some(value),
    }
}

/// Is the file a regular one that its owner may write to, or not there yet? A pipe, a socket or a device is none for a log.
fn takes_lines(path: &Path) -> bool {
    const OWNER_WRITES: u32 = 0o200;
    path.metadata().map_or(true, |of| of.is_file() && of.permissions().mode() & OWNER_WRITES != 0)
}

/// Has a log no business in the file: is it an option file, as MySQL refuses, or one of the data?
fn is_of_others(path: &Path, datadir: &Path) -> bool {
    let ends_in = |kinds: &[&str]| {
        path.extension().and_then(|e| e.to_str()).is_some_and(|e| kinds.iter().any(|kind| e.eq_ignore_ascii_case(kind)))
    };
    let is_in_data = || {
        let home = path.parent().and_then(|parent| parent.canonicalize().ok());
        home.zip(datadir.canonicalize().ok()).is_some_and(|(home, datadir)| home.starts_with(datadir))
    };
    ends_in(&["cnf", "ini"]) || path.exists() && !ends_in(&["log", "err"]) && is_in_data()
}

/// Entries for the reason alone that no index was used, in a minute.
#[derive(Default)]
struct Throttle {
    ends_us: u64,
    made: u64,
    suppressed: u64,
}

/// What becomes of such an entry.
enum Throttled {
    Made,
    Suppressed,
    /// Made, the first of another minute; so many of the last one were not.
    After(u64),
}

impl Throttle {
    /// `most`: `log_throttle_queries_not_using_indexes`, 0 for no bound.
    fn ask(&mut self, now_us: u64, most: u64) -> Throttled {
        if most == 0 {
            return Throttled::Made;
        }
        if now_us >= self.ends_us {
            let before = std::mem::take(&mut self.suppressed);
            (self.ends_us, self.made) = (now_us + 60_000_000, 1);
            return if before == 0 { Throttled::Made } else { Throttled::After(before) };
        }
        if self.made < most {
            self.made += 1;
            return Throttled::Made;
        }
        self.suppressed += 1;
        Throttled::Suppressed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_are_a_set() {
        let stored = |text: &str| {
            let value = checked(OUTPUT, Val::Str(text.to_string().into()), Path::new("/"));
            value.map(|v| v.text().to_string())
        };
        assert_eq!(stored("table,FILE").as_deref(), Some("FILE,TABLE"));
        assert_eq!(stored("5").as_deref(), Some("NONE,TABLE"));
        assert_eq!(stored("NONE,TABLE").as_deref(), Some("NONE,TABLE"));
        assert_eq!((stored(""), stored("X"), stored("8"), stored("0")), (None, None, None, None));
    }

    #[test]
    fn a_minute_has_so_many_entries() {
        let mut throttle = Throttle::default();
        let mut ask = |second: u64| match throttle.ask(second * 1_000_000, 2) {
            Throttled::Made => "made".to_string(),
            Throttled::Suppressed => "suppressed".to_string(),
            Throttled::After(n) => format!("after {n}"),
        };
        let told: Vec<String> = [100, 101, 102, 159, 160, 161, 162].into_iter().map(&mut ask).collect();
        assert_eq!(told, ["made", "made", "suppressed", "suppressed", "after 2", "made", "suppressed"]);
    }
}
