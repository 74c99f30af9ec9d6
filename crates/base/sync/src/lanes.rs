//! Lanes: one padded slot per thread or session, written by its owner alone, read by whoever wants the sum.
//!
//! ```text
//! LaneSet   high water ──────────────┐   a read-mostly word: lanes ever claimed at once
//!           bitmap  1 1 0 1 1 0 0 0 …│   claim takes the lowest zero
//! Lanes     slots   A B . D E        │   64 slots a chunk, a chunk allocated when first needed
//! ```
//! Claiming and releasing are rare (a thread starts, a session connects); using a lane touches nothing shared.

use crate::shim::atomic::{AtomicU64, AtomicUsize, Ordering};
use crossbeam_utils::CachePadded;
use std::sync::OnceLock;

const WORD_BITS: usize = 64;
/// Slots in a chunk of [`Lanes`]: one bitmap word's worth.
const CHUNK_SLOTS: usize = WORD_BITS;

/// Slots of 64 neighbouring lanes.
type Chunk<T> = Box<[CachePadded<T>; CHUNK_SLOTS]>;

/// The number of a lane: below the capacity of its set, and small while few are claimed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LaneId(u32);

impl LaneId {
    /// The lane's position, from 0.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// The lane at `index`. For callers that keep lane numbers in packed words.
    #[inline]
    pub fn from_index(index: usize) -> LaneId {
        LaneId(u32::try_from(index).expect("a lane number fits 32 bits"))
    }
}

/// Which lanes are taken.
#[derive(Debug)]
pub struct LaneSet {
    /// Lanes 0..high_water have been claimed at least once. Never falls. W: `claim`. R: whoever iterates.
    high_water: CachePadded<AtomicUsize>,
    /// A set bit is a claimed lane. W: `claim`, `release`. R: `iter`.
    bitmap: Box<[AtomicU64]>,
    capacity: usize,
}

impl LaneSet {
    pub fn new(capacity: usize) -> Self {
        assert!(capacity > 0 && capacity <= u32::MAX as usize);
        let words = capacity.div_ceil(WORD_BITS);
        LaneSet {
            high_water: CachePadded::new(AtomicUsize::new(0)),
            bitmap: (0..words).map(|_| AtomicU64::new(0)).collect(),
            capacity,
        }
    }

    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Takes the lowest free lane; none when all are taken.
    pub fn claim(&self) -> Option<LaneId> {
        for (at, word) in self.bitmap.iter().enumerate() {
            // Relaxed: only a guess for the exchange below.
            let mut bits = word.load(Ordering::Relaxed);
            loop {
                let bit = bits.trailing_ones() as usize;
                let index = at * WORD_BITS + bit;
                if bit == WORD_BITS || index >= self.capacity {
                    break;
                }
                // Acquire: pairs with Release in `release`; the new owner sees all that the former one wrote to the lane.
                // Release: pairs with Acquire in `iter`; who sees the bit sees what was done to prepare the lane.
                match word.compare_exchange_weak(bits, bits | 1 << bit, Ordering::AcqRel, Ordering::Relaxed) {
                    Ok(_) => {
                        // Release: pairs with Acquire in `high_water`.
                        self.high_water.fetch_max(index + 1, Ordering::Release);
                        return Some(LaneId::from_index(index));
                    }
                    Err(now) => bits = now,
                }
            }
        }
        None
    }

    /// Gives the lane back. Its owner must be done with it.
    pub fn release(&self, lane: LaneId) {
        let bit = 1 << (lane.index() % WORD_BITS);
        // Release: pairs with Acquire in `claim`.
        let before = self.bitmap[lane.index() / WORD_BITS].fetch_and(!bit, Ordering::Release);
        assert!(before & bit != 0, "lane {} is released twice", lane.index());
    }

    /// Lanes at and above this number were never claimed.
    #[inline]
    pub fn high_water(&self) -> usize {
        // Acquire: pairs with Release in `claim`.
        self.high_water.load(Ordering::Acquire)
    }

    /// The lanes claimed now, in rising order. Lanes that are claimed or released meanwhile may or may not be among them.
    pub fn iter(&self) -> impl Iterator<Item = LaneId> + '_ {
        let words = self.high_water().div_ceil(WORD_BITS);
        self.bitmap[..words].iter().enumerate().flat_map(|(at, word)| {
            // Acquire: pairs with Release in `claim`.
            let mut bits = word.load(Ordering::Acquire);
            std::iter::from_fn(move || {
                if bits == 0 {
                    return None;
                }
                let bit = bits.trailing_zeros() as usize;
                bits &= bits - 1;
                Some(LaneId::from_index(at * WORD_BITS + bit))
            })
        })
    }
}

/// A slot of type `T` for each lane of a set, each on its own cache lines.
///
/// A slot keeps its value when its lane is released, so counters in it go on from where the former owner left them.
#[derive(Debug)]
pub struct Lanes<T> {
    set: LaneSet,
    chunks: Box<[OnceLock<Chunk<T>>]>,
    init: fn() -> T,
}

impl<T: Default> Lanes<T> {
    /// Room for `capacity` lanes; memory is taken by chunks of 64 slots when first claimed.
    pub fn new(capacity: usize) -> Self {
        Self::with(capacity, T::default)
    }
}

impl<T> Lanes<T> {
    /// As [`Lanes::new`], with slots made by `init`.
    pub fn with(capacity: usize, init: fn() -> T) -> Self {
        let set = LaneSet::new(capacity);
        let chunks = (0..capacity.div_ceil(CHUNK_SLOTS)).map(|_| OnceLock::new()).collect();
        Lanes { set, chunks, init }
    }

    pub fn capacity(&self) -> usize {
        self.set.capacity()
    }

    /// Takes the lowest free lane; none when all are taken.
    pub fn claim(&self) -> Option<LaneId> {
        let lane = self.set.claim()?;
        self.get_or_allocate(lane);
        Some(lane)
    }

    /// Gives the lane back. Its owner must be done with it; the slot keeps its value.
    pub fn release(&self, lane: LaneId) {
        self.set.release(lane);
    }

    /// The slot of a lane that was claimed here. Callers on hot paths keep the reference.
    #[inline]
    pub fn get(&self, lane: LaneId) -> &T {
        self.slot(lane.index()).expect("a claimed lane has its slot")
    }

    /// The slot of any lane below the capacity, allocated when need be. For lanes claimed in another set, such as
    /// [`crate::thread_lane`].
    pub fn get_or_allocate(&self, lane: LaneId) -> &T {
        assert!(lane.index() < self.set.capacity);
        let chunk = self.chunks[lane.index() / CHUNK_SLOTS].get_or_init(|| {
            // Not made on the stack, which a chunk may be too large for.
            let slots: Box<[_]> = (0..CHUNK_SLOTS).map(|_| CachePadded::new((self.init)())).collect();
            slots.try_into().ok().expect("as many as a chunk has")
        });
        &chunk[lane.index() % CHUNK_SLOTS]
    }

    /// Lanes at and above this number were never claimed.
    pub fn high_water(&self) -> usize {
        self.set.high_water()
    }

    /// The claimed lanes with their slots. Lanes that are claimed or released meanwhile may or may not be among them.
    pub fn iter_claimed(&self) -> impl Iterator<Item = (LaneId, &T)> + '_ {
        self.set.iter().filter_map(|lane| Some((lane, self.slot(lane.index())?)))
    }

    /// Slots 0..`lanes`, claimed now or not, as far as they were ever allocated: for sums that must not fall when a lane is released.
    pub fn iter_below(&self, lanes: usize) -> impl Iterator<Item = &T> + '_ {
        let lanes = lanes.min(self.set.capacity);
        // By chunks: of a large set few are allocated, and the others cost one look each.
        let chunks = self.chunks[..lanes.div_ceil(CHUNK_SLOTS)].iter().enumerate();
        chunks.filter_map(|(at, chunk)| Some((at, chunk.get()?))).flat_map(move |(at, chunk)| {
            let slots = CHUNK_SLOTS.min(lanes - at * CHUNK_SLOTS);
            chunk[..slots].iter().map(|slot| &**slot)
        })
    }

    #[inline]
    fn slot(&self, index: usize) -> Option<&T> {
        Some(&self.chunks[index / CHUNK_SLOTS].get()?[index % CHUNK_SLOTS])
    }
}
