//! Rollback without a session, in a thread of its own: of transactions that a crash left open, and of those whose own rollback met an
//! error (no room on the disk, a page that cannot be read).
//!
//! Such a transaction keeps its id, so its rows stay locked and invisible as they are, each until it is undone; it has a slot of
//! its own, to which those who want its rows come. Nobody can commit it. Errors are tried again for as long as the server runs;
//! after that, the next start goes on, and finds done what has been done (InnoDB's background rollback of recovered transactions,
//! [manual 17.18.2](https://dev.mysql.com/doc/refman/8.4/en/innodb-recovery.html)).

use crate::engine::Core;
use crate::lock::{BEGUN_ROLLING_BACK, pack_begun};
use crate::mtr::Mtr;
use crate::recovery::OpenTransaction;
use crate::segment::Segment;
use crate::txn::Status;
use crate::{Error, Isolation, Result};
use log::Lsn;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use sync::{LaneId, Mutex, Rank, futex};

/// How long one transaction is undone before others have their turn.
const TURN: Duration = Duration::from_millis(200);
/// How long after an error until the next attempt.
const RETRY: Duration = Duration::from_millis(100);
/// How often the error log is told of the same trouble.
const COMPLAINT: Duration = Duration::from_secs(60);

/// A transaction that is to be undone.
pub struct Rollback {
    pub slot: LaneId,
    pub trx: u64,
    pub segment: Arc<Segment>,
    /// Roll pointer of its first undo record; 0: it has none.
    pub first: u64,
    /// Roll pointer to behind the last record that is not undone yet.
    pub end: u64,
    /// When the error log was told of an error last.
    complained: Option<Instant>,
}

impl Rollback {
    pub fn new(slot: LaneId, trx: u64, segment: Arc<Segment>, first: u64, end: u64) -> Rollback {
        Rollback { slot, trx, segment, first, end, complained: None }
    }
}

/// The transactions that wait for the thread.
pub struct Rollbacks {
    waiting: Mutex<Vec<Rollback>>,
    /// How many there are, with the one in progress. W: who hands over, the thread. R: who asks.
    pending: AtomicU64,
    /// Changes when one is added. The thread sleeps on it.
    added: AtomicU32,
}

impl Rollbacks {
    pub fn new() -> Rollbacks {
        Rollbacks {
            waiting: Mutex::new(Rank::FreeSpace, Vec::new()),
            pending: AtomicU64::new(0),
            added: AtomicU32::new(0),
        }
    }

    pub fn add(&self, rollback: Rollback) {
        // Relaxed: a figure to show.
        self.pending.fetch_add(1, Ordering::Relaxed);
        self.waiting.lock().push(rollback);
        self.wake();
    }

    pub fn wake(&self) {
        // Release: pairs with the Acquire in `run`, which then finds what was pushed.
        self.added.fetch_add(1, Ordering::Release);
        futex::wake_one(&self.added);
    }

    /// Transactions that are not undone yet.
    pub fn pending(&self) -> u64 {
        // Relaxed: a figure to show.
        self.pending.load(Ordering::Relaxed)
    }
}

/// The thread's work until the engine stops.
pub fn run(core: &Core) {
    while !core.stopping() {
        // Acquire: pairs with the Release in `wake`.
        let seen = core.rollbacks.added.load(Ordering::Acquire);
        match core.undo_waiting(|since| core.stopping() || since.elapsed() >= TURN) {
            Turn::Idle => {
                futex::wait(&core.rollbacks.added, seen, None);
            }
            Turn::Progress => {}
            Turn::Failed => core.sleep(RETRY),
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
        for OpenTransaction { trx, segment, first, end } in open {
            let slot = self.system.slots.claim().ok_or(Error::TooManyTransactions)?;
            progress(&format!("transaction {trx} was open: it is rolled back in the background"));
            let begun = pack_begun(Isolation::RepeatableRead, false, 0) | BEGUN_ROLLING_BACK;
            // Relaxed: for those who list transactions.
            self.system.slots.get(slot).begun.store(begun, Ordering::Relaxed);
            self.system.adopt(slot, trx);
            self.rollbacks.add(Rollback::new(slot, trx, segment, first, end));
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
                    // Relaxed: a figure to show.
                    self.rollbacks.pending.fetch_sub(1, Ordering::Relaxed);
                    continue;
                }
                Ok(false) => turn = Turn::Progress,
                Err(error) => complain(&mut rollback, &error),
            }
            self.rollbacks.waiting.lock().push(rollback);
        }
        turn
    }

    /// Goes on with a rollback. True: the transaction is over.
    fn undo_on(&self, rollback: &mut Rollback, pause: impl Fn() -> bool) -> Result<bool> {
        let Rollback { slot, trx, ref segment, first, ref mut end, .. } = *rollback;
        if !self.undo_back(trx, end, first, |_| (), pause)? {
            return Ok(false);
        }
        self.log.ensure_room_critical(4096)?;
        self.end_transaction(slot, trx, segment, false)?;
        self.locks.release_converted(&self.system.slots, slot.index() as u32, &[]);
        let own = self.system.slots.get(slot);
        // Relaxed for both: for those who list transactions.
        own.begun.store(0, Ordering::Relaxed);
        own.work.store(0, Ordering::Relaxed);
        self.segments.give_back(Arc::clone(segment));
        self.system.slots.release(slot);
        Ok(true)
    }

    /// Writes the end of a transaction that has undo records, and publishes its outcome; there is room for it in the log. Returns
    /// the LSN at the end of its last group.
    pub fn end_transaction(&self, slot: LaneId, trx: u64, segment: &Segment, commit: bool) -> Result<Lsn> {
        // Relaxed: only who has the segment stores it.
        let mut page = self.pool.exclusive(segment.newest.load(Ordering::Relaxed))?;
        let mut mtr = Mtr::new();
        mtr.end_transaction(&mut page, trx);
        Ok(mtr.commit_with(&self.log, &mut [&mut page], |lsn| {
            let outcome = if commit { Status::Committed(lsn) } else { Status::RolledBack };
            self.system.finish(slot, trx, outcome, lsn);
        }))
    }
}

fn complain(rollback: &mut Rollback, error: &Error) {
    if rollback.complained.is_none_or(|at| at.elapsed() >= COMPLAINT) {
        eprintln!("[ERROR] [Engine] rolling back transaction {}: {error}; it is tried again", rollback.trx);
        rollback.complained = Some(Instant::now());
    }
}
