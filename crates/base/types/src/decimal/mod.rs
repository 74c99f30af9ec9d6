//! Exact DECIMAL(65,30): sign, up to 77 digits as a 256-bit integer, and how many of them stand behind the point.
//!
//! Arithmetic follows MySQL's, whose decimals are made of words of 9 digits, 9 words at most: digits that do not find
//! room are cut off behind the point, or overflow before it. Rounding is half away from zero.

mod wide;

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use wide::{POWERS, WIDE_DIGITS, Wide, div_rem, narrow};

/// Digits of a word in MySQL's representation, and words of a number.
const WORD_DIGITS: u32 = 9;
const WORDS_MAX: u32 = 9;

/// Digits that fit 64 bits, in whole words.
const SMALL_DIGITS: u32 = 18;

/// Powers of ten, up to that of a word.
const TENS: [u64; 10] = {
    let mut powers = [1; 10];
    let mut i = 1;
    while i < 10 {
        powers[i] = powers[i - 1] * 10;
        i += 1;
    }
    powers
};

/// Bytes that a word with so many digits takes in the binary form.
const WORD_BYTES: [usize; 10] = [0, 1, 1, 2, 2, 3, 3, 4, 4, 4];

/// An exact decimal number. Equal numbers of different scale (1.0 and 1.00) are equal and hash alike.
#[derive(Clone, Copy)]
pub struct Decimal {
    /// The digits as an integer: the number is `±digits / 10^scale`.
    digits: Wide,
    scale: u8,
    /// Never set for zero.
    negative: bool,
}

/// What became of a text that was parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parsed {
    Exact,
    /// Digits behind the point were cut off that MySQL keeps, since its numbers have up to 81.
    Inexact,
    /// Digits behind the point were cut off.
    Truncated,
    /// More digits before the point than a DECIMAL has; the value is the largest of its sign.
    Overflow,
    /// No number at the start; the value is 0.
    Bad,
}

impl Decimal {
    pub const MAX_PRECISION: u32 = 65;
    /// Digits of a number that is computed, before a column takes it.
    pub const COMPUTED_MAX: u32 = WORDS_MAX * WORD_DIGITS;
    pub const MAX_SCALE: u8 = 30;
    pub const ZERO: Decimal = Decimal { digits: Wide::ZERO, scale: 0, negative: false };
    pub const ONE: Decimal = Decimal { digits: Wide([1, 0, 0, 0]), scale: 0, negative: false };

    #[inline]
    const fn make(negative: bool, digits: Wide, scale: u8) -> Decimal {
        Decimal { negative: negative && !digits.is_zero(), digits, scale }
    }

    /// `±digits / 10^scale`.
    pub const fn from_parts(negative: bool, digits: u128, scale: u8) -> Decimal {
        assert!(scale <= WIDE_DIGITS as u8);
        Decimal::make(negative, Wide::from_u128(digits), scale)
    }

    /// The nearest DECIMAL that prints like the double (shortest digits that read back as it); `None` for out of range,
    /// infinite and NaN.
    pub fn from_f64(v: f64) -> Option<Decimal> {
        if !v.is_finite() {
            return None;
        }
        let mut text = Vec::with_capacity(32);
        crate::number::write_f64(v, &mut text);
        match Decimal::parse_prefix(&text) {
            (_, _, Parsed::Overflow | Parsed::Bad) => None,
            (decimal, _, _) => Some(decimal),
        }
    }

    /// The largest number of a DECIMAL(precision, scale): all nines.
    pub fn max_value(precision: u32, scale: u8, negative: bool) -> Decimal {
        let digits = POWERS[precision.min(WIDE_DIGITS) as usize].sub(Wide([1, 0, 0, 0]));
        Decimal::make(negative, digits, scale)
    }

    #[inline]
    pub const fn scale(&self) -> u8 {
        self.scale
    }

    #[inline]
    pub const fn is_negative(&self) -> bool {
        self.negative
    }

    #[inline]
    pub const fn is_zero(&self) -> bool {
        self.digits.is_zero()
    }

    /// Digits before the point, without leading zeros; 0 for 0.5.
    pub fn integer_digits(&self) -> u32 {
        self.digits.digits().saturating_sub(self.scale as u32)
    }

    /// Digits in all, MySQL's way: at least 1, and those behind the point always count.
    pub fn precision(&self) -> u32 {
        (self.integer_digits() + self.scale as u32).max(1)
    }

    pub const fn neg(self) -> Decimal {
        Decimal::make(!self.negative, self.digits, self.scale)
    }

    pub const fn abs(self) -> Decimal {
        Decimal { negative: false, ..self }
    }

    /// Sum; the scale is the larger one. `None`: overflow (MySQL 1690).
    pub fn checked_add(self, other: Decimal) -> Option<Decimal> {
        let scale = self.scale.max(other.scale);
        if let (Some(a), Some(b)) = (self.small_at(scale), other.small_at(scale)) {
            // Below 2^127 each, so that neither the sum nor the difference leaves the range of i128.
            let a = if self.negative { -(a as i128) } else { a as i128 };
            let b = if other.negative { -(b as i128) } else { b as i128 };
            if let Some(sum) = a.checked_add(b) {
                return Some(Decimal::make(sum < 0, Wide::from_u128(sum.unsigned_abs()), scale));
            }
        }
        let a = self.digits.scale_up((scale - self.scale) as u32)?;
        let b = other.digits.scale_up((scale - other.scale) as u32)?;
        let sum = if self.negative == other.negative {
            Decimal::make(self.negative, a.checked_add(b)?, scale)
        } else if a >= b {
            Decimal::make(self.negative, a.sub(b), scale)
        } else {
            Decimal::make(other.negative, b.sub(a), scale)
        };
        sum.fit_words()
    }

    pub fn checked_sub(self, other: Decimal) -> Option<Decimal> {
        self.checked_add(other.neg())
    }

    /// Product; the scale is the sum of both, 30 at most, and cut where 9 words do not hold it. `None`: overflow (MySQL 1690).
    pub fn checked_mul(self, other: Decimal) -> Option<Decimal> {
        let product = self.whole_product(other)?;
        // With zeros, where digits had no room: those of a shorter scale stay away.
        let is_longer = self.scale + other.scale > Decimal::MAX_SCALE;
        Some(if is_longer { product.round(Decimal::MAX_SCALE) } else { product })
    }

    fn whole_product(self, other: Decimal) -> Option<Decimal> {
        let negative = self.negative != other.negative;
        let scale = self.scale as u32 + other.scale as u32;
        if let (Some(a), Some(b)) = (self.digits.small(), other.digits.small())
            && let Some(product) = a.checked_mul(b)
            && scale <= Decimal::MAX_SCALE as u32
        {
            return Some(Decimal::make(negative, Wide::from_u128(product), scale as u8));
        }
        let integer_words = words(self.integer_digits()) + words(other.integer_digits());
        if integer_words > WORDS_MAX {
            return None;
        }
        let mut keep = if integer_words + words(scale) > WORDS_MAX {
            ((WORDS_MAX - integer_words) * WORD_DIGITS).min(scale)
        } else {
            scale
        };
        let full = self.digits.full_mul(other.digits);
        // 9 words can hold 81 digits, 256 bits only 77: the last word behind the point then has no room either.
        let digits = loop {
            match POWERS.get((scale - keep) as usize).and_then(|power| narrow(div_rem(full, *power).0)) {
                Some(digits) => break digits,
                None if keep == 0 => return None,
                None => keep -= 1 + (keep - 1) % WORD_DIGITS,
            }
        };
        Decimal::make(negative, digits, u8::try_from(keep).ok()?).fit_words()
    }

    /// Quotient with `scale_increment` (div_precision_increment, 4 by default) more digits behind the point than `self`
    /// has, 30 at most. As in MySQL it is computed to full words, cut there, and rounded: so 2/3*3 is 2.0001.
    /// `None` when `other` is zero or the result overflows; ask [`Decimal::is_zero`] first.
    pub fn checked_div(self, other: Decimal, scale_increment: u32) -> Option<Decimal> {
        if other.is_zero() {
            return None;
        }
        let target = (self.scale as u32 + scale_increment).min(Decimal::MAX_SCALE as u32) as u8;
        let full = |scale: u8| words(scale as u32) * WORD_DIGITS;
        let (scale_a, scale_b) = (full(self.scale), full(other.scale));
        let spare = (scale_a - self.scale as u32) + (scale_b - other.scale as u32);
        let mut scale = words(scale_a + scale_b + scale_increment.saturating_sub(spare)) * WORD_DIGITS;
        let integer =
            (self.integer_digits() + other.scale as u32 + 1).saturating_sub(other.digits.digits().max(1)).max(1);
        while scale > 0 && words(integer.min(WORDS_MAX * WORD_DIGITS)) + words(scale) > WORDS_MAX {
            scale -= WORD_DIGITS;
        }
        loop {
            // self.digits / 10^sa / (other.digits / 10^sb) * 10^scale
            let shift = scale as i32 + other.scale as i32 - self.scale as i32;
            let quotient = if shift >= 0 {
                if let (Some(a), Some(b), Some(p)) =
                    (self.digits.small(), other.digits.small(), POWERS.get(shift as usize).and_then(|p| p.small()))
                    && let Some(dividend) = a.checked_mul(p)
                {
                    Some(Wide::from_u128(dividend / b))
                } else if shift as u32 <= WIDE_DIGITS {
                    narrow(div_rem(self.digits.full_mul(POWERS[shift as usize]), other.digits).0)
                } else {
                    None
                }
            } else {
                let (cut, _) = self.digits.div_power(shift.unsigned_abs());
                narrow(div_rem(wide::widen(cut), other.digits).0)
            };
            match quotient.and_then(|q| Decimal::make(self.negative != other.negative, q, scale as u8).fit_words()) {
                Some(result) => return Some(result.round(target)),
                None if scale == 0 => return None,
                None => scale -= WORD_DIGITS.min(scale),
            }
        }
    }

    /// Remainder with the sign of `self`, as `%` and MOD; `None` when `other` is zero.
    pub fn checked_rem(self, other: Decimal) -> Option<Decimal> {
        if other.is_zero() {
            return None;
        }
        let scale = self.scale.max(other.scale);
        let full = |d: Decimal| d.digits.full_mul(POWERS[(scale - d.scale) as usize]);
        let b = narrow(full(other));
        let remainder = match b {
            Some(b) => div_rem(full(self), b).1,
            // The divisor needs more than 77 digits at that scale, so it is larger than anything that `self` can be.
            None => narrow(full(self))?,
        };
        Some(Decimal::make(self.negative, remainder, scale))
    }

    /// Quotient cut to an integer, as DIV.
    pub fn checked_div_integer(self, other: Decimal) -> Option<Decimal> {
        if other.is_zero() {
            return None;
        }
        let scale = self.scale.max(other.scale);
        let a = self.digits.full_mul(POWERS[(scale - self.scale) as usize]);
        let b = narrow(other.digits.full_mul(POWERS[(scale - other.scale) as usize]));
        let quotient = match b {
            Some(b) => narrow(div_rem(a, b).0)?,
            None => Wide::ZERO,
        };
        Some(Decimal::make(self.negative != other.negative, quotient, 0))
    }

    /// With exactly `scale` digits behind the point, half away from zero. A scale too large for the digits to fit stays
    /// as large as it can be.
    pub fn round(self, scale: u8) -> Decimal {
        match self.scale.cmp(&scale) {
            Ordering::Equal => self,
            Ordering::Less => self.extend(scale),
            Ordering::Greater => {
                let cut = (self.scale - scale) as u32;
                let digits = match self.digits.small() {
                    Some(v) => {
                        let (quotient, remainder, power) = match POWERS[cut as usize].small() {
                            Some(p) => (v / p, v % p, p),
                            None => (0, v, u128::MAX),
                        };
                        Wide::from_u128(quotient + (remainder >= power - remainder) as u128)
                    }
                    None => {
                        let (quotient, remainder) = self.digits.div_power(cut);
                        let up = remainder >= POWERS[cut as usize].sub(remainder);
                        if up { quotient.checked_add(Wide([1, 0, 0, 0])).unwrap_or(quotient) } else { quotient }
                    }
                };
                Decimal::make(self.negative, digits, scale)
            }
        }
    }

    /// With exactly `scale` digits behind the point, the rest cut off, as TRUNCATE.
    pub fn truncate(self, scale: u8) -> Decimal {
        if scale >= self.scale {
            return self.extend(scale);
        }
        Decimal::make(self.negative, self.digits.div_power((self.scale - scale) as u32).0, scale)
    }

    /// Rounds or cuts before the point: ROUND(x, -digits), TRUNCATE(x, -digits).
    pub fn round_integer(self, digits: u32, cut_only: bool) -> Decimal {
        let total = digits + self.scale as u32;
        let Some(power) = POWERS.get(total as usize) else { return Decimal::ZERO };
        let (quotient, remainder) = self.digits.div_power(total);
        let up = !cut_only && remainder >= power.sub(remainder);
        let quotient = if up { quotient.checked_add(Wide([1, 0, 0, 0])).unwrap_or(quotient) } else { quotient };
        Decimal::make(self.negative, quotient.scale_up(digits).unwrap_or(Wide::ZERO), 0)
    }

    /// The largest integer not above (FLOOR).
    pub fn floor(self) -> Decimal {
        self.toward(true)
    }

    /// The smallest integer not below (CEILING).
    pub fn ceiling(self) -> Decimal {
        self.toward(false)
    }

    fn toward(self, negative: bool) -> Decimal {
        let (quotient, remainder) = self.digits.div_power(self.scale as u32);
        let away = !remainder.is_zero() && self.negative == negative;
        let quotient = if away { quotient.checked_add(Wide([1, 0, 0, 0])).unwrap_or(quotient) } else { quotient };
        Decimal::make(self.negative, quotient, 0)
    }

    /// Whether the number is one of DECIMAL(precision, scale) after rounding to `scale`.
    pub fn fits(self, precision: u32, scale: u8) -> bool {
        self.round(scale).digits.digits() <= precision
    }

    /// As an integer, rounded half away from zero. `Err` holds the nearest bound.
    pub fn to_i64(self) -> Result<i64, i64> {
        let limit = if self.negative { i64::MIN } else { i64::MAX };
        match self.round(0).digits.small() {
            Some(v) if v <= limit.unsigned_abs() as u128 => {
                Ok(if self.negative { (v as i64).wrapping_neg() } else { v as i64 })
            }
            _ => Err(limit),
        }
    }

    /// As an unsigned integer, rounded half away from zero. `Err` holds the nearest bound.
    pub fn to_u64(self) -> Result<u64, u64> {
        let rounded = self.round(0);
        if rounded.negative {
            return Err(0);
        }
        rounded.digits.small().and_then(|v| u64::try_from(v).ok()).ok_or(u64::MAX)
    }

    pub fn to_f64(self) -> f64 {
        // Both exact in a double, and 10^22 the last such power: one correctly rounded division.
        const EXACT: u128 = 1 << 53;
        if let (Some(v), Some(p)) = (self.digits.small(), EXACT_POWERS.get(self.scale as usize))
            && v <= EXACT
        {
            let magnitude = v as f64 / p;
            return if self.negative { -magnitude } else { magnitude };
        }
        self.to_string().parse().expect("a printed decimal reads as a double")
    }

    /// Appends the number in MySQL's form: at least one digit before the point, exactly `scale` behind it.
    pub fn write(self, out: &mut Vec<u8>) {
        if self.negative {
            out.push(b'-');
        }
        let mut buffer = [b'0'; 80];
        let mut at = buffer.len();
        let mut put = |mut v: u64, least: usize| {
            let stop = at - least;
            while v > 0 || at > stop {
                at -= 1;
                buffer[at] = b'0' + (v % 10) as u8;
                v /= 10;
            }
        };
        const CHUNK: u64 = 10_000_000_000_000_000_000;
        let mut rest = self.digits;
        while rest.0[1] | rest.0[2] | rest.0[3] != 0 {
            let (quotient, chunk) = rest.div_small(CHUNK);
            put(chunk, 19);
            rest = quotient;
        }
        put(rest.0[0], 0);
        // The zeros of 0.005 that the integer does not have.
        let start = at.min(buffer.len() - 1 - self.scale as usize);
        let point = buffer.len() - self.scale as usize;
        out.extend_from_slice(&buffer[start..point]);
        if self.scale > 0 {
            out.push(b'.');
            out.extend_from_slice(&buffer[point..]);
        }
    }

    /// Reads a whole text, blanks around it allowed. The second part tells what was lost; junk behind counts as `Truncated`.
    pub fn parse(text: &[u8]) -> (Decimal, Parsed) {
        let (decimal, used, parsed) = Decimal::parse_prefix(text);
        let junk = text[used..].iter().any(|b| !b.is_ascii_whitespace());
        (decimal, if junk && parsed == Parsed::Exact { Parsed::Truncated } else { parsed })
    }

    /// Reads the number at the start of a text: blanks, sign, digits, point, digits, exponent. Returns how many bytes it took.
    pub fn parse_prefix(text: &[u8]) -> (Decimal, usize, Parsed) {
        let Some(scan) = crate::number::scan(text) else { return (Decimal::ZERO, 0, Parsed::Bad) };
        if scan.exponent.abs() == crate::number::EXPONENT_MAX
            && let Some((decimal, status)) = far_exponent(&text[..scan.length])
        {
            return (decimal, scan.length, status);
        }
        let mut status = Parsed::Exact;
        let integer = strip_zeros(scan.integer);
        let exponent = scan.exponent;
        let digit_at = |i: usize| -> u64 {
            let b = if i < integer.len() { integer[i] } else { scan.fraction[i - integer.len()] };
            (b - b'0') as u64
        };
        let count = integer.len() + scan.fraction.len();
        let significant = (0..count).any(|i| digit_at(i) != 0);
        // Digits before and behind the point once the exponent has moved it.
        let before = integer.len() as i64 + exponent as i64;
        let behind = scan.fraction.len() as i64 - exponent as i64;
        if !significant {
            let scale = behind.clamp(0, Decimal::MAX_SCALE as i64) as u8;
            return (Decimal { scale, ..Decimal::ZERO }, scan.length, status);
        }
        let leading = (0..count).take_while(|i| digit_at(*i) == 0).count() as i64;
        if before - leading > Decimal::MAX_PRECISION as i64 {
            let largest = Decimal::max_value(Decimal::MAX_PRECISION, 0, scan.negative);
            return (largest, scan.length, Parsed::Overflow);
        }
        let words_left = (WORDS_MAX - words((before - leading).max(0) as u32)) * WORD_DIGITS;
        let room = words_left.min(WIDE_DIGITS - 1 - (before - leading).max(0) as u32).min(72) as i64;
        let scale = behind.clamp(0, room);
        let take = (before + scale).clamp(0, count as i64) as usize;
        if let Some(last) = (take..count).rev().find(|i| digit_at(*i) != 0) {
            let lost = last as i64 >= before + words_left as i64;
            status = if lost { Parsed::Truncated } else { Parsed::Inexact };
        }
        let mut digits = Wide::ZERO;
        let mut i = 0;
        while i < take {
            let mut chunk = 0;
            let mut n = 0;
            while n < 18 && i < take {
                chunk = chunk * 10 + digit_at(i);
                n += 1;
                i += 1;
            }
            digits = digits
                .scale_up(n)
                .expect("fits: digits were counted")
                .checked_add(Wide([chunk, 0, 0, 0]))
                .expect("fits");
        }
        // 1e3: zeros that the text does not spell out.
        let zeros = (before + scale - take as i64).max(0) as u32;
        let digits = if digits.is_zero() { digits } else { digits.scale_up(zeros).expect("fits: digits were counted") };
        (Decimal::make(scan.negative, digits, scale as u8), scan.length, status)
    }

    /// Bytes of the binary form of DECIMAL(precision, scale).
    pub const fn binary_bytes(precision: u32, scale: u8) -> usize {
        let integer = precision - scale as u32;
        digits_bytes(integer) + digits_bytes(scale as u32)
    }

    /// Appends MySQL's binary form, whose bytes sort as the numbers do:
    ///
    /// ```text
    /// | first integer digits (0..8) | 9 digits, 4 bytes |..| point |..| 9 digits, 4 bytes | last digits (0..8) |
    /// big-endian words; the first bit is flipped; every bit is flipped for a negative number
    /// ```
    ///
    /// The number must fit DECIMAL(precision, scale).
    pub fn write_binary(self, precision: u32, scale: u8, out: &mut Vec<u8>) {
        let value = self.round(scale);
        debug_assert!(value.digits.digits() <= precision, "DECIMAL wider than its column");
        let start = out.len();
        let size = Decimal::binary_bytes(precision, scale);
        out.resize(start + size, 0);
        let bytes = &mut out[start..];
        let mut rest = value.digits;
        let mut end = size;
        let mut peel = |digits: u32| {
            let divisor = POWERS[digits as usize].0[0];
            let word = if rest.0[1] | rest.0[2] | rest.0[3] == 0 {
                let word = rest.0[0] % divisor;
                rest.0[0] /= divisor;
                word
            } else {
                let (quotient, word) = rest.div_small(divisor);
                rest = quotient;
                word
            };
            let width = WORD_BYTES[digits as usize];
            bytes[end - width..end].copy_from_slice(&(word as u32).to_be_bytes()[4 - width..]);
            end -= width;
        };
        let (fraction, integer) = (scale as u32, precision - scale as u32);
        if !fraction.is_multiple_of(WORD_DIGITS) {
            peel(fraction % WORD_DIGITS);
        }
        for _ in 0..fraction / WORD_DIGITS + integer / WORD_DIGITS {
            peel(WORD_DIGITS);
        }
        if !integer.is_multiple_of(WORD_DIGITS) {
            peel(integer % WORD_DIGITS);
        }
        if value.negative {
            bytes.iter_mut().for_each(|b| *b = !*b);
        }
        bytes[0] ^= 0x80;
    }

    /// Reads [`Decimal::write_binary`]'s form; `None` when `bytes` has another length or holds no such number.
    pub fn read_binary(bytes: &[u8], precision: u32, scale: u8) -> Option<Decimal> {
        if bytes.len() != Decimal::binary_bytes(precision, scale) || bytes.is_empty() {
            return None;
        }
        if precision <= SMALL_DIGITS {
            return Decimal::read_small(bytes, precision - scale as u32, scale);
        }
        let negative = bytes[0] & 0x80 == 0;
        let flip = if negative { 0xFF } else { 0 };
        let mut digits = Wide::ZERO;
        let mut small: u64 = 0;
        let mut small_digits = 0;
        let mut at = 0;
        let mut take = |count: u32| -> Option<()> {
            let width = WORD_BYTES[count as usize];
            let mut word: u64 = 0;
            for (i, b) in bytes[at..at + width].iter().enumerate() {
                let b = if at + i == 0 { *b ^ 0x80 } else { *b };
                word = word << 8 | (b ^ flip) as u64;
            }
            at += width;
            if word >= POWERS[count as usize].0[0] {
                return None;
            }
            if small_digits + count > 18 {
                digits = digits.scale_up(small_digits)?.checked_add(Wide([small, 0, 0, 0]))?;
                (small, small_digits) = (0, 0);
            }
            small = small * POWERS[count as usize].0[0] + word;
            small_digits += count;
            Some(())
        };
        let (fraction, integer) = (scale as u32, precision - scale as u32);
        if !integer.is_multiple_of(WORD_DIGITS) {
            take(integer % WORD_DIGITS)?;
        }
        for _ in 0..fraction / WORD_DIGITS + integer / WORD_DIGITS {
            take(WORD_DIGITS)?;
        }
        if !fraction.is_multiple_of(WORD_DIGITS) {
            take(fraction % WORD_DIGITS)?;
        }
        let digits = if digits.is_zero() {
            Wide([small, 0, 0, 0])
        } else {
            digits.scale_up(small_digits)?.checked_add(Wide([small, 0, 0, 0]))?
        };
        Some(Decimal::make(negative, digits, scale))
    }

    /// [`Decimal::read_binary`] of at most [`SMALL_DIGITS`] digits: the usual widths, read word by word into one integer.
    #[inline]
    fn read_small(bytes: &[u8], integer: u32, scale: u8) -> Option<Decimal> {
        let negative = bytes[0] & 0x80 == 0;
        let flip = if negative { u32::MAX } else { 0 };
        let fraction = scale as u32;
        let (mut digits, mut rest, mut first) = (0u64, bytes, true);
        let mut take = |count: u32| -> Option<()> {
            if count == 0 {
                return Some(());
            }
            let width = WORD_BYTES[count as usize];
            let (word, behind) = rest.split_at(width);
            rest = behind;
            let mut word = match *word {
                [a] => a as u32,
                [a, b] => u16::from_be_bytes([a, b]) as u32,
                [a, b, c] => u32::from_be_bytes([0, a, b, c]),
                [a, b, c, d] => u32::from_be_bytes([a, b, c, d]),
                _ => unreachable!("a word has one to four bytes"),
            };
            let unused = 32 - 8 * width as u32;
            if std::mem::take(&mut first) {
                word ^= 0x8000_0000 >> unused;
            }
            word ^= flip >> unused;
            let power = TENS[count as usize];
            digits = digits * power + word as u64;
            ((word as u64) < power).then_some(())
        };
        take(integer % WORD_DIGITS)?;
        (0..integer / WORD_DIGITS).try_for_each(|_| take(WORD_DIGITS))?;
        (0..fraction / WORD_DIGITS).try_for_each(|_| take(WORD_DIGITS))?;
        take(fraction % WORD_DIGITS)?;
        Some(Decimal::make(negative, Wide([digits, 0, 0, 0]), scale))
    }

    /// The digits at a scale that is not smaller, if they stay below 2^127.
    #[inline]
    fn small_at(&self, scale: u8) -> Option<u128> {
        let v = self.digits.small()?;
        let v = if scale == self.scale { v } else { v.checked_mul(POWERS[(scale - self.scale) as usize].small()?)? };
        (v >> 127 == 0).then_some(v)
    }

    fn extend(self, scale: u8) -> Decimal {
        let mut target = scale;
        loop {
            match self.digits.scale_up((target - self.scale) as u32) {
                Some(digits) => return Decimal::make(self.negative, digits, target),
                None => target -= 1,
            }
        }
    }

    /// Cuts digits behind the point until integer and fraction have room in 9 words; `None` when the integer alone has not.
    fn fit_words(self) -> Option<Decimal> {
        let integer = words(self.integer_digits());
        if integer > WORDS_MAX {
            return None;
        }
        if integer + words(self.scale as u32) <= WORDS_MAX {
            return Some(self);
        }
        Some(self.truncate(((WORDS_MAX - integer) * WORD_DIGITS) as u8))
    }

    /// Without trailing zeros behind the point, so that equal numbers look alike.
    fn normal(self) -> Decimal {
        let mut d = self;
        if d.is_zero() {
            return Decimal::ZERO;
        }
        while d.scale > 0 {
            let (quotient, remainder) = d.digits.div_small(10);
            if remainder != 0 {
                break;
            }
            d.digits = quotient;
            d.scale -= 1;
        }
        d
    }
}

/// What MySQL makes of a number whose exponent is beyond all digits: half the range of 32 bits is too much whatever stands
/// before it, and what 64 bits do not hold is no number. `None`: the exponent is to be applied.
#[cold]
fn far_exponent(text: &[u8]) -> Option<(Decimal, Parsed)> {
    let e = text.iter().position(|b| matches!(b, b'e' | b'E'))?;
    let negative = text[e + 1] == b'-';
    let digits = text[e + 1..].iter().filter(|b| b.is_ascii_digit());
    let exponent = digits.fold(0u128, |n, b| (n * 10 + (b - b'0') as u128).min(1 << 100));
    let bound = if negative { 1 << 63 } else { u64::MAX as u128 };
    if exponent > bound {
        return Some((Decimal::ZERO, Parsed::Bad));
    }
    if exponent <= (i32::MAX / 2) as u128 {
        return None;
    }
    Some(match negative {
        true => (Decimal::ZERO, Parsed::Truncated),
        false => (Decimal::max_value(Decimal::MAX_PRECISION, 0, false), Parsed::Overflow),
    })
}

/// 10^0 to 10^22: the powers of ten that a double holds exactly.
const EXACT_POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
    1e21, 1e22,
];

const fn words(digits: u32) -> u32 {
    digits.div_ceil(WORD_DIGITS)
}

const fn digits_bytes(digits: u32) -> usize {
    (digits / WORD_DIGITS) as usize * 4 + WORD_BYTES[(digits % WORD_DIGITS) as usize]
}

fn strip_zeros(digits: &[u8]) -> &[u8] {
    let zeros = digits.iter().take_while(|b| **b == b'0').count();
    &digits[zeros..]
}

impl From<i64> for Decimal {
    #[inline]
    fn from(v: i64) -> Decimal {
        Decimal { digits: Wide([v.unsigned_abs(), 0, 0, 0]), scale: 0, negative: v < 0 }
    }
}

impl From<u64> for Decimal {
    #[inline]
    fn from(v: u64) -> Decimal {
        Decimal { digits: Wide([v, 0, 0, 0]), scale: 0, negative: false }
    }
}

impl PartialEq for Decimal {
    fn eq(&self, other: &Decimal) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Decimal {}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Decimal) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Decimal) -> Ordering {
        if self.negative != other.negative {
            return other.negative.cmp(&self.negative);
        }
        let magnitude = if self.scale == other.scale {
            self.digits.cmp(&other.digits)
        } else {
            let scale = self.scale.max(other.scale);
            match (self.small_at(scale), other.small_at(scale)) {
                (Some(a), Some(b)) => a.cmp(&b),
                _ => {
                    let a = self.digits.full_mul(POWERS[(scale - self.scale) as usize]);
                    let b = other.digits.full_mul(POWERS[(scale - other.scale) as usize]);
                    a.iter().rev().cmp(b.iter().rev())
                }
            }
        };
        if self.negative { magnitude.reverse() } else { magnitude }
    }
}

impl Hash for Decimal {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let d = self.normal();
        d.digits.0.hash(state);
        d.scale.hash(state);
        d.negative.hash(state);
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = Vec::with_capacity(80);
        self.write(&mut text);
        f.write_str(std::str::from_utf8(&text).expect("digits are ASCII"))
    }
}

impl fmt::Debug for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests;
