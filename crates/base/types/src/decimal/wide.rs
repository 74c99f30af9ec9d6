//! Unsigned 256-bit integers: what DECIMAL's digits are kept in. 77 decimal digits fit, MySQL needs 65 and intermediate results.

use std::cmp::Ordering;

/// Little-endian limbs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wide(pub [u64; 4]);

/// Decimal digits that any value of a `Wide` can have.
pub(super) const WIDE_DIGITS: u32 = 77;

/// `POWERS[n]` = 10^n, all that fit into 256 bits.
pub(super) static POWERS: [Wide; 78] = {
    let mut table = [Wide([0; 4]); 78];
    table[0] = Wide([1, 0, 0, 0]);
    let mut n = 1;
    while n < 78 {
        let mut carry: u128 = 0;
        let mut i = 0;
        while i < 4 {
            let limb = table[n - 1].0[i] as u128 * 10 + carry;
            table[n].0[i] = limb as u64;
            carry = limb >> 64;
            i += 1;
        }
        assert!(carry == 0);
        n += 1;
    }
    table
};

impl Wide {
    pub const ZERO: Wide = Wide([0; 4]);

    #[inline]
    pub const fn from_u128(v: u128) -> Wide {
        Wide([v as u64, (v >> 64) as u64, 0, 0])
    }

    /// The value, if it fits.
    #[inline]
    pub const fn small(self) -> Option<u128> {
        if self.0[2] | self.0[3] == 0 { Some(self.0[0] as u128 | (self.0[1] as u128) << 64) } else { None }
    }

    #[inline]
    pub const fn is_zero(self) -> bool {
        self.0[0] | self.0[1] | self.0[2] | self.0[3] == 0
    }

    pub fn checked_add(self, other: Wide) -> Option<Wide> {
        let mut out = [0; 4];
        let mut carry = false;
        for (i, limb) in out.iter_mut().enumerate() {
            let (sum, c1) = self.0[i].overflowing_add(other.0[i]);
            let (sum, c2) = sum.overflowing_add(carry as u64);
            *limb = sum;
            carry = c1 | c2;
        }
        (!carry).then_some(Wide(out))
    }

    /// `self - other`; `self` must be the larger one.
    pub fn sub(self, other: Wide) -> Wide {
        let mut out = [0; 4];
        let mut borrow = false;
        for (i, limb) in out.iter_mut().enumerate() {
            let (difference, b1) = self.0[i].overflowing_sub(other.0[i]);
            let (difference, b2) = difference.overflowing_sub(borrow as u64);
            *limb = difference;
            borrow = b1 | b2;
        }
        debug_assert!(!borrow, "subtraction below zero");
        Wide(out)
    }

    /// The 512-bit product.
    pub fn full_mul(self, other: Wide) -> [u64; 8] {
        let mut out = [0u64; 8];
        for i in 0..4 {
            let mut carry: u128 = 0;
            for j in 0..4 {
                let limb = self.0[i] as u128 * other.0[j] as u128 + out[i + j] as u128 + carry;
                out[i + j] = limb as u64;
                carry = limb >> 64;
            }
            out[i + 4] = carry as u64;
        }
        out
    }

    pub fn checked_mul(self, other: Wide) -> Option<Wide> {
        narrow(self.full_mul(other))
    }

    /// `self * 10^digits`.
    pub fn scale_up(self, digits: u32) -> Option<Wide> {
        if digits == 0 || self.is_zero() {
            return Some(self);
        }
        self.checked_mul(*POWERS.get(digits as usize)?)
    }

    /// Quotient and remainder by a divisor below 2^64.
    pub fn div_small(self, divisor: u64) -> (Wide, u64) {
        let mut out = self.0;
        let mut remainder: u64 = 0;
        for limb in out.iter_mut().rev() {
            let part = (remainder as u128) << 64 | *limb as u128;
            *limb = (part / divisor as u128) as u64;
            remainder = (part % divisor as u128) as u64;
        }
        (Wide(out), remainder)
    }

    /// Quotient and remainder by 10^digits.
    pub fn div_power(self, digits: u32) -> (Wide, Wide) {
        match POWERS.get(digits as usize) {
            Some(power) => {
                let (quotient, remainder) = div_rem(widen(self), *power);
                (narrow(quotient).expect("a quotient is no larger than its dividend"), remainder)
            }
            None => (Wide::ZERO, self),
        }
    }

    /// How many decimal digits the value has; 0 has none.
    pub fn digits(self) -> u32 {
        let bits = match self.0 {
            [0, 0, 0, 0] => return 0,
            [a, 0, 0, 0] => 64 - a.leading_zeros(),
            [_, b, 0, 0] => 128 - b.leading_zeros(),
            [_, _, c, 0] => 192 - c.leading_zeros(),
            [_, _, _, d] => 256 - d.leading_zeros(),
        };
        // floor(bits * log10(2)), then one more when the value reaches that power of ten.
        let guess = (bits * 1233) >> 12;
        guess + (self >= POWERS.get(guess as usize).copied().unwrap_or(Wide([u64::MAX; 4]))) as u32
    }
}

impl PartialOrd for Wide {
    fn partial_cmp(&self, other: &Wide) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Wide {
    fn cmp(&self, other: &Wide) -> Ordering {
        self.0.iter().rev().cmp(other.0.iter().rev())
    }
}

pub(super) fn widen(v: Wide) -> [u64; 8] {
    let mut out = [0; 8];
    out[..4].copy_from_slice(&v.0);
    out
}

/// Back to 256 bits, if it fits.
pub(super) fn narrow(v: [u64; 8]) -> Option<Wide> {
    (v[4..] == [0; 4]).then(|| Wide([v[0], v[1], v[2], v[3]]))
}

/// Schoolbook long division (Knuth's algorithm D) of 512 by 256 bits. The divisor is not zero.
pub(super) fn div_rem(dividend: [u64; 8], divisor: Wide) -> ([u64; 8], Wide) {
    let n = 4 - divisor.0.iter().rev().take_while(|l| **l == 0).count();
    assert!(n > 0, "division by zero");
    let mut quotient = [0u64; 8];
    if n == 1 {
        let d = divisor.0[0] as u128;
        let mut remainder: u128 = 0;
        for i in (0..8).rev() {
            let part = remainder << 64 | dividend[i] as u128;
            quotient[i] = (part / d) as u64;
            remainder = part % d;
        }
        return (quotient, Wide::from_u128(remainder));
    }
    // Normalise: the divisor's top bit set makes each estimated digit at most 2 too large.
    let shift = divisor.0[n - 1].leading_zeros();
    let shl = |high: u64, low: u64| if shift == 0 { high } else { high << shift | low >> (64 - shift) };
    let mut v = [0u64; 4];
    for i in (0..n).rev() {
        v[i] = shl(divisor.0[i], if i > 0 { divisor.0[i - 1] } else { 0 });
    }
    let mut u = [0u64; 9];
    u[8] = shl(0, dividend[7]);
    for i in (0..8).rev() {
        u[i] = shl(dividend[i], if i > 0 { dividend[i - 1] } else { 0 });
    }
    for j in (0..=8 - n).rev() {
        let top = (u[j + n] as u128) << 64 | u[j + n - 1] as u128;
        let mut digit = top / v[n - 1] as u128;
        let mut rest = top % v[n - 1] as u128;
        while digit >> 64 != 0 || digit * v[n - 2] as u128 > (rest << 64 | u[j + n - 2] as u128) {
            digit -= 1;
            rest += v[n - 1] as u128;
            if rest >> 64 != 0 {
                break;
            }
        }
        let mut carry: u128 = 0;
        let mut borrow = false;
        for i in 0..n {
            let product = digit * v[i] as u128 + carry;
            carry = product >> 64;
            let (d, b1) = u[i + j].overflowing_sub(product as u64);
            let (d, b2) = d.overflowing_sub(borrow as u64);
            u[i + j] = d;
            borrow = b1 | b2;
        }
        let (d, b1) = u[j + n].overflowing_sub(carry as u64);
        let (d, b2) = d.overflowing_sub(borrow as u64);
        u[j + n] = d;
        if b1 | b2 {
            // The estimate was one too large: add the divisor back.
            digit -= 1;
            let mut carry: u128 = 0;
            for i in 0..n {
                let sum = u[i + j] as u128 + v[i] as u128 + carry;
                u[i + j] = sum as u64;
                carry = sum >> 64;
            }
            u[j + n] = u[j + n].wrapping_add(carry as u64);
        }
        quotient[j] = digit as u64;
    }
    let mut remainder = [0u64; 4];
    for i in 0..n {
        remainder[i] = if shift == 0 { u[i] } else { u[i] >> shift | u[i + 1] << (64 - shift) };
    }
    (quotient, Wide(remainder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_at_every_power_of_ten() {
        assert_eq!(Wide::ZERO.digits(), 0);
        for (n, power) in POWERS.iter().enumerate() {
            assert_eq!(power.digits(), n as u32 + 1);
            assert_eq!(power.sub(Wide([1, 0, 0, 0])).digits(), n as u32);
        }
    }

    #[test]
    fn division_undoes_multiplication() {
        // Limbs of all ones and lone top bits reach the add-back step of algorithm D.
        let samples = [
            Wide([u64::MAX; 4]),
            Wide([0, 0, 0, 1 << 63]),
            Wide([1, u64::MAX, 0, 0]),
            Wide([u64::MAX, 0, 1 << 63, 0]),
            Wide([3, 0, 0, 0]),
            POWERS[65],
            POWERS[37],
        ];
        for a in samples {
            for b in samples {
                let product = a.full_mul(b);
                assert_eq!(div_rem(product, b), (widen(a), Wide::ZERO), "{a:?} * {b:?}");
                let mut plus = product;
                plus[0] |= 1;
                let (q, r) = div_rem(plus, b);
                let back = narrow(q).unwrap().full_mul(b);
                assert!(r < b);
                assert_eq!(back[0].wrapping_add(r.0[0]), plus[0]);
            }
        }
    }
}
