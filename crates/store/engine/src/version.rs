//! The words that stand before every row and entry.
//!
//! ```text
//!  clustered value                                  secondary value
//!  0        8             16                        0        8
//!  +--------+-------------+-----+                   +--------+---------+
//!  | header | roll ptr    | row |                   | header | payload |
//!  +--------+-------------+-----+                   +--------+---------+
//!  header: bits 0..=47 the transaction that wrote this version, bit 63 delete mark, bit 62 row is off-page (see `overflow`)
//! ```
//!
//! The roll pointer names the undo record of the change that made this version; 0 if the row was loaded without undo.

use crate::page::get_u64;

pub const DELETED: u64 = 1 << 63;
pub const OFF_PAGE: u64 = 1 << 62;
const TRX_MASK: u64 = (1 << 48) - 1;

/// Bytes before a row.
pub const ROW_AT: usize = 16;
/// Bytes before a secondary payload.
pub const PAYLOAD_AT: usize = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header(pub u64);

impl Header {
    pub fn new(trx: u64) -> Header {
        debug_assert!(trx <= TRX_MASK);
        Header(trx)
    }

    /// The header of a stored value.
    #[inline(always)]
    pub fn of(value: &[u8]) -> Option<Header> {
        (value.len() >= 8).then(|| Header(get_u64(value, 0)))
    }

    #[inline(always)]
    pub fn trx(self) -> u64 {
        self.0 & TRX_MASK
    }

    #[inline(always)]
    pub fn is_deleted(self) -> bool {
        self.0 & DELETED != 0
    }

    #[inline(always)]
    pub fn is_off_page(self) -> bool {
        self.0 & OFF_PAGE != 0
    }

    pub fn deleted(self) -> Header {
        Header(self.0 | DELETED)
    }

    pub fn off_page(self) -> Header {
        Header(self.0 | OFF_PAGE)
    }
}

/// Lengths of the common prefix and suffix of two rows, not overlapping in either.
pub fn common_ends(a: &[u8], b: &[u8]) -> (usize, usize) {
    let shorter = a.len().min(b.len());
    let prefix = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let suffix = a.iter().rev().zip(b.iter().rev()).take(shorter - prefix).take_while(|(x, y)| x == y).count();
    (prefix, suffix)
}

/// Puts the earlier row together from the later one and an undo record's difference. `None` if they do not fit each other.
pub fn patch_back(row: &[u8], prefix: usize, suffix: usize, data: &[u8], out: &mut Vec<u8>) -> Option<()> {
    if prefix + suffix > row.len() {
        return None;
    }
    out.clear();
    out.extend_from_slice(&row[..prefix]);
    out.extend_from_slice(data);
    out.extend_from_slice(&row[row.len() - suffix..]);
    Some(())
}
