//! GTID_TAGGED_LOG: what GTID_LOG says, of a transaction whose GTID has a tag, in the self-describing form of MySQL's newer events.
//!
//! ```text
//!   version 1 | bytes of all this | the last field that a reader has to know | { number of a field | value }
//!   0 flags   1 UUID, each byte by itself   2 number (signed)   3 tag, behind its length   4 last_committed, 5 sequence_number (signed)
//!   6 immediate, 7 original commit time     8 bytes of the transaction   9 immediate, 10 original version   11 ticket of a commit group
//! ```
//! All numbers are packed: n bytes, low first, the lowest n - 1 bits of the first set and the next one not, then the value; nine bytes:
//! all bits of the first set. Signed ones have their sign in the lowest bit of the value. A time or version that is not there is that
//! which came before it.

use crate::event::{Checksum, GtidEvent, HEADER_BYTES};
use types::gtid::{Gtid, Tag, Uuid};

const VERSION: u64 = 1;
const FLAGS: u64 = 0;
const UUID: u64 = 1;
const NUMBER: u64 = 2;
const TAG: u64 = 3;
const LAST_COMMITTED: u64 = 4;
const SEQUENCE_NUMBER: u64 = 5;
const IMMEDIATE_COMMIT: u64 = 6;
const ORIGINAL_COMMIT: u64 = 7;
const LENGTH: u64 = 8;
const IMMEDIATE_VERSION: u64 = 9;
const ORIGINAL_VERSION: u64 = 10;
const TICKET: u64 = 11;
/// In the flags: statements may be among the events.
const HAS_STATEMENTS: u64 = 1;

fn put(out: &mut Vec<u8>, n: u64) {
    let bits = 64 - n.leading_zeros().min(63);
    let bytes = bits.div_ceil(7);
    if bytes > 8 {
        out.push(0xFF);
        out.extend_from_slice(&n.to_le_bytes());
        return;
    }
    let packed = u128::from(n) << bytes | ((1 << (bytes - 1)) - 1);
    out.extend_from_slice(&packed.to_le_bytes()[..bytes as usize]);
}

fn take(bytes: &mut &[u8]) -> Option<u64> {
    let width = bytes.first()?.trailing_ones() as usize + 1;
    let (packed, rest) = bytes.split_at_checked(width)?;
    *bytes = rest;
    let low_first = |b: &[u8]| b.iter().rev().fold(0u64, |n, b| n << 8 | u64::from(*b));
    Some(if width == 9 { low_first(&packed[1..]) } else { low_first(packed) >> width })
}

/// Of signed fields those that are not negative.
fn put_positive(out: &mut Vec<u8>, n: u64) {
    put(out, n << 1);
}

fn take_positive(bytes: &mut &[u8]) -> Option<u64> {
    let n = take(bytes)?;
    (n & 1 == 0).then_some(n >> 1)
}

/// The body of the event of `gtid`, as [`GtidEvent::body`].
pub(crate) fn encode(event: &GtidEvent, gtid: &Gtid, others: u64, checksum: Checksum) -> Vec<u8> {
    let mut length = others;
    loop {
        let fields = fields(event, gtid, length);
        // Of the whole, with version, length and the field that has to be known: one byte for each, and two for a long length.
        let total = if fields.len() + 3 < 128 { fields.len() + 3 } else { fields.len() + 4 };
        let transaction = (HEADER_BYTES + total + checksum.bytes()) as u64 + others;
        if transaction == length {
            let mut body = Vec::with_capacity(total);
            put(&mut body, VERSION);
            put(&mut body, total as u64);
            put(&mut body, 0);
            body.extend_from_slice(&fields);
            debug_assert_eq!(body.len(), total);
            return body;
        }
        // It only grows, and does so a few times.
        length = transaction;
    }
}

fn fields(event: &GtidEvent, gtid: &Gtid, length: u64) -> Vec<u8> {
    let mut out = Vec::new();
    put(&mut out, FLAGS);
    put(&mut out, if event.has_statements { HAS_STATEMENTS } else { 0 });
    put(&mut out, UUID);
    gtid.uuid.0.iter().for_each(|byte| put(&mut out, u64::from(*byte)));
    put(&mut out, NUMBER);
    put_positive(&mut out, gtid.number);
    put(&mut out, TAG);
    put(&mut out, gtid.tag.as_str().len() as u64);
    out.extend_from_slice(gtid.tag.as_str().as_bytes());
    put(&mut out, LAST_COMMITTED);
    put_positive(&mut out, event.last_committed);
    put(&mut out, SEQUENCE_NUMBER);
    put_positive(&mut out, event.sequence_number);
    let mut field = |number, value: u64| {
        put(&mut out, number);
        put(&mut out, value);
    };
    field(IMMEDIATE_COMMIT, event.immediate_commit_us);
    if event.original_commit_us != event.immediate_commit_us {
        field(ORIGINAL_COMMIT, event.original_commit_us);
    }
    field(LENGTH, length);
    field(IMMEDIATE_VERSION, event.immediate_version.into());
    if event.original_version != event.immediate_version {
        field(ORIGINAL_VERSION, event.original_version.into());
    }
    out
}

/// Reads a body back, and the bytes of the transaction. `None`: it is damaged, or has fields that have to be known and are not.
pub(crate) fn decode(body: &[u8]) -> Option<(GtidEvent, u64)> {
    let mut rest = body;
    let rest = &mut rest;
    let (version, bytes, needed) = (take(rest)?, take(rest)?, take(rest)?);
    if version != VERSION || bytes != body.len() as u64 || needed > TICKET {
        return None;
    }
    let mut gtid = Gtid { uuid: Uuid::default(), tag: Tag::default(), number: 0 };
    let mut event = GtidEvent {
        gtid: None,
        has_statements: false,
        last_committed: 0,
        sequence_number: 0,
        immediate_commit_us: 0,
        original_commit_us: 0,
        immediate_version: 0,
        original_version: 0,
    };
    let (mut length, mut original_commit, mut original_version) = (0, None, None);
    while !rest.is_empty() {
        match take(rest)? {
            FLAGS => event.has_statements = take(rest)? & HAS_STATEMENTS != 0,
            UUID => {
                for byte in &mut gtid.uuid.0 {
                    *byte = u8::try_from(take(rest)?).ok()?;
                }
            }
            NUMBER => gtid.number = take_positive(rest)?,
            TAG => {
                let len = usize::try_from(take(rest)?).ok()?;
                let (text, behind) = rest.split_at_checked(len)?;
                *rest = behind;
                if !text.is_empty() {
                    gtid.tag = Tag::parse(std::str::from_utf8(text).ok()?)?;
                }
            }
            LAST_COMMITTED => event.last_committed = take_positive(rest)?,
            SEQUENCE_NUMBER => event.sequence_number = take_positive(rest)?,
            IMMEDIATE_COMMIT => event.immediate_commit_us = take(rest)?,
            ORIGINAL_COMMIT => original_commit = Some(take(rest)?),
            LENGTH => length = take(rest)?,
            IMMEDIATE_VERSION => event.immediate_version = u32::try_from(take(rest)?).ok()?,
            ORIGINAL_VERSION => original_version = Some(u32::try_from(take(rest)?).ok()?),
            TICKET => drop(take(rest)?),
            // Of a later server, and not needed.
            _ => break,
        }
    }
    event.original_commit_us = original_commit.unwrap_or(event.immediate_commit_us);
    event.original_version = original_version.unwrap_or(event.immediate_version);
    event.gtid = (gtid.number != 0).then_some(gtid);
    event.gtid.is_some().then_some((event, length))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bodies that MySQL 9.7 has written.
    const MYSQLS: [&str; 3] = [
        "026c0000000242baae86a1030022c503dd026204f10300000002040406087461676108000a040c7f253412d60461061025041283120b",
        "02640000000222222222444466668888aaaaaaaaaaaa0469020606745f3108040a140c7fcbd912d60461061015041283120b",
        "02660000020242baae86a1030022c503dd026204f10300000002040806027808200a240c7fbd9713d604610610cd021283120b",
    ];

    fn bytes(hex: &str) -> Vec<u8> {
        (0..hex.len() / 2).map(|i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).unwrap()).collect()
    }

    #[test]
    fn mysqls_events_are_read_and_written_alike() {
        let wanted = [
            ("215d5743-e800-11f1-b731-02fc00000001:taga:1", 0, 1, 265, false),
            ("11111111-2222-3333-4444-555555555555:t_1:77", 1, 5, 261, false),
            ("215d5743-e800-11f1-b731-02fc00000001:x:2", 8, 9, 179, true),
        ];
        for (hex, (gtid, last, sequence, length, statements)) in MYSQLS.into_iter().zip(wanted) {
            let body = bytes(hex);
            let (event, told) = decode(&body).unwrap();
            assert_eq!(event.gtid, Gtid::parse(gtid));
            assert_eq!((event.last_committed, event.sequence_number, told), (last, sequence, length));
            assert_eq!((event.immediate_version, event.original_version), (90_704, 90_704));
            assert_eq!(event.has_statements, statements);
            let others = length - (HEADER_BYTES + body.len() + 4) as u64;
            assert_eq!(encode(&event, &event.gtid.unwrap(), others, Checksum::Crc32), body);
            for cut in 0..body.len() {
                assert!(decode(&body[..cut]).is_none());
            }
        }
    }

    #[test]
    fn packed_numbers_come_back() {
        let numbers = (0..64).flat_map(|bit| [0, 1, u64::MAX].map(|more| (1u64 << bit).wrapping_add(more)));
        for n in numbers {
            let mut out = Vec::new();
            put(&mut out, n);
            let mut rest = &out[..];
            assert_eq!((take(&mut rest), rest.len()), (Some(n), 0), "{n}");
        }
    }
}
