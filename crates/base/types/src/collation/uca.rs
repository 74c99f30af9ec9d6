//! The Unicode Collation Algorithm: `utf8mb4_0900_*` (DUCET 9.0.0, up to three levels, NO PAD), `utf8mb4_unicode_ci` (DUCET
//! 4.0.0, primaries, PAD SPACE) and `utf8mb4_unicode_520_ci` (DUCET 5.2.0, likewise). Variable elements count as they stand
//! (non-ignorable), contractions do not take part, as in MySQL's root collations, so each character weighs by itself.
//!
//! Table files, little-endian, made by `tools/collation_tables.py` and `tools/observe_collations.py`:
//!
//! ```text
//! u32 pages | u32 elements | u16 page_of[0x1100] | u32 entry[pages * 256] | u32 element[elements]
//!
//! entry    0                          no entry: an implicit weight computed from the code point
//!          primary:16 secondary:9 tertiary:5 01    one collation element
//!          offset:25 count:5 10       `count` elements from `offset` on
//! element  primary:16 secondary:9 tertiary:5 01
//! ```

use crate::charset::decode_utf8;
use std::cmp::Ordering;
use std::hash::Hasher;

/// How many levels a collation compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    /// Letters: accent and case insensitive.
    Primary,
    /// And accents.
    Secondary,
    /// And case.
    Tertiary,
    /// And which kind of kana: `utf8mb4_ja_0900_as_cs_ks` alone.
    Quaternary,
}

/// The tables that collations stand on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Root {
    V900,
    V520,
    V400,
}

struct Table {
    bytes: &'static [u8],
}

static UCA900: Table = Table { bytes: include_bytes!("data/uca900.bin") };
static UCA520: Table = Table { bytes: include_bytes!("data/uca520.bin") };
static UCA400: Table = Table { bytes: include_bytes!("data/uca400.bin") };

const PAGE_OF_AT: usize = 8;
const ENTRIES_AT: usize = PAGE_OF_AT + 0x1100 * 2;

/// Most elements that one character has in any table.
pub(super) const ELEMENTS_MAX: usize = 18;

/// Weight of a space in DUCET 4.0 and 9.0, and in 5.2.
pub(super) const SPACE: u16 = 0x0209;
pub(super) const SPACE_520: u16 = 0x020A;

/// Primaries from here on are computed from the code point and followed by another one.
pub(super) const IMPLICIT: u16 = 0xFB00;

/// Primary weights of ASCII in DUCET 9.0; 0 for the controls that are ignored.
static ASCII: [u16; 128] = {
    let mut table = [0; 128];
    let mut code = 0;
    while code < 128 {
        table[code] = (UCA900.entry(code as u32) >> 16) as u16;
        code += 1;
    }
    table
};

impl Table {
    const fn u32_at(&self, at: usize) -> u32 {
        let b = self.bytes;
        u32::from_le_bytes([b[at], b[at + 1], b[at + 2], b[at + 3]])
    }

    #[inline]
    const fn entry(&self, code: u32) -> u32 {
        let at = PAGE_OF_AT + (code >> 8) as usize * 2;
        let page = u16::from_le_bytes([self.bytes[at], self.bytes[at + 1]]) as usize;
        self.u32_at(ENTRIES_AT + (page * 256 + (code & 0xFF) as usize) * 4)
    }

    const fn element(&self, index: u32) -> u32 {
        let pages = self.u32_at(0) as usize;
        self.u32_at(ENTRIES_AT + pages * 256 * 4 + index as usize * 4)
    }
}

const fn pack(primary: u32, secondary: u32, tertiary: u32) -> u32 {
    primary << 16 | secondary << 7 | tertiary << 2 | 1
}

#[inline]
pub(super) fn primary_of(element: u32) -> u16 {
    (element >> 16) as u16
}

#[inline]
pub(super) fn secondary_of(element: u32) -> u16 {
    (element >> 7 & 0x1FF) as u16
}

#[inline]
pub(super) fn tertiary_of(element: u32) -> u16 {
    (element >> 2 & 0x1F) as u16
}

/// The collation elements of one character.
pub(super) struct Elements {
    list: [u32; ELEMENTS_MAX],
    count: u8,
}

impl Elements {
    pub(super) fn list(&self) -> &[u32] {
        &self.list[..self.count as usize]
    }
}

/// Of any character.
pub(super) fn elements(root: Root, code: u32) -> Elements {
    match root {
        Root::V900 => elements_900(code),
        Root::V520 => elements_of_primaries(&UCA520, code),
        Root::V400 => elements_400(code),
    }
}

/// Everything but the single inline element.
#[cold]
fn elements_900(code: u32) -> Elements {
    let mut out = Elements { list: [0; ELEMENTS_MAX], count: 0 };
    let mut push = |element: u32| {
        out.list[out.count as usize] = element;
        out.count += 1;
    };
    match UCA900.entry(code) {
        0 if (0xAC00..0xD7B0).contains(&code) => {
            // Hangul syllables weigh as the letters they are composed of. MySQL gives those from U+D700 on tertiary 3.
            let index = code - 0xAC00;
            let trailing = index % 28;
            let letters = [0x1100 + index / 588, 0x1161 + index % 588 / 28, 0x11A7 + trailing];
            for letter in &letters[..2 + (trailing > 0) as usize] {
                let element = UCA900.entry(*letter);
                push(if code >= 0xD700 { element & !(0x1F << 2) | 3 << 2 } else { element });
            }
        }
        0 => {
            if (0x17000..0x18B00).contains(&code) {
                push(pack(0xFB00, 0x20, 2));
                push(pack((code - 0x17000) | 0x8000, 0, 0));
            } else {
                push(pack(implicit_base_900(code) + (code >> 15), 0x20, 2));
                push(pack((code & 0x7FFF) | 0x8000, 0, 0));
            }
        }
        entry if entry & 3 == 1 => push(entry),
        entry => {
            for i in 0..(entry >> 2 & 0x1F) {
                push(UCA900.element((entry >> 7) + i));
            }
        }
    }
    out
}

const fn implicit_base_900(code: u32) -> u32 {
    match code {
        0x4E00..=0x9FD5
        | 0xFA0E
        | 0xFA0F
        | 0xFA11
        | 0xFA13
        | 0xFA14
        | 0xFA1F
        | 0xFA21
        | 0xFA23
        | 0xFA24
        | 0xFA27..=0xFA29 => 0xFB40,
        0x3400..=0x4DB5 | 0x20000..=0x2A6D6 | 0x2A700..=0x2B734 | 0x2B740..=0x2B81D | 0x2B820..=0x2CEA1 => 0xFB80,
        _ => 0xFBC0,
    }
}

#[cold]
fn elements_400(code: u32) -> Elements {
    if code > 0xFFFF {
        let mut out = Elements { list: [0; ELEMENTS_MAX], count: 1 };
        out.list[0] = pack(0xFFFD, 0, 0);
        return out;
    }
    elements_of_primaries(&UCA400, code)
}

fn elements_of_primaries(table: &Table, code: u32) -> Elements {
    let mut out = Elements { list: [0; ELEMENTS_MAX], count: 1 };
    match table.entry(code) {
        0 => {
            let base = match code {
                0x3400..=0x4DB5 => 0xFB80,
                0x4E00..=0x9FA5 => 0xFB40,
                _ => 0xFBC0,
            };
            out.list[0] = pack(base + (code >> 15), 0, 0);
            out.list[1] = pack((code & 0x7FFF) | 0x8000, 0, 0);
            out.count = 2;
        }
        entry if entry & 3 == 1 => out.list[0] = entry,
        entry => {
            out.count = (entry >> 2 & 0x1F) as u8;
            for i in 0..out.count {
                out.list[i as usize] = table.element((entry >> 7) + i as u32);
            }
        }
    }
    out
}

/// The weights of a string at one level, without the ignored (zero) ones.
struct Weights<'s> {
    rest: &'s [u8],
    root: Root,
    level: Level,
    pending: Elements,
    next: u8,
}

impl<'s> Weights<'s> {
    #[inline]
    fn new(s: &'s [u8], level: Level, root: Root) -> Weights<'s> {
        Weights { rest: s, root, level, pending: Elements { list: [0; ELEMENTS_MAX], count: 0 }, next: 0 }
    }

    #[inline]
    fn of(&self, element: u32) -> u16 {
        match self.level {
            Level::Primary => primary_of(element),
            Level::Secondary => secondary_of(element),
            Level::Tertiary => tertiary_of(element),
            // The roots have no weights there.
            Level::Quaternary => 0,
        }
    }
}

impl Iterator for Weights<'_> {
    type Item = u16;

    #[inline]
    fn next(&mut self) -> Option<u16> {
        loop {
            let element = if self.next < self.pending.count {
                self.next += 1;
                self.pending.list[self.next as usize - 1]
            } else {
                if self.rest.is_empty() {
                    return None;
                }
                let (code, length) = decode_utf8(self.rest);
                self.rest = &self.rest[length..];
                let entry = match self.root {
                    Root::V900 => UCA900.entry(code),
                    Root::V520 => UCA520.entry(code),
                    Root::V400 if code <= 0xFFFF => UCA400.entry(code),
                    Root::V400 => 0,
                };
                if entry & 3 != 1 {
                    self.pending = elements(self.root, code);
                    self.next = 0;
                    continue;
                }
                entry
            };
            match self.of(element) {
                0 => {}
                weight => return Some(weight),
            }
        }
    }
}

/// Splits off what two strings have in common, at a character boundary.
#[inline]
fn skip_common<'s>(a: &'s [u8], b: &'s [u8]) -> (&'s [u8], &'s [u8]) {
    let mut same = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    while same > 0 && (a.get(same).is_some_and(is_continuation) || b.get(same).is_some_and(is_continuation)) {
        same -= 1;
    }
    (&a[same..], &b[same..])
}

#[inline]
fn is_continuation(b: &u8) -> bool {
    b & 0xC0 == 0x80
}

pub(super) fn compare(a: &[u8], b: &[u8], level: Level) -> Ordering {
    let (a, b) = skip_common(a, b);
    if a.is_empty() && b.is_empty() {
        return Ordering::Equal;
    }
    let mut order = compare_primary(a, b);
    if order.is_eq() && level >= Level::Secondary {
        order = Weights::new(a, Level::Secondary, Root::V900).cmp(Weights::new(b, Level::Secondary, Root::V900));
    }
    if order.is_eq() && level >= Level::Tertiary {
        order = Weights::new(a, Level::Tertiary, Root::V900).cmp(Weights::new(b, Level::Tertiary, Root::V900));
    }
    order
}

fn compare_primary(a: &[u8], b: &[u8]) -> Ordering {
    // ASCII against ASCII, the common case, needs no decoding; an ignored control leaves the fast path.
    let mut i = 0;
    while let (Some(x), Some(y)) = (a.get(i), b.get(i))
        && (x | y) < 0x80
    {
        let (wx, wy) = (ASCII[*x as usize], ASCII[*y as usize]);
        if wx == 0 || wy == 0 {
            break;
        }
        if wx != wy {
            return wx.cmp(&wy);
        }
        i += 1;
    }
    Weights::new(&a[i..], Level::Primary, Root::V900).cmp(Weights::new(&b[i..], Level::Primary, Root::V900))
}

/// Appends the primaries of the ASCII characters at the front of `s`, eight at a time; returns how many characters those are.
#[inline]
fn ascii_weights(s: &[u8], out: &mut Vec<u8>) -> usize {
    let start = out.len();
    out.resize(start + s.len() * 2, 0);
    let mut used = 0;
    for (eight, weights) in s.chunks_exact(8).zip(out[start..].chunks_exact_mut(16)) {
        if u64::from_ne_bytes(eight.try_into().expect("eight bytes")) & 0x8080_8080_8080_8080 != 0 {
            break;
        }
        let mut ignored = false;
        for (b, weight) in eight.iter().zip(weights.chunks_exact_mut(2)) {
            let w = ASCII[(*b & 0x7F) as usize];
            ignored |= w == 0;
            weight.copy_from_slice(&w.to_be_bytes());
        }
        if ignored {
            break;
        }
        used += 8;
    }
    out.truncate(start + used * 2);
    while let Some(b) = s.get(used)
        && *b < 0x80
    {
        let weight = ASCII[*b as usize];
        if weight != 0 {
            out.extend_from_slice(&weight.to_be_bytes());
        }
        used += 1;
    }
    used
}

/// The first four primaries, most significant first, filled up with zeros: orders as the strings do, as far as it differs.
#[inline]
pub(super) fn leading(s: &[u8]) -> u64 {
    if let Some(four) = s.first_chunk::<4>() {
        let w = four.map(|b| if b < 0x80 { ASCII[b as usize] } else { 0 });
        if w.iter().all(|w| *w != 0) {
            return w.iter().fold(0, |all, w| all << 16 | *w as u64);
        }
    }
    super::first_units(Weights::new(s, Level::Primary, Root::V900), 0)
}

/// Appends 16-bit weights, each level ended by 0x0000 (no weight is zero): the order of the bytes is the collation's, and
/// no weight string is a prefix of another.
/// The first of the levels of [`weights`], without its end.
pub(super) fn primaries(s: &[u8]) -> impl Iterator<Item = u16> {
    Weights::new(s, Level::Primary, Root::V900)
}

pub(super) fn weights(s: &[u8], level: Level, out: &mut Vec<u8>) {
    let ascii = ascii_weights(s, out);
    for weight in Weights::new(&s[ascii..], Level::Primary, Root::V900) {
        out.extend_from_slice(&weight.to_be_bytes());
    }
    out.extend_from_slice(&[0, 0]);
    for further in [Level::Secondary, Level::Tertiary] {
        if further <= level {
            for weight in Weights::new(s, further, Root::V900) {
                out.extend_from_slice(&weight.to_be_bytes());
            }
            out.extend_from_slice(&[0, 0]);
        }
    }
}

pub(super) fn hash<H: Hasher>(s: &[u8], level: Level, state: &mut H) {
    for l in [Level::Primary, Level::Secondary, Level::Tertiary] {
        if l <= level {
            for weight in Weights::new(s, l, Root::V900) {
                state.write_u16(weight);
            }
        }
    }
}

/// Of primaries alone, PAD SPACE.
pub(super) fn compare_primaries(root: Root, a: &[u8], b: &[u8]) -> Ordering {
    let (a, b) = skip_common(a, b);
    compare_padded(primaries_of(root, a), primaries_of(root, b), space(root))
}

pub(super) fn compare_padded(
    mut a: impl Iterator<Item = u16>,
    mut b: impl Iterator<Item = u16>,
    space: u16,
) -> Ordering {
    loop {
        let (x, y) = (a.next(), b.next());
        if x.is_none() && y.is_none() {
            return Ordering::Equal;
        }
        let order = x.unwrap_or(space).cmp(&y.unwrap_or(space));
        if order.is_ne() {
            return order;
        }
    }
}

/// What a blank weighs.
pub(super) fn space(root: Root) -> u16 {
    if root == Root::V520 { SPACE_520 } else { SPACE }
}

/// The primaries of `utf8mb4_unicode_ci` and its like.
pub(super) fn primaries_of(root: Root, s: &[u8]) -> impl Iterator<Item = u16> {
    Weights::new(s, Level::Primary, root)
}

pub(super) fn char_equal(a: u32, b: u32, level: Level) -> bool {
    let (a, b) = (elements_900(a), elements_900(b));
    let mask = match level {
        Level::Primary => 0xFFFF_0000,
        Level::Secondary => 0xFFFF_FF80,
        Level::Tertiary | Level::Quaternary => 0xFFFF_FFFF,
    };
    same_elements(&a, &b, mask)
}

pub(super) fn char_equal_primaries(root: Root, a: u32, b: u32) -> bool {
    same_elements(&elements(root, a), &elements(root, b), 0xFFFF_0000)
}

fn same_elements(a: &Elements, b: &Elements, mask: u32) -> bool {
    let used =
        |e: &Elements| e.list[..e.count as usize].iter().map(|x| x & mask).filter(|x| *x != 0).collect::<Vec<_>>();
    a.count == b.count && a.list.iter().zip(&b.list).all(|(x, y)| x & mask == y & mask) || used(a) == used(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ducet_order_of_ascii_and_levels() {
        let order = |a: &str, b: &str, level| compare(a.as_bytes(), b.as_bytes(), level);
        let sorted = [
            "", " ", "_", "-", ",", "!", "\"", "(", "@", "*", "`", "+", "<", "$", "0", "9", "a", "B", "c", "z", "α",
            "日",
        ];
        for pair in sorted.windows(2) {
            assert!(order(pair[0], pair[1], Level::Primary).is_lt(), "{pair:?}");
        }
        assert!(order("résumé", "RESUME", Level::Primary).is_eq());
        assert!(order("résumé", "resume", Level::Secondary).is_gt());
        assert!(order("Resume", "resume", Level::Secondary).is_eq());
        assert!(order("Resume", "resume", Level::Tertiary).is_gt());
        assert!(order("ß", "ss", Level::Primary).is_eq());
        assert!(order("a ", "a", Level::Primary).is_gt(), "NO PAD");
        assert!(order("a\u{0}b", "ab", Level::Tertiary).is_eq(), "ignored control");
        assert!(compare_primaries(Root::V400, b"a  ", b"A").is_eq(), "PAD SPACE");
    }

    #[test]
    fn weights_of_known_characters() {
        // As WEIGHT_STRING() of a MySQL server shows them, with the end marks between and after the levels.
        for (text, hex) in [
            ("é", "1CAA0000002000240000000200020000"),
            ("\u{133}", "1D321D4C00000020002000000004"),
            ("가", "3BF53C730000002000200000000200020000"),
            ("日", "FB40E5E500000020000000020000"),
            ("\u{FDFA}", "2364239C23C50209230B239C239C23B10000"),
            ("\u{D7AF}", "3C083C733CDB00000020002000200000000300030003"),
            ("\u{10FFFF}", "FBE1FFFF000000200000"),
        ] {
            let mut out = Vec::new();
            weights(text.as_bytes(), Level::Tertiary, &mut out);
            let got: String = out.iter().map(|b| format!("{b:02X}")).collect();
            assert!(got.starts_with(hex), "{text}: {got}");
        }
    }
}
