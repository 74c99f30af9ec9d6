//! The error log in MySQL 8's format, to stderr or to `log_error`.
//!
//! `2026-11-21T23:00:00.123456Z 0 [System] [MY-010931] [Server] text`

use session::panics::LogLevel;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};
use sync::{Mutex, Rank};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    System,
    Warning,
    Error,
}

impl From<LogLevel> for Level {
    fn from(level: LogLevel) -> Level {
        match level {
            LogLevel::Warning => Level::Warning,
            LogLevel::Error => Level::Error,
        }
    }
}

pub struct ErrorLog {
    /// `None`: stderr.
    file: Option<Mutex<File>>,
    path: PathBuf,
    /// `log_error_verbosity`: from 2 on warnings too. System messages always; errors that end the start go to stderr.
    /// W: SET GLOBAL. R: whoever writes.
    verbosity: AtomicU64,
    /// `log_timestamps=SYSTEM`. W: SET GLOBAL. R: whoever writes.
    is_system_time: AtomicBool,
}

impl ErrorLog {
    pub fn open(path: &str, verbosity: u64, is_system_time: bool) -> Result<ErrorLog, String> {
        let file = match path {
            "" | "stderr" => None,
            path => {
                let opened = OpenOptions::new().create(true).append(true).open(Path::new(path));
                let file = opened.map_err(|e| format!("cannot open error log '{path}': {e}"))?;
                Some(Mutex::new(Rank::Observe, file))
            }
        };
        Ok(ErrorLog {
            file,
            path: PathBuf::from(path),
            verbosity: AtomicU64::new(verbosity),
            is_system_time: AtomicBool::new(is_system_time),
        })
    }

    /// FLUSH ERROR LOGS: a file that was renamed is left. One that cannot be opened stays as it is.
    pub fn reopen(&self) {
        if let Some(file) = &self.file
            && let Ok(fresh) = OpenOptions::new().create(true).append(true).open(&self.path)
        {
            *file.lock() = fresh;
        }
    }

    /// SET GLOBAL log_error_verbosity and log_timestamps.
    pub fn set(&self, verbosity: u64, is_system_time: bool) {
        // Relaxed: settings that order nothing.
        self.verbosity.store(verbosity, Ordering::Relaxed);
        self.is_system_time.store(is_system_time, Ordering::Relaxed); // Relaxed: as above
    }

    pub fn write(&self, level: Level, code: u16, text: &str) {
        let (label, needs) = match level {
            Level::System => ("System", 0),
            Level::Warning => ("Warning", 2),
            Level::Error => ("ERROR", 1),
        };
        // Relaxed: a setting that orders nothing.
        if self.verbosity.load(Ordering::Relaxed) < needs {
            return;
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        // Relaxed: a setting that orders nothing.
        let at = session::log_stamp(now.as_micros() as u64, self.is_system_time.load(Ordering::Relaxed));
        let line = format!("{at} 0 [{label}] [MY-{code:06}] [Server] {text}\n");
        // A log that can not be written must not stop the server.
        let _ = match &self.file {
            Some(file) => file.lock().write_all(line.as_bytes()),
            None => std::io::stderr().lock().write_all(line.as_bytes()),
        };
    }
}
