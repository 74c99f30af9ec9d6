//! Arrays as long as the address space has pages, of which only what is used takes memory.
//!
//! They never move, so threads index them without asking whether the pool has been resized.

use crate::Result;
use io::Region;
use std::marker::PhantomData;
use std::ops::{Deref, Range};
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64};

/// What the kernel's page holds: memory is given back in such pieces.
const KERNEL_PAGE: usize = 4096;

/// # Safety
/// Zeroed memory is a valid value, every field is atomic, and nothing has to be dropped.
pub unsafe trait Zeroed {}

// SAFETY: a zeroed atomic is 0.
unsafe impl Zeroed for AtomicU8 {}
// SAFETY: as above.
unsafe impl Zeroed for AtomicU32 {}
// SAFETY: as above.
unsafe impl Zeroed for AtomicU64 {}

/// A slice of atomics in reserved address space, all zero at first.
pub struct Table<T> {
    region: Region,
    len: usize,
    of: PhantomData<T>,
}

impl<T: Zeroed> Table<T> {
    pub fn new(len: usize) -> Result<Table<T>> {
        const { assert!(KERNEL_PAGE.is_multiple_of(size_of::<T>()) && align_of::<T>() <= KERNEL_PAGE) }
        Ok(Table { region: io::reserve(len.max(1) * size_of::<T>())?, len, of: PhantomData })
    }

    /// Entries that share a page of the kernel.
    pub const PER_KERNEL_PAGE: usize = KERNEL_PAGE / size_of::<T>();

    /// Gives the memory of `entries` back: they are zero afterwards. Those that share a page of the kernel with others stay.
    /// The caller sees to it that nobody changes them meanwhile, or that it does not matter if a change is lost.
    pub fn forget(&self, entries: Range<usize>) {
        let (start, end) = (entries.start * size_of::<T>(), entries.end * size_of::<T>());
        let whole = start.next_multiple_of(KERNEL_PAGE)..end / KERNEL_PAGE * KERNEL_PAGE;
        if whole.start < whole.end {
            self.region.discard(whole).expect("the kernel takes back memory that it gave");
        }
    }
}

impl<T: Zeroed> Deref for Table<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        // SAFETY: the region holds `len` entries, aligned by mmap, and zeroed memory is valid. All fields are atomics, so
        // shared references are all that there ever is.
        unsafe { std::slice::from_raw_parts(self.region.as_ptr().cast::<T>(), self.len) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering;

    #[test]
    fn entries_are_zero_until_stored_and_after_they_are_forgotten() {
        let table: Table<AtomicU32> = Table::new(1 << 30).unwrap();
        let per_page = Table::<AtomicU32>::PER_KERNEL_PAGE;
        for i in [0, per_page - 1, per_page, 3 * per_page, (1 << 30) - 1] {
            table[i].store(7, Ordering::Relaxed);
        }
        table.forget(1..3 * per_page + 1);
        let left = |i: usize| table[i].load(Ordering::Relaxed);
        assert_eq!((left(0), left(per_page - 1)), (7, 7), "the first page of the kernel is shared with entry 0");
        assert_eq!((left(per_page), left(3 * per_page), left((1 << 30) - 1)), (0, 7, 7));
    }
}
