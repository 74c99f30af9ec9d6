//! Character sets: validation, counting and cutting of strings by characters, conversion to and from code points.
//!
//! Strings are bytes in the character set of their collation. Stored utf8mb4 strings have been validated on their way in,
//! yet no function here relies on that: a malformed byte counts as one character and never panics.

pub(crate) mod eight;
mod wide;

pub use eight::EightBit;
use std::borrow::Cow;
pub use wide::Wide;

/// The character sets that the server knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Charset {
    Binary,
    Ascii,
    /// MySQL's latin1: Windows-1252, with the five holes mapped to C1 controls.
    Latin1,
    Utf8mb3,
    Utf8mb4,
    /// A byte a character, by a table.
    Eight(EightBit),
    /// Two or four bytes a unit.
    Wide(Wide),
}

const fn eight(name: &str) -> Charset {
    Charset::Eight(EightBit::named(name))
}

/// Code points of latin1 bytes 0x80..=0x9F; every other byte is its own code point.
const LATIN1_C1: [u16; 32] = [
    0x20AC, 0x0081, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x008D,
    0x017D, 0x008F, 0x0090, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A,
    0x0153, 0x009D, 0x017E, 0x0178,
];

/// Longer than any name of a character set or collation.
pub(crate) const NAME_BYTES: usize = 64;

/// A name in small letters; `None`: it is too long for one.
pub(crate) fn lower_name<'p>(name: &str, place: &'p mut [u8; NAME_BYTES]) -> Option<&'p [u8]> {
    let place = place.get_mut(..name.len())?;
    place.copy_from_slice(name.as_bytes());
    place.make_ascii_lowercase();
    Some(place)
}

impl Charset {
    /// In the order of their names.
    pub const ALL: [Charset; 32] = [
        eight("armscii8"),
        Charset::Ascii,
        Charset::Binary,
        eight("cp1250"),
        eight("cp1251"),
        eight("cp1256"),
        eight("cp1257"),
        eight("cp850"),
        eight("cp852"),
        eight("cp866"),
        eight("dec8"),
        eight("geostd8"),
        eight("greek"),
        eight("hebrew"),
        eight("hp8"),
        eight("keybcs2"),
        eight("koi8r"),
        eight("koi8u"),
        Charset::Latin1,
        eight("latin2"),
        eight("latin5"),
        eight("latin7"),
        eight("macce"),
        eight("macroman"),
        eight("swe7"),
        eight("tis620"),
        Charset::Wide(Wide::Ucs2),
        Charset::Wide(Wide::Utf16),
        Charset::Wide(Wide::Utf16le),
        Charset::Wide(Wide::Utf32),
        Charset::Utf8mb3,
        Charset::Utf8mb4,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Charset::Binary => "binary",
            Charset::Ascii => "ascii",
            Charset::Latin1 => "latin1",
            Charset::Utf8mb3 => "utf8mb3",
            Charset::Utf8mb4 => "utf8mb4",
            Charset::Eight(set) => set.name(),
            Charset::Wide(set) => set.name(),
        }
    }

    /// As in information_schema.CHARACTER_SETS.DESCRIPTION.
    pub const fn description(self) -> &'static str {
        match self {
            Charset::Binary => "Binary pseudo charset",
            Charset::Ascii => "US ASCII",
            Charset::Latin1 => "cp1252 West European",
            Charset::Utf8mb3 | Charset::Utf8mb4 => "UTF-8 Unicode",
            Charset::Eight(set) => set.description(),
            Charset::Wide(set) => set.description(),
        }
    }

    /// Most bytes of one character.
    pub const fn mbmaxlen(self) -> u32 {
        match self {
            Charset::Binary | Charset::Ascii | Charset::Latin1 | Charset::Eight(_) => 1,
            Charset::Utf8mb3 => 3,
            Charset::Utf8mb4 => 4,
            Charset::Wide(set) => set.mbmaxlen(),
        }
    }

    /// Bytes of the shortest character.
    pub const fn mbminlen(self) -> usize {
        match self {
            Charset::Wide(set) => set.unit(),
            _ => 1,
        }
    }

    /// Whether ASCII strings are the same bytes in this set: not in ucs2, utf16, utf32 and swe7.
    #[inline]
    pub const fn is_ascii_compatible(self) -> bool {
        match self {
            Charset::Wide(_) => false,
            Charset::Eight(set) => set.is_ascii_compatible(),
            _ => true,
        }
    }

    /// Whether it is UTF-8, of up to three or four bytes.
    #[inline]
    pub const fn is_utf8(self) -> bool {
        matches!(self, Charset::Utf8mb3 | Charset::Utf8mb4)
    }

    /// Whether it is a form of Unicode.
    pub const fn is_unicode(self) -> bool {
        matches!(self, Charset::Utf8mb3 | Charset::Utf8mb4 | Charset::Wide(_))
    }

    /// By name, case-insensitive; `utf8` is utf8mb3.
    pub fn by_name(name: &str) -> Option<Charset> {
        if name.eq_ignore_ascii_case("utf8") {
            return Some(Charset::Utf8mb3);
        }
        let mut lower = [0; NAME_BYTES];
        let lower = lower_name(name, &mut lower)?;
        let found = Charset::ALL.binary_search_by(|c| c.name().as_bytes().cmp(lower));
        found.ok().map(|at| Charset::ALL[at])
    }

    /// Whether a byte stands for a character each.
    #[inline]
    pub const fn is_single_byte(self) -> bool {
        !matches!(self, Charset::Utf8mb3 | Charset::Utf8mb4 | Charset::Wide(_))
    }

    /// Length of the longest well-formed prefix: `bytes.len()` when all is well.
    pub fn valid_up_to(self, bytes: &[u8]) -> usize {
        match self {
            Charset::Binary | Charset::Latin1 | Charset::Eight(_) => bytes.len(),
            Charset::Wide(set) => set.valid_up_to(bytes),
            Charset::Ascii => bytes.iter().position(|b| *b >= 0x80).unwrap_or(bytes.len()),
            Charset::Utf8mb4 => match std::str::from_utf8(bytes) {
                Ok(_) => bytes.len(),
                Err(e) => e.valid_up_to(),
            },
            Charset::Utf8mb3 => {
                let valid = Charset::Utf8mb4.valid_up_to(bytes);
                bytes[..valid].iter().position(|b| *b >= 0xF0).unwrap_or(valid)
            }
        }
    }

    /// CHAR_LENGTH.
    #[inline]
    pub fn char_count(self, bytes: &[u8]) -> usize {
        if self.is_single_byte() {
            return bytes.len();
        }
        if let Charset::Wide(set) = self {
            return set.char_count(bytes);
        }
        // Continuation bytes are 0b10xxxxxx; every other byte starts a character.
        bytes.iter().filter(|b| (**b as i8) >= -0x40).count()
    }

    /// Byte offset of character `n`, or `bytes.len()` when there are fewer characters.
    pub fn char_offset(self, bytes: &[u8], n: usize) -> usize {
        if self.is_single_byte() || n >= bytes.len() {
            return n.min(bytes.len());
        }
        if let Charset::Wide(set) = self {
            return set.char_offset(bytes, n);
        }
        // Where each character is one byte.
        if (bytes[n] as i8) >= -0x40 && bytes[..n].is_ascii() {
            return n;
        }
        let mut seen = 0;
        for (i, b) in bytes.iter().enumerate() {
            if (*b as i8) >= -0x40 {
                if seen == n {
                    return i;
                }
                seen += 1;
            }
        }
        bytes.len()
    }

    /// Bytes of the characters that are whole within the first `limit` bytes.
    pub fn whole_characters(self, bytes: &[u8], limit: usize) -> usize {
        if bytes.len() <= limit || self.is_single_byte() {
            return bytes.len().min(limit);
        }
        let mut end = 0;
        while end < limit {
            let (_, length) = self.decode(&bytes[end..]);
            if end + length > limit {
                break;
            }
            end += length;
        }
        end
    }

    /// `count` characters from character `start` (0-based) on, cut at the string's end.
    pub fn substring(self, bytes: &[u8], start: usize, count: usize) -> &[u8] {
        let rest = &bytes[self.char_offset(bytes, start)..];
        &rest[..self.char_offset(rest, count)]
    }

    /// The code point at the front of a non-empty string and its length in bytes. A malformed byte is U+FFFD, one byte long.
    #[inline]
    pub fn decode(self, bytes: &[u8]) -> (u32, usize) {
        let first = bytes[0];
        match self {
            Charset::Ascii if !first.is_ascii() => (char::REPLACEMENT_CHARACTER as u32, 1),
            Charset::Binary | Charset::Ascii => (first as u32, 1),
            Charset::Latin1 => match first {
                0x80..=0x9F => (LATIN1_C1[(first - 0x80) as usize] as u32, 1),
                _ => (first as u32, 1),
            },
            Charset::Utf8mb3 | Charset::Utf8mb4 => decode_utf8(bytes),
            Charset::Eight(set) => (set.decode(first), 1),
            Charset::Wide(set) => set.decode(bytes),
        }
    }

    /// The same, and `None` where the bytes are no character.
    pub fn character(self, bytes: &[u8]) -> (Option<u32>, usize) {
        let (code, length) = self.decode(bytes);
        let is_one = code != char::REPLACEMENT_CHARACTER as u32 || self.valid_up_to(&bytes[..length]) == length;
        (is_one.then_some(code), length)
    }

    /// Appends a code point; false (and nothing appended) when the character set lacks it.
    pub fn encode(self, code: u32, out: &mut Vec<u8>) -> bool {
        match self {
            Charset::Ascii if code < 0x80 => out.push(code as u8),
            Charset::Binary if code < 0x100 => out.push(code as u8),
            Charset::Latin1 => match code {
                0..0x80 | 0xA0..0x100 => out.push(code as u8),
                _ => match LATIN1_C1.iter().position(|c| *c as u32 == code) {
                    Some(i) => out.push(0x80 + i as u8),
                    None => return false,
                },
            },
            Charset::Utf8mb3 | Charset::Utf8mb4 => match char::from_u32(code) {
                Some(c) if c.len_utf8() as u32 <= self.mbmaxlen() => {
                    out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                }
                _ => return false,
            },
            Charset::Eight(set) => match set.encode(code) {
                Some(byte) => out.push(byte),
                None => return false,
            },
            Charset::Wide(set) => return set.encode(code, out),
            _ => return false,
        }
        true
    }

    /// Whether bytes of `self` are the same string in `to` as they stand.
    pub fn is_subset_bytes(self, to: Charset, bytes: &[u8]) -> bool {
        self == to
            || to == Charset::Binary
            || (self == Charset::Utf8mb3 && to == Charset::Utf8mb4)
            || (self != Charset::Binary && self.is_ascii_compatible() && to.is_ascii_compatible() && bytes.is_ascii())
    }

    /// Converts a string to another character set. Characters that `to` lacks, and what is none, become `?`; the number of those comes
    /// back.
    /// From `binary` the bytes are taken as they stand (the caller validates them), with zero bytes in front where the first
    /// character of `to` would not be whole.
    pub fn convert(self, to: Charset, bytes: &[u8], out: &mut Vec<u8>) -> usize {
        if self == Charset::Binary {
            let lacking = bytes.len().next_multiple_of(to.mbminlen()) - bytes.len();
            out.resize(out.len() + lacking, 0);
        }
        if self == Charset::Binary || self.is_subset_bytes(to, bytes) {
            out.extend_from_slice(bytes);
            return 0;
        }
        let mut lost = 0;
        let mut rest = bytes;
        while !rest.is_empty() {
            let (code, length) = self.character(rest);
            if !code.is_some_and(|code| to.encode(code, out)) {
                to.encode(b'?' as u32, out);
                lost += 1;
            }
            rest = &rest[length..];
        }
        lost
    }

    /// The string as UTF-8, malformed characters replaced.
    pub fn to_utf8(self, bytes: &[u8]) -> Cow<'_, [u8]> {
        if matches!(self, Charset::Utf8mb3 | Charset::Utf8mb4) || self.is_subset_bytes(Charset::Utf8mb4, bytes) {
            return Cow::Borrowed(bytes);
        }
        let mut out = Vec::with_capacity(bytes.len() * 2);
        self.convert(Charset::Utf8mb4, bytes, &mut out);
        Cow::Owned(out)
    }

    /// A string of this set from UTF-8; what the set lacks becomes `?`.
    pub fn from_utf8(self, text: &[u8]) -> Cow<'_, [u8]> {
        if Charset::Utf8mb4.is_subset_bytes(self, text) {
            return Cow::Borrowed(text);
        }
        let mut out = Vec::with_capacity(text.len() * 2);
        Charset::Utf8mb4.convert(self, text, &mut out);
        Cow::Owned(out)
    }

    /// The blank in this set.
    pub const fn space(self) -> &'static [u8] {
        match self {
            Charset::Wide(Wide::Ucs2 | Wide::Utf16) => &[0, b' '],
            Charset::Wide(Wide::Utf16le) => &[b' ', 0],
            Charset::Wide(Wide::Utf32) => &[0, 0, 0, b' '],
            _ => b" ",
        }
    }

    /// Length without the blanks at the end.
    pub fn trimmed_length(self, bytes: &[u8]) -> usize {
        let space = self.space();
        let mut end = bytes.len();
        while end >= space.len() && bytes[..end].ends_with(space) {
            end -= space.len();
        }
        end
    }
}

/// One code point of UTF-8, strict: overlong forms, surrogates and values above U+10FFFF are malformed.
#[inline]
pub fn decode_utf8(bytes: &[u8]) -> (u32, usize) {
    const BAD: (u32, usize) = (0xFFFD, 1);
    let cont = |i: usize| bytes.get(i).filter(|b| **b & 0xC0 == 0x80).map(|b| (*b & 0x3F) as u32);
    match bytes[0] {
        b @ 0..=0x7F => (b as u32, 1),
        b @ 0xC2..=0xDF => match cont(1) {
            Some(c1) => ((b as u32 & 0x1F) << 6 | c1, 2),
            None => BAD,
        },
        b @ 0xE0..=0xEF => match (cont(1), cont(2)) {
            (Some(c1), Some(c2)) => {
                let code = (b as u32 & 0x0F) << 12 | c1 << 6 | c2;
                if code < 0x800 || (0xD800..0xE000).contains(&code) { BAD } else { (code, 3) }
            }
            _ => BAD,
        },
        b @ 0xF0..=0xF4 => match (cont(1), cont(2), cont(3)) {
            (Some(c1), Some(c2), Some(c3)) => {
                let code = (b as u32 & 0x07) << 18 | c1 << 12 | c2 << 6 | c3;
                if (0x10000..0x110000).contains(&code) { (code, 4) } else { BAD }
            }
            _ => BAD,
        },
        _ => BAD,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_characters_are_those_of_std() {
        let letters = ['a', 'é', '€', '😀'];
        for number in 0..4usize.pow(6) {
            let text: String = (0..6).map(|i| letters[number / 4usize.pow(i) % 4]).collect();
            for end in 0..=6 {
                let part = &text[..text.char_indices().nth(end).map_or(text.len(), |(at, _)| at)];
                for n in 0..8 {
                    let expected = part.char_indices().nth(n).map_or(part.len(), |(at, _)| at);
                    assert_eq!(Charset::Utf8mb4.char_offset(part.as_bytes(), n), expected, "{part} {n}");
                }
            }
        }
    }

    #[test]
    fn decode_utf8_agrees_with_std_on_every_scalar() {
        let mut buffer = [0; 4];
        for c in '\0'..=char::MAX {
            let bytes = c.encode_utf8(&mut buffer).as_bytes();
            assert_eq!(decode_utf8(bytes), (c as u32, bytes.len()));
        }
        for bad in [&[0x80][..], &[0xC0, 0x80], &[0xED, 0xA0, 0x80], &[0xF4, 0x90, 0x80, 0x80], &[0xE2, 0x82]] {
            assert_eq!(decode_utf8(bad), (0xFFFD, 1));
        }
    }

    #[test]
    fn cutting_by_characters() {
        let s = "aé€😀z".as_bytes();
        assert_eq!(Charset::Utf8mb4.char_count(s), 5);
        assert_eq!(Charset::Utf8mb4.substring(s, 1, 3), "é€😀".as_bytes());
        assert_eq!(Charset::Utf8mb4.substring(s, 4, 9), b"z");
        assert_eq!(Charset::Utf8mb4.substring(s, 7, 9), b"");
        let whole = |limit| Charset::Utf8mb4.whole_characters(s, limit);
        assert_eq!([0, 2, 3, 5, 6, 9, 10, 99].map(whole), [0, 1, 3, 3, 6, 6, 10, 11]);
        assert_eq!(Charset::Utf8mb3.valid_up_to(s), 6);
        assert_eq!(Charset::Utf8mb4.valid_up_to(b"ab\xFFc"), 2);
    }

    #[test]
    fn what_is_no_character_is_a_question_mark_elsewhere() {
        let converted = |from: Charset, to, bytes: &[u8]| {
            let mut out = Vec::new();
            (from.convert(to, bytes, &mut out), out)
        };
        assert_eq!(converted(Charset::Ascii, Charset::Utf8mb4, b"a\xFF"), (1, b"a?".to_vec()));
        assert_eq!(converted(Charset::Ascii, Charset::Latin1, b"\xE9b"), (1, b"?b".to_vec()));
        assert_eq!(converted(Charset::Utf8mb4, Charset::Utf8mb3, b"\xFFz"), (1, b"?z".to_vec()));
        let replacement = "\u{FFFD}".as_bytes();
        assert_eq!(converted(Charset::Utf8mb4, Charset::Utf8mb3, replacement), (0, replacement.to_vec()));
    }

    #[test]
    fn conversion_counts_what_is_lost() {
        let mut out = Vec::new();
        assert_eq!(Charset::Utf8mb4.convert(Charset::Latin1, "é€Ω".as_bytes(), &mut out), 1);
        assert_eq!(out, [0xE9, 0x80, b'?']);
        let mut back = Vec::new();
        assert_eq!(Charset::Latin1.convert(Charset::Utf8mb4, &out, &mut back), 0);
        assert_eq!(back, "é€?".as_bytes());
    }
}
