//! Transaction system: ids, commit LSNs, snapshots and the horizons that purge needs. No lock, no list of active transactions.
//!
//! * A transaction that writes takes an id from one counter. Rows carry the id of the transaction that wrote them.
//! * The *status ring* ([`ring`]) has one word an id: open (with the owner's slot), or the LSN at the end of its commit group. The
//!   commit LSN is the commit order; it is stored between the reservation of the commit group and its completion, so whoever learns
//!   that the log is durable (or written, or complete) up to an LSN also finds the status of every commit below it.
//! * A *snapshot* is an LSN: it sees a transaction iff its commit LSN is at or below. With `innodb_flush_log_at_trx_commit=1`
//!   new snapshots take the durable LSN, so that a consistent read never shows what a crash could lose (design rule 5).
//! * `oldest` is an id below which every transaction is over and visible to every snapshot. Most reads stop at this comparison.
//! * While an old snapshot or a transaction that stays open keeps `oldest` back, purge moves ids out of the ring into a table of
//!   runs ([`moved`]), so that neither stops writers, however many transactions commit meanwhile.
//!
//! ```text
//!  first id      oldest           ring_start                     next
//!     |  Old       |  table of runs   |  words of the ring         |  not taken yet
//! ```
//!
//! Slots (one a session, each on its own cache line) announce the snapshot and the id in use for purge to see.

pub mod countdown;
pub mod locking;
mod long;
mod moved;
pub mod read;
mod ring;
pub mod rollback;
#[cfg(test)]
mod tests;
pub mod versions;
pub mod write;

use crate::Result;
use crate::lock::slot::{ENDING, FLAGS, MOVED, SLOTS_MAX, STARTING, Slot};
use log::Lsn;
use moved::{Admission, Builder, Moved, Table};
use ring::{BLOCK_IDS, OPEN, Ring, UNDONE};
use std::sync::atomic::{AtomicU64, Ordering, fence};
use std::time::Duration;
use sync::{CachePadded, LaneId, Lanes};

/// Ids that wait in the ring for `oldest` to pass them before they leave it, when the ring is not a small one.
const KEPT_IDS: u64 = 1 << 20;
/// Ids that leave the ring in one round, so that a transaction among them that ends meanwhile waits for a moment only.
const MOVED_AT_ONCE: u64 = 1 << 16;

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

pub struct System {
    /// The next id. W: each transaction's first write.
    next: CachePadded<AtomicU64>,
    bounds: CachePadded<Bounds>,
    /// The snapshot of everybody who announces none: purge may remove what nobody at or after this LSN sees. W: purge.
    horizon: CachePadded<AtomicU64>,
    /// What purge last took for the newest LSN: no new snapshot is below, also when the rule for new snapshots has changed
    /// (`SET GLOBAL innodb_flush_log_at_trx_commit`). W: purge. R: new snapshots.
    floor: CachePadded<AtomicU64>,
    ring: Ring,
    moved: Moved,
    pub slots: Lanes<Slot>,
}

/// Where ids are looked up: see the module. Both only grow. W: purge. R: everybody.
struct Bounds {
    oldest: AtomicU64,
    /// At or above `oldest` but for a moment.
    ring_start: AtomicU64,
}

/// What [`System::advance`] remembers from call to call.
#[derive(Default)]
pub struct Advancer {
    /// What `next` was at the last call.
    looked: u64,
    /// Calls so far.
    calls: u64,
    /// The announced snapshots, rising.
    snapshots: Vec<Lsn>,
}

impl System {
    /// `next`: above every id in the data. `open`: those that are still open ([`System::adopt`] follows); all others are over.
    /// `ring_len`: see [`Ring`].
    pub fn new(next: u64, open: impl Iterator<Item = u64>, ring_len: u64) -> Result<System> {
        let next = next.next_multiple_of(BLOCK_IDS);
        let moved = Moved::new(open, next);
        let oldest = moved.table().first().unwrap_or(next);
        Ok(System {
            next: CachePadded::new(AtomicU64::new(next)),
            bounds: CachePadded::new(Bounds { oldest: AtomicU64::new(oldest), ring_start: AtomicU64::new(next) }),
            horizon: CachePadded::new(AtomicU64::new(0)),
            floor: CachePadded::new(AtomicU64::new(0)),
            ring: Ring::new(next, ring_len)?,
            moved,
            slots: Lanes::with(SLOTS_MAX, Slot::default),
        })
    }

    pub fn next_id(&self) -> u64 {
        // Relaxed: the checkpoint has learned its LSN with Acquire before: the ids in groups below it are counted.
        self.next.load(Ordering::Relaxed)
    }

    /// The word of `trx`: see [`ring`]. 0: it is over, and everybody sees it.
    #[inline]
    fn word(&self, trx: u64) -> u64 {
        // Acquire: pairs with the Release store of `oldest`.
        if trx < self.bounds.oldest.load(Ordering::Acquire) {
            return 0;
        }
        // Acquire: pairs with the Release store in `finish`: who sees the commit LSN sees what the transaction did.
        let word = self.ring.word(trx).load(Ordering::Acquire);
        // Acquire, after the word: pairs with the Release store in `raise_ring_start`. The word may have been given back, or be of
        // a later id already; both come after that store, through the kernel and through `Ring::end`, and so do not go unnoticed.
        if trx < self.bounds.ring_start.load(Ordering::Acquire) { self.word_elsewhere(trx) } else { word }
    }

    /// As [`System::word`], of an id below `ring_start`.
    #[cold]
    fn word_elsewhere(&self, trx: u64) -> u64 {
        // Acquire: as above. Again, since `ring_start` may have followed it.
        if trx < self.bounds.oldest.load(Ordering::Acquire) { 0 } else { self.moved.word(trx) }
    }

    /// What became of `trx`.
    #[inline]
    pub fn status(&self, trx: u64) -> Status {
        match self.word(trx) {
            0 => Status::Old,
            word if word & OPEN != 0 => Status::Open(word as u32),
            word if word & UNDONE != 0 => Status::RolledBack,
            lsn => Status::Committed(lsn),
        }
    }

    /// Is the transaction over, committed or rolled back, at or below `horizon`, which no snapshot is older than?
    pub fn is_history(&self, trx: u64, horizon: Lsn) -> bool {
        let word = self.word(trx);
        word & OPEN == 0 && word & !UNDONE <= horizon
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

    /// Takes an id for the session in `slot`; `None` while the ring has no room: see [`System::await_room`].
    pub fn start(&self, slot: LaneId) -> Option<u64> {
        let own = self.slots.get(slot);
        // Relaxed: its owner stores it, and asks.
        debug_assert_eq!(own.trx.load(Ordering::Relaxed), 0, "a slot has one transaction at a time");
        // A lower bound of the id is announced before the id is taken, so that `advance`, which reads `next` before the slots,
        // either reads a `next` at or below the id or sees the announcement. SeqCst: pairs with the SeqCst accesses there. Any
        // lower bound will do, and this one costs no look at `next`, whose line goes from session to session.
        own.trx.store(STARTING, Ordering::SeqCst);
        let trx = self.next.fetch_add(1, Ordering::SeqCst);
        if trx >= self.ring.end() {
            // Nobody will use the id. Release: pairs with the Acquire in `advance`.
            own.trx.store(0, Ordering::Release);
            return None;
        }
        // Release: pairs with the Acquire in `word` and `advance`.
        self.ring.word(trx).store(OPEN | slot.index() as u64, Ordering::Release);
        own.trx.store(trx, Ordering::Release);
        Some(trx)
    }

    /// Counts the times that the ring got room: to be read before [`System::start`] is tried.
    pub fn releases(&self) -> u32 {
        self.ring.releases()
    }

    /// Waits until the ring got room after the `seen` times.
    pub fn await_room(&self, seen: u32, timeout: Duration) {
        self.ring.await_release(seen, timeout);
    }

    /// `trx`, which was open when the server ended, is the business of `slot`. Before anybody reads.
    pub fn adopt(&self, slot: LaneId, trx: u64) {
        let own = self.slots.get(slot);
        debug_assert!(trx > STARTING && trx < self.next_id(), "transaction {trx} was begun before the start");
        own.state.lock().trx = trx;
        // SeqCst: as in `start`.
        own.trx.store(trx | MOVED, Ordering::SeqCst);
        self.moved.set(trx, OPEN | slot.index() as u64);
    }

    /// `trx`, which is open and the business of `from`, becomes that of `to`. Who is led to either finds out by the number that
    /// the slot gives.
    pub fn hand_over(&self, from: LaneId, to: LaneId, trx: u64) {
        let (own, other) = (self.slots.get(from), self.slots.get(to));
        // Relaxed for both: stored by the owner, who asks, and not yet by anybody.
        debug_assert_eq!(own.trx.load(Ordering::Relaxed) & !FLAGS, trx, "it is the giver's");
        debug_assert_eq!(other.trx.load(Ordering::Relaxed), 0, "the taker has none"); // Relaxed: as above
        other.state.lock().trx = trx;
        // AcqRel: as in `finish`: purge leaves the word where it is from here to the end.
        let moved = own.trx.fetch_or(ENDING, Ordering::AcqRel) & MOVED;
        // SeqCst: as in `start`, for `advance`; the word says all the time that the transaction is open.
        other.trx.store(trx | moved, Ordering::SeqCst);
        let word = OPEN | to.index() as u64;
        if moved != 0 {
            self.moved.set(trx, word);
        } else {
            // Release: pairs with the Acquire in `word`.
            self.ring.word(trx).store(word, Ordering::Release);
        }
        // Release: after the announcement of the new slot, which `advance` (SeqCst) then finds.
        own.trx.store(0, Ordering::Release);
    }

    /// Publishes the outcome. For a commit this happens between reservation and completion of its log group.
    pub fn finish(&self, slot: LaneId, trx: u64, outcome: Status, lsn: Lsn) {
        debug_assert!(matches!(outcome, Status::Committed(_) | Status::RolledBack), "{outcome:?} is no end");
        debug_assert!(lsn > 0 && lsn < UNDONE, "a word has an LSN beside its flags");
        let word = match outcome {
            Status::Committed(_) => lsn,
            _ => lsn | UNDONE,
        };
        let own = &self.slots.get(slot).trx;
        // Relaxed: its owner stores it, and asks; purge adds a flag.
        debug_assert_eq!(own.load(Ordering::Relaxed) & !FLAGS, trx, "a transaction is ended in its slot");
        // Either purge has admitted the transaction to the table before this, and it ends in a word of its own; or purge cannot
        // move it any more, and its word in the ring stays where it is. AcqRel: pairs with the exchange in `Mover::move_one`.
        if own.fetch_or(ENDING, Ordering::AcqRel) & MOVED != 0 {
            self.moved.finish(trx, word);
        } else {
            // Release: pairs with the Acquire in `word`.
            self.ring.word(trx).store(word, Ordering::Release);
        }
        // Release: pairs with the Acquire in `advance`: who finds the slot empty finds the outcome.
        own.store(0, Ordering::Release);
    }

    /// Announces and returns a snapshot at what `newest` reads, for the session in `slot`.
    ///
    /// The announcement is stored first, then `floor` is read; purge raises `floor` first and reads the slots after. In the order
    /// of the two fences, either purge sees the announcement, or we see purge's floor. So whenever purge looks, each snapshot in
    /// use is announced exactly as it is, or is at or above the floor: purge keeps what it needs, and [`moved`] knows that it
    /// is never between two LSNs that nobody was to tell apart.
    #[inline]
    pub fn open_snapshot(&self, slot: LaneId, newest: impl Fn() -> Lsn) -> Lsn {
        let mut snapshot = newest();
        loop {
            // Relaxed: ordered by the fence, whose partner is in `advance`.
            self.slots.get(slot).snapshot.store(snapshot, Ordering::Relaxed);
            fence(Ordering::SeqCst); // pairs with the fence in `advance`
            // Relaxed: ordered by the fences.
            let floor = self.floor.load(Ordering::Relaxed);
            if floor <= snapshot {
                return snapshot;
            }
            snapshot = floor;
        }
    }

    #[inline(always)]
    pub fn close_snapshot(&self, slot: LaneId) {
        // Release: pairs with the Acquire in `advance`: our reads are done before purge removes what they looked at.
        self.slots.get(slot).snapshot.store(Lsn::MAX, Ordering::Release);
    }

    /// Purge: finds the LSN that every present and future snapshot is at or above, raises `oldest`, and moves ids out of the ring.
    /// Called by one thread.
    pub fn advance(&self, state: &mut Advancer, newest: impl Fn() -> Lsn) -> Lsn {
        // SeqCst: pairs with the accesses in `start`. Ids behind the ring's end found no room.
        let limit = self.next.load(Ordering::SeqCst).min(self.ring.end()); // before the slots: see `start`
        // Relaxed: before the fence, so that a snapshot whose announcement we miss is not below.
        let before = self.floor.load(Ordering::Relaxed);
        let floor = newest().max(before);
        // Only when it moved: every reader has this line.
        if floor != before {
            // Relaxed: before the fence, whose partner is in `open_snapshot`.
            self.floor.store(floor, Ordering::Relaxed);
        }
        fence(Ordering::SeqCst); // pairs with the fence in `open_snapshot`
        let (mut open, mut starting) = (limit, false);
        state.snapshots.clear();
        for (_, slot) in self.slots.iter_claimed() {
            // Acquire: pairs with the Release in `close_snapshot`.
            match slot.snapshot.load(Ordering::Acquire) {
                Lsn::MAX => {}
                snapshot => state.snapshots.push(snapshot),
            }
            // SeqCst: pairs with the announcement in `start`, and with the Release in `finish`.
            match slot.trx.load(Ordering::SeqCst) & !FLAGS {
                0 => {}
                trx => {
                    starting |= trx == STARTING;
                    open = open.min(trx);
                }
            }
        }
        state.snapshots.sort_unstable();
        state.snapshots.dedup();
        let horizon = state.snapshots.first().map_or(floor, |first| floor.min(*first));
        let is_busy = std::mem::replace(&mut state.looked, limit) != limit;
        state.calls += 1;
        // Relaxed: a number that shows how far purge is.
        self.horizon.store(horizon, Ordering::Relaxed);
        // Under load in whole blocks, of whose cache lines nobody writes any more.
        self.raise_oldest(if is_busy { open - open % BLOCK_IDS } else { open }, horizon);
        Mover { system: self, snapshots: &state.snapshots, floor, starting }.run(limit, state.calls);
        // Relaxed: purge alone stores it.
        self.ring.release(self.bounds.ring_start.load(Ordering::Relaxed));
        horizon
    }

    /// Raises `oldest` as far as everything is over and seen by everybody, to `limit` at most.
    fn raise_oldest(&self, limit: u64, horizon: Lsn) {
        let table = self.moved.table();
        // Relaxed for both: purge alone stores them.
        let (before, start) =
            (self.bounds.oldest.load(Ordering::Relaxed), self.bounds.ring_start.load(Ordering::Relaxed));
        let mut oldest = before;
        while oldest < limit {
            let (word, next) = match oldest < start {
                true => table.find(oldest).expect("the table reaches from `oldest` to the ring"),
                false => (self.ring.word(oldest).load(Ordering::Acquire), oldest + 1), // pairs with `finish`
            };
            if word & OPEN != 0 || word & !UNDONE > horizon {
                break;
            }
            oldest = next.min(limit);
        }
        if oldest != before {
            // Release: pairs with the Acquire in `word`.
            self.bounds.oldest.store(oldest, Ordering::Release);
        }
        if oldest > start {
            self.raise_ring_start(oldest);
        }
    }

    /// Ids below are answered by `oldest` or the table from now on.
    fn raise_ring_start(&self, start: u64) {
        // Release: pairs with the Acquire in `word`: who sees it sees `oldest` and the table as they are now.
        self.bounds.ring_start.store(start, Ordering::Release);
    }

    /// The id below which all transactions are over and seen by everybody.
    pub fn settled(&self) -> u64 {
        // Relaxed: a number to show.
        self.bounds.oldest.load(Ordering::Relaxed)
    }

    /// The LSN that purge last found: no snapshot is older.
    pub fn horizon(&self) -> Lsn {
        // Relaxed: a number to show.
        self.horizon.load(Ordering::Relaxed)
    }
}

/// Moves ids from the ring to the table, and keeps the table short.
struct Mover<'s> {
    system: &'s System,
    /// As [`Advancer`] has them.
    snapshots: &'s [Lsn],
    /// New snapshots see all that is over at or below.
    floor: Lsn,
    /// An id below the limit may have been taken without its word being there.
    starting: bool,
}

impl Mover<'_> {
    /// `limit`: behind the ids to look at.
    fn run(&self, limit: u64, calls: u64) {
        // Relaxed for both: purge alone stores them.
        let bounds = &self.system.bounds;
        let (oldest, start) = (bounds.oldest.load(Ordering::Relaxed), bounds.ring_start.load(Ordering::Relaxed));
        let table = self.system.moved.table();
        let kept = KEPT_IDS.min(self.system.ring.len() / 4);
        if limit.saturating_sub(start) > kept {
            self.move_out(&table, oldest, (start, (limit - kept / 2).min(start + MOVED_AT_ONCE)));
        } else if oldest == start {
            if !table.is_empty() {
                self.system.moved.publish(Builder::new(&[], self.floor).build(start));
            }
        } else if calls.is_multiple_of(64) && table.len() > 32 {
            self.join_runs(&table, oldest, start);
        }
    }

    /// Moves ids of `from..to`, as far as it can.
    fn move_out(&self, table: &Table, oldest: u64, (from, to): (u64, u64)) {
        let mut runs = Builder::new(self.snapshots, self.floor);
        runs.keep(table, oldest);
        let mut admission = self.system.moved.begin_move();
        let mut end = from;
        while end < to && self.move_one(&mut runs, &mut admission, end) {
            end += 1;
        }
        if end > from {
            admission.conclude(runs.build(end), || self.system.raise_ring_start(end));
        }
    }

    /// False: this id has to stay for now.
    fn move_one(&self, runs: &mut Builder<'_>, admission: &mut Admission<'_>, trx: u64) -> bool {
        let in_ring = self.system.ring.word(trx);
        let word = in_ring.load(Ordering::Acquire); // pairs with `start` and `finish`
        if word == 0 && self.starting {
            return false;
        }
        if word & OPEN == 0 {
            return runs.try_over(trx, word);
        }
        let own_word = admission.admit(trx, word);
        let slot = self.system.slots.get(LaneId::from_index(word as u32 as usize));
        // AcqRel: pairs with the exchange in `finish`, whose owner then finds what was admitted; Acquire when it fails: with its
        // last store.
        if slot.trx.compare_exchange(trx, trx | MOVED, Ordering::AcqRel, Ordering::Acquire).is_ok() {
            runs.open(trx, own_word);
            return true;
        }
        admission.dismiss();
        // It is about to begin or to end, or has ended since. Acquire: as above.
        runs.try_over(trx, in_ring.load(Ordering::Acquire))
    }

    /// Makes one run of what nobody tells apart any more, if that makes the table half as long.
    fn join_runs(&self, table: &Table, oldest: u64, end: u64) {
        let mut runs = Builder::new(self.snapshots, self.floor);
        runs.keep(table, oldest);
        if runs.len() * 2 <= table.len() {
            self.system.moved.publish(runs.build(end));
        }
    }
}
