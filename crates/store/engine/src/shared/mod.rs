//! What sessions and background threads share: [`Core`], and the parts of it that are more than a word.

pub mod confirm;
pub mod history;
pub mod rollbacks;
pub mod warm;

use crate::btree::Store;
use crate::events;
use crate::lock::{Interrupt, LockTable};
use crate::mtr::Mtr;
use crate::options::EngineOptions;
use crate::pool::Pool;
use crate::prepared::Prepared;
use crate::segment::Segments;
use crate::space::Space;
use crate::txn::System;
use crate::{Error, Result};
use cipher::Vault;
use confirm::{Confirmation, Whose};
use history::History;
use log::{Log, Lsn};
use rollbacks::Rollbacks;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering, fence};
use std::time::Duration;
use sync::waits::Wait;
use sync::{CachePadded, Mutex, Rank, futex};
use warm::Warm;

/// In [`FlushAtCommit::mode`]: a stricter mode has begun for commits and has not for snapshots.
const TIGHTENING: u8 = 4;

/// Stages of [`Core::stop`]: everybody ends what they do, but the page cleaner; the page cleaner writes all that is left.
pub const STOPPING: u32 = 1;
pub const LAST_ROUND: u32 = 2;

/// The least bound of all locks' memory; above, it is the buffer pool's size.
const LOCK_BYTES_MIN: usize = 64 << 20;

pub fn lock_bytes(buffer_pool_bytes: u64) -> usize {
    (buffer_pool_bytes as usize).max(LOCK_BYTES_MIN)
}

/// Whose commits a wait for the log's flush is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Awaits {
    OwnCommit,
    /// The same of one with events.
    OwnEvents,
    /// Those that an answer to the client rests on.
    OthersCommits,
}

/// When commits are acknowledged and shown. W: SET GLOBAL. R: every commit and snapshot. Alone on its line.
struct FlushAtCommit {
    /// `innodb_flush_log_at_trx_commit`, with [`TIGHTENING`].
    mode: AtomicU8,
    /// What was acknowledged under a weaker mode than the one that holds now; new snapshots show it.
    acknowledged: AtomicU64,
}

/// What sessions and background threads share.
pub struct Core {
    pub pool: Pool,
    pub log: Arc<Log>,
    pub space: Space,
    pub system: System,
    pub locks: LockTable,
    pub segments: Segments,
    pub rollbacks: Rollbacks,
    /// Prepared transactions that the start has found, until somebody takes them.
    pub prepared: Mutex<Vec<(Vec<u8>, Prepared)>>,
    pub history: History,
    flush_at_commit: CachePadded<FlushAtCommit>,
    pub confirmation: CachePadded<Confirmation>,
    /// `innodb_deadlock_detect`.
    pub deadlock_detect: AtomicBool,
    /// `innodb_fill_factor`. W: SET GLOBAL. R: loads of trees.
    pub fill_factor: AtomicU8,
    pub warm: Warm,
    /// How far stopping has come; background threads sleep on it.
    pub stop: AtomicU32,
}

impl Core {
    pub fn new(
        pool: Pool,
        log: Arc<Log>,
        space: Space,
        system: System,
        segments: Segments,
        options: &EngineOptions,
    ) -> Core {
        Core {
            pool,
            log,
            space,
            system,
            locks: LockTable::new(lock_bytes(options.buffer_pool_bytes)),
            segments,
            rollbacks: Rollbacks::new(),
            prepared: Mutex::new(Rank::FreeSpace, Vec::new()),
            history: History::new(options.purge_threads),
            flush_at_commit: CachePadded::new(FlushAtCommit {
                mode: AtomicU8::new(options.flush_log_at_commit),
                acknowledged: AtomicU64::new(0),
            }),
            confirmation: CachePadded::new(Confirmation::new()),
            deadlock_detect: AtomicBool::new(true),
            fill_factor: AtomicU8::new(100),
            warm: Warm::new(options.datadir.clone()),
            stop: AtomicU32::new(0),
        }
    }

    #[inline(always)]
    pub fn store(&self) -> Store<'_> {
        Store { pool: &self.pool, log: &self.log, space: &self.space }
    }

    pub fn vault(&self) -> &Vault {
        self.pool.vault().expect("recovery has set it")
    }

    /// The data keys are there from now on, made if need be. Errors: [`Error::Keyring`].
    pub fn make_keys(&self) -> Result<()> {
        let are_first = self.vault().keys().is_none();
        self.vault().make_keys()?;
        if are_first {
            self.space.distrust_free();
        }
        Ok(())
    }

    /// The LSN up to which commits may be shown: durable, written or complete, as commits are acknowledged, and confirmed where that
    /// is asked for. Loads only.
    #[inline(always)]
    pub fn newest(&self) -> Lsn {
        self.confirmation.shown(self.durable_newest())
    }

    /// The same whether confirmed or not.
    #[inline(always)]
    pub fn durable_newest(&self) -> Lsn {
        // Relaxed: read after the mode, with whose Release it was stored.
        let acknowledged = || self.flush_at_commit.acknowledged.load(Ordering::Relaxed);
        // Acquire: pairs with the Release in `set_flush_log_at_commit`. The LSNs bring their own.
        match self.flush_at_commit.mode.load(Ordering::Acquire) {
            1 => self.log.flushed_lsn().max(acknowledged()),
            2 => self.log.written_lsn().max(acknowledged()),
            _ => self.log.known_complete_lsn(),
        }
    }

    /// `innodb_flush_log_at_trx_commit` as it was set last.
    pub fn flush_log_at_commit(&self) -> u8 {
        // Relaxed: a setting that orders nothing.
        self.flush_at_commit.mode.load(Ordering::Relaxed) & !TIGHTENING
    }

    /// How a commit in progress is to be acknowledged: 0, 1 or 2.
    fn acknowledges_at(&self) -> u8 {
        // Relaxed: a setting that orders nothing.
        let mode = self.flush_at_commit.mode.load(Ordering::Relaxed) & !TIGHTENING;
        if mode == 1 {
            return mode;
        }
        // SeqCst: pairs with the fence in `set_flush_log_at_commit`: either this finds the new mode, or that finds our commit in the
        // log.
        fence(Ordering::SeqCst);
        // Relaxed: ordered by the fence.
        self.flush_at_commit.mode.load(Ordering::Relaxed) & !TIGHTENING
    }

    /// Commits are acknowledged so from now on, and whoever was told of one sees it in each snapshot taken after that. To be called
    /// when sessions may be at work: a commit that was acknowledged before it was durable must not disappear from snapshots
    /// that would show only what is durable.
    pub fn set_flush_log_at_commit(&self, mode: u8) {
        // Relaxed: a setting that orders nothing.
        let before = self.flush_at_commit.mode.load(Ordering::Relaxed);
        let strictness = |mode: u8| [0, 2, 1].iter().position(|m| *m == mode & !TIGHTENING);
        if before & TIGHTENING == 0 && strictness(mode) <= strictness(before) {
            self.flush_at_commit.mode.store(mode, Ordering::Release); // pairs with the Acquire in `newest`
            return;
        }
        // Commits go by the new mode, snapshots still show all that is complete.
        let (setting, tightening) = (&self.flush_at_commit, mode | TIGHTENING);
        // Relaxed: ordered by the fence.
        setting.mode.store(tightening, Ordering::Relaxed);
        fence(Ordering::SeqCst); // pairs with the fence in `acknowledges_at`
        let end = self.log.tail_lsn();
        // A log that has failed takes no more commits: snapshots may stay as they are.
        if self.log.wait_completed(end).is_ok() {
            // Relaxed: published by the mode.
            setting.acknowledged.fetch_max(end, Ordering::Relaxed);
            // Not over what another session has set meanwhile. Release: pairs with the Acquire in `newest`. Relaxed: then nothing is read.
            let _ = setting.mode.compare_exchange(tightening, mode, Ordering::Release, Ordering::Relaxed);
        }
    }

    /// Waits until what is told next may be told. On a full disk that may take long. KILL ends the wait of who only reads.
    /// An own commit stands in the log and can be neither taken back nor called failed: KILL QUERY comes too late for it,
    /// and KILL CONNECTION ends the wait with [`Error::Unacknowledged`].
    pub fn wait_durable(&self, lsn: Lsn, interrupt: &Interrupt, awaits: Awaits) -> Result<()> {
        let own = awaits != Awaits::OthersCommits;
        self.await_log(interrupt, own, |log| match self.acknowledges_at() {
            1 => log.wait_flushed(lsn),
            2 => log.wait_written(lsn),
            _ => log.wait_completed(lsn),
        })?;
        let whose = if awaits == Awaits::OwnEvents { Whose::Own } else { Whose::Other };
        self.await_confirmed(lsn, interrupt, own, whose)
    }

    /// Waits by `wait`, on a full disk again and again.
    pub fn await_log(&self, interrupt: &Interrupt, own: bool, wait: impl Fn(&Log) -> log::Result<()>) -> Result<()> {
        loop {
            let outcome = wait(&self.log);
            let Err(log::Error::NoSpace { .. } | log::Error::Interrupted) = outcome else {
                return outcome.map_err(Error::from);
            };
            match (own, interrupt.reason()) {
                (false, 1..) => return Err(Error::Interrupted),
                (true, 2) => return Err(Error::Unacknowledged),
                _ if self.stopping() => return Err(Error::Unacknowledged),
                _ => self.pause(),
            }
        }
    }

    /// Logs the events of a transaction that has changed nothing else. Returns where their group ends.
    pub fn append_events(&self, events: &events::Last<'_>) -> Result<Lsn> {
        let mut mtr = Mtr::new();
        mtr.events(events);
        self.log.ensure_room(mtr.bytes())?;
        Ok(mtr.commit(&self.log, &mut []))
    }

    /// Waits a moment for room on the disk.
    pub fn pause(&self) {
        self.sleep(Duration::from_millis(50), Wait::DiskSpace);
    }

    /// Background threads: sleeps, until the engine stops at the latest.
    pub fn sleep(&self, time: Duration, what: Wait) {
        futex::wait(&self.stop, 0, Some(time), what);
    }

    pub fn stopping(&self) -> bool {
        // Relaxed: a wish, no data comes with it; the joins in `stop_threads` order the rest.
        self.stop.load(Ordering::Relaxed) != 0
    }
}
