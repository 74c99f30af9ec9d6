//! The lane reader-writer lock: a reader writes only its own lane, a writer visits all lanes.
//!
//! ```text
//!             lane 0   lane 1   lane 2 ...   writer          drained
//!  reader     [ 1 ]                          read            bumped by a last reader that sees a writer
//!  reader              [ 2 ]                 read            (a lane counts its thread's nested holds)
//!  writer      read     read     read        0 -> 1 -> 0     slept on until all lanes are 0
//! ```
//! For gates that every statement passes and that somebody closes once a day (`FLUSH TABLES WITH READ LOCK`). Readers pay two
//! fences and share nothing; a writer pays a look at each lane that was ever used. New readers wait for a waiting writer
//! (prefer-writer), except nested ones, which the writer waits for anyway.
//!
//! # Orderings
//!
//! Reader and writer each announce themselves and then look for the other, so a SeqCst fence stands between the two steps on both
//! sides: one of them must see the other. Leaving is the same question again: the last reader says "0" and looks for a writer
//! that may have seen its "1".

use crate::futex;
use crate::lanes::{LaneId, Lanes};
#[cfg(not(loom))]
use crate::reader_writer::ReaderWriter;
use crate::shim::atomic::{AtomicU32, Ordering, fence};
#[cfg(not(loom))]
use crate::thread_lane::thread_lane;
use crate::waits::Wait;
use crossbeam_utils::CachePadded;

/// Nobody closes the gate.
const FREE: u32 = 0;
/// A writer holds the gate, or waits for readers to leave.
const CLOSED: u32 = 1;
/// Closed, and somebody sleeps on the word.
const CLOSED_AND_AWAITED: u32 = 2;

/// The lock. It guards no value of its own: what it protects is a matter between its holders.
#[derive(Debug)]
pub struct LaneRwLock {
    /// FREE, CLOSED or CLOSED_AND_AWAITED. W: writers, readers that wait. R: every reader; shared in all caches while FREE.
    writer: CachePadded<AtomicU32>,
    /// Changes when the last hold of a lane ends under a closed gate. W: readers that see a writer. R: that writer.
    drained: CachePadded<AtomicU32>,
    /// Nested holds of the lane's thread. W: that thread. R: writers.
    lanes: Lanes<AtomicU32>,
}

impl LaneRwLock {
    /// A lock for lanes below `lanes`, for thread lanes `LANES_MAX`.
    pub fn new(lanes: usize) -> LaneRwLock {
        LaneRwLock {
            writer: CachePadded::new(AtomicU32::new(FREE)),
            drained: CachePadded::new(AtomicU32::new(0)),
            lanes: Lanes::with(lanes, || AtomicU32::new(0)),
        }
    }

    /// Takes the lock shared, in the lane of the calling thread: no other thread may use the lane meanwhile.
    pub fn read(&self, lane: LaneId) {
        let held = self.lanes.get_or_allocate(lane);
        // Relaxed: this thread is the only writer.
        let nested = held.load(Ordering::Relaxed);
        if nested > 0 {
            held.store(nested + 1, Ordering::Relaxed);
            return;
        }
        loop {
            // Relaxed: the fence orders it.
            held.store(1, Ordering::Relaxed);
            // SeqCst fence: pairs with the one in `write`. If we miss its CLOSED, it sees our 1.
            fence(Ordering::SeqCst);
            // Acquire: pairs with Release in `unlock_write`; we see what the last writer did.
            if self.writer.load(Ordering::Acquire) == FREE {
                return;
            }
            self.leave(held);
            self.wait_until_free();
        }
    }

    /// Takes the lock shared if no writer has it or waits for it.
    pub fn try_read(&self, lane: LaneId) -> bool {
        let held = self.lanes.get_or_allocate(lane);
        // Relaxed: this thread is the only writer, and the fence orders the store.
        let nested = held.load(Ordering::Relaxed);
        held.store(nested + 1, Ordering::Relaxed);
        // SeqCst fence: pairs with the one in `write`, as in `read`.
        fence(Ordering::SeqCst);
        // Acquire: pairs with Release in `unlock_write`.
        if nested > 0 || self.writer.load(Ordering::Acquire) == FREE {
            return true;
        }
        self.leave(held);
        false
    }

    /// Ends one shared hold of the lane.
    pub fn unlock_read(&self, lane: LaneId) {
        let held = self.lanes.get_or_allocate(lane);
        // Relaxed: this thread is the only writer.
        match held.load(Ordering::Relaxed) {
            0 => panic!("lane {} holds nothing", lane.index()),
            1 => self.leave(held),
            // Relaxed: nobody waits for an inner hold to end.
            nested => held.store(nested - 1, Ordering::Relaxed),
        }
    }

    /// Takes the lock alone: closes the gate, then waits for those inside to leave.
    pub fn write(&self) {
        // Acquire: pairs with Release in `unlock_write`.
        while self.writer.compare_exchange(FREE, CLOSED, Ordering::Acquire, Ordering::Relaxed).is_err() {
            self.wait_until_free();
        }
        // SeqCst fence: pairs with the ones in `read`, `try_read` and `leave`.
        fence(Ordering::SeqCst);
        loop {
            // Acquire: pairs with Release in `leave`; looked at before the lanes, so a lane that empties after our look
            // changes the word that we then sleep on.
            let drained = self.drained.load(Ordering::Acquire);
            // Acquire: pairs with Release in `leave`; what the readers did is before what we do.
            if self.lanes.iter_below(self.lanes.capacity()).all(|held| held.load(Ordering::Acquire) == 0) {
                return;
            }
            futex::wait(&self.drained, drained, None, Wait::LaneLock);
        }
    }

    /// Opens the gate.
    pub fn unlock_write(&self) {
        // Release: pairs with Acquire in `read`, `try_read` and `write`.
        let before = self.writer.swap(FREE, Ordering::Release);
        assert!(before != FREE, "unlock_write of a lock that no writer has");
        if before == CLOSED_AND_AWAITED {
            futex::wake_all(&self.writer);
        }
    }

    /// The lane's last hold ends.
    fn leave(&self, held: &AtomicU32) {
        // Release: pairs with Acquire in `write`.
        held.store(0, Ordering::Release);
        // SeqCst fence: pairs with the one in `write`. If we miss its CLOSED, it sees our 0.
        fence(Ordering::SeqCst);
        // Relaxed: nothing is read on the strength of it.
        if self.writer.load(Ordering::Relaxed) != FREE {
            self.report_slow();
        }
    }

    #[cold]
    fn report_slow(&self) {
        // Release: pairs with Acquire in `write`; who sees the new number sees the lane at 0.
        self.drained.fetch_add(1, Ordering::Release);
        futex::wake_all(&self.drained);
    }

    #[cold]
    fn wait_until_free(&self) {
        // Relaxed throughout: the caller acquires when it looks again.
        loop {
            match self.writer.load(Ordering::Relaxed) {
                FREE => return,
                CLOSED => {
                    let awaited = CLOSED_AND_AWAITED;
                    // A failure means that the word has changed: look again.
                    let _ = self.writer.compare_exchange(CLOSED, awaited, Ordering::Relaxed, Ordering::Relaxed);
                }
                awaited => {
                    futex::wait(&self.writer, awaited, None, Wait::LaneLock);
                }
            }
        }
    }
}

/// A shared hold of a [`LaneRwLock`] in the lane of its thread; it stays on that thread.
#[cfg(not(loom))]
#[must_use = "the lock is released at once when the guard is not kept"]
pub struct LaneShared<'a> {
    lock: &'a LaneRwLock,
    lane: LaneId,
    /// Not Send: a lane is written by its own thread only.
    _here: std::marker::PhantomData<*const ()>,
}

/// The exclusive hold of a [`LaneRwLock`].
#[cfg(not(loom))]
#[must_use = "the lock is released at once when the guard is not kept"]
pub struct LaneExclusive<'a>(&'a LaneRwLock);

#[cfg(not(loom))]
impl Drop for LaneShared<'_> {
    #[inline]
    fn drop(&mut self) {
        self.lock.unlock_read(self.lane);
    }
}

#[cfg(not(loom))]
impl Drop for LaneExclusive<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.unlock_write();
    }
}

/// For locks made with room for [`LANES_MAX`](crate::LANES_MAX) lanes.
#[cfg(not(loom))]
impl ReaderWriter for LaneRwLock {
    const KIND: &'static str = "lane";
    type Shared<'a> = LaneShared<'a>;
    type Exclusive<'a> = LaneExclusive<'a>;

    #[inline]
    fn shared(&self) -> LaneShared<'_> {
        let lane = thread_lane();
        self.read(lane);
        LaneShared { lock: self, lane, _here: std::marker::PhantomData }
    }

    #[inline]
    fn exclusive(&self) -> LaneExclusive<'_> {
        self.write();
        LaneExclusive(self)
    }
}
