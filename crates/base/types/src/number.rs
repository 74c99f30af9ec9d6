//! Numbers as MySQL writes and reads them: shortest doubles, six-digit floats, leading numbers of strings.

use std::io::Write as _;

/// A number at the start of a text, taken apart.
#[derive(Clone, Copy, Debug)]
pub struct Scan<'t> {
    pub negative: bool,
    pub integer: &'t [u8],
    pub fraction: &'t [u8],
    pub exponent: i32,
    /// Bytes that the number takes, blanks before it included.
    pub length: usize,
}

/// The exponent that larger ones are read as.
pub const EXPONENT_MAX: i32 = 100_000;

/// Finds `[blanks][+-]digits[.digits][e[+-]digits]`; `None` when no digit comes.
pub fn scan(text: &[u8]) -> Option<Scan<'_>> {
    let mut i = text.iter().take_while(|b| is_blank(**b)).count();
    let negative = text.get(i) == Some(&b'-');
    if matches!(text.get(i), Some(b'-' | b'+')) {
        i += 1;
    }
    let run = |from: usize| text[from..].iter().take_while(|b| b.is_ascii_digit()).count();
    let integer = &text[i..i + run(i)];
    i += integer.len();
    let mut fraction: &[u8] = &[];
    if text.get(i) == Some(&b'.') {
        fraction = &text[i + 1..i + 1 + run(i + 1)];
        if !integer.is_empty() || !fraction.is_empty() {
            i += 1 + fraction.len();
        }
    }
    if integer.is_empty() && fraction.is_empty() {
        return None;
    }
    let mut exponent = 0;
    if matches!(text.get(i), Some(b'e' | b'E')) {
        let sign = matches!(text.get(i + 1), Some(b'-' | b'+')) as usize;
        let digits = run(i + 1 + sign);
        if digits > 0 {
            for b in &text[i + 1 + sign..i + 1 + sign + digits] {
                exponent = (exponent * 10 + (b - b'0') as i32).min(EXPONENT_MAX);
            }
            if text[i + 1] == b'-' {
                exponent = -exponent;
            }
            i += 1 + sign + digits;
        }
    }
    Some(Scan { negative, integer, fraction, exponent, length: i })
}

/// isspace() of the C locale.
#[inline]
pub fn is_blank(b: u8) -> bool {
    matches!(b, b' ' | 9..=13)
}

/// The number at the start of a text as a double, and how many bytes it takes; (0, 0) when there is none. Too large a
/// number is the largest double of its sign.
pub fn parse_f64(text: &[u8]) -> (f64, usize) {
    let Some(scan) = scan(text) else { return (0.0, 0) };
    let blanks = text.iter().take_while(|b| is_blank(**b)).count();
    let digits = std::str::from_utf8(&text[blanks..scan.length]).unwrap_or("0");
    let value = digits.parse::<f64>().unwrap_or(0.0);
    (if value.is_infinite() { f64::MAX.copysign(value) } else { value }, scan.length)
}

/// The integer at the start of a text: (value, bytes it takes, whether it went out of range of both i64 and u64). Digits
/// behind a point are not read; the value saturates.
pub fn parse_integer(text: &[u8]) -> (i128, usize, bool) {
    // MySQL passes over no other blanks in front of an integer.
    let mut i = text.iter().take_while(|b| matches!(b, b' ' | b'\t')).count();
    let negative = text.get(i) == Some(&b'-');
    if matches!(text.get(i), Some(b'-' | b'+')) {
        i += 1;
    }
    let start = i;
    let mut value: i128 = 0;
    while let Some(b) = text.get(i).filter(|b| b.is_ascii_digit()) {
        value = (value * 10 + (b - b'0') as i128).min(1 << 100);
        i += 1;
    }
    if i == start {
        return (0, 0, false);
    }
    let value = if negative { -value } else { value };
    let clamped = value.clamp(i64::MIN as i128, u64::MAX as i128);
    (clamped, i, clamped != value)
}

/// Appends a double as MySQL prints it: the shortest digits that read back as the same double, plain from 1e-15 up to
/// below 1e15, `d.ddde±x` outside.
pub fn write_f64(v: f64, out: &mut Vec<u8>) {
    if v == 0.0 {
        out.extend_from_slice(if v.is_sign_negative() { b"-0" } else { b"0" });
        return;
    }
    let mut buffer = [0u8; 40];
    let text = format_into(&mut buffer, format_args!("{v:e}"));
    write_digits(text, out);
}

/// Appends a FLOAT as MySQL prints it: six significant digits.
pub fn write_f32(v: f32, out: &mut Vec<u8>) {
    if v == 0.0 {
        out.extend_from_slice(if v.is_sign_negative() { b"-0" } else { b"0" });
        return;
    }
    let mut shortest = [0u8; 40];
    let mut rounded = [0u8; 40];
    let short = format_into(&mut shortest, format_args!("{v:e}"));
    let digits = short.iter().take_while(|b| **b != b'e').filter(|b| b.is_ascii_digit()).count();
    // MySQL rounds the exact value, not the shortest form of it.
    let text = if digits <= 6 { short } else { format_into(&mut rounded, format_args!("{:.5e}", v as f64)) };
    write_digits(text, out);
}

/// Appends a double with a fixed number of digits behind the point: FLOAT(m,d), DOUBLE(m,d), FORMAT(). Where its shortest form has no
/// more of them, that form with zeros, else the exact value rounded.
pub fn write_fixed(v: f64, decimals: u8, out: &mut Vec<u8>) {
    if !v.is_finite() {
        return write_f64(v, out);
    }
    // Writing into a Vec cannot fail.
    let (from, wanted) = (out.len(), usize::from(decimals));
    let _ = write!(out, "{v}");
    let digits = out[from..].iter().position(|b| *b == b'.').map_or(0, |point| out.len() - from - point - 1);
    if digits > wanted {
        out.truncate(from);
        let _ = write!(out, "{v:.wanted$}");
        return;
    }
    if digits == 0 && wanted > 0 {
        out.push(b'.');
    }
    out.resize(out.len() + wanted - digits, b'0');
}

/// Appends a double in at most so many characters: as many of its digits as fit, plain if they are no fewer than with an exponent.
/// Where not one fits it is longer. Whether one digit with an exponent is all that is left of more: of this alone MySQL warns. `None`: it
/// is no number.
pub fn write_within(v: f64, width: usize, out: &mut Vec<u8>) -> Option<bool> {
    let mut buffer = [0u8; 40];
    let text = format_into(&mut buffer, format_args!("{v:e}"));
    let is_negative = text.first() == Some(&b'-');
    let at = text.iter().position(|b| *b == b'e')?;
    let exponent: i64 = std::str::from_utf8(&text[at + 1..]).ok()?.parse().ok()?;
    let digits = text[..at].iter().filter(|b| b.is_ascii_digit()).count() as i64;
    let (width, point) = (width as i64 - i64::from(is_negative), exponent + 1);
    let plain = match point {
        ..=0 => width - 2 + point,
        _ if point > width => 0,
        _ => point.max(width - 1),
    };
    let room = width - 1 - text[at + 1..].len() as i64;
    let short = if room >= 3 { room - 1 } else { room.min(1) };
    let (plain, short) = (plain.clamp(0, digits), short.clamp(0, digits));
    let from = out.len();
    if plain > 0 && plain >= short {
        let places = (plain - point).max(0) as usize;
        let _ = write!(out, "{v:.places$}");
        cut_zeros(out, from);
        if out.len() - from <= width as usize + usize::from(is_negative) {
            return Some(false);
        }
        // Rounding has made it longer.
        out.truncate(from);
    }
    if short == 0 && point <= 0 {
        out.push(b'0');
        return Some(false);
    }
    let places = (short - 1).max(0) as usize;
    let mut rounded = [0u8; 40];
    let text = format_into(&mut rounded, format_args!("{v:.places$e}"));
    let at = text.iter().position(|b| *b == b'e')?;
    out.extend_from_slice(&text[..at]);
    cut_zeros(out, from);
    out.extend_from_slice(&text[at..]);
    Some(room == 1 && digits > 1)
}

/// Zeros at the end of what is behind a point, and the point if nothing is left of it.
fn cut_zeros(out: &mut Vec<u8>, from: usize) {
    if !out[from..].contains(&b'.') {
        return;
    }
    while out.last() == Some(&b'0') {
        out.pop();
    }
    if out.last() == Some(&b'.') {
        out.pop();
    }
}

fn format_into<'b>(buffer: &'b mut [u8; 40], arguments: std::fmt::Arguments<'_>) -> &'b [u8] {
    let mut rest = &mut buffer[..];
    let _ = rest.write_fmt(arguments); // 40 bytes hold any %e of a double
    let left = rest.len();
    &buffer[..40 - left]
}

/// From Rust's `-d.ddde-x` to MySQL's form.
fn write_digits(text: &[u8], out: &mut Vec<u8>) {
    let (negative, text) = match text.strip_prefix(b"-") {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let Some(e) = text.iter().position(|b| *b == b'e') else {
        out.extend_from_slice(text);
        return;
    };
    let exponent: i32 = std::str::from_utf8(&text[e + 1..]).ok().and_then(|t| t.parse().ok()).unwrap_or(0);
    let mut digits = [0u8; 32];
    let mut count = 0;
    for b in text[..e].iter().filter(|b| b.is_ascii_digit()) {
        digits[count] = *b;
        count += 1;
    }
    while count > 1 && digits[count - 1] == b'0' {
        count -= 1;
    }
    let digits = &digits[..count];
    if negative {
        out.push(b'-');
    }
    // Digits before the point, as if it were plain.
    let point = exponent + 1;
    if (-14..=15).contains(&point) {
        if point <= 0 {
            out.extend_from_slice(b"0.");
            out.extend(std::iter::repeat_n(b'0', -point as usize));
            out.extend_from_slice(digits);
        } else if point as usize >= count {
            out.extend_from_slice(digits);
            out.extend(std::iter::repeat_n(b'0', point as usize - count));
        } else {
            out.extend_from_slice(&digits[..point as usize]);
            out.push(b'.');
            out.extend_from_slice(&digits[point as usize..]);
        }
    } else {
        out.push(digits[0]);
        if count > 1 {
            out.push(b'.');
            out.extend_from_slice(&digits[1..]);
        }
        let _ = write!(out, "e{exponent}"); // writing into a Vec cannot fail
    }
}

/// Appends an integer in decimal.
#[inline]
pub fn write_i64(v: i64, out: &mut Vec<u8>) {
    if v < 0 {
        out.push(b'-');
    }
    write_u64(v.unsigned_abs(), out);
}

/// Appends an unsigned integer in decimal.
#[inline]
pub fn write_u64(mut v: u64, out: &mut Vec<u8>) {
    let mut buffer = [0u8; 20];
    let mut at = buffer.len();
    loop {
        at -= 1;
        buffer[at] = b'0' + (v % 10) as u8;
        v /= 10;
        if v == 0 {
            break;
        }
    }
    out.extend_from_slice(&buffer[at..]);
}

/// Is the text a number from end to end, so that nothing is to be said of it?
pub fn is_number(text: &[u8]) -> bool {
    let (_, used) = parse_f64(text);
    text[used..].iter().all(|c| is_blank(*c))
}

/// The same as a DECIMAL.
pub fn is_decimal(text: &[u8]) -> bool {
    is_number(text) && !text.iter().all(|c| is_blank(*c))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(v: f64) -> String {
        let mut out = Vec::new();
        write_f64(v, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn doubles_print_as_mysql_does() {
        for (v, expected) in [
            (0.1 + 0.2, "0.30000000000000004"),
            (1e14, "100000000000000"),
            (1e15, "1e15"),
            (123456789012345678.0, "1.2345678901234568e17"),
            (-1.5e-7, "-0.00000015"),
            (1e-15, "0.000000000000001"),
            (1e-16, "1e-16"),
            (1.7976931348623157e308, "1.7976931348623157e308"),
            (3.0, "3"),
        ] {
            assert_eq!(text(v), expected);
        }
    }

    #[test]
    fn floats_have_six_digits() {
        for (v, expected) in [(1.2345678f32, "1.23457"), (16777216.0, "16777200"), (3.4e38, "3.4e38"), (0.1, "0.1")] {
            let mut out = Vec::new();
            write_f32(v, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), expected);
        }
    }

    #[test]
    fn leading_numbers_of_strings() {
        assert_eq!(parse_f64(b"  -12.5e1abc"), (-125.0, 9));
        assert_eq!(parse_f64(b"1e"), (1.0, 1));
        assert_eq!(parse_f64(b".5."), (0.5, 2));
        assert_eq!(parse_f64(b"abc"), (0.0, 0));
        assert_eq!(parse_f64(b"1e999"), (f64::MAX, 5));
        assert_eq!(parse_integer(b" 18446744073709551616"), (u64::MAX as i128, 21, true));
        assert_eq!(parse_integer(b"-7.9"), (-7, 2, false));
    }
}
