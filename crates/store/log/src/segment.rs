//! Segment files: named, found, made ahead of need, and recycled.
//!
//! `clearway-<number>.log` holds stream bytes [number * data_bytes, (number + 1) * data_bytes). A segment gets its name only when it is
//! whole: zero-written to its full length (so that syncing data never commits file-size or extent metadata), headed and synced. A segment
//! wholly below the checkpoint becomes a spare under its old name; a spare gets a new header, is synced, and then renamed. So
//! every file at or above the checkpoint's number is valid, and their numbers have no gap: anything else is damage.
//!
//! `clearway-reserve-<n>.log` has the blocks of a segment and is none: it keeps room on the disk for rollbacks
//! ([`Segments::keep_reserve`]), and becomes a segment when one of them finds no room otherwise.
//!
//! A recycled segment has bytes of its former life until the log has come by. Who wants what the log said to be gone from the files
//! ([`Segments::begin_overwriting`]) gets segments of zeros from then on, lets the log go past those that are not, and then has zeros
//! written over all that nobody needs ([`Segments::overwrite_below`]).

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;

use io::{AlignedBuf, Directory, ErrorKind, File, OpenOptions};
use sync::shim::atomic::{AtomicBool, AtomicU64, Ordering};
use sync::{Mutex, Rank};

use crate::format::{BLOCK, FIRST_LSN, SEGMENT_HEADER, SegmentHeader, block_floor};
use crate::{Error, Lsn, Result};

const NEW_NAME: &str = "clearway-new.log";
const RESERVE_PREFIX: &str = "clearway-reserve-";
const ZEROS: usize = 1 << 20;

/// The name of segment `number`.
pub fn file_name(number: u64) -> String {
    format!("clearway-{number:010}.log")
}

fn number_of(name: &str) -> Option<u64> {
    name.strip_prefix("clearway-")?.strip_suffix(".log")?.parse().ok()
}

/// One segment that holds, or will hold, live log.
#[derive(Clone, Debug)]
pub struct Segment {
    pub number: u64,
    pub file: Arc<File>,
}

/// The run of live segments as a stretch of the stream.
#[derive(Clone, Debug)]
pub struct Stretch {
    pub directory: PathBuf,
    pub log_id: u64,
    pub data_bytes: u64,
    pub segments: VecDeque<Segment>,
}

impl Stretch {
    /// First LSN beyond the last segment.
    pub fn end(&self) -> Lsn {
        self.segments.back().map_or(0, |last| (last.number + 1) * self.data_bytes)
    }

    /// The segment that holds `lsn`, and where in its file.
    pub fn locate(&self, lsn: Lsn) -> Option<(&Segment, u64)> {
        let first = self.segments.front()?.number;
        let segment = self.segments.get(usize::try_from((lsn / self.data_bytes).checked_sub(first)?).ok()?)?;
        Some((segment, SEGMENT_HEADER + lsn % self.data_bytes))
    }

    /// Where `lsn` is, for messages.
    pub fn place(&self, lsn: Lsn) -> (PathBuf, u64) {
        (self.directory.join(file_name(lsn / self.data_bytes)), SEGMENT_HEADER + lsn % self.data_bytes)
    }

    /// Fills `bytes` from `lsn` on, across segments. The caller stays below `end`.
    pub fn read(&self, lsn: Lsn, bytes: &mut [u8]) -> Result<()> {
        let mut done = 0;
        while done < bytes.len() {
            let at = lsn + done as u64;
            let (segment, offset) = self.locate(at).expect("reads stay within the segments");
            let len = (bytes.len() - done).min((self.data_bytes - at % self.data_bytes) as usize);
            segment.file.read_at(&mut bytes[done..done + len], offset)?;
            done += len;
        }
        Ok(())
    }
}

/// The live segments and the spares.
pub struct Segments {
    directory: Directory,
    log_id: u64,
    data_bytes: u64,
    /// Held while a segment is made, file input and output included: the flush leader that needs the segment has to wait for it
    /// in any case, and nobody else asks. The background thread makes segments ahead so that leaders never do.
    growing: Mutex<()>,
    state: Mutex<State>,
    /// First LSN without a segment. W: under `growing`. R: `ensure_room`, leaders.
    allocated: AtomicU64,
    /// What the reserve has room for, in bytes. W: under `growing`. R: who owes a rollback its room.
    reserved: AtomicU64,
    /// Segments were made of the reserve since it was last as large as it is to be. W: under `growing`. R: `ensure_room`, rollbacks.
    short: AtomicBool,
}

struct State {
    live: VecDeque<Segment>,
    spares: Vec<Spare>,
    /// Numbers of the reserve's files.
    reserve: Vec<u64>,
    /// The last live segment that may have bytes of a former life ends here.
    worn_until: Lsn,
    /// Below, live segments are zeros.
    zeros_until: Lsn,
    /// Only spares of zeros are recycled.
    overwriting: bool,
}

struct Spare {
    name: String,
    is_zeros: bool,
}

impl Segments {
    /// Finds the segments of a log that recovery needs from `oldest` on, and opens them for reading. What a follower needs
    /// from `retained` on is kept, too, if all of it is there still. The files below become spares.
    pub fn open(
        directory: Directory,
        log_id: u64,
        data_bytes: u64,
        oldest: Lsn,
        retained: Lsn,
    ) -> Result<(Segments, Stretch)> {
        let first = oldest / data_bytes;
        let mut numbers: Vec<u64> = directory.list()?.iter().filter_map(|name| number_of(name)).collect();
        numbers.sort_unstable();
        let reserve: Vec<u64> = directory.list()?.iter().filter_map(|name| reserve_number_of(name)).collect();
        let reserved = reserve.len() as u64 * data_bytes;
        let open = |number| open_segment(&directory, SegmentHeader { log_id, number, data_bytes });
        let mut state = State {
            live: VecDeque::new(),
            spares: Vec::new(),
            reserve,
            worn_until: 0,
            zeros_until: 0,
            overwriting: false,
        };
        let mut readable = VecDeque::new();
        // Spares keep their old names, so what is still kept may have been freed since, and one may have got another header.
        let kept: Result<Vec<Segment>> = (retained / data_bytes..first).map(open).collect();
        state.live.extend(kept.unwrap_or_default());
        let kept_from = state.live.front().map_or(first, |segment| segment.number);
        for number in numbers {
            if number < first {
                if number < kept_from {
                    state.spares.push(Spare { name: file_name(number), is_zeros: false });
                }
                continue;
            }
            let expected = first + readable.len() as u64;
            if number != expected {
                let why = format!("segment {} before it is missing", file_name(expected));
                return Err(corrupt(&directory, number, data_bytes, 0, why));
            }
            readable.push_back(open(number)?);
            state.live.push_back(open(number)?);
        }
        if readable.is_empty() {
            let (file, why) = (directory.join(&file_name(first)), "the segment of the checkpoint is missing".into());
            return Err(Error::Corrupt { file, offset: 0, lsn: oldest, why });
        }
        let stretch = Stretch { directory: directory.path().into(), log_id, data_bytes, segments: readable };
        let end = stretch.end();
        state.worn_until = end;
        let segments = Segments {
            directory,
            log_id,
            data_bytes,
            growing: Mutex::new(Rank::LogFile, ()),
            state: Mutex::new(Rank::LogFile, state),
            allocated: AtomicU64::new(end),
            reserved: AtomicU64::new(reserved),
            short: AtomicBool::new(false),
        };
        Ok((segments, stretch))
    }

    /// The first LSN that is on disk.
    pub fn first(&self) -> Lsn {
        let state = self.state.lock_same_rank();
        state.live.front().expect("a log has a segment").number * self.data_bytes
    }

    /// Makes the first segment of a new log. What an unfinished creation left is removed: a first segment in which nothing was ever
    /// logged. If there is more, the control file was lost: `Corrupt`.
    pub fn create(directory: &Directory, log_id: u64, data_bytes: u64) -> Result<()> {
        for name in directory.list()? {
            let Some(number) = number_of(&name) else { continue };
            let mut block = [0; BLOCK as usize];
            let at = SEGMENT_HEADER + FIRST_LSN;
            directory.open_file(&name, OpenOptions::read(sync::waits::Wait::LogFile))?.read_up_to(&mut block, at)?;
            if number != 0 || block.iter().any(|&byte| byte != 0) {
                let why = "there is log here, but no control file".into();
                return Err(Error::Corrupt { file: directory.join(&name), offset: at, lsn: FIRST_LSN, why });
            }
            directory.remove(&name)?;
        }
        make(directory, SegmentHeader { log_id, number: 0, data_bytes })
    }

    pub fn data_bytes(&self) -> u64 {
        self.data_bytes
    }

    /// First LSN that has no segment yet.
    pub fn allocated(&self) -> Lsn {
        // Acquire: pairs with Release in `grow`; the segment is in the table.
        self.allocated.load(Ordering::Acquire)
    }

    /// The file of the live segment that holds `lsn`; `None` when it is not there.
    pub fn existing(&self, lsn: Lsn) -> Option<Arc<File>> {
        let state = self.state.lock_same_rank();
        let index = (lsn / self.data_bytes).checked_sub(state.live.front()?.number)?;
        state.live.get(usize::try_from(index).ok()?).map(|segment| Arc::clone(&segment.file))
    }

    /// Where `lsn` is, for messages.
    pub fn place(&self, lsn: Lsn) -> (PathBuf, u64) {
        (self.directory.join(&file_name(lsn / self.data_bytes)), SEGMENT_HEADER + lsn % self.data_bytes)
    }

    /// The file of the segment that holds `lsn`, made if need be.
    pub fn file_for(&self, lsn: Lsn) -> Result<Arc<File>> {
        let number = lsn / self.data_bytes;
        while lsn >= self.allocated() {
            self.grow_to(lsn + 1)?;
        }
        let state = self.state.lock_same_rank();
        let first = state.live.front().expect("a log has a segment").number;
        let index = number.checked_sub(first).expect("the log below the checkpoint is gone");
        Ok(Arc::clone(&state.live[index as usize].file))
    }

    /// Makes segments until LSNs below `end` have one.
    pub fn grow_to(&self, end: Lsn) -> Result<()> {
        let growing = self.growing.lock();
        while self.allocated() < end {
            self.grow_locked(false)?;
        }
        drop(growing);
        Ok(())
    }

    /// The same, on a full disk out of the reserve. `NoSpace`: that is used up, too.
    pub fn grow_by_reserve(&self, end: Lsn) -> Result<()> {
        let growing = self.growing.lock();
        while self.allocated() < end {
            self.grow_locked(true)?;
        }
        drop(growing);
        Ok(())
    }

    /// Keeps room on the disk for `wanted` bytes of log, asked for with nobody else at it: blocks that nobody else can take. What is
    /// beyond, and beyond `spare` files, goes back to the file system. Errors: `NoSpace`, `Io`.
    pub fn keep_reserve(&self, wanted: impl Fn() -> u64, spare: usize) -> Result<()> {
        let _growing = self.growing.lock();
        loop {
            let (count, next) = {
                let state = self.state.lock_same_rank();
                (state.reserve.len(), state.reserve.iter().max().map_or(1, |last| last + 1))
            };
            let files = wanted().div_ceil(self.data_bytes) as usize;
            if count < files {
                self.reserve_file(next)?;
                self.state.lock_same_rank().reserve.push(next);
                self.tell_reserved(count + 1);
            } else if count > files + spare {
                // Who adds to what is wanted looks at `reserved` after that: either it finds less here, or we find what it added.
                self.tell_reserved(count - 1);
                if wanted() > self.reserved() {
                    self.tell_reserved(count);
                    continue;
                }
                let surplus = self.state.lock_same_rank().reserve.pop().expect("there are more than none");
                self.directory.remove(&reserve_name(surplus))?;
            } else {
                // Relaxed: under the mutex of all who store it.
                self.short.store(false, Ordering::Relaxed);
                return Ok(());
            }
        }
    }

    fn tell_reserved(&self, files: usize) {
        // SeqCst: pairs with the load in `reserved`, as `owed` of the log does: see `keep_reserve`.
        self.reserved.store(files as u64 * self.data_bytes, Ordering::SeqCst);
    }

    /// What the reserve has room for, in bytes.
    pub fn reserved(&self) -> u64 {
        // SeqCst: as in `tell_reserved`.
        self.reserved.load(Ordering::SeqCst)
    }

    /// Would `keep_reserve` change anything, now that `wanted` has become less? It takes no latch, so the answer may be old.
    pub fn is_reserve_amiss(&self, wanted: u64, spare: usize) -> bool {
        let files = wanted.div_ceil(self.data_bytes) + spare as u64;
        self.is_short() || self.reserved() > files * self.data_bytes
    }

    /// Is there less in the reserve than there should be? Then what is left of the log's files is for rollbacks.
    pub fn is_short(&self) -> bool {
        // Relaxed: who reads it too late has taken little: see `ROOM_AHEAD`.
        self.short.load(Ordering::Relaxed)
    }

    fn reserve_file(&self, number: u64) -> Result<()> {
        let name = reserve_name(number);
        let file = self
            .directory
            .open_file(&name, OpenOptions { truncate: true, ..OpenOptions::create(sync::waits::Wait::LogFile) })?;
        file.allocate(0, SEGMENT_HEADER + self.data_bytes).map_err(|error| {
            // An empty file that is left is found by the next start, and is of no harm.
            let _ = self.directory.remove(&name);
            Error::from(error)
        })
    }

    /// Makes a segment of a file of the reserve; false: there is none.
    fn make_of_reserve(&self, header: SegmentHeader) -> Result<bool> {
        let (number, left) = {
            let mut state = self.state.lock_same_rank();
            let Some(number) = state.reserve.pop() else { return Ok(false) };
            (number, state.reserve.len())
        };
        self.tell_reserved(left);
        let name = reserve_name(number);
        let made = self
            .directory
            .open_file(&name, OpenOptions::write(sync::waits::Wait::LogFile))
            .map_err(Error::from)
            .and_then(|file| {
                write_zeros(&file, 0, SEGMENT_HEADER + header.data_bytes)?;
                publish(&self.directory, &file, &name, header)
            });
        match made {
            Ok(()) => {
                // Relaxed: as in `keep_reserve`.
                self.short.store(true, Ordering::Relaxed);
                Ok(true)
            }
            Err(error) => {
                self.state.lock_same_rank().reserve.push(number);
                self.tell_reserved(left + 1);
                Err(error)
            }
        }
    }

    fn grow_locked(&self, by_reserve: bool) -> Result<()> {
        let number = self.allocated() / self.data_bytes;
        let header = SegmentHeader { log_id: self.log_id, number, data_bytes: self.data_bytes };
        let spare = {
            let mut state = self.state.lock_same_rank();
            match state.overwriting {
                false => state.spares.pop(),
                true => state.spares.iter().position(|spare| spare.is_zeros).map(|at| state.spares.swap_remove(at)),
            }
        };
        let is_worn = spare.as_ref().is_some_and(|spare| !spare.is_zeros);
        let made = match &spare {
            Some(spare) => recycle(&self.directory, &spare.name, header),
            None => match make(&self.directory, header) {
                Err(Error::NoSpace { .. }) if by_reserve && self.make_of_reserve(header)? => Ok(()),
                made => made,
            },
        };
        let opened = made.and_then(|()| {
            Ok(self.directory.open_file(&file_name(number), OpenOptions::write(sync::waits::Wait::LogFile))?)
        });
        let file = match opened {
            Ok(file) => file,
            Err(error) => {
                // Still a spare, whatever its header says now; if it was renamed already, the next attempt finds it gone.
                self.state.lock_same_rank().spares.extend(spare);
                return Err(error);
            }
        };
        let end = (number + 1) * self.data_bytes;
        {
            let mut state = self.state.lock_same_rank();
            state.live.push_back(Segment { number, file: Arc::new(file) });
            if is_worn {
                state.worn_until = end;
            }
        }
        // Release: pairs with Acquire in `allocated`.
        self.allocated.store(end, Ordering::Release);
        Ok(())
    }

    /// From now on segments begin as zeros. Once the log has passed the LSN returned, no file has bytes of a former life ahead of it.
    pub fn begin_overwriting(&self) -> Lsn {
        // With no segment in the making.
        let _growing = self.growing.lock();
        let mut state = self.state.lock_same_rank();
        state.overwriting = true;
        state.worn_until
    }

    /// After [`Segments::begin_overwriting`]: writes zeros over spares and over the live segments' blocks wholly below `kept`, which nobody
    /// reads any more, durably. Once: segments may be recycled as they are afterwards.
    pub fn overwrite_below(&self, kept: Lsn) -> Result<()> {
        loop {
            // Out of the list, so that nobody else has it.
            let spare = {
                let mut state = self.state.lock_same_rank();
                let worn = state.spares.iter().position(|spare| !spare.is_zeros);
                worn.map(|at| state.spares.swap_remove(at))
            };
            let Some(mut spare) = spare else { break };
            let outcome = self.overwrite_spare(&spare.name);
            spare.is_zeros = outcome.is_ok();
            self.state.lock_same_rank().spares.push(spare);
            outcome?;
        }
        let kept = block_floor(kept);
        let (from, live): (Lsn, Vec<Segment>) = {
            let state = self.state.lock_same_rank();
            let below = |segment: &&Segment| segment.number * self.data_bytes < kept;
            (state.zeros_until, state.live.iter().filter(below).cloned().collect())
        };
        for Segment { number, file } in live {
            let first = number * self.data_bytes;
            let (from, to) = (from.clamp(first, first + self.data_bytes), kept.min(first + self.data_bytes));
            if from < to {
                write_zeros(&file, SEGMENT_HEADER + from - first, SEGMENT_HEADER + to - first)?;
                file.sync_data()?;
            }
        }
        let mut state = self.state.lock_same_rank();
        state.zeros_until = state.zeros_until.max(kept);
        state.overwriting = false;
        Ok(())
    }

    fn overwrite_spare(&self, name: &str) -> Result<()> {
        match self.directory.open_file(name, OpenOptions::write(sync::waits::Wait::LogFile)) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error.into()),
            Ok(file) => {
                write_zeros(&file, 0, file.len()? / BLOCK * BLOCK)?;
                Ok(file.sync_data()?)
            }
        }
    }

    /// Turns segments wholly below `oldest` into spares; keeps spares up to `files_max` files in all, and removes the others.
    pub fn free_below(&self, oldest: Lsn, files_max: usize) -> Result<()> {
        let mut doomed = Vec::new();
        {
            let mut state = self.state.lock_same_rank();
            // The last one stays: the log goes on there.
            while state.live.len() > 1 && (state.live[0].number + 1) * self.data_bytes <= oldest {
                let freed = state.live.pop_front().expect("it was there");
                let is_zeros = (freed.number + 1) * self.data_bytes <= state.zeros_until;
                state.spares.push(Spare { name: file_name(freed.number), is_zeros });
            }
            while !state.spares.is_empty() && state.live.len() + state.spares.len() > files_max {
                doomed.extend(state.spares.pop());
            }
        }
        for spare in doomed {
            self.directory.remove(&spare.name)?;
        }
        Ok(())
    }

    /// The numbers of the live segments, the oldest first.
    pub fn numbers(&self) -> Vec<u64> {
        self.state.lock_same_rank().live.iter().map(|segment| segment.number).collect()
    }

    /// Bytes of all segment files.
    pub fn file_bytes(&self) -> u64 {
        let state = self.state.lock_same_rank();
        (state.live.len() + state.spares.len()) as u64 * (SEGMENT_HEADER + self.data_bytes)
    }
}

fn reserve_name(number: u64) -> String {
    format!("{RESERVE_PREFIX}{number}.log")
}

fn reserve_number_of(name: &str) -> Option<u64> {
    name.strip_prefix(RESERVE_PREFIX)?.strip_suffix(".log")?.parse().ok()
}

/// Opens a segment that is to have this header. `Corrupt` when it is not that segment.
fn open_segment(directory: &Directory, expected: SegmentHeader) -> Result<Segment> {
    let SegmentHeader { number, data_bytes, .. } = expected;
    let corrupt = |offset, why: String| corrupt(directory, number, data_bytes, offset, why);
    let file = directory.open_file(&file_name(number), OpenOptions::write(sync::waits::Wait::LogFile))?;
    let length = file.len()?;
    if length != SEGMENT_HEADER + data_bytes {
        return Err(corrupt(length, format!("{length} bytes long instead of {}", SEGMENT_HEADER + data_bytes)));
    }
    let mut head = [0; 48];
    file.read_at(&mut head, 0)?;
    let header = SegmentHeader::decode(&head).map_err(|why| corrupt(0, why.into()))?;
    if header != expected {
        return Err(corrupt(0, format!("the header belongs elsewhere: {header:?}")));
    }
    Ok(Segment { number, file: Arc::new(file) })
}

fn corrupt(directory: &Directory, number: u64, data_bytes: u64, offset: u64, why: String) -> Error {
    Error::Corrupt { file: directory.join(&file_name(number)), offset, lsn: number * data_bytes, why }
}

/// A spare under a new number. One that is gone or of another size is replaced by a new file.
fn recycle(directory: &Directory, spare: &str, header: SegmentHeader) -> Result<()> {
    let file = match directory.open_file(spare, OpenOptions::write(sync::waits::Wait::LogFile)) {
        Err(error) if error.kind() == ErrorKind::NotFound => return make(directory, header),
        opened => opened?,
    };
    if file.len()? != SEGMENT_HEADER + header.data_bytes {
        drop(file);
        directory.remove(spare)?;
        return make(directory, header);
    }
    publish(directory, &file, spare, header)
}

/// A new file, zeros to its full length.
pub fn make(directory: &Directory, header: SegmentHeader) -> Result<()> {
    let options = OpenOptions { truncate: true, ..OpenOptions::create(sync::waits::Wait::LogFile) };
    let file = directory.open_file(NEW_NAME, options)?;
    let made =
        fill(&file, SEGMENT_HEADER + header.data_bytes).and_then(|()| publish(directory, &file, NEW_NAME, header));
    made.map_err(|error| match directory.remove(NEW_NAME) {
        Ok(()) => error,
        // Renamed already, before the error.
        Err(gone) if gone.kind() == ErrorKind::NotFound => error,
        Err(second) => Error::Io { what: format!("{error}; then {second}"), errno: second.errno().unwrap_or(0) },
    })
}

fn fill(file: &File, length: u64) -> Result<()> {
    // Asks for the room first: a full disk answers at once.
    file.allocate(0, length)?;
    write_zeros(file, 0, length)
}

fn write_zeros(file: &File, mut at: u64, end: u64) -> Result<()> {
    let zeros = AlignedBuf::zeroed(ZEROS);
    while at < end {
        let len = zeros.len().min((end - at) as usize);
        file.write_at(&zeros[..len], at)?;
        at += len as u64;
    }
    Ok(())
}

fn publish(directory: &Directory, file: &File, name: &str, header: SegmentHeader) -> Result<()> {
    file.write_at(&header.encode(), 0)?;
    file.sync_data()?;
    Ok(directory.rename(name, &file_name(header.number))?)
}
