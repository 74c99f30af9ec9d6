//! Addresses and universally unique identifiers.

use super::string::to_hex;
use crate::function::{Args, Function, Rule, bytes, f, volatile};
use std::net::{Ipv4Addr, Ipv6Addr};
use types::codes::*;
use types::{Result, SqlError, Value, err};

/// Of addresses and UUIDs.
pub static FUNCTIONS: &[Function] = &[
    f("inet_aton", 1, 1, Rule::UInt(21), inet_aton),
    f("inet_ntoa", 1, 1, Rule::System(31), inet_ntoa),
    f("inet6_aton", 1, 1, Rule::Binary(16), inet6_aton),
    f("inet6_ntoa", 1, 1, Rule::System(39), inet6_ntoa),
    f("is_ipv4", 1, 1, Rule::Int(1), |a| is(a, |t| t.parse::<Ipv4Addr>().is_ok())),
    f("is_ipv6", 1, 1, Rule::Int(1), |a| is(a, |t| t.parse::<Ipv6Addr>().is_ok())),
    f("is_ipv4_compat", 1, 1, Rule::Int(1), |a| in_v6(a, |b| b[..12] == [0; 12] && b[12..15] != [0; 3])),
    f("is_ipv4_mapped", 1, 1, Rule::Int(1), |a| in_v6(a, |b| b[..10] == [0; 10] && b[10..12] == [0xFF; 2])),
    f("is_uuid", 1, 1, Rule::Int(1), |a| is(a, |t| parse_uuid(t.as_bytes()).is_some())),
    f("uuid_to_bin", 1, 2, Rule::Binary(16), uuid_to_bin),
    f("bin_to_uuid", 1, 2, Rule::System(36), bin_to_uuid),
    volatile(f("uuid_short", 0, 0, Rule::UInt(21), uuid_short)),
];

fn inet_aton<'a>(a: Args<'a>) -> Result<Value<'a>> {
    let Some(s) = a.text(0)? else { return Ok(Value::Null) };
    let text = String::from_utf8_lossy(&s).into_owned();
    let parts: Option<Vec<u64>> = text.split('.').map(|p| p.parse::<u8>().ok().map(u64::from)).collect();
    Ok(match parts.as_deref() {
        Some([last]) => Value::UInt(*last),
        Some([first @ .., last]) if first.len() < 4 => {
            let mut v = 0;
            for (i, p) in first.iter().enumerate() {
                v |= p << (24 - 8 * i);
            }
            Value::UInt(v | last)
        }
        _ => {
            a.run.push_warning(err!(ER_WRONG_VALUE_FOR_TYPE, "string", format!("'{text}'"), "inet_aton"));
            Value::Null
        }
    })
}

fn inet_ntoa<'a>(a: Args<'a>) -> Result<Value<'a>> {
    let Some(n) = a.int(0)? else { return Ok(Value::Null) };
    match u32::try_from(n) {
        Ok(n) => Ok(bytes(Ipv4Addr::from(n).to_string().into_bytes())),
        Err(_) => {
            a.run.push_warning(err!(ER_WRONG_VALUE_FOR_TYPE, "integer", n, "inet_ntoa"));
            Ok(Value::Null)
        }
    }
}

fn is<'a>(a: Args<'a>, test: fn(&str) -> bool) -> Result<Value<'a>> {
    Ok(a.text(0)?.map_or(Value::Null, |s| Value::Int(std::str::from_utf8(&s).is_ok_and(test) as i64)))
}

fn in_v6<'a>(a: Args<'a>, test: fn(&[u8; 16]) -> bool) -> Result<Value<'a>> {
    let Some(s) = a.text(0)? else { return Ok(Value::Null) };
    let address: Option<&[u8; 16]> = (&s[..]).try_into().ok();
    Ok(Value::Int(address.is_some_and(test) as i64))
}

fn wrong<'a>(a: &Args<'a>, text: &[u8]) -> SqlError {
    let text = String::from_utf8_lossy(text).into_owned();
    err!(ER_WRONG_VALUE_FOR_TYPE, "string", text, a.function)
}

fn inet6_aton<'a>(a: Args<'a>) -> Result<Value<'a>> {
    let Some(s) = a.text(0)? else { return Ok(Value::Null) };
    let text = String::from_utf8_lossy(&s).into_owned();
    if let Ok(v4) = text.parse::<Ipv4Addr>() {
        return Ok(bytes(v4.octets().to_vec()));
    }
    Ok(match text.parse::<Ipv6Addr>() {
        Ok(v6) => bytes(v6.octets().to_vec()),
        Err(_) => {
            a.run.push_warning(err!(ER_WRONG_VALUE_FOR_TYPE, "string", format!("'{text}'"), "inet6_aton"));
            Value::Null
        }
    })
}

fn inet6_ntoa<'a>(a: Args<'a>) -> Result<Value<'a>> {
    let v = a.value(0)?;
    let Value::Bytes(s) = &v else { return Ok(Value::Null) };
    if a.args[0].ty.collation.is_binary() {
        if let Ok(v4) = <[u8; 4]>::try_from(&s[..]) {
            return Ok(bytes(Ipv4Addr::from(v4).to_string().into_bytes()));
        }
        if let Ok(v6) = <[u8; 16]>::try_from(&s[..]) {
            return Ok(bytes(v6_text(v6).into_bytes()));
        }
    }
    a.run.warn(ER_WRONG_VALUE_FOR_TYPE, wrong(&a, s).message);
    Ok(Value::Null)
}

/// An address of 96 zero bits prints its last part as IPv4's do, as the C library has it.
fn v6_text(octets: [u8; 16]) -> String {
    if octets[..12] == [0; 12] && octets[12..14] != [0; 2] {
        return format!("::{}.{}.{}.{}", octets[12], octets[13], octets[14], octets[15]);
    }
    Ipv6Addr::from(octets).to_string()
}

/// 32 hexadecimal digits: without hyphens, with them, or with them in braces.
fn parse_uuid(text: &[u8]) -> Option<[u8; 16]> {
    let text = match text.len() {
        38 => text.strip_prefix(b"{")?.strip_suffix(b"}")?,
        _ => text,
    };
    let digits: Vec<u8> = match text.len() {
        36 if [8, 13, 18, 23].iter().all(|i| text[*i] == b'-') => text.iter().copied().filter(|b| *b != b'-').collect(),
        32 => text.to_vec(),
        _ => return None,
    };
    let mut out = [0; 16];
    let (pairs, rest) = digits.as_chunks::<2>();
    if pairs.len() != out.len() || !rest.is_empty() {
        return None;
    }
    for (byte, pair) in out.iter_mut().zip(pairs) {
        let digit = |b: u8| (b as char).to_digit(16);
        *byte = (digit(pair[0])? << 4 | digit(pair[1])?) as u8;
    }
    Some(out)
}

/// The second argument: do the parts of the time change places?
fn swaps(a: &Args<'_>) -> Result<bool> {
    Ok(a.len() == 2 && a.int(1)?.is_some_and(|n| n != 0))
}

fn uuid_to_bin<'a>(a: Args<'a>) -> Result<Value<'a>> {
    let Some(s) = a.text(0)? else { return Ok(Value::Null) };
    let Some(u) = parse_uuid(&s) else { return Err(wrong(&a, &s)) };
    Ok(bytes(match swaps(&a)? {
        true => [&u[6..8], &u[4..6], &u[..4], &u[8..]].concat(),
        false => u.to_vec(),
    }))
}

fn bin_to_uuid<'a>(a: Args<'a>) -> Result<Value<'a>> {
    let Some(s) = a.text(0)? else { return Ok(Value::Null) };
    if s.len() != 16 {
        return Err(wrong(&a, &s));
    }
    let u = if swaps(&a)? { [&s[4..8], &s[2..4], &s[..2], &s[8..]].concat() } else { s.to_vec() };
    let mut out = to_hex(&u, false);
    for at in [8, 13, 18, 23] {
        out.insert(at, b'-');
    }
    Ok(bytes(out))
}

/// Server, time of the statement and call: 8, 40 and 16 bits. Calls of one session in one microsecond count on.
fn uuid_short<'a>(a: Args<'a>) -> Result<Value<'a>> {
    let (server, _) = a.run.session().system_variable(Some(true), "server_id")?;
    let connection = a.run.session().connection_id();
    let call = a.run.evaluation().scratch().count();
    let micros = (a.run.evaluation().now_us as u64) >> 6 & 0xFF_FFFF_FFFF;
    Ok(Value::UInt(
        (server.to_u64() & 0xFF) << 56 | micros << 16 | (connection.wrapping_mul(257).wrapping_add(call) & 0xFFFF),
    ))
}
