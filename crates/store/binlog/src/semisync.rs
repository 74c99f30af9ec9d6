//! Semi-synchronous replication, the source's side: which commits replicas have, and who waits for that.
//!
//! ```text
//!   writer       published(place, LSN)      all commits below LSN are in the files, which end at `place`
//!   dump         answered(replica, place)   a replica has everything before `place`
//!   commit       wait(LSN)                  until enough replicas have what was published at or behind it
//! ```
//! A replica is asked once for all that is published, not for each transaction. A commit that waits for longer than it may
//! switches the whole off: everybody goes on, and nobody waits until enough replicas have all that is published.
//!
//! Where nobody is to see a commit before it is confirmed (AFTER_SYNC), that is told to the engine, in LSNs: see
//! [`engine::Confirmation`]. So a commit that has no events, and follows one that is not confirmed, is seen once that one is.

use crate::writer::{News, Tell};
use engine::{Confirmation, Confirmer, Engine, Lsn, Whose};
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use sync::waits::Wait;
use sync::{Condvar, Mutex, Rank};

/// A file's number, and an offset in it.
pub type Place = (u64, u64);

/// `rpl_semi_sync_source_*`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SemiSyncSettings {
    pub enabled: bool,
    /// `wait_point=AFTER_SYNC`
    pub hides: bool,
    pub timeout: Duration,
    /// `wait_for_replica_count`
    pub replicas: usize,
    /// `wait_no_replica`: commits wait even if there are not enough replicas.
    pub waits_for_none: bool,
}

impl Default for SemiSyncSettings {
    fn default() -> SemiSyncSettings {
        let timeout = Duration::from_secs(10);
        SemiSyncSettings { enabled: false, hides: true, timeout, replicas: 1, waits_for_none: true }
    }
}

/// What the status says, counted since the source was enabled first.
#[derive(Clone, Copy, Debug, Default)]
pub struct SemiSyncStatus {
    pub on: bool,
    pub clients: u64,
    /// Times that a replica has told of more than before.
    pub answers: u64,
    /// Times that it was switched off.
    pub times_off: u64,
    /// Commits that were confirmed, and that were not.
    pub confirmed: u64,
    pub unconfirmed: u64,
    /// Commits that have waited, and for how long in all.
    pub waits: u64,
    pub wait_us: u64,
    /// Sessions that wait now.
    pub waiting: u64,
}

struct State {
    settings: SemiSyncSettings,
    /// What each replica has.
    replicas: BTreeMap<u64, Place>,
    /// What was published last, and below which LSN all commits are there.
    last: (Place, Lsn),
    /// What was published and is not confirmed, while it is on.
    open: VecDeque<(Place, Lsn)>,
    /// Commits up to here are confirmed.
    confirmed: Lsn,
    status: SemiSyncStatus,
}

pub struct SemiSync {
    state: Mutex<State>,
    moved: Condvar,
    /// `settings.enabled`, for the writer, which takes no mutex without it.
    enabled: AtomicBool,
    /// `binlog`
    base: String,
    tell: Tell,
}

impl SemiSync {
    pub(crate) fn new(base: &str, tell: Tell) -> SemiSync {
        let state = State {
            settings: SemiSyncSettings::default(),
            replicas: BTreeMap::new(),
            last: ((0, 0), 0),
            open: VecDeque::new(),
            confirmed: 0,
            status: SemiSyncStatus::default(),
        };
        SemiSync {
            state: Mutex::new(Rank::Binlog, state),
            moved: Condvar::new(),
            enabled: AtomicBool::new(false),
            base: base.to_string(),
            tell,
        }
    }

    pub fn status(&self) -> SemiSyncStatus {
        let state = self.state.lock();
        SemiSyncStatus { clients: state.replicas.len() as u64, ..state.status }
    }

    /// `published`: where the files end, once they have come as far as the log.
    pub(crate) fn set(&self, engine: &Engine, settings: SemiSyncSettings, published: (Place, Lsn)) {
        let mut state = self.state.lock();
        let before = std::mem::replace(&mut state.settings, settings);
        if before == settings {
            return;
        }
        // Relaxed: the writer may come by once more without telling, or tell once more.
        self.enabled.store(settings.enabled, Ordering::Relaxed);
        if settings.enabled && !before.enabled {
            engine.want_confirmation(true);
            state.last = state.last.max(published);
            self.switch_on(engine, &mut state);
        } else if !settings.enabled && before.enabled {
            engine.want_confirmation(false);
            self.switch_off(engine.confirmation(), &mut state);
        } else if state.status.on {
            match settings.hides {
                true if !before.hides => state.confirmed = state.confirmed.max(engine.show_confirmed()),
                false => engine.confirmation().show_all(),
                true => {}
            }
            self.settle(engine.confirmation(), &mut state);
        }
        drop(state);
        self.moved.notify_all();
    }

    fn switch_on(&self, engine: &Engine, state: &mut State) {
        state.open.clear();
        // Commits up to now were not waited for.
        state.confirmed = if state.settings.hides { engine.show_confirmed() } else { engine.events_end() };
        state.status.on = true;
        (self.tell)(News::SemiSyncOn, "Semi-sync replication switched ON.");
    }

    fn switch_off(&self, engine: &Confirmation, state: &mut State) {
        engine.show_all();
        state.open.clear();
        if std::mem::take(&mut state.status.on) {
            state.status.times_off += 1;
            (self.tell)(News::SemiSyncOff, "Semi-sync replication switched OFF.");
        }
        self.moved.notify_all();
    }

    /// The writer has come so far.
    pub(crate) fn published(&self, engine: &Engine, place: Place, lsn: Lsn) {
        // Relaxed: see `set`.
        if !self.enabled.load(Ordering::Relaxed) {
            return;
        }
        let mut state = self.state.lock();
        let before = state.last;
        state.last = (place, lsn);
        if state.status.on && before != state.last {
            match state.open.back_mut() {
                Some(back) if back.0 == place => back.1 = lsn,
                // No events have come: there is nothing that a replica lacks.
                None if before.0 == place => self.confirm(engine.confirmation(), &mut state, lsn),
                _ => state.open.push_back((place, lsn)),
            }
            // The answer may have come already.
            self.settle(engine.confirmation(), &mut state);
        }
    }

    /// RESET BINARY LOGS AND GTIDS: places begin anew.
    pub(crate) fn reset(&self, engine: &Engine) {
        let mut state = self.state.lock();
        state.replicas.values_mut().for_each(|place| *place = (0, 0));
        state.last.0 = (0, 0);
        // What was committed before is in no file: nobody can ask a replica for it.
        if let Some((_, lsn)) = state.open.pop_back() {
            state.open.clear();
            self.confirm(engine.confirmation(), &mut state, lsn);
        }
    }

    fn confirm(&self, engine: &Confirmation, state: &mut State, lsn: Lsn) {
        if lsn > state.confirmed {
            state.confirmed = lsn;
            engine.show_up_to(lsn);
            self.moved.notify_all();
        }
    }

    /// What enough replicas have is confirmed.
    fn settle(&self, engine: &Confirmation, state: &mut State) {
        let Some(agreed) = agreed(&state.replicas, state.settings.replicas) else { return };
        let mut lsn = 0;
        while let Some((_, below)) = state.open.front().filter(|(place, _)| *place <= agreed) {
            lsn = *below;
            state.open.pop_front();
        }
        self.confirm(engine, state, lsn);
    }

    /// A replica that answers begins to read.
    pub(crate) fn attach(&self, replica: u64) {
        self.state.lock().replicas.insert(replica, (0, 0));
    }

    /// It reads no more.
    pub(crate) fn detach(&self, engine: &Engine, replica: u64) {
        let mut state = self.state.lock();
        state.replicas.remove(&replica);
        if state.status.on && state.lacks_replicas() {
            self.switch_off(engine.confirmation(), &mut state);
        }
    }

    /// It has all before `place`.
    pub(crate) fn answered(&self, engine: &Engine, replica: u64, place: Place) {
        let mut state = self.state.lock();
        let Some(has) = state.replicas.get_mut(&replica) else { return };
        if place > *has {
            *has = place;
            state.status.answers += 1;
        }
        if state.status.on {
            self.settle(engine.confirmation(), &mut state);
        } else if state.settings.enabled
            && agreed(&state.replicas, state.settings.replicas).is_some_and(|agreed| agreed >= state.last.0)
        {
            self.switch_on(engine, &mut state);
        }
    }

    /// How many replicas have told that they have everything before `place`.
    pub(crate) fn replicas_at(&self, place: Place) -> usize {
        self.state.lock().replicas.values().filter(|has| **has >= place).count()
    }

    /// Are commits waiting for replicas, or would they?
    pub(crate) fn is_on(&self) -> bool {
        self.state.lock().status.on
    }
}

impl State {
    fn lacks_replicas(&self) -> bool {
        !self.settings.waits_for_none && self.replicas.len() < self.settings.replicas
    }
}

/// What so many replicas have.
fn agreed(replicas: &BTreeMap<u64, Place>, count: usize) -> Option<Place> {
    let mut places: Vec<Place> = replicas.values().copied().collect();
    places.sort_unstable();
    places.len().checked_sub(count).and_then(|at| places.get(at).copied())
}

impl Confirmer for SemiSync {
    fn wait(&self, engine: &Confirmation, lsn: Lsn, whose: Whose, ended: &dyn Fn() -> bool) -> bool {
        let mut state = self.state.lock();
        let began = Instant::now();
        let counts = whose == Whose::Own;
        let (mut waited, mut came) = (false, true);
        let is_confirmed = loop {
            if !state.settings.enabled || !state.status.on {
                break false;
            }
            if state.confirmed >= lsn {
                break true;
            }
            // Who has no events waits only not to be told of what nobody may see.
            if !counts && !state.settings.hides {
                break false;
            }
            if state.lacks_replicas() {
                self.switch_off(engine, &mut state);
                continue;
            }
            if ended() {
                came = false;
                break false;
            }
            let left = state.settings.timeout.saturating_sub(began.elapsed());
            if left.is_zero() {
                let (file, position) = state.last.0;
                let text =
                    format!("Timeout waiting for reply of binlog (file: {}.{file:06}, pos: {position}).", self.base);
                (self.tell)(News::SemiSyncTimeout, &text);
                self.switch_off(engine, &mut state);
                continue;
            }
            if counts && !std::mem::replace(&mut waited, true) {
                state.status.waiting += 1;
            }
            self.moved.wait_timeout(&mut state, left.min(sync::blocking::ASK_AGAIN), Wait::Acknowledgement);
        };
        if waited {
            state.status.waiting -= 1;
            state.status.waits += 1;
            state.status.wait_us += began.elapsed().as_micros() as u64;
        }
        if counts && state.settings.enabled {
            let count = if is_confirmed { &mut state.status.confirmed } else { &mut state.status.unconfirmed };
            *count += 1;
        }
        came
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_enough_replicas_have_is_agreed() {
        let replicas = BTreeMap::from([(1, (1, 100)), (2, (2, 4)), (3, (1, 50))]);
        assert_eq!(agreed(&replicas, 1), Some((2, 4)));
        assert_eq!(agreed(&replicas, 2), Some((1, 100)));
        assert_eq!(agreed(&replicas, 3), Some((1, 50)));
        assert_eq!(agreed(&replicas, 4), None);
    }
}
