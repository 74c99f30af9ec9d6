//! The error log in MySQL 8's format, to stderr or to `log_error`.
//!
//! `2026-11-21T23:00:00.123456Z 0 [System] [MY-010931] [Server] text`

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};
use sync::{Mutex, Rank};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    System,
    Warning,
    Error,
}

pub struct ErrorLog {
    /// `None`: stderr.
    file: Option<Mutex<File>>,
    /// `log_error_verbosity`: from 2 on warnings too. System messages always; errors that end the start go to stderr.
    /// W: SET GLOBAL. R: whoever writes.
    verbosity: AtomicU64,
}

impl ErrorLog {
    pub fn open(path: &str, verbosity: u64) -> Result<ErrorLog, String> {
        let file = match path {
            "" | "stderr" => None,
            path => {
                let opened = OpenOptions::new().create(true).append(true).open(Path::new(path));
                let file = opened.map_err(|e| format!("cannot open error log '{path}': {e}"))?;
                Some(Mutex::new(Rank::Observe, file))
            }
        };
        Ok(ErrorLog { file, verbosity: AtomicU64::new(verbosity) })
    }

    /// SET GLOBAL log_error_verbosity.
    pub fn set_verbosity(&self, verbosity: u64) {
        // Relaxed: a setting that orders nothing.
        self.verbosity.store(verbosity, Ordering::Relaxed);
    }

    pub fn write(&self, level: Level, code: u32, text: &str) {
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
        let line = format!(
            "{}.{:06}Z 0 [{label}] [MY-{code:06}] [Server] {text}\n",
            timestamp(now.as_secs()),
            now.subsec_micros()
        );
        // A log that can not be written must not stop the server.
        let _ = match &self.file {
            Some(file) => file.lock().write_all(line.as_bytes()),
            None => std::io::stderr().lock().write_all(line.as_bytes()),
        };
    }
}

/// `YYYY-MM-DDTHH:MM:SS` of seconds since 1970, by eras of 400 years that begin on 1 March.
fn timestamp(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let z = days + 719_468;
    let (era, day_of_era) = (z / 146_097, z % 146_097);
    let year = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year + year / 4 - year / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year + era * 400 + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}", rest / 3600, rest / 60 % 60, rest % 60)
}

#[cfg(test)]
mod tests {
    #[test]
    fn timestamps() {
        assert_eq!(super::timestamp(951_827_696), "2000-02-29T12:34:56");
        assert_eq!(super::timestamp(0), "1970-01-01T00:00:00");
    }
}
