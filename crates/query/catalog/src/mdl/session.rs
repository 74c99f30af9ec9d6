//! A session's side: what it holds, taking and giving back.

use super::lane::{self, COMMIT, GLOBAL, SLOTS};
use super::name::Weak;
use super::wait::Wait;
use super::{Duration, MetadataLocks, Mode, Name, Pin};
use engine::{Slept, Transaction};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;
use sync::pins::announced;
use sync::{LaneId, PinLane, blocking, waits};
use types::codes::*;
use types::{Result, SqlError, err};

/// What a wait for a metadata lock needs.
pub struct Waiting<'a> {
    /// `lock_wait_timeout`; then error 1205.
    pub timeout: std::time::Duration,
    /// The session's transaction: known to the deadlock search, and where KILL is heard.
    pub tx: &'a mut Transaction,
}

/// A lock held through the queues.
#[derive(Clone, Debug)]
pub struct Ticket {
    pub name: Arc<Name>,
    pub mode: Mode,
    pub duration: Duration,
    number: u64,
}

/// Rolling back data definition costs the most, so it is the last that a deadlock ends; then sessions with user-level locks,
/// whose wait is all that ends. Rows changed are counted from 0.
const WEIGHT_DDL: u64 = 1 << 40;
const WEIGHT_USER: u64 = 1 << 32;

/// The metadata locks of one session.
#[derive(Debug)]
pub struct MetadataPins {
    locks: Arc<MetadataLocks>,
    lane: LaneId,
    /// Words of the lane in use for tables and routines. Private copy, so that a statement reads no atomics to find out.
    used: usize,
    /// The lane says IX on the global scope.
    global: bool,
    /// Held through the queues.
    tickets: Vec<Ticket>,
}

impl MetadataPins {
    /// `None`: too many connections.
    pub fn claim(locks: &Arc<MetadataLocks>, tx: &Transaction, connection: u64) -> Option<MetadataPins> {
        let pins = MetadataPins::claim_alone(locks)?;
        let lane = locks.lanes.get(pins.lane);
        // Relaxed: before the session locks anything.
        lane.slot.store(tx.slot(), Ordering::Relaxed);
        lane.connection.store(connection, Ordering::Relaxed);
        Some(pins)
    }

    /// The locks of a transaction that no session has. It never waits for any. `None`: too many connections.
    pub fn claim_alone(locks: &Arc<MetadataLocks>) -> Option<MetadataPins> {
        let id = locks.lanes.claim()?;
        let lane = locks.lanes.get(id);
        // Relaxed: before it locks anything.
        lane.slot.store(lane::NOBODY, Ordering::Relaxed);
        lane.connection.store(0, Ordering::Relaxed); // Relaxed: as above
        Some(MetadataPins { locks: Arc::clone(locks), lane: id, used: 0, global: false, tickets: Vec::new() })
    }

    #[inline]
    fn own(&self) -> &PinLane<{ lane::WORDS }> {
        &self.locks.lanes.get(self.lane).pins
    }

    /// Does the transaction hold nothing but what is given back by name?
    pub fn is_empty(&self) -> bool {
        self.used == 0 && !self.tickets.iter().any(|t| t.duration != Duration::Explicit)
    }

    #[inline]
    fn holds_pin(&self, pin: &Pin) -> bool {
        let lane = self.own();
        // SW on a table covers SR.
        let stronger = pin.word & !3 | Weak::Write as u64;
        (0..self.used).any(|at| matches!(lane.word(at), word if word == pin.word || word == stronger))
            || (!self.tickets.is_empty() && self.holds(&pin.name, pin.mode()))
    }

    /// Does it hold this lock, or a stronger one, through the queues?
    pub fn holds(&self, name: &Name, mode: Mode) -> bool {
        self.tickets.iter().any(|t| *t.name == *name && t.mode.covers(mode))
    }

    /// Does it hold nothing at all?
    pub fn holds_nothing(&self) -> bool {
        self.used == 0 && !self.global && self.tickets.is_empty()
    }

    /// Is LOCK TABLES in force?
    pub fn locks_tables(&self) -> bool {
        self.tickets.iter().any(|t| t.duration == Duration::Explicit && matches!(*t.name, Name::Table(..)))
    }

    pub fn tickets(&self) -> &[Ticket] {
        &self.tickets
    }

    /// Pins a statement's tables for the transaction, and, where it writes, the global scope for the statement. `Ok(false)`: there
    /// was somebody to wait for; now look the tables up again and ask once more. Errors: 1205, 1213, 1223, 1317, 3024.
    #[inline]
    pub fn pin(&mut self, pins: &[Pin], writes: bool, waiting: Waiting<'_>) -> Result<bool> {
        let before = self.used;
        let mut fits = true;
        for pin in pins {
            if !self.holds_pin(pin) {
                if self.used == SLOTS {
                    fits = false;
                    break;
                }
                self.own().set(self.used, pin.word);
                self.used += 1;
            }
        }
        let global = writes && !self.global && (self.tickets.is_empty() || !self.holds_global());
        if self.used == before && !global && fits {
            return Ok(true);
        }
        if global {
            self.own().set(GLOBAL, self.locks.global_word);
        }
        announced();
        let (lane, gates) = (self.own(), &self.locks.gates);
        let stopped = |at: usize| {
            let word = lane.word(at);
            gates.of_word(word).stops(Weak::of_word(word).expect("it is in use").class())
        };
        if fits && !(before..self.used).any(stopped) && !(global && gates.global().stops(Weak::Intention.class())) {
            self.global |= global;
            return Ok(true);
        }
        self.free(before..self.used, global);
        self.used = before;
        self.pin_slow(pins, global, waiting)?;
        Ok(false)
    }

    /// Is there a lock on the global scope already? With one's own read lock on it nothing is written.
    fn holds_global(&self) -> bool {
        self.holds(&Name::Global, Mode::IntentionExclusive)
    }

    /// Goes through the queues for what the gates stopped, and for what the lane has no room for.
    #[cold]
    fn pin_slow(&mut self, pins: &[Pin], global: bool, mut waiting: Waiting<'_>) -> Result<()> {
        if global && self.locks.gates.global().stops(Weak::Intention.class()) {
            self.check_protection()?;
            self.lock(&Arc::new(Name::Global), Mode::IntentionExclusive, Duration::Statement, &mut waiting)?;
        }
        let mut room = SLOTS - self.used;
        for pin in pins {
            if self.holds_pin(pin) {
                continue;
            }
            if room == 0 || self.locks.gates.of_word(pin.word).stops(pin.weak.class()) {
                self.lock(&pin.name, pin.mode(), Duration::Transaction, &mut waiting)?;
            } else {
                room -= 1;
            }
        }
        Ok(())
    }

    /// Error 1223 when the session has said FLUSH TABLES WITH READ LOCK and now wants to change something.
    pub fn check_protection(&self) -> Result<()> {
        if self.holds(&Name::Global, Mode::Shared) { Err(err!(ER_CANT_UPDATE_WITH_READLOCK)) } else { Ok(()) }
    }

    /// Frees words of the lane, tells who waits for that.
    fn free(&self, range: std::ops::Range<usize>, global: bool) {
        let lane = self.own();
        let mut asked = lane.clear(range);
        if global {
            asked |= lane.clear(GLOBAL..GLOBAL + 1);
        }
        if asked {
            self.locks.freed(self.lane);
        }
    }

    /// Takes a lock through the queues, unless one that covers it is held there. True: it had to wait.
    /// Errors: 1205, 1213, 1317, 3024.
    pub fn lock(
        &mut self,
        name: &Arc<Name>,
        mode: Mode,
        duration: Duration,
        waiting: &mut Waiting<'_>,
    ) -> Result<bool> {
        if self.tickets.iter().any(|t| t.name == *name && t.mode.covers(mode) && t.duration == duration) {
            return Ok(false);
        }
        let (number, waited) = self.acquire(name, mode, duration, waiting)?;
        self.tickets.push(Ticket { name: Arc::clone(name), mode, duration, number });
        Ok(waited)
    }

    /// Makes a lock that is held stronger. Errors as [`MetadataPins::lock`]; the lock stays what it was then.
    pub fn upgrade(&mut self, name: &Name, mode: Mode, waiting: &mut Waiting<'_>) -> Result<()> {
        let at = self.tickets.iter().position(|t| *t.name == *name).expect("the lock to upgrade is held");
        if self.tickets[at].mode.covers(mode) {
            return Ok(());
        }
        let Ticket { name, duration, number, .. } = self.tickets[at].clone();
        let (extra, _) = self.acquire(&name, mode, duration, waiting)?;
        let mut queues = self.locks.queues.lock();
        let view = self.locks.view();
        queues.change(view, &name, number, mode);
        queues.release(view, &name, |t| t.number == extra);
        drop(queues);
        self.tickets[at].mode = mode;
        Ok(())
    }

    /// Makes a lock that is held weaker.
    pub fn downgrade(&mut self, name: &Name, mode: Mode) {
        let Some(ticket) = self.tickets.iter_mut().find(|t| *t.name == *name) else { return };
        ticket.mode = mode;
        let view = self.locks.view();
        self.locks.queues.lock().change(view, &ticket.name, ticket.number, mode);
    }

    /// A table that a statement has locked stays locked as if LOCK TABLES had named it.
    pub fn keep_locked(&mut self, name: &Name, mode: Mode) {
        let Some(ticket) = self.tickets.iter_mut().find(|t| *t.name == *name) else { return };
        ticket.duration = Duration::Explicit;
        let number = ticket.number;
        self.locks.queues.lock().keep(&ticket.name, number);
        self.downgrade(name, mode);
    }

    fn acquire(
        &mut self,
        name: &Arc<Name>,
        mode: Mode,
        duration: Duration,
        waiting: &mut Waiting<'_>,
    ) -> Result<(u64, bool)> {
        let (locks, view) = (&self.locks, self.locks.view());
        let mut queues = locks.queues.lock();
        let number = queues.enter(view, name, self.lane, mode, duration);
        if queues.try_grant(view, name, number) {
            return Ok((number, false));
        }
        let interrupt = Arc::clone(waiting.tx.interrupt());
        let wait = Arc::new(Wait::new(locks, name, number, &interrupt));
        interrupt.arm();
        queues.set_wait(name, number, &wait);
        drop(queues);
        let weight = match (&**name, mode) {
            (Name::User(_), _) => WEIGHT_USER,
            (Name::Rows(..), _) => 0,
            (_, Mode::SharedRead | Mode::SharedWrite | Mode::SharedHighPrio) => 0,
            (Name::Global | Name::Commit, Mode::IntentionExclusive) => 0,
            _ => WEIGHT_DDL,
        };
        waiting.tx.enter_wait(Arc::clone(&wait) as Arc<dyn engine::ForeignWait>, weight);
        let since = Instant::now();
        let waited = blocking::waiting_for(waits::Wait::MetadataLock, waits::Operation::MetadataLock, &object_of(name));
        let slept = loop {
            let left = waiting.timeout.saturating_sub(since.elapsed());
            let slept = interrupt.sleep(left, waits::Wait::MetadataLock);
            if slept != Slept::Notified || wait.is_granted() || wait.is_victim() {
                break slept;
            }
            // A notice without outcome: sleep on.
            interrupt.arm();
            if wait.is_granted() || wait.is_victim() {
                break Slept::Notified;
            }
        };
        drop(waited);
        waiting.tx.leave_wait();
        if slept != Slept::Notified {
            // The last moment may have brought the lock.
            locks.queues.lock().withdraw(view, name, number);
        }
        if wait.is_granted() {
            return Ok((number, true));
        }
        if wait.is_victim() {
            return Err(if matches!(**name, Name::User(_)) {
                err!(ER_USER_LOCK_DEADLOCK)
            } else {
                err!(ER_LOCK_DEADLOCK)
            });
        }
        Err(match slept {
            Slept::TimedOut => err!(ER_LOCK_WAIT_TIMEOUT),
            _ => interrupted(interrupt.reason()),
        })
    }

    /// The statement has ended: it changes nothing any more.
    #[inline]
    pub fn release_statement(&mut self) {
        if self.global {
            self.global = false;
            self.free(0..0, true);
        }
        if !self.tickets.is_empty() {
            self.release_where(|t| t.duration == Duration::Statement);
        }
    }

    /// The transaction has ended: it uses no table any more.
    #[inline]
    pub fn release(&mut self) {
        if self.used > 0 || self.global {
            let global = std::mem::take(&mut self.global);
            let used = std::mem::take(&mut self.used);
            self.free(0..used, global);
        }
        if !self.tickets.is_empty() {
            self.release_where(|t| t.duration != Duration::Explicit);
        }
    }

    /// What the transaction holds of tables and routines becomes `other`'s, which holds nothing; nobody gets in between.
    pub fn hand_over(&mut self, other: &mut MetadataPins) {
        assert!(other.holds_nothing(), "it was claimed for this");
        // Strong requests look through the lanes under this mutex: they find each lock in one lane or in the other.
        let mut queues = self.locks.queues.lock();
        for at in 0..self.used {
            other.own().set(at, self.own().word(at));
        }
        announced();
        other.used = std::mem::take(&mut self.used);
        let asked = self.own().clear(0..other.used);
        let is_kept = |t: &mut Ticket| {
            t.duration == Duration::Transaction && matches!(*t.name, Name::Table(..) | Name::Routine(..))
        };
        other.tickets.extend(self.tickets.extract_if(.., is_kept));
        for ticket in &other.tickets {
            queues.give(&ticket.name, ticket.number, other.lane);
        }
        drop(queues);
        if asked {
            // Who waits asks the other lane to tell, from now on.
            self.locks.freed(self.lane);
        }
    }

    /// Gives back locks that are held through the queues.
    #[cold]
    pub fn release_where(&mut self, mut which: impl FnMut(&Ticket) -> bool) {
        let view = self.locks.view();
        let locks = &self.locks;
        self.tickets.retain(|held| {
            let goes = which(held);
            if goes {
                locks.queues.lock().release(view, &held.name, |t| t.number == held.number);
            }
            !goes
        });
    }

    /// A transaction with changes is about to commit: waits for FLUSH TABLES WITH READ LOCK of others.
    /// Errors as [`MetadataPins::lock`].
    #[inline]
    pub fn begin_commit(&mut self, waiting: Waiting<'_>) -> Result<()> {
        if self.global {
            // Who wants to stop commits stops statements first, and waits for this one.
            return Ok(());
        }
        self.own().set(COMMIT, self.locks.commit_word);
        announced();
        if !self.locks.gates.commit().stops(Weak::Intention.class()) {
            return Ok(());
        }
        self.begin_commit_slow(waiting)
    }

    #[cold]
    fn begin_commit_slow(&mut self, mut waiting: Waiting<'_>) -> Result<()> {
        self.end_commit();
        let mode = Mode::IntentionExclusive;
        self.lock(&Arc::new(Name::Commit), mode, Duration::Statement, &mut waiting).map(drop)
    }

    #[inline]
    pub fn end_commit(&mut self) {
        if self.own().word(COMMIT) != 0 {
            if self.own().clear(COMMIT..COMMIT + 1) {
                self.locks.freed(self.lane);
            }
        } else {
            self.release_where(|t| *t.name == Name::Commit && t.duration == Duration::Statement);
        }
    }
}

impl Drop for MetadataPins {
    fn drop(&mut self) {
        self.release();
        self.release_where(|_| true);
        self.locks.lanes.release(self.lane);
    }
}

/// As events of waits have it: kind, schema and name.
fn object_of(name: &Name) -> String {
    let (schema, object) = name.parts();
    format!("{}\0{}\0{}", name.kind(), schema.unwrap_or(""), object.unwrap_or(""))
}

/// 1317, or 3024 when the deadline of `max_execution_time` passed.
fn interrupted(reason: u8) -> SqlError {
    if reason == 3 { err!(ER_QUERY_TIMEOUT) } else { err!(ER_QUERY_INTERRUPTED) }
}
