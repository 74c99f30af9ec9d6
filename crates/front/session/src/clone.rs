//! CLONE LOCAL DATA DIRECTORY: a copy of the server that a server can be started from, made while everybody goes on.
//!
//! ```text
//!   FILE COPY   the data file, and the log beside it                      engine::Backup::copy_pages
//!   REDO COPY   the binary log's file in use, then the log to its end     binlog::Binlog::copy_to, engine::Backup::finish
//!   FILE SYNC   the last file, by which it is a data directory
//! ```
//! What the copy stands for is told by `performance_schema.clone_status` when it is done: the place in the binary log and the GTIDs of all that
//! is in it. A copy that fails is removed. The server's identity, its keys and its variables stay behind: a server started from the copy is another one.

use crate::command::Session;
use crate::define::text_of;
use crate::needs::Action;
use crate::state::clock_us;
use crate::variables::{VarId, id};
use engine::{Backup, Error, Interrupt};
use inspect::{CloneRecord, CloneStage};
use io::Directory;
use sql::ast::{Parsed, Str};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use sync::blocking::{self, Wait};
use types::{Result, SqlError, err};

/// MiB a second; 0: no bound.
const BANDWIDTH_MAX: VarId = id("clone_max_data_bandwidth");
const DATADIR: VarId = id("datadir");
/// How long a copy that is ahead of its bandwidth sleeps at a time.
const NAP: Duration = Duration::from_millis(20);

impl Session {
    /// CLONE LOCAL DATA DIRECTORY. Errors 1007, 1026, 1227, 1317, 1525, 3632, 3634.
    pub(crate) fn clone_local(&mut self, parsed: &Parsed, directory: Str) -> Result<()> {
        self.need(Action::CloneData)?;
        self.commit_all()?;
        let name = text_of(parsed, directory);
        let path = PathBuf::from(&name);
        if !path.is_absolute() {
            return Err(err!(1525, "path", name));
        }
        let datadir = PathBuf::from(self.state.server.globals.load().get(DATADIR).text());
        if resolved(&path).starts_with(resolved(&datadir)) {
            return Err(err!(3632, name));
        }
        self.begin_clone(&name)?;
        let outcome = self.clone_to(&path);
        let mut record = self.server.clone.lock();
        let record = record.as_mut().expect("it was put there");
        record.ended_us = clock_us();
        record.error = outcome.as_ref().err().map(|e| (e.code, e.message.to_string()));
        outcome
    }

    /// Takes the one place that there is for a copy.
    fn begin_clone(&self, destination: &str) -> Result<()> {
        let mut record = self.server.clone.lock();
        if record.as_ref().is_some_and(|other| other.ended_us == 0) {
            return Err(err!(3634, 1));
        }
        *record = Some(CloneRecord {
            pid: self.state.id.into(),
            began_us: clock_us(),
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
        let failed = |error| clone_error(path, error);
        let backup = self.server.engine.begin_backup(path).map_err(failed)?;
        let mut backup = backup.ok_or_else(|| err!(3634, 1))?;
        self.stage("FILE COPY", backup.bytes());
        self.copy_pages(&mut backup).map_err(failed)?;
        self.end_stage();

        let from = backup.log_position();
        let interrupt = self.tx.interrupt().clone();
        let end = match self.server.binlog.clone() {
            None => backup.copied().map_err(failed)?,
            Some(binlog) => {
                let copied = binlog.copy_to(path, || interrupt.reason() != 0);
                let copied = copied.map_err(crate::binary_log::binlog_error)?;
                self.note(|record| {
                    record.binlog_file = copied.file;
                    record.binlog_position = copied.offset;
                    record.gtid_executed = copied.executed.to_string();
                });
                copied.position
            }
        };
        self.stage("REDO COPY", end - from);
        backup.finish(end).map_err(failed)?;
        self.note_copied(end - from);
        self.end_stage();

        self.stage("FILE SYNC", 0);
        (self.server.adopt_copy)(path).map_err(|error| failed(Error::Io(error.to_string())))?;
        self.end_stage();
        Ok(())
    }

    /// The data file, no faster than it may be.
    fn copy_pages(&self, backup: &mut Backup) -> engine::Result<()> {
        let (began, mut done) = (Instant::now(), 0);
        let interrupt = self.tx.interrupt();
        backup.copy_pages(&mut |bytes| {
            done += bytes;
            self.note_copied(done);
            self.keep_bandwidth(began, done, interrupt)
        })
    }

    /// Sleeps until so many bytes since then are no more than `clone_max_data_bandwidth` lets through. Error: KILL.
    fn keep_bandwidth(&self, began: Instant, bytes: u64, interrupt: &Interrupt) -> engine::Result<()> {
        loop {
            if interrupt.reason() != 0 {
                return Err(Error::Interrupted);
            }
            // Asked each time: it may be set meanwhile.
            let mib_a_second = self.server.globals.load().uint(BANDWIDTH_MAX);
            if mib_a_second == 0 {
                return Ok(());
            }
            let due = Duration::from_secs_f64(bytes as f64 / (mib_a_second << 20) as f64);
            let early = due.saturating_sub(began.elapsed());
            if early.is_zero() {
                return Ok(());
            }
            let _waiting = blocking::waiting(Wait::Bandwidth);
            std::thread::sleep(early.min(NAP));
        }
    }

    fn note(&self, change: impl FnOnce(&mut CloneRecord)) {
        if let Some(record) = self.server.clone.lock().as_mut() {
            change(record);
        }
    }

    fn stage(&self, name: &'static str, estimate: u64) {
        let stage = CloneStage { name, began_us: clock_us(), ended_us: 0, done: 0, estimate };
        self.note(|record| record.stages.push(stage));
    }

    fn note_copied(&self, bytes: u64) {
        self.note(|record| record.stages.last_mut().into_iter().for_each(|stage| stage.done = bytes));
    }

    fn end_stage(&self) {
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
fn make_directories(path: &Path) -> Result<PathBuf> {
    if path.is_dir() {
        return Err(err!(1007, path.display()));
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
            return Err(SqlError::new(1006, format!("Can't create database '{shown}' (errno: {errno} - {error})")));
        }
    }
    Ok(first.to_path_buf())
}

fn clone_error(path: &Path, error: Error) -> SqlError {
    const ENOSPC: u32 = 28;
    match error {
        Error::DiskFull => err!(1026, path.display(), ENOSPC, "No space left on device"),
        Error::Interrupted => err!(1317),
        Error::Io(what) => err!(1026, path.display(), 5, what),
        other => catalog::error::from_engine(other),
    }
}
