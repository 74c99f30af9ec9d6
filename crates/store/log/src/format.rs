//! The bytes of the log: groups, segment headers. Everything is little-endian.
//!
//! A group, the unit of atomicity, at its LSN in the stream (LSNs are multiples of 8):
//!
//! ```text
//!   0        4        8         12          16                 16+len       end (multiple of 8)
//!   +--------+--------+---------+-----------+------------------+-----------+
//!   | crc32  | len    | tag     | unflushed | payload          | 0 padding |
//!   +--------+--------+---------+-----------+------------------+-----------+
//!   crc32      over bytes 4..end, seeded with mix(log id, LSN): bytes of a recycled segment, or of another log, fail
//!   len        payload bytes, at least 1; bit 31: the payload is sealed
//!   tag        epoch + mix'(log id, LSN), wrapping; the epoch counts the starts of the server on this log
//!   unflushed  LSN minus the flushed LSN when the group was reserved (u32::MAX: that or more, no claim)
//! ```
//!
//! `LSN - unflushed` is the group's *durable hint*: all before it was on disk when this group was made. A group that fails its
//! checks below a later valid group's hint was durable once, so it is damaged; otherwise it is the torn tail of a crash.
//!
//! A sealed payload is a nonce of 8 bytes, new at each start, and what the group says, encrypted ([`cipher::Keys::seal_group`]). Header and
//! checksum are of the bytes as they stand, so the log's end is found without a key.
//!
//! ## Why stale bytes never pass for valid
//!
//! 1. Bytes from another position (recycled segments, ring garbage) fail the seed and the tag: 64 bits that depend on the LSN.
//! 2. Bytes from the same position but an earlier start: say the log once ended, torn, at X and the server went on there.
//!    What the earlier start wrote beyond X may still lie on disk, at its own LSN. But before the first append, the new
//!    start zeroes X's block from X on, makes all up to X durable, and then makes (epoch + 1, X) durable in the control file; the
//!    reader takes only groups of that very epoch at X and above. Below X everything is durable, so a bad group there is damage.
//! 3. Such leftovers cannot fake damage either: the scan for proof takes only groups of the last epoch, too.
//!
//! A segment file holds `data_bytes` of the stream after one header block:
//!
//! ```text
//!   file:  | header 4096 | stream bytes [number * data_bytes, (number + 1) * data_bytes) |
//!   header: 0 magic "CLRWREDO" | 8 version u32 | 12 crc32 u32 of bytes 0..12 and 16..48 | 16 log id u64
//!           24 number u64 | 32 data_bytes u64 | 40 first LSN u64 | zeros
//! ```

use crate::Lsn;

/// The unit of file writes; file offset, LSN and ring offset agree modulo this.
pub const BLOCK: u64 = 4096;
pub const GROUP_HEADER: usize = 16;
/// A fresh log begins here, so that LSN 0 can mean "never".
pub const FIRST_LSN: Lsn = BLOCK;
pub const SEGMENT_HEADER: u64 = BLOCK;
/// In a header's `len`.
const SEALED: u32 = 1 << 31;
pub const VERSION: u32 = 1;
const SEGMENT_MAGIC: &[u8; 8] = b"CLRWREDO";

/// Stream bytes of a group with `payload` bytes.
pub fn group_bytes(payload: usize) -> u64 {
    (GROUP_HEADER + payload).next_multiple_of(8) as u64
}

pub fn block_floor(lsn: Lsn) -> Lsn {
    lsn & !(BLOCK - 1)
}

pub fn block_ceil(lsn: Lsn) -> Lsn {
    lsn.next_multiple_of(BLOCK)
}

/// A finaliser in the manner of splitmix64: every bit of the input moves about half of the output's bits.
pub(crate) fn mix(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Two independent 32-bit values of a position: the crc's seed and the tag's mask.
fn position_mix(log_id: u64, lsn: Lsn) -> (u32, u32) {
    let m = mix(log_id ^ lsn.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    (m as u32, (m >> 32) as u32)
}

/// A group's header, decoded or to be encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupHeader {
    pub payload_bytes: u32,
    /// The payload is encrypted, its nonce in front.
    pub sealed: bool,
    pub epoch: u32,
    pub unflushed: u32,
}

impl GroupHeader {
    /// The 16 bytes with a crc of 0, and the hasher that has eaten the 12 after it: feed it payload and padding.
    pub fn encode(self, log_id: u64, lsn: Lsn) -> ([u8; GROUP_HEADER], crc32fast::Hasher) {
        let (seed, mask) = position_mix(log_id, lsn);
        let mut bytes = [0; GROUP_HEADER];
        assert!(self.payload_bytes & SEALED == 0, "a payload is at most half a ring");
        let sealed = if self.sealed { SEALED } else { 0 };
        bytes[4..8].copy_from_slice(&(self.payload_bytes | sealed).to_le_bytes());
        bytes[8..12].copy_from_slice(&self.epoch.wrapping_add(mask).to_le_bytes());
        bytes[12..16].copy_from_slice(&self.unflushed.to_le_bytes());
        let mut hasher = crc32fast::Hasher::new_with_initial(seed);
        hasher.update(&bytes[4..]);
        (bytes, hasher)
    }

    /// Reads the header at `lsn` (16 bytes at least). `None`: no group of epochs `epochs` can start here.
    pub fn decode(bytes: &[u8], log_id: u64, lsn: Lsn, epochs: std::ops::RangeInclusive<u32>) -> Option<GroupHeader> {
        let len = u32_at(bytes, 4);
        let (payload_bytes, sealed) = (len & !SEALED, len & SEALED != 0);
        // Most places that the search for the log's end looks at hold zeros.
        if payload_bytes == 0 {
            return None;
        }
        let (_, mask) = position_mix(log_id, lsn);
        let epoch = u32_at(bytes, 8).wrapping_sub(mask);
        epochs.contains(&epoch).then(|| GroupHeader { payload_bytes, sealed, epoch, unflushed: u32_at(bytes, 12) })
    }

    /// Whether `group` (header, payload, padding; exactly) is what was appended at `lsn`.
    pub fn verify(group: &[u8], log_id: u64, lsn: Lsn) -> bool {
        let (seed, _) = position_mix(log_id, lsn);
        let mut hasher = crc32fast::Hasher::new_with_initial(seed);
        hasher.update(&group[4..]);
        hasher.finalize() == u32_at(group, 0)
    }

    /// All below this was durable when the group was made; 0 when it does not say.
    pub fn durable_hint(self, lsn: Lsn) -> Lsn {
        if self.unflushed == u32::MAX { 0 } else { lsn.saturating_sub(u64::from(self.unflushed)) }
    }
}

/// What a segment file says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentHeader {
    pub log_id: u64,
    pub number: u64,
    pub data_bytes: u64,
}

impl SegmentHeader {
    pub fn encode(self) -> [u8; 48] {
        let mut bytes = [0; 48];
        bytes[..8].copy_from_slice(SEGMENT_MAGIC);
        bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.log_id.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.number.to_le_bytes());
        bytes[32..40].copy_from_slice(&self.data_bytes.to_le_bytes());
        bytes[40..48].copy_from_slice(&(self.number * self.data_bytes).to_le_bytes());
        let crc = Self::crc(&bytes);
        bytes[12..16].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    /// The header, or why these 48 bytes are none.
    pub fn decode(bytes: &[u8]) -> Result<SegmentHeader, &'static str> {
        if bytes[..8] != SEGMENT_MAGIC[..] {
            return Err("segment header: not a redo segment");
        }
        if u32_at(bytes, 12) != Self::crc(bytes) {
            return Err("segment header: checksum mismatch");
        }
        if u32_at(bytes, 8) != VERSION {
            return Err("segment header: unknown format version");
        }
        Ok(SegmentHeader { log_id: u64_at(bytes, 16), number: u64_at(bytes, 24), data_bytes: u64_at(bytes, 32) })
    }

    fn crc(bytes: &[u8]) -> u32 {
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&bytes[..12]);
        hasher.update(&bytes[16..48]);
        hasher.finalize()
    }
}

pub fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

pub fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(lsn: Lsn, epoch: u32, payload: &[u8]) -> Vec<u8> {
        let header = GroupHeader { payload_bytes: payload.len() as u32, sealed: false, epoch, unflushed: 64 };
        let (mut head, mut hasher) = header.encode(7, lsn);
        let mut body = payload.to_vec();
        body.resize(group_bytes(payload.len()) as usize - GROUP_HEADER, 0);
        hasher.update(&body);
        head[..4].copy_from_slice(&hasher.finalize().to_le_bytes());
        [&head[..], &body].concat()
    }

    #[test]
    fn a_group_is_valid_at_its_own_lsn_epoch_and_log_only() {
        let bytes = group(4096, 3, b"payload");
        assert!(GroupHeader::verify(&bytes, 7, 4096));
        assert!(!GroupHeader::verify(&bytes, 7, 4104));
        assert!(!GroupHeader::verify(&bytes, 8, 4096));
        assert_eq!(GroupHeader::decode(&bytes, 7, 4096, 1..=3).unwrap().durable_hint(4096), 4032);
        assert_eq!(GroupHeader::decode(&bytes, 7, 4096, 4..=9), None);
        assert_eq!(GroupHeader::decode(&bytes, 7, 4104, 1..=3), None);
    }

    #[test]
    fn every_flipped_bit_shows() {
        let good = group(1 << 40, 1, b"some payload");
        for bit in 0..good.len() * 8 {
            let mut bytes = good.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(!GroupHeader::verify(&bytes, 7, 1 << 40), "bit {bit}");
        }
    }

    #[test]
    fn a_segment_header_survives_and_shows_damage() {
        let header = SegmentHeader { log_id: 9, number: 4, data_bytes: 1 << 20 };
        let bytes = header.encode();
        assert_eq!(SegmentHeader::decode(&bytes), Ok(header));
        for at in 0..48 {
            let mut bad = bytes;
            bad[at] ^= 0x10;
            assert!(SegmentHeader::decode(&bad).is_err(), "byte {at}");
        }
    }
}
