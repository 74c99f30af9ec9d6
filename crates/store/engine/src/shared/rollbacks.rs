//! Rollback without a session, in a thread of its own: of transactions that a crash left open, and of those whose own rollback met an
//! error (no room on the disk, a page that cannot be read).
//!
//! Such a transaction keeps its id, so its rows stay locked and invisible as they are, each until it is undone; it has a slot of
//! its own, to which those who want its rows come. Nobody can commit it. Errors are tried again for as long as the server runs;
//! after that, the next start goes on, and finds done what has been done (InnoDB's background rollback of recovered transactions,
//! [manual 17.18.2](https://dev.mysql.com/doc/refman/8.4/en/innodb-recovery.html)).

use super::Core;
use crate::events;
use crate::isolation::Isolation;
use crate::lock::held::HeldLocks;
use crate::lock::slot::{BEGUN_ROLLING_BACK, Begin, pack_begun};
use crate::mtr::Mtr;
use crate::prepared::Prepared;
use crate::segment::Segment;
use crate::txn::Status;
use crate::txn::countdown::Countdown;
use crate::undo::Record;
use crate::{Error, Result, Tree};
use log::{Lsn, Owed};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use sync::blocking;
use sync::waits::Wait;
use sync::{LaneId, Mutex, Rank, futex};

/// How long one transaction is undone before others have their turn.
const TURN: Duration = Duration::from_millis(200);
/// How long after an error until the next attempt.
const RETRY: Duration = Duration::from_millis(100);
/// How often it is told how far a rollback is.
const TELLING: Duration = Duration::from_secs(5);
/// How often the error log is told of the same trouble.
const COMPLAINT: Duration = Duration::from_secs(60);

/// A transaction that was open when the server ended.
pub struct OpenTransaction {
    pub trx: u64,
    pub segment: Arc<Segment>,
    /// Roll pointers of its first undo record and to behind its last one.
    pub first: u64,
    pub end: u64,
    /// The label of one that is prepared.
    pub prepared: Option<Vec<u8>>,
}

/// How a transaction of before a crash is listed.
const RECOVERED: Begin = Begin { isolation: Isolation::RepeatableRead, read_only: false, alone: false, now_us: 0 };

/// A transaction that is to be undone.
pub struct Rollback {
    pub slot: LaneId,
    pub segment: Arc<Segment>,
    changes: Arc<Changes>,
    /// Roll pointer to behind the last record that is not undone yet.
    end: u64,
    /// The changes that were to be undone when it came here; `None`: not counted yet.
    all: Option<u64>,
    /// When it was told how far it is, or came here, and whether it was told.
    told: (Instant, bool),
    /// When the error log was told of an error last.
    complained: Option<Instant>,
    /// Room in the log that is kept for it.
    _owed: Option<Owed>,
}

impl Rollback {
    /// `first`: roll pointer of the transaction's first undo record; `end`: to behind the last one that is not undone yet.
    pub fn new(slot: LaneId, trx: u64, segment: Arc<Segment>, first: u64, end: u64) -> Rollback {
        let changes = Arc::new(Changes { trx, first, end, trees: OnceLock::new() });
        Rollback {
            slot,
            segment,
            changes,
            end,
            all: None,
            told: (Instant::now(), false),
            complained: None,
            _owed: None,
        }
    }

    /// With what was kept for it until now.
    pub fn with(self, owed: Option<Owed>) -> Rollback {
        Rollback { _owed: owed, ..self }
    }
}

/// What a transaction had changed and not undone when it came here.
struct Changes {
    trx: u64,
    /// Roll pointers of its first record, and to behind its last one.
    first: u64,
    end: u64,
    /// In which trees. W: the first who asks, from the records. R: who waits for a table.
    trees: OnceLock<Vec<u32>>,
}

/// The transactions that wait for the thread.
pub struct Rollbacks {
    waiting: Mutex<Vec<Rollback>>,
    /// What all of them have changed, also the one in progress; until their ends are published. W: who hands over, the thread.
    /// R: who asks.
    pending: Mutex<Vec<Arc<Changes>>>,
    /// What the server before kept for those that it left open; until all are over. W: the start, the thread.
    found: Mutex<Option<Owed>>,
    /// Changes when one is added. The thread sleeps on it.
    added: AtomicU32,
    /// Hears in words how far they are.
    teller: OnceLock<Teller>,
}

/// Hears in words how far the rollbacks of the background are.
pub type Teller = Box<dyn Fn(&str) + Send + Sync>;

impl Rollbacks {
    pub fn new() -> Rollbacks {
        Rollbacks {
            waiting: Mutex::new(Rank::FreeSpace, Vec::new()),
            pending: Mutex::new(Rank::FreeSpace, Vec::new()),
            found: Mutex::new(Rank::FreeSpace, None),
            added: AtomicU32::new(0),
            teller: OnceLock::new(),
        }
    }

    pub fn add(&self, rollback: Rollback) {
        self.pending.lock().push(Arc::clone(&rollback.changes));
        self.waiting.lock().push(rollback);
        self.wake();
    }

    pub fn wake(&self) {
        // Release: pairs with the Acquire in `run`, which then finds what was pushed.
        self.added.fetch_add(1, Ordering::Release);
        futex::wake_one(&self.added);
    }

    /// The first call counts.
    pub fn set_teller(&self, teller: Teller) {
        let _ = self.teller.set(teller);
    }

    /// Transactions that are not undone yet.
    pub fn pending(&self) -> u64 {
        self.pending.lock().len() as u64
    }

    fn is_over(&self, changes: &Arc<Changes>) -> bool {
        !self.pending.lock().iter().any(|pending| Arc::ptr_eq(pending, changes))
    }
}

/// The thread's work until the engine stops.
pub fn run(core: &Core) {
    while !core.stopping() {
        // Acquire: pairs with the Release in `wake`.
        let seen = core.rollbacks.added.load(Ordering::Acquire);
        match core.undo_waiting(|since| core.stopping() || since.elapsed() >= TURN) {
            Turn::Idle => {
                futex::wait(&core.rollbacks.added, seen, None, Wait::Background);
            }
            Turn::Progress => {}
            Turn::Failed => core.sleep(RETRY, Wait::Background),
        }
    }
}

/// What a turn of all transactions that wait came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// There was none.
    Idle,
    Progress,
    /// None of them got any further.
    Failed,
}

impl Core {
    /// Makes transactions that were open when the server ended open again, for the thread to undo.
    pub fn adopt_open_transactions(&self, open: Vec<OpenTransaction>, progress: &mut dyn FnMut(&str)) -> Result<()> {
        // It goes with the last of them, or now. Prepared ones may stay for years.
        let found = self.log.found_reserve();
        for OpenTransaction { trx, segment, first, end, prepared } in open {
            let slot = self.system.slots.claim().ok_or(Error::TooManyTransactions)?;
            if let Some(label) = prepared {
                progress(&format!("transaction {trx} is prepared: it waits for XA COMMIT or XA ROLLBACK"));
                let begun = pack_begun(RECOVERED);
                // Relaxed: for those who list transactions.
                self.system.slots.get(slot).begun.store(begun, Ordering::Relaxed);
                self.system.adopt(slot, trx);
                let prepared = Prepared { slot, trx, segment, first, end, locks: HeldLocks::default(), owed: None };
                self.prepared.lock().push((label, prepared));
                continue;
            }
            progress(&format!("transaction {trx} was open: it is rolled back in the background"));
            let begun = pack_begun(RECOVERED) | BEGUN_ROLLING_BACK;
            // Relaxed: for those who list transactions.
            self.system.slots.get(slot).begun.store(begun, Ordering::Relaxed);
            self.system.adopt(slot, trx);
            self.rollbacks.add(Rollback::new(slot, trx, segment, first, end));
        }
        if self.rollbacks.pending() > 0 {
            *self.rollbacks.found.lock() = Some(found);
        }
        Ok(())
    }

    /// Undoes something of each transaction that waits, as long as `pause`, asked with the beginning of the transaction's turn, says no.
    pub fn undo_waiting(&self, pause: impl Fn(Instant) -> bool) -> Turn {
        let waiting = std::mem::take(&mut *self.rollbacks.waiting.lock());
        let mut turn = if waiting.is_empty() { Turn::Idle } else { Turn::Failed };
        for mut rollback in waiting {
            let began = Instant::now();
            match self.undo_on(&mut rollback, || pause(began)) {
                Ok(true) => {
                    turn = Turn::Progress;
                    self.tell_end(&rollback);
                    self.rollbacks.pending.lock().retain(|changes| !Arc::ptr_eq(changes, &rollback.changes));
                    continue;
                }
                Ok(false) => {
                    turn = Turn::Progress;
                    self.tell_progress(&mut rollback);
                }
                Err(error) => complain(&mut rollback, &error),
            }
            self.rollbacks.waiting.lock().push(rollback);
        }
        if turn == Turn::Progress && self.rollbacks.pending() == 0 {
            let found = self.rollbacks.found.lock().take();
            drop(found); // it writes to the disk, under no mutex
        }
        turn
    }

    /// Waits until no transaction that has changed one of these trees is undone in the background any more. Which trees that are
    /// is read from its undo, once. `ask` may end the wait. An error also when the undo cannot be read: such a rollback has no end
    /// to wait for.
    pub fn await_rollbacks(&self, trees: &[Tree], ask: impl Fn() -> Result<()>) -> Result<()> {
        let pending = self.rollbacks.pending.lock().clone();
        for changes in pending {
            let _waiting = blocking::waiting(Wait::Rollback);
            if !self.has_changed(&changes, trees, &ask)? {
                continue;
            }
            while !self.rollbacks.is_over(&changes) {
                ask()?;
                self.sleep(Duration::from_millis(10), Wait::Rollback);
            }
        }
        Ok(())
    }

    fn has_changed(&self, changes: &Changes, trees: &[Tree], ask: impl Fn() -> Result<()>) -> Result<bool> {
        if changes.trees.get().is_none() {
            match self.trees_to_undo(changes.end, changes.first, &ask) {
                Ok(found) => drop(changes.trees.set(found)),
                Err(error @ (Error::Interrupted | Error::LockWaitTimeout)) => return Err(error),
                // Its pages may be somebody else's since it is over.
                Err(_) if !matches!(self.system.status(changes.trx), Status::Open(_)) => return Ok(false),
                Err(error) => return Err(error),
            }
        }
        let changed = changes.trees.get().map_or(&[][..], |trees| trees);
        Ok(trees.iter().any(|tree| changed.contains(&tree.id)))
    }

    /// Says how much of a rollback is done, if that was not said for a while.
    fn tell_progress(&self, rollback: &mut Rollback) {
        let (Some(all), Some(tell)) = (rollback.all, self.rollbacks.teller.get()) else { return };
        if all == 0 || rollback.told.0.elapsed() < TELLING {
            return;
        }
        // Relaxed: stored by this thread.
        let left = self.system.slots.get(rollback.slot).work.load(Ordering::Relaxed).min(all);
        let percent = u128::from(all - left) * 100 / u128::from(all);
        tell(&format!("rolling back transaction {}: {percent} % of {all} changes are undone", rollback.changes.trx));
        rollback.told = (Instant::now(), true);
    }

    /// Of whom it was told how far it is, it is told that it is over.
    fn tell_end(&self, rollback: &Rollback) {
        if let Some(tell) = self.rollbacks.teller.get().filter(|_| rollback.told.1) {
            tell(&format!("transaction {} is rolled back", rollback.changes.trx));
        }
    }

    /// How much there is to undo. Of a transaction of before a crash nobody has counted it.
    fn count_changes(&self, rollback: &mut Rollback) -> Result<()> {
        let work = &self.system.slots.get(rollback.slot).work;
        // Relaxed: stored by this thread, or by who has handed the transaction over.
        let mut all = work.load(Ordering::Relaxed);
        if all == 0 {
            let ask = || if self.stopping() { Err(Error::Interrupted) } else { Ok(()) };
            all = self.changes_to_undo(rollback.end, rollback.changes.first, ask)?;
            work.store(all, Ordering::Relaxed); // Relaxed: as above
        }
        rollback.all = Some(all);
        Ok(())
    }

    /// Goes on with a rollback. True: the transaction is over.
    fn undo_on(&self, rollback: &mut Rollback, pause: impl Fn() -> bool) -> Result<bool> {
        if rollback.all.is_none() {
            match self.count_changes(rollback) {
                Err(Error::Interrupted) => return Ok(false),
                counted => counted?,
            }
        }
        let Rollback { slot, ref segment, ref changes, ref mut end, .. } = *rollback;
        let Changes { trx, first, .. } = **changes;
        let mut countdown = Countdown::new(&self.system.slots.get(slot).work, 0, None);
        let undo_one = |record: &Record<'_>| countdown.pass(record);
        if !self.undo_back(trx, end, first, undo_one, pause)? {
            return Ok(false);
        }
        self.log.ensure_room_critical(4096)?;
        self.end_transaction(slot, trx, segment, false, None)?;
        self.locks.release_converted(&self.system.slots, slot.index() as u32, &[]);
        self.leave_slot(slot, Arc::clone(segment));
        Ok(true)
    }

    /// A transaction without a session is over, and has given back its locks.
    pub fn leave_slot(&self, slot: LaneId, segment: Arc<Segment>) {
        let own = self.system.slots.get(slot);
        // Relaxed for both: for those who list transactions.
        own.begun.store(0, Ordering::Relaxed);
        own.work.store(0, Ordering::Relaxed);
        self.segments.give_back(segment);
        self.system.slots.release(slot);
    }

    /// Undoes a transaction on the caller's thread; what cannot be undone now is the background's.
    pub fn roll_back_now(&self, mut rollback: Rollback) {
        let own = self.system.slots.get(rollback.slot);
        // Relaxed: for those who list transactions.
        own.begun.fetch_or(BEGUN_ROLLING_BACK, Ordering::Relaxed);
        if let Err(error) = self.undo_on(&mut rollback, || false) {
            complain(&mut rollback, &error);
            self.rollbacks.add(rollback);
        }
    }

    /// Writes the end of a transaction that has undo records, with the events of a commit, and publishes its outcome; there is room for
    /// it in the log. Returns
    /// the LSN at the end of its last group.
    pub fn end_transaction(
        &self,
        slot: LaneId,
        trx: u64,
        segment: &Segment,
        commit: bool,
        events: Option<events::Last<'_>>,
    ) -> Result<Lsn> {
        // Relaxed: only who has the segment stores it.
        let mut page = self.pool.exclusive(segment.newest.load(Ordering::Relaxed))?;
        let mut mtr = Mtr::new();
        if let Some(events) = &events {
            mtr.events(events);
        }
        mtr.end_transaction(&mut page, trx);
        Ok(mtr.commit_with(&self.log, &mut [&mut page], |lsn| {
            let outcome = if commit { Status::Committed(lsn) } else { Status::RolledBack };
            self.system.finish(slot, trx, outcome, lsn);
        }))
    }
}

fn complain(rollback: &mut Rollback, error: &Error) {
    if rollback.complained.is_none_or(|at| at.elapsed() >= COMPLAINT) {
        eprintln!("[ERROR] [Engine] rolling back transaction {}: {error}; it is tried again", rollback.changes.trx);
        rollback.complained = Some(Instant::now());
    }
}
