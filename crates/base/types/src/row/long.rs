//! Rows with values outside: what of a row is too long for its leaf lies elsewhere, and the row keeps a reference to it.
//!
//! ```text
//!  | format | columns | null bits | fixed columns | end offsets | bytes of the others | outside bits     | references, 20 each | count |
//!  | u8     | u16     |           |               |             |                     | ceil(columns/8)  | in order of places  | u16   |
//!
//!  format   bit 0x40 says that there are outside bits and what follows; a value outside has no bytes in the row
//!           0x02: nothing is in the row, which lies outside as a whole: | 0x02 | reference | 1 |
//! ```
//!
//! The references and their count are appended by who stores the row (crate `engine`), all before them is the body that
//! [`RowLayout::split`] makes. Short values stay in the row, so that reading and changing them does not touch the long ones.

use super::{FORMAT, FORMAT_WIDE, HEADER, RowLayout, variable_range, written_places};
use crate::Value;

/// Bytes of a reference. What it says is the business of who stores rows.
pub const REFERENCE_BYTES: usize = 20;
pub type Reference = [u8; REFERENCE_BYTES];

pub(super) const LONG: u8 = 0x40;
const WHOLE: u8 = 0x02;
const COUNT_BYTES: usize = 2;

/// What lies outside in place of a column's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outside<'r> {
    /// The bytes of the value.
    Value(&'r Reference),
    /// The row.
    Row(&'r Reference),
}

/// A row as it is to be stored: what stays in the leaf, and the values that follow it, in this order.
#[derive(Clone, Debug, Default)]
pub struct Parts {
    pub body: Vec<u8>,
    pub long: Vec<Part>,
}

/// A value that is to be outside, by its place in the row that was split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// `row[from..to]` goes out.
    New { from: usize, to: usize },
    /// It is there already: the reference begins at `row[at]`.
    Kept { at: usize },
}

/// Is anything of the row outside?
#[inline(always)]
pub fn has_outside(row: &[u8]) -> bool {
    row[0] & (LONG | WHOLE) != 0
}

/// Are some values of the row outside, and the others inside?
pub fn has_values_outside(row: &[u8]) -> bool {
    row[0] & LONG != 0
}

/// Where the outside bits begin, where the references do, and how many there are; of a row with the bit 0x40.
fn tail(row: &[u8]) -> (usize, usize, usize) {
    let end = row.len() - COUNT_BYTES;
    let count = u16::from_le_bytes([row[end], row[end + 1]]) as usize;
    let references_at = end - count * REFERENCE_BYTES;
    (references_at - written_places(row).div_ceil(8), references_at, count)
}

fn reference(row: &[u8], at: usize) -> &Reference {
    row[at..at + REFERENCE_BYTES].try_into().expect("so many bytes")
}

fn is_set(bits: &[u8], place: usize) -> bool {
    bits[place / 8] & 1 << (place % 8) != 0
}

/// Is the value at this place outside?
pub(super) fn is_outside(row: &[u8], place: usize) -> bool {
    row[0] & LONG != 0 && is_set(&row[tail(row).0..], place)
}

/// Does the row lie outside as a whole?
pub(super) fn is_whole_outside(row: &[u8]) -> bool {
    row[0] == WHOLE
}

impl RowLayout {
    /// Where the value of column `i` is, if it is outside. A row of fewer places, and a NULL, have none outside.
    pub fn outside<'r>(&self, row: &'r [u8], i: usize) -> Option<Outside<'r>> {
        if row[0] == WHOLE {
            return Some(Outside::Row(reference(row, 1)));
        }
        let place = self.columns[i].place as usize;
        if row[0] & LONG == 0 || place >= written_places(row) {
            return None;
        }
        let (bits_at, references_at, _) = tail(row);
        let bits = &row[bits_at..references_at];
        let before = (0..place).filter(|place| is_set(bits, *place)).count();
        is_set(bits, place).then(|| Outside::Value(reference(row, references_at + before * REFERENCE_BYTES)))
    }

    /// As [`RowLayout::encode`], where the value of each column in `kept` stays outside, as it is; its value is not looked at.
    pub fn encode_keeping(&self, out: &mut Vec<u8>, values: &[Value<'_>], kept: &[(usize, Reference)]) {
        let start = out.len();
        let mut inside: Vec<Value<'_>> = values.to_vec();
        for (c, _) in kept {
            inside[*c] = Value::Bytes((&[][..]).into());
        }
        self.encode(out, &inside);
        if kept.is_empty() {
            return;
        }
        out[start] |= LONG;
        let mut in_order: Vec<_> =
            kept.iter().map(|(c, reference)| (self.columns[*c].place as usize, reference)).collect();
        in_order.sort_unstable_by_key(|(place, _)| *place);
        let bits_at = out.len();
        out.resize(bits_at + self.places.len().div_ceil(8), 0);
        for (place, _) in &in_order {
            out[bits_at + place / 8] |= 1 << (place % 8);
        }
        in_order.iter().for_each(|(_, reference)| out.extend_from_slice(*reference));
        out.extend_from_slice(&(kept.len() as u16).to_le_bytes());
    }

    /// Splits a row so that what stays inside takes `most` bytes at most, references and count included: the longest values go out
    /// first. False: that cannot be, since its short values alone take more (see [`split_whole`]).
    pub fn split(&self, row: &[u8], most: usize, parts: &mut Parts) -> bool {
        parts.body.clear();
        parts.long.clear();
        let (bits_at, references_at, count) = if row[0] & LONG != 0 { tail(row) } else { (row.len(), row.len(), 0) };
        let kept = (0..count).map(|n| Part::Kept { at: references_at + n * REFERENCE_BYTES });
        if row.len() <= most {
            parts.body.extend_from_slice(&row[..references_at]);
            parts.long.extend(kept);
            return true;
        }
        let sections = self.sections(row);
        let bits = &row[bits_at..references_at];
        let variables = (sections.data_at - sections.ends_at) / sections.end_bytes;
        let range = |place: usize| variable_range(row, &sections, self.places[place].variable as usize);
        // Place and bytes of each variable value that is in the row.
        let mut inside: Vec<(usize, usize)> = (0..sections.places)
            .filter(|place| self.variable_at(*place) && (bits.is_empty() || !is_set(bits, *place)))
            .map(|place| (place, range(place).len()))
            .collect();
        inside.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
        let bit_bytes = sections.places.div_ceil(8);
        let mut size = sections.ends_at + 2 * variables + inside.iter().map(|(_, bytes)| bytes).sum::<usize>();
        size += bit_bytes + count * REFERENCE_BYTES + COUNT_BYTES;
        let mut moved = vec![false; sections.places];
        for (place, bytes) in &inside {
            if size <= most || *bytes <= REFERENCE_BYTES {
                break;
            }
            size = size - bytes + REFERENCE_BYTES;
            moved[*place] = true;
        }
        if size > most {
            return false;
        }
        let body = &mut parts.body;
        body.extend_from_slice(&row[..sections.ends_at]);
        body[0] = FORMAT | LONG;
        body.resize(sections.ends_at + 2 * variables, 0);
        let data_at = body.len();
        let mut new_bits = vec![0; bit_bytes];
        let mut kept = kept;
        for place in (0..sections.places).filter(|place| self.variable_at(*place)) {
            let index = self.places[place].variable as usize;
            let bytes = range(place);
            let was_out = !bits.is_empty() && is_set(bits, place);
            if was_out || moved[place] {
                new_bits[place / 8] |= 1 << (place % 8);
                let new = Part::New { from: bytes.start, to: bytes.end };
                parts.long.push(if was_out { kept.next().expect("a bit for each") } else { new });
            } else {
                body.extend_from_slice(&row[bytes]);
            }
            let end = (body.len() - data_at) as u16;
            body[sections.ends_at + 2 * index..][..2].copy_from_slice(&end.to_le_bytes());
        }
        body.extend_from_slice(&new_bits);
        true
    }

    fn variable_at(&self, place: usize) -> bool {
        let next = self.places.get(place + 1).map_or(self.variables, |next| next.variable);
        next > self.places[place].variable
    }
}

/// Splits a row of which nothing is outside so that all of it goes out.
pub fn split_whole(row: &[u8], parts: &mut Parts) {
    assert!(!has_outside(row), "what is outside is brought in first");
    parts.body.clear();
    parts.body.push(WHOLE);
    parts.long.clear();
    parts.long.push(Part::New { from: 0, to: row.len() });
}

const _: () = assert!(FORMAT & (LONG | WHOLE) == 0 && FORMAT_WIDE & (LONG | WHOLE) == 0 && HEADER == 3);
