//! Which transactions a replica may run side by side: `last_committed` by write sets.
//!
//! ```text
//!   row written --> one word for each unique key that it has, a hash of (table, index, encoded key) --> the transaction's words
//!   commit      --> an item of its words, sorted, each once
//!   writer      --> History: word -> the last transaction that has it; last_committed = the greatest among those of its words
//! ```
//! Keys are encoded as in the index, so that what a collation takes for equal is one word. What a row's keys do not tell leaves a
//! transaction with the order of commits alone: statements, tables at either end of a foreign key, and more words than [`WORDS_MAX`] also
//! end the history, since others may depend on them in ways that it does not know; tables without a key do not, since who holds their rows
//! locked is told by the order of commits.
//!
//! The history is never saved: it begins anew whenever the writer's state is, so that files that are written again after a crash come
//! out the same. So does it when it is full (`binlog_transaction_dependency_history_size`).

use crate::files::State;
use engine::{Events, Lsn};
use foldhash::fast::FixedState;
use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher};

/// A row of a table at an end of a foreign key, or one of more than are kept.
const UNKNOWN: u64 = 0;
/// A row of a table without a key.
const KEYLESS: u64 = 1;
/// Words of one transaction.
const WORDS_MAX: usize = 25_000;
const SEED: u64 = 0x636c_6561_7277_6179;

/// Notes that the transaction has written a row with this key in a unique index.
#[inline]
pub fn note_key(events: &mut Events, table: u64, index: usize, key: &[u8]) {
    let mut hasher = FixedState::with_seed(SEED).build_hasher();
    hasher.write_u64(table);
    hasher.write_usize(index);
    hasher.write(key);
    note(events, hasher.finish().max(KEYLESS + 1));
}

/// Notes that it has written a row without a key.
pub fn note_keyless(events: &mut Events) {
    note(events, KEYLESS);
}

/// Notes that it has written what its keys do not tell.
pub fn note_unknown(events: &mut Events) {
    note(events, UNKNOWN);
}

#[inline]
fn note(events: &mut Events, word: u64) {
    let words = events.words();
    if words.first() == Some(&UNKNOWN) || words.last() == Some(&word) {
        return;
    }
    if word == UNKNOWN || words.len() >= WORDS_MAX {
        words.clear();
        words.push(UNKNOWN);
        return;
    }
    words.push(word);
}

/// What a transaction has written, as its end tells.
#[derive(Debug, Default)]
pub struct Writes {
    known: bool,
    words: Vec<u64>,
}

impl Writes {
    /// Sorts words for their item; false: they are not known.
    pub(crate) fn settle(words: &mut Vec<u64>) -> bool {
        words.sort_unstable();
        words.dedup();
        words.first() != Some(&UNKNOWN)
    }

    /// Reads the item of another transaction; `None`: it is damaged.
    pub(crate) fn read(&mut self, item: &[u8]) -> Option<()> {
        let (words, rest) = item.as_chunks::<8>();
        self.words.clear();
        self.words.extend(words.iter().map(|w| u64::from_le_bytes(*w)));
        self.known = rest.is_empty();
        self.known.then_some(())
    }

    /// Nothing is known.
    pub(crate) fn clear(&mut self) {
        self.words.clear();
        self.known = false;
    }

    fn is_keyless(&self) -> bool {
        self.words.first() == Some(&KEYLESS)
    }

    fn keys(&self) -> &[u64] {
        &self.words[usize::from(self.is_keyless())..]
    }
}

/// Who wrote which keys last.
#[derive(Debug)]
pub(crate) struct History {
    last: HashMap<u64, u64, FixedState>,
    /// Everybody depends on the transaction of this number, by which the history begins.
    start: u64,
    max: usize,
}

impl History {
    pub fn new(start: u64, max: usize) -> History {
        History { last: HashMap::with_hasher(FixedState::with_seed(SEED)), start, max }
    }

    /// It knows nothing of the transactions up to this one.
    pub fn begin(&mut self, start: u64, max: usize) {
        self.last.clear();
        (self.start, self.max) = (start, max);
    }

    /// `last_committed` of a transaction whose locks were its own beside all that committed behind `by_locks`.
    pub fn last_committed(&self, writes: &Writes, by_locks: u64) -> u64 {
        if !writes.known || writes.is_keyless() {
            return by_locks;
        }
        let found = writes.keys().iter().filter_map(|word| self.last.get(word).copied());
        found.max().unwrap_or(self.start).max(self.start).min(by_locks)
    }

    /// The transaction of this number is in the files.
    pub fn add(&mut self, writes: &Writes, sequence: u64) {
        let keys = writes.keys();
        if !writes.known || self.last.len() + keys.len() > self.max {
            self.begin(sequence, self.max);
            return;
        }
        self.last.extend(keys.iter().map(|word| (*word, sequence)));
    }
}

/// The newest commit that ends no later in the log than `prepared`: all before it had their locks to themselves.
pub(crate) fn by_locks(state: &State, prepared: Lsn) -> u64 {
    let recent = &state.recent;
    let behind = recent.partition_point(|(end, _)| *end <= prepared);
    match behind.checked_sub(1) {
        Some(at) => recent[at].1,
        // Older ones than are remembered count as before it.
        None => recent.front().map_or(state.sequence, |(_, first)| first - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn writes(words: &[u64]) -> Writes {
        Writes { known: true, words: words.to_vec() }
    }

    /// Transactions 1, 2, ... in turn, each with what its locks alone would say.
    fn order(history: &mut History, transactions: &[(Writes, u64)]) -> Vec<u64> {
        let mut all = Vec::new();
        for (n, (writes, by_locks)) in (1..).zip(transactions) {
            all.push(history.last_committed(writes, *by_locks));
            history.add(writes, n);
        }
        all
    }

    #[test]
    fn who_writes_what_another_wrote_comes_after_it() {
        let all = [
            (writes(&[10, 11]), 0),
            (writes(&[20]), 1),
            (writes(&[11, 30]), 2),
            (writes(&[20, 40]), 3),
            (writes(&[50]), 4),
            // Whose locks tell of less has no more to wait for.
            (writes(&[50]), 2),
        ];
        assert_eq!(order(&mut History::new(0, 100), &all), [0, 0, 1, 2, 0, 2]);
    }

    #[test]
    fn what_is_not_known_ends_the_history_and_rows_without_a_key_do_not() {
        let all = [
            (writes(&[10]), 0),
            (writes(&[KEYLESS, 20]), 1),
            (writes(&[20]), 2),
            (Writes::default(), 3),
            (writes(&[10]), 4),
            (writes(&[30]), 5),
        ];
        assert_eq!(order(&mut History::new(0, 100), &all), [0, 1, 2, 3, 4, 4]);
    }

    #[test]
    fn a_full_history_begins_anew() {
        let all = [(writes(&[10, 11]), 0), (writes(&[20, 21]), 1), (writes(&[30]), 2), (writes(&[40]), 3)];
        assert_eq!(order(&mut History::new(0, 3), &all), [0, 0, 2, 2]);
    }

    #[test]
    fn words_beyond_the_bound_count_as_unknown() {
        let mut events = Events::default();
        for n in 0..WORDS_MAX as u64 + 5 {
            note_key(&mut events, 1, 0, &n.to_le_bytes());
        }
        assert_eq!(events.words(), &[UNKNOWN]);
        let mut events = Events::default();
        note_key(&mut events, 1, 0, b"a");
        note_key(&mut events, 1, 1, b"a");
        note_key(&mut events, 1, 0, b"a");
        note_keyless(&mut events);
        assert!(Writes::settle(events.words()));
        assert_eq!((events.words().len(), events.words()[0]), (3, KEYLESS));
    }
}
