//! The languages' orders: what each changes in the root's, laid over it.
//!
//! A tailoring gives weights of their own to some characters and to some strings of characters (contractions: `ch` in Czech, `aa`
//! in Danish), moves whole scripts (Cyrillic before Latin in Russian) and may turn tertiary weights about (upper case first).
//! `tools/observe_collations.py` makes the file from what a MySQL server says that characters weigh; a tailoring is unpacked
//! when it is first used. Little-endian:
//!
//! ```text
//! u16 tailorings | each: u16 collation id, u32 offset, u32 length | their bodies
//!
//! body      u8 levels | u8 moves, each: u16 first, last, to, prefix | u8 tertiaries, each: u8 from, u16 to
//!           u16 runs, each: u16 primary, u16 n, u24 code point * n      one primary after the other, the rest usual
//!           u16 entries, each: u8 n, u24 code point * n, per level: u8 n, u16 weight * n
//! move      root primaries first..=last are to..., each behind `prefix` where that is not 0
//! ```

use super::uca::{self, Level, Root};
use crate::charset::decode_utf8;
use std::cmp::Ordering;
use std::collections::HashMap;
use std::hash::Hasher;
use std::sync::OnceLock;

static DATA: &[u8] = include_bytes!("data/tailorings.bin");
const COUNT: usize = u16::from_le_bytes([DATA[0], DATA[1]]) as usize;
const ROW: usize = 10;
const LEVELS_MAX: usize = 4;

static UNPACKED: [OnceLock<Overlay>; COUNT] = [const { OnceLock::new() }; COUNT];

/// One of the file's tailorings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tailoring(u8);

impl Tailoring {
    /// That of a `utf8mb4` collation, which the file must have.
    pub(crate) const fn of(collation: u16) -> Tailoring {
        let mut i = 0;
        while i < COUNT {
            if u16::from_le_bytes([DATA[2 + i * ROW], DATA[3 + i * ROW]]) == collation {
                return Tailoring(i as u8);
            }
            i += 1;
        }
        panic!("no such tailoring");
    }

    #[inline]
    fn overlay(self) -> &'static Overlay {
        UNPACKED[self.0 as usize].get_or_init(|| Overlay::unpack(self.0 as usize))
    }
}

/// Weights of one character or contraction: for each level so many from `start` on, one level after the other.
#[derive(Clone, Copy)]
struct Entry {
    start: u32,
    lengths: [u8; LEVELS_MAX],
}

struct Move {
    first: u16,
    last: u16,
    to: u16,
    prefix: u16,
}

struct Overlay {
    root: Root,
    units: Vec<u16>,
    entries: Vec<Entry>,
    /// Entry of a character, one higher; pages of 256, page 0 is empty.
    page_of: Vec<u16>,
    pages: Vec<[u32; 256]>,
    /// By first character: the others and the entry, the longest first.
    contractions: HashMap<u32, Vec<(Vec<u32>, u32)>>,
    moves: Vec<Move>,
    tertiaries: [u16; 32],
}

/// In an entry of a page: contractions begin with the character.
const HEAD: u32 = 1 << 31;

struct Reader(&'static [u8]);

impl Reader {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let (taken, rest) = self.0.split_first_chunk().expect("the file of tailorings is whole");
        self.0 = rest;
        *taken
    }

    fn u8(&mut self) -> u8 {
        self.take::<1>()[0]
    }

    fn u16(&mut self) -> u16 {
        u16::from_le_bytes(self.take())
    }

    fn code(&mut self) -> u32 {
        let [a, b, c] = self.take();
        u32::from_le_bytes([a, b, c, 0])
    }
}

impl Overlay {
    fn unpack(index: usize) -> Overlay {
        let number = |at: usize| u32::from_le_bytes(*DATA[at..].first_chunk().expect("a number")) as usize;
        let (offset, length) = (number(4 + index * ROW), number(8 + index * ROW));
        let mut from = Reader(&DATA[offset..offset + length]);
        let levels = from.u8() as usize;
        let mut overlay = Overlay {
            root: if levels == 1 { Root::V400 } else { Root::V900 },
            units: Vec::new(),
            entries: Vec::new(),
            page_of: vec![0; 0x1100],
            pages: vec![[0; 256]],
            contractions: HashMap::new(),
            moves: Vec::new(),
            tertiaries: std::array::from_fn(|t| t as u16),
        };
        for _ in 0..from.u8() {
            let [first, last, to, prefix] = std::array::from_fn(|_| from.u16());
            overlay.moves.push(Move { first, last, to, prefix });
        }
        for _ in 0..from.u8() {
            let t = from.u8();
            overlay.tertiaries[t as usize] = from.u16();
        }
        overlay.read_runs(&mut from, levels);
        overlay.read_entries(&mut from, levels);
        assert!(from.0.is_empty(), "a tailoring has no more than it says");
        overlay
    }

    fn read_runs(&mut self, from: &mut Reader, levels: usize) {
        for _ in 0..from.u16() {
            let (first, count) = (from.u16(), from.u16());
            for i in 0..count {
                let code = from.code();
                let weights: [&[u16]; 3] = [&[first + i], &[0x20], &[0x02]];
                let entry = self.push(&weights[..levels.min(3)]);
                *self.slot(code) |= entry + 1;
            }
        }
    }

    fn read_entries(&mut self, from: &mut Reader, levels: usize) {
        for _ in 0..from.u16() {
            let codes: Vec<u32> = (0..from.u8()).map(|_| from.code()).collect();
            let weights: Vec<Vec<u16>> = (0..levels).map(|_| (0..from.u8()).map(|_| from.u16()).collect()).collect();
            let weights: Vec<&[u16]> = weights.iter().map(|w| &w[..]).collect();
            let entry = self.push(&weights);
            match &codes[..] {
                [code] => *self.slot(*code) |= entry + 1,
                [first, rest @ ..] => {
                    *self.slot(*first) |= HEAD;
                    let all = self.contractions.entry(*first).or_default();
                    all.push((rest.to_vec(), entry));
                    all.sort_by_key(|(rest, _)| usize::MAX - rest.len());
                }
                [] => unreachable!("an entry has a character"),
            }
        }
    }

    fn push(&mut self, weights: &[&[u16]]) -> u32 {
        let mut entry = Entry { start: self.units.len() as u32, lengths: [0; LEVELS_MAX] };
        for (level, weights) in weights.iter().enumerate() {
            entry.lengths[level] = weights.len() as u8;
            self.units.extend_from_slice(weights);
        }
        self.entries.push(entry);
        self.entries.len() as u32 - 1
    }

    fn slot(&mut self, code: u32) -> &mut u32 {
        let page = &mut self.page_of[code as usize >> 8];
        if *page == 0 {
            *page = self.pages.len() as u16;
            self.pages.push([0; 256]);
        }
        &mut self.pages[*page as usize][code as usize & 0xFF]
    }

    #[inline]
    fn weights_of(&self, entry: u32, level: usize) -> &[u16] {
        let entry = self.entries[entry as usize];
        let before: usize = entry.lengths[..level].iter().map(|n| *n as usize).sum();
        &self.units[entry.start as usize + before..][..entry.lengths[level] as usize]
    }

    /// The contraction that `code` begins and `rest` goes on with: its entry and how many bytes of `rest` it takes.
    fn contraction(&self, code: u32, rest: &[u8]) -> Option<(u32, usize)> {
        self.contractions.get(&code)?.iter().find_map(|(others, entry)| {
            let mut at = 0;
            for other in others {
                let (code, length) = rest.get(at..).filter(|r| !r.is_empty()).map(decode_utf8)?;
                if code != *other {
                    return None;
                }
                at += length;
            }
            Some((*entry, at))
        })
    }

    /// The root's weights of a character at a level, as the tailoring moves them.
    #[cold]
    fn root_weights(&self, code: u32, level: usize, out: &mut Pending) {
        let mut follows_implicit = false;
        for element in uca::elements(self.root, code).list() {
            match level {
                0 => {
                    let primary = uca::primary_of(*element);
                    let moved = self.moves.iter().find(|m| !follows_implicit && (m.first..=m.last).contains(&primary));
                    match moved {
                        Some(m) => {
                            out.push(m.prefix);
                            out.push(m.to + (primary - m.first));
                        }
                        None => out.push(primary),
                    }
                    follows_implicit = !follows_implicit && primary >= uca::IMPLICIT;
                }
                1 => out.push(uca::secondary_of(*element)),
                2 => match uca::tertiary_of(*element) {
                    0 => {}
                    t => out.push(self.tertiaries[t as usize]),
                },
                _ => {}
            }
        }
    }
}

/// Weights that are to come before those of the next character.
struct Pending {
    list: [u16; 2 * uca::ELEMENTS_MAX],
    count: u8,
    next: u8,
}

impl Pending {
    /// Zeros are no weights.
    fn push(&mut self, weight: u16) {
        if weight != 0 {
            self.list[self.count as usize] = weight;
            self.count += 1;
        }
    }
}

/// The weights of a UTF-8 string at one level.
struct Weights<'s> {
    overlay: &'static Overlay,
    rest: &'s [u8],
    level: usize,
    own: &'static [u16],
    pending: Pending,
}

impl<'s> Weights<'s> {
    fn new(tailoring: Tailoring, s: &'s [u8], level: usize) -> Weights<'s> {
        let pending = Pending { list: [0; 2 * uca::ELEMENTS_MAX], count: 0, next: 0 };
        Weights { overlay: tailoring.overlay(), rest: s, level, own: &[], pending }
    }
}

impl Iterator for Weights<'_> {
    type Item = u16;

    fn next(&mut self) -> Option<u16> {
        loop {
            if let [first, rest @ ..] = self.own {
                self.own = rest;
                return Some(*first);
            }
            if self.pending.next < self.pending.count {
                self.pending.next += 1;
                return Some(self.pending.list[self.pending.next as usize - 1]);
            }
            if self.rest.is_empty() {
                return None;
            }
            let (code, length) = decode_utf8(self.rest);
            self.rest = &self.rest[length..];
            let slot = self.overlay.pages[self.overlay.page_of[code as usize >> 8] as usize][code as usize & 0xFF];
            if slot & HEAD != 0
                && let Some((entry, length)) = self.overlay.contraction(code, self.rest)
            {
                self.rest = &self.rest[length..];
                self.own = self.overlay.weights_of(entry, self.level);
            } else if slot & !HEAD != 0 {
                self.own = self.overlay.weights_of((slot & !HEAD) - 1, self.level);
            } else {
                (self.pending.count, self.pending.next) = (0, 0);
                self.overlay.root_weights(code, self.level, &mut self.pending);
            }
        }
    }
}

pub(super) fn compare(tailoring: Tailoring, a: &[u8], b: &[u8], last: Level) -> Ordering {
    if a == b {
        return Ordering::Equal;
    }
    (0..=last as usize)
        .map(|level| Weights::new(tailoring, a, level).cmp(Weights::new(tailoring, b, level)))
        .find(|order| order.is_ne())
        .unwrap_or(Ordering::Equal)
}

/// The shorter one filled up with blanks, for tailorings of DUCET 4.0.
pub(super) fn compare_padded(tailoring: Tailoring, a: &[u8], b: &[u8]) -> Ordering {
    uca::compare_padded(primaries(tailoring, a), primaries(tailoring, b), uca::SPACE)
}

pub(super) fn primaries(tailoring: Tailoring, s: &[u8]) -> impl Iterator<Item = u16> {
    Weights::new(tailoring, s, 0)
}

/// Each level ended by 0x0000, as those of the root.
pub(super) fn weights(tailoring: Tailoring, s: &[u8], last: Level, out: &mut Vec<u8>) {
    for level in 0..=last as usize {
        Weights::new(tailoring, s, level).for_each(|w| out.extend_from_slice(&w.to_be_bytes()));
        out.extend_from_slice(&[0, 0]);
    }
}

pub(super) fn hash<H: Hasher>(tailoring: Tailoring, s: &[u8], last: Level, state: &mut H) {
    for level in 0..=last as usize {
        Weights::new(tailoring, s, level).for_each(|w| state.write_u16(w));
    }
}

pub(super) fn char_equal(tailoring: Tailoring, a: u32, b: u32, last: Level) -> bool {
    let (mut x, mut y) = ([0; 4], [0; 4]);
    match (char::from_u32(a), char::from_u32(b)) {
        (Some(a), Some(b)) => {
            compare(tailoring, a.encode_utf8(&mut x).as_bytes(), b.encode_utf8(&mut y).as_bytes(), last).is_eq()
        }
        _ => a == b,
    }
}

#[cfg(test)]
mod tests {
    use crate::CollationId;

    #[test]
    fn languages_order_as_their_alphabets() {
        let sorted = |collation: &str, words: &[&str]| {
            let c = CollationId::by_name(collation).expect(collation);
            for pair in words.windows(2) {
                assert!(c.compare(pair[0].as_bytes(), pair[1].as_bytes()).is_lt(), "{collation} {pair:?}");
            }
        };
        sorted("utf8mb4_cs_0900_ai_ci", &["cz", "čas", "h", "hz", "ch", "i"]);
        sorted("utf8mb4_da_0900_ai_ci", &["a", "z", "æ", "ø", "å"]);
        sorted("utf8mb4_da_0900_as_cs", &["A", "a", "B", "z", "Å", "å", "aa"]);
        sorted("utf8mb4_ru_0900_ai_ci", &["1", "а", "я", "a", "z"]);
        sorted("utf8mb4_es_trad_0900_ai_ci", &["cz", "ch", "d", "lz", "ll", "m", "n", "ñ"]);
        sorted("utf8mb4_ja_0900_as_cs", &["z", "あ", "い", "亜", "一", "а"]);
        sorted("utf8mb4_ja_0900_as_cs_ks", &["あ", "ア", "い"]);
        sorted("utf8mb4_zh_0900_as_cs", &["啊", "一", "a"]);
        sorted("utf8mb4_swedish_ci", &["z", "å", "ä", "ö"]);
        sorted("utf8mb4_turkish_ci", &["h", "ı", "i"]);
        let danish = CollationId::by_name("utf8mb4_danish_ci").expect("danish");
        assert!(danish.equal("AA ".as_bytes(), "å".as_bytes()));
        assert!(danish.like("aa".as_bytes(), b"a%", None), "LIKE knows no contractions");
    }

    #[test]
    fn weights_are_those_that_a_server_shows() {
        for (collation, text, hex) in [
            ("utf8mb4_da_0900_as_cs", "aa", "1F9854A700000020000003020322"),
            ("utf8mb4_ja_0900_as_cs", "アー", "1FB61FB60000002000200000000E000C0021"),
            ("utf8mb4_ja_0900_as_cs_ks", "aか", "1C471FBC00000020002000000002000E00000002"),
            ("utf8mb4_zh_0900_as_cs", "啊", "1C4D0000002000000002"),
            ("utf8mb4_zh_0900_as_cs", "ß", "BFEEBFEE00000020011000200000000400040004"),
            ("utf8mb4_ja_0900_as_cs", "가", "FB863BF5FB863C73000000200020000000020002"),
            ("utf8mb4_danish_ci", "å", "106D"),
        ] {
            let mut out = Vec::new();
            CollationId::by_name(collation).expect(collation).sort_weights(text.as_bytes(), 0, &mut out);
            let got: String = out.iter().map(|b| format!("{b:02X}")).collect();
            assert_eq!(got, hex, "{collation} {text}");
        }
    }

    #[test]
    fn every_tailoring_can_be_read() {
        // It panics where the file is not what the format says.
        (0..super::COUNT).for_each(|index| drop(super::Overlay::unpack(index)));
    }
}
