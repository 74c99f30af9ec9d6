//! The collations that the server knows, with MySQL's ids, names and attributes.

use super::CollationId;
use super::simple::{ASCII_CI, LATIN1_GENERAL_CI, LATIN1_GENERAL_CS, LATIN1_SWEDISH_CI};
use super::uca::Level;
use crate::charset::Charset;

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
    /// DUCET 4.0 primaries, PAD SPACE: `utf8mb4_unicode_ci`.
    Uca400,
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

use PadAttribute::{NoPad, PadSpace};

const fn row(
    id: u16,
    name: &'static str,
    charset: Charset,
    is_default: bool,
    pad: PadAttribute,
    sortlen: u8,
    order: Order,
) -> CollationInfo {
    CollationInfo { id: CollationId(id), name, charset, is_default, pad, sortlen, order }
}

/// Sorted by id.
pub static COLLATIONS: &[CollationInfo] = &[
    row(8, "latin1_swedish_ci", Charset::Latin1, true, PadSpace, 1, Order::Map(&LATIN1_SWEDISH_CI)),
    row(11, "ascii_general_ci", Charset::Ascii, true, PadSpace, 1, Order::Map(&ASCII_CI)),
    row(33, "utf8mb3_general_ci", Charset::Utf8mb3, true, PadSpace, 1, Order::General),
    row(45, "utf8mb4_general_ci", Charset::Utf8mb4, false, PadSpace, 1, Order::General),
    row(46, "utf8mb4_bin", Charset::Utf8mb4, false, PadSpace, 1, Order::BytesPadded),
    row(47, "latin1_bin", Charset::Latin1, false, PadSpace, 1, Order::BytesPadded),
    row(48, "latin1_general_ci", Charset::Latin1, false, PadSpace, 1, Order::Map(&LATIN1_GENERAL_CI)),
    row(49, "latin1_general_cs", Charset::Latin1, false, PadSpace, 1, Order::Map(&LATIN1_GENERAL_CS)),
    row(63, "binary", Charset::Binary, true, NoPad, 1, Order::Bytes),
    row(65, "ascii_bin", Charset::Ascii, false, PadSpace, 1, Order::BytesPadded),
    row(83, "utf8mb3_bin", Charset::Utf8mb3, false, PadSpace, 1, Order::BytesPadded),
    row(192, "utf8mb3_unicode_ci", Charset::Utf8mb3, false, PadSpace, 8, Order::Uca400),
    row(224, "utf8mb4_unicode_ci", Charset::Utf8mb4, false, PadSpace, 8, Order::Uca400),
    row(255, "utf8mb4_0900_ai_ci", Charset::Utf8mb4, true, NoPad, 0, Order::Uca(Level::Primary)),
    row(278, "utf8mb4_0900_as_cs", Charset::Utf8mb4, false, NoPad, 0, Order::Uca(Level::Tertiary)),
    row(305, "utf8mb4_0900_as_ci", Charset::Utf8mb4, false, NoPad, 0, Order::Uca(Level::Secondary)),
    row(309, "utf8mb4_0900_bin", Charset::Utf8mb4, false, NoPad, 1, Order::Bytes),
];

/// Ids are below this, so a table of bytes finds the row in O(1).
const IDS: usize = 512;

/// Index into [`COLLATIONS`] by id; unknown ids lead to `binary`.
static BY_ID: [u8; IDS] = {
    let mut table = [0; IDS];
    let mut binary = 0;
    while COLLATIONS[binary].id.0 != CollationId::BINARY.0 {
        binary += 1;
    }
    let mut id = 0;
    while id < IDS {
        table[id] = binary as u8;
        id += 1;
    }
    let mut i = 0;
    while i < COLLATIONS.len() {
        table[COLLATIONS[i].id.0 as usize] = i as u8;
        i += 1;
    }
    table
};

#[inline]
pub(super) fn info(id: CollationId) -> &'static CollationInfo {
    let index = BY_ID.get(id.0 as usize).copied().unwrap_or(BY_ID[CollationId::BINARY.0 as usize]);
    &COLLATIONS[index as usize]
}

pub(super) fn by_name(name: &str) -> Option<CollationId> {
    let same = |c: &&CollationInfo| {
        c.name.eq_ignore_ascii_case(name)
            || (c.charset == Charset::Utf8mb3
                && name.get(..5).is_some_and(|p| p.eq_ignore_ascii_case("utf8_"))
                && c.name.strip_prefix("utf8mb3_").is_some_and(|rest| rest.eq_ignore_ascii_case(&name[5..])))
    };
    COLLATIONS.iter().find(same).map(|c| c.id)
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
        assert_eq!(by_name("utf8_general_ci"), Some(CollationId::UTF8MB3_GENERAL_CI));
        assert_eq!(by_name("klingon_ci"), None);
        assert!(!CollationId(500).is_known() && !CollationId(60_000).is_known());
    }
}
