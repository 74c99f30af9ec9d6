//! Hashing, encryption and compression.

use super::string::to_hex;
use crate::function::{Args, Function, Rule, bytes, f, volatile};
use aes::cipher::{Array, BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};
use sha2::{Digest, Sha512};
use std::borrow::Cow;
use std::io::{Read, Write};
use types::codes::*;
use types::{DataType, Result, SqlError, TypeKind, Value, err};

/// Digests, encryption, compression.
pub static FUNCTIONS: &[Function] = &[
    f("md5", 1, 1, Rule::System(32), digest::<md5::Md5>),
    f("sha1", 1, 1, Rule::System(40), digest::<sha1::Sha1>),
    f("sha", 1, 1, Rule::System(40), digest::<sha1::Sha1>),
    f("sha2", 2, 2, Rule::System(128), sha2),
    f("aes_encrypt", 2, 6, Rule::ByLength, |a| aes(a, true)),
    f("aes_decrypt", 2, 6, Rule::ByLength, |a| aes(a, false)),
    volatile(f("random_bytes", 1, 1, Rule::Binary(1024), random_bytes)),
    f("compress", 1, 1, Rule::ByLength, compress),
    f("uncompress", 1, 1, Rule::Binary(u32::MAX), uncompress),
    f("uncompressed_length", 1, 1, Rule::Int(11), uncompressed_length),
    f("statement_digest_text", 1, 1, Rule::JsonText, |a| {
        Ok(statement(&a)?.map_or(Value::Null, |s| bytes(s.into_bytes())))
    }),
    f("statement_digest", 1, 1, Rule::System(64), |a| {
        Ok(statement(&a)?.map_or(Value::Null, |s| bytes(to_hex(&digest_hash(&s), false))))
    }),
    volatile(f("validate_password_strength", 1, 1, Rule::Int(10), |a| {
        let Some(password) = a.text(0)? else { return Ok(Value::Null) };
        Ok(Value::Int(a.run.session().password_strength(&String::from_utf8_lossy(&password))))
    })),
];

fn digest<'a, D: Digest>(a: Args<'a>) -> Result<Value<'a>> {
    let Some(s) = a.text(0)? else { return Ok(Value::Null) };
    Ok(bytes(to_hex(&D::digest(&s), false)))
}

fn sha2<'a>(a: Args<'a>) -> Result<Value<'a>> {
    // A length that is none is told also where there is nothing to digest.
    let bits = a.int(1)?.filter(|bits| matches!(bits, 0 | 224 | 256 | 384 | 512));
    if bits.is_none() {
        a.run.push_warning(err!(ER_WRONG_PARAMETERS_TO_NATIVE_FCT, "sha2"));
    }
    let (Some(s), Some(bits)) = (a.text(0)?, bits) else { return Ok(Value::Null) };
    let out = match bits {
        0 | 256 => to_hex(&sha2::Sha256::digest(&s), false),
        224 => to_hex(&sha2::Sha224::digest(&s), false),
        384 => to_hex(&sha2::Sha384::digest(&s), false),
        _ => to_hex(&sha2::Sha512::digest(&s), false),
    };
    Ok(bytes(out))
}

/// The hash of a digest text: STATEMENT_DIGEST() in bytes.
pub fn digest_hash(text: &str) -> [u8; 32] {
    sha2::Sha256::digest(text.as_bytes()).into()
}

/// Error 3987: a statement is no binary string.
pub(super) fn check_digest_charset(function: &str, ty: &DataType) -> Result<()> {
    let is_string = (ty.kind.is_bytes() || ty.kind.is_text()) && ty.kind != TypeKind::Json;
    if is_string && ty.collation.is_binary() {
        return Err(err!(ER_FUNCTION_DOES_NOT_SUPPORT_CHARACTER_SET, function, ty.collation.info().name));
    }
    Ok(())
}

/// The statement in argument 0, normalised. Errors 3676, 3677.
fn statement(a: &Args<'_>) -> Result<Option<String>> {
    let Some(text) = a.text(0)? else { return Ok(None) };
    let mode = crate::execution::lexer_mode(a.run.evaluation().sql_mode);
    sql::parse(&text, mode).map_err(|e| {
        // What the server has made of values is not shown.
        match a.is_literal(0) {
            true => err!(ER_PARSE_ERROR_IN_DIGEST_FN, e.message()),
            false => err!(ER_UNDISCLOSED_PARSE_ERROR_IN_DIGEST_FN),
        }
    })?;
    Ok(Some(sql::digest::digest_text(&text, sql::digest::Digesting { mode, ..a.run.session().digesting() })))
}

fn random_bytes<'a>(a: Args<'a>) -> Result<Value<'a>> {
    let Some(n) = a.int(0)? else { return Ok(Value::Null) };
    if !(1..=1024).contains(&n) {
        return Err(err!(ER_DATA_OUT_OF_RANGE, "length", "random_bytes"));
    }
    let mut out = vec![0; n as usize];
    getrandom::fill(&mut out).map_err(|_| SqlError::new(ER_UNKNOWN_ERROR, "no random bytes from the system"))?;
    Ok(bytes(out))
}

/// Length in four bytes, low first, then a zlib stream.
/// Bytes that COMPRESS takes before it looks whether it is to end: some tens of milliseconds.
const COMPRESSED_AT_ONCE: usize = 1 << 20;

fn compress<'a>(a: Args<'a>) -> Result<Value<'a>> {
    let Some(s) = a.text(0)? else { return Ok(Value::Null) };
    if s.is_empty() {
        return Ok(bytes(&b""[..]));
    }
    let mut out = (s.len() as u32).to_le_bytes().to_vec();
    let mut encoder = flate2::write::ZlibEncoder::new(&mut out, flate2::Compression::default());
    for part in s.chunks(COMPRESSED_AT_ONCE) {
        a.run.check_work(part.len())?;
        encoder.write_all(part).expect("writing to memory does not fail");
    }
    encoder.finish().expect("writing to memory does not fail");
    // The last byte is never a blank, which a CHAR column would lose.
    if out.last() == Some(&b' ') {
        out.push(b'.');
    }
    Ok(bytes(out))
}

/// A length field beyond this is taken for damage.
const UNCOMPRESSED_BYTES_MAX: u32 = 64 << 20;

/// Bytes between two looks for interrupts.
const UNCOMPRESSED_AT_ONCE: u64 = 1 << 20;

fn uncompress<'a>(a: Args<'a>) -> Result<Value<'a>> {
    let Some(s) = a.text(0)? else { return Ok(Value::Null) };
    if s.is_empty() {
        return Ok(bytes(&b""[..]));
    }
    let Some((length, stream)) = s.split_first_chunk::<4>().filter(|(_, rest)| !rest.is_empty()) else {
        a.run.push_warning(err!(ER_ZLIB_Z_DATA_ERROR));
        return Ok(Value::Null);
    };
    let length = u32::from_le_bytes(*length) & 0x3FFF_FFFF;
    if length > UNCOMPRESSED_BYTES_MAX {
        let most = UNCOMPRESSED_BYTES_MAX;
        a.run.push_warning(err!(ER_TOO_BIG_FOR_UNCOMPRESS, most));
        return Ok(Value::Null);
    }
    crate::error::check_memory_for(length as usize)?;
    let mut out = Vec::with_capacity(length as usize);
    let mut decoder = flate2::read::ZlibDecoder::new(stream).take(u64::from(length) + 1);
    let mut read = Ok(1);
    while matches!(read, Ok(1..)) {
        a.run.check_work(UNCOMPRESSED_AT_ONCE as usize)?;
        read = decoder.by_ref().take(UNCOMPRESSED_AT_ONCE).read_to_end(&mut out);
    }
    if read.is_err() || out.len() != length as usize {
        a.run.push_warning(err!(ER_ZLIB_Z_DATA_ERROR));
        return Ok(Value::Null);
    }
    Ok(bytes(out))
}

fn uncompressed_length<'a>(a: Args<'a>) -> Result<Value<'a>> {
    let Some(s) = a.text(0)? else { return Ok(Value::Null) };
    Ok(Value::Int(match s.split_first_chunk::<4>() {
        Some((length, rest)) if !rest.is_empty() => (u32::from_le_bytes(*length) & 0x3FFF_FFFF) as i64,
        None if s.is_empty() => 0,
        _ => {
            a.run.push_warning(err!(ER_ZLIB_Z_DATA_ERROR));
            0
        }
    }))
}

const BLOCK: usize = 16;

/// How blocks follow one another.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Chaining {
    Ecb,
    Cbc,
    Cfb1,
    Cfb8,
    Cfb128,
    Ofb,
}

/// `block_encryption_mode`: bytes of the key, and the chaining.
fn encryption_mode(a: &Args<'_>) -> Result<(usize, Chaining)> {
    let (v, _) = a.run.session().system_variable(None, "block_encryption_mode")?;
    let text = match &v {
        Value::Bytes(b) => String::from_utf8_lossy(b).to_ascii_lowercase(),
        _ => "aes-128-ecb".to_string(),
    };
    let mut parts = text.splitn(3, '-').skip(1);
    let bits: usize = parts.next().and_then(|p| p.parse().ok()).unwrap_or(128);
    let chaining = match parts.next() {
        Some("cbc") => Chaining::Cbc,
        Some("cfb1") => Chaining::Cfb1,
        Some("cfb8") => Chaining::Cfb8,
        Some("cfb128") => Chaining::Cfb128,
        Some("ofb") => Chaining::Ofb,
        _ => Chaining::Ecb,
    };
    Ok((bits / 8, chaining))
}

enum Cipher {
    Aes128(aes::Aes128),
    Aes192(aes::Aes192),
    Aes256(aes::Aes256),
}

impl Cipher {
    fn new(key: &[u8]) -> Cipher {
        const FITS: &str = "the key was folded to this length";
        match key.len() {
            16 => Cipher::Aes128(aes::Aes128::new_from_slice(key).expect(FITS)),
            24 => Cipher::Aes192(aes::Aes192::new_from_slice(key).expect(FITS)),
            _ => Cipher::Aes256(aes::Aes256::new_from_slice(key).expect(FITS)),
        }
    }

    fn encrypt(&self, block: &mut [u8; BLOCK]) {
        let mut b = Array::from(*block);
        match self {
            Cipher::Aes128(c) => c.encrypt_block(&mut b),
            Cipher::Aes192(c) => c.encrypt_block(&mut b),
            Cipher::Aes256(c) => c.encrypt_block(&mut b),
        }
        *block = b.into();
    }

    fn decrypt(&self, block: &mut [u8; BLOCK]) {
        let mut b = Array::from(*block);
        match self {
            Cipher::Aes128(c) => c.decrypt_block(&mut b),
            Cipher::Aes192(c) => c.decrypt_block(&mut b),
            Cipher::Aes256(c) => c.decrypt_block(&mut b),
        }
        *block = b.into();
    }
}

/// AES_ENCRYPT(text, key [, iv [, kdf [, salt or info [, iterations]]]]).
fn aes<'a>(a: Args<'a>, encrypts: bool) -> Result<Value<'a>> {
    let (key_bytes, chaining) = encryption_mode(&a)?;
    if chaining != Chaining::Ecb && a.len() < 3 {
        return Err(super::wrong_count(a.function));
    }
    let (Some(text), Some(key)) = (a.text(0)?, a.text(1)?) else { return Ok(Value::Null) };
    let mut iv = [0; BLOCK];
    if chaining != Chaining::Ecb {
        let Some(given) = a.text(2)? else { return Ok(Value::Null) };
        let Some(start) = given.first_chunk::<BLOCK>() else {
            return Err(err!(ER_AES_INVALID_IV, a.function, 16));
        };
        iv = *start;
    } else if a.len() == 3 {
        a.run.push_warning(err!(WARN_OPTION_IGNORED, "IV"));
    }
    let key = match derived_key(&a, &key, key_bytes)? {
        Some(key) => key,
        None => return Ok(Value::Null),
    };
    let cipher = Cipher::new(&key);
    let out =
        if encrypts { Some(encrypt(&cipher, chaining, iv, &text)) } else { decrypt(&cipher, chaining, iv, &text) };
    Ok(out.map_or(Value::Null, bytes))
}

/// The key of the wanted length: folded by XOR, or by the key derivation function asked for. `None` for NULL.
fn derived_key(a: &Args<'_>, key: &[u8], length: usize) -> Result<Option<Vec<u8>>> {
    if a.len() < 4 {
        if key.len() > length {
            a.run.push_warning(err!(WARN_AES_KEY_SIZE, length));
        }
        let mut folded = vec![0; length];
        key.iter().enumerate().for_each(|(i, b)| folded[i % length] ^= b);
        return Ok(Some(folded));
    }
    let option = |i: usize| -> Result<Vec<u8>> {
        if i >= a.len() {
            return Ok(Vec::new());
        }
        let given = a.text(i)?.filter(|s| s.len() < KDF_OPTION_MAX);
        let given = given.ok_or_else(|| err!(ER_AES_INVALID_KDF_OPTION_SIZE, 256));
        given.map(Cow::into_owned)
    };
    let kdf = option(3)?;
    let (salt, last) = (option(4)?, option(5)?);
    Ok(Some(match &kdf[..] {
        b"hkdf" => {
            let secret = hmac(&salt, &[key]);
            let block = hmac(&secret, &[&last, &[1]]);
            block[..length].to_vec()
        }
        b"pbkdf2_hmac" => {
            let rounds = if a.len() > 5 { a.int(5)?.unwrap_or(0) } else { 1000 };
            if !(1000..=65_535).contains(&rounds) {
                return Err(err!(ER_AES_INVALID_KDF_ITERATIONS));
            }
            let mut u = hmac(key, &[&salt, &1u32.to_be_bytes()]);
            let mut t = u.clone();
            for _ in 1..rounds {
                u = hmac(key, &[&u]);
                t.iter_mut().zip(&u).for_each(|(t, u)| *t ^= u);
            }
            t[..length].to_vec()
        }
        _ => {
            return Err(err!(ER_AES_INVALID_KDF_NAME));
        }
    }))
}

/// Bytes of an option of a key derivation, at the least too many.
const KDF_OPTION_MAX: usize = 256;

/// HMAC with SHA-512.
fn hmac(key: &[u8], parts: &[&[u8]]) -> Vec<u8> {
    let mut padded = [0u8; 128];
    if key.len() > padded.len() {
        padded[..64].copy_from_slice(&Sha512::digest(key));
    } else {
        padded[..key.len()].copy_from_slice(key);
    }
    let start = |mask: u8| Sha512::new().chain_update(padded.map(|b| b ^ mask));
    let inner = parts.iter().fold(start(0x36), |h, p| h.chain_update(p)).finalize();
    start(0x5C).chain_update(inner).finalize().to_vec()
}

fn xor(block: &mut [u8; BLOCK], other: &[u8; BLOCK]) {
    block.iter_mut().zip(other).for_each(|(a, b)| *a ^= b);
}

fn encrypt(cipher: &Cipher, chaining: Chaining, iv: [u8; BLOCK], text: &[u8]) -> Vec<u8> {
    if !matches!(chaining, Chaining::Ecb | Chaining::Cbc) {
        return stream(cipher, chaining, iv, text, true);
    }
    let mut out = text.to_vec();
    let padding = BLOCK - out.len() % BLOCK;
    out.resize(out.len() + padding, padding as u8);
    let mut before = iv;
    for block in out.as_chunks_mut::<BLOCK>().0 {
        if chaining == Chaining::Cbc {
            xor(block, &before);
        }
        cipher.encrypt(block);
        before = *block;
    }
    out
}

/// `None`: it is not what that key encrypted.
fn decrypt(cipher: &Cipher, chaining: Chaining, iv: [u8; BLOCK], text: &[u8]) -> Option<Vec<u8>> {
    if !matches!(chaining, Chaining::Ecb | Chaining::Cbc) {
        return Some(stream(cipher, chaining, iv, text, false));
    }
    if text.is_empty() || !text.len().is_multiple_of(BLOCK) {
        return None;
    }
    let mut out = text.to_vec();
    let mut before = iv;
    for block in out.as_chunks_mut::<BLOCK>().0 {
        let given = *block;
        cipher.decrypt(block);
        if chaining == Chaining::Cbc {
            xor(block, &before);
        }
        before = given;
    }
    let padding = *out.last()? as usize;
    let body = out.len().checked_sub(padding).filter(|_| (1..=BLOCK).contains(&padding))?;
    if !out[body..].iter().all(|b| *b as usize == padding) {
        return None;
    }
    out.truncate(body);
    Some(out)
}

/// The modes that make a stream of key bytes: CFB feeds back what was encrypted, OFB the key bytes themselves.
fn stream(cipher: &Cipher, chaining: Chaining, iv: [u8; BLOCK], text: &[u8], encrypts: bool) -> Vec<u8> {
    let mut register = iv;
    let key_block = |register: &[u8; BLOCK]| {
        let mut block = *register;
        cipher.encrypt(&mut block);
        block
    };
    match chaining {
        Chaining::Cfb128 | Chaining::Ofb => {
            let mut out = Vec::with_capacity(text.len());
            for chunk in text.chunks(BLOCK) {
                let key = key_block(&register);
                let start = out.len();
                out.extend(chunk.iter().zip(key).map(|(b, k)| b ^ k));
                let fed: &[u8] = match chaining {
                    Chaining::Ofb => &key[..],
                    _ if encrypts => &out[start..],
                    _ => chunk,
                };
                register[..fed.len()].copy_from_slice(fed);
            }
            out
        }
        Chaining::Cfb8 => {
            let step = |b: &u8| {
                let c = b ^ key_block(&register)[0];
                register.rotate_left(1);
                register[BLOCK - 1] = if encrypts { c } else { *b };
                c
            };
            text.iter().map(step).collect()
        }
        _ => {
            let mut wide = u128::from_be_bytes(register);
            let mut step = |b: &u8| {
                (0..8).rev().fold(0u8, |out, i| {
                    let bit = b >> i & 1;
                    let c = bit ^ key_block(&wide.to_be_bytes())[0] >> 7;
                    wide = wide << 1 | if encrypts { c } else { bit } as u128;
                    out << 1 | c
                })
            };
            text.iter().map(&mut step).collect()
        }
    }
}
