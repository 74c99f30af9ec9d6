//! Collations: which strings are equal and in which order they come. Compare, hash, weight strings and LIKE.
//!
//! A *weight string* is a byte string whose plain byte order is the collation's order: keys in indexes, sort keys and hashes
//! are made of it, so `compare`, `hash` and `weights` agree by construction or by test.

mod ascii;
pub mod case;
mod like;
mod registry;
mod rows;
mod simple;
mod tailored;
mod thai;
mod uca;

pub use registry::{COLLATIONS, CollationInfo, PadAttribute};
pub use simple::general_fold;

use crate::charset::Charset;
use registry::Order;
use std::cmp::Ordering;
use std::convert::Infallible;
use std::hash::Hasher;

/// MySQL's collation id (information_schema.COLLATIONS.ID); 63 is `binary`, 255 `utf8mb4_0900_ai_ci`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CollationId(pub u16);

/// Bytes of weights that one byte of a text may come to under a collation that pads.
const CHARACTER_WEIGHT_BYTES_MAX: usize = 36;

impl CollationId {
    pub const LATIN1_SWEDISH_CI: CollationId = CollationId(8);
    pub const ASCII_GENERAL_CI: CollationId = CollationId(11);
    pub const UTF8MB3_GENERAL_CI: CollationId = CollationId(33);
    pub const UTF8MB4_GENERAL_CI: CollationId = CollationId(45);
    pub const UTF8MB4_BIN: CollationId = CollationId(46);
    pub const LATIN1_BIN: CollationId = CollationId(47);
    pub const BINARY: CollationId = CollationId(63);
    pub const ASCII_BIN: CollationId = CollationId(65);
    pub const UTF8MB3_BIN: CollationId = CollationId(83);
    pub const UTF8MB4_UNICODE_CI: CollationId = CollationId(224);
    pub const UTF8MB4_0900_AI_CI: CollationId = CollationId(255);
    pub const UTF8MB4_0900_AS_CS: CollationId = CollationId(278);
    pub const UTF8MB4_0900_AS_CI: CollationId = CollationId(305);
    pub const UTF8MB4_0900_BIN: CollationId = CollationId(309);

    /// By name, case-insensitive; `utf8_...` means `utf8mb3_...`.
    pub fn by_name(name: &str) -> Option<CollationId> {
        registry::by_name(name)
    }

    /// The default collation of a character set.
    pub fn default_of(charset: Charset) -> CollationId {
        match charset {
            Charset::Binary => CollationId::BINARY,
            Charset::Utf8mb4 => CollationId::UTF8MB4_0900_AI_CI,
            Charset::Latin1 => CollationId::LATIN1_SWEDISH_CI,
            _ => registry::default_of(charset),
        }
    }

    /// The `_bin` collation of a character set.
    pub fn binary_of(charset: Charset) -> CollationId {
        match charset {
            Charset::Binary => CollationId::BINARY,
            Charset::Utf8mb4 => CollationId::UTF8MB4_BIN,
            _ => registry::binary_of(charset),
        }
    }

    /// The collation of utf8mb4 that orders characters like this one; for a set that is UTF-8 already, itself.
    pub fn of_utf8mb4(self) -> CollationId {
        match self.info().order {
            Order::Transcoded(of) => CollationId(of),
            _ if self.charset().is_unicode() => self,
            _ => CollationId::UTF8MB4_GENERAL_CI,
        }
    }

    /// Name, character set and attributes. An id that the registry lacks is `binary`'s entry (columns only ever carry ids
    /// that `by_name` or [`CollationId::is_known`] has passed).
    #[inline]
    pub fn info(self) -> &'static CollationInfo {
        registry::info(self)
    }

    pub fn is_known(self) -> bool {
        self.info().id == self
    }

    #[inline]
    pub fn charset(self) -> Charset {
        self.info().charset
    }

    #[inline]
    pub fn is_binary(self) -> bool {
        self == CollationId::BINARY
    }

    /// Order of two strings. PAD SPACE collations take the shorter one as filled up with spaces.
    #[inline]
    pub fn compare(self, a: &[u8], b: &[u8]) -> Ordering {
        match self.info().order {
            Order::Uca(level) => uca::compare(a, b, level),
            Order::Bytes => a.cmp(b),
            Order::BytesPadded => simple::compare_padded(a, b, |x| x),
            Order::Map(map) => simple::compare_padded(a, b, |x| map[x as usize]),
            Order::General => simple::compare_general(a, b),
            Order::Primaries(root) => uca::compare_primaries(root, a, b),
            Order::Tailored(t, level) => tailored::compare(t, a, b, level),
            Order::TailoredPadded(t) => tailored::compare_padded(t, a, b),
            Order::Thai => simple::compare_padded(&thai::sortable(a), &thai::sortable(b), |x| x),
            Order::Transcoded(of) => {
                let set = self.charset();
                CollationId(of).compare(&set.to_utf8(a), &set.to_utf8(b))
            }
        }
    }

    #[inline]
    pub fn equal(self, a: &[u8], b: &[u8]) -> bool {
        (a == b) || (self.0 != Self::BINARY.0 && self.compare(a, b).is_eq())
    }

    /// Feeds a string to a hasher so that strings that compare equal hash equal.
    pub fn hash<H: Hasher>(self, s: &[u8], state: &mut H) {
        match self.info().order {
            Order::Bytes => state.write(s),
            Order::BytesPadded => state.write(simple::trim_spaces(s)),
            Order::Uca(level) => uca::hash(s, level, state),
            Order::Tailored(t, level) => tailored::hash(t, s, level, state),
            Order::Transcoded(of) => return CollationId(of).hash(&self.charset().to_utf8(s), state),
            Order::Map(_) | Order::General | Order::Primaries(_) | Order::TailoredPadded(_) | Order::Thai => {
                let mut weights = Vec::with_capacity(s.len() * 2 + 3);
                self.weights(s, &mut weights);
                state.write(&weights);
            }
        }
        state.write_u8(0xFF);
    }

    /// Appends the weight string: the order of the bytes is the collation's, equal strings have equal bytes, and no weight
    /// string is a prefix of another, so that weight strings can follow one another in a key.
    pub fn weights(self, s: &[u8], out: &mut Vec<u8>) {
        match self.info().order {
            Order::Bytes => escape(s, out),
            Order::BytesPadded => simple::pad_weights(s.iter().copied(), b' ', out, |u, out| out.push(u)),
            Order::Map(map) => {
                let units = s.iter().map(|b| map[*b as usize]);
                simple::pad_weights(units, map[b' ' as usize], out, |u, out| out.push(u));
            }
            Order::General => simple::pad_weights(simple::units_general(s), b' ' as u16, out, put_u16),
            Order::Uca(level) => uca::weights(s, level, out),
            Order::Primaries(root) => simple::pad_weights(uca::primaries_of(root, s), uca::space(root), out, put_u16),
            Order::Tailored(t, level) => tailored::weights(t, s, level, out),
            Order::TailoredPadded(t) => simple::pad_weights(tailored::primaries(t, s), uca::SPACE, out, put_u16),
            Order::Thai => simple::pad_weights(thai::sortable(s).into_iter(), b' ', out, |u, out| out.push(u)),
            Order::Transcoded(of) => CollationId(of).weights(&self.charset().to_utf8(s), out),
        }
    }

    /// Bytes of weights that MySQL makes room for, for each byte of a text or character that is asked for, before it computes any.
    pub fn weight_bytes_max(self) -> usize {
        let set = self.charset();
        let name = self.info().name;
        match self.info().order {
            // Japanese and Chinese have a level more, and another one for kana.
            Order::Uca(_) | Order::Tailored(..) if name.ends_with("_as_cs_ks") => 80,
            Order::Uca(_) | Order::Tailored(..) if name.contains("_ja_") || name.contains("_zh_") => 64,
            Order::Uca(level) | Order::Tailored(_, level) => 16 * (level as usize + 1),
            Order::Primaries(_) | Order::TailoredPadded(_) => 8 * set.mbmaxlen() as usize,
            Order::Bytes if self.is_binary() => 1,
            Order::Bytes => set.mbmaxlen() as usize,
            Order::General => 2,
            Order::Map(_) | Order::Thai => 1,
            Order::BytesPadded | Order::Transcoded(_) if set.mbmaxlen() > 1 && name.ends_with("_bin") => {
                // Of code points beyond the first plane three.
                if matches!(set.name(), "utf8mb3" | "ucs2") { 2 } else { 3 }
            }
            Order::BytesPadded => 1,
            Order::Transcoded(_) if set.name() == "gb18030" => 8,
            Order::Transcoded(_) => 2,
        }
    }

    /// Appends what WEIGHT_STRING shows: the weights alone, then those of so many blanks where the collation pads.
    pub fn sort_weights(self, s: &[u8], blanks: usize, out: &mut Vec<u8>) {
        let set = self.charset();
        match self.info().order {
            Order::Bytes => out.extend_from_slice(s),
            Order::BytesPadded if set.is_single_byte() => {
                out.extend_from_slice(s);
                out.resize(out.len() + blanks, b' ');
            }
            Order::BytesPadded => binary_weights(set, s, blanks, out),
            Order::Thai => {
                out.extend(thai::sortable(s));
                out.resize(out.len() + blanks, b' ');
            }
            Order::Transcoded(of) if of == CollationId::UTF8MB4_BIN.0 => binary_weights(set, s, blanks, out),
            Order::Transcoded(of) => CollationId(of).sort_weights(&set.to_utf8(s), blanks, out),
            Order::Map(map) => {
                out.extend(s.iter().map(|b| map[*b as usize]));
                out.resize(out.len() + blanks, map[b' ' as usize]);
            }
            Order::General => {
                simple::units_general(s).for_each(|u| put_u16(u, out));
                (0..blanks).for_each(|_| put_u16(b' ' as u16, out));
            }
            Order::Uca(level) => {
                uca::weights(s, level, out);
                out.truncate(out.len() - 2);
            }
            Order::Primaries(root) => {
                uca::primaries_of(root, s).for_each(|u| put_u16(u, out));
                (0..blanks).for_each(|_| put_u16(uca::space(root), out));
            }
            Order::Tailored(t, level) => {
                tailored::weights(t, s, level, out);
                // A level of kana is shown where there is some.
                let empty = level == uca::Level::Quaternary && out.ends_with(&[0; 4]);
                out.truncate(out.len() - if empty { 4 } else { 2 });
            }
            Order::TailoredPadded(t) => {
                tailored::primaries(t, s).for_each(|u| put_u16(u, out));
                (0..blanks).for_each(|_| put_u16(uca::SPACE, out));
            }
        }
    }

    /// What a sort by `most` bytes of weights looks at: the text, or under a collation that pads its front of whole characters whose
    /// weights find room there (`max_sort_length`).
    #[inline]
    pub fn sorted_part(self, s: &[u8], most: usize) -> &[u8] {
        if s.len().saturating_mul(CHARACTER_WEIGHT_BYTES_MAX) <= most || !self.pads() { s } else { self.front(s, most) }
    }

    fn pads(self) -> bool {
        match self.info().order {
            Order::Bytes | Order::Uca(_) | Order::Tailored(..) => false,
            Order::Transcoded(of) => CollationId(of).pads(),
            _ => true,
        }
    }

    #[cold]
    fn front(self, s: &[u8], most: usize) -> &[u8] {
        let set = self.charset();
        let mut weights = Vec::new();
        let mut fits = |end: usize| {
            weights.clear();
            self.sort_weights(&s[..end], 0, &mut weights);
            weights.len() <= most
        };
        if fits(s.len()) {
            return s;
        }
        let (mut fit, mut beyond) = (0, set.char_count(s));
        while beyond - fit > 1 {
            let middle = fit.midpoint(beyond);
            if fits(set.char_offset(s, middle)) { fit = middle } else { beyond = middle }
        }
        &s[..set.char_offset(s, fit)]
    }

    /// The first weights as a number: when those of two strings differ, the strings compare as the numbers do. For sorting, where
    /// most pairs are told apart by it.
    #[inline]
    pub fn leading_weights(self, s: &[u8]) -> u64 {
        let padded = |space: u8, weight: &dyn Fn(u8) -> u8| {
            let mut first = [space; 8];
            first.iter_mut().zip(s).for_each(|(to, b)| *to = weight(*b));
            u64::from_be_bytes(first)
        };
        match self.info().order {
            Order::Thai => CollationId::LATIN1_BIN.leading_weights(&thai::sortable(s)),
            Order::Uca(_) => uca::leading(s),
            Order::Bytes => padded(0, &|b| b),
            Order::BytesPadded => padded(b' ', &|b| b),
            Order::Map(map) => padded(map[b' ' as usize], &|b| map[b as usize]),
            Order::General => first_units(simple::units_general(s), b' ' as u16),
            Order::Primaries(root) => first_units(uca::primaries_of(root, s), uca::space(root)),
            Order::Tailored(t, _) => first_units(tailored::primaries(t, s), 0),
            Order::TailoredPadded(t) => first_units(tailored::primaries(t, s), uca::SPACE),
            Order::Transcoded(of) => CollationId(of).leading_weights(&self.charset().to_utf8(s)),
        }
    }

    /// Length of the weight string at the front of `bytes`; `None` when it does not end there.
    pub fn weights_length(self, bytes: &[u8]) -> Option<usize> {
        match self.info().order {
            Order::Bytes => escaped_length(bytes),
            Order::BytesPadded | Order::Thai => simple::pad_weights_length(bytes, [b' ']),
            Order::Map(map) => simple::pad_weights_length(bytes, [map[b' ' as usize]]),
            Order::General => simple::pad_weights_length(bytes, [0, b' ']),
            Order::Primaries(root) => simple::pad_weights_length(bytes, uca::space(root).to_be_bytes()),
            Order::TailoredPadded(_) => simple::pad_weights_length(bytes, uca::SPACE.to_be_bytes()),
            Order::Transcoded(of) => CollationId(of).weights_length(bytes),
            Order::Uca(level) | Order::Tailored(_, level) => {
                let levels = level as usize + 1;
                let ends = bytes.chunks_exact(2).enumerate().filter(|(_, unit)| *unit == [0, 0]);
                ends.map(|(i, _)| (i + 1) * 2).nth(levels - 1)
            }
        }
    }

    /// `s LIKE pattern ESCAPE escape`. `None`: no escape character. Matches character by character under the collation, so
    /// that, unlike `=`, no contraction or expansion and no trailing space is ignored.
    pub fn like(self, s: &[u8], pattern: &[u8], escape: Option<char>) -> bool {
        let Ok(found) = like::like(self, s, pattern, escape, &mut || Ok::<(), Infallible>(()));
        found
    }

    /// The same, which may take as many steps as both have characters, multiplied: `go_on` is asked from time to time, and its
    /// error ends it.
    pub fn try_like<E>(
        self,
        s: &[u8],
        pattern: &[u8],
        escape: Option<char>,
        go_on: &mut dyn FnMut() -> Result<(), E>,
    ) -> Result<bool, E> {
        like::like(self, s, pattern, escape, go_on)
    }

    /// Appends bytes that the [`CollationId::weights`] of every string LIKE the pattern begin with: those of the characters before
    /// the first wildcard, at most so many. None when there are no such characters. Characters that LIKE takes as equal have the
    /// same weights, and each has its own whatever follows, but for blanks where the collation pads: those end the prefix.
    pub fn like_prefix(self, pattern: &[u8], escape_character: Option<char>, characters: usize, out: &mut Vec<u8>) {
        let literal = like::literal_prefix(self.charset(), pattern, escape_character, characters);
        match self.info().order {
            Order::Bytes => {
                escape(&literal, out);
                // Without the mark of the end.
                out.truncate(out.len() - 2);
            }
            Order::BytesPadded => out.extend(literal.iter().take_while(|b| **b != b' ')),
            Order::Map(map) => {
                out.extend(literal.iter().map(|b| map[*b as usize]).take_while(|u| *u != map[b' ' as usize]))
            }
            Order::General => {
                simple::units_general(&literal).take_while(|u| *u != b' ' as u16).for_each(|u| put_u16(u, out))
            }
            Order::Uca(_) => uca::primaries(&literal).for_each(|u| put_u16(u, out)),
            Order::Primaries(root) => {
                uca::primaries_of(root, &literal).take_while(|u| *u != uca::space(root)).for_each(|u| put_u16(u, out))
            }
            // What follows could make a contraction of the last character.
            Order::Tailored(..) | Order::TailoredPadded(_) | Order::Transcoded(_) | Order::Thai => {}
        }
    }

    /// Whether two single characters are equal under the collation (LIKE, LOCATE, REPLACE and the like).
    #[inline]
    pub fn char_equal(self, a: u32, b: u32) -> bool {
        if a == b || matches!(self.info().order, Order::Bytes | Order::BytesPadded) {
            return a == b;
        }
        if a < 0x80 && b < 0x80 {
            let classes = ascii::classes(self);
            return classes[a as usize] == classes[b as usize];
        }
        self.char_equal_by_weight(a, b)
    }

    fn char_equal_by_weight(self, a: u32, b: u32) -> bool {
        a == b
            || match self.info().order {
                Order::Bytes | Order::BytesPadded => false,
                Order::Thai => a < 0x80 && b < 0x80 && (a as u8).eq_ignore_ascii_case(&(b as u8)),
                Order::Map(map) => {
                    let byte = |c: u32| simple::map_code(self.charset(), map, c);
                    byte(a) == byte(b)
                }
                Order::General => simple::general_weight(a) == simple::general_weight(b),
                Order::Uca(level) => uca::char_equal(a, b, level),
                Order::Primaries(root) => uca::char_equal_primaries(root, a, b),
                Order::Tailored(t, level) => tailored::char_equal(t, a, b, level),
                Order::TailoredPadded(t) => tailored::char_equal(t, a, b, uca::Level::Primary),
                Order::Transcoded(of) => CollationId(of).char_equal_by_weight(a, b),
            }
    }
}

/// Second byte of an escaped zero, and of the end.
const ESCAPED_ZERO: u8 = 0xFF;
const END: u8 = 0x01;

/// Appends bytes so that no result is a prefix of another: `00` becomes `00 FF`, the end is `00 01`.
pub(crate) fn escape(bytes: &[u8], out: &mut Vec<u8>) {
    let mut rest = bytes;
    while let Some(zero) = rest.iter().position(|b| *b == 0) {
        out.extend_from_slice(&rest[..zero]);
        out.extend_from_slice(&[0, ESCAPED_ZERO]);
        rest = &rest[zero + 1..];
    }
    out.extend_from_slice(rest);
    out.extend_from_slice(&[0, END]);
}

fn escaped_length(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        at += bytes.get(at..)?.iter().position(|b| *b == 0)? + 2;
        if *bytes.get(at - 1)? == END {
            return Some(at);
        }
    }
}

/// Undoes [`escape`] of exactly `bytes`.
pub(crate) fn unescape(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut rest = bytes.strip_suffix(&[0, END])?;
    let mut out = Vec::with_capacity(rest.len());
    while let Some(zero) = rest.iter().position(|b| *b == 0) {
        if rest.get(zero + 1) != Some(&ESCAPED_ZERO) {
            return None;
        }
        out.extend_from_slice(&rest[..=zero]);
        rest = &rest[zero + 2..];
    }
    out.extend_from_slice(rest);
    Some(out)
}

/// What WEIGHT_STRING shows under a `_bin` collation: code points, of two bytes where the set has no further ones.
fn binary_weights(set: Charset, s: &[u8], blanks: usize, out: &mut Vec<u8>) {
    let bytes = if set.mbmaxlen() < 4 { 2 } else { 3 };
    let mut put = |code: u32| out.extend_from_slice(&code.to_be_bytes()[4 - bytes..]);
    let mut rest = s;
    while !rest.is_empty() {
        let (code, n) = set.decode(rest);
        put(code);
        rest = &rest[n..];
    }
    (0..blanks).for_each(|_| put(b' ' as u32));
}

/// The first four units, filled up with `fill`.
fn first_units(mut units: impl Iterator<Item = u16>, fill: u16) -> u64 {
    (0..4).fold(0, |all, _| all << 16 | units.next().unwrap_or(fill) as u64)
}

fn put_u16(unit: u16, out: &mut Vec<u8>) {
    out.extend_from_slice(&unit.to_be_bytes());
}
