//! Undo pages and records.
//!
//! A session that writes owns an *undo segment*: a chain of undo pages to which its transactions append one after another, so
//! appending contends with nobody. Purge follows from the other end. Records are never overwritten before purge frees their
//! page, also not when the transaction rolls back: a reader that holds a roll pointer always finds what it points to.
//!
//! ```text
//!  segment page (PageType::UndoSegment)                  undo page (PageType::Undo), after the common header
//!  64 first undo page u64                                64 segment page u64
//!  72 newest undo page u64                               72 next undo page u64, 0 for the newest
//!                                                        80 open transaction u64, 0 if none
//!                                                        88 roll pointer of its first record u64
//!                                                        96 free offset u16
//!                                                       104 transactions of the segment that have ended u64, up to now
//!                                                           in the newest page, up to the next page's birth in others
//!                                                       112 records, 8-byte aligned
//!
//!  record
//!  0     2      3      4         8       16     24       32            40      42       44       46      48
//!  +-----+------+------+---------+-------+------+--------+-------------+-------+--------+--------+-------+-----+------+-----+
//!  | len | kind | sec  | tree id | root  | trx  | header | roll ptr    | k len | prefix | suffix | m len | key | data | len |
//!  +-----+------+------+---------+-------+------+--------+-------------+-------+--------+--------+-------+-----+------+-----+
//! ```
//!
//! `sec` has flags: 1 for a secondary tree, 2 once it is undone, 4 when the change dropped long values (see
//! [`crate::overflow`]): then their count, u16, and references stand behind `data`. `header` and `roll ptr` are the two words
//! that stood before the row (see [`crate::version`]); `data` is what stood between the `prefix` and `suffix` bytes that the row
//! before and after the change have in common. The length stands at both ends, so that rollback walks backwards and purge
//! forwards. A *roll pointer* is page id << 16 | offset.

use crate::page::{
    ENCRYPTED, HEADER_BYTES, OFF_TREE, PAGE_BYTES, PageId, PageType, get_u16, get_u32, get_u64, init, put_u16, put_u32,
    put_u64,
};
use crate::version::{Header, LongReference, REFERENCE_BYTES};
use crate::{Tree, TreeKind};

pub const OFF_FIRST: usize = HEADER_BYTES;
pub const OFF_NEWEST: usize = HEADER_BYTES + 8;

const OFF_SEGMENT: usize = HEADER_BYTES;
pub const OFF_NEXT: usize = HEADER_BYTES + 8;
const OFF_OPEN: usize = HEADER_BYTES + 16;
const OFF_OPEN_FIRST: usize = HEADER_BYTES + 24;
const OFF_FREE: usize = HEADER_BYTES + 32;
const OFF_ENDED: usize = HEADER_BYTES + 40;
/// Offset of the first record of a page.
pub const RECORDS_AT: usize = HEADER_BYTES + 48;

const RECORD_HEAD_BYTES: usize = 48;
/// A record without key and data: one of a tree.
pub const RECORD_BYTES_MIN: usize = (RECORD_HEAD_BYTES + 2).next_multiple_of(8);
/// One of a long value.
pub const LONG_VALUE_BYTES: usize = (RECORD_HEAD_BYTES + 2 + REFERENCE_BYTES + 2).next_multiple_of(8);
/// Bits of a record's fourth byte.
const SECONDARY: u8 = 1;
const UNDONE: u8 = 2;
const DROPPED: u8 = 4;

/// What a record undoes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// A row (clustered) or entry (secondary) that was not there: remove it.
    Insert = 1,
    /// A value that was different: put it back. Also for delete marks, and for inserts over a delete-marked entry.
    Update = 2,
    /// A tree that was made: free it.
    CreateTree = 3,
    /// A tree to be freed once the transaction is committed and no snapshot can see it; nothing to undo.
    DropTree = 4,
    /// The transaction is prepared, under the label in `key`: its last record. Undone: it is being rolled back.
    Prepare = 5,
    /// A long value that was written, its reference in `dropped`, for a row whose record follows: free it, if that row's undo has not.
    LongValue = 6,
}

/// A record as its parts.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    pub kind: Kind,
    /// Of a secondary tree: values are one word and a payload.
    pub secondary: bool,
    pub tree: u32,
    pub root: PageId,
    pub trx: u64,
    pub header: u64,
    pub roll_ptr: u64,
    pub prefix: usize,
    pub suffix: usize,
    pub key: &'a [u8],
    pub data: &'a [u8],
    /// Of an update: long values of the row before that the row after does not have. Of [`Kind::LongValue`]: that one.
    pub dropped: &'a [LongReference],
}

pub fn roll_ptr(page: PageId, offset: usize) -> u64 {
    debug_assert!(page != 0 && page < 1 << 48 && offset <= PAGE_BYTES, "offset {offset} of page {page}");
    page << 16 | offset as u64
}

pub fn split_roll_ptr(roll_ptr: u64) -> (PageId, usize) {
    (roll_ptr >> 16, (roll_ptr & 0xFFFF) as usize)
}

impl Record<'_> {
    /// One of a tree, without a key, a row or what it was before.
    pub fn of_tree(kind: Kind, tree: Tree, trx: u64) -> Record<'static> {
        Record {
            kind,
            secondary: tree.kind == TreeKind::Secondary,
            tree: tree.id,
            root: tree.root,
            trx,
            header: 0,
            roll_ptr: 0,
            prefix: 0,
            suffix: 0,
            key: &[],
            data: &[],
            dropped: &[],
        }
    }

    fn encoded_bytes(&self) -> usize {
        let dropped = if self.dropped.is_empty() { 0 } else { 2 + self.dropped.len() * REFERENCE_BYTES };
        (RECORD_HEAD_BYTES + self.key.len() + self.data.len() + dropped + 2).next_multiple_of(8)
    }

    pub fn encode(&self, out: &mut Vec<u8>) {
        let len = self.encoded_bytes();
        out.clear();
        out.reserve(len);
        out.extend_from_slice(&(len as u16).to_le_bytes());
        let dropped = if self.dropped.is_empty() { 0 } else { DROPPED };
        out.extend_from_slice(&[self.kind as u8, self.secondary as u8 | dropped]);
        out.extend_from_slice(&self.tree.to_le_bytes());
        out.extend_from_slice(&self.root.to_le_bytes());
        out.extend_from_slice(&self.trx.to_le_bytes());
        out.extend_from_slice(&self.header.to_le_bytes());
        out.extend_from_slice(&self.roll_ptr.to_le_bytes());
        for n in [self.key.len(), self.prefix, self.suffix, self.data.len()] {
            out.extend_from_slice(&(n as u16).to_le_bytes());
        }
        out.extend_from_slice(self.key);
        out.extend_from_slice(self.data);
        if !self.dropped.is_empty() {
            out.extend_from_slice(&(self.dropped.len() as u16).to_le_bytes());
            out.extend_from_slice(self.dropped.as_flattened());
        }
        out.resize(len - 2, 0);
        out.extend_from_slice(&(len as u16).to_le_bytes());
    }
}

impl<'a> Record<'a> {
    /// `None` if the bytes are no record (a page that changed underneath, or is damaged).
    pub fn decode(bytes: &'a [u8]) -> Option<Record<'a>> {
        if bytes.len() < RECORD_HEAD_BYTES {
            return None;
        }
        let kind = match bytes[2] {
            1 => Kind::Insert,
            2 => Kind::Update,
            3 => Kind::CreateTree,
            4 => Kind::DropTree,
            5 => Kind::Prepare,
            6 => Kind::LongValue,
            _ => return None,
        };
        let (key_len, data_len) = (get_u16(bytes, 40) as usize, get_u16(bytes, 46) as usize);
        let key = bytes.get(RECORD_HEAD_BYTES..RECORD_HEAD_BYTES + key_len)?;
        let (data, rest) = bytes.get(RECORD_HEAD_BYTES + key_len..)?.split_at_checked(data_len)?;
        let dropped = if bytes[3] & DROPPED == 0 {
            &[]
        } else {
            let (count, rest) = rest.split_first_chunk()?;
            rest.get(..u16::from_le_bytes(*count) as usize * REFERENCE_BYTES)?.as_chunks().0
        };
        Some(Record {
            kind,
            secondary: bytes[3] & SECONDARY != 0,
            tree: get_u32(bytes, 4),
            root: get_u64(bytes, 8),
            trx: get_u64(bytes, 16),
            header: get_u64(bytes, 24),
            roll_ptr: get_u64(bytes, 32),
            prefix: get_u16(bytes, 42) as usize,
            suffix: get_u16(bytes, 44) as usize,
            key,
            data,
            dropped,
        })
    }
}

/// Has the change been undone? Then neither rollback nor purge has anything to do with the record; readers still may.
pub fn is_undone(record: &[u8]) -> bool {
    record[3] & UNDONE != 0
}

/// Has purge anything to do about the record once nobody needs it (see [`crate::purge`])? Sometimes yes where a closer look
/// finds nothing, never the other way round.
pub fn leaves_work(record: &[u8]) -> bool {
    let (kind, flags, old, data_bytes) = (record[2], record[3], Header(get_u64(record, 24)), get_u16(record, 46));
    if flags & UNDONE != 0 {
        return kind == Kind::Update as u8 && old.is_deleted();
    }
    match kind {
        kind if kind == Kind::DropTree as u8 => true,
        // No difference: maybe a delete mark.
        kind if kind == Kind::Update as u8 => (data_bytes == 0 && !old.is_deleted()) || flags & DROPPED != 0,
        _ => false,
    }
}

/// Where the mark that the record at `at` is undone stands, and what to write there.
pub fn undone_mark(page: &[u8], at: usize) -> (usize, u8) {
    (at + 3, page[at + 3] | UNDONE)
}

/// The transaction of an encoded record.
pub fn record_transaction(record: &[u8]) -> u64 {
    get_u64(record, 16)
}

/// Formats a page as the newest of a segment; `open` and `open_first` continue a transaction from the page before, `ended` its
/// count. `sealed`: it is encrypted whatever records come.
pub fn format(page: &mut [u8], id: PageId, segment: PageId, (open, open_first): (u64, u64), ended: u64, sealed: bool) {
    init(page, id, PageType::Undo, if sealed { ENCRYPTED } else { 0 });
    put_u64(page, OFF_SEGMENT, segment);
    put_u64(page, OFF_OPEN, open);
    put_u64(page, OFF_OPEN_FIRST, open_first);
    put_u16(page, OFF_FREE, RECORDS_AT as u16);
    put_u64(page, OFF_ENDED, ended);
}

/// How many transactions of the segment have ended, up to now or to the next page's birth.
pub fn ended(page: &[u8]) -> u64 {
    get_u64(page, OFF_ENDED)
}

/// The transactions that have records here and ended before the next page began, in their order; as far as the records make sense.
pub fn transactions(page: &[u8]) -> impl Iterator<Item = u64> + '_ {
    let (mut at, mut last, open) = (RECORDS_AT, 0, get_u64(page, OFF_OPEN));
    std::iter::from_fn(move || {
        while at < free_at(page) {
            let len = record_len(page, at)?;
            let trx = record_transaction(&page[at..]);
            at += len;
            if trx != last && trx != open {
                last = trx;
                return Some(trx);
            }
        }
        None
    })
}

/// The segment that the page says it belongs to.
pub fn segment(page: &[u8]) -> PageId {
    get_u64(page, OFF_SEGMENT)
}

pub fn next(page: &[u8]) -> PageId {
    get_u64(page, OFF_NEXT)
}

/// Where the next record goes; where the records end.
pub fn free_at(page: &[u8]) -> usize {
    (get_u16(page, OFF_FREE) as usize).min(PAGE_BYTES)
}

/// The transaction that has records here and is not over, and the roll pointer of its first record.
pub fn open_transaction(page: &[u8]) -> Option<(u64, u64)> {
    let open = get_u64(page, OFF_OPEN);
    (open != 0).then(|| (open, get_u64(page, OFF_OPEN_FIRST)))
}

/// The label of the transaction that is open here, if it is prepared. `page`: the newest of its segment.
pub fn prepared_label(page: &[u8]) -> Option<&[u8]> {
    let (open, _) = open_transaction(page)?;
    let at = record_before(page, free_at(page))?;
    let bytes = &page[at..at + record_len(page, at)?];
    let record = Record::decode(bytes).filter(|r| r.kind == Kind::Prepare && r.trx == open && !is_undone(bytes))?;
    Some(record.key)
}

pub fn fits(page: &[u8], record_bytes: usize) -> bool {
    free_at(page) + record_bytes <= PAGE_BYTES
}

/// Appends an encoded record; opens its transaction if it is the first. Returns its offset. The page is encrypted from the first
/// record of an encrypted tree on. Used live and by redo.
pub fn append(page: &mut [u8], id: PageId, record: &[u8]) -> usize {
    let at = free_at(page);
    if get_u32(record, 4) & ENCRYPTED != 0 {
        let word = get_u32(page, OFF_TREE) | ENCRYPTED;
        put_u32(page, OFF_TREE, word);
    }
    let trx = record_transaction(record);
    page[at..at + record.len()].copy_from_slice(record);
    put_u16(page, OFF_FREE, (at + record.len()) as u16);
    if get_u64(page, OFF_OPEN) != trx {
        assert_eq!(get_u64(page, OFF_OPEN), 0, "one transaction at a time writes to an undo segment");
        put_u64(page, OFF_OPEN, trx);
        put_u64(page, OFF_OPEN_FIRST, roll_ptr(id, at));
    }
    at
}

/// The open transaction is over. Used live and by redo.
pub fn end_transaction(page: &mut [u8], trx: u64) {
    assert_eq!(get_u64(page, OFF_OPEN), trx, "the transaction that ends is the one that is open");
    put_u64(page, OFF_OPEN, 0);
    put_u64(page, OFF_OPEN_FIRST, 0);
    put_u64(page, OFF_ENDED, ended(page) + 1);
}

/// Length of the record at `at`, checked against the page; `None` if there is none.
pub fn record_len(page: &[u8], at: usize) -> Option<usize> {
    let len = get_u16(page.get(at..at + 2)?, 0) as usize;
    (len >= RECORD_HEAD_BYTES && len.is_multiple_of(8) && at + len <= PAGE_BYTES).then_some(len)
}

/// The offset of the record that ends at `end`.
pub fn record_before(page: &[u8], end: usize) -> Option<usize> {
    if !(RECORDS_AT + RECORD_HEAD_BYTES..=PAGE_BYTES).contains(&end) {
        return None;
    }
    let at = end.checked_sub(get_u16(page, end - 2) as usize)?;
    (at >= RECORDS_AT).then_some(at)
}
