//! Sums of statements by what they are, of one session each.

use crate::instrument::{InstrumentId, STATEMENTS};
use crate::lane::bump;
use crate::setup::Consumers;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use sync::{TimeCells, TimeTotals};

/// What is known of a statement beside its time, in the order of the columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Figure {
    /// Nanoseconds.
    LockTime,
    Errors,
    Warnings,
    RowsAffected,
    RowsSent,
    RowsExamined,
    CreatedTmpDiskTables,
    CreatedTmpTables,
    SelectFullJoin,
    SelectFullRangeJoin,
    SelectRange,
    SelectRangeCheck,
    SelectScan,
    SortMergePasses,
    SortRange,
    SortRows,
    SortScan,
    NoIndexUsed,
    NoGoodIndexUsed,
    /// Nanoseconds.
    CpuTime,
    /// Bytes, at most at any time.
    MaxControlledMemory,
    /// Bytes, at most at any time.
    MaxTotalMemory,
}

/// Figures in front of this one are those of most statements.
pub const FIRST_RARE: usize = Figure::CreatedTmpDiskTables as usize;
pub const FIGURES: usize = Figure::MaxTotalMemory as usize + 1;
/// From here on figures are maxima.
const FIRST_MAXIMUM: usize = Figure::MaxControlledMemory as usize;

/// The figures of one statement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures(pub [u64; FIGURES]);

impl Figures {
    #[inline]
    pub fn set(&mut self, figure: Figure, n: u64) {
        self.0[figure as usize] = n;
    }

    pub fn get(&self, figure: Figure) -> u64 {
        self.0[figure as usize]
    }

    /// Are some of those that few statements have not 0?
    #[inline]
    pub fn has_rare(&self) -> bool {
        self.0[FIRST_RARE..].iter().fold(0, |any, n| any | n) != 0
    }
}

/// How many there were and how long they took, in nanoseconds, and their figures: added up, the last two are maxima.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StatementTotals {
    pub time: TimeTotals,
    pub figures: Figures,
}

impl StatementTotals {
    /// Both together.
    pub fn merge(&mut self, other: &StatementTotals) {
        self.time.merge(&other.time);
        for (at, (sum, n)) in self.figures.0.iter_mut().zip(other.figures.0).enumerate() {
            *sum = if at < FIRST_MAXIMUM { sum.wrapping_add(n) } else { (*sum).max(n) };
        }
    }
}

/// The same in words that their one writer adds to and anybody reads; on lines of their own.
#[repr(align(64))]
pub struct StatementCells {
    time: TimeCells,
    figures: [AtomicU64; FIGURES],
}

impl Default for StatementCells {
    fn default() -> StatementCells {
        StatementCells { time: TimeCells::default(), figures: [const { AtomicU64::new(0) }; FIGURES] }
    }
}

impl StatementCells {
    /// Adds a statement that took so long. `rare`: some of the figures from [`FIRST_RARE`] on are not 0. For the one writer.
    #[inline]
    pub fn add(&self, took_ns: Option<u64>, figures: &Figures, rare: bool) {
        self.time.add(took_ns);
        for figure in [Figure::RowsSent, Figure::RowsExamined] {
            bump(&self.figures[figure as usize], figures.0[figure as usize]);
        }
        // The others of most statements are 0, which one look tells.
        if figures.0[..Figure::RowsSent as usize].iter().fold(0, |any, n| any | n) != 0 {
            for (cell, &n) in self.figures.iter().zip(&figures.0).take(Figure::RowsSent as usize) {
                bump(cell, n);
            }
        }
        if rare {
            self.add_rare(figures);
        }
    }

    #[cold]
    fn add_rare(&self, figures: &Figures) {
        for (at, (cell, &n)) in self.figures.iter().zip(&figures.0).enumerate().skip(FIRST_RARE) {
            if at < FIRST_MAXIMUM {
                bump(cell, n);
            } else if n > cell.load(Ordering::Relaxed) {
                // Relaxed: single writer, as in `bump`.
                cell.store(n, Ordering::Relaxed);
            }
        }
    }

    /// What they hold now; the words may be of slightly different moments.
    pub fn totals(&self) -> StatementTotals {
        // Relaxed: see `bump`.
        let figures = std::array::from_fn(|at| self.figures[at].load(Ordering::Relaxed));
        StatementTotals { time: self.time.totals(), figures: Figures(figures) }
    }

    /// All is 0 again. For the one writer.
    pub fn clear(&self) {
        self.time.clear();
        // Relaxed: single writer.
        self.figures.iter().for_each(|cell| cell.store(0, Ordering::Relaxed));
    }
}

/// Sums of one session by statement class. Cells of a class are there once it had one.
pub struct StatementSums {
    /// Of what epoch the sums are, see [`setup`](crate::setup). W: the writer. R: readers.
    epoch: AtomicU32,
    classes: [OnceLock<Box<StatementCells>>; STATEMENTS],
}

impl Default for StatementSums {
    fn default() -> StatementSums {
        StatementSums { epoch: AtomicU32::new(0), classes: [const { OnceLock::new() }; STATEMENTS] }
    }
}

impl StatementSums {
    /// Adds a statement of this class. For the one writer.
    #[inline]
    pub fn add(&self, consumers: Consumers, class: InstrumentId, took_ns: Option<u64>, figures: &Figures, rare: bool) {
        // Relaxed: single writer.
        if self.epoch.load(Ordering::Relaxed) != consumers.epoch() {
            self.clear(consumers);
        }
        self.classes[class.index()].get_or_init(Box::default).add(took_ns, figures, rare);
    }

    /// All sums are 0, and of this epoch. For the one writer.
    #[cold]
    pub fn clear(&self, consumers: Consumers) {
        self.classes.iter().filter_map(OnceLock::get).for_each(|cells| cells.clear());
        // Release: pairs with Acquire in `totals`: who sees the epoch sees that the sums began anew.
        self.epoch.store(consumers.epoch(), Ordering::Release);
    }

    /// The classes that it had, with their sums.
    pub fn totals(&self, consumers: Consumers) -> impl Iterator<Item = (InstrumentId, StatementTotals)> + '_ {
        // Acquire: pairs with Release in `clear`.
        let is_current = self.epoch.load(Ordering::Acquire) == consumers.epoch();
        let classes = self.classes.iter().enumerate().filter(move |_| is_current);
        classes.filter_map(|(at, cells)| {
            let totals = cells.get()?.totals();
            (totals.time.count > 0).then(|| (InstrumentId::from_index(at), totals))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instrument::id;
    use crate::setup;

    #[test]
    fn sums_are_kept_by_class_and_begin_anew_with_an_epoch() {
        const SELECT: InstrumentId = id("statement/sql/select");
        const UPDATE: InstrumentId = id("statement/sql/update");
        let sums = StatementSums::default();
        let mut figures = Figures::default();
        figures.set(Figure::RowsSent, 2);
        figures.set(Figure::MaxTotalMemory, 50);
        let now = setup::consumers();
        sums.add(now, SELECT, Some(10), &figures, true);
        figures.set(Figure::MaxTotalMemory, 40);
        sums.add(now, SELECT, Some(4), &figures, true);
        sums.add(now, UPDATE, Some(7), &Figures::default(), false);
        let mut totals: Vec<_> = sums.totals(now).collect();
        totals.sort_by_key(|(class, _)| class.index());
        let [(class, select), (_, mut both)] = totals[..] else { panic!("two classes: {totals:?}") };
        let time = TimeTotals { count: 2, sum_ns: 14, min_ns: 4, max_ns: 10 };
        assert_eq!((class, select.time), (SELECT, time));
        assert_eq!(select.figures.get(Figure::RowsSent), 4);
        assert_eq!(select.figures.get(Figure::MaxTotalMemory), 50);
        both.merge(&select);
        assert_eq!(both.time, TimeTotals { count: 3, sum_ns: 21, ..time });

        setup::start_over();
        let later = setup::consumers();
        assert_eq!(sums.totals(later).count(), 0, "they are of the epoch before");
        sums.add(later, UPDATE, None, &Figures::default(), false);
        assert_eq!(sums.totals(later).map(|(class, t)| (class, t.time.count)).collect::<Vec<_>>(), [(UPDATE, 1)]);
    }
}
