//! Undo segments: who may write where, and where purge has come to.
//!
//! ```text
//!  undo directory (page 2, and further ones through word A), after the common header
//!  64 count u64 | 72 segment page u64 | 80 segment page u64 | ...
//! ```

use crate::btree::Store;
use crate::mtr::Mtr;
use crate::page::{self, HEADER_BYTES, OFF_WORD_A, PAGE_BYTES, PageId, PageType, get_u64, put_u64};
use crate::pool::Exclusive;
use crate::space::{Place, UNDO_DIRECTORY};
use crate::undo;
use crate::{Error, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use sync::{Mutex, Rank};

pub const OFF_COUNT: usize = HEADER_BYTES;
pub const ENTRIES_AT: usize = HEADER_BYTES + 8;
pub const ENTRIES_MAX: u64 = ((PAGE_BYTES - ENTRIES_AT) / 8) as u64;

/// An undo segment in memory.
#[repr(align(64))]
pub struct Segment {
    /// Its segment page.
    pub page: PageId,
    /// The roll pointer of its first record when the server started, or the segment was made.
    pub first: u64,
    /// The newest undo page. W: the session that owns the segment. R: purge.
    pub newest: AtomicU64,
    /// Counts records that purge has to act on. W: the session that owns the segment. R: purge.
    pub work: AtomicU64,
    /// The page at which purge is. W: the thread that purges the segment. R: who asks for the length of the history.
    pub place: AtomicU64,
}

/// All segments, and those that no session owns.
pub struct Segments {
    state: Mutex<State>,
}

struct State {
    all: Vec<Arc<Segment>>,
    free: Vec<Arc<Segment>>,
    /// The last page of the directory.
    directory: PageId,
}

/// Formats the undo directory of a new data file.
pub fn format_directory(bytes: &mut [u8], id: PageId) {
    page::init(bytes, id, PageType::UndoSegment, 0);
}

impl Segments {
    /// Reads the directory; all segments are free.
    pub fn open(store: Store<'_>) -> Result<Segments> {
        let mut all = Vec::new();
        let mut directory = UNDO_DIRECTORY;
        loop {
            let view = store.pool.read(directory)?;
            let bytes = view.bytes();
            let count = get_u64(bytes, OFF_COUNT).min(ENTRIES_MAX);
            for i in 0..count {
                let segment = get_u64(bytes, ENTRIES_AT + i as usize * 8);
                let head = store.pool.read(segment)?;
                if head.kind() != Some(PageType::UndoSegment) {
                    return Err(store
                        .pool
                        .corrupt(segment, "it is not the undo segment that the directory says it is"));
                }
                let (first, newest) = (get_u64(head.bytes(), undo::OFF_FIRST), get_u64(head.bytes(), undo::OFF_NEWEST));
                all.push(Arc::new(Segment {
                    page: segment,
                    first: undo::roll_ptr(first, undo::RECORDS_AT),
                    newest: AtomicU64::new(newest),
                    work: AtomicU64::new(1),
                    place: AtomicU64::new(first),
                }));
            }
            match get_u64(bytes, OFF_WORD_A) {
                0 => break,
                next => directory = next,
            }
        }
        let free = all.clone();
        Ok(Segments { state: Mutex::new(Rank::FreeSpace, State { all, free, directory }) })
    }

    /// All segments now but the first `known` ones, which stay the same.
    pub fn from(&self, known: usize) -> Vec<Arc<Segment>> {
        self.state.lock().all[known..].to_vec()
    }

    /// A segment for a session to own until it gives it back.
    pub fn take(&self, store: Store<'_>) -> Result<Arc<Segment>> {
        if let Some(segment) = self.state.lock().free.pop() {
            return Ok(segment);
        }
        let segment = Arc::new(create(store)?);
        let directory = self.state.lock().directory;
        let last = register(store, directory, segment.page)?;
        let mut state = self.state.lock();
        if state.directory == directory {
            state.directory = last;
        }
        state.all.push(segment.clone());
        Ok(segment)
    }

    /// Takes this very segment, which is free.
    pub fn claim(&self, segment: &Arc<Segment>) {
        let mut state = self.state.lock();
        let at = state.free.iter().position(|free| Arc::ptr_eq(free, segment)).expect("it is free");
        state.free.swap_remove(at);
    }

    pub fn give_back(&self, segment: Arc<Segment>) {
        self.state.lock().free.push(segment);
    }
}

/// A new segment with one empty undo page.
fn create(store: Store<'_>) -> Result<Segment> {
    let mut mtr = Mtr::new();
    let mut first = store.space.allocate(store.pool, store.pool.reserve_frame()?, &mut mtr, Place::SYSTEM)?;
    let newest = first.page.id;
    undo::format(first.page.bytes_mut(), newest, 0, (0, 0), 0, store.pool.seals_undo());
    mtr.image(&first.page);
    mtr.commit(store.log, &mut [&mut first.map, &mut first.page]);
    drop(first);

    let mut mtr = Mtr::new();
    let mut head = store.space.allocate(store.pool, store.pool.reserve_frame()?, &mut mtr, Place::SYSTEM)?;
    let id = head.page.id;
    page::init(head.page.bytes_mut(), id, PageType::UndoSegment, 0);
    put_u64(head.page.bytes_mut(), undo::OFF_FIRST, newest);
    put_u64(head.page.bytes_mut(), undo::OFF_NEWEST, newest);
    mtr.image(&head.page);
    mtr.commit(store.log, &mut [&mut head.map, &mut head.page]);
    Ok(Segment {
        page: id,
        first: undo::roll_ptr(newest, undo::RECORDS_AT),
        newest: AtomicU64::new(newest),
        work: AtomicU64::new(0),
        place: AtomicU64::new(newest),
    })
}

/// Enters a segment in the directory, which grows by a page when full. Returns the directory's last page.
fn register(store: Store<'_>, mut directory: PageId, segment: PageId) -> Result<PageId> {
    loop {
        let frame = store.pool.reserve_frame()?;
        let mut page = store.pool.exclusive(directory)?;
        let count = get_u64(page.bytes(), OFF_COUNT);
        let mut mtr = Mtr::new();
        if count < ENTRIES_MAX {
            mtr.write(&mut page, ENTRIES_AT + count as usize * 8, &segment.to_le_bytes());
            mtr.write(&mut page, OFF_COUNT, &(count + 1).to_le_bytes());
            mtr.commit(store.log, &mut [&mut page]);
            return Ok(directory);
        }
        let next = get_u64(page.bytes(), OFF_WORD_A);
        if next != 0 {
            directory = next;
            continue;
        }
        let mut more = store.space.allocate(store.pool, frame, &mut mtr, Place::SYSTEM)?;
        directory = more.page.id;
        format_directory(more.page.bytes_mut(), directory);
        mtr.image(&more.page);
        mtr.write(&mut page, OFF_WORD_A, &directory.to_le_bytes());
        mtr.commit(store.log, &mut [&mut more.map, &mut more.page, &mut page]);
    }
}

impl Segment {
    /// A record was appended, or marked as undone, that purge has to act on. Only the segment's owner says so.
    pub fn note_work(&self) {
        // Relaxed: only the owner stores it. Release: pairs with the Acquire in purge, which then finds the record.
        self.work.store(self.work.load(Ordering::Relaxed) + 1, Ordering::Release);
    }

    /// Adds an empty undo page at the end. Holds no other latch.
    pub fn extend(&self, store: Store<'_>) -> Result<()> {
        let frame = store.pool.reserve_frame()?;
        let mut head = store.pool.exclusive(self.page)?;
        // Relaxed: only the session that has the segment stores it.
        let mut old = store.pool.exclusive(self.newest.load(Ordering::Relaxed))?;
        let open = undo::open_transaction(old.bytes()).unwrap_or((0, 0));
        let mut mtr = Mtr::new();
        let mut fresh = store.space.allocate(store.pool, frame, &mut mtr, Place::SYSTEM)?;
        let id = fresh.page.id;
        let (ended, sealed) = (undo::ended(old.bytes()), store.pool.seals_undo());
        undo::format(fresh.page.bytes_mut(), id, self.page, open, ended, sealed);
        put_u64(fresh.page.bytes_mut(), OFF_WORD_A, old.id);
        mtr.image(&fresh.page);
        mtr.write(&mut old, undo::OFF_NEXT, &id.to_le_bytes());
        mtr.write(&mut head, undo::OFF_NEWEST, &id.to_le_bytes());
        mtr.commit(store.log, &mut [&mut fresh.map, &mut fresh.page, &mut old, &mut head]);
        // Release: pairs with the Acquire in purge, which then follows the old page's link.
        self.newest.store(id, Ordering::Release);
        Ok(())
    }

    /// Frees the first page, whose records purge has all dealt with, and returns the next.
    pub fn free_first(&self, store: Store<'_>, first: PageId) -> Result<PageId> {
        let mut head = store.pool.exclusive(self.page)?;
        let mut old: Exclusive<'_> = store.pool.exclusive(first)?;
        let next = undo::next(old.bytes());
        if next == 0 || get_u64(head.bytes(), undo::OFF_FIRST) != first {
            return Err(Error::Corrupt(format!("undo segment {}: page {first} is not its first", self.page)));
        }
        let mut mtr = Mtr::new();
        mtr.write(&mut head, undo::OFF_FIRST, &next.to_le_bytes());
        let mut map = store.space.free(store.pool, &mut mtr, &mut old)?;
        mtr.commit(store.log, &mut [&mut map, &mut old, &mut head]);
        // Release: pairs with the Acquire in `history_of`.
        self.place.store(next, Ordering::Release);
        Ok(next)
    }
}

/// A copy of the undo record at `roll_ptr`; checked to be a record.
pub fn read_record(store: Store<'_>, roll_ptr: u64, out: &mut Vec<u8>) -> Result<()> {
    let (id, at) = undo::split_roll_ptr(roll_ptr);
    loop {
        let view = store.pool.read(id)?;
        let bytes = view.bytes();
        out.clear();
        let len = undo::record_len(bytes, at);
        if let Some(len) = len {
            out.extend_from_slice(&bytes[at..at + len]);
        }
        let is_undo = view.kind() == Some(PageType::Undo);
        if !view.validate() {
            continue;
        }
        if !is_undo || len.is_none() || undo::Record::decode(out).is_none() {
            return Err(store.pool.corrupt(id, &format!("there is no undo record at offset {at}")));
        }
        return Ok(());
    }
}
