//! The blocks of words that threads count in.

use crate::counters::{Counter, CounterId};
use crate::histogram::{self, Timer};
use std::cell::Cell;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use sync::{LANES_MAX, Lanes};

/// Words in a lane: the counters of [`Counter`], then those registered at start.
pub(crate) const COUNTERS_MAX: usize = 512;
const _: () = assert!(Counter::ALL.len() < COUNTERS_MAX);

/// What one thread counts in. W: the thread whose lane it is, alone. R: whoever sums.
pub(crate) struct Block {
    pub(crate) counters: [AtomicU64; COUNTERS_MAX],
    pub(crate) timers: [histogram::Cells; Timer::ALL.len()],
}

impl Default for Block {
    fn default() -> Self {
        Block { counters: [const { AtomicU64::new(0) }; COUNTERS_MAX], timers: Default::default() }
    }
}

pub(crate) static BLOCKS: LazyLock<Lanes<Block>> = LazyLock::new(|| Lanes::new(LANES_MAX));

thread_local! {
    static BLOCK: Cell<Option<&'static Block>> = const { Cell::new(None) };
}

/// This thread's block.
#[inline]
pub(crate) fn block() -> &'static Block {
    match BLOCK.get() {
        Some(block) => block,
        None => block_slow(),
    }
}

#[cold]
fn block_slow() -> &'static Block {
    let lanes: &'static Lanes<Block> = &BLOCKS;
    let block = lanes.get_or_allocate(sync::thread_lane());
    BLOCK.set(Some(block));
    block
}

/// Adds to a word that only this thread writes: a plain load and store, no `lock` prefix.
#[inline]
pub(crate) fn bump(word: &AtomicU64, n: u64) {
    // Relaxed: single writer. Readers pair with nothing; they want a recent figure of each word, not a common moment.
    word.store(word.load(Ordering::Relaxed).wrapping_add(n), Ordering::Relaxed);
}

/// Adds `n` to the counter, in this thread's lane.
#[inline]
pub fn add(counter: impl Into<CounterId>, n: u64) {
    bump(&block().counters[counter.into().index()], n);
}

/// Adds 1 to the counter, in this thread's lane.
#[inline]
pub fn increment(counter: impl Into<CounterId>) {
    add(counter, 1);
}

/// The counter's sum over all threads that ever were. Never falls from one call to a later one.
pub fn sum(counter: impl Into<CounterId>) -> u64 {
    let index = counter.into().index();
    // Relaxed: see `bump`. Each word only grows, and so does the number of lanes, so later sums are not smaller.
    blocks().map(|block| block.counters[index].load(Ordering::Relaxed)).fold(0, u64::wrapping_add)
}

/// All blocks that ever belonged to a thread.
pub(crate) fn blocks() -> impl Iterator<Item = &'static Block> {
    let lanes: &'static Lanes<Block> = &BLOCKS;
    lanes.iter_below(sync::thread_lane_high_water())
}
