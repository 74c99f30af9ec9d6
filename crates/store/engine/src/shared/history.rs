//! Who purges when, how long the history is, and what it costs those who make it longer.
//!
//! ```text
//!  coordinator                                      innodb_purge_threads others
//!  every 5 to 50 ms: looks where the horizon is,    take a segment with work, purge a batch of its pages up to the
//!  moves ids out of the status ring, puts the       horizon, put it back behind the others or, when nothing is
//!  segments with work into the queue                left to do, aside
//! ```
//!
//! The coordinator does nothing that waits for pages, so that ids leave the status ring whatever the others are at. Segments need
//! no order among themselves (see [`crate::purge`]); one segment is purged by one thread at a time, which has it out of the queue.
//!
//! The *history* is the transactions that are over and whose undo purge has not passed yet. Each undo page counts those of its
//! segment that had ended when the next page began ([`crate::undo`]), so its length is a difference for each segment, computed
//! by whoever asks.

use super::Core;
use crate::purge::Place;
use crate::segment::Segment;
use crate::txn::Advancer;
use crate::{Result, undo};
use log::Lsn;
use std::collections::{HashSet, VecDeque};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;
use sync::waits::Wait;
use sync::{Mutex, Rank, futex};

/// Rounds in which a segment is left alone after an error.
const ROUNDS_AFTER_ERROR: u32 = 20;

/// What the variables of the server say.
#[derive(Clone, Copy, Debug)]
pub struct PurgeSettings {
    /// Undo pages that all threads together deal with before they turn to other segments: `innodb_purge_batch_size`.
    pub batch_pages: u32,
    /// The length of the history above which changes of rows are delayed; 0: none. `innodb_max_purge_lag`.
    pub lag_max: u32,
    /// The longest such delay in microseconds: `innodb_max_purge_lag_delay`.
    pub delay_us_max: u32,
}

impl Default for PurgeSettings {
    fn default() -> PurgeSettings {
        PurgeSettings { batch_pages: 300, lag_max: 0, delay_us_max: 0 }
    }
}

/// What purge threads share.
pub struct History {
    threads: u32,
    queue: Mutex<Queue>,
    /// Counts the times that the queue was filled. W: coordinator. R: the others, which sleep on it.
    rounds: AtomicU32,
    /// Grows when somebody wants the coordinator to look now. W: anybody. R: coordinator, which sleeps on it.
    wanted: AtomicU32,
    /// Records acted on since the coordinator looked. W: purge threads.
    acted: AtomicU64,
    settings: Settings,
    /// What each change of a row waits, in microseconds. W: coordinator. R: everybody who changes rows.
    delay_us: AtomicU32,
    /// Trees in which purge has met a damaged page, and said so. W, R: purge threads that meet one.
    damaged: Mutex<HashSet<u32>>,
}

/// See [`PurgeSettings`]. W: SET GLOBAL. R: purge threads.
struct Settings {
    batch_pages: AtomicU32,
    lag_max: AtomicU32,
    delay_us_max: AtomicU32,
}

#[derive(Default)]
struct Queue {
    /// Segments with work, the next one first.
    todo: VecDeque<Place>,
    /// Segments with which purge is through for now.
    aside: Vec<Place>,
    /// Segments known so far; purge threads hold those that are in neither list.
    known: usize,
    /// What the last round found: no snapshot is older.
    horizon: Lsn,
}

impl History {
    /// `threads`: how many purge besides the coordinator.
    pub fn new(threads: u32) -> History {
        let PurgeSettings { batch_pages, lag_max, delay_us_max } = PurgeSettings::default();
        History {
            threads: threads.max(1),
            queue: Mutex::new(Rank::Purge, Queue::default()),
            rounds: AtomicU32::new(0),
            wanted: AtomicU32::new(0),
            acted: AtomicU64::new(0),
            settings: Settings {
                batch_pages: AtomicU32::new(batch_pages),
                lag_max: AtomicU32::new(lag_max),
                delay_us_max: AtomicU32::new(delay_us_max),
            },
            delay_us: AtomicU32::new(0),
            damaged: Mutex::new(Rank::FreeSpace, HashSet::new()),
        }
    }

    /// Purge has met a damaged page in this tree. True: for the first time.
    pub fn note_damaged(&self, tree: u32) -> bool {
        self.damaged.lock().insert(tree)
    }

    pub fn set(&self, settings: PurgeSettings) {
        // Relaxed: settings that order nothing.
        self.settings.batch_pages.store(settings.batch_pages, Ordering::Relaxed);
        self.settings.lag_max.store(settings.lag_max, Ordering::Relaxed);
        self.settings.delay_us_max.store(settings.delay_us_max, Ordering::Relaxed);
    }

    /// What a change of a row has to wait before.
    #[inline]
    pub fn delay(&self) -> Option<Duration> {
        let us = self.delay_us();
        (us != 0).then(|| Duration::from_micros(us.into()))
    }

    /// How often the workers were called.
    pub fn rounds(&self) -> u64 {
        // Relaxed: a number to show.
        self.rounds.load(Ordering::Relaxed).into()
    }

    pub fn delay_us(&self) -> u32 {
        // Relaxed: a number that orders nothing.
        self.delay_us.load(Ordering::Relaxed)
    }

    /// Wakes the coordinator.
    pub fn want_round(&self) {
        self.wanted.fetch_add(1, Ordering::Release); // pairs with the Acquire in `coordinate`
        futex::wake_all(&self.wanted);
    }

    /// Wakes everybody, to see that the engine stops.
    pub fn want_end(&self) {
        self.want_round();
        self.wake_workers();
    }

    fn wake_workers(&self) {
        self.rounds.fetch_add(1, Ordering::Release); // pairs with the Acquire in `work`
        futex::wake_all(&self.rounds);
    }

    /// A segment with work, and the horizon for it.
    fn take(&self) -> Option<(Place, Lsn)> {
        let mut queue = self.queue.lock();
        let place = queue.todo.pop_front()?;
        Some((place, queue.horizon))
    }

    fn put_back(&self, place: Place, more: bool) {
        let mut queue = self.queue.lock();
        if more { queue.todo.push_back(place) } else { queue.aside.push(place) }
    }

    /// As trx0purge.cc has it: at least 5 ms beyond the bound, and more the longer the history.
    fn delay_for(&self, length: u64) -> u32 {
        // Relaxed for both: settings that order nothing.
        let (lag_max, delay_us_max) =
            (self.settings.lag_max.load(Ordering::Relaxed), self.settings.delay_us_max.load(Ordering::Relaxed));
        let ratio = length as f64 / f64::from(lag_max);
        if lag_max == 0 || ratio <= 1.0 { 0 } else { (((ratio - 0.5) * 10_000.0) as u32).min(delay_us_max) }
    }
}

/// The coordinator's work until the engine stops.
pub fn coordinate(core: &Core) {
    let history = &core.history;
    let mut advancer = Advancer::default();
    while !core.stopping() {
        let seen = history.wanted.load(Ordering::Acquire); // pairs with `want_round`
        let has_work = core.begin_round(&mut advancer);
        // Relaxed: a hint.
        let is_busy = history.acted.swap(0, Ordering::Relaxed) != 0 || has_work;
        if let Err(error) = core.set_purge_delay() {
            eprintln!("[ERROR] [Engine] purge: {error}");
        }
        futex::wait(&history.wanted, seen, Some(Duration::from_millis(if is_busy { 5 } else { 50 })), Wait::Background);
    }
}

/// A purge thread's work until the engine stops.
pub fn work(core: &Core) {
    let history = &core.history;
    loop {
        // Before the look into the queue, so that what comes after it ends the wait.
        let seen = history.rounds.load(Ordering::Acquire); // pairs with `wake_workers`
        if core.stopping() {
            return;
        }
        match core.purge_next() {
            None => {
                futex::wait(&history.rounds, seen, None, Wait::Background);
            }
            // Relaxed: a hint.
            Some(Ok(records)) => drop(history.acted.fetch_add(records, Ordering::Relaxed)),
            Some(Err(error)) => eprintln!("[ERROR] [Engine] purge: {error}"),
        }
    }
}

impl Core {
    /// All that can be purged now, without threads. Returns the number of records acted on.
    pub fn purge(&self, advancer: &mut Advancer) -> Result<u64> {
        self.begin_round(advancer);
        let (mut records, mut outcome) = (0, Ok(()));
        while let Some(visit) = self.purge_next() {
            match visit {
                Ok(n) => records += n,
                Err(error) => outcome = Err(error),
            }
        }
        outcome.map(|()| records)
    }

    /// Looks where the horizon is, and puts segments that can be purged up to it into the queue. Is there any?
    fn begin_round(&self, advancer: &mut Advancer) -> bool {
        // What nobody waited for (rollbacks) becomes history too: somebody has to find that it is complete.
        self.log.completed_lsn();
        let horizon = self.system.advance(advancer, || self.newest());
        let history = &self.history;
        let mut queue = history.queue.lock();
        let queue = &mut *queue;
        queue.horizon = horizon;
        let fresh = self.segments.from(queue.known);
        queue.known += fresh.len();
        queue.aside.extend(fresh.into_iter().map(Place::new));
        queue.todo.extend(queue.aside.extract_if(.., |place| place.has_work(horizon)));
        let has_work = !queue.todo.is_empty();
        if has_work {
            history.wake_workers();
        }
        has_work
    }

    /// Visits the next segment in the queue; `None`: there is none. Returns the number of records acted on.
    fn purge_next(&self) -> Option<Result<u64>> {
        let history = &self.history;
        let (mut place, horizon) = history.take()?;
        // Relaxed: a setting that orders nothing.
        let pages = (history.settings.batch_pages.load(Ordering::Relaxed) / history.threads).max(1);
        let visit = self.purge_segment(&mut place, horizon, pages);
        if visit.is_err() {
            // A damaged page keeps its own segment from being purged, not the others.
            place.rests = ROUNDS_AFTER_ERROR;
        }
        history.put_back(place, visit.as_ref().is_ok_and(|progress| progress.more));
        Some(visit.map(|progress| progress.records))
    }

    /// How many transactions are over and have undo that purge has not passed.
    pub fn history_length(&self) -> Result<u64> {
        let horizon = self.system.horizon();
        self.segments.from(0).iter().map(|segment| self.history_of(segment, horizon)).sum()
    }

    /// Those that ended after the page at which purge is, and those on that page which it may not pass.
    fn history_of(&self, segment: &Segment, horizon: Lsn) -> Result<u64> {
        loop {
            // Acquire for both: pairs with the Release in `free_first` and in `extend`.
            let ends = || (segment.place.load(Ordering::Acquire), segment.newest.load(Ordering::Acquire));
            let (place, newest) = ends();
            let attempt = self.pool.read(place).and_then(|place| Ok((place, self.pool.read(newest)?)));
            let length = attempt.map(|(place, newest)| {
                let blocked = undo::transactions(place.bytes()).filter(|trx| !self.system.is_history(*trx, horizon));
                let blocked = blocked.count() as u64;
                let later = undo::ended(newest.bytes()).saturating_sub(undo::ended(place.bytes()));
                (place.validate() && newest.validate()).then_some(blocked + later)
            });
            // Else they may have been freed since.
            if ends() == (place, newest)
                && let Some(length) = length.transpose()
            {
                return length;
            }
        }
    }

    /// Sets what changes of rows wait for purge to catch up.
    fn set_purge_delay(&self) -> Result<()> {
        let history = &self.history;
        // Relaxed: a setting that orders nothing.
        let is_bounded = history.settings.lag_max.load(Ordering::Relaxed) != 0;
        let delay_us = if is_bounded { history.delay_for(self.history_length()?) } else { 0 };
        // Relaxed for both: a number that orders nothing. Only when it changes: everybody who writes rows reads the line.
        if history.delay_us.load(Ordering::Relaxed) != delay_us {
            history.delay_us.store(delay_us, Ordering::Relaxed);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_delay_grows_with_the_history_up_to_its_bound() {
        let history = History::new(1);
        assert_eq!(history.delay_for(u64::MAX), 0, "no bound, no delay");
        history.set(PurgeSettings { lag_max: 1000, delay_us_max: 60_000, ..PurgeSettings::default() });
        let delays = [0, 1000, 1500, 2000, 4000, 6500, 1_000_000].map(|length| history.delay_for(length));
        assert_eq!(delays, [0, 0, 10_000, 15_000, 35_000, 60_000, 60_000]);
    }
}
