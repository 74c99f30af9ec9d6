//! Reservation and the contiguous complete prefix, with one shared write per append.
//!
//! An append takes its place by one `fetch_add` on `tail`, copies its bytes into the ring, and is complete. Whoever flushes must know up to
//! where *all* appends are complete. Nobody writes that down; it is computed from the lanes (as Border-Collie does):
//!
//! ```text
//!   append (lane i)                               bound (flusher)
//!   1 inserting[i] = last[i] (a lower bound)      a t = tail
//!   2 start = fetch_add(tail, len)                b for each lane: t = min(t, inserting[i])
//!   3 inserting[i] = start (exact)                c t is the bound
//!   4 copy
//!   5 inserting[i] = IDLE  (Release)
//! ```
//!
//! *Claim*: every reservation R that starts below the bound is complete, and its bytes are visible to the flusher. *Proof*: R.start <
//! bound <= t, so R's `fetch_add` (2) precedes the value read in (a); all writes to `tail` are RMWs, so (a, Acquire) synchronises with (2,
//! Release), and (1) happens before (b). So (b) reads R's store (1) or a later value of the lane. (1) and (3) are at most R.start
//! (`last[i]` is the end of the lane's group before, which precedes R), so had (b) read one of them, the bound would be at most R.start.
//! So (b) read (5) or a later store of this lane; all are Release and in program order after the copy. ∎
//!
//! *Claim*: the bound is a group boundary: `tail` only ever holds boundaries, and so do (1) and (3). ∎
//!
//! So an append touches the shared line once, in (2). What (1) could be instead, the tail of this moment, would cost it a second time.
//!
//! A lane is used by one thread, one reservation at a time. The bound is exact up to reservations that are just being filled.
//!
//! The bound may *go back*: between (1) and (3) a lane announces where its last group ended, which others have long passed. It is as
//! true as before, but a snapshot taken at it would miss what an earlier one showed. So who promises something by a bound asks for
//! [`Prefix::completed`], which writes down the highest one that anybody has found: true for ever, and it never falls. Who has waited
//! for a group by it leaves a note that is at the group's end or above, so whoever only reads finds it in [`Prefix::known_complete`], and
//! writes nothing.

use std::sync::atomic::AtomicU64 as OwnU64;
use sync::shim::atomic::{AtomicU64, AtomicUsize, Ordering};
use sync::{CachePadded, LaneId, Lanes};

use crate::Lsn;

const IDLE: u64 = u64::MAX;

/// One thread's part, alone on its line. W: the owner. R: flushers.
pub struct Lane {
    inserting: AtomicU64,
    /// End of its last group, 0 before the first. W, R: the owner, so the models need not look at it.
    last: OwnU64,
    /// Payload bytes that `ensure_room` has granted and that are not reserved yet. W, R: the owner.
    pub granted: OwnU64,
}

/// The shared tail and the lanes.
pub struct Prefix {
    /// W: each append, once. R: flushers.
    tail: CachePadded<AtomicU64>,
    /// The highest bound found so far by those who asked for it. W: `completed`. R: the same, and `known_complete`.
    completed: CachePadded<AtomicU64>,
    /// One more than the highest lane in use; grows a few times per server life.
    used: CachePadded<AtomicUsize>,
    lanes: Lanes<Lane>,
}

impl Prefix {
    /// An empty stream from `tail`, for at most `lanes` threads at a time.
    pub fn new(tail: Lsn, lanes: usize) -> Prefix {
        let lane = || Lane { inserting: AtomicU64::new(IDLE), last: OwnU64::new(0), granted: OwnU64::new(0) };
        Prefix {
            tail: CachePadded::new(AtomicU64::new(tail)),
            completed: CachePadded::new(AtomicU64::new(tail)),
            used: CachePadded::new(AtomicUsize::new(0)),
            lanes: Lanes::with(lanes, lane),
        }
    }

    /// The calling thread's lane.
    pub fn lane(&self, id: LaneId) -> &Lane {
        let index = id.index();
        let lane = self.lanes.get_or_allocate(id);
        // Relaxed: a lane is raised by its owner before its first fetch_add on `tail`, whose Release the flusher acquires.
        if index >= self.used.load(Ordering::Relaxed) {
            self.used.fetch_max(index + 1, Ordering::Relaxed);
        }
        lane
    }

    /// Takes `bytes` of the stream for the calling thread, whose lane it is. The start of the place.
    pub fn reserve(&self, lane: &Lane, bytes: u64) -> Lsn {
        // Relaxed: the owner's own store.
        assert_eq!(lane.inserting.load(Ordering::Relaxed), IDLE, "a thread holds one reservation at a time");
        // Relaxed: the owner's own store, or its predecessor's, ordered by the handover of the lane.
        let bound = lane.last.load(Ordering::Relaxed);
        // (1) Release: also publishes the bytes of this lane's earlier groups to who reads this value in `bound` (Acquire).
        lane.inserting.store(bound, Ordering::Release);
        // (2) Release: pairs with the Acquire of `tail` in `bound`; makes (1) visible. Acquire: not needed.
        let start = self.tail.fetch_add(bytes, Ordering::Release);
        // (3) Release: as (1).
        lane.inserting.store(start, Ordering::Release);
        // Relaxed: the owner's own.
        lane.last.store(start + bytes, Ordering::Relaxed);
        start
    }

    /// The reservation of this lane is filled.
    pub fn complete(&self, lane: &Lane) {
        // (5) Release: pairs with the Acquire in `bound`; makes the copied bytes visible.
        lane.inserting.store(IDLE, Ordering::Release);
    }

    /// Whether the lane's owner holds a reservation.
    pub fn is_reserving(&self, lane: &Lane) -> bool {
        // Relaxed: asked by the owner.
        lane.inserting.load(Ordering::Relaxed) != IDLE
    }

    /// All groups below are complete and visible to the caller.
    pub fn bound(&self) -> Lsn {
        // (a) Acquire: pairs with (2).
        let mut bound = self.tail.load(Ordering::Acquire);
        for lane in self.lanes() {
            // (b) Acquire: pairs with (1), (3) and (5).
            bound = bound.min(lane.inserting.load(Ordering::Acquire));
        }
        bound
    }

    /// The lanes that fill groups now, and a lower bound of where each one's begins: to tell whom a flush waits for.
    #[cfg(not(loom))]
    pub fn open(&self) -> impl Iterator<Item = (usize, Lsn)> {
        // Relaxed: numbers to show.
        let from = |lane: &Lane| lane.inserting.load(Ordering::Relaxed);
        self.lanes().map(from).enumerate().filter(|(_, from)| *from != IDLE)
    }

    /// As [`Prefix::bound`], and never lower than what anybody was told before.
    pub fn completed(&self) -> Lsn {
        let bound = self.bound();
        // Acquire: pairs with the Release below: who is told a bound sees the groups below it as its finder saw them.
        let known = self.completed.load(Ordering::Acquire);
        if bound <= known {
            return known;
        }
        // AcqRel: as above, both ways.
        self.completed.fetch_max(bound, Ordering::AcqRel).max(bound)
    }

    /// What [`Prefix::completed`] has told last: at or above each group that anybody has waited for. One load.
    pub fn known_complete(&self) -> Lsn {
        // Acquire: pairs with the Release in `completed`: the groups below are visible, and who reads twice reads no less.
        self.completed.load(Ordering::Acquire)
    }

    /// Where the next reservation will start, a moment ago.
    pub fn tail(&self) -> Lsn {
        // Relaxed: a figure to pace by.
        self.tail.load(Ordering::Relaxed)
    }

    /// All lanes that were ever used.
    pub fn lanes(&self) -> impl Iterator<Item = &Lane> {
        // Relaxed: see `lane`; the Acquire of `tail` came before.
        self.lanes.iter_below(self.used.load(Ordering::Relaxed))
    }
}
