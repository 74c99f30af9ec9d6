//! Copying a server in use: the copy is what kill -9 would have left at some moment, and opens as that would.
//!
//! ```text
//!   begin          the log is held from the checkpoint on ([`log::LogCopy`]), with the control file of that moment
//!   copy_pages     page after page as it stands in the data file; beside it the log, as it grows
//!   finish         the log up to a chosen place, at or above [`Backup::copied`]
//! ```
//!
//! Why redo makes it whole: a page of the copy is one that stood in the file at some moment after the checkpoint, so all of its changes
//! below the checkpoint are in it. What it has above that is below what was durable when the last page was read, since a page is written after its
//! log; and all of that log is in the copy. So each page is at a place of the log from which redo leads it to the end. But for what was given
//! back to the file system, which would be read as zeros: nothing is, as long as a copy is made ([`crate::space::reclaim`]).
//!
//! A page that is read while it is being written is torn: its checksum says so, and it is read again. Pages of zeros are
//! left out, so what was given back before takes no room in the copy either. Nothing is locked, no page goes through the pool, and
//! writers wait for nothing.

use crate::engine::Core;
use crate::page::{self, PAGE_BYTES, PageId};
use crate::recovery::{DATA_FILE, LOG_DIRECTORY};
use crate::{Engine, Error, Result};
use io::{AlignedBuf, Directory, File, OpenOptions};
use log::{LogCopy, Lsn};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use sync::blocking::{self, Wait};

/// Pages that are read at a time.
const PIECE_PAGES: u64 = 64;
/// A page that is not whole is read so many times, so long apart: a write takes less.
const TRIES: u32 = 200;
const BETWEEN_TRIES: Duration = Duration::from_millis(5);
/// How often the log is copied meanwhile.
const LOG_INTERVAL: Duration = Duration::from_millis(50);

/// A copy in the making.
pub struct Backup {
    core: Arc<Core>,
    directory: Directory,
    log: LogCopy,
    pages: u64,
}

impl Engine {
    /// Begins a copy in `directory`, which is there and empty. `None`: another one is being made.
    ///
    /// Errors: [`Error::Io`], [`Error::DiskFull`].
    pub fn begin_backup(&self, directory: &Path) -> Result<Option<Backup>> {
        let core = Arc::clone(self.core());
        let directory = Directory::open(directory)?;
        let Some(log) = core.log.copy_to(&directory.join(LOG_DIRECTORY))? else { return Ok(None) };
        // After the log is held: pages that come later are in it.
        let pages = core.space.file_pages();
        Ok(Some(Backup { core, directory, log, pages }))
    }
}

impl Backup {
    /// Bytes of the data file.
    pub fn bytes(&self) -> u64 {
        self.pages * PAGE_BYTES as u64
    }

    /// Copies the data file, and beside it the log. `progress` is told bytes of the data file after each piece of it, may sleep, and ends the copy by an error.
    ///
    /// Errors: those of `progress`; [`Error::Corrupt`] when a page is damaged, or the log grows faster than it is copied; [`Error::Io`],
    /// [`Error::DiskFull`].
    pub fn copy_pages(&mut self, progress: &mut dyn FnMut(u64) -> Result<()>) -> Result<()> {
        let Backup { core, directory, log, pages } = self;
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let follow = || {
                // Relaxed: a wish, no data comes with it.
                while !done.load(Ordering::Relaxed) {
                    log.advance()?;
                    std::thread::sleep(LOG_INTERVAL);
                }
                Ok(())
            };
            let follower = std::thread::Builder::new().name("backup-log".into()).spawn_scoped(scope, follow);
            let follower = follower.map_err(|error| Error::Io(error.to_string()))?;
            let copied = copy_data_file(core, directory, *pages, &mut |bytes| {
                // It ends early only by an error, which is told below.
                if follower.is_finished() { Err(Error::Interrupted) } else { progress(bytes) }
            });
            // Relaxed: as above.
            done.store(true, Ordering::Relaxed);
            let followed: log::Result<()> = follower.join().expect("it does not panic");
            followed?;
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

    /// Ends the copy: it holds all commits below `end`, and none from there on. `end` is the end of a log group that is durable, at or above
    /// [`Backup::copied`].
    ///
    /// Errors: [`Error::Corrupt`], [`Error::Io`], [`Error::DiskFull`].
    pub fn finish(self, end: Lsn) -> Result<()> {
        self.log.finish(end)?;
        // After all that may be encrypted with them.
        self.core.vault().copy_to(&self.directory)?;
        Ok(self.directory.sync()?)
    }
}

fn copy_data_file(
    core: &Core,
    directory: &Directory,
    pages: u64,
    progress: &mut dyn FnMut(u64) -> Result<()>,
) -> Result<()> {
    let copy = directory.open_file(DATA_FILE, OpenOptions { truncate: true, ..OpenOptions::CREATE })?;
    let mut buffer = AlignedBuf::zeroed(PIECE_PAGES as usize * PAGE_BYTES);
    for first in (0..pages).step_by(PIECE_PAGES as usize) {
        let count = PIECE_PAGES.min(pages - first) as usize;
        let bytes = &mut buffer[..count * PAGE_BYTES];
        core.pool.file().read_at(bytes, first * PAGE_BYTES as u64)?;
        for (page, id) in bytes.chunks_mut(PAGE_BYTES).zip(first..) {
            read_until_whole(core, page, id)?;
        }
        write_used(&copy, bytes, first)?;
        progress(bytes.len() as u64)?;
    }
    copy.truncate(pages * PAGE_BYTES as u64)?;
    Ok(copy.sync_all()?)
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
            let _waiting = blocking::waiting(Wait::Page);
            std::thread::sleep(BETWEEN_TRIES);
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

/// Writes all pages but those of zeros, neighbours together.
fn write_used(copy: &File, bytes: &[u8], first: PageId) -> Result<()> {
    let used: Vec<usize> = bytes.chunks(PAGE_BYTES).enumerate().filter(|(_, p)| !is_zero(p)).map(|(i, _)| i).collect();
    for run in used.chunk_by(|a, b| a + 1 == *b) {
        let (from, to) = (run[0], run[run.len() - 1] + 1);
        copy.write_at(&bytes[from * PAGE_BYTES..to * PAGE_BYTES], (first + from as u64) * PAGE_BYTES as u64)?;
    }
    Ok(())
}
