//! Long values: what does not fit into a leaf with its row lies in a chain of overflow pages, and the row keeps a reference.
//!
//! ```text
//!  row with long values (header bit 62 set)           reference                                   overflow page, after the common header
//!  +------+-------------+-----+-------------+-------+ 0           8          16              20   64 next page u64, 0 at the end
//!  | body | reference 0 | ... | reference n | n + 1 | +-----------+----------+---------------+    72 chain id u64
//!  +------+-------------+-----+-------------+-------+ | first page| chain id | length, bytes |    80 bytes here u32
//!                                            u16      +-----------+----------+---------------+    88 bytes
//! ```
//!
//! A chain never changes. The versions of one row share it as long as changes keep the value; the change that does not, and a
//! deletion, name it in their undo records as dropped. It is written before the version that first refers to it, and freed by whoever
//! makes sure that no version refers to it any more: purge, when nobody needs the last version that has it, or the rollback of the change
//! that brought it. Its first page comes into being together with an undo record of its own ([`crate::undo::Kind::LongValue`]) and each
//! page is linked as it is made, so that the rollback after a crash reaches what no version refers to yet, or any more.
//!
//! So who has a row may read its long values as long as it keeps the snapshot that sees that version, or the row's lock. Its id, unique
//! for ever, tells a chain that is freed again after a crash from the next user of its pages; it is freed last page first, so what is
//! left can be reached.

use crate::btree::Store;
use crate::mtr::Mtr;
use crate::page::{HEADER_BYTES, OFF_TYPE, PAGE_BYTES, PageId, PageType, get_u32, get_u64, init, put_u32, put_u64};
use crate::pool::Frame;
use crate::space::{Allocation, Place};
use crate::version::{Header, LongReference, REFERENCE_BYTES};
use crate::{Error, Result, Tree};

/// Where a page says which one follows.
pub const OFF_NEXT: usize = HEADER_BYTES;
const OFF_CHAIN: usize = HEADER_BYTES + 8;
const OFF_LEN: usize = HEADER_BYTES + 16;
const DATA_AT: usize = HEADER_BYTES + 24;
/// Bytes of a value that a page has room for.
pub const DATA_BYTES: usize = PAGE_BYTES - DATA_AT;

/// Bytes of the count behind the references.
const COUNT_BYTES: usize = 2;

/// A row to be written: its body and its long values, which stay outside. A row without any is its body.
#[derive(Clone, Copy, Debug)]
pub struct Row<'r> {
    pub body: &'r [u8],
    pub long: &'r [Long<'r>],
}

/// A long value of a row to be written.
#[derive(Clone, Copy, Debug)]
pub enum Long<'r> {
    New(&'r [u8]),
    /// As the row that is replaced has it.
    Kept(&'r LongReference),
}

impl<'r> From<&'r [u8]> for Row<'r> {
    fn from(body: &'r [u8]) -> Row<'r> {
        Row { body, long: &[] }
    }
}

impl<'r> From<&'r Vec<u8>> for Row<'r> {
    fn from(body: &'r Vec<u8>) -> Row<'r> {
        Row { body, long: &[] }
    }
}

impl<'r, const N: usize> From<&'r [u8; N]> for Row<'r> {
    fn from(body: &'r [u8; N]) -> Row<'r> {
        Row { body, long: &[] }
    }
}

impl Row<'_> {
    /// Bytes of the row as it will be stored.
    pub fn stored_bytes(&self) -> usize {
        let tail = if self.long.is_empty() { 0 } else { self.long.len() * REFERENCE_BYTES + COUNT_BYTES };
        self.body.len() + tail
    }
}

/// The body and the references of a stored row that has long values. `Err`: it is no such row.
pub fn parts(row: &[u8]) -> Result<(&[u8], &[LongReference])> {
    let split = || {
        let (rest, count) = row.split_last_chunk::<COUNT_BYTES>()?;
        let at = rest.len().checked_sub(u16::from_le_bytes(*count) as usize * REFERENCE_BYTES)?;
        let (body, references) = rest.split_at(at);
        Some((body, references.as_chunks().0))
    };
    split().ok_or_else(|| Error::Corrupt(format!("a row with long values has {} bytes", row.len())))
}

/// The references of a stored row, if it has any.
pub fn references(header: Header, row: &[u8]) -> Result<&[LongReference]> {
    if header.has_long() { Ok(parts(row)?.1) } else { Ok(&[]) }
}

pub struct Reference {
    pub first: PageId,
    pub chain: u64,
    pub len: usize,
}

pub fn decode(reference: &LongReference) -> Reference {
    Reference { first: get_u64(reference, 0), chain: get_u64(reference, 8), len: get_u32(reference, 16) as usize }
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

/// What the page says of itself, whatever chain it is of: the chain's id, and the piece.
pub fn any_piece(page: &[u8]) -> (u64, Piece) {
    (get_u64(page, OFF_CHAIN), Piece { next: get_u64(page, OFF_NEXT), bytes: get_u32(page, OFF_LEN) as usize })
}

/// Is this a page of that chain?
fn belongs(page: &[u8], chain: u64) -> bool {
    page[OFF_TYPE] == PageType::Overflow as u8 && get_u64(page, OFF_CHAIN) == chain
}

/// What a row keeps of a value of `len` bytes.
pub fn encode(first: PageId, chain: u64, len: usize) -> LongReference {
    let mut reference = [0; REFERENCE_BYTES];
    put_u64(&mut reference, 0, first);
    put_u64(&mut reference, 8, chain);
    put_u32(&mut reference, 16, len as u32);
    reference
}

/// Allocates a page of a chain, with `piece`, in `mtr`: the first one, or one that its caller links to. Returns the chain's id too.
pub fn add_piece<'p>(
    store: Store<'p>,
    tree: Tree,
    frame: Frame<'p>,
    mtr: &mut Mtr,
    piece: &[u8],
    chain: Option<u64>,
) -> Result<(Allocation<'p>, u64)> {
    let mut fresh = store.space.allocate(store.pool, frame, mtr, Place::of(tree))?;
    let id = fresh.page.id;
    // The pages of a new chain come after the log's tail now, and no other thread's first page has our page number.
    let chain = chain.unwrap_or_else(|| store.log.tail_lsn() << 20 ^ id);
    let bytes = fresh.page.bytes_mut();
    init(bytes, id, PageType::Overflow, tree.id);
    put_u64(bytes, OFF_CHAIN, chain);
    put_u32(bytes, OFF_LEN, piece.len() as u32);
    bytes[DATA_AT..DATA_AT + piece.len()].copy_from_slice(piece);
    mtr.image(&fresh.page);
    Ok((fresh, chain))
}

/// Appends the value to `out`.
pub fn load(store: Store<'_>, reference: &LongReference, out: &mut Vec<u8>) -> Result<()> {
    let Reference { first, chain, len } = decode(reference);
    let end = out.len() + len;
    out.reserve(len);
    let mut id = first;
    while out.len() < end {
        let view = store.pool.read(id)?;
        let bytes = view.bytes();
        let piece = get_u32(bytes, OFF_LEN) as usize;
        let next = get_u64(bytes, OFF_NEXT);
        let sound = belongs(bytes, chain) && piece > 0 && piece <= DATA_BYTES.min(end - out.len());
        let before = out.len();
        if sound {
            out.extend_from_slice(&bytes[DATA_AT..DATA_AT + piece]);
        }
        if !view.validate() {
            out.truncate(before);
            continue;
        }
        if !sound {
            return Err(store.pool.corrupt(id, "it does not continue the long value that leads to it"));
        }
        id = next;
    }
    Ok(())
}

/// Frees a chain of the tree's, or what is left of it. That of a tree that is gone goes with the tree.
pub fn free(store: Store<'_>, tree: Tree, reference: &LongReference) -> Result<()> {
    let Reference { first, chain, .. } = decode(reference);
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
            return Err(store.pool.corrupt(id, "a piece of a long value changed hands while it was freed"));
        }
        let mut mtr = Mtr::new();
        let mut map = store.space.free(store.pool, &mut mtr, &mut page)?;
        mtr.commit(store.log, &mut [&mut map, &mut page]);
    }
    Ok(())
}

/// Frees all of these chains, the others too when one cannot be freed; the first error is returned.
pub fn free_all(store: Store<'_>, tree: Tree, references: &[LongReference]) -> Result<()> {
    references.iter().map(|reference| free(store, tree, reference)).fold(Ok(()), Result::and)
}
