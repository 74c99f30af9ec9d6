//! Sums of sessions that have ended, by account.

use super::Lane;
use observe::StatementTotals;
use observe::instrument::InstrumentId;
use observe::setup::{self, Consumers};
use std::collections::HashMap;
use sync::{Mutex, Rank};

type Classes = HashMap<u16, StatementTotals>;

#[derive(Default)]
struct Accounts {
    /// Of what epoch the sums are, see `observe::setup`.
    epoch: u32,
    /// By user and host.
    classes: HashMap<(String, String), Classes>,
}

/// What sessions that have ended leave to their accounts.
pub(crate) struct Ended(Mutex<Accounts>);

impl Ended {
    pub fn new() -> Ended {
        Ended(Mutex::new(Rank::EndedSessions, Accounts::default()))
    }

    /// A session ends: its sums are its account's.
    pub fn take(&self, lane: &Lane, user: &str, host: &str) {
        let consumers = setup::consumers();
        let mut accounts = self.0.lock();
        accounts.begin(consumers);
        for (class, totals) in lane.sums.totals(consumers) {
            let classes = accounts.classes.entry((user.to_string(), host.to_string())).or_default();
            classes.entry(class.index() as u16).or_default().merge(&totals);
        }
        // Under the lock: whoever reads both sees a session's sums in one place.
        lane.sums.clear(consumers);
    }

    /// Calls `each` with user, host and sums of each account, then `live`, while no session ends.
    pub fn read(&self, mut each: impl FnMut(&str, &str, InstrumentId, &StatementTotals), live: impl FnOnce()) {
        let mut accounts = self.0.lock();
        accounts.begin(setup::consumers());
        for ((user, host), classes) in &accounts.classes {
            for (class, totals) in classes {
                each(user, host, InstrumentId::from_index(usize::from(*class)), totals);
            }
        }
        live();
    }
}

impl Accounts {
    fn begin(&mut self, consumers: Consumers) {
        if self.epoch != consumers.epoch() {
            self.classes.clear();
            self.epoch = consumers.epoch();
        }
    }
}
