//! String functions. Positions and lengths count characters of the argument's character set.

use super::locale;
use crate::function::{Args, Function, MANY, Rule, bytes, f, volatile};
use crate::{LoadedFile, convert};
use memchr::memmem;
use std::borrow::Cow;
use types::charset::EightBit;
use types::codes::*;
use types::collation::case::{self, Case};
use types::{Charset, CollationId, Result, Value, base64, err};

/// Of texts and bytes.
pub static FUNCTIONS: &[Function] = &[
    f("concat", 1, MANY, Rule::Joined, concat),
    f("concat_ws", 2, MANY, Rule::Joined, concat_ws),
    f("length", 1, 1, Rule::Int(11), |a| Ok(a.text(0)?.map_or(Value::Null, |s| Value::Int(s.len() as i64)))),
    f("octet_length", 1, 1, Rule::Int(11), |a| Ok(a.text(0)?.map_or(Value::Null, |s| Value::Int(s.len() as i64)))),
    f("bit_length", 1, 1, Rule::Int(11), |a| Ok(a.text(0)?.map_or(Value::Null, |s| Value::Int(8 * s.len() as i64)))),
    f("char_length", 1, 1, Rule::Int(11), char_length),
    f("character_length", 1, 1, Rule::Int(11), char_length),
    f("upper", 1, 1, Rule::Text(0), |a| change_case(a, true)),
    f("ucase", 1, 1, Rule::Text(0), |a| change_case(a, true)),
    f("lower", 1, 1, Rule::Text(0), |a| change_case(a, false)),
    f("lcase", 1, 1, Rule::Text(0), |a| change_case(a, false)),
    f("substring", 2, 3, Rule::Text(0), substring),
    f("substr", 2, 3, Rule::Text(0), substring),
    f("mid", 3, 3, Rule::Text(0), substring),
    f("left", 2, 2, Rule::Text(0), left),
    f("right", 2, 2, Rule::Text(0), right),
    f("substring_index", 3, 3, Rule::Text(0), substring_index),
    f("replace", 3, 3, Rule::ByLength, replace),
    f("insert", 4, 4, Rule::Joined, insert),
    f("trim", 1, 2, Rule::Text(0), |a| trim(a, true, true)),
    f("ltrim", 1, 2, Rule::Text(0), |a| trim(a, true, false)),
    f("rtrim", 1, 2, Rule::Text(0), |a| trim(a, false, true)),
    f("locate", 2, 3, Rule::Int(11), |a| locate(a, 0, 1)),
    f("instr", 2, 2, Rule::Int(11), |a| locate(a, 1, 0)),
    f("lpad", 3, 3, Rule::Text(255), |a| pad(a, true)),
    f("rpad", 3, 3, Rule::Text(255), |a| pad(a, false)),
    f("repeat", 2, 2, Rule::Text(255), repeat),
    f("space", 1, 1, Rule::ByLength, space),
    f("reverse", 1, 1, Rule::Text(0), reverse),
    f("ascii", 1, 1, Rule::Int(4), |a| {
        Ok(a.text(0)?.map_or(Value::Null, |s| Value::Int(s.first().copied().unwrap_or(0) as i64)))
    }),
    f("ord", 1, 1, Rule::Int(21), ord),
    f("char", 1, MANY, Rule::Binary(40), chars),
    f("hex", 1, 1, Rule::System(512), hex),
    f("unhex", 1, 1, Rule::ByLength, unhex),
    f("field", 2, MANY, Rule::Int(11), field),
    f("elt", 2, MANY, Rule::CommonTail, elt),
    f("find_in_set", 2, 2, Rule::Int(11), find_in_set),
    f("make_set", 2, MANY, Rule::ByLength, make_set),
    f("quote", 1, 1, Rule::Text(255), quote),
    f("format", 2, 3, Rule::ByLength, format_number),
    f("export_set", 3, 5, Rule::ByLength, export_set),
    volatile(f("load_file", 1, 1, Rule::Binary(u32::MAX), load_file)),
    f("format_bytes", 1, 1, Rule::System(11), |a| {
        Ok(a.double(0)?.map_or(Value::Null, |n| bytes(scaled(n, &BYTES).into_bytes())))
    }),
    f("format_pico_time", 1, 1, Rule::System(11), |a| {
        Ok(a.double(0)?.map_or(Value::Null, |n| bytes(scaled(n, &PICOSECONDS).into_bytes())))
    }),
    f("soundex", 1, 1, Rule::Text(32), soundex),
    f("to_base64", 1, 1, Rule::ByLength, to_base64),
    f("from_base64", 1, 1, Rule::ByLength, from_base64),
];

/// Units of FORMAT_BYTES and FORMAT_PICO_TIME, the first one shown without digits behind the point.
const BYTES: [(f64, &str); 7] = [
    (1.0, "bytes"),
    (1024.0, "KiB"),
    (1_048_576.0, "MiB"),
    (1_073_741_824.0, "GiB"),
    (1_099_511_627_776.0, "TiB"),
    (1_125_899_906_842_624.0, "PiB"),
    (1_152_921_504_606_846_976.0, "EiB"),
];
const PICOSECONDS: [(f64, &str); 8] =
    [(1.0, "ps"), (1e3, "ns"), (1e6, "us"), (1e9, "ms"), (1e12, "s"), (6e13, "min"), (3.6e15, "h"), (8.64e16, "d")];

fn scaled(n: f64, units: &[(f64, &str)]) -> String {
    let (unit, name) = units.iter().rev().find(|(unit, _)| n.abs() >= *unit).unwrap_or(&units[0]);
    match *unit {
        1.0 => format!("{:width$.0} {name}", n.trunc(), width = if *name == "ps" { 3 } else { 4 }),
        unit if (n / unit).abs() >= 100_000.0 => {
            // The exponent as C prints it: with its sign, and two digits at least.
            let text = format!("{:.2e}", n / unit);
            let (digits, exponent) = text.split_once('e').expect("the format has an exponent");
            format!("{digits}e+{exponent:0>2} {name}")
        }
        unit => format!("{:4.2} {name}", n / unit),
    }
}

/// Bytes of the first character; 0 of an empty text.
fn char_len(set: Charset, s: &[u8]) -> usize {
    if s.is_empty() { 0 } else { set.decode(s).1 }
}

fn slice<'a>(s: Cow<'a, [u8]>, from: usize, to: usize) -> Cow<'a, [u8]> {
    match s {
        Cow::Borrowed(b) => Cow::Borrowed(&b[from..to]),
        Cow::Owned(b) => Cow::Owned(b[from..to].to_vec()),
    }
}

/// What a text may grow by before it is moved.
const ROOM: usize = 32;

/// A text of its own that may grow a little.
fn with_room(s: Cow<'_, [u8]>) -> Vec<u8> {
    match s {
        Cow::Borrowed(s) => {
            let mut own = Vec::with_capacity(s.len() + ROOM);
            own.extend_from_slice(s);
            own
        }
        Cow::Owned(s) => s,
    }
}

fn concat<'a>(a: Args<'a>) -> Result<Value<'a>> {
    let mut out = Vec::new();
    for i in 0..a.len() {
        match a.text(i)? {
            Some(s) if i == 0 => out = with_room(s),
            Some(s) => out.extend_from_slice(&s),
            None => return Ok(Value::Null),
        }
        if a.outgrows_packet(out.len())? {
            return Ok(Value::Null);
        }
    }
    Ok(bytes(out))
}

fn concat_ws<'a>(a: Args<'a>) -> Result<Value<'a>> {
    let Some(separator) = a.text(0)? else { return Ok(Value::Null) };
    let mut out = Vec::new();
    let mut first = true;
    for i in 1..a.len() {
        if let Some(s) = a.text(i)? {
            if !first {
                out.extend_from_slice(&separator);
            }
            first = false;
            out.extend_from_slice(&s);
            if a.outgrows_packet(out.len())? {
                return Ok(Value::Null);
            }
        }
    }
    Ok(bytes(out))
}

fn char_length<'a>(a: Args<'a>) -> Result<Value<'a>> {
    Ok(a.text(0)?.map_or(Value::Null, |s| Value::Int(a.charset(0).char_count(&s) as i64)))
}

fn change_case<'a>(a: Args<'a>, upper: bool) -> Result<Value<'a>> {
    let Some(s) = a.text(0)? else { return Ok(Value::Null) };
    let set = a.charset(0);
    if set.is_ascii_compatible() && set != Charset::Binary && set != LATIN5 && s.is_ascii() {
        let mut s = with_room(s);
        if upper {
            s.make_ascii_uppercase()
        } else {
            s.make_ascii_lowercase()
        }
        return Ok(bytes(s));
    }
    if let Some(table) = case::eight_bit(set, upper) {
        return Ok(bytes(s.iter().map(|b| other_case(set, table, *b, upper)).collect::<Vec<u8>>()));
    }
    if set == Charset::Binary {
        return Ok(bytes(s));
    }
    let of_set = [a.ty.collation, a.args[0].ty.collation].into_iter().find(|c| c.charset() == set);
    let case = Case::of(of_set.unwrap_or_else(|| CollationId::default_of(set)), upper);
    let (mut out, mut rest) = (Vec::with_capacity(s.len()), &s[..]);
    while !rest.is_empty() {
        let (code, length) = set.decode(rest);
        let changed = case.change(code);
        // What is no character stays as it is, and so does one whose other case the set lacks.
        if changed == code || !set.encode(changed, &mut out) {
            out.extend_from_slice(&rest[..length]);
        }
        rest = &rest[length..];
    }
    Ok(bytes(out))
}

const LATIN5: Charset = Charset::Eight(EightBit::named("latin5"));

/// A byte's other case. In Turkish `i` and `I` are two letters, each with a case of its own.
fn other_case(set: Charset, table: &[u8; 128], byte: u8, upper: bool) -> u8 {
    match byte {
        b'i' if upper && set == LATIN5 => 0xDD,
        b'I' if !upper && set == LATIN5 => 0xFD,
        0x80.. => table[usize::from(byte - 0x80)],
        _ if upper => byte.to_ascii_uppercase(),
        _ => byte.to_ascii_lowercase(),
    }
}

fn substring<'a>(a: Args<'a>) -> Result<Value<'a>> {
    let (Some(s), Some(pos)) = (a.text(0)?, a.int(1)?) else { return Ok(Value::Null) };
    let len = match a.len() {
        3 => match a.int(2)? {
            Some(n) => n,
            None => return Ok(Value::Null),
        },
        _ => i64::MAX,
    };
    let part = part(a.charset(0), &s, pos, len);
    Ok(bytes(slice(s, part.start, part.end)))
}

/// The bytes of the `len` characters from character `pos` on, which counts from 1, or from the end where it is negative.
pub(super) fn part(set: types::Charset, s: &[u8], pos: i64, len: i64) -> std::ops::Range<usize> {
    let start = match pos {
        0 => return 0..0,
        p if p > 0 => p - 1,
        p => set.char_count(s) as i64 + p,
    };
    // No character is shorter than a byte.
    if start < 0 || start >= s.len() as i64 || len <= 0 {
        return 0..0;
    }
    let from = set.char_offset(s, start as usize);
    if from >= s.len() {
        return 0..0;
    }
    from..from + set.char_offset(&s[from..], len.min(s.len() as i64) as usize)
}

fn left<'a>(a: Args<'a>) -> Result<Value<'a>> {
    let (Some(s), Some(n)) = (a.text(0)?, a.int(1)?) else { return Ok(Value::Null) };
    let to = a.charset(0).char_offset(&s, n.max(0) as usize);
    Ok(bytes(slice(s, 0, to)))
}

fn right<'a>(a: Args<'a>) -> Result<Value<'a>> {
    let (Some(s), Some(n)) = (a.text(0)?, a.int(1)?) else { return Ok(Value::Null) };
    let set = a.charset(0);
    let skip = set.char_count(&s).saturating_sub(n.max(0) as usize);
    let from = set.char_offset(&s, skip);
    let to = s.len();
    Ok(bytes(slice(s, from, to)))
}

fn substring_index<'a>(a: Args<'a>) -> Result<Value<'a>> {
    let (Some(s), Some(d), Some(n)) = (a.text(0)?, a.text(1)?, a.int(2)?) else { return Ok(Value::Null) };
    if d.is_empty() || n == 0 {
        return Ok(bytes(&b""[..]));
    }
    // From the end the hits are counted as they are found from the front, as MySQL does.
    let hits = |n: u64| -> Result<Option<usize>> {
        let mut left = n;
        for hit in memmem::find_iter(&s, &d) {
            a.run.check_interrupt()?;
            left -= 1;
            if left == 0 {
                return Ok(Some(hit));
            }
        }
        Ok(None)
    };
    let (from, to) = if n > 0 {
        (0, hits(n as u64)?.unwrap_or(s.len()))
    } else {
        let mut count = 0;
        for _ in memmem::find_iter(&s, &d) {
            a.run.check_interrupt()?;
            count += 1;
        }
        let place = match u64::checked_sub(count, n.unsigned_abs()) {
            Some(before) => hits(before + 1)?,
            None => None,
        };
        (place.map_or(0, |hit| hit + d.len()), s.len())
    };
    Ok(bytes(slice(s, from, to)))
}

fn replace<'a>(a: Args<'a>) -> Result<Value<'a>> {
    let (Some(s), Some(from), Some(to)) = (a.text(0)?, a.text(1)?, a.text(2)?) else { return Ok(Value::Null) };
    if from.is_empty() {
        return Ok(bytes(s));
    }
    let finder = (s.len() > SHORT_BYTES).then(|| memmem::Finder::new(&from));
    let find = |at: usize| match &finder {
        Some(finder) => finder.find(&s[at..]).map(|hit| at + hit),
        None => find_short(&s, &from, at),
    };
    let Some(mut hit) = find(0) else { return Ok(bytes(s)) };
    let (mut out, mut at) = (Vec::with_capacity(s.len() + ROOM), 0);
    loop {
        a.run.check_interrupt()?;
        out.extend_from_slice(&s[at..hit]);
        out.extend_from_slice(&to);
        at = hit + from.len();
        if a.outgrows_packet(out.len())? {
            return Ok(Value::Null);
        }
        match find(at) {
            Some(next) => hit = next,
            None => break,
        }
    }
    out.extend_from_slice(&s[at..]);
    Ok(bytes(out))
}

/// Texts up to this length are searched without the tables that a search of long ones makes first.
const SHORT_BYTES: usize = 128;

/// The first place of `what`, which is not empty, from byte `at` on.
fn find_short(s: &[u8], what: &[u8], mut at: usize) -> Option<usize> {
    loop {
        at += memchr::memchr(what[0], &s[at..])?;
        if s[at..].starts_with(what) {
            return Some(at);
        }
        at += 1;
    }
}

fn insert<'a>(a: Args<'a>) -> Result<Value<'a>> {
    let (Some(s), Some(pos), Some(len), Some(new)) = (a.text(0)?, a.int(1)?, a.int(2)?, a.text(3)?) else {
        return Ok(Value::Null);
    };
    let set = a.charset(0);
    let count = set.char_count(&s) as i64;
    if pos < 1 || pos > count {
        return Ok(bytes(s));
    }
    let from = set.char_offset(&s, pos as usize - 1);
    let len = if len < 0 { count } else { len };
    let to = from + set.char_offset(&s[from..], len.min(count) as usize);
    if a.run.outgrows_packet("insert", s.len() - (to - from) + new.len())? {
        return Ok(Value::Null);
    }
    Ok(bytes([&s[..from], &new, &s[to..]].concat()))
}

fn trim<'a>(a: Args<'a>, leading: bool, trailing: bool) -> Result<Value<'a>> {
    let Some(s) = a.text(0)? else { return Ok(Value::Null) };
    let what = match a.len() {
        2 => match a.text(1)? {
            Some(w) => w,
            None => return Ok(Value::Null),
        },
        _ => Cow::Borrowed(&b" "[..]),
    };
    if what.is_empty() {
        return Ok(bytes(s));
    }
    let (mut from, mut to) = (0, s.len());
    while leading && s[from..to].starts_with(&what) {
        from += what.len();
    }
    while trailing && s[from..to].ends_with(&what) {
        to -= what.len();
    }
    Ok(bytes(slice(s, from, to)))
}

/// Position of one string in another, from 1; equal under the collation character by character.
fn locate<'a>(a: Args<'a>, needle: usize, hay: usize) -> Result<Value<'a>> {
    let (Some(n), Some(h)) = (a.text(needle)?, a.text(hay)?) else { return Ok(Value::Null) };
    let start = match a.len() {
        3 => match a.int(2)? {
            Some(s) => s,
            None => return Ok(Value::Null),
        },
        _ => 1,
    };
    Ok(Value::Int(position(a.collation(), &n, &h, start, &mut || a.run.check_interrupt_now())?))
}

/// Characters between two looks for interrupts.
const LOOK_AFTER: usize = 4096;

/// Position, in characters from 1, of `needle` in `hay` at `start` or behind it; 0: it is not there. `go_on` is asked from time to time,
/// and its error ends the search.
pub(super) fn position(
    collation: types::CollationId,
    needle: &[u8],
    hay: &[u8],
    start: i64,
    go_on: &mut dyn FnMut() -> Result<()>,
) -> Result<i64> {
    let set = collation.charset();
    let characters = set.char_count(hay);
    if start < 1 || start as usize > characters + 1 {
        return Ok(0);
    }
    if needle.is_empty() {
        return Ok(start);
    }
    let first = start as usize - 1;
    let wanted = set.char_count(needle);
    if wanted > characters - first {
        return Ok(0);
    }
    crate::error::check_memory_for(wanted * 2 * size_of::<u32>())?;
    let decode = |mut s: &[u8]| {
        let mut out = Vec::with_capacity(wanted);
        while !s.is_empty() {
            let (c, len) = set.decode(s);
            out.push(c);
            s = &s[len..];
        }
        out
    };
    let n = decode(needle);
    // Knuth, Morris and Pratt: a long needle of repetitions is not looked for anew at each place.
    let equal = |a: u32, b: u32| collation.char_equal(a, b);
    let mut borders = vec![0u32; n.len()];
    let mut matched = 0;
    for i in 1..n.len() {
        if i.is_multiple_of(LOOK_AFTER) {
            go_on()?;
        }
        matched = longest_border(&n, &borders, matched, n[i], equal);
        borders[i] = matched as u32;
    }
    matched = 0;
    let mut rest = &hay[set.char_offset(hay, first)..];
    let mut i = first;
    while !rest.is_empty() {
        if i.is_multiple_of(LOOK_AFTER) {
            go_on()?;
        }
        let (c, len) = set.decode(rest);
        rest = &rest[len..];
        matched = longest_border(&n, &borders, matched, c, equal);
        if matched == n.len() {
            return Ok((i + 2 - n.len()) as i64);
        }
        i += 1;
    }
    Ok(0)
}

/// How many characters of `needle` stand before and with the character `c`, where `matched` of them stand before it. `borders`: of
/// each beginning of the needle, how long its longest proper end is that is a beginning too.
fn longest_border(needle: &[u32], borders: &[u32], matched: usize, c: u32, equal: impl Fn(u32, u32) -> bool) -> usize {
    let mut matched = matched;
    while matched > 0 && !equal(needle[matched], c) {
        matched = borders[matched - 1] as usize;
    }
    matched + equal(needle[matched], c) as usize
}

fn pad<'a>(a: Args<'a>, at_left: bool) -> Result<Value<'a>> {
    let (Some(s), Some(n), Some(p)) = (a.text(0)?, a.int(1)?, a.text(2)?) else { return Ok(Value::Null) };
    if n < 0 {
        return Ok(Value::Null);
    }
    let set = a.charset(0);
    let (count, n) = (set.char_count(&s), n as usize);
    if count >= n {
        let to = set.char_offset(&s, n);
        return Ok(bytes(slice(s, 0, to)));
    }
    if p.is_empty() {
        // There is nothing to fill it up with.
        return Ok(Value::Bytes(s));
    }
    // As MySQL counts: each character as long as one can be.
    let most = n.saturating_mul(set.mbmaxlen() as usize);
    if a.run.outgrows_packet(if at_left { "lpad" } else { "rpad" }, most)? {
        return Ok(Value::Null);
    }
    let mut fill = Vec::new();
    let mut left = n - count;
    while left > 0 {
        let mut rest = &p[..];
        while left > 0 && !rest.is_empty() {
            let k = char_len(set, rest);
            fill.extend_from_slice(&rest[..k]);
            rest = &rest[k..];
            left -= 1;
        }
    }
    Ok(bytes(if at_left { [&fill[..], &s].concat() } else { [&s[..], &fill].concat() }))
}

fn repeat<'a>(a: Args<'a>) -> Result<Value<'a>> {
    let (Some(s), Some(n)) = (a.text(0)?, a.int(1)?) else { return Ok(Value::Null) };
    let n = n.max(0) as usize;
    if a.run.outgrows_packet("repeat", s.len().saturating_mul(n))? {
        return Ok(Value::Null);
    }
    Ok(bytes(s.repeat(n)))
}

fn space<'a>(a: Args<'a>) -> Result<Value<'a>> {
    let Some(n) = a.int(0)? else { return Ok(Value::Null) };
    let n = n.max(0) as usize;
    if a.run.outgrows_packet("space", n)? {
        return Ok(Value::Null);
    }
    Ok(bytes(vec![b' '; n]))
}

fn reverse<'a>(a: Args<'a>) -> Result<Value<'a>> {
    let Some(s) = a.text(0)? else { return Ok(Value::Null) };
    let set = a.charset(0);
    let mut out = vec![0; s.len()];
    let (mut from, mut to) = (0, s.len());
    while from < s.len() {
        let n = char_len(set, &s[from..]);
        out[to - n..to].copy_from_slice(&s[from..from + n]);
        from += n;
        to -= n;
    }
    Ok(bytes(out))
}

fn ord<'a>(a: Args<'a>) -> Result<Value<'a>> {
    let Some(s) = a.text(0)? else { return Ok(Value::Null) };
    let n = char_len(a.charset(0), &s);
    Ok(Value::Int(s[..n].iter().fold(0i64, |v, b| v << 8 | *b as i64)))
}

fn chars<'a>(a: Args<'a>) -> Result<Value<'a>> {
    let mut out = Vec::new();
    for i in 0..a.len() {
        let v = a.whole(i)?;
        if !v.is_null() {
            let raw = (convert::bits64(&v, a.run) as u32).to_be_bytes();
            let skip = raw.iter().position(|b| *b != 0).unwrap_or(3);
            out.extend_from_slice(&raw[skip..]);
        }
    }
    Ok(bytes(out))
}

/// Two digits for each byte.
pub fn to_hex(data: &[u8], upper: bool) -> Vec<u8> {
    let digits: &[u8; 16] = if upper { b"0123456789ABCDEF" } else { b"0123456789abcdef" };
    data.iter().flat_map(|b| [digits[(b >> 4) as usize], digits[(b & 15) as usize]]).collect()
}

fn hex<'a>(a: Args<'a>) -> Result<Value<'a>> {
    let v = a.whole(0)?;
    Ok(match v {
        Value::Null => Value::Null,
        Value::Bytes(b) => bytes(to_hex(&b, true)),
        Value::Decimal(d) => bytes(format!("{:X}", convert::integer_of_decimal(&d, a.run)).into_bytes()),
        Value::Double(_) => bytes(format!("{:X}", v.to_i64()).into_bytes()),
        Value::Date(_) | Value::Time(_) | Value::DateTime(_) | Value::Json(_) => {
            bytes(to_hex(&convert::text(&v, &a.args[0].ty), true))
        }
        v => bytes(format!("{:X}", convert::bits64(&v, a.run)).into_bytes()),
    })
}

fn unhex<'a>(a: Args<'a>) -> Result<Value<'a>> {
    let Some(s) = a.text(0)? else { return Ok(Value::Null) };
    let digit = |b: u8| (b as char).to_digit(16).map(|d| d as u8);
    let mut digits: Vec<u8> = Vec::with_capacity(s.len() + 1);
    if s.len() % 2 == 1 {
        digits.push(0);
    }
    for b in s.iter() {
        match digit(*b) {
            Some(d) => digits.push(d),
            None => {
                let shown = String::from_utf8_lossy(&s).into_owned();
                a.run.push_warning(err!(ER_WRONG_VALUE_FOR_TYPE, "string", format!("'{shown}'"), "unhex"));
                return Ok(Value::Null);
            }
        }
    }
    Ok(bytes(digits.chunks(2).map(|p| p[0] << 4 | p[1]).collect::<Vec<u8>>()))
}

/// With a number among them the arguments are compared as numbers, as doubles where there are strings beside it.
fn field<'a>(a: Args<'a>) -> Result<Value<'a>> {
    let is_number = |e: &crate::Expr| e.ty.kind.is_numeric();
    if a.args.iter().any(is_number) && !a.args.iter().all(is_number) {
        let Some(v) = a.double(0)? else { return Ok(Value::Int(0)) };
        for i in 1..a.len() {
            if a.double(i)?.is_some_and(|w| w == v) {
                return Ok(Value::Int(i as i64));
            }
        }
        return Ok(Value::Int(0));
    }
    let v = a.value(0)?;
    if v.is_null() {
        return Ok(Value::Int(0));
    }
    let collation = a.collation();
    for i in 1..a.len() {
        let w = a.value(i)?;
        if !w.is_null() && crate::compare::values(&v, &w, collation, a.run)?.is_eq() {
            return Ok(Value::Int(i as i64));
        }
    }
    Ok(Value::Int(0))
}

fn elt<'a>(a: Args<'a>) -> Result<Value<'a>> {
    match a.int(0)? {
        Some(n) if n >= 1 && (n as usize) < a.len() => Ok(a.text(n as usize)?.map_or(Value::Null, Value::Bytes)),
        _ => Ok(Value::Null),
    }
}

fn find_in_set<'a>(a: Args<'a>) -> Result<Value<'a>> {
    let (Some(s), Some(list)) = (a.text(0)?, a.text(1)?) else { return Ok(Value::Null) };
    if list.is_empty() {
        return Ok(Value::Int(0));
    }
    let collation = a.collation();
    let at = list.split(|b| *b == b',').position(|m| collation.equal(m, &s));
    Ok(Value::Int(at.map_or(0, |i| i as i64 + 1)))
}

fn make_set<'a>(a: Args<'a>) -> Result<Value<'a>> {
    let Some(bits) = a.int(0)? else { return Ok(Value::Null) };
    let mut out: Vec<u8> = Vec::new();
    let mut first = true;
    for i in 1..a.len().min(65) {
        if bits & (1 << (i - 1)) != 0
            && let Some(s) = a.text(i)?
        {
            if !first {
                out.push(b',');
            }
            first = false;
            out.extend_from_slice(&s);
        }
    }
    Ok(bytes(out))
}

fn quote<'a>(a: Args<'a>) -> Result<Value<'a>> {
    let Some(s) = a.text(0)? else { return Ok(bytes(&b"NULL"[..])) };
    let escaped = s.iter().filter(|b| matches!(b, b'\'' | b'\\' | 0 | 26)).count();
    if a.run.outgrows_packet("quote", s.len() + escaped + 2)? {
        return Ok(Value::Null);
    }
    let mut out = vec![b'\''];
    for b in s.iter() {
        match b {
            b'\'' | b'\\' => out.extend_from_slice(&[b'\\', *b]),
            0 => out.extend_from_slice(b"\\0"),
            26 => out.extend_from_slice(b"\\Z"),
            b => out.push(*b),
        }
    }
    out.push(b'\'');
    Ok(bytes(out))
}

/// FORMAT(x, d [, locale]): rounded, with the locale's separators.
fn load_file<'a>(a: Args<'a>) -> Result<Value<'a>> {
    let Some(name) = a.text(0)? else { return Ok(Value::Null) };
    let name = String::from_utf8_lossy(&name);
    // Before the session is borrowed, which it asks itself.
    let most = a.run.max_packet() as u64;
    let found = a.run.session().load_file(&name, most)?;
    Ok(match found {
        LoadedFile::Refused => Value::Null,
        LoadedFile::TooLarge(size) => {
            a.run.outgrows_packet("load_file", usize::try_from(size).unwrap_or(usize::MAX))?;
            Value::Null
        }
        LoadedFile::Content(content) => {
            a.run.check_growth(content.len())?;
            bytes(content)
        }
    })
}

fn format_number<'a>(a: Args<'a>) -> Result<Value<'a>> {
    let (v, Some(d)) = (a.value(0)?, a.int(1)?) else { return Ok(Value::Null) };
    if v.is_null() {
        return Ok(Value::Null);
    }
    let separators = match a.len() {
        3 => {
            let name = a.text(2)?.map(|n| String::from_utf8_lossy(&n).into_owned());
            name.as_deref().and_then(locale::separators).unwrap_or_else(|| {
                let name = name.unwrap_or("NULL".to_string());
                a.run.push_warning(err!(ER_UNKNOWN_LOCALE, name));
                locale::ENGLISH
            })
        }
        _ => locale::ENGLISH,
    };
    let d = d.clamp(0, 30) as u8;
    let mut text = Vec::new();
    match &v {
        Value::Double(_) | Value::Bytes(_) => {
            let x = a.double(0)?.unwrap_or(0.0);
            types::number::write_fixed(super::math::round_double(x, d as i64, false), d, &mut text)
        }
        v => v.to_decimal().round(d).write(&mut text),
    }
    let text = String::from_utf8_lossy(&text).into_owned();
    let (sign, rest) = text.strip_prefix('-').map_or(("", &text[..]), |r| ("-", r));
    let (whole, fraction) = rest.split_once('.').unwrap_or((rest, ""));
    let mut out = String::from(sign);
    for (i, c) in whole.chars().enumerate() {
        if i > 0 && separators.breaks_before(whole.len() - i) {
            out.push_str(separators.thousands);
        }
        out.push(c);
    }
    if d > 0 {
        out.push_str(separators.point);
        out.push_str(fraction);
        (fraction.len()..d as usize).for_each(|_| out.push('0'));
    }
    Ok(bytes(out.into_bytes()))
}

/// EXPORT_SET(bits, on, off [, separator [, number of bits]])
fn export_set<'a>(a: Args<'a>) -> Result<Value<'a>> {
    let (Some(bits), Some(on), Some(off)) = (a.int(0)?, a.text(1)?, a.text(2)?) else { return Ok(Value::Null) };
    let separator = match a.len() {
        0..4 => Cow::Borrowed(&b","[..]),
        _ => match a.text(3)? {
            Some(s) => s,
            None => return Ok(Value::Null),
        },
    };
    let count = match a.len() {
        5 => match a.int(4)? {
            Some(n) => {
                if (0..=64).contains(&n) {
                    n
                } else {
                    64
                }
            }
            None => return Ok(Value::Null),
        },
        _ => 64,
    };
    // As MySQL counts: the longer of the two in each place.
    let most = on.len().max(off.len()) * count as usize + separator.len() * (count as usize).saturating_sub(1);
    if a.run.outgrows_packet("export_set", most)? {
        return Ok(Value::Null);
    }
    let parts: Vec<&[u8]> = (0..count).map(|i| if bits >> i & 1 == 1 { &on[..] } else { &off[..] }).collect();
    Ok(bytes(parts.join(&separator[..])))
}

/// WEIGHT_STRING(text [AS CHAR(n) | AS BINARY(n)]): argument 1 is the length or NULL, 2 whether it is of bytes.
pub fn weight_string<'a>(a: Args<'a>) -> Result<Value<'a>> {
    let v = a.value(0)?;
    let s = match v {
        Value::Int(v) => return Ok(bytes((v as u64 ^ 1 << 63).to_be_bytes().to_vec())),
        Value::UInt(v) => return Ok(bytes(v.to_be_bytes().to_vec())),
        Value::Bytes(s) => s,
        _ => return Ok(Value::Null),
    };
    let length = a.int(1)?.map(|n| n as usize);
    let sized = a.int(3)?.map(|n| n as usize);
    let mut out = Vec::new();
    let is_binary = a.int(2)? == Some(1);
    let function = if is_binary { "cast_as_binary" } else { "weight_string" };
    let set = a.charset(0);
    let end = length.map_or(s.len(), |n| set.char_offset(&s, n));
    let most = match (is_binary, length) {
        (true, length) => length.unwrap_or(s.len()),
        (false, length) => end.max(length.unwrap_or(0)).saturating_mul(a.args[0].ty.collation.weight_bytes_max()),
    };
    if a.run.outgrows_packet(function, sized.unwrap_or(most))? {
        return Ok(Value::Null);
    }
    if is_binary {
        let mut s = s.into_owned();
        s.resize(length.unwrap_or(s.len()), 0);
        return Ok(bytes(s));
    }
    let blanks = length.map_or(0, |n| n.saturating_sub(set.char_count(&s)));
    a.args[0].ty.collation.sort_weights(&s[..end], blanks.max(sized.unwrap_or(0)), &mut out);
    if let Some(n) = sized {
        out.resize(n, 0);
    }
    Ok(bytes(out))
}

fn soundex<'a>(a: Args<'a>) -> Result<Value<'a>> {
    let Some(s) = a.text(0)? else { return Ok(Value::Null) };
    let code = |c: u8| match c.to_ascii_uppercase() {
        b'B' | b'F' | b'P' | b'V' => b'1',
        b'C' | b'G' | b'J' | b'K' | b'Q' | b'S' | b'X' | b'Z' => b'2',
        b'D' | b'T' => b'3',
        b'L' => b'4',
        b'M' | b'N' => b'5',
        b'R' => b'6',
        _ => b'0',
    };
    // Letters beyond ASCII count as vowels.
    let set = a.charset(0);
    let (mut out, mut digits, mut last) = (Vec::new(), 0, 0);
    let mut rest = &s[..];
    while !rest.is_empty() {
        let n = char_len(set, rest);
        let (c, whole) = (rest[0], &rest[..n]);
        rest = &rest[n..];
        if n == 1 && !c.is_ascii_alphabetic() {
            continue;
        }
        let k = if n == 1 { code(c) } else { b'0' };
        if out.is_empty() {
            if n == 1 {
                out.push(c.to_ascii_uppercase())
            } else {
                out.extend_from_slice(whole)
            }
            last = k;
            continue;
        }
        // Vowels go first, then what is like the one before it.
        if k != b'0' && k != last {
            out.push(k);
            digits += 1;
            last = k;
        }
    }
    if !out.is_empty() {
        (digits..3).for_each(|_| out.push(b'0'));
    }
    Ok(bytes(out))
}

fn to_base64<'a>(a: Args<'a>) -> Result<Value<'a>> {
    let Some(s) = a.text(0)? else { return Ok(Value::Null) };
    let encoded = s.len().div_ceil(3) * 4;
    if a.run.outgrows_packet("to_base64", encoded + encoded.saturating_sub(1) / 76)? {
        return Ok(Value::Null);
    }
    let mut out = Vec::new();
    base64::encode_lines(&s, 76, &mut out);
    Ok(bytes(out))
}

fn from_base64<'a>(a: Args<'a>) -> Result<Value<'a>> {
    let Some(s) = a.text(0)? else { return Ok(Value::Null) };
    let clean: Vec<u8> = s.iter().copied().filter(|b| !b.is_ascii_whitespace()).collect();
    Ok(base64::decode(&clean).map_or(Value::Null, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All texts of so many letters.
    fn texts(letters: &[char], length: u32) -> impl Iterator<Item = String> + '_ {
        let n = letters.len();
        (0..n.pow(length)).map(move |number| (0..length).map(|i| letters[number / n.pow(i) % n]).collect())
    }

    #[test]
    fn short_texts_are_searched_as_long_ones() {
        for text in texts(&['a', 'b', 'é'], 6) {
            for what in ["a", "ab", "aab", "é", "aé", "bb"] {
                let found: Vec<usize> =
                    (0..=text.len()).filter_map(|at| find_short(text.as_bytes(), what.as_bytes(), at)).collect();
                let expected: Vec<usize> = (0..=text.len())
                    .filter_map(|at| Some(at + memmem::find(&text.as_bytes()[at..], what.as_bytes())?))
                    .collect();
                assert_eq!(found, expected, "{what} in {text}");
            }
        }
    }

    #[test]
    fn parts_are_those_of_single_characters() {
        for text in texts(&['a', 'é', '😀'], 5) {
            let chars: Vec<char> = text.chars().collect();
            for pos in -7..8i64 {
                for length in -1..8i64 {
                    let from = if pos < 0 { chars.len() as i64 + pos } else { pos - 1 };
                    let whole = pos != 0 && from >= 0 && length > 0;
                    let expected: String = match whole {
                        true => chars.iter().skip(from as usize).take(length as usize).collect(),
                        false => String::new(),
                    };
                    let part = part(Charset::Utf8mb4, text.as_bytes(), pos, length);
                    assert_eq!(&text[part], expected, "{text} {pos} {length}");
                }
            }
        }
    }
}
