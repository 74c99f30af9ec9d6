//! The 8-bit character sets beside latin1 and ascii: a table of code points each, read by character and searched by code point.

use crate::const_eq;

/// Made by `tools/observe_collations.py`, which has a picture of it.
static DATA: &[u8] = include_bytes!("../collation/data/eight.bin");

/// `(name, description)` in the order of the file, which is that of the names.
const SETS: [(&str, &str); 23] = [
    ("armscii8", "ARMSCII-8 Armenian"),
    ("cp1250", "Windows Central European"),
    ("cp1251", "Windows Cyrillic"),
    ("cp1256", "Windows Arabic"),
    ("cp1257", "Windows Baltic"),
    ("cp850", "DOS West European"),
    ("cp852", "DOS Central European"),
    ("cp866", "DOS Russian"),
    ("dec8", "DEC West European"),
    ("geostd8", "GEOSTD8 Georgian"),
    ("greek", "ISO 8859-7 Greek"),
    ("hebrew", "ISO 8859-8 Hebrew"),
    ("hp8", "HP West European"),
    ("keybcs2", "DOS Kamenicky Czech-Slovak"),
    ("koi8r", "KOI8-R Relcom Russian"),
    ("koi8u", "KOI8-U Ukrainian"),
    ("latin2", "ISO 8859-2 Central European"),
    ("latin5", "ISO 8859-9 Turkish"),
    ("latin7", "ISO 8859-13 Baltic"),
    ("macce", "Mac Central European"),
    ("macroman", "Mac West European"),
    ("swe7", "7bit Swedish"),
    ("tis620", "TIS620 Thai"),
];

/// What the file has for a byte that stands for no character.
const NONE: u16 = 0xFFFF;
const SETS_AT: usize = 2;
const SET_BYTES: usize = 512;
const MAPS_AT: usize = SETS_AT + SETS.len() * SET_BYTES;
const MAP_BYTES: usize = 2 + 256;

/// One of the sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EightBit(u8);

impl EightBit {
    pub const COUNT: usize = SETS.len();

    /// Its place among the sets.
    pub const fn number(self) -> usize {
        self.0 as usize
    }

    /// The set of that name, which there must be.
    pub const fn named(name: &str) -> EightBit {
        let mut i = 0;
        while i < SETS.len() {
            if const_eq(SETS[i].0.as_bytes(), name.as_bytes()) {
                return EightBit(i as u8);
            }
            i += 1;
        }
        panic!("no such 8-bit character set");
    }

    pub const fn name(self) -> &'static str {
        SETS[self.0 as usize].0
    }

    pub const fn description(self) -> &'static str {
        SETS[self.0 as usize].1
    }

    /// Whether the bytes below 0x80 are ASCII: all sets but swe7, which has letters among them.
    pub const fn is_ascii_compatible(self) -> bool {
        !const_eq(SETS[self.0 as usize].0.as_bytes(), b"swe7")
    }

    /// The code point of a byte; U+FFFD for one that stands for nothing.
    #[inline]
    pub fn decode(self, byte: u8) -> u32 {
        let at = SETS_AT + self.0 as usize * SET_BYTES + byte as usize * 2;
        match u16::from_le_bytes([DATA[at], DATA[at + 1]]) {
            NONE => 0xFFFD,
            code => code as u32,
        }
    }

    /// The byte of a code point.
    pub fn encode(self, code: u32) -> Option<u8> {
        if code < 0x80 && self.is_ascii_compatible() {
            return Some(code as u8);
        }
        match code {
            // The one set whose tables have a byte for it.
            0xFFFD => (self == EightBit::named("tis620")).then_some(0xFF),
            _ => (0..=255).find(|b| self.decode(*b) == code),
        }
    }
}

/// The weights of the bytes under a collation of an 8-bit set, which the file must have.
pub(crate) const fn map(collation: u16) -> &'static [u8; 256] {
    let mut at = MAPS_AT;
    while at < DATA.len() {
        if u16::from_le_bytes([DATA[at], DATA[at + 1]]) == collation {
            let (_, rest) = DATA.split_at(at + 2);
            match rest.first_chunk::<256>() {
                Some(map) => return map,
                None => panic!("the file ends early"),
            }
        }
        at += MAP_BYTES;
    }
    panic!("no such map");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_character_comes_back() {
        assert_eq!(DATA[0] as usize, SETS.len());
        for set in (0..SETS.len() as u8).map(EightBit) {
            for byte in 0..=255 {
                let code = set.decode(byte);
                if code != 0xFFFD {
                    let back = set.encode(code).expect("a byte");
                    assert_eq!(set.decode(back), code, "{} {byte:02X}", set.name());
                }
            }
        }
        let koi8r = EightBit::named("koi8r");
        assert_eq!((koi8r.decode(0xC1), koi8r.encode(0x430), koi8r.encode(0x20AC)), (0x430, Some(0xC1), None));
        assert_eq!(EightBit::named("swe7").decode(b'['), 0xC4);
    }
}
