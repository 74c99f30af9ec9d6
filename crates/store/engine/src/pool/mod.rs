//! The buffer pool, in the manner of vmcache (Leis et al., SIGMOD 2023): one reserved range of virtual memory in which page
//! `p` lives at `p * 16 KiB`, and one 64-byte [`PageMeta`] for each page. Finding a page is arithmetic; reading a resident page
//! writes nothing. A *frame* is the right to keep one page in memory: there are `innodb_buffer_pool_size / 16 KiB` of them.
//!
//! Reading: [`Pool::read`] gives a [`View`] with the page's latch version; whoever has used the bytes validates. Writing:
//! [`Pool::exclusive`] or [`View::upgrade`] gives an [`Exclusive`] guard. Eviction ([`replace`]) marks pages, and takes the
//! frame of a marked page that is clean and was not used since. It never writes; the [`cleaner`] does.

#![expect(unsafe_code, reason = "pages are reached by address; the latch protocol makes it sound")]

mod batch;
pub mod cleaner;
mod discard;
pub mod doublewrite;
mod frames;
mod free;
mod metas;
mod pace;
pub mod queue;
pub mod read_ahead;
mod replace;
pub mod resize;
pub mod settings;
mod table;

use crate::page::{self, HEADER_BYTES, OFF_STAMP, PAGE_BYTES, PageId, PageType, SEALED_AT};
use crate::{Error, Result};
use batch::Batch;
use cipher::{Keys, Vault};
use doublewrite::HALVES;
use free::FreeFrames;
use io::{File, Region};
use log::Lsn;
use observe::Counter;
use queue::Queue;
use read_ahead::Job;
use replace::Replacer;
use resize::Resize;
use settings::PoolSettings;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use sync::blocking;
use sync::page_latch::{Optimistic, PageLatch, TryLatch};
use sync::{CachePadded, Mutex, Rank};
use table::{Table, Zeroed};

/// What is known of a page besides its bytes. All zeroes: not in memory, clean.
#[repr(C, align(64))]
pub struct PageMeta {
    pub latch: PageLatch,
    /// 1 while a copy is on its way to the data file. W: cleaner (to 1), who ends the batch (to 0). R: cleaner, eviction.
    pub in_flight: AtomicU32,
    /// The frame that the page occupies. W: the loader, and the cleaner when the pool shrinks. R: the evictor, the cleaner.
    frame: AtomicU32,
    /// 1 from when the page was read ahead until eviction finds that it was used. W: the loader, eviction.
    ahead: AtomicU32,
}

const _: () = assert!(size_of::<PageMeta>() == 64);

// SAFETY: a latch of zeroes is Evicted, the rest are atomics.
unsafe impl Zeroed for PageMeta {}

/// Pages whose newest changes could not be applied, each with the LSN that it must have reached to be whole again.
pub type Lost = BTreeMap<PageId, Lsn>;

/// The buffer pool. Its fields are what threads share of it, each with those who write it (W) and read it (R); those of one purpose that
/// have rules of their own are types of their own.
pub struct Pool {
    pages: Region,
    metas: Table<PageMeta>,
    /// By group of pages whose metas share a page of the kernel: how many are in memory. See [`metas`].
    residents: Table<AtomicU8>,
    /// Above the versions of all latches that were given back. W: who gives some back. R: who loads a page.
    version_floor: AtomicU64,
    file: File,
    path: PathBuf,
    /// The device writes pages whole or not at all, and is asked to. W: recovery. R: who writes pages.
    atomic: bool,
    /// Pages that redo had to give up. W: recovery, before anybody else is there. R: who reads a page from disk.
    lost: Lost,
    /// Where the keys of encrypted pages are. W: recovery. R: who reads or writes such a page.
    vault: Option<Arc<Vault>>,
    /// New undo pages are encrypted (`innodb_undo_log_encrypt`). W: SET GLOBAL. R: who makes an undo page.
    seals_undo: AtomicBool,
    /// Frames that may be in use: see [`resize`].
    size: Resize,
    /// Page in each frame, plus one; 0: empty. W: loader and evictor of the page, and the cleaner that moves it to another frame,
    /// under its exclusive latch.
    frames: Table<AtomicU64>,
    /// By frame: LSN at the start of the oldest log group whose change of its page is not on disk yet; 0: clean. Apart from
    /// the metas, so that the cleaner and the checkpoint read it from end to end in a few microseconds.
    /// W: the holder of the page's exclusive latch (0 to LSN), the cleaner under the shared latch (to 0). R: cleaner, eviction.
    dirty_since: Table<AtomicU64>,
    /// By frame: when its page was loaded, in milliseconds. W: the loader. R: eviction.
    loaded_ms: Table<AtomicU32>,
    /// W: the cleaner, at each round. R: loaders, eviction.
    clock_us: AtomicU64,
    /// Bytes at the start of the range that may lie in huge pages; 0: none any more. W: the first eviction.
    huge: AtomicUsize,
    /// Frames handed out so far. W: misses, up to the pool's size; the cleaner, when a smaller pool has no others.
    opened: CachePadded<AtomicU64>,
    free: FreeFrames,
    /// Pages that were thrown away dirty: see the module.
    discards: discard::Discards,
    /// W, R: who evicts; seldom anybody but the cleaner.
    replacer: Mutex<Replacer>,
    /// Frames to keep free. W: SET GLOBAL. R: misses, the cleaner.
    free_target: AtomicU32,
    /// `innodb_old_blocks_pct` and, in the low half, `innodb_old_blocks_time`. W: SET GLOBAL. R: who evicts.
    old_blocks: AtomicU64,
    /// Threads that wait for a frame. W: they. R: who frees frames.
    hungry: AtomicU32,
    /// The cleaner is a thread of its own. W: that thread. R: misses.
    attended: AtomicBool,
    /// Nobody waits for a frame any more. W: the engine's stop.
    closing: AtomicBool,
    /// Grows when pages have become clean or frames free. Threads that find no frame wait for it.
    pub(crate) cleaned: CachePadded<AtomicU32>,
    /// Grows when somebody wants the cleaner to run now.
    pub(crate) wanted: CachePadded<AtomicU32>,
    /// W: SET GLOBAL. R: the cleaner, once a round.
    settings: Mutex<PoolSettings>,
    batches: [Batch; HALVES],
    /// The half that the next batch takes. W, R: the cleaner.
    turn: AtomicUsize,
    /// Halves whose pages are to be written.
    writes: Queue<usize>,
    /// Threads in [`Pool::run_writer`]. W: they. R: the cleaner.
    writers: AtomicUsize,
    /// Neighbouring pages that somebody will want soon.
    reads: Queue<Job>,
    /// `innodb_read_ahead_threshold`. W: SET GLOBAL. R: scans, at each leaf.
    read_ahead_threshold: AtomicU32,
    /// `innodb_random_read_ahead`. W: SET GLOBAL. R: misses.
    random_read_ahead: AtomicBool,
}

/// Pages that are held for a moment while memory in huge pages is given back.
const SPLIT_AT_ONCE: u64 = 64;
/// Orders to writers that may stand in line: the most writers for each half.
const WRITES_MAX: usize = 64 * HALVES;

/// A page being read without a latch. Its bytes may change at any time: everything taken from them counts only after
/// [`View::validate`] has said yes.
#[derive(Clone, Copy)]
pub struct View<'p> {
    pool: &'p Pool,
    pub id: PageId,
    version: u64,
}

/// A page and its version at some moment, to be compared later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    id: PageId,
    version: u64,
}

/// A page latched exclusively.
pub struct Exclusive<'p> {
    pool: &'p Pool,
    pub id: PageId,
    changed: bool,
}

/// A frame that is kept for a page to be created.
#[must_use = "a frame is reserved for a page"]
pub struct Frame<'p> {
    pool: &'p Pool,
    index: u32,
}

impl Frame<'_> {
    fn into_index(self) -> u32 {
        let index = self.index;
        std::mem::forget(self);
        index
    }
}

impl Drop for Frame<'_> {
    fn drop(&mut self) {
        self.pool.give_back(self.index);
    }
}

/// A page latched in shared mode.
pub struct Shared<'p> {
    pool: &'p Pool,
    pub id: PageId,
}

impl Pool {
    /// `page_count`: pages of address space; `frame_count`: pages of memory.
    pub fn new(file: File, path: PathBuf, page_count: u64, frame_count: usize) -> Result<Pool> {
        let pages = io::reserve(page_count as usize * PAGE_BYTES)?;
        // Bytes that all frames together could fill: a data file no longer than the pool lies there, and its pages may share huge
        // pages of the kernel without taking more memory than the pool's.
        let huge = frame_count.min(page_count as usize) * PAGE_BYTES;
        // Not every kernel has huge pages; without them it works as well, only slower.
        let huge = if pages.advise_huge_pages(0..huge, true).is_ok() { huge } else { 0 };
        // A pool grows to as many frames as there are pages; it may begin with more.
        let frames_max = frame_count.max(page_count as usize);
        let pool = Pool {
            pages,
            metas: Table::new(page_count as usize)?,
            residents: Table::new((page_count as usize).div_ceil(metas::GROUP_PAGES))?,
            version_floor: AtomicU64::new(0),
            file,
            path,
            atomic: false,
            lost: Lost::new(),
            vault: None,
            seals_undo: AtomicBool::new(false),
            size: Resize::new(frame_count),
            frames: Table::new(frames_max)?,
            dirty_since: Table::new(frames_max)?,
            loaded_ms: Table::new(frames_max)?,
            clock_us: AtomicU64::new(0),
            huge: AtomicUsize::new(huge),
            opened: CachePadded::new(AtomicU64::new(0)),
            free: FreeFrames::new(),
            discards: discard::Discards::new(),
            replacer: Mutex::new(Rank::PagePool, Replacer::default()),
            free_target: AtomicU32::new(0),
            old_blocks: AtomicU64::new(0),
            hungry: AtomicU32::new(0),
            attended: AtomicBool::new(false),
            closing: AtomicBool::new(false),
            cleaned: CachePadded::new(AtomicU32::new(0)),
            wanted: CachePadded::new(AtomicU32::new(0)),
            settings: Mutex::new(Rank::PagePool, PoolSettings::default()),
            batches: batch::batches(),
            turn: AtomicUsize::new(0),
            writes: Queue::new(WRITES_MAX),
            writers: AtomicUsize::new(0),
            reads: Queue::new(read_ahead::READS_MAX),
            read_ahead_threshold: AtomicU32::new(0),
            random_read_ahead: AtomicBool::new(false),
        };
        pool.pages.put_in_core_dumps(false)?;
        pool.set_settings(PoolSettings { in_core_file: false, ..PoolSettings::default() });
        Ok(pool)
    }

    /// The pool is full, or shrinks: from here on pages come and go one by one, so huge pages would keep memory of pages that went.
    #[cold]
    fn leave_huge_pages(&self) {
        // Relaxed: whoever turns it to 0 does the work, once.
        self.split_huge_pages(0..self.huge.swap(0, Ordering::Relaxed));
    }

    /// No huge pages in these bytes of the range; gives memory of pages back that are not in memory.
    fn split_huge_pages(&self, bytes: Range<usize>) {
        // Best effort, like the advice before.
        let _ = self.pages.advise_huge_pages(bytes.clone(), false);
        let ids = (bytes.start / PAGE_BYTES) as u64..(bytes.end / PAGE_BYTES) as u64;
        for some in ids.clone().step_by(SPLIT_AT_ONCE as usize) {
            let some = some..(some + SPLIT_AT_ONCE).min(ids.end);
            // Claimed, so that nobody loads the page while its memory goes.
            let claimed: Vec<PageId> = some.filter(|id| self.meta(*id).latch.try_claim_for_load()).collect();
            for run in claimed.chunk_by(|a, b| a + 1 == *b) {
                self.discard(run[0]..run[run.len() - 1] + 1);
            }
            claimed.iter().for_each(|id| self.meta(*id).latch.set_evicted());
        }
    }

    /// Before anybody else is there: pages are written whole by the device, which promises it for this file, and need no doublewrite.
    pub fn set_atomic(&mut self, atomic: bool) {
        self.atomic = atomic;
    }

    pub fn file(&self) -> &File {
        &self.file
    }

    pub fn settings(&self) -> PoolSettings {
        self.settings.lock().clone()
    }

    pub fn set_settings(&self, settings: PoolSettings) {
        // Relaxed throughout: settings that order nothing.
        self.free_target.store(self.free_target_of(&settings), Ordering::Relaxed);
        self.read_ahead_threshold.store(settings.read_ahead_threshold as u32, Ordering::Relaxed);
        self.random_read_ahead.store(settings.random_read_ahead, Ordering::Relaxed);
        Pool::set_old_blocks(&self.old_blocks, settings.old_blocks_pct, settings.old_blocks_time);
        let mut known = self.settings.lock();
        if settings.in_core_file != known.in_core_file {
            self.pages.put_in_core_dumps(settings.in_core_file).expect("the kernel took the same advice at the start");
        }
        *known = settings;
    }

    /// How many pages the reserved range holds.
    #[inline(always)]
    pub fn page_count(&self) -> u64 {
        self.metas.len() as u64
    }

    /// Frames to keep free.
    fn free_target_of(&self, settings: &PoolSettings) -> u32 {
        settings.lru_scan_depth.min(self.frame_count() as u64 / 16) as u32
    }

    /// The pool's size in pages.
    pub fn frame_count(&self) -> usize {
        self.size.frames()
    }

    /// Frames that there are: while the pool shrinks, those too that are still to be given up.
    pub fn frames_left(&self) -> usize {
        self.frame_count().max((self.opened_frames() as usize).saturating_sub(self.size.withdrawn()))
    }

    /// Frames in use.
    pub fn resident(&self) -> usize {
        (self.opened_frames() as usize).saturating_sub(self.size.withdrawn() + self.free.count())
    }

    #[inline(always)]
    pub fn meta(&self, id: PageId) -> &PageMeta {
        &self.metas[id as usize]
    }

    #[inline(always)]
    fn address(&self, id: PageId) -> *mut u8 {
        assert!(id < self.page_count());
        // SAFETY: within the reserved range, by the assertion.
        unsafe { self.pages.as_ptr().add(id as usize * PAGE_BYTES) }
    }

    /// Is there address space for this page? [`Error::Corrupt`] if not.
    pub fn check_range(&self, id: PageId) -> Result<()> {
        if id < self.page_count() {
            return Ok(());
        }
        Err(Error::Corrupt(format!("{}: a reference to page {id}, which is past the end", self.path.display())))
    }

    /// The page for optimistic reading; loads it when it is not in memory.
    #[inline]
    pub fn read(&self, id: PageId) -> Result<View<'_>> {
        self.check_range(id)?;
        loop {
            match self.meta(id).latch.optimistic() {
                Optimistic::Version(version) => return Ok(View { pool: self, id, version }),
                Optimistic::Busy => self.wait_readable(id)?,
                Optimistic::Evicted => self.load(id)?,
            }
        }
    }

    /// Waits while somebody changes or loads the page, a while at most.
    #[cold]
    fn wait_readable(&self, id: PageId) -> Result<()> {
        let latch = &self.meta(id).latch;
        latch.wait_readable();
        // Long over if it were only being changed: it comes from a disk that does not answer.
        if latch.is_exclusive() && blocking::is_interrupted() { Err(Error::Interrupted) } else { Ok(()) }
    }

    /// The page, latched exclusively; waits. Latch order is the caller's business.
    pub fn exclusive(&self, id: PageId) -> Result<Exclusive<'_>> {
        self.check_range(id)?;
        while self.meta(id).latch.exclusive().is_err() {
            self.load(id)?;
        }
        Ok(Exclusive { pool: self, id, changed: false })
    }

    /// For redo: as [`Pool::exclusive`]; the inner error says why this page's bytes cannot be had, the outer one concerns no page in
    /// particular.
    pub fn exclusive_unless_damaged(&self, id: PageId) -> Result<Result<Exclusive<'_>>> {
        self.check_range(id)?;
        while self.meta(id).latch.exclusive().is_err() {
            let frame = self.take_frame()?;
            if let Err(damage) = self.load_into(id, frame) {
                return Ok(Err(damage));
            }
        }
        Ok(Ok(Exclusive { pool: self, id, changed: false }))
    }

    /// The page latched exclusively, unless somebody holds it or it is not in memory.
    pub fn try_exclusive(&self, id: PageId) -> Option<Exclusive<'_>> {
        match self.meta(id).latch.try_exclusive() {
            TryLatch::Acquired => Some(Exclusive { pool: self, id, changed: false }),
            TryLatch::Busy | TryLatch::Evicted => None,
        }
    }

    /// The page latched shared, unless a writer holds it or it is not in memory.
    pub fn try_shared(&self, id: PageId) -> Option<Shared<'_>> {
        match self.meta(id).latch.try_shared() {
            TryLatch::Acquired => Some(Shared { pool: self, id }),
            TryLatch::Busy | TryLatch::Evicted => None,
        }
    }

    /// A page that is about to be formatted, latched exclusively: its bytes on disk, if any, are not read.
    pub fn create(&self, id: PageId, frame: Frame<'_>) -> Exclusive<'_> {
        let latch = &self.meta(id).latch;
        loop {
            // A page that was freed may be in memory still; the frame then goes back.
            if latch.exclusive().is_ok() {
                break;
            }
            if self.claim_for_load(id) {
                self.occupy(id, frame.into_index());
                break;
            }
        }
        observe::increment(Counter::InnodbPagesCreated);
        Exclusive { pool: self, id, changed: false }
    }

    /// A resident page's word in `dirty_since`. The caller holds the page latched.
    #[inline(always)]
    fn dirty_since_of(&self, id: PageId) -> &AtomicU64 {
        // Relaxed: written by the page's loader, before it released the latch that the caller now holds.
        &self.dirty_since[self.meta(id).frame.load(Ordering::Relaxed) as usize]
    }

    /// Frames in use, those first whose pages will go first: number, page, and since which LSN it is dirty (0: it is clean).
    pub fn occupied(&self) -> impl Iterator<Item = (usize, PageId, u64)> + '_ {
        let order = self.replacer.lock().order(self);
        order.into_iter().filter_map(|frame| {
            // Relaxed: figures of one moment or another.
            Some((frame as usize, self.page_in(frame)?, self.dirty_since[frame as usize].load(Ordering::Relaxed)))
        })
    }

    /// The page for optimistic reading, if it is in memory and nobody writes to it. Does not count as use.
    pub fn read_resident(&self, id: PageId) -> Option<View<'_>> {
        match self.meta(id).latch.peek() {
            Optimistic::Version(version) => Some(View { pool: self, id, version }),
            Optimistic::Busy | Optimistic::Evicted => None,
        }
    }

    /// Dirty pages now, with the LSN since when.
    pub fn dirty_pages(&self) -> impl Iterator<Item = (PageId, u64)> + '_ {
        let opened = self.opened_frames() as usize;
        self.dirty_since[..opened].iter().zip(&self.frames[..opened]).filter_map(|(since, frame)| {
            // Acquire: a caller that has learned that a log group is complete sees the marks that were set before.
            match since.load(Ordering::Acquire) {
                0 => None,
                since => Some((frame.load(Ordering::Relaxed).checked_sub(1)?, since)),
            }
        })
    }

    /// Pages whose newest change is not in the data file, about: a page that is written and changed meanwhile counts twice.
    pub fn dirty_count(&self) -> usize {
        self.dirty_pages().count() + self.batches.iter().map(Batch::len).sum::<usize>()
    }

    /// Is the page in memory and dirty? A guess: no latch is held.
    fn seems_dirty(&self, id: PageId) -> bool {
        let meta = self.meta(id);
        // Relaxed here and below: whoever acts on it looks again under the latch.
        let frame = meta.frame.load(Ordering::Relaxed);
        let since = self.dirty_since[frame as usize].load(Ordering::Relaxed);
        !meta.latch.is_evicted() && self.page_in(frame) == Some(id) && since != 0
    }

    /// W: the page's loader, which holds it exclusively.
    fn occupy(&self, id: PageId, frame: u32) {
        // Relaxed: the latch's release pairs with the acquisition by whoever uses them; the clock looks again.
        let meta = self.meta(id);
        meta.frame.store(frame, Ordering::Relaxed);
        meta.ahead.store(0, Ordering::Relaxed);
        self.count_resident(id);
        // Relaxed: as above.
        self.loaded_ms[frame as usize].store(self.clock_ms(), Ordering::Relaxed);
        self.frames[frame as usize].store(id + 1, Ordering::Relaxed);
    }

    #[cold]
    fn load(&self, id: PageId) -> Result<()> {
        self.load_into(id, self.take_frame()?)
    }

    fn load_into(&self, id: PageId, frame: u32) -> Result<()> {
        let meta = self.meta(id);
        if !self.claim_for_load(id) {
            // Somebody else loads it, or has: the caller looks again.
            self.give_back(frame);
            return Ok(());
        }
        // SAFETY: we hold the page exclusively, so nobody else reads or writes these bytes.
        let bytes = unsafe { std::slice::from_raw_parts_mut(self.address(id), PAGE_BYTES) };
        observe::increment(Counter::InnodbBufferPoolReads);
        observe::increment(Counter::InnodbDataReads);
        observe::increment(Counter::InnodbPagesRead);
        observe::add(Counter::InnodbDataRead, PAGE_BYTES as u64);
        let outcome = self.read_from_disk(id, bytes);
        if let Err(error) = outcome {
            // The client is told as well; but whoever repairs the disk reads the error log.
            eprintln!("[ERROR] [Engine] {error}");
            self.discard(id..id + 1);
            meta.latch.set_evicted();
            self.give_back(frame);
            return Err(error);
        }
        self.occupy(id, frame);
        meta.latch.finish_load();
        // Relaxed: a setting.
        if self.random_read_ahead.load(Ordering::Relaxed) {
            self.read_extent_ahead(id);
        }
        Ok(())
    }

    /// Reads neighbouring pages that this thread has claimed for loading: by page, whether it is whole.
    fn read_claimed(&self, first: PageId, count: usize) -> Vec<bool> {
        assert!(count > 0 && first + count as u64 <= self.page_count());
        // SAFETY: the caller holds these pages exclusively, so nobody else reads or writes their bytes, which lie side by side.
        let bytes = unsafe { std::slice::from_raw_parts_mut(self.address(first), count * PAGE_BYTES) };
        let read = self.file.read_at(bytes, first * PAGE_BYTES as u64).is_ok();
        bytes.chunks_mut(PAGE_BYTES).zip(first..).map(|(page, id)| read && self.accept(id, page).is_ok()).collect()
    }

    fn read_from_disk(&self, id: PageId, bytes: &mut [u8]) -> Result<()> {
        self.file.read_at(bytes, id * PAGE_BYTES as u64).map_err(|e| match e.kind() {
            io::ErrorKind::ShortRead => self.corrupt(id, "the file ends before it"),
            _ => Error::from(e),
        })?;
        self.accept(id, bytes)
    }

    /// Is this what was written to the page last? Makes of it what the page has in memory.
    fn accept(&self, id: PageId, bytes: &mut [u8]) -> Result<()> {
        page::verify(bytes, id).map_err(|why| self.corrupt(id, &why))?;
        self.open(id, bytes)?;
        match self.lost.get(&id) {
            Some(until) if page::page_lsn(bytes) < *until => {
                Err(self.corrupt(id, &format!("changes up to LSN {until} were lost when it could not be read")))
            }
            _ => Ok(()),
        }
    }

    /// A page of a file, verified, as it is in memory.
    pub fn open(&self, id: PageId, bytes: &mut [u8]) -> Result<()> {
        if page::is_encrypted(bytes) {
            let keys = self.keys().filter(|keys| page::get_u16(bytes, OFF_STAMP) == keys.stamp());
            let keys = keys.ok_or_else(|| self.without_keys(id))?;
            let lsn = page::page_lsn(bytes);
            keys.open_page(id, lsn, &mut bytes[SEALED_AT..]);
            page::put_u16(bytes, OFF_STAMP, 0);
        }
        Ok(())
    }

    /// The copy of a page in memory that is about to go to a file, as it stands there.
    fn seal(&self, id: PageId, bytes: &mut [u8]) {
        if page::page_type(bytes) == Some(PageType::Free) {
            // Nobody reads it, on disk nobody can.
            bytes[HEADER_BYTES..].fill(0);
        }
        if page::is_encrypted(bytes) {
            let keys = self.keys().expect("no encrypted page comes into memory without the keys");
            let lsn = page::page_lsn(bytes);
            keys.seal_page(id, lsn, &mut bytes[SEALED_AT..]);
            page::put_u16(bytes, OFF_STAMP, keys.stamp());
        }
        page::seal(bytes);
    }

    fn keys(&self) -> Option<&Keys> {
        self.vault.as_deref().and_then(Vault::keys)
    }

    #[cold]
    fn without_keys(&self, id: PageId) -> Error {
        let (data, keys) = (self.path.display(), cipher::FILE_NAME);
        Error::Keyring(format!("{data}: page {id} is encrypted, and its key is not in {keys}"))
    }

    pub fn vault(&self) -> Option<&Arc<Vault>> {
        self.vault.as_ref()
    }

    /// Recovery, before anybody else is there: where the keys are.
    pub fn set_vault(&mut self, vault: Arc<Vault>) {
        self.vault = Some(vault);
    }

    /// `innodb_undo_log_encrypt`. The vault has keys.
    pub fn seal_undo(&self, on: bool) {
        // Relaxed: a setting that orders nothing.
        self.seals_undo.store(on, Ordering::Relaxed);
    }

    /// Are new undo pages to be encrypted?
    pub fn seals_undo(&self) -> bool {
        // Relaxed: a setting that orders nothing.
        self.seals_undo.load(Ordering::Relaxed)
    }

    pub fn lost(&self) -> &Lost {
        &self.lost
    }

    /// Recovery, before anybody else is there: which pages are not to be trusted.
    pub fn set_lost(&mut self, lost: Lost) {
        self.lost = lost;
    }

    /// Gives the pages' memory back; W: who holds them exclusively.
    fn discard(&self, ids: Range<PageId>) {
        let bytes = ids.start as usize * PAGE_BYTES..ids.end as usize * PAGE_BYTES;
        self.pages.discard(bytes).expect("the kernel takes back memory that it gave");
    }

    pub fn corrupt(&self, id: PageId, why: &str) -> Error {
        Error::Corrupt(format!(
            "{}: page {id} (byte {}) is damaged: {why}",
            self.path.display(),
            id * PAGE_BYTES as u64
        ))
    }

    fn turn(&self) -> usize {
        // Relaxed: the cleaner's own.
        self.turn.load(Ordering::Relaxed)
    }

    fn next_turn(&self) {
        // Relaxed: the cleaner's own.
        self.turn.store((self.turn() + 1) % HALVES, Ordering::Relaxed);
    }

    /// A writer's work until [`Pool::end_io_threads`]: pages of batches go to the data file.
    pub fn run_writer(&self) {
        // Relaxed: the cleaner asks for as many as it sees, and does itself what nobody does.
        self.writers.fetch_add(1, Ordering::Relaxed);
        while let Some(half) = self.writes.pop() {
            self.batches[*half].place(self);
        }
        // Relaxed: as above.
        self.writers.fetch_sub(1, Ordering::Relaxed);
    }

    /// Calls as many writers to a batch as have something to do.
    fn share_out(&self, half: usize, runs: usize) {
        // Relaxed: as in `run_writer`.
        for _ in 0..runs.min(self.writers.load(Ordering::Relaxed)) {
            self.writes.push(half);
        }
    }

    /// Brings what is on its way to its place, as the writers would.
    pub fn place_batches(&self) {
        self.batches.iter().for_each(|batch| batch.place(self));
    }

    /// Whoever waits for a frame hears that there will be none.
    pub fn end_waits(&self) {
        // Relaxed: a wish, no data comes with it; the wake follows it.
        self.closing.store(true, Ordering::Relaxed);
        self.note_cleaned();
    }

    /// Ends the threads that read and write for others; after the cleaner has written all.
    pub fn end_io_threads(&self) {
        self.reads.close();
        self.writes.close();
    }
}

impl Stamp {
    /// Has the page stayed the same?
    #[must_use]
    pub fn is_current(self, pool: &Pool) -> bool {
        pool.meta(self.id).latch.validate(self.version)
    }
}

impl<'p> View<'p> {
    /// The page's bytes. Others may be writing them: hand them to functions that tolerate that.
    #[inline(always)]
    pub fn bytes(self) -> &'p [u8] {
        // SAFETY: the address is mapped for the pool's life. Bytes may change during use (a seqlock read): callers only copy,
        // compare and bounds-check what they read, and act on it after `validate`.
        unsafe { std::slice::from_raw_parts(self.pool.address(self.id), PAGE_BYTES) }
    }

    /// Has the page stayed the same since this view was taken?
    #[inline(always)]
    #[must_use]
    pub fn validate(self) -> bool {
        self.pool.meta(self.id).latch.validate(self.version)
    }

    /// To ask later, without a view, whether the page is still as this view has it.
    pub fn stamp(self) -> Stamp {
        Stamp { id: self.id, version: self.version }
    }

    /// Latches the page exclusively if it has stayed the same.
    #[must_use]
    pub fn upgrade(self) -> Option<Exclusive<'p>> {
        self.pool.meta(self.id).latch.try_upgrade(self.version).then(|| Exclusive {
            pool: self.pool,
            id: self.id,
            changed: false,
        })
    }

    pub fn kind(self) -> Option<PageType> {
        page::page_type(self.bytes())
    }
}

impl Exclusive<'_> {
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: latched exclusively: nobody writes; optimistic readers only read.
        unsafe { std::slice::from_raw_parts(self.pool.address(self.id), PAGE_BYTES) }
    }

    /// The bytes to be changed; from here on the latch's release tells readers that the page has changed.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        self.changed = true;
        // SAFETY: latched exclusively. Optimistic readers may read these bytes while we write; they find out by the version.
        unsafe { std::slice::from_raw_parts_mut(self.pool.address(self.id), PAGE_BYTES) }
    }

    pub fn is_changed(&self) -> bool {
        self.changed
    }

    /// Does the page's copy on disk have its bytes?
    pub fn is_clean(&self) -> bool {
        // Relaxed: stored under this latch or the shared one, whose release our exclusive latch pairs with. Acquire: pairs with
        // the cleaner's Release after the write.
        self.pool.dirty_since_of(self.id).load(Ordering::Relaxed) == 0
            && self.pool.meta(self.id).in_flight.load(Ordering::Acquire) == 0
    }

    /// Notes that the page differs from its copy on disk since the log group at `lsn`.
    pub fn set_dirty(&self, lsn: u64) {
        let since = self.pool.dirty_since_of(self.id);
        // Relaxed: written only under this latch or the cleaner's shared one; the checkpoint's scan is ordered after the
        // completion of the log group, which the log's Release/Acquire pair provides.
        if since.load(Ordering::Relaxed) == 0 {
            since.store(lsn.max(1), Ordering::Relaxed);
        }
    }
}

impl Drop for Exclusive<'_> {
    fn drop(&mut self) {
        let latch = &self.pool.meta(self.id).latch;
        if self.changed { latch.unlock_exclusive() } else { latch.unlock_exclusive_unchanged() }
    }
}

impl Shared<'_> {
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: latched shared: nobody writes.
        unsafe { std::slice::from_raw_parts(self.pool.address(self.id), PAGE_BYTES) }
    }

    pub fn meta(&self) -> &PageMeta {
        self.pool.meta(self.id)
    }

    pub fn dirty_since(&self) -> &AtomicU64 {
        self.pool.dirty_since_of(self.id)
    }
}

impl Drop for Shared<'_> {
    fn drop(&mut self) {
        self.pool.meta(self.id).latch.unlock_shared();
    }
}
