//! The ring of log bytes in memory. Who may touch which bytes follows from LSNs alone:
//!
//! ```text
//!           written                  bound           tail             written + ring
//!   -----------|-----------------------|---------------|-----------------|------------
//!     free     | flush leader reads    | owners of     |      free       |
//!              |                       | reservations write              |
//! ```
//!
//! A reservation [start, end) may be written by its owner once `end <= written + ring`: then no byte of it aliases one that a leader may
//! still read (leaders read [written, bound) only), nor one of another open reservation, since those lie in [written, written + ring) and
//! are disjoint.
#![expect(unsafe_code, reason = "appenders and the flush leader share the ring's bytes, apart by LSN")]

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};

use crate::Lsn;
use crate::format::BLOCK;

/// The bytes. Aligned to blocks, so that file, stream and ring agree modulo `BLOCK`.
pub struct Ring {
    base: *mut u8,
    bytes: u64,
}

// SAFETY: the pointer is owned; access to the bytes is governed by the contracts of `write` and `read`.
unsafe impl Send for Ring {}
// SAFETY: as above: callers of the unsafe methods keep writers and readers of the same byte apart.
unsafe impl Sync for Ring {}

impl Ring {
    /// `bytes`: a power of two, two blocks at least.
    pub fn new(bytes: usize) -> Ring {
        assert!(bytes.is_power_of_two() && bytes as u64 >= 2 * BLOCK);
        let layout = Self::layout(bytes as u64);
        // SAFETY: the layout has a non-zero size.
        let base = unsafe { alloc_zeroed(layout) };
        if base.is_null() {
            handle_alloc_error(layout);
        }
        // SAFETY: `bytes` zeroes that were just allocated, and that nobody writes before `new` returns.
        io::leave_out_of_core_dumps(unsafe { std::slice::from_raw_parts(base, bytes) });
        Ring { base, bytes: bytes as u64 }
    }

    fn layout(bytes: u64) -> Layout {
        Layout::from_size_align(bytes as usize, BLOCK as usize).expect("a ring fits the address space")
    }

    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Bytes from `lsn`'s place to the ring's end.
    fn contiguous(&self, lsn: Lsn) -> (usize, usize) {
        let at = (lsn & (self.bytes - 1)) as usize;
        (at, self.bytes as usize - at)
    }

    /// Copies `source` to the place of `lsn`.
    ///
    /// # Safety
    /// The caller alone may touch [lsn, lsn + source.len()) now (see the module).
    pub unsafe fn write(&self, lsn: Lsn, source: &[u8]) {
        debug_assert!(source.len() as u64 <= self.bytes);
        let (at, room) = self.contiguous(lsn);
        let (first, second) = source.split_at(source.len().min(room));
        // SAFETY: `at + first.len()` and `second.len()` are within the allocation; nobody else touches these bytes, says the caller.
        unsafe {
            std::ptr::copy_nonoverlapping(first.as_ptr(), self.base.add(at), first.len());
            std::ptr::copy_nonoverlapping(second.as_ptr(), self.base, second.len());
        }
    }

    /// The bytes of [lsn, lsn + len), in two pieces when they wrap.
    ///
    /// # Safety
    /// Nobody writes to them while the slices live (see the module).
    pub unsafe fn read(&self, lsn: Lsn, len: usize) -> (&[u8], &[u8]) {
        debug_assert!(len as u64 <= self.bytes);
        let (at, room) = self.contiguous(lsn);
        let first = len.min(room);
        // SAFETY: both ranges are within the allocation and initialised (zeroed at birth); nobody writes, says the caller.
        unsafe {
            (std::slice::from_raw_parts(self.base.add(at), first), std::slice::from_raw_parts(self.base, len - first))
        }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: allocated in `new` with this layout.
        unsafe { dealloc(self.base, Self::layout(self.bytes)) }
    }
}
