//! Free frames: a stack for each of some groups of threads, so that misses do not meet at one mutex.

use std::sync::atomic::{AtomicUsize, Ordering};
use sync::{CachePadded, Mutex, Rank, thread_lane};

const STACKS: usize = 16;

pub struct FreeFrames {
    /// W, R: who takes or gives a frame, for some nanoseconds: each its own stack first.
    stacks: [CachePadded<Mutex<Vec<u32>>>; STACKS],
    /// Frames in all stacks, about.
    count: CachePadded<AtomicUsize>,
}

impl FreeFrames {
    pub fn new() -> FreeFrames {
        FreeFrames {
            stacks: std::array::from_fn(|_| CachePadded::new(Mutex::new(Rank::PagePool, Vec::new()))),
            count: CachePadded::new(AtomicUsize::new(0)),
        }
    }

    /// Frames that are free, about.
    pub fn count(&self) -> usize {
        // Relaxed: a number kept about right.
        self.count.load(Ordering::Relaxed)
    }

    pub fn pop(&self) -> Option<u32> {
        let own = thread_lane().index();
        for i in 0..STACKS {
            let frame = self.stacks[(own + i) % STACKS].lock().pop();
            if frame.is_some() {
                // Relaxed: as in `count`.
                self.count.fetch_sub(1, Ordering::Relaxed);
                return frame;
            }
        }
        None
    }

    /// Takes all free frames from the number `first` on.
    pub fn take_from(&self, first: u32) -> Vec<u32> {
        let mut taken = Vec::new();
        for stack in &self.stacks {
            stack.lock().retain(|frame| {
                let stays = *frame < first;
                if !stays {
                    taken.push(*frame);
                }
                stays
            });
        }
        // Relaxed: as in `count`.
        self.count.fetch_sub(taken.len(), Ordering::Relaxed);
        taken
    }

    /// Gives several frames, dealt out among all threads.
    pub fn push_all(&self, frames: &[u32]) {
        // Relaxed: as in `count`. Before the frames are there, so that it never falls below zero.
        self.count.fetch_add(frames.len(), Ordering::Relaxed);
        let own = thread_lane().index();
        let share = frames.len().div_ceil(STACKS).max(1);
        for (i, some) in frames.chunks(share).enumerate() {
            self.stacks[(own + i) % STACKS].lock().extend_from_slice(some);
        }
    }
}
