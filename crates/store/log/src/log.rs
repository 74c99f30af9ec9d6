//! The handle of the log: options, appending, waiting, checkpoints.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::marker::PhantomData;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use cipher::Vault;
use io::Directory;
use observe::Counter;
use sync::shim::atomic::{AtomicBool, AtomicU64, Ordering};
use sync::{LANES_MAX, Mutex, Rank, thread_lane};

use crate::background::Background;
use crate::control::{Control, ControlFile, FILE_NAME, PAYLOAD_BYTES_MAX};
use crate::flush::Flusher;
use crate::follow::Follower;
use crate::format::{BLOCK, FIRST_LSN, GROUP_HEADER, SEGMENT_HEADER, block_ceil, group_bytes};
use crate::prefix::Prefix;
use crate::recovery::{Epochs, find_end, harden};
use crate::reservation::{Appended, Reservation};
use crate::retention::Retention;
use crate::ring::Ring;
use crate::sealed::Sealing;
use crate::segment::Segments;
use crate::shared::{Checkpoint, Core, Room, SPARE_RESERVE};
use crate::turnstile::Want;
use crate::{Error, Lsn, Recovery, Result};

/// How a log is set up.
#[derive(Clone, Debug)]
pub struct Options {
    /// Bytes of the ring in memory; a power of two, 16 KiB..=1 GiB (`innodb_log_buffer_size`).
    pub ring_bytes: usize,
    /// Bytes of log kept on disk before checkpoints are due (`innodb_redo_log_capacity`). The log grows on to twice as much
    /// before `ensure_room` makes writers wait for a checkpoint.
    pub capacity: u64,
    /// Stream bytes of a segment file, a multiple of 4096. `None`: capacity / 32, within 4..=64 MiB. A log keeps what it began with.
    pub segment_bytes: Option<u64>,
    /// How often the background thread writes and flushes what nobody waited for. `None`: no such thread, and segments are
    /// made when they are needed.
    pub flush_interval: Option<Duration>,
    /// How long `ensure_room` waits for a checkpoint or a reader that is late before it answers `NoSpace`.
    pub checkpoint_wait: Duration,
    /// Where somebody wants to [`follow`](Log::follow) the log from: what lies at and above is kept until [`Log::retain`] says
    /// otherwise, also below the checkpoint. Whether it is there still tells [`Log::first_lsn`].
    pub retain_from: Option<Lsn>,
    /// Where the keys of sealed groups are. `None`: there are no such groups.
    pub vault: Option<Arc<Vault>>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            ring_bytes: 32 << 20,
            capacity: 1 << 30,
            segment_bytes: None,
            flush_interval: Some(Duration::from_secs(1)),
            checkpoint_wait: Duration::from_secs(30),
            retain_from: None,
            vault: None,
        }
    }
}

/// The one log. Every method takes `&self`; share it by reference.
pub struct Log {
    pub(crate) core: Arc<Core>,
    background: Background,
}

/// A file that holds log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogFile {
    /// From 0, in the order of the log.
    pub number: u64,
    pub path: PathBuf,
    /// What there is room for in it.
    pub lsns: Range<Lsn>,
    /// Its size on the disk.
    pub bytes: u64,
    /// Nothing more is added to it.
    pub is_full: bool,
}

/// Room in the log that the rollback of a transaction may need: kept on the disk until this is dropped.
pub struct Owed {
    core: Arc<Core>,
    bytes: u64,
}

impl Drop for Owed {
    fn drop(&mut self) {
        let left = self.core.change_owed(self.bytes.wrapping_neg());
        // The latch of those who make files is not for every transaction's end. What is not removed now is removed by whoever keeps
        // the reserve next.
        if self.core.segments.is_reserve_amiss(left, SPARE_RESERVE) {
            let _ = self.core.keep_reserve(SPARE_RESERVE);
        }
    }
}

impl Log {
    /// Whether there is a log in `directory`. For callers whose data are worthless without the log that belongs to them.
    pub fn exists(directory: &Path) -> Result<bool> {
        match Directory::open(directory) {
            Ok(home) => Ok(home.contains(FILE_NAME)?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Opens the log in `directory`, or makes one there. Finds the end of the log, so it reads all of it since the checkpoint once.
    ///
    /// Errors: `Corrupt` when something that was durable is damaged or missing; `Io`; `NoSpace`.
    pub fn open(directory: &Path, options: Options) -> Result<(Arc<Log>, Recovery)> {
        Log::open_with_progress(directory, options, &mut |_, _| ())
    }

    /// As `open`, telling `progress` (bytes read, bytes at most) once a MiB.
    pub fn open_with_progress(
        directory: &Path,
        options: Options,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<(Arc<Log>, Recovery)> {
        assert!(options.ring_bytes.is_power_of_two() && (16 << 10..=1 << 30).contains(&options.ring_bytes));
        let home = Directory::open_or_create(directory)?;
        let created = !home.contains(FILE_NAME)?;
        let mut control = if created { create(&home, &options)? } else { ControlFile::open(&home)? };
        let now = &control.now;
        let retained = options.retain_from.unwrap_or(Lsn::MAX);
        let vault = options.vault;
        let (segments, stretch) = Segments::open(home, now.log_id, now.segment_data_bytes, now.checkpoint, retained)?;
        let found = find_end(&control.now, &stretch, progress)?;
        // From here on what was read counts as durable.
        harden(&segments, &stretch, Epochs::of(&control.now), found)?;
        let end = found.lsn;
        let epoch = control.now.epoch.checked_add(1).expect("four billion starts");
        control.store(Control { epoch, epoch_start: end, durable: end, ..control.now.clone() })?;

        let checkpoint = Checkpoint { lsn: control.now.checkpoint, payload: control.now.payload.clone() };
        let epochs = Epochs::of(&control.now);
        let recovery = Recovery { created, checkpoint: checkpoint.clone(), end, stretch, epochs, vault: vault.clone() };
        let core = Arc::new(Core {
            prefix: Prefix::new(end, LANES_MAX),
            ring: Ring::new(options.ring_bytes),
            flusher: Flusher::new(end),
            segments,
            log_id: control.now.log_id,
            epoch,
            vault,
            nonce: cipher::random(),
            seals_all: AtomicBool::new(false),
            oldest: AtomicU64::new(checkpoint.lsn),
            retained: AtomicU64::new(retained),
            passed: AtomicU64::new(retained),
            held: AtomicU64::new(Lsn::MAX),
            capacity: AtomicU64::new(options.capacity),
            control: Mutex::new(Rank::LogBuffer, control),
            checkpoint: Mutex::new(Rank::LogFile, checkpoint),
            checkpoint_wait: options.checkpoint_wait,
            retention: Retention::default(),
            owed: AtomicU64::new(0),
        });
        let background = Background::start(&core, options.flush_interval)?;
        Ok((Arc::new(Log { core, background }), recovery))
    }

    /// Largest payload of a group in bytes: half the ring less a block; of a sealed one it is [`cipher::NONCE_BYTES`] less.
    pub fn group_bytes_max(&self) -> usize {
        (self.core.ring.bytes() / 2 - BLOCK) as usize - GROUP_HEADER
    }

    /// From now on all groups are sealed (`innodb_redo_log_encrypt`), or those only that are asked for. The vault has keys.
    pub fn seal_all(&self, on: bool) {
        // Relaxed: a setting that orders nothing.
        self.core.seals_all.store(on, Ordering::Relaxed);
    }

    pub fn seals_all(&self) -> bool {
        // Relaxed: a setting that orders nothing.
        self.core.seals_all.load(Ordering::Relaxed)
    }

    /// Takes the next place in the log, for a group of exactly `payload_bytes` (at least 1): this fixes its order. A thread holds one
    /// reservation at a time. Waits when the ring is full, which [`Log::ensure_room`] beforehand makes rare.
    ///
    /// Errors: `TooLarge`; `Poisoned`.
    pub fn reserve(&self, payload_bytes: usize) -> Result<Reservation<'_>> {
        self.reserve_as(payload_bytes, false)
    }

    /// As [`Log::reserve`]; `sealed`: the group is encrypted. The vault has keys.
    pub fn reserve_as(&self, payload_bytes: usize, sealed: bool) -> Result<Reservation<'_>> {
        let sealing = (sealed || self.seals_all()).then(|| Sealing::begin(payload_bytes));
        let nonce_bytes = if sealing.is_some() { cipher::NONCE_BYTES } else { 0 };
        let max = self.group_bytes_max() - nonce_bytes;
        if payload_bytes > max {
            return Err(Error::TooLarge { bytes: payload_bytes, max });
        }
        assert!(payload_bytes > 0, "an empty group");
        let core = &*self.core;
        core.flusher.check()?;
        let lane = core.prefix.lane(thread_lane());
        let payload_bytes = payload_bytes + nonce_bytes;
        let bytes = group_bytes(payload_bytes);
        // Relaxed: the thread's own.
        lane.granted.store(lane.granted.load(Ordering::Relaxed).saturating_sub(bytes), Ordering::Relaxed);
        let start = core.prefix.reserve(lane, bytes);
        observe::increment(Counter::InnodbLogWriteRequests);
        let end = start + bytes;
        let written = core.flusher.written();
        if core.flusher.room(core.ring.bytes()) < end {
            observe::increment(Counter::InnodbLogWaits);
            if let Err(error) = core.flusher.make_room(core, end) {
                // Nothing will ever be written again, so the hole does no harm.
                core.prefix.complete(lane);
                return Err(error);
            }
        } else {
            let fraction = core.ring.bytes() / 4;
            // Once per crossing, by whoever crosses.
            if start.saturating_sub(written) < fraction && end.saturating_sub(written) >= fraction {
                self.background.kick();
            }
        }
        // Our own place is open, so nothing at or above `start` is flushed.
        let unflushed = start - core.flusher.flushed();
        let unflushed = u32::try_from(unflushed).unwrap_or(u32::MAX);
        let payload_bytes = payload_bytes as u32;
        let filled = nonce_bytes as u32;
        Ok(Reservation { core, lane, start, payload_bytes, filled, unflushed, sealing, _thread: PhantomData })
    }

    /// One group of the parts' bytes, one after the other. Errors: as `reserve`.
    pub fn append(&self, parts: &[&[u8]]) -> Result<Appended> {
        self.append_as(parts, false)
    }

    /// As [`Log::append`]; `sealed` as in [`Log::reserve_as`].
    pub fn append_as(&self, parts: &[&[u8]], sealed: bool) -> Result<Appended> {
        let mut reservation = self.reserve_as(parts.iter().map(|part| part.len()).sum(), sealed)?;
        for part in parts {
            reservation.fill(part);
        }
        Ok(reservation.complete())
    }

    /// Waits until a group of `bytes` payload bytes, or several of that sum, will find comfortable room in the ring, on disk and below
    /// the hard bound of log that waits for a checkpoint. Call it before latching pages, without a reservation.
    ///
    /// Errors: `NoSpace` when no checkpoint came in time, and on a full disk, once there is nothing for a checkpoint to free (nothing
    /// has happened); `Poisoned`.
    pub fn ensure_room(&self, bytes: usize) -> Result<()> {
        self.core.ensure_room(bytes, Room::Usual)
    }

    /// The same for commits and purge, which must go on when ordinary writers are refused: it may use the last spare segment, and waits
    /// for checkpoints on a full disk only.
    pub fn ensure_room_critical(&self, bytes: usize) -> Result<()> {
        self.core.ensure_room(bytes, Room::Critical)
    }

    /// The same for rollbacks: on a full disk they have what they were [owed](Log::owe).
    pub fn ensure_room_owed(&self, bytes: usize) -> Result<()> {
        self.core.ensure_room(bytes, Room::Owed)
    }

    /// Adds to what a rollback may need, and keeps room for it on the disk, for a log whose segments a follower may keep. (Without one, the
    /// next checkpoint makes room.) Errors: `NoSpace`; nothing is added then.
    pub fn owe(&self, owed: &mut Option<Owed>, bytes: u64) -> Result<()> {
        // Acquire: pairs with Release in `retain`.
        if self.core.retained.load(Ordering::Acquire) == Lsn::MAX {
            return Ok(());
        }
        let all = self.core.change_owed(bytes);
        if all > self.core.segments.reserved()
            && let Err(error) = self.core.keep_reserve(SPARE_RESERVE)
        {
            self.core.change_owed(bytes.wrapping_neg());
            return Err(error);
        }
        owed.get_or_insert_with(|| Owed { core: Arc::clone(&self.core), bytes: 0 }).bytes += bytes;
        Ok(())
    }

    /// Has a rollback had to use its reserve, which is not whole again? Then it does without all that is not needed.
    pub fn is_short(&self) -> bool {
        self.core.segments.is_short()
    }

    /// What a server that has ended kept for its open transactions, for who undoes them.
    pub fn found_reserve(&self) -> Owed {
        let bytes = self.core.segments.reserved();
        self.core.change_owed(bytes);
        Owed { core: Arc::clone(&self.core), bytes }
    }

    /// Waits until all of the log below `lsn` (the `end` of a group) is on the device. No system call if it is already.
    ///
    /// Errors: `NoSpace`: not durable yet, wait again later; `Poisoned`: it never will be known.
    pub fn wait_flushed(&self, lsn: Lsn) -> Result<()> {
        self.core.flusher.wait(&self.core, lsn, Want::Flushed)
    }

    /// Waits until all of the log below `lsn` is written to the segment files: it survives the process, not the machine.
    /// Errors: as `wait_flushed`.
    pub fn wait_written(&self, lsn: Lsn) -> Result<()> {
        self.core.flusher.wait(&self.core, lsn, Want::Written)
    }

    /// Waits until all groups below `lsn` are complete, which is a matter of other threads' copying. Errors: `Poisoned`.
    pub fn wait_completed(&self, lsn: Lsn) -> Result<()> {
        self.core.flusher.wait_completed(&self.core, lsn)
    }

    /// Where the next reservation will start, a moment ago.
    pub fn tail_lsn(&self) -> Lsn {
        self.core.prefix.tail()
    }

    /// All groups below are complete, and every group that anybody has waited for, in whichever way, is below. Loads only, for those
    /// who only read; never less than before.
    pub fn known_complete_lsn(&self) -> Lsn {
        self.core.prefix.known_complete().max(self.core.flusher.written())
    }

    /// All groups below are complete. Computed now, by a look at each thread's lane; never less than anybody was told before.
    pub fn completed_lsn(&self) -> Lsn {
        self.core.prefix.completed()
    }

    /// `Poisoned` once a write or sync has failed.
    pub fn check(&self) -> Result<()> {
        self.core.flusher.check()
    }

    /// All below is in the segment files.
    pub fn written_lsn(&self) -> Lsn {
        self.core.flusher.written()
    }

    /// All below is on the device.
    pub fn flushed_lsn(&self) -> Lsn {
        self.core.flusher.flushed()
    }

    /// Durably makes `lsn` (a group's start or end, at or above the last checkpoint) the place where recovery starts, with the caller's
    /// `payload`, and frees the segments below. Flushes the log up to `lsn` first.
    ///
    /// Errors: those of `wait_flushed`; `Io` and `NoSpace` from the control file: the old checkpoint then still holds.
    pub fn set_checkpoint(&self, lsn: Lsn, payload: &[u8]) -> Result<()> {
        assert!(payload.len() <= PAYLOAD_BYTES_MAX, "a checkpoint payload of {} bytes", payload.len());
        self.wait_flushed(lsn)?;
        let core = &*self.core;
        {
            let mut control = core.control.lock();
            assert!(control.now.checkpoint <= lsn, "a checkpoint goes forward: {} to {lsn}", control.now.checkpoint);
            let durable = core.flusher.flushed();
            let next = Control { checkpoint: lsn, durable, payload: payload.to_vec(), ..control.now.clone() };
            control.store(next)?;
            *core.checkpoint.lock() = Checkpoint { lsn, payload: payload.to_vec() };
            // Release: pairs with Acquire in `oldest_needed`.
            core.oldest.store(lsn, Ordering::Release);
        }
        // First, for who waits because the disk is full.
        let freed = core.free_segments();
        core.flusher.checkpoint_moved();
        freed
    }

    /// The first LSN that is still on disk.
    pub fn first_lsn(&self) -> Lsn {
        self.core.segments.first()
    }

    /// The groups from `from` on, as they become durable. `from` is a group's start or end, not below what is retained.
    /// Writers wait for who follows: for one at a time, until [`Log::retain`] says that nobody does.
    pub fn follow(&self, from: Lsn) -> Follower {
        self.core.pass(from);
        self.core.retention.begin();
        Follower::new(Arc::clone(&self.core), from, true)
    }

    /// Followers need nothing below `lsn` any more; `Lsn::MAX`: nobody follows. It goes forward only, but for the first time.
    ///
    /// Errors: `Io` from removing files; the bound has moved all the same.
    pub fn retain(&self, lsn: Lsn) -> Result<()> {
        // Release: pairs with Acquire in `oldest_kept`.
        let before = self.core.retained.swap(lsn, Ordering::Release);
        if (before == Lsn::MAX) != (lsn == Lsn::MAX) {
            // Relaxed: as in `pass`.
            self.core.passed.store(lsn, Ordering::Relaxed);
        }
        let freed = self.core.free_segments();
        self.core.flusher.checkpoint_moved();
        freed
    }

    /// For the follower, before a look at what it can let go of: what to tell [`Log::answer`] afterwards. Where it is not what was
    /// answered last, somebody has no room on a full disk.
    pub fn asked(&self) -> u32 {
        self.core.retention.asked()
    }

    /// The follower has looked, and retains what it must. `stalled`: it cannot go on, so that nobody should wait for it.
    pub fn answer(&self, asked: u32, stalled: bool) {
        self.core.retention.answer(asked, stalled);
        self.core.flusher.checkpoint_moved();
    }

    /// Wakes followers that sleep between batches: somebody waits for what they make of the log.
    pub fn hurry_followers(&self) {
        self.core.flusher.hurry_followers();
    }

    /// The newest durable checkpoint.
    pub fn checkpoint(&self) -> Checkpoint {
        self.core.checkpoint.lock().clone()
    }

    /// Longest checkpoint payload in bytes.
    pub const fn checkpoint_payload_max() -> usize {
        PAYLOAD_BYTES_MAX
    }

    /// The checkpoint's LSN: below it nothing is kept.
    pub fn oldest_needed(&self) -> Lsn {
        self.core.oldest_needed()
    }

    /// Somebody wants all that the log says up to now to be gone from its files. Returns the LSN that the log has to pass first; then, once
    /// [`Log::kept_from`] has come beyond what is to go by [`Log::OVERWRITTEN_BEHIND`], [`Log::overwrite`] does it.
    pub fn begin_overwriting(&self) -> Lsn {
        self.core.segments.begin_overwriting()
    }

    /// So far behind [`Log::kept_from`] all is overwritten: a block is written as a whole.
    pub const OVERWRITTEN_BEHIND: u64 = BLOCK;

    /// Nobody needs what lies below: neither recovery, nor a follower, nor a copy.
    pub fn kept_from(&self) -> Lsn {
        self.core.oldest_not_held()
    }

    /// Writes zeros over all that nobody needs of the log's files, durably. Errors: `Io`, `NoSpace`; to be tried again.
    pub fn overwrite(&self) -> Result<()> {
        self.core.segments.overwrite_below(self.core.oldest_not_held())
    }

    /// The files that hold log now, the oldest first.
    pub fn files(&self) -> Vec<LogFile> {
        let (segments, tail) = (&self.core.segments, self.core.prefix.tail());
        let data_bytes = segments.data_bytes();
        let file = |number| {
            let (start, end) = (number * data_bytes, (number + 1) * data_bytes);
            LogFile {
                number,
                path: segments.place(start).0,
                lsns: start..end,
                bytes: SEGMENT_HEADER + data_bytes,
                is_full: end <= tail,
            }
        };
        segments.numbers().into_iter().map(file).collect()
    }

    /// See [`Options::capacity`].
    pub fn capacity(&self) -> u64 {
        // Relaxed: a setting.
        self.core.capacity.load(Ordering::Relaxed)
    }

    pub fn set_capacity(&self, bytes: u64) {
        // Relaxed: a setting.
        self.core.capacity.store(bytes, Ordering::Relaxed);
    }

    /// Bytes of log from the checkpoint to the tail: at `capacity` a checkpoint is overdue.
    pub fn used(&self) -> u64 {
        let oldest = self.oldest_needed();
        self.tail_lsn().saturating_sub(oldest)
    }

    /// Numbers of the first and of the last file that are in use.
    pub fn file_numbers(&self) -> (u64, u64) {
        let segments = &self.core.segments;
        let bytes = segments.data_bytes();
        (segments.first() / bytes, (segments.allocated() / bytes).saturating_sub(1))
    }

    /// Bytes of all segment files, live and spare.
    pub fn file_bytes(&self) -> u64 {
        self.core.segments.file_bytes()
    }

    /// Flushes all that is complete and stops the background thread. The log works on afterwards.
    pub fn close(&self) -> Result<()> {
        self.background.stop();
        self.wait_flushed(self.completed_lsn())
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        // Nobody waits for what is not flushed yet; an error leaves it to recovery, as a crash would.
        if let Err(error) = self.close() {
            eprintln!("[ERROR] [log] closing: {error}");
        }
    }
}

/// A new log's first segment and control file.
fn create(directory: &Directory, options: &Options) -> Result<ControlFile> {
    let data_bytes = options.segment_bytes.unwrap_or((options.capacity / 32).clamp(4 << 20, 64 << 20));
    let data_bytes = block_ceil(data_bytes.max(2 * BLOCK));
    let log_id = RandomState::new().build_hasher().finish();
    Segments::create(directory, log_id, data_bytes)?;
    let first = Control {
        sequence: 1,
        log_id,
        segment_data_bytes: data_bytes,
        checkpoint: FIRST_LSN,
        durable: FIRST_LSN,
        epoch_start: FIRST_LSN,
        epoch: 0,
        payload: Vec::new(),
    };
    ControlFile::create(directory, first)
}
