//! The crew: serves connections in turn, one thread a CPU, while more of them are active than a thread each does well with.
//!
//! A thread that serves one connection with blocking reads is the cheapest way while its stack and its place in the scheduler
//! stay in cache. With hundreds of them each statement begins on a cold stack, kernel and user, after a switch. Then the workers
//! pass their connections on to groups:
//!
//! ```text
//!   worker, before a read, in a crowd --join--> seat in a group  <----------------- answered
//!                                                 | ready (epoll, edge-triggered)   |
//!                                               [leader] -- one command ------------+
//!                                                 |
//!                                                 +- about to sleep in it, or at it for long: another worker leads on,
//!                                                    this one ends the command and is free
//!   parked   <-- idle for a while ----------------+
//!   a worker <-- no crowd any more ---------------+
//! ```
//!
//! These are leaders and followers ([Schmidt et al.][lf]) with one difference: the leader serves what it finds itself, and gives its
//! office away only before it sleeps ([`sync::blocking`]), as a thread of Go's scheduler does. So a statement that waits for a
//! lock, a flush or a page keeps nobody's COMMIT from being read, as with a thread each. A command that computes for longer than
//! [`STALL`] is noticed by the poller thread, which makes another worker leader.
//!
//! # Commits
//!
//! An answer that rests on a commit is made before the commit is durable, and kept ([`protocol::Next::Settle`]). When the leader has
//! served all that was ready it waits for durability, which makes another worker leader, and then sends all the answers that were
//! kept meanwhile. So a thread sleeps once a flush and not once a commit, and a commit's locks are free while other
//! commands of the batch run. Answers that are kept are never forgotten: who adds one looks next whether it is time to settle, and who
//! settles does not stop, nor serve a command, before none is left, all under the mutex.
//!
//! # Turns
//!
//! Of all who ask, few are served at a time, for some time each: see [`crate::turns`].
//!
//! # No command is lost
//!
//! [`Readiness`] is edge-triggered: it tells of bytes once, when they come. Whoever serves a connection reads until the socket was empty
//! when asked ([`protocol::Connection::is_drained`]), so bytes that come later make a new event. An event for a connection that is being
//! served (by a former leader) is noted in its seat, under the mutex, and whoever puts the connection back finds the note and reads
//! again.
//!
//! [lf]: https://www.dre.vanderbilt.edu/~schmidt/PDF/lf.pdf

use crate::readiness::Readiness;
use crate::task::Task;
use crate::turns::{self, Turns};
use protocol::Service;
use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use sync::{CachePadded, Mutex, Rank};

/// Workers of a group that wait for durability at once: one whose flush runs, one for the next flush.
const SETTLERS: usize = 2;
/// The leader goes on to settle when so many answers wait, even when there are more commands.
const UNSETTLED_MOST: usize = 32;

/// A leader that has served one command for so long is not waited for.
pub const STALL: Duration = Duration::from_millis(10);

/// A place for one connection.
enum Seat<S: Service> {
    Free,
    /// Not being served. `used`: it was, since the last sweep.
    Here {
        task: Box<Task<S>>,
        used: bool,
    },
    /// Being served. `again`: bytes have come meanwhile.
    Away {
        again: bool,
    },
}

struct State<S: Service> {
    seats: Vec<Seat<S>>,
    free: Vec<usize>,
    /// Whose command is next.
    turns: Turns,
    /// Served, but their answers may not leave yet.
    unsettled: VecDeque<(usize, Box<Task<S>>)>,
    /// Workers that settle: they do not leave before `unsettled` is empty.
    settlers: usize,
    /// Some worker leads, or is on its way.
    led: bool,
    /// Counts leaders: who leads in an earlier term does so no longer.
    term: u64,
    /// Counts commands begun.
    commands: u64,
    /// The leader serves a command, of this seat.
    serving: Option<usize>,
    /// `term` and `commands` when the poller thread last looked.
    looked: (u64, u64),
    next_sweep: Instant,
}

/// Connections that one leader serves.
pub struct Group<S: Service> {
    readiness: Readiness,
    state: Mutex<State<S>>,
}

/// What a leader does next.
pub enum Turn<S: Service> {
    /// Serve the connection of this seat: what it has sent.
    Serve(usize, Box<Task<S>>),
    /// Wait until this connection's answer may leave, and send it.
    Settle(usize, Box<Task<S>>),
    /// Nobody is to be served now: [`Group::wait`].
    Wait { held_up: bool },
    /// Somebody else leads, or there is nobody to serve.
    Over,
}

/// What a leader has done.
pub enum Back<S: Service> {
    Nothing,
    /// The connection of this seat has its answer.
    Answered(usize, Box<Task<S>>),
    /// It has one that may not leave yet.
    Unsettled(usize, Box<Task<S>>),
}

/// What became of a connection that was to join.
pub enum Joined<S: Service> {
    Yes,
    /// Yes, and the caller sees to it that a worker leads the group from this term on.
    ToLead(u64),
    /// The poller does not take it.
    Failed(Box<Task<S>>),
}

impl<S: Service> Group<S> {
    fn new() -> io::Result<Group<S>> {
        let state = State {
            seats: Vec::new(),
            free: Vec::new(),
            turns: Turns::default(),
            unsettled: VecDeque::new(),
            settlers: 0,
            led: false,
            term: 0,
            commands: 0,
            serving: None,
            looked: (0, 0),
            next_sweep: Instant::now(),
        };
        Ok(Group { readiness: Readiness::new()?, state: Mutex::new(Rank::Workers, state) })
    }

    /// Takes a connection with nothing left to serve.
    fn join(&self, task: Box<Task<S>>) -> Joined<S> {
        let mut state = self.state.lock();
        let key = match state.free.pop() {
            Some(key) => key,
            None => {
                state.seats.push(Seat::Free);
                state.seats.len() - 1
            }
        };
        // Under the mutex: whoever sees the event finds the connection in its seat. What came before is an event, too.
        if self.readiness.add(task.conn.stream(), key).is_err() {
            state.free.push(key);
            return Joined::Failed(task);
        }
        state.turns.sit(key, task.midway, Instant::now());
        state.seats[key] = Seat::Here { task, used: true };
        if state.led {
            return Joined::Yes;
        }
        state.led = true;
        Joined::ToLead(state.new_term())
    }

    /// The leader of `term`, perhaps a former one, puts back what it has served and asks what is next. `settler` is its own:
    /// whether it counts as one who settles.
    pub fn next(&self, term: u64, settler: &mut bool, back: Back<S>) -> Turn<S> {
        let mut state = self.state.lock();
        match back {
            Back::Nothing => {}
            Back::Unsettled(key, task) => {
                state.turns.flushes(key, Instant::now());
                state.unsettled.push_back((key, task));
            }
            Back::Answered(key, task) => {
                let Seat::Away { again } = state.seats[key] else { panic!("a connection that is served is away") };
                state.turns.answered(key, task.midway, Instant::now());
                state.seats[key] = Seat::Here { task, used: true };
                if again {
                    state.turns.ask(key);
                }
                if again && state.term != term {
                    // The leader may be waiting. It fails only when the poller is broken, which the leader finds out.
                    let _ = self.readiness.notify();
                }
            }
        }
        let leads = state.term == term;
        if leads {
            state.serving = None;
        }
        let is_time = !leads || !state.turns.has_next() || state.unsettled.len() >= UNSETTLED_MOST;
        if (*settler || (is_time && state.settlers < SETTLERS))
            && let Some((key, task)) = state.unsettled.pop_front()
        {
            state.settlers += usize::from(!std::mem::replace(settler, true));
            return Turn::Settle(key, task);
        }
        state.settlers -= usize::from(std::mem::take(settler));
        if !leads {
            return Turn::Over;
        }
        if let Some(key) = state.turns.next() {
            let seat = std::mem::replace(&mut state.seats[key], Seat::Away { again: false });
            let Seat::Here { task, .. } = seat else { panic!("a connection that asks is here") };
            state.serving = Some(key);
            state.commands += 1;
            return Turn::Serve(key, task);
        }
        if state.free.len() < state.seats.len() {
            return Turn::Wait { held_up: state.turns.is_held_up() };
        }
        (state.seats, state.free, state.turns) = (Vec::new(), Vec::new(), Turns::default());
        state.led = false;
        Turn::Over
    }

    /// The leader waits for commands. Returns connections that have sent none for `idle_after` or longer: they have left.
    /// `held_up`: somebody waits for his turn.
    pub fn wait(&self, idle_after: Duration, held_up: bool) -> Vec<Box<Task<S>>> {
        let timeout = if held_up { turns::ABSENT } else { idle_after };
        let waited = self.readiness.wait(timeout, |asking| {
            let mut state = self.state.lock();
            for key in asking {
                match &mut state.seats[key] {
                    Seat::Here { .. } => state.turns.ask(key),
                    Seat::Away { again } => *again = true,
                    // It has left since.
                    Seat::Free => {}
                }
            }
            state
        });
        let mut state = waited.expect("epoll_wait fails only for a broken descriptor");
        let now = Instant::now();
        state.turns.tick(now);
        if held_up {
            state.turns.look(now);
        }
        if now < state.next_sweep {
            return Vec::new();
        }
        state.next_sweep = now + idle_after;
        self.sweep(&mut state)
    }

    fn sweep(&self, state: &mut State<S>) -> Vec<Box<Task<S>>> {
        let mut idle = Vec::new();
        for key in 0..state.seats.len() {
            let Seat::Here { used, .. } = &mut state.seats[key] else { continue };
            if std::mem::replace(used, false) || state.turns.asks(key) {
                continue;
            }
            if let Seat::Here { task, .. } = std::mem::replace(&mut state.seats[key], Seat::Free) {
                state.free.push(key);
                state.turns.leave(key);
                self.forget(&task);
                idle.push(task);
            }
        }
        idle
    }

    /// The connection that was served from this seat leaves the group.
    pub fn leave(&self, key: usize, task: &Task<S>) {
        self.forget(task);
        let mut state = self.state.lock();
        state.seats[key] = Seat::Free;
        state.turns.leave(key);
        state.free.push(key);
        if state.free.len() == state.seats.len() {
            // The leader may be waiting for the last one. It fails only when the poller is broken, which the leader finds out.
            let _ = self.readiness.notify();
        }
    }

    fn forget(&self, task: &Task<S>) {
        // It fails only when the socket is not in the poller.
        let _ = self.readiness.delete(task.conn.stream());
    }

    /// Ends a leader's term: the next one, for which the caller finds a worker. `None`: it has ended already.
    pub fn depose(&self, term: u64) -> Option<u64> {
        let mut state = self.state.lock();
        (state.led && state.term == term).then(|| state.new_term())
    }

    /// As [`Group::depose`] for a leader that has not begun another command since the last call.
    fn depose_stalled(&self) -> Option<u64> {
        let mut state = self.state.lock();
        let now = (state.term, state.commands);
        let stalled = std::mem::replace(&mut state.looked, now) == now;
        if !stalled || !state.led {
            return None;
        }
        let key = state.serving?;
        state.turns.step_aside(key);
        Some(state.new_term())
    }

    fn is_led(&self) -> bool {
        self.state.lock().led
    }
}

impl<S: Service> State<S> {
    fn new_term(&mut self) -> u64 {
        self.serving = None;
        self.term += 1;
        self.term
    }
}

/// All groups, and whether they are needed.
pub struct Crew<S: Service> {
    groups: Box<[CachePadded<Group<S>>]>,
    /// More active connections than this are a crowd.
    most: usize,
    /// Connections that are not parked. W: whoever wakes, parks or closes one.
    active: CachePadded<AtomicUsize>,
    /// W: as `active`, when a crowd comes or goes. R: whoever is about to read a command.
    crowded: CachePadded<AtomicBool>,
    /// Which group the next connection joins. W: workers that pass one on.
    next_group: AtomicUsize,
}

impl<S: Service> Crew<S> {
    pub fn new(groups: usize, most: usize) -> io::Result<Crew<S>> {
        let groups: io::Result<_> = (0..groups.max(1)).map(|_| Group::new().map(CachePadded::new)).collect();
        Ok(Crew {
            groups: groups?,
            most,
            active: CachePadded::new(AtomicUsize::new(0)),
            crowded: CachePadded::new(AtomicBool::new(false)),
            next_group: AtomicUsize::new(0),
        })
    }

    pub fn groups(&self) -> usize {
        self.groups.len()
    }

    pub fn group(&self, at: usize) -> &Group<S> {
        &self.groups[at]
    }

    /// Connections do better in turn than with a thread each.
    #[inline]
    pub fn is_crowded(&self) -> bool {
        // Relaxed: advice. A connection is served either way.
        self.crowded.load(Ordering::Relaxed)
    }

    /// A connection has become active.
    pub fn one_more(&self) {
        // Relaxed: a count that publishes nothing.
        if self.active.fetch_add(1, Ordering::Relaxed) + 1 > self.most && !self.is_crowded() {
            // Relaxed: advice. If it crosses with the store in `one_less`, the next connection that comes or goes puts it right.
            self.crowded.store(true, Ordering::Relaxed);
        }
    }

    /// A connection is no longer active. The crowd ends at three quarters of what made it one, so that it does not come and go.
    pub fn one_less(&self) {
        // Relaxed: as in `one_more`.
        if self.active.fetch_sub(1, Ordering::Relaxed) - 1 <= self.most - self.most / 4 && self.is_crowded() {
            self.crowded.store(false, Ordering::Relaxed);
        }
    }

    /// Passes a connection to a group; which one, for [`Joined::ToLead`].
    pub fn join(&self, task: Box<Task<S>>) -> (usize, Joined<S>) {
        // Relaxed: it spreads, no more.
        let at = self.next_group.fetch_add(1, Ordering::Relaxed) % self.groups.len();
        (at, self.groups[at].join(task))
    }

    /// Groups whose leader does not get on, with the term of the next one.
    pub fn depose_stalled(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        self.groups.iter().enumerate().filter_map(|(at, group)| Some((at, group.depose_stalled()?)))
    }

    /// The poller thread should look for leaders that do not get on.
    pub fn needs_watching(&self) -> bool {
        self.is_crowded() || self.groups.iter().any(|group| group.is_led())
    }
}
