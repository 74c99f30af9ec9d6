//! The order of rows by the first bytes of their keys: small entries are sorted, by radix where few bits differ, and rows are
//! looked at only where those bytes are the same.

/// A row to be sorted: the first bytes or weights of its key, which tell most rows apart, and its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    pub leading: u64,
    pub row: u32,
}

/// The bytes of an encoded key from `from` on, with zeros behind a shorter one.
#[inline]
pub fn leading_bytes(key: &[u8], from: usize) -> u64 {
    if let Some(bytes) = key.get(from..from + 8) {
        return u64::from_be_bytes(bytes.try_into().expect("eight bytes"));
    }
    let mut leading = [0; 8];
    if let Some(rest) = key.get(from..) {
        leading[..rest.len()].copy_from_slice(rest);
    }
    u64::from_be_bytes(leading)
}

/// Entries of keys in the order of their rows, led by what comes behind the bytes that all keys begin with; and whether these alone
/// say what is equal.
pub fn entries<'k>(count: usize, key: impl Fn(usize) -> &'k [u8]) -> (Vec<Entry>, bool) {
    let first = if count == 0 { &[] } else { key(0) };
    let mut shared = first.len();
    let mut is_one_length = true;
    for i in 1..count {
        let key = key(i);
        is_one_length &= key.len() == first.len();
        if key.get(..shared) != Some(&first[..shared]) {
            shared = key.iter().zip(&first[..shared]).take_while(|(a, b)| a == b).count();
        }
    }
    let of = |i: usize| Entry { leading: leading_bytes(key(i), shared), row: i as u32 };
    ((0..count).map(of).collect(), is_one_length && first.len() <= shared + 8)
}

/// Sorts by the leading bytes; entries of the same stay in the order in which they are.
pub fn sort(entries: &mut Vec<Entry>) {
    /// Fewer are compared with each other.
    const RADIX_MIN: usize = 256;
    /// Passes beyond which comparing takes less.
    const PASSES_MAX: u32 = 5;
    const BITS: u32 = 8;
    let (mut differ, mut sorted) = (0, true);
    for pair in entries.windows(2) {
        differ |= pair[0].leading ^ pair[1].leading;
        sorted &= pair[0].leading <= pair[1].leading;
    }
    if sorted {
        return;
    }
    let (from, to) = (differ.trailing_zeros(), u64::BITS - differ.leading_zeros());
    if entries.len() < RADIX_MIN || (to - from).div_ceil(BITS) > PASSES_MAX {
        return entries.sort_by_key(|e| e.leading);
    }
    let mut other = vec![Entry { leading: 0, row: 0 }; entries.len()];
    for shift in (from..to).step_by(BITS as usize) {
        let digit = |e: &Entry| (e.leading >> shift) as usize & ((1 << BITS) - 1);
        let mut places = [0usize; 1 << BITS];
        entries.iter().for_each(|e| places[digit(e)] += 1);
        let mut next = 0;
        for place in &mut places {
            next += std::mem::replace(place, next);
        }
        for e in entries.iter() {
            let place = &mut places[digit(e)];
            other[*place] = *e;
            *place += 1;
        }
        std::mem::swap(entries, &mut other);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers that look as if drawn, the same ones each time.
    fn numbers(count: usize) -> impl Iterator<Item = u64> {
        (0..count as u64).map(|i| (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29).wrapping_mul(0xbf58_476d))
    }

    #[test]
    fn entries_are_sorted_as_by_comparison() {
        for mask in [0, 1, 0xff, 0xff00, 0xff_00ff, 0xffff_ffff_0000, u64::MAX, 1 << 63, 0x8000_0000_0000_0001] {
            for count in [0, 1, 2, 255, 256, 257, 5000] {
                let new = |(row, n): (usize, u64)| Entry { leading: n & mask, row: row as u32 };
                let mut sorted: Vec<Entry> = numbers(count).enumerate().map(new).collect();
                let mut expected = sorted.clone();
                expected.sort_by_key(|e| (e.leading, e.row));
                sort(&mut sorted);
                assert_eq!(sorted, expected, "{count} entries of {mask:x}");
            }
        }
    }

    #[test]
    fn leading_bytes_order_as_keys_do() {
        let keys: [&[&[u8]]; 5] = [
            &[],
            &[b"same"],
            &[b"prefix/a", b"prefix/b", b"prefix/", b"prefix/abcdefghi", b"prefix/abcdefghj"],
            &[b"\x01\x80aaaaaaaa", b"\x01\x80aaaaaaab", b"\x01\x80aaaabaaa"],
            &[b"\x01one key that is long", b"\x00", b"\x01one key that is longer"],
        ];
        for keys in keys {
            let (found, exact) = entries(keys.len(), |i| keys[i]);
            for a in &found {
                for b in &found {
                    let (x, y) = (keys[a.row as usize], keys[b.row as usize]);
                    let order = a.leading.cmp(&b.leading);
                    assert!(order.is_eq() && (!exact || x == y) || order == x.cmp(y), "{x:?} {y:?}");
                }
            }
        }
    }
}
