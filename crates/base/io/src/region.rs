//! Reserved address space: the virtual memory below the buffer pool.
//!
//! ```text
//! reserve(16 GiB)    ┌──────┬──────┬──────┬──────┬ ...   private, anonymous, not counted against the commit limit
//!                    │ page │      │ page │      │
//!                    └──────┴──────┴──────┴──────┴ ...
//! physical memory      yes    no     yes    no           a page takes memory at its first write, gives it back at discard
//! ```

#![expect(unsafe_code, reason = "mmap, munmap and madvise")]

use crate::error::{Error, ErrorKind, Op, Result};
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mlock, mmap_anonymous, munmap};
use std::ops::Range;
use std::path::Path;
use std::ptr::NonNull;

/// The kernel's page: what [`Region::discard`] works in.
const KERNEL_PAGE: usize = 4096;

/// Readable and writable address space, zero until written; given back when dropped.
pub struct Region {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: the region is memory that any thread may access; it hands out raw pointers only, whose users answer for races.
unsafe impl Send for Region {}
// SAFETY: as for Send; `discard` may run on several threads, the kernel takes care of its own tables.
unsafe impl Sync for Region {}

/// Leaves the memory of these bytes, as far as they are whole pages of the kernel, out of core dumps. Best effort, and for good: also once
/// the memory is somebody else's.
pub fn leave_out_of_core_dumps(bytes: &[u8]) {
    let start = bytes.as_ptr().addr().next_multiple_of(KERNEL_PAGE) - bytes.as_ptr().addr();
    let Some(len) = bytes.len().checked_sub(start).map(|len| len - len % KERNEL_PAGE).filter(|len| *len > 0) else {
        return;
    };
    // SAFETY: advice about memory that the caller has borrowed; its contents stay.
    let _ = unsafe { madvise(bytes.as_ptr().add(start).cast_mut().cast(), len, Advice::LinuxDontDump) };
}

/// Reserves `bytes`, rounded up to whole kernel pages.
///
/// # Errors
/// `Exhausted` when the address space is limited (`ulimit -v`, an emulator).
pub fn reserve(bytes: usize) -> Result<Region> {
    assert!(bytes > 0, "a region is not empty");
    let exhausted = || Error::with_kind(Op::Reserve, Path::new("the buffer pool"), ErrorKind::Exhausted, "too large");
    let len = bytes.checked_next_multiple_of(KERNEL_PAGE).ok_or_else(exhausted)?;
    // SAFETY: a fresh mapping at an address of the kernel's choice disturbs nothing.
    let start = unsafe {
        mmap_anonymous(
            std::ptr::null_mut(),
            len,
            ProtFlags::READ | ProtFlags::WRITE,
            MapFlags::PRIVATE | MapFlags::NORESERVE,
        )
    };
    let start = start.map_err(|e| Error::new(Op::Reserve, Path::new("the buffer pool"), e))?;
    let start = NonNull::new(start.cast::<u8>()).expect("the kernel maps nothing at address 0");
    Ok(Region { start, len })
}

impl Region {
    /// The first byte. Valid for reads and writes of [`Region::len`] bytes for as long as the region lives.
    #[inline]
    pub fn as_ptr(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    /// The byte at `offset`.
    #[inline]
    pub fn at(&self, offset: usize) -> *mut u8 {
        assert!(offset < self.len, "offset {offset} is outside a region of {}", self.len);
        // SAFETY: inside the mapping, by the assertion.
        unsafe { self.start.as_ptr().add(offset) }
    }

    #[expect(clippy::len_without_is_empty, reason = "never empty")]
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Gives the memory of `range` (whole kernel pages) back; it reads as zeros afterwards. No reference may point into it.
    pub fn discard(&self, range: Range<usize>) -> Result<()> {
        assert!(range.start <= range.end && range.end <= self.len, "{range:?} is outside a region of {}", self.len);
        assert!(range.start.is_multiple_of(KERNEL_PAGE) && range.end.is_multiple_of(KERNEL_PAGE), "{range:?}");
        if range.is_empty() {
            return Ok(());
        }
        // SAFETY: inside the mapping; callers hold raw pointers only, and zeros are a valid value of bytes.
        let done = unsafe { madvise(self.at(range.start).cast(), range.len(), Advice::LinuxDontNeed) };
        done.map_err(|e| Error::new(Op::Discard, Path::new("the buffer pool"), e))
    }

    /// Asks for huge pages in `range` (`on`), or for none: fewer translation misses, but memory is taken 2 MiB at a time.
    pub fn advise_huge_pages(&self, range: Range<usize>, on: bool) -> Result<()> {
        assert!(range.start <= range.end && range.end <= self.len, "{range:?} is outside a region of {}", self.len);
        if range.is_empty() {
            return Ok(());
        }
        let advice = if on { Advice::LinuxHugepage } else { Advice::LinuxNoHugepage };
        // SAFETY: advice about our own mapping changes no contents.
        let done = unsafe { madvise(self.at(range.start).cast(), range.len(), advice) };
        done.map_err(|e| Error::new(Op::Reserve, Path::new("the buffer pool"), e))
    }

    /// Keeps the region out of swap space, as far as the kernel lets the process (`ulimit -l`).
    pub fn lock_in_memory(&self) -> Result<()> {
        // SAFETY: our own mapping; its contents stay.
        let done = unsafe { mlock(self.start.as_ptr().cast(), self.len) };
        done.map_err(|e| Error::new(Op::Reserve, Path::new("keys"), e))
    }

    /// Are the region's bytes to be part of a core dump of the process?
    pub fn put_in_core_dumps(&self, on: bool) -> Result<()> {
        let advice = if on { Advice::LinuxDoDump } else { Advice::LinuxDontDump };
        // SAFETY: advice about our own mapping changes no contents.
        let done = unsafe { madvise(self.start.as_ptr().cast(), self.len, advice) };
        done.map_err(|e| Error::new(Op::Reserve, Path::new("the buffer pool"), e))
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: our mapping, unmapped once; pointers into it are dead by the contract of `as_ptr`.
        let done = unsafe { munmap(self.start.as_ptr().cast(), self.len) };
        debug_assert!(done.is_ok(), "munmap of our own mapping: {done:?}");
    }
}

impl std::fmt::Debug for Region {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Region({} bytes at {:p})", self.len, self.start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserved_memory_is_zero_takes_bytes_and_forgets_them() {
        let region = reserve(1 << 36).unwrap();
        let (page, next) = (region.at(5 << 30), region.at((5 << 30) + 4096));
        // SAFETY: inside the region, and this thread alone knows it.
        let seen = unsafe {
            let before = page.read();
            page.write(9);
            next.write(8);
            region.discard(5 << 30..(5 << 30) + 4096).unwrap();
            [before, page.read(), next.read()]
        };
        assert_eq!(seen, [0, 0, 8]);
        assert_eq!(reserve(usize::MAX).unwrap_err().kind(), ErrorKind::Exhausted);
    }

    /// Flags of the mapping at this address, as the kernel tells them.
    fn flags_of(address: usize) -> String {
        let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
        let mut inside = false;
        for line in maps.lines() {
            let bounds = line.split_once(' ').and_then(|(range, _)| range.split_once('-'));
            let hex = |text| usize::from_str_radix(text, 16).ok();
            if let Some((start, end)) = bounds.and_then(|(start, end)| Some((hex(start)?, hex(end)?))) {
                inside = (start..end).contains(&address);
            }
            if let Some(flags) = line.strip_prefix("VmFlags:").filter(|_| inside) {
                return flags.to_string();
            }
        }
        panic!("no mapping at {address:#x}")
    }

    #[test]
    fn core_dumps_are_told_what_to_leave_out() {
        let region = reserve(1 << 20).unwrap();
        let left_out = || flags_of(region.as_ptr().addr()).split(' ').any(|flag| flag == "dd");
        assert!(!left_out());
        region.put_in_core_dumps(false).unwrap();
        assert!(left_out());
        region.put_in_core_dumps(true).unwrap();
        assert!(!left_out());
    }

    #[test]
    fn parts_of_the_heap_may_be_left_out_too() {
        let buffer = crate::AlignedBuf::zeroed(4 * KERNEL_PAGE);
        leave_out_of_core_dumps(&buffer[1..3 * KERNEL_PAGE]);
        let left_out =
            |page: usize| flags_of(buffer[page * KERNEL_PAGE..].as_ptr().addr()).split(' ').any(|flag| flag == "dd");
        assert_eq!([0, 1, 2, 3].map(left_out), [false, true, true, false]);
        leave_out_of_core_dumps(&[1, 2, 3]);
    }

    #[test]
    #[should_panic(expected = "outside")]
    fn a_region_ends_where_it_ends() {
        let _ = reserve(4096).unwrap().at(4096);
    }
}
