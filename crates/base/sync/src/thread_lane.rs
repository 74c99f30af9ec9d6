//! A small number for each running thread: its index into arrays of lanes.

use crate::lanes::{LaneId, LaneSet};
use std::cell::Cell;
use std::sync::LazyLock;

/// Most threads that can have a lane at once.
pub const LANES_MAX: usize = 1 << 17;

static THREADS: LazyLock<LaneSet> = LazyLock::new(|| LaneSet::new(LANES_MAX));

/// Gives the lane back when its thread ends.
struct Claim(LaneId);

impl Drop for Claim {
    fn drop(&mut self) {
        LANE.set(None);
        THREADS.release(self.0);
    }
}

thread_local! {
    /// The fast copy: no destructor, so no registration check on access.
    static LANE: Cell<Option<LaneId>> = const { Cell::new(None) };
    static CLAIM: Cell<Option<Claim>> = const { Cell::new(None) };
}

/// This thread's lane, claimed on first use and released when the thread ends.
///
/// # Panics
/// When [`LANES_MAX`] threads have one, or when first called while the thread is ending. Thread pools ask
/// [`try_thread_lane`] once when a thread starts.
#[inline]
pub fn thread_lane() -> LaneId {
    try_thread_lane().expect("more threads than lanes, or the thread is ending")
}

/// As [`thread_lane`]; none when all lanes are taken.
#[inline]
pub fn try_thread_lane() -> Option<LaneId> {
    match LANE.get() {
        Some(lane) => Some(lane),
        None => claim_slow(),
    }
}

/// Lanes at and above this number never had a thread.
#[inline]
pub fn thread_lane_high_water() -> usize {
    THREADS.high_water()
}

#[cold]
fn claim_slow() -> Option<LaneId> {
    let claim = Claim(THREADS.claim()?);
    let lane = claim.0;
    // When thread-locals are being torn down the claim is dropped with the closure, and the lane released.
    CLAIM.try_with(|slot| slot.set(Some(claim))).ok()?;
    LANE.set(Some(lane));
    Some(lane)
}
