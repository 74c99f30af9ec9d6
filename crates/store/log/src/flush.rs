//! Getting the ring's bytes into the segments: what a leader does in its turn, and how others wait for it.
#![expect(unsafe_code, reason = "reads and writes the ring under the contracts of `ring`")]

use std::io::IoSlice;
use std::sync::Arc;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use io::File;
use observe::{Counter, Timer};
use sync::blocking;
use sync::shim::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering, fence};
use sync::waits::Wait;
use sync::{CachePadded, Mutex, Rank, futex};

use crate::format::{BLOCK, SEGMENT_HEADER, block_ceil, block_floor};
use crate::prefix::Lane;
use crate::ring::Ring;
use crate::segment::Segments;
use crate::shared::Core;
use crate::turnstile::{Entered, Turnstile, Want};
use crate::{Error, Lsn, Result};

static ZEROS: [u8; BLOCK as usize] = [0; BLOCK as usize];
/// Rounds of looking again for groups that other threads are just filling, before flushing without them.
const PATIENCE: u32 = 64;
/// Rounds of waiting for other threads' groups after which the thread sleeps between its looks.
const SLEEPS_FROM: u32 = 1024;
/// Rounds after which a leader tells the error log that it still waits: a second at least, by the sleeps in `relax`.
const COMPLAINT: u32 = SLEEPS_FROM + 10_000;
/// How soon to try again when the disk is full and a reservation is waiting.
const RETRY: Duration = Duration::from_millis(10);

/// Progress of the log to disk.
pub struct Flusher {
    turnstile: Turnstile,
    progress: CachePadded<Progress>,
    /// The leader's own; never contended, since the turn guards it.
    writer: CachePadded<Mutex<Writer>>,
    poison: OnceLock<String>,
    /// Counts checkpoints, for `ensure_room` to wait on.
    checkpoints: AtomicU32,
    followers: CachePadded<Followers>,
}

/// What every appender and waiter reads, on one line that changes once a round. W: leaders.
struct Progress {
    written: AtomicU64,
    flushed: AtomicU64,
    /// Set after `poison`.
    poisoned: AtomicBool,
}

/// Who reads the log while it grows.
#[derive(Default)]
struct Followers {
    /// Changes when one is to look again.
    hurries: AtomicU32,
    /// 1: one sleeps until more is flushed. W: it, and the leader that wakes it.
    asleep: AtomicU32,
}

struct Writer {
    current: Option<(u64, Arc<File>)>,
    /// Written since the last sync, other than `current`.
    unsynced: Vec<Arc<File>>,
}

/// Aborts when a leader panics: everybody would wait for ever.
struct AbortOnUnwind;

impl Drop for AbortOnUnwind {
    fn drop(&mut self) {
        if std::thread::panicking() {
            std::process::abort();
        }
    }
}

impl Flusher {
    pub fn new(end: Lsn) -> Flusher {
        let writer = Writer { current: None, unsynced: Vec::new() };
        Flusher {
            turnstile: Turnstile::default(),
            progress: CachePadded::new(Progress {
                written: AtomicU64::new(end),
                flushed: AtomicU64::new(end),
                poisoned: AtomicBool::new(false),
            }),
            writer: CachePadded::new(Mutex::new(Rank::LogBuffer, writer)),
            poison: OnceLock::new(),
            checkpoints: AtomicU32::new(0),
            followers: CachePadded::new(Followers::default()),
        }
    }

    pub fn written(&self) -> Lsn {
        // Acquire: pairs with Release in `lead`; who reuses the ring's bytes does so after they were read.
        self.progress.written.load(Ordering::Acquire)
    }

    pub fn flushed(&self) -> Lsn {
        // Acquire: pairs with Release in `lead`.
        self.progress.flushed.load(Ordering::Acquire)
    }

    fn reached(&self, want: Want) -> Lsn {
        match want {
            Want::Written | Want::Room => self.written(),
            Want::Flushed => self.flushed(),
        }
    }

    /// `Poisoned` once a write or sync has failed.
    pub fn check(&self) -> Result<()> {
        // Acquire: pairs with Release in `poisoned`.
        if self.progress.poisoned.load(Ordering::Acquire) { Err(self.why_poisoned()) } else { Ok(()) }
    }

    /// Reservations that end at or below this may use the ring.
    pub fn room(&self, ring_bytes: u64) -> Lsn {
        self.written() + ring_bytes
    }

    /// Waits until all below `lsn` is where `want` says, or (`Interrupted`) who the thread serves wants it no more.
    pub fn wait(&self, core: &Core, lsn: Lsn, want: Want) -> Result<()> {
        let mut slept = None;
        let mut waiting = None;
        loop {
            let turn = self.turnstile.turn();
            if self.reached(want) >= lsn {
                self.turnstile.pass_on(slept);
                return Ok(());
            }
            if let Err(error) = self.check() {
                self.turnstile.pass_on(slept);
                return Err(error);
            }
            debug_assert!(lsn <= core.prefix.tail(), "a wait for LSN {lsn}, which nobody has reserved");
            if waiting.is_some() && blocking::is_interrupted() {
                self.turnstile.pass_on(slept);
                return Err(Error::Interrupted);
            }
            slept = match self.turnstile.enter(turn, lsn, want) {
                Entered::Again { slept } => {
                    waiting.get_or_insert_with(|| blocking::waiting(Wait::LogFlush));
                    slept
                }
                Entered::Leader => {
                    let led = self.lead(core, lsn, want);
                    if self.reached(want) < lsn {
                        led?;
                    }
                    None
                }
            };
        }
    }

    /// Waits until all groups below `lsn` are complete.
    pub fn wait_completed(&self, core: &Core, lsn: Lsn) -> Result<()> {
        let mut round = 0;
        // By what is told to others: who has waited for its commit finds it in the next `known_complete_lsn`.
        while core.prefix.completed() < lsn {
            self.check()?;
            relax(round);
            round += 1;
        }
        Ok(())
    }

    /// Waits until the reservation that ends at `end`, the caller's own, may use the ring. Its start is at or above what it waits for, so
    /// the flush it waits for never waits for it.
    #[cold]
    pub fn make_room(&self, core: &Core, end: Lsn) -> Result<()> {
        let lsn = end - core.ring.bytes();
        let _taken = blocking::shield();
        loop {
            match self.wait(core, lsn, Want::Room) {
                Err(Error::NoSpace { .. }) => {
                    // The place is taken and cannot be given back: wait for room on disk.
                    let word = AtomicU32::new(0);
                    futex::wait(&word, 0, Some(RETRY), Wait::DiskSpace);
                }
                done => return done,
            }
        }
    }

    /// Sleeps until more than `lsn` is flushed, somebody is in a hurry, or for `time`. Without `woken`, what is flushed meanwhile
    /// does not end it: a leader then pays no system call.
    pub fn await_more(&self, lsn: Lsn, woken: bool, time: Duration) {
        // Acquire: pairs with Release in `hurry_followers`.
        let seen = self.followers.hurries.load(Ordering::Acquire);
        // SeqCst: pairs with the fence in `round`: either we find what it stored, or it finds us asleep.
        self.followers.asleep.store(u32::from(woken), Ordering::SeqCst);
        if self.progress.flushed.load(Ordering::SeqCst) <= lsn {
            futex::wait(&self.followers.hurries, seen, Some(time), Wait::BinlogUpdate);
        }
    }

    pub fn hurry_followers(&self) {
        // Release: pairs with Acquire in `await_more`: who was woken finds what it was woken for.
        self.followers.hurries.fetch_add(1, Ordering::Release);
        futex::wake_all(&self.followers.hurries);
    }

    /// A checkpoint, or where the follower is, has moved `slowest`.
    pub fn checkpoint_moved(&self) {
        // Release: pairs with Acquire in `wait_checkpoint`.
        self.checkpoints.fetch_add(1, Ordering::Release);
        futex::wake_all(&self.checkpoints);
    }

    /// Waits until `is_over`, which a checkpoint or the follower changes. False: not before `timeout`.
    #[cold]
    pub fn await_checkpoints(&self, is_over: impl Fn() -> bool, timeout: Duration) -> Result<bool> {
        let deadline = Instant::now() + timeout;
        let _waiting = blocking::waiting(Wait::Checkpoint);
        loop {
            // Acquire: pairs with Release in `checkpoint_moved`, whose store came before.
            let seen = self.checkpoints.load(Ordering::Acquire);
            if is_over() {
                return Ok(true);
            }
            self.check()?;
            if blocking::is_interrupted() {
                return Err(Error::Interrupted);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(false);
            }
            futex::wait(&self.checkpoints, seen, Some(left.min(blocking::ASK_AGAIN)), Wait::Checkpoint);
        }
    }

    /// Waits until the checkpoint and the follower are at or above `lsn`; `NoSpace` after `timeout`, and as soon as it is for a follower
    /// that cannot go on.
    #[cold]
    pub fn wait_checkpoint(&self, core: &Core, lsn: Lsn, timeout: Duration) -> Result<()> {
        let is_stalled = || core.oldest_needed() >= lsn && core.retention.is_stalled();
        self.await_checkpoints(|| core.slowest() >= lsn || is_stalled(), timeout)?;
        if core.slowest() >= lsn {
            return Ok(());
        }
        let what = match core.oldest_needed() >= lsn {
            true if core.retention.is_stalled() => {
                format!("the reader of the log, which cannot go on, is not at LSN {lsn}")
            }
            true => format!("no reader of the log reached LSN {lsn} within {} s", timeout.as_secs()),
            false => format!("no checkpoint reached LSN {lsn} within {} s", timeout.as_secs()),
        };
        Err(Error::NoSpace { what })
    }

    /// The leader's turn: writes, syncs if `want` says so, publishes, hands over.
    fn lead(&self, core: &Core, lsn: Lsn, want: Want) -> Result<()> {
        let guard = AbortOnUnwind;
        let result = match self.check() {
            Ok(()) => self.round(core, lsn, want),
            poisoned => poisoned,
        };
        self.turnstile.finish();
        drop(guard);
        result
    }

    fn round(&self, core: &Core, lsn: Lsn, want: Want) -> Result<()> {
        let target = self.target(core, lsn, want);
        self.turnstile.announce(target, want);
        let mut writer = self.writer.lock();
        let from = self.written();
        let (reached, result) = writer.write(&core.ring, &core.segments, from, target);
        if let Err(error) = &result
            && !matches!(error, Error::NoSpace { .. })
        {
            return Err(self.poisoned(error));
        }
        // Release: pairs with Acquire in `written`.
        self.progress.written.store(reached, Ordering::Release);
        if want == Want::Flushed && self.flushed() < reached {
            let start = Instant::now();
            if let Err(error) = writer.sync() {
                return Err(self.poisoned(&error));
            }
            observe::record(Timer::LogFlush, start.elapsed().as_nanos() as u64);
            // Release: pairs with Acquire in `flushed`.
            self.progress.flushed.store(reached, Ordering::Release);
            fence(Ordering::SeqCst); // pairs with the SeqCst store in `await_more`
            // Relaxed: ordered by the fence.
            if self.followers.asleep.load(Ordering::Relaxed) == 1 {
                self.followers.asleep.store(0, Ordering::Relaxed); // Relaxed: it only spares a call
                self.hurry_followers();
            }
        }
        result
    }

    /// How far this round goes: all that is complete. Threads that are copying are given a moment, and as long as it takes when there is
    /// nothing else to do; what the leader itself waits for is complete or being copied by somebody who waits for nothing but the ring,
    /// and that only when `written` is behind, which then is something to do.
    fn target(&self, core: &Core, lsn: Lsn, want: Want) -> Lsn {
        let mut round = 0;
        loop {
            let bound = core.prefix.bound();
            if bound >= lsn || (round >= PATIENCE && bound > self.reached(want)) {
                return bound;
            }
            relax(round);
            round += 1;
            if round == COMPLAINT {
                self.complain(core, lsn, want);
            }
        }
    }

    /// Everybody waits for this leader, and it waits for a copy of some hundred bytes: a starved machine, or a defect. Said once a round.
    #[cold]
    fn complain(&self, core: &Core, lsn: Lsn, want: Want) {
        let (tail, written, flushed) = (core.prefix.tail(), self.written(), self.flushed());
        let open: Vec<_> = core.prefix.open().map(|(lane, from)| format!("lane {lane} from {from}")).collect();
        eprintln!(
            "[Warning] [log] a flush to LSN {lsn} ({want:?}) has waited a second or longer for groups that other \
             threads are filling: {}; \
             written {written}, flushed {flushed}, tail {tail}",
            open.join(", ")
        );
    }

    #[cold]
    fn why_poisoned(&self) -> Error {
        Error::Poisoned { why: self.poison.get().expect("set before the flag").clone() }
    }

    fn poisoned(&self, error: &Error) -> Error {
        let why = self.poison.get_or_init(|| {
            // Those who wait are told as well; but whoever repairs the disk reads the error log.
            eprintln!("[ERROR] [log] nothing is logged any more, restart to recover what is durable: {error}");
            error.to_string()
        });
        let why = why.clone();
        // Release: pairs with Acquire in `check`.
        self.progress.poisoned.store(true, Ordering::Release);
        Error::Poisoned { why }
    }
}

impl Writer {
    /// Writes [from, to) from the ring. How far it came: less than `to` when it failed.
    fn write(&mut self, ring: &Ring, segments: &Segments, from: Lsn, to: Lsn) -> (Lsn, Result<()>) {
        let mut reached = from;
        while reached < to {
            let segment_end = (reached / segments.data_bytes() + 1) * segments.data_bytes();
            let until = to.min(segment_end);
            if let Err(error) = self.write_within(ring, segments, reached, until) {
                return (reached, Err(error));
            }
            reached = until;
        }
        (reached, Ok(()))
    }

    /// Makes the file that holds `lsn` the current one.
    fn seek(&mut self, segments: &Segments, lsn: Lsn) -> Result<&File> {
        let number = lsn / segments.data_bytes();
        if self.current.as_ref().is_none_or(|(current, _)| *current != number) {
            let file = segments.file_for(lsn)?;
            let before = self.current.replace((number, file));
            self.unsynced.extend(before.map(|(_, file)| file));
        }
        let (_, file) = self.current.as_ref().expect("it was put there");
        Ok(file)
    }

    /// Writes [from, until), which is not empty, of one segment, straight from the ring: the bytes are read by the kernel and by nobody
    /// else. The first write to a block fills it up with zeros, so that the kernel need not read it from disk first.
    fn write_within(&mut self, ring: &Ring, segments: &Segments, from: Lsn, until: Lsn) -> Result<()> {
        let file = self.seek(segments, from)?;
        // SAFETY: [from, until) lies in [written, bound): complete, visible since `bound`, and not reused before `written` moves on.
        let (first, second) = unsafe { ring.read(from, (until - from) as usize) };
        let is_new_block = block_floor(until) >= from;
        let padding = if is_new_block { (block_ceil(until) - until) as usize } else { 0 };
        let (mut pieces, mut count) = ([IoSlice::new(&[]); 3], 0);
        for piece in [first, second, &ZEROS[..padding]].into_iter().filter(|piece| !piece.is_empty()) {
            pieces[count] = IoSlice::new(piece);
            count += 1;
        }
        file.write_vectored_at(&pieces[..count], SEGMENT_HEADER + from % segments.data_bytes())?;
        observe::increment(Counter::InnodbLogWrites);
        observe::add(Counter::InnodbOsLogWritten, until - from + padding as u64);
        Ok(())
    }

    fn sync(&mut self) -> Result<()> {
        for file in self.unsynced.drain(..) {
            file.sync_data()?;
            observe::increment(Counter::InnodbOsLogFsyncs);
        }
        if let Some((_, file)) = &self.current {
            file.sync_data()?;
            observe::increment(Counter::InnodbOsLogFsyncs);
        }
        Ok(())
    }
}

impl Core {
    /// Copies into the open reservation of the calling thread, whose lane proves that it is open.
    pub fn write_reserved(&self, lane: &Lane, lsn: Lsn, bytes: &[u8]) {
        debug_assert!(self.prefix.is_reserving(lane));
        // SAFETY: `Reservation`, the only caller, stays within [start, end) of the thread's open reservation, which waited for
        // `end <= room` before it existed.
        unsafe { self.ring.write(lsn, bytes) }
    }

    /// Bytes of the open reservation of the calling thread.
    pub fn read_reserved(&self, lane: &Lane, lsn: Lsn, len: usize) -> (&[u8], &[u8]) {
        debug_assert!(self.prefix.is_reserving(lane));
        // SAFETY: as in `write_reserved`; the caller writes there again only after its last use of the slices.
        unsafe { self.ring.read(lsn, len) }
    }
}

/// Lets others run: spins, then yields, then sleeps, for whoever we wait for may have been preempted in the middle of a copy.
///
/// A sleep and not a wake-up, on purpose: to be woken, the copier would have to look for us as it completes, a locked
/// instruction in every append. 64 committers on 2 cores slept 13 times in 200,000 commits, 0.1 ms each; 16 never did.
fn relax(round: u32) {
    match round {
        0..32 => std::hint::spin_loop(),
        32..SLEEPS_FROM => std::thread::yield_now(),
        _ => blocking::sleep(Wait::LogOrder, Duration::from_micros(100)),
    }
}
