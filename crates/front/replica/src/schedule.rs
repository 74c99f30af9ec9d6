//! Which transactions of a channel are applied now, by which thread, and in which order they commit.
//!
//! ```text
//!   coordinator --push--> pending: 7 8 9 ...     a thread takes the first one once all that it depends on is committed, and a seat
//!                           |  take
//!                           v
//!                         running: 4 5 6         low = 3: all up to it are committed
//!                           |  5 and 6 are applied and parked; 4 commits, and its thread commits 5 and 6 behind it
//!                           v
//!                         low = 6
//! ```
//! A seat is a session; there are more of them than threads. Whoever has applied a transaction whose turn to commit has not come
//! (`replica_preserve_commit_order`) parks it in its seat and goes on with another one, and whoever commits also commits what is
//! parked behind: no thread waits for another one's turn, which on a busy machine would be a switch for each transaction.
//!
//! A parked transaction holds its rows locked; one before it that waits for such a row would wait for ever. Being parked is therefore
//! known to whoever looks for deadlocks ([`Turn::earlier`]), and the later transaction gives way ([`Turn::evict`]): a thread kept for that
//! rolls it back, and it is applied again when its turn has come.
//!
//! By then all threads may wait for rows of transactions that are parked behind it. So one thread takes nothing else than what is to be
//! applied again ([`Takes::Again`]), and one seat is kept free for it.

use crate::config::{Mark, Position};
use crate::host::{Apply, Origin};
use crate::progress::Progress;
use crate::relay::Place;
use binlog::event::Checksum;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};
use sync::waits::Wait;
use sync::{Condvar, Mutex, Rank};
use types::SqlError;

/// Transactions that are read ahead of the threads.
const PENDING_MAX: usize = 512;
/// Seats beside one a thread, where there are several.
pub(crate) const SPARE_SEATS: usize = 12;
/// So long commits may go by before somebody waits for their flush: a later transaction does not rest on it, since its position stands
/// behind in the same log.
const SETTLE_TIME: Duration = Duration::from_millis(10);
/// How often a thread that waits looks whether it should stop.
const LOOK_AGAIN: Duration = Duration::from_millis(500);
/// The seat of what runs alone: temporary tables of statements are its session's.
const FIRST: usize = 0;

/// A transaction in the relay log.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    /// 1, 2, ... in the order of the relay log.
    pub number: u64,
    /// The last one that must be committed before it begins.
    pub after: u64,
    /// Everything before it is committed when it runs, and nothing behind it has begun.
    pub alone: bool,
    pub origin: Origin,
    /// Left out: only the position behind it is stored.
    pub skipped: bool,
    /// Committed before this start, and its position stored.
    pub done: bool,
    /// Where its first event begins, and where the last one ends: in one file.
    pub begin: Place,
    pub end: Place,
    pub checksum: Checksum,
    /// The same at the source.
    pub from: Position,
    pub to: Position,
    /// Of its first event, seconds since 1970.
    pub timestamp: u32,
}

/// A session that transactions are made in.
pub(crate) struct Seat {
    pub id: usize,
    pub apply: Box<dyn Apply>,
}

enum Stage {
    /// A thread has it, and its seat.
    Applying,
    /// It waits for its turn.
    Parked(Seat),
    /// It is to be rolled back.
    Evicted(Seat),
    /// It is rolled back, and to be applied in its turn.
    Again,
    Committed,
}

struct Running {
    job: Arc<Job>,
    /// What others know its session by.
    slot: u32,
    stage: Stage,
    /// Somebody before it needs what it has locked.
    evicted: bool,
    /// How often it was begun anew in its turn.
    attempts: u64,
    progress: Progress,
}

#[derive(Default)]
struct State {
    pending: VecDeque<Arc<Job>>,
    /// From `low + 1` on.
    running: VecDeque<Running>,
    free: Vec<Seat>,
    /// All up to this one are committed.
    low: u64,
    /// Where `low` ends.
    low_end: Option<(Position, Place)>,
    /// Committed ones behind `low` whose ends are stored: see [`Mark`].
    ahead: BTreeMap<u64, Position>,
    /// Up to here commits are durable, and told of.
    settled: u64,
    settled_at: Option<Instant>,
    /// The first transaction that failed, for good.
    failed: Option<(u64, SqlError)>,
    /// No transaction is begun any more.
    closed: bool,
    /// Those in progress are to end.
    stopped: bool,
    /// No thread is left.
    finished: bool,
}

impl State {
    fn index(&self, number: u64) -> usize {
        (number - self.low - 1) as usize
    }

    fn at(&mut self, number: u64) -> &mut Running {
        let index = self.index(number);
        &mut self.running[index]
    }

    fn ended(&self) -> bool {
        self.closed || self.stopped || self.failed.is_some()
    }

    /// Is the next transaction in line to be applied again?
    fn has_again(&self) -> bool {
        self.running.front().is_some_and(|r| matches!(r.stage, Stage::Again))
    }

    /// The place of the seat for a transaction, if `kept` ones stay free beside it.
    fn seat_for(&self, alone: bool, kept: usize) -> Option<usize> {
        match alone {
            true => self.free.iter().position(|seat| seat.id == FIRST),
            false => self.free.len().checked_sub(1 + kept),
        }
    }

    /// The seat's place for the next transaction in line, which is to be applied again.
    fn ready_again(&self) -> Option<usize> {
        // Those in front of one that failed go on.
        let first = self.running.front().map(|r| r.job.number);
        let open = !self.stopped && self.failed.as_ref().is_none_or(|(failed, _)| first.is_some_and(|n| n < *failed));
        if open && self.has_again() { self.seat_for(self.running[0].job.alone, 0) } else { None }
    }

    /// The seat's place for the first transaction that has not begun.
    fn ready_pending(&self) -> Option<usize> {
        let next = self.pending.front().filter(|job| job.after <= self.low && !self.ended())?;
        let kept = self.running.iter().any(|r| matches!(r.stage, Stage::Again));
        self.seat_for(next.alone, kept.into())
    }

    fn is_ready(&self, takes: Takes) -> bool {
        self.ready_again().is_some() || takes == Takes::All && self.ready_pending().is_some()
    }

    /// Is there nothing that a thread may still have to do?
    fn is_over(&self) -> bool {
        let failed = self.failed.as_ref().map_or(u64::MAX, |(failed, _)| *failed);
        self.stopped || self.ended() && self.running.front().is_none_or(|r| r.job.number >= failed)
    }
}

/// In which order transactions commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// That of the relay log.
    Kept,
    /// Any: their numbers say which are committed.
    Numbers,
    /// Any: their positions do.
    Positions,
}

/// What a thread takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Takes {
    All,
    /// Only what is to be applied again, in its turn.
    Again,
}

/// What [`Schedule::take`] has.
pub(crate) enum Taken {
    Job(Arc<Job>, Seat),
    Nothing,
    Ended,
}

/// What became of a transaction that was to be parked.
pub(crate) enum Parking {
    Parked,
    /// Its turn has come.
    Due(Seat),
    Evicted(Seat),
}

/// A parked transaction whose turn has come.
pub(crate) struct Due {
    pub job: Arc<Job>,
    pub seat: Seat,
    pub progress: Progress,
}

/// The transactions between a channel's coordinator and its workers.
pub(crate) struct Schedule {
    /// W: the coordinator, its workers. R: SHOW REPLICA STATUS.
    state: Mutex<State>,
    /// Threads wait for a transaction that is ready.
    ready: Condvar,
    /// One thread waits for a transaction that is to be applied again.
    again: Condvar,
    /// The coordinator waits for room, or for all to be committed.
    room: Condvar,
    /// One thread waits for transactions to be rolled back.
    evictions: Condvar,
    order: Order,
}

impl Schedule {
    pub fn new(order: Order) -> Schedule {
        Schedule {
            state: Mutex::new(Rank::Replication, State::default()),
            ready: Condvar::new(),
            again: Condvar::new(),
            room: Condvar::new(),
            evictions: Condvar::new(),
            order,
        }
    }

    /// There is one seat more.
    pub fn add_seat(&self, seat: Seat) {
        self.state.lock().free.insert(0, seat);
    }

    /// Appends a transaction, and waits for room before. False: no more are wanted.
    pub fn push(&self, job: Job) -> bool {
        let mut state = self.state.lock();
        while state.pending.len() >= PENDING_MAX && !state.ended() {
            self.room.wait_timeout(&mut state, LOOK_AGAIN, Wait::ReplicaWorkers);
        }
        if state.ended() {
            return false;
        }
        state.pending.push_back(Arc::new(job));
        let wake = state.pending.len() == 1 && state.ready_pending().is_some();
        drop(state);
        if wake {
            self.ready.notify_one();
        }
        true
    }

    /// The next transaction, if it may begin, and a seat for it.
    pub fn take(&self, takes: Takes) -> Taken {
        let mut state = self.state.lock();
        if state.is_over() {
            return Taken::Ended;
        }
        let again = state.ready_again();
        let pending = if takes == Takes::All { state.ready_pending() } else { None };
        let Some(at) = again.or(pending) else { return Taken::Nothing };
        let again = again.is_some();
        let seat = state.free.remove(at);
        let slot = seat.apply.slot();
        let job = if again {
            let running = &mut state.running[0];
            (running.stage, running.slot, running.evicted) = (Stage::Applying, slot, false);
            Arc::clone(&running.job)
        } else {
            let job = state.pending.pop_front().expect("it is ready");
            assert_eq!(state.index(job.number), state.running.len(), "transactions are taken in order");
            state.running.push_back(Running {
                job: Arc::clone(&job),
                slot,
                stage: Stage::Applying,
                evicted: false,
                attempts: 0,
                progress: Progress::default(),
            });
            job
        };
        let (more, room) = (state.ready_pending().is_some(), state.pending.len() == PENDING_MAX / 2);
        drop(state);
        if more {
            self.ready.notify_one();
        }
        if room {
            self.room.notify_one();
        }
        Taken::Job(job, seat)
    }

    /// Waits until there may be one.
    pub fn wait(&self, takes: Takes) {
        let mut state = self.state.lock();
        if !state.is_over() && !state.is_ready(takes) {
            let woken = if takes == Takes::All { &self.ready } else { &self.again };
            woken.wait_timeout(&mut state, LOOK_AGAIN, Wait::ReplicaWorkers);
        }
    }

    /// May this transaction commit? Those behind one that failed never may.
    pub fn is_due(&self, number: u64) -> bool {
        let state = self.state.lock();
        self.order != Order::Kept || state.index(number) == 0
    }

    /// A transaction is applied, and known to wait: see [`Apply::park`].
    pub fn park(&self, number: u64, seat: Seat, progress: Progress) -> Parking {
        let mut state = self.state.lock();
        let due = state.index(number) == 0;
        let running = state.at(number);
        if due {
            return Parking::Due(seat);
        }
        if running.evicted {
            return Parking::Evicted(seat);
        }
        (running.stage, running.progress) = (Stage::Parked(seat), progress);
        Parking::Parked
    }

    /// A transaction was rolled back: it is applied again in its turn.
    pub fn again(&self, number: u64, seat: Seat) {
        let mut state = self.state.lock();
        state.at(number).stage = Stage::Again;
        state.free.push(seat);
        let (again, pending) = (state.ready_again().is_some(), state.ready_pending().is_some());
        drop(state);
        self.wake(again, pending);
    }

    /// One attempt more in its turn: how many there were before.
    pub fn attempt(&self, number: u64) -> u64 {
        let mut state = self.state.lock();
        let running = state.at(number);
        running.attempts += 1;
        running.attempts - 1
    }

    /// What a transaction that is about to commit says of those before it.
    pub fn mark_of(&self, job: &Job) -> Mark {
        if self.order == Order::Kept {
            return Mark::at(job.to.clone());
        }
        let mut state = self.state.lock();
        let is_done = |r: &&Running| r.job.number == job.number || matches!(r.stage, Stage::Committed);
        let last = state.running.iter().take_while(is_done).last();
        let (number, low) = match (last, &state.low_end) {
            (Some(running), _) => (running.job.number, running.job.to.clone()),
            (None, Some((position, _))) => (state.low, position.clone()),
            // Of the transactions since the start none without a gap before it has ended.
            (None, None) => (state.low, state.running.front().expect("the caller's runs").job.from.clone()),
        };
        if self.order == Order::Numbers {
            return Mark::at(low);
        }
        let mut passed = Vec::new();
        while let Some((_, end)) = state.ahead.first_key_value().filter(|(ahead, _)| **ahead <= number) {
            passed.push(end.clone());
            state.ahead.pop_first();
        }
        let ahead = (job.number > number).then(|| job.to.clone());
        state.ahead.extend(ahead.clone().map(|end| (job.number, end)));
        Mark { low, ahead, passed, is_own: true }
    }

    /// The transaction is committed, and its seat free. Returns the one whose turn comes with that, if it is parked, and whether it is
    /// time to wait for the flush.
    pub fn committed(&self, number: u64, seat: Seat) -> (Option<Due>, bool) {
        let mut state = self.state.lock();
        state.free.push(seat);
        state.at(number).stage = Stage::Committed;
        while state.running.front().is_some_and(|r| matches!(r.stage, Stage::Committed)) {
            let done = state.running.pop_front().expect("looked at above");
            state.low = done.job.number;
            state.low_end = Some((done.job.to.clone(), done.job.end));
        }
        let failed = state.failed.as_ref().map_or(u64::MAX, |(failed, _)| *failed);
        let stopped = state.stopped;
        let due = state.running.front_mut().filter(|r| !stopped && r.job.number < failed).and_then(|next| {
            match std::mem::replace(&mut next.stage, Stage::Applying) {
                Stage::Parked(seat) => {
                    let progress = std::mem::take(&mut next.progress);
                    Some(Due { job: Arc::clone(&next.job), seat, progress })
                }
                other => {
                    next.stage = other;
                    None
                }
            }
        });
        let settles = due.is_none() && state.settled_at.is_none_or(|at| at.elapsed() >= SETTLE_TIME);
        if settles {
            state.settled_at = Some(Instant::now());
        }
        let (again, pending) = (state.ready_again().is_some(), state.ready_pending().is_some());
        let idle = state.running.is_empty();
        let ended = state.ended();
        drop(state);
        if ended {
            self.wake_all();
        }
        // Who has nothing else to do takes the next one itself.
        self.wake(again, pending && (due.is_some() || settles));
        if idle {
            self.room.notify_one();
        }
        (due, settles)
    }

    /// The last transaction up to which all are committed, if not all of those are told of: where it ends.
    pub fn unsettled(&self) -> Option<(u64, Position, Place)> {
        let state = self.state.lock();
        let (position, place) = state.low_end.clone()?;
        (state.settled < state.low).then_some((state.low, position, place))
    }

    /// All up to `number` are durable, and told of.
    pub fn settled(&self, number: u64) {
        let mut state = self.state.lock();
        state.settled = state.settled.max(number);
        drop(state);
        self.room.notify_one();
    }

    /// A transaction failed: those before it go on, those behind it do not commit.
    pub fn fail(&self, number: u64, error: SqlError) {
        let mut state = self.state.lock();
        if state.failed.as_ref().is_none_or(|(failed, _)| number < *failed) {
            state.failed = Some((number, error));
        }
        self.wake_all();
    }

    /// Transactions in progress are to end without their changes.
    pub fn stop(&self) {
        self.state.lock().stopped = true;
        self.wake_all();
    }

    /// No further transaction begins.
    pub fn close(&self) {
        self.state.lock().closed = true;
        self.wake_all();
    }

    fn wake(&self, again: bool, pending: bool) {
        if again {
            self.again.notify_one();
        }
        if again || pending {
            self.ready.notify_one();
        }
    }

    fn wake_all(&self) {
        self.ready.notify_all();
        self.again.notify_all();
        self.room.notify_all();
        self.evictions.notify_all();
    }

    pub fn is_stopped(&self) -> bool {
        self.state.lock().stopped
    }

    /// The number of the transaction that failed, and why.
    pub fn failure(&self) -> Option<(u64, SqlError)> {
        self.state.lock().failed.clone()
    }

    /// Is everything that was pushed committed, and told of?
    pub fn is_idle(&self) -> bool {
        let state = self.state.lock();
        state.pending.is_empty() && state.running.is_empty() && state.settled == state.low
    }

    /// Waits until everything is committed and told of. False: that will not be.
    pub fn drain(&self) -> bool {
        let mut state = self.state.lock();
        loop {
            if state.ended() {
                return false;
            }
            if state.pending.is_empty() && state.running.is_empty() && state.settled == state.low {
                return true;
            }
            self.room.wait_timeout(&mut state, LOOK_AGAIN, Wait::ReplicaWorkers);
        }
    }

    /// The time of the oldest transaction that is not committed, seconds since 1970.
    pub fn oldest(&self) -> Option<u32> {
        let state = self.state.lock();
        let job = state.running.front().map(|r| &r.job).or(state.pending.front());
        job.map(|job| job.timestamp)
    }

    /// The next transaction that is to be rolled back, with its seat; `None`: nothing will be any more.
    pub fn next_eviction(&self) -> Option<(u64, Seat)> {
        let mut state = self.state.lock();
        loop {
            for running in &mut state.running {
                match std::mem::replace(&mut running.stage, Stage::Applying) {
                    Stage::Evicted(seat) => return Some((running.job.number, seat)),
                    other => running.stage = other,
                }
            }
            if state.finished {
                return None;
            }
            self.evictions.wait_timeout(&mut state, LOOK_AGAIN, Wait::ReplicaWorkers);
        }
    }

    /// A seat whose transaction is over for good.
    pub fn give_back(&self, seat: Seat) {
        self.state.lock().free.push(seat);
    }

    /// No thread is left but the one that waits for evictions.
    pub fn finish(&self) {
        self.state.lock().finished = true;
        self.wake_all();
    }

    /// What is parked, and all that is free, once no thread is left.
    pub fn take_seats(&self) -> (Vec<Seat>, Vec<Seat>) {
        let mut state = self.state.lock();
        let free = std::mem::take(&mut state.free);
        let stages = state.running.iter_mut().map(|r| std::mem::replace(&mut r.stage, Stage::Again));
        let seats = stages.filter_map(|stage| match stage {
            Stage::Parked(seat) | Stage::Evicted(seat) => Some(seat),
            _ => None,
        });
        let parked = seats.collect();
        (parked, free)
    }
}

/// A transaction's place in the order of commits.
#[derive(Clone)]
pub struct Turn {
    schedule: Arc<Schedule>,
    pub number: u64,
}

impl Turn {
    pub(crate) fn new(schedule: &Arc<Schedule>, number: u64) -> Turn {
        Turn { schedule: Arc::clone(schedule), number }
    }

    /// Appends what others know the transactions by that commit before.
    pub fn earlier(&self, out: &mut Vec<u32>) {
        let state = self.schedule.state.lock();
        if self.number <= state.low {
            return;
        }
        let at = state.index(self.number);
        if state.running[at].evicted {
            // It waits no longer, though its thread may not have got to it.
            return;
        }
        let before = state.running.iter().take(at);
        out.extend(before.filter(|r| !matches!(r.stage, Stage::Committed | Stage::Again)).map(|r| r.slot));
    }

    /// Somebody before it needs what it has locked. False: it does not wait for its turn.
    pub fn evict(&self) -> bool {
        let mut state = self.schedule.state.lock();
        if self.number <= state.low || state.index(self.number) == 0 {
            return false;
        }
        let evicted = evict(state.at(self.number));
        drop(state);
        self.schedule.evictions.notify_one();
        evicted
    }

    /// Everybody behind who is parked is evicted.
    pub(crate) fn evict_later(&self) {
        let mut state = self.schedule.state.lock();
        let at = state.index(self.number);
        for running in state.running.iter_mut().skip(at + 1) {
            if matches!(running.stage, Stage::Parked(_)) {
                evict(running);
            }
        }
        drop(state);
        self.schedule.evictions.notify_one();
    }
}

/// False: it was before.
fn evict(running: &mut Running) -> bool {
    let before = std::mem::replace(&mut running.evicted, true);
    running.stage = match std::mem::replace(&mut running.stage, Stage::Again) {
        Stage::Parked(seat) => Stage::Evicted(seat),
        // About to be parked: its thread sees it.
        other => other,
    };
    !before
}

#[cfg(test)]
mod tests;
