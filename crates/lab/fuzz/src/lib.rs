//! Fuzz targets and their kept corpus, for whatever reads bytes that others made: statements, packets, pages, the log, rows,
//! documents. The targets are the tests of this crate; here is what they share.
//!
//! ```text
//!   corpus/TARGET/*   kept inputs: usual ones, and each that once found a defect
//!        |  a draw says which one, and what is changed in it
//!   mutated bytes  -->  target: it may refuse them, and never panics, hangs or grows beyond them
//! ```
//!
//! `cargo test -p fuzz` draws at random for a second each, as a part of `make unit`. `BOLERO_RANDOM_SEED`, which a failure
//! prints, repeats a run, `BOLERO_RANDOM_TEST_TIME_MS` lengthens it. The targets are bolero's, so `cargo bolero test` runs them
//! under a coverage-guided engine. What one finds goes into the corpus.

use std::path::Path;

/// One drawn input: which of the corpus, the changes (kind, place, byte), and numbers for the target's own choices.
pub type Draw = (u16, Vec<(u8, u16, u8)>, [u8; 4]);

/// Changes of one input, at most: more leave nothing of it.
const CHANGES_MAX: usize = 6;

/// The kept inputs of a target, in the order of their names.
///
/// # Panics
/// When there is none.
pub fn corpus(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    let inputs: Vec<Vec<u8>> = paths.iter().filter_map(|path| std::fs::read(path).ok()).collect();
    assert!(!inputs.is_empty(), "{} is empty", folder.display());
    inputs
}

/// The drawn input of `corpus` with its changes.
pub fn mutated(corpus: &[Vec<u8>], (choice, changes, _): &Draw) -> Vec<u8> {
    let mut bytes = corpus[usize::from(*choice) % corpus.len()].clone();
    for &(kind, place, byte) in changes.iter().take(CHANGES_MAX) {
        let at = usize::from(place) % bytes.len().max(1);
        match kind % 6 {
            0 | 1 if bytes.is_empty() => {}
            0 => bytes[at] ^= 1 << (byte % 8),
            1 => bytes[at] = byte,
            2 => bytes.truncate(at),
            // Lengths of MySQL's protocol begin with these.
            3 => bytes.insert(at, [0xfb, 0xfc, 0xfd, 0xfe, 0xff, 0][usize::from(byte) % 6]),
            4 => bytes.extend((0..byte % 20).map(|i| i.wrapping_mul(31))),
            _ => {
                let other = &corpus[usize::from(byte) % corpus.len()];
                bytes.truncate(at);
                bytes.extend_from_slice(&other[usize::from(place) % other.len().max(1)..]);
            }
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draw_without_changes_is_the_kept_input() {
        let corpus = vec![b"one".to_vec(), b"two".to_vec()];
        assert_eq!(mutated(&corpus, &(3, vec![], [0; 4])), b"two");
        assert_eq!(mutated(&corpus, &(0, vec![(1, 1, b'w')], [0; 4])), b"owe");
        assert_eq!(mutated(&corpus, &(0, vec![(2, 0, 0), (1, 9, 9), (3, 0, 4)], [0; 4])), [0xff]);
    }
}
