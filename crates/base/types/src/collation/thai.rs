//! `tis620_thai_ci`: bytes in dictionary order. A vowel written before its consonant sorts behind it, and tone marks count after all
//! else. PAD SPACE.

const CONSONANTS: std::ops::RangeInclusive<u8> = 0xA1..=0xCE;
const LEADING_VOWELS: std::ops::RangeInclusive<u8> = 0xE0..=0xE4;
/// Maitaikhu, the four tone marks and thanthakhat.
const MARKS: std::ops::RangeInclusive<u8> = 0xE7..=0xEC;
const THANTHAKHAT: u8 = 0xEC;

/// Marks become bytes above all letters, lower the more characters stand before them.
const FIRST_MARK: u8 = 0xF8;
const MARKS_APART: u8 = 8;

/// The bytes whose order is the strings'.
pub(super) fn sortable(s: &[u8]) -> Vec<u8> {
    let s = super::simple::trim_spaces(s);
    let (mut letters, mut marks) = (Vec::with_capacity(s.len()), Vec::new());
    let mut base = FIRST_MARK;
    let mut i = 0;
    while let Some(&byte) = s.get(i) {
        i += 1;
        match byte {
            0..0x80 => {
                base = base.wrapping_sub(MARKS_APART);
                letters.push(byte.to_ascii_lowercase());
            }
            b if LEADING_VOWELS.contains(&b) && s.get(i).is_some_and(|next| CONSONANTS.contains(next)) => {
                letters.extend_from_slice(&[s[i], b]);
                i += 1;
            }
            b if MARKS.contains(&b) => {
                let rank = if b == THANTHAKHAT { 1 } else { b - MARKS.start() + 2 };
                marks.push(base.wrapping_add(rank));
            }
            b => {
                if CONSONANTS.contains(&b) {
                    base = base.wrapping_sub(MARKS_APART);
                }
                letters.push(b);
            }
        }
    }
    letters.extend_from_slice(&marks);
    letters
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vowels_and_marks_move() {
        for (given, sorted) in [
            (&[0xE0, 0xA1][..], &[0xA1, 0xE0][..]),
            (&[0xA1, 0xE8, 0xA1], &[0xA1, 0xA1, 0xF3]),
            (&[0xE0, 0xA1, 0xE8, 0xD2], &[0xA1, 0xE0, 0xD2, 0xFB]),
            (&[0xA1, 0xEC], &[0xA1, 0xF1]),
            (&[b'A', 0xE8], &[b'a', 0xF3]),
            (&[0xE0, b'A'], &[0xE0, b'a']),
        ] {
            assert_eq!(sortable(given), sorted);
        }
    }
}
