//! Free space: which pages of the data file are allocated.
//!
//! Pages come in groups of [`GROUP_PAGES`]; the second page of each group is the group's bitmap, one bit a page. Allocating and
//! freeing change one bit in the mini-transaction that begins or ends the page's use. The file grows by `fallocate` ahead of
//! need and outside any latch, so that a full disk is met before a statement has changed anything ([`Space::ensure_headroom`]).
//!
//! ```text
//!  page 0 (PageType::Super), after the common header
//!  64 "CLEARWAY" | 72 format version u32 | 76 page bytes u32 | 80 zero 16 bytes | 96 next tree id u32
//!  page 1  bitmap of group 0        page 2  undo directory (see `segment`)       page 3  root of the dictionary
//! ```

use crate::mtr::Mtr;
use crate::page::{self, HEADER_BYTES, OFF_TYPE, PAGE_BYTES, PageId, PageType};
use crate::pool::{Exclusive, Frame, Pool};
use crate::{Error, Result};
use log::Log;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use sync::{Mutex, Rank};

pub const SUPER_PAGE: PageId = 0;
pub const UNDO_DIRECTORY: PageId = 2;
pub const DICTIONARY_ROOT: PageId = 3;

pub const MAGIC: &[u8; 8] = b"CLEARWAY";
pub const FORMAT_VERSION: u32 = 2;
pub const OFF_MAGIC: usize = HEADER_BYTES;
pub const OFF_FORMAT: usize = HEADER_BYTES + 8;
pub const OFF_PAGE_BYTES: usize = HEADER_BYTES + 12;
pub const OFF_NEXT_TREE: usize = HEADER_BYTES + 32;

/// Pages that one bitmap page speaks for.
pub const GROUP_PAGES: u64 = 130_048;
const BITMAP_AT: usize = HEADER_BYTES;
const BITMAP_BYTES: usize = GROUP_PAGES as usize / 8;
const _: () = assert!(BITMAP_AT + BITMAP_BYTES <= PAGE_BYTES);

/// Free pages kept ahead of need: more than the statements in progress can take between two looks.
const HEADROOM_PAGES: i64 = 512;
/// What one step of an undo may take.
const UNDO_PAGES: i64 = 16;
const GROW_PAGES_MIN: u64 = 256;
const GROW_PAGES_MAX: u64 = 4096;

/// The first pages, allocated for ever.
pub const FIXED_PAGES: u64 = 4;

pub fn bitmap_page(group: u64) -> PageId {
    group * GROUP_PAGES + 1
}

/// Is this page a group's bitmap? Once read, at the start, bitmaps are never evicted.
pub fn is_bitmap(page: PageId) -> bool {
    page % GROUP_PAGES == 1
}

pub struct Space {
    /// Pages that the file has room for.
    file_pages: AtomicU64,
    /// Free pages in the file, about. W: allocation, freeing, growth.
    free: AtomicI64,
    /// Where to look for the next free page.
    hint: AtomicU64,
    growth: Mutex<()>,
}

/// A page just allocated, to be formatted. The bitmap stays latched until the mini-transaction commits.
pub struct Allocation<'p> {
    pub page: Exclusive<'p>,
    pub bitmap: Exclusive<'p>,
}

impl Space {
    /// `file_pages`: length of the data file. [`Space::count_free`] follows once the bitmaps are recovered.
    pub fn new(file_pages: u64) -> Space {
        Space {
            file_pages: AtomicU64::new(file_pages),
            free: AtomicI64::new(0),
            hint: AtomicU64::new(0),
            growth: Mutex::new(Rank::FileGrowth, ()),
        }
    }

    pub fn file_pages(&self) -> u64 {
        // Acquire: pairs with the Release in `grow`: the file has these pages.
        self.file_pages.load(Ordering::Acquire)
    }

    /// Free pages in the file, about.
    pub fn free_pages(&self) -> u64 {
        // Relaxed: a figure to show.
        self.free.load(Ordering::Relaxed).max(0) as u64
    }

    /// Redo has found the file to need this many pages.
    pub fn set_file_pages(&self, pages: u64) {
        // Release: pairs with the Acquire in `file_pages`.
        self.file_pages.store(pages, Ordering::Release);
    }

    /// Counts free pages; before anybody allocates.
    pub fn count_free(&self, pool: &Pool) -> Result<()> {
        let total = self.file_pages();
        let mut used = 0;
        for group in 0..total.div_ceil(GROUP_PAGES) {
            if bitmap_page(group) >= total {
                break;
            }
            let view = pool.read(bitmap_page(group))?;
            used +=
                view.bytes()[BITMAP_AT..BITMAP_AT + BITMAP_BYTES].iter().map(|b| b.count_ones() as u64).sum::<u64>();
        }
        // Relaxed: before anybody else is there.
        self.free.store(total as i64 - used as i64, Ordering::Relaxed);
        Ok(())
    }

    /// Makes sure that the statement that is about to write finds free pages; grows the file if not. Holds no latch meanwhile.
    #[inline]
    pub fn ensure_headroom(&self, pool: &Pool, log: &Log) -> Result<()> {
        // Relaxed: a number kept about right; the bitmaps decide.
        if self.free.load(Ordering::Relaxed) >= HEADROOM_PAGES {
            return Ok(());
        }
        self.grow(pool, log)
    }

    /// As [`Space::ensure_headroom`] for a deletion, which may be what makes room: it may use most of what others must leave.
    pub fn ensure_headroom_to_delete(&self, pool: &Pool, log: &Log) -> Result<()> {
        match self.ensure_headroom(pool, log) {
            // Relaxed: as above.
            Err(Error::DiskFull) if self.free.load(Ordering::Relaxed) >= HEADROOM_PAGES / 4 => Ok(()),
            outcome => outcome,
        }
    }

    /// As [`Space::ensure_headroom`] for an undo, which may use all that there is: errors only when nothing is left.
    pub fn ensure_headroom_to_undo(&self, pool: &Pool, log: &Log) -> Result<()> {
        match self.ensure_headroom(pool, log) {
            // Relaxed: as above. A split takes a page a level.
            Err(Error::DiskFull) if self.free.load(Ordering::Relaxed) >= UNDO_PAGES => Ok(()),
            outcome => outcome,
        }
    }

    #[cold]
    fn grow(&self, pool: &Pool, log: &Log) -> Result<()> {
        let _growth = self.growth.lock();
        // Relaxed: as above, and growth is one at a time.
        while self.free.load(Ordering::Relaxed) < HEADROOM_PAGES {
            let old = self.file_pages();
            let new = (old + (old / 8).clamp(GROW_PAGES_MIN, GROW_PAGES_MAX)).min(pool.page_count());
            if new == old {
                return Err(Error::DiskFull);
            }
            pool.file().allocate(old * PAGE_BYTES as u64, (new - old) * PAGE_BYTES as u64)?;
            // The new length is durable before any page there is: recovery counts on it.
            pool.file().sync_all()?;
            let mut bitmaps = 0;
            for group in old / GROUP_PAGES..new.div_ceil(GROUP_PAGES) {
                let id = bitmap_page(group);
                if (old..new).contains(&id) {
                    let mut bitmap = pool.create(id, pool.reserve_frame()?);
                    format_bitmap(bitmap.bytes_mut(), group);
                    let mut mtr = Mtr::new();
                    mtr.image(&bitmap);
                    mtr.commit(log, &mut [&mut bitmap]);
                    bitmaps += 1;
                }
            }
            // Release: pairs with the Acquire in `file_pages`: bitmaps and file are there first.
            self.file_pages.store(new, Ordering::Release);
            self.free.fetch_add((new - old) as i64 - bitmaps, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Takes a free page. Latches of tree pages may be held: there is a frame for it, and bitmaps are in memory.
    pub fn allocate<'p>(&self, pool: &'p Pool, frame: Frame<'p>, mtr: &mut Mtr) -> Result<Allocation<'p>> {
        let total = self.file_pages();
        let groups = total.div_ceil(GROUP_PAGES);
        // Relaxed: a hint; the latched bitmap decides.
        let hint = self.hint.load(Ordering::Relaxed) % total;
        for turn in 0..=groups {
            let group = (hint / GROUP_PAGES + turn) % groups;
            if bitmap_page(group) >= total {
                continue;
            }
            let in_group = (total - group * GROUP_PAGES).min(GROUP_PAGES) as usize;
            let from = if turn == 0 { (hint % GROUP_PAGES) as usize / 8 } else { 0 };
            let mut bitmap = pool.exclusive(bitmap_page(group))?;
            let Some(bit) = find_zero(&bitmap.bytes()[BITMAP_AT..BITMAP_AT + BITMAP_BYTES], from, in_group) else {
                continue;
            };
            set_bit(mtr, &mut bitmap, bit, true);
            let page = group * GROUP_PAGES + bit as u64;
            // Relaxed for both: a hint, and a number kept about right.
            self.hint.store(page, Ordering::Relaxed);
            self.free.fetch_sub(1, Ordering::Relaxed);
            return Ok(Allocation { page: pool.create(page, frame), bitmap });
        }
        Err(Error::DiskFull)
    }

    /// Frees a page that is latched and that nothing refers to any more. Returns the latched bitmap, to be committed along.
    pub fn free<'p>(&self, pool: &'p Pool, mtr: &mut Mtr, page: &mut Exclusive<'_>) -> Result<Exclusive<'p>> {
        let group = page.id / GROUP_PAGES;
        let mut bitmap = pool.exclusive(bitmap_page(group))?;
        let bit = (page.id % GROUP_PAGES) as usize;
        assert!(bitmap.bytes()[BITMAP_AT + bit / 8] & 1 << (bit % 8) != 0, "page {} is freed twice", page.id);
        set_bit(mtr, &mut bitmap, bit, false);
        mtr.write(page, OFF_TYPE, &[PageType::Free as u8]);
        // Relaxed for both: a number kept about right, and a hint.
        self.free.fetch_add(1, Ordering::Relaxed);
        self.hint.fetch_min(page.id, Ordering::Relaxed);
        Ok(bitmap)
    }
}

/// The bitmap of a new group: its own page, and the fixed pages of group 0.
pub fn format_bitmap(bytes: &mut [u8], group: u64) {
    page::init(bytes, bitmap_page(group), PageType::Bitmap, 0);
    bytes[BITMAP_AT] = if group == 0 { (1 << FIXED_PAGES) - 1 } else { 1 << 1 };
}

/// What the bitmap of its group says of a page.
pub fn is_allocated(bitmap: &[u8], page: PageId) -> bool {
    let bit = (page % GROUP_PAGES) as usize;
    bitmap[BITMAP_AT + bit / 8] & 1 << (bit % 8) != 0
}

/// The first zero bit below `end`, from byte `from` on and then from the start.
fn find_zero(bitmap: &[u8], from: usize, end: usize) -> Option<usize> {
    let search = |bytes: std::ops::Range<usize>| {
        bytes
            .clone()
            .find(|&at| bitmap[at] != 0xFF)
            .map(|at| at * 8 + bitmap[at].trailing_ones() as usize)
            .filter(|&bit| bit < end)
    };
    let bytes = end.div_ceil(8);
    search(from.min(bytes)..bytes).or_else(|| search(0..bytes))
}

fn set_bit(mtr: &mut Mtr, bitmap: &mut Exclusive<'_>, bit: usize, on: bool) {
    let at = BITMAP_AT + bit / 8;
    let mask = 1 << (bit % 8);
    let byte = bitmap.bytes()[at];
    debug_assert_eq!(byte & mask == 0, on);
    mtr.write(bitmap, at, &[byte ^ mask]);
}
