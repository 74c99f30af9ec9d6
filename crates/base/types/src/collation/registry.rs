//! The collations that the server knows, with MySQL's ids, names and attributes.

use super::CollationId;
pub use super::rows::COLLATIONS;
use super::tailored::Tailoring;
use super::uca::{Level, Root};
use crate::charset::{Charset, NAME_BYTES, lower_name};
use std::sync::LazyLock;

/// What trailing spaces mean: PAD SPACE collations ignore them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PadAttribute {
    PadSpace,
    NoPad,
}

impl PadAttribute {
    pub const fn name(self) -> &'static str {
        match self {
            PadAttribute::PadSpace => "PAD SPACE",
            PadAttribute::NoPad => "NO PAD",
        }
    }
}

/// How a collation orders strings.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Order {
    /// Byte by byte, NO PAD.
    Bytes,
    /// Byte by byte (for UTF-8 that is code point order), PAD SPACE.
    BytesPadded,
    /// A weight for each byte, PAD SPACE: single-byte character sets.
    Map(&'static [u8; 256]),
    /// `utf8mb4_general_ci`: a 16-bit weight for each character, PAD SPACE.
    General,
    /// DUCET 9.0, NO PAD.
    Uca(Level),
    /// Primaries of an older DUCET, PAD SPACE: `utf8mb4_unicode_ci`, `utf8mb4_unicode_520_ci`.
    Primaries(Root),
    /// DUCET 9.0 with a language's changes, NO PAD.
    Tailored(Tailoring, Level),
    /// Primaries of DUCET 4.0 with a language's changes, PAD SPACE.
    TailoredPadded(Tailoring),
    /// `tis620_thai_ci`.
    Thai,
    /// As this collation of utf8mb4 orders the same characters: sets that are not UTF-8.
    Transcoded(u16),
}

/// A row of information_schema.COLLATIONS.
#[derive(Clone, Copy, Debug)]
pub struct CollationInfo {
    pub id: CollationId,
    pub name: &'static str,
    pub charset: Charset,
    /// Whether it is its character set's default.
    pub is_default: bool,
    pub pad: PadAttribute,
    pub sortlen: u8,
    pub(crate) order: Order,
}

/// Ids are below this, so a table of bytes finds the row in O(1).
const IDS: usize = 512;

/// Index into [`COLLATIONS`] by id; unknown ids lead to `binary`.
static BY_ID: [u16; IDS] = {
    let mut table = [0; IDS];
    let mut binary = 0;
    while COLLATIONS[binary].id.0 != CollationId::BINARY.0 {
        binary += 1;
    }
    let mut id = 0;
    while id < IDS {
        table[id] = binary as u16;
        id += 1;
    }
    let mut i = 0;
    while i < COLLATIONS.len() {
        table[COLLATIONS[i].id.0 as usize] = i as u16;
        i += 1;
    }
    table
};

#[inline]
pub(super) fn info(id: CollationId) -> &'static CollationInfo {
    let index = BY_ID.get(id.0 as usize).copied().unwrap_or(BY_ID[CollationId::BINARY.0 as usize]);
    &COLLATIONS[index as usize]
}

fn of(charset: Charset, is_it: impl Fn(&CollationInfo) -> bool) -> CollationId {
    let found = COLLATIONS.iter().find(|c| c.charset == charset && is_it(c));
    found.expect("each character set has a default and a binary collation").id
}

pub(super) fn default_of(charset: Charset) -> CollationId {
    of(charset, |c| c.is_default)
}

pub(super) fn binary_of(charset: Charset) -> CollationId {
    of(charset, |c| c.name.ends_with("_bin"))
}

/// Indexes into [`COLLATIONS`] in the order of names.
static BY_NAME: LazyLock<Vec<u16>> = LazyLock::new(|| {
    let mut order: Vec<u16> = (0..COLLATIONS.len() as u16).collect();
    order.sort_unstable_by_key(|i| COLLATIONS[usize::from(*i)].name);
    order
});

pub(super) fn by_name(name: &str) -> Option<CollationId> {
    let find = |name: &str| {
        let mut lower = [0; NAME_BYTES];
        let lower = lower_name(name, &mut lower)?;
        let found = BY_NAME.binary_search_by(|i| COLLATIONS[usize::from(*i)].name.as_bytes().cmp(lower));
        found.ok().map(|at| COLLATIONS[usize::from(BY_NAME[at])].id)
    };
    let older = name.split_at_checked(5).filter(|(prefix, _)| prefix.eq_ignore_ascii_case("utf8_"));
    match older {
        Some((_, rest)) => find(&format!("utf8mb3_{rest}")),
        None => find(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_names_and_defaults_agree() {
        assert!(COLLATIONS.is_sorted_by(|a, b| a.id.0 < b.id.0));
        for c in COLLATIONS {
            assert_eq!(info(c.id).name, c.name);
            assert_eq!(by_name(&c.name.to_uppercase()), Some(c.id));
            assert_eq!(CollationId::default_of(c.charset) == c.id, c.is_default);
        }
        for set in Charset::ALL {
            assert_eq!((CollationId::default_of(set).charset(), CollationId::binary_of(set).charset()), (set, set));
        }
        assert_eq!(by_name("utf8_general_ci"), Some(CollationId::UTF8MB3_GENERAL_CI));
        assert_eq!(by_name("klingon_ci"), None);
        assert!(!CollationId(500).is_known() && !CollationId(60_000).is_known());
    }
}
