//! The sets whose units are two or four bytes: ucs2, utf16, utf16le, utf32. Nothing in them looks like ASCII.

/// Which of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Wide {
    /// Two bytes a character, most significant first, without surrogate pairs.
    Ucs2,
    Utf16,
    Utf16le,
    Utf32,
}

use Wide::{Ucs2, Utf16, Utf16le, Utf32};

const HIGH: std::ops::Range<u32> = 0xD800..0xDC00;
const LOW: std::ops::Range<u32> = 0xDC00..0xE000;

impl Wide {
    pub const fn name(self) -> &'static str {
        match self {
            Ucs2 => "ucs2",
            Utf16 => "utf16",
            Utf16le => "utf16le",
            Utf32 => "utf32",
        }
    }

    pub const fn description(self) -> &'static str {
        match self {
            Ucs2 => "UCS-2 Unicode",
            Utf16 => "UTF-16 Unicode",
            Utf16le => "UTF-16LE Unicode",
            Utf32 => "UTF-32 Unicode",
        }
    }

    pub const fn mbmaxlen(self) -> u32 {
        match self {
            Ucs2 => 2,
            _ => 4,
        }
    }

    /// Bytes of the shortest character, of which every length is a multiple.
    pub const fn unit(self) -> usize {
        match self {
            Utf32 => 4,
            _ => 2,
        }
    }

    fn unit_at(self, bytes: &[u8]) -> Option<u32> {
        match self {
            Ucs2 | Utf16 => bytes.first_chunk().map(|b| u16::from_be_bytes(*b) as u32),
            Utf16le => bytes.first_chunk().map(|b| u16::from_le_bytes(*b) as u32),
            Utf32 => bytes.first_chunk().map(|b| u32::from_be_bytes(*b)),
        }
    }

    /// The well-formed character at the front and its length.
    fn well_formed(self, bytes: &[u8]) -> Option<(u32, usize)> {
        let unit = self.unit_at(bytes)?;
        match self {
            Ucs2 => Some((unit, 2)),
            Utf32 => (unit <= 0x10_FFFF).then_some((unit, 4)),
            Utf16 | Utf16le if HIGH.contains(&unit) => {
                let low = self.unit_at(&bytes[2..]).filter(|l| LOW.contains(l))?;
                Some((0x10000 + ((unit - HIGH.start) << 10) + (low - LOW.start), 4))
            }
            Utf16 | Utf16le => (!LOW.contains(&unit)).then_some((unit, 2)),
        }
    }

    /// The code point at the front of a non-empty string and its length; U+FFFD for what is malformed.
    pub fn decode(self, bytes: &[u8]) -> (u32, usize) {
        self.well_formed(bytes).unwrap_or((0xFFFD, self.unit().min(bytes.len())))
    }

    pub fn encode(self, code: u32, out: &mut Vec<u8>) -> bool {
        match self {
            Ucs2 | Utf16 | Utf16le if code <= 0xFFFF => self.put(code as u16, out),
            Utf16 | Utf16le if code <= 0x10_FFFF => {
                let above = code - 0x10000;
                self.put((HIGH.start + (above >> 10)) as u16, out);
                self.put((LOW.start + (above & 0x3FF)) as u16, out);
            }
            Utf32 if code <= 0x10_FFFF => out.extend_from_slice(&code.to_be_bytes()),
            _ => return false,
        }
        true
    }

    fn put(self, unit: u16, out: &mut Vec<u8>) {
        out.extend_from_slice(&if self == Utf16le { unit.to_le_bytes() } else { unit.to_be_bytes() });
    }

    pub fn valid_up_to(self, bytes: &[u8]) -> usize {
        let mut at = 0;
        while let Some((_, length)) = self.well_formed(&bytes[at..]) {
            at += length;
        }
        at
    }

    pub fn char_count(self, bytes: &[u8]) -> usize {
        match self {
            Ucs2 | Utf32 => bytes.len().div_ceil(self.unit()),
            Utf16 | Utf16le => {
                let (mut count, mut rest) = (0, bytes);
                while !rest.is_empty() {
                    rest = &rest[self.decode(rest).1..];
                    count += 1;
                }
                count
            }
        }
    }

    /// Byte offset of character `n`, at most the string's length.
    pub fn char_offset(self, bytes: &[u8], n: usize) -> usize {
        match self {
            Ucs2 | Utf32 => n.saturating_mul(self.unit()).min(bytes.len()),
            Utf16 | Utf16le => {
                let mut at = 0;
                for _ in 0..n {
                    if at >= bytes.len() {
                        break;
                    }
                    at += self.decode(&bytes[at..]).1;
                }
                at
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_come_back_and_bad_ones_are_found() {
        for set in [Utf16, Utf16le, Utf32] {
            let mut bytes = Vec::new();
            for code in [0x61, 0xE9, 0x20AC, 0xFFFD, 0x1F600, 0x10_FFFF] {
                assert!(set.encode(code, &mut bytes));
            }
            assert_eq!((set.char_count(&bytes), set.valid_up_to(&bytes)), (6, bytes.len()));
            assert_eq!(set.decode(&bytes[set.char_offset(&bytes, 4)..]), (0x1F600, 4));
        }
        assert_eq!(Utf16.valid_up_to(&[0, 0x61, 0xDC, 0]), 2);
        assert_eq!(Utf16.decode(&[0xD8, 0]), (0xFFFD, 2));
        assert_eq!(Ucs2.decode(&[0x61]), (0xFFFD, 1));
        assert!(!Ucs2.encode(0x1F600, &mut Vec::new()));
    }
}
