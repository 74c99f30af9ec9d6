//! What others must know of a session's transaction: its id, its snapshot, how it began, what it waits for.

use crate::isolation::Isolation;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
use sync::{Mutex, Rank};

/// What a lock is on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Name {
    pub tree: u32,
    pub key: Box<[u8]>,
}

/// How many transactions there may be at once, whoever they are of. A slot takes memory when it is first used; `session` asserts that
/// there are enough for all its connections.
pub const SLOTS_MAX: usize = 1 << 19;

/// In a slot: an id is being taken. Below every id.
pub const STARTING: u64 = 1;
/// Added to the id in a slot, by purge: the transaction has left the ring.
pub const MOVED: u64 = 1 << 63;
/// Added to the id in a slot, by its owner: the transaction's end is being stored.
pub const ENDING: u64 = 1 << 62;
/// All flags beside an id in a slot.
pub const FLAGS: u64 = MOVED | ENDING;

/// A session's place in the transaction system: what others must know of it.
pub struct Slot {
    /// The running transaction's id, or a lower bound of the one being taken, with flags: see [`crate::txn`]; 0: none. W: owner;
    /// purge, a flag. R: purge.
    pub trx: AtomicU64,
    /// The announced snapshot, `u64::MAX`: none. W: owner. R: purge.
    pub snapshot: AtomicU64,
    /// What [`pack_begun`] says of the transaction in progress, 0: none. W: owner. R: who lists transactions.
    pub begun: AtomicU64,
    /// Changes made so far: what a rollback would cost. W: owner. R: deadlock search.
    pub work: AtomicU64,
    pub state: Mutex<SlotState>,
}

impl Slot {
    /// The running transaction's id, for those who list transactions.
    pub fn shown_trx(&self) -> u64 {
        // Relaxed: a number to show.
        self.trx.load(Ordering::Relaxed) & !FLAGS
    }
}

/// In what [`pack_begun`] says: the transaction is undone in the background.
pub const BEGUN_ROLLING_BACK: u64 = 1 << 59;

/// In what [`pack_begun`] says: see [`Begin::alone`].
pub const BEGUN_ALONE: u64 = 1 << 58;

/// How a transaction begins.
#[derive(Clone, Copy, Debug)]
pub struct Begin {
    pub isolation: Isolation,
    pub read_only: bool,
    /// It is one statement in autocommit.
    pub alone: bool,
    /// Microseconds since 1970, for those who list transactions; 0: not known.
    pub now_us: u64,
}

/// Bit 63 set; the level in bits 61 and 62, read only in bit 60, [`BEGUN_ROLLING_BACK`], [`BEGUN_ALONE`], the time in the bits below.
pub fn pack_begun(begin: Begin) -> u64 {
    let flags = u64::from(begin.read_only) << 60 | if begin.alone { BEGUN_ALONE } else { 0 };
    1 << 63 | (begin.isolation as u64) << 61 | flags | begin.now_us
}

#[derive(Default)]
pub struct SlotState {
    /// The transaction for which others may make implicit locks explicit; 0 once it is over.
    pub trx: u64,
    /// Locks that others made explicit for it.
    pub(super) converted: Vec<Name>,
    /// What it waits for now.
    pub(super) waiting: Option<Waiting>,
    /// Grows with every wait, so that a search can tell one wait from the next.
    pub(super) waits: u64,
}

/// One wait of one session for a lock outside the engine, so that cycles through metadata and row locks are found.
///
/// The object stands for this very wait: its owner makes it for the wait and drops it after. In order, the session
/// 1. queues for its lock, so that whoever looks from now on finds the queued request and who stands before it;
/// 2. calls [`crate::Transaction::enter_wait`], which makes the wait known and looks for a cycle through it. A victim found is told
///    at once, the caller itself included: by [`ForeignWait::abort`];
/// 3. sleeps until its lock is granted, its time is up, it is killed or aborted;
/// 4. calls [`crate::Transaction::leave_wait`].
///
/// After an abort the session answers 1213; what is rolled back is the caller's to decide ([`crate::Transaction::rollback`]).
/// Holders are known by the slot of their session's transaction, [`crate::Transaction::slot`], which never changes. No lock of the
/// engine is held during a call, and each may come from the thread of another session.
pub trait ForeignWait: Send + Sync {
    /// Appends the slots of all sessions that must do something before this wait can end: holders in conflict, and holders whom
    /// requests queued before this one wait for. Empty once the wait is over.
    fn blockers(&self, out: &mut Vec<u32>);
    /// Ends the wait without the lock, because of a deadlock. False: it was over already.
    fn abort(&self) -> bool;
    /// What is waited for, in one line, for `SHOW ENGINE INNODB STATUS`.
    fn describe(&self) -> String;
    /// The wait is for a place in an order in which this transaction comes as that number, and it does its work over when it is aborted:
    /// of a cycle's members, the last of those is the victim, whatever others have changed.
    fn place(&self) -> Option<u64> {
        None
    }
}

#[derive(Clone)]
pub(super) struct Waiting {
    pub(super) on: WaitOn,
    pub(super) number: u64,
    pub(super) began: Instant,
    /// Added to the cost of the transaction's rollback when a victim is chosen.
    pub(super) weight: u64,
}

/// What a transaction waits for.
#[derive(Clone)]
pub(super) enum WaitOn {
    /// Its request in the queue of this name.
    Row(Name),
    /// A lock that is not the engine's.
    Foreign(Arc<dyn ForeignWait>),
}

impl SlotState {
    pub(super) fn begin_wait(&mut self, on: WaitOn, weight: u64) {
        debug_assert!(self.waiting.is_none(), "a transaction waits for one thing at a time");
        self.waits += 1;
        self.waiting = Some(Waiting { on, number: self.waits, began: Instant::now(), weight });
    }
}

impl Default for Slot {
    fn default() -> Slot {
        Slot {
            trx: AtomicU64::new(0),
            snapshot: AtomicU64::new(u64::MAX),
            begun: AtomicU64::new(0),
            work: AtomicU64::new(0),
            state: Mutex::new(Rank::TransactionState, SlotState::default()),
        }
    }
}
