//! What a seed is about: some are small and quick, some fill pools and files, some hardly ever end a transaction.

use crate::faults::Trouble;
use crate::plan::Random;

/// How long rows are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lengths {
    Small,
    Mixed,
    Large,
    /// Many are longer than a page.
    Huge,
}

impl Lengths {
    pub fn one(self, random: &mut Random) -> usize {
        let len = match (self, random.below(40)) {
            (Lengths::Huge, 0) => 100_000 + random.below(200_000),
            (_, 0) | (Lengths::Huge, 1..14) => 4000 + random.below(40_000),
            (Lengths::Small, _) => random.below(60),
            (Lengths::Mixed, 1..8) => 1000 + random.below(2700),
            (Lengths::Mixed | Lengths::Huge, _) => random.below(400),
            (Lengths::Large, 1..8) => random.below(100),
            (Lengths::Large, _) => 2600 + random.below(1000),
        };
        len as usize
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Profile {
    pub sessions: usize,
    pub keys: u64,
    pub lengths: Lengths,
    /// Rows of one sweep, at most.
    pub sweep: u64,
    /// How many of a hundred chances for a fault are taken.
    pub faults: u64,
    /// What the faults are.
    pub troubles: &'static [Trouble],
    pub pool_bytes: u64,
    pub steps: u64,
    /// Of a hundred steps of a session, those that end its transaction, that are about savepoints, and that make, empty or drop tables.
    pub endings: u64,
    pub savepoints: u64,
    pub definitions: u64,
}

impl Profile {
    /// Rows that a table is made with are fewer: in one statement, which the page cleaner does not interrupt.
    pub fn load(&self) -> u64 {
        self.keys.min(if self.lengths == Lengths::Huge { 12 } else { 150 })
    }

    pub fn of(random: &mut Random) -> Profile {
        let small = Profile {
            sessions: 1 + random.below(6) as usize,
            keys: random.one_of(&[12, 80, 400]),
            lengths: random.one_of(&[Lengths::Small, Lengths::Mixed, Lengths::Large, Lengths::Huge]),
            sweep: 60,
            faults: random.one_of(&[0, 30, 60, 90]),
            troubles: random.one_of(&Trouble::SETS),
            pool_bytes: 4 << 20,
            steps: 100 + random.below(500),
            endings: random.one_of(&[1, 6, 17, 17]),
            savepoints: random.one_of(&[2, 7, 20]),
            definitions: random.one_of(&[3, 6, 25]),
        };
        let large = Profile { lengths: Lengths::Large, ..small };
        match random.below(14) {
            // Transactions of many rows.
            0 => Profile { keys: 3000, sweep: 3000, pool_bytes: 64 << 20, steps: 120, ..large },
            // More data than the pool holds.
            1 => Profile { keys: 2000, sweep: 600, steps: 150, ..large },
            _ => small,
        }
    }
}
