//! DECIMAL against arbitrary-precision integers, over random operands up to 65 digits.

use num_bigint::{BigInt, Sign};
use proptest::prelude::*;
use types::Decimal;

/// A random number as MySQL would read it, and the same as (integer, scale).
fn operand() -> impl Strategy<Value = (Decimal, BigInt, u32)> {
    (
        proptest::collection::vec(b'0'..=b'9', 1..36),
        proptest::collection::vec(b'0'..=b'9', 0..=30),
        any::<bool>(),
        0usize..36,
    )
        .prop_map(|(mut integer, fraction, negative, zeros)| {
            let zeros = zeros.min(integer.len());
            integer[..zeros].fill(b'0');
            let digits = [&integer[..], &fraction].concat();
            let magnitude = BigInt::parse_bytes(&digits, 10).unwrap();
            let big = if negative { -magnitude } else { magnitude };
            let text = [if negative { &b"-"[..] } else { b"" }, &integer, b".", &fraction].concat();
            (Decimal::parse(&text).0, big, fraction.len() as u32)
        })
}

fn ten(n: u32) -> BigInt {
    BigInt::from(10).pow(n)
}

fn show(big: &BigInt, scale: u32) -> String {
    let digits = big.magnitude().to_string();
    let digits = format!("{digits:0>width$}", width = scale as usize + 1);
    let (integer, fraction) = digits.split_at(digits.len() - scale as usize);
    let sign = if big.sign() == Sign::Minus { "-" } else { "" };
    if scale == 0 { format!("{sign}{integer}") } else { format!("{sign}{integer}.{fraction}") }
}

/// Half away from zero.
fn round_div(a: &BigInt, by: &BigInt) -> BigInt {
    let half = by / 2;
    let magnitude: BigInt = (BigInt::from(a.magnitude().clone()) + half) / by;
    if a.sign() == Sign::Minus { -magnitude } else { magnitude }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn printing_comparing_and_rounding((a, x, s) in operand(), (b, y, t) in operand(), to in 0u8..31) {
        prop_assert_eq!(a.to_string(), show(&x, s));
        prop_assert_eq!(a.cmp(&b), (&x * ten(t)).cmp(&(&y * ten(s))));
        if (to as u32) < s {
            prop_assert_eq!(a.round(to).to_string(), show(&round_div(&x, &ten(s - to as u32)), to as u32));
            prop_assert_eq!(a.truncate(to).to_string(), show(&(&x / ten(s - to as u32)), to as u32));
        }
        prop_assert_eq!(a.to_f64(), show(&x, s).parse::<f64>().unwrap());
        prop_assert_eq!(a.to_i64().ok(), i64::try_from(round_div(&x, &ten(s))).ok());
    }

    #[test]
    fn sums_and_remainders_are_exact((a, x, s) in operand(), (b, y, t) in operand()) {
        let scale = s.max(t);
        let (x, y) = (x * ten(scale - s), y * ten(scale - t));
        prop_assert_eq!(a.checked_add(b).unwrap().to_string(), show(&(&x + &y), scale));
        prop_assert_eq!(a.checked_sub(b).unwrap().to_string(), show(&(&x - &y), scale));
        if y.sign() != Sign::NoSign {
            prop_assert_eq!(a.checked_rem(b).unwrap().to_string(), show(&(&x % &y), scale));
            prop_assert_eq!(a.checked_div_integer(b).map(|q| q.to_string()), Some(show(&(&x / &y), 0)));
        }
    }

    #[test]
    fn products_lose_only_what_has_no_room((a, x, s) in operand(), (b, y, t) in operand()) {
        let product = a.checked_mul(b).expect("35 integer digits each fit in 9 words");
        let exact = x * y;
        if s + t > 30 {
            let found = BigInt::parse_bytes(product.to_string().replace('.', "").as_bytes(), 10).unwrap();
            let found = found * ten(30 - product.scale() as u32);
            let cut = |scale: u32| &exact / ten(s + t - scale) * ten(30 - scale);
            let is_whole = found == round_div(&exact, &ten(s + t - 30));
            prop_assert!(is_whole || [0, 9, 18, 27].iter().any(|n| found == cut(*n)));
            return Ok(());
        }
        let cut = s + t - product.scale() as u32;
        prop_assert_eq!(product.to_string(), show(&(exact / ten(cut)), product.scale() as u32));
        prop_assert!(cut == 0 || product.scale().is_multiple_of(9));
    }

    #[test]
    fn quotients_are_within_one_unit((a, x, s) in operand(), (b, y, t) in operand()) {
        if y.sign() == Sign::NoSign {
            prop_assert!(a.checked_div(b, 4).is_none());
        } else if let Some(quotient) = a.checked_div(b, 4) {
            let scale = quotient.scale() as u32;
            prop_assert!(scale <= (s + 4).min(30));
            let exact = &x * ten(t + scale) / (&y * ten(s));
            let (got, _) = (BigInt::parse_bytes(quotient.to_string().replace('.', "").as_bytes(), 10).unwrap(), ());
            prop_assert!((got - exact).magnitude() <= BigInt::from(1).magnitude());
        }
    }
}
