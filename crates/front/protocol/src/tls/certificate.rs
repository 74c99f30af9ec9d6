//! What an X.509 certificate (DER) says of names and dates. Signatures are the TLS library's work: these are read from
//! certificates that it has verified, or that are the server's own.
//!
//! ```text
//!  Certificate     SEQUENCE { tbs, algorithm, signature }
//!  tbs             SEQUENCE { [0] version, serial, algorithm, issuer, validity, subject, ... }
//!  Name            SEQUENCE OF SET OF SEQUENCE { type OID, value string }
//!  Validity        SEQUENCE { UTCTime or GeneralizedTime, the same }
//! ```

use std::fmt::Write;

const INTEGER: u8 = 0x02;
const OID: u8 = 0x06;
const BMP_STRING: u8 = 0x1e;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;
const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
const VERSION: u8 = 0xa0;

/// Types of name parts with the short names that OpenSSL gives them.
const TYPES: [(&[u8], &str); 19] = [
    (&[0x55, 4, 3], "CN"),
    (&[0x55, 4, 4], "SN"),
    (&[0x55, 4, 5], "serialNumber"),
    (&[0x55, 4, 6], "C"),
    (&[0x55, 4, 7], "L"),
    (&[0x55, 4, 8], "ST"),
    (&[0x55, 4, 9], "street"),
    (&[0x55, 4, 10], "O"),
    (&[0x55, 4, 11], "OU"),
    (&[0x55, 4, 12], "title"),
    (&[0x55, 4, 13], "description"),
    (&[0x55, 4, 17], "postalCode"),
    (&[0x55, 4, 41], "name"),
    (&[0x55, 4, 42], "GN"),
    (&[0x55, 4, 43], "initials"),
    (&[0x55, 4, 46], "dnQualifier"),
    (&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 9, 1], "emailAddress"),
    (&[0x09, 0x92, 0x26, 0x89, 0x93, 0xf2, 0x2c, 0x64, 1, 25], "DC"),
    (&[0x09, 0x92, 0x26, 0x89, 0x93, 0xf2, 0x2c, 0x64, 1, 1], "UID"),
];

const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// What is read of a certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificate {
    /// `/C=SE/CN=server`, as OpenSSL prints it on one line.
    pub subject: String,
    pub issuer: String,
    /// `Nov 22 14:18:48 2026 GMT`
    pub not_before: String,
    pub not_after: String,
}

impl Certificate {
    /// `None`: no certificate.
    pub fn read(der: &[u8]) -> Option<Certificate> {
        let mut tbs = Der(Der(Der(der).take(SEQUENCE)?).take(SEQUENCE)?);
        if tbs.0.first() == Some(&VERSION) {
            tbs.take(VERSION)?;
        }
        tbs.take(INTEGER)?;
        tbs.take(SEQUENCE)?;
        let issuer = one_line(tbs.take(SEQUENCE)?)?;
        let mut validity = Der(tbs.take(SEQUENCE)?);
        let (not_before, not_after) = (time(validity.next()?)?, time(validity.next()?)?);
        let subject = one_line(tbs.take(SEQUENCE)?)?;
        Some(Certificate { subject, issuer, not_before, not_after })
    }
}

/// Elements of DER, one after the other.
struct Der<'a>(&'a [u8]);

impl<'a> Der<'a> {
    /// Tag and content of the next element.
    fn next(&mut self) -> Option<(u8, &'a [u8])> {
        let (&tag, rest) = self.0.split_first()?;
        let (&first, rest) = rest.split_first()?;
        let (len, rest) = match first {
            0..=0x7f => (usize::from(first), rest),
            0x81..=0x84 => {
                let (len, rest) = rest.split_at_checked(usize::from(first - 0x80))?;
                (len.iter().fold(0, |len, byte| len << 8 | usize::from(*byte)), rest)
            }
            _ => return None,
        };
        let (content, rest) = rest.split_at_checked(len)?;
        self.0 = rest;
        Some((tag, content))
    }

    /// Content of the next element, which has this tag.
    fn take(&mut self, tag: u8) -> Option<&'a [u8]> {
        self.next().filter(|(found, _)| *found == tag).map(|(_, content)| content)
    }
}

/// A name as `X509_NAME_oneline` prints it: what is not printable ASCII as `\xE4`.
fn one_line(name: &[u8]) -> Option<String> {
    let mut line = String::new();
    let mut sets = Der(name);
    while !sets.0.is_empty() {
        let mut set = Der(sets.take(SET)?);
        while !set.0.is_empty() {
            let mut pair = Der(set.take(SEQUENCE)?);
            let kind = pair.take(OID)?;
            let (tag, value) = pair.next()?;
            line.push('/');
            match TYPES.iter().find(|(oid, _)| *oid == kind) {
                Some((_, short)) => line.push_str(short),
                None => dotted(kind, &mut line),
            }
            line.push('=');
            // Strings of two bytes a character: those that are zero are left out.
            let skips = tag == BMP_STRING && value.iter().step_by(2).all(|byte| *byte == 0);
            for byte in value.iter().skip(usize::from(skips)).step_by(1 + usize::from(skips)) {
                match byte {
                    b' '..=b'~' => line.push((*byte).into()),
                    _ => write!(line, "\\x{byte:02X}").expect("a string grows"),
                }
            }
        }
    }
    Some(line)
}

fn dotted(oid: &[u8], line: &mut String) {
    let mut arc = 0_u64;
    for (at, byte) in oid.iter().enumerate() {
        arc = arc << 7 | u64::from(byte & 0x7f);
        if byte & 0x80 != 0 {
            continue;
        }
        match at {
            0 => write!(line, "{}.{}", (arc / 40).min(2), arc - 40 * (arc / 40).min(2)),
            _ => write!(line, ".{arc}"),
        }
        .expect("a string grows");
        arc = 0;
    }
}

/// `261122141848Z` or `20261122141848Z` as `Nov 22 14:18:48 2026 GMT`.
fn time((tag, text): (u8, &[u8])) -> Option<String> {
    let text = std::str::from_utf8(text).ok()?;
    let (year, rest) = match tag {
        UTC_TIME => {
            let (year, rest) = text.split_at_checked(2)?;
            let year: u32 = year.parse().ok()?;
            (if year < 50 { 2000 + year } else { 1900 + year }, rest)
        }
        GENERALIZED_TIME => {
            let (year, rest) = text.split_at_checked(4)?;
            (year.parse().ok()?, rest)
        }
        _ => return None,
    };
    let two = |at: usize| rest.get(2 * at..2 * at + 2)?.parse::<usize>().ok();
    let month = MONTHS.get(two(0)?.checked_sub(1)?)?;
    Some(format!("{month} {:>2} {:02}:{:02}:{:02} {year} GMT", two(1)?, two(2)?, two(3)?, two(4)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn element(tag: u8, content: &[u8]) -> Vec<u8> {
        let mut out = vec![tag];
        match content.len() {
            len @ 0..0x80 => out.push(len as u8),
            len => out.extend([0x82, (len >> 8) as u8, len as u8]),
        }
        out.extend_from_slice(content);
        out
    }

    fn part(oid: &[u8], tag: u8, value: &[u8]) -> Vec<u8> {
        element(SET, &element(SEQUENCE, &[element(OID, oid), element(tag, value)].concat()))
    }

    #[test]
    fn names_are_printed_on_one_line() {
        let name = [
            part(&[0x55, 4, 6], 0x13, b"SE"),
            part(&[0x55, 4, 10], 0x0c, "Bj\u{f6}rn & Co".as_bytes()),
            part(&[0x2b, 6, 1, 4, 1, 0x82, 0x37, 1], 0x0c, b"x"),
            part(&[0x55, 4, 3], BMP_STRING, b"\0a\0b"),
        ]
        .concat();
        assert_eq!(one_line(&name).unwrap(), r"/C=SE/O=Bj\xC3\xB6rn & Co/1.3.6.1.4.1.311.1=x/CN=ab");
        assert_eq!(one_line(&name[..name.len() - 1]), None);
    }

    #[test]
    fn dates_are_those_of_a_certificate() {
        assert_eq!(time((UTC_TIME, b"261102041848Z")).unwrap(), "Nov  2 04:18:48 2026 GMT");
        assert_eq!(time((UTC_TIME, b"991231235959Z")).unwrap(), "Dec 31 23:59:59 1999 GMT");
        assert_eq!(time((GENERALIZED_TIME, b"20520301000000Z")).unwrap(), "Mar  1 00:00:00 2052 GMT");
        assert_eq!(time((UTC_TIME, b"261302041848Z")), None);
        assert_eq!(time((UTC_TIME, b"26")), None);
    }
}
