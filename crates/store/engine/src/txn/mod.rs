//! Transaction system: ids, commit LSNs, snapshots and the horizons that purge needs. No lock, no list of active transactions.
//!
//! * A transaction that writes takes an id from one counter. Rows carry the id of the transaction that wrote them.
//! * The *status ring* has one word an id: open (with the owner's slot), or the LSN at the end of its commit group. The commit
//!   LSN is the commit order; it is stored between the reservation of the commit group and its completion, so whoever learns
//!   that the log is durable (or written, or complete) up to an LSN also finds the status of every commit below it.
//! * A *snapshot* is an LSN: it sees a transaction iff its commit LSN is at or below. With `innodb_flush_log_at_trx_commit=1`
//!   new snapshots take the durable LSN, so that a consistent read never shows what a crash could lose (design rule 5).
//! * `oldest` is an id below which every transaction is over and visible to every snapshot: their ring words are given back
//!   and read as zero, which means just that. Most reads stop at this comparison.
//!
//! Slots (one a session, each on its own cache line) announce the snapshot and the id in use for purge to see.

#![expect(unsafe_code, reason = "the status ring is an array in reserved, lazily zeroed memory")]

pub mod background;
pub mod locking;
pub mod read;
pub mod rollback;
pub mod write;

use crate::lock::Slot;
use crate::{Error, Result};
use io::Region;
use log::Lsn;
use std::sync::atomic::{AtomicU64, Ordering, fence};
use sync::{CachePadded, LaneId, Lanes};

/// Ring word: bit 63 open, the low bits the owner's slot.
const OPEN: u64 = 1 << 63;
/// Ring word: bit 62 rolled back, the low bits the LSN at the end of its last group.
const UNDONE: u64 = 1 << 62;

/// In a slot: an id is being taken. Below every id.
const STARTING: u64 = 1;

/// Words of the ring that share a page of memory, given back together.
const BLOCK_IDS: u64 = 512;

/// What became of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Not over. The slot of the session that runs it.
    Open(u32),
    Committed(Lsn),
    /// Rolled back: no row of it is left, only marks on secondary entries, which are to be checked against the row.
    RolledBack,
    /// Over, and visible to everyone (or so long ago that nobody can tell).
    Old,
}

/// How many transactions there may be at once, whoever they are of. A slot takes memory when it is first used; `session` asserts that
/// there are enough for all its connections.
pub const SLOTS_MAX: usize = 1 << 19;

pub struct System {
    /// The next id. W: each transaction's first write.
    next: CachePadded<AtomicU64>,
    /// See the module. W: purge. R: everybody.
    oldest: CachePadded<AtomicU64>,
    /// The snapshot of everybody who announces none: purge may remove what nobody at or after this LSN sees. W: purge.
    horizon: CachePadded<AtomicU64>,
    /// What purge last took for the newest LSN: no new snapshot is below, also when the rule for new snapshots has changed
    /// (`SET GLOBAL innodb_flush_log_at_trx_commit`). W: purge. R: new snapshots.
    floor: CachePadded<AtomicU64>,
    /// What `next` was when purge last looked. W, R: purge.
    looked: AtomicU64,
    ring: Region,
    ring_len: u64,
    /// Ring words below this id have been given back. W: purge.
    released: CachePadded<AtomicU64>,
    pub slots: Lanes<Slot>,
}

impl System {
    /// `next`: above every id in the data. `oldest`: at or below every id that is still open ([`System::adopt`] follows); what else is
    /// above it is over. `ring_len`: ids that may be between the oldest open and the newest.
    pub fn new(next: u64, oldest: u64, ring_len: u64) -> Result<System> {
        let next = next.next_multiple_of(BLOCK_IDS);
        let ring_len = ring_len.next_power_of_two().max(BLOCK_IDS * 4);
        let oldest = oldest.min(next).max(next.saturating_sub(ring_len / 2));
        Ok(System {
            next: CachePadded::new(AtomicU64::new(next)),
            oldest: CachePadded::new(AtomicU64::new(oldest)),
            horizon: CachePadded::new(AtomicU64::new(0)),
            floor: CachePadded::new(AtomicU64::new(0)),
            looked: AtomicU64::new(0),
            ring: io::reserve(ring_len as usize * 8)?,
            ring_len,
            released: CachePadded::new(AtomicU64::new(oldest - oldest % BLOCK_IDS)),
            slots: Lanes::with(SLOTS_MAX, Slot::default),
        })
    }

    pub fn next_id(&self) -> u64 {
        // Relaxed: the checkpoint has learned its LSN with Acquire before: the ids in groups below it are counted.
        self.next.load(Ordering::Relaxed)
    }

    #[inline(always)]
    fn word(&self, trx: u64) -> &AtomicU64 {
        // Neighbouring ids lie on different cache lines of their block: commits in parallel do not share them.
        let in_block = trx % BLOCK_IDS;
        let permuted = (in_block % 64) * 8 + in_block / 64;
        let at = (trx - in_block + permuted) % self.ring_len;
        // SAFETY: the region holds `ring_len` words, 8-byte aligned; zeroed memory is a valid AtomicU64.
        unsafe { &*self.ring.as_ptr().cast::<AtomicU64>().add(at as usize) }
    }

    /// Is there a word for this id, or is it too old?
    pub fn has_word(&self, trx: u64) -> bool {
        // Relaxed: asked at the start.
        trx >= self.oldest.load(Ordering::Relaxed)
    }

    /// What became of `trx`.
    #[inline]
    pub fn status(&self, trx: u64) -> Status {
        // Acquire: pairs with the Release store of `oldest`; an id below it may find its word given back, which says the same.
        if trx < self.oldest.load(Ordering::Acquire) {
            return Status::Old;
        }
        // Acquire: pairs with the Release store in `finish`: who sees the commit LSN sees what the transaction did.
        match self.word(trx).load(Ordering::Acquire) {
            0 => Status::Old,
            word if word & OPEN != 0 => Status::Open(word as u32),
            word if word & UNDONE != 0 => Status::RolledBack,
            lsn => Status::Committed(lsn),
        }
    }

    /// Is the transaction over, committed or rolled back, at or below `horizon`, which no snapshot is older than?
    pub fn is_history(&self, trx: u64, horizon: Lsn) -> bool {
        // Acquire for both: as in `status`.
        trx < self.oldest.load(Ordering::Acquire) || {
            let word = self.word(trx).load(Ordering::Acquire);
            word & OPEN == 0 && word & !UNDONE <= horizon
        }
    }

    /// Does the snapshot see what `trx` wrote? (Not for the transaction's own writes.)
    #[inline(always)]
    pub fn sees(&self, snapshot: Lsn, trx: u64) -> bool {
        match self.status(trx) {
            Status::Old => true,
            Status::Committed(lsn) => lsn <= snapshot,
            Status::Open(_) | Status::RolledBack => false,
        }
    }

    /// Takes an id for the session in `slot`.
    pub fn start(&self, slot: LaneId) -> Result<u64> {
        let own = self.slots.get(slot);
        // A lower bound of the id is announced before the id is taken, so that `advance`, which reads `next` before the slots,
        // either reads a `next` at or below the id or sees the announcement. SeqCst: pairs with the SeqCst accesses there. Any
        // lower bound will do, and this one costs no look at `next`, whose line goes from session to session.
        own.trx.store(STARTING, Ordering::SeqCst);
        let trx = self.next.fetch_add(1, Ordering::SeqCst);
        // Acquire: pairs with the Release in `release_ring`: the word we are about to use has been zeroed.
        if trx - self.released.load(Ordering::Acquire) >= self.ring_len - BLOCK_IDS {
            own.trx.store(0, Ordering::Release);
            return Err(Error::TooManyTransactions);
        }
        // Release: pairs with the Acquire in `status` and `advance`.
        self.word(trx).store(OPEN | slot.index() as u64, Ordering::Release);
        own.trx.store(trx, Ordering::Release);
        Ok(trx)
    }

    /// `trx`, which is open, is the business of `slot` from now on. If it had another one, that is to be told afterwards that it has
    /// none: who is led to either finds out by the number that the slot gives.
    pub fn adopt(&self, slot: LaneId, trx: u64) {
        let own = self.slots.get(slot);
        own.state.lock().trx = trx;
        // SeqCst: as in `start`, for `advance`; the word in the ring stays open meanwhile.
        own.trx.store(trx, Ordering::SeqCst);
        // Release: pairs with the Acquire in `status`.
        self.word(trx).store(OPEN | slot.index() as u64, Ordering::Release);
    }

    /// Publishes the outcome. For a commit this happens between reservation and completion of its log group.
    pub fn finish(&self, slot: LaneId, trx: u64, outcome: Status, lsn: Lsn) {
        let word = match outcome {
            Status::Committed(_) => lsn,
            _ => lsn | UNDONE,
        };
        // Release: pairs with the Acquire in `status`.
        self.word(trx).store(word, Ordering::Release);
        // Release: pairs with the Acquire in `advance`: who finds the slot empty finds the outcome.
        self.slots.get(slot).trx.store(0, Ordering::Release);
    }

    /// Announces and returns a snapshot at what `newest` reads, for the session in `slot`.
    ///
    /// The announcement is stored first, at or below the snapshot; then `newest` is read again. Purge reads `newest` first and
    /// the slots after. In the order of the two fences, either purge sees the announcement, or our second reading of `newest`
    /// is not before purge's: in both cases purge keeps what the snapshot needs.
    #[inline]
    pub fn open_snapshot(&self, slot: LaneId, newest: impl Fn() -> Lsn) -> Lsn {
        // Relaxed: ordered by the fence, whose partner is in `advance`.
        self.slots.get(slot).snapshot.store(newest(), Ordering::Relaxed);
        fence(Ordering::SeqCst); // pairs with the fence in `advance`
        // Relaxed: ordered by the fences.
        newest().max(self.floor.load(Ordering::Relaxed))
    }

    #[inline(always)]
    pub fn close_snapshot(&self, slot: LaneId) {
        // Release: pairs with the Acquire in `advance`: our reads are done before purge removes what they looked at.
        self.slots.get(slot).snapshot.store(Lsn::MAX, Ordering::Release);
    }

    /// Purge: finds the LSN that every present and future snapshot is at or above, and raises `oldest`. Called by one thread.
    pub fn advance(&self, newest: impl Fn() -> Lsn) -> Lsn {
        // SeqCst: pairs with the accesses in `start`.
        let limit = self.next.load(Ordering::SeqCst); // before the slots: see `start`
        // Relaxed: before the fence, so that a snapshot whose announcement we miss is not below.
        let floor = self.floor.load(Ordering::Relaxed);
        let mut horizon = newest().max(floor);
        // Only when it moved: every reader has this line.
        if horizon != floor {
            // Relaxed: before the fence, whose partner is in `open_snapshot`.
            self.floor.store(horizon, Ordering::Relaxed);
        }
        fence(Ordering::SeqCst); // pairs with the fence in `open_snapshot`
        let mut open = limit;
        for (_, slot) in self.slots.iter_claimed() {
            horizon = horizon.min(slot.snapshot.load(Ordering::Acquire)); // pairs with `close_snapshot`
            // SeqCst: pairs with the announcement in `start`, and with the Release in `finish`.
            match slot.trx.load(Ordering::SeqCst) {
                0 => {}
                trx => open = open.min(trx),
            }
        }
        // Relaxed for both: purge alone stores them.
        let before = self.oldest.load(Ordering::Relaxed);
        let is_busy = self.looked.swap(limit, Ordering::Relaxed) != limit;
        // Under load in whole blocks, of whose cache lines nobody writes any more.
        let open = if is_busy { open - open % BLOCK_IDS } else { open };
        let mut oldest = before;
        while oldest < open {
            let word = self.word(oldest).load(Ordering::Acquire); // pairs with `finish`
            if word & OPEN != 0 || word & !UNDONE > horizon {
                break;
            }
            oldest += 1;
        }
        // Relaxed: a number that shows how far purge is.
        self.horizon.store(horizon, Ordering::Relaxed);
        if oldest != before {
            // Release: pairs with the Acquire in `status`.
            self.oldest.store(oldest, Ordering::Release);
            self.release_ring(oldest);
        }
        horizon
    }

    /// Gives back ring blocks wholly below `oldest`. A late reader finds zero there: `Old`, as it should.
    fn release_ring(&self, oldest: u64) {
        const CHUNK_IDS: u64 = 16 * BLOCK_IDS;
        // Relaxed: purge alone stores it.
        let before = self.released.load(Ordering::Relaxed);
        let mut released = before;
        while oldest - released >= CHUNK_IDS {
            for block in 0..16 {
                let at = (released + block * BLOCK_IDS) % self.ring_len;
                self.ring
                    .discard(at as usize * 8..(at + BLOCK_IDS) as usize * 8)
                    .expect("the kernel takes back memory that it gave");
            }
            released += CHUNK_IDS;
        }
        // Only when it moved: every writer reads this line.
        if released != before {
            // Release: pairs with the Acquire in `start`.
            self.released.store(released, Ordering::Release);
        }
    }

    /// The LSN that purge last found: no snapshot is older.
    pub fn horizon(&self) -> Lsn {
        // Relaxed: a number to show.
        self.horizon.load(Ordering::Relaxed)
    }
}
