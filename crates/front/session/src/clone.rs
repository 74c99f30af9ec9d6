//! Copies of the server that a server can be started from, made while everybody goes on: CLONE LOCAL DATA DIRECTORY into a directory here,
//! COM_CLONE to the client (`clearway backup`).
//!
//! ```text
//!   FILE COPY   the data file, and the log beside it                      engine::Backup::copy_pages
//!   REDO COPY   the binary log's file in use, then the log to its end     binlog::Binlog::copy_to, engine::Backup::finish
//!   FILE SYNC   the last file, by which it is a data directory
//! ```
//! What the copy stands for is told by `performance_schema.clone_status` when it is done: the place in the binary log and the GTIDs of
//! all that is in it. A copy that fails is removed, and it fails when the client is gone. The server's identity, its keys and its
//! variables stay
//! behind: a server started from the copy is another one.
//!
//! COM_CLONE is MySQL's command, what is said in it is not: a request ([`backup::Request`]), answered by packets of a zero and a frame
//! ([`backup::Frame`]), and EOF.

use crate::binary_log::ENOSPC;
use crate::clock::clock_us;
use crate::needs::Action;
use crate::session::{Done, Session};
use crate::sink::gone;
use crate::statement::text_of;
use crate::variables::{VarId, id};
use backup::{Frame, MANIFEST_FILE, Manifest, Place, Request};
use engine::{Backup, Error, Interrupt};
use inspect::{CloneRecord, CloneStage};
use io::{Destination, Directory, Op};
use protocol::{HangUp, Output};
use sql::ast::{Parsed, Str};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use sync::blocking;
use sync::waits::Wait;
use sync::{Mutex, Rank};
use types::codes::*;
use types::{Result, SqlError, err};

/// MiB a second; 0: no bound.
pub(crate) const BANDWIDTH_MAX: VarId = id("clone_max_data_bandwidth");
pub(crate) const DATADIR: VarId = id("datadir");
pub(crate) const SERVER_UUID: VarId = id("server_uuid");
const VERSION: VarId = id("version");
/// As `performance_schema.clone_status` calls this server.
const LOCAL: &str = "LOCAL INSTANCE";
/// How long a copy that is ahead of its bandwidth sleeps at a time.
const NAP: Duration = Duration::from_millis(20);
/// A file for another machine goes in pieces of so many bytes.
const PACKET_BYTES: usize = 1 << 20;

/// Where a copy goes, and who is told how it goes.
struct Target<'t> {
    to: &'t dyn Destination,
    tell: &'t dyn Fn(&Frame<'_>) -> io::Result<()>,
    /// For errors.
    path: &'t Path,
}

/// A copy ends early.
pub(crate) struct Ending {
    interrupt: Arc<Interrupt>,
    client: HangUp,
}

impl Ending {
    /// KILL, or the client is gone.
    pub fn has_come(&self) -> bool {
        self.interrupt.reason() != 0 || self.client.is_closed()
    }
}

/// The client, as what takes files.
struct ToClient<'o>(Mutex<&'o mut Output>);

impl ToClient<'_> {
    fn send(&self, frame: &Frame<'_>) -> io::Result<()> {
        let mut out = self.0.lock();
        let buffer = out.begin();
        buffer.push(0);
        frame.put(buffer);
        // What tells something goes out at once, files as the buffer fills.
        let is_bytes = matches!(frame, Frame::Write { .. });
        let sent = out.end().and_then(|()| if is_bytes { Ok(()) } else { out.flush() });
        sent.map_err(|e| io::Error::new(Op::Write, Path::new("the client's connection"), e))
    }
}

impl Destination for ToClient<'_> {
    fn write_at(&self, file: &str, bytes: &[u8], offset: u64) -> io::Result<()> {
        let mut at = offset;
        bytes.chunks(PACKET_BYTES).try_for_each(|bytes| {
            let offset = at;
            at += bytes.len() as u64;
            self.send(&Frame::Write { file, offset, bytes })
        })
    }

    fn finish(&self, file: &str, len: u64, solid: bool) -> io::Result<()> {
        self.send(&Frame::Finish { file, len, solid })
    }
}

impl Session {
    /// CLONE LOCAL DATA DIRECTORY. Errors 1007, 1026, 1227, 1317, 1525, 3632, 3634.
    pub(crate) fn clone_local(&mut self, parsed: &Parsed, directory: Str) -> Result<()> {
        self.need(Action::CloneData)?;
        self.commit_all()?;
        let name = text_of(parsed, directory);
        let path = self.clone_path(&name)?;
        self.recorded(LOCAL, &name, |this| this.clone_to(&path))
    }

    /// May a copy go there? Errors 1525, 3632.
    pub(crate) fn clone_path(&self, name: &str) -> Result<PathBuf> {
        let path = PathBuf::from(name);
        if !path.is_absolute() {
            return Err(err!(ER_WRONG_VALUE, "path", name));
        }
        let datadir = PathBuf::from(self.state.server.globals.load().get(DATADIR).text());
        if resolved(&path).starts_with(resolved(&datadir)) {
            return Err(err!(ER_PATH_IN_DATADIR, name));
        }
        Ok(path)
    }

    /// COM_CLONE: a copy for the client. Errors 1227, 1317, 3634, 3862.
    pub(crate) fn send_copy(&mut self, request: &[u8], out: &mut Output) -> Result<Done> {
        self.refresh_access()?;
        self.need(Action::CloneData)?;
        self.commit_all()?;
        let request = Request::parse(request).map_err(donor_error)?;
        self.check_base(&request)?;
        let client = self.state.user.clone();
        self.recorded(LOCAL, &client, |this| {
            let to = ToClient(Mutex::new(Rank::Session, &mut *out));
            let path = Path::new("the client's copy");
            let target = Target { to: &to, tell: &|frame| to.send(frame), path };
            let manifest = this.copy(&target, &request)?;
            to.send(&Frame::End(manifest)).map_err(|_| gone())
        })?;
        out.eof(self.status(false), 0).map_err(|_| gone())?;
        Ok(Done::Answered)
    }

    /// Is the base of an increment this server's? Error 3862.
    fn check_base(&self, request: &Request) -> Result<()> {
        let Some(base) = &request.base else { return Ok(()) };
        let globals = self.server.globals.load();
        if base.server_uuid == globals.text(SERVER_UUID) {
            return Ok(());
        }
        let text = format!("backup {} is of another server, or of this one before it was restored", base.id);
        Err(donor_error(backup::Error(text)))
    }

    /// Takes the one place that there is for a copy, and keeps what becomes of it.
    pub(crate) fn recorded(
        &mut self,
        source: &str,
        destination: &str,
        make: impl FnOnce(&mut Session) -> Result<()>,
    ) -> Result<()> {
        self.begin_clone(source, destination)?;
        let outcome = make(self);
        let mut record = self.server.clone.lock();
        let record = record.as_mut().expect("it was put there");
        record.ended_us = clock_us();
        record.error = outcome.as_ref().err().map(|e| (e.code, e.message.to_string()));
        outcome
    }

    fn begin_clone(&self, source: &str, destination: &str) -> Result<()> {
        let mut record = self.server.clone.lock();
        if record.as_ref().is_some_and(|other| other.ended_us == 0) {
            return Err(err!(ER_CLONE_TOO_MANY_CONCURRENT_CLONES, 1));
        }
        *record = Some(CloneRecord {
            pid: self.state.id.into(),
            began_us: clock_us(),
            source: source.to_string(),
            destination: destination.to_string(),
            ..CloneRecord::default()
        });
        Ok(())
    }

    fn clone_to(&mut self, path: &Path) -> Result<()> {
        let first_made = make_directories(path)?;
        let copied = self.copy_into(path);
        if copied.is_err() {
            // The copy's error is the one to tell.
            let _ = Directory::remove_tree(first_made);
        }
        copied
    }

    fn copy_into(&mut self, path: &Path) -> Result<()> {
        let failed = |error: io::Error| clone_error(path, error.into());
        let folder = backup::folder(path).map_err(failed)?;
        let target = Target { to: &folder, tell: &|_| Ok(()), path };
        let manifest = self.copy(&target, &Request::default())?;
        self.stage("FILE SYNC", 0);
        let ended = folder.put(MANIFEST_FILE, manifest.print().as_bytes());
        ended.and_then(|()| folder.drop_unfinished()).map_err(failed)?;
        if self.ending().has_come() {
            return Err(err!(ER_QUERY_INTERRUPTED));
        }
        (self.server.adopt_copy)(path).map_err(|error| clone_error(path, Error::Io(error.to_string())))?;
        self.end_stage();
        Ok(())
    }

    pub(crate) fn ending(&self) -> Ending {
        Ending { interrupt: Arc::clone(self.tx.interrupt()), client: self.entry.client() }
    }

    /// Gives the target all files, and says what they are.
    fn copy(&mut self, target: &Target<'_>, request: &Request) -> Result<Manifest> {
        let failed = |error| clone_error(target.path, error);
        let engine = Arc::clone(&self.server.engine);
        let since = request.base.as_ref().map(|base| base.checkpoint);
        let mut copy =
            engine.begin_backup(target.to, since).ok_or_else(|| err!(ER_CLONE_TOO_MANY_CONCURRENT_CLONES, 1))?;
        let mut manifest = self.manifest(&copy, request)?;
        (target.tell)(&Frame::Begin(manifest.clone())).map_err(|e| failed(e.into()))?;
        self.stage("FILE COPY", copy.bytes());
        self.copy_pages(&mut copy, target, request.bytes_a_second).map_err(failed)?;
        manifest.used_pages = copy.used_pages();
        self.end_stage();

        let from = copy.log_position();
        let ending = self.ending();
        manifest.end = match self.server.binlog.clone() {
            None => copy.copied().map_err(failed)?,
            Some(binlog) => {
                let copied = binlog.copy_to(target.to, || ending.has_come());
                let copied = copied.map_err(crate::binary_log::binlog_error)?;
                let gtid_executed = copied.executed.to_string();
                self.note(|record| {
                    record.binlog_file.clone_from(&copied.file);
                    record.binlog_position = copied.offset;
                    record.gtid_executed.clone_from(&gtid_executed);
                });
                manifest.place = Some(Place { file: copied.file, position: copied.offset, gtid_executed });
                copied.position
            }
        };
        manifest.at_us = clock_us();
        self.stage("REDO COPY", manifest.end - from);
        copy.finish(manifest.end).map_err(failed)?;
        self.note_copied(manifest.end - from);
        self.end_stage();
        Ok(manifest)
    }

    /// As far as it is known when a copy begins. Error 3862.
    fn manifest(&self, copy: &Backup<'_>, request: &Request) -> Result<Manifest> {
        let (log_id, checkpoint) = (copy.log_id(), copy.checkpoint());
        if let Some(base) = &request.base
            && (base.log_id != log_id || base.checkpoint > checkpoint)
        {
            let text = format!("backup {} is not of the data that this server has", base.id);
            return Err(donor_error(backup::Error(text)));
        }
        let globals = self.server.globals.load();
        Ok(Manifest {
            id: cipher::uuid(),
            parent: request.base.as_ref().map(|base| base.id.clone()),
            server_uuid: globals.text(SERVER_UUID).to_string(),
            log_id,
            version: globals.text(VERSION).to_string(),
            checkpoint,
            pages: copy.pages(),
            ..Manifest::default()
        })
    }

    /// The data file, no faster than it may be.
    fn copy_pages(&self, copy: &mut Backup<'_>, target: &Target<'_>, wanted_max: u64) -> engine::Result<()> {
        let (began, mut done) = (Instant::now(), 0);
        let ending = self.ending();
        copy.copy_pages(&mut |bytes| {
            done += bytes;
            self.note_copied(done);
            (target.tell)(&Frame::Progress(done))?;
            self.keep_bandwidth(began, done, wanted_max, &ending)
        })
    }

    /// Sleeps until so many bytes since then are no more than `clone_max_data_bandwidth` and who asked let through. Error: KILL.
    fn keep_bandwidth(&self, began: Instant, bytes: u64, wanted_max: u64, ending: &Ending) -> engine::Result<()> {
        loop {
            if ending.has_come() {
                return Err(Error::Interrupted);
            }
            // Asked each time: it may be set meanwhile.
            let allowed = self.server.globals.load().uint(BANDWIDTH_MAX) << 20;
            let Some(bytes_a_second) = [allowed, wanted_max].into_iter().filter(|max| *max > 0).min() else {
                return Ok(());
            };
            let due = Duration::from_secs_f64(bytes as f64 / bytes_a_second as f64);
            let early = due.saturating_sub(began.elapsed());
            if early.is_zero() {
                return Ok(());
            }
            blocking::sleep(Wait::Bandwidth, early.min(NAP));
        }
    }

    pub(crate) fn note(&self, change: impl FnOnce(&mut CloneRecord)) {
        if let Some(record) = self.server.clone.lock().as_mut() {
            change(record);
        }
    }

    pub(crate) fn stage(&self, name: &'static str, estimate: u64) {
        let stage = CloneStage { name, began_us: clock_us(), ended_us: 0, done: 0, estimate };
        self.note(|record| record.stages.push(stage));
    }

    pub(crate) fn note_copied(&self, bytes: u64) {
        self.note(|record| record.stages.last_mut().into_iter().for_each(|stage| stage.done = bytes));
    }

    pub(crate) fn end_stage(&self) {
        self.note(|record| record.stages.last_mut().into_iter().for_each(|stage| stage.ended_us = clock_us()));
    }
}

/// The path without links and `..`, as far as there is something.
fn resolved(path: &Path) -> PathBuf {
    for above in path.ancestors() {
        if let (Ok(real), Ok(rest)) = (std::fs::canonicalize(above), path.strip_prefix(above)) {
            return real.join(rest);
        }
    }
    path.to_path_buf()
}

/// Makes the directory and those above it, or none; the first of them that was not there. Errors 1006; 1007: it was there.
pub(crate) fn make_directories(path: &Path) -> Result<PathBuf> {
    if path.is_dir() {
        return Err(err!(ER_DB_CREATE_EXISTS, path.display()));
    }
    let missing: Vec<&Path> = path.ancestors().take_while(|above| !above.exists()).collect();
    let first = missing.last().unwrap_or(&path);
    for directory in missing.iter().rev().chain(missing.is_empty().then_some(&path)) {
        if let Err(error) = Directory::create(directory) {
            if *directory != *first {
                // The error is the one to tell.
                let _ = Directory::remove_tree(first);
            }
            let (errno, shown) = (error.errno().unwrap_or(0), path.display());
            return Err(err!(ER_CANT_CREATE_DB, shown, errno, error));
        }
    }
    Ok(first.to_path_buf())
}

/// Error 3862: what the server that is copied has against it.
fn donor_error(e: backup::Error) -> SqlError {
    err!(ER_CLONE_DONOR, e)
}

pub(crate) fn clone_error(path: &Path, error: Error) -> SqlError {
    match error {
        Error::DiskFull => err!(ER_ERROR_ON_WRITE, path.display(), ENOSPC, "No space left on device"),
        Error::Interrupted => err!(ER_QUERY_INTERRUPTED),
        Error::Io(what) => err!(ER_ERROR_ON_WRITE, path.display(), 5, what),
        other => catalog::error::from_engine(other),
    }
}
