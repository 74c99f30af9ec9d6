//! Pages: 16 KiB units of disk and memory. Every page begins with the same 64 bytes.
//!
//! ```text
//!  0        4    5     6       8         16         24        28      30          32       34
//!  +--------+----+-----+-------+---------+----------+---------+-------+-----------+--------+----------+
//!  | crc32  |type|level| stamp | page id | page LSN | tree id | slots | heap low  | dead   | prefix   |
//!  +--------+----+-----+-------+---------+----------+---------+-------+-----------+--------+----------+
//!  34 prefix len u16 | 36 lower fence off u16, len u16 | 40 upper fence off u16, len u16 | 44 slack u16 | 46 unused u16
//!  48 word A u64 (inner node: leftmost child; undo page: see `undo`) | 56 word B u64 (root: counter)
//! ```
//!
//! All integers are little-endian. `crc32` covers bytes 4.. of the page and is set when the page is written to disk.
//! `page LSN` is the end of the log group that last changed the page: redo skips what is not newer.
//!
//! A page whose tree id has [`ENCRYPTED`] stands in files with its bytes from [`SEALED_AT`] on encrypted, under page id and LSN
//! ([`cipher::Keys::seal_page`]): in the data file, the doublewrite file and wherever else it goes from the pool. `crc32` is of the bytes
//! as they stand in the file, so that who only looks for damage needs no key; `stamp` tells the key ([`cipher::Keys::stamp`]), so that
//! another one is not taken for it. In memory, and of plain pages, it is 0. The pages of an encrypted table's
//! trees have the flag from their making; an undo page gets it with the first record of such a tree, and loses it with its next life.

pub mod node;
mod verify;

/// Bytes of a page, on disk and in memory.
pub const PAGE_BYTES: usize = 16 * 1024;
/// Bytes of the common header.
pub const HEADER_BYTES: usize = 64;

/// A page's number: its offset in the data file and in the reserved address range, in pages.
pub type PageId = u64;

pub const OFF_TYPE: usize = 4;
pub const OFF_LEVEL: usize = 5;
/// Of an encrypted page in a file: which key.
pub const OFF_STAMP: usize = 6;
pub const OFF_ID: usize = 8;
pub const OFF_LSN: usize = 16;
pub const OFF_TREE: usize = 24;
pub const OFF_WORD_A: usize = 48;
pub const OFF_WORD_B: usize = 56;

/// In a tree's id, and in the tree word of each of its pages and of undo pages: what they hold is encrypted.
pub const ENCRYPTED: u32 = 1 << 30;
/// Where the encrypted bytes of a page begin: behind what recovery and repair go by, and the counts of a node.
pub const SEALED_AT: usize = 32;
const _: () = assert!((PAGE_BYTES - SEALED_AT).is_multiple_of(16));

/// What a page is for (byte 4). Zero is a page that was never written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum PageType {
    /// Page 0: identity of the data file.
    Super = 1,
    /// Of a group of pages: who owns them, which are in use.
    Map = 2,
    /// B+tree node, level 0: entries.
    Leaf = 3,
    /// B+tree node above: separators and children.
    Inner = 4,
    /// First page of an undo segment.
    UndoSegment = 5,
    /// Undo records.
    Undo = 6,
    /// A piece of a value too long for a leaf.
    Overflow = 7,
    /// Freed; kept for checks until it is allocated again.
    Free = 8,
}

impl PageType {
    pub fn from_byte(byte: u8) -> Option<PageType> {
        Some(match byte {
            1 => PageType::Super,
            2 => PageType::Map,
            3 => PageType::Leaf,
            4 => PageType::Inner,
            5 => PageType::UndoSegment,
            6 => PageType::Undo,
            7 => PageType::Overflow,
            8 => PageType::Free,
            _ => return None,
        })
    }
}

#[inline(always)]
pub fn get_u16(page: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([page[at], page[at + 1]])
}

#[inline(always)]
pub fn get_u32(page: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(page[at..at + 4].try_into().unwrap())
}

#[inline(always)]
pub fn get_u64(page: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(page[at..at + 8].try_into().unwrap())
}

#[inline(always)]
pub fn put_u16(page: &mut [u8], at: usize, v: u16) {
    page[at..at + 2].copy_from_slice(&v.to_le_bytes());
}

#[inline(always)]
pub fn put_u32(page: &mut [u8], at: usize, v: u32) {
    page[at..at + 4].copy_from_slice(&v.to_le_bytes());
}

#[inline(always)]
pub fn put_u64(page: &mut [u8], at: usize, v: u64) {
    page[at..at + 8].copy_from_slice(&v.to_le_bytes());
}

pub fn page_lsn(page: &[u8]) -> u64 {
    get_u64(page, OFF_LSN)
}

pub fn page_type(page: &[u8]) -> Option<PageType> {
    PageType::from_byte(page[OFF_TYPE])
}

/// Does the page stand in files encrypted?
#[inline(always)]
pub fn is_encrypted(page: &[u8]) -> bool {
    get_u32(page, OFF_TREE) & ENCRYPTED != 0
}

/// Starts a page of a type: zeroes it and writes the common header.
pub fn init(page: &mut [u8], id: PageId, kind: PageType, tree: u32) {
    page.fill(0);
    page[OFF_TYPE] = kind as u8;
    put_u64(page, OFF_ID, id);
    put_u32(page, OFF_TREE, tree);
}

/// Writes the checksum; the page is about to go to disk.
pub fn seal(page: &mut [u8]) {
    let crc = crc32fast::hash(&page[4..]);
    put_u32(page, 0, crc);
}

/// Why a page that was read from disk cannot be trusted, or `Ok`.
pub fn verify(page: &[u8], id: PageId) -> Result<(), String> {
    let stored = get_u32(page, 0);
    let computed = crc32fast::hash(&page[4..]);
    if stored != computed {
        return Err(format!("checksum is {computed:08x}, the page says {stored:08x}"));
    }
    if get_u64(page, OFF_ID) != id {
        return Err(format!("the page says it is page {}", get_u64(page, OFF_ID)));
    }
    Ok(())
}
