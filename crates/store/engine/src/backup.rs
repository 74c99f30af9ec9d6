//! Copying a server in use: the copy is what kill -9 would have left at some moment, and opens as that would.
//!
//! ```text
//!   begin          the log is held from the checkpoint on ([`log::LogCopy`]), with the control file of that moment
//!   copy_pages     page after page as it stands in the data file; beside it the log, as it grows
//!   finish         the log up to a chosen place, at or above [`Backup::copied`]
//! ```
//!
//! Why redo makes it whole: a page of the copy is one that stood in the file at some moment after the checkpoint, so all of its changes
//! below the checkpoint are in it. What it has above that is below what was durable when the last page was read, since a page is written
//! after its log; and all of that log is in the copy. So each page is at a place of the log from which redo leads it to the end. But for
//! what was
//! given back to the file system, which would be read as zeros: nothing is, as long as a copy is made ([`crate::space::reclaim`]).
//!
//! An increment has only the pages that have changed since the checkpoint of the copy before it, and says which ([`PageRuns`]). A page
//! whose LSN is below that checkpoint stood in the file as it stands now when that copy read it.
//!
//! A page that is read while it is being written is torn: its checksum says so, and it is read again. Pages of zeros are
//! left out, so what was given back before takes no room in the copy either. Nothing is locked, no page goes through the pool, and
//! writers wait for nothing.

use crate::page::{self, PAGE_BYTES, PageId};
use crate::recovery::{DATA_FILE, LOG_DIRECTORY};
use crate::shared::Core;
use crate::{Engine, Error, Result};
use io::{AlignedBuf, Destination};
use log::{LogCopy, Lsn};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use sync::blocking;
use sync::waits::Wait;

/// Pages that are read at a time.
const PIECE_PAGES: u64 = 64;
/// A page that is not whole is read so many times, so long apart: a write takes less.
const TRIES: u32 = 200;
const BETWEEN_TRIES: Duration = Duration::from_millis(5);
/// How often the log is copied meanwhile.
const LOG_INTERVAL: Duration = Duration::from_millis(50);

/// In an increment: which pages it has.
pub const PAGES_FILE: &str = "clearway.pages";

/// A copy in the making.
pub struct Backup<'d> {
    core: Arc<Core>,
    to: &'d dyn Destination,
    log: LogCopy<'d>,
    pages: u64,
    /// Pages that have not changed from here on are left out.
    since: Option<Lsn>,
    used: u64,
}

/// Pages of an increment, in order.
///
/// ```text
///   (first u64 | count u64) ... | crc32 u32 of what stands before it
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageRuns(Vec<(PageId, u64)>);

impl PageRuns {
    fn add(&mut self, id: PageId) {
        match self.0.last_mut() {
            Some((first, count)) if *first + *count == id => *count += 1,
            _ => self.0.push((id, 1)),
        }
    }

    /// First page and number of pages of each run.
    pub fn iter(&self) -> impl Iterator<Item = (PageId, u64)> {
        self.0.iter().copied()
    }

    fn encode(&self) -> Vec<u8> {
        let mut bytes: Vec<u8> =
            self.0.iter().flat_map(|(first, count)| [first.to_le_bytes(), count.to_le_bytes()]).flatten().collect();
        bytes.extend_from_slice(&crc32fast::hash(&bytes).to_le_bytes());
        bytes
    }

    /// `None`: these bytes are damaged.
    pub fn decode(bytes: &[u8]) -> Option<PageRuns> {
        let (runs, crc) = bytes.split_last_chunk::<4>()?;
        let (runs, rest) = runs.as_chunks::<16>();
        if !rest.is_empty() || crc32fast::hash(runs.as_flattened()) != u32::from_le_bytes(*crc) {
            return None;
        }
        let word = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
        Some(PageRuns(runs.iter().map(|run| (word(&run[..8]), word(&run[8..]))).collect()))
    }
}

/// Is it a page that was once written there, or nothing? Pages of a data file in pieces from page `first` on; the error says which is
/// damaged and how.
pub fn verify_pages(bytes: &[u8], first: PageId) -> std::result::Result<(), String> {
    let (pages, rest) = bytes.as_chunks::<PAGE_BYTES>();
    if !rest.is_empty() {
        return Err(format!("page {} is cut short", first + pages.len() as u64));
    }
    pages.iter().zip(first..).try_for_each(|(page, id)| check(page, id).map_err(|why| format!("page {id}: {why}")))
}

impl Engine {
    /// Begins a copy. `since`: only what has changed since a copy that had this [`Backup::checkpoint`]. `None`: another one is being made.
    pub fn begin_backup<'d>(&self, to: &'d dyn Destination, since: Option<Lsn>) -> Option<Backup<'d>> {
        let core = Arc::clone(self.core());
        let log = core.log.copy_to(to, &format!("{LOG_DIRECTORY}/"))?;
        // After the log is held: pages that come later are in it.
        let pages = core.space.file_pages();
        Some(Backup { core, to, log, pages, since, used: 0 })
    }
}

impl Backup<'_> {
    /// Recovery of the copy begins here: what it has of a page, it has at least as of this place.
    pub fn checkpoint(&self) -> Lsn {
        self.log.checkpoint()
    }

    /// Tells this engine's log from all others.
    pub fn log_id(&self) -> u64 {
        self.log.log_id()
    }

    /// Pages of the data file.
    pub fn pages(&self) -> u64 {
        self.pages
    }

    /// Pages that were copied and are not of zeros, after [`Backup::copy_pages`].
    pub fn used_pages(&self) -> u64 {
        self.used
    }

    /// Bytes of the data file.
    pub fn bytes(&self) -> u64 {
        self.pages * PAGE_BYTES as u64
    }

    /// Copies the data file, and beside it the log. `progress` is told bytes of the data file after each piece of it, may sleep, and ends
    /// the copy by an error.
    ///
    /// Errors: those of `progress`; [`Error::Corrupt`] when a page is damaged, or the log grows faster than it is copied; [`Error::Io`],
    /// [`Error::DiskFull`].
    pub fn copy_pages(&mut self, progress: &mut dyn FnMut(u64) -> Result<()>) -> Result<()> {
        let Backup { core, to, log, pages, since, used } = self;
        let mut source = Pages { core, to: *to, pages: *pages, since: *since, used: 0 };
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let follow = || {
                // Relaxed: a wish, no data comes with it.
                while !done.load(Ordering::Relaxed) {
                    log.advance()?;
                    blocking::sleep(Wait::Backup, LOG_INTERVAL);
                }
                Ok(())
            };
            let follower = std::thread::Builder::new().name("backup-log".into()).spawn_scoped(scope, follow);
            let follower = follower.map_err(|error| Error::Io(error.to_string()))?;
            let copied = source.copy(&mut |bytes| {
                // It ends early only by an error, which is told below.
                if follower.is_finished() { Err(Error::Interrupted) } else { progress(bytes) }
            });
            // Relaxed: as above.
            done.store(true, Ordering::Relaxed);
            let followed: log::Result<()> = follower.join().expect("it does not panic");
            followed?;
            *used = source.used;
            copied
        })
    }

    /// To be asked after [`Backup::copy_pages`]: all below is in the pages, and must be in the log of the copy.
    pub fn copied(&self) -> Result<Lsn> {
        let end = self.core.log.completed_lsn();
        self.core.log.wait_flushed(end)?;
        Ok(end)
    }

    /// Bytes of log copied so far end here.
    pub fn log_position(&self) -> Lsn {
        self.log.position()
    }

    /// Ends the copy: it holds all commits below `end`, and none from there on. `end` is the end of a log group that is durable, at or
    /// above [`Backup::copied`].
    ///
    /// Errors: [`Error::Corrupt`], [`Error::Io`], [`Error::DiskFull`].
    pub fn finish(self, end: Lsn) -> Result<()> {
        self.log.finish(end)?;
        // After all that may be encrypted with them.
        Ok(self.core.vault().copy_to(self.to)?)
    }
}

/// The data file as it is copied.
struct Pages<'b> {
    core: &'b Core,
    to: &'b dyn Destination,
    pages: u64,
    since: Option<Lsn>,
    used: u64,
}

impl Pages<'_> {
    fn copy(&mut self, progress: &mut dyn FnMut(u64) -> Result<()>) -> Result<()> {
        let mut runs = PageRuns::default();
        let mut buffer = AlignedBuf::zeroed(PIECE_PAGES as usize * PAGE_BYTES);
        for first in (0..self.pages).step_by(PIECE_PAGES as usize) {
            let count = PIECE_PAGES.min(self.pages - first) as usize;
            let bytes = &mut buffer[..count * PAGE_BYTES];
            self.core.pool.file().read_at(bytes, first * PAGE_BYTES as u64)?;
            for (page, id) in bytes.chunks_mut(PAGE_BYTES).zip(first..) {
                read_until_whole(self.core, page, id)?;
            }
            self.write(bytes, first, &mut runs)?;
            progress(bytes.len() as u64)?;
        }
        if self.since.is_some() {
            self.to.put(PAGES_FILE, &runs.encode())?;
        }
        Ok(self.to.finish(DATA_FILE, self.pages * PAGE_BYTES as u64, false)?)
    }

    /// Writes pages that are wanted, but not those of zeros; neighbours together.
    fn write(&mut self, bytes: &[u8], first: PageId, runs: &mut PageRuns) -> Result<()> {
        let pages = bytes.chunks(PAGE_BYTES);
        let wanted = |page: &[u8]| is_zero(page) || self.since.is_none_or(|since| page::page_lsn(page) >= since);
        let wanted: Vec<usize> = pages.enumerate().filter(|(_, page)| wanted(page)).map(|(i, _)| i).collect();
        if self.since.is_some() {
            wanted.iter().for_each(|i| runs.add(first + *i as u64));
        }
        let page = |i: usize| &bytes[i * PAGE_BYTES..(i + 1) * PAGE_BYTES];
        let used: Vec<usize> = wanted.into_iter().filter(|i| !is_zero(page(*i))).collect();
        self.used += used.len() as u64;
        for run in used.chunk_by(|a, b| a + 1 == *b) {
            let (from, to) = (run[0], run[run.len() - 1] + 1);
            let offset = (first + from as u64) * PAGE_BYTES as u64;
            self.to.write_at(DATA_FILE, &bytes[from * PAGE_BYTES..to * PAGE_BYTES], offset)?;
        }
        Ok(())
    }
}

/// A page that was just read: again, while it is not whole.
fn read_until_whole(core: &Core, page: &mut [u8], id: PageId) -> Result<()> {
    let mut why = match check(page, id) {
        Ok(()) => return Ok(()),
        Err(why) => why,
    };
    let mut aligned = AlignedBuf::zeroed(PAGE_BYTES);
    for _ in 0..TRIES {
        {
            blocking::sleep(Wait::PageLatch, BETWEEN_TRIES);
        }
        if blocking::is_interrupted() {
            return Err(Error::Interrupted);
        }
        core.pool.file().read_at(&mut aligned, id * PAGE_BYTES as u64)?;
        match check(&aligned, id) {
            Ok(()) => {
                page.copy_from_slice(&aligned);
                return Ok(());
            }
            Err(new) => why = new,
        }
    }
    Err(core.pool.corrupt(id, &why))
}

fn is_zero(page: &[u8]) -> bool {
    page.iter().all(|byte| *byte == 0)
}

/// Is it what was once written there, or nothing?
fn check(page: &[u8], id: PageId) -> std::result::Result<(), String> {
    if is_zero(page) { Ok(()) } else { page::verify(page, id) }
}
