//! Errors of one session by number: how often, and when.
//!
//! Cells are there once a session had such an error, or one of a near number: most sessions have none.

use crate::lane::bump;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Numbers that have their cells together, chunks of them that stand together, and such groups.
const CHUNK: usize = 16;
const GROUP: usize = 64;
const GROUPS: usize = (1 << 16) / (CHUNK * GROUP);

/// The epoch of errors. W: TRUNCATE. R: whoever has an error.
static EPOCH: AtomicU32 = AtomicU32::new(1);

/// All errors count anew.
pub fn forget() {
    // Relaxed: an error counts for the epoch that it finds.
    EPOCH.fetch_add(1, Ordering::Relaxed);
}

/// The number of times that errors began to count anew.
pub fn epoch() -> u32 {
    // Relaxed: see `forget`.
    EPOCH.load(Ordering::Relaxed)
}

/// What is known of one error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ErrorTotals {
    pub raised: u64,
    pub handled: u64,
    /// Seconds since 1970; 0: never.
    pub first_s: u64,
    pub last_s: u64,
}

impl ErrorTotals {
    /// Both together.
    pub fn merge(&mut self, other: &ErrorTotals) {
        if other.last_s == 0 {
            return;
        }
        self.first_s = if self.last_s == 0 { other.first_s } else { self.first_s.min(other.first_s) };
        self.last_s = self.last_s.max(other.last_s);
        self.raised += other.raised;
        self.handled += other.handled;
    }
}

/// Words of an error. W: the session. R: anybody.
#[derive(Default)]
struct Cell {
    raised: AtomicU64,
    handled: AtomicU64,
    first_s: AtomicU64,
    last_s: AtomicU64,
}

impl Cell {
    /// Relaxed, here and below: single writer; readers want a recent figure of each word.
    fn totals(&self) -> ErrorTotals {
        ErrorTotals {
            raised: self.raised.load(Ordering::Relaxed),   // Relaxed: see above
            handled: self.handled.load(Ordering::Relaxed), // Relaxed: see above
            first_s: self.first_s.load(Ordering::Relaxed), // Relaxed: see above
            last_s: self.last_s.load(Ordering::Relaxed),   // Relaxed: see above
        }
    }
}

type Chunk = OnceLock<Box<[Cell; CHUNK]>>;
type Group = OnceLock<Box<[Chunk; GROUP]>>;

/// The errors of a session, of an epoch.
#[derive(Default)]
pub struct ErrorSums {
    epoch: AtomicU32,
    groups: OnceLock<Box<[Group; GROUPS]>>,
}

impl ErrorSums {
    /// An error was raised, or (`handled`) a program has handled one that was: it counts as that only. For the one writer.
    #[cold]
    pub fn add(&self, code: u16, handled: bool, now_s: u64) {
        // Relaxed: single writer.
        if self.epoch.load(Ordering::Relaxed) != epoch() {
            self.begin_anew();
        }
        let code = usize::from(code);
        let groups = self.groups.get_or_init(|| Box::new([const { OnceLock::new() }; GROUPS]));
        let group = groups[code / (CHUNK * GROUP)].get_or_init(|| Box::new([const { OnceLock::new() }; GROUP]));
        let cell = &group[code / CHUNK % GROUP].get_or_init(Box::default)[code % CHUNK];
        // Relaxed: single writer, here and below.
        let raised = cell.raised.load(Ordering::Relaxed);
        if handled {
            bump(&cell.handled, 1);
            cell.raised.store(raised.saturating_sub(1), Ordering::Relaxed); // Relaxed: single writer
        } else {
            bump(&cell.raised, 1);
        }
        // Relaxed: single writer.
        if cell.first_s.load(Ordering::Relaxed) == 0 {
            cell.first_s.store(now_s, Ordering::Relaxed); // Relaxed: single writer
        }
        cell.last_s.store(now_s, Ordering::Relaxed); // Relaxed: single writer
    }

    /// Nothing was raised. For the one writer.
    pub fn begin_anew(&self) {
        for cell in self.cells().map(|(_, cell)| cell) {
            for word in [&cell.raised, &cell.handled, &cell.first_s, &cell.last_s] {
                // Relaxed: single writer.
                word.store(0, Ordering::Relaxed);
            }
        }
        // Release: pairs with Acquire in `totals`: who sees the epoch sees that the counts began anew.
        self.epoch.store(epoch(), Ordering::Release);
    }

    fn cells(&self) -> impl Iterator<Item = (u16, &Cell)> {
        let groups = self.groups.get().into_iter().flat_map(|groups| groups.iter()).enumerate();
        groups.flat_map(|(high, group)| {
            let chunks = group.get().into_iter().flat_map(|group| group.iter()).enumerate();
            chunks.flat_map(move |(middle, chunk)| {
                let cells = chunk.get().into_iter().flat_map(|chunk| chunk.iter()).enumerate();
                cells.map(move |(low, cell)| (((high * GROUP + middle) * CHUNK + low) as u16, cell))
            })
        })
    }

    /// The errors that it had, by their numbers.
    pub fn totals(&self) -> impl Iterator<Item = (u16, ErrorTotals)> + '_ {
        // Acquire: pairs with Release in `begin_anew`.
        let is_current = self.epoch.load(Ordering::Acquire) == epoch();
        let cells = self.cells().filter(move |_| is_current);
        cells.map(|(code, cell)| (code, cell.totals())).filter(|(_, totals)| totals.last_s != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_counted_by_number_and_begin_anew() {
        let sums = ErrorSums::default();
        assert_eq!(sums.totals().count(), 0);
        sums.add(1146, false, 100);
        sums.add(1146, false, 104);
        sums.add(1146, true, 105);
        sums.add(u16::MAX, false, 101);
        let of_last = ErrorTotals { raised: 1, handled: 0, first_s: 101, last_s: 101 };
        let of_1146 = ErrorTotals { raised: 1, handled: 1, first_s: 100, last_s: 105 };
        assert_eq!(sums.totals().collect::<Vec<_>>(), [(1146, of_1146), (u16::MAX, of_last)]);
        let mut both = ErrorTotals::default();
        both.merge(&of_1146);
        both.merge(&of_last);
        assert_eq!(both, ErrorTotals { raised: 2, handled: 1, first_s: 100, last_s: 105 });
        forget();
        assert_eq!(sums.totals().count(), 0);
        sums.add(3, false, 200);
        assert_eq!(sums.totals().map(|(code, _)| code).collect::<Vec<_>>(), [3]);
    }
}
