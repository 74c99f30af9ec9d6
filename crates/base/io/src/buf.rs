//! Bytes aligned for direct input and output.

#![expect(unsafe_code, reason = "memory with an alignment that Vec cannot give")]

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

/// What direct reads and writes are aligned to, in memory and in the file.
pub const ALIGNMENT: usize = 4096;

/// Zeroed bytes whose address and length are multiples of [`ALIGNMENT`].
pub struct AlignedBuf {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: the buffer owns its bytes alone, like a Vec<u8>.
unsafe impl Send for AlignedBuf {}
// SAFETY: a shared reference gives shared references to bytes only.
unsafe impl Sync for AlignedBuf {}

impl AlignedBuf {
    /// `len` zero bytes, a multiple of [`ALIGNMENT`] and not 0.
    pub fn zeroed(len: usize) -> AlignedBuf {
        assert!(len > 0 && len.is_multiple_of(ALIGNMENT), "{len} is not a multiple of {ALIGNMENT}");
        let layout = Self::layout(len);
        // SAFETY: the layout's size is not zero, by the assertion above.
        let start = unsafe { alloc_zeroed(layout) };
        let Some(start) = NonNull::new(start) else { handle_alloc_error(layout) };
        AlignedBuf { start, len }
    }

    fn layout(len: usize) -> Layout {
        Layout::from_size_align(len, ALIGNMENT).expect("a buffer length fits the address space")
    }
}

impl Drop for AlignedBuf {
    fn drop(&mut self) {
        // SAFETY: allocated in `zeroed` with this very layout, and freed once.
        unsafe { dealloc(self.start.as_ptr(), Self::layout(self.len)) }
    }
}

impl Deref for AlignedBuf {
    type Target = [u8];
    #[inline]
    fn deref(&self) -> &[u8] {
        // SAFETY: `len` initialised bytes that this buffer owns; the borrow of self keeps writers away.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl DerefMut for AlignedBuf {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `deref`, and the unique borrow of self makes it the only reference.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

impl std::fmt::Debug for AlignedBuf {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "AlignedBuf({} bytes at {:p})", self.len, self.start)
    }
}
