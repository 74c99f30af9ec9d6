//! Data keys in memory: one for pages, one for the log.

#![expect(unsafe_code, reason = "keys lie in memory of their own")]

use crate::aes::{self, BLOCK, CTR_KEY_BYTES, Ctr, XTS_KEY_BYTES};
use io::Region;

/// What [`Keys::seal_group`] needs of its caller besides the place: random, and new at each start.
pub const NONCE_BYTES: usize = 8;

/// The data keys as they are wrapped.
pub(crate) const KEY_BYTES: usize = XTS_KEY_BYTES + CTR_KEY_BYTES;

struct Secrets {
    pages: [u8; XTS_KEY_BYTES],
    stamp: u16,
    log: Ctr,
}

/// The data keys. Their memory is left out of core dumps and, where the kernel lets us, of swap space.
pub struct Keys {
    /// Holds [`Secrets`] at its start. W: `new`. R: all.
    region: Region,
}

impl Keys {
    pub(crate) fn new(bytes: &[u8; KEY_BYTES]) -> io::Result<Keys> {
        let region = io::reserve(size_of::<Secrets>())?;
        region.put_in_core_dumps(false)?;
        // Best effort: the limit of locked memory may be low.
        let _ = region.lock_in_memory();
        let (pages, log) = bytes.split_first_chunk().expect("both keys");
        // What encrypts to this in zeroes tells nothing of the key but whether it is the same.
        let mut zeroes = [0; BLOCK];
        aes::xts(pages, &[0xff; BLOCK], &mut zeroes, true);
        let stamp = u16::from_le_bytes([zeroes[0], zeroes[1]]);
        let log = Ctr::new(log.first_chunk().expect("the second key"));
        let secrets = Secrets { pages: *pages, stamp, log };
        // SAFETY: the region is as long and aligned to a page of the kernel; nobody else knows it yet.
        unsafe { region.as_ptr().cast::<Secrets>().write(secrets) };
        Ok(Keys { region })
    }

    fn secrets(&self) -> &Secrets {
        // SAFETY: written in `new`, and never again as long as the region lives.
        unsafe { &*self.region.as_ptr().cast::<Secrets>() }
    }

    /// By which to tell the key of pages from others, about: it stands on each of them.
    pub fn stamp(&self) -> u16 {
        self.secrets().stamp
    }

    /// Encrypts part of a page. `id` and `lsn`, which stand in clear, make up the tweak: so no two pages, and no two versions of a page,
    /// show that they have bytes in common. Were a version ever written twice with different bytes, it would show which blocks of 16
    /// differ, and nothing else.
    pub fn seal_page(&self, id: u64, lsn: u64, bytes: &mut [u8]) {
        aes::xts(&self.secrets().pages, &tweak(id, lsn), bytes, true);
    }

    /// What [`Keys::seal_page`] was given.
    pub fn open_page(&self, id: u64, lsn: u64, bytes: &mut [u8]) {
        aes::xts(&self.secrets().pages, &tweak(id, lsn), bytes, false);
    }

    /// Encrypts the bytes of a log group that begins at `lsn`, or decrypts them. A place of the log is written once in a
    /// server's life: a group takes a counter for every 16 bytes and the next begins a counter for every 8 bytes further on; and each
    /// start, also one of a copy of the data, has a nonce of its own. So no part of the key stream meets two texts.
    pub fn seal_group(&self, nonce: [u8; NONCE_BYTES], lsn: u64, bytes: &mut [u8]) {
        assert!(lsn.is_multiple_of(8), "groups begin at multiples of 8");
        let counter = [nonce, (lsn / 8).to_be_bytes()].concat();
        self.secrets().log.apply(counter.try_into().expect("16 bytes"), 0, bytes);
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        // SAFETY: nobody else is there any more; a schedule wipes itself.
        unsafe {
            let secrets = self.region.as_ptr().cast::<Secrets>();
            (*secrets).pages.fill(0);
            secrets.drop_in_place();
        }
    }
}

fn tweak(id: u64, lsn: u64) -> [u8; BLOCK] {
    let mut tweak = [0; BLOCK];
    tweak[..8].copy_from_slice(&id.to_le_bytes());
    tweak[8..].copy_from_slice(&lsn.to_le_bytes());
    tweak
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys() -> Keys {
        Keys::new(&std::array::from_fn(|i| i as u8)).unwrap()
    }

    #[test]
    fn pages_come_back_and_versions_have_nothing_in_common() {
        let keys = keys();
        let text = vec![7; 16 * 1022];
        let mut sealed = Vec::new();
        for (id, lsn) in [(1, 100), (1, 108), (2, 100)] {
            let mut bytes = text.clone();
            keys.seal_page(id, lsn, &mut bytes);
            sealed.extend(bytes.chunks(16).map(<[u8]>::to_vec));
            keys.open_page(id, lsn, &mut bytes);
            assert_eq!(bytes, text);
        }
        let blocks = sealed.len();
        sealed.sort();
        sealed.dedup();
        assert_eq!(sealed.len(), blocks, "no block is like another");
    }

    #[test]
    fn groups_share_no_part_of_the_key_stream() {
        let keys = keys();
        // Zeroes come out as the stream itself: neighbours, of the fewest bytes and of many, under two nonces.
        let mut seen = std::collections::HashSet::new();
        for nonce in [[1; 8], [2; 8]] {
            let mut lsn = 4096;
            for len in [1usize, 8, 9, 64, 1000, 16, 1] {
                let mut bytes = vec![0; len.next_multiple_of(16)];
                keys.seal_group(nonce, lsn, &mut bytes);
                for block in bytes.chunks(16) {
                    assert!(seen.insert(block.to_vec()));
                }
                // Header and nonce.
                lsn += (24 + len).next_multiple_of(8) as u64;
            }
        }
        let mut bytes = b"some text".to_vec();
        keys.seal_group([3; 8], 8, &mut bytes);
        assert_ne!(bytes, b"some text");
        keys.seal_group([3; 8], 8, &mut bytes);
        assert_eq!(bytes, b"some text");
    }
}
