//! The status ring: a word an id, for the newest ids.
//!
//! ```text
//!                released                                      end
//!  ids   ...........|==== words in memory ====|  not taken yet  |     (end = released + length - one block)
//!        zeros again                         next
//! ```
//! A word is 0 before its id is used; then [`OPEN`] and the owner's slot; then the LSN at the end of the transaction's last
//! log group, with [`UNDONE`] if it was rolled back.

#![expect(unsafe_code, reason = "the ring is an array in reserved, lazily zeroed memory")]

use crate::Result;
use io::Region;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;
use sync::waits::Wait;
use sync::{CachePadded, futex};

/// Bit 63: open, the low bits are the owner's slot.
pub const OPEN: u64 = 1 << 63;
/// Bit 62: rolled back.
pub const UNDONE: u64 = 1 << 62;

/// Words that share a page of memory, given back together.
pub const BLOCK_IDS: u64 = 512;

pub struct Ring {
    words: Region,
    len: u64,
    /// Words of ids below have been given back. W: purge. R: every transaction that takes an id.
    released: CachePadded<AtomicU64>,
    /// Counts releases; who found no room sleeps on it. W: purge.
    releases: CachePadded<AtomicU32>,
}

impl Ring {
    /// For ids from `first` on, which begins a block. At least four blocks long.
    pub fn new(first: u64, len: u64) -> Result<Ring> {
        debug_assert_eq!(first % BLOCK_IDS, 0);
        let len = len.next_power_of_two().max(BLOCK_IDS * 4);
        Ok(Ring {
            words: io::reserve(len as usize * 8)?,
            len,
            released: CachePadded::new(AtomicU64::new(first)),
            releases: CachePadded::new(AtomicU32::new(0)),
        })
    }

    /// Ids that have room at a time.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// The word of `trx`, which is of that id only if [`Ring::end`] is above `trx`, and the block of `trx` has not been released.
    #[inline(always)]
    pub fn word(&self, trx: u64) -> &AtomicU64 {
        // Neighbouring ids lie on different cache lines of their block: commits in parallel do not share them.
        let in_block = trx % BLOCK_IDS;
        let permuted = (in_block % 64) * 8 + in_block / 64;
        let at = (trx - in_block + permuted) % self.len;
        // SAFETY: the region holds `len` words, 8-byte aligned; zeroed memory is a valid AtomicU64.
        unsafe { &*self.words.as_ptr().cast::<AtomicU64>().add(at as usize) }
    }

    /// Ids from here on have no word yet.
    #[inline]
    pub fn end(&self) -> u64 {
        // Acquire: pairs with the Release in `release`: the words that are about to be used have been zeroed.
        self.released.load(Ordering::Acquire) + self.len - BLOCK_IDS
    }

    /// Gives back the blocks wholly below `trx`, some at a time. A late reader finds zeros there, or the word of a later id.
    pub fn release(&self, trx: u64) {
        let chunk = (16 * BLOCK_IDS).min(self.len / 4);
        // Relaxed: purge alone stores it.
        let before = self.released.load(Ordering::Relaxed);
        let mut released = before;
        while trx - released >= chunk {
            for block in 0..chunk / BLOCK_IDS {
                let at = (released + block * BLOCK_IDS) % self.len;
                self.words
                    .discard(at as usize * 8..(at + BLOCK_IDS) as usize * 8)
                    .expect("the kernel takes back memory that it gave");
            }
            released += chunk;
        }
        // Only when it moved: every writer reads this line.
        if released != before {
            // Release: pairs with the Acquire in `end`.
            self.released.store(released, Ordering::Release);
            // Release: pairs with the Acquire in `releases`, so that who is woken finds the room.
            self.releases.fetch_add(1, Ordering::Release);
            futex::wake_all(&self.releases);
        }
    }

    /// To be read before one looks for room in vain, for [`Ring::await_release`].
    pub fn releases(&self) -> u32 {
        // Acquire: pairs with the Release in `release`.
        self.releases.load(Ordering::Acquire)
    }

    /// Sleeps until there was a release after the `seen` ones.
    pub fn await_release(&self, seen: u32, timeout: Duration) {
        futex::wait(&self.releases, seen, Some(timeout), Wait::Purge);
    }
}
