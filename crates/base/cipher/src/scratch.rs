//! Temporary files: rows of any table pass through them, so once the server has data keys they are encrypted, each under a
//! random key that stands nowhere but in memory and goes with the file.

use crate::aes::Ctr;
use crate::random;
use io::{File, Result};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// W: whoever has got data keys. R: who makes a temporary file.
static SEALS: AtomicBool = AtomicBool::new(false);

/// Files made from now on are encrypted.
pub(crate) fn seal_from_now_on() {
    // Relaxed: rows that are encrypted are written after this by whoever made the keys, and read by others after a commit.
    SEALS.store(true, Ordering::Relaxed);
}

/// A temporary file without a name that grows at its end. A write below the end cuts off what lay behind it.
pub struct Scratch {
    file: File,
    /// Are files to be encrypted by now?
    seals: fn() -> bool,
    cipher: Option<Cipher>,
    end: u64,
}

struct Cipher {
    /// On the heap: it is some hundred bytes.
    key: Box<Ctr>,
    /// What lies below was written before there were data keys.
    plain_until: u64,
    /// Where stretches begin, in order, and the number of each. No place and number meet twice, so that the key stream never does.
    stretches: Vec<(u64, u64)>,
    buffer: Vec<u8>,
}

impl Scratch {
    pub fn new(directory: impl AsRef<Path>) -> Result<Scratch> {
        // Relaxed: see `seal_from_now_on`.
        Scratch::make(directory.as_ref(), || SEALS.load(Ordering::Relaxed))
    }

    fn make(directory: &Path, seals: fn() -> bool) -> Result<Scratch> {
        Ok(Scratch { file: File::unnamed(directory, sync::waits::Wait::TemporaryFile)?, seals, cipher: None, end: 0 })
    }

    /// Writes at the end or below, never beyond.
    pub fn write_at(&mut self, bytes: &[u8], offset: u64) -> Result<()> {
        assert!(offset <= self.end, "a temporary file has no holes");
        if self.cipher.is_none() && (self.seals)() {
            self.cipher = Some(Cipher::new(offset));
        }
        let Some(cipher) = &mut self.cipher else {
            self.file.write_at(bytes, offset)?;
            self.end = offset + bytes.len() as u64;
            return Ok(());
        };
        if offset < self.end {
            let number = cipher.stretches.last().map_or(0, |(_, number)| number + 1);
            cipher.stretches.retain(|(from, _)| *from < offset);
            cipher.stretches.push((offset, number));
            cipher.plain_until = cipher.plain_until.min(offset);
        }
        // Before the write: were it to fail, what it has written must not be written over with the same key stream.
        self.end = offset + bytes.len() as u64;
        let mut buffer = std::mem::take(&mut cipher.buffer);
        buffer.clear();
        buffer.extend_from_slice(bytes);
        cipher.apply(&mut buffer, offset);
        let written = self.file.write_at(&buffer, offset);
        cipher.buffer = buffer;
        written
    }

    /// Fills `bytes` from `offset` on.
    pub fn read_at(&self, bytes: &mut [u8], offset: u64) -> Result<()> {
        self.file.read_at(bytes, offset)?;
        if let Some(cipher) = &self.cipher {
            cipher.apply(bytes, offset);
        }
        Ok(())
    }
}

impl Cipher {
    fn new(plain_until: u64) -> Cipher {
        let key = Box::new(Ctr::new(&random()));
        Cipher { key, plain_until, stretches: vec![(0, 0)], buffer: Vec::new() }
    }

    fn apply(&self, mut bytes: &mut [u8], mut offset: u64) {
        let plain = self.plain_until.saturating_sub(offset).min(bytes.len() as u64);
        (bytes, offset) = (&mut bytes[plain as usize..], offset + plain);
        while !bytes.is_empty() {
            let next = self.stretches.partition_point(|(from, _)| *from <= offset);
            let (_, number) = self.stretches[next - 1];
            let until = self.stretches.get(next).map_or(u64::MAX, |(from, _)| *from);
            let (now, rest) = bytes.split_at_mut(bytes.len().min((until - offset) as usize));
            let counter = u128::from(number) << 64 | u128::from(offset / 16);
            self.key.apply(counter.to_be_bytes(), (offset % 16) as usize, now);
            offset += now.len() as u64;
            bytes = rest;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_does_not_stand_in_the_file() {
        let kinds: [fn() -> bool; 2] = [|| false, || true];
        for seals in kinds {
            let mut scratch = Scratch::make(&std::env::temp_dir(), seals).unwrap();
            let seals = seals();
            let mut model: Vec<u8> = Vec::new();
            // Appends of odd lengths, some of them over what was there.
            let mut state = 1u64;
            for turn in 0..200u8 {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                let offset = if turn % 7 == 6 { model.len() / 2 } else { model.len() };
                let bytes = vec![turn; 1 + (state >> 56) as usize];
                scratch.write_at(&bytes, offset as u64).unwrap();
                model.truncate(offset);
                model.extend_from_slice(&bytes);
                let from = (state >> 32) as usize % model.len();
                let mut read = vec![0; model.len() - from];
                scratch.read_at(&mut read, from as u64).unwrap();
                assert!(read == model[from..], "turn {turn}");
            }
            let mut raw = vec![0; model.len()];
            scratch.file.read_at(&mut raw, 0).unwrap();
            let like = raw.iter().zip(&model).filter(|(a, b)| a == b).count();
            assert_eq!(like == model.len(), !seals);
            assert!(!seals || like < model.len() / 16);
        }
    }

    #[test]
    fn what_was_plain_before_there_were_keys_stays_readable() {
        let mut scratch = Scratch::make(&std::env::temp_dir(), || false).unwrap();
        scratch.write_at(b"early words", 0).unwrap();
        scratch.seals = || true;
        scratch.write_at(b" and late ones", 11).unwrap();
        let mut read = [0; 20];
        scratch.read_at(&mut read, 5).unwrap();
        assert_eq!(&read, b" words and late ones");
        scratch.write_at(b"EST", 3).unwrap();
        scratch.write_at(b"!", 6).unwrap();
        let mut read = [0; 7];
        scratch.read_at(&mut read, 0).unwrap();
        assert_eq!(&read, b"earEST!");
        scratch.file.read_at(&mut read, 0).unwrap();
        assert!(read.starts_with(b"ear") && !read.ends_with(b"EST!"));
    }

    /// Zeroes come out as the key stream: written over, a place gets another one.
    #[test]
    fn a_place_that_is_written_again_has_another_key_stream() {
        let mut scratch = Scratch::make(&std::env::temp_dir(), || true).unwrap();
        let mut seen = std::collections::HashSet::new();
        for _ in 0..5 {
            scratch.write_at(&[0; 4096], 0).unwrap();
            let mut raw = [0; 4096];
            scratch.file.read_at(&mut raw, 0).unwrap();
            assert!(raw.chunks(16).all(|block| seen.insert(block.to_vec())));
        }
    }
}
