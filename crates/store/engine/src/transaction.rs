//! A session's transaction: snapshot, writes, locks, savepoints, commit and rollback.

mod prepare;

use crate::events::Events;
use crate::isolation::{Isolation, LockMode, Read, Wait};
use crate::lock::held::HeldLocks;
use crate::lock::range::Covers;
use crate::lock::slot::{BEGUN_ALONE, BEGUN_ROLLING_BACK, Begin, pack_begun};
use crate::lock::{Cover, ForeignWait, Interrupt, Name, On, Outcome, Slept};
use crate::pool::Pool;
use crate::segment::Segment;
use crate::shared::rollbacks::Rollback;
use crate::shared::{Awaits, Core};
use crate::space::Need;
use crate::txn::Status;
use crate::txn::countdown::{Countdown, Progress};
use crate::txn::read::{Past, Reader};
use crate::txn::versions::Versions;
use crate::undo::{self, Kind, Record};
use crate::{Error, Result, Tree};
use log::Lsn;
use observe::{Counter, Timer};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use sync::{LaneId, blocking, waits};

/// A point in the transaction to roll back to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Savepoint {
    /// Behind which undo record; 0: before the first.
    at: u64,
    /// Bytes of events.
    events: u64,
    /// Changes made until then.
    work: u64,
}

/// One for each session, made with the session and used for one transaction after another. Its fields are seen by the session's thread
/// alone, and reads and writes of rows use them in all combinations.
pub struct Transaction {
    pub(crate) core: Arc<Core>,
    pub(crate) slot: LaneId,
    interrupt: Arc<Interrupt>,
    isolation: Isolation,
    active: bool,
    /// It could not be undone as asked and is nothing but a memory: its changes are undone in the background.
    doomed: bool,
    read_only: bool,
    /// The snapshot of consistent reads, once taken.
    snapshot: Option<Lsn>,
    /// What the snapshot is known to see of rows with newer versions.
    pub(crate) versions: Versions,
    /// The transaction's id, once it writes; else 0.
    pub(crate) trx: u64,
    /// Where its undo records go. Kept from one transaction to the next.
    pub(crate) segment: Option<Arc<Segment>>,
    /// Roll pointer of its first undo record; 0: none.
    first_undo: u64,
    /// Roll pointer to behind its last undo record; 0: none.
    undo_end: u64,
    /// From behind which undo record to behind which one the last partial rollback undid everything.
    undone: (u64, u64),
    /// Changes made and not undone: what a rollback would cost.
    work: u64,
    /// What undoing its changes takes of the log, at most.
    undo_cost: UndoCost,
    /// Explicit locks held.
    pub(crate) locks: HeldLocks,
    /// Trees that it has made: see [`Transaction::load`].
    pub(crate) trees_made: Vec<u32>,
    /// The greatest commit LSN that a locking read rests on.
    depends_on: Lsn,
    /// A commit of its own is among them.
    awaits_own: bool,
    /// And events with it.
    awaits_events: bool,
    lock_wait_timeout: Duration,
    /// How insertions of this statement lock the duplicates that they meet.
    pub(crate) duplicates: LockMode,
    /// Scratch for undo records.
    pub(crate) record: Vec<u8>,
    /// The row last read by `read_to_write`, as long as it is neither changed nor locked.
    pub(crate) claim: Claim,
    /// The lock that the last locking [`Transaction::get`] took.
    pub(crate) fresh_lock: Option<Name>,
    pub(crate) events: Events,
    commit_end: Lsn,
    /// Who hears how far an undoing is.
    progress: Option<Progress>,
}

/// Bytes of log that the undoing of changes takes, and the room that is kept for that.
#[derive(Default)]
pub(crate) struct UndoCost {
    bytes: u64,
    /// As far as there is room, beyond [`UndoCost::UNCOUNTED`].
    covered: u64,
    pub owed: Option<log::Owed>,
}

impl UndoCost {
    /// The segment that is left to critical writers is enough for many transactions of this size, and these write to no shared memory.
    const UNCOUNTED: u64 = 64 << 10;
    const STEP: u64 = 1 << 20;
    /// What a change costs beside the old row and the undo record: heads of groups and operations, the mark.
    const EACH: u64 = 128;

    fn add(&mut self, bytes: u64) {
        self.bytes += bytes + UndoCost::EACH;
    }

    #[cold]
    fn cover(&mut self, log: &log::Log) -> Result<()> {
        log.owe(&mut self.owed, UndoCost::STEP)?;
        self.covered += UndoCost::STEP;
        Ok(())
    }
}

/// A lock on a row that the transaction did not hold before it read the row.
pub struct FreshLock(Name);

/// A row that the transaction is about to change and has not locked: what its words were when it was read.
#[derive(Default)]
pub(crate) struct Claim {
    /// 0: none.
    pub tree: u32,
    pub key: Vec<u8>,
    pub words: (u64, u64),
}

impl Claim {
    pub fn is_for(&self, tree: u32, key: &[u8]) -> bool {
        self.tree == tree && self.key == key
    }
}

impl Transaction {
    /// A second transaction of the session, which what ends the session's statements ends, too. Whoever uses it sees to it that it
    /// never waits for a row: the deadlock search does not know that the two are one's. Errors as [`Transaction::new`].
    pub fn beside(&self) -> Result<Transaction> {
        let mut beside = Transaction::on(Arc::clone(&self.core))?;
        beside.interrupt = Arc::clone(&self.interrupt);
        Ok(beside)
    }

    /// From now on what ends the other's statements ends this one's, too.
    pub fn heed(&mut self, other: &Transaction) {
        self.interrupt = Arc::clone(&other.interrupt);
    }

    /// A transaction that reads in this one's snapshot and must end before it does. It announces no snapshot of its own. Errors as
    /// [`Transaction::new`].
    pub(crate) fn join_snapshot(&mut self) -> Result<Transaction> {
        let snapshot = self.reader().snapshot;
        let mut joined = self.beside()?;
        joined.begin(self.isolation, true);
        joined.snapshot = Some(snapshot);
        Ok(joined)
    }

    pub(crate) fn on(core: Arc<Core>) -> Result<Transaction> {
        let slot = core.system.slots.claim().ok_or(Error::TooManyTransactions)?;
        Ok(Transaction {
            core,
            slot,
            interrupt: Arc::new(Interrupt::of_slot(slot.index() as u32)),
            isolation: Isolation::RepeatableRead,
            active: false,
            doomed: false,
            read_only: false,
            snapshot: None,
            versions: Versions::default(),
            trx: 0,
            segment: None,
            first_undo: 0,
            undo_end: 0,
            undone: (0, 0),
            work: 0,
            undo_cost: UndoCost::default(),
            locks: HeldLocks::default(),
            trees_made: Vec::new(),
            depends_on: 0,
            awaits_own: false,
            awaits_events: false,
            lock_wait_timeout: Duration::from_secs(50),
            duplicates: LockMode::Shared,
            record: Vec::new(),
            claim: Claim::default(),
            fresh_lock: None,
            events: Events::default(),
            commit_end: 0,
            progress: None,
        })
    }

    /// Starts a transaction. Writes to no shared memory: ids, undo and snapshot come with the first use.
    pub fn begin(&mut self, isolation: Isolation, read_only: bool) {
        self.begin_as(Begin { isolation, read_only, alone: false, now_us: 0 });
    }

    /// The same, with what those who list transactions show of it.
    pub fn begin_as(&mut self, begin: Begin) {
        assert!(!self.active, "the transaction before has ended");
        debug_assert!(self.trx == 0 && self.first_undo == 0 && self.undo_end == 0, "nothing is left of it");
        debug_assert!(self.snapshot.is_none() && self.locks.is_empty() && !self.doomed, "neither reads nor locks");
        self.active = true;
        self.isolation = begin.isolation;
        self.read_only = begin.read_only;
        // Relaxed: for those who list transactions; the line is our own.
        self.core.system.slots.get(self.slot).begun.store(pack_begun(begin), Ordering::Relaxed);
    }

    pub fn is_active(&self) -> bool {
        self.active
    }

    /// Must the session roll it back, since a statement could not be undone? Reads and writes then are [`Error::MustRollBack`].
    pub fn must_roll_back(&self) -> bool {
        self.doomed
    }

    pub fn is_read_only(&self) -> bool {
        self.read_only
    }

    pub fn isolation(&self) -> Isolation {
        self.isolation
    }

    /// Has it changed anything?
    pub fn has_writes(&self) -> bool {
        self.first_undo != 0
    }

    /// Has it changed anything that [`Transaction::rollback_to`] has not undone?
    pub fn has_changes(&self) -> bool {
        self.first_undo != 0 && self.undone != (0, self.undo_end)
    }

    /// Where the last commit ends in the log; 0: it has written nothing.
    pub fn commit_end(&self) -> Lsn {
        self.commit_end
    }

    /// Its id as `information_schema.innodb_trx` shows it; 0 until the first write.
    pub fn id(&self) -> u64 {
        self.trx
    }

    /// Rows it has changed so far.
    pub fn work(&self) -> u64 {
        self.work
    }

    /// When it began, in microseconds since 1970; 0: it has not, or nobody knows.
    pub fn began_us(&self) -> u64 {
        // Relaxed: written by this thread.
        self.core.system.slots.get(self.slot).begun.load(Ordering::Relaxed) & (BEGUN_ALONE - 1)
    }

    /// Explicit row locks it holds.
    pub fn lock_count(&self) -> usize {
        self.locks.len()
    }

    /// Takes the snapshot now (START TRANSACTION WITH CONSISTENT SNAPSHOT).
    pub fn take_snapshot(&mut self) {
        self.reader();
    }

    /// How the statement's insertions lock the row or entry that has their key already: shared unless this says otherwise.
    pub fn lock_duplicates(&mut self, mode: LockMode) {
        self.duplicates = mode;
    }

    /// Is `trx` over as far as this transaction's snapshot can tell: committed and visible, or rolled back? Takes the snapshot when
    /// there is none.
    pub fn sees_end_of(&mut self, trx: u64) -> bool {
        let snapshot = self.reader().snapshot;
        match self.core.system.status(trx) {
            Status::Open(_) => false,
            Status::Committed(lsn) => lsn <= snapshot,
            Status::RolledBack | Status::Old => true,
        }
    }

    /// To be called between statements: below REPEATABLE READ the next consistent read takes a new snapshot.
    pub fn end_statement(&mut self) {
        self.duplicates = LockMode::Shared;
        if self.isolation <= Isolation::ReadCommitted {
            self.close_snapshot();
        }
    }

    #[inline]
    fn close_snapshot(&mut self) {
        if self.snapshot.take().is_some() {
            self.versions.forget();
            self.core.system.close_snapshot(self.slot);
        }
    }

    /// `progress` hears how far it is when changes are undone.
    pub fn tell_of_undoing(&mut self, progress: Progress) {
        self.progress = Some(progress);
    }

    pub fn set_lock_wait_timeout(&mut self, timeout: Duration) {
        self.lock_wait_timeout = timeout;
    }

    /// The handle that KILL uses.
    pub fn interrupt(&self) -> &Arc<Interrupt> {
        &self.interrupt
    }

    /// An error if somebody wants the statement to end.
    #[inline(always)]
    pub fn check_interrupt(&self) -> Result<()> {
        if self.interrupt.reason() != 0 { Err(Error::Interrupted) } else { Ok(()) }
    }

    /// What consistent reads go by; takes the snapshot if there is none.
    #[inline]
    pub(crate) fn reader(&mut self) -> Reader {
        debug_assert!(self.active);
        let snapshot = match self.snapshot {
            Some(snapshot) => snapshot,
            None => {
                let core = &*self.core;
                let snapshot = core.system.open_snapshot(self.slot, || core.newest());
                self.snapshot = Some(snapshot);
                snapshot
            }
        };
        Reader { trx: self.trx, snapshot, uncommitted: self.isolation == Isolation::ReadUncommitted }
    }

    /// The same, with what a walk over older versions takes; what at least `worth_steps` of it find is remembered.
    #[inline]
    pub(crate) fn reading(&mut self, worth_steps: u64) -> (Reader, &Core, Past<'_>) {
        let reader = self.reader();
        (reader, &self.core, Past { versions: Some(&mut self.versions), worth_steps, interrupt: &self.interrupt })
    }

    /// Whether [`Transaction::await_durable`] has anything to wait for.
    #[inline]
    pub fn rests_on_others(&self) -> bool {
        self.depends_on != 0
    }

    /// Waits until the commit, and every commit that this transaction's locking reads rest on, is durable. To be called
    /// before an answer goes to the client (design rule 5); free when there is nothing to wait for.
    pub fn await_durable(&mut self) -> Result<()> {
        if self.depends_on == 0 {
            return Ok(());
        }
        let lsn = std::mem::take(&mut self.depends_on);
        let (own, events) = (std::mem::take(&mut self.awaits_own), std::mem::take(&mut self.awaits_events));
        let awaits = match (own, events) {
            (false, _) => Awaits::OthersCommits,
            (true, false) => Awaits::OwnCommit,
            (true, true) => Awaits::OwnEvents,
        };
        self.core.wait_durable(lsn, &self.interrupt, awaits)
    }

    /// Waits until no transaction that has changed one of these trees is undone in the background any more, for who is about to read
    /// their rows as if nobody had changed them without committing: such a transaction holds no metadata lock.
    /// [`Error::LockWaitTimeout`] after `timeout`; [`Error::Corrupt`] and the like when its undo cannot be read.
    pub fn await_rollbacks(&self, trees: &[Tree], timeout: Duration) -> Result<()> {
        let began = Instant::now();
        self.core.await_rollbacks(trees, || {
            self.check_interrupt()?;
            if self.core.stopping() {
                return Err(Error::Interrupted);
            }
            if began.elapsed() >= timeout { Err(Error::LockWaitTimeout) } else { Ok(()) }
        })
    }

    /// Waits until every commit so far is durable, so that the next snapshot sees it.
    pub fn await_others(&self) -> Result<()> {
        self.core.wait_durable(self.core.log.tail_lsn(), &self.interrupt, Awaits::OthersCommits)
    }

    /// A locking read saw what `trx` wrote.
    pub(crate) fn rest_on(&mut self, trx: u64) {
        if let Status::Committed(lsn) = self.core.system.status(trx)
            && lsn > self.core.newest()
        {
            self.depends_on = self.depends_on.max(lsn);
        }
    }

    /// Gets ready to write: an id, an undo segment, room in the log and in the data file. Holds no latch.
    pub(crate) fn start_writing(&mut self, need: Need) -> Result<()> {
        assert!(self.active, "a write is inside a transaction");
        self.check_alive()?;
        if let Some(delay) = self.core.history.delay() {
            self.wait_for_purge(delay)?;
        }
        self.core.space.ensure_headroom(&self.core.pool, &self.core.log, need)?;
        match need {
            Need::Definition => self.core.log.ensure_room_critical(64 << 10)?,
            Need::Room | Need::Undo => self.core.log.ensure_room(64 << 10)?,
        }
        if self.undo_cost.bytes > self.undo_cost.covered + UndoCost::UNCOUNTED {
            self.undo_cost.cover(&self.core.log)?;
        }
        if self.trx == 0 {
            if self.segment.is_none() {
                self.segment = Some(self.core.segments.take(self.core.store())?);
            }
            self.undone = (0, 0);
            self.trx = self.take_id()?;
            self.core.system.slots.get(self.slot).state.lock().trx = self.trx;
        }
        Ok(())
    }

    fn check_alive(&self) -> Result<()> {
        if self.doomed { Err(Error::MustRollBack) } else { Ok(()) }
    }

    /// The history is longer than `innodb_max_purge_lag`. Ends on KILL.
    #[cold]
    fn wait_for_purge(&self, delay: Duration) -> Result<()> {
        let _waiting = blocking::waiting(waits::Wait::Purge);
        self.interrupt.arm();
        match self.interrupt.sleep(delay, waits::Wait::Purge) {
            Slept::Interrupted => Err(Error::Interrupted),
            Slept::Notified | Slept::TimedOut => Ok(()),
        }
    }

    /// An id; waits for purge while the status ring is full, as for a lock.
    fn take_id(&self) -> Result<u64> {
        let system = &self.core.system;
        let began = Instant::now();
        loop {
            let seen = system.releases();
            if let Some(trx) = system.start(self.slot) {
                return Ok(trx);
            }
            self.core.history.want_round();
            self.check_interrupt()?;
            if self.core.stopping() || began.elapsed() >= self.lock_wait_timeout {
                return Err(Error::TooManyTransactions);
            }
            let _waiting = blocking::waiting(waits::Wait::Purge);
            system.await_room(seen, Duration::from_millis(50));
        }
    }

    /// A change was made, with `self.record` at `roll_ptr`; undoing it writes `old_bytes`.
    pub(crate) fn changed(&mut self, roll_ptr: u64, old_bytes: usize) {
        self.undo_cost.add(old_bytes as u64);
        if undo::leaves_work(&self.record) {
            self.note_purge_work();
        }
        self.recorded(roll_ptr);
        self.work += 1;
        // Relaxed: a hint for the choice of deadlock victims.
        self.core.system.slots.get(self.slot).work.store(self.work, Ordering::Relaxed);
    }

    /// The undo record at hand stands there.
    pub(crate) fn recorded(&mut self, roll_ptr: u64) {
        if self.first_undo == 0 {
            self.first_undo = roll_ptr;
        }
        self.undo_end = roll_ptr + self.record.len() as u64;
    }

    fn note_purge_work(&self) {
        self.segment.as_ref().expect("a transaction with undo has a segment").note_work();
    }

    /// What goes into the log with its commit, for who reads it there: see [`crate::EventStream`]. Undone changes take theirs along.
    pub fn events(&mut self) -> &mut Events {
        &mut self.events
    }

    pub fn savepoint(&self) -> Savepoint {
        Savepoint { at: self.undo_end, events: self.events.len(), work: self.work }
    }

    /// Undoes every change since `savepoint`. Row locks stay. Also the way a failed statement is undone. Nothing happens if
    /// the transaction is over (a deadlock ended it). When it cannot be done, the whole transaction is undone in the background, and
    /// the session may only roll it back.
    pub fn rollback_to(&mut self, savepoint: Savepoint) -> Result<()> {
        self.check_alive()?;
        if !self.active {
            return Ok(());
        }
        self.events.truncate(savepoint.events);
        if self.first_undo == 0 {
            return Ok(());
        }
        let stop = if savepoint.at == 0 { self.first_undo } else { savepoint.at };
        let end = self.undo_end;
        // What was undone right before the savepoint belongs to it.
        let from = if self.undone.1 == savepoint.at { self.undone.0 } else { savepoint.at };
        self.undone = (from, end);
        self.note_purge_work();
        let (locks, core, slot) = (&mut self.locks, &*self.core, self.slot.index() as u32);
        let mut keep_lock = |record: &Record<'_>| {
            // The row's header will no longer say that we hold it.
            if !record.secondary && matches!(record.kind, Kind::Insert | Kind::Update) {
                let name = Name { tree: record.tree, key: record.key.into() };
                if core.locks.keep(slot, &name) {
                    locks.push(name);
                }
            }
        };
        let mut undone_to = end;
        let _undo = blocking::shield();
        let left = &core.system.slots.get(self.slot).work;
        let mut countdown = Countdown::new(left, self.work.saturating_sub(savepoint.work), self.progress.as_ref());
        let undo_one = |record: &Record<'_>| {
            keep_lock(record);
            countdown.pass(record);
        };
        let outcome = core.undo_back(self.trx, &mut undone_to, stop, undo_one, || false);
        drop(countdown);
        // Relaxed: stored by this thread alone.
        self.work = left.load(Ordering::Relaxed);
        match outcome {
            Ok(_) => Ok(()),
            Err(error) => {
                self.abandon(undone_to)?;
                self.active = true;
                self.doomed = true;
                Err(error)
            }
        }
    }

    /// Commits; returns when the commit, and those that its locking reads rest on, are as durable as
    /// `innodb_flush_log_at_trx_commit` asks. The transaction is over, also when this returns an error: then it was rolled back, or
    /// ([`Error::Unacknowledged`], [`Error::Io`]) it stands in the log and nobody knows yet whether it is durable.
    pub fn commit(&mut self) -> Result<()> {
        self.precommit()?;
        self.await_durable()
    }

    /// Commits, but for the wait: the commit has its place in the log, its locks are given back, and nobody may be told of it before
    /// [`Transaction::await_durable`] has returned (DeWitt et al., SIGMOD 1984, call it pre-committed). After an error it was rolled back.
    pub fn precommit(&mut self) -> Result<()> {
        assert!(self.active, "commit ends a transaction");
        let outcome = self.check_alive().and_then(|()| self.end(true));
        match outcome {
            // The locks are given back: the next one's turn has come, while this one waits also for the commits that it rests on.
            Ok(end) => {
                self.commit_end = end;
                self.depends_on = self.depends_on.max(end);
                self.awaits_own |= end != 0;
                Ok(())
            }
            // It is doomed, or its undo page cannot be read: nothing of it is committed, and it must not stay.
            Err(error) => {
                // What the rollback met the background meets again; the commit's error is the one to tell.
                let _ = self.rollback();
                Err(error)
            }
        }
    }

    /// Undoes everything and ends the transaction. It is over also after an error, which says that the undoing goes on in the
    /// background.
    pub fn rollback(&mut self) -> Result<()> {
        if !self.active {
            return Ok(());
        }
        let mut undone_to = self.undo_end;
        let _undo = blocking::shield();
        match self.undo_all(&mut undone_to) {
            Ok(()) => Ok(()),
            Err(error) => {
                self.abandon(undone_to)?;
                Err(error)
            }
        }
    }

    fn undo_all(&mut self, undone_to: &mut u64) -> Result<()> {
        if self.first_undo != 0 {
            // What was undone is passed only once this transaction is over, so it may be counted before.
            self.note_purge_work();
            let left = &self.core.system.slots.get(self.slot).work;
            let mut countdown = Countdown::new(left, self.work, self.progress.as_ref());
            let undo_one = |record: &Record<'_>| countdown.pass(record);
            let outcome = self.core.undo_back(self.trx, undone_to, self.first_undo, undo_one, || false);
            drop(countdown);
            // Relaxed: stored by this thread alone.
            self.work = left.load(Ordering::Relaxed);
            outcome?;
        }
        self.end(false)?;
        Ok(())
    }

    /// Leaves what is to be undone up to `undone_to` to the background, with the id, the segment and a slot of its own, and ends the
    /// transaction for the session. Locks that are not its changes' are given back: nobody relies on what it has read.
    ///
    /// When there is no slot for it the session waits for what its rollback needs. An error: the server ends before.
    #[cold]
    fn abandon(&mut self, mut undone_to: u64) -> Result<()> {
        let core = Arc::clone(&self.core);
        let slot = loop {
            if let Some(slot) = core.system.slots.claim() {
                break slot;
            }
            if core.stopping() {
                return Err(Error::Interrupted); // it stays open: the next start undoes it
            }
            core.pause();
            if self.undo_all(&mut undone_to).is_ok() {
                return Ok(());
            }
        };
        let (own, other) = (core.system.slots.get(self.slot), core.system.slots.get(slot));
        // Relaxed for all: for those who list transactions.
        other.begun.store(own.begun.load(Ordering::Relaxed) | BEGUN_ROLLING_BACK, Ordering::Relaxed);
        other.work.store(self.work, Ordering::Relaxed);
        core.system.hand_over(self.slot, slot, self.trx);
        let segment = self.segment.take().expect("a transaction with undo has a segment");
        let rollback = Rollback::new(slot, self.trx, segment, self.first_undo, undone_to);
        core.rollbacks.add(rollback.with(self.undo_cost.owed.take()));
        self.forget();
        Ok(())
    }

    /// Ends the session as the death of its process does: nothing is undone and nothing is written. For simulated crashes.
    pub fn crash(mut self) {
        self.active = false;
    }

    /// Ends the transaction; returns the LSN at the end of its last log group, 0 if it wrote none.
    fn end(&mut self, commit: bool) -> Result<Lsn> {
        let mut end = 0;
        if commit && !self.events.is_empty() {
            self.events.log_parts(&self.core.log, self.trx)?;
        }
        if self.first_undo != 0 {
            let core = &*self.core;
            let bytes = if commit { self.events.last_bytes() } else { 0 };
            while let Err(error) = core.log.ensure_room_critical(4096 + bytes) {
                // A commit that has not begun waits for room and gives way to any KILL; a rollback goes on in the background.
                if !commit || !matches!(error, log::Error::NoSpace { .. }) || core.stopping() {
                    return Err(error.into());
                }
                if self.interrupt.reason() != 0 {
                    return Err(Error::Interrupted);
                }
                core.pause();
            }
            let segment = self.segment.as_ref().expect("a transaction with undo has a segment");
            let events = if commit { self.events.last(self.trx) } else { None };
            end = core.end_transaction(self.slot, self.trx, segment, commit, events)?;
            observe::increment(if commit { Counter::TrxRwCommits } else { Counter::TrxRollbacks });
        } else {
            if let Some(last) = commit.then(|| self.events.last(self.trx)).flatten() {
                end = self.core.append_events(&last)?;
            }
            if self.trx != 0 {
                self.core.system.finish(self.slot, self.trx, Status::RolledBack, 1);
            }
        }
        if commit && self.events.is_used() {
            self.awaits_events |= !self.events.is_empty();
            self.events.clear();
        }
        self.forget();
        Ok(end)
    }

    /// The transaction is over for this session: gives back locks and snapshot.
    #[inline]
    fn forget(&mut self) {
        if self.trx != 0 || !self.locks.trees().is_empty() {
            self.core.locks.release_converted(&self.core.system.slots, self.slot(), self.locks.trees());
        }
        if !self.locks.is_empty() {
            let (table, slot) = (&self.core.locks, self.slot.index() as u32);
            self.locks.clear(table, |name| table.release(slot, &name));
        }
        self.close_snapshot();
        if self.events.is_used() {
            self.events.drop_parts(&self.core.log, self.trx);
            self.events.clear();
        }
        self.events.unseal();
        self.claim.tree = 0;
        self.active = false;
        self.doomed = false;
        // Relaxed: as in `begin_at`.
        self.core.system.slots.get(self.slot).begun.store(0, Ordering::Relaxed);
        let has_written = self.trx != 0;
        self.trx = 0;
        self.first_undo = 0;
        self.undo_end = 0;
        if has_written {
            self.trees_made.clear();
            self.undo_cost = UndoCost::default();
            self.work = 0;
            // Relaxed: a hint for the choice of deadlock victims.
            self.core.system.slots.get(self.slot).work.store(0, Ordering::Relaxed);
        }
    }

    /// Takes an explicit lock, waiting if need be. True: it was not held before. After [`Error::Deadlock`] the transaction
    /// has been rolled back.
    pub(crate) fn acquire(&mut self, name: &Name, mode: LockMode, wait: Wait) -> Result<bool> {
        self.check_alive()?;
        let slots = &self.core.system.slots;
        let slot = self.slot.index() as u32;
        let waiter = (wait == Wait::Block).then_some(&self.interrupt);
        match self.core.locks.request(slots, slot, name, mode, waiter) {
            Outcome::Held => return Ok(false),
            Outcome::Granted => {}
            Outcome::Refused => return Err(Error::LockNoWait),
            Outcome::Queued => self.sleep(name)?,
        }
        self.locks.push(name.clone());
        self.bound_locks()?;
        Ok(true)
    }

    /// After [`Error::LockTableFull`] the transaction has been rolled back, as by MySQL.
    fn bound_locks(&mut self) -> Result<()> {
        if self.locks.tell(&self.core.locks) {
            return Ok(());
        }
        // What cannot be undone now is undone in the background; the locks are given back either way.
        let _ = self.rollback();
        Err(Error::LockTableFull)
    }

    /// Sleeps until the request that was queued under this name is granted. After [`Error::Deadlock`] the transaction has been
    /// rolled back.
    fn sleep(&mut self, name: &Name) -> Result<()> {
        let (core, slots, slot) = (&*self.core, &self.core.system.slots, self.slot());
        let started = Instant::now();
        observe::add(Counter::InnodbRowLockWaits, 1);
        // Relaxed: a setting that orders nothing.
        if core.deadlock_detect.load(Ordering::Relaxed) {
            core.locks.resolve_deadlock(slots, slot);
        }
        let outcome = core.locks.wait(slots, slot, name, &self.interrupt, self.lock_wait_timeout);
        let waited = started.elapsed();
        observe::add(Counter::InnodbRowLockTime, waited.as_millis() as u64);
        observe::record(Timer::RowLockWait, waited.as_nanos() as u64);
        if matches!(outcome, Err(Error::LockWaitTimeout)) {
            observe::increment(Counter::RowLockTimeouts);
        }
        if matches!(outcome, Err(Error::Deadlock)) {
            // What cannot be undone now is undone in the background: the victim is out of the cycle either way.
            let _ = self.rollback();
        }
        outcome
    }

    /// An insertion met a gap lock: waits for those that there are now. The caller tries again.
    pub(crate) fn wait_for_gap(&mut self, name: &Name) -> Result<()> {
        let (core, slot) = (&*self.core, self.slot());
        if core.locks.request_insertion(&core.system.slots, slot, name, &self.interrupt) == Outcome::Queued {
            self.sleep(name)?;
            self.core.locks.end_insertion(slot, name);
        }
        Ok(())
    }

    /// What writing met: waits for it. The caller tries again.
    pub(crate) fn wait_to_write(&mut self, tree: Tree, key: &[u8], on: On) -> Result<()> {
        let name = Name { tree: tree.id, key: key.into() };
        match on {
            On::Record => self.acquire(&name, LockMode::Exclusive, Wait::Block).map(|_| ()),
            On::Gap | On::Insertion => self.wait_for_gap(&name),
        }
    }

    /// Do its locking reads lock gaps?
    pub(crate) fn locks_gaps(&self) -> bool {
        self.isolation > Isolation::ReadCommitted
    }

    /// Extends its locks of a kind by a span of keys: see [`crate::lock::LockTable::cover`].
    pub(crate) fn cover(
        &mut self,
        tree: Tree,
        kind: (LockMode, Covers),
        span: (&[u8], Option<&[u8]>),
        record: Option<&[u8]>,
        unchanged: impl FnOnce(&Pool) -> bool,
    ) -> Result<Cover> {
        let (core, slot) = (&*self.core, self.slot.index() as u32);
        let cover = core.locks.cover(slot, tree.id, kind, span, record, || unchanged(&core.pool), &mut self.locks);
        self.bound_locks()?;
        Ok(cover)
    }

    /// Gives back a lock object whose record is locked otherwise by now, unless others wait in its queue.
    pub(crate) fn release_if_alone(&mut self, name: &Name) {
        if self.core.locks.release_if_alone(self.slot(), name) {
            self.locks.remove(name);
        }
    }

    /// The session's place in the transaction system, by which others know it in [`ForeignWait::blockers`]. The same for the
    /// whole life of the object.
    pub fn slot(&self) -> u32 {
        self.slot.index() as u32
    }

    /// This session has queued for a lock outside the engine: makes the wait part of the deadlock search, and searches
    /// (unless `innodb_deadlock_detect` is off). `weight` is added to the rows changed when a victim is chosen among the
    /// members of a cycle, of whom the least is aborted. See [`ForeignWait`].
    pub fn enter_wait(&mut self, wait: Arc<dyn ForeignWait>, weight: u64) {
        let (core, slot) = (&*self.core, self.slot());
        core.locks.enter_foreign(&core.system.slots, slot, wait, weight);
        // Relaxed: a setting that orders nothing.
        if core.deadlock_detect.load(Ordering::Relaxed) {
            core.locks.resolve_deadlock(&core.system.slots, slot);
        }
    }

    /// The wait of [`Transaction::enter_wait`] is over, however it ended.
    pub fn leave_wait(&mut self) {
        self.core.locks.leave_foreign(&self.core.system.slots, self.slot());
    }

    /// Gives back a lock that was taken by the last [`Transaction::acquire`].
    pub(crate) fn release(&mut self, name: &Name) {
        self.locks.remove(name);
        self.core.locks.release(self.slot.index() as u32, name);
    }

    /// The lock that the last locking [`Transaction::get`] took; `None`: it found nothing, or the row was locked.
    pub fn fresh_lock(&mut self) -> Option<FreshLock> {
        self.fresh_lock.take().map(FreshLock)
    }

    /// The row did not match the statement's WHERE, and was not changed: below REPEATABLE READ its lock is given back.
    pub fn give_back(&mut self, lock: FreshLock) {
        if self.isolation() <= Isolation::ReadCommitted {
            self.release(&lock.0);
        }
    }

    /// Waits for a transaction that has changed the row and is not over, and then holds the lock itself.
    /// True: it was not held before.
    pub(crate) fn wait_for(&mut self, holder: u32, trx: u64, name: &Name, mode: LockMode, wait: Wait) -> Result<bool> {
        if wait != Wait::Block {
            return Err(Error::LockNoWait);
        }
        if self.core.locks.make_explicit(&self.core.system.slots, holder, trx, name) {
            return self.acquire(name, mode, wait);
        }
        Ok(false)
    }

    /// Point read in a clustered tree. Puts the row into `row` (cleared first) and returns true, or returns false.
    /// With a locking read a missing key locks the gap where it would be, as the isolation level asks; a row that others have
    /// locked is as good as missing with [`Wait::SkipLocked`].
    pub fn get(&mut self, tree: Tree, key: &[u8], read: Read, row: &mut Vec<u8>) -> Result<bool> {
        match read {
            Read::Consistent => {
                let (reader, core, past) = self.reading(1);
                reader.get(core, tree, key, row, past)
            }
            Read::Locking { mode, wait } => match self.lock_and_get(tree, key, mode, wait, row) {
                Err(Error::LockNoWait) if wait == Wait::SkipLocked => Ok(false),
                other => other,
            },
        }
    }
}

impl PartialOrd for Isolation {
    fn partial_cmp(&self, other: &Isolation) -> Option<std::cmp::Ordering> {
        (*self as u8).partial_cmp(&(*other as u8))
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        // What cannot be undone now is undone in the background, which tells the error log.
        let _ = self.rollback();
        if self.active {
            return; // the server ends: slot and segment stay, the next start undoes it
        }
        if let Some(segment) = self.segment.take() {
            self.core.segments.give_back(segment);
        }
        self.core.system.slots.release(self.slot);
    }
}
