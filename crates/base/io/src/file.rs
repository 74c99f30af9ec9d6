//! Files: whole buffers at given positions, and nothing that moves a file pointer.

use crate::error::{Error, ErrorKind, Op, Result};
#[cfg(any(test, feature = "faults"))]
use crate::faults;
use crate::kernel;
use crate::options::{Advice, OpenOptions};
use crate::overlay::{OverlayFile, overlay_of};
use std::io::IoSlice;
use std::os::fd::OwnedFd;
use std::path::Path;
use sync::blocking;
use sync::waits::files::{FileUse, Watched};
use sync::waits::{Operation, Wait};

/// An open file. Usable from many threads at once; reads and writes of disjoint ranges do not disturb each other.
#[derive(Debug)]
pub struct File {
    backend: Backend,
    path: Box<Path>,
    direct: bool,
    watched: Watched,
}

/// A tag to test for each system call: a nanosecond beside a microsecond.
#[derive(Debug)]
enum Backend {
    Kernel(OwnedFd),
    Overlay(OverlayFile),
    #[cfg(any(test, feature = "faults"))]
    Simulated(faults::SimFile),
}

impl File {
    pub fn open(path: impl AsRef<Path>, options: OpenOptions) -> Result<File> {
        let path = path.as_ref();
        let watched = || Watched::open(Some(path), options.what);
        if let Some(overlay) = overlay_of(path) {
            let file = overlay.open(path, &options)?;
            return Ok(File { backend: Backend::Overlay(file), path: path.into(), direct: false, watched: watched() });
        }
        #[cfg(any(test, feature = "faults"))]
        {
            if let Some(disk) = faults::disk_of(path) {
                let file = disk.open(path, &options)?;
                let backend = Backend::Simulated(file);
                return Ok(File { backend, path: path.into(), direct: options.direct, watched: watched() });
            }
            faults::process(Op::Open, path, 0)?;
        }
        let (fd, direct) = kernel::open(path, &options)?;
        Ok(File { backend: Backend::Kernel(fd), path: path.into(), direct, watched: watched() })
    }

    /// A temporary file in a directory: nobody else sees it, and it is gone when it is closed or the process dies.
    pub fn unnamed(directory: impl AsRef<Path>, what: Wait) -> Result<File> {
        let directory = directory.as_ref();
        #[cfg(any(test, feature = "faults"))]
        faults::process(Op::Open, directory, 0)?;
        let fd = kernel::open_unnamed(directory)?;
        let watched = Watched::open(None, what);
        Ok(File { backend: Backend::Kernel(fd), path: directory.into(), direct: false, watched })
    }

    /// Does what may make the thread sleep, and counts it.
    fn timed<T>(
        &self,
        how: FileUse,
        operation: Operation,
        bytes: impl FnOnce(&T) -> u64,
        work: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let waiting = blocking::sleeping(self.watched.what(), operation, &self.path.to_string_lossy());
        let done = work();
        let moved = (how != FileUse::Misc).then(|| done.as_ref().map_or(0, bytes));
        if let Some(ns) = waiting.end(moved) {
            self.watched.add(how, ns, moved.unwrap_or(0));
        }
        done
    }

    /// The same of what moves no bytes.
    fn timed_misc(&self, operation: Operation, work: impl FnOnce() -> Result<()>) -> Result<()> {
        self.timed(FileUse::Misc, operation, |()| 0, work)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether reads and writes go past the page cache and must be aligned.
    pub fn is_direct(&self) -> bool {
        self.direct
    }

    /// Fills `buf` from `offset`. `ShortRead` when the file ends before.
    pub fn read_at(&self, buf: &mut [u8], offset: u64) -> Result<()> {
        let wanted = buf.len();
        let got = self.read_up_to(buf, offset)?;
        if got == wanted {
            return Ok(());
        }
        let message = format!("{got} of {wanted} bytes at {offset}: the file ends");
        Err(Error::with_kind(Op::Read, &self.path, ErrorKind::ShortRead, message))
    }

    /// Fills `buf` from `offset` as far as the file goes; the number of bytes read.
    pub fn read_up_to(&self, buf: &mut [u8], offset: u64) -> Result<usize> {
        self.assert_aligned(buf.as_ptr(), buf.len(), offset);
        self.timed(
            FileUse::Read,
            Operation::Read,
            |n| *n as u64,
            || match &self.backend {
                Backend::Kernel(fd) => {
                    #[cfg(any(test, feature = "faults"))]
                    faults::process(Op::Read, &self.path, 0)?;
                    kernel::read_up_to(fd, &self.path, buf, offset)
                }
                Backend::Overlay(file) => file.read_up_to(&self.path, buf, offset),
                #[cfg(any(test, feature = "faults"))]
                Backend::Simulated(file) => file.read(&self.path, buf, offset),
            },
        )
    }

    /// Writes all of `buf` at `offset`. After an error any part of it may be in the file.
    pub fn write_at(&self, buf: &[u8], offset: u64) -> Result<()> {
        self.write_vectored_at(&[IoSlice::new(buf)], offset)
    }

    /// Writes all of `bufs`, one after the other, from `offset`. After an error any part of them may be in the file.
    pub fn write_vectored_at(&self, bufs: &[IoSlice<'_>], offset: u64) -> Result<()> {
        let mut position = offset;
        for buf in bufs {
            self.assert_aligned(buf.as_ptr(), buf.len(), position);
            position += buf.len() as u64;
        }
        self.timed(
            FileUse::Write,
            Operation::Write,
            |()| position - offset,
            || match &self.backend {
                Backend::Kernel(fd) => {
                    #[cfg(any(test, feature = "faults"))]
                    if faults::process_has_script() {
                        let growth = position.saturating_sub(kernel::len(fd, &self.path)?);
                        if let Some(keep) = faults::process_write(&self.path, (position - offset) as usize, growth)? {
                            let bytes = bufs.concat_bytes();
                            kernel::write_all(fd, &self.path, &bytes[..keep], offset)?;
                            faults::abort();
                        }
                    }
                    match bufs {
                        [one] => kernel::write_all(fd, &self.path, one, offset),
                        many => kernel::write_vectored_all(fd, &self.path, many, offset),
                    }
                }
                Backend::Overlay(file) => file.write_all(&self.path, bufs, offset),
                #[cfg(any(test, feature = "faults"))]
                Backend::Simulated(file) => file.write(&self.path, bufs.concat_bytes(), offset),
            },
        )
    }

    /// The greatest write that the device makes whole or not at all, as a power of two, where writes of [`crate::ALIGNMENT`] and
    /// more are; 0 where it promises nothing. Only past the page cache.
    pub fn atomic_write_bytes(&self) -> usize {
        if !self.direct {
            return 0;
        }
        let promised = match &self.backend {
            Backend::Kernel(fd) => kernel::atomic_write_bytes(fd),
            Backend::Overlay(_) => None,
            #[cfg(any(test, feature = "faults"))]
            Backend::Simulated(file) => file.atomic_write_bytes().map(|bytes| (crate::ALIGNMENT, bytes)),
        };
        promised.filter(|(least, _)| *least <= crate::ALIGNMENT).map_or(0, |(_, greatest)| greatest)
    }

    /// Writes all of `buf`, a power of two of at most [`File::atomic_write_bytes`], at a multiple of its length. After a crash it is
    /// in the file whole or not at all.
    pub fn write_atomic_at(&self, buf: &[u8], offset: u64) -> Result<()> {
        self.assert_aligned(buf.as_ptr(), buf.len(), offset);
        let fits = buf.len().is_power_of_two() && offset.is_multiple_of(buf.len() as u64);
        assert!(fits, "{} bytes at {offset} are no unit", buf.len());
        self.timed(
            FileUse::Write,
            Operation::Write,
            |()| buf.len() as u64,
            || match &self.backend {
                Backend::Kernel(fd) => kernel::write_atomic(fd, &self.path, buf, offset),
                Backend::Overlay(file) => file.write_all(&self.path, &[IoSlice::new(buf)], offset),
                #[cfg(any(test, feature = "faults"))]
                Backend::Simulated(file) => file.write_whole(&self.path, buf.to_vec(), offset),
            },
        )
    }

    /// Makes durable what was written, with as much of the file's own data (its length) as reading it needs.
    /// After an error the file must not be used: nobody knows what is on the device.
    pub fn sync_data(&self) -> Result<()> {
        self.timed_misc(Operation::Sync, || match &self.backend {
            Backend::Kernel(fd) => {
                #[cfg(any(test, feature = "faults"))]
                faults::process(Op::Sync, &self.path, 0)?;
                kernel::sync_data(fd, &self.path)
            }
            Backend::Overlay(_) => Ok(()),
            #[cfg(any(test, feature = "faults"))]
            Backend::Simulated(file) => file.sync(&self.path),
        })
    }

    /// As [`File::sync_data`], with all of the file's own data (times of change).
    pub fn sync_all(&self) -> Result<()> {
        self.timed_misc(Operation::Sync, || match &self.backend {
            Backend::Kernel(fd) => {
                #[cfg(any(test, feature = "faults"))]
                faults::process(Op::Sync, &self.path, 0)?;
                kernel::sync_all(fd, &self.path)
            }
            Backend::Overlay(_) => Ok(()),
            #[cfg(any(test, feature = "faults"))]
            Backend::Simulated(file) => file.sync(&self.path),
        })
    }

    /// Reserves blocks for `offset..offset + len` and makes the file that long at least. `Full` when the device has no room;
    /// afterwards writes to the range do not run out of space.
    pub fn allocate(&self, offset: u64, len: u64) -> Result<()> {
        self.timed_misc(Operation::Resize, || match &self.backend {
            Backend::Kernel(fd) => {
                #[cfg(any(test, feature = "faults"))]
                if faults::process_has_script() {
                    let growth = (offset + len).saturating_sub(kernel::len(fd, &self.path)?);
                    faults::process(Op::Allocate, &self.path, growth)?;
                }
                kernel::allocate(fd, &self.path, offset, len)
            }
            Backend::Overlay(file) => file.allocate(&self.path, offset + len),
            #[cfg(any(test, feature = "faults"))]
            Backend::Simulated(file) => file.allocate(&self.path, offset, len),
        })
    }

    /// Gives the blocks of `offset..offset + len` back to the device; the bytes read as zeros from then on, and the length stays.
    /// Where the file system cannot, nothing happens. Writing there needs room again.
    pub fn punch(&self, offset: u64, len: u64) -> Result<()> {
        self.timed_misc(Operation::Resize, || match &self.backend {
            Backend::Kernel(fd) => {
                #[cfg(any(test, feature = "faults"))]
                faults::process(Op::Punch, &self.path, 0)?;
                kernel::punch(fd, &self.path, offset, len)
            }
            // As a file system that cannot: what an overlay has written is few blocks, and the rest is not its own.
            Backend::Overlay(_) => Ok(()),
            #[cfg(any(test, feature = "faults"))]
            Backend::Simulated(file) => file.punch(&self.path, offset, len),
        })
    }

    /// Bytes of the device that the file takes.
    pub fn allocated(&self) -> Result<u64> {
        match &self.backend {
            Backend::Kernel(fd) => kernel::allocated(fd, &self.path),
            Backend::Overlay(file) => Ok(file.len()),
            #[cfg(any(test, feature = "faults"))]
            Backend::Simulated(file) => file.allocated(&self.path),
        }
    }

    /// The file's length in bytes.
    #[expect(clippy::len_without_is_empty, reason = "a length is asked of the kernel and can fail")]
    pub fn len(&self) -> Result<u64> {
        match &self.backend {
            Backend::Kernel(fd) => kernel::len(fd, &self.path),
            Backend::Overlay(file) => Ok(file.len()),
            #[cfg(any(test, feature = "faults"))]
            Backend::Simulated(file) => file.len(&self.path),
        }
    }

    /// Cuts the file, or lengthens it with zeros.
    pub fn truncate(&self, len: u64) -> Result<()> {
        self.timed_misc(Operation::Resize, || match &self.backend {
            Backend::Kernel(fd) => {
                #[cfg(any(test, feature = "faults"))]
                faults::process(Op::Truncate, &self.path, 0)?;
                kernel::truncate(fd, &self.path, len)
            }
            Backend::Overlay(file) => file.truncate(&self.path, len),
            #[cfg(any(test, feature = "faults"))]
            Backend::Simulated(file) => file.truncate(&self.path, len),
        })
    }

    /// Takes the file for this process until it is closed, the process's death included. `Locked` when another has it.
    pub fn lock_exclusive(&self) -> Result<()> {
        match &self.backend {
            Backend::Kernel(fd) => kernel::lock_exclusive(fd, &self.path),
            Backend::Overlay(file) => file.lock(&self.path),
            #[cfg(any(test, feature = "faults"))]
            Backend::Simulated(file) => file.lock(&self.path),
        }
    }

    /// Tells the kernel what to expect; `len` 0 means to the end. Advice changes no result.
    pub fn advise(&self, offset: u64, len: u64, advice: Advice) -> Result<()> {
        match &self.backend {
            Backend::Kernel(fd) => kernel::advise(fd, &self.path, offset, len, advice),
            Backend::Overlay(_) => Ok(()),
            #[cfg(any(test, feature = "faults"))]
            Backend::Simulated(_) => Ok(()),
        }
    }

    /// The kernel would say EINVAL, and only where the file system can do direct input and output: say so everywhere.
    #[inline]
    fn assert_aligned(&self, start: *const u8, len: usize, offset: u64) {
        let alignment = crate::ALIGNMENT;
        let aligned = (start.addr() | len).is_multiple_of(alignment) && offset.is_multiple_of(alignment as u64);
        assert!(!self.direct || aligned, "direct transfer of {len} bytes at {offset} from {start:p} is not aligned");
    }
}

/// The bytes of many buffers as one.
#[cfg(any(test, feature = "faults"))]
trait ConcatBytes {
    fn concat_bytes(&self) -> Vec<u8>;
}

#[cfg(any(test, feature = "faults"))]
impl ConcatBytes for [IoSlice<'_>] {
    fn concat_bytes(&self) -> Vec<u8> {
        self.iter().flat_map(|buf| buf.iter().copied()).collect()
    }
}
