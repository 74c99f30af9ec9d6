//! How far a thread is with a transaction, and what has gone wrong last.

use binlog::decode::Head;
use std::time::{SystemTime, UNIX_EPOCH};
use types::SqlError;
use types::gtid::Gtid;

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

/// A transaction that a worker applies, or has applied. Times in microseconds since 1970, 0 where there is none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// There is one; with a number, unless it is anonymous.
    pub is_there: bool,
    pub gtid: Option<Gtid>,
    pub original_us: u64,
    pub immediate_us: u64,
    pub began_us: u64,
    pub ended_us: u64,
    pub retries: u64,
    /// Why it was begun anew last.
    pub transient: LastError,
}

impl Progress {
    /// One that begins now.
    pub(crate) fn of(head: &Head) -> Progress {
        Progress {
            is_there: true,
            gtid: head.gtid,
            original_us: head.original_commit_us,
            immediate_us: head.immediate_commit_us,
            began_us: now_us(),
            ..Progress::default()
        }
    }

    /// The same, taken, at its end.
    pub(crate) fn end(&mut self) -> Progress {
        Progress { ended_us: now_us(), ..std::mem::take(self) }
    }

    /// Its number, `ANONYMOUS`, or nothing where there is no transaction.
    pub fn name(&self) -> String {
        match self.gtid {
            Some(gtid) => gtid.to_string(),
            None if self.is_there => "ANONYMOUS".to_string(),
            None => String::new(),
        }
    }
}

pub(crate) fn now_us() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_micros() as u64
}
