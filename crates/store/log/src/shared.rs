//! What appenders, waiters and the log's own threads share, and the room that they find in it.

use std::sync::Arc;
use std::sync::atomic::fence;
use std::time::Duration;

use cipher::Vault;
use sync::Mutex;
use sync::shim::atomic::{AtomicBool, AtomicU64, Ordering};
use sync::thread_lane;

use crate::control::ControlFile;
use crate::flush::Flusher;
use crate::format::{SEGMENT_HEADER, group_bytes};
use crate::prefix::{Lane, Prefix};
use crate::retention::Retention;
use crate::ring::Ring;
use crate::segment::Segments;
use crate::turnstile::Want;
use crate::{Error, Lsn, Result};

/// Bytes that a thread may reserve beyond what it asked for before it looks again whether there is room.
const ROOM_AHEAD: u64 = 32 << 10;
/// Files of the reserve that stay when nobody needs them, until the log's thread comes round: a large statement then makes none.
pub const SPARE_RESERVE: usize = 1;

/// A copy that is so many times the log's capacity behind loses its segments.
pub const HELD_CAPACITIES: u64 = 4;

/// The newest durable checkpoint: recovery starts at `lsn`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    pub lsn: Lsn,
    /// The engine's own state, opaque here; at most [`crate::Log::checkpoint_payload_max`] bytes.
    pub payload: Vec<u8>,
}

/// What appenders, waiters and the background thread share: its fields are what each of them would be given one by one.
pub struct Core {
    pub prefix: Prefix,
    pub ring: Ring,
    pub flusher: Flusher,
    pub segments: Segments,
    pub log_id: u64,
    pub epoch: u32,
    pub vault: Option<Arc<Vault>>,
    /// Of the groups that are sealed since the start.
    pub nonce: [u8; cipher::NONCE_BYTES],
    /// All groups are to be sealed. W: `seal_all`. R: `reserve`.
    pub seals_all: AtomicBool,
    /// W: `set_checkpoint`. R: `ensure_room`.
    pub oldest: AtomicU64,
    /// What a follower still needs; `Lsn::MAX`: nobody follows. W: `retain`. R: checkpoints.
    pub retained: AtomicU64,
    /// Where the follower has come; `Lsn::MAX`: nobody follows. It may need what lies far below, all that a large transaction brings, for
    /// which writers are not to wait. W: the follower, `retain`. R: `ensure_room`.
    pub passed: AtomicU64,
    /// What a copy has not taken yet; `Lsn::MAX`: there is none. W: `LogCopy`. R: checkpoints.
    pub held: AtomicU64,
    /// W: `set_capacity`. R: `ensure_room`, checkpoints.
    pub capacity: AtomicU64,
    /// Held across the write of the control file; only checkpoints ask for it.
    pub control: Mutex<ControlFile>,
    pub checkpoint: Mutex<Checkpoint>,
    pub checkpoint_wait: Duration,
    pub retention: Retention,
    /// Bytes of log that rollbacks may need. W: transactions with many changes. R: who keeps the reserve.
    pub owed: AtomicU64,
}

/// For whom there is to be room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// Leaves what the others need.
    Usual,
    /// Commits, purge, definitions: they may use the last segment, and wait for checkpoints on a full disk only.
    Critical,
    /// Rollbacks: they leave that, and have a reserve of their own.
    Owed,
}

impl Core {
    pub fn oldest_needed(&self) -> Lsn {
        // Acquire: pairs with Release in `set_checkpoint`.
        self.oldest.load(Ordering::Acquire)
    }

    /// Nobody needs what lies below: neither recovery nor a follower.
    pub fn oldest_kept(&self) -> Lsn {
        // Acquire: pairs with Release in `retain`.
        self.oldest_needed().min(self.retained.load(Ordering::Acquire))
    }

    /// Writers wait when the log gets too far ahead of this: of the checkpoint, or of the follower.
    pub fn slowest(&self) -> Lsn {
        // Relaxed: a bound, which nothing is read by.
        self.oldest_needed().min(self.passed.load(Ordering::Relaxed))
    }

    /// The follower has come to `lsn`.
    pub fn pass(&self, lsn: Lsn) {
        // Relaxed: as in `slowest`.
        self.passed.store(lsn, Ordering::Relaxed);
        self.flusher.checkpoint_moved();
    }

    pub fn oldest_not_held(&self) -> Lsn {
        let oldest = self.oldest_kept();
        // SeqCst: pairs with the fence in `Log::copy_to`, as in `free_segments`.
        fence(Ordering::SeqCst);
        // Acquire: pairs with the Release in `LogCopy::pass`.
        oldest.min(self.held.load(Ordering::Acquire))
    }

    pub fn free_segments(&self) -> Result<()> {
        let oldest = self.oldest_kept();
        // SeqCst: pairs with the fence in `Log::copy_to`: either this sees what is held, or that sees what is kept.
        fence(Ordering::SeqCst);
        // Acquire: pairs with the Release in `LogCopy::pass`.
        let held = self.held.load(Ordering::Acquire);
        // Relaxed: a setting.
        let capacity = self.capacity.load(Ordering::Relaxed);
        let is_late = self.prefix.tail().saturating_sub(held) > HELD_CAPACITIES * capacity;
        let files = capacity / (SEGMENT_HEADER + self.segments.data_bytes()) + 2;
        self.segments.free_below(if is_late { oldest } else { oldest.min(held) }, files as usize)
    }

    /// What is owed then.
    pub fn change_owed(&self, by: u64) -> u64 {
        // SeqCst: with the load of `reserved` that follows; its partners are in `Segments::keep_reserve`.
        self.owed.fetch_add(by, Ordering::SeqCst).wrapping_add(by)
    }

    /// Makes the reserve as large as it is to be, but for `spare` files more that may be there.
    pub fn keep_reserve(&self, spare: usize) -> Result<()> {
        // SeqCst: as above.
        self.segments.keep_reserve(|| self.owed.load(Ordering::SeqCst), spare)
    }

    #[inline]
    pub fn ensure_room(&self, bytes: usize, room: Room) -> Result<()> {
        let lane = self.prefix.lane(thread_lane());
        debug_assert!(!self.prefix.is_reserving(lane), "ensure_room with an open reservation may wait for itself");
        // Relaxed: the thread's own.
        if lane.granted.load(Ordering::Relaxed) >= bytes as u64 {
            return Ok(());
        }
        self.grant_room(lane, bytes, room)
    }

    /// Until LSNs below `end` have a segment. On a full disk the next checkpoint makes room, once recovery alone needs the oldest one.
    #[cold]
    fn make_segments(&self, end: Lsn) -> Result<()> {
        loop {
            // Before the attempt: what a checkpoint frees after it failed is a reason for the next one.
            let oldest = self.segments.first();
            let Err(error) = self.segments.grow_to(end) else { return Ok(()) };
            if self.give_reserve_back() || self.segments.first() > oldest {
                continue;
            }
            let oldest_end = oldest + self.segments.data_bytes();
            let is_full = matches!(error, Error::NoSpace { .. });
            if !is_full || oldest_end > self.prefix.tail() || !self.ask_follower(oldest_end)? {
                return Err(error);
            }
            // Not for where the follower has come: it tells of that with what it reads next, and that may be what has no room here.
            let is_passed = || self.oldest_needed() >= oldest_end;
            if !self.flusher.await_checkpoints(is_passed, self.checkpoint_wait)? {
                return Err(error);
            }
            self.free_segments()?;
            if self.segments.first() == oldest {
                return Err(error); // a copy is made of it
            }
        }
    }

    /// For a rollback. The last segment is left to others as long as there is something else.
    #[cold]
    fn use_reserve(&self, end: Lsn, left: u64) -> Result<()> {
        match self.segments.grow_by_reserve(end) {
            Err(Error::NoSpace { .. }) if end - left <= self.segments.allocated() => Ok(()),
            outcome => outcome,
        }
    }

    /// What the reserve has beyond what is owed is the first to go on a full disk.
    fn give_reserve_back(&self) -> bool {
        let before = self.segments.reserved();
        self.keep_reserve(0).is_ok() && self.segments.reserved() < before
    }

    /// Does the follower need nothing below `lsn`? Asks it to let go, which it does in steps otherwise.
    fn ask_follower(&self, lsn: Lsn) -> Result<bool> {
        // Acquire: pairs with Release in `retain`.
        let is_free = || self.retained.load(Ordering::Acquire) >= lsn;
        if is_free() {
            return Ok(true);
        }
        if self.retention.is_stalled() {
            return Ok(false);
        }
        let Some(question) = self.retention.ask() else { return Ok(false) };
        self.flusher.hurry_followers();
        // The answer first: what was let go comes before it.
        let is_over = || self.retention.is_answered(question) || is_free();
        self.flusher.await_checkpoints(is_over, self.checkpoint_wait)?;
        Ok(is_free())
    }

    /// Looks at the shared words, and grants some room ahead, so that a thread looks once in some dozens of small groups.
    fn grant_room(&self, lane: &Lane, bytes: usize, room: Room) -> Result<()> {
        self.flusher.check()?;
        let usual = room == Room::Usual;
        if usual && self.segments.is_short() {
            // What a rollback has made of its reserve is not for others.
            self.keep_reserve(0)?;
        }
        let ahead = if usual { ROOM_AHEAD.min(self.ring.bytes() / 64) } else { 0 };
        let granted = bytes as u64 + ahead;
        let bytes = group_bytes(granted as usize + cipher::NONCE_BYTES);
        let tail = self.prefix.tail();
        // On disk: commits and rollbacks in progress keep a segment, so that they end well on a full disk.
        let reserve = if room == Room::Critical { 0 } else { self.segments.data_bytes() };
        let end = tail + bytes + reserve;
        if end > self.segments.allocated() {
            match self.make_segments(end) {
                Err(Error::NoSpace { .. }) if room == Room::Owed => self.use_reserve(end, reserve)?,
                made => made?,
            }
        }
        // Relaxed: a setting.
        let hard_bound = 2 * self.capacity.load(Ordering::Relaxed);
        if usual && tail + bytes - self.slowest().min(tail) > hard_bound {
            self.flusher.wait_checkpoint(self, tail + bytes - hard_bound, self.checkpoint_wait)?;
        }
        // In the ring: half of it stays free.
        let half = self.ring.bytes() / 2;
        if tail + bytes > self.flusher.written() + half {
            self.flusher.wait(self, (tail + bytes - half).min(tail), Want::Written)?;
        }
        if usual {
            // Relaxed: the thread's own.
            lane.granted.store(granted, Ordering::Relaxed);
        }
        Ok(())
    }
}
