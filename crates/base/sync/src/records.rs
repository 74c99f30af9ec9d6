//! The last records of one writer, which anybody may read at any time and nobody waits for.
//!
//! A slot is a handful of words and a text under a sequence word: odd while its writer is at it. A reader copies, looks at the
//! sequence word again, and throws away what was not whole (a [sequence lock][seqlock] with one writer). The writer never
//! looks at what readers do.
//!
//! ```text
//!  place    0    1    2    3     one slot is nobody's place: what is going on is written there
//!         +----+----+----+----+  +----+
//!  slot   | 2  | 0  | 4  | 1  |  | 3  |
//!         +----+----+----+----+  +----+
//!                ^ kept % places: what is over comes here, by exchange of two numbers
//! ```
//!
//! [seqlock]: https://www.hpl.hp.com/techreports/2012/HPL-2012-68.pdf

use crate::shim::atomic::{AtomicU64, AtomicUsize, Ordering, fence};
use crossbeam_utils::CachePadded;
use std::sync::OnceLock;

/// Words of text that a slot takes at a time.
const CHUNK_WORDS: usize = 16;
const CHUNKS: usize = 16;
/// Bytes of text that a record may have.
pub const TEXT_BYTES_MAX: usize = CHUNKS * CHUNK_WORDS * 8;
/// How often a reader tries to read a record that changes, before it does without.
const TRIES: usize = if cfg!(loom) { 2 } else { 20 };
/// Instead of a length: the slot holds no record.
const VOID: usize = usize::MAX;

type Chunk = Box<CachePadded<[AtomicU64; CHUNK_WORDS]>>;

/// On lines of its own: what lies beside it may be another writer's.
#[repr(align(64))]
struct Slot<const WORDS: usize> {
    /// Odd: the words are being written. W: the writer. R: readers.
    sequence: AtomicU64,
    words: [AtomicU64; WORDS],
    /// Bytes of text.
    len: AtomicUsize,
    /// Made when a text first needs them, and kept.
    text: [OnceLock<Chunk>; CHUNKS],
}

impl<const WORDS: usize> Slot<WORDS> {
    fn new() -> Slot<WORDS> {
        Slot {
            sequence: AtomicU64::new(0),
            words: std::array::from_fn(|_| AtomicU64::new(0)),
            len: AtomicUsize::new(0),
            text: [const { OnceLock::new() }; CHUNKS],
        }
    }

    fn chunk(&self, at: usize) -> &[AtomicU64; CHUNK_WORDS] {
        self.text[at].get_or_init(|| Box::new(CachePadded::new(std::array::from_fn(|_| AtomicU64::new(0)))))
    }

    /// `None`: nothing was ever written to it, or each time it was looked at it changed.
    fn read(&self) -> Option<Record<WORDS>> {
        for _ in 0..TRIES {
            // Acquire: pairs with Release in `Writing::drop`; the words are those of this sequence or later ones.
            let before = self.sequence.load(Ordering::Acquire);
            if before == 0 {
                return None;
            }
            if before % 2 == 1 {
                crate::shim::spin_loop();
                continue;
            }
            // Relaxed: what is torn is thrown away below.
            let words = std::array::from_fn(|at| self.words[at].load(Ordering::Relaxed));
            // Relaxed: as above.
            let written = self.len.load(Ordering::Relaxed);
            let len = if written == VOID { 0 } else { written };
            let mut text = Vec::with_capacity(len.next_multiple_of(8));
            for at in 0..len.div_ceil(8) {
                let chunk = self.text[at / CHUNK_WORDS].get();
                // Relaxed: as above.
                let word = chunk.map_or(0, |chunk| chunk[at % CHUNK_WORDS].load(Ordering::Relaxed));
                text.extend_from_slice(&word.to_le_bytes());
            }
            text.truncate(len);
            // Acquire: pairs with the Release fence in `Writing::begin`; had a word of a later record been read, its sequence
            // would be seen.
            fence(Ordering::Acquire);
            // Relaxed: behind the fence.
            if self.sequence.load(Ordering::Relaxed) == before {
                return (written != VOID).then_some(Record { words, text });
            }
        }
        None
    }
}

/// A record as it was, whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record<const WORDS: usize> {
    pub words: [u64; WORDS],
    pub text: Vec<u8>,
}

/// Places on a cache line.
const LINE: usize = 8;

/// As slots are, on a line of their own.
#[repr(align(64))]
struct Places([AtomicUsize; LINE]);

/// The records of one writer.
pub struct Records<const WORDS: usize> {
    slots: Box<[Slot<WORDS>]>,
    /// Which slot stands at a place. W: the writer. R: readers.
    places: Box<[Places]>,
    /// How many places there are.
    history: usize,
    /// The slot of what is going on. W: the writer. R: readers.
    current: AtomicUsize,
    /// The place of the next one that is kept. W: the writer.
    next: AtomicUsize,
    /// How many places have one. W: the writer. R: readers.
    kept: AtomicUsize,
}

impl<const WORDS: usize> Records<WORDS> {
    /// `history`: how many are kept, beside the one that is going on.
    pub fn new(history: usize) -> Records<WORDS> {
        Records {
            slots: (0..=history).map(|_| Slot::new()).collect(),
            places: (0..history.div_ceil(LINE))
                .map(|line| Places(std::array::from_fn(|at| AtomicUsize::new(line * LINE + at))))
                .collect(),
            history,
            current: AtomicUsize::new(history),
            next: AtomicUsize::new(0),
            kept: AtomicUsize::new(0),
        }
    }

    #[inline]
    fn place(&self, at: usize) -> &AtomicUsize {
        &self.places[at / LINE].0[at % LINE]
    }

    /// Opens the record of what is going on; its words are those that it had. For the one writer.
    #[inline]
    pub fn write(&self) -> Writing<'_, WORDS> {
        // Relaxed: written by this thread.
        let slot = &self.slots[self.current.load(Ordering::Relaxed)];
        let writing = Writing::begin(slot);
        // Relaxed: single writer.
        if slot.len.load(Ordering::Relaxed) == VOID {
            writing.clear_text();
        }
        writing
    }

    /// A word of the record that [`Records::write`] would open. For the one writer.
    #[inline]
    pub fn peek(&self, at: usize) -> u64 {
        // Relaxed: single writer.
        let slot = &self.slots[self.current.load(Ordering::Relaxed)];
        slot.words[at].load(Ordering::Relaxed) // Relaxed: as above
    }

    /// Opens a record that is kept from the beginning, in place of the oldest one; what is going on stays what it is. `None`: none are
    /// kept. For the one writer.
    pub fn write_beside(&self) -> Option<Writing<'_, WORDS>> {
        // Relaxed: single writer.
        let at = self.next.load(Ordering::Relaxed);
        if self.history == 0 {
            return None;
        }
        let slot = &self.slots[self.place(at).load(Ordering::Relaxed)]; // Relaxed: single writer
        let writing = Writing::begin(slot);
        writing.clear_text();
        self.step(at);
        Some(writing)
    }

    /// What was going on is over: it is kept, and the slot of the oldest one is the current one. For the one writer.
    #[inline]
    pub fn keep(&self) {
        if self.history == 0 {
            return;
        }
        // Relaxed: single writer.
        let (at, current) = (self.next.load(Ordering::Relaxed), self.current.load(Ordering::Relaxed));
        let place = self.place(at);
        let oldest = place.load(Ordering::Relaxed); // Relaxed: single writer
        // Relaxed: a slot's words say themselves what they are of; see `history`.
        place.store(current, Ordering::Relaxed);
        self.current.store(oldest, Ordering::Relaxed); // Relaxed: as above
        self.step(at);
    }

    /// There is a record at this place.
    #[inline]
    fn step(&self, at: usize) {
        let next = if at + 1 == self.history { 0 } else { at + 1 };
        // Relaxed: single writer.
        self.next.store(next, Ordering::Relaxed);
        // Relaxed: as above.
        if self.kept.load(Ordering::Relaxed) <= at {
            self.kept.store(at + 1, Ordering::Relaxed); // Relaxed: as above
        }
    }

    /// Nothing is kept any more. For the one writer.
    pub fn clear(&self) {
        // Relaxed: single writer.
        self.kept.store(0, Ordering::Relaxed);
        self.next.store(0, Ordering::Relaxed); // Relaxed: as above
        for slot in &self.slots {
            let writing = Writing::begin(slot);
            // Relaxed: as in `Writing::set`.
            slot.len.store(VOID, Ordering::Relaxed);
            drop(writing);
        }
    }

    /// The record of what is going on, or of what was written last and not kept.
    pub fn current(&self) -> Option<Record<WORDS>> {
        // Relaxed: a slot's words say themselves what they are of.
        self.slots[self.current.load(Ordering::Relaxed)].read()
    }

    /// How many it has room for, and what they take, in bytes.
    pub fn memory(&self) -> RecordsMemory {
        let chunks = self.slots.iter().flat_map(|slot| &slot.text).filter(|chunk| chunk.get().is_some()).count();
        let bytes = size_of_val(&*self.slots)
            + size_of_val(&*self.places)
            + chunks * size_of::<CachePadded<[AtomicU64; CHUNK_WORDS]>>();
        RecordsMemory {
            slots: self.slots.len() as u64,
            slot_bytes: size_of::<Slot<WORDS>>() as u64,
            bytes: bytes as u64,
        }
    }

    /// Those that are kept, in no order; one that is written over meanwhile may be missing, or be what is going on. So records
    /// say in their words what they are.
    pub fn history(&self) -> Vec<Record<WORDS>> {
        // Relaxed: see `keep`.
        let kept = self.kept.load(Ordering::Relaxed);
        // Relaxed: as above.
        (0..kept).filter_map(|at| self.slots[self.place(at).load(Ordering::Relaxed)].read()).collect()
    }
}

/// What records take of memory. Several are added up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecordsMemory {
    pub slots: u64,
    /// Without texts.
    pub slot_bytes: u64,
    /// Of all slots, with the texts that were ever written.
    pub bytes: u64,
}

impl RecordsMemory {
    pub fn merge(&mut self, other: RecordsMemory) {
        self.slots += other.slots;
        self.slot_bytes = other.slot_bytes;
        self.bytes += other.bytes;
    }
}

/// A record that is being written; whole again when this is dropped.
pub struct Writing<'r, const WORDS: usize> {
    slot: &'r Slot<WORDS>,
    sequence: u64,
}

impl<const WORDS: usize> Writing<'_, WORDS> {
    #[inline]
    fn begin(slot: &Slot<WORDS>) -> Writing<'_, WORDS> {
        // Relaxed: single writer. It is odd already where the record was left open.
        let sequence = slot.sequence.load(Ordering::Relaxed) | 1;
        slot.sequence.store(sequence, Ordering::Relaxed); // Relaxed: in front of the fence
        // Release: pairs with the Acquire fence in `Slot::read`.
        fence(Ordering::Release);
        Writing { slot, sequence }
    }

    /// The record is not whole yet: the next [`Records::write`] goes on with it, and nobody reads it before.
    #[inline]
    pub fn leave_open(self) {
        std::mem::forget(self);
    }

    #[inline]
    pub fn set(&self, at: usize, value: u64) {
        // Relaxed: between the two stores of the sequence word.
        self.slot.words[at].store(value, Ordering::Relaxed);
    }

    #[inline]
    pub fn get(&self, at: usize) -> u64 {
        // Relaxed: single writer.
        self.slot.words[at].load(Ordering::Relaxed)
    }

    /// From here on the text is what follows.
    #[inline]
    pub fn clear_text(&self) {
        // Relaxed: as in `set`.
        self.slot.len.store(0, Ordering::Relaxed);
    }

    /// The text is as long as this again. For who knows what stands there.
    #[inline]
    pub fn truncate_text(&self, len: usize) {
        // Relaxed: as in `set`.
        self.slot.len.store(len, Ordering::Relaxed);
    }

    /// Appends to the text; answers how many bytes had room. What follows an odd number of bytes begins at the next word.
    pub fn push(&self, bytes: &[u8]) -> usize {
        // Relaxed: single writer.
        let at = self.slot.len.load(Ordering::Relaxed).next_multiple_of(8);
        let bytes = &bytes[..bytes.len().min(TEXT_BYTES_MAX - at)];
        let (mut word, mut rest) = (at / 8, bytes);
        while !rest.is_empty() {
            let chunk = &self.slot.chunk(word / CHUNK_WORDS)[word % CHUNK_WORDS..];
            let (part, after) = rest.split_at(rest.len().min(chunk.len() * 8));
            let whole = part.chunks_exact(8);
            let last = whole.remainder();
            let words = chunk.iter().zip(whole);
            words.for_each(|(to, from)| {
                // Relaxed: as in `set`.
                to.store(u64::from_le_bytes(from.try_into().expect("8 bytes")), Ordering::Relaxed);
            });
            if !last.is_empty() {
                let value = last.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte));
                chunk[part.len() / 8].store(value, Ordering::Relaxed); // Relaxed: as in `set`
            }
            (word, rest) = (word + chunk.len(), after);
        }
        self.slot.len.store(at + bytes.len(), Ordering::Relaxed); // Relaxed: as in `set`
        bytes.len()
    }
}

impl<const WORDS: usize> Drop for Writing<'_, WORDS> {
    #[inline]
    fn drop(&mut self) {
        // Release: pairs with Acquire in `Slot::read`.
        self.slot.sequence.store(self.sequence + 1, Ordering::Release);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn the_last_ones_are_kept() {
        let records: Records<2> = Records::new(3);
        assert!(records.current().is_none() && records.history().is_empty());
        for n in 1..=5u64 {
            let writing = records.write();
            writing.set(0, n);
            writing.clear_text();
            assert_eq!(writing.push(b"number"), 6);
            assert_eq!(writing.push(n.to_string().as_bytes()), 1);
            drop(writing);
            assert_eq!(records.current().map(|r| r.words[0]), Some(n));
            records.keep();
        }
        let mut kept = records.history();
        kept.sort_by_key(|r| r.words[0]);
        assert_eq!(kept.iter().map(|r| r.words[0]).collect::<Vec<_>>(), [3, 4, 5]);
        assert_eq!(kept[2].text, b"number\0\x005");
        let memory = records.memory();
        assert_eq!(memory.slots, 4);
        assert!(memory.bytes >= 4 * (memory.slot_bytes + 128));
        records.clear();
        assert!(records.current().is_none() && records.history().is_empty());
    }

    #[test]
    fn a_record_that_is_left_open_is_not_read() {
        let records: Records<2> = Records::new(1);
        let writing = records.write();
        writing.set(0, 1);
        writing.leave_open();
        assert!(records.current().is_none());
        records.write().set(1, 2);
        assert_eq!(records.current().map(|r| r.words), Some([1, 2]));
    }

    #[test]
    fn records_beside_are_kept_while_another_is_open() {
        let records: Records<1> = Records::new(2);
        let outer = records.write();
        outer.set(0, 1);
        outer.leave_open();
        for n in 2..=4 {
            records.write_beside().expect("two are kept").set(0, n);
        }
        drop(records.write());
        records.keep();
        let mut kept: Vec<u64> = records.history().iter().map(|r| r.words[0]).collect();
        kept.sort_unstable();
        assert_eq!(kept, [1, 4]);
    }

    #[test]
    fn a_long_text_is_cut() {
        let records: Records<1> = Records::new(1);
        let writing = records.write();
        assert_eq!(writing.push(&[7; TEXT_BYTES_MAX - 9]), TEXT_BYTES_MAX - 9);
        assert_eq!(writing.push(&[8; 100]), 8);
        assert_eq!(writing.push(&[9; 100]), 0);
        drop(writing);
        assert_eq!(records.current().map(|r| r.text.len()), Some(TEXT_BYTES_MAX));
    }

    #[test]
    fn readers_see_whole_records() {
        let records: Arc<Records<4>> = Arc::new(Records::new(2));
        let rounds = if cfg!(miri) { 100 } else { 50_000 };
        let readers: Vec<_> = (0..2)
            .map(|_| {
                let records = Arc::clone(&records);
                std::thread::spawn(move || {
                    let mut last = 0;
                    while last < rounds {
                        for record in records.history().into_iter().chain(records.current()) {
                            let n = record.words[0];
                            assert!(record.words.iter().all(|w| *w == n), "{record:?}");
                            assert_eq!(record.text, n.to_string().as_bytes());
                            last = last.max(n);
                        }
                    }
                })
            })
            .collect();
        for n in 1..=rounds {
            let writing = records.write();
            (0..4).for_each(|at| writing.set(at, n));
            writing.clear_text();
            writing.push(n.to_string().as_bytes());
            drop(writing);
            records.keep();
        }
        readers.into_iter().for_each(|reader| reader.join().expect("it saw whole records"));
    }
}
