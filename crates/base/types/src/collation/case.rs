//! Upper and lower case, character by character, as MySQL's tables have it: those of a collation of Unicode are as old as its weights.

use super::CollationId;
use crate::charset::{Charset, EightBit};

/// Made by `tools/observe_collations.py`, little-endian:
///
/// ```text
/// u8 upper[128], lower[128] of the bytes from 0x80 on     latin1, then the other 8-bit sets in the order of their names
/// three times, upper and lower each:                      general_ci and what is as old, unicode_520_ci, 0900
///   u16 runs | u32 first, u32 last, u8 step, i32 distance from a character to the other
/// ```
static DATA: &[u8] = include_bytes!("data/case.bin");
const HALF: usize = 128;
const RUN_BYTES: usize = 13;

/// How letters change case.
#[derive(Clone, Copy)]
pub struct Case {
    upper: bool,
    /// Beyond ASCII.
    runs: &'static [u8],
}

impl Case {
    /// What a collation of Unicode has.
    pub fn of(collation: CollationId, upper: bool) -> Case {
        let name = collation.info().name;
        let table = if name.contains("_0900_") { 2 } else { usize::from(name.contains("_520_")) };
        let mut rest = &DATA[2 * HALF * (1 + EightBit::COUNT)..];
        for _ in 0..2 * table + usize::from(!upper) {
            rest = &rest[runs_bytes(rest)..];
        }
        Case { upper, runs: &rest[2..runs_bytes(rest)] }
    }

    /// The character in the other case; itself where it has none.
    pub fn change(self, code: u32) -> u32 {
        if let Ok(byte @ 0..0x80) = u8::try_from(code) {
            return u32::from(if self.upper { byte.to_ascii_uppercase() } else { byte.to_ascii_lowercase() });
        }
        let (runs, _) = self.runs.as_chunks::<RUN_BYTES>();
        let word =
            |run: &[u8; RUN_BYTES], at: usize| u32::from_le_bytes([run[at], run[at + 1], run[at + 2], run[at + 3]]);
        let mut at = runs.partition_point(|run| word(run, 0) <= code);
        // A run of every other character may have another one between its characters.
        while at > 0 {
            at -= 1;
            let run = &runs[at];
            let (first, last) = (word(run, 0), word(run, 4));
            if last >= code && (code - first).is_multiple_of(run[8].into()) {
                return code.wrapping_add(word(run, 9));
            }
            if last + 2 < code {
                break;
            }
        }
        code
    }
}

fn runs_bytes(table: &[u8]) -> usize {
    2 + usize::from(u16::from_le_bytes([table[0], table[1]])) * RUN_BYTES
}

/// The bytes from 0x80 on of an 8-bit set in the other case; `None`: it has no such table.
pub fn eight_bit(set: Charset, upper: bool) -> Option<&'static [u8; HALF]> {
    let at = match set {
        Charset::Latin1 => 0,
        Charset::Eight(set) if set.is_ascii_compatible() => 1 + set.number(),
        _ => return None,
    };
    DATA[2 * HALF * at + HALF * usize::from(!upper)..].first_chunk()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_change_as_the_tables_of_their_collations_have_it() {
        let changed = |name: &str, upper: bool, c: char| {
            let id = CollationId::by_name(name).expect("a collation");
            char::from_u32(Case::of(id, upper).change(c as u32)).expect("a character")
        };
        assert_eq!(changed("utf8mb4_general_ci", true, 'é'), 'É');
        assert_eq!((changed("utf8mb4_bin", true, 'k'), changed("utf8mb4_bin", false, 'K')), ('K', 'k'));
        assert_eq!(changed("utf8mb4_general_ci", false, 'Ā'), 'ā');
        assert_eq!(changed("utf8mb4_bin", false, 'ẞ'), 'ẞ');
        assert_eq!(changed("utf8mb4_0900_ai_ci", false, 'ẞ'), 'ß');
        assert_eq!(changed("utf8mb4_unicode_520_ci", false, 'ẞ'), 'ß');
        assert_eq!(changed("utf8mb4_0900_ai_ci", true, 'ა'), 'ა');
        assert_eq!(changed("utf8mb4_0900_ai_ci", true, '\u{AB70}'), 'Ꭰ');
        assert_eq!(changed("utf8mb4_bin", true, '\u{AB70}'), '\u{AB70}');
        assert_eq!(changed("ucs2_unicode_520_ci", false, 'ẞ'), 'ß');
        assert_eq!(changed("utf8mb4_0900_bin", true, '\u{10428}'), '\u{10400}');
    }

    #[test]
    fn every_letter_is_found() {
        for name in ["utf8mb4_general_ci", "utf8mb4_unicode_520_ci", "utf8mb4_0900_ai_ci"] {
            let id = CollationId::by_name(name).expect("a collation");
            for upper in [true, false] {
                let case = Case::of(id, upper);
                for run in case.runs.as_chunks::<RUN_BYTES>().0 {
                    let word = |at: usize| u32::from_le_bytes([run[at], run[at + 1], run[at + 2], run[at + 3]]);
                    for code in (word(0)..=word(4)).step_by(run[8].into()) {
                        assert_ne!(case.change(code), code, "{name} {upper} {code:X}");
                    }
                }
            }
        }
    }

    #[test]
    fn bytes_change_as_their_set_has_it() {
        let latin1 = eight_bit(Charset::Latin1, true).expect("a table");
        assert_eq!((latin1[0xE9 - 0x80], latin1[0xFF - 0x80]), (0xC9, 0xFF));
        assert!(eight_bit(Charset::Utf8mb4, true).is_none());
    }
}
