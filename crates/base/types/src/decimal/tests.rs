use super::*;

fn d(text: &str) -> Decimal {
    let (decimal, parsed) = Decimal::parse(text.as_bytes());
    assert_eq!(parsed, Parsed::Exact, "{text}");
    decimal
}

#[test]
fn arithmetic_has_mysqls_scales() {
    assert_eq!(d("1.5").checked_add(d("-2.25")).unwrap().to_string(), "-0.75");
    assert_eq!(d("1.10").checked_mul(d("2.0")).unwrap().to_string(), "2.200");
    let third = d("1").checked_div(d("3"), 4).unwrap();
    // SELECT 1/3*3, 2/3*3, 2.00000/3 on a MySQL server; the last fills its word exactly, so that nothing is left to round.
    assert_eq!(third.checked_mul(d("3")).unwrap().to_string(), "0.9999");
    assert_eq!(d("2").checked_div(d("3"), 4).unwrap().checked_mul(d("3")).unwrap().to_string(), "2.0001");
    assert_eq!(d("2.00000").checked_div(d("3"), 4).unwrap().to_string(), "0.666666666");
    assert_eq!(d("10.5").checked_rem(d("-3")).unwrap().to_string(), "1.5");
    assert_eq!(d("-7.5").checked_div_integer(d("2")).unwrap().to_string(), "-3");
    assert!(d("1").checked_div(d("0.00"), 4).is_none());
}

#[test]
fn rounding_is_half_away_from_zero() {
    for (text, scale, expected) in [
        ("2.5", 0, "3"),
        ("-2.5", 0, "-3"),
        ("2.449", 1, "2.4"),
        ("0.005", 2, "0.01"),
        ("-0.4", 0, "0"),
        ("9.99", 1, "10.0"),
    ] {
        assert_eq!(d(text).round(scale).to_string(), expected);
    }
    assert_eq!(d("-1.2").floor().to_string(), "-2");
    assert_eq!(d("1.2").ceiling().to_string(), "2");
    assert_eq!(d("1250").round_integer(2, false).to_string(), "1300");
    assert_eq!(d("1.999").truncate(1).to_string(), "1.9");
}

#[test]
fn limits_of_65_digits() {
    let nines = "9".repeat(65);
    assert_eq!(d(&nines).to_string(), nines);
    assert_eq!(Decimal::parse(format!("{nines}9").as_bytes()), (d(&nines), Parsed::Overflow));
    let small = format!("0.{}", "3".repeat(30));
    assert_eq!(d(&small).to_string(), small);
    assert_eq!(d(&nines).checked_mul(d(&nines)), None);
    assert_eq!(d("9223372036854775807.5").to_i64(), Err(i64::MAX));
    assert_eq!(d("-9223372036854775808").to_i64(), Ok(i64::MIN));
    assert_eq!(d("18446744073709551615.4").to_u64(), Ok(u64::MAX));
}

#[test]
fn texts_and_doubles() {
    assert_eq!(d("1.5e3").to_string(), "1500");
    assert_eq!(d("-12e-3").to_string(), "-0.012");
    assert_eq!(d(" 007.10 ").to_string(), "7.10");
    assert_eq!(Decimal::parse(b"12abc"), (d("12"), Parsed::Truncated));
    assert_eq!(Decimal::parse(b"abc").1, Parsed::Bad);
    assert_eq!(Decimal::from_f64(0.1).unwrap().to_string(), "0.1");
    assert_eq!(Decimal::from_f64(1e-7).unwrap().to_string(), "0.0000001");
    assert_eq!(Decimal::from_f64(1e80), None);
    assert_eq!(d("0.1").to_f64(), 0.1);
    assert_eq!(d("123456789012345678901234567890.5").to_f64(), 123456789012345678901234567890.5);
}

#[test]
fn equal_numbers_of_different_scale_hash_alike() {
    use std::collections::hash_map::DefaultHasher;
    let hash = |d: Decimal| {
        let mut h = DefaultHasher::new();
        d.hash(&mut h);
        h.finish()
    };
    assert_eq!(d("1.0"), d("1.000"));
    assert_eq!(hash(d("1.0")), hash(d("1.000")));
    assert_eq!(hash(d("0.0")), hash(Decimal::ZERO));
    assert!(d("-1") < d("-0.99") && d("0") < d("0.1"));
    assert!(d(&"9".repeat(65)) > d(&format!("0.{}", "9".repeat(30))));
}
