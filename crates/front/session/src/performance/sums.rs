//! Sums of sessions that have ended, by account.

use super::Lane;
use observe::errors::{self, ErrorTotals};
use observe::programs::ProgramSums;
use observe::setup::{self, Consumers};
use observe::{StatementTotals, TimeTotals, TransactionTotals};
use std::collections::HashMap;
use sync::{Mutex, Rank};

/// Sums of one account.
#[derive(Default)]
pub(super) struct Sums {
    pub classes: HashMap<u16, StatementTotals>,
    pub transactions: TransactionTotals,
    pub stages: HashMap<u16, TimeTotals>,
    pub errors: HashMap<u16, ErrorTotals>,
}

#[derive(Default)]
struct Accounts {
    /// Of what epoch the sums are, see `observe::setup`.
    epoch: u32,
    /// The same of errors, see `observe::errors`.
    error_epoch: u32,
    /// By user and host.
    sums: HashMap<(String, String), Sums>,
}

/// What sessions that have ended leave to their accounts.
pub(crate) struct Ended {
    accounts: Mutex<Accounts>,
    pub(super) programs: ProgramSums,
}

impl Ended {
    pub fn new() -> Ended {
        Ended { accounts: Mutex::new(Rank::EndedSessions, Accounts::default()), programs: ProgramSums::new() }
    }

    /// A session ends: its sums are its account's.
    pub fn take(&self, lane: &Lane, user: &str, host: &str) {
        let consumers = setup::consumers();
        let mut accounts = self.accounts.lock();
        accounts.begin(consumers);
        let sums = accounts.sums.entry((user.to_string(), host.to_string())).or_default();
        for (class, totals) in lane.sums.totals(consumers) {
            sums.classes.entry(class.index() as u16).or_default().merge(&totals);
        }
        for (sum, totals) in sums.transactions.iter_mut().zip(lane.transaction_sums.totals(consumers)) {
            sum.merge(&totals);
        }
        for (class, totals) in lane.stages.totals(consumers) {
            sums.stages.entry(class.index() as u16).or_default().merge(&totals);
        }
        for (code, totals) in lane.errors.totals() {
            sums.errors.entry(code).or_default().merge(&totals);
        }
        self.programs.take(consumers.epoch(), &lane.programs);
        // Under the lock: whoever reads both sees a session's sums in one place.
        lane.sums.clear(consumers);
        lane.transaction_sums.clear(consumers);
        lane.stages.begin_anew(consumers);
        lane.errors.begin_anew();
    }

    /// Calls `each` with user, host and sums of each account, then `live`, while no session ends.
    pub(super) fn read(&self, mut each: impl FnMut(&str, &str, &Sums), live: impl FnOnce()) {
        let mut accounts = self.accounts.lock();
        accounts.begin(setup::consumers());
        accounts.sums.iter().for_each(|((user, host), sums)| each(user, host, sums));
        live();
    }
}

impl Accounts {
    fn begin(&mut self, consumers: Consumers) {
        if self.epoch != consumers.epoch() {
            for sums in self.sums.values_mut() {
                *sums = Sums { errors: std::mem::take(&mut sums.errors), ..Sums::default() };
            }
            self.epoch = consumers.epoch();
        }
        if self.error_epoch != errors::epoch() {
            self.sums.values_mut().for_each(|sums| sums.errors.clear());
            self.error_epoch = errors::epoch();
        }
    }
}
