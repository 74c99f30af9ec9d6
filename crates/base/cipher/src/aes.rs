//! Three modes of AES-256, as functions over bytes in place.
//!
//! They go to the library below `aws-lc-rs`, which has no XTS, and whose key schedules cannot be told where to lie.

#![expect(unsafe_code, reason = "calls into the library")]

use aws_lc_sys as lib;
use std::ffi::{c_int, c_uint};
use std::ptr;

pub const BLOCK: usize = 16;
pub const XTS_KEY_BYTES: usize = 64;
pub const CTR_KEY_BYTES: usize = 32;

/// The longest data unit of one call: IEEE 1619 allows 2^20 blocks.
const XTS_BYTES_MAX: usize = BLOCK << 20;

/// AES-256-XTS (IEEE 1619): as many bytes out as in; each bit of a block depends on the key, the tweak, the block's place and all
/// of the block. `bytes`: whole blocks.
pub fn xts(key: &[u8; XTS_KEY_BYTES], tweak: &[u8; BLOCK], bytes: &mut [u8], encrypts: bool) {
    assert!(bytes.len().is_multiple_of(BLOCK) && (BLOCK..=XTS_BYTES_MAX).contains(&bytes.len()));
    let mut written: c_int = 0;
    // SAFETY: the context lives until it is freed below, and only here. Key, tweak and bytes are as long as the cipher reads and
    // writes: 64, 16, and `len`, whose output may overwrite its input.
    let outcome = unsafe {
        let context = lib::EVP_CIPHER_CTX_new();
        assert!(!context.is_null(), "no memory for a cipher");
        let begun = lib::EVP_CipherInit_ex(
            context,
            lib::EVP_aes_256_xts(),
            ptr::null_mut(),
            key.as_ptr(),
            tweak.as_ptr(),
            c_int::from(encrypts),
        );
        let data = bytes.as_mut_ptr();
        let done = lib::EVP_CipherUpdate(context, data, &mut written, data, bytes.len() as c_int);
        // It wipes the key schedule, too.
        lib::EVP_CIPHER_CTX_free(context);
        (begun, done)
    };
    assert_eq!((outcome, written), ((1, 1), bytes.len() as c_int), "the library refuses AES-256-XTS");
}

/// AES-256-CBC of whole blocks, without padding.
pub fn cbc(key: &[u8; CTR_KEY_BYTES], vector: &[u8; BLOCK], bytes: &mut [u8], encrypts: bool) {
    assert!(bytes.len().is_multiple_of(BLOCK));
    let mut schedule = lib::AES_KEY { rd_key: [0; 60], rounds: 0 };
    let mut vector = *vector;
    let bits = CTR_KEY_BYTES as c_uint * 8;
    // SAFETY: 32 bytes of key are read; whole blocks are read and written in place; schedule and vector are the call's own.
    let done = unsafe {
        let done = match encrypts {
            true => lib::AES_set_encrypt_key(key.as_ptr(), bits, &mut schedule),
            false => lib::AES_set_decrypt_key(key.as_ptr(), bits, &mut schedule),
        };
        let data = bytes.as_mut_ptr();
        lib::AES_cbc_encrypt(data, data, bytes.len(), &schedule, vector.as_mut_ptr(), c_int::from(encrypts));
        done
    };
    schedule.rd_key.fill(0);
    std::hint::black_box(&schedule.rd_key);
    assert_eq!(done, 0, "the library refuses a key of 256 bits");
}

/// A key schedule for [`Ctr::apply`]. Plain words: it may lie anywhere.
pub struct Ctr {
    schedule: lib::AES_KEY,
}

impl Ctr {
    pub fn new(key: &[u8; CTR_KEY_BYTES]) -> Ctr {
        let mut schedule = lib::AES_KEY { rd_key: [0; 60], rounds: 0 };
        // SAFETY: 32 bytes are read, the schedule is written.
        let done = unsafe { lib::AES_set_encrypt_key(key.as_ptr(), CTR_KEY_BYTES as c_uint * 8, &mut schedule) };
        assert_eq!(done, 0, "the library refuses a key of 256 bits");
        Ctr { schedule }
    }

    /// AES-256-CTR: combines `bytes` with the key stream of `counter`, a big-endian number of 16-byte blocks, from its byte `skip` on.
    /// The same again undoes it. No part of a key stream may ever meet two texts.
    pub fn apply(&self, mut counter: [u8; BLOCK], skip: usize, bytes: &mut [u8]) {
        assert!(skip < BLOCK);
        let (mut block, mut used) = ([0; BLOCK], 0);
        let mut run = |bytes: &mut [u8]| {
            let data = bytes.as_mut_ptr();
            // SAFETY: `len` bytes are read and written in place; counter, block and its used bytes are the call's state.
            unsafe {
                lib::AES_ctr128_encrypt(
                    data,
                    data,
                    bytes.len(),
                    &self.schedule,
                    counter.as_mut_ptr(),
                    block.as_mut_ptr(),
                    &mut used,
                );
            }
        };
        run(&mut [0; BLOCK][..skip]);
        run(bytes);
    }
}

impl Drop for Ctr {
    fn drop(&mut self) {
        self.schedule.rd_key.fill(0);
        std::hint::black_box(&self.schedule.rd_key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex<const N: usize>(text: &str) -> [u8; N] {
        std::array::from_fn(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).unwrap())
    }

    /// NIST SP 800-38A, F.5.5.
    #[test]
    fn ctr_is_the_standards() {
        let key = hex("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4");
        let counter = hex("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff");
        let text: [u8; 32] = hex("6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51");
        let cipher: [u8; 32] = hex("601ec313775789a5b7a7f504bbf3d228f443e3ca4d62b59aca84e990cacaf5c5");
        let mut bytes = text;
        Ctr::new(&key).apply(counter, 0, &mut bytes);
        assert_eq!(bytes, cipher);
        // From any byte on, in pieces of any length.
        for cut in 0..32 {
            let mut bytes = text;
            let (first, second) = bytes.split_at_mut(cut);
            Ctr::new(&key).apply(counter, 0, first);
            let at = (u128::from_be_bytes(counter) + cut as u128 / 16).to_be_bytes();
            Ctr::new(&key).apply(at, cut % 16, second);
            assert_eq!(bytes, cipher, "cut at {cut}");
        }
    }

    /// IEEE 1619-2007, vector 10: AES-256, data unit 0xff, bytes 0, 1, ... 255 twice.
    #[test]
    fn xts_is_the_standards() {
        let key: [u8; 64] = hex("2718281828459045235360287471352662497757247093699959574966967627\
             3141592653589793238462643383279502884197169399375105820974944592");
        let mut tweak = [0; 16];
        tweak[0] = 0xff;
        let text: [u8; 512] = std::array::from_fn(|i| i as u8);
        let mut bytes = text;
        xts(&key, &tweak, &mut bytes, true);
        assert_eq!(bytes[..32], hex::<32>("1c3b3a102f770386e4836c99e370cf9bea00803f5e482357a4ae12d414a3e63b"));
        xts(&key, &tweak, &mut bytes, false);
        assert_eq!(bytes, text);
    }
}
