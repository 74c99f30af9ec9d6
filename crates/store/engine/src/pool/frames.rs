//! Frames for pages that come into memory: free ones, fresh ones, or those of pages that are evicted.
//!
//! The cleaner keeps some frames free ahead of need ([`Pool::refill`]), so that a miss takes one from its thread's own stack and
//! goes to the disk. When there is none it evicts a page itself, if a look at some dozens shows a clean one; else it sleeps
//! until a batch of pages is written.

use super::{Frame, Pool};
use crate::page::PageId;
use crate::{Error, Result};
use observe::Counter;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
use std::time::{Duration, Instant};
use sync::blocking;
use sync::futex;
use sync::waits::Wait;

/// Frames opened at a time, while there are some that never held a page.
const OPENED_AT_ONCE: u64 = 16;
/// Pages that a miss evicts at a time, and looks at for them.
const EVICTED_AT_ONCE: usize = 8;
const LOOKS_AT_ONCE: usize = 64;
/// Pages that a miss looks at before it waits.
const LOOKS_MAX: usize = 512;
/// So long a miss waits for a frame.
const PATIENCE: Duration = Duration::from_secs(20);

/// Frames beyond those kept free that a load of the list leaves, too: for as many readers at once.
const UNUSED_KEPT: usize = 16;

impl Pool {
    /// Frames that have been in use: their numbers are below.
    pub(super) fn opened_frames(&self) -> u32 {
        // Relaxed: a frame opened later holds a page that came later; who makes it less is the cleaner, and empties them first.
        self.opened.load(Ordering::Relaxed) as u32
    }

    /// The page in a frame, a moment ago.
    pub(super) fn page_in(&self, frame: u32) -> Option<PageId> {
        // Relaxed: a guess, looked at again under the latch.
        self.frames[frame as usize].load(Ordering::Relaxed).checked_sub(1)
    }

    /// Since a page was put into the frame; wraps after seven weeks.
    pub(super) fn ms_since_load(&self, frame: u32) -> u32 {
        // Relaxed: a guess.
        self.clock_ms().wrapping_sub(self.loaded_ms[frame as usize].load(Ordering::Relaxed))
    }

    /// Milliseconds that the cleaner's rounds have taken.
    pub(super) fn clock_ms(&self) -> u32 {
        // Relaxed: a clock that is about right.
        (self.clock_us.load(Ordering::Relaxed) / 1000) as u32
    }

    pub(super) fn advance_clock(&self, elapsed: Duration) {
        // Relaxed: as above; only the cleaner writes it.
        self.clock_us.fetch_add(elapsed.as_micros() as u64, Ordering::Relaxed);
    }

    /// The right to bring one more page into memory. Waits until a frame is clean and unused, so: before pages are latched.
    pub fn reserve_frame(&self) -> Result<Frame<'_>> {
        Ok(Frame { pool: self, index: self.take_frame()? })
    }

    pub(super) fn take_frame(&self) -> Result<u32> {
        match self.take_free_frame() {
            Some(frame) => Ok(frame),
            None => self.take_frame_slow(),
        }
    }

    /// A frame that nobody has to wait for.
    pub(super) fn take_free_frame(&self) -> Option<u32> {
        if self.has_fresh_frames() {
            self.open_frames();
        }
        let frame = self.free.pop();
        // Not each time: a call to the kernel.
        let left = self.free.count();
        if left < self.free_min() && left.is_multiple_of(16) {
            self.want_cleaning();
        }
        frame
    }

    /// Frames for neighbouring pages that nobody needs yet, up to `count`: of pages that go for them, else free ones beyond half of
    /// what is kept free. Frames that are filled together stand side by side in the replacer's queue, so that the neighbours will go
    /// together.
    pub(super) fn frames_ahead(&self, count: usize) -> Vec<u32> {
        let mut frames = Vec::new();
        if !self.has_fresh_frames() && self.free.count() <= self.free_target() {
            frames = self.evict(count, LOOKS_AT_ONCE);
            if self.free.count() <= self.free_min() {
                self.give(&std::mem::take(&mut frames));
                self.want_cleaning();
            }
        }
        while frames.len() < count && (self.has_fresh_frames() || self.free.count() > self.free_min()) {
            let Some(frame) = self.take_free_frame() else { break };
            frames.push(frame);
        }
        frames
    }

    /// A frame for a page that is brought without being asked for, and for whose sake none is to go.
    pub(super) fn unused_frame(&self) -> Option<u32> {
        let fresh = self.frame_count().saturating_sub(self.opened_frames() as usize);
        // Others look at the same moment, and below the target pages would go to make up for what they all took.
        if fresh + self.free.count() > self.free_target() + UNUSED_KEPT { self.take_free_frame() } else { None }
    }

    /// Are there frames that never held a page?
    pub(super) fn has_fresh_frames(&self) -> bool {
        // Relaxed: only the number matters.
        self.opened.load(Ordering::Relaxed) < self.frame_count() as u64
    }

    /// Puts frames that never held a page among the free ones.
    #[cold]
    fn open_frames(&self) {
        let mut fresh = 0..0;
        // Acquire: pairs with the Release in `finish_shrinking`, which has made the pool smaller before it takes frames back.
        let opened = self.opened.fetch_update(Ordering::Relaxed, Ordering::Acquire, |first| {
            fresh = first..(first + OPENED_AT_ONCE).min(self.frame_count() as u64);
            (!fresh.is_empty()).then_some(fresh.end)
        });
        if opened.is_ok() {
            self.free.push_all(&fresh.map(|frame| frame as u32).collect::<Vec<_>>());
        }
    }

    /// Below so many free frames the cleaner is called.
    fn free_min(&self) -> usize {
        self.free_target() / 2
    }

    /// So many frames the cleaner keeps free.
    pub(super) fn free_target(&self) -> usize {
        // Relaxed: a setting.
        self.free_target.load(Ordering::Relaxed) as usize
    }

    #[cold]
    fn take_frame_slow(&self) -> Result<u32> {
        let began = Instant::now();
        let _hungry = Hungry::new(&self.hungry);
        loop {
            let seen = self.cleaned.load(Ordering::Acquire); // pairs with the Release of who frees frames
            // All that ends this wait is here: a frame, KILL, time, the engine's stop.
            if let Some(frame) = self.free.pop() {
                return Ok(frame);
            }
            for _ in 0..self.looks_max() / LOOKS_AT_ONCE {
                let mut freed = self.evict(EVICTED_AT_ONCE, LOOKS_AT_ONCE);
                if let Some(frame) = freed.pop() {
                    self.give(&freed);
                    return Ok(frame);
                }
            }
            // Relaxed: a wish, no data comes with it.
            if self.closing.load(Ordering::Relaxed) {
                return Err(Error::Io("the server is stopping, and no buffer pool page is free".into()));
            }
            if began.elapsed() > PATIENCE {
                let seconds = PATIENCE.as_secs();
                return Err(Error::Io(format!(
                    "no buffer pool page could be evicted for {seconds} seconds: the pool is too small or the disk \
                     does not take writes"
                )));
            }
            if blocking::is_interrupted() {
                return Err(Error::Interrupted);
            }
            observe::increment(Counter::InnodbBufferPoolWaitFree);
            self.want_cleaning();
            futex::wait(&self.cleaned, seen, Some(Duration::from_millis(10)), Wait::FreeFrame);
        }
    }

    /// Evicts up to `want` clean pages that nobody used lately; their frames.
    pub(super) fn evict(&self, want: usize, looks: usize) -> Vec<u32> {
        // Relaxed: the exchange in `leave_huge_pages` decides who leaves them.
        if self.huge.load(Ordering::Relaxed) != 0 {
            self.leave_huge_pages();
        }
        let mut claimed = Vec::with_capacity(want);
        self.replacer.lock().claim(self, want, looks, self.dirty_depth(), &mut claimed);
        claimed.sort_unstable();
        // Neighbours go in one call to the kernel.
        for run in claimed.chunk_by(|a, b| a.0 + 1 == b.0) {
            self.let_go(run[0].0..run[run.len() - 1].0 + 1);
        }
        claimed.into_iter().map(|(_, frame)| frame).collect()
    }

    /// The cleaner: evicts until enough frames are free, or all that is near has to be written first.
    pub(super) fn refill(&self) {
        let target = self.free_target();
        // Nothing is evicted while some frames have never been used.
        if self.has_fresh_frames() {
            return;
        }
        // Each frame may be looked at twice: marked, then evicted.
        let mut looks = 2 * self.opened_frames() as usize;
        while self.free.count() < target && looks > 0 {
            let freed = self.evict(LOOKS_AT_ONCE, LOOKS_AT_ONCE);
            if freed.is_empty() && self.is_eviction_behind() {
                return;
            }
            self.give(&freed);
            looks = looks.saturating_sub(LOOKS_AT_ONCE);
        }
    }

    /// Adds the pages that wait to be written so that they can be evicted.
    pub(super) fn collect_dirty_ahead(&self, to: &mut Vec<PageId>) {
        let replacer = self.replacer.lock();
        to.extend(replacer.dirty(self).filter(|id| self.seems_dirty(*id)));
    }

    /// Do as many of them wait as may?
    pub(super) fn is_eviction_behind(&self) -> bool {
        self.replacer.lock().dirty(self).count() >= self.dirty_depth()
    }

    /// The most of them. Without a cleaner nobody writes them: then all others are looked at.
    fn dirty_depth(&self) -> usize {
        if !self.is_attended() {
            return usize::MAX;
        }
        (self.free_target() * 2).clamp(1, self.frame_count() / 4)
    }

    /// Pages that a miss looks at before it waits: all, where it would wait for nobody.
    fn looks_max(&self) -> usize {
        if self.is_attended() { LOOKS_MAX } else { LOOKS_AT_ONCE + 2 * self.opened_frames() as usize }
    }

    /// Is the cleaner a thread of its own? Not in recovery, nor where the engine is stepped.
    fn is_attended(&self) -> bool {
        // Relaxed: it changes once, and either answer will do.
        self.attended.load(Ordering::Relaxed)
    }

    pub fn set_attended(&self) {
        // Relaxed: as above.
        self.attended.store(true, Ordering::Relaxed);
    }

    /// Gives frames back, and wakes who waits for some.
    pub(super) fn give(&self, frames: &[u32]) {
        let size = self.frame_count() as u32;
        if frames.iter().any(|frame| *frame >= size) {
            let mut kept = frames.to_vec();
            self.withhold(&mut kept);
            return self.give(&kept);
        }
        if frames.is_empty() {
            return;
        }
        self.free.push_all(frames);
        // Orders the push before the look: pairs with the fence of who becomes hungry and then looks for a frame.
        fence(Ordering::SeqCst);
        // Relaxed: ordered by the fences.
        if self.hungry.load(Ordering::Relaxed) > 0 {
            self.note_cleaned();
        }
    }

    /// A frame is free or a page clean that was not before.
    pub(super) fn note_cleaned(&self) {
        self.cleaned.fetch_add(1, Ordering::Release); // pairs with the Acquire in `take_frame_slow`
        futex::wake_all(&self.cleaned);
    }

    pub(super) fn give_back(&self, frame: u32) {
        self.give(&[frame]);
    }

    /// Tells the cleaner to run now.
    pub fn want_cleaning(&self) {
        self.wanted.fetch_add(1, Ordering::Release); // pairs with the cleaner's Acquire before its round
        futex::wake_one(&self.wanted);
    }
}

/// Counts those who wait for a frame.
struct Hungry<'p>(&'p AtomicU32);

impl<'p> Hungry<'p> {
    fn new(count: &'p AtomicU32) -> Hungry<'p> {
        // Relaxed: ordered by the fence, which pairs with that in `give`: one of the two sees the other.
        count.fetch_add(1, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        Hungry(count)
    }
}

impl Drop for Hungry<'_> {
    fn drop(&mut self) {
        // Relaxed: one too many wakes nobody for nothing but itself.
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// How old pages are treated; see [`super::replace`].
#[derive(Clone, Copy)]
pub(super) struct OldBlocks {
    pub pct: u32,
    pub time_ms: u32,
}

impl Pool {
    pub(super) fn old_blocks(&self) -> OldBlocks {
        // Relaxed: a setting; both halves are of one SET or another.
        let packed: u64 = self.old_blocks.load(Ordering::Relaxed);
        OldBlocks { pct: (packed >> 32) as u32, time_ms: packed as u32 }
    }

    pub(super) fn set_old_blocks(word: &AtomicU64, pct: u64, time_ms: u64) {
        // Relaxed: a setting.
        word.store(pct << 32 | time_ms.min(u32::MAX.into()), Ordering::Relaxed);
    }
}
