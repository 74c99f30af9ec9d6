//! The pool's size while it is in use.
//!
//! A frame is a number, the right to keep one page in memory, and a page lies at its own address whichever frame it has. So a
//! larger pool is a greater bound of the numbers, from one moment to the next: tables and addresses are reserved for as many
//! frames as there are pages. A smaller pool gives up the frames from its new size on:
//!
//! ```text
//!             0                          size                     opened
//!  frames     ├────────────────────────────┼─────────────────────────┤
//!                  ▲                            │
//!                  └──── pages take frames ─────┘  those that stay in memory: a few words, no byte of the page
//!                        of evicted ones           is moved
//! ```
//!
//! The cleaner does that, some frames a round, beside its other work ([`Pool::withdraw`]); everybody else goes on, in the frames below
//! the new size. A frame from there on is *withdrawn* when nobody has it: from then on it is in no list and holds no page. When all
//! are, the pool is as if it had begun with its new size.
//!
//! Only the cleaner moves pages between frames, and it is also the one who looks for the oldest change that is not on disk, frame by
//! frame: so no dirty page slips from a frame that it has yet to look at to one that it has seen.

use super::{PAGE_BYTES, Pool};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::SystemTime;
use sync::page_latch::TryLatch;
use sync::{Mutex, Rank};

/// Frames that are withdrawn in a round of the cleaner.
const WITHDRAWN_AT_ONCE: usize = 2048;
/// Pages evicted, and looked at for them, at a time.
const EVICTED_AT_ONCE: usize = 64;
const LOOKS_AT_ONCE: usize = 256;

/// How far a change of the pool's size has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResizeStage {
    /// The size is that of the start.
    Never,
    /// It was set to what it was, in bytes.
    Unchanged {
        bytes: u64,
    },
    /// Frames that are given up, and how many of them are.
    Withdrawing {
        withdrawn: u64,
        of: u64,
    },
    Completed {
        at: SystemTime,
    },
    /// There is no address space for so many pages: the size stayed what it was.
    Failed {
        at: SystemTime,
    },
}

/// Why the pool keeps its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResizeRefused {
    /// It is still being made smaller.
    InProgress,
    /// There is no address space for so many pages.
    TooLarge,
}

/// What the pool knows of its size.
pub(super) struct Resize {
    /// W: who resizes. R: misses, eviction, the cleaner.
    frames: AtomicU32,
    /// Frames that were given up on the way to a smaller pool; 0 when it has been reached. W: who gives frames back, the cleaner.
    withdrawn: AtomicU32,
    /// W: who resizes, the cleaner at the end. R: who asks. Held while the size changes.
    stage: Mutex<ResizeStage>,
}

impl Resize {
    pub(super) fn new(frames: usize) -> Resize {
        let frames = u32::try_from(frames).expect("a frame is a number of 32 bits");
        Resize {
            frames: AtomicU32::new(frames),
            withdrawn: AtomicU32::new(0),
            stage: Mutex::new(Rank::PagePool, ResizeStage::Never),
        }
    }

    pub(super) fn frames(&self) -> usize {
        // Relaxed: only the number matters; who acts on an old one is put right by the cleaner.
        self.frames.load(Ordering::Relaxed) as usize
    }

    pub(super) fn withdrawn(&self) -> usize {
        // Relaxed: a number; a frame that it counts was emptied under its page's latch.
        self.withdrawn.load(Ordering::Relaxed) as usize
    }
}

impl Pool {
    /// Makes the pool as large as `bytes`, in whole pages. A smaller pool is reached in the background: [`Pool::resize_stage`].
    pub fn resize(&self, bytes: u64) -> Result<(), ResizeRefused> {
        let mut stage = self.size.stage.lock();
        if self.is_shrinking() {
            return Err(ResizeRefused::InProgress);
        }
        let (old, new) = (self.frame_count() as u64, bytes / PAGE_BYTES as u64);
        if new > self.page_count().min(u32::MAX.into()) {
            *stage = ResizeStage::Failed { at: SystemTime::now() };
            return Err(ResizeRefused::TooLarge);
        }
        if new == old {
            *stage = ResizeStage::Unchanged { bytes };
            return Ok(());
        }
        if new > old {
            self.spread_huge_pages(new as usize * PAGE_BYTES);
        }
        // Relaxed: as in `frames`.
        self.size.frames.store(new as u32, Ordering::Relaxed);
        *stage = match self.is_shrinking() {
            true => ResizeStage::Withdrawing { withdrawn: 0, of: 0 },
            false => ResizeStage::Completed { at: SystemTime::now() },
        };
        drop(stage);
        self.set_settings(self.settings());
        self.want_cleaning();
        Ok(())
    }

    pub fn resize_stage(&self) -> ResizeStage {
        let stage = *self.size.stage.lock();
        match stage {
            ResizeStage::Withdrawing { .. } => ResizeStage::Withdrawing {
                withdrawn: self.size.withdrawn() as u64,
                of: u64::from(self.opened_frames()).saturating_sub(self.frame_count() as u64),
            },
            stage => stage,
        }
    }

    /// Are there frames to give up?
    pub(super) fn is_shrinking(&self) -> bool {
        self.opened_frames() as usize > self.frame_count()
    }

    /// Takes frames out of use that are beyond the pool's size, and leaves the others.
    pub(super) fn withhold(&self, frames: &mut Vec<u32>) {
        let size = self.frame_count() as u32;
        let before = frames.len();
        frames.retain(|frame| *frame < size);
        // Relaxed: as in `withdrawn`. Each is counted once, for nobody gets it again.
        self.size.withdrawn.fetch_add((before - frames.len()) as u32, Ordering::Relaxed);
    }

    /// A round of giving frames up. True: it got on, and there is more to do. By the cleaner's thread, between batches.
    pub(super) fn withdraw(&self) -> bool {
        // Relaxed: as in `leave_huge_pages`. They were for a pool that could hold all pages there.
        if self.huge.load(Ordering::Relaxed) > self.frame_count() * PAGE_BYTES {
            self.leave_huge_pages();
        }
        if !self.is_shrinking() {
            return false;
        }
        let (size, opened) = (self.frame_count(), self.opened_frames() as usize);
        let before = self.size.withdrawn();
        self.withhold(&mut self.free.take_from(size as u32));
        // Relaxed: a guess.
        let occupied = self.frames[size..opened].iter().filter(|page| page.load(Ordering::Relaxed) != 0).count();
        let mut spare = self.spare_frames(occupied.min(WITHDRAWN_AT_ONCE));
        let mut emptied = self.replacer.lock().vacate(self, size as u32, &mut spare);
        self.withhold(&mut emptied);
        self.give(&spare);
        let withdrawn = self.size.withdrawn();
        // After that number: frames that it counts were opened before.
        let opened = self.opened_frames() as usize;
        let done = withdrawn == opened - size && self.finish_shrinking(size..opened);
        !done && withdrawn > before
    }

    /// Frames for pages that stay: free ones, and those of pages that are evicted. Fewer where pages have to be written first.
    fn spare_frames(&self, want: usize) -> Vec<u32> {
        let mut spare = Vec::with_capacity(want);
        while spare.len() < want && self.free.count() > self.free_target() {
            let Some(frame) = self.free.pop() else { break };
            spare.push(frame);
        }
        self.withhold(&mut spare);
        let mut looks = 2 * self.opened_frames() as usize;
        while spare.len() < want && looks > 0 {
            let mut freed = self.evict(EVICTED_AT_ONCE, LOOKS_AT_ONCE);
            if freed.is_empty() && self.is_eviction_behind() {
                break;
            }
            self.withhold(&mut freed);
            spare.append(&mut freed);
            looks = looks.saturating_sub(LOOKS_AT_ONCE);
        }
        spare
    }

    /// All frames beyond the size are withdrawn. False: somebody has opened some meanwhile, by the size from before.
    fn finish_shrinking(&self, gone: Range<usize>) -> bool {
        let mut stage = self.size.stage.lock();
        let mut replacer = self.replacer.lock_same_rank();
        let (from, to) = (gone.end as u64, gone.start as u64);
        // Release: pairs with the Acquire in `open_frames`; who comes later goes by the new size. Relaxed: then there is another round.
        if self.opened.compare_exchange(from, to, Ordering::Release, Ordering::Relaxed).is_err() {
            return false;
        }
        // Relaxed: as in `withdrawn`.
        self.size.withdrawn.store(0, Ordering::Relaxed);
        replacer.end_at(gone.start as u32);
        // Nobody has these frames, and they are zero but for times that nobody asks for.
        self.frames.forget(gone.clone());
        self.dirty_since.forget(gone.clone());
        self.loaded_ms.forget(gone);
        *stage = ResizeStage::Completed { at: SystemTime::now() };
        true
    }

    /// Gives the page in one frame the other one, which is free and which nobody else can find. False: the page is latched, or gone.
    fn move_page(&self, from: u32, to: u32) -> bool {
        let Some(id) = self.page_in(from) else { return false };
        let meta = self.meta(id);
        let marked = meta.latch.is_marked();
        if meta.latch.try_exclusive() != TryLatch::Acquired {
            return false;
        }
        let (old, new) = (from as usize, to as usize);
        let here = self.page_in(from) == Some(id);
        if here {
            // Relaxed: all of it is read under the latch, or is a guess. The cleaner's scan for the oldest change is this thread's own.
            let (since, loaded) = (&self.dirty_since[old], &self.loaded_ms[old]);
            self.dirty_since[new].store(since.load(Ordering::Relaxed), Ordering::Relaxed);
            self.loaded_ms[new].store(loaded.load(Ordering::Relaxed), Ordering::Relaxed);
            // Relaxed: as above.
            meta.frame.store(to, Ordering::Relaxed);
            // Relaxed: as above.
            self.frames[new].store(id + 1, Ordering::Relaxed);
            self.frames[old].store(0, Ordering::Relaxed);
            self.dirty_since[old].store(0, Ordering::Relaxed);
        }
        meta.latch.unlock_exclusive_unchanged();
        if here && marked {
            meta.latch.mark();
        }
        here
    }

    /// Gives pages in these frames spare ones instead. Returns what was exchanged for what.
    pub(super) fn move_pages(&self, from: impl Iterator<Item = u32>, spare: &mut Vec<u32>) -> HashMap<u32, u32> {
        let mut moved = HashMap::new();
        for frame in from {
            let Some(to) = spare.pop() else { break };
            match self.move_page(frame, to) {
                true => drop(moved.insert(frame, to)),
                false => spare.push(to),
            }
        }
        moved
    }

    /// The page's bytes may lie in huge pages as far as a larger pool can hold all pages there.
    fn spread_huge_pages(&self, bytes: usize) {
        // Relaxed: a guess.
        let old = self.huge.load(Ordering::Relaxed);
        let new = bytes.min(self.page_count() as usize * PAGE_BYTES);
        if old == 0 || self.pages.advise_huge_pages(old..new, true).is_err() {
            return;
        }
        // Relaxed: whoever changes the number from what it saw does the work.
        if self.huge.compare_exchange(old, new, Ordering::Relaxed, Ordering::Relaxed).is_err() {
            // They were left meanwhile.
            self.split_huge_pages(old..new);
        }
    }
}
