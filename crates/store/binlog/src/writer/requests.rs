//! What sessions ask of the writer: FLUSH, PURGE and RESET of the files, gtid_purged.

use super::{Binlog, Request, Shared, Writer};
use crate::error::Result;
use crate::statistics::Statistics;
use std::time::SystemTime;
use sync::{Condvar, Mutex};
use types::gtid::{Gtid, GtidSet};

impl Binlog {
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
        let keep = self.open_files()?.first_since(time)?;
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

    /// A session is to own a number of this server's own: automatic ones pass over it from here on. False: it is executed.
    pub fn reserve(&self, gtid: Gtid, ended: impl Fn() -> bool) -> Result<bool> {
        let reserved = self.catch_up(&ended).and_then(|_| self.ask(Request::Reserve(gtid), ended));
        match reserved {
            Ok(()) => Ok(!self.published().executed.contains(gtid)),
            Err(e) => {
                // Whoever gives up may have been heard already.
                self.post(Request::Release(gtid));
                Err(e)
            }
        }
    }

    /// The session has not used it: it is the next automatic one again. Waits until the writer knows, or `ended`: it will.
    pub fn release(&self, gtid: Gtid, ended: impl Fn() -> bool) {
        let number = self.post(Request::Release(gtid));
        // Whoever cannot wait goes on: the number is passed over a little longer.
        let _ = self.wait(ended, |shared| {
            let is_asked = shared.requests.iter().any(|(asked, _)| *asked == number);
            (!is_asked || shared.failed.is_some()).then_some(())
        });
    }

    /// Has the state on disk say what is in the files, all commits so far among it.
    pub(crate) fn settle(&self, ended: impl Fn() -> bool) -> Result<()> {
        self.catch_up(&ended)?;
        self.ask(Request::Settle, ended)
    }

    /// Of all commits so far, what compression has done is forgotten.
    pub fn forget_statistics(&self, ended: impl Fn() -> bool) -> Result<()> {
        self.catch_up(&ended)?;
        self.ask(Request::ForgetStatistics, ended)
    }

    /// Asks without waiting for an answer. Returns the request's number.
    fn post(&self, request: Request) -> u64 {
        let number = self.shared.0.lock().request(request);
        self.hurry();
        // A log that has ended writes nothing any more.
        let _ = self.engine.hurry_events();
        number
    }

    pub(super) fn ask(&self, request: Request, ended: impl Fn() -> bool) -> Result<()> {
        let number = {
            let mut shared = self.shared.0.lock();
            let number = shared.request(request);
            shared.answers.insert(number, None);
            number
        };
        self.hurry();
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
}

impl Writer {
    /// Does what was asked. `is_written`: the files can be written.
    pub(super) fn obey_all(&mut self, shared: &(Mutex<Shared>, Condvar), is_written: bool) {
        loop {
            let request = {
                let requests = &mut shared.0.lock().requests;
                // PURGE is what makes room.
                let is_due = |request: &Request| is_written || matches!(request, Request::Purge(_));
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
    }

    fn obey(&mut self, request: Request, oldest: u64) -> Result<()> {
        match request {
            Request::Rotate => self.rotate(true),
            Request::Settle => self.settle(),
            Request::ForgetStatistics => {
                self.statistics = Statistics::default();
                Ok(())
            }
            Request::Encrypt(on) => {
                self.settings.encrypts = on;
                self.keys.set(on);
                if self.file.is_encrypted() == on { Ok(()) } else { self.rotate(true) }
            }
            Request::Purge(to) => self.purge(to.min(oldest)),
            Request::Reset(number) => self.reset(number),
            Request::Reserve(gtid) if self.state.executed.contains(gtid) => Ok(()),
            Request::Reserve(gtid) => self.reserve(|reserved| reserved.add(gtid)),
            Request::Release(gtid) => self.reserve(|reserved| reserved.remove(gtid)),
            Request::AddPurged(set) => {
                self.state.executed.union(&set);
                self.state.purged.union(&set);
                // The next file says that they are executed.
                self.rotate(true)
            }
        }
    }

    /// Changes which numbers automatic ones pass over. The state says so before the next one is given: a start that writes the files anew
    /// gives the same ones.
    fn reserve(&mut self, change: impl FnOnce(&mut GtidSet)) -> Result<()> {
        let before = self.state.reserved.clone();
        change(&mut self.state.reserved);
        if self.state.reserved == before {
            return Ok(());
        }
        let settled = self.settle();
        if settled.is_err() {
            self.state.reserved = before;
        }
        settled
    }
}
