//! The words that stand before every row and entry.
//!
//! ```text
//!  clustered value                                  secondary value
//!  0        8             16                        0        8
//!  +--------+-------------+-----+                   +--------+---------+
//!  | header | roll ptr    | row |                   | header | payload |
//!  +--------+-------------+-----+                   +--------+---------+
//!  header: bits 0..=47 the transaction that wrote this version, bit 63 delete mark, bit 62 row has long values (see `overflow`),
//!          bit 61 the value ends with spare bytes
//! ```
//!
//! The roll pointer names the undo record of the change that made this version; 0 if the row was loaded without undo.
//!
//! A value that its transaction has made shorter keeps its length as long as the transaction may be undone: the rest is spare. So a
//! rollback finds room for what stood there, whatever others have put beside it. Once the transaction has ended, who needs
//! the room takes the spare bytes. Their last byte says how many there are; 255: the two bytes before it do.

use crate::page::{get_u16, get_u64, put_u16};

pub const DELETED: u64 = 1 << 63;
pub const LONG: u64 = 1 << 62;
pub const SPARE: u64 = 1 << 61;
const TRX_MASK: u64 = (1 << 48) - 1;

/// What a row keeps of a long value, see [`crate::overflow`]. Opaque to callers.
pub type LongReference = [u8; REFERENCE_BYTES];
pub const REFERENCE_BYTES: usize = 20;

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
        (value.len() >= 8).then(|| Header::read(value))
    }

    /// The same of a value that has one.
    #[inline(always)]
    pub fn read(value: &[u8]) -> Header {
        Header(get_u64(value, 0) & !SPARE)
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
    pub fn has_long(self) -> bool {
        self.0 & LONG != 0
    }

    pub fn deleted(self) -> Header {
        Header(self.0 | DELETED)
    }

    pub fn with_long(self) -> Header {
        Header(self.0 | LONG)
    }

    /// As it is stored with a row: the bit about spare bytes says something of the row's place, and is not of the header.
    pub fn stored(self, spare: usize) -> u64 {
        if spare > 0 { self.0 | SPARE } else { self.0 }
    }
}

/// A stored value without its spare bytes. `None`: it is too short for what it says of itself.
#[inline(always)]
pub fn without_spare(value: &[u8]) -> Option<&[u8]> {
    if value.len() < PAYLOAD_AT {
        return None;
    }
    if has_spare(value) { without_tail(value) } else { Some(value) }
}

/// Does a stored value end with spare bytes?
#[inline(always)]
pub fn has_spare(value: &[u8]) -> bool {
    get_u64(value, 0) & SPARE != 0
}

#[cold]
fn without_tail(value: &[u8]) -> Option<&[u8]> {
    let spare = match *value.last()? {
        255 => get_u16(value, value.len().checked_sub(3)?) as usize,
        few => few as usize,
    };
    let end = value.len().checked_sub(spare)?;
    (spare > 0 && end >= PAYLOAD_AT).then(|| &value[..end])
}

/// What `spare` bytes end with, so that [`without_spare`] knows them.
pub fn spare_tail(spare: usize) -> ([u8; 3], usize) {
    debug_assert!(spare > 0);
    let mut tail = [0, 0, 255];
    match u8::try_from(spare) {
        Ok(few) if few < 255 => ([few, 0, 0], 1),
        _ => {
            put_u16(&mut tail, 0, spare as u16);
            (tail, 3)
        }
    }
}

/// Lengths of the common prefix and suffix of two rows, not overlapping in either. Eight bytes a step.
pub fn common_ends(a: &[u8], b: &[u8]) -> (usize, usize) {
    let shorter = a.len().min(b.len());
    let word = |bytes: &[u8], at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    let mut prefix = 0;
    while prefix + 8 <= shorter {
        let difference = word(a, prefix) ^ word(b, prefix);
        if difference != 0 {
            prefix += difference.trailing_zeros() as usize / 8;
            break;
        }
        prefix += 8;
    }
    while prefix < shorter && a[prefix] == b[prefix] {
        prefix += 1;
    }
    let left = shorter - prefix;
    let mut suffix = 0;
    while suffix + 8 <= left {
        let difference = word(a, a.len() - suffix - 8) ^ word(b, b.len() - suffix - 8);
        if difference != 0 {
            return (prefix, suffix + difference.leading_zeros() as usize / 8);
        }
        suffix += 8;
    }
    while suffix < left && a[a.len() - suffix - 1] == b[b.len() - suffix - 1] {
        suffix += 1;
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn spare_bytes_are_told_from_the_row() {
        for spare in [1, 2, 3, 254, 255, 256, 3000] {
            let mut value = [&Header::new(7).stored(1).to_le_bytes()[..], b"the row", &vec![9; spare]].concat();
            let (tail, len) = spare_tail(spare);
            let at = value.len() - len;
            value[at..].copy_from_slice(&tail[..len]);
            assert_eq!(&without_spare(&value).unwrap()[PAYLOAD_AT..], b"the row", "{spare}");
        }
        assert_eq!(without_spare(&Header::new(7).stored(1).to_le_bytes()), None);
    }

    proptest! {
        #[test]
        fn a_difference_brings_the_earlier_row_back(
            a in prop::collection::vec(0u8..3, 0..60),
            b in prop::collection::vec(0u8..3, 0..60),
            shared in prop::collection::vec(any::<u8>(), 0..40),
        ) {
            for (old, new) in [
                ([&shared[..], &a].concat(), [&shared[..], &b].concat()),
                ([&a[..], &shared].concat(), [&b[..], &shared].concat()),
            ] {
                let (prefix, suffix) = common_ends(&old, &new);
                prop_assert!(prefix + suffix <= old.len().min(new.len()));
                // As long as they can be.
                let middle = (&old[prefix..old.len() - suffix], &new[prefix..new.len() - suffix]);
                if let ([x, ..], [y, ..]) = middle {
                    prop_assert_ne!(x, y);
                    prop_assert_ne!(middle.0.last(), middle.1.last());
                }
                let mut back = Vec::new();
                patch_back(&new, prefix, suffix, middle.0, &mut back).unwrap();
                prop_assert_eq!(back, old);
            }
        }
    }
}
