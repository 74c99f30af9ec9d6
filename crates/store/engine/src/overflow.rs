//! Rows too long for a leaf: the leaf keeps a reference, the bytes lie in a chain of overflow pages.
//!
//! ```text
//!  reference (in place of the row, header bit 62 set)      overflow page, after the common header
//!  0           8          16               20              64 next page u64, 0 at the end
//!  +-----------+----------+----------------+               72 chain id u64
//!  | first page| chain id | length in bytes|               80 bytes here u32
//!  +-----------+----------+----------------+               88 bytes
//! ```
//!
//! A chain belongs to one row version and never changes. It is written before the version that refers to it (after a crash in
//! between its pages are lost until the tree goes), and freed when that version is rolled back or purged. Its id, unique for ever, tells a chain that
//! is freed again after a crash from the next user of its pages; it is freed last page first, so what is left can be reached.

use crate::btree::Store;
use crate::mtr::Mtr;
use crate::page::{HEADER_BYTES, OFF_TYPE, PAGE_BYTES, PageId, PageType, get_u32, get_u64, init, put_u32, put_u64};
use crate::space::Place;
use crate::{Error, Result, Tree};

pub const REFERENCE_BYTES: usize = 20;
const OFF_NEXT: usize = HEADER_BYTES;
const OFF_CHAIN: usize = HEADER_BYTES + 8;
const OFF_LEN: usize = HEADER_BYTES + 16;
const DATA_AT: usize = HEADER_BYTES + 24;
const DATA_BYTES: usize = PAGE_BYTES - DATA_AT;

pub struct Reference {
    pub first: PageId,
    pub chain: u64,
    pub len: usize,
}

pub fn decode(reference: &[u8]) -> Result<Reference> {
    if reference.len() != REFERENCE_BYTES {
        return Err(Error::Corrupt(format!("a reference to an off-page row has {} bytes", reference.len())));
    }
    Ok(Reference { first: get_u64(reference, 0), chain: get_u64(reference, 8), len: get_u32(reference, 16) as usize })
}

/// What an overflow page says of itself.
pub struct Piece {
    pub next: PageId,
    pub bytes: usize,
}

/// The page as a piece of that chain, if it is one.
pub fn piece(page: &[u8], chain: u64) -> Option<Piece> {
    let piece = || Piece { next: get_u64(page, OFF_NEXT), bytes: get_u32(page, OFF_LEN) as usize };
    belongs(page, chain).then(piece)
}

/// Is this a page of that chain?
fn belongs(page: &[u8], chain: u64) -> bool {
    page[OFF_TYPE] == PageType::Overflow as u8 && get_u64(page, OFF_CHAIN) == chain
}

/// Writes a row into a new chain and returns the reference to it. Holds no latch before. What was written before an error is freed.
pub fn store(store: Store<'_>, tree: Tree, row: &[u8]) -> Result<[u8; REFERENCE_BYTES]> {
    let (mut first, mut chain) = (0, 0);
    let mut outcome = Ok(());
    for piece in row.chunks(DATA_BYTES).rev() {
        outcome = store_piece(store, tree, piece, &mut first, &mut chain);
        if outcome.is_err() {
            break;
        }
    }
    let mut reference = [0; REFERENCE_BYTES];
    put_u64(&mut reference, 0, first);
    put_u64(&mut reference, 8, chain);
    put_u32(&mut reference, 16, row.len() as u32);
    if let Err(error) = outcome {
        free(store, tree, &reference)?;
        return Err(error);
    }
    Ok(reference)
}

/// Puts a page with `piece` before the chain's `first` page.
fn store_piece(store: Store<'_>, tree: Tree, piece: &[u8], first: &mut PageId, chain: &mut u64) -> Result<()> {
    store.space.ensure_headroom(store.pool, store.log)?;
    store.log.ensure_room(2 * PAGE_BYTES)?;
    let mut mtr = Mtr::new();
    let mut fresh = store.space.allocate(store.pool, store.pool.reserve_frame()?, &mut mtr, Place::of(tree))?;
    let id = fresh.page.id;
    if *chain == 0 {
        // The pages of this chain come after the log's tail now, and no other thread's first page has our page number.
        *chain = store.log.tail_lsn() << 20 ^ id;
    }
    let bytes = fresh.page.bytes_mut();
    init(bytes, id, PageType::Overflow, tree.id);
    put_u64(bytes, OFF_NEXT, *first);
    put_u64(bytes, OFF_CHAIN, *chain);
    put_u32(bytes, OFF_LEN, piece.len() as u32);
    bytes[DATA_AT..DATA_AT + piece.len()].copy_from_slice(piece);
    mtr.image(&fresh.page);
    mtr.commit(store.log, &mut [&mut fresh.map, &mut fresh.page]);
    *first = id;
    Ok(())
}

/// Replaces the reference in `row` by the row that it refers to.
pub fn load(store: Store<'_>, row: &mut Vec<u8>) -> Result<()> {
    let Reference { first, chain, len } = decode(row)?;
    row.clear();
    row.reserve(len);
    let mut id = first;
    while row.len() < len {
        let view = store.pool.read(id)?;
        let bytes = view.bytes();
        let piece = get_u32(bytes, OFF_LEN) as usize;
        let next = get_u64(bytes, OFF_NEXT);
        let sound = belongs(bytes, chain) && piece > 0 && piece <= DATA_BYTES.min(len - row.len());
        let before = row.len();
        if sound {
            row.extend_from_slice(&bytes[DATA_AT..DATA_AT + piece]);
        }
        if !view.validate() {
            row.truncate(before);
            continue;
        }
        if !sound {
            return Err(store.pool.corrupt(id, "it does not continue the off-page row that leads to it"));
        }
        id = next;
    }
    Ok(())
}

/// Frees a chain of the tree's, or what is left of it. That of a tree that is gone goes with the tree.
pub fn free(store: Store<'_>, tree: Tree, reference: &[u8]) -> Result<()> {
    let Reference { first, chain, .. } = decode(reference)?;
    let mut pages = Vec::new();
    let mut id = first;
    // A page that was freed before a crash may be somebody else's now, or not be in the file any more: the map says so.
    while id != 0 && store.space.has(store.pool, tree, id)? {
        let page = store.pool.exclusive(id)?;
        if !belongs(page.bytes(), chain) {
            break;
        }
        pages.push(id);
        id = get_u64(page.bytes(), OFF_NEXT);
    }
    for id in pages.into_iter().rev() {
        store.log.ensure_room_critical(4096)?;
        let mut page = store.pool.exclusive(id)?;
        if !belongs(page.bytes(), chain) {
            return Err(store.pool.corrupt(id, "a piece of an off-page row changed hands while it was freed"));
        }
        let mut mtr = Mtr::new();
        let mut map = store.space.free(store.pool, &mut mtr, &mut page)?;
        mtr.commit(store.log, &mut [&mut map, &mut page]);
    }
    Ok(())
}
