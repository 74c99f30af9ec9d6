//! The system calls: whole transfers, retried when interrupted or short.

use crate::error::{Error, ErrorKind, Op, Result};
use crate::options::{Advice, OpenOptions};
use rustix::fs::{self, FallocateFlags, FlockOperation, Mode, OFlags, StatxFlags};
use rustix::io::{Errno, ReadWriteFlags, retry_on_intr};
use rustix::process::{Resource, Rlimit, nice, setrlimit};
use std::io::IoSlice;
use std::marker::PhantomData;
use std::num::NonZeroU64;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::OnceLock;

/// Files are the server user's alone, as MySQL's are readable by the group at most.
const FILE_MODE: Mode = Mode::from_raw_mode(0o640);
/// Of keys.
const PRIVATE_MODE: Mode = Mode::from_raw_mode(0o600);
const DIRECTORY_MODE: Mode = Mode::from_raw_mode(0o750);
/// Most buffers in one call (IOV_MAX).
const SLICES_MAX: usize = 1024;

/// What this process makes from now on, whoever makes it, is the owner's to write and the group's to read at most: files 0640,
/// directories 0750. Call before there are threads.
pub fn restrict_new_files() {
    rustix::process::umask(Mode::from_raw_mode(0o027));
}

/// The kernel writes no core dump of this process, to a file or to a program that takes them: keys, passwords and rows would be in it.
pub fn forbid_core_dumps() {
    // Of all limits only one byte holds for a program, too: see core(5).
    let limit = Rlimit { current: Some(1), maximum: Some(1) };
    // A limit may always be lowered; where that fails there is nothing to lower.
    let _ = setrlimit(Resource::Core, limit);
}

/// The calling thread stands behind the others where they want the processor, by so many steps of nice(2), which on Linux is a thread's
/// own. There is no way back without privileges.
pub fn stand_back(steps: u8) {
    // A kernel that refuses leaves the thread as it was, which is slower for others and not wrong.
    let _ = nice(i32::from(steps));
}

/// [`stand_back`] for as long as this lives, and nothing where the thread could not come back: that takes CAP_SYS_NICE, or RLIMIT_NICE
/// as systemd's LimitNICE=0 sets it.
#[derive(Debug)]
pub struct StandingBack {
    /// How far it went: less than was asked for where the thread stood far back before.
    steps: i32,
    // What is put back is the thread's own.
    _of_thread: PhantomData<*const ()>,
}

impl StandingBack {
    pub fn new(steps: u8) -> StandingBack {
        static MAY_RETURN: OnceLock<bool> = OnceLock::new();
        let go_and_return = || nice(1).and_then(|_| nice(-1)).is_ok();
        // Tried on a thread that is not needed afterwards.
        let tried = || Some(std::thread::Builder::new().spawn(go_and_return).ok()?.join().unwrap_or(false));
        let went = match *MAY_RETURN.get_or_init(|| tried().unwrap_or(false)) {
            true => nice(0).and_then(|before| Ok(nice(i32::from(steps))? - before)),
            false => Ok(0),
        };
        StandingBack { steps: went.unwrap_or(0), _of_thread: PhantomData }
    }
}

impl Drop for StandingBack {
    fn drop(&mut self) {
        // It was tried: the kernel lets the thread come back.
        let _ = nice(-self.steps);
    }
}

/// Opens; the flag tells whether input and output are direct, which not every file system can do.
pub(crate) fn open(path: &Path, options: &OpenOptions) -> Result<(OwnedFd, bool)> {
    // Files are read and written at offsets, which pipes do not have: without NONBLOCK the open of one waits for ever for its other end.
    let access = if options.write { OFlags::RDWR } else { OFlags::RDONLY };
    let mut flags = OFlags::CLOEXEC | OFlags::NONBLOCK | access;
    flags.set(OFlags::CREATE, options.create || options.create_new);
    flags.set(OFlags::EXCL, options.create_new);
    flags.set(OFlags::TRUNC, options.truncate);
    let mode = if options.private { PRIVATE_MODE } else { FILE_MODE };
    if options.direct {
        match retry_on_intr(|| fs::open(path, flags | OFlags::DIRECT, mode)) {
            // Without truncation or exclusive creation done: the kernel refuses the flag after it made the file.
            Err(Errno::INVAL) => flags.remove(OFlags::EXCL),
            opened => return opened.map(|fd| (fd, true)).map_err(|e| Error::new(Op::Open, path, e)),
        }
    }
    let opened = retry_on_intr(|| fs::open(path, flags, mode));
    opened.map(|fd| (fd, false)).map_err(|e| Error::new(Op::Open, path, e))
}

/// Opens a file without a name, which is gone when it is closed. Where the file system has none, one with a name that is
/// removed at once.
pub(crate) fn open_unnamed(directory: &Path) -> Result<OwnedFd> {
    let flags = OFlags::RDWR | OFlags::CLOEXEC;
    match retry_on_intr(|| fs::open(directory, flags | OFlags::TMPFILE, FILE_MODE)) {
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL) => {}
        opened => return opened.map_err(|e| Error::new(Op::Open, directory, e)),
    }
    for attempt in 0..u32::MAX {
        let path = directory.join(format!("clearway-{}-{attempt}.tmp", std::process::id()));
        match retry_on_intr(|| fs::open(&path, flags | OFlags::CREATE | OFlags::EXCL, FILE_MODE)) {
            Err(Errno::EXIST) => continue,
            Err(e) => return Err(Error::new(Op::Open, &path, e)),
            Ok(fd) => {
                fs::unlink(&path).map_err(|e| Error::new(Op::Remove, &path, e))?;
                return Ok(fd);
            }
        }
    }
    Err(Error::with_kind(Op::Open, directory, ErrorKind::Other, "no free name for a temporary file"))
}

/// Reads until the buffer is full or the file ends; the number of bytes read.
pub(crate) fn read_up_to(fd: &OwnedFd, path: &Path, buf: &mut [u8], offset: u64) -> Result<usize> {
    let mut done = 0;
    while done < buf.len() {
        match retry_on_intr(|| rustix::io::pread(fd, &mut buf[done..], offset + done as u64)) {
            Ok(0) => break,
            Ok(n) => done += n,
            Err(e) => return Err(Error::new(Op::Read, path, e)),
        }
    }
    Ok(done)
}

pub(crate) fn write_all(fd: &OwnedFd, path: &Path, buf: &[u8], offset: u64) -> Result<()> {
    let mut done = 0;
    while done < buf.len() {
        match retry_on_intr(|| rustix::io::pwrite(fd, &buf[done..], offset + done as u64)) {
            Ok(0) => return Err(Error::with_kind(Op::Write, path, ErrorKind::Device, "the kernel wrote nothing")),
            Ok(n) => done += n,
            Err(e) => return Err(Error::new(Op::Write, path, e)),
        }
    }
    Ok(())
}

/// What the device makes whole or not at all, in bytes: the least and the greatest such write. `None`: it promises nothing.
pub(crate) fn atomic_write_bytes(fd: &OwnedFd) -> Option<(usize, usize)> {
    // From <linux/stat.h>: STATX_WRITE_ATOMIC.
    const WRITE_ATOMIC: StatxFlags = StatxFlags::from_bits_retain(0x0001_0000);
    let stat = fs::statx(fd, "", fs::AtFlags::EMPTY_PATH, WRITE_ATOMIC).ok()?;
    let told = StatxFlags::from_bits_retain(stat.stx_mask).contains(WRITE_ATOMIC);
    let (least, greatest) = (stat.stx_atomic_write_unit_min as usize, stat.stx_atomic_write_unit_max as usize);
    (told && least > 0).then_some((least, greatest))
}

/// Writes all of `buf`, which the device makes whole or not at all (`RWF_ATOMIC`).
pub(crate) fn write_atomic(fd: &OwnedFd, path: &Path, buf: &[u8], offset: u64) -> Result<()> {
    // From <linux/fs.h>: RWF_ATOMIC.
    const ATOMIC: ReadWriteFlags = ReadWriteFlags::from_bits_retain(0x40);
    match retry_on_intr(|| rustix::io::pwritev2(fd, &[IoSlice::new(buf)], offset, ATOMIC)) {
        Ok(n) if n == buf.len() => Ok(()),
        Ok(_) => Err(Error::with_kind(Op::Write, path, ErrorKind::Device, "a part of an atomic write was written")),
        Err(e) => Err(Error::new(Op::Write, path, e)),
    }
}

pub(crate) fn write_vectored_all(fd: &OwnedFd, path: &Path, bufs: &[IoSlice<'_>], mut offset: u64) -> Result<()> {
    let mut next = 0;
    while next < bufs.len() {
        let batch = &bufs[next..bufs.len().min(next + SLICES_MAX)];
        let mut written = match retry_on_intr(|| rustix::io::pwritev(fd, batch, offset)) {
            Ok(n) => n,
            Err(e) => return Err(Error::new(Op::Write, path, e)),
        };
        let nothing_to_write = batch.iter().all(|buf| buf.is_empty());
        if written == 0 && !nothing_to_write {
            return Err(Error::with_kind(Op::Write, path, ErrorKind::Device, "the kernel wrote nothing"));
        }
        offset += written as u64;
        while next < bufs.len() && written >= bufs[next].len() {
            written -= bufs[next].len();
            next += 1;
            if written == 0 && !nothing_to_write {
                break;
            }
        }
        if written > 0 {
            // Stopped within a buffer: finish that one alone, then go on with the next.
            let rest = &bufs[next][written..];
            write_all(fd, path, rest, offset)?;
            offset += rest.len() as u64;
            next += 1;
        }
    }
    Ok(())
}

pub(crate) fn sync_data(fd: &OwnedFd, path: &Path) -> Result<()> {
    retry_on_intr(|| fs::fdatasync(fd)).map_err(|e| Error::new(Op::Sync, path, e))
}

pub(crate) fn sync_all(fd: &OwnedFd, path: &Path) -> Result<()> {
    retry_on_intr(|| fs::fsync(fd)).map_err(|e| Error::new(Op::Sync, path, e))
}

/// Makes sure that `offset..offset + len` has blocks and lies within the file.
pub(crate) fn allocate(fd: &OwnedFd, path: &Path, offset: u64, len: u64) -> Result<()> {
    match retry_on_intr(|| fs::fallocate(fd, FallocateFlags::empty(), offset, len)) {
        // The file system cannot: let the file grow, and a full disk shows at the write.
        Err(Errno::OPNOTSUPP) => {
            let end = offset + len;
            if self::len(fd, path)? < end { truncate(fd, path, end) } else { Ok(()) }
        }
        done => done.map_err(|e| Error::new(Op::Allocate, path, e)),
    }
}

/// Gives back the blocks of `offset..offset + len`, which reads as zeros from then on. The length stays.
pub(crate) fn punch(fd: &OwnedFd, path: &Path, offset: u64, len: u64) -> Result<()> {
    match retry_on_intr(|| fs::fallocate(fd, FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE, offset, len)) {
        // The file system cannot: the blocks stay.
        Err(Errno::OPNOTSUPP) => Ok(()),
        done => done.map_err(|e| Error::new(Op::Punch, path, e)),
    }
}

/// Bytes of blocks that the file has.
pub(crate) fn allocated(fd: &OwnedFd, path: &Path) -> Result<u64> {
    const BLOCK_BYTES: u64 = 512; // what `st_blocks` counts, whatever the file system's blocks are
    let stat = fs::fstat(fd).map_err(|e| Error::new(Op::Stat, path, e))?;
    Ok(u64::try_from(stat.st_blocks).expect("a file's blocks are not negative") * BLOCK_BYTES)
}

pub(crate) fn truncate(fd: &OwnedFd, path: &Path, len: u64) -> Result<()> {
    retry_on_intr(|| fs::ftruncate(fd, len)).map_err(|e| Error::new(Op::Truncate, path, e))
}

pub(crate) fn len(fd: &OwnedFd, path: &Path) -> Result<u64> {
    let stat = fs::fstat(fd).map_err(|e| Error::new(Op::Stat, path, e))?;
    Ok(u64::try_from(stat.st_size).expect("a file's length is not negative"))
}

pub(crate) fn lock_exclusive(fd: &OwnedFd, path: &Path) -> Result<()> {
    retry_on_intr(|| fs::flock(fd, FlockOperation::NonBlockingLockExclusive)).map_err(|e| Error::new(Op::Lock, path, e))
}

pub(crate) fn advise(fd: &OwnedFd, path: &Path, offset: u64, len: u64, advice: Advice) -> Result<()> {
    let advice = match advice {
        Advice::Random => fs::Advice::Random,
        Advice::Sequential => fs::Advice::Sequential,
        Advice::WillNeed => fs::Advice::WillNeed,
        Advice::DontNeed => fs::Advice::DontNeed,
    };
    fs::fadvise(fd, offset, NonZeroU64::new(len), advice).map_err(|e| Error::new(Op::Advise, path, e))
}

// ---- directories

pub(crate) fn open_directory(path: &Path) -> Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    retry_on_intr(|| fs::open(path, flags, Mode::empty())).map_err(|e| Error::new(Op::Open, path, e))
}

pub(crate) fn create_directory(path: &Path) -> Result<()> {
    fs::mkdir(path, DIRECTORY_MODE).map_err(|e| Error::new(Op::CreateDirectory, path, e))
}

pub(crate) fn remove_tree(path: &Path) -> Result<()> {
    std::fs::remove_dir_all(path).map_err(|error| {
        let errno = rustix::io::Errno::from_io_error(&error).unwrap_or(rustix::io::Errno::IO);
        Error::new(Op::Remove, path, errno)
    })
}

pub(crate) fn sync_directory(fd: &OwnedFd, path: &Path) -> Result<()> {
    retry_on_intr(|| fs::fsync(fd)).map_err(|e| Error::new(Op::SyncDirectory, path, e))
}

/// Names in the directory, without `.` and `..`; names that are not UTF-8 are an error, since we make none.
pub(crate) fn list(fd: &OwnedFd, path: &Path) -> Result<Vec<String>> {
    let entries = fs::Dir::read_from(fd).map_err(|e| Error::new(Op::List, path, e))?;
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|e| Error::new(Op::List, path, e))?;
        let name = entry.file_name().to_str();
        let name = name.map_err(|_| Error::with_kind(Op::List, path, ErrorKind::Other, "a name is not UTF-8"))?;
        if name != "." && name != ".." {
            names.push(name.to_owned());
        }
    }
    names.sort();
    Ok(names)
}

pub(crate) fn rename(fd: &OwnedFd, path: &Path, from: &str, to: &str) -> Result<()> {
    fs::renameat(fd, from, fd, to).map_err(|e| Error::new(Op::Rename, &path.join(from), e))
}

pub(crate) fn remove(fd: &OwnedFd, path: &Path, name: &str) -> Result<()> {
    fs::unlinkat(fd, name, fs::AtFlags::empty()).map_err(|e| Error::new(Op::Remove, &path.join(name), e))
}

#[cfg(test)]
mod tests {
    use super::{StandingBack, nice, stand_back};

    fn niceness() -> i32 {
        nice(0).expect("a look at the own priority")
    }

    #[test]
    fn a_thread_stands_back_alone_and_comes_back() {
        let before = niceness();
        std::thread::spawn(move || {
            {
                let _behind = StandingBack::new(3);
                assert!([before, before + 3].contains(&niceness()));
            }
            assert_eq!(niceness(), before);
            stand_back(17);
            let back = niceness();
            drop(StandingBack::new(9));
            assert_eq!(niceness(), back, "19 is as far as anybody goes");
        })
        .join()
        .expect("the thread's own checks");
        assert_eq!(niceness(), before);
    }
}
