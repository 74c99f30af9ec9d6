//! The blocks of words that threads and sessions count in.

use crate::counters::{Counter, CounterId};
use crate::histogram::{self, Timer};
use crate::table_io::TableCells;
use std::cell::{Cell, OnceCell};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use sync::{LaneId, Lanes};

/// Words in a lane: the counters of [`Counter`], then those registered at start.
pub(crate) const COUNTERS_MAX: usize = 512;
const _: () = assert!(Counter::ALL.len() < COUNTERS_MAX);

/// Rises with each of the counters that few statements touch: one look says whether any of them did.
pub const RARE: CounterId = CounterId(COUNTERS_MAX as u16 - 1);

/// What one thread or session counts in. W: the thread, or the one that serves the session, alone. R: whoever sums.
pub(crate) struct Block {
    pub(crate) counters: [AtomicU64; COUNTERS_MAX],
    pub(crate) timers: [histogram::Cells; Timer::ALL.len()],
    pub(crate) tables: TableCells,
}

impl Default for Block {
    fn default() -> Self {
        Block {
            counters: [const { AtomicU64::new(0) }; COUNTERS_MAX],
            timers: Default::default(),
            tables: TableCells::default(),
        }
    }
}

/// Most threads and active sessions that can count at once.
pub const BLOCKS_MAX: usize = 1 << 18;

pub(crate) static BLOCKS: LazyLock<Lanes<Block>> = LazyLock::new(|| Lanes::new(BLOCKS_MAX));

/// A block with one owner, a thread or a session. It keeps its counts when it is given back; the next owner goes on from them.
#[derive(Debug)]
pub(crate) struct Claim(LaneId);

impl Claim {
    /// # Panics
    /// When [`BLOCKS_MAX`] blocks are taken.
    pub(crate) fn new() -> Claim {
        Claim(BLOCKS.claim().expect("fewer threads and sessions than blocks to count in"))
    }

    /// Its number, for whoever looks it up.
    pub(crate) fn number(&self) -> u64 {
        self.0.index() as u64
    }

    pub(crate) fn block(&self) -> &'static Block {
        let lanes: &'static Lanes<Block> = &BLOCKS;
        lanes.get(self.0)
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        BLOCKS.release(self.0);
    }
}

thread_local! {
    /// Where this thread counts: in its own block, or in that of the session that it serves. No destructor, so no
    /// registration check on access.
    static BLOCK: Cell<Option<&'static Block>> = const { Cell::new(None) };
    static OWN: OnceCell<Own> = const { OnceCell::new() };
}

/// A thread's own block, given back when the thread ends.
struct Own(Claim);

impl Drop for Own {
    fn drop(&mut self) {
        BLOCK.set(None);
    }
}

/// What this thread counts in.
#[inline]
pub(crate) fn block() -> &'static Block {
    match BLOCK.get() {
        Some(block) => block,
        None => block_slow(),
    }
}

/// From now on this thread counts in `block`; `None`: in its own.
#[inline]
pub(crate) fn count_in(block: Option<&'static Block>) {
    BLOCK.set(block);
}

#[cold]
fn block_slow() -> &'static Block {
    let own = OWN.try_with(|own| own.get_or_init(|| Own(Claim::new())).0.block());
    // A thread that counts while its locals are torn down takes a block for good.
    let block = own.unwrap_or_else(|_| std::mem::ManuallyDrop::new(Claim::new()).block());
    BLOCK.set(Some(block));
    block
}

/// Adds to a word that only the calling thread writes at this time: a plain load and store, no `lock` prefix.
#[inline]
pub(crate) fn bump(word: &AtomicU64, n: u64) {
    // Relaxed: single writer. Readers pair with nothing; they want a recent figure of each word, not a common moment.
    word.store(word.load(Ordering::Relaxed).wrapping_add(n), Ordering::Relaxed);
}

/// This thread's lane, for who counts several things at once: it is looked for once.
#[derive(Clone, Copy)]
pub struct Lane(&'static Block);

/// The lane that this thread counts in now. Not to be kept across a command: the thread may serve another session then.
#[inline]
pub fn lane() -> Lane {
    Lane(block())
}

impl Lane {
    /// Adds `n` to the counter.
    #[inline]
    pub fn add(self, counter: impl Into<CounterId>, n: u64) {
        let counter = counter.into();
        bump(&self.0.counters[counter.index()], n);
        if counter.is_rare() {
            bump(&self.0.counters[RARE.index()], 1);
        }
    }

    /// What stands in this lane: to see what is added between two looks, while the thread counts for one session.
    #[inline]
    pub fn get(self, counter: impl Into<CounterId>) -> u64 {
        // Relaxed: written by this thread.
        self.0.counters[counter.into().index()].load(Ordering::Relaxed)
    }

    /// Adds 1 to the counter.
    #[inline]
    pub fn increment(self, counter: impl Into<CounterId>) {
        self.add(counter, 1);
    }
}

/// Adds `n` to the counter, in this thread's lane.
#[inline]
pub fn add(counter: impl Into<CounterId>, n: u64) {
    lane().add(counter, n);
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

/// All blocks that ever had an owner.
pub(crate) fn blocks() -> impl Iterator<Item = &'static Block> {
    let lanes: &'static Lanes<Block> = &BLOCKS;
    lanes.iter_below(lanes.high_water())
}
