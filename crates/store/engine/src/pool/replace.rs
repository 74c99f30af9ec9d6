//! Which page goes when a frame is needed.
//!
//! ```text
//!             loaded                    demoted: not read since the last round
//!               │          ┌──────────────────────────────────────────────┐
//!               ▼          ▼                                              │
//!  old:   ┌──────────────────────┬───────────────────────┐      young: ┌──┴──────────────────┐
//!         │ not marked yet       │ marked                ├────────────►│ a clock             │
//!         └──────────────────────┴──────────┬────────────┘  read since └─────────────────────┘
//!                                           ▼               it was marked
//!                                        evicted, after it was written if it is dirty
//! ```
//!
//! New pages are *old*, as with InnoDB's midpoint: a queue of `innodb_old_blocks_pct` of the frames, or of all that are not
//! *young*. A page is marked when `innodb_old_blocks_time` has passed since it was loaded, at the latest in the middle of the queue. Who
//! reads it from then on takes the mark off, and at the queue's end it becomes young; else it is evicted. So pages of a scan, which reads
//! each for a moment soon after it was loaded, pass through the queue and displace each other, not what others use. Young pages go
//! round: the first time they are marked, the next time those still marked become old again. (Compare S3-FIFO, Yang et
//! al., SOSP 2023.)
//!
//! A mark is a state of the page's latch, so reading a page that is not marked writes nothing. A page that was read ahead is marked from
//! the beginning, which tells whether anybody has used it since; that alone does not evict it.

use super::{PageMeta, Pool};
use crate::page::PageId;
use crate::space;
use observe::Counter;
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::Ordering;

/// Pages marked, or young pages looked at, for one that leaves the queue.
const MARKS_AT_ONCE: usize = 64;
const DEMOTIONS_AT_ONCE: usize = 4;
/// Pages that are still to be written are looked at so many times in a row.
const DIRTY_LOOKS: usize = 4;

/// A frame in a queue.
#[derive(Clone, Copy)]
struct Place {
    frame: u32,
    /// The low half of the id of the page that was marked here, plus one; 0: none was.
    marked: u32,
}

/// Every frame in use is in one of the queues. Under a mutex of the pool's.
#[derive(Default)]
pub struct Replacer {
    old: VecDeque<Place>,
    /// So many places at the front of `old` have been marked.
    marked: usize,
    young: VecDeque<Place>,
    /// Pages at the end of `old` that have to be written first.
    dirty: VecDeque<Place>,
    /// Frames that are in the queues: those opened so far.
    known: u32,
}

/// What became of an attempt to evict the page in a frame.
enum Eviction {
    /// It is latched exclusively and its frame empty: discard it, then [`sync::PageLatch::set_evicted`].
    Claimed(PageId),
    /// It was read since it was marked.
    Used,
    Dirty,
    /// Nothing is in the frame, or what is there was not marked yet, or somebody has it latched.
    NotYet,
}

impl Replacer {
    /// Claims up to `want` pages to evict, looking at `looks` at most, and puts (page, frame) to `claimed`. Stops when
    /// `dirty_max` pages wait to be written.
    pub fn claim(
        &mut self,
        pool: &Pool,
        want: usize,
        looks: usize,
        dirty_max: usize,
        claimed: &mut Vec<(PageId, u32)>,
    ) {
        let policy = pool.old_blocks();
        self.learn(pool.opened_frames());
        self.claim_written(pool, want, claimed);
        // Of the frames that the pool is to have: while it shrinks more of them are known.
        let frames = pool.frame_count().min(self.known as usize);
        let young_max = (frames * (100 - policy.pct as usize) / 100).max(1);
        for _ in 0..looks {
            if claimed.len() >= want || self.dirty.len() >= dirty_max {
                break;
            }
            self.demote(pool, young_max);
            self.mark(pool, policy.time_ms);
            let Some(place) = self.old.pop_front() else { break };
            self.marked = self.marked.saturating_sub(1);
            self.settle(pool, place, claimed);
        }
    }

    /// Frames opened since the last time hold new pages.
    fn learn(&mut self, opened: u32) {
        self.old.extend((self.known..opened).map(|frame| Place { frame, marked: 0 }));
        self.known = opened;
    }

    /// Pages that had to be written and are.
    fn claim_written(&mut self, pool: &Pool, want: usize, claimed: &mut Vec<(PageId, u32)>) {
        let mut misses = 0;
        for _ in 0..self.dirty.len() {
            if claimed.len() >= want || misses >= DIRTY_LOOKS {
                break;
            }
            let place = self.dirty.pop_front().expect("as many as counted");
            let before = self.dirty.len();
            self.settle(pool, place, claimed);
            misses += (self.dirty.len() > before) as usize;
        }
    }

    /// A page at the end of a queue: where it goes.
    fn settle(&mut self, pool: &Pool, place: Place, claimed: &mut Vec<(PageId, u32)>) {
        let unmarked = Place { marked: 0, ..place };
        match try_evict(pool, place) {
            Eviction::Claimed(id) => {
                claimed.push((id, place.frame));
                // Whatever comes to this frame is new.
                self.old.push_back(unmarked);
            }
            Eviction::Used => self.young.push_back(unmarked),
            Eviction::Dirty => self.dirty.push_back(place),
            Eviction::NotYet => self.old.push_back(unmarked),
        }
    }

    /// Lets young pages grow old while there are too many.
    fn demote(&mut self, pool: &Pool, young_max: usize) {
        for _ in 0..DEMOTIONS_AT_ONCE {
            if self.young.len() <= young_max {
                return;
            }
            let place = self.young.pop_front().expect("more than `young_max`");
            let page = pool.page_in(place.frame);
            match page {
                Some(id) if place.marked != tag(id) || !pool.meta(id).latch.is_marked() => {
                    pool.meta(id).latch.mark();
                    self.young.push_back(Place { marked: tag(id), ..place });
                }
                _ => self.old.push_back(Place { marked: 0, ..place }),
            }
        }
    }

    /// Marks pages of the front half, and those behind it that have been there long enough.
    fn mark(&mut self, pool: &Pool, old_ms: u32) {
        let half = self.old.len() / 2;
        for _ in 0..MARKS_AT_ONCE {
            let Some(place) = self.old.get_mut(self.marked) else { return };
            let page = pool.page_in(place.frame);
            if self.marked >= half && (page.is_none() || pool.ms_since_load(place.frame) < old_ms) {
                return;
            }
            if let Some(id) = page {
                let meta = pool.meta(id);
                let used = meta.latch.mark();
                if used {
                    meta.note_used();
                }
                if used || meta.latch.is_marked() {
                    place.marked = tag(id);
                }
            }
            self.marked += 1;
        }
    }

    /// Gives pages in frames from `size` on spare ones instead, as many as there are; the pages keep their places. Returns the frames that
    /// they had.
    pub fn vacate(&mut self, pool: &Pool, size: u32, spare: &mut Vec<u32>) -> Vec<u32> {
        self.learn(pool.opened_frames());
        let moved = pool.move_pages(self.places().map(|place| place.frame).filter(|frame| *frame >= size), spare);
        if moved.is_empty() {
            return Vec::new();
        }
        let exchanged: HashMap<u32, u32> = moved.iter().flat_map(|(&a, &b)| [(a, b), (b, a)]).collect();
        for place in self.dirty.iter_mut().chain(&mut self.old).chain(&mut self.young) {
            place.frame = *exchanged.get(&place.frame).unwrap_or(&place.frame);
        }
        moved.into_keys().collect()
    }

    /// The frames from `size` on are in use no more.
    pub fn end_at(&mut self, size: u32) {
        self.learn(size);
        self.marked = self.old.iter().take(self.marked).filter(|place| place.frame < size).count();
        for queue in [&mut self.old, &mut self.young, &mut self.dirty] {
            queue.retain(|place| place.frame < size);
            queue.shrink_to(size as usize);
        }
        self.known = size;
    }

    /// Places of all frames in use, those first whose pages will go first.
    fn places(&self) -> impl Iterator<Item = &Place> {
        self.dirty.iter().chain(&self.old).chain(&self.young)
    }

    /// Pages that wait to be written.
    pub fn dirty(&self, pool: &Pool) -> impl Iterator<Item = PageId> {
        self.dirty.iter().filter_map(|place| pool.page_in(place.frame))
    }

    /// All frames in use, those first whose pages will go first.
    pub fn order(&mut self, pool: &Pool) -> Vec<u32> {
        self.learn(pool.opened_frames());
        self.places().map(|place| place.frame).collect()
    }
}

fn tag(id: PageId) -> u32 {
    (id as u32).wrapping_add(1).max(1)
}

fn try_evict(pool: &Pool, place: Place) -> Eviction {
    let frame = place.frame as usize;
    let Some(id) = pool.page_in(place.frame) else { return Eviction::NotYet };
    // Maps are asked for while other pages are latched, so they stay: one page in 224 MiB.
    if space::is_map(id) {
        return Eviction::Used;
    }
    if place.marked != tag(id) {
        return Eviction::NotYet;
    }
    let meta = pool.meta(id);
    if !meta.latch.is_marked() {
        meta.note_used();
        return Eviction::Used;
    }
    // Acquire: pairs with the Release at a batch's end.
    let clean = || pool.dirty_since[frame].load(Ordering::Relaxed) == 0 && meta.in_flight.load(Ordering::Acquire) == 0;
    if !clean() {
        return Eviction::Dirty;
    }
    if !meta.latch.try_claim_marked() {
        return Eviction::Used;
    }
    // Exclusive now: neither a writer nor the cleaner (which starts under the shared latch) can make it dirty or in flight.
    // Relaxed: our exclusive latch pairs with the release by whoever stored it.
    if !clean() || pool.page_in(place.frame) != Some(id) {
        meta.latch.unlock_exclusive_unchanged();
        return Eviction::Dirty;
    }
    // Relaxed: the end of the latch's hold releases it.
    pool.frames[frame].store(0, Ordering::Relaxed);
    if meta.ahead.load(Ordering::Relaxed) != 0 {
        observe::increment(Counter::InnodbBufferPoolReadAheadEvicted);
    }
    Eviction::Claimed(id)
}

impl PageMeta {
    /// A page that was read ahead is marked from the beginning: somebody has taken the mark off.
    fn note_used(&self) {
        // Relaxed: for a counter. The page may be another one's by now, which then counts as used.
        if self.ahead.load(Ordering::Relaxed) != 0 {
            self.ahead.store(0, Ordering::Relaxed);
        }
    }
}
